//! Property tests: any answers of models, commands of people and crashes, in any order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use strum::VariantNames;

use super::world::{World, ensemble, reply, shared, task};
use crate::chat::{self, Answer, Mode};
use crate::decisions::decide::{Command, Report};
use crate::decisions::edit::Edits;
use crate::decisions::fork::{self, Keep, Wanted};
use crate::decisions::next::Effect;
use crate::decisions::own_tool::OwnTool;
use crate::projections::span::{RUN, Span};
use crate::state::budget::{Budget, Limits, Raise};
use consort_spec::agent::Agent;
use consort_spec::catalog::ToolInfo;
use consort_spec::draft::{Draft, Ensemble};
use consort_spec::event::{Adoption, CancelMode, ChangeType, Decision, Directive, EventKind, FileChange, Priority};
use consort_spec::id::Id;
use consort_spec::message::{Failure, FailureKind, Outcome, Reply, Spent, Stop, Usage};
use consort_spec::spec::{Kind, OnError, OnTimeout, Review, ReviewPolicy, ReviewRule};

/// The number of cases each property is tried with.
const CASES: u32 = 1500;
/// The limits of the runs below.
pub(super) const LIMITS: Limits = Limits {
    depth: 2,
    iterations_per_level: 3,
    parallel_per_turn: 2,
    subtasks: 4,
    llm_calls: 24,
    tool_calls: 30,
    wall_clock_ms: 60_000,
    tool_result_bytes: 200,
    history_tokens: 2_000,
    schema_retries: 2,
    tokens: 20_000,
    cost: 40_000,
};

/// The kinds of events that only chats have, whose own tests reach them.
const OF_CHATS: &str = "chat";

/// Returns the stored name of an event.
fn name(kind: &EventKind) -> String {
    let json = serde_json::to_value(kind).unwrap();
    json.as_str().map(str::to_owned).or_else(|| json.as_object()?.keys().next().cloned()).unwrap()
}

fn delegating(description: &str) -> Agent {
    Agent { allow_delegation: true, ..Agent::derive(description) }
}

/// Returns three tasks with everything a task can have.
fn everything(on_error: OnError) -> Ensemble {
    let schema = serde_json::json!({ "type": "object" });
    let drafts = vec![
        Draft {
            max_iterations: Some(4),
            review_before: true,
            memory: vec!["m".to_owned()],
            reflection: true,
            output_guardrails: vec!["look".to_owned()],
            tools: task("a", &[]).tools.into_iter().chain(shared().into_keys()).collect(),
            ..task("a", &[])
        },
        Draft {
            output_schema: Some(schema),
            review: Some(ReviewRule::Required),
            agent: Some(delegating("Check")),
            ..task("b", &[])
        },
        Draft {
            agent: Some(delegating("Plan")),
            when: Some("outputs.a != null && outputs.b != null".to_owned()),
            ..task("c", &["a", "b"])
        },
    ];
    let on_timeout = Some(OnTimeout::Continue);
    let review = Review { policy: ReviewPolicy::AfterLastTask, timeout_ms: 5_000, on_timeout };
    Ensemble { limits: LIMITS, review, on_error, ..ensemble(drafts) }
}

impl World {
    /// Performs one possible action, chosen by a number.
    pub(super) fn choose(&mut self, choice: u16) {
        let me = || "me".to_owned();
        let by = choice / 64;
        let command = match choice % 64 {
            0 => return self.crash(),
            1 => Command::Cancel { mode: CancelMode::AfterTask, by: me() },
            2 if by.is_multiple_of(4) => Command::Cancel { mode: CancelMode::AfterIteration, by: me() },
            3 if by.is_multiple_of(4) => Command::Cancel { mode: CancelMode::Now, by: me() },
            4 => Command::Pause { by: me() },
            5..9 => Command::Resume { by: me() },
            9 => {
                Command::SwitchModel { models: super::world::catalog().models.into_iter().skip(1).collect(), by: me() }
            }
            10 => Command::Direct { directive: directive(by) },
            11..16 => self.review(by),
            16..20 => self.approve(by),
            20..23 => return self.pass(u64::from(by) * 10),
            23 if self.run.spec().kind == Kind::Run => {
                return self.fork(Keep::Before(Some(u64::from(by) % self.log.len() as u64)));
            }
            24..28 => {
                self.grants.slot = choice % 64 > 24;
                return self.settle();
            }
            29 => {
                // Only the clock: how much may be used is asserted at the end.
                let wall_clock_ms = Some(self.run.spec().limits.wall_clock_ms + 1);
                Command::RaiseBudget { raise: Raise { wall_clock_ms, ..Raise::default() }, by: me() }
            }
            28 => Command::GiveUpCall { task: by.is_multiple_of(2).then(|| "a".to_owned()), by: me() },
            _ => return self.finish_one(by),
        };
        let _refused = self.command(command);
    }

