//! Long-term memory: facts about the user are shown to the model, and facts from a
//! turn are stored once it has ended. A turn to be mined is recorded before it begins
//! and removed when its facts are stored, so a restart loses none; the mining itself
//! is a run like any other.

use std::sync::Arc;

use consort_core::chat::{self, Unmined};
use consort_core::run::Run;
use consort_core::spec::Kind;
use consort_core::text::Text;
use consort_log::{Query, Row};
use consort_runtime::engine::{self, NewRun};

use super::damaged::unless_damaged;
use super::message_queue::{Queue, Step};
use super::thread::{Mined, MinedStatus};
use super::{Chats, Error, Thread};
use crate::facts::{Facts, Source};

/// The maximum number of facts that are added to a message.
const RECALLED_MAX: usize = 8;

impl Chats {
    /// Returns the facts about people.
    pub fn facts(&self) -> Facts {
        Facts::new(self.0.engine.seams().log.clone())
    }

    /// Returns the facts about the user that may help with a message.
    pub(super) async fn recall(&self, owner: &str, content: &str) -> Result<Option<(String, Text)>, Error> {
        let facts = self.facts().recall(owner, content, RECALLED_MAX, self.now()).await?;
        let text = facts.iter().map(|fact| format!("- {}", fact.text)).collect::<Vec<_>>().join("\n");
        Ok((!text.is_empty()).then(|| (chat::REMEMBERED.to_owned(), text.into())))
    }

    /// Records that a turn that is about to begin is to be mined.
    pub(super) async fn will_mine(&self, thread: &mut Thread, turn: &Arc<str>) -> Result<(), Error> {
        thread.unmined.retain(|known| **known != **turn);
        thread.unmined.push(turn.to_string());
        thread.store(self.log(), self.now()).await?;
        self.tend(Queue::Mining, &thread.id, &thread.owner);
        Ok(())
    }

    /// Advances the first turn that waits.
    pub(super) async fn mine_next(&self, id: &str, owner: &str) -> Result<Step, Error> {
        let live_thread = self.0.live.live_thread(id);
        let _alone = live_thread.gate.lock().await;
        let thread = Thread::load(self.log(), id, owner).await?;
        let first = thread.and_then(|thread| Some((thread.unmined.first()?.clone(), thread)));
        let Some((turn, mut thread)) = first else {
            live_thread.release_mining_worker();
            return Ok(Step::Empty);
        };
        match unless_damaged(self.stored_run(&turn).await)? {
            Some(Some(run)) if run.ended() => self.mine(&mut thread, &turn, &run).await,
            Some(Some(_running)) => Ok(Step::Waits(turn.into())),
            Some(None) => self.skip(&mut thread, &turn, "the turn never began").await,
            None => self.skip(&mut thread, &turn, "the turn cannot be read").await,
        }
    }

    /// Begins or goes on with the mining of a turn that has ended, or keeps what it found.
    async fn mine(&self, thread: &mut Thread, turn: &str, ended: &Run) -> Result<Step, Error> {
        let mining = mining_id(turn);
        let known = match unless_damaged(self.stored_run(&mining).await)? {
            Some(known) => known,
            None => {
                // It can be repeated: no fact of it was stored yet.
                self.0.engine.forget(vec![mining.clone()]).await?;
                None
            }
        };
        match known {
            Some(run) if run.ended() => self.keep(thread, turn, &run).await,
            Some(_) => {
                // A process that does not resume all runs left this one unfinished.
                self.0.engine.take_up(&mining).await;
                Ok(Step::Waits(mining))
            }
            None => match ended.mining(turn) {
                Ok(compiled) => {
                    self.0.engine.submit(NewRun::new(compiled).under(&mining)).await?;
                    Ok(Step::Waits(mining))
                }
                Err(reason @ (Unmined::Unwanted | Unmined::Unanswered | Unmined::Spent)) => {
                    self.skip(thread, turn, &reason.to_string()).await
                }
            },
        }
    }

    /// Leaves a turn unmined.
    async fn skip(&self, thread: &mut Thread, turn: &str, reason: &str) -> Result<Step, Error> {
        self.cross_out(thread, Mined::without(turn, MinedStatus::Skipped, reason)).await
    }

