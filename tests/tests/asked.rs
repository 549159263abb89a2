//! The cost of starting over stored runs and of ending runs, by what the log is asked for.

use std::mem;
use std::sync::{Arc, Mutex};

use consort_core::draft::Request;
use consort_core::spec::Kind;
use consort_log::{Append, Compact, Error, Log, MemoryLog, Page, Query, Record, Seq};
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::{Keep, Pool, Pools};
use consort_runtime::engine::Engine;
use consort_tools::ScriptedTool;
use futures::future::BoxFuture;
use tokio::sync::watch;

use crate::support::{compiled, engine, ensemble, models, task, toolbox};

/// A question to a log.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Append,
    Read(String),
    /// The number of rows of a list is wanted, and none of them.
    Count,
    List,
}

/// A log that notes what it is asked. Others go first before it answers, as with a log on a disk.
#[derive(Default)]
struct NotingLog {
    log: MemoryLog,
    asked: Mutex<Vec<Asked>>,
}

impl NotingLog {
    fn note(&self, asked: Asked) {
        self.asked.lock().unwrap().push(asked);
    }

    /// Returns what it was asked since the last call.
    fn asked(&self) -> Vec<Asked> {
        mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Compact for NotingLog {
    fn compact(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.log.compact()
    }
}

impl Log for NotingLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>> {
        self.note(Asked::Append);
        self.log.append(append)
    }

    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, Error>> {
        self.note(Asked::Read(stream.to_owned()));
        let read = self.log.read(stream, from, max);
        Box::pin(async move {
            tokio::task::yield_now().await;
            read.await
        })
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, Error>> {
        self.note(if query.limit == 0 { Asked::Count } else { Asked::List });
        self.log.list(query)
    }

    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), Error>> {
        self.log.erase(streams)
    }

    fn news(&self, stream: &str) -> watch::Receiver<u64> {
        self.log.news(stream)
    }
}

fn over(log: &Arc<NotingLog>, line: Line) -> Engine {
    let model = ScriptedModel::new().otherwise(line);
    engine(log.clone(), models(model, ScriptedModel::new()), toolbox(Vec::<ScriptedTool>::new()))
}

async fn submit(engine: &Engine) -> Arc<str> {
    let one = ensemble(vec![task("a", &[])]);
    engine.submit(compiled(engine, &one, Request::default())).await.unwrap()
}

#[tokio::test]
async fn all_unfinished_runs_are_loaded_before_the_first_one_works() {
    let log = Arc::new(NotingLog::default());
    let before = over(&log, Line::new().hangs());
    for _ in 0..20 {
        submit(&before).await;
    }
    before.stop().await;
    log.asked();
    let after = over(&log, Line::new().hangs());
    assert_eq!(after.recover().await.unwrap().resumed, 20);
    let asked = log.asked();
    let reads = asked.iter().filter(|asked| matches!(asked, Asked::Read(_))).count();
    assert_eq!((reads, asked.contains(&Asked::Append)), (20, false), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn only_the_newest_runs_are_read_before_a_server_answers_and_each_once_when_there_are_few() {
    let log = Arc::new(NotingLog::default());
    let first = over(&log, Line::new().says("done"));
    let example = submit(&first).await;
    first.finished(&example).await;
    let records = log.log.read(&example, 0, usize::MAX >> 1).await.unwrap();
    let (_, row) = log.log.list(Query { limit: 1, ..Query::default() }).await.unwrap().rows.remove(0);
    let stored = |number: usize| {
        let stream = format!("run-{number:032x}");
        let row = row.clone();
        Append { epoch: 1, ..Append::new(stream, 0, records.clone(), row) }
    };
    let reads = |log: &NotingLog| log.asked().iter().filter(|asked| matches!(asked, Asked::Read(_))).count();
    reads(&log);
    let few = over(&log, Line::new().hangs());
    few.inspect_newest().await.unwrap();
    few.inspect().await.unwrap();
    assert_eq!(reads(&log), 1, "what was read first is all there is");

    for number in 0..999 {
        log.log.append(stored(number)).await.unwrap();
    }
    let many = over(&log, Line::new().hangs());
    many.inspect_newest().await.unwrap();
    assert_eq!(reads(&log), 200);
    many.inspect().await.unwrap();
    assert_eq!(reads(&log), 1000);
}

#[tokio::test(start_paused = true)]
async fn ended_runs_are_not_counted_again_before_there_can_be_too_many() {
    let log = Arc::new(NotingLog::default());
    let runs = Pool { keep: Keep::Newest(10), ..Pool::default() };
    let pools = Pools { runs, ..Pools::default() };
    let engine = Engine::limited(over(&log, Line::new().says("done")).seams().clone(), pools);
    let mut counts = Vec::new();
    for _ in 0..14 {
        let run = submit(&engine).await;
        engine.finished(&run).await;
        counts.push(log.asked().iter().filter(|asked| **asked == Asked::Count).count());
    }
    assert_eq!(counts, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
    let kept = engine.only(Kind::Run).list(Query { limit: 100, ..Query::default() }).await.unwrap();
    assert_eq!(kept.total, 10);
}
