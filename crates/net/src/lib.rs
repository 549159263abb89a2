//! Ensembles that discover and use each other.
//!
//! # Layout, in reading order
//! - [`wire`]: the frames between ensembles
//! - [`roster`]: the capabilities of each peer, as far as they are known
//! - [`transport`]: the connections that frames travel on, or [`memory`] without a network; `link`:
//!   one link, kept open and used in both directions; `limits`: the amount that a peer
//!   may send, `pace`: its rate; `frame_checks`: the check of received frames,
//!   `frame_size`: frames cut to the permitted size; `links` and [`network`]: all links,
//!   and the data received over them; `departed`: the peers that went away
//! - [`work`]: the interface between a link and the side that does the work; [`share`]:
//!   the shared capabilities, and the run a request becomes; [`serve`]: requests done
//!   exactly once; `requesters`: the requesters that wait; `progress`: its reports; `cache`:
//!   answers that may be given again
//! - [`remote`]: the capabilities of peers, as tools; `offline_tool`: those of peers that are
//!   not connected; `delivery`: one request on its way
//! - `agents`: agents of the A2A protocol, used like peers

mod agents;
mod cache;
mod delivery;
mod departed;
mod frame_checks;
mod frame_size;
mod limits;
mod link;
mod links;
pub mod memory;
pub mod network;
mod offline_tool;
mod pace;
mod progress;
pub mod remote;
mod requesters;
pub mod roster;
pub mod serve;
pub mod share;
#[cfg(test)]
mod tests;
pub mod transport;
pub mod wire;
pub mod work;

pub use agents::AgentAddress;
pub use departed::DepartedPeer;
