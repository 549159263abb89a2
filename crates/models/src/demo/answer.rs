//! The demo's answer, in Markdown: what the tools found, what earlier tasks
//! said, an outline where there is nothing else, and who wrote it. It knows no
//! facts, so it states none.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::own_tool::OwnTool;
use serde_json::Value;

use super::prompt::{Done, Input, Prompt};
use super::sample::{self, SampleValues};
use super::{editor, words};

/// The line that ends every answer in prose, once.
pub(super) const NOTICE: &str =
    "_Consort's built-in demo model wrote this by fixed rules; name a real model under [models] in consort.toml._";
/// The maximum number of lines shown of a file or a page.
const LINES_MAX: usize = 12;
/// The number of points when the task does not say.
const POINTS: usize = 3;
/// The points to make about anything, in the order of a good introduction.
const ANGLES: [(&str, &str); 5] = [
    ("First things first", "{} in one plain definition"),
    ("Under the surface", "a closer look at {}, step by step"),
    ("Why it matters", "who depends on {}, and for what"),
    ("Common mistakes", "what people often believe about {}, checked"),
    ("Where to begin", "one thing about {} to see, read or try this week"),
];
const NUMBERS: [&str; 5] = ["one", "two", "three", "four", "five"];
/// Messages to try, and the tool each needs.
const EXAMPLES: [(&str, Option<&str>); 9] = [
    (
        "Build a workflow that researches tea, researches coffee, compares both and writes a report",
        Some(OwnTool::BuildWorkflow.name()),
    ),
    ("Add a step that translates the report", Some("ui_add_node")),
    ("What is 42 * 17, and 15% of 80?", Some("calculator")),
    ("What time is it in Tokyo?", Some("datetime")),
    ("How many are there: [3, 1, 2]?", Some("json")),
    ("Read README.md", Some("read_file")),
    ("Write about tea to tea.md", Some("write_file")),
    ("Please do both: 1) add 2 + 3, 2) write about tea", Some(OwnTool::RunSubtask.name())),
    ("Write about bees", None),
];

/// Returns the answer to a task.
pub(super) fn answer(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>]) -> String {
    if let Some(schema) = prompt.schema() {
        return sample::of(&schema, &filling(prompt)).to_string();
    }
    if prompt.is_reflection() {
        return format!("Say in the task how many points are wanted and which numbers are needed.\n\n{NOTICE}");
    }
    let mut text = draft(prompt, tools);
    if let Some(feedback) = prompt.feedback() {
        text.push_str(&format!("\n\n## After the review\n\n{}", words::capital(feedback)));
    }
    if let directives @ [_, ..] = prompt.directives().as_slice() {
        text.push_str(&format!("\n\nTold while working: {}", directives.join("; ")));
    }
    if prompt.is_last_turn() {
        text.push_str("\n\nThis was the last turn, so nothing more was looked up.");
    }
    format!("{text}\n\n{NOTICE}")
}

fn draft(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>]) -> String {
    let inputs = prompt.inputs();
    let done = prompt.done();
    let results =
        done.iter().map(|done| editor::describe_result(done).filter(|_| !done.failed).unwrap_or_else(|| result(done)));
    let results: Vec<String> = results.filter(|text| !text.is_empty()).collect();
    let rest = (!inputs.is_empty() || results.is_empty()).then(|| composed(prompt, &inputs, tools));
    results.into_iter().chain(rest).reduce(joined).unwrap_or_default()
}

/// Joins two texts: list items stay together, everything else becomes a paragraph.
fn joined(text: String, next: String) -> String {
    let is_item = |part: Option<&str>| part.is_some_and(|line| line.starts_with("- "));
    let gap = if is_item(text.lines().last()) && is_item(next.lines().next()) { "\n" } else { "\n\n" };
    text + gap + &next
}

