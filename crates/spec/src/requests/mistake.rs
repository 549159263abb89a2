//! A mistake in a request: a message for people, with a code for programs. Checks collect mistakes instead
//! of stopping at the first.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use strum::IntoStaticStr;

use crate::text::shortened;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The code, for programs.
    pub code: Code,
    /// The path into the request (`tasks[1].tools[0]`); may be empty.
    pub place: String,
    /// The message for people: what is wrong and what is allowed.
    pub message: String,
}

/// Kinds of mistakes, with the names they have on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(rename = "MistakeCode")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// Anything without a code of its own.
    BadRequest,
    /// A tool that does not exist.
    InvalidTool,
    /// A model that does not exist or may not be used.
    InvalidModel,
    /// A picture for a model that takes none.
    ModelCannotSee,
    /// An override that matches no task, or more than one.
    InvalidTaskOverride,
    /// Tasks that wait on each other.
    CircularDependency,
    /// Template variables without a value.
    MissingInput,
    /// An output schema that cannot be used.
    InvalidSchema,
    /// An expression that cannot be used, or that names something unknown.
    InvalidExpression,
    /// Texts that are too long once their variables are replaced.
    TemplateTooLarge,
    /// Nothing to run, or nothing to run it with.
    NotConfigured,
    /// A chat message wants an image, a sound or a film.
    #[serde(rename = "media_generation_unavailable")]
    #[strum(serialize = "media_generation_unavailable")]
    MediaGenerationUnavailable,
}

impl Code {
    /// Returns the word on the wire.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

impl Mistake {
    /// Creates a mistake.
    pub fn new(code: Code, place: impl Into<String>, message: impl Into<String>) -> Mistake {
        Mistake { code, place: shortened(place.into()), message: shortened(message.into()) }
    }

    /// Returns the message of the protocol: without the path where the message itself names the wrong value.
    pub fn protocol_message(&self) -> String {
        match self.code {
            Code::InvalidTool | Code::InvalidModel | Code::InvalidTaskOverride | Code::CircularDependency => {
                self.message.clone()
            }
            Code::BadRequest
            | Code::MissingInput
            | Code::InvalidSchema
            | Code::InvalidExpression
            | Code::TemplateTooLarge
            | Code::NotConfigured
            | Code::ModelCannotSee
            | Code::MediaGenerationUnavailable => self.to_string(),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => out.write_str(&self.message),
            place => write!(out, "{place}: {}", self.message),
        }
    }
}

/// The number of names listed at once; the full list can be requested separately.
const LISTED_MAX: usize = 100;

/// Returns available names as a list: `[a, b]`.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let shown: Vec<&str> = names.by_ref().take(LISTED_MAX).collect();
    match names.count() {
        0 => format!("[{}]", shown.join(", ")),
        more => format!("[{}, and {more} more]", shown.join(", ")),
    }
}
