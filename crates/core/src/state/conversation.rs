//! One conversation: ask the model, make the calls it wants, ask again, until
//! it answers. A task and a subtask have one each; depth and parent are in the
//! id, so recursion is data.

pub mod all;
mod parts;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::decisions::answer::Completeness;
use crate::decisions::chore::{self, Chore};
use crate::decisions::finish;
use crate::decisions::own_tool::OwnTool;
use crate::decisions::prompt;
use crate::state::budget::Claim;
use crate::state::calls::Calls;
use crate::state::chore_under_way::ChoreUnderWay;
use crate::state::history::Marks;
use crate::state::memory::{Entry, Memory};
use crate::state::unfinished::Unfinished;
use consort_spec::catalog::ToolInfo;
use consort_spec::cause::{Cause, TaskFailure, UnfitReason};
use consort_spec::id::{Id, Millis};
use consort_spec::message::{Attached, Call, Message, Outcome, Reply, Usage};
use consort_spec::schema::Schema;
use consort_spec::text::Text;

pub use parts::Used;
pub(in crate::state) use parts::{Asking, Chores, ExpectedResult, Reflection, Repetition, Rework, Size};
pub(crate) use parts::{Ended, Phase, Want};

/// The number of identical failing calls in a row after which the model is notified.
const REPEATS_MAX: u32 = 3;
/// The number of bytes per token where the provider has not counted: low, so that estimates are rather too
/// high than too low.
pub(super) const BYTES_PER_TOKEN: u64 = 3;
/// The number of tokens a message costs beside its text.
const MESSAGE_TOKENS: u64 = 8;

/// The conversation of a task or a subtask that is under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// A subtask's label; a task's is its name.
    pub(super) title: String,
    /// The position of the task whose agent works here: its own, its parent's, or that of the agent the work
    /// was handed to.
    pub(super) worker: usize,
    /// The number of times its work was handed on from agent to agent.
    pub(super) delegations: u32,
    /// Model calls answered so far, over all attempts.
    pub(super) round: u32,
    /// The round in which this attempt began.
    pub(super) first_round: u32,
    /// Whether its last permitted round has been asked.
    pub(super) last: bool,
    pub(super) phase: Phase,
    pub(super) tools: Arc<[Arc<ToolInfo>]>,
    /// The usage so far.
    pub(super) used: Used,
    /// The messages, shared with the model call under way.
    pub(super) messages: Arc<Vec<Message>>,
    /// The position of the message it was opened with.
    pub(super) asked_at: usize,
    /// The messages that are not part of an exchange.
    pub(super) marks: Marks,
    pub(super) size: Size,
    /// The directives it has read.
    pub(super) directives: BTreeSet<u32>,
    pub(super) asking: Asking,
    pub(super) chores: Chores,
    pub(super) reflection: Reflection,
    pub(super) review: Rework,
    pub(super) expected_result: ExpectedResult,
    /// Answers sent back because they broke their schema.
    pub(super) schema_failures: u32,
    /// The parts of replies that were no complete answer.
    pub(super) unfinished: Unfinished,
    /// The memory entries of this conversation and of those before it, and those its children bring.
    pub(super) memory: Memory,
    pub(super) brought: BTreeMap<usize, Vec<(String, Entry)>>,
    pub(super) repetition: Repetition,
}

