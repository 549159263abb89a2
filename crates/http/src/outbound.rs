//! The only client for addresses that come from a model or a client. A name is resolved once, its
//! addresses are checked, and the connection goes to exactly those that were checked, so that
//! neither a name whose addresses change nor a redirect leads into the network of this server.

mod addresses;
#[cfg(test)]
mod tests;

use std::error::Error as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, LOCATION, USER_AGENT};
use reqwest::{Client, Response, Url, redirect};
use tokio::time::timeout;

use crate::{innermost, right, tls};

/// The maximum size of a URL in bytes.
const URL_MAX: usize = 4 * 1024;
/// The maximum number of redirects that are followed.
const REDIRECTS_MAX: usize = 5;
/// The maximum number of addresses of one name that are considered.
const ADDRESSES_MAX: usize = 16;
/// The time limit for connecting.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Names that mean something different in every network.
const LOCAL_NAMES: [&str; 4] = ["localhost", "local", "internal", "arpa"];
/// Ports above 1023 where something other than the web listens.
const OTHER_PORTS: [u16; 30] = [
    1433, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5900,
    5984, 6000, 6379, 6566, 6667, 6697, 9092, 9200, 10080, 11211, 27017,
];

/// The addresses that may be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses.
    Public,
    /// Public addresses and these.
    PublicAnd(Vec<IpAddr>),
    /// All addresses, those of this machine included.
    Everything,
}

/// The options of the client.
#[derive(Clone, Debug)]
pub struct OutboundOptions {
    /// The addresses that may be reached.
    pub reach: Reach,
    /// The time limit of a fetch, redirects and body included.
    pub timeout: Duration,
}

impl Default for OutboundOptions {
    fn default() -> OutboundOptions {
        OutboundOptions { reach: Reach::Public, timeout: Duration::from_secs(25) }
    }
}

/// The reason why nothing was fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundError {
    /// The address is never fetched: choose another one.
    #[error("{0}")]
    Refused(String),
    /// The page has moved: fetch the new address if it is wanted.
    #[error("it redirects to {to}, and {why}; fetch that address itself if it is wanted")]
    Elsewhere {
        /// The new address.
        to: String,
        /// The reason why the redirect was not followed.
        why: String,
    },
    /// The fetch failed this time.
    #[error("{0}")]
    Failed(String),
    /// The client could not be created.
    #[error("no HTTP client: {0}")]
    Client(String),
}

