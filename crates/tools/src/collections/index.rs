//! The search index: the passages of all documents in a full-text table of SQLite, and beside it
//! their vectors, where there are some. It is a temporary file that only this process can open, so
//! that a large collection takes disk space and not memory. It holds nothing that is not in the log.

use std::collections::{BTreeMap, HashMap, HashSet};

use consort_core::id::Millis;
use consort_log::{self as log, Seq};
use consort_models::Vector;
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::passages::{self, Passage, PassagePlace};
use crate::extract::Extracted;

/// The maximum number of words of a query that count; more would not make it clearer.
const WORDS_MAX: usize = 32;
/// The maximum number of passages that each of the two methods contributes to a combined search.
const EITHER_MAX: usize = 50;
/// The number of passages that are compared before all but the nearest are dropped.
const NEAR_MAX: usize = 16 * EITHER_MAX;
/// The smoothing constant of the rank fusion: the larger it is,
/// the less the difference between the first ranks matters.
const EVENNESS: f64 = 60.0;

/// The maximum size of the index in pages of 4 KiB, 8 GiB: more text than can be searched in a second.
const PAGES_MAX: u32 = 2 * 1024 * 1024;
/// The memory that the index may use, in KiB.
const CACHE_KIB: u32 = 16 * 1024;

const TABLES: &str = "
    CREATE TABLE vector (passage INTEGER PRIMARY KEY, collection TEXT NOT NULL, numbers BLOB NOT NULL);
    CREATE INDEX vector_by_collection ON vector (collection);
    CREATE VIRTUAL TABLE passage USING fts5 (
        title, text, collection UNINDEXED, document UNINDEXED, page UNINDEXED, line UNINDEXED, tokenize = 'porter unicode61 remove_diacritics 2'
    );";

/// A passage that matches a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The name of the collection.
    pub collection: String,
    /// The number of the document in its collection, from 1.
    pub document: u64,
    /// The document's title.
    pub title: String,
    /// The place of the passage in its document.
    pub place: PassagePlace,
    /// The text of the passage.
    pub snippet: String,
    /// The score of the match; larger is better.
    pub score: f64,
}

/// The properties of a document besides its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meta {
    pub(super) title: String,
    pub(super) media_type: String,
    pub(super) bytes: u64,
    pub(super) created_at: Millis,
    /// The reason why its text cannot be read.
    pub(super) damage: Option<String>,
    pub(super) source: Source,
}

/// The place of a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A record of the collection's own stream.
    Record(Seq),
    /// A stream of its own.
    Stream(String),
}

/// The change that one record of a collection makes.
pub(super) enum IndexChange {
    /// Nothing to search.
    Nothing,
    /// A document; without a number the next one, else in place of the one with its number.
    Document { number: Option<u64>, meta: Meta, text: Option<Extracted> },
    /// A document is gone.
    Removed(u64),
    /// Vectors of a document's passages, from this one on, and the record of its stream that holds them.
    Vectors { document: u64, place: Option<(String, Seq)>, from: usize, vectors: Vec<Vector> },
}

/// Passages of one document that have no vectors yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnembeddedPassages {
    pub(super) document: u64,
    pub(super) from: usize,
    pub(super) passages: Vec<String>,
    pub(super) source: Source,
    /// The number of records of the document's own stream.
    pub(super) records: Seq,
}

/// The tables, created when they are first used, and the state beside them. Its methods
/// block: they are called off the async threads.
#[derive(Default)]
pub(super) struct Index {
    table: Option<Connection>,
    shelves: HashMap<String, CollectionIndex>,
}

/// The index state of one collection.
#[derive(Default)]
struct CollectionIndex {
    /// The time of creation, which tells it from a deleted one of the same name.
    created_at: Millis,
    /// The number of records that were read.
    records: u64,
    /// The highest number of a document so far.
    numbered: u64,
    documents: BTreeMap<u64, Document>,
    /// The streams of documents that were removed or replaced, until those that are left are erased.
    gone: HashSet<String>,
    is_swept: bool,
}

/// A document's rows, and the number of them that have vectors.
struct Document {
    meta: Meta,
    first: i64,
    passages: usize,
    embedded: usize,
    /// The number of records of its own stream.
    records: Seq,
}

impl Index {
    /// Returns the number of records of a collection that are in the index.
    pub(super) fn length(&mut self, collection: &str, created_at: Millis) -> Result<u64, log::Error> {
        match self.shelves.get(collection) {
            Some(shelf) if shelf.created_at == created_at => return Ok(shelf.records),
            // It was deleted, and is another one now.
            Some(_) => self.remove(collection)?,
            None => {}
        }
        self.shelves.insert(collection.to_owned(), CollectionIndex { created_at, ..CollectionIndex::default() });
        Ok(0)
    }

