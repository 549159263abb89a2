//! The laws of every run that has ended, wherever and however often the process
//! died on the way: of its events alone, and compared with its tools' own records.

use std::collections::{BTreeMap, BTreeSet};

use consort_core::answer::Completeness;
use consort_core::catalog::EffectClass;
use consort_core::event::{Event, EventKind, Timing};
use consort_core::id::{Id, Place};
use consort_core::message::{Message, Outcome, Reply};
use consort_core::run::Run;
use serde_json::Value;

/// The numbers of times a tool began and finished one call, by its own record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) begun: usize,
    pub(crate) finished: usize,
}

/// The effects of crashes on calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Repeated, because their end was not recorded.
    pub(crate) repeated: usize,
    /// Not repeated, because they must not be; their models were told that the outcome is unknown.
    pub(crate) unknown: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, more: Tally) {
        self.repeated += more.repeated;
        self.unknown += more.unknown;
    }
}

/// A call of a tool, according to the log.
#[derive(Debug)]
struct Call {
    effect: EffectClass,
    dispatched: usize,
    outcome: Option<Outcome>,
}

/// Checks that frames are numbered without a gap, and that the result comes last.
pub(crate) fn check_frames(frames: &[Value]) {
    let (result, numbered) = frames.split_last().expect("a run has frames");
    assert_eq!(result["type"], "run_result");
    let seqs: Vec<u64> = numbered.iter().map(|frame| frame["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (0..numbered.len() as u64).collect::<Vec<_>>());
}

/// Folds a run's log, checking each step, and compares its calls with the tools' records.
pub(crate) fn check_run(events: &[Event], done: &BTreeMap<Id, Done>) -> Tally {
    let mut reader = Reader::default();
    events.iter().for_each(|event| reader.read(event));
    assert!(reader.run.ended(), "the run has ended");
    assert!(done.keys().all(|id| reader.calls.contains_key(id)), "nothing is done that nobody asked for");
    let mut tally = Tally::default();
    for (id, call) in reader.calls.iter().filter(|(id, _)| !reader.people.contains(*id)) {
        let done = done.get(id).copied().unwrap_or_default();
        check_call(id, call, done);
        tally.repeated += usize::from(done.begun > 1);
        let is_unknown = call.effect == EffectClass::Once && matches!(call.outcome, Some(Outcome::Unknown { .. }));
        tally.unknown += usize::from(is_unknown);
    }
    tally
}

/// Compares the log's record of a call with its tool's record.
fn check_call(id: &Id, call: &Call, done: Done) {
    assert!(call.dispatched == 0 || call.outcome.is_some(), "{id} never ended: {call:?}");
    assert!(done.begun <= call.dispatched, "{id} was begun {done:?} without a record: {call:?}");
    match &call.outcome {
        Some(Outcome::Answer { .. }) => assert!(done.finished > 0, "{id} has an answer from nowhere: {call:?}"),
        Some(Outcome::Unknown { .. }) => assert_ne!(call.effect, EffectClass::Read, "{id}: reading can be repeated"),
        Some(Outcome::Failed { .. } | Outcome::Subtask) | None => {}
    }
    if call.effect == EffectClass::Once {
        assert!(call.dispatched <= 1 && done.begun <= 1, "{id} must not be repeated: {call:?} {done:?}");
        let known = matches!(call.outcome, Some(Outcome::Answer { .. } | Outcome::Failed { .. }));
        assert!(!known || done.begun == done.finished, "{id} was interrupted, which is not said: {call:?}");
    }
}

#[derive(Default)]
struct Reader {
    run: Run,
    /// The effect class of each tool.
    effects: BTreeMap<String, EffectClass>,
    epoch: u64,
    calls: BTreeMap<Id, Call>,
    /// The tools of the current chore of each task.
    chores: BTreeMap<Id, Vec<String>>,
    /// The calls that ask a person.
    people: BTreeSet<Id>,
    /// The calls and model requests under way, started in this epoch.
    open: BTreeSet<Id>,
    /// The rounds that have been answered.
    answered: BTreeSet<(Id, u32)>,
    /// The tasks, and the instances of tasks, that are over.
    over: BTreeSet<Place>,
    /// The calls with an unknown outcome whose model has not been called since.
    unknown: BTreeSet<Id>,
    at: u64,
}

impl Reader {
    fn read(&mut self, event: &Event) {
        assert!(!self.run.ended(), "nothing follows the end: {event:?}");
        assert!(event.at >= self.at, "time does not go back: {event:?}");
        self.at = event.at;
        self.run.apply(event);
        match &event.kind {
            EventKind::RunAccepted { belt, .. } => {
                self.effects = belt.iter().map(|(name, tool)| (name.clone(), tool.effect)).collect();
            }
            EventKind::RunAdopted { epoch, .. } => self.adopted(*epoch),
            // The owners before belonged to another run.
            EventKind::RunForked { .. } => self.epoch = 0,
            EventKind::ModelAsked { conversation, round, .. } => {
                assert!(
                    !self.answered.contains(&(conversation.clone(), *round)),
                    "an answered question is not asked again"
                );
                self.begins(conversation);
                self.hears(conversation);
            }
            EventKind::ModelRetried { conversation, .. } => self.begins(conversation),
            EventKind::ModelReplied { conversation, reply, completeness, .. } => {
                self.replied(conversation, reply, *completeness)
            }
            EventKind::ModelFailed { conversation, .. } => drop(self.open.remove(conversation)),
            EventKind::ChoreBegun { conversation, calls, .. } => {
                self.chores.insert(conversation.clone(), calls.iter().map(|call| call.tool.clone()).collect());
            }
            EventKind::ReviewOpened { conversation, timing: Timing::DuringExecution, .. } => {
                self.people.insert(conversation.clone());
            }
            EventKind::ToolDispatched { call, .. } => {
                self.begins(call);
                self.expect_chore(call);
                let called = self.calls.get_mut(call).expect("a call somebody asked for");
                assert_eq!(called.outcome, None, "{call} is over");
                called.dispatched += 1;
            }
            EventKind::SubtaskStarted { call, .. } => {
                assert!(!self.is_over(call), "{call} is too late")
            }
            EventKind::ToolReturned { call, outcome, .. } => self.returned(call, outcome),
            EventKind::TaskCompleted { conversation }
            | EventKind::TaskFailed { conversation, .. }
            | EventKind::TaskSkipped { conversation, .. } => {
                assert!(self.over.insert(conversation.site()), "task {conversation} ends twice");
            }
            _ => {}
        }
    }

    /// Registers a call of a chore, which the run makes itself: no reply asked for it.
    fn expect_chore(&mut self, call: &Id) {
        let Some((turn, index)) = call.parent().filter(|_| !self.calls.contains_key(call)) else { return };
        let tool = self.chores.get(&turn).and_then(|tools| tools.get(index)).expect("a call somebody asked for");
        let effect = self.effects.get(tool).copied().unwrap_or(EffectClass::Read);
        self.calls.insert(call.clone(), Call { effect, dispatched: 0, outcome: None });
    }

    /// Handles a change of the owner: all work under way is abandoned.
    fn adopted(&mut self, epoch: u64) {
        assert_eq!(epoch, self.epoch + 1, "every owner has an epoch of its own");
        self.epoch = epoch;
        self.open.clear();
    }

    /// Returns whether the task that something belongs to is over, as a whole or at this place.
    fn is_over(&self, id: &Id) -> bool {
        self.over.contains(&id.site()) || self.over.contains(&Place::task(id.task_index()))
    }

    fn begins(&mut self, id: &Id) {
        assert!(!self.is_over(id), "{id}: the task is over");
        assert!(self.open.insert(id.clone()), "{id} is under way already");
    }

    /// Checks that a model is told about an unknown outcome of its call before it continues.
    fn hears(&mut self, turn: &Id) {
        let messages = self.run.conversations().get(turn).unwrap().messages();
        let says = |call: &Id| {
            messages.iter().any(|message| {
                matches!(message, Message::Tool { call: about, text, is_error: true, .. }
                    if about == call && text.as_str().starts_with("outcome unknown"))
            })
        };
        let asked = |call: &Id| {
            self.answered.iter().any(|(turn, round)| call.as_str().starts_with(&format!("{turn}.{round}.")))
        };
        let mine = |call: &Id| call.parent().is_some_and(|(parent, _)| parent == *turn) && asked(call);
        self.unknown.retain(|call| {
            assert!(!mine(call) || says(call), "nobody told the model about {call}");
            !mine(call)
        });
    }

    fn replied(&mut self, turn: &Id, reply: &Reply, completeness: Completeness) {
        assert!(self.open.remove(turn), "{turn} answered without being asked");
        let state = self.run.conversations().get(turn).unwrap();
        let is_last = matches!(state.messages().last(), Some(Message::Assistant(last)) if **last == *reply);
        assert!(is_last || !completeness.is_whole(), "the reply comes last");
        // No call of a reply that was cut is made.
        let made = reply.calls().filter(|_| completeness.is_whole());
        let calls: Vec<String> = made.map(|call| call.tool.clone()).collect();
        let round = if calls.is_empty() { state.round() - 1 } else { state.round() };
        assert!(self.answered.insert((turn.clone(), round)), "{turn} answered twice in round {round}");
        for (index, tool) in calls.iter().enumerate() {
            let effect = self.effects.get(tool).copied().unwrap_or(EffectClass::Read);
            self.calls.insert(turn.call(round, index), Call { effect, dispatched: 0, outcome: None });
        }
    }

    fn returned(&mut self, call: &Id, outcome: &Outcome) {
        self.open.remove(call);
        let called = self.calls.get_mut(call).expect("a call somebody asked for");
        assert_eq!(called.outcome.replace(outcome.clone()), None, "{call} returns twice");
        if matches!(outcome, Outcome::Unknown { .. }) {
            self.unknown.insert(call.clone());
        }
    }
}
