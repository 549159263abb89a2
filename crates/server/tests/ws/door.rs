//! Tests which clients may open a socket, and for which frames.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use consort_core::draft::Draft;
use consort_core::owner::Owner;
use consort_core::spec::ReviewRule;
use consort_runtime::admission::Capacity;
use consort_server::access::{Key, Scope};
use consort_server::{Server, Terms};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::request;
use crate::client::{Got, Here, Socket, engine, server, start, start_as, task};
use crate::{says, talking};

/// Starts a server with a key for each scope, named after the scope.
async fn guarded() -> Here {
    start(with_keys(vec![task("a")])).await
}

fn with_keys(tasks: Vec<Draft>) -> Server {
    let mut guarded = server(engine(says("x"), Capacity::UNLIMITED), tasks);
    let key = |(name, scope): (&str, Scope)| Key::of(Owner::local(), (name, &format!("secret-{name}")), &[scope]);
    let keys = [("read", Scope::Read), ("run", Scope::Run), ("review", Scope::Review), ("admin", Scope::Admin)];
    guarded.access.keys = keys.map(key).into();
    guarded
}

#[tokio::test]
async fn a_foreign_page_or_host_is_refused_before_the_upgrade() {
    let here = talking().await;
    assert_eq!(here.try_socket(&[("origin", "https://evil.example")]).await.err(), Some(403));
    assert_eq!(here.try_socket(&[("host", "evil.example")]).await.err(), Some(403));
    assert_eq!(here.try_socket(&[("origin", "null")]).await.err(), Some(403));
    let mut socket = here.try_socket(&[("origin", "http://localhost:5173")]).await.unwrap();
    assert_eq!(socket.frame().await["type"], "hello");
    assert_eq!(here.get("/api/status").await.json()["clients"], 1);
    assert_eq!(here.get("/ws").await.problem(), (400, "BAD_REQUEST".to_owned()));
}

#[tokio::test]
async fn a_key_is_shown_in_a_header_in_a_protocol_or_in_the_first_frame() {
    let here = guarded().await;
    let mut bearer = here.try_socket(&[("authorization", "Bearer secret-read")]).await.unwrap();
    assert_eq!(bearer.frame().await["type"], "hello");
    let offered = format!("consort, key.{}", URL_SAFE_NO_PAD.encode("secret-read"));
    let mut protocol = here.try_socket(&[("sec-websocket-protocol", &offered)]).await.unwrap();
    assert_eq!(protocol.frame().await["type"], "hello");
    let mut first = here.socket().await;
    assert_eq!(first.ask(json!({ "type": "auth", "key": "secret-read" })).await["type"], "hello");

    assert_eq!(here.try_socket(&[("authorization", "Bearer wrong")]).await.err(), Some(401));
    let wrong = format!("consort, key.{}", URL_SAFE_NO_PAD.encode("wrong"));
    assert_eq!(here.try_socket(&[("sec-websocket-protocol", &wrong)]).await.err(), Some(401));
    for refused in [json!({ "type": "auth", "key": "wrong" }), json!({ "type": "ping" }), json!([])] {
        let mut socket = here.socket().await;
        let error = socket.ask(refused).await;
        assert!(error["type"] == "error" && error["message"].is_string(), "{error}");
        assert_eq!(socket.closed().await.0, 1008);
    }
}

#[tokio::test(start_paused = true)]
async fn who_shows_no_key_in_five_seconds_is_sent_away() {
    let here = guarded().await;
    let began = tokio::time::Instant::now();
    let mut socket = here.socket().await;
    let Got::Frame(error) = socket.got().await else { panic!("no reason was given") };
    assert_eq!((&error["code"], began.elapsed().as_secs()), (&json!("UNAUTHORIZED"), 5));
    assert!(error["message"].as_str().unwrap().ends_with("or in a first frame of type `auth`"), "{error}");
    assert_eq!(socket.closed().await.0, 1008);
}

#[tokio::test]
async fn every_frame_needs_its_scope_and_another_key_needs_another_socket() {
    let here = guarded().await;
    let control = json!({ "type": "run_control", "runId": "run-0", "action": "cancel" });
    let directive = json!({ "type": "directive", "content": "x" });
    let review = json!({ "type": "review_decision", "reviewId": "x", "decision": "CONTINUE" });
    let frames = [request("r"), control, directive, review, json!({ "type": "state_query", "query": "runs" })];
    let cases = [
        ("read", ["error", "error", "error", "error", "state_response"]),
        ("run", ["run_ack", "run_control_ack", "directive_ack", "error", "state_response"]),
        ("review", ["error", "error", "error", "error", "state_response"]),
    ];
    for (name, expected) in cases {
        let key = format!("Bearer secret-{name}");
        let mut forbidden = Vec::new();
        let mut socket = here.try_socket(&[("authorization", &key)]).await.unwrap();
        socket.say(json!({ "type": "subscribe", "events": ["nothing"] })).await;
        socket.until("subscribe_ack").await;
        for (frame, kind) in frames.iter().zip(expected) {
            socket.say(frame.clone()).await;
            let answer = loop {
                let answer = socket.frame().await;
                if answer["type"] != "run_result" {
                    break answer;
                }
            };
            assert_eq!(answer["type"], kind, "{name}: {answer}");
            forbidden.extend((answer["code"] == "FORBIDDEN").then(|| frame["type"].clone()));
        }
        let may_not = match name {
            "read" => vec!["run_request", "run_control", "directive", "review_decision"],
            "run" => vec!["review_decision"],
            _ => vec!["run_request", "run_control", "directive"],
        };
        assert_eq!(forbidden, may_not, "{name}");
    }
    let mut socket = here.try_socket(&[("authorization", "Bearer secret-read")]).await.unwrap();
    socket.frame().await;
    for key in ["wrong", "secret-admin", "secret-read"] {
        let refused = socket.ask(json!({ "type": "auth", "key": key, "requestId": "q" })).await;
        assert_eq!((&refused["code"], &refused["requestId"]), (&json!("ALREADY_AUTHENTICATED"), &json!("q")));
        assert_eq!(socket.ask(request("r")).await["code"], "FORBIDDEN", "the first key holds");
    }
    let mut first = here.socket().await;
    first.ask(json!({ "type": "auth", "key": "secret-run" })).await;
    assert_eq!(
        first.ask(json!({ "type": "auth", "key": "secret-admin" })).await["code"],
        "ALREADY_AUTHENTICATED",
        "a key shown in the first frame holds too"
    );
}

