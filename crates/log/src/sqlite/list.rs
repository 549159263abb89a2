//! Lists of rows, from the streams' own table and never from their records.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::owner::Owner;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

use crate::{Order, Page, Query, Row};

/// The version from which streams have owners.
const WITH_OWNERS: usize = 2;

/// Returns the rows that match, and their total number.
pub(super) fn page(db: &Connection, query: &Query) -> rusqlite::Result<Page> {
    let (filter, mut values) = filter(query);
    let mut total = db.prepare_cached(&format!("SELECT count(*) FROM streams WHERE {filter}"))?;
    let total = total.query_row(params_from_iter(&values), |row| row.get(0))?;
    let owner = owner_column(db)?;
    let sql = format!(
        "SELECT name, id, kind, status, started_at, ended_at, body, {owner} FROM streams
            WHERE {filter} ORDER BY {} LIMIT ? OFFSET ?",
        order(query.order)
    );
    values.extend([query.limit, query.offset].map(|number| Value::Integer(number.try_into().unwrap_or(i64::MAX))));
    let mut rows = db.prepare_cached(&sql)?;
    let rows = rows.query_map(params_from_iter(&values), |found| row(db, found))?.collect::<rusqlite::Result<_>>()?;
    Ok(Page { rows, total })
}

/// Returns the column with the owner. A file that is only read may be of a version without it.
fn owner_column(db: &Connection) -> rusqlite::Result<&'static str> {
    let version: usize = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(if version < WITH_OWNERS { "'local'" } else { "owner" })
}

/// Returns the conditions, and the values of their parameters.
fn filter(query: &Query) -> (String, Vec<Value>) {
    // A stream that is being erased has no kind any more.
    let (mut conditions, mut values) = (vec!["kind <> ''"], Vec::new());
    let mut add = |condition, given: &[&String]| {
        conditions.push(condition);
        values.extend(given.iter().map(|value| Value::Text((*value).clone())));
    };
    for (condition, value) in [("kind = ?", &query.kind), ("name = ?", &query.stream), ("status = ?", &query.status)] {
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
    (conditions.join(" AND "), values)
}

fn order(order: Order) -> &'static str {
    match order {
        Order::NewestStart => "started_at DESC, name DESC",
        Order::OldestStart => "started_at, name",
        Order::OldestEnd => "ended_at NULLS LAST, name",
    }
}

/// Returns one row as far as it can be read: damage in it must not affect the other rows of the list.
fn row(db: &Connection, found: &rusqlite::Row<'_>) -> rusqlite::Result<(Arc<str>, Row)> {
    let row = Row {
        kind: text(found, 2)?.into(),
        status: text(found, 3)?.into(),
        owner: Owner::stored(&text(found, 7)?),
        started_at: number(found, 4)?.unwrap_or_default(),
        ended_at: number(found, 5)?,
        tags: tags(db, found.get(1)?)?,
        body: text(found, 6)?.into(),
    };
    Ok((text(found, 0)?.into(), row))
}

fn tags(db: &Connection, stream: i64) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut tags = db.prepare_cached("SELECT key, value FROM tags WHERE stream = ?")?;
    tags.query_map([stream], |tag| Ok((text(tag, 0)?, text(tag, 1)?)))?.collect()
}

/// Returns a text, with replacement characters for bytes that are not UTF-8.
fn text(found: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<String> {
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
