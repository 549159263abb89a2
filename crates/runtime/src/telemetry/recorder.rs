//! A run's side of telemetry: what ends with the events of a decision is noted
//! while it is made and told once it is stored.

use std::sync::Arc;

use consort_core::event::Event;
use consort_core::next::Effect;
use consort_core::run::Run;
use consort_core::span::Span;
use consort_http::trace::Trace;

use super::{Telemetry, Told};

/// What is told about one run, if anybody wants to know.
pub(crate) struct Recorder {
    run: Arc<str>,
    telemetry: Option<Telemetry>,
    ended: Vec<Span>,
}

impl Recorder {
    pub(crate) fn new(run: Arc<str>, telemetry: Option<Telemetry>) -> Recorder {
        Recorder { run, telemetry, ended: Vec::new() }
    }

    /// Notes what ends with an event that is about to be applied.
    pub(crate) fn note(&mut self, run: &Run, event: &Event) {
        let Some(telemetry) = &self.telemetry else { return };
        let Some(mut span) = run.span(&self.run, event) else { return };
        if telemetry.tells_content() {
            span.attributes.extend(run.span_content(event));
        }
        self.ended.push(span);
    }

    /// Leaves out what was noted.
    pub(crate) fn forget(&mut self) {
        self.ended.clear();
    }

    /// Tells what was noted.
    pub(crate) fn tell(&mut self, run: &Run) {
        if self.ended.is_empty() {
            return;
        }
        let trace = self.trace(run).filter(Trace::is_sampled);
        let (Some(trace), Some(telemetry)) = (trace, &self.telemetry) else { return self.ended.clear() };
        for span in self.ended.drain(..) {
            telemetry.tell(Told { run: self.run.clone(), trace: trace.clone(), span });
        }
    }

    /// What an effect tells those it asks about its trace.
    pub(crate) fn trace_of(&self, run: &Run, effect: &Effect) -> Option<Trace> {
        self.trace(run).map(|trace| trace.at(&self.run, &run.span_place(effect)))
    }

    /// The trace of the run, at what the run as a whole is part of.
    fn trace(&self, run: &Run) -> Option<Trace> {
        let given = run.spec().traceparent.as_deref().and_then(Trace::parse);
        match &self.telemetry {
            Some(telemetry) => Some(telemetry.trace(&self.run, given)),
            None => given,
        }
    }
}
