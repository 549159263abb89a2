//! Files that people attach to messages and runs: pictures, PDFs, texts. The bytes of a file are
//! stored once for each owner, by their hash, piece by piece in a stream of their own and never in
//! events. An attachment names them; a use, a stream too, says which run or thread needs it. An
//! attachment goes with the last of its uses, and after a day if it never had one.

mod content;

use std::collections::BTreeSet;
use std::sync::Arc;

use consort_core::id::Millis;
use consort_core::message::Attached;
use consort_core::owner::Owner;
use consort_core::spec::Kind;
use consort_log::damage::{fault, row_fault};
use consort_log::{self as log, Append, Log, Order, Query, Record, Row};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

pub use self::content::Reading;
use crate::busy;
use crate::extract::{DOCX, MediaType, PDF, extract, is_pdf};

/// The kind of an attachment's stream, and the prefix of its name.
pub const KIND: &str = "attachment";
/// The kind of the stream with the bytes of a file, and the prefix of its name.
pub const CONTENT: &str = "content";
/// The kind of the stream that says what uses an attachment, and the prefix of its name.
pub const USE: &str = "use";
/// The tag of an attachment that names its bytes.
const CONTENT_TAG: &str = "content";
/// The tag of a use that names the attachment.
const OF_TAG: &str = "of";
/// The tag of a use that names the run or thread.
const BY_TAG: &str = "by";
/// The maximum number of attachments of one owner: a limit on what one can store unnoticed.
const ATTACHMENTS_MAX: usize = 10_000;
/// The time after which an attachment that nothing uses is erased.
pub const UNUSED_MS: u64 = 24 * 3_600_000;
/// The time after which a use by a run or thread that is not there is an error of the past: it
/// is noted a moment before the run is stored.
const USE_GRACE_MS: u64 = 10 * 60_000;
/// Files whose bytes are held while they are erased, so that they can be stored again.
static ERASING: Semaphore = Semaphore::const_new(1);
/// Rows looked at together when unused attachments are erased.
const PAGE: usize = 500;

/// The types of pictures, and the bytes that each begins with.
const PICTURES: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

/// The reason why an operation on attachments failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file is empty: send another.
    #[error("the file is empty")]
    Empty,
    /// The file is of a type that is not taken, or not of the declared one: send another.
    #[error("{0}")]
    Unsupported(String),
    /// There is no such attachment, or it is another owner's.
    #[error("there is no attachment '{0}'")]
    Unknown(String),
    /// Something uses it: delete that first.
    #[error("the attachment '{id}' is used by {by}: delete that first")]
    Used {
        /// The attachment.
        id: String,
        /// The run or thread that uses it.
        by: String,
    },
    /// There are as many as there may be: delete some.
    #[error("there are {ATTACHMENTS_MAX} attachments already, which is the limit: delete some first")]
    TooMany,
    /// The log failed: try again later.
    #[error(transparent)]
    Log(#[from] log::Error),
}

/// An attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its id.
    pub id: String,
    /// The name of the file.
    pub name: String,
    /// The type of the file, without parameters.
    pub media_type: String,
    /// The encoding that a text was declared to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charset: Option<String>,
    /// The size of the file.
    pub bytes: u64,
    /// The hash of the file, in hexadecimal digits.
    pub sha256: String,
    /// The owner of the file.
    #[serde(skip)]
    pub owner: Owner,
    /// The time at which it was uploaded.
    pub created_at: Millis,
}

/// The text of a file, or the reason why it has none.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TextRead {
    /// The record beside it holds the text.
    Text,
    Unreadable {
        reason: String,
    },
}

/// All attachments of one log. Several handles, also of several processes, may change them at
/// the same time.
#[derive(Clone)]
pub struct Attachments {
    log: Arc<dyn Log>,
}

impl Attachments {
    /// Returns the attachments of a log.
    pub fn new(log: Arc<dyn Log>) -> Attachments {
        Attachments { log }
    }

