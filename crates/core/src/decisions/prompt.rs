//! Writes the opening messages for a model. Sections come in a fixed order, each only when it has content.

use std::fmt::Write;

use serde_json::Value;

use crate::decisions::own_tool::OwnTool;
use consort_spec::event::Directive;
use consort_spec::spec::Task;
use consort_spec::time::iso;

/// The instructions for every agent.
const STANDING: &str = "Work on the task you are given and answer with exactly what is expected, \
    complete and correct, without preamble or commentary. Use tools only where they help.";

/// The heading of the directives that people send while agents work.
const DIRECTIVES: &str = "## Active Directives";

/// A task's output, as another task reads it.
pub(crate) struct Input<'a> {
    pub(crate) task: &'a Task,
    pub(crate) output: &'a str,
}

/// The feedback with which a task is done again.
pub(crate) struct Revision<'a> {
    pub(crate) attempt: u32,
    pub(crate) feedback: &'a str,
    pub(crate) previous: &'a str,
}

/// The parts of the opening message of a task.
pub(crate) struct Opening<'a> {
    pub(crate) task: &'a Task,
    pub(crate) inputs: Vec<Input<'a>>,
    pub(crate) revision: Option<Revision<'a>>,
    pub(crate) directives: Vec<&'a Directive>,
    /// The entries that earlier runs remembered, by name, and their suggestions for improvement.
    pub(crate) memories: Vec<(&'a str, &'a str)>,
    pub(crate) notes: Option<&'a str>,
}

/// Returns the system message of a task's agent.
pub(crate) fn system(task: &Task) -> String {
    let agent = &task.agent;
    let mut text = format!("You are {}.", agent.role);
    for line in [&agent.background, &agent.goal] {
        if !line.is_empty() {
            let lead = if std::ptr::eq(line, &agent.goal) { "Your goal: " } else { "" };
            let _infallible = write!(text, "\n{lead}{line}");
        }
    }
    let _infallible = write!(text, "\n\n{STANDING}");
    text
}

/// Returns the user message of a task.
pub(crate) fn user(opening: &Opening<'_>) -> String {
    let task = opening.task;
    let memory = |(scope, text): &(&str, &str)| format!("## Memory: {scope}\n{text}");
    let mut sections: Vec<String> = opening.memories.iter().map(memory).collect();
    if !opening.inputs.is_empty() {
        sections.push(format!("## Context from Previous Tasks\n{}", context(&opening.inputs)));
    }
    if let Some(notes) = opening.notes {
        sections.push(format!("## Task Improvement Notes (from prior executions)\n{notes}"));
    }
    if let Some(Revision { attempt, feedback, previous }) = &opening.revision {
        let mut text = format!("## Revision Instructions (Attempt {attempt})\n{feedback}");
        if !previous.is_empty() {
            let _infallible = write!(text, "\n\nYour previous output was:\n---\n{previous}\n---");
        }
        sections.push(text);
    }
    if !opening.directives.is_empty() {
        sections.push(directives(&opening.directives));
    }
    sections.push(format!("## Task\n{}", task.description));
    if let Some(more) = &task.additional_context {
        sections.push(format!("## Additional Context\n{more}"));
    }
    sections.push(format!("## Expected Output\n{}", task.expected_output));
    if let Some(schema) = &task.output_schema {
        sections.push(output_format(schema.json()));
    }
    sections.join("\n\n")
}

