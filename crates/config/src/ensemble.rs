//! `[ensemble]`: the template of every run, and the capabilities it shares with peers.

use std::path::{Path, PathBuf};

use consort_core::agent::Agent;
use consort_core::attachments::AttachmentSource;
use consort_core::branch::OnMaxRounds;
use consort_core::choice::Choice;
use consort_core::draft::{Draft, Each, Ensemble, Group, Nested};
use consort_core::owner::Owner;
use consort_core::spec::{OnError, OnTruncated, Review, ReviewPolicy, ReviewRule, Workflow};
use consort_runtime::limits::Rate;
use consort_tools::attachments;
use consort_tools::extract::MediaType;
use serde_json::Value;

use super::fields::Fields;
use super::models::model_options;
use super::server::owner;
use super::tools::millis;
use super::typed::Typed;
use super::values::{Parsed, at_least, duration_or_zero, flag, json, object, rate, refused, text, word};

/// An ensemble with settings that only the server needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The template of a run.
    pub ensemble: Ensemble,
    /// The rate limit of its model calls, if there is one.
    pub rate: Option<Rate>,
    /// The capabilities that peers may use.
    pub shares: Vec<Share>,
}

/// A capability that peers may use.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// Whether it is a tool or a task.
    pub kind: ShareKind,
    /// The name that peers use.
    pub name: String,
    /// The name of the tool or the task.
    pub target: String,
    /// Tags to find it by.
    pub tags: Vec<String>,
    /// The owner that sees what peers use it for.
    pub owner: Owner,
}

/// The kind of a shared capability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShareKind {
    /// A tool.
    #[default]
    Tool,
    /// A task.
    Task,
    /// A saved workflow.
    Workflow,
}

const ON_ERROR: &[(&str, OnError)] =
    &[("FAIL_FAST", OnError::FailFast), ("CONTINUE_ON_ERROR", OnError::ContinueOnError)];
const SHARE_KINDS: &[(&str, ShareKind)] =
    &[("tool", ShareKind::Tool), ("task", ShareKind::Task), ("workflow", ShareKind::Workflow)];

/// Reads `[ensemble]`. Review timeouts and run limits are in other sections, so they
/// are left to the caller.
pub(super) fn read(fields: &mut Fields<'_>) -> Template {
    let policy = fields.read("review_policy", word(ReviewPolicy::WORDS)).unwrap_or_default();
    let ensemble = Ensemble {
        name: fields.need("name", text).unwrap_or_default(),
        model: fields.read("model", text),
        workflow: fields.read("workflow", word(Workflow::WORDS)),
        on_error: fields.read("on_error", word(ON_ERROR)).unwrap_or_default(),
        review: Review { policy, ..Review::default() },
        inputs: fields.map("inputs", json),
        max_delegation_depth: fields.read("max_delegation_depth", at_least(1)),
        max_delegations: fields.read("max_delegations", at_least(1)),
        max_delegations_per_agent: fields.read("max_delegations_per_agent", at_least(1)),
        tasks: fields.tables("task", task),
        groups: fields.tables("group", group),
        ..Ensemble::default()
    };
    Template { ensemble, rate: fields.read("rate", rate), shares: fields.tables("share", share) }
}

fn task(fields: &mut Fields<'_>) -> Draft {
    let nested = nested(fields);
    let description = match nested {
        Some(_) => fields.read("description", text).unwrap_or_default(),
        None => fields.need("description", text).unwrap_or_default(),
    };
    Draft {
        name: fields.read("name", text),
        expected_output: fields.read("expected_output", text),
        additional_context: fields.read("additional_context", text),
        agent: fields.table("agent", |fields| agent(fields, &description)),
        model: fields.read("model", text),
        model_options: fields.section("options", model_options),
        tools: fields.names("tools", text),
        context: fields.names("context", reference),
        max_iterations: fields.read("max_iterations", at_least(1)),
        output_schema: output_schema(fields),
        memory: fields.each("memory", text).unwrap_or_default(),
        reflection: fields.read("reflection", flag).unwrap_or(false),
        handler: fields.read("handler", text),
        input_guardrails: fields.names("input_guardrails", text),
        output_guardrails: fields.names("output_guardrails", text),
        review: fields.read("review", word(ReviewRule::WORDS)),
        on_truncated: fields.read("on_truncated", word(OnTruncated::WORDS)).unwrap_or_default(),
        review_before: fields.read("review_before", flag).unwrap_or(false),
        review_timeout_ms: fields.read("review_timeout", duration_or_zero).map(millis),
        when: fields.read("when", text),
        each: each(fields),
        attachments: attachment_sources(fields),
        description,
        nested,
        after: Vec::new(),
        part: None,
    }
}

