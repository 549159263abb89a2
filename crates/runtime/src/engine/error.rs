//! The errors of the engine.

use consort_core::decide::Refused;
use consort_core::mistake::Mistake;
use consort_core::owner::Owner;
use consort_log as log;

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The run refused the command.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// There is no such run.
    #[error("No run with ID {0}")]
    NotFound(String),
    /// All slots and the queue are full.
    #[error("Maximum concurrent runs ({running}) reached. Retry later.")]
    Busy {
        /// The number of runs that may be active at the same time.
        running: usize,
    },
    /// The owner has as many runs as its quota allows.
    #[error("the owner '{owner}' may have {running} runs at once. Retry later.")]
    OwnerBusy {
        /// The owner.
        owner: Owner,
        /// The number of runs that it may have at once.
        running: usize,
    },
    /// The owner's runs have cost as much today as its quota allows.
    #[error("the runs of the owner '{owner}' have cost what they may cost on one day (UTC). Retry tomorrow.")]
    OwnerSpent {
        /// The owner.
        owner: Owner,
        /// The time until the next day.
        retry_ms: u64,
    },
    /// The engine is draining and takes no new work.
    #[error("this server is about to stop and begins nothing new")]
    Draining,
    /// Another process owns the run at the moment.
    #[error("run {0} has no owner here")]
    NotOwned(String),
    /// No new run could be made from the old one.
    #[error(transparent)]
    Fork(#[from] consort_core::fork::Refused),
    /// The run names files that it cannot have.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Mistakes(Vec<Mistake>),
    /// The request is valid, but the log failed.
    #[error(transparent)]
    Log(#[from] log::Error),
}
