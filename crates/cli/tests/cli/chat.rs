//! `consort chat`: one turn, a conversation, in this process and on a server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use serde_json::Value;

use crate::binary::{Ended, ended, interrupt, piped, run, start};
use crate::served::Served;
use crate::slow_model::SlowModel;
use crate::terminal::Terminal;

/// A demo model with a tool that must not be called without asking.
const SHOP: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[tools.http.pay_bill]\ndescription = 'Pays'\n\
    url = 'http://127.0.0.1:1/pay'\neffect = 'once'\n";

fn slow(model: &SlowModel) -> String {
    format!(
        "[models.slow]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{}/v1'\nretries = 0\n",
        model.port
    )
}

fn configure(folder: &Path, config: &str) {
    std::fs::write(folder.join("consort.toml"), config).unwrap();
}

/// Returns the thread that the last line names for going on.
fn thread((_, _, words): &Ended) -> String {
    let last = words.lines().last().unwrap();
    last.strip_prefix("to go on: consort chat --thread ").unwrap_or_else(|| panic!("{words}")).to_owned()
}

/// Returns the lines without the parts that differ from one run to the next.
fn lines(words: &str) -> Vec<String> {
    let timeless = |line: &str| match line.rsplit_once("  ") {
        Some((line, took)) if took.ends_with('s') && took.starts_with(|sign: char| sign.is_ascii_digit()) => {
            line.to_owned()
        }
        _ => line.split("thread-").next().unwrap().to_owned(),
    };
    words.lines().map(timeless).collect()
}

#[test]
fn a_turn_has_its_answer_on_stdout_and_everything_else_on_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let (status, answer, words) = run(folder.path(), &["chat", "What is 42 * 17, and 15% of 80?"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(answer.starts_with("- 42 * 17 = **714**\n- 15% of 80 = **12**\n\n_Consort's built-in demo"), "{answer}");
    let mut lines = lines(&words);
    // They run at the same time, and each is told when it ends.
    lines.sort();
    let expected = [
        "No consort.toml here: this is the built-in demo, offline. It is kept in consort-data.",
        "to go on: consort chat --thread ",
        "✓ calculator 15% of 80",
        "✓ calculator 42 * 17",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_cut_answer_is_told_and_a_failed_turn_ends_with_status_one() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), "[models.demo]\nprovider = 'demo'\nmodel = 'm'\nmax_output_tokens = 20\n");
    let (status, answer, words) = run(folder.path(), &["chat", "Write about tea"]);
    assert!(status == Some(0) && !answer.contains("built-in demo"), "{answer} {words}");
    assert!(words.contains("the answer was cut at the output limit; /continue goes on with it\n"), "{words}");
    let (status, answer, words) = run(folder.path(), &["chat", "Say nothing"]);
    assert_eq!((status, answer.as_str()), (Some(1), ""), "{words}");
    assert!(words.contains("the model said nothing; it is asked again\n"), "{words}");
    assert!(words.contains("error: EMPTY_ANSWER") && words.contains("(empty_answer)"), "{words}");
}

#[test]
fn parallel_subtasks_are_told_as_a_tree_and_what_is_piped_in_is_a_message() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n");
    let asked = "Do both:\n1. What is 42 * 17?\n2. Write about the many kinds of bees\n";
    let (status, answer, words) = piped(folder.path(), &["chat"], asked);
    assert_eq!(status, Some(0), "{words}");
    assert!(answer.contains("## What is 42 * 17\n\n- 42 * 17 = **714**\n\n## Write about"), "{answer}");
    let lines = lines(&words);
    let (last, told) = lines.split_last().unwrap();
    assert_eq!(last, "to go on: consort chat --thread ");
    let tree = ["✓ subtask What is 42 * 17", "  ✓ calculator 42 * 17"];
    let other = ["✓ subtask Write about the many kinds of"];
    let either = [[tree.as_slice(), &other].concat(), [other.as_slice(), &tree].concat()];
    assert!(either.iter().any(|order| told == order.as_slice()), "{words}");
}

