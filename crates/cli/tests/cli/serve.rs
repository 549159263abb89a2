//! `consort serve` as a process: what it prints, what it answers, how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;

use crate::binary::{interrupt, run, start};

/// A server in this folder, and where it listens.
fn serve(folder: &Path) -> (Child, String) {
    let mut server = start(folder, &["serve", "--port", "0", "--data", "data"]);
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("consort listening on http://").unwrap().to_owned();
    (server, address)
}

fn send(address: &str, request: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "{request}\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_server_says_where_it_listens_runs_the_demo_and_ends_in_order_when_told() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, address) = serve(folder.path());
    let run = send(&address, "POST /api/runs HTTP/1.1\r\nPrefer: wait=60");
    assert!(run.starts_with("HTTP/1.1 200") && run.contains(r#""status":"COMPLETED""#), "{run}");
    interrupt(&server);
    assert_eq!(server.wait().unwrap().code(), Some(0));

    let (mut again, address) = serve(folder.path());
    assert!(send(&address, "GET /api/runs HTTP/1.1").contains(r#""total":1"#), "the run is still there");
    interrupt(&again);
    assert_eq!(again.wait().unwrap().code(), Some(0));
}

#[test]
fn a_server_that_others_could_reach_needs_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = run(folder.path(), &["serve", "--host", "0.0.0.0", "--port", "0"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("[[server.api_key]]"), "{err}");
}
