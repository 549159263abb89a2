//! Links between nodes: the words of models to watchers on other nodes, hints to look at the store at once, and who
//! attends what. Nothing that is said here is believed about what is stored, so without links everything works at the
//! speed of polls.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use consort_core::frame::live::LiveFrame;
use consort_core::json;
use consort_log::Seq;
use futures::stream::{BoxStream, StreamExt};
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use crate::engine::Engine;
use crate::presence::Presence;
use crate::ring::{CommitFrames, Frame, Listener, News};

/// Words that wait for a slow watcher; what comes then is dropped, because its events bring it again.
const WORDS_MAX: usize = 1024;
/// Messages that wait for a slow link; hints and words that come then are dropped.
const SAID_MAX: usize = 4096;
/// Messages that are sent together: those that wait when the link is free.
const TOGETHER_MAX: usize = 1024;
/// The bytes of words that become one message. Those who watch get them as one, as slow watchers do.
const WORDS_BYTES_MAX: usize = 16 * 1024;
/// The time between two reports of missing links.
const WARN_EVERY: Duration = Duration::from_secs(60);
/// Watchers of another node at the same time: more than its clients could look at.
const FOLLOWERS_MAX: usize = 4096;

/// A message from one node to another.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Said {
    /// A watcher wants the words of a run, wherever it is.
    Follow {
        /// The number of the watcher.
        watcher: u64,
        /// The run.
        run: Arc<str>,
    },
    /// A watcher has left.
    Leave {
        /// The number of the watcher.
        watcher: u64,
    },
    /// Something of the run was stored.
    News {
        /// The number of the watcher.
        watcher: u64,
    },
    /// Words of a model.
    Words {
        /// The number of the watcher.
        watcher: u64,
        /// The event that they follow.
        after: Seq,
        /// The words.
        frame: Box<LiveFrame>,
    },
    /// There may be a message, or a run in the line.
    Look,
    /// Whether a client here attends a thread.
    WhoAttends {
        /// The number of the question.
        question: u64,
        /// The thread.
        thread: String,
    },
    /// The answer to that.
    Attends {
        /// The number of the question.
        question: u64,
        /// Whether one does.
        attends: bool,
    },
}

/// The links of a node. Clones share them.
#[derive(Clone, Default)]
pub struct Links(pub(crate) Arc<Inner>);

#[derive(Default)]
pub(crate) struct Inner {
    /// The secret that nodes prove to each other that they know; absent where none is configured.
    secret: Option<String>,
    numbered: AtomicU64,
    /// The moment at which a missing link was last reported.
    warned: Mutex<Option<Instant>>,
    /// The links, by the id of the node at the other end.
    peers: Mutex<HashMap<Arc<str>, mpsc::Sender<Said>>>,
    /// The watchers of this node: as many as watch runs of others.
    watchers: Mutex<Watchers>,
    /// Changes when another node asks this one to look.
    look: watch::Sender<u64>,
    /// Notified when a run begins to be owned here.
    arrived: Notify,
    /// The clients of this node, and questions about those of others.
    pub(crate) presence: Presence,
}

/// The runs that watchers watch, by their numbers, and the way to each.
type Watchers = HashMap<u64, (Arc<str>, mpsc::Sender<Heard>)>;

/// A message to a watcher that came over a link.
pub(crate) enum Heard {
    /// Something was stored.
    News,
    /// Words that follow an event.
    Words(Seq, Box<LiveFrame>),
}

/// A watcher's place among those who hear of runs of other nodes.
pub(crate) struct Hearing {
    watcher: u64,
    links: Links,
    heard: mpsc::Receiver<Heard>,
    /// Words that came behind news.
    kept: Option<Heard>,
}

/// The other end of a link.
pub struct Peer {
    /// The id of its node.
    pub node: Arc<str>,
    /// The messages that it sends.
    pub incoming: BoxStream<'static, String>,
    /// The queue of messages for it.
    pub outgoing: mpsc::Sender<String>,
}

impl Links {
    /// Creates the links of a node that knows this secret.
    pub fn new(secret: Option<String>) -> Links {
        Links(Arc::new(Inner { secret, ..Inner::default() }))
    }

