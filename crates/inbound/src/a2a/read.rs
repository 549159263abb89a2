//! The parameters of requests, read field by field with a reason for each that is wrong. As ProtoJSON has it, a field
//! may be written in camel case or as in the protocol's own definition, and null is as good as absent.

use std::ops::RangeInclusive;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use consort_tools::extract::MediaType;
use serde_json::{Map, Value};

use super::error::{A2aError, Fault};

/// Parts of one message: more than a person or an agent says at once.
const PARTS_MAX: usize = 100;
/// Bytes of the id of a message, a task, a context or an address: each is stored with a run.
pub(crate) const ID_MAX: usize = 255;
/// The key of a message's metadata that names the skill.
const SKILL: &str = "skillId";

/// The fields of an object.
pub type Fields = Map<String, Value>;

/// A message as it was sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// The id that the client gave it.
    pub id: String,
    /// The context that it belongs to, if it names one.
    pub context: Option<String>,
    /// The task that it belongs to, if it names one.
    pub task: Option<String>,
    /// The skill that it asks for.
    pub skill: Option<String>,
    /// The texts, joined.
    pub text: String,
    /// The fields of the objects that it brings.
    pub data: Fields,
    /// The files that it brings.
    pub files: Vec<File>,
    /// The message as JSON, by which it is known again.
    pub print: String,
}

/// A file as part of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// The name, if it has one.
    pub name: Option<String>,
    /// The media type.
    pub kind: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// The part of a request that says how it is answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SendOptions {
    /// Messages of the history at most.
    pub history: Option<usize>,
    /// Whether the task is returned as soon as it is accepted.
    pub at_once: bool,
    /// The address that is told of the task.
    pub push: Option<Address>,
}

/// An address that is told of a task, as it was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// The id that the client gave it.
    pub id: Option<String>,
    /// The address itself.
    pub url: String,
    /// The text that is sent along, by which the receiver knows the sender.
    pub token: Option<String>,
    /// The scheme and the credentials.
    pub authentication: Option<(String, String)>,
}

/// Returns a field that is not null.
pub fn field<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    let given = fields.get(name).or_else(|| fields.get(&snake(name)));
    given.filter(|value| !value.is_null())
}

fn snake(name: &str) -> String {
    let spelled = |letter: char| match letter.is_ascii_uppercase() {
        true => format!("_{}", letter.to_ascii_lowercase()),
        false => letter.to_string(),
    };
    name.chars().map(spelled).collect()
}

/// Returns a text that is not empty.
pub fn text<'a>(fields: &'a Fields, name: &str) -> Result<Option<&'a str>, A2aError> {
    match field(fields, name) {
        None => Ok(None),
        // Protocol Buffers know no absent text.
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(A2aError::wrong(name, "must be a text")),
    }
}

/// Returns an id, which is stored and therefore limited.
pub fn id<'a>(fields: &'a Fields, name: &str) -> Result<Option<&'a str>, A2aError> {
    let given = text(fields, name)?;
    match given {
        Some(id) if id.len() > ID_MAX || id.chars().any(char::is_control) || id.trim().is_empty() => {
            Err(A2aError::wrong(name, format!("must be a text of 1 to {ID_MAX} bytes without control characters")))
        }
        given => Ok(given),
    }
}

/// Returns an id that must be there.
pub fn needed_id<'a>(fields: &'a Fields, name: &str) -> Result<&'a str, A2aError> {
    id(fields, name)?.ok_or_else(|| A2aError::wrong(name, "is required"))
}

/// Returns whether something is wanted; in a query as a word.
pub fn flag(fields: &Fields, name: &str) -> Result<bool, A2aError> {
    match field(fields, name) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(Value::String(word)) if word == "true" => Ok(true),
        Some(Value::String(word)) if word == "false" => Ok(false),
        Some(_) => Err(A2aError::wrong(name, "must be true or false")),
    }
}

