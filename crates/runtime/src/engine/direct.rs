//! A tool called without a run, by a person or a program.

use std::time::Duration;

use consort_core::catalog::{EffectClass, ToolInfo};
use consort_core::id::Id;
use consort_http::trace::{self, Trace};
use consort_tools::{Account, Answer, Invocation};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::{Engine, Error};
use crate::meters::Meter;

/// A call without a run.
pub struct DirectCall<'a> {
    /// The tool.
    pub tool: &'a ToolInfo,
    /// The arguments, which fit the tool's schema.
    pub args: Value,
    /// The trace that the call belongs to, as a `traceparent`.
    pub traceparent: Option<&'a str>,
    /// The time that an answer is waited for.
    pub patience: Duration,
}

/// The end of a call without a run.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectAnswer {
    /// The answer; `None` when there was none in time.
    pub answer: Option<Answer>,
    /// The time it took.
    pub took: Duration,
}

/// The reason why a tool may not be called without a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectError {
    /// There are no tools at all.
    #[error("no tools are configured")]
    NoTools,
    /// There is no such tool.
    #[error("{0}")]
    Unknown(String),
    /// The tool asks a person, which only a task can.
    #[error("the tool '{0}' may not be called directly: only a task can ask a person")]
    AsksPerson(String),
    /// Tools of its class may not be called directly.
    #[error("the tool '{0}' may not be called directly: its class is not in `tools.direct`")]
    Class(String),
}

impl Engine {
    /// Calls a tool the way a run does, with its lock held and its time measured; refused while
    /// the engine is draining.
    pub async fn call(&self, direct: DirectCall<'_>) -> Result<DirectAnswer, Error> {
        self.check_open()?;
        let key = format!("direct-{}", uuid::Uuid::now_v7().simple());
        let trace = direct.traceparent.and_then(|given| Some(Trace::parse(given)?.at(&key, "")));
        let invocation = Invocation {
            run: key.as_str().into(),
            call: Id::task(0),
            key,
            args: direct.args,
            account: Account::default(),
        };
        let began = Instant::now();
        let performed = trace::within(trace, self.perform(direct.tool, invocation));
        let answer = timeout(direct.patience, performed).await.ok();
        let took = began.elapsed();
        let outcome = match &answer {
            Some(Answer::Done { .. }) => "done",
            Some(Answer::Failed(_) | Answer::Late { effect: EffectClass::Read, .. }) => "failed",
            Some(Answer::Unknown(_) | Answer::Late { .. }) | None => "unknown",
        };
        let label = self.seams().tools.label(&direct.tool.name);
        self.meters().time(Meter::ToolCall, &[("tool", label), ("outcome", outcome)], took);
        Ok(DirectAnswer { answer, took })
    }

    async fn perform(&self, tool: &ToolInfo, invocation: Invocation) -> Answer {
        let seams = self.seams();
        // No call of a run holds the tool's lock meanwhile.
        let _held = match &tool.lock {
            Some(name) => Some(seams.limits.lock(name).await),
            None => None,
        };
        seams.tools.perform(&tool.name, invocation).await
    }
}
