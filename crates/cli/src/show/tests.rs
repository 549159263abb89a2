//! The output of a run, as text: frames in, lines out.

use std::time::Duration;

use serde_json::{Value, json};

use super::block::{Line, Size, lines};
use super::frame::Frame;
use super::plain;
use super::view::{About, View};
use super::words::{span, width};

/// A run of three tasks: two side by side, one that reads both.
fn accepted() -> Value {
    let task = |name: &str, context: &[u64]| json!({ "name": name, "agentRole": "Agent", "context": context });
    json!({ "type": "run_accepted", "runId": "run-1", "ensemble": "evening", "workflow": "PARALLEL",
        "tasks": [task("research", &[]), task("schedule", &[]), task("program", &[1, 2])] })
}

/// Returns a frame about a task or a subtask.
fn about(turn: &str, kind: &str, mut fields: Value) -> Value {
    let task: u64 = turn.split('.').next().unwrap().parse().unwrap();
    let names = ["research", "schedule", "program"];
    let place = json!({ "type": kind, "turnId": turn, "taskName": names[task as usize - 1],
        "at": "2026-03-15T10:30:00.000Z" });
    fields.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
    fields
}

fn asked(turn: &str, model: &str) -> Value {
    about(turn, "llm_iteration_started", json!({ "model": model }))
}

fn wants(turn: &str, tools: &[&str]) -> Value {
    let requests: Vec<Value> = tools.iter().map(|name| json!({ "name": name })).collect();
    about(turn, "llm_iteration_completed", json!({ "toolRequests": requests }))
}

fn used(turn: &str, tokens: i64, cost: &str) -> Value {
    about(turn, "metrics_snapshot", json!({ "inputTokens": tokens, "outputTokens": 0, "costEstimate": cost }))
}

fn done(turn: &str, took_ms: u64, tokens: u64) -> Value {
    about(turn, "task_completed", json!({ "durationMs": took_ms, "tokenCount": tokens }))
}

/// Returns the frames of a run up to the point where all tasks are active.
fn under_way() -> Vec<Value> {
    vec![
        accepted(),
        about("1", "task_started", json!({})),
        about("2", "task_started", json!({})),
        asked("1", "sonnet"),
        about("1", "token", json!({ "token": "Bees are\nsocial " })),
        about("1", "token", json!({ "token": "insects" })),
        asked("2", "haiku"),
        used("2", 1204, "0.00120000"),
        wants("2", &["calculator"]),
        about(
            "2",
            "tool_dispatched",
            json!({ "callId": "2.0.0", "toolName": "calculator", "toolArguments": "{\"input\":\"3 * 25\"}" }),
        ),
    ]
}

fn view(frames: &[Value]) -> View {
    let mut view = View::default();
    for (index, frame) in frames.iter().enumerate() {
        view.apply(&Frame::parse(&frame.to_string()).unwrap(), Duration::from_millis(100 * index as u64));
    }
    view
}

/// Returns the picture two seconds into the run.
fn picture(frames: &[Value], width: usize) -> String {
    let size = Size { width, height: 24 };
    let lines = lines(&view(frames), Duration::from_secs(2), size);
    let text: Vec<String> = lines.iter().map(|line| line.text().trim_end().to_owned()).collect();
    format!("\n{}\n", text.join("\n"))
}

