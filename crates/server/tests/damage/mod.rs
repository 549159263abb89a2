//! Damage stays where it is: a store with a stream of every kind is spoilt in
//! every place, one at a time, and whatever is not spoilt works as before.

mod turns;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use consort_chat::facts::{Facts, Source};
use consort_core::compile::Compiled;
use consort_core::draft::Draft;
use consort_core::request::{self, Submission};
use consort_core::spec::{Kind, ReviewRule};
use consort_log::SqliteLog;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;
use consort_server::Server;
use consort_tools::memory::{Entry, Memory};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Answer, Here, engine_over, server, start, task};

/// A stream that is spoilt.
#[derive(Clone, Debug)]
struct Stream {
    name: String,
    kind: String,
    /// Whether it had come to its end.
    ended: bool,
}

/// A way to spoil a stream, `?1` being its number in the file.
#[derive(Clone, Copy, Debug)]
struct Harm {
    sql: &'static str,
    /// Whether the stream's records cannot be read afterwards.
    records: bool,
    /// Whether the body of its row cannot.
    row: bool,
}

const RECORDS: Harm = Harm { sql: "", records: true, row: false };
const ROW: Harm = Harm { sql: "", records: false, row: false };

/// Returns every kind of damage that a disk, or a person with an editor, can do to a stream.
fn harms() -> Vec<Harm> {
    vec![
        Harm { sql: "UPDATE records SET body = '{' WHERE stream = ?1", ..RECORDS },
        Harm { sql: "UPDATE records SET body = CAST(x'7bff' AS TEXT) WHERE stream = ?1 AND seq = 0", ..RECORDS },
        Harm { sql: "UPDATE records SET checksum = checksum + 1 WHERE stream = ?1 AND seq = 0", ..RECORDS },
        Harm { sql: "UPDATE records SET version = 99 WHERE stream = ?1", ..RECORDS },
        Harm { sql: "DELETE FROM records WHERE stream = ?1 AND seq = 0", ..RECORDS },
        Harm { sql: "UPDATE streams SET length = -5 WHERE id = ?1", row: true, ..RECORDS },
        Harm { sql: "UPDATE streams SET length = 0 WHERE id = ?1", row: true, ..RECORDS },
        Harm { sql: "UPDATE streams SET body = '{\"status\": ' WHERE id = ?1", row: true, ..ROW },
        Harm { sql: "UPDATE streams SET body = CAST(x'ff22' AS TEXT) WHERE id = ?1", row: true, ..ROW },
        Harm { sql: "UPDATE streams SET started_at = -1 WHERE id = ?1", row: true, ..ROW },
        // It can still be read.
        Harm { sql: "UPDATE streams SET body = body || ' ' WHERE id = ?1", row: true, ..ROW },
    ]
}

/// The same for the words of a row that lists are filtered by.
const STATUS: Harm = Harm { sql: "UPDATE streams SET status = CAST(x'ff' AS TEXT) WHERE id = ?1", row: true, ..ROW };

fn model() -> ScriptedModel {
    let hangs = |ask: &consort_models::Ask| format!("{:?}", ask.messages.last()).contains("hang");
    ScriptedModel::new().when(hangs, Line::new().hangs()).otherwise(Line::new().says("done"))
}

/// Opens a server over a file, as a process does.
async fn open(path: &Path) -> (Here, Engine, Arc<SqliteLog>) {
    let log = Arc::new(SqliteLog::open(path).unwrap());
    let mut seams = engine_over(Arc::default(), model(), Capacity::UNLIMITED).seams().clone();
    seams = seams.over(log.clone());
    let engine = Engine::new(seams);
    let server = of(&engine);
    server.opening().await.unwrap();
    (start(server).await, engine, log)
}

fn of(engine: &Engine) -> Server {
    server(engine.clone(), vec![Draft { review: Some(ReviewRule::Required), ..task("a") }])
}

fn work_for_a_peer(server: &Server) -> Compiled {
    let asked = json!({ "inputs": { "topic": "x" } });
    let Ok(Submission::Run(mut compiled)) = request::read(&asked, &server.ensemble, &server.catalog) else {
        panic!("it can be asked for")
    };
    compiled.spec.kind = Kind::Peer;
    compiled
}

