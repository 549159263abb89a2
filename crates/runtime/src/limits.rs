//! The permits that a run needs before it may call a model or a tool: one of the
//! model's slots, a token of every rate that applies, a tool's lock. Waiters are
//! served in the order of arrival; one that stops waiting has taken nothing. Nodes
//! that share a log share these limits too.

mod bucket;

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use consort_core::catalog::ToolInfo;
use consort_core::id::Millis;
use consort_log::cluster::Cluster;
use futures::future::{join, join_all};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use self::bucket::{Bucket, Token, Turn, turn};
use crate::portion::{Portion, Slot};

/// The time between two looks whether other nodes want slots that are held here.
const SETTLE_EVERY: Duration = Duration::from_millis(250);
/// The time between two questions for slots while somebody waits for one.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// The time after which a call of an unknown tool is over, if its node is gone.
const CALL_MS: Millis = 30_000;

/// A number of requests per duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The number of requests.
    pub requests: NonZeroU32,
    /// The duration.
    pub per: Duration,
}

/// A rate that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a rate: write a number of requests, `/`, and `s`, `min` or `hour`, such as `600/min`")]
pub struct BadRate(String);

/// Reads a rate such as `600/min`.
pub fn parse_rate(text: &str) -> Result<Rate, BadRate> {
    let bad = || BadRate(text.to_owned());
    let (requests, unit) = text.split_once('/').ok_or_else(bad)?;
    let requests = requests.trim().parse().map_err(|_not_a_number| bad())?;
    let seconds = match unit.trim() {
        "s" | "sec" | "second" => 1,
        "min" | "minute" => 60,
        "h" | "hour" => 3600,
        _ => return Err(bad()),
    };
    Ok(Rate { requests, per: Duration::from_secs(seconds) })
}

/// The default number of calls to one model of a provider at the same time: as many
/// as providers take from one customer without complaint.
pub const MAX_CONCURRENCY: NonZeroU32 = NonZeroU32::MIN.saturating_add(63);

/// The limits that all callers of a model share.
#[derive(Clone, Copy, Debug)]
pub struct ModelLimit {
    /// Calls that may be active at the same time.
    pub max_concurrency: NonZeroU32,
    /// The rate of calls.
    pub rate: Option<Rate>,
}

/// All limits of one server. Clones share them.
#[derive(Clone, Debug)]
pub struct Limits(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    models: HashMap<String, ModelGate>,
    ensemble: Option<Arc<Bucket>>,
    /// The locks that are held, waited for or told to other nodes; the rest is dropped when a new one is made.
    locks: Mutex<HashMap<String, Arc<Portion>>>,
    /// The nodes that share these limits; absent where this one is alone.
    among: Option<Among>,
}

/// The nodes that share limits.
struct Among {
    cluster: Arc<dyn Cluster>,
    /// The longest time that a call under each lock may take.
    timeouts: HashMap<String, Millis>,
    /// Wakes the task that asks for more.
    wanted: Arc<Notify>,
}

#[derive(Debug)]
struct ModelGate {
    limit: ModelLimit,
    slots: Arc<Portion>,
    rate: Option<Arc<Bucket>>,
}

/// Permission to call a model once. Dropping it frees the slot; the tokens are spent.
#[derive(Debug)]
#[must_use = "a permit that is dropped is given back"]
pub struct Permit {
    _slot: Option<Slot>,
    departure: Option<Departure>,
}

/// The tokens of a request, one of each rate that applies: all of them must be valid when it leaves.
#[derive(Clone, Debug)]
pub(crate) struct Departure(Arc<[Token]>);

/// A lock held until it is dropped.
#[derive(Debug)]
#[must_use = "a lock that is dropped is released"]
pub struct Lock {
    _held: Slot,
}

impl Limits {
    /// Creates limits per model alias, with the rate that all of them share.
    pub fn new(models: impl IntoIterator<Item = (String, ModelLimit)>, ensemble: Option<Rate>) -> Limits {
        let gate = |limit: ModelLimit| ModelGate {
            limit,
            slots: Arc::new(Portion::whole(slots(limit))),
            rate: limit.rate.map(|rate| Arc::new(Bucket::new(rate, None))),
        };
        Limits(Arc::new(Inner {
            models: models.into_iter().map(|(alias, limit)| (alias, gate(limit))).collect(),
            ensemble: ensemble.map(|rate| Arc::new(Bucket::new(rate, None))),
            locks: Mutex::default(),
            among: None,
        }))
    }