/// Returns the result of one call, in words.
fn result(done: &Done<'_>) -> String {
    let arg = |name: &str| done.args.get(name).and_then(Value::as_str).unwrap_or_default();
    let first = done.args.as_object().and_then(|args| args.values().find_map(Value::as_str)).unwrap_or_default();
    let text = done.text.trim();
    if done.failed {
        return format!("- `{}` failed for \"{first}\": {text}", done.tool);
    }
    match done.tool {
        "calculator" => format!("- {first} = **{text}**"),
        "datetime" if first.is_empty() => format!("It is {text}."),
        "datetime" => format!("In {first} it is {text}."),
        "write_file" => format!("- {text}"),
        "human_input" => format!("Asked: {}\n\nA person said: {text}", arg("question")),
        "run_subtask" => format!("## {}\n\n{}", words::capital(arg("title")), inner(done.text, "##")),
        "delegate" | "delegateTask" => format!("## {}\n\n{}", arg("agentRole"), inner(done.text, "##")),
        "json" => format!("`{}` gives:\n\n{}", arg("query"), fenced(done.text)),
        "read_file" | "http_fetch" => format!("`{first}` says:\n\n{}", fenced(done.text)),
        other => format!("`{other}` answered:\n\n{}", fenced(done.text)),
    }
}

fn fenced(text: &str) -> String {
    let text = without_notice(text);
    let shown = text.lines().take(LINES_MAX).collect::<Vec<_>>().join("\n");
    let rest = text.lines().count().saturating_sub(LINES_MAX);
    let more = if rest > 0 { format!("\n\n… and {rest} more lines.") } else { String::new() };
    format!("```\n{shown}\n```{more}")
}

/// Returns an answer of another task as a part of this one, with lower headings.
fn inner(text: &str, marks: &str) -> String {
    let deeper = |line: &str| if line.starts_with('#') { format!("{marks}{line}") } else { line.to_owned() };
    without_notice(text).lines().map(deeper).collect::<Vec<_>>().join("\n")
}

/// Returns a text without the notice; the beginning of its first line may matter.
pub(super) fn without_notice(text: &str) -> String {
    text.replace(NOTICE, "").trim_end().trim_start_matches('\n').to_owned()
}

/// Returns a text about the task, made of its inputs.
fn composed(prompt: &Prompt<'_>, inputs: &[Input], tools: &[Arc<ToolInfo>]) -> String {
    let task = prompt.task();
    let is_order = task.split_whitespace().next().is_some_and(words::is_task);
    if inputs.is_empty() && prompt.is_chat() && !is_order {
        return small_talk(prompt, tools);
    }
    if inputs.is_empty() {
        return outlined(task, count(prompt.expected()));
    }
    let section = |input: &Input| match input.output.starts_with('#') {
        true => inner(&input.output, "#"),
        false => format!("## {}\n\n{}", title(&input.title), inner(&input.output, "##")),
    };
    let rows = timetable(task, &items(inputs));
    let is_used = |input: &&Input| rows.is_some() && input.output.lines().any(|line| line.starts_with("1. "));
    let sections = inputs.iter().filter(|input| !is_used(input)).map(section);
    let parts: Vec<String> = rows.iter().map(|rows| rows.join("\n")).chain(sections).collect();
    format!("# {}\n\n{}", title(task), parts.join("\n\n"))
}

/// Returns an answer to words that ask for nothing a rule knows: earlier messages, a greeting, or a list of the things
/// that work here.
fn small_talk(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>]) -> String {
    let said = prompt.task().to_lowercase();
    let works = |needed: &Option<&str>| needed.is_none_or(|needed| tools.iter().any(|tool| tool.name == needed));
    let examples = EXAMPLES.iter().filter(|(_, needed)| works(needed)).map(|(words, _)| format!("- {words}"));
    let examples = examples.collect::<Vec<_>>().join("\n");
    let line = |text: &str| format!("- {}", text.split_whitespace().collect::<Vec<_>>().join(" "));
    if words::has_any(&said, "what did i say|what did i ask") {
        let before: Vec<String> = prompt.before().map(line).collect();
        return match before.is_empty() {
            true => "Nothing yet: this is the beginning of our conversation.".to_owned(),
            false => format!("You said:\n\n{}", before.join("\n")),
        };
    }
    let is_greeting = |word: &str| said.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    if ["hello", "hi", "hey", "help", "good morning", "what can you do"].into_iter().any(is_greeting) {
        let who = "I am the demo model that comes with Consort: no network, no key, a few fixed rules.";
        return format!("Hello! {who} I know no facts, but I call real tools. You could say:\n\n{examples}");
    }
    format!("I am only the demo, and no rule of mine fits that. What works here:\n\n{examples}")
}

/// Returns an outline with `count` points, or as many as the task says.
pub(super) fn outlined(task: &str, wanted: Option<usize>) -> String {
    let points = points(&topic(task), wanted.or_else(|| count(task)).unwrap_or(POINTS));
    let lines = points.iter().enumerate().map(|(at, line)| format!("{}. {line}", at + 1));
    format!("# {}\n\n{}", title(task), lines.collect::<Vec<_>>().join("\n"))
}

