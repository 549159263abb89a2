//! Requests that are sent again with their `Idempotency-Key`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use consort_core::draft::Draft;
use consort_core::spec::ReviewRule;
use consort_log::{Append, Compact, Error, Log, MemoryLog, Page, Query, Record, Seq};
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;
use consort_server::Server;
use consort_tools::{ScriptedTool, What};
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};

use crate::client::{Answer, Here, engine, engine_over, server, start, task};
use crate::says;

fn careful() -> Draft {
    Draft { review: Some(ReviewRule::Required), ..task("a") }
}

/// Creates a server whose tool `slow` waits for the gate.
fn with_slow(log: &Arc<MemoryLog>, tool: &ScriptedTool) -> Server {
    let mut seams = engine_over(log.clone(), says("x"), Capacity::UNLIMITED).seams().clone();
    seams.tools = seams.tools.with(tool.clone()).unwrap();
    server(Engine::new(seams), vec![task("a")])
}

async fn keyed(here: &Here, key: &str, path: &str, body: Value) -> Answer {
    here.post_with(path, &format!("Idempotency-Key: {key}"), body).await
}

#[tokio::test]
async fn a_change_sent_again_is_made_once_and_answered_alike_also_after_a_restart() {
    let log = Arc::new(MemoryLog::default());
    let first = engine_over(log.clone(), says("draft"), Capacity::UNLIMITED);
    let here = start(server(first.clone(), vec![careful()])).await;
    let run = here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await.json()["runId"].clone();
    let inject = format!("/api/runs/{}/inject", run.as_str().unwrap());
    let hurry = json!({ "content": "hurry" });
    let (one, two) = tokio::join!(keyed(&here, "k", &inject, hurry.clone()), keyed(&here, "k", &inject, hurry.clone()));
    let whole =
        |answer: &Answer| (answer.status, answer.body.clone(), answer.header("x-request-id").map(str::to_owned));
    assert_eq!((one.status, whole(&one)), (200, whole(&two)));
    let other = keyed(&here, "k", &inject, json!({ "content": "wait" })).await;
    assert_eq!(other.problem(), (422, "IDEMPOTENCY_CONFLICT".to_owned()));
    let wrong = keyed(&here, "wrong", &inject, json!({})).await;
    assert_eq!(wrong.problem(), (400, "BAD_REQUEST".to_owned()));
    assert_eq!(
        keyed(&here, "other", &inject, hurry.clone()).await.json()["directiveId"],
        format!("{}-directive-1", run.as_str().unwrap())
    );

    drop(here);
    first.stop().await;
    let second = engine_over(log, says("draft"), Capacity::UNLIMITED);
    second.recover().await.unwrap();
    let here = start(server(second, vec![careful()])).await;
    assert_eq!(whole(&keyed(&here, "k", &inject, hurry).await), whole(&one));
    assert_eq!(whole(&keyed(&here, "wrong", &inject, json!({})).await), whole(&wrong));
}

#[tokio::test]
async fn a_run_is_found_again_by_its_key_however_the_answer_is_wanted_and_whatever_is_configured_since() {
    let log = Arc::new(MemoryLog::default());
    let here = start(server(engine_over(log.clone(), says("done"), Capacity::UNLIMITED), vec![task("a")])).await;
    let body = || json!({ "inputs": { "topic": "x" }, "colour": 1 });
    let submit = async |here: &Here, how: &str| {
        here.post_with("/api/runs", &format!("Idempotency-Key: k\r\n{how}"), body()).await
    };
    let watched = submit(&here, "Accept: text/event-stream").await;
    let place = watched.header("location").unwrap().to_owned();
    let ended = submit(&here, "Prefer: wait=30").await;
    assert_eq!((ended.status, ended.header("location")), (200, Some(place.as_str())));
    let accepted = submit(&here, "X-Plain: 1").await;
    assert_eq!(accepted.status, 202);
    assert!(accepted.json()["warnings"][0].as_str().unwrap().starts_with("unknown field `colour` was ignored; "));

    let again = start(server(engine_over(log, says("done"), Capacity::UNLIMITED), Vec::new())).await;
    assert_eq!(submit(&again, "X-Plain: 1").await.json()["runId"], accepted.json()["runId"]);
    let mut expected = ended.json();
    // Nothing is known there of what the request could have meant.
    assert_eq!(expected.as_object_mut().unwrap().remove("warnings").unwrap().as_array().unwrap().len(), 1);
    assert_eq!(submit(&again, "Prefer: wait=30").await.json(), expected);
    assert_eq!(again.get("/api/runs").await.json()["total"], 1);
    let head = format!("DELETE {place} HTTP/1.1\r\nHost: localhost");
    assert_eq!(again.send(&head, b"").await.status, 204);
    let gone = submit(&again, "Prefer: wait=30").await;
    assert_eq!(gone.problem(), (503, "NOT_CONFIGURED".to_owned()), "its key is free: it is a request like any other");
}

