//! The feed of all runs in one place. Every entry of a run's ring also comes here, in
//! the same order; between runs the only order is that of their commits. Costs nothing
//! without watchers.

use std::sync::{Arc, OnceLock};

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::TryRecvError;

use crate::ring::Slot;

/// Entries buffered for watchers: a second or two of a busy server. A watcher that is
/// further behind gets an error and starts again from the log.
const FEED_MAX: usize = 4096;

/// The frames of one commit, or one token of a model.
#[derive(Clone, Debug)]
pub struct News {
    /// The run.
    pub run: Arc<str>,
    /// The frames.
    pub slot: Slot,
}

/// The error of a watcher that has missed entries: read the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too far behind")]
pub struct Behind;

/// A subscription to the feed from now on.
pub struct Feed(broadcast::Receiver<News>);

impl Feed {
    /// Returns the next entry, when there is one.
    pub async fn next(&mut self) -> Result<News, Behind> {
        self.0.recv().await.map_err(|_lagged| Behind)
    }

    /// Returns the next entry, if it is there already.
    pub fn waiting(&mut self) -> Result<Option<News>, Behind> {
        match self.0.try_recv() {
            Ok(news) => Ok(Some(news)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Lagged(_) | TryRecvError::Closed) => Err(Behind),
        }
    }

    /// Whether all entries so far have been taken.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The sending side of the feed; its channel is created for the first watcher.
#[derive(Clone, Default)]
pub(crate) struct FeedSender(Arc<OnceLock<broadcast::Sender<News>>>);

impl FeedSender {
    pub(crate) fn subscribe(&self) -> Feed {
        Feed(self.0.get_or_init(|| broadcast::Sender::new(FEED_MAX)).subscribe())
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.0.get().is_some_and(|news| news.receiver_count() > 0)
    }

    pub(crate) fn print(&self, run: &Arc<str>, slot: &Slot) {
        if let Some(news) = self.0.get() {
            let _nobody_watches = news.send(News { run: run.clone(), slot: slot.clone() });
        }
    }
}
