//! The wire as the seeds and the control API's description write it.

use std::time::Duration;

use serde_json::json;

use super::*;

fn same(text: &str) -> Frame {
    let frame = Frame::read(text).unwrap();
    let written: Value = serde_json::to_value(&frame).unwrap();
    let given: Value = serde_json::from_str(text).unwrap();
    assert_eq!(written.to_string(), given.to_string(), "field by field, in the same order");
    frame
}

#[test]
fn discovery_reads_and_writes_the_json_of_the_seed_verbatim() {
    let query = same(
        r#"{
"type": "capability_query",
"capabilityName": "check-inventory",
"tag": "food"
}"#,
    );
    let response = same(
        r#"{
"type": "capability_response",
"capabilities": [
{
"name": "check-inventory",
"description": "Check current inventory levels",
"type": "TOOL",
"tags": ["food", "stock"]
}
]
}"#,
    );
    let (Frame::CapabilityQuery(query), Frame::CapabilityResponse(response)) = (query, response) else { panic!() };
    assert!(query.matches(&response.capabilities[0]));
    assert!(!CapabilityQuery { tag: Some("Food".to_owned()), ..query }.matches(&response.capabilities[0]));
}

#[test]
fn a_query_in_the_words_of_the_original_means_the_same() {
    let text = r#"{"type":"capability_query","requestId":"q1","from":"local","toolName":"a","capabilityType":"TASK"}"#;
    let Frame::CapabilityQuery(query) = Frame::read(text).unwrap() else { panic!() };
    let expected = CapabilityQuery {
        request_id: Some("q1".to_owned()),
        capability_name: Some("a".to_owned()),
        tag: None,
        capability_type: Some(CapabilityKind::Task),
    };
    assert_eq!(query, expected);
}

#[test]
fn every_frame_of_a_piece_of_work_has_the_fields_of_the_description() {
    same(
        r#"{"type":"task_request","requestId":"r","from":"local","task":"prepare-meal","context":"c","priority":"CRITICAL","deadline":"PT30M","delivery":{"method":"WEBSOCKET"},"traceContext":{"traceparent":"00-1-2-01","tracestate":"x"},"cachePolicy":"USE_CACHED","cacheKey":"k","maxAge":"PT1M"}"#,
    );
    same(
        r#"{"type":"task_request","requestId":"r","from":"a","task":"t","ancestors":["a"],"hops":7,"budget":{"tokens":5,"costNanoUsd":6},"resumed":true}"#,
    );
    same(
        r#"{"type":"tool_request","requestId":"r","from":"local","tool":"check-inventory","input":"salt","traceContext":{"traceparent":"00-1-2-01"}}"#,
    );
    same(r#"{"type":"task_accepted","requestId":"r","queuePosition":0,"estimatedCompletion":"PT30S"}"#);
    same(r#"{"type":"task_progress","requestId":"r","status":"RUNNING","message":"m","percentComplete":50}"#);
    same(r#"{"type":"task_response","requestId":"r","status":"COMPLETED","result":"done","durationMs":5}"#);
    same(
        r#"{"type":"tool_response","requestId":"r","status":"FAILED","error":"no","durationMs":5,"unknown":true,"usage":{"inputTokens":1,"outputTokens":2,"inputCostNanoUsd":3,"outputCostNanoUsd":4}}"#,
    );
    same(r#"{"type":"task_response","requestId":"r","status":"IN_PROGRESS"}"#);
    same(r#"{"type":"request_cancel","requestId":"r"}"#);
    same(
        r#"{"type":"capacity_update","ensemble":"kitchen","realm":"downtown","status":"available","currentLoad":0.25,"maxConcurrent":32,"shareable":true}"#,
    );
    same(
        r#"{"type":"peer_hello","ensemble":"room","realm":"downtown","version":"0.1.0","sharedCapabilities":[],"leaseMs":15000}"#,
    );
}

#[test]
fn a_hello_is_read_whatever_else_it_holds_and_unknown_frames_are_passed_over() {
    let text = json!({ "type": "hello", "ensembleId": "e", "snapshotTrace": [{ "type": "x" }], "ensemble": "kitchen",
        "sharedCapabilities": [{ "name": "a", "description": null, "type": "TASK", "tags": null }] });
    let Frame::Hello(hello) = Frame::read(&text.to_string()).unwrap() else { panic!() };
    assert_eq!(hello.ensemble.as_deref(), Some("kitchen"));
    assert_eq!(hello.shared_capabilities[0].description, "");
    assert_eq!(Frame::read(r#"{"type":"token","token":"x"}"#).unwrap(), Frame::Other);
    assert!(Frame::read(r#"{"type":"tool_request","from":"x"}"#).is_err());
}

#[test]
fn a_span_is_read_as_iso_or_as_seconds_and_nothing_else() {
    let read = |text: &str| serde_json::from_str::<Span>(text).ok().map(|span| span.0);
    assert_eq!(read("\"PT1H\""), Some(Duration::from_secs(3600)));
    assert_eq!(read("1.5"), Some(Duration::from_millis(1500)));
    for wrong in ["\"soon\"", "-1", "\"-PT1S\"", "null", "1e300"] {
        assert_eq!(read(wrong), None, "{wrong}");
    }
}

#[test]
fn made_up_frames_are_refused_or_mean_the_same_when_written_again() {
    let examples = [
        r#"{"type":"peer_hello","ensemble":"a","realm":"r","version":"1","leaseMs":15000,"sharedCapabilities":[{"name":"x","description":"d","type":"TOOL","tags":["t"]}]}"#,
        r#"{"type":"task_request","requestId":"r","from":"local","task":"prepare-meal","context":"c","priority":"CRITICAL","deadline":"PT30M","delivery":{"method":"WEBSOCKET"},"traceContext":{"traceparent":"00-1-2-01","tracestate":"x"},"cachePolicy":"USE_CACHED","cacheKey":"k","maxAge":"PT1M"}"#,
        r#"{"type":"tool_request","requestId":"r","from":"local","tool":"check-inventory","input":"salt","ancestors":["a"],"hops":3}"#,
        r#"{"type":"tool_response","requestId":"r","status":"COMPLETED","result":"42","durationMs":3}"#,
        r#"{"type":"task_accepted","requestId":"r"}"#,
        r#"{"type":"capability_query","requestId":"q1","toolName":"a","capabilityType":"TASK","tag":"x"}"#,
        r#"{"type":"capacity_update","load":0.5,"active":3}"#,
        r#"{"type":"request_cancel","requestId":"r"}"#,
    ];
    consort_fuzz::text(&examples, |text| match Frame::read(text) {
        Ok(frame) => assert_eq!(Frame::read(&frame.text()).ok(), Some(frame)),
        Err(error) => assert!(!error.to_string().is_empty()),
    });
}
