//! Makes the calls a model asked for: each is checked, paid for and dispatched, handed to a subtask, or
//! answered with an error message.

use serde_json::{Value, json};

use crate::chat;
use crate::decisions::finish;
use crate::decisions::next::{Effect, Grants, Plan};
use crate::decisions::own_tool::OwnTool;
use crate::decisions::subtask;
use crate::state::budget::{Breach, Claim};
use crate::state::calls::{CallState, Calls};
use crate::state::conversation::{Conversation, Phase};
use crate::state::memory;
use crate::state::run::Run;
use consort_spec::catalog::{CancelClass, EffectClass, ToolInfo};
use consort_spec::cause::{Cause, TaskFailure};
use consort_spec::event::{EventKind, Timing};
use consort_spec::id::{Id, Millis};
use consort_spec::message::{Call, Outcome};
use consort_spec::schema::Schema;

/// The answer to a call when no tools are offered.
const NOT_OFFERED: &str = "no tools can be called in this turn";

/// The outcome of a call that was asked to stop and did not confirm it in time.
const NOT_ACKNOWLEDGED: &str = "it was told to stop and did not say in time that it has: it may still be at work";

/// A call `next` must do something about.
#[derive(Clone, Copy)]
struct Pending<'a> {
    id: &'a Id,
    conversation: &'a Conversation,
    call: &'a Call,
    slot: &'a CallState,
}

impl Run {
    /// Advances the calls of a conversation, as far as they need no lock.
    pub(crate) fn call(
        &self,
        id: &Id,
        conversation: &Conversation,
        grants: &Grants,
        plan: &mut Plan,
    ) -> Result<(), Breach> {
        let Phase::Calling(calls) = conversation.phase() else { return Ok(()) };
        if self.paused() {
            return Ok(());
        }
        if conversation.last() && conversation.schema().is_none() && conversation.on_duty().is_none() {
            self.give_up_calls(id, conversation, plan);
            let message = "the last permitted turn asked for tools instead of answering";
            self.fail(id, &TaskFailure::new(Cause::IterationLimit, message), plan);
            return Ok(());
        }
        if calls.to_announce > 0 {
            self.announce(id, conversation, calls, plan);
            return Ok(());
        }
        pay(calls, plan)?;
        for (index, call, slot) in calls.todo() {
            let pending = Pending { id: &conversation.call_id(id, index), conversation, call, slot };
            self.make(&pending, grants, plan)?;
        }
        Ok(())
    }

    /// Makes the calls whose locks are granted; requests the missing locks.
    pub(crate) fn take_locks(&self, grants: &Grants, plan: &mut Plan) -> Result<(), Breach> {
        for (name, queue) in &self.wants().locks {
            let first = queue.first().and_then(|id| self.conversations().get_key_value(id));
            match first {
                Some((id, conversation)) if grants.locks.contains(name) => self.call(id, conversation, grants, plan)?,
                Some(_) => plan.need_lock(name),
                None => {}
            }
        }
        Ok(())
    }

    /// Advances one call: one that was answered ends, an own tool is performed, any other is dispatched.
    fn make(&self, pending: &Pending<'_>, grants: &Grants, plan: &mut Plan) -> Result<(), Breach> {
        let Pending { id, conversation, call, slot } = *pending;
        let own = OwnTool::parse(&call.tool);
        if conversation.last() && conversation.on_duty().is_none() && own != Some(OwnTool::FinishSubtask) {
            plan.record(not_made(id, NOT_OFFERED.to_owned()));
            return Ok(());
        }
        if let CallState::Heard(outcome) = slot {
            plan.record(EventKind::returned(id, outcome.clone()));
            return Ok(());
        }
        match own {
            Some(tool) => self.perform(tool, pending, grants, plan),
            None => self.dispatch(pending, plan),
        }
    }

