//! Other outputs for tasks that a new run takes from the record of another. The tasks that read them must still be
//! ahead: a record in which a task has worked with an output that its source never had would be false.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::decisions::fork::task_of;
use crate::decisions::output;
use crate::state::run::{Run, TaskOutcome};
use consort_spec::event::{EditedOutput, Event, EventKind, Subject, Timing};
use consort_spec::id::Place;
use consort_spec::mistake::{Code, Mistake, listed};
use consort_spec::spec::Spec;
use consort_spec::text::Text;

/// The outputs that a request changes, by the names of their tasks.
pub(crate) type Outputs = BTreeMap<String, String>;

/// Returns the number of the first event that belongs to a reader of one of these outputs: the latest place at which
/// all of them can still be changed.
pub(crate) fn first_use(events: &[Event], outputs: &Outputs) -> Option<u64> {
    let run = Run::replay(events);
    let tasks = outputs.keys().filter_map(|name| position(run.spec(), name));
    tasks.filter_map(|task| used(run.spec(), events, task)).map(|(at, _reader)| at as u64).min()
}

/// Checks the outputs against the part of a record that is kept, and the run it folds into. `whole` is all of the
/// record, which the numbers in messages are about.
pub(crate) fn check(
    (run, kept): (&Run, &[Event]),
    whole: &[Event],
    outputs: &Outputs,
    by: &str,
) -> Result<Vec<EditedOutput>, Vec<Mistake>> {
    let mut edited: Vec<EditedOutput> = Vec::new();
    let mut mistakes = Vec::new();
    for (name, text) in outputs {
        let wrong = |message: String| Mistake::new(Code::BadRequest, format!("outputs.{name}"), message);
        let found = known(run.spec(), name).and_then(|task| {
            completed(run, task)?;
            unused(run.spec(), (kept, whole), task)?;
            unreviewed(run, whole, task)?;
            fits(run, task, text).map(|()| task)
        });
        match found {
            Ok(task) if edited.iter().any(|edited| edited.task == task) => {
                mistakes.push(wrong("names a task that another entry names too".to_owned()));
            }
            Ok(task) => edited.push(EditedOutput { task, output: Text::from(text.clone()), by: by.to_owned() }),
            Err(message) => mistakes.push(wrong(message)),
        }
    }
    if mistakes.is_empty() { Ok(edited) } else { Err(mistakes) }
}

impl Run {
    /// Returns the end of a task with another output, if the task has one.
    pub(crate) fn with_output(&self, task: usize, output: &Text) -> Option<TaskOutcome> {
        completed(self, task).ok()?;
        let text = output.as_str();
        let schema = self.spec().tasks.get(task).and_then(|task| task.output_schema.as_ref());
        let parsed = match self.is_list(Place::task(task)) {
            true => serde_json::from_str::<Vec<Value>>(text).ok().map(Value::from),
            false => schema.and_then(|schema| output::stored(text, schema)),
        };
        Some(TaskOutcome::Completed { output: output.clone(), parsed })
    }
}

fn position(spec: &Spec, name: &str) -> Option<usize> {
    let is_it = |task: &usize| spec.tasks.get(*task).is_some_and(|task| task.name.eq_ignore_ascii_case(name));
    (0..spec.tasks.len()).filter(|task| spec.is_begun_by_run(*task)).find(is_it)
}

fn known(spec: &Spec, name: &str) -> Result<usize, String> {
    position(spec, name).ok_or_else(|| {
        let begun = spec.tasks.iter().enumerate().filter(|(task, _)| spec.is_begun_by_run(*task));
        format!("Unknown task '{name}'. Available: {}", listed(begun.map(|(_, task)| task.name.as_str())))
    })
}

