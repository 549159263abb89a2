//! The frames of a socket itself: what the server answers and tells beside the
//! frames of events. `schemas/frames.json` is made from them.

mod failure;
mod runs;

use consort_core::chat::Mode;
use consort_core::frame::field::Iso;
use consort_core::id::Millis;
use consort_core::json;
use consort_net::wire::Capability;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::routes::reviews::Decided;
use crate::routes::steer::Applied;

pub(crate) use failure::Failure;
pub(crate) use runs::{ControlStatus, Controlled, Directed, Given, Refused, RunAck, RunAckStatus};

/// A frame of the socket itself. What is absent is left out.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The first frame: the current state.
    Hello(#[schemars(with = "WholeHello")] Box<Hello>),
    /// The server is there.
    #[serde(rename_all = "camelCase")]
    Heartbeat {
        /// The time of the server's clock.
        server_time_ms: Millis,
    },
    /// An error: of a frame, or about frames that cannot be shown any more.
    Error(Box<Failure>),
    /// The answer to `ping`.
    Pong(Asked),
    /// The key was accepted.
    AuthAck {
        #[serde(flatten)]
        asked: Asked,
        /// The name of the key.
        name: String,
    },
    /// The subscription that holds from now on.
    #[serde(rename_all = "camelCase")]
    SubscribeAck {
        #[serde(flatten)]
        asked: Asked,
        /// The types of frames; `*` is all of them.
        events: Vec<String>,
        /// Only frames of this run.
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<String>,
    },
    /// The answer to `run_request`.
    RunAck(Box<RunAck>),
    /// The answer to `run_control`.
    #[serde(rename_all = "camelCase")]
    RunControlAck {
        #[serde(flatten)]
        asked: Asked,
        /// The run.
        run_id: String,
        /// The action that was asked for.
        action: String,
        #[serde(flatten)]
        outcome: Controlled,
    },
    /// The answer to `state_query`, as over HTTP.
    StateResponse {
        #[serde(flatten)]
        asked: Asked,
        /// The body of the HTTP answer.
        #[schemars(with = "Map<String, Value>")]
        data: Value,
    },
    /// The decision was accepted.
    ReviewDecisionAck {
        #[serde(flatten)]
        asked: Asked,
        #[serde(flatten)]
        decided: Decided,
    },
    /// The answer to `directive`.
    DirectiveAck {
        #[serde(flatten)]
        asked: Asked,
        #[serde(flatten)]
        outcome: Directed,
    },
    /// A tier of models was chosen; no event of a run.
    #[serde(rename_all = "camelCase")]
    DirectiveActive {
        /// The directive.
        directive_id: String,
        /// The name of the key, where keys are needed.
        from: String,
        /// The action.
        action: String,
        /// The tier.
        value: String,
        /// The person that the sender says it speaks for.
        #[serde(skip_serializing_if = "Option::is_none")]
        on_behalf_of: Option<String>,
    },
    /// The shared capabilities.
    CapabilityResponse {
        #[serde(flatten)]
        asked: Asked,
        /// The ensemble that shares it.
        ensemble: String,
        /// The capabilities that match.
        capabilities: Vec<Capability>,
    },
    /// A message was accepted.
    ChatAck {
        #[serde(flatten)]
        asked: AskedInChat,
        /// The thread.
        thread_id: String,
        /// The turn.
        turn_id: String,
        /// The number of its first frame, when it has begun.
        #[serde(skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
        /// The number of messages before it in the queue, when it waits.
        #[serde(skip_serializing_if = "Option::is_none")]
        queue_position: Option<usize>,
    },
    /// A turn will stop.
    ChatStopped {
        #[serde(flatten)]
        asked: AskedInChat,
        /// The thread.
        thread_id: String,
        /// The turn.
        turn_id: String,
    },
    /// The missed frames follow.
    ChatResumed {
        #[serde(flatten)]
        asked: AskedInChat,
        /// The thread.
        thread_id: String,
        /// Whether a turn runs.
        status: ThreadStatus,
        /// The number of its last frame; null where it has none yet.
        last_seq: Option<u64>,
        /// The turn that runs.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
    },
    /// The turns that run.
    ChatTurns {
        #[serde(flatten)]
        asked: AskedInChat,
        /// The turns, each with its status.
        turns: Vec<RunningTurn>,
    },
    /// The permission mode of a thread.
    PermissionMode {
        #[serde(flatten)]
        asked: AskedInChat,
        /// The thread.
        thread_id: String,
        /// The mode that holds from now on.
        permission_mode: Mode,
    },
    /// The answer was accepted.
    ToolApprovalAck {
        #[serde(flatten)]
        asked: AskedInChat,
        /// The id of the question.
        approval_id: String,
        /// The answer.
        decision: String,
        /// The change is applied.
        status: Applied,
    },
    /// The result of a tool was accepted, and fields of its frame were ignored; without such there is no answer.
    ToolResultAck(AskedInChat),
    /// The tools are known.
    UiManifestAck {
        #[serde(flatten)]
        asked: AskedInChat,
        /// Their names.
        tools: Vec<String>,
    },
}

