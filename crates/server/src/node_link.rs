//! `/cluster/link`: the socket between two nodes that share a store. The one with the smaller id dials. Both prove that
//! they know the secret of the cluster, without sending it, before anything else is said.

use std::collections::HashSet;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{self, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::Response;
use consort_core::json;
use consort_log::cluster::Node;
use consort_runtime::engine::Engine;
use consort_runtime::links::Peer;
use futures::stream::BoxStream;
use futures::{Sink, SinkExt, Stream, StreamExt, future};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};
use uuid::Uuid;

use crate::Site;
use crate::endpoint::{Endpoint, Tag, get};
use consort_inbound::problem::{Code, Problem};

/// The path of the socket.
const PATH: &str = "/cluster/link";
/// The maximum size of a message in bytes: words of a model are short.
const MESSAGE_MAX: usize = 1024 * 1024;
/// Messages buffered between a link and its socket.
const BUFFER_MAX: usize = 256;
/// The time for the first messages.
const GREETING_MAX: Duration = Duration::from_secs(5);
/// The time between two looks for nodes without a link.
const DIAL_EVERY: Duration = Duration::from_secs(1);
/// The time until a node that could not be reached is dialled again.
const RETRY: Duration = Duration::from_secs(5);
/// The time between two signs of life.
const PING_EVERY: Duration = Duration::from_secs(5);
/// The time without any after which a link is over.
const SILENCE_MAX: Duration = Duration::from_secs(15);
/// The close code for a wrong secret.
const WRONG_SECRET: u16 = 4401;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get(PATH, upgrade)
            .named(Tag::Server, "clusterLink", "Open the link of another node that shares this server's store")
            .about(
                "For nodes of a cluster alone: both sides prove that they know `[cluster] secret`; who does not is \
                 refused with the close code 4401.",
            )
            .public()
            .answers_nothing(StatusCode::SWITCHING_PROTOCOLS, "A WebSocket.")
            .fails(&[Code::BadRequest])
            .fails_at(StatusCode::UPGRADE_REQUIRED, Code::BadRequest),
    ]
}

/// The first message of the node that was dialled.
#[derive(Serialize, Deserialize)]
struct Challenge {
    challenge: String,
}

/// The answer of the node that dials.
#[derive(Serialize, Deserialize)]
struct Greeting {
    node: String,
    challenge: String,
    proof: String,
}

/// The last word before the link is used.
#[derive(Serialize, Deserialize)]
struct Welcome {
    node: String,
    proof: String,
}

/// Something that is sent over a socket.
enum Out {
    Text(String),
    Ping,
    Refusal,
}

/// A socket of either side. Signs of life come in as nothing.
struct Socket {
    outgoing: Pin<Box<dyn Sink<Out, Error = ()> + Send>>,
    incoming: BoxStream<'static, Option<String>>,
}

async fn upgrade(
    State(site): State<Arc<Site>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|rejection| Problem::no_socket(PATH, &rejection))?;
    if !site.engine().seams().links.is_possible() {
        return Err(Problem::bad_request("this server shares its store with no other: it has no `[cluster] url`"));
    }
    let upgrade = upgrade.max_message_size(MESSAGE_MAX).max_frame_size(MESSAGE_MAX);
    Ok(upgrade.on_upgrade(|socket| async move {
        let closed = site.closed();
        tokio::select! {
            () = closed => {}
            () = answer(site.engine(), accepted(socket)) => {}
        }
    }))
}

