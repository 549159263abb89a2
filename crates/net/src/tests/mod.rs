//! Whole networks in one process, over the real links and the real engine.

mod behaviour;
mod hostile;
mod simulation;
mod stopping;
mod strangers;
mod world;
