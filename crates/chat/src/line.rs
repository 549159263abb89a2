//! The message queue: messages that wait for the turn before them, stored with their
//! thread and begun one after the other.

use std::sync::Arc;

use consort_core::chat::Say;
use consort_core::spec::Kind;
use consort_log as log;
use consort_runtime::engine::{self, fresh_id};
use consort_runtime::past::Turns;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::json;

use super::follow::unreadable;
use super::{Chats, Error, Numbered, Place, Said, Seat, Thread, Waiting};

/// Maximal messages that wait in one thread.
pub(super) const QUEUE_MAX: usize = 32;

/// A queue of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum Queue {
    /// Messages that wait for the turn before them.
    Messages,
    /// Turns to be looked through for what is worth remembering.
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
    pub(super) async fn wait(&self, mut thread: Thread, say: Say) -> Result<Said, Error> {
        let position = thread.queue.len();
        if position >= QUEUE_MAX {
            return Err(Error::Full);
        }
        let turn = fresh_id(Kind::Turn);
        thread.queue.push(Waiting { turn: turn.to_string(), say });
        thread.store(self.log(), self.now()).await?;
        self.tend(Queue::Messages, &thread.id, &thread.owner);
        Ok(Said { turn, place: Place::Waits { position } })
    }

    /// Works off what waits in one of a thread's queues, one after the other, unless somebody does.
    pub(super) fn tend(&self, queue: Queue, id: &str, owner: &str) {
        let conversation = self.0.live.conversation(id);
        let is_claimed = match queue {
            Queue::Messages => conversation.claim_queue_worker(),
            Queue::Mining => conversation.claim_mining_worker(),
        };
        if !is_claimed {
            return;
        }
        let (chats, id, owner) = (self.within(), id.to_owned(), owner.to_owned());
        self.spawn(async move {
            if chats.work_off(queue, &id, &owner).await {
                return;
            }
            match queue {
                Queue::Messages => chats.0.live.conversation(&id).release_queue_worker(),
                Queue::Mining => chats.0.live.conversation(&id).release_mining_worker(),
            }
        });
    }

    /// Takes step after step until nothing is left; says whether that was reached.
    /// What waits is stored, so it begins where the server goes on.
    async fn work_off(&self, queue: Queue, id: &str, owner: &str) -> bool {
        let mut waited: Option<Arc<str>> = None;
        while !self.0.engine.is_draining() {
            let step = match queue {
                Queue::Messages => self.next_in_line(id, owner).await,
                Queue::Mining => self.mine_next(id, owner).await,
            };
            match step {
                Ok(Step::Done) => {}
                Ok(Step::Waits(run)) if waited.as_ref() == Some(&run) => {
                    // It was waited for and still runs: no runner here owns it.
                    tracing::error!(thread = id, run = %run, "a run that others in a thread wait for does not end");
                    return false;
                }
                Ok(Step::Waits(run)) => {
                    self.0.engine.finished(&run).await;
                    waited = Some(run);
                }
                Ok(Step::Empty) => return true,
                Err(error) => {
                    tracing::error!(thread = id, ?queue, %error, "cannot go on with what waits in a thread");
                    return false;
                }
            }
        }
        false
    }

    /// Starts the next queued message, once nothing runs.
    async fn next_in_line(&self, id: &str, owner: &str) -> Result<Step, Error> {
        let conversation = self.0.live.conversation(id);
        let _alone = conversation.gate.lock().await;
        if let Some(running) = self.running(id).await? {
            return Ok(Step::Waits(running.turn.into()));
        }
        let thread = Thread::load(self.log(), id, owner).await?.filter(|thread| !thread.queue.is_empty());
        let Some((mut thread, Waiting { turn, say })) =
            thread.and_then(|thread| Some((thread.clone(), thread.queue.into_iter().next()?)))
        else {
            conversation.release_queue_worker();
            return Ok(Step::Empty);
        };
        let turn: Arc<str> = turn.into();
        let presence = say.presence;
        // Documents are searched when the message is answered, not when it is put into the queue.
        let begun = match self.context(owner, &say).await {
            Ok(context) => self.begin(&mut thread, &turn, say, context).await,
            Err(error) => Err(error),
        };
        match begun {
            Ok(_seq) => {
                conversation.begun(&turn, presence);
                // The client that sent it may have left before it began.
                conversation.watch_over(self, owner);
            }
            Err(Error::Engine(engine::Error::Draining)) => {}
            Err(error) => {
                // It will not start later either, and others wait behind it.
                tracing::warn!(thread = id, turn = %turn, %error, "a message that waited cannot be answered");
                thread.queue.retain(|waiting| *waiting.turn != *turn);
                thread.store(self.log(), self.now()).await?;
                conversation.refuse(&turn, refusal(id, &turn, &error));
            }
        }
        Ok(Step::Waits(turn))
    }

    /// Returns the frames of a queued turn, once it begins; if it never does, the reason.
    pub fn turn_in_line(
        &self,
        owner: &str,
        thread: &str,
        (seat, turn): (Arc<Seat>, Arc<str>),
    ) -> BoxStream<'static, Result<Numbered, log::Error>> {
        let (chats, owner, thread) = (self.clone(), owner.to_owned(), thread.to_owned());
        let begins = async move {
            match chats.begins(&owner, &thread, &turn).await {
                Ok(Some(base)) => chats.turn(&seat, &turn, base).await,
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
        let mut news = self.0.live.conversation(thread).news();
        loop {
            news.mark_unchanged();
            // Read first: a turn begins before it leaves the queue.
            let stored = Thread::load(self.log(), thread, owner).await?;
            let waits = stored.is_some_and(|stored| stored.queue.iter().any(|waiting| waiting.turn == turn));
            let Turns { ended, running } = self.0.past.turns(self.log(), thread).await?;
            let begun = ended.turns.iter().map(|turn| &**turn).chain(&running).find(|begun| begun.turn == turn);
            if begun.is_some() || !waits || news.changed().await.is_err() {
                return Ok(begun.map(|begun| begun.base));
            }
        }
    }

    /// Returns the reason why a queued message was refused, if it is known.
    fn refusal(&self, thread: &str, turn: &str) -> BoxStream<'static, Result<Numbered, log::Error>> {
        let refusal = self.0.live.conversation(thread).refusal_of(turn);
        stream::iter(refusal.map(|text| Ok(Numbered::refusal(text)))).boxed()
    }
}

/// Returns the frame for a queued message that was refused.
fn refusal(thread: &str, turn: &str, error: &Error) -> Arc<str> {
    let code = if let Error::Mistake(mistake) = error { mistake.code.word() } else { "internal" };
    let told = json!({ "type": "error", "thread_id": thread, "turn_id": turn, "code": code,
        "message": error.to_string() });
    told.to_string().into()
}
