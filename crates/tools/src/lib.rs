//! Seam 3, tools. A remote ensemble, memory and MCP are tools too.

mod account;
mod arguments;
pub mod attachments;
pub mod buffer;
mod builtin;
pub mod busy;
mod calculator;
pub mod collections;
mod command;
mod datetime;
pub mod extract;
mod fetch;
mod files;
mod git;
mod http;
mod input;
mod json;
pub mod mcp;
pub mod memory;
pub mod openapi;
mod own_thread;
mod pipeline;
mod sandbox;
mod scripted;
mod search;
pub mod similarity;
mod toolbox;

use std::sync::Arc;

pub use account::{Account, Picture, Progress};
pub use builtin::{Builtin, Means, Needs};
pub use calculator::Calculator;
pub use collections::tool::SearchCollections;
pub use command::{CommandOptions, RUN_COMMAND, RunCommand};
pub use datetime::DateTime;
pub use fetch::HttpFetch;
use fetch::page_text;
pub use files::{EditFile, Hidden, Item, ListFiles, ReadFile, SearchFiles, Workspace, WriteFile};
pub use git::Git;
pub use http::{
    ClientCredentials, HttpEndpoint, HttpMethod, HttpTool, HttpToolError, http_client, http_tool_info, with_effect,
};
pub use input::{InputError, input_arguments};
pub use json::Json;
pub use memory::tool::{Recall, Remember, memory_tools};
pub use pipeline::{Pipeline, PipelineError, Step};
pub use sandbox::Sandbox;
pub use scripted::{Entry, ScriptedTool, What};
pub use search::{WebSearch, WebSearchOptions};
pub use toolbox::{Toolbox, Unfit};

use consort_core::catalog::{EffectClass, ToolInfo};
use consort_core::id::Id;
use futures::future::BoxFuture;
use serde_json::Value;

/// One call, with its context. Arguments have been checked against the tool's schema.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The run that makes the call.
    pub run: Arc<str>,
    /// The position of the call in the run.
    pub call: Id,
    /// Unique to this intent, and the same when an idempotent call is repeated.
    pub key: String,
    /// The arguments.
    pub args: Value,
    /// The origin, limits and reports of the call.
    pub account: Account,
}

#[cfg(test)]
impl Invocation {
    /// Returns a call with these arguments, of no particular run.
    pub(crate) fn test(args: Value) -> Invocation {
        Invocation {
            run: "run".into(),
            call: Id::from("1.0.0"),
            key: "run/1.0.0".to_owned(),
            args,
            account: Account::default(),
        }
    }
}

/// The result of a tool. There is no error type: a failure is read by the model, so it is a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The call succeeded.
    Done {
        /// The result as text for the model.
        text: String,
        /// The result as data, where there is any.
        data: Option<Value>,
    },
    /// The call certainly did not happen, or the tool reports that it failed.
    Failed(String),
    /// The call may or may not have happened (the connection broke).
    Unknown(String),
    /// The tool took longer than its own limit. It may have happened all the same, unless the tool only reads.
    Late {
        /// The message about the timeout.
        why: String,
        /// The effect class of the tool.
        effect: EffectClass,
    },
}

/// Something an agent can call.
pub trait Tool: Send + Sync + 'static {
    /// Returns the description of the tool.
    fn info(&self) -> &Arc<ToolInfo>;

    /// Does the work. The caller enforces the time limit by dropping this.
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer>;

    /// Returns the tags of the tool: `<provider>:#tag` stands for the tools with a tag.
    fn tags(&self) -> &[String] {
        &[]
    }

    /// Returns the reason why it cannot be called at the moment; a call is answered with the same.
    fn trouble(&self) -> Option<String> {
        None
    }
}

/// Tools that come and go while the program runs: those of an MCP server, those
/// of other ensembles, or any others that a program offers. A task lists one
/// by its name, all of them as `<provider>:*`, those with a tag as
/// `<provider>:#tag`; the last two are looked up whenever the task begins.
pub trait DynamicToolProvider: Send + Sync + 'static {
    /// Returns the name of the provider; letters, digits, `_` and `-`.
    fn name(&self) -> &str;

    /// Returns its current tools, including those that cannot be called at the moment.
    fn resolve(&self) -> Vec<Arc<dyn Tool>>;

    /// Returns the tool of this name, for one call; none when the provider has no such tool.
    fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.resolve().into_iter().find(|tool| tool.info().name == name)
    }

    /// Returns the reason why none of its tools can be called at the moment, if so.
    fn trouble(&self) -> Option<String> {
        None
    }
}
