//! Where an engine tells what took how long.

use std::time::Duration;

use consort_runtime::engine::Engine;
use consort_runtime::telemetry::{Error, Options, Telemetry};

use crate::config::Config;

/// How long the last spans of a process may take to be sent.
const FLUSH_MAX: Duration = Duration::from_secs(5);

/// Connects an engine with the configured collector, if there is one.
pub(super) fn connect(config: &Config, engine: &Engine) -> Result<(), Error> {
    let Some(wanted) = &config.telemetry else { return Ok(()) };
    let options = Options {
        endpoint: wanted.otlp_endpoint.as_str().to_owned(),
        headers: wanted.headers.clone(),
        protocol: wanted.protocol,
        content: wanted.content,
        service: wanted.service_name.clone(),
        sample: wanted.sample,
        timeout: wanted.timeout,
    };
    engine.tell(Telemetry::start(&options, engine.meters().clone())?);
    Ok(())
}

/// Sends what is left before the process ends.
pub(crate) async fn flush(engine: &Engine) {
    if let Some(telemetry) = engine.telemetry() {
        telemetry.close(FLUSH_MAX).await;
    }
}
