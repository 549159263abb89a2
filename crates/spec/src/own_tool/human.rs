//! Asks a person in the middle of a task: a call of `human_input` becomes a review, and the person's answer
//! is the call's result.

use serde::Deserialize;
use serde_json::json;

use crate::event::Decision;
use crate::message::Outcome;
use crate::own_tool::OwnTool;
use crate::requests::catalog::ToolInfo;
use crate::schema::Schema;

/// The question for the person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Question {
    /// The question itself.
    pub question: String,
    /// The answers to choose from, if there are any.
    #[serde(default)]
    pub options: Vec<String>,
}

/// Returns the description of the tool for models.
pub fn info() -> ToolInfo {
    let schema = json!({
        "type": "object",
        "properties": {
            "question": { "type": "string", "description": "What you need to know" },
            "options": { "type": "array", "items": { "type": "string" }, "description": "Answers to choose from, if there are any" }
        },
        "required": ["question"]
    });
    let description =
        "Asks a person and waits for the answer. Use it when you cannot know or must not decide something yourself.";
    ToolInfo { schema: Schema::new(schema), ..ToolInfo::own(OwnTool::HumanInput, description) }
}

/// Returns the result of a person's decision for the model; none when it ends the run.
pub fn outcome_of(decision: &Decision) -> Option<Outcome> {
    match decision {
        Decision::Continue => Some(Outcome::answer("The person has read this and says: go on.")),
        Decision::Edit { output } => Some(Outcome::answer(output.shared())),
        Decision::Reject { feedback } => Some(Outcome::answer(format!("The person does not agree: {feedback}"))),
        Decision::ExitEarly => None,
    }
}
