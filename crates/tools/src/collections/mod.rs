//! Collections of documents to be searched by their words and, where a model is configured for it, by
//! their meaning. A collection is a stream; a document is a record of it, and so are its vectors. The
//! search index is derived from those and catches up with the log before every search, piece by piece
//! and off the async threads.

mod index;
mod meaning;
mod passages;
pub(crate) mod tool;

use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_log::damage::Damage;
use consort_log::{self as log, Append, Log, Query, Record, Row, Seq};
use consort_models::Embedder;
use serde::{Deserialize, Serialize};

pub use index::Hit;
use index::{Entry, Index};
use tokio::sync::Mutex;

/// The kind of a collection's stream, and the prefix of its name.
pub const KIND: &str = "collection";
/// The maximum length of a name in characters.
const NAME_MAX: usize = 64;
/// The maximum size of one document in bytes.
const DOCUMENT_MAX: usize = 4 * 1024 * 1024;
/// The maximum number of documents of one collection, so that catching up takes only seconds.
const DOCUMENTS_MAX: u64 = 10_000;
/// The maximum number of collections, all of which are listed and searched.
const COLLECTIONS_MAX: usize = 1_000;
/// Records read and indexed at once: with documents of the largest size, 32 MiB.
const PAGE: usize = 8;
/// The maximum number of attempts to append a document when others append at the same time.
const TRIES_MAX: usize = 16;

/// The reason why an operation on a collection failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The name or the document is invalid: use another one.
    #[error("{0}")]
    Invalid(String),
    /// The collection exists: use it, or another name.
    #[error("there is a collection '{0}' already")]
    Exists(String),
    /// There are as many as there may be: delete one.
    #[error("there are {COLLECTIONS_MAX} collections already, which is the limit: delete one first")]
    TooMany,
    /// There is no such collection: use one of those that exist.
    #[error("there is no collection '{name}'. Available: [{}]", known.join(", "))]
    Unknown {
        /// The requested name.
        name: String,
        /// The names of the existing collections.
        known: Vec<String>,
    },
    /// The log failed: try again later.
    #[error(transparent)]
    Log(#[from] log::Error),
}

/// The list entry of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    /// The name of the collection.
    pub name: String,
    /// The number of documents.
    pub documents: u64,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last addition.
    pub updated_at: Millis,
    /// The reason why it cannot be read, if that is known.
    pub damage: Option<String>,
}

/// An event of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CollectionEvent {
    Created,
    Added {
        title: String,
        text: String,
    },
    /// Vectors of a document's passages, from this one on, computed by one model.
    Embedded {
        document: u64,
        from: usize,
        model: String,
        vectors: Vec<String>,
    },
}

/// The collection's own fields of its row in the log's list.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Summary {
    length: Seq,
    documents: u64,
    updated_at: Millis,
}

/// A collection, and the number of its records.
struct Found {
    collection: Collection,
    length: Seq,
}

/// The result of adding a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// The number of the document in its collection, from 1.
    pub document: u64,
    /// Whether the document can be found by its meaning too;
    /// if not, it will be once the embedding model answers.
    pub embedded: bool,
}

/// All collections of one log. Clones share the search index.
#[derive(Clone)]
pub struct Collections {
    log: Arc<dyn Log>,
    /// One caller at a time, and the others wait without holding a thread.
    index: Arc<Mutex<Index>>,
    embedder: Option<Embedder>,
    /// Held while vectors are requested: two concurrent requests would pay for the same ones.
    embedding: Arc<Mutex<()>>,
    /// The collections that cannot be read.
    damage: Damage,
}

impl Collections {
    /// Returns the collections of a log, searched by their words.
    pub fn new(log: Arc<dyn Log>) -> Collections {
        let damage = Damage::default();
        Collections { log, index: Arc::default(), embedder: None, embedding: Arc::default(), damage }
    }

    /// Returns the collections, searched by their meaning too.
    pub fn with_embedder(self, embedder: Option<Embedder>) -> Collections {
        Collections { embedder, ..self }
    }

