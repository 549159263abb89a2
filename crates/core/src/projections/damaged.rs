//! A run that cannot be read, as lists and its detail show it: all that its row still holds, in the same
//! shape as any other run, and the reason.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::projections::view::StoredRow;
use crate::state::run::Run;
use consort_spec::id::Millis;
use consort_spec::time::iso;

/// The row of a run whose events, or whose row itself, cannot be read.
#[derive(Clone, Copy, Debug)]
pub struct DamagedRun<'a> {
    /// The id of the run.
    pub run: &'a str,
    /// Its row, as far as it can be read.
    pub row: &'a str,
    /// The last known status.
    pub status: &'a str,
    /// The time at which it was submitted.
    pub started_at: Millis,
    /// Its labels.
    pub tags: &'a BTreeMap<String, String>,
    /// Its owner.
    pub owner: &'a str,
    /// The reason why it cannot be read.
    pub reason: &'a str,
}

impl DamagedRun<'_> {
    /// Returns the run as in a list.
    pub fn listed(&self) -> StoredRow {
        self.over(json!(Run::default().summary(self.run).row))
    }

    /// Returns the run's detail: nothing is known of its tasks.
    pub fn detail(&self) -> StoredRow {
        self.over(json!(Run::default().detail(self.run)))
    }

    /// Puts the known fields over the view of an empty run.
    fn over(&self, view: Value) -> StoredRow {
        let mut view = StoredRow::from(view);
        view.insert("status", self.status.into());
        view.insert("startedAt", iso(self.started_at).into());
        view.insert("tags", json!(self.tags));
        view.insert("owner", self.owner.into());
        view.extend(StoredRow::read(self.row).unwrap_or_default());
        // Nobody works on it.
        view.wait_for_nothing();
        view.insert("runId", self.run.into());
        view.insert("damaged", true.into());
        view.insert("damagedReason", self.reason.into());
        view
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damaged<'a>(row: &'a str, tags: &'a BTreeMap<String, String>) -> DamagedRun<'a> {
        DamagedRun {
            run: "run-1",
            row,
            status: "COMPLETED",
            started_at: 0,
            tags,
            owner: "local",
            reason: "its checksum is wrong",
        }
    }

    #[test]
    fn a_row_that_can_be_read_is_shown_as_it_is_with_the_damage_beside_it() {
        let row = json!({ "runId": "run-1", "ensemble": "e", "status": "FAILED", "taskCount": 3 }).to_string();
        let tags = BTreeMap::new();
        let known = ["ensemble", "status", "taskCount", "damaged", "damagedReason"];
        let expected = json!(["e", "FAILED", 3, true, "its checksum is wrong"]);
        for view in [json!(damaged(&row, &tags).listed()), json!(damaged(&row, &tags).detail())] {
            assert_eq!(json!(known.map(|name| &view[name])), expected);
        }
        assert_eq!(json!(damaged(&row, &tags).detail())["tasks"], json!([]));
    }

    #[test]
    fn it_waits_for_nothing_whatever_its_row_says() {
        let tags = BTreeMap::new();
        let waiting = json!({ "waitingFor": "model", "waitingSince": "then", "waitingReason": "busy" }).to_string();
        for row in ["{}", &waiting, "not a row"] {
            for view in [json!(damaged(row, &tags).listed()), json!(damaged(row, &tags).detail())] {
                let told = ["waitingFor", "waitingSince", "waitingReason"].map(|name| view.get(name));
                assert_eq!(told, [None, None, None], "{row}");
            }
        }
    }

    #[test]
    fn of_a_row_that_cannot_be_read_the_rest_is_told() {
        let tags = BTreeMap::from([("team".to_owned(), "red".to_owned())]);
        for row in ["{\"runId\": \"run-", "[]", ""] {
            let view = json!(damaged(row, &tags).listed());
            let told = json!([&view["runId"], &view["status"], &view["startedAt"], &view["tags"], &view["durationMs"]]);
            assert_eq!(told, json!(["run-1", "COMPLETED", "1970-01-01T00:00:00.000Z", { "team": "red" }, null]));
        }
    }
}