/// Starts a run that waits for its review; returns its id.
async fn waiting(here: &Here) -> String {
    let run = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await.json()["runId"].clone();
    let run = run.as_str().unwrap().to_owned();
    while here.get(&format!("/api/reviews?runId={run}")).await.json()["total"] == 0 {}
    run
}

async fn completed(here: &Here) -> String {
    let run = waiting(here).await;
    here.post(&format!("/api/reviews/{run}-review-0"), json!({ "decision": "CONTINUE" })).await;
    while here.get(&format!("/api/runs/{run}")).await.json()["status"] != "COMPLETED" {}
    run
}

async fn thread(here: &Here, content: &str) -> String {
    let id = here.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned();
    here.post(&format!("/api/threads/{id}/messages"), json!({ "content": content })).await;
    while content != "hang" && here.get(&format!("/api/threads/{id}")).await.json()["running"] == true {}
    id
}

/// Creates a file with streams of every kind.
async fn seed(folder: &Path) -> PathBuf {
    let (here, engine, log) = open(&folder.join("first.db")).await;
    completed(&here).await;
    completed(&here).await;
    let run = waiting(&here).await;
    here.post_with(&format!("/api/runs/{run}/inject"), "Idempotency-Key: k", json!({ "content": "hurry" })).await;
    thread(&here, "hello").await;
    thread(&here, "hello again").await;
    thread(&here, "hang").await;
    engine.submit(work_for_a_peer(&of(&engine))).await.unwrap();
    while here.get("/api/reviews").await.json()["total"] != 2 {}
    let entry = Entry { key: "k".to_owned(), at: 1, text: "bees".to_owned() };
    Memory::new(log.clone()).store("garden", &entry).await.unwrap();
    let source = Source { thread: "t".to_owned(), turn: "u".to_owned() };
    Facts::new(log.clone()).learn("local", &source, &["Likes tea".to_owned()], 1).await.unwrap();
    here.post("/api/workflows", json!({ "name": "w", "tasks": [{ "name": "a", "description": "Do it" }] })).await;
    let yearly = json!({ "name": "yearly", "cron": "0 0 1 1 *", "inputs": { "topic": "x" } });
    assert_eq!(here.post("/api/schedules", yearly).await.status, 201);
    here.post("/api/collections", json!({ "name": "notes" })).await;
    here.post("/api/collections/notes/documents", json!({ "title": "a", "content": "salt" })).await;
    let path = folder.join("seed.db");
    log.backup(&path).await.unwrap();
    path
}

fn streams(path: &Path) -> Vec<(i64, Stream)> {
    let db = Connection::open(path).unwrap();
    let mut all = db.prepare("SELECT id, name, kind, ended_at IS NOT NULL FROM streams").unwrap();
    let stream = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, Stream { name: row.get(1)?, kind: row.get(2)?, ended: row.get(3)? }))
    };
    all.query_map([], stream).unwrap().map(Result::unwrap).collect()
}

/// Everything that a server lists.
struct Told {
    lists: BTreeMap<&'static str, Vec<Value>>,
}

const LISTS: [(&str, &str, &str); 8] = [
    ("/api/runs", "runs", "runId"),
    ("/api/threads", "threads", "id"),
    ("/api/workflows", "workflows", "id"),
    ("/api/collections", "collections", "name"),
    ("/api/memory", "scopes", "scope"),
    ("/api/facts", "facts", "id"),
    ("/api/turns", "turns", "turnId"),
    ("/api/schedules", "schedules", "name"),
];

impl Told {
    async fn by(here: &Here) -> Told {
        let mut lists = BTreeMap::new();
        for (path, name, _) in LISTS {
            let answer = here.get(path).await;
            assert_eq!(answer.status, 200, "{path}: {answer:?}");
            lists.insert(path, answer.json()[name].as_array().unwrap().clone());
        }
        Told { lists }
    }

