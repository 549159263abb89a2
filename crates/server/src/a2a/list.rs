//! `ListTasks`: the caller's own runs and turns, those that changed last first. A page begins after the last task of the
//! page before it, so tasks that come meanwhile move none to another page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use consort_chat::Thread;
use consort_core::a2a::{CONTEXT_TAG, TaskState};
use consort_core::id::Millis;
use consort_core::spec::Kind;
use consort_core::status::Status;
use consort_log::{Query, Row};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Agent;
use super::error::A2aError;
use super::read::{self, Fields};
use super::tasks::{Found, Shown};

/// Tasks on a page, at most and by default.
const PAGE_MAX: usize = 100;
const PAGE: usize = 50;
/// Runs, threads and turns that are looked at: the newest. Older ones are found by their ids.
const LOOKED_AT_MAX: usize = 5_000;
const THREADS_MAX: usize = 500;

/// The tasks that are wanted.
struct Wanted {
    context: Option<String>,
    state: Option<TaskState>,
    since: Option<Millis>,
    /// The last task of the page before.
    after: Option<(Millis, String)>,
    size: usize,
    shown: Shown,
}

/// A task of which only the row was read, or more where that does not tell its state.
struct Item {
    id: String,
    at: Millis,
    state: TaskState,
    found: Option<Found>,
}

impl Wanted {
    fn read(params: &Fields) -> Result<Wanted, A2aError> {
        let unknown = |word: &str| {
            let words: Vec<&str> = TaskState::WORDS.iter().map(|(word, _)| *word).collect();
            A2aError::wrong("status", format!("must be one of {}, not '{word}'", words.join(", ")))
        };
        let state = match read::text(params, "status")? {
            None | Some("TASK_STATE_UNSPECIFIED") => None,
            Some(word) => Some(TaskState::parse(word).ok_or_else(|| unknown(word))?),
        };
        let no_time = || A2aError::wrong("statusTimestampAfter", "must be a time such as 2026-03-15T10:30:00.000Z");
        let since = read::text(params, "statusTimestampAfter")?.map(|text| {
            let time: Timestamp = text.parse().map_err(|_| no_time())?;
            Ok::<_, A2aError>(Millis::try_from(time.as_millisecond()).unwrap_or_default())
        });
        let no_page = || A2aError::wrong("pageToken", "must be the `nextPageToken` of a page before");
        let after = read::text(params, "pageToken")?.map(|token| page_of(token).ok_or_else(no_page));
        Ok(Wanted {
            context: read::id(params, "contextId")?.map(str::to_owned),
            state,
            since: since.transpose()?,
            after: after.transpose()?,
            size: read::number(params, "pageSize", 1..=PAGE_MAX)?.unwrap_or(PAGE),
            shown: Shown { history: read::history(params)?, artifacts: read::flag(params, "includeArtifacts")? },
        })
    }

    fn takes(&self, item: &Item) -> bool {
        self.state.is_none_or(|state| item.state == state) && self.since.is_none_or(|since| item.at >= since)
    }
}

/// Reads where a page begins.
fn page_of(token: &str) -> Option<(Millis, String)> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (at, id) = text.split_once(' ')?;
    Some((at.parse().ok()?, id.to_owned()))
}

fn token(item: &Item) -> String {
    URL_SAFE_NO_PAD.encode(format!("{} {}", item.at, item.id))
}

