//! The seams of the process that is killed: the real log, tools and models
//! that take a moment, and a wrapper around each that records its actions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use consort_core::catalog::{EffectClass, ToolInfo};
use consort_core::message::Failure;
use consort_log::{Append, Compact, Error, Log, Page, Query, Record, Seq, SqliteLog};
use consort_models::{Ask, Model, Piece, ScriptedModel};
use consort_runtime::engine::Engine;
use consort_tools::{Answer, Invocation, Tool};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use tokio::sync::watch;
use tokio::time::sleep;

use super::Dice;
use super::ledger::{Line, Pen};
use super::plays::{self, DOOR, LOOK, PAY, PUT};
use crate::support::{engine, models, toolbox};

/// The maximum times of a model and of a tool.
const MODEL_US: u64 = 6_000;
const TOOL_US: u64 = 8_000;

/// Returns an engine that runs the plays.
pub(super) fn witnessed(log: Arc<dyn Log>, pen: &Pen, dice: Dice) -> Engine {
    let tool = |name: &str, effect, lock: Option<&str>| WitnessedTool {
        info: Arc::new(ToolInfo { effect, lock: lock.map(str::to_owned), ..ToolInfo::new(name, "a tool") }),
        pen: pen.clone(),
        dice,
    };
    let tools = [
        tool(LOOK, EffectClass::Read, None),
        tool(PUT, EffectClass::Idempotent, None),
        tool(PAY, EffectClass::Once, None),
        tool(DOOR, EffectClass::Idempotent, Some("door")),
    ];
    let slow = |inner| SlowModel { inner, dice };
    engine(log, models(slow(plays::main()), slow(plays::spare())), toolbox(tools))
}

/// Waits for some time below `max_us`, always the same for the same thing.
async fn moment(dice: Dice, thing: &str, max_us: u64) {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    sleep(Duration::from_micros(Dice(dice.0 ^ hasher.finish()).roll(max_us))).await;
}

/// The real log; the wrapper records what it is passed and what it acknowledges.
pub(super) struct WitnessedLog {
    inner: SqliteLog,
    pen: Pen,
    appends: AtomicU64,
}

impl WitnessedLog {
    pub(super) fn new(inner: SqliteLog, pen: &Pen) -> WitnessedLog {
        WitnessedLog { inner, pen: pen.clone(), appends: AtomicU64::new(0) }
    }
}

impl Compact for WitnessedLog {
    fn compact(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.inner.compact()
    }
}

impl Log for WitnessedLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>> {
        let number = self.appends.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let run = append.stream.to_string();
            self.pen.write(&Line::Handed { append: number, run: run.clone(), expected: append.expected });
            self.inner.append(append).await?;
            self.pen.write(&Line::Acknowledged { append: number, run });
            Ok(())
        })
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

struct WitnessedTool {
    info: Arc<ToolInfo>,
    pen: Pen,
    dice: Dice,
}

impl Tool for WitnessedTool {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        let tool = self.info.name.clone();
        let key = invocation.key;
        Box::pin(async move {
            let mut call = Call::begin(&self.pen, tool, key);
            moment(self.dice, &call.key, TOOL_US).await;
            call.end = |tool, key| Line::Finished { tool, key };
            Answer::Done { text: "done".to_owned(), data: None }
        })
    }
}

/// A call under way; records its end, unless the process is killed first.
struct Call<'a> {
    pen: &'a Pen,
    tool: String,
    key: String,
    end: fn(String, String) -> Line,
}

impl Call<'_> {
    fn begin(pen: &Pen, tool: String, key: String) -> Call<'_> {
        pen.write(&Line::Begun { tool: tool.clone(), key: key.clone() });
        Call { pen, tool, key, end: |tool, key| Line::Dropped { tool, key } }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.pen.write(&(self.end)(std::mem::take(&mut self.tool), std::mem::take(&mut self.key)));
    }
}

struct SlowModel {
    inner: ScriptedModel,
    dice: Dice,
}

impl Model for SlowModel {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        let place = format!("{}/{}.{}", ask.run, ask.conversation, ask.round);
        let dice = self.dice;
        let answer = self.inner.stream(ask);
        async move { moment(dice, &place, MODEL_US).await }.map(|()| answer).flatten_stream().boxed()
    }
}
