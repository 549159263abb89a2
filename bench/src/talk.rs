//! Conversations: the cost of a token on its way from the model to the client,
//! and of a tool call in a turn, both against the bare stream; and the slowdown
//! of a long thread against a short one, with a model that is sent nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use consort_chat::{Chats, MessageState, Settings};
use consort_core::budget::Limits as Budget;
use consort_core::catalog::ModelInfo;
use consort_core::chat::{Mode, Rules, UserMessage};
use consort_http::client;
use consort_log::SqliteLog;
use consort_models::{Model, ModelCatalog};
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_tools::Toolbox;
use futures::StreamExt;
use serde_json::json;
use tempfile::TempDir;

use crate::bare;
use crate::child::Server;
use crate::crowd::Crowd;
use crate::effort::{Effort, median};
use crate::instant::{InstantModel, InstantTool};
use crate::model_server::{AT_LENGTH, LONG, SHORT};
use crate::recorded::openai;
use crate::stage::TOOL;
use crate::table::Table;

/// The number of concurrent turns, each in its own thread.
const AT_ONCE: usize = 16;
const TOKEN_MAX: f64 = 4.0;
const CALL_MAX: f64 = 5.0;
/// The numbers of messages of a short and of a long thread, and of turns by which they are measured.
const FEW: usize = 20;
const MANY: usize = 2000;
const TURNS: usize = 24;
const LONG_MAX: f64 = 1.5;
const OWNER: &str = "bench";
pub(crate) const SAID: &str = "What will the weather be like?";

/// The things that the model may call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// The tool of the bench.
    Tools,
    /// Nothing.
    Nothing,
}

/// Conversations with one model, stored on disk.
#[derive(Clone)]
pub(crate) struct ChatStage {
    chats: Chats,
    _folder: Arc<TempDir>,
}

/// The microseconds of CPU, each way.
struct Round {
    bare_short: f64,
    bare_long: f64,
    short: f64,
    long: f64,
    calling: f64,
}

/// Measures and adds the targets.
pub(crate) async fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let server = Server::start(0)?;
    let client = client()?;
    let crowd = Crowd { jobs: effort.runs, at_once: AT_ONCE };
    let plain = ChatStage::new(openai(&server.url, &client)?, Calls::Nothing)?;
    let calling = ChatStage::new(openai(&server.url, &client)?, Calls::Tools)?;
    let url: Arc<str> = format!("{}/chat/completions", server.url).into();
    let bare = |said: &'static str| {
        let client = client.clone();
        let url = url.clone();
        let message = json!({ "role": "user", "content": said });
        let body = json!({ "model": "m", "stream": true, "messages": [message] }).to_string().into_bytes();
        crowd.cpu_us(move || {
            let client = client.clone();
            let url = url.clone();
            let body = body.clone();
            async move { bare::post(&client, &url, &[body]).await }
        })
    };
    let mut rounds = Vec::new();
    for _ in 0..=effort.rounds {
        rounds.push(Round {
            bare_short: bare(SAID).await?,
            bare_long: bare(AT_LENGTH).await?,
            short: plain.turns(SAID, crowd).await?,
            long: plain.turns(AT_LENGTH, crowd).await?,
            calling: calling.turns(SAID, crowd).await?,
        });
    }
    // The first round warms up.
    report(rounds.get(1..).unwrap_or_default(), table);
    length(effort, table).await
}

fn report(rounds: &[Round], table: &mut Table) {
    let of = |part: fn(&Round) -> f64| median(rounds.iter().map(part));
    let tokens = (LONG - SHORT) as f64;
    let bare = of(|round| round.bare_long - round.bare_short) / tokens;
    let token = of(|round| round.long - round.short) / tokens;
    let ratio = of(|round| (round.long - round.short) / (round.bare_long - round.bare_short));
    table.add("chat: CPU per token", format!("{token:.2} us, bare {bare:.2} us"), (ratio, TOKEN_MAX), "x");
    let bare = of(|round| round.bare_short);
    let call = of(|round| round.calling - round.short);
    let ratio = of(|round| (round.calling - round.short) / round.bare_short);
    let measured = format!("{call:.0} us, bare call {bare:.0} us");
    table.add("chat: CPU per tool call and the answer to it", measured, (ratio, CALL_MAX), "x");
}

