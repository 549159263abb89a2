//! Connections: a limited number at once, each with a timeout for its request head. A
//! slower client is cut off, so that an idle connection cannot occupy a slot.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream, ToSocketAddrs};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::half_closed::HalfClosed;
use crate::site::closed;

/// Connections at once, streams included; more wait until one has ended.
const CONNECTIONS_MAX: usize = 16_384;
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

/// Serves until `open` closes; then returns when every connection has ended.
pub(crate) async fn listen(listener: TcpListener, router: Router, open: watch::Receiver<()>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    let mut closing = std::pin::pin!(closed(open.clone()));
    loop {
        tokio::select! {
            () = &mut closing => break,
            Some(_ended) = connections.join_next() => {}
            (socket, place) = accept(&listener, &room) => {
                connections.spawn(converse(socket, router.clone(), open.clone(), place));
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn accept(listener: &TcpListener, room: &Arc<Semaphore>) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed, so a permit is always granted in the end.
    let place = room.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((socket, _)) => return (socket, place),
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::error!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

/// Whether an error concerns one connection that was gone before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    [ConnectionAborted, ConnectionRefused, ConnectionReset].contains(&error.kind())
}

/// Serves the requests of one connection, one after the other. When the server stops,
/// the current one is the last.
async fn converse(socket: TcpStream, router: Router, open: watch::Receiver<()>, _place: Option<OwnedSemaphorePermit>) {
    // Frames are small, and a client waits for each.
    let _slower = socket.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE);
    let connection =
        http.serve_connection(TokioIo::new(HalfClosed::new(socket)), TowerToHyperService::new(router)).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = closed(open) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}
