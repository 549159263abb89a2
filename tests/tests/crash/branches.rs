//! Runs that branch: conditions, items and rounds, each with an effect that happens once.

use consort_core::branch::OnMaxRounds;
use consort_core::decide::Command;
use consort_core::draft::{Draft, Each, Ensemble, Group, Nested};
use consort_core::event::{CancelMode, Decision};
use consort_core::fork::Keep;
use consort_core::message::FailureKind;
use consort_core::spec::{OnError, ReviewRule, Workflow};
use consort_models::{Line, ScriptedModel};
use serde_json::json;

use super::scenarios::{Scenario, Table};
use crate::support::{after, failure, task};

/// Conditions, lists and groups.
pub(super) const BRANCHES: &Table = &[
    ("a branch that is taken and one that is not", conditional),
    ("each item once", items),
    ("items of which one fails among others", || failed_items(OnError::ContinueOnError)),
    ("items of which one fails", || failed_items(OnError::FailFast)),
    ("a failed fan-out, retried", retried_items),
    ("items, cancelled now", cancelled_items),
    ("a review of each item", reviewed_items),
    ("a loop of three rounds", || repeated(5, OnMaxRounds::Fail)),
    ("a loop out of rounds", || repeated(2, OnMaxRounds::Fail)),
    ("a loop out of rounds, taken as it is", || repeated(2, OnMaxRounds::Accept)),
    ("a group for each item", fanned),
    ("a group that is skipped", skipped),
    ("a saved workflow as a part", part),
    ("a saved workflow for each item", parts),
];

fn paying(model: ScriptedModel, turn: &str, answer: &str) -> ScriptedModel {
    model.calls(&format!("{turn}.0"), "pay", &json!({ "input": turn })).says(&format!("{turn}.1"), answer)
}

fn each(list: &str, draft: Draft) -> Draft {
    Draft { each: Each { list: Some(list.to_owned()), max_items: None, max_parallel: Some(2) }, ..draft }
}

fn parallel(scenario: Scenario) -> Scenario {
    let ensemble = Ensemble { workflow: Some(Workflow::Parallel), ..scenario.ensemble };
    Scenario { ensemble, ..scenario }
}

fn conditional() -> Scenario {
    let when = |source: &str, draft: Draft| Draft { when: Some(source.to_owned()), ..draft };
    let tasks = vec![
        task("a", &[]),
        when("outputs.a == 'yes'", task("b", &["pay"])),
        when("outputs.a != 'yes'", task("c", &["pay"])),
        after(&["b", "c"], task("d", &[])),
    ];
    let model = paying(ScriptedModel::new().says("1.0", "yes"), "2", "paid").says("4.0", "done");
    let scenario = Scenario::new(tasks, model, &["a: yes", "b: paid", "d: done"]);
    parallel(scenario).shows("expression_evaluated").shows("task_skipped")
}

