//! The process dies at every append in turn, before it is stored and after; a
//! fresh engine on what was stored ends the run the same way, and nothing that
//! was finished happens again.

mod branches;
mod pipelines;
mod scenarios;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use consort_core::compile::Catalog;
use consort_core::decide::Refused;
use consort_core::draft::Request;
use consort_core::event::{Event, EventKind};
use consort_core::fork::Wanted;
use consort_core::id::Id;
use consort_log::{Log, MemoryLog, Query};
use consort_models::{self as model, ScriptedModel};
use consort_runtime::engine::{Engine, Error, Recovery};
use consort_tools::{self as tool, Tool};
use futures::StreamExt;
use serde_json::Value;
use tokio::time::timeout;

use self::branches::BRANCHES;
use self::scenarios::{PEOPLE, Scenario, TROUBLE, Table, WORK};
use crate::laws::{Done, Tally, check_frames, check_run};
use crate::support::{Death, DyingLog, compiled, engine, events, json, models, toolbox};

/// Longer than any scenario waits; time is paused, so a run that waits for nothing is detected by this.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// The history of a run whose process may have died once.
struct History {
    scenario: Scenario,
    died: bool,
    events: Vec<Event>,
    frames: Vec<Value>,
    /// The events that acknowledged commands have caused.
    promised: Vec<Event>,
}

/// One lifetime of the process, with all that a test keeps of it.
struct Life<'a> {
    engine: Engine,
    scenario: &'a Scenario,
    promised: &'a mut Vec<Vec<Event>>,
}

impl Life<'_> {
    fn new<'a>(log: Arc<dyn Log>, scenario: &'a Scenario, promised: &'a mut Vec<Vec<Event>>) -> Life<'a> {
        let catalog = models(scenario.main.clone(), scenario.spare.clone());
        Life { engine: engine(log, catalog, toolbox(scenario.tools.clone())), scenario, promised }
    }

    /// Submits the run, or derives it from the one before, and follows it to its end.
    async fn submit(mut self, before: Option<&str>) -> Vec<Value> {
        let id = match before.zip(self.scenario.before.as_ref()) {
            None => {
                let run = compiled(&self.engine, &self.scenario.ensemble, Request::default());
                self.engine.submit(run).await.unwrap()
            }
            Some((old, before)) => {
                let catalog = Catalog::default();
                let wanted = Wanted {
                    keep: before.keep.clone(),
                    edits: &before.edits,
                    catalog: &catalog,
                    by: "me",
                    traceparent: None,
                };
                self.engine.fork(old, &wanted).await.unwrap().0
            }
        };
        self.follow(&id).await
    }

    /// Follows the run to its end, and sends the scenario's commands on the way.
    async fn follow(&mut self, run: &str) -> Vec<Value> {
        let mut tail = self.engine.tail(run, 0).await.unwrap();
        let mut seen = Vec::new();
        while let Some(frame) = timeout(PATIENCE, tail.next()).await.expect("the run waits for nothing") {
            seen.extend(json(&frame.unwrap()));
            self.steer(run, &seen).await;
        }
        seen
    }

    /// Sends the next command when it is due; a command that was not
    /// acknowledged is sent again. From the first one on, the gate is open.
    async fn steer(&mut self, run: &str, seen: &[Value]) {
        let steering = &self.scenario.steering;
        if let Some((kind, times, command)) = steering.get(self.promised.len())
            && seen.iter().filter(|frame| frame["type"] == *kind).count() >= *times
        {
            match self.engine.command(run, command.clone()).await {
                Ok(events) => self.promised.push(events),
                Err(Error::Refused(Refused::Decided { .. } | Refused::Ended { .. })) => self.promised.push(Vec::new()),
                Err(error) => panic!("{command:?}: {error}"),
            }
        }
        if steering.is_empty() || !self.promised.is_empty() {
            self.scenario.gate.notify_one();
        }
    }
}

/// Runs the earlier run, in which nothing dies.
async fn old(scenario: &Scenario, log: &MemoryLog) -> Option<Arc<str>> {
    let before = scenario.before.as_ref()?;
    let models = models(before.main.clone(), ScriptedModel::new());
    let engine = engine(Arc::new(log.clone()), models, toolbox(scenario.tools.clone()));
    let id = engine.submit(compiled(&engine, &scenario.ensemble, Request::default())).await.unwrap();
    engine.finished(&id).await;
    Some(id)
}

async fn history(scenario: Scenario, death: Death) -> History {
    let log = Arc::new(DyingLog::new(death));
    let mut promised = Vec::new();
    let old = old(&scenario, &log.inner).await;
    let first = Life::new(log.clone(), &scenario, &mut promised);
    let died = tokio::select! {
        biased;
        () = log.died() => true,
        _ended = first.submit(old.as_deref()) => false,
    };
    // All parts of the first process must be gone before the second begins.
    while Arc::strong_count(&log) > 1 {
        tokio::task::yield_now().await;
    }
    let mut stored = log.list(Query { limit: 3, ..Query::default() }).await.unwrap();
    stored.rows.retain(|(id, _)| Some(id) != old.as_ref());
    let [(id, row)] = stored.rows.as_slice() else { panic!("one run: {stored:?}") };
    let mut second = Life::new(Arc::new(log.inner.clone()), &scenario, &mut promised);
    let resumed = usize::from(row.ended_at.is_none());
    assert_eq!(second.engine.recover().await.unwrap(), Recovery { resumed, damaged: Vec::new() });
    let frames = second.follow(id).await;
    let events = events(&log.inner, id).await;
    History { scenario, died, events, frames, promised: promised.concat() }
}

