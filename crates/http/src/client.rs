//! The client for addresses from the configuration, and the words of its errors.

use std::error::Error;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE_CONNECTION: Duration = Duration::from_secs(90);

/// Returns the client that all models share: it follows no redirects, which
/// could carry a key elsewhere, and takes no proxy from the environment.
pub fn client() -> reqwest::Result<Client> {
    // This fails when the process has a provider already, which is just as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A machine without certificates can still talk to its own servers.
    builder().build().or_else(|_| builder().tls_certs_only([]).build())
}

fn builder() -> ClientBuilder {
    Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_CONNECTION)
        .tcp_nodelay(true)
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