#[test]
fn a_conversation_goes_on_in_another_process_and_every_frame_can_be_printed() {
    let folder = tempfile::tempdir().unwrap();
    let thread = thread(&run(folder.path(), &["chat", "My name is Ada"]));
    let (status, answer, words) = run(folder.path(), &["chat", "--thread", &thread, "What did I say?"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(answer.starts_with("You said:\n\n- My name is Ada\n\n"), "{answer}");
    let (status, frames, words) = run(folder.path(), &["chat", "--thread", &thread, "--json", "Hello"]);
    assert_eq!((status, words.as_str()), (Some(0), ""));
    let frames: Vec<Value> = frames.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(frames.iter().all(|frame| frame["thread_id"] == thread.as_str()));
    assert_eq!((&frames[0]["type"], &frames[0]["content"]), (&"message".into(), &"Hello".into()));
    let last = frames.last().unwrap();
    assert_eq!((&last["type"], &last["done"], &last["status"]), (&"chunk".into(), &true.into(), &"COMPLETED".into()));
}

#[test]
fn ctrl_c_stops_the_model_and_the_thread_can_be_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let model = SlowModel::start();
    configure(folder.path(), &format!("{}[models.demo]\nprovider = 'demo'\nmodel = 'm'\n", slow(&model)));
    let mut child = start(folder.path(), &["chat", "--json", "Hello"]);
    let told = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut frames = told.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let spoken = frames.find(|frame| frame["type"] == "chunk").unwrap();
    assert_eq!(spoken["content"], "Well");
    interrupt(&child);
    let answer = frames.find(|frame| frame["type"] == "message").unwrap();
    assert_eq!((&answer["role"], &answer["content"]), (&"assistant".into(), &"Well".into()));
    assert_eq!(frames.last().unwrap()["status"], "CANCELLED");
    let stopped = ended(child.wait_with_output().unwrap());
    model.asked();
    model.hung_up();
    assert_eq!((stopped.0, stopped.2.as_str()), (Some(130), "stopping; Ctrl-C leaves at once\n"));
    let asked = ["chat", "--thread", spoken["thread_id"].as_str().unwrap(), "--model", "demo", "What did I say?"];
    let (status, answer, words) = run(folder.path(), &asked);
    assert_eq!((status, answer.starts_with("You said:\n\n- Hello\n")), (Some(0), true), "{words}");
}

#[test]
fn a_turn_that_a_crash_left_behind_does_not_block_its_thread() {
    let folder = tempfile::tempdir().unwrap();
    let model = SlowModel::start();
    configure(folder.path(), &format!("{}[models.demo]\nprovider = 'demo'\nmodel = 'm'\n", slow(&model)));
    let mut crashing = start(folder.path(), &["chat", "--json", "Hello"]);
    let mut frames = BufReader::new(crashing.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&frames.next().unwrap().unwrap()).unwrap();
    model.asked();
    crashing.kill().unwrap();
    crashing.wait().unwrap();
    let thread = first["thread_id"].as_str().unwrap();
    let (status, answer, words) =
        run(folder.path(), &["chat", "--thread", thread, "--model", "demo", "What is 1 + 1?"]);
    assert_eq!((status, answer.starts_with("- 1 + 1 = **2**")), (Some(0), true), "{words}");
}

/// Accepts the next request, on a separate connection; returns its first line, and the stream for the answer.
fn asked(server: &TcpListener) -> (String, TcpStream) {
    let (stream, _) = server.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    let mut length = 0;
    reader.read_line(&mut first).unwrap();
    for line in reader.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty()) {
        if let Some(bytes) = line.to_lowercase().strip_prefix("content-length: ") {
            length = bytes.parse().unwrap();
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    (first.rsplit_once(' ').unwrap().0.to_owned(), stream)
}

fn reply(stream: &mut TcpStream, status: &str, kind: &str, body: &str) {
    write!(stream, "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n{body}").unwrap();
}

#[test]
fn ctrl_c_before_the_server_has_answered_stops_the_turn_once_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let mut child = start(folder.path(), &["chat", "--url", &url, "Hello"]);
    let mut words = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let json = "application/json";
    let (made, mut stream) = asked(&server);
    reply(&mut stream, "201 Created", json, r#"{"id": "thread-1"}"#);
    drop(stream);
    let (said, mut stream) = asked(&server);
    interrupt(&child);
    assert_eq!(words.next().unwrap(), "stopping; Ctrl-C leaves at once");
    reply(&mut stream, "202 Accepted", json, r#"{"threadId": "thread-1", "turnId": "turn-1", "seq": 0}"#);
    drop(stream);
    let (followed, mut events) = asked(&server);
    reply(&mut events, "200 OK", "text/event-stream", "");
    let (stopped, mut stream) = asked(&server);
    reply(&mut stream, "200 OK", json, "{}");
    drop(stream);
    let expected = [
        "POST /api/threads",
        "POST /api/threads/thread-1/messages",
        "GET /api/threads/thread-1/events?from=0",
        "POST /api/threads/thread-1/stop",
    ];
    assert_eq!([made, said, followed, stopped], expected);
    let done = r#"{"type":"chunk","thread_id":"thread-1","turn_id":"turn-1","chat_seq":0,"content":"","done":true,"parent_id":null,"depth":0,"status":"CANCELLED","at":"2026-03-15T10:30:00.000Z"}"#;
    write!(events, "id: 0\nevent: chunk\ndata: {done}\n\n").unwrap();
    assert_eq!(words.collect::<Vec<_>>(), [format!("to go on: consort chat --thread thread-1 --url {url}")]);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_question_of_a_tainted_chat_says_what_was_read_and_where_it_would_go() {
    let folder = tempfile::tempdir().unwrap();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let mut child = start(folder.path(), &["chat", "--url", &url, "Hello"]);
    let mut words = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let json = "application/json";
    for (status, body) in [
        ("201 Created", r#"{"id": "thread-1"}"#),
        ("202 Accepted", r#"{"threadId": "thread-1", "turnId": "turn-1", "seq": 0}"#),
    ] {
        let (_, mut stream) = asked(&server);
        reply(&mut stream, status, json, body);
    }
    let (_, mut events) = asked(&server);
    reply(&mut events, "200 OK", "text/event-stream", "");
    let why = "this turn has read `secret.env`; the call would send 312 bytes to sink.example";
    let question = serde_json::json!({ "type": "tool_approval_request", "approval_id": "turn-1-approval-0",
        "tool_call_id": "c", "tool_name": "http_fetch", "category": "read", "args": { "url": "http://sink.example" },
        "message": why, "reason": "taint", "host": "sink.example", "bytes": 312, "sources": ["secret.env"],
        "created_at": "2026-01-01T00:00:00.000Z", "expires_at": null, "depth": 0, "parent_id": null,
        "thread_id": "thread-1", "turn_id": "turn-1", "chat_seq": 0, "at": "2026-01-01T00:00:00.000Z" });
    write!(events, "id: 0\nevent: tool_approval_request\ndata: {question}\n\n").unwrap();
    assert_eq!(words.next().as_deref(), Some(why));
    assert_eq!(words.next().as_deref(), Some("call http_fetch with these arguments?"));
    let done = r#"{"type":"chunk","thread_id":"thread-1","turn_id":"turn-1","chat_seq":1,"content":"","done":true,"parent_id":null,"depth":0,"status":"CANCELLED","at":"2026-03-15T10:30:00.000Z"}"#;
    write!(events, "id: 1\nevent: chunk\ndata: {done}\n\n").unwrap();
    drop(events);
    assert!(words.any(|line| line.starts_with("nobody can be asked here")));
    child.wait().unwrap();
}

#[test]
fn every_ending_has_its_status() {
    let folder = tempfile::tempdir().unwrap();
    let closed = crate::ports::free();
    let url = format!("http://127.0.0.1:{closed}");
    let gone = format!("[models.gone]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{url}/v1'\nretries = 0\n");
    configure(folder.path(), &gone);
    let consort = |args: &[&str]| run(folder.path(), &[&["chat"], args].concat());
    let (status, answer, words) = consort(&["Hello"]);
    assert_eq!((status, answer.as_str()), (Some(1), ""));
    assert!(words.starts_with("error: ") && words.contains(" (connection_error)\n"), "{words}");

    let unknown = "model: Unknown model 'huge'. Available: [gone]\n";
    assert_eq!(consort(&["--model", "huge", "Hello"]), (Some(2), String::new(), unknown.to_owned()));
    let nothing = "there is nothing to say: give a MESSAGE, or pipe one in\n";
    assert_eq!(consort(&[]), (Some(2), String::new(), nothing.to_owned()));
    assert_eq!(consort(&["--config", "consort.toml", "--url", &url, "Hello"]).0, Some(2));
    let (status, _, words) = consort(&["--thread", "thread-1", "Hello"]);
    assert_eq!((status, words.as_str()), (Some(1), "consort: No thread with ID thread-1\n"));
    let (status, _, words) = consort(&["--url", &url, "Hello"]);
    assert_eq!((status, words.starts_with(&format!("consort: cannot reach {url}: "))), (Some(3), true), "{words}");
    let (_, _, words) = consort(&["--agent", "--model", "huge", "Hello"]);
    let warning = "warning: --agent is deprecated and changes nothing: every chat is an agent\n";
    assert_eq!(words, format!("{warning}{unknown}"));
}

#[test]
fn a_call_that_nobody_can_allow_here_is_denied_at_once() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), SHOP);
    let (status, answer, words) = run(folder.path(), &["chat", "Use pay_bill with \"rent\""]);
    assert_eq!((status, answer.contains("`pay_bill` failed for \"rent\"")), (Some(0), true), "{answer}{words}");
    let expected = "call pay_bill with these arguments?\n  {\n    \"input\": \"rent\"\n  }\n\
        nobody can be asked here, so it is denied\n✗ pay_bill rent  ";
    assert!(words.starts_with(expected), "{words}");
}

#[test]
fn a_turn_on_a_server_outlives_it_and_no_frame_is_missed() {
    let mut server = Served::start(Some(SHOP));
    let mut talker = server.begin(&["chat", "--json", "Use pay_bill with \"rent\""]);
    let mut lines = BufReader::new(talker.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut frames: Vec<Value> = Vec::new();
    while frames.last().is_none_or(|frame| frame["type"] != "tool_approval_request") {
        frames.push(serde_json::from_str(&lines.next().unwrap()).unwrap());
    }
    let mut words = BufReader::new(talker.stderr.take().unwrap()).lines().map_while(Result::ok);
    server.kill();
    assert!(words.any(|line| line.starts_with("the connection is lost ")));
    server.restart();
    assert!(words.any(|line| line == "connected again"));
    answer(&server.url, frames.last().unwrap()["approval_id"].as_str().unwrap(), "deny");
    frames.extend(lines.map(|line| serde_json::from_str::<Value>(&line).unwrap()));
    assert_eq!(talker.wait().unwrap().code(), Some(0));
    let stored = |frame: &&Value| frame["type"] != "chunk" || frame["done"] == true;
    let numbers: Vec<u64> = frames.iter().filter(stored).map(|frame| frame["chat_seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    let ended = frames.iter().find(|frame| frame["type"] == "tool_call_update" && frame["status"] == "end").unwrap();
    assert_eq!(ended["is_error"], true);
}

/// Answers a question for permission.
fn answer(url: &str, approval: &str, decision: &str) {
    let body = format!(r#"{{"decision":"{decision}"}}"#);
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "POST /api/approvals/{approval} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\nconnection: close"
    );
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answered = String::new();
    stream.read_to_string(&mut answered).unwrap();
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
}

#[test]
fn a_person_is_asked_with_the_exact_arguments_and_what_they_say_holds() {
    let server = Served::start(Some(SHOP));
    let mut terminal = Terminal::start(server.folder.path(), &["chat", "--url", &server.url]);
    terminal.until("› ");
    terminal.press("Use pay_bill with \"rent\"\n");
    let asked = terminal.until("[d]eny: ");
    assert!(asked.contains("call pay_bill with these arguments?\r\n  {\r\n    \"input\": \"rent\"\r\n  }"), "{asked}");
    terminal.press("what?\n");
    terminal.until("[d]eny: ");
    terminal.press("d\n");
    terminal.until("✗ pay_bill rent");
    terminal.until("consort.toml._\r\n");

    terminal.until("› ");
    terminal.press("Use pay_bill with \"food\"\n");
    terminal.until("[d]eny: ");
    terminal.press("c\n");
    terminal.until("consort.toml._\r\n");
    terminal.until("› ");
    terminal.press("Use pay_bill with \"gas\"\n");
    let allowed = terminal.until("consort.toml._\r\n");
    assert!(!allowed.contains("[d]eny"), "it was allowed for the whole conversation: {allowed}");
    terminal.press("/grants\n");
    let listed = terminal.until("Z\r\n");
    assert!(listed.contains("pay_bill") && listed.contains("127.0.0.1"), "{listed}");
    let grant = listed.split_whitespace().find(|word| word.starts_with("grant-")).unwrap();
    terminal.press(&format!("/revoke {grant}\n"));
    terminal.until("it is asked about again\r\n");
    terminal.press("/grants\n");
    terminal.until("nothing was allowed in this chat\r\n");
    terminal.press("Use pay_bill with \"ink\"\n");
    let asked = terminal.until("[d]eny: ");
    assert!(asked.contains("for this chat: pay_bill to 127.0.0.1"), "{asked}");
    terminal.press("d\n");
    terminal.until("consort.toml._\r\n");

    terminal.press("/cost\n");
    terminal.until("session ");
    terminal.until("unpriced: no price is configured for demo (4 turns)");
    terminal.press("/mode yolo\n");
    terminal.until("there is no mode `yolo`: plan, default or auto");
    terminal.press("/new\n");
    terminal.until("a new chat");
    terminal.press("What did I say?\n");
    terminal.until("Nothing yet");
    terminal.press("\u{4}");
    terminal.until("to go on: consort chat --thread thread-");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn what_may_be_done_without_asking_can_be_changed_while_a_turn_waits() {
    let server = Served::start(Some(&format!("{SHOP}[chat]\npermission_mode = 'auto'\n")));
    let mut terminal = Terminal::start(server.folder.path(), &["chat", "--url", &server.url]);
    terminal.press("/mode default\n");
    terminal.until("mode: default");
    terminal.press("Use pay_bill with \"rent\"\n");
    terminal.until("[d]eny: ");
    terminal.press("/mode auto\n");
    terminal.until("mode: auto\r\n");
    let made = terminal.until("consort.toml._\r\n");
    assert!(made.contains("✗ pay_bill rent") && !made.contains("denied"), "it was tried: {made}");
    terminal.press("/exit\n");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn a_mode_is_named_at_the_start_and_the_configuration_says_how_far_it_may_go() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), SHOP);
    let chat = |mode: &str| run(folder.path(), &["chat", "--mode", mode, "What is 6 * 7?"]);
    let (status, _, words) = chat("yolo");
    assert!(status == Some(2) && words.contains("it must be plan, default or auto"), "{words}");
    let lowered = "mode auto is not allowed here; it stays default";
    for (mode, is_lowered) in [("plan", false), ("default", false), ("auto", true)] {
        let (status, _, words) = chat(mode);
        assert_eq!((status, words.contains(lowered)), (Some(0), is_lowered), "{mode}: {words}");
    }
}

#[test]
fn esc_stops_the_turn_and_the_conversation_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let model = SlowModel::start();
    configure(folder.path(), &format!("{}[models.demo]\nprovider = 'demo'\nmodel = 'm'\n", slow(&model)));
    let mut terminal = Terminal::start(folder.path(), &["chat"]);
    terminal.until("› ");
    terminal.press("Hellp\u{7f}o\n");
    model.asked();
    terminal.press("\u{1b}");
    model.hung_up();
    terminal.until("stopped\r\n");
    terminal.press("/model demo\n");
    terminal.until("demo is asked from now on");
    terminal.press("What did I say?\n");
    terminal.until("- Hello\r\n");
    terminal.press("/exit\n");
    assert_eq!(terminal.ended(), Some(0));
}
