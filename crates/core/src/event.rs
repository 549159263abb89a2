//! The events of a run, which are the only thing that is stored. An event's number is its position in the
//! run's stream, from 0, so it is not part of the event. No event repeats data that an earlier one holds.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::chat;
use crate::decisions::answer::{Completeness, Sequel};
use crate::decisions::chore::Chore;
use crate::id::{Id, Millis};
use crate::message::{Call, Failure, Outcome, Part, Reply, Spent, Usage};
use crate::owner::Owner;
use crate::requests::catalog::{Belt, ModelInfo, Models, ToolInfo};
use crate::requests::spec::{OnTimeout, Spec};
use crate::schema::Schema;
use crate::state::budget::{Breach, Claim};
use crate::status::Status;
use crate::text::Text;

/// Something that happened in a run, and when it was decided. `at` never decreases within a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct Event {
    /// The time of the decision.
    pub at: Millis,
    /// What happened. Logs call it `fact`.
    #[serde(rename = "fact")]
    pub kind: EventKind,
}

/// An event as any edition stored it.
#[derive(Deserialize)]
struct Stored {
    at: Millis,
    #[serde(rename = "fact")]
    kind: EventKind,
}

impl From<Stored> for Event {
    fn from(Stored { at, mut kind }: Stored) -> Event {
        kind.upgrade();
        Event { at, kind }
    }
}

/// The kinds of events, each with its content. Each has exactly one frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields are named after the types that document them")]
pub enum EventKind {
    /// The run was accepted. The models and tools it may use are stored with it, so an upgrade does not change
    /// them. `copied` is the number of events, from this one on, that were copied from another run.
    RunAccepted {
        ensemble_id: String,
        spec: Arc<Spec>,
        models: Models,
        belt: Belt,
        #[serde(default, skip_serializing_if = "is_zero")]
        copied: u64,
        #[serde(default, skip_serializing_if = "Owner::is_local")]
        owner: Owner,
    },
    /// A process took ownership of the run; calls that the previous owner had under way are orphaned.
    RunAdopted { epoch: u64 },
    /// The events before this one are the record of another run; from here on the run does work of its own,
    /// with a budget of its own.
    RunForked { origin: Origin, edited: Option<Box<Edited>> },
    /// The run's first task is about to begin.
    RunStarted,
    /// The tools that a task's names for other providers' tools resolve to at this moment.
    BeltComposed { task: usize, tools: Vec<Arc<ToolInfo>> },
    /// A task began.
    TaskStarted { turn: Id },
    /// The opening messages of the conversation with the model were written.
    PromptBuilt { turn: Id, system: Text, user: Text },
    /// The run itself makes calls for a task.
    ChoreBegun { turn: Id, chore: Chore, calls: Vec<Call> },
    /// The model is about to be asked for suggestions for the next run.
    ReflectionBegun { turn: Id },
    /// The model is about to be asked; `claim` is taken out of the budget.
    ModelAsked { turn: Id, round: u32, model: String, claim: Claim, max_output: u64 },
    /// The same question is about to be asked once more.
    ModelRetried { turn: Id, attempt: u32, claim: Claim, max_output: u64 },
    /// The model replied, with an answer or with calls to make.
    ModelReplied {
        turn: Id,
        reply: Arc<Reply>,
        usage: Option<Usage>,
        latency_ms: u64,
        #[serde(default, skip_serializing_if = "Completeness::is_whole")]
        completeness: Completeness,
    },
    /// The reply ended at the output limit, in its text or in a call; holds the step that follows.
    AnswerTruncated {
        turn: Id,
        then: Sequel,
        #[serde(default)]
        in_call: bool,
    },
    /// The reply is empty; holds the step that follows.
    AnswerEmpty { turn: Id, then: Sequel },
    /// The amount that the answer took out of the budget: the provider's count, or else the whole amount set
    /// aside.
    UsageCounted { turn: Id, used: Claim },
    /// The model did not answer; holds the step that follows. Text it had already sent is discarded, unless the
    /// conversation ends with it.
    ModelFailed {
        turn: Id,
        failure: Failure,
        then: AfterFailure,
        #[serde(default, skip_serializing_if = "Text::is_empty")]
        said: Text,
    },
    /// The oldest exchanges no longer fit and are not sent any more.
    HistoryDropped { turn: Id, exchanges: usize },
    /// The answer breaks its schema and is sent back.
    OutputRejected { turn: Id, violations: Vec<String> },
    /// One more round is permitted: tools are not offered any more, and the model is asked to answer.
    LastRoundBegun { turn: Id },
    /// The model repeated the same failing call several times, and is notified of that.
    LoopNoticed { turn: Id, tool: String, times: u32 },
    /// A tool is about to be called; `lent` is the amount it may take out of the budget.
    ToolDispatched {
        call: Id,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lent: Option<Claim>,
    },
    /// The usage that another ensemble reported for a call.
    CallCharged { call: Id, spent: Spent },
    /// A call became a subtask with a conversation of its own.
    SubtaskStarted {
        call: Id,
        title: String,
        system: Text,
        user: Text,
        tools: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<Schema>,
    },
    /// A subtask that owes a structured result answered in prose, and is reminded.
    FinishDemanded { turn: Id },
    /// A call became work for another agent, the one of the task at position `worker`.
    DelegationStarted { call: Id, worker: usize, task: String, system: Text, user: Text },
    /// The agent that the work was delegated to completed it or failed.
    DelegationEnded { call: Id, error: Option<String> },
    /// The delegation was refused; no agent got the work.
    DelegationRefused { call: Id, role: String, reason: String },
    /// The call is over, whether a tool did it, a subtask did it, or it was not made.
    ToolReturned {
        call: Id,
        outcome: Outcome,
        duration_ms: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    },
    /// A call changed a file.
    FileChanged { call: Id, change: FileChange },
    /// A review was opened. It waits until `due`, when `on_timeout` happens; without `due` it waits without
    /// limit.
    ReviewOpened {
        review: u32,
        turn: Id,
        timing: Timing,
        due: Option<Millis>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_timeout: Option<OnTimeout>,
    },
    /// A person decided a review; only the first decision counts.
    ReviewDecided { review: u32, decision: Decision, by: String },
    /// A review was not decided in time.
    ReviewTimedOut { review: u32, action: OnTimeout },
    /// A review was closed because there is nothing left to decide.
    ReviewClosed { review: u32 },
    /// The task has its output.
    TaskCompleted { turn: Id },
    /// The task gave up or was stopped.
    TaskFailed {
        turn: Id,
        reason: String,
        cancelled: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    },
    /// The task will not run.
    TaskSkipped { turn: Id, reason: String },
    /// A person or program sent a message to the agents.
    DirectiveGiven { directive: Directive },
    /// A directive is part of an agent's next model call.
    DirectiveDelivered { directive: u32, turn: Id, round: u32 },
    /// Every later model call of the run goes to this model.
    ModelSwitched { models: Vec<Arc<ModelInfo>>, previous: String, by: String },
    /// A person or program asked for the run to stop.
    CancelRequested { mode: CancelMode, by: String },
    /// Nothing new is begun until the run is resumed.
    RunPaused { by: String },
    /// The run goes on.
    RunResumed { by: String },
    /// The next step would pass a limit.
    BudgetExceeded { breach: Breach },
    /// An event that only a chat's turns have.
    Chat(chat::ChatEventKind),
    /// The run ended; no event follows.
    RunEnded { end: End },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The source of a run's first events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The events of the completed tasks of an ended run; the other tasks are done again.
    Retry {
        /// The id of that run.
        run: String,
    },
    /// All events of another run before `seq`.
    Fork {
        /// The id of that run.
        run: String,
        /// The number of the first event that was not copied.
        seq: u64,
    },
}

