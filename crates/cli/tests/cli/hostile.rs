//! Models and servers that put everything a terminal might obey into whatever
//! they say. A terminal shows it and does nothing; a pipe gets it as it is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{piped, run};
use crate::terminal::Terminal;

/// Everything that must not reach a terminal as it is: escape sequences that
/// clear it, name it and fill its clipboard, single controls, C1 controls, and
/// characters that are hidden or turn the text around.
const ATTACK: &str = "begin\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}[8m\r\u{8}\u{7f}\u{0}\u{b}\u{c}\u{80}\u{84}\u{90}\
    \u{9b}31m\u{9d}\u{9f}\u{ad}\u{61c}\u{180e}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\
    \u{202e}\u{2060}\u{2066}\u{2067}\u{2068}\u{2069}\u{3164}\u{fe00}\u{fe0f}\u{feff}\u{fff9}\u{e0001}\u{e0041}\u{e007f}\u{e0100}end";

/// Returns the characters of the attack that must not be shown.
fn forbidden() -> impl Iterator<Item = char> {
    ATTACK.chars().filter(|sign| !(' '..='~').contains(sign) && *sign != '\r')
}

/// Starts a server that answers everything: as a model below `/v1`, as Consort below `/api`, as a tool elsewhere.
/// Returns its address.
fn hostile() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(stream));
        }
    });
    format!("http://{address}")
}

fn answer(mut stream: TcpStream) {
    let Some((path, body)) = request(&stream) else { return };
    let (status, kind, answer) = match path.as_str() {
        "/v1/chat/completions" if body.contains("FAIL") => (
            "400 Bad Request",
            "application/json",
            json!({ "error": { "message": ATTACK, "type": ATTACK } }).to_string(),
        ),
        "/v1/chat/completions" => ("200 OK", "text/event-stream", said(&body)),
        "/api/runs/x/events" => ("200 OK", "text/event-stream", events()),
        path if path.starts_with("/api/") => match consort(path) {
            Some(answer) => ("200 OK", "application/json", answer.to_string()),
            None => ("404 Not Found", "application/json", json!({ "error": ATTACK, "message": ATTACK }).to_string()),
        },
        _ => ("200 OK", "text/plain", ATTACK.to_owned()),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n", answer.len());
    let _gone = write!(stream, "{head}Connection: close\r\n\r\n{answer}");
}

/// Returns the path of the next request, and its body.
fn request(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let path = first.split(' ').nth(1)?.split('?').next()?.to_owned();
    let mut length = 0;
    for line in reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, String::from_utf8(body).ok()?))
}

/// Returns the reply of the model: the attack; or, where it is asked to pay and has not done so yet, a call of that
/// tool with the attack in it.
fn said(body: &str) -> String {
    let pays = body.contains("PAY") && !body.contains("\"role\":\"tool\"");
    let delta = match pays {
        true => json!({ "role": "assistant", "content": ATTACK, "tool_calls": [{ "index": 0, "id": "call-1",
            "type": "function", "function": { "name": "pay_bill", "arguments": json!({ "input": ATTACK }).to_string() } }] }),
        false => json!({ "role": "assistant", "content": format!("{ATTACK}\n{ATTACK}") }),
    };
    let reason = if pays { "tool_calls" } else { "stop" };
    let chunk = |delta: Value, reason: Value| {
        json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
    };
    format!("data: {}\n\ndata: {}\n\ndata: [DONE]\n\n", chunk(delta, Value::Null), chunk(json!({}), reason.into()))
}

