//! The calls of one reply. Those that may run in parallel go first, up to a cap; the rest follow one at a
//! time. Results are read back in the order the model asked, whatever the order in which they arrived.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::decisions::own_tool::OwnTool;
use consort_spec::catalog::ToolInfo;
use consort_spec::id::Millis;
use consort_spec::message::{Call, Outcome};
use consort_spec::text::Text;

/// Calls under way, in the order the model asked for them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Calls {
    slots: Vec<(Call, CallState)>,
    /// The indices of the calls that `next` must do something about.
    todo: BTreeSet<usize>,
    /// The calls that wait until everything before them is over.
    queue: VecDeque<usize>,
    /// The number of calls of the batch, or of the queue, that have no outcome yet.
    running: usize,
    /// The number of calls that have still to be announced.
    pub(crate) to_announce: usize,
    /// Whether the budget has been charged for all of them together.
    pub(crate) claimed: bool,
}

/// The state of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallState {
    /// Nothing has happened yet.
    Waiting,
    /// A tool is doing it, in this epoch.
    Dispatched,
    /// A tool was doing it when the owner went away.
    Orphaned,
    /// A subtask is doing it.
    Delegated,
    /// A person is asked for permission.
    Asking,
    /// A person has permitted the call.
    Approved,
    /// The client is asked to make the call, until the given time.
    AtClient {
        /// The time at which it is given up.
        due: Millis,
    },
    /// A person has answered; the result is still to be recorded.
    Heard(Outcome),
    /// It is over.
    Returned(Outcome),
}

