//! Ensembles that discover and use each other.
//!
//! # Layout, in reading order
//! - [`wire`]: what they say to each other
//! - [`roster`]: who shares what, as far as was heard
//! - [`transport`]: how frames travel, or [`memory`] without a network; `link`:
//!   one link, kept open and used in both directions; `limits`: how much a peer
//!   may say, `pace`: how fast; `intake`: what is believed of what is heard,
//!   `fit`: frames no larger than they may be; `links` and [`network`]: all of
//!   them, and what was heard over them; `gone`: who went away
//! - [`work`]: what a link needs from the side that does the work; [`share`]:
//!   what is shared, and the run a request becomes; [`serve`]: how it is done
//!   once; `askers`: who waits for it; `progress`: how far it is; `cache`:
//!   answers that may be given again
//! - [`remote`]: what others share, as tools; `away`: those of nobody who is
//!   there; `courier`: one request on its way

mod askers;
mod away;
mod cache;
mod courier;
mod fit;
mod gone;
mod intake;
mod limits;
mod link;
mod links;
pub mod memory;
pub mod network;
mod pace;
mod progress;
pub mod remote;
pub mod roster;
pub mod serve;
pub mod share;
#[cfg(test)]
mod tests;
pub mod transport;
pub mod wire;
pub mod work;

pub use gone::Gone;
