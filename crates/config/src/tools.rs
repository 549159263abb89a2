//! `[tools]`: the built-in ones, web search, tools behind an HTTP endpoint, and
//! those made of others.

use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use consort_core::catalog::{EffectClass, Permission};
use consort_core::dynamic::is_plain;
use consort_core::id::Millis;
use consort_core::own_tool::{Audience, OwnTool};
use consort_server::DIRECT;
pub use consort_tools::Builtin;
use consort_tools::{CommandOptions, Needs, RUN_COMMAND, WebSearchOptions};

use super::fields::Fields;
use super::http_tools::{self, HttpTool};
use super::models::WEB;
use super::openapi::{self, Api};
use super::pipelines::{self, Pipeline};
use super::typed::Typed;
use super::values::{Parsed, address, bytes, duration, flag, text, word};

/// The tools that agents can call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tools {
    /// The built-in tools that are enabled.
    pub builtin: Vec<Builtin>,
    /// Classes that may be called directly, without an agent.
    pub direct: Vec<Permission>,
    /// Whether a model or a client may name addresses of the private network.
    pub allow_private_addresses: bool,
    /// The search service.
    pub web_search: Option<WebSearchOptions>,
    /// Tools behind HTTP endpoints.
    pub http: Vec<HttpTool>,
    /// APIs by their OpenAPI documents.
    pub openapi: Vec<Api>,
    /// The programs that may be run, if any may.
    pub run_command: Option<CommandOptions>,
    /// Tools made of others, each after its steps.
    pub pipelines: Vec<Pipeline>,
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
    ("execute", Permission::Execute),
];

/// The words for effect classes.
pub(super) const EFFECTS: &[(&str, EffectClass)] =
    &[("read", EffectClass::Read), ("idempotent", EffectClass::Idempotent), ("once", EffectClass::Once)];

/// Returns whether tasks may list a tool without any configuration.
pub fn is_given(name: &str) -> bool {
    OwnTool::parse(name).is_some_and(|tool| tool.audience() == Audience::Everyone)
}

/// Returns the names that no tool of an MCP server gets, whether they are in use or not.
pub fn reserved_tools() -> impl Iterator<Item = &'static str> {
    Builtin::ALL.iter().copied().map(Builtin::name).chain([RUN_COMMAND]).chain(OwnTool::ALL.map(OwnTool::name))
}

/// Returns the key without which a built-in tool is absent, if there is one.
pub(crate) fn key_of(builtin: Builtin) -> Option<&'static str> {
    match builtin.needs() {
        Needs::Search => Some("tools.web_search"),
        Needs::Workspace | Needs::Sandbox => Some("server.workspace"),
        Needs::Nothing | Needs::Web | Needs::Run => None,
    }
}

impl Tools {
    /// Returns the names of all tools.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let builtin = self.builtin.iter().map(|builtin| builtin.name());
        let http = self.http.iter().map(|tool| tool.info.name.as_str());
        let operations = self.openapi.iter().flat_map(Api::known).map(|tool| tool.info.name.as_str());
        let program = self.run_command.iter().map(|_| RUN_COMMAND);
        builtin
            .chain(program)
            .chain(http)
            .chain(operations)
            .chain(self.pipelines.iter().map(|pipeline| pipeline.name.as_str()))
    }
}

/// Reads `[tools]`.
pub(super) fn read(fields: &mut Fields<'_>) -> Tools {
    let builtin: Vec<Builtin> = fields.each("builtin", word(&BUILTIN)).unwrap_or_else(|| Builtin::ALL.to_vec());
    let taken = |name: &str| {
        // Asking a person is the only built-in tool of runs that can be switched off.
        let reserved = OwnTool::parse(name).is_some_and(|tool| tool != OwnTool::HumanInput);
        reserved || name == RUN_COMMAND || builtin.iter().any(|builtin| builtin.name() == name)
    };
    let check = |name: &str, fields: &mut Fields<'_>| {
        if taken(name) {
            fields.mistake_here("a built-in tool has this name");
        }
    };
    let http = fields.entries("http", |name, fields| {
        check(name, fields);
        http_tools::read(name, fields)
    });
    let openapi = fields.entries("openapi", |name, fields| {
        let api = openapi::read(name, fields);
        check_operations(&api, (&http, taken), fields);
        api
    });
    let pipelines = fields.entries("pipeline", |name, fields| {
        check(name, fields);
        pipelines::read(name, fields)
    });
    Tools {
        direct: fields.each("direct", word(PERMISSIONS)).unwrap_or_else(|| DIRECT.to_vec()),
        allow_private_addresses: fields.read("allow_private_addresses", flag).unwrap_or(false),
        web_search: fields.table("web_search", web_search),
        run_command: fields.table("run_command", run_command),
        pipelines: pipelines::sorted(pipelines),
        openapi,
        http,
        builtin,
    }
}

/// Refuses operations that have the name of another tool.
fn check_operations(api: &Api, (http, taken): (&[HttpTool], impl Fn(&str) -> bool), fields: &mut Fields<'_>) {
    let mut others = http.iter().map(|tool| tool.info.name.as_str());
    if let Some(other) = others.find(|other| api.known().iter().any(|tool| tool.info.name == *other)) {
        fields.mistake_here(format!("an operation of it is called `{other}`, as a tool of [tools.http]"));
    }
    if let Some(tool) = api.known().iter().find(|tool| taken(&tool.info.name)) {
        fields.mistake_here(format!("an operation of it has the name of the built-in tool `{}`", tool.info.name));
    }
}

fn run_command(fields: &mut Fields<'_>) -> CommandOptions {
    let programs = fields.names("programs", program);
    if programs.is_empty() {
        fields.mistake_here("`programs` must name at least one program");
    }
    let options = CommandOptions {
        programs,
        read_only: fields.each("read_only", folder).unwrap_or_default(),
        env: fields.map("env", text).into_iter().collect(),
        timeout: fields.read("timeout", duration).unwrap_or(CommandOptions::TIMEOUT),
        max_memory: fields.read("max_memory", bytes).unwrap_or(CommandOptions::MAX_MEMORY),
    };
    if let Some(name) = options.env.iter().map(|(name, _)| name).find(|name| !is_variable(name)) {
        fields.mistake("env", format!("`{name}` is not the name of a variable, or is one that Consort sets itself"));
    }
    options
}

/// Reads the name of a program: there is no shell, and no path.
fn program(value: &Typed) -> Parsed<String> {
    let name = text(value)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    if !name.is_empty() && !name.starts_with(['.', '-']) && name.chars().all(is_plain) {
        Ok(name)
    } else {
        Err("must be the name of a program, such as \"cargo\": a folder that it is in goes into `read_only`".to_owned())
    }
}

/// Reads a folder by its absolute path.
fn folder(value: &Typed) -> Parsed<PathBuf> {
    let path = PathBuf::from(text(value)?);
    let is_plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
    if is_plain && path != Path::new("/") { Ok(path) } else { Err("must be the absolute path of a folder".to_owned()) }
}

fn is_variable(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_plain) && !matches!(name, "PATH" | "HOME" | "LANG")
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
pub fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}
