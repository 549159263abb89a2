//! A workflow by rule: an objective is cut where a verb begins a new part, and
//! each part becomes a task that reads what was there before it.

use consort_core::catalog::ToolInfo;
use serde_json::{Value, json};

use super::find;

/// Words of a task's name.
const NAME_WORDS: usize = 3;
/// Characters of a workflow's name.
const TITLE_CHARS: usize = 100;
/// Words that say nothing in a name.
const FILLERS: [&str; 10] = ["a", "and", "an", "the", "their", "its", "of", "for", "into", "to"];

/// Verbs tasks begin with. Those of the first group need nothing before them.
const FIRST: [&str; 14] = [
    "research",
    "find",
    "search",
    "collect",
    "gather",
    "read",
    "fetch",
    "list",
    "calculate",
    "look",
    "load",
    "measure",
    "ask",
    "get",
];
const LATER: [&str; 32] = [
    "write",
    "compare",
    "summarize",
    "summarise",
    "translate",
    "review",
    "check",
    "combine",
    "draft",
    "report",
    "rank",
    "edit",
    "explain",
    "describe",
    "plan",
    "create",
    "prepare",
    "outline",
    "analyze",
    "analyse",
    "evaluate",
    "choose",
    "send",
    "publish",
    "format",
    "clean",
    "test",
    "verify",
    "classify",
    "extract",
    "design",
    "turn",
];

fn is_verb(word: &str) -> bool {
    let verb = bare_verb(word);
    FIRST.contains(&verb.as_str()) || LATER.contains(&verb.as_str())
}

/// A verb as an order has it: `writes` is `write`.
fn bare_verb(word: &str) -> String {
    let word = word.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase();
    let stems = [word.strip_suffix('s'), word.strip_suffix("es")];
    let known = |stem: &&str| FIRST.contains(stem) || LATER.contains(stem);
    let changed = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    let changed = changed.filter(|stem| known(&stem.as_str()));
    let stem = stems.into_iter().flatten().find(known).map(str::to_owned).or(changed);
    stem.unwrap_or(word)
}

/// A sentence as an order.
pub(super) fn imperative(text: &str) -> String {
    match text.trim().split_once(' ') {
        Some((verb, rest)) if is_verb(verb) => format!("{} {rest}", bare_verb(verb)),
        Some(_) => text.trim().to_owned(),
        None => bare_verb(text),
    }
}

