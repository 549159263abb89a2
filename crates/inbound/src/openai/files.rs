//! Files in the messages of OpenAI's clients: pictures and documents as `data:` addresses, or the ids of attachments.

use std::path::Path;

use axum::body::Bytes;
use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, DecodeSliceError, Engine as _};
use consort_core::attachments::ATTACHMENTS_MAX;
use consort_tools::buffer::Buffer;
use consort_tools::extract::MediaType;
use serde_json::Value;

use super::error::wrong;
use super::split_body::marked;
use crate::problem::Problem;

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
pub enum Brought {
    /// The file itself.
    Inline {
        /// The name, if it has one.
        name: Option<String>,
        /// The type.
        kind: MediaType,
        /// The content.
        bytes: Bytes,
        /// The number of the file, when its text was left in the body: then its bytes are still to be read.
        left: Option<usize>,
        /// The field that it came in.
        place: String,
    },
    /// An attachment, by its id.
    Stored(String),
}

impl Brought {
    /// Reads a part of a message that is a file.
    pub fn read(part: &Value, place: &str) -> Result<Brought, Problem> {
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

    /// Reads the bytes of a file whose text was left in the body.
    pub fn fill(&mut self, texts: &[Bytes]) -> Result<(), Problem> {
        let Brought::Inline { bytes, left, place, .. } = self else { return Ok(()) };
        let Some(number) = left.take() else { return Ok(()) };
        let read = || {
            let text = texts.get(number).ok_or("must be in base64")?;
            let text = std::str::from_utf8(text).map_err(|_| "must be in base64")?;
            let encoded = if is_address(text) { text.split_once(',').map_or("", |(_, encoded)| encoded) } else { text };
            decoded(encoded)
        };
        *bytes = read().map_err(|reason: String| wrong(place, format!("a file {reason}")))?;
        Ok(())
    }
}

/// Reads the bytes of a file: `data:<type>;base64,<bytes>`, or the bytes alone where its name says the type.
fn inline(data: &str, name: Option<String>, place: &str) -> Result<Brought, String> {
    let (left, data) = marked(data).map_or((None, data), |(number, head)| (Some(number), head));
    let (declared, encoded) = match data.split_at_checked(SCHEME.len()) {
        Some((_, rest)) if is_address(data) => parts(rest)?,
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
    let bytes = decoded(encoded)?;
    Ok(Brought::Inline { name, kind, bytes, left, place: place.to_owned() })
}

fn is_address(data: &str) -> bool {
    data.get(..SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME))
}

/// Returns the bytes that a text in base64 stands for.
fn decoded(encoded: &str) -> Result<Bytes, String> {
    let encoded = encoded.trim();
    let mut buffer = Buffer::new(base64::decoded_len_estimate(encoded.len())).map_err(|error| error.to_string())?;
    let read = buffer.fill(|room| STANDARD.decode_slice(encoded, room));
    match read {
        Ok(()) => Ok(buffer.into()),
        Err(DecodeSliceError::DecodeError(error)) => Err(unreadable(&error)),
        Err(error @ DecodeSliceError::OutputSliceTooSmall) => Err(error.to_string()),
    }
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
pub fn newest(last: Vec<Brought>, earlier: Vec<Brought>, place: &str) -> Result<Vec<Brought>, Problem> {
    let room = ATTACHMENTS_MAX.checked_sub(last.len());
    let room = room.ok_or_else(|| wrong(place, format!("a message has at most {ATTACHMENTS_MAX} files")))?;
    let left_out = earlier.len().saturating_sub(room);
    Ok(last.into_iter().chain(earlier.into_iter().skip(left_out)).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(part: &Value) -> Result<Brought, String> {
        Brought::read(part, "messages[0]").map_err(|problem| problem.message().to_owned())
    }

    fn inline(name: Option<&str>, kind: &str) -> Brought {
        let name = name.map(str::to_owned);
        let place = "messages[0]".to_owned();
        Brought::Inline { name, kind: MediaType::parse(kind), bytes: Bytes::from("hey"), left: None, place }
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
