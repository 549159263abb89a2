//! Tests of model options: the task's, the run's and the model's own.

use std::sync::Arc;

use super::world::{World, catalog, ensemble, task};
use crate::decisions::edit;
use crate::decisions::next::Effect;
use consort_spec::catalog::ModelInfo;
use consort_spec::compile::{Catalog, compile};
use consort_spec::draft::{Draft, Request};
use consort_spec::message::FailureKind;
use consort_spec::model_options::ModelOptions;

fn heat(temperature: f64) -> ModelOptions {
    ModelOptions { temperature: Some(temperature), ..ModelOptions::default() }
}

/// Returns the usual models, of which the fallback is another provider's.
fn two_providers() -> Catalog {
    let mut catalog = catalog();
    let big = ModelInfo { options: ModelOptions { top_p: Some(0.9), ..heat(1.9) }, ..(*catalog.models[0]).clone() };
    let small = ModelInfo { provider: "anthropic".to_owned(), ..(*catalog.models[1]).clone() };
    catalog.models = vec![Arc::new(big), Arc::new(small)];
    catalog
}

fn seeded() -> Request {
    Request { model_options: ModelOptions { seed: Some(7), ..heat(0.5) }, ..Request::default() }
}

fn asked(world: &World) -> (String, ModelOptions) {
    match world.waiting.as_slice() {
        [Effect::Ask(question)] => (question.model.clone(), question.options),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_model_is_asked_with_the_options_nearest_to_the_call_and_a_fallback_with_what_fits_it() {
    let ensemble = ensemble(vec![Draft { model_options: heat(0.0), ..task("a", &[]) }, task("b", &[])]);
    let mut world = World::of(compile(&ensemble, seeded(), &two_providers()).unwrap());
    let own = ModelOptions { top_p: Some(0.9), seed: Some(7), ..heat(0.0) };
    assert_eq!(asked(&world), ("big".to_owned(), own));
    world.answers("1", "done");
    assert_eq!(
        asked(&world).1,
        ModelOptions { temperature: Some(0.5), ..own },
        "the run's where the task says nothing"
    );
    world.fails("2", FailureKind::Overloaded);
    world.pass(60_000);
    assert_eq!(asked(&world).1.seed, Some(7), "a repetition is asked alike");
    world.fails("2", FailureKind::Overloaded);
    world.pass(60_000);
    assert_eq!(asked(&world), ("small".to_owned(), heat(0.5)), "another provider has no seed");
}

#[test]
fn what_the_first_model_has_no_word_for_is_a_mistake_of_the_request() {
    let on_small = Draft { model: Some("small".to_owned()), model_options: heat(1.5), ..task("a", &[]) };
    let mistakes = compile(&ensemble(vec![on_small]), seeded(), &two_providers()).unwrap_err();
    let places: Vec<&str> = mistakes.iter().map(|mistake| mistake.place.as_str()).collect();
    assert_eq!(places, ["tasks[0].modelOptions.temperature", "modelOptions.seed"]);
}

#[test]
fn a_run_that_goes_on_from_another_keeps_its_options_unless_told_otherwise() {
    let ensemble = ensemble(vec![task("a", &[]), Draft { model_options: heat(0.1), ..task("b", &[]) }]);
    let world = World::of(compile(&ensemble, seeded(), &two_providers()).unwrap());
    let changed = Request { model_options: heat(0.7), ..Request::default() };
    let edited = edit::apply(&world.run, &changed, &two_providers()).unwrap().unwrap();
    assert_eq!(edited.spec.model_options, ModelOptions { seed: Some(7), ..heat(0.7) });
    assert_eq!(edited.spec.tasks[1].model_options, heat(0.1));
}
