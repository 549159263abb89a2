//! `consort webhooks`: the programs that a server notifies of runs, and the deliveries to them.

use clap::Subcommand;
use consort_config::Env;
use serde_json::json;

use crate::client::Call;
use crate::commands::Group;
use crate::commands::call::{Printed, call};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::{Page, Record};
use crate::show::table::{Column, Table};
use crate::show::words::{ago, until};

/// The arguments, as typed.
pub(crate) type Args = Group<Command>;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the webhooks of a server
    List,
    /// List the messages to a webhook, the newest first
    Deliveries {
        /// The webhook
        name: String,
        /// Only those in this state: pending, delivered or dead
        #[arg(long)]
        status: Option<String>,
        /// The maximum number of deliveries
        #[arg(long, value_name = "N")]
        limit: Option<u64>,
    },
    /// Send a message again, with the same id and body
    Redeliver {
        /// The delivery, as `consort webhooks deliveries` names it
        id: String,
    },
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    match &args.command {
        Command::List => call(&args.target, env, output, &Call::get(&["webhooks"]), listed),
        Command::Deliveries { name, status, limit } => {
            let list = Call::get(&["webhooks", name, "deliveries"]);
            let list = list.with("status", status.as_deref()).with("limit", *limit);
            call(&args.target, env, output, &list, deliveries)
        }
        Command::Redeliver { id } => {
            let again = Call::post(&["deliveries", id, "redeliver"], json!({}));
            call(&args.target, env, output, &again, redelivered)
        }
    }
}

fn listed(answer: Record<'_>, page: &Page) -> Printed {
    let mut table = Table::new(&[
        ("WEBHOOK", Column::Name),
        ("ADDRESS", Column::Text),
        ("EVENTS", Column::Text),
        ("WAITING", Column::Amount),
    ]);
    for webhook in answer.list("webhooks") {
        let waiting = webhook.count("pending").map(|count| count.to_string()).unwrap_or_default();
        table.row([webhook.line("name"), webhook.line("url"), webhook.joined("events"), waiting]);
    }
    match answer.list("webhooks").next() {
        Some(_) => Printed::out(table.text(page.room)),
        None => Printed { err: "no webhooks\n".to_owned(), ..Printed::out("") },
    }
}

fn deliveries(answer: Record<'_>, page: &Page) -> Printed {
    let mut table = Table::new(&[
        ("DELIVERY", Column::Name),
        ("EVENT", Column::Text),
        ("RUN", Column::Text),
        ("STATUS", Column::Text),
        ("TRIES", Column::Amount),
        ("LAST", Column::Amount),
        ("NEXT", Column::Amount),
        ("WHY", Column::Text),
    ]);
    for delivery in answer.list("deliveries") {
        let last = delivery.list("attempts").last();
        table.row([
            delivery.line("id"),
            delivery.line("event"),
            delivery.line("runId"),
            delivery.line("status"),
            delivery.list("attempts").count().to_string(),
            last.and_then(|last| last.since("at", page)).map(ago).unwrap_or_default(),
            delivery.until("nextAt", page).map(until).unwrap_or_default(),
            last.map(|last| last.line("error")).unwrap_or_default(),
        ]);
    }
    match answer.list("deliveries").next() {
        Some(_) => Printed::out(table.text(page.room)),
        None => Printed { err: "no deliveries\n".to_owned(), ..Printed::out("") },
    }
}

fn redelivered(answer: Record<'_>, _: &Page) -> Printed {
    Printed::line(format!("{}: is sent again", answer.line("id")))
}
