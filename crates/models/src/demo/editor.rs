//! The demo in the workflow editor: plans a workflow when it is asked for one,
//! and adds, connects, renames and removes tasks by simple sentences. It looks
//! at the canvas first, so that names mean what is there.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::own_tool::OwnTool;
use serde_json::{Value, json};

use super::plan::PlannedCall;
use super::prompt::{Done, Prompt};
use super::words::{self, after, capital, imperative};

const BUILD: &str = OwnTool::BuildWorkflow.name();
const LOOK: &str = "ui_get_graph";
const ADD: &str = "ui_add_node";
const CONNECT: &str = "ui_connect_nodes";
const UPDATE: &str = "ui_update_node";
const DELETE: &str = "ui_delete";
const PASTE: &str = "ui_paste";
/// Words of a task's name, and those that say nothing in one.
const NAME_WORDS: usize = 3;
const FILLERS: [&str; 8] = ["a", "an", "and", "the", "of", "for", "into", "to"];
/// The maximum length of a workflow's name in characters.
const TITLE_CHARS: usize = 100;
/// Words a sentence may begin with that say nothing.
const POLITE: &str = "Please |please |Then |then |Now |now |And |and ";

/// Returns the calls that a message in the editor asks for next; none when it asks for nothing of the kind.
pub(super) fn calls(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>]) -> Vec<PlannedCall> {
    let offered = |name: &str| tools.iter().any(|tool| tool.name == name);
    let done = prompt.done();
    if let Some(objective) = objective(prompt.task()).filter(|_| offered(BUILD)) {
        let planned = done.iter().find_map(built).filter(|_| offered(PASTE));
        let paste = planned.map(|graph| PlannedCall::new(PASTE, json!({ "graph_ref": graph })));
        return vec![paste.unwrap_or_else(|| PlannedCall::new(BUILD, json!({ "objective": objective })))];
    }
    let changes = |canvas: &Canvas| -> Vec<PlannedCall> {
        let sentences = prompt.task().split(['\n', ';']).flat_map(|line| line.split(". "));
        sentences.filter_map(|sentence| canvas.change(sentence)).filter(|call| offered(&call.tool)).collect()
    };
    match done.iter().find(|done| done.tool == LOOK) {
        Some(seen) => changes(&Canvas::read(seen.text)),
        None if offered(LOOK) && !changes(&Canvas::default()).is_empty() => vec![PlannedCall::new(LOOK, json!({}))],
        None => Vec::new(),
    }
}

/// Returns the result of a call of the editor, in words.
pub(super) fn describe_result(done: &Done<'_>) -> Option<String> {
    match done.tool {
        BUILD => {
            let result: Value = serde_json::from_str(done.text).unwrap_or_default();
            let count = |name: &str| result.get(name).and_then(Value::as_u64).unwrap_or_default();
            Some(format!("I planned {} tasks with {} links between them.", count("nodes"), count("edges")))
        }
        LOOK => Some(String::new()),
        name if name.starts_with("ui_") => Some(done.text.trim().to_owned()),
        _ => None,
    }
}

/// Returns the reference of the graph that a call has built.
fn built(done: &Done<'_>) -> Option<String> {
    let result: Value = serde_json::from_str(done.text).ok().filter(|_| done.tool == BUILD && !done.failed)?;
    result.get("graph_ref").and_then(Value::as_str).map(str::to_owned)
}

/// Returns the purpose of the workflow a text asks for: `build a workflow that …`.
fn objective(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let (before, _) = lower.split_once("workflow")?;
    words::has_any(before, "build|draw|create|make|plan|design").then_some(())?;
    let rest = text.get(before.len() + "workflow".len()..)?.trim_start_matches([' ', ':']);
    let rest = after(rest, "that |which |to |for ");
    Some(capital(if rest.is_empty() { text.trim() } else { rest }))
}

/// The tasks on the canvas, and the names of those that no other task reads.
#[derive(Default)]
struct Canvas {
    names: Vec<String>,
    last: Vec<String>,
}

