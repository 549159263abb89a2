//! `search_collections {query, collections?}`: returns passages of the documents in collections.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::own_tool::OwnTool;
use consort_log::clock::Clock;
use futures::future::BoxFuture;
use serde::Deserialize;

use crate::arguments::arguments;
use crate::collections::{Collections, Hit};
use crate::{Answer, Invocation, Tool};

/// The maximum number of passages in one answer.
const HITS_MAX: usize = 8;

/// The tool that searches collections.
pub struct SearchCollections {
    info: Arc<ToolInfo>,
    collections: Collections,
    clock: Clock,
}

#[derive(Deserialize)]
struct Arguments {
    query: String,
    #[serde(default)]
    collections: Vec<String>,
}

impl SearchCollections {
    /// Returns a tool over these collections.
    pub fn new(collections: Collections, clock: Clock) -> SearchCollections {
        SearchCollections { info: OwnTool::SearchCollections.info(), collections, clock }
    }
}

impl Tool for SearchCollections {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let Arguments { query, collections } = match arguments(invocation.args) {
                Ok(arguments) => arguments,
                Err(reason) => return Answer::Failed(reason),
            };
            match self.collections.search(&query, &collections, HITS_MAX, self.clock.now()).await {
                Ok(hits) if hits.is_empty() => Answer::Done { text: "nothing found".to_owned(), data: None },
                Ok(hits) => Answer::Done { text: hits.iter().map(words).collect::<Vec<_>>().join("\n\n"), data: None },
                Err(error) => Answer::Failed(error.to_string()),
            }
        })
    }
}

fn words(hit: &Hit) -> String {
    let Hit { collection, document, title, place, snippet, .. } = hit;
    format!("[{collection}, document {document}: {title}, {}]\n{snippet}", place.words())
}
