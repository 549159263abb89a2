//! `review_decision`: the decision of a person, by the same rules as over HTTP.

use consort_core::frame::schema::sent;

use super::{Row, asked, shape};
use crate::access::Scope;
use crate::body::Sent;
use crate::endpoint::Whose;
use crate::routes::reviews::decided;
use crate::ws::answer::Answer;
use crate::ws::session::Session;
use consort_inbound::problem::Problem;

pub(super) const ROWS: &[Row] = &[Row {
    kind: "review_decision",
    scope: Scope::Review,
    whose: Whose::Runs,
    shape: sent::<shape::Decide>,
    act: |session, sent| Box::pin(decide(session, sent)),
}];

async fn decide(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let id = sent.text("reviewId")?;
    let decided = decided(&session.runs, &session.pass.caller, id, Ok(sent)).await?;
    session.tell(&Answer::ReviewDecisionAck { asked: asked(sent), decided });
    Ok(())
}