/// A resolver of names.
pub trait Names: Send + Sync + 'static {
    /// Returns the current addresses of `name`.
    fn addresses(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver.
#[derive(Clone, Copy, Debug)]
pub struct SystemNames;

impl Names for SystemNames {
    fn addresses(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Fetches addresses supplied by others. Clones share the client.
#[derive(Clone, Debug)]
pub struct Outbound {
    client: Client,
    options: Arc<OutboundOptions>,
}

impl Outbound {
    /// Returns a client that resolves names with `names`.
    pub fn new(options: OutboundOptions, names: Arc<dyn Names>) -> Result<Outbound, OutboundError> {
        let client = Client::builder()
            .dns_resolver(Checked { reach: options.reach.clone(), names })
            .redirect(redirect::Policy::none())
            .no_proxy()
            .pool_max_idle_per_host(0)
            .connect_timeout(CONNECT_MAX)
            .timeout(options.timeout);
        let client = tls::shared(client).build().map_err(|error| OutboundError::Client(innermost(&error)))?;
        Ok(Outbound { client, options: Arc::new(options) })
    }

    /// Requests `url` and follows redirects within its site. The body is still
    /// to be read, and is exactly what the server sent: nothing is decompressed.
    pub async fn get(&self, url: &str) -> Result<Response, OutboundError> {
        let late = |_elapsed| OutboundError::Failed(format!("no answer within {:?}", self.options.timeout));
        timeout(self.options.timeout, self.follow(url)).await.map_err(late)?
    }

    /// Sends a body to `url` and returns the answer, whatever it is: redirects are not followed.
    pub async fn post(&self, url: &str, headers: HeaderMap, body: String) -> Result<Response, OutboundError> {
        let url = self.options.reach.parse(url)?;
        let request = self.client.post(url).header(USER_AGENT, "consort").headers(headers).body(body);
        right::begin().await;
        request.send().await.map_err(|error| broken(&error))
    }

    async fn follow(&self, url: &str) -> Result<Response, OutboundError> {
        let mut url = self.options.reach.parse(url)?;
        for _hop in 0..=REDIRECTS_MAX {
            let response = self.ask(url.clone()).await?;
            match next(&url, &response)? {
                Some(target) => url = self.options.reach.check_url(target)?,
                None => return plain(response),
            }
        }
        Err(OutboundError::Failed(format!("it redirects more than {REDIRECTS_MAX} times")))
    }

    async fn ask(&self, url: Url) -> Result<Response, OutboundError> {
        let request = self.client.get(url).header(USER_AGENT, "consort").header(ACCEPT_ENCODING, "identity");
        let request = request.header(ACCEPT, "text/html, application/json, text/*, */*;q=0.1");
        right::begin().await;
        request.send().await.map_err(|error| broken(&error))
    }
}

impl Reach {
    /// Parses an address and checks everything about it that can be checked before it is resolved.
    pub fn parse(&self, url: &str) -> Result<Url, OutboundError> {
        if url.len() > URL_MAX {
            return Err(OutboundError::Refused(format!("the address is longer than {URL_MAX} bytes")));
        }
        let parsed = Url::parse(url).map_err(|error| refused(url, &format!("is not an address: {error}")))?;
        self.check_url(parsed)
    }

    /// Checks everything about an address that can be checked before it is resolved.
    fn check_url(&self, url: Url) -> Result<Url, OutboundError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused(
                url.as_str(),
                &format!("begins with `{}:`; only http and https are fetched", url.scheme()),
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(OutboundError::Refused("the address holds a name or password, which is never sent".to_owned()));
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if port < 1024 && port != 80 && port != 443 || OTHER_PORTS.contains(&port) {
            return Err(refused(url.as_str(), &format!("names port {port}, which is not one of the web")));
        }
        let host = url.host_str().unwrap_or_default();
        // The parser has turned every spelling of an IPv4 address into the usual one.
        match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) => self.check(host, address).map_err(|error| OutboundError::Refused(error.0))?,
            Err(_a_name) => self.check_name(host)?,
        }
        Ok(url)
    }

    fn check(&self, name: &str, address: IpAddr) -> Result<(), NotPublic> {
        let word = match self {
            Reach::Everything => None,
            Reach::PublicAnd(others) if others.contains(&address) => None,
            Reach::Public | Reach::PublicAnd(_) => addresses::not_public(address),
        };
        let what = if name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() { "is" } else { "leads to" };
        word.map_or(Ok(()), |word| Err(NotPublic(format!("`{name}` {what} {word} ({address}), which is not fetched"))))
    }

    fn check_name(&self, name: &str) -> Result<(), OutboundError> {
        let plain = name.trim_end_matches('.');
        let under = |local: &&str| plain.strip_suffix(*local).is_some_and(|rest| rest.ends_with('.'));
        let is_local = !plain.contains('.') || LOCAL_NAMES.iter().any(under);
        match self {
            Reach::Public | Reach::PublicAnd(_) if is_local => {
                Err(refused(name, "is a name of the local network, which is not fetched"))
            }
            Reach::Public | Reach::PublicAnd(_) | Reach::Everything => Ok(()),
        }
    }
}

/// Resolves names for the client, and returns only addresses that may be reached.
struct Checked {
    reach: Reach,
    names: Arc<dyn Names>,
}

/// The error for a name with an address that may not be reached.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
struct NotPublic(String);

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.reach.clone();
        let lookup = self.names.addresses(name.as_str());
        Box::pin(async move {
            let found = lookup.await?;
            let found: Vec<IpAddr> = found.into_iter().take(ADDRESSES_MAX).collect();
            // One bad address spoils the name: the client decides which one is used.
            found.iter().try_for_each(|address| reach.check(name.as_str(), *address))?;
            let sockets = found.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(sockets) as Addrs)
        })
    }
}

/// Returns the target of a redirect, when it is within the same site.
fn next(from: &Url, response: &Response) -> Result<Option<Url>, OutboundError> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection());
    let Some(location) = location else { return Ok(None) };
    let text = String::from_utf8_lossy(location.as_bytes());
    let to = from.join(&text).map_err(|error| OutboundError::Failed(format!("it redirects to `{text}`: {error}")))?;
    let why = if site(from) != site(&to) {
        "that is another site"
    } else if from.scheme() == "https" && to.scheme() != "https" {
        "that is not encrypted"
    } else {
        return Ok(Some(to));
    };
    Err(OutboundError::Elsewhere { to: to.to_string(), why: why.to_owned() })
}

/// Returns the host; a leading `www` makes no difference.
fn site(url: &Url) -> &str {
    let host = url.host_str().unwrap_or_default();
    host.strip_prefix("www.").unwrap_or(host)
}

/// Refuses a compressed body that was not requested as such: unpacked, it can be a thousand times as long.
fn plain(response: Response) -> Result<Response, OutboundError> {
    match response.headers().get(CONTENT_ENCODING).map(|value| String::from_utf8_lossy(value.as_bytes())) {
        Some(coding) if !coding.trim().is_empty() && !coding.trim().eq_ignore_ascii_case("identity") => {
            Err(OutboundError::Failed(format!("it is compressed (`{coding}`) although that was not asked for")))
        }
        Some(_) | None => Ok(response),
    }
}

fn refused(what: &str, why: &str) -> OutboundError {
    OutboundError::Refused(format!("`{what}` {why}"))
}

fn broken(error: &reqwest::Error) -> OutboundError {
    let mut cause = error.source();
    while let Some(source) = cause {
        if let Some(NotPublic(why)) = source.downcast_ref::<NotPublic>() {
            return OutboundError::Refused(why.clone());
        }
        cause = source.source();
    }
    let when = if error.is_connect() { "could not connect" } else { "the connection broke" };
    OutboundError::Failed(format!("{when}: {}", innermost(error)))
}
