//! The format of an exported trace. Its extent depends on the run's `captureMode`: `STANDARD` adds every
//! conversation, `FULL` also arguments as data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Answered, Called, Failed, Round, TracedConversation, Tracer};
use crate::decisions::own_tool::OwnTool;
use crate::projections::frame::field::{Iso, Quoted};
use crate::projections::frame::quote;
use crate::projections::view::{is_false, usd};
use crate::state::conversation::Used;
use consort_spec::agent::Agent;
use consort_spec::id::Id;
use consort_spec::message::Outcome;
use consort_spec::spec::{CaptureMode, Task, Workflow};
use consort_spec::status::Status;
use consort_spec::template::Inputs;
use consort_spec::text::Text;
use consort_spec::time::iso_span;

/// The version of the format, as viewers know it.
const VERSION: &str = "1.1";

/// A run as it is exported for reading.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trace<'a> {
    schema_version: &'static str,
    capture_mode: CaptureMode,
    ensemble_id: &'a str,
    workflow: Workflow,
    started_at: Iso,
    completed_at: Option<Iso>,
    total_duration: String,
    inputs: &'a Inputs,
    agents: Vec<TracedAgent<'a>>,
    task_traces: Vec<TaskTrace<'a>>,
    metrics: TraceMetrics,
    total_cost_estimate: Option<TraceCost>,
    errors: Vec<TraceError<'a>>,
    map_reduce_levels: [Map<String, Value>; 0],
    metadata: TraceMetadata<'a>,
}

/// The run of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TraceMetadata<'a> {
    ensemble: &'a str,
    status: Status,
    error: Option<&'a str>,
    exit_reason: Option<&'static str>,
    tags: &'a BTreeMap<String, String>,
}

/// The agent of a task.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TracedAgent<'a> {
    role: &'a str,
    goal: &'a str,
    background: &'a str,
    tool_names: &'a [String],
    allow_delegation: bool,
}

/// A conversation of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskTrace<'a> {
    task_description: &'a str,
    expected_output: &'a str,
    agent_role: &'a str,
    started_at: Iso,
    completed_at: Option<Iso>,
    duration: String,
    prompts: Option<TracePrompts<'a>>,
    llm_interactions: Vec<TraceRound<'a>>,
    delegations: Vec<TraceDelegation<'a>>,
    final_output: Option<&'a Text>,
    parsed_output: Option<&'a Value>,
    metrics: TraceMetrics,
    metadata: TaskTraceMetadata<'a>,
    /// It was taken from the run that this one goes on from.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("const" = true))]
    inherited: bool,
    /// The requester who gave it another output when this run was made of another.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_edited_by: Option<&'a str>,
}

/// The beginning of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TracePrompts<'a> {
    system_prompt: &'a Text,
    user_prompt: &'a Text,
}

/// The task of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskTraceMetadata<'a> {
    task_name: &'a str,
    turn_id: &'a str,
    /// The calls that the run makes itself.
    chores: Vec<TraceCall<'a>>,
}

/// A question to a model that was answered.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TraceRound<'a> {
    iteration_index: u32,
    started_at: Iso,
    completed_at: Iso,
    latency: String,
    /// -1 when the model did not report it.
    input_tokens: i64,
    /// -1 when the model did not report it.
    output_tokens: i64,
    response_type: ResponseType,
    response_text: String,
    tool_calls: Vec<TraceCall<'a>>,
    messages: Vec<Quoted>,
    /// It was taken from the run that this one goes on from.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("const" = true))]
    inherited: bool,
}

/// The kind of a model's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum ResponseType {
    FinalAnswer,
    ToolCalls,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TraceCall<'a> {
    tool_name: &'a str,
    arguments: &'a str,
    result: &'a str,
    structured_output: Option<&'a Value>,
    started_at: Iso,
    completed_at: Iso,
    duration: String,
    outcome: CallOutcome,
    parsed_input: Option<Value>,
    metadata: Map<String, Value>,
    /// It was taken from the run that this one goes on from.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("const" = true))]
    inherited: bool,
}

/// The end of a call; an error where nobody knows whether it worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum CallOutcome {
    Success,
    Failure,
    Error,
}

/// Work that one agent handed to another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TraceDelegation<'a> {
    delegator_role: &'a str,
    worker_role: &'a str,
    task_description: &'a str,
    started_at: Iso,
    completed_at: Option<Iso>,
    duration: String,
    depth: u32,
    result: Option<&'a Text>,
    succeeded: bool,
    worker_trace: Option<TaskTrace<'a>>,
}

