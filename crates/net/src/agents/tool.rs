//! A skill of an A2A agent, as a tool. Its task is followed to the end, or until the agent asks something, and is
//! cancelled when nobody wants it any more, also when the agent names it only later.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{CancelClass, EffectClass, Permission, ToolInfo};
use consort_core::reach::{Destination, EffectClassSource, Reach};
use consort_core::schema::Schema;
use consort_http::right;
use consort_tools::{Account, Answer, Invocation, Progress, Tool};
use futures::future::{BoxFuture, Shared};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::call::{About, AgentLink, Trouble};
use super::card::{Card, Skill};
use super::reported::{ReportedTask, Verdict};
use crate::limits::{NAME_MAX, PROGRESS_EVERY};
use crate::remote::TASK_TIMEOUT_MS;

/// The delays between two looks at a task, from the first on; the last one stays.
const LOOKS_MS: [u64; 5] = [100, 200, 500, 1_000, 2_000];
/// Looks at a task that may fail in a row: an agent that is started again takes a while.
const FAILED_LOOKS_MAX: usize = 10;
/// The time that an agent has to name a task that is no longer wanted.
const NAMING_MAX: Duration = Duration::from_secs(60);
/// The time that an agent has to stop a task.
const STOPPING_MAX: Duration = Duration::from_secs(60);
/// The key of a message's metadata that names the skill, for agents that know it.
const SKILL: &str = "skillId";

/// A skill of an agent.
#[derive(Clone)]
pub(crate) struct AgentTool {
    link: AgentLink,
    card: Arc<Card>,
    skill: Skill,
    info: Arc<ToolInfo>,
}

/// A task of an agent, which is told when nobody wants the answer any more.
struct AgentCall {
    tool: AgentTool,
    account: Account,
    reported: ReportedTask,
    /// The time of the last report of its progress.
    reported_at: Option<Instant>,
}

type Events = BoxStream<'static, Result<Value, Trouble>>;

impl AgentTool {
    pub(crate) fn new(link: &AgentLink, agent: &str, card: &Arc<Card>, skill: &Skill) -> AgentTool {
        let info = Arc::new(info(agent, skill));
        AgentTool { link: link.clone(), card: card.clone(), skill: skill.clone(), info }
    }

