//! The line of runs that wait for a slot on any node, and the notes that nodes replace in turn.

use consort_log::Error;
use consort_log::cluster::{AGING_MS, Claimed, Line, Note, Notes, Queued, Waiting};
use futures::future::{BoxFuture, FutureExt};
use tokio_postgres::types::Type;

use super::{ABLE, NOW, PgCluster, TAKE, unsigned};
use crate::connection::Value;
use crate::text::{escape, unescape};

/// The condition of streams in the line.
const IN_LINE: &str = "s.node IS NULL AND s.ended_at IS NULL AND s.priority IS NOT NULL";

/// Returns the order of the line. It depends on nothing that passes: a stream loses places only to more urgent ones
/// that come later.
fn order() -> String {
    format!("s.started_at - {AGING_MS}::int8 * s.priority, s.started_at, s.priority DESC, s.name")
}

impl Line for PgCluster {
    fn queue(&self, waiting: Vec<Waiting>) -> BoxFuture<'_, Result<(), Error>> {
        async move {
            let id = self.me.id().unwrap_or_default();
            let names: Vec<_> = waiting.iter().map(|waiting| escape(&waiting.claimed.stream)).collect();
            let epoch = |waiting: &Waiting| i64::try_from(waiting.claimed.epoch).unwrap_or(i64::MAX);
            let epochs: Vec<i64> = waiting.iter().map(epoch).collect();
            let priorities: Vec<i16> = waiting.iter().map(|waiting| waiting.priority as i16).collect();
            let sql = "UPDATE streams s SET node = NULL, given_up = false, priority = g.priority, epoch = s.epoch + 1
                FROM unnest($2::text[], $3::int8[], $4::int2[]) AS g (name, epoch, priority)
                WHERE s.name = g.name AND s.epoch = g.epoch AND s.node = $1 AND s.ended_at IS NULL";
            let values: [Value<'_>; 4] = [
                (&id, Type::TEXT),
                (&names, Type::TEXT_ARRAY),
                (&epochs, Type::INT8_ARRAY),
                (&priorities, Type::INT2_ARRAY),
            ];
            self.pool.query(sql, &values).await.map(drop)
        }
        .boxed()
    }

    fn next(&self, room: usize) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        let sql = format!(
            "WITH free AS MATERIALIZED (
                SELECT s.id, s.node, s.given_up FROM streams s WHERE {IN_LINE} AND {ABLE}
                ORDER BY {} LIMIT $2 FOR UPDATE OF s SKIP LOCKED)
            {TAKE}",
            order()
        );
        async move {
            let room = i64::try_from(room).unwrap_or(i64::MAX);
            self.taken(&sql, &[(&room, Type::INT8)]).await
        }
        .boxed()
    }

    fn queued<'a>(&'a self, streams: &'a [&'a str]) -> BoxFuture<'a, Result<Queued, Error>> {
        let sql = format!(
            "WITH line AS MATERIALIZED (
                SELECT s.name, row_number() OVER (ORDER BY {}) - 1 AS before FROM streams s WHERE {IN_LINE})
            SELECT (SELECT count(*) FROM line), line.name, line.before
            FROM (SELECT 1) always LEFT JOIN line ON line.name = ANY($1)",
            order()
        );
        async move {
            let names: Vec<_> = streams.iter().map(|stream| escape(stream)).collect();
            let rows = self.pool.query(&sql, &[(&names, Type::TEXT_ARRAY)]).await?;
            let count = |number: i64| usize::try_from(number).unwrap_or_default();
            let place = |stream: &&str| {
                let is_it = |name: Option<&str>| name.is_some_and(|name| unescape(name) == *stream);
                rows.iter().find(|row| is_it(row.get(1))).map(|row| count(row.get(2)))
            };
            let length = rows.first().map_or(0, |row| count(row.get(0)));
            Ok(Queued { length, before: streams.iter().map(place).collect() })
        }
        .boxed()
    }
}

impl Notes for PgCluster {
    fn note<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Note, Error>> {
        let sql = format!(
            "SELECT coalesce(n.version, 0), n.body, {NOW}, ARRAY(SELECT id FROM nodes WHERE evicted_at IS NULL)
            FROM (SELECT $1::text AS name) w LEFT JOIN notes n ON n.name = w.name"
        );
        async move {
            let name = escape(name);
            let rows = self.pool.query(&sql, &[(&&*name, Type::TEXT)]).await?;
            let Some(row) = rows.first() else { return Ok(Note::default()) };
            Ok(Note {
                version: unsigned(row.get(0)),
                text: row.get(1),
                now: unsigned(row.get(2)),
                nodes: row.get::<_, Vec<&str>>(3).into_iter().map(Into::into).collect(),
            })
        }
        .boxed()
    }

    fn replace<'a>(&'a self, name: &'a str, version: u64, text: String) -> BoxFuture<'a, Result<bool, Error>> {
        let sql = "INSERT INTO notes (name, version, body) SELECT $1, $2::int8 + 1, $3 FROM nodes
                WHERE id = $4 AND evicted_at IS NULL
            ON CONFLICT (name) DO UPDATE SET version = excluded.version, body = excluded.body
                WHERE notes.version = $2::int8 RETURNING name";
        async move {
            let id = self.me.id().unwrap_or_default();
            let name = escape(name);
            let version = i64::try_from(version).unwrap_or(i64::MAX);
            let values: [Value<'_>; 4] =
                [(&&*name, Type::TEXT), (&version, Type::INT8), (&text, Type::TEXT), (&id, Type::TEXT)];
            Ok(!self.pool.query_once(sql, &values).await?.is_empty())
        }
        .boxed()
    }
}
