//! The admission of one run among those of its kind: a slot, a position in the queue,
//! or neither while the run is parked.

use std::sync::Arc;

use consort_core::queue::Priority;
use tokio::sync::oneshot;

use crate::admission::{Admission, Admitted, Parked, Slot};

/// A run's admission. Dropping it makes room for another run.
pub(crate) struct Ticket {
    admission: Admission,
    run: Arc<str>,
    priority: Priority,
    held: Held,
}

/// The current state of the admission.
enum Held {
    Slot(Slot),
    /// Resolves to a slot when one is free for the run.
    Turn(oneshot::Receiver<Slot>),
    /// The run is about to join the line of all nodes.
    Line,
    #[expect(dead_code, reason = "held for being dropped with the ticket")]
    Parked(Parked),
    Nothing,
}

impl Ticket {
    /// Admits a new run; returns `None` when all slots and the queue are full.
    pub(crate) fn enter(admission: &Admission, run: &Arc<str>, priority: Priority) -> Option<Ticket> {
        let held = admission.enter(run, priority)?.into();
        Some(Ticket { admission: admission.clone(), run: run.clone(), priority, held })
    }

    /// Admits a run that was accepted before and has not begun.
    pub(crate) fn rejoin(admission: &Admission, run: &Arc<str>, priority: Priority) -> Ticket {
        let held = admission.rejoin(run, priority).into();
        Ticket { admission: admission.clone(), run: run.clone(), priority, held }
    }

    /// Returns a slot for a run that had one before.
    pub(crate) fn resume(admission: &Admission, run: &Arc<str>, priority: Priority) -> Ticket {
        let held = Held::Slot(admission.resume());
        Ticket { admission: admission.clone(), run: run.clone(), priority, held }
    }

    /// Admits a run without a slot, because it needs none until its work goes on.
    pub(crate) fn without_slot(admission: &Admission, run: &Arc<str>, priority: Priority) -> Ticket {
        let held = Held::Parked(admission.resume_parked());
        Ticket { admission: admission.clone(), run: run.clone(), priority, held }
    }

    /// Admits a run that has this slot.
    pub(crate) fn with(slot: Slot, admission: &Admission, run: &Arc<str>, priority: Priority) -> Ticket {
        Ticket { admission: admission.clone(), run: run.clone(), priority, held: Held::Slot(slot) }
    }

    /// Admits a run that waits in the line of all nodes: it gets no slot here before it leaves the line.
    pub(crate) fn in_line(admission: &Admission, run: &Arc<str>, priority: Priority) -> Ticket {
        Ticket { admission: admission.clone(), run: run.clone(), priority, held: Held::Line }
    }

    /// Returns whether the run may work.
    pub(crate) fn has_slot(&self) -> bool {
        matches!(self.held, Held::Slot(_))
    }

    /// Returns whether the run waits in the line of all nodes.
    pub(crate) fn is_in_line(&self) -> bool {
        matches!(self.held, Held::Line)
    }

    /// Returns whether the run waits for a slot.
    pub(crate) fn is_queued(&self) -> bool {
        matches!(self.held, Held::Turn(_) | Held::Line)
    }

    /// Requests a slot; returns whether the run has one now.
    pub(crate) fn take(&mut self) -> bool {
        if matches!(self.held, Held::Parked(_) | Held::Nothing) {
            self.held = self.admission.rejoin(&self.run, self.priority).into();
        }
        self.has_slot()
    }

    /// Gives up the slot, or the position in the queue.
    pub(crate) fn park(&mut self) {
        self.held = match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Slot(slot) => self.admission.park(slot).map_or_else(Held::Slot, Held::Parked),
            Held::Turn(_) | Held::Line | Held::Nothing => Held::Parked(self.admission.resume_parked()),
            parked @ Held::Parked(_) => parked,
        };
    }

    /// Returns when the run gets a slot; never, when it does not wait for one.
    pub(crate) async fn turn(&mut self) {
        if let Held::Turn(turn) = &mut self.held
            && let Ok(slot) = turn.await
        {
            self.held = Held::Slot(slot);
            return;
        }
        std::future::pending().await
    }
}

impl From<Admitted> for Held {
    fn from(place: Admitted) -> Held {
        match place {
            Admitted::Slot(slot) => Held::Slot(slot),
            Admitted::Queue(turn) => Held::Turn(turn),
        }
    }
}
