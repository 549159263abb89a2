//! The host of a chat: this process, or a server. Both take the same messages
//! and respond with the same frames.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use consort_chat::{self as chats, Chats, Opening};
use consort_core::chat::{Answer, Mode, UserMessage};
use consort_core::mistake::{Code, Mistake};
use consort_runtime::engine::Engine;
use consort_tools::extract::MediaType;
use futures::{StreamExt, TryStreamExt};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::files;
use crate::client::events::{EventStream, StreamEvent};
use crate::client::ids::{Kind, whole};
use crate::client::{Call, Client, Failure};
use crate::exit::Exit;

/// The owner of these chats; a server without keys gives its only user the
/// same name.
const LOCAL: &str = "local";

/// The host of a chat.
pub(crate) enum ChatHost {
    /// This process.
    Here(Chats, Engine),
    /// A server.
    There(Client),
}

/// A turn that has begun.
pub(crate) struct Begun {
    /// Its id.
    pub(crate) turn: Arc<str>,
    /// Everything that happens in it.
    pub(crate) events: EventStream<anyhow::Error>,
}

/// The message that starts a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TurnStart {
    /// A message, as it is sent, and the files to attach to it.
    Words(Value, Vec<PathBuf>),
    /// A request for the rest of an answer that was cut off.
    Rest,
}

impl ChatHost {
    /// Returns the whole id of a thread that was typed.
    pub(super) async fn whole_id(&self, typed: &str) -> anyhow::Result<String> {
        match self {
            ChatHost::Here(chats, _) => {
                let ids: Vec<String> = chats.threads(LOCAL).await?.into_iter().map(|thread| thread.id).collect();
                let found = whole(Kind::Thread, typed, &ids).map_err(Failure::from)?;
                Ok(found.unwrap_or_else(|| typed.to_owned()))
            }
            ChatHost::There(client) => Ok(client.whole_id(Kind::Thread, typed).await?),
        }
    }

    /// Opens a thread to continue; returns its title. Work that a crash of this program
    /// left unfinished in it is resumed, so that it can be stopped.
    pub(super) async fn open(&self, id: &str) -> anyhow::Result<String> {
        match self {
            ChatHost::Here(chats, engine) => {
                let thread = chats.thread(LOCAL, id).await?;
                if let Some(unfinished) = chats.running(id).await? {
                    engine.take_up(&unfinished.turn).await;
                }
                Ok(thread.title)
            }
            ChatHost::There(client) => {
                let thread = client.read(&client.send(&Call::get(&["threads", id])).await?)?;
                Ok(text(&thread, "title"))
            }
        }
    }

    /// Creates a thread with its first message; one that cannot be sent leaves no thread behind.
    pub(super) async fn begin(&self, message: Value, files: &[PathBuf]) -> anyhow::Result<(String, Begun)> {
        let message = self.attached(message, files).await?;
        match self {
            ChatHost::Here(chats, engine) => {
                let say = read(&message, engine).await?;
                let Opening { thread, said: sent, subscription, .. } = chats.open_with(LOCAL, say).await?;
                Ok((thread, begun(chats, &subscription, sent).await?))
            }
            ChatHost::There(client) => {
                let made = client.read(&client.send(&Call::post(&["threads"], json!({}))).await?)?;
                let thread = text(&made, "id");
                match self.say(&thread, TurnStart::Words(message, Vec::new())).await {
                    Ok(begun) => Ok((thread, begun)),
                    Err(error) => {
                        // No message was sent to it; if deleting fails, an empty thread remains.
                        let _stays = client.send(&Call::delete(&["threads", &thread])).await;
                        Err(error)
                    }
                }
            }
        }
    }

