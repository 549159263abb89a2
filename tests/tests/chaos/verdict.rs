//! The verdict: every run of a file, read from start to end and compared with the same run without kills.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use consort_core::draft::{Ensemble, Request};
use consort_core::event::{Event, EventKind};
use consort_core::id::Id;
use consort_core::run::Run;
use consort_log::{Log, MemoryLog, Query, SqliteLog};
use futures::future::join_all;
use serde_json::Value;

use super::Dice;
use super::ledger::{Ledger, Line, Pen};
use super::plays::{DOOR, plays};
use super::victim::LOG;
use super::witness::witnessed;
use crate::laws::{Done, Tally, check_frames, check_run};
use crate::support::{compiled, events, frames};

/// The outputs of a play's tasks, by the play's name.
pub(super) type Endings = BTreeMap<String, BTreeMap<String, String>>;

/// Returns the outputs of every play without kills.
pub(super) async fn undisturbed() -> Endings {
    let folder = tempfile::tempdir().unwrap();
    let engine = witnessed(Arc::new(MemoryLog::default()), &Pen::open(folder.path()), Dice(0));
    let plays = plays();
    let ending = |play: &Ensemble| {
        let run = compiled(&engine, play, Request::default());
        let engine = engine.clone();
        let name = play.name.clone();
        async move {
            let run = engine.submit(run).await.unwrap();
            let frames = frames(&engine, &run).await;
            assert_eq!(frames.last().unwrap()["status"], "COMPLETED", "{name}");
            (name, outputs(&frames))
        }
    };
    join_all(plays.iter().map(ending)).await.into_iter().collect()
}

fn outputs(frames: &[Value]) -> BTreeMap<String, String> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let result = frames.last().unwrap();
    result["outputs"].as_array().unwrap().iter().map(|o| (word(&o["taskName"]), word(&o["output"]))).collect()
}

/// The findings, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Verdict {
    completed: usize,
    cancelled: usize,
    events: usize,
    tally: Tally,
    /// The number of acknowledged commands.
    promises: usize,
}

impl Verdict {
    /// Reads the file of a process that has ended.
    pub(super) async fn read(folder: &Path, endings: &Endings) -> Verdict {
        let log = Arc::new(SqliteLog::open(&folder.join(LOG)).unwrap());
        let ledger = Ledger::read(folder);
        let engine = witnessed(log.clone(), &Pen::open(folder), Dice(0));
        let rows = log.list(Query { limit: usize::MAX >> 1, ..Query::default() }).await.unwrap().rows;
        let mut said = said(&ledger);
        let mut verdict = Verdict::default();
        for (run, _) in &rows {
            let events = events(&*log, run).await;
            let frames = frames(&engine, run).await;
            verdict.hear(&events, &said.remove(&**run).unwrap_or_default());
            verdict.end(&events, &frames, endings);
        }
        assert!(said.is_empty(), "what was accepted is there: {:?}", said.keys());
        check_door(&ledger);
        verdict
    }

    /// Compares a run's log with the ledger's entries about it.
    fn hear(&mut self, events: &[Event], said: &Said) {
        assert!(said.promised.iter().all(|promise| events.contains(promise)), "a promise was not kept");
        self.promises += said.promised.len();
        self.events += events.len();
        self.tally += check_run(events, &said.done);
    }

    /// Checks that a run's outputs equal those without kills; there may be fewer only if it was cancelled.
    fn end(&mut self, events: &[Event], frames: &[Value], endings: &Endings) {
        check_frames(frames);
        let run = Run::replay(events);
        let outputs = outputs(frames);
        let expected = &endings[&run.spec().name];
        match run.status().word() {
            "COMPLETED" => {
                assert_eq!(outputs, *expected, "{}", run.spec().name);
                self.completed += 1;
            }
            "CANCELLED" => {
                assert!(outputs.iter().all(|(task, output)| expected.get(task) == Some(output)), "{outputs:?}");
                assert!(events.iter().any(|event| matches!(event.kind, EventKind::CancelRequested { .. })));
                self.cancelled += 1;
            }
            other => panic!("{other}: {:?}", run.error()),
        }
    }

    pub(super) fn add(&mut self, other: &Verdict) {
        self.completed += other.completed;
        self.cancelled += other.cancelled;
        self.events += other.events;
        self.tally += other.tally;
        self.promises += other.promises;
    }

    /// Checks that the kills have left traces of every kind.
    pub(super) fn check(&self) {
        let Verdict { completed, cancelled, tally, promises, .. } = *self;
        let traces = [completed, cancelled, tally.repeated, tally.unknown, promises];
        assert!(traces.iter().all(|count| *count > 0), "{self:?}");
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { completed, cancelled, events, tally: Tally { repeated, unknown }, promises } = self;
        write!(out, "{completed} runs completed and {cancelled} were cancelled, in {events} events; ")?;
        write!(out, "{repeated} calls were repeated, {unknown} were not and are unknown; ")?;
        write!(out, "{promises} promises were kept")
    }
}

/// The ledger's entries about one run.
#[derive(Default)]
struct Said {
    done: BTreeMap<Id, Done>,
    promised: Vec<Event>,
}

/// Returns the entries about each run that the ledger names.
fn said(ledger: &Ledger) -> BTreeMap<&str, Said> {
    let mut said: BTreeMap<&str, Said> = BTreeMap::new();
    for line in ledger.lines() {
        match line {
            Line::Accepted { run } | Line::Acknowledged { run, .. } => drop(said.entry(run).or_default()),
            Line::Begun { key, .. } => call(&mut said, key).begun += 1,
            Line::Finished { key, .. } => call(&mut said, key).finished += 1,
            Line::Promised { run, event } => said.entry(run).or_default().promised.push(event.clone()),
            Line::Born | Line::Dropped { .. } | Line::Handed { .. } => {}
        }
    }
    said
}

fn call<'a, 'said>(said: &'said mut BTreeMap<&'a str, Said>, key: &'a str) -> &'said mut Done {
    let (run, call) = key.split_once('/').unwrap();
    said.entry(run).or_default().done.entry(Id::from(call)).or_default()
}

/// Checks that only one call at a time holds the door, within the lifetime of a process.
fn check_door(ledger: &Ledger) {
    let mut inside: Option<&str> = None;
    for line in ledger.lines() {
        match line {
            Line::Born => inside = None,
            Line::Begun { tool, key } if tool == DOOR => {
                assert_eq!(inside.replace(key), None, "{key} went through a door that was closed");
            }
            Line::Finished { tool, .. } | Line::Dropped { tool, .. } if tool == DOOR => inside = None,
            _ => {}
        }
    }
}
