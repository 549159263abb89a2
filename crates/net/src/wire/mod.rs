//! The frames that ensembles exchange: one JSON object per frame, told apart by
//! `type`. Fields the seeds do not have (`ancestors`, `hops`, `budget`,
//! `schema`, …) are left out where they are empty, so that a peer that does not know them can be talked to.

mod request;
mod span;

use std::sync::Arc;

use consort_core::catalog::EffectClass;
use consort_core::json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use request::WEBSOCKET;
pub use request::{
    Accepted, Allowance, CachePolicy, Delivery, Progress, Response, Route, Spent, Status, TaskRequest, ToolRequest,
    TraceParent,
};
pub use span::Span;

/// One frame of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Frame {
    /// The introduction of the listening side.
    Hello(Hello),
    /// The introduction of the dialling side.
    PeerHello(#[serde(deserialize_with = "introduced")] Hello),
    /// A request for a shared task.
    TaskRequest(Box<TaskRequest>),
    /// A call of a shared tool.
    ToolRequest(Box<ToolRequest>),
    /// The acceptance of a task.
    TaskAccepted(Accepted),
    /// The progress of a task.
    TaskProgress(Progress),
    /// The result of a task.
    TaskResponse(Response),
    /// The result of a tool call.
    ToolResponse(Response),
    /// The withdrawal of a request.
    RequestCancel(RequestCancel),
    /// A query for shared capabilities.
    CapabilityQuery(CapabilityQuery),
    /// The answer to a query for shared capabilities.
    CapabilityResponse(CapabilityResponse),
    /// The load of the sender; also its sign of life.
    CapacityUpdate(CapacityUpdate),
    /// The report that a frame could not be processed.
    Error(Complaint),
    /// A frame that a link does not need.
    #[serde(other)]
    Other,
}

impl Frame {
    /// Parses a frame; one that a link does not need becomes [`Frame::Other`].
    pub fn read(text: &str) -> Result<Frame, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Parses a frame that came as a value; the error names the wrong field.
    pub fn check(sent: &Value) -> Result<Frame, String> {
        Frame::deserialize(sent).map_err(|error| wrong_field(sent).unwrap_or_else(|| error.to_string()))
    }

    /// Returns the frame as text.
    pub fn text(&self) -> String {
        json::text(self).unwrap_or_default()
    }
}

/// A capability that others may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capability {
    /// The name, unique in its ensemble.
    pub name: String,
    /// The description for the model.
    #[serde(default, deserialize_with = "or_default")]
    pub description: String,
    /// Tool or task.
    #[serde(rename = "type")]
    pub kind: CapabilityKind,
    /// Words that it is found by.
    #[serde(default, deserialize_with = "or_default")]
    pub tags: Vec<String>,
    /// The JSON Schema of its input; absent: the input is a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Arc<Value>>,
    /// The version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The effect of doing it twice; absent: it must not be done twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectClass>,
    /// The time it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// The kind of a shared capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CapabilityKind {
    /// An agent's work.
    Task,
    /// A call.
    Tool,
}

/// The first frame of each side of a link: it introduces itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The name of the ensemble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensemble: Option<String>,
    /// The group it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realm: Option<String>,
    /// The version of Consort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The capabilities that others may use.
    #[serde(default, deserialize_with = "or_default")]
    pub shared_capabilities: Vec<Capability>,
    /// The interval at which it reports that it is alive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// The size of the largest frame that it accepts, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_frame_bytes: Option<u64>,
}

/// Cancel a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestCancel {
    /// The id of the request.
    pub request_id: String,
}

/// The report of a faulty frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Complaint {
    /// The error code, as one word.
    #[serde(default)]
    pub code: String,
    /// The error as a sentence.
    #[serde(default)]
    pub message: String,
    /// The id of the request it concerns, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Complaint {
    /// Returns whether the sender will ignore all further frames.
    pub(crate) fn is_final(&self) -> bool {
        self.request_id.is_none() && ["FORBIDDEN", "UNAUTHORIZED"].contains(&self.code.as_str())
    }
}

/// Asks for what is shared; all given filters must match exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityQuery {
    /// An id that is repeated in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Only capabilities of this name.
    #[serde(default, alias = "toolName", skip_serializing_if = "Option::is_none")]
    pub capability_name: Option<String>,
    /// Only capabilities with this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Only capabilities of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability_type: Option<CapabilityKind>,
}

impl CapabilityQuery {
    /// Returns whether a capability matches the query.
    pub fn matches(&self, capability: &Capability) -> bool {
        self.capability_name.as_ref().is_none_or(|name| *name == capability.name)
            && self.tag.as_ref().is_none_or(|tag| capability.tags.contains(tag))
            && self.capability_type.is_none_or(|kind| kind == capability.kind)
    }
}

/// The shared capabilities that match a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityResponse {
    /// The id from the query, when it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The capabilities that match.
    pub capabilities: Vec<Capability>,
}

/// The load of an ensemble.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapacityUpdate {
    /// The name of the ensemble.
    pub ensemble: String,
    /// The group it belongs to.
    #[serde(default)]
    pub realm: Option<String>,
    /// Whether it accepts work.
    pub status: Availability,
    /// The part of its capacity that is taken, from 0 to 1.
    pub current_load: f64,
    /// The capacity: the number of requests it works on at the same time.
    pub max_concurrent: u64,
    /// Whether ensembles of other realms may use it.
    pub shareable: bool,
}

/// Whether an ensemble accepts work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// There is room.
    Available,
    /// Everything is taken; work waits.
    Busy,
    /// It is about to stop.
    Draining,
}

/// Returns the field of a frame that cannot be read, and
/// the reason: the errors of a tagged enum do not name it.
fn wrong_field(sent: &Value) -> Option<String> {
    fn find<'de, T: Deserialize<'de>>(sent: &'de Value) -> Option<String> {
        let error = serde_path_to_error::deserialize::<_, T>(sent).err()?;
        let field = error.path().to_string();
        Some(if field == "." { error.inner().to_string() } else { format!("`{field}`: {}", error.inner()) })
    }
    match sent.get("type").and_then(Value::as_str)? {
        "hello" => find::<Hello>(sent),
        "peer_hello" => find::<Hello>(sent).or_else(|| Some(NAMELESS.to_owned())),
        "task_request" => find::<TaskRequest>(sent),
        "tool_request" => find::<ToolRequest>(sent),
        "task_response" | "tool_response" => find::<Response>(sent),
        "task_progress" => find::<Progress>(sent),
        "capacity_update" => find::<CapacityUpdate>(sent),
        _ => None,
    }
}

/// The one thing wrong with a dialling side's hello that its type allows.
const NAMELESS: &str = "missing field `ensemble`";

/// Reads the hello of a side that dials, which must have a name to be called by.
fn introduced<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Hello, D::Error> {
    let hello = Hello::deserialize(from)?;
    if hello.ensemble.is_none() { Err(serde::de::Error::custom(NAMELESS)) } else { Ok(hello) }
}

/// Deserializes a value; an explicit `null` means the same as an absent field.
fn or_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

#[cfg(test)]
mod tests;
