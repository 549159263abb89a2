//! Spans of a run at a collector, good, bad or slow.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use consort_http::headers::Headers;
use consort_http::trace::Trace;
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;
use consort_runtime::telemetry::{Options, Protocol, Telemetry};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::{GIVEN, checking};
use crate::client::{Here, engine, server, start, task};
use crate::says;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// The behaviour of a collector.
#[derive(Clone, Copy)]
enum Mood {
    Takes,
    /// Not now.
    Busy,
    /// Never.
    Refuses,
    /// All but so many.
    TakesBut(u64),
    /// Not at all.
    Hangs,
}

/// A collector: what it was sent, and how it answers next; at last it takes.
#[derive(Clone, Default)]
struct Collector {
    seen: Arc<Mutex<Vec<(String, HeaderMap, Value)>>>,
    moods: Arc<Mutex<VecDeque<Mood>>>,
    /// Told whenever something comes.
    news: Arc<Notify>,
}

async fn collect(State(here): State<Collector>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let told = serde_json::from_slice(&body).unwrap_or_else(|_| json!({ "bytes": body.to_vec() }));
    here.seen.lock().unwrap().push((uri.path().to_owned(), headers, told));
    here.news.notify_one();
    let mood = here.moods.lock().unwrap().pop_front().unwrap_or(Mood::Takes);
    match mood {
        Mood::Takes => "{}".into_response(),
        Mood::Busy => (StatusCode::SERVICE_UNAVAILABLE, [("Retry-After", "0")], "later").into_response(),
        Mood::Refuses => (StatusCode::INTERNAL_SERVER_ERROR, "no").into_response(),
        Mood::TakesBut(count) => {
            axum::Json(json!({ "partialSuccess": { "rejectedSpans": count.to_string() } })).into_response()
        }
        Mood::Hangs => std::future::pending().await,
    }
}

impl Collector {
    fn with(moods: &[Mood]) -> Collector {
        Collector { moods: Arc::new(Mutex::new(moods.iter().copied().collect())), ..Collector::default() }
    }

    /// Starts the collector; returns the options for sending spans to it.
    async fn open(&self, owned: &mut JoinSet<()>) -> Options {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/otlp", listener.local_addr().unwrap());
        let app = Router::new().fallback(collect).with_state(self.clone());
        owned.spawn(async move { axum::serve(listener, app).await.unwrap() });
        let mut headers = Headers::default();
        headers.set("x-key", "hush", &[]).unwrap();
        let service = "kitchen".to_owned();
        let timeout = PATIENCE;
        Options { endpoint, headers, protocol: Protocol::Json, content: false, service, sample: 1.0, timeout }
    }

    /// Returns every span it was sent, by name; the names of these tests are unique.
    fn spans(&self) -> BTreeMap<String, Value> {
        let seen = self.seen.lock().unwrap();
        let of = |body: &Value| body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone();
        let mut spans = BTreeMap::new();
        for span in seen.iter().flat_map(|(_, _, body)| of(body)) {
            let name = span["name"].as_str().unwrap();
            let id = span["spanId"].as_str().unwrap();
            let name = if spans.contains_key(name) { format!("{name} {id}") } else { name.to_owned() };
            spans.insert(name, span);
        }
        spans
    }
}

fn told(engine: &Engine, options: &Options) -> Telemetry {
    let telemetry = Telemetry::start(options, engine.meters().clone()).unwrap();
    engine.tell(telemetry.clone());
    telemetry
}

fn attribute(span: &Value, name: &str) -> Value {
    let attributes = span["attributes"].as_array().unwrap();
    attributes.iter().find(|pair| pair["key"] == name).map(|pair| pair["value"].clone()).unwrap_or_default()
}

