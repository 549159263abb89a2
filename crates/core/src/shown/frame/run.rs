//! The frames of a run: one for each event, and those that are sent between events and never stored. They
//! define the wire format: `schemas/frames.json`, the description of the API and the types of its clients
//! are made from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decisions::answer::Sequel;
use crate::decisions::chore::Chore;
use crate::event::{CancelMode, ChangeType, Priority};
use crate::message::FailureKind;
use crate::requests::spec::{OnTimeout, Workflow};
use crate::shown::frame::field::{
    CallOutcome, DecisionWord, DeclaredTask, Delegation, Exceeded, ExitReason, ForkedFrom, Iso, ModelCall, Nullable,
    Quoted, ResponseType, Review, TaskPlace, Then, ToolRequest, TurnPlace,
};
use crate::text::Text;

/// A frame of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Frame {
    /// The run exists.
    RunAccepted {
        /// The ensemble's name.
        ensemble: String,
        /// In which order its tasks run.
        workflow: Workflow,
        /// How many tasks it has.
        total_tasks: usize,
        /// Its tasks, as declared.
        tasks: Vec<DeclaredTask>,
    },
    /// A process has taken the run over; calls of the one before are lost.
    RunAdopted {
        /// Counts the processes that had the run, from 1.
        epoch: u64,
    },
    /// The events before this one were copied from another run.
    RunForked {
        /// The run whose completed tasks were kept.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_of: Option<String>,
        /// The run and the place in it that this one goes on from.
        #[serde(skip_serializing_if = "Option::is_none")]
        forked_from: Option<ForkedFrom>,
    },
    /// The first task is about to begin.
    EnsembleStarted {
        /// The id of this execution.
        ensemble_id: String,
        /// When it started.
        started_at: Iso,
        /// How many tasks it has.
        total_tasks: usize,
        /// In which order its tasks run.
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
    /// A task has begun.
    TaskStarted {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
        /// How many tasks the run has.
        total_tasks: usize,
        /// When it began.
        started_at: Iso,
    },
    /// What the task's model is told first.
    TaskInput {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
        /// The output that is asked for.
        expected_output: String,
        /// The goal of its agent.
        agent_goal: String,
        /// The background of its agent.
        agent_background: String,
        /// The tools it may call.
        tool_names: Vec<String>,
        /// The prompt; a long one is cut.
        assembled_context: String,
        /// When it was made.
        sent_at: Iso,
    },
    /// The run itself makes calls for a task.
    ChoreStarted {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
        /// What the calls are for.
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
        /// Who asks.
        #[serde(flatten)]
        turn: TurnPlace,
        /// The round of the conversation, from 0.
        iteration_index: u32,
        /// The alias of the model.
        model: String,
        /// The newest messages it is sent.
        messages: Vec<Quoted>,
        /// How many messages it is sent.
        total_message_count: usize,
    },
    /// The same question is asked once more.
    ModelRetried {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// Which attempt this is, from 1.
        attempt: u32,
    },
    /// A model has answered.
    LlmIterationCompleted {
        /// Who asked.
        #[serde(flatten)]
        turn: TurnPlace,
        /// The round of the conversation, from 0.
        #[serde(skip_serializing_if = "Option::is_none")]
        iteration_index: Option<u32>,
        /// Whether it answers or wants tools called.
        response_type: ResponseType,
        /// What it said.
        #[serde(skip_serializing_if = "Option::is_none")]
        response_text: Option<String>,
        /// The calls it wants made.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_requests: Option<Vec<ToolRequest>>,
        /// True when the reply ended at the output limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        truncated: Option<bool>,
        /// Tokens it read.
        input_tokens: u64,
        /// Tokens it wrote.
        output_tokens: u64,
        /// How long it took.
        latency_ms: u64,
    },
    /// The model's reply ended at its output limit.
    AnswerTruncated {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// The step that follows.
        then: Sequel,
        /// True when it ended within a call, which is not made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        in_call: Option<bool>,
        /// The number of the continuation that follows, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        continuation: Option<u32>,
    },
    /// The model's reply said nothing.
    AnswerEmpty {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// The step that follows.
        then: Sequel,
    },
    /// What a task has used so far.
    MetricsSnapshot {
        /// Who used it.
        #[serde(flatten)]
        turn: TurnPlace,
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
        /// What went wrong.
        message: String,
        /// What follows.
        then: Then,
    },
    /// The oldest exchanges are not sent any more, because they do not fit.
    HistoryDropped {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// How many exchanges were dropped.
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
    /// The model has made the same failing call again and again, and is told so.
    LoopNoticed {
        /// The model call.
        #[serde(flatten)]
        call: ModelCall,
        /// The tool it called.
        tool_name: String,
        /// How often.
        times: u32,
    },
    /// Another ensemble has charged for a call.
    CallCharged {
        /// Who made the call.
        #[serde(flatten)]
        turn: TurnPlace,
        /// The call.
        call_id: String,
        /// Tokens it used.
        tokens: u64,
        /// US dollars it cost.
        cost: f64,
    },
    /// A tool is about to be called.
    ToolDispatched {
        /// Who calls it.
        #[serde(flatten)]
        turn: TurnPlace,
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
        /// Who asked for it.
        #[serde(flatten)]
        turn: TurnPlace,
        /// The call, and from now on the subtask.
        call_id: String,
        /// Its title.
        title: String,
        /// What it is told to do.
        instructions: Text,
        /// The tools it may call.
        tool_names: Vec<String>,
        /// How deep it is nested, from 1.
        depth: u32,
    },
    /// An agent was handed work.
    DelegationStarted {
        /// Who handed it to whom.
        #[serde(flatten)]
        delegation: Delegation,
        /// The work.
        task_description: String,
    },
    /// That agent has done it.
    DelegationCompleted {
        /// Who handed it to whom.
        #[serde(flatten)]
        delegation: Delegation,
        /// How long it took.
        duration_ms: u64,
    },
    /// That agent has failed, or could not be handed anything.
    DelegationFailed {
        /// Who handed it to whom.
        #[serde(flatten)]
        delegation: Delegation,
        /// Why.
        reason: String,
    },
    /// A call has returned.
    ToolCalled {
        /// Who made it.
        #[serde(flatten)]
        turn: TurnPlace,
        /// The call.
        call_id: String,
        /// The tool.
        tool_name: String,
        /// How long it took.
        duration_ms: u64,
        /// Whether it worked.
        outcome: CallOutcome,
        /// The arguments, as the model wrote them.
        tool_arguments: String,
        /// The result in words.
        tool_result: String,
        /// The result as data, where the tool has one.
        structured_result: Option<Value>,
    },
    /// A call has changed a file.
    FileChanged {
        /// Who made the call.
        #[serde(flatten)]
        turn: TurnPlace,
        /// The file, as the tool names it.
        file_path: String,
        /// What happened to it.
        change_type: ChangeType,
        /// Lines it has now and did not have.
        lines_added: u64,
        /// Lines it had and does not have now.
        lines_removed: u64,
        /// The call.
        call_id: String,
        /// When.
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
        /// Who decided.
        by: String,
        /// The output that counts instead.
        #[serde(skip_serializing_if = "Option::is_none")]
        revised_output: Option<Text>,
        /// What should be better.
        #[serde(skip_serializing_if = "Option::is_none")]
        feedback: Option<Text>,
    },
    /// Nobody decided in time.
    ReviewTimedOut {
        /// The review.
        review_id: String,
        /// What follows.
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
        /// How many tasks the run has.
        total_tasks: usize,
        /// When it was done.
        completed_at: Iso,
        /// How long it took.
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
        /// True when the output was cut at the output limit and is taken as it is.
        #[serde(default, skip_serializing_if = "Nullable::is_absent")]
        truncated: Nullable<bool>,
    },
    /// A task has failed or was stopped.
    TaskFailed {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
        /// When.
        failed_at: Iso,
        /// Why.
        reason: String,
        /// True when it was stopped.
        #[serde(skip_serializing_if = "Option::is_none")]
        cancelled: Option<bool>,
        /// The words of the answer that there were when it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partial_output: Option<Text>,
    },
    /// A task will not run.
    TaskSkipped {
        /// The task.
        #[serde(flatten)]
        task: TaskPlace,
        /// Why.
        reason: String,
    },
    /// A person has told the agents something.
    DirectiveActive {
        /// Its id.
        directive_id: String,
        /// Who said it.
        from: String,
        /// What was said.
        content: Text,
        /// The task or role it is for; everybody when absent.
        #[serde(default, skip_serializing_if = "Nullable::is_absent")]
        target: Nullable<String>,
        /// More important ones are read first.
        priority: Priority,
        /// When it stops counting.
        #[serde(default, skip_serializing_if = "Nullable::is_absent")]
        expires_at: Nullable<Iso>,
        /// The person that the sender says it speaks for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_behalf_of: Option<String>,
    },
    /// An agent reads it with its next model call.
    DirectiveDelivered {
        /// Its id.
        directive_id: String,
        /// The task that reads it, from 1.
        task_index: usize,
        /// The round that reads it, from 0.
        iteration_index: u32,
    },
    /// Every later model call goes to another model.
    ModelSwitched {
        /// The alias from now on.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The alias before.
        previous_model: String,
        /// The first task it holds for, from 1; 0 when none is under way.
        task_index: usize,
        /// The first round it holds for, from 0.
        iteration_index: u32,
        /// Who wanted it.
        by: String,
    },
    /// A person wants the run to stop.
    CancelRequested {
        /// How soon.
        mode: CancelMode,
        /// Who wants it.
        by: String,
    },
    /// Nothing new is begun until the run is resumed.
    RunPaused {
        /// Who paused it.
        by: String,
    },
    /// The run goes on.
    RunResumed {
        /// Who resumed it.
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
        /// How long it took.
        duration_ms: u64,
        /// Why it ended.
        exit_reason: ExitReason,
        /// Tokens used; -1 when unknown.
        total_tokens: i64,
        /// Tool calls made.
        total_tool_calls: u64,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A kind of frame that this version does not know.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl Frame {
    /// Returns the task that the frame names, if it names one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other frame names a task")]
    pub fn task(&self) -> Option<&TaskPlace> {
        match self {
            Frame::BeltComposed { task, .. }
            | Frame::TaskStarted { task, .. }
            | Frame::TaskInput { task, .. }
            | Frame::ChoreStarted { task, .. }
            | Frame::ReflectionStarted { task }
            | Frame::TaskCompleted { task, .. }
            | Frame::TaskFailed { task, .. }
            | Frame::TaskSkipped { task, .. }
            | Frame::ReviewRequested(Review { task, .. }) => Some(task),
            _ => None,
        }
    }

    /// Returns the conversation that the frame names, if it names one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other frame names a conversation")]
    pub fn conversation(&self) -> Option<&TurnPlace> {
        match self {
            Frame::LlmIterationStarted { turn, .. }
            | Frame::LlmIterationCompleted { turn, .. }
            | Frame::MetricsSnapshot { turn, .. }
            | Frame::CallCharged { turn, .. }
            | Frame::ToolDispatched { turn, .. }
            | Frame::SubtaskStarted { turn, .. }
            | Frame::ToolCalled { turn, .. }
            | Frame::FileChanged { turn, .. } => Some(turn),
            Frame::ModelRetried { call, .. }
            | Frame::AnswerTruncated { call, .. }
            | Frame::AnswerEmpty { call, .. }
            | Frame::ModelFailed { call, .. }
            | Frame::HistoryDropped { call, .. }
            | Frame::OutputRejected { call, .. }
            | Frame::LastRound { call }
            | Frame::LoopNoticed { call, .. }
            | Frame::FinishDemanded { call } => Some(&call.turn),
            _ => self.task().map(|task| &task.turn),
        }
    }

    /// Returns the type of the frame, as `serde` writes it.
    pub fn kind(&self) -> &'static str {
        match self {
            Frame::RunAccepted { .. } => "run_accepted",
            Frame::RunAdopted { .. } => "run_adopted",
            Frame::RunForked { .. } => "run_forked",
            Frame::EnsembleStarted { .. } => "ensemble_started",
            Frame::BeltComposed { .. } => "belt_composed",
            Frame::TaskStarted { .. } => "task_started",
            Frame::TaskInput { .. } => "task_input",
            Frame::ChoreStarted { .. } => "chore_started",
            Frame::ReflectionStarted { .. } => "reflection_started",
            Frame::LlmIterationStarted { .. } => "llm_iteration_started",
            Frame::ModelRetried { .. } => "model_retried",
            Frame::LlmIterationCompleted { .. } => "llm_iteration_completed",
            Frame::AnswerTruncated { .. } => "answer_truncated",
            Frame::AnswerEmpty { .. } => "answer_empty",
            Frame::MetricsSnapshot { .. } => "metrics_snapshot",
            Frame::ModelFailed { .. } => "model_failed",
            Frame::HistoryDropped { .. } => "history_dropped",
            Frame::OutputRejected { .. } => "output_rejected",
            Frame::LastRound { .. } => "last_round",
            Frame::LoopNoticed { .. } => "loop_noticed",
            Frame::CallCharged { .. } => "call_charged",
            Frame::ToolDispatched { .. } => "tool_dispatched",
            Frame::FinishDemanded { .. } => "finish_demanded",
            Frame::SubtaskStarted { .. } => "subtask_started",
            Frame::DelegationStarted { .. } => "delegation_started",
            Frame::DelegationCompleted { .. } => "delegation_completed",
            Frame::DelegationFailed { .. } => "delegation_failed",
            Frame::ToolCalled { .. } => "tool_called",
            Frame::FileChanged { .. } => "file_changed",
            Frame::ReviewRequested(_) => "review_requested",
            Frame::ReviewDecided { .. } => "review_decided",
            Frame::ReviewTimedOut { .. } => "review_timed_out",
            Frame::ReviewClosed { .. } => "review_closed",
            Frame::TaskCompleted { .. } => "task_completed",
            Frame::TaskFailed { .. } => "task_failed",
            Frame::TaskSkipped { .. } => "task_skipped",
            Frame::DirectiveActive { .. } => "directive_active",
            Frame::DirectiveDelivered { .. } => "directive_delivered",
            Frame::ModelSwitched { .. } => "model_switched",
            Frame::CancelRequested { .. } => "cancel_requested",
            Frame::RunPaused { .. } => "run_paused",
            Frame::RunResumed { .. } => "run_resumed",
            Frame::BudgetExceeded(_) => "budget_exceeded",
            Frame::EnsembleCompleted { .. } => "ensemble_completed",
            Frame::Unknown => "unknown",
        }
    }
}
