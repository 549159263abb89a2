//! Tests of the calls that a run makes for a task by itself.

use serde_json::json;

use super::world::{World, catalog, ensemble, task};
use crate::decisions::own_tool::OwnTool;
use consort_spec::compile::compile;
use consort_spec::draft::{Draft, Ensemble, Request};
use consort_spec::message::{FailureKind, Outcome};

fn one(draft: Draft) -> World {
    World::new(&ensemble(vec![draft]))
}

fn guarded() -> Draft {
    let guards = |name: &str| vec![name.to_owned()];
    Draft { input_guardrails: guards("look"), output_guardrails: guards("put"), ..task("a", &[]) }
}

#[test]
fn a_task_can_be_done_by_a_tool_without_any_model() {
    let handled = |name: &str, context: &[&str]| Draft { handler: Some("put".to_owned()), ..task(name, context) };
    let chain = Ensemble {
        inputs: [("x".to_owned(), "1".into())].into(),
        ..ensemble(vec![handled("a", &[]), handled("b", &["a"])])
    };
    let mut world = World::new(&chain);
    assert_eq!(world.places(), ["1.handle0.0"]);
    world.crash();
    assert_eq!(world.places(), ["1.handle0.0"], "repeated with its key, as its tool allows");
    world.returns("1.handle0.0", "first");
    let crate::decisions::next::Effect::Call { args, .. } = &world.waiting[0] else { panic!("calls") };
    assert_eq!((&args["context"], &args["inputs"]), (&json!({ "a": "first" }), &json!({ "x": "1" })));
    world.returns("2.handle0.0", "second");
    assert_eq!((world.status(), world.run.answer()), ("COMPLETED", Some("second")));
    assert_eq!((world.run.total_tokens(), world.run.totals().llm_calls), (0, 0));
    let none = consort_spec::compile::Catalog { models: Vec::new(), ..catalog() };
    assert!(compile(&chain, Request::default(), &none).is_ok(), "no model is needed");
}

#[test]
fn a_guardrail_that_objects_fails_the_task_before_or_after() {
    let mut world = one(guarded());
    world.ends_call("1.guardinput0.0", Outcome::failed("not today"));
    let words = "task 'a' failed: INPUT guardrail violation on agent 'Agent' task 'Do a': not today";
    assert_eq!(world.run.error(), Some(words));
    let mut world = one(guarded());
    world.returns("1.guardinput0.0", "fine");
    world.answers("1", "rude words");
    world.ends_call("1.guardoutput0.0", Outcome::failed("be polite"));
    assert!(world.run.error().unwrap().contains("OUTPUT guardrail violation"));
    let mut world = one(guarded());
    world.returns("1.guardinput0.0", "fine");
    world.answers("1", "kind words");
    world.returns("1.guardoutput0.0", "fine");
    assert_eq!(world.run.answer(), Some("kind words"));
    assert_eq!(world.run.totals().tool_calls, 0, "nobody asked for these calls");
}

#[test]
fn what_earlier_runs_remembered_is_in_the_prompt_and_the_output_is_remembered() {
    let draft = Draft { memory: vec!["facts".to_owned()], reflection: true, ..task("a", &[]) };
    let mut world = one(draft.clone());
    assert_eq!(world.places(), ["1.recall0.0", "1.recall0.1"]);
    world.returns("1.recall0.0", "bees dance");
    world.returns("1.recall0.1", "be brief");
    let prompt = world.told("1")[0].clone();
    assert!(
        prompt
            .starts_with("## Memory: facts\nbees dance\n\n## Task Improvement Notes (from prior executions)\nbe brief"),
        "{prompt}"
    );
    world.answers("1", "the answer");
    assert!(world.told("1").last().unwrap().contains("next time"), "it is asked what could be better");
    world.answers("1", "ask sooner");
    let stored: Vec<_> = world
        .waiting
        .iter()
        .map(|effect| match effect {
            crate::decisions::next::Effect::Call { tool, args, .. } => {
                (tool.name.clone(), args["scope"].clone(), args["text"].clone())
            }
            crate::decisions::next::Effect::Ask(_) => panic!("calls"),
        })
        .collect();
    let expected = [("facts", "the answer"), ("reflection/test/a", "ask sooner")];
    assert_eq!(
        stored,
        expected.map(|(scope, text)| (OwnTool::MemoryStore.name().to_owned(), json!(scope), json!(text)))
    );
    world.crash();
    world.returns("1.remember0.0", "ok");
    world.ends_call("1.remember0.1", Outcome::failed("disk full"));
    assert_eq!((world.status(), world.run.answer()), ("COMPLETED", Some("the answer")), "forgetting is no failure");

    let mut world = one(draft);
    world.returns("1.recall0.0", "");
    world.ends_call("1.recall0.1", Outcome::failed("gone"));
    assert!(world.told("1")[0].starts_with("## Task"), "what is not there leaves no section");
    world.answers("1", "the answer");
    world.fails("1", FailureKind::Refused);
    world.fails("1", FailureKind::Refused);
    assert_eq!(world.places(), ["1.remember0.0"], "a critique is not worth failing a task for");
}
