//! What is searched: the passages of all documents in a full-text table of
//! SQLite, in memory. It holds nothing that is not in the log.

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use crate::log;

/// Words of a query that count; more would not make it clearer.
const WORDS_MAX: usize = 32;

const TABLES: &str = "
    CREATE TABLE length (collection TEXT PRIMARY KEY, records INTEGER NOT NULL);
    CREATE VIRTUAL TABLE passage USING fts5 (
        title, text, collection UNINDEXED, document UNINDEXED, tokenize = 'porter unicode61 remove_diacritics 2'
    );";

/// A passage that fits a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The collection it is in.
    pub collection: String,
    /// The number of the document in its collection, from 1.
    pub document: u64,
    /// The document's title.
    pub title: String,
    /// The passage.
    pub snippet: String,
    /// How well it fits; larger is better.
    pub score: f64,
}

/// The full-text table; made when it is first used.
#[derive(Default)]
pub(super) struct Index(Option<Connection>);

impl Index {
    /// How many records of a collection are in it.
    pub(super) fn length(&mut self, collection: &str) -> Result<u64, log::Error> {
        let count = "SELECT coalesce(max(records), 0) FROM length WHERE collection = ?1";
        self.open()?.query_row(count, [collection], |row| row.get(0)).map_err(unavailable)
    }

    /// Adds documents, cut into passages; the first is the record at `from`.
    pub(super) fn add(
        &mut self,
        collection: &str,
        from: u64,
        documents: Vec<(&str, Vec<&str>)>,
    ) -> Result<(), log::Error> {
        let whole = self.open()?.transaction().map_err(unavailable)?;
        let length: u64 = from + documents.len() as u64;
        for (document, (title, passages)) in (from..).zip(documents) {
            for passage in passages {
                let insert = "INSERT INTO passage (title, text, collection, document) VALUES (?1, ?2, ?3, ?4)";
                whole.execute(insert, params![title, passage, collection, document]).map_err(unavailable)?;
            }
        }
        // Somebody who read the same records at the same time was first.
        let update = "INSERT INTO length VALUES (?1, ?2) ON CONFLICT DO UPDATE SET records = ?2 WHERE records = ?3";
        match whole.execute(update, params![collection, length, from]).map_err(unavailable)? {
            0 => Ok(()),
            _ => whole.commit().map_err(unavailable),
        }
    }

    /// The passages of these collections with words of the query, the best first.
    pub(super) fn search(&mut self, query: &str, collections: &[&str], max: usize) -> Result<Vec<Hit>, log::Error> {
        let words = words(query);
        if words.is_empty() || collections.is_empty() {
            return Ok(Vec::new());
        }
        let places = vec!["?"; collections.len()].join(", ");
        let select = format!(
            "SELECT collection, document, title, text, -bm25(passage) FROM passage
             WHERE passage MATCH ? AND collection IN ({places}) ORDER BY bm25(passage), rowid LIMIT ?"
        );
        let names = collections.iter().map(|name| Value::Text((*name).to_owned()));
        let limit = Value::Integer(i64::try_from(max).unwrap_or(i64::MAX));
        let values = std::iter::once(Value::Text(words)).chain(names).chain([limit]);
        let connection = self.open()?;
        let mut statement = connection.prepare_cached(&select).map_err(unavailable)?;
        let hits = statement.query_map(params_from_iter(values), |row| {
            let [collection, title, snippet] = [row.get(0)?, row.get(2)?, row.get(3)?];
            Ok(Hit { collection, document: row.get(1)?, title, snippet, score: row.get(4)? })
        });
        hits.and_then(Iterator::collect).map_err(unavailable)
    }

    fn open(&mut self) -> Result<&mut Connection, log::Error> {
        match &mut self.0 {
            Some(connection) => Ok(connection),
            closed @ None => {
                let connection = Connection::open_in_memory().map_err(unavailable)?;
                connection.execute_batch(TABLES).map_err(unavailable)?;
                Ok(closed.insert(connection))
            }
        }
    }
}

/// The words of a query, any of which may occur: quoted, so that nothing in
/// them is an operator.
fn words(query: &str) -> String {
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(WORDS_MAX).map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ")
}

fn unavailable(error: rusqlite::Error) -> log::Error {
    log::Error::Unavailable(format!("cannot search: {error}"))
}
