//! `[telemetry]`: where it is told what took how long.

use std::collections::BTreeMap;
use std::time::Duration;

use super::fields::Fields;
use super::mcp::hidden;
use super::models::WEB;
use super::secret::{Address, Secret};
use super::values::{address, duration, share, text};

/// Where spans are sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Telemetry {
    /// The collector.
    pub(crate) otlp_endpoint: Address,
    /// What is sent along with every request.
    pub(crate) headers: BTreeMap<String, Secret>,
    /// What this server is called there.
    pub(crate) service_name: String,
    /// The share of traces that begin here and are sent.
    pub(crate) sample: f64,
    /// How long one request may take.
    pub(crate) timeout: Duration,
}

/// Reads `[telemetry]`.
pub(super) fn read(fields: &mut Fields<'_>) -> Telemetry {
    Telemetry {
        otlp_endpoint: fields.need("otlp_endpoint", address(WEB)).unwrap_or_default(),
        headers: fields.map("headers", hidden),
        service_name: fields.read("service_name", text).unwrap_or_else(|| "consort".to_owned()),
        sample: fields.read("sample", share).unwrap_or(1.0),
        timeout: fields.read("timeout", duration).unwrap_or(Duration::from_secs(10)),
    }
}
