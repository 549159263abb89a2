//! A gate on the way from one program to another, which lets bytes through, holds them back or ends every connection.

use std::net::TcpListener as Bound;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The state of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Open,
    /// Nothing comes through, and nobody hears of it: as when packets are lost.
    Still,
    /// Connections end, and new ones end at once.
    Closed,
}

/// A gate.
pub(super) struct Gate {
    /// The port before it.
    pub(super) port: u16,
    way: watch::Sender<Way>,
}

impl Gate {
    /// Opens one before this address.
    pub(super) fn before(target: String) -> Gate {
        let bound = Bound::bind("127.0.0.1:0").unwrap();
        bound.set_nonblocking(true).unwrap();
        let port = bound.local_addr().unwrap().port();
        let listener = TcpListener::from_std(bound).unwrap();
        let way = watch::Sender::new(Way::Open);
        let seen = way.subscribe();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, target.clone(), seen.clone()));
            }
        });
        Gate { port, way }
    }

    pub(super) fn set(&self, way: Way) {
        self.way.send_replace(way);
    }
}

/// Lets one connection through.
async fn pass(client: TcpStream, target: String, mut way: watch::Receiver<Way>) {
    if !is_open(&mut way).await {
        return;
    }
    let Ok(server) = TcpStream::connect(&target).await else { return };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // Either side that ends takes the other with it.
    tokio::select! {
        () = carry(from_client, to_server, way.clone()) => {}
        () = carry(from_server, to_client, way) => {}
    }
}

/// Waits while nothing comes through; false when the gate is closed, or gone.
async fn is_open(way: &mut watch::Receiver<Way>) -> bool {
    way.wait_for(|way| *way != Way::Still).await.is_ok_and(|way| *way == Way::Open)
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut way: watch::Receiver<Way>) {
    let mut bytes = vec![0; 16 * 1024];
    while is_open(&mut way).await {
        let size = tokio::select! {
            read = from.read(&mut bytes) => match read {
                Ok(size @ 1..) => size,
                Ok(_) | Err(_) => return,
            },
            changed = way.changed() => match changed {
                Ok(()) => continue,
                Err(_gone) => return,
            },
        };
        // Read a moment before the gate was shut: it comes through later, or never.
        if !is_open(&mut way).await || to.write_all(&bytes[..size]).await.is_err() {
            return;
        }
    }
}
