//! `/api/workspace`: the files agents work on, for whoever watches them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use consort_core::time::iso;
use consort_tools::{Hidden, Item, Workspace};
use serde_json::{Value, json};

use crate::Site;
use crate::problem::Problem;
use crate::query::Pairs;

pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new().route("/api/workspace/files", get(files)).route("/api/workspace/file", get(file))
}

async fn files(State(site): State<Arc<Site>>, pairs: Pairs) -> Result<Json<Value>, Problem> {
    let items = workspace(&site)?.list(pairs.first("path").unwrap_or_default()).await?;
    Ok(Json(items.into_iter().map(row).collect()))
}

async fn file(State(site): State<Arc<Site>>, pairs: Pairs) -> Result<Response, Problem> {
    let workspace = workspace(&site)?;
    let path = pairs.first("path").filter(|path| !path.is_empty());
    let text = workspace.text(path.ok_or_else(|| Problem::bad_request("`path` is required"))?).await?;
    let headers = [(CONTENT_TYPE, "text/plain; charset=utf-8"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    Ok((headers, text).into_response())
}

fn workspace(site: &Site) -> Result<&Workspace, Problem> {
    let absent = || Problem::new(StatusCode::NOT_FOUND, "NOT_CONFIGURED", "Workspace not configured");
    site.server.chats.settings().workspace.as_ref().ok_or_else(absent)
}

fn row(item: Item) -> Value {
    let kind = if item.is_folder { "directory" } else { "file" };
    let mut row = json!({ "name": item.name, "type": kind });
    if let (Value::Object(row), Some(bytes), Some(at)) = (&mut row, item.bytes, item.modified_at) {
        row.insert("size".to_owned(), bytes.into());
        row.insert("lastModified".to_owned(), iso(at).into());
    }
    row
}

impl From<Hidden> for Problem {
    fn from(hidden: Hidden) -> Problem {
        let (status, code) = match &hidden {
            Hidden::Outside(_) => (StatusCode::FORBIDDEN, "FORBIDDEN"),
            Hidden::Missing | Hidden::NotFolder | Hidden::NotFile => (StatusCode::NOT_FOUND, "NOT_FOUND"),
            Hidden::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE"),
            Hidden::NotText => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE"),
            Hidden::Unreadable(_) => (StatusCode::SERVICE_UNAVAILABLE, "STORAGE_UNAVAILABLE"),
        };
        Problem::new(status, code, hidden.to_string())
    }
}
