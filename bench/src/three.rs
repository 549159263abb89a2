//! Three tasks, four model calls, one tool call: CPU of this process per run,
//! against the same calls made bare. Each part is the additional cost of a
//! longer path: through the model seam, through the engine, with a log on disk.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::ensure;
use consort_http::client;
use consort_log::{Log, MemoryLog, SqliteLog};
use consort_models::openai::OpenAi;
use reqwest::Client;

use crate::bare;
use crate::child::Server;
use crate::crowd::Crowd;
use crate::effort::{Effort, median};
use crate::recorded::{Recorded, openai};
use crate::stage::{Stage, three_tasks};
use crate::table::Table;

/// The number of concurrent runs.
const AT_ONCE: usize = 16;
/// More than the number of concurrent calls: waiting for a slot is not measured here.
const SLOTS: NonZeroU32 = NonZeroU32::MAX;
const RATIO_MAX: f64 = 5.0;
const COMMITS_MAX: f64 = 8.0;

/// The four ways to make the calls.
struct Ways {
    client: Client,
    url: Arc<str>,
    recorded: Arc<Recorded>,
    model: OpenAi,
    on_disk: Stage,
}

/// The microseconds of CPU per run, each way.
struct Round {
    bare: f64,
    wire: f64,
    in_memory: f64,
    on_disk: f64,
    /// The number of appends per run; a log in memory commits each by itself.
    appends: f64,
}

/// Measures and adds the targets.
pub(crate) async fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let server = Server::start(0)?;
    let client = client()?;
    let folder = tempfile::tempdir()?;
    let log = Arc::new(SqliteLog::open(&folder.path().join("log.db"))?);
    let model = openai(&server.url, &client)?;
    let ways = Ways {
        url: format!("{}/chat/completions", server.url).into(),
        recorded: Arc::new(Recorded::run(&client).await?),
        on_disk: Stage::new(three_tasks(), log.clone(), model.clone(), SLOTS)?,
        client,
        model,
    };
    let crowd = Crowd { jobs: effort.runs, at_once: AT_ONCE };
    let warm_up = Crowd { jobs: AT_ONCE * 4, at_once: AT_ONCE };
    ways.round(warm_up).await?;
    let commits = commits(&*log);
    let mut rounds = Vec::new();
    for _ in 0..effort.rounds {
        rounds.push(ways.round(crowd).await?);
    }
    let together = (self::commits(&*log) - commits) / (effort.rounds * crowd.jobs) as f64;
    report(&rounds, table);
    let alone = ways.alone(&*log, effort.runs / AT_ONCE).await?;
    table.add("three tasks: commits per run, one at a time", format!("{alone:.2}"), (alone, COMMITS_MAX), "");
    let appends = median(rounds.iter().map(|round| round.appends));
    println!("commits per run: {alone:.2} one at a time, {together:.2} at {AT_ONCE} at once; appends: {appends:.2}");
    let runs = warm_up.jobs + effort.rounds * crowd.jobs + effort.runs / AT_ONCE;
    ensure!(ways.on_disk.completed().await? == runs, "a run was not completed");
    Ok(())
}

impl Ways {
    async fn round(&self, crowd: Crowd) -> anyhow::Result<Round> {
        let client = self.client.clone();
        let url = self.url.clone();
        let recorded = self.recorded.clone();
        let bare = crowd.cpu_us(move || {
            let client = client.clone();
            let url = url.clone();
            let recorded = recorded.clone();
            async move { bare::post(&client, &url, &recorded.bodies).await }
        });
        let bare = bare.await?;
        let model = self.model.clone();
        let recorded = self.recorded.clone();
        let wire = crowd.cpu_us(move || {
            let model = model.clone();
            let recorded = recorded.clone();
            async move { bare::ask(&model, &recorded.asks).await }
        });
        let wire = wire.await?;
        // A separate log, because one in memory only ever grows.
        let log = Arc::new(MemoryLog::default());
        let in_memory = runs(Stage::new(three_tasks(), log.clone(), self.model.clone(), SLOTS)?, crowd).await?;
        let appends = commits(&*log) / crowd.jobs as f64;
        Ok(Round { bare, wire, in_memory, on_disk: runs(self.on_disk.clone(), crowd).await?, appends })
    }

    /// Returns the number of commits per run without concurrent runs.
    async fn alone(&self, log: &dyn Log, jobs: usize) -> anyhow::Result<f64> {
        let before = commits(log);
        runs(self.on_disk.clone(), Crowd { jobs, at_once: 1 }).await?;
        Ok((commits(log) - before) / jobs as f64)
    }
}

async fn runs(stage: Stage, crowd: Crowd) -> anyhow::Result<f64> {
    let job = move || {
        let stage = stage.clone();
        async move { stage.run().await }
    };
    crowd.cpu_us(job).await
}

fn commits(log: &dyn Log) -> f64 {
    *log.news("").borrow() as f64
}

fn report(rounds: &[Round], table: &mut Table) {
    let of = |part: fn(&Round) -> f64| median(rounds.iter().map(part));
    let bare = of(|round| round.bare);
    let on_disk = of(|round| round.on_disk);
    let ratio = of(|round| round.on_disk / round.bare);
    println!(
        "three tasks, {AT_ONCE} at once: 1 bare + {:.2} wire + {:.2} core and runner + {:.2} log = {ratio:.2} times {bare:.0} us",
        of(|round| (round.wire - round.bare) / round.bare),
        of(|round| (round.in_memory - round.wire) / round.bare),
        of(|round| (round.on_disk - round.in_memory) / round.bare),
    );
    let measured = format!("{on_disk:.0} us, bare {bare:.0} us");
    table.add("three tasks: CPU per run, 16 at once", measured, (ratio, RATIO_MAX), "x");
}