/// Keeps a link to every node with a greater id than this one's.
pub(crate) async fn dial_all(engine: Engine) -> Infallible {
    if engine.is_alone() || !engine.seams().links.is_possible() {
        return future::pending().await;
    }
    let mut dials: JoinSet<Arc<str>> = JoinSet::new();
    let mut dialled: HashSet<Arc<str>> = HashSet::new();
    loop {
        while let Some(ended) = dials.try_join_next() {
            // A task that panicked is dialled again under the node's next id.
            let _forgotten = ended.is_ok_and(|node| dialled.remove(&node));
        }
        let own = engine.seams().cluster.id();
        for node in engine.nodes().await.unwrap_or_default() {
            if node.id > own && !engine.seams().links.has(&node.id) && dialled.insert(node.id.clone()) {
                let engine = engine.clone();
                dials.spawn(async move {
                    if let Err(reason) = dial(&engine, &node).await {
                        warn(&engine, &reason, &node.name);
                        sleep(RETRY).await;
                    }
                    node.id
                });
            }
        }
        sleep(DIAL_EVERY).await;
    }
}

fn warn(engine: &Engine, reason: &str, node: &str) {
    if engine.seams().links.may_warn() {
        tracing::warn!(
            node,
            reason,
            "no link to another node: what it does is seen half a second later, without words"
        );
    }
}

async fn dial(engine: &Engine, node: &Node) -> Result<(), String> {
    let address = match node.address.split_once("://") {
        Some(("https", rest)) => format!("wss://{}{PATH}", rest.trim_end_matches('/')),
        Some((_, rest)) => format!("ws://{}{PATH}", rest.trim_end_matches('/')),
        None => return Err("its address is no `http://` address".to_owned()),
    };
    let limits = WebSocketConfig::default().max_message_size(Some(MESSAGE_MAX)).max_frame_size(Some(MESSAGE_MAX));
    let connecting = connect_async_with_config(address, Some(limits), true);
    let connected = timeout(GREETING_MAX, connecting).await.map_err(|_elapsed| "it does not answer".to_owned())?;
    let (socket, _response) = match connected {
        // It is starting, or about to stop.
        Err(Error::Http(answer)) if answer.status() == StatusCode::SERVICE_UNAVAILABLE => return Ok(()),
        connected => connected.map_err(|error| error.to_string())?,
    };
    let mut socket = opened(socket);
    let links = &engine.seams().links;
    let Challenge { challenge } = heard(&mut socket).await.ok_or("it said something else than a node does")?;
    let own = engine.seams().cluster.id().to_string();
    let asked = nonce();
    let proof = links.proof(&said_by(&own, &challenge)).unwrap_or_default();
    say(&mut socket, &Greeting { node: own, challenge: asked.clone(), proof }).await;
    let wrong = "it has another `[cluster] secret`";
    let welcome: Welcome = heard(&mut socket).await.ok_or(wrong)?;
    if welcome.node != *node.id || !links.is_proof(&said_by(&welcome.node, &asked), &welcome.proof) {
        return Err(wrong.to_owned());
    }
    talk(engine, node.id.clone(), socket).await;
    Ok(())
}

async fn answer(engine: &Engine, mut socket: Socket) {
    let links = &engine.seams().links;
    let challenge = nonce();
    say(&mut socket, &Challenge { challenge: challenge.clone() }).await;
    let Some(greeting) = heard::<Greeting>(&mut socket).await else { return };
    if !links.is_proof(&said_by(&greeting.node, &challenge), &greeting.proof) {
        warn(engine, "it has another `[cluster] secret`", &greeting.node);
        let _gone = socket.outgoing.send(Out::Refusal).await;
        return;
    }
    let own = engine.seams().cluster.id().to_string();
    let proof = links.proof(&said_by(&own, &greeting.challenge)).unwrap_or_default();
    say(&mut socket, &Welcome { node: own, proof }).await;
    talk(engine, greeting.node.into(), socket).await;
}

/// Returns what a node proves with: its own id is part of it, so that nobody can send back what it was sent.
fn said_by(node: &str, challenge: &str) -> String {
    format!("consort link\n{node}\n{challenge}")
}

/// Returns a text that nobody can guess.
fn nonce() -> String {
    format!("{}{}", Uuid::now_v7().simple(), Uuid::now_v7().simple())
}

