//! Tools of MCP servers. Each server has one owner, which connects, lists the
//! tools, notices when the connection is lost and connects again; tools reach
//! it through a `link` and never wait for more than one attempt to connect.

mod answer;
mod link;
mod listed;
mod names;
mod owner;
mod program;
mod tool;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use consort_core::catalog::{EffectClass, Permission};
use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use self::link::ServerLink;
use self::names::Names;
use self::owner::Owner;
use super::{DynamicToolProvider, HttpToolError, Tool, http_client};

/// The configuration of an MCP server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerOptions {
    /// The name of the server in this configuration.
    pub name: String,
    /// The transport to the server.
    pub transport: Transport,
    /// The time limit for connecting, and for each call.
    pub timeout: Duration,
    /// Properties of tools that the server does not declare, by the server's names of the tools.
    pub tools: BTreeMap<String, Traits>,
}

/// The transport to a server.
#[derive(Clone, PartialEq)]
pub enum Transport {
    /// A child process, which communicates over its standard input and output.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its whole environment: no variables of ours are passed on.
        env: BTreeMap<String, String>,
        /// The folder it runs in.
        folder: PathBuf,
    },
    /// A remote server, over streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// The headers sent with every request.
        headers: BTreeMap<String, String>,
    },
}

/// Arguments, environment, address and headers may hold secrets, so they are not shown.
impl std::fmt::Debug for Transport {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Transport::Command { command, .. } => write!(out, "Command({command} …)"),
            Transport::Http { .. } => out.write_str("Http(…)"),
        }
    }
}

/// The configured properties of a tool; the server's own declaration holds for the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traits {
    /// The effect of calling it twice.
    pub effect: Option<EffectClass>,
    /// The kind of resource that it accesses.
    pub permission: Option<Permission>,
    /// Whether it may run beside other calls of the same reply.
    pub parallel_safe: Option<bool>,
    /// The lock that it holds while it runs.
    pub lock: Option<String>,
}

/// The reason why the MCP servers cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A header is invalid: correct it.
    #[error("mcp.{server}.headers.{header}: {reason}")]
    Header {
        /// The name of the server with this header.
        server: String,
        /// The header.
        header: String,
        /// The fault of the header.
        reason: &'static str,
    },
    /// The client could not be created.
    #[error(transparent)]
    Client(#[from] HttpToolError),
}

/// The servers of a configuration. Dropping this ends their programs at once;
/// [`Servers::stop`] lets them end by themselves first.
pub struct Servers {
    servers: Vec<Arc<Server>>,
    owners: Vec<(oneshot::Sender<()>, JoinHandle<()>)>,
}

/// One server, with the tools it has listed so far.
pub struct Server {
    link: Arc<ServerLink>,
    tools: Mutex<Vec<Arc<dyn Tool>>>,
}

/// A problem with a server that a person should know about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The server.
    pub server: String,
    /// The tool, unless it is about the server as a whole.
    pub tool: Option<String>,
    /// The description of the problem.
    pub reason: String,
}

impl Servers {
    /// Starts to connect to all servers. Their tools never get a name
    /// that is in `taken`. Must be called where tasks can be spawned.
    pub fn start(options: Vec<ServerOptions>, taken: Vec<String>) -> Result<Servers, Error> {
        let client = http_client()?;
        let names = Arc::new(Names::new(taken));
        let prepared: Vec<_> = options
            .into_iter()
            .map(|options| Ok((headers(&options)?, Arc::new(options))))
            .collect::<Result<_, Error>>()?;
        let mut started = Servers { servers: Vec::new(), owners: Vec::new() };
        for (headers, options) in prepared {
            started.add(options, client.clone(), headers, names.clone());
        }
        Ok(started)
    }

    fn add(&mut self, options: Arc<ServerOptions>, client: Client, headers: HeaderMap, names: Arc<Names>) {
        let link = Arc::new(ServerLink::new(&options.name));
        let expected = listed::expected(&options, &names, &link);
        let server = Arc::new(Server { link, tools: Mutex::new(expected) });
        let owner = Owner { options, client, headers, names, server: server.clone() };
        let (stop, stopped) = oneshot::channel();
        self.owners.push((stop, tokio::spawn(owner.run(stopped))));
        self.servers.push(server);
    }

