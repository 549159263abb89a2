//! The filters of `GET /api/runs` look at every run that is kept, however many there are, on every store.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::draft::Draft;
use consort_core::message::{Failure, FailureKind};
use consort_core::owner::Owner;
use consort_core::spec::ReviewRule;
use consort_core::time::iso;
use consort_log::{Append, Log, MemoryLog, Record, Row, SqliteLog};
use consort_models::{Line, ScriptedModel};
use consort_postgres::PgLog;
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;
use consort_server::Server;
use consort_server::access::{Key, Scope, Sees};
use consort_test_postgres::database;
use futures::future::try_join_all;
use serde_json::{Value, json};

use crate::client::{Answer, Here, engine_over, server, start, task};

/// More than a request looks through.
const RUNS: u64 = 5_600;
/// Every one of this many runs costs something, asks another model and belongs to Bob.
const RARE: u64 = 700;
/// The time between the starts of two runs.
const MINUTE_MS: u64 = 60_000;

fn over(log: Arc<dyn Log>) -> Server {
    let seams = engine_over(Arc::default(), ScriptedModel::new(), Capacity::UNLIMITED).seams().clone();
    server(Engine::new(seams.over(log)), vec![task("a")])
}

fn id(number: u64) -> String {
    format!("run-{number:08}")
}

/// The rare runs, the newest first.
fn rare() -> Vec<String> {
    (0..RUNS).rev().filter(|number| number % RARE == 0).map(id).collect()
}

fn append(number: u64) -> Append {
    let run = id(number);
    let at = number * MINUTE_MS;
    let is_rare = number.is_multiple_of(RARE);
    let model = if is_rare { "spare" } else { "main" };
    let cost = if is_rare { 1.5 } else { 0.001 };
    let body = json!({
        "runId": run, "ensemble": "test", "status": "COMPLETED", "startedAt": iso(at), "durationMs": 1,
        "taskCount": 1, "completedTasks": 1, "workflow": "SEQUENTIAL", "model": model, "tags": {},
        "paused": false, "cancelRequested": false, "totalTokens": 3,
        "costEstimate": { "inputCost": cost, "outputCost": cost },
    });
    let row = Row {
        kind: "run".into(),
        status: "COMPLETED".into(),
        owner: if is_rare { Owner::named("bob").unwrap() } else { Owner::local() },
        started_at: at,
        ended_at: Some(at + 1),
        tags: BTreeMap::new(),
        body: body.to_string().into(),
        words: Some(if number == 0 { "quince jam".into() } else { "plums".into() }),
    };
    let records = vec![Record { body: "{}".into(), attachments: Vec::new() }];
    Append::new(run, 0, records, row)
}

async fn fill(log: &dyn Log) {
    let numbers: Vec<u64> = (0..RUNS).collect();
    for some in numbers.chunks(500) {
        try_join_all(some.iter().map(|number| log.append(append(*number)))).await.unwrap();
    }
}

fn ids(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let runs = answer.json()["runs"].as_array().unwrap().clone();
    runs.iter().map(|run| run["runId"].as_str().unwrap().to_owned()).collect()
}

/// Follows a list to its end; returns the runs, and the number of requests.
async fn all(ask: impl AsyncFn(&str) -> Answer, query: &str) -> (Vec<String>, usize) {
    let mut found = Vec::new();
    let mut after = String::new();
    for requests in 1..100 {
        let answer = ask(&format!("/api/runs?{after}{query}")).await;
        found.extend(ids(&answer));
        match answer.json()["next"].as_str() {
            Some(next) => after = format!("after={next}&"),
            None => return (found, requests),
        }
    }
    panic!("{query} has no end");
}

