//! The wanted form of a response: `Accept` and `Prefer`.

use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

use crate::problem::Problem;

/// Seconds a request may wait for a run to end; connections should not idle longer.
const WAIT_MAX_S: u64 = 300;

/// The time and the form of the response to a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseMode {
    /// At once.
    Accepted,
    /// Once the run has ended, but no later than after this time.
    Ended(Duration),
    /// At once, with everything that happens.
    Stream,
}

impl ResponseMode {
    /// Reads the form that the headers of a request ask for.
    pub fn read(headers: &HeaderMap) -> Result<ResponseMode, Problem> {
        if accepts(headers, "text/event-stream") {
            return Ok(ResponseMode::Stream);
        }
        let preferences = headers.get_all("prefer").into_iter().filter_map(|value| value.to_str().ok());
        let mut waits = preferences.flat_map(|value| value.split(',')).filter_map(|preference| {
            let (name, seconds) = preference.split(';').next()?.split_once('=')?;
            name.trim().eq_ignore_ascii_case("wait").then_some(seconds.trim())
        });
        let Some(seconds) = waits.next() else { return Ok(ResponseMode::Accepted) };
        let wrong = |_not_a_number| Problem::bad_request(format!("Prefer: wait must be in seconds, not '{seconds}'"));
        let seconds: u64 = seconds.trim_matches('"').parse().map_err(wrong)?;
        Ok(ResponseMode::Ended(Duration::from_secs(seconds.min(WAIT_MAX_S))))
    }
}

/// Returns whether the client accepts this media type by name.
pub fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let accepted = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    let mut types = accepted.flat_map(|value| value.split(',')).map(|one| one.split(';').next().unwrap_or_default());
    types.any(|one| one.trim().eq_ignore_ascii_case(wanted))
}
