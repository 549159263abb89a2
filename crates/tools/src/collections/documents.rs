//! Documents of a collection: put in, replaced, removed, listed and read.

use std::sync::Arc;

use bytes::Bytes;
use consort_core::id::Millis;
use consort_log as log;

use super::index::{Meta, Source};
use super::passages;
use super::stored::{self, CollectionEvent, DOCUMENT, DocumentEvent, Summary};
use super::{Added, Collections, DOCUMENTS_MAX, Error, Found, TRIES_MAX};
use crate::extract::{self, Extracted, MediaType, TEXT_MAX};

/// The maximum length of a title in characters.
pub const TITLE_MAX: usize = 500;
/// The number of characters of a document's first line that are its title when it has none.
const LINE_MAX: usize = 80;

/// A document that is to be put into a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDocument {
    title: String,
    media_type: String,
    bytes: u64,
    text: Extracted,
}

/// A document, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentInfo {
    /// Its number in its collection, from 1.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// The type of the file that it was.
    pub media_type: String,
    /// The size of that file.
    pub bytes: u64,
    /// The time at which it was first put in.
    pub created_at: Millis,
    /// The reason why its text cannot be read, if that is known.
    pub damage: Option<String>,
}

impl NewDocument {
    /// Returns a document that was written down: plain text, Markdown or HTML.
    pub async fn written(title: &str, content: &str) -> Result<NewDocument, Error> {
        if content.trim().is_empty() || content.len() > TEXT_MAX {
            return Err(Error::Invalid(format!("a document has between 1 and {TEXT_MAX} bytes")));
        }
        let media_type = if passages::is_html(content) { "text/html" } else { "text/plain" };
        let text = passages::plain(content).await.map_err(Error::Invalid)?;
        let title = checked(title.trim())?;
        let bytes = content.len() as u64;
        Ok(NewDocument { title, media_type: media_type.to_owned(), bytes, text: Extracted::plain(text) })
    }

    /// Returns the document in a file; without a title it has that of its first line.
    pub async fn file(title: Option<&str>, kind: &MediaType, bytes: Bytes) -> Result<NewDocument, Error> {
        let size = bytes.len() as u64;
        if size == 0 {
            return Err(Error::Invalid("the file is empty".to_owned()));
        }
        let text = extract::extract(kind, bytes).await.map_err(|error| match error {
            extract::Error::Unsupported(reason) => Error::Unsupported(reason),
            extract::Error::Unreadable(reason) => Error::Invalid(reason),
            extract::Error::Busy => Error::Busy,
        })?;
        let title = title.map(str::trim).filter(|title| !title.is_empty());
        let title = title.map_or_else(|| Ok(first_line(&text)), checked)?;
        Ok(NewDocument { title, media_type: kind.essence.clone(), bytes: size, text })
    }

    /// Returns its title.
    pub fn title(&self) -> &str {
        &self.title
    }
}

fn checked(title: &str) -> Result<String, Error> {
    if title.chars().count() > TITLE_MAX {
        return Err(Error::Invalid(format!("a title has at most {TITLE_MAX} characters")));
    }
    Ok(title.to_owned())
}

fn first_line(text: &Extracted) -> String {
    let mut lines = text.pages.iter().flat_map(|page| page.lines()).map(|line| line.trim_start_matches('#').trim());
    let line = lines.find(|line| !line.is_empty()).unwrap_or("Untitled");
    line.chars().take(LINE_MAX).collect()
}

/// A change of a collection.
#[derive(Clone, Copy)]
enum Change<'a> {
    Add(&'a Placed<'a>),
    Replace(u64, &'a Placed<'a>),
    Remove(u64),
}

/// A document whose text is stored.
struct Placed<'a> {
    document: &'a NewDocument,
    stream: &'a str,
}

/// The result of a change.
struct Changed {
    number: u64,
    /// The place of the text that is not needed any more.
    old: Option<Source>,
}

impl Collections {
    /// Adds a document: plain text, Markdown or HTML, which is stored as Markdown.
    pub async fn add(&self, name: &str, title: &str, content: &str, now: Millis) -> Result<Added, Error> {
        self.find(name).await?;
        self.put(name, &NewDocument::written(title, content).await?, now).await
    }

    /// Adds a document.
    pub async fn put(&self, name: &str, document: &NewDocument, now: Millis) -> Result<Added, Error> {
        self.place(name, document, None, now).await
    }

    /// Puts a document in the place of another, which is erased.
    pub async fn replace(&self, name: &str, number: u64, document: &NewDocument, now: Millis) -> Result<Added, Error> {
        self.document_meta(name, number, now).await?;
        self.place(name, document, Some(number), now).await
    }

    /// Removes a document and erases its text, also when it cannot be read.
    pub async fn remove_document(&self, name: &str, number: u64, now: Millis) -> Result<(), Error> {
        let Changed { old, .. } = self.change(name, Change::Remove(number), now).await?;
        self.erase_text(name, old).await?;
        self.catch_up(&self.find(name).await?, now).await
    }

    /// Returns the documents of a collection, by their numbers.
    pub async fn documents(&self, name: &str, now: Millis) -> Result<Vec<DocumentInfo>, Error> {
        self.catch_up(&self.find(name).await?, now).await?;
        let collection = name.to_owned();
        let documents = self.with_index(move |index| Ok(index.documents(&collection))).await?;
        Ok(documents.into_iter().map(|(number, meta)| info(number, meta)).collect())
    }

