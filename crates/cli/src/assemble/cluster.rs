//! The identity of this node, and its joining of those that share its database.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use consort_config::Config;
use consort_log::cluster::{Identity, JoinError, Joined, LEASE, digest};
use consort_tools::Toolbox;

/// The file that holds the name of the machine.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";
/// An address of a network that is reserved for documentation, and the port of `discard`: nothing is sent there.
const ELSEWHERE: (&str, u16) = ("192.0.2.1", 9);

/// The nodes that a server is one of.
pub(crate) enum Known {
    /// Those that share a database.
    Among(Box<Joined>),
    /// Itself.
    Alone(Identity),
    /// No server: nobody asks.
    Unknown,
}

/// Joins the nodes that share the configured database; without one, the node is alone.
pub(crate) async fn join(config: &Config, tools: &Toolbox, listens: SocketAddr) -> Result<Known, JoinError> {
    let identity = identity(config, tools, listens);
    match &config.cluster.shared {
        Some(shared) => {
            let joined = consort_postgres::join(&shared.url, identity).await?;
            let secret = Some(shared.secret.clone());
            let max_concurrent_runs = shared.max_concurrent_runs;
            Ok(Known::Among(Box::new(Joined { max_concurrent_runs, secret, ..joined })))
        }
        None => Ok(Known::Alone(identity)),
    }
}

/// Returns the identity of this node when it listens there.
fn identity(config: &Config, tools: &Toolbox, listens: SocketAddr) -> Identity {
    let cluster = &config.cluster;
    let port = listens.port();
    let name = cluster.name.clone().unwrap_or_else(|| format!("{}:{port}", host_name()));
    let address = cluster.address.clone().unwrap_or_else(|| format!("http://{}", reachable(listens)));
    let lease = cluster.shared.as_ref().map_or(LEASE, |shared| shared.lease);
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Identity { name, address, version, config: digest(&meaning(config, tools)), lease }
}

/// Returns the part of the configuration that nodes must share to go on with each other's runs at once: the
/// meaning of models, tools and tasks, without addresses, folders and secrets.
fn meaning(config: &Config, tools: &Toolbox) -> String {
    let models: Vec<_> = config.models.iter().map(|model| &model.info).collect();
    let tools: Vec<_> = tools.infos().collect();
    let servers: Vec<_> = config.mcp.iter().map(|server| (&server.name, &server.tools)).collect();
    let ensemble = config.template.as_ref().map(|template| &template.ensemble);
    format!("{models:?}\n{tools:?}\n{servers:?}\n{ensemble:?}\n{:?}\n{:?}", config.chat.rules, config.chat.mcp)
}

fn host_name() -> String {
    let read = std::fs::read_to_string(HOST_NAME).unwrap_or_default();
    let name = read.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

/// Returns an address at which others reach a server that listens here.
fn reachable(listens: SocketAddr) -> SocketAddr {
    if !listens.ip().is_unspecified() {
        return listens;
    }
    SocketAddr::new(outward().unwrap_or(IpAddr::from([127, 0, 0, 1])), listens.port())
}

/// Returns this machine's address on the way to others, if there is one.
fn outward() -> Option<IpAddr> {
    let socket = UdpSocket::bind(("0.0.0.0", 0)).ok()?;
    socket.connect(ELSEWHERE).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(cluster: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("consort.toml");
        std::fs::write(&file, format!("[models.a]\nprovider = 'demo'\nmodel = 'm'\n{cluster}")).unwrap();
        Config::load(&file, &|_| None).unwrap()
    }

    #[test]
    fn a_node_is_known_by_its_host_and_port_unless_it_is_told_otherwise() {
        let listens = SocketAddr::from(([127, 0, 0, 1], 7329));
        let usual = identity(&config(""), &Toolbox::default(), listens);
        assert!(usual.name.ends_with(":7329"), "{}", usual.name);
        assert_eq!((usual.address.as_str(), usual.lease), ("http://127.0.0.1:7329", LEASE));
        let told = "[cluster]\nname = 'kitchen'\naddress = 'http://10.0.0.5:80'\n";
        let told = identity(&config(told), &Toolbox::default(), listens);
        assert_eq!((told.name.as_str(), told.address.as_str()), ("kitchen", "http://10.0.0.5:80"));
        assert_eq!(told.config, usual.config, "what a node is called means nothing");
        let anywhere = reachable(SocketAddr::from(([0, 0, 0, 0], 7329)));
        assert!(!anywhere.ip().is_unspecified() && anywhere.port() == 7329, "{anywhere}");
    }

    #[test]
    fn nodes_with_other_models_are_told_apart() {
        let digest = |more: &str| identity(&config(more), &Toolbox::default(), ([127, 0, 0, 1], 1).into()).config;
        assert_eq!(digest(""), digest("[server]\nport = 9\n"));
        assert_ne!(digest(""), digest("[models.b]\nprovider = 'demo'\nmodel = 'm'\n"));
    }
}
