//! Consort's server, over a log on disk.

use std::io::BufRead;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use consort_core::chat::{Mode, Rules};
use consort_core::draft::Ensemble;
use consort_core::message::{Failure, Part, Reply, Stop, Usage};
use consort_net::network::{Network, Options};
use consort_net::transport::WebSockets;
use consort_runtime::chats::{Chats, Settings};
use consort_runtime::collections::Collections;
use consort_runtime::log::SqliteLog;
use consort_runtime::model::{Ask, Model, Piece, client};
use consort_server::Server;
use consort_server::access::{Access, Reach};
use consort_server::ws::Sockets;
use futures::stream::{self, BoxStream, StreamExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::{PACE, TOKENS};
use crate::recorded::openai;
use crate::stage::{Stage, one_task, three_tasks};

/// Serves the three tasks, asking the model at this address.
pub(super) async fn serve_three(url: &str) -> anyhow::Result<()> {
    let mut gone = told();
    tokio::select! {
        served = serve(three_tasks(), openai(url, &client()?)?) => served,
        _gone = gone.recv() => Ok(()),
    }
}

/// Serves one task whose model speaks, at its pace, when the parent says so.
pub(super) async fn serve_paced() -> anyhow::Result<()> {
    let (said, mut told) = (Paced::default(), told());
    let listening = said.0.clone();
    let relay = async move {
        while told.recv().await.is_some() {
            listening.notify_waiters();
        }
    };
    tokio::select! {
        served = serve(one_task(), said) => served,
        () = relay => Ok(()),
    }
}

async fn serve(ensemble: Ensemble, model: impl Model) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let log = Arc::new(SqliteLog::open(&folder.path().join("log.db"))?);
    let stage = Stage::new(ensemble, log, model, NonZeroU32::MAX)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    Ok(server(&stage).serve(listener, std::future::pending()).await?)
}

fn server(stage: &Stage) -> Server {
    let (engine, catalog) = (stage.engine.clone(), (*stage.catalog).clone());
    let rules = Rules {
        model: None,
        classes: Vec::new(),
        workflow_registry: false,
        limits: Default::default(),
        mode: Mode::Auto,
        approval_timeout_ms: 0,
    };
    let settings = Settings {
        rules,
        catalog: catalog.clone(),
        providers: Vec::new(),
        workspace: None,
        detach_grace: Duration::from_secs(60),
        collections: Collections::new(engine.seams().log.clone()),
    };
    let network = Options {
        name: "bench".to_owned(),
        realm: None,
        lease: Duration::from_secs(15),
        max_hops: 8,
        shareable: true,
        peers: Vec::new(),
    };
    Server {
        chats: Chats::new(engine.clone(), settings),
        ensemble: (*stage.ensemble).clone(),
        catalog,
        direct: Vec::new(),
        workspace: None,
        access: Access { reach: Reach::Loopback, origins: Vec::new(), keys: Vec::new() },
        max_body_bytes: 1 << 20,
        drain_timeout: Duration::from_secs(1),
        tool_patience: Duration::from_secs(30),
        sockets: Sockets { retained_runs: 10, snapshot_iterations: 5, max_frame_bytes: 1 << 20 },
        network: Network::new(network, Arc::new(WebSockets)),
        engine,
    }
}

/// A message whenever the parent says something; the end when it is gone.
pub(super) fn told() -> mpsc::Receiver<()> {
    let (tell, told) = mpsc::channel(1);
    // The process ends with it.
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines();
        for _line in lines.map_while(Result::ok) {
            if tell.blocking_send(()).is_err() {
                return;
            }
        }
    });
    told
}

/// What a model says most of the time.
pub(super) fn word() -> &'static str {
    " sunny"
}

/// Says a thousand words once it is told to; until then, nothing.
#[derive(Clone, Default)]
struct Paced(Arc<tokio::sync::Notify>);

impl Model for Paced {
    fn stream(&self, _ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        let told = self.0.clone();
        let words = async move {
            told.notified().await;
            let pace = tokio::time::interval(PACE);
            stream::unfold((pace, 0), async |(mut pace, said)| {
                if said == TOKENS {
                    return None;
                }
                pace.tick().await;
                Some((Ok(Piece::Delta(word().into())), (pace, said + 1)))
            })
        };
        let part = Part::Text { text: word().repeat(TOKENS).into(), native: None };
        let reply = Reply { wire: "paced".to_owned(), parts: vec![part], stop: Stop::End };
        let usage = Usage { input: 120, output: TOKENS as u64, ..Usage::default() };
        let done = stream::once(async move { Ok(Piece::Done(reply, Some(usage))) });
        stream::once(words).flatten().chain(done).boxed()
    }
}
