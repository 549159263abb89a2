//! Tests of a chat's turn: its frames, its questions for permission, its end.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::described;
use super::properties;
use super::world::{World, catalog};
use crate::chat::{self, Answer, Command as Ask, LIMITS, Mode, Order, Rules};
use crate::decisions::decide::{Command, Refused};
use crate::decisions::own_tool::OwnTool;
use crate::state::budget::Limits;
use crate::state::gate::DecidedBy;
use crate::state::run::Run;
use consort_spec::catalog::{EffectClass, Permission, ToolInfo};
use consort_spec::event::{CancelMode, EventKind};
use consort_spec::id::Id;
use consort_spec::message::{FailureKind, Message};

pub(super) fn rules(mode: Mode, limits: Limits) -> Rules {
    Rules { limits, mode, ..Rules::default() }
}

/// Returns the tools of these tests: `pay` has an external effect and happens once, `write` stays in the
/// workspace.
pub(super) fn tools() -> consort_spec::compile::Catalog {
    let mut catalog = catalog();
    for tool in &mut catalog.tools {
        let permission = Permission::Network;
        *tool = Arc::new(ToolInfo { permission, ..ToolInfo::clone(tool) });
    }
    let write =
        ToolInfo { effect: EffectClass::Once, permission: Permission::WorkspaceWrite, ..ToolInfo::new("write", "") };
    catalog.tools.push(Arc::new(write));
    catalog.tools.push(Arc::new(ToolInfo { permission: Permission::Secrets, ..ToolInfo::new("vault", "") }));
    catalog
}

pub(super) fn turn(mode: Mode, limits: Limits) -> World {
    let turn = chat::Turn {
        thread: "t".to_owned(),
        base: 100,
        content: "hello".into(),
        mode,
        approval_timeout_ms: 600_000,
        ..Default::default()
    };
    World::of(chat::compile(Order { turn, ..Order::default() }, &rules(mode, limits), &tools()).unwrap())
}

pub(super) fn frames(world: &World) -> Vec<Value> {
    let mut run = Run::default();
    let frame = |(seq, event): (usize, &consort_spec::event::Event)| {
        run.apply(event);
        described::json(&run.frame("turn-1", seq as u64, event))
    };
    world.log.iter().enumerate().map(frame).collect()
}

/// Returns the frames in short form: type and distinguishing fields.
pub(super) fn story(world: &World) -> Vec<String> {
    let known = [
        "message",
        "tool_call_update",
        "tool_call",
        "tool_approval_request",
        "tool_approval_resolved",
        "error",
        "budget_exceeded",
        "cost_summary",
        "chunk",
        "turn_stopped",
    ];
    let word = |frame: &Value| {
        let kind = frame["type"].as_str().unwrap().to_owned();
        let more = [
            &frame["role"],
            &frame["tool_call_id"],
            &frame["status"],
            &frame["code"],
            &frame["reason"],
            &frame["decision"],
        ];
        let more: Vec<&str> = more.into_iter().filter_map(Value::as_str).collect();
        format!("{kind} {}", more.join(" ")).trim().to_owned()
    };
    frames(world).iter().filter(|frame| known.contains(&frame["type"].as_str().unwrap())).map(word).collect()
}

pub(super) fn subtask_of(title: &str) -> String {
    json!({ "title": title, "instructions": format!("do {title}") }).to_string()
}

