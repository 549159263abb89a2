//! The permits of one run: model slots and locks. A run acquires the ones it could use
//! now, and uses them in the same decision or gives them back.

use std::collections::BTreeMap;

use consort_core::next::{Effect, Grants, Needs};
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use futures::{FutureExt, future};

use crate::limits::{Departure, Limits, Lock, Permit};

/// The permits that an effect holds while it is executed.
pub(crate) enum Held {
    Slot(Permit),
    #[expect(dead_code, reason = "held for being dropped with the effect")]
    Lock(Lock),
    Nothing,
}

impl Held {
    /// Returns the tokens that must be valid when the effect's request leaves.
    pub(crate) fn departure(&self) -> Option<Departure> {
        match self {
            Held::Slot(permit) => permit.departure(),
            Held::Lock(_) | Held::Nothing => None,
        }
    }
}

/// A permit that was waited for.
pub(crate) enum Granted {
    Slot(String, Permit),
    Lock(String, Lock),
}

/// One run's permits.
pub(crate) struct Permits {
    limits: Limits,
    slots: BTreeMap<String, Vec<Permit>>,
    locks: BTreeMap<String, Lock>,
    /// At most one wait for each model and each lock, by name.
    waits: FuturesUnordered<BoxFuture<'static, Granted>>,
    waiting: Vec<String>,
}

impl Permits {
    pub(crate) fn new(limits: Limits) -> Permits {
        let waits = FuturesUnordered::new();
        Permits { limits, slots: BTreeMap::new(), locks: BTreeMap::new(), waits, waiting: Vec::new() }
    }

    /// Returns the permits that the run may use now.
    pub(crate) fn grants(&self) -> Grants {
        Grants {
            models: self.slots.iter().map(|(alias, slots)| (alias.clone(), slots.len())).collect(),
            locks: self.locks.keys().cloned().collect(),
            ..Grants::default()
        }
    }

    /// Acquires what is available at once and waits for the rest; returns true when
    /// something was acquired.
    pub(crate) fn take(&mut self, needs: &Needs) -> bool {
        let mut had = false;
        for (alias, turns) in needs.models.iter().filter(|(_, turns)| **turns > 0) {
            had |= self.take_slots(alias, *turns);
        }
        for name in &needs.locks {
            had |= self.take_lock(name);
        }
        had
    }

    fn take_slots(&mut self, alias: &str, turns: usize) -> bool {
        let taken: Vec<Permit> = (0..turns).map_while(|_| self.limits.try_acquire(alias)).collect();
        let had = !taken.is_empty();
        if taken.len() < turns {
            let limits = self.limits.clone();
            let name = alias.to_owned();
            self.wait(format!("model {alias}"), async move {
                let permit = limits.acquire(&name).await;
                Granted::Slot(name, permit)
            });
        }
        self.slots.entry(alias.to_owned()).or_default().extend(taken);
        had
    }

    fn take_lock(&mut self, name: &str) -> bool {
        if let Some(lock) = self.limits.try_lock(name) {
            self.locks.insert(name.to_owned(), lock);
            return true;
        }
        let limits = self.limits.clone();
        let name = name.to_owned();
        self.wait(format!("lock {name}"), async move {
            let lock = limits.lock(&name).await;
            Granted::Lock(name, lock)
        });
        false
    }

    fn wait(&mut self, what: String, wait: impl Future<Output = Granted> + Send + 'static) {
        if !self.waiting.contains(&what) {
            self.waiting.push(what);
            self.waits.push(wait.boxed());
        }
    }

    /// Returns when a permit has been granted; never, when none is waited for.
    pub(crate) async fn granted(&mut self) -> Granted {
        match self.waits.next().await {
            Some(granted) => granted,
            None => future::pending().await,
        }
    }

    /// Records a grant and everything else that has been granted by now.
    pub(crate) fn note(&mut self, granted: Option<Granted>) {
        let mut granted = granted;
        while let Some(grant) = granted {
            match grant {
                Granted::Slot(alias, permit) => {
                    self.waiting.retain(|what| *what != format!("model {alias}"));
                    self.slots.entry(alias).or_default().push(permit);
                }
                Granted::Lock(name, lock) => {
                    self.waiting.retain(|what| *what != format!("lock {name}"));
                    self.locks.insert(name, lock);
                }
            }
            granted = self.ready();
        }
    }

    /// Returns a grant that has not been recorded yet.
    pub(crate) fn ready(&mut self) -> Option<Granted> {
        if self.waits.is_empty() {
            return None;
        }
        self.waits.next().now_or_never().flatten()
    }

    /// Hands over the permits that an effect needs.
    pub(crate) fn spend(&mut self, effect: &Effect) -> Held {
        match effect {
            Effect::Ask(question) => {
                let slot = self.slots.get_mut(&question.model).and_then(Vec::pop);
                slot.map_or(Held::Nothing, Held::Slot)
            }
            Effect::Call { tool, .. } => {
                let lock = tool.lock.as_ref().and_then(|name| self.locks.remove(name));
                lock.map_or(Held::Nothing, Held::Lock)
            }
        }
    }

    /// Gives back the permits that this decision did not use.
    pub(crate) fn give_back(&mut self) {
        self.slots.clear();
        self.locks.clear();
    }

    /// Stops waiting for anything.
    pub(crate) fn abandon(&mut self) {
        self.give_back();
        self.waits.clear();
        self.waiting.clear();
    }
}
