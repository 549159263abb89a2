//! The output of a run, as text: frames in, lines out.

use std::time::Duration;

use consort_core::event::Timing;
use consort_core::frame::field::{
    CallOutcome, ConversationPlace, DecisionWord, DeclaredTask, Delegation, Iso, ModelCall, Nullable, ResponseType,
    Review, TaskPlace, Then, ToolRequest,
};
use consort_core::frame::live::LiveFrame;
use consort_core::frame::numbered::{EventFrame, RunFrame};
use consort_core::frame::run::Frame;
use consort_core::message::FailureKind;
use consort_core::spec::{OnTimeout, Workflow};
use serde_json::{Value, json};

use super::block::{Line, Size, Tone, lines};
use super::plain;
use super::view::{About, View};
use super::words::{span, width};
use crate::client::received::Received;

/// The time of every event.
const AT: Iso = Iso(1_773_570_600_000);
const NAMES: [&str; 3] = ["research", "schedule", "program"];

/// Returns the frame of an event as a server sends it.
fn event(frame: Frame) -> Received {
    let event = RunFrame { run_id: "run-1".into(), seq: 0, frame, inherited: false, at: AT };
    Received::event(EventFrame::Run(event).text())
}

fn declared(name: &str, agent_role: &str, context: &[usize]) -> DeclaredTask {
    let task_index = NAMES.iter().position(|known| *known == name).unwrap_or_default() + 1;
    DeclaredTask {
        task_index,
        name: name.to_owned(),
        agent_role: agent_role.to_owned(),
        context: context.to_vec(),
        when: None,
        for_each: None,
    }
}

fn accepted_as(workflow: Workflow, tasks: Vec<DeclaredTask>) -> Received {
    let total_tasks = tasks.len();
    event(Frame::RunAccepted { ensemble: "evening".to_owned(), workflow, total_tasks, tasks, groups: Vec::new() })
}

/// Returns a run of three tasks: two side by side, one that reads both.
fn accepted() -> Received {
    let [research, schedule, program] = NAMES;
    let tasks =
        vec![declared(research, "Agent", &[]), declared(schedule, "Agent", &[]), declared(program, "Agent", &[1, 2])];
    accepted_as(Workflow::Parallel, tasks)
}

/// Returns the place of a task, of an instance or of a subtask.
fn place(id: &str) -> ConversationPlace {
    let task = id.split('.').next().unwrap();
    let after = |mark: char| task.split_once(mark).and_then(|(_, rest)| rest.split('i').next()?.parse().ok());
    let task_index = task.split(['r', 'i']).next().unwrap().parse().unwrap();
    ConversationPlace {
        task_index,
        turn_id: id.to_owned(),
        item: after('i'),
        round: after('r'),
        ..ConversationPlace::default()
    }
}

fn task(id: &str) -> TaskPlace {
    let conversation = place(id);
    let task_name = NAMES.get(conversation.task_index - 1).map(|name| (*name).to_owned());
    TaskPlace { conversation, task_name }
}

fn started(id: &str) -> Received {
    event(Frame::TaskStarted { task: task(id), total_tasks: 3, started_at: AT })
}

fn asked(id: &str, model: &str) -> Received {
    let model = model.to_owned();
    let messages = Vec::new();
    event(Frame::LlmIterationStarted {
        conversation: place(id),
        iteration_index: 0,
        model,
        messages,
        total_message_count: 1,
    })
}

fn token(id: &str, words: &str) -> Received {
    let conversation = place(id).into();
    let token = words.to_owned();
    // Not the first words of the answer.
    let offset = 1;
    Received::live(LiveFrame::Token { run_id: "run-1".into(), conversation, token, offset, sent_at: AT }.text())
}

fn wants(id: &str, tools: &[&str]) -> Received {
    let request = |name: &&str| ToolRequest { name: (*name).to_owned(), arguments: "{}".into() };
    event(Frame::LlmIterationCompleted {
        conversation: place(id),
        iteration_index: Some(0),
        response_type: ResponseType::ToolCalls,
        response_text: None,
        tool_requests: Some(tools.iter().map(request).collect()),
        truncated: None,
        input_tokens: 1,
        output_tokens: 1,
        latency_ms: 1,
    })
}

