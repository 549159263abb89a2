//! The summary of one run for late clients: the frames worth keeping, exactly as they
//! were sent, the newest model calls, and the open reviews. Built from the log; cached
//! for runs that have ended, which never change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use consort_core::frame::field::{Iso, TurnPlace};
use consort_core::frame::numbered::EventFrame;
use consort_core::frame::run::Frame;
use consort_log::{self as log, Seq};
use consort_runtime::engine::{self, Engine};
use consort_runtime::ring;
use serde_json::Value;

use crate::Site;
use crate::ws::hello::HELLO_MAX;

/// Characters of a long text in a frame that is shortened.
const SHORT_MAX: usize = 1000;

/// A frame as a value and as it is sent, perhaps with its long texts cut.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SentFrame {
    frame: Arc<EventFrame>,
    pub(super) text: Arc<str>,
}

impl SentFrame {
    /// Creates it from a frame as it is sent.
    #[cfg(test)]
    pub(super) fn new(frame: &Arc<EventFrame>) -> SentFrame {
        SentFrame { text: frame.text().into(), frame: frame.clone() }
    }

    /// Returns the time of the event, which orders frames of all runs.
    pub(super) fn at(&self) -> Iso {
        self.frame.at()
    }
}

/// A model call: its beginning and, when it has one, its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Iteration {
    key: Conversation,
    index: Option<u32>,
    pub(super) started: SentFrame,
    pub(super) completed: Option<SentFrame>,
}

/// The place of a conversation.
type Conversation = String;

/// One run, as a late client gets it.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// The number of events so far.
    pub(super) len: Seq,
    /// Its ensemble id and its start time, as `hello` quotes them.
    pub(super) started: Option<(String, Iso)>,
    /// The time it ended.
    pub(super) ended_at: Option<Iso>,
    pub(super) kept: Vec<SentFrame>,
    pub(super) iterations: Vec<Iteration>,
    /// Open reviews, by their ids.
    pub(super) reviews: Vec<(String, SentFrame)>,
    /// Whether long texts were cut already.
    pub(super) shortened: bool,
}