    /// Performs a call of an own tool. A call of one that the conversation was not given is dispatched, which
    /// answers it with an error that lists the available tools.
    fn perform(&self, tool: OwnTool, pending: &Pending<'_>, grants: &Grants, plan: &mut Plan) -> Result<(), Breach> {
        let Pending { id, conversation, call, .. } = *pending;
        let answer = match tool {
            OwnTool::RunSubtask if self.takes_subtasks(id, conversation) => {
                return self.delegate(id, conversation, call, plan);
            }
            OwnTool::BuildWorkflow if conversation.has(tool) => return self.build(id, call, plan),
            OwnTool::Delegate | OwnTool::DelegateTask if conversation.has(tool) => {
                return self.hand_over(id, conversation, (call, grants), plan);
            }
            OwnTool::HumanInput => return self.ask_person(pending, plan),
            OwnTool::FinishSubtask => match conversation.schema() {
                Some(schema) => return self.finish_subtask(pending, schema, plan),
                None => None,
            },
            OwnTool::MemoryList => answered_with(pending, |args| conversation.memory().list(args)),
            OwnTool::MemoryRead => answered_with(pending, |args| conversation.memory().read(args)),
            OwnTool::MemoryWrite => answered_with(pending, memory::write_answer),
            OwnTool::ReadResult => check(conversation, call).ok().and_then(|(_, args)| self.read_here(&args)),
            OwnTool::RunSubtask
            | OwnTool::BuildWorkflow
            | OwnTool::Delegate
            | OwnTool::DelegateTask
            | OwnTool::MemoryRecall
            | OwnTool::MemoryStore
            | OwnTool::SearchCollections => None,
        };
        let Some(outcome) = answer else { return self.dispatch(pending, plan) };
        plan.record(EventKind::returned(id, outcome));
        Ok(())
    }

    /// Opens the review in which a person answers.
    fn ask_person(&self, pending: &Pending<'_>, plan: &mut Plan) -> Result<(), Breach> {
        let Pending { id, conversation, call, .. } = *pending;
        match (check(conversation, call), self.task(id)) {
            (Err(reason), _) => plan.record(not_made(id, reason)),
            (Ok(_), Some(task)) => self.open_review(id, Timing::DuringExecution, task, plan),
            (Ok(_), None) => {}
        }
        Ok(())
    }

    /// Takes the structured result of a subtask, or says what is wrong with it.
    fn finish_subtask(&self, pending: &Pending<'_>, schema: &Schema, plan: &mut Plan) -> Result<(), Breach> {
        let Pending { id, conversation, call, .. } = *pending;
        let Some((turn_id, _)) = id.parent() else { return Ok(()) };
        if conversation.finished().is_some() {
            plan.record(not_made(id, "the subtask has its result already".to_owned()));
            return Ok(());
        }
        let (outcome, violations) = match self.handed_over(&turn_id, schema, call.args.as_str()) {
            Ok(result) => (Outcome::answer(result), Vec::new()),
            Err(violations) => (finish::refused(&violations), violations),
        };
        if self.builds(&turn_id) {
            self.note_plan(&turn_id, violations.clone(), plan);
        }
        let cause = (!violations.is_empty()).then_some(Cause::ResultRefused { violations });
        plan.record(EventKind::ToolReturned { call: id.clone(), outcome, duration_ms: 0, cause });
        Ok(())
    }

    /// Returns the requested part of a cut result. A result that was cut in an earlier turn of the chat is not
    /// in this run: for that it returns none.
    fn read_here(&self, args: &Value) -> Option<Outcome> {
        let has_earlier = self.spec().chat.as_ref().is_some_and(|chat| chat.base > 0);
        (self.keeps_result(args) || !has_earlier).then(|| self.read_result(args))
    }

