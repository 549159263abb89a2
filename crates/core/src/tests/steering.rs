//! Tests of cancelling, pausing, switching, directing and reviewing.

use serde_json::json;

use super::world::{World, compiled, ensemble, task};
use crate::decisions::decide::{Command, Refused};
use crate::projections::view::WaitingFor;
use crate::state::budget::{Limits, Raise};
use crate::state::gate::{DecidedBy, ReviewOutcome};
use consort_spec::bounds::DIRECTIVES_BYTES_MAX;
use consort_spec::draft::{Draft, Ensemble};
use consort_spec::event::{Adoption, CancelMode, Decision, Directive, End, Exit, Priority};
use consort_spec::message::FailureKind;
use consort_spec::schema::Schema;
use consort_spec::spec::{OnTimeout, Review, ReviewPolicy, ReviewRule};
use consort_spec::status::Status;

fn two() -> World {
    World::new(&ensemble(vec![task("a", &[]), task("b", &[])]))
}

fn cancel(mode: CancelMode) -> Command {
    Command::Cancel { mode, by: "me".to_owned() }
}

fn decide(world: &mut World, decision: Decision) -> Result<(), Refused> {
    world.command(Command::Review { review: 0, decision, by: "me".to_owned() })
}

fn reviewed(draft: Draft, review: Review) -> World {
    World::new(&Ensemble { review, ..ensemble(vec![draft, task("b", &[])]) })
}

fn required() -> Draft {
    Draft { review: Some(ReviewRule::Required), ..task("a", &[]) }
}

fn statuses(world: &World) -> Vec<serde_json::Value> {
    json!(world.run.detail("r"))["tasks"].as_array().unwrap().iter().map(|task| task["status"].clone()).collect()
}

#[test]
fn cancel_after_task_finishes_the_task_and_starts_no_other() {
    let mut world = two();
    world.command(cancel(CancelMode::AfterTask)).unwrap();
    world.calls("1", &[("look", "{}")]);
    world.returns("1.0.0", "x");
    world.answers("1", "done");
    assert_eq!(world.run.end(), Some(&End::Cancelled));
    assert_eq!(statuses(&world), ["COMPLETED", "CANCELLED"]);
}

#[test]
fn a_run_that_processes_died_over_is_ended_without_looking_at_what_it_holds() {
    let schema: Schema = serde_json::from_value(json!({ "pattern": r"(\w{200}){200}" })).unwrap();
    let mut compiled = compiled(&ensemble(vec![task("a", &[]), task("b", &["a"])]));
    compiled.spec.tasks[0].output_schema = Some(schema);
    let mut world = World::of(compiled);
    world.calls("1", &[("pay", "{}"), ("look", "{}")]);
    world.crash();
    world.command(Command::Poison(Adoption::default())).unwrap();
    assert_eq!(world.run.end(), Some(&End::Failed { error: "POISONED".to_owned() }));
    assert_eq!(statuses(&world), ["FAILED", "SKIPPED"]);
    assert_eq!(json!(world.run.detail("r"))["error"], "POISONED");
}

#[test]
fn cancel_after_iteration_runs_the_tools_asked_for_and_asks_no_more() {
    let mut world = two();
    world.command(cancel(CancelMode::AfterIteration)).unwrap();
    world.calls("1", &[("look", "{}")]);
    assert_eq!(world.places(), ["1.0.0"]);
    world.returns("1.0.0", "x");
    assert_eq!(world.run.end(), Some(&End::Cancelled));
    let kinds = world.kinds(world.log.len() - 2);
    assert_eq!(kinds, ["task_failed", "ensemble_completed"]);
}

#[test]
fn cancel_now_drops_everything_and_a_stronger_mode_strengthens() {
    let mut world = two();
    world.calls("1", &[("pay", "{}"), ("look", "{}")]);
    world.command(cancel(CancelMode::AfterTask)).unwrap();
    assert_eq!(world.status(), "RUNNING");
    world.command(cancel(CancelMode::Now)).unwrap();
    assert_eq!(world.run.end(), Some(&End::Cancelled));
    assert_eq!(world.command(cancel(CancelMode::Now)), Err(Refused::Ended { status: Status::Cancelled }));
    let mut again = two();
    again.command(cancel(CancelMode::AfterTask)).unwrap();
    let length = again.log.len();
    again.command(cancel(CancelMode::AfterTask)).unwrap();
    assert_eq!(again.log.len(), length, "the same request again changes nothing");
}

