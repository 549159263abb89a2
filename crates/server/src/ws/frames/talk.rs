//! Frames about the connection itself: `ping`, `auth`, `subscribe`.

use consort_core::frame::schema::sent;
use consort_log::Seq;
use serde_json::Value;

use super::{Row, asked, shape};
use crate::access::Scope;
use crate::body::Sent;
use crate::endpoint::Whose;
use crate::ws::answer::Answer;
use crate::ws::session::Session;
use crate::ws::subscription::Subscription;
use consort_inbound::problem::{Code, Problem};

pub(super) const AUTH: &str = "auth";

pub(super) const ROWS: &[Row] = &[
    Row {
        kind: "ping",
        scope: Scope::Read,
        whose: Whose::Shared,
        shape: sent::<shape::Ping>,
        act: |session, sent| Box::pin(ping(session, sent)),
    },
    Row {
        kind: AUTH,
        scope: Scope::Read,
        whose: Whose::Shared,
        shape: sent::<shape::Auth>,
        act: |session, sent| Box::pin(auth(session, sent)),
    },
    Row {
        kind: "subscribe",
        scope: Scope::Read,
        whose: Whose::Runs,
        shape: sent::<shape::Subscribe>,
        act: |session, sent| Box::pin(subscribe(session, sent)),
    },
];

async fn ping(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    session.tell(&Answer::Pong(asked(sent)));
    Ok(())
}

/// Authenticates the client. A socket belongs to one client: its subscriptions and
/// scopes were decided for the first identity, so another one needs another socket.
async fn auth(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    sent.text("key")?;
    let name = session.pass.caller.0.clone();
    if std::mem::replace(&mut session.is_known, true) {
        let message = format!("this socket is '{name}' already: open another one for another key");
        return Err(Problem::new(Code::AlreadyAuthenticated, message));
    }
    // No key was needed when the socket was opened, so any key is accepted.
    session.tell(&Answer::AuthAck { asked: asked(sent), name });
    Ok(())
}

async fn subscribe(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let subscription = Subscription::read(sent)?;
    let from = from(sent, subscription.run.as_deref())?;
    if let Some((run, from)) = &from {
        session.follow(run, *from).await?;
    }
    let events = subscription.types.clone().unwrap_or_else(|| vec!["*".to_owned()]);
    let run_id = subscription.run.clone();
    session.subscribe(subscription);
    session.tell(&Answer::SubscribeAck { asked: asked(sent), events, run_id });
    Ok(())
}

/// Returns the run and the first event that is wanted of it.
fn from(sent: &Sent, run: Option<&str>) -> Result<Option<(String, Seq)>, Problem> {
    let from = match sent.object()?.get("from") {
        None | Some(Value::Null) => return Ok(None),
        Some(from) => from.as_u64().ok_or_else(|| Problem::bad_request("`from` must be a whole number, 0 or more"))?,
    };
    let run = run.ok_or_else(|| Problem::bad_request("`from` needs the `runId` it is about"))?;
    Ok(Some((run.to_owned(), from)))
}
