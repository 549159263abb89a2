//! Names that clients make up: whatever is kept by name must not grow with them.

use reqwest::Method;
use serde_json::json;

use super::target::{PROXY, Target, next, tell};

/// Names of each kind in a round.
const NAMES: u64 = 150;

pub(super) async fn keys(target: &Target, round: u64) {
    let task = json!({ "tasks": [{ "description": "x" }], "dryRun": true });
    for n in 0..NAMES {
        let key = format!("key-{round}-{n}-{}", "x".repeat(200));
        let once = |path: &str| target.request(Method::POST, path).header("idempotency-key", &key);
        let (status, thread) = target.send(once("/api/threads").json(&json!({}))).await;
        assert_eq!(status, 201, "{thread}");
        target.send(once("/api/runs").json(&task)).await;
        target.delete(&format!("/api/threads/{}", thread["id"].as_str().unwrap())).await;
    }
}

pub(super) async fn ids(target: &Target, round: u64) {
    let mut socket = target.socket().await;
    for n in 0..NAMES {
        let id = format!("{round:016}{n:016}");
        for path in [format!("/api/threads/thread-{id}"), format!("/api/runs/run-{id}"), format!("/api/{id}")] {
            assert_eq!(target.get(&path).await.0, 404, "{path}");
        }
        for frame in [
            json!({ "type": "chat_subscribe", "thread_id": format!("thread-{id}") }),
            json!({ "type": "subscribe", "runId": format!("run-{id}"), "from": 0 }),
            json!({ "type": format!("made-up-{id}") }),
        ] {
            tell(&mut socket, &frame).await;
            next(&mut socket).await.expect("the socket stays open");
        }
    }
}

pub(super) async fn tools(target: &Target, round: u64) {
    for n in 0..NAMES {
        let path = format!("/api/tools/tool-{round}-{n}-{}/invoke", "x".repeat(100));
        assert_eq!(target.post(&path, &json!({ "input": "1" })).await.0, 404);
        let task = json!({ "description": "x", "model": format!("model-{round}-{n}"), "tools": [format!("t{n}")] });
        assert_eq!(target.post("/api/runs", &json!({ "tasks": [task] })).await.0, 400);
    }
    let (_, metrics) = target.get("/metrics").await;
    assert!(metrics.as_str().unwrap().len() < 1024 * 1024, "only names that exist have series");
}

pub(super) async fn headers(target: &Target, round: u64) {
    for n in 0..NAMES / 3 {
        let request = (0..50).fold(target.request(Method::GET, "/api/status"), |request, at| {
            request.header(format!("x-{round}-{n}-{at}"), "x".repeat(500))
        });
        target.send(request).await;
        let long = target.request(Method::GET, "/api/status").header("x-long", "x".repeat(100_000));
        assert!((400..500).contains(&target.send(long).await.0));
        target.get(&format!("/api/runs?tag={}", "x".repeat(10_000))).await;
    }
}

/// Guesses keys from more addresses than are remembered, through a proxy that is believed.
pub(super) async fn guesses(target: &Target, round: u64) {
    let proxy = reqwest::Client::builder().local_address(std::net::IpAddr::from(PROXY)).build().unwrap();
    let url = format!("http://{}/api/status", target.address());
    for n in 0..5 * NAMES {
        let [_, a, b, c] = u32::try_from(round * 5 * NAMES + n).unwrap().to_be_bytes();
        let guess =
            proxy.get(&url).bearer_auth(format!("guess-{n}")).header("x-forwarded-for", format!("10.{a}.{b}.{c}"));
        assert_eq!(target.send(guess).await.0, 401);
    }
}