#[test]
fn a_cancel_after_a_failure_does_not_change_how_it_ended() {
    let mut world = World::new(&ensemble(vec![task("a", &[]), task("b", &[]), task("c", &["a", "b"])]));
    world.fails("1", FailureKind::Refused);
    world.fails("1", FailureKind::Refused);
    world.command(cancel(CancelMode::Now)).unwrap();
    assert_eq!(world.status(), "FAILED");
}

#[test]
fn a_paused_run_begins_nothing_and_goes_on_where_it_was() {
    let mut world = two();
    world.command(Command::Pause { by: "me".to_owned() }).unwrap();
    world.calls("1", &[("look", "{}")]);
    assert_eq!(world.places(), [""; 0]);
    assert_eq!(world.run.waiting_for(), Some(WaitingFor::Resume));
    let since = world.run.waiting_since();
    assert_eq!(since, Some(world.now));
    world.pass(60_000);
    world.command(directive("be brief", None, Priority::Normal, None)).unwrap();
    world.crash();
    assert_eq!(world.places(), [""; 0], "a restart does not resume it");
    assert_eq!(world.run.waiting_since(), since, "neither what it is told nor a restart begins the wait anew");
    world.command(Command::Resume { by: "me".to_owned() }).unwrap();
    assert_eq!(world.places(), ["1.0.0"]);
    world.command(Command::Pause { by: "me".to_owned() }).unwrap();
    world.command(cancel(CancelMode::AfterTask)).unwrap();
    assert_eq!(world.run.end(), Some(&End::Cancelled), "a paused run is cancelled at once");
}

#[test]
fn a_run_paused_between_two_tasks_waits_for_the_second_and_one_paused_in_its_last_task_ends() {
    let mut world = two();
    world.command(Command::Pause { by: "me".to_owned() }).unwrap();
    world.answers("1", "done");
    assert_eq!((world.places().len(), world.status()), (0, "RUNNING"));
    world.crash();
    assert_eq!(world.status(), "RUNNING");
    world.command(Command::Resume { by: "me".to_owned() }).unwrap();
    assert_eq!(world.places(), ["2"]);
    world.command(Command::Pause { by: "me".to_owned() }).unwrap();
    world.answers("2", "done");
    assert_eq!(world.status(), "COMPLETED");
}

#[test]
fn a_switched_model_is_asked_from_the_next_call_on() {
    let mut world =
        World::new(&ensemble(vec![task("a", &[]), Draft { model: Some("big".to_owned()), ..task("b", &[]) }]));
    world.calls("1", &[("look", "{}")]);
    let small = super::world::catalog().models[1].clone();
    world.command(Command::SwitchModel { models: vec![small], by: "me".to_owned() }).unwrap();
    world.returns("1.0.0", "x");
    world.crash();
    let asked = |world: &World| match &world.waiting[0] {
        crate::decisions::next::Effect::Ask(question) => question.model.clone(),
        crate::decisions::next::Effect::Call { .. } => panic!("asks"),
    };
    assert_eq!(asked(&world), "small", "also after a restart");
    world.answers("1", "done");
    assert_eq!(asked(&world), "small", "a task's own model included");
}

#[test]
fn when_the_model_that_was_switched_away_from_fails_the_other_one_is_asked_at_once() {
    let small = super::world::catalog().models[1].clone();
    let switch = || Command::SwitchModel { models: vec![small.clone()], by: "me".to_owned() };
    let asked = |world: &World| match &world.waiting[0] {
        crate::decisions::next::Effect::Ask(question) => (question.model.clone(), question.attempt),
        crate::decisions::next::Effect::Call { .. } => panic!("asks"),
    };
    for kind in [FailureKind::Refused, FailureKind::Overloaded] {
        let mut under_way = two();
        under_way.command(switch()).unwrap();
        under_way.fails("1", kind);
        assert_eq!(asked(&under_way), ("small".to_owned(), 0));
    }
    let mut backing_off = two();
    backing_off.fails("1", FailureKind::Overloaded);
    backing_off.command(switch()).unwrap();
    assert_eq!(asked(&backing_off), ("small".to_owned(), 0));
}

