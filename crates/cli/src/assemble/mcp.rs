//! The MCP servers of a configuration.

use std::path::PathBuf;
use std::time::Duration;

use consort_config::{self as config, Config, Env};
use consort_tools::Toolbox;
use consort_tools::mcp::{ServerOptions, Servers, Transport, Trouble};

use super::Error;

/// The time that the servers may take before startup goes on without them.
pub(crate) const START_MAX: Duration = Duration::from_secs(10);

/// Starts to connect to the servers, and adds their tools to the toolbox. Must be
/// called inside a tokio runtime.
pub(crate) fn connect(config: &Config, env: &Env<'_>, tools: Toolbox) -> Result<(Servers, Toolbox), Error> {
    let own = tools.names().map(str::to_owned);
    let taken = own.chain(config::reserved_tools().map(str::to_owned)).collect();
    let servers = Servers::start(config.mcp.iter().map(|server| with_path(server, env)).collect(), taken)?;
    let tools = servers.providers().fold(tools, Toolbox::with_provider);
    Ok((servers, tools))
}

/// Returns the problems of the servers, one per line.
pub(crate) fn warnings(servers: &Servers) -> Vec<String> {
    let line = |trouble: Trouble| match trouble.tool {
        None => format!("warning: mcp.{}: {}", trouble.server, trouble.reason),
        Some(tool) => format!("warning: mcp.{}: `{tool}`: {}", trouble.server, trouble.reason),
    };
    servers.troubles().into_iter().map(line).collect()
}

/// Programs are found by `PATH`; nothing else of our environment is theirs.
fn with_path(server: &ServerOptions, env: &Env<'_>) -> ServerOptions {
    let mut server = server.clone();
    if let Transport::Command { env: own, folder, .. } = &mut server.transport {
        if let Some(path) = env("PATH") {
            own.entry("PATH".to_owned()).or_insert(path);
        }
        if folder.as_os_str().is_empty() {
            *folder = PathBuf::from(".");
        }
    }
    server
}
