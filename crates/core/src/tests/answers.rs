//! Tests of replies that were cut or are empty.

use std::sync::Arc;

use serde_json::{Value, json};

use super::chats::{frames, story, subtask_of, turn};
use super::world::{World, catalog, ensemble, reply, task};
use crate::chat::{self, LIMITS, Mode, Role};
use crate::decisions::decide::Command;
use crate::decisions::next::Effect;
use crate::decisions::own_tool::OwnTool;
use crate::state::budget::Limits;
use crate::state::run::Run;
use consort_spec::catalog::ModelInfo;
use consort_spec::compile::compile;
use consort_spec::draft::{Draft, Ensemble, Request};
use consort_spec::event::{CancelMode, Decision, Event, EventKind};
use consort_spec::message::{Message, Part, Reply, Stop};
use consort_spec::spec::{OnTruncated, ReviewRule};

fn one(draft: Draft) -> World {
    World::new(&ensemble(vec![draft]))
}

fn ruled(on_truncated: OnTruncated) -> World {
    one(Draft { on_truncated, ..task("a", &[]) })
}

/// Returns the frames of a run about replies that were no answer, in short form.
fn settled(world: &World) -> Vec<String> {
    let about = |frame: &Value| ["answer_truncated", "answer_empty"].contains(&frame["type"].as_str().unwrap());
    let word = |frame: Value| format!("{} {}", frame["type"].as_str().unwrap(), frame["then"].as_str().unwrap());
    frames(world).into_iter().filter(about).map(word).collect()
}

fn only_task(world: &World) -> Value {
    json!(world.run.detail("run-1"))["tasks"][0].clone()
}

