//! The nodes that share a database, and whose runs are whose. A node is a row that it keeps alive by
//! beats; a stream's owner is beside its epoch. All times are the database's own.

mod beat;
mod common;

use std::sync::Arc;

use consort_log::Error;
use consort_log::cluster::{
    Claimed, Cluster, Common, Identity, JoinError, Joined, Lease, Membership, Node, Ownership, Vacancy,
};
use futures::future::{BoxFuture, FutureExt};
use tokio::task::AbortHandle;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Pool, Value};
use crate::text::{escape, unescape};
use crate::{OpenError, PgLog};

use self::beat::Beats;
pub(crate) use self::beat::{Me, NOW};

/// The time in milliseconds after an eviction during which nodes with other configurations leave its runs alone.
const PREFERENCE_MS: i64 = 60_000;
/// The condition of streams that may be taken: nobody owns them, or somebody who was evicted.
const FREE: &str =
    "s.ended_at IS NULL AND (s.node IS NULL OR s.node IN (SELECT id FROM nodes WHERE evicted_at IS NOT NULL))";
/// The condition of the node that takes, whose id is `$1`: it must be alive itself, and able to read what was written.
const ABLE: &str = "s.schema <= (SELECT schema FROM nodes WHERE id = $1 AND evicted_at IS NULL AND NOT draining)";
/// The end of a statement that takes what it has found and locked.
const TAKE: &str =
    "UPDATE streams s SET node = $1, epoch = s.epoch + 1, given_up = false, priority = NULL FROM free WHERE s.id = free.id
    RETURNING s.name, s.epoch, free.node IS NOT NULL, free.given_up";

/// A node of a cluster.
pub struct PgCluster {
    pool: Arc<Pool>,
    me: Arc<Me>,
    lease: Lease,
    beats: AbortHandle,
}

/// Opens a database, and joins the nodes that share it.
pub async fn join(address: &str, identity: Identity) -> Result<Joined, JoinError> {
    let refuse = |error: OpenError| match error {
        OpenError::Refused(reason) => JoinError::Refused(reason),
        away @ OpenError::Away(_) => JoinError::Unreachable(away.to_string()),
    };
    let away = |error: Error| JoinError::Unreachable(error.to_string());
    let log = PgLog::open(address).await.map_err(refuse)?;
    if let Some(to) = log.moved().await.map_err(away)? {
        return Err(JoinError::Refused(format!("the content of {} was moved to {to}", log.place())));
    }
    let name = identity.name.clone();
    let cluster = PgCluster::join(&log, identity).await.map_err(away)?;
    Ok(Joined { log: Arc::new(log), cluster: Arc::new(cluster), name, max_concurrent_runs: None, secret: None })
}

impl PgCluster {
    /// Makes a process one of the nodes over this log, and beats for it until the cluster is dropped.
    pub async fn join(log: &PgLog, identity: Identity) -> Result<PgCluster, Error> {
        let me = log.me.clone();
        let (beats, lease) = Beats::begin(log.connector.clone(), me.clone(), identity).await?;
        let beats = tokio::spawn(beats.run()).abort_handle();
        Ok(PgCluster { pool: log.readers.clone(), me, lease, beats })
    }

    /// Takes the streams that a statement finds, once: what it took is not known when its answer is lost.
    async fn taken(&self, sql: &str, more: &[Value<'_>]) -> Result<Vec<Claimed>, Error> {
        if self.me.is_draining() || !self.lease.is_current(self.lease.term()) {
            return Ok(Vec::new());
        }
        let id = self.me.id().unwrap_or_default();
        let mut values: Vec<Value<'_>> = vec![(&id, Type::TEXT)];
        values.extend(more.iter().cloned());
        Ok(self.pool.query_once(sql, &values).await?.iter().map(claimed).collect())
    }
}

impl Drop for PgCluster {
    fn drop(&mut self) {
        self.beats.abort();
    }
}

fn claimed(row: &Row) -> Claimed {
    let reason = match (row.get(2), row.get(3)) {
        (true, _) => Vacancy::Evicted,
        (false, true) => Vacancy::GivenUp,
        (false, false) => Vacancy::Unowned,
    };
    Claimed { stream: unescape(row.get(0)).into(), epoch: unsigned(row.get(1)), reason }
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

impl Cluster for PgCluster {
    fn common(&self) -> Option<&dyn Common> {
        Some(self)
    }

    fn version(&self) -> u32 {
        self.me.version()
    }
}

impl Membership for PgCluster {
    fn lease(&self) -> Lease {
        self.lease.clone()
    }

    fn id(&self) -> Arc<str> {
        self.me.id().unwrap_or_default().into()
    }

    fn nodes(&self) -> BoxFuture<'_, Result<Vec<Node>, Error>> {
        let sql =
            "SELECT n.id, n.name, n.address, n.version, n.lease_until, n.draining, (SELECT count(*) FROM streams s
                WHERE s.node = n.id AND s.ended_at IS NULL AND s.kind = 'run')
            FROM nodes n WHERE n.evicted_at IS NULL ORDER BY n.name, n.id";
        let node = |row: &Row| Node {
            id: row.get::<_, &str>(0).into(),
            name: row.get(1),
            address: row.get(2),
            version: row.get(3),
            lease_until: Some(unsigned(row.get(4))),
            draining: row.get(5),
            runs: usize::try_from(row.get::<_, i64>(6)).unwrap_or_default(),
        };
        async move { Ok(self.pool.query(sql, &[]).await?.iter().map(node).collect()) }.boxed()
    }