fn used(id: &str, tokens: i64, cost: &str) -> Received {
    event(Frame::MetricsSnapshot {
        conversation: place(id),
        input_tokens: tokens,
        output_tokens: 0,
        llm_latency_ms: 1,
        tool_execution_time_ms: 0,
        iteration_count: 1,
        cost_estimate: Some(cost.to_owned()),
    })
}

fn overloaded(id: &str) -> Received {
    event(Frame::ModelFailed {
        call: ModelCall { conversation: place(id), iteration_index: Some(0), model: Some("sonnet".to_owned()) },
        error: FailureKind::Overloaded,
        message: "503 overloaded".to_owned(),
        then: Then::Retry { at: Iso(AT.0 + 3_500) },
    })
}

fn returned(id: &str, call: &str, outcome: CallOutcome, result: &str) -> Received {
    event(Frame::ToolCalled {
        conversation: place(id),
        call_id: call.to_owned(),
        tool_name: "calculator".to_owned(),
        duration_ms: 1_300,
        outcome,
        tool_arguments: "{}".to_owned(),
        tool_result: result.to_owned(),
        structured_result: None,
        error: None,
    })
}

fn subtask(id: &str, call: &str, title: &str) -> Received {
    event(Frame::SubtaskStarted {
        conversation: place(id),
        call_id: call.to_owned(),
        title: title.to_owned(),
        instructions: "find them".into(),
        tool_names: Vec::new(),
        depth: 1,
    })
}

fn review(task: TaskPlace, timing: Timing) -> Review {
    Review {
        task,
        review_id: "run-1-review-0".to_owned(),
        task_output: "Bees".into(),
        truncated: false,
        timing,
        timeout_ms: 0,
        on_timeout: None,
        created_at: AT,
        expires_at: None,
        prompt: None,
        options: None,
    }
}

fn done(id: &str, duration_ms: u64, token_count: i64) -> Received {
    event(Frame::TaskCompleted {
        task: task(id),
        total_tasks: 3,
        completed_at: AT,
        duration_ms,
        token_count,
        tool_call_count: 0,
        output: Some("Bees".into()),
        parsed_output: Nullable::Absent,
        truncated: Nullable::Absent,
    })
}

/// Returns the result of a run with these outputs, by their tasks.
fn result(status: &str, duration_ms: u64, outputs: &[(&str, &str)], total_tokens: i64) -> Received {
    let output = |(name, output): &(&str, &str)| json!({ "taskName": name, "output": output, "durationMs": 1 });
    let outputs: Vec<Value> = outputs.iter().map(output).collect();
    let metrics = json!({ "totalTokens": total_tokens, "totalToolCalls": 0, "inputTokens": 0, "outputTokens": 0,
        "cachedInputTokens": 0, "reasoningTokens": 0, "llmCalls": 1, "subtasks": 0, "llmLatencyMs": 1,
        "toolExecutionTimeMs": 0, "unpriced": ["sonnet"] });
    let result = json!({ "type": "run_result", "runId": "run-1", "status": status, "durationMs": duration_ms,
        "outputs": outputs, "metrics": metrics, "output": null });
    Received::result(result.to_string())
}

/// Returns the frames of a run up to the point where all tasks are active.
fn under_way() -> Vec<Received> {
    vec![
        accepted(),
        started("1"),
        started("2"),
        asked("1", "sonnet"),
        token("1", "Bees are\nsocial "),
        token("1", "insects"),
        asked("2", "haiku"),
        used("2", 1204, "0.00120000"),
        wants("2", &["calculator"]),
        event(Frame::ToolDispatched {
            conversation: place("2"),
            call_id: "2.0.0".to_owned(),
            tool_name: "calculator".to_owned(),
            tool_arguments: "{\"input\":\"3 * 25\"}".to_owned(),
        }),
    ]
}

fn view(frames: &[Received]) -> View {
    let mut view = View::default();
    for (index, received) in frames.iter().enumerate() {
        view.apply(received.frame(), Duration::from_millis(100 * index as u64));
    }
    view
}

