//! Work that branches, as a spec holds it: tasks that are done for each item of a list, and groups of tasks
//! that are skipped, repeated or fanned out together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{Key, Subject};
use crate::requests::expression::Expression;
use crate::requests::spec::{Part, Spec, Task, Workflow};

/// The number of items of a list that a task is done for, when the task sets none.
pub const MAX_ITEMS: u32 = 100;
/// The number of items under way at the same time, when the task sets none.
pub const MAX_PARALLEL: u32 = 8;
/// The number of rounds of a group, when it sets none.
pub const MAX_ROUNDS: u32 = 5;
/// The highest number of items: expressions go through no longer lists either.
pub const ITEMS_LIMIT: u32 = 10_000;
/// The highest number of items under way at the same time.
pub const PARALLEL_LIMIT: u32 = 1_000;
/// The highest number of rounds; a group that needs more does not come to an end.
pub const ROUNDS_LIMIT: u32 = 1_000;

/// A list of items for each of which work is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForEach {
    /// The expression of the list.
    pub list: Expression,
    /// The number of items it may have.
    pub max_items: u32,
    /// The number of items under way at the same time.
    pub max_parallel: u32,
}

/// Tasks that are skipped, repeated or fanned out together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The name, unique among tasks and groups.
    pub name: String,
    /// The positions of its tasks; the output of the last is the group's.
    pub tasks: Vec<usize>,
    /// The condition under which its tasks run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
    /// The list of items for each of which its tasks run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<ForEach>,
    /// The condition that ends its rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
    /// The saved workflow that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
}

/// The rounds of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// The condition that ends them.
    pub until: Expression,
    /// The number of rounds it may take.
    pub max_rounds: u32,
    /// The end of the group when its condition is still false after the last permitted round.
    pub on_max_rounds: OnMaxRounds,
}

/// The end of a group whose condition is still false after the last permitted round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnMaxRounds {
    /// Its tasks fail.
    #[default]
    Fail,
    /// The outputs of the last round are taken.
    Accept,
}

/// The part of another task that a task needs before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Its end, however it ended: an expression names it.
    End,
    /// Its output: it is read, or the other comes before it in a sequence.
    Output,
}

impl Group {
    /// Returns whether its tasks run more than once, and so have instances.
    pub fn has_instances(&self) -> bool {
        self.for_each.is_some() || self.repeat.is_some()
    }

    /// Returns the place of a task among its tasks.
    pub fn rank(&self, task: usize) -> Option<usize> {
        self.tasks.iter().position(|member| *member == task)
    }

    /// Returns the expressions that are evaluated before its tasks begin.
    fn gates(&self) -> impl Iterator<Item = &Expression> {
        self.when.iter().chain(self.for_each.as_ref().map(|each| &each.list))
    }
}

impl Task {
    /// Returns the expressions that are evaluated before it begins.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.when.iter().chain(self.for_each.as_ref().map(|each| &each.list))
    }
}

impl Spec {
    /// Returns the group of a task, and its number.
    pub fn group_of(&self, task: usize) -> Option<(usize, &Group)> {
        self.groups.iter().enumerate().find(|(_, group)| group.tasks.contains(&task))
    }

    /// Returns whether an answer is checked against a schema in it, or an expression evaluated.
    pub fn checks(&self) -> bool {
        let checks = |task: &Task| task.output_schema.is_some() || task.expressions().next().is_some();
        !self.groups.is_empty() || self.tasks.iter().any(checks)
    }

    /// Returns an expression by its owner and its key.
    pub fn expression(&self, of: &Subject, key: Key) -> Option<&Expression> {
        let (when, each, repeat) = match of {
            Subject::Task { conversation } => {
                let task = self.tasks.get(conversation.task_index())?;
                (&task.when, &task.for_each, None)
            }
            Subject::Group { group, .. } => {
                let group = self.groups.get(*group)?;
                (&group.when, &group.for_each, group.repeat.as_ref())
            }
        };
        match key {
            Key::When => when.as_ref(),
            Key::ForEach => each.as_ref().map(|each| &each.list),
            Key::RepeatUntil => repeat.map(|repeat| &repeat.until),
        }
    }