    /// Returns each server as a provider of tools.
    pub fn providers(&self) -> impl Iterator<Item = Arc<dyn DynamicToolProvider>> {
        self.servers.iter().cloned().map(|server| -> Arc<dyn DynamicToolProvider> { server })
    }

    /// Returns when every server is connected or has failed to, at the latest
    /// after `within`. The others continue to connect in the background.
    pub async fn settled(&self, within: Duration) {
        let all = futures::future::join_all(self.servers.iter().map(|server| server.link.settled()));
        let _late = tokio::time::timeout(within, all).await;
    }

    /// Returns the servers that are not connected, and the tools that cannot be used.
    pub fn troubles(&self) -> Vec<Trouble> {
        self.servers.iter().flat_map(|server| server.troubles()).collect()
    }

    /// Closes the connections, and waits until the programs have ended.
    pub async fn stop(mut self) {
        let (stops, ends): (Vec<_>, Vec<_>) = self.owners.drain(..).unzip();
        drop(stops);
        futures::future::join_all(ends).await;
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for (_, owner) in &self.owners {
            owner.abort();
        }
    }
}

impl Server {
    /// Replaces the list of its tools.
    fn put(&self, tools: Vec<Arc<dyn Tool>>) {
        *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = tools;
    }

    fn troubles(&self) -> Vec<Trouble> {
        let trouble = |tool, reason| Trouble { server: self.name().to_owned(), tool, reason };
        match self.trouble() {
            Some(reason) => vec![trouble(None, reason)],
            None => self
                .resolve()
                .iter()
                .filter_map(|tool| Some(trouble(Some(tool.info().name.clone()), tool.trouble()?)))
                .collect(),
        }
    }
}

impl DynamicToolProvider for Server {
    fn name(&self) -> &str {
        self.link.server()
    }

    fn resolve(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn trouble(&self) -> Option<String> {
        self.link.trouble()
    }
}

fn headers(options: &ServerOptions) -> Result<HeaderMap, Error> {
    let Transport::Http { headers, .. } = &options.transport else { return Ok(HeaderMap::new()) };
    let mut checked = HeaderMap::new();
    for (header, value) in headers {
        let wrong = |reason| Error::Header { server: options.name.clone(), header: header.clone(), reason };
        let name = HeaderName::try_from(header).map_err(|_| wrong("is not the name of a header"))?;
        if owner::OUR_HEADERS.contains(&name.as_str()) {
            return Err(wrong("is set by the protocol itself"));
        }
        let mut value =
            HeaderValue::try_from(value).map_err(|_| wrong("its value holds characters that cannot be sent"))?;
        value.set_sensitive(true);
        checked.insert(name, value);
    }
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_cannot_be_sent_are_named_and_secrets_are_not_shown() {
        let options = |name: &str, value: &str| ServerOptions {
            name: "wiki".to_owned(),
            transport: Transport::Http {
                url: "http://127.0.0.1:1/mcp?token=hush".to_owned(),
                headers: BTreeMap::from([(name.to_owned(), value.to_owned())]),
            },
            timeout: Duration::from_secs(1),
            tools: BTreeMap::new(),
        };
        for (name, value, mistake) in [
            ("x y", "1", "mcp.wiki.headers.x y: is not the name of a header"),
            ("Authorization", "a\nb", "mcp.wiki.headers.Authorization: its value holds characters that cannot be sent"),
            ("Mcp-Session-Id", "1", "mcp.wiki.headers.Mcp-Session-Id: is set by the protocol itself"),
        ] {
            assert_eq!(headers(&options(name, value)).unwrap_err().to_string(), mistake);
        }
        let good = options("Authorization", "Bearer hush");
        assert!(!format!("{:?} {good:?}", headers(&good).unwrap()).contains("hush"));
    }
}
