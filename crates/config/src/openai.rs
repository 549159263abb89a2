//! `[openai]`: the endpoints under `/v1`.

use super::fields::Fields;
use super::values::text;

/// The endpoints under `/v1`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenAi {
    /// The model that answers a chat UI's own prompts; the chat's when absent.
    pub aux_model: Option<String>,
}

/// Reads `[openai]`.
pub(super) fn read(fields: &mut Fields<'_>) -> OpenAi {
    OpenAi { aux_model: fields.read("aux_model", text) }
}
