//! Conversations: say something, stop it, come back to it, allow what it asks
//! for, run what it wants done in the editor.

use consort_chat as chats;
use consort_chat::{Chats, Place, Said as Spoken, Start};
use consort_core::chat::{self, Answer, Mode, Presence, Say};
use consort_runtime::engine;
use consort_tools::busy;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::Row;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::problem::Problem;
use crate::routes::steer::Applied;
use crate::routes::threads::heard;
use crate::ws::session::Session;

pub(super) const ROWS: &[Row] = &[
    Row { kind: "chat_message", scope: Scope::Run, act: |session, sent| say(session, sent).boxed() },
    Row { kind: "chat_continue", scope: Scope::Run, act: |session, sent| go_on(session, sent).boxed() },
    Row { kind: "chat_stop", scope: Scope::Run, act: |session, sent| stop(session, sent).boxed() },
    Row { kind: "chat_subscribe", scope: Scope::Read, act: |session, sent| subscribe(session, sent).boxed() },
    Row { kind: "chat_turns", scope: Scope::Read, act: |session, _| turns(session).boxed() },
    Row { kind: "set_permission_mode", scope: Scope::Run, act: |session, sent| set_mode(session, sent).boxed() },
    Row { kind: "tool_approval_response", scope: Scope::Review, act: |session, sent| approve(session, sent).boxed() },
    Row { kind: "ui_manifest", scope: Scope::Run, act: manifest },
    Row { kind: "tool_result", scope: Scope::Run, act: |session, sent| returned(session, sent).boxed() },
];

/// A message without a thread begins one, unless it cannot be answered.
async fn say(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let client_tools = session.talks.tools.clone();
    let say = Say { client_tools, presence: Presence::Attended, ..heard(sent)? };
    if let Some(thread) = sent.optional_text("thread_id")? {
        return say_in(session, sent, thread, say).await;
    }
    let (caller, chats) = (caller(session), session.site.server.chats.clone());
    let thread = chats.create(&caller.0, None).await?.id;
    let said = say_in(session, sent, &thread, say).await;
    if said.is_err() {
        chats.delete(&caller.0, &thread).await?;
    }
    said
}

async fn say_in(session: &mut Session, sent: &Sent, thread: &str, say: Say) -> Result<(), Problem> {
    let (caller, chats) = attend(session, thread).await?;
    let said = chats.say(&caller.0, thread, say).await?;
    session.tell(ack(sent, thread, &said));
    Ok(())
}

/// Stays before it speaks, so that the turn is attended from its beginning.
async fn attend(session: &mut Session, thread: &str) -> Result<(Caller, Chats), Problem> {
    let (caller, chats) = (caller(session), session.site.server.chats.clone());
    if !session.talks.follows(thread) {
        session.talks.follow(&chats, &caller, thread, Start::Now).await?;
    }
    Ok((caller, chats))
}

/// Goes on with the last answer, which was cut.
async fn go_on(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let client_tools = session.talks.tools.clone();
    let client = Say { client_tools, presence: Presence::Attended, ..Say::default() };
    let thread = sent.text("thread_id")?;
    let (caller, chats) = attend(session, thread).await?;
    let said = chats.go_on(&caller.0, thread, client).await?;
    session.tell(ack(sent, thread, &said));
    Ok(())
}

fn ack(sent: &Sent, thread: &str, said: &Spoken) -> Value {
    let (seq, position) = match said.place {
        Place::Begun { seq } => (Some(seq), None),
        Place::Waits { position } => (None, Some(position)),
    };
    let fields = json!({ "thread_id": thread, "turn_id": said.turn, "seq": seq, "queue_position": position });
    told("chat_ack", sent, fields)
}

async fn stop(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let (caller, thread) = (caller(session), sent.text("thread_id")?);
    let turn = session.site.server.chats.stop(&caller.0, thread).await?;
    session.tell(told("chat_stopped", sent, json!({ "thread_id": thread, "turn_id": turn })));
    Ok(())
}

async fn subscribe(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let (caller, chats) = (caller(session), session.site.server.chats.clone());
    let thread = sent.text("thread_id")?;
    let from = match sent.object()?.get("last_seq") {
        None | Some(Value::Null) => Start::Now,
        Some(last) => Start::Missed(after(last)?),
    };
    chats.thread(&caller.0, thread).await?;
    let last = chats.last(thread).await?;
    let running = chats.running(thread).await?.map(|turn| turn.turn);
    session.talks.follow(&chats, &caller, thread, from).await?;
    let status = if running.is_some() { "running" } else { "finished" };
    let last_seq = last.and_then(|turn| turn.next.checked_sub(1));
    let fields = json!({ "thread_id": thread, "status": status, "last_seq": last_seq, "turn_id": running });
    session.tell(told("chat_resumed", sent, fields));
    Ok(())
}

