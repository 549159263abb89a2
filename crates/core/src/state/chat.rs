//! The part of the fold that only turns of a chat have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::chat::frame::failure_code;
use crate::chat::record::{Answered, Node, Row, tree};
use crate::chat::redact::preview;
use crate::chat::{Answer, Carried, ChatEventKind, GRANTS_MAX, Grant, Mode, Reason, Role, Taint, Turn};
use crate::decisions::output;
use crate::decisions::own_tool::OwnTool;
use crate::decisions::subtask;
use crate::state::budget::Breach;
use crate::state::calls::CallState;
use crate::state::conversation::{Phase, Used};
use crate::state::gate::DecidedBy;
use crate::state::run::{Ended, Run, TaskOutcome, Timer};
use consort_spec::event::{self, End, Event};
use consort_spec::id::{Id, Millis};
use consort_spec::message::{Message, Outcome, Reply, Usage};
use consort_spec::text::Text;

/// The additional state of a run that is a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    /// The permission mode.
    pub(crate) mode: Mode,
    /// The permissions for the rest of the thread.
    pub(crate) grants: Vec<Grant>,
    /// The sources that the thread has read and its user did not write.
    pub(crate) taint: Taint,
    /// The calls under way that read something, with what they read.
    reading: BTreeMap<Id, Reading>,
    /// All questions for permission, and the numbers of those still open.
    pub(crate) approvals: Vec<Approval>,
    pub(crate) open: BTreeSet<u32>,
    /// The calls that a person changed, with the arguments they are made with.
    pub(crate) edited: BTreeMap<Id, Text>,
    /// The public names of calls.
    names: BTreeMap<Id, String>,
    taken: BTreeSet<String>,
    rows: Vec<Row>,
    pub(crate) nodes: Vec<Node>,
    /// The last reply of the root, and the partial text of one that was cut off.
    reply: Option<Arc<Reply>>,
    partial: Text,
    /// The usage by model.
    pub(crate) by_model: BTreeMap<String, Used>,
    /// The last error of the model: a code, and the HTTP status if there is one.
    pub(crate) error: Option<(&'static str, Option<u16>)>,
    /// The reason why the turn failed.
    failure: Option<String>,
    /// The limit that ended the turn.
    pub(crate) breach: Option<Breach>,
    /// The number of events.
    pub(crate) events: u64,
}

/// A question for permission.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Approval {
    pub(crate) call: Id,
    pub(crate) asked_at: Millis,
    pub(crate) due: Option<Millis>,
    /// The answer that counts; absent while open.
    pub(crate) answer: Option<Answer>,
    /// Its maker and time.
    pub(crate) made: DecidedBy,
    /// The reason for the question.
    pub(crate) reason: Reason,
    /// The data that the call would carry and its destination, where that is the reason.
    pub(crate) carried: Option<Carried>,
    /// The host or name that the call goes to.
    pub(crate) host: Option<String>,
    /// The name and the digest of the tool, as it is shown.
    tool: (String, String),
}

impl Approval {
    /// Returns the tool and the host that allowing it for the chat covers; none for what is always asked.
    pub(crate) fn grants(&self) -> Option<(&(String, String), Option<&str>)> {
        (self.reason != Reason::Instructions).then_some((&self.tool, self.host.as_deref()))
    }
}

/// A call that reads something.
#[derive(Clone, Debug, PartialEq)]
struct Reading {
    /// The name of the source that it reads.
    subject: String,
    /// Whether its errors are the words of others, too.
    outside: bool,
}

impl State {
    /// Returns the public name of a call.
    pub(crate) fn name<'a>(&'a self, call: &'a Id) -> &'a str {
        self.names.get(call).map_or(call.as_str(), String::as_str)
    }

