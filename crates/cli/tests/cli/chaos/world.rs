//! The servers under load: what is asked of them, and what is outside of them.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinHandle, JoinSet};

use super::client::{Client, PATIENCE};
use super::jobs::{Job, Kind, Worker};
use super::notices;
use super::outside::Outside;
use super::ticks::{DueTimes, Ticks};
use super::verdict::Verdict;
use crate::dice::Dice;
use crate::victim::Victim;

/// The number of jobs at the same time.
const JOBS: usize = 16;
/// The budgets of a run and of a turn in model calls.
pub(super) const CALLS_OF_A_RUN: usize = 16;
pub(super) const CALLS_OF_A_TURN: usize = 8;

const CONFIG: &str = "
[server]
max_concurrent_runs = 12
max_queued_runs = 1000
max_retained_completed_runs = 100000
[run.budget]
max_total_llm_calls = 16
[chat]
permission_mode = 'auto'
[chat.budget]
max_total_llm_calls = 8
[ensemble]
name = 'hotel'
[[ensemble.task]]
name = 'none'
description = 'Do it [job {job} say none]'
[[schedule]]
name = 'tick'
every = '2s'
overlap = 'queue'
catch_up = 'all'
inputs = { job = 'tick' }
[[hook]]
name = 'bell'
verify = 'none'
inputs = { job = 'body.job' }
";

const PANTRY: &str = "
[network]
name = 'pantry'
[ensemble]
name = 'pantry'
[[ensemble.task]]
name = 'errand'
description = 'Run the errand {context}'
tools = ['pay']
[[ensemble.share]]
kind = 'tool'
name = 'order'
[[ensemble.share]]
kind = 'task'
name = 'errand'
";

/// The servers, and what is outside of them.
pub(crate) struct World {
    outside: Outside,
    pub(crate) main: Victim,
    pub(crate) pantry: Victim,
    _folder: tempfile::TempDir,
}

impl World {
    /// Starts them; the server is made ready in the folder first.
    pub(crate) async fn start(ready: impl FnOnce(&Path, Victim) -> Victim) -> World {
        let folder = tempfile::tempdir().unwrap();
        let outside = Outside::start().await;
        let [main, mut pantry] = ["main", "pantry"].map(|name| Victim::new(folder.path(), name));
        let mut main = ready(folder.path(), main);
        pantry.configure(&format!("{PANTRY}{}", outside.config("pantry")));
        let peers = format!("[network]\nlease = '1s'\n[network.peers]\npantry = 'ws://{}/ws'\n", pantry.address());
        main.configure(&format!("{CONFIG}{}{}{peers}", outside.config("main"), outside.webhook("main")));
        pantry.start();
        main.start();
        World { outside, main, pantry, _folder: folder }
    }

    /// Begins to ask things of the server.
    pub(crate) fn load(&self, dice: Dice) -> Load {
        Load::start(&self.main, dice)
    }

    /// Lets everything end, and judges it.
    pub(crate) async fn judge(mut self, load: Load, due_times: DueTimes) -> Verdict {
        let ended = tokio::time::timeout(PATIENCE, load.end()).await.expect("every job ends");
        let jobs = ended.unwrap_or_else(|error| panic!("{error}; the server said: {}", self.main.said()));
        let client = Client::new(&self.main.url());
        let ticks = Ticks::read(&client).await;
        ticks.check(due_times);
        let ended = notices::ended(&client, &jobs, &ticks).await;
        let notices = notices::settled(&self.outside.ledger, &ended).await;
        let mut verdict = Verdict::read(&client, &jobs, &self.outside.ledger.read()).await;
        verdict.count(ticks.len(), notices);
        for victim in [&mut self.main, &mut self.pantry] {
            victim.kill();
            assert!(!victim.said().contains("panicked at"), "{}", victim.said());
        }
        verdict
    }
}

/// Jobs that follow each other until there are enough.
pub(crate) struct Load {
    enough: watch::Sender<bool>,
    jobs: JoinHandle<Vec<Job>>,
}

impl Load {
    fn start(server: &Victim, mut dice: Dice) -> Load {
        let (enough, is_enough) = watch::channel(false);
        let worker =
            Worker { client: Client::new(&server.url()), address: server.address().into(), seen: watch::channel(0).0 };
        let jobs = tokio::spawn(async move {
            let room = Arc::new(Semaphore::new(JOBS));
            let mut jobs = JoinSet::new();
            while !*is_enough.borrow() {
                let place = room.clone().acquire_owned().await.unwrap();
                // The first jobs are one of each kind.
                let number = jobs.len();
                let kind = Kind::ALL.get(number).copied().unwrap_or_else(|| Kind::roll(&mut dice));
                let job = worker.clone().work(format!("j{number}"), kind, dice.split());
                jobs.spawn(async move {
                    let job = job.await;
                    drop(place);
                    job
                });
            }
            jobs.join_all().await
        });
        Load { enough, jobs }
    }

    async fn end(self) -> Result<Vec<Job>, JoinError> {
        self.enough.send(true).unwrap();
        self.jobs.await
    }
}