/// The settings that a fork changes, as they hold from the fork on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edited {
    /// The edited spec; tasks that had begun are unchanged.
    pub spec: Arc<Spec>,
    /// Models that may be asked, in addition to those before.
    pub models: Models,
    /// Tools that may be called, in addition to those before.
    pub belt: Belt,
}

/// The step that follows a model's failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterFailure {
    /// The same model is asked again at this time.
    Retry {
        /// The time, in Unix milliseconds.
        at: Millis,
    },
    /// Another model is asked.
    Fallback {
        /// Its alias.
        model: String,
    },
    /// The same model is asked again with a shorter history.
    Shorten,
    /// The conversation fails.
    GiveUp,
}

/// A change that a call made to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The path of the file, as the tool names it.
    pub file_path: String,
    /// The kind of change.
    pub change_type: ChangeType,
    /// The number of lines that were added.
    pub lines_added: u64,
    /// The number of lines that were removed.
    pub lines_removed: u64,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChangeType {
    /// It is new.
    Created,
    /// It is different.
    Modified,
    /// It is gone.
    Deleted,
}

/// When a review takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Timing {
    /// Before the task starts.
    BeforeExecution,
    /// While it works: a call asks a person.
    DuringExecution,
    /// When its output is there.
    AfterExecution,
}

/// A reviewer's decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Decision {
    /// The task goes on with the output as it is.
    Continue,
    /// The task goes on with this output instead.
    Edit {
        /// The output that replaces the agent's.
        output: Text,
    },
    /// The run ends here with the outputs it has.
    ExitEarly,
    /// The task is done again.
    Reject {
        /// The reviewer's feedback for the next attempt.
        feedback: Text,
    },
}