    /// Sends a message.
    pub(crate) async fn say(&self, thread: &str, start: TurnStart) -> anyhow::Result<Begun> {
        let start = match start {
            TurnStart::Words(message, files) => TurnStart::Words(self.attached(message, &files).await?, Vec::new()),
            TurnStart::Rest => TurnStart::Rest,
        };
        match self {
            ChatHost::Here(chats, engine) => {
                let subscription = chats.subscribe(thread);
                let sent = match start {
                    TurnStart::Words(message, _) => chats.send(LOCAL, thread, read(&message, engine).await?).await?,
                    TurnStart::Rest => chats.continue_answer(LOCAL, thread, UserMessage::default()).await?,
                };
                begun(chats, &subscription, sent).await
            }
            ChatHost::There(client) => {
                let call = match start {
                    TurnStart::Words(message, _) => Call::post(&["threads", thread, "messages"], message),
                    TurnStart::Rest => Call::post(&["threads", thread, "continue"], json!({})),
                };
                let sent = client.read(&client.send(&call).await?)?;
                let first = sent.get("seq").and_then(Value::as_u64).unwrap_or_default();
                let events = client.follow_turn(thread, first).await?;
                Ok(Begun { turn: text(&sent, "turnId").into(), events: events.err_into().boxed() })
            }
        }
    }

    /// Uploads files, and names them in the message.
    async fn attached(&self, mut message: Value, files: &[PathBuf]) -> anyhow::Result<Value> {
        let mut ids = Vec::with_capacity(files.len());
        for file in files {
            ids.push(self.upload(file).await?);
        }
        if let Some(fields) = message.as_object_mut().filter(|_| !ids.is_empty()) {
            fields.insert("attachments".to_owned(), ids.into());
        }
        Ok(message)
    }

    /// Uploads a file; returns its id.
    async fn upload(&self, file: &Path) -> anyhow::Result<String> {
        let wrong = |reason: String| chats::Error::Mistake(Mistake::new(Code::BadRequest, "attachments", reason));
        let upload = files::upload(file).map_err(wrong)?;
        match self {
            ChatHost::Here(_, engine) => {
                let kind = MediaType::parse(&upload.kind);
                let stored = engine.store_attachment((Some(&upload.name), &kind), &upload.bytes).await;
                let stored = stored.map_err(|error| wrong(format!("{}: {error}", file.display())))?;
                Ok(stored.id)
            }
            ChatHost::There(client) => {
                let made = client.read(&client.send(&Call::post_file(&["attachments"], upload)).await?)?;
                Ok(text(&made, "id"))
            }
        }
    }

    /// Stops the current turn, if there is one.
    pub(crate) async fn stop(&self, thread: &str) -> anyhow::Result<()> {
        match self {
            ChatHost::Here(chats, _) => match chats.stop(LOCAL, thread).await {
                Ok(_) | Err(chats::Error::Idle) => Ok(()),
                Err(error) => Err(error.into()),
            },
            ChatHost::There(client) => match client.send(&Call::post(&["threads", thread, "stop"], json!({}))).await {
                Err(Failure::Refused { status, .. }) if status == StatusCode::CONFLICT => Ok(()),
                sent => Ok(sent.map(drop)?),
            },
        }
    }

    /// Answers an approval.
    pub(crate) async fn approve(&self, approval: &str, answer: Answer) -> anyhow::Result<()> {
        match self {
            ChatHost::Here(chats, _) => Ok(chats.approve(LOCAL, approval, answer).await?),
            ChatHost::There(client) => {
                let call = Call::post(&["approvals", approval], json!({ "decision": answer.word() }));
                Ok(client.send(&call).await.map(drop)?)
            }
        }
    }

    /// Returns what was allowed for a thread, as the server lists it.
    pub(super) async fn grants(&self, thread: &str) -> anyhow::Result<Value> {
        match self {
            ChatHost::Here(chats, _) => {
                let grants = chats.grants(LOCAL, thread).await?;
                let tools = chats.catalog().tools;
                Ok(json!({ "grants": grants.iter().map(|grant| grant.view(&tools)).collect::<Vec<_>>() }))
            }
            ChatHost::There(client) => {
                Ok(client.read(&client.send(&Call::get(&["threads", thread, "grants"])).await?)?)
            }
        }
    }

    /// Takes back what was allowed for a thread.
    pub(super) async fn revoke(&self, thread: &str, grant: &str) -> anyhow::Result<()> {
        match self {
            ChatHost::Here(chats, _) => Ok(chats.withdraw(LOCAL, thread, grant).await?),
            ChatHost::There(client) => {
                Ok(client.send(&Call::delete(&["threads", thread, "grants", grant])).await.map(drop)?)
            }
        }
    }

