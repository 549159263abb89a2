//! Frames about runs: `run_request` and `run_control`.

use consort_core::decide::Command;
use consort_core::status::Status;
use serde_json::{Map, Value, json};

use super::{Row, answer};
use crate::Site;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::problem::{Code, Problem};
use crate::routes::steer::{self, Steering};
use crate::routes::submit::{self, From, Taken};
use crate::ws::session::Session;

pub(super) const ROWS: &[Row] = &[
    Row { kind: "run_request", scope: Scope::Run, act: |session, sent| Box::pin(request(session, sent)) },
    Row { kind: "run_control", scope: Scope::Run, act: |session, sent| Box::pin(control(session, sent)) },
];

/// What can be done to a run.
#[derive(Clone, Copy)]
enum Action {
    Cancel,
    SwitchModel,
    Pause,
    Resume,
}

const ACTIONS: &[(&str, Action)] = &[
    ("cancel", Action::Cancel),
    ("switch_model", Action::SwitchModel),
    ("pause", Action::Pause),
    ("resume", Action::Resume),
];

/// The fields of a frame that are no part of the request.
const ENVELOPE: [&str; 2] = ["type", "requestId"];

async fn request(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let body: Map<String, Value> =
        sent.object()?.iter().filter(|(name, _)| !ENVELOPE.contains(&name.as_str())).map(owned).collect();
    let fields = match submit::take(&session.site, &Sent(body.into()), From::default()).await {
        Ok(Taken::Run { run, accepted }) => {
            let accepted = json!(accepted.named(&run, None));
            session.submitted.insert(run);
            accepted
        }
        Ok(Taken::Rehearsal(told)) => rehearsed(json!(told)),
        Err(problem) => rejected(&problem),
    };
    session.acknowledge(answer("run_ack", sent, fields));
    Ok(())
}

fn owned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

fn rehearsed(told: Value) -> Value {
    let tasks = told.get("tasks").cloned().unwrap_or_default();
    let count = tasks.as_array().map_or(0, Vec::len);
    json!({ "status": Status::Accepted, "dryRun": true, "tasks": count, "workflow": told.get("workflow"),
        "resolvedTasks": tasks, "warnings": told.get("warnings") })
}

/// A run there was no room for has a name, and nothing else.
fn rejected(problem: &Problem) -> Value {
    let name = (problem.code() == Code::ConcurrencyLimit).then(|| format!("run-{}", uuid::Uuid::now_v7().simple()));
    let mut fields = json!({ "runId": name, "status": Status::Rejected, "tasks": 0, "error": problem.code(),
        "message": problem.message() });
    if let Value::Object(fields) = &mut fields {
        fields.extend(problem.more());
    }
    fields
}

async fn control(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let (run, said) = (sent.text("runId")?.to_owned(), sent.text("action")?);
    let (site, caller) = (session.site.clone(), session.pass.caller.clone());
    let action = ACTIONS.iter().find(|(word, _)| word.eq_ignore_ascii_case(said.trim()));
    let (word, outcome) = match action {
        None => (said, Ok(json!({ "status": "INVALID_ACTION" }))),
        Some((word, action)) => (*word, perform(&site, &caller, (&run, *action), sent).await),
    };
    let mut fields = Map::new();
    fields.insert("runId".to_owned(), run.as_str().into());
    fields.insert("action".to_owned(), word.into());
    match outcome {
        Ok(Value::Object(told)) => fields.extend(told),
        Ok(_) => {}
        Err(problem) => {
            fields.insert("status".to_owned(), status(&problem).ok_or_else(|| problem.clone())?.into());
            if problem.code() == Code::InvalidModel {
                fields.extend(sent.optional_text("model")?.map(|model| ("model".to_owned(), model.into())));
            }
        }
    }
    session.acknowledge(answer("run_control_ack", sent, fields.into()));
    Ok(())
}

async fn perform(site: &Site, caller: &Caller, (run, action): (&str, Action), sent: &Sent) -> Result<Value, Problem> {
    let by = caller.0.clone();
    let status = match action {
        Action::Cancel => return Ok(json!(steer::cancelled(site, run, steer::mode(sent)?, caller).await?)),
        Action::SwitchModel => match sent.optional_text("model")?.filter(|model| !model.trim().is_empty()) {
            Some(model) => return Ok(json!(steer::switched(site, run, model, caller).await?)),
            None => return Ok(json!({ "status": "INVALID_MODEL" })),
        },
        Action::Pause => site.engine().command(run, Command::Pause { by }).await.map(|_| Steering::Paused),
        Action::Resume => site.engine().command(run, Command::Resume { by }).await.map(|_| Steering::Resumed),
    };
    Ok(json!({ "status": status? }))
}

/// The words for what HTTP has a status for.
const STATUSES: [(Code, &str); 4] = [
    (Code::RunNotFound, "NOT_FOUND"),
    (Code::RunCompleted, "REJECTED"),
    (Code::InvalidModel, "INVALID_MODEL"),
    (Code::NotConfigured, "NOT_CONFIGURED"),
];

fn status(problem: &Problem) -> Option<&'static str> {
    STATUSES.iter().find(|(code, _)| *code == problem.code()).map(|(_, word)| *word)
}
