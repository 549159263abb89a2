//! The memory of runs for later runs: a stream for each name, an entry for each
//! text, the best matches by words first. Forgetting an entry appends a record, so
//! that no other entry can be lost by it; the text itself is erased with its name.

pub(crate) mod tool;

use std::collections::HashSet;
use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_log::damage::{fault, row_fault};
use consort_log::{Append, Error, Log, Query, Record, Row, Seq};
use serde::{Deserialize, Serialize};

use crate::similarity::scores;

/// The kind of a memory's stream, and the prefix of its name.
pub const KIND: &str = "memory";
/// The status of a name that has entries.
const OPEN: &str = "OPEN";
/// The status of a name whose entries were all forgotten.
const EMPTY: &str = "EMPTY";
/// The maximum number of entries searched, newest first; older ones are not found any more.
const ENTRIES_MAX: usize = 1000;
/// The maximum number of attempts to append an entry when others append at the same time.
const TRIES_MAX: usize = 16;

/// One remembered text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The key of the entry: an entry with the same key is stored once.
    pub key: String,
    /// The time of the entry.
    pub at: Millis,
    /// The text of the entry.
    pub text: String,
}

/// A record of a stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum MemoryEvent {
    Remembered(Entry),
    /// The entry with this key was forgotten.
    Forgotten {
        forgotten: String,
        at: Millis,
    },
}

impl MemoryEvent {
    fn key(&self) -> &str {
        match self {
            MemoryEvent::Remembered(entry) => &entry.key,
            MemoryEvent::Forgotten { forgotten, .. } => forgotten,
        }
    }

    fn at(&self) -> Millis {
        match self {
            MemoryEvent::Remembered(Entry { at, .. }) | MemoryEvent::Forgotten { at, .. } => *at,
        }
    }
}

/// The size of a memory, as stored in its row.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Size {
    records: Seq,
    entries: Seq,
}

impl Size {
    fn with(self, event: &MemoryEvent) -> Size {
        let entries = match event {
            MemoryEvent::Remembered(_) => self.entries + 1,
            MemoryEvent::Forgotten { .. } => self.entries.saturating_sub(1),
        };
        Size { records: self.records + 1, entries }
    }
}

/// A name that has entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The name.
    pub name: String,
    /// The number of entries; 0 where that cannot be read.
    pub entries: Seq,
    /// The reason why it cannot be read, if so.
    pub damage: Option<String>,
}

/// All memories of one log.
#[derive(Clone)]
pub struct Memory {
    log: Arc<dyn Log>,
}

impl Memory {
    /// Returns the memory of a log.
    pub fn new(log: Arc<dyn Log>) -> Memory {
        Memory { log }
    }

    /// Stores a text under a name, unless its key was stored before,
    /// forgotten or not: a run that continues after a crash stores it again.
    pub async fn store(&self, scope: &str, entry: &Entry) -> Result<(), Error> {
        let is_new = |events: &[MemoryEvent]| events.iter().all(|known| known.key() != entry.key);
        self.add(scope, &MemoryEvent::Remembered(entry.clone()), is_new).await.map(drop)
    }

    /// Forgets one entry; returns whether there was one.
    pub async fn forget_one(&self, scope: &str, key: &str, at: Millis) -> Result<bool, Error> {
        let is_there = |events: &[MemoryEvent]| left(events).any(|entry| entry.key == key);
        self.add(scope, &MemoryEvent::Forgotten { forgotten: key.to_owned(), at }, is_there).await
    }

    /// Appends a record if `is_due` says so; returns whether it was appended.
    async fn add(
        &self,
        scope: &str,
        event: &MemoryEvent,
        is_due: impl Fn(&[MemoryEvent]) -> bool,
    ) -> Result<bool, Error> {
        for _attempt in 0..TRIES_MAX {
            let size = self.size(scope).await?.unwrap_or_default();
            if !is_due(&self.events(scope, size).await?) {
                return Ok(false);
            }
            match self.log.append(append(scope, size, event)?).await {
                Err(Error::Fenced) => {}
                stored => return stored.map(|()| true),
            }
        }
        Err(Error::Unavailable(format!("too many write to the memory '{scope}' at once")))
    }

