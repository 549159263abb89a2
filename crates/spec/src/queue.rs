//! A priority queue: the most urgent item first, and among equals the oldest. A level of urgency is worth a time of
//! waiting, so that no item waits for ever. The order of two items never changes, so an item loses places only to
//! more urgent ones that come later.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::Millis;

/// The urgency of a piece of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Priority {
    /// It can wait.
    Low,
    /// As usual.
    #[default]
    Normal,
    /// Before what is usual.
    High,
    /// Before everything else.
    Critical,
}

/// The number of priorities.
const LEVELS: usize = 4;

/// The waiting items, each in the line of its priority.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    /// The wait that counts as much as one level; 0 = none does.
    aging_ms: Millis,
    lines: [VecDeque<(Millis, T)>; LEVELS],
}

impl<T> Queue<T> {
    /// Creates an empty queue.
    pub fn new(aging_ms: Millis) -> Queue<T> {
        Queue { aging_ms, lines: Default::default() }
    }

    /// Adds an item that came at this time.
    pub fn push(&mut self, priority: Priority, at: Millis, item: T) {
        if let Some(line) = self.lines.get_mut(priority as usize) {
            line.push_back((at, item));
        }
    }

    /// Takes the next item.
    pub fn pop(&mut self) -> Option<T> {
        let aging_ms = self.aging_ms;
        let heads = self.lines.iter().enumerate().filter_map(|(level, line)| Some((level, line.front()?.0)));
        // The longer wait decides between equals, then the priority it came with.
        let first = heads.min_by_key(|(level, at)| (rank(*level, *at, aging_ms), *at, LEVELS - level));
        let (_, item) = self.lines.get_mut(first?.0)?.pop_front()?;
        Some(item)
    }

    /// Keeps only the items that pass.
    pub fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.lines.iter_mut().for_each(|line| line.retain(|(_, item)| keep(item)));
    }

    /// Returns the number of waiting items.
    pub fn len(&self) -> usize {
        self.lines.iter().map(VecDeque::len).sum()
    }

    /// Returns whether no item waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Clone> Queue<T> {
    /// Returns all waiting items in the order in which they will be taken.
    pub fn in_order(&self) -> Vec<T> {
        let mut rest = self.clone();
        std::iter::from_fn(|| rest.pop()).collect()
    }
}

/// Returns the rank of an item, the lowest first: the time at which it came, later by a wait for each level it lacks.
/// Without such a wait the level decides alone.
fn rank(level: usize, at: Millis, aging_ms: Millis) -> (usize, Millis) {
    let missing = LEVELS - 1 - level;
    match aging_ms {
        0 => (missing, at),
        _ => (0, at.saturating_add(aging_ms.saturating_mul(missing as Millis))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_urgent_go_first_and_equals_in_the_order_they_came() {
        let mut queue = Queue::new(0);
        for (at, priority) in [Priority::Normal, Priority::Low, Priority::Critical, Priority::High, Priority::Normal]
            .into_iter()
            .enumerate()
        {
            queue.push(priority, at as Millis, at);
        }
        assert_eq!(queue.in_order(), [2, 3, 0, 4, 1]);
        assert_eq!(queue.len(), 5, "looking takes nothing away");
        queue.retain(|item| *item != 3);
        assert_eq!((queue.pop(), queue.pop()), (Some(2), Some(0)));
    }

    #[test]
    fn a_longer_wait_makes_up_for_a_lower_level() {
        let mut queue = Queue::new(100);
        queue.push(Priority::Low, 0, "old and low");
        queue.push(Priority::High, 150, "high, and not late enough");
        queue.push(Priority::High, 200, "high, and too late");
        queue.push(Priority::Critical, 299, "critical in time");
        queue.push(Priority::Critical, 300, "critical and too late");
        let expected = [
            "high, and not late enough",
            "critical in time",
            "old and low",
            "high, and too late",
            "critical and too late",
        ];
        assert_eq!(queue.in_order(), expected);
    }

    #[test]
    fn nobody_loses_a_place_but_to_somebody_more_urgent_who_comes_later() {
        let mut queue = Queue::new(60);
        let levels = [Priority::Normal, Priority::Low, Priority::Critical, Priority::High];
        for at in 0..400 {
            let before = queue.in_order();
            let priority = levels[(at * 7 % 4) as usize];
            queue.push(priority, at, (priority, at));
            let mut after = queue.in_order();
            let place = after.iter().position(|item| *item == (priority, at)).unwrap();
            let passed = &after[place + 1..];
            assert!(passed.iter().all(|(other, _)| *other < priority), "{priority:?} at {at} has passed {passed:?}");
            after.remove(place);
            assert_eq!(after, before);
        }
    }
}
