//! The client for addresses that a configuration names.

use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE_CONNECTION: Duration = Duration::from_secs(90);

/// The client all models share: it follows no redirect, which could carry a
/// key elsewhere, and asks the environment for no proxy.
pub fn client() -> reqwest::Result<Client> {
    // Refused when the process has a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A machine without certificates can still talk to a server of its own.
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
