//! The tokens of a rate: each is the right to one request, which leaves within a moment or needs another token. Where
//! nodes share a rate, its tokens are taken from a note that all of them keep.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use consort_core::pace::{Beat, Pace};
use consort_log::Error;
use consort_log::cluster::{Cluster, Common};
use tokio::sync::{self, Notify};
use tokio::time::{Instant, sleep, sleep_until};

use super::Rate;
use crate::portion::{read, written};

/// The time whose tokens are taken at once from the note, if as many wait for them.
const BATCH: Duration = Duration::from_millis(250);
/// The pause after tokens could not be taken.
const PAUSE: Duration = Duration::from_millis(250);
/// The number of times that a note is read and replaced without a pause while others replace it too.
const TRIES: usize = 16;
/// The time in which a request leaves after its token came: a commit and a connection. Until it is known when it left,
/// it counts as if it did at the end of this time.
const LATE: Duration = Duration::from_millis(500);
/// The number of times that the time for leaving is doubled when a request had to take another token.
const DOUBLED_MAX: u32 = 6;

/// The bucket. Its queue is a mutex: the holder is next.
pub(super) struct Bucket {
    pub(super) rate: Rate,
    queue: sync::Mutex<()>,
    tokens: Mutex<Tokens>,
    /// Told when a request left, so that the next may leave earlier than it seemed.
    changed: Notify,
    /// The nodes that share it, and the name of its note.
    shared: Option<(Arc<dyn Cluster>, String)>,
    /// Held while the note is read and replaced, so that everything is told once.
    asking: sync::Mutex<()>,
    waiting: AtomicUsize,
    /// The beginning of the clock of a bucket that is not shared.
    began: Instant,
}

#[derive(Default)]
struct Tokens {
    /// The state of a rate that is not shared.
    pace: Option<Pace>,
    /// The tokens that can be spent, in the order of their times.
    taken: VecDeque<Taken>,
    /// The requests that left, which the note does not tell yet.
    left: Vec<Left>,
}

/// A request that left: the latest time at which it could, and the time at which it did.
struct Left {
    latest: u64,
    at: u64,
}

/// A token, by the clock of this process and by that of the rate.
#[derive(Clone, Copy)]
struct Taken {
    /// The time from which its request may leave.
    from: Instant,
    /// The time until which it may, on the safe side.
    until: Instant,
    latest: u64,
}

/// A token that was spent. Its request has left, will leave, or needs another one.
pub(super) struct Token {
    bucket: Arc<Bucket>,
    state: Mutex<Spent>,
}

#[derive(Clone, Copy)]
struct Spent {
    taken: Taken,
    has_left: bool,
    /// The number of tokens before it that were too late.
    renewed: u32,
}

/// The head of a bucket's queue, with a token that can be spent.
pub(super) struct Turn<'a> {
    bucket: &'a Arc<Bucket>,
    _head: sync::MutexGuard<'a, ()>,
}

/// Somebody who waits for a token.
struct Waiter<'a>(&'a AtomicUsize);

/// The time of the next token.
enum Next {
    Now,
    At(Instant),
    /// Other nodes must be asked.
    Unknown,
}

/// Waits for a token of a bucket, if there is one.
pub(super) async fn turn(bucket: Option<&Arc<Bucket>>) -> Option<Turn<'_>> {
    match bucket {
        Some(bucket) => Some(bucket.turn().await),
        None => None,
    }
}

impl Bucket {
    pub(super) fn new(rate: Rate, shared: Option<(Arc<dyn Cluster>, String)>) -> Bucket {
        Bucket {
            rate,
            queue: sync::Mutex::default(),
            tokens: Mutex::default(),
            changed: Notify::new(),
            shared,
            asking: sync::Mutex::default(),
            waiting: AtomicUsize::new(0),
            began: Instant::now(),
        }
    }

