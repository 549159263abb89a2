//! `consort threads`: the chats of a server.

use clap::Subcommand;
use consort_config::Env;
use serde_json::Value;

use crate::client::Call;
use crate::client::ids::Kind;
use crate::commands::Group;
use crate::commands::call::{Printed, ask, call, call_about, page};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::{Page, Record};
use crate::show::table::{Column, Table};
use crate::show::words::{ago, counted};

/// The arguments, as typed.
pub(crate) type Args = Group<Command>;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List chats, the most recently used first
    List {
        /// Only chats with these words in their title or messages
        #[arg(long, value_name = "WORDS")]
        search: Option<String>,
    },
    /// Show a chat: everything that was said
    Show {
        /// The thread: its id, the beginning of it, or latest
        thread: String,
    },
    /// Erase a chat
    Rm {
        /// The thread: its id, the beginning of it, or latest
        thread: String,
    },
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    let target = &args.target;
    match &args.command {
        Command::List { search } => {
            let list = Call::get(&["threads"]).with("q", search.as_deref());
            call(target, env, output, &list, listed)
        }
        Command::Show { thread } => show(args, thread, env, output),
        Command::Rm { thread } => {
            let erase = Call::delete(&["threads", thread]);
            call_about(target, env, output, &erase, |thread, _, _| Printed::line(format!("{thread}: erased")))
        }
    }
}

/// Shows a thread and its messages; as JSON they are one object.
fn show(args: &Args, thread: &str, env: &Env<'_>, mut output: Output<'_>) -> anyhow::Result<Exit> {
    let asked = ask(&args.target, env, output.lend(), async |client| {
        let id = client.whole_id(Kind::Thread, thread).await?;
        let thread = client.read(&client.send(&Call::get(&["threads", &id])).await?)?;
        let messages = client.read(&client.send(&Call::get(&["threads", &id, "messages"])).await?)?;
        Ok((thread, messages))
    });
    let Some((mut thread, mut messages)) = asked? else { return Ok(Exit::Usage) };
    if args.target.json {
        if let (Some(thread), Some(messages)) = (thread.as_object_mut(), messages.get_mut("messages")) {
            thread.insert("messages".to_owned(), messages.take());
        }
        output.out.json(&thread.to_string())?;
    } else {
        let page = page(output.out);
        write!(output.out, "{}", render(Record(&thread), Record(&messages), &page))?;
    }
    Ok(Exit::Done)
}

fn listed(answer: Record<'_>, page: &Page) -> Printed {
    let mut table = Table::new(&[
        ("THREAD", Column::Id),
        ("CHANGED", Column::Amount),
        ("MODEL", Column::Amount),
        ("NOW", Column::Amount),
        ("TITLE", Column::Text),
    ]);
    for thread in answer.list("threads") {
        table.row([
            thread.line("id"),
            thread.since("updatedAt", page).map(ago).unwrap_or_default(),
            thread.line("model"),
            status_text(thread),
            thread.line("title"),
        ]);
    }
    match answer.list("threads").next() {
        Some(_) => Printed::out(table.text(page.room)),
        None => Printed { err: "no chats\n".to_owned(), ..Printed::out("") },
    }
}

/// Returns the state of a thread in words, empty when nothing happens in it.
fn status_text(thread: Record<'_>) -> String {
    let waits = thread.count("queued").filter(|queued| *queued > 0);
    let waits = waits.map(|queued| if queued == 1 { "1 waits".to_owned() } else { format!("{queued} wait") });
    let now = if thread.has("damaged") {
        Some("damaged".to_owned())
    } else {
        thread.has("running").then(|| "running".to_owned())
    };
    now.into_iter().chain(waits).collect::<Vec<_>>().join(", ")
}

