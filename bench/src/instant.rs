//! A model and a tool that answer at once and in process.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::message::{Failure, Part, Reply, Stop, Usage};
use consort_runtime::model::{Ask, Model, Piece};
use consort_runtime::tool::{Answer, Invocation, Tool};
use futures::future::{BoxFuture, ready};
use futures::stream::{self, BoxStream, StreamExt};

/// Says the same short thing to everybody.
pub(crate) struct InstantModel;

impl Model for InstantModel {
    fn stream(&self, _ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        let part = Part::Text { text: "It will be sunny.".into(), native: None };
        let reply = Reply { wire: "instant".to_owned(), parts: vec![part], stop: Stop::End };
        let usage = Usage { input: 120, output: 9, ..Usage::default() };
        stream::iter([Ok(Piece::Done(reply, Some(usage)))]).boxed()
    }
}

/// Finds the same thing whatever it is asked.
pub(crate) struct InstantTool {
    info: Arc<ToolInfo>,
}

impl InstantTool {
    /// A tool of this name.
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
