//! Reads runs: their stored events, their frames as they come, and their state in this process.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use consort_core::event::Event;
use consort_core::owner::Sight;
use consort_core::run::Run;
use consort_log::{self as log, Query, Seq};
use futures::stream::BoxStream;

use super::{Engine, Error};
use crate::feed::Feed;
use crate::replay::Replay;
use crate::ring::{Frame, Listener};
use crate::watcher::{Around, Purpose, Source, Watcher, history, load, lost};

impl Engine {
    /// Returns every frame from `from` on, then each new one, until the run ends.
    pub async fn tail(&self, run: &str, from: Seq) -> Result<BoxStream<'static, Result<Frame, log::Error>>, Error> {
        self.check_sight(run).await?;
        let log = self.0.seams.log.clone();
        let ring = self.live().get(run).map(|live| live.window.ring.subscribe());
        let source = match ring {
            Some(listener) => Source::Ring(listener),
            None => {
                self.row(run).await?;
                self.check_damage(run)?;
                Source::Log(log.news(run))
            }
        };
        Ok(Watcher::new(run.into(), log, source, from, self.0.meters.clone()).among(self.around()).frames())
    }

    /// Returns a listener of a run that is owned here.
    pub(crate) fn listen(&self, run: &str) -> Option<Listener> {
        self.live().get(run).map(|live| live.window.ring.subscribe())
    }

    /// Returns the places from which runs of other nodes are heard.
    fn around(&self) -> Option<Around> {
        let engine = Arc::downgrade(&self.0);
        let ring = move |run: &str| {
            let inner = engine.upgrade()?;
            let live = inner.live();
            live.get(run).map(|live| live.window.ring.subscribe())
        };
        let links = self.0.seams.links.clone();
        (!self.is_alone()).then(|| Around { rings: Some(Arc::new(ring)), links })
    }

    /// Returns every frame of a run whose listener subscribed before it began.
    pub fn tail_heard(&self, run: &str, heard: Listener) -> BoxStream<'static, Result<Frame, log::Error>> {
        let log = self.0.seams.log.clone();
        let meters = self.0.meters.clone();
        Watcher::new(run.into(), log, Source::Ring(heard), 0, meters).among(self.around()).caught_up().frames()
    }

    /// Returns the feed of all runs from now on; work for chats and peers is not included.
    pub fn watch(&self) -> Feed {
        self.0.feed_sender.subscribe(self.1.sight.clone())
    }

    /// Returns the feed of reviews in work for peers from now on, with their decisions:
    /// they can be decided only here.
    pub fn questions(&self) -> Feed {
        self.0.questions.subscribe(self.1.sight.clone())
    }

    /// Returns the feed of questions for permission in the chats of this process from now on, with their answers. It
    /// has those of every thread; who may see a thread is known to the chats.
    pub fn permissions(&self) -> Feed {
        self.0.permissions.subscribe(Sight::All(self.owner()))
    }

    /// Returns the run as it is stored.
    pub async fn run(&self, run: &str) -> Result<Run, Error> {
        self.check_sight(run).await?;
        let (state, len) = self.0.damage.note(load(&*self.0.seams.log, run, Purpose::Look).await)?;
        if len == 0 { self.without_events(run).await } else { Ok(state) }
    }

    /// Returns all stored events of a run.
    pub async fn history(&self, run: &str) -> Result<Vec<Event>, Error> {
        self.check_sight(run).await?;
        let events = self.0.damage.note(history(&*self.0.seams.log, run).await)?;
        if events.is_empty() { self.without_events(run).await } else { Ok(events) }
    }

    /// Returns the error for a run without events: it does not exist, or its events are lost.
    async fn without_events<T>(&self, run: &str) -> Result<T, Error> {
        self.row(run).await?;
        Ok(self.0.damage.note(Err(lost(run)))?)
    }

    /// Returns when the run is over and its traces are written. A run that is not owned here is over when its
    /// row says so, if another node may own it, and otherwise not waited for.
    pub async fn finished(&self, run: &str) {
        let over = self.live().get(run).map(|live| live.over.clone());
        if let Some(mut over) = over {
            let _gone = over.changed().await;
        }
        if !self.is_alone() {
            self.ended_elsewhere(run).await;
        }
    }

    /// Passes the run to `look` once it is over or not owned here; its traces may still be
    /// written afterwards.
    pub async fn at_its_end<T>(&self, run: &str, look: impl FnOnce(&Run) -> T) -> Result<T, Error> {
        self.check_sight(run).await?;
        let live = self.live().get(run).map(|live| (live.requests.clone(), live.window.end.clone()));
        if let Some((requests, end)) = live {
            requests.closed().await;
            if let Some(ended) = end.get() {
                return Ok(look(ended));
            }
        }
        if !self.is_alone() {
            self.ended_elsewhere(run).await;
        }
        Ok(look(&self.run(run).await?))
    }

    /// Returns the reason why events of this run cannot be stored at the moment.
    pub fn stalled(&self, run: &str) -> Option<String> {
        self.live().get(run).and_then(|live| live.window.stalled.borrow().as_ref().map(ToString::to_string))
    }

    /// Returns the reason why nothing can be stored at the moment, as far as runs have tried.
    pub fn no_room(&self) -> Option<String> {
        let stalled =
            self.live().values().find_map(|live| live.window.stalled.borrow().as_ref().map(ToString::to_string));
        stalled.or_else(|| self.0.storage.last_refusal())
    }

    /// Returns whether a run that is owned here waits only for reviews.
    pub fn is_parked(&self, run: &str) -> bool {
        self.live().get(run).is_some_and(|live| live.window.parked.load(Ordering::Acquire))
    }

    /// Returns at most `max` stored frames from `from` on.
    pub async fn page(&self, run: &str, from: Seq, max: usize) -> Result<Vec<Frame>, Error> {
        self.row(run).await?;
        let mut replay = Replay::default();
        Ok(self.0.damage.note(replay.frames(&*self.0.seams.log, run, from, max).await)?)
    }

    /// Returns at most `max` stored frames of these events. Records after them are not read, so that the part of a run
    /// before its damage can be shown.
    pub async fn page_within(&self, run: &str, events: Range<Seq>, max: usize) -> Result<Vec<Frame>, Error> {
        self.row(run).await?;
        Ok(Replay::default().frames_within(&*self.0.seams.log, run, events, max).await?)
    }

    /// Returns the stored frames that follow those a replay of the run has read.
    pub async fn read_on(&self, run: &str, replay: &mut Replay) -> Result<Vec<Frame>, Error> {
        self.check_sight(run).await?;
        let frames = self.0.damage.note(replay.frames(&*self.0.seams.log, run, 0, usize::MAX).await)?;
        if replay.is_empty() { self.without_events(run).await } else { Ok(frames) }
    }

    /// Returns the run that holds a key.
    pub async fn holder(&self, key: &str) -> Result<Option<Arc<str>>, Error> {
        let query = Query { claim: Some(key.to_owned()), limit: 1, ..Query::default() };
        Ok(self.0.seams.log.list(query).await?.rows.into_iter().next().map(|(run, _)| run))
    }

    /// Returns whether a run is still stored.
    pub async fn is_kept(&self, run: &str) -> Result<bool, Error> {
        match self.row(run).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
