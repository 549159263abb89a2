//! The program as people run it: `consort serve` with a configuration, three tasks over HTTP
//! with `Prefer: wait`, against the same model calls made bare and against the syncs of a run.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use consort_http::client;
use reqwest::Client;
use tempfile::TempDir;

use crate::bare;
use crate::child::{Process, Server};
use crate::crowd::Crowd;
use crate::effort::{Effort, median};
use crate::meter;
use crate::recorded::Recorded;
use crate::stage::TOOL;
use crate::table::Table;

/// The number of concurrent runs.
const AT_ONCE: usize = 16;
const RATIO_MAX: f64 = 8.0;
const ALONE_RATIO_MAX: f64 = 1.3;
/// The metric that counts the commits of runs.
pub(crate) const COMMITS: &str = "consort_commit_seconds_count";
const IDLE_MEGABYTES_MAX: f64 = 20.0;
const IDLE_PERCENT_MAX: f64 = 0.1;
/// The time for which an idle server is watched.
const IDLE: Duration = Duration::from_secs(5);
/// The bytes that a commit of a run writes to the write-ahead log, on average.
const COMMIT_BYTES: usize = 24 * 1024;

/// A server with a store of its own; dropping it ends it.
pub(crate) struct Binary {
    /// The process.
    pub(crate) process: Process,
    folder: TempDir,
}

/// The times of one round, in microseconds.
struct Round {
    bare: f64,
    /// The CPU of a run, with others.
    together: f64,
    /// The CPU of a run, without others.
    alone: f64,
    /// The time from a request to its result, without others.
    result: f64,
    /// The time of as many syncs as a run makes, one after the other.
    syncs: f64,
    /// The time of the bare calls, one after the other.
    calls: f64,
}

/// Measures and adds the targets.
pub(crate) async fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let Some(program) = program() else {
        println!("the whole binary: NOT MEASURED, `consort` was not built");
        return Ok(());
    };
    let model = Server::start(0)?;
    let client = client()?;
    let recorded = Arc::new(Recorded::run(&client).await?);
    let binary = Binary::start(&program, &three_tasks(&model.url))?;
    idle(&binary, table).await?;
    let warm_up = Crowd { jobs: AT_ONCE * 16, at_once: AT_ONCE };
    waits(&client, &binary.process.address, warm_up).await?;
    let commits = binary.commits_per_run(&client).await?;
    let mut rounds = Vec::new();
    for _ in 0..effort.rounds {
        rounds.push(round(&binary, (&model, &client, &recorded), commits, effort).await?);
    }
    report(&rounds, commits, table);
    Ok(())
}

async fn round(
    binary: &Binary,
    (model, client, recorded): (&Server, &Client, &Arc<Recorded>),
    commits: usize,
    effort: Effort,
) -> anyhow::Result<Round> {
    let crowd = Crowd { jobs: effort.runs, at_once: AT_ONCE };
    let caller = client.clone();
    let calls = recorded.clone();
    let url = format!("{}/chat/completions", model.url);
    let post = move || {
        let client = caller.clone();
        let recorded = calls.clone();
        let url = url.clone();
        async move { bare::post(&client, &url, &recorded.bodies).await }
    };
    let bare = crowd.cpu_us(post.clone()).await?;
    let address = &binary.process.address;
    let together = binary.cpu_us(crowd.jobs, waits(client, address, crowd)).await?;
    let few = Crowd { jobs: effort.runs / AT_ONCE, at_once: 1 };
    let began = Instant::now();
    let alone = binary.cpu_us(few.jobs, waits(client, address, few)).await?;
    let result = began.elapsed().as_secs_f64() * 1e6 / few.jobs as f64;
    let began = Instant::now();
    few.work(post).await?;
    let calls = began.elapsed().as_secs_f64() * 1e6 / few.jobs as f64;
    Ok(Round { bare, together, alone, result, syncs: binary.syncs_us(few.jobs, commits)?, calls })
}

fn report(rounds: &[Round], commits: usize, table: &mut Table) {
    let of = |part: fn(&Round) -> f64| median(rounds.iter().map(part));
    let bare = of(|round| round.bare);
    let together = of(|round| round.together);
    let alone = of(|round| round.alone);
    println!(
        "the whole binary: {together:.0} us of CPU per run at {AT_ONCE} at once, {alone:.0} us alone, bare {bare:.0} us"
    );
    let measured = format!("{together:.0} us, bare {bare:.0} us");
    let ratio = of(|round| round.together / round.bare);
    table.add("binary: CPU per three-task run, 16 at once", measured, (ratio, RATIO_MAX), "x");
    let result = of(|round| round.result);
    let syncs = of(|round| round.syncs);
    let calls = of(|round| round.calls);
    let measured = format!("{result:.0} us, {commits} syncs {syncs:.0} us, calls {calls:.0} us");
    let ratio = of(|round| round.result / round.syncs);
    table.add("binary: POST to result, alone", measured, (ratio, ALONE_RATIO_MAX), "x");
}

