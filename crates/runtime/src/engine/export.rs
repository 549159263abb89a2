//! Exports of runs: spans while they last, trace files when they have ended.

use consort_core::run::Run;
use consort_core::trace::trace;

use super::{Engine, Error};
use crate::suspects::Suspects;
use crate::telemetry::Telemetry;
use crate::traces::Traces;

impl Engine {
    /// Sets the folder for traces of ended runs; only the first call counts.
    pub fn export_to(&self, traces: Traces) {
        let _first = self.0.traces.set(traces);
    }

    /// Sets the record of runs in whose work a process dies, so that runs that killed too
    /// many are not tried again; only the first call counts.
    pub fn suspect(&self, suspects: Suspects) {
        let _first = self.0.suspects.set(suspects);
    }

    /// Sets the telemetry exporter for runs that begin from now on; only the first call counts.
    pub fn tell(&self, telemetry: Telemetry) {
        let _first = self.0.telemetry.set(telemetry);
    }

    /// Returns the telemetry exporter.
    pub fn telemetry(&self) -> Option<&Telemetry> {
        self.0.telemetry.get()
    }

    /// Returns the folder for traces of ended runs.
    pub fn traces(&self) -> Option<&Traces> {
        self.0.traces.get()
    }

    /// Writes the traces of a run that has ended. A failure to write them is no failure of
    /// the run.
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
