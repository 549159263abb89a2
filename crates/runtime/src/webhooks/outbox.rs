//! The outbox: deliveries as streams of the log. A delivery is stored before it is sent, under a name made of
//! its webhook and event, so that an event that is looked at twice is stored once. Ended runs are looked at
//! before they can be erased; what a kill left out is found when the process begins.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use consort_core::announcement::Announcement;
use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_core::run::Run;
use consort_http::outbound::Reach;
use consort_log::clock::Clock;
use consort_log::{self as log, Append, Log, Order, Query, Record, Row};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::Notify;

use super::delivery::{Attempt, Delivery, DeliveryStatus, DeliveryView};
use super::{Webhook, push};
use crate::meters::{Meter, Meters};
use crate::register::{Registers, parse, written};

/// The kind of a delivery's stream, and how its name starts.
const KIND: &str = "delivery";
/// The tag that names the webhook.
const WEBHOOK: &str = "webhook";
/// The register that holds until when every event was looked at.
const CURSOR: &str = "outbox";
/// The age at which deliveries are erased, and from which on events are not looked at any more.
pub(super) const KEEP_MS: Millis = 7 * 24 * 3_600_000;
/// Ended deliveries that are kept at most.
const KEEP_MAX: usize = 10_000;
/// Deliveries that may wait for one webhook: a day of a busy server. What comes then is dead at once.
const PENDING_MAX: usize = 10_000;
/// Rows read at once.
const PAGE: usize = 1_000;
/// The name under which all addresses that clients named are counted; no webhook has such a name.
const PUSHES: &str = "(a2a)";
/// The time by which the cursor stays behind, longer than looking at an event may take.
const CURSOR_LAG_MS: Millis = 60_000;

/// The deliveries to be sent. Cheap to clone.
#[derive(Clone)]
pub struct Outbox(Arc<Shared>);

struct Shared {
    log: Arc<dyn Log>,
    clock: Clock,
    webhooks: Vec<Webhook>,
    /// The addresses that clients may name for their tasks.
    reach: Reach,
    /// The addresses of single tasks.
    pushes: Registers,
    /// Whether there may be any.
    has_pushes: AtomicBool,
    cursor: Registers,
    meters: Meters,
    state: Mutex<State>,
    /// Notified when there is a run to look at.
    asked: Notify,
    /// Notified when there is something to send.
    wake: Notify,
}

#[derive(Default)]
struct State {
    /// Runs whose events are to be looked at: at most as many as there are.
    asking: BTreeSet<Arc<str>>,
    /// Runs whose events could not be looked at: those that ended or asked while the log failed.
    owed: BTreeSet<Arc<str>>,
    /// Deliveries by webhook and time of the next attempt: as many as may wait.
    due: HashMap<String, BTreeSet<(Millis, String)>>,
    /// Deliveries that are being sent: a few for each webhook.
    under_way: BTreeSet<String>,
}

/// The time until which every event was looked at.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Cursor {
    at: Millis,
}

/// The reason why there is no answer about a delivery.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such webhook.
    #[error("No webhook named {0}")]
    NoWebhook(String),
    /// There is no such delivery.
    #[error("No delivery with ID {0}")]
    NotFound(String),
    /// The log failed.
    #[error(transparent)]
    Log(#[from] log::Error),
}

/// A page of deliveries.
#[derive(Clone, Debug)]
pub struct Deliveries {
    /// The newest first.
    pub deliveries: Vec<DeliveryView>,
    /// All that match.
    pub total: usize,
}

impl Outbox {
    /// Creates the outbox of these webhooks, and of those that clients may name within this reach.
    pub(crate) fn new(
        (log, clock): (Arc<dyn Log>, Clock),
        meters: Meters,
        webhooks: Vec<Webhook>,
        reach: Reach,
    ) -> Outbox {
        let cursor = Registers::new(log.clone(), CURSOR);
        let pushes = Registers::new(log.clone(), push::KIND);
        let has_pushes = AtomicBool::new(false);
        let state = Mutex::default();
        let asked = Notify::new();
        let wake = Notify::new();
        Outbox(Arc::new(Shared { log, clock, webhooks, reach, pushes, has_pushes, cursor, meters, state, asked, wake }))
    }

    /// Returns the addresses that clients may name for their tasks.
    pub fn reach(&self) -> &Reach {
        &self.0.reach
    }

