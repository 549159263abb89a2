//! The message queue: messages that wait for the turn before them, stored with their
//! thread and begun one after the other.

use std::sync::Arc;
use std::time::Duration;

use consort_core::chat::UserMessage;
use consort_core::spec::Kind;
use consort_log as log;
use consort_runtime::engine::{self, fresh_id};
use consort_runtime::thread_history::Turns;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::json;

use super::follow::unreadable;
use super::{Chats, Error, MessageState, Numbered, SentMessage, Thread, TurnSubscription, Waiting};

/// The maximum number of messages that wait in one thread.
pub(super) const QUEUE_MAX: usize = 32;

/// The time between two tries to store something, and the number of tries while a client waits.
const STORAGE_RETRY: Duration = Duration::from_millis(500);
const STORAGE_TRIES: u32 = 20;
/// The doublings of that time between two looks at a run that has no runner here: half a minute at most.
const LOOKS_APART_MAX: u32 = 6;

/// A queue of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum Queue {
    /// Messages that wait for the turn before them.
    Messages,
    /// Turns to be searched for facts.
    Mining,
}

/// The state of a thread's queue after one step of its worker.
pub(super) enum Step {
    /// The next step can be taken once this run has ended.
    Waits(Arc<str>),
    /// The next step can be taken at once.
    Done,
    /// Nothing is left to do, and the worker's claim is given back.
    Empty,
}

impl Chats {
    /// Queues a message behind the running turn and those that wait.
    pub(super) async fn wait(&self, mut thread: Thread, message: UserMessage) -> Result<SentMessage, Error> {
        let position = thread.queue.len();
        if position >= QUEUE_MAX {
            return Err(Error::Full);
        }
        // Until its turn begins, which then uses them itself.
        let attachments = message.files.iter().map(|file| file.id.as_str()).collect();
        self.0.engine.attachments().note_use(&attachments, &thread.id, self.now()).await?;
        let turn = fresh_id(Kind::Turn);
        thread.queue.push(Waiting { turn: turn.to_string(), message });
        thread.store(self.log(), self.now()).await?;
        self.tend(Queue::Messages, &thread.id, &thread.owner);
        Ok(SentMessage { turn, place: MessageState::Waits { position } })
    }

    /// Stores a thread whose turn has begun. That the turn has begun is stored already, so a disk that fails now is
    /// waited out and never reported: the client would send the message again.
    pub(super) async fn store_begun(&self, thread: &mut Thread) {
        for _try in 0..STORAGE_TRIES {
            match thread.store(self.log(), self.now()).await.map_err(Error::from) {
                Ok(()) => return,
                Err(error) if is_of_storage(&error) => tokio::time::sleep(STORAGE_RETRY).await,
                Err(error) => return tracing::error!(thread = thread.id, %error, "cannot store a thread"),
            }
        }
        tracing::error!(thread = thread.id, "a thread is not stored: the disk takes no writes");
    }

    /// Starts a worker for one of a thread's queues, unless there is one already.
    pub(super) fn tend(&self, queue: Queue, id: &str, owner: &str) {
        let live_thread = self.0.live.live_thread(id);
        let is_claimed = match queue {
            Queue::Messages => live_thread.claim_queue_worker(),
            Queue::Mining => live_thread.claim_mining_worker(),
        };
        if !is_claimed {
            return;
        }
        let chats = self.within();
        let id = id.to_owned();
        let owner = owner.to_owned();
        self.spawn(async move {
            if chats.work_off(queue, &id, &owner).await {
                return;
            }
            match queue {
                Queue::Messages => chats.0.live.live_thread(&id).release_queue_worker(),
                Queue::Mining => chats.0.live.live_thread(&id).release_mining_worker(),
            }
        });
    }

    /// Takes step after step until the queue is empty; returns whether that was reached. Whatever waits is stored, so
    /// the next process that opens the log continues with it.
    async fn work_off(&self, queue: Queue, id: &str, owner: &str) -> bool {
        let mut waited: Option<Arc<str>> = None;
        let mut looks = 0;
        while !self.0.engine.is_draining() {
            let step = match queue {
                Queue::Messages => self.begin_next_queued(id, owner).await,
                Queue::Mining => self.mine_next(id, owner).await,
            };
            match step {
                Ok(Step::Done) => {}
                Ok(Step::Waits(run)) if waited.as_ref() == Some(&run) => {
                    // It was waited for and still runs: it has no runner here yet, or another process has it.
                    tracing::debug!(thread = id, run = %run, "a run that others in a thread wait for goes on elsewhere");
                    tokio::time::sleep(STORAGE_RETRY * 2_u32.pow(looks.min(LOOKS_APART_MAX))).await;
                    looks += 1;
                }
                Ok(Step::Waits(run)) => {
                    self.0.engine.finished(&run).await;
                    waited = Some(run);
                    looks = 0;
                }
                Ok(Step::Empty) => return true,
                Err(error) if is_of_storage(&error) => {
                    tracing::warn!(thread = id, ?queue, %error, "what waits in a thread waits for storage");
                    tokio::time::sleep(STORAGE_RETRY).await;
                }
                Err(error) => {
                    tracing::error!(thread = id, ?queue, %error, "cannot go on with what waits in a thread");
                    return false;
                }
            }
        }
        false
    }

