//! The frames of a socket itself: what the server answers and tells beside the
//! frames of events. `schemas/frames.json` is made from them.

use consort_core::chat::Mode;
use consort_core::frame::field::Iso;
use consort_core::id::Millis;
use consort_core::spec::Workflow;
use consort_log as log;
use consort_net::wire::Capability;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::problem::{Code, More, Problem};
use crate::routes::reviews::Decided;
use crate::routes::steer::Applied;
use crate::routes::submit::RehearsedTask;

/// A frame of the socket itself. What is absent is left out.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The first frame: where everything stands.
    Hello(#[schemars(with = "WholeHello")] Box<Hello>),
    /// The server is there.
    #[serde(rename_all = "camelCase")]
    Heartbeat {
        /// Its clock.
        server_time_ms: Millis,
    },
    /// What is wrong with a frame, or what cannot be shown any more.
    Error(Box<Failure>),
    /// The answer to `ping`.
    Pong(Asked),
    /// The key holds.
    AuthAck {
        #[serde(flatten)]
        asked: Asked,
        /// The name of the key.
        name: String,
    },
    /// What will be shown.
    #[serde(rename_all = "camelCase")]
    SubscribeAck {
        #[serde(flatten)]
        asked: Asked,
        /// The types of frames; `*` is all of them.
        events: Vec<String>,
        /// Of this run only.
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<String>,
    },
    /// What became of `run_request`.
    RunAck(Box<RunAck>),
    /// What became of `run_control`.
    #[serde(rename_all = "camelCase")]
    RunControlAck {
        #[serde(flatten)]
        asked: Asked,
        /// The run.
        run_id: String,
        /// What was asked of it.
        action: String,
        #[serde(flatten)]
        outcome: Controlled,
    },
    /// The answer to `state_query`, as over HTTP.
    StateResponse {
        #[serde(flatten)]
        asked: Asked,
        /// What HTTP answers.
        #[schemars(with = "Map<String, Value>")]
        data: Value,
    },
    /// The decision holds.
    ReviewDecisionAck {
        #[serde(flatten)]
        asked: Asked,
        #[serde(flatten)]
        decided: Decided,
    },
    /// What became of `directive`.
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
        /// What it does.
        action: String,
        /// The tier.
        value: String,
        /// In whose name, by the word of `from` alone.
        #[serde(skip_serializing_if = "Option::is_none")]
        on_behalf_of: Option<String>,
    },
    /// What is shared.
    CapabilityResponse {
        #[serde(flatten)]
        asked: Asked,
        /// The ensemble that shares it.
        ensemble: String,
        /// What matches.
        capabilities: Vec<Capability>,
    },
    /// A message was taken.
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
        /// How many go before it, when it waits.
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
    /// What follows are the missed frames.
    ChatResumed {
        #[serde(flatten)]
        asked: AskedInChat,
        /// The thread.
        thread_id: String,
        /// Whether a turn runs.
        status: ThreadStatus,
        /// The number of its last frame.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_seq: Option<u64>,
        /// The turn that runs.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
    },
    /// The turns that run.
    ChatTurns {
        /// Each with where it stands.
        turns: Vec<RunningTurn>,
    },
    /// What may be done without asking.
    PermissionMode {
        #[serde(flatten)]
        asked: AskedInChat,
        /// The thread.
        thread_id: String,
        /// What holds from now on.
        permission_mode: Mode,
    },
    /// The answer holds.
    ToolApprovalAck {
        #[serde(flatten)]
        asked: AskedInChat,
        /// What was asked.
        approval_id: String,
        /// The answer.
        decision: String,
        /// It holds.
        status: Applied,
    },
    /// The tools are known.
    UiManifestAck {
        #[serde(flatten)]
        asked: AskedInChat,
        /// Their names.
        tools: Vec<String>,
    },
}

impl Answer {
    /// The frame as it is sent.
    pub(crate) fn text(&self) -> String {
        // A frame holds nothing that JSON cannot write.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The id that a client gave its request: text or a number.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Echo(Value);

impl Echo {
    /// The field of this name, if it is text or a number.
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
    /// From the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<Echo>,
}

/// The request that is answered, in the spelling of the chat's frames.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AskedInChat {
    /// From the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<Echo>,
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
    /// What others may use.
    pub(crate) shared_capabilities: Vec<Capability>,
    /// How often it says that it is there.
    pub(crate) lease_ms: u64,
    /// Bytes of one frame that is read here.
    pub(crate) max_frame_bytes: usize,
    /// Something was left out.
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

/// What is wrong, and what it is about.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Failure {
    /// For programs.
    #[schemars(with = "String")]
    code: Code,
    /// For people.
    message: String,
    #[serde(flatten)]
    more: More,
    #[serde(flatten)]
    subject: Subject,
}

/// What an error repeats of the frame it is about.
#[derive(Default, Serialize, JsonSchema)]
struct Subject {
    /// From the request.
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    request_id: Option<Echo>,
    /// From the request, in the spelling of the chat's frames.
    #[serde(rename = "request_id", skip_serializing_if = "Option::is_none")]
    chat_request_id: Option<Echo>,
    /// The run.
    #[serde(rename = "runId", skip_serializing_if = "Option::is_none")]
    run_id: Option<Echo>,
    /// The thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<Echo>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<Echo>,
}

impl Failure {
    /// Returns the error frame for a problem with a frame.
    pub(crate) fn of(problem: &Problem, frame: &Value) -> Box<Failure> {
        let echo = |name| Echo::of(frame, name);
        let subject = Subject {
            request_id: echo("requestId"),
            chat_request_id: echo("request_id"),
            run_id: echo("runId"),
            thread_id: echo("thread_id"),
            turn_id: echo("turn_id"),
        };
        let message = problem.message().to_owned();
        Box::new(Failure { code: problem.code(), message, more: problem.more().clone(), subject })
    }