    /// Returns at most `max` entries: those with words of the query, the best first, then the newest.
    pub async fn recall(&self, scope: &str, query: &str, max: usize) -> Result<Vec<Entry>, Error> {
        Ok(best(self.entries(scope).await?, query, max))
    }

    /// Returns the newest entries of a name, oldest first.
    pub async fn entries(&self, scope: &str) -> Result<Vec<Entry>, Error> {
        let events = self.events(scope, self.size(scope).await?.unwrap_or_default()).await?;
        Ok(left(&events).cloned().collect())
    }

    async fn events(&self, scope: &str, size: Size) -> Result<Vec<MemoryEvent>, Error> {
        let stream = stream(scope);
        let from = size.records.saturating_sub(ENTRIES_MAX as Seq);
        let records = self.log.read(&stream, from, ENTRIES_MAX).await?;
        let event = |(seq, record): (Seq, &Record)| {
            serde_json::from_str(&record.body).map_err(|error| Error::Damaged {
                stream: stream.clone(),
                seq,
                reason: fault(&record.body, &error),
            })
        };
        (from..).zip(&records).map(event).collect()
    }

    /// Returns one page of the names, the newest first, and their total number.
    pub async fn scopes(&self, offset: usize, limit: usize) -> Result<(Vec<Scope>, usize), Error> {
        let kind = Some(KIND.to_owned());
        let status = Some(OPEN.to_owned());
        let page = self.log.list(Query { kind, status, offset, limit, ..Query::default() }).await?;
        let mut scopes = Vec::with_capacity(page.rows.len());
        for (stream, row) in page.rows {
            let name = stream.strip_prefix(KIND).and_then(|rest| rest.strip_prefix('/')).unwrap_or(&stream);
            // The list of names is short and a name has few entries, so they are read.
            let damage = match size(&stream, &row) {
                Ok(_) => damage(self.entries(name).await)?,
                Err(error) => Some(error.to_string()),
            };
            let entries = size(&stream, &row).map_or(0, |size| size.entries);
            scopes.push(Scope { name: name.to_owned(), entries, damage });
        }
        Ok((scopes, page.total))
    }

    /// Erases everything under a name; returns whether there was anything.
    pub async fn forget(&self, scope: &str) -> Result<bool, Error> {
        let query = Query { stream: Some(stream(scope)), limit: 0, ..Query::default() };
        let is_there = self.log.list(query).await?.total > 0;
        self.log.erase(vec![stream(scope).into()]).await.map(|()| is_there)
    }

    async fn size(&self, scope: &str) -> Result<Option<Size>, Error> {
        let query = Query { stream: Some(stream(scope)), limit: 1, ..Query::default() };
        let page = self.log.list(query).await?;
        page.rows.first().map(|(stream, row)| size(stream, row)).transpose()
    }
}