    /// Dispatches a new call to its tool; an orphaned one is settled by its effect class.
    fn dispatch(&self, pending: &Pending<'_>, plan: &mut Plan) -> Result<(), Breach> {
        let Pending { id, conversation, call, slot } = *pending;
        match check(conversation, call) {
            Err(reason) => plan.record(not_made(id, reason)),
            Ok((tool, _)) if *slot == CallState::Orphaned && tool.effect == EffectClass::Once && !tool.remembered => {
                plan.record(self.given_up(id));
            }
            Ok((tool, args)) if self.asks_first(id, (tool, &args), slot, plan) => {}
            Ok((tool, _)) if chat::is_client(tool) => self.ask_client(id, plan),
            Ok((tool, args)) => {
                let lent = match self.lent().get(id) {
                    Some(lent) => Some(*lent),
                    None => self.lend(tool, conversation, plan)?,
                };
                let again = *slot == CallState::Orphaned;
                let terms = self.terms(id);
                let effect = Effect::Call { id: id.clone(), tool: tool.clone(), args, lent, again, terms };
                plan.act(EventKind::ToolDispatched { call: id.clone(), lent }, effect);
            }
        }
        Ok(())
    }

    /// Returns a fair share of the remaining budget, for a tool that uses the run's budget: the other
    /// conversations and the other calls of this reply need theirs.
    fn lend(&self, tool: &ToolInfo, conversation: &Conversation, plan: &mut Plan) -> Result<Option<Claim>, Breach> {
        let limits = &self.spec().limits;
        if !tool.charged || (limits.tokens == 0 && limits.cost == 0) {
            return Ok(None);
        }
        let calls = conversation.calls().map_or(1, |calls| calls.todo().count().max(1));
        let sharers = (self.conversations().len() + calls).saturating_sub(1).max(1) as u64;
        // 0 would mean no limit: with nothing left, a share of 1 makes the claim fail.
        let share = |limit: u64, left: u64| if limit == 0 { 0 } else { (left / sharers).max(1) };
        let tokens = share(limits.tokens, plan.budget.tokens_left());
        let lent = Claim { tokens, cost: share(limits.cost, plan.budget.cost_left()) };
        plan.budget.claim(&lent)?;
        Ok(Some(lent))
    }

    /// Records the calls that a reply asks for, before any of them is made.
    fn announce(&self, id: &Id, conversation: &Conversation, calls: &Calls, plan: &mut Plan) {
        for index in calls.len().saturating_sub(calls.to_announce)..calls.len() {
            plan.record(EventKind::Chat(chat::ChatEventKind::CallAnnounced { call: conversation.call_id(id, index) }));
        }
    }

    fn ask_client(&self, id: &Id, plan: &mut Plan) {
        // Waiting for a client counts as working time: it cannot outlast the turn's time limit.
        let turn_due =
            Some(self.spec().limits.wall_clock_ms).filter(|limit| *limit > 0).and_then(|limit| self.clock().due(limit));
        let due = plan.at.saturating_add(chat::CLIENT_TIMEOUT_MS).min(turn_due.unwrap_or(Millis::MAX));
        plan.record(EventKind::Chat(chat::ChatEventKind::ClientCalled { call: id.clone(), due }));
    }

    /// Ends every announced call of a chat that was not made because the turn is stopped.
    pub(crate) fn give_up_calls(&self, id: &Id, conversation: &Conversation, plan: &mut Plan) {
        let Phase::Calling(calls) = conversation.phase() else { return };
        if self.spec().chat.is_none() {
            return;
        }
        self.announce(id, conversation, calls, plan);
        for index in calls.idle() {
            let call = conversation.call_id(id, index);
            let asked = matches!(calls.get(index), Some((_, CallState::AtClient { .. })));
            let outcome = if asked {
                Outcome::unknown("the turn was stopped before the client answered")
            } else {
                let message = json!({ "message": "the turn was stopped before this call was made; it had no effect" });
                Outcome::failed(subtask::error("cancelled", message))
            };
            plan.record(EventKind::returned(&call, outcome));
        }
    }

