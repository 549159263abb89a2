//! The shapes of what clients send, for `schemas/frames.json`. Frames are read
//! field by field, so that what is wrong can be named.
#![expect(dead_code, reason = "frames are read field by field")]

use consort_core::chat::{Answer, MessageRequest, Mode};
use consort_core::choice::{AnyCase, WORDS};
use consort_core::event::{CancelMode, Priority};
use consort_core::request::shape::RunRequest;
use consort_core::tier::Tier;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::runs::Action;
use super::state::Question;
use crate::routes::budget::BudgetRequest;
use crate::routes::list::RunsQuery;
use crate::routes::reviews::DecisionRequest;
use crate::ws::answer::Echo;
use consort_inbound::query::Page;

/// The types of a filter: in a frame it may be a list, or left out by a null.
const FILTER_TYPES: [&str; 5] = ["string", "number", "boolean", "array", "null"];

/// The id of a request.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct Asks {
    /// An id that is repeated in the answer.
    request_id: Option<Echo>,
}

/// The id of a request, in the spelling of the chat's frames.
#[derive(JsonSchema)]
struct AsksInChat {
    /// An id that is repeated in the answer.
    request_id: Option<Echo>,
}

/// Ask for a sign of life: the answer is `pong`.
#[derive(JsonSchema)]
pub(super) struct Ping {
    #[serde(flatten)]
    asks: Asks,
}

/// A key, for those who cannot send a header; a second one, or one beside a header, is refused.
#[derive(JsonSchema)]
pub(super) struct Auth {
    #[serde(flatten)]
    asks: Asks,
    /// The key.
    key: String,
}

/// Set the frames that are sent.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Subscribe {
    #[serde(flatten)]
    asks: Asks,
    /// The types of frames; all when absent.
    events: Option<Vec<String>>,
    /// Only frames of this run.
    run_id: Option<String>,
    /// The first event of the run that is wanted.
    from: Option<u64>,
}

/// Start a run; the fields of `POST /api/runs`.
#[derive(JsonSchema)]
pub(super) struct Run {
    #[serde(flatten)]
    asks: Asks,
    #[serde(flatten)]
    request: RunRequest,
}

/// Steer a run.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Control {
    #[serde(flatten)]
    asks: Asks,
    /// The run.
    run_id: String,
    /// The action.
    action: AnyCase<Action>,
    /// The alias to switch to.
    model: Option<String>,
    /// The task whose model calls are given up, or the role of its agent; all when absent.
    task: Option<String>,
    /// The limits to raise, which needs the scope `admin`.
    #[serde(flatten)]
    budget: BudgetRequest,
    /// The point at which it is cancelled; after_task when absent.
    mode: Option<AnyCase<CancelMode>>,
}

/// Decide a review; the fields of `POST /api/reviews/{id}`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Decide {
    #[serde(flatten)]
    asks: Asks,
    /// The review.
    review_id: String,
    #[serde(flatten)]
    request: DecisionRequest,
}

/// Send a directive to the agents, or choose a tier of models.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Direct {
    #[serde(flatten)]
    asks: Asks,
    /// The run; all that are under way when absent.
    run_id: Option<String>,
    /// The text.
    content: Option<String>,
    /// The ensemble, or a role or a task of it.
    to: Option<String>,
    /// The role or the task it is for; all when absent.
    target: Option<String>,
    /// The author. Where keys are needed the author is the name of the key, and this counts as `onBehalfOf`.
    from: Option<String>,
    /// The person in whose name it is said.
    on_behalf_of: Option<String>,
    /// The importance; NORMAL when absent.
    priority: Option<AnyCase<Priority>>,
    /// The time for which it holds, as in `PT10M`.
    ttl: Option<String>,
    /// SET_MODEL_TIER, to choose a tier instead of sending a text.
    action: Option<String>,
    /// The tier.
    value: Option<AnyCase<Tier>>,
}

/// Ask for the state of runs or of the server.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct StateQuery {
    #[serde(flatten)]
    asks: Asks,
    /// The subject of the question.
    query: AnyCase<Question>,
    /// The run, of run_detail.
    run_id: Option<String>,
    /// The runs wanted, as in the query of `GET /api/runs`.
    filter: Option<Filter>,
}

/// The filters of `GET /api/runs`, each with a value or a list of values.
pub(super) struct Filter;

