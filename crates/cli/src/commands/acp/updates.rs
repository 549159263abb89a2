//! The frames of a turn, and the rows of earlier turns, as updates of an editor's session.
//! Pure.

use std::path::Path;

use consort_core::frame::chat::{CallStatus, TaskEvent, ToolCallUpdate};
use serde_json::{Value, json};

/// Characters of a result that an editor is shown.
const RESULT_MAX: usize = 20_000;

/// Returns words of the agent.
pub(super) fn words(text: &str) -> Value {
    said("agent_message_chunk", text)
}

/// Returns thoughts of the agent.
pub(super) fn thought(text: &str) -> Value {
    said("agent_thought_chunk", text)
}

fn said(kind: &str, text: &str) -> Value {
    json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } })
}

/// Returns the begin or the end of a call.
pub(super) fn call(update: &ToolCallUpdate, folder: &Path) -> Value {
    let args = update.args.clone().unwrap_or_default();
    match update.status {
        CallStatus::Start => {
            let mut begun = described((&update.tool_call_id, &update.name), &args, folder);
            set(&mut begun, "sessionUpdate", "tool_call".into());
            set(&mut begun, "status", "in_progress".into());
            begun
        }
        CallStatus::End => {
            let failed = update.is_error == Some(true);
            ended((&update.tool_call_id, &update.name), update.result.as_deref().unwrap_or_default(), failed)
        }
    }
}

fn ended((id, name): (&str, &str), result: &str, failed: bool) -> Value {
    let status = if failed { "failed" } else { "completed" };
    let mut ended = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status });
    // What was shown of a change stays, unless it did not come about.
    if failed || kind(name) != "edit" {
        let text: String = result.chars().take(RESULT_MAX).collect();
        set(&mut ended, "content", json!([{ "type": "content", "content": { "type": "text", "text": text } }]));
    }
    ended
}

/// Returns a call as an editor shows it: what is written to a file as a difference.
pub(super) fn described((id, name): (&str, &str), args: &Value, folder: &Path) -> Value {
    let text = |field: &str| args.get(field).and_then(Value::as_str);
    let about = ["path", "url", "query", "input", "objective", "title"].into_iter().find_map(text).unwrap_or_default();
    let title = if about.is_empty() { name.to_owned() } else { format!("{name} {}", first_line(about)) };
    let mut call = json!({ "toolCallId": id, "title": title, "kind": kind(name), "rawInput": args });
    if let Some(path) = text("path") {
        let path = folder.join(path);
        set(&mut call, "locations", json!([{ "path": path }]));
        let change = match name {
            "write_file" => text("content").map(|content| (Value::Null, content)),
            "edit_file" => text("new").map(|new| (text("old").into(), new)),
            _ => None,
        };
        if let Some((old, new)) = change {
            set(&mut call, "content", json!([{ "type": "diff", "path": path, "oldText": old, "newText": new }]));
        }
    }
    call
}

