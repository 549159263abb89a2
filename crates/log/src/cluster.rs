//! The nodes that share a log: the members ([`Membership`]), the owners of streams ([`Ownership`]), the
//! time for which a node may act ([`Lease`]), and what else they share ([`Common`]). [`Alone`] is the
//! implementation for logs that only one process uses. Nothing here stores events: a stale owner is stopped by
//! the epochs of its appends.

mod alone;
mod common;
mod lease;

use std::sync::Arc;
use std::time::Duration;

use consort_core::id::Millis;
use futures::future::BoxFuture;
use sha2::{Digest, Sha256};

pub use alone::Alone;
pub use common::{AGING_MS, Common, Line, Note, Notes, Queued, Waiting};
pub use lease::{Evicted, Keeper, Lease, Moment, Term};

use super::{Error, Log};

/// The shortest lease: with a shorter one a busy machine would be taken for a dead one.
pub const LEASE_MIN: Duration = Duration::from_secs(1);
/// The bytes of a digest: enough that no two meanings have the same one by chance.
const DIGEST_BYTES: usize = 16;
/// The default lease.
pub const LEASE: Duration = Duration::from_secs(5);

/// The description that a node gives of itself when it joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name that people know it by; several nodes may have the same one.
    pub name: String,
    /// The address at which other nodes and people reach it.
    pub address: String,
    /// The version of the program.
    pub version: String,
    /// A digest of the models, tools and tasks it is configured with. Nodes with equal digests take
    /// over each other's runs at once.
    pub config: String,
    /// The time after which it counts as gone when it is not heard of; at least [`LEASE_MIN`].
    pub lease: Duration,
}

/// A node as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its id, new at each start and after each eviction.
    pub id: Arc<str>,
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
    /// The version of its program.
    pub version: String,
    /// The end of its lease; absent where there is only one node.
    pub lease_until: Option<Millis>,
    /// Whether it is about to stop and begins nothing new.
    pub draining: bool,
    /// The number of unfinished streams of kind `run` that it owns.
    pub runs: usize,
}

/// A log that nodes share, as one of them has joined it.
#[derive(Clone)]
pub struct Joined {
    /// The log.
    pub log: Arc<dyn Log>,
    /// The nodes.
    pub cluster: Arc<dyn Cluster>,
    /// The name of this node.
    pub name: String,
    /// The number of runs that may be active on all nodes together; unlimited when absent.
    pub max_concurrent_runs: Option<usize>,
    /// The secret by which nodes know each other, for links between them.
    pub secret: Option<String>,
}

/// The reason why a node cannot join.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// The address, or a setting of the database, must be changed first.
    #[error("{0}")]
    Refused(String),
    /// The database was not reached in time.
    #[error("{0}")]
    Unreachable(String),
}

/// A stream that this node owns from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The name of the stream.
    pub stream: Arc<str>,
    /// The epoch of this owner: greater than that of every append before it, and already stored, so
    /// that a previous owner is refused from this moment on. 0 where no other node can write: then the
    /// epoch after the last one in the stream's events is meant.
    pub epoch: u64,
    /// The reason why the stream had no owner.
    pub reason: Vacancy,
}

/// The reason why a stream had no owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacancy {
    /// No node has owned it yet, or none is known to have.
    Unowned,
    /// Its owner was evicted.
    Evicted,
    /// Its owner gave it up.
    GivenUp,
}