    /// Changes what the current turn may do without approval.
    pub(crate) async fn set_mode(&self, thread: &str, mode: Mode) -> anyhow::Result<()> {
        match self {
            ChatHost::Here(chats, _) => Ok(chats.set_mode(LOCAL, thread, mode).await.map(drop)?),
            ChatHost::There(client) => {
                let call = Call::patch(&["threads", thread], json!({ "permission_mode": mode.word() }));
                Ok(client.send(&call).await.map(drop)?)
            }
        }
    }

    /// Returns the threads, the newest first, as the server lists them.
    pub(super) async fn threads(&self) -> anyhow::Result<Value> {
        match self {
            ChatHost::Here(chats, _) => {
                let threads = chats.threads(LOCAL).await?;
                Ok(json!({ "threads": threads.iter().map(|thread| thread.view(None, None)).collect::<Vec<_>>() }))
            }
            ChatHost::There(client) => Ok(client.read(&client.send(&Call::get(&["threads"])).await?)?),
        }
    }

    /// Returns the models and tools, as the server lists them.
    pub(super) async fn choices(&self) -> anyhow::Result<Value> {
        match self {
            ChatHost::Here(chats, _) => {
                let catalog = chats.catalog();
                let tool = |tool: &Arc<_>| tool_view(tool);
                let models = catalog.models.iter();
                let models = models.map(|model| json!({ "alias": model.alias, "provider": model.provider }));
                Ok(json!({ "models": models.collect::<Vec<_>>(),
                    "tools": catalog.tools.iter().map(tool).collect::<Vec<_>>() }))
            }
            ChatHost::There(client) => Ok(client.read(&client.send(&Call::get(&["capabilities"])).await?)?),
        }
    }

    /// Returns when no task here works on the turn any more although it has no end,
    /// because it cannot be stored; on a server it never returns.
    pub(super) async fn abandoned(&self, turn: &str) {
        if let ChatHost::Here(_, engine) = self {
            engine.finished(turn).await;
            if !matches!(engine.run(turn).await, Ok(run) if run.end().is_some()) {
                return;
            }
        }
        std::future::pending().await
    }

    /// Returns the answer to a call that waits for a person when there is none: on a
    /// server another client may answer, here the call is denied.
    pub(super) fn absent(&self) -> Option<Answer> {
        match self {
            ChatHost::Here(..) => Some(Answer::Deny),
            ChatHost::There(_) => None,
        }
    }
}

/// Reads a message, and finds the files it names.
async fn read(message: &Value, engine: &Engine) -> anyhow::Result<UserMessage> {
    let mut say = UserMessage::read(message).map_err(chats::Error::Mistake)?;
    say.files = engine.attached(&say.attachments).await?;
    Ok(say)
}

/// Follows a turn that has begun in this process.
async fn begun(
    chats: &Chats,
    subscription: &chats::TurnSubscription,
    sent: chats::SentMessage,
) -> anyhow::Result<Begun> {
    // A message here stops the current turn, so it is never queued.
    let base = if let chats::MessageState::Begun { seq } = sent.place { seq } else { 0 };
    let frames = chats.turn(subscription, &sent.turn, base).await?;
    let events = frames.map_ok(|frame| StreamEvent::Frame(frame.into()));
    Ok(Begun { turn: sent.turn, events: events.err_into().boxed() })
}

fn tool_view(tool: &consort_core::catalog::ToolInfo) -> Value {
    json!({ "name": tool.name, "description": tool.description })
}

fn text(answer: &Value, name: &str) -> String {
    answer.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the exit status for a message that could not be sent.
pub(super) fn exit(error: &anyhow::Error) -> Exit {
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(Failure::Refused { status, .. }), _) if *status == StatusCode::BAD_REQUEST => Exit::Usage,
        (Some(failure), _) => failure.exit(),
        (None, Some(chats::Error::Mistake(_))) => Exit::Usage,
        (None, Some(_) | None) => Exit::Failed,
    }
}
