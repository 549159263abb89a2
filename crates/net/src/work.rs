//! The interface of a link to the side that performs the work.

use std::time::Duration;

use consort_core::owner::Owner;
use futures::future::BoxFuture;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use crate::frame_size::fit;
use crate::links::OutgoingFrame;
use crate::wire::{Availability, Capability, CapabilityKind, Frame, Response, Route, Span, TaskRequest, ToolRequest};

/// The name of a request: ids are each requester's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestName {
    /// The owner of the requested work, which stands for the key that the requester sent.
    pub by: Owner,
    /// The id that the requester gave it.
    pub id: String,
}

impl RequestName {
    /// Returns the key of the request in the log. Its first part says where the second ends, because owners and ids
    /// may hold any character.
    pub(crate) fn claim(&self) -> String {
        let by = self.by.as_str();
        format!("peer-request/{}/{by}/{}", by.len(), self.id)
    }
}

/// A request of a peer.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A shared task.
    Task(Box<TaskRequest>),
    /// A call of a shared tool.
    Tool(Box<ToolRequest>),
}

impl Request {
    /// Returns the id of the request.
    pub fn id(&self) -> &str {
        match self {
            Request::Task(request) => &request.request_id,
            Request::Tool(request) => &request.request_id,
        }
    }

    /// Returns the name of the requested capability.
    pub fn capability(&self) -> &str {
        match self {
            Request::Task(request) => &request.task,
            Request::Tool(request) => &request.tool,
        }
    }

    /// Returns the way that the request has come.
    pub(crate) fn route(&self) -> &Route {
        match self {
            Request::Task(request) => &request.route,
            Request::Tool(request) => &request.route,
        }
    }

    /// Returns the maximum time that its requester waits.
    pub(crate) fn deadline(&self) -> Option<Span> {
        match self {
            Request::Task(request) => request.deadline,
            Request::Tool(request) => request.deadline,
        }
    }

    /// Returns the kind of the requested capability.
    pub(crate) fn kind(&self) -> CapabilityKind {
        match self {
            Request::Task(_) => CapabilityKind::Task,
            Request::Tool(_) => CapabilityKind::Tool,
        }
    }

    /// Returns a digest of the request's content, independent of its route and repetitions.
    pub(crate) fn digest(&self) -> String {
        let said = match self {
            Request::Task(request) => json!(["task", request.from, request.task, request.context]),
            Request::Tool(request) => json!(["tool", request.from, request.tool, request.input]),
        };
        Sha256::digest(said.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the same request, sent again to ask for its outcome.
    pub(crate) fn resumed(mut self) -> Request {
        match &mut self {
            Request::Task(request) => request.route.resumed = true,
            Request::Tool(request) => request.route.resumed = true,
        }
        self
    }

    /// Returns the answer as a frame.
    pub fn answer(&self, response: Response) -> Frame {
        match self {
            Request::Task(_) => Frame::TaskResponse(response),
            Request::Tool(_) => Frame::ToolResponse(response),
        }
    }

    /// Returns the request as a frame.
    pub fn frame(self) -> Frame {
        match self {
            Request::Task(request) => Frame::TaskRequest(request),
            Request::Tool(request) => Frame::ToolRequest(request),
        }
    }
}

/// The sender of frames about the requests of one link.
#[derive(Clone)]
pub struct Replies {
    pub(crate) outbox: mpsc::Sender<OutgoingFrame>,
    /// The owner of the work that is requested over the link.
    pub(crate) by: Owner,
    /// The time for which work goes on when the link is gone and
    /// the work has not been requested again; absent: to its end.
    pub(crate) patience: Option<Duration>,
    /// The maximum size of a frame that the other side accepts, in bytes.
    pub(crate) frame_max: usize,
}

impl Replies {
    /// Returns the name of a request of this link.
    pub(crate) fn named(&self, id: &str) -> RequestName {
        RequestName { by: self.by.clone(), id: id.to_owned() }
    }

    /// Sends a frame, shortened to the size that the other
    /// side accepts; it is dropped when the link is gone.
    pub async fn send(&self, frame: Frame) {
        match fit(frame, self.frame_max) {
            Ok(text) => drop(self.outbox.send(text.into()).await),
            Err(why) => tracing::warn!(why, "a frame cannot be sent"),
        }
    }
}

/// The amount of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The number of requests under way or waiting.
    pub active: usize,
    /// The maximum number under way at once.
    pub max: usize,
    /// Whether no more work is accepted.
    pub draining: bool,
}

impl Load {
    /// Returns the availability for further work.
    pub fn availability(&self) -> Availability {
        match self {
            Load { draining: true, .. } => Availability::Draining,
            Load { active, max, .. } if active >= max => Availability::Busy,
            Load { .. } => Availability::Available,
        }
    }

    /// Returns the share of the capacity that is in use, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a share of small numbers")]
    pub fn share(&self) -> f64 {
        if self.max == 0 { 1.0 } else { (self.active as f64 / self.max as f64).min(1.0) }
    }
}

/// The worker that performs requests of peers.
pub trait Work: Send + Sync + 'static {
    /// Returns the capabilities that peers may request.
    fn shared(&self) -> Vec<Capability>;

    /// Returns the current amount of work.
    fn load(&self) -> Load;

    /// Performs a request and answers it. Dropping this drops the answer, not the work.
    fn serve(&self, request: Request, replies: Replies) -> BoxFuture<'static, ()>;

    /// Stops accepting work; work under way goes on.
    fn drain(&self);

    /// Stops work that is no longer wanted.
    fn cancel(&self, request: RequestName) -> BoxFuture<'static, ()>;
}
