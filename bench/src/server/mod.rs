//! The server against a bare one, both as separate processes, so that the clients
//! are not counted: `ours` and `plain` are the two servers, `talk` is the client.

mod ours;
mod plain;
mod talk;

use std::num::NonZeroU32;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use consort_http::client;
use consort_log::SqliteLog;
use futures::future::try_join_all;
use reqwest::Client;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::binary::{self, waits};
use crate::child::{self, Process};
use crate::crowd::Crowd;
use crate::effort::{Effort, median};
use crate::meter;
use crate::recorded::openai;
use crate::stage::{Stage, three_tasks};
use crate::table::Table;

/// The number of concurrent requests.
const AT_ONCE: usize = 16;
const SUBMIT_RATIO_MAX: f64 = 2.0;
const WORKLOAD_RATIO_MAX: f64 = 1.5;
const TOKEN_RATIO_MAX: f64 = 3.0;
const IDLE_MEGABYTES_MAX: f64 = 150.0;
/// The number of words of one answer, and the number of its listeners.
const TOKENS: usize = 1000;
const LISTENERS: usize = 50;
/// The time between two words: a fast model that all listeners can follow.
const PACE: Duration = Duration::from_millis(1);
/// The number of clients that only wait, and of other open files that a process needs.
const SUBSCRIBERS: usize = 10_000;
const FILES_BESIDE: u64 = 200;

/// Runs a server as a process: it prints its address and ends with its parent.
pub(crate) async fn main(kind: &[&str]) -> anyhow::Result<()> {
    more_files()?;
    match kind {
        ["plain"] => plain::serve().await,
        ["ours"] => ours::serve_paced().await,
        ["ours", url] => ours::serve_three(url).await,
        unknown => bail!("there is no server {unknown:?}"),
    }
}

/// Measures and adds the targets.
pub(crate) async fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    submit(effort, table).await?;
    workload(effort, table).await?;
    tokens(effort, table).await?;
    idle(table).await?;
    start()
}

/// Measures the time from a request to its 202, against a bare route that commits once.
async fn submit(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let ours = Process::server(&["ours"])?;
    let plain = Process::server(&["plain"])?;
    let client = client()?;
    let crowd = Crowd { jobs: effort.runs, at_once: AT_ONCE };
    let mut rounds = Vec::new();
    for round in 0..=effort.rounds {
        let plain = posts(&client, format!("http://{}/commit", plain.address), crowd).await?;
        let ours = posts(&client, format!("http://{}/api/runs", ours.address), crowd).await?;
        if round > 0 {
            rounds.push((ours, plain));
        }
    }
    let us = |side: fn(&(f64, f64)) -> f64| median(rounds.iter().map(side));
    let measured = format!("{:.0} us, bare {:.0} us", us(|round| round.0), us(|round| round.1));
    let ratio = us(|(ours, plain)| ours / plain);
    table.add("server: submit to 202, 16 at once", measured, (ratio, SUBMIT_RATIO_MAX), "x");
    Ok(())
}

/// Returns the microseconds from one answer to the next, over all callers.
async fn posts(client: &Client, url: String, crowd: Crowd) -> anyhow::Result<f64> {
    let client = client.clone();
    let began = Instant::now();
    let job = move || {
        let request = client.post(&url).header("content-type", "application/json").body("{}");
        async move {
            let status = request.send().await?.status().as_u16();
            ensure!(status == 202, "it answered {status}");
            Ok(())
        }
    };
    crowd.work(job).await?;
    Ok(began.elapsed().as_secs_f64() * 1e6 / crowd.jobs as f64)
}

/// Measures the CPU of whole runs over HTTP against the same runs in this process.
async fn workload(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let model = child::Server::start(0)?;
    let client = client()?;
    let folder = tempfile::tempdir()?;
    let ours = Process::server(&["ours", &model.url])?;
    let log = Arc::new(SqliteLog::open(&folder.path().join("log.db"))?);
    let stage = Stage::new(three_tasks(), log, openai(&model.url, &client)?, NonZeroU32::MAX)?;
    let crowd = Crowd { jobs: effort.runs, at_once: AT_ONCE };
    let mut rounds = Vec::new();
    for round in 0..=effort.rounds {
        let here = stage.clone();
        let here = crowd.cpu_us(move || {
            let stage = here.clone();
            async move { stage.run().await }
        });
        let here = here.await?;
        let there = cpu_us(&ours, crowd.jobs, waits(&client, &ours.address, crowd)).await?;
        if round > 0 {
            rounds.push((there, here));
        }
    }
    let us = |side: fn(&(f64, f64)) -> f64| median(rounds.iter().map(side));
    let measured = format!("{:.0} us, in process {:.0} us", us(|round| round.0), us(|round| round.1));
    let ratio = us(|(there, here)| there / here);
    table.add("server: CPU per three-task run, over HTTP", measured, (ratio, WORKLOAD_RATIO_MAX), "x");
    Ok(())
}

