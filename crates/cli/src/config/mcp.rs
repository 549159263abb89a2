//! `[mcp.*]`: servers whose tools agents can call.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use consort_core::catalog::{EffectClass, Permission};
use consort_core::dynamic::NETWORK;

use super::fields::Fields;
use super::models::WEB;
use super::secret::{Address, Secret};
use super::tools::{EFFECTS, PERMISSIONS};
use super::typed::Typed;
use super::values::{Parsed, address, duration, flag, scalar, text, word};

/// A server with tools.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mcp {
    /// What it is called here.
    pub(crate) name: String,
    /// How to reach it.
    pub(crate) transport: Transport,
    /// How long a call may take.
    pub(crate) timeout: Duration,
    /// What the server does not say about its tools, by their names.
    pub(crate) tools: BTreeMap<String, ToolTraits>,
}

/// How to reach a server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Transport {
    /// A program of ours.
    Command {
        /// The program.
        command: String,
        /// Its arguments; they may hold keys.
        args: Vec<Secret>,
        /// What is added to its environment.
        env: BTreeMap<String, Secret>,
        /// The folder it runs in: that of the file.
        folder: PathBuf,
    },
    /// A server of somebody.
    Http {
        /// Its address.
        url: Address,
        /// What is sent along with every request.
        headers: BTreeMap<String, Secret>,
    },
}

/// What is said about a tool here; the server's own word holds for the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ToolTraits {
    /// What doing it twice would mean.
    pub(crate) effect: Option<EffectClass>,
    /// What kind of thing it touches.
    pub(crate) permission: Option<Permission>,
    /// Whether it may run beside other calls.
    pub(crate) parallel_safe: Option<bool>,
    /// A lock it holds while it runs.
    pub(crate) lock: Option<String>,
}

/// Reads one `[mcp.*]`.
pub(super) fn read(name: &str, fields: &mut Fields<'_>) -> Mcp {
    if name == NETWORK {
        fields.mistake_here("this name stands for the tools of other ensembles");
    }
    Mcp {
        name: name.to_owned(),
        transport: transport(fields),
        timeout: fields.read("timeout", duration).unwrap_or(Duration::from_mins(1)),
        tools: fields.entries("tools", |tool, fields| (tool.to_owned(), traits(fields))).into_iter().collect(),
    }
}

fn transport(fields: &mut Fields<'_>) -> Transport {
    let command = fields.read("command", text);
    let args = fields.each("args", hidden).unwrap_or_default();
    let env = fields.map("env", hidden);
    let url = fields.read("url", address(WEB));
    let headers = fields.map("headers", hidden);
    match (fields.has("command"), fields.has("url")) {
        (true, true) => fields.mistake("url", "a server has a `command` or a `url`, not both"),
        (false, false) => fields.mistake_here("needs a `command` or a `url`"),
        (true, false) if fields.has("headers") => fields.mistake("headers", "belongs to a server with a `url`"),
        (false, true) if fields.has("args") => fields.mistake("args", "belongs to a server with a `command`"),
        (false, true) if fields.has("env") => fields.mistake("env", "belongs to a server with a `command`"),
        (true, false) | (false, true) => {}
    }
    match url {
        Some(url) => Transport::Http { url, headers },
        None => Transport::Command { command: command.unwrap_or_default(), args, env, folder: fields.folder() },
    }
}

fn traits(fields: &mut Fields<'_>) -> ToolTraits {
    ToolTraits {
        effect: fields.read("effect", word(EFFECTS)),
        permission: fields.read("permission", word(PERMISSIONS)),
        parallel_safe: fields.read("parallel_safe", flag),
        lock: fields.read("lock", text),
    }
}

/// Anything with one value, which must stay hidden.
pub(super) fn hidden(value: &Typed) -> Parsed<Secret> {
    scalar(value).map(Secret::new)
}
