//! Frames of conversations: send a message, stop a turn, resume a thread, answer
//! approvals, and return the results of tools that run in the client.

use consort_chat as chats;
use consort_chat::{Chats, MessageState, Opening, SentMessage, Start};
use consort_core::chat::{self, Mode, Presence, UserMessage};
use consort_core::frame::schema::sent;
use consort_runtime::engine;
use consort_tools::busy;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::{Row, shape};
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::endpoint::Whose;
use crate::routes::approvals::ApprovalRequest;
use crate::routes::steer::Applied;
use crate::routes::threads::heard;
use crate::ws::answer::{Answer as Response, AskedInChat, Echo, Running, RunningTurn, ThreadStatus};
use crate::ws::session::Session;
use consort_inbound::problem::Problem;

pub(super) const ROWS: &[Row] = &[
    Row {
        kind: "chat_message",
        scope: Scope::Run,
        whose: Whose::Key,
        shape: sent::<shape::ChatMessage>,
        act: |session, sent| say(session, sent).boxed(),
    },
    Row {
        kind: "chat_continue",
        scope: Scope::Run,
        whose: Whose::Key,
        shape: sent::<shape::ChatContinue>,
        act: |session, sent| go_on(session, sent).boxed(),
    },
    Row {
        kind: "chat_stop",
        scope: Scope::Run,
        whose: Whose::Key,
        shape: sent::<shape::ChatStop>,
        act: |session, sent| stop(session, sent).boxed(),
    },
    Row {
        kind: "chat_subscribe",
        scope: Scope::Read,
        whose: Whose::Key,
        shape: sent::<shape::ChatSubscribe>,
        act: |session, sent| subscribe(session, sent).boxed(),
    },
    Row {
        kind: "chat_turns",
        scope: Scope::Read,
        whose: Whose::Key,
        shape: sent::<shape::ChatTurns>,
        act: |session, sent| turns(session, sent).boxed(),
    },
    Row {
        kind: "set_permission_mode",
        scope: Scope::Run,
        whose: Whose::Key,
        shape: sent::<shape::SetPermissionMode>,
        act: |session, sent| set_mode(session, sent).boxed(),
    },
    Row {
        kind: "tool_approval_response",
        scope: Scope::Review,
        whose: Whose::Key,
        shape: sent::<shape::ToolApproval>,
        act: |session, sent| approve(session, sent).boxed(),
    },
    Row { kind: "ui_manifest", scope: Scope::Run, whose: Whose::Key, shape: sent::<shape::UiManifest>, act: manifest },
    Row {
        kind: "tool_result",
        scope: Scope::Run,
        whose: Whose::Key,
        shape: sent::<shape::ToolResult>,
        act: |session, sent| returned(session, sent).boxed(),
    },
];

/// The fields of a frame that are no part of the message in it.
const AROUND: &[&str] = &["type", "requestId", "request_id", "thread_id"];

/// Sends a message. Without a thread it begins one, unless it cannot be answered.
async fn say(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let client_tools = session.threads.tools.clone();
    let say =
        UserMessage { client_tools, presence: Presence::Attended, ..heard(&session.site, &session.pass, sent).await? };
    if let Some(thread) = sent.optional_text("thread_id")? {
        return say_in(session, sent, thread, say).await;
    }
    session.threads.check_room()?;
    let caller = caller(session);
    let warnings = say.warnings(&sent.0, AROUND);
    let Opening { thread, said, frames, .. } = session.site.server.chats.open_with(&caller.0, say).await?;
    session.threads.add(&thread, frames);
    session.tell(&ack(sent, &thread, &said, warnings));
    Ok(())
}

async fn say_in(session: &mut Session, sent: &Sent, thread: &str, say: UserMessage) -> Result<(), Problem> {
    let (caller, chats) = attend(session, thread).await?;
    let warnings = say.warnings(&sent.0, AROUND);
    let said = chats.send(&caller.0, thread, say).await?;
    session.tell(&ack(sent, thread, &said, warnings));
    Ok(())
}

/// Joins a thread before a message is sent, so that its turn is followed from the
/// beginning.
async fn attend(session: &mut Session, thread: &str) -> Result<(Caller, Chats), Problem> {
    let caller = caller(session);
    let chats = session.site.server.chats.clone();
    if !session.threads.follows(thread) {
        session.threads.follow(&chats, &caller, thread, Start::Now).await?;
    }
    Ok((caller, chats))
}

/// Continues the last answer, which was cut off.
async fn go_on(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let client_tools = session.threads.tools.clone();
    let client = UserMessage { client_tools, presence: Presence::Attended, ..UserMessage::default() };
    let thread = sent.text("thread_id")?;
    let (caller, chats) = attend(session, thread).await?;
    let said = chats.continue_answer(&caller.0, thread, client).await?;
    session.tell(&ack(sent, thread, &said, sent.warnings().to_vec()));
    Ok(())
}

fn ack(sent: &Sent, thread: &str, said: &SentMessage, warnings: Vec<String>) -> Response {
    let (seq, queue_position) = match said.place {
        MessageState::Begun { seq } => (Some(seq), None),
        MessageState::Waits { position } => (None, Some(position)),
    };
    let thread_id = thread.to_owned();
    let turn_id = said.turn.to_string();
    let asked = AskedInChat { warnings, ..asked(sent) };
    Response::ChatAck { asked, thread_id, turn_id, seq, queue_position }
}

