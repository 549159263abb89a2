//! The progress of the tasks of a run as a whole: which may begin, which are done for each item of a list, and which
//! round groups are in. An event touches only what it changes, so its cost does not depend on the number of tasks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::state::fan_out::FanOut;
use crate::state::graph::{Graph, Moved, Wait};
use consort_spec::branch::{Group, OnMaxRounds, Repeat};
use consort_spec::cause::{Cause, SkipCause, TaskFailure};
use consort_spec::event::{Evaluated, Key, Subject};
use consort_spec::id::Place;
use consort_spec::spec::{Spec, Workflow};

/// The order of a run's work, as far as it has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Flow {
    /// Tasks and groups, each at the position of its first task.
    units: Graph,
    /// The groups, by number.
    groups: Vec<GroupState>,
    /// The lists that tasks are done for, by the place of the task.
    fans: BTreeMap<Place, FanOut>,
    /// The next step at each place.
    due: BTreeMap<Place, Due>,
    /// The groups with an expression to be evaluated now.
    gates: BTreeSet<usize>,
    /// The tasks that ended without an output that others could read.
    lost: BTreeSet<usize>,
}

/// The next step at a place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Due {
    /// It may begin; `passed`: its condition holds, or it has none.
    Begin { passed: bool },
    /// It must be skipped.
    Skip(SkipCause),
    /// It must fail.
    Fail(TaskFailure),
    /// All its instances are over, and their results must be put together.
    Gather,
}

/// The progress of a group.
#[derive(Clone, Debug, Default, PartialEq)]
struct GroupState {
    stage: Stage,
    /// Whether its condition holds.
    passed: bool,
    /// The items its tasks are done for.
    fan: FanOut,
    /// Its tasks, once for each item, or once for the round.
    branches: BTreeMap<u32, Branch>,
    round: u32,
    /// Whether its tasks have begun.
    begun: bool,
    /// The tasks that are over as a whole.
    closed: BTreeSet<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Something its tasks need is missing.
    #[default]
    Waiting,
    /// Its tasks are under way.
    Open,
    /// Its tasks are only ended.
    Closing,
}

/// The tasks of a group within one round, or for one item.
#[derive(Clone, Debug, Default, PartialEq)]
struct Branch {
    /// The tasks, by their rank in the group.
    graph: Graph,
    /// Whether one of them is without an output that others could read.
    lost: bool,
}

impl Flow {
    /// Creates the flow of a run that has not begun.
    pub(crate) fn of(spec: &Spec) -> Flow {
        let mut flow = Flow { groups: vec![GroupState::default(); spec.groups.len()], ..Flow::default() };
        flow.units = Graph::new(&units(spec));
        let first = flow.units.first();
        first.into_iter().for_each(|unit| flow.open_unit(spec, unit));
        flow
    }

    /// Returns what is due, place by place.
    pub(crate) fn due(&self) -> &BTreeMap<Place, Due> {
        &self.due
    }

    /// Returns the groups with an expression to be evaluated.
    pub(crate) fn gates(&self) -> &BTreeSet<usize> {
        &self.gates
    }

    /// Returns whether work may begin.
    pub(crate) fn begins(&self) -> bool {
        !self.gates.is_empty() || self.due.values().any(|due| matches!(due, Due::Begin { .. }))
    }

    /// Returns whether anything is to be done.
    pub(crate) fn is_due(&self) -> bool {
        !(self.gates.is_empty() && self.due.is_empty())
    }

    /// Returns the number of tasks and groups not yet over.
    pub(crate) fn left(&self) -> usize {
        self.units.left()
    }

    /// Returns the list that the task at a place is done for.
    pub(crate) fn fan(&self, place: Place) -> Option<&FanOut> {
        self.fans.get(&place)
    }

    /// Returns the items that the tasks of a group are done for.
    pub(crate) fn group_fan(&self, group: usize) -> Option<&FanOut> {
        self.groups.get(group).map(|state| &state.fan)
    }

    /// Returns the round that a group is in.
    pub(crate) fn round(&self, group: usize) -> u32 {
        self.groups.get(group).map_or(0, |state| state.round)
    }

    /// Returns whether the condition of a group holds.
    pub(crate) fn has_passed(&self, group: usize) -> bool {
        self.groups.get(group).is_some_and(|state| state.passed)
    }

