//! Compiles what branches: conditions, lists and groups, with every name resolved.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Compiler;
use crate::graph;
use crate::requests::branch::{
    ForEach, Group, ITEMS_LIMIT, MAX_ITEMS, MAX_PARALLEL, MAX_ROUNDS, PARALLEL_LIMIT, ROUNDS_LIMIT, Repeat,
};
use crate::requests::draft::{self, Draft, Each};
use crate::requests::expression::{self, Expression, Scope};
use crate::requests::mistake::{Code, Mistake, listed};
use crate::requests::spec::{Part, Spec, Task, Workflow};
use crate::requests::template::Inputs;

/// The number of groups of a run, and of all their tasks together: more are hardly meant.
pub(super) const GROUPS_MAX: usize = 200;
const GROUPED_MAX: usize = 1_000;

/// The positions of tasks by name; a group's name stands for its last task, whose output is the group's.
pub(super) type Positions = HashMap<String, usize>;

/// An expression to be compiled.
struct Written<'a> {
    source: &'a str,
    /// The key it is written under, as a request has it.
    place: String,
    scope: Scope,
    /// The workflow that it is a part of.
    part: Option<&'a Part>,
}

/// The names that expressions may use.
pub(super) struct Known<'a> {
    pub(super) positions: &'a Positions,
    pub(super) inputs: &'a Inputs,
    /// Inputs that expressions need and that have no value.
    pub(super) missing: BTreeSet<String>,
}

