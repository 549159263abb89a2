//! Reads a request from JSON, field by field. Every wrong type is reported with its path; unknown fields
//! are ignored with a warning. A submitted request is compiled too, and checked in the documented order:
//! whether it brings tasks, whether there is anything to run, then everything else at once.

mod fields;
pub mod shape;

use serde_json::Value;

use crate::requests::agent::Agent;
use crate::requests::attachments::{ATTACHMENTS_MAX, AttachmentSource};
use crate::requests::bounds::EDITED_OUTPUT_BYTES_MAX;
use crate::requests::compile::{Catalog, Compiled, compile};
use crate::requests::continuation::{Again, Edits, Keep};
use crate::requests::draft::{Draft, Each, Ensemble, Group, Nested, Override, Request, RequestOptions};
use crate::requests::mistake::{Code, Mistake};
use crate::requests::model_options::ModelOptions;

use fields::{Fields, Notes};

/// The number of tasks in one request; more can only be a mistake or an attack.
const TASKS_MAX: usize = 20_000;
/// The fields of the frame a request may come in.
const ENVELOPE: [&str; 2] = ["type", "requestId"];
/// The number of entries of any other list or map.
const ENTRIES_MAX: usize = 1_000;
/// The number of groups in one request.
const GROUPS_MAX: usize = 200;
/// The number of bytes from which a request counts as large.
const LARGE: usize = 8 * 1024;

/// A request without mistakes, with the action to take.
#[derive(Clone, Debug, PartialEq)]
pub enum Submission {
    /// The run is started.
    Run(Compiled),
    /// The compiled run is only reported.
    DryRun(Compiled),
}

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
    let (request, warnings) = parse(json)?;
    let dry_run = dry_run(json)?;
    let mut compiled = compile(ensemble, request, catalog)?;
    compiled.warnings.splice(0..0, warnings);
    Ok(if dry_run { Submission::DryRun(compiled) } else { Submission::Run(compiled) })
}

/// Reads a request. Returns it with warnings about unknown fields.
pub fn parse(json: &Value) -> Result<(Request, Vec<String>), Vec<Mistake>> {
    let mut notes = Notes::default();
    let request = match Fields::of(json, "", &mut notes) {
        Some(mut fields) => request(&mut fields),
        None => Request::default(),
    };
    if notes.mistakes.is_empty() { Ok((request, notes.warnings)) } else { Err(notes.mistakes) }
}

/// Reads a request for a run that continues another one's record.
pub fn parse_again(json: &Value) -> Result<Again, Vec<Mistake>> {
    let dry_run = dry_run(json)?;
    let mut notes = Notes::default();
    let (edits, keep) = match Fields::of(json, "", &mut notes) {
        Some(mut fields) => edits(&mut fields),
        None => (Edits::default(), Keep::Before(None)),
    };
    let Notes { mistakes, warnings, .. } = notes;
    if mistakes.is_empty() { Ok(Again { edits, keep, dry_run, warnings }) } else { Err(mistakes) }
}

/// Returns whether a request only asks what would run.
fn dry_run(json: &Value) -> Result<bool, Vec<Mistake>> {
    let sent = json.get("dryRun").filter(|value| !value.is_null());
    sent.map_or(Some(false), Value::as_bool)
        .ok_or_else(|| vec![Mistake::new(Code::BadRequest, "dryRun", "must be true or false")])
}

fn edits(fields: &mut Fields<'_>) -> (Edits, Keep) {
    let seq = fields.position("seq");
    let task = fields.text("task");
    let model = fields.text("model");
    if seq.is_some() && task.is_some() {
        fields.mistake("task", "says where to begin, as `seq` does; give one of them");
    }
    if fields.get("attachments").is_some() {
        fields.mistake("attachments", "the attachments of a run are its own");
    }
    if fields.get("groups").is_some() {
        fields.mistake("groups", "the groups of a run are its own");
    }
    if fields.get("tasks").is_some() {
        fields.mistake("tasks", "the tasks of a run are its own; change those that have not begun in `taskOverrides`");
    }
    let keep = task.map_or(Keep::Before(seq), Keep::BeforeTask);
    let outputs = fields.texts("outputs", EDITED_OUTPUT_BYTES_MAX);
    (Edits { request: request(fields), model, outputs }, keep)
}

