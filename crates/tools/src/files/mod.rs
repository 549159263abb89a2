//! The files of the workspace, for agents. The folder is held open and every path
//! is resolved below it by the operating system (a capability, not a comparison
//! of names), so neither `..` nor a symbolic link nor a race leads out of it.

mod browse;
mod change;
mod edit;
mod links;
mod list;
mod path;
mod read;
mod search;
mod seen;
#[cfg(test)]
mod tests;
mod write;

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, Permissions};
use cap_tempfile::TempFile;
use consort_core::catalog::{CancelClass, EffectClass, Permission, ToolInfo};
use consort_core::reach::{INSTRUCTIONS, Reach, is_guarded};
use consort_core::schema::Schema;
use consort_http::right;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::task::JoinSet;

pub use browse::{Hidden, Item};
pub use edit::EditFile;
pub use list::ListFiles;
pub use read::ReadFile;
pub use search::SearchFiles;
pub use write::WriteFile;

use crate::{Account, Answer, Invocation};
use links::Home;
use path::WorkspacePath;
use seen::{Print, Seen};

/// The maximum size of a file that is read or written, in bytes.
const FILE_MAX: u64 = 4 * 1024 * 1024;
/// The lock held by tools that change files.
pub(crate) const LOCK: &str = "workspace_fs";

/// A folder that agents may work in. Clones share it, and the record of what was read in it.
#[derive(Clone)]
pub struct Workspace(Arc<Folder>);

struct Folder {
    root: Dir,
    home: Home,
    seen: Mutex<Seen>,
    /// The names of the files that prompts are built from.
    guarded: Vec<String>,
}

/// The current state of a file.
struct Current {
    bytes: Vec<u8>,
    permissions: Permissions,
}

impl Workspace {
    /// Opens the workspace at `root`, which must be a folder.
    pub fn open(root: &Path) -> io::Result<Workspace> {
        Workspace::guarding(root, [])
    }

    /// Opens the workspace at `root`, in which files of these names are part of what agents are told. They
    /// are written only by calls that a person has allowed, as are the instructions of the workspace itself.
    pub fn guarding(root: &Path, names: impl IntoIterator<Item = String>) -> io::Result<Workspace> {
        let home = Home::of(root);
        let root = Dir::open_ambient_dir(root, ambient_authority())?;
        let guarded = std::iter::once(INSTRUCTIONS.to_owned()).chain(names).collect();
        Ok(Workspace(Arc::new(Folder { root, home, seen: Mutex::default(), guarded })))
    }

    /// Returns the path of the workspace on this machine.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.0.home.real()
    }

    /// Returns the names of the files that prompts are built from.
    pub(crate) fn guarded(&self) -> &[String] {
        &self.0.guarded
    }

    /// Returns the description of a tool that writes files here.
    fn guarding_prompts(&self, info: ToolInfo) -> ToolInfo {
        let reach = Reach { guarded: self.0.guarded.clone(), ..info.reach };
        ToolInfo { reach, ..info }
    }

    /// Executes a call of a tool; a refusal becomes a failed answer.
    fn answer(
        &self,
        call: Invocation,
        work: fn(&Folder, Invocation) -> Result<Answer, String>,
    ) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            right::begin().await;
            self.work(move |folder| work(folder, call)).await.unwrap_or_else(Answer::Failed)
        })
    }

    /// Does work that may block on the disk. Work that has not begun when this is dropped never begins.
    async fn work<T, W>(&self, work: W) -> Result<T, String>
    where
        T: Send + 'static,
        W: FnOnce(&Folder) -> Result<T, String> + Send + 'static,
    {
        let folder = self.0.clone();
        let mut one = JoinSet::new();
        one.spawn_blocking(move || work(&folder));
        match one.join_next().await {
            Some(Ok(result)) => result,
            Some(Err(broken)) => match broken.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_stopped) => Err("the server is stopping".to_owned()),
            },
            None => Err("the work was lost".to_owned()),
        }
    }
}