#[tokio::test]
async fn a_socket_that_needs_no_key_takes_one_auth_and_not_two() {
    let here = talking().await;
    let (mut socket, _) = here.greeted().await;
    let auth = json!({ "type": "auth", "key": "x" });
    assert_eq!(socket.ask(auth.clone()).await, json!({ "type": "auth_ack", "name": "local" }));
    assert_eq!(socket.ask(auth).await["code"], "ALREADY_AUTHENTICATED");
}

#[tokio::test]
async fn a_directive_is_from_the_key_that_was_shown_and_what_its_sender_says_stands_beside_it() {
    let server = with_keys(vec![Draft { review: Some(ReviewRule::Required), ..task("a") }]);
    let here = start(server).await;
    let mut socket = here.try_socket(&[("authorization", "Bearer secret-run")]).await.unwrap();
    socket.say(request("r")).await;
    let run = socket.first("run_ack").await["runId"].clone();
    socket.until("review_requested").await;
    let said = async |socket: &mut Socket, more: Value| {
        let mut frame = json!({ "type": "directive", "content": "hurry", "runId": run });
        frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        socket.say(frame).await;
        let told = socket.until("directive_active").await.pop().unwrap();
        socket.until("directive_ack").await;
        (told["from"].clone(), told["onBehalfOf"].clone())
    };
    let run_key = json!("run");
    let ann = json!("Ann");
    assert_eq!(said(&mut socket, json!({ "from": "Ann" })).await, (run_key.clone(), ann.clone()));
    assert_eq!(said(&mut socket, json!({ "onBehalfOf": "Ann" })).await, (run_key.clone(), ann));
    assert_eq!(said(&mut socket, json!({ "from": "run" })).await, (run_key.clone(), Value::Null));
    assert_eq!(said(&mut socket, json!({})).await, (run_key.clone(), Value::Null));
    let tier = json!({ "type": "directive", "action": "SET_MODEL_TIER", "value": "PRIMARY", "from": "boss" });
    socket.say(tier).await;
    let told = socket.first("directive_active").await;
    assert_eq!((&told["from"], &told["onBehalfOf"]), (&run_key, &json!("boss")));
}

#[tokio::test]
async fn a_key_that_is_taken_away_ends_its_sockets_and_streams_and_nobody_elses() {
    let server = with_keys(vec![Draft { review: Some(ReviewRule::Required), ..task("a") }]);
    let (access, changes) = watch::channel(server.access.clone());
    let (_done, started) = watch::channel(true);
    let here = start_as(server, Terms { access: changes, started }).await;
    let bearer = |name: &str| format!("Authorization: Bearer secret-{name}");
    let body = json!({ "inputs": { "topic": "x" } });
    let run = here.post_with("/api/runs", &bearer("run"), body).await.json()["runId"].clone();
    let stream = |name: &str| {
        let events = format!("GET /api/runs/{}/events HTTP/1.1\r\nHost: localhost", run.as_str().unwrap());
        format!("{events}\r\n{}\r\nAccept: text/event-stream", bearer(name))
    };
    let mut gone = here.try_socket(&[("authorization", "Bearer secret-read")]).await.unwrap();
    let mut kept = here.try_socket(&[("authorization", "Bearer secret-run")]).await.unwrap();
    assert_eq!([gone.frame().await["type"].clone(), kept.frame().await["type"].clone()], ["hello", "hello"]);

    let revoke = async {
        // Both sockets and both streams are there.
        let status = format!("GET /api/status HTTP/1.1\r\nHost: localhost\r\n{}", bearer("run"));
        while here.send(&status, b"").await.json()["clients"] != 4 {}
        access.send_modify(|access| access.keys.retain(|key| key.name != "read"));
        assert_eq!(gone.closed().await.0, 1008);
    };
    let revoked = stream("read");
    let kept_stream = stream("run");
    let mut other = std::pin::pin!(here.send(&kept_stream, b""));
    let ended = tokio::select! {
        (ended, ()) = async { tokio::join!(here.send(&revoked, b""), revoke) } => ended,
        _never = &mut other => panic!("the other stream ended"),
    };
    assert!(ended.body.contains("run_accepted") && !ended.body.contains("run_result"), "{ended:?}");
    assert_eq!(kept.ask(json!({ "type": "ping" })).await["type"], "pong");
    assert_eq!(here.try_socket(&[("authorization", "Bearer secret-read")]).await.err(), Some(401));
}
