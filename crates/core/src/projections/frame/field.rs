//! The fields that frames of a run have in common, and the words in them.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

use crate::frame::schema::NULLABLE;
use crate::projections::view::is_false;
use crate::state::budget::Reason;
use consort_spec::event::{AfterFailure, Decision, End, Exit, Timing};
use consort_spec::spec::OnTimeout;
use consort_spec::text::Text;
pub use consort_spec::time::Iso;
use strum::IntoStaticStr;

/// A field that chats write as `null` where runs leave it out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Nullable<T> {
    /// Not written.
    #[default]
    #[serde(skip)]
    Absent,
    /// Written as `null`.
    Null,
    /// Written.
    Value(T),
}

impl<T> Nullable<T> {
    /// Returns whether the field is left out.
    pub fn is_absent(&self) -> bool {
        matches!(self, Nullable::Absent)
    }

    /// Returns the value, if there is one.
    pub fn as_option(&self) -> Option<&T> {
        if let Nullable::Value(value) = self { Some(value) } else { None }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Nullable<T>, D::Error> {
        let value = Option::<T>::deserialize(deserializer)?;
        Ok(value.map_or(Nullable::Null, Nullable::Value))
    }
}

impl<T: JsonSchema> JsonSchema for Nullable<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Nullable{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Option::<T>::json_schema(generator);
        schema.insert(NULLABLE.to_owned(), true.into());
        schema
    }
}

/// The conversation that a frame belongs to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationPlace {
    /// The number of the task, from 1.
    pub task_index: usize,
    /// The role of the agent.
    pub agent_role: String,
    /// The description of the task.
    pub task_description: String,
    /// The place of the task or subtask in the run, such as `2` or `2.0.1`; `2r1i7` is the instance for item 7 in round 1.
    pub turn_id: String,
    /// The index of the item that the task is done for, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
    /// The round of its group, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
}

/// The task that a frame belongs to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskPlace {
    /// The conversation.
    #[serde(flatten)]
    pub conversation: ConversationPlace,
    /// The name of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_name: Option<String>,
}

/// The model call that a frame belongs to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelCall {
    /// The conversation.
    #[serde(flatten)]
    pub conversation: ConversationPlace,
    /// The round of the conversation, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration_index: Option<u32>,
    /// The alias of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A task, as it was declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeclaredTask {
    /// Its number, from 1.
    pub task_index: usize,
    /// Its name.
    pub name: String,
    /// The role of its agent.
    pub agent_role: String,
    /// The numbers of the tasks it reads from.
    pub context: Vec<usize>,
    /// The condition under which it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The list of items for each of which it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<String>,
}

/// A group of tasks, as it was declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeclaredGroup {
    /// Its name.
    pub name: String,
    /// The numbers of its tasks, from 1.
    pub tasks: Vec<usize>,
    /// The condition under which they are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The list of items for each of which they are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<String>,
    /// The condition that ends their rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat_until: Option<String>,
    /// The number of rounds they may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rounds: Option<u32>,
}

/// A run and the first of its events that was not copied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForkedFrom {
    /// The run.
    pub run_id: String,
    /// The number of the event.
    pub seq: u64,
}

/// A message that a model is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quoted {
    /// The role of the author.
    pub role: QuotedRole,
    /// The text.
    pub content: Option<Text>,
    /// The calls it asks for.
    pub tool_calls: Option<Vec<ToolRequest>>,
    /// The tool that answers.
    pub tool_name: Option<String>,
}

/// The speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuotedRole {
    /// The instructions.
    System,
    /// The person, or the run on behalf of one.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// A call that a model asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolRequest {
    /// The tool.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: Text,
}

/// The kind of a model's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ResponseType {
    /// It answers.
    FinalAnswer,
    /// It wants tools called.
    ToolCalls,
}

/// The end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CallOutcome {
    /// It worked.
    Success,
    /// It failed, or nobody knows whether it worked.
    Failure,
}

