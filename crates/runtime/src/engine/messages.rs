//! Commands for runs that another node owns. Each is stored as a message, a stream of its own, found by
//! the node that owns the run when it looks, and answered in the same stream. The key of a message is
//! claimed in the append that it causes, so a message is done once even if its answer is lost.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use consort_core::decide::{Command, Refused};
use consort_core::event::Event;
use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_core::spec::Kind;
use consort_log::cluster::{Claimed, Vacancy};
use consort_log::{self as log, Append, Order, Query, Record, Row};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, timeout};

use super::{Engine, Error};
use crate::register::{parse, written};

/// The kind of streams that hold messages.
const KIND: &str = "message";
/// The number of messages that are looked at together: those beyond it are looked at a moment later.
const MESSAGES_MAX: usize = 256;
/// The time that an answer is waited for: longer than a run is without an owner when its node is gone.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest time between two looks for an answer, should the news of it be lost.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The time after which a message counts as forgotten, so that it is erased: its run has ended, and its
/// sender is gone.
const KEPT_MS: Millis = 60 * 60 * 1000;

/// The messages that are being done here at the moment. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Messages(Arc<Mutex<HashSet<Arc<str>>>>);

/// A command on its way to the owner of a run.
#[derive(Serialize, Deserialize)]
struct Message {
    run: Arc<str>,
    command: Command,
}

/// The answer to a message: what the command caused, or why it was refused.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Caused(Vec<Event>),
    Refused(Refused),
}

