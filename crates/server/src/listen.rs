//! Connections: a limited number at once, each with a timeout for its request head. A
//! slower client is cut off, so that an idle connection cannot occupy a slot.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream, ToSocketAddrs};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;

use crate::router;
use crate::site::Site;
use consort_inbound::connections::{Connection, Connections};
use consort_inbound::event_stream::{self, EventStream};
use consort_inbound::half_closed::HalfClosed;

/// Connections that may wait to be accepted, as far as the system allows: many clients
/// that reconnect at once are not refused.
const WAITING_MAX: u32 = 4096;
/// The time that a connection may take to send the head of its next request.
const HEAD_PATIENCE: Duration = Duration::from_secs(30);
/// The delay before accepting again when the system has no room for another connection.
const ACCEPT_RETRY: Duration = Duration::from_millis(500);

/// Listens on the first of these addresses that is available.
pub async fn bind(address: impl ToSocketAddrs) -> io::Result<TcpListener> {
    let mut refused = io::Error::new(io::ErrorKind::AddrNotAvailable, "it has no address");
    for address in tokio::net::lookup_host(address).await? {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A server that was stopped can be started again at once.
        socket.set_reuseaddr(true)?;
        match socket.bind(address).and_then(|()| socket.listen(WAITING_MAX)) {
            Ok(listener) => return Ok(listener),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Serves until the server is asked to stop; then returns when every connection has ended.
pub(crate) async fn listen(listener: TcpListener, site: &Arc<Site>, connections: Arc<Connections>) {
    let router = router(site.clone());
    let mut open = JoinSet::new();
    let mut closing = std::pin::pin!(site.closed());
    loop {
        tokio::select! {
            () = &mut closing => break,
            Some(_ended) = open.join_next() => {}
            (socket, from, place) = accept(&listener, &connections) => {
                match connections.open(from, place) {
                    Some(connection) => {
                        open.spawn(converse(socket, Arc::new(connection), router.clone(), site.closed()));
                    }
                    None => site.refusals.note_connection(from.ip()),
                }
            }
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

/// The reason why a connection has ended early.
type Broken = Box<dyn Error + Send + Sync>;

type Accepted = (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>);

async fn accept(listener: &TcpListener, connections: &Connections) -> Accepted {
    let place = connections.place().await;
    loop {
        match listener.accept().await {
            Ok((socket, from)) => return (socket, from, place),
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::error!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

/// Returns whether an error concerns one connection that was gone before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    [ConnectionAborted, ConnectionRefused, ConnectionReset].contains(&error.kind())
}

/// Serves the requests of one connection, one after the other. When the server stops,
/// the current one is the last. A stream of events is the last one too.
async fn converse(
    socket: TcpStream,
    connection: Arc<Connection>,
    router: Router,
    closed: impl Future<Output = ()> + Send + 'static,
) {
    // Frames are small, and a client waits for each.
    let _slower = socket.set_nodelay(true);
    // In a box, so that a stream of events does not keep its room. It keeps the connection, which counts until it ends.
    let answered = Box::pin(answer(socket, connection.clone(), router, closed)).await;
    let ended = match answered {
        Ok(None) => return,
        Ok(Some((socket, events))) => event_stream::send(socket, events).await.map_err(Broken::from),
        Err(error) => Err(error.into()),
    };
    if let Err(error) = ended {
        tracing::debug!(error, "a connection broke off");
    }
}

/// Answers requests until there are no more; returns the socket with the stream of events that is its last response.
async fn answer(
    socket: TcpStream,
    connection: Arc<Connection>,
    router: Router,
    closed: impl Future<Output = ()> + Send + 'static,
) -> hyper::Result<Option<(HalfClosed, Response<Body>)>> {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(connection.clone());
        let may_leave = EventStream::may_answer(&request);
        let response = router.call(request);
        async move {
            let Ok(response) = response.await;
            if may_leave { EventStream::take(response) } else { Ok(response) }
        }
    });
    let mut served = http.serve_connection(TokioIo::new(HalfClosed::new(socket)), service).with_upgrades();
    let ended = tokio::select! {
        ended = &mut served => ended,
        () = closed => {
            Pin::new(&mut served).graceful_shutdown();
            (&mut served).await
        }
    };
    let Err(error) = ended else { return Ok(None) };
    match (EventStream::of(&error), served.into_parts()) {
        (Some(events), Some(parts)) => Ok(Some((parts.io.into_inner(), *events))),
        (_, _) => Err(error),
    }
}
