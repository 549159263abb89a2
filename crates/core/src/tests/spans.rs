//! Tests of the spans of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::world::{World, catalog, ensemble, reply, task};
use crate::decisions::answer::Completeness;
use crate::decisions::own_tool::OwnTool;
use crate::projections::span::{Attribute, Kind, RUN, Span};
use consort_spec::catalog::ModelInfo;
use consort_spec::compile::{Catalog, compile};
use consort_spec::draft::{Draft, Request};
use consort_spec::event::{Event, EventKind};
use consort_spec::message::{FailureKind, Outcome};

const SUBTASK: &str = r#"{ "title": "Look around", "instructions": "Look" }"#;

/// Returns name, id and parent of every span, in the order they ended.
fn tree(world: &World) -> Vec<(&str, &str, &str)> {
    world.spans.iter().map(|span| (&*span.name, &*span.place, span.parent.as_deref().unwrap_or("-"))).collect()
}

fn found<'a>(world: &'a World, place: &str) -> &'a Span {
    world.spans.iter().find(|span| span.place == place).unwrap_or_else(|| panic!("no {place} in {:?}", tree(world)))
}

fn attribute<'a>(span: &'a Span, name: &str) -> Option<&'a Attribute> {
    span.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[test]
fn everything_that_took_time_is_a_span_within_what_it_was_done_for() {
    let mut world = World::new(&ensemble(vec![task("a", &[])]));
    world.now += 10;
    world.calls("1", &[("look", "{}"), (OwnTool::RunSubtask.name(), SUBTASK)]);
    world.now += 10;
    world.returns("1.0.0", "a wall");
    world.answers("1.0.1", "seen");
    world.answers("1", "done");
    let expected = [
        ("chat big", "1?1.0", "1"),
        ("execute_tool look", "1.0.0", "1"),
        ("chat big", "1.0.1?1.0", "1.0.1"),
        ("invoke_agent Agent", "1.0.1", "1"),
        ("chat big", "1?2.0", "1"),
        ("invoke_agent Agent", "1", RUN),
        ("invoke_workflow test", RUN, "-"),
    ];
    assert_eq!(tree(&world), expected);
    let times = |place: &str| (found(&world, place).start, found(&world, place).end);
    assert_eq!((times("1?1.0"), times("1.0.0")), ((1000, 1010), (1019, 1020)));
    assert_eq!((times("1.0.1"), times(RUN)), ((1010, 1020), (1000, 1020)));
}

#[test]
fn a_model_call_says_who_was_asked_and_what_it_took() {
    let served = |model: &ModelInfo| ModelInfo {
        model: "gemini-9-pro".to_owned(),
        provider: "gemini".to_owned(),
        ..model.clone()
    };
    let models = catalog().models.iter().map(|model| served(model).into()).collect();
    let catalog = Catalog { models, ..catalog() };
    let mut world = World::of(compile(&ensemble(vec![task("a", &[])]), Request::default(), &catalog).unwrap());
    world.calls("1", &[("look", "{}")]);
    world.returns("1.0.0", "a wall");
    world.answers("1", "done");
    let chat = found(&world, "1?1.0");
    assert_eq!((chat.name.as_str(), chat.kind, &chat.error), ("chat gemini-9-pro", Kind::Client, &None));
    let text = |text: &str| Attribute::Text(text.to_owned());
    let expected = [
        ("gen_ai.operation.name", text("chat")),
        ("gen_ai.provider.name", text("gcp.gemini")),
        ("gen_ai.request.model", text("gemini-9-pro")),
        ("consort.model", text("big")),
        ("consort.attempt", Attribute::Whole(0)),
        ("gen_ai.response.finish_reasons", Attribute::Texts(vec!["tool_calls".to_owned()])),
        ("gen_ai.usage.input_tokens", Attribute::Whole(10)),
        ("gen_ai.usage.output_tokens", Attribute::Whole(5)),
        ("gen_ai.usage.cache_read.input_tokens", Attribute::Whole(0)),
        ("gen_ai.usage.reasoning.output_tokens", Attribute::Whole(0)),
        ("consort.run.id", text("run-1")),
    ];
    assert_eq!(chat.attributes, expected);
    let stop = Attribute::Texts(vec!["stop".to_owned()]);
    assert_eq!(attribute(found(&world, "1?2.0"), "gen_ai.response.finish_reasons"), Some(&stop));
    let called = found(&world, "1.0.0");
    assert_eq!(attribute(called, "gen_ai.tool.call.id"), Some(&text("call_0")));
    let agent = found(&world, "1");
    assert_eq!(attribute(agent, "consort.usage.input_tokens"), Some(&Attribute::Whole(20)));
    let counted_again = |name: &str| name.starts_with("gen_ai.usage.") || name == "gen_ai.request.model";
    assert!(!agent.attributes.iter().any(|(name, _)| counted_again(name)), "{agent:?}");
}