/// What follows the last number a client has; -1 means it has none.
fn after(last: &Value) -> Result<u64, Problem> {
    let next = last.as_i64().and_then(|last| last.checked_add(1)).and_then(|next| u64::try_from(next).ok());
    next.ok_or_else(|| Problem::bad_request("`last_seq` must be a whole number from -1 on"))
}

async fn turns(session: &mut Session) -> Result<(), Problem> {
    let (caller, chats) = (caller(session), session.site.server.chats.clone());
    let mut running = Vec::new();
    for (thread, turn) in chats.running_turns(&caller.0).await? {
        running.push(json!({ "thread_id": thread.id, "turn_id": turn.turn, "status": "running",
            "last_seq": turn.next.checked_sub(1) }));
    }
    session.tell(json!({ "type": "chat_turns", "turns": running }));
    Ok(())
}

async fn set_mode(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let (caller, thread) = (caller(session), sent.text("thread_id")?);
    let mode = mode(sent.object()?)?.ok_or_else(|| Problem::bad_request("`permission_mode` is required"))?;
    let holds = session.site.server.chats.set_mode(&caller.0, thread, mode).await?.mode;
    session.tell(told("permission_mode", sent, json!({ "thread_id": thread, "permission_mode": holds })));
    Ok(())
}

fn mode(fields: &Map<String, Value>) -> Result<Option<Mode>, Problem> {
    Ok(chat::mode(fields, "permission_mode")?.or(chat::mode(fields, "mode")?))
}

async fn approve(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let (caller, approval) = (caller(session), sent.text("approval_id")?);
    let answer = sent.choice::<Answer>("decision")?.ok_or_else(|| Problem::bad_request("`decision` is required"))?;
    session.site.server.chats.approve(&caller.0, approval, answer).await?;
    let fields = json!({ "approval_id": approval, "decision": answer, "status": Applied::Applied });
    session.tell(told("tool_approval_ack", sent, fields));
    Ok(())
}

fn manifest<'a>(session: &'a mut Session, sent: &'a Sent) -> BoxFuture<'a, Result<(), Problem>> {
    let offered = sent.0.get("tools").map_or_else(
        || Err(Problem::bad_request("`tools` is required")),
        |tools| busy::in_place(|| chat::manifest(tools)).map_err(Problem::from),
    );
    let outcome = offered.map(|tools| {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        session.tell(told("ui_manifest_ack", sent, json!({ "tools": names })));
        session.talks.tools = tools;
    });
    std::future::ready(outcome).boxed()
}

/// The turn that waits for the call is in one of the client's threads.
async fn returned(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let (caller, chats) = (caller(session), session.site.server.chats.clone());
    let call = sent.text("tool_call_id")?;
    let result = match sent.object()?.get("result") {
        Some(Value::String(text)) => text.as_str().into(),
        Some(value) => value.to_string().into(),
        None => return Err(Problem::bad_request("`result` is required")),
    };
    let is_error = sent.0.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    let threads = match sent.optional_text("thread_id")? {
        Some(thread) => vec![thread.into()],
        None => session.talks.threads(),
    };
    for thread in threads {
        let returned = (consort_core::text::Text::clone(&result), is_error);
        match chats.returned(&caller.0, &thread, call, returned).await {
            Err(chats::Error::Idle | chats::Error::Engine(engine::Error::Refused(_))) => {}
            other => return other.map_err(Problem::from),
        }
    }
    Err(Problem::bad_request(format!("no turn of yours waits for the call '{call}'")))
}

fn caller(session: &Session) -> Caller {
    session.pass.caller.clone()
}

/// An answer in the spelling of the chat's frames.
fn told(kind: &str, sent: &Sent, fields: Value) -> Value {
    let mut answer = Map::new();
    answer.insert("type".to_owned(), kind.into());
    answer.extend(
        sent.0
            .get("request_id")
            .filter(|id| id.is_string() || id.is_number())
            .map(|id| ("request_id".to_owned(), id.clone())),
    );
    if let Value::Object(fields) = fields {
        answer.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
    }
    Value::Object(answer)
}
