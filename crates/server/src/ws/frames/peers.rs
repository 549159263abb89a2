//! Frames of other ensembles: `peer_hello` makes the socket a link; requests
//! are served with or without one.

use consort_net::wire::Frame;

use super::Row;
use crate::access::Scope;
use crate::body::Sent;
use crate::problem::Problem;
use crate::ws::link::Link;
use crate::ws::session::Session;
use crate::ws::wanted::Wanted;

pub(super) const ROWS: &[Row] = &[
    Row { kind: "peer_hello", scope: Scope::Peer, act: |session, sent| Box::pin(hello(session, sent)) },
    row("task_request"),
    row("tool_request"),
    row("request_cancel"),
    row("task_accepted"),
    row("task_progress"),
    row("task_response"),
    row("tool_response"),
    row("capacity_update"),
];

const fn row(kind: &'static str) -> Row {
    Row { kind, scope: Scope::Peer, act: |session, sent| Box::pin(pass_on(session, sent)) }
}

/// From here on the socket is a link, and shown nothing else. A peer that is
/// linked already says anew what it shares.
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
    session.turn_to(Wanted { types: Some(Vec::new()), run: None });
    session.link = Some(Link::with_peer(&session.site.server.network, hello));
    Ok(())
}

/// Hands a frame to the network, which answers it.
async fn pass_on(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let frame = Frame::check(&sent.0).map_err(Problem::bad_request)?;
    let network = &session.site.server.network;
    let link = session.link.get_or_insert_with(|| Link::with_client(network));
    link.say(frame).await;
    Ok(())
}