fn request(fields: &mut Fields<'_>) -> Request {
    let request = Request {
        inputs: fields.values("inputs"),
        tags: fields.strings("tags"),
        tasks: fields.list("tasks", TASKS_MAX, task),
        groups: fields.list("groups", GROUPS_MAX, group).unwrap_or_default(),
        overrides: fields.map("taskOverrides", overriding),
        options: fields.object("options", options).unwrap_or_default(),
        model_options: fields.object("modelOptions", model_options).unwrap_or_default(),
        attachments: attachments(fields),
    };
    if request.tasks.as_ref().is_some_and(Vec::is_empty) {
        fields.mistake("tasks", "must have at least one task");
    }
    if request.tasks.is_none() && !request.groups.is_empty() {
        fields.mistake("groups", "come with `tasks` of the request; those of the ensemble are as they are");
    }
    if request.overrides.as_ref().is_some_and(Vec::is_empty) {
        fields.mistake("taskOverrides", "must name at least one task");
    }
    // It is read before.
    fields.known.push("dryRun");
    fields.finish_beside(&ENVELOPE);
    request
}

/// Reads the saved workflow that does a task, if it names one.
fn nested(fields: &mut Fields<'_>) -> Option<Nested> {
    let inputs = fields.values("inputs");
    let Some(workflow) = fields.text("workflow") else {
        if fields.object.get("workflow").is_none_or(Value::is_null) && !inputs.is_empty() {
            fields.mistake("inputs", "go with `workflow`; those of the run are beside `tasks`");
        }
        return None;
    };
    Some(Nested { workflow, inputs })
}

fn task(fields: &mut Fields<'_>) -> Draft {
    let nested = nested(fields);
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
        review: fields.word("review"),
        on_truncated: fields.word("onTruncated").unwrap_or_default(),
        when: fields.expression("when"),
        each: each(fields),
        attachments: attachments(fields),
        description,
        nested,
        ..Draft::default()
    };
    if draft.description.is_empty() && fields.object.get("workflow").is_none_or(Value::is_null) {
        fields.missing("description");
    }
    if fields.object.get("expectedOutput").is_some_and(Value::is_null) {
        fields.mistake("expectedOutput", "must be a string, not null");
    }
    fields.finish();
    draft
}

/// Reads the ids of attachments. A path is none: files of this machine are named in the configuration only.
fn attachments(fields: &mut Fields<'_>) -> Vec<AttachmentSource> {
    let ids = fields.names("attachments");
    if ids.len() > ATTACHMENTS_MAX {
        fields.mistake("attachments", format!("may have {ATTACHMENTS_MAX} entries"));
    }
    ids.into_iter().map(AttachmentSource::Id).collect()
}

fn each(fields: &mut Fields<'_>) -> Each {
    Each {
        list: fields.expression("forEach"),
        max_items: fields.count("maxItems"),
        max_parallel: fields.count("maxParallel"),
    }
}

fn group(fields: &mut Fields<'_>) -> Group {
    let group = Group {
        name: fields.text("name").unwrap_or_default(),
        tasks: fields.names("tasks"),
        when: fields.expression("when"),
        each: each(fields),
        repeat_until: fields.expression("repeatUntil"),
        max_rounds: fields.count("maxRounds"),
        on_max_rounds: fields.word("onMaxRounds"),
        part: None,
    };
    fields.missing("name");
    fields.finish();
    group
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
        on_truncated: fields.word("onTruncated"),
        additional_context: fields.text("additionalContext"),
        add_tools,
        remove_tools,
    };
    for name in ["when", "forEach", "maxItems", "maxParallel"] {
        if fields.get(name).is_some() {
            fields.mistake(name, "cannot be overridden: send `tasks` of your own, or change the ensemble");
        }
    }
    fields.finish();
    change
}

