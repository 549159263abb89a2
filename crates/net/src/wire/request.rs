//! The frames of one request: requested, accepted, in progress, done.

use consort_core::message::{self, Usage};
use consort_core::queue::Priority;
use consort_tools as tool;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

use super::{Span, or_default};
use crate::limits::{ANCESTORS_MAX, REQUEST_NAME_MAX};

/// Request a shared task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskRequest {
    /// The id of the request, unique to this intent: the same request is never done twice.
    #[serde(deserialize_with = "named")]
    pub request_id: String,
    /// The name of the ensemble that asks.
    #[serde(deserialize_with = "named")]
    pub from: String,
    /// The name of the task.
    pub task: String,
    /// Context for the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The priority in the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// The time the asker waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
    /// The destination of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// The trace this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_context: Option<TraceParent>,
    /// Whether an earlier answer may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_policy: Option<CachePolicy>,
    /// The key under which earlier answers are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_key: Option<String>,
    /// The time for which the answer may be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age: Option<Span>,
    /// The path by which it came here.
    #[serde(flatten)]
    pub route: Route,
}

/// Call a shared tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolRequest {
    /// The id of the request, unique to this intent: the same request is never done twice.
    #[serde(deserialize_with = "named")]
    pub request_id: String,
    /// The name of the ensemble that asks.
    #[serde(deserialize_with = "named")]
    pub from: String,
    /// The name of the tool.
    pub tool: String,
    /// The input of the call: a text, or an object that fits its schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The time the asker waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
    /// The trace this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_context: Option<TraceParent>,
    /// The path by which it came here.
    #[serde(flatten)]
    pub route: Route,
}

/// The path by which a request came here, and the limits on its further way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Route {
    /// The ensembles it came through, the first one first.
    #[serde(default, deserialize_with = "way", skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<String>,
    /// The number of further ensembles it may pass through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// The amounts it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Allowance>,
    /// Whether it was sent before: then it is not begun if it is not known.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_false")]
    pub resumed: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Deserializes a name, which must be neither blank nor too long.
fn named<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    if name.trim().is_empty() {
        return Err(de::Error::custom("it must not be blank"));
    }
    if name.len() > REQUEST_NAME_MAX {
        return Err(de::Error::custom(format!("it has more than {REQUEST_NAME_MAX} bytes")));
    }
    Ok(name)
}

/// Deserializes the ensembles that a request has passed through, of which there must not be too many.
fn way<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let ancestors: Vec<String> = or_default(from)?;
    if ancestors.len() > ANCESTORS_MAX {
        return Err(de::Error::custom(format!("it names more than {ANCESTORS_MAX} ensembles")));
    }
    if ancestors.iter().any(|name| name.len() > REQUEST_NAME_MAX) {
        return Err(de::Error::custom(format!("a name has more than {REQUEST_NAME_MAX} bytes")));
    }
    Ok(ancestors)
}

/// The amounts that a request may use; absent: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Allowance {
    /// Tokens, read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The cost, in billionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_nano_usd: Option<u64>,
}

/// The delivery method over the link of the request.
pub(crate) const WEBSOCKET: &str = "WEBSOCKET";

/// The destination of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// The method: only `WEBSOCKET`, the link itself, is offered here.
    pub method: String,
    /// The address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// W3C trace context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceParent {
    /// The span of the request.
    pub traceparent: String,
    /// The additions of vendors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
}

/// Whether an earlier answer may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CachePolicy {
    /// It will.
    UseCached,
    /// It will not.
    ForceFresh,
}

/// The request was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// The id of the request.
    pub request_id: String,
    /// The number of requests before it in the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<u64>,
    /// The time it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_completion: Option<Span>,
}

/// The progress of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The id of the request.
    pub request_id: String,
    /// The progress as one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The progress as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The progress in percent, from 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 100))]
    pub percent_complete: Option<u8>,
}

impl From<Progress> for tool::Progress {
    fn from(progress: Progress) -> tool::Progress {
        let Progress { status, message, percent_complete, .. } = progress;
        tool::Progress { status, message, percent: percent_complete.map(|percent| percent.min(100)) }
    }
}

/// The result of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// The id of the request.
    pub request_id: String,
    /// The final status.
    pub status: Status,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The reason why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Whether it may have had an effect although there is no result.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unknown: bool,
    /// The usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Spent>,
    /// Whether the result was cut at the output limit of a model and accepted as it is.
    #[serde(default, skip_serializing_if = "is_false")]
    pub truncated: bool,
}

impl Response {
    /// Returns a response with nothing but a status.
    pub fn new(request_id: &str, status: Status) -> Response {
        let request_id = request_id.to_owned();
        Response {
            request_id,
            status,
            result: None,
            error: None,
            duration_ms: None,
            unknown: false,
            usage: None,
            truncated: false,
        }
    }

    /// Returns the response for a request that is not accepted.
    pub fn rejected(request_id: &str, why: impl Into<String>) -> Response {
        Response { error: Some(why.into()), ..Response::new(request_id, Status::Rejected) }
    }

    /// Returns the response for an id that belongs to another request.
    pub(crate) fn taken(request_id: &str) -> Response {
        Response::rejected(request_id, format!("the request id {request_id} was used for another request"))
    }

    /// Returns the response for a request that failed.
    pub fn failed(request_id: &str, why: impl Into<String>) -> Response {
        Response { error: Some(why.into()), ..Response::new(request_id, Status::Failed) }
    }
}

/// The end of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// It completed.
    Completed,
    /// It failed.
    Failed,
    /// It was not accepted.
    Rejected,
    /// It has not ended: it was asked for before and is under way.
    InProgress,
    /// With a word that is not known here.
    #[serde(other)]
    #[schemars(skip)]
    Other,
}

/// The usage of the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Spent {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// The cost of the input, in billionths of a dollar.
    pub input_cost_nano_usd: u64,
    /// The cost of the output, in billionths of a dollar.
    pub output_cost_nano_usd: u64,
}

impl From<message::Spent> for Spent {
    fn from(spent: message::Spent) -> Spent {
        Spent {
            input_tokens: spent.usage.input,
            output_tokens: spent.usage.output,
            input_cost_nano_usd: spent.input_cost,
            output_cost_nano_usd: spent.output_cost,
        }
    }
}

impl From<Spent> for message::Spent {
    fn from(spent: Spent) -> message::Spent {
        let usage = Usage { input: spent.input_tokens, output: spent.output_tokens, ..Usage::default() };
        message::Spent { usage, input_cost: spent.input_cost_nano_usd, output_cost: spent.output_cost_nano_usd }
    }
}
