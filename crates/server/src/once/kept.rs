//! Responses on disk: a small stream for each key, named after it. Its last record
//! holds the current state: the request has begun, or its response. Kept for a day,
//! and as long as the run it is about.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::{CONTENT_TYPE, ETAG, LOCATION};
use axum::http::response::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_core::spec::Kind;
use consort_log::clock::Clock;
use consort_log::{Append, Error, Log, Order, Query, Record, Row, Seq};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use consort_inbound::problem::REQUEST_ID;

/// The kind of these streams.
const KIND: &str = "answer";
/// The time that a response is kept at least.
const KEEP_MS: Millis = 24 * 60 * 60 * 1000;
/// The interval between two searches for old responses.
const SWEEP: Duration = Duration::from_secs(3600);
/// Old responses handled in one batch, so that others can use the log in between.
const PAGE: usize = 200;
/// The records of a stream: begun, then answered.
const RECORDS_MAX: usize = 2;
/// The headers that are repeated with a stored response.
const HEADERS: [HeaderName; 4] = [CONTENT_TYPE, ETAG, LOCATION, HeaderName::from_static(REQUEST_ID)];

/// The stored state of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// A fingerprint of the request.
    pub(super) print: String,
    /// The run it is about.
    pub(super) run: Option<Arc<str>>,
    /// The response, once there is one.
    pub(super) answer: Option<Answer>,
}

/// A response as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    status: StatusCode,
    headers: Vec<(HeaderName, String)>,
    body: String,
}

/// Work with frames that a request started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// A run, by its id.
    Run(Arc<str>),
    /// A turn of a thread.
    Turn {
        /// The thread's id.
        thread: Arc<str>,
        /// The turn's id.
        turn: Arc<str>,
    },
}

impl Kept {
    pub(super) async fn find(log: &dyn Log, scope: &str) -> Result<Option<Kept>, Error> {
        let stream = name(scope);
        let records = log.read(&stream, 0, RECORDS_MAX).await?;
        let Some(last) = records.last() else { return Ok(None) };
        let damaged = || Error::Damaged {
            stream: stream.to_string(),
            seq: records.len() as Seq - 1,
            reason: "it is not what this version of Consort writes".into(),
        };
        serde_json::from_str(&last.body).ok().and_then(|json| Kept::from_json(&json)).ok_or_else(damaged).map(Some)
    }

    pub(super) async fn append(&self, log: &dyn Log, scope: &str, expected: Seq, now: Millis) -> Result<(), Error> {
        let tag = |run: &Arc<str>| ("run".to_owned(), run.to_string());
        let row = Row {
            kind: KIND.into(),
            status: "KEPT".into(),
            started_at: now,
            owner: Owner::local(),
            ended_at: Some(now),
            tags: self.run.iter().map(tag).collect::<BTreeMap<_, _>>(),
            body: "{}".into(),
            words: None,
        };
        let record = Record { body: self.to_json().to_string().into(), attachments: Vec::new() };
        let append = Append::new(name(scope), expected, vec![record], row);
        log.append(append).await
    }

    fn to_json(&self) -> Value {
        let answer = self.answer.as_ref().map(|answer| {
            let headers = answer.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let headers: BTreeMap<&str, &str> = headers.collect();
            json!({ "status": answer.status.as_u16(), "headers": headers, "body": answer.body })
        });
        json!({ "print": self.print, "run": self.run.as_deref(), "answer": answer })
    }

    fn from_json(json: &Value) -> Option<Kept> {
        let text = |name| json.get(name).and_then(Value::as_str);
        let answer = json.get("answer").filter(|answer| !answer.is_null());
        let answer = if let Some(answer) = answer { Some(Answer::from_json(answer)?) } else { None };
        Some(Kept { print: text("print")?.to_owned(), run: text("run").map(Arc::from), answer })
    }
}

impl Answer {
    /// Creates a response to store; `None` when it is not text.
    pub(super) fn new(head: &Parts, body: &Bytes) -> Option<Answer> {
        let value = |name: &HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let headers = HEADERS.into_iter().filter_map(|name| value(&name).map(|value| (name, value))).collect();
        Some(Answer { status: head.status, headers, body: std::str::from_utf8(body).ok()?.to_owned() })
    }

    /// Creates the response that this run was accepted.
    pub(super) fn accepted(run: &str) -> Answer {
        let headers = [(CONTENT_TYPE, "application/json".to_owned()), (LOCATION, format!("/api/runs/{run}"))];
        let body = json!({ "runId": run, "status": "ACCEPTED" }).to_string();
        Answer { status: StatusCode::ACCEPTED, headers: headers.into(), body }
    }

    /// Creates the response that this message was accepted.
    pub(super) fn message(accepted: &Value) -> Answer {
        let headers = [(CONTENT_TYPE, "application/json".to_owned())];
        Answer { status: StatusCode::ACCEPTED, headers: headers.into(), body: accepted.to_string() }
    }

    /// Creates the response that this work was begun.
    pub(super) fn of(begun: &Begun) -> Answer {
        match begun {
            Begun::Run(run) => Answer::accepted(run),
            Begun::Turn { thread, turn } => Answer::message(&json!({ "threadId": thread, "turnId": turn })),
        }
    }

