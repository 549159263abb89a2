//! The beginning of a runner's work on a run that waits for a slot, was stored before, or is given up.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use consort_core::decide::Command;
use consort_core::run::Run;
use consort_log::{Error, Seq};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::{Batch, Draining, Request, Runner, Window, until_draining};
use crate::effects::Seams;
use crate::permits::Permits;
use crate::telemetry::Recorder;
use crate::tenure::Tenure;
use crate::ticket::Ticket;

impl Runner {
    pub(crate) fn new(
        (id, ticket, tenure): (Arc<str>, Ticket, Tenure),
        seams: Arc<Seams>,
        window: Window,
        requests: mpsc::Receiver<Box<Request>>,
        draining: Draining,
    ) -> Runner {
        Runner {
            recorder: Recorder::new(id.clone(), window.telemetry.clone()),
            id,
            run: Run::default(),
            len: 0,
            permits: Permits::new(seams.limits.clone()),
            ticket,
            tenure,
            seams,
            window,
            requests,
            effects: JoinSet::new(),
            under_way: HashMap::new(),
            batch: Batch::default(),
            timer: None,
            grace: None,
            cancelled: None,
            halt: watch::Sender::new(false),
            draining,
            mark: None,
            is_large: false,
            questions: 0,
        }
    }

    /// Takes over a run that is stored.
    pub(crate) fn resume(&mut self, run: Run, len: Seq) {
        // The machine's clock may have been set back since the last event. Then reviews, retries and
        // approvals would be due much later than they should, and events earlier than those before.
        if run.at() > self.seams.clock.now() {
            let clock = self.seams.clock.not_before(run.at());
            self.seams = Arc::new(Seams { clock, ..(*self.seams).clone() });
        }
        (self.run, self.len) = (run, len);
    }

    /// Works once the run has a slot.
    pub(crate) async fn work_in_turn(&mut self) -> Result<(), Error> {
        if self.run.epoch() == 0 && self.ticket.is_queued() {
            self.queue().await?;
        }
        self.work().await
    }

    /// Waits for a slot. A run that is to stop needs none.
    async fn queue(&mut self) -> Result<(), Error> {
        loop {
            let request = tokio::select! {
                () = self.ticket.turn() => return self.adopt().await,
                request = self.requests.recv() => request,
                () = until_draining(&mut self.draining) => return Ok(()),
            };
            let Some(request) = request else { return Ok(()) };
            let Request { command, key, ack } = *request;
            let answer = self.decide(command)?;
            self.batch.claims.extend(key.filter(|_| answer.is_ok()));
            let stops = self.run.stopping();
            if stops {
                self.adopt().await?
            } else {
                self.commit().await?
            }
            let _gone = ack.send(answer);
            if stops {
                return Ok(());
            }
        }
    }

    /// Ends a run over which processes died, without processing its content.
    pub(crate) async fn give_up(&mut self) -> Result<(), Error> {
        let _ended = self.decide(Command::Poison(self.tenure.adoption.clone()))?;
        self.commit().await?;
        if let Some(suspects) = &self.window.suspects {
            suspects.clear(&self.id);
        }
        let _set_before = self.window.end.set(Box::new(mem::take(&mut self.run)));
        Ok(())
    }
}
