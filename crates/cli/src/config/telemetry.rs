//! `[telemetry]`: where it is told what took how long.

use std::time::Duration;

use consort_http::headers::Headers;
use consort_runtime::telemetry::Protocol;

use super::fields::Fields;
use super::headers;
use super::models::WEB;
use super::secret::Address;
use super::values::{address, duration, flag, share, text, word};

/// Where spans are sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Telemetry {
    /// The collector.
    pub(crate) otlp_endpoint: Address,
    /// What is sent along with every request.
    pub(crate) headers: Headers,
    /// The form they are sent in.
    pub(crate) protocol: Protocol,
    /// Whether prompts and answers are sent too.
    pub(crate) content: bool,
    /// What this server is called there.
    pub(crate) service_name: String,
    /// The share of traces that begin here and are sent.
    pub(crate) sample: f64,
    /// How long one request may take.
    pub(crate) timeout: Duration,
}

const PROTOCOLS: &[(&str, Protocol)] = &[("http/protobuf", Protocol::Protobuf), ("http/json", Protocol::Json)];

/// Reads `[telemetry]`.
pub(super) fn read(fields: &mut Fields<'_>) -> Telemetry {
    Telemetry {
        otlp_endpoint: fields.need("otlp_endpoint", address(WEB)).unwrap_or_default(),
        headers: headers::read(fields, &["content-type"]),
        protocol: fields.read("protocol", word(PROTOCOLS)).unwrap_or_default(),
        content: fields.read("content", flag).unwrap_or(false),
        service_name: fields.read("service_name", text).unwrap_or_else(|| "consort".to_owned()),
        sample: fields.read("sample", share).unwrap_or(1.0),
        timeout: fields.read("timeout", duration).unwrap_or(Duration::from_secs(10)),
    }
}
