//! The summary of one run for late clients: the frames worth keeping, exactly as they
//! were sent, the newest model calls, and the open reviews. Built from the log, once: a
//! run that goes on is read on from where the last client came.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use consort_core::frame::field::Iso;
use consort_core::frame::numbered::{EventFrame, RunFrame};
use consort_core::frame::run::Frame;
use consort_log::{self as log, Seq};
use consort_runtime::engine::{self, Engine};
use consort_runtime::replay::Replay;
use consort_runtime::ring;

use crate::Site;
use crate::ws::calls::ModelCalls;
use crate::ws::hello::HELLO_MAX;
use crate::ws::sent::{Form, SentFrame};

/// One run, as a late client gets it.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    /// The number of events so far.
    pub(super) len: Seq,
    /// Its ensemble id and its start time, as `hello` quotes them.
    pub(super) started: Option<(String, Iso)>,
    /// The time it ended.
    pub(super) ended_at: Option<Iso>,
    pub(super) kept: Vec<SentFrame>,
    pub(super) calls: ModelCalls,
    /// Open reviews, by their ids.
    pub(super) reviews: Vec<(String, SentFrame)>,
    /// The number of bytes of the frames worth keeping, as they were sent.
    bytes: usize,
    /// The form in which these frames are kept: more than fits into `hello` is cut at once.
    pub(super) form: Form,
}

impl Trace {
    /// Folds a run's frames; of each conversation only the newest model calls are kept.
    pub(super) fn of(frames: &[ring::Frame], calls_max: usize) -> Trace {
        let mut trace = Trace::default();
        trace.extend(frames, calls_max);
        trace
    }

    /// Creates the trace of a run with these frames worth keeping.
    #[cfg(test)]
    pub(super) fn with(frames: Vec<SentFrame>) -> Trace {
        Trace { kept: frames, ..Trace::default() }
    }

