//! The registry of known capabilities: a pure fold with indices by name
//! and by tag. An update costs in proportion to what that peer shares,
//! independent of other peers; a lookup costs in proportion to its result.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::wire::{Availability, Capability, CapabilityKind, CapacityUpdate};

/// The assumed load of a peer that has not reported one.
const UNKNOWN_LOAD: f64 = 0.5;

/// Every capability on the network, by the ensemble that shares it.
#[derive(Clone, Debug, Default)]
pub struct CapabilityRegistry {
    /// Ensembles in the order they were first seen.
    peers: BTreeMap<u64, Peer>,
    /// Their numbers; all of this is about peers that are linked, each within the limits of a hello.
    numbers: HashMap<Arc<str>, u64>,
    by_name: Index,
    by_tag: Index,
    size: usize,
    next: u64,
}

/// The positions of the capabilities with a certain name or tag: ensemble and index.
type Index = HashMap<Arc<str>, BTreeSet<(u64, usize)>>;

#[derive(Clone, Debug)]
struct Peer {
    name: Arc<str>,
    realm: Option<String>,
    capabilities: Vec<Arc<Capability>>,
    capacity: Option<CapacityUpdate>,
}

/// A capability and the ensemble that shares it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// The ensemble, by the name it has here.
    pub ensemble: Arc<str>,
    /// The shared capability.
    pub capability: Arc<Capability>,
}

impl CapabilityRegistry {
    /// Sets the capabilities of an ensemble, replacing its earlier ones.
    pub fn register(&mut self, ensemble: &str, realm: Option<&str>, capabilities: Vec<Capability>) {
        let (number, capacity) = self.clear(ensemble);
        let mut seen = BTreeSet::new();
        let mut capabilities = capabilities;
        capabilities.retain(|capability| seen.insert(capability.name.clone()));
        for (position, capability) in capabilities.iter().enumerate() {
            let place = (number, position);
            self.by_name.entry(capability.name.as_str().into()).or_default().insert(place);
            for tag in &capability.tags {
                self.by_tag.entry(tag.as_str().into()).or_default().insert(place);
            }
        }
        self.size += capabilities.len();
        let name: Arc<str> = ensemble.into();
        self.numbers.insert(name.clone(), number);
        let capabilities = capabilities.into_iter().map(Arc::new).collect();
        self.peers.insert(number, Peer { name, realm: realm.map(str::to_owned), capabilities, capacity });
    }

    /// Removes an ensemble; an unknown one is not an error.
    pub fn unregister(&mut self, ensemble: &str) {
        if self.numbers.contains_key(ensemble) {
            self.clear(ensemble);
            self.numbers.remove(ensemble);
        }
    }

    /// Records the load of an ensemble.
    pub fn capacity(&mut self, ensemble: &str, update: CapacityUpdate) {
        let peer = self.numbers.get(ensemble).and_then(|number| self.peers.get_mut(number));
        if let Some(peer) = peer {
            peer.realm = update.realm.clone().or_else(|| peer.realm.take());
            peer.capacity = Some(update);
        }
    }

    /// Returns the load that an ensemble reported.
    pub fn capacity_of(&self, ensemble: &str) -> Option<&CapacityUpdate> {
        self.peers.get(self.numbers.get(ensemble)?)?.capacity.as_ref()
    }

    /// Returns the first known ensemble that shares this; none when there is none.
    pub fn find_provider(&self, name: &str) -> Option<Arc<str>> {
        self.find_all_providers(name).next()
    }

    /// Returns every ensemble that shares this, in the order they were first seen.
    pub fn find_all_providers(&self, name: &str) -> impl Iterator<Item = Arc<str>> {
        self.at(self.by_name.get(name)).map(|shared| shared.ensemble)
    }

    /// Returns every capability with this tag.
    pub fn find_by_tag(&self, tag: &str) -> impl Iterator<Item = Shared> {
        self.at(self.by_tag.get(tag))
    }

    /// Returns every known capability.
    pub fn all(&self) -> impl Iterator<Item = Shared> {
        self.peers.values().flat_map(|peer| {
            let shared =
                |capability: &Arc<Capability>| Shared { ensemble: peer.name.clone(), capability: capability.clone() };
            peer.capabilities.iter().map(shared)
        })
    }

    /// Returns the number of capabilities; one that two ensembles share counts twice.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the capability of this name that an ensemble shares.
    pub fn find(&self, ensemble: &str, name: &str) -> Option<Arc<Capability>> {
        let number = *self.numbers.get(ensemble)?;
        let mut places = self.by_name.get(name)?.range((number, 0)..=(number, usize::MAX));
        self.peers.get(&number)?.capabilities.get(places.next()?.1).cloned()
    }