    pub(super) fn pushes(&self) -> &Registers {
        &self.0.pushes
    }

    /// Notes that there are addresses of single tasks.
    pub(super) fn expect_pushes(&self) {
        self.0.has_pushes.store(true, Ordering::Release);
    }

    /// Returns whether a task may have addresses.
    pub(crate) fn may_push(&self) -> bool {
        self.0.has_pushes.load(Ordering::Acquire)
    }

    /// Returns whether there is nobody to tell anything, as far as this process knows.
    pub(super) fn is_idle(&self) -> bool {
        self.0.webhooks.is_empty() && !self.may_push()
    }

    /// Returns the webhooks, in the order of the configuration.
    pub fn webhooks(&self) -> &[Webhook] {
        &self.0.webhooks
    }

    /// Says that a run has asked a person something.
    pub(crate) fn look_at(&self, run: &Arc<str>) {
        if !self.is_idle() {
            self.state().asking.insert(run.clone());
            self.0.asked.notify_one();
        }
    }

    pub(super) async fn store(
        &self,
        webhook: &str,
        (run, state): (&str, &Run),
        told: &Announcement,
    ) -> Result<(), log::Error> {
        let now = self.0.clock.now();
        let mut delivery = pending(webhook, run, told, now);
        if self.count(webhook, Some(false)).await? >= PENDING_MAX {
            let error = format!("{PENDING_MAX} deliveries waited for this webhook already");
            delivery.attempts.push(Attempt { at: now, status: None, error: Some(error) });
            (delivery.status, delivery.next_at) = (DeliveryStatus::Dead, None);
        }
        let record = Record { body: written(&told.body)?, attachments: Vec::new() };
        let append = self.append(&delivery, state.seen_by().clone(), (0, vec![record]))?;
        match self.0.log.append(append).await {
            // It was stored before.
            Err(log::Error::Fenced) => return Ok(()),
            stored => stored?,
        }
        if delivery.status == DeliveryStatus::Dead {
            self.count_attempt(&delivery);
        }
        self.wait_for(&delivery);
        Ok(())
    }

    /// Returns the append that stores a delivery.
    fn append(
        &self,
        delivery: &Delivery,
        owner: Owner,
        (expected, records): (u64, Vec<Record>),
    ) -> Result<Append, log::Error> {
        let is_pending = delivery.status == DeliveryStatus::Pending;
        let row = Row {
            kind: KIND.into(),
            status: delivery.status.word().into(),
            owner,
            started_at: delivery.at,
            ended_at: (!is_pending).then(|| self.0.clock.now()),
            tags: BTreeMap::from([(WEBHOOK.to_owned(), delivery.webhook.clone())]),
            body: written(delivery)?,
            words: None,
        };
        Ok(Append::new(stream(&delivery.id), expected, records, row))
    }

    /// Stores the outcome of an attempt, or that a delivery is tried again.
    pub(super) async fn update(&self, delivery: &Delivery, owner: Owner) -> Result<(), log::Error> {
        self.0.log.append(self.append(delivery, owner, (1, Vec::new()))?).await?;
        self.tried(&delivery.id);
        self.wait_for(delivery);
        Ok(())
    }

    /// Counts an attempt by what it led to.
    pub(super) fn count_attempt(&self, delivery: &Delivery) {
        let webhook = if push::is_push(&delivery.webhook) { PUSHES } else { &delivery.webhook };
        let labels = [("webhook", webhook), ("outcome", delivery.status.word())];
        self.0.meters.add(Meter::WebhookAttempts, &labels, 1);
    }

    /// Remembers when a delivery is tried next.
    pub(super) fn wait_for(&self, delivery: &Delivery) {
        if let Some(next_at) = delivery.next_at {
            // A clock that was set back makes no delivery wait longer than it would have.
            let tried_at = delivery.attempts.last().map_or(next_at, |attempt| attempt.at);
            let next_at = next_at.min(self.0.clock.now() + next_at.saturating_sub(tried_at));
            let mut state = self.state();
            if state.under_way.contains(&delivery.id) {
                return;
            }
            state.due.entry(delivery.webhook.clone()).or_default().insert((next_at, delivery.id.clone()));
            self.0.wake.notify_one();
        }
    }