/// A few words that tell a task apart.
pub(super) fn short(description: &str) -> String {
    let words = description.split_whitespace().filter(|word| !FILLERS.contains(&word.to_lowercase().as_str()));
    let words = words.map(|word| word.trim_matches(|sign: char| !sign.is_alphanumeric()));
    words.take(NAME_WORDS).collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Whether a tool takes a workflow as its arguments.
pub(super) fn is_taken_by(tool: &ToolInfo) -> bool {
    let has = |name: &str| tool.schema.json().pointer(&format!("/properties/{name}")).is_some();
    has("tasks") && has("name") && has("inputs")
}

/// A workflow for an objective: a task for each of its parts. What gathers runs side by side;
/// what makes something of it reads everything before that nobody has read.
pub(super) fn drawn(objective: &str, registry: &str) -> Value {
    let mut tasks: Vec<Value> = Vec::new();
    let (mut unread, mut names): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (step, waits) in steps(objective) {
        let description = find::capital(&imperative(&step));
        let verb = description.split_whitespace().next().map(bare_verb).unwrap_or_default();
        let reads = if waits || !FIRST.contains(&verb.as_str()) { std::mem::take(&mut unread) } else { Vec::new() };
        let name = unused(&short(&description), &names);
        let context: Vec<String> = reads.iter().map(|name| format!("${name}")).collect();
        let tools = tools_for(&description, registry);
        unread.push(name.clone());
        names.push(name.clone());
        tasks.push(json!({ "name": name, "description": description, "context": context, "tools": tools }));
    }
    json!({ "name": title(&tasks), "description": objective, "tasks": tasks })
}

/// What it begins with, and what it ends with.
fn title(tasks: &[Value]) -> String {
    let what = |task: &Value| task.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let text = match tasks {
        [] => String::new(),
        [only] => what(only),
        [first, .., last] => format!("{}, then {}", what(first), small(&what(last))),
    };
    text.chars().take(TITLE_CHARS).collect()
}

/// The same words with a small letter in front.
fn small(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map(|first| first.to_lowercase().chain(signs).collect()).unwrap_or_default()
}

fn unused(name: &str, names: &[String]) -> String {
    let name = if name.is_empty() { "task" } else { name };
    let numbered = (2..).map(|number: u32| format!("{name} {number}"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    all.find(|name| !names.contains(name)).unwrap_or_else(|| name.to_owned())
}

/// The parts of an objective, and whether each must wait for those before it.
fn steps(objective: &str) -> Vec<(String, bool)> {
    let (_, listed) = find::parts(objective);
    if listed.len() > 1 {
        return listed.into_iter().map(|step| (step, false)).collect();
    }
    let marked =
        [", and then ", " and then ", ", then ", "; then ", ". Then ", ", finally ", " and finally ", ". Finally "];
    let text = marked.iter().fold(objective.trim().to_owned(), |text, mark| text.replace(mark, "\u{1}"));
    let mut steps = Vec::new();
    for (order, part) in text.split('\u{1}').enumerate() {
        for (place, step) in clauses(part).into_iter().enumerate() {
            steps.push((step, order > 0 && place == 0));
        }
    }
    steps
}

/// The clauses of a sentence: a comma or an `and` ends one where a verb follows.
fn clauses(text: &str) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    for part in text.replace(", and ", ", ").split([',', ';', '\n']).flat_map(|part| part.split(". ")) {
        for piece in part.split(" and ") {
            let piece = piece.trim().trim_end_matches('.');
            let begins = piece.split_whitespace().next().is_some_and(is_verb);
            match clauses.last_mut() {
                Some(last) if !begins => last.push_str(&format!(" and {piece}")),
                Some(_) | None => clauses.push(piece.to_owned()),
            }
        }
    }
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

/// The tools of the registry a task will want.
fn tools_for(description: &str, registry: &str) -> Vec<&'static str> {
    let lower = description.to_lowercase();
    let wanted = [
        ("calculator", !find::sums(description).is_empty() || lower.contains("calculate") || lower.contains("average")),
        ("datetime", find::asks_the_time(description)),
        ("http_fetch", !find::urls(description).is_empty()),
        ("web_search", lower.starts_with("search") || lower.contains("the web")),
        ("read_file", !find::paths(description).is_empty()),
    ];
    let there = |name: &str| registry.contains(&format!("\n- {name}:"));
    wanted.into_iter().filter(|(name, wants)| *wants && there(name)).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(objective: &str) -> Vec<String> {
        let drawn = drawn(objective, "Tools there are:\n- calculator: sums");
        let word = |task: &Value| {
            let list = |name: &str| {
                let items = task[name].as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned());
                items.collect::<Vec<_>>().join("+")
            };
            format!("{} [{}] {}", task["name"].as_str().unwrap(), list("context"), list("tools")).trim().to_owned()
        };
        drawn["tasks"].as_array().unwrap().iter().map(word).collect()
    }

    #[test]
    fn an_objective_becomes_tasks_that_read_each_other() {
        assert_eq!(
            graph("researches tea and coffee, researches prices, compares them and writes a report"),
            [
                "research tea coffee []",
                "research prices []",
                "compare them [$research tea coffee+$research prices]",
                "write report [$compare them]"
            ]
        );
        assert_eq!(
            graph("Find the numbers, then calculate the average"),
            ["find numbers []", "calculate average [$find numbers] calculator"]
        );
        assert_eq!(
            graph("1. Collect data\n2. Collect data\n3. Report"),
            ["collect data []", "collect data 2 []", "report [$collect data+$collect data 2]"]
        );
        assert_eq!(graph("Tea for two"), ["tea two []"]);
        assert_eq!(drawn("reads Emma and writes to Emma", "")["name"], "Read Emma, then write to Emma");
    }
}
