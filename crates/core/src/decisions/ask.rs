//! Asks models: chooses the model, writes the request and claims its cost from the remaining budget.

use std::sync::Arc;

use crate::decisions::next::{Effect, Grants, Plan, Question};
use crate::state::budget::{Breach, Budget, Claim, Reason};
use crate::state::conversation::Conversation;
use crate::state::run::{Run, Timer};
use consort_spec::catalog::ModelInfo;
use consort_spec::cause::{Cause, TaskFailure, UnfitReason};
use consort_spec::event::{CancelMode, Directive, EventKind, Priority};
use consort_spec::id::{Id, Millis};
use consort_spec::message::Usage;
use consort_spec::model_options::ModelOptions;
use consort_spec::schema::Schema;
use consort_spec::spec::Task;

/// The minimum number of tokens an answer needs.
const OUTPUT_MIN: u64 = 16;

/// Whether a model call fits the budget.
enum BudgetFit {
    /// It fits, with this amount set aside and this number of tokens for the answer.
    Fits(Claim, u64),
    /// It may fit after calls under way are settled.
    Later,
}

/// The result of planning a model call.
#[derive(PartialEq, Eq)]
enum AskOutcome {
    /// The model is asked.
    Yes,
    /// Another step comes first, or instead.
    Other,
    /// The budget has no room until calls under way have been settled.
    NoRoom,
}

impl Run {
    /// Asks the model for every conversation that has a slot; requests the missing slots.
    pub(crate) fn ask_models(&self, grants: &Grants, plan: &mut Plan) -> Result<(), Breach> {
        for (alias, queue) in &self.wants().models {
            let slots = grants.models.get(alias).copied().unwrap_or(0);
            let mut waiting = queue.len();
            for (id, conversation) in queue.iter().filter_map(|id| self.conversations().get_key_value(id)) {
                if self.must_stop() {
                    self.stop_asking(id, conversation, plan);
                } else if plan.asked(alias) >= slots {
                    plan.need_model(alias, waiting);
                    break;
                } else if self.ask(id, conversation, alias, plan)? == AskOutcome::NoRoom {
                    break;
                }
                waiting -= 1;
            }
        }
        self.retry_models(grants, plan)
    }

    /// Ends a conversation that may not ask any more. A task that only reflects has its output already and
    /// completes.
    fn stop_asking(&self, id: &Id, conversation: &Conversation, plan: &mut Plan) {
        match conversation.reflecting() {
            Some(_) => plan.record(EventKind::TaskCompleted { conversation: id.clone() }),
            None => self.fail(id, &TaskFailure::cancelled(), plan),
        }
    }

    /// Returns whether nothing more is asked after this iteration.
    pub(crate) fn must_stop(&self) -> bool {
        self.stop().is_some_and(|(_, mode)| *mode >= CancelMode::AfterIteration)
    }

    fn ask(&self, id: &Id, conversation: &Conversation, alias: &str, plan: &mut Plan) -> Result<AskOutcome, Breach> {
        let limit = self.iterations_max(id);
        if conversation.iterations() >= limit && conversation.reflecting().is_none() {
            self.fail(id, &out_of_iterations(conversation, alias, limit), plan);
            return Ok(AskOutcome::Other);
        }
        if self.tell(id, conversation, alias, plan) {
            return Ok(AskOutcome::Other);
        }
        let Some(model) = self.models().get(alias) else {
            self.fail(id, &TaskFailure::new(Cause::Model, format!("there is no model '{alias}'")), plan);
            return Ok(AskOutcome::Other);
        };
        self.check_history(conversation)?;
        let mut budget = plan.budget;
        budget.claim_call()?;
        let BudgetFit::Fits(claim, max_output) = budget_fit(conversation, model, &mut budget)? else {
            return Ok(AskOutcome::NoRoom);
        };
        plan.budget = budget;
        let question = self.question(id, conversation, (alias, max_output));
        let asked = EventKind::ModelAsked {
            conversation: id.clone(),
            round: conversation.round(),
            model: alias.to_owned(),
            claim,
            max_output,
        };
        plan.act(asked, Effect::Ask(Box::new(question)));
        Ok(AskOutcome::Yes)
    }

    /// In a chat, checks that the history fits after everything droppable was dropped.
    fn check_history(&self, conversation: &Conversation) -> Result<(), Breach> {
        let limit = self.spec().limits.history_tokens;
        let observed = conversation.estimate();
        if self.spec().chat.is_none() || limit == 0 || observed <= limit {
            return Ok(());
        }
        Err(Breach { reason: Reason::Tokens, limit, observed })
    }

