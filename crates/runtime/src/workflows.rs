//! Saved workflows: a stream for each, a record for each version. A version never changes; each save names the version
//! that was changed, and the log's length check refuses all but the first of two concurrent saves.

mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use consort_core::catalog::SavedWorkflows;
use consort_core::frame::field::Iso;
use consort_core::id::Millis;
use consort_core::json;
use consort_core::nested;
use consort_core::owner::Owner;
use consort_core::view::Damage;
use consort_core::workflow::Document;
use consort_log::clock::Clock;
use consort_log::damage::fault;
use consort_log::{self as log, Append, Log, Query, Record, Row, Seq};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::Engine;

pub use view::{ListedWorkflow, WorkflowVersion, WorkflowView};

/// The kind of a workflow's stream, and how its name starts.
const KIND: &str = "workflow";
/// Workflows kept at once.
const WORKFLOWS_MAX: usize = 10_000;
/// The maximum number of bytes of the words that a workflow is found by.
const WORDS_MAX: usize = 16 * 1024;
/// Versions of one workflow: years of work by hand.
const VERSIONS_MAX: u64 = 10_000;

/// Workflows that one run may consist of; the compiler says when tasks of more are missing.
const NESTED_MAX: usize = 100;
/// Rows read at once while a name is looked for.
const NAMED_PAGE: usize = 1_000;

/// Everything saved in one log.
#[derive(Clone)]
pub struct Workflows {
    log: Arc<dyn Log>,
    clock: Clock,
}

/// One version of a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The workflow.
    pub id: String,
    /// The number of the version, from 1.
    pub version: u64,
    /// When the first version was saved.
    pub created_at: Millis,
    /// The record that was saved.
    pub entry: Entry,
}

/// A workflow that was found by its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundWorkflow {
    /// The workflow.
    pub id: String,
    /// The name.
    pub name: String,
    /// The words it was found by, unless they are not those that were written.
    pub text: Option<Arc<str>>,
    /// When it was last saved.
    pub at: Millis,
}

/// A record of a workflow's stream: one version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it was saved.
    pub at: Millis,
    /// The name of the caller that saved it.
    pub by: String,
    /// The workflow.
    pub document: Document,
}

/// A workflow in the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Listed {
    name: String,
    description: Option<String>,
    tasks: usize,
    version: u64,
    created_at: Millis,
    updated_at: Millis,
    updated_by: String,
}

/// The name of a workflow, which another one may have too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowName {
    /// The id of the workflow.
    pub id: String,
    /// The name.
    pub name: String,
    /// When its first version was saved.
    pub created_at: Millis,
}

/// The version that a caller expects to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The newest.
    Any,
    /// This one.
    Version(u64),
}

/// The reason why no workflow was found or saved.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such workflow.
    #[error("No workflow with ID {0}")]
    NotFound(String),
    /// Several workflows have this name.
    #[error("{count} saved workflows are called `{name}`: give the id of one")]
    Ambiguous {
        /// The name.
        name: String,
        /// The number of workflows of that name.
        count: usize,
    },
    /// No such version of it.
    #[error("the workflow has no version {0}")]
    NoVersion(u64),
    /// Another caller has saved it meanwhile.
    #[error("the workflow has changed meanwhile: its version is {current}")]
    Stale {
        /// The newest version.
        current: u64,
    },
    /// There is no room for more.
    #[error("{0}")]
    Full(String),
    /// The log failed.
    #[error(transparent)]
    Log(#[from] log::Error),
}

impl Saved {
    /// Returns the version as clients see it, with the warnings about it.
    pub fn view<'a>(&'a self, warnings: &'a [String]) -> WorkflowView<'a> {
        WorkflowView {
            id: &self.id,
            version: self.version,
            created_at: Iso(self.created_at),
            updated_at: Iso(self.entry.at),
            updated_by: &self.entry.by,
            document: &self.entry.document,
            warnings,
        }
    }
}

impl Saved {
    fn in_history(self) -> WorkflowVersion {
        let Entry { at, by, document } = self.entry;
        WorkflowVersion {
            version: self.version,
            saved_at: Iso(at),
            saved_by: by,
            name: document.name,
            description: document.description,
            tasks: document.tasks.len(),
            damage: Damage::default(),
        }
    }

