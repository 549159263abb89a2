//! Reads a request from JSON, field by field. Every wrong type is reported with its path; unknown fields
//! are ignored with a warning.

pub mod shape;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::decisions::edit::Edits;
use crate::decisions::fork::Keep;
use crate::requests::agent::Agent;
use crate::requests::draft::{Draft, Override, Request, RequestOptions};
use crate::requests::mistake::{Code, Mistake};
use crate::requests::model_options::{ModelOptions, REASONING_EFFORTS};
use crate::requests::spec::{CaptureMode, OnTimeout, OnTruncated, ReviewPolicy, ReviewRule, Workflow};

/// The number of tasks in one request; more can only be a mistake or an attack.
const TASKS_MAX: usize = 20_000;
/// The fields of the frame a request may come in.
const ENVELOPE: [&str; 2] = ["type", "requestId"];
/// The number of entries of any other list or map.
const ENTRIES_MAX: usize = 1_000;

/// Reads a request. Returns it with warnings about unknown fields.
pub fn parse(json: &Value) -> Result<(Request, Vec<String>), Vec<Mistake>> {
    let mut notes = Notes::default();
    let request = match Fields::of(json, "", &mut notes) {
        Some(mut fields) => request(&mut fields),
        None => Request::default(),
    };
    if notes.mistakes.is_empty() { Ok((request, notes.warnings)) } else { Err(notes.mistakes) }
}

/// Reads the changes for a run that continues another one's record, and the end of that record. Returns
/// them with warnings about unknown fields.
pub fn parse_edits(json: &Value) -> Result<(Edits, Keep, Vec<String>), Vec<Mistake>> {
    let mut notes = Notes::default();
    let (edits, keep) = match Fields::of(json, "", &mut notes) {
        Some(mut fields) => edits(&mut fields),
        None => (Edits::default(), Keep::Before(None)),
    };
    if notes.mistakes.is_empty() { Ok((edits, keep, notes.warnings)) } else { Err(notes.mistakes) }
}

fn edits(fields: &mut Fields<'_>) -> (Edits, Keep) {
    let (seq, task, model) = (fields.position("seq"), fields.text("task"), fields.text("model"));
    if seq.is_some() && task.is_some() {
        fields.mistake("task", "says where to begin, as `seq` does; give one of them");
    }
    if fields.get("tasks").is_some() {
        fields.mistake("tasks", "the tasks of a run are its own; change those that have not begun in `taskOverrides`");
    }
    let keep = task.map_or(Keep::Before(seq), Keep::BeforeTask);
    (Edits { request: request(fields), model }, keep)
}

fn request(fields: &mut Fields<'_>) -> Request {
    let request = Request {
        inputs: fields.strings("inputs"),
        tags: fields.strings("tags"),
        tasks: fields.list("tasks", TASKS_MAX, task),
        overrides: fields.map("taskOverrides", overriding),
        options: fields.object("options", options).unwrap_or_default(),
        model_options: fields.object("modelOptions", model_options).unwrap_or_default(),
    };
    if request.tasks.as_ref().is_some_and(Vec::is_empty) {
        fields.mistake("tasks", "must have at least one task");
    }
    if request.overrides.as_ref().is_some_and(Vec::is_empty) {
        fields.mistake("taskOverrides", "must name at least one task");
    }
    fields.ignore(&["dryRun"]);
    fields.ignore(&ENVELOPE);
    fields.finish();
    request
}

fn task(fields: &mut Fields<'_>) -> Draft {
    let description = fields.text("description").unwrap_or_default();
    // The goal of an agent is the task's description, unless it is given.
    let wanting = |agent: Agent| match agent.goal.as_str() {
        "" => Agent { goal: description.clone(), ..agent },
        _ => agent,
    };
    let draft = Draft {
        name: fields.text("name"),
        agent: fields.object("agent", agent).map(wanting),
        expected_output: fields.text("expectedOutput"),
        additional_context: fields.text("additionalContext"),
        model: fields.text("model"),
        model_options: fields.object("modelOptions", model_options).unwrap_or_default(),
        tools: fields.names("tools"),
        context: fields.references("context"),
        max_iterations: fields.count("maxIterations"),
        output_schema: fields.any("outputSchema"),
        review: fields.word("review", REVIEW_RULES),
        on_truncated: fields.word("onTruncated", ON_TRUNCATED).unwrap_or_default(),
        description,
        ..Draft::default()
    };
    if draft.description.is_empty() {
        fields.missing("description");
    }
    if fields.object.get("expectedOutput").is_some_and(Value::is_null) {
        fields.mistake("expectedOutput", "must be a string, not null");
    }
    fields.finish();
    draft
}