    /// Returns the same limits, shared with other nodes. The tools say how long their locks are held at most.
    pub(crate) fn among<'a>(
        &self,
        cluster: &Arc<dyn Cluster>,
        tools: impl Iterator<Item = &'a Arc<ToolInfo>>,
    ) -> Limits {
        let wanted: Arc<Notify> = Arc::default();
        let shared = |rate: Rate, name: String| Arc::new(Bucket::new(rate, Some((cluster.clone(), name))));
        let gate = |(alias, gate): (&String, &ModelGate)| {
            let slots =
                Portion::part(format!("model/{alias}"), (slots(gate.limit), 0), cluster.lease(), wanted.clone());
            let rate = gate.limit.rate.map(|rate| shared(rate, format!("rate/{alias}")));
            (alias.clone(), ModelGate { limit: gate.limit, slots: Arc::new(slots), rate })
        };
        let mut timeouts: HashMap<String, Millis> = HashMap::new();
        for (lock, info) in tools.filter_map(|info| Some((info.lock.clone()?, info))) {
            let longest = timeouts.entry(lock).or_default();
            *longest = info.timeout_ms.max(*longest);
        }
        Limits(Arc::new(Inner {
            models: self.0.models.iter().map(gate).collect(),
            ensemble: self.0.ensemble.as_ref().map(|bucket| shared(bucket.rate, "rate".to_owned())),
            locks: Mutex::default(),
            among: Some(Among { cluster: cluster.clone(), timeouts, wanted: wanted.clone() }),
        }))
    }

    /// Begins to ask other nodes for parts of the limits, as long as somebody uses them.
    pub(crate) fn share(&self) {
        let Some(wanted) = self.0.among.as_ref().map(|among| among.wanted.clone()) else { return };
        let limits = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            let mut pause = SETTLE_EVERY;
            loop {
                let _looked = timeout(pause, wanted.notified()).await;
                let Some(limits) = limits.upgrade() else { return };
                let has_waiters = limits.settle(false).await;
                pause = if has_waiters { ASK_EVERY } else { SETTLE_EVERY };
            }
        });
    }

    /// Gives back all that is not in use, because this node is about to stop.
    pub(crate) async fn leave(&self) {
        self.0.settle(true).await;
    }

    /// Returns permission to call this model now, if that is possible without waiting. A
    /// model without limits of its own is limited by the ensemble's rate alone.
    pub fn try_acquire(&self, alias: &str) -> Option<Permit> {
        let gate = self.0.models.get(alias);
        let slot = match gate {
            Some(gate) => Some(gate.slots.try_take()?),
            None => None,
        };
        let tokens = [gate.and_then(|gate| gate.rate.as_ref()), self.0.ensemble.as_ref()];
        let turns: Option<Vec<Turn<'_>>> = tokens.into_iter().flatten().map(Bucket::try_turn).collect();
        Some(Permit { _slot: slot, departure: Departure::new(turns?) })
    }

    /// Waits for permission to call this model.
    pub async fn acquire(&self, alias: &str) -> Permit {
        let gate = self.0.models.get(alias);
        let slot = match gate {
            Some(gate) => Some(gate.slots.clone().take().await),
            None => None,
        };
        // No token is spent before all are there: a wait that is dropped has cost nothing, and
        // a waiting model never holds up another one.
        let own = turn(gate.and_then(|gate| gate.rate.as_ref())).await;
        let shared = turn(self.0.ensemble.as_ref()).await;
        Permit { _slot: slot, departure: Departure::new(own.into_iter().chain(shared)) }
    }

    /// Returns the lock of this name, if it is free and has no waiters.
    pub fn try_lock(&self, name: &str) -> Option<Lock> {
        let held = self.named(name).try_take()?;
        Some(Lock { _held: held })
    }

    /// Waits for the lock of this name.
    pub async fn lock(&self, name: &str) -> Lock {
        Lock { _held: self.named(name).take().await }
    }

    fn named(&self, name: &str) -> Arc<Portion> {
        let mut locks = self.0.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(name) {
            return lock.clone();
        }
        // Names without holders or waiters are removed, so the map only holds names in use.
        locks.retain(|_, lock| Arc::strong_count(lock) > 1 || lock.is_noted());
        let lock = match &self.0.among {
            None => Portion::whole(1),
            Some(among) => {
                let linger = among.timeouts.get(name).copied().unwrap_or(CALL_MS);
                Portion::part(format!("lock/{name}"), (1, linger), among.cluster.lease(), among.wanted.clone())
            }
        };
        let lock = Arc::new(lock);
        locks.insert(name.to_owned(), lock.clone());
        lock
    }
}

