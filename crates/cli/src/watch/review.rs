//! Reviews in the terminal: the questions to a person, and the meaning of each line
//! they type. Only reading the keyboard and editing have side effects.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use consort_core::event::Decision;
use consort_core::question::OUTPUT_CUT;
use tokio::task::JoinHandle;

use crate::show::drawing::Drawing;
use crate::show::view::{About, Review};
use crate::show::words::until;

/// The rule before and after an output.
pub(super) const RULE: &str = "────────────────────────────────────────";
/// The line that ends a text typed line by line.
const END: &str = ".";

/// An open question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// The review's public id.
    pub(super) review: String,
    about: About,
    step: Step,
}

/// The step of the dialogue about it.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// Choose a decision; or, when an agent asks, type the answer.
    Choose,
    /// Explain what should be better.
    Explain,
    /// Type a new text; the lines so far.
    Type(Vec<String>),
    /// Say once more that the run is to end.
    End,
}

/// The effect of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LineOutcome {
    /// This is to be asked next.
    Ask(&'static str),
    /// The review is decided.
    Decided(Decision),
    /// The text is to be edited.
    Edit(String),
}

impl Question {
    /// The second question before a run is ended, which cannot be mended afterwards.
    const SURE: &str = "This ends the run here. Type x again to do that, anything else to choose again: ";

    /// Creates a question about a review.
    pub(super) fn new(review: &Review) -> Question {
        Question { review: review.id.clone(), about: review.about.clone(), step: Step::Choose }
    }

    /// Returns the text that is shown first, with the output as it was `formatted`.
    pub(super) fn opening(&self, review: &Review, now: Duration, formatted: impl FnOnce(&str) -> Drawing) -> Drawing {
        let due = match review.due {
            Some(due) => format!("; in {} {}", until(due.saturating_sub(now)), review.then),
            None => String::new(),
        };
        let name = &review.name;
        let choices = self.choices();
        match &self.about {
            About::Beginning => Drawing::of(format!("\nReview before `{name}` starts{due}.\n{choices}")),
            About::Output(output) => {
                let opened = Drawing::of(format!("\nReview of `{name}`{due}.\n{RULE}\n"));
                let cut = if review.is_cut { format!("{OUTPUT_CUT}\n") } else { String::new() };
                opened.then(formatted(output.trim_end())).text(format!("{RULE}\n{cut}{choices}"))
            }
            About::Question { question, options } => {
                let option = |(index, option): (usize, &String)| format!("  {}. {}\n", index + 1, option);
                let options: String = options.iter().enumerate().map(option).collect();
                Drawing::of(format!("\n`{name}` asks{due}.\n{}\n{options}{choices}", question.trim_end()))
            }
        }
    }

    /// Returns the line with the choices.
    pub(super) fn choices(&self) -> &'static str {
        match &self.about {
            About::Beginning => "[a]pprove  [r]eject  [x] exit early: ",
            About::Output(_) => "[a]pprove  [e]dit  [r]eject  [x] exit early: ",
            About::Question { options, .. } if options.is_empty() => "Your answer: ",
            About::Question { .. } => "Your answer, or its number: ",
        }
    }

    /// Starts over, because the answer was not accepted.
    pub(super) fn again(&mut self) {
        self.step = Step::Choose;
    }

    /// Asks for a text line by line, because there is no editor.
    pub(super) fn type_text(&mut self) -> &'static str {
        self.step = Step::Type(Vec::new());
        "Type the new text; a line with a single . ends it.\n"
    }

    /// Handles a line.
    pub(super) fn handle_line(&mut self, line: &str) -> LineOutcome {
        let line = line.trim_end_matches(['\r', '\n']);
        match &mut self.step {
            Step::Choose => self.choose(line.trim()),
            Step::End if matches!(line.trim().to_lowercase().as_str(), "x" | "exit") => {
                LineOutcome::Decided(Decision::ExitEarly)
            }
            Step::End => {
                self.step = Step::Choose;
                LineOutcome::Ask(self.choices())
            }
            Step::Explain if line.trim().is_empty() => LineOutcome::Ask("What should be better? "),
            Step::Explain => LineOutcome::Decided(Decision::Reject { feedback: line.trim().into() }),
            Step::Type(lines) if line == END => {
                LineOutcome::Decided(Decision::Edit { output: lines.join("\n").as_str().into() })
            }
            Step::Type(lines) => {
                lines.push(line.to_owned());
                LineOutcome::Ask("")
            }
        }
    }

    fn choose(&mut self, word: &str) -> LineOutcome {
        if let About::Question { options, .. } = &self.about {
            return answer(word, options).map_or_else(|| LineOutcome::Ask(self.choices()), LineOutcome::Decided);
        }
        match (word.to_lowercase().as_str(), &self.about) {
            ("a" | "approve", _) => LineOutcome::Decided(Decision::Continue),
            ("x" | "exit", _) => {
                self.step = Step::End;
                LineOutcome::Ask(Question::SURE)
            }
            ("e" | "edit", About::Output(output)) => LineOutcome::Edit(output.clone()),
            ("r" | "reject", _) => {
                self.step = Step::Explain;
                LineOutcome::Ask("What should be better? ")
            }
            _ => LineOutcome::Ask(self.choices()),
        }
    }
}

