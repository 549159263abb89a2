//! What happened: the only thing that is ever stored. An event's number is its
//! position in the run's stream, from 0, so it is not part of the event. No
//! event repeats what an earlier one holds.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::chat;
use crate::decisions::answer::{Completeness, Sequel};
use crate::decisions::chore::Chore;
use crate::id::{Id, Millis};
use crate::message::{Call, Failure, Outcome, Part, Reply, Spent, Usage};
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
    /// The run exists. What it may use is stored, so an upgrade does not change it.
    /// `copied` is how many events from this one on are another run's.
    RunAccepted {
        ensemble_id: String,
        spec: Arc<Spec>,
        models: Models,
        belt: Belt,
        #[serde(default, skip_serializing_if = "is_zero")]
        copied: u64,
    },
    /// Somebody took the run; whatever the owner before had under way is orphaned.
    RunAdopted { epoch: u64 },
    /// What stands before this is the record of another run; from here on it is
    /// this run's own work, with a budget of its own.
    RunForked { origin: Origin, edited: Option<Box<Edited>> },
    /// Its first task is about to begin.
    RunStarted,
    /// What the names of a task that stand for tools of others stand for just now.
    BeltComposed { task: usize, tools: Vec<Arc<ToolInfo>> },
    /// A task began.
    TaskStarted { turn: Id },
    /// What the model will be told first.
    PromptBuilt { turn: Id, system: Text, user: Text },
    /// The run itself makes calls for a task.
    ChoreBegun { turn: Id, chore: Chore, calls: Vec<Call> },
    /// The model is about to be asked what could be better next time.
    ReflectionBegun { turn: Id },
    /// The model is about to be asked; `claim` is taken out of the budget.
    ModelAsked { turn: Id, round: u32, model: String, claim: Claim, max_output: u64 },
    /// The same question is about to be asked once more.
    ModelRetried { turn: Id, attempt: u32, claim: Claim, max_output: u64 },
    /// The model replied, and whether that is an answer or calls to make.
    ModelReplied {
        turn: Id,
        reply: Arc<Reply>,
        usage: Option<Usage>,
        latency_ms: u64,
        #[serde(default, skip_serializing_if = "Completeness::is_whole")]
        completeness: Completeness,
    },
    /// The reply ended at the output limit, in its text or in a call, and what
    /// follows from that.
    AnswerTruncated {
        turn: Id,
        then: Sequel,
        #[serde(default)]
        in_call: bool,
    },
    /// The reply says nothing, and what follows from that.
    AnswerEmpty { turn: Id, then: Sequel },
    /// What the answer took out of the budget: as the provider says, or else
    /// all that was set aside.
    UsageCounted { turn: Id, used: Claim },
    /// The model did not answer, and what follows from that. Words it had
    /// already said are void, unless the turn ends with them.
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
    /// One more round is permitted: tools are not offered any more, and the
    /// model is told to answer.
    LastRoundBegun { turn: Id },
    /// The model made the same failing call again and again, and is told so.
    LoopNoticed { turn: Id, tool: String, times: u32 },
    /// A tool is about to be called; `lent` is what it may take out of the budget.
    ToolDispatched {
        call: Id,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lent: Option<Claim>,
    },
    /// What another ensemble used for a call.
    CallCharged { call: Id, spent: Spent },
    /// A call became a turn of its own.
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
    /// A call became a turn of another agent, the one of the task at `worker`.
    DelegationStarted { call: Id, worker: usize, task: String, system: Text, user: Text },
    /// That agent is done, or failed.
    DelegationEnded { call: Id, error: Option<String> },
    /// Nobody was handed anything.
    DelegationRefused { call: Id, role: String, reason: String },
    /// The call is over, whether a tool, a subtask or nobody did it.
    ToolReturned {
        call: Id,
        outcome: Outcome,
        duration_ms: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    },
    /// A call changed a file.
    FileChanged { call: Id, change: FileChange },
    /// Something waits for a person: until `due`, when `on_timeout` happens, or
    /// for as long as it takes.
    ReviewOpened {
        review: u32,
        turn: Id,
        timing: Timing,
        due: Option<Millis>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_timeout: Option<OnTimeout>,
    },
    /// A person's decision: the first one holds.
    ReviewDecided { review: u32, decision: Decision, by: String },
    /// Nobody decided in time.
    ReviewTimedOut { review: u32, action: OnTimeout },
    /// There is nothing to decide any more.
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
    /// Somebody has something to say to the agents.
    DirectiveGiven { directive: Directive },
    /// An agent reads it with its next model call.
    DirectiveDelivered { directive: u32, turn: Id, round: u32 },
    /// Every later model call of the run goes to this model.
    ModelSwitched { models: Vec<Arc<ModelInfo>>, previous: String, by: String },
    /// Somebody wants the run to stop.
    CancelRequested { mode: CancelMode, by: String },
    /// Nothing new is begun until the run is resumed.
    RunPaused { by: String },
    /// The run goes on.
    RunResumed { by: String },
    /// The next step would pass a limit.
    BudgetExceeded { breach: Breach },
    /// Something only turns of a chat have.
    Chat(chat::ChatEventKind),
    /// Nothing of this run happens any more.
    RunEnded { end: End },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Where a run's first events were taken from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// What belonged to the completed tasks of an ended run; the others are
    /// done again.
    Retry {
        /// That run.
        run: String,
    },
    /// Everything a run had recorded before `seq`.
    Fork {
        /// That run.
        run: String,
        /// The first of its events that was not taken.
        seq: u64,
    },
}