impl Conversation {
    /// Returns the reason why the last model call failed.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.asking.failure.as_deref()
    }

    pub(crate) fn new(title: &str, worker: usize, tools: Arc<[Arc<ToolInfo>]>, at: Millis) -> Conversation {
        Conversation {
            title: title.to_owned(),
            worker,
            delegations: 0,
            round: 0,
            first_round: 0,
            last: false,
            phase: Phase::Start,
            tools,
            used: Used { started_at: at, ..Used::default() },
            messages: Arc::default(),
            asked_at: 1,
            marks: Marks::default(),
            size: Size::default(),
            directives: BTreeSet::new(),
            asking: Asking { since: at, ..Asking::default() },
            chores: Chores::default(),
            reflection: Reflection::default(),
            review: Rework::default(),
            expected_result: ExpectedResult::default(),
            schema_failures: 0,
            unfinished: Unfinished::default(),
            memory: Memory::default(),
            brought: BTreeMap::new(),
            repetition: Repetition::default(),
        }
    }

    /// Returns whether it waits for the model.
    pub(crate) fn is_asked(&self) -> bool {
        self.phase == Phase::Asked
    }

    /// Returns whether the model was asked again after a failure and has not answered.
    pub(crate) fn is_asked_again(&self) -> bool {
        self.is_asked() && self.asking.attempt > 0
    }

    /// Returns whether it waits to ask the model again.
    pub(crate) fn is_backing_off(&self) -> bool {
        matches!(self.phase, Phase::Backoff { .. })
    }

    /// Returns the resource it needs before it can go on.
    pub(crate) fn want(&self) -> Want {
        match &self.phase {
            Phase::Start
            | Phase::Prompt
            | Phase::Unfinished(_)
            | Phase::Answered(_)
            | Phase::Approved(_)
            | Phase::Skipping(_)
            | Phase::Failing(_) => Want::Attention,
            Phase::Ask => Want::Model,
            Phase::Asked | Phase::Backoff { .. } | Phase::Reviewing { .. } => Want::Nothing,
            Phase::Calling(calls) if calls.to_announce > 0 => Want::Attention,
            Phase::Calling(calls) => match calls.todo().next() {
                None => Want::Nothing,
                Some((_, call, _)) => self.lock(&call.tool).map_or(Want::Attention, Want::Lock),
            },
        }
    }

    /// Returns its answer, from when it is given until the conversation ends.
    pub(crate) fn output(&self) -> Text {
        match &self.phase {
            Phase::Answered(text) | Phase::Approved(text) | Phase::Reviewing { output: text, .. } => text.clone(),
            Phase::Start
            | Phase::Prompt
            | Phase::Ask
            | Phase::Asked
            | Phase::Backoff { .. }
            | Phase::Unfinished(_)
            | Phase::Calling(_)
            | Phase::Skipping(_)
            | Phase::Failing(_) => self.reflection.answer.clone().unwrap_or_default(),
        }
    }

    /// Returns the tool of this name, if the conversation, or the chore under way, has it.
    pub(crate) fn tool(&self, name: &str) -> Option<&Arc<ToolInfo>> {
        let tools = self.on_duty().map_or(&*self.tools, |duty| duty.tools.as_slice());
        tools.iter().find(|tool| tool.name == name)
    }

    /// Returns whether the conversation, or the chore under way, has an own tool.
    pub(crate) fn has(&self, tool: OwnTool) -> bool {
        self.tool(tool.name()).is_some()
    }

    /// Returns the tools that the next model call may use: in the last round, only those that end the
    /// conversation.
    pub(crate) fn offered(&self) -> Arc<[Arc<ToolInfo>]> {
        if !self.last {
            return self.tools.clone();
        }
        self.tools.iter().filter(|tool| tool.as_own() == Some(OwnTool::FinishSubtask)).cloned().collect()
    }

    /// Returns the chore whose calls are under way.
    pub(crate) fn on_duty(&self) -> Option<&ChoreUnderWay> {
        let under_way =
            |duty: &&ChoreUnderWay| matches!(self.phase, Phase::Calling(_)) && !self.chores.done.contains(&duty.chore);
        self.chores.duty.as_ref().filter(under_way)
    }

    /// Returns the recalled outputs, by name.
    pub(crate) fn memories(&self) -> Vec<(&str, &str)> {
        let outputs = self.chores.recalled.iter().filter(|(scope, _)| !chore::is_reflection(scope));
        outputs.map(|(scope, text)| (scope.as_str(), text.as_str())).collect()
    }

    /// Returns the recalled critiques.
    pub(crate) fn notes(&self) -> Option<&str> {
        self.chores.recalled.iter().find(|(scope, _)| chore::is_reflection(scope)).map(|(_, text)| text.as_str())
    }

    /// Returns the id of a call under way.
    pub(crate) fn call_id(&self, me: &Id, index: usize) -> Id {
        match self.on_duty() {
            Some(duty) => me.chore(&format!("{:?}{}", duty.chore, self.review.rejections).to_lowercase(), index),
            None => me.call(self.round, index),
        }
    }

    pub(crate) fn begin_chore(&mut self, duty: ChoreUnderWay) {
        let tool = |name: &str| duty.tools.iter().find(|tool| tool.name == name).cloned();
        let mut calls = Calls::new(duty.calls.iter(), tool, 0);
        calls.claimed = true;
        (self.phase, self.chores.duty) = (Phase::Calling(calls), Some(duty));
    }

    /// Ends a chore and stores its results.
    pub(crate) fn end_duty(&mut self, chore: Chore, phase: Phase, recalled: Vec<(String, Text)>) {
        self.chores.done.insert(chore);
        self.chores.recalled.extend(recalled);
        self.phase = phase;
    }

    /// Starts a new attempt after a rejection.
    pub(crate) fn start_over(&mut self, phase: Phase) {
        self.review.rejections += 1;
        self.chores.done.clear();
        self.chores.recalled.clear();
        self.phase = phase;
    }

    fn lock(&self, tool: &str) -> Option<String> {
        self.tool(tool)?.lock.clone()
    }

    /// Returns the estimated number of tokens of the next request.
    pub(crate) fn estimate(&self) -> u64 {
        let Size { counted, fresh_bytes, fresh_messages } = self.size;
        counted + fresh_bytes.div_ceil(BYTES_PER_TOKEN) + fresh_messages * MESSAGE_TOKENS
    }

    /// Returns the number of rounds of this attempt that counted: answers sent back and replies that were no
    /// answer do not count.
    pub(crate) fn iterations(&self) -> u32 {
        (self.round - self.first_round).saturating_sub(self.schema_failures + self.unfinished.rounds)
    }

    /// Marks one more of the calls under way as announced.
    pub(crate) fn announced(&mut self, index: usize) {
        if let Phase::Calling(calls) = &mut self.phase {
            calls.to_announce = calls.len().saturating_sub(index + 1);
        }
    }

    /// Begins the conversation anew, after the earlier messages of a chat.
    pub(crate) fn open(&mut self, system: &Text, before: &[Message], (user, files): (&Text, &[Attached])) {
        self.size = Size { fresh_bytes: self.tools.iter().map(|tool| tool.bytes()).sum(), ..Size::default() };
        self.messages = Arc::default();
        self.marks = Marks::default();
        self.first_round = self.round;
        (self.asking.attempt, self.schema_failures, self.last) = (0, 0, false);
        self.unfinished = Unfinished::default();
        self.repetition.notice = None;
        self.say(Message::System { text: system.clone() });
        before.iter().for_each(|message| self.say(message.clone()));
        self.asked_at = self.messages.len();
        self.say(Message::User { text: user.clone() });
        if !files.is_empty() {
            self.say(Message::Files { files: files.to_vec() });
        }
        self.phase = Phase::Ask;
    }

    /// Asks the agent for improvements; its answer is kept meanwhile.
    pub(crate) fn reflect(&mut self) {
        self.reflection.answer = Some(self.output());
        self.tell(prompt::REFLECT);
        self.phase = Phase::Ask;
    }

    /// Asks the agent to answer now.
    pub(crate) fn last_round(&mut self) {
        self.last = true;
        self.tell(if self.expected_result.schema.is_some() { prompt::LAST_FINISH } else { prompt::LAST_ROUND });
    }

    /// Reminds the agent of the way to end its subtask.
    pub(crate) fn nudge(&mut self) {
        self.expected_result.nudges += 1;
        self.tell(prompt::FINISH);
        self.phase = Phase::Ask;
    }

    /// Requires a structured result from now on.
    pub(crate) fn owe(&mut self, schema: &Schema) {
        let finish = Arc::new(finish::info(schema));
        self.tools = self.tools.iter().cloned().chain([finish]).collect();
        self.expected_result.schema = Some(schema.clone());
    }

    /// Records the outcome of an attempt to finish.
    pub(crate) fn finish(&mut self, outcome: &Outcome, cause: Option<&Cause>) {
        match outcome {
            Outcome::Answer { text, .. } => self.expected_result.finished = Some(text.clone()),
            Outcome::Failed { .. } => {
                self.expected_result.unfit += 1;
                self.expected_result.violations = match cause {
                    Some(Cause::ResultRefused { violations }) => violations.clone(),
                    Some(_) | None => Vec::new(),
                };
            }
            Outcome::Unknown { .. } | Outcome::Subtask => {}
        }
    }

    /// Notifies the agent that it repeats itself.
    pub(crate) fn noticed(&mut self, tool: &str, times: u32) {
        self.repetition.notice = None;
        self.tell(prompt::repeated(tool, times));
    }

    /// Handles a model that will not answer. A task does not fail for lack of a critique.
    pub(crate) fn give_up(&mut self, reason: &str) {
        self.phase = match self.reflection.answer.take() {
            Some(answer) => {
                self.reflection.critique = Some(Text::default());
                Phase::Approved(answer)
            }
            None => Phase::Failing(TaskFailure::new(Cause::Model, reason)),
        };
    }

    /// Adds a message to the agent between two rounds.
    pub(crate) fn tell(&mut self, text: impl Into<Text>) {
        self.say(Message::User { text: text.into() });
    }

    /// Passes on a directive, which holds even when the exchanges around it are dropped.
    pub(crate) fn direct(&mut self, text: String) {
        self.marks.directives.insert(self.messages.len());
        self.tell(text);
    }

    pub(crate) fn say(&mut self, message: Message) {
        self.size.fresh_bytes += bytes(&message);
        self.size.fresh_messages += 1;
        Arc::make_mut(&mut self.messages).push(message);
    }

    pub(crate) fn replied(&mut self, reply: &Arc<Reply>, completeness: Completeness, side_by_side: u32) {
        self.asking.attempt = 0;
        if !completeness.is_whole() {
            return self.hold_back(reply, completeness);
        }
        self.say(Message::Assistant(reply.clone()));
        if let Some(answer) = self.reflection.answer.take() {
            self.round += 1;
            self.reflection.critique = Some(reply.text().into());
            self.phase = Phase::Approved(answer);
            return;
        }
        // A model that was offered no tools cannot call any.
        self.phase = if reply.calls().next().is_none() || self.tools.is_empty() {
            self.round += 1;
            Phase::Answered(self.unfinished.complete(&reply.text()).into())
        } else {
            // Text before a call is no part of the answer, cut or not.
            let _words = self.unfinished.complete("");
            Phase::Calling(Calls::new(reply.calls(), |name| self.tool(name).cloned(), side_by_side))
        };
    }

    /// Notes that the provider has counted everything up to here.
    pub(crate) fn counted(&mut self, usage: &Usage) {
        self.size = Size { counted: usage.total(), ..Size::default() };
    }

    /// Returns the calls under way, if any.
    pub(crate) fn calls(&self) -> Option<&Calls> {
        if let Phase::Calling(calls) = &self.phase { Some(calls) } else { None }
    }

    /// Returns the calls of the reply with their outcomes, once all have one.
    pub(crate) fn results(&self, me: &Id) -> Option<Vec<Ended>> {
        let Phase::Calling(calls) = &self.phase else { return None };
        let ended = |(index, call, outcome): (usize, &Call, &Outcome)| Ended {
            id: me.call(self.round, index),
            index,
            call: call.clone(),
            outcome: outcome.clone(),
        };
        calls.results().map(|results| results.map(ended).collect())
    }

    /// Settles the calls when all have ended: the model is asked again and reads the results in the order it
    /// asked for them, unless the conversation has finished with them.
    pub(crate) fn settle(&mut self, results: Vec<(Message, Text)>, retries: u32) {
        for (message, args) in results {
            if let Message::Tool { name, is_error, .. } = &message {
                self.watch(name.clone(), args, *is_error);
            }
            self.say(message);
        }
        self.round += 1;
        self.phase = match self.expected_result.finished.clone() {
            Some(result) => Phase::Answered(result),
            None if self.expected_result.unfit > retries => Phase::Failing(TaskFailure::unfit(
                UnfitReason::SchemaRetriesExhausted,
                self.expected_result.unfit,
                &self.expected_result.violations,
            )),
            None => Phase::Ask,
        };
    }

    /// Counts identical failing calls in a row.
    fn watch(&mut self, tool: String, args: Text, is_error: bool) {
        self.repetition.last = match self.repetition.last.take() {
            _ if !is_error => None,
            Some((name, same, times)) if name == tool && same == args => Some((name, same, times + 1)),
            Some(_) | None => Some((tool, args, 1)),
        };
        if let Some((name, _, times)) = &self.repetition.last
            && *times >= REPEATS_MAX
        {
            self.repetition.notice = Some((name.clone(), *times));
        }
    }

    /// Marks the calls under way as without an owner, after the owner is gone. Returns the amount that was set
    /// aside for a model call of which it is not known whether it happened.
    pub(crate) fn orphan(&mut self) -> Option<Claim> {
        match &mut self.phase {
            Phase::Asked => {
                self.phase = Phase::Ask;
                Some(self.asking.claim)
            }
            Phase::Calling(calls) => {
                calls.orphan();
                None
            }
            Phase::Start
            | Phase::Prompt
            | Phase::Ask
            | Phase::Backoff { .. }
            | Phase::Unfinished(_)
            | Phase::Answered(_)
            | Phase::Reviewing { .. }
            | Phase::Approved(_)
            | Phase::Skipping(_)
            | Phase::Failing(_) => None,
        }
    }

    /// Switches to another model from now on; a wait for the previous one ends.
    pub(crate) fn switch(&mut self) {
        self.asking.fallback = 0;
        if let Phase::Backoff { .. } = self.phase {
            (self.phase, self.asking.attempt) = (Phase::Ask, 0);
        }
    }
}

/// Bytes of what a message says.
pub(super) fn bytes(message: &Message) -> u64 {
    let length = match message {
        Message::System { text } | Message::User { text } | Message::Tool { text, .. } => text.len(),
        Message::Files { files } => {
            return files.iter().map(Attached::tokens).sum::<u64>().saturating_mul(BYTES_PER_TOKEN);
        }
        Message::Assistant(reply) => reply.bytes(),
    };
    length as u64
}
