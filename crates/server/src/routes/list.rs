//! The filters of a list of runs, read from the query of an address or from a `state_query`. The log chooses by status,
//! tags, words and times, and goes on where a page ended. The model, the cost and what a run waits for are in the rows:
//! these are looked through here, so many for each request.

use std::sync::Arc;

use consort_core::choice::{AnyCase, Choice};
use consort_core::id::Millis;
use consort_core::spec::Kind;
use consort_core::status::Status;
use consort_core::time::parse_iso;
use consort_core::view::{StoredRow, WaitingFor};
use consort_log::{Order, Place, Query, Row};
use consort_runtime::engine::Engine;
use schemars::JsonSchema;

use super::search::QUERY_MAX;
use consort_inbound::problem::Problem;
use consort_inbound::query::{Page, Pairs};

/// Rows that are read at once where they are looked through.
const READ: usize = 500;
/// Rows that one request looks through: a few hundredths of a second; whoever wants more goes on.
const LOOKED_MAX: usize = 5_000;
/// A time as answers have it, with or without its fraction, or a day.
const TIME: &str = r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{3})?Z)?$";
/// The last millisecond of a day.
const DAY_END_MS: Millis = 24 * 60 * 60 * 1000 - 1;

/// The runs that are wanted.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes the query, which is read into `Wanted`")]
pub(crate) struct RunsQuery {
    /// The status of the runs.
    #[schemars(with = "Option<AnyCase<Status>>")]
    status: Status,
    /// `key:value`, or `key` with any value; all given ones must match.
    #[schemars(with = "Option<Vec<String>>")]
    tag: Vec<String>,
    /// The runs of this ensemble, or work for others; the first when absent.
    #[schemars(with = "Option<AnyCase<Listed>>")]
    kind: Listed,
    /// Words of its inputs, tasks, output, error or id: each begins one of them.
    #[schemars(with = "Option<String>", length(min = 1, max = QUERY_MAX))]
    q: String,
    /// The earliest start: a time, or a day in UTC.
    #[schemars(with = "Option<String>", regex(pattern = TIME))]
    from: String,
    /// The latest start: a time, or a day in UTC, which is included.
    #[schemars(with = "Option<String>", regex(pattern = TIME))]
    to: String,
    /// The model that tasks without one of their own ask.
    #[schemars(with = "Option<String>")]
    model: String,
    /// The least cost in dollars; runs of unknown cost do not match.
    #[schemars(rename = "minCost", with = "Option<f64>", range(min = 0))]
    min_cost: f64,
    /// Only runs that wait for this, or for anything.
    #[schemars(with = "Option<AnyCase<Waiting>>")]
    waiting: Waiting,
    /// Only runs that are paused, or only those that are not.
    #[schemars(with = "Option<bool>")]
    paused: bool,
    /// The order by start; the newest come first when absent.
    #[schemars(with = "Option<AnyCase<Sorted>>")]
    order: Sorted,
    /// The `next` of the page before this one; not with `offset`.
    #[schemars(with = "Option<String>")]
    after: String,
}

/// The kinds of runs that are listed and read.
#[derive(Clone, Copy, Default)]
pub(super) enum Listed {
    #[default]
    Run,
    Peer,
}

impl Choice for Listed {
    const WORDS: &'static [(&'static str, Listed)] = &[("run", Listed::Run), ("peer", Listed::Peer)];
}

impl Listed {
    pub(super) fn kind(self) -> Kind {
        match self {
            Listed::Run => Kind::Run,
            Listed::Peer => Kind::Peer,
        }
    }
}

/// The things that wanted runs wait for.
#[derive(Clone, Copy, PartialEq)]
enum Waiting {
    Any,
    For(WaitingFor),
}

impl Choice for Waiting {
    const WORDS: &'static [(&'static str, Waiting)] = &[
        ("any", Waiting::Any),
        ("queue", Waiting::For(WaitingFor::Queue)),
        ("resume", Waiting::For(WaitingFor::Resume)),
        ("model", Waiting::For(WaitingFor::Model)),
        ("lock", Waiting::For(WaitingFor::Lock)),
        ("retry", Waiting::For(WaitingFor::Retry)),
        ("review", Waiting::For(WaitingFor::Review)),
        ("approval", Waiting::For(WaitingFor::Approval)),
        ("storage", Waiting::For(WaitingFor::Storage)),
    ];
}

/// The orders of a list of runs.
#[derive(Clone, Copy, Default)]
enum Sorted {
    #[default]
    Newest,
    Oldest,
}

impl Choice for Sorted {
    const WORDS: &'static [(&'static str, Sorted)] = &[("newest", Sorted::Newest), ("oldest", Sorted::Oldest)];
}

