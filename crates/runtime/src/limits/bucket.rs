//! A token bucket: tokens arrive evenly, up to `requests` of them; one is there at the start. Where nodes
//! share it, its tokens are taken from a note that all of them keep.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use consort_core::share::{Beat, Pace};
use consort_log::Error;
use consort_log::cluster::Cluster;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep, sleep_until};

use super::Rate;
use crate::portion::{read, written};

/// The time whose tokens are taken at once from the note, if as many wait for them.
const BATCH: Duration = Duration::from_millis(250);
/// The pause after tokens could not be taken.
const PAUSE: Duration = Duration::from_millis(250);
/// The number of times that a note is read and replaced without a pause while others replace it too.
const TRIES: usize = 16;

/// The bucket. The mutex is the queue: its holder is next.
pub(super) struct Bucket {
    pub(super) rate: Rate,
    drip: Duration,
    hoard: Duration,
    tokens: Mutex<Tokens>,
    /// The nodes that share it, and the name of its note.
    shared: Option<(Arc<dyn Cluster>, String)>,
    waiting: AtomicUsize,
}

/// The tokens that are there, or are about to come.
#[derive(Clone, Copy)]
struct Tokens {
    /// The time when the oldest unspent token arrived, or the next one will.
    next: Instant,
    /// The tokens from then on that are this node's, where it shares the bucket.
    own: u64,
}

/// The head of a bucket's queue, with a token that can be spent.
pub(super) struct Turn<'a> {
    bucket: &'a Bucket,
    tokens: MutexGuard<'a, Tokens>,
}

/// Somebody who waits for a token.
struct Waiter<'a>(&'a AtomicUsize);

/// Waits for a token of a bucket, if there is one.
pub(super) async fn turn(bucket: Option<&Bucket>) -> Option<Turn<'_>> {
    match bucket {
        Some(bucket) => Some(bucket.turn().await),
        None => None,
    }
}

impl Bucket {
    pub(super) fn new(rate: Rate, shared: Option<(Arc<dyn Cluster>, String)>) -> Bucket {
        let nanos = rate.per.as_nanos().div_ceil(u128::from(rate.requests.get()));
        let drip = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let hoard = drip.saturating_mul(rate.requests.get() - 1);
        let tokens = Mutex::new(Tokens { next: Instant::now(), own: 0 });
        Bucket { rate, drip, hoard, tokens, shared, waiting: AtomicUsize::new(0) }
    }

    async fn turn(&self) -> Turn<'_> {
        let _waiter = Waiter::new(&self.waiting);
        let mut tokens = self.tokens.lock().await;
        if let Some((cluster, name)) = &self.shared {
            while tokens.own == 0 {
                match self.reserve(&**cluster, name).await {
                    Ok(reserved) => *tokens = reserved,
                    Err(error) => {
                        tracing::debug!(name, %error, "no tokens of a rate that nodes share");
                        sleep(PAUSE).await;
                    }
                }
            }
        }
        sleep_until(tokens.next).await;
        Turn { bucket: self, tokens }
    }

    pub(super) fn try_turn(&self) -> Option<Turn<'_>> {
        let tokens = self.tokens.try_lock().ok()?;
        let is_there = tokens.next <= Instant::now() && (self.shared.is_none() || tokens.own > 0);
        is_there.then_some(Turn { bucket: self, tokens })
    }

    /// Takes tokens from the note: as many as are waited for, but few, because they are lost if this node is.
    async fn reserve(&self, cluster: &dyn Cluster, name: &str) -> Result<Tokens, Error> {
        let Some(common) = cluster.common() else { return Ok(Tokens { next: Instant::now(), own: 1 }) };
        let drip = micros(self.drip).max(1);
        let beat = Beat { drip, hoard: micros(self.hoard) };
        let waiting = self.waiting.load(Ordering::Relaxed) as u64;
        let own = waiting.min(micros(BATCH) / drip).max(1);
        for _try in 0..TRIES {
            let note = common.note(name).await?;
            let now = note.now.saturating_mul(1_000);
            let before: Option<Pace> = read(name, note.text.as_deref());
            let (first, pace) = Pace::take(before, beat, now, own);
            if common.replace(name, note.version, written(&pace)?).await? {
                // Counted from the answer, which came later than the time that it tells.
                let here = Instant::now();
                let ahead = Duration::from_micros(first.saturating_sub(now));
                let past = here.checked_sub(Duration::from_micros(now.saturating_sub(first)));
                return Ok(Tokens { next: past.unwrap_or(here) + ahead, own });
            }
        }
        Err(Error::Unavailable("other nodes take tokens all the time".to_owned()))
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("rate", &self.rate).finish_non_exhaustive()
    }
}

impl Turn<'_> {
    /// Spends the token. A bucket never holds tokens older than `hoard`.
    pub(super) fn spend(mut self) {
        let oldest = Instant::now().checked_sub(self.bucket.hoard);
        let spent = oldest.map_or(self.tokens.next, |oldest| oldest.max(self.tokens.next));
        self.tokens.next = spent + self.bucket.drip;
        self.tokens.own = self.tokens.own.saturating_sub(1);
    }
}

impl<'a> Waiter<'a> {
    fn new(waiting: &'a AtomicUsize) -> Waiter<'a> {
        waiting.fetch_add(1, Ordering::Relaxed);
        Waiter(waiting)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
