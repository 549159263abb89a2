//! The places a tool's calls reach: the destination of their arguments, the files they may not write unasked, and
//! the source of the statements about the tool.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

use crate::requests::catalog::{EffectClass, Permission, ToolInfo};

/// The file with a workspace's instructions, which every chat reads.
pub const INSTRUCTIONS: &str = "AGENTS.md";
/// The argument in which tools that work with files take a path.
const PATH: &str = "path";

/// The reach of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// The destination of the arguments.
    #[serde(default, skip_serializing_if = "Destination::is_unstated")]
    pub to: Destination,
    /// The source of the tool's effect class.
    #[serde(default, skip_serializing_if = "EffectClassSource::is_operator")]
    pub effect_by: EffectClassSource,
    /// The annotations of an MCP server, as JSON text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub annotations: String,
    /// The names of the files that prompts are built from, for a tool that writes files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarded: Vec<String>,
    /// The peers that may do the work of a peer's tool.
    #[serde(default, skip_serializing_if = "Provider::is_named")]
    pub provider: Provider,
    /// Whether it reads something its user did not write, although its class and effect do not say so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads: bool,
}

impl Reach {
    /// Returns the reach of tools that are called one after the other, under this name.
    pub(crate) fn of_chain<'a>(name: &str, tools: impl Iterator<Item = &'a ToolInfo> + Clone) -> Reach {
        let configured = |tool: &ToolInfo| match (&tool.reach.to, tool.permission) {
            (Destination::Configured(host), _) => Some(Destination::Configured(host.clone())),
            (Destination::Unstated, Permission::Network) => Some(Destination::Named(name.to_owned())),
            (Destination::Unstated, _) => None,
            // The address may be the text of another step, so it is not known before the call.
            (Destination::Argument(_) | Destination::Named(_), _) => Some(Destination::Named(name.to_owned())),
        };
        let is_named = |to: &Destination| matches!(to, Destination::Named(_));
        let places: Vec<Destination> = tools.clone().filter_map(configured).collect();
        let to = places.iter().find(|to| is_named(to)).or(places.first()).cloned().unwrap_or_default();
        let by_stranger = tools.clone().any(|tool| tool.reach.effect_by == EffectClassSource::Stranger);
        let effect_by = if by_stranger { EffectClassSource::Stranger } else { EffectClassSource::Operator };
        Reach { to, effect_by, reads: tools.clone().any(ToolInfo::reads_others), ..Reach::default() }
    }

    /// Creates the reach of a tool whose arguments go to this destination.
    pub fn to(to: Destination) -> Reach {
        Reach { to, ..Reach::default() }
    }

    /// Returns whether nothing is known that is not the default.
    pub(crate) fn is_default(&self) -> bool {
        *self == Reach::default()
    }
}

/// The destination of a tool's arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Destination {
    /// Nothing is known: a tool of the class `network` has its own name as the destination, any other none.
    #[default]
    Unstated,
    /// The host of the address in this argument.
    Argument(String),
    /// A host of the configuration, which allows it by naming it.
    Configured(String),
    /// An MCP server or another ensemble, by its name; a chain of tools that reaches several places, by its own.
    Named(String),
}

impl Destination {
    fn is_unstated(&self) -> bool {
        *self == Destination::Unstated
    }
}

/// The source of a tool's effect class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectClassSource {
    /// The configuration, or this program.
    #[default]
    Operator,
    /// The server or the peer that offers the tool.
    Stranger,
}

impl EffectClassSource {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
    fn is_operator(&self) -> bool {
        *self == EffectClassSource::Operator
    }
}

/// The peers that may do the work of a peer's tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// The one in its name alone.
    #[default]
    Named,
    /// Any that shares the same: the tool stands for a pattern such as `network:*`.
    Any,
}

impl Provider {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
    fn is_named(&self) -> bool {
        *self == Provider::Named
    }
}

/// The place that one call would carry its arguments to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A host that only the arguments name.
    Host(String),
    /// A host that the configuration names.
    Configured(String),
    /// A server, a peer, or a tool whose destination is not known, by its name.
    Named(String),
}

impl Target {
    /// Returns the host or name.
    pub fn name(&self) -> &str {
        match self {
            Target::Host(name) | Target::Configured(name) | Target::Named(name) => name,
        }
    }
}

impl ToolInfo {
    /// Returns the place that a call with these arguments would carry them to; none when they stay here, or
    /// when the address in them cannot be read, so that nothing will be sent.
    pub fn target(&self, args: &Value) -> Option<Target> {
        match &self.reach.to {
            Destination::Argument(name) => args.get(name).and_then(Value::as_str).and_then(host_of).map(Target::Host),
            Destination::Configured(host) => Some(Target::Configured(host.clone())),
            Destination::Named(name) => Some(Target::Named(name.clone())),
            Destination::Unstated => (self.permission == Permission::Network).then(|| Target::Named(self.name.clone())),
        }
    }

    /// Returns whether the result of a call is something that its user did not write. What computes from its
    /// arguments, or writes them down, reads nothing.
    pub fn reads_others(&self) -> bool {
        use crate::own_tool::OwnTool;
        match (self.as_own(), self.permission) {
            (None, _) if self.reach.reads => true,
            (Some(OwnTool::SearchCollections | OwnTool::MemoryRecall), _) => true,
            (Some(_), _) => false,
            (None, Permission::Network | Permission::Knowledge | Permission::Secrets | Permission::Execute) => true,
            (None, Permission::WorkspaceWrite | Permission::EditorMutate) => self.effect == EffectClass::Read,
            (None, Permission::Safe | Permission::Subagent) => !self.reach.to.is_unstated(),
        }
    }

