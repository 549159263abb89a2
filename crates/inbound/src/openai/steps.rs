//! The frames of a turn or a run, as steps of an answer.

use consort_chat::Numbered;
use consort_core::answer::FollowUp;
use consort_core::chat::Role;
use consort_core::frame::chat::{CallStatus, ChatFrame, MessageRow, ToolCallUpdate};
use consort_core::frame::field::{ResponseType, Review, TaskPlace};
use consort_core::frame::live::LiveFrame;
use consort_core::frame::numbered::EventFrame;
use consort_core::frame::run::Frame as RunFrame;
use consort_core::question::OUTPUT_CUT;
use consort_core::spec::Workflow;
use consort_core::status::Status;
use consort_core::view::{ResultFrame, RunResult};
use consort_log as log;
use consort_runtime::ring::Frame;

use crate::problem::{Code, Problem};

/// Characters of the arguments or the result of a call that are shown.
const SHOWN_MAX: usize = 300;
/// The error of a run that would have passed a limit.
const BUDGET: &str = "BUDGET_EXCEEDED";

/// A step of an answer.
#[derive(Clone, Debug)]
pub enum Step {
    /// A model is asked, whose words are part of the answer.
    Round,
    /// The words of that model do not count: it has failed, and is perhaps asked again.
    Voided,
    /// The text of that model was cut at the output limit; the next one continues it.
    Continues,
    /// Words of that model, at this position in its text.
    Words {
        /// The position, where the words are told with one.
        offset: Option<usize>,
        /// The words.
        text: String,
    },
    /// The whole text of the model.
    Said(String),
    /// Something that was done for the answer.
    Thought(String),
    /// A person must decide something first, as these words say.
    Waits(String),
    /// The end.
    Ended(End),
}

/// The end of an answer.
#[derive(Clone, Debug)]
pub enum End {
    /// The answer.
    Answer {
        /// The text.
        text: String,
        /// Whether it ended at a limit.
        is_cut: bool,
    },
    /// A person must decide something before it goes on.
    Waits,
    /// There is none.
    Failed(Problem),
}

/// Reads the frames of a turn.
pub struct Turn {
    /// The address of the server for people.
    base: String,
    answer: Option<(String, bool)>,
    failure: Option<Problem>,
}

impl Turn {
    /// Creates the reader of the frames of a turn, of which none was read.
    pub fn new(base: String) -> Turn {
        Turn { base, answer: None, failure: None }
    }

