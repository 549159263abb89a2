//! Spans as OTLP's messages, which are written as protobuf or as JSON: in the
//! latter ids are hexadecimal and 64-bit numbers are strings.

use consort_core::id::Millis;
use consort_core::span::{Attribute, Kind};
use consort_http::trace::span_id;
use prost::{Message, Oneof};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Protocol, RunSpan};

/// The maximum number of characters of a text; names and reasons are shorter.
const TEXT_CHARS_MAX: usize = 1024;
/// The status code of an error.
const STATUS_ERROR: i32 = 2;

/// A request with spans.
#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

/// The description of this process for collectors.
#[derive(Clone, PartialEq, Message, Serialize)]
pub(super) struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<Pair>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
struct Scope {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    version: String,
}

#[derive(Clone, PartialEq, Message, Serialize)]
#[serde(rename_all = "camelCase")]
struct Span {
    #[prost(bytes = "vec", tag = "1")]
    #[serde(serialize_with = "hexadecimal")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    #[serde(serialize_with = "hexadecimal")]
    span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    #[serde(serialize_with = "hexadecimal")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(fixed64, tag = "7")]
    #[serde(serialize_with = "digits")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    #[serde(serialize_with = "digits")]
    end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<Pair>,
    #[prost(message, optional, tag = "15")]
    status: Option<Status>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
struct Status {
    #[prost(string, tag = "2")]
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
    #[prost(int32, tag = "3")]
    #[serde(skip_serializing_if = "is_unset")]
    code: i32,
}

#[derive(Clone, PartialEq, Message, Serialize)]
struct Pair {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message, Serialize)]
struct AnyValue {
    #[prost(oneof = "Held", tags = "1, 3, 5")]
    #[serde(flatten)]
    held: Option<Held>,
}

#[derive(Clone, PartialEq, Oneof, Serialize)]
enum Held {
    #[prost(string, tag = "1")]
    #[serde(rename = "stringValue")]
    Text(String),
    #[prost(int64, tag = "3")]
    #[serde(rename = "intValue", serialize_with = "digits")]
    Whole(i64),
    #[prost(message, tag = "5")]
    #[serde(rename = "arrayValue")]
    List(List),
}

#[derive(Clone, PartialEq, Message, Serialize)]
struct List {
    #[prost(message, repeated, tag = "1")]
    values: Vec<AnyValue>,
}

/// The response of a collector.
#[derive(Clone, PartialEq, Message)]
struct Taken {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, Message)]
struct PartialSuccess {
    #[prost(int64, tag = "1")]
    rejected_spans: i64,
}

/// Returns the description of this process for collectors.
pub(super) fn resource(service: &str) -> Resource {
    let known = [("service.name", service), ("service.version", env!("CARGO_PKG_VERSION"))];
    Resource { attributes: known.iter().map(|(name, value)| pair(name, &(*value).into())).collect() }
}

/// Returns the request with these spans.
pub(super) fn request(resource: &Resource, spans: &[RunSpan]) -> Request {
    let scope = Scope { name: "consort".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let scope_spans = vec![ScopeSpans { scope: Some(scope), spans: spans.iter().map(span).collect() }];
    Request { resource_spans: vec![ResourceSpans { resource: Some(resource.clone()), scope_spans }] }
}

impl Protocol {
    /// Returns the media type of requests and responses.
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Protocol::Protobuf => "application/x-protobuf",
            Protocol::Json => "application/json",
        }
    }

    /// Encodes a request.
    pub(super) fn body(self, request: &Request) -> Vec<u8> {
        match self {
            Protocol::Protobuf => request.encode_to_vec(),
            // Every field is text, a number or a list of them: that cannot fail.
            Protocol::Json => serde_json::to_vec(request).unwrap_or_default(),
        }
    }

    /// Returns the number of spans that a collector reports as refused.
    pub(super) fn refused(self, answer: &[u8]) -> u64 {
        match self {
            Protocol::Protobuf => {
                let taken = Taken::decode(answer).unwrap_or_default();
                taken.partial_success.and_then(|partly| u64::try_from(partly.rejected_spans).ok()).unwrap_or(0)
            }
            Protocol::Json => {
                let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
                let count = answer.pointer("/partialSuccess/rejectedSpans");
                count.and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok())).unwrap_or(0)
            }
        }
    }
}

fn span(told: &RunSpan) -> Span {
    let RunSpan { run, trace, span } = told;
    let parent = match &span.parent {
        Some(place) => span_id(run, place),
        None => trace.span().unwrap_or_default().to_owned(),
    };
    let error = span.error.as_ref().map(|error| Status { code: STATUS_ERROR, message: cut(error) });
    Span {
        trace_id: bytes(trace.id()),
        span_id: bytes(&span_id(run, &span.place)),
        parent_span_id: bytes(&parent),
        name: cut(&span.name),
        kind: kind(span.kind),
        start_time_unix_nano: nanos(span.start),
        end_time_unix_nano: nanos(span.end),
        attributes: span.attributes.iter().map(|(name, value)| pair(name, value)).collect(),
        status: Some(error.unwrap_or_default()),
    }
}

fn kind(kind: Kind) -> i32 {
    match kind {
        Kind::Internal => 1,
        Kind::Client => 3,
    }
}

