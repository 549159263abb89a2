//! The announcements of a run for programs that wait for it: its end, and questions to people. They are computed from
//! its events alone, so that the same event always gives the same announcement.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::chat::{ChatEventKind, approval_id};
use crate::projections::frame::field::Iso;
use crate::projections::frame::review_id;
use crate::state::run::Run;
use consort_spec::event::{End, Event, EventKind};
use consort_spec::id::Millis;
use consort_spec::spec::Kind;

/// The topic of an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Topic {
    /// A run completed.
    #[serde(rename = "run.completed")]
    RunCompleted,
    /// A run failed.
    #[serde(rename = "run.failed")]
    RunFailed,
    /// A run was cancelled.
    #[serde(rename = "run.cancelled")]
    RunCancelled,
    /// A run waits for a person's decision.
    #[serde(rename = "review.requested")]
    ReviewRequested,
    /// A chat waits for a person's permission.
    #[serde(rename = "approval.requested")]
    ApprovalRequested,
}

impl Topic {
    /// Every topic, by its word.
    pub const WORDS: &'static [(&'static str, Topic)] = &[
        ("run.completed", Topic::RunCompleted),
        ("run.failed", Topic::RunFailed),
        ("run.cancelled", Topic::RunCancelled),
        ("review.requested", Topic::ReviewRequested),
        ("approval.requested", Topic::ApprovalRequested),
    ];

    /// Returns its word.
    pub fn word(self) -> &'static str {
        match self {
            Topic::RunCompleted => "run.completed",
            Topic::RunFailed => "run.failed",
            Topic::RunCancelled => "run.cancelled",
            Topic::ReviewRequested => "review.requested",
            Topic::ApprovalRequested => "approval.requested",
        }
    }
}

/// A notification for programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Announcement {
    /// The number of the event that it is about.
    pub seq: u64,
    /// The time of that event.
    pub at: Millis,
    /// Its topic.
    pub topic: Topic,
    /// The rest, as it is sent: `{type, timestamp, data}`.
    pub body: Value,
}

/// Returns everything that the events of a run, from `since` on, have to tell, and the run.
pub fn announcements(run: &str, events: &[Event], since: Millis) -> (Vec<Announcement>, Run) {
    let mut state = Run::default();
    let mut announcements = Vec::new();
    for (seq, event) in events.iter().enumerate() {
        state.apply(event);
        let Some((topic, data)) = state.news(run, event).filter(|_| event.at >= since) else { continue };
        let body = json!({ "type": topic.word(), "timestamp": Iso(event.at), "data": data });
        announcements.push(Announcement { seq: seq as u64, at: event.at, topic, body });
    }
    (announcements, state)
}

impl Run {
    /// Returns what an event that was just applied has to tell.
    fn news(&self, run: &str, event: &Event) -> Option<(Topic, Value)> {
        // What was copied from another run was told by that one.
        if self.events() <= self.copied() {
            return None;
        }
        match (&event.kind, self.spec().kind) {
            (EventKind::RunEnded { end }, Kind::Run) => Some((end.into(), self.end_data(run))),
            (EventKind::ReviewOpened { review, .. }, Kind::Run) => {
                let id = review_id(run, *review);
                let about = self.pending_reviews(run).into_iter().find(|review| review.review_id == id);
                let data = json!({ "runId": run, "reviewId": id, "review": about, "ensemble": self.spec().name,
                    "owner": self.owner().as_str(), "tags": self.spec().tags });
                Some((Topic::ReviewRequested, data))
            }
            (EventKind::Chat(ChatEventKind::ApprovalAsked { approval, .. }), Kind::Turn) => {
                let thread = self.spec().chat.as_ref().map(|chat| chat.thread.as_str());
                let asked = self.approval(run, *approval);
                let data = json!({ "runId": run, "threadId": thread, "approvalId": approval_id(run, *approval),
                    "approval": asked, "owner": self.owner().as_str() });
                Some((Topic::ApprovalRequested, data))
            }
            (_, Kind::Run | Kind::Turn | Kind::Peer | Kind::Mining) => None,
        }
    }

    fn end_data(&self, run: &str) -> Value {
        let mut data = json!({
            "runId": run,
            "ensemble": self.spec().name,
            "owner": self.owner().as_str(),
            "status": self.status(),
            "startedAt": Iso(self.accepted_at()),
            "completedAt": Iso(self.at()),
            "durationMs": self.took_ms(),
            "totalTokens": self.total_tokens(),
            "error": self.error(),
            "tags": self.spec().tags,
        });
        if let (Value::Object(fields), true) = (&mut data, self.truncated()) {
            fields.insert("truncated".to_owned(), json!(true));
        }
        data
    }

    /// Returns the number of questions that people were asked so far.
    pub fn questions(&self) -> usize {
        self.reviews_opened() + self.chat().approvals.len()
    }
}

impl From<&End> for Topic {
    fn from(end: &End) -> Topic {
        match end {
            End::Completed { .. } => Topic::RunCompleted,
            End::Failed { .. } => Topic::RunFailed,
            End::Cancelled => Topic::RunCancelled,
        }
    }
}
