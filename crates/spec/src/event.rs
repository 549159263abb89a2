//! The events of a run, which are the only thing that is stored. An event's number is its position in the
//! run's stream, from 0, so it is not part of the event. No event repeats data that an earlier one holds.

mod field;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::VariantNames;

use crate::answer::{Completeness, FollowUp};
use crate::cause::{Cause, SkipCause};
use crate::chat::{self, ChatEventKind};
use crate::chore::Chore;
use crate::id::{Id, Millis};
use crate::limits::{Breach, Claim, Limits};
use crate::message::{Call, Failure, Outcome, Part, Reply, Spent, Usage};
use crate::owner::Owner;
use crate::requests::catalog::{Belt, ModelInfo, Models, ToolInfo};
use crate::requests::spec::{OnTimeout, Spec};
use crate::schema::Schema;
use crate::text::Text;
pub use field::{
    AdoptReason, Adoption, AfterFailure, CancelMode, ChangeType, Decision, Directive, Edited, EditedOutput, End,
    Evaluated, Exit, FileChange, Key, Origin, Priority, Subject, Timing,
};

/// The newest version of events, which this program writes where everybody who shares the log reads it. It is
/// raised whenever an earlier program would misread what this one writes: a new kind of event, or a field without
/// which the event means something else; [`EventKind::since`] then says so. 1: the first edition. 3: edited outputs.
pub const VERSION: u32 = 3;

/// The version of a run that does not say one, and of everything else that is stored.
pub const COMMON_VERSION: u32 = 2;

/// The version in which a fork can edit outputs.
const EDITED_OUTPUTS: u32 = 3;

/// Something that happened in a run, and when it was decided. `at` never decreases within a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct Event {
    /// The time of the decision.
    pub at: Millis,
    /// The kind of event, with its data. Logs call it `fact`.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "fields are named after the types that document them")]
