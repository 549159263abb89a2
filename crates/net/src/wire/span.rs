//! A duration on the wire: an ISO-8601 duration (`PT10M`) or
//! a number of seconds is read; the ISO-8601 form is written.

use std::time::Duration;

use jiff::SignedDuration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let span = SignedDuration::try_from(self.0).unwrap_or(SignedDuration::MAX);
        to.serialize_str(&span.to_string())
    }
}

impl JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Span".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"], "description": "As in `PT30S`, or seconds." })
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Seconds(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Span, D::Error> {
        let wrong = || de::Error::custom("a duration is written like `PT30S`, or as a number of seconds");
        let span = match Written::deserialize(from).map_err(|_neither| wrong())? {
            Written::Seconds(seconds) => Duration::try_from_secs_f64(seconds).ok(),
            Written::Text(text) => text.parse::<SignedDuration>().ok().and_then(|span| Duration::try_from(span).ok()),
        };
        span.map(Span).ok_or_else(wrong)
    }
}
