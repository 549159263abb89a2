//! Collections of documents to be searched by their words and, where a model is configured for it, by
//! their meaning. A collection is a stream that names its documents; each has a stream of its own with
//! its text and vectors. The search index is derived from those and catches up with the log before every
//! search, piece by piece and off the async threads.

mod catch_up;
mod documents;
mod index;
mod passages;
mod stored;
pub(crate) mod tool;
mod vectors;

use std::sync::Arc;

use consort_core::id::Millis;
use consort_log::damage::{Damage, row_fault};
use consort_log::{self as log, Log, Query, Row, Seq};
use consort_models::Embedder;
use tokio::sync::Mutex;

pub use documents::{DocumentInfo, NewDocument, TITLE_MAX};
pub use index::Hit;
use index::Index;
pub use passages::PassagePlace;
pub use stored::DOCUMENT;
use stored::{CollectionEvent, Summary, append, stream};

/// The kind of a collection's stream, and the prefix of its name.
pub const KIND: &str = "collection";
/// The maximum length of a name in characters.
const NAME_MAX: usize = 64;
/// The maximum number of documents of one collection, so that catching up takes only seconds.
const DOCUMENTS_MAX: u64 = 10_000;
/// The maximum number of collections, all of which are listed and searched.
const COLLECTIONS_MAX: usize = 1_000;
/// The maximum number of attempts to append to a collection when others append at the same time.
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
    /// There is no such document: use one of those that are listed.
    #[error("there is no document {document} in the collection '{collection}'")]
    NoDocument {
        /// The collection.
        collection: String,
        /// The requested number.
        document: u64,
    },
    /// The file is of a type that cannot be read: send another.
    #[error("{0}")]
    Unsupported(String),
    /// Too many files are being read: try again later.
    #[error("other files are being read: try again")]
    Busy,
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

/// A collection, and the number of its records.
struct Found {
    collection: Collection,
    length: Seq,
    /// The highest number that was given to a document.
    numbered: u64,
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
        let summary = Summary { length: 1, documents: 0, updated_at: now, numbered: None };
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
        // Its own stream last: what dies in between has a collection with fewer documents.
        let documents = self.document_streams(name).await?.into_iter().map(|(stream, _)| stream);
        let streams: Vec<Arc<str>> = documents.chain([stream(name).into()]).collect();
        self.log.erase(streams.clone()).await?;
        self.damage.forget(&streams);
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

    /// Appends an event that changes no document.
    async fn append(&self, name: &str, event: &CollectionEvent, now: Millis) -> Result<(), Error> {
        for _attempt in 0..TRIES_MAX {
            let Found { collection, length, numbered } = self.find(name).await?;
            let documents = collection.documents;
            let numbered = Some(numbered);
            let summary = Summary { length: length + 1, documents, updated_at: now, numbered };
            match self.log.append(append(name, (collection.created_at, summary), event)?).await {
                Err(log::Error::Fenced) => {}
                stored => return Ok(stored?),
            }
        }
        Err(log::Error::Unavailable(format!("too many write to the collection '{name}' at once")).into())
    }

    /// Returns the passages that best match a query, at most `max`,
    /// from these collections, or from all when none is named.
    pub async fn search(&self, query: &str, names: &[String], max: usize, now: Millis) -> Result<Vec<Hit>, Error> {
        let readable = self.readable(names, now).await?;
        let names: Vec<&str> = readable.iter().map(String::as_str).collect();
        let vector = self.meaning(query, &names, now).await?;
        let query = query.to_owned();
        let search = move |index: &mut Index| {
            let names: Vec<&str> = readable.iter().map(String::as_str).collect();
            index.search((&query, vector.as_ref()), &names, max)
        };
        Ok(self.with_index(search).await?)
    }

    /// Returns the passages of all collections that have words of a query, at most `max`,
    /// each with the time at which its document was put in.
    pub async fn search_words(&self, query: &str, max: usize, now: Millis) -> Result<Vec<(Hit, Millis)>, Error> {
        let readable = self.readable(&[], now).await?;
        let query = query.to_owned();
        let search = move |index: &mut Index| {
            let names: Vec<&str> = readable.iter().map(String::as_str).collect();
            let hits = index.search_beginnings(&query, &names, max)?;
            let at = |hit: &Hit| index.document(&hit.collection, hit.document).map(|meta| meta.created_at);
            Ok(hits.into_iter().map(|hit| (at(&hit).unwrap_or_default(), hit)).map(|(at, hit)| (hit, at)).collect())
        };
        Ok(self.with_index(search).await?)
    }