impl Filter {
    /// Returns the filters by their names, as the query of `GET /api/runs` describes them.
    pub(super) fn fields(generator: &mut SchemaGenerator) -> Map<String, Value> {
        let queries = [RunsQuery::json_schema(generator), Page::json_schema(generator)];
        let properties = queries.into_iter().filter_map(|mut query| match query.remove("properties") {
            Some(Value::Object(properties)) => Some(properties),
            _ => None,
        });
        properties.flatten().collect()
    }
}

impl JsonSchema for Filter {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Filter".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let fields = Filter::fields(generator).into_iter().map(|(name, described)| {
            let mut field = json!({ "type": FILTER_TYPES, "items": { "type": ["string", "number"] } });
            for kept in ["description", WORDS] {
                if let Some((value, field)) = described.get(kept).zip(field.as_object_mut()) {
                    field.insert(kept.to_owned(), value.clone());
                }
            }
            (name, field)
        });
        json_schema!({ "type": "object", "properties": fields.collect::<Map<_, _>>() })
    }
}

/// Ask for shared capabilities.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct CapabilityQuery {
    #[serde(flatten)]
    asks: Asks,
    /// Only capabilities of this name.
    capability_name: Option<String>,
    /// Another name of `capabilityName`.
    tool_name: Option<String>,
    /// Only capabilities with this tag.
    tag: Option<String>,
    /// Only capabilities of this kind: TASK or TOOL.
    capability_type: Option<String>,
}

/// Send a message; the fields of `POST /api/threads/{id}/messages`.
#[derive(JsonSchema)]
pub(super) struct ChatMessage {
    #[serde(flatten)]
    asks: AsksInChat,
    /// The thread; a new one when absent.
    thread_id: Option<String>,
    #[serde(flatten)]
    request: MessageRequest,
}

/// Go on with the last answer, which was cut.
#[derive(JsonSchema)]
pub(super) struct ChatContinue {
    #[serde(flatten)]
    asks: AsksInChat,
    /// The thread.
    thread_id: String,
}

/// Stop the turn that runs.
#[derive(JsonSchema)]
pub(super) struct ChatStop {
    #[serde(flatten)]
    asks: AsksInChat,
    /// The thread.
    thread_id: String,
}

/// Follow a thread.
#[derive(JsonSchema)]
pub(super) struct ChatSubscribe {
    #[serde(flatten)]
    asks: AsksInChat,
    /// The thread.
    thread_id: String,
    /// The last number the client has; -1 when it has none, absent when it wants nothing that was missed.
    #[schemars(range(min = -1))]
    last_seq: Option<i64>,
}

/// Ask for the turns that run.
#[derive(JsonSchema)]
pub(super) struct ChatTurns {
    #[serde(flatten)]
    asks: AsksInChat,
}

/// Set the permission mode of a thread.
#[derive(JsonSchema)]
pub(super) struct SetPermissionMode {
    #[serde(flatten)]
    asks: AsksInChat,
    /// The thread.
    thread_id: String,
    /// The new mode.
    permission_mode: Option<Mode>,
    /// Another name of `permission_mode`.
    mode: Option<Mode>,
}

/// Allow a call, or not.
#[derive(JsonSchema)]
pub(super) struct ToolApproval {
    #[serde(flatten)]
    asks: AsksInChat,
    /// The id of the question.
    approval_id: String,
    /// The answer.
    decision: AnyCase<Answer>,
    /// The arguments to make the call with, in the place of the model's; only with `allow`.
    args: Option<Map<String, Value>>,
}

/// The tools a client offers.
#[derive(JsonSchema)]
pub(super) struct UiManifest {
    #[serde(flatten)]
    asks: AsksInChat,
    /// The tools.
    tools: Vec<OfferedTool>,
}

/// A tool that a client offers.
#[derive(JsonSchema)]
struct OfferedTool {
    /// Its name.
    name: String,
    /// The description for the model.
    description: Option<String>,
    /// A JSON Schema.
    parameters: Option<Value>,
}

/// The result of a client's tool.
#[derive(JsonSchema)]
pub(super) struct ToolResult {
    #[serde(flatten)]
    asks: AsksInChat,
    /// The call.
    tool_call_id: String,
    /// The result: a text, or anything else as JSON.
    result: Value,
    /// The thread, if it is known.
    thread_id: Option<String>,
    /// Whether it failed.
    is_error: Option<bool>,
}