    async fn ask(&self, invocation: Invocation) -> Answer {
        let Invocation { key, args, account, .. } = invocation;
        if account.again.is_some() {
            let why = "whether the agent did it is unknown: this server was stopped while it waited for the answer";
            return Answer::Unknown(why.to_owned());
        }
        let message = self.message(&key, &args);
        let link = self.link.clone();
        let card = self.card.clone();
        let sent = right::carried(async move { link.send(&card.interface, message, card.streams).await });
        let (_waits, gone) = oneshot::channel::<Infallible>();
        let stopped = account.clone();
        let unwanted = async move {
            tokio::select! {
                () = stopped.stopped() => {}
                _dropped = gone => {}
            }
        };
        let call = AgentCall { tool: self.clone(), account, reported: ReportedTask::default(), reported_at: None };
        // A task of its own, because it goes on when this call is dropped: the agent is told to stop, which it can only
        // be once it has named its task.
        let ended = tokio::spawn(call.run(sent, unwanted.boxed().shared())).await;
        ended.unwrap_or_else(|error| Answer::Unknown(format!("{}: {error}", self.info.name)))
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

impl AgentCall {
    /// Follows the task of a message that is being sent, until it has ended or nobody wants it.
    async fn run(
        mut self,
        sent: impl Future<Output = Result<Events, Trouble>>,
        unwanted: Shared<BoxFuture<'static, ()>>,
    ) -> Answer {
        let no_name = async {
            unwanted.clone().await;
            sleep(NAMING_MAX).await;
        };
        let begun = tokio::select! {
            begun = self.begin(sent) => begun,
            () = no_name => Err(self.unknown("it was stopped before the agent had named its task")),
        };
        let events = match begun {
            Ok(events) => events,
            Err(answer) => return answer,
        };
        tokio::select! {
            answer = self.follow(events) => answer,
            () = unwanted => {
                let ended = timeout(STOPPING_MAX, self.stop()).await;
                ended.unwrap_or_else(|_late| self.unknown("the agent is still stopping it"))
            }
        }
    }

    /// Sends the message, and returns the events that come after the name of its task; or its answer, where there is
    /// nothing to follow.
    async fn begin(&mut self, sent: impl Future<Output = Result<Events, Trouble>>) -> Result<Events, Answer> {
        let mut events = match sent.await {
            Ok(events) => events,
            Err(trouble @ Trouble::Broken(_)) => return Err(self.unknown(&trouble.words())),
            Err(trouble) => return Err(Answer::Failed(self.failed(trouble))),
        };
        while self.reported.task.is_none() {
            match events.next().await {
                Some(event) => self.take_event(event)?,
                None => break,
            }
        }
        Ok(events)
    }

    /// Follows the task by its events, and by looking at it when they end before it does.
    async fn follow(&mut self, mut events: Events) -> Answer {
        while let Some(event) = events.next().await {
            if let Err(answer) = self.take_event(event) {
                return answer;
            }
        }
        self.look().await
    }

    /// Takes in an event; fails with the answer, once the agent has come to one.
    fn take_event(&mut self, event: Result<Value, Trouble>) -> Result<(), Answer> {
        let event = match event {
            Ok(event) => event,
            Err(trouble @ Trouble::Refused(_)) => return Err(Answer::Failed(self.failed(trouble))),
            // The stream ends with this, and what became of the task is asked.
            Err(Trouble::NotSent(_) | Trouble::Broken(_)) => return Ok(()),
        };
        let said = self.reported.take(&event);
        let now = Instant::now();
        let is_due = self.reported_at.is_none_or(|at| now.duration_since(at) >= PROGRESS_EVERY);
        if let Some(message) = said.filter(|_| is_due) {
            self.reported_at = Some(now);
            self.account.progress(Progress { message: Some(message), ..Progress::default() });
        }
        self.answer().map_or(Ok(()), Err)
    }

    /// Looks at the task until it has ended.
    async fn look(&mut self) -> Answer {
        let Some(task) = self.reported.task.clone() else {
            return self.unknown("the agent said nothing of its task");
        };
        let mut failed = 0;
        let mut delays = LOOKS_MS.into_iter();
        let mut delay = Duration::ZERO;
        loop {
            delay = delays.next().map_or(delay, Duration::from_millis);
            sleep(delay).await;
            match self.tool.link.about(&self.tool.card.interface, About::Get, &task).await {
                Ok(task) => {
                    failed = 0;
                    self.reported.snapshot(&task);
                }
                Err(Trouble::Refused(why)) => return self.unknown(&why),
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
        let verdict = self.reported.verdict()?;
        let task = self.reported.task.take();
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
        let Some(task) = self.reported.task.clone() else {
            return self.unknown("the agent said nothing of its task");
        };
        match self.tool.link.about(&self.tool.card.interface, About::Cancel, &task).await {
            Ok(ended) => {
                self.reported.snapshot(&ended);
                self.answer().unwrap_or_else(|| self.unknown("the agent is still stopping it"))
            }
            // It has ended meanwhile, or cannot be stopped.
            Err(_) => self.look().await,
        }
    }

    fn unknown(&self, why: &str) -> Answer {
        Answer::Unknown(format!("{}: {why}", self.tool.info.name))
    }

    fn failed(&self, trouble: Trouble) -> String {
        format!("{}: {}", self.tool.info.name, trouble.words())
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
        reach: Reach { effect_by: EffectClassSource::Stranger, ..Reach::to(Destination::Named(agent.to_owned())) },
        timeout_ms: TASK_TIMEOUT_MS,
        cancel: CancelClass::Finish,
        ..ToolInfo::new(&format!("{agent}.{}", skill.name), &skill.description)
    }
}