    /// Returns the proof that a node knows the secret, for what the other one has asked it; `None` without a secret.
    pub fn proof(&self, challenge: &str) -> Option<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.secret.as_ref()?.as_bytes()).ok()?;
        mac.update(challenge.as_bytes());
        Some(mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns whether this is the proof.
    pub fn is_proof(&self, challenge: &str, proof: &str) -> bool {
        let bytes: Option<Vec<u8>> = (0..proof.len() / 2)
            .map(|place| u8::from_str_radix(proof.get(2 * place..2 * place + 2)?, 16).ok())
            .collect();
        let mac = self.0.secret.as_ref().and_then(|secret| Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok());
        match (mac, bytes) {
            (Some(mut mac), Some(bytes)) => {
                mac.update(challenge.as_bytes());
                mac.verify_slice(&bytes).is_ok()
            }
            _ => false,
        }
    }

    /// Returns whether nodes can prove to each other who they are.
    pub fn is_possible(&self) -> bool {
        self.0.secret.is_some()
    }

    /// Returns whether a missing link may be reported now: once a minute is enough.
    pub fn may_warn(&self) -> bool {
        let mut warned = lock(&self.0.warned);
        let is_due = warned.is_none_or(|at| at.elapsed() >= WARN_EVERY);
        if is_due {
            *warned = Some(Instant::now());
        }
        is_due
    }

    /// Returns whether there is a link to a node.
    pub fn has(&self, node: &str) -> bool {
        lock(&self.0.peers).contains_key(node)
    }

    /// Asks all other nodes to look for messages and for runs in the line.
    pub(crate) fn ask_to_look(&self) {
        self.tell_all(&Said::Look);
    }

    /// Returns what changes when another node asks this one to look.
    pub(crate) fn look(&self) -> watch::Receiver<u64> {
        self.0.look.subscribe()
    }

    /// Says that a run is owned here from now on.
    pub(crate) fn arrived(&self) {
        self.0.arrived.notify_waiters();
    }

    /// Lets a watcher hear of a run of another node.
    pub(crate) fn follow(&self, run: &Arc<str>) -> Hearing {
        let (sender, heard) = mpsc::channel(WORDS_MAX);
        let watcher = self.0.numbered.fetch_add(1, Ordering::Relaxed);
        lock(&self.0.watchers).insert(watcher, (run.clone(), sender));
        self.tell_all(&Said::Follow { watcher, run: run.clone() });
        Hearing { watcher, links: self.clone(), heard, kept: None }
    }

    /// Says something to a node; false when there is no link to it, or it is too slow.
    pub(crate) fn tell(&self, node: &str, said: Said) -> bool {
        lock(&self.0.peers).get(node).is_some_and(|peer| peer.try_send(said).is_ok())
    }

    fn tell_all(&self, said: &Said) {
        for peer in lock(&self.0.peers).values() {
            let _too_slow = peer.try_send(said.clone());
        }
    }

    fn pass_on(&self, watcher: u64, heard: Heard) {
        if let Some((_, sender)) = lock(&self.0.watchers).get(&watcher) {
            let _too_slow = sender.try_send(heard);
        }
    }
}

impl Hearing {
    /// Returns what is heard next; news that come together are one.
    pub(crate) async fn next(&mut self) -> Heard {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        let Some(heard) = self.heard.recv().await else { return std::future::pending().await };
        if let Heard::News = heard {
            while let Ok(more) = self.heard.try_recv() {
                if let Heard::Words(..) = more {
                    self.kept = Some(more);
                    break;
                }
            }
        }
        heard
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        lock(&self.links.0.watchers).remove(&self.watcher);
        self.links.tell_all(&Said::Leave { watcher: self.watcher });
    }
}

impl Engine {
    /// Talks with another node until the link ends; a link that there was to the same node is over then.
    pub async fn talk_to(&self, peer: Peer) {
        let links = &self.seams().links;
        let Peer { node, mut incoming, outgoing } = peer;
        let (said, mut saying) = mpsc::channel(SAID_MAX);
        lock(&links.0.peers).insert(node.clone(), said.clone());
        let _linked = Linked { links: links.clone(), node, said: said.clone() };
        let followed: Vec<(u64, Arc<str>)> =
            lock(&links.0.watchers).iter().map(|(watcher, (run, _))| (*watcher, run.clone())).collect();
        for (watcher, run) in followed {
            let _too_slow = said.try_send(Said::Follow { watcher, run });
        }
        let mut followers =
            Followers { engine: self.clone(), said: said.clone(), tasks: JoinSet::new(), by: HashMap::new() };
        loop {
            tokio::select! {
                heard = incoming.next() => match heard.map(|text| serde_json::from_str(&text)) {
                    Some(Ok(heard)) => self.hear(heard, &mut followers),
                    // Said by a newer version: what it means is found in the store.
                    Some(Err(error)) => tracing::debug!(%error, "another node said something unknown"),
                    None => break,
                },
                Some(first) = saying.recv() => {
                    let said = together(first, &mut saying);
                    if send(&outgoing, said).await.is_err() {
                        break;
                    }
                }
            }
        }
    }

    fn hear(&self, heard: Said, followers: &mut Followers) {
        let links = &self.seams().links;
        match heard {
            Said::Follow { watcher, run } => followers.begin(watcher, run),
            Said::Leave { watcher } => followers.end(watcher),
            Said::News { watcher } => links.pass_on(watcher, Heard::News),
            Said::Words { watcher, after, frame } => links.pass_on(watcher, Heard::Words(after, frame)),
            Said::Look => links.0.look.send_modify(|number| *number += 1),
            Said::WhoAttends { question, thread } => {
                let attends = links.0.presence.is_attended_here(&thread);
                let _too_slow = followers.said.try_send(Said::Attends { question, attends });
            }
            Said::Attends { question, attends } => links.0.presence.answered(question, attends),
        }
    }
}

