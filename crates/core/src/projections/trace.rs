//! A run as it is exported for reading: all requests, messages and calls, with their durations. A fold over
//! the run's events, so it can be made of any run at any time; `shape` defines its format.

mod shape;

pub use shape::Trace;
pub(crate) use shape::agent;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::state::conversation::Used;
use crate::state::run::{Run, TaskOutcome};
use consort_spec::event::{Event, EventKind};
use consort_spec::id::{Id, Millis};
use consort_spec::message::{Message, Outcome, Reply, Usage};
use consort_spec::text::Text;

/// Returns the trace of a run.
pub fn trace(events: &[Event]) -> Value {
    let mut tracer = Tracer::default();
    events.iter().for_each(|event| tracer.take(event));
    json!(tracer.shape())
}

#[derive(Default)]
struct Tracer {
    run: Run,
    /// All conversations, subtasks and delegations included.
    talks: BTreeMap<Id, TracedConversation>,
    errors: Vec<Failed>,
}

/// An error.
struct Failed {
    conversation: Id,
    at: Millis,
    message: String,
    inherited: bool,
}

/// One conversation.
#[derive(Default)]
struct TracedConversation {
    title: String,
    worker: usize,
    started_at: Millis,
    ended_at: Option<Millis>,
    prompts: Option<(Text, Text)>,
    rounds: Vec<Round>,
    /// The calls of chores.
    chores: Vec<Called>,
    /// The conversations it handed work to.
    children: Vec<Id>,
    used: Used,
    output: Option<Text>,
    parsed: Option<Value>,
    succeeded: bool,
    /// Whether it ended in the run that this one continues.
    inherited: bool,
}

/// One request to a model.
struct Round {
    index: u32,
    asked_at: Millis,
    messages: Vec<Message>,
    answer: Option<Answered>,
    calls: Vec<Called>,
    inherited: bool,
}

struct Answered {
    at: Millis,
    reply: Reply,
    usage: Option<Usage>,
    latency_ms: u64,
}

/// One call of a tool.
struct Called {
    name: String,
    args: String,
    outcome: Outcome,
    result: String,
    ended_at: Millis,
    duration_ms: u64,
    inherited: bool,
}

impl Tracer {
    #[expect(clippy::wildcard_enum_match_arm, reason = "a trace tells of conversations; the rest is in the events")]
    fn take(&mut self, event: &Event) {
        self.run.apply(event);
        let at = event.at;
        event.kind.place().into_iter().for_each(|place| self.keep_count(place));
        match &event.kind {
            EventKind::TaskStarted { conversation } => self.begin(conversation, at),
            EventKind::SubtaskStarted { call, system, user, .. }
            | EventKind::DelegationStarted { call, system, user, .. } => {
                self.begin(call, at);
                self.change(call, |talk| talk.prompts = Some((system.clone(), user.clone())));
                self.change(&conversation_of(call), |talk| talk.children.push(call.clone()));
            }
            EventKind::PromptBuilt { conversation, system, user } => {
                self.change(conversation, |talk| talk.prompts = Some((system.clone(), user.clone())));
            }
            EventKind::ModelAsked { conversation, round, .. } => {
                let messages = self
                    .run
                    .conversations()
                    .get(conversation)
                    .map(|conversation| conversation.messages().to_vec())
                    .unwrap_or_default();
                let round =
                    Round { index: *round, asked_at: at, messages, answer: None, calls: Vec::new(), inherited: false };
                self.change(conversation, |talk| talk.rounds.push(round));
            }
            EventKind::ModelReplied { conversation, reply, usage, latency_ms, .. } => {
                let answer = Answered { at, reply: (**reply).clone(), usage: *usage, latency_ms: *latency_ms };
                self.replied(conversation, answer);
            }
            EventKind::ModelFailed { conversation, failure, .. } => self.fail(conversation, at, &failure.to_string()),
            EventKind::ToolReturned { call, outcome, duration_ms, .. } => {
                self.returned(call, outcome, (at, *duration_ms))
            }
            EventKind::TaskCompleted { conversation } => self.end(conversation, at),
            EventKind::TaskFailed { conversation, reason, .. } => {
                self.fail(conversation, at, reason);
                self.change(conversation, |talk| talk.ended_at = Some(at));
            }
            EventKind::RunForked { outputs, .. } => {
                self.inherit(at);
                outputs.iter().for_each(|edited| self.put_output(&Id::task(edited.task)));
            }
            _ => {}
        }
    }

