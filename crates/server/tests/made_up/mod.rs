//! Everything a client can send, made up: bodies, queries, headers, frames. An
//! answer comes, it is no failure of the server, and a refusal says why.

use std::time::Duration;

use consort_runtime::admission::Capacity;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::client::{Got, Here, engine, server, start, task};
use crate::{ended, says};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A route and a body it takes.
const BODIES: [(&str, &str); 18] = [
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
    ("POST /api/collections", r#"{"name":"kitchen"}"#),
    ("POST /api/collections/kitchen/documents", r#"{"title":"Soup","content":"Boil water."}"#),
    ("POST /api/workflows", r#"{"name":"w","tasks":[{"name":"a","description":"x"}]}"#),
    ("POST /api/workflows/none/runs", r#"{"inputs":{"a":1},"tags":{"a":"b"}}"#),
    ("POST /api/memory/none", "{}"),
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
const FRAMES: [&str; 12] = [
    r#"{"type":"run_request","requestId":"r","inputs":{"topic":"x"},"dryRun":true}"#,
    r#"{"type":"run_control","runId":"run-0","action":"switch_model","model":"spare"}"#,
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

fn started() -> (Runtime, Here) {
    let runtime = Runtime::new().unwrap();
    let server = server(engine(says("x"), Capacity { running: 4, queued: 4 }), vec![task("a")]);
    let here = runtime.block_on(start(server));
    (runtime, here)
}

/// Sends exactly this; the answer as far as it comes before the server has
/// nothing more to say.
async fn answer(here: &Here, request: &[u8]) -> String {
    let mut socket = TcpStream::connect(here.address).await.unwrap();
    let _refused_early = socket.write_all(request).await;
    // Nothing follows: what is incomplete stays so.
    let _closed_already = socket.shutdown().await;
    let mut bytes = Vec::new();
    let read = timeout(PATIENCE, socket.read_to_end(&mut bytes)).await;
    assert!(read.is_ok(), "no end after {PATIENCE:?}: {}", String::from_utf8_lossy(&bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A refusal is a problem with a reason; nothing is the server's own failure.
fn judged(answer: &str, request: &[u8]) {
    let status = answer.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
    let shown = || format!("{}\n->\n{answer}", String::from_utf8_lossy(request));
    // What is no HTTP at all is hung up on, or gets an empty 400.
    let Some(status) = status else { return assert!(answer.is_empty(), "{}", shown()) };
    assert!(status < 500, "{}", shown());
    let is_problem = answer.contains("application/problem+json") && answer.contains("\"message\":\"");
    assert!(status < 400 || is_problem || answer.ends_with("\r\n\r\n"), "{}", shown());
}

#[test]
fn made_up_bodies_are_answered_by_every_route_that_takes_one() {
    let (runtime, here) = started();
    let examples: Vec<String> = BODIES.iter().map(|(route, body)| format!("{route} {body}")).collect();
    let examples: Vec<&str> = examples.iter().map(String::as_str).collect();
    consort_fuzz::bytes(&examples, |made_up| {
        let route = BODIES.iter().map(|(route, _)| *route).find(|route| made_up.starts_with(route.as_bytes()));
        let route = route.unwrap_or("POST /api/runs");
        let body = made_up.strip_prefix(route.as_bytes()).unwrap_or(made_up);
        let head = "Host: localhost\r\nConnection: close\r\nContent-Type: application/json";
        let mut request = format!("{route} HTTP/1.1\r\n{head}\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
        request.extend_from_slice(body);
        judged(&runtime.block_on(answer(&here, &request)), &request);
    });
}

#[test]
fn made_up_queries_are_answered() {
    let (runtime, here) = started();
    consort_fuzz::text(&QUERIES, |query| {
        let query: String = query.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
        let head = "Host: localhost\r\nConnection: close\r\nAccept: application/json";
        let request = format!("GET {query} HTTP/1.1\r\n{head}\r\n\r\n");
        judged(&runtime.block_on(answer(&here, request.as_bytes())), request.as_bytes());
    });
}

#[test]
fn made_up_headers_are_answered() {
    let (runtime, here) = started();
    let run = runtime.block_on(ended(&here));
    let body = r#"{"inputs":{"topic":"x"},"dryRun":true}"#;
    let submission = ("POST /api/runs".to_owned(), body);
    let stream = (format!("GET /api/runs/{run}/events"), "");
    consort_fuzz::bytes(&HEADERS, |header| {
        for (route, body) in [&submission, &stream] {
            let head = format!("{route} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
            let rest = format!("\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let request = [head.as_bytes(), header, rest.as_bytes()].concat();
            judged(&runtime.block_on(answer(&here, &request)), &request);
        }
    });
}

#[test]
fn made_up_frames_are_answered_and_the_socket_goes_on() {
    let (runtime, here) = started();
    consort_fuzz::text(&FRAMES, |frame| {
        runtime.block_on(async {
            let (mut socket, _) = here.greeted().await;
            socket.say_text(frame).await;
            socket.say_text(r#"{"type":"ping","requestId":"last"}"#).await;
            loop {
                match timeout(PATIENCE, socket.got()).await.expect("an answer comes") {
                    Got::Frame(told) if told["type"] == "pong" && told["requestId"] == "last" => break,
                    Got::Frame(told) => {
                        let is_told =
                            told["type"] != "error" || told["message"].as_str().is_some_and(|m| !m.is_empty());
                        assert!(is_told && told["code"] != "INTERNAL", "{frame}: {told}");
                    }
                    Got::Closed(code, reason) => {
                        assert!([1008, 1009].contains(&code), "{frame}: {code} {reason}");
                        break;
                    }
                }
            }
        });
    });
}