    /// Stores a file.
    pub async fn put(
        &self,
        owner: &Owner,
        (name, kind): (Option<&str>, &MediaType),
        bytes: &[u8],
        now: Millis,
    ) -> Result<Attachment, Error> {
        busy::in_place(|| check(kind, bytes))?;
        let own = Query { owner: Some(owner.clone()), limit: 0, ..all(KIND) };
        if self.log.list(own).await?.total >= ATTACHMENTS_MAX {
            return Err(Error::TooMany);
        }
        let sha256 = busy::in_place(|| hex(bytes));
        let attachment = Attachment {
            id: format!("att-{}", uuid::Uuid::now_v7().simple()),
            name: name.map_or_else(|| default_name(&kind.essence), str::to_owned),
            media_type: kind.essence.clone(),
            charset: kind.charset().map(str::to_owned),
            bytes: bytes.len() as u64,
            sha256,
            owner: owner.clone(),
            created_at: now,
        };
        let content = attachment.content_stream();
        self.store_content(&content, (owner, now), bytes).await?;
        let tags = [(CONTENT_TAG, content.clone())];
        let row = row((KIND, owner), now, json(&attachment)?, &tags);
        self.log.append(append(stream(&attachment.id), (0, "{}"), Vec::new(), row)).await?;
        // An equal file may have been erased with its bytes between the two appends.
        self.store_content(&content, (owner, now), bytes).await?;
        Ok(attachment)
    }

    /// Returns an attachment.
    pub async fn get(&self, id: &str) -> Result<Attachment, Error> {
        let query = Query { stream: Some(stream(id)), limit: 1, ..all(KIND) };
        let found = self.log.list(query).await?.rows.into_iter().next();
        let (name, row) = found.ok_or_else(|| Error::Unknown(id.to_owned()))?;
        Ok(read_row(&name, &row)?)
    }

    /// Returns the text of an attachment, or the reason why it has none. It is read out of the file
    /// once, and stored beside it.
    pub async fn text(&self, attachment: &Attachment) -> Result<Result<Arc<str>, String>, Error> {
        let stream = stream(&attachment.id);
        if let Some(record) = self.log.read(&stream, 1, 1).await?.into_iter().next() {
            let unreadable = |error: serde_json::Error| damaged(&stream, &fault(&record.body, &error));
            return match serde_json::from_str(&record.body).map_err(unreadable)? {
                TextRead::Unreadable { reason } => Ok(Err(reason)),
                TextRead::Text => {
                    let text = record.attachments.into_iter().next();
                    Ok(Ok(text.ok_or_else(|| damaged(&stream, "the text of a file is missing"))?))
                }
            };
        }
        let kind = MediaType::of(&attachment.media_type, attachment.charset.as_deref());
        let read = match extract(&kind, self.content(attachment).await?).await {
            Ok(read) => Ok(Arc::<str>::from(read.text())),
            // Another time there may be time for it.
            Err(crate::extract::Error::Busy) => return Ok(Err(crate::extract::Error::Busy.to_string())),
            Err(error) => Err(error.to_string()),
        };
        let (event, texts) = match &read {
            Ok(text) => (TextRead::Text, vec![text.clone()]),
            Err(reason) => (TextRead::Unreadable { reason: reason.clone() }, Vec::new()),
        };
        let tags = [(CONTENT_TAG, attachment.content_stream())];
        let row = row((KIND, &attachment.owner), attachment.created_at, json(attachment)?, &tags);
        match self.log.append(append(stream, (1, &json(&event)?), texts, row)).await {
            // Another has read it at the same time.
            Ok(()) | Err(log::Error::Fenced) => Ok(read),
            Err(error) => Err(error.into()),
        }
    }

