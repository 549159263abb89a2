//! The calls a task asks for: one rule per tool, and only for tools that are
//! offered. A call that was made is not made again, whatever came of it.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::own_tool::OwnTool;
use serde_json::{Value, json};

use super::prompt::Prompt;
use super::{answer, editor, sample, words};

/// The maximum number of calls in one reply; the rest comes in the next.
const CALLS_MAX: usize = 8;
/// The maximum number of replies with calls in one task.
const ROUNDS_MAX: u32 = 4;
/// The maximum number of words of a subtask's title.
const TITLE_WORDS: usize = 6;
/// The tool that asks a person.
const ASK: &str = OwnTool::HumanInput.name();
/// Tools whose rules [`ruled`] knows.
const RULED: [&str; 8] = ["calculator", "read_file", "list_files", "write_file", "datetime", "json", "http_fetch", ASK];

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlannedCall {
    pub(super) tool: String,
    pub(super) args: Value,
}

impl PlannedCall {
    pub(super) fn new(tool: &str, args: Value) -> PlannedCall {
        PlannedCall { tool: tool.to_owned(), args }
    }
}

/// Returns the calls to make now; none when it is time to answer.
pub(super) fn next(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>], round: u32) -> Vec<PlannedCall> {
    if prompt.is_last_turn() || prompt.is_reflection() || round >= ROUNDS_MAX {
        return Vec::new();
    }
    let done = prompt.done();
    let is_new = |call: &PlannedCall| !done.iter().any(|done| done.tool == call.tool && done.args == call.args);
    let calls: Vec<PlannedCall> = wanted(prompt, tools).into_iter().filter(is_new).take(CALLS_MAX).collect();
    if calls.is_empty() { result(prompt, tools).filter(is_new).into_iter().collect() } else { calls }
}

/// Returns the call that submits the structured result of a subtask.
fn result(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>]) -> Option<PlannedCall> {
    let tool = offered(tools, OwnTool::FinishSubtask.name())?;
    let schema = tool.schema.json();
    let is_workflow = schema.pointer("/properties/tasks").and(schema.pointer("/properties/inputs")).is_some();
    let args = if is_workflow {
        editor::workflow(prompt.task(), prompt.system())
    } else {
        sample::of(schema, &answer::filling(prompt))
    };
    Some(PlannedCall::new(&tool.name, args))
}

fn offered<'a>(tools: &'a [Arc<ToolInfo>], name: &str) -> Option<&'a ToolInfo> {
    tools.iter().find(|tool| tool.name == name).map(|tool| &**tool)
}

fn wanted(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>]) -> Vec<PlannedCall> {
    let edits = editor::calls(prompt, tools);
    if !edits.is_empty() {
        return edits;
    }
    let text = [&[prompt.task()], prompt.directives().as_slice()].concat().join("\n");
    let refused = prompt.done().iter().any(|done| done.tool == OwnTool::RunSubtask.name() && done.failed);
    let mut handed = offered(tools, OwnTool::DelegateTask.name()).map(|tool| errands(&text, tool)).unwrap_or_default();
    handed.extend(offered(tools, OwnTool::Delegate.name()).into_iter().flat_map(|tool| favours(&text, tool)));
    if handed.is_empty() && !refused && offered(tools, OwnTool::RunSubtask.name()).is_some() {
        handed = subtasks(&text);
    }
    if handed.is_empty() { tools.iter().flat_map(|tool| tool_calls(&text, tool)).collect() } else { handed }
}

/// Returns the calls of one tool that a text asks for.
fn tool_calls(text: &str, tool: &ToolInfo) -> Vec<PlannedCall> {
    let handing = [OwnTool::RunSubtask, OwnTool::Delegate, OwnTool::DelegateTask, OwnTool::FinishSubtask];
    let is_handing = OwnTool::parse(&tool.name).is_some_and(|own| handing.contains(&own));
    let args = match tool.name.as_str() {
        _ if is_handing => Vec::new(),
        name if RULED.contains(&name) => ruled(text, tool),
        // Any other tool is called when it is named, and a name is more than a word of the language.
        name if name.contains(['_', '-', '.']) && words::has_word(text, name) => vec![named(text, tool)],
        _ => Vec::new(),
    };
    args.into_iter().map(|args| PlannedCall::new(&tool.name, args)).collect()
}

