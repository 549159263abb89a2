//! Tests of reviews that are not answered: which of them the timeout decides, and the slot of a run that
//! waits only for people.

use serde_json::json;

use super::world::{World, ensemble, task};
use crate::decisions::decide::Command;
use crate::decisions::next::Needs;
use crate::projections::view::WaitingFor;
use consort_spec::draft::{Draft, Ensemble, Request, RequestOptions};
use consort_spec::event::{CancelMode, Decision, End, Event, EventKind, Exit};
use consort_spec::spec::{OnTimeout, Review, ReviewPolicy, ReviewRule, Spec};

const YEAR_MS: u64 = 365 * 24 * 3_600_000;

fn required(name: &str) -> Draft {
    Draft { review: Some(ReviewRule::Required), ..task(name, &[]) }
}

/// Creates a run of two tasks whose first one has come to its review.
fn asked(draft: Draft, review: Review) -> World {
    let before = draft.review_before;
    let mut world = World::new(&Ensemble { review, ..ensemble(vec![draft, task("b", &[])]) });
    if !before {
        world.answers("1", "draft");
    }
    world
}

fn decide(world: &mut World, decision: Decision) {
    world.command(Command::Review { review: 0, decision, by: "me".to_owned() }).unwrap();
}

/// Returns the announced time in milliseconds, and the action at its end.
fn announced(world: &World) -> (u64, Option<String>) {
    let review = serde_json::json!(world.run.pending_reviews("r").remove(0));
    let timeout = review["timeoutMs"].as_u64().unwrap();
    let then = review["onTimeout"].as_str().map(str::to_owned);
    assert_eq!(review.get("expiresAt").is_some(), timeout > 0, "{review}");
    (timeout, then)
}

#[test]
fn silence_decides_what_a_task_demands_only_where_that_was_written() {
    let gates = [
        ("required", required("a"), ReviewPolicy::Never),
        ("before", Draft { review_before: true, ..task("a", &[]) }, ReviewPolicy::Never),
        ("policy", task("a", &[]), ReviewPolicy::AfterEveryTask),
    ];
    let written = [None, Some(OnTimeout::Continue), Some(OnTimeout::ExitEarly), Some(OnTimeout::Fail)];
    for (gate, draft, policy) in gates {
        for on_timeout in written {
            for (own, usual) in [(None, 100), (Some(7), 7), (Some(0), 0)] {
                let review = Review { policy, timeout_ms: 100, on_timeout };
                let world = asked(Draft { review_timeout_ms: own, ..draft.clone() }, review);
                let (timeout, then) = match (gate, on_timeout, own) {
                    (_, Some(written), _) => (usual, Some(written)),
                    ("policy", None, _) => (usual, Some(OnTimeout::Continue)),
                    (_, None, Some(own)) => (own, Some(OnTimeout::ExitEarly)),
                    (_, None, None) => (0, None),
                };
                let word = then.filter(|_| timeout > 0).map(|then| json!(then).as_str().unwrap().to_owned());
                assert_eq!(announced(&world), (timeout, word), "{gate}, {on_timeout:?}, {own:?}");
            }
        }
    }
}

#[test]
fn a_demanded_review_waits_for_ever_and_with_a_time_of_its_own_it_ends_the_run_there() {
    for draft in [required("a"), Draft { review_before: true, ..task("a", &[]) }] {
        let mut world = asked(draft.clone(), Review::default());
        world.pass(100 * YEAR_MS);
        world.crash();
        assert_eq!((world.status(), announced(&world)), ("RUNNING", (0, None)));
        let mut world = asked(Draft { review_timeout_ms: Some(50), ..draft }, Review::default());
        world.pass(50);
        assert_eq!(world.run.end(), Some(&End::Completed { exit: Exit::Timeout }), "it was not approved");
        let left_out = json!(world.run.detail("r"))["tasks"][1].clone();
        assert_eq!(left_out["status"], "SKIPPED");
        assert_ne!(left_out["cause"], "upstream", "nothing has failed: {left_out}");
    }
}

#[test]
fn a_request_can_say_what_silence_means_and_a_fork_keeps_it() {
    let options = |on_timeout| RequestOptions { on_timeout, ..RequestOptions::default() };
    let of = |written, asked| {
        let review = Review { on_timeout: written, ..Review::default() };
        let request = Request { options: options(asked), ..Request::default() };
        let ensemble = Ensemble { review, ..ensemble(vec![required("a"), task("b", &[])]) };
        consort_spec::compile::compile(&ensemble, request, &super::world::catalog()).unwrap()
    };
    let fail = Some(OnTimeout::Fail);
    let on = Some(OnTimeout::Continue);
    let cases = [(None, None, None), (None, on, on), (fail, None, fail), (fail, on, on)];
    for (written, asked, expected) in cases {
        assert_eq!(of(written, asked).spec.review.on_timeout, expected, "{written:?}, {asked:?}");
    }
    let mut world = World::of(of(None, on));
    world.answers("1", "draft");
    assert_eq!(announced(&world), (300_000, Some("CONTINUE".to_owned())));
    let edits = crate::decisions::edit::Edits {
        request: Request { tags: [("k".to_owned(), "v".to_owned())].into(), ..Request::default() },
        ..crate::decisions::edit::Edits::default()
    };
    let catalog = super::world::catalog();
    let keep = crate::decisions::fork::Keep::Before(None);
    let wanted = crate::decisions::fork::Wanted { keep, edits: &edits, catalog: &catalog, by: "me", traceparent: None };
    let forked = crate::decisions::fork::fork(("run-1", &world.log), &wanted, crate::tests::world::own(), world.now)
        .unwrap()
        .finish(|_source| None)
        .unwrap();
    assert_eq!(forked.run.spec().review.on_timeout, on);
}