    /// Returns what a call reads, in the words that people are shown.
    pub fn subject(&self, args: &Value) -> String {
        let argument = |name: &str| args.get(name).and_then(Value::as_str);
        let subject = match (&self.reach.to, self.permission) {
            (Destination::Argument(name), _) => argument(name).and_then(without_query),
            (_, Permission::WorkspaceWrite) => argument(PATH).map(str::to_owned),
            (_, _) => None,
        };
        subject.unwrap_or_else(|| self.name.clone())
    }

    /// Returns whether a call would write a file that prompts are built from.
    pub fn writes_prompts(&self, args: &Value) -> bool {
        let path = args.get(PATH).and_then(Value::as_str);
        self.effect != EffectClass::Read && path.is_some_and(|path| is_guarded(path, &self.reach.guarded))
    }

    /// Returns the digest of everything a person is shown of the tool, and of what decides about its calls.
    pub fn digest(&self) -> String {
        let ToolInfo { name, description, schema, permission, effect, reach, .. } = self;
        let shown = serde_json::json!([name, description, schema.json(), permission, effect, reach]);
        Sha256::digest(shown.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Returns whether a path leads to a file of one of these names, in any folder and in any case: a file
/// system may not tell them apart, and a folder may be a link to another.
pub fn is_guarded(path: &str, names: &[String]) -> bool {
    let file = path.trim_end_matches(['/', '.', ' ']).rsplit('/').next().unwrap_or_default();
    names.iter().any(|name| name.to_lowercase() == file.to_lowercase())
}

/// Returns the host of an address as the one parser of this program reads it: without a port, in lower case.
pub fn host_of(address: &str) -> Option<String> {
    Url::parse(address).ok()?.host_str().and_then(plain)
}

/// Returns the host in a text that names only a host, with or without a port; `None` for anything else.
pub fn host_alone(text: &str) -> Option<String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    (!text.is_empty() && text.chars().all(plain)).then(|| host_of(&format!("http://{text}/"))).flatten()
}

fn plain(host: &str) -> Option<String> {
    let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
    (!host.is_empty()).then_some(host)
}

/// Returns an address without its query and credentials, which may be secrets.
fn without_query(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let host = url.host_str()?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}://{host}{port}{}", url.scheme(), url.path()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_host_is_what_the_client_would_connect_to_however_it_is_spelled() {
        for (address, host) in [
            ("http://Sink.Example:8080/x?y", "sink.example"),
            ("https://good.example@sink.example/", "sink.example"),
            ("http:\\\\sink.example\\x", "sink.example"),
            ("http://sink.example./", "sink.example"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://[::1]:80/", "::1"),
            ("http://b\u{fc}cher.example", "xn--bcher-kva.example"),
            ("ht\ntp://si\tnk.example", "sink.example"),
        ] {
            assert_eq!(host_of(address).as_deref(), Some(host), "{address}");
        }
        for address in ["", "sink.example", "mailto:a@b", "http://", "/x"] {
            assert_eq!(host_of(address), None, "{address}");
        }
        assert_eq!(host_alone("Sink.Example:80").as_deref(), Some("sink.example"));
        assert_eq!(host_alone("sink.example/x"), None);
        assert_eq!(host_alone("a@b.example"), None);
    }

    #[test]
    fn files_that_prompts_are_built_from_are_known_by_name_wherever_they_seem_to_be() {
        let names = ["AGENTS.md".to_owned(), "consort.toml".to_owned()];
        for path in ["AGENTS.md", "agents.MD", "./AGENTS.md", "link/AGENTS.md", "a//consort.toml", "AGENTS.md/"] {
            assert!(is_guarded(path, &names), "{path}");
        }
        for path in ["AGENTS.md.bak", "notes.md", "consort.toml/x", ""] {
            assert!(!is_guarded(path, &names), "{path}");
        }
    }

    #[test]
    fn the_digest_changes_with_whatever_a_person_is_shown() {
        let tool = ToolInfo::new("pay", "Pays");
        let reach = |annotations: &str| Reach { annotations: annotations.to_owned(), ..Reach::default() };
        let others = [
            ToolInfo { description: "Pays all".to_owned(), ..tool.clone() },
            ToolInfo { schema: crate::schema::Schema::new(json!({ "type": "object" })), ..tool.clone() },
            ToolInfo { effect: EffectClass::Once, ..tool.clone() },
            ToolInfo { permission: Permission::Secrets, ..tool.clone() },
            ToolInfo { reach: reach("{\"destructiveHint\":true}"), ..tool.clone() },
            ToolInfo { reach: Reach::to(Destination::Named("bank".to_owned())), ..tool.clone() },
        ];
        assert_eq!(tool.digest(), tool.clone().digest());
        assert_eq!(
            ToolInfo { timeout_ms: 1, ..tool.clone() }.digest(),
            tool.digest(),
            "how long it may take is not shown"
        );
        assert!(others.iter().all(|other| other.digest() != tool.digest()));
    }

    #[test]
    fn what_a_call_reads_is_named_without_secrets_of_its_address() {
        let reach = Reach::to(Destination::Argument("url".to_owned()));
        let fetch = ToolInfo { permission: Permission::Network, reach, ..ToolInfo::new("http_fetch", "") };
        let args = json!({ "url": "https://me:pw@a.example/page?token=s3cret" });
        assert_eq!(fetch.subject(&args), "https://a.example/page");
        let read = ToolInfo { permission: Permission::WorkspaceWrite, ..ToolInfo::new("read_file", "") };
        assert_eq!(read.subject(&json!({ "path": "secret.env" })), "secret.env");
        assert_eq!(ToolInfo::new("pantry.check", "").subject(&json!({ "path": "x" })), "pantry.check");
    }
}
