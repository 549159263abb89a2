//! The operation of an ensemble: the store of its runs, the limits on concurrent work and on time, and telemetry.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use consort_log::cluster::{Alone, Identity, Joined};
use consort_log::{self as log, Log, MemoryLog, SqliteLog, private};
use consort_models::Embedder;
use consort_runtime::admission::{Capacity, Keep, Pool, Pools};
use consort_runtime::effects::{CANCEL_GRACE, Seams};
use consort_runtime::engine::Engine;
use consort_runtime::links::Links;
use consort_runtime::suspects::Suspects;
use consort_runtime::telemetry::{self, Telemetry};

use crate::builder::EnsembleBuilder;
use crate::error::Error;

/// The database in a data folder.
const DATABASE: &str = "consort.db";
/// The folder in a data folder that says in which runs a process died.
const SUSPECTS: &str = "suspects";

/// The settings of a builder for the operation; an absent one has its default.
#[derive(Default)]
pub(crate) struct Operation {
    store: Store,
    /// The name and address of this process when it is alone.
    node: Option<Identity>,
    capacity: Option<Capacity>,
    kept: Option<usize>,
    cancel_grace: Option<Duration>,
    telemetry: Option<telemetry::Options>,
    pub(crate) embedder: Option<Embedder>,
    #[cfg(feature = "serve")]
    turns: Option<usize>,
    #[cfg(feature = "serve")]
    peers: Option<usize>,
}

/// The place where runs are stored.
#[derive(Default)]
enum Store {
    #[default]
    Memory,
    File(PathBuf),
    Folder(PathBuf),
    /// With other nodes; what is this process's own is in the folder.
    Shared(Joined, PathBuf),
}

/// Returns the path of the database in this data folder.
pub fn database(folder: &Path) -> PathBuf {
    folder.join(DATABASE)
}

impl EnsembleBuilder {
    /// Keeps runs in this file, so that they survive the process. Otherwise they
    /// are forgotten with it. A folder beside it, `<file>.suspects`, tells in
    /// which runs a process died.
    #[must_use]
    pub fn keep_in(mut self, file: impl AsRef<Path>) -> EnsembleBuilder {
        self.operation.store = Store::File(file.as_ref().to_owned());
        self
    }

    /// Keeps everything in this folder, which is made if need be, as `consort
    /// serve` keeps it: the same folder can be served by that, and copied by
    /// `consort backup`.
    #[must_use]
    pub fn keep_in_folder(mut self, folder: impl AsRef<Path>) -> EnsembleBuilder {
        self.operation.store = Store::Folder(folder.as_ref().to_owned());
        self
    }

    /// Shares a log with other nodes, whose runs go on here when they are gone. The folder is made if need be,
    /// and holds only what is this process's own.
    #[must_use]
    pub fn keep_shared(mut self, joined: Joined, folder: impl AsRef<Path>) -> EnsembleBuilder {
        self.operation.store = Store::Shared(joined, folder.as_ref().to_owned());
        self
    }

    /// Says how this process is known, when it shares its log with nobody.
    #[must_use]
    pub fn known_as(mut self, identity: Identity) -> EnsembleBuilder {
        self.operation.node = Some(identity);
        self
    }

    /// Sets the time that a tool that must not be dropped may take after a stop; five
    /// seconds by default.
    #[must_use]
    pub fn cancel_grace(mut self, grace: Duration) -> EnsembleBuilder {
        self.operation.cancel_grace = Some(grace);
        self
    }

    /// Limits the number of runs that are active at the same time, and the number of
    /// further runs that may wait; one too many is refused. Unlimited by default.
    #[must_use]
    pub fn max_concurrent_runs(mut self, running: usize, waiting: usize) -> EnsembleBuilder {
        self.operation.capacity = Some(Capacity { running, queued: waiting });
        self
    }

    /// Limits the number of ended runs that are kept, and erases older ones; all are kept by default.
    #[must_use]
    pub fn max_retained_runs(mut self, runs: usize) -> EnsembleBuilder {
        self.operation.kept = Some(runs);
        self
    }

    /// Sends a span for everything that took time to an OpenTelemetry collector.
    /// `build` must be called inside a tokio runtime then.
    #[must_use]
    pub fn telemetry(mut self, options: telemetry::Options) -> EnsembleBuilder {
        self.operation.telemetry = Some(options);
        self
    }

    /// Searches documents by their embeddings of this model too, not only by their words.
    #[must_use]
    pub fn embedder(mut self, embedder: Embedder) -> EnsembleBuilder {
        self.operation.embedder = Some(embedder);
        self
    }

    /// Limits the number of turns of conversations at the same time; 64 by default.
    #[cfg(feature = "serve")]
    #[must_use]
    pub fn max_concurrent_turns(mut self, turns: usize) -> EnsembleBuilder {
        self.operation.turns = Some(turns);
        self
    }

    /// Limits the number of requests of other ensembles that are worked on at the same time; 32 by default.
    #[cfg(feature = "serve")]
    #[must_use]
    pub fn max_concurrent_requests(mut self, requests: usize) -> EnsembleBuilder {
        self.operation.peers = Some(requests);
        self
    }
}