    /// Returns whether the tasks of a group have begun.
    pub(crate) fn is_begun(&self, group: usize) -> bool {
        self.groups.get(group).is_some_and(|state| state.begun)
    }

    /// Returns whether the tasks of a group are under way.
    pub(crate) fn is_open(&self, group: usize) -> bool {
        self.groups.get(group).is_some_and(|state| state.stage == Stage::Open)
    }

    /// Returns the item that work at a place is done for.
    pub(crate) fn item(&self, spec: &Spec, place: Place) -> Option<&Value> {
        let index = usize::try_from(place.item?).ok()?;
        let own = self.fans.get(&Place { item: None, ..place });
        let group = || spec.group_of(place.task).and_then(|(number, _)| self.group_fan(number));
        own.or_else(group)?.items().get(index)
    }

    fn open_unit(&mut self, spec: &Spec, unit: usize) {
        match spec.group_of(unit) {
            None => drop(self.due.insert(Place::task(unit), Due::Begin { passed: false })),
            Some((number, group)) if group.when.is_some() || group.for_each.is_some() => {
                self.gates.insert(number);
            }
            Some((number, group)) => self.open_group(spec, number, group),
        }
    }

    fn open_group(&mut self, spec: &Spec, number: usize, group: &Group) {
        self.gates.remove(&number);
        let Some(state) = self.groups.get_mut(number) else { return };
        (state.stage, state.begun) = (Stage::Open, true);
        match group.for_each {
            None => self.open_branch(spec, (number, group), 0),
            Some(_) => self.feed_group(spec, (number, group)),
        }
    }

    /// Begins the tasks of a group for as many items as may be under way.
    fn feed_group(&mut self, spec: &Spec, (number, group): (usize, &Group)) {
        let Some(state) = self.groups.get_mut(number) else { return };
        let items = state.fan.feed();
        if state.fan.is_over() {
            return self.close(group, number, &Due::Gather);
        }
        items.into_iter().for_each(|item| self.open_branch(spec, (number, group), item));
    }

    fn open_branch(&mut self, spec: &Spec, (number, group): (usize, &Group), item: u32) {
        let Some(state) = self.groups.get_mut(number) else { return };
        let branch = Branch { graph: Graph::new(&members(spec, group)), lost: false };
        let moved = Moved { ready: branch.graph.first(), doomed: Vec::new() };
        state.branches.insert(item, branch);
        self.move_members((number, group), item, &moved);
    }

    fn move_members(&mut self, (number, group): (usize, &Group), item: u32, moved: &Moved) {
        let round = self.round(number);
        let place = |rank: &usize| {
            let task = *group.tasks.get(*rank)?;
            let round = group.repeat.as_ref().map(|_| round);
            let item = group.for_each.as_ref().map(|_| item);
            Some(Place { task, round, item })
        };
        let ready = moved.ready.iter().filter_map(place).map(|place| (place, Due::Begin { passed: false }));
        let doomed = moved.doomed.iter().filter_map(place).map(|place| (place, Due::Skip(SkipCause::Upstream)));
        self.due.extend(ready.chain(doomed));
    }

    /// Ends the tasks of a group that are not over, all in the same way.
    fn close(&mut self, group: &Group, number: usize, due: &Due) {
        self.gates.remove(&number);
        let Some(state) = self.groups.get_mut(number) else { return };
        state.stage = Stage::Closing;
        state.branches.clear();
        let open = group.tasks.iter().filter(|task| !state.closed.contains(task));
        self.due.extend(open.map(|task| (Place::task(*task), due.clone())));
    }

    /// Applies what an expression came to.
    pub(crate) fn evaluated(&mut self, spec: &Spec, of: &Subject, key: Key, result: &Evaluated) {
        match of {
            Subject::Task { conversation } => self.task_evaluated(spec, conversation.site(), key, result),
            Subject::Group { group: number, .. } => {
                let Some(group) = spec.groups.get(*number) else { return };
                self.group_evaluated(spec, (*number, group), key, result);
            }
        }
    }

