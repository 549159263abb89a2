//! Conditions, lists and groups: what begins, what is skipped, what comes of instances together.

use std::sync::Arc;

use serde_json::{Value, json};

use super::world::{World, catalog, ensemble, task};
use crate::decisions::decide::Command;
use crate::decisions::edit::Edits;
use crate::decisions::fork::{self, Keep, Wanted};
use consort_spec::catalog::SavedWorkflows;
use consort_spec::compile::{Catalog, Compiled, compile};
use consort_spec::draft::{Draft, Each, Ensemble, Group};
use consort_spec::event::{Adoption, Decision, EventKind};
use consort_spec::message::FailureKind;
use consort_spec::request;
use consort_spec::spec::{OnError, ReviewRule};
use consort_spec::workflow::Document;

fn when(draft: Draft, source: &str) -> Draft {
    Draft { when: Some(source.to_owned()), ..draft }
}

fn each(draft: Draft, source: &str) -> Draft {
    Draft { each: Each { list: Some(source.to_owned()), ..Each::default() }, ..draft }
}

fn typed(draft: Draft) -> Draft {
    Draft { output_schema: Some(json!({})), ..draft }
}

fn parallel(drafts: Vec<Draft>, on_error: OnError) -> Ensemble {
    let workflow = Some(consort_spec::spec::Workflow::Parallel);
    Ensemble { workflow, on_error, ..ensemble(drafts) }
}

fn detail(world: &World) -> Value {
    json!(world.run.detail("run-1"))
}

fn statuses(world: &World) -> Vec<String> {
    let tasks = detail(world)["tasks"].take();
    tasks.as_array().unwrap().iter().map(|task| task["status"].as_str().unwrap().to_owned()).collect()
}

/// Returns the causes of skipped tasks, by their names.
fn causes(world: &World) -> Vec<(String, Value)> {
    let tasks = detail(world)["tasks"].take();
    let skipped = tasks.as_array().unwrap().iter().filter(|task| task["status"] == "SKIPPED");
    skipped.map(|task| (task["name"].as_str().unwrap().to_owned(), task["cause"].clone())).collect()
}

fn codes(json: Value) -> Vec<String> {
    let (request, _) = request::parse(&json).map_err(|mistakes| panic!("{mistakes:?}")).unwrap();
    let mistakes = compile(&Ensemble::default(), request, &catalog()).unwrap_err();
    mistakes.iter().map(|mistake| format!("{} {}", mistake.code.word(), mistake.place)).collect()
}

fn compiled(json: Value) -> Compiled {
    let (request, _) = request::parse(&json).unwrap();
    compile(&Ensemble { name: "test".to_owned(), ..Ensemble::default() }, request, &catalog()).unwrap()
}

