//! The types that clients send to chats and are shown of them, for the description of the API.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use super::{IfBusy, Mode, Role};
use crate::projections::frame::chat::{Approval, ExecutionTree, RowCall};
use crate::projections::frame::field::Iso;
use consort_spec::message::Attached;
use consort_spec::text::Text;

/// A message.
#[derive(JsonSchema)]
#[schemars(rename = "Say")]
pub struct MessageRequest {
    /// The text.
    #[schemars(length(min = 1))]
    pub content: String,
    /// The alias of the model.
    pub model: Option<String>,
    /// `{kind: "editor", workflowId}`: the workflow that is open.
    pub chat_context: Option<ChatContext>,
    /// `workflow`: the workflow of `workflow_id` answers instead of the chat agent.
    pub workflow_target: Option<String>,
    /// The workflow that answers, or is open.
    pub workflow_id: Option<String>,
    /// The collections that are searched for the answer.
    pub collections: Option<Vec<String>>,
    /// The ids of files that were uploaded to `/api/attachments`, at most 20.
    pub attachments: Option<Vec<String>>,
    /// Whether facts about the user may be recalled and new ones stored.
    pub memory_enabled: Option<bool>,
    /// The permission mode: the calls that may be made without asking.
    pub permission_mode: Option<Mode>,
    /// The effect of the message while another turn runs.
    pub if_busy: Option<IfBusy>,
}

/// The context in which a person writes a message: a word, or an object.
pub struct ChatContext;

impl JsonSchema for ChatContext {
    fn schema_name() -> Cow<'static, str> {
        "ChatContext".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["object", "string"] })
    }
}

/// A row of a chat.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Message")]
pub struct MessageView {
    /// Its id.
    pub id: String,
    /// The role of the author.
    pub role: Role,
    /// The text.
    pub content: Text,
    /// The calls it asks for.
    pub tool_calls: Option<Vec<RowCall>>,
    /// The call it answers.
    pub tool_call_id: Option<String>,
    /// Whether a tool failed; in an assistant's row, whether the turn failed: then `content` ends with the reason.
    pub is_error: bool,
    /// The reason why the turn failed, in an assistant's row.
    pub error: Option<Text>,
    /// Whether it is an answer that was cut at the output limit; the last one can be continued.
    pub truncated: bool,
    /// The id of the row it goes on with, which was cut.
    pub continues: Option<String>,
    /// The files that the user attached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attached>,
    /// Its turn.
    pub turn_id: String,
    /// The calls of the turn.
    #[schemars(with = "Option<ExecutionTree>")]
    pub execution_tree: Option<Value>,
    /// When it was stored.
    pub created_at: Iso,
}

/// A call of a chat that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Approval")]
pub struct PendingApproval {
    /// The call.
    #[serde(flatten)]
    pub approval: Approval,
    /// Its thread.
    pub thread_id: String,
    /// Its turn.
    pub turn_id: String,
}
