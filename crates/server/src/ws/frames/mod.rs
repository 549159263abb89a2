//! What clients can send: a table of types, one file per group. To add one,
//! write its row; scopes, unknown types and errors are dealt with here.

mod chat;
mod directives;
mod peers;
mod reviews;
mod runs;
mod state;
mod talk;

use consort_core::frame::parse_review_id;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::access::{Caller, Scope};
use crate::audit::Change;
use crate::body::{Sent, json};
use crate::problem::Problem;
use crate::ws::session::Session;

/// Everything a client can send.
const TABLE: [&[Row]; 7] =
    [talk::ROWS, runs::ROWS, reviews::ROWS, directives::ROWS, state::ROWS, chat::ROWS, peers::ROWS];
/// What an error repeats of the frame it is about.
const ECHOED: [&str; 5] = ["requestId", "request_id", "runId", "thread_id", "turn_id"];

/// What is done with a frame; what is wrong with it is told by the caller.
type Act = for<'a> fn(&'a mut Session, &'a Sent) -> BoxFuture<'a, Result<(), Problem>>;

/// One type of frame.
struct Row {
    kind: &'static str,
    /// What a key must allow.
    scope: Scope,
    act: Act,
}

/// The fields that say what a frame is about.
const SUBJECTS: [&str; 5] = ["runId", "reviewId", "approval_id", "thread_id", "to"];

/// What a client sent.
pub(super) struct Said {
    /// The frame; null when it is none.
    sent: Sent,
    /// What is to be done with it, or why nothing can be.
    row: Result<&'static Row, Problem>,
}

impl Said {
    pub(super) fn read(text: &str) -> Said {
        match json(text.as_bytes()) {
            Ok(frame @ Value::Object(_)) => Said { row: row(&frame), sent: Sent(frame) },
            Ok(_) => Said::nothing("a frame is one JSON object".to_owned()),
            Err(error) => Said::nothing(format!("Invalid JSON frame: {error}")),
        }
    }

    fn nothing(message: String) -> Said {
        Said { sent: Sent(Value::Null), row: Err(Problem::bad_request(message)) }
    }

    /// The key of an `auth` frame.
    pub(super) fn auth_key(&self) -> Option<&str> {
        let is_auth = self.row.as_ref().is_ok_and(|row| row.kind == talk::AUTH);
        self.sent.0.get("key").and_then(Value::as_str).filter(|_| is_auth)
    }

    /// Does what the frame asks for, if the client may; else says why not.
    pub(super) async fn act(&self, session: &mut Session) -> Result<(), Value> {
        let told = |problem: Problem| error(&problem, &self.sent.0);
        let row = self.row.as_ref().map_err(|problem| told(problem.clone()))?;
        session.pass.check(row.scope).map_err(told)?;
        let caller = session.pass.caller.clone();
        let outcome = (row.act)(session, &self.sent).await;
        if row.scope != Scope::Read {
            let acked = session.acked.take().unwrap_or_default();
            self.record(
                row.kind,
                &caller,
                &acked,
                outcome.as_ref().map_or_else(|problem| problem.code().word(), |()| "OK"),
            );
        }
        outcome.map_err(told)
    }

    /// Who asked for a change and what came of it, for the record.
    fn record(&self, kind: &str, caller: &Caller, acked: &Value, status: &str) {
        let text = |name| self.sent.0.get(name).and_then(Value::as_str);
        let told = |name| acked.get(name).and_then(Value::as_str);
        let review = text("reviewId").and_then(parse_review_id).map(|(run, _)| run);
        Change {
            request_id: text("requestId").unwrap_or_default(),
            caller: &caller.0,
            method: "WS",
            route: kind,
            subject: SUBJECTS.iter().find_map(|name| text(name)),
            run: told("runId").or(text("runId")).or(review),
            status: told("status").unwrap_or(status),
        }
        .record();
    }
}

fn row(frame: &Value) -> Result<&'static Row, Problem> {
    let kind = frame.get("type").and_then(Value::as_str);
    let wrong = || {
        let kinds: Vec<&str> = rows().map(|row| row.kind).collect();
        Problem::bad_request(format!("`type` must be one of {}", kinds.join(", ")))
    };
    rows().find(|row| Some(row.kind) == kind).ok_or_else(wrong)
}

fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.into_iter().flatten()
}

/// What is wrong with a frame.
pub(super) fn error(problem: &Problem, frame: &Value) -> Value {
    let mut error = Map::new();
    error.insert("type".to_owned(), "error".into());
    error.insert("code".to_owned(), problem.code().word().into());
    error.insert("message".to_owned(), problem.message().into());
    error.extend(problem.more());
    error.extend(ECHOED.iter().filter_map(|name| Some(((*name).to_owned(), echoed(frame.get(*name)?)?))));
    Value::Object(error)
}

/// The id of a request, to be repeated: text or a number.
fn echoed(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) | Value::Number(_) => Some(value.clone()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An answer of this type; fields that are null are left out, and the id of the
/// request is repeated.
fn answer(kind: &str, sent: &Sent, fields: Value) -> Value {
    let mut answer = Map::new();
    answer.insert("type".to_owned(), kind.into());
    answer.extend(sent.0.get("requestId").and_then(echoed).map(|id| ("requestId".to_owned(), id)));
    if let Value::Object(fields) = fields {
        answer.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
    }
    json!(answer)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::routes::describe::FRAMES;

    #[test]
    fn every_frame_a_client_can_send_is_described_and_no_other() {
        let frames: Value = serde_json::from_str(FRAMES).unwrap();
        let names = frames["$defs"].as_object().unwrap().keys();
        let described: BTreeSet<&str> = names.filter_map(|name| name.strip_prefix("client.")).collect();
        assert_eq!(described, rows().map(|row| row.kind).collect());
    }
}
