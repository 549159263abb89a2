//! `edit_file {path, old, new, all?}`: replaces a passage,
//! which must occur exactly once unless `all` is set.

use std::sync::Arc;

use consort_core::catalog::{EffectClass, ToolInfo};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use super::super::arguments::arguments;
use super::change::modified;
use super::path::WorkspacePath;
use super::read::text;
use super::seen::print;
use super::{FILE_MAX, Folder, Workspace, changing, current, info, missing, replace};
use crate::{Answer, Invocation, Tool};

/// The tool that edits a file.
#[derive(Clone)]
pub struct EditFile {
    workspace: Workspace,
    info: Arc<ToolInfo>,
}

#[derive(Deserialize)]
struct Args {
    path: String,
    old: String,
    new: String,
    all: Option<bool>,
}

impl EditFile {
    /// Returns a tool for this workspace.
    pub fn new(workspace: &Workspace) -> EditFile {
        EditFile { workspace: workspace.clone(), info: Arc::new(workspace.guarding_prompts(EditFile::description())) }
    }

    /// Returns the description of the tool.
    pub(crate) fn description() -> ToolInfo {
        let about = "Replaces a passage of a text file of the workspace. `old` must be copied exactly, without line \
                     numbers, and occur once; with `all` every occurrence is replaced.";
        let schema = json!({ "type": "object", "required": ["path", "old", "new"], "additionalProperties": false,
            "properties": {
                "path": { "type": "string", "description": "From the workspace, as in `notes/plan.md`" },
                "old": { "type": "string", "minLength": 1 },
                "new": { "type": "string" },
                "all": { "type": "boolean" } } });
        changing(info("edit_file", about, schema), EffectClass::Once)
    }
}

impl Tool for EditFile {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        self.workspace.answer(invocation, edit)
    }
}

fn edit(folder: &Folder, Invocation { run, account, args, .. }: Invocation) -> Result<Answer, String> {
    let args: Args = arguments(args)?;
    let place = &WorkspacePath::of_file(&args.path)?;
    folder.check_writer(place, &account)?;
    let (parent, name) = place.split();
    folder.check_real(&parent)?;
    let dir = folder.root.open_dir(folder.path(&parent)).map_err(|error| folder.words(&parent, &error))?;
    let now = current(&dir, name, place)?.ok_or_else(|| missing(&folder.root, place))?;
    if folder.seen(&run, place).is_some_and(|read| read != print(&now.bytes)) {
        return Err(format!("`{}` has changed since it was read; read it again first", place.as_str()));
    }
    let before = text(place, now.bytes)?;
    let after = replaced(place, &before, &args)?;
    replace(&dir, name, &after, Some(now.permissions)).map_err(|error| folder.words(place, &error))?;
    folder.note(&run, place, print(after.as_bytes()));
    Ok(modified(&account, place, (&before, &after)))
}

fn replaced(place: &WorkspacePath, before: &str, args: &Args) -> Result<String, String> {
    let path = place.as_str();
    let Args { old, new, .. } = args;
    if old.is_empty() || old == new {
        return Err("`old` must not be empty, and `new` must differ from it".to_owned());
    }
    let count = before.matches(old.as_str()).count();
    match (count, args.all.unwrap_or(false)) {
        (0, _) => {
            return Err(format!("`old` does not occur in `{path}`; copy it exactly, with its spaces and line ends"));
        }
        (1, _) | (_, true) => {}
        (_, false) => {
            return Err(format!("`old` occurs {count} times in `{path}`; give more of its surroundings, or say `all`"));
        }
    }
    // The size is computed before the content is built: a short file can become a very long one.
    let size = (before.len() - count * old.len()) as u64 + (count as u64).saturating_mul(new.len() as u64);
    if size > FILE_MAX {
        return Err(format!("`{path}` would have {size} bytes; files may have {FILE_MAX}"));
    }
    Ok(before.replace(old.as_str(), new))
}
