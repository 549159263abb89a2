//! Three servers over one PostgreSQL, and a client that asks whichever it likes.

use std::time::{Duration, Instant};

use consort_test_postgres::Database;
use reqwest::{Client, RequestBuilder};
use serde_json::Value;

use crate::binary::CONSORT;
use crate::ports;
use crate::served::Served;
use crate::store::client;

/// The longest time for anything here: machines that run tests are busy, and the numbers may be large.
const PATIENCE: Duration = Duration::from_secs(300);
/// The pause between two looks at a condition.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The names of the servers.
pub(super) const NAMES: [&str; 3] = ["first", "second", "third"];
/// The time after which a server that is not heard of counts as gone. A busy machine is not to be taken for a dead one.
pub(super) const LEASE: Duration = Duration::from_secs(3);

/// The servers.
pub(super) struct Trio {
    servers: [Served; 3],
    client: Client,
}

impl Trio {
    /// Starts them with the same settings, and returns when each has heard of the others.
    pub(super) async fn start(database: &Database, settings: &str) -> Trio {
        Trio::start_as(CONSORT, |_place, _port| format!("{settings}{}", cluster(database.url()))).await
    }

    /// Starts this version of them, each with the settings for its place and port; those of the cluster come last, and
    /// get its name.
    pub(super) async fn start_as(program: &str, mut settings: impl FnMut(usize, u16) -> String) -> Trio {
        let start = |place: usize| {
            let folder = tempfile::tempdir().unwrap();
            let port = ports::free();
            let config = format!("{}name = '{}'\n", settings(place, port), NAMES[place]);
            std::fs::write(folder.path().join("consort.toml"), config).unwrap();
            Served::start_program(program, folder, port)
        };
        let trio = Trio { servers: [0, 1, 2].map(start), client: client() };
        trio.all_linked().await;
        trio
    }

    /// Returns when each server has heard of the others.
    pub(super) async fn all_linked(&self) {
        for place in 0..3 {
            let has_all = |cluster: &Value| cluster["nodes"].as_array().is_some_and(|nodes| nodes.len() == 3);
            self.until(place, "/api/cluster", has_all).await;
            self.until(place, "/api/status", |status| status["links"] == "all").await;
        }
    }

    /// Returns one of them.
    pub(super) fn server(&mut self, place: usize) -> &mut Served {
        &mut self.servers[place % 3]
    }

    /// Returns the addresses of all, which stay the same.
    pub(super) fn addresses(&self) -> [String; 3] {
        self.servers.each_ref().map(|server| server.url.clone())
    }

    /// Returns the lines that they have logged and that tell of something wrong.
    pub(super) fn complaints(&self) -> Vec<String> {
        let logs = self.servers.iter().map(Served::log);
        let has = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
        let is_wrong = |line: &&str| {
            // What is refused during a restart was an error of earlier versions.
            has(line, &["\"ERROR\"", "damaged", "cannot be read"]) && !has(line, &["\"DRAINING\"", "\"STARTING\""])
        };
        logs.flat_map(|log| log.lines().filter(is_wrong).map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// Kills one of them and starts it again.
    pub(super) fn kill(&mut self, place: usize) {
        self.servers[place].kill();
        self.servers[place].restart();
        // The connections that were kept open are gone.
        self.client = client();
    }

    fn address(&self, place: usize, path: &str) -> String {
        format!("{}{path}", self.servers[place % 3].url)
    }

    /// Begins a request for a stream of events.
    pub(super) fn events(&self, place: usize, path: &str) -> RequestBuilder {
        self.client.get(self.address(place, path)).header("accept", "text/event-stream")
    }

    pub(super) async fn get(&self, place: usize, path: &str) -> (u16, Value) {
        let request = self.client.get(self.address(place, path)).header("accept", "application/json");
        answer(request).await
    }

    pub(super) async fn post(&self, place: usize, path: &str, body: &Value) -> (u16, Value) {
        answer(self.client.post(self.address(place, path)).json(body)).await
    }

    /// Sends a request under a key.
    pub(super) async fn keyed(&self, place: usize, path: &str, body: &Value, key: &str) -> (u16, Value) {
        answer(self.client.post(self.address(place, path)).json(body).header("idempotency-key", key)).await
    }

    /// Begins a run, as a client does that is told to try again; returns its id.
    pub(super) async fn begin(&self, place: usize, body: &Value) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.post(place, "/api/runs", body).await {
                (202, answer) => return answer["runId"].as_str().unwrap().to_owned(),
                (503, _) if Instant::now() < end => tokio::time::sleep(LOOK_AGAIN).await,
                (status, answer) => panic!("{status} {answer}"),
            }
        }
    }

    /// Asks a server again until its answer is as wanted.
    pub(super) async fn until(&self, place: usize, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let (status, answer) = self.get(place, path).await;
            if status == 200 && wanted(&answer) {
                return answer;
            }
            assert!(Instant::now() < end, "{path}: {status} {answer}");
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

/// Returns the settings of a cluster with this database.
pub(super) fn cluster(url: &str) -> String {
    format!("[cluster]\nurl = '{url}'\nsecret = 'not told'\nlease = '{}s'\n", LEASE.as_secs())
}

async fn answer(request: RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}
