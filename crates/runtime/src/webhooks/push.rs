//! Webhooks of single tasks: addresses that clients of the A2A protocol name to be told of a run or a turn. They are
//! stored in the log, and what is sent to them are deliveries like all others; but a client chose the address, so it
//! is screened whenever a connection is made.

use consort_core::a2a;
use consort_core::id::Millis;
use consort_http::outbound::{Outbound, OutboundError};
use consort_log as log;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::delivery::Outcome;
use super::noting::is_of_storage;
use super::outbox::Outbox;
use crate::engine::{self, Engine};

/// The kind of the registers that hold them.
pub(super) const KIND: &str = "a2a_push";
/// The tag with the task.
const TASK: &str = "task";
/// The beginning of the names under which deliveries name them. No configured webhook has such a name: theirs have no
/// slash.
const PREFIX: &str = "a2a/";
/// Addresses of one task: a client has one or two.
pub const PUSHES_MAX: usize = 16;
/// The type of the messages.
const MEDIA_TYPE: &str = "application/a2a+json";
/// The header with the client's token.
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// An address that is told of a task.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Push {
    /// Its id among those of the task.
    pub id: String,
    /// The run or the turn.
    pub task: String,
    /// The context of the task.
    pub context: String,
    /// The address.
    pub url: String,
    /// The client's token, which is sent along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The scheme and the credentials that are sent along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<(String, String)>,
    /// It is told of what has happened since.
    pub since: Millis,
    /// Whether everything that is to be told is stored.
    #[serde(default)]
    pub is_over: bool,
}

impl Push {
    /// Returns the name of its register.
    fn register(task: &str, id: &str) -> String {
        let hash = Sha256::digest(id);
        let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("{task}/{hex}")
    }

    /// Returns the name under which deliveries name it.
    pub(super) fn name(&self) -> String {
        format!("{PREFIX}{}", Push::register(&self.task, &self.id))
    }

    /// Returns the headers of a message. A header that HTTP cannot carry is left out: the server refuses such ones.
    fn headers(&self, delivery: &str) -> HeaderMap {
        let credentials = self.authentication.as_ref().map(|(scheme, credentials)| format!("{scheme} {credentials}"));
        let secret = |text: &str| {
            let mut value = HeaderValue::from_str(text).ok()?;
            value.set_sensitive(true);
            Some(value)
        };
        let written = [
            (CONTENT_TYPE, Some(HeaderValue::from_static(MEDIA_TYPE))),
            (HeaderName::from_static("webhook-id"), HeaderValue::from_str(delivery).ok()),
            (AUTHORIZATION, credentials.as_deref().and_then(secret)),
            (TOKEN, self.token.as_deref().and_then(secret)),
        ];
        written.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Returns whether a delivery of this name is for an address of a task.
pub(super) fn is_push(name: &str) -> bool {
    name.starts_with(PREFIX)
}

impl Outbox {
    /// Stores an address of a task, and tells it of what has happened since.
    pub async fn add_push(&self, push: &Push) -> Result<(), log::Error> {
        let name = Push::register(&push.task, &push.id);
        self.pushes().put_tagged(&name, push, (self.clock().now(), &[(TASK, push.task.as_str())])).await?;
        self.expect_pushes();
        self.look_at(&push.task.as_str().into());
        Ok(())
    }

    /// Returns an address of a task.
    pub async fn push(&self, task: &str, id: &str) -> Result<Option<Push>, log::Error> {
        self.pushes().get(&Push::register(task, id)).await
    }

    /// Returns the addresses of a task, in the order of their ids.
    pub async fn pushes_of(&self, task: &str) -> Result<Vec<Push>, log::Error> {
        let found = self.pushes().tagged::<Push>(Some((TASK, task))).await?;
        let mut pushes: Vec<Push> = found.into_iter().map(|(_, push)| push).collect();
        pushes.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(pushes)
    }

    /// Removes an address of a task: it is told of nothing any more.
    pub async fn remove_push(&self, task: &str, id: &str) -> Result<(), log::Error> {
        self.pushes().erase(&Push::register(task, id)).await
    }

    /// Removes the addresses of a task that was erased.
    pub(crate) async fn forget_pushes(&self, task: &str) -> Result<(), log::Error> {
        for push in self.pushes_of(task).await? {
            self.remove_push(task, &push.id).await?;
        }
        Ok(())
    }

    /// Returns the address that a delivery names.
    async fn named_push(&self, name: &str) -> Result<Option<Push>, log::Error> {
        self.pushes().get(name.strip_prefix(PREFIX).unwrap_or_default()).await
    }

    /// Stores what the addresses of a task are to be told.
    pub(super) async fn note_pushes(&self, engine: &Engine, task: &str) -> Result<(), engine::Error> {
        let pushes: Vec<Push> = self.pushes_of(task).await?.into_iter().filter(|push| !push.is_over).collect();
        if pushes.is_empty() {
            return Ok(());
        }
        let events = engine.history(task).await?;
        for push in pushes {
            let (told, run) = a2a::pushes((task, &push.context), &events, push.since);
            for announcement in &told {
                self.store(&push.name(), (task, &run), announcement).await?;
            }
            if run.ended() {
                let name = Push::register(task, &push.id);
                let over = Push { is_over: true, ..push };
                self.pushes().put_tagged(&name, &over, (self.clock().now(), &[(TASK, task)])).await?;
            }
        }
        Ok(())
    }

    /// Stores what an earlier process has left out.
    pub(super) async fn catch_up_pushes(&self, engine: &Engine) -> Result<(), engine::Error> {
        for (_, push) in self.pushes().all::<Push>().await? {
            self.expect_pushes();
            if push.is_over {
                continue;
            }
            match self.note_pushes(engine, &push.task).await {
                // A turn that waits for its own turn has no events yet.
                Ok(()) | Err(engine::Error::NotFound(_)) => {}
                Err(error) if is_of_storage(&error) => return Err(error),
                Err(error) => tracing::error!(task = push.task, %error, "cannot store what clients are told of a task"),
            }
        }
        Ok(())
    }

    /// Sends a message to an address of a task.
    pub(super) async fn send_push(&self, (name, id): (&str, &str), client: &Outbound, body: &str) -> Outcome {
        let failed = |error: String| Outcome { status: None, error: Some(error), asked_ms: None };
        // As if the receiver had said that it takes no more: it is not tried again.
        let gone = || Outcome { status: Some(410), error: Some("the address was removed".to_owned()), asked_ms: None };
        let push = match self.named_push(name).await {
            Ok(Some(push)) => push,
            Ok(None) => return gone(),
            Err(error) => return failed(error.to_string()),
        };
        match client.post(&push.url, push.headers(id), body.to_owned()).await {
            Ok(answer) => Outcome {
                status: Some(answer.status().as_u16()),
                error: None,
                asked_ms: consort_http::retry_after::read(answer.headers(), std::time::SystemTime::now()),
            },
            Err(error @ OutboundError::Refused(_)) => Outcome { error: Some(error.to_string()), ..gone() },
            Err(error) => failed(error.to_string()),
        }
    }
}
