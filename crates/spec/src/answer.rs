//! The completeness of a reply, and the step that follows one that is no answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The completeness of a reply: whether it can be accepted as it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completeness {
    /// The reply can be accepted. Replies of earlier versions were all accepted.
    #[default]
    Whole,
    /// The text ended at the output limit.
    Cut,
    /// The reply ended at the output limit and asks for calls: the last may be cut.
    CutInCall,
    /// The reply ended at the output limit inside of JSON that the provider was told the schema of: what is
    /// missing cannot be asked for.
    CutInJson,
    /// The reply has neither text nor calls.
    Blank,
}

impl Completeness {
    /// Returns whether the reply can be accepted as it came.
    pub fn is_whole(&self) -> bool {
        *self == Completeness::Whole
    }
}

/// The step that follows a reply that is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FollowUp {
    /// The model is asked to go on, or asked again.
    Continue,
    /// The task fails.
    Fail,
    /// The answer is taken as it is.
    Accept,
}
