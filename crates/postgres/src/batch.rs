//! The one statement that writes a group of appends. Each of them is fenced by itself: a stream that is
//! not returned was not written. A key that somebody else takes at the same moment fails the whole. An
//! append with an epoch makes its node the owner of the stream.

use std::borrow::Cow;
use std::collections::HashSet;

use consort_log::seal::{HASH_BYTES, Sealed};
use consort_log::{Append, Error, Row, Seq};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Statement};
use uuid::Uuid;

use crate::connection::{Failure, bounded};
use crate::text::{escape, vector};

/// The statement. All of its parts see the state before it, and what the parts return.
pub(crate) const SQL: &str = "
WITH a AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::int8[], $3::int8[], $4::int8[], $5::text[], $6::text[], $7::text[],
        $8::int8[], $9::int8[], $10::text[], $11::bytea[], $12::bytea[], $31::bytea[], $30::int4[])
    AS a (name, expected, length, epoch, kind, status, owner, started_at, ended_at, tags, body, append, checked,
        schema)),
c AS MATERIALIZED (SELECT * FROM unnest($13::text[], $14::text[]) AS c (name, key)),
refused AS MATERIALIZED (
    SELECT c.name FROM c JOIN claims h ON h.key = c.key JOIN streams s ON s.id = h.stream WHERE s.name <> c.name),
updated AS (
    UPDATE streams s SET length = a.length, epoch = a.epoch, kind = a.kind, status = a.status, owner = a.owner,
        started_at = a.started_at, ended_at = a.ended_at, tags = a.tags::jsonb, body = a.body, append = a.append,
        node = CASE WHEN a.epoch > 0 THEN $29::text ELSE s.node END, given_up = s.given_up AND a.epoch = 0,
        schema = greatest(s.schema, a.schema), checked = a.checked
    FROM a WHERE s.name = a.name AND s.length = a.expected AND s.epoch <= a.epoch
        AND a.name NOT IN (SELECT name FROM refused)
    RETURNING s.id, s.name),
inserted AS (
    INSERT INTO streams (name, length, epoch, kind, status, owner, started_at, ended_at, tags, body, append, node, schema,
        checked)
    SELECT name, length, epoch, kind, status, owner, started_at, ended_at, tags::jsonb, body, append,
        CASE WHEN epoch > 0 THEN $29::text END, schema, checked
    FROM a WHERE expected = 0 AND name NOT IN (SELECT name FROM refused)
    ON CONFLICT (name) DO NOTHING RETURNING id, name),
put AS MATERIALIZED (SELECT id, name FROM updated UNION ALL SELECT id, name FROM inserted),
claimed AS (
    INSERT INTO claims (key, stream) SELECT c.key, put.id FROM c JOIN put ON put.name = c.name
    WHERE NOT EXISTS (SELECT FROM claims h WHERE h.key = c.key AND h.stream = put.id)),
recorded AS (
    INSERT INTO records (stream, seq, count, version, checksum, attachments, body, append)
    SELECT put.id, r.seq, r.count, r.version, r.checksum, r.attachments, r.body, r.append
    FROM unnest($15::text[], $16::int8[], $17::int4[], $18::int4[], $19::int8[], $20::bytea[], $21::bytea[], $22::bytea[])
        AS r (name, seq, count, version, checksum, attachments, body, append) JOIN put ON put.name = r.name),
attached AS (
    INSERT INTO attachments (stream, hash, text) SELECT put.id, t.hash, t.text
    FROM unnest($23::text[], $24::bytea[], $25::bytea[]) AS t (name, hash, text) JOIN put ON put.name = t.name
    ON CONFLICT (stream, hash) DO NOTHING),
said AS (
    INSERT INTO words (stream, text, tokens) SELECT put.id, w.text, w.tokens::tsvector
    FROM unnest($26::text[], $27::text[], $28::text[]) AS w (name, text, tokens) JOIN put ON put.name = w.name
    ON CONFLICT (stream) DO UPDATE SET text = excluded.text, tokens = excluded.tokens
    WHERE words.text <> excluded.text)
SELECT name FROM put";

/// An append on its way, under an id of its own that is stored with it.
pub(crate) struct Pending {
    pub(crate) sealed: Sealed,
    pub(crate) id: Uuid,
}

impl Pending {
    pub(crate) fn new(append: Append) -> Pending {
        Pending { sealed: Sealed::new(append), id: Uuid::now_v7() }
    }

    pub(crate) fn append(&self) -> &Append {
        &self.sealed.append
    }

    /// Returns the size of what is sent for it.
    pub(crate) fn bytes(&self) -> u64 {
        self.sealed.bytes() + self.append().row.body.len() as u64
    }
}

/// The columns of a group.
#[derive(Default)]
struct Columns<'a> {
    names: Vec<Cow<'a, str>>,
    numbers: [Vec<i64>; 4],
    words: [Vec<Cow<'a, str>>; 3],
    ended: Vec<Option<i64>>,
    tags: Vec<String>,
    bodies: Vec<&'a [u8]>,
    versions: Vec<i32>,
    ids: Vec<&'a [u8]>,
    checked: Vec<Vec<u8>>,
    claims: [Vec<Cow<'a, str>>; 2],
    records: Records<'a>,
    attachments: Attachments<'a>,
    said: [Vec<Cow<'a, str>>; 3],
}

#[derive(Default)]
struct Attachments<'a> {
    names: Vec<Cow<'a, str>>,
    hashes: Vec<&'a [u8]>,
    texts: Vec<&'a [u8]>,
}

#[derive(Default)]
struct Records<'a> {
    names: Vec<Cow<'a, str>>,
    seqs: Vec<i64>,
    counts: Vec<i32>,
    versions: Vec<i32>,
    checksums: Vec<i64>,
    hashes: Vec<&'a [u8]>,
    bodies: Vec<&'a [u8]>,
    ids: Vec<Option<&'a [u8]>>,
}