/// What holds from a fork on, where that is not what held before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edited {
    /// What is to be done; tasks that had begun are unchanged.
    pub spec: Arc<Spec>,
    /// The models that may be asked, besides those before.
    pub models: Models,
    /// The tools that may be called, besides those before.
    pub belt: Belt,
}

/// What follows a model's failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterFailure {
    /// It is asked again at this time.
    Retry {
        /// When.
        at: Millis,
    },
    /// Another model is asked.
    Fallback {
        /// Its alias.
        model: String,
    },
    /// It is asked again with a shorter history.
    Shorten,
    /// The turn fails.
    GiveUp,
}

/// What a call did to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// Which file, as the tool names it.
    pub file_path: String,
    /// What happened to it.
    pub change_type: ChangeType,
    /// Lines it has now and did not have.
    pub lines_added: u64,
    /// Lines it had and does not have now.
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

/// What a reviewer said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Decision {
    /// Go on.
    Continue,
    /// Go on with this output instead.
    Edit {
        /// The output that counts.
        output: Text,
    },
    /// Stop here; what there is stands.
    ExitEarly,
    /// Do it again.
    Reject {
        /// What should be better.
        feedback: Text,
    },
}

impl Decision {
    /// Bytes of the text it brings.
    pub fn bytes(&self) -> usize {
        match self {
            Decision::Edit { output: text } | Decision::Reject { feedback: text } => text.len(),
            Decision::Continue | Decision::ExitEarly => 0,
        }
    }
}

impl Decision {
    /// The word on the wire.
    pub fn word(&self) -> &'static str {
        match self {
            Decision::Continue => "CONTINUE",
            Decision::Edit { .. } => "EDIT",
            Decision::ExitEarly => "EXIT_EARLY",
            Decision::Reject { .. } => "REJECT",
        }
    }
}

/// Something said to the agents of a run while they work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    /// A task's name or an agent's role; everybody when absent.
    pub target: Option<String>,
    /// The words.
    pub content: Text,
    /// More important ones are read first.
    pub priority: Priority,
    /// Who says so.
    pub from: String,
    /// The name of the person or program in whose name it is said, by the word
    /// of `from` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// When it was given.
    pub created_at: Millis,
    /// When it stops mattering.
    pub expires_at: Option<Millis>,
}

impl Directive {
    /// The author as agents are told: the sender and in whose name it speaks.
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

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum End {
    /// It did what it could.
    Completed {
        /// Why no more was done.
        exit: Exit,
    },
    /// A task failed or a limit was reached.
    Failed {
        /// Why.
        error: String,
    },
    /// Somebody stopped it.
    Cancelled,
}

/// Why a completed run did no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Exit {
    /// Everything was done.
    Completed,
    /// A reviewer said it was enough.
    UserExitEarly,
    /// A review timed out.
    Timeout,
}

impl End {
    /// The run's status.
    pub fn status(&self) -> Status {
        self.into()
    }

    /// Why it ended, in the words of `ensemble_completed`.
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

    /// Whether it is about something that waits, or waited, for a person.
    pub fn is_of_review(&self) -> bool {
        matches!(
            self,
            EventKind::ReviewOpened { .. }
                | EventKind::ReviewDecided { .. }
                | EventKind::ReviewTimedOut { .. }
                | EventKind::ReviewClosed { .. }
        )
    }

    /// Every text that may be large, for the codec that stores those apart.
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

    /// The turn or call this is about; none for what concerns the whole run,
    /// and for what is known by a number of its own.
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
