//! One effect, which ends in one report. It keeps no state of the run, so dropping it
//! is enough to cancel it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{EffectClass, ToolInfo};
use consort_core::cause::Cause;
use consort_core::compile::Catalog;
use consort_core::decide::Report;
use consort_core::id::Id;
use consort_core::live_source::LiveSource;
use consort_core::message::{Failure, FailureKind, Outcome};
use consort_core::next::{Effect, Question};
use consort_core::own_tool::OwnTool;
use consort_core::owner::Owner;
use consort_core::spec::Origin;
use consort_core::text::Text;
use consort_http::right;
use consort_http::trace::{self, Trace};
use consort_log::Log;
use consort_log::clock::Clock;
use consort_log::cluster::{Alone, Cluster};
use consort_models::{Ask, Model, ModelCatalog, Piece};
use consort_tools::attachments::Attachments;
use consort_tools::{Account, Answer, Invocation, Toolbox};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::files;
use crate::limits::Limits;
use crate::links::Links;
use crate::meters::{Meter, Meters};
use crate::permits::Held;
use crate::ring::Ring;
use crate::tenure::Tenure;
use crate::thread_history;

/// The default time that a tool that must not be dropped may take after a stop.
pub const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// The seams to the outside world, as a runner uses them.
#[derive(Clone)]
pub struct Seams {
    /// The log that stores events.
    pub log: Arc<dyn Log>,
    /// The models that can be called.
    pub models: ModelCatalog,
    /// The tools that can be called.
    pub tools: Toolbox,
    /// The limits on concurrent calls.
    pub limits: Limits,
    /// The clock.
    pub clock: Clock,
    /// The time that a tool that must not be dropped may take after a stop.
    pub cancel_grace: Duration,
    /// The nodes that share the log.
    pub cluster: Arc<dyn Cluster>,
    /// The name of this node, as runs tell it.
    pub node: Option<String>,
    /// The number of runs that may be active on all nodes together; unlimited when absent.
    pub runs_of_all: Option<usize>,
    /// The links to other nodes.
    pub links: Links,
}

impl Seams {
    /// Creates the seams with the machine's clock, the default grace period and no limits.
    pub fn new(log: Arc<dyn Log>, models: ModelCatalog, tools: Toolbox) -> Seams {
        let limits = Limits::new([], None);
        let cluster = Arc::new(Alone::new(log.clone()));
        let clock = Clock::system();
        Seams {
            log,
            models,
            tools,
            limits,
            clock,
            cancel_grace: CANCEL_GRACE,
            cluster,
            node: None,
            runs_of_all: None,
            links: Links::default(),
        }
    }

    /// Returns the same seams over another log, which is this process's alone.
    #[must_use]
    pub fn over(self, log: Arc<dyn Log>) -> Seams {
        let cluster = Arc::new(Alone::new(log.clone()));
        Seams { log, cluster, ..self }
    }

    /// Returns the models and tools that tasks can name, without tools that come and go.
    pub fn catalog(&self) -> Catalog {
        self.tools.catalog(self.models.infos().cloned())
    }
}

/// The context of an effect: its run, and the watchers of it.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) run: Arc<str>,
    /// The owner of the run.
    pub(crate) owner: Owner,
    pub(crate) seams: Arc<Seams>,
    pub(crate) ring: Ring,
    /// The origin of the run.
    pub(crate) origin: Option<Arc<Origin>>,
    /// The speaker of a model's tokens, or the call of a tool's progress.
    pub(crate) voice: Arc<LiveSource>,
    pub(crate) meters: Meters,
    /// Becomes true when the run is to stop.
    pub(crate) halt: watch::Receiver<bool>,
    /// The trace it belongs to.
    pub(crate) trace: Option<Trace>,
    /// The right to act for the run.
    pub(crate) tenure: Tenure,
}

