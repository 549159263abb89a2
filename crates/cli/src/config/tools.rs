//! `[tools]`: the built-in ones, web search, tools behind an HTTP endpoint, and
//! those made of others.

use std::time::Duration;

use consort_core::catalog::{EffectClass, Permission, ToolInfo};
use consort_core::dynamic::is_plain;
use consort_core::id::Millis;
use consort_core::own_tool::{Audience, OwnTool};
use consort_log::clock::Clock;
use consort_server::DIRECT;
use consort_tools::{
    self as tool, Calculator, DateTime, EditFile, HttpFetch, Json, ListFiles, ReadFile, Tool, WebSearchOptions,
    WriteFile,
};

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

/// The tools that come with Consort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    /// Calculates.
    Calculator,
    /// Returns the date and time.
    Datetime,
    /// Looks up values in JSON.
    Json,
    /// Fetches a page.
    HttpFetch,
    /// Searches the web.
    WebSearch,
    /// Reads a file of the workspace.
    ReadFile,
    /// Lists files of the workspace.
    ListFiles,
    /// Writes a file of the workspace.
    WriteFile,
    /// Changes a file of the workspace.
    EditFile,
    /// Asks a person.
    HumanInput,
}

const BUILTIN: &[(&str, Builtin)] = &[
    ("calculator", Builtin::Calculator),
    ("datetime", Builtin::Datetime),
    ("json", Builtin::Json),
    ("http_fetch", Builtin::HttpFetch),
    ("web_search", Builtin::WebSearch),
    ("read_file", Builtin::ReadFile),
    ("list_files", Builtin::ListFiles),
    ("write_file", Builtin::WriteFile),
    ("edit_file", Builtin::EditFile),
    (OwnTool::HumanInput.name(), Builtin::HumanInput),
];

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
    BUILTIN.iter().map(|(name, _)| *name).chain(OwnTool::ALL.map(OwnTool::name))
}

impl Builtin {
    /// Returns the tool of this name.
    pub(crate) fn named(name: &str) -> Option<Builtin> {
        BUILTIN.iter().find(|(word, _)| *word == name).map(|(_, builtin)| *builtin)
    }

    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        BUILTIN.iter().find(|(_, builtin)| *builtin == self).map_or("", |(word, _)| word)
    }

    /// Returns its description; `None` where the run itself does the work.
    pub(crate) fn told(self) -> Option<ToolInfo> {
        Some(match self {
            Builtin::Calculator => (**Calculator::default().info()).clone(),
            Builtin::Datetime => (**DateTime::new(Clock::system()).info()).clone(),
            Builtin::Json => (**Json::default().info()).clone(),
            Builtin::HttpFetch => HttpFetch::told(),
            Builtin::WebSearch => tool::WebSearch::told(),
            Builtin::ReadFile => ReadFile::told(),
            Builtin::ListFiles => ListFiles::told(),
            Builtin::WriteFile => WriteFile::told(),
            Builtin::EditFile => EditFile::told(),
            Builtin::HumanInput => return None,
        })
    }

    /// Returns the key without which it is absent, if there is one.
    pub(crate) fn needs(self) -> Option<&'static str> {
        match self {
            Builtin::WebSearch => Some("tools.web_search"),
            Builtin::ReadFile | Builtin::ListFiles | Builtin::WriteFile | Builtin::EditFile => Some("server.workspace"),
            Builtin::Calculator | Builtin::Datetime | Builtin::Json | Builtin::HttpFetch | Builtin::HumanInput => None,
        }
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
    let all = || BUILTIN.iter().map(|(_, builtin)| *builtin).collect();
    let builtin: Vec<Builtin> = fields.each("builtin", word(BUILTIN)).unwrap_or_else(all);
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
