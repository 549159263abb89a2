//! One test binary, through the front door: real sockets, scripted model.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on stops"
)]
#![allow(clippy::wildcard_enum_match_arm, reason = "tests look for one thing among many")]

mod agents;
mod asked;
mod chaos;
mod chats;
mod cluster;
mod crash;
mod embedding;
mod examples;
mod laws;
mod mcp;
mod poison;
mod remote;
mod serving;
mod smoke;
mod steering;
mod storage;
mod support;
mod watching;