    /// Returns the tags that its runs are found by.
    pub fn tags(&self) -> [(String, String); 2] {
        [("workflow".to_owned(), self.id.clone()), ("workflowVersion".to_owned(), self.version.to_string())]
    }
}

impl Listed {
    /// Creates the list entry of a workflow whose row cannot be read.
    fn unread(row: &Row) -> Listed {
        Listed {
            name: String::new(),
            description: None,
            tasks: 0,
            version: 1,
            created_at: row.started_at,
            updated_at: row.started_at,
            updated_by: String::new(),
        }
    }

    /// Creates the entry of a version that cannot be read.
    fn unread_version(&self, version: u64, error: &log::Error) -> WorkflowVersion {
        WorkflowVersion {
            version,
            saved_at: Iso(self.created_at),
            saved_by: String::new(),
            name: self.name.clone(),
            description: None,
            tasks: 0,
            damage: Damage::of(Some(error.to_string())),
        }
    }

    fn view(&self, id: &str, damage: Option<&log::Error>) -> ListedWorkflow {
        ListedWorkflow {
            id: id.to_owned(),
            name: self.name.clone(),
            description: self.description.clone(),
            tasks: self.tasks,
            version: self.version,
            created_at: Iso(self.created_at),
            updated_at: Iso(self.updated_at),
            updated_by: self.updated_by.clone(),
            damage: Damage::of(damage.map(log::Error::to_string)),
        }
    }
}

impl Workflows {
    /// Returns the workflows that are stored in the same log as an engine's runs.
    pub fn of(engine: &Engine) -> Workflows {
        let seams = engine.seams();
        Workflows { log: seams.log.clone(), clock: seams.clock }
    }

    /// Saves a new workflow.
    pub async fn create(&self, document: Document, by: &str) -> Result<Saved, Error> {
        let query = Query { kind: Some(KIND.to_owned()), limit: 0, ..Query::default() };
        if self.log.list(query).await?.total >= WORKFLOWS_MAX {
            return Err(Error::Full(format!("{WORKFLOWS_MAX} workflows are saved already; delete one first")));
        }
        let now = self.clock.now();
        let id = format!("{KIND}-{}", uuid::Uuid::now_v7().simple());
        let entry = Entry { at: now, by: by.to_owned(), document };
        let saved = Saved { id, version: 1, created_at: now, entry };
        self.store(&saved).await?;
        Ok(saved)
    }

    /// Saves the next version, if the newest is the one that was changed.
    pub async fn update(&self, id: &str, expected: Expected, document: Document, by: &str) -> Result<Saved, Error> {
        let listed = self.listed(id).await?;
        is_current(expected, &listed)?;
        if listed.version >= VERSIONS_MAX {
            let message = format!("{VERSIONS_MAX} versions are saved already; save it as a new workflow");
            return Err(Error::Full(message));
        }
        let entry = Entry { at: self.clock.now(), by: by.to_owned(), document };
        let version = listed.version + 1;
        let created_at = listed.created_at;
        let saved = Saved { id: id.to_owned(), version, created_at, entry };
        match self.store(&saved).await {
            Err(log::Error::Fenced) => Err(Error::Stale { current: self.listed(id).await?.version }),
            stored => Ok(stored.map(|()| saved)?),
        }
    }