impl Canvas {
    fn read(graph: &str) -> Canvas {
        let graph: Value = serde_json::from_str(graph).unwrap_or_default();
        let tasks = graph.get("tasks").and_then(Value::as_array).cloned().unwrap_or_default();
        let names = tasks.iter().filter_map(|task| task.get("name").and_then(Value::as_str).map(str::to_owned));
        let names: Vec<String> = names.collect();
        let context = |task: &Value| task.get("context").and_then(Value::as_array).cloned().unwrap_or_default();
        let read: Vec<Value> = tasks.iter().flat_map(context).collect();
        let is_read = |name: &str| read.iter().filter_map(Value::as_str).any(|read| after(read, "$") == name);
        Canvas { last: names.iter().filter(|name| !is_read(name)).cloned().collect(), names }
    }

    /// Returns the task of this name in any spelling, or the words themselves.
    fn named(&self, words: &str) -> String {
        let bare = words.trim().trim_matches(['"', '\'', '`', ',', '.', '!', '?']);
        let bare = after(bare, "the step |the task |step |task |the ").trim_matches('"');
        let same = |name: &&String| name.to_lowercase() == bare.to_lowercase();
        self.names.iter().find(same).cloned().unwrap_or_else(|| bare.to_owned())
    }

    /// Returns the change a sentence asks for.
    fn change(&self, sentence: &str) -> Option<PlannedCall> {
        let sentence = after(sentence.trim().trim_end_matches(['.', '!']), POLITE);
        let (verb, rest) = sentence.split_once(' ')?;
        let pair = |joint: &str| rest.split_once(joint).map(|(one, two)| (self.named(one), self.named(two)));
        match verb.to_lowercase().as_str() {
            "add" => self.addition(rest),
            "connect" => pair(" to ").map(|(from, to)| PlannedCall::new(CONNECT, json!({ "from": from, "to": to }))),
            "disconnect" => pair(" from ")
                .map(|(from, to)| json!({ "connections": [{ "from": from, "to": to }] }))
                .map(|args| PlannedCall::new(DELETE, args)),
            "rename" => {
                pair(" to ").map(|(node, name)| PlannedCall::new(UPDATE, json!({ "node": node, "name": name })))
            }
            "remove" | "delete" => Some(PlannedCall::new(DELETE, json!({ "nodes": [self.named(rest)] }))),
            _ => None,
        }
    }

    /// Returns the call that adds a step, for a sentence such as `a step called x that does something after y`.
    fn addition(&self, rest: &str) -> Option<PlannedCall> {
        let rest = ["a ", "another "].iter().find_map(|start| rest.strip_prefix(start))?;
        let rest = ["step ", "task "].iter().find_map(|start| rest.strip_prefix(start))?;
        let (name, rest) = match rest.strip_prefix("called ").and_then(|rest| rest.split_once(' ')) {
            Some((name, rest)) => (Some(name.trim_matches('"').to_owned()), rest),
            None => (None, rest),
        };
        let (what, read) = rest.rsplit_once(" after ").map_or((rest, None), |(what, read)| (what, Some(read)));
        let description = imperative(after(what, "that |which |to "));
        let context = read.map_or_else(|| self.last.clone(), |read| vec![self.named(read)]);
        let name = name.unwrap_or_else(|| short(&description));
        Some(PlannedCall::new(ADD, json!({ "name": name, "description": description, "context": context })))
    }
}

/// Returns a few words that tell a task apart.
fn short(description: &str) -> String {
    let words = description.split_whitespace().map(|word| word.trim_matches(|sign: char| !sign.is_alphanumeric()));
    let words = words.map(str::to_lowercase).filter(|word| !word.is_empty() && !FILLERS.contains(&word.as_str()));
    words.take(NAME_WORDS).collect::<Vec<_>>().join(" ")
}

