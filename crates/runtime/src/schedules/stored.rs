//! The schedules as they are stored. The row of a schedule holds its state, and so does its newest record: where one of
//! them was damaged, the other is read. One of which neither can be read is listed, begins nothing and can be deleted.

use std::sync::Arc;

use consort_core::owner::{Owner, Sight};
use consort_log::{self as log, Query, Row, Seq};

use super::definition::{self, Definition};
use super::{Change, Configured, Error, KIND, Kept, Progress, SCHEDULES_MAX, Schedule, Schedules, Source, stream};
use crate::register::parse;

/// Changes of a schedule that are read at once.
const CHANGES: usize = 64;

/// The stored state of a schedule, with the key of its stream and the owner that its row names.
struct Found {
    key: String,
    owner: Owner,
    state: Result<Kept, String>,
}

impl Schedules {
    /// Returns the schedule of this name that a caller sees: the caller's own, else the only other one.
    pub(super) async fn find(&self, sight: &Sight, name: &str) -> Result<Schedule, Error> {
        let missing = || Error::NotFound(name.to_owned());
        if definition::name_mistake(name).is_some() {
            return Err(missing());
        }
        let mut seen = self.all().await?;
        seen.retain(|schedule| schedule.definition.name == name && sight.covers(&schedule.owner));
        let own = seen.iter().position(|schedule| schedule.owner == sight.owner());
        if own.is_none() && seen.len() > 1 {
            let mut owners: Vec<&str> = seen.iter().map(|schedule| schedule.owner.as_str()).collect();
            owners.sort_unstable();
            return Err(Error::Ambiguous { name: name.to_owned(), owners: owners.join(", ") });
        }
        seen.into_iter().nth(own.unwrap_or_default()).ok_or_else(missing)
    }

    /// Returns every schedule, those that cannot be read included.
    pub(super) async fn all(&self) -> Result<Vec<Schedule>, log::Error> {
        let mut found = self.stored().await?;
        let mut all = Vec::new();
        for configured in &self.0.configured {
            let key = configured_key(configured, &found);
            let place = found.iter().position(|found| found.key == key);
            let state = place.map(|place| found.swap_remove(place).state);
            all.push(Schedule::configured(configured, key, state));
        }
        let is_configured = |schedule: &Schedule| {
            let same =
                |one: &Configured| one.definition.name == schedule.definition.name && one.owner == schedule.owner;
            self.0.configured.iter().any(same)
        };
        all.extend(found.into_iter().filter_map(Schedule::made).filter(|schedule| !is_configured(schedule)));
        Ok(all)
    }

    /// Returns the key of a new schedule: its name, unless somebody has used that before.
    pub(super) async fn new_key(&self, all: &[Schedule], name: &str, owner: &Owner) -> Result<String, log::Error> {
        let qualified = qualified(name, owner);
        let is_taken = all.iter().any(|schedule| schedule.key == name || schedule.definition.name == name);
        // One that was configured once leaves its state behind.
        let query = Query { stream: Some(stream(name).to_string()), limit: 0, ..Query::default() };
        if is_taken || self.0.log.list(query).await?.total > 0 { Ok(qualified) } else { Ok(name.to_owned()) }
    }

    /// Returns the progress of a schedule. What cannot be read is begun anew: nothing is begun twice, because the claims
    /// remain.
    pub(super) async fn stored_progress(&self, key: &str) -> Result<Option<Progress>, log::Error> {
        match self.0.progress.get(key).await {
            Err(log::Error::Damaged { .. }) => Ok(None),
            found => found,
        }
    }

    /// Makes a schedule of the configuration writable again whose state cannot be read: the state goes. One that was
    /// made over the API has nothing but its state, and can only be deleted.
    pub(super) async fn mend(&self, schedule: Schedule) -> Result<Schedule, Error> {
        if schedule.damage.is_none() {
            return Ok(schedule);
        }
        match schedule.source {
            Source::Api => schedule.check().map(|()| schedule),
            Source::Config => {
                self.0.log.erase(vec![stream(&schedule.key)]).await?;
                Ok(Schedule { changes: 0, damage: None, ..schedule })
            }
        }
    }

