//! The descriptions of own tools for models: their names, what they do and the arguments they take.

use serde_json::{Value, json};

use super::OwnTool;
use crate::requests::catalog::{EffectClass, Permission, ToolInfo};
use crate::schema::Schema;

/// Returns the description of `run_subtask` for models.
pub(super) fn subtask() -> ToolInfo {
    let description = "Hands a part of the work to a subtask with a conversation of its own and returns its answer. \
        Several calls in one reply run at the same time; they cannot see each other. Give each everything it needs to know.";
    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "description": "A short label" },
            "instructions": { "type": "string", "description": "What to do, with everything needed to do it" },
            "tools": { "type": "array", "items": { "type": "string" }, "description": "Only these of your own tools; all of them when absent" },
            "output_schema": { "type": "object", "description": "A JSON Schema, when the answer must be structured" }
        },
        "required": ["title", "instructions"],
        "additionalProperties": false
    });
    ToolInfo {
        schema: Schema::new(schema),
        permission: Permission::Subagent,
        effect: EffectClass::Read,
        ..ToolInfo::own(OwnTool::RunSubtask, description)
    }
}

/// Returns the description of `build_workflow` for models.
pub(super) fn build() -> ToolInfo {
    let description = "Plans a workflow for an objective and checks it. Returns a reference to the graph, how large \
        it is and a summary; read_result shows the graph by its reference. Nothing in the editor changes by itself.";
    let schema = json!({
        "type": "object",
        "properties": { "objective": { "type": "string", "description": "What the workflow is to achieve, with everything it must respect" } },
        "required": ["objective"]
    });
    ToolInfo {
        schema: Schema::new(schema),
        permission: Permission::EditorMutate,
        parallel_safe: false,
        ..ToolInfo::own(OwnTool::BuildWorkflow, description)
    }
}

/// Returns the description of `read_result` for models.
pub(super) fn result() -> ToolInfo {
    let schema = json!({
        "type": "object",
        "properties": {
            "handle": { "type": "string", "description": "The handle named where a result was cut" },
            "offset": { "type": "integer", "minimum": 0, "description": "The first byte to read; 0 when absent" },
            "limit": { "type": "integer", "minimum": 1, "description": "Bytes to read at most; 20000 when absent" }
        },
        "required": ["handle"]
    });
    let description = "Reads a part of a tool's result that was too long to be shown whole.";
    ToolInfo {
        schema: Schema::new(schema),
        permission: Permission::Knowledge,
        ..ToolInfo::own(OwnTool::ReadResult, description)
    }
}

/// Returns the description of `memory_list` for models.
pub(super) fn memory_list() -> ToolInfo {
    let schema = json!({ "type": "object", "properties": {
        "kind": text("Only entries of this kind: task_result or shared"),
        "key_prefix": text("Only keys that begin with this"),
        "sources": texts("Only entries written by these calls") } });
    let description = "Lists what this turn and its subtasks have written down so far, without the values.";
    info(OwnTool::MemoryList, description, schema)
}

/// Returns the description of `memory_read` for models.
pub(super) fn memory_read() -> ToolInfo {
    let schema = json!({ "type": "object", "properties": { "keys": texts("The keys to read") }, "required": ["keys"] });
    let description = "Reads entries by their keys, such as task:<id> for a subtask's whole result.";
    info(OwnTool::MemoryRead, description, schema)
}

/// Returns the description of `memory_write` for models.
pub(super) fn memory_write() -> ToolInfo {
    let schema = json!({ "type": "object", "properties": {
        "key": text("A short name"),
        "value": { "description": "What to write down" },
        "title": text("A short label"),
        "description": text("What it is, in a sentence") }, "required": ["key", "value"] });
    let description = "Writes something down for later model calls of this turn and for its subtasks.";
    info(OwnTool::MemoryWrite, description, schema)
}

fn info(tool: OwnTool, description: &str, schema: Value) -> ToolInfo {
    ToolInfo { schema: Schema::new(schema), permission: Permission::Knowledge, ..ToolInfo::own(tool, description) }
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

/// Returns the description of `memory_recall`.
pub(super) fn memory_recall() -> ToolInfo {
    ToolInfo {
        schema: scoped("query"),
        permission: Permission::Knowledge,
        ..ToolInfo::own(OwnTool::MemoryRecall, "Finds what was remembered under a name")
    }
}

/// Returns the description of `memory_store`.
pub(super) fn memory_store() -> ToolInfo {
    ToolInfo {
        schema: scoped("text"),
        effect: EffectClass::Idempotent,
        permission: Permission::Knowledge,
        ..ToolInfo::own(OwnTool::MemoryStore, "Remembers a text under a name")
    }
}

fn scoped(extra: &str) -> Schema {
    let properties = json!({ "scope": { "type": "string" }, extra: { "type": "string" } });
    Schema::new(json!({ "type": "object", "properties": properties, "required": ["scope", extra] }))
}

/// Returns the description of `search_collections` for models.
pub(super) fn search() -> ToolInfo {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "Words to look for" },
            "collections": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Names of collections; all are searched when there are none"
            }
        },
        "required": ["query"]
    });
    ToolInfo {
        schema: Schema::new(schema),
        permission: Permission::Knowledge,
        ..ToolInfo::own(OwnTool::SearchCollections, "Finds passages of the documents in collections by their words")
    }
}
