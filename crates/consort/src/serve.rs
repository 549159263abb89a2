//! An ensemble over HTTP: the control API, chat, the network and the web UI,
//! as `consort serve` has them, in your own program.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use consort_chat::{Chats, DETACH_GRACE, Settings};
use consort_core::catalog::Permission;
use consort_core::chat::Rules;
use consort_core::compile::Catalog;
use consort_core::draft;
use consort_core::own_tool::OwnTool;
use consort_core::owner::Owner;
use consort_net::serve::Serve;
use consort_net::share::PeerRunFactory;
use consort_server::access::{Access, Key, Reach, Scope, Sees};
use consort_server::{DIRECT, Server, Terms, bind};
use consort_tools::Workspace;
use tokio::net::ToSocketAddrs;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::ensemble::Ensemble;
use crate::error::Error;
use crate::share::Shown;

/// Builds a server.
///
/// ```
/// use consort::{Ensemble, Model, Scope, Task};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), consort::Error> {
/// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write a greeting")).build()?;
/// let served = ensemble
///     .server()
///     .api_key("ci", "a secret of your own", &[Scope::Run])
///     .allowed_origin("https://app.example.org")
///     .serve("127.0.0.1:0")
///     .await?;
/// assert!(served.url().starts_with("http://127.0.0.1:"));
/// served.stop().await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct ServerBuilder {
    ensemble: Ensemble,
    keys: Vec<Key>,
    /// The reason why a key cannot be used.
    wrong_key: Option<String>,
    origins: Vec<String>,
    direct: Vec<Permission>,
    drain_timeout: Option<Duration>,
    rules: Rules,
    detach_grace: Duration,
    chat_providers: Option<Vec<String>>,
    chat_workspace: Option<Workspace>,
}

/// A running server. Dropping it ends it at once; [`Served::stop`] lets active work
/// end first.
#[must_use = "dropping it ends the server"]
pub struct Served {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: Owned,
}

/// The task that serves; aborted when dropped.
struct Owned(JoinHandle<Result<(), Error>>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Ensemble {
    /// Serves it over HTTP: runs are submitted, watched and steered by REST, WebSocket and
    /// the web UI, besides those the program starts itself. Returns once the server
    /// accepts requests; runs that an earlier process left unfinished are resumed then,
    /// and links to peers are opened.
    ///
    /// The address must be a loopback address unless [`Ensemble::server`] is given keys.
    /// In chat the first model answers, with the ensemble's tools, unless
    /// [`ServerBuilder::chat`] sets another.
    ///
    /// ```
    /// use consort::{Ensemble, Model, Task};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write a greeting")).build()?;
    /// let served = ensemble.serve("127.0.0.1:0").await?;
    /// println!("watch at {}", served.url());
    /// let run = ensemble.start(()).await?;
    /// run.finished().await?;
    /// served.stop().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn serve(&self, address: impl ToSocketAddrs) -> Result<Served, Error> {
        self.server().serve(address).await
    }

    /// Returns a builder of a server with more settings, such as keys.
    pub fn server(&self) -> ServerBuilder {
        ServerBuilder {
            ensemble: self.clone(),
            keys: Vec::new(),
            wrong_key: None,
            origins: Vec::new(),
            direct: DIRECT.to_vec(),
            drain_timeout: None,
            rules: Rules::default(),
            detach_grace: DETACH_GRACE,
            chat_providers: None,
            chat_workspace: None,
        }
    }
}

impl ServerBuilder {
    /// Admits clients with this key; once there is a key, every client needs one. The runs it begins are seen by
    /// this key alone, and by those with the scope `admin`.
    pub fn api_key(self, name: &str, key: &str, scopes: &[Scope]) -> ServerBuilder {
        self.keyed(name, Key::new(name, key, scopes))
    }