    /// Forgets a collection.
    pub(super) fn remove(&mut self, collection: &str) -> Result<(), log::Error> {
        let (table, shelves) = self.open()?;
        for name in ["passage", "vector"] {
            table.execute(&format!("DELETE FROM {name} WHERE collection = ?1"), [collection]).map_err(unavailable)?;
        }
        shelves.remove(collection);
        Ok(())
    }

    /// Adds records, the first of which is the one at `from`,
    /// unless a concurrent reader has already added them.
    pub(super) fn add(&mut self, collection: &str, from: u64, entries: Vec<IndexChange>) -> Result<(), log::Error> {
        let (table, shelves) = self.open()?;
        let Some(shelf) = shelves.get_mut(collection).filter(|shelf| shelf.records == from) else { return Ok(()) };
        let read = entries.len() as u64;
        let whole = table.transaction().map_err(unavailable)?;
        let changed = entries.into_iter().try_for_each(|entry| shelf.change(&whole, collection, entry));
        if let Err(error) = changed.and_then(|()| whole.commit()) {
            // The tables are as they were and the state beside them is not: it is read anew.
            shelves.remove(collection);
            self.remove(collection)?;
            return Err(unavailable(error));
        }
        shelf.records += read;
        Ok(())
    }

    /// Returns what is known of a collection's documents, by their numbers.
    pub(super) fn documents(&self, collection: &str) -> Vec<(u64, Meta)> {
        let documents = self.shelves.get(collection).map(|shelf| &shelf.documents);
        documents.into_iter().flatten().map(|(number, document)| (*number, document.meta.clone())).collect()
    }

    /// Returns what is known of one document.
    pub(super) fn document(&self, collection: &str, number: u64) -> Option<Meta> {
        Some(self.shelves.get(collection)?.documents.get(&number)?.meta.clone())
    }

    /// Returns the streams of a collection's documents, and those of documents that it had, once.
    pub(super) fn streams(&mut self, collection: &str) -> (HashSet<String>, HashSet<String>) {
        let Some(shelf) = self.shelves.get_mut(collection) else { return (HashSet::new(), HashSet::new()) };
        shelf.is_swept = true;
        let current = shelf.documents.values().filter_map(|document| document.meta.source.stream());
        (current.map(str::to_owned).collect(), std::mem::take(&mut shelf.gone))
    }

    /// Returns the first passages of a collection that have no vectors, at most `max`.
    pub(super) fn bare(&mut self, collection: &str, max: usize) -> Result<Option<UnembeddedPassages>, log::Error> {
        let (table, shelves) = self.open()?;
        let documents = shelves.get(collection).map(|shelf| &shelf.documents);
        let bare = documents.into_iter().flatten().find(|(_, document)| document.embedded < document.passages);
        let Some((number, document)) = bare else { return Ok(None) };
        let from = document.embedded;
        let count = max.min(document.passages - document.embedded);
        let select = "SELECT text FROM passage WHERE rowid >= ?1 ORDER BY rowid LIMIT ?2";
        let mut statement = table.prepare_cached(select).map_err(unavailable)?;
        let rows = statement.query_map(params![document.first + from as i64, count as i64], |row| row.get(0));
        let passages = rows.and_then(Iterator::collect).map_err(unavailable)?;
        let source = document.meta.source.clone();
        let records = document.records;
        Ok(Some(UnembeddedPassages { document: *number, from, passages, source, records }))
    }

    /// Returns the best matching passages of these collections, the best
    /// first: by the words of the query, and by its vector where it has one.
    pub(super) fn search(
        &mut self,
        (words, vector): (&str, Option<&Vector>),
        collections: &[&str],
        max: usize,
    ) -> Result<Vec<Hit>, log::Error> {
        let Some(vector) = vector else {
            return Ok(self.matching(any_word(words), collections, max)?.into_iter().map(|(_, hit)| hit).collect());
        };
        let by_words = self.matching(any_word(words), collections, EITHER_MAX)?;
        let orders = [by_words.iter().map(|(row, _)| *row).collect(), self.by_vector(vector, collections)?];
        let mut scores: HashMap<i64, f64> = HashMap::new();
        for (place, row) in orders.iter().flat_map(|rows: &Vec<i64>| rows.iter().enumerate()) {
            *scores.entry(*row).or_default() += 1.0 / (EVENNESS + 1.0 + place as f64);
        }
        let mut ranked: Vec<(i64, f64)> = scores.into_iter().collect();
        ranked.sort_by(|(one, a), (other, b)| b.total_cmp(a).then(one.cmp(other)));
        ranked.into_iter().take(max).map(|(row, score)| self.passage(row, score)).collect()
    }

    /// Returns the passages that have words with all of these beginnings, the best first.
    pub(super) fn search_beginnings(
        &mut self,
        query: &str,
        collections: &[&str],
        max: usize,
    ) -> Result<Vec<Hit>, log::Error> {
        Ok(self.matching(every_beginning(query), collections, max)?.into_iter().map(|(_, hit)| hit).collect())
    }

