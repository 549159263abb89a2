//! `directive`: an instruction to the agents, or the tier of models to use, in one run
//! or in all active ones.

use std::sync::Arc;

use consort_core::decide::Command;
use consort_core::event::Directive;
use consort_core::frame::schema::sent;
use consort_core::spec::Kind;
use consort_core::tier::Tier;
use consort_log::Query;

use super::{Row, asked, shape};
use crate::Site;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::problem::Problem;
use crate::routes::steer;
use crate::ws::Notice;
use crate::ws::answer::{Answer, Directed, Given, Refused};
use crate::ws::session::Session;

pub(super) const ROWS: &[Row] = &[Row {
    kind: "directive",
    scope: Scope::Run,
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

/// The author of a directive.
struct Author {
    from: String,
    on_behalf_of: Option<String>,
}

/// Reads the author of a directive. A client that sent a key acts under the key's
/// name, whatever it calls itself: the name it claims is kept beside it.
fn author(session: &Session, sent: &Sent) -> Result<Author, Problem> {
    let text = |name| Ok::<_, Problem>(sent.optional_text(name)?.map(str::to_owned));
    let (said, other, name) = (text("from")?, text("onBehalfOf")?, session.pass.caller.0.clone());
    if session.pass.has_key() {
        let on_behalf_of = other.or(said).filter(|other| *other != name);
        return Ok(Author { from: name, on_behalf_of });
    }
    Ok(Author { from: said.unwrap_or(name), on_behalf_of: other })
}

async fn directive(session: &mut Session, sent: &Sent) -> Result<(), Problem> {
    let (site, caller) = (session.site.clone(), session.pass.caller.clone());
    let outcome = match author(session, sent) {
        Ok(author) => given((&site, &caller, &author), sent).await,
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
async fn given((site, caller, author): (&Site, &Caller, &Author), sent: &Sent) -> Result<String, Problem> {
    let meaning = meaning((site, author), sent)?;
    let runs = match sent.optional_text("runId")? {
        Some(run) => vec![run.into()],
        None => active(site).await?,
    };
    let mut outcome = Err(Problem::bad_request("no run is under way"));
    for run in &runs {
        let told = match &meaning {
            Meaning::Say(directive) => steer::given(site, run, directive).await,
            Meaning::Ask(tier) => switched((site, caller), run, *tier).await,
        };
        outcome = outcome.or(told);
    }
    if let (Meaning::Ask(_), Ok(id)) = (&meaning, &outcome) {
        announce((site, author), sent, id);
    }
    outcome
}

fn meaning((site, author): (&Site, &Author), sent: &Sent) -> Result<Meaning, Problem> {
    let Some(action) = sent.optional_text("action")? else {
        let directive = steer::directive(sent, author.from.clone(), site.now())?;
        let target = directive.target.clone().or(addressee(site, sent)?);
        let on_behalf_of = author.on_behalf_of.clone();
        return Ok(Meaning::Say(Directive { target, on_behalf_of, ..directive }));
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

async fn active(site: &Site) -> Result<Vec<Arc<str>>, Problem> {
    let query =
        Query { kind: Some(Kind::Run.word().to_owned()), ended: Some(false), limit: ACTIVE_MAX, ..Query::default() };
    Ok(site.engine().list(query).await?.rows.into_iter().map(|(run, _)| run).collect())
}

async fn switched((site, caller): (&Site, &Caller), run: &Arc<str>, tier: Tier) -> Result<String, Problem> {
    let (engine, by) = (site.engine(), caller.0.clone());
    let state = engine.run(run).await?;
    let none = || Problem::bad_request(format!("the model '{}' has no fallback", state.model()));
    let models = site.server.catalog.model(state.tier(tier).ok_or_else(none)?)?;
    engine.command(run, Command::SwitchModel { models, by }).await?;
    Ok(format!("directive-{}", uuid::Uuid::now_v7().simple()))
}

/// Announces a control directive to every socket, because it is no event of a run.
fn announce((site, author): (&Site, &Author), sent: &Sent, id: &str) {
    // Both are text: a tier was read from them.
    let said = |name| sent.optional_text(name).ok().flatten().unwrap_or_default().to_owned();
    let notice = Answer::DirectiveActive {
        directive_id: id.to_owned(),
        from: author.from.clone(),
        action: said("action"),
        value: said("value"),
        on_behalf_of: author.on_behalf_of.clone(),
    };
    let _nobody_listens = site.notices.send(Notice { kind: "directive_active", text: notice.text().into() });
}