impl Agent {
    /// Answers `ListTasks`.
    pub(super) async fn list(&self, params: &Fields) -> Result<Value, A2aError> {
        let wanted = Wanted::read(params)?;
        let mut items = self.runs(wanted.context.as_deref()).await?;
        items.extend(self.turns_of_threads(wanted.context.as_deref()).await?);
        items.retain(|item| wanted.takes(item));
        items.sort_by(|one, other| (other.at, &other.id).cmp(&(one.at, &one.id)));
        let total = items.len();
        let is_left = |item: &Item| wanted.after.as_ref().is_none_or(|(at, id)| (item.at, &item.id) < (*at, id));
        let mut left = items.into_iter().filter(is_left);
        let page: Vec<Item> = left.by_ref().take(wanted.size).collect();
        let next = page.last().filter(|_| left.next().is_some()).map(token).unwrap_or_default();
        let mut tasks = Vec::with_capacity(page.len());
        for item in page {
            let found = match item.found {
                Some(found) => found,
                // Erased meanwhile.
                None => match self.find(&item.id).await {
                    Ok(found) => found,
                    Err(_) => continue,
                },
            };
            let mut task = found.json(wanted.shown);
            if let (true, Value::Object(fields)) = (wanted.shown.artifacts, &mut task) {
                fields.entry("artifacts").or_insert_with(|| json!([]));
            }
            tasks.push(task);
        }
        Ok(json!({ "tasks": tasks, "nextPageToken": next, "pageSize": wanted.size, "totalSize": total }))
    }

    /// Returns the caller's runs, of this context or all.
    async fn runs(&self, context: Option<&str>) -> Result<Vec<Item>, A2aError> {
        let kind = Some(Kind::Run.word().to_owned());
        let owner = Some(self.pass.sight.owner());
        let of = Query { kind, owner, limit: LOOKED_AT_MAX, ..Query::default() };
        let mut queries = Vec::new();
        match context {
            None => queries.push(of),
            Some(context) => {
                let tags = vec![(CONTEXT_TAG.to_owned(), Some(context.to_owned()))];
                queries.push(Query { tags, ..of.clone() });
                // A run without a context of the client's has its own.
                queries.push(Query { stream: Some(context.to_owned()), ..of });
            }
        }
        let mut items = Vec::new();
        for query in queries {
            let is_by_id = query.stream.is_some();
            for (id, row) in self.edge.runs.list(query).await?.rows {
                if !(is_by_id && row.tags.contains_key(CONTEXT_TAG)) {
                    items.extend(self.item(&id, &row).await);
                }
            }
        }
        Ok(items)
    }

    /// Returns the turns of the caller's threads, of this context or of all.
    async fn turns_of_threads(&self, context: Option<&str>) -> Result<Vec<Item>, A2aError> {
        let mut threads = self.edge.site.server.chats.threads(&self.edge.caller.0).await?;
        threads.retain(|thread| context.is_none_or(|context| thread.context() == context || thread.id == context));
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.updated_at));
        let mut items = Vec::new();
        for thread in threads.iter().take(THREADS_MAX) {
            let left = LOOKED_AT_MAX.saturating_sub(items.len());
            items.extend(self.turns_of(thread, left).await?);
        }
        Ok(items)
    }

    async fn turns_of(&self, thread: &Thread, limit: usize) -> Result<Vec<Item>, A2aError> {
        let kind = Some(Kind::Turn.word().to_owned());
        let tags = vec![("thread".to_owned(), Some(thread.id.clone()))];
        let mut items = Vec::new();
        for (id, row) in self.turns().list(Query { kind, tags, limit, ..Query::default() }).await?.rows {
            items.extend(self.item(&id, &row).await);
        }
        for waiting in &thread.queue {
            let at = thread.updated_at;
            items.push(Item { id: waiting.turn.clone(), at, state: TaskState::Submitted, found: None });
        }
        Ok(items)
    }

    /// Reads a row. Where it does not tell the state, the task is read; one that cannot be is in no list.
    async fn item(&self, id: &str, row: &Row) -> Option<Item> {
        let state = match Status::parse(&row.status) {
            Some(Status::Completed) => Some(TaskState::Completed),
            Some(Status::Cancelled) => Some(TaskState::Canceled),
            Some(Status::Accepted | Status::Running | Status::Failed | Status::Rejected) | None => None,
        };
        if let (Some(state), Some(at)) = (state, row.ended_at) {
            return Some(Item { id: id.to_owned(), at, state, found: None });
        }
        let found = self.find(id).await.ok()?;
        Some(Item { id: id.to_owned(), at: found.at(), state: found.state(), found: Some(found) })
    }
}