impl History {
    /// Returns the end of the run: status, outputs by task, error.
    fn ending(&self) -> (String, Vec<String>, Option<String>) {
        let result = self.frames.last().unwrap();
        let word = |value: &Value| value.as_str().map(str::to_owned);
        let output =
            |output: &Value| format!("{}: {}", word(&output["taskName"]).unwrap(), word(&output["output"]).unwrap());
        let mut outputs: Vec<String> = result["outputs"].as_array().unwrap().iter().map(output).collect();
        outputs.sort_unstable();
        (word(&result["status"]).unwrap(), outputs, word(&result["error"]))
    }

    /// Returns the tools' own records of their calls, by call.
    fn done(&self) -> BTreeMap<Id, Done> {
        let mut done: BTreeMap<Id, Done> = BTreeMap::new();
        for entry in self.scenario.tools.iter().flat_map(|tool| tool.entries()) {
            let done = done.entry(entry.call).or_default();
            match entry.what {
                tool::What::Began => done.begun += 1,
                tool::What::Finished => done.finished += 1,
                tool::What::Dropped => {}
            }
        }
        done
    }

    /// Checks the laws that hold for any history.
    fn check(&self) -> Tally {
        check_frames(&self.frames);
        assert!(self.promised.iter().all(|event| self.events.contains(event)), "what was acknowledged holds");
        assert!(self.asked() <= self.recorded(), "no model is asked before that is stored");
        let mut locked = self.scenario.tools.iter().filter(|tool| tool.info().lock.is_some());
        assert!(locked.all(|tool| tool.most_at_once() <= 1), "a lock is held by one at a time");
        check_run(&self.events, &self.done())
    }

    fn asked(&self) -> usize {
        let entries = self.scenario.main.entries().into_iter().chain(self.scenario.spare.entries());
        entries.filter(|entry| entry.what == model::What::Asked).count()
    }

    fn recorded(&self) -> usize {
        let asks = |event: &&Event| matches!(event.kind, EventKind::ModelAsked { .. } | EventKind::ModelRetried { .. });
        self.events.iter().filter(asks).count()
    }
}

/// Runs the scenario undisturbed, then with a death at every
/// append; returns the number of deaths and their effects on calls.
async fn survives(name: &str, scenario: fn() -> Scenario) -> (usize, Tally) {
    let whole = history(scenario(), Death::Never).await;
    let mut tally = whole.check();
    let (status, outputs, error) = whole.ending();
    assert_eq!(status, whole.scenario.status, "{name}: {error:?}");
    assert_eq!(outputs, whole.scenario.outputs, "{name}: {error:?}");
    for kind in &whole.scenario.shows {
        assert!(whole.frames.iter().any(|frame| frame["type"] == *kind), "{name} shows {kind}");
    }
    let mut deaths = 0;
    for death in [Death::Storing, Death::Stored] {
        for appends in 1.. {
            println!("{name}: {:?}", death(appends));
            let cut = history(scenario(), death(appends)).await;
            tally += cut.check();
            assert_eq!(cut.ending(), whole.ending());
            if !cut.died {
                break;
            }
            deaths += 1;
        }
    }
    (deaths, tally)
}

async fn all_survive(scenarios: &Table) -> (usize, Tally) {
    let mut deaths = 0;
    let mut tally = Tally::default();
    for (name, scenario) in scenarios {
        let (more, done) = survives(name, *scenario).await;
        deaths += more;
        tally += done;
    }
    (deaths, tally)
}

#[tokio::test(start_paused = true)]
async fn work_ends_the_same_wherever_the_process_died() {
    let (deaths, tally) = all_survive(WORK).await;
    assert!(deaths > 50 && tally.repeated > 0 && tally.unknown > 0, "{deaths} {tally:?}");
}

#[tokio::test(start_paused = true)]
async fn branches_items_and_rounds_end_the_same_wherever_the_process_died() {
    let (deaths, tally) = all_survive(BRANCHES).await;
    assert!(deaths > 100 && tally.unknown > 0, "{deaths} {tally:?}");
}

#[tokio::test(start_paused = true)]
async fn what_people_decided_holds_wherever_the_process_died() {
    let (deaths, tally) = all_survive(PEOPLE).await;
    assert!(deaths > 100, "{deaths} {tally:?}");
}

#[tokio::test(start_paused = true)]
async fn trouble_ends_the_same_wherever_the_process_died() {
    let (deaths, tally) = all_survive(TROUBLE).await;
    assert!(deaths > 50, "{deaths} {tally:?}");
}
