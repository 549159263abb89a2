//! A run or a turn as an MCP task: its state is read from the log, so a restart changes
//! nothing. What waits for a person is an elicitation, under the id of the review or the
//! approval.

use consort_core::chat::Role;
use consort_core::frame::field::Iso;
use consort_core::owner::{Owner, Sight};
use consort_core::question::Question;
use consort_core::run::Run;
use consort_core::status::Status;
use consort_core::view::ResultFrame;
use consort_runtime::engine::Engine;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, ContentBlock, DetailedTask, InputRequest, InputResponses, JsonObject, MetaObject, Task,
    TaskPayload, TaskStatus,
};
use serde_json::{Value, json};

use super::handler::Handler;
use super::work::is_accepted;
use crate::access::Scope;
use crate::body::Sent;
use crate::offers::{ANSWER, CONVERSATION};
use crate::routes::reviews::decided;
use consort_inbound::problem::{Code, Problem};

/// The time after which a client should look again.
const POLL_MS: u64 = 1_000;
/// The beginning of the ids of turns; any other task is a run.
pub(super) const TURN: &str = "turn-";
/// The output of a run, in the data of a result that was cut.
const OUTPUT: &str = "output";
/// The mark of such a result.
const TRUNCATED: &str = "truncated";

/// Returns whether this is the id of a turn.
pub(super) fn is_turn(id: &str) -> bool {
    id.starts_with(TURN)
}

impl Handler {
    /// Returns a run or a turn of the caller.
    pub(super) async fn work(&self, id: &str) -> Result<Run, ErrorData> {
        let missing = || ErrorData::invalid_params(format!("there is no task {id}"), None);
        if !is_turn(id) {
            return self.edge.runs.run(id).await.map_err(|_missing| missing());
        }
        let chats = &self.edge.site.server.chats;
        chats.continued(&self.edge.caller.0, id).await.map_err(|_missing| missing())?;
        self.turns().run(id).await.map_err(|_missing| missing())
    }

    /// Returns the turns of all threads: whose a turn is was asked of its thread.
    pub(super) fn turns(&self) -> Engine {
        self.edge.site.server.chats.engine().seen_with(Sight::All(Owner::local()))
    }

    /// Returns the state of a task.
    pub(super) async fn task(&self, id: &str) -> Result<DetailedTask, ErrorData> {
        let run = self.work(id).await?;
        let open = run.open_questions(id);
        let may_decide = self.pass.check(Scope::Review).is_ok();
        let mut task = begun(&run, id);
        if !open.is_empty() && !may_decide {
            let told = open.iter().map(|question| question.with_link(&self.edge.base())).collect::<Vec<_>>();
            task = task.with_status_message(told.join("\n"));
        }
        let payload = if run.ended() {
            ended(&run, id)
        } else if open.is_empty() || !may_decide {
            TaskPayload::Working
        } else {
            TaskPayload::InputRequired { input_requests: open.into_iter().filter_map(asked).collect() }
        };
        Ok(DetailedTask::new(task, payload))
    }

    /// Takes decisions about what waits; of two about the same the first counts, and the second is ignored.
    pub(super) async fn decide(&self, id: &str, responses: &InputResponses) -> Result<(), ErrorData> {
        let open = self.work(id).await?.open_questions(id);
        let is_open = |id: &String| open.iter().any(|question| question.id == *id);
        for (question, response) in responses.iter().filter(|(question, _)| is_open(question)) {
            // Declining the question decides nothing.
            let Some(content) = response.get("content").filter(|_| is_accepted(response)) else { continue };
            self.pass.check(Scope::Review).map_err(|problem| super::handler::told(&problem))?;
            match self.answer(question, &Sent::of(content.clone())).await {
                Err(problem) if !is_late(&problem) => {
                    return Err(ErrorData::invalid_params(problem.message().to_owned(), None));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    async fn answer(&self, question: &str, sent: &Sent) -> Result<(), Problem> {
        let edge = &self.edge;
        if !is_turn(question) {
            return decided(&edge.runs, &edge.caller, question, Ok(sent)).await.map(drop);
        }
        let decision = sent.choice("decision")?.ok_or_else(|| Problem::bad_request("`decision` is required"))?;
        Ok(edge.site.server.chats.approve(&edge.caller.0, question, decision).await?)
    }
}

fn is_late(problem: &Problem) -> bool {
    matches!(problem.code(), Code::ReviewResolved | Code::ApprovalResolved | Code::RunCompleted)
}

/// Returns the task of a run that was begun.
pub(super) fn begun(run: &Run, id: &str) -> Task {
    let summary = run.summary(id);
    let changed = summary.ended_at.unwrap_or(summary.started_at);
    let task = Task::new(id, TaskStatus::Working, Iso(summary.started_at).to_string(), Iso(changed).to_string());
    task.with_poll_interval_ms(POLL_MS)
}

/// Returns a question as an elicitation.
pub(super) fn asked(question: Question) -> Option<(String, InputRequest)> {
    let params = json!({ "mode": "form", "message": question.message, "requestedSchema": question.schema });
    let request = json!({ "method": "elicitation/create", "params": params });
    Some((question.id, serde_json::from_value(request).ok()?))
}

fn ended(run: &Run, id: &str) -> TaskPayload {
    let ResultFrame::RunResult(result) = run.result(id);
    if result.status == Status::Cancelled {
        return TaskPayload::Cancelled;
    }
    // A result holds nothing that JSON cannot write.
    let result: JsonObject = json!(finished(run, id)).as_object().cloned().unwrap_or_default();
    TaskPayload::Completed { result }
}

/// Returns the end of a run or a turn as the result of a call: what did not work is an error of the tool.
pub(super) fn finished(run: &Run, id: &str) -> CallToolResult {
    let ResultFrame::RunResult(result) = run.result(id);
    let (text, data) = if is_turn(id) {
        let last = run.rows().iter().rev().find(|row| row.role == Role::Assistant);
        let text = last.map(|row| row.visible_text().to_string()).unwrap_or_default();
        let chat = run.spec().chat.as_ref();
        let data = chat.map(|chat| json!({ ANSWER: text, CONVERSATION: chat.thread }));
        (text, data)
    } else {
        let output = result.output.as_ref().map(ToString::to_string);
        let text = output.or(result.error).unwrap_or_else(|| format!("the run ended as {}", result.status));
        (text, result.parsed_output.clone())
    };
    let mut content = vec![ContentBlock::text(text.as_str())];
    if result.status != Status::Completed {
        return CallToolResult::error(content);
    }
    let note = run.cut_note();
    content.extend(note.map(ContentBlock::text));
    let is_parsed = result.parsed_output.is_some();
    let mut told = CallToolResult::success(content);
    // Only an object can be structured content for every version of the protocol.
    told.structured_content = data.filter(Value::is_object);
    if note.is_some() {
        mark(&mut told, &text, is_parsed);
    }
    told
}

/// Marks a result whose output was cut. Data that keeps to the schema of its task has the mark beside it.
fn mark(told: &mut CallToolResult, text: &str, is_parsed: bool) {
    let mark = || JsonObject::from_iter([(TRUNCATED.to_owned(), json!(true))]);
    if is_parsed {
        told.meta = Some(MetaObject(mark()));
        return;
    }
    let data = told.structured_content.get_or_insert_with(|| json!({ OUTPUT: text }));
    if let Value::Object(fields) = data {
        fields.extend(mark());
    }
}
