//! Lists of rows, from the streams' own table and never from their records.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::owner::Owner;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::schema;
use crate::seal::{row_checksum, text_checksum};
use crate::{Order, Page, Query, Row, words};

/// The condition that a stream's words match, by an expression for the index and by the query itself.
const FOUND: &str = "(id IN (SELECT rowid FROM words WHERE words MATCH ?)
    OR id IN (SELECT stream FROM unindexed WHERE matches(text, ?)))";

/// Returns the rows that match, and their total number. They are counted only where the rows do not say it.
pub(super) fn page(db: &Connection, query: &Query) -> rusqlite::Result<Page> {
    let rows = if query.limit == 0 { Vec::new() } else { rows(db, query)? };
    let end = query.offset.saturating_add(rows.len());
    let is_last = rows.len() < query.limit && (query.offset == 0 || !rows.is_empty());
    // A name belongs to one stream.
    let is_one = query.stream.is_some() && !rows.is_empty();
    let total = if is_last || is_one { end } else { count(db, query)? };
    Ok(Page { rows, total })
}

fn rows(db: &Connection, query: &Query) -> rusqlite::Result<Vec<(Arc<str>, Row)>> {
    let (sql, mut values) = selection(db, query)?;
    values.extend([query.limit, query.offset].map(|number| Value::Integer(number.try_into().unwrap_or(i64::MAX))));
    let mut rows = db.prepare_cached(&sql)?;
    rows.query_map(params_from_iter(&values), |found| row(db, found))?.collect()
}

fn selection(db: &Connection, query: &Query) -> rusqlite::Result<(String, Vec<Value>)> {
    let (filter, values) = filter(query);
    let owner = schema::owner_column(db)?;
    let text = if query.words.is_some() { schema::words_of(db, "streams.id")? } else { "NULL".to_owned() };
    let sum = schema::checksum_column(db)?;
    let [words_sum, _] = schema::detail_columns(db)?;
    let order = order(query);
    let sql = format!(
        "SELECT name, id, kind, status, started_at, ended_at, body, {owner}, {text}, length, {sum}, {words_sum}
            FROM streams
            WHERE {filter} ORDER BY {order} LIMIT ? OFFSET ?"
    );
    Ok((sql, values))
}

fn count(db: &Connection, query: &Query) -> rusqlite::Result<usize> {
    let (filter, values) = filter(query);
    let mut total = db.prepare_cached(&format!("SELECT count(*) FROM streams WHERE {filter}"))?;
    total.query_row(params_from_iter(&values), |row| row.get(0))
}

/// Returns the conditions, and the values of their parameters.
fn filter(query: &Query) -> (String, Vec<Value>) {
    // A stream that is being erased has no kind any more.
    let mut conditions = vec!["kind <> ''"];
    let mut values = Vec::new();
    let mut add = |condition, given: &[&String]| {
        conditions.push(condition);
        values.extend(given.iter().map(|value| Value::Text((*value).clone())));
    };
    // The streams with a tag or a claim are found by that. Without the plus, SQLite reads all streams of the kind,
    // because its index has the wanted order: every turn there is, to find those of one thread.
    let is_narrow = query.claim.is_some() || query.tags.iter().any(|(_, value)| value.is_some());
    let kind = if is_narrow { "+kind = ?" } else { "kind = ?" };
    for (condition, value) in [(kind, &query.kind), ("name = ?", &query.stream), ("status = ?", &query.status)] {
        value.iter().for_each(|value| add(condition, &[value]));
    }
    query.owner.iter().for_each(|owner| add("owner = ?", &[&owner.to_string()]));
    query.claim.iter().for_each(|key| add("id IN (SELECT stream FROM claims WHERE key = ?)", &[key]));
    match query.ended {
        Some(true) => add("ended_at IS NOT NULL", &[]),
        Some(false) => add("ended_at IS NULL", &[]),
        None => {}
    }
    for (key, value) in &query.tags {
        match value {
            Some(value) => add("id IN (SELECT stream FROM tags WHERE key = ? AND value = ?)", &[key, value]),
            None => add("id IN (SELECT stream FROM tags WHERE key = ?)", &[key]),
        }
    }
    query.words.iter().for_each(|query| match expression(query) {
        Some(expression) => add(FOUND, &[&expression, query]),
        None => add("0", &[]),
    });
    for (condition, time) in [("started_at >= ?", query.started_from), ("started_at <= ?", query.started_to)] {
        time.iter().for_each(|time| {
            conditions.push(condition);
            values.push(integer(*time));
        });
    }
    if let Some((condition, place)) = query.after.as_ref().and_then(|place| Some((beyond(query.order)?, place))) {
        conditions.push(condition);
        values.extend([integer(place.started_at), Value::Text(place.stream.clone())]);
    }
    (conditions.join(" AND "), values)
}

/// Returns the condition that a row comes after another in an order by start.
fn beyond(order: Order) -> Option<&'static str> {
    match order {
        Order::NewestStart => Some("(started_at, name) < (?, ?)"),
        Order::OldestStart => Some("(started_at, name) > (?, ?)"),
        Order::OldestEnd => None,
    }
}

fn integer(time: Millis) -> Value {
    Value::Integer(time.try_into().unwrap_or(i64::MAX))
}

/// Returns the words of a query for the full-text table: quoted, so that none of them is an operator.
fn expression(query: &str) -> Option<String> {
    let words: Vec<String> = words::wanted(query).iter().map(|word| format!("\"{word}\"*")).collect();
    (!words.is_empty()).then(|| words.join(" AND "))
}