    /// Stores the facts, then records that in the thread, then erases the mining run: the
    /// fact's own bytes are the only copy.
    async fn keep(&self, thread: &mut Thread, turn: &str, run: &Run) -> Result<Step, Error> {
        let found = run.answer().map(chat::facts).unwrap_or_default();
        let source = Source { thread: thread.id.clone(), turn: turn.to_owned() };
        let facts = self.facts().learn(&thread.owner, &source, &found, self.now()).await?;
        let done = self.cross_out(thread, Mined::of(turn, run, facts)).await?;
        self.log().erase(vec![mining_id(turn)]).await?;
        Ok(done)
    }

    async fn cross_out(&self, thread: &mut Thread, mined: Mined) -> Result<Step, Error> {
        if let Some(reason) = &mined.reason {
            tracing::warn!(thread = thread.id, turn = mined.turn, reason, "nothing is remembered of a turn");
        }
        thread.unmined.retain(|turn| *turn != mined.turn);
        thread.mined = Some(mined);
        thread.store(self.log(), self.now()).await?;
        Ok(Step::Done)
    }

    /// Stops mining a thread's turns, under the thread's lock.
    pub(super) async fn stop_listening(&self, owner: &str, id: &str) -> Result<Option<String>, Error> {
        let live_thread = self.0.live.live_thread(id);
        let _alone = live_thread.gate.lock().await;
        let mut thread = self.thread(owner, id).await?;
        self.stop_mining(&mut thread, owner).await
    }

    /// Stops mining the turns of a thread that have ended, also where it has not begun;
    /// returns the last of them.
    pub(super) async fn stop_mining(&self, thread: &mut Thread, by: &str) -> Result<Option<String>, Error> {
        let mut stopped = None;
        for turn in thread.unmined.clone() {
            if !self.stored_run(&turn).await?.is_some_and(|turn| turn.ended()) {
                continue;
            }
            match self.stored_run(&mining_id(&turn)).await? {
                Some(_) => self.cancel(&mining_id(&turn), by).await?,
                None => {
                    drop(self.cross_out(thread, Mined::without(&turn, MinedStatus::Cancelled, "it was stopped")).await?)
                }
            }
            stopped = Some(turn);
        }
        Ok(stopped)
    }

    /// Returns the runs that mine a thread's turns.
    pub(super) async fn mining_ids(&self, id: &str) -> Result<Vec<Arc<str>>, Error> {
        let tags = vec![("thread".to_owned(), Some(id.to_owned()))];
        let query = Query { kind: Some(Kind::Mining.word().to_owned()), tags, limit: usize::MAX, ..Query::default() };
        Ok(self.log().list(query).await?.rows.into_iter().map(|(id, _)| id).collect())
    }

    /// Erases mining runs that an earlier process had not erased; those of unreadable
    /// threads are kept.
    pub(super) async fn clear_mined(&self, threads: &[Thread], damaged: &[String]) -> Result<(), Error> {
        let query = Query {
            kind: Some(Kind::Mining.word().to_owned()),
            ended: Some(true),
            limit: usize::MAX,
            ..Query::default()
        };
        let waits =
            |id: &Arc<str>| threads.iter().flat_map(|thread| &thread.unmined).any(|turn| mining_id(turn) == *id);
        let rows = self.log().list(query).await?.rows;
        let is_of_damaged = |row: &Row| row.tags.get("thread").is_some_and(|thread| damaged.contains(thread));
        let left = rows.into_iter().filter(|(id, row)| !waits(id) && !is_of_damaged(row));
        let left: Vec<Arc<str>> = left.map(|(id, _)| id).collect();
        if !left.is_empty() {
            self.log().erase(left).await?;
        }
        Ok(())
    }

    /// Returns a run as it is stored, if there is one.
    async fn stored_run(&self, id: &str) -> Result<Option<Run>, Error> {
        match self.0.engine.run(id).await {
            Ok(run) => Ok(Some(run)),
            Err(engine::Error::NotFound(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the id of the run that mines a turn: there is only one.
fn mining_id(turn: &str) -> Arc<str> {
    let rest = turn.split_once('-').map_or(turn, |(_, rest)| rest);
    format!("{}-{rest}", Kind::Mining.word()).into()
}
