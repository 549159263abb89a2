//! The work that a message asks for: a turn, a run, a call of a shared tool, or an answer to what a task asks.

use std::sync::Arc;

use consort_core::a2a::CONTEXT_TAG;
use consort_core::compile::Compiled;
use consort_core::message::Attached;
use consort_core::question::{Needs, Question};
use consort_tools::extract::MediaType;
use serde_json::{Map, Value, json};

use super::Agent;
use super::error::{A2aError, Fault};
use super::read::{Fields, Message, SendOptions};
use super::tasks::{Found, Stage, is_turn};
use crate::access::Scope;
use crate::body::Sent;
use crate::offers::{MESSAGE, Offer, What, offers};
use crate::once::{Begun, Once};
use crate::openai::{ClientRequest, ThreadChoice};
use crate::routes::reviews::decided;
use crate::routes::submit::trace;
use consort_inbound::problem::Problem;

/// The result of a message.
pub(super) enum Outcome {
    /// A task.
    Task {
        found: Found,
        /// Whether the message has begun it; otherwise it goes on.
        is_new: bool,
    },
    /// A message: the result of a tool that was called.
    Message(Value),
}

impl Agent {
    /// Does what a message asks for, or begins it. The same message is executed once.
    pub(super) async fn take(&self, params: &Fields) -> Result<(Outcome, SendOptions), A2aError> {
        if self.edge.headers.contains_key("idempotency-key") {
            let message = "Idempotency-Key is not for messages, which are known by their `messageId`: leave it out";
            return Err(A2aError::new(Fault::InvalidParams, message));
        }
        let message = Message::read(params)?;
        let options = SendOptions::read(params)?;
        if let Some(push) = &options.push {
            self.check(push).map_err(|error| error.within("configuration.taskPushNotificationConfig"))?;
        }
        let once = Once::of_message(&self.edge.caller, &message.id, &message.print);
        let is_new = message.task.is_none();
        let id = match &message.task {
            Some(task) => self.answered(task.clone(), message, once).await?,
            None => match self.begun(message, once).await? {
                Ok(id) => id,
                Err(result) => return Ok((Outcome::Message(result), options)),
            },
        };
        let found = self.find(&id).await?;
        if let Some(push) = options.push.clone() {
            // It is told of everything, also of what has happened since the task began.
            self.add_push(&found, push, 0).await?;
        }
        Ok((Outcome::Task { found, is_new }, options))
    }

    /// Begins a turn or a run; the error is the result of a tool.
    async fn begun(&self, message: Message, once: Once) -> Result<Result<String, Value>, A2aError> {
        let offer = self.offer(message.skill.as_deref()).await?;
        self.pass.check(offer.scope())?;
        match &offer.what {
            What::Tool(tool) => {
                if !message.files.is_empty() {
                    let message = format!("the skill '{}' takes no files", offer.name());
                    return Err(A2aError::new(Fault::ContentTypeNotSupported, message));
                }
                let called = self.edge.call(tool, Value::Object(inputs(&offer, &message))).await?;
                let (text, data) = called.map_err(|reason| A2aError::new(Fault::UnsupportedOperation, reason))?;
                Ok(Err(answer(&message, text, data)))
            }
            What::Chat => {
                let agent = self.clone();
                let begun = once.begun(&self.edge.site, async move { agent.turn(message).await }).await?;
                Ok(Ok(id_of(&begun)))
            }
            What::Run { workflow } => {
                let wanted = self.wanted(&offer, &message).await?;
                let compiled = self.edge.site.starter.compile(workflow.as_deref(), &wanted).await;
                let run = self.submitted(compiled.map_err(Problem::from)?, &message, once).await?;
                Ok(Ok(run.to_string()))
            }
            What::Task(draft) => {
                let wanted = self.wanted(&offer, &message).await?;
                let compiled = self.edge.shared_task(draft, &wanted)?;
                let run = self.submitted(compiled, &message, once).await?;
                Ok(Ok(run.to_string()))
            }
        }
    }

