//! Three servers over one PostgreSQL that are killed, and made to stand still, one after the other: every run ends, what
//! may happen once does, nobody acts for a run that is another's, and clients see every event once.
//! `CONSORT_NODE_TROUBLES` says how often. Beside that, what servers share under load, each with a number of its own:
//! `limits`, the `line`, `keys`, `talks`, `words` and `copies`.

mod copies;
mod keys;
mod limits;
mod line;
mod outside;
mod talks;
mod trio;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use consort_test_postgres::database;
use futures::StreamExt;
use serde_json::{Value, json};

use crate::dice::{Dice, number, say};
use crate::served::Served;
use crate::shared::{LOOK_AGAIN, Outside, config, ended, send, until, work};
use crate::store::client;

/// The number of times that something happens to a server in each test run.
const TROUBLES: u64 = 2;
/// Runs that are begun before each trouble.
const RUNS: u64 = 4;
const NAMES: [&str; 3] = ["first", "second", "third"];

/// The addresses at which clients look for a server that answers.
type Addresses = Arc<Mutex<Vec<String>>>;

/// Follows a run from server to server, as a client does that reconnects; returns the ids of its events.
async fn follow(addresses: Addresses, run: String, mut place: usize) -> Vec<u64> {
    let mut seen: Vec<u64> = Vec::new();
    loop {
        let url = {
            let addresses = addresses.lock().unwrap();
            addresses[place % addresses.len()].clone()
        };
        place += 1;
        tokio::time::sleep(LOOK_AGAIN).await;
        let mut request = client().get(format!("{url}/api/runs/{run}/events")).header("accept", "text/event-stream");
        if let Some(last) = seen.last() {
            request = request.header("last-event-id", last.to_string());
        }
        let Ok(answer) = request.send().await else { continue };
        if !answer.status().is_success() {
            continue;
        }
        if read(answer, &mut seen).await {
            return seen;
        }
    }
}

/// Reads a stream of events until it breaks; true at the end of the run.
async fn read(answer: reqwest::Response, seen: &mut Vec<u64>) -> bool {
    let mut bytes = answer.bytes_stream();
    let mut rest = Vec::new();
    while let Some(Ok(more)) = bytes.next().await {
        rest.extend_from_slice(&more);
        while let Some(end) = rest.windows(2).position(|two| two == b"\n\n") {
            let event = String::from_utf8(rest.drain(..end + 2).collect()).unwrap();
            seen.extend(event.lines().find_map(|line| line.strip_prefix("id: ")).map(|id| id.parse::<u64>().unwrap()));
            if event.contains("\"type\":\"run_result\"") {
                return true;
            }
        }
    }
    false
}

/// Begins a run, as a client does that is told to try again.
async fn begin(server: &Served) -> String {
    loop {
        let (status, answer) = send(server, "/api/runs", &work("pass", json!({})), None).await;
        match status {
            202 => return answer["runId"].as_str().unwrap().to_owned(),
            503 => tokio::time::sleep(LOOK_AGAIN).await,
            _ => panic!("{status} {answer}"),
        }
    }
}

fn names(cluster: &Value) -> BTreeSet<&str> {
    cluster["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_to_servers_every_run_ends_and_what_may_happen_once_does() {
    let Some(database) = database().await else { return };
    let mut dice = Dice::seeded();
    let troubles = number("CONSORT_NODE_TROUBLES").unwrap_or(TROUBLES);
    say(&dice.again("CONSORT_NODE_TROUBLES", troubles));
    let (outside, port) = Outside::start(true).await;
    let start = |name: &str| {
        let config = config(&database, name, port, "[server]\nmax_queued_runs = 1000\n");
        // A busy machine is not to be taken for a dead one.
        Served::start(Some(&config.replace("lease = '1s'", "lease = '3s'")))
    };
    let mut servers = NAMES.map(start);
    let addresses: Addresses = Arc::new(Mutex::new(servers.iter().map(|server| server.url.clone()).collect()));
    let mut runs = BTreeMap::new();
    for trouble in 0..troubles {
        let victim = dice.roll(3) as usize;
        for _run in 0..RUNS {
            let place = dice.roll(3) as usize;
            let run = begin(&servers[place]).await;
            let watcher = tokio::spawn(follow(addresses.clone(), run.clone(), dice.roll(3) as usize));
            runs.insert(run, watcher);
        }
        // Whatever of its work is under way then.
        outside.until_asked(trouble as usize * 2).await;
        let other = (victim + 1) % 3;
        let gone = |cluster: &Value| !names(cluster).contains(NAMES[victim]);
        if dice.one_in(2) {
            servers[victim].kill();
            until(&servers[other], "/api/cluster", gone).await;
            servers[victim].restart();
        } else {
            servers[victim].stand_still();
            until(&servers[other], "/api/cluster", gone).await;
            servers[victim].wake_up();
        }
        until(&servers[other], "/api/cluster", |cluster| names(cluster).len() == 3).await;
    }
    let ids: Vec<String> = runs.keys().cloned().collect();
    for server in &servers {
        ended(server, &ids).await;
    }
    for (run, watcher) in runs {
        let seen = watcher.await.unwrap();
        assert_eq!(seen, (0..seen.len() as u64).collect::<Vec<_>>(), "{run}: each event once, in order");
    }
    outside.check_calls();
}
