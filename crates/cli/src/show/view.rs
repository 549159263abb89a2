//! What a person watching a run wants to know, as a fold over its frames. A
//! moment is the time since the run began; it comes with each frame,
//! because nothing here looks at a clock.

use std::time::Duration;

use serde_json::Value;

use super::frame::Frame;
use super::words::one_line;

/// Characters kept of what a model is saying: more than any line shows.
const TAIL_CHARS: usize = 300;
/// Who leads a hierarchy; its frames do not say, because nobody declared it.
const MANAGER: &str = "manager";

/// A run as it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct View {
    /// The ensemble's name.
    pub(crate) ensemble: String,
    /// The tasks, as declared; in a hierarchy, the manager's alone.
    pub(crate) tasks: Vec<Task>,
    /// The number of the first of them.
    pub(crate) first: usize,
    /// The names of all tasks, as declared, and the roles of their agents.
    pub(crate) declared: Vec<(String, String)>,
    /// What keeps the whole run from going on as usual.
    pub(crate) hold: Option<String>,
    /// Reviews nobody has decided yet, the oldest first.
    pub(crate) reviews: Vec<Review>,
    /// The limit that ended it.
    pub(crate) breach: Option<String>,
    /// Names of tasks whose outputs were cut at the output limit.
    pub(crate) truncated: Vec<String>,
    /// Names of tasks that failed in the middle of an answer, and what they had said.
    pub(crate) partial: Vec<(String, String)>,
    /// How it ended.
    pub(crate) result: Option<RunResult>,
}

/// A task and the subtasks below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Task {
    /// The task itself.
    pub(crate) turn: Turn,
    /// The positions of the tasks it reads from.
    pub(crate) reads: Vec<usize>,
    /// What it has handed on, in the order that happened.
    pub(crate) subtasks: Vec<Turn>,
}

/// One conversation with a model: a task or a subtask.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Turn {
    /// Its place in the run, such as `2` or `2.0.1`.
    pub(crate) id: String,
    /// The task's name or the subtask's title.
    pub(crate) name: String,
    /// What it is doing.
    pub(crate) state: State,
    /// The model it asked last.
    pub(crate) model: String,
    /// When it began.
    pub(crate) began: Option<Duration>,
    /// How long it took, once it has ended.
    pub(crate) took: Option<Duration>,
    /// Tokens it has used, as far as models say.
    pub(crate) tokens: Option<u64>,
    /// What that costs, where there are prices.
    pub(crate) cost: Option<f64>,
    /// Its output as data, when it has a schema.
    pub(crate) parsed: Option<Value>,
}

/// What a turn is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum State {
    /// Not begun yet.
    #[default]
    Pending,
    /// It could ask its model, if that had a free slot.
    Ready,
    /// The model has been asked.
    Asking,
    /// The model is talking; the end of what it has said.
    Writing(String),
    /// The model wants calls made.
    Calling {
        /// Calls that have not returned.
        left: usize,
        /// Those that are under way.
        open: Vec<Call>,
    },
    /// The model failed and is asked again.
    Retrying {
        /// When.
        at: Duration,
        /// What went wrong.
        why: String,
    },
    /// A person is to decide.
    Reviewing {
        /// How long that is waited for; for ever when absent.
        due: Option<Duration>,
        /// What happens then.
        then: &'static str,
    },
    /// It has its output.
    Done,
    /// It has failed.
    Failed(String),
    /// It was stopped.
    Cancelled,
    /// It will not run.
    Skipped(String),
}

/// A call under way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// Its place in the run.
    pub(crate) id: String,
    /// What is called, with what.
    pub(crate) what: String,
}

/// A decision that is waited for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Review {
    /// Its public id.
    pub(crate) id: String,
    /// The place of the turn or the call it is about.
    pub(crate) turn: String,
    /// The task's name.
    pub(crate) name: String,
    /// What is to be decided.
    pub(crate) about: About,
    /// How long it is waited for; for ever when absent.
    pub(crate) due: Option<Duration>,
    /// What happens then.
    pub(crate) then: &'static str,
}