impl Decision {
    /// Returns the number of bytes of the text it holds.
    pub fn bytes(&self) -> usize {
        match self {
            Decision::Edit { output: text } | Decision::Reject { feedback: text } => text.len(),
            Decision::Continue | Decision::ExitEarly => 0,
        }
    }
}

impl Decision {
    /// Returns the word for the decision on the wire.
    pub fn word(&self) -> &'static str {
        match self {
            Decision::Continue => "CONTINUE",
            Decision::Edit { .. } => "EDIT",
            Decision::ExitEarly => "EXIT_EARLY",
            Decision::Reject { .. } => "REJECT",
        }
    }
}

/// A message to the agents of a run while they work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    /// The name of a task or the role of an agent; all agents when absent.
    pub target: Option<String>,
    /// The text of the message.
    pub content: Text,
    /// The priority; directives of higher priority are read first.
    pub priority: Priority,
    /// The name of the sender.
    pub from: String,
    /// The name of the person or program that the sender speaks for, as claimed by `from` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// The time at which it was given.
    pub created_at: Millis,
    /// The time after which it is no longer delivered.
    pub expires_at: Option<Millis>,
}

impl Directive {
    /// Returns the author as agents see it: the sender and the name it speaks for.
    pub fn author(&self) -> String {
        match &self.on_behalf_of {
            Some(other) => format!("{} on behalf of {other}", self.from),
            None => self.from.clone(),
        }
    }
}

/// How important a directive is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Priority {
    /// Read last.
    Low,
    /// As usual.
    #[default]
    Normal,
    /// Read first.
    High,
}

/// How soon a stopped run stops; a later, stronger request strengthens it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CancelMode {
    /// Tasks under way finish, no other starts.
    #[default]
    AfterTask,
    /// Model calls under way and the tools they ask for finish, no other starts.
    AfterIteration,
    /// Model streams and tools are dropped.
    Now,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum End {
    /// The run completed all that it could do.
    Completed {
        /// The reason why no more was done.
        exit: Exit,
    },
    /// A task failed or a limit was reached.
    Failed {
        /// The error message.
        error: String,
    },
    /// The run was cancelled.
    Cancelled,
}

/// The reason why a completed run did no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Exit {
    /// All tasks were done.
    Completed,
    /// A reviewer ended the run early.
    UserExitEarly,
    /// A review timed out.
    Timeout,
}

impl End {
    /// Returns the run's status word.
    pub fn status(&self) -> Status {
        self.into()
    }

    /// Returns the reason for the end, as `ensemble_completed` names it.
    pub fn exit_reason(&self) -> &'static str {
        match self {
            End::Completed { exit: Exit::Completed } => "COMPLETED",
            End::Completed { exit: Exit::UserExitEarly } => "USER_EXIT_EARLY",
            End::Completed { exit: Exit::Timeout } => "TIMEOUT",
            End::Failed { .. } => "ERROR",
            End::Cancelled => "CANCELLED",
        }
    }
}

impl EventKind {
    /// The call ends at once, and nothing more is known than this.
    pub(crate) fn returned(call: &Id, outcome: Outcome) -> EventKind {
        EventKind::ToolReturned { call: call.clone(), outcome, duration_ms: 0, cause: None }
    }

    /// Whether the event belongs to something that waits, or waited, for a person.
    pub fn is_of_review(&self) -> bool {
        matches!(
            self,
            EventKind::ReviewOpened { .. }
                | EventKind::ReviewDecided { .. }
                | EventKind::ReviewTimedOut { .. }
                | EventKind::ReviewClosed { .. }
        )
    }

