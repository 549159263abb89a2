//! Writes the system message of a chat's model. Names of arguments are taken from the tools' schemas, so
//! that the two cannot drift apart.

use std::sync::Arc;

use crate::decisions::own_tool::OwnTool;
use crate::state::run::Run;
use consort_spec::catalog::ToolInfo;

use super::Turn;

/// The heading above the facts about the user.
pub const REMEMBERED: &str = "Remembered about the user";

/// Returns the system message of a turn's root.
pub(crate) fn system(run: &Run, chat: &Turn) -> String {
    let has = |tool: OwnTool| run.belt().get(tool.name());
    let mut sections = vec![
        "You are a capable assistant. Answer directly when you can. Use tools where they help, and say plainly when something failed or is unknown."
            .to_owned(),
    ];
    if let Some(tool) = has(OwnTool::RunSubtask) {
        sections.push(subtasks(tool, run.spec().limits.depth));
    }
    if has(OwnTool::MemoryWrite).is_some() {
        sections.push(format!(
            "`{}`, `{}` and `{}` share notes between the model calls of this turn and its subtasks; nothing of them is left when the turn has ended.",
            OwnTool::MemoryList.name(),
            OwnTool::MemoryRead.name(),
            OwnTool::MemoryWrite.name()
        ));
    }
    if chat.remembers {
        sections.push(format!("What stands under \"{REMEMBERED}\" was noted in earlier conversations with this user; it may be out of date, and what the user says now comes first. What is worth it of this conversation is noted once you have answered: there is nothing you need to call for that."));
    }
    if chat.editor.is_some() {
        sections.push(editor(has(OwnTool::BuildWorkflow)));
    }
    if let Some(instructions) = &chat.instructions {
        sections.push(format!("The program through which the user talks to you adds:\n\n{instructions}"));
    }
    sections.join("\n\n")
}

fn subtasks(tool: &ToolInfo, depth: u32) -> String {
    format!(
        "For work of several steps call `{}` ({}). Several calls in one reply run at the same time and cannot read each other; what depends on a result belongs into a later reply. Subtasks may nest {depth} deep.",
        tool.name,
        arguments(tool)
    )
}

fn editor(builds: Option<&Arc<ToolInfo>>) -> String {
    let mut text = "The user has a workflow open in the editor. Tools that begin with `ui_` read and change it before the user's eyes.".to_owned();
    if let Some(tool) = builds {
        text.push_str(&format!(
            " To build a workflow or plan a change to one call `{}` ({}); then put what it planned into the editor.",
            tool.name,
            arguments(tool)
        ));
    }
    text
}

/// Returns the arguments of a tool, optional ones marked as such.
fn arguments(tool: &ToolInfo) -> String {
    let schema = tool.schema.json();
    let required: Vec<&str> = schema
        .get("required")
        .and_then(|list| list.as_array())
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str())
        .collect();
    let all = schema.get("properties").and_then(|all| all.as_object()).into_iter().flat_map(|all| all.keys());
    let word = |name: &String| {
        if required.contains(&name.as_str()) { format!("`{name}`") } else { format!("`{name}` if needed") }
    };
    all.map(word).collect::<Vec<_>>().join(", ")
}
