//! What a late client is told about one run: the frames worth keeping, exactly
//! as they were sent, the newest model calls, and what waits for a person.
//! Made from the log; kept for runs that have ended, which never change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use consort_log::{self as log, Seq};
use consort_runtime::engine;
use serde_json::Value;

use crate::Site;
use crate::ws::hello::HELLO_MAX;

/// The types of frames worth keeping. Words, model calls and directives pass.
const KEPT: [&str; 13] = [
    "ensemble_started",
    "ensemble_completed",
    "task_started",
    "task_input",
    "task_completed",
    "task_failed",
    "task_skipped",
    "tool_called",
    "delegation_started",
    "delegation_completed",
    "delegation_failed",
    "metrics_snapshot",
    "file_changed",
];
/// Characters of a long text in a frame that is shortened.
const SHORT_MAX: usize = 1000;

/// A frame and when its event was decided, which orders frames of all runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) at: String,
    pub(super) text: Arc<str>,
}

/// A model call: its beginning and, when it has one, its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Iteration {
    key: (String, String),
    index: Option<u64>,
    pub(super) started: Told,
    pub(super) completed: Option<Arc<str>>,
}

/// One run, as a late client is told about it.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// Events so far.
    pub(super) len: Seq,
    /// Its id as an ensemble and when it started, as `hello` quotes them.
    pub(super) started: Option<(Value, Value)>,
    /// When it ended.
    pub(super) ended_at: Option<String>,
    pub(super) kept: Vec<Told>,
    pub(super) iterations: Vec<Iteration>,
    /// Open reviews, by their ids.
    pub(super) reviews: Vec<(String, Told)>,
    /// Whether long texts were cut already.
    pub(super) shortened: bool,
}

impl Trace {
    /// Folds a run's frames; of each conversation so many model calls are kept.
    pub(super) fn of(frames: &[Arc<str>], iterations_max: usize) -> Trace {
        let mut trace = Trace { len: frames.len() as Seq, ..Trace::default() };
        for text in frames {
            let frame: Value = serde_json::from_str(text).unwrap_or_default();
            let told = Told { at: word(&frame, "at"), text: text.clone() };
            trace.note(&frame, told, iterations_max);
        }
        if trace.kept.iter().map(|told| told.text.len()).sum::<usize>() > HELLO_MAX {
            trace.shortened = true;
            trace.kept = trace.kept.iter().map(shortened).collect();
        }
        trace
    }

    fn note(&mut self, frame: &Value, told: Told, iterations_max: usize) {
        let kind = word(frame, "type");
        match kind.as_str() {
            "ensemble_started" => {
                let field = |name| frame.get(name).cloned().unwrap_or_default();
                self.started = Some((field("ensembleId"), field("startedAt")));
            }
            // What comes before is another run's, and began when that did.
            "run_forked" => {
                let at = frame.get("at").cloned().unwrap_or_default();
                self.started.iter_mut().for_each(|(_, started)| started.clone_from(&at));
            }
            "ensemble_completed" => self.ended_at = Some(told.at.clone()),
            "llm_iteration_started" => self.begin(frame, &told),
            "llm_iteration_completed" => self.complete(frame, &told, iterations_max),
            "task_completed" | "task_failed" => self.give_up(&key(frame)),
            "review_requested" => self.reviews.push((word(frame, "reviewId"), told.clone())),
            "review_decided" | "review_timed_out" | "review_closed" => {
                let decided = word(frame, "reviewId");
                self.reviews.retain(|(id, _)| *id != decided);
            }
            _ => {}
        }
        if KEPT.contains(&kind.as_str()) {
            self.kept.push(told);
        }
    }

    /// A call that begins again takes the place of the one that failed.
    fn begin(&mut self, frame: &Value, told: &Told) {
        let (key, index) = (key(frame), index(frame));
        self.iterations.retain(|old| old.completed.is_some() || old.key != key || old.index != index);
        self.iterations.push(Iteration { key, index, started: told.clone(), completed: None });
    }

    fn complete(&mut self, frame: &Value, told: &Told, iterations_max: usize) {
        let (key, index) = (key(frame), index(frame));
        let pending = |old: &&mut Iteration| old.completed.is_none() && old.key == key && old.index == index;
        let Some(iteration) = self.iterations.iter_mut().find(pending) else { return };
        iteration.completed = Some(told.text.clone());
        let done = |old: &Iteration| old.completed.is_some() && old.key == key;
        let mut excess = self.iterations.iter().filter(|old| done(old)).count().saturating_sub(iterations_max);
        self.iterations.retain(|old| {
            let drops = excess > 0 && done(old);
            excess -= usize::from(drops);
            !drops
        });
    }