async fn check(here: &Here) {
    let get = async |path: &str| here.get(path).await;
    let (found, requests) = all(get, "model=spare").await;
    assert_eq!(found, rare(), "every run is looked at");
    assert_eq!(requests, 2, "and a request looks at so many");
    assert_eq!(all(get, "minCost=3").await.0, rare());
    assert_eq!(all(get, "minCost=3&model=main").await.0, Vec::<String>::new());
    assert_eq!(all(get, "model=spare&limit=3").await, (rare(), 3), "a page ends where it is full");
    let oldest: Vec<String> = rare().into_iter().rev().collect();
    assert_eq!(all(get, "model=spare&order=oldest&limit=1").await.0, oldest);
    let times = format!("from={}&to={}", iso(RARE * MINUTE_MS), iso(2 * RARE * MINUTE_MS));
    assert_eq!(all(get, &format!("model=spare&{times}")).await.0, [id(2 * RARE), id(RARE)]);
    let within = here.get(&format!("/api/runs?{times}&limit=2")).await.json();
    assert_eq!((&within["total"], &within["runs"][1]["runId"]), (&json!(RARE + 1), &json!(id(2 * RARE - 1))));
    for q in ["quince", "JAM%20quin"] {
        let answer = here.get(&format!("/api/runs?q={q}")).await;
        assert_eq!((ids(&answer), &answer.json()["total"]), (vec![id(0)], &json!(1)), "{q}");
        assert_eq!(answer.json().get("next"), None);
    }
    assert_eq!(ids(&here.get("/api/runs?q=quince&model=main").await), Vec::<String>::new());
    let (every, requests) = all(get, "limit=500&order=oldest").await;
    assert_eq!((every, requests), ((0..RUNS).map(id).collect(), 12));
}

#[tokio::test]
async fn the_filters_look_at_every_run_in_memory() {
    let log = Arc::new(MemoryLog::default());
    fill(&*log).await;
    check(&start(over(log)).await).await;
}

#[tokio::test]
async fn the_filters_look_at_every_run_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(SqliteLog::open(&folder.path().join("log.db")).unwrap());
    fill(&*log).await;
    check(&start(over(log)).await).await;
}

#[tokio::test]
async fn the_filters_look_at_every_run_in_postgresql() {
    let Some(database) = database().await else { return };
    let log = Arc::new(PgLog::open(database.url()).await.unwrap());
    fill(&*log).await;
    check(&start(over(log)).await).await;
}

#[tokio::test]
async fn nobody_finds_what_is_anothers_by_a_filter() {
    let log = Arc::new(MemoryLog::default());
    fill(&*log).await;
    let mut guarded = over(log);
    let key =
        |name: &str, sees: Sees| Key { sees, ..Key::of(Owner::named(name).unwrap(), (name, name), &[Scope::Read]) };
    guarded.access.keys = vec![key("ann", Sees::Own), key("bob", Sees::Own), key("eve", Sees::All)];
    let here = start(guarded).await;
    // A cursor of one key tells another nothing.
    let after = format!("after={}.{}", (RUNS - 1) * MINUTE_MS, id(RUNS - 1));
    let newest = |run: Option<u64>| run.map(id).into_iter().collect::<Vec<_>>();
    for (key, expected, plums) in [
        ("ann", Vec::new(), newest(None)),
        ("bob", rare(), newest(Some(RUNS - RARE))),
        ("eve", rare(), newest(Some(RUNS - 1))),
    ] {
        let ask = async |path: &str| {
            here.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}"), b"").await
        };
        for query in ["model=spare", "minCost=2", &format!("model=spare&{after}")] {
            assert_eq!(all(ask, query).await.0, expected, "{key} {query}");
        }
        assert_eq!(ids(&ask("/api/runs?q=plums&limit=1").await), plums, "{key}");
    }
}

#[tokio::test]
async fn runs_are_found_by_what_they_wait_for_and_by_their_pauses() {
    let careful = Draft { review: Some(ReviewRule::Required), ..task("a") };
    let model = ScriptedModel::new().otherwise(Line::new().says("x"));
    let here = start(server(engine_over(Arc::default(), model, Capacity::UNLIMITED), vec![careful])).await;
    let mut runs = Vec::new();
    for _ in 0..3 {
        let run = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await.json()["runId"]
            .as_str()
            .unwrap()
            .to_owned();
        until(&here, &run, "review_requested").await;
        runs.push(run);
    }
    let [waiting, paused, ended] = &runs[..] else { panic!("{runs:?}") };
    here.post(&format!("/api/runs/{paused}/pause"), json!({})).await;
    here.post(&format!("/api/reviews/{ended}-review-0"), json!({ "decision": "CONTINUE" })).await;
    until(&here, ended, "ensemble_completed").await;
    let none: [&String; 0] = [];
    for (query, expected) in [
        ("waiting=review", &[waiting][..]),
        ("waiting=RESUME", &[paused]),
        ("waiting=any", &[paused, waiting]),
        ("waiting=any&order=oldest", &[waiting, paused]),
        ("waiting=model", &none),
        ("paused=true", &[paused]),
        ("paused=false", &[ended, waiting]),
        ("paused=true&status=COMPLETED", &none),
        ("waiting=any&limit=1", &[paused]),
        (&format!("waiting=any&limit=1&after={}", next(&here, "waiting=any&limit=1").await), &[waiting]),
    ] {
        let found = ids(&here.get(&format!("/api/runs?{query}")).await);
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
    }
}

