//! Progress reports of work for a peer: the latest event, as a sentence, and
//! not more often than a person can read. Names are reported, contents are not.

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use consort_core::frame::live::{LiveFrame, ProgressPlace};
use consort_core::frame::numbered::EventFrame;
use consort_core::frame::run::Frame as RunFrame;
use consort_runtime::engine::Engine;
use consort_runtime::ring;
use futures::StreamExt;
use tokio::time::{Instant, sleep_until};

use crate::wire::{Frame, Progress};
use crate::work::Replies;

/// The minimum time between two reports about one request; the first one
/// comes after the same time, since work that ends by then needs none.
const EVERY: Duration = Duration::from_secs(1);

/// Reports the progress of a run for as long as this is polled.
pub(crate) async fn tell(engine: &Engine, run: &str, request_id: &str, replies: &Replies) -> Infallible {
    let Ok(mut frames) = engine.tail(run, 0).await else { return pending().await };
    let mut news = None;
    let mut due = Instant::now() + EVERY;
    loop {
        let ready = async {
            match news {
                Some(_) => sleep_until(due).await,
                None => pending().await,
            }
        };
        tokio::select! {
            frame = frames.next() => match frame {
                Some(Ok(frame)) => news = status_of(&frame).or(news),
                Some(Err(_)) | None => return pending().await,
            },
            () = ready => {
                if let Some((status, message)) = news.take() {
                    let status = Some(status.to_owned());
                    let message = Some(message);
                    let progress = Progress { request_id: request_id.to_owned(), status, message, percent_complete: None };
                    replies.send(Frame::TaskProgress(progress)).await;
                }
                due = Instant::now() + EVERY;
            }
        }
    }
}

/// Returns the status and the sentence about a frame for a peer, if it has any.
fn status_of(frame: &ring::Frame) -> Option<(&'static str, String)> {
    match frame {
        ring::Frame::Event { frame, .. } => match &**frame {
            EventFrame::Run(event) => event_said(&event.frame),
            EventFrame::Turn(_) => None,
        },
        ring::Frame::Delta { frame, .. } => live_said(frame),
        ring::Frame::Result { .. } => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a peer is told of the steps that take time")]
fn event_said(frame: &RunFrame) -> Option<(&'static str, String)> {
    Some(match frame {
        RunFrame::TaskStarted { task, .. } => ("RUNNING", format!("{} has begun", task.conversation.agent_role)),
        RunFrame::LlmIterationStarted { conversation, model, .. } => {
            ("RUNNING", format!("{} asks {model}", conversation.agent_role))
        }
        RunFrame::ModelRetried { call, .. } => ("RUNNING", format!("{} asks once more", call.conversation.agent_role)),
        RunFrame::ToolDispatched { conversation, tool_name, .. } => {
            ("RUNNING", format!("{} calls {tool_name}", conversation.agent_role))
        }
        RunFrame::ToolCalled { conversation, tool_name, .. } => {
            ("RUNNING", format!("{} has called {tool_name}", conversation.agent_role))
        }
        RunFrame::SubtaskStarted { conversation, .. } => {
            ("RUNNING", format!("{} has begun a subtask", conversation.agent_role))
        }
        RunFrame::DelegationStarted { delegation, .. } => {
            let by = delegation.delegating_agent_role.as_deref().unwrap_or_default();
            ("RUNNING", format!("{} works for {by}", delegation.worker_role))
        }
        RunFrame::ReviewRequested(_) => ("WAITING", "a person is asked".to_owned()),
        RunFrame::ReviewDecided { .. } | RunFrame::ReviewTimedOut { .. } => {
            ("RUNNING", "a person was asked".to_owned())
        }
        RunFrame::RunPaused { .. } => ("WAITING", "it is paused".to_owned()),
        RunFrame::CancelRequested { .. } => ("STOPPING", "it is being stopped".to_owned()),
        _ => return None,
    })
}

fn live_said(frame: &LiveFrame) -> Option<(&'static str, String)> {
    let LiveFrame::ToolProgress(progress) = frame else { return None };
    let (ProgressPlace::Run { tool_name: tool, .. } | ProgressPlace::Chat { name: tool, .. }) = &progress.call;
    Some(("RUNNING", format!("{tool}: {}", progress.message.as_deref().unwrap_or_default())))
}