fn last(world: &World, kind: &str) -> Value {
    frames(world).into_iter().rfind(|frame| frame["type"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

#[test]
fn a_cut_answer_is_continued_and_its_parts_are_one_answer() {
    let mut world = one(Draft { max_iterations: Some(1), ..task("a", &[]) });
    world.cuts("1", "The bees ");
    assert!(world.told("1").last().unwrap().contains("Go on exactly where it stopped"), "{:?}", world.told("1"));
    world.cuts("1", "dance ");
    world.answers("1", "at noon.");
    assert_eq!((world.status(), only_task(&world)["output"].as_str()), ("COMPLETED", Some("The bees dance at noon.")));
    assert_eq!(settled(&world), ["answer_truncated continue", "answer_truncated continue"]);
    assert_eq!(last(&world, "answer_truncated")["continuation"], 2);
    assert_eq!(world.run.budget().llm_calls(), 3, "each part is a call, and none is an iteration");
    assert_eq!(only_task(&world)["truncated"], Value::Null, "a continued answer is whole");
}

#[test]
fn an_answer_that_three_continuations_do_not_end_fails_and_what_was_said_is_kept() {
    let mut world = ruled(OnTruncated::Continue);
    (0..4).for_each(|part| world.cuts("1", &format!("part {part}. ")));
    let task = only_task(&world);
    let failed = last(&world, "task_failed");
    assert_eq!((world.status(), world.run.budget().llm_calls()), ("FAILED", 4));
    assert!(task["error"].as_str().unwrap().starts_with("OUTPUT_TRUNCATED: "), "{task}");
    let said = "part 0. part 1. part 2. part 3. ";
    assert_eq!((&task["partialOutput"], &failed["partialOutput"]), (&json!(said), &json!(said)));
    assert_eq!(task["output"], Value::Null, "what was cut is no output");
    assert_eq!(settled(&world).last().unwrap(), "answer_truncated fail");
}

#[test]
fn a_task_may_fail_at_once_or_take_what_was_cut() {
    let mut world = ruled(OnTruncated::Fail);
    world.cuts("1", "half");
    assert_eq!((world.status(), settled(&world)), ("FAILED", vec!["answer_truncated fail".to_owned()]));
    assert_eq!((world.run.budget().llm_calls(), &only_task(&world)["partialOutput"]), (1, &json!("half")));
    let mut world = ruled(OnTruncated::Accept);
    world.cuts("1", "half");
    assert_eq!((world.status(), settled(&world)), ("COMPLETED", vec!["answer_truncated accept".to_owned()]));
    let task = only_task(&world);
    let completed = last(&world, "task_completed");
    assert_eq!(
        (&task["output"], &task["truncated"], &completed["truncated"]),
        (&json!("half"), &json!(true), &json!(true))
    );
    let row = serde_json::to_value(world.run.summary("run-1").row).unwrap();
    assert_eq!(
        (&row["truncated"], &json!(world.run.result("run-1"))["outputs"][0]["truncated"]),
        (&json!(true), &json!(true))
    );
}

#[test]
fn what_a_provider_withheld_is_no_answer_and_is_not_asked_for_again() {
    let withheld = |calls: &[(&str, &str)]| Reply { stop: Stop::Filtered, ..reply("some", calls) };
    for rule in [OnTruncated::Continue, OnTruncated::Fail] {
        let mut world = ruled(rule);
        world.replies("1", withheld(&[]));
        let task = only_task(&world);
        assert_eq!((world.status(), world.run.budget().llm_calls()), ("FAILED", 1));
        let error = task["error"].as_str().unwrap();
        assert!(error.starts_with("OUTPUT_TRUNCATED: ") && error.contains("content filter"), "{error}");
        assert_eq!(task["partialOutput"], "some");
    }
    let mut world = ruled(OnTruncated::Accept);
    world.replies("1", withheld(&[]));
    assert_eq!((world.status(), &only_task(&world)["truncated"]), ("COMPLETED", &json!(true)));
    let mut world = one(Draft { tools: vec!["pay".to_owned()], ..task("a", &[]) });
    world.replies("1", withheld(&[("pay", "{}")]));
    assert_eq!((world.status(), world.dispatched.len()), ("FAILED", 0), "a call that may be cut is not made");
}

#[test]
fn an_answer_of_which_nothing_is_seen_is_empty() {
    for nothing in ["\u{200b}", " \n\u{200b} ", "\u{2060}\u{feff}", "\u{7}\u{ad}"] {
        let mut world = one(task("a", &[]));
        world.answers("1", nothing);
        world.answers("1", nothing);
        assert!(world.run.error().unwrap().contains("EMPTY_ANSWER"), "{nothing:?}: {:?}", world.run.error());
    }
}

#[test]
fn a_cut_output_that_a_reviewer_rewrites_is_whole() {
    for (decision, truncated) in
        [(Decision::Continue, json!(true)), (Decision::Edit { output: "all".into() }, Value::Null)]
    {
        let rule = OnTruncated::Accept;
        let review = Some(ReviewRule::Required);
        let mut world = one(Draft { on_truncated: rule, review, ..task("a", &[]) });
        world.cuts("1", "half");
        world.command(Command::Review { review: 0, decision, by: "me".to_owned() }).unwrap();
        assert_eq!((world.status(), &only_task(&world)["truncated"]), ("COMPLETED", &truncated));
    }
}

#[test]
fn a_reply_cut_inside_a_call_dispatches_nothing_and_is_asked_again_once() {
    let cut = || Reply { stop: Stop::Length, ..reply("", &[("pay", "{\"n\": 1"), ("pay", "{}")]) };
    for rule in [OnTruncated::Continue, OnTruncated::Accept] {
        let mut world = ruled(rule);
        world.replies("1", cut());
        assert!(world.told("1").last().unwrap().contains("inside a tool call"), "{:?}", world.told("1"));
        assert_eq!(last(&world, "answer_truncated")["inCall"], true);
        world.replies("1", cut());
        assert_eq!((world.status(), world.dispatched.len()), ("FAILED", 0));
        assert!(world.run.error().unwrap().contains("OUTPUT_TRUNCATED"), "{:?}", world.run.error());
    }
    let mut world = ruled(OnTruncated::Continue);
    world.replies("1", cut());
    world.calls("1", &[("pay", "{}")]);
    assert_eq!(world.places(), ["1.1.0"], "a call that came whole is made");
    let sent = world.run.conversations()[&"1".into()].messages().clone();
    let replies = sent.iter().filter(|message| matches!(message, Message::Assistant(_))).count();
    assert_eq!(replies, 1, "the reply that was cut is not sent back");
}

#[test]
fn a_schema_validates_the_joined_text() {
    let schema = json!({ "type": "object", "required": ["n"] });
    let mut world = one(Draft { output_schema: Some(schema), ..task("a", &[]) });
    world.cuts("1", "{\"n\": ");
    world.answers("1", "7}");
    assert_eq!((world.status(), &only_task(&world)["parsedOutput"]), ("COMPLETED", &json!({ "n": 7 })));
}

/// Returns a run of one task with a schema, whose model is told it.
fn told_natively(on_truncated: OnTruncated, schema: Value) -> World {
    let mut catalog = catalog();
    let big = ModelInfo { native_schemas: true, ..(*catalog.models[0]).clone() };
    catalog.models = vec![Arc::new(big), catalog.models[1].clone()];
    let draft = Draft { on_truncated, output_schema: Some(schema), ..task("a", &[]) };
    World::of(compile(&ensemble(vec![draft]), Request::default(), &catalog).unwrap())
}

fn asked_with_schema(world: &World) -> bool {
    matches!(world.waiting.as_slice(), [Effect::Ask(question)] if question.schema.is_some())
}

#[test]
fn json_that_a_provider_was_told_the_schema_of_is_asked_for_again_once_when_it_was_cut() {
    let object = || json!({ "type": "object", "required": ["n"] });
    for rule in [OnTruncated::Continue, OnTruncated::Accept] {
        let mut world = told_natively(rule, object());
        assert!(asked_with_schema(&world));
        world.cuts("1", "{\"n\": ");
        assert!(world.told("1").last().unwrap().contains("inside of its JSON"), "{:?}", world.told("1"));
        let sent = world.run.conversations()[&"1".into()].messages().clone();
        assert!(!sent.iter().any(|message| matches!(message, Message::Assistant(_))), "what was cut is not sent back");
        world.cuts("1", "{\"n\": ");
        assert_eq!((world.status(), world.run.budget().llm_calls()), ("FAILED", 2));
        assert!(world.run.error().unwrap().contains("OUTPUT_TRUNCATED"), "{:?}", world.run.error());
    }
    let mut world = told_natively(OnTruncated::Continue, object());
    world.cuts("1", "{\"n\": ");
    world.answers("1", "{\"n\": 7}");
    assert_eq!((world.status(), &only_task(&world)["parsedOutput"]), ("COMPLETED", &json!({ "n": 7 })));
    assert!(!asked_with_schema(&told_natively(OnTruncated::Continue, json!({ "type": "array" }))), "objects only");
}

#[test]
fn a_blank_reply_is_asked_again_once_with_a_note_and_then_fails() {
    let mut world = ruled(OnTruncated::Continue);
    world.answers("1", " \n");
    assert!(world.told("1").last().unwrap().contains("was empty"), "{:?}", world.told("1"));
    world.answers("1", "here it is");
    assert_eq!((world.status(), &only_task(&world)["output"]), ("COMPLETED", &json!("here it is")));
    for rule in [OnTruncated::Continue, OnTruncated::Fail, OnTruncated::Accept] {
        let mut world = ruled(rule);
        world.answers("1", "<think>endless</think>");
        world.answers("1", "");
        assert!(world.run.error().unwrap().contains("EMPTY_ANSWER"), "{:?}", world.run.error());
        assert_eq!(settled(&world), ["answer_empty continue", "answer_empty fail"]);
        assert_eq!(world.run.budget().llm_calls(), 2);
    }
}

#[test]
fn a_reply_that_reached_the_limit_before_its_first_word_was_cut_and_there_is_nothing_to_accept() {
    let thoughts = || {
        let parts = vec![Part::Thinking { text: "hm".into(), native: None }];
        Reply { wire: String::new(), parts, stop: Stop::Length }
    };
    let mut world = ruled(OnTruncated::Continue);
    world.replies("1", thoughts());
    assert!(world.told("1").last().unwrap().contains("before it said anything"), "{:?}", world.told("1"));
    world.answers("1", "short");
    assert_eq!(only_task(&world)["output"], "short");
    let mut world = ruled(OnTruncated::Accept);
    world.replies("1", thoughts());
    world.replies("1", thoughts());
    assert!(world.run.error().unwrap().contains("EMPTY_ANSWER"), "{:?}", world.run.error());
}

#[test]
fn words_that_were_cut_before_a_call_are_no_part_of_the_answer() {
    let mut world = ruled(OnTruncated::Continue);
    world.cuts("1", "Let me look th");
    world.replies("1", reply("is up.", &[("look", "{}")]));
    world.returns("1.1.0", "seen");
    world.answers("1", "found");
    assert_eq!(only_task(&world)["output"], "found");
}

#[test]
fn continuations_are_paid_for_like_every_call() {
    let limits = Limits { llm_calls: 2, ..Limits::default() };
    let mut world = World::new(&Ensemble { limits, ..ensemble(vec![task("a", &[])]) });
    world.cuts("1", "one ");
    world.cuts("1", "two ");
    assert_eq!((world.status(), world.run.error()), ("FAILED", Some("BUDGET_EXCEEDED")));
    assert_eq!(only_task(&world)["partialOutput"], "one two ", "what was said is kept however it ends");
}

#[test]
fn a_cancel_or_a_crash_in_the_middle_of_an_answer_ends_or_continues_it() {
    for (mode, status) in [(CancelMode::AfterTask, "CANCELLED"), (CancelMode::AfterIteration, "CANCELLED")] {
        let mut world = ruled(OnTruncated::Continue);
        world.command(Command::Cancel { mode, by: "me".to_owned() }).unwrap();
        world.cuts("1", "one ");
        let goes_on = mode == CancelMode::AfterTask;
        assert_eq!(
            world.places().len(),
            usize::from(goes_on),
            "a task under way finishes, an iteration does not go on"
        );
        if goes_on {
            world.answers("1", "two");
        }
        assert_eq!(world.status(), status);
    }
    let mut world = ruled(OnTruncated::Continue);
    world.cuts("1", "one ");
    world.crash();
    world.answers("1", "two");
    assert_eq!(only_task(&world)["output"], "one two", "what was said before the crash stands");
}

#[test]
fn logs_of_earlier_versions_took_every_reply_and_read_as_they_did() {
    let mut world = ruled(OnTruncated::Accept);
    world.cuts("1", "half");
    let old = |event: &Event| {
        let mut stored = serde_json::to_value(event).unwrap();
        let replied = stored["fact"].get_mut("model_replied").and_then(Value::as_object_mut);
        replied.map(|fields| fields.remove("completeness"));
        serde_json::from_value::<Event>(stored).unwrap()
    };
    let kept = world.log.iter().filter(|event| !matches!(event.kind, EventKind::AnswerTruncated { .. }));
    let run = Run::replay(&kept.map(old).collect::<Vec<_>>());
    let task = json!(run.detail("run-1"))["tasks"][0].clone();
    assert_eq!((run.status().word(), &task["output"], &task["truncated"]), ("COMPLETED", &json!("half"), &Value::Null));
}

#[test]
fn a_cut_answer_of_a_chat_is_stored_as_such_and_gone_on_with_by_the_person() {
    let mut world = turn(Mode::Auto, LIMITS);
    world.cuts("1", "half an ans");
    assert_eq!(story(&world), ["message user", "message assistant", "cost_summary", "chunk COMPLETED"]);
    let row = last(&world, "message");
    assert_eq!(
        (&row["content"], &row["truncated"], &row["is_error"]),
        (&json!("half an ans"), &json!(true), &json!(false))
    );
    assert_eq!(settled(&world), ["answer_truncated accept"]);
    let say = chat::UserMessage::continuing("turn-1-1".to_owned());
    let turn =
        chat::Turn { thread: "t".to_owned(), content: say.content, continues: say.continues, ..Default::default() };
    let order = chat::Order { turn, ..Default::default() };
    let mut world =
        World::of(chat::compile(order, &super::chats::rules(Mode::Auto, LIMITS), &super::chats::tools()).unwrap());
    world.answers("1", "wer");
    let row = last(&world, "message");
    assert_eq!(
        (&row["content"], &row["truncated"], &row["continues"]),
        (&json!("wer"), &json!(false), &json!("turn-1-1"))
    );
}

#[test]
fn a_chat_that_is_answered_with_nothing_or_with_half_a_call_fails_with_a_code_of_its_own() {
    let code = |world: &World| last(world, "error")["code"].clone();
    let mut world = turn(Mode::Auto, LIMITS);
    world.answers("1", "");
    world.answers("1", "");
    assert_eq!(
        (code(&world), settled(&world)),
        (json!("empty_answer"), vec!["answer_empty continue".into(), "answer_empty fail".into()])
    );
    let mut world = turn(Mode::Auto, LIMITS);
    for _time in 0..2 {
        world.replies("1", Reply { stop: Stop::Length, ..reply("I look.", &[("look", "{")]) });
    }
    assert_eq!((code(&world), world.run.rows().len()), (json!("output_truncated"), 2), "no call, so no row of one");
}

#[test]
fn a_subtask_of_a_chat_is_continued_like_a_task_and_its_caller_is_told_what_came_of_it() {
    let mut world = turn(Mode::Auto, LIMITS);
    world.calls(
        "1",
        &[(OwnTool::RunSubtask.name(), &subtask_of("one")), (OwnTool::RunSubtask.name(), &subtask_of("two"))],
    );
    world.cuts("1.0.0", "first ");
    world.answers("1.0.0", "second");
    (0..4).for_each(|_| world.cuts("1.0.1", "more "));
    let results = world.results("1");
    let told: Value = serde_json::from_str(&results[1]).unwrap();
    assert_eq!((results[0].as_str(), &told["error"]), ("first second", &json!("output_truncated")));
    assert_eq!(told["partial_output"], "more more more more ");
    let parts: Vec<Value> =
        frames(&world).into_iter().filter(|frame| frame["type"] == "llm_started" && frame["depth"] == 1).collect();
    let ids: std::collections::BTreeSet<&str> = parts.iter().filter_map(|frame| frame["call_id"].as_str()).collect();
    assert_eq!((parts.len(), ids.len()), (6, 6), "each part is a call of its own");
}

#[test]
fn a_failed_turn_says_in_its_row_what_failed_and_only_what_was_said_is_sent_again() {
    let mut world = turn(Mode::Auto, LIMITS);
    world.pass(LIMITS.wall_clock_ms);
    let row = last(&world, "message");
    assert_eq!((&row["role"], &row["is_error"]), (&json!("assistant"), &json!(true)));
    assert_eq!(row["content"], last(&world, "error")["message"]);
    let rows = world.run.rows();
    assert_eq!(chat::history(rows).len(), 1, "an error is not what the model said");
    let failed = chat::Row { partial: "I had be".into(), ..rows[1].clone() };
    assert!(failed.view("t", 1).content.as_str().starts_with("I had be\n\n"));
    let sent = chat::history([&rows[0], &failed]);
    let Some(Message::Assistant(said)) = sent.last() else { panic!("{sent:?}") };
    assert_eq!((said.text(), failed.role), ("I had be".to_owned(), Role::Assistant));
}
