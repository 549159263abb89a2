//! Which calls a task asks for: one rule per tool, and only for tools that are
//! offered. A call that was made is not made again, whatever came of it.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::own_tool::OwnTool;
use serde_json::{Value, json};

use super::prompt::Prompt;
use super::sample::{self, Words};
use super::{editor, find, outline, workflow, write};

/// Calls in one reply; the rest comes in the next.
const CALLS_MAX: usize = 8;
/// Replies with calls in one task.
const ROUNDS_MAX: u32 = 4;
/// Words of a subtask's title.
const TITLE_WORDS: usize = 6;

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wish {
    pub(super) tool: String,
    pub(super) args: Value,
}

/// The arguments of every call that a text asks for.
type Rule = fn(&str, &ToolInfo) -> Vec<Value>;

const RULES: [(&str, Rule); 9] = [
    ("calculator", sums),
    ("read_file", files),
    ("list_files", folder),
    ("write_file", writing),
    ("datetime", time),
    ("json", query),
    ("http_fetch", pages),
    ("web_search", search),
    (OwnTool::HumanInput.name(), question),
];

/// The calls to make now; none when it is time to answer.
pub(super) fn next(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>], round: u32) -> Vec<Wish> {
    if prompt.is_last_turn() || prompt.is_reflection() || round >= ROUNDS_MAX {
        return Vec::new();
    }
    let done = prompt.done();
    let is_new = |wish: &Wish| !done.iter().any(|done| done.tool == wish.tool && done.args == wish.args);
    let mut wishes: Vec<Wish> = wishes(prompt, tools).into_iter().filter(is_new).collect();
    wishes.truncate(CALLS_MAX);
    if wishes.is_empty() {
        wishes.extend(result(prompt, tools).filter(is_new));
    }
    wishes
}

/// The structured result a subtask owes.
fn result(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>]) -> Option<Wish> {
    let tool = tools.iter().find(|tool| tool.name == OwnTool::FinishSubtask.name())?;
    let args = if workflow::is_taken_by(tool) {
        workflow::drawn(prompt.task(), prompt.system())
    } else {
        sample::of(tool.schema.json(), &write::words(prompt))
    };
    Some(Wish { tool: tool.name.clone(), args })
}

fn wishes(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>]) -> Vec<Wish> {
    let text = [&[prompt.task()], prompt.directives().as_slice()].concat().join("\n");
    let edits = editor::wishes(prompt, tools);
    if !edits.is_empty() {
        return edits;
    }
    let offered = |name: &str| tools.iter().find(|tool| tool.name == name);
    let refused = prompt.done().iter().any(|done| done.tool == OwnTool::RunSubtask.name() && done.failed);
    let mut handed = offered(OwnTool::DelegateTask.name()).map(|tool| errands(&text, tool)).unwrap_or_default();
    handed.extend(offered(OwnTool::Delegate.name()).into_iter().flat_map(|tool| favours(&text, tool)));
    if handed.is_empty() && !refused && offered(OwnTool::RunSubtask.name()).is_some() {
        handed = subtasks(&text);
    }
    if !handed.is_empty() {
        return handed;
    }
    let mut wishes = ruled(&text, tools);
    wishes.extend(
        tools.iter().filter(|tool| is_named(&text, tool)).flat_map(|tool| wish(&tool.name, named(&text, tool))),
    );
    let missed = prompt.done().iter().any(|done| done.tool == "read_file" && done.failed);
    if let Some(tool) = offered("list_files").filter(|_| missed) {
        wishes.extend(wish(&tool.name, vec![json!({})]));
    }
    wishes
}

/// The calls the rules know for a text.
pub(super) fn ruled(text: &str, tools: &[Arc<ToolInfo>]) -> Vec<Wish> {
    let offered = |name: &str| tools.iter().find(|tool| tool.name == name);
    let ruled = RULES.iter().filter_map(|(name, rule)| Some((offered(name)?, rule)));
    ruled.flat_map(|(tool, rule)| wish(&tool.name, rule(text, tool))).collect()
}

