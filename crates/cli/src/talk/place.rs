//! The host of a conversation: this process, or a server. Both take the same messages
//! and respond with the same frames.

use std::sync::Arc;

use consort_chat::{self as chats, Chats, Opening};
use consort_core::chat::{Answer, Grant, Mode, Say};
use consort_runtime::engine::Engine;
use futures::{StreamExt, TryStreamExt};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::client::events::{Heard, Hearing};
use crate::client::{Call, Client, Failure};
use crate::exit::Exit;

/// The owner of these conversations; a server without keys gives its only user the
/// same name.
const LOCAL: &str = "local";

/// The host of a conversation.
pub(crate) enum Place {
    /// This process.
    Here(Chats, Engine),
    /// A server.
    There(Client),
}

/// A turn that has begun.
pub(super) struct Begun {
    /// Its id.
    pub(super) turn: Arc<str>,
    /// Everything that happens in it.
    pub(super) hearing: Hearing<anyhow::Error>,
}

/// The message that starts a turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Saying {
    /// A message, as it is sent.
    Words(Value),
    /// A request for the rest of an answer that was cut off.
    Rest,
}

impl Place {
    /// Returns the server's address, if it is one.
    pub(crate) fn url(&self) -> Option<String> {
        match self {
            Place::Here(..) => None,
            Place::There(client) => Some(client.url().to_owned()),
        }
    }

    /// Opens a thread to continue; returns its title. Work that a crash of this program
    /// left unfinished in it is resumed, so that it can be stopped.
    pub(super) async fn open(&self, id: &str) -> anyhow::Result<String> {
        match self {
            Place::Here(chats, engine) => {
                let thread = chats.thread(LOCAL, id).await?;
                if let Some(unfinished) = chats.running(id).await? {
                    engine.take_up(&unfinished.turn).await;
                }
                Ok(thread.title)
            }
            Place::There(client) => {
                let thread = client.read(&client.send(&Call::get(&["threads", id])).await?)?;
                Ok(text(&thread, "title"))
            }
        }
    }

