//! The state of a run for a person who watches it, as a fold over its frames. Times
//! count from the start of the run and come with each frame, because nothing here
//! reads a clock.

use std::time::Duration;

use serde_json::Value;

use super::frame::Frame;
use super::words::one_line;

/// Characters kept of a model's current text: more than any line shows.
const TAIL_CHARS: usize = 300;
/// The name of the manager of a hierarchy; its frames do not name it, because it is
/// not declared.
const MANAGER: &str = "manager";

/// A run as it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct View {
    /// The ensemble's name.
    pub(crate) ensemble: String,
    /// The tasks, as declared; in a hierarchy, the manager's alone.
    pub(crate) tasks: Vec<Task>,
    /// The number of the first task.
    pub(crate) first: usize,
    /// The names of all tasks, as declared, and the roles of their agents.
    pub(crate) declared: Vec<(String, String)>,
    /// The reason why the whole run is held up.
    pub(crate) hold: Option<String>,
    /// Undecided reviews, the oldest first.
    pub(crate) reviews: Vec<Review>,
    /// The limit that ended the run.
    pub(crate) breach: Option<String>,
    /// Names of tasks whose outputs were cut at the output limit.
    pub(crate) truncated: Vec<String>,
    /// Names of tasks that failed in the middle of an answer, with the partial text.
    pub(crate) partial: Vec<(String, String)>,
    /// The outcome.
    pub(crate) result: Option<RunResult>,
}

/// A task and the subtasks below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Task {
    /// The task itself.
    pub(crate) turn: Turn,
    /// The positions of the tasks it reads from.
    pub(crate) reads: Vec<usize>,
    /// Its delegated subtasks, in the order they were delegated.
    pub(crate) subtasks: Vec<Turn>,
}

/// One conversation with a model: a task or a subtask.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Turn {
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
    pub(crate) turn: String,
    /// The task's name.
    pub(crate) name: String,
    /// The subject of the decision.
    pub(crate) about: About,
    /// The time limit of the review; none when absent.
    pub(crate) due: Option<Duration>,
    /// The action after the time limit.
    pub(crate) then: &'static str,
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

/// The final status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The run reached its end.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl State {
    /// Whether the state is final.
    pub(crate) fn has_ended(&self) -> bool {
        match self {
            State::Done | State::Failed(_) | State::Cancelled | State::Skipped(_) => true,
            State::Pending | State::Ready | State::Asking | State::Writing(_) => false,
            State::Calling { .. } | State::Retrying { .. } | State::Reviewing { .. } => false,
        }
    }
}

impl View {
    /// Applies a frame that came at `now`. Unknown types are ignored, as any reader of
    /// frames should do.
    pub(crate) fn apply(&mut self, frame: &Frame, now: Duration) {
        match frame.kind() {
            "run_accepted" => self.accepted(frame),
            "run_forked" => self.forked(now),
            "task_started" => self.change(frame, |turn| {
                turn.began.get_or_insert(now);
                turn.state = State::Ready;
            }),
            "llm_iteration_started" => self.change(frame, |turn| {
                frame.text("model").clone_into(&mut turn.model);
                turn.state = State::Asking;
            }),
            "model_retried" => self.change(frame, |turn| turn.state = State::Asking),
            "token" => self.change(frame, |turn| turn.state.say(frame.text("token"))),
            "model_failed" => self.change(frame, |turn| turn.state = after_failure(frame, now)),
            "llm_iteration_completed" => self.change(frame, |turn| turn.state = after_answer(frame)),
            "metrics_snapshot" => self.change(frame, |turn| {
                let (read, written) = (frame.count("inputTokens"), frame.count("outputTokens"));
                turn.tokens = read.zip(written).map(|(read, written)| read + written);
                turn.cost = frame.dollars("costEstimate");
            }),
            "tool_dispatched" => self.change(frame, |turn| turn.state.open(called(frame))),
            "chore_started" => self.change(frame, |turn| turn.state = State::calling(frame.list("toolNames").len())),
            "reflection_started" => self.change(frame, |turn| turn.state = State::Ready),
            "subtask_started" => self.delegated(frame.text("callId"), frame.text("title"), now),
            "delegation_started" => self.delegated(frame.text("delegationId"), frame.text("workerRole"), now),
            "tool_called" => self.returned(frame, now),
            "review_requested" => self.review_opened(frame, now),
            "review_decided" | "review_timed_out" | "review_closed" => self.review_over(frame.text("reviewId")),
            "task_completed" => {
                let cut = frame.value("truncated").is_some();
                self.truncated.extend(cut.then(|| one_line(frame.text("taskName"))));
                self.ended(frame, now, State::Done);
            }
            "task_failed" => {
                let said = frame.value("partialOutput").and_then(Value::as_str).map(str::to_owned);
                self.partial.extend(said.map(|said| (one_line(frame.text("taskName")), said)));
                self.ended(frame, now, failed(frame));
            }
            "task_skipped" => self.ended(frame, now, State::Skipped(one_line(frame.text("reason")))),
            "cancel_requested" => self.hold = Some("stopping".to_owned()),
            "run_paused" => self.hold = Some("paused".to_owned()),
            "run_resumed" => self.hold = None,
            "budget_exceeded" => self.breach = Some(breach(frame)),
            "run_result" => self.over(result(frame, self)),
            _ => {}
        }
    }