fn wish(tool: &str, args: Vec<Value>) -> Vec<Wish> {
    args.into_iter().map(|args| Wish { tool: tool.to_owned(), args }).collect()
}

fn sums(text: &str, tool: &ToolInfo) -> Vec<Value> {
    let input = tool.schema.only_string().unwrap_or("input");
    find::sums(&prose(text)).into_iter().map(|sum| json!({ input: sum })).collect()
}

fn files(text: &str, _: &ToolInfo) -> Vec<Value> {
    find::paths(&prose(text)).into_iter().map(|path| json!({ "path": path })).collect()
}

/// What stands in quotes, else what would have been the answer.
fn writing(text: &str, _: &ToolInfo) -> Vec<Value> {
    let content = |words: &str| match words.split('"').nth(1) {
        Some(quoted) => format!("{quoted}\n"),
        None => format!("{}\n", write::outlined(words, None)),
    };
    let targets = find::targets(text).into_iter();
    targets.map(|(words, path)| json!({ "path": path, "content": content(words) })).collect()
}

fn folder(text: &str, _: &ToolInfo) -> Vec<Value> {
    let lower = text.to_lowercase();
    let asked = ["list the files", "which files", "what files", "in the folder", "in the workspace"];
    if asked.iter().any(|words| lower.contains(words)) { vec![json!({})] } else { Vec::new() }
}

fn time(text: &str, _: &ToolInfo) -> Vec<Value> {
    match find::zone(text) {
        _ if !find::asks_the_time(text) => Vec::new(),
        Some(zone) => vec![json!({ "timezone": zone })],
        None => vec![json!({})],
    }
}

fn query(text: &str, _: &ToolInfo) -> Vec<Value> {
    let found = find::json(text);
    found.into_iter().map(|(value, words)| json!({ "query": find::query(&words, &value), "json": value })).collect()
}

fn pages(text: &str, _: &ToolInfo) -> Vec<Value> {
    find::urls(text).into_iter().map(|url| json!({ "url": url })).collect()
}

fn search(text: &str, tool: &ToolInfo) -> Vec<Value> {
    let lower = text.to_ascii_lowercase();
    let starts = ["search the web for ", "search for ", "look up "];
    let start = starts.iter().find_map(|words| Some(lower.find(words)? + words.len()));
    let words = start.and_then(|start| text.get(start..)).and_then(|rest| rest.split(['.', '\n', '?']).next());
    words.map(|words| json!({ tool.schema.only_string().unwrap_or("query"): words.trim() })).into_iter().collect()
}

fn question(text: &str, _: &ToolInfo) -> Vec<Value> {
    let Some(question) = find::question(text) else { return Vec::new() };
    let options = find::options(&question);
    vec![if options.is_empty() {
        json!({ "question": question })
    } else {
        json!({ "question": question, "options": options })
    }]
}

/// Whether a text asks for a tool that has no rule by its name.
fn is_named(text: &str, tool: &ToolInfo) -> bool {
    let ruled = RULES.iter().any(|(name, _)| *name == tool.name);
    let is_own = [
        OwnTool::RunSubtask.name(),
        OwnTool::Delegate.name(),
        OwnTool::DelegateTask.name(),
        OwnTool::FinishSubtask.name(),
    ]
    .contains(&tool.name.as_str());
    let is_name = tool.name.contains(['_', '.']) || text.contains(&format!("`{}`", tool.name));
    !ruled && !is_own && is_name && find::has_word(text, &tool.name)
}

/// Arguments that fit, made of what the text has in quotes, else of its words.
fn named(text: &str, tool: &ToolInfo) -> Vec<Value> {
    let quoted = text.split('"').skip(1).step_by(2).map(str::to_owned);
    let points: Vec<String> = quoted.chain([outline::title(text)]).collect();
    vec![sample::of(
        tool.schema.json(),
        &Words { title: points.first().cloned().unwrap_or_default(), points, numbers: Vec::new() },
    )]
}

/// A text without its JSON and its addresses, whose signs mean something else.
fn prose(text: &str) -> String {
    let without = find::json(text).map_or_else(|| text.to_owned(), |(_, words)| words);
    find::urls(&without).into_iter().fold(without.clone(), |rest, url| rest.replace(url, " "))
}