fn items() -> Scenario {
    let model = ["1i0", "1i1", "1i2"].into_iter().fold(ScriptedModel::new(), |model, turn| paying(model, turn, turn));
    let tasks = vec![each("['x', 'y', 'z']", task("a", &["pay"]))];
    Scenario::new(tasks, model, &[r#"a: ["1i0","1i1","1i2"]"#]).shows("expression_evaluated")
}

fn failed_items(on_error: OnError) -> Scenario {
    let broken = Line::new().fails(u32::MAX, failure(FailureKind::Refused));
    let model = paying(ScriptedModel::new(), "1i0", "paid").at("1i1.0", broken).says("2.0", "done");
    let tasks = vec![each("[1, 2]", task("a", &["pay"])), after(&["a"], task("b", &[]))];
    let mut scenario = parallel(Scenario::new(tasks, model, &[r#"a: ["paid",null]"#, "b: done"]));
    scenario.ensemble.on_error = on_error;
    match on_error {
        OnError::ContinueOnError => scenario,
        OnError::FailFast => Scenario { outputs: Vec::new(), ..scenario }.ends("FAILED"),
    }
}

/// Returns a retry of a run in which one of three items failed: only that one is done again.
fn retried_items() -> Scenario {
    let broken = Line::new().fails(u32::MAX, failure(FailureKind::Refused));
    let before = paying(paying(ScriptedModel::new(), "1i0", "one"), "1i2", "three").at("1i1.0", broken);
    let tasks = vec![each("[1, 2, 3]", task("a", &["pay"]))];
    // The third item was under way with the second, so whether it is kept depends on which ended first.
    let model = paying(paying(ScriptedModel::new(), "1i1", "two"), "1i2", "three");
    Scenario::new(tasks, model, &[r#"a: ["one","two","three"]"#]).goes_on(before, Keep::Completed)
}

fn cancelled_items() -> Scenario {
    let mut scenario = Scenario { outputs: Vec::new(), ..items() };
    scenario.tools = scenario.tools.into_iter().map(|tool| tool.waits(&scenario.gate)).collect();
    let now = Command::Cancel { mode: CancelMode::Now, by: "me".to_owned() };
    scenario.after("tool_dispatched", 2, now).ends("CANCELLED")
}

fn reviewed_items() -> Scenario {
    let model = ScriptedModel::new().says("1i0.0", "one").says("1i1.0", "two");
    let reviewed = Draft { review: Some(ReviewRule::Required), ..each("[1, 2]", task("a", &[])) };
    let decide = |review, decision| Command::Review { review, decision, by: "me".to_owned() };
    let edit = Decision::Edit { output: "edited".into() };
    let scenario = Scenario::new(vec![reviewed], model, &[r#"a: ["edited","edited"]"#]).shows("review_decided");
    scenario.after("review_requested", 1, decide(0, edit.clone())).after("review_requested", 2, decide(1, edit))
}

fn group(name: &str, tasks: &[&str]) -> Group {
    let tasks = tasks.iter().map(|task| (*task).to_owned()).collect();
    Group { name: name.to_owned(), tasks, ..Group::default() }
}

/// Returns a loop that is content in its third round.
fn repeated(max_rounds: u32, on_max_rounds: OnMaxRounds) -> Scenario {
    let tasks = vec![after(&["verdict"], task("draft", &["pay"])), after(&["draft"], task("verdict", &[]))];
    let rounds = ["no", "no", "yes"].into_iter().enumerate();
    let model = rounds.fold(ScriptedModel::new(), |model, (round, verdict)| {
        paying(model, &format!("1r{round}"), "draft").says(&format!("2r{round}.0"), verdict)
    });
    let (outputs, status): (&[&'static str], _) = match (max_rounds, on_max_rounds) {
        (5, _) => (&["draft: draft", "verdict: yes"], "COMPLETED"),
        (_, OnMaxRounds::Accept) => (&["draft: draft", "verdict: no"], "COMPLETED"),
        (_, OnMaxRounds::Fail) => (&[], "FAILED"),
    };
    let mut scenario = Scenario::new(tasks, model, outputs).ends(status).shows("expression_evaluated");
    scenario.ensemble.groups = vec![Group {
        repeat_until: Some("outputs.verdict == 'yes'".to_owned()),
        max_rounds: Some(max_rounds),
        on_max_rounds: Some(on_max_rounds),
        ..group("loop", &["draft", "verdict"])
    }];
    scenario
}

fn fanned() -> Scenario {
    let tasks = vec![task("visit", &["pay"]), after(&["visit"], task("rate", &[])), after(&["trip"], task("sum", &[]))];
    let model = ["1i0", "1i1"].into_iter().fold(ScriptedModel::new(), |model, turn| paying(model, turn, "warm"));
    let model = model.says("2i0.0", "5").says("2i1.0", "4").says("3.0", "nine");
    let outputs = [r#"rate: ["5","4"]"#, "sum: nine", r#"visit: ["warm","warm"]"#];
    let mut scenario = parallel(Scenario::new(tasks, model, &outputs));
    let each = Each { list: Some("['Rome', 'Oslo']".to_owned()), ..Each::default() };
    scenario.ensemble.groups = vec![Group { each, when: Some("true".to_owned()), ..group("trip", &["visit", "rate"]) }];
    scenario
}

/// Returns a task that a saved workflow does.
fn errand(name: &str, what: &str) -> Draft {
    let nested = Nested { workflow: "errand".to_owned(), inputs: [("what".to_owned(), what.into())].into() };
    Draft { name: Some(name.to_owned()), nested: Some(nested), ..Draft::default() }
}

fn part() -> Scenario {
    let tasks = vec![errand("tea", "tea"), after(&["tea"], task("sum", &[]))];
    let model = paying(ScriptedModel::new(), "1", "paid").says("2.0", "receipt").says("3.0", "done");
    parallel(Scenario::new(tasks, model, &["sum: done", "tea/pay: paid", "tea/receipt: receipt"]))
}

fn parts() -> Scenario {
    let tasks = vec![each("['tea', 'milk']", errand("buy", "{item}")), after(&["buy"], task("sum", &[]))];
    let model = ["1i0", "1i1"].into_iter().fold(ScriptedModel::new(), |model, turn| paying(model, turn, "paid"));
    let model = model.says("2i0.0", "one").says("2i1.0", "two").says("3.0", "done");
    let outputs = [r#"buy/pay: ["paid","paid"]"#, r#"buy/receipt: ["one","two"]"#, "sum: done"];
    parallel(Scenario::new(tasks, model, &outputs)).shows("expression_evaluated")
}

fn skipped() -> Scenario {
    let tasks = vec![task("visit", &["pay"]), after(&["visit"], task("rate", &[])), after(&["trip"], task("sum", &[]))];
    let mut scenario = parallel(Scenario::new(tasks, ScriptedModel::new().says("3.0", "none"), &["sum: none"]));
    scenario.ensemble.groups = vec![Group { when: Some("false".to_owned()), ..group("trip", &["visit", "rate"]) }];
    scenario.shows("task_skipped")
}