async fn completed(here: &Here, head: &str) -> String {
    let head = format!("Prefer: wait=30{head}");
    let ended = here.post_with("/api/runs", &head, json!({ "inputs": { "topic": "x" } })).await.json();
    assert_eq!(ended["status"], "COMPLETED", "{ended}");
    ended["runId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_collector_gets_every_span_of_a_run_within_the_trace_that_came_in_and_went_out() {
    let collector = Collector::default();
    let mut owned = JoinSet::new();
    let options = collector.open(&mut owned).await;
    let (engine, tasks, asked) = checking(&mut owned).await;
    let telemetry = told(&engine, &options);
    let mut server = server(engine.clone(), tasks);
    server.catalog.models = engine.seams().models.infos().cloned().collect();
    let here = start(server).await;
    let run = completed(&here, &format!("\r\ntraceparent: {GIVEN}")).await;
    telemetry.close(PATIENCE).await;

    let (path, headers, body) = collector.seen.lock().unwrap()[0].clone();
    let sent = (path.as_str(), headers["x-key"].to_str().unwrap(), headers["content-type"].to_str().unwrap());
    assert_eq!(sent, ("/otlp/v1/traces", "hush", "application/json"));
    let service = json!({ "key": "service.name", "value": { "stringValue": "kitchen" } });
    assert_eq!(body["resourceSpans"][0]["resource"]["attributes"][0], service);

    let mut spans = collector.spans();
    let given = Trace::parse(GIVEN).unwrap();
    assert!(spans.values().all(|span| span["traceId"] == given.id()), "{spans:?}");
    let whole = spans.remove("invoke_workflow test").unwrap();
    let agent = spans.remove("invoke_agent Agent").unwrap();
    let tool = spans.remove("execute_tool check").unwrap();
    let chats: Vec<Value> = spans.into_values().collect();
    assert_eq!(whole["parentSpanId"], given.span().unwrap(), "the run is part of what submitted it");
    assert_eq!(agent["parentSpanId"], whole["spanId"]);
    assert!(chats.iter().chain([&tool]).all(|span| span["parentSpanId"] == agent["spanId"]), "{chats:?} {tool}");
    assert!(chats.iter().all(|span| span["name"] == "chat gpt-9" && span["kind"] == 3), "{chats:?}");
    assert_eq!(chats.len(), 2);

    let asked: Vec<String> = asked.lock().unwrap().iter().filter_map(|(_, trace)| trace.clone()).collect();
    let went_out = |span: &Value| asked.iter().any(|header| header.contains(span["spanId"].as_str().unwrap()));
    assert!(asked.len() == 3 && chats.iter().chain([&tool]).all(went_out), "what was asked knows its span: {asked:?}");

    let text = |text: &str| json!({ "stringValue": text });
    for (span, name, value) in [
        (&whole, "gen_ai.operation.name", text("invoke_workflow")),
        (&whole, "consort.run.id", text(&run)),
        (&whole, "consort.run.status", text("COMPLETED")),
        (&agent, "gen_ai.operation.name", text("invoke_agent")),
        (&tool, "gen_ai.operation.name", text("execute_tool")),
        (&tool, "gen_ai.tool.name", text("check")),
        (&chats[0], "gen_ai.operation.name", text("chat")),
        (&chats[0], "gen_ai.provider.name", text("openai")),
        (&chats[0], "gen_ai.request.model", text("gpt-9")),
        (&chats[0], "gen_ai.usage.input_tokens", json!({ "intValue": "12" })),
        (&chats[0], "gen_ai.usage.output_tokens", json!({ "intValue": "3" })),
    ] {
        assert_eq!(attribute(span, name), value, "{name} of {span}");
    }
    let metrics = here.get("/metrics").await.body;
    assert!(metrics.contains("consort_spans_exported_total 5\n"), "{metrics}");
}

#[tokio::test]
async fn a_run_without_a_trace_gets_one_of_its_own_and_a_fork_is_in_another() {
    let collector = Collector::default();
    let mut owned = JoinSet::new();
    let options = collector.open(&mut owned).await;
    let engine = engine(says("done"), Capacity::UNLIMITED);
    let telemetry = told(&engine, &options);
    let here = start(server(engine, vec![task("a"), task("b")])).await;
    let run = completed(&here, &format!("\r\ntraceparent: {GIVEN}")).await;
    let own = completed(&here, "").await;
    let fork = here.post_with(&format!("/api/runs/{run}/fork"), "Prefer: wait=30", json!({ "seq": 9 })).await.json();
    let unwanted = "\r\ntraceparent: 00-11111111111111111111111111111111-00f067aa0ba902b7-00";
    completed(&here, unwanted).await;
    telemetry.close(PATIENCE).await;

    let spans = collector.spans();
    let whole = |run: &str| spans.values().find(|span| attribute(span, "consort.run.id")["stringValue"] == run);
    assert_eq!(whole(&own).unwrap()["traceId"], own.strip_prefix("run-").unwrap(), "it is found by the run's number");
    let fork = fork["runId"].as_str().unwrap();
    let forked: Vec<&Value> =
        spans.values().filter(|span| attribute(span, "consort.run.id")["stringValue"] == fork).collect();
    assert!(forked.iter().all(|span| span["traceId"] == fork.strip_prefix("run-").unwrap()), "{forked:?}");
    assert_eq!(forked.len(), 3, "what the old run did is not told again: {forked:?}");
    let is_unwanted = |span: &Value| span["traceId"] == "11111111111111111111111111111111";
    assert!(!spans.values().any(is_unwanted), "who is traced decides");
}

#[tokio::test]
async fn a_collector_that_is_busy_gets_its_spans_later_and_one_that_refuses_does_not() {
    let moods = [Mood::Busy, Mood::Busy, Mood::Takes];
    for (moods, told_of) in [
        (&moods[..], "consort_spans_exported_total 3\n"),
        (&[Mood::Refuses], "consort_spans_dropped_total{reason=\"refused\"} 3\n"),
        (&[Mood::TakesBut(1)], "consort_spans_dropped_total{reason=\"refused\"} 1\n"),
    ] {
        let collector = Collector::with(moods);
        let mut owned = JoinSet::new();
        let options = collector.open(&mut owned).await;
        let engine = engine(says("done"), Capacity::UNLIMITED);
        let telemetry = told(&engine, &options);
        let here = start(server(engine, vec![task("a")])).await;
        completed(&here, "").await;
        for _expected in moods {
            collector.news.notified().await;
        }
        telemetry.close(PATIENCE).await;
        let metrics = here.get("/metrics").await.body;
        assert!(metrics.contains(told_of), "{told_of}: {metrics}");
        assert_eq!(collector.seen.lock().unwrap().len(), moods.len());
    }
}

#[tokio::test]
async fn a_collector_that_hangs_neither_slows_nor_loses_a_run() {
    let collector = Collector::with(&[Mood::Hangs; 100]);
    let mut owned = JoinSet::new();
    let options = Options { timeout: Duration::from_mins(10), ..collector.open(&mut owned).await };
    let engine = engine(says("done"), Capacity::UNLIMITED);
    let telemetry = told(&engine, &options);
    let here = start(server(engine, vec![task("a")])).await;
    completed(&here, "").await;
    collector.news.notified().await;
    for _run in 0..20 {
        completed(&here, "").await;
    }
    assert_eq!(collector.seen.lock().unwrap().len(), 1, "one request at a time");
    let began = std::time::Instant::now();
    telemetry.close(Duration::from_millis(50)).await;
    assert!(began.elapsed() < PATIENCE, "nor does it hold up the end");
}

/// Returns the fields of a protobuf message: numbers, and what they hold.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let varint = |bytes: &mut &[u8]| {
        let mut value = 0;
        let mut shift = 0;
        loop {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            shift += 7;
            if first & 0x80 == 0 {
                return value;
            }
        }
    };
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let length = match key & 7 {
            0 => {
                let value = varint(&mut bytes);
                found.push((key >> 3, value.to_be_bytes().to_vec()));
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(&mut bytes)).unwrap(),
            other => panic!("wire type {other}"),
        };
        let (value, rest) = bytes.split_at(length);
        found.push((key >> 3, value.to_vec()));
        bytes = rest;
    }
    found
}

