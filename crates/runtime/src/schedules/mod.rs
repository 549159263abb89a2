//! Schedules: runs of the ensemble or of a saved workflow that begin when they are due. [`definition`] is
//! the written schedule, [`timing`] computes its due times, [`plan`] decides the next step and `driver` takes it.
//! Schedules of the configuration cannot be changed over the API.

pub mod definition;
mod driver;
pub mod plan;
pub mod span;
mod stored;
pub mod timing;
mod view;

use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::mistake::{Code, Mistake};
use consort_core::owner::{Owner, Sight};
use consort_core::spec::BegunBy;
use consort_log::clock::Clock;
use consort_log::{self as log, Append, Log, Record, Row, Seq};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{Mutex, Notify};

use self::definition::Definition;
use self::plan::Decided;
pub use self::view::{LastView, ScheduleView, Source};
use crate::register::{Registers, written};
use crate::start::{self, Start, Started, Starter, WhenFull};

/// The kind of a schedule's stream, and how its name starts.
const KIND: &str = "schedule";
/// The kind of the registers that hold the progress of schedules.
const PROGRESS: &str = "schedule_progress";
/// Schedules kept at once: each is looked at whenever one of them is due.
const SCHEDULES_MAX: usize = 1_000;
/// Attempts to change a schedule that others change at the same moment.
const CHANGES_MAX: usize = 5;

/// A schedule of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Configured {
    /// The definition.
    pub definition: Definition,
    /// The owner of its runs.
    pub owner: Owner,
}

/// All schedules. Cheap to clone.
#[derive(Clone)]
pub struct Schedules(Arc<Shared>);

struct Shared {
    starter: Starter,
    log: Arc<dyn Log>,
    clock: Clock,
    configured: Vec<Configured>,
    progress: Registers,
    /// Held while progress is read, changed and stored.
    turn: Mutex<()>,
    /// Notified when a schedule was made, changed or triggered.
    changed: Notify,
}

/// A schedule with its state.
#[derive(Clone, Debug, PartialEq)]
struct Schedule {
    definition: Definition,
    owner: Owner,
    source: Source,
    paused: bool,
    /// The number of changes so far; the length of its stream.
    changes: Seq,
    /// The key of its streams: its name, or its owner and name where another owner has used the name before.
    key: String,
    /// The reason why its stored state cannot be read. Then nothing begins.
    damage: Option<String>,
}

/// The stored state of a schedule; of one of the configuration only whether it is paused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    definition: Option<Definition>,
    owner: Owner,
    paused: bool,
    changes: Seq,
}

/// A change of a schedule, as its stream records it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Change {
    at: Millis,
    by: String,
    kept: Kept,
}

/// The progress of a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Progress {
    decided: Decided,
    /// The timing as it was written: when it changes, the schedule begins anew.
    timing: String,
    /// The run that was begun last.
    #[serde(default)]
    previous: Option<String>,
    #[serde(default)]
    last: Option<Last>,
}

/// The outcome of a due time, or of a trigger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Last {
    at: Millis,
    due: Option<Millis>,
    run: Option<String>,
    status: LastStatus,
    error: Option<String>,
}

/// The outcome of a due time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LastStatus {
    /// A run was begun.
    Started,
    /// The previous run was still active.
    Skipped,
    /// No process was running, and it is not made up for.
    Missed,
    /// No run could be begun.
    Failed,
}

impl LastStatus {
    /// Returns its word, as clients read it.
    fn word(self) -> &'static str {
        match self {
            LastStatus::Started => "started",
            LastStatus::Skipped => "skipped",
            LastStatus::Missed => "missed",
            LastStatus::Failed => "failed",
        }
    }
}

