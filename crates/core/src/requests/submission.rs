//! A submitted request, checked in the documented order: whether it brings tasks, whether there is anything
//! to run, then everything else at once.

use serde_json::Value;

use crate::requests::compile::{Catalog, Compiled, compile};
use crate::requests::draft::Ensemble;
use crate::requests::mistake::{Code, Mistake};
use crate::requests::request;

/// A request without mistakes, with the action to take.
#[derive(Clone, Debug, PartialEq)]
pub enum Submission {
    /// The run is started.
    Run(Compiled),
    /// The compiled run is only reported.
    DryRun(Compiled),
}

/// The number of bytes from which a request counts as large.
const LARGE: usize = 8 * 1024;

/// Returns whether a request, or a workflow to be saved, may take long to compile: it is large, since its texts may be
/// filled in with each other, names saved workflows, or contains schemas or expressions.
pub fn takes_long(json: &Value) -> bool {
    let list = |name: &str| json.get(name).and_then(Value::as_array).into_iter().flatten();
    let has = |task: &Value, name: &str| task.get(name).is_some_and(|value| !value.is_null());
    let slow = ["outputSchema", "when", "forEach", "repeatUntil", "workflow"];
    list("tasks").chain(list("groups")).any(|task| slow.iter().any(|name| has(task, name)))
        || left_of(LARGE, json).is_none()
}

/// Returns the rest of so many bytes without those of a value, about; none when they are not enough.
fn left_of(room: usize, json: &Value) -> Option<usize> {
    let room = room.checked_sub(1)?;
    match json {
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(room),
        Value::String(text) => room.checked_sub(text.len()),
        Value::Array(items) => items.iter().try_fold(room, left_of),
        Value::Object(fields) => {
            fields.iter().try_fold(room, |room, (name, value)| left_of(room.checked_sub(name.len())?, value))
        }
    }
}

/// Reads a request against the ensemble and the catalog. Warnings about the request come before those about
/// its tasks.
pub fn read(json: &Value, ensemble: &Ensemble, catalog: &Catalog) -> Result<Submission, Vec<Mistake>> {
    let brings_tasks = json.get("tasks").is_some_and(|tasks| !tasks.is_null());
    if json.is_object() && !brings_tasks && ensemble.tasks.is_empty() {
        let message = "no ensemble is configured: send `tasks` of your own";
        return Err(vec![Mistake::new(Code::NotConfigured, "", message)]);
    }
    let (request, warnings) = request::parse(json)?;
    let wanted = json.get("dryRun").filter(|value| !value.is_null());
    let dry_run = wanted
        .map_or(Some(false), Value::as_bool)
        .ok_or_else(|| vec![Mistake::new(Code::BadRequest, "dryRun", "must be true or false")])?;
    let mut compiled = compile(ensemble, request, catalog)?;
    compiled.warnings.splice(0..0, warnings);
    Ok(if dry_run { Submission::DryRun(compiled) } else { Submission::Run(compiled) })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::requests::catalog::ModelInfo;
    use crate::requests::draft::Draft;

    fn submit(ensemble: &Ensemble, json: &Value) -> Result<Submission, Vec<Code>> {
        let catalog = Catalog { models: vec![Arc::new(ModelInfo::new("m", "demo"))], ..Catalog::default() };
        read(json, ensemble, &catalog).map_err(|mistakes| mistakes.iter().map(|mistake| mistake.code).collect())
    }

    #[test]
    fn without_an_ensemble_that_is_said_before_anything_about_the_fields() {
        let nothing = Ensemble::default();
        assert_eq!(submit(&nothing, &json!({ "inputs": 3 })), Err(vec![Code::NotConfigured]));
        assert_eq!(submit(&nothing, &json!([])), Err(vec![Code::BadRequest]));
        assert_eq!(submit(&nothing, &json!({ "tasks": 3 })), Err(vec![Code::BadRequest]));
        assert!(submit(&nothing, &json!({ "tasks": [{ "description": "x" }] })).is_ok());
    }

    #[test]
    fn what_is_large_or_must_be_compiled_takes_long() {
        let inputs = |length: usize| json!({ "inputs": { "a": "x".repeat(length) } });
        assert!(!takes_long(&inputs(100)) && takes_long(&inputs(LARGE)));
        assert!(takes_long(&json!({ "inputs": { "a": vec![1; LARGE] } })), "what is short and many");
        assert!(takes_long(&json!({ "tasks": [{ "description": "x" }, { "workflow": "w" }] })));
        assert!(!takes_long(&json!({ "tasks": [{ "description": "x", "when": null }] })) && !takes_long(&json!(3)));
    }

    #[test]
    fn a_dry_run_is_told_apart_and_unknown_fields_are_named_first() {
        let tasks = vec![Draft { description: "x".to_owned(), ..Draft::default() }];
        let ensemble = Ensemble { tasks, ..Ensemble::default() };
        let Ok(Submission::DryRun(run)) = submit(&ensemble, &json!({ "dryRun": true, "colour": 1 })) else { panic!() };
        assert_eq!(run.warnings, ["unknown field `colour` was ignored"]);
        assert!(matches!(submit(&ensemble, &json!({ "dryRun": null })), Ok(Submission::Run(_))));
        assert_eq!(submit(&ensemble, &json!({ "dryRun": "yes" })), Err(vec![Code::BadRequest]));
    }
}
