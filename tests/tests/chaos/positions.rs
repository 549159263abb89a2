//! The positions of a kill: the work that open runs had under way,
//! according to the stored events and to the process's ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use consort_core::event::{Event, EventKind};
use consort_core::id::Id;
use consort_log::{Log, Query, Seq, SqliteLog};

use super::ledger::{Ledger, Line};
use super::victim::LOG;
use crate::support::events;

/// The required frequency: one kill in so many must have fallen
/// between dispatch and return, and one in so many during a commit.
const EVERY: usize = 10;

/// The work under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Positions {
    /// The calls dispatched and not returned.
    calls: usize,
    /// The model requests without an answer.
    models: usize,
    /// The reviews without a decision.
    reviews: usize,
    /// The appends passed to the log and not acknowledged, stored and not stored.
    stored: usize,
    lost: usize,
}

impl Positions {
    /// Reads a copy of the file, and the process's ledger of its lifetime.
    pub(super) async fn read(folder: &Path, life: &Ledger) -> Positions {
        let log = SqliteLog::open(&folder.join(LOG)).unwrap();
        let open = log.list(Query { ended: Some(false), limit: usize::MAX >> 1, ..Query::default() }).await.unwrap();
        let owned = owned(life);
        let mut positions = Positions::default();
        for (run, _) in open.rows.iter().filter(|(run, _)| owned.contains(&**run)) {
            positions.count(&events(&log, run).await);
        }
        for (run, expected) in unacknowledged(life) {
            let is_stored = !log.read(run, expected, 1).await.unwrap().is_empty();
            positions.stored += usize::from(is_stored);
            positions.lost += usize::from(!is_stored);
        }
        positions
    }

    fn count(&mut self, events: &[Event]) {
        let mut calls = BTreeSet::<&Id>::new();
        let mut models = BTreeSet::<&Id>::new();
        let mut reviews = BTreeSet::new();
        for event in events {
            match &event.kind {
                EventKind::RunAdopted { .. } => {
                    calls.clear();
                    models.clear();
                }
                EventKind::ToolDispatched { call, .. } => drop(calls.insert(call)),
                EventKind::ToolReturned { call, .. } => drop(calls.remove(call)),
                EventKind::ModelAsked { conversation, .. } | EventKind::ModelRetried { conversation, .. } => {
                    models.insert(conversation);
                }
                EventKind::ModelReplied { conversation, .. } | EventKind::ModelFailed { conversation, .. } => {
                    models.remove(conversation);
                }
                EventKind::ReviewOpened { review, .. } => drop(reviews.insert(*review)),
                EventKind::ReviewDecided { review, .. }
                | EventKind::ReviewTimedOut { review, .. }
                | EventKind::ReviewClosed { review } => drop(reviews.remove(review)),
                _ => {}
            }
        }
        self.calls += calls.len();
        self.models += models.len();
        self.reviews += reviews.len();
    }
}

/// Returns the runs of which the log acknowledged an append: those that the process owned.
fn owned<'a>(life: &'a Ledger) -> BTreeSet<&'a str> {
    let acknowledged =
        |line: &'a Line| if let Line::Acknowledged { run, .. } = line { Some(run.as_str()) } else { None };
    life.lines().iter().filter_map(acknowledged).collect()
}

/// Returns the appends that the process waited for.
fn unacknowledged(life: &Ledger) -> Vec<(&str, Seq)> {
    let mut waiting = BTreeMap::new();
    for line in life.lines() {
        match line {
            Line::Handed { append, run, expected } => drop(waiting.insert(append, (run.as_str(), *expected))),
            Line::Acknowledged { append, .. } => drop(waiting.remove(append)),
            _ => {}
        }
    }
    waiting.into_values().collect()
}

fn fell(kills: &[Positions], here: impl Fn(&Positions) -> usize) -> (usize, usize) {
    (kills.iter().filter(|kill| here(kill) > 0).count(), kills.iter().map(&here).sum())
}

/// Describes the positions of the kills. One kill may count in several positions.
pub(super) fn report(kills: &[Positions]) -> Vec<String> {
    let line = |place: &str, (count, things): (usize, usize), what: &str| {
        format!("{place:<28} {count:>4} of {} kills, {things} {what}", kills.len())
    };
    let stored = fell(kills, |kill| kill.stored).1;
    let lost = fell(kills, |kill| kill.lost).1;
    let appends = format!("appends, {stored} of them stored and {lost} not");
    let nothing =
        |kill: &Positions| usize::from(kill.calls + kill.models + kill.reviews + kill.stored + kill.lost == 0);
    vec![
        line("between dispatch and return", fell(kills, |kill| kill.calls), "calls"),
        line("during a commit", fell(kills, |kill| kill.stored + kill.lost), &appends),
        line("while a model was asked", fell(kills, |kill| kill.models), "questions"),
        line("while a person was asked", fell(kills, |kill| kill.reviews), "reviews"),
        line("elsewhere", fell(kills, nothing), "times nothing under way"),
    ]
}

/// Checks that enough kills fell in the positions that matter.
pub(super) fn check(kills: &[Positions]) {
    assert!(fell(kills, |kill| kill.calls).0 * EVERY >= kills.len(), "too few between dispatch and return");
    assert!(fell(kills, |kill| kill.stored + kill.lost).0 * EVERY >= kills.len(), "too few during a commit");
}
