//! The resources that a runner has and hands out: its ticket, looked-up tools, slots of models and locks.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::next::{Effect, Grants, Needs};

use super::Runner;

impl Runner {
    /// Requests a slot for a parked run that has work again, and leaves the queue when it
    /// has none; returns whether it got a slot.
    pub(super) fn take_slot(&mut self, needs: &Needs) -> bool {
        if needs.slot {
            return self.ticket.take();
        }
        if self.run.is_parked() && self.ticket.is_queued() {
            self.ticket.park();
        }
        false
    }

    /// Resolves names of dynamic tools; returns whether any were new.
    pub(super) fn look_up(&self, needs: &Needs, belts: &mut BTreeMap<String, Vec<Arc<ToolInfo>>>) -> bool {
        let known = belts.len();
        for name in &needs.belts {
            belts.entry(name.clone()).or_insert_with(|| self.seams.tools.resolve(name));
        }
        belts.len() > known
    }

    /// Returns the permits that are not yet assigned to an effect of this decision.
    pub(super) fn unused(&self) -> Grants {
        let mut grants = self.permits.grants();
        self.batch.effects.iter().for_each(|effect| used(&mut grants, effect));
        grants
    }
}

/// Subtracts the permit that an effect uses.
pub(super) fn used(grants: &mut Grants, effect: &Effect) {
    match effect {
        Effect::Ask(question) => {
            if let Some(slots) = grants.models.get_mut(&question.model) {
                *slots = slots.saturating_sub(1);
            }
        }
        Effect::Call { tool, .. } => {
            tool.lock.as_ref().map(|name| grants.locks.remove(name));
        }
    }
}