    fn give_up(&mut self, key: &(String, String)) {
        self.iterations.retain(|old| old.completed.is_some() || old.key != *key);
    }
}

/// The same frame with its long texts cut.
pub(super) fn shortened(told: &Told) -> Told {
    let mut frame: Value = serde_json::from_str(&told.text).unwrap_or_default();
    shorten(&mut frame);
    Told { at: told.at.clone(), text: frame.to_string().into() }
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

fn word(frame: &Value, name: &str) -> String {
    frame.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The conversation a frame belongs to.
fn key(frame: &Value) -> (String, String) {
    (word(frame, "agentRole"), word(frame, "taskDescription"))
}

fn index(frame: &Value) -> Option<u64> {
    frame.get("iterationIndex").and_then(Value::as_u64)
}

/// The traces of runs that have ended, as many as are retained.
#[derive(Default)]
pub(crate) struct Traces(Mutex<HashMap<Arc<str>, Arc<Trace>>>);

impl Traces {
    /// The trace of a run; none when it has just been erased or cannot be read.
    pub(super) async fn of(&self, site: &Site, run: &Arc<str>) -> Result<Option<Arc<Trace>>, engine::Error> {
        if let Some(trace) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(run) {
            return Ok(Some(trace.clone()));
        }
        let frames = match site.engine().page(run, 0, usize::MAX).await {
            Ok(frames) => frames,
            Err(engine::Error::NotFound(_) | engine::Error::Log(log::Error::Damaged { .. })) => return Ok(None),
            Err(error) => return Err(error),
        };
        let trace = Arc::new(Trace::of(&frames, site.server.sockets.snapshot_iterations));
        if trace.ended_at.is_some() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone(), trace.clone());
        }
        Ok(Some(trace))
    }

    /// Forgets all but these.
    pub(super) fn keep(&self, runs: &[Arc<str>]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|run, _| runs.contains(run));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn frames(frames: &[Value]) -> Vec<Arc<str>> {
        frames.iter().map(|frame| frame.to_string().into()).collect()
    }

    fn call(kind: &str, role: &str, index: u64) -> Value {
        let kind = format!("llm_iteration_{kind}");
        json!({ "type": kind, "agentRole": role, "taskDescription": "t", "iterationIndex": index, "at": "1" })
    }

    fn calls(trace: &Trace) -> Vec<(String, Option<u64>, bool)> {
        trace.iterations.iter().map(|call| (call.key.0.clone(), call.index, call.completed.is_some())).collect()
    }

    #[test]
    fn of_each_conversation_the_newest_calls_are_kept_and_those_under_way() {
        let started = [call("started", "a", 0), call("completed", "a", 0), call("started", "b", 0)];
        let later = [call("started", "a", 1), call("completed", "a", 1), call("completed", "c", 0)];
        let trace = Trace::of(&frames(&[started, later].concat()), 1);
        assert_eq!(calls(&trace), [("b".to_owned(), Some(0), false), ("a".to_owned(), Some(1), true)]);
        let again = [call("started", "a", 0), call("started", "a", 0)];
        assert_eq!(calls(&Trace::of(&frames(&again), 5)), [("a".to_owned(), Some(0), false)]);
        let failed = json!({ "type": "task_failed", "agentRole": "a", "taskDescription": "t" });
        assert!(Trace::of(&frames(&[call("started", "a", 0), failed]), 5).iterations.is_empty());
        let none = [call("started", "a", 0), call("completed", "a", 0)];
        assert!(Trace::of(&frames(&none), 0).iterations.is_empty());
    }

    #[test]
    fn open_reviews_are_told_and_decided_ones_are_not() {
        let review = |kind: &str, id: &str| json!({ "type": kind, "reviewId": id });
        let all = [review("review_requested", "1"), review("review_requested", "2"), review("review_decided", "1")];
        let trace = Trace::of(&frames(&all), 5);
        assert_eq!(trace.reviews.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["2"]);
        assert!(trace.kept.is_empty());
    }

    #[test]
    fn long_texts_are_cut_wherever_they_are() {
        let long = json!({ "at": "1", "x": [{ "y": "é".repeat(SHORT_MAX + 1) }] });
        let short = shortened(&Told { at: "1".to_owned(), text: long.to_string().into() });
        let cut = format!("{}... [truncated]", "é".repeat(SHORT_MAX));
        assert_eq!(serde_json::from_str::<Value>(&short.text).unwrap()["x"][0]["y"], cut);
    }
}
