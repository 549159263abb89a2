//! The parts of a run as it is shown: tasks, conversations, reviews and the result.

use std::time::Duration;

use consort_core::status::Status;
use serde_json::Value;

/// Characters kept of a model's current text: more than any line shows.
const TAIL_CHARS: usize = 300;

/// A task and the subtasks below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Task {
    /// The task itself.
    pub(crate) conversation: Conversation,
    /// The positions of the tasks it reads from.
    pub(crate) reads: Vec<usize>,
    /// Its instances and its delegated subtasks, in the order they began; the subtasks of
    /// an instance follow it.
    pub(crate) subtasks: Vec<Conversation>,
}

/// One conversation with a model: a task or a subtask.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conversation {
    /// Its path in the run, such as `2` or `2.0.1`.
    pub(crate) id: String,
    /// The task's name or the subtask's title.
    pub(crate) name: String,
    /// Its current state.
    pub(crate) state: State,
    /// The model it called last.
    pub(crate) model: String,
    /// The time it began.
    pub(crate) began: Option<Duration>,
    /// The duration, once it has ended.
    pub(crate) took: Option<Duration>,
    /// Tokens used, as far as models report them.
    pub(crate) tokens: Option<u64>,
    /// The cost so far, where there are prices.
    pub(crate) cost: Option<f64>,
    /// Its output as data, when it has a schema.
    pub(crate) parsed: Option<Value>,
}

/// The state of a task or subtask.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum State {
    /// It has not begun yet.
    #[default]
    Pending,
    /// Its instances are under way.
    Split,
    /// It waits for a free slot of its model.
    Ready,
    /// The model has been called.
    Asking,
    /// The model is answering; the end of its text so far.
    Writing(String),
    /// The model requested tool calls.
    Calling {
        /// Calls that have not returned.
        left: usize,
        /// Calls that are active.
        open: Vec<Call>,
    },
    /// The model failed and is called again.
    Retrying {
        /// The time of the next attempt.
        at: Duration,
        /// The error.
        why: String,
    },
    /// A person is to decide.
    Reviewing {
        /// The time limit of the review; none when absent.
        due: Option<Duration>,
        /// The action after the time limit.
        then: &'static str,
    },
    /// It has its output.
    Done,
    /// It has failed.
    Failed(String),
    /// It was cancelled.
    Cancelled,
    /// It will not run.
    Skipped(String),
}

/// An active call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// Its path in the run.
    pub(crate) id: String,
    /// The tool and its arguments.
    pub(crate) what: String,
}

/// An open review.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Review {
    /// Its public id.
    pub(crate) id: String,
    /// The path of the task, subtask or call it is about.
    pub(crate) subject: String,
    /// The task's name.
    pub(crate) name: String,
    /// The subject of the decision.
    pub(crate) about: About,
    /// The time limit of the review; none when absent.
    pub(crate) due: Option<Duration>,
    /// The action after the time limit.
    pub(crate) then: &'static str,
    /// Whether the output was cut at the output limit.
    pub(crate) is_cut: bool,
}

/// The subject of a decision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum About {
    /// Whether a task may begin.
    Beginning,
    /// Whether this output is good.
    Output(String),
    /// The question of an agent.
    Question {
        /// The question.
        question: String,
        /// Answers to choose from, if there are any.
        options: Vec<String>,
    },
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunResult {
    /// The outcome.
    pub(crate) status: Status,
    /// The output of the task that completed last: as JSON and nothing else
    /// when the task has a schema.
    pub(crate) answer: Option<String>,
    /// The error, when it failed.
    pub(crate) error: Option<String>,
    /// The number of tasks that have an output.
    pub(crate) finished: usize,
    /// The duration.
    pub(crate) took: Duration,
    /// Tokens used, if every model reported them.
    pub(crate) tokens: Option<u64>,
    /// The cost, if every model has a price.
    pub(crate) cost: Option<f64>,
}

impl Conversation {
    pub(in crate::show) fn new(id: &str, name: String) -> Conversation {
        Conversation { id: id.to_owned(), name, ..Conversation::default() }
    }
}

impl State {
    /// Returns whether the state is final.
    pub(crate) fn has_ended(&self) -> bool {
        match self {
            State::Done | State::Failed(_) | State::Cancelled | State::Skipped(_) => true,
            State::Pending | State::Split | State::Ready | State::Asking | State::Writing(_) => false,
            State::Calling { .. } | State::Retrying { .. } | State::Reviewing { .. } => false,
        }
    }

    pub(super) fn calling(left: usize) -> State {
        State::Calling { left, open: Vec::new() }
    }

    pub(super) fn say(&mut self, words: &str, offset: usize) {
        // The beginning of an answer comes again where the connection was lost.
        let mut tail =
            if let (State::Writing(tail), 1..) = (&mut *self, offset) { std::mem::take(tail) } else { String::new() };
        tail.push_str(words);
        let excess = tail.chars().count().saturating_sub(TAIL_CHARS);
        tail.drain(..tail.char_indices().nth(excess).map_or(0, |(start, _)| start));
        *self = State::Writing(tail);
    }

    pub(super) fn open(&mut self, call: Call) {
        if let State::Calling { open, .. } = self {
            open.push(call);
        }
    }

    pub(super) fn close(&mut self, id: &str) {
        let State::Calling { left, open } = self else { return };
        open.retain(|call| call.id != id);
        *left = left.saturating_sub(1);
        if *left == 0 {
            *self = State::Ready;
        }
    }
}