    /// Returns one document with its text.
    pub async fn document(&self, name: &str, number: u64, now: Millis) -> Result<(DocumentInfo, Extracted), Error> {
        let meta = self.document_meta(name, number, now).await?;
        let text = match &meta.source {
            Source::Record(seq) => {
                let stream = stored::stream(name);
                let records = self.damage.note(self.log.read(&stream, *seq, 1).await)?;
                match records.first().map(|record| stored::read(&stream, *seq, record)).transpose()? {
                    Some(CollectionEvent::Added { text, .. }) => Some(Extracted::plain(text)),
                    Some(_) | None => None,
                }
            }
            Source::Stream(stream) => match self.document_event(stream, 0).await? {
                Some(DocumentEvent::Text { pages, is_paged }) => Some(Extracted { pages, is_paged }),
                Some(DocumentEvent::Embedded { .. }) | None => None,
            },
        };
        // It was removed while this was looking for it.
        let text = text.ok_or_else(|| no_document(name, number))?;
        Ok((info(number, meta), text))
    }

    async fn document_meta(&self, name: &str, number: u64, now: Millis) -> Result<Meta, Error> {
        self.catch_up(&self.find(name).await?, now).await?;
        let collection = name.to_owned();
        let found = self.with_index(move |index| Ok(index.document(&collection, number))).await?;
        found.ok_or_else(|| no_document(name, number))
    }

    /// Stores a text, then names it in its collection, then erases the one it replaces: a process
    /// that dies in between leaves a text without a document, which is erased later.
    async fn place(
        &self,
        name: &str,
        document: &NewDocument,
        number: Option<u64>,
        now: Millis,
    ) -> Result<Added, Error> {
        self.find(name).await?;
        let stream = format!("{DOCUMENT}/{name}/{}", uuid::Uuid::now_v7().simple());
        let text = DocumentEvent::of(document.text.clone());
        self.log.append(stored::append_document((name, &stream), 0, &text, now)?).await?;
        let placed = Placed { document, stream: &stream };
        let change = number.map_or(Change::Add(&placed), |number| Change::Replace(number, &placed));
        match self.change(name, change, now).await {
            Ok(Changed { number, old }) => {
                self.erase_text(name, old).await?;
                Ok(Added { document: number, embedded: self.embed_all(name, now).await? })
            }
            Err(error) => {
                self.log.erase(vec![stream.as_str().into()]).await?;
                Err(error)
            }
        }
    }

    /// Makes a change at the end of what is known of a collection; one that came in between is looked at first.
    async fn change(&self, name: &str, change: Change<'_>, now: Millis) -> Result<Changed, Error> {
        for _attempt in 0..TRIES_MAX {
            let found = self.find(name).await?;
            let (number, old) = match change {
                Change::Add(_) => (found.numbered + 1, None),
                Change::Replace(number, _) | Change::Remove(number) => {
                    (number, Some(self.document_meta(name, number, now).await?.source))
                }
            };
            let Found { collection, length, numbered } = found;
            let documents = match change {
                Change::Add(_) => collection.documents + 1,
                Change::Replace(..) => collection.documents,
                Change::Remove(_) => collection.documents.saturating_sub(1),
            };
            if documents > DOCUMENTS_MAX {
                return Err(Error::Invalid(format!("a collection has at most {DOCUMENTS_MAX} documents")));
            }
            let numbered = Some(numbered.max(number));
            let summary = Summary { length: length + 1, documents, updated_at: now, numbered };
            let event = change.event(number, now);
            match self.log.append(stored::append(name, (collection.created_at, summary), &event)?).await {
                Err(log::Error::Fenced) => {}
                stored => return Ok(stored.map(|()| Changed { number, old })?),
            }
        }
        Err(log::Error::Unavailable(format!("too many write to the collection '{name}' at once")).into())
    }

    /// Erases a text that was replaced or removed. Those of the first edition are in the
    /// collection's own stream, and are erased with it.
    async fn erase_text(&self, name: &str, old: Option<Source>) -> Result<(), Error> {
        if let Some(Source::Stream(stream)) = old {
            let stream: Arc<str> = stream.into();
            self.log.erase(vec![stream.clone()]).await?;
            self.damage.forget([&stream]);
            tracing::debug!(collection = name, stream = &*stream, "erased the text of a document");
        }
        Ok(())
    }
}

impl Change<'_> {
    fn event(self, document: u64, at: Millis) -> CollectionEvent {
        match self {
            Change::Add(placed) | Change::Replace(_, placed) => CollectionEvent::Placed {
                document,
                stream: placed.stream.to_owned(),
                title: placed.document.title.clone(),
                media_type: placed.document.media_type.clone(),
                bytes: placed.document.bytes,
                at,
            },
            Change::Remove(_) => CollectionEvent::Removed { document },
        }
    }
}

fn info(number: u64, meta: Meta) -> DocumentInfo {
    let Meta { title, media_type, bytes, created_at, damage, .. } = meta;
    DocumentInfo { number, title, media_type, bytes, created_at, damage }
}

fn no_document(collection: &str, number: u64) -> Error {
    Error::NoDocument { collection: collection.to_owned(), document: number }
}
