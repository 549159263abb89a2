//! Tasks with instances: what each instance is asked, what it reads, and what comes of all of them together.

use std::sync::Arc;

use serde_json::Value;

use crate::decisions::output;
use crate::state::conversation::Used;
use crate::state::ended::{Ended, TaskOutcome};
use crate::state::run::Run;
use consort_spec::agent::Agent;
use consort_spec::cause::{Cause, SkipCause, TaskFailure};
use consort_spec::event::{CancelMode, End};
use consort_spec::id::{Id, Place};
use consort_spec::spec::{OnError, Task, Template};
use consort_spec::template::{self, Item, Unresolved, Variables};
use consort_spec::text::Text;

/// An instance of a task that is over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Instance {
    pub(crate) ended: Ended,
    /// Whether it ended in the run that this one continues.
    pub(crate) inherited: bool,
}

impl Instance {
    pub(crate) fn new(ended: Ended) -> Instance {
        Instance { ended, inherited: false }
    }
}

impl Run {
    /// Returns the result of the work at a place, if it is over.
    pub(crate) fn ended_at(&self, place: Place) -> Option<&Ended> {
        match place.is_whole() {
            true => self.tasks.get(&place.task).map(Box::as_ref),
            false => self.instances.get(&place).map(|instance| &instance.ended),
        }
    }

    /// Returns the result of a task as the work at a place reads it: within a group that of the same item and
    /// round, or of the round before.
    pub(crate) fn read_at(&self, reader: Place, task: usize) -> Option<&Ended> {
        let together = self.spec.group_of(reader.task).filter(|(_, group)| group.rank(task).is_some());
        let Some((_, group)) = together else { return self.tasks.get(&task).map(Box::as_ref) };
        let item = reader.item.filter(|_| group.for_each.is_some());
        let round = match reader.round {
            Some(round) if self.spec.reads_round_before(reader.task, task) => Some(round.checked_sub(1)?),
            round => round,
        };
        self.ended_at(Place { task, round, item })
    }

