//! `[mcp.*]`: MCP servers whose tools agents can call.

use std::time::Duration;

use consort_core::dynamic::NETWORK;
use consort_tools::mcp::{ServerOptions, Traits, Transport};

use super::fields::Fields;
use super::models::WEB;
use super::tools::{EFFECTS, PERMISSIONS};
use super::values::{address, duration, flag, scalar, text, word};

/// Reads one `[mcp.*]`.
pub(super) fn read(name: &str, fields: &mut Fields<'_>) -> ServerOptions {
    if name == NETWORK {
        fields.mistake_here("this name stands for the tools of other ensembles");
    }
    ServerOptions {
        name: name.to_owned(),
        transport: transport(fields),
        timeout: fields.read("timeout", duration).unwrap_or(Duration::from_mins(1)),
        tools: fields.entries("tools", |tool, fields| (tool.to_owned(), traits(fields))).into_iter().collect(),
    }
}

fn transport(fields: &mut Fields<'_>) -> Transport {
    let command = fields.read("command", text);
    let args = fields.each("args", scalar).unwrap_or_default();
    let env = fields.map("env", scalar);
    let url = fields.read("url", address(WEB));
    let headers = fields.map("headers", scalar);
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

fn traits(fields: &mut Fields<'_>) -> Traits {
    Traits {
        effect: fields.read("effect", word(EFFECTS)),
        permission: fields.read("permission", word(PERMISSIONS)),
        parallel_safe: fields.read("parallel_safe", flag),
        lock: fields.read("lock", text),
    }
}
