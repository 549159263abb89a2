//! `consort serve`: the control API over everything in the configuration, until a
//! signal. Runs that a crash left unfinished are resumed first.

mod keys;
mod logs;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use consort_config::{Config, Env};
use consort_log::cluster::JoinError;
use consort_runtime::hooks::verify::Verify;
use consort_server::access::Access;
use consort_server::ws::Sockets;
use consort_server::{OpeningError, Server, Terms, bind};
use consort_tools::mcp::Servers;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::assemble::{self, RunParts, Store};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::Home;
use crate::workers;

/// The delay between tokens of the demo model: slow enough to see what happens.
const PACE: Duration = Duration::from_millis(25);

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The configuration; default: ./consort.toml, else the built-in demo
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The address to listen on; default: the configuration's
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// The port to listen on, 0 for any free one; default: the configuration's
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// The folder to keep everything in; default: the configuration's
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    logs: logs::Wanted,
}

/// Executes the command.
pub(crate) fn run(args: Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    if let Err(mistake) = logs::start(&args.logs, env, output.err.reader()) {
        return wrong(output, &mistake);
    }
    let file = Config::file(args.config.as_deref()).map(Path::to_owned);
    let mut config = match Config::find(file.as_deref(), env) {
        Ok(config) => config,
        Err(mistakes) => return wrong(output, &mistakes.to_string()),
    };
    config.server.host = args.host.unwrap_or(config.server.host);
    config.server.port = args.port.unwrap_or(config.server.port);
    config.store = args.data.unwrap_or(config.store);
    if let Some(refusal) = unsafe_to_serve(&config) {
        return wrong(output, &format!("will not listen on {}: {refusal}", config.server.host));
    }
    open_all_files_allowed();
    let home = Home::find();
    let runtime = workers::start()?;
    let exit = runtime.block_on(async {
        let host = config.server.host.trim_matches(['[', ']']);
        let listener = match bind((host, config.server.port)).await {
            Ok(listener) => listener,
            Err(error) => return wrong(output, &format!("cannot listen on {host}:{}: {error}", config.server.port)),
        };
        let (server, servers) = match everything(&config, env, listener.local_addr()?).await {
            Ok(both) => both,
            Err(assemble::Error::Cluster(JoinError::Unreachable(reason))) => {
                output.err.say(&reason)?;
                return Ok(Exit::Unreachable);
            }
            Err(error) => return wrong(output, &error.to_string()),
        };
        let (access, changes) = watch::channel(server.access.clone());
        // Nodes that share a database do not use the folder's own.
        let database = config.cluster.shared.is_none().then(|| consort::database(&config.store));
        let around = Around { access: changes, home, database };
        let following = keys::follow(file.as_deref(), env, access, home)?;
        tokio::select! {
            ended = serve(listener, (server, servers), around, output) => ended,
            never = following => match never {},
        }
    });
    runtime.shutdown_background();
    exit
}

/// Returns why a server must not listen where the configuration says: anybody could use it.
fn unsafe_to_serve(config: &Config) -> Option<String> {
    if config.server.is_open() {
        let refusal = "other machines could connect: configure a [[server.api_key]] first, or listen on 127.0.0.1";
        return Some(refusal.to_owned());
    }
    let mut hooks = config.hooks.iter().filter(|_| config.server.is_public());
    let hook = hooks.find(|hook| hook.verify == Verify::None)?;
    Some(format!("anybody could use the hook `{}`, which verifies nobody", hook.name))
}

/// Raises the limit of open files, as every connection is one: shells start programs
/// with a limit of a thousand, and let them raise it.
fn open_all_files_allowed() {
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, all) {
        tracing::warn!(%error, allowed = limit.current, "cannot raise the limit of open files");
    }
}

fn wrong(output: Output<'_>, mistake: &str) -> anyhow::Result<Exit> {
    output.err.say(mistake)?;
    Ok(Exit::Usage)
}

