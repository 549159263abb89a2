//! `consort serve` as a process: what it prints, what it answers, how it ends.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use futures::SinkExt;
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use crate::binary::{interrupt, run, signal, start};
use crate::outside::Outside;
use crate::served::Served;
use crate::slow_model::SlowModel;
use crate::terminal::{pair, side};

/// Starts a server in this folder; returns it with its address.
fn serve(folder: &Path) -> (Child, String) {
    let mut server = start(folder, &["serve", "--port", "0", "--data", "data"]);
    let address = listening(&mut server);
    (server, address)
}

/// Returns the address on which it listens, once it does.
fn listening(server: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim_end().strip_prefix("consort listening on http://").unwrap().to_owned()
}

fn send(address: &str, request: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "{request}\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_server_says_where_it_listens_runs_the_demo_and_ends_in_order_when_told() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, address) = serve(folder.path());
    let run = send(&address, "POST /api/runs HTTP/1.1\r\nPrefer: wait=60");
    assert!(run.starts_with("HTTP/1.1 200") && run.contains(r#""status":"COMPLETED""#), "{run}");
    interrupt(&server);
    assert_eq!(server.wait().unwrap().code(), Some(0));

    let (mut again, address) = serve(folder.path());
    assert!(send(&address, "GET /api/runs HTTP/1.1").contains(r#""total":1"#), "the run is still there");
    interrupt(&again);
    assert_eq!(again.wait().unwrap().code(), Some(0));
}

/// The longest time for a line of the log, on a busy machine.
#[cfg(test)]
const PATIENCE: Duration = Duration::from_secs(60);

/// A server's log as it grows, read on a thread of its own.
#[cfg(test)]
struct Lines(mpsc::Receiver<String>);

#[cfg(test)]
impl Lines {
    fn of(server: &mut Child) -> Lines {
        let log = BufReader::new(server.stderr.take().unwrap());
        let (lines, read) = mpsc::channel();
        std::thread::spawn(move || log.lines().map_while(Result::ok).try_for_each(|line| lines.send(line)));
        Lines(read)
    }

    /// Reads on until a line says this.
    fn find(&mut self, words: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        let mut said = Vec::new();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.0.recv_timeout(left) else {
                panic!("it never says '{words}', only:\n{}", said.join("\n"));
            };
            let read: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if read["message"].as_str().is_some_and(|message| message.contains(words)) {
                return read;
            }
            said.push(line);
        }
    }
}

/// Writes a configuration with the key "abc" for these scopes.
#[cfg(test)]
fn configure(folder: &Path, scopes: &str) {
    // The SHA-256 of "abc".
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let key = format!("[[server.api_key]]\nname = \"ci\"\nkey_sha256 = \"{digest}\"\nscopes = [{scopes}]\n");
    let model = "[models.main]\nprovider = \"demo\"\nmodel = \"demo\"\n[ensemble]\nname = \"e\"\n";
    let task = "[[ensemble.task]]\ndescription = \"Think\"\nreview = \"required\"\n";
    std::fs::write(folder.join("consort.toml"), format!("{key}{model}{task}")).unwrap();
}

#[test]
fn a_key_taken_out_of_the_file_ends_its_streams_and_every_change_says_who_made_it() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), "\"read\", \"run\"");
    let (mut server, address) = serve(folder.path());
    let mut log = Lines::of(&mut server);
    let key = "Authorization: Bearer abc";
    let accepted = send(&address, &format!("POST /api/runs HTTP/1.1\r\nX-Request-Id: mine-1\r\n{key}"));
    assert!(accepted.starts_with("HTTP/1.1 202") && accepted.contains("x-request-id: mine-1"), "{accepted}");
    let change = log.find("a change was asked for");
    let said = ["target", "request_id", "caller", "method", "route", "subject", "status"];
    let said = said.map(|name| change[name].as_str().unwrap());
    assert_eq!(said, ["audit", "mine-1", "ci", "POST", "/api/runs", "/api/runs", "202"]);
    let place = format!("/api/runs/{}", change["run"].as_str().unwrap());
    assert!(accepted.contains(&place));

    let watching = std::thread::spawn({
        let address = address.clone();
        let request = format!("GET {place}/events HTTP/1.1\r\n{key}");
        move || send(&address, &request)
    });
    std::fs::write(folder.path().join("consort.toml"), "[server]\nprot = 1\n").unwrap();
    signal(&server, "HUP");
    log.find("the keys stay as they were");
    while !send(&address, &format!("GET /api/status HTTP/1.1\r\n{key}")).contains(r#""clients":1"#) {}
    assert!(!watching.is_finished());
    configure(folder.path(), "\"read\"");
    signal(&server, "HUP");
    log.find("the keys were read again");
    let seen = watching.join().unwrap();
    assert!(seen.contains("run_accepted") && !seen.contains("run_result"), "{seen}");
    let refused = send(&address, &format!("POST {place}/cancel HTTP/1.1\r\n{key}"));
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    interrupt(&server);
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn a_server_that_has_keys_does_not_go_on_without_any_when_they_are_taken_out_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), "\"read\"");
    let (mut server, address) = serve(folder.path());
    let mut log = Lines::of(&mut server);
    let file = std::fs::read_to_string(folder.path().join("consort.toml")).unwrap();
    let without = file.split_once("[models.main]").unwrap().1;
    std::fs::write(folder.path().join("consort.toml"), format!("[models.main]{without}")).unwrap();
    signal(&server, "HUP");
    let line = log.find("the keys stay as they were");
    assert_eq!(line["reason"], "a server that has keys does not go on without any: start it again to do so");
    assert!(send(&address, "GET /api/runs HTTP/1.1\r\nX-None: 1").starts_with("HTTP/1.1 401"));
    assert!(send(&address, "GET /api/runs HTTP/1.1\r\nAuthorization: Bearer abc").starts_with("HTTP/1.1 200"));
    interrupt(&server);
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_change_over_a_socket_is_recorded_with_what_came_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, address) = serve(folder.path());
    let mut log = Lines::of(&mut server);
    let (mut socket, _) = connect_async(format!("ws://{address}/ws")).await.unwrap();
    let mut recorded = async |frame: Value| {
        socket.send(Message::text(frame.to_string())).await.unwrap();
        let change = log.find("a change was asked for");
        ["caller", "method", "route", "subject", "status", "run"].map(|name| change[name].clone())
    };
    let asked = recorded(json!({ "type": "run_request" })).await;
    let run = asked[5].clone();
    assert_eq!(asked[..5], ["local", "WS", "run_request", "", "ACCEPTED"].map(word));
    let unknown = json!({ "type": "run_control", "runId": "run-0", "action": "cancel" });
    let missing = ["local", "WS", "run_control", "run-0", "NOT_FOUND", "run-0"].map(word);
    assert_eq!(recorded(unknown).await, missing);
    let cancel = json!({ "type": "run_control", "runId": run, "action": "cancel", "mode": "now" });
    let cancelled = recorded(cancel).await;
    assert_eq!((&cancelled[3], &cancelled[5], &cancelled[4]), (&run, &run, &json!("CANCELLING")));
    interrupt(&server);
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

