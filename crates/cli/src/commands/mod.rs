//! The commands: a file for each, with a `run` that executes it and returns the exit
//! status. An error is an unexpected failure.

pub(crate) mod acp;
pub(crate) mod backup;
mod call;
pub(crate) mod capabilities;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod collections;
pub(crate) mod completions;
pub(crate) mod health;
pub(crate) mod init;
pub(crate) mod keys;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod network;
pub(crate) mod restore;
pub(crate) mod reviews;
pub(crate) mod run;
mod running_server;
pub(crate) mod runs;
pub(crate) mod schedules;
pub(crate) mod serve;
pub(crate) mod stdio;
pub(crate) mod store;
pub(crate) mod threads;
pub(crate) mod tools;
pub(crate) mod top;
pub(crate) mod webhooks;
pub(crate) mod workflows;

use std::path::Path;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use crate::client::Target;

/// A command about a server that has commands of its own.
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Group<C: Subcommand> {
    #[command(subcommand)]
    command: C,
    #[command(flatten)]
    target: Target,
}

/// Reads a JSON file, or returns the mistake in it.
fn json_file(file: &Path) -> Result<Value, String> {
    let wrong = |message: String| format!("{}: {message}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    serde_json::from_str(&text).map_err(|error| wrong(format!("is not JSON: {error}")))
}

/// Parses `NAME=VALUE` of the command line.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        Some(_) | None => Err("write NAME=VALUE".to_owned()),
    }
}

/// Parses `NAME=VALUE`, a string, or `NAME:=JSON` of the command line.
fn input(text: &str) -> Result<(String, Value), String> {
    let wrong = || "write NAME=VALUE, or NAME:=JSON for a value that is no string".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let (name, value) = match name.strip_suffix(':') {
        Some(name) => (name, serde_json::from_str(value).map_err(|error| format!("is not JSON: {error}"))?),
        None => (name, Value::from(value)),
    };
    if name.trim().is_empty() { Err(wrong()) } else { Ok((name.trim().to_owned(), value)) }
}

/// Adds pairs of the command line to an object of a request.
fn extend<V: Clone + Into<Value>>(
    body: &mut Map<String, Value>,
    name: &str,
    typed: &[(String, V)],
) -> Result<(), String> {
    if typed.is_empty() {
        return Ok(());
    }
    let given = body.entry(name).or_insert_with(|| json!({})).as_object_mut();
    let given = given.ok_or_else(|| format!("{name}: must be an object, so that more can be added to it"))?;
    given.extend(typed.iter().map(|(name, value)| (name.clone(), value.clone().into())));
    Ok(())
}
