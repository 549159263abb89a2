//! Everything a client can send, made up: bodies, queries, headers, frames. An
//! answer comes, it is no failure of the server, and a refusal says why.

mod examples;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use consort_log::SqliteLog;
use consort_runtime::admission::{Capacity, Keep, Pool, Pools};
use consort_runtime::engine::Engine;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::client::{Got, Here, engine, server, start, task};
use crate::{ended, says};

/// The longest time for an answer.
const PATIENCE: Duration = Duration::from_secs(120);
/// The memory that a server may take for all of a test's inputs, in bytes.
const GROWTH_MAX: u64 = 200 * 1024 * 1024;

/// The addresses that requests come from; more would not be remembered each on its own.
const ADDRESSES: u16 = 4000;
static ADDRESS: AtomicU16 = AtomicU16::new(0);

/// A route and a body it takes.
const BODIES: [(&str, &str); 25] = [
    ("POST /api/runs", r#"{"inputs":{"topic":"x"},"tags":{"a":"b"},"options":{"verbose":true},"dryRun":true}"#),
    (
        "POST /api/runs",
        r##"{"tasks":[{"name":"a","description":"{t}{t}","context":[],"outputSchema":{"items":{"$ref":"#/$defs/b"},"$defs":{"b":{"pattern":"^(a{1,9}){9}$"}}}}],"inputs":{"t":"xx"}}"##,
    ),
    ("POST /api/runs/run-0/cancel", r#"{"mode":"after_iteration"}"#),
    ("POST /api/runs/run-0/model", r#"{"model":"spare"}"#),
    ("POST /api/runs/run-0/inject", r#"{"content":"be brief","target":"a","priority":"HIGH","ttl":"PT5M"}"#),
    ("POST /api/runs/run-0/retry", r#"{"inputs":{"topic":"y"}}"#),
    ("POST /api/runs/run-0/fork", r#"{"seq":3,"taskOverrides":{"a":{"description":"z"}}}"#),
    ("POST /api/reviews/run-0-review-0", r#"{"decision":"EDIT","revisedOutput":"better"}"#),
    ("POST /api/tools/calculator/invoke", r#"{"input":"What is 42 * 17?"}"#),
    ("POST /api/threads", r#"{"title":"t"}"#),
    ("PATCH /api/threads/none", r#"{"title":"t","model":"spare"}"#),
    ("POST /api/threads/none/messages", r#"{"content":"hi","if_busy":"queue","permission_mode":"plan"}"#),
    ("POST /api/approvals/turn-0-approval-0", r#"{"decision":"allow_for_chat"}"#),
    ("POST /api/approvals/turn-0-approval-1", r#"{"decision":"allow","args":{"n":1}}"#),
    ("POST /api/runs/run-0/give-up", r#"{"task":"research"}"#),
    ("POST /api/runs/run-0/budget", r#"{"maxTotalTokens":100,"maxCostUsd":0.5}"#),
    ("POST /api/collections", r#"{"name":"kitchen"}"#),
    ("POST /api/collections/kitchen/documents", r#"{"title":"Soup","content":"Boil water."}"#),
    ("POST /api/workflows", r#"{"name":"w","tasks":[{"name":"a","description":"x"}]}"#),
    ("POST /api/workflows/none/runs", r#"{"inputs":{"a":1},"tags":{"a":"b"}}"#),
    ("POST /api/memory/none", "{}"),
    (
        "POST /a2a?A2A-Version=1.0",
        r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"},{"data":{"a":1}},{"raw":"aGk=","mediaType":"text/plain"}],"metadata":{"skillId":"chat"}},"configuration":{"historyLength":1,"returnImmediately":true}}}"#,
    ),
    (
        "POST /a2a?A2A-Version=1.0",
        r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":2,"pageToken":"MSBy","status":"TASK_STATE_WORKING","statusTimestampAfter":"2026-01-01T00:00:00Z"}}"#,
    ),
    (
        "POST /a2a/v1/message:send?A2A-Version=1.0",
        r#"{"message":{"messageId":"m","role":"ROLE_USER","taskId":"run-0","contextId":"c","parts":[{"text":"approve"}]}}"#,
    ),
    (
        "POST /a2a/v1/tasks/run-0/pushNotificationConfigs?A2A-Version=1.0",
        r#"{"id":"p","url":"https://example.com","token":"t","authentication":{"scheme":"Bearer","credentials":"c"}}"#,
    ),
];
const QUERIES: [&str; 9] = [
    "/api/runs?status=COMPLETED&tag=a:b&tag=c&limit=5&offset=0",
    "/api/runs/run-0/events?from=3&limit=10&events=token,task_started",
    "/api/collections/kitchen/search?q=salty%20water&limit=3",
    "/api/threads/none/events?from=0",
    "/api/reviews?runId=run-0",
    "/api/workspace/files?path=a/b",
    "/api/workspace/file?path=..%2f..%2fx",
    "/api/file?name=x.trace.json",
    "/api/memory/a%2Fb?limit=1",
];
const HEADERS: [&str; 8] = [
    "Idempotency-Key: order-17",
    "Prefer: wait=0; foo, respond-async",
    "Last-Event-ID: 4",
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "Origin: http://localhost:5173",
    "Authorization: Bearer abc",
    "Accept: text/html;q=0.9, application/json\r\nX-Request-Id: mine-1",
    "Content-Type: application/json; charset=utf-8",
];
const FRAMES: [&str; 13] = [
    r#"{"type":"run_request","requestId":"r","inputs":{"topic":"x"},"dryRun":true}"#,
    r#"{"type":"run_control","runId":"run-0","action":"switch_model","model":"spare"}"#,
    r#"{"type":"run_control","runId":"run-0","action":"give_up","task":"research"}"#,
    r#"{"type":"subscribe","events":["task_started"],"runId":"run-0","from":0}"#,
    r#"{"type":"state_query","requestId":"q","query":"runs","filter":{"limit":5,"tag":["a:b"]}}"#,
    r#"{"type":"review_decision","reviewId":"run-0-review-0","decision":"EDIT","revisedOutput":"x"}"#,
    r#"{"type":"directive","content":"x","ttl":"PT1M","to":"a","priority":"HIGH"}"#,
    r#"{"type":"capability_query","tag":"x","capabilityType":"TOOL"}"#,
    r#"{"type":"chat_subscribe","thread_id":"t","last_seq":3}"#,
    r#"{"type":"chat_message","thread_id":"none","content":"hi","if_busy":"queue"}"#,
    r#"{"type":"tool_approval_response","approval_id":"x","decision":"deny"}"#,
    r#"{"type":"ui_manifest","tools":[{"name":"ui_a","description":"d","parameters":{"type":"object"}}]}"#,
    r#"{"type":"tool_result","tool_call_id":"c","result":"x","is_error":false}"#,
];

/// A server over a store on the disk, with a run that has ended and a thread.
struct Started {
    runtime: Runtime,
    here: Here,
    /// The ids for paths.
    run: String,
    thread: String,
    /// The memory of the process when it began.
    memory: u64,
    _folder: TempDir,
}

impl Started {
    fn new() -> Started {
        let runtime = Runtime::new().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut seams = engine(says("x"), Capacity::UNLIMITED).seams().clone();
        seams = seams.over(Arc::new(SqliteLog::open(&folder.path().join("log.db")).unwrap()));
        let runs = Pool { capacity: Capacity { running: 4, queued: 4 }, keep: Keep::Newest(100) };
        let engine = Engine::limited(seams, Pools { runs, ..Pools::default() });
        let (here, run, thread) = runtime.block_on(async {
            let here = start(server(engine, vec![task("a")])).await;
            let run = ended(&here).await;
            let thread = here.post("/api/threads", json!({ "title": "t" })).await.json()["id"].clone();
            (here, run, thread.as_str().unwrap().to_owned())
        });
        Started { runtime, here, run, thread, memory: memory(), _folder: folder }
    }

    /// Sends a request, and judges the answer.
    fn ask(&self, request: &[u8]) {
        judged(&self.runtime.block_on(answer(&self.here, request)), request);
    }

    /// Checks what all of the inputs took, where nothing else goes on in this process.
    fn check_memory(&self) {
        if std::env::var_os(consort_fuzz::CASES).is_some() {
            let growth = memory().saturating_sub(self.memory);
            println!("{} MB more than before", growth / (1024 * 1024));
            assert!(growth < GROWTH_MAX, "{growth} bytes more than before");
        }
    }
}

/// Returns the memory of this process, in bytes; 0 where the system does not say.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Returns the folder of inputs of a kind that found something once.
fn kept(kind: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/made_up/kept").join(kind)
}

/// Sends exactly this; the answer as far as it comes before the server has
/// nothing more to say.
async fn answer(here: &Here, request: &[u8]) -> String {
    let mut socket = connected(here).await;
    let _refused_early = socket.write_all(request).await;
    // Nothing follows: what is incomplete stays so.
    let _closed_already = socket.shutdown().await;
    let mut bytes = Vec::new();
    let read = timeout(PATIENCE, socket.read_to_end(&mut bytes)).await;
    assert!(read.is_ok(), "no end after {PATIENCE:?}: {}", String::from_utf8_lossy(&bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Connects from one of many addresses: what one address is refused too often is slowed for it.
async fn connected(here: &Here) -> TcpStream {
    let number = ADDRESS.fetch_add(1, Ordering::Relaxed) % ADDRESSES;
    let [high, low] = number.to_be_bytes();
    let socket = TcpSocket::new_v4().unwrap();
    // Only some systems have more than one address that reaches no further than the machine.
    let _elsewhere = socket.bind(SocketAddr::from(([127, 1, high, low], 0)));
    socket.connect(here.address).await.unwrap()
}

/// Checks that a refusal is a problem with a reason, and that no answer is a failure of the server.
fn judged(answer: &str, request: &[u8]) {
    let status = answer.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
    let shown = || format!("{}\n->\n{answer}", String::from_utf8_lossy(request));
    // What is no HTTP at all is hung up on, or gets an empty 400.
    let Some(status) = status else { return assert!(answer.is_empty(), "{}", shown()) };
    assert!(status < 500, "{}", shown());
    // Below /v1 a refusal has OpenAI's form.
    let is_openai = answer.contains("{\"error\":{\"message\":\"");
    // At /mcp it has the form of JSON-RPC, at /a2a that or another one, with the same word in both.
    let is_rpc = request.starts_with(b"POST /mcp") && answer.contains("\"jsonrpc\":\"2.0\"");
    let is_rpc = is_rpc || answer.contains("google.rpc.ErrorInfo");
    let is_problem = answer.contains("application/problem+json") && answer.contains("\"message\":\"");
    let is_problem = is_problem || is_openai || is_rpc;
    assert!(status < 400 || is_problem || answer.ends_with("\r\n\r\n"), "{}", shown());
}

#[test]
fn made_up_bodies_are_answered_by_every_route_that_takes_one() {
    let started = Started::new();
    let mut examples: Vec<(String, String)> = examples::bodies(&started.run, &started.thread);
    examples.extend(BODIES.map(|(route, body)| (route.to_owned(), body.to_owned())));
    let inputs: Vec<String> = examples.iter().map(|(route, body)| format!("{route} {body}")).collect();
    consort_fuzz::kept_bytes(&kept("bodies"), &inputs, |made_up| {
        let of = |route: &&str| made_up.strip_prefix(route.as_bytes()).is_some_and(|rest| rest.starts_with(b" "));
        let route = examples.iter().map(|(route, _)| route.as_str()).find(of).unwrap_or("POST /api/runs");
        let body = made_up.strip_prefix(route.as_bytes()).unwrap_or(made_up);
        let head = "Host: localhost\r\nConnection: close\r\nContent-Type: application/json";
        let mut request = format!("{route} HTTP/1.1\r\n{head}\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
        request.extend_from_slice(body);
        started.ask(&request);
    });
    started.check_memory();
}

#[test]
fn made_up_queries_are_answered() {
    let started = Started::new();
    let mut inputs = examples::queries(&started.run, &started.thread);
    inputs.extend(QUERIES.map(str::to_owned));
    consort_fuzz::kept_bytes(&kept("queries"), &inputs, |query| {
        let query = String::from_utf8_lossy(query);
        let query: String = query.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
        let head = "Host: localhost\r\nConnection: close\r\nAccept: application/json";
        started.ask(format!("GET {query} HTTP/1.1\r\n{head}\r\n\r\n").as_bytes());
    });
    started.check_memory();
}

#[test]
fn made_up_headers_are_answered() {
    let started = Started::new();
    let mut inputs = examples::headers();
    inputs.extend(HEADERS.map(str::to_owned));
    let body = r#"{"inputs":{"topic":"x"},"dryRun":true}"#;
    let submission = ("POST /api/runs".to_owned(), body);
    let stream = (format!("GET /api/runs/{}/events", started.run), "");
    consort_fuzz::kept_bytes(&kept("headers"), &inputs, |header| {
        for (route, body) in [&submission, &stream] {
            let head = format!("{route} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
            let rest = format!("\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            started.ask(&[head.as_bytes(), header, rest.as_bytes()].concat());
        }
    });
    started.check_memory();
}

#[test]
fn made_up_frames_are_answered_and_the_socket_goes_on() {
    let started = Started::new();
    let mut inputs = examples::frames();
    inputs.extend(FRAMES.map(str::to_owned));
    consort_fuzz::kept_bytes(&kept("frames"), &inputs, |frame| {
        started.runtime.block_on(say(&started.here, &String::from_utf8_lossy(frame)));
    });
    started.check_memory();
}

/// Says a frame, and waits until the socket has gone on with the next one.
async fn say(here: &Here, frame: &str) {
    let (mut socket, _) = here.greeted().await;
    socket.say_text(frame).await;
    socket.say_text(r#"{"type":"ping","requestId":"last"}"#).await;
    // A client that says this is a peer from then on, and peers are pinged differently.
    if serde_json::from_str::<Value>(frame).is_ok_and(|said| said["type"] == "peer_hello") {
        return;
    }
    loop {
        match timeout(PATIENCE, socket.got()).await.expect("an answer comes") {
            Got::Frame(told) if told["type"] == "pong" && told["requestId"] == "last" => break,
            Got::Frame(told) => {
                let is_told = told["type"] != "error" || told["message"].as_str().is_some_and(|m| !m.is_empty());
                assert!(is_told && told["code"] != "INTERNAL", "{frame}: {told}");
            }
            Got::Closed(code, reason) => {
                assert!([1008, 1009].contains(&code), "{frame}: {code} {reason}");
                break;
            }
        }
    }
}

#[test]
fn examples_of_every_route_and_frame_are_made_of_the_description() {
    let bodies = examples::bodies("run-0", "thread-0");
    for route in ["POST /api/runs", "POST /api/runs/run-0/cancel", "PATCH /api/threads/thread-0"] {
        assert!(bodies.iter().any(|(known, _)| known == route), "{route}");
    }
    let taken = bodies.iter().find(|(route, _)| route == "POST /api/reviews/none").unwrap();
    assert!(taken.1.contains("\"decision\""), "{taken:?}");
    assert!(examples::queries("run-0", "thread-0").iter().any(|query| query.starts_with("/api/runs?status=")));
    assert!(examples::headers().iter().any(|header| header.starts_with("Idempotency-Key: ")));
    let frames = examples::frames();
    assert!(frames.len() > 10 && frames.iter().any(|frame| frame.contains("\"chat_message\"")), "{frames:?}");
}