impl Compiler<'_> {
    /// Resolves which tasks are in which group, before anything else about groups is read.
    pub(super) fn group_tasks(&mut self, drafts: &[draft::Group], positions: &mut Positions) -> Vec<Vec<usize>> {
        let mut taken = BTreeSet::new();
        let mut groups = Vec::with_capacity(drafts.len());
        if drafts.len() > GROUPS_MAX || drafts.iter().map(|draft| draft.tasks.len()).sum::<usize>() > GROUPED_MAX {
            let message = format!("at most {GROUPS_MAX} groups with {GROUPED_MAX} tasks together");
            self.mistake(Code::BadRequest, "groups", message);
            return vec![Vec::new(); drafts.len()];
        }
        for (index, draft) in drafts.iter().enumerate() {
            let place = format!("groups[{index}]");
            let mut tasks = Vec::with_capacity(draft.tasks.len());
            for (at, name) in draft.tasks.iter().enumerate() {
                let place = format!("{place}.tasks[{at}]");
                match positions.get(name.strip_prefix('$').unwrap_or(name)) {
                    Some(task) if taken.insert(*task) => tasks.push(*task),
                    Some(_) => self.mistake(Code::BadRequest, place, format!("'{name}' is in a group already")),
                    None => self.mistake(Code::BadRequest, place, no_task(name, positions)),
                }
            }
            if draft.tasks.is_empty() {
                self.mistake(Code::BadRequest, format!("{place}.tasks"), "a group has at least one task");
            }
            groups.push(tasks);
        }
        self.name_groups(drafts, &groups, positions);
        groups
    }

    /// Adds the names of groups to the positions: each stands for the last task of its group.
    fn name_groups(&mut self, drafts: &[draft::Group], groups: &[Vec<usize>], positions: &mut Positions) {
        for (index, (draft, tasks)) in drafts.iter().zip(groups).enumerate() {
            let name = draft.name.trim();
            let problem = match (name.is_empty(), positions.contains_key(name)) {
                (true, _) => Some("must not be blank".to_owned()),
                (false, true) => Some(format!("'{name}' is the name of a task or of another group")),
                (false, false) => None,
            };
            match (problem, tasks.last()) {
                (Some(message), _) => self.mistake(Code::BadRequest, format!("groups[{index}].name"), message),
                (None, Some(last)) => drop(positions.insert(name.to_owned(), *last)),
                (None, None) => {}
            }
        }
    }

    /// Compiles the groups, whose tasks are known already.
    pub(super) fn groups(
        &mut self,
        drafts: &[draft::Group],
        tasks: &[Vec<usize>],
        known: &mut Known<'_>,
    ) -> Vec<Group> {
        let groups = drafts.iter().zip(tasks).enumerate();
        groups.map(|(index, (draft, tasks))| self.group(draft, tasks, &format!("groups[{index}]"), known)).collect()
    }

    fn group(&mut self, draft: &draft::Group, tasks: &[usize], place: &str, known: &mut Known<'_>) -> Group {
        let scope = Scope::default();
        let part = draft.part.as_ref();
        let when = draft.when.as_deref().map(|source| Written { source, place: format!("{place}.when"), scope, part });
        let group = Group {
            name: draft.name.trim().to_owned(),
            tasks: tasks.to_vec(),
            when: when.and_then(|when| self.expression(&when, known)),
            for_each: self.for_each(&draft.each, place, (scope, part), known),
            repeat: self.repeat(draft, place, known),
            part: draft.part.clone(),
        };
        let gates =
            group.when.iter().zip(["when"]).chain(group.for_each.iter().map(|each| &each.list).zip(["forEach"]));
        for (gate, key) in gates {
            if let Some((name, _)) = gate.outputs.iter().find(|(_, task)| tasks.contains(task)) {
                let message = format!("names '{name}', which is in the group and has not begun");
                self.mistake(Code::InvalidExpression, format!("{place}.{key}"), message);
            }
        }
        match (&draft.when, &draft.each.list, &draft.repeat_until) {
            (_, Some(_), Some(_)) => {
                let message = "a group has `for_each` or `repeat_until`, not both";
                self.mistake(Code::BadRequest, format!("{place}.repeatUntil"), message);
            }
            (None, None, None) => {
                self.mistake(Code::BadRequest, place, "a group needs `when`, `for_each` or `repeat_until`");
            }
            _ => {}
        }
        group
    }

    fn repeat(&mut self, draft: &draft::Group, place: &str, known: &mut Known<'_>) -> Option<Repeat> {
        let Some(source) = draft.repeat_until.as_deref() else {
            for (key, is) in [("maxRounds", draft.max_rounds.is_some()), ("onMaxRounds", draft.on_max_rounds.is_some())]
            {
                if is {
                    self.mistake(Code::BadRequest, format!("{place}.{key}"), "is for groups with `repeat_until`");
                }
            }
            return None;
        };
        let scope = Scope { round: true, ..Scope::default() };
        let until = Written { source, place: format!("{place}.repeatUntil"), scope, part: draft.part.as_ref() };
        let max_rounds = self.within(draft.max_rounds, MAX_ROUNDS, ROUNDS_LIMIT, format!("{place}.maxRounds"));
        let until = self.expression(&until, known)?;
        Some(Repeat { until, max_rounds, on_max_rounds: draft.on_max_rounds.unwrap_or_default() })
    }

    /// Compiles the condition and the list of a task.
    pub(super) fn branches(
        &mut self,
        task: Task,
        draft: &Draft,
        (place, scope): (&str, Scope),
        known: &mut Known<'_>,
    ) -> Task {
        let part = draft.part.as_ref();
        let when = draft.when.as_deref().map(|source| Written { source, place: format!("{place}.when"), scope, part });
        if scope.item && draft.each.list.is_some() {
            let message = "its group has `for_each` already";
            self.mistake(Code::BadRequest, format!("{place}.forEach"), message);
        }
        let when = when.and_then(|when| self.expression(&when, known));
        Task { when, for_each: self.for_each(&draft.each, place, (scope, part), known), ..task }
    }

    fn for_each(
        &mut self,
        each: &Each,
        place: &str,
        (scope, part): (Scope, Option<&Part>),
        known: &mut Known<'_>,
    ) -> Option<ForEach> {
        let Some(source) = each.list.as_deref() else {
            for (key, is) in [("maxItems", each.max_items.is_some()), ("maxParallel", each.max_parallel.is_some())] {
                if is {
                    self.mistake(Code::BadRequest, format!("{place}.{key}"), "goes with `for_each`");
                }
            }
            return None;
        };
        let list = self.expression(&Written { source, place: format!("{place}.forEach"), scope, part }, known);
        let max_items = self.within(each.max_items, MAX_ITEMS, ITEMS_LIMIT, format!("{place}.maxItems"));
        let max_parallel = self.within(each.max_parallel, MAX_PARALLEL, PARALLEL_LIMIT, format!("{place}.maxParallel"));
        Some(ForEach { list: list?, max_items, max_parallel })
    }

    fn within(&mut self, given: Option<u32>, usual: u32, most: u32, place: String) -> u32 {
        let number = given.unwrap_or(usual);
        if number == 0 || number > most {
            self.mistake(Code::BadRequest, place, format!("must be from 1 to {most}, not {number}"));
        }
        number
    }

    fn expression(&mut self, written: &Written<'_>, known: &mut Known<'_>) -> Option<Expression> {
        let names = match expression::read(written.source, written.scope) {
            Ok(names) => names,
            Err(reason) => {
                self.mistake(Code::InvalidExpression, &written.place, reason);
                return None;
            }
        };
        let inputs = written.part.map_or(known.inputs, |part| &part.inputs);
        known.missing.extend(names.inputs.into_iter().filter(|name| !inputs.contains_key(name)));
        let mut outputs = BTreeMap::new();
        for name in names.outputs {
            let full = written.part.map(|part| format!("{}/{name}", part.name));
            match known.positions.get(full.as_ref().unwrap_or(&name)) {
                Some(task) => drop(outputs.insert(name, *task)),
                None if self.is_full() => {}
                None => {
                    let message = no_task(&name, known.positions);
                    self.mistake(Code::InvalidExpression, &written.place, message);
                }
            }
        }
        Some(Expression { source: written.source.to_owned(), outputs })
    }

    /// Refuses what a hierarchy does not have: its manager alone decides what is done.
    pub(super) fn check_hierarchy(&mut self, spec: &Spec) {
        if spec.workflow != Workflow::Hierarchical {
            return;
        }
        let message = "a HIERARCHICAL run has none: its manager decides what is done";
        let tasks = spec.tasks.iter().enumerate().filter_map(|(index, task)| {
            let key = task.when.as_ref().map(|_| "when").or(task.for_each.as_ref().map(|_| "forEach"))?;
            Some(format!("tasks[{index}].{key}"))
        });
        let groups = (!spec.groups.is_empty()).then(|| "groups".to_owned());
        let places: Vec<String> = tasks.chain(groups).collect();
        places.into_iter().for_each(|place| self.mistake(Code::BadRequest, place, message));
    }
}

