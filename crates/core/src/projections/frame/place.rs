//! The fields by which frames name a task, a conversation, a model call or a delegation.

use crate::projections::frame::field::{ConversationPlace, Delegation, ModelCall, Nullable, TaskPlace};
use crate::state::run::Run;
use consort_spec::id::Id;

impl Run {
    /// Returns the number of the task that a conversation belongs to, as people see it: a manager's is the only
    /// one.
    pub(super) fn task_number(&self, conversation: &Id) -> usize {
        if self.spec().is_manager(conversation.task_index()) { 1 } else { conversation.task_index() + 1 }
    }

    pub(super) fn total_tasks(&self) -> usize {
        if self.spec().is_manager(self.spec().tasks.len().saturating_sub(1)) { 1 } else { self.spec().tasks.len() }
    }

    /// Returns the agent and task of a conversation. A subtask has its own title, so that its conversation can
    /// be distinguished from its parent's.
    pub(crate) fn conversation_place(&self, conversation: &Id) -> ConversationPlace {
        let Some(task) = self.worker(conversation) else { return ConversationPlace::default() };
        let title = self
            .conversations()
            .get(conversation)
            .filter(|_| conversation.parent().is_some())
            .map(|conversation| conversation.title());
        ConversationPlace {
            task_index: self.task_number(conversation),
            agent_role: task.agent.role.clone(),
            task_description: title.unwrap_or(&task.description).to_owned(),
            turn_id: conversation.to_string(),
            item: conversation.site().item,
            round: conversation.site().round,
        }
    }

    pub(super) fn task_place(&self, conversation: &Id) -> TaskPlace {
        let task_name = self.spec().tasks.get(conversation.task_index()).map(|task| task.name.clone());
        TaskPlace { conversation: self.conversation_place(conversation), task_name }
    }

    /// Returns the model call that a conversation needs next or has under way.
    pub(super) fn model_call_place(&self, conversation: &Id) -> ModelCall {
        let state = self.conversations().get(conversation);
        let iteration_index = state.map(|conversation| conversation.round());
        let model = state.map(|conversation| conversation.model().clone());
        ModelCall { conversation: self.conversation_place(conversation), iteration_index, model }
    }

    /// Returns the model call that got a reply which is no answer.
    pub(super) fn answered_call_place(&self, conversation: &Id) -> ModelCall {
        let place = self.model_call_place(conversation);
        ModelCall { iteration_index: place.iteration_index.map(|round| round.saturating_sub(1)), ..place }
    }

    /// Returns the conversation that a call belongs to.
    pub(crate) fn caller(&self, call: &Id) -> ConversationPlace {
        match call.parent() {
            Some((conversation, _)) => self.conversation_place(&conversation),
            None => self.conversation_place(call),
        }
    }

    pub(super) fn delegation(&self, call: &Id, role: &str) -> Delegation {
        let by = call.parent().and_then(|(conversation, _)| self.worker(&conversation));
        Delegation {
            delegation_id: call.to_string(),
            delegating_agent_role: by.map(|task| task.agent.role.clone()),
            worker_role: role.to_owned(),
        }
    }

    pub(super) fn worker_role(&self, call: &Id) -> &str {
        self.worker(call).map_or("", |task| task.agent.role.as_str())
    }

    /// Wraps a value that may be missing: chats write `null`, runs leave it out.
    pub(super) fn nullable<T>(&self, value: Option<T>) -> Nullable<T> {
        match value {
            Some(value) => Nullable::Value(value),
            None if self.spec().chat.is_some() => Nullable::Null,
            None => Nullable::Absent,
        }
    }
}