    /// Returns the number of rows of each list.
    fn counts(&self) -> Vec<usize> {
        self.lists.values().map(Vec::len).collect()
    }

    /// Returns the list that it is in, and its row.
    fn find(&self, id: &str) -> Option<(&'static str, &Value)> {
        LISTS.into_iter().find_map(|(path, _, key)| {
            let found = self.lists[path].iter().find(|listed| listed[key] == id);
            found.map(|listed| (path, listed))
        })
    }

    fn damaged(&self) -> Vec<String> {
        let damaged = |(path, _, key): (&'static str, &str, &'static str)| {
            let all = self.lists[path].iter().filter(|listed| listed["damaged"] == true);
            all.map(move |listed| listed[key].as_str().unwrap().to_owned())
        };
        LISTS.into_iter().flat_map(damaged).collect()
    }
}

async fn delete(here: &Here, path: &str) -> Answer {
    here.send(&format!("DELETE {path} HTTP/1.1\r\nHost: localhost"), b"").await
}

/// Returns the id of a stream over HTTP; for a turn that of its thread.
fn public(told: &Told, stream: &Stream) -> Option<String> {
    match stream.kind.as_str() {
        "turn" => told.find(&stream.name).map(|(_, turn)| turn["threadId"].as_str().unwrap().to_owned()),
        "run" | "thread" | "workflow" => Some(stream.name.clone()),
        "collection" | "memory" | "fact" | "schedule" => stream.name.split_once('/').map(|(_, name)| name.to_owned()),
        _ => None,
    }
}

