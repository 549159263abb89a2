//! A socket whose client has stopped sending. The client may still want the response,
//! so the end of the input is reported a moment later; a client that is gone looks the
//! same.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// The time that a response may take once the client has stopped sending.
const PATIENCE: Duration = Duration::from_secs(2);

/// The time that a client may go on sending once the server has closed: a connection that
/// is dropped with unread input is reset, and the client might lose the last response.
const PARTING: Duration = Duration::from_secs(1);
/// Bytes of that input that are discarded at once.
const DISCARDED: usize = 8 * 1024;

/// A connection that reports its end `PATIENCE` after its client has stopped sending.
pub struct HalfClosed {
    socket: TcpStream,
    ending: Option<Pin<Box<Sleep>>>,
    /// Set once the server has stopped sending.
    parting: Option<Pin<Box<Sleep>>>,
}

impl HalfClosed {
    /// Wraps a connection.
    pub fn new(socket: TcpStream) -> HalfClosed {
        HalfClosed { socket, ending: None, parting: None }
    }

    /// Discards what the client still sends, until it has closed too or its time is up.
    fn discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut scratch = [0; DISCARDED];
        loop {
            if self.parting.as_mut().is_none_or(|parting| parting.as_mut().poll(cx).is_ready()) {
                return Poll::Ready(());
            }
            let mut buffer = ReadBuf::new(&mut scratch);
            let read = ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(());
            }
        }
    }

    fn socket(self: Pin<&mut Self>) -> Pin<&mut TcpStream> {
        Pin::new(&mut self.get_mut().socket)
    }
}

impl AsyncRead for HalfClosed {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.ending.is_none() {
            let before = buffer.filled().len();
            ready!(self.as_mut().socket().poll_read(cx, buffer))?;
            if buffer.filled().len() > before || buffer.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
        }
        let ending = self.ending.get_or_insert_with(|| Box::pin(sleep(PATIENCE)));
        ending.as_mut().poll(cx).map(Ok)
    }
}

impl AsyncWrite for HalfClosed {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.socket().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.socket().poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.parting.is_none() {
            ready!(self.as_mut().socket().poll_shutdown(cx))?;
            if self.ending.is_some() {
                return Poll::Ready(Ok(()));
            }
            self.parting = Some(Box::pin(sleep(PARTING)));
        }
        self.discard(cx).map(Ok)
    }
}