fn points(topic: &str, count: usize) -> Vec<String> {
    let point = |(head, rest): &(&str, &str)| format!("**{head}**: {}", rest.replace("{}", topic));
    ANGLES.iter().take(count).map(point).collect()
}

/// Returns the first small number of a text, in digits or in words.
fn count(text: &str) -> Option<usize> {
    let number = |word: &str| {
        let word = word.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase();
        NUMBERS.iter().position(|name| *name == word).map(|at| at + 1).or_else(|| word.parse().ok())
    };
    text.split_whitespace().find_map(number).filter(|count| (1..=NUMBERS.len()).contains(count))
}

/// Returns the topic of a task.
fn topic(task: &str) -> String {
    let line = task.lines().next().unwrap_or_default();
    line.split_once(" about ").map_or_else(|| named(without_verb(line)), |(_, topic)| named(topic))
}

/// Returns the title of an answer to a task.
pub(super) fn title(task: &str) -> String {
    let phrase = without_verb(task.lines().next().unwrap_or_default());
    words::capital(&named(words::after(phrase, "about ")))
}

fn without_verb(line: &str) -> &str {
    line.split_once(' ').filter(|(verb, _)| words::is_task(verb)).map_or(line, |(_, rest)| rest)
}

/// Returns the beginning of a phrase, as far as it names one thing.
fn named(phrase: &str) -> String {
    let ends = [" and ", ", ", ". ", ": ", " for ", " in ", " ("];
    let end = ends.iter().filter_map(|end| phrase.find(end)).min().unwrap_or(phrase.len());
    let name = phrase.get(..end).unwrap_or(phrase).trim_end_matches(['.', '?', '!', ':']);
    words::after(name, "the |a ").trim().to_owned()
}

/// Returns the items of all lists in earlier outputs.
fn items(inputs: &[Input]) -> Vec<String> {
    let lines = inputs.iter().flat_map(|input| input.output.lines());
    lines.filter_map(words::item).map(|item| item.replace("**", "")).collect()
}

/// Rows for a task such as `3 talks of 25 minutes, from 18:00, 10 minutes
/// apart`: the first items, one after the other.
fn timetable(task: &str, items: &[String]) -> Option<Vec<String>> {
    let words: Vec<&str> = task.split_whitespace().map(|word| word.trim_end_matches([',', '.'])).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<usize>().ok());
    let of = words.windows(3).position(|three| matches!(three, ["of", _, "minutes"]))?;
    let wanted = number(of.checked_sub(2)?)?;
    let minutes = number(of + 1)?;
    let apart = words.windows(2).position(|two| two == ["minutes", "apart"]);
    let gap = apart.and_then(|at| number(at.checked_sub(1)?)).unwrap_or(0);
    let clock = |word: &&str| {
        let (hours, minutes) = word.split_once(':')?;
        Some(hours.parse::<usize>().ok()? * 60 + minutes.parse::<usize>().ok()?)
    };
    let start = words.iter().find_map(clock)?;
    let row = |at: usize, text: &str| format!("- **{:02}:{:02}** {text}", at / 60 % 24, at % 60);
    let titles = items.iter().take(wanted).enumerate();
    let mut rows: Vec<String> = titles.map(|(at, title)| row(start + at * (minutes + gap), title)).collect();
    let last = rows.len().checked_sub(1)?;
    rows.push(row(start + last * (minutes + gap) + minutes, "End"));
    Some(rows)
}

/// Returns the task's words and the tools' numbers, for a structured answer.
pub(super) fn filling(prompt: &Prompt<'_>) -> SampleValues {
    let done = prompt.done();
    let found = || done.iter().filter(|done| !done.failed);
    let said = found().filter_map(|done| without_notice(done.text).lines().next().map(str::to_owned));
    let mut texts: Vec<String> = items(&prompt.inputs()).into_iter().chain(said).collect();
    let topic = topic(prompt.task());
    if texts.is_empty() {
        texts = points(&topic, ANGLES.len()).iter().map(|point| point.replace("**", "")).collect();
    }
    let numbers = found().filter_map(|done| done.text.trim().parse().ok()).collect();
    SampleValues { title: words::capital(&topic), points: texts, numbers }
}
