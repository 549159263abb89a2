//! Saved workflows: a stream for each, a record for each version. A version
//! never changes; whoever saves says which one was changed, and the log's own
//! length check decides who was first.

use std::sync::Arc;

use consort_core::frame::field::Iso;
use consort_core::id::Millis;
use consort_core::owner::Owner;
use consort_core::view::Damage;
use consort_core::workflow::Document;
use consort_log::clock::Clock;
use consort_log::{self as log, Append, Log, Query, Record, Row, Seq};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;

/// The kind of a workflow's stream, and how its name starts.
const KIND: &str = "workflow";
/// Workflows kept at once.
const WORKFLOWS_MAX: usize = 10_000;
/// Versions of one workflow: years of work by hand.
const VERSIONS_MAX: u64 = 10_000;

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
    /// Which version, from 1.
    pub version: u64,
    /// When the first version was saved.
    pub created_at: Millis,
    /// What was saved.
    pub entry: Entry,
}

/// What one record of the stream holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it was saved.
    pub at: Millis,
    /// By whom.
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

/// Which version somebody has in mind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Whichever is the newest.
    Any,
    /// This one.
    Version(u64),
}

/// Why nothing was found or saved.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such workflow.
    #[error("No workflow with ID {0}")]
    NotFound(String),
    /// No such version of it.
    #[error("the workflow has no version {0}")]
    NoVersion(u64),
    /// Somebody else has saved it meanwhile.
    #[error("the workflow has changed meanwhile: its version is {current}")]
    Stale {
        /// The newest version.
        current: u64,
    },
    /// There is no room for more.
    #[error("{0}")]
    Full(String),
    /// The log said no.
    #[error(transparent)]
    Log(#[from] log::Error),
}

/// A version of a saved workflow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Workflow")]
pub struct WorkflowView<'a> {
    id: &'a str,
    version: u64,
    created_at: Iso,
    updated_at: Iso,
    updated_by: &'a str,
    #[serde(flatten)]
    document: &'a Document,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

/// A saved workflow in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedWorkflow {
    id: String,
    name: String,
    description: Option<String>,
    tasks: usize,
    version: u64,
    created_at: Iso,
    updated_at: Iso,
    updated_by: String,
    #[serde(flatten)]
    damage: Damage,
}

/// A version in the history of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowVersion {
    version: u64,
    saved_at: Iso,
    saved_by: String,
    name: String,
    description: Option<String>,
    tasks: usize,
    #[serde(flatten)]
    damage: Damage,
}

impl Saved {
    /// The version as clients see it, with what was odd about it.
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

    /// What its runs are found by.
    pub fn tags(&self) -> [(String, String); 2] {
        [("workflow".to_owned(), self.id.clone()), ("workflowVersion".to_owned(), self.version.to_string())]
    }
}

impl Listed {
    /// What is known of a workflow whose row cannot be read.
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

    /// A version that cannot be read.
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
    /// The workflows kept beside an engine's runs.
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
        let (version, created_at) = (listed.version + 1, listed.created_at);
        let saved = Saved { id: id.to_owned(), version, created_at, entry };
        match self.store(&saved).await {
            Err(log::Error::Fenced) => Err(Error::Stale { current: self.listed(id).await?.version }),
            stored => Ok(stored.map(|()| saved)?),
        }
    }

    /// The number of the newest version; 0 where that cannot be read.
    pub async fn newest(&self, id: &str) -> Result<u64, Error> {
        match self.listed(id).await {
            Ok(listed) => Ok(listed.version),
            Err(Error::Log(log::Error::Damaged { .. })) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// The newest version.
    pub async fn get(&self, id: &str) -> Result<Saved, Error> {
        let listed = self.listed(id).await?;
        self.saved(id, &listed, listed.version).await
    }

    /// One version.
    pub async fn version(&self, id: &str, version: u64) -> Result<Saved, Error> {
        let listed = self.listed(id).await?;
        if !(1..=listed.version).contains(&version) {
            return Err(Error::NoVersion(version));
        }
        self.saved(id, &listed, version).await
    }

    /// What was saved when and by whom, the newest first, and how many versions there are.
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

    /// The workflows, the one saved last first, and how many there are.
    pub async fn list(&self, offset: usize, limit: usize) -> Result<(Vec<ListedWorkflow>, usize), Error> {
        let page = self.log.list(Query { kind: Some(KIND.to_owned()), offset, limit, ..Query::default() }).await?;
        let mut views = Vec::with_capacity(page.rows.len());
        for (id, row) in &page.rows {
            views.push(self.listed_view(id, row).await?);
        }
        Ok((views, page.total))
    }

    /// A workflow in the list; where its newest version cannot be read, with why.
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

    /// Erases a workflow with all of its versions; its runs stay. Of one that
    /// cannot be read nobody can know the version.
    pub async fn delete(&self, id: &str, expected: Expected) -> Result<(), Error> {
        match self.listed(id).await {
            Ok(listed) => is_current(expected, &listed)?,
            Err(Error::Log(log::Error::Damaged { .. })) => {}
            Err(error) => return Err(error),
        }
        Ok(self.log.erase(vec![id.into()]).await?)
    }

    async fn listed(&self, id: &str) -> Result<Listed, Error> {
        let query = Query { kind: Some(KIND.to_owned()), stream: Some(id.to_owned()), limit: 1, ..Query::default() };
        let page = self.log.list(query).await?;
        let (stream, row) = page.rows.first().ok_or_else(|| Error::NotFound(id.to_owned()))?;
        Ok(parse(stream, 0, &row.body)?)
    }

    async fn saved(&self, id: &str, listed: &Listed, version: u64) -> Result<Saved, Error> {
        let seq: Seq = version.saturating_sub(1);
        let records = self.log.read(id, seq, 1).await?;
        // Somebody may have deleted it since it was found.
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
        };
        let records = vec![Record { body: written(entry)?, attachments: Vec::new() }];
        let (stream, expected) = (id.as_str().into(), version.saturating_sub(1));
        self.log.append(Append { stream, expected, epoch: 0, records, row, claims: Vec::new() }).await
    }
}

fn is_current(expected: Expected, listed: &Listed) -> Result<(), Error> {
    match expected {
        Expected::Version(version) if version != listed.version => Err(Error::Stale { current: listed.version }),
        Expected::Version(_) | Expected::Any => Ok(()),
    }
}

fn written(value: &impl Serialize) -> Result<Arc<str>, log::Error> {
    let text = serde_json::to_string(value).map_err(|error| log::Error::Unavailable(error.to_string()))?;
    Ok(text.into())
}

fn parse<T: for<'a> Deserialize<'a>>(stream: &str, seq: Seq, body: &str) -> Result<T, log::Error> {
    serde_json::from_str(body).map_err(|error| log::Error::Damaged {
        stream: stream.to_owned(),
        seq,
        reason: error.to_string(),
    })
}