    /// Returns the steps that a frame adds to the answer.
    pub fn steps(&mut self, frame: Result<Numbered, log::Error>) -> Vec<Step> {
        let numbered = match frame {
            Ok(numbered) => numbered,
            Err(error) => return vec![Step::Ended(End::Failed(error.into()))],
        };
        match numbered.frame {
            Some(Frame::Event { frame, .. }) => match &*frame {
                EventFrame::Turn(turn) => self.event(&turn.frame, &turn.thread_id),
                EventFrame::Run(_) => Vec::new(),
            },
            Some(Frame::Delta { frame, .. }) => live(&frame),
            Some(Frame::Result { .. }) => Vec::new(),
            // A message that waited and was refused.
            None => {
                let told: serde_json::Value = serde_json::from_str(&numbered.text).unwrap_or_default();
                let message = told.get("message").and_then(serde_json::Value::as_str).unwrap_or("it was not answered");
                vec![Step::Ended(End::Failed(Problem::new(Code::AnswerFailed, message)))]
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no other frame is part of an answer")]
    fn event(&mut self, frame: &ChatFrame, thread: &str) -> Vec<Step> {
        match frame {
            ChatFrame::LlmStarted { level, .. } if level.depth == 0 => vec![Step::Round],
            ChatFrame::LlmVoided { level, .. } if level.depth == 0 => vec![Step::Voided],
            ChatFrame::AnswerTruncated { level, then: FollowUp::Continue, in_call: true, .. } if level.depth == 0 => {
                vec![Step::Voided]
            }
            ChatFrame::LlmCompleted { level, content, .. } if level.depth == 0 => vec![Step::Said(content.clone())],
            ChatFrame::Message(row) if row.role == Role::Assistant => self.row(row),
            ChatFrame::ToolCallUpdate(update) => vec![Step::Thought(call(update))],
            ChatFrame::ToolApprovalRequest(approval) => {
                let link = format!("{}/chat/{thread}", self.base);
                let words = format!(
                    "**Waiting for a decision.** {}\n\n`{} {}`\n\nDecide at {link}",
                    approval.message,
                    approval.tool_name,
                    short(&approval.args.to_string())
                );
                vec![Step::Waits(words)]
            }
            ChatFrame::Error { code, message, .. } => {
                let is_budget = code == "budget_exceeded";
                let code = if is_budget { Code::BudgetExceeded } else { Code::AnswerFailed };
                self.failure = Some(Problem::new(code, message.as_str()));
                Vec::new()
            }
            ChatFrame::Chunk { done: true, status, .. } => vec![Step::Ended(self.end(*status))],
            _ => Vec::new(),
        }
    }

    /// Reads a row: one with calls holds the words before them, one without is the answer.
    fn row(&mut self, row: &MessageRow) -> Vec<Step> {
        if row.tool_calls.is_some() {
            return vec![Step::Said(row.content.to_string())];
        }
        self.answer = (!row.is_error).then(|| (row.content.to_string(), row.truncated));
        Vec::new()
    }

    fn end(&mut self, status: Status) -> End {
        if status == Status::Cancelled {
            return End::Failed(Problem::new(Code::Cancelled, "the turn was stopped before it had answered"));
        }
        let failed = || Problem::new(Code::AnswerFailed, "the turn failed");
        match (self.failure.take(), self.answer.take()) {
            (None, Some((text, is_cut))) => End::Answer { text, is_cut },
            (failure, _) => End::Failed(failure.unwrap_or_else(failed)),
        }
    }
}

/// Reads the frames of a run.
pub struct Run {
    /// The address of the server for people.
    base: String,
    /// The task whose words are the answer, where that is known beforehand.
    last: Option<String>,
}

impl Run {
    /// Creates the reader of the frames of a run, of which none was read.
    pub fn new(base: String) -> Run {
        Run { base, last: None }
    }

    /// Returns the steps that a frame adds to the answer.
    pub fn steps(&mut self, frame: Result<Frame, log::Error>) -> Vec<Step> {
        match frame {
            Ok(Frame::Event { frame, .. }) => match &*frame {
                EventFrame::Run(run) if !run.inherited => self.event(&run.frame),
                EventFrame::Run(_) | EventFrame::Turn(_) => Vec::new(),
            },
            Ok(Frame::Delta { frame, .. }) => match &*frame {
                LiveFrame::Token { conversation, token, .. } if self.is_last(&conversation.turn_id) => {
                    vec![Step::Words { offset: None, text: token.clone() }]
                }
                LiveFrame::Token { .. } | LiveFrame::Chunk { .. } | LiveFrame::ToolProgress(_) => Vec::new(),
            },
            Ok(Frame::Result { frame, .. }) => {
                let ResultFrame::RunResult(result) = &*frame;
                vec![Step::Ended(ended(result))]
            }
            Err(error) => vec![Step::Ended(End::Failed(error.into()))],
        }
    }

    fn is_last(&self, turn: &str) -> bool {
        self.last.as_deref() == Some(turn)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no other frame is part of an answer")]
    fn event(&mut self, frame: &RunFrame) -> Vec<Step> {
        match frame {
            // One after the other, the last task's output is the run's.
            RunFrame::RunAccepted { workflow: Workflow::Sequential, total_tasks, .. } => {
                self.last = Some(total_tasks.to_string());
                Vec::new()
            }
            RunFrame::TaskStarted { task, .. } => vec![Step::Thought(format!("{}: begun", name(task)))],
            RunFrame::TaskCompleted { task, .. } => vec![Step::Thought(format!("{}: done", name(task)))],
            RunFrame::TaskFailed { task, reason, .. } => {
                vec![Step::Thought(format!("{}: failed: {}", name(task), short(reason)))]
            }
            RunFrame::TaskSkipped { task, reason, .. } => {
                vec![Step::Thought(format!("{}: skipped: {}", name(task), short(reason)))]
            }
            RunFrame::LlmIterationStarted { conversation, .. } if self.is_last(&conversation.turn_id) => {
                vec![Step::Round]
            }
            RunFrame::LlmIterationCompleted { conversation, response_type, response_text, .. }
                if self.is_last(&conversation.turn_id) =>
            {
                match response_type {
                    ResponseType::FinalAnswer => response_text.iter().map(|text| Step::Said(text.clone())).collect(),
                    // The answer is the output of the run, and nothing that was said on the way to it.
                    ResponseType::ToolCalls => vec![Step::Voided],
                }
            }
            RunFrame::OutputRejected { call, .. } if self.is_last(&call.conversation.turn_id) => vec![Step::Voided],
            RunFrame::ModelFailed { call, .. } if self.is_last(&call.conversation.turn_id) => vec![Step::Voided],
            RunFrame::AnswerTruncated { call, then: FollowUp::Continue, in_call, .. }
                if self.is_last(&call.conversation.turn_id) =>
            {
                vec![if in_call.is_some() { Step::Voided } else { Step::Continues }]
            }
            RunFrame::ToolCalled { tool_name, tool_arguments, tool_result, .. } => {
                vec![Step::Thought(format!("{tool_name}({}) → {}", short(tool_arguments), short(tool_result)))]
            }
            RunFrame::ReviewRequested(review) => vec![Step::Waits(self.question_text(review))],
            _ => Vec::new(),
        }
    }

    /// Returns the question to a person, with the address for the answer.
    fn question_text(&self, review: &Review) -> String {
        let link = format!("{}/reviews/{}", self.base, review.review_id);
        let task = review.task.task_name.as_deref().unwrap_or(&review.task.conversation.task_description);
        let question = match &review.prompt {
            Some(prompt) => prompt.clone(),
            None => format!("the task '{task}' is to be reviewed"),
        };
        let shown = Some(review.task_output.as_str()).filter(|output| !output.is_empty());
        let note = review.truncated.then_some(OUTPUT_CUT);
        let output: String = shown.into_iter().chain(note).map(|text| format!("\n\n{text}")).collect();
        format!("**Waiting for a person:** {question}. Decide at {link}{output}")
    }
}

fn name(task: &TaskPlace) -> &str {
    task.task_name.as_deref().unwrap_or(&task.conversation.task_description)
}

fn ended(result: &RunResult) -> End {
    let why = |other: &str| result.error.clone().unwrap_or_else(|| other.to_owned());
    match result.status {
        Status::Completed => {
            let is_cut = result.outputs.last().is_some_and(|output| output.truncated);
            End::Answer { text: result.output.as_ref().map(ToString::to_string).unwrap_or_default(), is_cut }
        }
        Status::Cancelled => End::Failed(Problem::new(Code::Cancelled, why("the run was cancelled"))),
        Status::Failed if why("").contains(BUDGET) => {
            End::Failed(Problem::new(Code::BudgetExceeded, "the run would have passed a limit of its budget"))
        }
        Status::Failed | Status::Accepted | Status::Running | Status::Rejected => {
            End::Failed(Problem::new(Code::AnswerFailed, why("the run failed")))
        }
    }
}

fn live(frame: &LiveFrame) -> Vec<Step> {
    match frame {
        LiveFrame::Chunk { level, content, offset, thinking: None, .. } if level.depth == 0 => {
            vec![Step::Words { offset: Some(*offset), text: content.clone() }]
        }
        LiveFrame::Chunk { .. } | LiveFrame::Token { .. } | LiveFrame::ToolProgress(_) => Vec::new(),
    }
}

/// Returns a call as one line; one of a subtask is indented.
fn call(update: &ToolCallUpdate) -> String {
    let indent = "  ".repeat(update.level.depth as usize);
    let name = &update.name;
    match update.status {
        CallStatus::Start => {
            format!("{indent}{name}({})", short(&update.args.as_ref().map(ToString::to_string).unwrap_or_default()))
        }
        CallStatus::End => {
            let failed = if update.is_error == Some(true) { "failed: " } else { "" };
            format!("{indent}{name} → {failed}{}", short(update.result.as_deref().unwrap_or_default()))
        }
    }
}

/// Returns a text as one line of at most [`SHOWN_MAX`] characters.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN_MAX {
        return line;
    }
    line.chars().take(SHOWN_MAX - 1).chain(['…']).collect()
}
