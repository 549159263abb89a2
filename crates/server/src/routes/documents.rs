//! `/api/collections/{name}/documents`: the documents of a collection.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use consort_core::frame::field::Iso;
use consort_core::view::Damage;
use consort_tools::collections::{Added, DocumentInfo, NewDocument, TITLE_MAX};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::{Caller, Scope};
use crate::body::{JsonOrFile, SentFile};
use crate::endpoint::{CONTENT_DISPOSITION, Endpoint, LOCATION, Tag, Whose, delete, get, post, put};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::Pairs;

/// The types of files that have text.
const FILES: &[&str] = &[
    "text/plain",
    "text/markdown",
    "text/html",
    "text/csv",
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
];

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/collections/{name}/documents", list)
            .named(Tag::Collections, "listDocuments", "List the documents of a collection")
            .needs(Scope::Read, Whose::Shared)
            .answers::<Documents>(StatusCode::OK, "All of them, in the order of their numbers.")
            .fails(&[Code::CollectionNotFound]),
        post("/api/collections/{name}/documents", add)
            .named(Tag::Collections, "addDocument", "Add a document")
            .about(
                "As JSON, or a file: any `text/*`, a PDF or a DOCX file, whose text is taken out of it. A file's title \
                 is `title`, or the name in `Content-Disposition`, or its first line.",
            )
            .needs(Scope::Run, Whose::Shared)
            .takes(&[CONTENT_DISPOSITION])
            .query::<Titled>()
            .body::<DocumentRequest>()
            .file(FILES)
            .answers::<AddedDocument>(StatusCode::CREATED, "It can be found.")
            .with(&[LOCATION])
            .fails(&[Code::BadRequest, Code::CollectionNotFound, Code::UnsupportedMediaType, Code::PayloadTooLarge]),
        get("/api/collections/{name}/documents/{id}", one)
            .named(Tag::Collections, "getDocument", "Read a document with its text")
            .needs(Scope::Read, Whose::Shared)
            .answers::<DocumentView>(StatusCode::OK, "It.")
            .fails(&[Code::CollectionNotFound, Code::DocumentNotFound]),
        put("/api/collections/{name}/documents/{id}", replace)
            .named(Tag::Collections, "replaceDocument", "Replace a document")
            .about("The same bodies as for a new one. The old text is erased; the number stays.")
            .needs(Scope::Run, Whose::Shared)
            .takes(&[CONTENT_DISPOSITION])
            .query::<Titled>()
            .body::<DocumentRequest>()
            .file(FILES)
            .answers::<AddedDocument>(StatusCode::OK, "It can be found, and the old one cannot.")
            .fails(&[
                Code::BadRequest,
                Code::CollectionNotFound,
                Code::DocumentNotFound,
                Code::UnsupportedMediaType,
                Code::PayloadTooLarge,
            ]),
        delete("/api/collections/{name}/documents/{id}", remove)
            .named(Tag::Collections, "deleteDocument", "Erase a document")
            .needs(Scope::Run, Whose::Shared)
            .answers_nothing(StatusCode::NO_CONTENT, "It is gone.")
            .fails(&[Code::CollectionNotFound, Code::DocumentNotFound]),
    ]
}

/// The documents of a collection.
#[derive(Serialize, JsonSchema)]
struct Documents {
    documents: Vec<ListedDocument>,
}

/// A document without its text.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedDocument {
    id: u64,
    title: String,
    media_type: String,
    /// The size of the file that it was.
    bytes: u64,
    created_at: Iso,
    #[serde(flatten)]
    damage: Damage,
}

/// A document with its text.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Document")]
struct DocumentView {
    #[serde(flatten)]
    listed: ListedDocument,
    /// The text that is searched: HTML as Markdown, of a PDF and a DOCX file the words.
    content: String,
    /// The number of its pages, if it has pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<usize>,
}

/// A document that is to be stored.
#[derive(JsonSchema)]
struct DocumentRequest {
    #[expect(dead_code, reason = "described")]
    #[schemars(length(min = 1, max = TITLE_MAX))]
    title: String,
    #[expect(dead_code, reason = "described")]
    content: String,
}

