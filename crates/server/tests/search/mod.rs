//! `/api/search`: what is found, by whom, and what is not any more.

use std::path::Path;
use std::sync::Arc;

use consort_core::owner::Owner;
use consort_log::{Log, MemoryLog, SqliteLog};
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;
use consort_server::Server;
use consort_server::access::{Key, Scope, Sees};
use serde_json::{Value, json};

use crate::client::{Answer, Here, engine_over, server, start, task};

fn model() -> ScriptedModel {
    ScriptedModel::new().otherwise(Line::new().says("Marmalade is done"))
}

fn over(log: Arc<dyn Log>) -> Server {
    let mut seams = engine_over(Arc::default(), model(), Capacity::UNLIMITED).seams().clone();
    seams = seams.over(log);
    server(Engine::new(seams), vec![task("a")])
}

async fn found(here: &Here, q: &str) -> Vec<(String, String)> {
    pairs(&here.get(&format!("/api/search?q={q}")).await)
}

fn pairs(answer: &Answer) -> Vec<(String, String)> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let word = |found: &Value, name: &str| found[name].as_str().unwrap().to_owned();
    let results = answer.json()["results"].as_array().unwrap().clone();
    let mut pairs: Vec<_> = results.iter().map(|one| (word(one, "kind"), word(one, "title"))).collect();
    pairs.sort();
    pairs
}

/// Creates one thing of each kind that has the word quince; returns the paths to delete them by.
async fn filled(here: &Here) -> Vec<String> {
    let run = here.post_with("/api/runs", "Prefer: wait=30", json!({ "inputs": { "topic": "quinces" } })).await.json();
    let thread = here.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned();
    here.post(&format!("/api/threads/{thread}/messages"), json!({ "content": "Tell me of Quince jam" })).await;
    while here.get(&format!("/api/threads/{thread}")).await.json()["running"] == true {}
    let tasks = json!([{ "name": "one", "description": "Peel the quince" }]);
    let workflow = here.post("/api/workflows", json!({ "name": "Jelly", "tasks": tasks })).await.json();
    here.post("/api/collections", json!({ "name": "kitchen" })).await;
    here.post("/api/collections/kitchen/documents", json!({ "title": "Fruit", "content": "A quince is hard." })).await;
    vec![
        format!("/api/runs/{}", run["runId"].as_str().unwrap()),
        format!("/api/threads/{thread}"),
        format!("/api/workflows/{}", workflow["id"].as_str().unwrap()),
        "/api/collections/kitchen/documents/1".to_owned(),
    ]
}

fn expected() -> Vec<(String, String)> {
    let pair = |kind: &str, title: &str| (kind.to_owned(), title.to_owned());
    vec![
        pair("document", "Fruit"),
        pair("run", "quinces"),
        pair("thread", "Tell me of Quince jam"),
        pair("workflow", "Jelly"),
    ]
}

async fn check(here: &Here, paths: Vec<String>) {
    assert_eq!(found(here, "quince").await, expected());
    assert_eq!(found(here, "QUIN").await, expected(), "the beginning of a word will do");
    let by_answer = found(here, "marmalade").await;
    let kinds: Vec<&str> = by_answer.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["run", "thread"], "what was answered is found too");
    assert_eq!(found(here, "quince%20nothing").await, []);
    assert_eq!(found(here, "%22%20OR%20*").await, [], "no sign is an operator");
    let one = here.get("/api/search?q=peel&limit=1").await.json();
    assert_eq!(one["results"][0]["snippet"], "Jelly one Peel the quince");
    assert!(one["results"][0]["at"].is_string());
    for (gone, path) in paths.iter().enumerate() {
        let headers = if path.contains("workflows") { "\r\nIf-Match: *" } else { "" };
        let answer = here.send(&format!("DELETE {path} HTTP/1.1\r\nHost: localhost{headers}"), b"").await;
        assert_eq!(answer.status, 204, "{answer:?}");
        assert_eq!(found(here, "quince").await.len(), 3 - gone, "{path} is not found any more");
    }
}