    async fn turn(self: &Arc<Self>) -> Turn<'_> {
        let _waiter = Waiter::new(&self.waiting);
        let head = self.queue.lock().await;
        loop {
            match self.next() {
                Next::Now => return Turn { bucket: self, _head: head },
                Next::At(time) => {
                    tokio::select! {
                        () = sleep_until(time) => {}
                        () = self.changed.notified() => {}
                    }
                }
                Next::Unknown => {
                    let wanted = self.waiting.load(Ordering::Relaxed) as u64;
                    let taken = self.reserve(wanted, LATE).await;
                    self.tokens().taken.extend(taken);
                }
            }
        }
    }

    pub(super) fn try_turn(self: &Arc<Self>) -> Option<Turn<'_>> {
        let head = self.queue.try_lock().ok()?;
        matches!(self.next(), Next::Now).then_some(Turn { bucket: self, _head: head })
    }

    /// Returns the time of the next token. Where nobody shares the rate, one that has come is taken.
    fn next(&self) -> Next {
        let now = Instant::now();
        let mut tokens = self.tokens();
        while tokens.taken.front().is_some_and(|taken| taken.until < now) {
            tokens.taken.pop_front();
        }
        match (tokens.taken.front(), &self.shared) {
            (Some(taken), _) if taken.from <= now => Next::Now,
            (Some(taken), _) => Next::At(taken.from),
            (None, Some(_)) => Next::Unknown,
            (None, None) => match self.take_own(&mut tokens, now, LATE) {
                Ok(taken) => {
                    tokens.taken.push_back(taken);
                    Next::Now
                }
                Err(time) => Next::At(time),
            },
        }
    }

    /// Takes a token that nobody shares, or returns the time when there is one.
    fn take_own(&self, tokens: &mut Tokens, now: Instant, late: Duration) -> Result<Taken, Instant> {
        let beat = self.beat(late);
        let time = micros(now - self.began);
        let pace = tokens.pace.get_or_insert_with(|| Pace::begin(time));
        let next = pace.next(beat, time);
        if next > time {
            return Err(self.began + Duration::from_micros(next));
        }
        let from = pace.grant(beat, time);
        Ok(Taken { from: now, until: now + late, latest: from.saturating_add(beat.late) })
    }

    /// Waits for another token for a request that did not leave in time.
    async fn renewed(&self, late: Duration) -> Taken {
        if self.shared.is_some() {
            loop {
                if let Some(taken) = self.reserve(1, late).await.into_iter().next() {
                    sleep_until(taken.from).await;
                    return taken;
                }
            }
        }
        let _head = self.queue.lock().await;
        loop {
            let time = match self.take_own(&mut self.tokens(), Instant::now(), late) {
                Ok(taken) => return taken,
                Err(time) => time,
            };
            tokio::select! {
                () = sleep_until(time) => {}
                () = self.changed.notified() => {}
            }
        }
    }

    /// Takes tokens from the note: as many as are waited for, but few, because they are lost if this node is. Returns
    /// none, after a pause, when that fails.
    async fn reserve(&self, wanted: u64, late: Duration) -> Vec<Taken> {
        let Some((cluster, name)) = &self.shared else { return Vec::new() };
        let many = wanted.min(micros(BATCH) / self.beat(late).drip()).max(1);
        let asked = match cluster.common() {
            Some(common) => self.ask(common, name, many, late).await,
            None => Err(Error::Unavailable("the node is alone".to_owned())),
        };
        match asked {
            Ok(taken) => taken,
            Err(error) => {
                tracing::debug!(name, %error, "no tokens of a rate that nodes share");
                sleep(PAUSE).await;
                Vec::new()
            }
        }
    }

    /// Takes so many tokens from the note, and tells it what has left.
    async fn ask(&self, common: &dyn Common, name: &str, many: u64, late: Duration) -> Result<Vec<Taken>, Error> {
        let beat = self.beat(late);
        let _asking = self.asking.lock().await;
        for _try in 0..TRIES {
            let asked = Instant::now();
            let note = common.note(name).await?;
            let now = note.now.saturating_mul(1_000);
            let before: Option<Pace> = read(name, note.text.as_deref());
            let mut pace = before.unwrap_or_else(|| Pace::begin(now));
            let told = self.tell(&mut pace);
            let times: Vec<u64> = (0..many).map(|_| pace.grant(beat, now)).collect();
            if common.replace(name, note.version, written(&pace)?).await? {
                self.tokens().left.drain(..told);
                // The note's time was that of some moment since it was asked for: the earliest one counts for the end,
                // and now for the beginning.
                let answered = Instant::now();
                let taken = |from: u64| {
                    let ahead = Duration::from_micros(from.saturating_sub(now));
                    Taken {
                        from: answered + ahead,
                        until: asked + ahead + late,
                        latest: from.saturating_add(beat.late),
                    }
                };
                return Ok(times.into_iter().map(taken).collect());
            }
        }
        Err(Error::Unavailable("other nodes take tokens all the time".to_owned()))
    }

    /// Tells a pace which requests have left; returns their number.
    fn tell(&self, pace: &mut Pace) -> usize {
        let tokens = self.tokens();
        tokens.left.iter().for_each(|left| pace.left(left.latest, left.at));
        tokens.left.len()
    }

    /// Tells other nodes what has left, so that they wait no longer than they must.
    pub(super) async fn settle(&self) -> Result<(), Error> {
        let Some((cluster, name)) = &self.shared else { return Ok(()) };
        let Some(common) = cluster.common().filter(|_| !self.tokens().left.is_empty()) else { return Ok(()) };
        self.ask(common, name, 0, LATE).await.map(drop)
    }

    /// Notes that a request left at this time, or that it never will.
    fn left(&self, taken: Taken, now: Instant) {
        let early = taken.until.saturating_duration_since(now);
        let at = taken.latest.saturating_sub(micros(early));
        let mut tokens = self.tokens();
        match (&mut tokens.pace, &self.shared) {
            (_, Some(_)) => tokens.left.push(Left { latest: taken.latest, at }),
            (Some(pace), None) => pace.left(taken.latest, at),
            (None, None) => {}
        }
        drop(tokens);
        self.changed.notify_one();
    }

    fn beat(&self, late: Duration) -> Beat {
        Beat { requests: self.rate.requests.get().into(), per: micros(self.rate.per), late: micros(late) }
    }

    fn tokens(&self) -> MutexGuard<'_, Tokens> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("rate", &self.rate).finish_non_exhaustive()
    }
}

