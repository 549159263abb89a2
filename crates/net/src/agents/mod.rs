//! A2A agents, used like peers: their cards are read when the server starts and again from time to time, and their
//! skills are tools. [`card`] reads a card, `call` sends requests, `reported` puts together what comes back, `tool` is
//! one call.

mod call;
mod card;
mod reported;
#[cfg(test)]
mod tests;
mod tool;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use consort_core::id::Millis;
use consort_tools::Tool;

use self::call::AgentLink;
use self::card::Card;
pub(crate) use self::tool::AgentTool;
use crate::limits::{WORDS_MAX, cut};
use crate::network::{Network, PeerView};
use crate::wire::{Capability, CapabilityKind, Hello};

/// The path of an agent's card.
const CARD: &str = "/.well-known/agent-card.json";

/// An agent of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentAddress {
    /// Its address, of which the card is below.
    pub url: String,
    /// The key that it wants.
    pub key: Option<String>,
}

/// The agents, as far as they are known.
#[derive(Default)]
pub(crate) struct Agents(Mutex<BTreeMap<String, Known>>);

/// An agent, as far as it is known.
#[derive(Clone, Default)]
struct Known {
    /// The way to it, and its card, once that was read.
    found: Option<(AgentLink, Arc<Card>)>,
    since: Option<Millis>,
    trouble: Option<String>,
}

impl Agents {
    fn state(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tools of all agents that can be asked.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let state = self.state();
        let reachable = state.iter().filter(|(_, known)| known.trouble.is_none());
        let tools = reachable.filter_map(|(name, known)| Some((name, known.found.as_ref()?)));
        let each = tools.flat_map(|(name, (link, card))| {
            card.skills.iter().map(move |skill| -> Arc<dyn Tool> { Arc::new(AgentTool::new(link, name, card, skill)) })
        });
        each.collect()
    }

    /// Returns the skill of this name, if its agent is known.
    pub(crate) fn find(&self, name: &str) -> Option<AgentTool> {
        let (agent, skill) = name.split_once('.')?;
        let state = self.state();
        let (link, card) = state.get(agent)?.found.as_ref()?;
        let skill = card.skills.iter().find(|known| known.name == skill)?;
        Some(AgentTool::new(link, agent, card, skill))
    }

    /// Returns an agent as peers are shown.
    pub(crate) fn view(&self, name: &str) -> PeerView {
        let known = self.state().get(name).cloned().unwrap_or_default();
        let connected = known.found.is_some() && known.trouble.is_none();
        let hello = known.found.map(|(_, card)| Hello {
            ensemble: Some(card.name.clone()),
            version: Some(card.version.clone()),
            shared_capabilities: capabilities(&card),
            ..Hello::default()
        });
        PeerView {
            name: name.to_owned(),
            connected,
            since: known.since.filter(|_| connected),
            dialled: true,
            trouble: known.trouble,
            hello,
            capacity: None,
            requests: Vec::new(),
        }
    }

    /// Notes what was learned of an agent; returns whether that is news.
    fn note(&self, name: &str, learned: Result<(AgentLink, Card), String>, now: Millis) -> bool {
        let mut state = self.state();
        let known = state.entry(name.to_owned()).or_default();
        match learned {
            Ok((link, card)) => {
                let was_there = known.trouble.is_none();
                let is_same = known.found.as_ref().is_some_and(|(_, known)| **known == card);
                if was_there && is_same {
                    return false;
                }
                if !was_there || known.since.is_none() {
                    known.since = Some(now);
                }
                known.trouble = None;
                known.found = Some((link, Arc::new(card)));
                true
            }
            Err(why) => {
                let why = cut(why, WORDS_MAX);
                let is_news = known.trouble.as_ref() != Some(&why);
                known.trouble = Some(why);
                is_news
            }
        }
    }
}

fn capabilities(card: &Card) -> Vec<Capability> {
    let capability = |skill: &card::Skill| Capability {
        name: skill.name.clone(),
        description: skill.description.clone(),
        kind: CapabilityKind::Task,
        tags: skill.tags.clone(),
        schema: None,
        version: None,
        effect: None,
        timeout_ms: None,
    };
    card.skills.iter().map(capability).collect()
}

/// Reads the card of an agent, and again after each lease: what it can do changes, and it comes and goes.
pub(crate) async fn keep(network: Network, name: String, address: AgentAddress) {
    loop {
        let learned = learn(&address).await;
        if let Err(why) = &learned {
            tracing::debug!(agent = name, why, "an agent cannot be asked");
        }
        network.learned(|agents, now| agents.note(&name, learned, now));
        tokio::time::sleep(network.options().lease.max(Duration::from_secs(1))).await;
    }
}

async fn learn(address: &AgentAddress) -> Result<(AgentLink, Card), String> {
    let link = AgentLink::new(address.key.as_deref())?;
    let url = address.url.trim_end_matches('/');
    let card = link.card(&format!("{url}{CARD}")).await?;
    let origin = origin(url).ok_or("its address is none of http or https")?;
    Ok((link, Card::read(&card, origin)?))
}

/// Returns the scheme, host and port of an address.
fn origin(url: &str) -> Option<&str> {
    let start = url.find("://")? + 3;
    let rest = url.get(start..)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    url.get(..start + end)
}
