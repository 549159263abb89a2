//! The last messages when watching is over, and the exit status. A run is called
//! stored only where it is.

use std::io;
use std::path::PathBuf;

use consort_core::status::Status;
use serde::de::IgnoredAny;

use super::WatchOutcome;
use crate::exit::Exit;
use crate::output::{Output, Reader};
use crate::show::markdown::Markdown;
use crate::show::screen::{Look, size};
use crate::show::view::{RunResult, View};
use crate::show::words::counted;

/// The last messages about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The text for the standard output.
    pub(crate) answer: Option<String>,
    /// The text for the standard error.
    pub(crate) words: Option<String>,
    /// The exit status.
    pub(crate) exit: Exit,
}

/// The storage of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunStorage {
    /// In memory: lost with the process.
    Nowhere,
    /// In this folder.
    Folder(PathBuf),
    /// On the server at this address.
    Server(String),
}

impl Ending {
    /// Prints it, in the form in which the run was shown.
    pub(crate) fn tell(&self, look: Look, output: Output<'_>) -> io::Result<()> {
        if let Some(words) = &self.words {
            output.err.say(words)?;
        }
        let Some(answer) = self.answer.as_ref().filter(|_| look != Look::Frames) else { return Ok(()) };
        if matches!(look, Look::Block(_)) {
            writeln!(output.err)?;
        }
        match (look, output.out.reader()) {
            (Look::Block(colour), Reader::Terminal) if !is_json(answer) => {
                let columns = size(output.out).width;
                output.out.draw(&Markdown::text(colour, answer, columns))
            }
            (Look::Block(_) | Look::Lines | Look::Frames, _) => {
                let newline = if answer.ends_with('\n') { "" } else { "\n" };
                write!(output.out, "{answer}{newline}")
            }
        }
    }
}

/// Returns whether an answer is data, in which a star is a star.
fn is_json(answer: &str) -> bool {
    answer.trim_start().starts_with(['{', '[', '"']) && serde_json::from_str::<IgnoredAny>(answer).is_ok()
}

/// Returns the ending of the run of this id.
pub(crate) fn ending(watched: WatchOutcome, view: &View, storage: &RunStorage, run: &str) -> Ending {
    let words = |exit, words: String| Ending { answer: None, words: Some(words), exit };
    match (watched, &view.result) {
        (WatchOutcome::ToTheEnd, Some(result)) => ended(result, view, storage, run),
        (WatchOutcome::AsAsked, Some(result)) => {
            let ending = ended(result, view, storage, run);
            let exit = if result.status == Status::Cancelled { Exit::Interrupted } else { ending.exit };
            Ending { exit, ..ending }
        }
        (WatchOutcome::ToTheEnd | WatchOutcome::AsAsked | WatchOutcome::Stopped, _) => {
            words(Exit::Failed, format!("The run stopped, because it could not be stored{}.", unfinished(storage, run)))
        }
        (WatchOutcome::Undecided, _) => words(Exit::Failed, undecided(view, storage, run)),
        (WatchOutcome::Left, _) => words(Exit::Interrupted, format!("Left at once{}.", unfinished(storage, run))),
    }
}

/// Describes the reviews that stay open, and the way to decide them.
fn undecided(view: &View, storage: &RunStorage, run: &str) -> String {
    let ids: Vec<&str> = view.reviews.iter().map(|review| review.id.as_str()).collect();
    let stays = match ids.len() {
        1 => "A review stays open".to_owned(),
        count => format!("{count} reviews stay open"),
    };
    let commands: String = ids.iter().map(|id| format!("\n  consort reviews decide {id} approve")).collect();
    match storage {
        RunStorage::Nowhere => format!("{stays}; nothing is kept here, so the run is over with this process."),
        RunStorage::Folder(folder) => format!(
            "{stays}; the run waits in {} ({run}). `consort serve` goes on with it, and there:{commands}",
            folder.display()
        ),
        RunStorage::Server(url) => format!("{stays}; the run waits at {url} ({run}). To decide:{commands}"),
    }
}

fn ended(result: &RunResult, view: &View, storage: &RunStorage, run: &str) -> Ending {
    let kept = outputs(result.finished, storage, run);
    let (words, exit) = match result.status {
        Status::Completed if result.answer.is_some() => (cut(view), Exit::Done),
        Status::Completed => (Some("No task has finished, so there is no answer.".to_owned()), Exit::Done),
        Status::Failed | Status::Accepted | Status::Running | Status::Rejected => {
            let kept = if kept.is_empty() { kept } else { format!("\n{}{kept}.", finished(result, view)) };
            let error = result.error.as_deref().unwrap_or("it did not say why");
            let breach = view.breach.as_ref().map(|breach| format!(": {breach}")).unwrap_or_default();
            (Some(format!("The run failed: {error}{breach}{kept}{}", partial(view))), Exit::Failed)
        }
        Status::Cancelled => (Some(format!("Cancelled; {}{kept}.", finished(result, view))), Exit::Failed),
    };
    let answer = result.answer.clone().filter(|_| result.status == Status::Completed);
    Ending { answer, words, exit }
}

/// Describes the outputs that were cut off and accepted anyway.
fn cut(view: &View) -> Option<String> {
    let names = view.truncated.join(", ");
    (!names.is_empty()).then(|| format!("Cut at the output limit: {names}."))
}

/// Returns the partial answers of failed tasks.
fn partial(view: &View) -> String {
    let paragraph = |(name, said): &(String, String)| format!("\n── {name}, as far as it came ──\n{}", said.trim_end());
    view.partial.iter().map(paragraph).collect()
}