#[test]
fn an_answer_without_calls_is_one_row_and_the_frames_are_numbered_over_the_thread() {
    let mut world = turn(Mode::Default, LIMITS);
    world.answers("1", "hi there");
    assert_eq!(story(&world), ["message user", "message assistant", "cost_summary", "chunk COMPLETED"]);
    let frames = frames(&world);
    let numbers: Vec<u64> = frames.iter().map(|frame| frame["chat_seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (100..100 + frames.len() as u64).collect::<Vec<_>>());
    assert!(frames.iter().all(|frame| frame["thread_id"] == "t" && frame["turn_id"] == "turn-1"));
    let rows = world.run.rows();
    assert_eq!((rows.len(), rows[1].content.as_str(), &rows[1].tree), (2, "hi there", &None));
    assert_eq!(frames.last().unwrap()["done"], true);
}

#[test]
fn calls_are_announced_in_the_order_asked_and_end_in_the_order_they_return() {
    let mut world = turn(Mode::Auto, LIMITS);
    world.calls("1", &[("look", "{}"), ("lock", "{}"), ("put", "{}")]);
    world.returns("1.0.2", "late");
    world.returns("1.0.0", "seen");
    world.returns("1.0.1", "locked");
    world.answers("1", "done");
    let expected = [
        "message user",
        "message assistant",
        "tool_call_update call_0 start",
        "tool_call_update call_1 start",
        "tool_call_update call_2 start",
        "tool_call_update call_2 end",
        "tool_call_update call_0 end",
        "tool_call_update call_1 end",
        "message assistant",
        "cost_summary",
        "chunk COMPLETED",
    ];
    assert_eq!(story(&world), expected);
    let told: Vec<&str> = world.run.rows().iter().map(|row| row.content.as_str()).collect();
    assert_eq!(told, ["hello", "", "seen", "locked", "late", "done"], "rows keep the order asked");
    let history = chat::history(world.run.rows());
    assert_eq!(history.len(), 6);
}

#[test]
fn ids_a_provider_uses_twice_are_told_apart_and_the_tree_knows_its_parents() {
    let mut world = turn(Mode::Auto, LIMITS);
    world.calls("1", &[(OwnTool::RunSubtask.name(), &subtask_of("one"))]);
    world.calls("1.0.0", &[("look", r#"{"n":1}"#)]);
    world.returns("1.0.0.0.0", "seen");
    world.answers("1.0.0", "found");
    world.answers("1", "done");
    let tree = world.run.rows().last().unwrap().tree.clone().unwrap();
    let nodes: Vec<(&str, Option<&str>, &str)> = tree["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| {
            (node["id"].as_str().unwrap(), node["parent_id"].as_str(), node["result_preview"].as_str().unwrap())
        })
        .collect();
    assert_eq!(nodes, [("call_0", None, "found"), ("1.0.0.0.0", Some("call_0"), "seen")]);
    assert_eq!(tree["nodes"][0]["title"], "one");
    let ended = frames(&world)
        .into_iter()
        .find(|frame| frame["tool_call_id"] == "1.0.0.0.0" && frame["status"] == "end")
        .unwrap();
    assert_eq!((&ended["parent_id"], &ended["depth"]), (&json!("call_0"), &json!(1)));
}

#[test]
fn a_program_is_offered_unlisted_and_asked_about_in_auto_too_unless_the_file_lists_its_class() {
    let mut catalog = tools();
    let program = ToolInfo::new("run_command", "");
    catalog.tools.push(Arc::new(ToolInfo { permission: Permission::Execute, effect: EffectClass::Once, ..program }));
    let called = |rules: &Rules| {
        let turn = chat::Turn {
            thread: "t".to_owned(),
            content: "hello".into(),
            mode: Mode::Auto,
            approval_timeout_ms: 600_000,
            ..Default::default()
        };
        let mut world = World::of(chat::compile(Order { turn, ..Order::default() }, rules, &catalog).unwrap());
        world.calls("1", &[("run_command", r#"{"input":"x"}"#)]);
        (world.places().len(), world.run.pending_approvals("turn-1").len())
    };
    let unlisted = rules(Mode::Auto, LIMITS);
    assert_eq!(called(&unlisted), (0, 1), "a person is asked");
    let classes = vec![Permission::Safe, Permission::Execute];
    assert_eq!(called(&Rules { classes, ..unlisted }), (1, 0), "the file has allowed it");
}

#[test]
fn effects_outside_the_workspace_wait_for_a_person_and_the_first_answer_holds() {
    let mut world = turn(Mode::Default, LIMITS);
    world.calls("1", &[("pay", r#"{"n":1}"#), ("look", "{}"), ("write", r#"{"input":"x"}"#)]);
    assert_eq!(world.places(), ["1.0.1", "1.0.2"], "reads and what stays in the workspace need no question");
    let answer = |world: &mut World, answer| {
        world.command(Command::Chat(Ask::Approve { approval: 0, answer, by: "me".to_owned(), args: None }))
    };
    let asked = json!(world.run.pending_approvals("turn-1"));
    assert_eq!(
        (&asked[0]["tool_name"], &asked[0]["args"], &asked[0]["category"]),
        (&json!("pay"), &json!({ "n": 1 }), &json!("external"))
    );
    world.crash();
    answer(&mut world, Answer::AllowForChat).unwrap();
    let made = DecidedBy { by: "me".to_owned(), at: world.now };
    let refused = answer(&mut world, Answer::Deny);
    assert_eq!(refused, Err(Refused::Answered { answer: Answer::AllowForChat, made }));
    for call in ["1.0.0", "1.0.1"] {
        world.returns(call, "ok");
    }
    world.calls("1", &[("pay", r#"{"n":2}"#)]);
    assert_eq!(world.places(), ["1.1.0"], "allowed for the rest of the thread");
    world.returns("1.1.0", "paid");
    world.answers("1", "done");
    assert_eq!(world.status(), "COMPLETED");
}

#[test]
fn a_denied_or_forgotten_question_is_an_answer_to_the_model() {
    let mut world = turn(Mode::Default, LIMITS);
    world.calls("1", &[("pay", "{}"), ("pay", r#"{"n":2}"#)]);
    let deny = Ask::Approve { approval: 0, answer: Answer::Deny, by: "me".to_owned(), args: None };
    world.command(Command::Chat(deny)).unwrap();
    world.pass(600_000);
    let told = world.results("1");
    assert!(told.iter().all(|text| text.contains("permission_denied")), "{told:?}");
    assert_eq!(world.status(), "RUNNING", "waiting for a person does not use up the clock");
}

#[test]
fn plan_mode_refuses_and_auto_answers_what_is_open() {
    let mut plan = turn(Mode::Plan, LIMITS);
    plan.calls("1", &[("write", r#"{"input":"x"}"#), ("look", "{}")]);
    assert_eq!(plan.places(), ["1.0.1"]);
    plan.returns("1.0.1", "seen");
    assert!(plan.results("1")[0].contains("blocked_in_plan_mode"));
    let mut world = turn(Mode::Default, LIMITS);
    world.calls("1", &[("pay", "{}")]);
    world.command(Command::Chat(Ask::SetMode { mode: Mode::Auto, by: "me".to_owned() })).unwrap();
    assert_eq!(world.places(), ["1.0.0"]);
}

#[test]
fn a_stopped_turn_ends_every_call_and_keeps_what_was_said() {
    let mut world = turn(Mode::Default, LIMITS);
    world
        .calls("1", &[("look", "{}"), ("pay", "{}"), ("lock", "{}"), (OwnTool::RunSubtask.name(), &subtask_of("one"))]);
    world.calls("1.0.3", &[("pay", r#"{"n":1}"#)]);
    world.command(Command::Cancel { mode: CancelMode::Now, by: "me".to_owned() }).unwrap();
    let story = story(&world);
    let count = |what: &str| story.iter().filter(|line| line.contains(what)).count();
    assert_eq!((count(" start"), count(" end")), (5, 5), "{story:?}");
    assert_eq!(story[story.len() - 3..], ["message assistant", "cost_summary", "chunk CANCELLED"]);
    assert!(!story.iter().any(|line| line.starts_with("error")), "{story:?}");
    let nodes = world.run.rows().last().unwrap().tree.clone().unwrap();
    assert_eq!(nodes["nodes"].as_array().unwrap().len(), 5);
    assert!(chat::history(world.run.rows()).len() >= 6);
}

#[test]
fn a_breach_is_told_once_then_the_calls_end_then_the_error() {
    let mut world = turn(Mode::Auto, Limits { tool_calls: 2, ..LIMITS });
    world.calls("1", &[("look", "{}"), ("look", "{}"), ("look", "{}")]);
    let expected = [
        "message user",
        "message assistant",
        "tool_call_update call_0 start",
        "tool_call_update call_1 start",
        "tool_call_update call_2 start",
        "budget_exceeded tool_calls",
        "tool_call_update call_0 end",
        "tool_call_update call_1 end",
        "tool_call_update call_2 end",
        "error budget_exceeded",
        "message assistant",
        "cost_summary",
        "chunk FAILED",
    ];
    assert_eq!(story(&world), expected);
    assert_eq!(world.dispatched.len(), 0, "none of a batch that does not fit is made");
    let breach = frames(&world).into_iter().find(|frame| frame["type"] == "budget_exceeded").unwrap();
    assert_eq!((&breach["limit"], &breach["observed"]), (&json!(2), &json!(3)));

    let mut world = turn(Mode::Auto, Limits { tool_calls: 2, ..LIMITS });
    world.calls("1", &[("look", "{}"); 7]);
    let breach = frames(&world).into_iter().find(|frame| frame["type"] == "budget_exceeded").unwrap();
    assert_eq!(breach["observed"], 3, "the first that does not fit is the one too many");
}

#[test]
fn trouble_with_the_model_has_a_code_and_the_turn_has_its_rows() {
    let mut world = turn(Mode::Auto, LIMITS);
    world.fails("1", FailureKind::Unauthorized);
    world.fails("1", FailureKind::Unauthorized);
    assert_eq!(
        story(&world),
        ["message user", "error provider_error", "message assistant", "cost_summary", "chunk FAILED"]
    );
    let mut world = turn(Mode::Auto, Limits { iterations_per_level: 1, ..LIMITS });
    world.calls("1", &[("look", "{}")]);
    let story = story(&world);
    assert!(story.contains(&"error iteration_limit".to_owned()), "{story:?}");
    assert!(story.contains(&"tool_call_update call_0 end".to_owned()), "{story:?}");
}

#[test]
fn the_belt_follows_the_rules_and_a_client_cannot_shadow_a_server_tool() {
    let world = turn(Mode::Auto, LIMITS);
    let offered = world.offered("1");
    assert_eq!(offered[..5], ["run_subtask", "memory_list", "memory_read", "memory_write", "read_result"]);
    assert!(offered.contains(&"pay") && !offered.contains(&"vault"), "{offered:?}");
    let client = |name: &str| ToolInfo {
        permission: Permission::EditorMutate,
        effect: EffectClass::Once,
        ..ToolInfo::new(name, "client")
    };
    let order = |editor| Order {
        client_tools: vec![client("ui_add"), client("pay"), client("sneaky")],
        turn: chat::Turn { thread: "t".to_owned(), editor, ..Default::default() },
        ..Order::default()
    };
    let names = |editor| chat::compile(order(editor), &rules(Mode::Auto, LIMITS), &tools()).unwrap().belt;
    let editor = names(Some(chat::Editor::default()));
    assert!(editor.contains_key("ui_add") && !editor.contains_key("sneaky"));
    assert_eq!(editor["pay"].description, "a tool");
    assert!(!names(None).contains_key("ui_add"));
}

/// Returns the system message of a model.
fn system(world: &World, turn: &str) -> String {
    let first = world.run.conversations()[&Id::from(turn)].messages().first();
    let Some(Message::System { text }) = first else { panic!("{first:?}") };
    text.to_string()
}

/// Returns the words that a prompt marks as names.
fn named(prompt: &str) -> BTreeSet<&str> {
    prompt.split('`').skip(1).step_by(2).collect()
}

#[test]
fn a_prompt_names_every_argument_of_the_tools_it_describes_and_only_those() {
    for (world, described) in [(turn(Mode::Auto, LIMITS), 1), (in_editor(LIMITS), 2)] {
        let prompt = system(&world, "1");
        let mut others = named(&prompt);
        let mut found = 0;
        for (name, tool) in world.run.belt() {
            let Some((_, after)) = prompt.split_once(&format!("`{name}` (")) else { continue };
            let arguments = named(after.split_once(')').unwrap().0);
            let schema = tool.schema.json();
            let properties: BTreeSet<&str> =
                schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(arguments, properties, "{name}");
            others.retain(|other| !arguments.contains(other));
            found += 1;
        }
        assert_eq!(found, described);
        assert!(others.iter().all(|other| *other == chat::CLIENT_PREFIX || world.run.belt().contains_key(*other)));
    }
}

#[test]
fn a_subtask_is_told_of_the_tools_it_has_and_of_no_others() {
    let limits = Limits { depth: 2, ..LIMITS };
    let mut world = turn(Mode::Auto, limits);
    let owes = json!({ "title": "a", "instructions": "a", "output_schema": { "type": "object" } }).to_string();
    world.calls("1", &[(OwnTool::RunSubtask.name(), &owes)]);
    world.calls("1.0.0", &[(OwnTool::RunSubtask.name(), &subtask_of("b"))]);
    for (place, hands_on, finishes) in [("1.0.0", true, true), ("1.0.0.0.0", false, false)] {
        let prompt = system(&world, place);
        assert_eq!(
            (prompt.contains(OwnTool::RunSubtask.name()), prompt.contains(OwnTool::FinishSubtask.name())),
            (hands_on, finishes),
            "{place}"
        );
    }
}

/// Creates a turn in the editor, with one tool of the client's.
fn in_editor(limits: Limits) -> World {
    let tool = ToolInfo {
        permission: Permission::EditorMutate,
        effect: EffectClass::Once,
        parallel_safe: false,
        ..ToolInfo::new("ui_add", "client")
    };
    let turn = chat::Turn { thread: "t".to_owned(), editor: Some(chat::Editor::default()), ..Default::default() };
    let order = Order { client_tools: vec![tool], turn, ..Order::default() };
    World::of(chat::compile(order, &rules(Mode::Default, limits), &tools()).unwrap())
}

#[test]
fn a_client_has_no_longer_to_answer_than_its_turn_has_left() {
    let expires = |limits: Limits| {
        let mut world = in_editor(limits);
        world.pass(1_000);
        world.calls("1", &[("ui_add", r#"{"input":"node"}"#)]);
        let due = world.log.iter().find_map(|event| match &event.kind {
            EventKind::Chat(chat::ChatEventKind::ClientCalled { due, .. }) => Some(due - event.at),
            _ => None,
        });
        due.unwrap()
    };
    assert_eq!(expires(Limits { wall_clock_ms: 0, ..LIMITS }), chat::CLIENT_TIMEOUT_MS);
    assert_eq!(expires(Limits { wall_clock_ms: 1_000_000, ..LIMITS }), chat::CLIENT_TIMEOUT_MS);
    assert!(expires(LIMITS) < LIMITS.wall_clock_ms, "what the turn has used already counts");
}

#[test]
fn a_call_of_the_client_is_its_frame_and_its_answer_the_result() {
    let mut world = in_editor(Limits { wall_clock_ms: 0, ..LIMITS });
    world.calls("1", &[("ui_add", r#"{"input":"node"}"#)]);
    assert!(story(&world).contains(&"tool_call call_0".to_owned()), "{:?}", story(&world));
    world.crash();
    let returned = |result: &str| {
        Command::Chat(Ask::Returned { call: "call_0".to_owned(), result: result.into(), is_error: false })
    };
    world.command(returned("added")).unwrap();
    assert_eq!(world.command(returned("twice")), Err(Refused::Stale));
    assert_eq!(world.results("1"), ["added"]);
    world.calls("1", &[("ui_add", r#"{"input":"edge"}"#)]);
    world.pass(chat::CLIENT_TIMEOUT_MS);
    let results = world.results("1");
    assert_eq!(results.len(), 2, "each call ends once, whenever it was due: {results:?}");
    assert!(results[1].contains("the client did not answer in time"), "{results:?}");
}

/// Runs eight subtasks, each writing and calling, whose ends come in a given order.
fn race(order: &[usize]) -> (Vec<String>, Vec<String>) {
    let mut world = turn(Mode::Auto, LIMITS);
    let orders: Vec<String> = (0..10).map(|n| subtask_of(&format!("part {n}"))).collect();
    let calls: Vec<(&str, &str)> = orders.iter().map(|order| (OwnTool::RunSubtask.name(), order.as_str())).collect();
    world.calls("1", &calls);
    assert_eq!(world.waiting.len(), 8, "eight are asked at once, two wait");
    let mut left: Vec<usize> = (0..10).collect();
    let mut picks = order.iter().cycle();
    while !left.is_empty() {
        let open: Vec<usize> =
            left.iter().copied().filter(|n| world.places().contains(&format!("1.0.{n}").as_str())).collect();
        let n = open[picks.next().unwrap() % open.len()];
        let note = json!({ "key": "who", "value": n }).to_string();
        world.calls(&format!("1.0.{n}"), &[("memory_write", &note), ("look", "{}")]);
        world.returns(&format!("1.0.{n}.0.1"), &format!("seen {n}"));
        world.answers(&format!("1.0.{n}"), &format!("answer {n}"));
        left.retain(|other| *other != n);
    }
    world.calls("1", &[("memory_read", r#"{"keys":["who"]}"#)]);
    let results = world.results("1");
    world.answers("1", "done");
    let tree = world.run.rows().last().unwrap().tree.clone().unwrap();
    let mut nodes: Vec<String> = tree["nodes"].as_array().unwrap().iter().map(shape).collect();
    nodes.sort();
    (results, nodes)
}

/// Returns a node without the names generated for calls whose id was taken, which depend on the position.
fn shape(node: &Value) -> String {
    format!("{} {} {}", node["name"], node["title"], node["result_preview"])
}

/// Checks that each announced call starts once and ends once, and that the turn is closed once with nothing
/// after it.
fn is_whole(world: &World) {
    let mut open = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let frames = frames(world);
    for frame in &frames {
        let id = frame["tool_call_id"].to_string();
        match (frame["type"].as_str().unwrap(), frame["status"].as_str()) {
            ("tool_call_update", Some("start")) => assert!(seen.insert(id.clone()) && open.insert(id), "{frame}"),
            ("tool_call_update", _) => assert!(open.remove(&id), "ended without a start, or twice: {frame}"),
            _ => {}
        }
    }
    assert!(open.is_empty(), "every call ends: {open:?}");
    let closing: Vec<&str> = frames[frames.len() - 3..].iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    assert_eq!(closing, ["message", "cost_summary", "chunk"]);
    assert_eq!(frames.iter().filter(|frame| frame["done"] == true).count(), 1);
    assert!(frames.iter().filter(|frame| frame["type"] == "budget_exceeded").count() <= 1);
    let nodes =
        world.run.rows().last().unwrap().tree.as_ref().map_or(0, |tree| tree["nodes"].as_array().unwrap().len());
    assert_eq!(nodes, seen.len(), "every call is in the tree");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn whatever_happens_in_a_turn_it_ends_whole(choices in proptest::collection::vec(any::<u16>(), 0..120)) {
        let mut world = turn(Mode::Default, properties::LIMITS);
        for choice in choices {
            if world.run.ended() {
                break;
            }
            world.choose(choice);
            properties::within_limits(&world);
        }
        world.finish();
        properties::check(&world);
        is_whole(&world);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whoever_is_faster_the_history_the_memory_and_the_tree_are_the_same(order in proptest::collection::vec(0..8usize, 10..20)) {
        let (results, tree) = race(&order);
        let (calm, calm_tree) = race(&[0]);
        let times = |results: &[String]| results.iter().map(|text| text.split("created_at").next().unwrap().to_owned()).collect::<Vec<_>>();
        prop_assert_eq!(times(&results), times(&calm));
        prop_assert_eq!(tree, calm_tree);
    }
}
