//! Executes the effects that `consort-core` decides on.
//!
//! # Layout, in reading order
//! - [`engine`]: the only public handle
//! - `runner`: one run, one owner, one append per decision, with its `permits`
//! - [`effects`]: one model call or tool call, ending in one report
//! - [`limits`]: limits on concurrent calls; [`admission`]: limits on active runs, and
//!   their queue; [`suspects`]: runs that were worked on when a process died
//! - [`ring`] and `watcher`: frames rendered once, followed by many; `speech`: tokens
//!   of models meanwhile; [`feed`]: the frames of all runs together
//! - [`past`]: the earlier turns of a thread, which its next turns continue
//! - [`meters`]: metrics; [`telemetry`]: spans for a collector
//! - [`traces`]: ended runs as files, for reading afterwards
//! - [`workflows`]: task graphs that are saved, version by version

pub mod admission;
pub mod effects;
pub mod engine;
pub mod feed;
pub mod limits;
pub mod meters;
pub mod past;
mod permits;
pub mod ring;
mod room;
mod runner;
mod seat;
mod speech;
pub mod suspects;
pub mod telemetry;
pub mod traces;
mod watcher;
pub mod workflows;
