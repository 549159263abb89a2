//! A proxy in front of the database that cuts connections at chosen moments of an append.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// The moment at which a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Not at all.
    Never,
    /// Before the database gets anything of the statement.
    Before,
    /// When it has the first half.
    Half,
    /// When it has all of it: nobody hears whether it commits.
    Sent,
    /// When it has answered, and the answer is lost.
    Answered,
    /// The same, and from then on nobody is let through.
    Closing,
    /// For the client at once; the database gets the statement when [`Proxy::let_go`] says so.
    Late,
}

/// All moments, one after the other.
pub(crate) const EVERY: [Cut; 5] = [Cut::Before, Cut::Half, Cut::Sent, Cut::Answered, Cut::Never];

/// A proxy that goes through a list of moments again and again, one for each append that passes.
#[derive(Clone)]
pub(crate) struct Proxy {
    port: u16,
    state: Arc<State>,
}

struct State {
    host: String,
    cuts: Vec<Cut>,
    /// The number of appends that came.
    seen: AtomicUsize,
    /// Whether nobody is let through.
    is_closed: AtomicBool,
    /// Whether nothing comes through any more, and no connection ends.
    is_still: AtomicBool,
    /// Says that what is held back may go.
    go: Semaphore,
    /// Says that what was held back has come to its end.
    gone: Semaphore,
}

impl Proxy {
    pub(crate) async fn start(host: String, cuts: &[Cut]) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cuts = cuts.to_vec();
        let state = Arc::new(State {
            host,
            cuts,
            seen: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            is_still: AtomicBool::new(false),
            go: Semaphore::new(0),
            gone: Semaphore::new(0),
        });
        let proxy = Proxy { port, state: state.clone() };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if !state.is_closed.load(Ordering::Relaxed) {
                    tokio::spawn(state.clone().serve(client));
                }
            }
        });
        proxy
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the number of appends that were sent, also again.
    pub(crate) fn seen(&self) -> usize {
        self.state.seen.load(Ordering::Relaxed)
    }

    /// Returns whether nobody is let through.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.is_closed.load(Ordering::Relaxed)
    }

    /// Lets the database have what was held back; returns when it has answered or refused it.
    pub(crate) async fn let_go(&self) {
        self.state.go.add_permits(1);
        self.state.gone.acquire().await.unwrap().forget();
    }

    /// Holds everything back from now on, as a network does that loses packets.
    pub(crate) fn stand_still(&self) {
        self.state.is_still.store(true, Ordering::Relaxed);
    }

    /// Lets everybody through again.
    pub(crate) fn open(&self) {
        self.state.is_closed.store(false, Ordering::Relaxed);
    }
}

impl State {
    async fn serve(self: Arc<State>, mut client: TcpStream) {
        let Ok(mut server) = TcpStream::connect(&self.host).await else { return };
        let mut requests = Requests::default();
        let mut from_client = vec![0; 64 * 1024];
        let mut from_server = vec![0; 64 * 1024];
        let mut swallows = false;
        loop {
            tokio::select! {
                read = client.read(&mut from_client) => {
                    self.held_back().await;
                    let Ok(size @ 1..) = read else { return };
                    requests.0.extend_from_slice(&from_client[..size]);
                    while let Some(request) = requests.next() {
                        let cut = if is_append(&request) { self.cut() } else { Cut::Never };
                        if cut == Cut::Late {
                            drop(client);
                            self.go.acquire().await.unwrap().forget();
                            let _refused = server.write_all(&request).await;
                            let _answered = server.read(&mut from_server).await;
                            self.gone.add_permits(1);
                            return;
                        }
                        let sent = match cut {
                            Cut::Before => 0,
                            Cut::Half => request.len() / 2,
                            Cut::Never | Cut::Sent | Cut::Answered | Cut::Closing | Cut::Late => request.len(),
                        };
                        if self.is_closed.load(Ordering::Relaxed) || server.write_all(&request[..sent]).await.is_err() {
                            return;
                        }
                        swallows = matches!(cut, Cut::Answered | Cut::Closing);
                        self.is_closed.fetch_or(cut == Cut::Closing, Ordering::Relaxed);
                        if matches!(cut, Cut::Before | Cut::Half | Cut::Sent) {
                            return;
                        }
                    }
                }
                read = server.read(&mut from_server) => {
                    self.held_back().await;
                    let Ok(size @ 1..) = read else { return };
                    if swallows || client.write_all(&from_server[..size]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Returns at once; never, when nothing comes through.
    async fn held_back(&self) {
        if self.is_still.load(Ordering::Relaxed) {
            std::future::pending().await
        }
    }

    fn cut(&self) -> Cut {
        let place = self.seen.fetch_add(1, Ordering::Relaxed);
        self.cuts[place % self.cuts.len()]
    }
}

/// The bytes of a client that are not yet a whole request.
#[derive(Default)]
struct Requests(Vec<u8>);

impl Requests {
    /// Takes the next request: messages up to a `Sync` or a simple query. The first message has no type.
    fn next(&mut self) -> Option<Vec<u8>> {
        let mut end = 0;
        loop {
            let kind = *self.0.get(end)?;
            // Of the messages with a type, none begins with 0; the length of the first one does.
            let head = usize::from(kind != 0);
            let length: [u8; 4] = self.0.get(end + head..end + head + 4)?.try_into().unwrap();
            end += head + u32::from_be_bytes(length) as usize;
            if self.0.len() < end {
                return None;
            }
            if matches!(kind, 0 | b'S' | b'Q' | b'X' | b'p') {
                return Some(self.0.drain(..end).collect());
            }
        }
    }
}

/// Returns whether a request executes the only statement that is prepared under a name.
fn is_append(request: &[u8]) -> bool {
    // Bind: its type, its length, the name of the portal, which is empty, and the name of the statement.
    request[0] == b'B' && request.get(6).is_some_and(|first| *first != 0)
}
