//! What is said when the watching is over, and the status it ends with. Says
//! that something is kept only where that is so.

use super::follow::Watched;
use crate::assemble::Store;
use crate::exit::Exit;
use crate::show::view::{RunResult, Status, View};
use crate::show::words::counted;

/// The last words about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    /// What goes to the standard output.
    pub(super) answer: Option<String>,
    /// What goes to the other one.
    pub(super) words: Option<String>,
    /// What the shell is told.
    pub(super) exit: Exit,
}

/// How it ended, for the run of this id.
pub(super) fn ending(watched: Watched, view: &View, store: &Store, run: &str) -> Ending {
    let words = |exit, words: String| Ending { answer: None, words: Some(words), exit };
    match (watched, &view.result) {
        (Watched::ToTheEnd, Some(result)) => ended(result, view, store, run),
        (Watched::ToTheEnd | Watched::Stopped, _) => {
            words(Exit::Failed, format!("The run stopped, because it could not be stored{}.", unfinished(store, run)))
        }
        (Watched::Left, _) => words(Exit::Interrupted, format!("Left at once{}.", unfinished(store, run))),
    }
}

fn ended(result: &RunResult, view: &View, store: &Store, run: &str) -> Ending {
    let kept = kept(result.finished, store, run);
    let (words, exit) = match result.status {
        Status::Completed if result.answer.is_some() => (None, Exit::Done),
        Status::Completed => (Some("No task has finished, so there is no answer.".to_owned()), Exit::Done),
        Status::Failed => {
            let kept = if kept.is_empty() { kept } else { format!("\n{}{kept}.", finished(result, view)) };
            let error = result.error.as_deref().unwrap_or("it did not say why");
            let breach = view.breach.as_ref().map(|breach| format!(": {breach}")).unwrap_or_default();
            (Some(format!("The run failed: {error}{breach}{kept}")), Exit::Failed)
        }
        Status::Cancelled => (Some(format!("Cancelled; {}{kept}.", finished(result, view))), Exit::Interrupted),
    };
    let answer = result.answer.clone().filter(|_| result.status == Status::Completed);
    Ending { answer, words, exit }
}

fn finished(result: &RunResult, view: &View) -> String {
    format!("{} of {} finished", result.finished, counted(view.tasks.len() as u64, "task"))
}

fn kept(finished: usize, store: &Store, run: &str) -> String {
    let what = match finished {
        0 => return String::new(),
        1 => "its output is",
        _ => "their outputs are",
    };
    match store {
        Store::Memory => String::new(),
        Store::Folder(folder) => format!(", {what} kept in {} ({run})", folder.display()),
    }
}

fn unfinished(store: &Store, run: &str) -> String {
    match store {
        Store::Memory => String::new(),
        Store::Folder(folder) => format!("; the run stays unfinished in {} ({run})", folder.display()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::show::view::Task;

    fn told(status: Status, finished: usize, store: &Store) -> (Option<String>, Option<String>, Exit) {
        let result = RunResult {
            status,
            answer: (finished > 0).then(|| "42".to_owned()),
            error: (status == Status::Failed).then(|| "no luck".to_owned()),
            finished,
            took: Duration::from_secs(1),
            tokens: None,
            cost: None,
        };
        let view = View { tasks: vec![Task::default(); 3], result: Some(result), ..View::default() };
        let Ending { answer, words, exit } = ending(Watched::ToTheEnd, &view, store, "run-1");
        (answer, words, exit)
    }

    #[test]
    fn only_a_completed_run_has_an_answer_and_only_a_folder_keeps_anything() {
        let folder = Store::Folder("consort-data".into());
        let answer = |text: &str| Some(text.to_owned());
        let cases = [
            (told(Status::Completed, 3, &folder), (answer("42"), None, Exit::Done)),
            (
                told(Status::Completed, 0, &folder),
                (None, answer("No task has finished, so there is no answer."), Exit::Done),
            ),
            (told(Status::Failed, 1, &Store::Memory), (None, answer("The run failed: no luck"), Exit::Failed)),
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
                    Exit::Interrupted,
                ),
            ),
            (
                told(Status::Cancelled, 0, &folder),
                (None, answer("Cancelled; 0 of 3 tasks finished."), Exit::Interrupted),
            ),
        ];
        for (told, expected) in cases {
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn a_run_that_was_left_or_could_not_be_stored_is_said_to_be_unfinished() {
        let folder = Store::Folder("consort-data".into());
        let told = |watched| ending(watched, &View::default(), &folder, "run-1");
        let left = told(Watched::Left);
        assert_eq!(left.words.as_deref(), Some("Left at once; the run stays unfinished in consort-data (run-1)."));
        assert_eq!((left.exit, told(Watched::Stopped).exit), (Exit::Interrupted, Exit::Failed));
    }
}
