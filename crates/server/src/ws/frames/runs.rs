//! Frames about runs: `run_request` and `run_control`.

use consort_core::choice::Choice;
use consort_core::decide::Command;
use consort_core::frame::schema::sent;
use consort_core::spec::Kind;
use consort_runtime::engine::{Engine, fresh_id};
use serde_json::{Map, Value};

use super::{Acked, Row, asked, shape};
use crate::Site;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::endpoint::Whose;
use crate::routes::budget;
use crate::routes::steer::{self, Switched};
use crate::routes::submit::{self, Accepted, From, Rehearsal, Taken};
use crate::ws::answer::{Answer, ControlStatus, Controlled, Echo, RunAck, RunAckStatus};
use crate::ws::session::Session;
use consort_inbound::problem::{Code, More, Problem};

pub(super) const ROWS: &[Row] = &[
    Row {
        kind: "run_request",
        scope: Scope::Run,
        whose: Whose::Runs,
        shape: sent::<shape::Run>,
        act: |session, sent| Box::pin(request(session, sent)),
    },
    Row {
        kind: "run_control",
        scope: Scope::Run,
        whose: Whose::Runs,
        shape: sent::<shape::Control>,
        act: |session, sent| Box::pin(control(session, sent)),
    },
];

/// An action on a run.
#[derive(Clone, Copy)]
pub(super) enum Action {
    Cancel,
    SwitchModel,
    GiveUp,
    RaiseBudget,
    Pause,
    Resume,
}

impl Choice for Action {
    const WORDS: &'static [(&'static str, Action)] = &[
        ("cancel", Action::Cancel),
        ("switch_model", Action::SwitchModel),
        ("give_up", Action::GiveUp),
        ("raise_budget", Action::RaiseBudget),
        ("pause", Action::Pause),
        ("resume", Action::Resume),
    ];
}

/// The fields of a frame that are no part of the request.
const ENVELOPE: [&str; 2] = ["type", "requestId"];

async fn request(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let body: Map<String, Value> =
        sent.object()?.iter().filter(|(name, _)| !ENVELOPE.contains(&name.as_str())).map(owned).collect();
    let blank = ack(sent);
    let ack = match submit::take((&session.site, &session.runs), &Sent::of(body.into()), From::default()).await {
        Ok(Taken::Run { run, accepted }) => {
            let Accepted { tasks, workflow, warnings, .. } = accepted;
            session.submitted.insert(run.clone());
            let warnings = Some(warnings).filter(|warnings| !warnings.is_empty());
            RunAck { run_id: Some(run.to_string()), tasks, workflow: Some(workflow), warnings, ..blank }
        }
        Ok(Taken::Rehearsal(Rehearsal { tasks, workflow, warnings, .. })) => RunAck {
            dry_run: true,
            tasks: tasks.len(),
            workflow: Some(workflow),
            resolved_tasks: Some(tasks),
            warnings: Some(warnings),
            ..blank
        },
        Err(problem) => rejected(&problem, blank),
    };
    let acked = Acked { run: ack.run_id.clone(), status: ack.status.word() };
    session.acknowledge(&Answer::RunAck(Box::new(ack)), acked);
    Ok(())
}

fn owned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

/// Creates the answer to an accepted request, with all other fields empty.
fn ack(sent: &Sent) -> RunAck {
    RunAck {
        request_id: Echo::of(&sent.0, "requestId"),
        run_id: None,
        status: RunAckStatus::Accepted,
        dry_run: false,
        tasks: 0,
        workflow: None,
        resolved_tasks: None,
        warnings: None,
        error: None,
        message: None,
        more: More::default(),
    }
}

/// Returns the frame for a rejected run, which has an id and nothing else.
fn rejected(problem: &Problem, blank: RunAck) -> RunAck {
    let name = (problem.code() == Code::ConcurrencyLimit).then(|| fresh_id(Kind::Run).to_string());
    RunAck {
        run_id: name,
        status: RunAckStatus::Rejected,
        error: Some(problem.code()),
        message: Some(problem.message().to_owned()),
        more: problem.more().clone(),
        ..blank
    }
}

async fn control(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let run = sent.text("runId")?.to_owned();
    let said = sent.text("action")?;
    let site = &session.site;
    let runs = &session.runs;
    let caller = &session.pass.caller;
    let action = Action::WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(said.trim()));
    if let Some((_, Action::RaiseBudget)) = action {
        // The limits are of whoever runs the server.
        session.pass.check(Scope::Admin)?;
    }
    let (word, outcome) = match action {
        None => (said, Ok(told(ControlStatus::InvalidAction))),
        Some((word, action)) => (*word, perform((site, runs), caller, (&run, *action), sent).await),
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(problem) => {
            let status = status(&problem).ok_or_else(|| problem.clone())?;
            let named = sent.optional_text("model")?.filter(|_| problem.code() == Code::InvalidModel);
            Controlled::Told { status, model: named.map(str::to_owned) }
        }
    };
    let acked = Acked { run: Some(run.clone()), status: outcome.word() };
    let ack = Answer::RunControlAck { asked: asked(sent), run_id: run, action: word.to_owned(), outcome };
    session.acknowledge(&ack, acked);
    Ok(())
}

fn told(status: ControlStatus) -> Controlled {
    Controlled::Told { status, model: None }
}

async fn perform(
    (site, runs): (&Site, &Engine),
    caller: &Caller,
    (run, action): (&str, Action),
    sent: &Sent,
) -> Result<Controlled, Problem> {
    let by = caller.0.clone();
    match action {
        Action::Cancel => {
            steer::cancelled(runs, run, steer::mode(sent)?, caller).await?;
            Ok(told(ControlStatus::Cancelling))
        }
        Action::SwitchModel => match sent.optional_text("model")?.filter(|model| !model.trim().is_empty()) {
            Some(model) => {
                let Switched { model, previous_model, status, .. } =
                    steer::switched((site, runs), run, model, caller).await?;
                Ok(Controlled::Switched { model, previous_model, status })
            }
            None => Ok(told(ControlStatus::InvalidModel)),
        },
        Action::GiveUp => {
            let task = sent.optional_text("task")?.map(str::to_owned);
            steer::given_up(runs, run, task, caller).await?;
            Ok(told(ControlStatus::GivenUp))
        }
        Action::RaiseBudget => {
            budget::raised(runs, run, budget::read(sent)?, caller).await?;
            Ok(told(ControlStatus::Raised))
        }
        Action::Pause => {
            runs.command(run, Command::Pause { by }).await?;
            Ok(told(ControlStatus::Paused))
        }
        Action::Resume => {
            runs.command(run, Command::Resume { by }).await?;
            Ok(told(ControlStatus::Resumed))
        }
    }
}

/// The words for what HTTP has a status for.
const STATUSES: [(Code, ControlStatus); 5] = [
    (Code::RunNotFound, ControlStatus::NotFound),
    (Code::RunCompleted, ControlStatus::Rejected),
    (Code::Conflict, ControlStatus::Rejected),
    (Code::InvalidModel, ControlStatus::InvalidModel),
    (Code::NotConfigured, ControlStatus::NotConfigured),
];

fn status(problem: &Problem) -> Option<ControlStatus> {
    STATUSES.iter().find(|(code, _)| *code == problem.code()).map(|(_, status)| *status)
}
