//! The process that is killed: it resumes the runs it finds, keeps many runs
//! going and sends them commands, until it is killed or nothing is left.

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

/// The name of the log file.
pub(super) const LOG: &str = "log.db";
/// The line that the process prints when it begins to work.
pub(super) const ALIVE: &str = "alive";

/// The number of concurrent runs.
const RUNS: usize = 24;
/// The maximum time until a run gets a command.
const PEACE_US: u64 = 150_000;
/// Far longer than the open runs need to end.
const PATIENCE: Duration = Duration::from_secs(300);

/// The orders of the process. The seed decides all random choices.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Orders {
    /// Keep runs going for ever.
    Work { seed: u64 },
    /// Let the existing runs end.
    Finish { seed: u64 },
}

impl Orders {
    pub(super) fn write(self, folder: &Path) -> String {
        serde_json::to_string(&(self, folder)).unwrap()
    }
}

/// Runs the process.
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

/// The parts of the process that work on runs.
#[derive(Clone)]
struct Company {
    engine: Engine,
    pen: Pen,
    /// The permits of concurrent runs.
    room: Arc<Semaphore>,
}

impl Company {
    async fn keep_going(self, found: Vec<Arc<str>>, mut dice: Dice) {
        let mut found = found.into_iter();
        let plays = plays::plays();
        let mut under_way: JoinSet<()> = JoinSet::new();
        loop {
            let room = self.room.clone().acquire_owned().await.unwrap();
            let run = match found.next() {
                Some(run) => run,
                None => self.submit(&plays[dice.roll(plays.len() as u64) as usize]).await,
            };
            let company = self.clone();
            let dice = Dice(dice.roll(u64::MAX));
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

    /// Watches a run to its end, and sends it commands.
    async fn attend(self, run: Arc<str>, dice: Dice) {
        let (seen, ()) = tokio::join!(frames(&self.engine, &run), self.interfere(&run, dice));
        check_frames(&seen);
    }

    /// Sends a run commands; a previous process may have paused it and died.
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

    /// Sends a command to a run; its acknowledgement is a promise.
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
    let content = "hurry".into();
    let priority = Priority::Normal;
    Directive { target: None, content, priority, from, on_behalf_of: None, created_at: 0, expires_at: None }
}
