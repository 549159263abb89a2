//! An ensemble over HTTP: the control API, chat, the network and the web UI,
//! as `consort serve` has them, in your own program.

mod checks;
mod served;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use consort_chat::{Chats, DETACH_GRACE, Settings};
use consort_core::catalog::Permission;
use consort_core::chat::Rules;
use consort_core::draft;
use consort_core::owner::Owner;
use consort_net::serve::Serve;
use consort_net::share::PeerRunFactory;
use consort_runtime::engine::Quota;
use consort_runtime::hooks::Hook;
use consort_runtime::hooks::verify::Verify;
use consort_runtime::schedules::Configured;
use consort_runtime::webhooks::Webhook;
use consort_server::access::{Access, Key, Reach, Scope, Sees};
use consort_server::oidc::{self, Issuer};
use consort_server::{DIRECT, Server, Terms, bind};
use consort_tools::Workspace;
use tokio::net::ToSocketAddrs;
use tokio::sync::{oneshot, watch};

use crate::ensemble::Ensemble;
use crate::error::Error;
use crate::share::Shown;

pub use served::Served;

use checks::{checked, checked_hooks, without_documents};
use served::Owned;

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
    /// The reason why a key or the issuer cannot be used.
    wrong_key: Option<String>,
    /// The issuer whose tokens clients may connect with, if any.
    issuer: Option<Issuer>,
    quotas: Vec<Quota>,
    origins: Vec<String>,
    trusted_proxies: Vec<IpAddr>,
    direct: Vec<Permission>,
    drain_timeout: Option<Duration>,
    rules: Rules,
    detach_grace: Duration,
    chat_providers: Option<Vec<String>>,
    chat_workspace: Option<Workspace>,
    schedules: Vec<Configured>,
    webhooks: Vec<Webhook>,
    hooks: Vec<Hook>,
    aux_model: Option<String>,
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
            issuer: None,
            quotas: Vec::new(),
            origins: Vec::new(),
            trusted_proxies: Vec::new(),
            direct: DIRECT.to_vec(),
            drain_timeout: None,
            rules: Rules::default(),
            detach_grace: DETACH_GRACE,
            chat_providers: None,
            chat_workspace: None,
            schedules: Vec::new(),
            webhooks: Vec::new(),
            hooks: Vec::new(),
            aux_model: None,
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

    /// Admits clients with tokens that an OpenID Connect issuer signed for this audience. Once there is an issuer, every
    /// client needs a token or a key.
    ///
    /// ```
    /// use consort::{Ensemble, Model, Task};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write a greeting")).build()?;
    /// let served = ensemble.server().oidc("https://id.example.com", "consort").serve("127.0.0.1:0").await?;
    /// # served.stop().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn oidc(mut self, issuer: &str, audience: &str) -> ServerBuilder {
        let made = oidc::Options::new(issuer, audience).map_err(|reason| format!("the issuer {reason}"));
        match made.and_then(|options| Issuer::new(options).map_err(|error| error.to_string())) {
            Ok(issuer) => self.issuer = Some(issuer),
            Err(reason) => self.wrong_key = Some(reason),
        }
        self
    }

    /// Limits the runs of an owner, or of each owner.
    pub fn quota(mut self, quota: Quota) -> ServerBuilder {
        self.quotas.push(quota);
        self
    }

    /// Allows web pages of this origin, besides its own, to send requests.
    pub fn allowed_origin(mut self, origin: &str) -> ServerBuilder {
        self.origins.push(origin.to_owned());
        self
    }

    /// Believes the proxy at this address when it names a client in `X-Forwarded-For`.
    pub fn trusted_proxy(mut self, address: IpAddr) -> ServerBuilder {
        self.trusted_proxies.push(address);
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

    /// Sets the providers whose tools conversations may use; all by default.
    pub fn chat_providers(mut self, names: impl IntoIterator<Item = String>) -> ServerBuilder {
        self.chat_providers = Some(names.into_iter().collect());
        self
    }

    /// Sets the folder that conversations are about: its `AGENTS.md` is shown to the model. The ensemble's by default.
    pub fn chat_workspace(mut self, workspace: Workspace) -> ServerBuilder {
        self.chat_workspace = Some(workspace);
        self
    }

    /// Begins a run of the ensemble, or of a saved workflow, whenever it is due.
    ///
    /// ```
    /// use consort::{Ensemble, Model, Owner, Schedule, ScheduleDefinition, Task};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write a greeting")).build()?;
    /// let weekly = ScheduleDefinition {
    ///     cron: Some("0 8 * * MON".to_owned()),
    ///     timezone: "Europe/Berlin".to_owned(),
    ///     ..ScheduleDefinition::new("weekly")
    /// };
    /// let served = ensemble
    ///     .server()
    ///     .schedule(Schedule { definition: weekly, owner: Owner::local() })
    ///     .serve("127.0.0.1:0")
    ///     .await?;
    /// # served.stop().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn schedule(mut self, schedule: Configured) -> ServerBuilder {
        self.schedules.push(schedule);
        self
    }

    /// Tells a program of ended runs and of questions to people, by signed requests to its address.
    ///
    /// ```
    /// use consort::{Ensemble, Model, Task, Webhook, WebhookSecret, WebhookTopic};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write a greeting")).build()?;
    /// let secret = WebhookSecret::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
    /// let ops = Webhook { topics: vec![WebhookTopic::RunFailed], ..Webhook::new("ops", "http://127.0.0.1:9/", secret) };
    /// let served = ensemble.server().webhook(ops).serve("127.0.0.1:0").await?;
    /// # served.stop().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn webhook(mut self, webhook: Webhook) -> ServerBuilder {
        self.webhooks.push(webhook);
        self
    }

    /// Lets another program begin runs by `POST /hooks/{name}`.
    ///
    /// ```
    /// use consort::{Ensemble, Hook, HookVerify, Model, Owner, Task, WebhookSecret};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Triage {title}")).build()?;
    /// let github = Hook {
    ///     name: "github".to_owned(),
    ///     verify: HookVerify::GitHub,
    ///     secret: WebhookSecret::of(b"a secret of your own"),
    ///     when: Some("body.action == 'opened'".to_owned()),
    ///     inputs: [("title".to_owned(), "body.issue.title".to_owned())].into(),
    ///     workflow: None,
    ///     owner: Owner::local(),
    /// };
    /// let served = ensemble.server().hook(github).serve("127.0.0.1:0").await?;
    /// # served.stop().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn hook(mut self, hook: Hook) -> ServerBuilder {
        self.hooks.push(hook);
        self
    }

    /// Sets the model that answers a chat UI's own prompts over `/v1`, such as for titles;
    /// the chat's by default.
    pub fn aux_model(mut self, alias: &str) -> ServerBuilder {
        self.aux_model = Some(alias.to_owned());
        self
    }

    /// Builds only the conversations, for programs that use them without a server.
    pub fn chats(&self) -> Result<Chats, Error> {
        let model = self.answering()?;
        let Ensemble { engine, catalog, shown, .. } = &self.ensemble;
        let allowed_hosts = [&self.rules.allowed_hosts[..], &shown.model_hosts].concat();
        let settings = Settings {
            rules: Rules { model, allowed_hosts, ..self.rules.clone() },
            catalog: without_documents(catalog),
            providers: self.chat_providers.clone().unwrap_or_else(|| catalog.providers.clone()),
            workspace: self.chat_workspace.clone().or_else(|| shown.workspace.clone()),
            detach_grace: self.detach_grace,
            collections: shown.collections.clone(),
        };
        Ok(Chats::new(engine.clone(), settings))
    }

    /// Builds the server, for programs that listen by themselves. From now on peers can use the shared capabilities;
    /// only this machine can connect unless its `access` is changed.
    pub fn unbound(self) -> Result<Server, Error> {
        if let Some(reason) = &self.wrong_key {
            return Err(Error::Serve(reason.clone()));
        }
        let Ensemble { engine, template, catalog, shown, .. } = self.ensemble.clone();
        let Shown { network, shares, max_concurrent, .. } = &*shown;
        let template = draft::Ensemble::clone(&template);
        let run_factory =
            PeerRunFactory { ensemble: template.clone(), catalog: (*catalog).clone(), shares: shares.clone() };
        network.offer(Arc::new(Serve::new(network.name(), run_factory, engine.clone(), *max_concurrent)));
        let schedules = checked(&self.schedules)?;
        let hooks = checked_hooks(&self.hooks)?;
        if let Some(alias) = &self.aux_model {
            self.ensemble.models().resolve(alias)?;
        }
        let server = Server::new(engine, template, without_documents(&catalog), self.chats()?, network.clone());
        Ok(Server {
            access: Access { reach: Reach::Loopback, origins: self.origins, keys: self.keys, issuer: self.issuer },
            quotas: self.quotas,
            trusted_proxies: self.trusted_proxies,
            direct: self.direct,
            drain_timeout: self.drain_timeout.unwrap_or(server.drain_timeout),
            schedules,
            webhooks: self.webhooks,
            hooks,
            aux_model: self.aux_model,
            shares: shares.clone(),
            shared_workflows: shown.workflows.clone(),
            ..server
        })
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
        let unproven = server.hooks.iter().find(|hook| hook.verify == Verify::None);
        if let Some(hook) = unproven.filter(|_| server.access.reach == Reach::Network) {
            let reason = format!("other machines could use the hook '{}', which verifies nobody", hook.name);
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
