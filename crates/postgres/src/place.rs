//! The address of a database: what PostgreSQL's own clients understand, with the four ways
//! to use TLS that they know. Passwords are never shown.

use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use crate::OpenError;

/// The beginnings of an address.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// The longest time to set up one connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The time after which unacknowledged bytes, or a silent peer, count as a lost connection.
const SILENCE_MAX: Duration = Duration::from_secs(15);
/// The interval of keepalives on an idle connection.
const KEEPALIVE: Duration = Duration::from_secs(5);

/// Whether connections are encrypted, and whether the server must prove who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Security {
    /// In the clear.
    Off,
    /// Encrypted where the server can, without checking who answers.
    Encrypted,
    /// Encrypted, to a server whose certificate is for its name, by the system's roots or those of a file.
    Verified(Option<PathBuf>),
}

/// A database's address as it is meant.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseAddress {
    config: Config,
    pub(crate) security: Security,
}

/// Returns whether a word is the address of a database rather than a folder.
pub fn is_address(word: &str) -> bool {
    SCHEMES.iter().any(|scheme| word.starts_with(scheme))
}

impl DatabaseAddress {
    pub(crate) fn parse(address: &str) -> Result<DatabaseAddress, OpenError> {
        if !is_address(address) {
            return Err(wrong("it does not begin with postgres://"));
        }
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        let mut mode = "prefer".to_owned();
        let mut roots = None;
        let mut kept = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => value.clone_into(&mut mode),
                Some(("sslrootcert", value)) => roots = (value != "system").then(|| PathBuf::from(value)),
                Some(_) | None => kept.push(pair),
            }
        }
        let base = if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
        let mut config: Config = base.parse().map_err(|error| wrong(&reason(&error)))?;
        let (ssl, security) = match mode.as_str() {
            "disable" => (SslMode::Disable, Security::Off),
            "allow" | "prefer" => (SslMode::Prefer, Security::Encrypted),
            "require" => (SslMode::Require, Security::Encrypted),
            "verify-ca" | "verify-full" => (SslMode::Require, Security::Verified(roots)),
            other => {
                let allowed = "disable, prefer, require, verify-ca or verify-full";
                return Err(wrong(&format!("sslmode is '{other}', and it is one of {allowed}")));
            }
        };
        config.ssl_mode(ssl).target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_hosts().is_empty() {
            return Err(wrong("it names no host"));
        }
        if config.get_application_name().is_none() {
            config.application_name("consort");
        }
        Ok(DatabaseAddress { config, security })
    }

    /// Returns the way to each of its hosts. One that takes connections and then is silent does not keep the others from
    /// being asked, as it would if they were tried one after the other.
    pub(crate) fn hosts(&self) -> Vec<Config> {
        let count = self.config.get_hosts().len();
        (0..count).map(|index| of_host(&self.config, index)).collect()
    }

    /// Returns the hosts, ports and the database, without user and password.
    pub(crate) fn shown(&self) -> String {
        let ports = self.config.get_ports();
        let port = |index: usize| ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        let host = |(index, host): (usize, &Host)| match host {
            Host::Tcp(name) => format!("{name}:{}", port(index)),
            Host::Unix(folder) => format!("{}:{}", folder.display(), port(index)),
        };
        let hosts: Vec<String> = self.config.get_hosts().iter().enumerate().map(host).collect();
        let name = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        format!("{}/{name}", hosts.join(","))
    }
}

/// Returns the settings for one of the hosts.
fn of_host(all: &Config, index: usize) -> Config {
    let mut one = Config::new();
    match all.get_hosts().get(index) {
        Some(Host::Tcp(name)) => one.host(name),
        Some(Host::Unix(folder)) => one.host_path(folder),
        None => &mut one,
    };
    let ports = all.get_ports();
    all.get_hostaddrs().get(index).map(|address| one.hostaddr(*address));
    ports.get(index).or(ports.first()).map(|port| one.port(*port));
    all.get_user().map(|user| one.user(user));
    all.get_password().map(|password| one.password(password));
    all.get_dbname().map(|name| one.dbname(name));
    all.get_options().map(|options| one.options(options));
    all.get_application_name().map(|name| one.application_name(name));
    one.ssl_mode(all.get_ssl_mode()).ssl_negotiation(all.get_ssl_negotiation());
    one.channel_binding(all.get_channel_binding()).target_session_attrs(all.get_target_session_attrs());
    one.connect_timeout(CONNECT_TIMEOUT).tcp_user_timeout(SILENCE_MAX);
    one.keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE).keepalives_retries(2);
    one
}

/// Returns the reason of an error with its cause; the error itself names only its kind.
pub(crate) fn reason(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(db), _) => format!("{} ({})", db.message(), db.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

fn wrong(reason: &str) -> OpenError {
    OpenError::Refused(format!("the address of the database cannot be used: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_is_asked_with_its_own_port_and_the_settings_of_all() {
        let place = DatabaseAddress::parse("postgres://u:secret@a:1,b:2/c?sslmode=require&options=-cx%3D1").unwrap();
        let hosts = place.hosts();
        let named = |config: &Config| (config.get_hosts().to_vec(), config.get_ports().to_vec());
        let tcp = |name: &str| vec![Host::Tcp(name.to_owned())];
        assert_eq!(hosts.iter().map(named).collect::<Vec<_>>(), [(tcp("a"), vec![1]), (tcp("b"), vec![2])]);
        for config in &hosts {
            assert_eq!((config.get_user(), config.get_dbname()), (Some("u"), Some("c")));
            assert_eq!((config.get_password(), config.get_options()), (Some(&b"secret"[..]), Some("-cx=1")));
            assert_eq!(config.get_ssl_mode(), SslMode::Require);
            assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
            assert_eq!(config.get_application_name(), Some("consort"));
        }
        let one_port = DatabaseAddress::parse("postgres://u@a,b/c").unwrap().hosts();
        assert_eq!(one_port.iter().map(named).collect::<Vec<_>>(), [(tcp("a"), vec![5432]), (tcp("b"), vec![5432])]);
    }

    #[test]
    fn an_address_names_hosts_and_says_how_safe_its_connections_are() {
        for (address, shown, security) in [
            ("postgres://u:secret@db/consort", "db:5432/consort", Security::Encrypted),
            ("postgres://u@a:1,b:2/c?sslmode=disable", "a:1,b:2/c", Security::Off),
            ("postgresql://u@db/c?sslmode=verify-full", "db:5432/c", Security::Verified(None)),
            ("postgres://u@db/c?sslmode=require&application_name=x", "db:5432/c", Security::Encrypted),
            (
                "postgres://u@db/c?sslrootcert=/roots.pem&sslmode=verify-ca",
                "db:5432/c",
                Security::Verified(Some("/roots.pem".into())),
            ),
        ] {
            let place = DatabaseAddress::parse(address).unwrap();
            assert_eq!((place.shown().as_str(), place.security), (shown, security), "{address}");
        }
    }

    #[test]
    fn a_wrong_address_is_refused_without_showing_the_password() {
        for (address, said) in [
            ("mysql://db/c", "postgres://"),
            ("postgres:///c", "names no host"),
            ("postgres://u:secret@db/c?sslmode=maybe", "sslmode is 'maybe'"),
            ("postgres://u:secret@db/c?colour=red", "colour"),
        ] {
            let Err(refused) = DatabaseAddress::parse(address) else { panic!("{address}") };
            let refused = refused.to_string();
            assert!(refused.contains(said) && !refused.contains("secret"), "{refused}");
        }
    }
}