/// Returns the values of one field.
fn each(bytes: &[u8], number: u64) -> Vec<Vec<u8>> {
    fields(bytes).into_iter().filter(|(known, _)| *known == number).map(|(_, value)| value).collect()
}

#[tokio::test]
async fn spans_go_out_as_protobuf_by_default_and_with_content_only_on_request() {
    for content in [false, true] {
        let collector = Collector::default();
        let mut owned = JoinSet::new();
        let json = collector.open(&mut owned).await;
        let options = Options { protocol: Protocol::default(), content, ..json };
        let engine = engine(says("done"), Capacity::UNLIMITED);
        let telemetry = told(&engine, &options);
        let here = start(server(engine, vec![task("a")])).await;
        completed(&here, "").await;
        telemetry.close(PATIENCE).await;

        let (_, headers, told) = collector.seen.lock().unwrap()[0].clone();
        assert_eq!(headers["content-type"], "application/x-protobuf");
        let bytes: Vec<u8> = serde_json::from_value(told["bytes"].clone()).unwrap();
        // ExportTraceServiceRequest.resource_spans.scope_spans.spans
        let spans = each(&each(&each(&bytes, 1)[0], 2)[0], 2);
        let names: Vec<String> = spans.iter().map(|span| String::from_utf8(each(span, 5).remove(0)).unwrap()).collect();
        assert_eq!(names, ["chat main", "invoke_agent Agent", "invoke_workflow test"]);
        let ids: Vec<_> = spans.iter().map(|span| (each(span, 1)[0].len(), each(span, 2)[0].len())).collect();
        assert_eq!(ids, [(16, 8); 3]);
        let parents: Vec<_> = spans.iter().map(|span| each(span, 4)).collect();
        assert_eq!((&parents[0][0], &parents[1][0]), (&each(&spans[1], 2)[0], &each(&spans[2], 2)[0]));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(text.contains("gen_ai.output.messages") && text.contains("Do a about x"), content, "{text}");
    }
}