#[tokio::test]
async fn only_the_same_key_waits_and_who_hangs_up_still_gets_it_done_once() {
    let log = Arc::default();
    let gate = Arc::new(Notify::new());
    let tool = ScriptedTool::new("slow").answers("made").waits(&gate);
    let here = start(with_slow(&log, &tool)).await;
    let mut socket = TcpStream::connect(here.address).await.unwrap();
    let head = "POST /api/tools/slow/invoke HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: k\r\n";
    let body = json!({ "input": "x" }).to_string();
    let request = format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    socket.write_all(request.as_bytes()).await.unwrap();
    tool.until(What::Began, 1).await;
    drop(socket);
    let sum = keyed(&here, "other", "/api/tools/calculator/invoke", json!({ "input": "1 + 1" })).await;
    assert_eq!(sum.json()["output"], "2", "another key does not wait");
    let again = keyed(&here, "k", "/api/tools/slow/invoke", json!({ "input": "x" }));
    let (again, ()) = tokio::join!(again, async { gate.notify_one() });
    assert_eq!((again.json()["output"].as_str(), tool.args().len()), (Some("made"), 1));
}

#[tokio::test]
async fn what_a_stopped_server_had_begun_is_not_done_again_on_a_guess() {
    let log = Arc::default();
    let tool = ScriptedTool::new("slow").hangs();
    let here = start(with_slow(&log, &tool)).await;
    let invoke = |here: Here| async move { keyed(&here, "k", "/api/tools/slow/invoke", json!({ "input": "x" })).await };
    tokio::select! {
        answer = invoke(here) => panic!("{answer:?}"),
        () = tool.until(What::Began, 1) => {}
    }
    let again = invoke(start(with_slow(&log, &tool)).await).await;
    assert_eq!((again.problem(), tool.args().len()), ((409, "OUTCOME_UNKNOWN".to_owned()), 1));
}

#[tokio::test]
async fn a_refusal_for_lack_of_room_is_not_kept() {
    let silent = ScriptedModel::new().otherwise(Line::new().hangs());
    let here = start(server(engine(silent, Capacity { running: 1, queued: 0 }), vec![task("a")])).await;
    let body = || json!({ "inputs": { "topic": "x" } });
    let first = here.post("/api/runs", body()).await.json()["runId"].as_str().unwrap().to_owned();
    assert_eq!(keyed(&here, "k", "/api/runs", body()).await.problem(), (429, "CONCURRENCY_LIMIT".to_owned()));
    here.post(&format!("/api/runs/{first}/cancel"), json!({ "mode": "now" })).await;
    here.get(&format!("/api/runs/{first}/events")).await;
    while keyed(&here, "k", "/api/runs", body()).await.status == 429 {}
    assert_eq!(here.get("/api/runs").await.json()["total"], 2);
}

/// A log that lets others go first before it answers, each time another number
/// of times, so that requests sent together meet in every order.
#[derive(Default)]
struct Hesitant {
    log: MemoryLog,
    calls: AtomicUsize,
}

impl Hesitant {
    async fn hesitate(&self) {
        // Steps of a small generator: every call differs from those around it.
        let times = self.calls.fetch_add(1, Ordering::Relaxed).wrapping_mul(2_654_435_761) >> 7 & 7;
        for _ in 0..times {
            tokio::task::yield_now().await;
        }
    }
}

impl Compact for Hesitant {
    fn compact(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.log.compact()
    }
}

impl Log for Hesitant {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>> {
        self.hesitate().then(|()| self.log.append(append)).boxed()
    }

    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, Error>> {
        let stream = stream.to_owned();
        async move {
            self.hesitate().await;
            self.log.read(&stream, from, max).await
        }
        .boxed()
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, Error>> {
        self.hesitate().then(|()| self.log.list(query)).boxed()
    }

    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), Error>> {
        self.log.erase(streams)
    }

