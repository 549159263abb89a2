//! The process that is killed: it picks up what it finds, keeps many runs
//! going and interferes with them, until it is killed or nothing is left.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use consort_core::decide::Command;
use consort_core::draft::{Ensemble, Request};
use consort_core::event::{CancelMode, Decision, Directive, Priority};
use consort_log::{Query, SqliteLog};
use consort_runtime::engine::{Engine, Error};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::Dice;
use super::ledger::{Line, Pen};
use super::plays;
use super::witness::{WitnessedLog, witnessed};
use crate::laws::check_frames;
use crate::support::{compiled, frames};

/// The file.
pub(super) const LOG: &str = "log.db";
/// What the process prints when it begins to work.
pub(super) const ALIVE: &str = "alive";

/// Runs under way at the same time.
const RUNS: usize = 24;
/// How long a run is left in peace at most.
const PEACE_US: u64 = 150_000;
/// Far more than the open runs need to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the process is to do. The seed decides what is left to chance.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Orders {
    /// Keep runs going for ever.
    Work { seed: u64 },
    /// Let those that there are end.
    Finish { seed: u64 },
}

impl Orders {
    pub(super) fn write(self, folder: &Path) -> String {
        serde_json::to_string(&(self, folder)).unwrap()
    }
}

/// The life of the process.
pub(super) fn live(orders: &str) {
    // A panic anywhere must be noticed, not survived.
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        std::process::abort();
    }));
    let (orders, folder): (Orders, PathBuf) = serde_json::from_str(orders).unwrap();
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(work(orders, &folder));
}

async fn work(orders: Orders, folder: &Path) {
    let pen = Pen::open(folder);
    pen.write(&Line::Born);
    println!("\n{ALIVE}");
    let (Orders::Work { seed } | Orders::Finish { seed }) = orders;
    let dice = Dice(seed);
    let log = WitnessedLog::new(SqliteLog::open(&folder.join(LOG)).unwrap(), &pen);
    let engine = witnessed(Arc::new(log), &pen, dice);
    let open = engine.list(Query { ended: Some(false), limit: usize::MAX >> 1, ..Query::default() }).await.unwrap();
    let recovery = engine.recover().await.unwrap();
    assert!(recovery.damaged.is_empty() && recovery.resumed == open.rows.len(), "{recovery:?}");
    let company = Company { engine, pen, room: Arc::new(Semaphore::new(RUNS)) };
    let runs = open.rows.into_iter().map(|(run, _)| run).collect();
    match orders {
        Orders::Work { .. } => company.keep_going(runs, dice).await,
        Orders::Finish { .. } => company.finish(runs, dice).await,
    }
}

/// Everybody who works on runs.
#[derive(Clone)]
struct Company {
    engine: Engine,
    pen: Pen,
    /// For so many runs at the same time.
    room: Arc<Semaphore>,
}

impl Company {
    async fn keep_going(self, found: Vec<Arc<str>>, mut dice: Dice) {
        let (mut found, plays) = (found.into_iter(), plays::plays());
        let mut under_way: JoinSet<()> = JoinSet::new();
        loop {
            let room = self.room.clone().acquire_owned().await.unwrap();
            let run = match found.next() {
                Some(run) => run,
                None => self.submit(&plays[dice.roll(plays.len() as u64) as usize]).await,
            };
            let (company, dice) = (self.clone(), Dice(dice.roll(u64::MAX)));
            under_way.spawn(async move {
                company.attend(run, dice).await;
                drop(room);
            });
        }
    }

    async fn submit(&self, play: &Ensemble) -> Arc<str> {
        let run = self.engine.submit(compiled(&self.engine, play, Request::default())).await.unwrap();
        self.pen.write(&Line::Accepted { run: run.to_string() });
        run
    }

    async fn finish(self, found: Vec<Arc<str>>, mut dice: Dice) {
        let runs = found.into_iter().map(|run| self.clone().attend(run, Dice(dice.roll(u64::MAX))));
        let runs = runs.collect::<JoinSet<()>>().join_all();
        timeout(PATIENCE, runs).await.expect("every run ends");
    }

    /// Watches a run to its end, and interferes with it.
    async fn attend(self, run: Arc<str>, dice: Dice) {
        let (seen, ()) = tokio::join!(frames(&self.engine, &run), self.interfere(&run, dice));
        check_frames(&seen);
    }

    /// Somebody before may have paused it and died.
    async fn interfere(&self, run: &str, mut dice: Dice) {
        let by = || "me".to_owned();
        self.tell(run, Command::Resume { by: by() }).await;
        sleep(Duration::from_micros(dice.roll(PEACE_US))).await;
        match dice.roll(30) {
            0 => self.tell(run, Command::Cancel { mode: CancelMode::AfterTask, by: by() }).await,
            1 => self.tell(run, Command::Cancel { mode: CancelMode::AfterIteration, by: by() }).await,
            2 => self.tell(run, Command::Cancel { mode: CancelMode::Now, by: by() }).await,
            3..6 => {
                self.tell(run, Command::Pause { by: by() }).await;
                sleep(Duration::from_micros(dice.roll(PEACE_US))).await;
                self.tell(run, Command::Resume { by: by() }).await;
            }
            6..9 => self.tell(run, Command::Direct { directive: directive(by()) }).await,
            9..12 => {
                let models = self.engine.seams().models.with_fallbacks("spare").unwrap();
                self.tell(run, Command::SwitchModel { models, by: by() }).await;
            }
            12..15 => self.tell(run, review(Decision::Continue)).await,
            15..18 => self.tell(run, review(Decision::Reject { feedback: "again".into() })).await,
            _ => {}
        }
    }

    /// Says something to a run; what it answers is a promise.
    async fn tell(&self, run: &str, command: Command) {
        match self.engine.command(run, command).await {
            Ok(events) => {
                for event in events {
                    self.pen.write(&Line::Promised { run: run.to_owned(), event });
                }
            }
            Err(Error::Refused(_)) => {}
            Err(error) => panic!("{run}: {error}"),
        }
    }
}

fn review(decision: Decision) -> Command {
    Command::Review { review: 0, decision, by: "me".to_owned() }
}

fn directive(from: String) -> Directive {
    let (content, priority) = ("hurry".into(), Priority::Normal);
    Directive { target: None, content, priority, from, on_behalf_of: None, created_at: 0, expires_at: None }
}
