//! What all runs show, in one place, for whoever watches them all. Every slot
//! of a run's ring also comes here, in the same order; between runs there is
//! no order but that of their commits. Costs nothing while nobody watches.

use std::sync::{Arc, OnceLock};

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::TryRecvError;

use crate::ring::Slot;

/// Slots kept for watchers: a second or two of a busy server. Who is further
/// behind than that is told so and starts again from the log.
const FEED_MAX: usize = 4096;

/// What one commit, or one word of a model, shows.
#[derive(Clone, Debug)]
pub struct News {
    /// Whose.
    pub run: Arc<str>,
    /// What.
    pub slot: Slot,
}

/// Some of what was shown is gone: read the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too far behind")]
pub struct Behind;

/// Everything that is shown from now on.
pub struct Feed(broadcast::Receiver<News>);

impl Feed {
    /// The next one, when there is one.
    pub async fn next(&mut self) -> Result<News, Behind> {
        self.0.recv().await.map_err(|_lagged| Behind)
    }

    /// The next one, if it is there already.
    pub fn waiting(&mut self) -> Result<Option<News>, Behind> {
        match self.0.try_recv() {
            Ok(news) => Ok(Some(news)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Lagged(_) | TryRecvError::Closed) => Err(Behind),
        }
    }

    /// Whether everything shown so far has been taken.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Where the runs of an engine show what they show; made for the first watcher.
#[derive(Clone, Default)]
pub(crate) struct Press(Arc<OnceLock<broadcast::Sender<News>>>);

impl Press {
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
