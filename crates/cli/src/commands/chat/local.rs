//! A chat in this process, stored in the configuration's store.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use consort_chat::Chats;
use consort_config::{Config, Env, FILE_NAME};
use consort_tools::mcp::Servers;

use super::Session;
use crate::assemble::{self, Known, RunParts, Store};
use crate::commands::call::wrong;
use crate::exit::Exit;
use crate::output::Output;
use crate::show::screen::Look;
use crate::talk::host::ChatHost;

/// The delay between tokens of the demo model without a terminal.
const PACE: Duration = Duration::from_millis(3);
/// The delay on a terminal: as fast as people read.
const PACE_WATCHED: Duration = Duration::from_millis(15);

/// Runs the chat in this process.
pub(super) async fn talk(
    session: Session,
    (mut config, file): (Config, Option<&Path>),
    env: &Env<'_>,
    output: Output<'_>,
) -> anyhow::Result<Exit> {
    // The other servers are not used by a chat, so they are not started.
    config.mcp.retain(|server| config.chat.mcp.contains(&server.name));
    if Config::file(file).is_none() {
        let folder = config.store.display();
        let told = format!("No {FILE_NAME} here: this is the built-in demo, offline. It is kept in {folder}.");
        session.note(&told, output.err)?;
    }
    let pace = if matches!(session.look, Look::Block(_)) { PACE_WATCHED } else { PACE };
    let (chats, servers) = match parts(&config, env, pace) {
        Ok(parts) => parts,
        Err(error @ assemble::Error::Store { .. }) => {
            return Err(error).context(assemble::NOT_KEPT);
        }
        Err(error) => return wrong(output, &error.to_string()),
    };
    servers.settled(assemble::START_MAX).await;
    for warning in assemble::warnings(&servers) {
        output.err.say(&warning)?;
    }
    let engine = chats.engine().clone();
    let exit = session.talk(ChatHost::Here(chats, engine.clone()), "", output).await;
    engine.stop().await;
    servers.stop().await;
    exit
}

fn parts(config: &Config, env: &Env<'_>, pace: Duration) -> Result<(Chats, Servers), assemble::Error> {
    let (servers, tools) = assemble::connect(config, env, assemble::tools(config)?)?;
    let store = Store::Folder(config.store.clone());
    Ok((assemble::chats(config, &store, &RunParts { tools, pace, known: Known::Unknown })?, servers))
}
