//! Small constructors, an engine over scripted seams, the frames
//! and events of a run, and a log whose process can be made to die.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use consort_core::catalog::{EffectClass, ModelInfo, SavedWorkflows};
use consort_core::compile::{Compiled, compile};
use consort_core::draft::{Draft, Ensemble, Request};
use consort_core::event::Event;
use consort_core::message::{Failure, FailureKind};
use consort_core::own_tool::OwnTool;
use consort_core::workflow::Document;
use consort_log::{Append, Compact, Error, Log, MemoryLog, Page, Query, Record, Seq};
use consort_models::{Model, ModelCatalog};
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_runtime::ring::Frame;
use consort_tools::{ScriptedTool, Tool, Toolbox};
use futures::StreamExt;
use futures::future::{BoxFuture, pending, ready};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

/// The maximum time a tool that must not be dropped may take after a stop.
const GRACE: Duration = Duration::from_millis(500);

/// Returns a task of this name that may use these tools.
pub(crate) fn task(name: &str, tools: &[&str]) -> Draft {
    Draft {
        name: Some(name.to_owned()),
        description: format!("Do {name}"),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        ..Draft::default()
    }
}

/// Returns the task, which now reads the outputs of others.
pub(crate) fn after(names: &[&str], task: Draft) -> Draft {
    Draft { context: names.iter().map(|name| format!("${name}")).collect(), ..task }
}

pub(crate) fn ensemble(tasks: Vec<Draft>) -> Ensemble {
    Ensemble { name: "test".to_owned(), tasks, ..Ensemble::default() }
}

/// Returns four tools: `look` reads, `put` is idempotent, `pay` happens once, `door` is exclusive.
pub(crate) fn tools() -> Vec<ScriptedTool> {
    vec![
        ScriptedTool::new("look").answers("sunny"),
        ScriptedTool::new("put").effect(EffectClass::Idempotent).answers("put"),
        ScriptedTool::new("pay").effect(EffectClass::Once).answers("paid"),
        ScriptedTool::new("door").effect(EffectClass::Idempotent).locks("door").answers("through"),
    ]
}

pub(crate) fn toolbox(tools: impl IntoIterator<Item = impl Tool>) -> Toolbox {
    tools.into_iter().fold(Toolbox::default(), |toolbox, tool| toolbox.with(tool).unwrap())
}

/// Returns the models: `main`, which is retried once and falls back to `spare`.
pub(crate) fn models(main: impl Model, spare: impl Model) -> ModelCatalog {
    let info = ModelInfo { retries: 1, fallback: vec!["spare".to_owned()], ..ModelInfo::new("main", "scripted") };
    let catalog = ModelCatalog::default().with(info, main).unwrap();
    catalog.with(ModelInfo { retries: 1, ..ModelInfo::new("spare", "scripted") }, spare).unwrap()
}

pub(crate) fn failure(kind: FailureKind) -> Failure {
    Failure { kind, message: "no".to_owned(), retry_after_ms: None, status: None, charged: false }
}

/// Returns an engine without limits on concurrency.
pub(crate) fn engine(log: Arc<dyn Log>, models: ModelCatalog, tools: Toolbox) -> Engine {
    Engine::new(Seams { cancel_grace: GRACE, ..Seams::new(log, models, tools) })
}

/// Returns the saved workflow `errand`: something is paid, and a receipt is written.
fn errand() -> Document {
    let pay = json!({ "name": "pay", "description": "Pay for {what}", "tools": ["pay"] });
    let write = json!({ "name": "receipt", "description": "Write a receipt", "context": ["$pay"] });
    serde_json::from_value(json!({ "name": "errand", "tasks": [pay, write] })).unwrap()
}

/// Returns the ensemble as this engine would run it.
pub(crate) fn compiled(engine: &Engine, ensemble: &Ensemble, request: Request) -> Compiled {
    let mut catalog = engine.seams().catalog();
    catalog.tools.push(OwnTool::HumanInput.info());
    catalog.workflows = SavedWorkflows::Known([("errand".to_owned(), Arc::new(errand()))].into());
    compile(ensemble, request, &catalog).unwrap()
}

/// Returns every stored frame of a run and, last, its result, as JSON.
pub(crate) async fn frames(engine: &Engine, run: &str) -> Vec<Value> {
    let tail = engine.tail(run, 0).await.unwrap();
    tail.filter_map(|frame| ready(json(&frame.unwrap()))).collect().await
}

/// Returns a frame as JSON, unless it only shows a model talking.
pub(crate) fn json(frame: &Frame) -> Option<Value> {
    match frame {
        Frame::Event { text, .. } | Frame::Result { text, .. } => Some(serde_json::from_str(text).unwrap()),
        Frame::Delta { .. } => None,
    }
}

/// Returns every event of a run, as it is stored.
pub(crate) async fn events(log: &dyn Log, run: &str) -> Vec<Event> {
    let records = log.read(run, 0, usize::MAX >> 1).await.unwrap();
    records.iter().map(decoded).collect()
}

fn decoded(record: &Record) -> Event {
    let mut event: Event = serde_json::from_str(&record.body).unwrap();
    assert!(event.kind.texts_mut().into_iter().all(|text| text.attach(&record.attachments)));
    event
}

/// The moment at which a process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    /// At the first append after so many; the effects of those that were stored have happened.
    Storing(usize),
    /// After so many appends are stored, the last of them not acknowledged.
    Stored(usize),
    Never,
}

/// A log whose process dies: an append that it does not survive never returns.
pub(crate) struct DyingLog {
    pub(crate) inner: MemoryLog,
    death: Death,
    appends: AtomicUsize,
    dead: AtomicBool,
    died: Notify,
}

impl DyingLog {
    pub(crate) fn new(death: Death) -> DyingLog {
        let inner = MemoryLog::default();
        let appends = AtomicUsize::new(0);
        DyingLog { inner, death, appends, dead: AtomicBool::new(false), died: Notify::new() }
    }

    /// Returns when the process is dead.
    pub(crate) async fn died(&self) {
        self.died.notified().await;
    }

    /// Ends the process; only one death is counted, however many appends are under way.
    fn die(&self) -> BoxFuture<'_, Result<(), Error>> {
        if !self.dead.swap(true, Ordering::SeqCst) {
            self.died.notify_one();
        }
        Box::pin(pending())
    }
}

impl Compact for DyingLog {
    fn compact(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.inner.compact()
    }
}

impl Log for DyingLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>> {
        let number = self.appends.fetch_add(1, Ordering::SeqCst) + 1;
        match self.death {
            Death::Storing(survived) if number > survived => self.die(),
            Death::Stored(stored) if number > stored => self.die(),
            Death::Stored(stored) if number == stored => {
                drop(self.inner.append(append));
                self.die()
            }
            Death::Storing(_) | Death::Stored(_) | Death::Never => self.inner.append(append),
        }
    }

    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, Error>> {
        self.inner.read(stream, from, max)
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, Error>> {
        self.inner.list(query)
    }

    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), Error>> {
        self.inner.erase(streams)
    }

    fn news(&self, stream: &str) -> watch::Receiver<u64> {
        self.inner.news(stream)
    }
}
