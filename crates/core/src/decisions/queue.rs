//! A priority queue: the most urgent item first, and among equals the oldest. Waiting items become more
//! urgent with time, so that no item waits for ever.

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
    /// The wait after which an item counts as one level more urgent; 0 = never.
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
    pub fn pop(&mut self, now: Millis) -> Option<T> {
        let aging_ms = self.aging_ms;
        let heads = self.lines.iter().enumerate().filter_map(|(level, line)| Some((level, line.front()?.0)));
        // The longer wait decides between equals, then the priority it came with.
        let first = heads.max_by_key(|(level, at)| (effective(*level, *at, now, aging_ms), Millis::MAX - at, *level));
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
    /// Returns all waiting items in the order in which they would be taken now.
    pub fn in_order(&self, now: Millis) -> Vec<T> {
        let mut rest = self.clone();
        std::iter::from_fn(|| rest.pop(now)).collect()
    }
}

/// Returns the level an item has after its wait.
fn effective(level: usize, at: Millis, now: Millis, aging_ms: Millis) -> usize {
    let raised = now.saturating_sub(at).checked_div(aging_ms).unwrap_or(0);
    level.saturating_add(usize::try_from(raised).unwrap_or(LEVELS)).min(LEVELS - 1)
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
        assert_eq!(queue.in_order(1_000_000), [2, 3, 0, 4, 1]);
        assert_eq!(queue.len(), 5, "looking takes nothing away");
        queue.retain(|item| *item != 3);
        assert_eq!((queue.pop(9), queue.pop(9)), (Some(2), Some(0)));
    }

    #[test]
    fn waiting_makes_urgent_until_nothing_new_goes_first_any_more() {
        let mut queue = Queue::new(100);
        queue.push(Priority::Low, 0, "old and low");
        queue.push(Priority::High, 150, "new and high");
        assert_eq!(queue.in_order(199), ["new and high", "old and low"]);
        assert_eq!(queue.in_order(200), ["old and low", "new and high"], "two levels up, and it came first");
        queue.push(Priority::Critical, 300, "new and critical");
        assert_eq!(queue.pop(300), Some("old and low"), "it is critical too by now, and came first");
    }
}