    /// Returns the call of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Id> {
        self.names.iter().find(|(_, known)| *known == name).map(|(id, _)| id)
    }

    /// Returns the rows so far.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(crate) fn node(&self, call: &Id) -> Option<&Node> {
        self.nodes.iter().rev().find(|node| node.place == *call)
    }

    /// Notes that a call was handed to the client.
    fn begin_node(&mut self, place: &Id, at: Millis) {
        if let Some(node) = self.nodes.iter_mut().rev().find(|node| node.place == *place) {
            node.begun_at = Some(at);
        }
    }

    /// Returns the time since a call was handed to the client.
    pub(crate) fn took(&self, place: &Id, now: Millis) -> Millis {
        let begun_at = self.node(place).and_then(|node| node.begun_at);
        begun_at.map_or(0, |begun_at| now.saturating_sub(begun_at))
    }

    /// Records the result of a call or of a task of a workflow.
    pub(crate) fn end_node(&mut self, place: &Id, result_preview: String, is_error: bool, duration_ms: u64) {
        if let Some(node) = self.nodes.iter_mut().rev().find(|node| node.place == *place) {
            (node.result_preview, node.is_error, node.duration_ms) = (result_preview, is_error, duration_ms);
        }
    }

    /// Assigns the public name of a call: the provider's, unless it was used before in this turn.
    fn give_name(&mut self, call: &Id, wanted: &str) {
        let mut name = if wanted.is_empty() { call.to_string() } else { wanted.to_owned() };
        if self.taken.contains(&name) {
            name = call.to_string();
        }
        while !self.taken.insert(name.clone()) {
            name.push('+');
        }
        self.names.insert(call.clone(), name);
    }
}

impl Run {
    /// Applies an event to the turn's part of the state, after it was applied to the run.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other event says anything to a chat")]
    pub(crate) fn note(&mut self, event: &Event) {
        let spec = self.spec.clone();
        let Some(turn) = &spec.chat else { return };
        self.chat.events += 1;
        if turn.workflow.is_some() {
            self.note_step(&event.kind);
        }
        match &event.kind {
            event::EventKind::RunAccepted { .. } => self.begin_chat(turn),
            event::EventKind::ModelReplied { conversation, reply, usage, .. } => {
                self.note_reply(conversation, reply);
                self.note_usage(conversation, usage.as_ref());
            }
            event::EventKind::ModelFailed { conversation, failure, said, .. } if conversation.parent().is_none() => {
                self.chat.partial = if self.converses(conversation) { said.clone() } else { Text::default() };
                self.chat.error = Some((failure_code(failure), failure.status));
            }
            event::EventKind::BudgetExceeded { breach } => self.chat.breach = Some(*breach),
            event::EventKind::TaskFailed { reason, cancelled: false, .. } => {
                let words = self.failure_words(reason);
                self.chat.failure.get_or_insert(words);
            }
            event::EventKind::ToolDispatched { call, .. } => self.note_reading(call),
            event::EventKind::ToolReturned { call, outcome, duration_ms, .. } => {
                self.note_read(call, outcome);
                self.note_end(call, outcome, *duration_ms)
            }
            _ => {}
        }
    }

    /// Adds the tokens and the cost of a reply to those of its model.
    fn note_usage(&mut self, conversation: &Id, usage: Option<&Usage>) {
        let asked = self.conversations.get(conversation);
        let model = asked.map(|conversation| conversation.asking.model.clone()).unwrap_or_default();
        let price = self.models.get(&model).and_then(|model| model.price);
        let used = self.chat.by_model.entry(model).or_default();
        used.llm_calls += 1;
        match usage {
            Some(usage) => used.add(usage, price.as_ref()),
            None => used.unknown = true,
        }
    }

    /// Notes that a call is made, if its result will be something the user did not write.
    fn note_reading(&mut self, call: &Id) {
        let Some((asked, _)) = self.slot(call) else { return };
        let own = || OwnTool::parse(&asked.tool).map(OwnTool::info);
        let Some(tool) = self.belt.get(&asked.tool).cloned().or_else(own).filter(|tool| tool.reads_others()) else {
            return;
        };
        let args: Value = serde_json::from_str(asked.args.as_str()).unwrap_or_default();
        let reading = Reading { subject: tool.subject(&args), outside: tool.target(&args).is_some() };
        self.chat.reading.insert(call.clone(), reading);
    }