impl Operation {
    /// Opens the log; returns it with the record of processes that died.
    pub(crate) fn open(&self) -> Result<(Arc<dyn Log>, Option<Suspects>), Error> {
        let (file, suspects) = match &self.store {
            Store::Memory => return Ok((Arc::new(MemoryLog::default()), None)),
            Store::Shared(joined, folder) => {
                let unusable = |error: io::Error| Error::Store { path: folder.clone(), reason: error.to_string() };
                private::create_folder(folder).map_err(unusable)?;
                // Nodes on one machine may share the folder, but not the marks of their own deaths.
                let name = joined.name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
                let suspects = Suspects::open(&folder.join(format!("{SUSPECTS}-{name}"))).map_err(unusable)?;
                return Ok((joined.log.clone(), Some(suspects)));
            }
            Store::File(file) => (file.clone(), beside(file)),
            Store::Folder(folder) => {
                let made = private::create_folder(folder);
                made.map_err(|error| Error::Store { path: folder.clone(), reason: error.to_string() })?;
                (database(folder), folder.join(SUSPECTS))
            }
        };
        let unusable = |reason: String| Error::Store { path: self.place().to_owned(), reason };
        // That it cannot be used is said around it.
        let bare = |error: log::Error| match &error {
            log::Error::Unavailable(reason) => reason.clone(),
            log::Error::Fenced | log::Error::Claimed { .. } | log::Error::Full(_) | log::Error::Damaged { .. } => {
                error.to_string()
            }
        };
        let log = SqliteLog::open(&file).map_err(|error| unusable(bare(error)))?;
        // After the log, which another process may own: then its marks are its own, too.
        let suspects = Suspects::open(&suspects).map_err(|error| unusable(error.to_string()))?;
        Ok((Arc::new(log), Some(suspects)))
    }

    /// Returns the seams of a process among the nodes that share its log.
    pub(crate) fn among(&self, seams: Seams) -> Seams {
        match (&self.store, &self.node) {
            (Store::Shared(joined, _), _) => Seams {
                cluster: joined.cluster.clone(),
                node: Some(joined.name.clone()),
                runs_of_all: joined.max_concurrent_runs,
                links: Links::new(joined.secret.clone()),
                ..seams
            },
            (_, Some(node)) => {
                let cluster = Arc::new(Alone::new(seams.log.clone()).known_as(node.clone()));
                Seams { cluster, node: Some(node.name.clone()), ..seams }
            }
            (_, None) => seams,
        }
    }

    pub(crate) fn cancel_grace(&self) -> Duration {
        self.cancel_grace.unwrap_or(CANCEL_GRACE)
    }

    /// Returns the limits on the number of runs of each kind.
    pub(crate) fn pools(&self) -> Pools {
        let keep = self.kept.map_or(Keep::All, Keep::Newest);
        let runs = Pool { capacity: self.capacity.unwrap_or(Capacity::UNLIMITED), keep };
        #[cfg(not(feature = "serve"))]
        let pools = Pools { runs, ..Pools::default() };
        #[cfg(feature = "serve")]
        let pools = Pools {
            runs,
            turns: Pool::of(self.turns.unwrap_or(consort_chat::MAX_CONCURRENT_TURNS)),
            peers: consort_net::serve::pool(self.max_concurrent_requests()),
            minings: Pool::of(consort_chat::MAX_CONCURRENT_MININGS),
        };
        pools
    }

    #[cfg(feature = "serve")]
    pub(crate) fn max_concurrent_requests(&self) -> usize {
        self.peers.unwrap_or(consort_net::serve::MAX_CONCURRENT)
    }

    /// Connects the engine with the collector, if there is one.
    pub(crate) fn connect(&self, engine: &Engine) -> Result<(), telemetry::Error> {
        if let Some(options) = &self.telemetry {
            engine.tell(Telemetry::start(options, engine.meters().clone())?);
        }
        Ok(())
    }

    fn place(&self) -> &Path {
        match &self.store {
            Store::Memory => Path::new(""),
            Store::File(path) | Store::Folder(path) | Store::Shared(_, path) => path,
        }
    }
}

/// Returns the folder of suspects of a database that has no folder of its own.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".suspects");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ensemble;

    #[cfg(feature = "serve")]
    #[test]
    fn nothing_that_others_cause_is_without_a_limit() {
        let pools = Operation::default().pools();
        assert_eq!(pools.runs.capacity, Capacity::UNLIMITED, "the program starts these itself");
        let others = [pools.turns, pools.peers, pools.minings].map(|pool| pool.capacity.running);
        assert_eq!(others, [64, 32, 4]);
        let told =
            Ensemble::builder().max_concurrent_turns(2).max_concurrent_requests(3).max_retained_runs(5).operation;
        let pools = told.pools();
        assert_eq!((pools.turns.capacity.running, pools.peers.capacity.running), (2, 3));
        assert_eq!(pools.runs.keep, Keep::Newest(5));
    }

    #[test]
    fn what_is_kept_remembers_in_which_runs_a_process_died() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("runs.db");
        let folder = home.path().join("data");
        assert!(Ensemble::builder().keep_in(&file).operation.open().unwrap().1.is_some());
        assert!(home.path().join("runs.db.suspects").is_dir());
        assert!(Ensemble::builder().keep_in_folder(&folder).operation.open().unwrap().1.is_some());
        assert!(database(&folder).is_file() && folder.join("suspects").is_dir());
        assert!(Operation::default().open().unwrap().1.is_none());
    }
}