/// Returns the order. The unfinished are few and are sorted: by the index of starts, all that have ended would be read.
fn order(query: &Query) -> &'static str {
    match (query.order, query.ended) {
        (Order::NewestStart, Some(false)) => "+started_at DESC, name DESC",
        (Order::OldestStart, Some(false)) => "+started_at, name",
        (Order::NewestStart, Some(true) | None) => "started_at DESC, name DESC",
        (Order::OldestStart, Some(true) | None) => "started_at, name",
        (Order::OldestEnd, _) => "ended_at NULLS LAST, name",
    }
}

/// Returns one row as far as it can be read: damage in it must not affect the other rows of the list. One that differs
/// from what was written is marked.
fn row(db: &Connection, found: &rusqlite::Row<'_>) -> rusqlite::Result<(Arc<str>, Row)> {
    let row = Row {
        kind: text(found, 2)?.into(),
        status: text(found, 3)?.into(),
        owner: Owner::stored(&text(found, 7)?),
        started_at: number(found, 4)?.unwrap_or_default(),
        ended_at: number(found, 5)?,
        tags: tags(db, found.get(1)?)?,
        body: text(found, 6)?.into(),
        words: words(found, 8, 11)?.ok().flatten().map(Into::into),
    };
    let name = text(found, 0)?;
    let is_whole = match found.get_ref(10)? {
        // It was written before there were checksums.
        ValueRef::Null => true,
        ValueRef::Integer(sum) => {
            number(found, 9)?.is_some_and(|length| i64::from(row_checksum(&name, length, &row)) == sum)
        }
        ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => false,
    };
    Ok((name.into(), if is_whole { row } else { row.damaged() }))
}

/// Returns the words of a stream, if there are any; the inner error says why they are not those that were written.
pub(super) fn words(
    found: &rusqlite::Row<'_>,
    column: usize,
    checksum: usize,
) -> rusqlite::Result<Result<Option<String>, &'static str>> {
    let words = if found.get_ref(column)? == ValueRef::Null { None } else { Some(text(found, column)?) };
    Ok(match (found.get_ref(checksum)?, words) {
        // They were written before there were checksums, or there never were any.
        (ValueRef::Null, words) => Ok(words),
        (ValueRef::Integer(sum), Some(words)) if i64::from(text_checksum(&words)) == sum => Ok(Some(words)),
        (_, Some(_)) => Err("the text it is found by is not what was written: its checksum is wrong"),
        (_, None) => Err("the text it is found by is missing"),
    })
}

fn tags(db: &Connection, stream: i64) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut tags = db.prepare_cached("SELECT key, value FROM tags WHERE stream = ?")?;
    tags.query_map([stream], |tag| Ok((text(tag, 0)?, text(tag, 1)?)))?.collect()
}

/// Returns a text, with replacement characters for bytes that are not UTF-8.
pub(super) fn text(found: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(match found.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => String::new(),
    })
}

/// Returns a time; a negative one becomes 0.
fn number(found: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    Ok(match found.get_ref(column)? {
        ValueRef::Integer(number) => Some(u64::try_from(number).unwrap_or_default()),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;
    use crate::sqlite::Options;

    /// Returns the way in which SQLite finds the rows of a query.
    fn plan(query: &Query) -> String {
        let home = tempfile::tempdir().unwrap();
        let db = schema::open(&home.path().join("consort.db"), Options::default()).unwrap();
        let (sql, mut values) = selection(&db, query).unwrap();
        values.extend([Value::Integer(1), Value::Integer(0)]);
        let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let lines = plan.query_map(params_from_iter(&values), |row| row.get::<_, String>(3)).unwrap();
        lines.collect::<rusqlite::Result<Vec<_>>>().unwrap().join("\n")
    }

    #[test]
    fn streams_with_a_tag_or_a_claim_are_found_by_it() {
        let kind = Some("turn".to_owned());
        let tags = vec![("thread".to_owned(), Some("thread-1".to_owned()))];
        let tagged = plan(&Query { kind: kind.clone(), tags, ..Query::default() });
        assert!(tagged.contains("PRIMARY KEY (rowid=?)") && !tagged.contains("(kind=?)"), "{tagged}");
        let claimed = plan(&Query { kind, claim: Some("key".to_owned()), ..Query::default() });
        assert!(claimed.contains("PRIMARY KEY (rowid=?)") && !claimed.contains("(kind=?)"), "{claimed}");
    }

    #[test]
    fn a_list_that_goes_on_does_not_read_the_rows_before_it() {
        for (order, sign) in [(Order::NewestStart, '<'), (Order::OldestStart, '>')] {
            let after = Some(Place { started_at: 1, stream: "run-1".to_owned() });
            let next = plan(&Query { kind: Some("run".to_owned()), order, after, ..Query::default() });
            assert!(next.contains(&format!("(kind=? AND (started_at,name){sign}(?,?))")), "{next}");
            assert!(!next.contains("TEMP B-TREE"), "{next}");
        }
    }

    #[test]
    fn unfinished_streams_are_found_without_those_that_have_ended() {
        for order in [Order::NewestStart, Order::OldestStart, Order::OldestEnd] {
            let kind = Some("run".to_owned());
            let unfinished = plan(&Query { kind, ended: Some(false), order, ..Query::default() });
            assert!(unfinished.contains("(kind=? AND ended_at=?)"), "{unfinished}");
        }
    }
}