    fn news(&self, stream: &str) -> watch::Receiver<u64> {
        self.log.news(stream)
    }
}

/// Starts a server over a slow log, with room for all runs.
async fn hesitant() -> (Here, Engine) {
    let mut seams = engine_over(Arc::default(), says("x"), Capacity::UNLIMITED).seams().clone();
    seams = seams.over(Arc::new(Hesitant::default()));
    let engine = Engine::new(seams);
    (start(server(engine.clone(), vec![task("a")])).await, engine)
}

/// Sends the same request three times at once; its one answer.
async fn thrice(here: &Here, path: &str, header: &str, sent: &Value) -> (u16, bool, String) {
    let answers = join_all((0..3).map(|_| here.post_with(path, header, sent.clone()))).await;
    // Of a stream the stored frames: what is said live is heard by who is there.
    let stored =
        |answer: &Answer| answer.body.lines().filter(|line| line.starts_with("id:")).collect::<Vec<_>>().join("\n");
    let is_stream = |answer: &Answer| answer.header("content-type") == Some("text/event-stream");
    let body = |answer: &Answer| if is_stream(answer) { stored(answer) } else { answer.body.clone() };
    let told = |answer: &Answer| (answer.status, is_stream(answer), body(answer));
    let first = told(&answers[0]);
    for answer in &answers {
        assert_eq!(told(answer), first, "{path} {header}");
    }
    first
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_with_the_same_key_sent_at_the_same_moment_are_answered_alike() {
    let (here, _engine) = hesitant().await;
    let body = json!({ "inputs": { "topic": "x" } });
    for round in 0..15 {
        let keys = (0..8).map(|n| format!("Idempotency-Key: k-{round}-{n}"));
        let all = join_all(keys.map(|key| {
            let here = &here;
            let body = &body;
            async move { thrice(here, "/api/runs", &key, body).await }
        }));
        let all = all.await;
        assert!(all.iter().all(|(status, ..)| *status == 202), "{all:?}");
    }
    assert_eq!(here.get("/api/runs").await.json()["total"], 15 * 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_answers_requests_with_the_same_key_alike_however_the_answer_is_wanted() {
    let (here, _engine) = hesitant().await;
    let topic = json!({ "inputs": { "topic": "x" } });
    let run = here.post_with("/api/runs", "Prefer: wait=30", topic.clone()).await.json()["runId"].clone();
    let workflow = json!({ "name": "w", "tasks": [{ "name": "a", "description": "Do it" }] });
    let saved = here.post("/api/workflows", workflow.clone()).await.json()["id"].clone();
    let thread = here.post("/api/threads", json!({})).await.json()["id"].clone();
    let [run, saved, thread] = [run, saved, thread].map(|id| id.as_str().unwrap().to_owned());
    here.post("/api/collections", json!({ "name": "notes" })).await;
    let wants = ["X-Plain: 1", "Prefer: wait=30", "Accept: text/event-stream"];
    let cases = [
        ("/api/runs".to_owned(), topic.clone()),
        ("/api/runs".to_owned(), json!({ "inputs": { "topic": "x" }, "dryRun": true })),
        ("/api/runs".to_owned(), json!({})),
        (format!("/api/runs/{run}/fork"), json!({})),
        (format!("/api/runs/{run}/inject"), json!({ "content": "late" })),
        (format!("/api/workflows/{saved}/runs"), json!({})),
        ("/api/workflows".to_owned(), workflow),
        ("/api/threads".to_owned(), json!({ "title": "one" })),
        (format!("/api/threads/{thread}/messages"), json!({ "content": "hi", "if_busy": "queue" })),
        ("/api/collections/notes/documents".to_owned(), json!({ "title": "a", "content": "b" })),
        ("/api/tools/calculator/invoke".to_owned(), json!({ "input": "1 + 1" })),
    ];
    for (number, (path, body)) in cases.iter().enumerate() {
        for (want, header) in wants.iter().enumerate() {
            for round in 0..4 {
                let header = format!("Idempotency-Key: k-{number}-{want}-{round}\r\n{header}");
                thrice(&here, path, &header, body).await;
            }
        }
    }
}