/// Writes a group, in which no stream and no key is named twice, as a node; returns the names of the streams that
/// were written.
pub(crate) async fn write(
    client: &Client,
    statement: &Statement,
    group: &[&Pending],
    node: &Option<String>,
) -> Result<HashSet<String>, Failure> {
    let mut columns = Columns::default();
    group.iter().for_each(|pending| columns.push(pending));
    let Columns {
        names,
        numbers,
        words,
        ended,
        tags,
        bodies,
        versions,
        ids,
        checked,
        claims,
        records,
        attachments,
        said,
    } = &columns;
    let [expected, lengths, epochs, started] = numbers;
    let [kinds, statuses, owners] = words;
    let [claimers, keys] = claims;
    let [sayers, said, tokens] = said;
    let parameters: [&(dyn ToSql + Sync); 31] = [
        names,
        expected,
        lengths,
        epochs,
        kinds,
        statuses,
        owners,
        started,
        ended,
        tags,
        bodies,
        ids,
        claimers,
        keys,
        &records.names,
        &records.seqs,
        &records.counts,
        &records.versions,
        &records.checksums,
        &records.hashes,
        &records.bodies,
        &records.ids,
        &attachments.names,
        &attachments.hashes,
        &attachments.texts,
        sayers,
        said,
        tokens,
        node,
        versions,
        checked,
    ];
    let rows = bounded(client.query(statement, &parameters)).await?;
    Ok(rows.iter().map(|row| row.get::<_, String>(0)).collect())
}

impl<'a> Columns<'a> {
    fn push(&mut self, pending: &'a Pending) {
        let append = pending.append();
        let row = &append.row;
        let name = escape(&append.stream);
        let after = append.expected + append.records.len() as Seq;
        let numbers = [append.expected, after, append.epoch, row.started_at];
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            column.push(signed(number));
        }
        for (column, word) in self.words.iter_mut().zip([&*row.kind, &*row.status, row.owner.as_str()]) {
            column.push(escape(word));
        }
        self.ended.push(row.ended_at.map(signed));
        self.tags.push(tags(row));
        self.bodies.push(row.body.as_bytes());
        self.versions.push(version(append));
        self.ids.push(pending.id.as_bytes());
        self.checked.push(checked(pending.id.as_bytes(), pending.sealed.row_checksum));
        for key in &append.claims {
            self.claims[0].push(name.clone());
            self.claims[1].push(escape(key));
        }
        if let Some(text) = &row.words {
            self.said[0].push(name.clone());
            self.said[1].push(escape(text));
            self.said[2].push(vector(text).into());
        }
        self.records(pending, name.clone());
        self.names.push(name);
    }

    fn records(&mut self, pending: &'a Pending, name: Cow<'a, str>) {
        let mut seq = pending.append().expected;
        let mut records = pending.append().records.iter();
        for bundle in &pending.sealed.bundles {
            // The first record says whose append this is.
            let is_first = seq == pending.append().expected;
            self.records.ids.push(is_first.then_some(pending.id.as_bytes().as_slice()));
            self.records.names.push(name.clone());
            self.records.seqs.push(signed(seq));
            self.records.counts.push(i32::try_from(bundle.count).unwrap_or(i32::MAX));
            self.records.versions.push(version(pending.append()));
            self.records.checksums.push(bundle.checksum.into());
            self.records.hashes.push(&bundle.hashes);
            self.records.bodies.push(bundle.body.as_bytes());
            for record in records.by_ref().take(bundle.count) {
                for (text, hash) in record.attachments.iter().zip(bundle.hashes.chunks_exact(HASH_BYTES)) {
                    self.attachments.names.push(name.clone());
                    self.attachments.hashes.push(hash);
                    self.attachments.texts.push(text.as_bytes());
                }
            }
            seq += bundle.count as Seq;
        }
    }
}

/// Returns the checksum of a row as it is stored: behind the id of the append that wrote the row.
pub(crate) fn checked(append: &[u8], sum: u32) -> Vec<u8> {
    [append, &sum.to_be_bytes()].concat()
}

/// Returns the version of the records of an append.
fn version(append: &Append) -> i32 {
    i32::try_from(append.version).unwrap_or(i32::MAX)
}

/// Returns the tags of a row as JSON.
fn tags(row: &Row) -> String {
    let tags = row.tags.iter().map(|(key, value)| (escape(key).into_owned(), escape(value).into_owned().into()));
    serde_json::Value::Object(tags.collect()).to_string()
}

/// Returns a number as PostgreSQL stores it. Those that are too large are refused before they come here.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the reason why an append can never be written.
pub(crate) fn unwritable(pending: &Pending, most: u64) -> Option<Error> {
    let append = pending.append();
    let row = &append.row;
    let numbers = [append.expected, append.epoch, row.started_at, row.ended_at.unwrap_or_default()];
    if numbers.iter().any(|number| i64::try_from(*number).is_err()) {
        return Some(Error::Unavailable("a number of the append is larger than the database stores".to_owned()));
    }
    let bytes = pending.bytes();
    (bytes > most).then(|| Error::Unavailable(format!("the append has {bytes} bytes, and at most {most} are stored")))
}
