//! Keeping ended runs: the oldest of a kind are erased. Erasing one takes several commits, erasing
//! many together few more, so runs that end together share a pass.

use std::sync::atomic::{AtomicU64, Ordering};
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
    /// The beginning of the last one, if it erased anything; locked while one is under way.
    last: Mutex<Option<Instant>>,
}

impl Engine {
    /// Erases ended runs of a kind beyond the newest `keep`; returns their number.
    pub async fn retain(&self, kind: Kind, keep: usize) -> Result<usize, Error> {
        let ended = |limit| Query {
            kind: Some(kind.word().to_owned()),
            ended: Some(true),
            order: Order::OldestEnd,
            limit,
            ..Query::default()
        };
        let excess = self.list(ended(0)).await?.total.saturating_sub(keep);
        if excess == 0 {
            return Ok(0);
        }
        let streams = self.list(ended(excess)).await?.rows.into_iter().map(|(stream, _)| stream).collect();
        self.forget(streams).await?;
        Ok(excess)
    }

    /// Erases ended runs of every kind that are too many. Returns when a pass that began after
    /// the call is over, which may be that of another caller.
    pub(super) async fn tidy(&self) -> Result<(), Error> {
        let Passes { begun, last } = &self.0.passes;
        let seen = begun.load(Ordering::Acquire);
        let mut last = last.lock().await;
        if begun.load(Ordering::Acquire) > seen {
            return Ok(());
        }
        if let Some(last) = *last {
            sleep_until(last + PAUSE).await;
        }
        let now = Instant::now();
        let mut erased = 0;
        begun.fetch_add(1, Ordering::Release);
        for kind in Kind::ALL {
            if let Keep::Newest(keep) = self.0.pools.of(kind).keep {
                erased += self.retain(kind, keep).await?;
            }
        }
        *last = (erased > 0).then_some(now);
        Ok(())
    }
}