async fn stop(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let caller = caller(session);
    let thread = sent.text("thread_id")?;
    let turn = session.site.server.chats.stop(&caller.0, thread).await?;
    let thread_id = thread.to_owned();
    let turn_id = turn.to_string();
    session.tell(&Response::ChatStopped { asked: asked(sent), thread_id, turn_id });
    Ok(())
}

async fn subscribe(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let caller = caller(session);
    let chats = session.site.server.chats.clone();
    let thread = sent.text("thread_id")?;
    let from = match sent.object()?.get("last_seq") {
        None | Some(Value::Null) => Start::Now,
        Some(last) => Start::Missed(after(last)?),
    };
    chats.thread(&caller.0, thread).await?;
    let last = chats.last(thread).await?;
    let running = chats.running(thread).await?.map(|turn| turn.turn);
    session.threads.follow(&chats, &caller, thread, from).await?;
    session.tell(&Response::ChatResumed {
        asked: asked(sent),
        thread_id: thread.to_owned(),
        status: if running.is_some() { ThreadStatus::Running } else { ThreadStatus::Finished },
        last_seq: last.and_then(|turn| turn.next.checked_sub(1)),
        turn_id: running.map(|turn| turn.to_string()),
    });
    Ok(())
}

/// Returns the number that follows the last one a client has; -1 means it has none.
fn after(last: &Value) -> Result<u64, Problem> {
    let next = last.as_i64().and_then(|last| last.checked_add(1)).and_then(|next| u64::try_from(next).ok());
    next.ok_or_else(|| Problem::bad_request("`last_seq` must be a whole number from -1 on"))
}

async fn turns(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let caller = caller(session);
    let chats = session.site.server.chats.clone();
    let mut running = Vec::new();
    for (thread, turn) in chats.running_turns(&caller.0).await? {
        running.push(RunningTurn {
            thread_id: thread.id.to_string(),
            turn_id: turn.turn.to_string(),
            status: Running::Running,
            last_seq: turn.next.checked_sub(1),
        });
    }
    session.tell(&Response::ChatTurns { asked: asked(sent), turns: running });
    Ok(())
}

async fn set_mode(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let caller = caller(session);
    let thread = sent.text("thread_id")?;
    let mode = mode(sent.object()?)?.ok_or_else(|| Problem::bad_request("`permission_mode` is required"))?;
    let holds = session.site.server.chats.set_mode(&caller.0, thread, mode).await?.mode;
    let permission_mode = holds.unwrap_or(mode);
    session.tell(&Response::PermissionMode { asked: asked(sent), thread_id: thread.to_owned(), permission_mode });
    Ok(())
}

fn mode(fields: &Map<String, Value>) -> Result<Option<Mode>, Problem> {
    Ok(chat::mode(fields, "permission_mode")?.or(chat::mode(fields, "mode")?))
}

async fn approve(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let caller = caller(session);
    let approval = sent.text("approval_id")?;
    let request = ApprovalRequest::read(sent)?;
    request.give(&session.site.server.chats, &caller, approval).await?;
    session.tell(&Response::ToolApprovalAck {
        asked: asked(sent),
        approval_id: approval.to_owned(),
        decision: request.decision.word().to_owned(),
        status: Applied::Applied,
    });
    Ok(())
}

fn manifest<'a>(session: &'a mut Session, sent: &'a Sent) -> BoxFuture<'a, Result<(), Problem>> {
    let offered = sent.0.get("tools").map_or_else(
        || Err(Problem::bad_request("`tools` is required")),
        |tools| busy::in_place(|| chat::manifest(tools)).map_err(Problem::from),
    );
    let outcome = offered.map(|tools| {
        let names = tools.iter().map(|tool| tool.name.clone()).collect();
        session.tell(&Response::UiManifestAck { asked: asked(sent), tools: names });
        session.threads.tools = tools;
    });
    std::future::ready(outcome).boxed()
}

/// Returns the result of a call to its turn, which is in one of the client's threads.
async fn returned(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let caller = caller(session);
    let chats = session.site.server.chats.clone();
    let call = sent.text("tool_call_id")?;
    let result = match sent.object()?.get("result") {
        Some(Value::String(text)) => text.as_str().into(),
        Some(value) => value.to_string().into(),
        None => return Err(Problem::bad_request("`result` is required")),
    };
    let is_error = sent.0.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    let threads = match sent.optional_text("thread_id")? {
        Some(thread) => vec![thread.into()],
        None => session.threads.ids(),
    };
    for thread in threads {
        let returned = (consort_core::text::Text::clone(&result), is_error);
        match chats.returned(&caller.0, &thread, call, returned).await {
            Err(chats::Error::Idle | chats::Error::Engine(engine::Error::Refused(_))) => {}
            Ok(()) => {
                if !sent.warnings().is_empty() {
                    session.tell(&Response::ToolResultAck(asked(sent)));
                }
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::bad_request(format!("no turn of yours waits for the call '{call}'")))
}

fn caller(session: &Session) -> Caller {
    session.pass.caller.clone()
}

/// Returns the id of the request that is answered.
fn asked(sent: &Sent) -> AskedInChat {
    AskedInChat { request_id: Echo::of(&sent.0, "request_id"), warnings: sent.warnings().to_vec() }
}
