//! Executes the effects that `consort-core` decides on.
//!
//! # Layout, in reading order
//! - [`engine`]: the only public handle
//! - `runner`: one run, one owner, one append per decision, with its `permits`
//! - [`effects`]: one model call or tool call, ending in one report; `tenure`: the right
//!   to begin them
//! - [`limits`]: limits on concurrent calls; [`admission`]: limits on active runs, and
//!   their queue; [`suspects`]: runs that were worked on when a process died
//! - [`ring`] and `watcher`: frames rendered once, followed by many; `live_text`: tokens
//!   of models meanwhile; [`feed`]: the frames of all runs together; [`replay`]: stored frames,
//!   read on from time to time
//! - [`links`]: words and hints between nodes; `presence`: who attends a thread on any of them
//! - [`thread_history`]: the earlier turns of a thread, which its next turns continue
//! - [`meters`]: metrics; [`telemetry`]: spans for a collector
//! - [`traces`]: ended runs as files, for reading afterwards
//! - [`workflows`]: task graphs that are saved, version by version
//! - [`start`]: a run of the ensemble or of a saved workflow; [`schedules`]: runs that are
//!   started when they are due; `register`: small values that are stored anew
//! - [`hooks`]: runs that other programs begin
//! - [`webhooks`]: notifications of other programs, stored before they are sent

pub mod admission;
pub mod effects;
pub mod engine;
pub mod feed;
mod files;
pub mod hooks;
pub mod limits;
pub mod links;
mod live_text;
pub mod meters;
mod permits;
mod portion;
mod presence;
mod register;
pub mod replay;
pub mod ring;
mod runner;
pub mod schedules;
pub mod start;
mod storage_health;
pub mod suspects;
pub mod telemetry;
mod tenure;
pub mod thread_history;
mod ticket;
pub mod traces;
mod watcher;
pub mod webhooks;
pub mod workflows;
