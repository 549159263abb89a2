//! Instances of a task: it is done once for each item of a list, or once in each round
//! of its group. An instance has a path such as `2i7` or `2r1`, and a line of its own
//! below its task.

use std::time::Duration;

use consort_core::frame::field::ConversationPlace;

use super::view::{Conversation, State, Task, View};

/// The letters before the round and the item of an instance.
const MARKS: [char; 2] = ['r', 'i'];

/// Returns the path of the instance that a path is of or below: `2i7` of `2i7.0.1`.
pub(super) fn instance(id: &str) -> Option<&str> {
    id.split('.').next().filter(|task| task.contains(MARKS))
}

/// Returns the number of the task that a path is below.
pub(super) fn number(id: &str) -> Option<usize> {
    id.split('.').next()?.split(MARKS).next()?.parse().ok()
}

/// Returns the name of a task, with the item and the round of its instance.
pub(super) fn name(task: &str, place: &ConversationPlace) -> String {
    let item = place.item.map(|item| format!(" [item {item}]")).unwrap_or_default();
    let round = place.round.map(|round| format!(" (round {round})")).unwrap_or_default();
    format!("{task}{item}{round}")
}

impl View {
    /// Adds a line below its task for an instance that is seen for the first time.
    pub(super) fn arrive(&mut self, place: &ConversationPlace, now: Duration) {
        let Some(id) = instance(&place.turn_id) else { return };
        let Some(task) = self.task_of(id) else { return };
        if task.subtasks.iter().any(|it| it.id == id) {
            return;
        }
        let Task { conversation, subtasks, .. } = task;
        let name = name(&conversation.name, place);
        subtasks.push(Conversation { began: Some(now), state: State::Ready, ..Conversation::new(id, name) });
        conversation.began.get_or_insert(now);
        if !conversation.state.has_ended() {
            conversation.state = State::Split;
        }
    }
}

impl Task {
    /// Returns its instances.
    pub(super) fn instances(&self) -> impl Iterator<Item = &Conversation> {
        self.subtasks.iter().filter(|it| instance(&it.id) == Some(it.id.as_str()))
    }

    /// Returns the instance that a path is of or below; without one, the task itself.
    pub(super) fn root(&self, id: &str) -> &Conversation {
        let found = instance(id).and_then(|id| self.subtasks.iter().find(|it| it.id == id));
        found.unwrap_or(&self.conversation)
    }
}
