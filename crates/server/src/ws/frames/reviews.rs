//! `review_decision`: what a person says, by the same rules as over HTTP.

use serde_json::json;

use super::{Row, answer};
use crate::access::Scope;
use crate::body::Sent;
use crate::problem::Problem;
use crate::routes::reviews::decided;
use crate::ws::session::Session;

pub(super) const ROWS: &[Row] =
    &[Row { kind: "review_decision", scope: Scope::Review, act: |session, sent| Box::pin(decide(session, sent)) }];

async fn decide(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let id = sent.text("reviewId")?;
    let told = decided(&session.site, &session.pass.caller, id, Ok(sent)).await?;
    session.tell(answer("review_decision_ack", sent, json!(told)));
    Ok(())
}
