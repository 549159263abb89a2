//! The newest model calls of a run, for late clients. An event touches only the calls of its own conversation, so
//! its cost does not depend on the number of tasks.

use std::collections::{BTreeMap, HashMap};

use consort_log::Seq;

use crate::ws::sent::SentFrame;

/// A model call: its beginning and, when it has one, its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelCall {
    index: u32,
    pub(super) started: SentFrame,
    pub(super) completed: Option<SentFrame>,
}

/// Model calls, by the numbers of the events that began them.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelCalls {
    calls: BTreeMap<Seq, ModelCall>,
    /// The same numbers, in order, by conversation.
    of: HashMap<String, Vec<Seq>>,
}

impl ModelCalls {
    /// Returns the calls in the order in which they began.
    pub(super) fn all(&self) -> impl Iterator<Item = &ModelCall> {
        self.calls.values()
    }

    /// Records the beginning of a call; a call that is repeated replaces the one that failed.
    pub(super) fn begin(&mut self, turn: &str, index: u32, (seq, started): (Seq, SentFrame)) {
        self.retain(turn, |call| call.completed.is_some() || call.index != index);
        self.calls.insert(seq, ModelCall { index, started, completed: None });
        self.of.entry(turn.to_owned()).or_default().push(seq);
    }

    /// Records the end of a call; of its conversation only so many are kept that have ended.
    pub(super) fn complete(&mut self, turn: &str, index: Option<u32>, completed: SentFrame, max: usize) {
        let ModelCalls { calls, of } = self;
        let Some(numbers) = of.get(turn) else { return };
        let is_meant = |call: &ModelCall| call.completed.is_none() && Some(call.index) == index;
        let Some(number) = numbers.iter().find(|seq| calls.get(seq).is_some_and(is_meant)) else { return };
        if let Some(call) = calls.get_mut(number) {
            call.completed = Some(completed);
        }
        let ended = numbers.iter().filter(|seq| calls.get(seq).is_some_and(|call| call.completed.is_some())).count();
        let mut excess = ended.saturating_sub(max);
        self.retain(turn, |call| {
            let drops = excess > 0 && call.completed.is_some();
            excess -= usize::from(drops);
            !drops
        });
    }

    /// Forgets the calls of a conversation that will not end.
    pub(super) fn give_up(&mut self, turn: &str) {
        self.retain(turn, |call| call.completed.is_some());
    }

    fn retain(&mut self, turn: &str, mut keeps: impl FnMut(&ModelCall) -> bool) {
        let ModelCalls { calls, of } = self;
        let Some(numbers) = of.get_mut(turn) else { return };
        numbers.retain(|seq| {
            let kept = calls.get(seq).is_some_and(&mut keeps);
            if !kept {
                calls.remove(seq);
            }
            kept
        });
        if numbers.is_empty() {
            of.remove(turn);
        }
    }
}