#[tokio::test]
async fn everything_is_found_by_its_words_until_it_is_deleted() {
    let here = start(over(Arc::<MemoryLog>::default())).await;
    let paths = filled(&here).await;
    check(&here, paths).await;
}

#[tokio::test]
async fn a_store_on_disk_finds_the_same_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.db");
    let open = |path: &Path| Arc::new(SqliteLog::open(path).unwrap());
    let paths = {
        let log = open(&path);
        let here = start(over(log.clone())).await;
        let paths = filled(&here).await;
        log.backup(&folder.path().join("copy.db")).await.unwrap();
        paths
    };
    let here = start(over(open(&folder.path().join("copy.db")))).await;
    check(&here, paths).await;
}

#[tokio::test]
async fn a_text_that_was_changed_on_the_disk_is_not_shown_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.db");
    {
        let log = Arc::new(SqliteLog::open(&folder.path().join("log.db")).unwrap());
        let here = start(over(log.clone())).await;
        filled(&here).await;
        log.backup(&path).await.unwrap();
    }
    let db = rusqlite::Connection::open(&path).unwrap();
    let changed = "UPDATE unindexed SET text = replace(replace(text, 'quince', 'quincy'), 'Quince', 'Quincy')";
    assert!(db.execute(changed, []).unwrap() >= 3);
    drop(db);
    let here = start(over(Arc::new(SqliteLog::open(&path).unwrap()))).await;
    assert_eq!(found(&here, "quinc").await, expected());
    let results = here.get("/api/search?q=quinc").await.json()["results"].as_array().unwrap().clone();
    for one in results {
        let is_changed = one["kind"] != "document";
        assert_eq!((one["snippet"] == "", one["damaged"] == true), (is_changed, is_changed), "{one}");
        assert_eq!(one["damagedReason"].is_string(), is_changed, "{one}");
    }
}

#[tokio::test]
async fn nobody_finds_what_is_anothers() {
    let mut guarded = over(Arc::<MemoryLog>::default());
    let key = |name: &str, owner: &str, sees: Sees| Key {
        sees,
        ..Key::of(Owner::named(owner).unwrap(), (name, name), &[Scope::Read, Scope::Run])
    };
    guarded.access.keys = vec![
        key("ann", "a", Sees::Own),
        key("al", "a", Sees::Own),
        key("bob", "b", Sees::Own),
        key("eve", "e", Sees::All),
    ];
    let here = start(guarded).await;
    let ask = async |key: &str, method: &str, path: &str, body: Value| {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nPrefer: wait=30\r\n\
             Content-Type: application/json"
        );
        let sent = if body.is_null() { String::new() } else { body.to_string() };
        here.send(&head, sent.as_bytes()).await
    };
    ask("ann", "POST", "/api/runs", json!({ "inputs": { "topic": "quinces" } })).await;
    let thread = ask("ann", "POST", "/api/threads", json!({ "title": "On quinces" })).await.json();
    let messages = format!("/api/threads/{}/messages", thread["id"].as_str().unwrap());
    assert_eq!(ask("ann", "POST", &messages, json!({ "content": "Quince?" })).await.status, 202);
    for (key, kinds) in [("ann", &["run", "thread"][..]), ("al", &["run"]), ("bob", &[]), ("eve", &["run"])] {
        let found = pairs(&ask(key, "GET", "/api/search?q=quince", Value::Null).await);
        assert_eq!(found.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(), kinds, "{key}");
    }
}

#[tokio::test]
async fn a_query_has_words_and_an_end() {
    let here = start(over(Arc::<MemoryLog>::default())).await;
    let long = "x".repeat(201);
    for path in ["", "?q=", "?q=%20", &format!("?q={long}"), "?q=a&limit=0", "?q=a&limit=101", "?q=a&limit=x"] {
        let answer = here.get(&format!("/api/search{path}")).await;
        assert_eq!(answer.problem(), (400, "BAD_REQUEST".to_owned()), "{path}");
    }
    assert_eq!(found(&here, &"x".repeat(200)).await, []);
    assert_eq!(found(&here, "---").await, []);
}