/// Returns the kind of a tool, by which editors choose how to show it.
fn kind(name: &str) -> &'static str {
    match name {
        "read_file" | "list_files" | "read_result" | "memory_list" | "memory_read" => "read",
        "write_file" | "edit_file" => "edit",
        "search_collections" | "grep" | "find_files" => "search",
        "http_fetch" | "web_search" => "fetch",
        "run_subtask" | "build_workflow" => "think",
        "run_command" | "calculator" => "execute",
        _ => "other",
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn set(update: &mut Value, name: &str, value: Value) {
    if let Value::Object(fields) = update {
        fields.insert(name.to_owned(), value);
    }
}

/// The tasks of a workflow that is drawn, in the order in which they were.
#[derive(Default)]
pub(super) struct Plan(Vec<(String, &'static str)>);

impl Plan {
    /// Applies what happened to a task; returns the whole plan, as editors want it.
    pub(super) fn apply(&mut self, event: TaskEvent, task: &Value) -> Value {
        let text = |field: &str| task.get(field).and_then(Value::as_str);
        let name = text("name").or_else(|| text("description")).unwrap_or_default().to_owned();
        let status = match event {
            TaskEvent::Planned => "pending",
            TaskEvent::Started => "in_progress",
            TaskEvent::Completed | TaskEvent::Skipped | TaskEvent::Failed => "completed",
        };
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = status,
            None => self.0.push((name, status)),
        }
        let entry =
            |(name, status): &(String, &str)| json!({ "content": name, "priority": "medium", "status": status });
        json!({ "sessionUpdate": "plan", "entries": self.0.iter().map(entry).collect::<Vec<_>>() })
    }
}

/// Returns a row of a turn before.
pub(super) fn replayed(row: &Value, folder: &Path) -> Vec<Value> {
    let text = |field: &str| row.get(field).and_then(Value::as_str).unwrap_or_default();
    let words = |kind: &str| (!text("content").is_empty()).then(|| said(kind, text("content")));
    match text("role") {
        "user" => words("user_message_chunk").into_iter().collect(),
        "tool" => {
            let failed = row.get("is_error").and_then(Value::as_bool).unwrap_or_default();
            vec![ended((text("tool_call_id"), ""), text("content"), failed)]
        }
        _ => {
            let calls = row.get("tool_calls").and_then(Value::as_array).cloned().unwrap_or_default();
            let calls = calls.iter().map(|call| {
                let text = |field: &str| call.get(field).and_then(Value::as_str).unwrap_or_default();
                let args = call.get("args").cloned().unwrap_or_default();
                let mut begun = described((text("id"), text("name")), &args, folder);
                set(&mut begun, "sessionUpdate", "tool_call".into());
                set(&mut begun, "status", "in_progress".into());
                begun
            });
            words("agent_message_chunk").into_iter().chain(calls).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_to_a_file_is_shown_as_a_difference() {
        let folder = Path::new("/project");
        let wrote = described(("c1", "write_file"), &json!({ "path": "a.txt", "content": "new" }), folder);
        assert_eq!(
            wrote["content"],
            json!([{ "type": "diff", "path": "/project/a.txt", "oldText": null, "newText": "new" }])
        );
        assert_eq!((&wrote["kind"], &wrote["title"]), (&json!("edit"), &json!("write_file a.txt")));
        let edited = described(("c2", "edit_file"), &json!({ "path": "a.txt", "old": "x", "new": "y" }), folder);
        assert_eq!((&edited["content"][0]["oldText"], &edited["content"][0]["newText"]), (&json!("x"), &json!("y")));
        assert_eq!(ended(("c1", "write_file"), "written", false).get("content"), None, "the difference stays");
        assert_eq!(ended(("c1", "write_file"), "no room", true)["content"][0]["content"]["text"], "no room");
    }

    #[test]
    fn a_plan_is_told_whole_each_time() {
        let mut plan = Plan::default();
        plan.apply(TaskEvent::Planned, &json!({ "name": "a" }));
        plan.apply(TaskEvent::Planned, &json!({ "name": "b" }));
        let told = plan.apply(TaskEvent::Completed, &json!({ "name": "a" }));
        let states: Vec<_> = told["entries"].as_array().unwrap().iter().map(|entry| entry["status"].clone()).collect();
        assert_eq!(states, ["completed", "pending"]);
    }

    #[test]
    fn rows_of_turns_before_are_told_in_their_order() {
        let folder = Path::new("/project");
        let rows = [
            json!({ "role": "user", "content": "hi" }),
            json!({ "role": "assistant", "content": "", "tool_calls": [{ "id": "c1", "name": "json", "args": {} }] }),
            json!({ "role": "tool", "content": "42", "tool_call_id": "c1", "is_error": false }),
            json!({ "role": "assistant", "content": "it is 42" }),
        ];
        let told: Vec<Value> = rows.iter().flat_map(|row| replayed(row, folder)).collect();
        let kinds: Vec<_> = told.iter().map(|update| update["sessionUpdate"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["user_message_chunk", "tool_call", "tool_call_update", "agent_message_chunk"]);
    }
}
