//! The work that a tool is called for: a call of a tool here, a run, or a turn.

use consort_core::catalog::ToolInfo;
use consort_core::compile::Compiled;
use consort_core::decide::{Command, Refused};
use consort_core::event::CancelMode;
use consort_runtime::engine;
use futures::StreamExt;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult, InputResponses, ProgressNotificationParam,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};

use super::handler::{Handler, told};
use super::tasks::{TURN, asked, finished, is_turn};
use crate::access::Scope;
use crate::offers::{CONVERSATION, MESSAGE, Offer, What};
use crate::once::Once;
use crate::openai::{ClientRequest, End, Step, ThreadChoice, Work};
use crate::routes::submit::trace;
use consort_inbound::problem::Problem;

/// A call after it was accepted.
pub(super) enum Begun {
    /// Its result.
    Answer(CallToolResult),
    /// A run or a turn.
    Work(Work),
}

impl Handler {
    /// Does what was called, or begins it.
    pub(super) async fn begin(&self, offer: &Offer, arguments: Map<String, Value>) -> Result<Begun, Problem> {
        match &offer.what {
            What::Tool(tool) => {
                self.check_unkeyed()?;
                self.call(tool, Value::Object(arguments)).await.map(Begun::Answer)
            }
            What::Chat => {
                self.check_unkeyed()?;
                self.edge.turn(&self.said(&arguments).await?).await.map(Begun::Work)
            }
            What::Run { workflow } => {
                let wanted = json!({ "inputs": arguments });
                let compiled = self.edge.site.starter.compile(workflow.as_deref(), &wanted).await?;
                self.submitted(offer, &arguments, compiled).await
            }
            What::Task(draft) => {
                let compiled = self.edge.shared_task(draft, &json!({ "inputs": arguments }))?;
                self.submitted(offer, &arguments, compiled).await
            }
        }
    }