    /// Returns the ensembles that share this and may be asked from `realm`, the best first: those
    /// of the same realm, then of an unknown realm, then of other realms that share with
    /// everyone; among those the least busy first. An ensemble that is about to stop is left out.
    pub fn ranked(&self, name: &str, kind: CapabilityKind, realm: Option<&str>) -> Vec<Arc<str>> {
        let places = self.by_name.get(name).into_iter().flatten();
        let able = places.filter_map(|(number, position)| {
            let peer = self.peers.get(number)?;
            let fits = peer.capabilities.get(*position).is_some_and(|capability| capability.kind == kind);
            fits.then(|| peer.rank(realm)).flatten().map(|rank| (rank, *number, peer.name.clone()))
        });
        let mut able: Vec<_> = able.collect();
        able.sort_by(|(one, first, _), (other, second, _)| {
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(first.cmp(second))
        });
        able.into_iter().map(|(_, _, name)| name).collect()
    }

    /// Returns whether an ensemble may be asked from `realm` at all.
    pub fn may_ask(&self, ensemble: &str, realm: Option<&str>) -> bool {
        let peer = self.numbers.get(ensemble).and_then(|number| self.peers.get(number));
        peer.is_some_and(|peer| peer.rank(realm).is_some())
    }

    fn at(&self, places: Option<&BTreeSet<(u64, usize)>>) -> impl Iterator<Item = Shared> {
        places.into_iter().flatten().filter_map(|(number, position)| {
            let peer = self.peers.get(number)?;
            Some(Shared { ensemble: peer.name.clone(), capability: peer.capabilities.get(*position)?.clone() })
        })
    }

    /// Removes an ensemble from every index; its position in the order and its load remain.
    fn clear(&mut self, ensemble: &str) -> (u64, Option<CapacityUpdate>) {
        let Some(number) = self.numbers.get(ensemble).copied() else {
            self.next += 1;
            return (self.next, None);
        };
        let Some(peer) = self.peers.remove(&number) else { return (number, None) };
        for (position, capability) in peer.capabilities.iter().enumerate() {
            forget(&mut self.by_name, &capability.name, (number, position));
            capability.tags.iter().for_each(|tag| forget(&mut self.by_tag, tag, (number, position)));
        }
        self.size -= peer.capabilities.len();
        (number, peer.capacity)
    }
}

impl Peer {
    /// Returns the distance and the load; none when it may not be asked.
    fn rank(&self, realm: Option<&str>) -> Option<(u8, f64)> {
        let load = self.capacity.as_ref().map_or(UNKNOWN_LOAD, |capacity| capacity.current_load);
        let draining = self.capacity.as_ref().is_some_and(|capacity| capacity.status == Availability::Draining);
        let shareable = self.capacity.as_ref().is_none_or(|capacity| capacity.shareable);
        let distance = match (&self.realm, realm) {
            (Some(there), Some(here)) if there == here => 0,
            (None, _) => 1,
            (Some(_), _) if shareable => 2,
            (Some(_), _) => return None,
        };
        (!draining).then_some((distance, load))
    }
}

