//! One small run for each feature of runs: the request,
//! the answers of models and people, and the expected end.

use std::sync::Arc;

use consort_core::agent::Agent;
use consort_core::budget::Limits;
use consort_core::catalog::ModelInfo;
use consort_core::decide::Command;
use consort_core::draft::{Draft, Ensemble};
use consort_core::edit::Edits;
use consort_core::event::{CancelMode, Decision, Directive, Priority};
use consort_core::fork::Keep;
use consort_core::message::{FailureKind, Stop};
use consort_core::own_tool::OwnTool;
use consort_core::spec::{OnError, OnTimeout, OnTruncated, Review, ReviewRule, Workflow};
use consort_models::{Ask, Line, ScriptedModel};
use consort_tools::ScriptedTool;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{after, ensemble, failure, task, tools};

/// Scenarios by name.
pub(super) type Table = [(&'static str, fn() -> Scenario)];

/// Tasks, tools and subtasks.
pub(super) const WORK: &Table = &[
    ("a sequence", sequence),
    ("a graph", graph),
    ("calls side by side", side_by_side),
    ("calls one by one", one_by_one),
    ("an exclusive lock", exclusive),
    ("subtasks in subtasks", nested),
    ("a repaired output", repaired),
    ("a cut answer, continued", continued),
    ("a cut call and a blank reply, asked again", asked_again),
    ("a last round", last_round),
    ("a peer", delegated),
    ("a manager", managed),
    ("no model at all", handled),
    ("guardrails that agree", guarded),
    ("memory and reflection", remembered),
    ("a failed run, retried", retried_run),
    ("a run, forked within a task", forked),
    ("a run, forked with another output of a task", forked_with_an_edited_output),
];

/// Scenarios for all commands of people.
pub(super) const PEOPLE: &Table = &[
    ("a directive", directed),
    ("another model", switched),
    ("a pause", paused),
    ("cancel after the task", || cancelled(CancelMode::AfterTask, &["a: first"])),
    ("cancel after the iteration", || cancelled(CancelMode::AfterIteration, &[])),
    ("cancel now", || cancelled(CancelMode::Now, &[])),
    ("cancel now, between calls and answers", cancelled_calls),
    ("cancel now, with subtasks", cancelled_subtasks),
    ("go on, before", || reviewed(before(), Decision::Continue, &["a: first", "b: second"])),
    ("edit, before", || reviewed(before(), edit(), &["a: first", "b: second"])),
    ("enough, before", || reviewed(before(), Decision::ExitEarly, &[])),
    ("again, before", || reviewed(before(), reject(), &["a: first", "b: second"])),
    ("go on, after", || reviewed(afterwards(), Decision::Continue, &["a: first", "b: second"])),
    ("edit, after", || reviewed(afterwards(), edit(), &["a: edited", "b: second"])),
    ("enough, after", || reviewed(afterwards(), Decision::ExitEarly, &["a: first"])),
    ("again, after", again),
    ("a question to a person", asked),
    ("nobody, so go on", || unattended(OnTimeout::Continue, ("COMPLETED", &["a: first", "b: second"]))),
    ("nobody, so enough", || unattended(OnTimeout::ExitEarly, ("COMPLETED", &["a: first"]))),
    ("nobody, so fail", || unattended(OnTimeout::Fail, ("FAILED", &[]))),
];

/// Scenarios for failures and limits.
pub(super) const TROUBLE: &Table = &[
    ("a retry", retried),
    ("a fallback", fell_back),
    ("a failed task", || failed(OnError::FailFast)),
    ("a failed task among others", || failed(OnError::ContinueOnError)),
    ("a breached budget", breached),
    ("an answer without an end", endless),
    ("an answer without words", silent),
    ("a call that always fails", repeating),
    ("a history too long", forgetful),
    ("a history too long for the model", overflowing),
];

/// A run that has ended, and the part of it that a new run keeps.
pub(super) struct Before {
    pub(super) main: ScriptedModel,
    pub(super) keep: Keep,
    pub(super) edits: Edits,
}

/// A run and its expected end.
pub(super) struct Scenario {
    pub(super) ensemble: Ensemble,
    /// The run it continues, if any.
    pub(super) before: Option<Before>,
    pub(super) main: ScriptedModel,
    pub(super) spare: ScriptedModel,
    pub(super) tools: Vec<ScriptedTool>,
    /// The commands, each sent after so many frames of a type.
    pub(super) steering: Vec<(&'static str, usize, Command)>,
    /// The gate at which models and tools wait until the first
    /// command has been sent; without commands, until the next frame.
    pub(super) gate: Arc<Notify>,
    pub(super) status: &'static str,
    /// The expected outputs, each after its task's name.
    pub(super) outputs: Vec<&'static str>,
    /// Types of frames that prove that the scenario tests what its name says.
    pub(super) shows: Vec<&'static str>,
}

impl Scenario {
    /// Returns a scenario of tasks whose models play these lines, all of which complete.
    pub(super) fn new(tasks: Vec<Draft>, model: ScriptedModel, outputs: &[&'static str]) -> Scenario {
        Scenario {
            ensemble: ensemble(tasks),
            before: None,
            main: model,
            spare: ScriptedModel::new(),
            tools: tools(),
            steering: Vec::new(),
            gate: Arc::default(),
            status: "COMPLETED",
            outputs: outputs.to_vec(),
            shows: Vec::new(),
        }
    }

    /// Returns the scenario as a continuation of a run with another model.
    pub(super) fn goes_on(self, main: ScriptedModel, keep: Keep) -> Scenario {
        Scenario { before: Some(Before { main, keep, edits: Edits::default() }), ..self }.shows("run_forked")
    }

    /// Returns the scenario with another output of a task of the run it continues.
    fn edits(mut self, task: &str, output: &str) -> Scenario {
        if let Some(before) = &mut self.before {
            before.edits.outputs.insert(task.to_owned(), output.to_owned());
        }
        self
    }

    pub(super) fn ends(self, status: &'static str) -> Scenario {
        Scenario { status, ..self }
    }

    pub(super) fn shows(mut self, kind: &'static str) -> Scenario {
        self.shows.push(kind);
        self
    }

    pub(super) fn after(mut self, kind: &'static str, times: usize, command: Command) -> Scenario {
        self.steering.push((kind, times, command));
        self
    }

    fn limits(mut self, limits: Limits) -> Scenario {
        self.ensemble.limits = limits;
        self
    }

    fn falls_back_to(self, spare: ScriptedModel) -> Scenario {
        Scenario { spare, ..self }
    }

    fn tool(mut self, tool: ScriptedTool) -> Scenario {
        self.tools.push(tool);
        self
    }
}

fn me() -> String {
    "me".to_owned()
}

fn input(text: &str) -> Value {
    json!({ "input": text })
}

fn part(title: &str) -> Value {
    json!({ "title": title, "instructions": format!("Do {title}") })
}

fn edit() -> Decision {
    Decision::Edit { output: "edited".into() }
}

fn reject() -> Decision {
    Decision::Reject { feedback: "better".into() }
}

fn decide(review: u32, decision: Decision) -> Command {
    Command::Review { review, decision, by: me() }
}

/// Returns a script in which task `a` looks and says `first`, and task `b` says `second`.
fn two_lines() -> ScriptedModel {
    ScriptedModel::new().calls("1.0", "look", &input("")).says("1.1", "first").says("2.0", "second")
}

fn two_tasks() -> Vec<Draft> {
    vec![task("a", &["look"]), task("b", &[])]
}

fn sequence() -> Scenario {
    let tasks = vec![task("a", &["look"]), after(&["a"], task("b", &["pay"])), task("c", &[])];
    let model = ScriptedModel::new().calls("1.0", "look", &input("")).says("1.1", "first");
    let model = model.calls("2.0", "pay", &input("")).says("2.1", "second").says("3.0", "third");
    Scenario::new(tasks, model, &["a: first", "b: second", "c: third"])
}

fn graph() -> Scenario {
    let either = |name| after(&["a"], task(name, &["put"]));
    let tasks = vec![task("a", &[]), either("b"), either("c"), after(&["b", "c"], task("d", &[]))];
    let model = ScriptedModel::new().says("1.0", "root").calls("2.0", "put", &input("b")).says("2.1", "left");
    let model = model.calls("3.0", "put", &input("c")).says("3.1", "right").says("4.0", "joined");
    Scenario::new(tasks, model, &["a: root", "b: left", "c: right", "d: joined"])
}

/// Returns a retry of a run whose second task failed; its first task pays, which is not repeated.
fn retried_run() -> Scenario {
    let tasks = vec![task("a", &["pay"]), after(&["a"], task("b", &["look"]))];
    let before = ScriptedModel::new().calls("1.0", "pay", &input("")).says("1.1", "first");
    let before = before.at("2.0", Line::new().breaks(failure(FailureKind::Refused)));
    let model = ScriptedModel::new().calls("2.0", "look", &input("")).says("2.1", "second");
    Scenario::new(tasks, model, &["a: first", "b: second"]).goes_on(before, Keep::Completed)
}

/// Returns a fork from a point where paying had begun; its end is recorded only after that point.
fn forked() -> Scenario {
    let before = ScriptedModel::new().calls("1.0", "pay", &input("")).says("1.1", "old").says("2.0", "old");
    let model = ScriptedModel::new().says("1.1", "first").says("2.0", "second");
    let tasks = vec![task("a", &["pay"]), task("b", &[])];
    Scenario::new(tasks, model, &["a: first", "b: second"]).goes_on(before, Keep::Before(Some(9)))
}

/// Returns a fork with another output of its first task, which pays and is not repeated.
fn forked_with_an_edited_output() -> Scenario {
    let before = ScriptedModel::new().calls("1.0", "pay", &input("")).says("1.1", "old").says("2.0", "old");
    let reads = |ask: &Ask| ask.messages.iter().any(|said| format!("{said:?}").contains("edited"));
    let model = ScriptedModel::new().when(reads, Line::new().says("second"));
    let tasks = vec![task("a", &["pay"]), after(&["a"], task("b", &[]))];
    let scenario = Scenario::new(tasks, model, &["a: edited", "b: second"]);
    scenario.goes_on(before, Keep::Before(None)).edits("a", "edited")
}

fn calls_of_every_class() -> ScriptedModel {
    let line = Line::new().calls("look", &input("")).calls("put", &input("")).calls("pay", &input("1"));
    ScriptedModel::new().at("1.0", line.calls("pay", &input("2"))).says("1.1", "done")
}

fn side_by_side() -> Scenario {
    Scenario::new(vec![task("a", &["look", "put", "pay"])], calls_of_every_class(), &["a: done"])
}

fn one_by_one() -> Scenario {
    side_by_side().limits(Limits { parallel_per_turn: 1, ..Limits::default() })
}

/// Returns two tasks that need the same exclusive tool, which takes a moment.
fn exclusive() -> Scenario {
    let model = ScriptedModel::new().calls("1.0", "door", &input("a")).calls("2.0", "door", &input("b"));
    let tasks = vec![task("a", &["door"]), task("b", &["door"])];
    let mut scenario = Scenario::new(tasks, model.says("1.1", "in").says("2.1", "in"), &["a: in", "b: in"]);
    scenario.ensemble.workflow = Some(Workflow::Parallel);
    scenario.tools = scenario.tools.into_iter().map(|tool| tool.waits(&scenario.gate).waits(&scenario.gate)).collect();
    scenario
}

/// Returns a task with two subtasks, the first of which has one of its own. The leaf plays its line.
fn subtasks(leaf: Line) -> Scenario {
    let all =
        Line::new().calls(OwnTool::RunSubtask.name(), &part("one")).calls(OwnTool::RunSubtask.name(), &part("two"));
    let model = ScriptedModel::new()
        .at("1.0", all.calls("pay", &input("")))
        .calls("1.0.0.0", OwnTool::RunSubtask.name(), &part("deep"))
        .calls("1.0.0.0.0.0", "put", &input(""))
        .at("1.0.0.0.0.1", leaf)
        .says("1.0.0.1", "one")
        .calls("1.0.1.0", "pay", &input(""))
        .says("1.0.1.1", "two")
        .says("1.1", "all of it");
    let scenario =
        Scenario::new(vec![task("a", &[OwnTool::RunSubtask.name(), "put", "pay"])], model, &["a: all of it"]);
    scenario.limits(Limits { depth: 2, ..Limits::default() }).shows("subtask_started")
}

fn nested() -> Scenario {
    subtasks(Line::new().says("deep"))
}

/// Returns an agent of this role, which may delegate work to others.
fn member(name: &str, role: &str, tools: &[&str]) -> Draft {
    let agent = Agent { role: role.to_owned(), allow_delegation: true, ..Agent::default() };
    Draft { agent: Some(agent), ..task(name, tools) }
}

fn errand(role: &str) -> Value {
    json!({ "agentRole": role, "taskDescription": "boil an egg" })
}

fn delegated() -> Scenario {
    let model = ScriptedModel::new().calls("1.0", OwnTool::Delegate.name(), &errand("Cook")).calls(
        "1.0.0.0",
        "pay",
        &input(""),
    );
    let model = model.says("1.0.0.1", "an egg").says("1.1", "served").says("2.0", "cleaned");
    let tasks = vec![member("a", "Waiter", &[]), member("b", "Cook", &["pay"])];
    Scenario::new(tasks, model, &["a: served", "b: cleaned"]).shows("delegation_completed")
}

fn managed() -> Scenario {
    let both = Line::new()
        .calls(OwnTool::DelegateTask.name(), &errand("Waiter"))
        .calls(OwnTool::DelegateTask.name(), &errand("Cook"));
    let model = ScriptedModel::new().at("3.0", both).says("3.0.0.0", "served").calls("3.0.1.0", "pay", &input(""));
    let model = model.says("3.0.1.1", "an egg").says("3.1", "all of it");
    let tasks = vec![member("a", "Waiter", &[]), member("b", "Cook", &["pay"])];
    let mut scenario = Scenario::new(tasks, model, &["Manager: all of it", "a: served", "b: an egg"]);
    scenario.ensemble.workflow = Some(Workflow::Hierarchical);
    scenario.shows("delegation_started")
}

fn handled() -> Scenario {
    let by = |tool: &str, draft: Draft| Draft { handler: Some(tool.to_owned()), ..draft };
    let tasks = vec![by("look", task("a", &[])), by("put", after(&["a"], task("b", &[])))];
    Scenario::new(tasks, ScriptedModel::new(), &["a: sunny", "b: put"]).shows("chore_started")
}

fn guarded() -> Scenario {
    let guards = vec!["look".to_owned()];
    let draft = Draft { input_guardrails: guards.clone(), output_guardrails: guards, ..task("a", &["pay"]) };
    let model = ScriptedModel::new().calls("1.0", "pay", &input("")).says("1.1", "done");
    Scenario::new(vec![draft], model, &["a: done"]).shows("chore_started")
}

fn remembered() -> Scenario {
    let draft = Draft { memory: vec!["facts".to_owned()], reflection: true, ..task("a", &[]) };
    let model = ScriptedModel::new().says("1.0", "done").says("1.1", "be quicker");
    let scenario = Scenario::new(vec![draft], model, &["a: done"]).shows("reflection_started");
    let memory = [OwnTool::MemoryRecall.info(), OwnTool::MemoryStore.info()]
        .into_iter()
        .map(|info| ScriptedTool::new(&info.name).with_info(|own| *own = (*info).clone()).answers("as ever"));
    memory.fold(scenario, Scenario::tool)
}

fn asked() -> Scenario {
    let question = json!({ "question": "Which one?" });
    let line = Line::new().calls(OwnTool::HumanInput.name(), &question).calls("pay", &input(""));
    let model = ScriptedModel::new().at("1.0", line).says("1.1", "that one");
    let scenario = Scenario::new(vec![task("a", &[OwnTool::HumanInput.name(), "pay"])], model, &["a: that one"]);
    scenario.after("review_requested", 1, decide(0, edit()))
}

fn endless() -> Scenario {
    let model = ScriptedModel::new().otherwise(Line::new().says("more ").stops(Stop::Length));
    Scenario::new(vec![task("a", &[])], model, &[]).ends("FAILED").shows("answer_truncated")
}

fn silent() -> Scenario {
    let model = ScriptedModel::new().otherwise(Line::new().thinks("hm"));
    Scenario::new(vec![task("a", &[])], model, &[]).ends("FAILED").shows("answer_empty")
}

fn repaired() -> Scenario {
    let schema = json!({ "type": "object", "required": ["n"] });
    let model = ScriptedModel::new().says("1.0", "none").says("1.1", "{}").says("1.2", r#"{"n":1}"#);
    let tasks = vec![Draft { output_schema: Some(schema), ..task("a", &[]) }];
    Scenario::new(tasks, model, &[r#"a: {"n":1}"#]).shows("output_rejected")
}

fn continued() -> Scenario {
    let cut = |words: &str| Line::new().says(words).stops(Stop::Length);
    let model = ScriptedModel::new().at("1.0", cut("one ")).at("1.1", cut("two ")).says("1.2", "three");
    let tasks = vec![task("a", &["pay"]), Draft { on_truncated: OnTruncated::Accept, ..task("b", &[]) }];
    Scenario::new(tasks, model.at("2.0", cut("half")), &["a: one two three", "b: half"]).shows("answer_truncated")
}

fn asked_again() -> Scenario {
    let cut = Line::new().calls_raw("pay", "{\"input\": \"Ad").stops(Stop::Length);
    let model = ScriptedModel::new().at("1.0", cut).calls("1.1", "pay", &input("Ada")).at("1.2", Line::new());
    Scenario::new(vec![task("a", &["pay"])], model.says("1.3", "paid"), &["a: paid"]).shows("answer_empty")
}

fn last_round() -> Scenario {
    let tasks = vec![Draft { max_iterations: Some(2), ..task("a", &["look"]) }];
    // A model that is offered tools in its last round would call one.
    let greedy = ScriptedModel::new().when(|ask| !ask.tools.is_empty(), Line::new().calls("look", &input("")));
    Scenario::new(tasks, greedy.otherwise(Line::new().says("enough")), &["a: enough"])
}

/// Returns two tasks; the first model request waits until a command has been sent.
fn steered() -> Scenario {
    let gate: Arc<Notify> = Arc::default();
    let first = Line::new().waits(&gate).calls("look", &input(""));
    let model = ScriptedModel::new().at("1.0", first).says("1.1", "first").says("2.0", "second");
    Scenario { gate, ..Scenario::new(two_tasks(), model, &["a: first", "b: second"]) }
}

/// The type of the frame for a model request.
const ASKED: &str = "llm_iteration_started";

fn directed() -> Scenario {
    let directive = Directive {
        target: None,
        content: "hurry".into(),
        priority: Priority::Normal,
        from: me(),
        on_behalf_of: None,
        created_at: 0,
        expires_at: None,
    };
    steered().after(ASKED, 1, Command::Direct { directive }).shows("directive_delivered")
}

fn switched() -> Scenario {
    let spare = Arc::new(ModelInfo::new("spare", "scripted"));
    let other = ScriptedModel::new().calls("1.0", "look", &input("")).says("1.1", "other").says("2.0", "second");
    let scenario = Scenario { outputs: vec!["a: other", "b: second"], ..steered().falls_back_to(other) };
    scenario.after(ASKED, 1, Command::SwitchModel { models: vec![spare], by: me() }).shows("model_switched")
}

fn paused() -> Scenario {
    let paused = steered().after(ASKED, 1, Command::Pause { by: me() });
    paused.after("run_paused", 1, Command::Resume { by: me() }).shows("run_resumed")
}

fn cancelled(mode: CancelMode, outputs: &[&'static str]) -> Scenario {
    let scenario = Scenario { outputs: outputs.to_vec(), ..steered() };
    scenario.after(ASKED, 1, Command::Cancel { mode, by: me() }).ends("CANCELLED").shows("cancel_requested")
}

/// Returns a run whose tools all wait until it is cancelled.
fn cancelled_calls() -> Scenario {
    let now = Command::Cancel { mode: CancelMode::Now, by: me() };
    let mut scenario = Scenario { outputs: Vec::new(), ..side_by_side() };
    scenario.tools = scenario.tools.into_iter().map(|tool| tool.waits(&scenario.gate)).collect();
    scenario.after("tool_dispatched", 4, now).ends("CANCELLED")
}

fn cancelled_subtasks() -> Scenario {
    let gate: Arc<Notify> = Arc::default();
    let now = Command::Cancel { mode: CancelMode::Now, by: me() };
    let leaf = Line::new().waits(&gate).says("too late");
    Scenario { outputs: Vec::new(), gate, ..subtasks(leaf) }.after("subtask_started", 3, now).ends("CANCELLED")
}

/// Returns task `a`, with a review before it starts.
fn before() -> Draft {
    Draft { review_before: true, ..task("a", &["look"]) }
}

/// Returns task `a`, with a review when it is done.
fn afterwards() -> Draft {
    Draft { review: Some(ReviewRule::Required), ..task("a", &["look"]) }
}

/// Returns a run in which task `a` stops at a review that waits a minute; then comes `b`.
fn review(first: Draft, outputs: &[&'static str]) -> Scenario {
    let mut scenario = Scenario::new(vec![first, task("b", &[])], two_lines(), outputs).shows("review_requested");
    scenario.ensemble.review = Review { timeout_ms: 60_000, ..Review::default() };
    scenario
}

fn reviewed(first: Draft, decision: Decision, outputs: &[&'static str]) -> Scenario {
    review(first, outputs).after("review_requested", 1, decide(0, decision)).shows("review_decided")
}

fn again() -> Scenario {
    let again = reviewed(afterwards(), reject(), &["a: better", "b: second"]);
    let again = again.after("review_requested", 2, decide(1, Decision::Continue));
    Scenario { main: again.main.clone().calls("1.2", "look", &input("")).says("1.3", "better"), ..again }
}

fn unattended(on_timeout: OnTimeout, (status, outputs): (&'static str, &[&'static str])) -> Scenario {
    let mut scenario = review(afterwards(), outputs).ends(status).shows("review_timed_out");
    scenario.ensemble.review.on_timeout = Some(on_timeout);
    scenario
}

fn says_after(times: u32, text: &str) -> ScriptedModel {
    ScriptedModel::new().at("1.0", Line::new().fails(times, failure(FailureKind::Overloaded)).says(text))
}

fn retried() -> Scenario {
    Scenario::new(vec![task("a", &[])], says_after(1, "at last"), &["a: at last"]).shows("model_retried")
}

fn fell_back() -> Scenario {
    let scenario = Scenario::new(vec![task("a", &[])], says_after(u32::MAX, ""), &["a: instead"]);
    scenario.falls_back_to(ScriptedModel::new().says("1.0", "instead")).shows("model_failed")
}

fn failed(on_error: OnError) -> Scenario {
    let tasks = vec![task("a", &["pay"]), after(&["a"], task("b", &[])), task("c", &["look"])];
    let refused = Line::new().breaks(failure(FailureKind::Refused));
    let model = ScriptedModel::new().calls("1.0", "pay", &input("")).at("1.1", refused);
    let model = model.calls("3.0", "look", &input("")).says("3.1", "third");
    let mut scenario = Scenario::new(tasks, model, &["c: third"]).ends("FAILED").shows("task_skipped");
    scenario.ensemble.on_error = on_error;
    scenario
}

fn breached() -> Scenario {
    let model = ScriptedModel::new().calls("1.0", "pay", &input("")).calls("1.1", "pay", &input(""));
    let scenario = Scenario::new(vec![task("a", &["pay"])], model, &[]).ends("FAILED").shows("budget_exceeded");
    scenario.limits(Limits { tool_calls: 1, ..Limits::default() })
}

fn repeating() -> Scenario {
    let calls = Line::new().calls("broken", &input(""));
    let model = ScriptedModel::new().says("1.4", "without it").otherwise(calls);
    let scenario = Scenario::new(vec![task("a", &["broken"])], model, &["a: without it"]).shows("loop_noticed");
    scenario.tool(ScriptedTool::new("broken").fails("broken"))
}

/// Returns a task that reads long texts, again and again.
fn reading(model: ScriptedModel) -> Scenario {
    let scenario = Scenario::new(vec![task("a", &["book"])], model, &["a: read"]).shows("history_dropped");
    scenario.tool(ScriptedTool::new("book").answers(&"word ".repeat(500)))
}

fn forgetful() -> Scenario {
    let model = ScriptedModel::new().says("1.4", "read").otherwise(Line::new().calls("book", &input("")));
    reading(model).limits(Limits { history_tokens: 2_000, ..Limits::default() })
}

fn overflowing() -> Scenario {
    let long = Line::new().fails(1, failure(FailureKind::Overflow)).says("read");
    let model = ScriptedModel::new().at("1.3", long).otherwise(Line::new().calls("book", &input("")));
    reading(model).shows("model_failed")
}