/// Returns the reason why something cannot be read, if so.
fn damage<T>(read: Result<T, Error>) -> Result<Option<String>, Error> {
    match read {
        Ok(_) => Ok(None),
        Err(error @ Error::Damaged { .. }) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Returns the entries that were not forgotten.
fn left(events: &[MemoryEvent]) -> impl Iterator<Item = &Entry> {
    let forgotten: HashSet<&str> =
        events.iter().filter(|event| matches!(event, MemoryEvent::Forgotten { .. })).map(MemoryEvent::key).collect();
    events.iter().filter_map(move |event| match event {
        MemoryEvent::Remembered(entry) if !forgotten.contains(&*entry.key) => Some(entry),
        MemoryEvent::Remembered(_) | MemoryEvent::Forgotten { .. } => None,
    })
}

fn size(stream: &str, row: &Row) -> Result<Size, Error> {
    serde_json::from_str(&row.body).map_err(|error| Error::Damaged {
        stream: stream.to_owned(),
        seq: 0,
        reason: row_fault(&row.body, &error),
    })
}

fn stream(scope: &str) -> String {
    format!("{KIND}/{scope}")
}

fn append(scope: &str, before: Size, event: &MemoryEvent) -> Result<Append, Error> {
    let after = before.with(event);
    let unwritable = |error: serde_json::Error| Error::Unavailable(error.to_string());
    let row = Row {
        kind: KIND.into(),
        status: if after.entries > 0 { OPEN } else { EMPTY }.into(),
        started_at: event.at(),
        owner: Owner::local(),
        ended_at: None,
        tags: [("scope".to_owned(), scope.to_owned())].into(),
        body: serde_json::to_string(&after).map_err(unwritable)?.into(),
        words: None,
    };
    let body = serde_json::to_string(event).map_err(unwritable)?;
    let records = vec![Record { body: body.into(), attachments: Vec::new() }];
    Ok(Append::new(stream(scope), before.records, records, row))
}

/// Returns the matching entries, the best first; of two equal ones the newer wins.
fn best(entries: Vec<Entry>, query: &str, max: usize) -> Vec<Entry> {
    let texts: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
    let mut scored: Vec<(f64, Entry)> = scores(&texts, query).into_iter().zip(entries).collect();
    scored.sort_by(|(a, left), (b, right)| b.total_cmp(a).then(right.at.cmp(&left.at)));
    scored.into_iter().take(max).map(|(_, entry)| entry).collect()
}

#[cfg(test)]
mod tests {
    use consort_log::MemoryLog;

    use super::*;

    fn entry(key: &str, at: Millis, text: &str) -> Entry {
        Entry { key: key.to_owned(), at, text: text.to_owned() }
    }

    #[tokio::test]
    async fn the_best_few_are_found_by_their_words_and_names_are_apart() {
        let memory = Memory::new(Arc::new(MemoryLog::default()));
        let told = ["bees dance to tell where food is", "the weather was fine", "bees make honey", "it rained"];
        for (at, text) in (1..).zip(told) {
            memory.store("facts", &entry(&at.to_string(), at, text)).await.unwrap();
        }
        memory.store("other", &entry("1", 1, "bees elsewhere")).await.unwrap();
        let texts = |found: Vec<Entry>| found.into_iter().map(|entry| entry.text).collect::<Vec<_>>();
        let found = memory.recall("facts", "How do bees DANCE?", 5).await.unwrap();
        assert_eq!(
            texts(found),
            ["bees dance to tell where food is", "bees make honey", "it rained", "the weather was fine"]
        );
        assert_eq!(memory.recall("facts", "bees", 1).await.unwrap().len(), 1);
        // Entries are returned even when no word of the query matches.
        assert_eq!(texts(memory.recall("facts", "volcano", 2).await.unwrap()), ["it rained", "bees make honey"]);
        assert!(memory.forget_one("facts", "1", 2).await.unwrap());
        assert!(!memory.forget_one("facts", "1", 3).await.unwrap(), "it is gone");
        memory.store("facts", &entry("1", 4, "bees dance again")).await.unwrap();
        assert_eq!(
            texts(memory.entries("facts").await.unwrap()),
            ["the weather was fine", "bees make honey", "it rained"]
        );
        let events = Scope { name: "facts".to_owned(), entries: 3, damage: None };
        assert!(memory.scopes(0, 9).await.unwrap().0.contains(&events));
        memory.forget("facts").await.unwrap();
        assert!(memory.entries("facts").await.unwrap().is_empty());
        assert_eq!(memory.entries("other").await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn the_same_key_is_remembered_once_and_writers_do_not_lose_each_other() {
        let memory = Memory::new(Arc::new(MemoryLog::default()));
        let keys: Vec<String> = (0..20).map(|n| format!("k{}", n % 10)).collect();
        let stores = keys.iter().map(|key| {
            let memory = memory.clone();
            async move { memory.store("s", &entry(key, 1, key)).await }
        });
        futures::future::try_join_all(stores).await.unwrap();
        assert_eq!(memory.entries("s").await.unwrap().len(), 10);
    }
}