#[derive(JsonSchema)]
struct Titled {
    /// The title of a file.
    #[expect(dead_code, reason = "described")]
    #[schemars(length(max = TITLE_MAX))]
    title: Option<String>,
}

/// A document that was stored.
#[derive(Serialize, JsonSchema)]
struct AddedDocument {
    id: u64,
    collection: String,
    title: String,
    /// Whether it is found by its meaning too. False without `[chat] embeddings`, and while that model does not answer: it is asked again later.
    embedded: bool,
}

async fn list(State(site): State<Arc<Site>>, Path(name): Path<String>) -> Result<Json<Documents>, Problem> {
    let documents = site.server.chats.collections().documents(&name, site.now()).await?;
    Ok(Json(Documents { documents: documents.into_iter().map(listed).collect() }))
}

async fn one(
    State(site): State<Arc<Site>>,
    Path((name, id)): Path<(String, String)>,
) -> Result<Json<DocumentView>, Problem> {
    let (info, text) = site.server.chats.collections().document(&name, number(&name, &id)?, site.now()).await?;
    let pages = text.is_paged.then_some(text.pages.len());
    Ok(Json(DocumentView { listed: listed(info), content: text.text(), pages }))
}

async fn add(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    pairs: Pairs,
    sent: Result<JsonOrFile, Problem>,
) -> Result<Response, Problem> {
    let collections = site.server.chats.collections();
    // Before a file is read: it may take a while.
    collections.get(&name).await?;
    let document = document(sent?, &pairs).await?;
    let added = collections.put(&name, &document, site.now()).await?;
    let Added { document: id, embedded } = added;
    tracing::info!(collection = name, document = id, embedded, by = caller.0, "document added");
    let location = [(header::LOCATION, format!("/api/collections/{name}/documents/{id}"))];
    Ok((StatusCode::CREATED, location, Json(stored(name, &document, added))).into_response())
}

async fn replace(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path((name, id)): Path<(String, String)>,
    pairs: Pairs,
    sent: Result<JsonOrFile, Problem>,
) -> Result<Json<AddedDocument>, Problem> {
    let collections = site.server.chats.collections();
    collections.get(&name).await?;
    let id = number(&name, &id)?;
    let document = document(sent?, &pairs).await?;
    let replaced = collections.replace(&name, id, &document, site.now()).await?;
    tracing::info!(collection = name, document = id, by = caller.0, "document replaced");
    Ok(Json(stored(name, &document, replaced)))
}

async fn remove(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Path((name, id)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let collections = site.server.chats.collections();
    collections.get(&name).await?;
    let id = number(&name, &id)?;
    collections.remove_document(&name, id, site.now()).await?;
    tracing::info!(collection = name, document = id, by = caller.0, "document deleted");
    Ok(StatusCode::NO_CONTENT)
}

async fn document(sent: JsonOrFile, pairs: &Pairs) -> Result<NewDocument, Problem> {
    Ok(match sent {
        JsonOrFile::Json(sent) => NewDocument::written(sent.text("title")?, sent.text("content")?).await?,
        JsonOrFile::File(SentFile { kind, name, bytes }) => {
            let title = pairs.first("title").filter(|title| !title.trim().is_empty());
            NewDocument::file(title.or(name.as_deref()), &kind, bytes).await?
        }
    })
}

/// Returns the number of a document; what is no number is no document.
fn number(collection: &str, id: &str) -> Result<u64, Problem> {
    let missing = |_| format!("there is no document '{id}' in the collection '{collection}': their ids are numbers");
    id.parse().map_err(|error| Problem::new(Code::DocumentNotFound, missing(error)))
}

fn listed(info: DocumentInfo) -> ListedDocument {
    let DocumentInfo { number, title, media_type, bytes, created_at, damage } = info;
    ListedDocument { id: number, title, media_type, bytes, created_at: Iso(created_at), damage: Damage::of(damage) }
}

fn stored(collection: String, document: &NewDocument, Added { document: id, embedded }: Added) -> AddedDocument {
    AddedDocument { id, collection, title: document.title().to_owned(), embedded }
}
