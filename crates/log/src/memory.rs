//! A log that is lost when the process ends: for tests, and for runs that need not be stored.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use consort_core::id::Millis;
use futures::future::{BoxFuture, ready};
use tokio::sync::watch;

use super::{Append, Compact, Error, Log, Order, Page, Place, Query, Record, Row, Seq, words};

/// Streams in a map; clones share them.
#[derive(Clone, Default)]
pub struct MemoryLog {
    state: Arc<Mutex<State>>,
    commits: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    streams: BTreeMap<Arc<str>, Stream>,
    claims: HashMap<String, Arc<str>>,
}

struct Stream {
    records: Vec<Record>,
    attachments: HashSet<Arc<str>>,
    epoch: u64,
    row: Row,
}

impl MemoryLog {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log for MemoryLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), Error>> {
        let put = self.state().put(append);
        if put.is_ok() {
            self.commits.send_modify(|commits| *commits += 1);
        }
        Box::pin(ready(put))
    }

    fn read(&self, stream: &str, from: Seq, max: usize) -> BoxFuture<'_, Result<Vec<Record>, Error>> {
        let state = self.state();
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let records = state.streams.get(stream).map(|s| s.records.iter().skip(from).take(max).cloned().collect());
        Box::pin(ready(Ok(records.unwrap_or_default())))
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, Error>> {
        let page = self.state().page(&query);
        Box::pin(ready(Ok(page)))
    }

    fn erase(&self, streams: Vec<Arc<str>>) -> BoxFuture<'_, Result<(), Error>> {
        self.state().erase(&streams);
        self.commits.send_modify(|commits| *commits += 1);
        Box::pin(ready(Ok(())))
    }

    /// Changes with every commit: only this process writes, and it writes in groups.
    fn news(&self, _stream: &str) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }
}

impl Compact for MemoryLog {
    /// Does nothing: what is erased is freed at once.
    fn compact(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(ready(Ok(())))
    }
}

impl State {
    fn put(&mut self, append: Append) -> Result<(), Error> {
        self.refuse(&append)?;
        let Append { stream: name, epoch, records, mut row, claims, .. } = append;
        self.claims.extend(claims.into_iter().map(|key| (key, name.clone())));
        let fresh = || Stream { records: Vec::new(), attachments: HashSet::new(), epoch, row: row.clone() };
        let stream = self.streams.entry(name).or_insert_with(fresh);
        for mut record in records {
            record.attachments.iter_mut().for_each(|text| stream.keep_once(text));
            stream.records.push(record);
        }
        row.words = row.words.take().or(stream.row.words.take());
        (stream.epoch, stream.row) = (epoch, row);
        Ok(())
    }

    /// Returns the reason why the append may not be written, before any of it is.
    fn refuse(&self, append: &Append) -> Result<(), Error> {
        let stream = self.streams.get(&append.stream);
        let (length, epoch) = stream.map_or((0, 0), |stream| (stream.records.len() as Seq, stream.epoch));
        if append.expected != length || append.epoch < epoch {
            return Err(Error::Fenced);
        }
        for key in &append.claims {
            if let Some(by) = self.claims.get(key).filter(|by| **by != append.stream) {
                return Err(Error::Claimed { key: key.clone(), by: by.to_string() });
            }
        }
        Ok(())
    }

    fn page(&self, query: &Query) -> Page {
        let rows = self.streams.iter().map(|(name, stream)| (name, &stream.row));
        let holds = |name| query.claim.as_ref().is_none_or(|key| self.claims.get(key) == Some(name));
        let wanted = query.words.as_deref().map(words::wanted);
        let says = |row: &Row| {
            let text = row.words.as_deref().unwrap_or_default();
            wanted.as_ref().is_none_or(|wanted| words::matches(text, wanted))
        };
        let mut rows: Vec<_> =
            rows.filter(|(name, row)| matches(query, name, row) && holds(name) && says(row)).collect();
        match query.order {
            Order::NewestStart => rows.sort_by_key(|(name, row)| Reverse((row.started_at, *name))),
            Order::OldestStart => rows.sort_by_key(|(name, row)| (row.started_at, *name)),
            Order::OldestEnd => rows.sort_by_key(|(name, row)| (row.ended_at.is_none(), row.ended_at, *name)),
        }
        let total = rows.len();
        let rows = rows.into_iter().skip(query.offset).take(query.limit);
        let shown = |row: &Row| Row { words: row.words.clone().filter(|_| wanted.is_some()), ..row.clone() };
        Page { rows: rows.map(|(name, row)| (name.clone(), shown(row))).collect(), total }
    }

    fn erase(&mut self, streams: &[Arc<str>]) {
        let erased: HashSet<_> = streams.iter().collect();
        self.streams.retain(|name, _| !erased.contains(name));
        self.claims.retain(|_, by| !erased.contains(by));
    }
}

impl Stream {
    fn keep_once(&mut self, text: &mut Arc<str>) {
        if let Some(kept) = self.attachments.get(text) {
            *text = kept.clone();
        } else {
            self.attachments.insert(text.clone());
        }
    }
}

fn matches(query: &Query, name: &str, row: &Row) -> bool {
    let same = |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|wanted| wanted == is);
    let tagged = |(key, wanted): &(String, Option<String>)| row.tags.get(key).is_some_and(|is| same(wanted, is));
    same(&query.kind, &row.kind)
        && same(&query.stream, name)
        && same(&query.status, &row.status)
        && query.owner.as_ref().is_none_or(|owner| *owner == row.owner)
        && query.ended.is_none_or(|ended| ended == row.ended_at.is_some())
        && query.tags.iter().all(tagged)
        && query.started_from.is_none_or(|from| row.started_at >= from)
        && query.started_to.is_none_or(|to| row.started_at <= to)
        && query.after.as_ref().is_none_or(|place| follows(query.order, place, (row.started_at, name)))
}

/// Returns whether a row comes after a place in an order.
fn follows(order: Order, place: &Place, row: (Millis, &str)) -> bool {
    let place = (place.started_at, place.stream.as_str());
    match order {
        Order::NewestStart => row < place,
        Order::OldestStart => row > place,
        Order::OldestEnd => true,
    }
}