/// Measures answers in a long and in a short thread, in turn.
async fn length(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let stage = ChatStage::new(InstantModel, Calls::Nothing)?;
    let few = stage.thread(FEW).await?;
    let many = stage.thread(MANY).await?;
    let mut short = Vec::new();
    let mut long = Vec::new();
    for _ in 0..=effort.rounds {
        short.push(stage.answers(&few).await?);
        long.push(stage.answers(&many).await?);
    }
    let pairs = short.iter().zip(&long).skip(1);
    let ratio = median(pairs.map(|(short, long)| long / short));
    let of = |side: &[f64]| median(side.iter().skip(1).copied());
    let measured = format!("{:.0} us, short {:.0} us", of(&long), of(&short));
    table.add("chat: answer after 2000 messages, against 20", measured, (ratio, LONG_MAX), "x");
    Ok(())
}

impl ChatStage {
    /// Returns conversations with this model, stored in a folder of their own.
    pub(crate) fn new(model: impl Model, calls: Calls) -> anyhow::Result<ChatStage> {
        let folder = tempfile::tempdir()?;
        let log = Arc::new(SqliteLog::open(&folder.path().join("log.db"))?);
        let info = ModelInfo { tools: calls == Calls::Tools, ..ModelInfo::new("model", "openai") };
        let models = ModelCatalog::default().with(info, model)?;
        let tools = Toolbox::default().with(InstantTool::new(TOOL))?;
        let engine = Engine::new(Seams::new(log, models, tools));
        let limits = Budget { iterations_per_level: 20, history_tokens: 128_000, ..Budget::default() };
        let rules = Rules { limits, mode: Mode::Auto, approval_timeout_ms: 1000, ..Rules::default() };
        let settings = Settings { detach_grace: Duration::ZERO, ..Settings::new(&engine, rules) };
        Ok(ChatStage { chats: Chats::new(engine, settings), _folder: Arc::new(folder) })
    }

    /// Returns the CPU per turn, each the first of its thread.
    pub(crate) async fn turns(&self, said: &'static str, crowd: Crowd) -> anyhow::Result<f64> {
        let stage = self.clone();
        let job = move || {
            let stage = stage.clone();
            async move {
                let thread = stage.chats.create(OWNER, None).await?;
                stage.turn(&thread.id, said).await
            }
        };
        crowd.cpu_us(job).await
    }

    /// Sends a message and reads the turn to its end.
    async fn turn(&self, thread: &str, said: &str) -> anyhow::Result<()> {
        let say = UserMessage { content: said.into(), ..UserMessage::default() };
        let seat = self.chats.subscribe(thread);
        let said = self.chats.send(OWNER, thread, say).await?;
        let MessageState::Begun { seq } = said.place else { anyhow::bail!("the turn waits") };
        let mut frames = self.chats.turn(&seat, &said.turn, seq).await?;
        let mut last = None;
        while let Some(frame) = frames.next().await {
            last = Some(frame?.text);
        }
        ensure!(last.context("no frames")?.contains(r#""done":true"#), "a turn was cut off");
        Ok(())
    }

    /// Creates a thread of so many messages.
    async fn thread(&self, messages: usize) -> anyhow::Result<String> {
        let thread = self.chats.create(OWNER, None).await?.id;
        for _ in 0..messages / 2 {
            self.turn(&thread, SAID).await?;
        }
        Ok(thread)
    }

    /// Returns the microseconds of a turn in this thread.
    async fn answers(&self, thread: &str) -> anyhow::Result<f64> {
        let began = Instant::now();
        for _ in 0..TURNS {
            self.turn(thread, SAID).await?;
        }
        Ok(began.elapsed().as_secs_f64() * 1e6 / TURNS as f64)
    }
}