    /// Brings the index up to these collections, or to all when none is named; returns
    /// their names. Of all, those that cannot be read are left out.
    async fn readable(&self, names: &[String], now: Millis) -> Result<Vec<String>, Error> {
        let known = self.all().await?;
        if let Some(name) = names.iter().find(|name| !known.iter().any(|found| found.collection.name == **name)) {
            return Err(unknown(name, known));
        }
        let wanted = known.iter().filter(|known| names.is_empty() || names.contains(&known.collection.name));
        let mut readable: Vec<String> = Vec::new();
        for found in wanted {
            let caught_up = match found.check() {
                Ok(()) => self.catch_up(found, now).await,
                Err(error) => Err(error.into()),
            };
            match caught_up {
                Err(Error::Log(error @ log::Error::Damaged { .. })) if names.is_empty() => {
                    tracing::warn!(%error, "a collection that cannot be read is not searched");
                }
                caught_up => caught_up.map(|()| readable.push(found.collection.name.clone()))?,
            }
        }
        Ok(readable)
    }

    /// Checks that collections of these names exist and that nothing is known to be wrong with them.
    pub async fn check(&self, names: &[String]) -> Result<(), Error> {
        for name in names {
            self.find(name).await?;
        }
        Ok(())
    }

    /// Returns the collection of this name; an error if it does not exist or cannot be read.
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
            Ok(Summary { length, documents, updated_at, numbered }) => {
                let unread = Collection::unread(name, row.started_at, known);
                let collection = Collection { documents, updated_at, ..unread };
                Found { collection, length, numbered: numbered.unwrap_or(documents) }
            }
            Err(error) => {
                let reason = Some(row_fault(&row.body, &error));
                Found { collection: Collection::unread(name, row.started_at, reason), length: 0, numbered: 0 }
            }
        })
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
            let event = CollectionEvent::Added { title: number.to_string(), text: text.clone() };
            written.append("notes", &event, 2).await.unwrap();
        }
        let fresh = Collections::new(log);
        let mut search = Box::pin(fresh.search("found", &[], 5, 6));
        let mut waited = 0;
        // This test has one thread: each time it comes back here, the work is done by another one.
        while futures::poll!(&mut search).is_pending() {
            waited += 1;
            tokio::task::yield_now().await;
        }
        assert!(waited > 40 / catch_up::PAGE, "{waited}");
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

    #[tokio::test]
    async fn a_document_is_replaced_and_removed_and_its_text_is_erased() {
        let log = Arc::new(MemoryLog::default());
        let collections = Collections::new(log.clone());
        collections.create("kitchen", 1).await.unwrap();
        collections.add("kitchen", "Soup", "Boil water.", 2).await.unwrap();
        collections.add("kitchen", "Bread", "Knead dough.", 3).await.unwrap();
        let better = NewDocument::written("Broth", "Simmer bones.").await.unwrap();
        assert_eq!(collections.replace("kitchen", 1, &better, 4).await, added(1));
        assert_eq!(collections.search("water", &[], 5, 5).await.unwrap(), []);
        assert_eq!(titles(&collections.search("bones", &[], 5, 5).await.unwrap()), ["Broth"]);
        collections.remove_document("kitchen", 2, 6).await.unwrap();
        assert_eq!(collections.search("dough", &[], 5, 7).await.unwrap(), []);
        assert_eq!(collections.add("kitchen", "Tea", "Steep leaves.", 8).await, added(3), "numbers are not used again");

        for collections in [collections, Collections::new(log.clone())] {
            let documents = collections.documents("kitchen", 9).await.unwrap();
            let listed: Vec<_> = documents.iter().map(|one| (one.number, one.title.as_str(), one.created_at)).collect();
            assert_eq!(listed, [(1, "Broth", 2), (3, "Tea", 8)]);
            assert_eq!(collections.get("kitchen").await.unwrap().documents, 2);
            assert_eq!(collections.document("kitchen", 1, 9).await.unwrap().1.text(), "Simmer bones.");
            let gone = Error::NoDocument { collection: "kitchen".to_owned(), document: 2 };
            assert_eq!(collections.document("kitchen", 2, 9).await, Err(gone.clone()));
            assert_eq!(collections.remove_document("kitchen", 2, 9).await, Err(gone.clone()));
            assert_eq!(collections.replace("kitchen", 2, &better, 9).await, Err(gone));
        }
        let texts = Query { kind: Some(DOCUMENT.to_owned()), limit: 9, ..Query::default() };
        assert_eq!(log.list(texts.clone()).await.unwrap().total, 2, "one for each document there is");
        Collections::new(log.clone()).delete("kitchen").await.unwrap();
        assert_eq!(log.list(texts).await.unwrap().total, 0);
    }

    #[tokio::test]
    async fn what_a_process_left_behind_that_died_is_erased_by_the_next() {
        let log = Arc::new(MemoryLog::default());
        let first = Collections::new(log.clone());
        first.create("kitchen", 1).await.unwrap();
        first.add("kitchen", "Soup", "Boil water.", 2).await.unwrap();
        let texts = Query { kind: Some(DOCUMENT.to_owned()), limit: 9, ..Query::default() };
        let soup = log.list(texts.clone()).await.unwrap().rows[0].0.clone();
        // It died after it had stored a text, and before it had erased one.
        let text = stored::DocumentEvent::of(crate::extract::Extracted::plain("lost".to_owned()));
        log.append(stored::append_document(("kitchen", "document/kitchen/lost"), 0, &text, 3).unwrap()).await.unwrap();
        first.append("kitchen", &CollectionEvent::Removed { document: 1 }, 4).await.unwrap();
        assert_eq!(log.list(texts.clone()).await.unwrap().total, 2);
        let later = 3_600_010;
        assert_eq!(Collections::new(log.clone()).documents("kitchen", 10).await.unwrap(), []);
        assert!(log.read(&soup, 0, 1).await.unwrap().is_empty(), "what was removed is gone at once");
        assert_eq!(log.list(texts.clone()).await.unwrap().total, 1, "the other may just be on its way");
        assert_eq!(Collections::new(log.clone()).documents("kitchen", later).await.unwrap(), []);
        assert_eq!(log.list(texts).await.unwrap().total, 0);
    }

    #[tokio::test]
    async fn documents_of_the_first_edition_are_read_replaced_and_removed() {
        let log = Arc::new(MemoryLog::default());
        let collections = Collections::new(log.clone());
        collections.create("kitchen", 1).await.unwrap();
        for (length, title) in [(2, "Soup"), (3, "Bread")] {
            let summary = Summary { length, documents: length - 1, updated_at: 1, numbered: None };
            let event = CollectionEvent::Added { title: title.to_owned(), text: format!("{title} and salt") };
            log.append(append("kitchen", (1, summary), &event).unwrap()).await.unwrap();
        }
        assert_eq!(collections.document("kitchen", 2, 2).await.unwrap().1.text(), "Bread and salt");
        collections.remove_document("kitchen", 1, 3).await.unwrap();
        assert_eq!(titles(&collections.search("salt", &[], 5, 4).await.unwrap()), ["Bread"]);
        assert_eq!(collections.add("kitchen", "Tea", "Leaves and salt", 5).await, added(3));
        let better = NewDocument::written("Rolls", "Rolls and salt").await.unwrap();
        collections.replace("kitchen", 2, &better, 6).await.unwrap();
        let found = Collections::new(log).search("salt", &[], 5, 7).await.unwrap();
        let mut numbers: Vec<u64> = found.iter().map(|hit| hit.document).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [2, 3]);
    }

    #[tokio::test]
    async fn a_file_has_the_title_of_its_first_line_and_its_passages_their_pages() {
        let collections = Collections::new(Arc::new(MemoryLog::default()));
        collections.create("kitchen", 1).await.unwrap();
        let csv = crate::extract::MediaType::parse("text/csv");
        let file = NewDocument::file(None, &csv, b"\n# dish,salt\nsoup,much".to_vec().into()).await.unwrap();
        assert_eq!(file.title(), "dish,salt");
        let long = "x".repeat(TITLE_MAX + 1);
        assert!(matches!(NewDocument::file(Some(&long), &csv, b"a".to_vec().into()).await, Err(Error::Invalid(_))));
        assert!(matches!(NewDocument::file(None, &csv, Vec::new().into()).await, Err(Error::Invalid(_))));
        let pdf = crate::extract::pdf_of(&["Boil water.", "Add saffron."]);
        let kind = crate::extract::MediaType::parse(crate::extract::PDF);
        let document = NewDocument::file(Some("Menu"), &kind, pdf.into()).await.unwrap();
        collections.put("kitchen", &document, 2).await.unwrap();
        assert_eq!(collections.search("saffron", &[], 5, 3).await.unwrap()[0].place, PassagePlace::Page(2));
    }
}
