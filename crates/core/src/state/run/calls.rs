//! The events of calls, applied to a run: questions to models, their replies, failures and cost; and the ends of
//! tool calls. Each outcome is stored with its call; once all calls of a reply have one, the conversation goes on.

use std::sync::Arc;

use super::{Run, Timer};
use crate::chat;
use crate::decisions::answer::{Completeness, FollowUp};
use crate::decisions::own_tool::OwnTool;
use crate::decisions::{build, output, prompt};
use crate::state::budget::Claim;
use crate::state::calls::CallState;
use crate::state::chore_under_way::{self, ChoreUnderWay};
use crate::state::conversation::{self, Conversation, Phase};
use crate::state::memory::{self, Memory};
use consort_spec::catalog::ModelInfo;
use consort_spec::cause::Cause;
use consort_spec::event::AfterFailure;
use consort_spec::id::Id;
use consort_spec::message::{Attached, Call, Message, Outcome, Reply, Usage};
use consort_spec::spec::Spec;
use consort_spec::text::Text;

impl Run {
    pub(super) fn asked(&mut self, id: &Id, model: &str, claim: &Claim) {
        if self.models.get(model).is_none_or(|model| model.price.is_none()) {
            self.spending.unpriced.insert(model.to_owned());
        }
        let _fits = self.spending.budget.claim_call();
        self.hold(id, claim);
        self.change(id, |conversation| model.clone_into(&mut conversation.asking.model));
        self.count(id, |used| used.llm_calls += 1);
    }

    pub(super) fn retried(&mut self, id: &Id, attempt: u32, claim: &Claim) {
        self.hold(id, claim);
        self.change(id, |conversation| conversation.asking.attempt = attempt);
        self.retried.insert(id.clone());
    }

    /// Records a model call under way, and the amount set aside for it.
    fn hold(&mut self, id: &Id, claim: &Claim) {
        let _fits = self.spending.budget.claim(claim);
        self.in_flight += 1;
        self.clear_retry(id);
        let at = self.at;
        self.change(id, |conversation| {
            (conversation.phase, conversation.asking.claim, conversation.asking.since) = (Phase::Asked, *claim, at)
        });
    }

    pub(super) fn clear_retry(&mut self, id: &Id) {
        if let Some(Conversation { phase: Phase::Backoff { until }, .. }) = self.conversations.get(id) {
            self.timers.remove(&(*until, Timer::Retry(id.clone())));
        }
    }

    /// Begins a conversation; a chat's continues with its history.
    pub(super) fn opened_with(&mut self, id: &Id, system: &Text, user: &Text) {
        let spec = self.spec.clone();
        let chat = spec.chat.as_ref().filter(|_| self.converses(id));
        let before = chat.map(chat::Turn::before).unwrap_or_default();
        let files = chat.map_or_else(|| self.files_of(id), |chat| chat.files.clone());
        self.change(id, |conversation| conversation.open(system, &before, (user, &files)));
    }

    /// Returns the files of the task that a conversation does, by itself or for a colleague; a subtask has none.
    fn files_of(&self, id: &Id) -> Vec<Attached> {
        let is_delegate = self.conversations.get(id).is_some_and(|conversation| conversation.worker != id.task_index());
        let does_task = id.parent().is_none() || is_delegate;
        self.worker(id).filter(|_| does_task).map(|task| task.attachments.clone()).unwrap_or_default()
    }