    /// Returns a stored delivery with its owner.
    pub(super) async fn find(&self, id: &str) -> Result<(Delivery, Owner), Error> {
        let stream = stream(id).to_string();
        let query = Query { kind: Some(KIND.to_owned()), stream: Some(stream), limit: 1, ..Query::default() };
        let page = self.0.log.list(query).await?;
        let (stream, row) = page.rows.first().ok_or_else(|| Error::NotFound(id.to_owned()))?;
        Ok((parse(stream, &row.body)?, row.owner.clone()))
    }

    /// Returns the body of a delivery.
    pub(super) async fn body(&self, id: &str) -> Result<Option<Arc<str>>, log::Error> {
        Ok(self.0.log.read(&stream(id), 0, 1).await?.into_iter().next().map(|record| record.body))
    }

    /// Returns the deliveries of a webhook, the newest first.
    pub async fn deliveries(
        &self,
        webhook: &str,
        status: Option<&str>,
        (offset, limit): (usize, usize),
    ) -> Result<Deliveries, Error> {
        if !self.0.webhooks.iter().any(|known| known.name == webhook) {
            return Err(Error::NoWebhook(webhook.to_owned()));
        }
        let query = Query { status: status.map(str::to_owned), offset, limit, ..self.of(webhook) };
        let page = self.0.log.list(query).await?;
        let read = |(stream, row): &(Arc<str>, Row)| parse::<Delivery>(stream, &row.body).ok().map(Delivery::view);
        Ok(Deliveries { deliveries: page.rows.iter().filter_map(read).collect(), total: page.total })
    }

    /// Tries a delivery again, with the same id and body.
    pub async fn redeliver(&self, id: &str) -> Result<DeliveryView, Error> {
        let (delivery, owner) = self.find(id).await?;
        if !self.0.webhooks.iter().any(|known| known.name == delivery.webhook) {
            return Err(Error::NoWebhook(delivery.webhook));
        }
        let delivery = delivery.again(self.0.clock.now());
        self.update(&delivery, owner).await?;
        Ok(delivery.view())
    }

    /// Returns the number of deliveries of a webhook: those that ended, or those that wait.
    pub async fn count(&self, webhook: &str, ended: Option<bool>) -> Result<usize, log::Error> {
        Ok(self.0.log.list(Query { ended, ..self.of(webhook) }).await?.total)
    }

    fn of(&self, webhook: &str) -> Query {
        let tags = vec![(WEBHOOK.to_owned(), Some(webhook.to_owned()))];
        Query { kind: Some(KIND.to_owned()), tags, ..Query::default() }
    }

    /// Returns the runs whose events are to be looked at, also those for which the log failed before; they are not
    /// asked for again.
    pub(super) fn take_asking(&self) -> BTreeSet<Arc<str>> {
        let mut state = self.state();
        let mut asking = std::mem::take(&mut state.asking);
        asking.extend(state.owed.iter().cloned());
        asking
    }

    /// Waits until there is a run to look at.
    pub(super) async fn asked(&self) {
        self.0.asked.notified().await;
    }

    /// Notes whether the log failed when the events of a run were looked at, so that they are looked at again.
    pub(super) fn set_owed(&self, run: &str, is_owed: bool) {
        let mut state = self.state();
        match is_owed {
            true => {
                state.owed.insert(run.into());
                self.0.asked.notify_one();
            }
            false => drop(state.owed.remove(run)),
        }
    }

    /// Returns whether there are runs whose events could not be looked at.
    pub(crate) fn is_owing(&self) -> bool {
        !self.state().owed.is_empty()
    }

    /// Forgets deliveries that another process sends meanwhile, or has sent.
    pub(super) fn forget_due(&self) {
        let mut state = self.state();
        state.due.clear();
        state.under_way.clear();
    }

    /// Notes that a delivery is not being sent any more.
    pub(super) fn tried(&self, id: &str) {
        self.state().under_way.remove(id);
    }

    /// Takes the next delivery of a webhook that is due.
    pub(super) fn take_due(&self, webhook: &str) -> Option<String> {
        let mut state = self.state();
        let now = self.0.clock.now();
        let waiting = state.due.get_mut(webhook)?;
        let is_due = waiting.first().is_some_and(|(next_at, _)| *next_at <= now);
        let next = if is_due { waiting.pop_first().map(|(_, id)| id) } else { None };
        if waiting.is_empty() {
            state.due.remove(webhook);
        }
        state.under_way.extend(next.clone());
        next
    }

