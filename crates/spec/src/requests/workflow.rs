//! A saved workflow: a task graph as people draw it, kept as it was sent with positions on a canvas, and
//! checked by the same compiler as a request with its own tasks. It becomes such a request when it is run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::requests::compile::{Catalog, compile};
use crate::requests::draft::Ensemble;
use crate::requests::mistake::{Code, Mistake};
use crate::requests::request;
use crate::requests::request::shape::{AsSent, GroupRequest, ModelOptions, Options, WorkflowTask};
use crate::requests::template::Inputs;
use crate::unknown::{UNKNOWN_MAX, ignored};

/// The number of characters of a name.
pub(crate) const NAME_MAX: usize = 200;
/// The number of characters of a description.
const DESCRIPTION_MAX: usize = 10_000;
/// The number of tasks of one workflow.
pub const TASKS_MAX: usize = 1_000;
/// The number of bytes of a whole document, so that a version can always be shown at once.
const BYTES_MAX: usize = 512 * 1024;
/// The maximum distance of a task from the middle of the canvas.
const CANVAS: f64 = 1e6;
/// The fields that a client may send back unchanged, beside the document's own.
const SHOWN: [&str; 6] = ["id", "version", "createdAt", "updatedAt", "updatedBy", "warnings"];
const OWN: [&str; 7] = ["name", "description", "tasks", "groups", "inputs", "options", "modelOptions"];

/// A workflow as it is saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// The name.
    pub name: String,
    /// The purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The tasks as they were sent, each with its place on the canvas.
    #[schemars(with = "Vec<AsSent<WorkflowTask>>")]
    pub tasks: Vec<Value>,
    /// Groups of its tasks, as they were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<AsSent<GroupRequest>>>")]
    pub groups: Option<Value>,
    /// Defaults for template variables.
    #[serde(default, skip_serializing_if = "Inputs::is_empty")]
    pub inputs: Inputs,
    /// Options of its runs, as they were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AsSent<Options>>")]
    pub options: Option<Value>,
    /// The options for the models' answers in its runs, as they were sent.
    #[serde(default, rename = "modelOptions", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AsSent<ModelOptions>>")]
    pub model_options: Option<Value>,
}

impl Document {
    /// Reads a workflow and checks it against the catalog. Returns it with warnings. Inputs without a value are
    /// no mistake: its runs supply them.
    pub fn read(json: &Value, ensemble: &Ensemble, catalog: &Catalog) -> Result<(Document, Vec<String>), Vec<Mistake>> {
        let Value::Object(fields) = json else { return Err(vec![wrong("", "a workflow is a JSON object")]) };
        let mut mistakes = Vec::new();
        let mut say = |mistake: Option<Mistake>| mistakes.extend(mistake);
        say(text(fields, "name", NAME_MAX).err());
        say(text(fields, "description", DESCRIPTION_MAX).err());
        say(too_large(json));
        say(fields.get("name").filter(|name| !name.is_null()).is_none().then(|| wrong("name", "is required")));
        say(fields.get("tasks").filter(|tasks| !tasks.is_null()).is_none().then(|| wrong("tasks", "is required")));
        let (plain, misplaced) = without_positions(fields.get("tasks").unwrap_or(&Value::Null));
        misplaced.into_iter().for_each(|mistake| say(Some(mistake)));
        let bare = json!({ "tasks": plain, "groups": fields.get("groups"), "inputs": fields.get("inputs"), "options": fields.get("options"),
            "modelOptions": fields.get("modelOptions") });
        let parsed = request::parse(&bare).map_err(|found| mistakes.extend(found));
        let Ok((request, mut warnings)) = parsed else { return Err(mistakes) };
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let inputs = request.inputs.clone();
        warnings.extend(compiles(ensemble, request, catalog)?);
        warnings.extend(unknown(fields));
        let given = |name: &str| fields.get(name).filter(|value| !value.is_null()).cloned();
        let words = |name: &str| given(name).and_then(|value| value.as_str().map(str::to_owned));
        let document = Document {
            name: words("name").unwrap_or_default(),
            description: words("description"),
            tasks: given("tasks").and_then(|tasks| tasks.as_array().cloned()).unwrap_or_default(),
            groups: given("groups"),
            inputs,
            options: given("options"),
            model_options: given("modelOptions"),
        };
        Ok((document, warnings))
    }

    /// Returns the request that runs it, with the settings for this run.
    pub fn request(&self, wanted: &Value) -> Result<Value, Mistake> {
        let Value::Object(fields) = wanted else { return Err(wrong("", "a run is asked for with a JSON object")) };
        if let Some(name) = ["tasks", "groups", "taskOverrides"].into_iter().find(|name| fields.contains_key(*name)) {
            return Err(wrong(name, "a workflow brings its tasks: change the workflow, or send them to /api/runs"));
        }
        let mut request = fields.clone();
        let (tasks, _) = without_positions(&Value::Array(self.tasks.clone()));
        request.insert("tasks".to_owned(), tasks);
        request.extend(self.groups.clone().map(|groups| ("groups".to_owned(), groups)));
        request.insert("inputs".to_owned(), over(json!(self.inputs), fields.get("inputs")));
        for (name, own) in [("options", &self.options), ("modelOptions", &self.model_options)] {
            request.insert(name.to_owned(), over(own.clone().unwrap_or_default(), fields.get(name)));
        }
        Ok(Value::Object(request))
    }

