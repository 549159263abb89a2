//! `[telemetry]`: the export of traces.

use std::time::Duration;

use consort_runtime::telemetry::{Options, Protocol};

use super::fields::Fields;
use super::headers;
use super::models::WEB;
use super::values::{address, duration, flag, share, text, word};

const PROTOCOLS: &[(&str, Protocol)] = &[("http/protobuf", Protocol::Protobuf), ("http/json", Protocol::Json)];

/// Reads `[telemetry]`.
pub(super) fn read(fields: &mut Fields<'_>) -> Options {
    Options {
        endpoint: fields.need("otlp_endpoint", address(WEB)).unwrap_or_default(),
        headers: headers::read(fields, &["content-type"]),
        protocol: fields.read("protocol", word(PROTOCOLS)).unwrap_or_default(),
        content: fields.read("content", flag).unwrap_or(false),
        service: fields.read("service_name", text).unwrap_or_else(|| "consort".to_owned()),
        sample: fields.read("sample", share).unwrap_or(1.0),
        timeout: fields.read("timeout", duration).unwrap_or(Duration::from_secs(10)),
    }
}
