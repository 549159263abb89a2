//! The part of an ended run that a retry keeps: tasks and instances that are done stay done, and what a condition
//! skipped stays skipped, unless something that the condition names is done again. The tasks of a group are kept or
//! done again together.

use std::collections::BTreeSet;

use crate::state::run::{Run, TaskOutcome};
use consort_spec::branch::{Group, Needs};
use consort_spec::cause::SkipCause;
use consort_spec::event::{Evaluated, EventKind, Subject};
use consort_spec::id::Place;

/// The tasks of an ended run, by what a retry does with them.
pub(crate) struct Record<'a> {
    run: &'a Run,
    /// The tasks that are done: nothing of them is done again.
    done: BTreeSet<usize>,
    /// The tasks that are not done, and whose instances may be kept.
    partial: BTreeSet<usize>,
}

impl Record<'_> {
    pub(crate) fn of(run: &Run) -> Record<'_> {
        let spec = run.spec();
        let is_done = |task: &usize| run.tasks().get(task).is_some_and(|ended| !ended.outcome.is_lost());
        let done = (0..spec.tasks.len()).filter(|task| spec.is_begun_by_run(*task)).filter(is_done).collect();
        let mut record = Record { run, done, partial: BTreeSet::new() };
        // What begins anew may be named by the next group or condition, so they are looked at until nothing changes.
        loop {
            let doubtful = record.doubtful();
            let broken = record.broken_group().and_then(|group| spec.groups.get(group));
            if doubtful.is_none() && broken.is_none() {
                break;
            }
            let again: BTreeSet<usize> =
                broken.into_iter().flat_map(|group| &group.tasks).copied().chain(doubtful).collect();
            record.done.retain(|task| !again.contains(task));
        }
        record.partial = (0..spec.tasks.len()).filter(|task| record.is_partial(*task)).collect();
        record
    }

    /// Returns whether there is nothing to do again.
    pub(crate) fn is_complete(&self) -> bool {
        let spec = self.run.spec();
        let mut begun = (0..spec.tasks.len()).filter(|task| spec.is_begun_by_run(*task));
        begun.all(|task| self.done.contains(&task))
    }

    /// Returns a task that a condition skipped, although something that its own expressions or its group's name is
    /// done again: they are evaluated again after that.
    fn doubtful(&self) -> Option<usize> {
        let is_skipped = |task: &usize| {
            let ended = self.run.tasks().get(task);
            ended.is_some_and(|ended| matches!(ended.outcome, TaskOutcome::Skipped { cause: SkipCause::Condition, .. }))
        };
        let is_decided = |task: usize| {
            let mut named = self.run.spec().waits(task).into_iter().filter(|(_, needs)| *needs == Needs::End);
            named.all(|(on, _)| self.is_over(task, on))
        };
        self.done.iter().copied().find(|task| is_skipped(task) && !is_decided(*task))
    }

    /// Whether nothing is done again of what a task waits on. A group is waited on as a whole by those outside of it.
    fn is_over(&self, task: usize, on: usize) -> bool {
        match self.run.spec().group_of(on) {
            Some((_, group)) if group.rank(task).is_none() => group.tasks.iter().all(|task| self.done.contains(task)),
            Some(_) | None => self.done.contains(&on),
        }
    }

    /// Returns a group of which only some tasks are done, although it begins anew or goes on: then its tasks as a
    /// whole are not over, only instances of them.
    fn broken_group(&self) -> Option<usize> {
        let groups = self.run.spec().groups.iter().enumerate();
        let is_whole = |group: &Group| group.tasks.iter().all(|task| self.done.contains(task));
        let mut broken = groups
            .filter(|(number, group)| !is_whole(group) && (group.has_instances() || self.begins_anew(*number, group)));
        broken.find(|(_, group)| group.tasks.iter().any(|task| self.done.contains(task))).map(|(number, _)| number)
    }

    /// Returns whether all tasks of a group are done again: something that decided about them is, or the group failed
    /// as a whole, because its rounds ran out or an expression failed.
    fn begins_anew(&self, number: usize, group: &Group) -> bool {
        if group.tasks.iter().all(|task| self.done.contains(task)) {
            return false;
        }
        let is_lost = |place: &Place| self.run.ended_at(*place).is_some_and(|ended| ended.outcome.is_lost());
        let parts = group.tasks.iter().flat_map(|task| match group.has_instances() {
            true => self.run.parts_of(Place::task(*task)),
            false => vec![Place::task(*task)],
        });
        let is_over = group.tasks.iter().all(|task| self.run.tasks().contains_key(task));
        let failed_whole =
            is_over && (!self.run.flow().is_begun(number) || !parts.into_iter().any(|part| is_lost(&part)));
        failed_whole || !self.is_sound(&group.tasks)
    }

    /// Returns whether everything that these tasks wait on, outside of them, is done.
    fn is_sound(&self, tasks: &[usize]) -> bool {
        let spec = self.run.spec();
        let mut waits = tasks.iter().flat_map(|task| spec.waits(*task).into_iter().map(|(on, _)| (*task, on)));
        waits.all(|(task, on)| tasks.contains(&on) || self.is_over(task, on))
    }

    /// Returns whether instances of a task that is not done may be kept.
    fn is_partial(&self, task: usize) -> bool {
        let spec = self.run.spec();
        if self.done.contains(&task) || !spec.is_begun_by_run(task) {
            return false;
        }
        match spec.group_of(task) {
            Some((number, group)) => !self.begins_anew(number, group),
            None => self.is_sound(&[task]),
        }
    }

    /// Returns whether an event is kept.
    pub(crate) fn keeps(&self, kind: &EventKind) -> bool {
        if let EventKind::ExpressionEvaluated { of: Subject::Group { group: number, .. }, result, .. } = kind {
            let group = self.run.spec().groups.get(*number);
            let goes_on = group.is_some_and(|group| !self.begins_anew(*number, group));
            return goes_on && matches!(result, Evaluated::Value(_));
        }
        if let EventKind::BeltComposed { task, .. } = kind {
            return self.done.contains(task) || self.partial.contains(task);
        }
        let Some(place) = kind.place().map(|id| id.site()) else { return true };
        if self.done.contains(&place.task) {
            return true;
        }
        let is_value = matches!(kind, EventKind::ExpressionEvaluated { result: Evaluated::Value(_), .. });
        let is_kept =
            |place: Place| !place.is_whole() && self.run.ended_at(place).is_some_and(|ended| !ended.outcome.is_lost());
        // A list that is done stays as it is, with the items of it that failed.
        let list = Place { item: None, ..place };
        self.partial.contains(&place.task) && (is_value || is_kept(place) || is_kept(list))
    }
}
