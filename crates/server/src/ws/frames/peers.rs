//! Frames of other ensembles: `peer_hello` makes the socket a link; requests
//! are served with or without one.

use consort_core::frame::schema::{of, sent};
use consort_core::owner::Owner;
use consort_net::wire::{
    Accepted, CapacityUpdate, Frame, Hello, Progress, RequestCancel, Response, TaskRequest, ToolRequest,
};
use serde_json::{Value, json};

use super::{Row, Shape};
use crate::access::Scope;
use crate::body::Sent;
use crate::endpoint::Whose;
use crate::ws::link::Link;
use crate::ws::session::Session;
use crate::ws::subscription::Subscription;
use consort_inbound::problem::Problem;

pub(super) const ROWS: &[Row] = &[
    Row {
        kind: "peer_hello",
        scope: Scope::Peer,
        whose: Whose::Key,
        shape: sent_hello,
        act: |session, sent| Box::pin(hello(session, sent)),
    },
    row("task_request", sent::<TaskRequest>),
    row("tool_request", sent::<ToolRequest>),
    row("request_cancel", sent::<RequestCancel>),
    row("task_accepted", sent::<Accepted>),
    row("task_progress", sent::<Progress>),
    row("task_response", sent::<Response>),
    row("tool_response", sent::<Response>),
    row("capacity_update", sent::<CapacityUpdate>),
];

/// The frames that a link sends to the other side.
pub(super) const TOLD: [(&str, Shape); 8] = [
    ("task_request", of::<TaskRequest>),
    ("tool_request", of::<ToolRequest>),
    ("request_cancel", of::<RequestCancel>),
    ("task_accepted", of::<Accepted>),
    ("task_progress", of::<Progress>),
    ("task_response", of::<Response>),
    ("tool_response", of::<Response>),
    ("capacity_update", of::<CapacityUpdate>),
];

/// Returns the schema of `peer_hello`: the side that dials must have a name to be called by.
fn sent_hello() -> Value {
    let mut shape = sent::<Hello>();
    if let Value::Object(fields) = &mut shape {
        fields.insert("required".to_owned(), json!(["ensemble"]));
    }
    if let Some(ensemble) = shape.pointer_mut("/properties/ensemble/type") {
        *ensemble = "string".into();
    }
    shape
}

const fn row(kind: &'static str, shape: Shape) -> Row {
    Row { kind, scope: Scope::Peer, whose: Whose::Key, shape, act: |session, sent| Box::pin(pass_on(session, sent)) }
}

/// Makes the socket a link, which gets no other frames from here on. A peer that is
/// linked already updates its shared capabilities.
async fn hello(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let frame = Frame::check(&sent.0).map_err(Problem::bad_request)?;
    let Frame::PeerHello(hello) = frame else { return Err(Problem::bad_request("this is no `peer_hello`")) };
    if let Some(refusal) = hello.refusal() {
        return Err(Problem::bad_request(refusal));
    }
    if let Some(link) = session.link.as_ref().filter(|link| link.is_with(&hello)) {
        link.say(Frame::PeerHello(hello)).await;
        return Ok(());
    }
    session.subscribe(Subscription::nothing());
    session.link = Some(Link::with_peer(&session.site.server.network, hello, by(session)));
    Ok(())
}

/// Returns the owner of the work that is requested over this socket: each key has one.
fn by(session: &Session) -> Owner {
    Owner::peer(&session.pass.caller.0)
}

/// Passes a frame to the network, which answers it.
async fn pass_on(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let frame = Frame::check(&sent.0).map_err(Problem::bad_request)?;
    let network = &session.site.server.network;
    let by = by(session);
    let link = session.link.get_or_insert_with(|| Link::with_client(network, by));
    link.say(frame).await;
    Ok(())
}
