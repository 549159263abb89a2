//! Keeping ended runs: the oldest of a kind are erased. Erasing one takes several commits, erasing
//! many together few more, so runs that end together share a pass. As long as too few have ended
//! since they were counted, they are not counted again.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use consort_core::spec::Kind;
use consort_log::{Order, Query};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

use super::{Engine, Error};
use crate::admission::Keep;

/// The minimum time between the beginnings of two passes that erase: a busy server ends a hundred runs
/// meanwhile.
const PAUSE: Duration = Duration::from_millis(200);

/// The passes over ended runs.
#[derive(Default)]
pub(super) struct Passes {
    /// The number of passes that were begun.
    begun: AtomicU64,
    /// The number of runs that have ended since the last one began, of all kinds.
    ended: AtomicUsize,
    /// The last one; locked while one is under way.
    last: Mutex<Pass>,
}

/// A pass over ended runs.
#[derive(Default)]
struct Pass {
    /// Its beginning, if it erased anything.
    erased: Option<Instant>,
    /// The number of runs of each kind that may end before there can be too many.
    spare: HashMap<&'static str, usize>,
}

/// The result of looking for ended runs that are too many.
struct Retained {
    /// The number of runs that were erased.
    erased: usize,
    /// The number of runs that may end before there are too many.
    spare: usize,
}

impl Engine {
    /// Erases ended runs of a kind beyond the newest `keep`; returns their number.
    pub async fn retain(&self, kind: Kind, keep: usize) -> Result<usize, Error> {
        Ok(self.keep_newest(kind, keep).await?.erased)
    }

    async fn keep_newest(&self, kind: Kind, keep: usize) -> Result<Retained, Error> {
        let ended = |limit| Query {
            kind: Some(kind.word().to_owned()),
            ended: Some(true),
            order: Order::OldestEnd,
            limit,
            ..Query::default()
        };
        let total = self.list(ended(0)).await?.total;
        let excess = total.saturating_sub(keep);
        if excess > 0 {
            let streams = self.list(ended(excess)).await?.rows.into_iter().map(|(stream, _)| stream).collect();
            self.forget(streams).await?;
        }
        Ok(Retained { erased: excess, spare: keep.saturating_sub(total) })
    }

    /// Erases ended runs of every kind that are too many. Returns when a pass that began after
    /// the call is over, which may be that of another caller.
    pub(super) async fn tidy(&self) -> Result<(), Error> {
        let Passes { begun, ended, last } = &self.0.passes;
        // A run is counted here after its end is stored, and counted there before: at worst twice.
        ended.fetch_add(1, Ordering::AcqRel);
        let seen = begun.load(Ordering::Acquire);
        let mut last = last.lock().await;
        if begun.load(Ordering::Acquire) > seen {
            return Ok(());
        }
        if let Some(erased) = last.erased {
            sleep_until(erased + PAUSE).await;
        }
        let now = Instant::now();
        let mut erased = 0;
        begun.fetch_add(1, Ordering::Release);
        let ended = ended.swap(0, Ordering::AcqRel);
        // After a failure nothing is known.
        let spare = mem::take(&mut last.spare);
        for kind in Kind::ALL {
            if let Keep::Newest(keep) = self.0.pools.of(kind).keep {
                // Runs of other nodes are not counted here.
                let spare = spare.get(kind.word()).filter(|_| self.is_alone());
                let retained = match spare.and_then(|spare| spare.checked_sub(ended)) {
                    Some(spare) => Retained { erased: 0, spare },
                    None => self.keep_newest(kind, keep).await?,
                };
                erased += retained.erased;
                last.spare.insert(kind.word(), retained.spare);
            }
        }
        last.erased = (erased > 0).then_some(now);
        Ok(())
    }
}