    fn task_evaluated(&mut self, spec: &Spec, place: Place, key: Key, result: &Evaluated) {
        let each = spec.tasks.get(place.task).and_then(|task| task.for_each.as_ref());
        let due = match (result, each) {
            (Evaluated::Failed(reason), _) => Due::Fail(key.failure(reason)),
            (Evaluated::Value(Value::Array(items)), Some(each)) => match FanOut::new(items, each) {
                Ok(fan) => return self.fan_out(place, fan),
                Err(failure) => Due::Fail(failure),
            },
            (Evaluated::Value(Value::Bool(true)), _) => Due::Begin { passed: true },
            (Evaluated::Value(_), _) => Due::Skip(SkipCause::Condition),
        };
        self.due.insert(place, due);
    }

    fn fan_out(&mut self, place: Place, mut fan: FanOut) {
        self.due.remove(&place);
        let first = fan.feed();
        if fan.is_over() {
            self.due.insert(place, Due::Gather);
        }
        self.fans.insert(place, fan);
        self.begin_items(place, first);
    }

    /// Lets items begin; the task's expressions are evaluated already.
    fn begin_items(&mut self, place: Place, items: Vec<u32>) {
        let item = |item: u32| (Place { item: Some(item), ..place }, Due::Begin { passed: true });
        self.due.extend(items.into_iter().map(item));
    }

    fn group_evaluated(&mut self, spec: &Spec, (number, group): (usize, &Group), key: Key, result: &Evaluated) {
        match (key, result) {
            (_, Evaluated::Failed(reason)) => self.close(group, number, &Due::Fail(key.failure(reason))),
            (Key::RepeatUntil, Evaluated::Value(until)) => self.round_over((spec, number, group), *until == true),
            (Key::ForEach, Evaluated::Value(Value::Array(items))) => {
                let fan = group.for_each.as_ref().map(|each| FanOut::new(items, each));
                match (fan, self.groups.get_mut(number)) {
                    (Some(Ok(fan)), Some(state)) => {
                        state.fan = fan;
                        self.open_group(spec, number, group);
                    }
                    (Some(Err(failure)), _) => self.close(group, number, &Due::Fail(failure)),
                    (Some(Ok(_)) | None, _) => {}
                }
            }
            (Key::When, Evaluated::Value(Value::Bool(true))) => {
                self.groups.get_mut(number).into_iter().for_each(|state| state.passed = true);
                if group.for_each.is_none() {
                    self.open_group(spec, number, group);
                }
            }
            (Key::When | Key::ForEach, Evaluated::Value(_)) => {
                self.close(group, number, &Due::Skip(SkipCause::Condition));
            }
        }
    }

    /// Ends a round: by the group's condition, or because there are no more rounds, the group is over.
    fn round_over(&mut self, (spec, number, group): (&Spec, usize, &Group), is_enough: bool) {
        let (Some(repeat), Some(state)) = (&group.repeat, self.groups.get_mut(number)) else { return };
        let Repeat { max_rounds, on_max_rounds, .. } = repeat;
        if !is_enough && state.round + 1 < *max_rounds {
            self.gates.remove(&number);
            state.round += 1;
            return self.open_branch(spec, (number, group), 0);
        }
        let due = match (is_enough, on_max_rounds) {
            (true, _) | (false, OnMaxRounds::Accept) => Due::Gather,
            (false, OnMaxRounds::Fail) => {
                let name = &group.name;
                let message = format!("the condition of group '{name}' did not come within {max_rounds} rounds");
                Due::Fail(TaskFailure::new(Cause::MaxRounds, message))
            }
        };
        self.close(group, number, &due);
    }

    /// Notes that work at a place has begun.
    pub(crate) fn start(&mut self, spec: &Spec, place: Place) {
        self.due.remove(&place);
        let Some(item) = place.item else { return };
        if let Some(fan) = self.fans.get_mut(&Place { item: None, ..place }) {
            return fan.start(item);
        }
        // Of the record that a retry keeps, items may be missing, so that one begins before its turn.
        let Some((number, group)) = spec.group_of(place.task) else { return };
        let Some(state) = self.groups.get_mut(number).filter(|state| state.stage == Stage::Open) else { return };
        if state.fan.has_begun(item) {
            return;
        }
        state.fan.start(item);
        self.open_branch(spec, (number, group), item);
        self.due.remove(&place);
    }

