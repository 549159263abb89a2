//! Frames as a server sends them, and the resulting output.

use std::time::Duration;

use serde_json::{Value, json};

use super::story::{End, Role, Shown, Story};
use crate::show::frame::Frame;

/// Returns the output as one text: words in quotes, lines as they are.
fn told(story: &mut Story, frames: &[Value]) -> Vec<String> {
    let frame = |frame: &Value| Frame::parse(&frame.to_string()).unwrap();
    let shown = frames.iter().flat_map(|each| story.apply(&frame(each), Duration::ZERO));
    let text = |shown: Shown| match shown {
        Shown::Words(words) => format!("{words:?}"),
        Shown::Said(Role::Aside) => "aside".to_owned(),
        Shown::Said(Role::Answer) => "answer".to_owned(),
        Shown::Void => "void".to_owned(),
        Shown::Line(line) => line.text(),
    };
    shown.map(text).collect()
}

fn chunk(call: &str, offset: usize, words: &str) -> Value {
    json!({ "type": "chunk", "call_id": call, "parent_id": null, "depth": 0, "content": words, "offset": offset })
}

fn begins(id: &str, parent: Option<&str>, name: &str, args: Value) -> Value {
    json!({ "type": "tool_call_update", "status": "start", "tool_call_id": id, "parent_id": parent, "name": name,
        "depth": u8::from(parent.is_some()), "message": args.get("title"), "args": args })
}

fn ends(id: &str, parent: Option<&str>, failure: Option<&str>) -> Value {
    json!({ "type": "tool_call_update", "status": "end", "tool_call_id": id, "parent_id": parent, "name": "x",
        "depth": u8::from(parent.is_some()), "result": failure.unwrap_or("42"), "is_error": failure.is_some(), "duration_ms": 1_500 })
}

fn message(content: &str, tool_calls: Value) -> Value {
    json!({ "type": "message", "role": "assistant", "content": content, "tool_calls": tool_calls, "depth": 0 })
}

fn done(status: &str) -> Value {
    json!({ "type": "chunk", "content": "", "done": true, "parent_id": null, "depth": 0, "status": status })
}

