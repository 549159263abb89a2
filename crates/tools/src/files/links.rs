//! Symbolic links that name a place of the workspace by its absolute path. The workspace
//! is opened by capability, which follows no absolute path, so such a link is replaced by
//! the place it means before anything is opened. Whatever leads elsewhere stays as it is
//! and is refused when it is opened.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;

/// Links that are followed for one path, as many as the operating system follows.
const LINKS_MAX: usize = 40;

/// The absolute paths that a workspace has.
pub(super) struct Home(Vec<PathBuf>);

impl Home {
    /// Returns the paths of the workspace at `root`: as it was named, and without links.
    pub(super) fn of(root: &Path) -> Home {
        Home([std::path::absolute(root), std::fs::canonicalize(root)].into_iter().flatten().collect())
    }

    /// Returns the path without links, as it is when the workspace is opened.
    pub(super) fn real(&self) -> Option<&Path> {
        self.0.last().map(PathBuf::as_path)
    }

    fn within<'a>(&self, target: &'a Path) -> Option<&'a Path> {
        self.0.iter().find_map(|home| target.strip_prefix(home).ok())
    }

    /// Returns the path without links, if one of its links is absolute and leads into the workspace.
    pub(super) fn resolved(&self, root: &Dir, path: &Path) -> Option<PathBuf> {
        let mut done = PathBuf::new();
        let mut todo = steps(path)?;
        let mut is_absolute = false;
        let mut links = 0;
        while let Some(step) = todo.pop_front() {
            let Step::Into(name) = step else {
                // Above the workspace there is nothing to resolve.
                if !done.pop() {
                    return None;
                }
                continue;
            };
            let next = done.join(name);
            let is_link = root.symlink_metadata(&next).is_ok_and(|about| about.is_symlink());
            if !is_link {
                done = next;
                continue;
            }
            links += 1;
            let target = root.read_link_contents(&next).ok().filter(|_| links <= LINKS_MAX)?;
            let inside = if target.is_absolute() {
                is_absolute = true;
                done = PathBuf::new();
                self.within(&target)?
            } else {
                &target
            };
            let mut further = steps(inside)?;
            further.append(&mut todo);
            todo = further;
        }
        let here = || PathBuf::from(".");
        is_absolute.then(|| if done.as_os_str().is_empty() { here() } else { done })
    }
}

/// One step of a path.
enum Step {
    Into(OsString),
    Out,
}

fn steps(path: &Path) -> Option<VecDeque<Step>> {
    let step = |component| match component {
        Component::Normal(name) => Some(Some(Step::Into(name.to_owned()))),
        Component::ParentDir => Some(Some(Step::Out)),
        Component::CurDir => Some(None),
        Component::RootDir | Component::Prefix(_) => None,
    };
    let steps: Option<Vec<Option<Step>>> = path.components().map(step).collect();
    Some(steps?.into_iter().flatten().collect())
}