    /// Returns whether a text of some task has this variable.
    pub fn uses(&self, variable: &str) -> bool {
        let named = format!("{{{variable}}}");
        self.tasks.iter().any(|task| task.to_string().contains(&named))
    }

    /// Returns the length of the document as JSON.
    pub fn bytes(&self) -> usize {
        serde_json::to_string(self).map_or(usize::MAX, |text| text.len())
    }

    /// Returns the number of edges: how often a task reads another one.
    pub fn edges(&self) -> usize {
        let reads = |task: &Value| task.get("context").and_then(Value::as_array).map_or(0, Vec::len);
        self.tasks.iter().map(reads).sum()
    }
}

/// Returns the schema of the result of an agent that draws a workflow.
pub fn schema() -> Value {
    let names = json!({ "type": "array", "items": { "type": "string" } });
    let task = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "Short and unique" },
            "description": { "type": "string", "description": "What to do; {variable} stands for an input" },
            "expectedOutput": { "type": "string", "description": "What the answer should be" },
            "tools": names,
            "context": { "type": "array", "items": { "type": "string" }, "description": "Tasks whose output it reads, each as $name" },
            "model": { "type": "string", "description": "Only where another model than usual is needed" }
        },
        "required": ["name", "description"],
        "additionalProperties": false
    });
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "maxLength": NAME_MAX },
            "description": { "type": "string", "description": "What it is for, in a sentence or two" },
            "tasks": { "type": "array", "items": task, "minItems": 1, "maxItems": TASKS_MAX },
            "inputs": { "type": "object", "description": "Defaults for variables" }
        },
        "required": ["name", "description", "tasks"],
        "additionalProperties": false
    })
}

/// Returns all mistakes that the compiler finds, apart from missing inputs.
fn compiles(
    ensemble: &Ensemble,
    request: crate::requests::draft::Request,
    catalog: &Catalog,
) -> Result<Vec<String>, Vec<Mistake>> {
    match compile(ensemble, request, catalog) {
        Ok(compiled) => Ok(compiled.warnings),
        Err(mut mistakes) => {
            mistakes.retain(|mistake| mistake.code != Code::MissingInput);
            if mistakes.is_empty() { Ok(Vec::new()) } else { Err(mistakes) }
        }
    }
}

fn wrong(place: impl Into<String>, message: impl Into<String>) -> Mistake {
    Mistake::new(Code::BadRequest, place, message)
}

fn text(fields: &Map<String, Value>, name: &str, max: usize) -> Result<(), Mistake> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(text)) if text.trim().is_empty() => Err(wrong(name, "must not be blank")),
        Some(Value::String(text)) if text.chars().count() > max => {
            Err(wrong(name, format!("must have at most {max} characters")))
        }
        Some(Value::String(_)) => Ok(()),
        Some(_) => Err(wrong(name, "must be a string")),
    }
}

fn too_large(json: &Value) -> Option<Mistake> {
    let count = json.get("tasks").and_then(Value::as_array).map_or(0, Vec::len);
    if count > TASKS_MAX {
        return Some(wrong("tasks", format!("must have at most {TASKS_MAX} entries, not {count}")));
    }
    let bytes = json.to_string().len();
    (bytes > BYTES_MAX).then(|| wrong("", format!("a workflow may have {BYTES_MAX} bytes, not {bytes}")))
}

/// Returns the tasks as in a request, and the mistakes in their positions.
fn without_positions(tasks: &Value) -> (Value, Vec<Mistake>) {
    let mut plain = tasks.clone();
    let mut mistakes = Vec::new();
    for (index, task) in plain.as_array_mut().into_iter().flatten().enumerate() {
        let place = task.as_object_mut().and_then(|task| task.remove("position")).filter(|place| !place.is_null());
        let on_canvas = |name: &str| {
            let number = place.as_ref().and_then(|place| place.get(name)).and_then(Value::as_f64);
            number.is_some_and(|number| number.abs() <= CANVAS)
        };
        if place.is_some() && !(on_canvas("x") && on_canvas("y")) {
            let message = format!("must be {{x, y}}, both numbers from -{CANVAS} to {CANVAS}");
            mistakes.push(wrong(format!("tasks[{index}].position"), message));
        }
    }
    (plain, mistakes)
}

fn unknown(fields: &Map<String, Value>) -> impl Iterator<Item = String> {
    let is_known = |name: &str| OWN.contains(&name) || SHOWN.contains(&name);
    fields.keys().filter(move |name| !is_known(name)).take(UNKNOWN_MAX).map(|name| ignored(name, name, OWN))
}