/// Returns the output that a review is about, if it is about one.
pub(super) fn output(review: &Review) -> Option<&str> {
    match &review.about {
        About::Output(output) => Some(output),
        About::Beginning | About::Question { .. } => None,
    }
}

/// Reads the answer to an agent: a text of the person's own, or one of the options.
fn answer(word: &str, options: &[String]) -> Option<Decision> {
    let chosen = word.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
    let text = chosen.map_or(word, String::as_str);
    (!text.is_empty()).then(|| Decision::Edit { output: text.into() })
}

/// The keyboard, read line by line and only while a question is open: other programs
/// that use the terminal meanwhile must get the keys.
#[derive(Default)]
pub(super) struct Keyboard {
    /// The pending read of a line. If its question goes away, the next one gets what is typed from then on.
    waiting: Option<JoinHandle<io::Result<String>>>,
}

impl Keyboard {
    /// Forgets the input typed up to now: it was not meant for a question that was not shown yet.
    pub(super) fn forget(&mut self) {
        self.waiting = self.waiting.take().filter(|line| !line.is_finished());
        // Only a terminal has something to forget; what a program sends is meant as it is.
        let _no_terminal = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
    }

    /// Returns the next line, or `None` when there will be none. Cancel safe.
    pub(super) async fn line(&mut self) -> Option<String> {
        let waiting = self.waiting.get_or_insert_with(|| tokio::task::spawn_blocking(read_line));
        let line = waiting.await;
        self.waiting = None;
        line.ok()?.ok().filter(|line| !line.is_empty())
    }
}

fn read_line() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

