//! `[cluster]`: the database that several nodes share, and how this one is known among them.

use std::time::Duration;

use consort_log::cluster::{LEASE, LEASE_MIN};

use super::fields::Fields;
use super::models::WEB;
use super::typed::Typed;
use super::values::{Parsed, address, at_least, duration, text};

/// The beginnings of the address of a database.
const DATABASES: [&str; 2] = ["postgres://", "postgresql://"];

/// The name and address of this node, and the database that it shares with others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster {
    /// The shared database; absent for a node that is alone.
    pub shared: Option<Shared>,
    /// The address at which others reach this node; default: that of the server.
    pub address: Option<String>,
    /// The name of this node; default: host name and port.
    pub name: Option<String>,
}

/// The database and the secret that nodes share.
#[derive(Clone, PartialEq)]
pub struct Shared {
    /// The address of the database.
    pub url: String,
    /// The secret by which nodes know each other.
    pub secret: String,
    /// The time after which a node that is not heard of counts as gone.
    pub lease: Duration,
    /// The number of runs that may be active on all nodes together.
    pub max_concurrent_runs: Option<usize>,
}

impl std::fmt::Debug for Shared {
    /// Says nothing that is secret: an address may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("lease", &self.lease).finish_non_exhaustive()
    }
}

/// Reads `[cluster]`.
pub(super) fn read(fields: &mut Fields<'_>) -> Cluster {
    let url = fields.read("url", database);
    let secret = match url {
        Some(_) => fields.need("secret", text),
        None => fields.read("secret", text),
    };
    let lease = fields.read("lease", lease).unwrap_or(LEASE);
    let max_concurrent_runs = fields.read("max_concurrent_runs", at_least(1));
    let shared = url.map(|url| Shared { url, secret: secret.unwrap_or_default(), lease, max_concurrent_runs });
    Cluster { shared, address: fields.read("address", address(WEB)), name: fields.read("name", text) }
}

fn database(value: &Typed) -> Parsed<String> {
    let url = text(value)?;
    // The address itself is not told: it may hold a password.
    if DATABASES.iter().any(|beginning| url.starts_with(beginning)) {
        Ok(url)
    } else {
        Err("must be the address of a PostgreSQL database, `postgres://user@host/database`".to_owned())
    }
}

fn lease(value: &Typed) -> Parsed<Duration> {
    let lease = duration(value)?;
    if lease < LEASE_MIN { Err(format!("must be at least \"{}s\"", LEASE_MIN.as_secs())) } else { Ok(lease) }
}
