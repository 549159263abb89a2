//! A skill of an A2A agent, as a tool. Its task is followed to the end, or until the agent asks something, and is
//! cancelled when nobody wants it any more.

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{CancelClass, EffectClass, Permission, ToolInfo};
use consort_core::reach::{Destination, Reach, Voucher};
use consort_core::schema::Schema;
use consort_tools::{Account, Answer, Invocation, Progress, Tool};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::call::{About, Line, Trouble};
use super::card::{Card, Skill};
use super::reported::{ReportedTask, Verdict};
use crate::limits::{NAME_MAX, PROGRESS_EVERY};
use crate::remote::TASK_TIMEOUT_MS;

/// The delays between two looks at a task, from the first on; the last one stays.
const LOOKS_MS: [u64; 5] = [100, 200, 500, 1_000, 2_000];
/// Looks at a task that may fail in a row: an agent that is started again takes a while.
const FAILED_LOOKS_MAX: usize = 10;
/// The key of a message's metadata that names the skill, for agents that know it.
const SKILL: &str = "skillId";

/// A skill of an agent.
#[derive(Clone)]
pub(crate) struct AgentTool {
    line: Line,
    card: Arc<Card>,
    skill: Skill,
    info: Arc<ToolInfo>,
}

/// A task of an agent that is cancelled when this is dropped, unless it has ended.
struct Wanted<'a> {
    tool: &'a AgentTool,
    told: ReportedTask,
}

impl AgentTool {
    pub(crate) fn new(line: &Line, agent: &str, card: &Arc<Card>, skill: &Skill) -> AgentTool {
        let info = Arc::new(info(agent, skill));
        AgentTool { line: line.clone(), card: card.clone(), skill: skill.clone(), info }
    }

    async fn ask(&self, invocation: Invocation) -> Answer {
        let Invocation { key, args, account, .. } = invocation;
        if account.again.is_some() {
            let why = "whether the agent did it is unknown: this server was stopped while it waited for the answer";
            return Answer::Unknown(why.to_owned());
        }
        let mut wanted = Wanted { tool: self, told: ReportedTask::default() };
        tokio::select! {
            answer = wanted.follow(self.message(&key, &args), &account) => answer,
            () = account.stopped() => wanted.stop().await,
        }
    }

    /// Returns the message for a call: the text, and the task that it answers.
    fn message(&self, key: &str, args: &Value) -> Value {
        let text = |name: &str| args.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let mut message = json!({ "messageId": key, "role": "ROLE_USER", "metadata": { SKILL: self.skill.id },
            "parts": [{ "text": text("input").unwrap_or_default() }] });
        if let (Some(task), Value::Object(fields)) = (text("task"), &mut message) {
            fields.insert("taskId".to_owned(), json!(task));
        }
        message
    }
}

