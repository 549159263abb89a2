//! A list of items for each of which work is done: which items have begun, and which come next.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use consort_spec::branch::ForEach;
use consort_spec::cause::{Cause, TaskFailure};

/// The items of a list, as far as work on them has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FanOut {
    items: Arc<[Value]>,
    max_parallel: usize,
    /// The first item that may not have begun.
    next: u32,
    /// The items that have begun out of their turn, at `next` or later.
    early: BTreeSet<u32>,
    /// The number of items that may begin or have begun, and are not over.
    open: usize,
    /// The number of items that are over.
    over: usize,
}

impl FanOut {
    /// Creates the fan-out of a list, unless it has too many items.
    pub(crate) fn new(items: &[Value], each: &ForEach) -> Result<FanOut, TaskFailure> {
        if items.len() > each.max_items as usize {
            let message = format!("the list has {} items, and `max_items` is {}", items.len(), each.max_items);
            return Err(TaskFailure::new(Cause::TooManyItems, message));
        }
        Ok(FanOut { items: items.into(), max_parallel: each.max_parallel as usize, ..FanOut::default() })
    }

    /// Returns the items.
    pub(crate) fn items(&self) -> &[Value] {
        &self.items
    }

    /// Returns whether all items are over.
    pub(crate) fn is_over(&self) -> bool {
        self.over >= self.items.len()
    }

    /// Returns the items that may begin now, in order.
    pub(crate) fn feed(&mut self) -> Vec<u32> {
        let mut fed = Vec::new();
        while self.open < self.max_parallel && (self.next as usize) < self.items.len() {
            if !self.early.remove(&self.next) {
                fed.push(self.next);
                self.open += 1;
            }
            self.next += 1;
        }
        fed
    }

    /// Returns whether an item may have begun.
    pub(crate) fn has_begun(&self, item: u32) -> bool {
        item < self.next || self.early.contains(&item)
    }

    /// Notes that an item has begun.
    pub(crate) fn start(&mut self, item: u32) {
        if !self.has_begun(item) {
            self.early.insert(item);
            self.open += 1;
        }
    }

    /// Notes that an item is over.
    pub(crate) fn end(&mut self, item: u32) {
        self.start(item);
        self.open = self.open.saturating_sub(1);
        self.over += 1;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use consort_spec::expression::Expression;

    fn fan(items: usize, max_parallel: u32) -> FanOut {
        let items: Vec<Value> = (0..items).map(|item| json!(item)).collect();
        FanOut::new(&items, &ForEach { list: Expression::default(), max_items: 10, max_parallel }).unwrap()
    }

    #[test]
    fn items_begin_in_order_and_only_as_many_as_may_be_under_way() {
        let mut fan = fan(4, 2);
        assert_eq!(fan.feed(), [0, 1]);
        fan.end(1);
        assert_eq!((fan.feed(), fan.feed()), (vec![2], vec![]));
        fan.end(0);
        fan.end(2);
        assert_eq!(fan.feed(), [3]);
        assert!(!fan.is_over());
        fan.end(3);
        assert!(fan.is_over());
    }

    #[test]
    fn an_item_that_began_before_its_turn_does_not_begin_again() {
        let mut fan = fan(4, 1);
        assert_eq!(fan.feed(), [0]);
        fan.start(2);
        fan.end(2);
        assert_eq!(fan.feed(), Vec::<u32>::new(), "item 0 is still under way");
        fan.end(0);
        assert_eq!(fan.feed(), [1]);
        fan.end(1);
        assert_eq!(fan.feed(), [3]);
    }

    #[test]
    fn a_list_with_too_many_items_is_refused_and_an_empty_one_is_over_at_once() {
        let each = ForEach { list: Expression::default(), max_items: 1, max_parallel: 1 };
        let failure = FanOut::new(&[json!(1), json!(2)], &each).unwrap_err();
        assert_eq!(failure.reason(), "TOO_MANY_ITEMS: the list has 2 items, and `max_items` is 1");
        assert!(fan(0, 1).is_over());
    }
}
