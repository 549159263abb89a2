//! `/ws`: everything that happens, and everything that can be asked, over one
//! socket. The first frame is `hello`; what it does not hold comes live.
//! In reading order: `session` (the loop), `frames` (what clients send),
//! `answer` (what is answered), `subscription`, `feed_positions` and `followed_threads` (who gets what, once), `hello` with `trace` (`sent`, `calls`), `outbox`.

pub(crate) mod answer;
mod calls;
mod feed_positions;
mod followed_threads;
mod frames;
mod hello;
mod link;
mod outbox;
mod pace;
mod sent;
mod session;
mod subscription;
mod trace;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::Response;
use consort_core::owner::Owner;
use futures::StreamExt;
use futures::stream::SplitStream;
use serde_json::Value;

use crate::Site;
use crate::access::{Pass, Scope, SocketClient};
use crate::endpoint::{Endpoint, Tag, Whose, get};
use crate::ws::answer::{Answer, Failure};
use crate::ws::frames::ClientFrame;
use crate::ws::outbox::Outbox;
use crate::ws::session::{Hearing, Session};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::refusals::{Reason, Refusal, Source};

pub(crate) use frames::{sent_shapes, told_shapes};
pub(crate) use trace::Traces;

/// A frame for sockets that concerns no single run.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    /// Its type.
    pub(crate) kind: &'static str,
    /// The owner whose runs it is about.
    pub(crate) owner: Owner,
    /// The frame as it is sent.
    pub(crate) text: Arc<str>,
}

/// The path of the socket.
pub(crate) const PATH: &str = "/ws";
/// The protocol a client may ask for.
const PROTOCOL: &str = "consort";
/// The time that a client without a key may stay connected.
const AUTH_PATIENCE: Duration = Duration::from_secs(5);
/// A hint how to send a key; short enough to be the reason of a close frame.
const KEY_WANTED: &str =
    "send a key as `Authorization: Bearer …`, as the protocol `key.<base64url>` or in a first frame of type `auth`";
/// Frames up to this many times too large are still read, so that the client gets an
/// error; larger ones break the connection.
const OVERSIZE: usize = 2;
/// Bytes read at once; every client has a buffer of this size, most are idle.
const READ_BUFFER: usize = 1024;
/// Bytes buffered before they are written.
const WRITE_BUFFER: usize = 16 * 1024;
/// The time that a client may take to answer a close.
const FAREWELL: Duration = Duration::from_secs(1);
/// The close code for a policy violation.
const POLICY: u16 = 1008;

/// The limits of a socket, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sockets {
    /// The number of runs in the `hello` of a late client.
    pub retained_runs: usize,
    /// The number of model calls per conversation in it.
    pub snapshot_iterations: usize,
    /// The maximum number of bytes of a frame from a client.
    pub max_frame_bytes: usize,
}

impl Default for Sockets {
    fn default() -> Sockets {
        Sockets { retained_runs: 10, snapshot_iterations: 5, max_frame_bytes: 1024 * 1024 }
    }
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get(PATH, upgrade)
            .named(Tag::Server, "socket", "Open a WebSocket for all events and requests")
            .about(
                "A key may be sent as `Authorization`, as the protocol `key.<base64url>`, or in the first frame \
                 `{\"type\": \"auth\", \"key\": …}`.",
            )
            .needs(Scope::Read, Whose::Runs)
            .answers_nothing(
                StatusCode::SWITCHING_PROTOCOLS,
                "A WebSocket; its frames are described in `/schemas/frames.json`.",
            )
            .fails(&[Code::BadRequest])
            .fails_at(StatusCode::UPGRADE_REQUIRED, Code::BadRequest),
    ]
}

async fn upgrade(
    State(site): State<Arc<Site>>,
    Extension((client, source)): Extension<(SocketClient, Source)>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|rejection| Problem::no_socket(PATH, &rejection))?;
    let most = site.server.sockets.max_frame_bytes.saturating_mul(OVERSIZE);
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(most).max_frame_size(most);
    let upgrade = upgrade.read_buffer_size(READ_BUFFER).write_buffer_size(WRITE_BUFFER);
    Ok(upgrade.on_upgrade(|socket| serve(site, client, source, socket)))
}

/// Serves one client, from the first frame to the last.
async fn serve(site: Arc<Site>, client: SocketClient, source: Source, socket: WebSocket) {
    let _talking = site.talking.subscribe();
    let (sink, mut stream) = socket.split();
    let (outbox, writer) = outbox::open(sink, site.engine().meters().clone());
    let pass = match client {
        SocketClient::Known(pass) => Ok(pass),
        SocketClient::Unknown => Box::pin(authenticated(&site, &source, &mut stream)).await,
    };
    let hearing = match pass {
        Ok(pass) => talk(site, (pass, source), &mut stream, &outbox).await,
        Err(problem) => refuse(&outbox, &problem),
    };
    if !outbox.is_open() {
        writer.done().await;
    }
    part(stream, hearing).await;
}

async fn talk(
    site: Arc<Site>,
    (pass, source): (Pass, Source),
    stream: &mut SplitStream<WebSocket>,
    outbox: &Outbox,
) -> Hearing {
    // In a box, as what else happens once: a task is as large for ever as the largest thing it ever waits for.
    match Box::pin(Session::open(site, (pass, source), outbox.clone())).await {
        Ok(mut session) => session.run(stream).await,
        Err(problem) => refuse(outbox, &problem),
    }
}

/// Returns the pass of a client that sends a key in its first frame.
async fn authenticated(site: &Site, source: &Source, stream: &mut SplitStream<WebSocket>) -> Result<Pass, Problem> {
    let first = tokio::time::timeout(AUTH_PATIENCE, first_text(stream)).await.ok().flatten();
    let said = first.as_deref().map(ClientFrame::read);
    let key = said.as_ref().and_then(ClientFrame::auth_key);
    let prepared = site.terms.access.borrow().prepare_for_key(key.map(str::to_owned));
    prepared.await;
    let pass = site.terms.access.borrow().pass(key);
    match pass {
        Ok(pass) => {
            source.authorise();
            Ok(pass)
        }
        Err(problem) => {
            let refusal = Refusal { reason: Reason::SocketAuth, is_known: false };
            site.refusals.note(source, refusal).wait().await?;
            Err(problem.saying(KEY_WANTED))
        }
    }
}

/// Returns the first frame that holds text.
async fn first_text(stream: &mut SplitStream<WebSocket>) -> Option<Utf8Bytes> {
    loop {
        match stream.next().await?.ok()? {
            Message::Text(text) => return Some(text),
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Binary(_) | Message::Close(_) => return None,
        }
    }
}

fn refuse(outbox: &Outbox, problem: &Problem) -> Hearing {
    outbox.push(outbox::addressed(&Answer::Error(Failure::of(problem, &Value::Null))));
    outbox.close(POLICY, problem.message());
    Hearing::Good
}

/// Waits for the client to hang up, so that the last frames arrive: closing with
/// unread input would discard them.
async fn part(mut stream: SplitStream<WebSocket>, hearing: Hearing) {
    let rest = async {
        while stream.next().await.is_some_and(|message| message.is_ok()) {}
        if hearing == Hearing::Lost {
            pending::<()>().await;
        }
    };
    let _late = tokio::time::timeout(FAREWELL, rest).await;
}
