//! Does what `consort-core` decides.
//!
//! # Layout, in reading order
//! - [`engine`]: the only public handle
//! - `runner`: one run, one owner, one append per decision, with its `permits`
//! - [`effects`]: one model call or tool call, ending in one report
//! - [`limits`]: how much may happen at once; [`admission`]: how many runs work
//!   at the same time, and who is next; [`suspects`]: runs that were worked on
//!   when a process died
//! - [`ring`] and `watcher`: frames rendered once, followed by many; `speech`:
//!   what models say meanwhile; [`feed`]: the frames of all runs together
//! - [`past`]: what was said in a thread before, which its turns go on from
//! - [`meters`]: what happens, counted; [`telemetry`]: spans for a collector
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
mod runner;
mod seat;
mod speech;
pub mod suspects;
pub mod telemetry;
pub mod traces;
mod watcher;
pub mod workflows;
