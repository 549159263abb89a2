//! The web UI as browsers get it, built into this binary or not.

use consort_runtime::admission::Capacity;
use consort_server::access::{Key, Scope};
use serde_json::json;

use crate::client::{engine, server, start, task};
use crate::{says, talking};

#[tokio::test]
async fn places_inside_the_ui_are_one_page_under_a_strict_policy() {
    let here = talking().await;
    let page = here.get("/").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.body.contains("Consort"), "{page:?}");
    assert_eq!(here.get("/runs/run-1/graph?task=2").await.body, page.body);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(here.get("/assets/gone.js").await.problem(), (404, "NOT_FOUND".to_owned()));
    assert_eq!(here.post("/runs", json!({})).await.problem(), (405, "METHOD_NOT_ALLOWED".to_owned()));
}

#[tokio::test]
async fn the_page_needs_no_key_and_everything_it_asks_for_does() {
    let mut guarded = server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")]);
    guarded.access.keys.push(Key::new("ci", "abc", &[Scope::Admin]).unwrap());
    let here = start(guarded).await;
    assert_eq!(here.get("/reviews").await.status, 200);
    for path in ["/api/runs", "/api/nothing", "/api/nothing/at/all"] {
        assert_eq!(here.get(path).await.problem(), (401, "UNAUTHORIZED".to_owned()), "{path}");
    }
    let elsewhere = here.send("GET / HTTP/1.1\r\nHost: evil.example", b"").await;
    assert_eq!(elsewhere.problem(), (403, "FORBIDDEN".to_owned()));
}

#[tokio::test]
async fn a_page_can_begin_near_the_end_of_a_run() {
    let here = talking().await;
    let run = crate::ended(&here).await;
    let detail = here.get(&format!("/api/runs/{run}")).await.json();
    let read = format!("GET /api/runs/{run}/events?limit=1000 HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    let events = here.send(&read, b"").await.json();
    assert_eq!(detail["eventCount"], json!(events["events"].as_array().unwrap().len()));
    assert_eq!(detail["limits"], json!({}));
    let first = &detail["tasks"][0];
    let last = &detail["tasks"][1];
    assert!(first["startedAt"].is_string() && last["completedAt"].is_string(), "{detail}");
}
