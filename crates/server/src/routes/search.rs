//! `/api/search`: runs, threads, workflows and documents by their words.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use consort_core::frame::field::Iso;
use consort_core::id::Millis;
use consort_core::spec::Kind;
use consort_core::view::Damage;
use consort_log::{Query, words};
use consort_runtime::engine::Engine;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::{Caller, Scope};
use crate::endpoint::{Endpoint, Tag, Whose, get};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::Pairs;

/// The maximum number of characters of a query.
pub(super) const QUERY_MAX: usize = 200;
/// The default number of results.
const RESULTS: usize = 20;
/// The maximum number of results.
const RESULTS_MAX: usize = 100;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/search", search)
            .named(Tag::Server, "search", "Search runs, chats, workflows and documents")
            .about(
                "By their words: each word of the query begins one of what is found. Runs are those that the key sees, \
                 threads its own; workflows and documents are shared.",
            )
            .needs(Scope::Read, Whose::Runs)
            .query::<Search>()
            .answers::<Results>(StatusCode::OK, "The newest first.")
            .fails(&[Code::BadRequest]),
    ]
}

#[derive(JsonSchema)]
struct Search {
    /// The words to look for.
    #[schemars(length(min = 1, max = QUERY_MAX))]
    q: String,
    /// The maximum number of results.
    #[schemars(with = "Option<usize>", range(min = 1, max = RESULTS_MAX), extend("default" = RESULTS))]
    limit: usize,
}

/// Everything that was found.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SearchResults")]
struct Results {
    results: Vec<Found>,
}

/// Something that was found.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SearchResult")]
struct Found {
    kind: FoundKind,
    /// The id of the run, thread or workflow; of a document its collection and number, as `kitchen/1`.
    id: String,
    title: String,
    /// The words around the first match, in one line.
    snippet: String,
    at: Iso,
    #[serde(flatten)]
    damage: Damage,
}

/// The reason why a result has no snippet.
const UNTRUSTED: &str = "the text it is found by is not what was written: its checksum is wrong";

/// The kind of the match.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FoundKind {
    Run,
    Thread,
    Workflow,
    Document,
}

async fn search(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Extension(runs): Extension<Engine>,
    pairs: Pairs,
) -> Result<Json<Results>, Problem> {
    let Search { q, limit } = Search::read(&pairs)?;
    let mut found = in_runs(&runs, &q, limit).await?;
    let threads = site.server.chats.search(&caller.0, &q, limit).await?;
    found.extend(
        threads
            .into_iter()
            .map(|one| result(FoundKind::Thread, (one.id, one.title), (one.text.as_deref(), &q), one.at)),
    );
    let workflows = site.workflows().search(&q, limit).await?;
    found.extend(
        workflows
            .into_iter()
            .map(|one| result(FoundKind::Workflow, (one.id, one.name), (one.text.as_deref(), &q), one.at)),
    );
    found.extend(in_documents(&site, &q, limit).await?);
    found.sort_by_key(|one| Reverse(one.at.0));
    found.truncate(limit);
    Ok(Json(Results { results: found }))
}

impl Search {
    fn read(pairs: &Pairs) -> Result<Search, Problem> {
        let limit = pairs.number("limit", 1..=RESULTS_MAX, RESULTS)?;
        let q = pairs.first("q").map(str::trim).filter(|query| !query.is_empty());
        let q = q.ok_or_else(|| Problem::bad_request("`q` is required: the words to look for"))?;
        if q.chars().count() > QUERY_MAX {
            return Err(Problem::bad_request(format!("`q` has at most {QUERY_MAX} characters")));
        }
        Ok(Search { q: q.to_owned(), limit })
    }
}

async fn in_runs(runs: &Engine, q: &str, limit: usize) -> Result<Vec<Found>, Problem> {
    let kind = Some(Kind::Run.word().to_owned());
    let page = runs.list(Query { kind, words: Some(q.to_owned()), limit, ..Query::default() }).await?;
    let found = |(id, row): (Arc<str>, consort_log::Row)| {
        let stored: serde_json::Value = serde_json::from_str(&row.body).unwrap_or_default();
        let title = ["title", "ensemble"].iter().find_map(|name| stored.get(name)?.as_str()).unwrap_or_default();
        result(FoundKind::Run, (id.to_string(), title.to_owned()), (row.words.as_deref(), q), row.started_at)
    };
    Ok(page.rows.into_iter().map(found).collect())
}

/// Returns the documents with passages that match, each once, with its best passage.
async fn in_documents(site: &Site, q: &str, limit: usize) -> Result<Vec<Found>, Problem> {
    let hits = site.server.chats.collections().search_words(q, limit, site.now()).await?;
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for (hit, at) in hits {
        let id = format!("{}/{}", hit.collection, hit.document);
        if seen.insert(id.clone()) {
            found.push(result(FoundKind::Document, (id, hit.title), (Some(&hit.snippet), q), at));
        }
    }
    Ok(found)
}

fn result(kind: FoundKind, (id, title): (String, String), (text, q): (Option<&str>, &str), at: Millis) -> Found {
    let snippet = text.map(|text| words::snippet(text, q)).unwrap_or_default();
    let damage = Damage::of(text.is_none().then(|| UNTRUSTED.to_owned()));
    Found { kind, id, title, snippet, at: Iso(at), damage }
}