impl Inner {
    /// Gives back what is too much of each limit, and asks for what is missing; returns whether somebody waits.
    async fn settle(&self, leaves: bool) -> bool {
        let Some(among) = &self.among else { return false };
        let locks: Vec<Arc<Portion>> =
            self.locks.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        let portions: Vec<Arc<Portion>> = self.models.values().map(|gate| gate.slots.clone()).chain(locks).collect();
        let settled = portions.iter().map(|portion| portion.settle(&*among.cluster, leaves));
        let rates = self.models.values().filter_map(|gate| gate.rate.as_ref()).chain(&self.ensemble);
        let told = rates.map(|bucket| bucket.settle());
        let (settled, told) = join(join_all(settled), join_all(told)).await;
        for error in settled.into_iter().chain(told).filter_map(Result::err) {
            tracing::debug!(%error, "cannot ask other nodes for their parts of a limit");
        }
        portions.iter().any(|portion| portion.has_waiters())
    }
}

impl Permit {
    /// Returns the tokens that must be valid when the request leaves; absent where no rate applies.
    pub(crate) fn departure(&self) -> Option<Departure> {
        self.departure.clone()
    }
}

impl Departure {
    fn new<'a>(turns: impl IntoIterator<Item = Turn<'a>>) -> Option<Departure> {
        let tokens: Arc<[Token]> = turns.into_iter().filter_map(Turn::spend).collect();
        (!tokens.is_empty()).then_some(Departure(tokens))
    }

    /// Returns whether the request may leave now; then it counts from now on.
    pub(crate) fn leave(&self) -> bool {
        let now = Instant::now();
        let may = self.0.iter().all(|token| token.is_valid(now));
        if may {
            self.0.iter().for_each(|token| token.leave(now));
        }
        may
    }

    /// Waits for other tokens in place of those that are not valid any more.
    pub(crate) async fn renew(&self) {
        for token in self.0.iter() {
            if !token.is_valid(Instant::now()) {
                token.renew().await;
            }
        }
    }
}

impl fmt::Debug for Among {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Among").finish_non_exhaustive()
    }
}

