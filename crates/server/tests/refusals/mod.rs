//! Refused requests, through real sockets: they are counted by their reason, those of an
//! address that guesses are slowed, and a refusal that leaves a body unread says so.

use std::net::IpAddr;
use std::time::Duration;

use consort_runtime::admission::Capacity;
use consort_server::Server;
use consort_server::access::{Key, Scope};
use futures::future::join_all;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::client::{Answer, Here, engine, server, start, task};
use crate::says;

fn guarded() -> Server {
    let mut guarded = server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")]);
    let key = |name: &str, key: &str, scope: Scope| Key::new(name, key, &[scope]).unwrap();
    guarded.access.keys = vec![key("ci", "right", Scope::Read), key("boss", "admin", Scope::Admin)];
    guarded
}

async fn get(here: &Here, path: &str, more: &str) -> Answer {
    let host = if more.contains("Host:") { "" } else { "\r\nHost: localhost" };
    here.send(&format!("GET {path} HTTP/1.1{host}\r\n{more}"), b"").await
}

async fn with_key(here: &Here, key: &str, path: &str) -> Answer {
    get(here, path, &format!("Authorization: Bearer {key}")).await
}

/// Returns the number of refusals for this reason.
async fn refused(here: &Here, reason: &str) -> u64 {
    let text = with_key(here, "admin", "/metrics").await.body;
    let name = format!("consort_refusals_total{{reason=\"{reason}\"}} ");
    text.lines().find_map(|line| line.strip_prefix(&name)).map_or(0, |count| count.parse().unwrap())
}

#[tokio::test]
async fn every_refusal_is_counted_by_its_reason() {
    let here = start(guarded()).await;
    assert_eq!(with_key(&here, "wrong", "/api/runs").await.status, 401);
    assert_eq!(get(&here, "/api/runs", "X-Test: 1").await.status, 401);
    assert_eq!(get(&here, "/api/runs", "Origin: https://evil.example").await.status, 403);
    assert_eq!(get(&here, "/", "Origin: https://evil.example").await.status, 403);
    assert_eq!(get(&here, "/api/runs", "Host: evil.example").await.status, 403);
    let scope = "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer right";
    assert_eq!(here.send(scope, b"").await.status, 403);
    assert_eq!(here.try_socket(&[("authorization", "Bearer wrong")]).await.err(), Some(401));
    let mut socket = here.socket().await;
    assert_eq!(socket.ask(json!({ "type": "auth", "key": "wrong" })).await["code"], "UNAUTHORIZED");
    let mut reader = here.try_socket(&[("authorization", "Bearer right")]).await.unwrap();
    reader.frame().await;
    let frame = json!({ "type": "run_control", "runId": "run-0", "action": "cancel" });
    assert_eq!(reader.ask(frame).await["code"], "FORBIDDEN");
    let counts = ["unauthorized", "origin", "host", "forbidden", "socket_auth"].map(|reason| refused(&here, reason));
    assert_eq!(join_all(counts).await, [3, 2, 1, 2, 1]);
}

// Time stands still until everybody waits, and then passes at once.
#[tokio::test(start_paused = true)]
async fn past_twenty_a_minute_each_refusal_waits_and_past_ten_waiting_it_is_429() {
    let here = start(guarded()).await;
    let guess = || with_key(&here, "wrong", "/api/runs");
    let began = Instant::now();
    for _ in 0..20 {
        assert_eq!(guess().await.status, 401);
    }
    assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
    let began = Instant::now();
    assert_eq!(guess().await.problem(), (401, "UNAUTHORIZED".to_owned()));
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());

    let crowd = join_all((0..30).map(|_| guess())).await;
    let sent_away: Vec<&Answer> = crowd.iter().filter(|answer| answer.status == 429).collect();
    assert!(crowd.iter().all(|answer| matches!(answer.status, 401 | 429)));
    assert!((1..=20).contains(&sent_away.len()), "ten may wait: {}", sent_away.len());
    assert_eq!(sent_away[0].problem(), (429, "TOO_MANY_REFUSALS".to_owned()));
    assert_eq!(sent_away[0].header("retry-after"), Some("1"));
    assert_eq!(refused(&here, "unauthorized").await, 51);
}