impl Trace {
    /// Folds a run's frames; of each conversation only the newest model calls are kept.
    pub(super) fn of(frames: &[ring::Frame], iterations_max: usize) -> Trace {
        let mut trace = Trace { len: frames.len() as Seq, ..Trace::default() };
        for frame in frames {
            if let ring::Frame::Event { frame, text, .. } = frame
                && let EventFrame::Run(event) = &**frame
            {
                trace.note(&event.frame, SentFrame { frame: frame.clone(), text: text.clone() }, iterations_max);
            }
        }
        if trace.kept.iter().map(|told| told.text.len()).sum::<usize>() > HELLO_MAX {
            trace.shortened = true;
            trace.kept = trace.kept.iter().map(shortened).collect();
        }
        trace
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no other frame opens or closes anything")]
    fn note(&mut self, frame: &Frame, told: SentFrame, iterations_max: usize) {
        match frame {
            Frame::EnsembleStarted { ensemble_id, started_at, .. } => {
                self.started = Some((ensemble_id.clone(), *started_at));
            }
            // The events before belong to another run, and have its start time.
            Frame::RunForked { .. } => self.started.iter_mut().for_each(|(_, started)| *started = told.at()),
            Frame::EnsembleCompleted { .. } => self.ended_at = Some(told.at()),
            Frame::LlmIterationStarted { turn, iteration_index, .. } => {
                self.begin(key(turn), Some(*iteration_index), &told);
            }
            Frame::LlmIterationCompleted { turn, iteration_index, .. } => {
                self.complete(&key(turn), *iteration_index, &told, iterations_max);
            }
            Frame::TaskCompleted { task, .. } | Frame::TaskFailed { task, .. } => self.give_up(&key(&task.turn)),
            Frame::ReviewRequested(review) => self.reviews.push((review.review_id.clone(), told.clone())),
            Frame::ReviewDecided { review_id, .. }
            | Frame::ReviewTimedOut { review_id, .. }
            | Frame::ReviewClosed { review_id } => self.reviews.retain(|(id, _)| id != review_id),
            _ => {}
        }
        if is_kept(frame) {
            self.kept.push(told);
        }
    }

    /// Records the beginning of a call; a call that is repeated replaces the one that failed.
    fn begin(&mut self, key: Conversation, index: Option<u32>, told: &SentFrame) {
        self.iterations.retain(|old| old.completed.is_some() || old.key != key || old.index != index);
        self.iterations.push(Iteration { key, index, started: told.clone(), completed: None });
    }

    fn complete(&mut self, key: &Conversation, index: Option<u32>, told: &SentFrame, iterations_max: usize) {
        let pending = |old: &&mut Iteration| old.completed.is_none() && old.key == *key && old.index == index;
        let Some(iteration) = self.iterations.iter_mut().find(pending) else { return };
        iteration.completed = Some(told.clone());
        let done = |old: &Iteration| old.completed.is_some() && old.key == *key;
        let mut excess = self.iterations.iter().filter(|old| done(old)).count().saturating_sub(iterations_max);
        self.iterations.retain(|old| {
            let drops = excess > 0 && done(old);
            excess -= usize::from(drops);
            !drops
        });
    }

    fn give_up(&mut self, key: &Conversation) {
        self.iterations.retain(|old| old.completed.is_some() || old.key != *key);
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

fn key(turn: &TurnPlace) -> Conversation {
    turn.turn_id.clone()
}

/// Returns the same frame with its long texts cut.
pub(super) fn shortened(told: &SentFrame) -> SentFrame {
    let mut json = told.frame.json();
    shorten(&mut json);
    SentFrame { frame: told.frame.clone(), text: json.to_string().into() }
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(SHORT_MAX) {
                text.truncate(end);
                text.push_str("... [truncated]");
            }
        }
        Value::Array(values) => values.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The traces of runs that have ended, of all owners together as many as one is shown. Ids
/// grow with time, so the first is the oldest.
#[derive(Default)]
pub(crate) struct Traces(Mutex<BTreeMap<Arc<str>, Arc<Trace>>>);

impl Traces {
    /// Returns the trace of a run; `None` when it has just been erased or cannot be read.
    pub(super) async fn of(
        &self,
        site: &Site,
        runs: &Engine,
        run: &Arc<str>,
    ) -> Result<Option<Arc<Trace>>, engine::Error> {
        if let Some(trace) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(run) {
            return Ok(Some(trace.clone()));
        }
        let frames = match runs.page(run, 0, usize::MAX).await {
            Ok(frames) => frames,
            Err(engine::Error::NotFound(_) | engine::Error::Log(log::Error::Damaged { .. })) => return Ok(None),
            Err(error) => return Err(error),
        };
        let trace = Arc::new(Trace::of(&frames, site.server.sockets.snapshot_iterations));
        if trace.ended_at.is_some() {
            let mut traces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            traces.insert(run.clone(), trace.clone());
            if traces.len() > site.server.sockets.retained_runs {
                traces.pop_first();
            }
        }
        Ok(Some(trace))
    }

    /// Forgets all runs but these.
    pub(super) fn keep(&self, runs: &[Arc<str>]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|run, _| runs.contains(run));
    }
}

#[cfg(test)]
mod tests {
    use consort_core::event::Timing;
    use consort_core::frame::field::{ResponseType, Review, TaskPlace};
    use consort_core::frame::numbered::RunFrame;

    use super::*;

    fn frames(frames: Vec<Frame>) -> Vec<ring::Frame> {
        let event = |(seq, frame): (usize, Frame)| {
            let seq = seq as Seq;
            let frame = EventFrame::Run(RunFrame { run_id: "run-1".into(), seq, frame, inherited: false, at: Iso(1) });
            ring::Frame::Event { seq, text: frame.text().into(), frame: Arc::new(frame) }
        };
        frames.into_iter().enumerate().map(event).collect()
    }

    fn turn(role: &str) -> TurnPlace {
        TurnPlace { agent_role: role.to_owned(), turn_id: role.to_owned(), ..TurnPlace::default() }
    }

    fn started(role: &str, iteration_index: u32) -> Frame {
        let model = String::new();
        let messages = Vec::new();
        Frame::LlmIterationStarted { turn: turn(role), iteration_index, model, messages, total_message_count: 0 }
    }

    fn completed(role: &str, index: u32) -> Frame {
        Frame::LlmIterationCompleted {
            turn: turn(role),
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

    fn calls(trace: &Trace) -> Vec<(&str, Option<u32>, bool)> {
        trace.iterations.iter().map(|call| (call.key.as_str(), call.index, call.completed.is_some())).collect()
    }

    #[test]
    fn of_each_conversation_the_newest_calls_are_kept_and_those_under_way() {
        let all = vec![started("a", 0), completed("a", 0), started("b", 0), started("a", 1), completed("a", 1)];
        let trace = Trace::of(&frames([all, vec![completed("c", 0)]].concat()), 1);
        assert_eq!(calls(&trace), [("b", Some(0), false), ("a", Some(1), true)]);
        let again = vec![started("a", 0), started("a", 0)];
        assert_eq!(calls(&Trace::of(&frames(again), 5)), [("a", Some(0), false)]);
        let task = TaskPlace { turn: turn("a"), task_name: None };
        let failed =
            Frame::TaskFailed { task, failed_at: Iso(1), reason: String::new(), cancelled: None, partial_output: None };
        assert!(Trace::of(&frames(vec![started("a", 0), failed]), 5).iterations.is_empty());
        assert!(Trace::of(&frames(vec![started("a", 0), completed("a", 0)]), 0).iterations.is_empty());
    }

    #[test]
    fn open_reviews_are_told_and_decided_ones_are_not() {
        let requested = |id: &str| {
            Frame::ReviewRequested(Review {
                task: TaskPlace::default(),
                review_id: id.to_owned(),
                task_output: Default::default(),
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

    #[test]
    fn long_texts_are_cut_wherever_they_are() {
        let long = "é".repeat(SHORT_MAX + 1);
        let frames = frames(vec![Frame::ReflectionStarted { task: TaskPlace { turn: turn(&long), task_name: None } }]);
        let ring::Frame::Event { frame, .. } = &frames[0] else { panic!("{frames:?}") };
        let short: Value = serde_json::from_str(&shortened(&SentFrame::new(frame)).text).unwrap();
        assert_eq!(short["agentRole"], format!("{}... [truncated]", "é".repeat(SHORT_MAX)));
    }
}
