//! The words of a model on their way to watchers of its run's server and of another one: how much later the other one's
//! come, and how many go over one link. `CONSORT_NODE_WORDS` says how many words there are.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use consort_test_postgres::database;
use futures::future::join_all;
use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::trio::Trio;
use crate::dice::{number, say};

/// The words of every test run.
const WORDS: u64 = 200;
/// The time between two words of a model that is not in a hurry.
const SLOWLY: Duration = Duration::from_millis(4);
/// Runs whose models are in a hurry, at the same time.
const HURRIED: u64 = 4;
/// Words of a hurried model in one piece of its answer, as a network brings them.
const TOGETHER: u64 = 20;
/// The most by which half of the words may be later at another server: a poll of the database would take ten times as
/// long.
const LATE_MAX: Duration = Duration::from_millis(50);

/// The model, which begins its answers when it is told to.
#[derive(Clone)]
struct Speaker {
    words: u64,
    speaks: watch::Receiver<bool>,
}

fn piece(text: &str, end: Option<&str>) -> String {
    let piece = json!({ "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": end }] });
    format!("data: {piece}\n\n")
}

/// Returns the answer of a model: the words `0`, `1`, …, slowly or as fast as they are read.
fn answer(speaker: Speaker, is_hurried: bool) -> impl Stream<Item = Result<String, Infallible>> {
    let Speaker { words, mut speaks } = speaker;
    let together = if is_hurried { TOGETHER } else { 1 };
    let begin = stream::once(async move {
        speaks.wait_for(|speaks| *speaks).await.unwrap();
        Ok(String::new())
    });
    let pieces = (0..words).step_by(together as usize).map(move |from| {
        let words = from..words.min(from + together);
        words.map(|word| piece(&format!("{word} "), None)).collect::<String>()
    });
    let spoken = stream::iter(pieces).then(move |piece| async move {
        if !is_hurried {
            tokio::time::sleep(SLOWLY).await;
        }
        Ok(piece)
    });
    let end = stream::iter([Ok(piece("", Some("stop"))), Ok("data: [DONE]\n\n".to_owned())]);
    begin.chain(spoken).chain(end)
}

async fn speak(State(speaker): State<Speaker>, Json(asked): Json<Value>) -> Response {
    let is_hurried = asked["messages"].to_string().contains("hurry");
    ([("content-type", "text/event-stream")], Body::from_stream(answer(speaker, is_hurried))).into_response()
}

/// Reads the events of a run to their end; returns when each word came, in the order in which they did.
async fn listen(trio: &Trio, server: usize, run: &str) -> Vec<(u64, Instant)> {
    let answer = trio.events(server, &format!("/api/runs/{run}/events?events=token")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let mut bytes = answer.bytes_stream();
    let mut rest = Vec::new();
    let mut heard = Vec::new();
    while let Some(more) = bytes.next().await {
        rest.extend_from_slice(&more.unwrap());
        while let Some(end) = rest.windows(2).position(|two| two == b"\n\n") {
            let event: Vec<u8> = rest.drain(..end + 2).collect();
            let at = Instant::now();
            let Some(data) = event.strip_prefix(b"data: ").or_else(|| after_name(&event)) else { continue };
            let frame: Value = serde_json::from_slice(data).unwrap();
            if frame["type"] == "token" {
                let words = frame["token"].as_str().unwrap().split_whitespace();
                heard.extend(words.map(|word| (word.parse::<u64>().unwrap(), at)));
            }
        }
    }
    heard
}

/// Returns the data of an event that has a name or an id too.
fn after_name(event: &[u8]) -> Option<&[u8]> {
    let data = b"\ndata: ";
    let place = event.windows(data.len()).position(|found| found == data)?;
    Some(&event[place + data.len()..])
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() - 1) * percent / 100]
}

/// Starts a model and three servers that use it; returns what lets it speak.
async fn start(database: &consort_test_postgres::Database, words: u64) -> (Trio, watch::Sender<bool>) {
    let (speaks, speaking) = watch::channel(false);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let speaker = Speaker { words, speaks: speaking };
    let routes = Router::new().route("/v1/chat/completions", post(speak)).with_state(speaker);
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    let model = format!("[models.m]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{port}/v1'\n");
    (Trio::start(database, &model).await, speaks)
}

#[tokio::test(flavor = "multi_thread")]
async fn words_come_to_a_client_of_another_server_hardly_later_and_in_order() {
    let Some(database) = database().await else { return };
    let words = number("CONSORT_NODE_WORDS").unwrap_or(WORDS);
    let (trio, speaks) = start(&database, words).await;
    let run = trio.begin(0, &json!({ "tasks": [{ "name": "a", "description": "Count" }] })).await;
    let watching = join_all([listen(&trio, 0, &run), listen(&trio, 1, &run)]);
    let spoken = async {
        trio.until(0, &format!("/api/runs/{run}"), |run| run["status"] == "RUNNING").await;
        speaks.send_replace(true);
    };
    let (heard, ()) = futures::join!(watching, spoken);
    let all: Vec<u64> = (0..words).collect();
    for (server, heard) in heard.iter().enumerate() {
        let heard: Vec<u64> = heard.iter().map(|(word, _)| *word).collect();
        assert_eq!(heard, all, "every word once, in order, at server {server}");
    }
    let later = heard[0].iter().zip(&heard[1]).map(|((_, here), (_, there))| there.saturating_duration_since(*here));
    let mut later: Vec<Duration> = later.collect();
    later.sort();
    let half = percentile(&later, 50);
    let most = percentile(&later, 99);
    say(&format!("{words} words: at another server {half:?} later (p50), {most:?} (p99)"));
    assert!(half <= LATE_MAX, "half of the words are {half:?} later at another server");
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_many_runs_go_over_one_link_and_no_event_is_lost_for_them() {
    let Some(database) = database().await else { return };
    let words = 10 * number("CONSORT_NODE_WORDS").unwrap_or(WORDS);
    let (trio, speaks) = start(&database, words).await;
    let body = json!({ "tasks": [{ "name": "a", "description": "Count in a hurry" }] });
    let runs = join_all((0..HURRIED).map(|_run| trio.begin(0, &body))).await;
    let watching = join_all(runs.iter().map(|run| listen(&trio, 1, run)));
    let spoken = async {
        for run in &runs {
            trio.until(0, &format!("/api/runs/{run}"), |run| run["status"] == "RUNNING").await;
        }
        speaks.send_replace(true);
        Instant::now()
    };
    let (heard, began) = futures::join!(watching, spoken);
    let mut count = 0;
    let mut took = Duration::ZERO;
    for heard in &heard {
        // A watcher that is too slow may miss words, but those that it gets are in order.
        assert!(heard.windows(2).all(|two| two[0].0 < two[1].0), "words out of order");
        count += heard.len();
        took = took.max(heard.last().map_or(Duration::ZERO, |(_, at)| at.saturating_duration_since(began)));
    }
    let all = HURRIED * words;
    let pace = count as f64 / took.as_secs_f64();
    say(&format!("{count} of {all} words of {HURRIED} runs over one link in {took:?}: {pace:.0} a second"));
    assert!(count > 0, "no words came");
    for run in &runs {
        let ended = trio.until(1, &format!("/api/runs/{run}"), |run| run["status"] == "COMPLETED").await;
        let output = ended["output"].as_str().unwrap();
        assert_eq!(output.split_whitespace().count() as u64, words, "the stored answer has every word");
    }
}
