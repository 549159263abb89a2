//! Requests to others.
//!
//! # Layout, in reading order
//! - [`client`]: the client for addresses a configuration names
//! - [`outbound`]: the one client for addresses a model or a client names
//! - [`headers`]: headers of a configuration, which may be credentials
//! - [`retry_after`]: when a server wants to be asked again
//! - [`trace`]: the trace a request belongs to

mod client;
pub mod headers;
pub mod outbound;
pub mod retry_after;
pub mod trace;

pub use client::client;
