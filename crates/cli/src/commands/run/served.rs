//! `--serve`: a run in this process that others can watch and steer while it lasts.
//! The server is for this run alone, and on this machine alone.

use std::io;

use consort_config::Config;
use consort_runtime::engine::Engine;
use consort_server::{Server, bind};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::assemble::{self, RunParts, Store};
use crate::commands::serve;
use crate::output::Stream;

/// The address it listens on: loopback only.
const HOST: &str = "127.0.0.1";

/// A server that does not listen yet.
pub(super) struct Shown {
    server: Server,
    port: u16,
}

/// A server that listens.
pub(super) struct Showing {
    /// Ends the server when it is sent or dropped.
    stop: oneshot::Sender<()>,
    /// Its address.
    pub(super) url: String,
    serving: JoinHandle<io::Result<()>>,
}

impl Shown {
    /// Creates a server over the store of the run, which accepts no other runs.
    pub(super) fn at(port: u16, config: &Config, store: &Store, with: &RunParts) -> Result<Shown, assemble::Error> {
        let mut config = config.clone();
        HOST.clone_into(&mut config.server.host);
        (config.server.max_concurrent_runs, config.server.max_queued_runs) = (1, 0);
        Ok(Shown { server: serve::server(&config, store, with)?, port })
    }

    /// Returns the engine of the run.
    pub(super) fn engine(&self) -> Engine {
        self.server.engine.clone()
    }

    /// Starts to listen and prints the address, or returns the reason why it cannot.
    pub(super) async fn open(self, err: &mut Stream) -> Result<Showing, String> {
        let refused = |error: io::Error| format!("cannot listen on {HOST}:{}: {error}", self.port);
        let listener = bind((HOST, self.port)).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let url = format!("http://{address}");
        err.say(format_args!("consort listening on {url} while the run lasts")).map_err(refused)?;
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(self.server.serve(listener, async {
            let _either_way = stopped.await;
        }));
        Ok(Showing { stop, url, serving })
    }
}

impl Showing {
    /// Ends it: streams end, open requests may finish.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        let _gone_already = self.stop.send(());
        Ok(self.serving.await??)
    }
}