#[test]
fn a_call_that_is_given_up_is_not_tried_again_and_what_follows_it_is_asked() {
    let give_up = |task: Option<&str>| Command::GiveUpCall { task: task.map(str::to_owned), by: "ann".to_owned() };
    let asked = |world: &World| match &world.waiting[..] {
        [crate::decisions::next::Effect::Ask(question)] => question.model.clone(),
        other => panic!("{other:?}"),
    };
    let mut under_way = two();
    let unknown = under_way.command(give_up(Some("nobody")));
    assert!(matches!(unknown, Err(Refused::NoTarget { .. })), "{unknown:?}");
    assert_eq!(under_way.command(give_up(Some("b"))), Err(Refused::Stale), "b waits for a");
    let small = super::world::catalog().models[1].clone();
    under_way.command(Command::SwitchModel { models: vec![small], by: "ann".to_owned() }).unwrap();
    under_way.command(give_up(Some("a"))).unwrap();
    assert_eq!(asked(&under_way), "small", "the model that was switched to is asked at once");
    under_way.command(give_up(None)).unwrap();
    assert_eq!(under_way.status(), "FAILED");
    assert!(json!(under_way.run.detail("r"))["tasks"][0].to_string().contains("given up by ann"));

    let mut backing_off = two();
    backing_off.fails("1", FailureKind::Overloaded);
    assert!(backing_off.waiting.is_empty());
    backing_off.command(give_up(None)).unwrap();
    assert_eq!(asked(&backing_off), "small", "its fallback");
}

#[test]
fn a_raised_budget_lets_a_run_go_on_where_it_would_have_ended() {
    let limits = Limits { llm_calls: 1, ..Limits::default() };
    let drafts = || vec![task("a", &[]), task("b", &[])];
    let mut ended = World::new(&Ensemble { limits, ..ensemble(drafts()) });
    ended.answers("1", "one");
    assert_eq!(json!(ended.run.detail("r"))["error"], "BUDGET_EXCEEDED");
    let raise = |calls| Command::RaiseBudget {
        raise: Raise { llm_calls: Some(calls), ..Raise::default() },
        by: "ann".to_owned(),
    };
    let mut world = World::new(&Ensemble { limits, ..ensemble(drafts()) });
    let lower = world.command(raise(1)).unwrap_err();
    assert_eq!(lower.to_string(), "maxTotalLlmCalls must be more than 1, the limit there is");
    // The call that a restart cuts off counts, too.
    world.command(raise(3)).unwrap();
    assert_eq!(world.kinds(world.log.len() - 1), ["budget_raised"]);
    assert_eq!(json!(world.run.detail("r"))["limits"]["maxTotalLlmCalls"], 3);
    world.crash();
    world.answers("1", "one");
    assert_eq!(world.places(), ["2"], "also after a restart");
}

fn directive(content: &str, target: Option<&str>, priority: Priority, ttl: Option<u64>) -> Command {
    let target = target.map(str::to_owned);
    let from = "ann".to_owned();
    let expires_at = ttl.map(|ttl| 1000 + ttl);
    Command::Direct {
        directive: Directive {
            target,
            content: content.into(),
            priority,
            from,
            on_behalf_of: None,
            created_at: 1000,
            expires_at,
        },
    }
}

#[test]
fn a_run_keeps_as_many_directives_as_it_may_and_goes_on() {
    let mut world = two();
    let long = "x".repeat(DIRECTIVES_BYTES_MAX / 4);
    for _fits in 0..4 {
        world.command(directive(&long, None, Priority::Normal, None)).unwrap();
    }
    let one_more = world.command(directive("x", None, Priority::Normal, None));
    assert_eq!(one_more, Err(Refused::TooManyDirectives));
    world.answers("1", "done");
    assert_eq!(world.status(), "RUNNING");
}

#[test]
fn directives_are_read_at_the_next_call_by_priority_once_and_by_their_target() {
    let mut world = two();
    world.command(directive("low", None, Priority::Low, None)).unwrap();
    world.command(directive("for b", Some("B"), Priority::Normal, None)).unwrap();
    world.command(directive("high", Some("a"), Priority::High, None)).unwrap();
    world.command(directive("gone", None, Priority::High, Some(5))).unwrap();
    assert!(matches!(
        world.command(directive("x", Some("nobody"), Priority::Low, None)),
        Err(Refused::NoTarget { .. })
    ));
    world.calls("1", &[("look", "{}")]);
    world.now += 10;
    world.returns("1.0.0", "x");
    let told = world.told("1");
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[1].ends_with("[ann | 1970-01-01T00:00:01.000Z] high") && told[2].ends_with("] low"), "{told:?}");
    world.answers("1", "done");
    let opening = world.told("2");
    let place = |words: &str| opening[0].find(words);
    assert!(place("for b") < place("low") && place("low") < place("## Task"), "{opening:?}");
    assert!(place("high").is_none() && place("gone").is_none());
    assert_eq!(world.kinds(0).iter().filter(|kind| *kind == "directive_delivered").count(), 4);
}