/// Returns a field of a line in the log; null for an empty word.
#[cfg(test)]
fn word(word: &str) -> Value {
    if word.is_empty() { Value::Null } else { word.into() }
}

#[test]
fn a_verbose_run_writes_what_is_said_into_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, address) = serve(folder.path());
    let mut log = Lines::of(&mut server);
    let told = post(&address, "/api/runs", r#"{"options":{"verbose":true,"toolLogTruncateLength":0}}"#);
    assert!(told.starts_with("HTTP/1.1 202"), "{told}");
    let prompt = log.find("prompt");
    assert!(prompt["text"].as_str().unwrap().contains("## Task\n"), "{prompt}");
    assert!(log.find("reply")["text"].is_string());
    let tool = log.find("tool")["text"].clone();
    let (called, result) = tool.as_str().unwrap().split_once(" -> ").unwrap();
    assert!(called.starts_with("calculator {\"input\":"), "{tool}");
    assert_eq!(result, "… [2 characters]");
    interrupt(&server);
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_may_open_as_many_files_as_the_system_allows() {
    let folder = tempfile::tempdir().unwrap();
    let few = ["-c", "ulimit -Sn 64; exec \"$0\" serve --port 0", env!("CARGO_BIN_EXE_consort")];
    let mut server = Command::new("sh").args(few).current_dir(folder.path()).stdout(Stdio::piped()).spawn().unwrap();
    listening(&mut server);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.id())).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let [soft, hard, _unit] = files.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{files}") };
    assert_eq!(soft, hard);
    interrupt(&server);
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn a_server_ends_when_its_terminal_is_closed_and_otherwise_a_hangup_is_about_keys() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), "\"read\"");
    let (terminal, name) = pair();
    let mut command = Command::new("setsid");
    command.args(["--ctty", env!("CARGO_BIN_EXE_consort"), "serve", "--port", "0"]).current_dir(folder.path());
    command.stdin(side(&name)).stdout(side(&name)).stderr(side(&name));
    let mut server = command.spawn().unwrap();
    drop(command);
    let mut lines = BufReader::new(File::from(terminal)).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("consort listening on ")));
    signal(&server, "HUP");
    assert!(lines.any(|line| line.contains("the keys were read again")));
    drop(lines);
    assert_eq!(server.wait().unwrap().code(), Some(0), "it ends in order");
}