    /// Taints the thread with the result of a call that read something.
    fn note_read(&mut self, call: &Id, outcome: &Outcome) {
        let Some(reading) = self.chat.reading.remove(call) else { return };
        let has_read = match outcome {
            Outcome::Answer { .. } => true,
            Outcome::Failed { .. } | Outcome::Unknown { .. } | Outcome::Subtask => reading.outside,
        };
        if has_read {
            self.chat.taint.read(&reading.subject);
        }
    }

    /// Adds the begin or the end of a task of the workflow to the tree.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other fact begins or ends a task")]
    fn note_step(&mut self, kind: &event::EventKind) {
        match kind {
            event::EventKind::TaskStarted { conversation } => {
                let Some(task) = self.task(conversation) else { return };
                let id = task.name.clone();
                let args = preview(&task.description);
                self.chat.nodes.push(Node::new(id, "task", args, conversation));
            }
            event::EventKind::TaskCompleted { conversation } | event::EventKind::TaskFailed { conversation, .. } => {
                let Some(ended) = self.ended_at(conversation.site()) else { return };
                let (result, is_error) = match &ended.outcome {
                    TaskOutcome::Completed { output, .. } => (preview(output.as_str()), false),
                    TaskOutcome::Failed { reason } | TaskOutcome::Skipped { reason, .. } => (preview(reason), true),
                    TaskOutcome::Cancelled => ("interrupted".to_owned(), true),
                };
                let took = ended.at.saturating_sub(ended.used.started_at);
                self.chat.end_node(conversation, result, is_error, took);
            }
            _ => {}
        }
    }

    fn begin_chat(&mut self, turn: &Turn) {
        self.chat.mode = turn.mode;
        (self.chat.grants, self.chat.taint) = (turn.grants.clone(), turn.taint.clone());
        let earlier = turn.earlier.iter().map(|earlier| Row::of_text(earlier.role, earlier.content.clone(), self.at));
        self.chat.rows.extend(earlier);
        let row = Row::of_text(Role::User, turn.content.clone(), self.at);
        self.chat.rows.push(Row { files: turn.files.clone(), ..row });
    }

    fn note_reply(&mut self, conversation: &Id, reply: &Arc<Reply>) {
        let round = self.conversations.get(conversation).map_or(0, |conversation| conversation.round);
        let mut calls = Vec::new();
        let makes = self.calls(conversation);
        for (index, call) in reply.calls().enumerate().filter(|_| makes) {
            let id = conversation.call(round, index);
            self.chat.give_name(&id, &call.provider_id);
            calls.push(self.chat.name(&id).to_owned());
        }
        if !self.converses(conversation) {
            return;
        }
        // Calls by a model without tools are no part of its message.
        let whole = !calls.is_empty() || reply.calls().next().is_none();
        (self.chat.reply, self.chat.partial) = (whole.then(|| reply.clone()), Text::default());
        self.chat.error = None;
        if !calls.is_empty() {
            let row = Row::of_text(Role::Assistant, reply.text().into(), self.at);
            self.chat.rows.push(Row { reply: Some(reply.clone()), calls, ..row });
        }
    }

    /// Returns whether a conversation makes the calls of its last reply.
    pub(crate) fn calls(&self, conversation: &Id) -> bool {
        self.conversations.get(conversation).is_some_and(|conversation| conversation.calls().is_some())
    }

    fn note_end(&mut self, call: &Id, outcome: &Outcome, duration_ms: u64) {
        let result = match outcome {
            Outcome::Subtask => self.result_of(call),
            Outcome::Answer { text, .. } | Outcome::Failed { text } => text.to_string(),
            Outcome::Unknown { .. } => output::text_for_model(outcome, &self.spec, "").0.to_string(),
        };
        let is_error = matches!(outcome, Outcome::Failed { .. } | Outcome::Unknown { .. });
        self.chat.end_node(call, preview(&result), is_error, duration_ms);
    }

