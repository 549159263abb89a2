//! Frames as a server sends them, and the resulting output.

use std::time::Duration;

use consort_core::answer::FollowUp;
use consort_core::budget::Reason;
use consort_core::chat::{self, Answer};
use consort_core::frame::chat::{
    Approval, CallStatus, ChatFrame, Level, MessageRow, RowCall, ThenWord, ToolCallUpdate,
};
use consort_core::frame::field::{Amount, Exceeded, Iso, Nullable};
use consort_core::frame::live::LiveFrame;
use consort_core::frame::numbered::{EventFrame, TurnFrame};
use consort_core::frame::run;
use consort_core::status::Status;
use serde_json::{Value, json};

use super::turn_view::{End, Role, Shown, TurnView};
use crate::client::received::Received;

/// Returns the output as one text: words in quotes, lines as they are.
fn told(view: &mut TurnView, frames: &[Received]) -> Vec<String> {
    let shown = frames.iter().flat_map(|received| view.apply(received.frame(), Duration::ZERO));
    let text = |shown: Shown| match shown {
        Shown::Words(words) => format!("{words:?}"),
        Shown::Said(Role::Aside) => "aside".to_owned(),
        Shown::Said(Role::Answer) => "answer".to_owned(),
        Shown::Void => "void".to_owned(),
        Shown::Line(line) => line.text(),
    };
    shown.map(text).collect()
}

/// Returns the frame of an event as a server sends it.
fn event(frame: ChatFrame) -> Received {
    let turn = TurnFrame { thread_id: "t".to_owned(), turn_id: "turn-1".into(), chat_seq: 0, frame, at: Iso(0) };
    Received::event(EventFrame::Turn(turn).text())
}

fn level(parent: Option<&str>) -> Level {
    Level { parent_id: parent.map(str::to_owned), depth: parent.is_some().into() }
}

/// Returns words of a model as they come.
fn words(call: &str, parent: Option<&str>, words: &str, offset: Option<usize>) -> Received {
    let chunk = LiveFrame::Chunk {
        thread_id: "t".into(),
        turn_id: "turn-1".into(),
        level: level(parent),
        call_id: call.into(),
        content: words.to_owned(),
        offset: offset.unwrap_or(0),
        thinking: offset.is_none().then_some(true),
        chat_seq: 0,
    };
    Received::live(chunk.text())
}

fn chunk(call: &str, offset: usize, said: &str) -> Received {
    words(call, None, said, Some(offset))
}

fn begins(id: &str, parent: Option<&str>, name: &str, args: Value) -> Received {
    let title = args.get("title").and_then(Value::as_str).map(str::to_owned);
    event(ChatFrame::ToolCallUpdate(Box::new(ToolCallUpdate {
        level: level(parent),
        tool_call_id: id.to_owned(),
        name: name.to_owned(),
        args: Some(args),
        status: CallStatus::Start,
        message: title.map_or(Nullable::Null, Nullable::Value),
        ..ToolCallUpdate::default()
    })))
}

fn ends(id: &str, parent: Option<&str>, failure: Option<&str>) -> Received {
    event(ChatFrame::ToolCallUpdate(Box::new(ToolCallUpdate {
        level: level(parent),
        tool_call_id: id.to_owned(),
        name: "x".to_owned(),
        result: Some(failure.unwrap_or("42").to_owned()),
        is_error: Some(failure.is_some()),
        status: CallStatus::End,
        duration_ms: Some(1_500),
        ..ToolCallUpdate::default()
    })))
}

fn completed(call: &str, content: &str) -> Received {
    event(ChatFrame::LlmCompleted { level: level(None), call_id: call.to_owned(), content: content.to_owned() })
}

fn row(content: &str) -> MessageRow {
    MessageRow { role: chat::Role::Assistant, content: content.into(), ..MessageRow::default() }
}

fn message(row: MessageRow) -> Received {
    event(ChatFrame::Message(Box::new(row)))
}

fn done(status: Status) -> Received {
    event(ChatFrame::Chunk { content: String::new(), done: true, level: level(None), status })
}