    /// Returns the passages that match an expression of the index, by their rows.
    fn matching(&mut self, words: String, collections: &[&str], max: usize) -> Result<Vec<(i64, Hit)>, log::Error> {
        if words.is_empty() || collections.is_empty() {
            return Ok(Vec::new());
        }
        let places = vec!["?"; collections.len()].join(", ");
        let select = format!(
            "SELECT collection, document, title, text, page, line, -bm25(passage), rowid FROM passage
             WHERE passage MATCH ? AND collection IN ({places}) ORDER BY bm25(passage), rowid LIMIT ?"
        );
        let names = collections.iter().map(|name| Value::Text((*name).to_owned()));
        let limit = Value::Integer(i64::try_from(max).unwrap_or(i64::MAX));
        let values = std::iter::once(Value::Text(words)).chain(names).chain([limit]);
        let (table, _) = self.open()?;
        let mut statement = table.prepare_cached(&select).map_err(unavailable)?;
        let hits = statement.query_map(params_from_iter(values), |row| Ok((row.get(7)?, hit(row, row.get(6)?)?)));
        hits.and_then(Iterator::collect).map_err(unavailable)
    }

    /// Returns the rows of the passages whose vectors are nearest, the nearest first.
    fn by_vector(&mut self, wanted: &Vector, collections: &[&str]) -> Result<Vec<i64>, log::Error> {
        let (table, _) = self.open()?;
        let mut near: Vec<(f32, i64)> = Vec::new();
        for collection in collections {
            let select = "SELECT passage, numbers FROM vector WHERE collection = ?1";
            let mut statement = table.prepare_cached(select).map_err(unavailable)?;
            let mut rows = statement.query([collection]).map_err(unavailable)?;
            while let Some(row) = rows.next().map_err(unavailable)? {
                let row = row.get(0).and_then(|passage| Ok((passage, row.get_ref(1)?.as_blob()?)));
                let (passage, numbers): (i64, &[u8]) = row.map_err(unavailable)?;
                if let Some(likeness) = product(numbers, wanted).filter(|likeness| *likeness > 0.0) {
                    near.push((likeness, passage));
                }
                if near.len() >= NEAR_MAX {
                    nearest(&mut near);
                }
            }
        }
        nearest(&mut near);
        Ok(near.into_iter().map(|(_, row)| row).collect())
    }

    fn passage(&mut self, row: i64, score: f64) -> Result<Hit, log::Error> {
        let select = "SELECT collection, document, title, text, page, line FROM passage WHERE rowid = ?1";
        let (table, _) = self.open()?;
        let mut statement = table.prepare_cached(select).map_err(unavailable)?;
        statement.query_row([row], |row| hit(row, score)).map_err(unavailable)
    }

    fn open(&mut self) -> Result<(&mut Connection, &mut HashMap<String, CollectionIndex>), log::Error> {
        let Index { table, shelves } = self;
        let table = match table {
            Some(table) => table,
            closed @ None => {
                // A database without a name is a temporary file, which nobody else can open.
                let connection = Connection::open("").map_err(unavailable)?;
                let limits = format!("PRAGMA cache_size = -{CACHE_KIB}; PRAGMA secure_delete = ON;");
                connection.execute_batch(&limits).map_err(unavailable)?;
                let pages = format!("PRAGMA max_page_count = {PAGES_MAX}");
                connection.query_row(&pages, [], |_| Ok(())).map_err(unavailable)?;
                connection.execute_batch(TABLES).map_err(unavailable)?;
                closed.insert(connection)
            }
        };
        Ok((table, shelves))
    }
}

impl CollectionIndex {
    /// Makes the change of one record.
    fn change(&mut self, table: &Connection, collection: &str, entry: IndexChange) -> rusqlite::Result<()> {
        match entry {
            IndexChange::Nothing => {}
            IndexChange::Document { number, mut meta, text } => {
                let number = number.unwrap_or(self.numbered + 1);
                self.numbered = self.numbered.max(number);
                if let Some(created_at) = self.remove(table, number)? {
                    meta.created_at = created_at;
                }
                let passages = text.as_ref().map(passages::cut).unwrap_or_default();
                let first = insert(table, (collection, number), &meta.title, &passages)?;
                let document = Document { meta, first, passages: passages.len(), embedded: 0, records: 1 };
                self.documents.insert(number, document);
            }
            IndexChange::Removed(number) => {
                self.remove(table, number)?;
            }
            IndexChange::Vectors { document, place, from, vectors } => {
                if let Some(known) = self.documents.get_mut(&document).filter(|known| known.holds(place.as_ref())) {
                    known.records = place.map_or(known.records, |(_, record)| record + 1);
                    known.put(table, collection, (from, vectors))?;
                }
            }
        }
        Ok(())
    }