    /// Returns the number of tasks that have their output; in a hierarchy, those a worker
    /// has done.
    pub(crate) fn finished(&self) -> usize {
        if self.first > 1 {
            let is_done = |role: &str| self.turns().any(|turn| turn.state == State::Done && turn.name == role);
            return self.declared.iter().filter(|(_, role)| is_done(role)).count();
        }
        self.tasks.iter().filter(|task| task.turn.state == State::Done).count()
    }

    /// Returns the tokens used so far, as far as models report them.
    pub(crate) fn tokens(&self) -> Option<u64> {
        let known: Vec<u64> = self.turns().filter_map(|turn| turn.tokens).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// The cost so far, where there are prices.
    pub(crate) fn cost(&self) -> Option<f64> {
        let known: Vec<f64> = self.turns().filter_map(|turn| turn.cost).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// Returns the names of the tasks this one reads from that have not ended.
    pub(crate) fn waits_for<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a str> {
        let read = task.reads.iter().filter_map(|position| self.tasks.get(*position));
        read.filter(|read| !read.turn.state.has_ended()).map(|read| read.turn.name.as_str())
    }

    /// Returns the task, and the conversation in it, that a frame is about.
    pub(crate) fn turn(&self, frame: &Frame) -> Option<(&Task, &Turn)> {
        let id = frame.text("turnId");
        let task = self.tasks.get(self.position(id)?)?;
        let below = above(id).find_map(|id| task.subtasks.iter().find(|turn| turn.id == id));
        Some((task, below.unwrap_or(&task.turn)))
    }

    fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.tasks.iter().flat_map(|task| std::iter::once(&task.turn).chain(&task.subtasks))
    }

    fn accepted(&mut self, frame: &Frame) {
        frame.text("ensemble").clone_into(&mut self.ensemble);
        let declared = frame.list("tasks");
        let workflow = frame.text("workflow");
        let task = |(position, task): (usize, &Value)| {
            let name = task.get("name").and_then(Value::as_str).map(one_line).unwrap_or_default();
            let before = position.checked_sub(1).into_iter();
            let reads = if workflow == "SEQUENTIAL" { before.collect() } else { reads(task) };
            Task { turn: Turn::new(&(position + 1).to_string(), name), reads, subtasks: Vec::new() }
        };
        let text = |task: &Value, field: &str| task.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.declared = declared.iter().map(|task| (text(task, "name"), one_line(&text(task, "agentRole")))).collect();
        (self.first, self.tasks) = match workflow {
            "HIERARCHICAL" => {
                let number = declared.len() + 1;
                let turn = Turn::new(&number.to_string(), MANAGER.to_owned());
                (number, vec![Task { turn, ..Task::default() }])
            }
            _ => (1, declared.iter().enumerate().map(task).collect()),
        };
    }

    fn change(&mut self, frame: &Frame, change: impl FnOnce(&mut Turn)) {
        self.turn_at(frame.text("turnId")).map(change);
    }

    /// Returns the conversation of this id, or the nearest one above it.
    fn turn_at(&mut self, id: &str) -> Option<&mut Turn> {
        let task = self.task_of(id)?;
        let below = above(id).find_map(|id| task.subtasks.iter().position(|turn| turn.id == id));
        match below {
            Some(below) => task.subtasks.get_mut(below),
            None => Some(&mut task.turn),
        }
    }

    fn task_of(&mut self, id: &str) -> Option<&mut Task> {
        let position = self.position(id)?;
        self.tasks.get_mut(position)
    }

    /// Returns the position of the task that a conversation or a call belongs to.
    fn position(&self, id: &str) -> Option<usize> {
        let number: usize = id.split('.').next()?.parse().ok()?;
        number.checked_sub(self.first)
    }

    /// Resets times and costs: the work so far was done by another run.
    fn forked(&mut self, now: Duration) {
        for task in &mut self.tasks {
            for turn in std::iter::once(&mut task.turn).chain(&mut task.subtasks) {
                let under_way = turn.began.is_some() && !turn.state.has_ended();
                turn.began = under_way.then_some(now);
                (turn.took, turn.tokens, turn.cost) = (None, None, None);
            }
        }
    }

    /// Turns a call into a subtask.
    fn delegated(&mut self, id: &str, name: &str, now: Duration) {
        let name = one_line(name);
        let call = Call { id: id.to_owned(), what: format!("subtask {name}") };
        self.turn_at(id).into_iter().for_each(|turn| turn.state.open(call.clone()));
        let turn = Turn { state: State::Ready, began: Some(now), ..Turn::new(id, name) };
        self.task_of(id).into_iter().for_each(|task| task.subtasks.push(turn.clone()));
    }

    fn returned(&mut self, frame: &Frame, now: Duration) {
        let id = frame.text("callId");
        self.change(frame, |turn| turn.state.close(id));
        let Some(task) = self.task_of(id) else { return };
        if let Some(turn) = task.subtasks.iter_mut().find(|turn| turn.id == id) {
            turn.took = turn.began.map(|began| now.saturating_sub(began));
            turn.state = match frame.text("outcome") {
                "SUCCESS" => State::Done,
                _ => State::Failed(one_line(frame.text("toolResult"))),
            };
        }
    }

    fn review_opened(&mut self, frame: &Frame, now: Duration) {
        let due = frame.span("timeoutMs").filter(|timeout| !timeout.is_zero()).map(|timeout| now + timeout);
        let then = match frame.text("onTimeout") {
            "EXIT_EARLY" => "the run ends there",
            "FAIL" => "the task fails",
            _ => "the run goes on",
        };
        let turn = frame.text("turnId").to_owned();
        let about = about(frame);
        match &about {
            About::Beginning | About::Output(_) => {
                self.change(frame, |turn| turn.state = State::Reviewing { due, then });
            }
            About::Question { question, .. } => {
                let call = Call { id: turn.clone(), what: format!("asks you: {}", one_line(question)) };
                self.change(frame, |turn| turn.state.open(call));
            }
        }
        let (id, name) = (frame.text("reviewId").to_owned(), one_line(frame.text("taskName")));
        self.reviews.push(Review { id, turn, name, about, due, then });
    }

    fn review_over(&mut self, id: &str) {
        let Some(at) = self.reviews.iter().position(|review| review.id == id) else { return };
        let review = self.reviews.remove(at);
        let reviewed = self.turn_at(&review.turn).filter(|turn| matches!(turn.state, State::Reviewing { .. }));
        reviewed.into_iter().for_each(|turn| turn.state = State::Ready);
    }

    fn over(&mut self, result: RunResult) {
        self.hold = None;
        self.result = Some(result);
        let pending = self.tasks.iter_mut().filter(|task| task.turn.state == State::Pending);
        pending.for_each(|task| task.turn.state = State::Skipped("the run ended before it".to_owned()));
    }

    fn ended(&mut self, frame: &Frame, now: Duration, state: State) {
        let Some(Task { turn, .. }) = self.task_of(frame.text("turnId")) else { return };
        turn.took = frame.span("durationMs").or_else(|| turn.began.map(|began| now.saturating_sub(began)));
        turn.tokens = frame.count("tokenCount").or(turn.tokens);
        turn.parsed = frame.value("parsedOutput").filter(|parsed| !parsed.is_null()).cloned();
        turn.state = state;
    }
}

impl State {
    fn calling(left: usize) -> State {
        State::Calling { left, open: Vec::new() }
    }