    /// Returns the number of the newest version; 0 where that cannot be read.
    pub async fn newest(&self, id: &str) -> Result<u64, Error> {
        match self.listed(id).await {
            Ok(listed) => Ok(listed.version),
            Err(Error::Log(log::Error::Damaged { .. })) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Returns the newest version.
    pub async fn get(&self, id: &str) -> Result<Saved, Error> {
        let listed = self.listed(id).await?;
        self.saved(id, &listed, listed.version).await
    }

    /// Returns one version.
    pub async fn version(&self, id: &str, version: u64) -> Result<Saved, Error> {
        let listed = self.listed(id).await?;
        if !(1..=listed.version).contains(&version) {
            return Err(Error::NoVersion(version));
        }
        self.saved(id, &listed, version).await
    }

    /// Returns the versions with their times and authors, the newest first, and the number of all versions.
    pub async fn history(&self, id: &str, offset: u64, limit: u64) -> Result<(Vec<WorkflowVersion>, u64), Error> {
        let listed = self.listed(id).await?;
        let newest = listed.version.saturating_sub(offset);
        let mut versions = Vec::new();
        for version in (newest.saturating_sub(limit)..newest).rev().map(|before| before + 1) {
            versions.push(match self.saved(id, &listed, version).await {
                Ok(saved) => saved.in_history(),
                Err(Error::Log(error @ log::Error::Damaged { .. })) => listed.unread_version(version, &error),
                Err(error) => return Err(error),
            });
        }
        Ok((versions, listed.version))
    }

    /// Returns the workflows, the one saved last first, and how many there are.
    pub async fn list(&self, offset: usize, limit: usize) -> Result<(Vec<ListedWorkflow>, usize), Error> {
        let page = self.log.list(Query { kind: Some(KIND.to_owned()), offset, limit, ..Query::default() }).await?;
        let mut views = Vec::with_capacity(page.rows.len());
        for (id, row) in &page.rows {
            views.push(self.listed_view(id, row).await?);
        }
        Ok((views, page.total))
    }

    /// Returns the newest version of the workflow with this id, or of the only one with this name.
    pub async fn find(&self, wanted: &str) -> Result<Saved, Error> {
        match self.get(wanted).await {
            Err(Error::NotFound(_)) => {}
            found => return found,
        }
        match self.named(wanted).await?.as_slice() {
            [] => Err(Error::NotFound(wanted.to_owned())),
            [id] => self.get(id).await,
            several => Err(Error::Ambiguous { name: wanted.to_owned(), count: several.len() }),
        }
    }

    /// Returns the workflows that these names stand for, and those that their tasks name, for a catalog. A name that
    /// stands for nothing is missing there, and the compiler says so.
    pub async fn for_catalog(&self, names: BTreeSet<String>) -> Result<SavedWorkflows, Error> {
        let mut open: Vec<String> = names.into_iter().collect();
        let mut known = BTreeMap::new();
        while let Some(name) = open.pop() {
            if known.contains_key(&name) || known.len() >= NESTED_MAX {
                continue;
            }
            match self.find(&name).await {
                Ok(saved) => {
                    let document = saved.entry.document;
                    open.extend(nested::named_in(&document.tasks));
                    known.insert(name, Arc::new(document));
                }
                Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(SavedWorkflows::Known(known))
    }

    /// Returns the ids of all workflows with this name.
    pub async fn named(&self, name: &str) -> Result<Vec<Arc<str>>, log::Error> {
        let mut offset = 0;
        let mut found = Vec::new();
        loop {
            let query = Query { kind: Some(KIND.to_owned()), offset, limit: NAMED_PAGE, ..Query::default() };
            let rows = self.log.list(query).await?.rows;
            let is_named = |row: &Row| parse::<Listed>("", 0, &row.body).is_ok_and(|listed| listed.name == name);
            found.extend(rows.iter().filter(|(_, row)| is_named(row)).map(|(id, _)| id.clone()));
            offset += rows.len();
            if rows.len() < NAMED_PAGE {
                return Ok(found);
            }
        }
    }

    /// Returns the workflows that have these words: their ids, names, words and when they were saved last.
    pub async fn search(&self, words: &str, limit: usize) -> Result<Vec<FoundWorkflow>, Error> {
        let query = Query { kind: Some(KIND.to_owned()), words: Some(words.to_owned()), limit, ..Query::default() };
        let page = self.log.list(query).await?;
        let found = |(id, row): (Arc<str>, Row)| {
            let listed = parse::<Listed>(&id, 0, &row.body).ok()?;
            Some(FoundWorkflow { id: id.to_string(), name: listed.name, text: row.words, at: row.started_at })
        };
        Ok(page.rows.into_iter().filter_map(found).collect())
    }

    /// Returns the names of all workflows, the one saved last first; of those that can be read.
    pub async fn names(&self) -> Result<Vec<WorkflowName>, Error> {
        let query = Query { kind: Some(KIND.to_owned()), limit: WORKFLOWS_MAX, ..Query::default() };
        let name = |(id, row): &(Arc<str>, Row)| {
            let Listed { name, created_at, .. } = parse(id, 0, &row.body).ok()?;
            Some(WorkflowName { id: id.to_string(), name, created_at })
        };
        Ok(self.log.list(query).await?.rows.iter().filter_map(name).collect())
    }

    /// Returns a workflow as it is listed, with the reason where its newest version cannot be read.
    async fn listed_view(&self, id: &str, row: &Row) -> Result<ListedWorkflow, Error> {
        let listed = match parse::<Listed>(id, 0, &row.body) {
            Ok(listed) => listed,
            Err(error) => return Ok(Listed::unread(row).view(id, Some(&error))),
        };
        match self.saved(id, &listed, listed.version).await {
            Err(Error::Log(error @ log::Error::Damaged { .. })) => Ok(listed.view(id, Some(&error))),
            // Deleted meanwhile: it was there when it was listed.
            Ok(_) | Err(Error::NotFound(_)) => Ok(listed.view(id, None)),
            Err(error) => Err(error),
        }
    }

    /// Erases a workflow with all of its versions; its runs stay. The expected
    /// version is not checked for one that cannot be read.
    pub async fn delete(&self, id: &str, expected: Expected) -> Result<(), Error> {
        match self.listed(id).await {
            Ok(listed) => is_current(expected, &listed)?,
            Err(Error::Log(log::Error::Damaged { .. })) => {}
            Err(error) => return Err(error),
        }
        Ok(self.log.erase(vec![id.into()]).await?)
    }

    async fn listed(&self, id: &str) -> Result<Listed, Error> {
        let query = Query { stream: Some(id.to_owned()), limit: 1, ..Query::default() };
        let page = self.log.list(query).await?;
        // The kind of a damaged row may be what is damaged.
        let is_workflow = |row: &Row| &*row.kind == KIND || (row.is_damaged() && id.starts_with(&format!("{KIND}-")));
        let found = page.rows.first().filter(|(_, row)| is_workflow(row));
        let (stream, row) = found.ok_or_else(|| Error::NotFound(id.to_owned()))?;
        Ok(parse(stream, 0, &row.body)?)
    }

    async fn saved(&self, id: &str, listed: &Listed, version: u64) -> Result<Saved, Error> {
        let seq: Seq = version.saturating_sub(1);
        let records = self.log.read(id, seq, 1).await?;
        // It may have been deleted since it was found.
        let record = records.first().ok_or_else(|| Error::NotFound(id.to_owned()))?;
        let entry = parse(id, seq, &record.body)?;
        Ok(Saved { id: id.to_owned(), version, created_at: listed.created_at, entry })
    }

    async fn store(&self, saved: &Saved) -> Result<(), log::Error> {
        let Saved { id, version, created_at, entry } = saved;
        let document = &entry.document;
        let listed = Listed {
            name: document.name.clone(),
            description: document.description.clone(),
            tasks: document.tasks.len(),
            version: *version,
            created_at: *created_at,
            updated_at: entry.at,
            updated_by: entry.by.clone(),
        };
        let row = Row {
            kind: KIND.into(),
            status: "OPEN".into(),
            started_at: entry.at,
            owner: Owner::local(),
            ended_at: None,
            tags: [].into(),
            body: written(&listed)?,
            words: Some(words(document).into()),
        };
        let records = vec![Record { body: written(entry)?, attachments: Vec::new() }];
        let stream = id.as_str();
        let expected = version.saturating_sub(1);
        self.log.append(Append::new(stream, expected, records, row)).await
    }
}

/// Returns the words that a workflow is found by.
fn words(document: &Document) -> String {
    let tasks = document.tasks.iter().flat_map(|task| [task.get("name"), task.get("description")]);
    let tasks = tasks.filter_map(|text| text.and_then(Value::as_str));
    let texts = [document.name.as_str(), document.description.as_deref().unwrap_or_default()].into_iter().chain(tasks);
    let mut words = texts.collect::<Vec<_>>().join("\n");
    words.truncate(words.floor_char_boundary(WORDS_MAX));
    words
}

fn is_current(expected: Expected, listed: &Listed) -> Result<(), Error> {
    match expected {
        Expected::Version(version) if version != listed.version => Err(Error::Stale { current: listed.version }),
        Expected::Version(_) | Expected::Any => Ok(()),
    }
}

fn written(value: &impl Serialize) -> Result<Arc<str>, log::Error> {
    json::text(value).map_err(|error| log::Error::Unavailable(error.to_string()))
}

fn parse<T: for<'a> Deserialize<'a>>(stream: &str, seq: Seq, body: &str) -> Result<T, log::Error> {
    serde_json::from_str(body).map_err(|error| log::Error::Damaged {
        stream: stream.to_owned(),
        seq,
        reason: fault(body, &error),
    })
}
