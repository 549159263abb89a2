//! `consort network`: the other ensembles that a server knows, and their shared
//! capabilities.

use consort_config::Env;

use crate::client::{Call, Target};
use crate::commands::call::{Printed, call};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::{Page, Record};
use crate::show::table::{Column, Table};

/// Executes the command.
pub(crate) fn run(target: &Target, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    call(target, env, output, &Call::get(&["network"]), render)
}

fn render(answer: Record<'_>, page: &Page) -> Printed {
    if answer.list("peers").next().is_none() {
        return Printed { err: "it knows no other ensembles\n".to_owned(), ..Printed::out(String::new()) };
    }
    Printed::out(peers(answer).text(page.room))
}

fn peers(answer: Record<'_>) -> Table {
    let heads = [
        ("PEER", Column::Name),
        ("LINKED", Column::Name),
        ("REALM", Column::Text),
        ("SHARES", Column::Text),
        ("AT WORK ON", Column::Text),
        ("TROUBLE", Column::Text),
    ];
    let mut table = Table::new(&heads);
    for peer in answer.list("peers") {
        let shares: Vec<String> = peer.list("sharedCapabilities").map(|shared| shared.line("name")).collect();
        let linked = if peer.has("connected") { "yes" } else { "no" };
        let asked: Vec<String> = peer.list("requests").map(request).collect();
        let cells = [peer.line("name"), linked.to_owned(), peer.line("realm"), shares.join(", "), asked.join(", ")];
        table.row(cells.into_iter().chain([peer.line("error")]));
    }
    table
}

/// Returns a request to the peer, with the progress that the peer reports.
fn request(request: Record<'_>) -> String {
    let capability = request.line("capability");
    let message = request.line("message");
    if message.is_empty() { capability } else { format!("{capability} ({message})") }
}
