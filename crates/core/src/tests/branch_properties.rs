//! Random graphs with conditions, lists and groups, answered in any order: every interleaving ends, no
//! instance is done twice, no expression is evaluated twice, a retry does only what is left, and nothing
//! stays skipped by a condition that holds.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use super::edited::with_an_output_edited;
use super::properties::check;
use super::world::{World, catalog, ensemble};
use crate::decisions::decide::Command;
use crate::decisions::edit::Edits;
use crate::decisions::fork::{self, Keep, Wanted};
use crate::state::run::TaskOutcome;
use consort_spec::branch::OnMaxRounds;
use consort_spec::cause::SkipCause;
use consort_spec::compile::compile;
use consort_spec::draft::{Draft, Each, Ensemble, Group, Request};
use consort_spec::event::{Adoption, CancelMode, Event, EventKind};
use consort_spec::expression::{Values, evaluate};
use consort_spec::id::Id;
use consort_spec::message::FailureKind;
use consort_spec::spec::{OnError, Workflow};

/// The items under way at the same time in these runs.
const PARALLEL: u32 = 2;

/// Returns a graph of up to six tasks, chosen by numbers; none when it has no order.
fn graph(choices: &[u8]) -> Option<Ensemble> {
    let mut choice = choices.iter().copied().chain(std::iter::repeat(0));
    let mut next = |below: usize| usize::from(choice.next().unwrap_or(0)) % below;
    let count = 2 + next(5);
    let drafts: Vec<Draft> = (0..count)
        .map(|index| {
            let other = |next: &mut dyn FnMut(usize) -> usize| format!("t{}", next(index.max(1)));
            let context = if index > 0 && next(2) == 0 { vec![format!("${}", other(&mut next))] } else { Vec::new() };
            let when = match next(6) {
                0 if index > 0 => Some(format!("outputs.{} != null", other(&mut next))),
                1 if index > 0 => Some(format!("outputs.{} == 'a'", other(&mut next))),
                2 => Some("inputs.list.size() > 1".to_owned()),
                3 => Some("1 / 0 == 1".to_owned()),
                _ => None,
            };
            let list = match next(5) {
                0 => Some("inputs.list".to_owned()),
                1 if index > 0 => Some(format!("outputs.{} == null ? [] : [1, 2]", other(&mut next))),
                2 if next(4) == 0 => Some("[]".to_owned()),
                _ => None,
            };
            let max_parallel = list.as_ref().map(|_| PARALLEL);
            let name = Some(format!("t{index}"));
            let description = "Do {x}".to_owned();
            Draft {
                name,
                description,
                context,
                when,
                each: Each { list, max_items: None, max_parallel },
                ..Draft::default()
            }
        })
        .collect();
    let mut groups = Vec::new();
    let mut at = next(count);
    while at < count && groups.len() < 2 {
        let size = 1 + next(3).min(count - at - 1);
        let tasks: Vec<String> = (at..at + size).map(|task| format!("t{task}")).collect();
        let last = tasks.last().cloned().unwrap_or_default();
        let mut group = Group { name: format!("g{at}"), tasks, ..Group::default() };
        match next(3) {
            0 => group.when = Some("inputs.list.size() == 3".to_owned()),
            1 => {
                group.each =
                    Each { list: Some("inputs.list".to_owned()), max_items: None, max_parallel: Some(PARALLEL) }
            }
            _ => {
                group.repeat_until = Some(format!("outputs.{last} == 'a' || round > {}", next(3)));
                group.max_rounds = Some(1 + next(3) as u32);
                group.on_max_rounds = Some(if next(2) == 0 { OnMaxRounds::Fail } else { OnMaxRounds::Accept });
            }
        }
        groups.push(group);
        at += size + next(2);
    }
    let inputs = [("list".to_owned(), json!(["p", "q", "r"])), ("x".to_owned(), json!(1))].into();
    let workflow = Some(if next(2) == 0 { Workflow::Sequential } else { Workflow::Parallel });
    let on_error = if next(2) == 0 { OnError::FailFast } else { OnError::ContinueOnError };
    let ensemble = Ensemble { inputs, workflow, on_error, groups, ..ensemble(drafts) };
    compile(&ensemble, Request::default(), &catalog()).is_ok().then_some(ensemble)
}

/// Answers what waits in an order chosen by numbers, with failures, crashes, pauses and cancels between.
fn play(world: &mut World, moves: &[u16]) {
    for by in moves {
        if world.run.ended() {
            return;
        }
        match by % 32 {
            0 => world.crash(),
            1 => drop(world.command(Command::Pause { by: "me".to_owned() })),
            2..5 => drop(world.command(Command::Resume { by: "me".to_owned() })),
            5 if by / 32 % 8 == 0 => {
                drop(world.command(Command::Cancel { mode: CancelMode::AfterTask, by: "me".to_owned() }))
            }
            6 if by / 32 % 8 == 0 => {
                drop(world.command(Command::Cancel { mode: CancelMode::Now, by: "me".to_owned() }))
            }
            _ => answer(world, *by),
        }
        few_at_once(world);
    }
}

fn answer(world: &mut World, by: u16) {
    let Some(place) =
        world.places().get(usize::from(by / 32) % world.waiting.len().max(1)).map(|place| (*place).to_owned())
    else {
        return;
    };
    match by % 5 {
        0 => {
            while world.places().contains(&place.as_str()) {
                world.fails(&place, FailureKind::Refused);
            }
        }
        1 => world.answers(&place, "a"),
        _ => world.answers(&place, "b"),
    }
}

fn finish(world: &mut World) {
    for _step in 0..10_000 {
        if world.run.ended() {
            return;
        }
        match world.places().first().map(|place| (*place).to_owned()) {
            Some(place) => world.answers(&place, "a"),
            None => world.command(Command::Resume { by: "me".to_owned() }).unwrap(),
        }
        few_at_once(world);
    }
    panic!("the run never ends");
}