    /// Records what must happen before the model is asked: directives, the last round, a notice, dropped
    /// history. Returns whether there was such a step.
    fn tell(&self, id: &Id, conversation: &Conversation, alias: &str, plan: &mut Plan) -> bool {
        let directives = self.undelivered(id, conversation, plan.at);
        for (number, _) in &directives {
            plan.record(EventKind::DirectiveDelivered {
                directive: *number,
                conversation: id.clone(),
                round: conversation.round(),
            });
        }
        if !directives.is_empty() {
            return true;
        }
        let last = conversation.iterations() + 1 >= self.iterations_max(id) && conversation.reflecting().is_none();
        if last && !conversation.last() && !conversation.tools().is_empty() {
            plan.record(EventKind::LastRoundBegun { conversation: id.clone() });
            return true;
        }
        if let Some((tool, times)) = conversation.notice() {
            plan.record(EventKind::LoopNoticed { conversation: id.clone(), tool: tool.clone(), times: *times });
            return true;
        }
        let exchanges = self.context_max(alias).map_or(0, |max| conversation.excess(max));
        if exchanges > 0 {
            plan.record(EventKind::HistoryDropped { conversation: id.clone(), exchanges });
        }
        exchanges > 0
    }

    /// Returns the number of tokens of conversation that may be sent to this model.
    fn context_max(&self, alias: &str) -> Option<u64> {
        let window = self.models().get(alias).map(|model| model.context_tokens.saturating_sub(model.max_output_tokens));
        let limit = Some(self.spec().limits.history_tokens).filter(|limit| *limit > 0);
        window.into_iter().chain(limit).min()
    }

    fn iterations_max(&self, id: &Id) -> u32 {
        let own = self.worker(id).map_or(1, |task| task.max_iterations);
        match self.spec().limits.iterations_per_level {
            0 => own,
            level if id.parent().is_some() => level,
            level => own.min(level),
        }
    }

    /// Asks again in the rounds whose last attempt failed and whose wait is over.
    fn retry_models(&self, grants: &Grants, plan: &mut Plan) -> Result<(), Breach> {
        let now = plan.at;
        for (_, timer) in self.timers().iter().take_while(|(due, _)| *due <= now) {
            let Timer::Retry(id) = timer else { continue };
            let Some(conversation) = self.conversations().get(id) else { continue };
            if self.must_stop() {
                self.stop_asking(id, conversation, plan);
                continue;
            }
            let alias = self.alias(id);
            if plan.asked(&alias) >= grants.models.get(&alias).copied().unwrap_or(0) {
                plan.need_model(&alias, 1);
            } else {
                self.retry(id, conversation, &alias, plan)?;
            }
        }
        Ok(())
    }

    fn retry(&self, id: &Id, conversation: &Conversation, alias: &str, plan: &mut Plan) -> Result<(), Breach> {
        let Some(model) = self.models().get(alias) else { return Ok(()) };
        let mut budget = plan.budget;
        let BudgetFit::Fits(claim, max_output) = budget_fit(conversation, model, &mut budget)? else { return Ok(()) };
        plan.budget = budget;
        let attempt = conversation.attempt() + 1;
        let question = Question { attempt, ..self.question(id, conversation, (alias, max_output)) };
        let kind = EventKind::ModelRetried { conversation: id.clone(), attempt, claim, max_output };
        plan.act(kind, Effect::Ask(Box::new(question)));
        Ok(())
    }

    fn question(&self, id: &Id, conversation: &Conversation, (alias, max_output): (&str, u64)) -> Question {
        let may_call = conversation.reflecting().is_none() && (!conversation.last() || conversation.schema().is_some());
        let knows_tools = self.models().get(alias).is_some_and(|model| model.tools);
        let can_call = may_call && knows_tools;
        let worker = self.worker(id);
        let task = worker.map(|task| task.name.clone()).unwrap_or_default();
        Question {
            conversation: id.clone(),
            task,
            model: alias.to_owned(),
            round: conversation.round(),
            attempt: conversation.attempt(),
            messages: conversation.messages().clone(),
            tools: if can_call { conversation.offered() } else { Arc::default() },
            belt: if knows_tools && conversation.reflecting().is_none() {
                conversation.tools().clone()
            } else {
                Arc::default()
            },
            max_output,
            options: self.model_options(worker, alias),
            schema: self.native_schema(id, conversation, alias).cloned(),
        }
    }