/// Uses a link until it ends, or the node is taken for dead and gets another id.
async fn talk(engine: &Engine, node: Arc<str>, socket: Socket) {
    let Socket { mut outgoing, incoming } = socket;
    let (tells, mut told) = mpsc::channel(BUFFER_MAX);
    let writing = async move {
        loop {
            let out = match timeout(PING_EVERY, told.recv()).await {
                Ok(Some(text)) => Out::Text(text),
                Ok(None) => return,
                Err(_elapsed) => Out::Ping,
            };
            // Everything that waits leaves together, and nothing waits for more to come.
            let mut fed = outgoing.feed(out).await;
            while let (Ok(()), Ok(text)) = (fed, told.try_recv()) {
                fed = outgoing.feed(Out::Text(text)).await;
            }
            if fed.is_err() || outgoing.flush().await.is_err() {
                return;
            }
        }
    };
    let heard = futures::stream::unfold(incoming, |mut incoming| async move {
        loop {
            match timeout(SILENCE_MAX, incoming.next()).await {
                Ok(Some(Some(text))) => return Some((text, incoming)),
                Ok(Some(None)) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    });
    let lease = engine.seams().cluster.lease();
    let term = lease.term();
    tokio::select! {
        () = engine.talk_to(Peer { node, incoming: heard.boxed(), outgoing: tells }) => {}
        () = writing => {}
        () = lease.evicted(term) => {}
    }
}

async fn say(socket: &mut Socket, message: &impl Serialize) {
    if let Ok(text) = json::text(message) {
        let _gone = socket.outgoing.send(Out::Text(text)).await;
    }
}

/// Returns the next message, if it comes in time and is what it should be.
async fn heard<T: serde::de::DeserializeOwned>(socket: &mut Socket) -> Option<T> {
    let text = timeout(GREETING_MAX, async {
        loop {
            if let Some(text) = socket.incoming.next().await? {
                return Some(text);
            }
        }
    });
    serde_json::from_str(&text.await.ok()??).ok()
}

/// Returns the socket of a node that has dialled.
fn accepted(socket: WebSocket) -> Socket {
    let (outgoing, incoming) = socket.split();
    let message = |out: Out| match out {
        Out::Text(text) => ws::Message::Text(text.into()),
        Out::Ping => ws::Message::Ping(axum::body::Bytes::new()),
        Out::Refusal => {
            ws::Message::Close(Some(ws::CloseFrame { code: WRONG_SECRET, reason: "another secret".into() }))
        }
    };
    let outgoing = outgoing.sink_map_err(|_closed| ()).with(move |out| future::ready(Ok::<_, ()>(message(out))));
    let texts = incoming.map(|message| match message.ok()? {
        ws::Message::Text(text) => Some(Some(text.to_string())),
        ws::Message::Ping(_) | ws::Message::Pong(_) | ws::Message::Binary(_) => Some(None),
        ws::Message::Close(_) => None,
    });
    Socket { outgoing: Box::pin(outgoing), incoming: to_the_end(texts) }
}

/// Returns the socket of a node that was dialled.
fn opened(socket: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>) -> Socket {
    let (outgoing, incoming) = socket.split();
    let message = |out: Out| match out {
        Out::Text(text) => Message::text(text),
        Out::Ping => Message::Ping(tungstenite::Bytes::new()),
        Out::Refusal => Message::Close(None),
    };
    let outgoing = outgoing.sink_map_err(|_closed| ()).with(move |out| future::ready(Ok::<_, ()>(message(out))));
    let texts = incoming.map(|message| match message.ok()? {
        Message::Text(text) => Some(Some(text.to_string())),
        Message::Close(_) => None,
        Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_) => Some(None),
    });
    Socket { outgoing: Box::pin(outgoing), incoming: to_the_end(texts) }
}

/// Returns what comes until there is nothing.
fn to_the_end<T: Send + 'static>(stream: impl Stream<Item = Option<T>> + Send + 'static) -> BoxStream<'static, T> {
    stream.take_while(|item| future::ready(item.is_some())).filter_map(future::ready).boxed()
}