/// The runs that are wanted: by the log's query, and by their rows.
pub(super) struct Wanted {
    kind: Kind,
    query: Query,
    model: Option<String>,
    min_cost: Option<f64>,
    waiting: Option<Waiting>,
    paused: Option<bool>,
}

/// A page of rows.
pub(super) struct Found {
    pub(super) rows: Vec<(Arc<str>, Row)>,
    pub(super) total: usize,
    pub(super) next: Option<String>,
}

impl Wanted {
    pub(super) fn read(pairs: &Pairs) -> Result<Wanted, Problem> {
        let kind = choice::<Listed>(pairs, "kind")?.unwrap_or_default().kind();
        let wanted = Wanted {
            kind,
            query: query(pairs, kind)?,
            model: pairs.first("model").map(str::to_owned),
            min_cost: min_cost(pairs)?,
            waiting: choice(pairs, "waiting")?,
            paused: truth(pairs, "paused")?,
        };
        if wanted.query.offset > 0 && (wanted.query.after.is_some() || wanted.looks_through()) {
            let others = "`after`, `model`, `minCost`, `waiting` or `paused`";
            return Err(Problem::bad_request(format!("`offset` does not go with {others}: use `after`")));
        }
        Ok(wanted.only_unended())
    }

    /// A run that waits or is paused has not ended, so ended ones need not be looked through.
    fn only_unended(mut self) -> Wanted {
        if self.waiting.is_some() || self.paused == Some(true) {
            self.query.ended = Some(false);
        }
        self
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns whether rows have to be looked through.
    fn looks_through(&self) -> bool {
        self.model.is_some() || self.min_cost.is_some() || self.waiting.is_some() || self.paused.is_some()
    }

    /// Returns the next page of the runs that match.
    pub(super) async fn find(&self, runs: &Engine) -> Result<Found, Problem> {
        if self.looks_through() {
            return self.look_through(runs).await;
        }
        let page = runs.list(self.query.clone()).await?;
        let is_last = self.query.offset.saturating_add(page.rows.len()) >= page.total;
        let next = page.rows.last().filter(|_| !is_last).map(|(run, row)| cursor(run, row));
        Ok(Found { rows: page.rows, total: page.total, next })
    }

    /// Reads rows until there are enough that match, or none is left, or enough was read for one request.
    async fn look_through(&self, runs: &Engine) -> Result<Found, Problem> {
        let mut found = Found { rows: Vec::new(), total: 0, next: None };
        let mut after = self.query.after.clone();
        let mut looked = 0;
        while looked < LOOKED_MAX {
            let page = runs.list(Query { after, limit: READ, ..self.query.clone() }).await?;
            if looked == 0 {
                found.total = page.total;
            }
            looked += page.rows.len();
            let is_last = page.rows.len() >= page.total;
            let end = page.rows.last().map(|(run, row)| place_of(run, row));
            let count = page.rows.len();
            for (index, (run, row)) in page.rows.into_iter().enumerate() {
                if !self.matches(runs, &run, &row) {
                    continue;
                }
                let next = (!is_last || index + 1 < count).then(|| cursor(&run, &row));
                found.rows.push((run, row));
                if found.rows.len() == self.query.limit {
                    return Ok(Found { next, ..found });
                }
            }
            if is_last {
                return Ok(found);
            }
            after = end;
        }
        Ok(Found { next: after.map(|place| written(&place)), ..found })
    }

    /// Returns whether a run is wanted by its row; one whose row cannot be read is not.
    fn matches(&self, runs: &Engine, run: &str, row: &Row) -> bool {
        let Ok(stored) = StoredRow::read(&row.body) else { return false };
        self.model.as_deref().is_none_or(|model| stored.model() == Some(model))
            && self.min_cost.is_none_or(|least| stored.cost_usd().is_some_and(|cost| cost >= least))
            && self.paused.is_none_or(|paused| stored.is_paused() == paused)
            && self.waiting.is_none_or(|waiting| waits(runs, run, &stored, waiting))
    }
}

/// Returns whether a run waits for this. Only the engine knows of a run whose events cannot be stored.
fn waits(runs: &Engine, run: &str, stored: &StoredRow, wanted: Waiting) -> bool {
    let stalled = runs.stalled(run).map(|_| WaitingFor::Storage);
    let reason = stalled.or_else(|| stored.waiting_for());
    reason.is_some_and(|reason| wanted == Waiting::Any || wanted == Waiting::For(reason))
}

/// Reads the part of the filters that the log answers.
fn query(pairs: &Pairs, kind: Kind) -> Result<Query, Problem> {
    let Page { offset, limit } = pairs.page()?;
    let order = match choice::<Sorted>(pairs, "order")?.unwrap_or_default() {
        Sorted::Newest => Order::NewestStart,
        Sorted::Oldest => Order::OldestStart,
    };
    let tags: Result<Vec<_>, Problem> = pairs.all("tag").map(tag).collect();
    let status = pairs.first("status").map(status).transpose()?;
    Ok(Query {
        kind: Some(kind.word().to_owned()),
        status: status.map(|status| status.word().to_owned()),
        tags: tags?,
        words: words(pairs, kind)?,
        started_from: time(pairs, "from", 0)?,
        started_to: time(pairs, "to", DAY_END_MS)?,
        after: pairs.first("after").map(place).transpose()?,
        order,
        offset,
        limit,
        ..Query::default()
    })
}

fn place_of(run: &str, row: &Row) -> Place {
    Place { started_at: row.started_at, stream: run.to_owned() }
}

fn cursor(run: &str, row: &Row) -> String {
    written(&place_of(run, row))
}

/// Returns a place as the text that `place` reads.
fn written(place: &Place) -> String {
    format!("{}.{}", place.started_at, place.stream)
}

fn place(said: &str) -> Result<Place, Problem> {
    let read = |(at, stream): (&str, &str)| Some(Place { started_at: at.parse().ok()?, stream: stream.to_owned() });
    let place = said.split_once('.').and_then(read);
    place.ok_or_else(|| Problem::bad_request(format!("`after` must be the `next` of a page before, not '{said}'")))
}

/// Reads the words; an id is found without the kind it begins with.
fn words(pairs: &Pairs, kind: Kind) -> Result<Option<String>, Problem> {
    let Some(said) = pairs.first("q").map(str::trim).filter(|said| !said.is_empty()) else { return Ok(None) };
    if said.chars().count() > QUERY_MAX {
        return Err(Problem::bad_request(format!("`q` has at most {QUERY_MAX} characters")));
    }
    let id = said.strip_prefix(kind.word()).and_then(|rest| rest.strip_prefix('-'));
    Ok(Some(id.unwrap_or(said).to_owned()))
}

/// Reads a time, or a day as the time that is so far into it.
fn time(pairs: &Pairs, name: &str, into_day_ms: Millis) -> Result<Option<Millis>, Problem> {
    let read = |said: &str| {
        let day = || Some(parse_iso(&format!("{said}T00:00:00.000Z"))? + into_day_ms);
        let second = || parse_iso(&format!("{}.000Z", said.strip_suffix('Z')?));
        let wrong =
            || format!("`{name}` must be a day or a time, such as 2026-03-15 or 2026-03-15T10:30:00Z, not '{said}'");
        parse_iso(said).or_else(second).or_else(day).ok_or_else(|| Problem::bad_request(wrong()))
    };
    pairs.first(name).map(read).transpose()
}

fn truth(pairs: &Pairs, name: &str) -> Result<Option<bool>, Problem> {
    let read = |said: &str| match said {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Problem::bad_request(format!("`{name}` must be true or false, not '{said}'"))),
    };
    pairs.first(name).map(read).transpose()
}

