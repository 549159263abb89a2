//! Tests of workflows in a chat: built by the model, and answering instead of it.

use serde_json::{Value, json};

use super::chats::{frames, rules, story, tools};
use super::world::World;
use crate::state::budget::Limits;

use crate::chat::{self, LIMITS, Mode, Order};
use crate::decisions::decide::Command;
use crate::decisions::own_tool::OwnTool;
use consort_spec::draft::Ensemble;
use consort_spec::event::CancelMode;
use consort_spec::message::{FailureKind, Message};
use consort_spec::workflow::Document;

fn order() -> Order {
    let editor = Some(chat::Editor::default());
    let turn = chat::Turn { thread: "t".to_owned(), content: "bees".into(), editor, ..Default::default() };
    Order { turn, ..Order::default() }
}

fn editor(limits: Limits) -> World {
    World::of(chat::compile(order(), &rules(Mode::Default, limits), &tools()).unwrap())
}

fn graph(tool: &str) -> String {
    let tasks = json!([{ "name": "read", "description": "Read {topic}", "tools": [tool] },
        { "name": "write", "description": "Write", "context": ["$read"] }]);
    json!({ "name": "report", "description": "Reads, then writes", "tasks": tasks }).to_string()
}

const ASKED: (&str, &str) = (OwnTool::BuildWorkflow.name(), r#"{"objective":"a report"}"#);

/// Returns the frames about planning, each with its position.
fn planning(world: &World) -> Vec<String> {
    let planning = |frame: &Value| ["planning_update", "task_update"].contains(&frame["type"].as_str().unwrap());
    let word = |frame: &Value| {
        let what = [&frame["phase"], &frame["status"], &frame["event"], &frame["task"]["name"]];
        let what: Vec<&str> = what.into_iter().filter_map(Value::as_str).collect();
        format!("{} {} @{} {}", frame["type"].as_str().unwrap(), what.join(" "), frame["parent_id"], frame["depth"])
    };
    frames(world).iter().filter(|frame| planning(frame)).map(word).collect()
}

#[test]
fn a_workflow_is_planned_checked_and_handed_over_by_reference() {
    let mut world = editor(LIMITS);
    world.calls("1", &[ASKED]);
    assert_eq!(world.offered("1.0.0"), ["finish_subtask"], "the planner plans and does nothing else");
    world.calls("1.0.0", &[("finish_subtask", &graph("fly"))]);
    assert!(world.results("1.0.0")[0].contains("Unknown tool 'fly'"), "{:?}", world.results("1.0.0"));
    world.crash();
    world.calls("1.0.0", &[("finish_subtask", &graph("look"))]);
    let told: Value = serde_json::from_str(&world.results("1")[0]).unwrap();
    assert_eq!(
        told,
        json!({ "graph_ref": "graph:1.0.0", "nodes": 2, "edges": 1, "summary": "Reads, then writes", "warnings": [] })
    );
    assert_eq!(
        planning(&world),
        [
            "planning_update planning start @\"call_0\" 1",
            "planning_update validation failed @\"call_0\" 1",
            "planning_update validation end @\"call_0\" 1",
            "task_update planned read @\"call_0\" 1",
            "task_update planned write @\"call_0\" 1",
        ]
    );
    let end = frames(&world).into_iter().rfind(|frame| frame["type"] == "tool_call_update").unwrap();
    assert_eq!(
        (&end["name"], &end["data"]["tasks"][0]["name"]),
        (&json!(OwnTool::BuildWorkflow.name()), &json!("read"))
    );
    world.calls("1", &[("read_result", r#"{"handle":"graph:1.0.0"}"#)]);
    let read: Value = serde_json::from_str(&world.results("1")[1]).unwrap();
    let whole: Value = serde_json::from_str(read["content"].as_str().unwrap()).unwrap();
    assert_eq!(whole, end["data"], "the graph is read as the client got it");
    world.answers("1", "done");
    assert_eq!(world.run.budget().llm_calls(), 6, "the planner's calls count, the one that was repeated too");
}

#[test]
fn a_planner_has_the_turns_limits_and_its_failure_is_an_error_with_a_reason() {
    let mut world = editor(Limits { llm_calls: 2, ..LIMITS });
    world.calls("1", &[ASKED]);
    world.calls("1.0.0", &[("finish_subtask", "{}")]);
    assert!(story(&world).contains(&"budget_exceeded llm_calls".to_owned()), "{:?}", story(&world));
    let mut world = editor(LIMITS);
    world.calls("1", &[ASKED, (OwnTool::BuildWorkflow.name(), "{}")]);
    for _ in 0..4 {
        world.calls("1.0.0", &[("finish_subtask", "{}")]);
    }
    let results = world.results("1");
    assert!(results[0].contains("schema_not_satisfied") && results[1].contains("objective"), "{results:?}");
}

#[test]
fn building_is_offered_in_the_editor_and_only_with_a_registry() {
    let compiled = |editor: bool, registry: bool| {
        let mut order = order();
        order.turn.editor = order.turn.editor.filter(|_| editor);
        let rules = chat::Rules { workflow_registry: registry, ..rules(Mode::Auto, LIMITS) };
        let compiled = chat::compile(order, &rules, &tools()).unwrap();
        (compiled.belt.contains_key(OwnTool::BuildWorkflow.name()), compiled.warnings.len())
    };
    assert_eq!(compiled(true, true), (true, 0));
    assert_eq!(compiled(true, false), (false, 1), "one warning");
    assert_eq!(compiled(false, true), (false, 0));
    assert_eq!(compiled(false, false), (false, 0));
}

fn answering(tasks: Value) -> World {
    let document = json!({ "name": "report", "tasks": tasks });
    let (document, _) = Document::read(&document, &Ensemble::default(), &tools()).unwrap();
    let mut order = order();
    order.turn.history = std::sync::Arc::new(vec![Message::User { text: "earlier".into() }]);
    order.turn.workflow = Some(chat::Flow { id: "w".to_owned(), version: 2 });
    World::of(chat::compile_workflow(order, &document, &rules(Mode::Default, LIMITS), &tools()).unwrap())
}

fn steps() -> Value {
    json!([{ "name": "read", "description": "Read {message} after {history}", "tools": ["look"] },
        { "name": "write", "description": "Write", "context": ["$read"] }])
}

#[test]
fn a_workflow_answers_with_its_last_output_and_its_tasks_stand_in_the_tree() {
    let mut world = answering(steps());
    assert!(world.told("1").join("\n").contains("Read bees after User: earlier"), "{:?}", world.told("1"));
    world.calls("1", &[("look", "{}")]);
    world.returns("1.0.0", "seen");
    world.answers("1", "notes");
    world.answers("2", "the report");
    assert_eq!(
        planning(&world),
        [
            "task_update started read @null 0",
            "task_update completed read @null 0",
            "task_update started write @null 0",
            "task_update completed write @null 0",
        ]
    );
    let call = frames(&world).into_iter().find(|frame| frame["type"] == "tool_call_update").unwrap();
    assert_eq!((&call["parent_id"], &call["depth"]), (&json!("read"), &json!(1)));
    let rows = world.run.rows();
    assert_eq!((rows.len(), rows[1].content.as_str()), (2, "the report"));
    let nodes = rows[1].tree.as_ref().unwrap()["nodes"].clone();
    let shape = |node: &Value| format!("{} {} {} {}", node["id"], node["parent_id"], node["name"], node["is_error"]);
    let nodes: Vec<String> = nodes.as_array().unwrap().iter().map(shape).collect();
    assert_eq!(
        nodes,
        [r#""read" null "task" false"#, r#""call_0" "read" "look" false"#, r#""write" null "task" false"#]
    );
    let story = story(&world);
    assert_eq!(story[story.len() - 3..], ["message assistant", "cost_summary", "chunk COMPLETED"]);
}

#[test]
fn a_workflow_that_fails_or_is_stopped_leaves_a_row_and_one_error() {
    let mut failed = answering(steps());
    failed.fails("1", FailureKind::Unauthorized);
    failed.fails("1", FailureKind::Unauthorized);
    let mut stopped = answering(steps());
    stopped.command(Command::Cancel { mode: CancelMode::Now, by: "me".to_owned() }).unwrap();
    for (world, errors, end) in [(failed, 1, "chunk FAILED"), (stopped, 0, "chunk CANCELLED")] {
        let story = story(&world);
        assert_eq!(story.iter().filter(|line| line.starts_with("error")).count(), errors, "{story:?}");
        assert_eq!(story[story.len() - 3..], ["message assistant", "cost_summary", end]);
        let row = world.run.rows().last().unwrap();
        assert_eq!((row.content.is_empty(), row.is_error), (errors == 0, errors == 1), "{row:?}");
    }
}

#[test]
fn a_workflow_that_waits_for_a_reviewer_is_no_chat() {
    let document = json!({ "name": "w", "tasks": [{ "name": "a", "description": "x", "review": "required" }] });
    let (document, _) = Document::read(&document, &Ensemble::default(), &tools()).unwrap();
    let mistakes = chat::compile_workflow(order(), &document, &rules(Mode::Auto, LIMITS), &tools()).unwrap_err();
    assert_eq!(mistakes[0].place, "workflow_id");
}
