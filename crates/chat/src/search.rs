//! Threads found by their words: those of their titles, and those of their messages.

use std::collections::HashSet;
use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::spec::Kind;
use consort_log::Query;

use crate::{Chats, Error, thread, usage};

/// A thread that was found by its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundThread {
    /// The thread.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The words it was found by, unless they are not those that were written.
    pub text: Option<Arc<str>>,
    /// The time of what was found.
    pub at: Millis,
}

impl Chats {
    /// Returns the owner's threads that have these words, at most `limit`, each once.
    pub async fn search(&self, owner: &str, words: &str, limit: usize) -> Result<Vec<FoundThread>, Error> {
        let query = |kind: &str| Query {
            kind: Some(kind.to_owned()),
            tags: vec![(usage::OWNER.to_owned(), Some(owner.to_owned()))],
            words: Some(words.to_owned()),
            // One thread may have been found by many of its turns.
            limit: limit.saturating_mul(8),
            ..Query::default()
        };
        let turns = self.log().list(query(Kind::Turn.word())).await?.rows.into_iter();
        let said = turns.filter_map(|(_, row)| Some((row.tags.get("thread")?.clone(), row)));
        let threads = self.log().list(query(thread::KIND)).await?.rows.into_iter();
        let titled = threads.map(|(id, row)| (id.to_string(), row));
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for (id, row) in said.chain(titled) {
            if found.len() >= limit || !seen.insert(id.clone()) {
                continue;
            }
            // One that cannot be read, or is gone by now, is not found.
            let Ok(thread) = self.thread(owner, &id).await else { continue };
            found.push(FoundThread { id, title: thread.title, text: row.words, at: row.started_at });
        }
        Ok(found)
    }
}
