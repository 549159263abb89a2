//! The events of model calls, applied to a run: questions, replies, failures and their cost.

use std::sync::Arc;

use super::{Run, Timer};
use crate::chat;
use crate::decisions::answer::Completeness;
use crate::decisions::prompt;
use crate::event::AfterFailure;
use crate::id::Id;
use crate::message::{Attached, Reply, Usage};
use crate::requests::catalog::ModelInfo;
use crate::state::budget::Claim;
use crate::state::conversation::{Conversation, Phase};
use crate::text::Text;

impl Run {
    pub(super) fn asked(&mut self, id: &Id, model: &str, claim: &Claim) {
        if self.models.get(model).is_none_or(|model| model.price.is_none()) {
            self.spending.unpriced.insert(model.to_owned());
        }
        let _fits = self.spending.budget.claim_call();
        self.hold(id, claim);
        self.change(id, |turn| model.clone_into(&mut turn.asking.model));
        self.count(id, |used| used.llm_calls += 1);
    }

    pub(super) fn retried(&mut self, id: &Id, attempt: u32, claim: &Claim) {
        self.hold(id, claim);
        self.change(id, |turn| turn.asking.attempt = attempt);
    }

    /// Records a model call under way, and the amount set aside for it.
    fn hold(&mut self, id: &Id, claim: &Claim) {
        let _fits = self.spending.budget.claim(claim);
        self.in_flight += 1;
        self.clear_retry(id);
        let at = self.at;
        self.change(id, |turn| (turn.phase, turn.asking.claim, turn.asking.since) = (Phase::Asked, *claim, at));
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
        self.change(id, |turn| turn.open(system, &before, (user, &files)));
    }

    /// Returns the files of the task that a conversation does, by itself or for a colleague; a subtask has none.
    fn files_of(&self, id: &Id) -> Vec<Attached> {
        let is_delegate = self.conversations.get(id).is_some_and(|turn| turn.worker != id.task_index());
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
        self.change(id, |turn| {
            turn.replied(reply, completeness, side_by_side);
            if let Phase::Calling(calls) = &mut turn.phase
                && announces
            {
                calls.to_announce = calls.len();
            }
        });
        self.counted(id, usage);
    }

    pub(super) fn settle(&mut self, id: &Id, used: &Claim) {
        if let Some(turn) = self.conversations.get(id) {
            self.spending.budget.settle(&turn.asking.claim, used);
        }
    }

    fn counted(&mut self, id: &Id, usage: Option<&Usage>) {
        let Some(turn) = self.conversations.get(id) else { return };
        let price = self.models.get(&turn.asking.model).and_then(|model| model.price);
        let Some(usage) = usage.copied() else { return self.count(id, |used| used.unknown = true) };
        self.count(id, |used| used.add(&usage, price.as_ref()));
        self.change(id, |turn| turn.counted(&usage));
    }

    pub(super) fn model_failed(&mut self, id: &Id, charged: bool, then: &AfterFailure, reason: &str) {
        let waits = |turn: &&Conversation| turn.is_asked() || turn.is_backing_off();
        let Some(turn) = self.conversations.get(id).filter(waits) else { return };
        let alias = self.alias(id);
        if turn.is_asked() {
            let claim = turn.asking.claim;
            self.in_flight = self.in_flight.saturating_sub(1);
            let used = if charged { claim } else { Claim::default() };
            self.spending.budget.settle(&claim, &used);
        }
        self.clear_retry(id);
        if let AfterFailure::Retry { at } = then {
            self.timers.insert((*at, Timer::Retry(id.clone())));
        }
        self.change(id, |turn| turn.asking.failure = Some(reason.to_owned()));
        self.change(id, |turn| match then {
            AfterFailure::Retry { at } => turn.phase = Phase::Backoff { until: *at },
            // After a switch, the new model is asked without a step down the list of fallbacks.
            AfterFailure::Fallback { model } => {
                (turn.asking.fallback, turn.asking.attempt) = (turn.asking.fallback + usize::from(*model != alias), 0);
                turn.phase = Phase::Ask;
            }
            AfterFailure::Shorten => turn.phase = Phase::Ask,
            AfterFailure::GiveUp => turn.give_up(reason),
        });
    }

    pub(super) fn sent_back(&mut self, id: &Id, violations: &[String]) {
        let Some(schema) = self.spec.tasks.get(id.task_index()).and_then(|task| task.output_schema.clone()) else {
            return;
        };
        self.change(id, |turn| {
            turn.schema_failures += 1;
            turn.tell(prompt::repair(violations, schema.json()));
            turn.phase = Phase::Ask;
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
}
