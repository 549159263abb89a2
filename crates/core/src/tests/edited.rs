//! Tests of other outputs for tasks that a new run keeps of another.

use serde_json::json;

use super::world::{World, catalog, ensemble, own, task};
use crate::decisions::decide::Command;
use crate::decisions::edit::Edits;
use crate::decisions::fork::{self, Forked, Keep, Own, Refused, Wanted};
use crate::projections::trace::trace;
use consort_spec::draft::{Draft, Each, Ensemble};
use consort_spec::event::{Adoption, COMMON_VERSION, Decision, Event, EventKind, VERSION};
use consort_spec::spec::{ReviewRule, Workflow};

/// Makes a run of the record of a world, with other outputs.
fn forked(world: &World, keep: Keep, outputs: &[(&str, &str)]) -> Result<Forked, Refused> {
    forked_among(world, VERSION, keep, outputs)
}

/// Makes it where every node reads this version.
fn forked_among(world: &World, version: u32, keep: Keep, outputs: &[(&str, &str)]) -> Result<Forked, Refused> {
    let outputs = outputs.iter().map(|(task, output)| ((*task).to_owned(), (*output).to_owned())).collect();
    let edits = Edits { outputs, ..Edits::default() };
    let catalog = catalog();
    let wanted = Wanted { keep, edits: &edits, catalog: &catalog, by: "me", traceparent: None };
    fork::fork(("run-0", &world.log), &wanted, Own { version, ..own() }, world.now)?.finish(|_source| None)
}

fn refused(world: &World, keep: Keep, outputs: &[(&str, &str)]) -> String {
    forked(world, keep, outputs).unwrap_err().to_string()
}

/// Goes on with a fork.
fn goes_on(world: &mut World, forked: Forked) {
    world.start_over(forked.events);
    assert_eq!(world.run, forked.run);
    world.command(Command::Adopt(Adoption::default())).unwrap();
}

/// Creates a run of `b` after `a` and `c` after both, in which all of them are done.
fn done() -> World {
    let mut world = World::new(&ensemble(vec![task("a", &[]), task("b", &["a"]), task("c", &["a", "b"])]));
    for (conversation, said) in [("1", "first"), ("2", "second"), ("3", "third")] {
        world.answers(conversation, said);
    }
    assert_eq!(world.status(), "COMPLETED");
    world
}

fn begins(world: &World, conversation: &str) -> u64 {
    let is_it = |event: &Event| matches!(&event.kind, EventKind::TaskStarted { conversation: begun } if begun.as_str() == conversation);
    world.log.iter().position(is_it).unwrap() as u64
}

#[test]
fn an_output_is_edited_only_where_every_node_can_read_it_and_so_is_a_fork_of_that_fork() {
    let mut world = done();
    let keep = || Keep::Before(None);
    assert_eq!(forked_among(&world, COMMON_VERSION, keep(), &[("a", "better")]), Err(Refused::TooNew));
    let plain = forked_among(&world, COMMON_VERSION, keep(), &[]).unwrap();
    assert_eq!(plain.run.version(), COMMON_VERSION);
    let fork = forked(&world, keep(), &[("a", "better")]).unwrap();
    assert_eq!(fork.run.version(), VERSION);
    goes_on(&mut world, fork);
    let again = forked_among(&world, COMMON_VERSION, keep(), &[]).unwrap();
    assert_eq!(again.run.version(), VERSION, "the record is of that version, whoever copies it");
}

#[test]
fn the_tasks_after_an_edited_output_work_with_it_and_all_views_tell_who_edited_it() {
    let mut world = done();
    let fork = forked(&world, Keep::Before(None), &[("A", "better")]).unwrap();
    assert_eq!(fork.events.len() as u64, begins(&world, "2") + 1, "as much is kept as can be");
    goes_on(&mut world, fork);
    assert_eq!(world.places(), ["2"]);
    let told = world.told("2").join("\n");
    assert!(told.contains("better") && !told.contains("first"), "{told}");
    world.answers("2", "second");
    world.answers("3", "third");
    let detail = json!(world.run.detail("r"));
    let task = &detail["tasks"][0];
    assert_eq!(
        (&task["output"], &task["outputEditedBy"], &task["inherited"]),
        (&json!("better"), &json!("me"), &json!(true))
    );
    assert_eq!((detail["tasks"][1].get("outputEditedBy"), &detail["metrics"]["llmCalls"]), (None, &json!(2)));
    let outputs = &json!(world.run.result("r"))["outputs"];
    assert_eq!((&outputs[0]["output"], &outputs[0]["outputEditedBy"]), (&json!("better"), &json!("me")));
    let traced = &trace(&world.log)["taskTraces"][0];
    assert_eq!((&traced["finalOutput"], &traced["outputEditedBy"]), (&json!("better"), &json!("me")));
}