    /// Gives up calls that a dead owner left behind, when nothing new may begin. A tool that remembers its
    /// calls is called once more, and reports the outcome of the call.
    pub(crate) fn give_up_orphans(&self, id: &Id, conversation: &Conversation, plan: &mut Plan) {
        let Phase::Calling(calls) = conversation.phase() else { return };
        for (index, call, _) in calls.todo().filter(|(_, _, slot)| **slot == CallState::Orphaned) {
            let id = conversation.call_id(id, index);
            match check(conversation, call) {
                Ok((tool, args)) if tool.remembered => {
                    let lent = self.lent().get(&id).copied();
                    let tool = tool.clone();
                    let terms = self.terms(&id);
                    let effect = Effect::Call { id: id.clone(), tool, args, lent, again: true, terms };
                    plan.act(EventKind::ToolDispatched { call: id, lent }, effect);
                }
                Ok(_) | Err(_) => plan.record(self.given_up(&id)),
            }
        }
    }

    /// Returns the effect class of a call, if its tool is known.
    pub(crate) fn class(&self, call: &Id) -> Option<EffectClass> {
        self.slot(call).and_then(|(call, _)| self.belt().get(&call.tool)).map(|tool| tool.effect)
    }

    /// Returns the end of a call that is given up: a read has certainly done no harm, any other call may or may
    /// not have happened.
    pub(crate) fn given_up(&self, call: &Id) -> EventKind {
        let tool = self.slot(call).and_then(|(call, _)| self.belt().get(&call.tool));
        let was_asked_to_stop = self.stopping() && tool.is_some_and(|tool| tool.cancel == CancelClass::Finish);
        let outcome = match self.class(call) {
            Some(EffectClass::Read) if was_asked_to_stop => Outcome::failed(NOT_ACKNOWLEDGED),
            Some(EffectClass::Read) => Outcome::failed("stopped before it answered"),
            Some(EffectClass::Idempotent | EffectClass::Once) | None if was_asked_to_stop => {
                Outcome::unknown(NOT_ACKNOWLEDGED)
            }
            Some(EffectClass::Idempotent | EffectClass::Once) | None => Outcome::unknown("the call was interrupted"),
        };
        EventKind::returned(call, outcome)
    }
}

/// Claims the calls of one reply together; if they do not all fit, none of them is made.
fn pay(calls: &Calls, plan: &mut Plan) -> Result<(), Breach> {
    if calls.claimed {
        return Ok(());
    }
    plan.budget.claim_tools(calls.len() as u64)
}

/// Returns the answer to a call whose arguments fit; none when they do not.
fn answered_with(pending: &Pending<'_>, answer: impl FnOnce(&Value) -> Outcome) -> Option<Outcome> {
    check(pending.conversation, pending.call).ok().map(|(_, args)| answer(&args))
}

/// Returns the tool and its arguments, or an error message for the model.
fn check<'a>(conversation: &'a Conversation, call: &Call) -> Result<(&'a std::sync::Arc<ToolInfo>, Value), String> {
    if conversation.tools().is_empty() && conversation.on_duty().is_none() {
        return Err(NOT_OFFERED.to_owned());
    }
    let tool = conversation.tool(&call.tool).ok_or_else(|| unknown(conversation, &call.tool))?;
    let args: Value = serde_json::from_str(call.args.as_str()).map_err(|error| {
        format!("invalid_tool_arguments: the arguments are not JSON ({error}); call the tool again with a JSON object")
    })?;
    let violations = tool.schema.violations(&args);
    if violations.is_empty() {
        return Ok((tool, args));
    }
    Err(format!("invalid_tool_arguments: {}", violations.join("; ")))
}

fn unknown(conversation: &Conversation, name: &str) -> String {
    let names: Vec<&str> = conversation.tools().iter().map(|tool| tool.name.as_str()).collect();
    format!("there is no tool called `{name}`; you have: {}", names.join(", "))
}

pub(crate) fn not_made(call: &Id, reason: String) -> EventKind {
    EventKind::returned(call, Outcome::failed(reason))
}
