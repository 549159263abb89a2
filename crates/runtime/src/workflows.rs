//! Saved workflows: a stream for each, a record for each version. A version
//! never changes; whoever saves says which one was changed, and the log's own
//! length check decides who was first.

use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::time::iso;
use consort_core::workflow::Document;
use consort_log::clock::Clock;
use consort_log::{self as log, Append, Log, Query, Record, Row, Seq};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

impl Saved {
    /// The version as clients see it.
    pub fn view(&self) -> Value {
        let mut view = json!({ "id": self.id, "version": self.version, "createdAt": iso(self.created_at),
            "updatedAt": iso(self.entry.at), "updatedBy": self.entry.by });
        if let (Value::Object(view), Ok(Value::Object(document))) =
            (&mut view, serde_json::to_value(&self.entry.document))
        {
            view.extend(document);
        }
        view
    }
}

impl Saved {
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

    fn view(&self, id: &str) -> Value {
        json!({ "id": id, "name": self.name, "description": self.description, "tasks": self.tasks, "version": self.version,
            "createdAt": iso(self.created_at), "updatedAt": iso(self.updated_at), "updatedBy": self.updated_by })
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
    pub async fn history(&self, id: &str, offset: u64, limit: u64) -> Result<(Vec<Value>, u64), Error> {
        let listed = self.listed(id).await?;
        let newest = listed.version.saturating_sub(offset);
        let mut versions = Vec::new();
        for version in (newest.saturating_sub(limit)..newest).rev().map(|before| before + 1) {
            let Saved { entry: Entry { at, by, document }, .. } = match self.saved(id, &listed, version).await {
                Ok(saved) => saved,
                Err(Error::Log(error @ log::Error::Damaged { .. })) => {
                    let unread = json!({ "version": version, "savedAt": iso(listed.created_at), "savedBy": "",
                        "name": listed.name, "description": null, "tasks": 0 });
                    versions.push(damaged_view(unread, &error));
                    continue;
                }
                Err(error) => return Err(error),
            };
            versions.push(json!({ "version": version, "savedAt": iso(at), "savedBy": by, "name": document.name,
                "description": document.description, "tasks": document.tasks.len() }));
        }
        Ok((versions, listed.version))
    }

    /// The workflows, the one saved last first, and how many there are.
    pub async fn list(&self, offset: usize, limit: usize) -> Result<(Vec<Value>, usize), Error> {
        let page = self.log.list(Query { kind: Some(KIND.to_owned()), offset, limit, ..Query::default() }).await?;
        let mut views = Vec::with_capacity(page.rows.len());
        for (id, row) in &page.rows {
            views.push(self.listed_view(id, row).await?);
        }
        Ok((views, page.total))
    }

    /// A workflow in the list; where its newest version cannot be read, with why.
    async fn listed_view(&self, id: &str, row: &Row) -> Result<Value, Error> {
        let listed = match parse::<Listed>(id, 0, &row.body) {
            Ok(listed) => listed,
            Err(error) => return Ok(damaged_view(Listed::unread(row).view(id), &error)),
        };
        match self.saved(id, &listed, listed.version).await {
            Err(Error::Log(error @ log::Error::Damaged { .. })) => Ok(damaged_view(listed.view(id), &error)),
            // Deleted meanwhile: it was there when it was listed.
            Ok(_) | Err(Error::NotFound(_)) => Ok(listed.view(id)),
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
            ended_at: None,
            tags: [].into(),
            body: written(&listed)?,
        };
        let records = vec![Record { body: written(entry)?, attachments: Vec::new() }];
        let (stream, expected) = (id.as_str().into(), version.saturating_sub(1));
        self.log.append(Append { stream, expected, epoch: 0, records, row, claims: Vec::new() }).await
    }
}

/// A workflow or a version of it with why it cannot be read.
fn damaged_view(mut view: Value, error: &log::Error) -> Value {
    if let Value::Object(view) = &mut view {
        view.insert("damaged".to_owned(), true.into());
        view.insert("damagedReason".to_owned(), error.to_string().into());
    }
    view
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
