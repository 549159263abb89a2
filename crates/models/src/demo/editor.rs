//! What the demo does in the editor: builds a workflow when it is asked for
//! one, and adds, connects, renames and removes tasks by what a sentence says.
//! It looks at the canvas first, so that names mean what is there.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::own_tool::OwnTool;
use serde_json::{Value, json};

use super::find;
use super::plan::Wish;
use super::prompt::{Done, Prompt};
use super::workflow::{imperative, short};

const LOOK: &str = "ui_get_graph";
const ADD: &str = "ui_add_node";
const CONNECT: &str = "ui_connect_nodes";
const UPDATE: &str = "ui_update_node";
const DELETE: &str = "ui_delete";
const PASTE: &str = "ui_paste";

/// How a sentence asks for a whole workflow.
const BUILD: [&str; 8] = ["build", "draw", "create", "make", "plan", "design", "set up", "sketch"];
/// How a sentence asks for one more task, and what the task is called there.
const MORE: [&str; 4] = ["add ", "append ", "insert ", "put in "];
const TASK: [&str; 3] = ["step", "task", "node"];
/// Words that end a task's description and say what it reads.
const AFTER: [&str; 4] = [" after ", " reading ", " that reads ", " which reads "];
/// Words that say a task reads nothing.
const ALONE: [&str; 4] = ["at the start", "at the beginning", "in parallel", "on its own"];
/// How a sentence asks what there is.
const SHOW: [&str; 6] = [
    "what is on the canvas",
    "what's on the canvas",
    "describe the workflow",
    "show the workflow",
    "which tasks",
    "list the tasks",
];
/// The calls a message in the editor asks for next; none when it asks for nothing of the kind.
pub(super) fn wishes(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>]) -> Vec<Wish> {
    let offered = |name: &str| tools.iter().any(|tool| tool.name == name);
    let (text, done) = (prompt.task(), prompt.done());
    if let Some(objective) = objective(text).filter(|_| offered(OwnTool::BuildWorkflow.name())) {
        let planned = done.iter().find_map(reference).filter(|_| offered(PASTE));
        let build = wish(OwnTool::BuildWorkflow.name(), json!({ "objective": objective }));
        return vec![planned.map_or(build, |reference| wish(PASTE, json!({ "graph_ref": reference })))];
    }
    if !offered(LOOK) || !wants_change(text) {
        return Vec::new();
    }
    match done.iter().find(|done| done.tool == LOOK) {
        None => vec![wish(LOOK, json!({}))],
        Some(seen) => {
            let canvas = Canvas::read(seen.text);
            let found = sentences(text).filter_map(|sentence| canvas.change(sentence));
            found.filter(|wish| offered(&wish.tool)).collect()
        }
    }
}

/// What a call of the editor came to, in words.
pub(super) fn told(done: &Done<'_>, is_only: bool) -> Option<String> {
    match done.tool {
        name if name == OwnTool::BuildWorkflow.name() => {
            let told: Value = serde_json::from_str(done.text).unwrap_or_default();
            let count = |name: &str, word: &str| match told.get(name).and_then(Value::as_u64).unwrap_or_default() {
                1 => format!("1 {word}"),
                number => format!("{number} {word}s"),
            };
            Some(format!("I planned {} with {} between them.", count("nodes", "task"), count("edges", "link")))
        }
        LOOK if !is_only => Some(String::new()),
        LOOK => Some(Canvas::read(done.text).words()),
        name if name.starts_with("ui_") => Some(done.text.trim().to_owned()),
        _ => None,
    }
}

fn wish(tool: &str, args: Value) -> Wish {
    Wish { tool: tool.to_owned(), args }
}

/// The graph a call has built.
fn reference(done: &Done<'_>) -> Option<String> {
    let told: Value =
        serde_json::from_str(done.text).ok().filter(|_| done.tool == OwnTool::BuildWorkflow.name() && !done.failed)?;
    told.get("graph_ref").and_then(Value::as_str).map(str::to_owned)
}

