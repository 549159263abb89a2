//! Quotas: the runs that an owner may have at once, and the cost of the runs that it begins on one day (UTC). The
//! cost of ended runs is kept apart from them, because ended runs are erased.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::catalog::NanoUsd;
use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_core::spec::Kind;
use consort_log::{self as log, Append, Log, Query, Record, Row};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex, MutexGuard};

use super::{Engine, Error};
use crate::register;

const DAY_MS: Millis = 24 * 60 * 60 * 1000;
/// The kind of the streams that hold what was spent.
const KIND: &str = "spending";
/// Records or rows that are read at once.
const PAGE: usize = 500;
/// The maximum number of pages: an owner with more runs on one day is counted by the newest of them.
const PAGES_MAX: usize = 200;
/// Tries to store what a run has cost while others store theirs.
const STORE_TRIES: usize = 16;

/// The limits of an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The owner; absent, the limits are those of each owner that has none of its own.
    pub owner: Option<Owner>,
    /// The maximum number of runs at once, those that wait included.
    pub max_concurrent_runs: Option<usize>,
    /// The maximum cost of the runs of one day.
    pub max_cost_per_day: Option<NanoUsd>,
}

/// The quotas of all owners.
pub(super) struct Quotas {
    quotas: Vec<Quota>,
    /// Held from the check to the storing of a run, so that two together do not take the same last place.
    gate: Mutex<()>,
}

/// The cost of an ended run, as it is stored.
#[derive(Serialize, Deserialize)]
struct Spent {
    run: String,
    nanos: NanoUsd,
}

/// The part of a run's row that is read here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Costs {
    cost_estimate: Option<Cost>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    input_cost: f64,
    output_cost: f64,
}

impl Engine {
    /// Sets the quotas of owners; they are set once.
    pub fn limit_owners(&self, quotas: Vec<Quota>) {
        if !quotas.is_empty() {
            let _set_before = self.0.quotas.set(Quotas { quotas, gate: Mutex::default() });
        }
    }

    fn quota(&self, owner: &Owner) -> Option<(&Quotas, &Quota)> {
        let all = self.0.quotas.get()?;
        let own = all.quotas.iter().find(|quota| quota.owner.as_ref() == Some(owner));
        own.or_else(|| all.quotas.iter().find(|quota| quota.owner.is_none())).map(|quota| (all, quota))
    }

    /// Returns a place within the quota of the owner, to be held until the run is stored, and what it may spend at
    /// most, if that is limited.
    pub(super) async fn place_in_quota(&self) -> Result<(Option<MutexGuard<'_, ()>>, Option<NanoUsd>), Error> {
        let owner = self.owner();
        let Some((all, quota)) = self.quota(&owner) else { return Ok((None, None)) };
        let place = all.gate.lock().await;
        self.check_running(quota, &owner).await?;
        Ok((Some(place), self.left(quota, &owner).await?))
    }

    async fn check_running(&self, quota: &Quota, owner: &Owner) -> Result<(), Error> {
        let Some(max) = quota.max_concurrent_runs else { return Ok(()) };
        let running = self.0.seams.log.list(Query { ended: Some(false), limit: 0, ..of(owner) }).await?.total;
        if running >= max { Err(Error::OwnerBusy { owner: owner.clone(), running: max }) } else { Ok(()) }
    }

    /// Returns what the owner may still spend today, if that is limited.
    async fn left(&self, quota: &Quota, owner: &Owner) -> Result<Option<NanoUsd>, Error> {
        let Some(max) = quota.max_cost_per_day else { return Ok(None) };
        let now = self.0.seams.clock.now();
        let left = max.saturating_sub(spent(&*self.0.seams.log, owner, now / DAY_MS).await?);
        match left {
            0 => Err(Error::OwnerSpent { owner: owner.clone(), retry_ms: DAY_MS - now % DAY_MS }),
            left => Ok(Some(left)),
        }
    }

    /// Stores what an ended run has cost, if its owner has a quota for that.
    pub(super) async fn note_spent(&self, id: &str, kind: Kind) {
        if kind != Kind::Run || self.0.quotas.get().is_none() {
            return;
        }
        if let Err(error) = self.try_note_spent(id).await {
            tracing::warn!(run = id, %error, "the cost of a run is not counted");
        }
    }