/// Returns everything that waits to be said, with words that follow each other as one message.
fn together(first: Said, saying: &mut mpsc::Receiver<Said>) -> Vec<Said> {
    let mut all: Vec<Said> = Vec::new();
    // The place of the last message to each watcher: what is said to one keeps its order.
    let mut last: HashMap<u64, usize> = HashMap::new();
    let mut next = Some(first);
    while let Some(said) = next {
        let watcher = match &said {
            Said::Words { watcher, .. } | Said::News { watcher } => Some(*watcher),
            Said::Follow { .. } | Said::Leave { .. } | Said::Look | Said::WhoAttends { .. } | Said::Attends { .. } => {
                None
            }
        };
        let before = watcher.and_then(|watcher| last.get(&watcher)).and_then(|place| all.get_mut(*place));
        if !before.is_some_and(|before| join(before, &said)) {
            watcher.and_then(|watcher| last.insert(watcher, all.len()));
            all.push(said);
        }
        next = if all.len() < TOGETHER_MAX { saying.try_recv().ok() } else { None };
    }
    all
}

/// Adds words to a message with those before them; returns whether it did.
fn join(before: &mut Said, said: &Said) -> bool {
    match (before, said) {
        (Said::Words { after, frame, .. }, Said::Words { after: same, frame: more, .. }) => {
            after == same && frame.join(more, WORDS_BYTES_MAX)
        }
        _ => false,
    }
}

async fn send(outgoing: &mpsc::Sender<String>, said: Vec<Said>) -> Result<(), mpsc::error::SendError<String>> {
    for said in said {
        if let Ok(text) = json::text(&said) {
            outgoing.send(text).await?;
        }
    }
    Ok(())
}

/// A link that is open until this is dropped.
struct Linked {
    links: Links,
    node: Arc<str>,
    said: mpsc::Sender<Said>,
}

impl Drop for Linked {
    fn drop(&mut self) {
        let mut peers = lock(&self.links.0.peers);
        if peers.get(&self.node).is_some_and(|present| present.same_channel(&self.said)) {
            peers.remove(&self.node);
        }
    }
}

/// The watchers at the other end of a link.
struct Followers {
    engine: Engine,
    said: mpsc::Sender<Said>,
    tasks: JoinSet<()>,
    by: HashMap<u64, AbortHandle>,
}

impl Followers {
    fn begin(&mut self, watcher: u64, run: Arc<str>) {
        while self.tasks.try_join_next().is_some() {}
        if self.by.len() >= FOLLOWERS_MAX {
            return tracing::warn!("another node has too many watchers; they get no words");
        }
        let follower = Follower { engine: self.engine.clone(), said: self.said.clone(), watcher, run };
        let task = self.tasks.spawn(follower.work());
        if let Some(before) = self.by.insert(watcher, task) {
            before.abort();
        }
    }

    fn end(&mut self, watcher: u64) {
        if let Some(task) = self.by.remove(&watcher) {
            task.abort();
        }
    }
}

/// A watcher at the other end, and the run that it watches.
struct Follower {
    engine: Engine,
    said: mpsc::Sender<Said>,
    watcher: u64,
    run: Arc<str>,
}

impl Follower {
    /// Tells what happens to the run whenever it is owned here.
    async fn work(self) {
        loop {
            let links = self.engine.seams().links.clone();
            let arrived = links.0.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            match self.engine.listen(&self.run) {
                Some(listener) => self.tell(listener).await,
                None => arrived.await,
            }
        }
    }

    /// Tells what happens until the run is not owned here any more.
    async fn tell(&self, mut listener: Listener) {
        let watcher = self.watcher;
        // Something may have happened before this.
        let _too_slow = self.said.try_send(Said::News { watcher });
        loop {
            match listener.news().await {
                Ok(News::Words) => {
                    while let Some(frame) = listener.words(0, Seq::MAX) {
                        self.say(&frame);
                    }
                }
                Ok(News::CommitFrames(CommitFrames::Frames(frames))) => frames.iter().for_each(|frame| self.say(frame)),
                Ok(News::CommitFrames(CommitFrames::Unrendered)) => drop(self.said.try_send(Said::News { watcher })),
                Err(RecvError::Lagged(_)) => drop(self.said.try_send(Said::News { watcher })),
                Err(RecvError::Closed) => {
                    let _too_slow = self.said.try_send(Said::News { watcher });
                    return;
                }
            }
        }
    }

    fn say(&self, frame: &Frame) {
        let watcher = self.watcher;
        let said = match frame {
            Frame::Delta { after, frame, .. } => {
                Said::Words { watcher, after: *after, frame: Box::new((**frame).clone()) }
            }
            Frame::Event { .. } | Frame::Result { .. } => Said::News { watcher },
        };
        let _too_slow = self.said.try_send(said);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
