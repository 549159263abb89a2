//! `[tools]`: the built-in ones, web search, tools behind an HTTP endpoint, and
//! those made of others.

use std::sync::LazyLock;
use std::time::Duration;

use consort_core::catalog::{EffectClass, Permission};
use consort_core::dynamic::is_plain;
use consort_core::id::Millis;
use consort_core::own_tool::{Audience, OwnTool};
use consort_server::DIRECT;
pub(crate) use consort_tools::Builtin;
use consort_tools::{Needs, WebSearchOptions};

use super::fields::Fields;
use super::http_tools::{self, HttpTool};
use super::models::WEB;
use super::pipelines::{self, Pipeline};
use super::typed::Typed;
use super::values::{Parsed, address, flag, text, word};

/// The tools that agents can call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tools {
    /// The built-in tools that are enabled.
    pub(crate) builtin: Vec<Builtin>,
    /// Classes that may be called directly, without an agent.
    pub(crate) direct: Vec<Permission>,
    /// Whether a model or a client may name addresses of the private network.
    pub(crate) allow_private_addresses: bool,
    /// The search service.
    pub(crate) web_search: Option<WebSearchOptions>,
    /// Tools behind HTTP endpoints.
    pub(crate) http: Vec<HttpTool>,
    /// Tools made of others, each after its steps.
    pub(crate) pipelines: Vec<Pipeline>,
}

/// The words for the built-in tools.
static BUILTIN: LazyLock<Vec<(&str, Builtin)>> =
    LazyLock::new(|| Builtin::ALL.iter().map(|builtin| (builtin.name(), *builtin)).collect());

/// The words for permission classes.
pub(super) const PERMISSIONS: &[(&str, Permission)] = &[
    ("safe", Permission::Safe),
    ("knowledge", Permission::Knowledge),
    ("network", Permission::Network),
    ("workspace_write", Permission::WorkspaceWrite),
    ("editor_mutate", Permission::EditorMutate),
    ("subagent", Permission::Subagent),
    ("secrets", Permission::Secrets),
];

/// The words for effect classes.
pub(super) const EFFECTS: &[(&str, EffectClass)] =
    &[("read", EffectClass::Read), ("idempotent", EffectClass::Idempotent), ("once", EffectClass::Once)];

/// Whether tasks may list a tool without any configuration.
pub(crate) fn is_given(name: &str) -> bool {
    OwnTool::parse(name).is_some_and(|tool| tool.audience() == Audience::Everyone)
}

/// Returns the names that no tool of an MCP server gets, whether they are in use or not.
pub(crate) fn reserved_tools() -> impl Iterator<Item = &'static str> {
    Builtin::ALL.map(Builtin::name).into_iter().chain(OwnTool::ALL.map(OwnTool::name))
}

/// Returns the key without which a built-in tool is absent, if there is one.
pub(crate) fn key_of(builtin: Builtin) -> Option<&'static str> {
    match builtin.needs() {
        Needs::Search => Some("tools.web_search"),
        Needs::Workspace => Some("server.workspace"),
        Needs::Nothing | Needs::Web | Needs::Run => None,
    }
}

impl Tools {
    /// Returns the names of all tools.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let builtin = self.builtin.iter().map(|builtin| builtin.name());
        let http = self.http.iter().map(|tool| tool.info.name.as_str());
        builtin.chain(http).chain(self.pipelines.iter().map(|pipeline| pipeline.name.as_str()))
    }
}

/// Reads `[tools]`.
pub(super) fn read(fields: &mut Fields<'_>) -> Tools {
    let builtin: Vec<Builtin> = fields.each("builtin", word(&BUILTIN)).unwrap_or_else(|| Builtin::ALL.to_vec());
    let taken = |name: &str| {
        // Asking a person is the only built-in tool of runs that can be switched off.
        let reserved = OwnTool::parse(name).is_some_and(|tool| tool != OwnTool::HumanInput);
        reserved || builtin.iter().any(|builtin| builtin.name() == name)
    };
    let http = fields.entries("http", |name, fields| {
        if taken(name) {
            fields.mistake_here("a built-in tool has this name");
        }
        http_tools::read(name, fields)
    });
    let pipelines = fields.entries("pipeline", |name, fields| {
        if taken(name) {
            fields.mistake_here("a built-in tool has this name");
        }
        pipelines::read(name, fields)
    });
    Tools {
        direct: fields.each("direct", word(PERMISSIONS)).unwrap_or_else(|| DIRECT.to_vec()),
        allow_private_addresses: fields.read("allow_private_addresses", flag).unwrap_or(false),
        web_search: fields.table("web_search", web_search),
        pipelines: pipelines::sorted(pipelines),
        http,
        builtin,
    }
}

fn web_search(fields: &mut Fields<'_>) -> WebSearchOptions {
    let url = fields.need("url", search_address).unwrap_or_default();
    WebSearchOptions { url, api_key: fields.read("api_key", text) }
}

fn search_address(value: &Typed) -> Parsed<String> {
    let url = address(WEB)(value)?;
    if url.contains("{query}") { Ok(url) } else { Err("must have `{query}` in it".to_owned()) }
}

/// Notes a mistake if a tool cannot have this name.
pub(super) fn name_of_tool(name: &str, fields: &mut Fields<'_>) {
    if !is_plain(name) {
        fields.mistake_here("the name of a tool has only letters, digits, `_` and `-`");
    }
}

/// Returns a duration in milliseconds, core's unit.
pub(crate) fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}
