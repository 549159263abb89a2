//! A limit that several nodes share: the part of it that each node holds ([`Division`]). It is a small value that a
//! node reads, changes and stores again; here is what it changes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use consort_spec::id::Millis;

/// The time for which a node keeps a unit that goes round, when there are fewer units than nodes that want
/// one: long enough to be worth the way.
const TURN_MS: Millis = 1_000;

/// The parts of a limit that nodes hold. No more is ever held than there is, but for units that a node held
/// before it was taken for dead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Division {
    holders: BTreeMap<String, Holder>,
}

/// One node's part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Holder {
    held: usize,
    wanted: usize,
    /// The time of its last gain.
    #[serde(default)]
    served: Millis,
    /// The time since which the node is gone.
    #[serde(default)]
    gone: Option<Millis>,
    /// The time for which its units are still in use after it is gone.
    #[serde(default)]
    linger: Millis,
}

/// A node's request for units of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask<'a> {
    /// The node.
    pub node: &'a str,
    /// The units that there are.
    pub total: usize,
    /// The units that it holds, used or not.
    pub held: usize,
    /// The units that it could use.
    pub wanted: usize,
    /// The time for which its units are still in use after it is gone.
    pub linger: Millis,
}

/// A node's part of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The units that it holds from now on, at least those it held before.
    pub held: usize,
    /// The units that it should hold; one that holds more gives back what it can.
    pub fair: usize,
    /// Whether another node wants more than it has.
    pub contended: bool,
}

impl Division {
    /// Notes what a node has and wants, and gives it what is free of its fair part. `is_there` says which nodes
    /// are not gone.
    pub fn divide(&mut self, ask: &Ask<'_>, now: Millis, is_there: impl Fn(&str) -> bool) -> Part {
        for (node, holder) in &mut self.holders {
            let since = holder.gone.unwrap_or(now);
            holder.gone = (!is_there(node)).then_some(since);
        }
        let is_used = |holder: &Holder| holder.gone.is_none_or(|since| now < since.saturating_add(holder.linger));
        self.holders.retain(|_, holder| holder.held + holder.wanted > 0 && is_used(holder));
        let Ask { node, total, held, wanted, linger } = *ask;
        let served = self.holders.get(node).map_or(0, |holder| holder.served);
        self.holders.insert(node.to_owned(), Holder { held, wanted, served, gone: None, linger });
        let parts = self.fair(total, now);
        let fair = parts.get(node).copied().unwrap_or_default();
        let used: usize = self.holders.values().map(|holder| holder.held).sum();
        // A node that waits longer goes first, also before a node that has just given something back.
        let owed = |(other, fair): (&&str, &usize)| {
            let holder = self.holders.get(*other)?;
            ((holder.served, *other) < (served, node)).then(|| fair.saturating_sub(holder.held))
        };
        let owed: usize = parts.iter().filter_map(owed).sum();
        let gain = fair.saturating_sub(held).min(total.saturating_sub(used).saturating_sub(owed));
        let others = self.holders.iter().filter(|(other, holder)| *other != node && holder.gone.is_none());
        let contended = others.into_iter().any(|(_, holder)| holder.wanted > holder.held);
        if let Some(holder) = self.holders.get_mut(node).filter(|_| gain > 0) {
            holder.held += gain;
            holder.served = now;
        }
        self.holders.retain(|_, holder| holder.held + holder.wanted > 0);
        Part { held: held + gain, fair, contended }
    }

