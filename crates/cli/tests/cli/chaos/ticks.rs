//! The runs of the schedule: one for each due time, whatever happened to the server.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::client::Client;

/// The time between two due times, in milliseconds, as the configuration says.
const EVERY_MS: i64 = 2_000;
/// The time within which a server that lives has decided about a due time, in milliseconds.
const DECIDED_MS: i64 = 5_000;

/// The promise about due times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DueTimes {
    /// Each begins one run, or finds the previous one active.
    Each,
    /// None begins two. A clock that jumps leaves some out, and while the disk fails nothing can begin.
    AtMostOnce,
}

/// The runs of the schedule.
pub(crate) struct Ticks(Vec<Tick>);

/// A run of the schedule, with its times in milliseconds.
struct Tick {
    run: String,
    due: i64,
    began: i64,
    ended: i64,
}

impl Ticks {
    /// Reads the runs, each of which must have ended.
    pub(crate) async fn read(client: &Client) -> Ticks {
        let mut ticks = Vec::new();
        for run in client.runs("schedule:tick").await {
            let id = run["runId"].as_str().unwrap().to_owned();
            let run = client.until(&format!("/api/runs/{id}"), |run| run["completedAt"].is_string()).await;
            let ended = millis(&run["completedAt"]);
            ticks.push(Tick { run: id, due: millis(&run["schedule"]["due"]), began: millis(&run["startedAt"]), ended });
        }
        Ticks(ticks)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the ids of the runs.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|tick| tick.run.as_str())
    }

    /// Checks that no due time has two runs, and that none was left out without a reason.
    pub(crate) fn check(&self, promise: DueTimes) {
        let mut due_times = BTreeMap::new();
        for tick in &self.0 {
            assert_eq!(tick.due % EVERY_MS, 0, "{} is of no due time", tick.run);
            let other = due_times.insert(tick.due, &tick.run);
            assert_eq!(other, None, "{} began {} for the same due time", tick.due, tick.run);
        }
        if promise == DueTimes::AtMostOnce {
            return;
        }
        let (Some((first, _)), Some((last, _))) = (due_times.first_key_value(), due_times.last_key_value()) else {
            return;
        };
        let mut due = *first;
        while due < *last {
            let was_active = |tick: &Tick| tick.began <= due + DECIDED_MS && tick.ended >= due;
            let is_begun = due_times.contains_key(&due);
            assert!(is_begun || self.0.iter().any(was_active), "{due} began no run, and no run was in its way");
            due += EVERY_MS;
        }
    }
}

fn millis(time: &Value) -> i64 {
    let text = time.as_str().unwrap_or_else(|| panic!("no time: {time}"));
    text.parse::<Timestamp>().unwrap().as_millisecond()
}
