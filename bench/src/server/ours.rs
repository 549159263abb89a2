//! Consort's server, over a log on disk.

use std::io::BufRead;
use std::num::NonZeroU32;
use std::sync::Arc;

use consort_core::draft::Ensemble;
use consort_core::message::{Failure, Part, Reply, Stop, Usage};
use consort_http::client;
use consort_log::SqliteLog;
use consort_models::{Ask, Model, Piece};
use futures::stream::{self, BoxStream, StreamExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::{PACE, TOKENS};
use crate::peer;
use crate::recorded::openai;
use crate::stage::{Stage, one_task, three_tasks};

/// Serves the three tasks with the model at this address.
pub(super) async fn serve_three(url: &str) -> anyhow::Result<()> {
    let mut gone = told();
    tokio::select! {
        served = serve(three_tasks(), openai(url, &client()?)?) => served,
        _gone = gone.recv() => Ok(()),
    }
}

/// Serves one task whose model speaks, at its pace, when the parent gives the signal.
pub(super) async fn serve_paced() -> anyhow::Result<()> {
    let said = Paced::default();
    let mut told = told();
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
    let parts = ((*stage.ensemble).clone(), (*stage.catalog).clone());
    let server = peer::server(stage.engine.clone(), parts, peer::network("bench", Vec::new()));
    Ok(server.serve(listener, std::future::pending()).await?)
}

/// Returns a message for every line of the parent; the channel ends with the parent.
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

/// Returns the word that the model repeats.
pub(super) fn word() -> &'static str {
    " sunny"
}

/// A model that says a thousand words once it is notified; until then, nothing.
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
