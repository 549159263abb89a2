//! The effects of disk failures on runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use consort_core::draft::Request;
use consort_core::spec::Kind;
use consort_log::{self as log, Append, Compact, Log, MemoryLog, Page, Query, Record, Seq, SqliteLog};
use consort_models::{Line, ScriptedModel, What};
use consort_runtime::admission::{Keep, Pool, Pools};
use consort_runtime::engine::{Engine, Error};
use consort_tools::ScriptedTool;
use futures::future::{BoxFuture, join_all, ready};
use tokio::sync::{Notify, watch};

use crate::support::{compiled, engine, ensemble, frames, models, task, toolbox};

fn over(log: Arc<dyn Log>, model: &ScriptedModel) -> Engine {
    engine(log, models(model.clone(), ScriptedModel::new()), toolbox(Vec::<ScriptedTool>::new()))
}

async fn submit(engine: &Engine) -> Result<Arc<str>, Error> {
    engine.submit(compiled(engine, &ensemble(vec![task("a", &[]), task("b", &[])]), Request::default())).await
}

/// A log on a disk that can be filled.
#[derive(Default)]
struct Disk {
    inner: MemoryLog,
    full: AtomicBool,
    refused: Notify,
    /// The number of times streams were erased.
    erasures: AtomicUsize,
}

impl Compact for Disk {
    fn compact(&self) -> BoxFuture<'_, Result<(), log::Error>> {
        self.inner.compact()
    }
}

impl Log for Disk {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), log::Error>> {
        if self.full.load(Ordering::SeqCst) {
            self.refused.notify_one();
            return Box::pin(ready(Err(log::Error::Full("the test filled it".to_owned()))));
        }
        self.inner.append(append)
    }

    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, log::Error>> {
        self.inner.read(stream, from, max)
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, log::Error>> {
        self.inner.list(query)
    }

    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), log::Error>> {
        self.erasures.fetch_add(1, Ordering::SeqCst);
        self.inner.erase(streams)
    }

    fn news(&self, stream: &str) -> watch::Receiver<u64> {
        self.inner.news(stream)
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_pauses_a_run_with_a_reason_and_refuses_a_new_one() {
    let disk = Arc::new(Disk::default());
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new().at("1.0", Line::new().says("one").waits(&gate)).says("2.0", "two");
    let engine = over(disk.clone(), &model);
    let run = submit(&engine).await.unwrap();
    model.until(What::Asked, "1.0").await;
    disk.full.store(true, Ordering::SeqCst);
    gate.notify_one();
    disk.refused.notified().await;
    disk.refused.notified().await;
    assert_eq!(engine.stalled(&run).as_deref(), Some("no room left: the test filled it"));
    assert!(matches!(submit(&engine).await, Err(Error::Log(log::Error::Full(_)))));
    disk.full.store(false, Ordering::SeqCst);
    let frames = frames(&engine, &run).await;
    assert_eq!(frames.last().unwrap()["status"], "COMPLETED");
    assert_eq!(model.ledger(), ["asked 1.0", "answered 1.0", "asked 2.0", "answered 2.0"], "nothing was done twice");
}

#[tokio::test]
async fn a_damaged_record_stops_its_own_run_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    let hanging = ScriptedModel::new().otherwise(Line::new().hangs());
    let first = over(Arc::new(SqliteLog::open(&path).unwrap()), &hanging);
    let bad = submit(&first).await.unwrap();
    let good = submit(&first).await.unwrap();
    first.stop().await;
    drop(first);
    let db = rusqlite::Connection::open(&path).unwrap();
    let flip = "UPDATE records SET body = replace(body, 'Do a', 'Do z') WHERE seq = 0 AND stream = (SELECT id FROM streams WHERE name = ?)";
    assert_eq!(db.execute(flip, [&*bad]).unwrap(), 1);
    drop(db);
    let model = ScriptedModel::new().otherwise(Line::new().says("ok"));
    let second = over(Arc::new(SqliteLog::open(&path).unwrap()), &model);
    let recovery = second.recover().await.unwrap();
    assert_eq!(recovery.resumed, 1);
    let [(run, reason)] = recovery.damaged.as_slice() else { panic!("{recovery:?}") };
    assert!(**run == *bad && reason.contains("record 0 of run-") && reason.contains("checksum"), "{reason}");
    assert_eq!(frames(&second, &good).await.last().unwrap()["status"], "COMPLETED");
}

#[tokio::test]
async fn only_the_newest_ended_runs_are_kept_and_running_ones_always() {
    let dir = tempfile::tempdir().unwrap();
    let model = ScriptedModel::new().otherwise(Line::new().says("ok"));
    let engine = over(Arc::new(SqliteLog::open(&dir.path().join("log.db")).unwrap()), &model);
    let mut runs = Vec::new();
    for _ in 0..5 {
        let run = submit(&engine).await.unwrap();
        frames(&engine, &run).await;
        runs.push(run);
    }
    assert_eq!(engine.retain(Kind::Run, 2).await.unwrap(), 3);
    assert_eq!(engine.retain(Kind::Run, 2).await.unwrap(), 0);
    let page = engine.list(Query { limit: 10, ..Query::default() }).await.unwrap();
    let kept: Vec<_> = page.rows.into_iter().map(|(run, _)| run).collect();
    assert_eq!(kept, [runs[4].clone(), runs[3].clone()], "newest first");
    assert!(matches!(engine.run(&runs[0]).await, Err(Error::NotFound(_))));
}

#[tokio::test(start_paused = true)]
async fn runs_that_end_together_are_erased_together_once_they_are_too_many() {
    let disk = Arc::new(Disk::default());
    let model = ScriptedModel::new().otherwise(Line::new().says("ok"));
    let seams = over(disk.clone(), &model).seams().clone();
    let runs = Pool { keep: Keep::Newest(2), ..Pool::default() };
    let engine = Engine::limited(seams, Pools { runs, ..Pools::default() });
    let submitted = join_all((0..20).map(|_| submit(&engine))).await;
    for run in submitted.into_iter().map(Result::unwrap) {
        engine.finished(&run).await;
    }
    let page = engine.list(Query { limit: 10, ..Query::default() }).await.unwrap();
    assert_eq!(page.total, 2, "a run is over when its pass is");
    let erasures = disk.erasures.load(Ordering::SeqCst);
    assert!((1..=4).contains(&erasures), "{erasures} passes for 18 runs");
}

#[tokio::test]
async fn a_backup_taken_while_runs_go_on_can_be_picked_up() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new().at("1.0", Line::new().says("one").waits(&gate)).says("2.0", "two");
    let log = Arc::new(SqliteLog::open(&dir.path().join("log.db")).unwrap());
    let engine = over(log.clone(), &model);
    let run = submit(&engine).await.unwrap();
    model.until(What::Asked, "1.0").await;
    let copy = dir.path().join("copy.db");
    log.backup(&copy).await.unwrap();
    let elsewhere =
        over(Arc::new(SqliteLog::open(&copy).unwrap()), &ScriptedModel::new().otherwise(Line::new().says("ok")));
    assert_eq!(elsewhere.recover().await.unwrap().resumed, 1);
    assert_eq!(frames(&elsewhere, &run).await.last().unwrap()["status"], "COMPLETED");
    gate.notify_one();
    assert_eq!(frames(&engine, &run).await.last().unwrap()["status"], "COMPLETED");
}
