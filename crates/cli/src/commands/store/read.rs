//! Reads every stream of a store as its owner would: rows, records, the attachments
//! they refer to, and the events in them.

use std::path::Path;

use consort_chat::Thread;
use consort_core::chat::Stored;
use consort_core::spec::Kind;
use consort_log::damage::fault;
use consort_log::{Error, Fault, Log, Order, Query, Record, Row, Seq, codec};
use consort_runtime::workflows;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Streams listed at once.
const STREAMS: usize = 500;
/// Records read at once: documents may be large.
const RECORDS: usize = 16;

/// The result of reading a store: the amounts, and the damage.
pub(crate) struct Found {
    /// The number of streams.
    pub(crate) streams: usize,
    /// The number of records that could be read.
    pub(crate) records: u64,
    /// The damage.
    pub(crate) faults: Vec<Fault>,
}

/// Reads all streams; `faults` are those that are known already.
pub(crate) async fn streams(log: &dyn Log, faults: Vec<Fault>) -> Result<Found, Error> {
    let mut found = Found { streams: 0, records: 0, faults };
    loop {
        let order = Order::OldestStart;
        let offset = found.streams;
        let page = match log.list(Query { order, offset, limit: STREAMS, ..Query::default() }).await {
            // The file itself is damaged, which is reported already.
            Err(_) if !found.faults.is_empty() => return Ok(found),
            page => page?,
        };
        for (stream, row) in &page.rows {
            found.streams += 1;
            if row.is_damaged() {
                let reason = "its row is not what was written: its checksum is wrong".to_owned();
                found.faults.push(Fault { place: stream.to_string(), reason });
            } else if let Err(reason) = check_row(row) {
                let reason = format!("its row cannot be read: {reason}");
                found.faults.push(Fault { place: stream.to_string(), reason });
            }
            match records(log, stream, &row.kind).await {
                Ok(records) => found.records += records,
                Err(Error::Damaged { stream, seq, reason }) => {
                    found.faults.push(Fault { place: stream, reason: format!("record {seq}: {reason}") });
                }
                Err(error) => found.faults.push(Fault { place: stream.to_string(), reason: error.to_string() }),
            }
        }
        if page.rows.len() < STREAMS {
            return Ok(found);
        }
    }
}

/// Reads the records of a stream; returns their number.
async fn records(log: &dyn Log, stream: &str, kind: &str) -> Result<u64, Error> {
    let mut length: Seq = 0;
    loop {
        let page = log.read(stream, length, RECORDS).await?;
        for record in &page {
            check_record(kind, record, (stream, length))?;
            length += 1;
        }
        if page.len() < RECORDS && length == 0 {
            let reason = "all of its records are missing".to_owned();
            return Err(Error::Damaged { stream: stream.to_owned(), seq: 0, reason });
        }
        if page.len() < RECORDS {
            return Ok(length);
        }
    }
}

fn is_run(kind: &str) -> bool {
    Kind::ALL.iter().any(|of| of.word() == kind)
}

/// Reads a row as lists do.
fn check_row(row: &Row) -> Result<(), String> {
    let kind = &*row.kind;
    let body = &*row.body;
    if kind == Kind::Turn.word() {
        return parse::<Stored>(body);
    }
    match kind {
        "thread" => parse::<Thread>(body),
        _ => parse::<Map<String, Value>>(body),
    }
}

/// Reads a record as its owner does.
fn check_record(kind: &str, record: &Record, (stream, seq): (&str, Seq)) -> Result<(), Error> {
    let read = match kind {
        kind if is_run(kind) => return codec::decode(record, (stream, seq)).map(drop),
        "workflow" => parse::<workflows::Entry>(&record.body),
        _ => parse::<Value>(&record.body),
    };
    read.map_err(|reason| Error::Damaged { stream: stream.to_owned(), seq, reason })
}

fn parse<T: for<'a> Deserialize<'a>>(text: &str) -> Result<(), String> {
    serde_json::from_str::<T>(text).map(drop).map_err(|error| fault(text, &error))
}

/// Reads all trace files of a folder; returns those that cannot be read.
pub(crate) fn traces(folder: &Path) -> Vec<Fault> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let paths = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "json"));
    let fault = |path: &Path| {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
        let reason = text.and_then(|text| parse::<Value>(&text)).err()?;
        Some(Fault { place: path.display().to_string(), reason })
    };
    paths.filter_map(|path| fault(&path)).collect()
}
