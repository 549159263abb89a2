//! The capabilities that other ensembles may use, and the known peers.

use std::sync::Arc;

use consort_core::compile::Catalog;
use consort_core::draft::{Draft, Ensemble};
use consort_core::mistake::{Code, Mistake};
use consort_core::owner::Owner;
use consort_net::AgentAddress;
use consort_net::network::{Network, Options};
use consort_net::share::{Share, SharedWork};
use consort_net::transport::{Address, WebSockets};
use consort_tools::Workspace;
use consort_tools::collections::Collections;

use crate::builder::EnsembleBuilder;

/// The parts of an ensemble that its server shows.
pub(crate) struct Shown {
    pub(crate) network: Network,
    pub(crate) shares: Vec<Share>,
    /// The workflows that are shared with MCP clients: their names there, and here.
    pub(crate) workflows: Vec<(String, String)>,
    /// The document collections that the tools search.
    pub(crate) collections: Collections,
    /// The folder that tasks work in.
    pub(crate) workspace: Option<Workspace>,
    /// The hosts of the models, which conversations may send to.
    pub(crate) model_hosts: Vec<String>,
    /// Requests of others that are worked on at the same time.
    pub(crate) max_concurrent: usize,
}

/// The configured peers and shared capabilities.
#[derive(Default)]
pub(crate) struct Sharing {
    items: Vec<SharedItem>,
    workflows: Vec<(String, String)>,
    options: Option<Options>,
    realm: Option<String>,
    peers: Vec<(String, Address)>,
    agents: Vec<(String, AgentAddress)>,
}

/// A task or tool to share.
struct SharedItem {
    kind: Kind,
    /// The name that others use.
    name: String,
    /// The name of the task or tool here.
    target: String,
    tags: Vec<String>,
    /// The owner that sees the runs which others ask for.
    owner: Owner,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tool,
    Task,
}

impl EnsembleBuilder {
    /// Lets other ensembles request a task of this one, by its name, once it is
    /// [served](crate::Ensemble::serve). Their request is `{context}` in its description.
    ///
    /// ```
    /// use consort::{Calculator, Ensemble, Model, Task};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let kitchen = Ensemble::builder()
    ///     .name("kitchen")
    ///     .model("demo", Model::demo())
    ///     .tool(Calculator::default())
    ///     .task(Task::builder("Cook {context}").name("cook"))
    ///     .share_task("cook", ["food"])
    ///     .share_tool("calculator", ["sums"])
    ///     .build()?
    ///     .serve("127.0.0.1:0")
    ///     .await?;
    /// let room = Ensemble::builder()
    ///     .name("room")
    ///     .model("demo", Model::demo())
    ///     .peer("kitchen", &format!("ws://{}/ws", kitchen.address()))
    ///     .task(Task::builder("Order a soup").tool("kitchen.cook"))
    ///     .build()?;
    /// # kitchen.stop().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn share_task<'a>(self, name: &str, tags: impl IntoIterator<Item = &'a str>) -> EnsembleBuilder {
        self.share_task_as(name, name, tags)
    }

    /// Lets other ensembles request a task of this one under another name.
    #[must_use]
    pub fn share_task_as<'a>(self, name: &str, task: &str, tags: impl IntoIterator<Item = &'a str>) -> EnsembleBuilder {
        self.share(Kind::Task, (name, task), tags)
    }

    /// Lets other ensembles call a tool of this one, by its name.
    #[must_use]
    pub fn share_tool<'a>(self, name: &str, tags: impl IntoIterator<Item = &'a str>) -> EnsembleBuilder {
        self.share_tool_as(name, name, tags)
    }

    /// Lets other ensembles call a tool of this one under another name.
    #[must_use]
    pub fn share_tool_as<'a>(self, name: &str, tool: &str, tags: impl IntoIterator<Item = &'a str>) -> EnsembleBuilder {
        self.share(Kind::Tool, (name, tool), tags)
    }

    /// Lets MCP clients run a saved workflow, by its name or id, under a name of its own.
    #[must_use]
    pub fn share_workflow_as(mut self, name: &str, workflow: &str) -> EnsembleBuilder {
        self.sharing.workflows.push((name.to_owned(), workflow.to_owned()));
        self
    }

    /// Sets the owner of a shared task or tool, by the name that others use: its keys see the work of others and
    /// decide its reviews. `local` by default.
    #[must_use]
    pub fn share_owner(mut self, name: &str, owner: &Owner) -> EnsembleBuilder {
        let shared = self.sharing.items.iter_mut().filter(|item| item.name == name);
        shared.for_each(|item| item.owner = owner.clone());
        self
    }

    /// Sets all network options at once, the peers included; peers that are added one by one come after those.
    #[must_use]
    pub fn network(mut self, options: Options) -> EnsembleBuilder {
        self.sharing.options = Some(options);
        self
    }

    /// Adds another ensemble, by the address of its `/ws`. Its shared capabilities can be
    /// listed as `<name>.<capability>`, `network:*` and `network:#tag` once this one is
    /// [served](crate::Ensemble::serve).
    #[must_use]
    pub fn peer(mut self, name: &str, url: &str) -> EnsembleBuilder {
        self.sharing.peers.push((name.to_owned(), Address { url: url.to_owned(), key: None }));
        self
    }

    /// Adds another ensemble that requires a key.
    #[must_use]
    pub fn peer_with_key(mut self, name: &str, url: &str, key: &str) -> EnsembleBuilder {
        self.sharing.peers.push((name.to_owned(), Address { url: url.to_owned(), key: Some(key.to_owned()) }));
        self
    }

    /// Adds an A2A agent, by its address. Its skills can be listed like the capabilities of a [peer](Self::peer).
    #[must_use]
    pub fn agent(mut self, name: &str, url: &str) -> EnsembleBuilder {
        self.sharing.agents.push((name.to_owned(), AgentAddress { url: url.to_owned(), key: None }));
        self
    }

    /// Adds an A2A agent that requires a key.
    #[must_use]
    pub fn agent_with_key(mut self, name: &str, url: &str, key: &str) -> EnsembleBuilder {
        self.sharing.agents.push((name.to_owned(), AgentAddress { url: url.to_owned(), key: Some(key.to_owned()) }));
        self
    }

    /// Sets the group of ensembles that it belongs to: others of the group are asked first.
    #[must_use]
    pub fn realm(mut self, realm: &str) -> EnsembleBuilder {
        self.sharing.realm = Some(realm.to_owned());
        self
    }

    fn share<'a>(
        mut self,
        kind: Kind,
        (name, target): (&str, &str),
        tags: impl IntoIterator<Item = &'a str>,
    ) -> EnsembleBuilder {
        let tags = tags.into_iter().map(str::to_owned).collect();
        let name = name.to_owned();
        let target = target.to_owned();
        let owner = Owner::local();
        self.sharing.items.push(SharedItem { kind, name, target, tags, owner });
        self
    }
}