    /// Returns the task that stands for the unit of a task: the first declared one of its group, or itself.
    pub fn unit_of(&self, task: usize) -> usize {
        self.group_of(task).and_then(|(_, group)| group.tasks.iter().copied().min()).unwrap_or(task)
    }

    /// Returns the last task of a unit, whose output is the unit's.
    pub fn is_last_of_unit(&self, task: usize) -> bool {
        self.group_of(task).is_none_or(|(_, group)| group.tasks.last() == Some(&task))
    }

    /// Returns whether a task of a group reads another of the same group as it was in the round before: one that comes
    /// later in the round, or itself.
    pub fn reads_round_before(&self, reader: usize, task: usize) -> bool {
        let Some((_, group)) = self.group_of(reader) else { return false };
        let ranks = group.rank(reader).zip(group.rank(task));
        group.repeat.is_some() && ranks.is_some_and(|(reader, task)| task >= reader)
    }

    /// Returns whether a task, or an expression that decides about it, reads what another task came to as a whole.
    /// Within a group that has instances, tasks read each other's instances instead.
    pub fn reads_output(&self, reader: usize, task: usize) -> bool {
        let Some(spec) = self.tasks.get(reader) else { return false };
        let group = self.group_of(reader).map(|(_, group)| group);
        if reader == task || group.is_some_and(|group| group.has_instances() && group.rank(task).is_some()) {
            return false;
        }
        let until = group.and_then(|group| group.repeat.as_ref()).map(|repeat| &repeat.until);
        let mut expressions = spec.expressions().chain(group.into_iter().flat_map(Group::gates)).chain(until);
        spec.context.contains(&task) || expressions.any(|one| one.outputs.values().any(|named| *named == task))
    }

    /// Returns the tasks that a task waits on within its round, and what it needs of each: those it reads,
    /// those its expressions and its group's name and, in a sequence, the one before it.
    pub fn waits(&self, task: usize) -> Vec<(usize, Needs)> {
        let Some(spec) = self.tasks.get(task) else { return Vec::new() };
        let group = self.group_of(task).map(|(_, group)| group);
        let reads = spec.context.iter().chain(&spec.after).map(|read| (*read, Needs::Output));
        // A group that waits for its own tasks is refused with words of its own.
        let outside = |task: &&usize| group.is_none_or(|group| group.rank(**task).is_none());
        let gates = group.into_iter().flat_map(Group::gates).flat_map(|gate| gate.outputs.values());
        let named = spec.expressions().flat_map(|expression| expression.outputs.values()).chain(gates.filter(outside));
        let before = (self.workflow == Workflow::Sequential).then(|| self.before(task)).flatten();
        let waits = reads.chain(named.map(|named| (*named, Needs::End)));
        let mut waits: Vec<(usize, Needs)> = waits.chain(before.map(|before| (before, Needs::Output))).collect();
        waits.retain(|(on, _)| !self.reads_round_before(task, *on));
        waits.sort_unstable();
        waits.dedup();
        waits
    }

    /// Returns the task before another one in a sequence: groups run as one, in the order they list.
    fn before(&self, task: usize) -> Option<usize> {
        let Some((_, group)) = self.group_of(task) else { return task.checked_sub(1) };
        match group.rank(task).and_then(|rank| rank.checked_sub(1)) {
            Some(rank) => group.tasks.get(rank).copied(),
            None => group.tasks.iter().min()?.checked_sub(1),
        }
    }

    /// Returns the tasks that each task waits on.
    pub fn order(&self) -> Vec<Vec<usize>> {
        let tasks = |task: usize| {
            let mut waits: Vec<usize> = self.waits(task).into_iter().map(|(on, _)| on).collect();
            waits.dedup();
            waits
        };
        (0..self.tasks.len()).map(tasks).collect()
    }
}
