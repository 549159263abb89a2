//! What the demo model understands of a conversation: the sections of the
//! task, the sums in it, what tools have answered since, and a schema.

use consort_core::message::Message;
use serde_json::Value;

/// Characters of a line that is quoted.
const LINE_MAX: usize = 160;
/// Lines quoted of one section.
const LINES_MAX: usize = 8;
/// Sums done in one task.
const SUMS_MAX: usize = 4;
/// Sections that are not listed as given.
const OWN: [&str; 3] = ["Task", "Expected Output", "Output Format"];

/// A conversation, read.
pub(super) struct Prompt<'a> {
    task: &'a str,
    sections: Vec<(&'a str, &'a str)>,
    since: &'a [Message],
}

impl<'a> Prompt<'a> {
    /// The last message that has a task section is the task, else the last
    /// one a person wrote: later ones only remind of it.
    pub(super) fn read(messages: &'a [Message]) -> Prompt<'a> {
        let words = |message: &'a Message| match message {
            Message::User { text } => Some(text.as_str()),
            Message::System { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
        };
        let said = || messages.iter().enumerate().rev().filter_map(|(at, message)| Some((at, words(message)?)));
        let task = said().find(|(_, text)| sections(text).iter().any(|(title, _)| *title == "Task"));
        let (at, text) = task.or_else(|| said().next()).unwrap_or_default();
        Prompt { task: text, sections: sections(text), since: messages.get(at..).unwrap_or_default() }
    }

    pub(super) fn section(&self, title: &str) -> Option<&'a str> {
        self.sections.iter().rfind(|(name, _)| *name == title).map(|(_, body)| *body)
    }

    pub(super) fn task(&self) -> &'a str {
        self.section("Task").unwrap_or_else(|| self.task.trim())
    }

    /// Everything else the task was given, by title, a few short lines each.
    pub(super) fn given(&self) -> Vec<(&'a str, Vec<String>)> {
        let worth = |line: &&str| !line.trim().trim_matches('-').is_empty();
        let line = |line: &str| short(line.trim().trim_start_matches(['#', '-', ' ']));
        let lines = |body: &'a str| body.lines().filter(worth).take(LINES_MAX).map(line).collect();
        let others = self.sections.iter().filter(|(title, _)| !OWN.contains(title));
        others.map(|(title, body)| (*title, lines(body))).collect()
    }

    /// The schema the answer must satisfy.
    pub(super) fn schema(&self) -> Option<Value> {
        let body = self.section("Output Format")?;
        let starts = body.match_indices('{').map(|(at, _)| at);
        starts.filter_map(|at| leading_json(body.get(at..)?)).find(Value::is_object)
    }

    /// What this tool has answered since, and whether that was an error.
    pub(super) fn results(&self, tool: &str) -> Vec<(&'a str, bool)> {
        let result = |message: &'a Message| match message {
            Message::Tool { name, text, is_error, .. } if name == tool => Some((text.as_str(), *is_error)),
            Message::Tool { .. } | Message::System { .. } | Message::User { .. } | Message::Assistant(_) => None,
        };
        self.since.iter().filter_map(result).collect()
    }

    /// The sums the task contains.
    pub(super) fn sums(&self) -> Vec<String> {
        let mut sums: Vec<String> = Vec::new();
        let text = self.task().replace("% of ", "%\u{1}");
        for candidate in text.split(|sign: char| !is_arithmetic(sign)) {
            let ends = [' ', ',', '.', '+', '*', '/', '=', '\u{1}'];
            let candidate = candidate.trim_matches(ends).replace('\u{1}', " of ");
            if is_sum(&candidate) && !sums.contains(&candidate) {
                sums.push(candidate);
            }
        }
        sums.truncate(SUMS_MAX);
        sums
    }
}

/// The parts of a text that stand under `## ` titles.
fn sections(text: &str) -> Vec<(&str, &str)> {
    let from_first_title =
        if text.starts_with("## ") { text } else { text.split_once("\n## ").map_or("", |(_, rest)| rest) };
    let parts = from_first_title.split("\n## ").map(|part| part.strip_prefix("## ").unwrap_or(part));
    let titled = parts.map(|part| part.split_once('\n').unwrap_or((part, "")));
    titled.filter(|(title, _)| !title.is_empty()).map(|(title, body)| (title.trim(), body.trim())).collect()
}

fn leading_json(text: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(text).into_iter().next()?.ok()
}

fn is_arithmetic(sign: char) -> bool {
    sign.is_ascii_digit() || " .,+-*/^()%×÷−\u{1}".contains(sign)
}

/// Two numbers with an operator between them. A bare `-` or `/` also stands
/// in dates and ranges, so those need room around them.
fn is_sum(text: &str) -> bool {
    let operators = ["+", "*", "^", "×", "÷", "−", " - ", " / ", "% of "];
    let number = |side: &str| side.contains(|sign: char| sign.is_ascii_digit());
    operators.iter().any(|sign| text.split_once(sign).is_some_and(|(left, right)| number(left) && number(right)))
}

fn short(line: &str) -> String {
    match line.char_indices().nth(LINE_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(line)),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_found_and_dates_and_ranges_are_not() {
        for (task, sums) in [
            ("What is 42 * 17?", vec!["42 * 17"]),
            ("Work out 3*(4+5), then 2^10.", vec!["3*(4+5)", "2^10"]),
            ("Take 15% of 80", vec!["15% of 80"]),
            ("From 10 - 4 apples", vec!["10 - 4"]),
            ("Report on 2024-2025, due 2026-01-02 or 1/2/2026", vec![]),
            ("List 3 ideas, 5 words each", vec![]),
            ("C++ and - dashes * stars", vec![]),
        ] {
            let messages = [Message::User { text: task.into() }];
            assert_eq!(Prompt::read(&messages).sums(), sums, "{task}");
        }
    }

    #[test]
    fn a_reminder_does_not_hide_the_task() {
        let messages = ["## Task\nBake", "Answer now."].map(|text| Message::User { text: text.into() });
        assert_eq!(Prompt::read(&messages).task(), "Bake");
        let chat = ["Hello", "Bake"].map(|text| Message::User { text: text.into() });
        assert_eq!(Prompt::read(&chat).task(), "Bake");
        assert_eq!(Prompt::read(&[]).task(), "");
    }
}