fn min_cost(pairs: &Pairs) -> Result<Option<f64>, Problem> {
    let read = |said: &str| {
        let cost = said.parse::<f64>().ok().filter(|cost| cost.is_finite() && *cost >= 0.0);
        cost.ok_or_else(|| Problem::bad_request(format!("`minCost` must be a number from 0 on, not '{said}'")))
    };
    pairs.first("minCost").map(read).transpose()
}

/// Parses `key:value`, or a `key` that matches any value.
fn tag(said: &str) -> Result<(String, Option<String>), Problem> {
    let (key, value) = said.split_once(':').map_or((said, None), |(key, value)| (key, Some(value.to_owned())));
    match key {
        "" => Err(Problem::bad_request(format!("`tag` must be `key:value` or `key`, not '{said}'"))),
        key => Ok((key.to_owned(), value)),
    }
}

fn status(said: &str) -> Result<Status, Problem> {
    let known = Status::WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(said));
    known.map(|(_, status)| *status).ok_or_else(|| Problem::bad_request(format!("Unknown status: {said}")))
}

/// Reads one of a few words, in any case.
fn choice<T: Choice + Copy>(pairs: &Pairs, name: &str) -> Result<Option<T>, Problem> {
    let read = |said: &str| {
        let known = T::WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(said));
        let words = || T::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let wrong = || Problem::bad_request(format!("`{name}` must be one of {}, not '{said}'", words()));
        known.map(|(_, value)| *value).ok_or_else(wrong)
    };
    pairs.first(name).map(read).transpose()
}