fn ruled(text: &str, tool: &ToolInfo) -> Vec<Value> {
    let lower = text.to_lowercase();
    let prose = prose(text);
    match tool.name.as_str() {
        "calculator" => words::sums(&prose).iter().map(|sum| json!({ "input": sum })).collect(),
        "read_file" => words::paths(&prose).iter().map(|path| json!({ "path": path })).collect(),
        "list_files" if words::has_any(&lower, "list the files|which files|what files") => vec![json!({})],
        "write_file" => words::targets(text).into_iter().map(|(words, path)| written(words, path)).collect(),
        "datetime" if words::asks_the_time(text) => {
            vec![words::zone(text).map_or_else(|| json!({}), |zone| json!({ "timezone": zone }))]
        }
        "json" => {
            let found = words::json(text).map(|(value, words)| (words::query(words, &value), value));
            found.map(|(query, value)| json!({ "query": query, "json": value })).into_iter().collect()
        }
        "http_fetch" => words::urls(text).iter().map(|url| json!({ "url": url })).collect(),
        ASK => words::question(text).map(question).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns a text without its JSON and its addresses, whose signs mean something else.
fn prose(text: &str) -> String {
    let without = words::json(text).map_or(text, |(_, before)| before);
    words::urls(without).into_iter().fold(without.to_owned(), |rest, url| rest.replace(url, " "))
}

/// Returns the arguments for writing a file: with the text in quotes, else with the text that would have been the
/// answer.
fn written(words: &str, path: &str) -> Value {
    let content = words.split('"').nth(1).map_or_else(|| answer::outlined(words, None), str::to_owned);
    json!({ "path": path, "content": format!("{content}\n") })
}

fn question(question: String) -> Value {
    match words::options(&question) {
        options if options.is_empty() => json!({ "question": question }),
        options => json!({ "question": question, "options": options }),
    }
}

/// Returns arguments that fit the tool's schema, made of the quoted text, or else of the text's words.
fn named(text: &str, tool: &ToolInfo) -> Value {
    let quoted = text.split('"').skip(1).step_by(2).map(str::to_owned);
    let points: Vec<String> = quoted.chain([answer::title(text)]).collect();
    let title = points.first().cloned().unwrap_or_default();
    sample::of(tool.schema.json(), &sample::SampleValues { title, points, numbers: Vec::new() })
}

/// Returns one call for every task a manager lists: for the role in the same place of its team, else for one role after
/// the other.
fn errands(text: &str, tool: &ToolInfo) -> Vec<PlannedCall> {
    let roles = roles(tool);
    let (work, team) = text.split_once("Your team:").unwrap_or((text, ""));
    let tasks: Vec<&str> = work.lines().filter_map(words::item).collect();
    let team: Vec<&str> = team.lines().filter_map(words::item).filter_map(|line| line.split(':').next()).collect();
    let errand = |(at, task): (usize, &&str)| {
        let same_place = team.get(at).filter(|role| team.len() == tasks.len() && roles.contains(role));
        let role = same_place.or_else(|| roles.get(at % roles.len().max(1)))?;
        // The worker is told by itself what is expected of it.
        let task = task.split_once(" (expected: ").map_or(*task, |(task, _)| task);
        Some(PlannedCall::new(&tool.name, json!({ "agentRole": role, "taskDescription": task })))
    };
    tasks.iter().enumerate().filter_map(errand).collect()
}

/// Returns the work a text wants another agent asked for: `ask the cook to boil an egg`.
fn favours(text: &str, tool: &ToolInfo) -> Vec<PlannedCall> {
    let roles = roles(tool);
    let favour = |sentence: &str| {
        let lower = sentence.to_lowercase();
        let role = roles.iter().find(|role| words::has_word(&lower, &role.to_lowercase()))?;
        words::has_any(&lower, "ask |delegate |have |let ").then_some(())?;
        let rest = sentence.get(lower.find(&role.to_lowercase())? + role.len()..)?.trim_start_matches([':', ',', ' ']);
        let task = words::capital(words::after(rest, "to "));
        Some(PlannedCall::new(&tool.name, json!({ "agentRole": role, "taskDescription": task })))
    };
    text.split(['.', '\n', ';']).filter_map(favour).collect()
}

fn roles(tool: &ToolInfo) -> Vec<&str> {
    let roles = tool.schema.json().pointer("/properties/agentRole/enum").and_then(Value::as_array);
    roles.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns one subtask for every part of a request.
fn subtasks(text: &str) -> Vec<PlannedCall> {
    let (mut intro, mut parts) = words::parts(text);
    if parts.len() < 2 {
        intro = String::new();
        parts = words::requests(text);
    }
    let lead = intro.trim_end_matches([':', ' ', '.']);
    let order = |part: &String| {
        let title = part.split_whitespace().take(TITLE_WORDS).collect::<Vec<_>>().join(" ");
        let instructions = if lead.is_empty() { part.clone() } else { format!("{part}\n\nThis is a part of: {lead}") };
        let title = title.trim_end_matches(['.', ',', '?']);
        PlannedCall::new(OwnTool::RunSubtask.name(), json!({ "title": title, "instructions": instructions }))
    };
    parts.iter().map(order).collect()
}
