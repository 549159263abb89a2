//! The search for runs that cannot be read, so that lists can show them as damaged.

use std::sync::atomic::Ordering;
use std::time::Duration;

use consort_core::spec::Kind;
use consort_log::{self as log, Order, Query, Row};
use consort_tools::collections;

use super::{Engine, Error};
use crate::watcher::{Content, check};

/// Streams of each kind that are read before a server accepts requests, and between two pauses afterwards.
const INSPECTED_FIRST: usize = 200;
/// Streams listed at once afterwards: each list passes over those before it.
const INSPECTED_PAGE: usize = 5_000;
/// The time of a pause, a multiple of the time for what is read before it: looking through very many runs must not
/// slow down those that work.
const PAUSE: Duration = Duration::from_millis(100);

impl Engine {
    /// Returns the reason why a run, or another stream, cannot be read, as far as it is known.
    pub fn damage(&self, stream: &str) -> Option<String> {
        self.0.damage.reason(stream)
    }

    /// Forgets the damage of a stream that was erased by its owner.
    pub fn repaired(&self, stream: &str) {
        self.0.damage.forget([&stream.into()]);
    }

    /// Returns the number of streams that are known to be damaged.
    pub fn damaged_streams(&self) -> usize {
        self.0.damage.count()
    }

    /// Returns an error for a stream that is known to be damaged.
    pub fn check_damage(&self, stream: &str) -> Result<(), Error> {
        Ok(self.0.damage.check(stream)?)
    }

    /// Returns a run's row, and the reason why the run cannot be read, for callers that
    /// can use the row alone.
    pub async fn damaged(&self, run: &str) -> Result<Option<(Row, String)>, Error> {
        let row = self.row(run).await?;
        Ok(self.damage(run).map(|reason| (row, reason)))
    }

    /// Reads the newest stored runs and collections and remembers those that cannot be read.
    pub async fn inspect_newest(&self) -> Result<(), Error> {
        let mut is_all = true;
        for (kind, content) in inspected() {
            is_all &= self.inspect_kind(kind, content, Extent::Newest).await?;
        }
        self.0.inspected.fetch_or(is_all, Ordering::Relaxed);
        Ok(())
    }

    /// Reads every stored run and collection and remembers those that cannot be read, the newest first; without
    /// haste, because others work meanwhile. Does nothing once that is done.
    pub async fn inspect(&self) -> Result<(), Error> {
        if self.0.inspected.load(Ordering::Relaxed) {
            return Ok(());
        }
        for (kind, content) in inspected() {
            self.inspect_kind(kind, content, Extent::All).await?;
        }
        self.0.inspected.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Reads streams of a kind; returns whether these were all.
    async fn inspect_kind(&self, kind: &str, content: Content, extent: Extent) -> Result<bool, Error> {
        let log = &*self.0.seams.log;
        let limit = match extent {
            Extent::Newest => INSPECTED_FIRST,
            Extent::All => INSPECTED_PAGE,
        };
        let mut offset = 0;
        loop {
            let kind = Some(kind.to_owned());
            let query = Query { kind, order: Order::NewestStart, offset, limit, ..Query::default() };
            let rows = log.list(query).await?.rows;
            for some in rows.chunks(INSPECTED_FIRST) {
                for (stream, row) in some {
                    if row.is_damaged() {
                        tracing::error!(%stream, "the row of a stream is not what was written: it is listed as damaged");
                    }
                    match self.0.damage.note(check(log, stream, content).await) {
                        Ok(()) | Err(log::Error::Damaged { .. }) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                if let Extent::All = extent {
                    tokio::time::sleep(PAUSE).await;
                }
            }
            let is_last = rows.len() < limit;
            if is_last || matches!(extent, Extent::Newest) {
                return Ok(is_last);
            }
            offset += rows.len();
        }
    }
}

/// The streams of a kind that are read.
#[derive(Clone, Copy)]
enum Extent {
    /// The newest, which people look at first.
    Newest,
    All,
}

/// Returns the kinds of streams that are read, and what they hold.
fn inspected() -> impl Iterator<Item = (&'static str, Content)> {
    let runs = Kind::ALL.into_iter().map(|kind| (kind.word(), Content::Events));
    runs.chain([(collections::KIND, Content::Other)])
}
