//! `directive`: an instruction to the agents, or the tier of models to use, in one run
//! or in all active ones.

use std::sync::Arc;

use consort_core::event::Directive;
use consort_core::frame::schema::sent;
use consort_core::owner::Owner;
use consort_core::tier::Tier;
use consort_runtime::engine::{Engine, Instructed, Instruction};

use super::{Row, asked, shape};
use crate::Site;
use crate::access::{Pass, Scope};
use crate::body::Sent;
use crate::endpoint::Whose;
use crate::routes::steer::{self, Author};
use crate::ws::Notice;
use crate::ws::answer::{Answer, Directed, Given, Refused};
use crate::ws::session::Session;
use consort_inbound::problem::Problem;

pub(super) const ROWS: &[Row] = &[Row {
    kind: "directive",
    scope: Scope::Run,
    whose: Whose::Runs,
    shape: sent::<shape::Direct>,
    act: |session, sent| Box::pin(directive(session, sent)),
}];

const SET_MODEL_TIER: &str = "SET_MODEL_TIER";

/// The client that gives a directive.
struct Giver {
    site: Arc<Site>,
    runs: Engine,
    pass: Pass,
}

async fn directive(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let giver = Giver { site: session.site.clone(), runs: session.runs.clone(), pass: session.pass.clone() };
    let outcome = match Author::read(&giver.pass, sent) {
        Ok(author) => given(&giver, &author, sent).await,
        Err(problem) => Err(problem),
    };
    // The effects of the directive are sent before the response.
    session.catch_up().await;
    let outcome = match outcome {
        Ok(directive_id) => Directed::Given { directive_id, status: Given::Accepted },
        Err(problem) => Directed::Refused {
            status: Refused::Rejected,
            error: problem.code(),
            message: problem.message().to_owned(),
            directive_id: (),
        },
    };
    session.tell(&Answer::DirectiveAck { asked: asked(sent), outcome });
    Ok(())
}

/// Gives a directive to every run it is meant for; returns its id in the first of them.
async fn given(giver: &Giver, author: &Author, sent: &Sent) -> Result<String, Problem> {
    let instruction = instruction(giver, sent)?;
    let Instructed { id, owner } = giver.runs.instruct(sent.optional_text("runId")?, &instruction).await?;
    if matches!(instruction, Instruction::UseTier { .. }) {
        announce((&giver.site, author, owner), sent, &id);
    }
    Ok(id)
}

fn instruction<'a>(giver: &'a Giver, sent: &Sent) -> Result<Instruction<'a>, Problem> {
    let Some(action) = sent.optional_text("action")? else {
        let directive = steer::directive(sent, &giver.pass, giver.site.now())?;
        let target = directive.target.clone().or(addressee(&giver.site, sent)?);
        return Ok(Instruction::Direct(Directive { target, ..directive }));
    };
    steer::ttl(sent)?;
    if !action.trim().eq_ignore_ascii_case(SET_MODEL_TIER) {
        return Err(Problem::bad_request(format!("`action` must be {SET_MODEL_TIER}, not '{action}'")));
    }
    let missing = || Problem::bad_request("`value` is required: PRIMARY or FALLBACK");
    let tier = sent.choice::<Tier>("value")?.ok_or_else(missing)?;
    Ok(Instruction::UseTier { tier, catalog: &giver.site.server.catalog, by: giver.pass.caller.0.clone() })
}

/// Reads the addressee; `None` stands for the whole ensemble.
fn addressee(site: &Site, sent: &Sent) -> Result<Option<String>, Problem> {
    let server = &site.server;
    let everybody = ["", "*", &server.network.options().name, &server.ensemble.name];
    let to = sent.optional_text("to")?.map(str::trim);
    Ok(to.filter(|to| !everybody.iter().any(|all| all.eq_ignore_ascii_case(to))).map(str::to_owned))
}

/// Announces a control directive to the sockets of its runs' owner, because it is no event of a run.
fn announce((site, author, owner): (&Site, &Author, Owner), sent: &Sent, id: &str) {
    // Both are text: a tier was read from them.
    let said = |name| sent.optional_text(name).ok().flatten().unwrap_or_default().to_owned();
    let notice = Answer::DirectiveActive {
        directive_id: id.to_owned(),
        from: author.from.clone(),
        action: said("action"),
        value: said("value"),
        on_behalf_of: author.on_behalf_of.clone(),
    };
    let _nobody_listens = site.notices.send(Notice { kind: "directive_active", owner, text: notice.text().into() });
}