    /// What is wrong with the connection itself.
    pub(crate) fn new(code: Code, message: String) -> Box<Failure> {
        Box::new(Failure { code, message, more: More::default(), subject: Subject::default() })
    }

    /// Why frames cannot be read from the log.
    pub(crate) fn storage(error: &log::Error) -> Box<Failure> {
        let code = match error {
            log::Error::Damaged { .. } => Code::StorageDamaged,
            log::Error::Fenced | log::Error::Claimed { .. } | log::Error::Full(_) | log::Error::Unavailable(_) => {
                Code::StorageUnavailable
            }
        };
        Failure::new(code, error.to_string())
    }

    /// The same about a run.
    pub(crate) fn in_run(mut self: Box<Failure>, run: &str) -> Box<Failure> {
        self.subject.run_id = Some(Echo(run.into()));
        self
    }

    /// The same about a thread.
    pub(crate) fn in_thread(mut self: Box<Failure>, thread: &str) -> Box<Failure> {
        self.subject.thread_id = Some(Echo(thread.into()));
        self
    }
}

/// What became of a request for a run.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunAck {
    #[serde(flatten)]
    pub(crate) asked: Asked,
    /// The run; one there was no room for has a name, and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    /// Whether it was taken.
    pub(crate) status: RunAckStatus,
    /// Nothing was to be run: what would be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dry_run: bool,
    /// How many tasks it has.
    pub(crate) tasks: usize,
    /// In which order its tasks run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workflow: Option<Workflow>,
    /// The tasks that would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_tasks: Option<Vec<RehearsedTask>>,
    /// What was overlooked in the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warnings: Option<Vec<String>>,
    /// Why it was not taken, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Code>,
    /// Why it was not taken, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(flatten)]
    pub(crate) more: More,
}

/// Whether a run was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum RunAckStatus {
    Accepted,
    Rejected,
}

impl RunAckStatus {
    pub(crate) fn word(self) -> &'static str {
        match self {
            RunAckStatus::Accepted => "ACCEPTED",
            RunAckStatus::Rejected => "REJECTED",
        }
    }
}

/// What became of a run that was to be steered.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Controlled {
    /// It asks another model.
    #[serde(rename_all = "camelCase")]
    Switched {
        /// The alias of the model it asks now.
        model: String,
        /// The alias of the one it asked before.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous_model: Option<String>,
        /// It holds.
        status: Applied,
    },
    /// Anything else.
    Told {
        /// What became of it.
        status: ControlStatus,
        /// The alias that is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
}

/// What became of a run, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum ControlStatus {
    Cancelling,
    Paused,
    Resumed,
    NotFound,
    Rejected,
    InvalidModel,
    InvalidAction,
    NotConfigured,
}

impl Controlled {
    /// What became of it, in a word.
    pub(crate) fn word(&self) -> &'static str {
        let Controlled::Told { status, .. } = self else { return "APPLIED" };
        match status {
            ControlStatus::Cancelling => "CANCELLING",
            ControlStatus::Paused => "PAUSED",
            ControlStatus::Resumed => "RESUMED",
            ControlStatus::NotFound => "NOT_FOUND",
            ControlStatus::Rejected => "REJECTED",
            ControlStatus::InvalidModel => "INVALID_MODEL",
            ControlStatus::InvalidAction => "INVALID_ACTION",
            ControlStatus::NotConfigured => "NOT_CONFIGURED",
        }
    }
}

/// What became of a directive.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Directed {
    /// It was given.
    #[serde(rename_all = "camelCase")]
    Given {
        /// Its id, in the first run it was given to.
        directive_id: String,
        /// It was given.
        status: Given,
    },
    /// It was not.
    #[serde(rename_all = "camelCase")]
    Refused {
        /// It was not given.
        status: Refused,
        /// Why, for programs.
        error: Code,
        /// Why, for people.
        message: String,
        /// There is none.
        directive_id: (),
    },
}

/// A directive that was given is accepted.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Given {
    Accepted,
}

/// A directive that was not given is rejected.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Refused {
    Rejected,
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

/// A turn that is listed runs.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Running {
    Running,
}