#[test]
fn a_review_passes_edits_or_ends_the_run_by_its_first_decision() {
    let mut world = reviewed(required(), Review::default());
    world.answers("1", "draft");
    assert_eq!((world.places(), statuses(&world)), (vec![], vec![json!("WAITING"), json!("PENDING")]));
    decide(&mut world, Decision::Edit { output: "better".into() }).unwrap();
    let made = DecidedBy { by: "me".to_owned(), at: world.now };
    let refused = decide(&mut world, Decision::Continue);
    assert_eq!(refused, Err(Refused::Decided { verdict: ReviewOutcome::Edit, made }));
    assert_eq!(world.run.answer(), Some("better"));

    let mut world = reviewed(required(), Review::default());
    world.answers("1", "draft");
    world.crash();
    decide(&mut world, Decision::ExitEarly).unwrap();
    assert_eq!(world.run.end(), Some(&End::Completed { exit: Exit::UserExitEarly }));
    assert_eq!((world.run.answer(), statuses(&world)), (Some("draft"), vec![json!("COMPLETED"), json!("SKIPPED")]));
}

#[test]
fn a_rejected_task_runs_again_with_the_feedback_three_times_at_most() {
    let mut world = reviewed(required(), Review::default());
    for attempt in 0..4 {
        world.answers("1", &format!("draft {attempt}"));
        let reject = Decision::Reject { feedback: "shorter".into() };
        let review = Command::Review { review: attempt, decision: reject, by: "me".to_owned() };
        let answer = world.command(review);
        assert_eq!(answer, if attempt < 3 { Ok(()) } else { Err(Refused::Rejected) });
        if attempt < 3 {
            let told = world.told("1");
            assert!(told[0].contains(&format!("(Attempt {})\nshorter", attempt + 2)), "{told:?}");
            assert!(told[0].contains(&format!("draft {attempt}")), "{told:?}");
        }
    }
    world.command(Command::Review { review: 3, decision: Decision::Continue, by: "me".to_owned() }).unwrap();
    assert_eq!(world.run.answer(), Some("draft 3"));
}

#[test]
fn an_edit_must_fit_the_task_s_schema() {
    let draft = Draft { output_schema: Some(json!({ "type": "integer" })), ..required() };
    let mut world = reviewed(draft, Review::default());
    world.answers("1", "1");
    assert!(matches!(decide(&mut world, Decision::Edit { output: "two".into() }), Err(Refused::Unfit(_))));
    decide(&mut world, Decision::Edit { output: "2".into() }).unwrap();
    assert_eq!(json!(world.run.detail("r"))["tasks"][0]["parsedOutput"], 2);
}

#[test]
fn an_edit_that_says_nothing_is_refused_and_the_review_stays_open() {
    let mut world = reviewed(required(), Review::default());
    world.answers("1", "draft");
    for blank in ["", " \n", "\u{200b}"] {
        assert_eq!(decide(&mut world, Decision::Edit { output: blank.into() }), Err(Refused::BlankEdit));
    }
    decide(&mut world, Decision::Edit { output: "better".into() }).unwrap();
    assert_eq!(world.run.answer(), Some("better"));
}

#[test]
fn a_review_nobody_answers_does_what_was_announced() {
    let cases = [
        (OnTimeout::Continue, "RUNNING", None),
        (OnTimeout::ExitEarly, "COMPLETED", Some(End::Completed { exit: Exit::Timeout })),
        (OnTimeout::Fail, "FAILED", Some(End::Failed { error: "task 'a' failed: nobody reviewed it in time".into() })),
    ];
    for (on_timeout, status, end) in cases {
        let mut world =
            reviewed(required(), Review { policy: ReviewPolicy::Never, timeout_ms: 100, on_timeout: Some(on_timeout) });
        world.answers("1", "draft");
        world.crash();
        world.pass(99);
        assert_eq!(statuses(&world)[0], "WAITING");
        world.pass(1);
        assert_eq!((world.status(), world.run.end()), (status, end.as_ref()));
        assert!(decide(&mut world, Decision::Continue).is_err());
    }
}