/// Returns the CPU of a server per unit of work, in microseconds.
async fn cpu_us(server: &Process, units: usize, work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<f64> {
    let id = server.id().to_string();
    let before = meter::cpu_of(&id)?;
    work.await?;
    Ok(meter::cpu_of(&id)?.saturating_sub(before).as_secs_f64() * 1e6 / units as f64)
}

/// Measures a long answer to many listeners, against events that are only passed on.
async fn tokens(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let mut ours = Vec::new();
    let mut plain = Vec::new();
    for _ in 0..effort.large_rounds.max(2) {
        let mut process = Process::server(&["plain"])?;
        plain.push(heard(&mut process, "/events").await?);
        let mut process = Process::server(&["ours"])?;
        let run = talk::submit(&process.address).await?;
        ours.push(heard(&mut process, &format!("/api/runs/{run}/events")).await?);
    }
    let ratio = median(ours.iter().zip(&plain).map(|(ours, plain)| ours / plain));
    let measured = format!("{:.2} us, bare {:.2} us", median(ours), median(plain));
    table.add("server: CPU per token and SSE client, 50", measured, (ratio, TOKEN_RATIO_MAX), "x");
    Ok(())
}

/// Returns the CPU per word and listener, once all of them listen.
async fn heard(process: &mut Process, path: &str) -> anyhow::Result<f64> {
    let listeners = talk::listen(&process.address, path, LISTENERS).await?;
    let id = process.id().to_string();
    let mut listening = listeners;
    let before = meter::cpu_of(&id)?;
    process.go()?;
    let heard = try_join_all(listening.iter_mut().map(|listener| listener.words(TOKENS))).await?;
    let heard: usize = heard.into_iter().sum();
    // Words that were said before a listener had joined come to it as one frame.
    ensure!(heard > (TOKENS - 1) * LISTENERS, "{heard} words were heard");
    Ok(meter::cpu_of(&id)?.saturating_sub(before).as_secs_f64() * 1e6 / heard as f64)
}

/// Measures ten thousand clients that wait, half over each kind of stream.
async fn idle(table: &mut Table) -> anyhow::Result<()> {
    let files = more_files()?;
    if files < SUBSCRIBERS as u64 + FILES_BESIDE {
        println!("idle subscribers: NOT MEASURED, this machine allows {files} open files (ulimit -n)");
        return Ok(());
    }
    let ours = Process::server(&["ours"])?;
    let before = meter::memory_of(ours.id())? as f64 / 1e6;
    let run = talk::submit(&ours.address).await?;
    let streams = talk::listen(&ours.address, &format!("/api/runs/{run}/events"), SUBSCRIBERS / 2).await?;
    let sockets = talk::sockets(&ours.address, SUBSCRIBERS / 2).await?;
    let after = meter::memory_of(ours.id())? as f64 / 1e6;
    let measured = format!("{:.1} kB each", (after - before) * 1000.0 / SUBSCRIBERS as f64);
    table.add("server: 10,000 idle subscribers: memory", measured, (after, IDLE_MEGABYTES_MAX), " MB");
    drop((streams, sockets));
    Ok(())
}

/// Measures the time until the program listens, and its memory then.
fn start() -> anyhow::Result<()> {
    let Some(program) = binary::program() else {
        println!("cold start: NOT MEASURED, `consort` was not built");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let began = Instant::now();
    let mut command = Command::new(program);
    let process = Process::start(command.args(["serve", "--port", "0"]).current_dir(folder.path()))?;
    let took = began.elapsed();
    let memory = meter::memory_of(process.id())? as f64 / 1e6;
    println!("cold start: {:.0} ms until it listens, {memory:.0} MB idle", took.as_secs_f64() * 1000.0);
    Ok(())
}

/// Raises the limit of open files of this process to its maximum, and returns it.
fn more_files() -> anyhow::Result<u64> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(maximum.unwrap_or(u64::MAX))
}