impl Wanted<'_> {
    /// Sends the message and follows its task.
    async fn follow(&mut self, message: Value, account: &Account) -> Answer {
        let line = &self.tool.line;
        let card = &self.tool.card;
        let mut events = match line.send(&card.interface, message, card.streams).await {
            Ok(events) => events,
            Err(Trouble::Broken(why)) => return Answer::Unknown(format!("{}: {why}", self.tool.info.name)),
            Err(trouble) => return Answer::Failed(self.failed(trouble)),
        };
        let mut told_at = None;
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => {
                    let said = self.told.take(&event);
                    let now = tokio::time::Instant::now();
                    let is_due = told_at.is_none_or(|at| now.duration_since(at) >= PROGRESS_EVERY);
                    if let Some(message) = said.filter(|_| is_due) {
                        told_at = Some(now);
                        account.progress(Progress { message: Some(message), ..Progress::default() });
                    }
                    if let Some(answer) = self.answer() {
                        return answer;
                    }
                }
                Err(trouble @ Trouble::Refused(_)) => return Answer::Failed(self.failed(trouble)),
                // What became of the task is asked.
                Err(_) => break,
            }
        }
        self.look().await
    }

    /// Looks at the task until it has ended.
    async fn look(&mut self) -> Answer {
        let Some(task) = self.told.task.clone() else {
            return Answer::Unknown(format!("{}: the agent said nothing of its task", self.tool.info.name));
        };
        let mut failed = 0;
        let mut delays = LOOKS_MS.into_iter();
        let mut delay = Duration::ZERO;
        loop {
            delay = delays.next().map_or(delay, Duration::from_millis);
            tokio::time::sleep(delay).await;
            match self.tool.line.about(&self.tool.card.interface, About::Get, &task).await {
                Ok(task) => {
                    failed = 0;
                    self.told.snapshot(&task);
                }
                Err(Trouble::Refused(why)) => return Answer::Unknown(format!("{}: {why}", self.tool.info.name)),
                Err(trouble) => {
                    failed += 1;
                    if failed >= FAILED_LOOKS_MAX {
                        return Answer::Unknown(self.failed(trouble));
                    }
                }
            }
            if let Some(answer) = self.answer() {
                return answer;
            }
        }
    }

    /// Returns the answer, once the agent has come to one.
    fn answer(&mut self) -> Option<Answer> {
        let verdict = self.told.verdict()?;
        let task = self.told.task.take();
        Some(match verdict {
            Verdict::Done(text) => Answer::Done { text, data: None },
            Verdict::Failed(why) => Answer::Failed(format!("{}: {why}", self.tool.info.name)),
            Verdict::Asks(question) => {
                let task = task.unwrap_or_default();
                let how = format!("Call it again with the answer as `input` and \"{task}\" as `task`.");
                Answer::Done { text: format!("The agent asks: {question}\n{how}"), data: None }
            }
        })
    }

    /// Cancels the task, and returns what became of it.
    async fn stop(&mut self) -> Answer {
        let name = &self.tool.info.name;
        let Some(task) = self.told.task.clone() else {
            return Answer::Unknown(format!("{name}: it was stopped before the agent had named its task"));
        };
        match self.tool.line.about(&self.tool.card.interface, About::Cancel, &task).await {
            Ok(ended) => {
                self.told.snapshot(&ended);
                self.answer().unwrap_or_else(|| Answer::Unknown(format!("{name}: the agent is still stopping it")))
            }
            // It has ended meanwhile, or cannot be stopped.
            Err(_) => self.look().await,
        }
    }

    fn failed(&self, trouble: Trouble) -> String {
        format!("{}: {}", self.tool.info.name, trouble.words())
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        let Some(task) = self.told.task.take() else { return };
        let tool = self.tool.clone();
        // Nobody waits for it any more: the agent is told, whatever comes of that.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(trouble) = tool.line.about(&tool.card.interface, About::Cancel, &task).await {
                    tracing::debug!(tool = tool.info.name, why = trouble.words(), "an agent was not told to stop");
                }
            });
        }
    }
}

impl Tool for AgentTool {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(self.ask(invocation))
    }

    fn tags(&self) -> &[String] {
        &self.skill.tags
    }
}

/// Returns the description of a skill for models.
fn info(agent: &str, skill: &Skill) -> ToolInfo {
    let schema = json!({
        "type": "object",
        "properties": {
            "input": { "type": "string", "description": "What to ask the agent" },
            "task": { "type": "string", "maxLength": NAME_MAX,
                "description": "The task that this answers, where the agent has asked something" }
        },
        "required": ["input"],
        "additionalProperties": false
    });
    ToolInfo {
        schema: Schema::new(schema),
        permission: Permission::Network,
        effect: EffectClass::Once,
        reach: Reach { effect_by: Voucher::Stranger, ..Reach::to(Destination::Named(agent.to_owned())) },
        timeout_ms: TASK_TIMEOUT_MS,
        cancel: CancelClass::Finish,
        ..ToolInfo::new(&format!("{agent}.{}", skill.name), &skill.description)
    }
}
