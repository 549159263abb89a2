//! Tests of subtasks: their structured results, the memory they share, and their ends.

use serde_json::{Value, json};

use super::world::{World, ensemble, task};
use crate::decisions::own_tool::OwnTool;
use crate::state::budget::Limits;
use consort_spec::draft::Draft;
use consort_spec::event::EventKind;

/// Creates one task with subtasks and the tools they need.
fn world() -> World {
    let mut draft: Draft = task("a", &[]);
    draft.tools.extend(
        [OwnTool::MemoryList.name(), OwnTool::MemoryRead.name(), OwnTool::MemoryWrite.name()].map(str::to_owned),
    );
    let mut ensemble = ensemble(vec![draft]);
    ensemble.limits = Limits { depth: 2, iterations_per_level: 4, ..Limits::default() };
    World::new(&ensemble)
}

fn order(schema: Value) -> String {
    json!({ "title": "count", "instructions": "count apples", "output_schema": schema }).to_string()
}

fn number() -> String {
    order(json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] }))
}

fn error(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn a_structured_result_is_given_by_the_last_of_its_calls_and_the_first_that_fits_wins() {
    let mut world = world();
    world.calls("1", &[(OwnTool::RunSubtask.name(), &number())]);
    let finish = |n: &str| format!(r#"{{"n":{n}}}"#);
    world.calls("1.0.0", &[("finish_subtask", &finish("1")), ("look", "{}"), ("finish_subtask", &finish("2"))]);
    assert!(world.places().contains(&"1.0.0.0.1"), "the other call runs first: {:?}", world.places());
    world.returns("1.0.0.0.1", "seen");
    assert_eq!(world.results("1"), [r#"{"n":1}"#]);
}

#[test]
fn a_result_that_does_not_fit_is_sent_back_three_times() {
    let mut world = world();
    world.calls("1", &[(OwnTool::RunSubtask.name(), &number())]);
    for attempt in 0..3 {
        world.calls("1.0.0", &[("finish_subtask", "{}")]);
        assert!(world.results("1.0.0")[attempt].contains("violations"), "{:?}", world.results("1.0.0"));
    }
    world.calls("1.0.0", &[("finish_subtask", "{}")]);
    let told = error(&world.results("1")[0]);
    assert_eq!(
        (&told["error"], &told["reason"], &told["attempts"]),
        (&json!("schema_not_satisfied"), &json!("schema_retries_exhausted"), &json!(4))
    );
    assert!(!told["violations"].as_array().unwrap().is_empty());
}

#[test]
fn prose_does_not_end_a_subtask_that_owes_a_result_and_two_reminders_are_enough() {
    let mut world = world();
    world.calls("1", &[(OwnTool::RunSubtask.name(), &number())]);
    for _ in 0..3 {
        world.answers("1.0.0", "about three");
    }
    let told = error(&world.results("1")[0]);
    assert_eq!((&told["error"], &told["reason"]), (&json!("schema_not_satisfied"), &json!("no_finish_call")));
    let reminders = world.log.iter().filter(|event| matches!(event.kind, EventKind::FinishDemanded { .. })).count();
    assert_eq!(reminders, 2);
}

#[test]
fn in_its_last_round_a_subtask_that_owes_a_result_can_only_give_it() {
    let mut world = world();
    world.calls("1", &[(OwnTool::RunSubtask.name(), &number())]);
    for round in 0..3 {
        world.calls("1.0.0", &[("look", "{}")]);
        world.returns(&format!("1.0.0.{round}.0"), "x");
    }
    assert_eq!(world.offered("1.0.0"), ["finish_subtask"]);
    world.calls("1.0.0", &[("look", "{}")]);
    let told = error(&world.results("1")[0]);
    assert_eq!((&told["error"], &told["reason"]), (&json!("schema_not_satisfied"), &json!("iteration_limit")));
}

#[test]
fn what_cannot_become_a_subtask_is_refused_with_a_code() {
    let mut world = world();
    world.calls(
        "1",
        &[
            (OwnTool::RunSubtask.name(), "{"),
            (OwnTool::RunSubtask.name(), r#"{"title":"x","instructions":"  "}"#),
            (OwnTool::RunSubtask.name(), r#"{"title":"x","instructions":"y","output_schema":{"type":"nonsense"}}"#),
            (OwnTool::RunSubtask.name(), r#"{"description":"x","prompt":"y","tools":[]}"#),
        ],
    );
    world.answers("1.0.3", " ");
    world.answers("1.0.3", " ");
    let codes: Vec<Value> = world.results("1").iter().map(|text| error(text)["error"].clone()).collect();
    assert_eq!(codes, ["invalid_arguments", "missing_instructions", "invalid_output_schema", "empty_answer"]);
    let inherited = world.log.iter().find_map(|event| match &event.kind {
        EventKind::SubtaskStarted { tools, .. } => Some(tools.len()),
        _ => None,
    });
    assert!(inherited.unwrap() > 5, "an empty list of tools means all of them");
}

#[test]
fn a_model_that_asks_for_a_result_no_schema_may_describe_is_told_so() {
    let mut world = world();
    let rungs = (1..=50).map(|at| {
        let below = json!({ "$ref": format!("#/$defs/d{}", at - 1) });
        (format!("d{at}"), json!({ "allOf": [below, below] }))
    });
    let defs: serde_json::Map<String, Value> = rungs.chain([("d0".to_owned(), json!({}))]).collect();
    let ladder = json!({ "$ref": "#/$defs/d50", "$defs": defs });
    for bomb in [ladder, json!({ "pattern": r"(\w{200}){200}" })] {
        let order = json!({ "title": "x", "instructions": "y", "output_schema": bomb }).to_string();
        world.calls("1", &[(OwnTool::RunSubtask.name(), &order)]);
    }
    let told: Vec<Value> = world.results("1").iter().map(|text| error(text)).collect();
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|told| told["error"] == "invalid_output_schema"), "{told:?}");
}

/// Returns the entries that each reader finds, when the subtasks end in this order.
fn siblings(first: &str, second: &str) -> Vec<String> {
    let mut world = world();
    let assignment = |title: &str| json!({ "title": title, "instructions": "write", "tools": ["look"] }).to_string();
    world.calls(
        "1",
        &[(OwnTool::RunSubtask.name(), &assignment("one")), (OwnTool::RunSubtask.name(), &assignment("two"))],
    );
    for child in [first, second] {
        let note = json!({ "key": "who", "value": child }).to_string();
        world
            .calls(child, &[(OwnTool::MemoryWrite.name(), &note), (OwnTool::MemoryRead.name(), r#"{"keys":["who"]}"#)]);
        world.calls(child, &[(OwnTool::MemoryRead.name(), r#"{"keys":["who","task:1.0.0"]}"#)]);
        world.answers(child, "done");
    }
    world.calls(
        "1",
        &[
            (OwnTool::MemoryRead.name(), r#"{"keys":["who","task:1.0.0","task:1.0.1"]}"#),
            (OwnTool::MemoryList.name(), "{}"),
        ],
    );
    world.results("1")
}

#[test]
fn siblings_do_not_see_each_other_and_their_parent_sees_them_in_the_order_asked() {
    let one = siblings("1.0.0", "1.0.1");
    let two = siblings("1.0.1", "1.0.0");
    assert_eq!(one, two, "who was faster changes nothing");
    let read: Value = serde_json::from_str(&one[2]).unwrap();
    assert_eq!(read["entries"][0]["value"], json!("1.0.1"), "the later call of the reply wins");
    assert_eq!(read["entries"].as_array().unwrap().len(), 3, "{read}");
    assert_eq!(read["entries"][1]["value"], json!("done"));
}

#[test]
fn a_write_is_seen_by_the_next_round_and_not_beside_it() {
    let mut world = world();
    world.calls(
        "1",
        &[
            (OwnTool::MemoryWrite.name(), r#"{"key":"k","value":"v"}"#),
            (OwnTool::MemoryRead.name(), r#"{"keys":["k"]}"#),
        ],
    );
    world.calls("1", &[(OwnTool::MemoryRead.name(), r#"{"keys":["k"]}"#)]);
    let results = world.results("1");
    assert_eq!(error(&results[1])["missing"], json!(["k"]));
    assert_eq!(error(&results[2])["entries"][0]["value"], json!("v"));
}
