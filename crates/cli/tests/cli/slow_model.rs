//! A chat-completions server that begins an answer and never ends it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Longer than anything here takes; a test that waits for it has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
const BEGINNING: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Well\"}}]}\n\n";

/// The server, for one connection.
pub(crate) struct SlowModel {
    /// The port it listens on, on this machine.
    pub(crate) port: u16,
    happened: Receiver<What>,
}

#[derive(Debug, PartialEq)]
enum What {
    Asked,
    HungUp,
}

impl SlowModel {
    /// Starts the server.
    pub(crate) fn start() -> SlowModel {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, happened) = channel();
        std::thread::spawn(move || listener.accept().map(|(stream, _)| serve(stream, &tell)));
        SlowModel { port, happened }
    }

    /// Returns when it has been asked and has begun to answer.
    pub(crate) fn asked(&self) {
        assert_eq!(self.happened.recv_timeout(PATIENCE), Ok(What::Asked));
    }

    /// Returns when the client is gone.
    pub(crate) fn hung_up(&self) {
        assert_eq!(self.happened.recv_timeout(PATIENCE), Ok(What::HungUp));
    }
}

fn serve(mut stream: TcpStream, tell: &Sender<What>) {
    let mut bytes = [0; 64 * 1024];
    let mut begun = false;
    // The request is small, and what comes after it is of no interest.
    while matches!(stream.read(&mut bytes), Ok(1..)) {
        if !begun {
            begun = true;
            stream.write_all(BEGINNING.as_bytes()).unwrap();
            tell.send(What::Asked).unwrap();
        }
    }
    let _test_is_over = tell.send(What::HungUp);
}
