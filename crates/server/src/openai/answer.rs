//! The response to a request: streamed as it comes, or whole.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::http::HeaderValue;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::begin::{Edge, Throwaway, Work};
use super::completions::Completion;
use super::error::OpenAiError;
use super::head::{Head, Usage};
use super::request::ClientRequest;
use super::responses::Responding;
use super::step_writer::{Piece, StepWriter};
use super::steps::End;
use crate::once::Streamed;
use consort_inbound::problem::{Code, Problem};

/// The time that a response that is not streamed waits for its answer: official clients give up after it.
const PATIENCE: Duration = Duration::from_mins(10);
/// The header that keeps official clients from sending a request again whose work has begun.
const NO_RETRY: &str = "x-should-retry";

/// The form of an answer.
pub(super) enum Wire {
    Completion(Completion),
    Response(Responding),
}

/// The name of the form that a client asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Completion,
    Response,
}

impl Wire {
    fn begin(&mut self) -> Vec<sse::Event> {
        match self {
            Wire::Completion(completion) => vec![plain(&completion.begin())],
            Wire::Response(response) => response.begin().iter().map(named).collect(),
        }
    }

    fn piece(&mut self, piece: &Piece) -> Vec<sse::Event> {
        match self {
            Wire::Completion(completion) => completion.piece(piece).iter().map(plain).collect(),
            Wire::Response(response) => response.piece(piece).iter().map(named).collect(),
        }
    }

    fn end(&mut self, end: &End, usage: Usage) -> Vec<sse::Event> {
        match (self, end) {
            (Wire::Completion(_), End::Failed(problem)) => vec![plain(&json!(OpenAiError::of(problem))), done()],
            (Wire::Completion(completion), _) => completion.end(end, usage).iter().map(plain).chain([done()]).collect(),
            (Wire::Response(response), _) => response.end(end, usage).iter().map(named).collect(),
        }
    }

    fn whole(self, end: End, usage: Usage) -> Result<Response, Problem> {
        match (self, end) {
            (_, End::Failed(problem)) => Err(problem),
            (Wire::Completion(completion), end) => Ok(Json(completion.whole(end, usage)).into_response()),
            (Wire::Response(mut response), end) => {
                let last = response.end(&end, usage).pop();
                let whole = last.and_then(|(_, event)| event.get("response").cloned());
                Ok(Json(whole.unwrap_or_default()).into_response())
            }
        }
    }
}

fn plain(data: &Value) -> sse::Event {
    sse::Event::default().data(data.to_string())
}

fn named((name, data): &(&'static str, Value)) -> sse::Event {
    sse::Event::default().event(*name).data(data.to_string())
}

fn done() -> sse::Event {
    sse::Event::default().data("[DONE]")
}

/// An answer that is being given.
struct Answering {
    wire: Wire,
    pieces: BoxStream<'static, Piece>,
    usage: Count,
    throwaway: Option<Throwaway>,
}

/// Counts the usage of the work.
struct Count {
    id: std::sync::Arc<str>,
    engine: consort_runtime::engine::Engine,
}

impl Count {
    async fn usage(&self) -> Usage {
        match self.engine.run(&self.id).await {
            Ok(run) => run.totals().usage,
            Err(error) => {
                tracing::warn!(%error, run = %self.id, "the usage of an answer is unknown");
                Usage::default()
            }
        }
    }
}

/// Responds with the work's answer.
pub(super) async fn answered(edge: &Edge, asked: &ClientRequest, form: Form, work: Work) -> Result<Response, Problem> {
    let head = Head {
        id: work.id.to_string(),
        created: edge.site.now() / 1000,
        model: asked.model.clone(),
        thread: work.thread.clone(),
        warnings: asked.warnings.clone(),
    };
    let wire = match form {
        Form::Completion => Wire::Completion(Completion::new(head, asked.tells_usage)),
        Form::Response => Wire::Response(Responding::new(head, asked)),
    };
    let begun = match &work.thread {
        Some(thread) => json!({ "threadId": thread, "turnId": work.id }),
        None => json!({ "runId": work.id }),
    };
    let steps = work.steps.take_until(edge.site.closed());
    let pieces = steps.scan(StepWriter::default(), |writer, step| std::future::ready(Some(writer.take(step))));
    let pieces = pieces.flat_map(stream::iter).boxed();
    let usage = Count { id: work.id, engine: work.engine };
    let answering = Answering { wire, pieces, usage, throwaway: work.throwaway };
    if asked.stream {
        return Ok((Extension(Streamed(begun)), answering.streamed(edge)).into_response());
    }
    Ok(answering.whole().await.unwrap_or_else(|problem| {
        let mut response = problem.into_response();
        response.headers_mut().insert(NO_RETRY, HeaderValue::from_static("false"));
        response
    }))
}

impl Answering {
    fn streamed(mut self, edge: &Edge) -> Response {
        let counted = edge.site.streams.clone();
        let first: VecDeque<sse::Event> = self.wire.begin().into();
        let events = stream::unfold((Some(self), first), move |(mut answering, mut ready)| {
            let counted = counted.clone();
            async move {
                let _counted = counted;
                loop {
                    if let Some(event) = ready.pop_front() {
                        return Some((Ok::<_, Infallible>(event), (answering, ready)));
                    }
                    let mut going = answering.take()?;
                    let piece = going.pieces.next().await.unwrap_or_else(|| Piece::Ended(End::Failed(stopped())));
                    if let Piece::Ended(end) = piece {
                        ready.extend(going.wire.end(&end, going.usage.usage().await));
                        going.erase().await;
                    } else {
                        ready.extend(going.wire.piece(&piece));
                        answering = Some(going);
                    }
                }
            }
        });
        Sse::new(events).keep_alive(KeepAlive::default()).into_response()
    }

    async fn whole(mut self) -> Result<Response, Problem> {
        let until = Instant::now() + PATIENCE;
        let end = loop {
            let Ok(piece) = tokio::time::timeout_at(until, self.pieces.next()).await else {
                break self.still_going();
            };
            match piece {
                Some(Piece::Ended(end)) => break end,
                Some(piece) => drop(self.wire.piece(&piece)),
                None => break End::Failed(stopped()),
            }
        };
        let usage = self.usage.usage().await;
        if let Some(throwaway) = self.throwaway {
            throwaway.erase().await;
        }
        self.wire.whole(end, usage)
    }

    /// Sends the message that the work goes on without the client; returns the end of the answer.
    fn still_going(&mut self) -> End {
        let words = format!("Still working. It goes on without this request; its id is {}.", self.usage.id);
        drop(self.wire.piece(&Piece::Break));
        drop(self.wire.piece(&Piece::Words(words)));
        End::Waits
    }

    async fn erase(self) {
        if let Some(throwaway) = self.throwaway {
            throwaway.erase().await;
        }
    }
}

fn stopped() -> Problem {
    Problem::new(Code::Unavailable, "the server is stopping; the work goes on where it is started again")
}
