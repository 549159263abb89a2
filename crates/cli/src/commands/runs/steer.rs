//! Commands to a run while it lasts: the requests, and the texts about their responses.

use clap::ValueEnum;
use jiff::SignedDuration;
use serde_json::{Map, Value, json};

use crate::client::Call;
use crate::commands::call::Printed;
use crate::show::record::{Page, Record};

/// The point at which a cancelled run stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// When the tasks under way are done
    #[value(alias = "after_task")]
    AfterTask,
    /// When the models and tools under way have answered
    #[value(alias = "after_iteration")]
    AfterIteration,
    /// At once, in the middle of an answer
    Now,
}

impl Mode {
    /// Returns the request.
    pub(super) fn cancel(self, run: &str) -> Call {
        let mode = match self {
            Mode::AfterTask => "after_task",
            Mode::AfterIteration => "after_iteration",
            Mode::Now => "now",
        };
        Call::post(&["runs", run, "cancel"], json!({ "mode": mode }))
    }
}

/// The priority of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Priority {
    Low,
    Normal,
    High,
}

impl Priority {
    fn word(self) -> &'static str {
        match self {
            Priority::Low => "LOW",
            Priority::Normal => "NORMAL",
            Priority::High => "HIGH",
        }
    }
}

/// A directive to the agents of a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  consort runs inject run-1a2b \"Name your sources\" --target writer --ttl 10m")]
pub(crate) struct Words {
    /// The run: its id, the beginning of it, or latest
    run: String,
    /// The message for the agents
    text: String,
    /// Only the task or the agent of this name; default: all
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// The priority; a higher one is read first
    #[arg(long, value_enum, ignore_case = true)]
    priority: Option<Priority>,
    /// The time for which it holds, such as 10m or PT10M; default: as long as the run
    #[arg(long, value_name = "SPAN")]
    ttl: Option<SignedDuration>,
}

impl Words {
    /// Returns the request.
    pub(super) fn call(&self) -> Call {
        let mut body = Map::new();
        body.insert("content".to_owned(), self.text.as_str().into());
        body.extend(self.target.as_deref().map(|target| ("target".to_owned(), Value::from(target))));
        body.extend(self.priority.map(|priority| ("priority".to_owned(), priority.word().into())));
        body.extend(self.ttl.map(|ttl| ("ttl".to_owned(), ttl.to_string().into())));
        Call::post(&["runs", &self.run, "inject"], body.into())
    }
}

/// Returns the request for another model.
pub(super) fn model(run: &str, model: &str) -> Call {
    Call::post(&["runs", run, "model"], json!({ "model": model }))
}

/// Returns the request to give up the model calls of a run, or of one task.
pub(super) fn give_up(run: &str, task: Option<&str>) -> Call {
    Call::post(&["runs", run, "give-up"], json!({ "task": task }))
}

/// Returns the text about the calls that were given up.
pub(super) fn given_up(answer: Record<'_>, _: &Page) -> Printed {
    let calls = answer.count("calls").unwrap_or(0);
    let plural = if calls == 1 { "" } else { "s" };
    Printed::line(format!("{}: gave up {calls} model call{plural}", answer.line("runId")))
}

/// Returns the text about the status of a run.
pub(super) fn status(answer: Record<'_>, _: &Page) -> Printed {
    Printed::line(format!("{}: {}", answer.line("runId"), answer.line("status").to_lowercase()))
}

/// Returns the text about the new model.
pub(super) fn switched(answer: Record<'_>, _: &Page) -> Printed {
    let run = answer.line("runId");
    let model = answer.line("model");
    let before = Some(answer.line("previousModel")).filter(|before| !before.is_empty() && *before != model);
    let before = before.map(|before| format!(" instead of {before}")).unwrap_or_default();
    Printed::line(format!("{run}: asks {model}{before} from now on"))
}

/// Returns the text about an accepted directive.
pub(super) fn injected(answer: Record<'_>, _: &Page) -> Printed {
    Printed::line(format!("{}: read at the next step", answer.line("directiveId")))
}

/// Returns the text about a run that was erased, or that is stopped first.
pub(super) fn removed(run: &str, answer: Record<'_>) -> Printed {
    match answer.text("status") {
        "" => Printed::line(format!("{run}: erased")),
        _ => Printed::line(format!("{run}: had not ended, so it is stopped now; once it has ended, rm erases it")),
    }
}
