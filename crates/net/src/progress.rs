//! How far work for a peer is, told while it lasts: what happened last, in a
//! sentence, and not more often than anybody can read. Names are told, what
//! was said and found is not.

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use consort_runtime::engine::Engine;
use consort_runtime::ring;
use futures::StreamExt;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::wire::{Frame, Progress};
use crate::work::Replies;

/// The shortest time between two words about one request, the first of which
/// comes after the same time: what is done by then needs none.
const EVERY: Duration = Duration::from_secs(1);

/// Tells how far a run is for as long as this is polled.
pub(crate) async fn tell(engine: &Engine, run: &str, request_id: &str, replies: &Replies) -> Infallible {
    let Ok(mut frames) = engine.tail(run, 0).await else { return pending().await };
    let (mut news, mut due) = (None, Instant::now() + EVERY);
    loop {
        let ready = async {
            match news {
                Some(_) => sleep_until(due).await,
                None => pending().await,
            }
        };
        tokio::select! {
            frame = frames.next() => match frame {
                Some(Ok(frame)) => news = said(&frame).or(news),
                Some(Err(_)) | None => return pending().await,
            },
            () = ready => {
                if let Some((status, message)) = news.take() {
                    let (status, message) = (Some(status.to_owned()), Some(message));
                    let progress = Progress { request_id: request_id.to_owned(), status, message, percent_complete: None };
                    replies.send(Frame::TaskProgress(progress)).await;
                }
                due = Instant::now() + EVERY;
            }
        }
    }
}

/// What a frame says about how far a run is, in a word and in a sentence.
fn said(frame: &ring::Frame) -> Option<(&'static str, String)> {
    let frame: Value = serde_json::from_str(frame.text()).ok()?;
    let word = |name: &str| frame.get(name).and_then(Value::as_str).unwrap_or_default();
    let who = word("agentRole");
    Some(match word("type") {
        "task_started" => ("RUNNING", format!("{who} has begun")),
        "llm_iteration_started" => ("RUNNING", format!("{who} asks {}", word("model"))),
        "model_retried" => ("RUNNING", format!("{who} asks once more")),
        "tool_dispatched" => ("RUNNING", format!("{who} calls {}", word("toolName"))),
        "tool_called" => ("RUNNING", format!("{who} has called {}", word("toolName"))),
        "tool_progress" => ("RUNNING", format!("{}: {}", word("toolName"), word("message"))),
        "subtask_started" => ("RUNNING", format!("{who} has begun a subtask")),
        "delegation_started" => ("RUNNING", format!("{} works for {who}", word("workerRole"))),
        "review_requested" => ("WAITING", "a person is asked".to_owned()),
        "review_decided" | "review_timed_out" => ("RUNNING", "a person was asked".to_owned()),
        "run_paused" => ("WAITING", "it is paused".to_owned()),
        "cancel_requested" => ("STOPPING", "it is being stopped".to_owned()),
        _ => return None,
    })
}
