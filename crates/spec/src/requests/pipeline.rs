//! A chain of tools as one tool: the first takes the arguments, each next one the text of the one before.
//! Its description follows from its parts; its permission is that of its most dangerous part.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::requests::catalog::{CancelClass, EffectClass, Permission, ToolInfo};
use crate::requests::reach::Reach;
use crate::schema::Schema;

/// The maximum number of tools in a chain.
pub const STEPS_MAX: usize = 16;

/// One tool of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The description of the tool.
    pub tool: Arc<ToolInfo>,
    /// The arguments that are the same in every call.
    pub args: Map<String, Value>,
}

/// The result of chaining tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The description of the tool.
    pub info: ToolInfo,
    /// The property of each tool that takes the text of the previous one; the first has none.
    pub takes: Vec<Option<String>>,
}

/// The reason why tools do not form a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PipelineError {
    /// The number of steps is not between one and `STEPS_MAX`.
    #[error("a pipeline has 1 to {STEPS_MAX} steps, not {0}")]
    Length(usize),
    /// A step cannot take the text of the previous one: use another tool, or set more of its arguments.
    #[error("`{tool}` cannot follow another tool: what it needs beside its `args` must be exactly one text")]
    NoText {
        /// The position of the step.
        step: usize,
        /// The name of its tool.
        tool: String,
    },
    /// A fixed argument is not valid.
    #[error("`{tool}` cannot take this: {reason}")]
    Argument {
        /// The position of the step.
        step: usize,
        /// The name of its tool.
        tool: String,
        /// The argument.
        property: String,
        /// The reason why it is not valid.
        reason: String,
    },
    /// Two tools need different locks; a chain can hold only one.
    #[error("`{tool}` holds another lock than `{other}`, and a pipeline holds only one")]
    Locks {
        /// The position of the step.
        step: usize,
        /// The name of its tool.
        tool: String,
        /// The tool of an earlier step.
        other: String,
    },
}

impl PipelineError {
    /// Returns the part that the error is about: `steps`, one of them, or one of its arguments.
    pub fn place(&self) -> String {
        match self {
            PipelineError::Length(_) => "steps".to_owned(),
            PipelineError::NoText { step, .. } | PipelineError::Locks { step, .. } => format!("steps[{step}]"),
            PipelineError::Argument { step, property, .. } => format!("steps[{step}].args.{property}"),
        }
    }
}

/// Chains these tools, or returns the first error.
pub fn chain(name: &str, description: &str, links: &[Link]) -> Result<Chain, PipelineError> {
    let Some(first) = links.first().filter(|_| links.len() <= STEPS_MAX) else {
        return Err(PipelineError::Length(links.len()));
    };
    links.iter().enumerate().try_for_each(|(step, link)| check(step, link))?;
    let takes: Result<Vec<Option<String>>, _> = links.iter().enumerate().map(takes).collect();
    let tools = || links.iter().map(|link| link.tool.as_ref());
    let info = ToolInfo {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: open(first),
        permission: tools().map(|tool| tool.permission).max().unwrap_or(Permission::Safe),
        effect: tools().map(|tool| tool.effect).fold(EffectClass::Read, stronger),
        parallel_safe: tools().all(|tool| tool.parallel_safe),
        lock: lock(links)?,
        timeout_ms: tools().fold(0, |total, tool| total.saturating_add(tool.timeout_ms)),
        cancel: tools().map(|tool| tool.cancel).fold(CancelClass::Drop, gentler),
        charged: tools().any(|tool| tool.charged),
        remembered: false,
        reach: Reach::of_chain(name, tools()),
    };
    Ok(Chain { info, takes: takes? })
}

/// Checks that every fixed argument is one of the tool's, and fits.
fn check(step: usize, Link { tool, args }: &Link) -> Result<(), PipelineError> {
    let properties = tool.schema.json().get("properties").and_then(Value::as_object);
    for (property, value) in args {
        let wrong = |reason: String| {
            let tool = tool.name.clone();
            let property = property.clone();
            Err(PipelineError::Argument { step, tool, property, reason })
        };
        match properties.and_then(|known| known.get(property)) {
            None => {
                let known: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                return wrong(format!("it has no argument `{property}`; it has {}", known.join(", ")));
            }
            Some(schema) => match Schema::new(schema.clone()).violations(value).as_slice() {
                [] => {}
                violations => return wrong(violations.join("; ")),
            },
        }
    }
    Ok(())
}

/// Returns the property with which a tool takes the text of the previous one.
fn takes((step, Link { tool, args }): (usize, &Link)) -> Result<Option<String>, PipelineError> {
    if step == 0 {
        return Ok(None);
    }
    let json = tool.schema.json();
    let required = json.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let open: Vec<&str> = required.filter(|name| !args.contains_key(*name)).collect();
    let takes_text = |name: &str| {
        let property = json.get("properties").and_then(|properties| properties.get(name));
        property.is_some_and(takes_text)
    };
    match open.as_slice() {
        [only] if takes_text(only) => Ok(Some((*only).to_owned())),
        _ => Err(PipelineError::NoText { step, tool: tool.name.clone() }),
    }
}

/// Returns whether this schema accepts a text.
fn takes_text(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|name| name == "string"),
        Some(name) => name == "string",
        None => true,
    }
}

/// Returns the schema of the first tool's arguments that are not fixed.
fn open(Link { tool, args }: &Link) -> Schema {
    if args.is_empty() {
        return tool.schema.clone();
    }
    let mut json = tool.schema.json().clone();
    if let Some(properties) = json.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !args.contains_key(name));
    }
    if let Some(required) = json.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name.as_str().is_none_or(|name| !args.contains_key(name)));
    }
    Schema::new(json)
}