    /// Adds the frames that follow.
    fn extend(&mut self, frames: &[ring::Frame], calls_max: usize) {
        self.len += frames.len() as Seq;
        for frame in frames {
            if let ring::Frame::Event { frame, text, .. } = frame
                && let EventFrame::Run(event) = &**frame
            {
                self.note(event, SentFrame::new(frame, text), calls_max);
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no other frame opens or closes anything")]
    fn note(&mut self, RunFrame { seq, frame, .. }: &RunFrame, sent: SentFrame, calls_max: usize) {
        match frame {
            Frame::EnsembleStarted { ensemble_id, started_at, .. } => {
                self.started = Some((ensemble_id.clone(), *started_at));
            }
            // The events before belong to another run, and have its start time.
            Frame::RunForked { .. } => self.started.iter_mut().for_each(|(_, started)| *started = sent.at()),
            Frame::EnsembleCompleted { .. } => self.ended_at = Some(sent.at()),
            Frame::LlmIterationStarted { conversation, iteration_index, .. } => {
                self.calls.begin(&conversation.turn_id, *iteration_index, (*seq, sent.clone()));
            }
            Frame::LlmIterationCompleted { conversation, iteration_index, .. } => {
                self.calls.complete(&conversation.turn_id, *iteration_index, sent.clone(), calls_max);
            }
            Frame::TaskCompleted { task, .. } | Frame::TaskFailed { task, .. } => {
                self.calls.give_up(&task.conversation.turn_id);
            }
            Frame::ReviewRequested(review) => self.reviews.push((review.review_id.clone(), sent.clone())),
            Frame::ReviewDecided { review_id, .. }
            | Frame::ReviewTimedOut { review_id, .. }
            | Frame::ReviewClosed { review_id } => self.reviews.retain(|(id, _)| id != review_id),
            _ => {}
        }
        if is_kept(frame) {
            self.keep(sent);
        }
    }

    fn keep(&mut self, mut sent: SentFrame) {
        self.bytes += sent.text(Form::Whole).len();
        match self.form {
            Form::Whole if self.bytes > HELLO_MAX => {
                self.form = Form::Short;
                self.kept.push(sent);
                self.kept.iter_mut().for_each(SentFrame::cut);
            }
            Form::Whole => self.kept.push(sent),
            Form::Short => {
                sent.cut();
                self.kept.push(sent);
            }
        }
    }
}

/// Returns whether a frame is worth keeping. Tokens, model calls and directives are not.
fn is_kept(frame: &Frame) -> bool {
    matches!(
        frame,
        Frame::EnsembleStarted { .. }
            | Frame::EnsembleCompleted { .. }
            | Frame::TaskStarted { .. }
            | Frame::TaskInput(_)
            | Frame::TaskCompleted { .. }
            | Frame::TaskFailed { .. }
            | Frame::TaskSkipped { .. }
            | Frame::ToolCalled { .. }
            | Frame::DelegationStarted { .. }
            | Frame::DelegationCompleted { .. }
            | Frame::DelegationFailed { .. }
            | Frame::MetricsSnapshot { .. }
            | Frame::FileChanged { .. }
    )
}

/// The traces of runs, of all owners together as many as one is shown. Ids grow with time, so the first is the
/// oldest.
#[derive(Default)]
pub(crate) struct Traces(Mutex<BTreeMap<Arc<str>, Arc<Followed>>>);

/// A run as far as it was read; clients that come at the same time read it once, one after the other.
#[derive(Default)]
struct Followed(tokio::sync::Mutex<Option<Known>>);

/// A run's trace, and the replay with which it is read on.
#[derive(Default)]
struct Known {
    trace: Arc<Trace>,
    replay: Replay,
}

impl Traces {
    /// Returns the trace of a run as it is stored now; `None` when it has just been erased or cannot be read.
    pub(super) async fn of(
        &self,
        site: &Site,
        runs: &Engine,
        run: &Arc<str>,
    ) -> Result<Option<Arc<Trace>>, engine::Error> {
        let followed = self.followed(run, site.server.sockets.retained_runs);
        let mut known = followed.0.lock().await;
        if let Some(Known { trace, .. }) = known.as_ref().filter(|known| known.trace.ended_at.is_some()) {
            return Ok(Some(trace.clone()));
        }
        // Taken out while it is read on: if that fails or is not awaited, it begins anew the next time.
        let Known { mut trace, mut replay } = known.take().unwrap_or_default();
        let frames = match runs.read_on(run, &mut replay).await {
            Ok(frames) => frames,
            Err(engine::Error::NotFound(_) | engine::Error::Log(log::Error::Damaged { .. })) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !frames.is_empty() {
            Arc::make_mut(&mut trace).extend(&frames, site.server.sockets.snapshot_iterations);
        }
        if trace.ended_at.is_some() {
            replay = Replay::default();
        }
        *known = Some(Known { trace: trace.clone(), replay });
        Ok(Some(trace))
    }

    fn followed(&self, run: &Arc<str>, max: usize) -> Arc<Followed> {
        let mut all = self.all();
        let followed = all.entry(run.clone()).or_default().clone();
        if all.len() > max {
            all.pop_first();
        }
        followed
    }

    /// Forgets all runs but these.
    pub(super) fn keep(&self, runs: &[Arc<str>]) {
        self.all().retain(|run, _| runs.contains(run));
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Arc<Followed>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use consort_core::event::Timing;
    use consort_core::frame::field::{ConversationPlace, ResponseType, Review, TaskPlace};
    use serde_json::Value;

    use super::*;
    use crate::ws::calls::ModelCall;

    fn frames(frames: Vec<Frame>) -> Vec<ring::Frame> {
        let event = |(seq, frame): (usize, Frame)| {
            let seq = seq as Seq;
            let frame = EventFrame::Run(RunFrame { run_id: "run-1".into(), seq, frame, inherited: false, at: Iso(1) });
            ring::Frame::Event { seq, text: frame.text().into(), frame: Arc::new(frame) }
        };
        frames.into_iter().enumerate().map(event).collect()
    }

    fn turn(role: &str) -> ConversationPlace {
        ConversationPlace { agent_role: role.to_owned(), turn_id: role.to_owned(), ..ConversationPlace::default() }
    }

    fn started(role: &str, iteration_index: u32) -> Frame {
        let model = String::new();
        let messages = Vec::new();
        Frame::LlmIterationStarted {
            conversation: turn(role),
            iteration_index,
            model,
            messages,
            total_message_count: 0,
        }
    }

    fn completed(role: &str, index: u32) -> Frame {
        Frame::LlmIterationCompleted {
            conversation: turn(role),
            iteration_index: Some(index),
            response_type: ResponseType::FinalAnswer,
            response_text: None,
            tool_requests: None,
            truncated: None,
            input_tokens: 0,
            output_tokens: 0,
            latency_ms: 0,
        }
    }

    /// Returns the conversation and the index of each call, and whether it has ended.
    fn calls(trace: &Trace) -> Vec<(String, u64, bool)> {
        let call = |call: &ModelCall| {
            let started: Value = serde_json::from_str(call.started.text(Form::Whole)).unwrap();
            let conversation = started["turnId"].as_str().unwrap().to_owned();
            (conversation, started["iterationIndex"].as_u64().unwrap(), call.completed.is_some())
        };
        trace.calls.all().map(call).collect()
    }

    fn call(conversation: &str, index: u64, has_ended: bool) -> (String, u64, bool) {
        (conversation.to_owned(), index, has_ended)
    }

    #[test]
    fn of_each_conversation_the_newest_calls_are_kept_and_those_under_way() {
        let all = vec![started("a", 0), completed("a", 0), started("b", 0), started("a", 1), completed("a", 1)];
        let trace = Trace::of(&frames([all, vec![completed("c", 0)]].concat()), 1);
        assert_eq!(calls(&trace), [call("b", 0, false), call("a", 1, true)]);
        let again = vec![started("a", 0), started("a", 0)];
        assert_eq!(calls(&Trace::of(&frames(again), 5)), [call("a", 0, false)]);
        let task = TaskPlace { conversation: turn("a"), task_name: None };
        let failed =
            Frame::TaskFailed { task, failed_at: Iso(1), reason: String::new(), cancelled: None, partial_output: None };
        assert!(Trace::of(&frames(vec![started("a", 0), failed]), 5).calls.all().next().is_none());
        assert!(Trace::of(&frames(vec![started("a", 0), completed("a", 0)]), 0).calls.all().next().is_none());
    }

    #[test]
    fn open_reviews_are_told_and_decided_ones_are_not() {
        let requested = |id: &str| {
            Frame::ReviewRequested(Review {
                task: TaskPlace::default(),
                review_id: id.to_owned(),
                task_output: Default::default(),
                truncated: false,
                timing: Timing::AfterExecution,
                timeout_ms: 0,
                on_timeout: None,
                created_at: Iso(1),
                expires_at: None,
                prompt: None,
                options: None,
            })
        };
        let closed = Frame::ReviewClosed { review_id: "1".to_owned() };
        let trace = Trace::of(&frames(vec![requested("1"), requested("2"), closed]), 5);
        assert_eq!(trace.reviews.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["2"]);
        assert!(trace.kept.is_empty());
    }
}
