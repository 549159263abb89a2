//! Files in the messages of OpenAI's clients: pictures and documents as `data:` addresses, or the ids of attachments.
//! They are stored as uploads are, and attached to the message or the run.

use std::path::Path;
use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine as _};
use consort_core::attachments::ATTACHMENTS_MAX;
use consort_core::message::Attached;
use consort_tools::extract::MediaType;
use consort_tools::{attachments, busy};
use serde_json::{Map, Value};

use super::Edge;
use super::error::wrong;
use super::request::Asked;
use crate::Site;
use crate::body::{self, Sent};
use crate::problem::{Code, More, Problem};

/// The types of the parts of a message that are files.
pub(super) const FILE_PARTS: [&str; 4] = ["image_url", "input_image", "file", "input_file"];
/// The characters of a file's name at most.
const NAME_MAX: usize = 255;
/// The beginning of an address that holds the bytes themselves.
const SCHEME: &str = "data:";
/// The end of the part of such an address before its bytes.
const ENCODING: &str = ";base64";

/// A file of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Brought {
    /// The file itself.
    Inline {
        name: Option<String>,
        kind: MediaType,
        bytes: Vec<u8>,
        /// The length of the text that it was sent as.
        written: usize,
        /// The field that it came in.
        place: String,
    },
    /// An attachment, by its id.
    Stored(String),
}

impl Brought {
    /// Reads a part of a message that is a file.
    pub(super) fn read(part: &Value, place: &str) -> Result<Brought, Problem> {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        let fields = if kind == "file" { part.get("file").unwrap_or(&Value::Null) } else { part };
        let text = |name: &str| match fields.get(name) {
            // Completions have an object where responses have the address itself.
            Some(Value::Object(inner)) => inner.get("url").and_then(Value::as_str),
            given => given.and_then(Value::as_str),
        };
        if let Some(id) = text("file_id") {
            return Ok(Brought::Stored(id.to_owned()));
        }
        let name = text("filename").and_then(plain_name);
        let data = text("image_url").or_else(|| text("file_data"));
        let Some(data) = data else {
            let wanted = "must have its bytes as a `data:` address, or the `file_id` of an attachment; addresses of \
                other places are not fetched";
            return Err(wrong(place, format!("a part of type '{kind}' {wanted}")));
        };
        inline(data, name, place).map_err(|reason| wrong(place, format!("a part of type '{kind}' {reason}")))
    }

    /// Returns the words that stand for it where it is not shown.
    pub(super) fn mark(&self) -> String {
        match self {
            Brought::Inline { name, kind, .. } => format!("[attached: {}]", name.as_deref().unwrap_or(&kind.essence)),
            Brought::Stored(id) => format!("[attached: {id}]"),
        }
    }

    /// Returns the length of the text that it was sent as.
    fn written(&self) -> usize {
        match self {
            Brought::Inline { written, .. } => *written,
            Brought::Stored(_) => 0,
        }
    }
}

/// Reads the bytes of a file: `data:<type>;base64,<bytes>`, or the bytes alone where its name says the type.
fn inline(data: &str, name: Option<String>, place: &str) -> Result<Brought, String> {
    let written = data.len();
    let (declared, encoded) = match data.split_at_checked(SCHEME.len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(SCHEME) => parts(rest)?,
        Some(_) | None if data.contains("://") => {
            return Err("must bring its bytes: addresses are not fetched".to_owned());
        }
        Some(_) | None => ("", data),
    };
    let kind = match (MediaType::parse(declared), &name) {
        (kind, _) if !["", "application/octet-stream"].contains(&kind.essence.as_str()) => kind,
        (_, Some(name)) => MediaType::of_file(Path::new(name)),
        (_, None) => return Err("must say its type, in its `data:` address or by its `filename`".to_owned()),
    };
    let bytes = STANDARD.decode(encoded.trim()).map_err(|error| unreadable(&error))?;
    Ok(Brought::Inline { name, kind, bytes, written, place: place.to_owned() })
}

