//! Tests the ownership of runs: the parts of a run that the key of another owner gets, over HTTP and sockets.

mod frames;
mod matrix;
mod peers;
mod permissions;
mod unknown_fields;

use std::path::Path;

use consort_core::draft::Draft;
use consort_core::owner::Owner;
use consort_core::spec::ReviewRule;
use consort_runtime::admission::Capacity;
use consort_runtime::traces::Traces;
use consort_server::Server;
use consort_server::access::{Key, Scope, Sees};
use serde_json::{Value, json};

use crate::client::{Answer, Here, Socket, engine, server, start, task};
use crate::says;

/// The relation of a key to a run of the owner `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// It is a key of the same owner.
    Own,
    /// It is another's.
    Foreign,
    /// It is another's, and sees the runs of all.
    All,
}

impl Side {
    const EACH: [Side; 3] = [Side::Own, Side::Foreign, Side::All];

    fn owner(self) -> &'static str {
        match self {
            Side::Own => "a",
            Side::Foreign | Side::All => "b",
        }
    }

    /// Returns whether a key of this scope sees a run of `a`: `admin` sees all runs.
    fn sees(self, scope: Scope) -> bool {
        self != Side::Foreign || scope == Scope::Admin
    }

    /// Returns the key of this side with this scope, which is its own secret.
    fn key(self, scope: Scope) -> String {
        format!("{self:?}-{}", scope.word())
    }
}

/// Returns the key that begins the runs and threads others ask for.
fn first() -> String {
    Side::Own.key(Scope::Run)
}

fn keys() -> Vec<Key> {
    let key = |side: Side, scope: Scope| {
        let name = side.key(scope);
        let sees = if side == Side::All { Sees::All } else { Sees::Own };
        Key { sees, ..Key::of(Owner::named(side.owner()).unwrap(), (&name, &name), &[scope]) }
    };
    Side::EACH.into_iter().flat_map(|side| Scope::ALL.map(|scope| key(side, scope))).collect()
}

/// Creates a server whose runs wait for a person, with a key of each scope on each side.
fn guarded() -> Server {
    let careful = Draft { review: Some(ReviewRule::Required), ..task("a") };
    let mut guarded = server(engine(says("x"), Capacity::UNLIMITED), vec![careful]);
    guarded.access.keys = keys();
    guarded
}

/// Creates the same server, with a folder for traces.
fn tracing(folder: &Path) -> Server {
    let guarded = guarded();
    guarded.engine.export_to(Traces::open(folder).unwrap());
    guarded
}

/// Asks with a key.
async fn ask(here: &Here, key: &str, (method, path): (&str, &str), body: &Value) -> Answer {
    let sent = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nAccept: application/json\r\n\
         Content-Type: application/json"
    );
    here.send(&head, sent.as_bytes()).await
}

async fn get(here: &Here, key: &str, path: &str) -> Answer {
    ask(here, key, ("GET", path), &Value::Null).await
}

async fn post(here: &Here, key: &str, path: &str, body: Value) -> Answer {
    ask(here, key, ("POST", path), &body).await
}

/// Starts a run that waits for a person, with this key; returns it with its review.
async fn begun(here: &Here, key: &str) -> (String, String) {
    let run = post(here, key, "/api/runs", json!({ "inputs": { "topic": "x" } })).await.json();
    let run = run["runId"].as_str().unwrap_or_else(|| panic!("{run}")).to_owned();
    loop {
        let reviews = get(here, key, &format!("/api/reviews?runId={run}")).await.json();
        if let Some(review) = reviews["reviews"][0]["reviewId"].as_str() {
            return (run, review.to_owned());
        }
    }
}

/// Creates a thread of a key.
async fn thread(here: &Here, key: &str) -> String {
    let thread = post(here, key, "/api/threads", json!({})).await.json();
    thread["id"].as_str().unwrap_or_else(|| panic!("{thread}")).to_owned()
}

