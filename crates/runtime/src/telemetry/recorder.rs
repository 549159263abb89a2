//! A run's side of telemetry: spans that end with the events of a decision are
//! collected while it is made and sent once it is stored.

use std::sync::Arc;

use consort_core::event::Event;
use consort_core::next::Effect;
use consort_core::run::Run;
use consort_core::span::Span;
use consort_http::trace::Trace;

use super::{RunSpan, Telemetry};

/// The spans of one run, if there is an exporter.
pub(crate) struct Recorder {
    run: Arc<str>,
    telemetry: Option<Telemetry>,
    ended: Vec<Span>,
}

impl Recorder {
    pub(crate) fn new(run: Arc<str>, telemetry: Option<Telemetry>) -> Recorder {
        Recorder { run, telemetry, ended: Vec::new() }
    }

    /// Collects the spans that end with an event that is about to be applied.
    pub(crate) fn note(&mut self, run: &Run, event: &Event) {
        let Some(telemetry) = &self.telemetry else { return };
        let Some(mut span) = run.span(&self.run, event) else { return };
        if telemetry.tells_content() {
            span.attributes.extend(run.span_content(event));
        }
        self.ended.push(span);
    }

    /// Discards the collected spans.
    pub(crate) fn forget(&mut self) {
        self.ended.clear();
    }

    /// Sends the collected spans.
    pub(crate) fn tell(&mut self, run: &Run) {
        if self.ended.is_empty() {
            return;
        }
        let trace = self.trace(run).filter(Trace::is_sampled);
        let (Some(trace), Some(telemetry)) = (trace, &self.telemetry) else { return self.ended.clear() };
        for span in self.ended.drain(..) {
            telemetry.tell(RunSpan { run: self.run.clone(), trace: trace.clone(), span });
        }
    }

    /// Returns the trace context that an effect passes on.
    pub(crate) fn trace_of(&self, run: &Run, effect: &Effect) -> Option<Trace> {
        self.trace(run).map(|trace| trace.at(&self.run, &run.span_place(effect)))
    }

    /// Returns the trace of the run, at the parent of the whole run.
    fn trace(&self, run: &Run) -> Option<Trace> {
        let given = run.spec().traceparent.as_deref().and_then(Trace::parse);
        match &self.telemetry {
            Some(telemetry) => Some(telemetry.trace(&self.run, given)),
            None => given,
        }
    }
}