fn agent(fields: &mut Fields<'_>) -> Agent {
    let agent = Agent {
        role: fields.text("role").unwrap_or_default(),
        goal: fields.text("goal").unwrap_or_default(),
        background: fields.text("background").unwrap_or_default(),
        allow_delegation: fields.flag("allowDelegation").unwrap_or(false),
    };
    fields.missing("role");
    fields.finish();
    agent
}

fn overriding(fields: &mut Fields<'_>) -> Override {
    let (add_tools, remove_tools) = fields.object("tools", tool_changes).unwrap_or_default();
    let change = Override {
        description: fields.text("description"),
        expected_output: fields.text("expectedOutput"),
        model: fields.text("model"),
        model_options: fields.object("modelOptions", model_options).unwrap_or_default(),
        max_iterations: fields.count("maxIterations"),
        on_truncated: fields.word("onTruncated", ON_TRUNCATED),
        additional_context: fields.text("additionalContext"),
        add_tools,
        remove_tools,
    };
    fields.finish();
    change
}

/// Reads the model options; ranges depend on the model, so they are checked later.
fn model_options(fields: &mut Fields<'_>) -> ModelOptions {
    let options = ModelOptions {
        temperature: fields.number("temperature"),
        top_p: fields.number("topP"),
        seed: fields.whole("seed"),
        reasoning_effort: fields.word("reasoningEffort", REASONING_EFFORTS),
    };
    fields.finish();
    options
}

fn tool_changes(fields: &mut Fields<'_>) -> (Vec<String>, Vec<String>) {
    let changes = (fields.names("add"), fields.names("remove"));
    fields.finish();
    changes
}

fn options(fields: &mut Fields<'_>) -> RequestOptions {
    let options = RequestOptions {
        max_tool_output_length: fields.length("maxToolOutputLength"),
        tool_log_truncate_length: fields.length("toolLogTruncateLength"),
        workflow: fields.word("workflow", WORKFLOWS),
        verbose: fields.flag("verbose"),
        review_policy: fields.word("reviewPolicy", REVIEW_POLICIES),
        on_timeout: fields.word("onTimeout", ON_TIMEOUT),
        capture_mode: fields.word("captureMode", CAPTURE_MODES),
    };
    fields.finish();
    options
}

/// The words for the order of tasks.
pub const WORKFLOWS: &[(&str, Workflow)] =
    &[("SEQUENTIAL", Workflow::Sequential), ("PARALLEL", Workflow::Parallel), ("HIERARCHICAL", Workflow::Hierarchical)];
/// The words for the tasks whose output is reviewed.
pub const REVIEW_POLICIES: &[(&str, ReviewPolicy)] = &[
    ("NEVER", ReviewPolicy::Never),
    ("AFTER_EVERY_TASK", ReviewPolicy::AfterEveryTask),
    ("AFTER_LAST_TASK", ReviewPolicy::AfterLastTask),
];
/// The words for a task's own rule for reviews.
pub const REVIEW_RULES: &[(&str, ReviewRule)] = &[("required", ReviewRule::Required), ("skip", ReviewRule::Skip)];
/// The words for the action when a review is not answered in time.
pub const ON_TIMEOUT: &[(&str, OnTimeout)] =
    &[("CONTINUE", OnTimeout::Continue), ("EXIT_EARLY", OnTimeout::ExitEarly), ("FAIL", OnTimeout::Fail)];
/// The words for the handling of an answer that is cut at the output limit.
pub const ON_TRUNCATED: &[(&str, OnTruncated)] =
    &[("continue", OnTruncated::Continue), ("fail", OnTruncated::Fail), ("accept", OnTruncated::Accept)];