#[test]
fn a_call_is_told_with_everything_below_it_when_it_ends() {
    let mut story = Story::default();
    let shown = told(
        &mut story,
        &[
            begins("a", None, "run_subtask", json!({ "title": "Count\nbees", "instructions": "…" })),
            begins("b", None, "json", json!({ "json": [1], "query": "." })),
            begins("c", Some("a"), "calculator", json!({ "input": "6 * 7" })),
            json!({ "type": "chunk", "call_id": "1.0.0#1.0", "parent_id": "a", "depth": 1, "content": "inner", "offset": 0 }),
            begins("d", Some("a"), "datetime", json!({})),
            ends("c", Some("a"), None),
            ends("b", None, Some("no\nsuch query")),
        ],
    );
    assert_eq!(shown, [r#"✗ json {"json":[1],"query":"."}  1.5s  no such query"#]);
    let live: Vec<String> = story.calls.lines(Duration::from_secs(2)).iter().map(|line| line.text()).collect();
    assert_eq!(live, ["⠋ subtask Count bees  2.0s", "  ✓ calculator 6 * 7  1.5s", "  ⠋ datetime  2.0s"]);
    let shown = told(&mut story, &[ends("d", Some("a"), None), ends("a", None, None)]);
    assert_eq!(shown, ["✓ subtask Count bees  1.5s", "  ✓ calculator 6 * 7  1.5s", "  ✓ datetime  1.5s"]);
    assert!(story.calls.lines(Duration::ZERO).is_empty());
}

#[test]
fn words_are_shown_once_although_a_broken_connection_brings_them_again() {
    let mut story = Story::default();
    let frames = [
        chunk("1#1.0", 0, "Bées "),
        chunk("1#1.0", 6, "are"),
        chunk("1#1.0", 0, "Bées are bu"),
        json!({ "type": "chunk", "call_id": "1#1.0", "depth": 0, "content": "hm", "thinking": true }),
        json!({ "type": "llm_completed", "depth": 0, "call_id": "1#1.0", "content": "Bées are busy." }),
        message("Bées are busy.", Value::Null),
        done("COMPLETED"),
    ];
    assert_eq!(told(&mut story, &frames), [r#""Bées ""#, r#""are""#, r#"" bu""#, r#""sy.""#, "answer"]);
    assert_eq!((story.answer.as_deref(), story.end), (Some("Bées are busy."), Some(End::Done)));
}

#[test]
fn what_a_model_said_before_it_failed_or_died_does_not_count() {
    let failed =
        json!({ "type": "llm_voided", "depth": 0, "call_id": "1#1.0", "message": "overloaded", "then": "retry" });
    let adopted = |epoch| json!({ "type": "turn_adopted", "epoch": epoch });
    let frames = [
        adopted(1),
        chunk("1#1.0", 0, "Al"),
        failed,
        chunk("1#1.1", 0, "So"),
        adopted(2),
        chunk("1#2.0", 0, "Well"),
        message("Well, one moment.", json!([{ "id": "a" }])),
    ];
    let expected = [
        r#""Al""#,
        "void",
        "the model failed: overloaded; it is asked again",
        r#""So""#,
        "void",
        "the server was started again; the turn goes on",
        r#""Well""#,
        r#"", one moment.""#,
        "aside",
    ];
    let mut story = Story::default();
    assert_eq!(told(&mut story, &frames), expected);
    assert_eq!(story.answer, None, "words before a call are not the answer");
}

#[test]
fn a_question_stands_until_it_is_resolved_and_names_the_subtask_it_comes_from() {
    let mut story = Story::default();
    let args = json!({ "to": "Ada", "amount": 5 });
    let asked = json!({ "type": "tool_approval_request", "approval_id": "t-approval-0", "tool_call_id": "b",
        "tool_name": "pay", "args": args, "parent_id": "a", "depth": 1 });
    let frames =
        [begins("a", None, "run_subtask", json!({ "title": "Shop" })), begins("b", Some("a"), "pay", args), asked];
    assert_eq!(told(&mut story, &frames), [""; 0]);
    let [approval] = story.approvals.as_slice() else { panic!("{:?}", story.approvals) };
    assert_eq!((approval.tool.as_str(), approval.within.as_slice()), ("pay", ["subtask Shop".to_owned()].as_slice()));
    assert_eq!(approval.args, "{\n  \"to\": \"Ada\",\n  \"amount\": 5\n}");
    let live: Vec<String> = story.calls.lines(Duration::ZERO).iter().map(|line| line.text()).collect();
    assert_eq!(live[1], r#"  ? pay {"to":"Ada","amount":5}  0.0s"#);
    told(&mut story, &[json!({ "type": "tool_approval_resolved", "approval_id": "t-approval-0", "decision": "deny" })]);
    assert!(story.approvals.is_empty());
}

#[test]
fn replies_that_are_no_answer_are_told_and_a_cut_answer_says_how_to_go_on() {
    let mut story = Story::default();
    let settled = |kind: &str, then: &str| json!({ "type": kind, "then": then, "in_call": false, "depth": 0 });
    let frames = [
        settled("answer_empty", "continue"),
        chunk("1#2.0", 0, "Half"),
        json!({ "type": "llm_completed", "content": "Half", "depth": 0 }),
        settled("answer_truncated", "accept"),
        json!({ "type": "message", "role": "assistant", "content": "Half", "truncated": true }),
        done("COMPLETED"),
    ];
    let expected = [
        "the model said nothing; it is asked again",
        r#""Half""#,
        "answer",
        "the answer was cut at the output limit; /continue goes on with it",
    ];
    assert_eq!(told(&mut story, &frames), expected);
    assert_eq!((story.answer.as_deref(), story.end), (Some("Half"), Some(End::Done)));
}

#[test]
fn trouble_is_told_where_it_happens_and_a_partial_answer_stays() {
    let mut story = Story::default();
    let frames = [
        chunk("1#1.0", 0, "So far"),
        json!({ "type": "budget_exceeded", "reason": "llm_calls", "limit": 3, "observed": 4 }),
        json!({ "type": "error", "code": "iteration_limit", "message": "too many rounds" }),
        json!({ "type": "message", "role": "assistant", "content": "So far\n\ntoo many rounds", "is_error": true }),
        done("FAILED"),
    ];
    let expected = [
        r#""So far""#,
        "the budget for llm calls is used up: 4 would pass the limit of 3",
        "error: too many rounds (iteration_limit)",
        "answer",
    ];
    assert_eq!(told(&mut story, &frames), expected);
    assert_eq!((story.answer.as_deref(), story.end), (Some("So far"), Some(End::Failed)));
}
