//! Outgoing HTTP requests.
//!
//! # Layout, in reading order
//! - [`client`]: the client for addresses from the configuration
//! - [`outbound`]: the client for addresses from a model or a client
//! - [`headers`]: configured headers, which may be credentials
//! - [`retry_after`]: the delay that a server asks for
//! - [`right`]: whether a request may still be sent
//! - [`sse`]: server-sent events as they arrive
//! - [`tls`]: the certificates that all clients trust
//! - [`trace`]: the trace a request belongs to

mod client;
pub mod headers;
pub mod outbound;
pub mod retry_after;
pub mod right;
pub mod sse;
pub mod tls;
pub mod trace;

pub use client::{client, innermost};