/// Returns the execution of an effect. Its permits are released before the report is read, so that a waiting effect can
/// get them in the same decision. It is in a box, because a task is moved several times before it begins.
pub(crate) fn perform(effect: Effect, stage: Stage, held: Held) -> BoxFuture<'static, Report> {
    Box::pin(async move {
        // Its event is stored, so from here on another owner may settle it.
        stage.tenure.begin().await;
        let right = stage.tenure.right_to(held.departure());
        let report = right::within(right, trace::within(stage.trace.clone(), execute(effect, &stage))).await;
        drop(held);
        report
    })
}

async fn execute(effect: Effect, stage: &Stage) -> Report {
    match effect {
        Effect::Ask(question) => ask(question, stage).await,
        // Results that were cut in an earlier turn of the thread are stored in the log.
        Effect::Call { id, tool, args, .. } if tool.as_own() == Some(OwnTool::ReadResult) => {
            Box::pin(read_earlier(id, &args, stage)).await
        }
        Effect::Call { id, tool, args, lent, again, terms } => {
            let account = Account::new(stage.origin.clone(), lent).until(stage.halt.clone());
            let account = account.made_before(again.then_some(tool.effect)).on(terms, tool.reach.provider);
            // In a box, as the one before: a question waits longer, and needs less.
            Box::pin(call(id, &tool, (args, account), stage)).await
        }
    }
}

async fn ask(question: Box<Question>, stage: &Stage) -> Report {
    let Some(model) = stage.seams.models.find(&question.model) else {
        let message = format!("there is no model '{}' any more", question.model);
        let failure =
            Failure { kind: FailureKind::Refused, message, retry_after_ms: None, status: None, charged: false };
        return Report::Unanswered { conversation: question.conversation, failure, dice: 0, said: Text::default() };
    };
    let conversation = question.conversation.clone();
    let alias = question.model.clone();
    let began = Instant::now();
    let outcome = listen(&**model, question, stage).await;
    let took = began.elapsed();
    count_model(stage, &alias, &outcome, took);
    let latency_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    match outcome {
        Ok((reply, usage)) => Report::Replied { conversation, reply: Arc::new(reply), usage, latency_ms },
        Err(failure) => {
            let failure = named(failure, &alias, model.address().as_deref());
            Report::Unanswered { conversation, failure, dice: dice(), said: Text::default() }
        }
    }
}

/// Adds the model's configured alias and its address to a failure, as far as its provider
/// does not name them. A model in this process is named only when it did not answer at all.
fn named(mut failure: Failure, alias: &str, address: Option<&str>) -> Failure {
    let unreachable = matches!(failure.kind, FailureKind::Network | FailureKind::Timeout);
    match address.filter(|address| !failure.message.contains(address)) {
        Some(address) => failure.message = format!("model `{alias}`, {address}: {}", failure.message),
        None if unreachable || address.is_some() => {
            failure.message = format!("model `{alias}`, {}", failure.message);
        }
        None => {}
    }
    failure
}

fn count_model(stage: &Stage, model: &str, outcome: &Result<Heard, Failure>, took: Duration) {
    let word = if outcome.is_ok() { "replied" } else { "failed" };
    stage.meters.time(Meter::ModelCall, &[("model", model), ("outcome", word)], took);
    match outcome {
        Ok((_, Some(usage))) => {
            for (direction, tokens) in [("input", usage.input), ("output", usage.output)] {
                stage.meters.add(Meter::ModelTokens, &[("model", model), ("direction", direction)], tokens);
            }
        }
        // It is not 0: nobody knows.
        Ok((_, None)) => stage.meters.add(Meter::ModelUncounted, &[("model", model)], 1),
        Err(_) => {}
    }
}

type Heard = (consort_core::message::Reply, Option<consort_core::message::Usage>);

/// Returns a question as a model takes it, with the files that its messages name.
async fn asked(question: Box<Question>, stage: &Stage) -> Ask {
    let Question { model, conversation, task, round, attempt, messages, tools, belt, options, schema, max_output } =
        *question;
    let info = stage.seams.models.infos().find(|info| info.alias == model);
    let attachments = Attachments::new(stage.seams.log.clone());
    let (messages, files) = files::attach(messages, info.map(|info| &**info), &attachments).await;
    let run = stage.run.clone();
    let task = task.into();
    let max_output_tokens = max_output;
    Ask { run, conversation, task, round, attempt, messages, tools, belt, max_output_tokens, options, schema, files }
}