fn no_task(name: &str, positions: &Positions) -> String {
    let mut names: Vec<&str> = positions.keys().map(String::as_str).collect();
    names.sort_unstable();
    format!("no task '{name}'. Available: {}", listed(names))
}

impl Spec {
    /// Returns the mistakes in the order of the tasks: circles, and in a sequence what names a later task.
    pub(super) fn order_mistakes(&self) -> Vec<Mistake> {
        if let Some(mistake) = self.circle() {
            return vec![mistake];
        }
        if self.workflow != Workflow::Sequential {
            return Vec::new();
        }
        (0..self.tasks.len()).flat_map(|task| self.named_too_early(task)).collect()
    }

    /// Returns the first circle: among tasks and groups, or among the tasks of a group.
    fn circle(&self) -> Option<Mistake> {
        let (units, within) = self.waiting_graphs();
        let name = |task: usize| match self.group_of(task) {
            Some((_, group)) => group.name.as_str(),
            None => self.tasks.get(task).map_or("?", |task| task.name.as_str()),
        };
        let mistake = |circle: Vec<usize>, names: Vec<&str>| {
            let place = circle.first().map_or_else(String::new, |first| format!("tasks[{first}].context"));
            Mistake::new(Code::CircularDependency, place, format!("Tasks form a cycle: {}", names.join(" → ")))
        };
        if let Some(circle) = graph::cycle(&units) {
            let names = circle.iter().map(|task| name(*task)).collect();
            return Some(mistake(circle, names));
        }
        let circle = graph::cycle(&within)?;
        let names = circle.iter().filter_map(|task| self.tasks.get(*task)).map(|task| task.name.as_str()).collect();
        Some(mistake(circle.clone(), names))
    }

    /// Returns the units that each unit waits for, and the tasks of its own group that each task waits for.
    fn waiting_graphs(&self) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        // What a sequence adds is checked apart, with words of its own.
        let waits: Vec<Vec<usize>> = match self.workflow {
            Workflow::Sequential if self.groups.is_empty() => {
                Spec { workflow: Workflow::Parallel, ..self.clone() }.order()
            }
            Workflow::Sequential | Workflow::Parallel | Workflow::Hierarchical => self.order(),
        };
        let outside = |task: usize, on: &usize| self.unit_of(task) != self.unit_of(*on);
        let mut units = vec![Vec::new(); self.tasks.len()];
        let mut within = vec![Vec::new(); self.tasks.len()];
        for (task, waits) in waits.iter().enumerate() {
            let grouped = self.group_of(task).is_some();
            let (out, inside): (Vec<usize>, Vec<usize>) = waits.iter().partition(|on| !grouped || outside(task, on));
            units.get_mut(self.unit_of(task)).into_iter().for_each(|unit: &mut Vec<usize>| {
                unit.extend(out.iter().map(|on| self.unit_of(*on)));
            });
            within.get_mut(task).into_iter().for_each(|task| task.clone_from(&inside));
        }
        (units, within)
    }

    /// Returns a mistake for each task that a task reads or names although it comes later in the sequence.
    fn named_too_early(&self, task: usize) -> Vec<Mistake> {
        let Some(spec) = self.tasks.get(task) else { return Vec::new() };
        let rank = |other: usize| match (self.group_of(task), self.group_of(other)) {
            (Some((_, group)), Some((_, same))) if group.name == same.name => group.rank(task).zip(group.rank(other)),
            _ => Some((task, other)),
        };
        let is_later = |other: &usize| {
            !self.reads_round_before(task, *other) && rank(*other).is_some_and(|(own, other)| other > own)
        };
        let name = |task: usize| self.tasks.get(task).map_or("?", |task| task.name.as_str());
        let late = |code: Code, key: &str, verb: &str, other: &usize| {
            let message = format!("'{}' {verb} '{}', which comes later in the sequence", spec.name, name(*other));
            Mistake::new(code, format!("tasks[{task}].{key}"), message)
        };
        let reads = spec.context.iter().filter(|other| is_later(other));
        let reads = reads.map(|other| late(Code::BadRequest, "context", "reads", other));
        let lists = spec.for_each.as_ref().map(|each| ("forEach", &each.list));
        let named = spec.when.as_ref().map(|when| ("when", when)).into_iter().chain(lists);
        let named = named.flat_map(|(key, expression)| expression.outputs.values().map(move |other| (key, other)));
        let named = named.filter(|(_, other)| is_later(other));
        reads.chain(named.map(|(key, other)| late(Code::InvalidExpression, key, "names", other))).collect()
    }
}