/// One call for every task a manager lists, for the role in the same place of
/// its team, or else the one whose words are most alike.
fn errands(text: &str, tool: &ToolInfo) -> Vec<Wish> {
    let roles = roles(tool);
    let (work, team) = text.split_once("Your team:").unwrap_or((text, ""));
    let tasks: Vec<&str> = work.lines().filter_map(find::item).collect();
    let team: Vec<&str> = team.lines().filter_map(find::item).collect();
    let tasks = if tasks.is_empty() { vec![work.trim()] } else { tasks };
    let errand = |(at, task): (usize, &&str)| {
        let same_place = team.get(at).filter(|_| team.len() == tasks.len());
        let named = same_place.and_then(|member| roles.iter().find(|role| is_member(member, role)));
        let role = named.or_else(|| closest(task, &roles, &team))?;
        // The worker knows what is expected of it.
        let task = task.split_once(" (expected: ").map_or(*task, |(task, _)| task);
        Some(Wish { tool: tool.name.clone(), args: json!({ "agentRole": role, "taskDescription": task }) })
    };
    tasks.iter().enumerate().filter_map(errand).collect()
}

/// What a text says another agent should be asked.
fn favours(text: &str, tool: &ToolInfo) -> Vec<Wish> {
    let roles = roles(tool);
    let sentences = text.split(['.', '\n', ';']).map(str::trim);
    let favour = |sentence: &str| {
        let verb = ["Ask ", "ask ", "Delegate ", "delegate ", "Have ", "have ", "Let ", "let "];
        let role = roles.iter().find(|role| find::has_word(&sentence.to_lowercase(), &role.to_lowercase()))?;
        verb.iter().find(|verb| sentence.contains(**verb))?;
        let after = sentence.to_lowercase().find(&role.to_lowercase())? + role.len();
        let rest = sentence.get(after..)?.trim_start_matches([':', ',', ' ']);
        let what = find::capital(rest.strip_prefix("to ").unwrap_or(rest));
        (!what.is_empty()).then(|| json!({ "agentRole": role, "taskDescription": what }))
    };
    wish(&tool.name, sentences.filter_map(favour).collect())
}

fn roles(tool: &ToolInfo) -> Vec<&str> {
    let roles = tool.schema.json().pointer("/properties/agentRole/enum").and_then(Value::as_array);
    roles.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Whether a line about the team is about this role.
fn is_member(line: &str, role: &str) -> bool {
    line.strip_prefix(role).is_some_and(|rest| rest.starts_with(':'))
}

/// The role that shares the most word beginnings with a task.
fn closest<'a>(task: &str, roles: &'a [&'a str], team: &[&str]) -> Option<&'a &'a str> {
    let task = task.to_lowercase();
    let likeness = |role: &&&str| {
        let member = team.iter().find(|member| is_member(member, role)).copied().unwrap_or(role).to_lowercase();
        let stems = member.split(|sign: char| !sign.is_alphanumeric()).filter_map(|word| word.get(..4));
        stems.filter(|stem| task.contains(stem)).count()
    };
    // `max_by_key` takes the last of equals; reversed, that is the first.
    roles.iter().rev().max_by_key(likeness)
}

/// One subtask for every part of a request.
fn subtasks(text: &str) -> Vec<Wish> {
    let (mut intro, mut parts) = find::parts(text);
    if parts.len() < 2 {
        (intro, parts) = (String::new(), find::clauses(text));
    }
    let lead = intro.trim_end_matches([':', ' ', '.']);
    let order = |part: &String| {
        let label = part.split(['[', '{']).next().unwrap_or(part);
        let title = label.split_whitespace().take(TITLE_WORDS).collect::<Vec<_>>().join(" ");
        let instructions = if lead.is_empty() { part.clone() } else { format!("{part}\n\nThis is a part of: {lead}") };
        json!({ "title": title.trim_end_matches(['.', ',', '?']), "instructions": instructions })
    };
    wish(OwnTool::RunSubtask.name(), parts.iter().map(order).collect())
}
