//! The workspace as people browse it: the entries of a folder, the text of
//! a file. Paths are resolved as they are for agents, so none leads out.

use std::io::{self, Read};
use std::time::UNIX_EPOCH;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{DirEntry, Metadata, OpenOptions};
use consort_core::id::Millis;

use super::path::{WorkspacePath, is_git};
use super::{Folder, Workspace};

/// The maximum size of a file that is shown, in bytes.
const SHOWN_MAX: u64 = 1_048_576;
/// The maximum number of entries of a folder that are shown.
const LISTED_MAX: usize = 10_000;

/// The operating system's error number for symbolic links that
/// form a loop; the standard library has no stable name for it.
const ELOOP: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The name of the entry.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// The size in bytes, when it can be read.
    pub bytes: Option<u64>,
    /// The time of the last change, when it can be read.
    pub modified_at: Option<Millis>,
}

/// The reason why something is not shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Hidden {
    /// It is not in the workspace, or may not be shown.
    #[error("Path traversal denied: {0}")]
    Outside(String),
    /// There is nothing of this name.
    #[error("Path not found")]
    Missing,
    /// It is not a folder.
    #[error("Not a directory")]
    NotFolder,
    /// It is not a file.
    #[error("Not a file")]
    NotFile,
    /// It is larger than the limit.
    #[error("File is larger than {SHOWN_MAX} bytes")]
    TooLarge,
    /// It is not UTF-8.
    #[error("File is not UTF-8 text")]
    NotText,
    /// The operating system could not read it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
}

impl Workspace {
    /// Returns the entries of a folder; the empty path is the workspace itself.
    pub async fn list(&self, path: &str) -> Result<Vec<Item>, Hidden> {
        let place = WorkspacePath::parse(if path.is_empty() { "." } else { path }).map_err(Hidden::Outside)?;
        self.look(move |folder| entries(folder, &place)).await
    }

    /// Returns the text of a file.
    pub async fn text(&self, path: &str) -> Result<String, Hidden> {
        let place = WorkspacePath::parse(path).map_err(Hidden::Outside)?;
        self.look(move |folder| content(folder, &place)).await
    }

    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Folder) -> Result<T, Hidden> + Send + 'static,
    ) -> Result<T, Hidden> {
        self.work(move |folder| Ok(look(folder))).await.map_err(Hidden::Unreadable)?
    }
}

fn entries(folder: &Folder, place: &WorkspacePath) -> Result<Vec<Item>, Hidden> {
    folder.check_real(place).map_err(Hidden::Outside)?;
    let about = folder.root.metadata(folder.path(place)).map_err(hidden)?;
    if !about.is_dir() {
        return Err(Hidden::NotFolder);
    }
    let entries = folder.root.read_dir(folder.path(place)).map_err(hidden)?;
    let item = |entry: DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let about = folder.root.metadata(folder.path(&place.join(&name))).ok();
        Item {
            is_folder: about.as_ref().is_some_and(Metadata::is_dir),
            bytes: about.as_ref().map(Metadata::len),
            modified_at: about.as_ref().and_then(modified_at),
            name,
        }
    };
    let is_shown = |entry: &DirEntry| !is_git(&entry.file_name().to_string_lossy());
    Ok(entries.filter_map(Result::ok).filter(is_shown).take(LISTED_MAX).map(item).collect())
}

fn modified_at(about: &Metadata) -> Option<Millis> {
    let since = about.modified().ok()?.into_std().duration_since(UNIX_EPOCH).ok()?;
    Millis::try_from(since.as_millis()).ok()
}

/// Returns the content of a file. It is opened without blocking, since a pipe would wait for its writer.
fn content(folder: &Folder, place: &WorkspacePath) -> Result<String, Hidden> {
    folder.check_real(place).map_err(Hidden::Outside)?;
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(FollowSymlinks::Yes);
    let file = folder.root.open_with(folder.path(place), &options).map_err(hidden)?;
    let about = file.metadata().map_err(hidden)?;
    if !about.is_file() {
        return Err(Hidden::NotFile);
    }
    let mut bytes = Vec::new();
    file.take(SHOWN_MAX + 1).read_to_end(&mut bytes).map_err(hidden)?;
    if bytes.len() as u64 > SHOWN_MAX {
        return Err(Hidden::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_not_text| Hidden::NotText)
}

fn hidden(error: io::Error) -> Hidden {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
    let is = |kinds: &[io::ErrorKind]| kinds.contains(&error.kind());
    // Links that form a loop have no target.
    if is(&[NotFound, NotADirectory]) || error.raw_os_error() == Some(ELOOP) {
        Hidden::Missing
    } else if is(&[IsADirectory]) {
        Hidden::NotFile
    } else if is(&[PermissionDenied]) {
        Hidden::Outside(error.to_string())
    } else {
        Hidden::Unreadable(error.to_string())
    }
}
