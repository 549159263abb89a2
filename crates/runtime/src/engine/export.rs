//! What is told of runs elsewhere: spans while they last, files for reading when
//! they have ended.

use consort_core::run::Run;
use consort_core::trace::trace;

use super::{Engine, Error};
use crate::suspects::Suspects;
use crate::telemetry::Telemetry;
use crate::traces::Traces;

impl Engine {
    /// From now on ended runs leave their traces here; the first word holds.
    pub fn export_to(&self, traces: Traces) {
        let _first = self.0.traces.set(traces);
    }

    /// From now on it is kept whose work a process dies in, and runs that killed
    /// too many are not tried again; the first word holds.
    pub fn suspect(&self, suspects: Suspects) {
        let _first = self.0.suspects.set(suspects);
    }

    /// From now on this is told what takes how long in runs that begin; the
    /// first word holds.
    pub fn tell(&self, telemetry: Telemetry) {
        let _first = self.0.telemetry.set(telemetry);
    }

    /// Who is told what takes how long.
    pub fn telemetry(&self) -> Option<&Telemetry> {
        self.0.telemetry.get()
    }

    /// Where ended runs leave their traces.
    pub fn traces(&self) -> Option<&Traces> {
        self.0.traces.get()
    }

    /// Leaves the traces of a run that has ended. A run does not fail because
    /// nobody can read about it.
    pub(super) async fn export(&self, run: &str) {
        let Some(traces) = self.traces() else { return };
        match self.written(run, traces).await {
            Ok(()) => {}
            Err(error) => tracing::warn!(run, error, "cannot write the trace of a run"),
        }
    }

    async fn written(&self, run: &str, traces: &Traces) -> Result<(), String> {
        let events = self.history(run).await.map_err(|error: Error| error.to_string())?;
        let state = Run::replay(&events);
        if !state.ended() {
            return Ok(());
        }
        let (name, at) = (state.ensemble_id(), self.seams().clock.now());
        let files = [(format!("{name}.trace.json"), trace(&events)), (format!("{name}.dag.json"), state.dag(at))];
        traces.write(files.map(|(name, json)| (name, json.to_string())).into()).await.map_err(|error| error.to_string())
    }
}
