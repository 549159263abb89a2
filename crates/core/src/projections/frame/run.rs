//! The frames of a run, one for each event. They define the wire format: `schemas/frames.json`, the description of
//! the API and the types of its clients are made from them.

mod content;
mod kind;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use crate::decisions::answer::FollowUp;
use crate::decisions::chore::Chore;
use crate::projections::frame::field::{
    CallError, CallOutcome, ConversationPlace, DecisionWord, DeclaredGroup, DeclaredTask, Delegation, Exceeded,
    ExitReason, Iso, ModelCall, Nullable, Quoted, ResponseType, Review, TaskPlace, Then, ToolRequest,
};
use crate::projections::view::LimitsView;
use consort_spec::cause::SkipCause;
use consort_spec::event::{AdoptReason, CancelMode, ChangeType};
use consort_spec::message::FailureKind;
use consort_spec::spec::{OnTimeout, Workflow};
use consort_spec::text::Text;

pub use content::{ActiveDirective, Descent, EditedOutput, Evaluation, ModelSwitch, TaskInput};

/// A frame of a run.
#[derive(Clone, Debug, PartialEq, IntoStaticStr, Serialize, Deserialize, JsonSchema)]
#[strum(serialize_all = "snake_case")]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Frame {
    /// The run exists.
    RunAccepted {
        /// The ensemble's name.
        ensemble: String,
        /// The order of its tasks.
        workflow: Workflow,
        /// The number of tasks.
        total_tasks: usize,
        /// Its tasks, as declared.
        tasks: Vec<DeclaredTask>,
        /// Groups of its tasks, as declared.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        groups: Vec<DeclaredGroup>,
    },
    /// A process has taken the run over; calls of the one before are lost.
    RunAdopted {
        /// Greater with each process that has the run, from 1.
        epoch: u64,
        /// The name of the node that has it now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
        /// The reason why it has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<AdoptReason>,
    },
    /// The events before this one were copied from another run.
    RunForked(Descent),
    /// The first task is about to begin.
    EnsembleStarted {
        /// The id of this execution.
        ensemble_id: String,
        /// When it started.
        started_at: Iso,
        /// The number of tasks.
        total_tasks: usize,
        /// The order of its tasks.
        workflow: Workflow,
    },
    /// The tools that a task's patterns stand for were looked up.
    BeltComposed {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
        /// The tools that were found.
        tool_names: Vec<String>,
    },
    /// A condition or a list was evaluated, which happens once; what follows from it comes next.
    ExpressionEvaluated(Evaluation),
    /// A task has begun.
    TaskStarted {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
        /// The number of tasks of the run.
        total_tasks: usize,
        /// When it began.
        started_at: Iso,
    },
    /// The prompt of a task.
    TaskInput(TaskInput),
    /// The run itself makes calls for a task.
    ChoreStarted {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
        /// The purpose of the calls.
        chore: Chore,
        /// The tools that are called.
        tool_names: Vec<String>,
    },
    /// The model is asked what could be better next time.
    ReflectionStarted {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
    },
    /// A model is asked.
    LlmIterationStarted {
        /// The conversation that asks.
        #[serde(flatten)]
        conversation: ConversationPlace,
        /// The round of the conversation, from 0.
        iteration_index: u32,
        /// The alias of the model.
        model: String,
        /// The newest messages it is sent.
        messages: Vec<Quoted>,
        /// The number of messages that the model is sent.
        total_message_count: usize,
    },
    /// The same question is asked once more.
    ModelRetried {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// A model has answered.
    LlmIterationCompleted {
        /// The conversation that asked.
        #[serde(flatten)]
        conversation: ConversationPlace,
        /// The round of the conversation, from 0.
        #[serde(skip_serializing_if = "Option::is_none")]
        iteration_index: Option<u32>,
        /// Whether it answers or wants tools called.
        response_type: ResponseType,
        /// The text of the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        response_text: Option<String>,
        /// The calls it wants made.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_requests: Option<Vec<ToolRequest>>,
        /// True when the reply ended at the output limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        truncated: Option<bool>,
        /// Tokens it read; -1 when unknown.
        input_tokens: i64,
        /// Tokens it wrote; -1 when unknown.
        output_tokens: i64,
        /// The duration of the model call.
        latency_ms: u64,
    },
    /// The model's reply ended at its output limit.
    AnswerTruncated {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// The step that follows.
        then: FollowUp,
        /// True when it ended within a call, which is not made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        in_call: Option<bool>,
        /// The number of the continuation that follows, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        continuation: Option<u32>,
    },
    /// The model's reply was empty.
    AnswerEmpty {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// The step that follows.
        then: FollowUp,
    },
    /// The usage of a task so far.
    MetricsSnapshot {
        /// The conversation that used it.
        #[serde(flatten)]
        conversation: ConversationPlace,
        /// Tokens read; -1 when unknown.
        input_tokens: i64,
        /// Tokens written; -1 when unknown.
        output_tokens: i64,
        /// Time spent waiting for models.
        llm_latency_ms: u64,
        /// Time spent in tools.
        tool_execution_time_ms: u64,
        /// Model calls.
        iteration_count: u64,
        /// US dollars, when the model has a price.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost_estimate: Option<String>,
    },
    /// A model did not answer.
    ModelFailed {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// The kind of failure.
        error: FailureKind,
        /// The error message.
        message: String,
        /// The step that follows.
        then: Then,
    },
    /// The oldest exchanges are not sent any more, because they do not fit.
    HistoryDropped {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// The number of exchanges that were dropped.
        exchanges: usize,
    },
    /// The output breaks its schema and is sent back.
    OutputRejected {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// Everything that is wrong with it.
        violations: Vec<String>,
    },
    /// The last permitted round: no tools are offered.
    LastRound {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
    },
    /// The model has repeated the same failing call, and is notified of it.
    LoopNoticed {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// The tool it called.
        tool_name: String,
        /// The number of times it was called.
        times: u32,
    },
    /// Another ensemble has reported the cost of a call.
    CallCharged {
        /// The conversation that made the call.
        #[serde(flatten)]
        conversation: ConversationPlace,
        /// The call.
        call_id: String,
        /// Tokens it used.
        tokens: u64,
        /// US dollars it cost.
        cost: f64,
    },
    /// A tool is about to be called.
    ToolDispatched {
        /// The conversation that makes the call.
        #[serde(flatten)]
        conversation: ConversationPlace,
        /// The call.
        call_id: String,
        /// The tool.
        tool_name: String,
        /// The arguments, as the model wrote them.
        tool_arguments: String,
    },
    /// A subtask that owes a structured result answered in prose, and is reminded.
    FinishDemanded {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
    },
    /// A call became a subtask.
    SubtaskStarted {
        /// The conversation that asked for it.
        #[serde(flatten)]
        conversation: ConversationPlace,
        /// The call, and from now on the subtask.
        call_id: String,
        /// Its title.
        title: String,
        /// The instructions for its model.
        instructions: Text,
        /// The tools it may call.
        tool_names: Vec<String>,
        /// The nesting depth, from 1.
        depth: u32,
    },
    /// An agent was handed work.
    DelegationStarted {
        /// The agents involved.
        #[serde(flatten)]
        delegation: Delegation,
        /// The work.
        task_description: String,
    },
    /// An agent has done the work it was handed.
    DelegationCompleted {
        /// The agents involved.
        #[serde(flatten)]
        delegation: Delegation,
        /// The duration.
        duration_ms: u64,
    },
    /// An agent has failed, or could not be handed work.
    DelegationFailed {
        /// The agents involved.
        #[serde(flatten)]
        delegation: Delegation,
        /// The reason.
        reason: String,
    },
    /// A call has returned.
    ToolCalled {
        /// The conversation that made the call.
        #[serde(flatten)]
        conversation: ConversationPlace,
        /// The call.
        call_id: String,
        /// The tool.
        tool_name: String,
        /// The duration.
        duration_ms: u64,
        /// Whether it worked.
        outcome: CallOutcome,
        /// The arguments, as the model wrote them.
        tool_arguments: String,
        /// The result in words.
        tool_result: String,
        /// The result as data, where the tool has one.
        structured_result: Option<Value>,
        /// `TOOL_TIMEOUT` when the tool took longer than its own limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<CallError>,
    },
    /// A call has changed a file.
    FileChanged {
        /// The conversation that made the call.
        #[serde(flatten)]
        conversation: ConversationPlace,
        /// The file, as the tool names it.
        file_path: String,
        /// The kind of change.
        change_type: ChangeType,
        /// Lines it has now and did not have.
        lines_added: u64,
        /// Lines it had and does not have now.
        lines_removed: u64,
        /// The call.
        call_id: String,
        /// The time.
        timestamp: Iso,
    },
    /// Something waits for a person.
    ReviewRequested(Review),
    /// A person has decided.
    ReviewDecided {
        /// The review.
        review_id: String,
        /// The decision.
        decision: DecisionWord,
        /// The name of the caller that decided.
        by: String,
        /// The output that counts instead.
        #[serde(skip_serializing_if = "Option::is_none")]
        revised_output: Option<Text>,
        /// The improvements that the reviewer asks for.
        #[serde(skip_serializing_if = "Option::is_none")]
        feedback: Option<Text>,
    },
    /// Nobody decided in time.
    ReviewTimedOut {
        /// The review.
        review_id: String,
        /// The step that follows.
        action: OnTimeout,
    },
    /// There is nothing to decide any more.
    ReviewClosed {
        /// The review.
        review_id: String,
    },
    /// A task has its output.
    TaskCompleted {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
        /// The number of tasks of the run.
        total_tasks: usize,
        /// When it was done.
        completed_at: Iso,
        /// The duration of the task.
        duration_ms: u64,
        /// Tokens it used; -1 when unknown.
        token_count: i64,
        /// Tool calls it made.
        tool_call_count: u64,
        /// The output.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<Text>,
        /// The output as data, where the task has a schema.
        #[serde(default, skip_serializing_if = "Nullable::is_absent")]
        parsed_output: Nullable<Value>,
        /// True when the output was cut at the output limit and is accepted as it is.
        #[serde(default, skip_serializing_if = "Nullable::is_absent")]
        truncated: Nullable<bool>,
    },
    /// A task has failed or was stopped.
    TaskFailed {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
        /// The time.
        failed_at: Iso,
        /// The reason.
        reason: String,
        /// True when it was stopped.
        #[serde(skip_serializing_if = "Option::is_none")]
        cancelled: Option<bool>,
        /// The text of the answer so far when it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partial_output: Option<Text>,
    },
    /// A task will not run.
    TaskSkipped {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
        /// The reason, in words.
        reason: String,
        /// The reason, as one word: only after `condition` do the tasks that read it go on.
        cause: SkipCause,
    },
    /// A directive was given to the agents.
    DirectiveActive(ActiveDirective),
    /// An agent reads a directive with its next model call.
    DirectiveDelivered {
        /// Its id.
        directive_id: String,
        /// The task that reads it, from 1.
        task_index: usize,
        /// The round that reads it, from 0.
        iteration_index: u32,
    },
    /// Every later model call goes to another model.
    ModelSwitched(ModelSwitch),
    /// A person wants the run to stop.
    CancelRequested {
        /// The point at which the run stops.
        mode: CancelMode,
        /// The name of the caller that cancels it.
        by: String,
    },
    /// Nothing new is begun until the run is resumed.
    RunPaused {
        /// The name of the caller that paused it.
        by: String,
    },
    /// The run goes on.
    RunResumed {
        /// The name of the caller that resumed it.
        by: String,
    },
    /// Some of the run's limits were raised.
    BudgetRaised {
        /// The limits from now on.
        limits: LimitsView,
        /// The name of the caller that raised them.
        by: String,
    },
    /// The next step would pass a limit.
    BudgetExceeded(Exceeded),
    /// The run is over.
    EnsembleCompleted {
        /// The id of this execution.
        ensemble_id: String,
        /// When it ended.
        completed_at: Iso,
        /// The duration of the run.
        duration_ms: u64,
        /// The reason why it ended.
        exit_reason: ExitReason,
        /// Tokens used; -1 when unknown.
        total_tokens: i64,
        /// Tool calls made.
        total_tool_calls: u64,
        /// The reason why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A kind of frame that this version does not know.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}
