//! A thousand three-task runs at once, with a slow model: the time against the same calls made
//! bare, and the memory. Each side is a fresh process, so that nothing else is in its memory.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use consort_http::client;
use consort_log::SqliteLog;

use crate::bare;
use crate::child::{self, Server};
use crate::crowd::Crowd;
use crate::effort::{Effort, median};
use crate::meter;
use crate::recorded::{CALLS, Recorded, openai};
use crate::stage::{Stage, three_tasks};
use crate::table::Table;

const CROWD: Crowd = Crowd { jobs: 1000, at_once: 1000 };
/// More than the number of concurrent calls.
const SLOTS: NonZeroU32 = NonZeroU32::MAX;
const LATENCY_MS: u64 = 200;
const RATIO_MAX: f64 = 1.05;
const MEGABYTES_MAX: f64 = 80.0;
const BARE: &str = "bare";
const RUNS: &str = "runs";

/// The cost of one side.
struct Took {
    seconds: f64,
    megabytes: f64,
}

/// Measures and adds the targets.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let server = Server::start(LATENCY_MS)?;
    let mut bare = Vec::new();
    let mut runs = Vec::new();
    for _ in 0..effort.large_rounds {
        bare.push(side(BARE, &server.url)?);
        runs.push(side(RUNS, &server.url)?);
    }
    let seconds = |side: &[Took]| median(side.iter().map(|took| took.seconds));
    let ratio = median(bare.iter().zip(&runs).map(|(bare, runs)| runs.seconds / bare.seconds));
    let measured = format!("{:.2} s, bare {:.2} s", seconds(&runs), seconds(&bare));
    table.add("a thousand runs at once: time", measured, (ratio, RATIO_MAX), "x");
    let memory = |side: &[Took]| side.iter().map(|took| took.megabytes).fold(0.0, f64::max);
    let measured = format!("{:.0} MB, bare {:.0} MB", memory(&runs), memory(&bare));
    table.add("a thousand runs at once: peak memory", measured, (memory(&runs), MEGABYTES_MAX), " MB");
    let least = (LATENCY_MS * CALLS as u64) as f64 / 1000.0;
    ensure!(bare.iter().all(|took| took.seconds >= least), "the model did not take its time");
    Ok(())
}

fn side(side: &str, url: &str) -> anyhow::Result<Took> {
    let printed = child::crowd(side, url)?;
    let (seconds, bytes) = printed.trim().split_once(' ').context("the crowd did not say what it took")?;
    Ok(Took { seconds: seconds.parse()?, megabytes: bytes.parse::<f64>()? / 1e6 })
}

/// Runs one side, as a process: prints seconds and bytes.
pub(crate) async fn main(side: &str, url: &str) -> anyhow::Result<()> {
    let took = match side {
        BARE => time_bare(url).await?,
        RUNS => time_runs(url).await?,
        unknown => bail!("there is no side `{unknown}`"),
    };
    println!("{} {}", took.as_secs_f64(), meter::peak_memory()?);
    Ok(())
}

async fn time_bare(url: &str) -> anyhow::Result<Duration> {
    let client = client()?;
    let recorded = Arc::new(Recorded::run(&client).await?);
    let url: Arc<str> = format!("{url}/chat/completions").into();
    let began = Instant::now();
    let job = move || {
        let client = client.clone();
        let url = url.clone();
        let recorded = recorded.clone();
        async move { bare::post(&client, &url, &recorded.bodies).await }
    };
    CROWD.work(job).await?;
    Ok(began.elapsed())
}

async fn time_runs(url: &str) -> anyhow::Result<Duration> {
    let folder = tempfile::tempdir()?;
    let log = Arc::new(SqliteLog::open(&folder.path().join("log.db"))?);
    let stage = Stage::new(three_tasks(), log, openai(url, &client()?)?, SLOTS)?;
    let began = Instant::now();
    let job = stage.clone();
    let job = move || {
        let stage = job.clone();
        async move { stage.run().await }
    };
    CROWD.work(job).await?;
    let took = began.elapsed();
    ensure!(stage.completed().await? == CROWD.jobs, "a run was not completed");
    Ok(took)
}
