//! Tests of tasks, calls, answers and failures.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::world::{World, compiled, ensemble, reply, task};
use crate::decisions::decide::{Command, Report};
use crate::decisions::own_tool::OwnTool;
use crate::projections::view::WaitingFor;
use crate::state::budget::Limits;
use crate::state::run::Run;
use consort_spec::catalog::ToolInfo;
use consort_spec::draft::{Draft, Ensemble};
use consort_spec::event::{Adoption, End, EventKind, Exit};
use consort_spec::id::Id;
use consort_spec::message::{FailureKind, Outcome};
use consort_spec::spec::{OnError, Workflow};

fn one(task: Draft) -> World {
    World::new(&ensemble(vec![task]))
}

fn limited(limits: Limits) -> World {
    World::new(&Ensemble { limits, ..ensemble(vec![task("a", &[])]) })
}

#[test]
fn a_sequence_runs_in_declared_order_and_passes_outputs_on() {
    let mut world = World::new(&ensemble(vec![task("a", &[]), task("b", &[])]));
    assert_eq!(world.places(), ["1"]);
    world.answers("1", "first");
    assert_eq!(world.places(), ["2"]);
    assert!(!world.told("2")[0].contains("first"), "only what is listed as context is passed on");
    world.answers("2", "second");
    assert_eq!(world.run.end(), Some(&End::Completed { exit: Exit::Completed }));
    assert_eq!(world.run.answer(), Some("second"));
    let kinds = [
        "run_accepted",
        "run_adopted",
        "ensemble_started",
        "task_started",
        "task_input",
        "llm_iteration_started",
        "llm_iteration_completed",
        "metrics_snapshot",
        "task_completed",
        "task_started",
        "task_input",
        "llm_iteration_started",
        "llm_iteration_completed",
        "metrics_snapshot",
        "task_completed",
        "ensemble_completed",
    ];
    assert_eq!(world.kinds(0), kinds);
}

#[test]
fn a_later_task_waits_until_its_names_are_looked_up() {
    let later = Draft { tools: vec!["look".to_owned(), "kitchen.tea".to_owned()], ..task("b", &[]) };
    let mut world = World::new(&ensemble(vec![task("a", &[]), later]));
    world.answers("1", "first");
    assert_eq!((world.run.end(), world.places()), (None, vec![]), "nothing is under way, but something is to come");
    let found = ["kitchen.tea", "look"].map(|name| Arc::new(ToolInfo::new(name, "found")));
    world.grants.belts.insert("kitchen.tea".to_owned(), found.to_vec());
    world.settle();
    assert_eq!(world.offered("2"), ["look", "kitchen.tea"]);
    world.answers("2", "second");
    assert_eq!(world.run.end(), Some(&End::Completed { exit: Exit::Completed }));
}

#[test]
fn a_graph_starts_what_is_ready_and_hands_over_what_was_read() {
    let mut world =
        World::new(&ensemble(vec![task("a", &[]), task("b", &["a"]), task("c", &["a"]), task("d", &["b", "c"])]));
    world.answers("1", "seed");
    assert_eq!(world.places(), ["2", "3"]);
    assert!(world.told("2")[0].starts_with("## Context from Previous Tasks\n### Agent: Do a\n---\nseed\n---"));
    world.answers("3", "right");
    world.answers("2", "left");
    let prompt = world.told("4")[0].clone();
    assert!(prompt.find("left").unwrap() < prompt.find("right").unwrap(), "in the order of `context`: {prompt}");
}

#[test]
fn fail_fast_lets_running_tasks_finish_and_starts_no_other() {
    let mut world = World::new(&ensemble(vec![task("a", &[]), task("b", &[]), task("c", &["a"])]));
    world.fails("1", FailureKind::Refused);
    world.fails("1", FailureKind::Refused);
    assert_eq!((world.places(), world.status()), (vec!["2"], "RUNNING"));
    world.answers("2", "done");
    assert_eq!(world.status(), "FAILED");
    assert_eq!(world.run.error(), Some("task 'a' failed: refused: no"));
    assert_eq!(world.run.answer(), Some("done"), "what was finished is kept");
}