    /// Marks everything so far as another run's; the counters of work under way start anew.
    fn inherit(&mut self, at: Millis) {
        self.errors.iter_mut().for_each(|failed| failed.inherited = true);
        for talk in self.talks.values_mut() {
            for round in &mut talk.rounds {
                round.inherited = true;
                round.calls.iter_mut().for_each(|called| called.inherited = true);
            }
            talk.chores.iter_mut().for_each(|called| called.inherited = true);
            talk.inherited = talk.ended_at.is_some();
            if !talk.inherited {
                (talk.started_at, talk.used) = (at, Used::default());
            }
        }
    }

    fn begin(&mut self, id: &Id, at: Millis) {
        let worker = self.run.conversations().get(id).map_or(id.task_index(), |conversation| conversation.worker());
        let title =
            self.run.conversations().get(id).map(|conversation| conversation.title().to_owned()).unwrap_or_default();
        self.talks
            .insert(id.clone(), TracedConversation { title, worker, started_at: at, ..TracedConversation::default() });
    }

    fn replied(&mut self, conversation: &Id, answer: Answered) {
        self.change(conversation, |talk| {
            if let Some(last) = talk.rounds.last_mut() {
                last.answer = Some(answer);
            }
        });
    }

    fn change(&mut self, id: &Id, change: impl FnOnce(&mut TracedConversation)) {
        if let Some(talk) = self.talks.get_mut(id) {
            change(talk);
        }
    }

    /// Updates the usage of the conversations that an event belongs to: its own, or its call's.
    fn keep_count(&mut self, place: &Id) {
        for id in [place.clone(), conversation_of(place)] {
            let used = self.run.conversations().get(&id).map(|conversation| *conversation.used());
            self.change(&id, |talk| talk.used = used.unwrap_or(talk.used));
        }
    }

    fn fail(&mut self, conversation: &Id, at: Millis, message: &str) {
        self.errors.push(Failed {
            conversation: conversation.clone(),
            at,
            message: message.to_owned(),
            inherited: false,
        });
    }

    fn returned(&mut self, call: &Id, outcome: &Outcome, (at, duration_ms): (Millis, u64)) {
        let (name, args) = self.run.asked_call(call);
        let (succeeded, result, _) = self.run.result_words(call, outcome);
        self.change(call, |talk| {
            (talk.ended_at, talk.succeeded) = (Some(at), succeeded);
            talk.output = Some(result.clone().into());
        });
        let called =
            Called { name, args, outcome: outcome.clone(), result, ended_at: at, duration_ms, inherited: false };
        self.change(&conversation_of(call), |talk| match talk.rounds.last_mut() {
            Some(round) if !call.is_chore() => round.calls.push(called),
            Some(_) | None => talk.chores.push(called),
        });
    }

    fn end(&mut self, conversation: &Id, at: Millis) {
        self.change(conversation, |talk| (talk.ended_at, talk.succeeded) = (Some(at), true));
        self.put_output(conversation);
    }

    /// Takes the output of a task or an instance from the run.
    fn put_output(&mut self, conversation: &Id) {
        let outcome = self.run.ended_at(conversation.site()).map(|ended| ended.outcome.clone());
        self.change(conversation, |talk| {
            if let Some(TaskOutcome::Completed { output, parsed }) = outcome {
                (talk.output, talk.parsed) = (Some(output), parsed);
            }
        });
    }
}

/// Returns the conversation a call was made in; for a task itself.
fn conversation_of(place: &Id) -> Id {
    place.parent().map_or_else(|| place.clone(), |(conversation, _)| conversation)
}