/// What a person is to decide.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum About {
    /// Whether a task may begin.
    Beginning,
    /// Whether this output is good.
    Output(String),
    /// What an agent asks.
    Question {
        /// The question.
        question: String,
        /// Answers to choose from, if there are any.
        options: Vec<String>,
    },
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunResult {
    /// How it ended.
    pub(crate) status: Status,
    /// The output of the task that completed last: as JSON and nothing else
    /// when the task has a schema.
    pub(crate) answer: Option<String>,
    /// Why it failed.
    pub(crate) error: Option<String>,
    /// Tasks that have an output.
    pub(crate) finished: usize,
    /// How long it took.
    pub(crate) took: Duration,
    /// Tokens used, if every model said.
    pub(crate) tokens: Option<u64>,
    /// What it cost, if every model has a price.
    pub(crate) cost: Option<f64>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// It did what it could.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped.
    Cancelled,
}

impl State {
    /// Whether nothing more happens.
    pub(crate) fn has_ended(&self) -> bool {
        match self {
            State::Done | State::Failed(_) | State::Cancelled | State::Skipped(_) => true,
            State::Pending | State::Ready | State::Asking | State::Writing(_) => false,
            State::Calling { .. } | State::Retrying { .. } | State::Reviewing { .. } => false,
        }
    }
}

impl View {
    /// Takes note of a frame that came at `now`. Kinds nobody here knows are
    /// passed over, as any reader of frames should.
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

    /// Tasks that have their output; in a hierarchy, those a worker has done.
    pub(crate) fn finished(&self) -> usize {
        if self.first > 1 {
            let is_done = |role: &str| self.turns().any(|turn| turn.state == State::Done && turn.name == role);
            return self.declared.iter().filter(|(_, role)| is_done(role)).count();
        }
        self.tasks.iter().filter(|task| task.turn.state == State::Done).count()
    }

    /// Tokens used so far, as far as models say.
    pub(crate) fn tokens(&self) -> Option<u64> {
        let known: Vec<u64> = self.turns().filter_map(|turn| turn.tokens).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// What that costs, where there are prices.
    pub(crate) fn cost(&self) -> Option<f64> {
        let known: Vec<f64> = self.turns().filter_map(|turn| turn.cost).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// The names of the tasks this one reads from that have not ended.
    pub(crate) fn waits_for<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a str> {
        let read = task.reads.iter().filter_map(|position| self.tasks.get(*position));
        read.filter(|read| !read.turn.state.has_ended()).map(|read| read.turn.name.as_str())
    }

    /// The task and the turn that a frame is about.
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

    /// The turn of this id, or the one above it that there is.
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

    /// The position of the task that a turn or a call belongs to.
    fn position(&self, id: &str) -> Option<usize> {
        let number: usize = id.split('.').next()?.parse().ok()?;
        number.checked_sub(self.first)
    }

    /// What was done so far was done by another run: it took no time of this
    /// one and cost it nothing.
    fn forked(&mut self, now: Duration) {
        for task in &mut self.tasks {
            for turn in std::iter::once(&mut task.turn).chain(&mut task.subtasks) {
                let under_way = turn.began.is_some() && !turn.state.has_ended();
                turn.began = under_way.then_some(now);
                (turn.took, turn.tokens, turn.cost) = (None, None, None);
            }
        }
    }

    /// A call became a turn of its own.
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

/// A turn or a call, the turn it belongs to, and so on up to the task.
fn above(id: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(id), |id| Some(id.rsplit_once('.')?.0.rsplit_once('.')?.0))
}

/// The positions of the tasks that a task reads from.
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

/// Which limit the run would have passed.
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

/// An output as it goes to the standard output: the JSON where there is a
/// schema, else what was said.
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
