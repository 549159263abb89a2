//! Reading stored runs back: one long run, and a server that starts over very many.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use consort_core::draft::{Draft, Ensemble};
use consort_http::client;
use consort_log::{Append, Log, Query, Record, Row, SqliteLog};
use consort_models::Model;
use futures::future::try_join_all;

use crate::binary::{self, Binary};
use crate::child::Server;
use crate::effort::{Effort, median};
use crate::instant::{InstantModel, TalkativeModel};
use crate::meter;
use crate::recorded::openai;
use crate::stage::{Stage, TOOL, task, three_tasks, wide};
use crate::table::Table;

/// The number of tasks of one long run, and of rounds of the other, of five events each.
const TASKS: usize = 10_000;
const ROUNDS: usize = 20_000;
/// The maximum time of CPU for a megabyte of log: 100 MB a second.
const MS_PER_MEGABYTE_MAX: f64 = 10.0;
/// The number of stored runs when a server starts.
const ENDED: usize = 100_000;
const UNFINISHED: usize = 1_000;
/// The number of streams that are written at the same time, which share their commits.
const WRITTEN_AT_ONCE: usize = 128;
const LISTENS_MS_MAX: f64 = 200.0;
/// The maximum time for one unfinished run: 2,000 a second.
const RESUMED_MS_MAX: f64 = 0.5;
/// The metric that counts the runs that have ended.
const ENDED_RUNS: &str = "consort_runs_ended_total{status=\"COMPLETED\"}";
/// The delay of a model that answers when all is over.
const SILENT_MS: u64 = 600_000;
/// The time after which resuming has failed.
const PATIENCE: Duration = Duration::from_secs(120);
/// The interval at which a server is asked how far it is.
const LOOK: Duration = Duration::from_millis(20);

/// Measures and adds the targets.
pub(crate) async fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let rounds = effort.large_rounds.max(3);
    replay(("replay: a run of 10,000 tasks", rounds), wide(TASKS), InstantModel, table).await?;
    let max_iterations = u32::try_from(ROUNDS + 1).ok();
    let look = Draft { tools: vec![TOOL.to_owned()], max_iterations, ..task("look", "Look at the sky all day.") };
    let long = Ensemble { name: "long".to_owned(), tasks: vec![look], ..Ensemble::default() };
    replay(("replay: a run of 100,000 events", rounds), long, TalkativeModel { rounds: ROUNDS }, table).await?;
    start(table).await
}

/// Measures the CPU of reading one run back.
async fn replay(
    (what, rounds): (&str, usize),
    ensemble: Ensemble,
    model: impl Model,
    table: &mut Table,
) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let log = Arc::new(SqliteLog::open(&folder.path().join("log.db"))?);
    let stage = Stage::new(ensemble, log.clone(), model, NonZeroU32::MAX)?;
    stage.run().await?;
    let (run, row) =
        log.list(Query { limit: 1, ..Query::default() }).await?.rows.pop().context("nothing was stored")?;
    ensure!(&*row.status == "COMPLETED", "the run is {}", row.status);
    let records = log.read(&run, 0, usize::MAX).await?;
    let megabytes = records.iter().map(|record| record.body.len()).sum::<usize>() as f64 / 1e6;
    let mut took = Vec::new();
    for _ in 0..rounds {
        let before = meter::cpu()?;
        stage.engine.run(&run).await?;
        took.push(meter::cpu()?.saturating_sub(before).as_secs_f64() * 1000.0);
    }
    let took = median(took);
    let measured = format!("{took:.0} ms, {:.1} MB, {} events", megabytes, records.len());
    table.add(what, measured, (took / megabytes, MS_PER_MEGABYTE_MAX), " ms/MB");
    Ok(())
}

/// Measures the start of a server over very many stored runs.
async fn start(table: &mut Table) -> anyhow::Result<()> {
    let Some(program) = binary::program() else {
        println!("a start over many runs: NOT MEASURED, `consort` was not built");
        return Ok(());
    };
    let model = Server::start(0)?;
    let silent = Server::start(SILENT_MS)?;
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("consort-data");
    std::fs::create_dir(&data)?;
    fill(&data.join("consort.db"), &model.url).await?;
    let configuration =
        |url: &str| binary::three_tasks(url).replace("[server]", "[server]\nmax_retained_completed_runs = 1000000");
    // A run that goes on with a model that does not answer makes one commit: it asks the model again.
    let began = Instant::now();
    let server = Binary::start_in(&program, &configuration(&silent.url), folder)?;
    let listens = began.elapsed().as_secs_f64() * 1000.0;
    let resumed = reached(&server, binary::COMMITS, began).await?.as_secs_f64() * 1000.0;
    let cpu = meter::cpu_of(&server.process.id().to_string())?.as_secs_f64() * 1000.0;
    let measured = format!("{listens:.0} ms, with {ENDED} ended runs");
    table.add("start: until it listens", measured, (listens, LISTENS_MS_MAX), " ms");
    let measured = format!("{resumed:.0} ms, {cpu:.0} ms CPU, all {UNFINISHED} go on");
    table.add("start: each unfinished run", measured, (resumed / UNFINISHED as f64, RESUMED_MS_MAX), " ms");
    let began = Instant::now();
    let server = Binary::start_in(&program, &configuration(&model.url), server.kill())?;
    let ended = reached(&server, ENDED_RUNS, began).await?.as_secs_f64() * 1000.0;
    println!("start: all {UNFINISHED} unfinished runs have ended after {ended:.0} ms, four model calls each");
    Ok(())
}

/// Returns the time until a metric has counted every unfinished run.
async fn reached(server: &Binary, metric: &str, began: Instant) -> anyhow::Result<Duration> {
    let client = client()?;
    loop {
        let counted = server.metric(&client, metric).await?;
        if counted.is_some_and(|counted| counted >= UNFINISHED) {
            return Ok(began.elapsed());
        }
        ensure!(began.elapsed() < PATIENCE, "the unfinished runs do not go on: {counted:?}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Writes the runs: copies of one that was run, whole or up to its first model call.
async fn fill(path: &Path, url: &str) -> anyhow::Result<()> {
    let log = Arc::new(SqliteLog::open(path)?);
    let stage = Stage::new(three_tasks(), log.clone(), openai(url, &client()?)?, NonZeroU32::MAX)?;
    stage.run().await?;
    let (run, row) =
        log.list(Query { limit: 1, ..Query::default() }).await?.rows.pop().context("nothing was stored")?;
    let records = log.read(&run, 0, usize::MAX).await?;
    let asked = records.iter().position(|record| record.body.contains("model_asked")).context("no model was asked")?;
    let begun: Vec<Record> = records.iter().take(asked + 1).cloned().collect();
    let unfinished = Row { ended_at: None, status: "RUNNING".into(), ..row.clone() };
    let writes = (0..WRITTEN_AT_ONCE).map(|first| {
        let log = &log;
        let row = &row;
        let records = &records;
        let begun = &begun;
        let unfinished = &unfinished;
        async move {
            for number in (first..ENDED + UNFINISHED).step_by(WRITTEN_AT_ONCE) {
                let (records, row) = if number < ENDED { (records, row) } else { (begun, unfinished) };
                let stream = format!("run-{number:032x}");
                let records = records.clone();
                let row = row.clone();
                log.append(Append { epoch: 1, ..Append::new(stream, 0, records, row) }).await?;
            }
            anyhow::Ok(())
        }
    });
    try_join_all(writes).await?;
    Ok(())
}