/// Returns the type and the base64 of an address, without its scheme.
fn parts(address: &str) -> Result<(&str, &str), String> {
    let form = "it is written as `data:<type>;base64,<bytes>`";
    let (head, data) =
        address.split_once(',').ok_or_else(|| format!("has a `data:` address without a comma; {form}"))?;
    let split = head.len().saturating_sub(ENCODING.len());
    match head.split_at_checked(split) {
        Some((declared, encoding)) if encoding.eq_ignore_ascii_case(ENCODING) => Ok((declared, data)),
        Some(_) | None => Err(format!("has a `data:` address without `{ENCODING}` before its comma; {form}")),
    }
}

/// Returns the reason why bytes cannot be decoded.
fn unreadable(error: &DecodeError) -> String {
    let why = match error {
        DecodeError::InvalidByte(at, byte) => {
            format!("character {} of it, '{}', is none of base64", at + 1, char::from(*byte).escape_default())
        }
        DecodeError::InvalidLength(_) | DecodeError::InvalidLastSymbol(..) => "it breaks off".to_owned(),
        DecodeError::InvalidPadding => "the `=` at its end are missing, or too many".to_owned(),
    };
    format!("must be in base64: {why}")
}

/// Returns a name without folders and control characters; none when nothing is left.
fn plain_name(given: &str) -> Option<String> {
    let name = given.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let name: String = name.chars().filter(|sign| !sign.is_control()).take(NAME_MAX).collect();
    Some(name).filter(|name| !name.is_empty())
}

/// Returns the files of the last message, and then the newest of those before it that may come along.
pub(super) fn newest(last: Vec<Brought>, earlier: Vec<Brought>, place: &str) -> Result<Vec<Brought>, Problem> {
    let room = ATTACHMENTS_MAX.checked_sub(last.len());
    let room = room.ok_or_else(|| wrong(place, format!("a message has at most {ATTACHMENTS_MAX} files")))?;
    let left_out = earlier.len().saturating_sub(room);
    Ok(last.into_iter().chain(earlier.into_iter().skip(left_out)).collect())
}

impl Edge {
    /// Stores the files of a request for its owner, and attaches them.
    pub(super) async fn upload(&self, asked: &mut Asked) -> Result<(), Problem> {
        asked.files = self.uploaded(&asked.brought).await?;
        Ok(())
    }

    async fn uploaded(&self, brought: &[Brought]) -> Result<Vec<Attached>, Problem> {
        let max = self.site.server.max_attachment_bytes;
        let mut ids = Vec::with_capacity(brought.len());
        for file in brought {
            ids.push(match file {
                Brought::Stored(id) => id.clone(),
                Brought::Inline { bytes, place, .. } if bytes.len() > max => {
                    let message =
                        format!("a file of {} bytes; [server] max_attachment_bytes allows {max}", bytes.len());
                    return Err(at(place, Problem::new(Code::PayloadTooLarge, message)));
                }
                Brought::Inline { name, kind, bytes, place, .. } => {
                    let stored = self.runs.store_attachment((name.as_deref(), kind), bytes).await;
                    stored.map_err(|error| refused(error, place))?.id
                }
            });
        }
        Ok(self.runs.attached(&ids).await?)
    }
}

/// Returns the problem of a file that is not stored.
fn refused(error: attachments::Error, place: &str) -> Problem {
    let is_of_file = matches!(error, attachments::Error::Empty | attachments::Error::Unsupported(_));
    let problem = Problem::from(error);
    if is_of_file { at(place, problem) } else { problem }
}

fn at(place: &str, problem: Problem) -> Problem {
    problem.with(More { param: Some(place.to_owned()), ..More::default() })
}

/// A request body that may hold files.
pub(super) struct SentWithFiles {
    sent: Sent,
    /// The length of the body.
    bytes: usize,
    /// The length that it may have without its files.
    max: usize,
}

impl FromRequest<Arc<Site>> for SentWithFiles {
    type Rejection = Problem;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<SentWithFiles, Problem> {
        let (sent, bytes) = body::sized(request, site).await?;
        Ok(SentWithFiles { sent, bytes, max: site.server.max_body_bytes })
    }
}