    /// Notes that work at a place is over; `lost`: without an output that others could read.
    pub(crate) fn end(&mut self, spec: &Spec, place: Place, lost: bool) {
        self.due.remove(&place);
        if place.is_whole() && lost {
            self.lost.insert(place.task);
        }
        let parent = Place { item: None, ..place };
        if let (Some(item), Some(fan)) = (place.item, self.fans.get_mut(&parent)) {
            fan.end(item);
            let next = fan.feed();
            if fan.is_over() {
                self.due.insert(parent, Due::Gather);
            }
            return self.begin_items(parent, next);
        }
        match spec.group_of(place.task) {
            None => self.end_unit(spec, place.task),
            Some((number, group)) => self.end_member(spec, (number, group), place, lost),
        }
    }

    fn end_member(&mut self, spec: &Spec, (number, group): (usize, &Group), place: Place, lost: bool) {
        let Some(state) = self.groups.get_mut(number) else { return };
        let closes = state.stage != Stage::Open || (group.has_instances() && place.is_whole());
        if closes {
            state.closed.insert(place.task);
            if state.closed.len() == group.tasks.len() {
                self.end_unit(spec, spec.unit_of(place.task));
            }
            return;
        }
        let item = place.item.unwrap_or(0);
        let rank = group.rank(place.task);
        let (Some(branch), Some(rank)) = (state.branches.get_mut(&item), rank) else { return };
        branch.lost |= lost;
        let moved = branch.graph.end(rank, |_| lost);
        let is_over = branch.graph.left() == 0;
        self.move_members((number, group), item, &moved);
        if is_over {
            self.end_branch(spec, (number, group), item);
        }
    }

    fn end_branch(&mut self, spec: &Spec, (number, group): (usize, &Group), item: u32) {
        let Some(state) = self.groups.get_mut(number) else { return };
        let lost = state.branches.remove(&item).is_some_and(|branch| branch.lost);
        match (&group.for_each, &group.repeat) {
            (Some(_), _) => {
                state.fan.end(item);
                self.feed_group(spec, (number, group));
            }
            (None, Some(_)) if lost => self.close(group, number, &Due::Gather),
            (None, Some(_)) => drop(self.gates.insert(number)),
            (None, None) => {
                state.stage = Stage::Closing;
                self.end_unit(spec, spec.unit_of(group.tasks.first().copied().unwrap_or_default()));
            }
        }
    }

    fn end_unit(&mut self, spec: &Spec, unit: usize) {
        let lost = &self.lost;
        let moved = self.units.end(unit, |task| lost.contains(&task));
        moved.ready.into_iter().for_each(|unit| self.open_unit(spec, unit));
        for unit in moved.doomed {
            match spec.group_of(unit) {
                None => drop(self.due.insert(Place::task(unit), Due::Skip(SkipCause::Upstream))),
                Some((number, group)) => self.close(group, number, &Due::Skip(SkipCause::Upstream)),
            }
        }
    }
}

/// Returns what each unit waits on, at the position of its first task; other positions have no unit.
fn units(spec: &Spec) -> Vec<Option<Vec<Wait>>> {
    let count = spec.tasks.len();
    if spec.workflow == Workflow::Hierarchical {
        // Only the manager, which is the last, is begun by the run.
        return (1..=count).map(|number| (number == count).then(Vec::new)).collect();
    }
    let unit = |task: usize| {
        if spec.unit_of(task) != task {
            return None;
        }
        let alone = [task];
        let tasks = spec.group_of(task).map_or(alone.as_slice(), |(_, group)| group.tasks.as_slice());
        let waits = tasks.iter().flat_map(|member| spec.waits(*member));
        let outside = waits.filter(|(on, _)| !tasks.contains(on));
        let waits = outside.collect::<BTreeSet<_>>().into_iter();
        Some(waits.map(|(on, needs)| Wait { on: spec.unit_of(on), task: on, needs }).collect())
    };
    (0..count).map(unit).collect()
}

/// Returns what each task of a group waits on within the group, by rank.
fn members(spec: &Spec, group: &Group) -> Vec<Option<Vec<Wait>>> {
    let waits = |task: &usize| {
        let inside = spec.waits(*task).into_iter().filter_map(|(on, needs)| Some((group.rank(on)?, needs)));
        Some(inside.map(|(on, needs)| Wait { on, task: on, needs }).collect())
    };
    group.tasks.iter().map(waits).collect()
}
