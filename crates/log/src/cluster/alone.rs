//! The only node over its log: every run is its own, every duty too, and its lease never ends.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt, ready};

use super::{Claimed, Cluster, Common, Identity, Lease, Membership, Node, Ownership, Vacancy};
use crate::{Error, Log, Order, Query, VERSION};

/// Streams listed at once.
const PAGE: usize = 1_000;

/// One process with a log of its own.
#[derive(Clone)]
pub struct Alone {
    log: Arc<dyn Log>,
    lease: Lease,
    node: Node,
}

impl Alone {
    /// Creates the only user of this log, without a name.
    pub fn new(log: Arc<dyn Log>) -> Alone {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let name = String::new();
        let address = String::new();
        let node = Node { id: Arc::default(), name, address, version, lease_until: None, draining: false, runs: 0 };
        Alone { log, lease: Lease::forever(), node }
    }

    /// Creates the only user of this log, under a name.
    #[must_use]
    pub fn known_as(mut self, Identity { name, address, version, .. }: Identity) -> Alone {
        self.node = Node { name, address, version, ..self.node };
        self
    }

    async fn unfinished(&self, kind: &str, room: usize) -> Result<Vec<Claimed>, Error> {
        let mut claimed = Vec::new();
        while claimed.len() < room {
            let limit = PAGE.min(room - claimed.len());
            let kind = Some(kind.to_owned());
            let offset = claimed.len();
            let query =
                Query { kind, ended: Some(false), order: Order::OldestStart, offset, limit, ..Query::default() };
            let rows = self.log.list(query).await?.rows;
            let is_last = rows.len() < limit;
            claimed.extend(rows.into_iter().map(|(stream, _)| mine(stream)));
            if is_last {
                break;
            }
        }
        Ok(claimed)
    }
}

fn mine(stream: Arc<str>) -> Claimed {
    Claimed { stream, epoch: 0, reason: Vacancy::Unowned }
}

impl Cluster for Alone {
    fn common(&self) -> Option<&dyn Common> {
        None
    }

    fn version(&self) -> u32 {
        VERSION
    }
}

impl Membership for Alone {
    fn lease(&self) -> Lease {
        self.lease.clone()
    }

    fn id(&self) -> Arc<str> {
        self.node.id.clone()
    }

    /// Returns itself; the engine knows its runs.
    fn nodes(&self) -> BoxFuture<'_, Result<Vec<Node>, Error>> {
        ready(Ok(vec![self.node.clone()])).boxed()
    }

    fn drain(&self) -> BoxFuture<'_, Result<(), Error>> {
        ready(Ok(())).boxed()
    }

    fn duty(&self, _name: &str) -> BoxFuture<'_, Result<bool, Error>> {
        ready(Ok(true)).boxed()
    }
}

impl Ownership for Alone {
    /// Returns every stream that has not ended, on each call: the engine knows which of them it owns already.
    fn claim<'a>(&'a self, kinds: &'a [&'a str], room: usize) -> BoxFuture<'a, Result<Vec<Claimed>, Error>> {
        async move {
            let mut claimed = Vec::new();
            for kind in kinds {
                claimed.extend(self.unfinished(kind, room - claimed.len()).await?);
            }
            Ok(claimed)
        }
        .boxed()
    }

    /// Returns nothing: no answer is lost within a process.
    fn mine<'a>(&'a self, _kinds: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Claimed>, Error>> {
        ready(Ok(Vec::new())).boxed()
    }

    fn take<'a>(&'a self, stream: &'a str) -> BoxFuture<'a, Result<Option<Claimed>, Error>> {
        ready(Ok(Some(mine(stream.into())))).boxed()
    }

    fn give_up(&self, _claimed: Vec<Claimed>) -> BoxFuture<'_, Result<(), Error>> {
        ready(Ok(())).boxed()
    }
}
