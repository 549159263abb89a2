//! `write_file {path, content}`: creates or replaces a file. An existing
//! file is replaced only when the same run has read its current content.

use std::sync::Arc;

use consort_core::catalog::{EffectClass, ToolInfo};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use super::super::arguments::arguments;
use super::change::{created, modified};
use super::path::WorkspacePath;
use super::seen::print;
use super::{Current, FILE_MAX, Folder, Workspace, changing, current, info, replace};
use crate::{Answer, Invocation, Tool};

/// The tool that writes a file.
#[derive(Clone)]
pub struct WriteFile {
    workspace: Workspace,
    info: Arc<ToolInfo>,
}

#[derive(Deserialize)]
struct Args {
    path: String,
    content: String,
}

impl WriteFile {
    /// Returns a tool for this workspace.
    pub fn new(workspace: &Workspace) -> WriteFile {
        WriteFile { workspace: workspace.clone(), info: Arc::new(workspace.guarding_prompts(WriteFile::description())) }
    }

    /// Returns the description of the tool.
    pub(crate) fn description() -> ToolInfo {
        let about = "Writes a text file of the workspace, with the folders it needs. A file that exists must have \
                     been read before.";
        let schema = json!({ "type": "object", "required": ["path", "content"], "additionalProperties": false,
            "properties": {
                "path": { "type": "string", "description": "From the workspace, as in `notes/plan.md`" },
                "content": { "type": "string", "description": "The whole new content" } } });
        changing(info("write_file", about, schema), EffectClass::Idempotent)
    }
}

impl Tool for WriteFile {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        self.workspace.answer(invocation, write)
    }
}

fn write(folder: &Folder, Invocation { run, account, args, .. }: Invocation) -> Result<Answer, String> {
    let Args { path, content } = arguments(args)?;
    let place = &WorkspacePath::of_file(&path)?;
    folder.check_writer(place, &account)?;
    if content.len() as u64 > FILE_MAX {
        return Err(format!("the content has {} bytes; files may have {FILE_MAX}", content.len()));
    }
    let (dir, name) = folder.folder_of(place)?;
    let put = |permissions| replace(&dir, name, &content, permissions).map_err(|error| folder.words(place, &error));
    let answer = match current(&dir, name, place)? {
        None => {
            put(None)?;
            created(&account, place, &content)
        }
        // A repeated call also finds this: its own work.
        Some(now) if now.bytes == content.as_bytes() => {
            let text = format!("`{}` already has exactly this content; nothing was written", place.as_str());
            Answer::Done { text, data: None }
        }
        Some(now) => {
            let before = known(folder, &run, place, &now)?;
            put(Some(now.permissions))?;
            modified(&account, place, (&before, &content))
        }
    };
    folder.note(&run, place, print(content.as_bytes()));
    Ok(answer)
}

/// Returns the content that this run has read, when it is still current.
fn known(folder: &Folder, run: &str, place: &WorkspacePath, now: &Current) -> Result<String, String> {
    match folder.seen(run, place) {
        Some(read) if read == print(&now.bytes) => Ok(String::from_utf8_lossy(&now.bytes).into_owned()),
        Some(_) => Err(format!("`{}` has changed since it was read; read it again first", place.as_str())),
        None => {
            Err(format!("`{}` exists and has not been read; read it first, or choose another name", place.as_str()))
        }
    }
}
