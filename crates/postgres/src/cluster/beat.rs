//! The beats of a node: each extends its lease, and looks for nodes whose lease has passed. A node that
//! finds itself evicted joins again under a new id. Only a node that was in touch for a whole lease evicts others, so
//! that an outage of the database evicts nobody: everybody beats again first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use consort_log::Error;
use consort_log::cluster::{Identity, Keeper, LEASE_MIN, Lease, Moment};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_postgres::Client;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::connection::{Connector, Failure, Value, WAIT_MAX, bounded};

/// The database's time in milliseconds.
pub(crate) const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::int8";
/// The beats of one lease.
const BEATS: u32 = 4;
/// The time in milliseconds for which the row of an evicted node is kept, as long as none of its streams is left.
const KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// The place of this process among the nodes: none until it joins.
#[derive(Default)]
pub(crate) struct Me(Mutex<State>);

#[derive(Default)]
struct State {
    id: Option<Arc<str>>,
    draining: bool,
    /// The lowest version of records that one of the nodes reads.
    version: u32,
}

impl Me {
    /// Returns the id of the node.
    pub(crate) fn id(&self) -> Option<String> {
        self.state().id.as_ref().map(ToString::to_string)
    }

    pub(super) fn is_draining(&self) -> bool {
        self.state().draining
    }

    pub(super) fn drain(&self) {
        self.state().draining = true;
    }

    pub(super) fn version(&self) -> u32 {
        self.state().version
    }