    /// Returns the schema of the answer, if the provider of this model is told it. Providers take objects
    /// only; a subtask returns its result by a call, and a critique has no schema.
    pub(crate) fn native_schema(&self, id: &Id, conversation: &Conversation, alias: &str) -> Option<&Schema> {
        let is_told = self.models().get(alias).is_some_and(|model| model.native_schemas);
        let is_answer = id.parent().is_none() && conversation.schema().is_none() && conversation.reflecting().is_none();
        let schema = self.task(id)?.output_schema.as_ref()?;
        let is_object = schema.json().get("type").is_some_and(|kind| kind == "object");
        (is_told && is_answer && is_object).then_some(schema)
    }

    /// Returns the options for the answer: the task's, else the run's, else the model's.
    fn model_options(&self, task: Option<&Task>, alias: &str) -> ModelOptions {
        let said = task.map(|task| task.model_options).unwrap_or_default().over(self.spec().model_options);
        self.models().get(alias).map_or(said, |model| said.over(model.options).fit_for(model))
    }

    /// Returns the directives that this conversation has not read: by priority, then by age.
    pub(crate) fn undelivered(&self, id: &Id, conversation: &Conversation, now: Millis) -> Vec<(u32, &Directive)> {
        if id.parent().is_some() || self.directives().len() == conversation.directives().len() {
            return Vec::new();
        }
        let numbered = (0..).zip(self.directives());
        let mut unread: Vec<(u32, &Directive)> = numbered
            .filter(|(number, directive)| {
                !conversation.directives().contains(number)
                    && directive.expires_at.is_none_or(|expires| now < expires)
                    && self.is_target(id, directive)
            })
            .collect();
        unread.sort_by_key(|(number, directive)| (rank(directive.priority), *number));
        unread
    }

    fn is_target(&self, id: &Id, directive: &Directive) -> bool {
        let Some(task) = self.task(id) else { return false };
        let same =
            |target: &String| target.eq_ignore_ascii_case(&task.name) || target.eq_ignore_ascii_case(&task.agent.role);
        directive.target.as_ref().is_none_or(same)
    }
}

/// Returns the failure of a task whose model has answered as often as it may.
fn out_of_iterations(conversation: &Conversation, alias: &str, limit: u32) -> TaskFailure {
    match conversation.schema() {
        Some(_) => TaskFailure::unfit(UnfitReason::IterationLimit, conversation.unfit(), conversation.violations()),
        None => TaskFailure::new(Cause::IterationLimit, format!("no answer of '{alias}' after {limit} model calls")),
    }
}

fn rank(priority: Priority) -> u8 {
    match priority {
        Priority::High => 0,
        Priority::Normal => 1,
        Priority::Low => 2,
    }
}

/// Sets aside the amount the call may use, with a shorter answer where the budget has no more; amounts held
/// for calls under way may become free later.
fn budget_fit(conversation: &Conversation, model: &ModelInfo, budget: &mut Budget) -> Result<BudgetFit, Breach> {
    let input = conversation.estimate();
    let window = model.context_tokens.saturating_sub(input).max(OUTPUT_MIN);
    let by_tokens = budget.tokens_left().saturating_sub(input);
    let by_cost = affordable(model, input, budget.cost_left());
    let output = model.max_output_tokens.min(window).min(by_tokens).min(by_cost);
    let claim = claim(model, input, output.max(OUTPUT_MIN));
    match budget.claim(&claim) {
        Ok(()) => Ok(BudgetFit::Fits(claim, output.max(OUTPUT_MIN))),
        Err(breach) if budget.held(breach.reason) > 0 => Ok(BudgetFit::Later),
        Err(breach) => Err(breach),
    }
}

fn claim(model: &ModelInfo, input: u64, output: u64) -> Claim {
    let usage = Usage { input, output, ..Usage::default() };
    Claim { tokens: usage.total(), cost: model.price.map_or(0, |price| price.total(&usage)) }
}

/// Returns the number of answer tokens that the remaining money can pay for.
fn affordable(model: &ModelInfo, input: u64, left: u64) -> u64 {
    let Some(price) = model.price.filter(|price| price.output > 0 && left < u64::MAX) else { return u64::MAX };
    let reading = price.input_cost(&Usage { input, ..Usage::default() });
    let rest = u128::from(left.saturating_sub(reading)) * 1_000_000 / u128::from(price.output);
    u64::try_from(rest).unwrap_or(u64::MAX)
}