#[test]
fn the_frame_of_a_fork_has_the_edited_outputs() {
    let world = done();
    let fork = forked(&world, Keep::BeforeTask("c".to_owned()), &[("b", "other")]).unwrap();
    let event = fork.events.last().unwrap();
    let frame = fork.run.frame("r", 0, event).json();
    let edited = json!([{ "taskIndex": 2, "taskName": "b", "turnId": "2", "output": "other", "by": "me" }]);
    assert_eq!((&frame["type"], &frame["editedOutputs"]), (&json!("run_forked"), &edited));
    let plain = forked(&world, Keep::Before(None), &[]).unwrap();
    let text = serde_json::to_string(plain.events.last().unwrap()).unwrap();
    assert!(!text.contains("outputs"), "a fork without them is stored as before: {text}");
}

#[test]
fn an_output_that_was_used_is_missing_or_is_nobodys_is_refused_with_what_is_allowed() {
    let world = done();
    let b = begins(&world, "2");
    let cases = [
        (
            Keep::Before(Some(b + 1)),
            vec![("a", "x")],
            format!(
                "outputs.a: 'b' has begun with its present output; fork with `seq` {b} or less to change it before"
            ),
        ),
        (
            Keep::Before(Some(b)),
            vec![("b", "x")],
            "outputs.b: it has no output in what is kept of the run. Completed there: [a]".to_owned(),
        ),
        (Keep::Before(None), vec![("z", "x")], "outputs.z: Unknown task 'z'. Available: [a, b, c]".to_owned()),
        (
            Keep::Before(None),
            vec![("A", "x"), ("a", "y")],
            "outputs.a: names a task that another entry names too".to_owned(),
        ),
        // Both cannot be changed at once: `b` has its output only after `a` was used.
        (
            Keep::Before(None),
            vec![("a", "x"), ("b", "y")],
            "outputs.b: it has no output in what is kept of the run. Completed there: [a]".to_owned(),
        ),
    ];
    for (keep, outputs, said) in cases {
        assert_eq!(refused(&world, keep, &outputs), said);
    }
}

#[test]
fn a_retry_keeps_an_edited_output_for_the_tasks_that_are_done_again() {
    let mut world = World::new(&ensemble(vec![task("a", &[]), task("b", &["a"])]));
    world.answers("1", "first");
    while world.places().contains(&"2") {
        world.fails("2", consort_spec::message::FailureKind::Refused);
    }
    let retry = forked(&world, Keep::Completed, &[("a", "better")]).unwrap();
    goes_on(&mut world, retry);
    assert!(world.told("2").join("\n").contains("better"));
    // The next retry has it from the record.
    while world.places().contains(&"2") {
        world.fails("2", consort_spec::message::FailureKind::Refused);
    }
    let again = forked(&world, Keep::Completed, &[]).unwrap();
    goes_on(&mut world, again);
    assert!(world.told("2").join("\n").contains("better"));
    assert_eq!(json!(world.run.detail("r"))["tasks"][0]["outputEditedBy"], "me");
}