#[test]
fn what_was_said_is_told_on_request_and_cut_where_it_is_long() {
    let mut world = World::new(&ensemble(vec![task("a", &[])]));
    world.calls("1", &[("look", r#"{"n":1}"#)]);
    let content = |world: &World, kind: EventKind| -> BTreeMap<&'static str, Value> {
        let told = world.run.span_content(&Event { at: world.now, kind });
        let json = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        let value =
            |value: Attribute| if let Attribute::Content(text) = value { json(&text) } else { panic!("{value:?}") };
        told.into_iter().map(|(name, told)| (name, value(told))).collect()
    };
    let outcome = Outcome::answer("a wall");
    let returned = EventKind::ToolReturned { call: "1.0.0".into(), outcome, duration_ms: 1, cause: None };
    let called = content(&world, returned);
    assert_eq!(called["gen_ai.tool.call.arguments"], json!({ "n": 1 }));
    assert_eq!(called["gen_ai.tool.call.result"], "a wall");

    world.returns("1.0.0", &"x".repeat(100_000));
    let answer = Arc::new(reply("done", &[]));
    let completeness = Completeness::Whole;
    let replied =
        EventKind::ModelReplied { conversation: "1".into(), reply: answer, usage: None, latency_ms: 1, completeness };
    let asked = content(&world, replied);
    let roles = |messages: &Value| -> Vec<String> {
        let role = |message: &Value| message["role"].as_str().unwrap().to_owned();
        messages.as_array().unwrap().iter().map(role).collect()
    };
    assert_eq!(roles(&asked["gen_ai.input.messages"]), ["user", "assistant", "tool"]);
    let call = &asked["gen_ai.input.messages"][1]["parts"][0];
    assert_eq!(
        (&call["type"], &call["name"], &call["arguments"]),
        (&json!("tool_call"), &json!("look"), &json!({ "n": 1 }))
    );
    let told = asked["gen_ai.input.messages"][2]["parts"][0]["response"].as_str().unwrap();
    assert!(told.len() < 20_000 && told.ends_with('…'), "{}", told.len());
    let said =
        json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "done" }], "finish_reason": "stop" }]);
    assert_eq!(asked["gen_ai.output.messages"], said);
    assert_eq!(asked["gen_ai.system_instructions"][0]["type"], "text");
    assert!(
        world.spans.iter().flat_map(|span| &span.attributes).all(|(_, told)| !matches!(told, Attribute::Content(_)))
    );
}

#[test]
fn every_attempt_is_a_span_and_says_what_went_wrong() {
    let mut world = World::new(&ensemble(vec![Draft { max_iterations: Some(2), ..task("a", &[]) }]));
    world.fails("1", FailureKind::Overloaded);
    world.pass(60_000);
    world.fails("1", FailureKind::Overloaded);
    world.calls("1", &[("pay", "{}"), ("look", "{}")]);
    world.ends_call("1.0.0", Outcome::unknown("the owner died"));
    world.ends_call("1.0.1", Outcome::failed("the secret of the house"));
    world.fails("1", FailureKind::Refused);
    let errors: Vec<(&str, Option<&str>)> =
        world.spans.iter().map(|span| (&*span.place, span.error.as_deref())).collect();
    let expected = [
        ("1?1.0", Some("provider error: no")),
        ("1?1.1", Some("provider error: no")),
        ("1?2.0", None),
        ("1.0.0", Some("the owner died")),
        ("1.0.1", Some("the call failed")),
        ("1?3.0", Some("refused: no")),
        ("1", Some("refused: no")),
        (RUN, Some("task 'a' failed: refused: no")),
    ];
    assert_eq!(errors, expected, "what a tool said is not told");
    assert_eq!(found(&world, "1?2.0").name, "chat small", "the fallback answered");
    let kind = |place: &str| attribute(found(&world, place), "error.type").cloned();
    assert_eq!(kind("1?1.0"), Some("overloaded".into()));
    assert_eq!(kind("1.0.0"), Some("outcome_unknown".into()));
}

#[test]
fn a_question_that_is_asked_again_after_a_crash_has_a_place_of_its_own() {
    let mut world = World::new(&ensemble(vec![task("a", &[])]));
    let place = |world: &World| world.run.span_place(&world.waiting[0]);
    let before = place(&world);
    world.crash();
    assert_ne!(place(&world), before);
    let asked = place(&world);
    world.answers("1", "done");
    assert_eq!(world.spans[0].place, asked, "what goes out with the question is what is told of it later");
}
