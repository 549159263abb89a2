//! A run that is handed to the engine, with what is agreed about it.

use std::sync::Arc;

use consort_core::compile::Compiled;
use consort_core::event::{Event, EventKind};

use super::{Engine, Error, New, ensemble_id, fresh_id};
use crate::ring::Ring;

/// A compiled run and, where there is any, what its submitter has promised
/// about it before.
pub struct NewRun {
    compiled: Compiled,
    id: Option<Arc<str>>,
    claims: Vec<String>,
    ring: Option<Ring>,
}

impl NewRun {
    /// A run under a new id, which claims nothing.
    pub fn new(compiled: Compiled) -> NewRun {
        NewRun { compiled, id: None, claims: Vec::new(), ring: None }
    }

    /// Claims keys that no other run may hold: the run is refused when
    /// another holds one of them.
    #[must_use]
    pub fn claiming(mut self, keys: impl IntoIterator<Item = String>) -> NewRun {
        self.claims.extend(keys);
        self
    }

    /// Uses an id that was promised before.
    #[must_use]
    pub fn under(mut self, id: &Arc<str>) -> NewRun {
        self.id = Some(id.clone());
        self
    }

    /// Shows the run on a ring that may have listeners already.
    #[must_use]
    pub fn shown_on(mut self, ring: Ring) -> NewRun {
        self.ring = Some(ring);
        self
    }
}

impl From<Compiled> for NewRun {
    fn from(compiled: Compiled) -> NewRun {
        NewRun::new(compiled)
    }
}

impl Engine {
    /// Accepts a run: once this returns its id, it survives a crash.
    pub async fn submit(&self, new_run: impl Into<NewRun>) -> Result<Arc<str>, Error> {
        let NewRun { compiled, id, claims, ring } = new_run.into();
        let Compiled { spec, models, belt, .. } = compiled;
        let kind = spec.kind;
        let id = id.unwrap_or_else(|| fresh_id(kind));
        let owner = self.owner();
        let seen_by = spec.seen_by(&owner).clone();
        let ring = ring.unwrap_or_else(|| self.ring(&id, kind, &seen_by));
        let new = New { id: &id, kind, priority: spec.priority(), ring, seen_by };
        let (ensemble_id, spec) = (ensemble_id(), Arc::new(spec));
        let fact = EventKind::RunAccepted { ensemble_id, spec, models, belt, copied: 0, owner };
        self.accept(new, vec![Event { at: self.seams().clock.now(), kind: fact }], claims).await?;
        Ok(id)
    }
}
