//! What other ensembles may use, and which of them are known.

use std::sync::Arc;

use consort_core::draft::{Draft, Ensemble};
use consort_core::mistake::{Code, Mistake};
use consort_log::Log;
use consort_log::clock::Clock;
use consort_net::network::{Network, Options};
use consort_net::serve::{MAX_CONCURRENT, Serve};
use consort_net::share::{Kitchen, Share, What};
use consort_net::transport::{Address, WebSockets};
use consort_runtime::engine::Engine;
use consort_tools::collections::Collections;
use consort_tools::{SearchCollections, Toolbox, Workspace};

use crate::builder::EnsembleBuilder;
use crate::catalog::ToolCatalog;

/// What others see of an ensemble that is served.
pub(crate) struct Shown {
    pub(crate) network: Network,
    pub(crate) shares: Vec<Share>,
    /// The documents, as the tools search them.
    pub(crate) collections: Collections,
    /// The folder tasks work in.
    pub(crate) workspace: Option<Workspace>,
}

/// What a builder was told about others.
#[derive(Default)]
pub(crate) struct Sharing {
    wishes: Vec<Wish>,
    realm: Option<String>,
    peers: Vec<(String, Address)>,
}

/// Something to share.
struct Wish {
    kind: Kind,
    name: String,
    tags: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tool,
    Task,
}

impl EnsembleBuilder {
    /// Lets other ensembles do a task of this one, by its name, once it is
    /// [served](crate::Ensemble::serve). What they ask for is `{context}` in its
    /// description.
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
        self.share(Kind::Task, name, tags)
    }

    /// Lets other ensembles call a tool of this one, by its name.
    #[must_use]
    pub fn share_tool<'a>(self, name: &str, tags: impl IntoIterator<Item = &'a str>) -> EnsembleBuilder {
        self.share(Kind::Tool, name, tags)
    }

    /// Names another ensemble, by the address of its `/ws`. What it shares can be
    /// listed as `<name>.<capability>`, `network:*` and `network:#tag` once this
    /// one is [served](crate::Ensemble::serve).
    #[must_use]
    pub fn peer(mut self, name: &str, url: &str) -> EnsembleBuilder {
        self.sharing.peers.push((name.to_owned(), Address { url: url.to_owned(), key: None }));
        self
    }

    /// The same for one that wants to see a key.
    #[must_use]
    pub fn peer_with_key(mut self, name: &str, url: &str, key: &str) -> EnsembleBuilder {
        self.sharing.peers.push((name.to_owned(), Address { url: url.to_owned(), key: Some(key.to_owned()) }));
        self
    }

    /// Says which group of ensembles it belongs to: others of the group are
    /// asked first.
    #[must_use]
    pub fn realm(mut self, realm: &str) -> EnsembleBuilder {
        self.sharing.realm = Some(realm.to_owned());
        self
    }

    fn share<'a>(mut self, kind: Kind, name: &str, tags: impl IntoIterator<Item = &'a str>) -> EnsembleBuilder {
        let tags = tags.into_iter().map(str::to_owned).collect();
        self.sharing.wishes.push(Wish { kind, name: name.to_owned(), tags });
        self
    }
}

impl Sharing {
    /// The network, on which nothing is shared yet.
    pub(crate) fn network(&self, name: &str) -> Network {
        let options = Options { realm: self.realm.clone(), peers: self.peers.clone(), ..Options::new(name) };
        Network::new(options, Arc::new(WebSockets))
    }

    /// Everything that is shared, or what is wrong with it.
    pub(crate) fn shares(&self, ensemble: &Ensemble, tools: &Toolbox) -> Result<Vec<Share>, Vec<Mistake>> {
        let (mut shares, mut mistakes) = (Vec::<Share>::new(), Vec::new());
        for Wish { kind, name, tags } in &self.wishes {
            let what = match kind {
                Kind::Tool => tools.get(name).map(|tool| What::Tool(tool.info().clone())),
                Kind::Task => {
                    let task = ensemble.tasks.iter().find(|task| task.name.as_deref() == Some(name));
                    task.cloned().map(|task| What::Task(Box::new(task)))
                }
            };
            match what {
                Some(_) if shares.iter().any(|share| share.name == *name) => {
                    mistakes.push(kind.mistake(format!("something else is shared as '{name}'")));
                }
                Some(what) => shares.push(Share { name: name.clone(), tags: tags.clone(), what }),
                None => mistakes.push(kind.unknown(name, ensemble, tools)),
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

    fn unknown(self, name: &str, ensemble: &Ensemble, tools: &Toolbox) -> Mistake {
        let (what, known): (_, Vec<&str>) = match self {
            Kind::Tool => ("tool", tools.names().collect()),
            Kind::Task => ("task", ensemble.tasks.iter().filter_map(|task: &Draft| task.name.as_deref()).collect()),
        };
        self.mistake(format!("there is no {what} '{name}'. Available: [{}]", known.join(", ")))
    }
}

/// The documents of this log, and the tools with the one that searches them.
pub(crate) fn documents(log: &Arc<dyn Log>, clock: Clock, tools: ToolCatalog) -> (Collections, ToolCatalog) {
    let collections = Collections::new(log.clone());
    (collections.clone(), tools.with(SearchCollections::new(collections, clock)))
}

/// Lets others use what is shared.
pub(crate) fn offer(network: &Network, kitchen: Kitchen, engine: &Engine) {
    let name = kitchen.ensemble.name.clone();
    network.offer(Arc::new(Serve::new(&name, kitchen, engine.clone(), MAX_CONCURRENT)));
}
