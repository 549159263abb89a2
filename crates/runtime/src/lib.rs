//! Does what `consort-core` decides.
//!
//! # Layout, in reading order
//! - three seams: [`log`], [`model`], [`tool`], each with a scripted or
//!   in-memory implementation that is a real one
//! - [`script`]: gates and ledgers of what is scripted
//! - [`clock`]: the only place that knows what time it is; [`limits`]: how much
//!   may happen at once
//! - [`busy`]: work that keeps a thread from others; [`suspects`]: runs it was
//!   done for when a process died
//! - [`effects`]: one model call or tool call, ending in one report
//! - `runner`: one run, one owner, one append per decision, with its `permits`
//!   and the `codec` of its events
//! - [`ring`] and `watcher`: frames rendered once, followed by many; `speech`:
//!   what models say meanwhile; [`feed`]: the frames of all runs together
//! - [`meters`]: what happens, counted
//! - [`trace`]: which trace a call belongs to; [`telemetry`]: spans for a collector
//! - [`outbound`]: the one client for addresses a model or a client names
//! - [`chats`]: conversations, whose turns are runs; `past`: what was said in them
//! - [`admission`]: how many runs work at the same time, and who is next
//! - [`traces`]: ended runs as files, for reading afterwards
//! - [`memory`]: what runs remember for later ones; [`facts`]: what is known of
//!   people who chat; `words`: how both are found; [`collections`]: documents to
//!   be searched
//! - [`workflows`]: task graphs that are saved, version by version
//! - `damage`: which streams cannot be read, and why
//! - [`engine`]: the only public handle

pub mod admission;
pub mod busy;
pub mod chats;
pub mod clock;
mod codec;
pub mod collections;
mod damage;
pub mod effects;
pub mod engine;
pub mod facts;
pub mod feed;
pub mod headers;
pub mod limits;
pub mod log;
pub mod memory;
pub mod meters;
pub mod model;
pub mod outbound;
mod past;
mod permits;
pub mod ring;
mod runner;
pub mod script;
mod seat;
mod speech;
pub mod suspects;
pub mod telemetry;
pub mod tool;
pub mod trace;
pub mod traces;
mod watcher;
mod words;
pub mod workflows;
