//! Tests that a run which continues another one's record has its own clock and counters, and marks what it
//! has copied.

use serde_json::{Value, json};

use super::world::{World, catalog, ensemble, task};
use crate::decisions::decide::Command;
use crate::decisions::edit::Edits;
use crate::decisions::fork::{self, Keep, Wanted};
use crate::projections::trace::trace;
use crate::state::run::Run;
use consort_spec::event::{Adoption, Event, EventKind, Origin};
use consort_spec::id::Millis;
use consort_spec::time::{iso, iso_span};

/// The time the first run takes before the second one is made of it.
const BEFORE_MS: Millis = 500_000;
/// The time the second one takes.
const OWN_MS: Millis = 1_400;

/// Creates two tasks; the first has ended, the second has answered once and works on.
fn begun() -> World {
    let mut world = World::new(&ensemble(vec![task("a", &[]), task("b", &[])]));
    world.pass(BEFORE_MS / 2);
    world.answers("1", "first");
    world.calls("2", &[("look", "{}")]);
    world.pass(BEFORE_MS / 2);
    world
}

fn forked(world: &World, keep: Keep) -> Vec<Event> {
    let edits = Edits::default();
    let catalog = catalog();
    let wanted = Wanted { keep, edits: &edits, catalog: &catalog, by: "me", traceparent: None };
    fork::fork(("run-0", &world.log), &wanted, crate::tests::world::own(), world.now)
        .unwrap()
        .finish(|_source| None)
        .unwrap()
        .events
}

/// Runs the fork to its end.
fn done(mut world: World, events: Vec<Event>) -> World {
    world.start_over(events);
    world.command(Command::Adopt(Adoption::default())).unwrap();
    world.pass(OWN_MS);
    while let Some(place) = world.places().first().map(|place| (*place).to_owned()) {
        if place.contains('.') { world.returns(&place, "x") } else { world.answers(&place, "second") }
    }
    assert_eq!(world.status(), "COMPLETED");
    world
}

fn frames(world: &World) -> Vec<Value> {
    let mut run = Run::default();
    let frame = |(seq, event): (usize, &Event)| {
        run.apply(event);
        run.frame("run-1", seq as u64, event).json()
    };
    world.log.iter().enumerate().map(frame).collect()
}

#[test]
fn a_fork_counts_only_what_it_did_itself() {
    let before = begun();
    let events = forked(&before, Keep::Before(None));
    let at = before.now;
    let copied = events.len() - 1;
    let world = done(before, events);
    let detail = json!(world.run.detail("run-1"));
    assert_eq!((&detail["startedAt"], &detail["durationMs"]), (&json!(iso(at)), &json!(OWN_MS)));
    assert_eq!((&detail["totalTokens"], &detail["metrics"]["llmCalls"]), (&json!(15), &json!(1)));
    let tasks = &detail["tasks"];
    assert_eq!((&tasks[0]["inherited"], &tasks[0]["durationMs"]), (&json!(true), &json!(BEFORE_MS / 2)), "as it was");
    assert_eq!((tasks[1].get("inherited"), &tasks[1]["durationMs"]), (None, &json!(OWN_MS)));
    assert_eq!((&tasks[1]["startedAt"], &tasks[1]["tokenCount"]), (&json!(iso(at)), &json!(15)));

    let result = json!(world.run.result("run-1"));
    let marks: Vec<_> = result["outputs"].as_array().unwrap().iter().map(|output| output.get("inherited")).collect();
    assert_eq!((marks, &result["durationMs"]), (vec![Some(&json!(true)), None], &json!(OWN_MS)));
    let frames = frames(&world);
    let marked = frames.iter().take_while(|frame| frame["inherited"] == true).count();
    let later = frames.iter().skip(marked).filter(|frame| frame.get("inherited").is_some()).count();
    assert_eq!((marked, later, &frames[marked]["type"]), (copied, 0, &json!("run_forked")));
    let completed = frames.iter().rfind(|frame| frame["type"] == "task_completed").unwrap();
    assert_eq!((&completed["durationMs"], &completed["tokenCount"]), (&json!(OWN_MS), &json!(15)));
    let counted = frames.iter().rfind(|frame| frame["type"] == "metrics_snapshot").unwrap();
    assert_eq!((&counted["inputTokens"], &counted["iterationCount"]), (&json!(10), &json!(1)));
}