    /// Starts the next queued message, once nothing runs.
    async fn begin_next_queued(&self, id: &str, owner: &str) -> Result<Step, Error> {
        let live_thread = self.0.live.live_thread(id);
        let _alone = live_thread.gate.lock().await;
        if let Some(running) = self.running(id).await? {
            return Ok(Step::Waits(running.turn.into()));
        }
        let thread = Thread::load(self.log(), id, owner).await?.filter(|thread| !thread.queue.is_empty());
        let Some((mut thread, Waiting { turn, message })) =
            thread.and_then(|thread| Some((thread.clone(), thread.queue.into_iter().next()?)))
        else {
            live_thread.release_queue_worker();
            return Ok(Step::Empty);
        };
        let turn: Arc<str> = turn.into();
        // A process that died in between has begun it and not taken it out of the queue.
        if self.0.engine.sees(&turn).await {
            self.leave_queue(&mut thread, &turn).await?;
            return Ok(Step::Done);
        }
        let presence = message.presence;
        // Documents are searched when the message is answered, not when it is put into the queue.
        let begun = match self.context(owner, &message).await {
            Ok(context) => self.begin(&mut thread, &turn, message, context).await,
            Err(error) => Err(error),
        };
        match begun {
            Ok(_seq) => {
                live_thread.begun(&turn, presence);
                // The client that sent it may have left before it began.
                live_thread.watch_over(self, owner);
            }
            Err(error) if begins_elsewhere(&error) => {}
            // It was acknowledged, so it waits until it can be stored.
            Err(error) if is_of_storage(&error) => return Err(error),
            Err(error) => {
                // It will not start later either, and others wait behind it.
                tracing::warn!(thread = id, turn = %turn, %error, "a message that waited cannot be answered");
                self.leave_queue(&mut thread, &turn).await?;
                live_thread.refuse(&turn, refusal(id, &turn, &error));
            }
        }
        Ok(Step::Waits(turn))
    }

    /// Takes a message out of the queue of its thread.
    async fn leave_queue(&self, thread: &mut Thread, turn: &str) -> Result<(), Error> {
        thread.queue.retain(|waiting| *waiting.turn != *turn);
        Ok(thread.store(self.log(), self.now()).await?)
    }

    /// Returns the frames of a queued turn, once it begins; if it never does, the reason.
    pub fn queued_turn(
        &self,
        owner: &str,
        thread: &str,
        (subscription, turn): (Arc<TurnSubscription>, Arc<str>),
    ) -> BoxStream<'static, Result<Numbered, log::Error>> {
        let chats = self.clone();
        let owner = owner.to_owned();
        let thread = thread.to_owned();
        let begins = async move {
            match chats.begins(&owner, &thread, &turn).await {
                Ok(Some(base)) => chats.turn(&subscription, &turn, base).await,
                Ok(None) => Ok(chats.refusal(&thread, &turn)),
                Err(error) => Err(error),
            }
        };
        let frames = |begun: Result<BoxStream<'static, _>, Error>| {
            begun.unwrap_or_else(|error| stream::iter([Err(unreadable(error))]).boxed())
        };
        stream::once(begins).flat_map(frames).boxed()
    }

    /// Waits until a turn begins; returns its first number in the thread, or `None` if it
    /// left the queue without beginning.
    async fn begins(&self, owner: &str, thread: &str, turn: &str) -> Result<Option<u64>, Error> {
        let mut news = self.changes(thread);
        loop {
            news.mark_unchanged();
            // Read first: a turn begins before it leaves the queue.
            let stored = Thread::load(self.log(), thread, owner).await?;
            let waits = stored.is_some_and(|stored| stored.queue.iter().any(|waiting| waiting.turn == turn));
            let Turns { ended, running } = self.0.history.turns(self.log(), thread).await?;
            let begun = ended.turns.iter().map(|turn| &**turn).chain(&running).find(|begun| begun.turn == turn);
            if begun.is_some() || !waits || !news.changed().await {
                return Ok(begun.map(|begun| begun.base));
            }
        }
    }

    /// Returns the reason why a queued message was refused, if it is known.
    fn refusal(&self, thread: &str, turn: &str) -> BoxStream<'static, Result<Numbered, log::Error>> {
        let refusal = self.0.live.live_thread(thread).refusal_of(turn);
        stream::iter(refusal.map(|text| Ok(Numbered::refusal(text)))).boxed()
    }
}

/// Returns whether a message begins elsewhere: in the next process, or on the node that has begun it.
fn begins_elsewhere(error: &Error) -> bool {
    matches!(
        error,
        Error::Engine(engine::Error::Draining | engine::Error::Log(log::Error::Fenced | log::Error::Claimed { .. }))
    )
}

/// Returns whether the same may succeed later, once the disk takes writes again.
fn is_of_storage(error: &Error) -> bool {
    matches!(error, Error::Engine(engine::Error::Log(log::Error::Full(_) | log::Error::Unavailable(_))))
}

/// Returns the frame for a queued message that was refused.
fn refusal(thread: &str, turn: &str, error: &Error) -> Arc<str> {
    let code = if let Error::Mistake(mistake) = error { mistake.code.word() } else { "internal" };
    let frame = json!({ "type": "error", "thread_id": thread, "turn_id": turn, "code": code,
        "message": error.to_string() });
    frame.to_string().into()
}