#[test]
fn a_condition_decides_and_what_reads_a_skipped_task_goes_on_without_it() {
    let drafts = vec![
        typed(task("triage", &[])),
        when(task("fix", &[]), "outputs.triage.kind == 'bug'"),
        when(task("thank", &[]), "outputs.triage.kind != 'bug'"),
        task("close", &["fix", "thank"]),
    ];
    let mut world = World::new(&parallel(drafts, OnError::FailFast));
    assert_eq!(world.places(), ["1"], "naming a task makes it a dependency");
    world.answers("1", r#"{"kind":"praise"}"#);
    assert_eq!(world.places(), ["3"]);
    world.answers("3", "You are welcome");
    let told = world.told("4").join("\n");
    assert!(told.contains("You are welcome") && !told.contains("fix"), "{told}");
    world.answers("4", "closed");
    assert_eq!(
        (world.status(), statuses(&world)),
        ("COMPLETED", ["COMPLETED", "SKIPPED", "COMPLETED", "COMPLETED"].map(str::to_owned).to_vec())
    );
    assert_eq!(causes(&world), [("fix".to_owned(), json!("condition"))]);
    let kinds = world.kinds(0);
    let count = |kind: &str| kinds.iter().filter(|found| *found == kind).count();
    assert_eq!((count("expression_evaluated"), count("task_skipped")), (2, 1));
}

#[test]
fn in_a_sequence_the_next_task_goes_on_after_one_that_was_skipped() {
    let drafts = vec![when(task("a", &[]), "inputs.deep"), task("b", &[])];
    let inputs = [("deep".to_owned(), json!(false))].into();
    let mut world = World::new(&Ensemble { inputs, ..ensemble(drafts) });
    assert_eq!(world.places(), ["2"]);
    world.answers("2", "done");
    assert_eq!(world.status(), "COMPLETED");
}

#[test]
fn an_expression_sees_null_for_what_failed_and_decides_all_the_same() {
    let drafts = vec![
        task("fetch", &[]),
        when(task("cached", &[]), "outputs.fetch == null"),
        task("report", &["fetch"]),
        task("tell", &["cached"]),
    ];
    let mut world = World::new(&parallel(drafts, OnError::ContinueOnError));
    lose(&mut world, "1");
    assert_eq!(world.places(), ["2"]);
    world.answers("2", "old");
    world.answers("4", "told");
    assert_eq!((world.status(), causes(&world)), ("FAILED", vec![("report".to_owned(), json!("upstream"))]));
}

#[test]
fn what_an_upstream_failure_skips_is_not_read_as_a_condition() {
    let drafts = vec![task("a", &[]), task("b", &["a"]), task("c", &["b"]), task("d", &[])];
    let mut world = World::new(&parallel(drafts, OnError::ContinueOnError));
    lose(&mut world, "1");
    assert_eq!(causes(&world).len(), 2);
    assert_eq!(world.places(), ["4"]);
}

#[test]
fn a_task_is_done_for_each_item_in_parallel_and_its_output_is_the_list_in_order() {
    let cook = Draft {
        each: Each { list: Some("outputs.plan.dishes".to_owned()), max_items: None, max_parallel: Some(2) },
        description: "Cook {item.name} as number {index}: {item}".to_owned(),
        ..task("cook", &["plan"])
    };
    let mut world =
        World::new(&parallel(vec![typed(task("plan", &[])), cook, task("serve", &["cook"])], OnError::FailFast));
    world.answers("1", r#"{"dishes":[{"name":"soup"},{"name":"{item}"},{"name":"cake"}]}"#);
    assert_eq!(world.places(), ["2i0", "2i1"], "two at a time");
    assert!(world.told("2i0")[0].contains(r#"Cook soup as number 0: {"name":"soup"}"#), "{:?}", world.told("2i0"));
    assert!(world.told("2i1")[0].contains("Cook {item} as number 1"), "a value is not expanded again");
    world.answers("2i1", "second");
    assert_eq!(world.places(), ["2i0", "2i2"]);
    let running = detail(&world)["tasks"][1].clone();
    assert_eq!(
        (running["status"].as_str(), running["instances"][1]["output"].as_str()),
        (Some("RUNNING"), Some("second"))
    );
    world.answers("2i2", "third");
    world.answers("2i0", "first");
    assert!(world.told("3")[0].contains(r#"["first","second","third"]"#), "{:?}", world.told("3"));
    world.answers("3", "served");
    let tasks = detail(&world)["tasks"].take();
    assert_eq!(tasks[1]["parsedOutput"], json!(["first", "second", "third"]));
    assert_eq!(tasks[1]["output"], json!(r#"["first","second","third"]"#));
    let places: Vec<Value> = tasks[1]["instances"].as_array().unwrap().iter().map(|one| one["item"].clone()).collect();
    assert_eq!(places, [json!(0), json!(1), json!(2)]);
    let result = json!(world.run.result("run-1"));
    let outputs: Vec<&str> =
        result["outputs"].as_array().unwrap().iter().map(|one| one["taskName"].as_str().unwrap()).collect();
    assert_eq!((outputs, world.status()), (vec!["plan", "cook", "serve"], "COMPLETED"));
}

#[test]
fn frames_of_an_instance_name_the_declared_task_and_the_item() {
    let mut world = World::new(&ensemble(vec![each(task("a", &[]), "[7, 8]")]));
    world.answers("1i1", "x");
    let mut run = crate::state::run::Run::default();
    let mut ends = Vec::new();
    for (seq, event) in world.log.iter().enumerate() {
        run.apply(event);
        let frame: Value = serde_json::from_str(&run.frame("run-1", seq as u64, event).text()).unwrap();
        if frame["type"] == "task_started" || frame["type"] == "task_completed" {
            ends.push((frame["taskIndex"].clone(), frame["item"].clone(), frame["turnId"].clone()));
        }
    }
    let expected = [(1, 0, "1i0"), (1, 1, "1i1"), (1, 1, "1i1")];
    assert_eq!(ends, expected.map(|(task, item, id)| (json!(task), json!(item), json!(id))));
}

#[test]
fn a_failed_item_is_null_where_others_go_on_and_ends_the_run_elsewhere() {
    let drafts = || vec![each(task("a", &[]), "['x', 'y']"), task("b", &["a"])];
    let mut world = World::new(&parallel(drafts(), OnError::ContinueOnError));
    lose(&mut world, "1i0");
    world.answers("1i1", "fine");
    assert!(world.told("2")[0].contains(r#"[null,"fine"]"#), "{:?}", world.told("2"));
    world.answers("2", "done");
    assert_eq!(world.status(), "COMPLETED");
    let mut world = World::new(&parallel(drafts(), OnError::FailFast));
    lose(&mut world, "1i0");
    world.answers("1i1", "fine");
    assert_eq!((world.status(), statuses(&world)), ("FAILED", vec!["FAILED".to_owned(), "SKIPPED".to_owned()]));
    assert!(world.run.error().unwrap().contains("task 'a' (item 0) failed"), "{:?}", world.run.error());
}

#[test]
fn too_many_items_a_wrong_type_and_an_error_fail_the_task_by_name() {
    for (source, code) in [
        ("inputs.many", "TOO_MANY_ITEMS: the list has 101 items"),
        ("inputs.many.size()", "EXPRESSION_FAILED: `for_each`: must come to a list, not a number"),
        ("inputs.many[500]", "EXPRESSION_FAILED: `for_each`:"),
    ] {
        let inputs = [("many".to_owned(), json!(vec![1; 101]))].into();
        let world = World::new(&Ensemble { inputs, ..ensemble(vec![each(task("a", &[]), source)]) });
        let error = detail(&world)["tasks"][0]["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with(code), "{error}");
        assert_eq!(world.status(), "FAILED");
    }
    let world = World::new(&ensemble(vec![when(task("a", &[]), "'yes'")]));
    assert_eq!(
        detail(&world)["tasks"][0]["error"],
        "EXPRESSION_FAILED: `when`: must come to true or false, not a string"
    );
    let world = World::new(&ensemble(vec![each(task("a", &[]), "[]")]));
    assert_eq!((world.status(), detail(&world)["tasks"][0]["parsedOutput"].clone()), ("COMPLETED", json!([])));
}

fn draft_and_critique(max_rounds: u32, on_max_rounds: Option<consort_spec::branch::OnMaxRounds>) -> Ensemble {
    let drafts = vec![
        task("draft", &["critique"]),
        typed(task("critique", &["draft"])),
        task("print", &["draft-and-critique", "draft"]),
    ];
    let group = Group {
        name: "draft-and-critique".to_owned(),
        tasks: vec!["draft".to_owned(), "critique".to_owned()],
        repeat_until: Some("outputs.critique.approved && round >= 0".to_owned()),
        max_rounds: Some(max_rounds),
        on_max_rounds,
        ..Group::default()
    };
    Ensemble { groups: vec![group], ..parallel(drafts, OnError::FailFast) }
}

#[test]
fn a_group_is_repeated_until_its_condition_holds_and_reads_the_round_before() {
    let mut world = World::new(&draft_and_critique(5, None));
    assert_eq!(world.places(), ["1r0"]);
    assert!(!world.told("1r0")[0].contains("Context"), "nothing in round 0");
    world.answers("1r0", "first draft");
    assert!(world.told("2r0")[0].contains("first draft"));
    world.answers("2r0", r#"{"approved":false,"why":"too short"}"#);
    assert!(world.told("1r1")[0].contains("too short"), "{:?}", world.told("1r1"));
    world.crash();
    world.answers("1r1", "second draft");
    assert!(world.told("2r1")[0].contains("second draft") && !world.told("2r1")[0].contains("first draft"));
    world.answers("2r1", r#"{"approved":true}"#);
    let told = world.told("3")[0].clone();
    assert!(told.contains("second draft") && told.contains(r#"{"approved":true}"#), "{told}");
    world.answers("3", "printed");
    assert_eq!(world.status(), "COMPLETED");
    let tasks = detail(&world)["tasks"].take();
    assert_eq!(
        (tasks[0]["output"].clone(), tasks[0]["group"].clone()),
        (json!("second draft"), json!("draft-and-critique"))
    );
    let rounds: Vec<Value> = tasks[1]["instances"].as_array().unwrap().iter().map(|one| one["round"].clone()).collect();
    assert_eq!(rounds, [json!(0), json!(1)]);
}

#[test]
fn a_group_out_of_rounds_fails_or_is_taken_as_it_is() {
    use consort_spec::branch::OnMaxRounds;
    for (rule, status) in [(None, "FAILED"), (Some(OnMaxRounds::Accept), "COMPLETED")] {
        let mut world = World::new(&draft_and_critique(2, rule));
        for round in 0..2 {
            world.answers(&format!("1r{round}"), "draft");
            world.answers(&format!("2r{round}"), r#"{"approved":false}"#);
        }
        if rule.is_some() {
            world.answers("3", "printed");
        }
        assert_eq!(world.status(), status);
        if rule.is_none() {
            assert!(world.run.error().unwrap().contains("MAX_ROUNDS"), "{:?}", world.run.error());
            assert_eq!(statuses(&world), ["FAILED", "FAILED", "SKIPPED"]);
        }
    }
}

#[test]
fn a_group_is_fanned_out_item_by_item_and_skipped_as_one() {
    let request = |condition: &str| {
        json!({ "inputs": { "cities": ["Rome", "Oslo"], "go": condition }, "options": { "workflow": "PARALLEL" },
            "tasks": [{ "name": "visit", "description": "Visit {item}" },
                { "name": "rate", "description": "Rate {item}", "context": ["$visit"], "when": "index == 0 || outputs.visit != 'dull'" },
                { "name": "sum", "description": "Sum up", "context": ["$trip"] }],
            "groups": [{ "name": "trip", "tasks": ["visit", "rate"], "when": "inputs.go == 'yes'", "forEach": "inputs.cities", "maxParallel": 1 }] })
    };
    let mut world = World::of(compiled(request("yes")));
    assert_eq!(world.places(), ["1i0"]);
    world.answers("1i0", "warm");
    assert!(world.told("2i0")[0].contains("Rate Rome") && world.told("2i0")[0].contains("warm"));
    world.answers("2i0", "5");
    world.answers("1i1", "dull");
    assert!(world.told("3")[0].contains(r#"["5",null]"#), "{:?}", world.told("3"));
    world.answers("3", "done");
    assert_eq!(world.status(), "COMPLETED");
    let mut world = World::of(compiled(request("no")));
    assert_eq!(world.places(), ["3"]);
    world.answers("3", "nothing to sum up");
    let skipped = [("visit".to_owned(), json!("condition")), ("rate".to_owned(), json!("condition"))];
    assert_eq!((world.status(), causes(&world)), ("COMPLETED", skipped.to_vec()));
}

#[test]
fn each_instance_has_its_own_reviews() {
    let reviewed = Draft { review: Some(ReviewRule::Required), ..each(task("a", &[]), "[1, 2]") };
    let mut world = World::new(&ensemble(vec![reviewed]));
    world.answers("1i1", "two");
    world.answers("1i0", "one");
    let decide = |review, decision| Command::Review { review, decision, by: "me".to_owned() };
    world.command(decide(0, Decision::Edit { output: "zwei".into() })).unwrap();
    let instances = detail(&world)["tasks"][0]["instances"].take();
    assert_eq!(
        (instances[0]["status"].clone(), instances[1]["reviews"][0]["outcome"].clone()),
        (json!("WAITING"), json!("EDIT"))
    );
    let pending = detail(&world)["pendingReviews"].take();
    assert_eq!((pending[0]["turnId"].clone(), pending[0]["item"].clone()), (json!("1i0"), json!(0)));
    world.command(decide(1, Decision::Continue)).unwrap();
    assert_eq!(detail(&world)["parsedOutput"], json!(["one", "zwei"]));
}

#[test]
fn a_retry_keeps_items_and_rounds_that_are_done_and_what_a_condition_skipped() {
    let drafts = vec![
        typed(task("plan", &[])),
        each(task("cook", &[]), "outputs.plan"),
        when(task("no", &[]), "false"),
        task("eat", &["cook", "no"]),
    ];
    let mut world = World::new(&parallel(drafts, OnError::FailFast));
    world.answers("1", r#"["a","b","c"]"#);
    world.answers("2i2", "C");
    lose(&mut world, "2i0");
    world.answers("2i1", "B");
    assert_eq!(world.status(), "FAILED");
    retry(&mut world);
    assert_eq!(world.places(), ["2i0"], "only what failed is done again");
    let instances = detail(&world)["tasks"][1]["instances"].take();
    assert_eq!((instances[1]["inherited"].clone(), instances[0]["inherited"].clone()), (json!(true), Value::Null));
    world.answers("2i0", "A");
    assert!(world.told("4")[0].contains(r#"["A","B","C"]"#));
    world.answers("4", "good");
    assert_eq!(world.status(), "COMPLETED");

    let mut world = World::new(&draft_and_critique(5, None));
    world.answers("1r0", "draft");
    world.answers("2r0", r#"{"approved":false}"#);
    world.answers("1r1", "better draft");
    lose(&mut world, "2r1");
    retry(&mut world);
    assert_eq!(world.places(), ["2r1"], "the loop goes on in the round it failed in");

    let mut world = World::new(&draft_and_critique(1, None));
    world.answers("1r0", "draft");
    world.answers("2r0", r#"{"approved":false}"#);
    retry(&mut world);
    assert_eq!(world.places(), ["1r0"], "a group that ran out of rounds begins anew");
}

#[test]
fn a_retry_evaluates_a_condition_again_once_what_it_names_was_done_again() {
    let group = Group {
        name: "feast".to_owned(),
        tasks: vec!["fry".to_owned(), "serve".to_owned()],
        when: Some("outputs.taste != null".to_owned()),
        ..Group::default()
    };
    let drafts = vec![
        task("shop", &[]),
        when(task("taste", &[]), "outputs.shop == 'fresh'"),
        when(task("mourn", &[]), "outputs.shop == null"),
        when(task("no", &[]), "false"),
        task("fry", &[]),
        task("serve", &["fry"]),
    ];
    let mut world = World::new(&Ensemble { groups: vec![group], ..parallel(drafts, OnError::ContinueOnError) });
    lose(&mut world, "1");
    world.answers("3", "alas");
    let skipped = |world: &World| causes(world).into_iter().map(|(task, _)| task).collect::<Vec<_>>();
    assert_eq!(skipped(&world), ["taste", "no", "fry", "serve"]);
    retry(&mut world);
    assert_eq!((world.places(), skipped(&world)), (vec!["1"], vec!["no".to_owned()]), "what names nothing stays");
    world.answers("1", "fresh");
    assert_eq!(world.places(), ["2"]);
    world.answers("2", "good");
    world.answers("5", "brown");
    world.answers("6", "eaten");
    assert_eq!((world.status(), skipped(&world)), ("COMPLETED", vec!["no".to_owned()]));
    assert_eq!(detail(&world)["tasks"][2]["output"], "alas", "what was completed is kept");
}

/// Lets a task fail, at its model and at the one it falls back to.
fn lose(world: &mut World, conversation: &str) {
    while world.places().contains(&conversation) {
        world.fails(conversation, FailureKind::Refused);
    }
}

fn retry(world: &mut World) {
    let edits = Edits::default();
    let catalog = catalog();
    let wanted = Wanted { keep: Keep::Completed, edits: &edits, catalog: &catalog, by: "me", traceparent: None };
    let forked = fork::fork(("run-1", &world.log), &wanted, crate::tests::world::own(), world.now).unwrap();
    let forked = forked.finish(|_source| None).unwrap();
    world.start_over(forked.events);
    world.command(Command::Adopt(Adoption::default())).unwrap();
}

#[test]
fn a_result_is_never_computed_again() {
    let mut world = World::new(&ensemble(vec![when(each(task("a", &[]), "[1, 2]"), "true")]));
    world.crash();
    world.answers("1i0", "x");
    world.crash();
    world.answers("1i1", "y");
    let evaluated =
        world.log.iter().filter(|event| matches!(event.kind, EventKind::ExpressionEvaluated { .. })).count();
    assert_eq!((evaluated, world.status()), (2, "COMPLETED"));
}

#[test]
fn every_mistake_of_expressions_and_groups_is_told_with_its_key() {
    let tasks = json!([{ "name": "a", "description": "x" }, { "name": "b", "description": "y", "context": ["$a"] }]);
    let with = |index: usize, more: Value| {
        let mut tasks = tasks.clone();
        tasks[index].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "tasks": tasks })
    };
    let group = |more: Value| {
        let mut group = json!({ "name": "g", "tasks": ["a", "b"] });
        group.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "tasks": tasks, "groups": [group] })
    };
    let cases = [
        (with(1, json!({ "when": "outputs.nobody == 1" })), "INVALID_EXPRESSION tasks[1].when"),
        (with(1, json!({ "when": "" })), "INVALID_EXPRESSION tasks[1].when"),
        (with(1, json!({ "forEach": "outputs.a.map(" })), "INVALID_EXPRESSION tasks[1].forEach"),
        (with(1, json!({ "when": "item == 1" })), "INVALID_EXPRESSION tasks[1].when"),
        (with(1, json!({ "when": "inputs.missing == 1" })), "MISSING_INPUT inputs"),
        (with(0, json!({ "when": "outputs.b == ''" })), "CIRCULAR_DEPENDENCY tasks[0].context"),
        (with(0, json!({ "maxItems": 3 })), "BAD_REQUEST tasks[0].maxItems"),
        (with(0, json!({ "forEach": "[1]", "maxItems": 20_000 })), "BAD_REQUEST tasks[0].maxItems"),
        (group(json!({})), "BAD_REQUEST groups[0]"),
        (group(json!({ "repeatUntil": "true", "forEach": "[1]" })), "BAD_REQUEST groups[0].repeatUntil"),
        (group(json!({ "repeatUntil": "outputs.c" })), "INVALID_EXPRESSION groups[0].repeatUntil"),
        (group(json!({ "when": "outputs.a == ''" })), "INVALID_EXPRESSION groups[0].when"),
        (group(json!({ "when": "true", "maxRounds": 2 })), "BAD_REQUEST groups[0].maxRounds"),
        (group(json!({ "when": "true", "tasks": ["a", "z"] })), "BAD_REQUEST groups[0].tasks[1]"),
        (group(json!({ "when": "true", "tasks": ["a", "a"] })), "BAD_REQUEST groups[0].tasks[1]"),
        (group(json!({ "when": "true", "name": "a" })), "BAD_REQUEST groups[0].name"),
        (group(json!({ "repeatUntil": "true", "maxRounds": 5_000 })), "BAD_REQUEST groups[0].maxRounds"),
    ];
    for (json, expected) in cases {
        assert_eq!(codes(json.clone()), [expected], "{json}");
    }
    let mut hierarchy = group(json!({ "when": "true" }));
    hierarchy["options"] = json!({ "workflow": "HIERARCHICAL" });
    assert_eq!(codes(hierarchy), ["BAD_REQUEST groups"]);
    let overridden = request::parse(&json!({ "taskOverrides": { "a": { "when": "true" } } })).unwrap_err();
    assert_eq!(overridden[0].place, "taskOverrides.a.when");
    assert_eq!(request::parse(&json!({ "groups": [{ "name": "g", "tasks": ["a"] }] })).unwrap_err()[0].place, "groups");
    let late = json!({ "options": { "workflow": "SEQUENTIAL" }, "tasks": [{ "name": "a", "description": "x", "when": "outputs.b == ''" }, { "name": "b", "description": "y" }] });
    assert_eq!(codes(late), ["INVALID_EXPRESSION tasks[0].when"]);
}

#[test]
fn the_expressions_of_a_workflow_see_its_own_inputs_and_tasks() {
    let document = json!({ "name": "report", "inputs": { "loud": false }, "tasks": [
        { "name": "find", "description": "Find {topic}" },
        { "name": "shout", "description": "Shout", "when": "inputs.loud && outputs.find == inputs.topic" }] });
    let document: Document = serde_json::from_value(document).unwrap();
    let documents = [("report".to_owned(), Arc::new(document))].into();
    let catalog = Catalog { workflows: SavedWorkflows::Known(documents), ..catalog() };
    let tasks = json!([
        { "name": "quiet", "workflow": "report", "inputs": { "topic": "{word}" } },
        { "name": "loud", "workflow": "report", "inputs": { "topic": "{word}", "loud": true }, "context": ["$quiet"] }]);
    let (request, _) =
        request::parse(&json!({ "tasks": tasks, "inputs": { "word": "tea", "loud": "not theirs" } })).unwrap();
    let compiled = compile(&Ensemble { name: "test".to_owned(), ..Ensemble::default() }, request, &catalog).unwrap();
    let mut world = World::of(compiled);
    world.answers("1", "tea");
    world.answers("3", "tea");
    assert_eq!(world.places(), ["4"], "of the first, the condition does not hold");
    world.crash();
    world.answers("4", "TEA!");
    assert_eq!(world.status(), "COMPLETED");
}