    /// Creates a collection without documents.
    pub async fn create(&self, name: &str, now: Millis) -> Result<Collection, Error> {
        check_name(name)?;
        let all = Query { kind: Some(KIND.to_owned()), limit: 0, ..Query::default() };
        if self.log.list(all).await?.total >= COLLECTIONS_MAX {
            return Err(Error::TooMany);
        }
        let summary = Summary { length: 1, documents: 0, updated_at: now };
        match self.log.append(append(name, (now, summary), &CollectionEvent::Created)?).await {
            Ok(()) => Ok(Collection { documents: 0, updated_at: now, ..Collection::unread(name, now, None) }),
            Err(log::Error::Fenced) => Err(Error::Exists(name.to_owned())),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns all collections, by name.
    pub async fn list(&self) -> Result<Vec<Collection>, Error> {
        Ok(self.all().await?.into_iter().map(|found| found.collection).collect())
    }

    /// Returns one collection, also when it cannot be read.
    pub async fn get(&self, name: &str) -> Result<Collection, Error> {
        let mut known = self.all().await?;
        let place = known.iter().position(|found| found.collection.name == name);
        place.map(|place| known.swap_remove(place).collection).ok_or_else(|| unknown(name, known))
    }

    /// Erases a collection with all of its documents, also when it cannot be read.
    pub async fn delete(&self, name: &str) -> Result<(), Error> {
        self.get(name).await?;
        let stream: Arc<str> = stream(name).into();
        self.log.erase(vec![stream.clone()]).await?;
        self.damage.forget([&stream]);
        let collection = name.to_owned();
        Ok(self.with_index(move |index| index.remove(&collection)).await?)
    }

    async fn all(&self) -> Result<Vec<Found>, Error> {
        let query = Query { kind: Some(KIND.to_owned()), limit: COLLECTIONS_MAX, ..Query::default() };
        let rows = self.log.list(query).await?.rows;
        let mut found: Vec<Found> = rows.iter().filter_map(|(stream, row)| self.found(stream, row)).collect();
        found.sort_by(|one, other| one.collection.name.cmp(&other.collection.name));
        Ok(found)
    }

    /// Adds a document: plain text, Markdown or HTML, which is stored as Markdown.
    pub async fn add(&self, name: &str, title: &str, content: &str, now: Millis) -> Result<Added, Error> {
        if content.trim().is_empty() || content.len() > DOCUMENT_MAX {
            return Err(Error::Invalid(format!("a document has between 1 and {DOCUMENT_MAX} bytes")));
        }
        let text = passages::plain(content).await.map_err(Error::Invalid)?;
        let fact = CollectionEvent::Added { title: title.trim().to_owned(), text };
        let document = self.append(name, &fact, now).await?;
        Ok(Added { document, embedded: self.embed_all(name, now).await? })
    }

    /// Appends an event; returns the new number of documents.
    async fn append(&self, name: &str, fact: &CollectionEvent, now: Millis) -> Result<u64, Error> {
        for _attempt in 0..TRIES_MAX {
            let Found { collection, length } = self.find(name).await?;
            let adds = u64::from(matches!(fact, CollectionEvent::Added { .. }));
            if collection.documents + adds > DOCUMENTS_MAX {
                return Err(Error::Invalid(format!("a collection has at most {DOCUMENTS_MAX} documents")));
            }
            let documents = collection.documents + adds;
            let summary = Summary { length: length + 1, documents, updated_at: now };
            match self.log.append(append(name, (collection.created_at, summary), fact)?).await {
                Err(log::Error::Fenced) => {}
                stored => return Ok(stored.map(|()| documents)?),
            }
        }
        Err(log::Error::Unavailable(format!("too many write to the collection '{name}' at once")).into())
    }

    /// Returns the passages that best match a query, at most `max`,
    /// from these collections, or from all when none is named.
    pub async fn search(&self, query: &str, names: &[String], max: usize, now: Millis) -> Result<Vec<Hit>, Error> {
        let known = self.all().await?;
        if let Some(name) = names.iter().find(|name| !known.iter().any(|found| found.collection.name == **name)) {
            return Err(unknown(name, known));
        }
        let searches_all = names.is_empty();
        let wanted = known.iter().filter(|known| names.is_empty() || names.contains(&known.collection.name));
        let mut readable: Vec<&str> = Vec::new();
        for found in wanted {
            let name = found.collection.name.as_str();
            match self.catch_up_with(found).await {
                // A search over all collections skips those that cannot be read.
                Err(Error::Log(error @ log::Error::Damaged { .. })) if searches_all => {
                    tracing::warn!(%error, "a collection that cannot be read is not searched");
                }
                caught_up => caught_up.map(|()| readable.push(name))?,
            }
        }
        let vector = self.meaning(query, &readable, now).await?;
        let (query, names): (String, Vec<String>) =
            (query.to_owned(), readable.into_iter().map(str::to_owned).collect());
        let search = move |index: &mut Index| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            index.search((&query, vector.as_ref()), &names, max)
        };
        Ok(self.with_index(search).await?)
    }

    /// Checks that collections of these names exist and that nothing is known to be wrong with them.
    pub async fn check(&self, names: &[String]) -> Result<(), Error> {
        for name in names {
            self.find(name).await?;
        }
        Ok(())
    }

    /// A collection something is to be done with.
    async fn find(&self, name: &str) -> Result<Found, Error> {
        let mut known = self.all().await?;
        let place = known.iter().position(|found| found.collection.name == name);
        let found = place.map(|place| known.swap_remove(place)).ok_or_else(|| unknown(name, known))?;
        found.check()?;
        Ok(found)
    }

    fn found(&self, stream: &str, row: &Row) -> Option<Found> {
        let name = stream.strip_prefix(KIND)?.strip_prefix('/')?;
        let known = self.damage.reason(stream);
        Some(match serde_json::from_str::<Summary>(&row.body) {
            Ok(Summary { length, documents, updated_at }) => {
                let unread = Collection::unread(name, row.started_at, known);
                Found { collection: Collection { documents, updated_at, ..unread }, length }
            }
            Err(error) => {
                let reason = Some(format!("its row cannot be read: {error}"));
                Found { collection: Collection::unread(name, row.started_at, reason), length: 0 }
            }
        })
    }

    /// Reads the records that were added to this collection since the last search.
    async fn catch_up_with(&self, found: &Found) -> Result<(), Error> {
        found.check()?;
        self.catch_up(found).await
    }

    /// Reads the records that were added since the last search, a piece at a time, so
    /// that searches in other collections come between them.
    async fn catch_up(&self, found: &Found) -> Result<(), Error> {
        let Found { collection: Collection { name, created_at, .. }, length } = found;
        let (stream, created_at) = (stream(name), *created_at);
        loop {
            let collection = name.clone();
            let from = self.with_index(move |index| index.length(&collection, created_at)).await?;
            if from >= *length {
                return Ok(());
            }
            let records = self.damage.note(self.log.read(&stream, from, PAGE).await)?;
            if records.is_empty() {
                return Ok(());
            }
            let (place, collection) = (stream.clone(), name.clone());
            let model = self.embedder.as_ref().map(|embedder| embedder.model().to_owned());
            let add = move |index: &mut Index| {
                let facts = (from..).zip(&records).map(|(seq, record)| fact(&place, seq, record));
                let facts: Vec<CollectionEvent> = facts.collect::<Result<_, log::Error>>()?;
                let entries = facts.iter().map(|fact| entry(fact, model.as_deref())).collect();
                index.add(&collection, from, entries)
            };
            self.damage.note(self.with_index(add).await)?;
        }
    }

    /// Lets a thread of its own work on the index.
    async fn with_index<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Index) -> Result<T, log::Error> + Send + 'static,
    ) -> Result<T, log::Error> {
        let mut index = self.index.clone().lock_owned().await;
        let done = tokio::task::spawn_blocking(move || work(&mut index)).await;
        done.unwrap_or_else(|stopped| Err(log::Error::Unavailable(stopped.to_string())))
    }
}