impl Sharing {
    /// Returns the shared workflows: the name that others use, and the workflow's name or id.
    pub(crate) fn workflows(&self) -> Vec<(String, String)> {
        self.workflows.clone()
    }

    /// Creates the network, on which nothing is shared yet.
    pub(crate) fn network(&self, name: &str) -> Network {
        let mut options = self.options.clone().unwrap_or_else(|| Options::new(name));
        options.realm = self.realm.clone().or(options.realm);
        options.peers.extend(self.peers.iter().cloned());
        options.agents.extend(self.agents.iter().cloned());
        Network::new(options, Arc::new(WebSockets))
    }

    /// Returns all shared capabilities, or their mistakes.
    pub(crate) fn shares(&self, ensemble: &Ensemble, catalog: &Catalog) -> Result<Vec<Share>, Vec<Mistake>> {
        let mut shares = Vec::<Share>::new();
        let mut mistakes = Vec::new();
        for SharedItem { kind, name, target, tags, owner } in &self.items {
            let what = match kind {
                Kind::Tool => catalog.tools.iter().find(|tool| tool.name == *target).cloned().map(SharedWork::Tool),
                Kind::Task => {
                    let task = ensemble.tasks.iter().find(|task| task.name.as_deref() == Some(target));
                    task.cloned().map(|task| SharedWork::Task(Box::new(task)))
                }
            };
            match what {
                Some(_) if shares.iter().any(|share| share.name == *name) => {
                    mistakes.push(kind.mistake(format!("something else is shared as '{name}'")));
                }
                Some(what) => {
                    shares.push(Share { name: name.clone(), tags: tags.clone(), owner: owner.clone(), what });
                }
                None => mistakes.push(kind.unknown(target, ensemble, catalog)),
            }
        }
        if mistakes.is_empty() { Ok(shares) } else { Err(mistakes) }
    }
}

impl Kind {
    fn mistake(self, message: String) -> Mistake {
        match self {
            Kind::Tool => Mistake::new(Code::InvalidTool, "share_tool", message),
            Kind::Task => Mistake::new(Code::BadRequest, "share_task", message),
        }
    }

    fn unknown(self, name: &str, ensemble: &Ensemble, catalog: &Catalog) -> Mistake {
        let (what, known): (_, Vec<&str>) = match self {
            Kind::Tool => ("tool", catalog.tools.iter().map(|tool| tool.name.as_str()).collect()),
            Kind::Task => ("task", ensemble.tasks.iter().filter_map(|task: &Draft| task.name.as_deref()).collect()),
        };
        self.mistake(format!("there is no {what} '{name}'. Available: [{}]", known.join(", ")))
    }
}