#[tokio::test(start_paused = true)]
async fn a_valid_key_is_never_slowed_however_often_its_address_was_refused() {
    let here = start(guarded()).await;
    let mut guesses = Vec::new();
    for _ in 0..40 {
        guesses.push(with_key(&here, "wrong", "/api/runs"));
    }
    let began = Instant::now();
    let valid = async {
        for _ in 0..30 {
            assert_eq!(with_key(&here, "right", "/api/runs").await.status, 200);
            let beyond = "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer right";
            assert_eq!(here.send(beyond, b"").await.status, 403, "refused at once, too");
        }
        began.elapsed()
    };
    let (guesses, took) = tokio::join!(join_all(guesses), valid);
    assert!(took < Duration::from_millis(900), "{took:?}");
    assert!(guesses.iter().any(|answer| answer.status == 429));
}

#[tokio::test(start_paused = true)]
async fn behind_a_trusted_proxy_each_client_has_its_own_count() {
    let mut proxied = guarded();
    proxied.trusted_proxies = vec![IpAddr::from([127, 0, 0, 1])];
    let here = start(proxied).await;
    let guess = |client: u8| get_from(&here, client);
    for _ in 0..20 {
        guess(1).await;
    }
    let began = Instant::now();
    assert_eq!(guess(2).await.status, 401);
    assert!(began.elapsed() < Duration::from_millis(900), "another client waits for nobody");
    assert_eq!(guess(1).await.status, 401);
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
}

async fn get_from(here: &Here, client: u8) -> Answer {
    get(here, "/api/runs", &format!("X-Forwarded-For: 9.9.9.9, 10.0.0.{client}\r\nAuthorization: Bearer wrong")).await
}

/// Sends exactly this on a connection that may be used again; returns the head of the answer.
async fn head(here: &Here, request: &str) -> String {
    let mut socket = TcpStream::connect(here.address).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = socket.read(&mut buffer).await.unwrap();
        assert_ne!(read, 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&buffer[..read]);
    }
    String::from_utf8(answer).unwrap().to_lowercase()
}

#[tokio::test]
async fn a_refusal_that_leaves_a_body_unread_says_that_it_closes_the_connection() {
    let here = start(guarded()).await;
    let request = |line: &str, key: &str, length: usize, body: &str| {
        format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
    };
    for (unread, status) in [
        (request("POST /api/runs", "wrong", 100, "{"), "401"),
        (request("POST /api/runs", "right", 100, "{"), "403"),
        (request("POST /api/runs", "admin", 1_000_000, "{"), "413"),
        (request("POST /api/nothing", "admin", 100, "{"), "404"),
        (request("DELETE /api/status", "admin", 100, "{"), "405"),
    ] {
        let head = head(&here, &unread).await;
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{head}");
        assert!(head.contains("connection: close"), "{head}");
    }
    for read in [
        request("POST /api/runs", "admin", 1, "{"),
        request("POST /api/runs", "admin", 2, "{}"),
        request("POST /api/runs", "wrong", 0, ""),
    ] {
        let head = head(&here, &read).await;
        assert!(!head.contains("connection: close"), "all of it was read: {head}");
    }
}

#[tokio::test]
async fn a_client_that_goes_on_sending_still_gets_the_refusal() {
    let here = start(guarded()).await;
    let mut socket = TcpStream::connect(here.address).await.unwrap();
    let length = 4 * 1024 * 1024;
    let head = format!("POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    let (mut reading, mut writing) = socket.split();
    let sending = async {
        let _refused = writing.write_all(&vec![b' '; length]).await;
    };
    let mut answer = Vec::new();
    let (_sent, read) = tokio::join!(sending, reading.read_to_end(&mut answer));
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401") && answer.ends_with('}'), "{read:?}: {answer}");
}
