//! Reads a stream back. Nothing is trusted: a record that is missing, differs from what was
//! written or cannot be parsed is damaged, and so is one whose attachments are.

use std::collections::HashMap;
use std::sync::Arc;

use consort_log::seal::{HASH_BYTES, SEPARATOR, checksum, hash};
use consort_log::{Error, Record, Seq, VERSION};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Pool, Value};
use crate::text::escape;

/// The number of times that a stream is read while somebody erases it or writes it anew.
const TRIES: usize = 3;

/// The length of a stream and the rows of its records, in one state of the database. The first record may be in
/// the middle of a row.
const SQL: &str = "SELECT s.id, s.length, r.seq, r.count, r.version, r.checksum, r.attachments, r.body
    FROM streams s LEFT JOIN records r ON r.stream = s.id AND r.seq < least(s.length, $3)
        AND r.seq >= coalesce((SELECT max(seq) FROM records m WHERE m.stream = s.id AND m.seq <= $2), $2)
    WHERE s.name = $1 ORDER BY r.seq";

/// The texts of attachments.
const TEXTS: &str = "SELECT hash, text FROM attachments WHERE stream = $1 AND hash = ANY($2)";

/// A record that cannot be read.
type Damage = (Seq, String);

/// Returns at most `max` records of the stream from `from` on.
pub(crate) async fn records(pool: &Pool, name: &str, from: Seq, max: usize) -> Result<Vec<Record>, Error> {
    let mut last = Ok(Vec::new());
    for _try in 0..TRIES {
        let (id, read) = once(pool, name, from, max).await?;
        last = read.map_err(|(seq, reason)| Error::Damaged { stream: name.to_owned(), seq, reason });
        // Erased between two statements, its attachments are missing and nothing is damaged.
        if last.is_ok() || id == current(pool, name).await? {
            break;
        }
    }
    last
}

async fn current(pool: &Pool, name: &str) -> Result<Option<i64>, Error> {
    let name = escape(name);
    let sql = "SELECT id FROM streams WHERE name = $1";
    let rows = pool.query(sql, &[(&&*name, Type::TEXT)]).await?;
    Ok(rows.first().map(|row| row.get(0)))
}

/// Returns the number of the stream, and its records.
async fn once(
    pool: &Pool,
    name: &str,
    from: Seq,
    max: usize,
) -> Result<(Option<i64>, Result<Vec<Record>, Damage>), Error> {
    let name = escape(name);
    let first = i64::try_from(from).unwrap_or(i64::MAX);
    let until = i64::try_from(from.saturating_add(max as Seq)).unwrap_or(i64::MAX);
    let values: [Value<'_>; 3] = [(&&*name, Type::TEXT), (&first, Type::INT8), (&until, Type::INT8)];
    let rows = pool.query(SQL, &values).await?;
    let Some(head) = rows.first() else { return Ok((None, Ok(Vec::new()))) };
    let id: i64 = head.get(0);
    let length: i64 = head.get(1);
    let hashes = rows.iter().filter_map(|row| row.get::<_, Option<&[u8]>>(6)).flat_map(|some| some.chunks(HASH_BYTES));
    let texts = texts(pool, id, hashes.collect()).await?;
    let until = until.min(length);
    let records = if first >= until { Ok(Vec::new()) } else { join(&rows, (from, until.unsigned_abs()), &texts) };
    Ok((Some(id), records))
}

/// Returns the attachments with these hashes, as far as they are there and whole.
async fn texts(pool: &Pool, id: i64, hashes: Vec<&[u8]>) -> Result<HashMap<Vec<u8>, Arc<str>>, Error> {
    if hashes.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = pool.query(TEXTS, &[(&id, Type::INT8), (&hashes, Type::BYTEA_ARRAY)]).await?;
    let whole = |row: &Row| {
        let name: &[u8] = row.get(0);
        let text = std::str::from_utf8(row.get(1)).ok()?;
        (hash(text) == *name).then(|| (name.to_vec(), Arc::from(text)))
    };
    Ok(rows.iter().filter_map(whole).collect())
}

/// Returns the records of these places from the rows that hold them.
fn join(rows: &[Row], (from, until): (Seq, Seq), texts: &HashMap<Vec<u8>, Arc<str>>) -> Result<Vec<Record>, Damage> {
    let mut records = Vec::new();
    let mut rows = rows.iter().filter(|row| row.get::<_, Option<i64>>(2).is_some());
    let mut next = from;
    while next < until {
        let damage = |reason: &str| (next, reason.to_owned());
        let row = rows.next().ok_or_else(|| damage("it is missing"))?;
        let first = Seq::try_from(row.get::<_, i64>(2)).unwrap_or_default();
        let count = Seq::try_from(row.get::<_, i32>(3)).unwrap_or_default();
        let end = first + count;
        if !(first..end).contains(&next) {
            return Err(damage("it is missing"));
        }
        let skipped = usize::try_from(next - first).unwrap_or(usize::MAX);
        let wanted = end.min(until) - next;
        let bundle = bundle(row, count, texts).map_err(|reason| (next, reason))?;
        records.extend(bundle.into_iter().skip(skipped).take(usize::try_from(wanted).unwrap_or(usize::MAX)));
        next += wanted;
    }
    Ok(records)
}

/// Returns the records of a row, which are so many.
fn bundle(row: &Row, count: Seq, texts: &HashMap<Vec<u8>, Arc<str>>) -> Result<Vec<Record>, String> {
    let version: i32 = row.get(4);
    if !(1..=i64::from(VERSION)).contains(&i64::from(version)) {
        return Err(format!("it is of version {version}, and this Consort reads versions 1 to {VERSION}"));
    }
    let hashes: &[u8] = row.get(6);
    let body = std::str::from_utf8(row.get(7)).map_err(|_| "its checksum is wrong")?;
    if i64::from(checksum(body, hashes)) != row.get::<_, i64>(5) {
        return Err("its checksum is wrong".to_owned());
    }
    if count == 1 {
        let text = |hash: &[u8]| texts.get(hash).cloned().ok_or("an attachment is missing, or not what was written");
        let attachments = hashes.chunks(HASH_BYTES).map(text).collect::<Result<_, _>>()?;
        return Ok(vec![Record { body: body.into(), attachments }]);
    }
    let bodies = body.split(SEPARATOR).map(|body| Record { body: body.into(), attachments: Vec::new() });
    let records: Vec<Record> = bodies.collect();
    let is_whole = records.len() as Seq == count;
    if is_whole { Ok(records) } else { Err("its row holds another number of records".to_owned()) }
}
