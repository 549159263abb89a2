//! Facts that are remembered about the people who chat, separate for each owner. A
//! fact is a stream of its own, so that its bytes can be erased without the others',
//! and its name is derived from its words, so that it is stored once, even if several
//! processes learn it.

use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::json;
use consort_core::owner::Owner;
use consort_log::damage::row_fault;
use consort_log::{Append, Error, Log, Query, Record, Row};
use consort_tools::similarity::{likeness, scores};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The kind of a fact's stream, and the prefix of its name.
pub const KIND: &str = "fact";
/// The maximum number of facts of one owner; the oldest are replaced.
const FACTS_MAX: usize = 500;
/// The similarity from which two facts count as the same.
const ALIKE: f64 = 0.92;
/// The weight of matching words, and the weight of a fact's age.
const BY_WORDS: f64 = 0.8;
const BY_AGE: f64 = 0.2;
/// The time after which a fact counts as half as new.
const HALF_LIFE_MS: f64 = 30.0 * 24.0 * 60.0 * 60.0 * 1000.0;
/// Bytes of the hash that distinguish facts.
const NAME_BYTES: usize = 12;

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its id, unique for its owner.
    pub id: String,
    /// The text of the fact.
    pub text: String,
    /// The turn that it is from.
    pub source: Source,
    /// The time when it was stored.
    pub at: Millis,
}

/// A fact that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedFact {
    /// Its id, unique for its owner.
    pub id: String,
    /// The time when it was stored.
    pub at: Millis,
    /// The reason why it cannot be read.
    pub reason: String,
}

/// The turn that a fact is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The thread.
    pub thread: String,
    /// The turn.
    pub turn: String,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    text: String,
    source: Source,
}

/// The facts of one log.
#[derive(Clone)]
pub struct Facts {
    log: Arc<dyn Log>,
}

impl Facts {
    /// Returns the facts of a log.
    pub fn new(log: Arc<dyn Log>) -> Facts {
        Facts { log }
    }

    /// Stores the new facts of a turn; returns the number of facts from that turn.
    /// Repeating it changes nothing.
    pub async fn learn(&self, owner: &str, source: &Source, texts: &[String], now: Millis) -> Result<usize, Error> {
        let mut known = self.list(owner).await?;
        for text in texts {
            if known.iter().any(|fact| likeness(&fact.text, text) >= ALIKE) {
                continue;
            }
            let fact = Fact { id: id(owner, text), text: text.clone(), source: source.clone(), at: now };
            match self.log.append(append(owner, &fact)?).await {
                // Another process has stored the same fact first.
                Err(Error::Fenced) => {}
                stored => stored?,
            }
            known.insert(0, fact);
        }
        let excess: Vec<Arc<str>> = known.iter().skip(FACTS_MAX).map(|fact| stream(&fact.id)).collect();
        if !excess.is_empty() {
            self.log.erase(excess).await?;
        }
        Ok(known.iter().take(FACTS_MAX).filter(|fact| fact.source == *source).count())
    }

    /// Returns the owner's facts that can be read, the newest first.
    pub async fn list(&self, owner: &str) -> Result<Vec<Fact>, Error> {
        Ok(self.all(owner).await?.into_iter().filter_map(Result::ok).collect())
    }

    /// Returns all of the owner's facts, the newest first, including those that cannot be
    /// read, so that they can be erased.
    pub async fn all(&self, owner: &str) -> Result<Vec<Result<Fact, DamagedFact>>, Error> {
        let query = Query { limit: 2 * FACTS_MAX, ..of(owner) };
        Ok(self.log.list(query).await?.rows.iter().map(|(stream, row)| fact(stream, row)).collect())
    }

    /// Returns the facts that help with a query, at most `max`, the best first: those with
    /// its words before others, newer ones before older.
    pub async fn recall(&self, owner: &str, query: &str, max: usize, now: Millis) -> Result<Vec<Fact>, Error> {
        let facts = self.list(owner).await?;
        let texts: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
        let by_words = scores(&texts, query);
        let most = by_words.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let score = |(words, fact): (f64, Fact)| {
            let age = (now.saturating_sub(fact.at) as f64 / -HALF_LIFE_MS).exp2();
            (BY_WORDS * words / most + BY_AGE * age, fact)
        };
        let mut scored: Vec<(f64, Fact)> = by_words.into_iter().zip(facts).map(score).collect();
        scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        Ok(scored.into_iter().take(max).map(|(_, fact)| fact).collect())
    }

    /// Erases one of the owner's facts; returns whether there was one.
    pub async fn forget(&self, owner: &str, id: &str) -> Result<bool, Error> {
        let name = stream(id);
        let query = Query { stream: Some(name.to_string()), limit: 0, ..of(owner) };
        if self.log.list(query).await?.total == 0 {
            return Ok(false);
        }
        self.log.erase(vec![name]).await.map(|()| true)
    }

    /// Erases all facts of an owner; returns their number.
    pub async fn forget_all(&self, owner: &str) -> Result<usize, Error> {
        let query = Query { limit: usize::MAX, ..of(owner) };
        let streams: Vec<Arc<str>> = self.log.list(query).await?.rows.into_iter().map(|(stream, _)| stream).collect();
        let count = streams.len();
        self.log.erase(streams).await.map(|()| count)
    }
}