#[test]
fn continue_on_error_skips_only_what_needed_the_failed_task() {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("c", &["b"]), task("d", &[])];
    let mut world = World::new(&Ensemble { on_error: OnError::ContinueOnError, ..ensemble(tasks) });
    world.fails("1", FailureKind::Refused);
    world.fails("1", FailureKind::Refused);
    world.answers("4", "fine");
    let statuses: Vec<_> =
        json!(world.run.detail("r"))["tasks"].as_array().unwrap().iter().map(|t| t["status"].clone()).collect();
    assert_eq!(statuses, ["FAILED", "SKIPPED", "SKIPPED", "COMPLETED"]);
    assert_eq!(world.run.error(), Some("1 of 4 tasks failed"));
}

#[test]
fn calls_of_one_reply_run_together_and_are_read_in_the_order_asked() {
    let mut world = one(task("a", &[]));
    world.calls("1", &[("pay", "{}"), ("look", "{}"), ("lock", "{}")]);
    assert_eq!(world.places(), ["1.0.0", "1.0.1"], "an exclusive one waits for the others");
    world.returns("1.0.1", "seen");
    world.returns("1.0.0", "paid");
    world.returns("1.0.2", "locked");
    assert_eq!(world.results("1"), ["paid", "seen", "locked"]);
}

#[test]
fn a_locked_tool_waits_for_its_lock_and_says_so() {
    let mut world = one(task("a", &[]));
    world.grants.locks.clear();
    world.calls("1", &[("lock", "{}")]);
    assert_eq!(world.places(), [""; 0]);
    assert!(world.run.next(world.now, &world.grants).needs.locks.contains("door"));
    assert_eq!(world.run.waiting_for(), Some(WaitingFor::Lock));
    world.grants.locks.insert("door".to_owned());
    world.settle();
    assert_eq!(world.places(), ["1.0.0"]);
}

#[test]
fn a_model_that_failed_is_waited_for_until_it_has_answered_and_its_words_are_told() {
    let told = |world: &World| {
        let detail = json!(world.run.detail("r"));
        (world.run.waiting_for(), detail.get("waitingReason").cloned())
    };
    let mut world = World::new(&ensemble(vec![task("a", &[])]));
    assert_eq!(told(&world), (None, None), "the first question is work");
    world.fails("1", FailureKind::Overloaded);
    let backing_off = told(&world);
    assert!(backing_off.0 == Some(WaitingFor::Retry) && backing_off.1.is_some(), "{backing_off:?}");
    world.now += 3_600_000;
    world.settle();
    assert_eq!(world.places(), ["1"], "it is asked again");
    assert_eq!(told(&world), backing_off);
    world.calls("1", &[("look", "{}")]);
    assert_eq!(told(&world), (None, None), "it has answered");
}

#[test]
fn only_as_many_models_are_asked_as_slots_are_granted() {
    let mut world = World::new(&ensemble(vec![task("a", &[])]));
    world.grants.models.clear();
    world.calls("1", &[("look", "{}")]);
    world.returns("1.0.0", "x");
    assert_eq!(world.places(), [""; 0]);
    assert_eq!(world.run.next(world.now, &world.grants).needs.models["big"], 1);
}

