//! Requests of clients as such: who sends them, how they are read, and how they fail. Nothing here starts any work.
//!
//! # Layout, in reading order
//! - [`connections`]: the addresses that connections come from, and their number; [`half_closed`]: connections whose
//!   client has stopped sending; [`unread_body`]: bodies that were not read; [`event_stream`]: responses that are streams
//! - [`access`]: the clients that may connect, and their identity; [`oidc`]: tokens of single sign-on; [`refusals`]:
//!   requests that were refused; [`audit`]: the log of changes
//! - [`head`], [`query`], [`response_mode`]: parsing of a request and of the wanted form of the response;
//!   [`body_memory`]: the room for large bodies
//! - [`problem`]: the body of a failed request, with its codes, in the form that its path calls for
//! - [`openai`], [`a2a`]: requests, answers and failures of other protocols, as values

pub mod a2a;
pub mod access;
pub mod audit;
pub mod body_memory;
pub mod connections;
pub mod deep_schemas;
pub mod event_stream;
pub mod half_closed;
pub mod head;
pub mod oidc;
pub mod openai;
pub mod problem;
pub mod query;
pub mod refusals;
pub mod response_mode;
pub mod unread_body;
