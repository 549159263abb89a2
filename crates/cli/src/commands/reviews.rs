//! `consort reviews`: the open reviews of a server, and decisions about them.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use consort_config::Env;
use serde_json::{Value, json};

use crate::client::Call;
use crate::commands::Group;
use crate::commands::call::{Printed, call, wrong};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::{Page, Record};
use crate::show::safe::safe;
use crate::show::table::{Column, Table};
use crate::show::words::{ago, preview, until};
use crate::show::wrap::wrapped;

/// The beginning of the lines of a text that is reviewed.
const INDENT: &str = "  ";

/// The arguments, as typed.
pub(crate) type Args = Group<Command>;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List what waits for a decision, the oldest first
    List {
        /// Only reviews of this run
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
    },
    /// Decide a review; the first decision holds
    Decide(Decide),
}

/// A decision.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  consort reviews decide run-1a2b-review-0 approve\n  \
    consort reviews decide run-1a2b-review-0 edit --file better.md\n  \
    consort reviews decide run-1a2b-review-0 reject --feedback \"Shorter, please\"")]
pub(crate) struct Decide {
    /// The review, as `consort reviews list` names it
    review: String,
    /// Your decision
    #[arg(value_enum, ignore_case = true)]
    decision: Word,
    /// With edit: the text that replaces the output, or the answer to a question
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    output: Option<String>,
    /// With edit: a file that holds that text
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// With reject: what should be better
    #[arg(long, value_name = "TEXT")]
    feedback: Option<String>,
}

/// A decision of a reviewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Word {
    /// It is good as it is
    #[value(alias = "continue")]
    Approve,
    /// Go on with another text
    Edit,
    /// Do it again, with feedback
    Reject,
    /// End the run here, keeping the outputs so far
    #[value(alias = "exit_early")]
    ExitEarly,
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    match &args.command {
        Command::List { run } => {
            let list = Call::get(&["reviews"]).with("runId", run.as_deref());
            call(&args.target, env, output, &list, render)
        }
        Command::Decide(decide) => match decide.call() {
            Ok(decision) => call(&args.target, env, output, &decision, decided),
            Err(mistake) => wrong(output, &mistake),
        },
    }
}

impl Decide {
    fn call(&self) -> Result<Call, String> {
        let body = match self.decision {
            Word::Approve => json!({ "decision": "APPROVE" }),
            Word::ExitEarly => json!({ "decision": "EXIT_EARLY" }),
            Word::Edit => json!({ "decision": "EDIT", "revisedOutput": self.text()? }),
            Word::Reject => {
                let feedback = self.feedback.as_deref().ok_or("say with --feedback what should be better")?;
                json!({ "decision": "REJECT", "feedback": feedback })
            }
        };
        let out_of_place = match self.decision {
            Word::Edit => self.feedback.as_ref().map(|_| "--feedback"),
            Word::Reject => self.new_text(),
            Word::Approve | Word::ExitEarly => self.new_text().or(self.feedback.as_ref().map(|_| "--feedback")),
        };
        match out_of_place {
            Some(option) => Err(format!("{option} does not go with this decision")),
            None => Ok(Call::post(&["reviews", &self.review], body)),
        }
    }

    /// Returns the option that brings a text, if one was given.
    fn new_text(&self) -> Option<&'static str> {
        self.output.as_ref().map(|_| "--output").or(self.file.as_ref().map(|_| "--file"))
    }

    fn text(&self) -> Result<Value, String> {
        match (&self.output, &self.file) {
            (Some(text), _) => Ok(text.as_str().into()),
            (None, Some(file)) => {
                let text = std::fs::read_to_string(file);
                text.map(Value::from).map_err(|error| format!("{}: cannot be read: {error}", file.display()))
            }
            (None, None) => Err("say with --output or --file what it should be".to_owned()),
        }
    }
}

fn decided(answer: Record<'_>, _: &Page) -> Printed {
    let word = answer.line("decision").to_lowercase().replace('_', " ");
    Printed::line(format!("{}: {word}", answer.line("reviewId")))
}

fn render(answer: Record<'_>, page: &Page) -> Printed {
    let mut table = Table::new(&[
        ("REVIEW", Column::Id),
        ("TASK", Column::Text),
        ("ASKED", Column::Amount),
        ("LEFT", Column::Amount),
        ("ABOUT", Column::Text),
    ]);
    for review in answer.list("reviews") {
        table.row([
            review.line("reviewId"),
            review.line("taskName"),
            review.since("createdAt", page).map(ago).unwrap_or_default(),
            review.until("expiresAt", page).map(until).unwrap_or_default(),
            about(review),
        ]);
    }
    match answer.list("reviews").next() {
        Some(_) => Printed::out(table.text(page.room)),
        None => Printed { err: "nothing waits for a decision\n".to_owned(), ..Printed::out("") },
    }
}

fn about(review: Record<'_>) -> String {
    match review.text("timing") {
        "BEFORE_EXECUTION" => "may it start?".to_owned(),
        "DURING_EXECUTION" => review.line("prompt"),
        _ => preview(review.text("taskOutput")),
    }
}

/// Returns a review in full, with the command that decides it.
pub(super) fn paragraph(review: Record<'_>, page: &Page) -> String {
    let id = review.line("reviewId");
    let task = review.line("taskName");
    let then = match review.text("onTimeout") {
        "EXIT_EARLY" => "the run ends there",
        "FAIL" => "the task fails",
        _ => "the run goes on",
    };
    let due = review.until("expiresAt", page).map(|left| format!("; in {} {then}", until(left))).unwrap_or_default();
    let (what, text, word) = match review.text("timing") {
        "BEFORE_EXECUTION" => (format!("before `{task}` starts"), String::new(), "approve"),
        "DURING_EXECUTION" => (format!("by `{task}`, which asks"), review.text("prompt").to_owned(), "edit --output …"),
        _ => (format!("of `{task}`"), review.text("taskOutput").to_owned(), "approve"),
    };
    let text = text.trim_end();
    let lines = match page.room {
        Some(columns) => wrapped(&safe(text), columns.saturating_sub(INDENT.len())),
        None => text.lines().map(str::to_owned).collect(),
    };
    let text: String = lines.iter().map(|line| format!("{INDENT}{line}\n")).collect();
    format!("Review {id} {what}{due}.\n{text}consort reviews decide {id} {word}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_terminal_the_text_of_a_review_is_broken_between_words() {
        let review = json!({ "reviewId": "run-1-review-0", "taskName": "write", "timing": "AFTER_EXECUTION",
            "taskOutput": "The queen lays two thousand eggs a day\nin May" });
        let page = Page { now: 0, room: Some(20) };
        let expected = "\
Review run-1-review-0 of `write`.
  The queen lays two
  thousand eggs a
  day
  in May
consort reviews decide run-1-review-0 approve
";
        assert_eq!(paragraph(Record(&review), &page), expected);
    }
}