fn completed(run: &Run, task: usize) -> Result<(), String> {
    let has_output =
        |task: &usize| matches!(run.tasks().get(task).map(|ended| &ended.outcome), Some(TaskOutcome::Completed { .. }));
    if has_output(&task) {
        return Ok(());
    }
    let done = (0..run.spec().tasks.len()).filter(has_output);
    let done = listed(done.filter_map(|task| run.spec().tasks.get(task)).map(|task| task.name.as_str()));
    Err(format!("it has no output in what is kept of the run. Completed there: {done}"))
}

/// Refuses to change an output that a kept task has worked with.
fn unused(spec: &Spec, (kept, whole): (&[Event], &[Event]), task: usize) -> Result<(), String> {
    let Some((_, reader)) = used(spec, kept, task) else { return Ok(()) };
    let reader = spec.tasks.get(reader).map_or("", |task| task.name.as_str());
    let seq = used(spec, whole, task).map_or(0, |(at, _reader)| at);
    Err(format!("'{reader}' has begun with its present output; fork with `seq` {seq} or less to change it before"))
}

/// Returns the first event of a reader of this task's output, and the reader.
fn used(spec: &Spec, events: &[Event], task: usize) -> Option<(usize, usize)> {
    let reader = |event: &Event| {
        if let EventKind::ExpressionEvaluated { of: Subject::Group { group, .. }, .. } = &event.kind {
            let group = spec.groups.get(*group)?;
            return group.tasks.iter().copied().find(|reader| spec.reads_output(*reader, task));
        }
        task_of(&event.kind).filter(|reader| spec.reads_output(*reader, task))
    };
    events.iter().enumerate().find_map(|(at, event)| Some((at, reader(event)?)))
}

/// Refuses to change an output that went through a review: its reviewer decided about the one it has. Before that
/// decision it can be changed in the review itself.
fn unreviewed(run: &Run, whole: &[Event], task: usize) -> Result<(), String> {
    let of_output = |conversation: &consort_spec::id::Id| conversation.task_index() == task;
    if !run.reviews().iter().any(|review| review.timing == Timing::AfterExecution && of_output(&review.conversation)) {
        return Ok(());
    }
    let opens = |event: &Event| matches!(&event.kind, EventKind::ReviewOpened { conversation, timing: Timing::AfterExecution, .. } if of_output(conversation));
    let seq = whole.iter().rposition(opens).map_or(0, |at| at + 1);
    Err(format!("it was reviewed; fork with `seq` {seq} and change it in the review of the new run"))
}

/// Checks an output: the list of a task that is done for each item, or the value its schema asks for.
fn fits(run: &Run, task: usize, text: &str) -> Result<(), String> {
    let schema = run.spec().tasks.get(task).and_then(|task| task.output_schema.as_ref());
    if run.is_list(Place::task(task)) {
        let list = serde_json::from_str::<Vec<Value>>(text)
            .map_err(|error| format!("it must be a JSON list, one entry for each item: {error}"))?;
        let items = items(run, task).unwrap_or(list.len());
        if list.len() != items {
            return Err(format!("it must be a list of {items}, one entry for each item, not of {}", list.len()));
        }
        // An item that was skipped or failed stands in the list as null.
        let items = list.iter().filter(|item| !item.is_null());
        let violations: Vec<String> =
            schema.into_iter().flat_map(|schema| items.clone().flat_map(|item| schema.violations(item))).collect();
        return if violations.is_empty() { Ok(()) } else { Err(unfit(&violations)) };
    }
    let Some(schema) = schema else { return Ok(()) };
    output::parse(text, schema).map(drop).map_err(|violations| unfit(&violations))
}

/// Returns the number of items that a task was done for.
fn items(run: &Run, task: usize) -> Option<usize> {
    let TaskOutcome::Completed { parsed, .. } = &run.tasks().get(&task)?.outcome else { return None };
    Some(parsed.as_ref()?.as_array()?.len())
}

fn unfit(violations: &[String]) -> String {
    format!("it does not fit the output schema of the task: {}", violations.join("; "))
}
