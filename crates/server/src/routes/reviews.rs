//! `/api/reviews`: open reviews, and the decisions about them.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_core::choice::{AnyCase, Choice};
use consort_core::decide::{Command, Refused};
use consort_core::event::Decision;
use consort_core::frame::parse_review_id;
use consort_core::gate::ReviewStatus;
use consort_core::spec::Kind;
use consort_core::text::Text;
use consort_core::view::{Review, awaits_review};
use consort_log::{self as log, Order, Query};
use consort_runtime::engine::{self, Engine};
use schemars::JsonSchema;
use serde::Serialize;

use super::runs::reached;
use super::steer::Applied;
use crate::access::{Caller, Scope};
use crate::body::Sent;
use crate::endpoint::{Endpoint, Tag, Whose, get, post};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::Pairs;

/// Runs searched for open reviews; more are never active at once.
const RUNS_MAX: usize = 10_000;

/// The kinds of runs whose reviews are decided here: work for peers is no run of this
/// server's own, but its reviews can be decided nowhere else.
const REVIEWED: [Kind; 2] = [Kind::Run, Kind::Peer];

/// The verdict of a reviewer.
#[derive(Clone, Copy)]
pub(crate) enum Word {
    Continue,
    Edit,
    ExitEarly,
    Reject,
}

impl Choice for Word {
    const WORDS: &'static [(&'static str, Word)] = &[
        ("CONTINUE", Word::Continue),
        ("APPROVE", Word::Continue),
        ("EDIT", Word::Edit),
        ("EXIT_EARLY", Word::ExitEarly),
        ("REJECT", Word::Reject),
    ];
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/reviews", list)
            .named(Tag::Reviews, "listReviews", "List the reviews that wait for a decision")
            .needs(Scope::Read, Whose::Runs)
            .query::<ReviewsQuery>()
            .answers::<Reviews>(StatusCode::OK, "The open reviews."),
        post("/api/reviews/{id}", decide)
            .named(Tag::Reviews, "decideReview", "Decide a review")
            .needs(Scope::Review, Whose::Runs)
            .body::<DecisionRequest>()
            .answers::<Decided>(StatusCode::OK, "The decision holds.")
            .fails(&[Code::BadRequest, Code::InvalidInput, Code::ReviewNotFound, Code::ReviewResolved])
            .fails(&[Code::RejectedTooOften, Code::RunCompleted, Code::StorageDamaged]),
    ]
}

/// The reviews that are wanted.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct ReviewsQuery {
    /// Only reviews of this run.
    run_id: Option<String>,
}

/// The reviews that wait for a person.
#[derive(Serialize, JsonSchema)]
struct Reviews {
    total: usize,
    reviews: Vec<Review>,
}

/// A person's decision about an output.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct DecisionRequest {
    /// The decision; APPROVE is the same as CONTINUE.
    #[schemars(with = "AnyCase<Word>")]
    decision: Word,
    /// The new output; required for EDIT.
    revised_output: Option<String>,
    /// The feedback; required for REJECT.
    feedback: Option<String>,
}

/// A decision that holds.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Decided {
    review_id: String,
    decision: String,
    status: Applied,
}

async fn list(Extension(runs): Extension<Engine>, pairs: Pairs) -> Result<Json<Reviews>, Problem> {
    let wanted = ReviewsQuery { run_id: pairs.first("runId").map(str::to_owned) };
    let mut reviews = Vec::new();
    for kind in REVIEWED {
        reviews.extend(open(&runs.only(kind), kind, wanted.run_id.as_deref()).await?);
    }
    Ok(Json(Reviews { total: reviews.len(), reviews }))
}

/// Returns the open reviews in runs of a kind, the oldest run first.
async fn open(engine: &Engine, kind: Kind, run: Option<&str>) -> Result<Vec<Review>, Problem> {
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
        if awaits_review(&row.body) {
            match engine.run(&run).await {
                Ok(state) => reviews.extend(state.pending_reviews(&run)),
                // Erased meanwhile, or unreadable: it has no review that can be decided.
                Err(engine::Error::NotFound(_) | engine::Error::Log(log::Error::Damaged { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(reviews)
}

async fn decide(
    Extension(runs): Extension<Engine>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    sent: Result<Sent, Problem>,
) -> Result<Json<Decided>, Problem> {
    let sent = sent.as_ref().map_err(Problem::clone);
    Ok(Json(decided(&runs, &caller, &id, sent).await?))
}

/// Applies a decision. A missing review is reported before mistakes in the decision.
pub(crate) async fn decided(
    runs: &Engine,
    caller: &Caller,
    id: &str,
    sent: Result<&Sent, Problem>,
) -> Result<Decided, Problem> {
    let (run, review) = parse_review_id(id).ok_or_else(|| unknown(id))?;
    match standing(runs, run, review).await? {
        None => return Err(unknown(id)),
        Some(ReviewStatus::Decided(verdict, made)) => return Err(Problem::resolved(id, verdict, made)),
        Some(ReviewStatus::Open) => {}
    }
    let sent = sent?;
    let decision = decision(sent)?;
    let asked = reached(runs, run).command(run, Command::Review { review, decision, by: caller.0.clone() }).await;
    asked.map_err(|error| {
        if let engine::Error::Refused(Refused::Decided { verdict, made }) = &error {
            return Problem::resolved(id, *verdict, made.clone());
        }
        Problem::of_run(run, error)
    })?;
    // It is repeated as it was said.
    let said = sent.optional_text("decision")?.unwrap_or_default().to_owned();
    Ok(Decided { review_id: id.to_owned(), decision: said, status: Applied::Applied })
}

async fn standing(runs: &Engine, run: &str, review: u32) -> Result<Option<ReviewStatus>, Problem> {
    match reached(runs, run).run(run).await {
        Ok(state) => Ok(state.review_status(review)),
        Err(engine::Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn unknown(id: &str) -> Problem {
    Problem::new(Code::ReviewNotFound, format!("No review with ID {id}"))
}

fn decision(sent: &Sent) -> Result<Decision, Problem> {
    let request = DecisionRequest::read(sent)?;
    let needed = |text: Option<String>, name| {
        text.map(Text::from).ok_or_else(|| Problem::bad_request(format!("`{name}` is required")))
    };
    Ok(match request.decision {
        Word::Continue => Decision::Continue,
        Word::ExitEarly => Decision::ExitEarly,
        Word::Edit => Decision::Edit { output: needed(request.revised_output, "revisedOutput")? },
        Word::Reject => Decision::Reject { feedback: needed(request.feedback, "feedback")? },
    })
}

impl DecisionRequest {
    fn read(sent: &Sent) -> Result<DecisionRequest, Problem> {
        let decision = sent.choice("decision")?.ok_or_else(|| Problem::bad_request("`decision` is required"))?;
        let text = |name| Ok::<_, Problem>(sent.optional_text(name)?.map(str::to_owned));
        // What belongs to another decision is not looked at.
        let (revised_output, feedback) = match decision {
            Word::Edit => (text("revisedOutput")?, None),
            Word::Reject => (None, text("feedback")?),
            Word::Continue | Word::ExitEarly => (None, None),
        };
        Ok(DecisionRequest { decision, revised_output, feedback })
    }
}