pub enum EventKind {
    /// The run was accepted. The models and tools it may use are stored with it, so an upgrade does not change
    /// them. `copied` is the number of events, from this one on, that were copied from another run. `version` is
    /// the one its events keep to, so that every node that was there when it was accepted can take it over.
    RunAccepted {
        ensemble_id: String,
        spec: Arc<Spec>,
        models: Models,
        belt: Belt,
        #[serde(default, skip_serializing_if = "is_zero")]
        copied: u64,
        #[serde(default, skip_serializing_if = "Owner::is_local")]
        owner: Owner,
        #[serde(default = "common_version", skip_serializing_if = "is_common_version")]
        version: u32,
    },
    /// A process took ownership of the run; calls that the previous owner had under way are orphaned.
    RunAdopted {
        epoch: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<AdoptReason>,
    },
    /// The events before this one are the record of another run; from here on the run does work of its own,
    /// with a budget of its own.
    RunForked {
        origin: Origin,
        edited: Option<Box<Edited>>,
        /// The outputs that differ from the record.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        outputs: Vec<EditedOutput>,
    },
    /// The run's first task is about to begin.
    RunStarted,
    /// The tools that a task's names for other providers' tools resolve to at this moment.
    BeltComposed { task: usize, tools: Vec<Arc<ToolInfo>> },
    /// An expression was evaluated, which happens once; everything that follows from it follows from this.
    ExpressionEvaluated { of: Subject, key: Key, result: Evaluated },
    /// A task began.
    TaskStarted {
        #[serde(rename = "turn")]
        conversation: Id,
    },
    /// The opening messages of the conversation with the model were written.
    PromptBuilt {
        #[serde(rename = "turn")]
        conversation: Id,
        system: Text,
        user: Text,
    },
    /// The run itself makes calls for a task.
    ChoreBegun {
        #[serde(rename = "turn")]
        conversation: Id,
        chore: Chore,
        calls: Vec<Call>,
    },
    /// The model is about to be asked for suggestions for the next run.
    ReflectionBegun {
        #[serde(rename = "turn")]
        conversation: Id,
    },
    /// The model is about to be asked; `claim` is taken out of the budget.
    ModelAsked {
        #[serde(rename = "turn")]
        conversation: Id,
        round: u32,
        model: String,
        claim: Claim,
        max_output: u64,
    },
    /// The same question is about to be asked once more.
    ModelRetried {
        #[serde(rename = "turn")]
        conversation: Id,
        attempt: u32,
        claim: Claim,
        max_output: u64,
    },
    /// The model replied, with an answer or with calls to make.
    ModelReplied {
        #[serde(rename = "turn")]
        conversation: Id,
        reply: Arc<Reply>,
        usage: Option<Usage>,
        latency_ms: u64,
        #[serde(default, skip_serializing_if = "Completeness::is_whole")]
        completeness: Completeness,
    },
    /// The reply ended at the output limit, in its text or in a call; holds the step that follows.
    AnswerTruncated {
        #[serde(rename = "turn")]
        conversation: Id,
        then: FollowUp,
        #[serde(default)]
        in_call: bool,
    },
    /// The reply is empty; holds the step that follows.
    AnswerEmpty {
        #[serde(rename = "turn")]
        conversation: Id,
        then: FollowUp,
    },
    /// The amount that the answer took out of the budget: the provider's count, or else the whole amount set
    /// aside.
    UsageCounted {
        #[serde(rename = "turn")]
        conversation: Id,
        used: Claim,
    },
    /// The model did not answer; holds the step that follows. Text it had already sent is discarded, unless the
    /// conversation ends with it.
    ModelFailed {
        #[serde(rename = "turn")]
        conversation: Id,
        failure: Failure,
        then: AfterFailure,
        #[serde(default, skip_serializing_if = "Text::is_empty")]
        said: Text,
    },
    /// The oldest exchanges no longer fit and are not sent any more.
    HistoryDropped {
        #[serde(rename = "turn")]
        conversation: Id,
        exchanges: usize,
    },
    /// The answer breaks its schema and is sent back.
    OutputRejected {
        #[serde(rename = "turn")]
        conversation: Id,
        violations: Vec<String>,
    },
    /// One more round is permitted: tools are not offered any more, and the model is asked to answer.
    LastRoundBegun {
        #[serde(rename = "turn")]
        conversation: Id,
    },
    /// The model repeated the same failing call several times, and is notified of that.
    LoopNoticed {
        #[serde(rename = "turn")]
        conversation: Id,
        tool: String,
        times: u32,
    },
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
    FinishDemanded {
        #[serde(rename = "turn")]
        conversation: Id,
    },
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
        #[serde(rename = "turn")]
        conversation: Id,
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
    /// The task has its output. A task with instances has the outputs of those.
    TaskCompleted {
        #[serde(rename = "turn")]
        conversation: Id,
    },
    /// The task gave up or was stopped.
    TaskFailed {
        #[serde(rename = "turn")]
        conversation: Id,
        reason: String,
        cancelled: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    },
    /// The task will not run.
    TaskSkipped {
        #[serde(rename = "turn")]
        conversation: Id,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<SkipCause>,
    },
    /// A person or program sent a message to the agents.
    DirectiveGiven { directive: Directive },
    /// A directive is part of an agent's next model call.
    DirectiveDelivered {
        directive: u32,
        #[serde(rename = "turn")]
        conversation: Id,
        round: u32,
    },
    /// Every later model call of the run goes to this model.
    ModelSwitched { models: Vec<Arc<ModelInfo>>, previous: String, by: String },
    /// A person or program asked for the run to stop.
    CancelRequested { mode: CancelMode, by: String },
    /// Nothing new is begun until the run is resumed.
    RunPaused { by: String },
    /// The run goes on.
    RunResumed { by: String },
    /// Some of the run's limits were raised; these hold from now on.
    BudgetRaised { limits: Limits, by: String },
    /// The next step would pass a limit.
    BudgetExceeded { breach: Breach },
    /// An event that only a chat's turns have.
    Chat(ChatEventKind),
    /// The run ended; no event follows.
    RunEnded { end: End },
}