    /// Reads what is said to the chat agent, and where.
    async fn said(&self, arguments: &Map<String, Value>) -> Result<ClientRequest, Problem> {
        let text = |name: &str| match arguments.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(Problem::bad_request(format!("`{name}` must be a text"))),
        };
        let content = text(MESSAGE)?.filter(|content| !content.trim().is_empty());
        let content = content.ok_or_else(|| Problem::bad_request(format!("`{MESSAGE}` must say something")))?;
        let conversation = match text(CONVERSATION)? {
            Some(conversation) => conversation,
            None => self.edge.site.server.chats.create_passing(&self.edge.caller.0).await?.id,
        };
        Ok(ClientRequest::message(content, ThreadChoice::Conversation(conversation)))
    }

    /// Only a run can be found again by a key.
    fn check_unkeyed(&self) -> Result<(), Problem> {
        if self.key.is_none() {
            return Ok(());
        }
        Err(Problem::bad_request("Idempotency-Key is only for tools that begin a run: leave it out"))
    }

    /// Starts a run, or finds the one that the same call with the same key began.
    async fn submitted(
        &self,
        offer: &Offer,
        arguments: &Map<String, Value>,
        mut compiled: Compiled,
    ) -> Result<Begun, Problem> {
        let edge = &self.edge;
        compiled.spec.traceparent = trace(&edge.headers);
        let run = match &self.key {
            Some(key) => {
                let called = json!({ "tool": offer.name(), "arguments": arguments }).to_string();
                Once::of_call(&edge.caller, key, &called).submit((&edge.site, &edge.runs), compiled).await?
            }
            None => edge.runs.submit(compiled).await?,
        };
        edge.run_of(run).await.map(Begun::Work)
    }

    /// Calls a tool.
    async fn call(&self, tool: &ToolInfo, args: Value) -> Result<CallToolResult, Problem> {
        Ok(match self.edge.call(tool, args).await? {
            Ok((text, data)) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = data.filter(Value::is_object);
                result
            }
            Err(reason) => failed(&reason),
        })
    }

    /// Takes what a person said, and goes on waiting. The id is the client's word: whose it is is looked up.
    pub(super) async fn went_on(
        &self,
        offer: &Offer,
        (id, responses): (&str, &InputResponses),
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.decide(id, responses).await?;
        let work = self.again(id).await.map_err(|problem| told(&problem))?;
        let is_refused = responses.values().any(|response| !is_accepted(response));
        if is_refused && !self.work(id).await?.open_questions(id).is_empty() {
            // A client that declines a question should not be asked it again and again.
            return Ok(self.left_waiting(offer, id).await?.into());
        }
        self.waited(offer, work, context).await
    }

    /// Follows a run or a turn of the caller from its first frame.
    async fn again(&self, id: &str) -> Result<Work, Problem> {
        if !is_turn(id) {
            return self.edge.run_of(id.into()).await;
        }
        let thread = self.edge.site.server.chats.continued(&self.edge.caller.0, id).await?.thread;
        Ok(self.edge.waiting_turn(&thread.id, id.into()))
    }

    /// Waits for the end of a run or a turn, or until a person is asked.
    pub(super) async fn waited(
        &self,
        offer: &Offer,
        mut work: Work,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut count = 0;
        loop {
            let step = tokio::select! {
                step = work.steps.next() => step,
                () = context.ct.cancelled() => return self.abandoned(&work.id, context).await,
                () = self.cancelled() => {
                    self.cancel(&work.id).await?;
                    return Err(ErrorData::internal_error("the call was cancelled", None));
                }
                () = self.edge.site.closed() => None,
            };
            match step {
                Some(Step::Thought(line)) => {
                    count += 1;
                    progress(context, count, line).await;
                }
                Some(Step::Waits(_)) => {
                    let open = self.work(&work.id).await?.open_questions(&work.id);
                    // A frame of what was decided meanwhile.
                    if open.is_empty() {
                        continue;
                    }
                    if !elicits(context) || self.pass.check(Scope::Review).is_err() {
                        return Ok(self.left_waiting(offer, &work.id).await?.into());
                    }
                    let asked = open.into_iter().filter_map(asked).collect();
                    return Ok(InputRequiredResult::new(Some(asked), Some(work.id.to_string())).into());
                }
                Some(Step::Ended(End::Failed(problem))) => return Ok(failed(problem.message()).into()),
                Some(Step::Ended(_)) => return Ok(finished(&self.work(&work.id).await?, &work.id).into()),
                Some(Step::Round | Step::Voided | Step::Continues | Step::Words { .. } | Step::Said(_)) => {}
                None => return Err(ErrorData::internal_error("the server is stopping", None)),
            }
        }
    }

    /// Says where people decide, for clients that cannot ask them.
    async fn left_waiting(&self, offer: &Offer, id: &str) -> Result<CallToolResult, ErrorData> {
        let base = self.edge.base();
        let open = self.work(id).await?.open_questions(id);
        let lines: Vec<String> = open.iter().map(|question| question.with_link(&base)).collect();
        let said = format!("It waits for a person, and goes on once they have decided (task {id}).");
        let content = vec![ContentBlock::text([&[said], &lines[..]].concat().join("\n\n"))];
        // Words are no result of a tool that has promised data.
        Ok(if offer.promises_data() { CallToolResult::error(content) } else { CallToolResult::success(content) })
    }

    /// Returns when the client has cancelled the call by another message.
    async fn cancelled(&self) {
        match &self.open {
            Some(open) => open.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Ends the wait for a client that has left. For the newer version that means to cancel; a client of an older
    /// one may have lost its connection.
    async fn abandoned(&self, id: &str, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        if context.meta.protocol_version().is_some() {
            self.cancel(id).await?;
        }
        Err(ErrorData::internal_error("the client has left", None))
    }

    pub(super) async fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        let edge = &self.edge;
        let command = Command::Cancel { mode: CancelMode::Now, by: edge.caller.0.clone() };
        let asked = if id.starts_with(TURN) {
            self.turns().command(id, command).await
        } else {
            edge.runs.command(id, command).await
        };
        match asked {
            Ok(_) | Err(engine::Error::Refused(Refused::Ended { .. })) => Ok(()),
            Err(error) => Err(told(&error.into())),
        }
    }
}

/// Returns whether a response to a question holds a decision.
pub(super) fn is_accepted(response: &Value) -> bool {
    response.get("action").and_then(Value::as_str) == Some("accept")
}

/// Tells how far the work is, where the client asked for that.
async fn progress(context: &RequestContext<RoleServer>, count: u32, line: String) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let mut told = ProgressNotificationParam::new(token, f64::from(count));
    told.message = Some(line);
    if context.peer.notify_progress(told).await.is_err() {
        tracing::debug!("a client is told of no progress any more");
    }
}

/// Returns whether the client can ask its user in the middle of a call.
fn elicits(context: &RequestContext<RoleServer>) -> bool {
    let is_new = context.meta.protocol_version().is_some();
    is_new && context.client_capabilities().is_some_and(|capabilities| capabilities.elicitation.is_some())
}

pub(super) fn failed(reason: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(reason)])
}