/// The reason why a schedule cannot be found, made or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such schedule.
    #[error("No schedule named {0}")]
    NotFound(String),
    /// The name is taken.
    #[error("there is a schedule named {0} already: change that one, or use another name")]
    Exists(String),
    /// Several owners have a schedule of this name, and none of them is the caller.
    #[error("each of {owners} has a schedule named {name}: use a key of the owner that is meant")]
    Ambiguous {
        /// The name.
        name: String,
        /// The owners.
        owners: String,
    },
    /// A schedule of the configuration cannot be changed.
    #[error("schedule {0} is in the configuration: change it there; here it can be paused, resumed and triggered")]
    Configured(String),
    /// There are too many schedules.
    #[error("{SCHEDULES_MAX} schedules are the most; delete one first")]
    Full,
    /// The request is wrong.
    #[error("the schedule has mistakes")]
    Mistakes(Vec<Mistake>),
    /// No run could be started.
    #[error(transparent)]
    Start(#[from] start::Error),
    /// The log failed.
    #[error(transparent)]
    Log(#[from] log::Error),
}

impl Schedules {
    /// Creates the schedules of a configuration and of the log that the starter's engine uses.
    pub fn new(starter: Starter, configured: Vec<Configured>) -> Schedules {
        let seams = starter.engine().seams();
        let log = seams.log.clone();
        let clock = seams.clock;
        let progress = Registers::new(log.clone(), PROGRESS);
        Schedules(Arc::new(Shared {
            starter,
            log,
            clock,
            configured,
            progress,
            turn: Mutex::default(),
            changed: Notify::new(),
        }))
    }

    /// Returns the schedules that a caller sees, by name.
    pub async fn list(&self, sight: &Sight) -> Result<Vec<ScheduleView>, Error> {
        let mut schedules = self.all().await?;
        schedules.retain(|schedule| sight.covers(&schedule.owner));
        schedules.sort_by(|a, b| a.definition.name.cmp(&b.definition.name));
        let progress: Vec<(String, Progress)> = self.0.progress.all().await?;
        let last =
            |key: &str| progress.iter().find(|(of, _)| of == key).and_then(|(_, progress)| progress.last.clone());
        let now = self.0.clock.now();
        Ok(schedules.into_iter().map(|one| ScheduleView::of(one.clone(), last(&one.key), now)).collect())
    }

    /// Returns a schedule that a caller sees.
    pub async fn get(&self, sight: &Sight, name: &str) -> Result<ScheduleView, Error> {
        self.view(self.find(sight, name).await?).await
    }

    /// Makes a schedule, whose runs belong to this owner. Its name is its owner's: others may use it too, and do not
    /// learn of each other.
    pub async fn create(&self, json: &Value, owner: Owner, by: &str) -> Result<ScheduleView, Error> {
        let definition = Definition::read(json, self.0.clock.now()).map_err(Error::Mistakes)?;
        self.check_workflow(&definition).await?;
        for _attempt in 0..CHANGES_MAX {
            let all = self.all().await?;
            let name = &definition.name;
            if all.iter().any(|schedule| schedule.definition.name == *name && schedule.owner == owner) {
                return Err(Error::Exists(name.clone()));
            }
            if all.len() >= SCHEDULES_MAX {
                return Err(Error::Full);
            }
            let key = self.new_key(&all, name, &owner).await?;
            // First, so that a schedule that is there never begins with what was due before it was made.
            self.begin((&key, &definition), None).await?;
            let kept = Kept { definition: Some(definition.clone()), owner: owner.clone(), paused: false, changes: 0 };
            match self.store(&key, kept, by).await {
                // Somebody else has just used the key.
                Err(Error::Log(log::Error::Fenced)) => {}
                Ok(()) => return self.get(&Sight::Own(owner), name).await,
                Err(error) => return Err(error),
            }
        }
        Err(Error::Exists(definition.name))
    }

    /// Changes a schedule that was made over the API.
    pub async fn change(&self, sight: &Sight, name: &str, json: &Value, by: &str) -> Result<ScheduleView, Error> {
        let schedule = self.made_here(sight, name).await?;
        schedule.check()?;
        let definition = schedule.definition.changed(json, self.0.clock.now()).map_err(Error::Mistakes)?;
        self.check_workflow(&definition).await?;
        let change = |schedule: Schedule| Schedule { definition: definition.clone(), ..schedule };
        self.update((sight, name), by, change).await
    }

    /// Erases a schedule that was made over the API; its runs stay.
    pub async fn delete(&self, sight: &Sight, name: &str) -> Result<(), Error> {
        let schedule = self.made_here(sight, name).await?;
        self.0.log.erase(vec![stream(&schedule.key)]).await?;
        self.0.progress.erase(&schedule.key).await?;
        self.0.changed.notify_one();
        Ok(())
    }

    /// Begins nothing for a schedule until it is resumed.
    pub async fn pause(&self, sight: &Sight, name: &str, by: &str) -> Result<ScheduleView, Error> {
        self.update((sight, name), by, |schedule| Schedule { paused: true, ..schedule }).await
    }

    /// Goes on with a schedule; what was due meanwhile is not made up for.
    pub async fn resume(&self, sight: &Sight, name: &str, by: &str) -> Result<ScheduleView, Error> {
        let schedule = self.find(sight, name).await?;
        if schedule.paused {
            let _turn = self.0.turn.lock().await;
            let progress = self.stored_progress(&schedule.key).await?;
            self.begin((&schedule.key, &schedule.definition), progress).await?;
        }
        self.update((sight, name), by, |schedule| Schedule { paused: false, ..schedule }).await
    }

    /// Begins a run of a schedule at once, whatever else it does.
    pub async fn trigger(&self, sight: &Sight, name: &str) -> Result<Started, Error> {
        let schedule = self.find(sight, name).await?;
        schedule.check()?;
        let now = self.0.clock.now();
        let start = Start { claim: None, when_full: WhenFull::Refuse, ..schedule.start(now) };
        let started = self.0.starter.start(start).await?;
        let last = Last::started(now, now, &started);
        let _turn = self.0.turn.lock().await;
        let progress = self.stored_progress(&schedule.key).await?;
        let progress = progress.unwrap_or_else(|| Progress::begun(&schedule.definition, now));
        let previous = Some(started.run.to_string());
        self.0.progress.put(&schedule.key, &Progress { previous, last: Some(last), ..progress }, now).await?;
        Ok(started)
    }

    /// Returns a schedule that is seen and was made over the API.
    async fn made_here(&self, sight: &Sight, name: &str) -> Result<Schedule, Error> {
        let schedule = self.find(sight, name).await?;
        match schedule.source {
            Source::Api => Ok(schedule),
            Source::Config => Err(Error::Configured(name.to_owned())),
        }
    }

    /// Stores a change; tries again if another change was stored first.
    async fn update(
        &self,
        (sight, name): (&Sight, &str),
        by: &str,
        change: impl Fn(Schedule) -> Schedule,
    ) -> Result<ScheduleView, Error> {
        for _attempt in 0..CHANGES_MAX {
            let before = self.find(sight, name).await?;
            let changed = change(self.mend(before).await?);
            let kept = Kept {
                definition: matches!(changed.source, Source::Api).then(|| changed.definition.clone()),
                owner: changed.owner.clone(),
                paused: changed.paused,
                changes: changed.changes,
            };
            match self.store(&changed.key, kept, by).await {
                Err(Error::Log(log::Error::Fenced)) => {}
                Ok(()) => return self.view(changed).await,
                Err(error) => return Err(error),
            }
        }
        Err(log::Error::Fenced.into())
    }

    async fn view(&self, schedule: Schedule) -> Result<ScheduleView, Error> {
        let progress = self.stored_progress(&schedule.key).await?;
        let warnings = self.warnings(&schedule).await;
        let view = ScheduleView::of(schedule, progress.and_then(|progress| progress.last), self.0.clock.now());
        Ok(view.with(warnings))
    }

    /// Returns the reasons why its runs could not be begun at the moment.
    async fn warnings(&self, schedule: &Schedule) -> Vec<String> {
        let Schedule { definition, .. } = schedule;
        let request = json!({ "inputs": definition.inputs });
        let compiled = self.0.starter.compile(definition.workflow.as_deref(), &request).await;
        compiled.err().map(|error| format!("its runs cannot begin at the moment: {error}")).into_iter().collect()
    }

    async fn check_workflow(&self, definition: &Definition) -> Result<(), Error> {
        let Some(workflow) = &definition.workflow else { return Ok(()) };
        match self.0.starter.workflow(workflow).await {
            Ok(_) => Ok(()),
            Err(error @ (start::Error::UnknownWorkflow(_) | start::Error::AmbiguousWorkflow { .. })) => {
                Err(Error::Mistakes(vec![Mistake::new(Code::BadRequest, "workflow", error.to_string())]))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Notes that everything up to now is decided, so that only later due times count.
    async fn begin(
        &self,
        (key, definition): (&str, &Definition),
        progress: Option<Progress>,
    ) -> Result<(), log::Error> {
        let now = self.0.clock.now();
        let begun = Progress::begun(definition, now);
        let begun = match progress {
            Some(before) => Progress { previous: before.previous, last: before.last, ..begun },
            None => begun,
        };
        self.0.progress.put(key, &begun, now).await
    }

    async fn store(&self, key: &str, kept: Kept, by: &str) -> Result<(), Error> {
        let at = self.0.clock.now();
        let expected = kept.changes;
        let kept = Kept { changes: expected + 1, ..kept };
        let row = Row {
            kind: KIND.into(),
            status: if kept.paused { "PAUSED" } else { "OPEN" }.into(),
            owner: kept.owner.clone(),
            started_at: at,
            ended_at: None,
            tags: [].into(),
            body: written(&kept)?,
            words: None,
        };
        let record = Record { body: written(&Change { at, by: by.to_owned(), kept })?, attachments: Vec::new() };
        let stream = stream(key);
        let append = Append::new(stream, expected, vec![record], row);
        self.0.log.append(append).await?;
        self.0.changed.notify_one();
        Ok(())
    }
}

impl Schedule {
    /// Returns the start of the run that is due then.
    fn start(&self, due: Millis) -> Start {
        let Definition { name, workflow, inputs, .. } = &self.definition;
        let key = &self.key;
        Start {
            workflow: workflow.clone(),
            request: json!({ "inputs": inputs, "tags": { KIND: name } }),
            owner: self.owner.clone(),
            claim: Some(format!("schedule/{key}@{due}")),
            begun_by: Some(BegunBy::Schedule { name: name.clone(), due }),
            when_full: WhenFull::Queue,
        }
    }
}

impl Progress {
    /// Returns the progress of a schedule whose due times count from now on.
    fn begun(definition: &Definition, now: Millis) -> Progress {
        let decided = Decided { since: now, waiting: Vec::new() };
        Progress { decided, timing: written_timing(definition), previous: None, last: None }
    }
}

impl Last {
    fn started(at: Millis, due: Millis, started: &Started) -> Last {
        Last { at, due: Some(due), run: Some(started.run.to_string()), status: LastStatus::Started, error: None }
    }
}

fn stream(key: &str) -> Arc<str> {
    format!("{KIND}/{key}").into()
}

fn written_timing(definition: &Definition) -> String {
    json!([definition.cron, definition.every_ms, definition.timezone]).to_string()
}