#[test]
fn a_call_is_told_with_everything_below_it_when_it_ends() {
    let mut view = TurnView::default();
    let shown = told(
        &mut view,
        &[
            begins("a", None, "run_subtask", json!({ "title": "Count\nbees", "instructions": "…" })),
            begins("b", None, "json", json!({ "json": [1], "query": "." })),
            begins("c", Some("a"), "calculator", json!({ "input": "6 * 7" })),
            words("1.0.0#1.0", Some("a"), "inner", Some(0)),
            begins("d", Some("a"), "datetime", json!({})),
            ends("c", Some("a"), None),
            ends("b", None, Some("no\nsuch query")),
        ],
    );
    assert_eq!(shown, [r#"✗ json {"json":[1],"query":"."}  1.5s  no such query"#]);
    let live: Vec<String> = view.calls.lines(Duration::from_secs(2)).iter().map(|line| line.text()).collect();
    assert_eq!(live, ["⠋ subtask Count bees  2.0s", "  ✓ calculator 6 * 7  1.5s", "  ⠋ datetime  2.0s"]);
    let shown = told(&mut view, &[ends("d", Some("a"), None), ends("a", None, None)]);
    assert_eq!(shown, ["✓ subtask Count bees  1.5s", "  ✓ calculator 6 * 7  1.5s", "  ✓ datetime  1.5s"]);
    assert!(view.calls.lines(Duration::ZERO).is_empty());
}

#[test]
fn words_are_shown_once_although_a_broken_connection_brings_them_again() {
    let mut view = TurnView::default();
    let frames = [
        chunk("1#1.0", 0, "Bées "),
        chunk("1#1.0", 6, "are"),
        chunk("1#1.0", 0, "Bées are bu"),
        words("1#1.0", None, "hm", None),
        completed("1#1.0", "Bées are busy."),
        message(row("Bées are busy.")),
        done(Status::Completed),
    ];
    assert_eq!(told(&mut view, &frames), [r#""Bées ""#, r#""are""#, r#"" bu""#, r#""sy.""#, "answer"]);
    assert_eq!((view.answer.as_deref(), view.end), (Some("Bées are busy."), Some(End::Done)));
}

#[test]
fn what_a_model_said_before_it_failed_or_died_does_not_count() {
    let failed = event(ChatFrame::LlmVoided {
        level: level(None),
        call_id: "1#1.0".to_owned(),
        message: "overloaded".to_owned(),
        then: ThenWord::Retry,
    });
    let adopted = |epoch| event(ChatFrame::TurnAdopted { epoch, node: None, reason: None });
    let call = RowCall { id: "a".to_owned(), name: "json".to_owned(), args: json!({}) };
    let frames = [
        adopted(1),
        chunk("1#1.0", 0, "Al"),
        failed,
        chunk("1#1.1", 0, "So"),
        adopted(2),
        chunk("1#2.0", 0, "Well"),
        message(MessageRow { tool_calls: Some(vec![call]), ..row("Well, one moment.") }),
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
    let mut view = TurnView::default();
    assert_eq!(told(&mut view, &frames), expected);
    assert_eq!(view.answer, None, "words before a call are not the answer");
}

#[test]
fn a_question_stands_until_it_is_resolved_and_names_the_subtask_it_comes_from() {
    let mut view = TurnView::default();
    let args = json!({ "to": "Ada", "amount": 5 });
    let asked = event(ChatFrame::ToolApprovalRequest(Box::new(Approval {
        level: level(Some("a")),
        approval_id: "t-approval-0".to_owned(),
        tool_call_id: "b".to_owned(),
        tool_name: "pay".to_owned(),
        category: "external".to_owned(),
        args: args.clone(),
        message: "this turn has read `a`; the call would send 9 bytes to bank".to_owned(),
        reason: chat::Reason::Taint,
        host: Some("bank".to_owned()),
        bytes: 9,
        sources: vec!["a".to_owned()],
        created_at: Iso(0),
        expires_at: None,
    })));
    let frames =
        [begins("a", None, "run_subtask", json!({ "title": "Shop" })), begins("b", Some("a"), "pay", args), asked];
    assert_eq!(told(&mut view, &frames), [""; 0]);
    let [approval] = view.approvals.as_slice() else { panic!("{:?}", view.approvals) };
    assert_eq!((approval.tool.as_str(), approval.within.as_slice()), ("pay", ["subtask Shop".to_owned()].as_slice()));
    assert_eq!(approval.why.as_deref(), Some("this turn has read `a`; the call would send 9 bytes to bank"));
    assert_eq!(approval.host, "bank");
    assert_eq!(approval.args, "{\n  \"to\": \"Ada\",\n  \"amount\": 5\n}");
    let live: Vec<String> = view.calls.lines(Duration::ZERO).iter().map(|line| line.text()).collect();
    assert_eq!(live[1], r#"  ? pay {"to":"Ada","amount":5}  0.0s"#);
    let resolved = ChatFrame::ToolApprovalResolved {
        approval_id: "t-approval-0".to_owned(),
        decision: Answer::Deny,
        by: "Ada".to_owned(),
        args: None,
    };
    told(&mut view, &[event(resolved)]);
    assert!(view.approvals.is_empty());
}

#[test]
fn replies_that_are_no_answer_are_told_and_a_cut_answer_says_how_to_go_on() {
    let mut view = TurnView::default();
    let call_id = "1#1.0".to_owned();
    let empty = ChatFrame::AnswerEmpty { level: level(None), call_id, then: FollowUp::Continue };
    let call_id = "1#2.0".to_owned();
    let cut = ChatFrame::AnswerTruncated { level: level(None), call_id, then: FollowUp::Accept, in_call: false };
    let frames = [
        event(empty),
        chunk("1#2.0", 0, "Half"),
        completed("1#2.0", "Half"),
        event(cut),
        message(MessageRow { truncated: true, ..row("Half") }),
        done(Status::Completed),
    ];
    let expected = [
        "the model said nothing; it is asked again",
        r#""Half""#,
        "answer",
        "the answer was cut at the output limit; /continue goes on with it",
    ];
    assert_eq!(told(&mut view, &frames), expected);
    assert_eq!((view.answer.as_deref(), view.end), (Some("Half"), Some(End::Done)));
}

#[test]
fn trouble_is_told_where_it_happens_and_a_partial_answer_stays() {
    let mut view = TurnView::default();
    let exceeded = Exceeded { reason: Reason::LlmCalls, limit: Amount::Count(3), observed: Amount::Count(4) };
    let frames = [
        chunk("1#1.0", 0, "So far"),
        event(ChatFrame::Run(Box::new(run::Frame::BudgetExceeded(exceeded)))),
        event(ChatFrame::Error {
            code: "iteration_limit".to_owned(),
            message: "too many rounds".to_owned(),
            status_code: None,
        }),
        message(MessageRow { is_error: true, ..row("So far\n\ntoo many rounds") }),
        done(Status::Failed),
    ];
    let expected = [
        r#""So far""#,
        "the budget for llm calls is used up: 4 would pass the limit of 3",
        "error: too many rounds (iteration_limit)",
        "answer",
    ];
    assert_eq!(told(&mut view, &frames), expected);
    assert_eq!((view.answer.as_deref(), view.end), (Some("So far"), Some(End::Failed)));
}