/// Checks everything else: the same lists, a socket, reviews.
async fn check_the_rest(here: &Here, seeded: &Told, stream: &Stream) {
    let told = Told::by(here).await;
    assert_eq!(told.counts(), seeded.counts());
    let own = public(seeded, stream);
    for id in told.damaged() {
        assert_eq!(Some(&id), own.as_ref(), "nothing else is damaged");
    }
    let (mut socket, _) = here.greeted().await;
    socket.say(json!({ "type": "chat_turns" })).await;
    socket.until("chat_turns").await;
    for path in ["/api/status", "/api/approvals", "/metrics", "/api/collections/notes/search?q=salt"] {
        let answer = here.get(path).await;
        assert!(answer.status == 200 || (stream.kind == "collection" && answer.status == 409), "{path} {answer:?}");
    }
    let reviews = here.get("/api/reviews").await;
    assert_eq!(reviews.status, 200, "{reviews:?}");
    for listed in reviews.json()["reviews"].as_array().unwrap() {
        assert!(listed["reviewId"].is_string());
    }
    for (path, _, key) in [LISTS[0], LISTS[1]] {
        for listed in &told.lists[path] {
            let answer = here.get(&format!("{path}/{}", listed[key].as_str().unwrap())).await;
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    }
    let other = told.lists["/api/threads"].iter().find(|thread| {
        thread["damaged"] != true
            && thread["running"] == false
            && Some(thread["id"].as_str().unwrap()) != own.as_deref()
    });
    let messages = format!("/api/threads/{}/messages", other.unwrap()["id"].as_str().unwrap());
    assert_eq!(here.post(&messages, json!({ "content": "still there?" })).await.status, 202);
    completed(here).await;
    let inject = seeded.lists["/api/runs"].iter().find(|run| run["status"] == "RUNNING").unwrap()["runId"].clone();
    let path = format!("/api/runs/{}/inject", inject.as_str().unwrap());
    let repeated = here.post_with(&path, "Idempotency-Key: k", json!({ "content": "hurry" })).await;
    assert!(repeated.status < 500, "{repeated:?}");
}

/// Checks that the readable part of the stream itself is shown, and that it can be deleted.
async fn check_it(here: &Here, seeded: &Told, stream: &Stream, harm: Harm) {
    let Some(id) = public(seeded, stream) else { return };
    let told = Told::by(here).await;
    let (place, listed) = told.find(&id).expect("it is listed");
    let reads_records = matches!(stream.kind.as_str(), "run" | "workflow" | "collection" | "memory");
    let is_damaged = match stream.kind.as_str() {
        // Who goes on with a run writes its row again.
        "run" => harm.records || (harm.row && stream.ended),
        // Its row says what was said; the events of it are missing.
        "turn" => harm.records,
        // Row and records say the same.
        "schedule" => harm.records && harm.row,
        _ => harm.row || (harm.records && reads_records),
    };
    if is_damaged {
        assert!(listed["damaged"] == true && listed.get("waitingFor").is_none(), "{listed}");
        let reason = listed["damagedReason"].as_str().unwrap();
        assert!(!["expected", "invalid type", "struct"].iter().any(|word| reason.contains(word)), "{reason}");
    }
    if place == "/api/runs" {
        assert_eq!(here.get(&format!("{place}/{id}")).await.json()["damaged"] == true, harm.records);
        let (mut socket, _) = here.greeted().await;
        socket.say(json!({ "type": "subscribe", "runId": id, "from": 0 })).await;
        socket.until(if harm.records { "error" } else { "subscribe_ack" }).await;
        socket.say(json!({ "type": "ping" })).await;
        socket.until("pong").await;
        let fork = here.post(&format!("{place}/{id}/fork"), json!({})).await;
        assert!(if harm.records { fork.problem() == (409, "STORAGE_DAMAGED".to_owned()) } else { fork.status == 202 });
    }
    if harm.sql.contains("version = 99") && is_damaged {
        let reason = listed["damagedReason"].as_str().unwrap();
        assert!(reason.contains("version 99") && reason.contains("reads versions 1 to 3"), "{reason}");
    }
    if place == "/api/collections" {
        let one = here.get(&format!("{place}/{id}")).await;
        assert_eq!((one.status, one.json()["damaged"] == true), (200, is_damaged), "{one:?}");
    }
    let gone = delete(here, &format!("{place}/{id}")).await;
    let is_stopped = place == "/api/runs" && !stream.ended && !harm.records;
    assert_eq!(gone.status, if is_stopped { 200 } else { 204 }, "{stream:?} {harm:?}: {gone:?}");
    assert!(is_stopped || Told::by(here).await.find(&id).is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_damaged_is_listed_as_such_can_be_deleted_and_is_in_nobody_elses_way() {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let seeded = seed(folder.path()).await;
    let whole = {
        let path = folder.path().join("whole.db");
        std::fs::copy(&seeded, &path).unwrap();
        let (here, ..) = open(&path).await;
        Told::by(&here).await
    };
    assert_eq!(whole.damaged(), Vec::<String>::new());
    let all = streams(&seeded);
    let kinds: Vec<&str> = all.iter().map(|(_, stream)| stream.kind.as_str()).collect();
    for kind in ["run", "turn", "thread", "peer", "answer", "memory", "fact", "workflow", "collection", "schedule"] {
        assert!(kinds.contains(&kind), "{kind} of {kinds:?}");
    }
    // One of each kind, and of those that can end one that has and one that has not.
    let mut chosen: BTreeMap<(&str, bool), &(i64, Stream)> = BTreeMap::new();
    for found in &all {
        chosen.insert((&found.1.kind, found.1.ended), found);
    }
    let cases = chosen.into_values().enumerate().map(|(case, (number, stream))| {
        let whole = &whole;
        let seeded = &seeded;
        let folder = folder.path();
        async move {
            // Names are listed by this word of theirs, so one that is lost is not.
            let status = (stream.kind != "memory").then_some(STATUS);
            for (which, harm) in harms().into_iter().chain(status).enumerate() {
                println!("{stream:?} {harm:?}");
                let path = folder.join(format!("{case}-{which}.db"));
                std::fs::copy(seeded, &path).unwrap();
                Connection::open(&path).unwrap().execute(harm.sql, [number]).unwrap();
                let (here, _engine, log) = open(&path).await;
                check_the_rest(&here, whole, stream).await;
                check_it(&here, whole, stream, harm).await;
                log.backup(&path.with_extension("copy")).await.unwrap();
            }
        }
    });
    futures::future::join_all(cases).await;
}