/// Lets a person change a text in their editor, which gets the terminal even if our
/// own outputs are redirected.
pub(crate) fn edit(editor: &str, text: &str) -> anyhow::Result<String> {
    let mut file = tempfile::Builder::new().prefix("consort-review-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    let terminal = terminal()?;
    command.stdin(terminal.try_clone()?).stdout(terminal.try_clone()?).stderr(terminal);
    let status = command.args(words).arg(file.path()).status();
    let status = status.with_context(|| format!("{editor} cannot be started"))?;
    anyhow::ensure!(status.success(), "{editor} ended with {status}");
    // Editors may replace the file.
    let edited = std::fs::read_to_string(file.path())?;
    // Leaving an editor without a change means that the person changed their mind.
    anyhow::ensure!(edited.trim_end() != text.trim_end(), "nothing was changed");
    Ok(edited)
}

/// Returns the terminal of the person; for a process without one, its standard input.
fn terminal() -> io::Result<OwnedFd> {
    let own = File::options().read(true).write(true).open("/dev/tty");
    own.map(OwnedFd::from).or_else(|_| io::stdin().as_fd().try_clone_to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::client::received::Received;
    use crate::show::view::View;

    fn review(timing: &str, timeout_ms: u64) -> Review {
        let event = |fields: Value| {
            let mut frame = json!({ "runId": "run-1", "seq": 0, "at": "2026-03-15T10:30:00.000Z" });
            frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            Received::event(frame.to_string())
        };
        let task = json!({ "taskIndex": 1, "name": "poem", "agentRole": "Poet", "context": [] });
        let accepted = event(json!({ "type": "run_accepted", "ensemble": "evening", "workflow": "SEQUENTIAL",
            "totalTasks": 1, "tasks": [task] }));
        let requested = event(json!({ "type": "review_requested", "taskIndex": 1, "agentRole": "Poet",
            "taskDescription": "Write", "turnId": "1", "taskName": "poem", "reviewId": "run-1-review-0",
            "taskOutput": "Roses\u{1b}[2J\n", "timing": timing, "timeoutMs": timeout_ms, "onTimeout": "EXIT_EARLY",
            "createdAt": "2026-03-15T10:30:00.000Z" }));
        let mut view = View::default();
        for received in [accepted, requested] {
            view.apply(received.frame(), Duration::ZERO);
        }
        view.reviews.remove(0)
    }

    #[test]
    fn an_output_that_was_cut_says_so_before_it_is_decided() {
        let whole = review("AFTER_EXECUTION", 0);
        let cut = Review { is_cut: true, ..review("AFTER_EXECUTION", 0) };
        for (review, says) in [(whole, false), (cut, true)] {
            let shown = opening(&Question::new(&review), &review, Duration::ZERO);
            assert_eq!(shown.contains("it is not complete.\n[a]pprove"), says, "{shown}");
        }
    }

    fn opening(question: &Question, review: &Review, now: Duration) -> String {
        question.opening(review, now, |output| Drawing::of(format!("{output}\n"))).for_program()
    }

    fn heard(question: &mut Question, lines: &[&str]) -> LineOutcome {
        let mut heard = LineOutcome::Ask("");
        for line in lines {
            heard = question.handle_line(line);
        }
        heard
    }

    #[test]
    fn the_output_is_shown_with_what_happens_if_nobody_answers() {
        let review = review("AFTER_EXECUTION", 90_000);
        let question = Question::new(&review);
        let expected = "
Review of `poem`; in 1m 00s the run ends there.
────────────────────────────────────────
Roses\u{1b}[2J
────────────────────────────────────────
[a]pprove  [e]dit  [r]eject  [x] exit early: ";
        assert_eq!(opening(&question, &review, Duration::from_secs(30)), expected);
    }

    #[test]
    fn before_a_task_there_is_nothing_to_edit() {
        let review = review("BEFORE_EXECUTION", 0);
        let mut question = Question::new(&review);
        let choices = "[a]pprove  [r]eject  [x] exit early: ";
        assert_eq!(opening(&question, &review, Duration::ZERO), format!("\nReview before `poem` starts.\n{choices}"));
        assert_eq!(question.handle_line("e\n"), LineOutcome::Ask(choices));
    }

    #[test]
    fn every_line_means_one_thing() {
        let reject = |feedback: &str| LineOutcome::Decided(Decision::Reject { feedback: feedback.into() });
        let edit = |output: &str| LineOutcome::Decided(Decision::Edit { output: output.into() });
        let question = Question::new(&review("AFTER_EXECUTION", 0));
        let handle_line = |lines: &[&str]| heard(&mut question.clone(), lines);
        assert_eq!(handle_line(&["a\n"]), LineOutcome::Decided(Decision::Continue));
        assert_eq!(handle_line(&[" APPROVE \r\n"]), LineOutcome::Decided(Decision::Continue));
        assert_eq!(handle_line(&["x\n"]), LineOutcome::Ask(Question::SURE), "ending the run is asked twice");
        assert_eq!(handle_line(&["x\n", "X\n"]), LineOutcome::Decided(Decision::ExitEarly));
        assert_eq!(handle_line(&["x\n", "\n"]), LineOutcome::Ask(question.choices()));
        assert_eq!(
            handle_line(&["x\n", "a\n"]),
            LineOutcome::Ask(question.choices()),
            "what else is typed then is no decision"
        );
        assert_eq!(handle_line(&["yes\n", "\n"]), LineOutcome::Ask(question.choices()));
        assert_eq!(handle_line(&["r\n", "\n", "shorter \n"]), reject("shorter"));
        assert_eq!(handle_line(&["e\n"]), LineOutcome::Edit("Roses\u{1b}[2J\n".to_owned()));
        let mut typed = question.clone();
        typed.type_text();
        assert_eq!(heard(&mut typed, &["a\n", " .\n", ".\n"]), edit("a\n ."));
    }

    #[test]
    fn an_agent_s_question_is_answered_in_words_or_by_number() {
        let about = About::Question { question: "Tea?".to_owned(), options: vec!["Green".to_owned(), "2".to_owned()] };
        let review = Review { about, ..review("BEFORE_EXECUTION", 0) };
        let question = Question::new(&review);
        let expected = "\n`poem` asks.\nTea?\n  1. Green\n  2. 2\nYour answer, or its number: ";
        assert_eq!(opening(&question, &review, Duration::ZERO), expected);
        let said = |line: &str| question.clone().handle_line(line);
        let answer = |text: &str| LineOutcome::Decided(Decision::Edit { output: text.into() });
        assert_eq!((said("1\n"), said("a\n"), said("7\n")), (answer("Green"), answer("a"), answer("7")));
        assert_eq!(said(" \n"), LineOutcome::Ask(question.choices()));
    }

    #[test]
    fn an_editor_changes_the_text_and_one_that_fails_does_not() {
        assert_eq!(edit("sed -i s/Roses/Violets/", "Roses\n").unwrap(), "Violets\n");
        let words = |error: anyhow::Result<String>| error.unwrap_err().to_string();
        assert_eq!(words(edit("false", "x")), "false ended with exit status: 1");
        assert_eq!(words(edit("true", "x")), "nothing was changed");
        assert_eq!(words(edit("sed -i s/$/\\n/", "x")), "nothing was changed", "an empty line at the end is no change");
        assert!(words(edit("no-such-editor", "x")).starts_with("no-such-editor cannot be started"));
    }
}