    pub(super) fn replied(
        &mut self,
        id: &Id,
        (reply, completeness): (&Arc<Reply>, Completeness),
        usage: Option<&Usage>,
        latency_ms: u64,
    ) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let side_by_side = self.spec.limits.parallel_per_turn;
        let announces = self.spec.chat.is_some();
        self.count(id, |used| used.llm_ms += latency_ms);
        self.change(id, |conversation| {
            conversation.replied(reply, completeness, side_by_side);
            if let Phase::Calling(calls) = &mut conversation.phase
                && announces
            {
                calls.to_announce = calls.len();
            }
        });
        self.counted(id, usage);
    }

    pub(super) fn settle(&mut self, id: &Id, used: &Claim) {
        if let Some(conversation) = self.conversations.get(id) {
            self.spending.budget.settle(&conversation.asking.claim, used);
        }
    }

    fn counted(&mut self, id: &Id, usage: Option<&Usage>) {
        let Some(conversation) = self.conversations.get(id) else { return };
        let price = self.models.get(&conversation.asking.model).and_then(|model| model.price);
        let Some(usage) = usage.copied() else { return self.count(id, |used| used.unknown = true) };
        self.count(id, |used| used.add(&usage, price.as_ref()));
        self.change(id, |conversation| conversation.counted(&usage));
    }

    pub(super) fn model_failed(&mut self, id: &Id, charged: bool, then: &AfterFailure, reason: &str) {
        let waits = |conversation: &&Conversation| conversation.is_asked() || conversation.is_backing_off();
        let Some(conversation) = self.conversations.get(id).filter(waits) else { return };
        let alias = self.alias(id);
        if conversation.is_asked() {
            let claim = conversation.asking.claim;
            self.in_flight = self.in_flight.saturating_sub(1);
            let used = if charged { claim } else { Claim::default() };
            self.spending.budget.settle(&claim, &used);
        }
        self.clear_retry(id);
        if let AfterFailure::Retry { at } = then {
            self.timers.insert((*at, Timer::Retry(id.clone())));
        }
        self.change(id, |conversation| conversation.asking.failure = Some(reason.to_owned()));
        self.change(id, |conversation| match then {
            AfterFailure::Retry { at } => conversation.phase = Phase::Backoff { until: *at },
            // After a switch, the new model is asked without a step down the list of fallbacks.
            AfterFailure::Fallback { model } => {
                (conversation.asking.fallback, conversation.asking.attempt) =
                    (conversation.asking.fallback + usize::from(*model != alias), 0);
                conversation.phase = Phase::Ask;
            }
            AfterFailure::Shorten => conversation.phase = Phase::Ask,
            AfterFailure::GiveUp => conversation.give_up(reason),
        });
    }

    pub(super) fn truncate(&mut self, id: &Id, then: FollowUp, in_call: bool) {
        self.change(id, |conversation| conversation.truncated(then, in_call));
    }

    pub(super) fn said_nothing(&mut self, id: &Id, then: FollowUp) {
        self.change(id, |conversation| conversation.said_nothing(then));
    }

    pub(super) fn loop_noticed(&mut self, id: &Id, tool: &str, times: u32) {
        self.change(id, |conversation| conversation.noticed(tool, times));
    }

    pub(super) fn exchanges_dropped(&mut self, id: &Id, exchanges: usize) {
        self.change(id, |conversation| conversation.drop_exchanges(exchanges));
    }

    pub(super) fn sent_back(&mut self, id: &Id, violations: &[String]) {
        let Some(schema) = self.spec.tasks.get(id.task_index()).and_then(|task| task.output_schema.clone()) else {
            return;
        };
        self.change(id, |conversation| {
            conversation.schema_failures += 1;
            conversation.tell(prompt::repair(violations, schema.json()));
            conversation.phase = Phase::Ask;
        });
    }

    pub(super) fn model_switched(&mut self, models: &[Arc<ModelInfo>]) {
        self.models.extend(models.iter().map(|model| (model.alias.clone(), model.clone())));
        self.switched = models.first().map(|model| model.alias.clone());
        let ids: Vec<Id> = self.conversations.keys().cloned().collect();
        for id in ids {
            self.clear_retry(&id);
            self.change(&id, Conversation::switch);
        }
    }

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
        let outcome = match (outcome, child.as_deref()) {
            (Outcome::Subtask, Some(Conversation { phase: Phase::Answered(text), .. })) => {
                Outcome::answer(text.shared())
            }
            (other, _) => other.clone(),
        };
        self.bring(call, child, &outcome);
        self.keep_graph(call, &outcome);
        if let Some((conversation, _)) = call.parent()
            && self.slot(call).is_some_and(|(call, _)| OwnTool::parse(&call.tool) == Some(OwnTool::FinishSubtask))
        {
            self.change(&conversation, |conversation| conversation.finish(&outcome, cause.as_ref()));
        }
        if let Some((conversation, _)) = call.parent().filter(|_| !call.is_chore()) {
            self.count(&conversation, |used| {
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
        let (conversation, index) = call.parent()?;
        self.conversations.get(&conversation)?.calls()?.get(index)
    }

    pub(crate) fn set(&mut self, call: &Id, slot: CallState) {
        let Some((id, index)) = call.parent() else { return };
        let spec = self.spec.clone();
        if let Some(duty) = self.conversations.get(&id).and_then(Conversation::on_duty).cloned() {
            return self.set_chore(&id, index, slot, &duty);
        }
        self.change(&id, |conversation| {
            if let Phase::Calling(calls) = &mut conversation.phase {
                calls.set(index, slot);
            }
        });
        self.settle_calls(&id, &spec);
    }

    /// Settles the calls of a reply once all have ended: their results and the memory entries they wrote become
    /// visible, both in the order of the calls.
    fn settle_calls(&mut self, id: &Id, spec: &Spec) {
        let Some(ended) = self.conversations.get(id).and_then(|conversation| conversation.results(id)) else { return };
        let mut results = Vec::with_capacity(ended.len());
        let mut notes = Vec::new();
        let files: Vec<_> = ended.iter().flat_map(|ended| ended.outcome.files()).cloned().collect();
        for conversation::Ended { id: call_id, index, call, outcome } in ended {
            let handle = self.chat.name(&call_id).to_owned();
            let (text, is_error) = output::text_for_model(&outcome, spec, &handle);
            if let Outcome::Answer { text: whole, .. } | Outcome::Failed { text: whole } = &outcome
                && text.len() != whole.len()
            {
                self.cut.insert(handle.clone(), whole.clone());
            }
            let brought = self.conversations.get_mut(id).and_then(|conversation| conversation.brought.remove(&index));
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
        self.change(id, |conversation| {
            notes.into_iter().for_each(|(key, entry)| conversation.memory.put(key, entry));
            conversation.settle(results, spec.limits.schema_retries);
        });
    }

    /// Returns the shared memory as a subtask sees it.
    pub(crate) fn memory_above(&self, call: &Id) -> Memory {
        let parent = call.parent().and_then(|(parent, _)| self.conversations.get(&parent));
        parent.map(|parent| parent.memory.handed_down()).unwrap_or_default()
    }

    /// Collects the memory entries and the result of an ended subtask for its parent.
    fn bring(&mut self, call: &Id, child: Option<Box<Conversation>>, outcome: &Outcome) {
        let (Some(child), Some((parent, index))) = (child, call.parent()) else { return };
        let (Outcome::Answer { text, .. } | Outcome::Failed { text }) = outcome else { return };
        let result = memory::result(&child.title, text.clone(), self.chat.name(call), self.at);
        let brought: Vec<_> = child.memory.into_written().into_iter().chain([result]).collect();
        if let Some(parent) = self.conversations.get_mut(&parent) {
            parent.brought.insert(index, brought);
        }
    }

    /// Updates one call of a chore; the last one decides how the task goes on.
    fn set_chore(&mut self, id: &Id, index: usize, slot: CallState, duty: &ChoreUnderWay) {
        let Some(task) = self.task(id) else { return };
        let role = task.agent.role.clone();
        let description = task.description.clone();
        self.change(id, |conversation| {
            let Phase::Calling(calls) = &mut conversation.phase else { return };
            calls.set(index, slot);
            let Some(results) = calls.results() else { return };
            let outcomes: Vec<&Outcome> = results.map(|(_, _, outcome)| outcome).collect();
            let (phase, recalled) = chore_under_way::ended(duty, &outcomes, (&role, &description));
            conversation.end_duty(duty.chore, phase, recalled);
        });
    }
}
