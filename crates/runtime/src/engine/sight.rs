//! The runs that a handle sees: of one kind or all, and of one owner or all. Every function that takes the id
//! of a run, lists runs or follows them asks here; a run that is not seen is missing.

use consort_core::owner::{Owner, Sight};
use consort_core::spec::Kind;
use consort_log::{self as log, Page, Query};

use super::{Engine, Error, View};

impl Engine {
    /// Returns the same engine for a caller who sees this much. Runs that are begun over it belong to the
    /// caller's owner.
    pub fn seen_with(&self, sight: Sight) -> Engine {
        Engine(self.0.clone(), View { kind: self.1.kind, sight })
    }

    /// Returns whether this handle sees the runs of every owner.
    pub fn sees_all(&self) -> bool {
        matches!(self.1.sight, Sight::All(_))
    }

    /// Returns the rows that match, of the runs that are seen.
    pub async fn list(&self, query: Query) -> Result<Page, Error> {
        let owner = match &self.1.sight {
            Sight::Nothing => return Ok(Page::default()),
            Sight::Own(owner) => Some(owner.clone()),
            Sight::All(_) => query.owner.clone(),
        };
        Ok(self.0.seams.log.list(Query { owner, ..query }).await?)
    }

    /// Returns the number of rows that match, of all owners: a number alone reveals nothing about a run.
    pub async fn count(&self, query: Query) -> Result<usize, Error> {
        Ok(self.0.seams.log.list(Query { limit: 0, ..query }).await?.total)
    }

    /// Returns whether a run is there and seen.
    pub async fn sees(&self, run: &str) -> bool {
        self.row(run).await.is_ok()
    }

    /// Returns an error unless the run is seen.
    pub(super) async fn check_sight(&self, run: &str) -> Result<(), Error> {
        if !self.is_of_kind(run) {
            return Err(Error::NotFound(run.to_owned()));
        }
        if self.sees_all() {
            return Ok(());
        }
        let live = self.live().get(run).map(|live| live.seen_by.clone());
        match live {
            Some(seen_by) if self.1.sight.covers(&seen_by) => Ok(()),
            Some(_) => Err(Error::NotFound(run.to_owned())),
            None => self.row(run).await.map(drop),
        }
    }

    /// Returns the row of a run that is seen.
    pub(super) async fn row(&self, run: &str) -> Result<log::Row, Error> {
        let missing = || Error::NotFound(run.to_owned());
        if !self.is_of_kind(run) {
            return Err(missing());
        }
        let query = Query { stream: Some(run.to_owned()), limit: 1, ..Query::default() };
        self.list(query).await?.rows.into_iter().next().map(|(_, row)| row).ok_or_else(missing)
    }

    fn is_of_kind(&self, run: &str) -> bool {
        match self.1.kind {
            Some(kind) => is_of(kind, run),
            None => Kind::ALL.into_iter().any(|kind| is_of(kind, run)),
        }
    }

    /// Returns the owner of what is begun over this handle.
    pub(super) fn owner(&self) -> Owner {
        self.1.sight.owner()
    }
}

/// Returns whether a stream of this name is a run of this kind.
pub(super) fn is_of(kind: Kind, id: &str) -> bool {
    id.strip_prefix(kind.word()).is_some_and(|rest| rest.starts_with('-'))
}