/// Returns a whole number within a range; in a query as digits.
pub fn number(fields: &Fields, name: &str, range: RangeInclusive<usize>) -> Result<Option<usize>, A2aError> {
    let given = match field(fields, name) {
        None => return Ok(None),
        Some(Value::String(digits)) => digits.parse().ok(),
        Some(value) => value.as_u64().and_then(|number| usize::try_from(number).ok()),
    };
    let wrong = || {
        let wanted = match *range.end() {
            usize::MAX => format!("must be a whole number of at least {}", range.start()),
            most => format!("must be a whole number from {} to {most}", range.start()),
        };
        A2aError::wrong(name, wanted)
    };
    given.filter(|number| range.contains(number)).map(Some).ok_or_else(wrong)
}

/// Returns the number of messages of the history that are wanted.
pub fn history(fields: &Fields) -> Result<Option<usize>, A2aError> {
    number(fields, "historyLength", 0..=usize::MAX)
}

fn object<'a>(fields: &'a Fields, name: &str) -> Result<Option<&'a Fields>, A2aError> {
    match field(fields, name) {
        None => Ok(None),
        Some(Value::Object(fields)) => Ok(Some(fields)),
        Some(_) => Err(A2aError::wrong(name, "must be an object")),
    }
}

fn parts(message: &Fields) -> Result<&[Value], A2aError> {
    let wrong = |reason: &str| A2aError::wrong("message.parts", reason);
    match field(message, "parts") {
        Some(Value::Array(parts)) if (1..=PARTS_MAX).contains(&parts.len()) => Ok(parts),
        Some(Value::Array(parts)) if parts.is_empty() => Err(wrong("must have at least one part")),
        Some(Value::Array(_)) => Err(wrong(&format!("must have at most {PARTS_MAX} parts"))),
        Some(_) => Err(wrong("must be a list")),
        None => Err(wrong("is required")),
    }
}

impl Message {
    /// Reads the message of a request.
    pub fn read(params: &Fields) -> Result<Message, A2aError> {
        let sent = object(params, "message")?.ok_or_else(|| A2aError::wrong("message", "is required"))?;
        let at = |name: &str| format!("message.{name}");
        let needed = |error: A2aError| error.within("message");
        let message = needed_id(sent, "messageId").map_err(needed)?;
        match text(sent, "role").map_err(needed)? {
            Some("ROLE_USER") => {}
            Some(_) => return Err(A2aError::wrong(&at("role"), "must be ROLE_USER")),
            None => return Err(A2aError::wrong(&at("role"), "is required")),
        }
        let metadata = [object(sent, "metadata")?, object(params, "metadata")?];
        let skill = metadata.into_iter().flatten().map(|fields| id(fields, SKILL)).find_map(Result::transpose);
        let mut read = Message {
            id: message.to_owned(),
            context: id(sent, "contextId").map_err(needed)?.map(str::to_owned),
            task: id(sent, "taskId").map_err(needed)?.map(str::to_owned),
            skill: skill.transpose()?.map(str::to_owned),
            print: Value::Object(sent.clone()).to_string(),
            ..Message::default()
        };
        for (index, part) in parts(sent)?.iter().enumerate() {
            let place = at(&format!("parts[{index}]"));
            let part = part.as_object().ok_or_else(|| A2aError::wrong(&place, "must be an object"))?;
            read.take(part, &place)?;
        }
        Ok(read)
    }