    fn say(&mut self, words: &str) {
        let mut tail = if let State::Writing(tail) = self { std::mem::take(tail) } else { String::new() };
        tail.push_str(words);
        let excess = tail.chars().count().saturating_sub(TAIL_CHARS);
        tail.drain(..tail.char_indices().nth(excess).map_or(0, |(start, _)| start));
        *self = State::Writing(tail);
    }

    fn open(&mut self, call: Call) {
        if let State::Calling { open, .. } = self {
            open.push(call);
        }
    }

    fn close(&mut self, id: &str) {
        let State::Calling { left, open } = self else { return };
        open.retain(|call| call.id != id);
        *left = left.saturating_sub(1);
        if *left == 0 {
            *self = State::Ready;
        }
    }
}

impl Turn {
    fn new(id: &str, name: String) -> Turn {
        Turn { id: id.to_owned(), name, ..Turn::default() }
    }
}

/// Returns the id, the ids above it, and so on up to the task.
fn above(id: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(id), |id| Some(id.rsplit_once('.')?.0.rsplit_once('.')?.0))
}

/// Returns the positions of the tasks that a task reads from.
fn reads(task: &Value) -> Vec<usize> {
    let listed = task.get("context").and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(|number| usize::try_from(number.as_u64()?).ok()?.checked_sub(1)).collect()
}

