//! Ensembles that discover and use each other.
//!
//! # Layout, in reading order
//! - [`wire`]: the frames between ensembles
//! - [`roster`]: the capabilities of each peer, as far as they are known
//! - [`transport`]: the connections that frames travel on, or [`memory`] without a network; `link`:
//!   one link, kept open and used in both directions; `limits`: the amount that a peer
//!   may send, `pace`: its rate; `intake`: the check of received frames,
//!   `fit`: frames cut to the permitted size; `links` and [`network`]: all links,
//!   and the data received over them; `gone`: the peers that went away
//! - [`work`]: the interface between a link and the side that does the work; [`share`]:
//!   the shared capabilities, and the run a request becomes; [`serve`]: requests done
//!   exactly once; `askers`: the requesters that wait; `progress`: its reports; `cache`:
//!   answers that may be given again
//! - [`remote`]: the capabilities of peers, as tools; `away`: those of peers that are
//!   not connected; `courier`: one request on its way
//! - `agents`: agents of the A2A protocol, used like peers

mod agents;
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

pub use agents::AgentAddress;
pub use gone::Gone;
