//! Request bodies: a JSON object, or nothing, which means an empty one; on the routes
//! that take files also a file, whose bytes come as they are.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::extract::{FromRequest, MatchedPath, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use consort_core::choice::Choice;
use consort_tools::extract::MediaType;
use futures::StreamExt;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::Site;
use crate::problem::{Code, Problem};

/// The time within which a body must arrive.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time within which a file must arrive, which may be larger.
const FILE_PATIENCE: Duration = Duration::from_mins(5);
/// The maximum number of characters of a file's name.
const NAME_MAX: usize = 255;
/// The route that takes nothing but files, JSON among them.
const UPLOADS: &str = "/api/attachments";
/// The routes that take files beside JSON.
const FILE_ROUTES: [&str; 2] = ["/api/collections/{name}/documents", "/api/collections/{name}/documents/{id}"];

/// The routes whose JSON may hold files.
const ROUTES_WITH_FILES: [&str; 2] = ["/v1/chat/completions", "/v1/responses"];

/// A request body, parsed as JSON.
#[derive(Debug)]
pub(crate) struct Sent(pub(crate) Value);

impl FromRequest<Arc<Site>> for Sent {
    type Rejection = Problem;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<Sent, Problem> {
        Ok(sized(request, site).await?.0)
    }
}

/// Reads a body as JSON, and returns its length too.
pub(crate) async fn sized(request: Request, site: &Site) -> Result<(Sent, usize), Problem> {
    let typed = json_or_untyped(request.headers());
    let bytes = read(site, request).await?;
    if bytes.trim_ascii().is_empty() {
        return Ok((Sent(Value::Object(Map::new())), bytes.len()));
    }
    if !typed {
        let message = "send the body as application/json";
        return Err(Problem::new(Code::UnsupportedMediaType, message));
    }
    let sent = json(&bytes).map_err(|error| Problem::bad_request(format!("Invalid JSON body: {error}")))?;
    Ok((Sent(sent), bytes.len()))
}

/// Parses JSON, or returns the reason why it cannot be parsed.
pub(crate) fn json(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(bytes).map_err(|error| {
        let told = error.to_string();
        // The parser's own words for its maximum nesting.
        told.replace("recursion limit exceeded", "nested deeper than 127 levels")
    })
}

/// A body that is JSON or a file.
#[derive(Debug)]
pub(crate) enum JsonOrFile {
    Json(Sent),
    File(SentFile),
}

/// A file as the body of a request.
#[derive(Debug)]
pub(crate) struct SentFile {
    pub(crate) kind: MediaType,
    /// The name that the client gives it.
    pub(crate) name: Option<String>,
    pub(crate) bytes: Bytes,
}

impl FromRequest<Arc<Site>> for JsonOrFile {
    type Rejection = Problem;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<JsonOrFile, Problem> {
        if json_or_untyped(request.headers()) {
            return Sent::from_request(request, site).await.map(JsonOrFile::Json);
        }
        SentFile::from_request(request, site).await.map(JsonOrFile::File)
    }
}

impl FromRequest<Arc<Site>> for SentFile {
    type Rejection = Problem;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<SentFile, Problem> {
        let header = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = MediaType::parse(header);
        let name = file_name(request.headers())?;
        let bytes = read(site, request).await?;
        Ok(SentFile { kind, name, bytes })
    }
}