    /// Returns the outputs that the task at a place reads, each with the task it is of.
    pub(crate) fn inputs_of<'a>(&'a self, id: &Id, task: &'a Task) -> impl Iterator<Item = (&'a Task, &'a Text)> {
        let place = id.site();
        task.context.iter().filter_map(move |position| match &self.read_at(place, *position)?.outcome {
            TaskOutcome::Completed { output, .. } => Some((self.spec.tasks.get(*position)?, output)),
            TaskOutcome::Failed { .. } | TaskOutcome::Cancelled | TaskOutcome::Skipped { .. } => None,
        })
    }

    pub(super) fn completed(&mut self, id: &Id) {
        let place = id.site();
        let Some(conversation) = self.close(id) else {
            return self.gathered(place).into_iter().for_each(|ended| self.note_ended(place, ended));
        };
        let output = conversation.output();
        let schema = self.spec.tasks.get(place.task).and_then(|task| task.output_schema.as_ref());
        let parsed = schema.and_then(|schema| output::stored(output.as_str(), schema));
        let outcome = TaskOutcome::Completed { output, parsed };
        self.note_ended(place, Ended::of(outcome, self.at, &conversation));
    }

    /// Stores the result of a task, or of an instance, and moves on those that waited for it.
    fn note_ended(&mut self, place: Place, ended: Ended) {
        let lost = ended.outcome.is_lost();
        if place.is_whole() {
            self.outputs.extend(matches!(ended.outcome, TaskOutcome::Completed { .. }).then_some(place.task));
            self.put_ended(place.task, ended);
        } else {
            self.instances.insert(place, Instance::new(ended));
        }
        let spec = self.spec.clone();
        self.flow.end(&spec, place, lost);
    }

    /// Stores the result of a task, in place of an earlier one.
    pub(super) fn put_ended(&mut self, task: usize, ended: Ended) {
        self.truncated += usize::from(ended.truncated);
        let before = self.tasks.insert(task, Box::new(ended));
        self.truncated -= usize::from(before.is_some_and(|before| before.truncated));
    }

    pub(super) fn task_failed(&mut self, id: &Id, reason: &str, cancelled: bool) {
        let conversation = self.close(id);
        let outcome =
            if cancelled { TaskOutcome::Cancelled } else { TaskOutcome::Failed { reason: reason.to_owned() } };
        let ended = conversation.map_or_else(
            || Ended::without_conversation(outcome.clone(), self.at),
            |conversation| Ended::of(outcome.clone(), self.at, &conversation),
        );
        let place = id.site();
        self.note_ended(place, ended);
        // The failure of an instance counts when its task fails for it.
        self.failed += usize::from(!cancelled && place.is_whole());
        if self.spec.on_error == OnError::FailFast && !cancelled {
            let name = self.spec.tasks.get(place.task).map_or("", |task| task.name.as_str());
            let which = place.item.map(|item| format!(" (item {item})")).unwrap_or_default();
            let error = format!("task '{name}'{which} failed: {reason}");
            self.wind_down(End::Failed { error }, CancelMode::AfterTask);
        }
    }

    pub(super) fn skipped(&mut self, id: &Id, reason: &str, cause: Option<SkipCause>) {
        let cause = cause.unwrap_or(SkipCause::Ended);
        self.close(id);
        let outcome = TaskOutcome::Skipped { reason: reason.to_owned(), cause };
        self.note_ended(id.site(), Ended::without_conversation(outcome, self.at));
    }

    /// Fills in the texts of an instance that is done for an item.
    pub(super) fn make_task(&mut self, place: Place) -> Result<(), TaskFailure> {
        let spec = self.spec.clone();
        let (Some(task), Some(item)) = (spec.tasks.get(place.task), self.flow.item(&spec, place)) else {
            return Ok(());
        };
        let (Some(template), Some(index)) = (&task.template, place.item) else { return Ok(()) };
        let variables = Variables { inputs: &spec.inputs, item: Item::At(item, index as usize) };
        let made = filled(task, template, variables).map_err(|_too_large| {
            TaskFailure::new(Cause::TemplateTooLarge, "the texts are too long once the item is filled in")
        })?;
        self.made.insert(place, Arc::new(made));
        Ok(())
    }

    /// Returns the places whose results make up the result of the work at a place.
    pub(crate) fn parts_of(&self, place: Place) -> Vec<Place> {
        let each = |count: usize| (0..count).filter_map(|item| u32::try_from(item).ok());
        let items = |count: usize| each(count).map(|item| Place { item: Some(item), ..place }).collect();
        if let Some(fan) = self.flow.fan(place) {
            return items(fan.items().len());
        }
        let Some((number, group)) = self.spec.group_of(place.task) else { return Vec::new() };
        match (&group.for_each, &group.repeat) {
            (Some(_), _) => items(self.flow.group_fan(number).map_or(0, |fan| fan.items().len())),
            (None, Some(_)) => vec![Place { round: Some(self.flow.round(number)), ..place }],
            (None, None) => Vec::new(),
        }
    }

    /// Returns whether what comes of the work at a place is a list, one entry for each item.
    pub(crate) fn is_list(&self, place: Place) -> bool {
        let fans = self.spec.group_of(place.task).is_some_and(|(_, group)| group.for_each.is_some());
        self.flow.fan(place).is_some() || fans
    }

    /// Puts together the results of all instances of the work at a place.
    pub(super) fn gathered(&self, place: Place) -> Option<Ended> {
        let parts = self.parts_of(place);
        let ended = || parts.iter().filter_map(|part| self.ended_at(*part));
        let last = ended().next_back();
        let outcome = if self.is_list(place) {
            let value = |part: &Place| self.ended_at(*part).map_or(Value::Null, |ended| ended.outcome.value());
            let list = Value::Array(parts.iter().map(value).collect());
            TaskOutcome::Completed { output: list.to_string().into(), parsed: Some(list) }
        } else {
            last?.outcome.clone()
        };
        let model = last.map(|ended| ended.model.clone()).unwrap_or_default();
        let truncated = ended().any(|ended| ended.truncated);
        Some(Ended { outcome, at: self.at, used: self.used_by(place), model, partial: None, truncated })
    }

    /// Returns the usage of all instances of the work at a place.
    fn used_by(&self, place: Place) -> Used {
        let instances = self.instances.range(place..=Place { round: Some(u32::MAX), item: Some(u32::MAX), ..place });
        // Where there are items, their lists would count them once more.
        let by_group = self.spec.group_of(place.task).is_some_and(|(_, group)| group.for_each.is_some());
        let by_items = by_group || self.spec.tasks.get(place.task).is_some_and(|task| task.for_each.is_some());
        let is_part =
            |part: &Place| (part.item.is_some() || !by_items) && (place.round.is_none() || part.round == place.round);
        let mut sum = Used { started_at: self.at, ..Used::default() };
        for (_, Instance { ended, .. }) in instances.filter(|(part, _)| is_part(part)) {
            // Work that was skipped has not begun.
            let began = Some(ended.used.started_at).filter(|at| *at > 0).unwrap_or(sum.started_at);
            sum = sum.and(&ended.used, began);
        }
        sum
    }
}

