//! The feed of all runs in one place. Every entry of a run's ring also comes here, in
//! the same order; between runs the only order is that of their commits. A watcher gets
//! the runs that it sees. Costs nothing without watchers.

use std::sync::{Arc, OnceLock};

use consort_core::owner::{Owner, Sight};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::TryRecvError;

use crate::ring::CommitFrames;

/// Entries buffered for watchers: a second or two of a busy server. A watcher that is
/// further behind gets an error and starts again from the log.
const FEED_MAX: usize = 4096;

/// The frames of one commit, or one token of a model.
#[derive(Clone, Debug)]
pub struct News {
    /// The run.
    pub run: Arc<str>,
    /// The owner that sees it.
    pub seen_by: Owner,
    /// The frames.
    pub slot: CommitFrames,
}

/// The error of a watcher that has missed entries: read the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too far behind")]
pub struct Behind;

/// A subscription to the feed from now on, limited to the runs that its watcher sees.
pub struct Feed {
    news: broadcast::Receiver<News>,
    sight: Sight,
}

impl Feed {
    /// Returns the next entry, when there is one.
    pub async fn next(&mut self) -> Result<News, Behind> {
        loop {
            let news = self.news.recv().await.map_err(|_lagged| Behind)?;
            if self.sight.covers(&news.seen_by) {
                return Ok(news);
            }
        }
    }

    /// Returns the next entry, if it is there already.
    pub fn waiting(&mut self) -> Result<Option<News>, Behind> {
        loop {
            match self.news.try_recv() {
                Ok(news) if self.sight.covers(&news.seen_by) => return Ok(Some(news)),
                Ok(_unseen) => {}
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Lagged(_) | TryRecvError::Closed) => return Err(Behind),
            }
        }
    }

    /// Returns whether all entries so far have been taken.
    pub fn is_empty(&self) -> bool {
        self.news.is_empty()
    }
}

/// The sending side of the feed; its channel is created for the first watcher.
#[derive(Clone, Default)]
pub(crate) struct FeedSender(Arc<OnceLock<broadcast::Sender<News>>>);

impl FeedSender {
    /// Returns whether anybody watches.
    pub(crate) fn is_watched(&self) -> bool {
        self.0.get().is_some_and(|news| news.receiver_count() > 0)
    }

    /// Subscribes a watcher who sees this much.
    pub(crate) fn subscribe(&self, sight: Sight) -> Feed {
        Feed { news: self.0.get_or_init(|| broadcast::Sender::new(FEED_MAX)).subscribe(), sight }
    }
}

/// The sending side of the feed for one run.
#[derive(Clone)]
pub(crate) struct Publisher {
    pub(crate) run: Arc<str>,
    /// The owner that sees the run.
    pub(crate) seen_by: Owner,
    pub(crate) feed: FeedSender,
}

impl Publisher {
    pub(crate) fn is_watched(&self) -> bool {
        self.feed.is_watched()
    }

    pub(crate) fn publish(&self, slot: &CommitFrames) {
        if let Some(news) = self.feed.0.get() {
            let _nobody_watches =
                news.send(News { run: self.run.clone(), seen_by: self.seen_by.clone(), slot: slot.clone() });
        }
    }
}
