//! A small value that is stored anew whenever it changes, as the row of a stream with a single record. Its
//! history is not kept, so a value that changes every second takes no more room after a year.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::json;
use consort_core::owner::Owner;
use consort_log::damage::row_fault;
use consort_log::{self as log, Append, Log, Query, Record, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Registers listed at once.
const PAGE: usize = 1_000;

/// The registers of one kind.
#[derive(Clone)]
pub(crate) struct Registers {
    log: Arc<dyn Log>,
    kind: &'static str,
}

impl Registers {
    /// Returns the registers of a kind; their streams are named `<kind>/<name>`.
    pub(crate) fn new(log: Arc<dyn Log>, kind: &'static str) -> Registers {
        Registers { log, kind }
    }

    /// Stores the value of a register, which is made if need be.
    pub(crate) async fn put(&self, name: &str, value: &impl Serialize, at: Millis) -> Result<(), log::Error> {
        self.put_tagged(name, value, (at, &[])).await
    }

    /// Stores the value of a register that is found by its tags.
    pub(crate) async fn put_tagged(
        &self,
        name: &str,
        value: &impl Serialize,
        (at, tags): (Millis, &[(&str, &str)]),
    ) -> Result<(), log::Error> {
        let body: Arc<str> = written(value)?;
        let tags: BTreeMap<String, String> =
            tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let row = Row {
            kind: self.kind.into(),
            status: "OPEN".into(),
            owner: Owner::local(),
            started_at: at,
            ended_at: None,
            tags,
            body: body.clone(),
            words: None,
        };
        let append = |expected, records| Append::new(self.stream(name), expected, records, row.clone());
        match self.log.append(append(1, Vec::new())).await {
            // The first value is a record as well: a stream without any looks damaged.
            Err(log::Error::Fenced) => {
                let first = Record { body: body.clone(), attachments: Vec::new() };
                self.log.append(append(0, vec![first])).await
            }
            stored => stored,
        }
    }

    /// Returns the value of a register, if there is one.
    pub(crate) async fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, log::Error> {
        let stream = self.stream(name);
        let query =
            Query { kind: Some(self.kind.to_owned()), stream: Some(stream.to_string()), limit: 1, ..Query::default() };
        let page = self.log.list(query).await?;
        page.rows.first().map(|(stream, row)| parse(stream, &row.body)).transpose()
    }

    /// Returns the values of all registers by their names; those that cannot be read are left out.
    pub(crate) async fn all<T: DeserializeOwned>(&self) -> Result<Vec<(String, T)>, log::Error> {
        self.tagged(None).await
    }

    /// Returns the values of the registers with this tag, or of all.
    pub(crate) async fn tagged<T: DeserializeOwned>(
        &self,
        tag: Option<(&str, &str)>,
    ) -> Result<Vec<(String, T)>, log::Error> {
        let tags: Vec<_> = tag.iter().map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned()))).collect();
        let mut offset = 0;
        let mut all = Vec::new();
        loop {
            let kind = Some(self.kind.to_owned());
            let query = Query { kind, tags: tags.clone(), offset, limit: PAGE, ..Query::default() };
            let rows = self.log.list(query).await?.rows;
            let name = |stream: &str| stream.split_once('/').map(|(_, name)| name.to_owned());
            let read = |(stream, row): &(Arc<str>, Row)| Some((name(stream)?, parse(stream, &row.body).ok()?));
            all.extend(rows.iter().filter_map(read));
            offset += rows.len();
            if rows.len() < PAGE {
                return Ok(all);
            }
        }
    }

    /// Erases a register.
    pub(crate) async fn erase(&self, name: &str) -> Result<(), log::Error> {
        self.log.erase(vec![self.stream(name)]).await
    }

    fn stream(&self, name: &str) -> Arc<str> {
        format!("{}/{name}", self.kind).into()
    }
}

/// Returns the text of a stored value.
pub(crate) fn written(value: &impl Serialize) -> Result<Arc<str>, log::Error> {
    json::text(value).map_err(|error| log::Error::Unavailable(error.to_string()))
}

/// Returns the value that a row holds.
pub(crate) fn parse<T: DeserializeOwned>(stream: &str, body: &str) -> Result<T, log::Error> {
    serde_json::from_str(body).map_err(|error| log::Error::Damaged {
        stream: stream.to_owned(),
        seq: 0,
        reason: row_fault(body, &error),
    })
}