/// The usage of a run or a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TraceMetrics {
    /// -1 when some model did not report it.
    input_tokens: i64,
    /// -1 when some model did not report it.
    output_tokens: i64,
    /// -1 when some model did not report it.
    total_tokens: i64,
    llm_latency: String,
    tool_execution_time: String,
    memory_retrieval_time: String,
    prompt_build_time: String,
    llm_call_count: u64,
    tool_call_count: u64,
    delegation_count: usize,
    cost_estimate: Option<TraceCost>,
    memory_operations: MemoryOperations,
}

/// The number of uses of memory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MemoryOperations {
    short_term_entries_written: usize,
    long_term_stores: usize,
    long_term_retrievals: usize,
    entity_lookups: usize,
}

/// The cost.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TraceCost {
    input_cost: f64,
    output_cost: f64,
    total_cost: f64,
    currency: &'static str,
}

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TraceError<'a> {
    task_description: Option<&'a str>,
    agent_role: Option<&'a str>,
    turn_id: &'a str,
    message: &'a str,
    at: Iso,
    /// It was taken from the run that this one goes on from.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("const" = true))]
    inherited: bool,
}

impl Tracer {
    pub(super) fn shape(&self) -> Trace<'_> {
        let run = &self.run;
        let started = run.started_at().unwrap_or(run.accepted_at());
        let ended = run.end().map(|_| run.at());
        let tasks = self.talks.keys().filter(|id| id.parent().is_none());
        Trace {
            schema_version: VERSION,
            capture_mode: run.spec().options.capture,
            ensemble_id: run.ensemble_id(),
            workflow: run.spec().workflow,
            started_at: Iso(started),
            completed_at: ended.map(Iso),
            total_duration: iso_span(run.at().saturating_sub(started)),
            inputs: &run.spec().inputs,
            agents: run.spec().tasks.iter().map(agent).collect(),
            task_traces: tasks.filter_map(|id| self.talk(id)).collect(),
            metrics: self.metrics(run.totals(), None),
            total_cost_estimate: self.cost(run.totals()),
            errors: self.errors.iter().map(|failed| self.error(failed)).collect(),
            map_reduce_levels: [],
            metadata: TraceMetadata {
                ensemble: &run.spec().name,
                status: run.status(),
                error: run.error(),
                exit_reason: run.end().map(|end| end.exit_reason()),
                tags: &run.spec().tags,
            },
        }
    }

    fn talk<'a>(&'a self, id: &'a Id) -> Option<TaskTrace<'a>> {
        let talk = self.talks.get(id)?;
        let task =
            if talk.worker == id.task_index() { self.run.task(id) } else { self.run.spec().tasks.get(talk.worker) }?;
        let title = if id.parent().is_some() { &talk.title } else { &task.description };
        let prompts = talk.prompts.as_ref();
        let ended = talk.ended_at.unwrap_or(self.run.at());
        Some(TaskTrace {
            task_description: title,
            expected_output: &task.expected_output,
            agent_role: &task.agent.role,
            started_at: Iso(talk.started_at),
            completed_at: talk.ended_at.map(Iso),
            duration: iso_span(ended.saturating_sub(talk.started_at)),
            prompts: prompts.map(|(system_prompt, user_prompt)| TracePrompts { system_prompt, user_prompt }),
            llm_interactions: talk.rounds.iter().filter_map(|round| self.round(round)).collect(),
            delegations: talk.children.iter().filter_map(|child| self.delegation(task, child)).collect(),
            final_output: talk.output.as_ref(),
            parsed_output: talk.parsed.as_ref(),
            metrics: self.metrics(&talk.used, Some(talk)),
            metadata: TaskTraceMetadata {
                task_name: &task.name,
                turn_id: id.as_str(),
                chores: talk.chores.iter().map(|called| self.called(called)).collect(),
            },
            inherited: talk.inherited,
            output_edited_by: id.parent().is_none().then(|| self.run.output_edited_by(id.task_index())).flatten(),
        })
    }

    /// Returns a request that was answered; the others are among the errors.
    fn round<'a>(&'a self, round: &'a Round) -> Option<TraceRound<'a>> {
        let Answered { at, reply, usage, latency_ms } = round.answer.as_ref()?;
        let is_final = reply.calls().next().is_none();
        Some(TraceRound {
            iteration_index: round.index,
            started_at: Iso(round.asked_at),
            completed_at: Iso(*at),
            latency: iso_span(*latency_ms),
            input_tokens: usage.map_or(-1, |usage| usage.input.cast_signed()),
            output_tokens: usage.map_or(-1, |usage| usage.output.cast_signed()),
            response_type: if is_final { ResponseType::FinalAnswer } else { ResponseType::ToolCalls },
            response_text: reply.text().to_string(),
            tool_calls: round.calls.iter().map(|called| self.called(called)).collect(),
            messages: match self.run.spec().options.capture {
                CaptureMode::Off => Vec::new(),
                CaptureMode::Standard | CaptureMode::Full => round.messages.iter().map(quote).collect(),
            },
            inherited: round.inherited,
        })
    }

    fn called<'a>(&self, called: &'a Called) -> TraceCall<'a> {
        let (outcome, structured_output) = match &called.outcome {
            Outcome::Answer { data, .. } => (CallOutcome::Success, data.as_ref()),
            Outcome::Subtask => (CallOutcome::Success, None),
            Outcome::Failed { .. } => (CallOutcome::Failure, None),
            Outcome::Unknown { .. } => (CallOutcome::Error, None),
        };
        TraceCall {
            tool_name: &called.name,
            arguments: &called.args,
            result: &called.result,
            structured_output,
            started_at: Iso(called.ended_at.saturating_sub(called.duration_ms)),
            completed_at: Iso(called.ended_at),
            duration: iso_span(called.duration_ms),
            outcome,
            parsed_input: match self.run.spec().options.capture {
                CaptureMode::Off | CaptureMode::Standard => None,
                CaptureMode::Full => serde_json::from_str(&called.args).ok(),
            },
            metadata: Map::new(),
            inherited: called.inherited,
        }
    }

    fn delegation<'a>(&'a self, by: &'a Task, child: &'a Id) -> Option<TraceDelegation<'a>> {
        let talk = self.talks.get(child)?;
        let worker = self.run.spec().tasks.get(talk.worker)?;
        let ended = talk.ended_at.unwrap_or(self.run.at());
        Some(TraceDelegation {
            delegator_role: &by.agent.role,
            worker_role: &worker.agent.role,
            task_description: &talk.title,
            started_at: Iso(talk.started_at),
            completed_at: talk.ended_at.map(Iso),
            duration: iso_span(ended.saturating_sub(talk.started_at)),
            depth: child.depth(),
            result: talk.output.as_ref(),
            succeeded: talk.succeeded,
            worker_trace: self.talk(child),
        })
    }

    fn metrics(&self, used: &Used, talk: Option<&TracedConversation>) -> TraceMetrics {
        let calls =
            |own: OwnTool| talk.map_or(0, |talk| talk.chores.iter().filter(|call| call.name == own.name()).count());
        let delegations = talk.map_or_else(
            || self.talks.iter().filter(|(id, talk)| id.parent().is_some() && !talk.inherited).count(),
            |talk| talk.children.len(),
        );
        TraceMetrics {
            input_tokens: used.known(used.usage.input),
            output_tokens: used.known(used.usage.output),
            total_tokens: used.tokens(),
            llm_latency: iso_span(used.llm_ms),
            tool_execution_time: iso_span(used.tool_ms),
            memory_retrieval_time: iso_span(0),
            prompt_build_time: iso_span(0),
            llm_call_count: used.llm_calls,
            tool_call_count: used.tool_calls,
            delegation_count: delegations,
            cost_estimate: self.cost(used),
            memory_operations: MemoryOperations {
                short_term_entries_written: 0,
                long_term_stores: calls(OwnTool::MemoryStore),
                long_term_retrievals: calls(OwnTool::MemoryRecall),
                entity_lookups: 0,
            },
        }
    }

    /// Returns the cost, when every model that was asked has a price.
    fn cost(&self, used: &Used) -> Option<TraceCost> {
        let known = self.run.unpriced().is_empty() && !used.unknown && used.llm_calls > 0;
        known.then(|| TraceCost {
            input_cost: usd(used.input_cost),
            output_cost: usd(used.output_cost),
            total_cost: usd(used.cost()),
            currency: "USD",
        })
    }

    fn error<'a>(&'a self, failed: &'a Failed) -> TraceError<'a> {
        let worker = self.talks.get(&failed.conversation).map_or(failed.conversation.task_index(), |talk| talk.worker);
        let task = self.run.spec().tasks.get(worker);
        TraceError {
            task_description: task.map(|task| task.description.as_str()),
            agent_role: task.map(|task| task.agent.role.as_str()),
            turn_id: failed.conversation.as_str(),
            message: &failed.message,
            at: Iso(failed.at),
            inherited: failed.inherited,
        }
    }
}

/// Returns the agent that works on a task.
pub(crate) fn agent(task: &Task) -> TracedAgent<'_> {
    let Agent { role, goal, background, allow_delegation } = &task.agent;
    TracedAgent { role, goal, background, tool_names: &task.tools, allow_delegation: *allow_delegation }
}
