//! A thread as it is stored: a stream whose row holds everything but the messages of its turns, which are separate
//! runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::chat::{Grant, MiningCost, Mode, UserMessage};
use consort_core::event::End;
use consort_core::frame::field::Iso;
use consort_core::id::Millis;
use consort_core::json;
use consort_core::owner::Owner;
use consort_core::run::Run;
use consort_core::view::Damage;
use consort_log::damage::row_fault;
use consort_log::{Append, Error, Log, Query, Record, Row, Seq};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::branch::{Branch, BranchView};

/// The kind of a thread's stream.
pub(super) const KIND: &str = "thread";
/// Characters of a title.
const TITLE_MAX: usize = 60;
/// The tag with a thread's owner.
pub(super) const OWNER: &str = "owner";
/// The tag with the name that a client gave a thread.
pub(super) const CONVERSATION: &str = "conversation";
/// The tag of threads that are erased some time after they were used last.
pub(super) const PASSING: &str = "passing";
/// The title of a thread before its first message.
const UNTITLED: &str = "New chat";

/// A thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Its id.
    pub id: String,
    /// The owner.
    pub owner: String,
    /// The title.
    pub title: String,
    /// The alias its last message asked for.
    pub model: Option<String>,
    /// The permission mode of later turns, where a message has none.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// When it was made.
    pub created_at: Millis,
    /// When something happened in it last.
    pub updated_at: Millis,
    /// Messages that wait for the turn before them.
    pub queue: Vec<Waiting>,
    /// The turns that are still to be searched for facts.
    #[serde(default)]
    pub unmined: Vec<String>,
    /// The outcome of the last search of a turn for facts.
    #[serde(default)]
    pub mined: Option<Mined>,
    /// Grants that were taken back and that its last turn still has.
    #[serde(default)]
    pub(super) withdrawn: Vec<String>,
    /// The name that a client gave the chat, by which it finds it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) conversation: Option<String>,
    /// Whether it is erased some time after it was used last.
    #[serde(default)]
    pub(super) passing: bool,
    /// The place in another thread at which it branches off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) branch: Option<Branch>,
    /// Length of its stream.
    len: Seq,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// The turn it will be.
    pub turn: String,
    /// The message.
    #[serde(rename = "say")]
    pub message: UserMessage,
}

/// The outcome of searching a turn for facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mined {
    /// The turn.
    pub turn: String,
    /// The end of the search.
    pub status: MinedStatus,
    /// The reason why nothing could be remembered, if there is one.
    pub reason: Option<String>,
    /// Facts that are from it.
    pub facts: usize,
    /// The usage of the search, which does not count as usage of the turn.
    pub cost: MiningCost,
}

/// The end of searching a turn for facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MinedStatus {
    /// It was looked through.
    Completed,
    /// The model could not be asked, or its answer does not fit.
    Failed,
    /// It was stopped.
    Cancelled,
    /// There was nothing to look through.
    Skipped,
}

/// The outcome of searching a turn for facts that are worth remembering.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Mined")]
struct MinedView {
    turn_id: String,
    status: MinedStatus,
    /// The reason why nothing could be remembered.
    reason: Option<String>,
    /// Facts that are from this turn.
    facts: usize,
    cost: MiningCost,
}

/// A chat.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Thread")]
pub struct ThreadView {
    id: String,
    title: String,
    model: Option<String>,
    created_at: Iso,
    updated_at: Iso,
    running: bool,
    /// The turn that runs.
    turn_id: Option<String>,
    /// The number of its last frame.
    chat_seq: Option<u64>,
    /// Messages that wait.
    queued: usize,
    memory: ThreadMemory,
    /// The permission mode of its turns, where a message has none and it was changed.
    permission_mode: Option<Mode>,
    /// The chat that it branches off from, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch_of: Option<BranchView>,
    #[serde(flatten)]
    damage: Damage,
}

/// The search for facts in turns whose messages asked for it with `memory_enabled`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct ThreadMemory {
    /// The turns that are still to be searched for facts.
    pending: Vec<String>,
    last: Option<MinedView>,
}

impl ThreadView {
    /// Returns the view with the reason why the thread cannot be read.
    pub(super) fn damaged(self, reason: &str) -> ThreadView {
        ThreadView { damage: Damage::of(Some(reason.to_owned())), ..self }
    }
}