impl Calls {
    /// Builds the calls of a reply; at most `side_by_side` (0 = any number) start together.
    pub(crate) fn new<'a>(
        calls: impl Iterator<Item = &'a Call>,
        tool: impl Fn(&str) -> Option<Arc<ToolInfo>>,
        side_by_side: u32,
    ) -> Calls {
        let slots: Vec<_> = calls.map(|call| (call.clone(), CallState::Waiting)).collect();
        let serial = |call: &Call| tool(&call.tool).is_some_and(|tool| !tool.parallel_safe || tool.lock.is_some());
        let mut todo = BTreeSet::new();
        let mut queue = VecDeque::new();
        // A call that ends the conversation comes after all others.
        let mut surplus = VecDeque::new();
        let mut finish = VecDeque::new();
        for (index, (call, _)) in slots.iter().enumerate() {
            if OwnTool::parse(&call.tool) == Some(OwnTool::FinishSubtask) {
                finish.push_back(index);
            } else if serial(call) {
                queue.push_back(index);
            } else if side_by_side > 0 && todo.len() >= side_by_side as usize {
                surplus.push_back(index);
            } else {
                todo.insert(index);
            }
        }
        queue.append(&mut surplus);
        queue.append(&mut finish);
        let mut calls = Calls { running: todo.len(), slots, todo, queue, to_announce: 0, claimed: false };
        calls.advance();
        calls
    }

    /// Returns the positions of the calls that are not being worked on and have no outcome: those to give up
    /// when the conversation is stopped.
    pub(crate) fn idle(&self) -> impl Iterator<Item = usize> {
        let is_idle = |slot: &CallState| match slot {
            CallState::Waiting
            | CallState::Asking
            | CallState::Approved
            | CallState::AtClient { .. }
            | CallState::Heard(_) => true,
            CallState::Dispatched | CallState::Orphaned | CallState::Delegated | CallState::Returned(_) => false,
        };
        self.slots.iter().enumerate().filter(move |(_, (_, slot))| is_idle(slot)).map(|(index, _)| index)
    }

    /// Returns the number of calls.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the calls that `next` must do something about.
    pub(crate) fn todo(&self) -> impl Iterator<Item = (usize, &Call, &CallState)> {
        self.todo.iter().filter_map(|&index| self.slots.get(index).map(|(call, slot)| (index, call, slot)))
    }

    /// Returns the call at `index` and its state.
    pub(crate) fn get(&self, index: usize) -> Option<(&Call, &CallState)> {
        self.slots.get(index).map(|(call, slot)| (call, slot))
    }

    /// Changes the arguments of one call.
    pub(crate) fn edit(&mut self, index: usize, args: Text) {
        if let Some((call, _)) = self.slots.get_mut(index) {
            call.args = args;
        }
    }

    /// Changes the state of one call.
    pub(crate) fn set(&mut self, index: usize, to: CallState) {
        self.claimed = true;
        let Some((_, slot)) = self.slots.get_mut(index) else { return };
        let ends = matches!(to, CallState::Returned(_)) && !matches!(slot, CallState::Returned(_));
        let goes_on = matches!(to, CallState::Heard(_) | CallState::Approved);
        *slot = to;
        self.todo.remove(&index);
        if goes_on {
            self.todo.insert(index);
        }
        if ends {
            self.running = self.running.saturating_sub(1);
            self.advance();
        }
    }

    /// Marks the calls that tools were doing as orphaned, after the owner is gone.
    pub(crate) fn orphan(&mut self) {
        for (index, (_, slot)) in self.slots.iter_mut().enumerate() {
            if *slot == CallState::Dispatched {
                *slot = CallState::Orphaned;
                self.todo.insert(index);
            }
        }
    }

    /// Returns the calls that a tool is doing, or was doing when its owner went away.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = usize> {
        let begun =
            |(_, (_, slot)): &(usize, &(Call, CallState))| matches!(slot, CallState::Dispatched | CallState::Orphaned);
        self.slots.iter().enumerate().filter(begun).map(|(index, _)| index)
    }

    /// Returns every call with its outcome, once all have one.
    pub(crate) fn results(&self) -> Option<impl Iterator<Item = (usize, &Call, &Outcome)>> {
        let over = self.running == 0 && self.queue.is_empty();
        over.then(|| {
            self.slots.iter().enumerate().filter_map(|(index, (call, slot))| match slot {
                CallState::Returned(outcome) => Some((index, call, outcome)),
                CallState::Waiting
                | CallState::Dispatched
                | CallState::Orphaned
                | CallState::Delegated
                | CallState::Asking
                | CallState::Approved
                | CallState::AtClient { .. }
                | CallState::Heard(_) => None,
            })
        })
    }

    fn advance(&mut self) {
        if self.running == 0
            && let Some(index) = self.queue.pop_front()
        {
            self.running = 1;
            self.todo.insert(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str) -> Call {
        Call { provider_id: String::new(), tool: tool.to_owned(), args: "{}".into(), native: None }
    }

    fn calls(tools: &[&str], side_by_side: u32) -> Calls {
        let asked: Vec<Call> = tools.iter().map(|tool| call(tool)).collect();
        let info =
            |name: &str| Some(Arc::new(ToolInfo { parallel_safe: !name.starts_with('w'), ..ToolInfo::new(name, "") }));
        Calls::new(asked.iter(), info, side_by_side)
    }

    fn todo(calls: &Calls) -> Vec<usize> {
        calls.todo().map(|(index, _, _)| index).collect()
    }

    #[test]
    fn what_may_run_together_goes_first_then_the_rest_one_by_one() {
        let mut calls = calls(&["a", "w1", "b", "w2", "c"], 2);
        let answer = || CallState::Returned(Outcome::answer("ok"));
        assert_eq!(todo(&calls), [0, 2]);
        calls.set(2, answer());
        assert_eq!(todo(&calls), [0], "the queue waits for the whole batch");
        calls.set(0, answer());
        assert_eq!(todo(&calls), [1]);
        calls.set(1, answer());
        assert_eq!(todo(&calls), [3]);
        calls.set(3, answer());
        assert_eq!(todo(&calls), [4], "what did not fit the batch comes last");
        assert!(calls.results().is_none());
        calls.set(4, answer());
        let order: Vec<usize> = calls.results().unwrap().map(|(index, _, _)| index).collect();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }
}