#[test]
fn a_before_review_holds_the_task_back() {
    let draft = Draft { review_before: true, ..task("a", &[]) };
    let mut world = reviewed(draft.clone(), Review::default());
    assert_eq!(world.places(), [""; 0]);
    assert_eq!(world.kinds(0).last().unwrap(), "review_requested");
    decide(&mut world, Decision::Continue).unwrap();
    assert_eq!(world.places(), ["1"]);
    let mut world = reviewed(draft.clone(), Review::default());
    decide(&mut world, Decision::Reject { feedback: "mind the cost".into() }).unwrap();
    assert!(world.told("1")[0].contains("mind the cost"));
    let mut world = reviewed(draft, Review::default());
    decide(&mut world, Decision::ExitEarly).unwrap();
    assert_eq!((world.status(), statuses(&world)), ("COMPLETED", vec![json!("SKIPPED"), json!("SKIPPED")]));
}

#[test]
fn policies_choose_whose_output_is_looked_at() {
    let policy = |policy| Review { policy, ..Review::default() };
    let gates = |review: Review, drafts: Vec<Draft>| {
        let mut world = World::new(&Ensemble { review, ..ensemble(drafts) });
        for conversation in ["1", "2"] {
            world.answers(conversation, "x");
            let open: Vec<u32> = world.run.open_reviews().iter().copied().collect();
            for review in open {
                world.command(Command::Review { review, decision: Decision::Continue, by: String::new() }).unwrap();
            }
        }
        assert_eq!(world.status(), "COMPLETED");
        world.run.reviews().iter().map(|review| review.conversation.to_string()).collect::<Vec<_>>()
    };
    let plain = || vec![task("a", &[]), task("b", &[])];
    assert_eq!(gates(policy(ReviewPolicy::Never), plain()), [""; 0]);
    assert_eq!(gates(policy(ReviewPolicy::AfterEveryTask), plain()), ["1", "2"]);
    assert_eq!(gates(policy(ReviewPolicy::AfterLastTask), plain()), ["2"]);
    let skipping = vec![Draft { review: Some(ReviewRule::Skip), ..task("a", &[]) }, task("b", &[])];
    assert_eq!(gates(policy(ReviewPolicy::AfterEveryTask), skipping), ["2"]);
    assert_eq!(gates(policy(ReviewPolicy::Never), vec![required(), task("b", &[])]), ["1"]);
}

#[test]
fn a_cancel_closes_open_reviews() {
    let mut world = reviewed(required(), Review::default());
    world.answers("1", "draft");
    world.command(cancel(CancelMode::AfterTask)).unwrap();
    assert_eq!(world.run.end(), Some(&End::Cancelled));
    let kinds = world.kinds(world.log.len() - 4);
    assert_eq!(kinds, ["cancel_requested", "review_closed", "task_failed", "ensemble_completed"]);
    assert_eq!(decide(&mut world, Decision::Continue), Err(Refused::Ended { status: Status::Cancelled }));
}

#[test]
fn a_question_to_a_person_is_a_call_whose_result_is_the_answer() {
    let question = r#"{"question":"Which one?","options":["a","b"]}"#;
    let ask = |world: &mut World| {
        world.calls("1", &[("human_input", question), ("look", "{}")]);
        world.returns("1.0.1", "seen");
        let review = &json!(world.run.detail("r"))["pendingReviews"][0];
        assert_eq!((&review["taskDescription"], &review["timing"]), (&json!("Which one?"), &json!("DURING_EXECUTION")));
        assert_eq!((&review["options"], &review["taskOutput"]), (&json!(["a", "b"]), &json!("")));
        world.crash();
        assert_eq!(world.places(), [""; 0], "the question stays open over a restart");
    };
    let answers = [
        (Decision::Edit { output: "b".into() }, "b"),
        (Decision::Continue, "The person has read this and says: go on."),
        (Decision::Reject { feedback: "neither".into() }, "The person does not agree: neither"),
    ];
    for (decision, words) in answers {
        let mut world = two();
        ask(&mut world);
        decide(&mut world, decision).unwrap();
        assert_eq!(world.results("1"), [words, "seen"]);
    }
    let mut world = two();
    ask(&mut world);
    decide(&mut world, Decision::ExitEarly).unwrap();
    assert_eq!(world.run.end(), Some(&End::Completed { exit: Exit::UserExitEarly }));
    assert_eq!(statuses(&world), ["SKIPPED", "SKIPPED"], "the run ends without this task's output");
    let mut world = two();
    ask(&mut world);
    world.pass(300_000);
    assert!(world.results("1")[0].starts_with("Nobody answered in time"));
    let mut world = two();
    ask(&mut world);
    world.command(cancel(CancelMode::AfterIteration)).unwrap();
    assert_eq!(world.run.end(), Some(&End::Cancelled));
}