impl Turn<'_> {
    /// Spends the token.
    pub(super) fn spend(self) -> Option<Token> {
        let taken = self.bucket.tokens().taken.pop_front()?;
        let state = Mutex::new(Spent { taken, has_left: false, renewed: 0 });
        Some(Token { bucket: self.bucket.clone(), state })
    }
}

impl Token {
    /// Returns whether its request may leave now.
    pub(super) fn is_valid(&self, now: Instant) -> bool {
        let state = self.state();
        !state.has_left && now <= state.taken.until
    }

    /// Notes that its request leaves.
    pub(super) fn leave(&self, now: Instant) {
        let taken = {
            let mut state = self.state();
            state.has_left = true;
            state.taken
        };
        self.bucket.left(taken, now);
    }

    /// Waits for another token in its place, which is valid for longer than the one before: where a request needs
    /// tokens of two rates, both are valid at the same time in the end.
    pub(super) async fn renew(&self) {
        let renewed = self.state().renewed.saturating_add(1);
        let late = LATE.saturating_mul(1 << renewed.min(DOUBLED_MAX));
        let taken = self.bucket.renewed(late).await;
        *self.state() = Spent { taken, has_left: false, renewed };
    }

    fn state(&self) -> MutexGuard<'_, Spent> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Token {
    /// Counts a request that was not made as if it had left now: others have waited for it.
    fn drop(&mut self) {
        let Spent { taken, has_left, .. } = *self.state();
        if !has_left {
            self.bucket.left(taken, Instant::now());
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("rate", &self.bucket.rate).finish_non_exhaustive()
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