async fn listen(model: &dyn Model, question: Box<Question>, stage: &Stage) -> Result<Heard, Failure> {
    let conversation = question.conversation.clone();
    let offered = !question.tools.is_empty();
    let mut pieces = model.stream(asked(question, stage).await);
    let mut charged = false;
    while let Some(piece) = pieces.next().await {
        match piece? {
            Piece::Delta(text) => {
                charged = true;
                stage.ring.delta(&conversation, &stage.voice, &text, stage.seams.clock.now());
            }
            Piece::Thinking(text) => {
                charged = true;
                stage.ring.thought(&conversation, &stage.voice, &text);
            }
            Piece::Done(reply, usage) => {
                if !offered && reply.calls().next().is_some() {
                    tracing::warn!(run = %stage.run, %conversation, "a model that was offered no tools calls some: they are not called");
                }
                return Ok((reply, usage));
            }
        }
    }
    let message = "the answer was cut off".to_owned();
    Err(Failure { kind: FailureKind::Network, message, retry_after_ms: None, status: None, charged })
}

async fn call(id: Id, tool: &ToolInfo, (args, account): (Value, Account), stage: &Stage) -> Report {
    let began = Instant::now();
    let key = format!("{}/{id}", stage.run);
    let mut reports = account.reports();
    let invocation = Invocation { run: stage.run.clone(), call: id.clone(), key, args, account: account.clone() };
    let tools = &stage.seams.tools;
    // A call that was made before is asked about under its name, whatever the tool is now.
    let exact = account.terms.exact && account.again.is_none();
    let mut performed = pin!(async move {
        match exact {
            true => tools.perform_exactly(tool, invocation).await,
            false => tools.perform(&tool.name, invocation).await,
        }
    });
    let answer = loop {
        tokio::select! {
            answer = &mut performed => break answer,
            Ok(()) = reports.changed() => {
                if let Some(progress) = reports.borrow_and_update().as_ref() {
                    stage.ring.progress(&stage.voice, progress, stage.seams.clock.now());
                }
            }
        }
    };
    let took = began.elapsed();
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let cause = matches!(answer, Answer::Late { .. }).then_some(Cause::ToolTimeout);
    let (word, outcome) = outcome(answer, &account, stage).await;
    stage.meters.time(Meter::ToolCall, &[("tool", stage.seams.tools.label(&tool.name)), ("outcome", word)], took);
    Report::Returned { call: id, outcome, cause, duration_ms, spent: account.spent(), changes: account.changes() }
}

/// Returns the outcome that an answer is recorded as, and its word in the metrics.
async fn outcome(answer: Answer, account: &Account, stage: &Stage) -> (&'static str, Outcome) {
    match answer {
        Answer::Done { text, data } => {
            let files = files::keep(account.take_pictures(), stage).await;
            ("done", Outcome::Answer { text: text.into(), data, files })
        }
        Answer::Failed(reason) | Answer::Late { why: reason, effect: EffectClass::Read } => {
            ("failed", Outcome::failed(reason))
        }
        Answer::Unknown(why) | Answer::Late { why, effect: EffectClass::Idempotent | EffectClass::Once } => {
            ("unknown", Outcome::unknown(why))
        }
    }
}

/// Reads a further part of a result of an earlier turn of the thread.
async fn read_earlier(call: Id, args: &Value, stage: &Stage) -> Report {
    let began = Instant::now();
    let read = thread_history::read_result(&*stage.seams.log, &stage.run, args).await;
    let outcome = read.unwrap_or_else(|error| Outcome::failed(error.to_string()));
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Report::Returned { call, outcome, cause: None, duration_ms, spent: None, changes: Vec::new() }
}

/// Returns a random number, taken from the end of a fresh UUID.
fn dice() -> u32 {
    let bytes = uuid::Uuid::now_v7().into_bytes();
    bytes.last_chunk().map_or(0, |last| u32::from_le_bytes(*last))
}