impl Used {
    fn and(self, other: &Used, began: u64) -> Used {
        let mut sum = Used { started_at: self.started_at.min(began), ..self };
        sum.llm_calls += other.llm_calls;
        sum.tool_calls += other.tool_calls;
        sum.unknown |= other.unknown;
        sum.llm_ms += other.llm_ms;
        sum.tool_ms += other.tool_ms;
        sum.add(&other.usage, None);
        sum.input_cost = sum.input_cost.saturating_add(other.input_cost);
        sum.output_cost = sum.output_cost.saturating_add(other.output_cost);
        sum
    }
}

/// Returns a task with its texts filled in once more, this time for an item.
fn filled(task: &Task, template: &Template, variables: Variables<'_>) -> Result<Task, Unresolved> {
    let fill = |text: &str| template::resolve(text, variables);
    let description = fill(&template.description)?;
    let agent = match &template.agent {
        Some(agent) => Agent {
            role: fill(&agent.role)?,
            goal: fill(&agent.goal)?,
            background: fill(&agent.background)?,
            ..task.agent.clone()
        },
        // A derived agent's goal is the description.
        None if task.handler.is_none() => Agent { goal: description.clone(), ..task.agent.clone() },
        None => task.agent.clone(),
    };
    let expected_output = template.expected_output.as_deref().map(fill).transpose()?;
    Ok(Task {
        expected_output: expected_output.unwrap_or_else(|| task.expected_output.clone()),
        additional_context: template.additional_context.as_deref().map(fill).transpose()?,
        description,
        agent,
        ..task.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use consort_spec::expression::Expression;
    use consort_spec::spec::Spec;

    #[test]
    fn what_every_row_and_every_answer_asks_is_known_without_looking_at_all_tasks() {
        let ended = |truncated| Ended { truncated, ..Ended::without_conversation(TaskOutcome::Cancelled, 1) };
        let mut run = Run::default();
        run.put_ended(0, ended(true));
        run.put_ended(1, ended(false));
        assert!(run.truncated());
        run.put_ended(0, ended(false));
        assert!(!run.truncated(), "it was done again");
        run.put_ended(1, ended(true));
        run.tasks.clear();
        assert!(run.truncated());
        let task = Task { when: Some(Expression::default()), ..Task::default() };
        run.take_spec(&Arc::new(Spec { tasks: vec![task], ..Spec::default() }));
        run.spec = Arc::default();
        assert!(run.validates());
        run.take_spec(&Arc::default());
        assert!(!run.validates());
    }
}
