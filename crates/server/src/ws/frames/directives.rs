//! `directive`: an instruction to the agents, or the tier of models to use, in one run
//! or in all active ones.

use std::sync::Arc;

use consort_core::decide::Command;
use consort_core::event::Directive;
use consort_core::frame::schema::sent;
use consort_core::owner::Owner;
use consort_core::spec::Kind;
use consort_core::tier::Tier;
use consort_log::Query;
use consort_runtime::engine::Engine;

use super::{Row, asked, shape};
use crate::Site;
use crate::access::{Pass, Scope};
use crate::body::Sent;
use crate::endpoint::Whose;
use crate::problem::Problem;
use crate::routes::steer::{self, Author};
use crate::ws::Notice;
use crate::ws::answer::{Answer, Directed, Given, Refused};
use crate::ws::session::Session;

pub(super) const ROWS: &[Row] = &[Row {
    kind: "directive",
    scope: Scope::Run,
    whose: Whose::Runs,
    shape: sent::<shape::Direct>,
    act: |session, sent| Box::pin(directive(session, sent)),
}];

/// Runs that one directive reaches; more are never active at once.
const ACTIVE_MAX: usize = 10_000;
const SET_MODEL_TIER: &str = "SET_MODEL_TIER";

/// The effect of a directive.
enum Meaning {
    Say(Directive),
    Ask(Tier),
}

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
    let (site, runs) = (&*giver.site, &giver.runs);
    let meaning = meaning(giver, sent)?;
    let named = sent.optional_text("runId")?;
    let reached = match named {
        Some(run) => vec![run.into()],
        None => active(giver).await?,
    };
    let mut outcome = Err(Problem::bad_request("no run is under way"));
    for run in &reached {
        let told = match &meaning {
            Meaning::Say(directive) => steer::given(runs, run, directive).await,
            Meaning::Ask(tier) => switched(giver, run, *tier).await,
        };
        outcome = outcome.or(told);
    }
    if let (Meaning::Ask(_), Ok(id)) = (&meaning, &outcome) {
        let owner = match named {
            Some(run) => runs.run(run).await?.owner().clone(),
            None => giver.pass.sight.owner(),
        };
        announce((site, author, owner), sent, id);
    }
    outcome
}

fn meaning(giver: &Giver, sent: &Sent) -> Result<Meaning, Problem> {
    let Some(action) = sent.optional_text("action")? else {
        let directive = steer::directive(sent, &giver.pass, giver.site.now())?;
        let target = directive.target.clone().or(addressee(&giver.site, sent)?);
        return Ok(Meaning::Say(Directive { target, ..directive }));
    };
    steer::ttl(sent)?;
    if !action.trim().eq_ignore_ascii_case(SET_MODEL_TIER) {
        return Err(Problem::bad_request(format!("`action` must be {SET_MODEL_TIER}, not '{action}'")));
    }
    let tier = sent.choice::<Tier>("value")?;
    tier.map(Meaning::Ask).ok_or_else(|| Problem::bad_request("`value` is required: PRIMARY or FALLBACK"))
}

/// Reads the addressee; `None` stands for the whole ensemble.
fn addressee(site: &Site, sent: &Sent) -> Result<Option<String>, Problem> {
    let server = &site.server;
    let everybody = ["", "*", &server.network.options().name, &server.ensemble.name];
    let to = sent.optional_text("to")?.map(str::trim);
    Ok(to.filter(|to| !everybody.iter().any(|all| all.eq_ignore_ascii_case(to))).map(str::to_owned))
}

/// Returns the active runs of the caller's owner, whatever others the caller sees.
async fn active(giver: &Giver) -> Result<Vec<Arc<str>>, Problem> {
    let (kind, owner) = (Some(Kind::Run.word().to_owned()), Some(giver.pass.sight.owner()));
    let query = Query { kind, owner, ended: Some(false), limit: ACTIVE_MAX, ..Query::default() };
    Ok(giver.runs.list(query).await?.rows.into_iter().map(|(run, _)| run).collect())
}

async fn switched(giver: &Giver, run: &Arc<str>, tier: Tier) -> Result<String, Problem> {
    let (runs, by) = (&giver.runs, giver.pass.caller.0.clone());
    let state = runs.run(run).await?;
    let none = || Problem::bad_request(format!("the model '{}' has no fallback", state.model()));
    let models = giver.site.server.catalog.model(state.tier(tier).ok_or_else(none)?)?;
    runs.command(run, Command::SwitchModel { models, by }).await?;
    Ok(format!("directive-{}", uuid::Uuid::now_v7().simple()))
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
