//! Runs of other nodes in the feed of this one: they are followed in the log as long as somebody watches.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_core::spec::Kind;
use consort_log::{self as log, Log, Query, Row, Seq};
use futures::StreamExt;

use super::{Engine, Inner};
use crate::feed::Publisher;
use crate::links::Links;
use crate::meters::Meters;
use crate::ring::{CommitFrames, Frame};
use crate::watcher::{Around, Purpose, Source, Watcher, load};

/// Runs of other nodes that are followed at the same time: as many as a person can look at. A reader of
/// one beyond them follows it alone.
const FOLLOWED_MAX: usize = 200;

/// The runs of other nodes that are followed: at most as many as are listed.
#[derive(Default)]
pub(super) struct OtherNodes {
    /// Also those that have ended, so that none is told twice.
    followed: Arc<Mutex<HashSet<Arc<str>>>>,
    /// Runs that this node had: what happened to them here was told.
    ours: HashSet<Arc<str>>,
    /// The time since which somebody watches; runs that began later are followed from their beginning.
    since: Option<Millis>,
}

impl Engine {
    /// Begins to follow runs of other nodes, if anybody watches.
    pub(super) async fn follow_other_nodes(&self, other_nodes: &mut OtherNodes) {
        if !self.0.feed_sender.is_watched() {
            *other_nodes = OtherNodes::default();
            return;
        }
        let since = *other_nodes.since.get_or_insert_with(|| self.0.seams.clock.now());
        match self.elsewhere(since).await {
            Ok(rows) => {
                other_nodes.keep(&rows);
                for (id, row) in rows {
                    if self.live().contains_key(&id) {
                        other_nodes.ours.insert(id);
                    } else if other_nodes.begin(&id) {
                        let is_new = row.started_at >= since && !other_nodes.ours.contains(&id);
                        self.follow(id, (row.owner, is_new), other_nodes.followed.clone());
                    }
                }
            }
            Err(error) => tracing::debug!(%error, "cannot look for runs of other nodes"),
        }
    }

    /// Returns runs that have not ended, and those that began since then.
    async fn elsewhere(&self, since: Millis) -> Result<Vec<(Arc<str>, Row)>, log::Error> {
        let kind = || Some(Kind::Run.word().to_owned());
        let newest = Query { kind: kind(), limit: FOLLOWED_MAX, ..Query::default() };
        let unfinished = Query { ended: Some(false), ..newest.clone() };
        let log = &self.0.seams.log;
        let mut rows = log.list(unfinished).await?.rows;
        let begun = log.list(newest).await?.rows.into_iter().filter(|(_, row)| row.started_at >= since);
        rows.extend(begun);
        Ok(rows)
    }

    fn follow(&self, run: Arc<str>, (seen_by, is_new): (Owner, bool), followed: Arc<Mutex<HashSet<Arc<str>>>>) {
        let following = Following {
            engine: Arc::downgrade(&self.0),
            log: self.0.seams.log.clone(),
            links: self.0.seams.links.clone(),
            meters: self.0.meters.clone(),
            publisher: Publisher { run: run.clone(), seen_by, feed: self.0.feed_sender.clone() },
            run,
        };
        tokio::spawn(async move {
            if let Err(error) = following.publish(is_new).await {
                tracing::debug!(run = %following.run, %error, "a run of another node is not followed any more");
            }
            // It may leave this node again.
            if following.is_here() {
                followed.lock().unwrap_or_else(PoisonError::into_inner).remove(&following.run);
            }
        });
    }
}

/// A run of another node that is followed.
struct Following {
    engine: Weak<Inner>,
    log: Arc<dyn Log>,
    links: Links,
    meters: Meters,
    publisher: Publisher,
    run: Arc<str>,
}

impl Following {
    /// Shows the events of the run in the feed until it ends, is owned here, or nobody watches.
    async fn publish(&self, is_new: bool) -> Result<(), log::Error> {
        let from: Seq = if is_new { 0 } else { load(&*self.log, &self.run, Purpose::Look).await?.1 };
        let source = Source::Log(self.log.news(&self.run));
        let around = Around { rings: None, links: self.links.clone() };
        let watcher = Watcher::new(self.run.clone(), self.log.clone(), source, from, self.meters.clone());
        let mut frames = watcher.among(Some(around)).frames();
        while let Some(frame) = frames.next().await {
            let frame: Frame = frame?;
            if self.is_here() || !self.publisher.is_watched() {
                break;
            }
            self.publisher.publish(&CommitFrames::Frames(vec![frame].into()));
        }
        Ok(())
    }

    /// Returns whether this node owns the run, or is about to stop.
    fn is_here(&self) -> bool {
        self.engine.upgrade().is_none_or(|engine| engine.live().contains_key(&self.run))
    }
}

impl OtherNodes {
    fn begin(&self, run: &Arc<str>) -> bool {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone())
    }

    /// Forgets runs that are not listed any more.
    fn keep(&mut self, rows: &[(Arc<str>, Row)]) {
        let listed: HashSet<&Arc<str>> = rows.iter().map(|(id, _)| id).collect();
        self.ours.retain(|id| listed.contains(id));
        self.followed.lock().unwrap_or_else(PoisonError::into_inner).retain(|id| listed.contains(id));
    }
}