fn about(frame: &Frame) -> About {
    let options = || frame.list("options").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    match frame.text("timing") {
        "BEFORE_EXECUTION" => About::Beginning,
        "DURING_EXECUTION" => About::Question { question: frame.text("prompt").to_owned(), options: options() },
        _ => About::Output(frame.text("taskOutput").to_owned()),
    }
}

/// Describes the limit that the run would have exceeded.
pub(crate) fn breach(frame: &Frame) -> String {
    let number = |name: &str| frame.value(name).map(ToString::to_string).unwrap_or_default();
    let reason = frame.text("reason").replace('_', " ");
    format!("the budget for {reason} is used up: {} would pass the limit of {}", number("observed"), number("limit"))
}

fn called(frame: &Frame) -> Call {
    let what = format!("tool {} {}", frame.text("toolName"), frame.text("toolArguments"));
    Call { id: frame.text("callId").to_owned(), what: one_line(&what) }
}

fn after_answer(frame: &Frame) -> State {
    match frame.list("toolRequests").len() {
        0 => State::Ready,
        left => State::calling(left),
    }
}

fn after_failure(frame: &Frame, now: Duration) -> State {
    match frame.wait("then/at") {
        Some(wait) => State::Retrying { at: now + wait, why: one_line(frame.text("message")) },
        None => State::Ready,
    }
}

fn failed(frame: &Frame) -> State {
    let cancelled = frame.value("cancelled").is_some();
    if cancelled { State::Cancelled } else { State::Failed(one_line(frame.text("reason"))) }
}

/// Returns an output for the standard output: the JSON where there is a schema, else
/// the text.
fn answer(output: &Value, view: &View) -> Option<String> {
    let told = output.get("parsedOutput").filter(|parsed| !parsed.is_null());
    let known = || {
        let name = output.get("taskName")?.as_str()?;
        let task = view.tasks.iter().find(|task| task.turn.name == one_line(name))?;
        task.turn.parsed.as_ref()
    };
    let parsed = told.or_else(known).map(ToString::to_string);
    parsed.or_else(|| output.get("output")?.as_str().map(str::to_owned))
}

fn result(frame: &Frame, view: &View) -> RunResult {
    let outputs = frame.list("outputs");
    // A manager's output is not that of a task.
    let of_task = |output: &&Value| {
        let name = output.get("taskName").and_then(Value::as_str);
        name.is_none_or(|name| view.declared.iter().any(|(known, _)| known == name))
    };
    let (read, written) =
        (frame.dollars("metrics/costEstimate/inputCost"), frame.dollars("metrics/costEstimate/outputCost"));
    RunResult {
        status: match frame.text("status") {
            "COMPLETED" => Status::Completed,
            "CANCELLED" => Status::Cancelled,
            _ => Status::Failed,
        },
        answer: outputs.last().and_then(|last| answer(last, view)),
        error: frame.value("error").and_then(Value::as_str).map(str::to_owned),
        finished: outputs.iter().filter(of_task).count(),
        took: frame.span("durationMs").unwrap_or_default(),
        tokens: frame.count("metrics/totalTokens"),
        cost: read.zip(written).map(|(read, written)| read + written),
    }
}