    fn become_node(&self, id: &str) {
        self.state().id = Some(id.into());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task that beats, on a connection of its own.
pub(super) struct Beats {
    connector: Connector,
    client: Option<Client>,
    me: Arc<Me>,
    identity: Identity,
    keeper: Keeper,
    /// The first of the beats that came through one after the other.
    since: Option<Instant>,
    /// The last beat that came through.
    last: Moment,
}

impl Beats {
    /// Joins; returns the task that goes on from there, and the lease.
    pub(super) async fn begin(connector: Connector, me: Arc<Me>, identity: Identity) -> Result<(Beats, Lease), Error> {
        let identity = Identity { lease: identity.lease.max(LEASE_MIN), ..identity };
        let sent = Moment::now();
        let client = connector.connect_within(WAIT_MAX).await?;
        insert(&client, &me, &identity).await?;
        agree(&client, &me).await?;
        let (keeper, lease) = Keeper::new(sent.after(identity.lease));
        Ok((
            Beats { connector, client: Some(client), me, identity, keeper, since: Some(Instant::now()), last: sent },
            lease,
        ))
    }

    pub(super) async fn run(mut self) {
        let interval = self.identity.lease / BEATS;
        loop {
            let begun = Instant::now();
            match timeout(self.identity.lease, self.beat()).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => self.lose(&error.to_string()),
                Err(_elapsed) => {
                    self.lose("the database does not answer");
                    // The lease is over: nothing that was sent before is worth waiting for.
                    self.connector.hang_up();
                }
            }
            // After a failure sooner, because the lease runs out meanwhile.
            let pause = if self.client.is_some() { interval } else { interval / BEATS };
            sleep_until(begun + pause).await;
        }
    }

    fn lose(&mut self, reason: &str) {
        if self.since.take().is_some() {
            tracing::warn!(reason, "this node is out of touch with the database");
        }
        self.client = None;
    }

    async fn beat(&mut self) -> Result<(), Error> {
        let lease = self.identity.lease;
        if self.client.is_none() {
            self.client = Some(self.connector.connect_within(lease / BEATS).await?);
        }
        let Some(client) = &self.client else { return Ok(()) };
        // Counted from before it is sent: here it ends before anybody else can believe that it has.
        let sent = Moment::now();
        // A machine that was suspended has not been in touch.
        if self.last.elapsed() > lease {
            self.since = None;
        }
        if extend(client, &self.me, lease).await? {
            self.keeper.extend(sent.after(lease));
        } else {
            tracing::warn!("this node was taken for dead: it drops its runs and joins again");
            insert(client, &self.me, &self.identity).await?;
            self.keeper.rejoined(sent.after(lease));
            self.since = None;
        }
        agree(client, &self.me).await?;
        self.last = sent;
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() >= lease {
            evict(client, &self.me).await?;
        }
        Ok(())
    }
}

/// Stores this process as a new node.
async fn insert(client: &Client, me: &Me, identity: &Identity) -> Result<(), Failure> {
    let id = Uuid::now_v7().to_string();
    let Identity { name, address, version, config, lease } = identity;
    let lease = milliseconds(*lease);
    let draining = me.is_draining();
    let schema = i32::try_from(consort_log::VERSION).unwrap_or(i32::MAX);
    let sql = format!(
        "INSERT INTO nodes (id, name, address, version, schema, config, lease, lease_until, draining)
        VALUES ($1, $2, $3, $4, $5, $6, $7, {NOW} + $7, $8)"
    );
    let parameters: [Value<'_>; 8] = [
        (&id, Type::TEXT),
        (name, Type::TEXT),
        (address, Type::TEXT),
        (version, Type::TEXT),
        (&schema, Type::INT4),
        (config, Type::TEXT),
        (&lease, Type::INT8),
        (&draining, Type::BOOL),
    ];
    bounded(client.execute_typed(&sql, &parameters)).await?;
    me.become_node(&id);
    Ok(())
}

/// Extends the lease; false when the node was evicted.
async fn extend(client: &Client, me: &Me, lease: Duration) -> Result<bool, Failure> {
    let id = me.id().unwrap_or_default();
    let sql = format!("UPDATE nodes SET lease_until = {NOW} + $2 WHERE id = $1 AND evicted_at IS NULL");
    let parameters: [Value<'_>; 2] = [(&id, Type::TEXT), (&milliseconds(lease), Type::INT8)];
    Ok(bounded(client.execute_typed(&sql, &parameters)).await? > 0)
}

/// Notes the lowest version of records that one of the nodes reads. It is stored before anything of it is written,
/// so that no program that cannot read it is started any more.
async fn agree(client: &Client, me: &Me) -> Result<(), Failure> {
    let sql = "SELECT coalesce(min(n.schema), 0), (SELECT schema FROM meta) FROM nodes n WHERE n.evicted_at IS NULL";
    let row = bounded(client.query_typed_one(sql, &[])).await?;
    let lowest: i32 = row.get(0);
    if row.get::<_, i32>(1) < lowest {
        let sql = "UPDATE meta SET schema = greatest(schema, $1)";
        bounded(client.execute_typed(sql, &[(&lowest, Type::INT4)])).await?;
    }
    me.state().version = u32::try_from(lowest).unwrap_or_default();
    Ok(())
}

/// Evicts the nodes whose lease has passed, and forgets those that were evicted long ago.
async fn evict(client: &Client, me: &Me) -> Result<(), Failure> {
    let id = me.id().unwrap_or_default();
    let sql = format!(
        "UPDATE nodes SET evicted_at = {NOW} WHERE evicted_at IS NULL AND lease_until < {NOW} AND id <> $1 RETURNING name"
    );
    let rows = bounded(client.query_typed(&sql, &[(&id, Type::TEXT)])).await?;
    for row in &rows {
        tracing::warn!(node = row.get::<_, &str>(0), "a node is not heard of any more: others go on with its runs");
    }
    if !rows.is_empty() {
        let sql = format!(
            "DELETE FROM nodes n WHERE n.evicted_at < {NOW} - {KEPT_MS}
            AND NOT EXISTS (SELECT FROM streams s WHERE s.node = n.id AND s.ended_at IS NULL)"
        );
        bounded(client.execute_typed(&sql, &[])).await?;
    }
    Ok(())
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