/// Measures the memory and the CPU of a server without requests.
async fn idle(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let used = binary.cpu_us(1, async {
        tokio::time::sleep(IDLE).await;
        Ok(())
    });
    let percent = used.await? / IDLE.as_secs_f64() / 1e4;
    let memory = meter::memory_of(binary.process.id())? as f64 / 1e6;
    table.add("binary: memory of an idle server", format!("{memory:.1} MB"), (memory, IDLE_MEGABYTES_MAX), " MB");
    table.add("binary: CPU of an idle server", format!("{percent:.3} %"), (percent, IDLE_PERCENT_MAX), " %");
    Ok(())
}

impl Binary {
    /// Starts the program with this configuration.
    pub(crate) fn start(program: &Path, configuration: &str) -> anyhow::Result<Binary> {
        Binary::start_in(program, configuration, tempfile::tempdir()?)
    }

    /// Starts the program with this configuration, over what is stored in the folder.
    pub(crate) fn start_in(program: &Path, configuration: &str, folder: TempDir) -> anyhow::Result<Binary> {
        fs::write(folder.path().join("consort.toml"), configuration)?;
        let mut command = Command::new(program);
        let process = Process::start(command.args(["serve", "--port", "0"]).current_dir(folder.path()))?;
        Ok(Binary { process, folder })
    }

    /// Kills the program; returns what it has stored.
    pub(crate) fn kill(self) -> TempDir {
        self.folder
    }

    /// Returns the CPU per unit of work, in microseconds.
    pub(crate) async fn cpu_us(
        &self,
        units: usize,
        work: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<f64> {
        let id = self.process.id().to_string();
        let before = meter::cpu_of(&id)?;
        work.await?;
        Ok(meter::cpu_of(&id)?.saturating_sub(before).as_secs_f64() * 1e6 / units as f64)
    }

    /// Returns the number of commits that a run without others waits for.
    async fn commits_per_run(&self, client: &Client) -> anyhow::Result<usize> {
        let before = self.commits(client).await?;
        waits(client, &self.process.address, Crowd { jobs: AT_ONCE, at_once: 1 }).await?;
        Ok((self.commits(client).await? - before).div_ceil(AT_ONCE))
    }

    async fn commits(&self, client: &Client) -> anyhow::Result<usize> {
        self.metric(client, COMMITS).await?.context("the server does not count its commits")
    }

    /// Returns the value of a metric of whole numbers, if the program has it already.
    pub(crate) async fn metric(&self, client: &Client, name: &str) -> anyhow::Result<Option<usize>> {
        let metrics = client.get(format!("http://{}/metrics", self.process.address)).send().await?.text().await?;
        let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(value.map(|value| value.trim().parse()).transpose()?)
    }

    /// Returns the time of so many syncs one after the other, in microseconds: of a write each
    /// to a file beside the store which is there already, as the write-ahead log is.
    fn syncs_us(&self, times: usize, commits: usize) -> anyhow::Result<f64> {
        let path = self.folder.path().join("syncs");
        let file = File::create(&path)?;
        let page = vec![1; COMMIT_BYTES];
        for place in 0..commits as u64 {
            file.write_all_at(&page, place * COMMIT_BYTES as u64)?;
        }
        file.sync_all()?;
        let began = Instant::now();
        for _ in 0..times {
            for place in 0..commits as u64 {
                file.write_all_at(&page, place * COMMIT_BYTES as u64)?;
                file.sync_data()?;
            }
        }
        let took = began.elapsed();
        fs::remove_file(path)?;
        Ok(took.as_secs_f64() * 1e6 / times as f64)
    }
}

/// Returns the path of the program, if it was built.
pub(crate) fn program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.with_file_name("consort");
    program.exists().then_some(program)
}

/// Returns the configuration of three tasks with the model at this address; all else is as it
/// is without a configuration.
pub(crate) fn three_tasks(url: &str) -> String {
    format!(
        r#"
        [models.model]
        provider = "openai"
        model = "m"
        base_url = "{url}"
        [server]
        max_concurrent_runs = {AT_ONCE}
        [ensemble]
        name = "three tasks"
        [[ensemble.task]]
        name = "look"
        description = "Find out what the weather will be like today."
        tools = ["{TOOL}"]
        [[ensemble.task]]
        name = "think"
        description = "Decide what to do with such a day."
        context = ["$look"]
        [[ensemble.task]]
        name = "say"
        description = "Write an invitation to it, in two sentences."
        context = ["$think"]
        "#
    )
}

/// Posts runs and waits for their results.
pub(crate) async fn waits(client: &Client, address: &str, crowd: Crowd) -> anyhow::Result<()> {
    let client = client.clone();
    let url = format!("http://{address}/api/runs");
    let job = move || {
        let request = client.post(&url).header("content-type", "application/json").header("prefer", "wait=60");
        let request = request.body("{}");
        async move {
            let answer = request.send().await?.text().await?;
            ensure!(answer.contains(r#""status":"COMPLETED""#), "a run was not completed: {answer}");
            Ok(())
        }
    };
    crowd.work(job).await
}
