//! A model and a tool that answer at once and within the process.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::message::{Call, Failure, Message, Part, Reply, Stop, Usage};
use consort_models::{Ask, Model, Piece};
use consort_tools::{Answer, Invocation, Tool};
use futures::future::{BoxFuture, ready};
use futures::stream::{self, BoxStream, StreamExt};

use crate::stage::TOOL;

/// A model that always gives the same short answer.
pub(crate) struct InstantModel;

impl Model for InstantModel {
    fn stream(&self, _ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        let part = Part::Text { text: "It will be sunny.".into(), native: None };
        let reply = Reply { wire: "instant".to_owned(), parts: vec![part], stop: Stop::End };
        let usage = Usage { input: 120, output: 9, ..Usage::default() };
        stream::iter([Ok(Piece::Done(reply, Some(usage)))]).boxed()
    }
}

/// A model that calls the offered tool in so many rounds, then gives the same short answer.
#[derive(Clone, Copy)]
pub(crate) struct TalkativeModel {
    /// The number of rounds with a call.
    pub(crate) rounds: usize,
}

impl Model for TalkativeModel {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        let said = ask.messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count();
        if said >= self.rounds {
            return InstantModel.stream(ask);
        }
        let call = Call {
            provider_id: format!("call-{said}"),
            tool: TOOL.to_owned(),
            args: format!(r#"{{"input":"the weather of day {said}"}}"#).into(),
            native: None,
        };
        let reply = Reply { wire: "instant".to_owned(), parts: vec![Part::Call(call)], stop: Stop::End };
        let usage = Usage { input: 120, output: 9, ..Usage::default() };
        stream::iter([Ok(Piece::Done(reply, Some(usage)))]).boxed()
    }
}

/// A tool that always returns the same result.
pub(crate) struct InstantTool {
    info: Arc<ToolInfo>,
}

impl InstantTool {
    /// Returns a tool of this name.
    pub(crate) fn new(name: &str) -> InstantTool {
        InstantTool { info: Arc::new(ToolInfo::new(name, "Finds out about something.")) }
    }
}

impl Tool for InstantTool {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, _invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(ready(Answer::Done { text: "sunny until the evening".to_owned(), data: None }))
    }
}
