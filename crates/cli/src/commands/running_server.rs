//! The server that uses a data folder: a command that would use the folder itself asks
//! this server instead.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

/// Returns the address of the server that uses this data folder, if one does.
pub(crate) fn server(folder: &Path) -> Option<String> {
    let listens = consort_log::served_at(&consort::database(folder))?;
    Some(format!("http://{}", from_here(listens)))
}

/// Returns the sentence about a server that is used instead of the folder.
pub(crate) fn note(folder: &Path, url: &str, what: &str) -> String {
    format!("{} is served at {url}: {what} goes there.", folder.display())
}

/// Returns the mistake of a key without a server.
pub(crate) fn needless_key(folder: &Path) -> String {
    format!("--key is for a server, and none serves {}: name one with --url", folder.display())
}

/// Returns the address at which this machine reaches a server that listens there.
fn from_here(listens: SocketAddr) -> SocketAddr {
    let near = match listens.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(near, listens.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_listens_everywhere_is_reached_on_this_machine() {
        let near = |listens: &str| from_here(listens.parse().unwrap()).to_string();
        assert_eq!(["0.0.0.0:7329", "[::]:1", "10.0.0.5:80"].map(near), ["127.0.0.1:7329", "[::1]:1", "10.0.0.5:80"]);
    }
}
