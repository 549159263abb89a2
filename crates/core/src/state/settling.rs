//! The ends of calls in the fold: each outcome is stored with its call; once all calls of a reply have one,
//! the conversation goes on.

use crate::cause::Cause;
use crate::decisions::build;
use crate::decisions::output;
use crate::decisions::own_tool::OwnTool;
use crate::id::Id;
use crate::message::{Call, Message, Outcome};
use crate::requests::spec::Spec;
use crate::state::calls::CallState;
use crate::state::conversation::{self, Conversation, Phase};
use crate::state::duty::{self, Duty};
use crate::state::memory::{self, Memory};
use crate::state::run::{Run, Timer};
use crate::text::Text;

impl Run {
    /// Claims the calls of a reply together, when the first is begun.
    pub(crate) fn claim_calls(&mut self, call: &Id) {
        let Some((id, _)) = call.parent() else { return };
        let calls = self.conversations.get(&id).and_then(Conversation::calls);
        if let Some(calls) = calls.filter(|calls| !calls.claimed) {
            let _fits = self.spending.budget.claim_tools(calls.len() as u64);
        }
    }

    /// Marks a call as no longer under way, and removes its timer.
    fn leave(&mut self, call: &Id) {
        match self.slot(call).map(|(_, slot)| slot.clone()) {
            Some(CallState::Dispatched) => self.in_flight = self.in_flight.saturating_sub(1),
            Some(CallState::AtClient { due }) => drop(self.timers.remove(&(due, Timer::Client(call.clone())))),
            Some(
                CallState::Waiting
                | CallState::Orphaned
                | CallState::Delegated
                | CallState::Asking
                | CallState::Approved,
            )
            | Some(CallState::Heard(_) | CallState::Returned(_))
            | None => {}
        }
    }

    pub(crate) fn returned(&mut self, call: &Id, (outcome, cause): (&Outcome, &Option<Cause>), duration_ms: u64) {
        self.claim_calls(call);
        // Its usage was not reported, so it may have used the whole amount.
        if let Some(lent) = self.spending.lent.remove(call) {
            self.spending.budget.settle(&lent, &lent);
        }
        self.spending.in_doubt += usize::from(matches!(outcome, Outcome::Unknown { .. }));
        self.leave(call);
        let child = self.close(call);
        let outcome = match (outcome, &child) {
            (Outcome::Subtask, Some(Conversation { phase: Phase::Answered(text), .. })) => {
                Outcome::answer(text.shared())
            }
            (other, _) => other.clone(),
        };
        self.bring(call, child, &outcome);
        self.keep_graph(call, &outcome);
        if let Some((turn, _)) = call.parent()
            && self.slot(call).is_some_and(|(call, _)| OwnTool::parse(&call.tool) == Some(OwnTool::FinishSubtask))
        {
            self.change(&turn, |turn| turn.finish(&outcome, cause.as_ref()));
        }
        if let Some((turn, _)) = call.parent().filter(|_| !call.is_chore()) {
            self.count(&turn, |used| {
                used.tool_calls += 1;
                used.tool_ms += duration_ms;
            });
        }
        self.set(call, CallState::Returned(outcome));
    }

    /// Keeps a drawn graph under its reference, from where it is read.
    fn keep_graph(&mut self, call: &Id, outcome: &Outcome) {
        if let (Outcome::Answer { data: Some(graph), .. }, true) = (outcome, self.builds(call)) {
            self.cut.insert(build::reference(call), graph.to_string().into());
        }
    }

    pub(crate) fn slot(&self, call: &Id) -> Option<(&Call, &CallState)> {
        let (turn, index) = call.parent()?;
        self.conversations.get(&turn)?.calls()?.get(index)
    }

    pub(crate) fn set(&mut self, call: &Id, slot: CallState) {
        let Some((id, index)) = call.parent() else { return };
        let spec = self.spec.clone();
        if let Some(duty) = self.conversations.get(&id).and_then(Conversation::on_duty).cloned() {
            return self.set_chore(&id, index, slot, &duty);
        }
        self.change(&id, |turn| {
            if let Phase::Calling(calls) = &mut turn.phase {
                calls.set(index, slot);
            }
        });
        self.settle_calls(&id, &spec);
    }

