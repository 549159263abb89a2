//! Three servers over one PostgreSQL, and a client that asks whichever it likes.

use std::time::{Duration, Instant};

use consort_test_postgres::Database;
use reqwest::{Client, RequestBuilder};
use serde_json::Value;

use crate::served::Served;
use crate::store::client;

/// The longest time for anything here: machines that run tests are busy, and the numbers may be large.
const PATIENCE: Duration = Duration::from_secs(300);
/// The pause between two looks at a condition.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The servers.
pub(super) struct Trio {
    servers: [Served; 3],
    client: Client,
}

impl Trio {
    /// Starts them with the same settings, and returns when each has heard of the others.
    pub(super) async fn start(database: &Database, settings: &str) -> Trio {
        let url = database.url();
        let start = |name: &str| {
            let cluster = format!("[cluster]\nurl = '{url}'\nsecret = 'not told'\nlease = '3s'\nname = '{name}'\n");
            Served::start(Some(&format!("{settings}{cluster}")))
        };
        let trio = Trio { servers: ["first", "second", "third"].map(start), client: client() };
        for place in 0..3 {
            trio.until(place, "/api/status", |status| status["links"] == "all").await;
        }
        trio
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

async fn answer(request: RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}
