//! The cost of what is there beside the work: ended runs and chats in the store, and watchers of everything.

use std::num::NonZeroU32;
use std::sync::Arc;

use consort_log::SqliteLog;
use tokio::task::JoinSet;

use crate::crowd::Crowd;
use crate::instant::InstantModel;
use crate::stage::{Stage, one_task};
use crate::talk::{Calls, ChatStage, SAID};

/// More than the number of concurrent calls: waiting for a slot is not measured here.
const SLOTS: NonZeroU32 = NonZeroU32::MAX;
/// The number of runs or turns by which a cost is measured, one after the other.
const MEASURED: usize = 200;
/// The number of runs or turns at the same time while the store is filled.
const AT_ONCE: usize = 10;

/// The thing there are many of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Around {
    /// Ended runs in the store.
    EndedRuns,
    /// Chats in the store, with a turn each.
    Threads,
    /// Watchers of all runs.
    Watchers,
}

impl Around {
    /// Returns the microseconds of CPU of a run, or of a turn, where there are so many.
    pub(crate) async fn cost(self, size: usize) -> anyhow::Result<f64> {
        let fill = Crowd { jobs: size, at_once: AT_ONCE };
        let measured = Crowd { jobs: MEASURED, at_once: 1 };
        if self == Around::Threads {
            let chats = ChatStage::new(InstantModel, Calls::Nothing)?;
            chats.turns(SAID, fill).await?;
            return chats.turns(SAID, measured).await;
        }
        let folder = tempfile::tempdir()?;
        let log = Arc::new(SqliteLog::open(&folder.path().join("log.db"))?);
        let stage = Stage::new(one_task(), log, InstantModel, SLOTS)?;
        let watchers = if self == Around::Watchers { size } else { 0 };
        let mut watching = JoinSet::new();
        for _ in 0..watchers {
            let mut feed = stage.engine.watch();
            watching.spawn(async move { while feed.next().await.is_ok() {} });
        }
        let job = move || {
            let stage = stage.clone();
            async move { stage.run().await }
        };
        if self == Around::EndedRuns {
            fill.work(job.clone()).await?;
        }
        measured.cpu_us(job).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everything_that_is_around_can_be_measured() {
        for around in [Around::EndedRuns, Around::Threads, Around::Watchers] {
            assert!(around.cost(10).await.unwrap() > 0.0, "{around:?}");
        }
    }
}
