//! Request bodies: a JSON object, or nothing, which means an empty one; on the routes
//! that take files also a file, whose bytes come as they are.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::extract::{FromRequest, MatchedPath, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use consort_core::choice::Choice;
use consort_tools::buffer::Buffer;
use consort_tools::extract::MediaType;
use futures::StreamExt;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::Site;
use crate::routes::hooks;
use crate::unknown::Noted;
use consort_inbound::body_memory::{self, HeldBody, Hold, SMALL};
use consort_inbound::deep_schemas;
use consort_inbound::problem::{Code, Problem};

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

/// A request body, parsed as JSON. A large one is kept with the memory that it takes; of a frame, the warnings about
/// its unknown fields are kept too.
#[derive(Debug)]
pub(crate) struct Sent(pub(crate) Value, Bytes, Vec<String>);

/// The extension of a request whose body was read before and is in memory, counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IsRead;

impl FromRequest<Arc<Site>> for Sent {
    type Rejection = Problem;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<Sent, Problem> {
        let is_typed = json_or_untyped(request.headers());
        let noted = request.extensions().get::<Noted>().cloned();
        let bytes = read(site, request).await?;
        let body = if bytes.len() > SMALL { bytes.clone() } else { Bytes::new() };
        let value = parsed(&bytes, is_typed)?;
        if let Some(noted) = noted {
            noted.note(&value);
        }
        Ok(Sent(value, body, Vec::new()))
    }
}

/// Returns a body as JSON, whose type must say so.
pub(crate) fn parsed(bytes: &[u8], is_typed: bool) -> Result<Value, Problem> {
    if bytes.trim_ascii().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    if !is_typed {
        let message = "send the body as application/json";
        return Err(Problem::new(Code::UnsupportedMediaType, message));
    }
    json(bytes).map_err(|error| Problem::bad_request(format!("Invalid JSON body: {error}")))
}

/// The parser's own words for its maximum nesting.
const TOO_DEEP: &str = "recursion limit exceeded";

/// Parses JSON, or returns the reason why it cannot be parsed.
pub(crate) fn json(bytes: &[u8]) -> Result<Value, String> {
    let parse = |bytes: &[u8]| serde_json::from_slice(bytes).map_err(|error| error.to_string());
    let parsed = match parse(bytes) {
        Err(error) if error.starts_with(TOO_DEEP) => deep_schemas::cut(bytes).map_or(Err(error), |cut| parse(&cut)),
        parsed => parsed,
    };
    parsed.map_err(|error| error.replace(TOO_DEEP, "nested deeper than 127 levels"))
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

/// The content of a body, by its route and type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    File,
    /// JSON that may hold files.
    WithFiles,
    /// JSON of a client that proves by it who it is.
    Unproven,
    Other,
}

impl Content {
    pub(crate) fn of(request: &Request) -> Content {
        let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
        let takes_files = FILE_ROUTES.contains(&route) && !json_or_untyped(request.headers());
        match route {
            UPLOADS => Content::File,
            _ if takes_files => Content::File,
            route if ROUTES_WITH_FILES.contains(&route) => Content::WithFiles,
            route if route.starts_with(hooks::PREFIX) => Content::Unproven,
            _ => Content::Other,
        }
    }

    /// Returns the maximum number of bytes, and the time within which they must arrive.
    fn limits(self, site: &Site) -> (usize, Duration) {
        let max_file = site.server.max_attachment_bytes;
        match self {
            Content::File => (max_file, FILE_PATIENCE),
            // Four characters of base64 for three bytes.
            Content::WithFiles => (site.server.max_body_bytes.saturating_add(max_file / 3 * 4 + 4), FILE_PATIENCE),
            Content::Unproven | Content::Other => (site.server.max_body_bytes, PATIENCE),
        }
    }

    /// Waits until there is room for a body of this size.
    async fn hold(self, site: &Site, size: usize) -> Result<Hold, Problem> {
        match self {
            Content::File => site.memory.file(size).await,
            Content::WithFiles if size > site.server.max_body_bytes => site.memory.file(size).await,
            Content::Unproven => site.memory.unproven(size).await,
            Content::WithFiles | Content::Other => site.memory.text(size).await,
        }
    }

    fn too_large(self, site: &Site) -> Problem {
        let (max, _) = self.limits(site);
        let mut message = format!("the body is larger than this server takes: {max} bytes");
        if self == Content::WithFiles {
            let most = site.server.max_body_bytes;
            let max_file = site.server.max_attachment_bytes;
            message = format!(
                "{message}, {most} ([server] max_body_bytes) and the base64 of {max_file} (max_attachment_bytes)"
            );
        }
        Problem::new(Code::PayloadTooLarge, message)
    }
}

