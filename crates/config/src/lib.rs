//! `consort.toml`, in two steps: `typed` holds the parsed text, [`Config`] its meaning, in the settings that the
//! library takes. Every mistake is reported at once, with its line and key.
//!
//! # Layout
//! - `typed`, `notes`, `fields`, `values` and `variables` read any such file; `mistake` says what is wrong with one
//! - then there is a file per section
//! - `references` checks one section against another

mod auth;
mod budget;
mod chat;
mod cluster;
mod ensemble;
mod fields;
mod headers;
mod hook;
mod http_tools;
mod mcp;
mod mistake;
mod models;
mod network;
mod notes;
mod openai;
mod openapi;
mod pipelines;
mod references;
mod schedule;
mod server;
mod telemetry;
mod tools;
mod typed;
mod values;
mod variables;
mod webhook;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use consort_core::budget::Limits;
use consort_runtime::hooks::Hook;
use consort_runtime::schedules::Configured;
use consort_runtime::webhooks::Webhook;
use consort_tools::mcp::ServerOptions;

use chat::Chat;
pub use cluster::Cluster;
use ensemble::Template;
pub use ensemble::{Share, ShareKind};
use fields::{Fields, read_all};
pub use mistake::Mistakes;
pub use models::Model;
use network::Network;
use openai::OpenAi;
pub use openapi::Spec;
pub use pipelines::{Pipeline, Step};
pub use server::Server;
use tools::Tools;
pub use tools::{Builtin, is_given, millis, reserved_tools};
pub use variables::Env;

/// The file that is read when none is named.
pub const FILE_NAME: &str = "consort.toml";
/// The file that `consort init` writes, which also holds the defaults without a file.
pub const STARTER: &str = include_str!("starter.toml");

/// The configuration, checked and complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The server's address, and its limits.
    pub server: Server,
    /// The folder of the store.
    pub store: PathBuf,
    /// The nodes that share a database with this one.
    pub cluster: Cluster,
    /// The models, in the order of the file.
    pub models: Vec<Model>,
    /// The tools that agents can call.
    pub tools: Tools,
    /// MCP servers, in the order of the file.
    pub mcp: Vec<ServerOptions>,
    /// The template of a run, if there is an ensemble.
    pub template: Option<Template>,
    /// The network.
    pub network: Network,
    /// Chats.
    pub chat: Chat,
    /// The endpoints under `/v1`.
    pub openai: OpenAi,
    /// The limits of a run.
    pub run_limits: Limits,
    /// Runs that begin when they are due.
    pub schedules: Vec<Configured>,
    /// The programs that are notified of runs.
    pub webhooks: Vec<Webhook>,
    /// The ways in which other programs begin runs.
    pub hooks: Vec<Hook>,
    /// The export of traces, if there is one.
    pub telemetry: Option<consort_runtime::telemetry::Options>,
    /// The files it was read from.
    pub sources: Vec<PathBuf>,
}

impl Config {
    /// Returns the file to use: the one that was named, else the one in this folder.
    pub fn file(named: Option<&Path>) -> Option<&Path> {
        named.or_else(|| Some(Path::new(FILE_NAME)).filter(|file| file.exists()))
    }

    /// Reads that file; without one, returns the demo configuration.
    pub fn find(named: Option<&Path>, env: &Env<'_>) -> Result<Config, Mistakes> {
        Config::file(named).map_or_else(|| Ok(Config::demo()), |file| Config::load(file, env))
    }

    /// Reads a file.
    pub fn load(file: &Path, env: &Env<'_>) -> Result<Config, Mistakes> {
        let text = std::fs::read_to_string(file).map_err(|reason| Mistakes::unreadable(file, &reason))?;
        Config::parse(&text, file, env)
    }

    /// Returns the configuration without a file: offline, no key needed.
    pub fn demo() -> Config {
        let demo = Config::parse(STARTER, Path::new(FILE_NAME), &|_| None);
        // A test ensures that the starter has no mistakes.
        demo.unwrap_or_else(|_| read_all(&[], &mut notes::Notes::default(), config))
    }

    fn parse(text: &str, file: &Path, env: &Env<'_>) -> Result<Config, Mistakes> {
        let (table, mut notes) = typed::read(text, file, env)?;
        let mut config = read_all(&table, &mut notes, config);
        config.sources = std::iter::once(file.to_owned()).chain(notes.read.drain(..)).collect();
        config.tools.builtin.retain(|builtin| tools::key_of(*builtin).is_none_or(|key| notes.has(key)));
        references::check(&config, &mut notes);
        notes.verdict(config, file, text)
    }
}

/// Reads a whole file. The limits of tasks and the timeouts of their reviews are
/// outside of `[ensemble]` and are copied into it here.
fn config(fields: &mut Fields<'_>) -> Config {
    let server = fields.section("server", server::read);
    let models = fields.entries("models", models::read);
    let run_limits = fields.section("run", |run| run.section("budget", |b| budget::read(b, &Limits::default())));
    let mut template = fields.table("ensemble", ensemble::read);
    if let Some(Template { ensemble, .. }) = &mut template {
        ensemble.limits = run_limits;
        ensemble.review.timeout_ms = millis(server.review_timeout);
        ensemble.review.on_timeout = server.on_timeout;
    }
    let name = template.as_ref().map_or("consort", |template| template.ensemble.name.as_str());
    let first_model = models.first().map(|model| model.info.alias.as_str());
    Config {
        store: fields
            .section("store", |store| store.path("path").unwrap_or_else(|| store.folder().join("consort-data"))),
        cluster: fields.section("cluster", cluster::read),
        tools: fields.section("tools", tools::read),
        mcp: fields.entries("mcp", mcp::read),
        network: fields.section("network", |network| network::read(network, name)),
        chat: fields.section("chat", |chat| chat::read(chat, first_model)),
        schedules: fields.tables("schedule", schedule::read),
        webhooks: fields.tables("webhook", webhook::read),
        hooks: fields.tables("hook", hook::read),
        openai: fields.section("openai", openai::read),
        telemetry: fields.table("telemetry", telemetry::read),
        server,
        models,
        template,
        run_limits,
        sources: Vec::new(),
    }
}
