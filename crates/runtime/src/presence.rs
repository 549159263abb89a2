//! The clients that attend a thread: each node knows its own clients, and asks the others over links before a turn is
//! stopped because nobody is there. A node that cannot be asked may have a client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::engine::Engine;
use crate::links::{Said, lock};

/// The time for an answer, after which a node counts as one that cannot be asked.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Tells whether a client of this node attends a thread.
type Here = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// The clients of this node, and the questions about those of others.
#[derive(Default)]
pub(crate) struct Presence {
    here: OnceLock<Here>,
    numbered: AtomicU64,
    /// The questions that wait for answers: as many as turns without a client here.
    questions: Mutex<HashMap<u64, mpsc::Sender<bool>>>,
}

impl Presence {
    pub(crate) fn is_attended_here(&self, thread: &str) -> bool {
        self.here.get().is_some_and(|is_attended| is_attended(thread))
    }

    fn ask(&self, nodes: usize) -> Question<'_> {
        let number = self.numbered.fetch_add(1, Ordering::Relaxed);
        let (sender, answers) = mpsc::channel(nodes.max(1));
        lock(&self.questions).insert(number, sender);
        Question { presence: self, number, answers }
    }

    pub(crate) fn answered(&self, question: u64, attends: bool) {
        if let Some(answers) = lock(&self.questions).get(&question) {
            let _nobody_waits = answers.try_send(attends);
        }
    }
}

impl Engine {
    /// Sets how it is found out whether a client of this node attends a thread, once.
    pub fn attended_by(&self, is_attended: impl Fn(&str) -> bool + Send + Sync + 'static) {
        let _first = self.seams().links.0.presence.here.set(Box::new(is_attended));
    }

    /// Returns whether a client of another node attends a thread, or may attend it, because that node cannot be asked.
    pub async fn may_be_attended_elsewhere(&self, thread: &str) -> bool {
        if self.is_alone() {
            return false;
        }
        let cluster = &self.seams().cluster;
        let Ok(nodes) = cluster.nodes().await else { return true };
        let own = cluster.id();
        let others: Vec<Arc<str>> = nodes.into_iter().map(|node| node.id).filter(|id| *id != own).collect();
        self.ask_who_attends(&others, thread).await.unwrap_or(true)
    }

    /// Returns whether one of these nodes has a client that attends a thread; `None` when one of them did not answer.
    async fn ask_who_attends(&self, nodes: &[Arc<str>], thread: &str) -> Option<bool> {
        let links = &self.seams().links;
        let presence = &links.0.presence;
        let mut question = presence.ask(nodes.len());
        for node in nodes {
            let said = Said::WhoAttends { question: question.number, thread: thread.to_owned() };
            if !links.tell(node, said) {
                return None;
            }
        }
        for _node in nodes {
            if timeout(ANSWER_MAX, question.answers.recv()).await.ok()?? {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// A question that waits for answers until it is dropped.
struct Question<'a> {
    presence: &'a Presence,
    number: u64,
    answers: mpsc::Receiver<bool>,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        lock(&self.presence.questions).remove(&self.number);
    }
}