const CAPTURE_MODES: &[(&str, CaptureMode)] = &[
    ("OFF", CaptureMode::Off),
    ("STANDARD", CaptureMode::Standard),
    ("FULL", CaptureMode::Full),
    ("DETAILED", CaptureMode::Full),
];

/// The mistakes and warnings found while reading.
#[derive(Default)]
struct Notes {
    mistakes: Vec<Mistake>,
    warnings: Vec<String>,
}

/// One JSON object being read. `null` counts as absent.
struct Fields<'a> {
    object: &'a Map<String, Value>,
    path: String,
    known: Vec<&'static str>,
    notes: &'a mut Notes,
}

impl<'a> Fields<'a> {
    fn of(json: &'a Value, path: &str, notes: &'a mut Notes) -> Option<Fields<'a>> {
        let Value::Object(object) = json else {
            let message = format!("must be an object, not {}", kind(json));
            notes.mistakes.push(Mistake::new(Code::BadRequest, path, message));
            return None;
        };
        Some(Fields { object, path: path.to_owned(), known: Vec::new(), notes })
    }

    fn get(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn place(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn mistake(&mut self, name: &str, message: impl Into<String>) {
        let place = self.place(name);
        self.notes.mistakes.push(Mistake::new(Code::BadRequest, place, message));
    }

    /// Reports a required field as missing, unless it already has another mistake.
    fn missing(&mut self, name: &'static str) {
        if self.object.get(name).is_none_or(Value::is_null) {
            self.mistake(name, "is required");
        }
    }

    fn expected<T>(&mut self, name: &'static str, what: &str, value: &Value) -> Option<T> {
        self.mistake(name, format!("must be {what}, not {}", kind(value)));
        None
    }

    fn text(&mut self, name: &'static str) -> Option<String> {
        let value = self.get(name)?;
        match value.as_str() {
            Some(text) if text.trim().is_empty() => {
                self.mistake(name, "must not be blank");
                None
            }
            Some(text) => Some(text.to_owned()),
            None => self.expected(name, "a string", value),
        }
    }

    /// A value that `parse` can read, or a mistake that says what was expected.
    fn read<T>(&mut self, name: &'static str, what: &str, parse: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.get(name)?;
        parse(value).or_else(|| self.expected(name, what, value))
    }

    fn flag(&mut self, name: &'static str) -> Option<bool> {
        self.read(name, "true or false", Value::as_bool)
    }

    /// Reads a number above zero; a string of digits is accepted.
    fn count(&mut self, name: &'static str) -> Option<u32> {
        self.read(name, "a whole number above 0", |value| {
            let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
            u32::try_from(number).ok().filter(|number| *number > 0)
        })
    }

    fn number(&mut self, name: &'static str) -> Option<f64> {
        self.read(name, "a number", Value::as_f64)
    }

    fn whole(&mut self, name: &'static str) -> Option<i64> {
        self.read(name, "a whole number of 64 bits", Value::as_i64)
    }

    /// Reads a position, from 0.
    fn position(&mut self, name: &'static str) -> Option<u64> {
        self.read(name, "a whole number of at least 0", Value::as_u64)
    }

    /// Reads a length, or -1 for no limit.
    fn length(&mut self, name: &'static str) -> Option<i64> {
        self.read(name, "a whole number of at least -1", |value| value.as_i64().filter(|length| *length >= -1))
    }

    fn word<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Option<T> {
        let value = self.get(name)?;
        let found = value.as_str().and_then(|text| words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)));
        if found.is_none() {
            let allowed: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.mistake(name, format!("must be one of {}, not {value}", allowed.join(", ")));
        }
        found.map(|(_, meaning)| *meaning)
    }

    fn any(&mut self, name: &'static str) -> Option<Value> {
        self.get(name).cloned()
    }

    /// Reads a list of names, none of them blank.
    fn names(&mut self, name: &'static str) -> Vec<String> {
        let Some(value) = self.get(name) else { return Vec::new() };
        let Value::Array(items) = value else {
            return self.expected(name, "a list of strings", value).unwrap_or_default();
        };
        if items.len() > ENTRIES_MAX.max(TASKS_MAX) {
            self.mistake(name, "is too long");
            return Vec::new();
        }
        let name_of = |item: &Value| item.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        let names: Vec<Option<String>> = items.iter().map(name_of).collect();
        if let Some(bad) = names.iter().position(Option::is_none) {
            self.mistake(&format!("{name}[{bad}]"), "must be a string that is not blank");
        }
        names.into_iter().flatten().collect()
    }

    /// Reads a list of tasks, each by its name or its position: `$name`, `$0`.
    fn references(&mut self, name: &'static str) -> Vec<String> {
        let references = self.names(name);
        if let Some((bad, reference)) = references.iter().enumerate().find(|(_, text)| !text.starts_with('$')) {
            self.mistake(&format!("{name}[{bad}]"), format!("must begin with `$`, as in `${reference}` or `$0`"));
        }
        references
    }

    /// Reads texts by name; scalars become text, objects and lists do not.
    fn strings(&mut self, name: &'static str) -> BTreeMap<String, String> {
        let mut strings = BTreeMap::new();
        let Some(value) = self.get(name) else { return strings };
        let Value::Object(entries) = value else {
            return self.expected(name, "an object", value).unwrap_or_default();
        };
        if entries.len() > ENTRIES_MAX {
            self.mistake(name, format!("must have at most {ENTRIES_MAX} entries"));
        }
        for (key, value) in entries {
            match scalar(value) {
                Some(text) => drop(strings.insert(key.clone(), text)),
                None => self.mistake(&format!("{name}.{key}"), format!("must be a string, not {}", kind(value))),
            }
        }
        strings
    }

    fn object<T>(&mut self, name: &'static str, read: fn(&mut Fields<'_>) -> T) -> Option<T> {
        let value = self.get(name)?;
        let place = self.place(name);
        Fields::of(value, &place, self.notes).map(|mut fields| read(&mut fields))
    }

    fn list<T>(&mut self, name: &'static str, max: usize, read: fn(&mut Fields<'_>) -> T) -> Option<Vec<T>> {
        let value = self.get(name)?;
        let Value::Array(items) = value else { return self.expected(name, "a list", value) };
        if items.len() > max {
            self.mistake(name, format!("must have at most {max} entries, not {}", items.len()));
            return None;
        }
        let place = self.place(name);
        let mut item = |(index, item): (usize, &Value)| {
            Fields::of(item, &format!("{place}[{index}]"), self.notes).map(|mut fields| read(&mut fields))
        };
        Some(items.iter().enumerate().filter_map(&mut item).collect())
    }

    fn map<T>(&mut self, name: &'static str, read: fn(&mut Fields<'_>) -> T) -> Option<Vec<(String, T)>> {
        let value = self.get(name)?;
        let Value::Object(entries) = value else { return self.expected(name, "an object", value) };
        let place = self.place(name);
        let mut entry = |(key, value): (&String, &Value)| {
            let fields = Fields::of(value, &format!("{place}.{key}"), self.notes);
            fields.map(|mut fields| (key.clone(), read(&mut fields)))
        };
        Some(entries.iter().filter_map(&mut entry).collect())
    }

    fn ignore(&mut self, names: &[&'static str]) {
        self.known.extend(names);
    }

    /// Adds a warning for each unknown field.
    fn finish(&mut self) {
        let unknown = self.object.keys().filter(|key| !self.known.contains(&key.as_str()));
        let warnings: Vec<String> =
            unknown.take(ENTRIES_MAX).map(|key| format!("unknown field `{}` was ignored", self.place(key))).collect();
        self.notes.warnings.extend(warnings);
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn every_wrong_type_is_reported_with_its_path() {
        let mistakes = parse(&json!({
            "inputs": { "a": 1, "b": [] }, "tags": 3,
            "tasks": [{ "description": " " }, 7, { "description": "x", "tools": ["", "y"], "maxIterations": 0 },
                { "description": "x", "expectedOutput": null, "context": ["$0", "a"] }],
            "options": { "workflow": "RANDOM", "verbose": "yes", "maxToolOutputLength": -2 },
            "modelOptions": { "temperature": "hot", "topP": [], "seed": 1.5, "reasoningEffort": "hard" }
        }));
        let places: Vec<String> = mistakes.unwrap_err().into_iter().map(|mistake| mistake.place).collect();
        let expected = [
            "inputs.b",
            "tags",
            "tasks[0].description",
            "tasks[1]",
            "tasks[2].tools[0]",
            "tasks[2].maxIterations",
            "tasks[3].context[1]",
            "tasks[3].expectedOutput",
            "options.maxToolOutputLength",
            "options.workflow",
            "options.verbose",
            "modelOptions.temperature",
            "modelOptions.topP",
            "modelOptions.seed",
            "modelOptions.reasoningEffort",
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn scalars_become_text_and_unknown_fields_are_named() {
        let (request, warnings) = parse(&json!({ "inputs": { "n": 3, "f": true }, "colour": "red",
            "taskOverrides": { "Write": { "maxIterations": "7", "tools": { "add": ["x"], "drop": [] } } } }))
        .unwrap();
        assert_eq!(request.inputs, BTreeMap::from([("f".into(), "true".into()), ("n".into(), "3".into())]));
        assert_eq!(request.overrides.unwrap()[0].1.max_iterations, Some(7));
        assert_eq!(
            warnings,
            ["unknown field `taskOverrides.Write.tools.drop` was ignored", "unknown field `colour` was ignored"]
        );
    }

    #[test]
    fn a_task_says_who_does_it() {
        let with = |agent: Value| parse(&json!({ "tasks": [{ "description": "Cook", "agent": agent }] }));
        let read = |agent: Value| with(agent).unwrap().0.tasks.unwrap()[0].agent.clone();
        let cook = Agent { role: "Cook".into(), goal: "Cook".into(), ..Agent::default() };
        assert_eq!(read(Value::Null), None);
        assert_eq!(read(json!({ "role": "Cook" })), Some(cook.clone()), "what it wants is the task");
        let feeding = json!({ "role": "Cook", "goal": "Feed people", "allowDelegation": true });
        assert_eq!(read(feeding), Some(Agent { goal: "Feed people".into(), allow_delegation: true, ..cook }));
        let places = |agent| with(agent).unwrap_err().into_iter().map(|mistake| mistake.place).collect::<Vec<_>>();
        assert_eq!(places(json!({ "goal": 3 })), ["tasks[0].agent.goal", "tasks[0].agent.role"]);
        assert_eq!(places(json!({ "role": " " })), ["tasks[0].agent.role"]);
        assert_eq!(places(json!("Cook")), ["tasks[0].agent"]);
    }

    #[test]
    fn empty_lists_and_things_that_are_no_objects_are_refused() {
        for bad in [json!([]), json!("x"), json!({ "tasks": [] }), json!({ "taskOverrides": {} })] {
            assert!(parse(&bad).is_err(), "{bad}");
        }
    }

    /// The fields a shape describes.
    fn described<T: schemars::JsonSchema>() -> BTreeSet<String> {
        let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>().to_value();
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    }

    /// The fields that a reader asks for, known or not.
    fn asked_for<T>(read: fn(&mut Fields<'_>) -> T) -> BTreeSet<String> {
        let (nothing, mut notes) = (json!({}), Notes::default());
        let mut fields = Fields::of(&nothing, "", &mut notes).unwrap();
        read(&mut fields);
        fields.known.into_iter().filter(|name| !ENVELOPE.contains(name)).map(str::to_owned).collect()
    }

    #[test]
    fn every_field_that_is_read_is_described_and_no_other() {
        assert_eq!(asked_for(task), described::<shape::TaskRequest>());
        assert_eq!(asked_for(agent), described::<shape::AgentRequest>());
        assert_eq!(asked_for(overriding), described::<shape::Override>());
        assert_eq!(asked_for(tool_changes), described::<shape::ToolChanges>());
        assert_eq!(asked_for(model_options), described::<shape::ModelOptions>());
        assert_eq!(asked_for(options), described::<shape::Options>());
        assert_eq!(asked_for(request), described::<shape::RunRequest>());
        let mut edited = described::<shape::Edits>();
        // They are named only to be refused, or mean nothing here.
        edited.extend(["tasks", "dryRun"].map(str::to_owned));
        assert_eq!(asked_for(edits), edited);
    }
}
