//! One tool of an MCP server. A call is sent at most once: a call without an
//! answer has failed if it only reads, and its outcome is unknown otherwise.

use std::sync::Arc;

use consort_core::catalog::{EffectClass, ToolInfo};
use consort_http::{right, trace};
use futures::future::BoxFuture;
use rmcp::model::{CallToolRequestParams, RequestMetaObject};
use serde_json::Value;

use super::answer::{Failure, answer, failure};
use super::link::ServerLink;
use crate::toolbox::in_doubt;
use crate::{Answer, Invocation, Tool};

/// The field of a call's `_meta` that is the same when the call is repeated.
const KEY: &str = "idempotencyKey";

/// A tool of an MCP server.
pub(super) struct McpTool {
    pub(super) info: Arc<ToolInfo>,
    pub(super) link: Arc<ServerLink>,
    /// The server's name of the tool.
    pub(super) remote: String,
    /// The reason why it can never be called, if so.
    pub(super) defect: Option<String>,
}

impl McpTool {
    async fn ask(&self, invocation: Invocation) -> Answer {
        if let Some(defect) = &self.defect {
            return Answer::Failed(defect.clone());
        }
        let peer = match self.link.peer().await {
            Ok(peer) => peer,
            Err(reason) => return Answer::Failed(reason),
        };
        let account = invocation.account.clone();
        let params = match self.params(invocation) {
            Ok(params) => params,
            Err(reason) => return Answer::Failed(reason),
        };
        // The server may have been waited for, and the run may be another node's by now.
        right::begin().await;
        // Dropped, or without a result: the server may be stuck or gone.
        let doubt = CheckServerOnDrop(Some(&self.link));
        let called = peer.call_tool_once(params).await.map_err(failure);
        match called.and_then(|response| answer(response, &account)) {
            Ok(answer) => {
                doubt.settle();
                answer
            }
            Err(Failure::Certain(reason)) => Answer::Failed(reason),
            Err(Failure::Doubtful(reason)) => in_doubt(self.info.effect, reason),
        }
    }

    fn params(&self, invocation: Invocation) -> Result<CallToolRequestParams, String> {
        let Value::Object(arguments) = invocation.args else {
            return Err("the arguments of this tool are a JSON object".to_owned());
        };
        let mut params = CallToolRequestParams::new(self.remote.clone()).with_arguments(arguments);
        let key = (self.info.effect != EffectClass::Read).then_some((KEY, invocation.key));
        let trace = trace::traceparent().map(|trace| (trace::HEADER, trace));
        for (name, value) in key.into_iter().chain(trace) {
            let meta = params.meta.get_or_insert_with(RequestMetaObject::default);
            meta.0.insert(name.to_owned(), Value::String(value));
        }
        Ok(params)
    }
}

/// Asks the owner to check the server if it is dropped before the call is settled.
struct CheckServerOnDrop<'a>(Option<&'a ServerLink>);

impl CheckServerOnDrop<'_> {
    fn settle(mut self) {
        self.0 = None;
    }
}

impl Drop for CheckServerOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(link) = self.0 {
            link.look_after();
        }
    }
}

impl Tool for McpTool {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(self.ask(invocation))
    }

    fn trouble(&self) -> Option<String> {
        self.defect.clone().or_else(|| self.link.trouble())
    }
}
