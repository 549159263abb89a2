//! The search for runs that cannot be read, so that lists can show them as damaged.

use std::sync::atomic::Ordering;

use consort_core::spec::Kind;
use consort_log::{self as log, Order, Query, Row};
use consort_tools::collections;

use super::{Engine, Error};
use crate::watcher::{Content, check};

/// Runs listed at once during the search.
const INSPECTED_PAGE: usize = 500;

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

    /// Reads every stored run and collection once and remembers those that cannot be read,
    /// the newest first. Once that is done, a second call does nothing.
    pub async fn inspect(&self) -> Result<(), Error> {
        if self.0.inspected.load(Ordering::Relaxed) {
            return Ok(());
        }
        for kind in Kind::ALL {
            self.inspect_kind(kind.word(), Content::Events).await?;
        }
        self.inspect_kind(collections::KIND, Content::Other).await?;
        self.0.inspected.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn inspect_kind(&self, kind: &str, content: Content) -> Result<(), Error> {
        let log = &*self.0.seams.log;
        let mut offset = 0;
        loop {
            let kind = Some(kind.to_owned());
            let query = Query { kind, order: Order::NewestStart, offset, limit: INSPECTED_PAGE, ..Query::default() };
            let rows = log.list(query).await?.rows;
            for (stream, _) in &rows {
                match self.0.damage.note(check(log, stream, content).await) {
                    Ok(()) | Err(log::Error::Damaged { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            offset += rows.len();
            if rows.len() < INSPECTED_PAGE {
                return Ok(());
            }
        }
    }
}
