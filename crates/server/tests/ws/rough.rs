//! Clients that are slow, loud, large or broken, and a server that stops.

use std::time::Duration;

use consort_runtime::admission::Capacity;
use futures::SinkExt;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

use super::{assert_dense, request, seqs};
use crate::client::{Got, Here, Socket, engine, server, start, task};
use crate::{ended, says, talking};

/// Opens a socket with a very small receive buffer.
async fn narrow(here: &Here) -> Socket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let stream = socket.connect(here.address).await.unwrap();
    let (socket, _) = client_async(format!("ws://{}/ws", here.address), stream).await.unwrap();
    let mut socket = Socket(socket);
    assert_eq!(socket.frame().await["type"], "hello");
    socket
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_stays_behind_is_closed_with_its_position_and_the_run_goes_on() {
    let tasks = (0..12).map(|index| task(&format!("t{index}"))).collect();
    let here = start(server(engine(says(&"x".repeat(1024 * 1024)), Capacity::UNLIMITED), tasks)).await;
    let mut slow = narrow(&here).await;
    let run = json!(ended(&here).await);
    let mut frames = Vec::new();
    let (code, reason) = loop {
        match slow.got().await {
            Got::Frame(frame) => frames.push(frame),
            Got::Closed(code, reason) => break (code, reason),
        }
    };
    let positions: Value = serde_json::from_str(&reason).unwrap();
    assert_eq!((code, &positions[0]["runId"]), (4008, &run));
    let seen = seqs(&frames, &run);
    assert_dense(&seen);
    let next = positions[0]["seq"].as_u64().unwrap();
    assert_eq!(next, seen.len() as u64, "the first event that was not sent");

    let (mut back, _) = here.greeted().await;
    back.say(json!({ "type": "subscribe", "runId": run, "from": next })).await;
    let rest = back.until("run_result").await;
    assert_dense(&[seen, seqs(&rest, &run)].concat());
}

#[tokio::test]
async fn frames_nobody_can_read_get_an_error_and_the_connection_goes_on() {
    let here = talking().await;
    let (mut socket, _) = here.greeted().await;
    let deep = format!("{{\"type\":{}", "[".repeat(2000));
    for text in ["", "{", "[]", "null", "{}", r#"{"type":7}"#, r#"{"type":"fly","requestId":"q"}"#, &deep] {
        socket.say_text(text).await;
        let error = socket.frame().await;
        assert_eq!((&error["type"], &error["code"]), (&json!("error"), &json!("BAD_REQUEST")), "{text}");
        assert!(error["message"].is_string());
    }
    let unknown = socket.ask(json!({ "type": "fly", "requestId": "q" })).await;
    assert_eq!(unknown["requestId"], "q");
    assert!(unknown["message"].as_str().unwrap().contains("run_request"), "what is allowed is named");
    socket.0.send(Message::binary(vec![0, 159])).await.unwrap();
    assert_eq!(socket.frame().await["code"], "BAD_REQUEST");
    assert_eq!(socket.ask(json!({ "type": "ping", "requestId": 1 })).await, json!({ "type": "pong", "requestId": 1 }));
}

#[tokio::test]
async fn a_frame_that_is_too_large_ends_the_connection_with_a_reason() {
    let here = talking().await;
    let (mut socket, _) = here.greeted().await;
    let large = socket.ask(json!({ "type": "ping", "x": "x".repeat(65_536) })).await;
    assert_eq!(large["code"], "PAYLOAD_TOO_LARGE");
    assert_eq!(socket.closed().await.0, 1009);
    let (mut socket, _) = here.greeted().await;
    let huge = socket.ask(json!({ "type": "ping", "x": "x".repeat(200_000) })).await;
    let limit = json!("a frame has at most 65536 bytes");
    assert_eq!((&huge["code"], &huge["message"]), (&json!("PAYLOAD_TOO_LARGE"), &limit));
    assert_eq!(socket.closed().await.0, 1009);
}

#[tokio::test]
async fn who_says_a_lot_at_once_waits_and_is_answered_every_time() {
    let here = talking().await;
    let (mut socket, _) = here.greeted().await;
    for _ in 0..1500 {
        socket.0.feed(Message::text(r#"{"type":"ping"}"#)).await.unwrap();
    }
    socket.0.flush().await.unwrap();
    for _ in 0..1500 {
        assert_eq!(socket.frame().await, json!({ "type": "pong" }));
    }
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Returns the text with a few characters changed, doubled or gone.
fn mutated(text: &str, dice: &mut Dice) -> String {
    const ODD: [char; 16] = ['"', '{', '}', '[', ']', ':', ',', '0', '-', 'e', '\\', 'n', '\u{0}', 'é', '🦀', ' '];
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=dice.throw(3) {
        let at = dice.throw(letters.len());
        match dice.throw(3) {
            0 => letters[at] = ODD[dice.throw(ODD.len())],
            1 => letters.insert(at, ODD[dice.throw(ODD.len())]),
            _ => drop(letters.remove(at)),
        }
    }
    letters.into_iter().collect()
}

#[tokio::test]
async fn ten_thousand_mutated_frames_leave_the_server_answering() {
    let here = talking().await;
    let good = [
        request("r"),
        json!({ "type": "run_control", "runId": "run-0", "action": "switch_model", "model": "spare" }),
        json!({ "type": "subscribe", "events": ["task_started"], "runId": "run-0", "from": 0 }),
        json!({ "type": "state_query", "requestId": "q", "query": "runs", "filter": { "limit": 5, "tag": ["a:b"] } }),
        json!({ "type": "review_decision", "reviewId": "run-0-review-0", "decision": "EDIT", "revisedOutput": "x" }),
        json!({ "type": "directive", "content": "x", "ttl": "PT1M", "to": "a", "priority": "HIGH" }),
        json!({ "type": "directive", "action": "SET_MODEL_TIER", "value": "FALLBACK" }),
        json!({ "type": "capability_query", "tag": "x", "capabilityType": "TOOL" }),
        json!({ "type": "auth", "key": "x" }),
        json!({ "type": "ping" }),
    ];
    let mut dice = Dice(7);
    for _ in 0..100 {
        let (mut socket, _) = here.greeted().await;
        for round in 0..100 {
            socket.say_text(&mutated(&good[round % good.len()].to_string(), &mut dice)).await;
        }
        socket.drained().await;
    }
    assert_eq!(here.get("/api/health/ready").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn every_client_hears_a_heartbeat_unless_it_filters_it_out() {
    let here = talking().await;
    let (mut all, _) = here.greeted().await;
    let (mut some, _) = here.greeted().await;
    some.ask(json!({ "type": "subscribe", "events": ["task_started"] })).await;
    let began = tokio::time::Instant::now();
    let beat = all.frame().await;
    assert!(beat["type"] == "heartbeat" && beat["serverTimeMs"].is_u64(), "{beat}");
    assert!(began.elapsed() <= Duration::from_secs(15));
    assert!(some.drained().await.is_empty());
}

#[tokio::test]
async fn a_server_that_stops_says_goodbye() {
    let server = server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve(listener, async { drop(stopped.await) }));
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let mut socket = Socket(client_async(format!("ws://{address}/ws"), stream).await.unwrap().0);
    socket.frame().await;
    stop.send(()).unwrap();
    assert_eq!(socket.closed().await.0, 1012);
    drop(socket);
    serving.await.unwrap().unwrap();
}