    /// Forgets a document; returns when it was first put in.
    fn remove(&mut self, table: &Connection, number: u64) -> rusqlite::Result<Option<Millis>> {
        let Some(old) = self.documents.remove(&number) else { return Ok(None) };
        old.erase(table)?;
        if !self.is_swept {
            self.gone.extend(old.meta.source.stream().map(str::to_owned));
        }
        Ok(Some(old.meta.created_at))
    }
}

impl Source {
    /// Returns the document's own stream.
    fn stream(&self) -> Option<&str> {
        match self {
            Source::Stream(stream) => Some(stream),
            Source::Record(_) => None,
        }
    }
}

impl Document {
    /// Returns whether vectors in this place are of this document, and not of the one it replaced.
    fn holds(&self, place: Option<&(String, Seq)>) -> bool {
        match (&self.meta.source, place) {
            (Source::Stream(own), Some((stream, _))) => own == stream,
            (Source::Record(_), None) => true,
            (Source::Stream(_), None) | (Source::Record(_), Some(_)) => false,
        }
    }

    /// Adds vectors that continue those it has; others are duplicates.
    fn put(
        &mut self,
        table: &Connection,
        collection: &str,
        (from, vectors): (usize, Vec<Vector>),
    ) -> rusqlite::Result<()> {
        if self.embedded != from || from + vectors.len() > self.passages {
            return Ok(());
        }
        self.embedded += vectors.len();
        let insert = "INSERT OR REPLACE INTO vector (passage, collection, numbers) VALUES (?1, ?2, ?3)";
        let mut insert = table.prepare_cached(insert)?;
        for (row, vector) in ((self.first + from as i64)..).zip(vectors) {
            let numbers: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            insert.execute(params![row, collection, numbers])?;
        }
        Ok(())
    }

    /// Removes its rows, which lie together.
    fn erase(&self, table: &Connection) -> rusqlite::Result<()> {
        let rows = params![self.first, self.first + self.passages as i64];
        table.prepare_cached("DELETE FROM passage WHERE rowid >= ?1 AND rowid < ?2")?.execute(rows)?;
        table.prepare_cached("DELETE FROM vector WHERE passage >= ?1 AND passage < ?2")?.execute(rows)?;
        Ok(())
    }
}

/// Adds a document's passages; returns the row of the first.
fn insert(
    table: &Connection,
    (collection, document): (&str, u64),
    title: &str,
    passages: &[Passage<'_>],
) -> rusqlite::Result<i64> {
    let mut first = None;
    let insert = "INSERT INTO passage (title, text, collection, document, page, line) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = table.prepare_cached(insert)?;
    for Passage { text, place } in passages {
        let (page, line) = match place {
            PassagePlace::Page(page) => (Some(page), None),
            PassagePlace::Line(line) => (None, Some(line)),
        };
        let row = insert.insert(params![title, text, collection, document, page, line])?;
        first = first.or(Some(row));
    }
    Ok(first.unwrap_or_default())
}

/// Keeps the nearest passages, the nearest first.
fn nearest(near: &mut Vec<(f32, i64)>) {
    near.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
    near.truncate(EITHER_MAX);
}

fn hit(row: &rusqlite::Row<'_>, score: f64) -> rusqlite::Result<Hit> {
    let [collection, title, snippet] = [row.get(0)?, row.get(2)?, row.get(3)?];
    let page: Option<u32> = row.get(4)?;
    let line: Option<u32> = row.get(5)?;
    let place = page.map(PassagePlace::Page).or(line.map(PassagePlace::Line)).unwrap_or(PassagePlace::Line(1));
    Ok(Hit { collection, document: row.get(1)?, title, place, snippet, score })
}

/// Returns the likeness of a stored vector, unless it is of another model.
fn product(stored: &[u8], wanted: &[f32]) -> Option<f32> {
    let (numbers, rest) = stored.as_chunks::<4>();
    let products = numbers.iter().zip(wanted).map(|(one, other)| f32::from_le_bytes(*one) * other);
    (rest.is_empty() && numbers.len() == wanted.len()).then(|| products.sum())
}

/// Returns the words of a query, any of which may occur: quoted, so that none of them is an operator.
fn any_word(query: &str) -> String {
    words(query).map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ")
}

/// Returns the words of a query, each of which must begin a word.
fn every_beginning(query: &str) -> String {
    words(query).map(|word| format!("\"{word}\"*")).collect::<Vec<_>>().join(" AND ")
}

fn words(query: &str) -> impl Iterator<Item = &str> {
    query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(WORDS_MAX)
}

fn unavailable(error: rusqlite::Error) -> log::Error {
    log::Error::Unavailable(format!("cannot search: {error}"))
}
