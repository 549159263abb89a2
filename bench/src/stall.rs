//! Runs while a reader uses an older state of the store, as a backup does, and
//! streams are erased, as retention does: how long the slowest of a hundred take,
//! against the same runs when nothing else happens.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use consort_core::owner::Owner;
use consort_http::client;
use consort_log::{Append, Log, Query, Record, Row, SqliteLog};
use futures::future::try_join_all;
use rusqlite::Connection;
use tokio::sync::watch;

use crate::child::Server;
use crate::effort::Effort;
use crate::recorded::openai;
use crate::stage::{Stage, three_tasks};
use crate::table::Table;

/// The number of concurrent runs.
const AT_ONCE: usize = 4;
const RATIO_MAX: f64 = 2.0;
/// The size of the stream that is erased meanwhile: 32 MiB.
const LARGE: usize = 512;

/// Measures and adds the target.
pub(crate) async fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let server = Server::start(0)?;
    let client = client()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("log.db");
    let log = Arc::new(SqliteLog::open(&path)?);
    let stage = Stage::new(three_tasks(), log.clone(), openai(&server.url, &client)?, std::num::NonZeroU32::MAX)?;
    let runs = effort.runs / 2;
    slowest(&stage, AT_ONCE * 8).await?;
    let quiet = slowest(&stage, runs).await?;
    large(&*log).await?;
    let reader = Connection::open(&path)?;
    reader.execute_batch("BEGIN; SELECT count(*) FROM records")?;
    let (stop, stopped) = watch::channel(());
    let erasing = tokio::spawn(erase_for_ever(log, stopped));
    let disturbed = slowest(&stage, runs).await?;
    stop.send_replace(());
    let erased = erasing.await??;
    drop(reader);
    println!("while a backup reads and {erased} streams are erased: p99 {disturbed:.2} ms, quiet {quiet:.2} ms");
    let measured = format!("{disturbed:.2} ms, quiet {quiet:.2} ms");
    table.add("a reader and erasures: p99 of runs", measured, (disturbed / quiet, RATIO_MAX), "x");
    Ok(())
}

/// Returns the time in milliseconds that 99 of 100 runs stay within.
async fn slowest(stage: &Stage, runs: usize) -> anyhow::Result<f64> {
    let some = |_| {
        let stage = stage.clone();
        async move {
            let mut took = Vec::new();
            for _ in 0..runs / AT_ONCE {
                let began = Instant::now();
                stage.run().await?;
                took.push(began.elapsed().as_secs_f64() * 1000.0);
            }
            anyhow::Ok(took)
        }
    };
    let mut took: Vec<f64> = try_join_all((0..AT_ONCE).map(some)).await?.concat();
    took.sort_by(f64::total_cmp);
    took.get(took.len() * 99 / 100).copied().context("no run was measured")
}

/// Writes a large stream.
async fn large(log: &dyn Log) -> anyhow::Result<()> {
    let row = Row {
        kind: "run".into(),
        status: "DONE".into(),
        owner: Owner::local(),
        started_at: 0,
        ended_at: Some(0),
        tags: [].into(),
        body: "{}".into(),
        words: None,
    };
    for expected in 0..LARGE as u64 {
        let records = vec![Record { body: "x".repeat(64 * 1024).into(), attachments: Vec::new() }];
        let stream = "run-large";
        let row = row.clone();
        log.append(Append::new(stream, expected, records, row)).await?;
    }
    Ok(())
}

/// Erases the ended runs that there are, the oldest first, until it is told to stop.
async fn erase_for_ever(log: Arc<SqliteLog>, stopped: watch::Receiver<()>) -> anyhow::Result<usize> {
    let mut erased = 0;
    while !stopped.has_changed()? {
        let query = Query { ended: Some(true), order: consort_log::Order::OldestEnd, limit: 1, ..Query::default() };
        let oldest: Vec<_> = log.list(query).await?.rows.into_iter().map(|(stream, _)| stream).collect();
        erased += oldest.len();
        log.erase(oldest).await?;
    }
    Ok(erased)
}
