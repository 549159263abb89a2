//! Tests of the rules of a turn that clients rely on, one by one.

use std::sync::Arc;

use serde_json::{Value, json};

use super::chats::{frames, rules, story, subtask_of, tools, turn};
use super::world::{World, reply};
use crate::chat::{self, Answer, Command as Ask, LIMITS, Mode, Order};
use crate::decisions::decide::Command;
use crate::decisions::own_tool::OwnTool;
use crate::state::budget::Limits;
use consort_spec::catalog::{ModelInfo, Permission, ToolInfo};
use consort_spec::message::{Failure, FailureKind, Message};

fn only(world: &World, kind: &str) -> Value {
    let mut found = frames(world).into_iter().filter(|frame| frame["type"] == kind);
    let first = found.next().unwrap_or_else(|| panic!("no {kind}"));
    assert!(found.next().is_none(), "more than one {kind}");
    first
}

#[test]
fn a_subtask_s_result_is_remembered_and_read_on_under_the_id_of_its_call() {
    let mut world = turn(Mode::Auto, Limits { tool_result_bytes: 300, ..LIMITS });
    world.calls(
        "1",
        &[(OwnTool::RunSubtask.name(), &subtask_of("one")), (OwnTool::RunSubtask.name(), &subtask_of("two"))],
    );
    world.answers("1.0.0", &"long ".repeat(100));
    world.answers("1.0.1", "two is done");
    let results = world.results("1");
    assert!(results[0].contains("handle call_0]"), "{results:?}");
    let read = [
        ("memory_read", r#"{"keys":["task:call_1"]}"#),
        ("read_result", r#"{"handle":"call_0","offset":490}"#),
        ("memory_list", r#"{"sources":["call_1"]}"#),
    ];
    world.calls("1", &read);
    let told: Vec<Value> = world.results("1")[2..].iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert_eq!(told[0]["entries"][0]["value"], "two is done");
    assert_eq!(told[1]["content"], "long long ");
    assert_eq!(told[2]["entries"][0]["key"], "task:call_1");
}

#[test]
fn what_a_model_without_tools_wants_to_call_is_not_called_kept_or_sent_again() {
    let mut catalog = tools();
    catalog.models = vec![Arc::new(ModelInfo { tools: false, ..ModelInfo::clone(&catalog.models[0]) })];
    let order = Order { turn: chat::Turn { thread: "t".to_owned(), ..Default::default() }, ..Order::default() };
    let mut world = World::of(chat::compile(order, &rules(Mode::Auto, LIMITS), &catalog).unwrap());
    world.replies("1", reply("words", &[("look", "{}")]));
    assert_eq!(story(&world), ["message user", "message assistant", "cost_summary", "chunk COMPLETED"]);
    let rows = world.run.rows();
    assert_eq!((rows.len(), rows[1].content.as_str()), (2, "words"));
    assert_eq!(chat::history(rows).len(), 2, "no call, so nobody has to answer it");
}

#[test]
fn a_limit_reached_while_the_model_talks_is_the_error_that_is_told() {
    let mut world = turn(Mode::Auto, Limits { wall_clock_ms: 1000, ..LIMITS });
    world.pass(1000);
    assert_eq!(only(&world, "budget_exceeded")["reason"], "wall_clock");
    let error = only(&world, "error");
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!("budget_exceeded"), &json!("the limit of 1000 ms is reached"))
    );
}

#[test]
fn where_no_subtasks_are_allowed_the_name_is_known_and_refused() {
    let mut world = turn(Mode::Auto, Limits { depth: 0, ..LIMITS });
    assert!(!world.offered("1").contains(&OwnTool::RunSubtask.name()));
    world.calls("1", &[(OwnTool::RunSubtask.name(), &subtask_of("one"))]);
    let told: Value = serde_json::from_str(&world.results("1")[0]).unwrap();
    assert_eq!((&told["error"], &told["depth"]), (&json!("max_recursion_depth_reached"), &json!(0)));
}

#[test]
fn a_subtask_takes_no_arguments_it_does_not_have() {
    let mut world = turn(Mode::Auto, LIMITS);
    assert_eq!(OwnTool::RunSubtask.info().schema.json()["additionalProperties"], false);
    world.calls("1", &[(OwnTool::RunSubtask.name(), r#"{"title":"a","instructions":"b","depth":9}"#)]);
    let told: Value = serde_json::from_str(&world.results("1")[0]).unwrap();
    assert_eq!(told["error"], "invalid_arguments");
    assert!(told["message"].as_str().unwrap().contains("`depth`"), "{told}");
}

#[test]
fn whoever_allows_a_tool_for_the_thread_is_not_asked_about_it_again() {
    let mut world = turn(Mode::Default, LIMITS);
    world.calls("1", &[("pay", r#"{"n":1}"#), ("pay", r#"{"n":2}"#), ("put", "{}")]);
    let allow = Ask::Approve { approval: 1, answer: Answer::AllowForChat, by: "me".to_owned(), args: None };
    world.command(Command::Chat(allow)).unwrap();
    assert_eq!(world.places(), ["1.0.0", "1.0.1"]);
    let open = world.run.pending_approvals("turn-1");
    assert_eq!((open.len(), open[0].approval.tool_name.as_str()), (1, "put"), "other tools are asked about as before");
}

#[test]
fn a_client_s_call_takes_as_long_as_the_client_does() {
    let tool = ToolInfo { permission: Permission::EditorMutate, ..ToolInfo::new("ui_add", "client") };
    let turn = chat::Turn { thread: "t".to_owned(), editor: Some(chat::Editor::default()), ..Default::default() };
    let order = Order { client_tools: vec![tool], turn, ..Order::default() };
    let mut world = World::of(chat::compile(order, &rules(Mode::Default, LIMITS), &tools()).unwrap());
    world.calls("1", &[("ui_add", r#"{"input":"node"}"#)]);
    world.pass(700);
    let returned = Ask::Returned { call: "call_0".to_owned(), result: "added".into(), is_error: false };
    world.command(Command::Chat(returned)).unwrap();
    world.answers("1", "done");
    let ended = frames(&world).into_iter().find(|frame| frame["status"] == "end").unwrap();
    assert_eq!(ended["duration_ms"], 700);
    assert_eq!(only(&world, "cost_summary")["tool_calls"], 1);
}

#[test]
fn whatever_was_said_before_can_be_dropped_to_make_room_for_what_is_said_now() {
    let said = |text: String| Message::User { text: text.into() };
    let before = |size: usize, exchanges: usize| {
        let history = Arc::new((0..exchanges).map(|_| said("x".repeat(size))).collect());
        let turn = chat::Turn { thread: "t".to_owned(), content: "now".into(), history, ..Default::default() };
        let limits = Limits { history_tokens: 2000, ..LIMITS };
        World::of(chat::compile(Order { turn, ..Order::default() }, &rules(Mode::Auto, limits), &tools()).unwrap())
    };
    for exchanges in [1, 2, 5] {
        let world = before(60_000, exchanges);
        assert_eq!(world.places(), ["1"], "{:?}", story(&world));
        let told = world.told("1");
        assert_eq!((told.len(), told[1].as_str()), (2, "now"), "a note stands for the rest: {told:?}");
    }
    assert_eq!(before(10, 3).told("1").len(), 4, "what fits stays");
    let turn = chat::Turn { thread: "t".to_owned(), content: "x".repeat(60_000).into(), ..Default::default() };
    let limits = Limits { history_tokens: 2000, ..LIMITS };
    let order = Order { turn, ..Order::default() };
    let world = World::of(chat::compile(order, &rules(Mode::Auto, limits), &tools()).unwrap());
    assert_eq!(only(&world, "budget_exceeded")["reason"], "tokens", "what is said now cannot be dropped");
}

#[test]
fn a_status_a_provider_answers_with_is_told() {
    let mut world = turn(Mode::Auto, LIMITS);
    let kind = FailureKind::Unauthorized;
    for _model in ["big", "small"] {
        let failure =
            Failure { kind, message: "no".to_owned(), retry_after_ms: None, status: Some(401), charged: false };
        world.fails_with("1", failure);
    }
    let error = only(&world, "error");
    assert_eq!((&error["code"], &error["status_code"]), (&json!("http_status_error"), &json!(401)));
}