#[test]
fn an_edited_output_fits_the_schema_and_the_list_of_its_task() {
    let schema = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
    let number = Draft { output_schema: Some(schema.clone()), ..task("a", &[]) };
    let each = Each { list: Some("[1, 2]".to_owned()), ..Each::default() };
    let list = Draft { output_schema: Some(schema), each, ..task("l", &[]) };
    let drafts = vec![number, list, task("b", &["a", "l"])];
    let mut world = World::new(&Ensemble { workflow: Some(Workflow::Parallel), ..ensemble(drafts) });
    for conversation in ["1", "2i0", "2i1"] {
        world.answers(conversation, r#"{"n":1}"#);
    }
    let keep = || Keep::BeforeTask("b".to_owned());
    for (task, text, said) in [
        ("a", "none", "it does not fit the output schema of the task: (the whole value): the answer holds no JSON"),
        ("a", r#"{"n":"x"}"#, "it does not fit the output schema of the task: "),
        ("l", r#"{"n":1}"#, "it must be a JSON list, one entry for each item: "),
        ("l", r#"[{"n":1}]"#, "it must be a list of 2, one entry for each item, not of 1"),
        ("l", "[null,null,null]", "it must be a list of 2, one entry for each item, not of 3"),
        ("l", r#"[{"n":1},3]"#, "it does not fit the output schema of the task: "),
    ] {
        let refused = refused(&world, keep(), &[(task, text)]);
        assert!(refused.starts_with(&format!("outputs.{task}: {said}")), "{refused}");
    }
    let fork = forked(&world, keep(), &[("a", r#"{"n":7}"#), ("l", r#"[null,{"n":8}]"#)]).unwrap();
    goes_on(&mut world, fork);
    let tasks = json!(world.run.detail("r"))["tasks"].clone();
    let parsed = |task: usize| &tasks[task]["parsedOutput"];
    assert_eq!((parsed(0), parsed(1)), (&json!({ "n": 7 }), &json!([null, { "n": 8 }])));
}

#[test]
fn a_condition_that_named_the_old_output_is_evaluated_with_the_edited_one() {
    let when = Draft { when: Some("outputs.a == 'yes'".to_owned()), ..task("b", &[]) };
    let mut world =
        World::new(&Ensemble { workflow: Some(Workflow::Parallel), ..ensemble(vec![task("a", &[]), when]) });
    world.answers("1", "no");
    assert_eq!((world.status(), &json!(world.run.detail("r"))["tasks"][1]["status"]), ("COMPLETED", &json!("SKIPPED")));
    let fork = forked(&world, Keep::Before(None), &[("a", "yes")]).unwrap();
    goes_on(&mut world, fork);
    assert_eq!(world.places(), ["2"]);
    world.answers("2", "done");
    assert_eq!(world.status(), "COMPLETED");
}

#[test]
fn a_reviewed_output_is_edited_in_its_review_only() {
    let reviewed = Draft { review: Some(ReviewRule::Required), ..task("a", &[]) };
    let mut world = World::new(&ensemble(vec![reviewed, task("b", &["a"])]));
    world.answers("1", "first");
    world.command(Command::Review { review: 0, decision: Decision::Continue, by: "she".to_owned() }).unwrap();
    world.answers("2", "second");
    let opened = world.log.iter().position(|event| matches!(event.kind, EventKind::ReviewOpened { .. })).unwrap();
    assert_eq!(
        refused(&world, Keep::Before(None), &[("a", "x")]),
        format!(
            "outputs.a: it was reviewed; fork with `seq` {} and change it in the review of the new run",
            opened + 1
        )
    );
    let fork = forked(&world, Keep::Before(Some(opened as u64 + 1)), &[]).unwrap();
    goes_on(&mut world, fork);
    let decision = Decision::Edit { output: "better".into() };
    world.command(Command::Review { review: 0, decision, by: "she".to_owned() }).unwrap();
    assert!(world.told("2").join("\n").contains("better"));
}

/// Forks a run with another output of one of its tasks, chosen by a number; none where that cannot be replaced.
pub(super) fn with_an_output_edited(world: &World, choice: usize) -> Option<(usize, Forked)> {
    let outputs = world.run.outputs();
    let task = *outputs.get(choice % outputs.len().max(1))?;
    let name = world.run.spec().tasks[task].name.clone();
    let text = if world.run.tasks()[&task].outcome.value().is_array() { "[\"edited\"]" } else { "edited" };
    Some((task, forked(world, Keep::Before(None), &[(name.as_str(), text)]).ok()?))
}