fn common_version() -> u32 {
    COMMON_VERSION
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_common_version(version: &u32) -> bool {
    *version == COMMON_VERSION
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl EventKind {
    /// Returns the event of a call that ends at once, of which only the outcome is known.
    pub fn returned(call: &Id, outcome: Outcome) -> EventKind {
        EventKind::ToolReturned { call: call.clone(), outcome, duration_ms: 0, cause: None }
    }

    /// Returns the first version that has this event.
    pub fn since(&self) -> u32 {
        let edits_outputs = matches!(self, EventKind::RunForked { outputs, .. } if !outputs.is_empty());
        if edits_outputs { EDITED_OUTPUTS } else { COMMON_VERSION }
    }

    /// Returns the ids of the files that it names.
    pub fn attachments(&self) -> Vec<&str> {
        if let EventKind::RunAccepted { spec, .. } = self {
            return spec.attachments().into_iter().collect();
        }
        if let EventKind::RunForked { edited: Some(edited), .. } = self {
            return edited.spec.attachments().into_iter().collect();
        }
        let shown = if let EventKind::ToolReturned { outcome, .. } = self { outcome.files() } else { &[] };
        shown.iter().map(|file| file.id.as_str()).collect()
    }

    /// Returns whether the event belongs to something that waits, or waited, for a person.
    pub fn is_of_question(&self) -> bool {
        matches!(
            self,
            EventKind::ReviewOpened { .. }
                | EventKind::ReviewDecided { .. }
                | EventKind::ReviewTimedOut { .. }
                | EventKind::ReviewClosed { .. }
                | EventKind::Chat(ChatEventKind::ApprovalAsked { .. } | ChatEventKind::ApprovalAnswered { .. })
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
            EventKind::RunForked { outputs, .. } => outputs.iter_mut().map(|edited| &mut edited.output).collect(),
            EventKind::RunAccepted { spec, .. } if spec.chat.is_some() => {
                Arc::make_mut(spec).chat.iter_mut().flat_map(chat::Turn::texts_mut).collect()
            }
            EventKind::ToolReturned { outcome: Outcome::Unknown { .. } | Outcome::Subtask, .. }
            | EventKind::ReviewDecided { decision: Decision::Continue | Decision::ExitEarly, .. }
            | EventKind::RunAccepted { .. }
            | EventKind::RunAdopted { .. }
            | EventKind::RunStarted
            | EventKind::BeltComposed { .. }
            | EventKind::ExpressionEvaluated { .. }
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
            | EventKind::BudgetRaised { .. }
            | EventKind::BudgetExceeded { .. }
            | EventKind::Chat(_)
            | EventKind::RunEnded { .. } => Vec::new(),
        }
    }

    /// Returns the id of the task, subtask or call that the event belongs to; none for an event of the whole
    /// run, and for one whose subject has a number of its own.
    pub fn place(&self) -> Option<&Id> {
        match self {
            EventKind::ExpressionEvaluated { of: Subject::Task { conversation }, .. }
            | EventKind::TaskStarted { conversation }
            | EventKind::PromptBuilt { conversation, .. }
            | EventKind::ChoreBegun { conversation, .. }
            | EventKind::ReflectionBegun { conversation }
            | EventKind::ModelAsked { conversation, .. }
            | EventKind::ModelRetried { conversation, .. }
            | EventKind::ModelReplied { conversation, .. }
            | EventKind::AnswerTruncated { conversation, .. }
            | EventKind::AnswerEmpty { conversation, .. }
            | EventKind::UsageCounted { conversation, .. }
            | EventKind::ModelFailed { conversation, .. }
            | EventKind::HistoryDropped { conversation, .. }
            | EventKind::OutputRejected { conversation, .. }
            | EventKind::LastRoundBegun { conversation }
            | EventKind::LoopNoticed { conversation, .. }
            | EventKind::FinishDemanded { conversation }
            | EventKind::ReviewOpened { conversation, .. }
            | EventKind::TaskCompleted { conversation }
            | EventKind::TaskFailed { conversation, .. }
            | EventKind::TaskSkipped { conversation, .. }
            | EventKind::DirectiveDelivered { conversation, .. } => Some(conversation),
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
            | EventKind::ExpressionEvaluated { of: Subject::Group { .. }, .. }
            | EventKind::ReviewDecided { .. }
            | EventKind::ReviewTimedOut { .. }
            | EventKind::ReviewClosed { .. }
            | EventKind::DirectiveGiven { .. }
            | EventKind::ModelSwitched { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::RunPaused { .. }
            | EventKind::RunResumed { .. }
            | EventKind::BudgetRaised { .. }
            | EventKind::BudgetExceeded { .. }
            | EventKind::Chat(_)
            | EventKind::RunEnded { .. } => None,
        }
    }
}