#[test]
fn the_trace_of_a_fork_begins_with_it_and_marks_what_came_before() {
    let before = begun();
    let events = forked(&before, Keep::Before(None));
    let at = before.now;
    let world = done(before, events);
    let trace = trace(&world.log);
    assert_eq!((&trace["startedAt"], &trace["totalDuration"]), (&json!(iso(at)), &json!(iso_span(OWN_MS))));
    assert_eq!(trace["metrics"]["llmCallCount"], 1);
    let tasks = &trace["taskTraces"];
    assert_eq!((&tasks[0]["inherited"], tasks[1].get("inherited")), (&json!(true), None));
    assert_eq!((&tasks[1]["duration"], &tasks[1]["metrics"]["llmCallCount"]), (&json!(iso_span(OWN_MS)), &json!(1)));
    let asked = tasks[1]["llmInteractions"].as_array().unwrap();
    assert_eq!((asked.len(), &asked[0]["inherited"], asked[1].get("inherited")), (2, &json!(true), None));
    let own = |span: &crate::projections::span::Span| span.start >= at;
    assert!(world.spans.iter().all(own), "{:?}", world.spans);
    let tokens = world.spans.iter().find(|span| span.place == "2").unwrap();
    let input = tokens.attributes.iter().find(|(name, _)| *name == "consort.usage.input_tokens");
    assert_eq!(input, Some(&("consort.usage.input_tokens", 10.into())));
}

#[test]
fn a_retry_and_a_fork_of_a_fork_tell_what_is_theirs() {
    let mut failed = begun();
    failed.returns("2.0.0", "x");
    failed.fails("2", consort_spec::message::FailureKind::Refused);
    failed.fails("2", consort_spec::message::FailureKind::Refused);
    assert_eq!(failed.status(), "FAILED");
    let events = forked(&failed, Keep::Completed);
    let retry = done(failed, events);
    let tasks = json!(retry.run.detail("r"))["tasks"].clone();
    assert_eq!((&tasks[0]["inherited"], &tasks[1]["durationMs"]), (&json!(true), &json!(OWN_MS)));

    let events = forked(&retry, Keep::Before(None));
    let copied = events.len() - 1;
    let again = done(retry, events);
    assert_eq!(json!(again.run.detail("r"))["tasks"][1]["inherited"], true);
    assert_eq!(frames(&again).iter().filter(|frame| frame["inherited"] == true).count(), copied);
}

#[test]
fn a_fork_can_begin_where_a_task_began() {
    let world = begun();
    let events = forked(&world, Keep::BeforeTask("B".to_owned()));
    let run = Run::replay(&events);
    assert_eq!((run.outputs().len(), run.conversations().len()), (1, 0), "nothing of b is kept");
    let Some(EventKind::RunForked { origin, .. }) = events.last().map(|event| &event.kind) else {
        panic!("it ends the copy")
    };
    assert_eq!(origin, &Origin::Fork { run: "run-0".to_owned(), seq: events.len() as u64 - 1 });
    let refused = |task: &str, world: &World| {
        let edits = Edits::default();
        let catalog = catalog();
        let keep = Keep::BeforeTask(task.to_owned());
        let wanted = Wanted { keep, edits: &edits, catalog: &catalog, by: "me", traceparent: None };
        fork::fork(("run-0", &world.log), &wanted, crate::tests::world::own(), world.now).unwrap_err().to_string()
    };
    assert_eq!(refused("c", &world), "task: Unknown task 'c'. Available: [a, b]");
    let fresh = World::new(&ensemble(vec![task("a", &[]), task("b", &[])]));
    assert_eq!(refused("b", &fresh), "task: 'b' has not begun in that run");
}

#[test]
fn forks_of_earlier_versions_are_told_apart_from_where_they_began() {
    let before = begun();
    let mut events = forked(&before, Keep::Before(None));
    let EventKind::RunAccepted { copied, .. } = &mut events[0].kind else { panic!("the first event") };
    *copied = 0;
    assert!(!serde_json::to_string(&events[0]).unwrap().contains("copied"), "as it was stored");
    let world = done(before, events);
    assert_eq!(json!(world.run.detail("r"))["tasks"][0]["inherited"], true);
    assert_eq!(json!(world.run.detail("r"))["tasks"][1]["durationMs"], OWN_MS);
}