impl SentWithFiles {
    /// Reads the request in it; what is no file must be as short as any other body.
    pub(super) fn asked(
        &self,
        read: impl FnOnce(&Map<String, Value>) -> Result<Asked, Problem>,
    ) -> Result<Asked, Problem> {
        let fields = self.sent.object()?;
        let is_large = self.bytes > busy::BYTES;
        let asked = if is_large { busy::in_place(|| read(fields)) } else { read(fields) }?;
        let rest = self.bytes.saturating_sub(asked.brought.iter().map(Brought::written).sum());
        if rest <= self.max {
            return Ok(asked);
        }
        let message =
            format!("the body without its files has {rest} bytes; [server] max_body_bytes allows {}", self.max);
        Err(Problem::new(Code::PayloadTooLarge, message))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(part: &Value) -> Result<Brought, String> {
        Brought::read(part, "messages[0]").map_err(|problem| problem.message().to_owned())
    }

    fn inline(name: Option<&str>, kind: &str) -> Brought {
        let written = if kind == "text/csv" { 4 } else { format!("data:{kind};base64,").len() + 4 };
        let name = name.map(str::to_owned);
        let place = "messages[0]".to_owned();
        Brought::Inline { name, kind: MediaType::parse(kind), bytes: b"hey".to_vec(), written, place }
    }

    #[test]
    fn a_file_comes_as_each_of_the_clients_writes_it() {
        let picture = "data:image/png;base64,aGV5";
        let cases = [
            (
                json!({ "type": "image_url", "image_url": { "url": picture, "detail": "low" } }),
                inline(None, "image/png"),
            ),
            (json!({ "type": "input_image", "image_url": picture }), inline(None, "image/png")),
            (json!({ "type": "input_image", "image_url": "DATA:image/png;BASE64,aGV5" }), inline(None, "image/png")),
            (json!({ "type": "input_image", "file_id": "att-1" }), Brought::Stored("att-1".to_owned())),
            (
                json!({ "type": "file", "file": { "file_data": "aGV5", "filename": "C:\\files\\a.csv" } }),
                inline(Some("a.csv"), "text/csv"),
            ),
            (
                json!({ "type": "input_file", "file_data": "data:application/pdf;base64,aGV5", "filename": "a" }),
                inline(Some("a"), "application/pdf"),
            ),
        ];
        for (part, expected) in cases {
            assert_eq!(read(&part).unwrap(), expected, "{part}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_says_what_is_wrong() {
        let cases = [
            (json!({ "type": "image_url" }), "must have its bytes"),
            (json!({ "type": "input_file", "file_url": "https://example.com/a.pdf" }), "are not fetched"),
            (json!({ "type": "image_url", "image_url": { "url": "https://example.com/a.png" } }), "are not fetched"),
            (
                json!({ "type": "input_image", "image_url": "data:image/png,aGV5" }),
                "without `;base64` before its comma",
            ),
            (json!({ "type": "input_image", "image_url": "data:" }), "without a comma"),
            (json!({ "type": "input_image", "image_url": "data:ä,aGV5" }), "without `;base64` before its comma"),
            (json!({ "type": "input_image", "image_url": "data:;base64,aGV5" }), "must say its type"),
            (
                json!({ "type": "input_image", "image_url": "data:image/png;base64,aG*5" }),
                "character 3 of it, '*', is none",
            ),
            (json!({ "type": "input_image", "image_url": "data:image/png;base64,aGV5a" }), "it breaks off"),
            (json!({ "type": "input_image", "image_url": "data:image/png;base64,aGU" }), "the `=` at its end"),
            (json!({ "type": "input_image", "image_url": "ä" }), "must say its type"),
            (json!({ "type": "file", "file": { "file_data": "aGV5" } }), "must say its type"),
        ];
        for (part, expected) in cases {
            let told = read(&part).unwrap_err();
            assert!(told.contains(expected), "{part}: {told}");
        }
    }

    #[test]
    fn of_earlier_files_the_newest_come_along() {
        let stored = |from: usize, to: usize| (from..to).map(|n| Brought::Stored(n.to_string())).collect::<Vec<_>>();
        let kept = newest(stored(30, 32), stored(0, 30), "messages").unwrap();
        assert_eq!(kept, [stored(30, 32), stored(12, 30)].concat());
        assert!(newest(stored(0, 21), Vec::new(), "messages").is_err());
    }
}