    /// Continues with a run made of this one's record.
    fn fork(&mut self, keep: Keep) {
        let edits = Edits::default();
        let catalog = super::world::catalog();
        let wanted = Wanted { keep, edits: &edits, catalog: &catalog, by: "me", traceparent: None };
        let forked = fork::fork(("run-1", &self.log), &wanted, crate::tests::world::own(), self.now)
            .unwrap()
            .finish(|_source| None)
            .unwrap();
        self.start_over(forked.events);
        assert_eq!(self.run, forked.run);
        let count = |kind: fn(&EventKind) -> bool| self.log.iter().filter(|event| kind(&event.kind)).count();
        assert_eq!(self.run.budget(), &Budget::new(&LIMITS), "what is kept is not paid for again");
        assert!(count(|kind| matches!(kind, EventKind::RunAccepted { .. })) == 1);
        self.command(Command::Adopt(Adoption::default())).unwrap();
    }

    fn approve(&self, by: u16) -> Command {
        let approval = self.run.chat().open.iter().next().copied().unwrap_or(0);
        let me = "me".to_owned();
        Command::Chat(match by % 8 {
            0 => chat::Command::SetMode { mode: Mode::Auto, by: me },
            1 => chat::Command::SetMode { mode: Mode::Plan, by: me },
            2 | 3 => chat::Command::Approve { approval, answer: Answer::Deny, by: me, args: None },
            4 => chat::Command::Approve { approval, answer: Answer::AllowForChat, by: me, args: None },
            5 => chat::Command::Returned { call: "call_0".to_owned(), result: "ok".into(), is_error: false },
            _ => chat::Command::Approve { approval, answer: Answer::Allow, by: me, args: None },
        })
    }

    fn review(&self, by: u16) -> Command {
        let open = self.run.open_reviews().iter().next().copied().unwrap_or(0);
        let decision = match by % 8 {
            0 => Decision::ExitEarly,
            1 | 2 => Decision::Reject { feedback: "again".into() },
            3 => Decision::Edit { output: "{}".into() },
            _ => Decision::Continue,
        };
        Command::Review { review: open, decision, by: "me".to_owned() }
    }

    /// Ends one effect under way.
    fn finish_one(&mut self, by: u16) {
        if self.waiting.is_empty() {
            return;
        }
        let effect = self.waiting.swap_remove(usize::from(by) % self.waiting.len());
        self.command(Command::Report(report(&effect, by))).unwrap();
    }

    /// Lets everything under way end successfully, and time pass.
    pub(super) fn finish(&mut self) {
        self.grants.slot = true;
        self.settle();
        for _step in 0..10_000 {
            if self.run.ended() {
                return;
            }
            match self.waiting.pop() {
                Some(effect) => self.command(Command::Report(report(&effect, u16::MAX))).unwrap(),
                None if self.run.paused() => self.command(Command::Resume { by: String::new() }).unwrap(),
                None => {
                    let timer = self.run.next(self.now, &self.grants).timer;
                    let now = timer.expect("a run that waits for nothing must end");
                    self.pass(now - self.now);
                }
            }
        }
        panic!("the run never ends");
    }
}

fn directive(by: u16) -> Directive {
    let target = (by.is_multiple_of(2)).then(|| "a".to_owned());
    Directive {
        target,
        content: "hurry".into(),
        priority: Priority::High,
        from: "me".to_owned(),
        on_behalf_of: (by.is_multiple_of(3)).then(|| "Ann".to_owned()),
        created_at: 1,
        expires_at: None,
    }
}

/// Returns the usage that another ensemble reports for a call: none, little, or far more than it can have
/// been lent.
fn spent(tool: &ToolInfo, by: u16) -> Option<Spent> {
    let tokens = [0, 10, u64::MAX][usize::from(by % 3)];
    let usage = Usage { input: tokens, output: tokens, ..Usage::default() };
    (tool.charged && by % 5 != 4).then_some(Spent { usage, input_cost: tokens, output_cost: tokens })
}

/// Returns the file changes that a call reports.
fn changes(by: u16) -> Vec<FileChange> {
    let change =
        FileChange { file_path: "a".to_owned(), change_type: ChangeType::Created, lines_added: 1, lines_removed: 0 };
    vec![change; usize::from(by % 2)]
}