/// What a workflow is wanted for.
fn objective(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let at = lower.find("workflow").or_else(|| lower.find("pipeline"))?;
    let before = lower.get(..at)?;
    BUILD.iter().find(|verb| find::has_word(before, verb))?;
    let rest =
        text.get(at..)?.split_once(|sign: char| sign.is_whitespace() || sign == ':').map_or("", |(_, rest)| rest);
    let starts = ["that ", "which ", "to ", "for ", "it ", "where it "];
    let rest = starts.iter().fold(rest.trim(), |rest, start| rest.strip_prefix(start).unwrap_or(rest).trim());
    Some(find::capital(if rest.is_empty() { text.trim() } else { rest }))
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', ';']).flat_map(|line| line.split(". ")).map(|part| part.trim().trim_end_matches(['.', '!', '?']))
}

/// Whether some sentence asks for a change, or to be told what there is.
fn wants_change(text: &str) -> bool {
    let lower = text.to_lowercase();
    SHOW.iter().any(|words| lower.contains(words))
        || sentences(text).any(|sentence| Canvas::default().change(sentence).is_some())
}

/// What stands on the canvas: the tasks, and the names of those nobody reads.
#[derive(Default)]
struct Canvas {
    names: Vec<String>,
    last: Vec<String>,
}

impl Canvas {
    fn read(graph: &str) -> Canvas {
        let graph: Value = serde_json::from_str(graph).unwrap_or_default();
        let tasks = graph.get("tasks").and_then(Value::as_array).cloned().unwrap_or_default();
        let name = |task: &Value| task.get("name").and_then(Value::as_str).map(str::to_owned);
        let reads = |task: &Value, name: &str| {
            let context = task.get("context").and_then(Value::as_array).into_iter().flatten();
            context.filter_map(Value::as_str).any(|reference| reference.trim_start_matches('$') == name)
        };
        let names: Vec<String> = tasks.iter().filter_map(name).collect();
        let last = names.iter().filter(|name| !tasks.iter().any(|task| reads(task, name))).cloned().collect();
        Canvas { names, last }
    }

    fn words(&self) -> String {
        if self.names.is_empty() {
            return "The canvas is empty.".to_owned();
        }
        format!("The canvas has {} tasks: {}.", self.names.len(), self.names.join(", "))
    }

    /// The task that is meant: the one of this name in any spelling, else the words themselves.
    fn named(&self, words: &str) -> String {
        let bare = words.trim().trim_matches(['"', '\'', '`', '“', '”', ',', '.']);
        let bare = ["the step ", "the task ", "the node ", "step ", "task ", "node ", "the "]
            .iter()
            .find_map(|start| bare.strip_prefix(start))
            .unwrap_or(bare)
            .trim_matches(['"', '\'', '`', '“', '”', ' ']);
        let same = |name: &&String| name.to_lowercase() == bare.to_lowercase();
        self.names.iter().find(same).cloned().unwrap_or_else(|| bare.to_owned())
    }

    fn change(&self, sentence: &str) -> Option<Wish> {
        let please = ["Please ", "please ", "Now ", "now ", "Then ", "then ", "And ", "and "];
        let sentence = please.iter().fold(sentence.trim(), |rest, start| rest.strip_prefix(start).unwrap_or(rest));
        self.addition(sentence)
            .or_else(|| self.link(sentence))
            .or_else(|| self.renaming(sentence))
            .or_else(|| self.removal(sentence))
    }

    /// `add a step called x that does something after y`
    fn addition(&self, sentence: &str) -> Option<Wish> {
        let lower = sentence.to_lowercase();
        let verb = MORE.iter().find(|verb| lower.starts_with(**verb))?;
        let (at, word) = TASK.iter().find_map(|word| Some((lower.find(word)?, word)))?;
        // Little stands between the verb and what is added: `a`, `another`, `one more`.
        (lower.get(verb.len()..at)?.split_whitespace().count() <= 3).then_some(())?;
        let rest = sentence.get(at + word.len()..)?.trim_start();
        let (name, rest) = given_name(rest);
        let alone = ALONE.iter().any(|words| lower.contains(words));
        let rest = ALONE.iter().fold(rest.to_owned(), |rest, words| rest.replace(words, ""));
        let (what, read) = match AFTER.iter().filter_map(|word| rest.rfind(word).map(|at| (at, word))).max() {
            Some((at, word)) => (rest.get(..at)?, rest.get(at + word.len()..).map(|name| self.named(name))),
            None => (rest.as_str(), None),
        };
        let what = what.trim().trim_matches([',', ':', ' ']);
        let what = ["that ", "which ", "to ", "for "].iter().find_map(|start| what.strip_prefix(start)).unwrap_or(what);
        let description = find::capital(&imperative(what));
        (!description.is_empty()).then_some(())?;
        let context = match read {
            Some(name) => vec![name],
            None if alone => Vec::new(),
            None => self.last.clone(),
        };
        let name = name.unwrap_or_else(|| short(&description));
        Some(wish(ADD, json!({ "name": name, "description": description, "context": context })))
    }