/// Opens a socket with a key; returns it with its `hello`.
async fn greeted(here: &Here, key: &str) -> (Socket, Value) {
    let mut socket = here.try_socket(&[("authorization", &format!("Bearer {key}"))]).await.unwrap();
    let hello = socket.frame().await;
    assert_eq!(hello["type"], "hello");
    (socket, hello)
}

#[tokio::test]
async fn me_is_the_key_or_everything_where_there_are_none() {
    let here = start(server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")])).await;
    let all = Scope::ALL.map(Scope::word);
    let local = json!({ "name": "local", "owner": "local", "scopes": all, "sees": "all" });
    assert_eq!(here.get("/api/me").await.json(), local);
    let guarded = start(guarded()).await;
    for (side, scope, sees) in
        [(Side::Own, Scope::Run, "own"), (Side::All, Scope::Review, "all"), (Side::Foreign, Scope::Admin, "all")]
    {
        let name = side.key(scope);
        let me = json!({ "name": name, "owner": side.owner(), "scopes": [scope.word()], "sees": sees });
        assert_eq!(get(&guarded, &name, "/api/me").await.json(), me);
    }
    assert_eq!(guarded.get("/api/me").await.status, 401);
}

#[tokio::test]
async fn the_nodes_are_this_one_alone_and_told_to_admins() {
    let here = start(guarded()).await;
    let nodes = get(&here, &Side::Own.key(Scope::Admin), "/api/cluster").await.json();
    let node = &nodes["nodes"][0];
    assert_eq!(nodes["nodes"].as_array().unwrap().len(), 1);
    assert_eq!((&node["leaseUntil"], &node["draining"], &node["runs"]), (&Value::Null, &json!(false), &json!(0)));
    assert_eq!(get(&here, &Side::Own.key(Scope::Run), "/api/cluster").await.status, 403);
}

#[tokio::test]
async fn lists_count_and_page_the_runs_that_are_seen() {
    let here = start(guarded()).await;
    let own = first();
    let foreign = Side::Foreign.key(Scope::Run);
    let all = Side::All.key(Scope::Run);
    for key in [&own, &foreign, &own, &foreign, &own] {
        begun(&here, key).await;
    }
    for (key, owners) in [(&own, vec!["a", "a"]), (&foreign, vec!["b", "b"]), (&all, vec!["a", "b"])] {
        let page = get(&here, key, "/api/runs?limit=2").await.json();
        let shown: Vec<&str> =
            page["runs"].as_array().unwrap().iter().map(|run| run["owner"].as_str().unwrap()).collect();
        let total = match key {
            key if *key == own => 3,
            key if *key == foreign => 2,
            _ => 5,
        };
        assert_eq!((shown, page["total"].as_u64()), (owners, Some(total)), "{key}");
    }
    let metrics = get(&here, &foreign, "/metrics").await.body;
    assert!(metrics.contains("consort_runs{status=\"RUNNING\"} 5"), "numbers are of all owners: {metrics}");
}

#[tokio::test]
async fn a_run_made_from_anothers_belongs_to_who_made_it() {
    let here = start(guarded()).await;
    let (run, _) = begun(&here, &first()).await;
    let all = Side::All.key(Scope::Run);
    let fork = post(&here, &all, &format!("/api/runs/{run}/fork"), json!({})).await;
    let fork = fork.json()["runId"].as_str().unwrap().to_owned();
    assert_eq!(get(&here, &all, &format!("/api/runs/{fork}")).await.json()["owner"], "b");
    assert_eq!(get(&here, &first(), &format!("/api/runs/{fork}")).await.problem(), (404, "RUN_NOT_FOUND".to_owned()));
    assert_eq!(get(&here, &first(), &format!("/api/runs/{run}")).await.json()["owner"], "a");
}

#[tokio::test]
async fn idempotency_keys_are_each_keys_own_even_of_one_owner() {
    let mut guarded = guarded();
    let second = Key::of(Owner::named("a").unwrap(), ("second", "second"), &[Scope::Run]);
    guarded.access.keys.push(second);
    let here = start(guarded).await;
    let mut runs = Vec::new();
    for key in [&*first(), "second", &Side::Foreign.key(Scope::Run), &first()] {
        let head = format!("Authorization: Bearer {key}\r\nIdempotency-Key: same");
        let answer = here.post_with("/api/runs", &head, json!({ "inputs": { "topic": "x" } })).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        runs.push(answer.json()["runId"].as_str().unwrap().to_owned());
    }
    assert_eq!(runs[0], runs[3], "the same key gets the same run");
    runs.pop();
    runs.sort();
    runs.dedup();
    assert_eq!(runs.len(), 3);
}

#[tokio::test]
async fn a_directive_is_said_by_the_key_and_without_a_run_reaches_the_callers_runs() {
    let here = start(guarded()).await;
    let (run, _) = begun(&here, &first()).await;
    for side in [Side::Foreign, Side::All] {
        let (mut socket, _) = greeted(&here, &side.key(Scope::Run)).await;
        socket.say(json!({ "type": "directive", "content": "stop", "from": "a" })).await;
        let ack = socket.first("directive_ack").await;
        assert_eq!((&ack["status"], &ack["message"]), (&json!("REJECTED"), &json!("no run is under way")), "{side:?}");
    }
    let (mut socket, _) = greeted(&here, &first()).await;
    socket.say(json!({ "type": "directive", "content": "go on", "from": "the boss" })).await;
    assert_eq!(socket.first("directive_ack").await["status"], "accepted");
    let body = json!({ "content": "faster", "from": "the boss" });
    assert_eq!(post(&here, &first(), &format!("/api/runs/{run}/inject"), body).await.status, 200);
    let page = get(&here, &first(), &format!("/api/runs/{run}/events")).await.json();
    let given = page["events"].as_array().unwrap().iter().filter(|frame| frame["type"] == "directive_active");
    let authors: Vec<_> = given.map(|frame| (frame["from"].clone(), frame["onBehalfOf"].clone())).collect();
    assert_eq!(authors, vec![(json!(first()), json!("the boss")); 2], "{page}");
}

#[tokio::test]
async fn a_tier_is_announced_to_those_who_see_the_runs() {
    let here = start(guarded()).await;
    let (run, _) = begun(&here, &first()).await;
    let (mut foreign, _) = greeted(&here, &Side::Foreign.key(Scope::Read)).await;
    let (mut own, _) = greeted(&here, &Side::Own.key(Scope::Read)).await;
    let (mut socket, _) = greeted(&here, &first()).await;
    let tier = json!({ "type": "directive", "runId": run, "action": "SET_MODEL_TIER", "value": "PRIMARY" });
    socket.say(tier).await;
    assert_eq!(socket.first("directive_ack").await["status"], "accepted");
    let heard = |frames: Vec<Value>| frames.iter().any(|frame| frame["type"] == "directive_active");
    assert!(heard(own.drained().await) && !heard(foreign.drained().await));
}

#[tokio::test]
async fn a_deleted_run_leaves_no_trace_file() {
    let folder = tempfile::tempdir().unwrap();
    let here = start(tracing(folder.path())).await;
    let (run, review) = begun(&here, &first()).await;
    let other = begun(&here, &first()).await;
    for review in [review, other.1] {
        let head = format!("/api/reviews/{review}");
        assert_eq!(
            post(&here, &Side::Own.key(Scope::Review), &head, json!({ "decision": "CONTINUE" })).await.status,
            200
        );
    }
    let names = |here| async move {
        let files = get(here, &first(), "/api/files").await.json();
        files["files"].as_array().unwrap().iter().map(|file| file["name"].to_string()).collect::<Vec<_>>()
    };
    while names(&here).await.len() < 4 {}
    let path = format!("/api/runs/{run}");
    let id = get(&here, &first(), &path).await.json()["ensembleId"].as_str().unwrap().to_owned();
    assert_eq!(ask(&here, &first(), ("DELETE", &path), &Value::Null).await.status, 204);
    let left = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.collect();
    assert!(left.len() == 2 && !left.iter().any(|name| name.starts_with(&id)), "{left:?}");
    assert_eq!(names(&here).await.len(), 2);
}
