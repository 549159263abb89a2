//! Servers of both generations of the protocol, each of which refuses the
//! other's messages: with a handshake (2025-11-25) and without (2026-07-28).

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use consort_tools::mcp::{ServerOptions, Transport};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::{PATIENCE, Stage, done, until};

/// The time after which a server that says nothing is greeted in another way: long enough to start one on a busy
/// machine, and shorter than the time after which both ways are tried at once.
const SILENCE: Duration = Duration::from_secs(8);

/// Returns a server of this generation, over its standard input and output.
fn program(era: &str, folder: &Path) -> Transport {
    let args = [script(), era.to_owned(), "stdio".to_owned(), folder.join("ledger").to_str().unwrap().to_owned()];
    Transport::Command {
        command: "python3".to_owned(),
        args: args.to_vec(),
        env: BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap())]),
        folder: folder.to_owned(),
    }
}

fn script() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp_eras.py").to_str().unwrap().to_owned()
}

/// Starts a server of this generation, over HTTP.
async fn endpoint(era: &str, folder: &Path) -> (Child, Transport) {
    let mut command = Command::new("python3");
    command.args([script(), era.to_owned(), "http".to_owned()]).arg(folder.join("ledger"));
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let port = lines.next_line().await.unwrap().unwrap();
    (server, Transport::Http { url: format!("http://127.0.0.1:{port}/mcp"), headers: BTreeMap::new() })
}

async fn stage(transport: Transport, timeout: Duration, folder: tempfile::TempDir) -> Stage {
    let options = ServerOptions { name: "era".to_owned(), transport, timeout, tools: BTreeMap::new() };
    let stage = Stage::of(vec![options], folder);
    until("it is connected", || stage.servers.troubles().is_empty()).await;
    stage
}

/// Checks that its tools are listed and called, and that it got
/// only messages of its own generation once that was known.
async fn is_understood(era: &str, stage: &Stage) {
    assert_eq!(stage.call("say", json!({ "text": "hi" })).await, done("say hi run/1.0.0"), "{era}");
    let ledger = stage.ledger();
    let listed = ledger.iter().position(|line| line == "tools/list").unwrap();
    assert_eq!(ledger[..listed].contains(&"initialize".to_owned()), era != "new", "{era}: {ledger:?}");
    let other = if era == "new" { "initialize" } else { "server/discover" };
    assert!(!ledger[listed..].contains(&other.to_owned()), "{era}: {ledger:?}");
}

#[tokio::test]
async fn servers_of_both_eras_are_understood_over_standard_input_and_output() {
    for era in ["new", "old"] {
        let folder = tempfile::tempdir().unwrap();
        let stage = stage(program(era, folder.path()), PATIENCE, folder).await;
        is_understood(era, &stage).await;
    }
}

#[tokio::test]
async fn servers_of_both_eras_are_understood_over_http() {
    for era in ["new", "old"] {
        let folder = tempfile::tempdir().unwrap();
        let (_server, transport) = endpoint(era, folder.path()).await;
        let stage = stage(transport, PATIENCE, folder).await;
        is_understood(era, &stage).await;
    }
}

#[tokio::test]
async fn old_servers_that_end_or_say_nothing_when_they_are_asked_are_greeted_with_a_handshake() {
    for (era, timeout) in [("strict", PATIENCE), ("silent", SILENCE)] {
        let folder = tempfile::tempdir().unwrap();
        let stage = stage(program(era, folder.path()), timeout, folder).await;
        is_understood(era, &stage).await;
    }
}

#[tokio::test]
async fn a_server_without_a_handshake_is_asked_to_tell_when_its_tools_change() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, over_http) = endpoint("new", folder.path()).await;
    for transport in [program("new", folder.path()), over_http] {
        let stage = stage(transport, PATIENCE, tempfile::tempdir().unwrap()).await;
        let heard = || std::fs::read_to_string(folder.path().join("ledger")).unwrap_or_default();
        until("it is listened to", || heard().contains("subscriptions/listen")).await;
        assert_eq!(stage.call("grow", json!({})).await, done("grow None run/1.0.0"));
        until("the new tool is there", || stage.toolbox.find("grown").is_some()).await;
        std::fs::remove_file(folder.path().join("ledger")).unwrap();
    }
}