#[test]
fn a_server_that_others_could_reach_needs_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = run(folder.path(), &["serve", "--host", "0.0.0.0", "--port", "0"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("[[server.api_key]]"), "{err}");
}

#[test]
fn a_run_here_can_be_seen_and_stopped_by_others_while_it_lasts() {
    let folder = tempfile::tempdir().unwrap();
    let model = SlowModel::start();
    let config = format!(
        "[models.slow]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{}/v1'\n[ensemble]\nname = 'one'\n\
         [[ensemble.task]]\ndescription = 'Say hello'\n",
        model.port
    );
    std::fs::write(folder.path().join("consort.toml"), config).unwrap();
    let mut runner = start(folder.path(), &["run", "--serve", "0"]);
    let mut words = BufReader::new(runner.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = words.next().unwrap();
    let url = line.strip_prefix("consort listening on ").and_then(|line| line.strip_suffix(" while the run lasts"));
    let url = url.unwrap_or_else(|| panic!("{line}")).to_owned();
    model.asked();
    let consort = |args: &[&str]| run(folder.path(), &[args, &["--url", &url]].concat());
    let (status, listed, _) = consort(&["runs", "list"]);
    let id = listed.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert_eq!((status, listed.contains(&format!("\n{id}  running "))), (Some(0), true), "{listed}");
    let (status, _, refused) = consort(&["run"]);
    assert_eq!((status, refused.ends_with("(CONCURRENCY_LIMIT)\n")), (Some(1), true), "{refused}");

    assert_eq!(consort(&["runs", "cancel", &id, "--mode", "now"]).0, Some(0));
    assert_eq!(words.last().as_deref(), Some("Cancelled; 0 of 1 task finished."));
    assert_eq!(runner.wait().unwrap().code(), Some(1));
    assert_eq!(consort(&["runs", "list"]).0, Some(3), "the server is gone with the run");
}

/// Writes a configuration with an MCP server, which keeps a ledger in its folder.
#[cfg(test)]
fn with_mcp(folder: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp_server.py");
    let server = format!("[mcp.files]\ncommand = 'python3'\nargs = ['{}', 'ledger']\n", script.display());
    let ensemble = "[ensemble]\nname = 'e'\n[[ensemble.task]]\ndescription = 'hello'\nhandler = 'echo'\n";
    std::fs::write(
        folder.join("consort.toml"),
        format!(
            "{server}[mcp.away]\ncommand = 'no-such-program'\n\
        [mcp.away.tools.fetch_page]\neffect = 'read'\n{ensemble}"
        ),
    )
    .unwrap();
}

#[cfg(test)]
fn post(address: &str, path: &str, body: &str) -> String {
    let length = body.len();
    let mut socket = TcpStream::connect(address).unwrap();
    let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}");
    write!(socket, "{head}\r\nContent-Type: application/json\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_server_offers_the_tools_of_its_mcp_servers_and_ends_them_with_itself() {
    let folder = tempfile::tempdir().unwrap();
    with_mcp(folder.path());
    let (mut server, address) = serve(folder.path());
    let listed = send(&address, "GET /api/capabilities HTTP/1.1");
    assert!(listed.contains(r#"{"name":"echo","description":"Says it again""#), "{listed}");
    assert!(listed.contains(r#"{"name":"fetch_page""#), "{listed}");
    assert!(listed.contains(r#""unavailable":"the MCP server `away` is not"#), "{listed}");
    assert!(listed.contains(r#"{"name":"away","tools":["fetch_page"],"unavailable":"#), "{listed}");
    let answer = post(&address, "/api/tools/echo/invoke", r#"{"input":"hi"}"#);
    assert!(answer.contains(r#""status":"SUCCESS","output":"hi""#), "{answer}");
    let answer = post(&address, "/api/tools/echo/invoke", r#"{"input":"{\"text\":\"hi\"}"}"#);
    assert!(answer.contains(r#""status":"SUCCESS","output":"hi""#), "the arguments as JSON: {answer}");
    let answer = post(&address, "/api/tools/fetch_page/invoke", r#"{"input":{}}"#);
    assert!(answer.contains(r#""status":"FAILED""#) && answer.contains("it could not be started"), "{answer}");
    let run = send(&address, "POST /api/runs HTTP/1.1\r\nPrefer: wait=60");
    assert!(run.contains(r#""status":"COMPLETED""#), "{run}");
    interrupt(&server);
    assert_eq!(server.wait().unwrap().code(), Some(0));
    let ledger = std::fs::read_to_string(folder.path().join("ledger")).unwrap();
    assert_eq!(ledger, "start\ncall echo hi\ncall echo hi\ncall echo hello\nend\n");
}

#[test]
fn a_run_in_the_terminal_uses_them_too_and_says_which_are_away() {
    let folder = tempfile::tempdir().unwrap();
    with_mcp(folder.path());
    let (code, out, err) = run(folder.path(), &["run"]);
    assert_eq!((code, out.as_str()), (Some(0), "hello\n"), "{err}");
    assert!(
        err.contains("warning: mcp.away: the MCP server `away` is not available: it could not be started"),
        "{err}"
    );
    let ledger = std::fs::read_to_string(folder.path().join("ledger")).unwrap();
    assert_eq!(ledger, "start\ncall echo hello\nend\n");
}

#[test]
fn a_task_searches_the_documents_of_a_collection_which_outlive_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let task = "[ensemble]\nname = 'e'\n[[ensemble.task]]\ndescription = 'salt'\nhandler = 'search_collections'\n";
    std::fs::write(folder.path().join("consort.toml"), task).unwrap();
    let (mut server, address) = serve(folder.path());
    assert!(post(&address, "/api/collections", r#"{"name":"kitchen"}"#).starts_with("HTTP/1.1 201"));
    let soup = r#"{"title":"Soup","content":"Add salt."}"#;
    assert!(post(&address, "/api/collections/kitchen/documents", soup).starts_with("HTTP/1.1 201"));
    interrupt(&server);
    assert_eq!(server.wait().unwrap().code(), Some(0));

    let (mut again, address) = serve(folder.path());
    let run = send(&address, "POST /api/runs HTTP/1.1\r\nPrefer: wait=60");
    assert!(run.contains("[kitchen, document 1: Soup, line 1]\\nAdd salt."), "{run}");
    interrupt(&again);
    assert_eq!(again.wait().unwrap().code(), Some(0));
}

/// Starts a collector that takes one request; returns its address, and the thread that ends with the request.
#[cfg(test)]
fn collector() -> (String, std::thread::JoinHandle<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let taking = std::thread::spawn(move || {
        let mut socket = BufReader::new(listener.accept().unwrap().0);
        let mut head = String::new();
        let mut length = 0;
        while !head.ends_with("\r\n\r\n") {
            let from = head.len();
            socket.read_line(&mut head).unwrap();
            let field = head[from..].to_lowercase();
            length = field.strip_prefix("content-length: ").map_or(length, |digits| digits.trim().parse().unwrap());
        }
        let mut body = vec![0; length];
        socket.read_exact(&mut body).unwrap();
        socket.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        // Names stand in the bytes as they are, ids only in hexadecimal.
        let ids: String = body.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{head}{}\n{ids}", String::from_utf8_lossy(&body))
    });
    (endpoint, taking)
}

#[cfg(test)]
fn told_to(folder: &Path, endpoint: &str) {
    let telemetry = format!("[telemetry]\notlp_endpoint = \"{endpoint}\"\nheaders = {{ x-key = \"hush\" }}\n");
    let model = "[models.main]\nprovider = \"demo\"\nmodel = \"demo-1\"\n[ensemble]\nname = \"e\"\n";
    let task = "[[ensemble.task]]\ndescription = \"Think\"\n";
    std::fs::write(folder.join("consort.toml"), format!("{telemetry}{model}{task}")).unwrap();
}

#[test]
fn a_server_tells_its_collector_the_spans_that_are_left_before_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (endpoint, taking) = collector();
    told_to(folder.path(), &endpoint);
    let (mut server, address) = serve(folder.path());
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let head = format!("Prefer: wait=60\r\ntraceparent: 00-{trace}-00f067aa0ba902b7-01");
    let run = send(&address, &format!("POST /api/runs HTTP/1.1\r\n{head}"));
    assert!(run.contains(r#""status":"COMPLETED""#), "{run}");
    interrupt(&server);
    assert_eq!(server.wait().unwrap().code(), Some(0));
    let told = taking.join().unwrap();
    assert!(told.starts_with("POST /v1/traces HTTP/1.1\r\n") && told.contains("x-key: hush\r\n"), "{told}");
    assert!(told.contains("content-type: application/x-protobuf\r\n"), "{told}");
    let names = ["chat demo-1", "invoke_agent", "invoke_workflow e", trace, "00f067aa0ba902b7"];
    assert!(names.iter().all(|name| told.contains(name)), "{told}");
}

#[test]
fn a_run_in_this_process_tells_the_collector_too_and_a_collector_that_is_away_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let (endpoint, taking) = collector();
    told_to(folder.path(), &endpoint);
    let (code, _answer, said) = run(folder.path(), &["run"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(taking.join().unwrap().contains("invoke_workflow e"));
    let (code, _answer, said) = run(folder.path(), &["run"]);
    assert_eq!(code, Some(0), "nobody listens there any more: {said}");

    let broken = std::fs::read_to_string(folder.path().join("consort.toml")).unwrap().replace("hush", "a\\u0001b");
    std::fs::write(folder.path().join("consort.toml"), broken).unwrap();
    let (code, _answer, said) = run(folder.path(), &["run"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("telemetry.headers.x-key: must be one line without control characters"), "{said}");
}

/// Returns what a collector is told until a span of this name is among it.
fn told_until(collector: &Outside, name: &str) -> String {
    let mut told = String::new();
    while !told.contains(&format!(r#""name":"{name}"#)) {
        told.push_str(&collector.next());
    }
    told
}

#[test]
fn the_trace_of_a_run_goes_on_when_its_server_was_killed() {
    let taken = |_: &str| "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}".to_owned();
    let collector = Outside::start(taken);
    let telemetry = format!("otlp_endpoint = 'http://127.0.0.1:{}'\nprotocol = 'http/json'\n", collector.port);
    let model = "[models.main]\nprovider = 'demo'\nmodel = 'demo-1'\n[ensemble]\nname = 'e'\n";
    let task = "[[ensemble.task]]\ndescription = 'Think'\nreview = 'required'\n";
    let mut server = Served::start(Some(&format!("[telemetry]\n{telemetry}{model}{task}")));
    let runner = server.begin(&["run"]);
    let before = told_until(&collector, "chat demo-1");
    let run = server.newest();
    server.kill();
    server.restart();
    let review = server.json(&["reviews", "list"])["reviews"][0]["reviewId"].as_str().unwrap().to_owned();
    server.said(&["reviews", "decide", &review, "approve"]);
    let after = told_until(&collector, "invoke_workflow e");
    assert_eq!(runner.wait_with_output().unwrap().status.code(), Some(0));
    // The number of the trace is the run's, and what was told before is not told again.
    let trace = format!(r#""traceId":"{}""#, run.strip_prefix("run-").unwrap());
    assert!(before.contains(&trace) && after.contains(&trace), "{run}: {before}\n{after}");
    assert!(!after.contains("chat demo-1"), "{after}");
}