fn of(owner: &str) -> Query {
    let tags = vec![("owner".to_owned(), Some(owner.to_owned()))];
    Query { kind: Some(KIND.to_owned()), tags, ..Query::default() }
}

fn stream(id: &str) -> Arc<str> {
    format!("{KIND}/{id}").into()
}

/// Returns an id derived from the owner and the words of a fact.
fn id(owner: &str, text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    let hash = Sha256::digest(format!("{owner}\n{words}"));
    hash.iter().take(NAME_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

fn append(owner: &str, fact: &Fact) -> Result<Append, Error> {
    let stored = Stored { text: fact.text.clone(), source: fact.source.clone() };
    let body: Arc<str> = json::text(&stored).map_err(|error| Error::Unavailable(error.to_string()))?;
    let row = Row {
        kind: KIND.into(),
        status: "OPEN".into(),
        started_at: fact.at,
        owner: Owner::local(),
        ended_at: None,
        tags: [("owner".to_owned(), owner.to_owned())].into(),
        body,
        words: None,
    };
    // The row says it all; the record only marks the stream as begun.
    let records = vec![Record { body: "{}".into(), attachments: Vec::new() }];
    Ok(Append::new(stream(&fact.id), 0, records, row))
}

fn fact(stream: &str, row: &Row) -> Result<Fact, DamagedFact> {
    let id = stream.split_once('/').map_or(stream, |(_, id)| id).to_owned();
    let at = row.started_at;
    match serde_json::from_str(&row.body) {
        Ok(Stored { text, source }) => Ok(Fact { id, text, source, at }),
        Err(error) => Err(DamagedFact { id, at, reason: row_fault(&row.body, &error) }),
    }
}

#[cfg(test)]
mod tests {
    use consort_log::MemoryLog;

    use super::*;

    const DAY: Millis = 24 * 60 * 60 * 1000;

    fn source(turn: &str) -> Source {
        Source { thread: "t".to_owned(), turn: turn.to_owned() }
    }

    fn texts(facts: &[Fact]) -> Vec<&str> {
        facts.iter().map(|fact| fact.text.as_str()).collect()
    }

    async fn learn(facts: &Facts, owner: &str, turn: &str, said: &[&str], now: Millis) -> usize {
        let said: Vec<String> = said.iter().map(|text| (*text).to_owned()).collect();
        facts.learn(owner, &source(turn), &said, now).await.unwrap()
    }

    #[tokio::test]
    async fn a_fact_is_kept_once_however_often_and_by_whomever_it_is_said() {
        let log: Arc<dyn Log> = Arc::new(MemoryLog::default());
        let facts = Facts::new(log.clone());
        assert_eq!(learn(&facts, "ann", "1", &["Likes tea.", "Has a dog called Rex"], 1).await, 2);
        assert_eq!(learn(&facts, "ann", "1", &["Likes tea.", "Has a dog called Rex"], 2).await, 2, "done again");
        assert_eq!(learn(&Facts::new(log), "ann", "2", &["likes TEA", "Has a cat"], 3).await, 1);
        learn(&facts, "bob", "3", &["Likes tea."], 4).await;
        assert_eq!(texts(&facts.list("ann").await.unwrap())[0], "Has a cat");
        assert_eq!((facts.list("ann").await.unwrap().len(), facts.list("bob").await.unwrap().len()), (3, 1));
    }

    #[tokio::test]
    async fn what_fits_comes_first_then_what_is_new_and_only_the_owners() {
        let facts = Facts::new(Arc::new(MemoryLog::default()));
        learn(&facts, "ann", "1", &["Is allergic to peanuts"], 0).await;
        learn(&facts, "ann", "2", &["Lives in Oslo"], 90 * DAY).await;
        learn(&facts, "ann", "3", &["Plays the cello"], 99 * DAY).await;
        let found = facts.recall("ann", "any peanuts there?", 2, 100 * DAY).await.unwrap();
        assert_eq!(texts(&found), ["Is allergic to peanuts", "Plays the cello"]);
        assert!(facts.recall("bob", "peanuts", 2, 100 * DAY).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn facts_are_erased_one_by_one_or_all_and_only_by_their_owner() {
        let log = Arc::new(MemoryLog::default());
        let facts = Facts::new(log.clone());
        learn(&facts, "ann", "1", &["Likes tea", "Has a dog"], 1).await;
        let id = facts.list("ann").await.unwrap()[0].id.clone();
        assert!(!facts.forget("bob", &id).await.unwrap());
        assert!(facts.forget("ann", &id).await.unwrap());
        assert!(!facts.forget("ann", &id).await.unwrap());
        assert!(log.read(&stream(&id), 0, 1).await.unwrap().is_empty(), "its bytes are gone");
        assert_eq!((facts.forget_all("ann").await.unwrap(), facts.forget_all("ann").await.unwrap()), (1, 0));
    }

    #[tokio::test]
    async fn the_oldest_facts_make_room() {
        let facts = Facts::new(Arc::new(MemoryLog::default()));
        for n in 0..FACTS_MAX + 2 {
            learn(&facts, "ann", "1", &[&format!("knows number {n}")], n as Millis).await;
        }
        let kept = facts.list("ann").await.unwrap();
        assert_eq!((kept.len(), kept[0].text.as_str()), (FACTS_MAX, "knows number 501"));
    }
}