    fn take(&mut self, part: &Fields, place: &str) -> Result<(), A2aError> {
        let wrong = |message: &str| A2aError::wrong(place, message);
        // Data may be null, which is a value.
        let is_there = |name: &&&str| part.get(**name).is_some_and(|value| **name == "data" || !value.is_null());
        let contents: Vec<&str> = ["text", "raw", "url", "data"].iter().filter(is_there).copied().collect();
        let kind = text(part, "mediaType")?.unwrap_or_default();
        match contents.as_slice() {
            ["text"] => {
                let said = part.get("text").and_then(Value::as_str).ok_or_else(|| wrong("`text` must be a text"))?;
                check_kind(kind, place)?;
                let gap = if self.text.is_empty() { "" } else { "\n\n" };
                self.text.push_str(gap);
                self.text.push_str(said);
                Ok(())
            }
            ["data"] => match part.get("data") {
                Some(Value::Object(data)) => {
                    self.data.extend(data.clone());
                    Ok(())
                }
                _ => Err(wrong("`data` must be an object: its fields are inputs, or an answer")),
            },
            ["raw"] => {
                self.files.push(File::read(part, kind, place)?);
                Ok(())
            }
            ["url"] => {
                let message =
                    format!("`{place}` is the address of a file, which is not fetched: send the file as `raw`");
                Err(A2aError::new(Fault::ContentTypeNotSupported, message))
            }
            _ => Err(wrong("must have exactly one of `text`, `data`, `raw` and `url`")),
        }
    }
}

impl File {
    /// Reads a part that is a file of this kind.
    fn read(part: &Fields, kind: &str, place: &str) -> Result<File, A2aError> {
        let wrong = |message: &str| A2aError::wrong(place, message);
        let encoded = part.get("raw").and_then(Value::as_str).unwrap_or_default();
        let engines = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
        let bytes = engines.iter().find_map(|engine| engine.decode(encoded).ok());
        let bytes = bytes.ok_or_else(|| wrong("`raw` must be the bytes of a file in base64"))?;
        if kind.is_empty() {
            return Err(wrong("a file needs its `mediaType`"));
        }
        Ok(File { name: text(part, "filename")?.map(str::to_owned), kind: kind.to_owned(), bytes })
    }
}

/// Checks that a text is one.
fn check_kind(kind: &str, place: &str) -> Result<(), A2aError> {
    let essence = MediaType::parse(kind).essence;
    let is_text = essence.is_empty() || essence.starts_with("text/") || essence.ends_with("json");
    let message = || format!("`{place}` is of the type {essence}: texts are text/* or application/json");
    is_text.then_some(()).ok_or_else(|| A2aError::new(Fault::ContentTypeNotSupported, message()))
}

impl SendOptions {
    /// Reads how a message is to be answered.
    pub fn read(params: &Fields) -> Result<SendOptions, A2aError> {
        let Some(sent) = object(params, "configuration")? else { return Ok(SendOptions::default()) };
        let push = object(sent, "taskPushNotificationConfig")?;
        let within = |error: A2aError| error.within("configuration");
        let address = push.map(Address::read).transpose();
        Ok(SendOptions {
            history: history(sent).map_err(within)?,
            at_once: flag(sent, "returnImmediately").map_err(within)?,
            push: address.map_err(|error| within(error.within("taskPushNotificationConfig")))?,
        })
    }
}

impl Address {
    /// Reads an address.
    pub fn read(sent: &Fields) -> Result<Address, A2aError> {
        let written = |name: &str, value: Option<&str>| match value {
            Some(value) if axum::http::HeaderValue::from_str(value).is_err() => {
                Err(A2aError::wrong(name, "must be a text that a header can hold"))
            }
            value => Ok(value.map(str::to_owned)),
        };
        let url = text(sent, "url")?.ok_or_else(|| A2aError::wrong("url", "is required"))?;
        let authentication = match object(sent, "authentication")? {
            None => None,
            Some(fields) => {
                let scheme = written("authentication.scheme", text(fields, "scheme")?)?;
                let scheme = scheme.ok_or_else(|| A2aError::wrong("authentication.scheme", "is required"))?;
                let credentials = written("authentication.credentials", text(fields, "credentials")?)?;
                Some((scheme, credentials.unwrap_or_default()))
            }
        };
        Ok(Address {
            id: id(sent, "id")?.map(str::to_owned),
            url: url.to_owned(),
            token: written("token", text(sent, "token")?)?,
            authentication,
        })
    }
}