    /// Settles the calls of a reply once all have ended: their results and the memory entries they wrote become
    /// visible, both in the order of the calls.
    fn settle_calls(&mut self, id: &Id, spec: &Spec) {
        let Some(ended) = self.conversations.get(id).and_then(|turn| turn.results(id)) else { return };
        let mut results = Vec::with_capacity(ended.len());
        let mut notes = Vec::new();
        let files: Vec<_> = ended.iter().flat_map(|ended| ended.outcome.files()).cloned().collect();
        for conversation::Ended { id: call_id, index, call, outcome } in ended {
            let handle = self.chat.name(&call_id).to_owned();
            let (text, is_error) = output::shown(&outcome, spec, &handle);
            if let Outcome::Answer { text: whole, .. } | Outcome::Failed { text: whole } = &outcome
                && text.len() != whole.len()
            {
                self.cut.insert(handle.clone(), whole.clone());
            }
            let brought = self.conversations.get_mut(id).and_then(|turn| turn.brought.remove(&index));
            notes.extend(brought.into_iter().flatten());
            if let (Some(OwnTool::MemoryWrite), Outcome::Answer { .. }) = (OwnTool::parse(&call.tool), &outcome) {
                let args = serde_json::from_str(call.args.as_str()).unwrap_or_default();
                notes.push(memory::noted(&args, &handle, self.at));
            }
            let provider_id = call.provider_id;
            let name = call.tool;
            let text = match self.chat.edited.get(&call_id) {
                Some(args) => output::made_with(args.as_str(), &text),
                None => text,
            };
            results.push((Message::Tool { call: call_id, provider_id, name, text, is_error }, call.args));
        }
        if self.converses(id) {
            self.note_results(results.iter().map(|(message, _)| message));
        }
        // After all results: a provider wants those together.
        if !files.is_empty() {
            results.push((Message::Files { files }, Text::default()));
        }
        self.change(id, |turn| {
            notes.into_iter().for_each(|(key, entry)| turn.memory.put(key, entry));
            turn.settle(results, spec.limits.schema_retries);
        });
    }

    /// Returns the shared memory as a subtask sees it.
    pub(crate) fn memory_above(&self, call: &Id) -> Memory {
        let parent = call.parent().and_then(|(parent, _)| self.conversations.get(&parent));
        parent.map(|parent| parent.memory.handed_down()).unwrap_or_default()
    }

    /// Collects the memory entries and the result of an ended subtask for its parent.
    fn bring(&mut self, call: &Id, child: Option<Conversation>, outcome: &Outcome) {
        let (Some(child), Some((parent, index))) = (child, call.parent()) else { return };
        let (Outcome::Answer { text, .. } | Outcome::Failed { text }) = outcome else { return };
        let result = memory::result(&child.title, text.clone(), self.chat.name(call), self.at);
        let brought: Vec<_> = child.memory.into_written().into_iter().chain([result]).collect();
        if let Some(parent) = self.conversations.get_mut(&parent) {
            parent.brought.insert(index, brought);
        }
    }

    /// Updates one call of a chore; the last one decides how the task goes on.
    fn set_chore(&mut self, id: &Id, index: usize, slot: CallState, duty: &Duty) {
        let Some(task) = self.task(id) else { return };
        let role = task.agent.role.clone();
        let description = task.description.clone();
        self.change(id, |turn| {
            let Phase::Calling(calls) = &mut turn.phase else { return };
            calls.set(index, slot);
            let Some(results) = calls.results() else { return };
            let outcomes: Vec<&Outcome> = results.map(|(_, _, outcome)| outcome).collect();
            let (phase, recalled) = duty::ended(duty, &outcomes, (&role, &description));
            turn.end_duty(duty.chore, phase, recalled);
        });
    }
}
