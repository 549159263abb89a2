//! Requests to a server that may be down at any moment.

use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// The pause before a request is sent again.
const PAUSE: Duration = Duration::from_millis(20);
/// Far longer than a server is down or busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);
/// The longest time for one attempt, so that one that a kill left without an answer is not the last.
const ATTEMPT: Duration = Duration::from_secs(60);

/// A client of one server.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
}

/// The response of a server: the status and the body.
pub(crate) type Answer = (u16, Value);

impl Client {
    pub(crate) fn new(url: &str) -> Client {
        // It is an error to install it twice; another test may have done it.
        let _done = rustls::crypto::ring::default_provider().install_default();
        Client { http: reqwest::Client::new(), url: url.to_owned() }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).header("accept", "application/json")
    }

    /// Sends a request once; nothing when no whole answer came.
    async fn send(&self, request: RequestBuilder) -> Option<Answer> {
        let answer = request.timeout(ATTEMPT).send().await.ok()?;
        let status = answer.status().as_u16();
        let text = answer.text().await.ok()?;
        Some((status, serde_json::from_str(&text).unwrap_or_default()))
    }

    /// Reads something, as often as it takes.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.insist(path, || self.request(Method::GET, path)).await;
        assert_eq!(answer.0, 200, "{path}: {}", answer.1);
        answer.1
    }

    /// Sends a request once; returns nothing when no answer came, so that its outcome is not known.
    pub(crate) async fn post_once(&self, path: &str, body: &Value) -> Option<Answer> {
        self.send(self.request(Method::POST, path).json(body)).await.filter(|answer| !is_passing(answer))
    }

    /// Sends a request with an idempotency key until it is answered.
    pub(crate) async fn post(&self, path: &str, body: &Value, key: &str) -> Answer {
        let request = || self.request(Method::POST, path).json(body).header("idempotency-key", key);
        self.insist(path, request).await
    }

    /// Sends a request that is answered, whatever the answer is.
    pub(crate) async fn post_any(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::POST, path).json(body)).await.unwrap()
    }

    /// Reads something, whatever the answer is.
    pub(crate) async fn get_any(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await.unwrap()
    }

    /// Returns when the server takes work.
    pub(crate) async fn until_ready(&self) {
        self.insist("/api/health/ready", || self.request(Method::GET, "/api/health/ready")).await;
    }

    async fn insist(&self, path: &str, request: impl Fn() -> RequestBuilder) -> Answer {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = self.send(request()).await.filter(|answer| !is_passing(answer)) {
                return answer;
            }
            assert!(Instant::now() < until, "{path} is never answered");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Asks for something until it is as it should be.
    pub(crate) async fn until(&self, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = self.get(path).await;
            if holds(&answer) {
                return answer;
            }
            assert!(Instant::now() < until, "{path} stays {answer}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Reads every run that has a tag, with its details.
    pub(crate) async fn runs(&self, tag: &str) -> Vec<Value> {
        let mut runs = Vec::new();
        loop {
            let page = self.get(&format!("/api/runs?tag={tag}&limit=100&offset={}", runs.len())).await;
            let some = page["runs"].as_array().unwrap();
            for run in some {
                runs.push(self.get(&format!("/api/runs/{}", run["runId"].as_str().unwrap())).await);
            }
            if some.len() < 100 {
                return runs;
            }
        }
    }

    /// Reads every stored event of a run.
    pub(crate) async fn events(&self, run: &str) -> Vec<Value> {
        let page = self.get(&format!("/api/runs/{run}/events?limit=1000")).await;
        page["events"].as_array().unwrap().clone()
    }
}

/// Returns whether a server refuses for a while only: it starts, or has too much to do.
fn is_passing((status, _): &Answer) -> bool {
    matches!(status, 429 | 503)
}
