//! One run's place among the runs of its kind: a slot, its turn in the queue,
//! or neither while the run is parked.

use std::sync::Arc;

use consort_core::queue::Priority;
use tokio::sync::oneshot;

use crate::admission::{Admission, Parked, Place, Slot};

/// A run's place. Dropping it leaves the place to another run.
pub(crate) struct Seat {
    admission: Admission,
    run: Arc<str>,
    priority: Priority,
    held: Held,
}

/// What a run has of a place.
enum Held {
    Slot(Slot),
    /// Brings a slot when it is the run's turn.
    Turn(oneshot::Receiver<Slot>),
    #[expect(dead_code, reason = "held for being dropped with the seat")]
    Parked(Parked),
    Nothing,
}

impl Seat {
    /// A place for a new run; none when everything is taken.
    pub(crate) fn enter(admission: &Admission, run: &Arc<str>, priority: Priority) -> Option<Seat> {
        let held = admission.enter(run, priority)?.into();
        Some(Seat { admission: admission.clone(), run: run.clone(), priority, held })
    }

    /// A place for a run that was accepted before and has not begun.
    pub(crate) fn rejoin(admission: &Admission, run: &Arc<str>, priority: Priority) -> Seat {
        let held = admission.rejoin(run, priority).into();
        Seat { admission: admission.clone(), run: run.clone(), priority, held }
    }

    /// A slot for a run that had one before.
    pub(crate) fn resume(admission: &Admission, run: &Arc<str>, priority: Priority) -> Seat {
        let held = Held::Slot(admission.resume());
        Seat { admission: admission.clone(), run: run.clone(), priority, held }
    }

    /// No slot, for a run that needs none until its work goes on.
    pub(crate) fn without_slot(admission: &Admission, run: &Arc<str>, priority: Priority) -> Seat {
        let held = Held::Parked(admission.resume_parked());
        Seat { admission: admission.clone(), run: run.clone(), priority, held }
    }

    /// Whether the run may work.
    pub(crate) fn has_slot(&self) -> bool {
        matches!(self.held, Held::Slot(_))
    }

    /// Whether the run waits for its turn.
    pub(crate) fn is_queued(&self) -> bool {
        matches!(self.held, Held::Turn(_))
    }

    /// Asks for a slot; says whether the run has one now.
    pub(crate) fn take(&mut self) -> bool {
        if matches!(self.held, Held::Parked(_) | Held::Nothing) {
            self.held = self.admission.rejoin(&self.run, self.priority).into();
        }
        self.has_slot()
    }

    /// Gives the slot, or the turn in the queue, to another run.
    pub(crate) fn park(&mut self) {
        self.held = match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Slot(slot) => self.admission.park(slot).map_or_else(Held::Slot, Held::Parked),
            Held::Turn(_) | Held::Nothing => Held::Parked(self.admission.resume_parked()),
            parked @ Held::Parked(_) => parked,
        };
    }

    /// Returns when it is the run's turn; never, when it does not wait for one.
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

impl From<Place> for Held {
    fn from(place: Place) -> Held {
        match place {
            Place::Slot(slot) => Held::Slot(slot),
            Place::Queue(turn) => Held::Turn(turn),
        }
    }
}
