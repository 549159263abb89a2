//! Turns a server's description of its tools, and the additions of the
//! configuration, into the descriptions that runs use. A tool that cannot be
//! used is listed with the reason, so that people need not search for it.

use std::sync::Arc;

use consort_core::catalog::{CancelClass, EffectClass, Permission, ToolInfo};
use consort_core::reach::{Destination, EffectClassSource, Reach};
use consort_core::schema::Schema;
use serde_json::{Value, json};

use super::answer::cut;
use super::link::ServerLink;
use super::names::Names;
use super::tool::McpTool;
use super::{ServerOptions, Tool};

/// The maximum size of a description in bytes; more would only fill the model's context.
const DESCRIPTION_MAX: usize = 16 * 1024;

/// The maximum size of annotations in bytes: they are stored with every run that may use the tool.
const ANNOTATIONS_MAX: usize = 4 * 1024;

/// A server's description of one of its tools.
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) schema: Value,
    pub(super) read_only: bool,
    /// Everything the server annotates, as JSON text; empty when that is nothing.
    pub(super) annotations: String,
}

impl From<rmcp::model::Tool> for Listed {
    fn from(tool: rmcp::model::Tool) -> Listed {
        Listed {
            description: tool.description.map(|words| words.into_owned()).or(tool.title).unwrap_or_default(),
            schema: Value::Object(tool.input_schema.as_ref().clone()),
            annotations: tool.annotations.as_ref().and_then(written).unwrap_or_default(),
            read_only: tool.annotations.is_some_and(|hints| hints.read_only_hint == Some(true)),
            name: tool.name.into_owned(),
        }
    }
}

/// Returns annotations as text, in the order of the names; more than the limit is as good as changed.
fn written(annotations: &rmcp::model::ToolAnnotations) -> Option<String> {
    let text = serde_json::to_string(annotations).ok()?;
    Some(cut(&text, ANNOTATIONS_MAX).to_owned()).filter(|text| text != "{}")
}

/// Returns the tools of a server that has listed them.
pub(super) fn tools(
    listed: Vec<Listed>,
    options: &ServerOptions,
    names: &Names,
    link: &Arc<ServerLink>,
) -> Vec<Arc<dyn Tool>> {
    for name in options.tools.keys().filter(|name| !listed.iter().any(|tool| tool.name == **name)) {
        tracing::warn!(server = options.name, tool = name, "configured, but the MCP server has no such tool");
    }
    listed.into_iter().filter_map(|tool| offered(tool, options, names, link)).collect()
}

/// Returns the tools that the configuration names, for a server that has not listed its tools yet.
pub(super) fn expected(options: &ServerOptions, names: &Names, link: &Arc<ServerLink>) -> Vec<Arc<dyn Tool>> {
    let unknown = |name: &String| Listed {
        name: name.clone(),
        description: String::new(),
        schema: json!({ "type": "object" }),
        read_only: false,
        annotations: String::new(),
    };
    options.tools.keys().map(unknown).filter_map(|tool| offered(tool, options, names, link)).collect()
}

fn offered(tool: Listed, options: &ServerOptions, names: &Names, link: &Arc<ServerLink>) -> Option<Arc<dyn Tool>> {
    let Some(name) = names.give(&options.name, &tool.name) else {
        tracing::warn!(server = options.name, tool = tool.name, "left out: it has no name of its own here");
        return None;
    };
    let remote = tool.name.clone();
    let link = link.clone();
    let (info, defect) = info(tool, &name, options);
    if let Some(defect) = &defect {
        tracing::warn!(server = options.name, tool = remote, defect, "the tool cannot be used");
    }
    Some(Arc::new(McpTool { info: Arc::new(info), link, remote, defect }))
}

/// Returns the description of the tool, and the reason why it cannot be used, if so.
fn info(tool: Listed, name: &str, options: &ServerOptions) -> (ToolInfo, Option<String>) {
    let traits = options.tools.get(&tool.name).cloned().unwrap_or_default();
    // The file vouches for a tool by saying anything about what its calls are.
    let is_vouched = traits.effect.is_some() || traits.permission.is_some();
    let effect_by =
        if is_vouched || !tool.read_only { EffectClassSource::Operator } else { EffectClassSource::Stranger };
    let to = Destination::Named(options.name.clone());
    let reach = Reach { to, effect_by, annotations: tool.annotations, ..Reach::default() };
    let by_server = if tool.read_only { EffectClass::Read } else { EffectClass::Once };
    let effect = traits.effect.unwrap_or(by_server);
    let (schema, defect) = match Schema::parse(tool.schema) {
        Ok(schema) => (schema, None),
        Err(reason) => {
            let defect = format!("what the server says about its arguments cannot be used: {reason}");
            (Schema::new(json!({ "type": "object" })), Some(defect))
        }
    };
    let info = ToolInfo {
        description: cut(&tool.description, DESCRIPTION_MAX).to_owned(),
        schema,
        permission: traits.permission.unwrap_or(Permission::Network),
        effect,
        reach,
        parallel_safe: traits.parallel_safe.unwrap_or(tool.read_only),
        lock: traits.lock,
        timeout_ms: u64::try_from(options.timeout.as_millis()).unwrap_or(u64::MAX),
        // Half of an action that must happen once is worse than a short wait.
        cancel: if effect == EffectClass::Once { CancelClass::Finish } else { CancelClass::Drop },
        ..ToolInfo::new(name, "")
    };
    (info, defect)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::super::{Traits, Transport};
    use super::*;

    fn described(traits: Traits, read_only: bool) -> ToolInfo {
        let annotations = json!({ "readOnlyHint": read_only, "destructiveHint": false });
        let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "annotations": annotations });
        let tool: rmcp::model::Tool = serde_json::from_value(tool).unwrap();
        let options = ServerOptions {
            name: "files".to_owned(),
            transport: Transport::Http { url: "http://127.0.0.1:1".to_owned(), headers: BTreeMap::new() },
            timeout: Duration::from_secs(1),
            tools: BTreeMap::from([("t".to_owned(), traits)]),
        };
        info(tool.into(), "t", &options).0
    }

    #[test]
    fn a_hint_is_vouched_for_by_the_file_alone() {
        let by = |traits: Traits, read_only| described(traits, read_only).reach.effect_by;
        let effect = Traits { effect: Some(EffectClass::Read), ..Traits::default() };
        let permission = Traits { permission: Some(Permission::Network), ..Traits::default() };
        let lock = Traits { lock: Some("l".to_owned()), ..Traits::default() };
        assert_eq!(by(Traits::default(), true), EffectClassSource::Stranger);
        assert_eq!(by(lock, true), EffectClassSource::Stranger, "a lock says nothing of what it does");
        assert_eq!(
            (by(effect, true), by(permission, true)),
            (EffectClassSource::Operator, EffectClassSource::Operator)
        );
        assert_eq!(
            by(Traits::default(), false),
            EffectClassSource::Operator,
            "without a hint there is nothing to believe"
        );
    }

    #[test]
    fn the_server_is_where_calls_go_and_its_annotations_are_part_of_the_tool() {
        let tool = described(Traits::default(), true);
        assert_eq!(tool.reach.to, Destination::Named("files".to_owned()));
        assert!(tool.reach.annotations.contains("destructiveHint"), "{}", tool.reach.annotations);
        assert_ne!(tool.digest(), described(Traits::default(), false).digest());
    }
}