/// Checks that of no list more items are under way than may be.
fn few_at_once(world: &World) {
    let mut open: BTreeMap<(usize, Option<u32>), BTreeSet<u32>> = BTreeMap::new();
    for place in world.run.conversations().keys().map(Id::site) {
        open.entry((place.task, place.round)).or_default().extend(place.item);
    }
    assert!(open.values().all(|items| items.len() <= PARALLEL as usize), "{open:?}");
}

/// Checks that each place began and completed once, and that each expression was evaluated once.
fn once(world: &World) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for event in &world.log {
        let what = match &event.kind {
            EventKind::TaskStarted { conversation } => format!("start {conversation}"),
            EventKind::ExpressionEvaluated { of, key, .. } => format!("{of:?} {key:?}"),
            _ => continue,
        };
        *seen.entry(what).or_default() += 1;
    }
    assert!(seen.values().all(|times| *times == 1), "{seen:?}");
}

/// Checks that what a condition skipped would still be skipped by it, as everything that it names ended.
fn truly_skipped(world: &World) {
    let spec = world.run.spec();
    let value = |task: usize| world.run.tasks().get(&task).map_or(Value::Null, |ended| ended.outcome.value());
    for (task, ended) in world.run.tasks() {
        let alone = spec.group_of(*task).is_none();
        let when = spec.tasks.get(*task).and_then(|task| task.when.as_ref()).filter(|_| alone);
        let Some(when) = when else { continue };
        let values = Values {
            outputs: when.outputs.iter().map(|(name, task)| (name.clone(), value(*task))).collect(),
            inputs: Some(&spec.inputs),
            ..Values::default()
        };
        if matches!(ended.outcome, TaskOutcome::Skipped { cause: SkipCause::Condition, .. }) {
            assert_eq!(evaluate(&when.source, &values), Ok(json!(false)), "t{task}: {}", when.source);
        }
    }
}

fn completed(log: &[Event]) -> BTreeSet<Id> {
    let done = |kind: &EventKind| {
        if let EventKind::TaskCompleted { conversation } = kind { Some(conversation.clone()) } else { None }
    };
    log.iter().filter_map(|event| done(&event.kind)).collect()
}

/// Goes on with a retry of the run; returns the places that it took over as completed, none when there is nothing
/// to retry.
fn retry(world: &mut World) -> Option<BTreeSet<Id>> {
    let edits = Edits::default();
    let catalog = catalog();
    let wanted = Wanted { keep: Keep::Completed, edits: &edits, catalog: &catalog, by: "me", traceparent: None };
    let forked = fork::fork(("run-1", &world.log), &wanted, crate::tests::world::own(), world.now).ok()?;
    let forked = forked.finish(|_source| None).ok()?;
    // Before it is adopted: a task over an empty list completes at once, without having been taken over.
    let kept = completed(&forked.events);
    world.start_over(forked.events);
    world.command(Command::Adopt(Adoption::default())).unwrap();
    Some(kept)
}

proptest! {
    #![proptest_config(Config { cases: 1_500, failure_persistence: None, max_global_rejects: 100_000, max_shrink_iters: 200, ..Config::default() })]
    #[test]
    fn every_branching_run_ends_does_nothing_twice_and_can_be_retried_to_its_end(
        shape in prop::collection::vec(any::<u8>(), 0..60),
        moves in prop::collection::vec(any::<u16>(), 0..40),
        again in prop::collection::vec(any::<u16>(), 0..20),
    ) {
        run_and_retry(&shape, &moves, &again);
    }
}

/// Runs a graph to its end, and retries it twice.
fn run_and_retry(shape: &[u8], moves: &[u16], again: &[u16]) {
    let Some(ensemble) = graph(shape) else { return };
    let mut world = World::new(&ensemble);
    play(&mut world, moves);
    finish(&mut world);
    once(&world);
    truly_skipped(&world);
    check(&world);
    for _time in 0..2 {
        let before = completed(&world.log);
        let Some(kept) = retry(&mut world) else { break };
        assert!(kept.is_subset(&before));
        play(&mut world, again);
        finish(&mut world);
        once(&world);
        truly_skipped(&world);
        check(&world);
    }
    if let Some((task, fork)) = with_an_output_edited(&world, moves.len()) {
        world.start_over(fork.events);
        world.command(Command::Adopt(Adoption::default())).unwrap();
        play(&mut world, again);
        finish(&mut world);
        once(&world);
        truly_skipped(&world);
        check(&world);
        assert_eq!(world.run.output_edited_by(task), Some("me"), "nothing does it again");
    }
}

/// A group that waits on one of which a part is done again must not go on before that.
#[test]
fn a_retry_begins_a_group_after_what_it_waits_on_was_done_again() {
    let shape = [
        183, 4, 53, 0, 0, 2, 43, 84, 0, 177, 43, 19, 36, 81, 13, 177, 186, 31, 188, 130, 176, 231, 150, 180, 161, 60,
        153, 180, 25, 99, 83,
    ];
    let moves = [
        56136, 43497, 8720, 19274, 4175, 10653, 13297, 14358, 60854, 16965, 54044, 31114, 64551, 50806, 26377, 15500,
        26605, 17593, 13771, 7139, 57079, 44726, 56291, 60664, 60085, 44180, 64830, 63474, 57807, 9441, 57212, 15731,
        39699, 4131, 43034, 14566,
    ];
    let again = [30469, 60522, 19018, 23625, 16568, 37868, 4120, 2209, 42420, 58833, 49448, 15996, 11980, 6493, 44084];
    run_and_retry(&shape, &moves, &again);
}