fn slots(limit: ModelLimit) -> usize {
    usize::try_from(limit.max_concurrency.get()).unwrap_or(usize::MAX >> 3)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use tokio::task::JoinSet;
    use tokio::time::{Instant, advance};

    use super::*;

    fn limit(slots: u32, rate: Option<&str>) -> ModelLimit {
        let rate = rate.map(|rate| parse_rate(rate).unwrap());
        ModelLimit { max_concurrency: NonZeroU32::new(slots).unwrap(), rate }
    }

    fn limits(models: &[(&str, ModelLimit)], ensemble: Option<&str>) -> Limits {
        let models = models.iter().map(|(alias, limit)| ((*alias).to_owned(), *limit));
        Limits::new(models, ensemble.map(|rate| parse_rate(rate).unwrap()))
    }

    fn ready(limits: &Limits, alias: &str) -> usize {
        std::iter::from_fn(|| limits.try_acquire(alias)).count()
    }

    #[test]
    fn rates_are_read_and_everything_else_is_refused_with_an_example() {
        for (text, requests, seconds) in
            [("600/min", 600, 60), ("5/s", 5, 1), ("1000 / hour", 1000, 3600), ("1/second", 1, 1), ("2/h", 2, 3600)]
        {
            let rate = parse_rate(text).unwrap();
            assert_eq!((rate.requests.get(), rate.per.as_secs()), (requests, seconds), "{text}");
        }
        for text in ["", "600", "0/min", "-1/s", "1.5/s", "600/day", "/min", "600/", "99999999999/s", "6 0/min"] {
            let error = parse_rate(text).unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")) && error.contains("600/min"), "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slot_is_free_again_when_its_permit_is_dropped() {
        let limits = limits(&[("m", limit(2, None))], None);
        let first = limits.try_acquire("m").unwrap();
        let _second = limits.acquire("m").await;
        assert!(limits.try_acquire("m").is_none());
        drop(first);
        assert!(limits.try_acquire("m").is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_bucket_starts_with_one_token_refills_evenly_and_holds_its_capacity() {
        let limits = limits(&[("m", limit(100, Some("4/s")))], None);
        assert_eq!(ready(&limits, "m"), 1);
        advance(Duration::from_millis(249)).await;
        assert_eq!(ready(&limits, "m"), 0);
        advance(Duration::from_millis(1)).await;
        assert_eq!(ready(&limits, "m"), 1);
        advance(Duration::from_millis(600)).await;
        assert_eq!(ready(&limits, "m"), 2);
        advance(Duration::from_millis(150)).await;
        assert_eq!(ready(&limits, "m"), 1);
        advance(Duration::from_secs(3600)).await;
        assert_eq!(ready(&limits, "m"), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_bucket_never_gives_more_than_its_rate_over_a_long_time() {
        let limits = limits(&[("m", limit(100, Some("7/s")))], None);
        let begun = Instant::now();
        for _ in 0..71 {
            drop(limits.acquire("m").await);
        }
        let took = begun.elapsed();
        assert!(took >= Duration::from_secs(10) && took < Duration::from_millis(10_010), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_leaves_late_counts_from_then_and_one_too_late_needs_another_token() {
        let limits = limits(&[("m", limit(100, Some("1/s")))], None);
        let begun = Instant::now();
        let departure = limits.acquire("m").await.departure().unwrap();
        advance(Duration::from_millis(400)).await;
        assert!(departure.leave());
        assert!(!departure.leave(), "another request needs another token");
        let next = limits.acquire("m").await.departure().unwrap();
        assert_eq!(begun.elapsed().as_millis(), 1_400);
        advance(Duration::from_millis(600)).await;
        assert!(!next.leave(), "the next one may leave before it");
        next.renew().await;
        assert!(next.leave());
        assert!(begun.elapsed() >= Duration::from_millis(2_900), "{:?}", begun.elapsed());
        drop(limits.acquire("m").await);
        assert!(begun.elapsed() >= Duration::from_millis(3_900), "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_of_two_rates_that_was_held_up_leaves_in_the_end() {
        let limits = limits(&[("m", limit(100, Some("1/s")))], Some("1/s"));
        let departure = limits.acquire("m").await.departure().unwrap();
        advance(Duration::from_secs(9)).await;
        let mut tries = 0;
        while !departure.leave() {
            departure.renew().await;
            tries += 1;
        }
        assert_eq!(tries, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_wait_are_served_in_the_order_of_arrival() {
        let limits = limits(&[("m", limit(2, Some("1/s")))], None);
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = JoinSet::new();
        for number in 0..20 {
            let limits = limits.clone();
            let order = order.clone();
            waiting.spawn(async move {
                let _permit = limits.acquire("m").await;
                order.lock().unwrap().push(number);
            });
            tokio::task::yield_now().await;
        }
        waiting.join_all().await;
        assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_overtakes_those_who_wait() {
        let limits = limits(&[("m", limit(5, Some("1/s")))], None);
        drop(limits.try_acquire("m").unwrap());
        let mut waiting = Box::pin(limits.acquire("m"));
        assert!(futures::poll!(&mut waiting).is_pending());
        advance(Duration::from_secs(1)).await;
        assert!(limits.try_acquire("m").is_none());
        assert!(waiting.now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn who_stops_waiting_has_taken_nothing() {
        let limits = limits(&[("m", limit(1, Some("1/s")))], Some("1/min"));
        drop(limits.try_acquire("m").unwrap());
        advance(Duration::from_secs(5)).await;
        let mut waiting = Box::pin(limits.acquire("m"));
        assert!(futures::poll!(&mut waiting).is_pending());
        drop(waiting);
        advance(Duration::from_secs(55)).await;
        assert_eq!(ready(&limits, "m"), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_waits_for_its_own_rate_does_not_hold_up_others() {
        let limits = limits(&[("slow", limit(5, Some("1/hour"))), ("fast", limit(5, None))], Some("10/s"));
        drop(limits.acquire("slow").await);
        let mut waiting = Box::pin(limits.acquire("slow"));
        assert!(futures::poll!(&mut waiting).is_pending());
        advance(Duration::from_millis(100)).await;
        assert!(limits.try_acquire("fast").is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn the_ensembles_rate_is_shared_by_all_models() {
        let limits = limits(&[("a", limit(5, None)), ("b", limit(5, None))], Some("1/s"));
        assert_eq!((ready(&limits, "a"), ready(&limits, "b"), ready(&limits, "unlisted")), (1, 0, 0));
        advance(Duration::from_secs(1)).await;
        assert_eq!((ready(&limits, "unlisted"), ready(&limits, "a")), (1, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_attempt_spends_no_token_of_the_other_rate() {
        let limits = limits(&[("m", limit(5, Some("2/s")))], Some("1/min"));
        drop(limits.try_acquire("m").unwrap());
        advance(Duration::from_secs(5)).await;
        assert_eq!(ready(&limits, "m"), 0);
        advance(Duration::from_secs(55)).await;
        assert_eq!(ready(&limits, "m"), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lock_is_exclusive_by_name_and_shared_by_clones() {
        let limits = limits(&[], None);
        let held = limits.clone().lock("stock").await;
        assert!(limits.try_lock("stock").is_none());
        assert!(limits.try_lock("shelf").is_some());
        let mut waiting = Box::pin(limits.lock("stock"));
        assert!(futures::poll!(&mut waiting).is_pending());
        drop(held);
        assert!(limits.try_lock("stock").is_none(), "the one who waits is next");
        drop(waiting.await);
        assert!(limits.try_lock("stock").is_some());
    }

    #[tokio::test]
    async fn names_nobody_uses_are_forgotten() {
        let limits = limits(&[], None);
        for number in 0..100 {
            drop(limits.lock(&format!("lock {number}")).await);
        }
        assert!(limits.0.locks.lock().unwrap().len() <= 1);
    }
}
