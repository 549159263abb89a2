//! `consort serve` as a process: what it prints, what it answers, how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;

use crate::binary::{interrupt, run, start};
use crate::slow_model::SlowModel;

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

#[test]
fn a_run_here_can_be_seen_and_stopped_by_others_while_it_lasts() {
    let folder = tempfile::tempdir().unwrap();
    let model = SlowModel::start();
    let config = format!(
        "[models.slow]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{}/v1'\n[ensemble]\nname = 'one'\n\
         [[ensemble.task]]\ndescription = 'Say hello'\n",
        model.port
    );
    std::fs::write(folder.path().join("consort.toml"), config).unwrap();
    let mut runner = start(folder.path(), &["run", "--serve", "0"]);
    let mut words = BufReader::new(runner.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = words.next().unwrap();
    let url = line.strip_prefix("consort listening on ").and_then(|line| line.strip_suffix(" while the run lasts"));
    let url = url.unwrap_or_else(|| panic!("{line}")).to_owned();
    model.asked();
    let consort = |args: &[&str]| run(folder.path(), &[args, &["--url", &url]].concat());
    let (status, listed, _) = consort(&["runs", "list"]);
    let id = listed.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert_eq!((status, listed.contains(&format!("\n{id}  running "))), (Some(0), true), "{listed}");
    let (status, _, refused) = consort(&["run"]);
    assert_eq!((status, refused.ends_with("(CONCURRENCY_LIMIT)\n")), (Some(1), true), "{refused}");

    assert_eq!(consort(&["runs", "cancel", &id, "--mode", "now"]).0, Some(0));
    assert_eq!(words.last().as_deref(), Some("Cancelled; 0 of 1 task finished."));
    assert_eq!(runner.wait().unwrap().code(), Some(1));
    assert_eq!(consort(&["runs", "list"]).0, Some(3), "the server is gone with the run");
}