impl Mined {
    /// Creates the outcome of a turn that was not searched.
    pub(super) fn without(turn: &str, status: MinedStatus, reason: &str) -> Mined {
        let cost = Run::default().mining_cost();
        Mined { turn: turn.to_owned(), status, reason: Some(reason.to_owned()), facts: 0, cost }
    }

    pub(super) fn of(turn: &str, run: &Run, facts: usize) -> Mined {
        let (status, reason) = match run.end() {
            Some(End::Failed { error }) => (MinedStatus::Failed, Some(error.clone())),
            Some(End::Cancelled) => (MinedStatus::Cancelled, Some("it was stopped".to_owned())),
            Some(End::Completed { .. }) | None => (MinedStatus::Completed, None),
        };
        Mined { turn: turn.to_owned(), status, reason, facts, cost: run.mining_cost() }
    }

    fn view(&self) -> MinedView {
        let Mined { turn, status, reason, facts, cost } = self.clone();
        MinedView { turn_id: turn, status, reason, facts, cost }
    }
}

impl Thread {
    pub(super) fn new(owner: &str, title: Option<&str>, now: Millis) -> Thread {
        Thread {
            id: format!("thread-{}", uuid::Uuid::now_v7().simple()),
            owner: owner.to_owned(),
            title: title.map_or_else(|| UNTITLED.to_owned(), short),
            model: None,
            mode: None,
            withdrawn: Vec::new(),
            created_at: now,
            updated_at: now,
            queue: Vec::new(),
            unmined: Vec::new(),
            mined: None,
            conversation: None,
            passing: false,
            branch: None,
            len: 0,
        }
    }

    /// Returns the name by which clients know the conversation: their own, or else its id.
    pub fn context(&self) -> &str {
        self.conversation.as_deref().unwrap_or(&self.id)
    }

    /// Returns the tags that it is found by.
    fn tags(&self) -> BTreeMap<String, String> {
        let owner = (OWNER.to_owned(), self.owner.clone());
        let conversation = self.conversation.clone().map(|name| (CONVERSATION.to_owned(), name));
        let passing = self.passing.then(|| (PASSING.to_owned(), "true".to_owned()));
        std::iter::once(owner).chain(conversation).chain(passing).collect()
    }

