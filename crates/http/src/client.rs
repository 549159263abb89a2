//! The client for addresses from the configuration, and the words of its errors.

use std::error::Error;
use std::time::Duration;

use reqwest::{Client, redirect, retry};

use crate::tls;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE_CONNECTION: Duration = Duration::from_secs(90);

/// Returns the client that all models share: it follows no redirects, which
/// could carry a key elsewhere, and takes no proxy from the environment.
pub fn client() -> reqwest::Result<Client> {
    let client = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        // The library's own retries are for HTTP/2, and keep a copy of each request as long as it is under way.
        .retry(retry::never().max_retries_per_request(0))
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_CONNECTION)
        .tcp_nodelay(true);
    tls::shared(client).build()
}

/// Returns the words of the innermost cause of an error: the outer ones only say that there is one, or repeat the
/// address.
pub fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    cause.to_string()
}