    /// Admits clients with this key, whose runs belong to an owner that other keys may share.
    ///
    /// ```
    /// use consort::{Ensemble, Model, Scope, Sees, Task};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write a greeting")).build()?;
    /// let served = ensemble
    ///     .server()
    ///     .api_key_of(("team-a", Sees::Own), "ci", "a secret of your own", &[Scope::Run])
    ///     .api_key_of(("team-a", Sees::Own), "ann", "another secret", &[Scope::Run, Scope::Review])
    ///     .serve("127.0.0.1:0")
    ///     .await?;
    /// # served.stop().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn api_key_of(self, (owner, sees): (&str, Sees), name: &str, key: &str, scopes: &[Scope]) -> ServerBuilder {
        let made = Owner::named(owner).map(|owner| Key::of(owner, (name, key), scopes));
        self.keyed(name, made.map(|key| Key { sees, ..key }))
    }

    fn keyed(mut self, name: &str, key: Result<Key, String>) -> ServerBuilder {
        match key {
            Ok(key) => self.keys.push(key),
            Err(reason) => self.wrong_key = Some(format!("the owner of the key '{name}' {reason}")),
        }
        self
    }

    /// Allows web pages of this origin, besides its own, to send requests.
    pub fn allowed_origin(mut self, origin: &str) -> ServerBuilder {
        self.origins.push(origin.to_owned());
        self
    }

    /// Sets the classes of tools that may be called without an agent; `Safe`, `Knowledge`
    /// and `Network` by default.
    pub fn direct(mut self, classes: impl IntoIterator<Item = Permission>) -> ServerBuilder {
        self.direct = classes.into_iter().collect();
        self
    }

    /// Sets the time that active work may take to end when the server stops; five minutes
    /// by default.
    pub fn drain_timeout(mut self, limit: Duration) -> ServerBuilder {
        self.drain_timeout = Some(limit);
        self
    }

    /// Sets the rules of conversations: models, tools and limits.
    ///
    /// ```
    /// use consort::{ChatRules, Ensemble, Limits, Mode, Model, Task};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let ensemble = Ensemble::builder()
    ///     .model("large", Model::demo())
    ///     .model("small", Model::demo())
    ///     .task(Task::new("Write a greeting"))
    ///     .build()?;
    /// let usual = ChatRules::default();
    /// let rules = ChatRules {
    ///     model: Some("small".to_owned()),
    ///     mode: Mode::Plan,
    ///     limits: Limits { llm_calls: 10, ..usual.limits },
    ///     ..usual
    /// };
    /// let served = ensemble.server().chat(rules).serve("127.0.0.1:0").await?;
    /// # served.stop().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn chat(mut self, rules: Rules) -> ServerBuilder {
        self.rules = rules;
        self
    }

    /// Sets the time that a turn of a conversation goes on after its last client has left;
    /// ten minutes by default.
    pub fn detach_grace(mut self, grace: Duration) -> ServerBuilder {
        self.detach_grace = grace;
        self
    }

    /// Says which providers have tools for conversations; all unless told.
    pub fn chat_providers(mut self, names: impl IntoIterator<Item = String>) -> ServerBuilder {
        self.chat_providers = Some(names.into_iter().collect());
        self
    }

    /// Says which folder conversations are about: its `AGENTS.md` is shown to
    /// the model. The ensemble's unless told.
    pub fn chat_workspace(mut self, workspace: Workspace) -> ServerBuilder {
        self.chat_workspace = Some(workspace);
        self
    }

    /// The conversations alone, for programs that talk to them without a server.
    pub fn chats(self) -> Result<Chats, Error> {
        let model = self.answering()?;
        let Ensemble { engine, catalog, shown, .. } = &self.ensemble;
        let allowed_hosts = [&self.rules.allowed_hosts[..], &shown.model_hosts].concat();
        let settings = Settings {
            rules: Rules { model, allowed_hosts, ..self.rules },
            catalog: without_documents(catalog),
            providers: self.chat_providers.unwrap_or_else(|| catalog.providers.clone()),
            workspace: self.chat_workspace.or_else(|| shown.workspace.clone()),
            detach_grace: self.detach_grace,
            collections: shown.collections.clone(),
        };
        Ok(Chats::new(engine.clone(), settings))
    }

    /// The server, for programs that listen by themselves. Peers can use what is
    /// shared from now on; on this machine alone unless its `access` is changed.
    pub fn unbound(self) -> Result<Server, Error> {
        if let Some(reason) = self.wrong_key {
            return Err(Error::Serve(reason));
        }
        let Ensemble { engine, template, catalog, shown, .. } = self.ensemble.clone();
        let Shown { network, shares, max_concurrent, .. } = &*shown;
        let template = draft::Ensemble::clone(&template);
        let run_factory =
            PeerRunFactory { ensemble: template.clone(), catalog: (*catalog).clone(), shares: shares.clone() };
        network.offer(Arc::new(Serve::new(network.name(), run_factory, engine.clone(), *max_concurrent)));
        let access = Access { reach: Reach::Loopback, origins: self.origins.clone(), keys: self.keys.clone() };
        let (direct, drain_timeout) = (self.direct.clone(), self.drain_timeout);
        let server = Server::new(engine, template, without_documents(&catalog), self.chats()?, network.clone());
        Ok(Server { access, direct, drain_timeout: drain_timeout.unwrap_or(server.drain_timeout), ..server })
    }

    /// Starts to serve at this address; port 0 is any free one.
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<Served, Error> {
        let failed = |error: std::io::Error| Error::Serve(error.to_string());
        let listener = bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let server = self.over(address)?;
        let opening = server.opening();
        let (_unchanging, access) = watch::channel(server.access.clone());
        let (started, terms) = watch::channel(false);
        let (stop, stopped) = oneshot::channel();
        let (opened, open) = oneshot::channel();
        let task = tokio::spawn(async move {
            let opening = async {
                let links = opening.await.map_err(|error| Error::Serve(error.to_string()))?;
                started.send_replace(true);
                let _gone = opened.send(());
                let _links = links;
                std::future::pending::<Result<(), Error>>().await
            };
            let stop = async { _ = stopped.await };
            tokio::select! {
                ended = server.serve_as(Terms { access, started: terms }, listener, stop) => ended.map_err(failed),
                failed = opening => failed,
            }
        });
        let mut served = Served { address, stop, task: Owned(task) };
        match open.await {
            Ok(()) => Ok(served),
            // The task ended before it served, and returns the reason.
            Err(_) => Err((&mut served.task.0)
                .await
                .map_err(|error| Error::Serve(error.to_string()))?
                .err()
                .unwrap_or_else(|| Error::Serve("it ended before it answered".to_owned()))),
        }
    }

    /// Returns the server, unless it would be open to other machines without keys.
    fn over(self, address: SocketAddr) -> Result<Server, Error> {
        let mut server = self.unbound()?;
        server.access.reach = Reach::of(address.ip());
        if server.access.is_open() {
            let reason =
                format!("other machines could connect to {address}: give it an api_key, or listen on 127.0.0.1");
            return Err(Error::Serve(reason));
        }
        Ok(server)
    }

    /// Returns the model that answers in conversations: the first by default.
    fn answering(&self) -> Result<Option<String>, Error> {
        let models = self.ensemble.models();
        match &self.rules.model {
            Some(alias) => models.resolve(alias).map(|_| Some(alias.clone())).map_err(Error::from),
            None => Ok(models.list().first().map(|model| model.alias.clone())),
        }
    }
}

impl Served {
    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its URL for a browser.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops it: no new work is accepted, not even from the program itself, active work
    /// may end, and then streams and links are closed.
    pub async fn stop(self) -> Result<(), Error> {
        let _ended_already = self.stop.send(());
        ended(self.task).await
    }

    /// Waits until a client drains the server, which also ends the ensemble.
    pub async fn finished(self) -> Result<(), Error> {
        let _kept = self.stop;
        ended(self.task).await
    }
}

/// The catalog without the tool that comes with the store, which servers and
/// conversations add themselves.
fn without_documents(catalog: &Catalog) -> Catalog {
    let mut catalog = catalog.clone();
    catalog.tools.retain(|tool| tool.as_own() != Some(OwnTool::SearchCollections));
    catalog
}

async fn ended(mut task: Owned) -> Result<(), Error> {
    (&mut task.0).await.map_err(|error| Error::Serve(error.to_string()))?
}
