//! `/api/workspace`: the files that agents work on, read-only.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use consort_core::frame::field::Iso;
use consort_tools::{Item, Workspace};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::Scope;
use crate::endpoint::{Endpoint, Tag, Whose, get};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::query::Pairs;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/workspace/files", files)
            .named(Tag::Files, "listWorkspace", "List the files of the workspace")
            .needs(Scope::Admin, Whose::Shared)
            .query::<FolderQuery>()
            .answers::<Vec<WorkspaceItem>>(StatusCode::OK, "A folder's content.")
            .fails(&[Code::Forbidden, Code::NotFound])
            .fails_at(StatusCode::NOT_FOUND, Code::NotConfigured),
        get("/api/workspace/file", file)
            .named(Tag::Files, "readWorkspace", "Download a file of the workspace")
            .needs(Scope::Admin, Whose::Shared)
            .query::<WorkspaceQuery>()
            .answers_text("text/plain", "Its text.")
            .fails(&[Code::BadRequest, Code::Forbidden, Code::NotFound, Code::PayloadTooLarge])
            .fails(&[Code::UnsupportedMediaType])
            .fails_at(StatusCode::NOT_FOUND, Code::NotConfigured),
    ]
}

/// The folder that is wanted.
#[derive(JsonSchema)]
struct FolderQuery {
    /// A folder, from the workspace; all of it when absent.
    path: Option<String>,
}

/// The file that is wanted.
#[derive(JsonSchema)]
struct WorkspaceQuery {
    /// From the workspace.
    path: String,
}

/// A file or a folder of the workspace.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WorkspaceItem {
    name: String,
    #[serde(rename = "type")]
    kind: ItemKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<Iso>,
}

/// The type of an item of a folder.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ItemKind {
    File,
    Directory,
}

async fn files(State(site): State<Arc<Site>>, pairs: Pairs) -> Result<Json<Vec<WorkspaceItem>>, Problem> {
    let wanted = FolderQuery { path: pairs.first("path").map(str::to_owned) };
    let items = workspace(&site)?.list(wanted.path.as_deref().unwrap_or_default()).await?;
    Ok(Json(items.into_iter().map(row).collect()))
}

async fn file(State(site): State<Arc<Site>>, pairs: Pairs) -> Result<Response, Problem> {
    let workspace = workspace(&site)?;
    let path = pairs.first("path").filter(|path| !path.is_empty());
    let path = path.ok_or_else(|| Problem::bad_request("`path` is required"))?;
    let wanted = WorkspaceQuery { path: path.to_owned() };
    let text = workspace.text(&wanted.path).await?;
    let headers = [(CONTENT_TYPE, "text/plain; charset=utf-8"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    Ok((headers, text).into_response())
}

fn workspace(site: &Site) -> Result<&Workspace, Problem> {
    let absent = || Problem::at(StatusCode::NOT_FOUND, Code::NotConfigured, "Workspace not configured");
    site.server.chats.settings().workspace.as_ref().ok_or_else(absent)
}

fn row(item: Item) -> WorkspaceItem {
    let kind = if item.is_folder { ItemKind::Directory } else { ItemKind::File };
    // A size says nothing without the time it was taken at.
    let known = item.bytes.zip(item.modified_at);
    let (size, last_modified) = known.map(|(bytes, at)| (bytes, Iso(at))).unzip();
    WorkspaceItem { name: item.name, kind, size, last_modified }
}
