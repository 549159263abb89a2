//! The MCP servers of a configuration.

use std::path::PathBuf;
use std::time::Duration;

use consort_tools::Toolbox;
use consort_tools::mcp::{ServerOptions, Servers, Traits, Transport, Trouble};

use super::Error;
use crate::config::{self, Config, Env, Secret};

/// How long the servers may take before everything else goes on without them.
pub(crate) const START_MAX: Duration = Duration::from_secs(10);

/// Begins to connect to the servers, and puts whatever they have in the
/// toolbox. Must be called where tasks can be spawned.
pub(crate) fn connect(config: &Config, env: &Env<'_>, tools: Toolbox) -> Result<(Servers, Toolbox), Error> {
    let own = tools.names().map(str::to_owned);
    let taken = own.chain(config::reserved_tools().map(str::to_owned)).collect();
    let servers = Servers::start(config.mcp.iter().map(|server| options(server, env)).collect(), taken)?;
    let tools = servers.providers().fold(tools, Toolbox::with_provider);
    Ok((servers, tools))
}

/// What is wrong with the servers, line by line.
pub(crate) fn warnings(servers: &Servers) -> Vec<String> {
    let line = |trouble: Trouble| match trouble.tool {
        None => format!("warning: mcp.{}: {}", trouble.server, trouble.reason),
        Some(tool) => format!("warning: mcp.{}: `{tool}`: {}", trouble.server, trouble.reason),
    };
    servers.troubles().into_iter().map(line).collect()
}

fn options(server: &config::Mcp, env: &Env<'_>) -> ServerOptions {
    let tools = server.tools.iter().map(|(name, traits)| (name.clone(), self::traits(traits)));
    ServerOptions {
        name: server.name.clone(),
        transport: transport(&server.transport, env),
        timeout: server.timeout,
        tools: tools.collect(),
    }
}

fn transport(transport: &config::Transport, env: &Env<'_>) -> Transport {
    let shown = |(name, value): (&String, &Secret)| (name.clone(), value.reveal().to_owned());
    match transport {
        config::Transport::Command { command, args, env: own, folder } => Transport::Command {
            command: command.clone(),
            args: args.iter().map(|arg| arg.reveal().to_owned()).collect(),
            // Programs are found by it; nothing else of our environment is theirs.
            env: env("PATH").map(|path| ("PATH".to_owned(), path)).into_iter().chain(own.iter().map(shown)).collect(),
            folder: if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.clone() },
        },
        config::Transport::Http { url, headers } => {
            Transport::Http { url: url.as_str().to_owned(), headers: headers.iter().map(shown).collect() }
        }
    }
}

fn traits(traits: &config::ToolTraits) -> Traits {
    let config::ToolTraits { effect, permission, parallel_safe, lock } = traits.clone();
    Traits { effect, permission, parallel_safe, lock }
}
