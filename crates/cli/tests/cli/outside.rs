//! A server of somebody else: it answers as it is told to, and the test hears
//! every request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::slow_model::PATIENCE;

/// The server.
pub(crate) struct Outside {
    /// The port it listens on, on this machine.
    pub(crate) port: u16,
    heard: Receiver<String>,
}

impl Outside {
    /// Starts a server that answers each request with these bytes.
    pub(crate) fn start(answer: fn(&str) -> String) -> Outside {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, heard) = channel();
        std::thread::spawn(move || listener.incoming().for_each(|stream| serve(stream.unwrap(), answer, &tell)));
        Outside { port, heard }
    }

    /// Returns the next request, head and body.
    pub(crate) fn next(&self) -> String {
        self.heard.recv_timeout(PATIENCE).unwrap()
    }

    /// Returns whether every request has been taken by `next`.
    pub(crate) fn is_quiet(&self) -> bool {
        self.heard.try_recv().is_err()
    }
}

fn serve(stream: TcpStream, answer: fn(&str) -> String, tell: &Sender<String>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut request).unwrap(), 0);
    }
    let length = request.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    request.push_str(&String::from_utf8(body).unwrap());
    (&stream).write_all(answer(&request).as_bytes()).unwrap();
    let _test_is_over = tell.send(request);
}
