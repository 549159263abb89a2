//! What a run did, as spans.

use super::world::{World, catalog, ensemble, task};
use crate::catalog::ModelInfo;
use crate::compile::{Catalog, compile};
use crate::draft::{Draft, Request};
use crate::message::{FailureKind, Outcome};
use crate::span::{Attribute, Kind, RUN, Span};
use crate::subtask;

const SUBTASK: &str = r#"{ "title": "Look around", "instructions": "Look" }"#;

/// Name, place and parent of every span, in the order they ended.
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
    world.calls("1", &[("look", "{}"), (subtask::RUN, SUBTASK)]);
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
    assert_eq!(attribute(found(&world, "1"), "gen_ai.usage.input_tokens"), Some(&Attribute::Whole(20)));
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