fn forget(index: &mut Index, word: &str, place: (u64, usize)) {
    let Some(places) = index.get_mut(word) else { return };
    places.remove(&place);
    if places.is_empty() {
        index.remove(word);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn capability(name: &str, kind: CapabilityKind, tags: &[&str]) -> Capability {
        Capability {
            name: name.to_owned(),
            description: String::new(),
            kind,
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            schema: None,
            version: None,
            effect: None,
            timeout_ms: None,
        }
    }

    fn tool(name: &str, tags: &[&str]) -> Capability {
        capability(name, CapabilityKind::Tool, tags)
    }

    fn busy(status: Availability, realm: Option<&str>, current_load: f64, shareable: bool) -> CapacityUpdate {
        let realm = realm.map(str::to_owned);
        CapacityUpdate { ensemble: String::new(), realm, status, current_load, max_concurrent: 1, shareable }
    }

    #[test]
    fn the_hotel_of_the_seed_is_found_by_name_and_by_tag() {
        let mut registry = CapabilityRegistry::default();
        let kitchen = vec![
            tool("check-inventory", &["food", "stock"]),
            capability("prepare-meal", CapabilityKind::Task, &["food", "cooking"]),
        ];
        registry.register("kitchen", None, kitchen.clone());
        registry.register("pantry", None, vec![tool("check-inventory", &["stock"])]);
        assert_eq!(registry.find_provider("check-inventory").as_deref(), Some("kitchen"));
        assert_eq!(registry.find_all_providers("check-inventory").count(), 2);
        let food: Vec<Capability> = registry.find_by_tag("food").map(|shared| (*shared.capability).clone()).collect();
        assert_eq!(food, kitchen);
        assert_eq!((registry.size(), registry.all().count()), (3, 3));
        registry.unregister("kitchen");
        registry.unregister("nobody");
        assert_eq!(registry.find_provider("check-inventory").as_deref(), Some("pantry"));
        assert_eq!((registry.find_by_tag("food").count(), registry.size()), (0, 1));
    }

    #[test]
    fn the_choice_is_by_realm_then_load_and_never_who_is_about_to_stop() {
        let mut registry = CapabilityRegistry::default();
        for name in ["far", "near-busy", "near", "unknown", "private", "stopping"] {
            registry.register(name, None, vec![tool("stock", &[])]);
        }
        let here = Some("downtown");
        let available = Availability::Available;
        registry.capacity("far", busy(available, Some("uptown"), 0.0, true));
        registry.capacity("near-busy", busy(Availability::Busy, here, 1.0, false));
        registry.capacity("near", busy(available, here, 0.9, false));
        registry.capacity("private", busy(available, Some("uptown"), 0.0, false));
        registry.capacity("stopping", busy(Availability::Draining, here, 0.0, true));
        let ranked = registry.ranked("stock", CapabilityKind::Tool, here);
        assert_eq!(ranked.iter().map(|name| &**name).collect::<Vec<_>>(), ["near", "near-busy", "unknown", "far"]);
        assert!(registry.ranked("stock", CapabilityKind::Task, here).is_empty());
    }

    #[test]
    fn load_is_kept_when_an_ensemble_says_hello_again() {
        let mut registry = CapabilityRegistry::default();
        for name in ["a", "b"] {
            registry.register(name, None, vec![tool("x", &[])]);
        }
        registry.capacity("a", busy(Availability::Available, None, 0.9, true));
        registry.register("a", None, vec![tool("x", &[])]);
        let ranked = registry.ranked("x", CapabilityKind::Tool, None);
        assert_eq!(ranked.iter().map(|name| &**name).collect::<Vec<_>>(), ["b", "a"]);
    }

    /// The same without indices: a list of ensembles in the order they came.
    type Naive = Vec<(String, Vec<Capability>)>;

    fn naive(model: &mut Naive, ensemble: &str, said: Option<Vec<Capability>>) {
        let place = model.iter().position(|(name, _)| name == ensemble);
        match (place, said) {
            (Some(place), Some(said)) => model[place].1 = said,
            (None, Some(said)) => model.push((ensemble.to_owned(), said)),
            (Some(place), None) => drop(model.remove(place)),
            (None, None) => {}
        }
    }

    fn facts(model: &Naive, keep: impl Fn(&Capability) -> bool) -> Vec<(String, Capability)> {
        let each = model.iter().flat_map(|(name, said)| said.iter().map(move |one| (name.clone(), one.clone())));
        each.filter(|(_, one)| keep(one)).collect()
    }

    fn plain(found: impl Iterator<Item = Shared>) -> Vec<(String, Capability)> {
        found.map(|shared| (shared.ensemble.to_string(), (*shared.capability).clone())).collect()
    }

    fn said() -> impl Strategy<Value = Vec<Capability>> {
        let one = (0..5_usize, any::<bool>(), proptest::collection::btree_set(0..4_usize, 0..3));
        proptest::collection::vec(one, 0..4).prop_map(|list| {
            let mut names = BTreeSet::new();
            let list = list.into_iter().filter(|(name, _, _)| names.insert(*name));
            list.map(|(name, is_tool, tags)| {
                let kind = if is_tool { CapabilityKind::Tool } else { CapabilityKind::Task };
                let tags: Vec<String> = tags.iter().map(|tag| format!("t{tag}")).collect();
                capability(&format!("c{name}"), kind, &tags.iter().map(String::as_str).collect::<Vec<_>>())
            })
            .collect()
        })
    }

    proptest! {
        #[test]
        fn whatever_is_heard_the_registry_knows_what_a_plain_list_would(
            heard in proptest::collection::vec((0..6_usize, proptest::option::of(said())), 1..40)
        ) {
            let mut registry = CapabilityRegistry::default();
            let mut model = Naive::new();
            for (ensemble, said) in heard {
                let ensemble = format!("e{ensemble}");
                match &said {
                    Some(said) => registry.register(&ensemble, None, said.clone()),
                    None => registry.unregister(&ensemble),
                }
                naive(&mut model, &ensemble, said);
                prop_assert_eq!(plain(registry.all()), facts(&model, |_| true));
                prop_assert_eq!(registry.size(), facts(&model, |_| true).len());
                for number in 0..5 {
                    let name = format!("c{number}");
                    let tag = format!("t{number}");
                    let providers: Vec<String> = registry.find_all_providers(&name).map(|name| name.to_string()).collect();
                    let expected = facts(&model, |one| one.name == name);
                    prop_assert_eq!(&providers, &expected.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
                    prop_assert_eq!(plain(registry.find_by_tag(&tag)), facts(&model, |one| one.tags.contains(&tag)));
                    for (ensemble, one) in expected {
                        prop_assert_eq!(registry.find(&ensemble, &name), Some(Arc::new(one)));
                    }
                }
            }
        }
    }
}
