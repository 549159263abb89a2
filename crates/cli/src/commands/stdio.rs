//! Commands that another program starts and talks to over their input and output: for a
//! server that runs, or for one of a configuration, in this process.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use consort_config::{Config, Env};
use consort_core::owner::Owner;
use consort_server::access::{Access, Key, Reach, Scope};
use consort_server::{Terms, bind};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use crate::assemble;
use crate::client::{Client, Target};
use crate::commands::call::wrong;
use crate::commands::{keys, running_server, serve};
use crate::exit::Exit;
use crate::output::Output;
use crate::workers;

/// The code of JSON-RPC for what is no JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// The code of JSON-RPC for a method that nobody knows.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// The code of JSON-RPC for parameters that are wrong.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// The code of JSON-RPC for what did not work.
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// Lines that wait to be read: a few in a second, from one program.
const LINES_MAX: usize = 256;

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Serve this configuration in this process, unless a server uses its data folder
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "key"])]
    config: Option<PathBuf>,
    /// The server; default: $CONSORT_URL, else http://127.0.0.1:7329
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The API key, where the server wants one; default: $CONSORT_API_KEY
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// Talks to a program on behalf of a server, until the program leaves.
pub(crate) fn run(
    args: &Args,
    env: &Env<'_>,
    output: Output<'_>,
    talk: impl AsyncFnOnce(Client, Output<'_>) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    let runtime = workers::start()?;
    let exit = match &args.config {
        Some(file) => runtime.block_on(here(file, env, output, talk)),
        None => match Target::new(args.url.clone(), args.key.clone()).client(env) {
            Ok(client) => runtime.block_on(talk(client, output)),
            Err(mistake) => wrong(output, &mistake),
        },
    };
    // A blocking read of the input must not delay the exit.
    runtime.shutdown_background();
    exit
}

/// Serves a configuration on this machine, for this process alone, as long as it talks. A server that uses its
/// data folder already is used instead.
async fn here(
    file: &Path,
    env: &Env<'_>,
    output: Output<'_>,
    talk: impl AsyncFnOnce(Client, Output<'_>) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    let config = match Config::find(Some(file), env) {
        Ok(config) => config,
        Err(mistakes) => return wrong(output, &mistakes.to_string()),
    };
    if let Some(url) = running_server::server(&config.store) {
        let client = Target::at(&url, None).client(env).map_err(anyhow::Error::msg)?;
        return talk(client, output).await;
    }
    let listener = bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let (mut server, servers) = match serve::everything(&config, env, address).await {
        Ok(both) => both,
        Err(error @ assemble::Error::Store { .. }) => {
            return Err(error).context(assemble::NOT_KEPT);
        }
        Err(error) => return wrong(output, &error.to_string()),
    };
    let key = keys::random().context("cannot read random bytes")?;
    server.access = only_with(&key);
    let url = format!("http://{address}");
    let engine = server.engine.clone();
    let (_unchanging, access) = watch::channel(server.access.clone());
    let (_all_done, started) = watch::channel(true);
    servers.settled(assemble::START_MAX).await;
    for warning in assemble::warnings(&servers) {
        output.err.say(&warning)?;
    }
    let _links = server.opening().await?;
    let client = Target::at(&url, Some(&key)).client(env).map_err(anyhow::Error::msg)?;
    let exit = tokio::select! {
        exit = talk(client, output) => exit,
        ended = server.serve_as(Terms { access, started }, listener, std::future::pending()) => {
            ended.map(|()| Exit::Done).map_err(Into::into)
        }
    };
    engine.stop().await;
    servers.stop().await;
    assemble::flush(&engine).await;
    exit
}

/// Returns the access of a server for one client of this machine, which has this key.
fn only_with(key: &str) -> Access {
    let local = Owner::local();
    let name = local.to_string();
    let keys = vec![Key::of(local, (&name, key), &Scope::ALL)];
    Access { reach: Reach::Loopback, origins: Vec::new(), keys, issuer: None }
}

/// Reads lines in a thread of its own: reading the standard input cannot be interrupted.
pub(crate) fn lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(LINES_MAX);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if !line.trim().is_empty() && sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Returns the answer to a request that failed.
pub(crate) fn failure(id: &Value, code: i32, reason: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": reason } })
}

/// The questions that the client has not answered yet: at most one for each request. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Asked(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    last: u64,
    waiting: HashMap<String, oneshot::Sender<Value>>,
}

impl Asked {
    /// Returns the id of a new question, and its answer.
    pub(crate) fn question(&self) -> (String, oneshot::Receiver<Value>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (sender, response) = oneshot::channel();
        open.last += 1;
        let id = format!("question-{}", open.last);
        open.waiting.retain(|_, waiting| !waiting.is_closed());
        open.waiting.insert(id.clone(), sender);
        (id, response)
    }

    /// Takes an answer of the client.
    pub(crate) fn answer(&self, id: &Value, message: Value) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = id.as_str().and_then(|id| open.waiting.remove(id)) {
            // Cancelled meanwhile: nobody waits for it.
            let _gone = waiting.send(message);
        }
    }

    /// Returns whether a question is open.
    pub(crate) fn is_waiting(&self) -> bool {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.waiting.values().any(|waiting| !waiting.is_closed())
    }
}