#[test]
fn what_cannot_be_called_is_answered_with_what_is_wrong() {
    let mut world = one(task("a", &[]));
    world.calls("1", &[("fly", "{}"), ("look", "{oops"), ("look", r#"{"n":"x"}"#), ("look", "")]);
    assert!(world.dispatched.is_empty(), "nothing is ever executed with made-up arguments");
    let results = world.results("1");
    assert!(results[0].contains("no tool called `fly`; you have: look, put"), "{results:?}");
    assert!(results[1].contains("not JSON") && results[3].contains("not JSON"), "{results:?}");
    assert!(results[2].contains("/n: "), "{results:?}");
}

#[test]
fn long_tool_output_is_cut_for_the_model_and_whole_in_the_event() {
    let mut world = limited(Limits { tool_result_bytes: 10, ..Limits::default() });
    world.calls("1", &[("look", "{}")]);
    world.returns("1.0.0", &"x".repeat(100));
    assert!(world.results("1")[0].starts_with("xxxxxxxxxx\n[cut: 10 of 100 bytes"));
    let returned = world.log.iter().find_map(|event| match &event.kind {
        EventKind::ToolReturned { outcome: Outcome::Answer { text, .. }, .. } => Some(text.len()),
        _ => None,
    });
    assert_eq!(returned, Some(100));
}

#[test]
fn an_answer_that_breaks_its_schema_is_sent_back_and_then_fails() {
    let schema = json!({ "type": "object", "required": ["ok"], "properties": { "ok": { "type": "boolean" } } });
    let draft = Draft { output_schema: Some(schema), max_iterations: Some(1), ..task("a", &[]) };
    let mut world = one(draft.clone());
    assert!(world.told("1")[0].contains("## Output Format"));
    world.answers("1", r#"{"ok": "yes"}"#);
    assert!(world.told("1").last().unwrap().contains("/ok: "));
    world.answers("1", "Sure: ```json\n{\"ok\": true}\n```");
    assert_eq!(json!(world.run.detail("r"))["tasks"][0]["parsedOutput"], json!({ "ok": true }));

    let mut world = one(draft);
    for _attempt in 0..4 {
        world.answers("1", "no json");
    }
    assert_eq!(world.status(), "FAILED");
    assert!(world.run.error().unwrap().contains("after 3 corrections"), "{:?}", world.run.error());
}

#[test]
fn in_the_last_round_no_tools_are_offered_and_calls_fail_the_task() {
    let mut world = one(Draft { max_iterations: Some(2), ..task("a", &[]) });
    world.calls("1", &[("look", "{}")]);
    world.returns("1.0.0", "x");
    assert!(world.told("1").last().unwrap().contains("last turn"));
    let crate::decisions::next::Effect::Ask(question) = &world.waiting[0] else { panic!("asks") };
    assert!(question.tools.is_empty());
    let told = question.messages.last();
    assert!(
        matches!(told, Some(consort_spec::message::Message::User { text }) if text.as_str().contains("last turn")),
        "{told:?}"
    );
    let mut other = World::new(&Ensemble {
        limits: Limits { iterations_per_level: 1, ..Limits::default() },
        ..ensemble(vec![Draft { max_iterations: Some(9), ..task("a", &[]) }])
    });
    other.calls("1", &[("look", "{}")]);
    assert!(other.run.error().unwrap().contains("MAX_ITERATIONS"));
    world.answers("1", "done");
    assert_eq!(world.status(), "COMPLETED");
}

#[test]
fn the_same_failing_call_is_noticed_and_said() {
    let mut world = one(task("a", &[]));
    for round in 0..3 {
        world.calls("1", &[("look", r#"{"n":1}"#)]);
        world.ends_call(&format!("1.{round}.0"), Outcome::failed("nope"));
    }
    assert!(world.told("1").last().unwrap().contains("`look` with the same arguments 3 times"));
}

#[test]
fn old_exchanges_are_dropped_whole_when_the_history_is_too_long() {
    let mut world = limited(Limits { history_tokens: 800, ..Limits::default() });
    world.usage.input = 700;
    for round in 0..8 {
        world.calls("1", &[("look", "{}"), ("put", "{}")]);
        world.returns(&format!("1.{round}.0"), &"a".repeat(300));
        world.returns(&format!("1.{round}.1"), &"b".repeat(300));
    }
    assert!(world.kinds(0).contains(&"history_dropped".to_owned()));
    let conversation = &world.run.conversations()[&Id::from("1")];
    let calls: usize = conversation
        .messages()
        .iter()
        .map(|m| if let consort_spec::message::Message::Assistant(r) = m { r.calls().count() } else { 0 })
        .sum();
    assert_eq!(calls, world.results("1").len(), "every call kept has its result");
    assert!(calls < 16 && world.told("1")[0].contains("## Task"), "the opening stays");
}

#[test]
fn a_provider_that_says_it_is_too_long_is_asked_again_with_less() {
    let mut world = one(task("a", &[]));
    for round in 0..4 {
        world.calls("1", &[("look", "{}")]);
        world.returns(&format!("1.{round}.0"), "x");
    }
    world.fails("1", FailureKind::Overflow);
    assert_eq!(world.places(), ["1"]);
    assert_eq!(world.results("1").len(), 2);
}

#[test]
fn a_failed_call_is_repeated_after_a_wait_then_another_model_is_asked() {
    let mut world = one(task("a", &[]));
    world.fails("1", FailureKind::RateLimited);
    assert_eq!(world.places(), [""; 0]);
    let due = world.run.next(world.now, &world.grants).timer.unwrap();
    assert_eq!(due - world.now, 250, "half of the first wait, with the lowest dice");
    world.pass(250);
    assert_eq!(world.places(), ["1"]);
    world.fails("1", FailureKind::Overloaded);
    assert_eq!(world.run.conversations()[&Id::from("1")].model(), "small");
    world.answers("1", "hello");
    assert_eq!(world.status(), "COMPLETED");
    assert_eq!(world.run.budget().llm_calls(), 2, "a repetition is not a call, another model is");
}

#[test]
fn the_provider_s_own_wait_is_honoured_unless_it_is_absurd() {
    for (wait, expected) in [(5000, 5000), (10, 250)] {
        let mut world = one(task("a", &[]));
        world.waiting.clear();
        let failure = consort_spec::message::Failure {
            kind: FailureKind::RateLimited,
            message: String::new(),
            retry_after_ms: Some(wait),
            status: None,
            charged: false,
        };
        world
            .command(Command::Report(Report::Unanswered {
                conversation: "1".into(),
                failure,
                dice: 0,
                said: Default::default(),
            }))
            .unwrap();
        assert_eq!(world.run.next(world.now, &world.grants).timer.unwrap() - world.now, expected);
    }
}

#[test]
fn a_subtask_is_a_turn_whose_answer_is_the_call_s_result() {
    let mut world = limited(Limits { depth: 1, ..Limits::default() });
    world.calls(
        "1",
        &[(OwnTool::RunSubtask.name(), r#"{"title":"count","instructions":"count apples","tools":["look"]}"#)],
    );
    assert_eq!(world.places(), ["1.0.0"]);
    assert_eq!(world.told("1.0.0"), ["count apples"], "a child sees nothing of its parent's conversation");
    world.calls("1.0.0", &[(OwnTool::RunSubtask.name(), r#"{"title":"x","instructions":"y"}"#), ("pay", "{}")]);
    let refused = world.results("1.0.0");
    assert!(refused[0].contains("max_recursion_depth_reached"), "{refused:?}");
    assert!(refused[1].contains("no tool called `pay`"), "a child has only what it was given: {refused:?}");
    world.answers("1.0.0", "three");
    assert_eq!(world.results("1"), ["three"]);
    assert_eq!(world.run.budget().subtasks(), 1);
}

#[test]
fn a_subtask_that_fails_or_says_nothing_is_an_error_of_its_call() {
    let mut world = one(task("a", &[]));
    let order = r#"{"title":"t","instructions":"i"}"#;
    world.calls(
        "1",
        &[
            (OwnTool::RunSubtask.name(), order),
            (OwnTool::RunSubtask.name(), order),
            (OwnTool::RunSubtask.name(), r#"{"title":"t","instructions":" "}"#),
        ],
    );
    world.answers("1.0.0", " ");
    world.answers("1.0.0", " ");
    world.fails("1.0.1", FailureKind::Refused);
    world.fails("1.0.1", FailureKind::Refused);
    let results = world.results("1");
    assert!(results[0].contains("empty_answer"), "{results:?}");
    assert!(results[1].contains("refused"), "{results:?}");
    assert!(results[2].contains("missing_instructions"), "{results:?}");
}

#[test]
fn limits_hold_for_the_whole_tree() {
    let order = r#"{"title":"t","instructions":"i"}"#;
    let cases = [
        (Limits { llm_calls: 2, depth: 1, ..Limits::default() }, "llm_calls", 2, 3),
        (Limits { subtasks: 1, depth: 1, ..Limits::default() }, "subtasks", 1, 2),
        (Limits { tool_calls: 1, depth: 1, ..Limits::default() }, "tool_calls", 1, 2),
    ];
    for (limits, reason, limit, observed) in cases {
        let mut world = limited(limits);
        world.calls("1", &[(OwnTool::RunSubtask.name(), order), (OwnTool::RunSubtask.name(), order)]);
        let breach = world.log.iter().rev().find_map(|event| {
            if let EventKind::BudgetExceeded { breach } = &event.kind { Some(*breach) } else { None }
        });
        let breach = serde_json::to_value(breach.unwrap()).unwrap();
        assert_eq!(breach, json!({ "reason": reason, "limit": limit, "observed": observed }));
        assert_eq!((world.status(), world.run.error()), ("FAILED", Some("BUDGET_EXCEEDED")));
    }
}

#[test]
fn tokens_and_money_are_set_aside_before_a_call_and_branches_wait_for_each_other() {
    let limits = Limits { tokens: 500, ..Limits::default() };
    let mut world = World::new(&Ensemble {
        limits,
        workflow: Some(Workflow::Parallel),
        ..ensemble(vec![task("a", &[]), task("b", &[])])
    });
    assert_eq!(world.places().len(), 1, "the second waits for what the first does not use");
    assert!(world.run.budget().tokens_committed() <= 500);
    world.answers("1", "x");
    assert_eq!(world.places(), ["2"]);
    world.answers("2", "y");
    assert_eq!((world.status(), world.run.budget().tokens_committed()), ("COMPLETED", 30));

    let world = limited(Limits { cost: 10, ..Limits::default() });
    assert_eq!((world.status(), world.run.error()), ("FAILED", Some("BUDGET_EXCEEDED")));
    assert!(world.dispatched.is_empty());
}

#[test]
fn time_of_work_is_limited_but_downtime_and_people_do_not_count() {
    let mut world = limited(Limits { wall_clock_ms: 1000, ..Limits::default() });
    world.now += 600;
    world.calls("1", &[("look", "{}")]);
    world.now += 50_000;
    world.crash();
    world.pass(399);
    assert_eq!(world.status(), "RUNNING");
    world.pass(1);
    assert_eq!((world.status(), world.run.error()), ("FAILED", Some("BUDGET_EXCEEDED")));
}

#[test]
fn a_new_owner_settles_orphaned_calls_by_class() {
    let mut world = one(task("a", &[]));
    world.calls("1", &[("look", "{}"), ("put", "{}"), ("pay", "{}")]);
    world.crash();
    assert_eq!(world.places(), ["1.0.0", "1.0.1"]);
    assert_eq!(world.dispatched[&Id::from("1.0.2")], 1, "once is once");
    world.returns("1.0.0", "seen");
    world.returns("1.0.1", "put");
    assert!(world.results("1")[2].starts_with("outcome unknown"));
    world.crash();
    assert_eq!(world.places(), ["1"], "a model asked by a dead owner is asked again");
}

#[test]
fn usage_a_provider_does_not_report_is_unknown_and_charged_in_full() {
    let mut world = limited(Limits { tokens: 10_000, ..Limits::default() });
    world.waiting.clear();
    let report =
        Report::Replied { conversation: "1".into(), reply: reply("hi", &[]).into(), usage: None, latency_ms: 1 };
    let held = world.run.budget().tokens_committed();
    world.command(Command::Report(report)).unwrap();
    assert_eq!(world.run.budget().tokens_committed(), held);
    assert_eq!(world.run.total_tokens(), -1);
}

/// Returns the time of a 1 → n → 1 graph, every model call answered at once.
fn fan(n: usize) -> Duration {
    let bare = |name: &str, context: &[&str]| Draft { tools: Vec::new(), ..task(name, context) };
    let middle: Vec<String> = (0..n).map(|i| format!("m{i}")).collect();
    let mut tasks = vec![bare("first", &[])];
    tasks.extend(middle.iter().map(|name| bare(name, &["first"])));
    tasks.push(bare("last", &middle.iter().map(String::as_str).collect::<Vec<_>>()));
    let compiled = compiled(&ensemble(tasks));
    let began = Instant::now();
    let mut run = crate::state::run::Run::default();
    let grants = crate::decisions::next::Grants { models: [("big".to_owned(), 64)].into(), ..Default::default() };
    let kind = EventKind::RunAccepted {
        ensemble_id: String::new(),
        spec: compiled.spec.into(),
        models: compiled.models,
        belt: compiled.belt,
        copied: 0,
        owner: consort_spec::owner::Owner::local(),
        version: consort_spec::event::VERSION,
    };
    run.apply(&consort_spec::event::Event { at: 0, kind });
    let mut waiting = Vec::new();
    let mut command = Command::Adopt(Adoption::default());
    loop {
        run.decide(command, 0).unwrap().iter().for_each(|event| run.apply(event));
        let mut free = grants.clone();
        free.models.insert("big".to_owned(), 64 - waiting.len());
        loop {
            let steps = run.next(0, &free).steps;
            if steps.is_empty() {
                break;
            }
            for step in steps {
                run.apply(&step.event);
                waiting.extend(step.then);
            }
            free.models.insert("big".to_owned(), 64 - waiting.len());
        }
        let Some(effect) = waiting.pop() else { break };
        let conversation = effect.id().clone();
        let reply = reply("ok", &[]).into();
        command = Command::Report(Report::Replied { conversation, reply, usage: None, latency_ms: 0 });
    }
    assert!(run.ended());
    began.elapsed() / u32::try_from(n).unwrap()
}

#[test]
fn a_wide_run_costs_per_task_what_a_narrow_one_does() {
    // As many tasks on either side, so that a busy machine slows both alike; the best of several, because it never
    // slows everything. Scanning what exists would cost a hundred times as much.
    let narrow = || (0..100).map(|_| fan(100)).sum::<Duration>() / 100;
    let rounds: Vec<(Duration, Duration)> = (0..3).map(|_| (narrow(), fan(10_000))).collect();
    let narrow = rounds.iter().map(|(narrow, _)| *narrow).min().unwrap();
    let wide = rounds.iter().map(|(_, wide)| *wide).min().unwrap();
    assert!(wide < narrow * 20, "{narrow:?} per task at 100, {wide:?} at 10,000");
}

#[test]
fn a_verbose_run_says_its_prompts_replies_and_calls_aloud_and_cuts_results() {
    let aloud = |verbose: bool| {
        let mut compiled = compiled(&ensemble(vec![task("a", &[])]));
        (compiled.spec.options.verbose, compiled.spec.options.tool_log_truncate) = (verbose, Some(3));
        let mut world = World::of(compiled);
        world.calls("1", &[("look", r#"{"n":1}"#)]);
        world.returns("1.0.0", "abcdef");
        world.answers("1", "done");
        let mut run = Run::default();
        let said = |event| {
            run.apply(event);
            run.aloud(event).map(|line| (line.what, line.place.to_string(), line.text))
        };
        world.log.iter().filter_map(said).collect::<Vec<_>>()
    };
    assert!(aloud(false).is_empty());
    let said = aloud(true);
    assert!(said[0].0 == "prompt" && said[0].2.contains("## Task\nDo a"), "{said:?}");
    let line = |what: &'static str, place: &str, text: &str| (what, place.to_owned(), text.to_owned());
    let rest = [
        line("reply", "1", r#"look {"n":1}"#),
        line("tool", "1.0.0", r#"look {"n":1} -> abc… [6 characters]"#),
        line("reply", "1", "done"),
    ];
    assert_eq!(said[1..], rest);
}