    /// `connect a to b`, `disconnect a from b`, `let b read a`
    fn link(&self, sentence: &str) -> Option<Wish> {
        let lower = sentence.to_lowercase();
        let parted = |start: &str, between: &str| {
            let rest = lower.starts_with(start).then(|| sentence.get(start.len()..))??;
            let at = rest.to_lowercase().find(between)?;
            Some((self.named(rest.get(..at)?), self.named(rest.get(at + between.len()..)?)))
        };
        let joined =
            parted("connect ", " to ").or_else(|| parted("connect ", " with ")).or_else(|| parted("link ", " to "));
        let read = parted("let ", " read ").or_else(|| parted("make ", " read ")).map(|(to, from)| (from, to));
        if let Some((from, to)) = joined.or(read) {
            return Some(wish(CONNECT, json!({ "from": from, "to": to })));
        }
        let (from, to) = parted("disconnect ", " from ").or_else(|| parted("disconnect ", " and "))?;
        Some(wish(DELETE, json!({ "connections": [{ "from": from, "to": to }] })))
    }

    /// `rename a to b`, `change the description of a to …`
    fn renaming(&self, sentence: &str) -> Option<Wish> {
        let lower = sentence.to_lowercase();
        let fields = [
            ("rename ", "name"),
            ("change the name of ", "name"),
            ("change the description of ", "description"),
            ("set the description of ", "description"),
            ("change the model of ", "model"),
            ("set the model of ", "model"),
        ];
        let (start, field) = fields.iter().find(|(start, _)| lower.starts_with(start))?;
        let (node, value) = sentence.get(start.len()..)?.split_once(" to ")?;
        let value = value.trim().trim_matches(['"', '“', '”']);
        Some(wish(UPDATE, json!({ "node": self.named(node), *field: value })))
    }

    /// `remove a`
    fn removal(&self, sentence: &str) -> Option<Wish> {
        let lower = sentence.to_lowercase();
        let start = ["remove ", "delete ", "drop "].iter().find(|start| lower.starts_with(**start))?;
        let name = self.named(sentence.get(start.len()..)?);
        (!name.is_empty()).then(|| wish(DELETE, json!({ "nodes": [name] })))
    }
}

/// The name a task is given, and the rest of the sentence.
fn given_name(rest: &str) -> (Option<String>, &str) {
    let called = ["called ", "named "].iter().find_map(|start| rest.strip_prefix(start));
    let quoted = called.and_then(|rest| rest.strip_prefix(['"', '“', '\''])?.split_once(['"', '”', '\'']));
    match (quoted, called.and_then(|rest| rest.split_once([' ', ',', ':']))) {
        (Some((name, rest)), _) | (None, Some((name, rest))) => (Some(name.to_owned()), rest.trim_start()),
        (None, None) => (None, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_say_what_to_change() {
        let canvas = Canvas::read(r#"{"tasks":[{"name":"Research"},{"name":"write","context":["Research"]}]}"#);
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
            (
                "add another step \"x\" that rests in parallel",
                ADD,
                json!({ "name": "x that rests", "description": "\"x\" that rests", "context": [] }),
            ),
            ("Connect research to write", CONNECT, json!({ "from": "Research", "to": "write" })),
            ("let write read research", CONNECT, json!({ "from": "Research", "to": "write" })),
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
            ("Please draw me a pipeline: read, then write", Some("Read, then write")),
            ("What is a workflow?", None),
            ("Make a workflow", Some("Make a workflow")),
        ] {
            assert_eq!(objective(text).as_deref(), wanted, "{text}");
        }
    }
}
