//! The tool that is not a tool: a call of `run_subtask` becomes a turn of its
//! own, a child of the turn that asked, in the same run and the same budget.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::catalog::{EffectClass, Permission, ToolInfo};
use crate::schema::Schema;

/// The tool's name.
pub const RUN: &str = "run_subtask";

/// What the caller wants done.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Order {
    #[serde(alias = "description")]
    pub(crate) title: String,
    #[serde(alias = "prompt")]
    pub(crate) instructions: String,
    #[serde(default)]
    pub(crate) tools: Option<Vec<String>>,
}

impl Order {
    /// Reads the arguments of a call, or says what is wrong with them.
    pub(crate) fn parse(args: &Value) -> Result<Order, String> {
        let order: Order = serde_json::from_value(args.clone())
            .map_err(|error| format!("invalid_arguments: {error}; needed are `title` and `instructions`"))?;
        if order.instructions.trim().is_empty() {
            return Err("missing_instructions: `instructions` must say what to do".to_owned());
        }
        Ok(order)
    }
}

/// What models are told about it.
pub fn info() -> ToolInfo {
    let description = "Hands a part of the work to a subtask with a conversation of its own and returns its answer. \
        Several calls in one reply run at the same time; they cannot see each other. Give each everything it needs to know.";
    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "description": "A short label" },
            "instructions": { "type": "string", "description": "What to do, with everything needed to do it" },
            "tools": { "type": "array", "items": { "type": "string" }, "description": "Only these of your own tools; all of them when absent" }
        },
        "required": ["title", "instructions"]
    });
    ToolInfo {
        schema: Schema::new(schema),
        permission: Permission::Subagent,
        effect: EffectClass::Read,
        ..ToolInfo::new(RUN, description)
    }
}