    /// Stores the rows of the root's calls, once all have ended.
    pub(crate) fn note_results<'a>(&mut self, messages: impl Iterator<Item = &'a Message>) {
        for message in messages {
            let Message::Tool { call, provider_id, name: tool, text, is_error } = message else { continue };
            let name = self.chat.name(call).to_owned();
            let answers = Answered { name, place: call.clone(), provider_id: provider_id.clone(), tool: tool.clone() };
            let row = Row::of_text(Role::Tool, text.clone(), self.at);
            self.chat.rows.push(Row { answers: Some(answers), is_error: *is_error, ..row });
        }
    }

    /// Applies an event that only turns have.
    pub(crate) fn chat_applied(&mut self, kind: &ChatEventKind) {
        match kind {
            ChatEventKind::CallAnnounced { call } => self.announced(call),
            ChatEventKind::ClientCalled { call, due } => {
                self.claim_calls(call);
                self.chat.begin_node(call, self.at);
                self.note_reading(call);
                self.timers.insert((*due, Timer::Client(call.clone())));
                self.set(call, CallState::AtClient { due: *due });
            }
            ChatEventKind::ApprovalAsked { approval, call, due, reason, carried } => {
                self.claim_calls(call);
                self.timers.extend(due.map(|due| (due, Timer::Approval(*approval))));
                let asked = self.asked_about(call, *due, *reason, carried.clone());
                self.chat.approvals.push(asked);
                self.chat.open.insert(*approval);
                self.set(call, CallState::Asking);
            }
            ChatEventKind::GrantWithdrawn { grant, .. } => self.chat.grants.retain(|known| known.id != *grant),
            ChatEventKind::ApprovalAnswered { approval, answer, by, args } => {
                self.approval_answered(*approval, (*answer, by), args.as_ref());
            }
            ChatEventKind::ModeSet { mode, .. } => self.chat.mode = *mode,
            ChatEventKind::AnswerStored => self.store_answer(),
            ChatEventKind::CostSummed | ChatEventKind::PlanChecked { .. } | ChatEventKind::TaskPlanned { .. } => {}
        }
    }

    /// Returns a question about a call, with the tool as it is shown.
    fn asked_about(&self, call: &Id, due: Option<Millis>, reason: Reason, carried: Option<Carried>) -> Approval {
        let asked = self.slot(call).map(|(asked, _)| asked);
        let name = asked.map(|asked| asked.tool.clone()).unwrap_or_default();
        let args: Value = asked.and_then(|asked| serde_json::from_str(asked.args.as_str()).ok()).unwrap_or_default();
        let tool = self.belt.get(&name);
        let host = tool.and_then(|tool| tool.target(&args)).map(|target| target.name().to_owned());
        let digest = tool.map(|tool| tool.digest()).unwrap_or_default();
        Approval {
            call: call.clone(),
            asked_at: self.at,
            due,
            answer: None,
            made: DecidedBy::default(),
            reason,
            carried,
            host,
            tool: (name, digest),
        }
    }

    fn announced(&mut self, call: &Id) {
        let Some((conversation, index)) = call.parent() else { return };
        let Some((asked, _)) = self.slot(call) else { return };
        let tool = asked.tool.clone();
        let args = asked.args.clone();
        let title = (OwnTool::parse(&tool) == Some(OwnTool::RunSubtask)).then(|| title(args.as_str())).flatten();
        let begun = Node::new(self.chat.name(call).to_owned(), &tool, preview(args.as_str()), call);
        let parent_id = self.parent_name(&conversation).map(str::to_owned);
        self.chat.nodes.push(Node { parent_id, title, ..begun });
        self.change(&conversation, |conversation| conversation.announced(index));
    }

    fn approval_answered(&mut self, approval: u32, (answer, by): (Answer, &str), args: Option<&Text>) {
        let at = self.at;
        let Some(asked) = self.chat.approvals.get_mut(approval as usize) else { return };
        asked.answer = Some(answer);
        asked.made = DecidedBy { by: by.to_owned(), at };
        let call = asked.call.clone();
        let due = asked.due;
        let granted = asked.grants().filter(|_| answer == Answer::AllowForChat);
        let granted = granted.map(|(tool, host)| (tool.clone(), host.map(str::to_owned)));
        self.chat.open.remove(&approval);
        if let Some(due) = due {
            self.timers.remove(&(due, Timer::Approval(approval)));
        }
        if let Some(((tool, digest), host)) = granted {
            self.grant(Grant { id: String::new(), tool, host, digest, at: self.at });
        }
        if let Some(args) = args {
            self.edit_call(&call, args);
        }
        let slot = if answer.allows() { CallState::Approved } else { CallState::Heard(refused(answer)) };
        self.set(&call, slot);
    }

    /// Puts a person's arguments in the place of the model's.
    fn edit_call(&mut self, call: &Id, args: &Text) {
        if let Some(node) = self.chat.nodes.iter_mut().rev().find(|node| node.place == *call) {
            node.args_preview = preview(args.as_str());
        }
        self.chat.edited.insert(call.clone(), args.clone());
        let Some((conversation, index)) = call.parent() else { return };
        self.change(&conversation, |conversation| {
            if let Phase::Calling(calls) = &mut conversation.phase {
                calls.edit(index, args.clone());
            }
        });
    }

    /// Adds a grant; the number of the event in the thread is its id.
    fn grant(&mut self, grant: Grant) {
        let base = self.spec.chat.as_ref().map_or(0, |chat| chat.base);
        let id = format!("grant-{}", base + self.chat.events);
        let same = |known: &Grant| known.tool == grant.tool && known.host == grant.host;
        self.chat.grants.retain(|known| !same(known));
        self.chat.grants.push(Grant { id, ..grant });
        let surplus = self.chat.grants.len().saturating_sub(GRANTS_MAX);
        self.chat.grants.drain(..surplus);
    }

    fn store_answer(&mut self) {
        let answer = match self.failure() {
            Some(words) => {
                let partial = self.chat.partial.clone();
                Row { partial, is_error: true, ..Row::of_text(Role::Assistant, words.into(), self.at) }
            }
            None => self.answer_row(),
        };
        let continues = self.spec.chat.as_ref().and_then(|chat| chat.continues.clone());
        self.chat.rows.push(Row { continues, tree: tree(&self.chat.nodes), ..answer });
    }

    /// Returns the reason why the turn failed, if it did: a task's reason, or a limit that was reached before
    /// any task began.
    fn failure(&self) -> Option<String> {
        let stopped = || match &self.halt.stop {
            Some((End::Failed { error }, _)) => Some(self.failure_words(error)),
            Some((End::Completed { .. } | End::Cancelled, _)) | None => None,
        };
        self.chat.failure.clone().or_else(stopped)
    }

    /// Returns the answer of a turn that did not fail.
    fn answer_row(&self) -> Row {
        let row = |content: Text| Row::of_text(Role::Assistant, content, self.at);
        if !self.converses(&Id::task(0)) {
            let truncated = self.last_ended().is_some_and(|ended| ended.truncated);
            return Row { truncated, ..row(self.flow_answer()) };
        }
        match self.tasks.get(&0).map(Box::as_ref) {
            Some(Ended { outcome: TaskOutcome::Completed { output, .. }, truncated, .. }) => {
                Row { reply: self.chat.reply.clone(), truncated: *truncated, ..row(output.clone()) }
            }
            Some(Ended {
                outcome: TaskOutcome::Failed { .. } | TaskOutcome::Cancelled | TaskOutcome::Skipped { .. },
                ..
            })
            | None => row(self.chat.partial.clone()),
        }
    }

    /// Returns what the user has allowed for the rest of the thread.
    pub fn grants(&self) -> &[Grant] {
        &self.chat.grants
    }

    /// Returns the turn's rows, as they are stored.
    pub fn rows(&self) -> &[Row] {
        self.chat.rows()
    }
}

fn title(args: &str) -> Option<String> {
    let args: Value = serde_json::from_str(args).ok()?;
    args.get("title").or_else(|| args.get("description"))?.as_str().map(str::to_owned)
}

fn refused(answer: Answer) -> Outcome {
    let message = match answer {
        Answer::Expired => "nobody answered in time; the call was not made",
        Answer::Closed => "the turn was stopped; the call was not made",
        Answer::Allow | Answer::AllowForChat | Answer::Deny => {
            "the user does not allow this call; go on without it or ask what to do instead"
        }
    };
    let code = if answer == Answer::Closed { "cancelled" } else { "permission_denied" };
    Outcome::failed(subtask::error(code, serde_json::json!({ "message": message })))
}