/// Returns a response of Consort, with the attack in every text.
fn consort(path: &str) -> Option<Value> {
    let review = json!({ "reviewId": ATTACK, "runId": ATTACK, "taskName": ATTACK, "timing": "AFTER_EXECUTION",
        "taskOutput": ATTACK, "prompt": ATTACK, "decision": ATTACK });
    let task = json!({ "name": ATTACK, "status": ATTACK, "output": ATTACK, "error": ATTACK, "reason": ATTACK });
    let run = json!({ "runId": ATTACK, "status": ATTACK, "ensemble": ATTACK, "workflow": ATTACK, "model": ATTACK,
        "inputs": { ATTACK: ATTACK }, "tags": { ATTACK: ATTACK }, "error": ATTACK, "retryOf": ATTACK,
        "waitingFor": ATTACK, "tasks": [task], "pendingReviews": [review], "taskCount": 1, "completedTasks": 0 });
    let named = json!({ "name": ATTACK, "description": ATTACK, "variables": [ATTACK], "tools": [ATTACK] });
    let peer = json!({ "name": ATTACK, "realm": ATTACK, "error": ATTACK, "connected": false,
        "requests": [{ "capability": ATTACK, "message": ATTACK }] });
    Some(match path {
        "/api/runs" => json!({ "runs": [run], "total": 1 }),
        "/api/runs/x" => run,
        "/api/runs/x/retry" => json!({ "runId": ATTACK, "status": ATTACK, "retryOf": ATTACK }),
        "/api/reviews" => json!({ "reviews": [review] }),
        "/api/reviews/x" => review,
        "/api/network" => json!({ "peers": [peer] }),
        "/api/capabilities" => json!({ "models": [{ "alias": ATTACK, "provider": ATTACK }],
            "preconfiguredTasks": [named], "tools": [named], "sharedTasks": [named], "sharedTools": [named] }),
        "/api/tools/good/invoke" => json!({ "tool": ATTACK, "status": "SUCCESS", "output": ATTACK }),
        "/api/tools/bad/invoke" => json!({ "tool": ATTACK, "status": "FAILURE", "errorMessage": ATTACK }),
        _ => return None,
    })
}

/// Returns a frame about a task or a subtask, with the attack in its common fields.
fn about(turn: &str, kind: &str, fields: Value) -> Value {
    let mut frame = json!({ "type": kind, "taskIndex": 1, "agentRole": ATTACK, "taskDescription": ATTACK,
        "turnId": turn, "taskName": ATTACK });
    frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    frame
}

/// Returns the events of a run in which everything has the attack in it.
fn events() -> String {
    let at = "2026-03-15T10:30:00.000Z";
    let request = json!({ "name": ATTACK, "arguments": ATTACK });
    let frames = [
        json!({ "type": "run_accepted", "ensemble": ATTACK, "workflow": "PARALLEL", "totalTasks": 2, "tasks": [
            { "taskIndex": 1, "name": ATTACK, "agentRole": ATTACK, "context": [] },
            { "taskIndex": 2, "name": "two", "agentRole": ATTACK, "context": [] }] }),
        about("1", "task_started", json!({ "totalTasks": 2, "startedAt": at })),
        about(
            "1",
            "llm_iteration_started",
            json!({ "iterationIndex": 0, "model": ATTACK, "messages": [], "totalMessageCount": 0 }),
        ),
        about(
            "1",
            "model_failed",
            json!({ "error": "overloaded", "message": ATTACK, "then": { "action": "fallback", "model": ATTACK } }),
        ),
        about(
            "1",
            "llm_iteration_completed",
            json!({ "responseType": "TOOL_CALLS", "toolRequests": [request, request], "inputTokens": 1,
                "outputTokens": 1, "latencyMs": 1 }),
        ),
        about("1", "tool_dispatched", json!({ "callId": "1.0.0", "toolName": ATTACK, "toolArguments": ATTACK })),
        about(
            "1",
            "subtask_started",
            json!({ "callId": "1.0.1", "title": ATTACK, "instructions": ATTACK, "toolNames": [ATTACK], "depth": 1 }),
        ),
        about(
            "1",
            "tool_called",
            json!({ "callId": "1.0.1", "toolName": ATTACK, "durationMs": 1, "outcome": "FAILURE",
                "toolArguments": ATTACK, "toolResult": ATTACK, "structuredResult": null }),
        ),
        about(
            "2",
            "review_requested",
            json!({ "reviewId": ATTACK, "taskOutput": ATTACK, "timing": "AFTER_EXECUTION", "timeoutMs": 0,
                "createdAt": at }),
        ),
        json!({ "type": "review_decided", "reviewId": ATTACK, "decision": "EDIT", "by": ATTACK,
            "revisedOutput": ATTACK }),
        about("1", "task_failed", json!({ "failedAt": at, "reason": ATTACK, "partialOutput": ATTACK })),
        about(
            "2",
            "task_completed",
            json!({ "totalTasks": 2, "completedAt": at, "durationMs": 1, "tokenCount": 1, "toolCallCount": 0,
                "output": ATTACK }),
        ),
    ];
    let line = |(seq, frame): (usize, &Value)| {
        let mut frame = frame.clone();
        let place = json!({ "runId": ATTACK, "seq": seq, "at": at });
        frame.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
        format!("id: {seq}\nevent: {}\ndata: {frame}\n\n", frame["type"].as_str().unwrap())
    };
    let told: String = frames.iter().enumerate().map(line).collect();
    let metrics = json!({ "totalTokens": 1, "totalToolCalls": 0, "inputTokens": 1, "outputTokens": 0,
        "cachedInputTokens": 0, "reasoningTokens": 0, "llmCalls": 1, "subtasks": 0, "llmLatencyMs": 1,
        "toolExecutionTimeMs": 0, "unpriced": [ATTACK] });
    let result = json!({ "type": "run_result", "runId": ATTACK, "status": "COMPLETED", "durationMs": 1,
        "outputs": [{ "taskName": "two", "output": ATTACK, "durationMs": 1 }], "metrics": metrics, "output": ATTACK });
    let token = about("1", "token", json!({ "runId": ATTACK, "token": ATTACK, "sentAt": at }));
    format!("{told}event: token\ndata: {token}\n\nevent: run_result\ndata: {result}\n\n")
}

