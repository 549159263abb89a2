//! The demo's final answer, in Markdown: what the tools found, what earlier
//! tasks said, an outline where there is nothing else, and who wrote it.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::own_tool::OwnTool;
use serde_json::Value;

use super::outline;
use super::prompt::{Done, Input, Prompt, Revision};
use super::sample::{self, Words};
use super::{editor, find, plan, revise, small_talk};

/// What ends every answer in prose, once.
pub(super) const NOTICE: &str =
    "_Consort's built-in demo model wrote this by fixed rules; name a real model under [models] in consort.toml._";
/// Lines of a file or a page that are shown.
const LINES_MAX: usize = 12;
/// Sentences of a summary.
const SENTENCES_MAX: usize = 5;

/// The answer to a task.
pub(super) fn answer(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>]) -> String {
    if let Some(schema) = prompt.schema() {
        return sample::of(&schema, &words(prompt)).to_string();
    }
    if prompt.is_reflection() {
        return format!("Say in the task how many points are wanted and which numbers are needed.\n\n{NOTICE}");
    }
    let draft = draft(prompt, tools);
    let (mut text, changes) = match prompt.revision() {
        Some(Revision { feedback, previous }) => revise::revised(&draft, feedback, &without_notice(previous)),
        None => (draft, Vec::new()),
    };
    for change in changes {
        text.push_str(&format!("\n\nChanged on request: {change}."));
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
    let (done, inputs) = (prompt.done(), inputs(prompt));
    let result =
        |each: &Done<'_>| editor::told(each, done.len() == 1).filter(|_| !each.failed).unwrap_or_else(|| result(each));
    let results: Vec<String> = done.iter().map(result).filter(|text| !text.is_empty()).collect();
    let rest = match inputs.is_empty() && !results.is_empty() {
        true => left(prompt, &done, tools),
        false => vec![composed(prompt, &inputs, tools)],
    };
    results.into_iter().chain(rest).reduce(joined).unwrap_or_default()
}

/// The parts of a list that no call was made for.
fn left(prompt: &Prompt<'_>, done: &[Done<'_>], tools: &[Arc<ToolInfo>]) -> Vec<String> {
    let handed = [OwnTool::RunSubtask.name(), OwnTool::Delegate.name(), OwnTool::DelegateTask.name()];
    let (_, parts) = find::parts(prompt.task());
    if parts.len() < 2 || done.iter().any(|done| handed.contains(&done.tool)) {
        return Vec::new();
    }
    parts.iter().filter(|part| plan::ruled(part, tools).is_empty()).map(|part| outlined(part, None)).collect()
}

/// List items stay together, everything else is a paragraph of its own.
fn joined(text: String, next: String) -> String {
    let is_item = |part: Option<&str>| part.is_some_and(|line| line.starts_with("- "));
    let gap = if is_item(text.lines().last()) && is_item(next.lines().next()) { "\n" } else { "\n\n" };
    text + gap + &next
}

/// What one call came to.
fn result(done: &Done<'_>) -> String {
    let arg = |name: &str| done.args.get(name).and_then(Value::as_str).unwrap_or_default();
    let first = done.args.as_object().and_then(|args| args.values().find_map(Value::as_str)).unwrap_or_default();
    if done.failed {
        return format!("- `{}` failed for \"{first}\": {}", done.tool, done.text.trim());
    }
    match done.tool {
        "calculator" => format!("- {first} = **{}**", done.text.trim()),
        "datetime" if arg("timezone").is_empty() => format!("It is {}.", done.text.trim()),
        "datetime" => format!("In {} it is {}.", arg("timezone"), done.text.trim()),
        "json" => format!("`{}` gives:\n\n{}", arg("query"), fenced(done.text)),
        "read_file" => format!("`{}` says:\n\n{}", arg("path"), fenced(done.text)),
        "write_file" => format!("- {}", done.text.trim()),
        "list_files" => format!("The files there are:\n\n{}", fenced(done.text)),
        "http_fetch" => format!("{} says:\n\n{}", arg("url"), fenced(done.text)),
        "human_input" => format!("Asked: {}\n\nA person said: {}", arg("question"), done.text.trim()),
        "run_subtask" => format!("## {}\n\n{}", find::capital(arg("title")), inner(done.text, "##")),
        "delegate" | "delegateTask" => format!("## {}\n\n{}", arg("agentRole"), inner(done.text, "##")),
        other => format!("`{other}` answered:\n\n{}", fenced(done.text)),
    }
}

