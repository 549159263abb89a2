//! Runs behind a web application: `POST /runs` starts one and streams its
//! events as they happen.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{self, Sse};
use axum::routing::post;
use axum::{Json, Router};
use consort::{Ensemble, Error, Event, Model, Task};
use futures::stream::{Stream, StreamExt};
use serde::Deserialize;

/// The body of a client's request.
#[derive(Deserialize)]
struct Wish {
    topic: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    println!("try: curl -N --json '{{\"topic\":\"tea\"}}' http://127.0.0.1:3000/runs");
    Ok(axum::serve(listener, app()?).await?)
}

/// Returns the application; its ensemble is shared by all requests.
pub(crate) fn app() -> Result<Router, Error> {
    let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write about {topic}")).build()?;
    Ok(Router::new().route("/runs", post(start)).with_state(ensemble))
}

async fn start(
    State(ensemble): State<Ensemble>,
    Json(wish): Json<Wish>,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Error>>>, (StatusCode, String)> {
    let refused = |error: Error| (StatusCode::BAD_REQUEST, error.to_string());
    let run = ensemble.start([("topic", wish.topic)]).await.map_err(refused)?;
    let events = run.events().await.map_err(refused)?;
    Ok(Sse::new(events.map(|event| event.map(|event| frame(&event)))))
}

fn frame(event: &Event) -> sse::Event {
    let frame = sse::Event::default().event(event.kind()).data(event.text());
    match event.seq() {
        Some(seq) => frame.id(seq.to_string()),
        None => frame,
    }
}
