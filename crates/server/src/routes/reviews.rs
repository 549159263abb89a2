//! `/api/reviews`: what waits for a person, and what the person says.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use consort_core::decide::{Command, Refused};
use consort_core::event::Decision;
use consort_core::frame::parse_review_id;
use consort_core::gate::Standing;
use consort_core::spec::Kind;
use consort_log::{self as log, Order, Query};
use consort_runtime::engine::{self, Engine};
use serde_json::{Value, json};

use crate::Site;
use crate::access::Caller;
use crate::body::Sent;
use crate::problem::Problem;
use crate::query::Pairs;

/// Runs looked through for open reviews; more are never under way at once.
const RUNS_MAX: usize = 10_000;

/// Whose reviews are decided here: work for peers is no run of this server's
/// own, but nobody else can decide what it waits for.
const REVIEWED: [Kind; 2] = [Kind::Run, Kind::Peer];

/// What a reviewer can say.
#[derive(Clone, Copy)]
enum Word {
    Continue,
    Edit,
    ExitEarly,
    Reject,
}

const WORDS: &[(&str, Word)] = &[
    ("CONTINUE", Word::Continue),
    ("APPROVE", Word::Continue),
    ("EDIT", Word::Edit),
    ("EXIT_EARLY", Word::ExitEarly),
    ("REJECT", Word::Reject),
];

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/reviews", get(list)).route("/api/reviews/{id}", post(decide))
}

async fn list(State(site): State<Arc<Site>>, pairs: Pairs) -> Result<Json<Value>, Problem> {
    let mut reviews: Vec<Value> = Vec::new();
    for kind in REVIEWED {
        reviews.extend(open(&site.engine().only(kind), kind, pairs.first("runId")).await?);
    }
    Ok(Json(json!({ "total": reviews.len(), "reviews": reviews })))
}

/// What waits for a person in runs of a kind, the oldest run first.
async fn open(engine: &Engine, kind: Kind, run: Option<&str>) -> Result<Vec<Value>, Problem> {
    let query = Query {
        kind: Some(kind.word().to_owned()),
        stream: run.map(str::to_owned),
        ended: Some(false),
        order: Order::OldestStart,
        limit: RUNS_MAX,
        ..Query::default()
    };
    let mut reviews = Vec::new();
    for (run, row) in engine.list(query).await?.rows {
        let row: Value = serde_json::from_str(&row.body).unwrap_or_default();
        if row.get("openReviews").is_some() {
            match engine.run(&run).await {
                Ok(state) => reviews.extend(state.pending_reviews(&run)),
                // Erased meanwhile, or not to be read: nobody can decide there.
                Err(engine::Error::NotFound(_) | engine::Error::Log(log::Error::Damaged { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(reviews)
}

/// The engine as far as the reviews of this run are decided over HTTP.
fn reviewing(site: &Site, run: &str) -> Engine {
    let kind = REVIEWED.into_iter().find(|kind| run.starts_with(kind.word()));
    site.engine().only(kind.unwrap_or(Kind::Run))
}

async fn decide(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Value>, Problem> {
    let sent = sent.as_ref().map_err(Problem::clone);
    Ok(Json(decided(&site, &caller, &id, sent).await?))
}

/// Takes a decision. Whether there is such a review comes before what is said
/// about it.
pub(crate) async fn decided(
    site: &Site,
    caller: &Caller,
    id: &str,
    sent: Result<&Sent, Problem>,
) -> Result<Value, Problem> {
    let (run, review) = parse_review_id(id).ok_or_else(|| unknown(id))?;
    match standing(site, run, review).await? {
        None => return Err(unknown(id)),
        Some(Standing::Decided(verdict)) => return Err(Problem::resolved(id, verdict)),
        Some(Standing::Open) => {}
    }
    let sent = sent?;
    let decision = decision(sent)?;
    let asked = reviewing(site, run).command(run, Command::Review { review, decision, by: caller.0.clone() }).await;
    asked.map_err(|error| {
        if let engine::Error::Refused(Refused::Decided { verdict }) = &error {
            return Problem::resolved(id, verdict);
        }
        Problem::of_run(run, error)
    })?;
    Ok(json!({ "reviewId": id, "decision": sent.0.get("decision"), "status": "APPLIED" }))
}

async fn standing(site: &Site, run: &str, review: u32) -> Result<Option<Standing>, Problem> {
    match reviewing(site, run).run(run).await {
        Ok(state) => Ok(state.review_standing(review)),
        Err(engine::Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn unknown(id: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "REVIEW_NOT_FOUND", format!("No review with ID {id}"))
}

fn decision(sent: &Sent) -> Result<Decision, Problem> {
    let word = sent.word("decision", WORDS)?.ok_or_else(|| Problem::bad_request("`decision` is required"))?;
    let needed = |name| {
        let text = sent.optional_text(name)?;
        text.map(|text| text.to_owned().into()).ok_or_else(|| Problem::bad_request(format!("`{name}` is required")))
    };
    Ok(match word {
        Word::Continue => Decision::Continue,
        Word::ExitEarly => Decision::ExitEarly,
        Word::Edit => Decision::Edit { output: needed("revisedOutput")? },
        Word::Reject => Decision::Reject { feedback: needed("feedback")? },
    })
}