#[test]
fn runs_of_earlier_versions_do_what_they_recorded() {
    let stored = r#"{"policy":"NEVER","timeout_ms":100,"on_timeout":"CONTINUE"}"#;
    let review: Review = serde_json::from_str(stored).unwrap();
    let mut world = asked(required("a"), review);
    assert_eq!(announced(&world), (100, Some("CONTINUE".to_owned())));
    world.pass(100);
    assert_eq!(world.places(), ["2"], "it was promised to go on by itself");
    let opened = r#"{"at":5,"fact":{"review_opened":{"review":0,"turn":"1","timing":"AFTER_EXECUTION","due":null,"on_timeout":"FAIL"}}}"#;
    let opened: Event = serde_json::from_str(opened).unwrap();
    assert!(matches!(opened.kind, EventKind::ReviewOpened { due: None, on_timeout: Some(OnTimeout::Fail), .. }));
}

#[test]
fn a_question_of_an_agent_is_no_approval_and_is_told_unanswered_after_the_usual_time() {
    let mut world = World::new(&ensemble(vec![required("a")]));
    world.calls("1", &[("human_input", r#"{"question":"really?"}"#)]);
    assert_eq!(announced(&world), (300_000, Some("CONTINUE".to_owned())));
    world.pass(300_000);
    assert_eq!(world.places(), ["1"]);
    assert!(world.results("1")[0].contains("Nobody answered in time"), "{:?}", world.results("1"));
}

#[test]
fn a_run_in_which_only_reviews_are_open_begins_nothing_without_a_slot() {
    let mut world = asked(required("a"), Review::default());
    assert!(world.run.is_parked());
    assert_eq!(world.run.waiting_for(), Some(WaitingFor::Review));
    world.grants.slot = false;
    world.pass(1_000);
    assert_eq!(world.run.next(world.now, &world.grants).needs, Needs::default(), "a person comes first");
    decide(&mut world, Decision::Reject { feedback: "again".into() });
    assert_eq!((world.places().len(), world.run.waiting_for()), (0, Some(WaitingFor::Queue)));
    assert_eq!(world.run.next(world.now, &world.grants).needs, Needs { slot: true, ..Needs::default() });
    world.crash();
    assert!(world.run.is_parked(), "a restart gives it no slot");
    assert_eq!((world.places().len(), world.run.waiting_for()), (0, Some(WaitingFor::Queue)));
    world.pass(YEAR_MS);
    assert_eq!(world.run.waiting_for(), Some(WaitingFor::Queue), "the time it waits for a slot is not its own");
    world.grants.slot = true;
    world.settle();
    assert_eq!((world.places(), world.run.is_parked()), (vec!["1"], false));
}

#[test]
fn what_only_has_to_be_written_down_needs_no_slot() {
    let last = |decision| {
        let mut world = World::new(&ensemble(vec![required("a")]));
        world.answers("1", "draft");
        world.grants.slot = false;
        decide(&mut world, decision);
        world
    };
    assert_eq!(last(Decision::Continue).status(), "COMPLETED");
    assert_eq!(last(Decision::ExitEarly).status(), "COMPLETED");
    let mut world = asked(required("a"), Review::default());
    world.grants.slot = false;
    world.command(Command::Cancel { mode: CancelMode::AfterTask, by: "me".to_owned() }).unwrap();
    assert_eq!(world.run.end(), Some(&End::Cancelled));
    let mut world = asked(Draft { review_timeout_ms: Some(5), ..required("a") }, Review::default());
    world.grants.slot = false;
    world.pass(5);
    assert_eq!(world.run.end(), Some(&End::Completed { exit: Exit::Timeout }));
}

#[test]
fn a_run_that_works_beside_its_reviews_keeps_its_slot() {
    let drafts = vec![required("a"), task("b", &[]), task("c", &["a", "b"])];
    let mut world = World::new(&ensemble(drafts));
    world.answers("1", "draft");
    assert!(!world.run.is_parked(), "b is at work");
    world.answers("2", "done");
    assert!(world.run.is_parked());
    let old: Spec = serde_json::from_value(serde_json::to_value(&**world.run.spec()).unwrap()).unwrap();
    assert_eq!(old, **world.run.spec());
}
