//! A new run that begins with events recorded by another.

use std::sync::Arc;

use consort_core::fork::{self, Forked, Own, Wanted};
use consort_core::spec::Kind;
use consort_tools::busy;

use super::new_run::{New, ensemble_id, fresh_id};
use super::{Engine, Error};

impl Engine {
    /// Makes a run from the record of another, which stays as it is; once this returns,
    /// the new one survives a crash.
    pub async fn fork(&self, run: &str, wanted: &Wanted<'_>) -> Result<(Arc<str>, Forked), Error> {
        let forked = self.rehearse_fork(run, wanted).await?;
        let (_place, _left) = self.place_in_quota().await?;
        let id = fresh_id(Kind::Run);
        let kind = Kind::Run;
        let priority = forked.run.spec().priority();
        let seen_by = forked.run.seen_by().clone();
        let new = New { id: &id, kind, priority, ring: self.ring(&id, kind, &seen_by), seen_by, beyond_queue: false };
        self.accept(new, forked.events.clone(), Vec::new()).await?;
        Ok((id, forked))
    }

    /// Returns the run that [`Engine::fork`] would make; nothing is stored.
    pub async fn rehearse_fork(&self, run: &str, wanted: &Wanted<'_>) -> Result<Forked, Error> {
        let events = self.history(run).await?;
        let now = self.seams().clock.now();
        let version = self.seams().cluster.version();
        let own = Own { ensemble_id: ensemble_id(), owner: self.owner(), version };
        let fork = busy::in_place(|| fork::fork((run, &events), wanted, own, now))?;
        let (found, mistakes) = self.find_attachments(fork.attachment_sources()).await?;
        if !mistakes.is_empty() {
            return Err(Error::Mistakes(mistakes));
        }
        Ok(busy::in_place(|| fork.finish(|source| found.get(source).cloned()))?)
    }
}