    fn drain(&self) -> BoxFuture<'_, Result<(), Error>> {
        async move {
            // A node that joins again goes on draining.
            self.me.drain();
            let id = self.me.id().unwrap_or_default();
            let sql = "UPDATE nodes SET draining = true WHERE id = $1";
            self.pool.query(sql, &[(&id, Type::TEXT)]).await.map(drop)
        }
        .boxed()
    }

    fn duty(&self, name: &str) -> BoxFuture<'_, Result<bool, Error>> {
        let name = name.to_owned();
        async move {
            if self.me.is_draining() || !self.lease.is_current(self.lease.term()) {
                return Ok(false);
            }
            let id = self.me.id().unwrap_or_default();
            let sql = format!(
                "INSERT INTO duties (name, node, until) SELECT $1, id, {NOW} + lease FROM nodes
                    WHERE id = $2 AND evicted_at IS NULL
                ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = excluded.until
                    WHERE duties.node = excluded.node OR duties.until < {NOW} RETURNING name"
            );
            let values: [Value<'_>; 2] = [(&name, Type::TEXT), (&id, Type::TEXT)];
            Ok(!self.pool.query(&sql, &values).await?.is_empty())
        }
        .boxed()
    }
}

impl Ownership for PgCluster {
    fn claim<'a>(&'a self, kinds: &'a [&'a str], room: usize) -> BoxFuture<'a, Result<Vec<Claimed>, Error>> {
        // The first minute after an eviction belongs to nodes that are configured as the evicted one was.
        let sql = format!(
            "WITH free AS MATERIALIZED (
                SELECT s.id, s.node, s.given_up FROM streams s WHERE {FREE} AND {ABLE} AND s.priority IS NULL AND s.kind = ANY($2)
                    AND (s.node IS NULL OR s.node IN (SELECT id FROM nodes WHERE evicted_at < {NOW} - {PREFERENCE_MS}
                        OR config = (SELECT config FROM nodes WHERE id = $1)))
                ORDER BY s.started_at, s.name LIMIT $3 FOR UPDATE OF s SKIP LOCKED)
            {TAKE}"
        );
        async move {
            let room = i64::try_from(room).unwrap_or(i64::MAX);
            let kinds: Vec<_> = kinds.iter().map(|kind| escape(kind)).collect();
            self.taken(&sql, &[(&kinds, Type::TEXT_ARRAY), (&room, Type::INT8)]).await
        }
        .boxed()
    }

    fn take<'a>(&'a self, stream: &'a str) -> BoxFuture<'a, Result<Option<Claimed>, Error>> {
        let sql = format!(
            "WITH free AS MATERIALIZED (SELECT s.id, s.node, s.given_up FROM streams s
                WHERE s.name = $2 AND {FREE} AND {ABLE} FOR UPDATE OF s)
            {TAKE}"
        );
        async move {
            let name = escape(stream);
            Ok(self.taken(&sql, &[(&&*name, Type::TEXT)]).await?.pop())
        }
        .boxed()
    }

    fn mine<'a>(&'a self, kinds: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Claimed>, Error>> {
        async move {
            let id = self.me.id().unwrap_or_default();
            let kinds: Vec<_> = kinds.iter().map(|kind| escape(kind)).collect();
            let sql =
                "SELECT name, epoch, false, false FROM streams WHERE node = $1 AND ended_at IS NULL AND kind = ANY($2)
                ORDER BY started_at, name";
            let values: [Value<'_>; 2] = [(&id, Type::TEXT), (&kinds, Type::TEXT_ARRAY)];
            Ok(self.pool.query(sql, &values).await?.iter().map(claimed).collect())
        }
        .boxed()
    }

    fn give_up(&self, given: Vec<Claimed>) -> BoxFuture<'_, Result<(), Error>> {
        async move {
            let id = self.me.id().unwrap_or_default();
            let names: Vec<_> = given.iter().map(|claimed| escape(&claimed.stream)).collect();
            let epochs: Vec<i64> =
                given.iter().map(|claimed| i64::try_from(claimed.epoch).unwrap_or(i64::MAX)).collect();
            let sql = "UPDATE streams s SET node = NULL, given_up = true, epoch = s.epoch + 1
                FROM unnest($2::text[], $3::int8[]) AS g (name, epoch)
                WHERE s.name = g.name AND s.epoch = g.epoch AND s.node = $1 AND s.ended_at IS NULL";
            let values: [Value<'_>; 3] = [(&id, Type::TEXT), (&names, Type::TEXT_ARRAY), (&epochs, Type::INT8_ARRAY)];
            self.pool.query(sql, &values).await.map(drop)
        }
        .boxed()
    }
}