    async fn stored(&self) -> Result<Vec<Found>, log::Error> {
        // As many as were ever paused or made: those of former configurations stay until their name is used.
        let query = Query { kind: Some(KIND.to_owned()), limit: SCHEDULES_MAX * 2, ..Query::default() };
        let mut found = Vec::new();
        for (stream, row) in self.0.log.list(query).await?.rows {
            let Some(key) = stream.strip_prefix("schedule/").map(str::to_owned) else { continue };
            let owner = row.owner.clone();
            let state = match self.state(&stream, &row).await {
                Ok(kept) => Ok(kept),
                Err(log::Error::Damaged { reason, .. }) => Err(reason),
                Err(error) => return Err(error),
            };
            found.push(Found { key, owner, state });
        }
        Ok(found)
    }

    /// Returns the state of a schedule from its row, else from its newest record.
    async fn state(&self, stream: &Arc<str>, row: &Row) -> Result<Kept, log::Error> {
        let damage = match parse(stream, &row.body) {
            Ok(kept) => return Ok(kept),
            Err(damage) => damage,
        };
        match self.newest(stream).await {
            Ok(Some(change)) => Ok(change.kept),
            Ok(None) | Err(log::Error::Damaged { .. }) => Err(damage),
            Err(error) => Err(error),
        }
    }

    async fn newest(&self, stream: &str) -> Result<Option<Change>, log::Error> {
        let mut length: Seq = 0;
        let mut newest = None;
        loop {
            let records = self.0.log.read(stream, length, CHANGES).await?;
            length += records.len() as Seq;
            let is_last = records.len() < CHANGES;
            newest = records.into_iter().next_back().or(newest);
            if is_last {
                return newest.map(|record| parse(stream, &record.body)).transpose();
            }
        }
    }
}

impl Schedule {
    /// Returns an error for a schedule that cannot be read.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.damage.clone().map_or(Ok(()), |reason| {
            Err(log::Error::Damaged { stream: stream(&self.key).to_string(), seq: 0, reason }.into())
        })
    }

    /// Returns a schedule of the configuration. Where it is not known whether it was paused, nothing begins.
    fn configured(configured: &Configured, key: String, state: Option<Result<Kept, String>>) -> Schedule {
        let Configured { definition, owner } = configured.clone();
        let source = Source::Config;
        let (paused, changes, damage) = match state {
            None => (false, 0, None),
            Some(Ok(kept)) => (kept.paused, kept.changes, None),
            Some(Err(reason)) => (true, 0, Some(reason)),
        };
        Schedule { definition, owner, source, paused, changes, key, damage }
    }

    /// Returns a schedule that was made over the API; none for the state of one that is not configured any more.
    fn made(found: Found) -> Option<Schedule> {
        let Found { key, owner, state } = found;
        let source = Source::Api;
        match state {
            Ok(Kept { definition, owner, paused, changes }) => {
                let definition = definition?;
                Some(Schedule { definition, owner, source, paused, changes, key, damage: None })
            }
            Err(reason) => {
                let name = key.rsplit('/').next().unwrap_or(&key);
                let definition = Definition::new(name);
                Some(Schedule { definition, owner, source, paused: true, changes: 0, key, damage: Some(reason) })
            }
        }
    }
}

/// Returns the key of a schedule of the configuration: its name, unless another owner has made one of that name.
fn configured_key(Configured { definition, owner }: &Configured, found: &[Found]) -> String {
    let name = &definition.name;
    let is_anothers = found.iter().any(|found| {
        let is_made = found.state.as_ref().map_or(true, |kept| kept.definition.is_some());
        found.key == *name && found.owner != *owner && is_made
    });
    if is_anothers { qualified(name, owner) } else { name.clone() }
}

/// Returns the key of a schedule whose name others have, too.
fn qualified(name: &str, owner: &Owner) -> String {
    format!("{owner}/{name}")
}