    /// Returns every text that may be large, for the codec that stores those apart.
    pub fn texts_mut(&mut self) -> Vec<&mut Text> {
        match self {
            EventKind::PromptBuilt { system, user, .. }
            | EventKind::SubtaskStarted { system, user, .. }
            | EventKind::DelegationStarted { system, user, .. } => vec![system, user],
            EventKind::ModelReplied { reply, .. } => {
                Arc::make_mut(reply).parts.iter_mut().map(Part::text_mut).collect()
            }
            EventKind::ToolReturned { outcome: Outcome::Answer { text, .. } | Outcome::Failed { text }, .. } => {
                vec![text]
            }
            EventKind::ChoreBegun { calls, .. } => calls.iter_mut().map(|call| &mut call.args).collect(),
            EventKind::ReviewDecided { decision: Decision::Edit { output }, .. } => vec![output],
            EventKind::ReviewDecided { decision: Decision::Reject { feedback }, .. } => vec![feedback],
            EventKind::DirectiveGiven { directive } => vec![&mut directive.content],
            EventKind::ModelFailed { said, .. } => vec![said],
            EventKind::RunAccepted { spec, .. } if spec.chat.is_some() => {
                Arc::make_mut(spec).chat.iter_mut().flat_map(chat::Turn::texts_mut).collect()
            }
            EventKind::ToolReturned { outcome: Outcome::Unknown { .. } | Outcome::Subtask, .. }
            | EventKind::ReviewDecided { decision: Decision::Continue | Decision::ExitEarly, .. }
            | EventKind::RunAccepted { .. }
            | EventKind::RunAdopted { .. }
            | EventKind::RunForked { .. }
            | EventKind::RunStarted
            | EventKind::BeltComposed { .. }
            | EventKind::TaskStarted { .. }
            | EventKind::ReflectionBegun { .. }
            | EventKind::ModelAsked { .. }
            | EventKind::ModelRetried { .. }
            | EventKind::AnswerTruncated { .. }
            | EventKind::AnswerEmpty { .. }
            | EventKind::UsageCounted { .. }
            | EventKind::HistoryDropped { .. }
            | EventKind::OutputRejected { .. }
            | EventKind::LastRoundBegun { .. }
            | EventKind::LoopNoticed { .. }
            | EventKind::FinishDemanded { .. }
            | EventKind::ToolDispatched { .. }
            | EventKind::CallCharged { .. }
            | EventKind::DelegationEnded { .. }
            | EventKind::DelegationRefused { .. }
            | EventKind::FileChanged { .. }
            | EventKind::ReviewOpened { .. }
            | EventKind::ReviewTimedOut { .. }
            | EventKind::ReviewClosed { .. }
            | EventKind::TaskCompleted { .. }
            | EventKind::TaskFailed { .. }
            | EventKind::TaskSkipped { .. }
            | EventKind::DirectiveDelivered { .. }
            | EventKind::ModelSwitched { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::RunPaused { .. }
            | EventKind::RunResumed { .. }
            | EventKind::BudgetExceeded { .. }
            | EventKind::Chat(_)
            | EventKind::RunEnded { .. } => Vec::new(),
        }
    }

    /// Returns the id of the task, subtask or call that the event belongs to; none for an event of the whole
    /// run, and for one whose subject has a number of its own.
    pub fn place(&self) -> Option<&Id> {
        match self {
            EventKind::TaskStarted { turn }
            | EventKind::PromptBuilt { turn, .. }
            | EventKind::ChoreBegun { turn, .. }
            | EventKind::ReflectionBegun { turn }
            | EventKind::ModelAsked { turn, .. }
            | EventKind::ModelRetried { turn, .. }
            | EventKind::ModelReplied { turn, .. }
            | EventKind::AnswerTruncated { turn, .. }
            | EventKind::AnswerEmpty { turn, .. }
            | EventKind::UsageCounted { turn, .. }
            | EventKind::ModelFailed { turn, .. }
            | EventKind::HistoryDropped { turn, .. }
            | EventKind::OutputRejected { turn, .. }
            | EventKind::LastRoundBegun { turn }
            | EventKind::LoopNoticed { turn, .. }
            | EventKind::FinishDemanded { turn }
            | EventKind::ReviewOpened { turn, .. }
            | EventKind::TaskCompleted { turn }
            | EventKind::TaskFailed { turn, .. }
            | EventKind::TaskSkipped { turn, .. }
            | EventKind::DirectiveDelivered { turn, .. } => Some(turn),
            EventKind::ToolDispatched { call, .. }
            | EventKind::CallCharged { call, .. }
            | EventKind::SubtaskStarted { call, .. }
            | EventKind::DelegationStarted { call, .. }
            | EventKind::DelegationEnded { call, .. }
            | EventKind::DelegationRefused { call, .. }
            | EventKind::ToolReturned { call, .. }
            | EventKind::FileChanged { call, .. } => Some(call),
            EventKind::RunAccepted { .. }
            | EventKind::RunAdopted { .. }
            | EventKind::RunForked { .. }
            | EventKind::RunStarted
            | EventKind::BeltComposed { .. }
            | EventKind::ReviewDecided { .. }
            | EventKind::ReviewTimedOut { .. }
            | EventKind::ReviewClosed { .. }
            | EventKind::DirectiveGiven { .. }
            | EventKind::ModelSwitched { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::RunPaused { .. }
            | EventKind::RunResumed { .. }
            | EventKind::BudgetExceeded { .. }
            | EventKind::Chat(_)
            | EventKind::RunEnded { .. } => None,
        }
    }
}