/// Creates the server, and the MCP servers it uses.
pub(super) async fn everything(
    config: &Config,
    env: &Env<'_>,
    listens: SocketAddr,
) -> Result<(Server, Servers), assemble::Error> {
    let (servers, tools) = assemble::connect(config, env, assemble::tools(config)?)?;
    let known = assemble::join(config, &tools, listens).await?;
    let store = Store::Folder(config.store.clone());
    Ok((server(config, &store, &RunParts { tools, pace: PACE, known })?, servers))
}

/// Builds a server over everything the configuration names, for the callers it lets in.
pub(super) fn server(config: &Config, store: &Store, with: &RunParts) -> Result<Server, assemble::Error> {
    Ok(Server {
        access: keys::access(&config.server)?,
        quotas: config.server.quotas.clone(),
        trusted_proxies: config.server.trusted_proxies.clone(),
        max_body_bytes: config.server.max_body_bytes,
        max_attachment_bytes: config.server.max_attachment_bytes,
        sockets: Sockets {
            retained_runs: config.server.max_retained_runs,
            snapshot_iterations: config.server.max_snapshot_iterations,
            max_frame_bytes: config.server.max_frame_bytes,
        },
        ..assemble::server(config, store, with)?
    })
}

/// The surroundings of a server that listens.
struct Around {
    /// The callers that are let in, as the file says from time to time.
    access: watch::Receiver<Access>,
    home: Home,
    /// The database that this process holds, if it is in its data folder.
    database: Option<PathBuf>,
}

async fn serve(
    listener: TcpListener,
    (server, servers): (Server, Servers),
    Around { access, home, database }: Around,
    output: Output<'_>,
) -> anyhow::Result<Exit> {
    let stop = signals(1, home)?;
    let hurry = signals(2, home)?;
    let engine = server.engine.clone();
    let opening = server.opening();
    let address = listener.local_addr()?;
    let (done, started) = watch::channel(false);
    let starting = async {
        servers.settled(assemble::START_MAX).await;
        for warning in assemble::warnings(&servers) {
            output.err.say(&warning)?;
        }
        let _links = opening.await.map_err(|error| unopened(&error, database.as_deref()))?;
        done.send_replace(true);
        announce(database.as_deref(), address);
        output.out.say(format_args!("consort listening on http://{address}"))?;
        output.out.flush()?;
        std::future::pending().await
    };
    tokio::select! {
        ended = server.serve_as(Terms { access, started }, listener, stop) => ended?,
        failed = starting => return failed,
        () = hurry => {}
    }
    engine.stop().await;
    servers.stop().await;
    assemble::flush(&engine).await;
    Ok(Exit::Done)
}

/// Returns the reason why what is stored cannot be gone on with, with the folder it is in.
fn unopened(error: &OpeningError, database: Option<&Path>) -> anyhow::Error {
    match database.and_then(Path::parent) {
        Some(folder) => anyhow!(
            "cannot use the data folder {}: {error}; `consort store check` names what is damaged, and `consort restore` \
             puts a backup in its place",
            folder.display()
        ),
        None => anyhow!("{error}"),
    }
}

/// Lets other commands find the server by its data folder. Without that they are refused, as the folder is in use.
fn announce(database: Option<&Path>, address: SocketAddr) {
    if let Some(Err(error)) = database.map(|database| consort_log::announce(database, address)) {
        tracing::warn!(%error, "commands in the data folder will not find this server");
    }
}

/// Returns when the process has been asked to end this many times: at the first it
/// ends in order, at the second at once. Closing the terminal that it was started from
/// counts too; any other SIGHUP reloads the keys.
fn signals(times: usize, home: Home) -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        let mut left = times;
        while left > 0 {
            left -= tokio::select! {
                _told = term.recv() => 1,
                _told = int.recv() => 1,
                _told = hangup.recv() => usize::from(home.is_gone()),
            };
        }
    })
}