    /// Notes that a run or thread uses attachments; they are not erased while it is there.
    pub async fn note_use(&self, ids: &BTreeSet<&str>, by: &str, now: Millis) -> Result<(), log::Error> {
        for id in ids {
            let name = format!("{USE}/{id}/{by}");
            let tags = [(OF_TAG, (*id).to_owned()), (BY_TAG, by.to_owned())];
            let row = row((USE, &Owner::local()), now, "{}".to_owned(), &tags);
            match self.log.append(append(name, (0, "{}"), Vec::new(), row)).await {
                // It was noted before.
                Ok(()) | Err(log::Error::Fenced) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns whether only threads use an attachment: then nobody but its owner may see it.
    pub async fn is_of_threads(&self, id: &str) -> Result<bool, Error> {
        let uses = Query { tags: vec![(OF_TAG.to_owned(), Some(id.to_owned()))], ..all(USE) };
        let uses = self.log.list(uses).await?.rows;
        let is_run = |by: &String| by.starts_with(Kind::Run.word());
        Ok(!uses.is_empty() && !uses.iter().filter_map(|(_, row)| row.tags.get(BY_TAG)).any(is_run))
    }

    /// Erases the attachments that only these runs and threads used, which are gone.
    pub async fn forget_uses(&self, by: &[Arc<str>]) -> Result<(), Error> {
        // One query for all of them, where no run has an attachment.
        if self.log.list(Query { limit: 1, ..all(USE) }).await?.rows.is_empty() {
            return Ok(());
        }
        for by in by {
            let uses = Query { tags: vec![(BY_TAG.to_owned(), Some(by.to_string()))], ..all(USE) };
            let uses = self.log.list(uses).await?.rows;
            if uses.is_empty() {
                continue;
            }
            self.log.erase(uses.iter().map(|(name, _)| name.clone()).collect()).await?;
            for (_, row) in uses {
                let Some(id) = row.tags.get(OF_TAG) else { continue };
                match self.delete(id).await {
                    // Another uses it, or it is gone.
                    Ok(()) | Err(Error::Used { .. } | Error::Unknown(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Erases an attachment that nothing uses.
    pub async fn delete(&self, id: &str) -> Result<(), Error> {
        let attachment = self.get(id).await?;
        if let Some(by) = self.user(id).await? {
            return Err(Error::Used { id: id.to_owned(), by });
        }
        self.erase(&attachment).await
    }

    /// Erases attachments that nothing has used for a day, and uses by what is not there; returns the number of
    /// attachments.
    pub async fn sweep(&self, now: Millis) -> Result<usize, Error> {
        self.sweep_uses(now).await?;
        let mut erased = 0;
        let mut offset = 0;
        loop {
            let query = Query { order: Order::OldestStart, offset, limit: PAGE, ..all(KIND) };
            let rows = self.log.list(query).await?.rows;
            let old = |row: &Row| now.saturating_sub(row.started_at) > UNUSED_MS;
            let is_last = rows.len() < PAGE || !rows.iter().all(|(_, row)| old(row));
            let before = erased;
            for (name, row) in rows.iter().filter(|(_, row)| old(row)) {
                // A row that cannot be read is left for `consort store check`.
                let Ok(attachment) = read_row(name, row) else { continue };
                if self.user(&attachment.id).await?.is_none() {
                    self.erase(&attachment).await?;
                    erased += 1;
                }
            }
            if is_last {
                return Ok(erased);
            }
            offset += rows.len() - (erased - before);
        }
    }

    /// Erases uses by runs and threads that are not there: their process died between two appends.
    async fn sweep_uses(&self, now: Millis) -> Result<(), Error> {
        let mut offset = 0;
        loop {
            let query = Query { order: Order::OldestStart, offset, limit: PAGE, ..all(USE) };
            let rows = self.log.list(query).await?.rows;
            let mut gone = Vec::new();
            for (name, row) in rows.iter().filter(|(_, row)| now.saturating_sub(row.started_at) > USE_GRACE_MS) {
                if !self.is_there(row.tags.get(BY_TAG)).await? {
                    gone.push(name.clone());
                }
            }
            let is_last = rows.len() < PAGE;
            offset += rows.len() - gone.len();
            if !gone.is_empty() {
                self.log.erase(gone).await?;
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Returns something that uses an attachment, if anything does.
    async fn user(&self, id: &str) -> Result<Option<String>, Error> {
        let uses = Query { tags: vec![(OF_TAG.to_owned(), Some(id.to_owned()))], ..all(USE) };
        for (_, row) in self.log.list(uses).await?.rows {
            let by = row.tags.get(BY_TAG);
            if self.is_there(by).await? {
                return Ok(by.cloned());
            }
        }
        Ok(None)
    }

    async fn is_there(&self, stream: Option<&String>) -> Result<bool, Error> {
        let Some(stream) = stream else { return Ok(false) };
        let query = Query { stream: Some(stream.clone()), limit: 0, ..Query::default() };
        Ok(self.log.list(query).await?.total > 0)
    }

    async fn erase(&self, attachment: &Attachment) -> Result<(), Error> {
        let content = attachment.content_stream();
        let tags = vec![(CONTENT_TAG.to_owned(), Some(content.clone()))];
        let same = || Query { tags: tags.clone(), limit: 0, ..all(KIND) };
        let _alone = ERASING.acquire().await;
        let bytes = self.content(attachment).await;
        let uses = Query { tags: vec![(OF_TAG.to_owned(), Some(attachment.id.clone()))], ..all(USE) };
        let uses = self.log.list(uses).await?.rows.into_iter().map(|(name, _)| name);
        // The name first: bytes without one are found by the next upload of the same file.
        self.log.erase(uses.chain([stream(&attachment.id).into()]).collect()).await?;
        if self.log.list(same()).await?.total > 0 {
            return Ok(());
        }
        self.log.erase(vec![content.as_str().into()]).await?;
        // An equal file may have got its name between the two.
        if let Ok(bytes) = bytes
            && self.log.list(same()).await?.total > 0
        {
            self.store_content(&content, (&attachment.owner, attachment.created_at), &bytes).await?;
        }
        Ok(())
    }
}

impl Attachment {
    /// Returns it as it is named in messages and tasks.
    pub fn attached(&self) -> Attached {
        let Attachment { id, name, media_type, bytes, .. } = self.clone();
        Attached { id, name, media_type, bytes }
    }

    /// Returns the name of the stream with its bytes; each owner has its own, so that none learns of another's files.
    fn content_stream(&self) -> String {
        format!("{CONTENT}/{}", hex(format!("{}\n{}", self.owner, self.sha256).as_bytes()))
    }
}

/// Returns the query of all streams of a kind.
fn all(kind: &str) -> Query {
    Query { kind: Some(kind.to_owned()), limit: usize::MAX, ..Query::default() }
}

fn read_row(name: &str, row: &Row) -> Result<Attachment, log::Error> {
    let attachment: Result<Attachment, _> = serde_json::from_str(&row.body);
    let attachment = attachment.map_err(|error| damaged(name, &row_fault(&row.body, &error)))?;
    Ok(Attachment { owner: row.owner.clone(), ..attachment })
}

fn damaged(stream: &str, reason: &str) -> log::Error {
    log::Error::Damaged { stream: stream.to_owned(), seq: 0, reason: reason.to_owned() }
}

fn append(stream: String, (expected, body): (u64, &str), attachments: Vec<Arc<str>>, row: Row) -> Append {
    let records = vec![Record { body: body.into(), attachments }];
    Append::new(stream, expected, records, row)
}

fn row((kind, owner): (&str, &Owner), started_at: Millis, body: String, tags: &[(&str, String)]) -> Row {
    Row {
        kind: kind.into(),
        status: "OPEN".into(),
        started_at,
        owner: owner.clone(),
        ended_at: None,
        tags: tags.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
        body: body.into(),
        words: None,
    }
}

fn json(value: &impl Serialize) -> Result<String, log::Error> {
    serde_json::to_string(value).map_err(|error| log::Error::Unavailable(error.to_string()))
}

fn stream(id: &str) -> String {
    format!("{KIND}/{id}")
}

fn hex(bytes: &[u8]) -> String {
    digits(&Sha256::digest(bytes))
}

fn digits(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns whether a type is one of pictures.
pub fn is_picture(media_type: &str) -> bool {
    PICTURES.iter().any(|(kind, _)| *kind == media_type)
}

fn default_name(media_type: &str) -> String {
    let end = match media_type {
        DOCX => "docx",
        "text/plain" => "txt",
        other => other.rsplit('/').next().unwrap_or_default(),
    };
    format!("attachment.{end}")
}

/// Refuses a file that is not taken, or whose bytes are not of its type.
pub fn check(kind: &MediaType, bytes: &[u8]) -> Result<(), Error> {
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    let begins = |name: &str| PICTURES.iter().any(|(kind, start)| *kind == name && bytes.starts_with(start));
    let is_true = match kind.essence.as_str() {
        "image/webp" => begins("image/webp") && bytes.get(8..12) == Some(b"WEBP"),
        picture if is_picture(picture) => begins(picture),
        PDF => is_pdf(bytes),
        DOCX => is_docx(bytes),
        "application/json" => serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok(),
        "application/csv" => is_text(kind, bytes),
        text if text.len() > "text/".len() && text.starts_with("text/") => is_text(kind, bytes),
        other => {
            let allowed = "PNG, JPEG, GIF, WebP, PDF, DOCX, text/*, JSON and CSV";
            return Err(Error::Unsupported(format!("files of type '{other}' are not taken: send {allowed}")));
        }
    };
    if is_true { Ok(()) } else { Err(Error::Unsupported(format!("the bytes are not those of '{}'", kind.essence))) }
}

/// Returns whether these bytes are text, and not a file of another type that is taken.
fn is_text(kind: &MediaType, bytes: &[u8]) -> bool {
    // RIFF begins many kinds of files, and may begin a text.
    let is_picture = PICTURES.iter().any(|(name, start)| *name != "image/webp" && bytes.starts_with(start));
    !is_picture && !is_pdf(bytes) && !bytes.starts_with(ZIP) && kind.is_text(bytes)
}

/// The bytes that a zip archive begins with, which a DOCX file is.
const ZIP: &[u8] = b"PK\x03\x04";

/// Returns whether these bytes are a zip archive that names the text of a DOCX file.
fn is_docx(bytes: &[u8]) -> bool {
    const MAIN: &[u8] = b"word/document.xml";
    bytes.starts_with(ZIP) && bytes.windows(MAIN.len()).any(|window| window == MAIN)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use consort_log::MemoryLog;

    use super::content::PIECE_BYTES;
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    async fn put(attachments: &Attachments, owner: &str, bytes: &[u8], now: Millis) -> Attachment {
        let owner = Owner::named(owner).unwrap();
        attachments.put(&owner, (Some("a.png"), &MediaType::parse("image/png")), bytes, now).await.unwrap()
    }

    async fn streams(log: &MemoryLog, kind: &str) -> usize {
        log.list(Query { kind: Some(kind.to_owned()), limit: 0, ..Query::default() }).await.unwrap().total
    }

    #[tokio::test]
    async fn equal_files_of_an_owner_are_stored_once_and_erased_with_the_last_name() {
        let log = Arc::new(MemoryLog::default());
        let attachments = Attachments::new(log.clone());
        let one = put(&attachments, "a", PNG, 1).await;
        let two = put(&attachments, "a", PNG, 2).await;
        let other = put(&attachments, "b", PNG, 3).await;
        assert_eq!((streams(&log, KIND).await, streams(&log, CONTENT).await), (3, 2));
        assert_eq!(attachments.content(&one).await.unwrap(), PNG);
        attachments.delete(&one.id).await.unwrap();
        assert_eq!(attachments.get(&one.id).await, Err(Error::Unknown(one.id.clone())));
        assert_eq!(attachments.content(&two).await.unwrap(), PNG);
        attachments.delete(&two.id).await.unwrap();
        assert_eq!((streams(&log, KIND).await, streams(&log, CONTENT).await), (1, 1));
        assert_eq!(attachments.get(&other.id).await.unwrap().owner, Owner::named("b").unwrap());
    }

    #[tokio::test]
    async fn a_large_file_is_stored_in_pieces_and_one_of_an_earlier_version_is_read() {
        let log = Arc::new(MemoryLog::default());
        let attachments = Attachments::new(log.clone());
        let large: Vec<u8> = PNG.iter().copied().chain((0..PIECE_BYTES * 2).map(|at| (at % 251) as u8)).collect();
        let file = put(&attachments, "a", &large, 1).await;
        assert_eq!(log.read(&file.content_stream(), 0, 9).await.unwrap().len(), 3);
        assert_eq!(attachments.content(&file).await.unwrap(), large);
        assert_eq!(*attachments.base64(&file).await.unwrap(), STANDARD.encode(&large));
        let content = |pieces: Vec<Arc<str>>| {
            let row = row((CONTENT, &file.owner), 1, "{}".to_owned(), &[]);
            append(file.content_stream(), (0, "{}"), pieces, row)
        };
        log.erase(vec![file.content_stream().into()]).await.unwrap();
        log.append(content(vec![STANDARD.encode(&large).into()])).await.unwrap();
        assert_eq!(attachments.content(&file).await.unwrap(), large);
        put(&attachments, "a", &large, 2).await;
        assert_eq!(log.read(&file.content_stream(), 0, 9).await.unwrap().len(), 1, "it is there");
        for wrong in [&large[..large.len() - 1], &[&large[1..], b"x"].concat(), &[&large[..], b"x"].concat()] {
            log.erase(vec![file.content_stream().into()]).await.unwrap();
            log.append(content(vec![STANDARD.encode(wrong).into()])).await.unwrap();
            let read = attachments.content(&file).await;
            assert!(matches!(read, Err(Error::Log(log::Error::Damaged { .. }))), "{} bytes", wrong.len());
        }
    }

    async fn begin(log: &MemoryLog, run: &str) {
        let row = row(("run", &Owner::local()), 1, "{}".to_owned(), &[]);
        log.append(append(run.to_owned(), (0, "{}"), Vec::new(), row)).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_used_stays_and_what_nothing_uses_goes_after_a_day() {
        let log = Arc::new(MemoryLog::default());
        let attachments = Attachments::new(log.clone());
        let used = put(&attachments, "a", PNG, 1).await;
        let unused = put(&attachments, "a", PNG, 1).await;
        for _ in 0..2 {
            attachments.note_use(&BTreeSet::from([used.id.as_str()]), "run-1", 1).await.unwrap();
        }
        begin(&log, "run-1").await;
        let by = Error::Used { id: used.id.clone(), by: "run-1".to_owned() };
        assert_eq!(attachments.delete(&used.id).await, Err(by));
        assert_eq!(attachments.sweep(UNUSED_MS).await, Ok(0));
        assert_eq!(attachments.sweep(UNUSED_MS + 2).await, Ok(1));
        assert_eq!(attachments.get(&unused.id).await, Err(Error::Unknown(unused.id)));
        assert_eq!(attachments.content(&used).await.unwrap(), PNG);
        // A process that died before it forgot the uses of an erased run.
        log.erase(vec!["run-1".into()]).await.unwrap();
        assert_eq!(attachments.sweep(UNUSED_MS + 2).await, Ok(1));
        assert_eq!(futures::future::join_all([KIND, CONTENT, USE].map(|kind| streams(&log, kind))).await, [0, 0, 0]);
    }

    #[tokio::test]
    async fn an_attachment_goes_with_the_last_run_or_thread_that_uses_it() {
        let log = Arc::new(MemoryLog::default());
        let attachments = Attachments::new(log.clone());
        let file = put(&attachments, "a", PNG, 1).await;
        for run in ["run-1", "run-2"] {
            attachments.note_use(&BTreeSet::from([file.id.as_str()]), run, 1).await.unwrap();
            begin(&log, run).await;
        }
        log.erase(vec!["run-1".into()]).await.unwrap();
        attachments.forget_uses(&["run-1".into(), "run-0".into()]).await.unwrap();
        assert_eq!(attachments.get(&file.id).await, Ok(file.clone()));
        log.erase(vec!["run-2".into()]).await.unwrap();
        attachments.forget_uses(&["run-2".into()]).await.unwrap();
        assert_eq!(futures::future::join_all([KIND, CONTENT, USE].map(|kind| streams(&log, kind))).await, [0, 0, 0]);
    }

    #[tokio::test]
    async fn the_text_of_a_file_is_read_once_and_stored_beside_it() {
        let log = Arc::new(MemoryLog::default());
        let attachments = Attachments::new(log.clone());
        let owner = Owner::local();
        let page = (Some("a.html"), &MediaType::parse("text/html; charset=iso-8859-1"));
        let page = attachments.put(&owner, page, b"<p>caf\xe9 <b>au lait</b></p>", 1).await.unwrap();
        for _ in 0..2 {
            let text = attachments.text(&page).await.unwrap().unwrap();
            assert!(text.contains("caf\u{e9}") && !text.contains('<'), "{text}");
        }
        assert_eq!(log.read(&stream(&page.id), 0, 9).await.unwrap().len(), 2);
        let broken = (None, &MediaType::parse(PDF));
        let broken = attachments.put(&owner, broken, b"%PDF-1.4 no pdf", 1).await.unwrap();
        for _ in 0..2 {
            assert!(attachments.text(&broken).await.unwrap().is_err());
        }
        attachments.delete(&page.id).await.unwrap();
        attachments.delete(&broken.id).await.unwrap();
        assert_eq!(streams(&log, KIND).await, 0);
    }

    #[test]
    fn only_files_that_are_what_they_say_are_taken() {
        for (kind, bytes) in [
            ("image/png", PNG),
            ("image/jpeg", b"\xff\xd8\xff\xe0"),
            ("image/gif", b"GIF89a"),
            ("image/webp", b"RIFF\0\0\0\0WEBPVP8 "),
            (PDF, b"%PDF-1.4"),
            (DOCX, b"PK\x03\x04 word/document.xml"),
            ("text/markdown", "# ä".as_bytes()),
            ("text/csv", b"a,b"),
            ("application/json", b"{\"a\": 1}"),
        ] {
            assert_eq!(check(&MediaType::parse(kind), bytes), Ok(()), "{kind}");
            assert_eq!(check(&MediaType::parse(kind), b""), Err(Error::Empty));
        }
        for (kind, bytes) in [
            ("image/png", &b"\xff\xd8\xff"[..]),
            ("image/webp", b"RIFF\0\0\0\0WAVE"),
            ("image/svg+xml", b"<svg/>"),
            ("text/plain", PNG),
            ("text/plain", b"a\0b"),
            ("text/", b"a"),
            ("application/json", b"{"),
            (DOCX, b"PK\x03\x04 other"),
            ("application/zip", b"PK\x03\x04"),
            ("", b"a"),
        ] {
            assert!(matches!(check(&MediaType::parse(kind), bytes), Err(Error::Unsupported(_))), "{kind}");
        }
    }
}