impl Answer {
    /// Returns the frame as it is sent.
    pub(crate) fn text(&self) -> String {
        // A frame holds nothing that JSON cannot write.
        json::text(self).unwrap_or_default()
    }
}

/// The id that a client gave its request: text or a number.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Echo(Value);

impl Echo {
    /// Returns the field of this name, if it is text or a number.
    pub(crate) fn of(frame: &Value, name: &str) -> Option<Echo> {
        match frame.get(name)? {
            id @ (Value::String(_) | Value::Number(_)) => Some(Echo(id.clone())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

impl JsonSchema for Echo {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Echo".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"] })
    }
}

/// The request that is answered.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asked {
    /// The id from the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<Echo>,
    /// The fields of the request that were ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

/// The request that is answered, in the spelling of the chat's frames.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AskedInChat {
    /// The id from the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<Echo>,
    /// The fields of the request that were ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

/// Everything in `hello` but the lists that may be long.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hello {
    /// The id of the newest run's execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ensemble_id: Option<String>,
    /// When that started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<Iso>,
    /// The name of this ensemble.
    pub(crate) ensemble: String,
    /// The group it belongs to.
    pub(crate) realm: Option<String>,
    /// The version of Consort.
    pub(crate) version: String,
    /// The capabilities that others may use.
    pub(crate) shared_capabilities: Vec<Capability>,
    /// The interval at which it reports that it is alive.
    pub(crate) lease_ms: u64,
    /// The size of the largest frame that is accepted here, in bytes.
    pub(crate) max_frame_bytes: usize,
    /// Whether something was left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated: bool,
}

/// `hello` with its lists: their frames are JSON already when it is written.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is written part by part")]
struct WholeHello {
    #[serde(flatten)]
    head: Hello,
    /// Frames of the newest runs, in the order of their events.
    snapshot_trace: Vec<AnyFrame>,
    /// The newest model calls.
    recent_iterations: Vec<RecentCall>,
}

/// A model call.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is written part by part")]
struct RecentCall {
    /// Its beginning.
    started: AnyFrame,
    /// Its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    completed: Option<AnyFrame>,
}

/// Any frame of the server.
struct AnyFrame;

impl JsonSchema for AnyFrame {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ServerFrame".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "$ref": "#/$defs/ServerFrame" })
    }
}

/// Whether a turn of a thread runs.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ThreadStatus {
    Running,
    Finished,
}

/// A turn that runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RunningTurn {
    /// Its thread.
    pub(crate) thread_id: String,
    /// The turn.
    pub(crate) turn_id: String,
    /// It runs.
    pub(crate) status: Running,
    /// The number of its last frame.
    pub(crate) last_seq: Option<u64>,
}

/// The status of a turn that is listed.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Running {
    Running,
}
