//! The news of a server: that its lists may look different now. Without a connection it
//! is tried again.

use std::time::Duration;

use futures::StreamExt;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::board::FeedState;
use crate::client::Client;

/// Frames after which a list looks different.
const TYPES: [&str; 19] = [
    "run_accepted",
    "ensemble_started",
    "ensemble_completed",
    "task_started",
    "task_completed",
    "task_failed",
    "metrics_snapshot",
    "cancel_requested",
    "run_paused",
    "run_resumed",
    "budget_raised",
    "model_failed",
    "model_retried",
    "review_requested",
    "review_decided",
    "review_timed_out",
    "review_closed",
    "tool_approval_request",
    "tool_approval_resolved",
];
/// The delay before the connection is tried again.
const AGAIN: Duration = Duration::from_secs(2);

/// The news.
pub(super) struct Feed {
    state: watch::Receiver<FeedState>,
    task: JoinHandle<()>,
}

impl Feed {
    /// Starts to listen, until this is dropped.
    pub(super) fn open(client: Client) -> Feed {
        let (sender, state) = watch::channel(FeedState::Polling);
        Feed { state, task: tokio::spawn(listen(client, sender)) }
    }

    /// Returns when something has changed.
    pub(super) async fn news(&mut self) {
        if self.state.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Returns whether changes are told at the moment.
    pub(super) fn feed_state(&self) -> FeedState {
        *self.state.borrow()
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(client: Client, sender: watch::Sender<FeedState>) {
    loop {
        if let Ok(mut news) = client.news(&TYPES).await {
            while news.next().await.is_some() {
                // Told each time: also a value that stays the same is news.
                sender.send_replace(FeedState::Live);
            }
        }
        sender.send_replace(FeedState::Polling);
        sleep(AGAIN).await;
    }
}
