//! What is left for reading when a run has ended.

use consort_core::run::Run;
use consort_core::trace::trace;

use super::{Engine, Error};
use crate::traces::Traces;

impl Engine {
    /// From now on ended runs leave their traces here; the first word holds.
    pub fn export_to(&self, traces: Traces) {
        let _first = self.0.traces.set(traces);
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
