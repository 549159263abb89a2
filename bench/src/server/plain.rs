//! A bare server: one route that commits once, and one that passes events on.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::Stream;
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::broadcast;

use super::ours::{told, word};
use super::{PACE, TOKENS};

/// The number of events buffered for a watcher, as in Consort.
const KEPT: usize = 256;

#[derive(Clone)]
struct Plain {
    db: Arc<Mutex<Connection>>,
    words: broadcast::Sender<Arc<str>>,
}

pub(super) async fn serve() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let db = Connection::open(folder.path().join("plain.db"))?;
    // The same durability as Consort's own log.
    db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE runs (body TEXT)")?;
    let plain = Plain { db: Arc::new(Mutex::new(db)), words: broadcast::Sender::new(KEPT) };
    let app = Router::new().route("/commit", post(commit)).route("/events", get(events)).with_state(plain.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    tokio::select! {
        served = axum::serve(listener, app) => Ok(served?),
        ended = speak(plain.words) => ended,
    }
}

async fn commit(State(plain): State<Plain>, Json(body): Json<Value>) -> (StatusCode, Json<Value>) {
    let stored = tokio::task::spawn_blocking(move || {
        let db = plain.db.lock().unwrap_or_else(PoisonError::into_inner);
        db.execute("INSERT INTO runs VALUES (?1)", [body.to_string()])
    });
    let status = if matches!(stored.await, Ok(Ok(1))) { StatusCode::ACCEPTED } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({ "status": "ACCEPTED" })))
}

async fn events(State(plain): State<Plain>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let words = futures::stream::unfold(plain.words.subscribe(), async |mut words| {
        let text = words.recv().await.ok()?;
        Some((Ok(Event::default().event("token").data(&*text)), words))
    });
    Sse::new(words).keep_alive(KeepAlive::default())
}

/// Sends the words, at each signal of the parent, until the parent is gone.
async fn speak(words: broadcast::Sender<Arc<str>>) -> anyhow::Result<()> {
    let mut told = told();
    while told.recv().await.is_some() {
        let mut pace = tokio::time::interval(PACE);
        for _ in 0..TOKENS {
            pace.tick().await;
            let token = json!({ "type": "token", "runId": "run-0190a1b2c3d47e5f8091a2b3c4d5e6f7", "taskIndex": 1,
                "taskDescription": "Find out what the weather will be like today.", "agentRole": "Researcher",
                "turnId": "1", "iterationIndex": 0, "token": word(), "sentAt": "2026-01-01T00:00:00.000Z" });
            let _nobody_listens = words.send(token.to_string().into());
        }
    }
    Ok(())
}