    /// Returns the run or the turn that the request started.
    pub(super) fn begun(&self) -> Option<Begun> {
        let place = self.headers.iter().find(|(name, _)| *name == LOCATION).map(|(_, place)| place.as_str());
        if let Some(run) = place.and_then(|place| place.strip_prefix("/api/runs/")) {
            return Some(Begun::Run(run.into()));
        }
        let body: Value = serde_json::from_str(&self.body).ok().filter(|_| self.status == StatusCode::ACCEPTED)?;
        let text = |name| body.get(name).and_then(Value::as_str);
        if let Some(run) = text("runId") {
            return Some(Begun::Run(run.into()));
        }
        Some(Begun::Turn { thread: text("threadId")?.into(), turn: text("turnId")?.into() })
    }

    fn from_json(json: &Value) -> Option<Answer> {
        let status = u16::try_from(json.get("status")?.as_u64()?).ok()?;
        let headers = json.get("headers")?.as_object()?.iter();
        let header = |(name, value): (&String, &Value)| Some((name.parse().ok()?, value.as_str()?.to_owned()));
        Some(Answer {
            status: StatusCode::from_u16(status).ok()?,
            headers: headers.filter_map(header).collect(),
            body: json.get("body")?.as_str()?.to_owned(),
        })
    }
}

impl From<Answer> for Response {
    fn from(answer: Answer) -> Response {
        let mut response = Response::new(answer.body.into());
        *response.status_mut() = answer.status;
        for (name, value) in answer.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// Frees a key again.
pub(super) async fn forget(log: &dyn Log, scope: &str) -> Result<(), Error> {
    log.erase(vec![name(scope)]).await
}

/// Erases the responses about a run that was deleted: their keys are free again.
pub(crate) async fn forget_run(log: &dyn Log, run: &str) -> Result<(), Error> {
    let tags = vec![("run".to_owned(), Some(run.to_owned()))];
    let query = Query { kind: Some(KIND.to_owned()), tags, limit: usize::MAX, ..Query::default() };
    let about = log.list(query).await?.rows.into_iter().map(|(stream, _)| stream).collect::<Vec<_>>();
    if about.is_empty() { Ok(()) } else { log.erase(about).await }
}

/// Erases responses that need not be kept any longer, as long as the server runs.
pub(crate) async fn sweep(log: Arc<dyn Log>, clock: Clock) -> Infallible {
    let mut rounds = tokio::time::interval(SWEEP);
    loop {
        rounds.tick().await;
        if let Err(error) = erase_old(&*log, clock.now().saturating_sub(KEEP_MS)).await {
            tracing::warn!(%error, "cannot erase old answers");
        }
    }
}

/// Erases the responses from before `until` whose runs are gone.
async fn erase_old(log: &dyn Log, until: Millis) -> Result<(), Error> {
    let mut offset = 0;
    loop {
        let query =
            Query { kind: Some(KIND.to_owned()), order: Order::OldestEnd, offset, limit: PAGE, ..Query::default() };
        let rows = log.list(query).await?.rows;
        let seen = rows.len();
        let old: Vec<_> = rows.into_iter().filter(|(_, row)| row.ended_at.is_some_and(|at| at < until)).collect();
        let is_last = old.len() < PAGE || seen < PAGE;
        let mut gone = Vec::new();
        offset += old.len();
        for (stream, row) in old {
            if !is_about_a_kept_run(log, &row).await? {
                gone.push(stream);
            }
        }
        offset -= gone.len();
        log.erase(gone).await?;
        if is_last {
            return Ok(());
        }
    }
}

async fn is_about_a_kept_run(log: &dyn Log, row: &Row) -> Result<bool, Error> {
    let Some(run) = row.tags.get("run") else { return Ok(false) };
    let query = Query { kind: Some(Kind::Run.word().to_owned()), stream: Some(run.clone()), ..Query::default() };
    Ok(log.list(query).await?.total > 0)
}

pub(super) fn name(scope: &str) -> Arc<str> {
    format!("answer-{}", hex(scope)).into()
}

/// Returns the SHA-256 of a text.
pub(super) fn hex(text: impl AsRef<[u8]>) -> String {
    digits(&Sha256::digest(text))
}

/// Returns a hash in hexadecimal digits.
pub(super) fn digits(hash: &[u8]) -> String {
    let mut digits = String::new();
    for byte in hash {
        let _never_fails = write!(digits, "{byte:02x}");
    }
    digits
}

#[cfg(test)]
mod tests {
    use consort_core::status::Status;
    use consort_log::MemoryLog;

    use super::*;

    #[tokio::test]
    async fn an_answer_is_kept_a_day_and_as_long_as_its_run() {
        let log = MemoryLog::default();
        let kept = |run: Option<&str>| Kept { print: "p".to_owned(), run: run.map(Arc::from), answer: None };
        let row = Row {
            kind: "run".into(),
            status: Status::Completed.word().into(),
            started_at: 0,
            owner: Owner::local(),
            ended_at: Some(1),
            tags: BTreeMap::new(),
            body: "{}".into(),
            words: None,
        };
        let run = Append::new("run-1", 0, Vec::new(), row);
        log.append(run).await.unwrap();
        for (scope, run, at) in
            [("kept run", Some("run-1"), 5), ("erased run", Some("run-0"), 5), ("no run", None, 5), ("young", None, 15)]
        {
            kept(run).append(&log, scope, 0, at).await.unwrap();
        }
        erase_old(&log, 10).await.unwrap();
        let mut left = Vec::new();
        for scope in ["kept run", "erased run", "no run", "young"] {
            left.push(Kept::find(&log, scope).await.unwrap().is_some());
        }
        assert_eq!(left, [true, false, false, true]);
    }
}