/// Returns what an event adds to the search index; vectors of other models add nothing.
fn entry<'a>(fact: &'a CollectionEvent, embedder: Option<&str>) -> Entry<'a> {
    match fact {
        CollectionEvent::Added { title, text } => Entry::Document(title, passages::cut(text)),
        CollectionEvent::Embedded { document, from, model, vectors } if embedder == Some(model) => {
            let vectors = vectors.iter().filter_map(|text| meaning::read(text)).collect();
            Entry::Vectors { document: *document, from: *from, vectors }
        }
        CollectionEvent::Created | CollectionEvent::Embedded { .. } => Entry::Nothing,
    }
}

fn unknown(name: &str, known: Vec<Found>) -> Error {
    Error::Unknown { name: name.to_owned(), known: known.into_iter().map(|found| found.collection.name).collect() }
}

fn check_name(name: &str) -> Result<(), Error> {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_plain && !name.is_empty() && name.len() <= NAME_MAX {
        return Ok(());
    }
    let message = format!("the name of a collection has 1 to {NAME_MAX} letters, digits, `_` and `-`");
    Err(Error::Invalid(message))
}

fn stream(name: &str) -> String {
    format!("{KIND}/{name}")
}

fn append(name: &str, (created_at, summary): (Millis, Summary), fact: &CollectionEvent) -> Result<Append, log::Error> {
    let json = |error: serde_json::Error| log::Error::Unavailable(error.to_string());
    let row = Row {
        kind: KIND.into(),
        status: "OPEN".into(),
        started_at: created_at,
        owner: Owner::local(),
        ended_at: None,
        tags: [("collection".to_owned(), name.to_owned())].into(),
        body: serde_json::to_string(&summary).map_err(json)?.into(),
    };
    let records = vec![Record { body: serde_json::to_string(fact).map_err(json)?.into(), attachments: Vec::new() }];
    let (stream, expected) = (stream(name).into(), summary.length - 1);
    Ok(Append { stream, expected, epoch: 0, records, row, claims: Vec::new() })
}

