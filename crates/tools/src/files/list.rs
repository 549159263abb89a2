//! `list_files {path?, glob?}`: the entries of a folder, sorted, with sizes. A pattern
//! searches the folders below as well; symbolic links are shown and not followed.

use std::sync::Arc;

use cap_std::fs::DirEntry;
use consort_core::catalog::ToolInfo;
use futures::future::BoxFuture;
use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::json;

use super::super::arguments::{arguments, short};
use super::path::{WorkspacePath, is_git};
use super::{Folder, Workspace, info};
use crate::{Answer, Invocation, Tool};

/// The maximum number of files listed at once.
const LISTED_MAX: usize = 1_000;
/// The maximum number of files visited; a larger workspace has to be searched folder by folder.
pub(super) const VISITED_MAX: usize = 50_000;
/// The maximum size of a pattern in bytes.
const GLOB_MAX: usize = 256;

/// The tool that lists files.
#[derive(Clone)]
pub struct ListFiles {
    workspace: Workspace,
    info: Arc<ToolInfo>,
}

#[derive(Deserialize)]
struct Args {
    path: Option<String>,
    glob: Option<String>,
}

/// The matching files, and whether all files were visited.
struct Found {
    rows: Vec<String>,
    complete: bool,
}

impl ListFiles {
    /// Returns a tool for this workspace.
    pub fn new(workspace: &Workspace) -> ListFiles {
        ListFiles { workspace: workspace.clone(), info: Arc::new(ListFiles::description()) }
    }

    /// Returns the description of the tool.
    pub(crate) fn description() -> ToolInfo {
        let about = "Lists a folder of the workspace, with sizes in bytes. `glob` searches it with all folders below: \
                     `*.md` is this folder only, `**/*.md` all of them.";
        let schema = json!({ "type": "object", "additionalProperties": false, "properties": {
            "path": { "type": "string", "description": "The folder; without it, the whole workspace" },
            "glob": { "type": "string" } } });
        info("list_files", about, schema)
    }
}

impl Tool for ListFiles {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        self.workspace.answer(invocation, list)
    }
}

fn list(folder: &Folder, invocation: Invocation) -> Result<Answer, String> {
    let Args { path, glob } = arguments(invocation.args)?;
    let place = WorkspacePath::parse(path.as_deref().unwrap_or("."))?;
    folder.check_real(&place)?;
    let found = match glob.as_deref().map(pattern).transpose()? {
        Some(matcher) => search(folder, &place, &matcher)?,
        None => {
            let found = entries(folder, &place)?;
            let rows = found.iter().map(|(place, entry)| row(place.split().1, entry)).collect();
            Found { rows, complete: found.len() < VISITED_MAX }
        }
    };
    Ok(Answer::Done { text: page(found), data: None })
}

pub(super) fn pattern(glob: &str) -> Result<GlobMatcher, String> {
    if glob.len() > GLOB_MAX {
        return Err(format!("the pattern is longer than {GLOB_MAX} bytes"));
    }
    let built = GlobBuilder::new(glob).literal_separator(true).build();
    let built = built.map_err(|error| format!("`{}` is not a pattern: {}", short(glob), error.kind()))?;
    Ok(built.compile_matcher())
}

pub(super) fn entries(folder: &Folder, place: &WorkspacePath) -> Result<Vec<(WorkspacePath, DirEntry)>, String> {
    let read = folder.root.read_dir(folder.path(place)).map_err(|error| folder.words(place, &error))?;
    let is_shown = |entry: &DirEntry| !is_git(&entry.file_name().to_string_lossy());
    let entries = read.filter_map(Result::ok).filter(is_shown).take(VISITED_MAX);
    Ok(entries.map(|entry| (place.join(&entry.file_name().to_string_lossy()), entry)).collect())
}

/// Searches folder after folder; one that cannot be opened is skipped.
fn search(folder: &Folder, start: &WorkspacePath, matcher: &GlobMatcher) -> Result<Found, String> {
    let mut found = Found { rows: Vec::new(), complete: true };
    let mut open = entries(folder, start)?;
    let mut visited = 0;
    while let Some((place, entry)) = open.pop() {
        visited += 1;
        if visited > VISITED_MAX || open.len() > VISITED_MAX {
            found.complete = false;
            break;
        }
        let below = place.as_str().strip_prefix(start.as_str()).unwrap_or_default().trim_start_matches('/');
        if matcher.is_match(below) {
            found.rows.push(row(below, &entry));
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open.extend(entries(folder, &place).unwrap_or_default());
        }
    }
    Ok(found)
}

fn row(name: &str, entry: &DirEntry) -> String {
    match (entry.file_type(), entry.metadata()) {
        (Ok(kind), _) if kind.is_dir() => format!("{name}/"),
        (Ok(kind), _) if kind.is_symlink() => format!("{name} (symbolic link)"),
        (Ok(kind), Ok(about)) if kind.is_file() => format!("{name} ({} bytes)", about.len()),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => format!("{name} (not a file)"),
    }
}

fn page(mut found: Found) -> String {
    found.rows.sort();
    let total = found.rows.len();
    found.rows.truncate(LISTED_MAX);
    let mut lines = found.rows;
    if total > LISTED_MAX {
        lines.push(format!("(the first {LISTED_MAX} of {total}; name a folder or a narrower pattern)"));
    }
    if !found.complete {
        lines.push(format!("(only {VISITED_MAX} files were looked at; name a folder)"));
    }
    if lines.is_empty() { "(nothing)".to_owned() } else { lines.join("\n") }
}