    /// Finds the skill that a message asks for: without a word of it the chat agent, or else the ensemble.
    async fn offer(&self, skill: Option<&str>) -> Result<Offer, A2aError> {
        let mut offers = offers(&self.edge.site).await;
        let names = offers.iter().map(Offer::name).collect::<Vec<_>>().join(", ");
        let place = match skill {
            Some(skill) => offers.iter().position(|offer| offer.name() == skill),
            None => {
                let chat = offers.iter().position(|offer| matches!(offer.what, What::Chat));
                let ensemble = || offers.iter().position(|offer| matches!(offer.what, What::Run { workflow: None }));
                chat.or_else(ensemble)
            }
        };
        let unknown = || match skill {
            Some(skill) => A2aError::wrong("metadata.skillId", format!("names no skill: '{skill}' is none of {names}")),
            None => A2aError::wrong("metadata.skillId", format!("must name one of the skills: {names}")),
        };
        place.map(|place| offers.swap_remove(place)).ok_or_else(unknown)
    }

    /// Begins a turn of the context's thread.
    async fn turn(&self, message: Message) -> Result<Begun, A2aError> {
        let files = self.uploaded(&message).await?;
        if message.text.trim().is_empty() {
            return Err(A2aError::wrong("message.parts", "must say something: the chat agent answers texts"));
        }
        let context = match &message.context {
            Some(context) => context.clone(),
            None => self.edge.site.server.chats.create(&self.edge.caller.0, None).await?.id,
        };
        let mut said = message.text;
        if !message.data.is_empty() {
            said = format!("{said}\n\n{}", Value::Object(message.data));
        }
        let asked = ClientRequest::message(said, ThreadChoice::Conversation(context)).with(files);
        let work = self.edge.turn(&asked).await?;
        let thread = work.thread.unwrap_or_default().into();
        Ok(Begun::Turn { thread, turn: work.id })
    }

    /// Returns the request for a run.
    async fn wanted(&self, offer: &Offer, message: &Message) -> Result<Value, A2aError> {
        let files = self.uploaded(message).await?;
        let mut wanted = json!({ "inputs": inputs(offer, message) });
        if let (false, Value::Object(fields)) = (files.is_empty(), &mut wanted) {
            let ids: Vec<String> = files.into_iter().map(|file| file.id).collect();
            fields.insert("attachments".to_owned(), json!(ids));
        }
        Ok(wanted)
    }

    async fn submitted(&self, mut compiled: Compiled, message: &Message, once: Once) -> Result<Arc<str>, A2aError> {
        compiled.spec.traceparent = trace(&self.edge.headers);
        if let Some(context) = &message.context {
            compiled.spec.tags.insert(CONTEXT_TAG.to_owned(), context.clone());
        }
        Ok(once.submit((&self.edge.site, &self.edge.runs), compiled).await?)
    }

    /// Stores the files of a message.
    async fn uploaded(&self, message: &Message) -> Result<Vec<Attached>, A2aError> {
        let site = &self.edge.site;
        let max = site.server.max_attachment_bytes;
        let mut ids = Vec::new();
        for file in &message.files {
            if file.bytes.len() > max {
                return Err(A2aError::wrong("message.parts", format!("has a file of more than {max} bytes")));
            }
            let kind = MediaType::parse(&file.kind);
            let owner = self.pass.sight.owner();
            let named = (file.name.as_deref(), &kind);
            ids.push(site.engine().attachments().put(&owner, named, &file.bytes, site.now()).await?.id);
        }
        Ok(site.engine().seen_with(self.pass.sight.clone()).attached(&ids).await?)
    }

    /// Takes the answer to what a task asks, and returns the task's id.
    async fn answered(&self, task: String, message: Message, once: Once) -> Result<String, A2aError> {
        let found = self.find(&task).await?;
        if let Some(context) = message.context.as_deref().filter(|context| *context != found.context) {
            let told = format!("is '{context}', but the task {task} belongs to '{}'", found.context);
            return Err(A2aError::wrong("message.contextId", told));
        }
        let agent = self.clone();
        let begun = match &found.thread {
            Some(thread) => Begun::Turn { thread: thread.as_str().into(), turn: task.as_str().into() },
            None => Begun::Run(task.as_str().into()),
        };
        let decided = async move { agent.decide(&found, &message).await.map(|()| begun) };
        once.begun(&self.edge.site, decided).await.map(|begun| id_of(&begun))
    }