/// Reads the whole body, within the server's limits. A body that announces more is
/// refused at once. The memory of a large one is counted as long as its bytes are kept.
pub(crate) async fn read(site: &Site, request: Request) -> Result<Bytes, Problem> {
    let (body, holds) = collect(site, request).await?;
    Ok(holds.map_or(body.clone(), |holds| Bytes::from_owner(HeldBody { body, _holds: holds })))
}

/// Reads the whole body; returns it, and bytes that count its memory for as long as they are kept, beyond the body if
/// need be.
pub(crate) async fn read_apart(site: &Site, request: Request) -> Result<(Bytes, Bytes), Problem> {
    let (body, holds) = collect(site, request).await?;
    let counted = holds.map(|holds| Bytes::from_owner(HeldBody { body: Bytes::new(), _holds: holds }));
    let counted = counted.unwrap_or_else(|| body.clone());
    Ok((body, counted))
}

/// Reads the whole body; returns it with its memory, which is counted if it is large and was not counted before.
async fn collect(site: &Site, request: Request) -> Result<(Bytes, Option<(Hold, Option<Hold>)>), Problem> {
    let content = Content::of(&request);
    let (max, patience) = content.limits(site);
    let size = request.body().size_hint();
    if size.lower() > max as u64 {
        return Err(content.too_large(site));
    }
    let is_read = request.extensions().get::<IsRead>().is_some();
    let mut parts = request.into_body().into_data_stream();
    if is_read {
        return Ok((parts.next().await.transpose().map_err(broken)?.unwrap_or_default(), None));
    }
    let slow = |_elapsed| {
        let message = format!("the body did not come within {patience:?}");
        Problem::new(Code::RequestTimeout, message)
    };
    // A body of unknown size may be as large as any.
    let size = size.exact().and_then(|size| usize::try_from(size).ok()).unwrap_or(max);
    if size <= SMALL {
        let collected = async {
            let mut bytes = Vec::with_capacity(size);
            while let Some(part) = parts.next().await {
                bytes.extend_from_slice(&part.map_err(broken)?);
            }
            Ok((Bytes::from(bytes), None))
        };
        return timeout(patience, collected).await.map_err(slow)?;
    }
    let mut hold = content.hold(site, size).await?;
    let collected = async {
        let mut buffer = Buffer::new(size).map_err(|_no_memory| body_memory::full())?;
        while let Some(part) = parts.next().await {
            buffer.add(&part.map_err(broken)?).map_err(|_no_room| content.too_large(site))?;
        }
        Ok::<_, Problem>(buffer)
    };
    let buffer = timeout(patience, collected).await.map_err(slow)??;
    hold.shrink(buffer.as_ref().len());
    let values = match content {
        Content::Unproven | Content::Other => site.memory.values(buffer.as_ref()).await?,
        Content::File | Content::WithFiles => None,
    };
    Ok((buffer.into(), Some((hold, values))))
}

fn broken(_error: axum::Error) -> Problem {
    Problem::bad_request("the body broke off, or is not chunked as it should be")
}

impl Sent {
    /// Returns a value that came another way than as a body.
    pub(crate) fn of(value: Value) -> Sent {
        Sent::with_warnings(value, Vec::new())
    }

    /// Returns a frame, with the warnings about its unknown fields.
    pub(crate) fn with_warnings(value: Value, warnings: Vec<String>) -> Sent {
        Sent(value, Bytes::new(), warnings)
    }

    /// Returns the warnings about unknown fields of a frame.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.2
    }

    /// Returns the value, and the body that it came in, which counts its memory.
    pub(crate) fn into_parts(self) -> (Value, Bytes) {
        (self.0, self.1)
    }

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
        self.0.as_object().ok_or_else(no_object)
    }
}

/// Returns the problem of a body that is another value.
pub(crate) fn no_object() -> Problem {
    Problem::bad_request("the body must be a JSON object")
}

pub(crate) fn json_or_untyped(headers: &HeaderMap) -> bool {
    !headers.contains_key(CONTENT_TYPE) || is_json(headers)
}

/// Returns whether the type of a body is JSON, or of a form of it.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let Some(given) = headers.get(CONTENT_TYPE) else { return false };
    let essence = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}