/// Returns the section with the directives that people send while agents work.
pub(crate) fn directives(directives: &[&Directive]) -> String {
    let line = |directive: &&Directive| {
        format!("[{} | {}] {}", directive.author(), iso(directive.created_at), directive.content)
    };
    format!("{DIRECTIVES}\n{}", directives.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// The tools and duties of a subtask's agent.
pub(crate) struct SubtaskTerms<'a> {
    /// The names of its tools.
    pub(crate) tools: &'a [String],
    /// Whether it must return a structured result.
    pub(crate) has_schema: bool,
}

/// Returns the system message of a subtask's agent.
pub(crate) fn subtask_system(task: &Task, title: &str, terms: &SubtaskTerms<'_>) -> String {
    let role = &task.agent.role;
    let mut text = format!(
        "You are {role}, working on one part of a larger task: {title}\n\n{STANDING} Your answer goes back to whoever asked for this part; nothing else you say is read."
    );
    let has = |own: OwnTool| terms.tools.iter().any(|tool| tool == own.name());
    if has(OwnTool::MemoryRead) {
        text.push_str(
            "\nWith the memory tools you read what was written down before you began, and write down what others need.",
        );
    }
    if has(OwnTool::RunSubtask) {
        text.push_str("\nA part that stands on its own can be handed on with run_subtask.");
    }
    if terms.has_schema {
        text.push_str("\nEnd by calling finish_subtask: its arguments are your result. Prose is not read.");
    }
    text
}

/// Returns the user message of an agent that work is delegated to.
pub(crate) fn assignment(task: &Task, description: &str) -> String {
    format!("## Task\n{description}\n\n## Expected Output\n{}", task.expected_output)
}

/// Returns the message to a model whose answer breaks its schema.
pub(crate) fn repair(violations: &[String], schema: &Value) -> String {
    let list: String = violations.iter().map(|violation| format!("\n- {violation}")).collect();
    format!(
        "Your answer does not fit the required format:{list}\n\nAnswer again with the whole corrected value.\n\n{}",
        output_format(schema)
    )
}

/// The request for improvements after a task is done.
pub(crate) const REFLECT: &str = "The task is done. In two or three sentences, for whoever does it next time: \
    what should be done differently to get a better result sooner? Do not repeat the result.";

/// The message before a model's last answer.
pub(crate) const LAST_ROUND: &str =
    "This is your last turn: no tools can be called any more. Answer now with what you know.";

/// The same for a subtask that must return a structured result.
pub(crate) const LAST_FINISH: &str =
    "This is your last turn: only finish_subtask can be called any more. Call it now with what you know.";

/// The reminder for a subtask that must return a structured result and answers in prose.
pub(crate) const FINISH: &str =
    "Prose does not end this subtask. Call finish_subtask now; its arguments are the result.";

/// The message to a model whose answer ended at the output limit.
pub(crate) const CONTINUE: &str =
    "Your answer was cut off at the output limit. Go on exactly where it stopped, and repeat nothing of it.";

/// The same where the answer has no text yet.
pub(crate) const ANSWER_SHORTLY: &str =
    "Your reply reached the output limit before it said anything. Answer now, as shortly as you can.";

/// The message to a model whose reply ended inside a call.
pub(crate) const CALL_CUT: &str = "Your last reply was cut off at the output limit inside a tool call, so nothing of it \
    was done. Make the call again with shorter arguments, in several smaller calls, or answer without it.";

/// The message to a model whose reply ended inside of JSON.
pub(crate) const JSON_CUT: &str = "Your last reply was cut off at the output limit inside of its JSON, so nothing of it \
    was read. Answer again with a shorter value that satisfies the schema.";

/// The message to a model whose reply was empty.
pub(crate) const BLANK: &str = "Your last reply was empty. Answer now; where you cannot, say why.";

/// Returns the message to a model that repeats a failing call.
pub(crate) fn repeated(tool: &str, times: u32) -> String {
    format!(
        "You have called `{tool}` with the same arguments {times} times and it failed each time. It will fail again: change the arguments, use another way, or answer without it."
    )
}

/// Returns the note that replaces dropped exchanges.
pub(crate) fn dropped(exchanges: usize) -> String {
    format!("[{exchanges}{LEFT_OUT}")
}

const LEFT_OUT: &str = " earlier exchanges of this conversation were left out to fit the model's context.]";

fn context(inputs: &[Input<'_>]) -> String {
    let section = |Input { task, output }: &Input<'_>| {
        format!("### {}: {}\n---\n{output}\n---", task.agent.role, task.description)
    };
    inputs.iter().map(section).collect::<Vec<_>>().join("\n\n")
}

fn output_format(schema: &Value) -> String {
    format!(
        "## Output Format\nAnswer with one JSON value and nothing else: no prose, no code fence. It must satisfy this JSON Schema:\n{schema}"
    )
}