fn fenced(text: &str) -> String {
    let text = without_notice(text);
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.iter().take(LINES_MAX).copied().collect::<Vec<_>>().join("\n");
    let rest = lines.len().saturating_sub(LINES_MAX);
    let more = if rest > 0 { format!("\n\n… and {rest} more lines.") } else { String::new() };
    format!("```\n{shown}\n```{more}")
}

/// An answer of another turn, as a part of this one: its headings lower.
fn inner(text: &str, marks: &str) -> String {
    let deeper = |line: &str| if line.starts_with('#') { format!("{marks}{line}") } else { line.to_owned() };
    without_notice(text).lines().map(deeper).collect::<Vec<_>>().join("\n")
}

/// A text without the notice; what its first line begins with may matter.
fn without_notice(text: &str) -> String {
    text.replace(NOTICE, "").trim_end().trim_start_matches('\n').to_owned()
}

fn inputs(prompt: &Prompt<'_>) -> Vec<Input> {
    let clean = |input: Input| Input { output: without_notice(&input.output), ..input };
    prompt.inputs().into_iter().map(clean).collect()
}

/// A text about the task, made of what it was given.
fn composed(prompt: &Prompt<'_>, inputs: &[Input], tools: &[Arc<ToolInfo>]) -> String {
    let task = prompt.task();
    if let Some(text) = summary(task, inputs).or_else(|| program(task, inputs)) {
        return text;
    }
    if inputs.is_empty() && prompt.is_chat() && !outline::is_order(task) {
        return small_talk::reply(prompt, tools);
    }
    if inputs.is_empty() {
        return outlined(task, outline::count(prompt.expected()));
    }
    let part = |input: &Input| match input.output.starts_with('#') {
        true => inner(&input.output, "#"),
        false => format!("## {}\n\n{}", outline::title(&input.title), inner(&input.output, "##")),
    };
    let parts: Vec<String> = inputs.iter().map(part).collect();
    format!("# {}\n\n{}", outline::title(task), parts.join("\n\n"))
}

/// The points a text would make, so many or as many as the task says.
pub(super) fn outlined(task: &str, count: Option<usize>) -> String {
    let points = outline::points(&outline::topic(task), count.or_else(|| outline::count(task)));
    format!("# {}\n\n{}", outline::title(task), numbered(&points))
}

/// The first sentences of what is to be summarized.
fn summary(task: &str, inputs: &[Input]) -> Option<String> {
    task.to_lowercase().starts_with("summari").then_some(())?;
    let inside = task.split_once(':').map(|(_, text)| text.trim());
    let texts: Vec<&str> = inside.into_iter().chain(inputs.iter().map(|input| input.output.as_str())).collect();
    let sentences = outline::first_sentences(&texts.join("\n\n"));
    let listed: Vec<String> = sentences.iter().take(SENTENCES_MAX).map(|line| format!("- {line}")).collect();
    (!listed.is_empty()).then(|| format!("# In short\n\n{}", listed.join("\n")))
}

/// A timetable, and below it the inputs that gave it no titles.
fn program(task: &str, inputs: &[Input]) -> Option<String> {
    let (titles, others): (Vec<&Input>, Vec<&Input>) =
        inputs.iter().partition(|input| input.output.lines().any(|line| line.starts_with("1. ")));
    let outputs: Vec<String> = titles.iter().map(|input| input.output.clone()).collect();
    let rows = outline::timetable(task, &outline::items(&outputs))?;
    let note = |input: &&Input| format!("\n\n## {}\n\n{}", outline::title(&input.title), inner(&input.output, "##"));
    let notes: String = others.iter().map(note).collect();
    Some(format!("# {}\n\n{}{notes}", outline::title(task), rows.join("\n")))
}

fn numbered(lines: &[String]) -> String {
    let line = |(at, line): (usize, &String)| format!("{}. {line}", at + 1);
    lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// What a value is filled with: the task's words and the tools' numbers.
pub(super) fn words(prompt: &Prompt<'_>) -> Words {
    let (done, inputs) = (prompt.done(), inputs(prompt));
    let found = done.iter().filter(|done| !done.failed);
    let said = found.clone().map(|done| without_notice(done.text).lines().next().unwrap_or_default().to_owned());
    let outputs: Vec<String> = inputs.into_iter().map(|input| input.output).collect();
    let plain = |text: String| text.replace("**", "");
    let points: Vec<String> = outline::items(&outputs).into_iter().chain(said).map(plain).collect();
    let topic = outline::topic(prompt.task());
    let points = if points.is_empty() {
        outline::points(&topic, Some(SENTENCES_MAX)).into_iter().map(plain).collect()
    } else {
        points
    };
    let numbers = found.filter_map(|done| find::number(done.text)).collect();
    Words { title: find::capital(&topic), points, numbers }
}