/// Returns a workflow for an objective, with a task for each of its parts: those that gather run side by side, the
/// others read all outputs before them that no other task has read.
pub(super) fn workflow(objective: &str, registry: &str) -> Value {
    let (_, listed) = words::parts(objective);
    let steps =
        if listed.len() > 1 { listed } else { words::clauses(&objective.replace(" then ", " and "), words::is_task) };
    let mut tasks: Vec<Value> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut unread: Vec<String> = Vec::new();
    for step in steps {
        let description = imperative(&step);
        let gathers = description.split_whitespace().next().is_some_and(words::is_gathering);
        let context = if gathers { Vec::new() } else { std::mem::take(&mut unread) };
        let name = unused(&short(&description), &names);
        let sums = !words::sums(&description).is_empty() || description.starts_with("Calculate");
        let tools: &[&str] = if sums && registry.contains("\n- calculator:") { &["calculator"] } else { &[] };
        unread.push(format!("${name}"));
        names.push(name.clone());
        tasks.push(json!({ "name": name, "description": description, "context": context, "tools": tools }));
    }
    let title: String = capital(objective).chars().take(TITLE_CHARS).collect();
    json!({ "name": title, "description": objective, "tasks": tasks })
}

fn unused(name: &str, names: &[String]) -> String {
    let name = if name.is_empty() { "task" } else { name };
    let taken = names.iter().filter(|taken| taken.starts_with(name)).count();
    if taken == 0 { name.to_owned() } else { format!("{name} {}", taken + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_say_what_to_change() {
        let canvas = Canvas::read(r#"{"tasks":[{"name":"Research"},{"name":"write","context":["$Research"]}]}"#);
        for (sentence, tool, args) in [
            (
                "Please add a step that translates the text",
                ADD,
                json!({ "name": "translate text", "description": "Translate the text", "context": ["write"] }),
            ),
            (
                "Add a task called check to check the facts after research",
                ADD,
                json!({ "name": "check", "description": "Check the facts", "context": ["Research"] }),
            ),
            ("Connect research to write", CONNECT, json!({ "from": "Research", "to": "write" })),
            (
                "disconnect Research from write",
                DELETE,
                json!({ "connections": [{ "from": "Research", "to": "write" }] }),
            ),
            ("rename \"write\" to report", UPDATE, json!({ "node": "write", "name": "report" })),
            ("Remove the step nobody", DELETE, json!({ "nodes": ["nobody"] })),
        ] {
            let change = canvas.change(sentence).unwrap_or_else(|| panic!("nothing: {sentence}"));
            assert_eq!((change.tool.as_str(), &change.args), (tool, &args), "{sentence}");
        }
        for other in ["What is 2 + 2?", "Add 1 + 1", "Write about connections", "Add milk to the tea, step by step"] {
            assert_eq!(canvas.change(other), None, "{other}");
        }
    }

    #[test]
    fn a_workflow_is_asked_for_in_many_ways() {
        for (text, wanted) in [
            ("Build a workflow that researches tea", Some("Researches tea")),
            ("Please draw me a workflow: read, then write", Some("Read, then write")),
            ("What is a workflow?", None),
            ("Make a workflow", Some("Make a workflow")),
        ] {
            assert_eq!(objective(text).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn an_objective_becomes_tasks_that_read_each_other() {
        let graph = |objective: &str| -> Vec<String> {
            let drawn = workflow(objective, "Tools there are:\n- calculator: sums");
            let words =
                |task: &Value| format!("{} {} {}", task["name"], task["context"], task["tools"]).replace('"', "");
            drawn["tasks"].as_array().unwrap().iter().map(words).collect()
        };
        assert_eq!(
            graph("Researches tea and coffee, researches prices, compares them and writes a report"),
            [
                "research tea coffee [] []",
                "research prices [] []",
                "compare them [$research tea coffee,$research prices] []",
                "write report [$compare them] []"
            ]
        );
        assert_eq!(
            graph("1. Collect data\n2. Collect data\n3. Calculate 1 + 1"),
            ["collect data [] []", "collect data 2 [] []", "calculate 1 1 [] [calculator]"]
        );
        assert_eq!(graph("Tea for two"), ["tea two [] []"]);
    }
}
