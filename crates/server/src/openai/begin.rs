//! The work that answers a request: a turn of a conversation, or a run.

use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::HOST;
use consort_chat::{Chats, MessageState, Numbered, Thread};
use consort_core::chat::{IfBusy, UserMessage};
use consort_core::owner::Sight;
use consort_log as log;
use consort_runtime::engine::Engine;
use consort_runtime::ring::Frame;
use consort_runtime::workflows;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::{Value, json};

use super::error::wrong;
use super::request::{ClientRequest, ThreadChoice};
use super::steps::{self, Step};
use crate::Site;
use crate::access::Caller;
use crate::once::Begun;
use crate::routes::submit::trace;
use consort_inbound::problem::{Code, More, Problem};

/// The name of the chat agent as a model.
pub(super) const CHAT: &str = "consort";
/// The beginning of the ids of threads; any other name of a conversation is a client's own.
const THREAD: &str = "thread-";

/// The context of a request: its caller and the server.
pub(crate) struct Edge {
    pub(crate) site: Arc<Site>,
    pub(crate) caller: Caller,
    pub(crate) runs: Engine,
    pub(crate) headers: HeaderMap,
}

/// Something that can be asked.
enum Model {
    Chat,
    Run { workflow: Option<String> },
}

/// Work that answers a request.
pub(crate) struct Work {
    /// The id of the turn or the run.
    pub(crate) id: Arc<str>,
    /// The thread of a turn.
    pub(crate) thread: Option<String>,
    /// The engine that knows it.
    pub(crate) engine: Engine,
    pub(crate) steps: BoxStream<'static, Step>,
    /// A thread that is used for this request only.
    pub(super) throwaway: Option<Throwaway>,
}

/// A thread that is erased once its only turn has been answered.
pub(crate) struct Throwaway {
    chats: Chats,
    owner: String,
    thread: String,
}

impl Throwaway {
    pub(super) async fn erase(self) {
        // The thread is a passing one: whatever stays is erased later.
        if let Err(error) = self.chats.delete(&self.owner, &self.thread).await {
            tracing::debug!(%error, "a passing thread stays for now");
        }
    }
}

impl Edge {
    /// Begins the work for a request, or finds what the same request began before.
    pub(super) async fn begin(&self, asked: &mut ClientRequest, again: Option<Begun>) -> Result<Work, Problem> {
        let model = self.model(&asked.model).await?;
        if again.is_none() {
            self.upload(asked).await?;
        } else {
            asked.forget_files();
        }
        match (again, model) {
            (Some(Begun::Run(run)), _) => self.run_of(run).await,
            (Some(Begun::Turn { thread, turn }), _) => {
                self.site.server.chats.thread(&self.caller.0, &thread).await?;
                Ok(self.waiting_turn(&thread, turn))
            }
            (None, Model::Chat) => self.turn(asked).await,
            (None, Model::Run { workflow }) => self.run(asked, workflow.as_deref()).await,
        }
    }

