//! Work that branches: expressions are evaluated here, each once, when everything they name has ended,
//! and the results of instances are put together.

use serde_json::Value;

use crate::decisions::next::Plan;
use crate::state::run::{Run, TaskOutcome};
use consort_spec::cause::{SkipCause, TaskFailure};
use consort_spec::event::{End, Evaluated, EventKind, Key, Subject};
use consort_spec::expression::{self, Expression, Values};
use consort_spec::id::Place;
use consort_spec::spec::{OnError, Workflow};
use consort_spec::template::{Item, Variables};

impl Run {
    /// Evaluates the expression of a group that is due.
    pub(crate) fn open_gate(&self, number: usize, plan: &mut Plan) {
        let Some(group) = self.spec().groups.get(number) else { return };
        let Some(first) = group.tasks.first() else { return };
        let place = Place::task(*first);
        let round = self.flow().round(number);
        let subject = |round| Subject::Group { group: number, round };
        match (&group.repeat, &group.when, &group.for_each) {
            (Some(repeat), _, _) if self.flow().is_open(number) => {
                let place = Place { round: Some(round), ..place };
                self.evaluate(subject(Some(round)), (Key::RepeatUntil, &repeat.until), place, plan);
            }
            (_, Some(when), _) if !self.flow().has_passed(number) => {
                self.evaluate(subject(None), (Key::When, when), place, plan);
            }
            (_, _, Some(each)) => self.evaluate(subject(None), (Key::ForEach, &each.list), place, plan),
            (Some(_) | None, Some(_) | None, None) => {}
        }
    }

    /// Evaluates an expression as the work at a place sees it, and records what it came to.
    pub(crate) fn evaluate(&self, of: Subject, (key, written): (Key, &Expression), place: Place, plan: &mut Plan) {
        let spec = self.spec();
        let is_judged = key == Key::RepeatUntil;
        let value = |task: usize| {
            // A group judges the round that is over, whichever of its tasks is asked.
            let site = if is_judged && self.is_together(place, task) {
                self.ended_at(Place { task, ..place })
            } else {
                self.read_at(place, task)
            };
            site.map_or(Value::Null, |ended| ended.outcome.value())
        };
        let item = self.flow().item(spec, place).zip(place.item).map(|(item, index)| (item, index as usize));
        let part = match &of {
            Subject::Task { .. } => spec.tasks.get(place.task).and_then(|task| task.part.as_ref()),
            Subject::Group { group, .. } => spec.groups.get(*group).and_then(|group| group.part.as_ref()),
        };
        let at = item.map_or(Item::None, |(item, index)| Item::At(item, index));
        let own = part.map(|part| part.values(Variables { inputs: &spec.inputs, item: at }));
        let values = Values {
            outputs: written.outputs.iter().map(|(name, task)| (name.clone(), value(*task))).collect(),
            inputs: Some(own.as_ref().unwrap_or(&spec.inputs)),
            item,
            round: place.round,
            delivery: None,
        };
        let result = expression::evaluate(&written.source, &values).and_then(|value| fitting(key, value));
        let result = result.map_or_else(Evaluated::Failed, Evaluated::Value);
        plan.record(EventKind::ExpressionEvaluated { of, key, result });
    }

    /// Returns whether a task is of the same group as the work at a place.
    fn is_together(&self, place: Place, task: usize) -> bool {
        self.spec().group_of(place.task).is_some_and(|(_, group)| group.rank(task).is_some())
    }

    pub(crate) fn skips(&self, place: Place, cause: SkipCause) -> EventKind {
        // Where a run is ended early, what it needs is missing for that reason, and not because something failed.
        let is_ended = matches!(self.stop(), Some((End::Completed { .. }, _))) && cause == SkipCause::Upstream;
        let cause = if is_ended { SkipCause::Ended } else { cause };
        let reason = cause.reason(self.spec().workflow == Workflow::Sequential);
        EventKind::TaskSkipped { conversation: place.id(), reason: reason.to_owned(), cause: Some(cause) }
    }

    /// Records the end of work whose instances are all over.
    pub(crate) fn gather(&self, place: Place, plan: &mut Plan) {
        let parts = self.parts_of(place);
        let ends = || parts.iter().filter_map(|part| self.ended_at(*part)).map(|ended| &ended.outcome);
        // In a list, a failed item is null where others go on, and the last round of a group is all that counts.
        let forgives = self.is_list(place) && self.spec().on_error == OnError::ContinueOnError;
        let bad = ends().find(|outcome| match outcome {
            TaskOutcome::Failed { .. } => !forgives,
            TaskOutcome::Cancelled => true,
            TaskOutcome::Skipped { cause: SkipCause::Condition, .. } => !self.is_list(place),
            TaskOutcome::Skipped { cause: SkipCause::Upstream, .. } => !forgives,
            TaskOutcome::Skipped { cause: SkipCause::Ended, .. } => true,
            TaskOutcome::Completed { .. } => false,
        });
        match bad {
            None => plan.record(EventKind::TaskCompleted { conversation: place.id() }),
            Some(TaskOutcome::Cancelled) => self.fail(&place.id(), &TaskFailure::cancelled(), plan),
            Some(TaskOutcome::Skipped { cause, .. }) => plan.record(self.skips(place, *cause)),
            Some(TaskOutcome::Failed { reason }) => {
                let conversation = place.id();
                let reason = reason.clone();
                plan.record(EventKind::TaskFailed { conversation, reason, cancelled: false, cause: None });
            }
            Some(TaskOutcome::Completed { .. }) => {}
        }
    }
}

/// Returns a value that an expression of this key may have.
fn fitting(key: Key, value: Value) -> Result<Value, String> {
    let (fits, wanted) = match key {
        Key::When | Key::RepeatUntil => (value.is_boolean(), "true or false"),
        Key::ForEach => (value.is_array(), "a list"),
    };
    if fits { Ok(value) } else { Err(format!("must come to {wanted}, not {}", kind(&value))) }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