fn finished(result: &RunResult, view: &View) -> String {
    format!("{} of {} finished", result.finished, counted(view.declared.len() as u64, "task"))
}

fn outputs(finished: usize, storage: &RunStorage, run: &str) -> String {
    let what = match finished {
        0 => return String::new(),
        1 => "its output is",
        _ => "their outputs are",
    };
    match storage {
        RunStorage::Nowhere => String::new(),
        RunStorage::Folder(folder) => format!(", {what} kept in {} ({run})", folder.display()),
        RunStorage::Server(url) => format!(", {what} kept at {url} ({run})"),
    }
}

fn unfinished(storage: &RunStorage, run: &str) -> String {
    match storage {
        RunStorage::Nowhere => String::new(),
        RunStorage::Folder(folder) => format!("; the run stays unfinished in {} ({run})", folder.display()),
        RunStorage::Server(url) => format!("; the run is at {url} ({run})"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::show::view::{About, Review, Task};

    fn view(status: Status, finished: usize) -> View {
        let result = RunResult {
            status,
            answer: (finished > 0).then(|| "42".to_owned()),
            error: (status == Status::Failed).then(|| "no luck".to_owned()),
            finished,
            took: Duration::from_secs(1),
            tokens: None,
            cost: None,
        };
        let declared = ["a", "b", "c"].map(|name| (name.to_owned(), String::new())).to_vec();
        View { tasks: vec![Task::default(); 3], declared, result: Some(result), ..View::default() }
    }

    fn told(status: Status, finished: usize, storage: &RunStorage) -> (Option<String>, Option<String>, Exit) {
        let view = view(status, finished);
        let Ending { answer, words, exit } = ending(WatchOutcome::ToTheEnd, &view, storage, "run-1");
        (answer, words, exit)
    }

    #[test]
    fn only_a_completed_run_has_an_answer_and_only_a_folder_keeps_anything() {
        let folder = RunStorage::Folder("consort-data".into());
        let answer = |text: &str| Some(text.to_owned());
        let cases = [
            (told(Status::Completed, 3, &folder), (answer("42"), None, Exit::Done)),
            (
                told(Status::Completed, 0, &folder),
                (None, answer("No task has finished, so there is no answer."), Exit::Done),
            ),
            (told(Status::Failed, 1, &RunStorage::Nowhere), (None, answer("The run failed: no luck"), Exit::Failed)),
            (
                told(Status::Failed, 2, &folder),
                (
                    None,
                    answer(
                        "The run failed: no luck\n2 of 3 tasks finished, their outputs are kept in consort-data (run-1).",
                    ),
                    Exit::Failed,
                ),
            ),
            (
                told(Status::Cancelled, 1, &folder),
                (
                    None,
                    answer("Cancelled; 1 of 3 tasks finished, its output is kept in consort-data (run-1)."),
                    Exit::Failed,
                ),
            ),
            (told(Status::Cancelled, 0, &folder), (None, answer("Cancelled; 0 of 3 tasks finished."), Exit::Failed)),
        ];
        for (told, expected) in cases {
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn a_run_that_was_left_or_could_not_be_stored_is_said_to_be_unfinished() {
        let folder = RunStorage::Folder("consort-data".into());
        let told = |watched| ending(watched, &View::default(), &folder, "run-1");
        let left = told(WatchOutcome::Left);
        assert_eq!(left.words.as_deref(), Some("Left at once; the run stays unfinished in consort-data (run-1)."));
        assert_eq!((left.exit, told(WatchOutcome::Stopped).exit), (Exit::Interrupted, Exit::Failed));
    }

    #[test]
    fn a_review_that_nobody_here_decides_is_named_with_what_decides_it() {
        let review = |id: &str| Review {
            id: id.to_owned(),
            subject: String::new(),
            name: String::new(),
            about: About::Beginning,
            due: None,
            then: "",
            is_cut: false,
        };
        let view = |ids: &[&str]| View { reviews: ids.iter().map(|id| review(id)).collect(), ..View::default() };
        let told = |ids: &[&str], storage: &RunStorage| ending(WatchOutcome::Undecided, &view(ids), storage, "run-1");
        let one = told(&["run-1-review-0"], &RunStorage::Folder("consort-data".into()));
        let words = "A review stays open; the run waits in consort-data (run-1). `consort serve` goes on with it, \
            and there:\n  consort reviews decide run-1-review-0 approve";
        assert_eq!((one.words.as_deref(), one.exit), (Some(words), Exit::Failed));
        let two = told(&["run-1-review-0", "run-1-review-1"], &RunStorage::Nowhere).words.unwrap();
        assert_eq!(two, "2 reviews stay open; nothing is kept here, so the run is over with this process.");
    }

    #[test]
    fn a_cancel_interrupts_only_the_one_who_asked_for_it() {
        let server = RunStorage::Server("http://a".to_owned());
        let exit = |watched, status| ending(watched, &view(status, 1), &server, "run-1").exit;
        assert_eq!(exit(WatchOutcome::AsAsked, Status::Cancelled), Exit::Interrupted);
        assert_eq!(exit(WatchOutcome::AsAsked, Status::Completed), Exit::Done, "it was faster");
        assert_eq!(exit(WatchOutcome::ToTheEnd, Status::Cancelled), Exit::Failed);
        let words = ending(WatchOutcome::ToTheEnd, &view(Status::Cancelled, 1), &server, "run-1").words.unwrap();
        assert_eq!(words, "Cancelled; 1 of 3 tasks finished, its output is kept at http://a (run-1).");
    }
}