impl Folder {
    fn note(&self, run: &Arc<str>, place: &WorkspacePath, print: Print) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).note(run, place, print);
    }

    fn seen(&self, run: &str, place: &WorkspacePath) -> Option<Print> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(run, place)
    }

    /// Returns the path of a place, with the absolute links in it resolved.
    fn path<'a>(&self, place: &'a WorkspacePath) -> Cow<'a, Path> {
        self.home.resolved(&self.root, place.path()).map_or(Cow::Borrowed(place.path()), Cow::Owned)
    }

    /// Returns the content of a file; symbolic links within the workspace are followed.
    fn read(&self, place: &WorkspacePath) -> Result<Vec<u8>, String> {
        self.check_real(place)?;
        let file = read_in(&self.root, &self.path(place), FollowSymlinks::Yes, place)?;
        file.map(|current| current.bytes).ok_or_else(|| missing(&self.root, place))
    }

    /// Returns the folder of a file, created if necessary.
    fn folder_of<'a>(&self, place: &'a WorkspacePath) -> Result<(Dir, &'a str), String> {
        let (folder, name) = place.split();
        let path = self.path(&folder);
        let made = if folder.as_str().is_empty() { Ok(()) } else { self.root.create_dir_all(&path) };
        // The error of opening describes the obstacle better than the error of creating.
        self.check_real(&folder)?;
        let dir = self.root.open_dir(&path).and_then(|dir| made.map(|()| dir));
        Ok((dir.map_err(|error| self.words(&folder, &error))?, name))
    }

    /// Refuses a path that leads into `.git` by way of a symbolic link.
    fn check_real(&self, place: &WorkspacePath) -> Result<(), String> {
        // A path that leads nowhere is reported when it is opened.
        let Ok(real) = self.root.canonicalize(self.path(place)) else { return Ok(()) };
        let is_git = |part: std::path::Component<'_>| path::is_git(&part.as_os_str().to_string_lossy());
        let inside = real.components().any(is_git);
        if inside { Err(format!("`{}` leads into `.git`, which belongs to git", place.as_str())) } else { Ok(()) }
    }

    /// Refuses a file that prompts are built from, unless a person has allowed this call to write it.
    fn check_writer(&self, place: &WorkspacePath, account: &Account) -> Result<(), String> {
        if account.terms.may_instruct || !is_guarded(place.as_str(), &self.guarded) {
            return Ok(());
        }
        Err(format!(
            "`{}` is part of what agents are told, and nobody has allowed this call to write it",
            place.as_str()
        ))
    }

    fn words(&self, place: &WorkspacePath, error: &io::Error) -> String {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        if is_missing { missing(&self.root, place) } else { words(place, error) }
    }
}

/// Returns a file in `dir`, if there is one. It is opened without blocking,
/// since a pipe would wait for its writer, and checked before it is read.
fn read_in(dir: &Dir, path: &Path, follow: FollowSymlinks, place: &WorkspacePath) -> Result<Option<Current>, String> {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(follow);
    let file = match dir.open_with(path, &options) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(words(place, &error)),
    };
    let about = file.metadata().map_err(|error| words(place, &error))?;
    if !about.is_file() {
        return Err(format!("`{}` is {}", place.as_str(), kind(about.file_type())));
    }
    let mut bytes = Vec::new();
    file.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(|error| words(place, &error))?;
    if bytes.len() as u64 > FILE_MAX {
        let size = about.len();
        return Err(format!("`{}` has {size} bytes; files up to {FILE_MAX} bytes can be used", place.as_str()));
    }
    Ok(Some(Current { bytes, permissions: about.permissions() }))
}

/// Returns the file that a write would replace. A symbolic link is
/// neither followed nor replaced: its target can be named directly.
fn current(dir: &Dir, name: &str, place: &WorkspacePath) -> Result<Option<Current>, String> {
    if dir.symlink_metadata(name).is_ok_and(|about| about.is_symlink()) {
        return Err(format!(
            "`{}` is a symbolic link; name the file it leads to, if that is in the workspace",
            place.as_str()
        ));
    }
    let current = read_in(dir, Path::new(name), FollowSymlinks::No, place)?;
    if current.as_ref().is_some_and(|current| current.permissions.readonly()) {
        return Err(format!("`{}` is read-only", place.as_str()));
    }
    Ok(current)
}

/// Writes a temporary file and renames it, so that a reader never sees a half-written file.
fn replace(dir: &Dir, name: &str, content: &str, permissions: Option<Permissions>) -> io::Result<()> {
    let mut file = TempFile::new(dir)?;
    file.write_all(content.as_bytes())?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.replace(name)
}

fn missing(root: &Dir, place: &WorkspacePath) -> String {
    match root.symlink_metadata(place.path()) {
        Ok(about) if about.is_symlink() => format!("`{}` is a symbolic link that leads nowhere", place.as_str()),
        Ok(_) | Err(_) => format!("there is no `{}` in the workspace", place.as_str()),
    }
}

fn words(place: &WorkspacePath, error: &io::Error) -> String {
    let path = place.as_str();
    // Errors of the operating system have a number; this one comes from the sandbox.
    if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        format!("`{path}` leads outside the workspace")
    } else if matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists) {
        format!("`{path}` is below something that is not a folder")
    } else {
        format!("`{path}` cannot be used: {error}")
    }
}

fn kind(kind: cap_std::fs::FileType) -> &'static str {
    if kind.is_dir() { "a folder; `list_files` shows what is in it" } else { "a pipe, socket or device, not a file" }
}

/// Returns the description that the tools have in common.
pub(crate) fn info(name: &str, description: &str, schema: Value) -> ToolInfo {
    let permission = Permission::WorkspaceWrite;
    let schema = Schema::new(schema);
    ToolInfo { permission, schema, ..ToolInfo::new(name, description) }
}

/// Checks a path that a program is told: it is written as all paths in the workspace are.
pub(crate) fn checked(path: &str) -> Result<&str, String> {
    WorkspacePath::parse(path).map(|_| path)
}

/// Returns the description of the two tools that change files.
fn changing(info: ToolInfo, effect: EffectClass) -> ToolInfo {
    let reach = Reach { guarded: vec![INSTRUCTIONS.to_owned()], ..Reach::default() };
    ToolInfo { effect, reach, parallel_safe: false, lock: Some(LOCK.to_owned()), cancel: CancelClass::Finish, ..info }
}