/// Follows a run until an event of this type.
async fn until(here: &Here, run: &str, kind: &str) {
    let mut events = here.following(&format!("/api/runs/{run}/events")).await;
    while events.next().await["type"] != kind {}
}

/// Returns the end of a page.
async fn next(here: &Here, query: &str) -> String {
    here.get(&format!("/api/runs?{query}")).await.json()["next"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_day_holds_the_runs_that_started_in_it() {
    let log = Arc::new(MemoryLog::default());
    try_join_all((0..3_000).map(|number| log.append(append(number)))).await.unwrap();
    let here = start(over(log)).await;
    // A day has 1,440 minutes, and a run began in each of them.
    for (query, total) in [
        ("from=1970-01-02", 1_560),
        ("to=1970-01-02", 2_880),
        ("from=1970-01-02&to=1970-01-02", 1_440),
        ("from=1970-01-02T00:00:00Z&to=1970-01-02T00:01:00.000Z", 2),
    ] {
        assert_eq!(here.get(&format!("/api/runs?{query}")).await.json()["total"], json!(total), "{query}");
    }
}

#[tokio::test]
async fn a_run_is_found_by_its_id_and_its_error() {
    let here = start(server(engine_over(Arc::default(), failing(), Capacity::UNLIMITED), vec![task("a")])).await;
    let sent = json!({ "inputs": { "topic": "plums" } });
    let run = here.post_with("/api/runs", "Prefer: wait=30", sent).await.json();
    let run = run["runId"].as_str().unwrap();
    for q in [run, &run[..12], run.trim_start_matches("run-"), "broken", "plum"] {
        assert_eq!(ids(&here.get(&format!("/api/runs?q={q}")).await), [run], "{q}");
    }
    assert_eq!(ids(&here.get("/api/runs?q=run").await), Vec::<String>::new(), "not every run is a match");
}

#[tokio::test]
async fn a_filter_that_cannot_be_read_is_refused() {
    let here = start(over(Arc::<MemoryLog>::default())).await;
    let long = format!("q={}", "x".repeat(201));
    for (query, word) in [
        ("from=yesterday", "from"),
        ("to=2026-02-30T00:00:00.000Z", "to"),
        ("minCost=-1", "minCost"),
        ("minCost=NaN", "minCost"),
        ("order=best", "order"),
        ("to=1970-1-2", "to"),
        ("waiting=long", "waiting"),
        ("paused=1", "paused"),
        ("paused=true&offset=1", "offset"),
        ("after=run-1", "after"),
        ("after=x.run-1", "after"),
        ("model=main&offset=1", "offset"),
        ("after=1.run-1&offset=1", "offset"),
        (&long, "q"),
    ] {
        let answer = here.get(&format!("/api/runs?{query}")).await;
        assert_eq!(answer.problem(), (400, "BAD_REQUEST".to_owned()), "{query}");
        let message: Value = answer.json()["message"].clone();
        assert!(message.as_str().is_some_and(|message| message.contains(&format!("`{word}`"))), "{message}");
    }
}

/// A model that fails.
fn failing() -> ScriptedModel {
    let failure = Failure {
        kind: FailureKind::Refused,
        message: "broken beyond repair".into(),
        retry_after_ms: None,
        status: None,
        charged: false,
    };
    ScriptedModel::new().otherwise(Line::new().breaks(failure))
}