/// The reason for a failed call, where programs should know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CallError {
    /// The tool took longer than its own limit.
    ToolTimeout,
}

/// The step after a model's failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Then {
    /// The model is asked again.
    Retry {
        /// The time.
        at: Iso,
    },
    /// Another model is asked.
    Fallback {
        /// Its alias.
        model: String,
    },
    /// The model is asked again with a shorter history.
    Shorten,
    /// The task fails.
    GiveUp,
}

impl From<&AfterFailure> for Then {
    fn from(then: &AfterFailure) -> Then {
        match then {
            AfterFailure::Retry { at } => Then::Retry { at: Iso(*at) },
            AfterFailure::Fallback { model } => Then::Fallback { model: model.clone() },
            AfterFailure::Shorten => Then::Shorten,
            AfterFailure::GiveUp => Then::GiveUp,
        }
    }
}

/// Work that one agent hands to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delegation {
    /// The call that handed it over.
    pub delegation_id: String,
    /// The role of the agent that handed it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegating_agent_role: Option<String>,
    /// The role of the agent that does it.
    pub worker_role: String,
}

/// A review that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// The task; its description is the question, where an agent asks one.
    #[serde(flatten)]
    pub task: TaskPlace,
    /// The id to decide it by.
    pub review_id: String,
    /// The output that is reviewed; empty before the task.
    pub task_output: Text,
    /// Whether that output was cut at the output limit and accepted as it is.
    #[serde(default, skip_serializing_if = "is_false")]
    pub truncated: bool,
    /// Before, while or after the task is done.
    pub timing: Timing,
    /// The time for which it waits; 0 means without limit.
    pub timeout_ms: u64,
    /// The step that follows when nobody decides in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// When it was asked for.
    pub created_at: Iso,
    /// When it stops waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Iso>,
    /// The question of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The answers to choose from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
}

/// The word for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum DecisionWord {
    /// The run goes on.
    Continue,
    /// The run goes on with another output.
    Edit,
    /// The run ends here.
    ExitEarly,
    /// The task is done again.
    Reject,
}

impl DecisionWord {
    /// Returns the word, as `serde` writes it.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

impl From<&Decision> for DecisionWord {
    fn from(decision: &Decision) -> DecisionWord {
        match decision {
            Decision::Continue => DecisionWord::Continue,
            Decision::Edit { .. } => DecisionWord::Edit,
            Decision::ExitEarly => DecisionWord::ExitEarly,
            Decision::Reject { .. } => DecisionWord::Reject,
        }
    }
}

/// A limit that the next step would pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exceeded {
    /// The limit.
    pub reason: Reason,
    /// The limit; US dollars where it is money.
    pub limit: Amount,
    /// The amount that the step would have reached.
    pub observed: Amount,
}

/// A count, or an amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(with = "f64")]
pub enum Amount {
    /// A count.
    Count(u64),
    /// US dollars.
    Usd(f64),
}

/// The reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ExitReason {
    /// Everything was done.
    Completed,
    /// A reviewer ended it.
    UserExitEarly,
    /// A review timed out.
    Timeout,
    /// It failed.
    Error,
    /// It was stopped.
    Cancelled,
}

impl From<&End> for ExitReason {
    fn from(end: &End) -> ExitReason {
        match end {
            End::Completed { exit: Exit::Completed } => ExitReason::Completed,
            End::Completed { exit: Exit::UserExitEarly } => ExitReason::UserExitEarly,
            End::Completed { exit: Exit::Timeout } => ExitReason::Timeout,
            End::Failed { .. } => ExitReason::Error,
            End::Cancelled => ExitReason::Cancelled,
        }
    }
}

/// The number of characters of a prompt quoted in the frame of a task's input.
const PROMPT_CHARS_MAX: usize = 8000;

/// Returns a prompt as frames quote it.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(PROMPT_CHARS_MAX) {
        Some((at, _)) => format!("{}... [truncated]", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