    async fn try_note_spent(&self, id: &str) -> Result<(), Error> {
        let run = self.run(id).await?;
        let nanos = run.totals().cost();
        let limited = self.quota(run.owner()).is_some_and(|(_, quota)| quota.max_cost_per_day.is_some());
        if !limited || !run.ended() || nanos == 0 {
            return Ok(());
        }
        let day = run.summary(id).started_at / DAY_MS;
        let log = &*self.0.seams.log;
        for _try in 0..STORE_TRIES {
            let (known, length) = ended(log, run.owner(), day).await?;
            if known.contains_key(id) {
                return Ok(());
            }
            match log.append(entry((run.owner(), day), length, &Spent { run: id.to_owned(), nanos })?).await {
                Err(log::Error::Fenced) => {}
                stored => return Ok(stored?),
            }
        }
        Ok(())
    }
}

fn of(owner: &Owner) -> Query {
    Query { kind: Some(Kind::Run.word().to_owned()), owner: Some(owner.clone()), ..Query::default() }
}

fn stream(owner: &Owner, day: Millis) -> Arc<str> {
    let digest = Sha256::digest(owner.as_str());
    let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{KIND}-{day}-{name}").into()
}

fn entry((owner, day): (&Owner, Millis), expected: u64, spent: &Spent) -> Result<Append, log::Error> {
    let at = day * DAY_MS;
    let row = Row {
        kind: KIND.into(),
        status: "OPEN".into(),
        owner: owner.clone(),
        started_at: at,
        ended_at: Some(at + DAY_MS),
        tags: BTreeMap::new(),
        body: "{}".into(),
        words: None,
    };
    let records = vec![Record { body: register::written(spent)?, attachments: Vec::new() }];
    Ok(Append::new(stream(owner, day), expected, records, row))
}

/// Returns the cost of the runs that were begun on a day and have ended, and the length of their list.
async fn ended(log: &dyn Log, owner: &Owner, day: Millis) -> Result<(BTreeMap<String, NanoUsd>, u64), log::Error> {
    let stream = stream(owner, day);
    let mut known = BTreeMap::new();
    let mut from = 0;
    for _page in 0..PAGES_MAX {
        let records = log.read(&stream, from, PAGE).await?;
        from += records.len() as u64;
        for record in &records {
            let Spent { run, nanos } = register::parse(&stream, &record.body)?;
            known.insert(run, nanos);
        }
        if records.len() < PAGE {
            break;
        }
    }
    Ok((known, from))
}

/// Returns the cost so far of all runs that an owner has begun on a day.
async fn spent(log: &dyn Log, owner: &Owner, day: Millis) -> Result<NanoUsd, log::Error> {
    let (known, _) = ended(log, owner, day).await?;
    let mut sum = known.values().fold(0, |sum: NanoUsd, nanos| sum.saturating_add(*nanos));
    for page in 0..PAGES_MAX {
        let rows = log.list(Query { offset: page * PAGE, limit: PAGE, ..of(owner) }).await?.rows;
        let today = rows.iter().take_while(|(_, row)| row.started_at / DAY_MS >= day);
        let mut counted = 0;
        for (run, row) in today {
            counted += 1;
            // What has not ended, and what ended while its cost could not be stored.
            if !known.contains_key(&**run) {
                sum = sum.saturating_add(cost(&row.body));
            }
        }
        if counted < PAGE {
            break;
        }
    }
    Ok(sum)
}

/// Returns the cost that a row tells.
fn cost(body: &str) -> NanoUsd {
    let costs = serde_json::from_str::<Costs>(body).ok().and_then(|costs| costs.cost_estimate);
    let usd = costs.map_or(0.0, |cost| cost.input_cost + cost.output_cost);
    // Rows tell dollars; a cost is far below the largest number that is exact.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast is saturating, costs are positive"
    )]
    let nanos = (usd * 1e9).round() as NanoUsd;
    nanos
}