    /// Returns the threads with these tags that can be read.
    pub(super) async fn tagged(log: &dyn Log, tags: &[(&str, &str)]) -> Result<Vec<Thread>, Error> {
        let tags = tags.iter().map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned()))).collect();
        let query = Query { kind: Some(KIND.to_owned()), tags, limit: usize::MAX, ..Query::default() };
        Ok(log.list(query).await?.rows.iter().filter_map(|(id, row)| parse(id, row).ok()).collect())
    }

    /// Sets the title to the beginning of the first message, unless the thread has been named.
    pub(super) fn name_after(&mut self, content: &str) {
        if self.title == UNTITLED {
            self.title = short(content);
        }
    }

    pub(super) fn rename(&mut self, title: &str) {
        self.title = short(title);
    }

    /// Returns the grants of its last turn that were not taken back.
    pub(super) fn still_granted(&self, grants: &[Grant]) -> Vec<Grant> {
        grants.iter().filter(|grant| !self.withdrawn.contains(&grant.id)).cloned().collect()
    }

    /// Returns the thread as clients see it, with the state of its turns.
    pub fn view(&self, running: Option<&str>, chat_seq: Option<u64>) -> ThreadView {
        ThreadView {
            id: self.id.clone(),
            title: self.title.clone(),
            model: self.model.clone(),
            created_at: Iso(self.created_at),
            updated_at: Iso(self.updated_at),
            running: running.is_some(),
            turn_id: running.map(str::to_owned),
            chat_seq,
            queued: self.queue.len(),
            memory: ThreadMemory { pending: self.unmined.clone(), last: self.mined.as_ref().map(Mined::view) },
            permission_mode: self.mode,
            branch_of: self.branch.as_ref().map(Branch::view),
            damage: Damage::default(),
        }
    }

    /// Stores the state of the thread in its row. The record only makes its stream longer, so that of two concurrent
    /// changes one is refused.
    pub(super) async fn store(&mut self, log: &dyn Log, now: Millis) -> Result<(), Error> {
        let unwritable = |error: serde_json::Error| Error::Unavailable(error.to_string());
        let expected = self.len;
        (self.len, self.updated_at) = (expected + 1, now);
        let row = Row {
            kind: KIND.into(),
            status: "OPEN".into(),
            started_at: self.updated_at,
            owner: Owner::local(),
            ended_at: None,
            tags: self.tags(),
            body: json::text(self).map_err(unwritable)?,
            words: Some(self.title.as_str().into()),
        };
        let records = vec![Record { body: json!({ "at": now }).to_string().into(), attachments: Vec::new() }];
        let stream = self.id.as_str();
        log.append(Append::new(stream, expected, records, row)).await
    }

    /// Returns the thread of this id, if it belongs to the owner.
    pub(super) async fn load(log: &dyn Log, id: &str, owner: &str) -> Result<Option<Thread>, Error> {
        match Thread::find(log, id, owner).await? {
            None => Ok(None),
            Some(Ok(thread)) => Ok(Some(thread)),
            Some(Err(damaged)) => Err(damaged.into()),
        }
    }

    /// Returns the thread of this id, if it belongs to the owner, also when it cannot be read.
    pub(super) async fn find(log: &dyn Log, id: &str, owner: &str) -> Result<Option<Found>, Error> {
        let query = Query { stream: Some(id.to_owned()), limit: 1, ..Query::default() };
        let page = log.list(query).await?;
        // The kind of a damaged row may be what is damaged.
        let is_thread = |row: &Row| &*row.kind == KIND || (row.is_damaged() && id.starts_with(&format!("{KIND}-")));
        let found = page.rows.first().filter(|(_, row)| is_thread(row)).map(|(id, row)| parse(id, row));
        Ok(found.filter(|found| found.as_ref().map_or_else(|damaged| &damaged.owner, |thread| &thread.owner) == owner))
    }

    /// Returns whether there is such a thread, of any owner.
    pub(super) async fn exists(log: &dyn Log, id: &str) -> Result<bool, Error> {
        let query = Query { kind: Some(KIND.to_owned()), stream: Some(id.to_owned()), limit: 0, ..Query::default() };
        Ok(log.list(query).await?.total > 0)
    }

    /// Returns the threads of an owner, or of all owners when none is given; the one with the newest event first.
    pub(super) async fn list(log: &dyn Log, owner: Option<&str>) -> Result<Vec<Found>, Error> {
        let tags = owner.map(|owner| ("owner".to_owned(), Some(owner.to_owned())));
        let query = Query {
            kind: Some(KIND.to_owned()),
            tags: tags.into_iter().collect(),
            limit: usize::MAX,
            ..Query::default()
        };
        Ok(log.list(query).await?.rows.iter().map(|(id, row)| parse(id, row)).collect())
    }
}

/// A thread, or one that cannot be read.
pub(super) type Found = Result<Thread, DamagedThread>;

/// A thread whose row cannot be read, with the data that is still known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedThread {
    /// Its id.
    pub id: String,
    /// The owner.
    pub owner: String,
    /// The title; its id where the title is lost.
    pub title: String,
    /// When something happened in it last.
    pub updated_at: Millis,
    /// The reason why it cannot be read.
    pub reason: String,
}

impl DamagedThread {
    /// Returns the thread as clients see it.
    pub fn view(&self) -> ThreadView {
        let thread = Thread { id: self.id.clone(), ..Thread::new(&self.owner, Some(&self.title), self.updated_at) };
        thread.view(None, None).damaged(&self.reason)
    }
}

impl From<DamagedThread> for Error {
    fn from(damaged: DamagedThread) -> Error {
        Error::Damaged { stream: damaged.id, seq: 0, reason: damaged.reason }
    }
}

fn parse(id: &Arc<str>, row: &Row) -> Found {
    serde_json::from_str(&row.body).map_err(|error| {
        // Perhaps only a word of it is unknown, and the rest says something.
        let said: Value = serde_json::from_str(&row.body).unwrap_or_default();
        DamagedThread {
            id: id.to_string(),
            owner: row.tags.get("owner").cloned().unwrap_or_default(),
            title: said.get("title").and_then(Value::as_str).unwrap_or(id).to_owned(),
            updated_at: row.started_at,
            reason: row_fault(&row.body, &error),
        }
    })
}

/// Returns a text as one line of at most [`TITLE_MAX`] characters.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= TITLE_MAX {
        return if line.is_empty() { UNTITLED.to_owned() } else { line };
    }
    line.chars().take(TITLE_MAX - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(short("  plan\n the  week "), "plan the week");
        assert_eq!(short(&"x".repeat(100)).chars().count(), TITLE_MAX);
        assert_eq!(short(" \n"), UNTITLED);
    }
}