/// Returns the one lock of the chain, if there is one.
fn lock(links: &[Link]) -> Result<Option<String>, PipelineError> {
    let mut locked = links.iter().enumerate().filter(|(_, link)| link.tool.lock.is_some());
    let Some((_, first)) = locked.next() else { return Ok(None) };
    match locked.find(|(_, link)| link.tool.lock != first.tool.lock) {
        Some((step, link)) => {
            let tool = link.tool.name.clone();
            let other = first.tool.name.clone();
            Err(PipelineError::Locks { step, tool, other })
        }
        None => Ok(first.tool.lock.clone()),
    }
}

fn stronger(one: EffectClass, other: EffectClass) -> EffectClass {
    match (one, other) {
        (EffectClass::Once, _) | (_, EffectClass::Once) => EffectClass::Once,
        (EffectClass::Idempotent, _) | (_, EffectClass::Idempotent) => EffectClass::Idempotent,
        (EffectClass::Read, EffectClass::Read) => EffectClass::Read,
    }
}

fn gentler(one: CancelClass, other: CancelClass) -> CancelClass {
    match (one, other) {
        (CancelClass::Finish, _) | (_, CancelClass::Finish) => CancelClass::Finish,
        (CancelClass::Drop, CancelClass::Drop) => CancelClass::Drop,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn link(name: &str, change: impl FnOnce(&mut ToolInfo)) -> Link {
        let mut tool = ToolInfo::new(name, "");
        change(&mut tool);
        Link { tool: Arc::new(tool), args: Map::new() }
    }

    fn plain(name: &str) -> Link {
        link(name, |_| {})
    }

    /// Creates a tool that needs a text and a number.
    fn query(args: Value) -> Link {
        let schema = json!({ "type": "object", "required": ["text", "top"], "properties": {
            "text": { "type": "string" }, "top": { "type": "integer", "minimum": 1 } } });
        let link = link("query", |tool| tool.schema = Schema::new(schema));
        Link { args: args.as_object().cloned().unwrap(), ..link }
    }

    fn made(links: &[Link]) -> Result<Chain, PipelineError> {
        chain("chain", "Does it all", links)
    }

    #[test]
    fn the_chain_is_what_its_strongest_part_is() {
        let desk = |tool: &mut ToolInfo| tool.lock = Some("desk".to_owned());
        let again = link("again", |tool| {
            desk(tool);
            tool.effect = EffectClass::Idempotent;
            tool.permission = Permission::WorkspaceWrite;
        });
        let serial = link("serial", |tool| {
            desk(tool);
            (tool.parallel_safe, tool.cancel, tool.charged) = (false, CancelClass::Finish, true);
        });
        let info = made(&[plain("plain"), again.clone(), serial]).unwrap().info;
        let expected = ToolInfo {
            permission: Permission::WorkspaceWrite,
            effect: EffectClass::Idempotent,
            parallel_safe: false,
            lock: Some("desk".to_owned()),
            timeout_ms: 90_000,
            cancel: CancelClass::Finish,
            charged: true,
            ..ToolInfo::new("chain", "Does it all")
        };
        assert_eq!(info, expected);
        let once = link("once", |tool| tool.effect = EffectClass::Once);
        assert_eq!(made(&[once, again]).unwrap().info.effect, EffectClass::Once);
        assert_eq!(made(&[plain("a"), plain("b")]).unwrap().info.effect, EffectClass::Read);
    }

    #[test]
    fn what_is_said_beforehand_is_not_asked_for_any_more() {
        let chain = made(&[query(json!({ "top": 3 })), query(json!({ "top": 1 })), plain("last")]).unwrap();
        let asked = json!({ "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } });
        assert_eq!(chain.info.schema.json(), &asked);
        assert_eq!(chain.takes, [None, Some("text".to_owned()), Some("input".to_owned())]);
        for (property, fits) in
            [(json!({}), true), (json!({ "type": ["null", "string"] }), true), (json!({ "type": "integer" }), false)]
        {
            let schema = json!({ "type": "object", "required": ["any"], "properties": { "any": property } });
            let any = link("any", |tool| tool.schema = Schema::new(schema));
            assert_eq!(made(&[plain("a"), any]).is_ok(), fits, "{property}");
        }
    }

    #[test]
    fn what_does_not_fit_together_is_told_with_its_place() {
        let locked = |name: &str| link(name, |tool| tool.lock = Some(name.to_owned()));
        let many: Vec<Link> = (0..17).map(|_| plain("a")).collect();
        let optional = link("datetime", |tool| tool.schema = Schema::new(json!({ "type": "object" })));
        for (links, place, message) in [
            (vec![], "steps", "a pipeline has 1 to 16 steps, not 0"),
            (many, "steps", "a pipeline has 1 to 16 steps, not 17"),
            (
                vec![plain("a"), query(json!({}))],
                "steps[1]",
                "`query` cannot follow another tool: what it needs beside its `args` must be exactly one text",
            ),
            (
                vec![plain("a"), optional],
                "steps[1]",
                "`datetime` cannot follow another tool: what it needs beside its `args` must be exactly one text",
            ),
            (
                vec![query(json!({ "top": 0 }))],
                "steps[0].args.top",
                "`query` cannot take this: (the whole value): 0 is less than the minimum of 1",
            ),
            (
                vec![query(json!({ "max": 1 }))],
                "steps[0].args.max",
                "`query` cannot take this: it has no argument `max`; it has text, top",
            ),
            (
                vec![locked("desk"), plain("a"), locked("shelf")],
                "steps[2]",
                "`shelf` holds another lock than `desk`, and a pipeline holds only one",
            ),
        ] {
            let error = made(&links).unwrap_err();
            assert_eq!((error.place().as_str(), error.to_string().as_str()), (place, message));
        }
    }
}