fn pair(name: &str, value: &Attribute) -> Pair {
    let held = match value {
        Attribute::Text(text) => Held::Text(cut(text)),
        Attribute::Content(text) => Held::Text(text.clone()),
        Attribute::Whole(number) => Held::Whole(i64::try_from(*number).unwrap_or(i64::MAX)),
        Attribute::Texts(texts) => {
            let value = |text: &String| AnyValue { held: Some(Held::Text(cut(text))) };
            Held::List(List { values: texts.iter().map(value).collect() })
        }
    };
    Pair { key: name.to_owned(), value: Some(AnyValue { held: Some(held) }) }
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

fn nanos(at: Millis) -> u64 {
    at.saturating_mul(1_000_000)
}

/// Decodes hexadecimal digits.
fn bytes(digits: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
    digits.as_bytes().chunks(2).filter_map(byte).collect()
}

fn hexadecimal<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn digits<S: Serializer>(number: &impl ToString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&number.to_string())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_unset(code: &i32) -> bool {
    *code == 0
}

#[cfg(test)]
mod tests {
    use consort_core::span;
    use consort_fuzz::judge;
    use consort_http::trace::Trace;
    use serde_json::json;

    use super::*;

    fn told(place: &str, parent: Option<&str>, error: Option<&str>) -> RunSpan {
        let span = span::Span {
            place: place.to_owned(),
            parent: parent.map(str::to_owned),
            name: "chat m".to_owned(),
            kind: Kind::Client,
            start: 1_700_000_000_001,
            end: u64::MAX,
            attributes: vec![
                ("a", "text".into()),
                ("b", 7.into()),
                ("c", Attribute::Texts(vec!["x".to_owned(), "y".to_owned()])),
                ("d", Attribute::Content("é".repeat(2_000))),
            ],
            error: error.map(str::to_owned),
        };
        let trace = Trace::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
        RunSpan { run: "run-1".into(), trace, span }
    }

    fn as_json(request: &Request) -> Value {
        serde_json::from_slice(&Protocol::Json.body(request)).unwrap()
    }

    #[test]
    fn a_span_is_written_as_collectors_read_it() {
        let body = as_json(&request(&resource("me"), &[told("1?1.0", Some("1"), Some("no"))]));
        let expected = json!({
            "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": span_id("run-1", "1?1.0"), "name": "chat m",
            "kind": 3, "startTimeUnixNano": "1700000000001000000", "endTimeUnixNano": "18446744073709551615",
            "attributes": [
                { "key": "a", "value": { "stringValue": "text" } },
                { "key": "b", "value": { "intValue": "7" } },
                { "key": "c", "value": { "arrayValue": { "values": [{ "stringValue": "x" }, { "stringValue": "y" }] } } },
                { "key": "d", "value": { "stringValue": "é".repeat(2_000) } },
            ],
            "parentSpanId": span_id("run-1", "1"), "status": { "code": 2, "message": "no" },
        });
        assert_eq!(body["resourceSpans"][0]["scopeSpans"][0]["spans"], json!([expected]));
        let name = json!({ "key": "service.name", "value": { "stringValue": "me" } });
        assert_eq!(body["resourceSpans"][0]["resource"]["attributes"][0], name);
    }

    #[test]
    fn a_run_is_part_of_what_its_submission_named_and_of_nothing_otherwise() {
        let written = |told: &RunSpan| as_json(&request(&resource("me"), std::slice::from_ref(told)));
        let first = |told: &RunSpan| written(told)["resourceSpans"][0]["scopeSpans"][0]["spans"][0].clone();
        assert_eq!(first(&told(span::RUN, None, None))["parentSpanId"], "00f067aa0ba902b7");
        let trace = Trace::of_run("run-0190a1b2c3d47e5f8091a2b3c4d5e6f7", 1.0);
        let own = first(&RunSpan { trace, ..told(span::RUN, None, None) });
        assert_eq!((&own["parentSpanId"], &own["status"]), (&json!(""), &json!({})));
        assert_eq!(own["traceId"], "0190a1b2c3d47e5f8091a2b3c4d5e6f7");
    }

    #[test]
    fn what_a_collector_would_not_take_is_read_in_both_forms() {
        let partly = Taken { partial_success: Some(PartialSuccess { rejected_spans: 3 }) };
        assert_eq!(Protocol::Protobuf.refused(&partly.encode_to_vec()), 3);
        assert_eq!(Protocol::Json.refused(br#"{"partialSuccess":{"rejectedSpans":"3"}}"#), 3);
        for nonsense in [&b""[..], b"<html>", &[0xff; 9]] {
            assert_eq!((Protocol::Protobuf.refused(nonsense), Protocol::Json.refused(nonsense)), (0, 0));
        }
    }

    #[test]
    fn its_requests_are_what_the_official_decoder_reads() {
        let spans = [told("1?1.0", Some("1"), Some("no")), told(span::RUN, None, None)];
        let request = request(&resource("me"), &spans);
        let digits: String = Protocol::Protobuf.body(&request).iter().map(|byte| format!("{byte:02x}")).collect();
        judge("otlp", &[json!({ "bytes": digits, "means": as_json(&request) })]);
    }
}
