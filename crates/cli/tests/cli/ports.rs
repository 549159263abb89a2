//! Ports for servers that are started again at the same address, and for addresses that nobody listens at. The system
//! gives none of them to connections or to those who ask for any port, so nobody takes one while it is free.

use std::net::TcpListener;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// The ports, below those that the system gives away.
const PORTS: Range<u16> = 20_000..30_000;
/// The distance between the first ports of two processes that run tests.
const STRIDE: u32 = 173;

static GIVEN: AtomicU32 = AtomicU32::new(0);

/// Returns a port that nobody listens at, another one each time.
pub(crate) fn free() -> u16 {
    let number = || std::process::id().wrapping_mul(STRIDE).wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
    let port = || PORTS.start + (number() % u32::from(PORTS.end - PORTS.start)) as u16;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(port).take(PORTS.len()).find(is_free).expect("a port is free")
}