/// Returns a thread in words: a head, then its messages.
fn render(thread: Record<'_>, messages: Record<'_>, page: &Page) -> String {
    let begun = thread.since("createdAt", page).map(|past| format!("begun {}", ago(past)));
    let changed = thread.since("updatedAt", page).map(|past| format!("changed {}", ago(past)));
    let said = messages.list("messages").filter(|row| row.text("role") == "user").count() as u64;
    let facts: Vec<String> = begun.into_iter().chain(changed).chain([counted(said, "message")]).collect();
    let lines = [
        ("thread", thread.line("id")),
        ("title", thread.line("title")),
        ("model", thread.line("model")),
        ("time", facts.join(", ")),
        ("mode", thread.line("permissionMode")),
        ("now", status_text(thread)),
        ("damage", thread.line("damagedReason")),
    ];
    let lines = lines.into_iter().filter(|(_, value)| !value.is_empty());
    let head: String = lines.map(|(name, value)| format!("{name:<7} {value}\n")).collect();
    let rows = messages.list("messages").filter_map(row).map(|row| format!("\n{row}"));
    std::iter::once(head).chain(rows).collect()
}

/// Returns a message in words; the results of calls belong to the model's notes.
fn row(message: Record<'_>) -> Option<String> {
    let who = match message.text("role") {
        "user" => "you",
        "tool" => return None,
        role => role,
    };
    let cut = if message.has("truncated") { ", cut at the output limit" } else { "" };
    let calls: Vec<String> = message.list("tool_calls").map(called).filter(|name| !name.is_empty()).collect();
    let calls = if calls.is_empty() { String::new() } else { format!("(called {})\n", calls.join(", ")) };
    let content = message.text("content").trim_end();
    let content = if content.is_empty() { String::new() } else { format!("{content}\n") };
    let error = Some(message.line("error")).filter(|error| !error.is_empty());
    let error = error.map(|error| format!("It failed: {error}\n")).unwrap_or_default();
    Some(format!("── {who}{cut} ──\n{calls}{content}{error}"))
}

/// Returns the name of a called tool.
fn called(call: Record<'_>) -> String {
    let name = call.0.pointer("/function/name").or_else(|| call.0.pointer("/name"));
    name.and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(room: Option<usize>) -> Page {
        Page { now: 1_773_570_600_000, room }
    }

    #[test]
    fn a_list_fits_narrow_and_wide_terminals() {
        let id = |last: char| format!("thread-0190a1b2c3d47e5f{}", String::from(last).repeat(16));
        let row = |last: char, title: &str| {
            json!({ "id": id(last), "title": title, "model": "sonnet", "queued": 0,
            "updatedAt": "2026-03-15T10:29:48.000Z", "running": last == 'a' })
        };
        let answer = json!({ "threads": [row('a', "How many hives are there?"), row('b', "蜂の巣\u{1b}[2J")] });
        for room in [40, 80, 120] {
            let text = listed(Record(&answer), &page(Some(room))).out;
            assert!(text.lines().all(|line| console::measure_text_width(line) <= room), "{room}: {text}");
            assert!(text.contains("thread-0190a1b2c3d47e5fa") && text.contains("How"), "{room}: {text}");
        }
        let whole = listed(Record(&answer), &page(None)).out;
        let expected = format!("{}  12s ago  sonnet  running  How many hives are there?", id('a'));
        assert_eq!(whole.lines().nth(1), Some(expected.as_str()));
    }

    #[test]
    fn a_thread_reads_as_it_was_said() {
        let thread = json!({ "id": "thread-1", "title": "Sums", "model": null, "running": false, "queued": 2,
            "createdAt": "2026-03-15T10:20:00.000Z", "updatedAt": "2026-03-15T10:29:48.000Z", "permissionMode": null });
        let messages = json!({ "messages": [
            { "role": "user", "content": "what is\n6 * 7?" },
            { "role": "assistant", "content": "", "tool_calls": [{ "id": "c", "function": { "name": "calculator" } }] },
            { "role": "tool", "content": "42" },
            { "role": "assistant", "content": "42\n", "truncated": true },
            { "role": "user", "content": "and more?" },
            { "role": "assistant", "content": "", "error": "no\nluck" } ] });
        let expected = "\
thread  thread-1
title   Sums
time    begun 10m ago, changed 12s ago, 2 messages
now     2 wait

── you ──
what is
6 * 7?

── assistant ──
(called calculator)

── assistant, cut at the output limit ──
42

── you ──
and more?

── assistant ──
It failed: no luck
";
        assert_eq!(render(Record(&thread), Record(&messages), &page(None)), expected);
    }
}
