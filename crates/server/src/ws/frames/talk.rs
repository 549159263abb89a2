//! Frames about the connection itself: `ping`, `auth`, `subscribe`.

use consort_log::Seq;
use serde_json::{Value, json};

use super::{Row, answer};
use crate::access::Scope;
use crate::body::Sent;
use crate::problem::{Code, Problem};
use crate::ws::session::Session;
use crate::ws::wanted::Wanted;

pub(super) const AUTH: &str = "auth";

pub(super) const ROWS: &[Row] = &[
    Row { kind: "ping", scope: Scope::Read, act: |session, sent| Box::pin(ping(session, sent)) },
    Row { kind: AUTH, scope: Scope::Read, act: |session, sent| Box::pin(auth(session, sent)) },
    Row { kind: "subscribe", scope: Scope::Read, act: |session, sent| Box::pin(subscribe(session, sent)) },
];

async fn ping(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    session.tell(answer("pong", sent, json!({})));
    Ok(())
}

/// A socket belongs to one client: what it follows and may do was decided for
/// the first identity, so another one needs another socket.
async fn auth(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    sent.text("key")?;
    let name = session.pass.caller.0.clone();
    if std::mem::replace(&mut session.is_known, true) {
        let message = format!("this socket is '{name}' already: open another one for another key");
        return Err(Problem::new(Code::AlreadyAuthenticated, message));
    }
    // No key was needed when the socket was opened; any is as good as none.
    session.tell(answer("auth_ack", sent, json!({ "name": name })));
    Ok(())
}

async fn subscribe(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let wanted = Wanted::read(sent)?;
    let from = from(sent, wanted.run.as_deref())?;
    if let Some((run, from)) = &from {
        session.follow(run, *from).await?;
    }
    let all = vec!["*".to_owned()];
    let fields = json!({ "events": wanted.types.as_ref().unwrap_or(&all), "runId": wanted.run });
    session.turn_to(wanted);
    session.tell(answer("subscribe_ack", sent, fields));
    Ok(())
}

/// The run and the first event wanted of it.
fn from(sent: &Sent, run: Option<&str>) -> Result<Option<(String, Seq)>, Problem> {
    let from = match sent.object()?.get("from") {
        None | Some(Value::Null) => return Ok(None),
        Some(from) => from.as_u64().ok_or_else(|| Problem::bad_request("`from` must be a whole number, 0 or more"))?,
    };
    let run = run.ok_or_else(|| Problem::bad_request("`from` needs the `runId` it is about"))?;
    Ok(Some((run.to_owned(), from)))
}