impl Engine {
    /// Sends a command to the node that owns a run, as a message of this name; returns the events that it caused. A
    /// command that nobody takes in time is withdrawn.
    pub(super) async fn send(&self, stream: Arc<str>, run: &str, command: Command) -> Result<Vec<Event>, Error> {
        let log = &self.0.seams.log;
        let mut news = log.news(&stream);
        let message = Message { run: run.into(), command };
        let body = written(&message)?;
        let at = self.0.seams.clock.now();
        let links = &self.0.seams.links;
        let mut look = links.look();
        log.append(entry(&stream, 0, body, (run, at, None))).await?;
        links.ask_to_look();
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let _looked = timeout(LOOK_EVERY, async {
                tokio::select! {
                    _ = news.changed() => {}
                    _ = look.changed() => {}
                }
            })
            .await;
            if let Some(answer) = self.answered(&stream, run).await? {
                log.erase(vec![stream]).await?;
                return match answer {
                    Answer::Caused(events) => Ok(events),
                    Answer::Refused(refused) => Err(refused.into()),
                };
            }
        }
        log.erase(vec![stream]).await?;
        Err(Error::NotOwned(run.to_owned()))
    }

    /// Returns the answer to a message, once there is one. A run that has ended answers no more, and may have ended
    /// by what it was asked: then the key of the message is claimed.
    async fn answered(&self, stream: &Arc<str>, run: &str) -> Result<Option<Answer>, Error> {
        if let Some(answer) = self.0.seams.log.read(stream, 1, 1).await?.first() {
            return Ok(Some(parse(stream, &answer.body)?));
        }
        let Some(status) = self.run(run).await?.end().map(|end| end.status()) else { return Ok(None) };
        let is_done = self.holder(&key(stream)).await?.is_some();
        Ok(Some(if is_done { Answer::Caused(Vec::new()) } else { Answer::Refused(Refused::Ended { status }) }))
    }

    /// Does what others ask of runs that are owned here.
    pub(super) async fn take_messages(&self, messages: &Messages) {
        let query = Query {
            kind: Some(KIND.to_owned()),
            ended: Some(false),
            order: Order::OldestStart,
            limit: MESSAGES_MAX,
            ..Query::default()
        };
        let rows = match self.0.seams.log.list(query).await {
            Ok(page) => page.rows,
            Err(error) => return tracing::debug!(%error, "cannot look for messages"),
        };
        for (stream, row) in rows {
            let message: Message = match parse(&stream, &row.body) {
                Ok(message) => message,
                // Written by another version: who wrote it asks again.
                Err(error) => {
                    tracing::warn!(%stream, %error, "a message cannot be read");
                    continue;
                }
            };
            if self.live().contains_key(&message.run) && messages.begin(&stream) {
                let engine = self.clone();
                let messages = messages.clone();
                tokio::spawn(async move {
                    if let Err(error) = engine.answer(&stream, message).await {
                        tracing::warn!(%stream, %error, "a message waits");
                    }
                    messages.end(&stream);
                });
            }
        }
    }

    async fn answer(&self, stream: &Arc<str>, Message { run, command }: Message) -> Result<(), Error> {
        let key = key(stream);
        let answer = if self.holder(&key).await?.is_some() {
            // An owner before this one did it and could not say so.
            Answer::Caused(Vec::new())
        } else {
            match self.ask_runner(&run, command, Some(key)).await {
                Some(Ok(events)) => Answer::Caused(events),
                Some(Err(refused)) => Answer::Refused(refused),
                // The runner is gone: the next owner finds the message.
                None => return Ok(()),
            }
        };
        let at = self.0.seams.clock.now();
        let stored = self.0.seams.log.append(entry(stream, 1, written(&answer)?, (&run, at, Some(at)))).await;
        self.0.seams.links.ask_to_look();
        match stored {
            // The sender has given up, or it is answered.
            Err(log::Error::Fenced) => Ok(()),
            stored => Ok(stored?),
        }
    }

    /// Erases messages that nobody waits for any more.
    pub(super) async fn sweep_messages(&self) {
        let query =
            Query { kind: Some(KIND.to_owned()), order: Order::OldestStart, limit: MESSAGES_MAX, ..Query::default() };
        let forgotten = self.0.seams.clock.now().saturating_sub(KEPT_MS);
        let swept = async {
            let rows = self.0.seams.log.list(query).await?.rows;
            let old = rows.into_iter().filter(|(_, row)| row.started_at < forgotten).map(|(stream, _)| stream);
            let old: Vec<Arc<str>> = old.collect();
            if old.is_empty() { Ok(()) } else { self.0.seams.log.erase(old).await }
        };
        if let Err(error) = swept.await {
            tracing::debug!(%error, "cannot erase old messages");
        }
    }

    /// Returns when the row of a run says that it has ended, or the run is gone.
    pub(super) async fn ended_elsewhere(&self, run: &str) {
        let mut news = self.0.seams.log.news(run);
        loop {
            match self.row(run).await {
                Ok(row) if row.ended_at.is_none() => {}
                Err(Error::Log(_)) => {
                    sleep(LOOK_EVERY).await;
                    continue;
                }
                Ok(_) | Err(_) => return,
            }
            let _looked = timeout(LOOK_EVERY, news.changed()).await;
        }
    }

    /// Gives up every run of this node.
    pub(super) async fn hand_over_all(&self) {
        let cluster = &self.0.seams.cluster;
        let given_up = async { cluster.give_up(cluster.mine(&Kind::ALL.map(Kind::word)).await?).await };
        if let Err(error) = given_up.await {
            tracing::warn!(%error, "the runs of this node wait until it counts as gone");
        }
    }

    /// Gives up a run that a draining node has stopped working on.
    pub(super) async fn hand_over(&self, run: &Arc<str>, epoch: u64) {
        let claimed = Claimed { stream: run.clone(), epoch, reason: Vacancy::Unowned };
        if let Err(error) = self.0.seams.cluster.give_up(vec![claimed]).await {
            tracing::warn!(%run, %error, "a run waits until this node counts as gone");
        }
    }
}

impl Messages {
    fn begin(&self, stream: &Arc<str>) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(stream.clone())
    }

    fn end(&self, stream: &Arc<str>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(stream);
    }
}

/// Returns the name of a new message. A command has one before it is known whether it must be sent: whoever does it
/// claims its key, so that it is done once.
pub(super) fn fresh() -> Arc<str> {
    format!("{KIND}-{}", uuid::Uuid::now_v7().simple()).into()
}

/// Returns the key that is claimed by what a message causes.
pub(super) fn key(stream: &str) -> String {
    format!("{KIND}/{stream}")
}

/// Returns what is appended for a message or its answer.
fn entry(stream: &Arc<str>, expected: u64, body: Arc<str>, about: (&str, Millis, Option<Millis>)) -> Append {
    let (run, at, ended_at) = about;
    let row = Row {
        kind: KIND.into(),
        status: if ended_at.is_some() { "ANSWERED" } else { "OPEN" }.into(),
        owner: Owner::local(),
        started_at: at,
        ended_at,
        tags: BTreeMap::from([("run".to_owned(), run.to_owned())]),
        body: body.clone(),
        words: None,
    };
    let records = vec![Record { body, attachments: Vec::new() }];
    Append::new(stream.clone(), expected, records, row)
}