impl Collection {
    /// Returns the list entry of a collection of which only its name and age are known.
    fn unread(name: &str, created_at: Millis, damage: Option<String>) -> Collection {
        Collection { name: name.to_owned(), documents: 0, created_at, updated_at: created_at, damage }
    }
}

impl Found {
    /// Returns an error for a collection that cannot be read.
    fn check(&self) -> Result<(), log::Error> {
        let Collection { name, damage, .. } = &self.collection;
        damage.clone().map_or(Ok(()), |reason| Err(log::Error::Damaged { stream: stream(name), seq: 0, reason }))
    }
}

fn fact(stream: &str, seq: Seq, record: &Record) -> Result<CollectionEvent, log::Error> {
    let damaged =
        |error: serde_json::Error| log::Error::Damaged { stream: stream.to_owned(), seq, reason: error.to_string() };
    serde_json::from_str(&record.body).map_err(damaged)
}

#[cfg(test)]
mod tests {
    use consort_log::MemoryLog;

    use super::*;

    fn added(document: u64) -> Result<Added, Error> {
        Ok(Added { document, embedded: false })
    }

    fn titles(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.title.as_str()).collect()
    }

    #[tokio::test]
    async fn what_fits_best_comes_first_and_another_process_finds_the_same() {
        let log = Arc::new(MemoryLog::default());
        let collections = Collections::new(log.clone());
        collections.create("kitchen", 1).await.unwrap();
        let soup = "# Soup\n\nBoil water. Add salt and salt again.";
        assert_eq!(collections.add("kitchen", "Soup", soup, 2).await, added(1));
        let bread = "<html><head><script>salt()</script></head><body><p>Bread needs flour &amp; a little salt.</p></body></html>";
        assert_eq!(collections.add("kitchen", "Bread", bread, 3).await, added(2));
        collections.create("garage", 4).await.unwrap();
        collections.add("garage", "Car", "Keep salt off the car.", 5).await.unwrap();

        let found = collections.search("SALTED flour?", &["kitchen".to_owned()], 5, 6).await.unwrap();
        assert_eq!(titles(&found), ["Bread", "Soup"], "both words beat one, and words are known by their stem");
        assert!(found[0].score > found[1].score && !found[0].snippet.contains("salt()"), "{found:?}");
        let elsewhere = Collections::new(log).search("salt", &[], 5, 6).await.unwrap();
        assert_eq!(elsewhere.len(), 3, "the index is made anew from the log: {elsewhere:?}");
        let listed = collections.list().await.unwrap();
        let kitchen =
            Collection { name: "kitchen".to_owned(), documents: 2, created_at: 1, updated_at: 3, damage: None };
        assert_eq!((listed.len(), &listed[1]), (2, &kitchen));
    }

    #[tokio::test]
    async fn names_documents_and_queries_that_make_no_sense_are_told() {
        let collections = Collections::new(Arc::new(MemoryLog::default()));
        for name in ["", "a b", "../x", &"n".repeat(65)] {
            assert!(matches!(collections.create(name, 0).await, Err(Error::Invalid(_))), "{name}");
        }
        collections.create("notes", 0).await.unwrap();
        assert_eq!(collections.create("notes", 0).await, Err(Error::Exists("notes".to_owned())));
        assert!(matches!(collections.add("notes", "t", " \n", 0).await, Err(Error::Invalid(_))));
        let unknown = Error::Unknown { name: "nots".to_owned(), known: vec!["notes".to_owned()] };
        assert_eq!(collections.add("nots", "t", "x", 0).await, Err(unknown.clone()));
        assert_eq!(collections.search("x", &["nots".to_owned()], 5, 6).await, Err(unknown));
        collections.add("notes", "t", "plain words", 0).await.unwrap();
        for query in ["", "?!", "\" OR *", "NEAR(", "words:plain AND"] {
            let hits = collections.search(query, &[], 5, 6).await.unwrap();
            assert_eq!(hits.len(), usize::from(query.contains("words")), "{query}");
        }
    }

    #[tokio::test]
    async fn a_deleted_collection_is_not_found_and_its_name_is_free() {
        let collections = Collections::new(Arc::new(MemoryLog::default()));
        for (made, text) in [(1, "old salt"), (2, "new salt")] {
            collections.create("notes", made).await.unwrap();
            collections.add("notes", text, text, made).await.unwrap();
            assert_eq!(titles(&collections.search("salt", &[], 5, 6).await.unwrap()), [text]);
            assert_eq!(collections.get("notes").await.unwrap().documents, 1);
            collections.delete("notes").await.unwrap();
            assert!(matches!(collections.delete("notes").await, Err(Error::Unknown { .. })));
        }
        assert_eq!(collections.search("salt", &[], 5, 6).await.unwrap(), []);
    }

    #[tokio::test]
    async fn while_a_collection_is_indexed_the_thread_does_other_things() {
        let log = Arc::new(MemoryLog::default());
        let written = Collections::new(log.clone());
        written.create("notes", 1).await.unwrap();
        let text = "words to be found. ".repeat(2_000);
        for number in 0..40 {
            let fact = CollectionEvent::Added { title: number.to_string(), text: text.clone() };
            written.append("notes", &fact, 2).await.unwrap();
        }
        let fresh = Collections::new(log);
        let mut search = Box::pin(fresh.search("found", &[], 5, 6));
        let mut waited = 0;
        // This test has one thread: each time it comes back here, the work is done by another one.
        while futures::poll!(&mut search).is_pending() {
            waited += 1;
            tokio::task::yield_now().await;
        }
        assert!(waited > 40 / PAGE, "{waited}");
    }

    #[tokio::test]
    async fn two_who_add_at_once_both_succeed() {
        let collections = Collections::new(Arc::new(MemoryLog::default()));
        collections.create("notes", 0).await.unwrap();
        let add = |text: &'static str| collections.add("notes", text, text, 1);
        let (one, two) = tokio::join!(add("first"), add("second"));
        let mut numbers = [one.unwrap().document, two.unwrap().document];
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2]);
    }
}
