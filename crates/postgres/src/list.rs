//! Lists of rows, from the streams' own table and never from their records. The page and its
//! total are of one state of the database.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_log::seal::row_checksum;
use consort_log::{Error, Order, Page, Query, Row};
use serde_json::Value;
use tokio_postgres::types::{ToSql, Type};

use crate::batch::checked;
use crate::connection::{self, Pool};
use crate::text::{self, escape, unescape};

/// Returns the rows that match, and their total number.
pub(crate) async fn page(pool: &Pool, query: &Query) -> Result<Page, Error> {
    let Filter { conditions, mut values } = Filter::of(query);
    let order = order(query.order);
    // Only a query by words shows them.
    let words = if query.words.is_some() { "(SELECT text FROM words w WHERE w.stream = s.id)" } else { "NULL::text" };
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX).to_string();
    values.extend([number(query.limit), number(query.offset)]);
    let limit = values.len() - 1;
    let offset = values.len();
    let sql = format!(
        "SELECT t.total, p.name, p.kind, p.status, p.owner, p.started_at, p.ended_at, p.tags, p.body, p.words,
            p.length, p.append, p.checked
        FROM (SELECT count(*) AS total FROM streams s WHERE {conditions}) t LEFT JOIN LATERAL (
            SELECT s.name, s.kind, s.status, s.owner, s.started_at, s.ended_at, s.tags::text, s.body, {words} AS words,
                s.length, s.append, s.checked
            FROM streams s WHERE {conditions} ORDER BY {order} LIMIT ${limit}::text::int8 OFFSET ${offset}::text::int8
        ) p ON true ORDER BY {order}"
    );
    let values: Vec<connection::Value<'_>> =
        values.iter().map(|value| (value as &(dyn ToSql + Sync), Type::TEXT)).collect();
    let rows = pool.query(&sql, &values).await?;
    let total = rows.first().map_or(0, |row| row.get::<_, i64>(0));
    let rows = rows.iter().filter(|found| found.get::<_, Option<&str>>(1).is_some()).map(row).collect();
    Ok(Page { rows, total: usize::try_from(total).unwrap_or_default() })
}

/// The conditions, and the values of their parameters, all of them texts.
struct Filter {
    conditions: String,
    values: Vec<String>,
}

impl Filter {
    fn of(query: &Query) -> Filter {
        let mut filter = Filter { conditions: "true".to_owned(), values: Vec::new() };
        let owner = query.owner.as_ref().map(ToString::to_string);
        for (column, value) in
            [("kind", &query.kind), ("name", &query.stream), ("status", &query.status), ("owner", &owner)]
        {
            value.iter().for_each(|value| filter.add(&format!("s.{column} = ?"), escape(value).into_owned()));
        }
        if let Some(key) = &query.claim {
            filter.add("s.id IN (SELECT stream FROM claims WHERE key = ?)", escape(key).into_owned());
        }
        match query.ended {
            Some(true) => filter.conditions.push_str(" AND s.ended_at IS NOT NULL"),
            Some(false) => filter.conditions.push_str(" AND s.ended_at IS NULL"),
            None => {}
        }
        for (key, value) in &query.tags {
            match value {
                Some(value) => {
                    let tag = [(escape(key).into_owned(), Value::from(escape(value).into_owned()))];
                    filter.add("s.tags @> ?::text::jsonb", Value::Object(tag.into_iter().collect()).to_string());
                }
                None => filter.add("s.tags ? ?", escape(key).into_owned()),
            }
        }
        let number = |time: Millis| i64::try_from(time).unwrap_or(i64::MAX).to_string();
        for (condition, time) in
            [("s.started_at >= ?::text::int8", query.started_from), ("s.started_at <= ?::text::int8", query.started_to)]
        {
            time.iter().for_each(|time| filter.add(condition, number(*time)));
        }
        if let Some((sign, place)) = query.after.as_ref().and_then(|place| Some((beyond(query.order)?, place))) {
            filter.values.push(number(place.started_at));
            let started = filter.values.len();
            let condition = format!("(s.started_at, s.name) {sign} (${started}::text::int8, ?::text)");
            filter.add(&condition, escape(&place.stream).into_owned());
        }
        if let Some(words) = &query.words {
            match text::query(words) {
                Some(wanted) => {
                    filter.add("s.id IN (SELECT stream FROM words WHERE tokens @@ ?::text::tsquery)", wanted);
                }
                None => filter.conditions.push_str(" AND false"),
            }
        }
        filter
    }

    /// Adds a condition; its last question mark stands for the value.
    fn add(&mut self, condition: &str, value: String) {
        self.values.push(value);
        let (before, after) = condition.rsplit_once('?').unwrap_or((condition, ""));
        // Writing to a string does not fail.
        let _written = write!(self.conditions, " AND {before}${}{after}", self.values.len());
    }
}

/// Returns the comparison by which a row comes after another in an order by start.
fn beyond(order: Order) -> Option<&'static str> {
    match order {
        Order::NewestStart => Some("<"),
        Order::OldestStart => Some(">"),
        Order::OldestEnd => None,
    }
}

fn order(order: Order) -> &'static str {
    match order {
        Order::NewestStart => "started_at DESC, name DESC",
        Order::OldestStart => "started_at, name",
        Order::OldestEnd => "ended_at NULLS LAST, name",
    }
}

/// Returns one row; one that differs from what was written is marked.
fn row(found: &tokio_postgres::Row) -> (Arc<str>, Row) {
    let text = |column: usize| unescape(found.get(column));
    let number = |number: i64| u64::try_from(number).unwrap_or_default();
    let row = Row {
        kind: text(2).into(),
        status: text(3).into(),
        owner: Owner::stored(&text(4)),
        started_at: number(found.get(5)),
        ended_at: found.get::<_, Option<i64>>(6).map(number),
        tags: tags(found.get(7)),
        body: String::from_utf8_lossy(found.get(8)).into(),
        words: found.get::<_, Option<&str>>(9).map(|words| unescape(words).into()),
    };
    let name = text(1);
    let append: &[u8] = found.get(11);
    let is_whole = match found.get::<_, Option<&[u8]>>(12) {
        Some(sum) if sum.starts_with(append) => {
            *sum == checked(append, row_checksum(&name, number(found.get(10)), &row))
        }
        // A node of an earlier version wrote it last.
        Some(_) | None => true,
    };
    (name.into(), if is_whole { row } else { row.damaged() })
}

fn tags(stored: &str) -> BTreeMap<String, String> {
    let tags: BTreeMap<String, String> = serde_json::from_str(stored).unwrap_or_default();
    tags.iter().map(|(key, value)| (unescape(key).into_owned(), unescape(value).into_owned())).collect()
}
