//! The questions of a run or a turn to people, in words and with the form of their answers, for protocols whose clients
//! can answer them.

use serde_json::{Value, json};

use crate::chat::PendingApproval;
use crate::projections::view::Review;
use crate::state::run::Run;

/// The note about an output that was cut, for the person who decides about it.
pub const OUTPUT_CUT: &str = "This output was cut at the output limit of the model: it is not complete.";

/// A question to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The id of the review or the approval.
    pub id: String,
    /// The kind of answer that it needs.
    pub needs: Needs,
    /// The question.
    pub message: String,
    /// The schema of the answer.
    pub schema: Value,
    /// The page where people answer it.
    pub page: String,
}

/// The kind of answer that a question needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// A decision about an output, or about a task before it begins.
    Decision,
    /// An answer to an agent.
    Words,
    /// The permission for a call.
    Permission,
}

impl Question {
    /// Returns the question with the address where people answer it.
    pub fn with_link(&self, base: &str) -> String {
        format!("{}\nDecide at {base}{}", self.message, self.page)
    }
}

impl Run {
    /// Returns the questions that wait for a person, the oldest first.
    pub fn open_questions(&self, run: &str) -> Vec<Question> {
        let approvals = if self.spec().chat.is_some() { self.pending_approvals(run) } else { Vec::new() };
        let reviews = self.pending_reviews(run);
        reviews.iter().map(about_review).chain(approvals.iter().map(about_approval)).collect()
    }
}

fn about_review(review: &Review) -> Question {
    let needs = if review.prompt.is_some() { Needs::Words } else { Needs::Decision };
    let asked = review.prompt.clone().unwrap_or_else(|| format!("Review the task '{}'", review.task_name));
    let shown = Some(review.task_output.as_str()).filter(|output| !output.is_empty());
    let parts = shown.into_iter().chain(review.truncated.then_some(OUTPUT_CUT));
    let output: String = parts.map(|text| format!("\n\n{text}")).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": { "type": "string", "enum": ["APPROVE", "EDIT", "REJECT", "EXIT_EARLY"] },
            "revisedOutput": { "type": "string", "description": "The output that counts instead, for EDIT" },
            "feedback": { "type": "string", "description": "What should be better, for REJECT" }
        },
        "required": ["decision"]
    });
    let page = format!("/reviews/{}", review.review_id);
    Question { id: review.review_id.clone(), needs, message: format!("{asked}{output}"), schema, page }
}

fn about_approval(pending: &PendingApproval) -> Question {
    let approval = &pending.approval;
    let schema = json!({
        "type": "object",
        "properties": { "decision": { "type": "string", "enum": ["allow", "allow_for_chat", "deny"] } },
        "required": ["decision"]
    });
    let message = format!("{}\n{} {}", approval.message, approval.tool_name, approval.args);
    let page = format!("/chat/{}", pending.thread_id);
    Question { id: approval.approval_id.clone(), needs: Needs::Permission, message, schema, page }
}