    /// Creates a thread with its first message; one that cannot be sent leaves no thread behind.
    pub(super) async fn begin(&self, message: Value) -> anyhow::Result<(String, Begun)> {
        match self {
            Place::Here(chats, _) => {
                let say = Say::read(&message).map_err(chats::Error::Mistake)?;
                let Opening { thread, said, seat, .. } = chats.open_with(LOCAL, say).await?;
                Ok((thread, begun(chats, &seat, said).await?))
            }
            Place::There(client) => {
                let made = client.read(&client.send(&Call::post(&["threads"], json!({}))).await?)?;
                let thread = text(&made, "id");
                match self.say(&thread, Saying::Words(message)).await {
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
    pub(super) async fn say(&self, thread: &str, saying: Saying) -> anyhow::Result<Begun> {
        match self {
            Place::Here(chats, _) => {
                let seat = chats.seat(thread);
                let said = match saying {
                    Saying::Words(message) => {
                        let say = Say::read(&message).map_err(chats::Error::Mistake)?;
                        chats.say(LOCAL, thread, say).await?
                    }
                    Saying::Rest => chats.go_on(LOCAL, thread, Say::default()).await?,
                };
                begun(chats, &seat, said).await
            }
            Place::There(client) => {
                let call = match saying {
                    Saying::Words(message) => Call::post(&["threads", thread, "messages"], message),
                    Saying::Rest => Call::post(&["threads", thread, "continue"], json!({})),
                };
                let said = client.read(&client.send(&call).await?)?;
                let first = said.get("seq").and_then(Value::as_u64).unwrap_or_default();
                let hearing = client.follow_turn(thread, first).await?;
                Ok(Begun { turn: text(&said, "turnId").into(), hearing: hearing.err_into().boxed() })
            }
        }
    }

    /// Stops the current turn, if there is one.
    pub(super) async fn stop(&self, thread: &str) -> anyhow::Result<()> {
        match self {
            Place::Here(chats, _) => match chats.stop(LOCAL, thread).await {
                Ok(_) | Err(chats::Error::Idle) => Ok(()),
                Err(error) => Err(error.into()),
            },
            Place::There(client) => match client.send(&Call::post(&["threads", thread, "stop"], json!({}))).await {
                Err(Failure::Refused { status, .. }) if status == StatusCode::CONFLICT => Ok(()),
                sent => Ok(sent.map(drop)?),
            },
        }
    }

    /// Answers an approval.
    pub(super) async fn approve(&self, approval: &str, answer: Answer) -> anyhow::Result<()> {
        match self {
            Place::Here(chats, _) => Ok(chats.approve(LOCAL, approval, answer).await?),
            Place::There(client) => {
                let call = Call::post(&["approvals", approval], json!({ "decision": answer.word() }));
                Ok(client.send(&call).await.map(drop)?)
            }
        }
    }

    /// Returns what was allowed for a thread, as the server lists it.
    pub(super) async fn grants(&self, thread: &str) -> anyhow::Result<Value> {
        match self {
            Place::Here(chats, _) => {
                let grants = chats.grants(LOCAL, thread).await?;
                Ok(json!({ "grants": grants.iter().map(Grant::view).collect::<Vec<_>>() }))
            }
            Place::There(client) => Ok(client.read(&client.send(&Call::get(&["threads", thread, "grants"])).await?)?),
        }
    }

    /// Takes back what was allowed for a thread.
    pub(super) async fn revoke(&self, thread: &str, grant: &str) -> anyhow::Result<()> {
        match self {
            Place::Here(chats, _) => Ok(chats.withdraw(LOCAL, thread, grant).await?),
            Place::There(client) => {
                Ok(client.send(&Call::delete(&["threads", thread, "grants", grant])).await.map(drop)?)
            }
        }
    }

    /// Changes what the current turn may do without approval.
    pub(super) async fn set_mode(&self, thread: &str, mode: Mode) -> anyhow::Result<()> {
        match self {
            Place::Here(chats, _) => Ok(chats.set_mode(LOCAL, thread, mode).await.map(drop)?),
            Place::There(client) => {
                let call = Call::patch(&["threads", thread], json!({ "permission_mode": mode.word() }));
                Ok(client.send(&call).await.map(drop)?)
            }
        }
    }

    /// Returns the threads, the newest first, as the server lists them.
    pub(super) async fn threads(&self) -> anyhow::Result<Value> {
        match self {
            Place::Here(chats, _) => {
                let threads = chats.threads(LOCAL).await?;
                Ok(json!({ "threads": threads.iter().map(|thread| thread.view(None, None)).collect::<Vec<_>>() }))
            }
            Place::There(client) => Ok(client.read(&client.send(&Call::get(&["threads"])).await?)?),
        }
    }

    /// Returns the models and tools, as the server lists them.
    pub(super) async fn choices(&self) -> anyhow::Result<Value> {
        match self {
            Place::Here(chats, _) => {
                let catalog = chats.catalog();
                let tool = |tool: &Arc<_>| tool_view(tool);
                let models = catalog.models.iter();
                let models = models.map(|model| json!({ "alias": model.alias, "provider": model.provider }));
                Ok(json!({ "models": models.collect::<Vec<_>>(),
                    "tools": catalog.tools.iter().map(tool).collect::<Vec<_>>() }))
            }
            Place::There(client) => Ok(client.read(&client.send(&Call::get(&["capabilities"])).await?)?),
        }
    }

    /// Returns when no task here works on the turn any more although it has no end,
    /// because it cannot be stored; on a server it never returns.
    pub(super) async fn abandoned(&self, turn: &str) {
        if let Place::Here(_, engine) = self {
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
            Place::Here(..) => Some(Answer::Deny),
            Place::There(_) => None,
        }
    }
}

/// Follows a turn that has begun in this process.
async fn begun(chats: &Chats, seat: &chats::Seat, said: chats::Said) -> anyhow::Result<Begun> {
    // A message here stops the current turn, so it is never queued.
    let base = if let chats::Place::Begun { seq } = said.place { seq } else { 0 };
    let frames = chats.turn(seat, &said.turn, base).await?;
    let heard = frames.map_ok(|frame| Heard::Frame(frame.into()));
    Ok(Begun { turn: said.turn, hearing: heard.err_into().boxed() })
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