/// Merges one object over another, key by key; any other value replaces the base.
fn over(base: Value, wanted: Option<&Value>) -> Value {
    match (base, wanted) {
        (base, None | Some(Value::Null)) => base,
        (Value::Object(mut base), Some(Value::Object(wanted))) => {
            base.extend(wanted.clone());
            Value::Object(base)
        }
        (_, Some(wanted)) => wanted.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::requests::catalog::{ModelInfo, ToolInfo};
    use crate::schema::Schema;

    fn catalog() -> Catalog {
        let models = vec![Arc::new(ModelInfo::new("m", "demo"))];
        Catalog { models, tools: vec![Arc::new(ToolInfo::new("look", ""))], ..Catalog::default() }
    }

    fn read(json: &Value) -> Result<(Document, Vec<String>), Vec<String>> {
        let told = |mistake: &Mistake| format!("{} {}", mistake.code.word(), mistake.place);
        let document = Document::read(json, &Ensemble::default(), &catalog());
        document.map_err(|mistakes| mistakes.iter().map(told).collect())
    }

    fn drawn() -> Value {
        json!({ "name": "w", "version": 3, "tasks": [
            { "name": "a", "description": "Read {topic}", "tools": ["look"], "position": { "x": 1, "y": -2.5 } },
            { "name": "b", "description": "Write", "context": ["$a"] }],
            "inputs": { "depth": 2 }, "options": { "workflow": "PARALLEL", "verbose": true } })
    }

    #[test]
    fn a_workflow_is_kept_as_it_was_drawn_and_runs_as_a_request() {
        let (document, warnings) = read(&drawn()).unwrap();
        assert_eq!(warnings, [""; 0], "what the server shows may be sent back");
        assert_eq!((document.tasks[0]["position"]["y"].as_f64(), document.edges()), (Some(-2.5), 1));
        assert!(document.uses("topic") && !document.uses("top"));
        let request = document
            .request(&json!({ "inputs": { "topic": "bees" }, "options": { "verbose": false }, "tags": { "a": "b" } }))
            .unwrap();
        assert_eq!(request["inputs"], json!({ "topic": "bees", "depth": 2 }));
        assert_eq!(request["options"], json!({ "workflow": "PARALLEL", "verbose": false }));
        assert_eq!(request["tasks"][0].get("position"), None);
        let (request, warnings) = request::parse(&request).unwrap();
        assert_eq!(warnings, [""; 0]);
        assert!(compile(&Ensemble::default(), request, &catalog()).is_ok());
        assert_eq!(document.request(&json!({ "tasks": [] })).unwrap_err().place, "tasks");
    }

    #[test]
    fn what_is_wrong_has_the_codes_and_places_of_a_request() {
        let task = |more: Value| {
            let mut task = json!({ "name": "a", "description": "x" });
            task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({ "name": "w", "tasks": [task, { "name": "b", "description": "y" }] })
        };
        let cases = [
            (json!([]), vec!["BAD_REQUEST "]),
            (json!({}), vec!["BAD_REQUEST name", "BAD_REQUEST tasks"]),
            (json!({ "name": " ", "tasks": [] }), vec!["BAD_REQUEST name", "BAD_REQUEST tasks"]),
            (json!({ "name": "w", "tasks": [7] }), vec!["BAD_REQUEST tasks[0]", "BAD_REQUEST tasks"]),
            (task(json!({ "tools": ["fly"] })), vec!["INVALID_TOOL tasks[0].tools[0]"]),
            (task(json!({ "model": "huge" })), vec!["INVALID_MODEL tasks[0].model"]),
            (task(json!({ "name": "b" })), vec!["BAD_REQUEST tasks[1].name"]),
            (task(json!({ "context": ["$a"] })), vec!["CIRCULAR_DEPENDENCY tasks[0].context"]),
            (task(json!({ "position": { "x": 1 } })), vec!["BAD_REQUEST tasks[0].position"]),
            (task(json!({ "position": { "x": 1, "y": 1e9 } })), vec!["BAD_REQUEST tasks[0].position"]),
            (task(json!({ "description": "z".repeat(BYTES_MAX) })), vec!["BAD_REQUEST "]),
        ];
        for (json, expected) in cases {
            assert_eq!(read(&json).unwrap_err(), expected, "{json}");
        }
        assert_eq!(read(&json!({ "name": "w", "tasks": 3, "colour": 1 })).unwrap_err(), ["BAD_REQUEST tasks"]);
    }

    #[test]
    fn what_a_planner_hands_over_is_a_workflow() {
        let schema = Schema::parse(schema()).unwrap();
        let graph = json!({ "name": "w", "description": "d", "inputs": { "topic": "bees" },
            "tasks": [{ "name": "a", "description": "Read {topic}", "tools": ["look"], "context": [], "model": "m", "expectedOutput": "x" }] });
        assert_eq!(schema.violations(&graph), [""; 0]);
        assert!(read(&graph).is_ok());
    }
}
