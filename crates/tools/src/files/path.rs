//! A path as an agent names it: relative to the workspace, plainly spelled.
//! A path refused here could not have led out, since the workspace is opened
//! by capability; but a clear reason is better than the operating system's.

use std::path::Path;

use consort_core::text::is_invisible;

use super::super::arguments::short;

/// The maximum size of a path in bytes.
const PATH_MAX: usize = 1024;
/// The maximum size of one name in it in bytes, as in file systems.
const NAME_MAX: usize = 255;
/// The maximum number of nested folders.
const DEPTH_MAX: usize = 32;
/// Encodings of `.`, `/`, `\` and NUL that a later reader might decode.
const ENCODED: [&str; 6] = ["%00", "%2e", "%2f", "%5c", "%25", "%c0"];
/// Characters that look like `.`, `/` or `\`.
const LOOK_ALIKES: [char; 13] = [
    '\u{2024}', '\u{2025}', '\u{2026}', '\u{2044}', '\u{2215}', '\u{2216}', '\u{29f5}', '\u{29f8}', '\u{29f9}',
    '\u{fe52}', '\u{ff0e}', '\u{ff0f}', '\u{ff3c}',
];

/// A path in the workspace; empty for the workspace itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkspacePath(String);

impl WorkspacePath {
    pub(super) fn parse(text: &str) -> Result<WorkspacePath, String> {
        let refused = |why: &str| format!("`{}` is refused: {why}", short(text).escape_debug());
        whole(text).map_or(Ok(()), |why| Err(refused(why)))?;
        let names: Vec<&str> = text.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        if names.len() > DEPTH_MAX {
            return Err(refused(&format!("it is more than {DEPTH_MAX} folders deep")));
        }
        names.iter().find_map(|name| part(name)).map_or(Ok(()), |why| Err(refused(why)))?;
        Ok(WorkspacePath(names.join("/")))
    }

    /// Parses the path of a file: the workspace itself is not one.
    pub(super) fn of_file(text: &str) -> Result<WorkspacePath, String> {
        match WorkspacePath::parse(text)? {
            WorkspacePath(path) if path.is_empty() => {
                Err(format!("`{text}` is the workspace itself, not a file in it"))
            }
            place => Ok(place),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path for the operating system, in which the workspace itself has a name.
    pub(super) fn path(&self) -> &Path {
        Path::new(if self.0.is_empty() { "." } else { &self.0 })
    }

    /// Returns the folder it is in, and its name there.
    pub(super) fn split(&self) -> (WorkspacePath, &str) {
        let (folder, name) = self.0.rsplit_once('/').unwrap_or(("", &self.0));
        (WorkspacePath(folder.to_owned()), name)
    }

    pub(super) fn join(&self, name: &str) -> WorkspacePath {
        if self.0.is_empty() { WorkspacePath(name.to_owned()) } else { WorkspacePath(format!("{}/{name}", self.0)) }
    }
}

/// Returns the fault of a path as a whole, if it has one.
fn whole(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let first = text.split('/').next().unwrap_or_default();
    match text {
        "" => Some("it is empty"),
        _ if text.len() > PATH_MAX => Some("it is too long"),
        _ if text.chars().any(char::is_control) => Some("it holds a control character"),
        _ if text.starts_with('/') => Some("it is absolute; paths begin in the workspace, as in `notes/plan.md`"),
        _ if text.contains('\\') => Some("it holds a backslash; `/` is what separates folders"),
        _ if text.starts_with('~') => Some("`~` means nothing here; paths begin in the workspace"),
        _ if lower.contains("://") || lower.starts_with("file:") => Some("it is an address, not a path"),
        _ if first.len() >= 2 && first.find(':') == Some(1) => Some("it names a drive; paths begin in the workspace"),
        _ if ENCODED.iter().any(|code| lower.contains(code)) => Some("it is percent-encoded; write it plainly"),
        _ if text.chars().any(|sign| LOOK_ALIKES.contains(&sign)) => {
            Some("it holds a sign that only looks like `.` or `/`")
        }
        _ if text.chars().any(is_invisible) => Some("it holds an invisible character"),
        _ => None,
    }
}

/// Returns the fault of one name, if it has one.
fn part(name: &str) -> Option<&'static str> {
    match name {
        ".." => Some("`..` leads out of a folder; name the whole path from the workspace"),
        _ if name.trim_matches(['.', ' ']).is_empty() => Some("one of its names consists of dots and spaces"),
        _ if name.len() > NAME_MAX => Some("one of its names is too long"),
        _ if is_git(name) => Some("`.git` belongs to git; what is in it is neither read nor written"),
        _ => None,
    }
}

/// Returns whether a name is that of the folder in which git keeps its configuration and hooks.
pub(super) fn is_git(name: &str) -> bool {
    name.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git")
}
