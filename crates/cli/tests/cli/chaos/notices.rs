//! The messages of the webhook: each comes at least once, with the same id and the same bytes each time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::{Client, PATIENCE};
use super::jobs::{Job, Kind};
use super::outside::{Ledger, Notice};
use super::ticks::Ticks;

/// The pause between two looks at what came.
const PAUSE: Duration = Duration::from_millis(50);

/// Something that must be told: the run, and the event.
type Event = (String, &'static str);

/// Returns everything that must be told of the jobs and of the schedule's runs.
pub(crate) async fn ended(client: &Client, jobs: &[Job], ticks: &Ticks) -> Vec<Event> {
    let accepted = jobs.iter().filter_map(|job| Some((job.run.as_deref()?, job.kind)));
    let ticks = ticks.runs().map(|run| (run, Kind::Hook));
    let mut events = Vec::new();
    for (run, kind) in accepted.chain(ticks) {
        let detail = client.get(&format!("/api/runs/{run}")).await;
        let event = match detail["status"].as_str().unwrap() {
            "COMPLETED" => "run.completed",
            "FAILED" => "run.failed",
            "CANCELLED" => "run.cancelled",
            _ if kind == Kind::Left => "review.requested",
            status => panic!("{run} is {status}: {detail}"),
        };
        events.push((run.to_owned(), event));
    }
    events
}

/// Waits until all of this was told, and checks each message; returns their number.
pub(crate) async fn settled(ledger: &Ledger, events: &[Event]) -> usize {
    let until = Instant::now() + PATIENCE;
    loop {
        let notices = ledger.notices();
        let told = checked(&notices);
        let Some(missing) = events.iter().find(|(run, event)| !told.contains_key(&(run.clone(), (*event).to_owned())))
        else {
            return notices.len();
        };
        assert!(Instant::now() < until, "nobody was told of {missing:?}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Checks that a message is the same each time that it comes, and that nothing is told under two ids; returns the ids
/// by run and event.
fn checked(notices: &[Notice]) -> BTreeMap<(String, String), Vec<&str>> {
    let mut bodies = BTreeMap::new();
    for notice in notices {
        let first = bodies.entry(notice.id.as_str()).or_insert(&notice.body);
        assert_eq!(*first, &notice.body, "{} is the same each time", notice.id);
    }
    let mut told = BTreeMap::<(String, String), Vec<&str>>::new();
    for (id, body) in bodies {
        let body: Value = serde_json::from_str(body).unwrap();
        let word = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{id}: {body}")).to_owned();
        told.entry((word(&body["data"]["runId"]), word(&body["type"]))).or_default().push(id);
    }
    for (event, ids) in &told {
        // A run has several reviews, and one end.
        assert!(ids.len() == 1 || event.1 == "review.requested", "{event:?} is told under several ids: {ids:?}");
    }
    told
}
