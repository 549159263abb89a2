//! Ids derived from the position in the run, so they need not be generated: task `2`, the second call of
//! its first round `2.0.1`, and the subtask which that call started, also `2.0.1`. Instances of a task say
//! which: `2i7` is done for item 7, `2r1` in round 1 of its group, `2r1i7` both. Replaying a log produces the
//! same ids again.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The place of a task's work in its run: the task, and where it has instances the round and the item.
/// Places are ordered as they were declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The position of the task, from 0.
    pub task: usize,
    /// The round of its group, from 0.
    pub round: Option<u32>,
    /// The index of the item it is done for, from 0.
    pub item: Option<u32>,
}

impl Place {
    /// Returns the place of a task as a whole.
    pub fn task(task: usize) -> Place {
        Place { task, round: None, item: None }
    }

    /// Returns whether this is the task as a whole.
    pub fn is_whole(&self) -> bool {
        self.round.is_none() && self.item.is_none()
    }

    /// Returns the id of the conversation at this place.
    pub fn id(&self) -> Id {
        let mut text = (self.task + 1).to_string();
        text.extend(self.round.map(|round| format!("r{round}")));
        text.extend(self.item.map(|item| format!("i{item}")));
        Id(text.into())
    }
}

/// Milliseconds since 1970, always passed in by the caller.
pub type Millis = u64;

/// The id of a task, subtask or call: its position within its run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Id(Arc<str>);

impl Id {
    /// Returns the id of the conversation for the task at this position, from 0. It reads as the `taskIndex`
    /// people see, which counts from 1.
    pub fn task(index: usize) -> Id {
        Id((index + 1).to_string().into())
    }

    /// Returns the id of call `index` in round `round` of this conversation.
    pub fn call(&self, round: u32, index: usize) -> Id {
        Id(format!("{self}.{round}.{index}").into())
    }

    /// Returns the id of call `index` of a chore; `label` distinguishes it from rounds.
    pub fn chore(&self, label: &str, index: usize) -> Id {
        Id(format!("{self}.{label}.{index}").into())
    }

    /// Returns whether this is a call of a chore.
    pub fn is_chore(&self) -> bool {
        let label = self.0.rsplit_once('.').and_then(|(rest, _)| rest.rsplit_once('.'));
        label.is_some_and(|(_, label)| label.starts_with(|c: char| c.is_ascii_alphabetic()))
    }

    /// Returns the conversation a call belongs to and its index there; `None` for a task.
    pub fn parent(&self) -> Option<(Id, usize)> {
        let (rest, index) = self.0.rsplit_once('.')?;
        let (turn, _round) = rest.rsplit_once('.')?;
        Some((turn.into(), index.parse().ok()?))
    }

    /// Returns the position, from 0, of the task this belongs to, at any depth.
    pub fn task_index(&self) -> usize {
        self.site().task
    }

    /// Returns the place of the task, or of its instance, that this belongs to, at any depth.
    pub fn site(&self) -> Place {
        let end = self.0.bytes().position(|byte| byte == b'.').unwrap_or(self.0.len());
        let root = self.0.get(..end).unwrap_or_default();
        // Most are of a task itself, and this is asked several times for each event.
        if let Ok(number) = root.parse::<usize>() {
            return Place::task(number.saturating_sub(1));
        }
        let (root, item) = root.split_once('i').map_or((root, None), |(root, item)| (root, item.parse().ok()));
        let (task, round) = root.split_once('r').map_or((root, None), |(task, round)| (task, round.parse().ok()));
        Place { task: task.parse::<usize>().map_or(0, |number| number.saturating_sub(1)), round, item }
    }

    /// Returns the number of subtasks that a conversation of this id is nested in.
    pub fn depth(&self) -> u32 {
        u32::try_from(self.0.matches('.').count() / 2).unwrap_or(u32::MAX)
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Id {
        Id(text.into())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_knows_its_turn_and_its_task() {
        let call = Id::task(1).call(0, 1);
        assert_eq!(call.as_str(), "2.0.1");
        assert_eq!(call.call(2, 0).parent(), Some((call.clone(), 0)));
        assert_eq!(Id::task(1).parent(), None);
        assert_eq!((call.call(2, 0).task_index(), call.depth(), call.call(2, 0).depth()), (1, 1, 2));
    }

    #[test]
    fn an_instance_is_told_apart_by_its_round_and_its_item() {
        for (round, item, text) in
            [(None, None, "3"), (Some(1), None, "3r1"), (None, Some(7), "3i7"), (Some(10), Some(20), "3r10i20")]
        {
            let place = Place { task: 2, round, item };
            assert_eq!((place.id().as_str(), place.id().site()), (text, place));
            let call = place.id().call(0, 1);
            assert_eq!((call.site(), call.parent(), call.depth()), (place, Some((place.id(), 1)), 1));
            assert!(!call.is_chore() && place.id().chore("recall", 0).is_chore());
        }
    }
}
