//! What a link needs from the side that does the work.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use crate::fit::fit;
use crate::links::Parcel;
use crate::wire::{Availability, Capability, CapabilityKind, Frame, Response, Span, TaskRequest, ToolRequest};

/// Something a peer asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A shared task.
    Task(Box<TaskRequest>),
    /// A call of a shared tool.
    Tool(Box<ToolRequest>),
}

impl Request {
    /// What tells it apart from every other one.
    pub fn id(&self) -> &str {
        match self {
            Request::Task(request) => &request.request_id,
            Request::Tool(request) => &request.request_id,
        }
    }

    /// What is asked for.
    pub fn capability(&self) -> &str {
        match self {
            Request::Task(request) => &request.task,
            Request::Tool(request) => &request.tool,
        }
    }

    /// How long its asker waits.
    pub(crate) fn deadline(&self) -> Option<Span> {
        match self {
            Request::Task(request) => request.deadline,
            Request::Tool(request) => request.deadline,
        }
    }

    /// What kind of thing is asked for.
    pub(crate) fn kind(&self) -> CapabilityKind {
        match self {
            Request::Task(_) => CapabilityKind::Task,
            Request::Tool(_) => CapabilityKind::Tool,
        }
    }

    /// What it says, however often and by whichever way it is sent.
    pub(crate) fn digest(&self) -> String {
        let said = match self {
            Request::Task(request) => json!(["task", request.from, request.task, request.context]),
            Request::Tool(request) => json!(["tool", request.from, request.tool, request.input]),
        };
        Sha256::digest(said.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The same request, sent again to ask what became of it.
    pub(crate) fn resumed(mut self) -> Request {
        match &mut self {
            Request::Task(request) => request.route.resumed = true,
            Request::Tool(request) => request.route.resumed = true,
        }
        self
    }

    /// The answer as a frame.
    pub fn answer(&self, response: Response) -> Frame {
        match self {
            Request::Task(_) => Frame::TaskResponse(response),
            Request::Tool(_) => Frame::ToolResponse(response),
        }
    }

    /// The request as a frame.
    pub fn frame(self) -> Frame {
        match self {
            Request::Task(request) => Frame::TaskRequest(request),
            Request::Tool(request) => Frame::ToolRequest(request),
        }
    }
}

/// Where the frames about the requests of one link go.
#[derive(Clone)]
pub struct Replies {
    pub(crate) outbox: mpsc::Sender<Parcel>,
    /// How long work goes on when the link is gone and nobody has asked for it
    /// again; absent: to its end.
    pub(crate) patience: Option<Duration>,
    /// Bytes of one frame that the other side takes.
    pub(crate) frame_max: usize,
}

impl Replies {
    /// Sends a frame, shortened to what the other side takes; when the link is
    /// gone nobody waits for it.
    pub async fn send(&self, frame: Frame) {
        match fit(frame, self.frame_max) {
            Ok(text) => drop(self.outbox.send(text.into()).await),
            Err(why) => tracing::warn!(why, "a frame cannot be sent"),
        }
    }
}

/// How much work there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Pieces of work under way or waiting.
    pub active: usize,
    /// How many can be under way.
    pub max: usize,
    /// Whether no more is taken on.
    pub draining: bool,
}

impl Load {
    /// In a word.
    pub fn availability(&self) -> Availability {
        match self {
            Load { draining: true, .. } => Availability::Draining,
            Load { active, max, .. } if active >= max => Availability::Busy,
            Load { .. } => Availability::Available,
        }
    }

    /// How much of what can be done at once is taken, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a share of small numbers")]
    pub fn share(&self) -> f64 {
        if self.max == 0 { 1.0 } else { (self.active as f64 / self.max as f64).min(1.0) }
    }
}

/// Does what peers ask for.
pub trait Work: Send + Sync + 'static {
    /// What they may ask for.
    fn shared(&self) -> Vec<Capability>;

    /// How much there is to do.
    fn load(&self) -> Load;

    /// Does it and answers. Dropping this drops the answer, not the work.
    fn serve(&self, request: Request, replies: Replies) -> BoxFuture<'static, ()>;

    /// Takes no more work on; what is under way goes on.
    fn drain(&self);

    /// Stops work that is not wanted any more.
    fn cancel(&self, request_id: &str) -> BoxFuture<'static, ()>;
}