/// Returns the picture two seconds into the run.
fn picture(frames: &[Received], width: usize) -> String {
    let size = Size { width, height: 24 };
    let lines = lines(&view(frames), Duration::from_secs(2), size);
    let text: Vec<String> = lines.iter().map(|line| line.text().trim_end().to_owned()).collect();
    format!("\n{}\n", text.join("\n"))
}

#[test]
fn a_run_under_way_says_what_each_task_does_and_what_it_has_used() {
    let forty = "
⠋ research  …s are social insects  1.9s
⠋ schedule  tool calculator {\"in…  1.8s
· program   waits for research,…
  0 of 3 tasks done                2.0s
";
    let eighty = "
⠋ research  Bees are social insects         sonnet                         1.9s
⠋ schedule  tool calculator {\"input\":\"3 *…   haiku  1,204 tokens  $0.0012  1.8s
· program   waits for research, schedule
  0 of 3 tasks done                                 1,204 tokens  $0.0012  2.0s
";
    let wide = "
⠋ research  Bees are social insects                                                 sonnet                         1.9s
⠋ schedule  tool calculator {\"input\":\"3 * 25\"}                                       haiku  1,204 tokens  $0.0012  1.8s
· program   waits for research, schedule
  0 of 3 tasks done                                                                         1,204 tokens  $0.0012  2.0s
";
    // The last column of a terminal is left free.
    for (columns, expected) in [(40, forty), (80, eighty), (120, wide)] {
        assert_eq!(picture(&under_way(), columns - 1), expected, "{columns} columns");
    }
}

#[test]
fn a_run_that_is_over_says_how_long_its_tasks_took_on_a_narrow_terminal_too() {
    let mut frames = under_way();
    frames.extend([done("1", 1_500, 30), done("2", 700, 1204), done("3", 900, 10)]);
    let forty = "
✓ research                         1.5s
✓ schedule                $0.0012  0.7s
✓ program                          0.9s
  3 of 3 tasks done       $0.0012  2.0s
";
    assert_eq!(picture(&frames, 39), forty);
}

#[test]
fn a_line_that_is_too_long_is_broken_between_words_and_keeps_its_tones() {
    let line = Line(vec![(Tone::Good, "✓ ".to_owned()), (Tone::Plain, "calculator  one and two".to_owned())]);
    let rows = line.broken(12);
    let pieces: Vec<Vec<(Tone, &str)>> =
        rows.iter().map(|row| row.0.iter().map(|(tone, text)| (*tone, text.as_str())).collect()).collect();
    assert_eq!(pieces, [vec![(Tone::Good, "✓ "), (Tone::Plain, "calculator")], vec![(Tone::Plain, "one and two")],]);
    assert_eq!(line.broken(80), [line]);
}

/// Returns the frames of a run whose second task is done for three items, and whose
/// third is in its second round.
fn split() -> Vec<Received> {
    vec![
        accepted(),
        started("2i0"),
        started("2i1"),
        asked("2i0", "haiku"),
        used("2i0", 30, "0.00100000"),
        token("2i0", "Bees"),
        done("2i0", 400, 30),
        wants("2i1", &["subtask"]),
        subtask("2i1", "2i1.0.0", "find sources"),
        started("2i2"),
        asked("2i2", "haiku"),
        token("2i2", "Wasps"),
        started("3r0"),
        done("3r0", 100, 5),
        started("3r1"),
        asked("3r1", "haiku"),
    ]
}

#[test]
fn an_instance_has_a_line_of_its_own_below_its_task() {
    let expected = "
· research              waits
⠋ schedule              1 done, 2 under way                                 1.9s
✓   schedule [item 0]                            haiku  30 tokens  $0.0010  0.4s
⠋   schedule [item 1]   subtask find sources                                1.8s
·     find sources      waits for a free model slot                         1.2s
⠋   schedule [item 2]   Wasps                    haiku                      1.1s
⠋ program               1 done, 1 under way                                 0.8s
✓   program (round 0)                                   5 tokens           0.1s
⠋   program (round 1)   asking                   haiku                      0.6s
  0 of 3 tasks done                                    35 tokens  $0.0010  2.0s
";
    let shown: Vec<String> =
        picture(&split(), 92).lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected: Vec<String> =
        expected.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(shown, expected, "{}", picture(&split(), 92));
    let mut over = split();
    over.extend([
        done("2i1", 900, 10),
        done("2i2", 900, 10),
        done("2", 1_500, 50),
        done("3r1", 100, 5),
        done("3", 900, 10),
    ]);
    let whole = picture(&over, 82);
    assert!(!whole.contains("[item") && whole.contains("3 instances") && whole.contains("2 instances"), "{whole}");
    assert!(whole.contains(" 2 of 3 tasks done") && whole.contains(" 60 tokens"), "no tokens count twice: {whole}");
}

#[test]
fn a_line_of_a_log_names_the_instance_it_is_about() {
    let frames = split();
    let named = |frame: &Received| plain::line(&view(&frames), frame.frame());
    assert_eq!(named(&frames[1]).as_deref(), Some("schedule [item 0]: started"));
    assert_eq!(named(&frames[8]).as_deref(), Some("schedule [item 1]: subtask find sources"));
    assert_eq!(named(&asked("2i1.0.0", "m")).as_deref(), Some("schedule [item 1] > find sources: asks m"));
    assert_eq!(named(&done("3r1", 1_500, 5)).as_deref(), Some("program (round 1): done in 1.5s"));
}

#[test]
fn no_line_of_a_run_is_too_long() {
    for columns in [7, 10, 20, 33, 40, 44, 60, 82, 200] {
        for line in lines(&view(&under_way()), Duration::from_secs(2), Size { width: columns, height: 24 }) {
            assert!(width(&line.text()) <= columns, "{columns}: {}", line.text());
        }
    }
}

#[test]
fn waits_say_what_for() {
    let mut frames = under_way();
    frames.push(overloaded("1"));
    frames.push(returned("2", "2.0.0", CallOutcome::Success, "75"));
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
    let review = review(task("1"), Timing::AfterExecution);
    let review = Review { timeout_ms: 61_000, on_timeout: Some(OnTimeout::Fail), ..review };
    frames.push(event(Frame::ReviewRequested(review)));
    let shown = picture(&frames, 120);
    assert!(shown.contains("? research  waits for a review; in 1m 00s the task fails"), "{shown}");
    assert_eq!(view(&frames).reviews[0].about, About::Output("Bees".to_owned()));
    frames.push(event(Frame::ReviewDecided {
        review_id: "run-1-review-0".to_owned(),
        decision: DecisionWord::Continue,
        by: "Ada".to_owned(),
        revised_output: None,
        feedback: None,
    }));
    assert_eq!(view(&frames).reviews, []);
}

#[test]
fn subtasks_stand_below_their_task_and_fold_away_with_it() {
    let mut frames = under_way();
    frames.extend([
        wants("1", &["run_subtask"]),
        subtask("1", "1.0.0", "find sources"),
        asked("1.0.0", "haiku"),
        used("1.0.0", 96, "0.00010000"),
        token("1.0.0", "Looking"),
    ]);
    let expected = "
⠋ research        subtask find sources                 sonnet                         1.9s
⠋   find sources  Looking                               haiku     96 tokens  $0.0001  0.9s
⠋ schedule        tool calculator {\"input\":\"3 * 25\"}    haiku  1,204 tokens  $0.0012  1.8s
· program         waits for research, schedule
  0 of 3 tasks done                                            1,300 tokens  $0.0013  2.0s
";
    assert_eq!(picture(&frames, 90), expected);
    frames.push(returned("1", "1.0.0", CallOutcome::Success, "two"));
    frames.push(done("1", 1500, 310));
    let folded = picture(&frames, 90);
    assert!(folded.contains("✓ research  1 subtask") && !folded.contains("find sources"), "{folded}");
}

#[test]
fn a_manager_s_workers_stand_below_it_and_an_agent_s_question_is_shown() {
    let roles = [("research", "Researcher"), ("schedule", "Agent"), ("program", "Agent")];
    let tasks = roles.iter().map(|(name, role)| declared(name, role, &[])).collect();
    let delegation = Delegation {
        delegation_id: "4.0.0".to_owned(),
        delegating_agent_role: Some("Manager".to_owned()),
        worker_role: "Researcher".to_owned(),
    };
    let question = review(task("4.0.0.0.0"), Timing::DuringExecution);
    // The manager comes after the three tasks, under the number of the only one people see.
    let mut frames = vec![
        accepted_as(Workflow::Hierarchical, tasks),
        started("4"),
        asked("4", "sonnet"),
        wants("4", &["delegateTask"]),
        event(Frame::DelegationStarted { delegation, task_description: "bees".to_owned() }),
        wants("4.0.0", &["human_input"]),
        event(Frame::ReviewRequested(Review { prompt: Some("Which bees?".to_owned()), ..question })),
    ];
    let expected = "
⠋ manager       subtask Researcher            sonnet  1.9s
⠋   Researcher  asks you: Which bees?                 1.6s
  0 of 3 tasks done                                   2.0s
";
    assert_eq!(picture(&frames, 58), expected);
    frames.push(returned("4", "4.0.0", CallOutcome::Success, "bees"));
    assert!(picture(&frames, 58).contains("1 of 3 tasks done"), "what a worker has done is done");
}

#[test]
fn the_last_picture_is_a_summary() {
    let mut frames = under_way();
    frames.push(done("1", 1500, 310));
    frames.push(event(Frame::TaskFailed {
        task: task("2"),
        failed_at: AT,
        reason: "401 no such key".to_owned(),
        cancelled: None,
        partial_output: None,
    }));
    frames.push(result("FAILED", 1800, &[("research", "Bees")], 1514));
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
    let tasks = (0..50).map(|n| declared(&format!("task-{n}"), "Agent", &[])).collect();
    let frames = [accepted_as(Workflow::Parallel, tasks), started("40")];
    let shown = lines(&view(&frames), Duration::from_secs(2), Size { width: 80, height: 6 });
    let shown: Vec<String> = shown.iter().map(Line::text).map(|line| line.trim_end().to_owned()).collect();
    assert_eq!(shown.len(), 4, "of six lines, the first and the cursor's are free");
    assert!(shown[2].starts_with("· task-39"), "{shown:?}");
    assert!(shown[3].contains("0 of 50 tasks done, 47 lines not shown"), "{shown:?}");
}

#[test]
fn plain_lines_name_the_task_and_what_happened() {
    let mut frames = under_way();
    frames.extend([
        overloaded("1"),
        subtask("1", "1.0.0", "find sources"),
        asked("1.0.0", "haiku"),
        returned("2", "2.0.0", CallOutcome::Failure, "Error: no"),
        done("2", 2500, 1204),
        result("COMPLETED", 3000, &[("schedule", "x")], 1514),
    ]);
    let mut view = View::default();
    let mut shown = String::new();
    for (index, received) in frames.iter().enumerate() {
        let now = Duration::from_millis(100 * index as u64);
        view.apply(received.frame(), now);
        plain::line(&view, received.frame()).into_iter().for_each(|line| shown += &format!("{} {line}\n", span(now)));
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
    let tasks = NAMES.iter().map(|name| declared(name, "Agent", &[])).collect();
    let outputs = [("research", "x"), ("program", "x"), ("Manager", "x")];
    let view = view(&[accepted_as(Workflow::Hierarchical, tasks), result("COMPLETED", 3000, &outputs, -1)]);
    let ended = plain::ended(&view, view.result.as_ref().unwrap());
    assert_eq!(ended, "completed after 3.0s, 2 of 3 tasks done");
}

#[test]
fn a_frame_of_a_newer_server_changes_nothing() {
    let mut frames = under_way();
    let before = view(&frames);
    frames.push(Received::event("{\"type\":\"run_teleported\",\"runId\":\"run-1\"}".to_owned()));
    assert_eq!(view(&frames), before);
    assert_eq!(plain::line(&before, frames.last().unwrap().frame()), None);
}