    /// Returns the names of the webhooks that something waits for.
    pub(super) fn awaited(&self) -> Vec<String> {
        self.state().due.keys().cloned().collect()
    }

    /// Returns the time at which a delivery is due next.
    pub(super) fn next_due(&self, is_free: impl Fn(&str) -> bool) -> Option<Millis> {
        let state = self.state();
        let free = state.due.iter().filter(|(webhook, _)| is_free(webhook));
        free.filter_map(|(_, waiting)| waiting.first().map(|(next_at, _)| *next_at)).min()
    }

    pub(super) fn clock(&self) -> Clock {
        self.0.clock
    }

    pub(super) async fn woken(&self) {
        self.0.wake.notified().await;
    }

    /// Finds deliveries that wait, also those that other nodes stored.
    pub(super) async fn find_waiting(&self) -> Result<(), log::Error> {
        for (stream, row) in self.rows(Query { ended: Some(false), ..all() }).await? {
            match parse::<Delivery>(&stream, &row.body) {
                Ok(delivery) => self.wait_for(&delivery),
                Err(error) => tracing::error!(%error, "a delivery cannot be read"),
            }
        }
        Ok(())
    }

    /// Returns the time until which every event was looked at, if any were.
    pub(super) async fn cursor(&self) -> Result<Option<Millis>, log::Error> {
        Ok(self.0.cursor.get("cursor").await?.map(|Cursor { at }| at))
    }

    /// Notes that everything but the newest events was looked at, and erases old deliveries.
    pub(super) async fn advance(&self) -> Result<(), log::Error> {
        let now = self.0.clock.now();
        // Without webhooks nothing was looked at for them; and what could not be looked at is not passed over.
        if !self.0.webhooks.is_empty() && !self.is_owing() {
            self.0.cursor.put("cursor", &Cursor { at: now.saturating_sub(CURSOR_LAG_MS) }, now).await?;
        }
        let old = |row: &Row| row.ended_at.unwrap_or(row.started_at) < now.saturating_sub(KEEP_MS);
        let ended = Query { ended: Some(true), order: Order::OldestEnd, limit: PAGE, ..all() };
        let page = self.0.log.list(ended).await?;
        let over = page.total.saturating_sub(KEEP_MAX);
        let erased = page.rows.iter().enumerate().filter(|(index, (_, row))| *index < over || old(row));
        let mut erased: Vec<Arc<str>> = erased.map(|(_, (stream, _))| stream.clone()).collect();
        // Those of webhooks that are not configured any more wait for nothing.
        let waiting = Query { ended: Some(false), order: Order::OldestStart, limit: PAGE, ..all() };
        let waiting = self.0.log.list(waiting).await?.rows;
        erased.extend(waiting.iter().filter(|(_, row)| old(row)).map(|(stream, _)| stream.clone()));
        if erased.is_empty() { Ok(()) } else { self.0.log.erase(erased).await }
    }

    pub(super) async fn rows(&self, query: Query) -> Result<Vec<(Arc<str>, Row)>, log::Error> {
        let mut rows = Vec::new();
        loop {
            let page = self.0.log.list(Query { offset: rows.len(), limit: PAGE, ..query.clone() }).await?.rows;
            let is_last = page.len() < PAGE;
            rows.extend(page);
            if is_last {
                return Ok(rows);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn all() -> Query {
    Query { kind: Some(KIND.to_owned()), ..Query::default() }
}

/// Returns the delivery of an announcement that is to be sent now.
fn pending(webhook: &str, run: &str, told: &Announcement, now: Millis) -> Delivery {
    Delivery {
        id: id(webhook, run, told.seq),
        webhook: webhook.to_owned(),
        topic: told.topic,
        run: run.to_owned(),
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        failures: 0,
        next_at: Some(now),
        at: told.at,
    }
}

/// Returns the id of the message about an event for a webhook: the same whenever it is computed.
fn id(webhook: &str, run: &str, seq: u64) -> String {
    let hash = Sha256::digest(format!("{webhook}\n{run}\n{seq}"));
    let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("msg_{hex}")
}

fn stream(id: &str) -> Arc<str> {
    format!("{KIND}/{id}").into()
}