/// Reads the model options; ranges depend on the model, so they are checked later.
fn model_options(fields: &mut Fields<'_>) -> ModelOptions {
    let options = ModelOptions {
        temperature: fields.number("temperature"),
        top_p: fields.number("topP"),
        seed: fields.whole("seed"),
        reasoning_effort: fields.word("reasoningEffort"),
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
        workflow: fields.word("workflow"),
        verbose: fields.flag("verbose"),
        review_policy: fields.word("reviewPolicy"),
        on_timeout: fields.word("onTimeout"),
        capture_mode: fields.word("captureMode"),
        priority: fields.word("priority"),
    };
    fields.finish();
    options
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::requests::catalog::ModelInfo;
    use crate::requests::template::Inputs;

    #[test]
    fn every_wrong_type_is_reported_with_its_path() {
        let mistakes = parse(&json!({
            "inputs": { "a": 1, "b": [] }, "tags": { "a": [] },
            "tasks": [{ "description": " " }, 7, { "description": "x", "tools": ["", "y"], "maxIterations": 0 },
                { "description": "x", "expectedOutput": null, "context": ["$0", "a"] }],
            "options": { "workflow": "RANDOM", "verbose": "yes", "maxToolOutputLength": -2 },
            "modelOptions": { "temperature": "hot", "topP": [], "seed": 1.5, "reasoningEffort": "hard" }
        }));
        let places: Vec<String> = mistakes.unwrap_err().into_iter().map(|mistake| mistake.place).collect();
        let expected = [
            "tags.a",
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
    fn inputs_are_any_value_tags_are_text_and_unknown_fields_are_named() {
        let (request, warnings) =
            parse(&json!({ "inputs": { "n": 3, "o": { "f": [true] } }, "tags": { "n": 3 }, "colour": "red",
            "taskOverrides": { "Write": { "maxIterations": "7", "tools": { "add": ["x"], "drop": [] } } } }))
            .unwrap();
        assert_eq!(request.inputs, Inputs::from([("n".into(), json!(3)), ("o".into(), json!({ "f": [true] }))]));
        assert_eq!(request.tags, BTreeMap::from([("n".into(), "3".into())]));
        assert_eq!(request.overrides.unwrap()[0].1.max_iterations, Some(7));
        assert_eq!(
            warnings,
            [
                "unknown field `taskOverrides.Write.tools.drop` was ignored; allowed are add, remove",
                "unknown field `colour` was ignored; allowed are inputs, tags, tasks, groups, taskOverrides, options, \
                 modelOptions, attachments, dryRun"
            ]
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
    fn a_number_that_is_too_large_is_repeated_with_what_is_allowed() {
        let task = json!({ "description": "x", "maxIterations": 1_000_000_000_000_u64, "maxItems": -1.5 });
        let told: Vec<String> =
            parse(&json!({ "tasks": [task] })).unwrap_err().into_iter().map(|mistake| mistake.message).collect();
        let allowed = "must be a whole number from 1 to 4294967295";
        assert_eq!(told, [format!("{allowed}, not 1000000000000"), format!("{allowed}, not -1.5")]);
    }

    #[test]
    fn empty_lists_and_things_that_are_no_objects_are_refused() {
        for bad in [json!([]), json!("x"), json!({ "tasks": [] }), json!({ "taskOverrides": {} })] {
            assert!(parse(&bad).is_err(), "{bad}");
        }
    }

    /// Returns the fields a shape describes.
    fn described<T: schemars::JsonSchema>() -> BTreeSet<String> {
        let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>().to_value();
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    }

    /// Returns the fields that a reader asks for, known or not.
    fn asked_for<T>(read: fn(&mut Fields<'_>) -> T) -> BTreeSet<String> {
        let nothing = json!({});
        let mut notes = Notes::default();
        let mut fields = Fields::of(&nothing, "", &mut notes).unwrap();
        read(&mut fields);
        fields.known.into_iter().filter(|name| !ENVELOPE.contains(name)).map(str::to_owned).collect()
    }

    #[test]
    fn every_field_that_is_read_is_described_and_no_other() {
        assert_eq!(asked_for(task), described::<shape::TaskRequest>());
        assert_eq!(asked_for(agent), described::<shape::AgentRequest>());
        let mut overridden = described::<shape::Override>();
        // They are named only to be refused.
        overridden.extend(["when", "forEach", "maxItems", "maxParallel"].map(str::to_owned));
        assert_eq!(asked_for(overriding), overridden);
        assert_eq!(asked_for(group), described::<shape::GroupRequest>());
        assert_eq!(asked_for(tool_changes), described::<shape::ToolChanges>());
        assert_eq!(asked_for(model_options), described::<shape::ModelOptions>());
        assert_eq!(asked_for(options), described::<shape::Options>());
        assert_eq!(asked_for(request), described::<shape::RunRequest>());
        let mut edited = described::<shape::Edits>();
        // They are named only to be refused, or mean nothing here.
        edited.extend(["tasks", "groups", "attachments"].map(str::to_owned));
        assert_eq!(asked_for(edits), edited);
    }

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
        assert!(run.warnings[0].starts_with("unknown field `colour` was ignored; allowed are "), "{:?}", run.warnings);
        assert!(matches!(submit(&ensemble, &json!({ "dryRun": null })), Ok(Submission::Run(_))));
        assert_eq!(submit(&ensemble, &json!({ "dryRun": "yes" })), Err(vec![Code::BadRequest]));
    }
}