/// Returns a short text that is the same for the same meaning, for [`Identity::config`].
pub fn digest(meaning: &str) -> String {
    Sha256::digest(meaning.as_bytes()).iter().take(DIGEST_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// This node among the others.
///
/// An implementation joins when it is made, before it is handed out, and then beats by itself: every
/// quarter of the lease it extends its row in the store, and it counts its lease from the moment
/// *before* it sent the beat. A beat that finds its node evicted ends the [`Term`]: the node takes a new
/// id, joins again and begins the next term.
///
/// Any node evicts another whose lease has passed by the *store's* clock, but only if it has itself been
/// in touch with the store for a whole lease without a gap. So an outage of the store evicts nobody.
pub trait Membership: Send + Sync + 'static {
    /// Returns the lease of this node. Cheap: no store is asked.
    fn lease(&self) -> Lease;

    /// Returns the id of this node in the present term, as [`Membership::nodes`] has it.
    fn id(&self) -> Arc<str>;

    /// Returns the nodes that are not evicted, this one included, by name and then by id.
    fn nodes(&self) -> BoxFuture<'_, Result<Vec<Node>, Error>>;

    /// Marks this node as about to stop: others see it, and [`Ownership::claim`] gives it nothing any more.
    fn drain(&self) -> BoxFuture<'_, Result<(), Error>>;

    /// Returns whether this node has a duty, something that one node does for all of them. It takes the duty when
    /// nobody has it or the holder's time has passed, and then has it for one lease from now by the
    /// store's clock; a holder that asks again keeps it for another lease. At most one node has a
    /// duty at any time, but one that was paused may go on believing so: what is done under a duty must
    /// bear being done twice.
    fn duty(&self, name: &str) -> BoxFuture<'_, Result<bool, Error>>;
}

/// The ownership of streams: claims those of this node, and gives them up.
///
/// A stream's owner is stored beside its epoch. Who writes says who owns: **an append with an epoch above
/// 0 makes the node that writes it the stream's owner** (refused as ever when the stream has seen a greater
/// epoch), and one with epoch 0 leaves the owner as it is, absent for a new stream. So a new run is owned
/// by the node that accepted it from its first append on, in that same statement, and threads, answers and
/// other streams that many write never have an owner.
///
/// A stream that has ended (its row has an end time) needs no owner and is never claimed.
pub trait Ownership: Send + Sync + 'static {
    /// Takes at most `room` streams of these kinds that have not ended, are not in the [`Line`], and whose owner is
    /// absent or evicted, the oldest start first; makes this node their owner and raises their epoch by one, in one
    /// step that is stored before this returns. Streams that another node is taking at the same moment
    /// are passed over, not waited for. Streams of an evicted owner whose [`Identity::config`] differs
    /// from this node's are passed over during the first 60 s after the eviction. Streams of its own
    /// are not returned again. Returns nothing when this node drains or its lease is not current. After an
    /// error streams may have been taken; [`Ownership::mine`] tells.
    fn claim<'a>(&'a self, kinds: &'a [&'a str], room: usize) -> BoxFuture<'a, Result<Vec<Claimed>, Error>>;

    /// Takes one stream by name, under the same conditions but whatever the configuration of its last
    /// owner; `None` when it has an owner that is not evicted (this node included), has ended or is not
    /// there.
    fn take<'a>(&'a self, stream: &'a str) -> BoxFuture<'a, Result<Option<Claimed>, Error>>;

    /// Returns the streams of these kinds that this node owns and that have not ended, with the epochs they
    /// have, which are not changed. So an answer of [`Ownership::claim`] that was lost loses no run.
    fn mine<'a>(&'a self, kinds: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Claimed>, Error>>;

    /// Gives up streams that this node owns: their owner becomes absent and their epoch rises by one, so
    /// that this node can write to them no more. Streams whose epoch is not the one in `claimed`, because
    /// others own them by now, and those that have ended, are left alone.
    fn give_up(&self, claimed: Vec<Claimed>) -> BoxFuture<'_, Result<(), Error>>;
}

/// Everything that an engine needs to share its log with others.
pub trait Cluster: Membership + Ownership {
    /// Returns what the nodes have in common; nothing for a node that is alone.
    fn common(&self) -> Option<&dyn Common>;

    /// Returns the lowest version of records that one of the nodes reads, as of the last beat: everything of that
    /// version can be taken over by any of them. Cheap: no store is asked.
    fn version(&self) -> u32;
}
