//! Tasks that list tools for models that cannot call any: the task is done without them, which is said.

use crate::requests::catalog::Models;
use crate::requests::spec::{Spec, Task};

/// Returns a warning for each task with tools whose model, or a fallback of it, has `tools = false`.
pub(super) fn warnings(spec: &Spec, models: &Models) -> Vec<String> {
    let asks = spec.tasks.iter().filter(|task| !task.tools.is_empty() && task.handler.is_none());
    asks.filter_map(|task| warning(task, &spec.model, models)).collect()
}

fn warning(task: &Task, default: &str, models: &Models) -> Option<String> {
    let name = &task.name;
    let model = models.get(task.model.as_deref().unwrap_or(default))?;
    let alias = &model.alias;
    if !model.tools {
        return Some(format!("task `{name}` is done without its tools: the model `{alias}` has `tools = false`"));
    }
    let is_without = |fallback: &&String| models.get(*fallback).is_some_and(|model| !model.tools);
    let without: Vec<String> = model.fallback.iter().filter(is_without).map(|alias| format!("`{alias}`")).collect();
    (!without.is_empty()).then(|| {
        let without = without.join(", ");
        format!(
            "task `{name}` is done without its tools where `{alias}` does not answer: {without} has `tools = false`"
        )
    })
}
