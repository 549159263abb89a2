//! Spans as OTLP's JSON: ids in hexadecimal, times as nanoseconds in strings.

use consort_core::id::Millis;
use consort_core::span::{Attribute, Kind};
use serde_json::{Value, json};

use super::Told;
use crate::trace::span_id;

/// Characters of a text that are sent; names and reasons are shorter.
const TEXT_CHARS_MAX: usize = 1024;
/// What a status says that something went wrong.
const STATUS_ERROR: u8 = 2;

/// What this process is.
pub(super) fn resource(service: &str) -> Value {
    let known = [("service.name", service), ("service.version", env!("CARGO_PKG_VERSION"))];
    let attributes: Vec<Value> = known.iter().map(|(name, value)| pair(name, &(*value).into())).collect();
    json!({ "attributes": attributes })
}

/// The body of a request that tells these spans.
pub(super) fn body(resource: &Value, spans: &[Told]) -> Value {
    let spans: Vec<Value> = spans.iter().map(span).collect();
    let scope = json!({ "name": "consort", "version": env!("CARGO_PKG_VERSION") });
    json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": [{ "scope": scope, "spans": spans }] }] })
}

fn span(told: &Told) -> Value {
    let Told { run, trace, span } = told;
    let parent = match &span.parent {
        Some(place) => span_id(run, place),
        None => trace.span().unwrap_or_default().to_owned(),
    };
    let status = span.error.as_ref().map(|error| json!({ "code": STATUS_ERROR, "message": cut(error) }));
    let attributes: Vec<Value> = span.attributes.iter().map(|(name, value)| pair(name, value)).collect();
    json!({
        "traceId": trace.id(), "spanId": span_id(run, &span.place), "parentSpanId": parent, "name": cut(&span.name),
        "kind": kind(span.kind), "startTimeUnixNano": nanos(span.start), "endTimeUnixNano": nanos(span.end),
        "attributes": attributes, "status": status.unwrap_or_else(|| json!({})),
    })
}

fn kind(kind: Kind) -> u8 {
    match kind {
        Kind::Internal => 1,
        Kind::Client => 3,
    }
}

fn pair(name: &str, value: &Attribute) -> Value {
    let value = match value {
        Attribute::Text(text) => string(text),
        Attribute::Whole(number) => json!({ "intValue": number.to_string() }),
        Attribute::Texts(texts) => {
            let values: Vec<Value> = texts.iter().map(|text| string(text)).collect();
            json!({ "arrayValue": { "values": values } })
        }
    };
    json!({ "key": name, "value": value })
}

fn string(text: &str) -> Value {
    json!({ "stringValue": cut(text) })
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

fn nanos(at: Millis) -> String {
    (u128::from(at) * 1_000_000).to_string()
}

#[cfg(test)]
mod tests {
    use consort_core::span::{RUN, Span};

    use super::*;
    use crate::trace::Trace;

    fn told(place: &str, parent: Option<&str>, error: Option<&str>) -> Told {
        let span = Span {
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
            ],
            error: error.map(str::to_owned),
        };
        let trace = Trace::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
        Told { run: "run-1".into(), trace, span }
    }

    #[test]
    fn a_span_is_written_as_collectors_read_it() {
        let body = body(&resource("me"), &[told("1?1.0", Some("1"), Some("no"))]);
        let expected = json!({
            "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": span_id("run-1", "1?1.0"), "name": "chat m",
            "kind": 3, "startTimeUnixNano": "1700000000001000000", "endTimeUnixNano": "18446744073709551615000000",
            "attributes": [
                { "key": "a", "value": { "stringValue": "text" } },
                { "key": "b", "value": { "intValue": "7" } },
                { "key": "c", "value": { "arrayValue": { "values": [{ "stringValue": "x" }, { "stringValue": "y" }] } } },
            ],
            "parentSpanId": span_id("run-1", "1"), "status": { "code": 2, "message": "no" },
        });
        assert_eq!(body["resourceSpans"][0]["scopeSpans"][0]["spans"], json!([expected]));
        let name = json!({ "key": "service.name", "value": { "stringValue": "me" } });
        assert_eq!(body["resourceSpans"][0]["resource"]["attributes"][0], name);
    }

    #[test]
    fn a_run_is_part_of_what_its_submission_named_and_of_nothing_otherwise() {
        assert_eq!(span(&told(RUN, None, None))["parentSpanId"], "00f067aa0ba902b7");
        let own = Told { trace: Trace::of_run("run-0190a1b2c3d47e5f8091a2b3c4d5e6f7", 1.0), ..told(RUN, None, None) };
        let json = span(&own);
        assert_eq!((&json["parentSpanId"], &json["status"]), (&json!(""), &json!({})));
        assert_eq!(json["traceId"], "0190a1b2c3d47e5f8091a2b3c4d5e6f7");
    }
}