/// Creates a folder with an ensemble of one task and a tool, all of them hostile.
fn folder(url: &str, description: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "[models.bad]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{url}/v1'\nretries = 0\n\
        [tools.http.pay_bill]\ndescription = 'Pays'\nurl = '{url}/pay'\neffect = 'once'\n\
        [ensemble]\nname = 'one'\n[[ensemble.task]]\nname = 'only'\ndescription = '{description}'\n"
    );
    std::fs::write(folder.path().join("consort.toml"), config).unwrap();
    folder
}

/// Fails where a terminal was sent anything but text and the codes of Consort
/// itself, or where the attack is not there to be read.
fn assert_safe(what: &str, sent: &[u8]) {
    let sent = String::from_utf8(sent.to_vec()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let ours = ["[?2026h", "[?2026l", "[?7h", "[?7l", "[?25h", "[?25l", "[?2004h", "[?2004l", "[K", "[J"];
    let mut text = ours.iter().fold(sent.clone(), |text, code| text.replace(&format!("\u{1b}{code}"), ""));
    for rows in 0..100 {
        for code in ["A", "B", "C"] {
            text = text.replace(&format!("\u{1b}[{rows}{code}"), "");
        }
    }
    for sign in forbidden() {
        assert!(!text.contains(sign), "{what}: {sign:?} in {text:?}");
    }
    let shown = text.contains("\\u{202e}") || text.contains("\\u202e");
    assert!(shown, "{what}: the attack is not shown: {text:?}");
}

/// Runs a command on a terminal to its end.
fn on_terminal(folder: &Path, args: &[&str]) -> Vec<u8> {
    Terminal::start(folder, args).transcript().1
}

#[test]
fn nothing_a_server_says_steers_the_terminal_of_any_command() {
    let url = hostile();
    let folder = tempfile::tempdir().unwrap();
    let commands: [&[&str]; 16] = [
        &["runs", "list"],
        &["runs", "list", "--json"],
        &["runs", "show", "x"],
        &["runs", "watch", "x"],
        &["runs", "watch", "x", "--json"],
        &["runs", "retry", "x"],
        &["runs", "cancel", "x"],
        &["runs", "cancel", "x", "--json"],
        &["reviews", "list"],
        &["reviews", "decide", "x", "approve"],
        &["network"],
        &["capabilities"],
        &["tools", "list"],
        &["tools", "invoke", "good", "y"],
        &["tools", "invoke", "bad", "y"],
        &["chat", "--thread", "x", "Hello"],
    ];
    for command in commands {
        assert_safe(&command.join(" "), &on_terminal(folder.path(), &[command, &["--url", &url]].concat()));
    }
    // What was typed may have been copied from anywhere, and so may a file.
    let typed: String = ATTACK.chars().filter(|sign| *sign != '\0').collect();
    assert_safe("a word that is no command", &on_terminal(folder.path(), &[&typed]));
    assert_safe("a run of a hostile name", &on_terminal(folder.path(), &["runs", "show", &typed, "--url", &url]));
    std::fs::write(folder.path().join("consort.toml"), format!("['{}']\n", typed.replace(char::is_control, "")))
        .unwrap();
    assert_safe("check", &on_terminal(folder.path(), &["check"]));
}

#[test]
fn nothing_a_model_says_steers_the_terminal_of_a_run_or_its_review() {
    let url = hostile();
    let good = folder(&url, "Say hello");
    let config = good.path().join("consort.toml");
    let reviewed = std::fs::read_to_string(&config).unwrap() + "review = 'required'\n";
    std::fs::write(&config, reviewed).unwrap();
    let mut terminal = Terminal::start(good.path(), &["run"]);
    terminal.until("exit early: ");
    terminal.press("a\n");
    let (status, sent) = terminal.transcript();
    assert_eq!(status, Some(0));
    assert_safe("run", &sent);
    assert_safe("a run that fails", &on_terminal(folder(&url, "FAIL").path(), &["run"]));
}

#[test]
fn nothing_a_model_says_steers_the_terminal_of_a_chat_and_arguments_are_shown_exactly() {
    let url = hostile();
    let folder = folder(&url, "x");
    let mut terminal = Terminal::start(folder.path(), &["chat"]);
    terminal.until("› ");
    terminal.press("Hello\n");
    terminal.until("end\r\n");
    terminal.press("PAY\n");
    let asked = terminal.until("[d]eny: ");
    assert!(
        asked.contains(r"\u009b31m\u009d\u009f\u00ad\u061c\u180e\u200b") && asked.contains(r"\udb40\udc41"),
        "{asked}"
    );
    terminal.press("a\n");
    terminal.until("end\r\n");
    terminal.press("\u{4}");
    let (status, sent) = terminal.transcript();
    assert_eq!(status, Some(0));
    assert_safe("chat", &sent);
    assert_safe("a turn that fails", &on_terminal(folder.path(), &["chat", "FAIL"]));
}

#[test]
fn nothing_that_is_logged_steers_the_terminal_of_a_server() {
    let url = hostile();
    let folder = folder(&url, "Say hello");
    for format in ["text", "json"] {
        let mut terminal = Terminal::start(folder.path(), &["serve", "--port", "0", "--log", format]);
        let listening = terminal.until("\r\n");
        let address = listening.trim_end().rsplit(' ').next().unwrap().to_owned();
        let file = folder.path().join("request.json");
        std::fs::write(&file, json!({ "options": { "verbose": true } }).to_string()).unwrap();
        run(folder.path(), &["run", "--url", &address, "--file", file.to_str().unwrap()]);
        terminal.press("\u{3}");
        let (status, sent) = terminal.transcript();
        assert_eq!(status, Some(0));
        assert_safe(format, &sent);
    }
}

#[test]
fn a_pipe_gets_what_was_said_as_it_is() {
    let url = hostile();
    let good = folder(&url, "Say hello");
    let said = format!("{ATTACK}\n{ATTACK}\n");
    let (status, answer, _) = run(good.path(), &["run"]);
    assert_eq!((status, answer.as_str()), (Some(0), said.as_str()));
    let (status, answer, _) = piped(good.path(), &["chat"], "Hello");
    assert_eq!((status, answer.as_str()), (Some(0), said.as_str()));
    let there = |args: &[&str]| run(good.path(), &[args, &["--url", &url]].concat());
    assert_eq!(there(&["tools", "invoke", "good", "y"]).1, format!("{ATTACK}\n"));
    assert_eq!(there(&["runs", "watch", "x"]).1, format!("{ATTACK}\n"));
    assert!(there(&["runs", "show", "x"]).1.contains(ATTACK));
    let frames = there(&["runs", "watch", "x", "--json"]).1;
    assert_eq!(frames.lines().next(), events().lines().nth(2).and_then(|line| line.strip_prefix("data: ")));
}