    /// Returns the fair part of each node that is there: nobody has less than another and wants more, as far as
    /// whole units go; what is left over goes round.
    fn fair(&self, total: usize, now: Millis) -> BTreeMap<&str, usize> {
        let lost: usize = self.holders.values().filter(|holder| holder.gone.is_some()).map(|holder| holder.held).sum();
        let there = || self.holders.iter().filter(|(_, holder)| holder.gone.is_none());
        let mut left = total.saturating_sub(lost);
        let mut fair: BTreeMap<&str, usize> = there().map(|(node, _)| (node.as_str(), 0)).collect();
        loop {
            let has = |node: &String| fair.get(node.as_str()).copied().unwrap_or_default();
            let mut open: Vec<_> = there().filter(|(node, holder)| has(node) < holder.wanted).collect();
            let Some(each) = left.checked_div(open.len()) else { return fair };
            if each == 0 {
                let is_in_turn = |node, holder: &Holder| holder.held > has(node) && now < holder.served + TURN_MS;
                open.sort_by_key(|(node, holder)| (!is_in_turn(node, holder), holder.served));
                let next: Vec<&str> = open.iter().take(left).map(|(node, _)| node.as_str()).collect();
                next.into_iter().filter_map(|node| fair.get_mut(node).map(|has| *has += 1)).for_each(drop);
                return fair;
            }
            let gains: Vec<(&str, usize)> =
                open.iter().map(|(node, holder)| (node.as_str(), each.min(holder.wanted - has(node)))).collect();
            for (node, gain) in gains {
                left -= gain;
                fair.entry(node).and_modify(|has| *has += gain);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: fn(&str) -> bool = |_| true;

    fn ask(node: &str, held: usize, wanted: usize) -> Ask<'_> {
        Ask { node, total: 4, held, wanted, linger: 0 }
    }

    #[test]
    fn who_is_alone_gets_all_it_wants_and_gives_back_when_another_wants() {
        let mut division = Division::default();
        assert_eq!(division.divide(&ask("a", 0, 9), 1, ALL), Part { held: 4, fair: 4, contended: false });
        assert_eq!(division.divide(&ask("b", 0, 2), 2, ALL), Part { held: 0, fair: 2, contended: true });
        assert_eq!(division.divide(&ask("a", 4, 9), 3, ALL), Part { held: 4, fair: 2, contended: true });
        assert_eq!(division.divide(&ask("a", 3, 9), 4, ALL).held, 3);
        assert_eq!(division.divide(&ask("b", 0, 2), 5, ALL), Part { held: 1, fair: 2, contended: true });
        division.divide(&ask("a", 0, 0), 6, ALL);
        assert_eq!(division.divide(&ask("b", 1, 2), 7, ALL), Part { held: 2, fair: 2, contended: false });
    }

    #[test]
    fn one_unit_goes_round_and_nobody_keeps_it_for_more_than_its_turn() {
        let one = |node, held| Ask { node, total: 1, held, wanted: 5, linger: 0 };
        let mut division = Division::default();
        assert_eq!(division.divide(&one("a", 0), 10, ALL).held, 1);
        assert_eq!(division.divide(&one("b", 0), 11, ALL), Part { held: 0, fair: 0, contended: true });
        assert_eq!(division.divide(&one("a", 1), 10 + TURN_MS, ALL).fair, 0, "its turn is over");
        division.divide(&one("a", 0), 11 + TURN_MS, ALL);
        assert_eq!(division.divide(&one("b", 0), 12 + TURN_MS, ALL).held, 1);
        assert_eq!(division.divide(&one("a", 0), 13 + 2 * TURN_MS, ALL).fair, 1, "now it waits longer than the other");
    }

    #[test]
    fn what_a_dead_node_held_is_free_at_once_or_when_its_last_call_must_be_over() {
        let mut division = Division::default();
        division.divide(&ask("a", 0, 4), 1, ALL);
        let without_a = |node: &str| node != "a";
        assert_eq!(division.clone().divide(&ask("b", 0, 4), 5, without_a).held, 4);
        division.divide(&Ask { linger: 100, ..ask("a", 4, 4) }, 6, ALL);
        assert_eq!(division.divide(&ask("b", 0, 4), 10, without_a), Part { held: 0, fair: 0, contended: false });
        assert_eq!(division.divide(&ask("b", 0, 4), 109, without_a).held, 0);
        assert_eq!(division.divide(&ask("b", 0, 4), 110, without_a).held, 4);
    }

    proptest! {
        #[test]
        fn no_more_is_held_than_there_is_and_everybody_is_served_in_the_end(
            total in 1_usize..6,
            wants in proptest::collection::vec((0_usize..4, 0_usize..5), 1..60),
        ) {
            let mut division = Division::default();
            let names = ["a", "b", "c", "d"];
            let mut held = [0_usize; 4];
            let mut wanted = [0_usize; 4];
            let mut fair = [usize::MAX; 4];
            for (step, (who, wants)) in wants.into_iter().enumerate() {
                wanted[who] = wants;
                held[who] = held[who].min(fair[who].max(wants));
                let ask = Ask { node: names[who], total, held: held[who], wanted: wants, linger: 0 };
                let part = division.divide(&ask, 1 + step as Millis, ALL);
                (held[who], fair[who]) = (part.held, part.fair);
                prop_assert!(held.iter().sum::<usize>() <= total);
            }
            let mut served = [false; 4];
            for step in 0..200 {
                let who = step % 4;
                held[who] = held[who].min(fair[who]);
                let ask = Ask { node: names[who], total, held: held[who], wanted: wanted[who], linger: 0 };
                let part = division.divide(&ask, 1_000 + 400 * step as Millis, ALL);
                (held[who], fair[who]) = (part.held, part.fair);
                served[who] |= part.held > 0;
                prop_assert!(held.iter().sum::<usize>() <= total);
            }
            prop_assert!((0..4).all(|who| served[who] || wanted[who] == 0));
        }
    }
}