    async fn decide(&self, found: &Found, message: &Message) -> Result<(), A2aError> {
        let state = found.state();
        let unfit = |why: &str| A2aError::new(Fault::UnsupportedOperation, format!("the task {} {why}", found.id));
        if state.is_over() {
            return Err(unfit("has ended and takes no message: send one without `taskId`"));
        }
        let Stage::Begun(run) = &found.stage else { return Err(unfit("has not begun and asks nothing")) };
        let questions = run.open_questions(&found.id);
        let wanted = message.data.get("id").and_then(Value::as_str);
        let question = match wanted {
            Some(id) => questions.iter().find(|question| question.id == id),
            None => questions.first(),
        };
        let question = question.ok_or_else(|| match wanted {
            Some(id) => unfit(&format!("does not ask '{id}'")),
            None => unfit("is being worked on and asks nothing: wait for it, or cancel it"),
        })?;
        self.pass.check(Scope::Review)?;
        let sent = Sent::of(Value::Object(decision(question, message)?));
        if is_turn(&found.id) {
            let choice = sent.choice("decision")?;
            let choice = choice.ok_or_else(|| Problem::bad_request("`decision` is required"))?;
            return Ok(self.edge.site.server.chats.approve(&self.edge.caller.0, &question.id, choice).await?);
        }
        decided(&self.edge.runs, &self.edge.caller, &question.id, Ok(&sent)).await?;
        Ok(())
    }
}

/// Returns the inputs of a skill: the data, and the text as its only input, or else as `message`.
fn inputs(offer: &Offer, message: &Message) -> Fields {
    let mut names = offer.inputs();
    let name = match (names.next(), names.next()) {
        (Some(only), None) => only,
        _ => MESSAGE,
    };
    let mut inputs = message.data.clone();
    if !message.text.is_empty() && !inputs.contains_key(name) {
        inputs.insert(name.to_owned(), json!(message.text));
    }
    inputs
}

/// Returns the decision that an answer means: its data, or else its words.
fn decision(question: &Question, message: &Message) -> Result<Fields, A2aError> {
    if message.data.contains_key("decision") {
        return Ok(message.data.clone());
    }
    let said = message.text.trim();
    if said.is_empty() {
        return Err(A2aError::wrong("message.parts", "must answer what the task asks, as text or data"));
    }
    let plain = |word: &str| said.eq_ignore_ascii_case(word) || said.eq_ignore_ascii_case(&word.replace('_', " "));
    let of = |fields: &[(&str, &str)]| -> Fields {
        fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect::<Map<_, _>>()
    };
    Ok(match question.needs {
        Needs::Words => of(&[("decision", "EDIT"), ("revisedOutput", said)]),
        Needs::Permission => {
            let word = ["allow", "allow_for_chat", "deny"].into_iter().find(|word| plain(word));
            let wrong = || A2aError::wrong("message.parts", "must be one of allow, allow_for_chat, deny");
            of(&[("decision", word.ok_or_else(wrong)?)])
        }
        Needs::Decision => match ["APPROVE", "CONTINUE", "EXIT_EARLY"].into_iter().find(|word| plain(word)) {
            Some(word) => of(&[("decision", word)]),
            // Whatever else a reviewer says is what should be better: it never approves.
            None => of(&[("decision", "REJECT"), ("feedback", said)]),
        },
    })
}

/// Returns the result of a tool as a message.
fn answer(message: &Message, text: String, data: Option<Value>) -> Value {
    let id = uuid::Uuid::new_v4().to_string();
    let context = message.context.clone().unwrap_or_else(|| id.clone());
    let data = data.map(|data| json!({ "data": data, "mediaType": "application/json" }));
    let parts: Vec<Value> = std::iter::once(json!({ "text": text })).chain(data).collect();
    json!({ "messageId": id, "contextId": context, "role": "ROLE_AGENT", "parts": parts })
}

fn id_of(begun: &Begun) -> String {
    match begun {
        Begun::Run(run) => run.to_string(),
        Begun::Turn { turn, .. } => turn.to_string(),
    }
}
