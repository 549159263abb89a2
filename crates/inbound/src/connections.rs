//! Connections and the addresses they come from. Those that have not had an authorised
//! request yet are counted per address and limited, so that a client that opens many and
//! says nothing leaves room for all others.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::HeaderMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections at once, streams and sockets included; more wait until one has ended.
const CONNECTIONS_MAX: usize = 16_384;
/// Connections of one address that have not had an authorised request yet: more than the
/// people behind one router open at once, and a sixteenth of all there can be.
const UNAUTHORISED_MAX: usize = 1024;
/// The header in which a proxy names the client.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Addresses of it that are read, from its end: more proxies than stand in a row anywhere.
const FORWARDED_MAX: usize = 32;

/// All connections of a server.
pub struct Connections {
    trusted_proxies: Vec<IpAddr>,
    room: Arc<Semaphore>,
    /// The connections of each address that have not had an authorised request yet. An
    /// address is in it as long as it has one, so there are never more than connections.
    unauthorised: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection; every request on it carries it.
pub struct Connection {
    address: IpAddr,
    /// Whether it counts as one without an authorised request.
    is_counted: AtomicBool,
    connections: Arc<Connections>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Connections {
    /// Returns no connections; these proxies are believed when they name a client.
    pub fn new(trusted_proxies: &[IpAddr]) -> Arc<Connections> {
        Arc::new(Connections {
            trusted_proxies: trusted_proxies.iter().map(IpAddr::to_canonical).collect(),
            room: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            unauthorised: Mutex::default(),
        })
    }

    /// Waits for room for one more connection.
    pub async fn place(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed, so a permit is always granted in the end.
        self.room.clone().acquire_owned().await.ok()
    }

    /// Returns a connection from this address, unless it has too many already.
    pub fn open(self: &Arc<Self>, from: SocketAddr, place: Option<OwnedSemaphorePermit>) -> Option<Connection> {
        let address = from.ip().to_canonical();
        // All clients of a proxy come from its address: one of them must not shut out the others.
        let is_counted = !self.trusts(address);
        if is_counted {
            let mut unauthorised = self.unauthorised();
            let count = unauthorised.entry(network(address)).or_default();
            if *count >= UNAUTHORISED_MAX {
                return None;
            }
            *count += 1;
        }
        let is_counted = AtomicBool::new(is_counted);
        Some(Connection { address, is_counted, connections: self.clone(), _place: place })
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.trusted_proxies.contains(&address)
    }

    fn unauthorised(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.unauthorised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Stops counting it, because a request on it was authorised.
    pub fn authorise(&self) {
        if !self.is_counted.swap(false, Ordering::Relaxed) {
            return;
        }
        let mut unauthorised = self.connections.unauthorised();
        let network = network(self.address);
        if let Some(count) = unauthorised.get_mut(&network) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                unauthorised.remove(&network);
            }
        }
    }

    /// Returns the address of the client that sent a request: the connection's own, or the
    /// one that a trusted proxy names. Of several it is the last that is no trusted proxy,
    /// because everything before it may be the client's invention.
    pub fn client(&self, headers: &HeaderMap) -> IpAddr {
        let mut client = self.address;
        let values: Vec<&str> = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok()).collect();
        let mut named = values.iter().rev().flat_map(|value| value.rsplit(',')).take(FORWARDED_MAX);
        while self.connections.trusts(client) {
            let Some(before) = named.next().and_then(parse) else { break };
            client = before;
        }
        client
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.authorise();
    }
}

/// Returns the part of an address that belongs to one client: of IPv6, clients have the
/// last 64 bits to themselves.
pub fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(all) => Ipv6Addr::from_bits(all.to_bits() >> 64 << 64).into(),
    }
}

/// Reads one address of `X-Forwarded-For`, with or without a port.
fn parse(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = || text.trim_start_matches('[').trim_end_matches(']').parse().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    bare().or_else(with_port).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(connections: &Arc<Connections>, address: &str) -> Option<Connection> {
        connections.open(SocketAddr::new(address.parse().unwrap(), 1), None)
    }

    #[test]
    fn an_address_has_so_many_connections_without_an_authorised_request_and_no_more() {
        let connections = Connections::new(&["10.0.0.1".parse().unwrap()]);
        let mut held: Vec<Connection> =
            (0..UNAUTHORISED_MAX).map(|_| open(&connections, "10.0.0.7").unwrap()).collect();
        assert!(open(&connections, "10.0.0.7").is_none());
        assert!(open(&connections, "::ffff:10.0.0.7").is_none(), "the same address, written otherwise");
        assert!(open(&connections, "10.0.0.8").is_some());
        held[0].authorise();
        held[0].authorise();
        held.push(open(&connections, "10.0.0.7").expect("an authorised one does not count"));
        assert!(open(&connections, "10.0.0.7").is_none());
        drop(held.pop());
        assert!(open(&connections, "10.0.0.7").is_some());
        drop(held);
        assert!(connections.unauthorised().is_empty(), "addresses that are gone are forgotten");
        let proxied: Vec<_> = (0..2 * UNAUTHORISED_MAX).map(|_| open(&connections, "10.0.0.1")).collect();
        assert!(proxied.iter().all(Option::is_some), "a trusted proxy has many clients");
    }

    #[test]
    fn clients_of_one_network_of_ipv6_count_together() {
        let connections = Connections::new(&[]);
        let held: Vec<_> = (0..UNAUTHORISED_MAX).map(|at| open(&connections, &format!("2001:db8::{at:x}"))).collect();
        assert!(held.iter().all(Option::is_some) && open(&connections, "2001:db8::ffff:1").is_none());
        assert!(open(&connections, "2001:db8:0:1::1").is_some());
    }

    #[test]
    fn only_a_trusted_proxy_names_the_client() {
        let connections = Connections::new(&["10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()]);
        let client = |from: &str, headers: &[&str]| {
            let headers = headers.iter().map(|value| (FORWARDED_FOR.parse().unwrap(), value.parse().unwrap()));
            open(&connections, from).unwrap().client(&headers.collect()).to_string()
        };
        for (from, headers, expected) in [
            ("10.0.0.9", &["1.2.3.4"][..], "10.0.0.9"),
            ("10.0.0.1", &["1.2.3.4"], "1.2.3.4"),
            ("10.0.0.1", &["6.6.6.6, 1.2.3.4"], "1.2.3.4"),
            ("10.0.0.1", &["6.6.6.6", "1.2.3.4, 10.0.0.2"], "1.2.3.4"),
            ("10.0.0.1", &["1.2.3.4:5678"], "1.2.3.4"),
            ("10.0.0.1", &["[2001:db8::1]:5678"], "2001:db8::1"),
            ("10.0.0.1", &["2001:db8::1"], "2001:db8::1"),
            ("10.0.0.1", &["1.2.3.4, nonsense"], "10.0.0.1"),
            ("10.0.0.1", &["nonsense, 10.0.0.2"], "10.0.0.2"),
            ("10.0.0.1", &[], "10.0.0.1"),
        ] {
            assert_eq!(client(from, headers), expected, "{from} {headers:?}");
        }
    }
}
