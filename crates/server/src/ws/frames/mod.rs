//! The frames that clients can send: a table of types, one file per group. To add one,
//! write its row; scopes, unknown types and errors are handled here.

mod chat;
mod directives;
mod peers;
mod reviews;
mod runs;
mod shape;
mod state;
mod talk;

use std::collections::HashMap;
use std::sync::LazyLock;

use consort_core::frame::parse_review_id;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::access::{Caller, Scope};
use crate::body::{Sent, json};
use crate::endpoint::Whose;
use crate::unknown::Expected;
use crate::ws::answer::{Asked, Echo, Failure};
use crate::ws::session::Session;
use consort_inbound::audit::Change;
use consort_inbound::problem::{Code, Problem};

/// Every type of frame that a client can send.
const TABLE: [&[Row]; 7] =
    [talk::ROWS, runs::ROWS, reviews::ROWS, directives::ROWS, state::ROWS, chat::ROWS, peers::ROWS];

/// The handler of a frame; its caller reports the problem that it returns.
type Act = for<'a> fn(&'a mut Session, &'a Sent) -> BoxFuture<'a, Result<(), Problem>>;

/// One type of frame.
struct Row {
    kind: &'static str,
    /// The scope that a key must have.
    scope: Scope,
    /// The ownership of the things it is about.
    whose: Whose,
    /// Its schema.
    shape: Shape,
    act: Act,
}

/// The fields of each type of frame.
static EXPECTED: LazyLock<HashMap<&'static str, Expected>> =
    LazyLock::new(|| rows().map(|row| (row.kind, Expected::new(row.shape))).collect());
/// The fields that any frame may have: an error repeats either id.
const ENVELOPE: [&str; 3] = ["type", "requestId", "request_id"];

/// Makes the schema of a frame, all but its type.
type Shape = fn() -> Value;

/// A change that was acknowledged, for the record.
pub(super) struct Acked {
    /// The run.
    run: Option<String>,
    /// The result.
    status: &'static str,
}

/// Returns the schemas of all frames that a client can send, by their types, with the scope that a key must have.
pub(crate) fn sent_shapes() -> impl Iterator<Item = (&'static str, Value)> {
    rows().map(|row| {
        let mut shape = (row.shape)();
        if let Value::Object(fields) = &mut shape {
            fields.insert("x-scope".to_owned(), row.scope.word().into());
            fields.insert("x-owner".to_owned(), row.whose.word().into());
        }
        (row.kind, shape)
    })
}

/// Returns the schemas of the frames that a link sends, by their types.
pub(crate) fn told_shapes() -> impl Iterator<Item = (&'static str, Value)> {
    peers::TOLD.iter().map(|(kind, shape)| (*kind, shape()))
}

/// The fields that name the subject of a frame.
const SUBJECTS: [&str; 5] = ["runId", "reviewId", "approval_id", "thread_id", "to"];

/// A frame that a client sent.
pub(super) struct ClientFrame {
    /// The frame; null when it is not valid JSON.
    sent: Sent,
    /// The row of its type, or the problem with the frame.
    row: Result<&'static Row, Problem>,
}

impl ClientFrame {
    pub(super) fn read(text: &str) -> ClientFrame {
        match json(text.as_bytes()) {
            Ok(frame @ Value::Object(_)) => {
                let row = row(&frame);
                let warnings = row.as_ref().map(|row| row.unknown(&frame)).unwrap_or_default();
                ClientFrame { row, sent: Sent::with_warnings(frame, warnings) }
            }
            Ok(_) => ClientFrame::nothing("a frame is one JSON object".to_owned()),
            Err(error) => ClientFrame::nothing(format!("Invalid JSON frame: {error}")),
        }
    }

    fn nothing(message: String) -> ClientFrame {
        ClientFrame { sent: Sent::of(Value::Null), row: Err(Problem::bad_request(message)) }
    }

    /// Returns the key of an `auth` frame.
    pub(super) fn auth_key(&self) -> Option<&str> {
        let is_auth = self.row.as_ref().is_ok_and(|row| row.kind == talk::AUTH);
        self.sent.0.get("key").and_then(Value::as_str).filter(|_| is_auth)
    }

    /// Handles the frame, if the client may send it; else returns the error.
    pub(super) async fn act(&self, session: &mut Session) -> Result<(), Box<Failure>> {
        let told = |problem: Problem| Failure::of(&problem, &self.sent.0).warned(self.sent.warnings());
        let row = self.row.as_ref().map_err(|problem| told(problem.clone()))?;
        let caller = session.pass.caller.clone();
        let outcome = match session.pass.check(row.scope) {
            Ok(()) => (row.act)(session, &self.sent).await,
            Err(problem) => {
                session.site.refusals.note_frame(&session.source, row.kind);
                return Err(told(problem));
            }
        };
        if outcome.as_ref().is_err_and(|problem| problem.code() == Code::Forbidden) {
            session.site.refusals.note_frame(&session.source, row.kind);
        }
        if row.scope != Scope::Read {
            let status = outcome.as_ref().map_or_else(|problem| problem.code().word(), |()| "OK");
            let acked = session.acked.take().unwrap_or(Acked { run: None, status });
            self.record(row.kind, &caller, &acked);
        }
        outcome.map_err(told)
    }

    /// Writes the audit line of a change.
    fn record(&self, kind: &str, caller: &Caller, acked: &Acked) {
        let text = |name| self.sent.0.get(name).and_then(Value::as_str);
        let review = text("reviewId").and_then(parse_review_id).map(|(run, _)| run);
        Change {
            request_id: text("requestId").unwrap_or_default(),
            caller: &caller.0,
            method: "WS",
            route: kind,
            subject: SUBJECTS.iter().find_map(|name| text(name)),
            run: acked.run.as_deref().or(text("runId")).or(review),
            status: acked.status,
        }
        .record();
    }
}

impl Row {
    /// Returns warnings about the unknown fields of a frame. Those of peers may come from a newer version.
    fn unknown(&self, frame: &Value) -> Vec<String> {
        let expected = EXPECTED.get(self.kind).filter(|_| self.scope != Scope::Peer);
        expected.map(|expected| expected.unknown(frame, &ENVELOPE)).unwrap_or_default()
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

/// Returns the id of the request that is answered.
fn asked(sent: &Sent) -> Asked {
    Asked { request_id: Echo::of(&sent.0, "requestId"), warnings: sent.warnings().to_vec() }
}
