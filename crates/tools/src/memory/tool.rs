//! The tools with which a run remembers and recalls.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::own_tool::OwnTool;
use consort_log::clock::Clock;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::memory::{Entry, Memory};
use crate::{Answer, Invocation, Tool};

/// The maximum number of entries put into a prompt, of each name.
const RECALLED_MAX: usize = 5;
/// The maximum length of each entry in characters.
const RECALLED_CHARS: usize = 2000;

/// The tool that finds remembered texts.
pub struct Recall {
    info: Arc<ToolInfo>,
    memory: Memory,
}

/// The tool that stores texts.
pub struct Remember {
    info: Arc<ToolInfo>,
    memory: Memory,
    clock: Clock,
}

/// Returns both tools, over one memory.
pub fn memory_tools(memory: &Memory, clock: Clock) -> (Recall, Remember) {
    let recall = OwnTool::MemoryRecall.info();
    let remember = Remember { info: OwnTool::MemoryStore.info(), memory: memory.clone(), clock };
    (Recall { info: recall, memory: memory.clone() }, remember)
}

fn text<'a>(args: &'a Value, name: &str) -> &'a str {
    args.get(name).and_then(Value::as_str).unwrap_or_default()
}

impl Tool for Recall {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let scope = text(&invocation.args, "scope");
            let query = text(&invocation.args, "query");
            match self.memory.recall(scope, query, RECALLED_MAX).await {
                Ok(entries) => {
                    Answer::Done { text: entries.iter().map(line).collect::<Vec<_>>().join("\n"), data: None }
                }
                Err(error) => Answer::Failed(error.to_string()),
            }
        })
    }
}

fn line(entry: &Entry) -> String {
    let text: String = entry.text.chars().take(RECALLED_CHARS).collect();
    format!("- {text}")
}

impl Tool for Remember {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let entry =
                Entry { key: invocation.key, at: self.clock.now(), text: text(&invocation.args, "text").to_owned() };
            match self.memory.store(text(&invocation.args, "scope"), &entry).await {
                Ok(()) => Answer::Done { text: "remembered".to_owned(), data: None },
                Err(error) => Answer::Failed(error.to_string()),
            }
        })
    }
}
