//! Parses a conversation for the demo model: the sections of
//! the task, the messages since, and the results of tools.

use consort_core::message::{Message, Stop};
use serde_json::Value;

use super::answer::without_notice;
use super::words::leading_json;

/// The titles of a task's sections; any other heading is part of a text.
const TITLES: [&str; 9] = [
    "Task",
    "Expected Output",
    "Output Format",
    "Additional Context",
    "Active Directives",
    "Context from Previous Tasks",
    "Revision Instructions",
    "Task Improvement Notes",
    "Memory:",
];
/// Beginnings of messages that remind of a task instead of giving one.
const REMINDERS: [&str; 8] = [
    LAST_TURN,
    REFLECTION,
    "You have called `",
    "Your answer does not fit the required format",
    "Your reply reached the output limit",
    "Your last reply was",
    GO_ON[0],
    GO_ON[1],
];
/// Beginnings of messages that ask for the rest of an answer, in a task and in a chat.
const GO_ON: [&str; 2] = ["Your answer was cut off", "Continue exactly where your answer was cut off"];
/// The task that the demo answers with nothing, so that this can be tried too.
const SILENCE: &str = "say nothing";
const LAST_TURN: &str = "This is your last turn";
const REFLECTION: &str = "The task is done.";

/// A parsed conversation.
pub(super) struct Prompt<'a> {
    text: &'a str,
    sections: Vec<(&'a str, &'a str)>,
    before: &'a [Message],
    since: &'a [Message],
}

/// A call that was made for the task, and its result.
pub(super) struct Done<'a> {
    pub(super) tool: &'a str,
    pub(super) args: Value,
    pub(super) text: &'a str,
    pub(super) failed: bool,
}

/// The output of an earlier task.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) title: String,
    pub(super) output: String,
}

impl<'a> Prompt<'a> {
    /// Parses a conversation. The task is the last message that has a task
    /// section, else the last message of a person that is more than a reminder.
    pub(super) fn read(messages: &'a [Message]) -> Prompt<'a> {
        let said = || messages.iter().enumerate().rev().filter_map(|(at, message)| Some((at, words(message)?)));
        let task = said().find(|(_, text)| sections(text).iter().any(|(title, _)| *title == "Task"));
        let (at, text) = task.or_else(|| said().find(|(_, text)| !reminds(text))).unwrap_or_default();
        let (before, since) = messages.split_at_checked(at).unwrap_or_default();
        Prompt { text, sections: sections(text), before, since }
    }

    pub(super) fn section(&self, title: &str) -> Option<&'a str> {
        self.sections.iter().rfind(|(name, _)| name.starts_with(title)).map(|(_, body)| *body)
    }

    pub(super) fn task(&self) -> &'a str {
        let task = self.sections.iter().rfind(|(name, _)| *name == "Task");
        task.map_or_else(|| self.text.trim(), |(_, body)| *body)
    }

    pub(super) fn is_chat(&self) -> bool {
        self.sections.is_empty()
    }

    /// Returns the messages of people before the task, without the sections that Consort adds.
    pub(super) fn before(&self) -> impl Iterator<Item = &'a str> {
        self.before.iter().filter_map(words).filter(|text| !text.starts_with("## "))
    }

    /// Returns the system message.
    pub(super) fn system(&self) -> &'a str {
        let text_of = |message: &'a Message| match message {
            Message::System { text } => Some(text.as_str()),
            Message::User { .. } | Message::Files { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
        };
        self.before.iter().find_map(text_of).unwrap_or_default()
    }

    pub(super) fn expected(&self) -> &'a str {
        self.section("Expected Output").unwrap_or_default()
    }

    /// Returns the directives given while the task was worked on, without their authors and times.
    pub(super) fn directives(&self) -> Vec<&'a str> {
        let opening = self.section("Active Directives");
        let later = self.later().filter_map(|text| text.strip_prefix("## Active Directives\n"));
        let content = |line: &'a str| line.split_once("] ").map_or(line, |(_, content)| content).trim();
        opening.into_iter().chain(later).flat_map(str::lines).map(content).filter(|line| !line.is_empty()).collect()
    }

    /// Returns the feedback of a reviewer, if the work is done again.
    pub(super) fn feedback(&self) -> Option<&'a str> {
        let body = self.section("Revision Instructions")?;
        Some(body.split_once("\n\nYour previous output was:\n").map_or(body, |(feedback, _)| feedback).trim())
    }

    /// Returns the outputs of earlier tasks.
    pub(super) fn inputs(&self) -> Vec<Input> {
        self.section("Context from Previous Tasks").map(inputs).unwrap_or_default()
    }

    /// Returns the schema that the answer must satisfy.
    pub(super) fn schema(&self) -> Option<Value> {
        let body = self.section("Output Format")?;
        let starts = body.match_indices('{').map(|(at, _)| at);
        starts.filter_map(|at| leading_json(body.get(at..)?)).find(Value::is_object)
    }

    pub(super) fn is_last_turn(&self) -> bool {
        self.later().any(|text| text.starts_with(LAST_TURN))
    }

    pub(super) fn is_reflection(&self) -> bool {
        self.later().last().is_some_and(|text| text.starts_with(REFLECTION))
    }

    /// Returns whether the answer must be empty.
    pub(super) fn wants_silence(&self) -> bool {
        self.task().trim_end_matches(['.', '!']).eq_ignore_ascii_case(SILENCE)
    }

    /// Returns the answer so far, where the rest of it is asked for.
    pub(super) fn begun(&self) -> Option<String> {
        let asks = self.later().last().is_some_and(|text| GO_ON.iter().any(|start| text.starts_with(start)));
        let cut = |message: &'a Message| match message {
            Message::Assistant(reply) if reply.stop == Stop::Length => Some(reply.text()),
            Message::Assistant(_)
            | Message::System { .. }
            | Message::User { .. }
            | Message::Files { .. }
            | Message::Tool { .. } => None,
        };
        asks.then(|| self.since.iter().filter_map(cut).collect())
    }

    /// Returns the calls made so far that have a result.
    pub(super) fn done(&self) -> Vec<Done<'a>> {
        let done = |message: &'a Message| match message {
            Message::Tool { provider_id, name, text, is_error, .. } => {
                Some(Done { tool: name, args: self.arguments(provider_id), text: text.as_str(), failed: *is_error })
            }
            Message::System { .. } | Message::User { .. } | Message::Files { .. } | Message::Assistant(_) => None,
        };
        self.since.iter().filter_map(done).collect()
    }

    fn arguments(&self, provider_id: &str) -> Value {
        let replies = self.since.iter().filter_map(|message| match message {
            Message::Assistant(reply) => Some(reply),
            Message::System { .. } | Message::User { .. } | Message::Files { .. } | Message::Tool { .. } => None,
        });
        let call = replies.flat_map(|reply| reply.calls()).find(|call| call.provider_id == provider_id);
        call.and_then(|call| serde_json::from_str(call.args.as_str()).ok()).unwrap_or_default()
    }

    fn later(&self) -> impl Iterator<Item = &'a str> {
        self.since.iter().skip(1).filter_map(words)
    }
}