fn report(effect: &Effect, by: u16) -> Report {
    let subtask = (OwnTool::RunSubtask.name(), r#"{"title":"t","instructions":"i"}"#);
    let calls: &[(&str, &str)] = match by % 12 {
        0 => &[("look", "{}")],
        1 => &[("pay", "{}"), ("look", "{}"), ("put", "{}")],
        2 => &[subtask, ("pay", "{}")],
        3 => &[subtask, subtask, ("lock", "{}")],
        6 => &[
            ("delegate", r#"{"agentRole":"Agent","taskDescription":"d"}"#),
            ("delegate", r#"{"agentRole":"x","taskDescription":"d"}"#),
        ],
        5 => &[("human_input", r#"{"question":"really?"}"#), ("look", "{}")],
        4 => &[("gone", "{}"), ("gone", "{}"), ("look", "oops"), ("gone", "{}"), ("gone", "{}"), ("gone", "{}")],
        7 => &[(OwnTool::RunSubtask.name(), r#"{"title":"t","instructions":"i","output_schema":{"type":"array"}}"#)],
        8 => &[("finish_subtask", r#"{"result":[]}"#), ("look", "{}")],
        10 => &[("kitchen.cook", r#"{"input":"soup"}"#), ("kitchen.look", r#"{"input":"salt"}"#), ("look", "{}")],
        9 => &[("memory_write", r#"{"key":"k","value":1}"#), ("memory_read", r#"{"keys":["k"]}"#)],
        _ => &[],
    };
    let text = match by % 13 {
        6 => "",
        _ if by.is_multiple_of(5) => "words",
        _ => "{}",
    };
    let stop = if by % 13 == 5 { Stop::Length } else { Stop::End };
    match effect {
        Effect::Call { id, tool, .. } if by.is_multiple_of(3) => {
            let outcome = Outcome::failed("no");
            let changes = changes(by);
            Report::Returned { call: id.clone(), outcome, cause: None, duration_ms: 1, spent: spent(tool, by), changes }
        }
        Effect::Call { id, tool, .. } => {
            let outcome = Outcome::answer("yes ".repeat(100));
            let changes = changes(by);
            Report::Returned { call: id.clone(), outcome, cause: None, duration_ms: 1, spent: spent(tool, by), changes }
        }
        Effect::Ask(question) if by % 17 == 3 => {
            let kind = [FailureKind::Overloaded, FailureKind::Overflow, FailureKind::Refused][usize::from(by / 17 % 3)];
            let failure = Failure {
                kind,
                message: "no".to_owned(),
                retry_after_ms: None,
                status: None,
                charged: by.is_multiple_of(2),
            };
            Report::Unanswered {
                conversation: question.conversation.clone(),
                failure,
                dice: u32::from(by),
                said: Default::default(),
            }
        }
        Effect::Ask(question) => {
            let usage = Usage { input: 100, output: u64::from(by % 7), ..Usage::default() };
            let usage = (by % 9 != 8).then_some(usage);
            let reply = Arc::new(Reply { stop, ..reply(text, calls) });
            Report::Replied { conversation: question.conversation.clone(), reply, usage, latency_ms: 1 }
        }
    }
}

/// Checks the invariants of every log.
pub(super) fn check(world: &World) {
    let mut open = BTreeSet::new();
    let mut last = 0;
    for event in &world.log {
        assert!(event.at >= last, "time never goes back");
        last = event.at;
        match &event.kind {
            EventKind::ToolDispatched { call, .. } => drop(open.insert(call.clone())),
            EventKind::SubtaskStarted { call, .. } => assert!(open.insert(call.clone()), "{call} started twice"),
            EventKind::ToolReturned { call, .. } => drop(open.remove(call)),
            _ => {}
        }
    }
    assert!(open.is_empty(), "every started call ends: {open:?}");
    ended_once(world);
    spans_nest(world);
}

/// Checks that every span has a unique id and lies within its parent.
fn spans_nest(world: &World) {
    let spans: BTreeMap<&str, &Span> = world.spans.iter().map(|span| (span.place.as_str(), span)).collect();
    assert_eq!(spans.len(), world.spans.len(), "no place is told twice: {:?}", world.spans);
    for span in spans.values().filter(|span| span.place != RUN) {
        let parent = span.parent.as_deref().and_then(|parent| spans.get(parent));
        let parent = parent.unwrap_or_else(|| panic!("{span:?} is part of nothing: {:?}", spans.keys()));
        assert!(parent.start <= span.start && span.end <= parent.end, "{span:?} lies outside {parent:?}");
    }
}

fn ended_once(world: &World) {
    let mut ended: BTreeMap<Id, usize> = BTreeMap::new();
    for event in &world.log {
        if let EventKind::TaskCompleted { conversation }
        | EventKind::TaskFailed { conversation, .. }
        | EventKind::TaskSkipped { conversation, .. } = &event.kind
        {
            *ended.entry(conversation.clone()).or_default() += 1;
        }
    }
    assert!(ended.values().all(|times| *times == 1), "a task ends once: {ended:?}");
}

pub(super) fn within_limits(world: &World) {
    let budget = world.run.budget();
    assert!(budget.llm_calls() <= LIMITS.llm_calls && budget.tool_calls() <= LIMITS.tool_calls);
    assert!(budget.subtasks() <= LIMITS.subtasks);
    assert!(budget.tokens_committed() <= LIMITS.tokens, "{budget:?}");
    assert!(budget.cost_committed() <= LIMITS.cost, "{budget:?}");
}

fn history(choices: &[u16], on_error: OnError) -> World {
    let mut world = World::new(&everything(on_error));
    for choice in choices {
        if world.run.ended() {
            break;
        }
        world.choose(*choice);
        within_limits(&world);
    }
    world.finish();
    within_limits(&world);
    check(&world);
    world
}

/// Retries the run until there is nothing to do again.
fn retried(mut world: World) {
    let incomplete = |world: &World| world.run.outputs().len() < world.run.spec().tasks.len();
    for _time in 0..3 {
        if !incomplete(&world) {
            return;
        }
        let kept = world.run.outputs().to_vec();
        world.fork(Keep::Completed);
        assert_eq!(world.run.outputs().get(..kept.len()), Some(kept.as_slice()), "what was done stays done");
        world.finish();
        within_limits(&world);
        check(&world);
    }
}

#[test]
fn every_history_replays_stays_within_limits_pays_once_and_ends_and_all_facts_occur() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner =
        TestRunner::new_with_rng(Config { cases: CASES, failure_persistence: None, ..Config::default() }, rng);
    let seen = std::cell::RefCell::new(BTreeSet::new());
    let choices = (prop::collection::vec(any::<u16>(), 0..120), any::<bool>());
    let result = runner.run(&choices, |(choices, fast)| {
        let on_error = if fast { OnError::FailFast } else { OnError::ContinueOnError };
        let world = history(&choices, on_error);
        seen.borrow_mut().extend(world.log.iter().map(|event| name(&event.kind)));
        retried(world);
        Ok(())
    });
    result.unwrap();
    let wanted = EventKind::VARIANTS.iter().filter(|name| **name != OF_CHATS);
    let missing: Vec<_> = wanted.filter(|name| !seen.borrow().contains(**name)).collect();
    assert!(missing.is_empty(), "the generator never reaches {missing:?}");
}

/// Runs parallel tasks with tools and subtasks, answered in a given order.
fn in_order(order: &[usize]) -> (Vec<Vec<String>>, serde_json::Value) {
    let drafts = vec![task("a", &[]), task("b", &["a"]), task("c", &["a"]), task("d", &["b", "c"])];
    let mut world = World::new(&ensemble(drafts));
    let mut order = order.iter().cycle();
    let mut heard = BTreeMap::new();
    while !world.run.ended() {
        world.waiting.sort_by(|a, b| a.id().cmp(b.id()));
        let pick = order.next().copied().unwrap_or(0) % world.waiting.len();
        let place = world.waiting[pick].id().to_string();
        match &world.waiting[pick] {
            Effect::Call { .. } => world.returns(&place, &format!("result of {place}")),
            Effect::Ask(question) if question.round == 0 && place.len() == 1 => {
                world.calls(
                    &place,
                    &[
                        ("look", "{}"),
                        ("put", "{}"),
                        (OwnTool::RunSubtask.name(), r#"{"title":"t","instructions":"i"}"#),
                    ],
                );
            }
            Effect::Ask(_) => {
                heard.insert(place.clone(), [world.results(&place), world.told(&place)].concat());
                world.answers(&place, &format!("answer of {place}"));
            }
        }
    }
    let mut tasks = serde_json::json!(world.run.detail("r"))["tasks"].take();
    tasks.as_array_mut().unwrap().iter_mut().for_each(|task| drop(task.as_object_mut().unwrap().remove("durationMs")));
    (heard.into_values().collect(), tasks)
}

proptest! {
    #![proptest_config(Config { cases: 300, failure_persistence: None, ..Config::default() })]
    #[test]
    fn any_order_of_completions_gives_the_same_history_and_result(order in prop::collection::vec(0..7usize, 1..40)) {
        prop_assert_eq!(in_order(&order), in_order(&[0]));
    }
}
