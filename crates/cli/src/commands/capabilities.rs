//! `consort capabilities`: the choices that requests to a server have.

use consort_config::Env;

use crate::client::{Call, Target};
use crate::commands::call::{Printed, call};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::{Page, Record};
use crate::show::table::{Column, Table};

/// Executes the command.
pub(crate) fn run(target: &Target, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    call(target, env, output, &Call::get(&["capabilities"]), render)
}

fn render(answer: Record<'_>, page: &Page) -> Printed {
    let tables = [
        ("models", models(answer)),
        ("preconfiguredTasks", tasks(answer)),
        ("tools", tools(answer)),
        ("sharedTasks", described("SHARED TASK", answer, "sharedTasks")),
        ("sharedTools", described("SHARED TOOL", answer, "sharedTools")),
    ];
    let filled = tables.iter().filter(|(list, _)| answer.list(list).next().is_some());
    let text = filled.map(|(_, table)| table.text(page.room)).collect::<Vec<_>>().join("\n");
    let err = if text.is_empty() { "nothing is configured there\n" } else { "" };
    Printed { err: err.to_owned(), ..Printed::out(text) }
}

fn models(answer: Record<'_>) -> Table {
    let mut table = Table::new(&[("MODEL", Column::Name), ("PROVIDER", Column::Text)]);
    answer.list("models").for_each(|model| table.row([model.line("alias"), model.line("provider")]));
    table
}

fn tasks(answer: Record<'_>) -> Table {
    let heads =
        [("TASK", Column::Name), ("INPUTS", Column::Text), ("TOOLS", Column::Text), ("DESCRIPTION", Column::Text)];
    let mut table = Table::new(&heads);
    for task in answer.list("preconfiguredTasks") {
        table.row([task.line("name"), task.joined("variables"), task.joined("tools"), task.line("description")]);
    }
    table
}

/// Returns the tools, each with its description, and the reason why it cannot be called now.
pub(super) fn tools(answer: Record<'_>) -> Table {
    let heads = [("TOOL", Column::Name), ("DESCRIPTION", Column::Text), ("NOT NOW", Column::Text)];
    let mut table = Table::new(&heads);
    answer
        .list("tools")
        .for_each(|tool| table.row(["name", "description", "unavailable"].map(|field| tool.line(field))));
    table
}

fn described(head: &str, answer: Record<'_>, list: &str) -> Table {
    let mut table = Table::new(&[(head, Column::Name), ("DESCRIPTION", Column::Text)]);
    answer.list(list).for_each(|item| table.row([item.line("name"), item.line("description")]));
    table
}
