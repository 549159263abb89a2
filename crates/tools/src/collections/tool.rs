//! `search_collections {query, collections?}`: passages of documents that were
//! put into collections.

use std::sync::Arc;

use consort_core::catalog::{Permission, ToolInfo};
use consort_core::compile::SEARCH;
use consort_core::schema::Schema;
use consort_log::clock::Clock;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::arguments;
use crate::collections::{Collections, Hit};
use crate::{Answer, Invocation, Tool};

/// Passages in one answer.
const HITS_MAX: usize = 8;

/// Searches collections.
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
    /// What agents call it.
    pub const NAME: &str = SEARCH;

    /// A tool over these collections.
    pub fn new(collections: Collections, clock: Clock) -> SearchCollections {
        SearchCollections { info: Arc::new(SearchCollections::told()), collections, clock }
    }

    /// What is known about it without any collections.
    pub fn told() -> ToolInfo {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "Words to look for" },
                "collections": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "Names of collections; all are searched when there are none"
                }
            },
            "required": ["query"]
        });
        ToolInfo {
            schema: Schema::new(schema),
            permission: Permission::Knowledge,
            ..ToolInfo::new(SearchCollections::NAME, "Finds passages of the documents in collections by their words")
        }
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
    format!("[{}, document {}: {}]\n{}", hit.collection, hit.document, hit.title, hit.snippet)
}