fn words(message: &Message) -> Option<&str> {
    match message {
        Message::User { text } => Some(text.as_str()),
        Message::System { .. } | Message::Files { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
    }
}

fn reminds(text: &str) -> bool {
    text.starts_with("## Active Directives") || REMINDERS.iter().any(|start| text.starts_with(start))
}

/// Returns the sections of a text that stand under known titles.
fn sections(text: &str) -> Vec<(&str, &str)> {
    let known = |at: &usize| {
        let title = text.get(at + 3..).unwrap_or_default();
        (*at == 0 || text.get(..*at).is_some_and(|before| before.ends_with('\n')))
            && TITLES.iter().any(|name| title.starts_with(name))
    };
    let starts: Vec<usize> = text.match_indices("## ").map(|(at, _)| at).filter(known).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let parts = starts.iter().zip(ends).filter_map(|(start, end)| text.get(start + 3..end));
    let titled = parts.map(|part| part.split_once('\n').unwrap_or((part, "")));
    titled.map(|(title, body)| (title.trim(), body.trim())).collect()
}

/// Reads `### role: task`, then the output between two lines of dashes.
fn inputs(body: &str) -> Vec<Input> {
    let blocks = body.strip_prefix("### ").unwrap_or(body).split("\n---\n\n### ");
    let input = |block: &str| {
        let (head, output) = block.split_once("\n---\n")?;
        let title = head.split_once(": ").map_or(head, |(_, task)| task);
        Some(Input {
            title: title.to_owned(),
            output: without_notice(output.trim_end_matches("\n---")).trim().to_owned(),
        })
    };
    blocks.filter_map(input).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    #[test]
    fn a_reminder_does_not_hide_the_task() {
        let messages = [user("## Task\nBake"), user("Answer now.")];
        assert_eq!(Prompt::read(&messages).task(), "Bake");
        let messages = [user("Hello"), user("Bake"), user("This is your last turn: no tools.")];
        let prompt = Prompt::read(&messages);
        assert_eq!((prompt.task(), prompt.is_last_turn()), ("Bake", true));
        assert_eq!(Prompt::read(&[]).task(), "");
    }

    #[test]
    fn titles_in_the_output_of_others_are_not_sections() {
        let text = "## Context from Previous Tasks\n### Cook: Cook\nwell\n---\n## Soup\n---\n---\n\n### Baker: Bake\n---\n\
                    # Bread\n---\n\n## Task\nServe";
        let messages = [user(text)];
        let prompt = Prompt::read(&messages);
        let input = |title: &str, output: &str| Input { title: title.to_owned(), output: output.to_owned() };
        assert_eq!(prompt.task(), "Serve");
        assert_eq!(prompt.inputs()[1], input("Bake", "# Bread"));
        assert!(prompt.inputs()[0].output.starts_with("## Soup"));
    }
}