/// Reads the files for a task: paths, literally, or `{input}` for the id of an attachment.
fn attachment_sources(fields: &mut Fields<'_>) -> Vec<AttachmentSource> {
    let texts = fields.names("attachments", text);
    let mut sources = Vec::with_capacity(texts.len());
    for (index, written) in texts.iter().enumerate().filter(|(_, written)| !written.is_empty()) {
        let is_variable = written.starts_with('{') && written.ends_with('}') && !written.contains(['/', '\\']);
        if is_variable {
            sources.push(AttachmentSource::Id(written.clone()));
        } else if written.contains(['{', '}']) {
            let message = "a path is written literally; `{name}` alone stands for the id of an attachment";
            fields.mistake_at(&format!("attachments[{index}]"), message);
        } else {
            let path = fields.source_at(written);
            if let Err(reason) = readable(&path) {
                fields.mistake_at(&format!("attachments[{index}]"), reason);
            }
            sources.push(AttachmentSource::File(path));
        }
    }
    sources
}

/// Refuses a file that cannot be attached.
fn readable(path: &Path) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    attachments::check(&MediaType::of_file(path), &bytes).map_err(|error| format!("cannot be attached: {error}"))
}

/// Reads the saved workflow that does a task, if it names one.
fn nested(fields: &mut Fields<'_>) -> Option<Nested> {
    let workflow = fields.read("workflow", text)?;
    Some(Nested { workflow, inputs: fields.map("inputs", json) })
}

fn each(fields: &mut Fields<'_>) -> Each {
    Each {
        list: fields.read("for_each", text),
        max_items: fields.read("max_items", at_least(1)),
        max_parallel: fields.read("max_parallel", at_least(1)),
    }
}

fn group(fields: &mut Fields<'_>) -> Group {
    Group {
        name: fields.need("name", text).unwrap_or_default(),
        tasks: fields.names("tasks", text),
        when: fields.read("when", text),
        each: each(fields),
        repeat_until: fields.read("repeat_until", text),
        max_rounds: fields.read("max_rounds", at_least(1)),
        on_max_rounds: fields.read("on_max_rounds", word(OnMaxRounds::WORDS)),
        part: None,
    }
}

/// Reads an agent; its goal is the task's description unless it is set.
fn agent(fields: &mut Fields<'_>, description: &str) -> Agent {
    Agent {
        role: fields.need("role", text).unwrap_or_default(),
        goal: fields.read("goal", text).unwrap_or_else(|| description.to_owned()),
        background: fields.read("background", text).unwrap_or_default(),
        allow_delegation: fields.read("allow_delegation", flag).unwrap_or(false),
    }
}

fn reference(value: &Typed) -> Parsed<String> {
    match value {
        Typed::Text(_) => text(value),
        Typed::Whole(position) if *position >= 0 => Ok(format!("${position}")),
        Typed::Whole(_) | Typed::Decimal(_) | Typed::Flag(_) | Typed::Moment(_) => no_reference(value),
        Typed::List(_) | Typed::Table(_) => no_reference(value),
    }
}

fn no_reference(value: &Typed) -> Parsed<String> {
    refused(value, "the name of a task (\"$name\") or its position from 0")
}

fn output_schema(fields: &mut Fields<'_>) -> Option<Value> {
    let inline = fields.read("output_schema", object);
    let file = fields.source("output_schema_file");
    if fields.has("output_schema") && fields.has("output_schema_file") {
        fields.mistake("output_schema_file", "a task has `output_schema` or `output_schema_file`, not both");
    }
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("cannot be read: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("is not JSON: {error}"))
    };
    match file.map(read) {
        None => inline,
        Some(Ok(schema)) => Some(schema),
        Some(Err(message)) => {
            fields.mistake("output_schema_file", message);
            None
        }
    }
}

fn share(fields: &mut Fields<'_>) -> Share {
    let name = fields.need("name", text).unwrap_or_default();
    Share {
        kind: fields.need("kind", word(SHARE_KINDS)).unwrap_or_default(),
        target: fields.read("target", text).unwrap_or_else(|| name.clone()),
        tags: fields.each("tags", text).unwrap_or_default(),
        owner: fields.read("owner", owner).unwrap_or_default(),
        name,
    }
}
