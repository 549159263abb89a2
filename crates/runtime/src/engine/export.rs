//! Exports of runs: spans while they last, trace files when they have ended.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use consort_core::run::Run;
use consort_core::spec::Kind;
use consort_core::trace::trace;
use consort_core::view;
use consort_http::outbound::Reach;
use consort_log::Query;

use super::{Engine, Error};
use crate::suspects::Suspects;
use crate::telemetry::Telemetry;
use crate::traces::{self, TraceFile, Traces};
use crate::webhooks::Webhook;
use crate::webhooks::outbox::Outbox;

/// Runs whose files one caller sees: as many as a folder lists.
const RUNS_MAX: usize = traces::LISTED_MAX;

/// The folder for traces, as far as a handle sees it: the files of the runs it sees. Files of
/// runs that are not stored any more are for those who see the runs of all owners.
pub struct SeenTraces<'a> {
    engine: &'a Engine,
    traces: &'a Traces,
}

impl SeenTraces<'_> {
    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        self.traces.path()
    }

    /// Returns the files, by name.
    pub async fn list(&self) -> io::Result<Vec<TraceFile>> {
        let mut files = self.traces.list().await?;
        if let Some(seen) = self.seen().await? {
            files.retain(|file| is_of(&seen, &file.name));
        }
        Ok(files)
    }

    /// Returns the content of a file; `None` when there is no such trace.
    pub async fn read(&self, name: &str) -> io::Result<Option<String>> {
        match self.seen().await? {
            Some(seen) if !is_of(&seen, name) => Ok(None),
            Some(_) | None => self.traces.read(name).await,
        }
    }

    /// Returns the executions whose files are seen; `None` stands for all files.
    async fn seen(&self) -> io::Result<Option<HashSet<String>>> {
        if self.engine.sees_all() {
            return Ok(None);
        }
        let query = Query { kind: Some(Kind::Run.word().to_owned()), limit: RUNS_MAX, ..Query::default() };
        let rows = self.engine.list(query).await.map_err(io::Error::other)?.rows;
        Ok(Some(rows.iter().filter_map(|(_, row)| view::ensemble_id(&row.body)).collect()))
    }
}

fn is_of(executions: &HashSet<String>, name: &str) -> bool {
    traces::execution(name).is_some_and(|id| executions.contains(id))
}

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

    /// Sets the webhooks that are notified of runs that begin from now on, and the addresses that clients may name for
    /// their tasks; only the first call counts.
    pub fn announce(&self, webhooks: Vec<Webhook>, reach: Reach) -> Outbox {
        let meters = self.meters().clone();
        let new = || Outbox::new((self.seams().log.clone(), self.seams().clock), meters, webhooks, reach);
        self.0.outbox.get_or_init(new).clone()
    }

    /// Returns the telemetry exporter.
    pub fn telemetry(&self) -> Option<&Telemetry> {
        self.0.telemetry.get()
    }

    /// Returns the folder for traces of ended runs, and those of its files that this handle sees.
    pub fn traces(&self) -> Option<SeenTraces<'_>> {
        self.0.traces.get().map(|traces| SeenTraces { engine: self, traces })
    }

    /// Writes the traces of a run that has ended. A failure to write them is no failure of
    /// the run.
    pub(super) async fn export(&self, run: &str) {
        let Some(traces) = self.0.traces.get() else { return };
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
        let name = state.ensemble_id();
        let at = self.seams().clock.now();
        let files = [(format!("{name}.trace.json"), trace(&events)), (format!("{name}.dag.json"), state.dag(at))];
        traces.write(files.map(|(name, json)| (name, json.to_string())).into()).await.map_err(|error| error.to_string())
    }
}