    /// Finds what a model's name stands for.
    async fn model(&self, name: &str) -> Result<Model, Problem> {
        if name == CHAT {
            return Ok(Model::Chat);
        }
        let unknown = || {
            let message = format!("The model '{name}' does not exist: GET /v1/models lists what there is");
            Problem::new(Code::ModelNotFound, message).with(param("model"))
        };
        let wanted = name.strip_prefix(CHAT).and_then(|rest| rest.strip_prefix('/')).ok_or_else(unknown)?;
        let ensemble = &self.site.server.ensemble;
        if wanted == ensemble.name && !ensemble.tasks.is_empty() {
            return Ok(Model::Run { workflow: None });
        }
        match self.site.workflows().find(wanted).await {
            Ok(saved) => Ok(Model::Run { workflow: Some(saved.id) }),
            Err(workflows::Error::NotFound(_)) => Err(unknown()),
            Err(error @ workflows::Error::Ambiguous { .. }) => Err(wrong("model", error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    /// Begins a run: the message is its input `message`, the metadata the others.
    async fn run(&self, asked: &ClientRequest, workflow: Option<&str>) -> Result<Work, Problem> {
        if asked.place != ThreadChoice::New {
            let message = format!("a run has no conversation: ask the model `{CHAT}` to go on with one");
            return Err(wrong("conversation", message));
        }
        if asked.metadata.contains_key("message") {
            return Err(wrong("metadata", "`metadata.message` is the last message: leave it out"));
        }
        let mut inputs = asked.metadata.clone();
        inputs.insert("message".to_owned(), asked.content.as_str().into());
        let mut wanted = json!({ "inputs": inputs });
        if let Value::Object(fields) = &mut wanted {
            let files: Vec<&str> = asked.files.iter().map(|file| file.id.as_str()).collect();
            let more = [
                ("modelOptions", json!(asked.options), asked.options.is_empty()),
                ("attachments", json!(files), files.is_empty()),
            ];
            let said = more.into_iter().filter(|(_, _, is_empty)| !is_empty);
            fields.extend(said.map(|(name, value, _)| (name.to_owned(), value)));
        }
        let mut compiled = self.site.starter.compile(workflow, &wanted).await?;
        compiled.spec.traceparent = trace(&self.headers);
        self.run_of(self.runs.submit(compiled).await?).await
    }

    /// Follows a run from its first frame.
    pub(crate) async fn run_of(&self, id: Arc<str>) -> Result<Work, Problem> {
        self.run_after(id, 0).await
    }

    /// Follows a run from this event on. The events before are read, because later ones are told by what they say.
    pub(crate) async fn run_after(&self, id: Arc<str>, from: u64) -> Result<Work, Problem> {
        let frames = self.runs.tail(&id, 0).await?;
        let reader = steps::Run::new(self.base());
        let steps = frames.scan(reader, move |reader, frame| {
            let is_old = frame.as_ref().is_ok_and(|frame| is_before(frame, from));
            let steps = reader.steps(frame);
            std::future::ready(Some(if is_old { Vec::new() } else { steps }))
        });
        let steps = steps.flat_map(stream::iter).boxed();
        Ok(Work { id, thread: None, engine: self.runs.clone(), steps, throwaway: None })
    }

    /// Begins a turn.
    pub(crate) async fn turn(&self, asked: &ClientRequest) -> Result<Work, Problem> {
        let chats = &self.site.server.chats;
        let thread = self.thread(&asked.place).await?;
        self.check_approvals(&thread).await?;
        let subscription = chats.subscribe(&thread.id);
        let said = match chats.send(&self.caller.0, &thread.id, self.say(asked)).await {
            Ok(said) => said,
            Err(error) => {
                if asked.place == ThreadChoice::New {
                    self.throwaway(&thread.id).erase().await;
                }
                return Err(error.into());
            }
        };
        let frames = match said.place {
            MessageState::Begun { seq } => chats.turn(&subscription, &said.turn, seq).await?,
            MessageState::Waits { .. } => {
                chats.queued_turn(&self.caller.0, &thread.id, (subscription, said.turn.clone()))
            }
        };
        let throwaway = asked.is_auxiliary().then(|| self.throwaway(&thread.id));
        Ok(Work { throwaway, ..self.turn_of((thread.id, said.turn), frames, 0) })
    }

    /// Follows a turn that was begun before, from its first frame.
    pub(crate) fn waiting_turn(&self, thread: &str, turn: Arc<str>) -> Work {
        self.turn_after(thread, turn, 0)
    }

    /// Follows a turn from this event on.
    pub(crate) fn turn_after(&self, thread: &str, turn: Arc<str>, from: u64) -> Work {
        let chats = &self.site.server.chats;
        let frames = chats.queued_turn(&self.caller.0, thread, (chats.subscribe(thread), turn.clone()));
        self.turn_of((thread.to_owned(), turn), frames, from)
    }

    fn turn_of(
        &self,
        (thread, id): (String, Arc<str>),
        frames: BoxStream<'static, Result<Numbered, log::Error>>,
        from: u64,
    ) -> Work {
        let reader = steps::Turn::new(self.base());
        let steps = frames.scan(reader, move |reader, frame| {
            let told = frame.as_ref().ok().and_then(|numbered| numbered.frame.as_ref());
            let is_old = told.is_some_and(|frame| is_before(frame, from));
            let steps = reader.steps(frame);
            std::future::ready(Some(if is_old { Vec::new() } else { steps }))
        });
        let steps = steps.flat_map(stream::iter).boxed();
        let engine = self.site.server.chats.engine().seen_with(Sight::All(consort_core::owner::Owner::local()));
        Work { id, thread: Some(thread), engine, steps, throwaway: None }
    }

    /// Finds the thread that a message belongs to, or makes one.
    async fn thread(&self, place: &ThreadChoice) -> Result<Thread, Problem> {
        let chats = &self.site.server.chats;
        let owner = &self.caller.0;
        match place {
            ThreadChoice::New => Ok(chats.create_passing(owner).await?),
            ThreadChoice::Conversation(id) if id.starts_with(THREAD) => {
                Ok(chats.thread(owner, id).await.map_err(|error| Problem::from(error).with(param("conversation")))?)
            }
            ThreadChoice::Conversation(name) => Ok(chats.conversation(owner, name).await?),
            ThreadChoice::After(response) => self.after(response).await,
        }
    }

    async fn after(&self, response: &str) -> Result<Thread, Problem> {
        let found = self.site.server.chats.continued(&self.caller.0, response).await;
        let missing = || {
            let message = format!("Previous response with id '{response}' not found.");
            Problem::new(Code::PreviousResponseNotFound, message).with(param("previous_response_id"))
        };
        let is_missing = |error: &consort_chat::Error| matches!(error, consort_chat::Error::NotFound(_));
        let continued = found.map_err(|error| if is_missing(&error) { missing() } else { error.into() })?;
        if !continued.is_last {
            let message = "only the last response of a conversation can be continued, and this one was already";
            return Err(wrong("previous_response_id", message));
        }
        Ok(continued.thread)
    }

    /// Refuses a message to a thread whose turn waits for a person: it would wait as long.
    async fn check_approvals(&self, thread: &Thread) -> Result<(), Problem> {
        let running = self.site.server.chats.running(&thread.id).await?;
        if running.is_none_or(|running| running.open_approvals == 0) {
            return Ok(());
        }
        let link = format!("{}/chat/{}", self.base(), thread.id);
        let message = format!("a tool call of this conversation waits for a decision: {link}");
        Err(Problem::new(Code::ApprovalPending, message))
    }

    fn say(&self, asked: &ClientRequest) -> UserMessage {
        let is_auxiliary = asked.is_auxiliary();
        UserMessage {
            content: asked.content.as_str().into(),
            model: self.site.server.aux_model.clone().filter(|_| is_auxiliary),
            if_busy: IfBusy::Queue,
            earlier: asked.earlier.clone(),
            attachments: asked.files.iter().map(|file| file.id.clone()).collect(),
            files: asked.files.clone(),
            instructions: asked.instructions.as_deref().map(Into::into),
            without_tools: is_auxiliary,
            model_options: asked.options,
            traceparent: trace(&self.headers),
            ..UserMessage::default()
        }
    }

    fn throwaway(&self, thread: &str) -> Throwaway {
        let chats = self.site.server.chats.clone();
        let owner = self.caller.0.clone();
        Throwaway { chats, owner, thread: thread.to_owned() }
    }

    /// Returns the address of the web UI as the client knows the server.
    pub(crate) fn base(&self) -> String {
        let header = |name| self.headers.get(name).and_then(|value| value.to_str().ok());
        let scheme = header("x-forwarded-proto").filter(|scheme| *scheme == "https").unwrap_or("http");
        let host = header(HOST.as_str()).map_or_else(|| format!("127.0.0.1:{}", self.site.port), str::to_owned);
        format!("{scheme}://{host}")
    }
}

/// Returns whether a frame is of an event before this one.
fn is_before(frame: &Frame, from: u64) -> bool {
    match frame {
        Frame::Event { seq, .. } => *seq < from,
        Frame::Delta { .. } | Frame::Result { .. } => false,
    }
}

fn param(field: &str) -> More {
    More { param: Some(field.to_owned()), ..More::default() }
}
