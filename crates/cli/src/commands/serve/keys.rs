//! The access rules of the configuration, read again at each SIGHUP that does not come
//! from a terminal being closed: a key that is removed from the file ends its open
//! streams.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::path::Path;

use consort_config::{self as config, Config, Env};
use consort_server::access::{Access, Key, Reach};
use consort_server::oidc::Issuer;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::assemble;
use crate::terminal::Home;

/// Returns the access rules of the configuration.
pub(super) fn access(server: &config::Server) -> Result<Access, assemble::Error> {
    let named = if server.host == "localhost" { Reach::Loopback } else { Reach::Network };
    let issuer = server.oidc.clone().map(Issuer::new).transpose();
    let issuer = issuer.map_err(|error| assemble::Error::Client(error.to_string()))?;
    Ok(Access {
        reach: server.host.trim_matches(['[', ']']).parse::<IpAddr>().map_or(named, Reach::of),
        origins: server.allowed_origins.clone(),
        keys: server.api_keys.clone(),
        issuer,
    })
}

/// Starts to listen for SIGHUP, and then reads the keys again at each; everything else stays as it
/// was, and so do the keys when the file has mistakes.
pub(super) fn follow(
    file: Option<&Path>,
    env: &Env<'_>,
    access: watch::Sender<Access>,
    home: Home,
) -> io::Result<impl Future<Output = Infallible>> {
    // Before the server says that it listens: from then on the signal counts.
    let mut asked = signal(SignalKind::hangup())?;
    Ok(async move {
        loop {
            asked.recv().await;
            if home.is_gone() {
                // The server is ending; this signal was not about keys.
                continue;
            }
            match file.map(|file| Config::load(file, env)) {
                None => tracing::warn!("there is no configuration file to read keys from"),
                Some(Err(mistakes)) => {
                    tracing::error!(%mistakes, "the configuration is wrong: the keys stay as they were")
                }
                Some(Ok(config)) => change(&access, config.server.api_keys),
            }
        }
    })
}

fn change(access: &watch::Sender<Access>, keys: Vec<Key>) {
    let changed = access.borrow().with_keys(keys);
    match changed {
        Ok(changed) => {
            tracing::info!(keys = changed.keys.len(), "the keys were read again");
            access.send_replace(changed);
        }
        Err(reason) => tracing::error!(%reason, "the file has no keys: the keys stay as they were"),
    }
}
