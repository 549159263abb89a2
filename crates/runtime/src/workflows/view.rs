//! Saved workflows as clients see them.

use consort_core::frame::field::Iso;
use consort_core::view::Damage;
use consort_core::workflow::Document;
use schemars::JsonSchema;
use serde::Serialize;

/// A version of a saved workflow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Workflow")]
pub struct WorkflowView<'a> {
    pub(super) id: &'a str,
    pub(super) version: u64,
    pub(super) created_at: Iso,
    pub(super) updated_at: Iso,
    pub(super) updated_by: &'a str,
    #[serde(flatten)]
    pub(super) document: &'a Document,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) warnings: &'a [String],
}

/// A saved workflow in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedWorkflow {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) tasks: usize,
    pub(super) version: u64,
    pub(super) created_at: Iso,
    pub(super) updated_at: Iso,
    pub(super) updated_by: String,
    #[serde(flatten)]
    pub(super) damage: Damage,
}

/// A version in the history of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowVersion {
    pub(super) version: u64,
    pub(super) saved_at: Iso,
    pub(super) saved_by: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) tasks: usize,
    #[serde(flatten)]
    pub(super) damage: Damage,
}
