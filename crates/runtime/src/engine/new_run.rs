//! A run that is handed to the engine, with the conditions that were agreed for it.

use std::sync::Arc;

use consort_core::compile::Compiled;
use consort_core::event::{Event, EventKind};
use consort_core::spec::Kind;

use super::{Engine, Error, New, ensemble_id, fresh_id};
use crate::ring::Ring;

/// A compiled run and, where there are any, the conditions that were agreed for it before.
pub struct NewRun {
    compiled: Compiled,
    id: Option<Arc<str>>,
    claims: Vec<String>,
    ring: Option<Ring>,
    /// Whether it waits even if the queue is full.
    beyond_queue: bool,
}

impl NewRun {
    /// Creates a run under a new id and without claims.
    pub fn new(compiled: Compiled) -> NewRun {
        NewRun { compiled, id: None, claims: Vec::new(), ring: None, beyond_queue: false }
    }

    /// Claims keys that no other run may hold: the run is refused when
    /// another holds one of them.
    #[must_use]
    pub fn claiming(mut self, keys: impl IntoIterator<Item = String>) -> NewRun {
        self.claims.extend(keys);
        self
    }

    /// Lets it wait even if the queue is full.
    #[must_use]
    pub fn beyond_queue(mut self) -> NewRun {
        self.beyond_queue = true;
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
        let mut new_run = new_run.into();
        if new_run.compiled.spec.kind != Kind::Run {
            return self.begin(new_run).await;
        }
        let (_place, left) = self.place_in_quota().await?;
        let Compiled { spec, models, .. } = &mut new_run.compiled;
        // The cost of a model without a price is not known, so it cannot be limited.
        if let Some(left) = left.filter(|_| models.values().all(|model| model.price.is_some())) {
            spec.limits.cost = if spec.limits.cost == 0 { left } else { left.min(spec.limits.cost) };
        }
        self.begin(new_run).await
    }

    async fn begin(&self, new_run: NewRun) -> Result<Arc<str>, Error> {
        let NewRun { compiled, id, claims, ring, beyond_queue } = new_run;
        let Compiled { mut spec, models, belt, .. } = compiled;
        self.attach(&mut spec, &models).await?;
        let kind = spec.kind;
        let id = id.unwrap_or_else(|| fresh_id(kind));
        let owner = self.owner();
        let seen_by = spec.seen_by(&owner).clone();
        let ring = self.published(ring.unwrap_or_default(), &id, kind, &seen_by);
        let new = New { id: &id, kind, priority: spec.priority(), ring, seen_by, beyond_queue };
        let ensemble_id = ensemble_id();
        let spec = Arc::new(spec);
        let fact = EventKind::RunAccepted { ensemble_id, spec, models, belt, copied: 0, owner };
        self.accept(new, vec![Event { at: self.seams().clock.now(), kind: fact }], claims).await?;
        Ok(id)
    }
}
