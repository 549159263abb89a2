//! The model calls of one three-task run, as the runner makes
//! them and as they go over the wire: the bare side repeats them.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::ensure;
use consort_core::message::Failure;
use consort_log::MemoryLog;
use consort_models::Options;
use consort_models::openai::{Api, OpenAi};
use consort_models::{Ask, Model, Piece};
use futures::stream::BoxStream;
use reqwest::Client;
use tokio::net::TcpListener;

use crate::model_server::{ModelServer, Notes};
use crate::stage::{Stage, three_tasks};

/// The number of model calls of a three-task run.
pub(crate) const CALLS: usize = 4;

/// The recorded calls of one run.
pub(crate) struct Recorded {
    /// The calls as requests to a model.
    pub(crate) asks: Vec<Ask>,
    /// The calls as HTTP request bodies.
    pub(crate) bodies: Vec<Vec<u8>>,
}

impl Recorded {
    /// Runs the three tasks once, with a server in this process.
    pub(crate) async fn run(client: &Client) -> anyhow::Result<Recorded> {
        let asks = Arc::default();
        let bodies = Notes::default();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let server = tokio::spawn(ModelServer::new(Duration::ZERO).noting(&bodies).serve(listener));
        let model = Recorder { model: openai(&url, client)?, asks: Arc::clone(&asks) };
        let stage = Stage::new(three_tasks(), Arc::new(MemoryLog::default()), model, NonZeroU32::MIN)?;
        stage.run().await?;
        server.abort();
        let recorded = Recorded { asks: taken(&asks), bodies: taken(&bodies) };
        ensure!(recorded.asks.len() == CALLS && recorded.bodies.len() == CALLS, "a run did not make {CALLS} calls");
        Ok(recorded)
    }
}

/// Returns the model at this address.
pub(crate) fn openai(url: &str, client: &Client) -> anyhow::Result<OpenAi> {
    Ok(OpenAi::new(Options::new(url, "m"), Api::Chat, client.clone())?)
}

fn taken<T>(list: &Mutex<Vec<T>>) -> Vec<T> {
    std::mem::take(&mut list.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A model that records its requests.
struct Recorder {
    model: OpenAi,
    asks: Arc<Mutex<Vec<Ask>>>,
}

impl Model for Recorder {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner).push(ask.clone());
        self.model.stream(ask)
    }
}
