//! A schedule as clients see it.

use consort_core::frame::field::Iso;
use consort_core::id::Millis;
use consort_core::view::Damage;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::plan::{CatchUp, Overlap};
use super::{Last, LastStatus, Schedule, span};

/// Due times that are shown.
const NEXT: usize = 5;

/// The origin of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ScheduleSource")]
pub enum Source {
    /// The configuration.
    Config,
    /// A client.
    Api,
}

/// A schedule.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Schedule")]
pub struct ScheduleView {
    name: String,
    /// Five fields: minute, hour, day of month, month, day of week; null where there is an interval.
    cron: Option<String>,
    /// An interval such as `15m`, counted from the epoch; null where there is a pattern.
    every: Option<String>,
    /// The time zone of the pattern.
    timezone: String,
    /// The id or the name of a saved workflow; null: the ensemble.
    workflow: Option<String>,
    inputs: Map<String, Value>,
    overlap: Overlap,
    catch_up: CatchUp,
    /// The age of missed times that are still made up for.
    window: String,
    /// The longest delay after a due time, different for each.
    jitter: String,
    /// The owner of its runs.
    owner: String,
    /// The next due times; while it is paused nothing begins then.
    next: Vec<Iso>,
    last: Option<LastView>,
    paused: bool,
    /// Those of the configuration cannot be changed over the API.
    source: Source,
    /// The reasons why its runs could not begin at the moment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(flatten)]
    damage: Damage,
}

/// The outcome of the last due time, or of a trigger.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ScheduleLast")]
pub struct LastView {
    /// When that was.
    at: Iso,
    /// The due time; null where the start of the server found that its runs cannot begin.
    due: Option<Iso>,
    /// The run that was begun.
    run_id: Option<String>,
    status: LastStatus,
    /// The reason why no run was begun.
    error: Option<String>,
}

impl ScheduleView {
    pub(super) fn of(schedule: Schedule, last: Option<Last>, now: Millis) -> ScheduleView {
        let Schedule { definition, owner, source, paused, damage, .. } = schedule;
        let next = definition.timing(now).map(|timing| timing.upcoming(now, NEXT)).unwrap_or_default();
        ScheduleView {
            name: definition.name,
            cron: definition.cron,
            every: definition.every_ms.map(span::text),
            timezone: definition.timezone,
            workflow: definition.workflow,
            inputs: definition.inputs,
            overlap: definition.overlap,
            catch_up: definition.catch_up,
            window: span::text(definition.window_ms),
            jitter: span::text(definition.jitter_ms),
            owner: owner.to_string(),
            next: next.into_iter().map(Iso).collect(),
            last: last.map(LastView::of),
            paused,
            source,
            warnings: Vec::new(),
            damage: Damage::of(damage),
        }
    }

    pub(super) fn with(self, warnings: Vec<String>) -> ScheduleView {
        ScheduleView { warnings, ..self }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl LastView {
    fn of(last: Last) -> LastView {
        let Last { at, due, run, status, error } = last;
        LastView { at: Iso(at), due: due.map(Iso), run_id: run, status, error }
    }
}