#[test]
fn a_run_under_way_says_what_each_task_does_and_what_it_has_used() {
    let expected = "
⠋ research  Bees are social insects           sonnet                         1.9s
⠋ schedule  tool calculator {\"input\":\"3 * 2…   haiku  1,204 tokens  $0.0012  1.8s
· program   waits for research, schedule
  0 of 3 tasks done                                   1,204 tokens  $0.0012  2.0s
";
    assert_eq!(picture(&under_way(), 81), expected);
}

#[test]
fn on_a_narrow_terminal_the_least_important_columns_go_and_no_line_is_too_long() {
    let expected = "
⠋ research  Bees are social insects     1.9s
⠋ schedule  tool calculator {\"input\":…  1.8s
· program   waits for research, sched…
  0 of 3 tasks done                     2.0s
";
    assert_eq!(picture(&under_way(), 44), expected);
    for columns in [7, 10, 20, 33, 44, 60, 82, 200] {
        for line in lines(&view(&under_way()), Duration::from_secs(2), Size { width: columns, height: 24 }) {
            assert!(width(&line.text()) <= columns, "{columns}: {}", line.text());
        }
    }
}

#[test]
fn waits_say_what_for() {
    let mut frames = under_way();
    let failed =
        json!({ "message": "503 overloaded", "then": { "action": "retry", "at": "2026-03-15T10:30:03.500Z" } });
    frames.push(about("1", "model_failed", failed));
    let returned = json!({ "callId": "2.0.0", "toolName": "calculator", "outcome": "SUCCESS", "durationMs": 3 });
    frames.push(about("2", "tool_called", returned));
    let expected = "
↻ research  retry in 2.5s: 503 overloaded                sonnet                         1.9s
· schedule  waits for a free model slot                   haiku  1,204 tokens  $0.0012  1.8s
· program   waits for research, schedule
  0 of 3 tasks done                                              1,204 tokens  $0.0012  2.0s
";
    assert_eq!(picture(&frames, 92), expected);
    frames.push(wants("2", &["calculator", "calculator"]));
    assert!(picture(&frames, 92).contains("· schedule  waits for its turn to call a tool"), "{}", picture(&frames, 92));
}

#[test]
fn a_review_shows_what_happens_if_nobody_decides() {
    let mut frames = under_way();
    let review = json!({ "reviewId": "run-1-review-0", "timing": "AFTER_EXECUTION", "taskOutput": "Bees", "timeoutMs": 61_000, "onTimeout": "FAIL" });
    frames.push(about("1", "review_requested", review));
    let shown = picture(&frames, 120);
    assert!(shown.contains("? research  waits for a review; in 1m 00s the task fails"), "{shown}");
    assert_eq!(view(&frames).reviews[0].about, About::Output("Bees".to_owned()));
    frames.push(json!({ "type": "review_decided", "reviewId": "run-1-review-0", "decision": "CONTINUE" }));
    assert_eq!(view(&frames).reviews, []);
}

#[test]
fn subtasks_stand_below_their_task_and_fold_away_with_it() {
    let mut frames = under_way();
    frames.extend([
        wants("1", &["run_subtask"]),
        about("1", "subtask_started", json!({ "callId": "1.0.0", "title": "find sources" })),
        asked("1.0.0", "haiku"),
        used("1.0.0", 96, "0.00010000"),
        about("1.0.0", "token", json!({ "token": "Looking" })),
    ]);
    let expected = "
⠋ research        subtask find sources                 sonnet                         1.9s
⠋   find sources  Looking                               haiku     96 tokens  $0.0001  0.9s
⠋ schedule        tool calculator {\"input\":\"3 * 25\"}    haiku  1,204 tokens  $0.0012  1.8s
· program         waits for research, schedule
  0 of 3 tasks done                                            1,300 tokens  $0.0013  2.0s
";
    assert_eq!(picture(&frames, 90), expected);
    frames.push(about("1", "tool_called", json!({ "callId": "1.0.0", "outcome": "SUCCESS", "toolResult": "two" })));
    frames.push(done("1", 1500, 310));
    let folded = picture(&frames, 90);
    assert!(folded.contains("✓ research  1 subtask") && !folded.contains("find sources"), "{folded}");
}

#[test]
fn a_manager_s_workers_stand_below_it_and_an_agent_s_question_is_shown() {
    let mut accepted = accepted();
    accepted["workflow"] = json!("HIERARCHICAL");
    accepted["tasks"][0]["agentRole"] = json!("Researcher");
    // The manager comes after the three tasks, under the number of the only one people see.
    let manager = |kind: &str, fields: Value| {
        let mut frame = fields;
        frame["type"] = json!(kind);
        frame["taskIndex"] = json!(1);
        frame
    };
    let requests = json!([{ "name": "delegateTask" }]);
    let mut frames = vec![
        accepted,
        manager("task_started", json!({ "turnId": "4" })),
        manager("llm_iteration_started", json!({ "turnId": "4", "model": "sonnet" })),
        manager("llm_iteration_completed", json!({ "turnId": "4", "toolRequests": requests })),
        json!({ "type": "delegation_started", "delegationId": "4.0.0", "workerRole": "Researcher" }),
        manager("llm_iteration_completed", json!({ "turnId": "4.0.0", "toolRequests": [{ "name": "human_input" }] })),
        manager(
            "review_requested",
            json!({ "turnId": "4.0.0.0.0", "reviewId": "run-1-review-0", "timing": "DURING_EXECUTION", "prompt": "Which bees?" }),
        ),
    ];
    let expected = "
⠋ manager       subtask Researcher            sonnet  1.9s
⠋   Researcher  asks you: Which bees?                 1.6s
  0 of 3 tasks done                                   2.0s
";
    assert_eq!(picture(&frames, 58), expected);
    frames.push(manager("tool_called", json!({ "turnId": "4", "callId": "4.0.0", "outcome": "SUCCESS" })));
    assert!(picture(&frames, 58).contains("1 of 3 tasks done"), "what a worker has done is done");
}

#[test]
fn the_last_picture_is_a_summary() {
    let mut frames = under_way();
    frames.push(done("1", 1500, 310));
    frames.push(about("2", "task_failed", json!({ "reason": "401 no such key" })));
    frames.push(json!({ "type": "run_result", "status": "FAILED", "error": "schedule failed", "durationMs": 1800,
        "outputs": [{ "taskName": "research", "output": "Bees" }], "metrics": { "totalTokens": 1514 } }));
    let expected = "
✓ research                                        sonnet    310 tokens           1.5s
✗ schedule  401 no such key                        haiku  1,204 tokens  $0.0012  0.9s
– program   skipped: the run ended before it
  failed, 1 of 3 tasks done                               1,514 tokens           1.8s
";
    assert_eq!(picture(&frames, 85), expected);
    assert_eq!(view(&frames).result.unwrap().answer.as_deref(), Some("Bees"));
}

#[test]
fn when_there_is_no_room_what_happens_now_comes_first() {
    let tasks: Vec<Value> = (0..50).map(|n| json!({ "name": format!("task-{n}"), "context": [] })).collect();
    let accepted = json!({ "type": "run_accepted", "ensemble": "wide", "workflow": "PARALLEL", "tasks": tasks });
    let started = json!({ "type": "task_started", "turnId": "40" });
    let shown = lines(&view(&[accepted, started]), Duration::from_secs(2), Size { width: 80, height: 6 });
    let shown: Vec<String> = shown.iter().map(Line::text).map(|line| line.trim_end().to_owned()).collect();
    assert_eq!(shown.len(), 4, "of six lines, the first and the cursor's are free");
    assert!(shown[2].starts_with("· task-39"), "{shown:?}");
    assert!(shown[3].contains("0 of 50 tasks done, 47 lines not shown"), "{shown:?}");
}

#[test]
fn plain_lines_name_the_task_and_what_happened() {
    let failed =
        json!({ "message": "503 overloaded", "then": { "action": "retry", "at": "2026-03-15T10:30:03.500Z" } });
    let returned = json!({ "callId": "2.0.0", "toolName": "calculator", "outcome": "FAILURE", "durationMs": 1300, "toolResult": "Error: no" });
    let mut frames = under_way();
    frames.extend([
        about("1", "model_failed", failed),
        about("1", "subtask_started", json!({ "callId": "1.0.0", "title": "find sources" })),
        asked("1.0.0", "haiku"),
        about("2", "tool_called", returned),
        done("2", 2500, 1204),
        json!({ "type": "run_result", "status": "COMPLETED", "durationMs": 3000, "outputs": [{ "output": "x" }], "metrics": { "totalTokens": 1514 } }),
    ]);
    let mut view = View::default();
    let mut shown = String::new();
    for (index, frame) in frames.iter().enumerate() {
        let (frame, now) = (Frame::parse(&frame.to_string()).unwrap(), Duration::from_millis(100 * index as u64));
        view.apply(&frame, now);
        plain::line(&view, &frame).into_iter().for_each(|line| shown += &format!("{} {line}\n", span(now)));
    }
    let expected = "\
0.0s evening: run-1 started, 3 tasks
0.1s research: started
0.2s schedule: started
0.3s research: asks sonnet
0.6s schedule: asks haiku
0.9s schedule: tool calculator {\"input\":\"3 * 25\"}
1.0s research: model failed: 503 overloaded; retry in 3.5s
1.1s research: subtask find sources
1.2s research > find sources: asks haiku
1.3s schedule: tool calculator failed in 1.3s: Error: no
1.4s schedule: done in 2.5s, 1,204 tokens, $0.0012
1.5s evening: completed after 3.0s, 1 of 3 tasks done, 1,514 tokens
";
    assert_eq!(shown, expected);
}

#[test]
fn a_manager_s_answer_is_not_counted_among_the_tasks() {
    let mut accepted = accepted();
    accepted["workflow"] = json!("HIERARCHICAL");
    let output = |name: &str| json!({ "taskName": name, "output": "x" });
    let outputs = [output("research"), output("program"), output("Manager")];
    let result = json!({ "type": "run_result", "status": "COMPLETED", "durationMs": 3000, "outputs": outputs });
    let mut view = View::default();
    for frame in [accepted, result] {
        view.apply(&Frame::parse(&frame.to_string()).unwrap(), Duration::ZERO);
    }
    let ended = plain::ended(&view, view.result.as_ref().unwrap());
    assert_eq!(ended, "completed after 3.0s, 2 of 3 tasks done");
}
