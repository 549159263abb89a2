//! `/api/attachments`: files for messages and runs.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use consort_tools::attachments::{self, Attachment, Attachments};
use futures::{StreamExt, stream};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Site;
use crate::access::{Caller, Pass, Scope};
use crate::body::SentFile;
use crate::endpoint::{Endpoint, LOCATION, Tag, Whose, delete, get, post};
use crate::once;
use consort_inbound::problem::{Code, Problem};

/// The types of files that are taken.
const FILES: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/json",
    "application/csv",
    "text/*",
];

pub(super) fn endpoints() -> Vec<Endpoint> {
    let content = get("/api/attachments/{id}", one)
        .named(Tag::Files, "getAttachment", "Download an attachment")
        .needs(Scope::Read, Whose::Runs)
        .fails(&[Code::AttachmentNotFound]);
    let content = FILES.iter().fold(content, |endpoint, kind| endpoint.answers_text(kind, "The file, as it was sent."));
    vec![
        post("/api/attachments", create)
            .named(Tag::Files, "createAttachment", "Upload a file for messages and runs")
            .about(
                "The body is the file, `Content-Type` its type, and the name in `Content-Disposition` its name. It \
                 belongs to the caller's owner, and is erased when nothing has used it for 24 hours.",
            )
            .needs(Scope::Run, Whose::Runs)
            .file(FILES)
            .answers::<AttachmentView>(StatusCode::CREATED, "It can be attached.")
            .with(&[LOCATION])
            .fails(&[Code::BadRequest, Code::LimitReached, Code::UnsupportedMediaType, Code::PayloadTooLarge]),
        content,
        delete("/api/attachments/{id}", remove)
            .named(Tag::Files, "deleteAttachment", "Erase an attachment that nothing uses")
            .needs(Scope::Run, Whose::Runs)
            .answers_nothing(StatusCode::NO_CONTENT, "It is gone.")
            .fails(&[Code::AttachmentNotFound, Code::AttachmentUsed]),
    ]
}

/// A file that was uploaded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Attachment")]
struct AttachmentView {
    id: String,
    name: String,
    media_type: String,
    bytes: u64,
    /// The hash of the file, in hexadecimal digits.
    sha256: String,
}

async fn create(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Extension(pass): Extension<Pass>,
    sent: Result<SentFile, Problem>,
) -> Result<Response, Problem> {
    let SentFile { kind, name, bytes } = sent?;
    let owner = pass.sight.owner();
    let attachments = site.engine().attachments();
    let now = site.now();
    // To its end even when the client is gone: only then is the memory of the file free again.
    let stored = async move { attachments.put(&owner, (name.as_deref(), &kind), &bytes, now).await };
    let attachment = site.keys.spawn(stored).await.map_err(|_| once::stopping())??;
    tracing::info!(attachment = attachment.id, bytes = attachment.bytes, by = caller.0, "attachment uploaded");
    let location = [(header::LOCATION, format!("/api/attachments/{}", attachment.id))];
    Ok((StatusCode::CREATED, location, Json(view(attachment))).into_response())
}

async fn one(
    State(site): State<Arc<Site>>,
    Extension(pass): Extension<Pass>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let attachments = site.engine().attachments();
    let attachment = seen(&attachments, &pass, &id).await?;
    let mut reading = attachments.open(&attachment);
    // What cannot be read is a problem rather than an answer that breaks off, if it is known by then.
    let first = reading.next().await?.unwrap_or_default();
    let rest = stream::try_unfold(reading, |mut reading| async {
        let piece = reading.next().await?;
        Ok::<_, attachments::Error>(piece.map(|piece| (piece, reading)))
    });
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_LENGTH, attachment.bytes.into());
    let kind = HeaderValue::from_str(&attachment.media_type).unwrap_or(HeaderValue::from_static("text/plain"));
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // What others have uploaded is never a page of this site.
    let disposition = format!("attachment; filename*=UTF-8''{}", encoded(&attachment.name));
    let disposition = HeaderValue::from_str(&disposition).unwrap_or(HeaderValue::from_static("attachment"));
    headers.insert(header::CONTENT_DISPOSITION, disposition);
    Ok((headers, Body::from_stream(stream::iter([Ok(first)]).chain(rest))).into_response())
}

async fn remove(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Extension(pass): Extension<Pass>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let attachments = site.engine().attachments();
    seen(&attachments, &pass, &id).await?;
    attachments.delete(&id).await?;
    tracing::info!(attachment = id, by = caller.0, "attachment deleted");
    Ok(StatusCode::NO_CONTENT)
}

/// Returns an attachment that the caller sees: one of its owner, and if it sees the runs of all owners, those of others
/// too, but for files of threads. One that it does not see is missing, as one that nobody has.
async fn seen(stored: &Attachments, pass: &Pass, id: &str) -> Result<Attachment, Problem> {
    let attachment = stored.get(id).await?;
    let is_own = pass.sight.owner() == attachment.owner;
    if pass.sight.covers(&attachment.owner) && (is_own || !stored.is_of_threads(id).await?) {
        return Ok(attachment);
    }
    Err(attachments::Error::Unknown(id.to_owned()).into())
}

/// Returns a name as RFC 8187 writes it.
fn encoded(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    name.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn view(attachment: Attachment) -> AttachmentView {
    let Attachment { id, name, media_type, bytes, sha256, .. } = attachment;
    AttachmentView { id, name, media_type, bytes, sha256 }
}
