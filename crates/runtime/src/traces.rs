//! A folder for the traces of ended runs. It is held open, so that no name can lead to
//! a file outside of it.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Permissions, PermissionsExt};
use cap_tempfile::TempFile;
use consort_log::private;

/// The suffixes of a run's files, with their kinds. Before them stands the id of the execution.
const KINDS: [(&str, &str); 2] = [(".dag.json", "dag"), (".trace.json", "trace")];
/// Files listed at once; the folder of a busy server has to be cleaned up by hand.
pub(crate) const LISTED_MAX: usize = 10_000;

/// A folder of traces. Clones share it.
#[derive(Clone)]
pub struct Traces(Arc<Folder>);

struct Folder {
    root: Dir,
    path: PathBuf,
}

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// Its name.
    pub name: String,
    /// Its kind: `dag` or `trace`.
    pub kind: &'static str,
    /// Its size.
    pub bytes: u64,
}

impl Traces {
    /// Opens the folder at `path`, which is created if needed.
    pub fn open(path: &Path) -> io::Result<Traces> {
        private::create_folder(path)?;
        let root = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Traces(Arc::new(Folder { root, path: path.to_owned() })))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns the traces in it, by name.
    pub async fn list(&self) -> io::Result<Vec<TraceFile>> {
        self.work(|folder| {
            let entries = folder.root.entries()?.filter_map(Result::ok).take(LISTED_MAX);
            let file = |entry: cap_std::fs::DirEntry| {
                let name = entry.file_name().into_string().ok()?;
                let bytes = entry.metadata().ok().filter(|about| about.is_file())?.len();
                Some(TraceFile { kind: kind(&name)?, name, bytes })
            };
            let mut files: Vec<TraceFile> = entries.filter_map(file).collect();
            files.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(files)
        })
        .await
    }

    /// Returns the content of a trace; `None` when there is no such trace.
    pub async fn read(&self, name: &str) -> io::Result<Option<String>> {
        let name = name.to_owned();
        self.work(move |folder| {
            if kind(&name).is_none() {
                return Ok(None);
            }
            let mut text = String::new();
            match folder.root.open(&name).and_then(|mut file| file.read_to_string(&mut text)) {
                Ok(_) => Ok(Some(text)),
                Err(error) if is_no_trace(error.kind()) => Ok(None),
                Err(error) => Err(error),
            }
        })
        .await
    }

    /// Writes files, each completely or not at all.
    pub(crate) async fn write(&self, files: Vec<(String, String)>) -> io::Result<()> {
        self.work(move |folder| {
            for (name, text) in &files {
                let mut file = TempFile::new(&folder.root)?;
                file.as_file().set_permissions(Permissions::from_mode(private::FILE))?;
                file.write_all(text.as_bytes())?;
                file.replace(name)?;
            }
            Ok(())
        })
        .await
    }

    /// Removes the files of runs by the names they were written under.
    pub(crate) async fn remove(&self, names: Vec<String>) -> io::Result<()> {
        self.work(move |folder| {
            for file in names.iter().flat_map(|name| KINDS.map(|(end, _)| format!("{name}{end}"))) {
                match folder.root.remove_file(&file) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    Ok(()) | Err(_) => {}
                }
            }
            Ok(())
        })
        .await
    }

    async fn work<T, W>(&self, work: W) -> io::Result<T>
    where
        T: Send + 'static,
        W: FnOnce(&Folder) -> io::Result<T> + Send + 'static,
    {
        let folder = self.0.clone();
        tokio::task::spawn_blocking(move || work(&folder)).await.map_err(io::Error::other)?
    }
}

/// Returns whether the name leads nowhere, out of the folder, or to something else.
fn is_no_trace(error: io::ErrorKind) -> bool {
    use io::ErrorKind::{InvalidData, IsADirectory, NotFound, PermissionDenied};
    matches!(error, NotFound | PermissionDenied | IsADirectory | InvalidData)
}

/// Returns the id of the execution that a file belongs to.
pub(crate) fn execution(name: &str) -> Option<&str> {
    KINDS.iter().find_map(|(end, _)| name.strip_suffix(end))
}

fn kind(name: &str) -> Option<&'static str> {
    KINDS.iter().find(|(end, _)| name.ends_with(end)).map(|(_, kind)| *kind)
}
