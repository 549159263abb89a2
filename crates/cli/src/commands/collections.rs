//! `consort collections`: the document collections of a server, filled and searched.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use consort_config::Env;
use serde_json::json;

use crate::client::{Call, Failure, Upload};
use crate::commands::Group;
use crate::commands::call::{Printed, call, wrong};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::{Page, Record};
use crate::show::table::{Column, Table};
use crate::show::words::{ago, grouped};

/// The arguments, as typed.
pub(crate) type Args = Group<Command>;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the collections, or the documents of one
    List {
        /// The collection
        name: Option<String>,
    },
    /// Put files into a collection, which is made if there is none: text, Markdown, HTML, CSV, PDF, DOCX
    #[command(after_help = "Example:\n  consort collections add kitchen soup.md menu.pdf")]
    Add {
        /// The collection
        name: String,
        /// The files
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The title, instead of the file's name
        #[arg(long, value_name = "TEXT")]
        title: Option<String>,
        /// The number of the document that the file replaces
        #[arg(long, value_name = "DOCUMENT")]
        replace: Option<u64>,
    },
    /// Erase a collection, or one document of it
    Rm {
        /// The collection
        name: String,
        /// The number of the document
        document: Option<u64>,
    },
    /// Find passages, the best ones first
    Search {
        /// The collection
        name: String,
        /// The words to look for
        #[arg(required = true)]
        words: Vec<String>,
        /// The maximum number of passages
        #[arg(long, value_name = "COUNT")]
        limit: Option<u64>,
    },
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    let target = &args.target;
    match &args.command {
        Command::List { name: None } => call(target, env, output, &Call::get(&["collections"]), collections),
        Command::List { name: Some(name) } => {
            call(target, env, output, &Call::get(&["collections", name, "documents"]), documents)
        }
        Command::Add { name, files, title, replace } => {
            if files.len() > 1 && (title.is_some() || replace.is_some()) {
                return wrong(output, "--title and --replace are for one file");
            }
            let uploads = files.iter().map(|file| upload(file)).collect::<Result<Vec<Upload>, String>>();
            match uploads {
                Ok(uploads) => add(args, (env, output), name, (uploads, title.as_deref(), *replace)),
                Err(mistake) => wrong(output, &mistake),
            }
        }
        Command::Rm { name, document: None } => {
            call(target, env, output, &Call::delete(&["collections", name]), |_, _| {
                Printed::line(format!("{name} is gone"))
            })
        }
        Command::Rm { name, document: Some(document) } => {
            let erase = Call::delete(&["collections", name, "documents", &document.to_string()]);
            call(target, env, output, &erase, |_, _| Printed::line(format!("document {document} of {name} is gone")))
        }
        Command::Search { name, words, limit } => {
            let search = Call::get(&["collections", name, "search"]).with("q", Some(words.join(" ")));
            call(target, env, output, &search.with("limit", *limit), passages)
        }
    }
}

fn add(
    args: &Args,
    (env, output): (&Env<'_>, Output<'_>),
    name: &str,
    (uploads, title, replace): (Vec<Upload>, Option<&str>, Option<u64>),
) -> anyhow::Result<Exit> {
    if replace.is_none() {
        let client = match args.target.client(env) {
            Ok(client) => client,
            Err(mistake) => return wrong(output, &mistake),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        match runtime.block_on(client.send(&Call::post(&["collections"], json!({ "name": name })))) {
            Ok(_made) => output.err.say(format_args!("made the collection {name}"))?,
            Err(Failure::Refused { code, .. }) if code == "COLLECTION_EXISTS" => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    for file in uploads {
        let send = match replace {
            Some(document) => Call::put_file(&["collections", name, "documents", &document.to_string()], file),
            None => Call::post_file(&["collections", name, "documents"], file),
        };
        let output = Output { out: &mut *output.out, err: &mut *output.err };
        call(&args.target, env, output, &send.with("title", title), |answer, _| {
            Printed::line(format!("{}  {}", grouped(answer.count("id").unwrap_or_default()), answer.line("title")))
        })?;
    }
    Ok(Exit::Done)
}

/// Reads a file, with the type that its name says.
fn upload(file: &Path) -> Result<Upload, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{}: cannot be read: {error}", file.display()))?;
    let end = file.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
    let kind = match end.as_str() {
        "pdf" => "application/pdf",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "html" | "htm" => "text/html",
        "md" | "markdown" => "text/markdown",
        "csv" => "text/csv",
        _ => "text/plain",
    };
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Upload { kind: kind.to_owned(), name, bytes })
}

fn collections(answer: Record<'_>, page: &Page) -> Printed {
    let heads = [("COLLECTION", Column::Name), ("DOCUMENTS", Column::Amount), ("CHANGED", Column::Amount)];
    let mut table = Table::new(&heads);
    for one in answer.list("collections") {
        let changed = one.since("updatedAt", page).map(ago).unwrap_or_default();
        table.row([one.line("name"), grouped(one.count("documents").unwrap_or_default()), changed]);
    }
    render(&table, answer, ("collections", "there are no collections"), page)
}

fn documents(answer: Record<'_>, page: &Page) -> Printed {
    let heads = [
        ("DOCUMENT", Column::Amount),
        ("TITLE", Column::Text),
        ("TYPE", Column::Text),
        ("BYTES", Column::Amount),
        ("ADDED", Column::Amount),
    ];
    let mut table = Table::new(&heads);
    for one in answer.list("documents") {
        table.row([
            one.count("id").map(grouped).unwrap_or_default(),
            one.line("title"),
            one.line("mediaType"),
            one.count("bytes").map(grouped).unwrap_or_default(),
            one.since("createdAt", page).map(ago).unwrap_or_default(),
        ]);
    }
    render(&table, answer, ("documents", "there are no documents in it"), page)
}

fn passages(answer: Record<'_>, _: &Page) -> Printed {
    let passage = |hit: Record<'_>| {
        let place = match (hit.count("page"), hit.count("line")) {
            (Some(page), _) => format!(", page {page}"),
            (None, Some(line)) => format!(", line {line}"),
            (None, None) => String::new(),
        };
        let document = hit.count("documentId").unwrap_or_default();
        format!("{} (document {document}{place})\n{}\n", hit.line("title"), hit.text("snippet"))
    };
    let text = answer.list("results").map(passage).collect::<Vec<_>>().join("\n");
    let err = if text.is_empty() { "nothing found\n" } else { "" };
    Printed { err: err.to_owned(), ..Printed::out(text) }
}

fn render(table: &Table, answer: Record<'_>, (list, none): (&str, &str), page: &Page) -> Printed {
    match answer.list(list).next() {
        Some(_) => Printed::out(table.text(page.room)),
        None => Printed { err: format!("{none}\n"), ..Printed::out("") },
    }
}