/// Returns the name in `Content-Disposition`: `filename*` in UTF-8, or else `filename`.
fn file_name(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(header) = headers.get(CONTENT_DISPOSITION) else { return Ok(None) };
    let header = String::from_utf8_lossy(header.as_bytes());
    let value = |name: &str| {
        let mut parts = header.split(';').filter_map(|part| part.split_once('='));
        parts.find(|(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    let extended = value("filename*").and_then(|value| {
        let (charset, rest) = value.split_once('\'')?;
        let (_language, encoded) = rest.split_once('\'')?;
        let is_utf8 = charset.eq_ignore_ascii_case("utf-8");
        is_utf8.then(|| percent_decoded(encoded)).flatten()
    });
    let name = extended.or_else(|| value("filename").map(|name| name.trim_matches('"').to_owned()));
    // A name is no path, whatever the client's system calls a folder.
    let name = name.map(|name| name.rsplit(['/', '\\']).next().unwrap_or_default().trim().to_owned());
    match name {
        Some(name) if name.chars().count() > NAME_MAX || name.chars().any(char::is_control) => {
            let message = format!(
                "the file name in Content-Disposition must have at most {NAME_MAX} characters, none of them control characters"
            );
            Err(Problem::bad_request(message))
        }
        name => Ok(name.filter(|name| !name.is_empty())),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                bytes.push(u8::try_from(digit(high)? * 16 + digit(low)?).ok()?);
                rest = after;
            }
            (b'%', _) => return None,
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).ok()
}

/// The size and the time that the body of a request may take.
struct BodyLimit {
    max: usize,
    patience: Duration,
    /// The parts of `max`, for bodies of JSON that may hold files.
    parts: Option<(usize, usize)>,
}

impl BodyLimit {
    fn of(site: &Site, request: &Request) -> BodyLimit {
        let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
        let is_file = route == UPLOADS || (FILE_ROUTES.contains(&route) && !json_or_untyped(request.headers()));
        let max_json = site.server.max_body_bytes;
        let max_file = site.server.max_attachment_bytes;
        if is_file {
            return BodyLimit { max: max_file, patience: FILE_PATIENCE, parts: None };
        }
        if ROUTES_WITH_FILES.contains(&route) {
            // Four characters of base64 for three bytes.
            let max = max_json.saturating_add(max_file / 3 * 4 + 4);
            return BodyLimit { max, patience: FILE_PATIENCE, parts: Some((max_json, max_file)) };
        }
        BodyLimit { max: max_json, patience: PATIENCE, parts: None }
    }

    fn too_large(&self) -> Problem {
        let told = format!("the body is larger than this server takes: {} bytes", self.max);
        let message = match self.parts {
            Some((json, file)) => {
                format!("{told}, {json} ([server] max_body_bytes) and the base64 of {file} (max_attachment_bytes)")
            }
            None => told,
        };
        Problem::new(Code::PayloadTooLarge, message)
    }
}

/// Reads the whole body, within the server's limit. A body that announces more is
/// refused at once.
pub(crate) async fn read(site: &Site, request: Request) -> Result<Bytes, Problem> {
    let limit = BodyLimit::of(site, &request);
    if request.body().size_hint().lower() > limit.max as u64 {
        return Err(limit.too_large());
    }
    let collected = async {
        let mut bytes = Vec::new();
        let mut parts = request.into_body().into_data_stream();
        while let Some(part) = parts.next().await {
            let broken = |_| Problem::bad_request("the body broke off, or is not chunked as it should be");
            let part = part.map_err(broken)?;
            if bytes.len() + part.len() > limit.max {
                return Err(limit.too_large());
            }
            bytes.extend_from_slice(&part);
        }
        Ok(Bytes::from(bytes))
    };
    let slow = |_elapsed| {
        let message = format!("the body did not come within {:?}", limit.patience);
        Problem::new(Code::RequestTimeout, message)
    };
    timeout(limit.patience, collected).await.map_err(slow)?
}

impl Sent {
    /// Returns a required field: text that is not blank.
    pub(crate) fn text(&self, name: &str) -> Result<&str, Problem> {
        let text = self.optional_text(name)?.filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| Problem::bad_request(format!("`{name}` is required")))
    }

    /// Returns a text field that may be absent.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&str>, Problem> {
        match self.object()?.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Problem::bad_request(format!("`{name}` must be a string"))),
        }
    }

    /// Returns the word of `T` in a field, in any case.
    pub(crate) fn choice<T: Choice>(&self, name: &str) -> Result<Option<T>, Problem> {
        self.word(name, T::WORDS)
    }

    /// Returns the meaning of a field that must be one of these words, ignoring case.
    pub(crate) fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, Problem> {
        let Some(said) = self.optional_text(name)? else { return Ok(None) };
        let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(said.trim()));
        let allowed = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let wrong = || Problem::bad_request(format!("`{name}` must be one of {}, not '{said}'", allowed()));
        found.map(|(_, meaning)| Some(*meaning)).ok_or_else(wrong)
    }

    pub(crate) fn object(&self) -> Result<&Map<String, Value>, Problem> {
        self.0.as_object().ok_or_else(|| Problem::bad_request("the body must be a JSON object"))
    }
}

pub(crate) fn json_or_untyped(headers: &HeaderMap) -> bool {
    let Some(given) = headers.get(CONTENT_TYPE) else { return true };
    let essence = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}
