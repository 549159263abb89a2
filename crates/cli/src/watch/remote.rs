//! A run on a server, watched from here.

use super::ending::{RunStorage, ending};
use super::{CtrlC, Host, Interrupts, Watch};
use crate::client::Client;
use crate::exit::Exit;
use crate::output::Output;
use crate::show::screen::Screen;
use crate::terminal::Terminal;

/// Watches it to its end and reports the outcome.
pub(crate) async fn watch_there(
    (client, run): (&Client, &str),
    terminal: &Terminal,
    keys: (Interrupts, CtrlC),
    mut output: Output<'_>,
) -> anyhow::Result<Exit> {
    let mut screen = Screen::new(terminal.look, output.lend());
    let host = Host::There(client, run);
    let watched = Watch::new(host, &mut screen, terminal.person.as_ref(), keys).follow().await?;
    let view = screen.finish()?;
    let ending = ending(watched, &view, &RunStorage::Server(client.url().to_owned()), run);
    ending.tell(terminal.look, output)?;
    Ok(ending.exit)
}
