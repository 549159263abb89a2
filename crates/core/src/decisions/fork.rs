//! Makes a new run out of the record of another. The kept part of the record is copied, event by event, and
//! `RunForked` ends the copy: work done before it is known and not repeated, the rest is done under a
//! budget of the new run. The old run is only read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use consort_spec::continuation::{Again, Keep};

use crate::decisions::decide::{self, Command};
use crate::decisions::edit::{self, Edits};
use crate::decisions::edit_output::{self, Outputs};
use crate::decisions::record::Record;
use crate::state::run::Run;
use consort_spec::attachments::AttachmentSource;
use consort_spec::catalog::EffectClass;
use consort_spec::compile::{Catalog, Compiled};
use consort_spec::event::{Edited, EditedOutput, Event, EventKind, Origin};
use consort_spec::id::{Id, Millis};
use consort_spec::message::{Attached, Outcome};
use consort_spec::mistake::{Code, Mistake, listed};
use consort_spec::owner::Owner;
use consort_spec::spec::{Kind, Task};

/// The parameters of a new run.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The part of the old run that is kept.
    pub keep: Keep,
    /// The changes to apply.
    pub edits: &'a Edits,
    /// The models and tools that can be chosen from.
    pub catalog: &'a Catalog,
    /// The name of the requester.
    pub by: &'a str,
    /// The W3C trace the new run belongs to, if there is one.
    pub traceparent: Option<&'a str>,
}

/// The part of a new run that is not the old one's.
#[derive(Clone, Debug)]
pub struct Own {
    /// The id of its execution.
    pub ensemble_id: String,
    /// Its owner.
    pub owner: Owner,
    /// The version of events that every node reads.
    pub version: u32,
}

/// The first events of a new run.
#[derive(Clone, Debug, PartialEq)]
pub struct Forked {
    /// The events.
    pub events: Vec<Event>,
    /// The run they fold into.
    pub run: Run,
    /// The warnings: odd, but no mistakes.
    pub warnings: Vec<String>,
}

/// The reason why there is no new run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// The run is still active: wait for it, cancel it or fork it.
    #[error("the run has not ended; only an ended run can be retried")]
    Active,
    /// The run is of a kind that cannot be retried or forked.
    #[error("only runs of an ensemble can be retried or forked")]
    NoRun,
    /// All tasks completed; there is nothing to do again.
    #[error("every task of the run has completed; fork it to do some of it again")]
    Complete,
    /// There is no such event to continue from.
    #[error("`seq` must be at most {most}, not {given}: that is all the run has done")]
    TooFar {
        /// The number that was given.
        given: u64,
        /// The highest possible number.
        most: u64,
    },
    /// A node that shares the log could not read it.
    #[error(
        "another server that shares the store is of an earlier version, which knows no edited outputs: upgrade it first"
    )]
    TooNew,
    /// The changes are not valid.
    #[error("{}", said(.0))]
    Mistakes(Vec<Mistake>),
    /// The new run refused the model.
    #[error(transparent)]
    Model(#[from] decide::Refused),
}

fn said(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A new run whose changes are checked and whose files are still to be found.
#[derive(Debug)]
pub struct Fork<'a> {
    new: New,
    origin: Origin,
    /// The settings that hold from now on, when something changes.
    edited: Option<Compiled>,
    /// The outputs that differ from the record.
    outputs: Vec<EditedOutput>,
    wanted: &'a Wanted<'a>,
}

/// Begins a new run with the events of an old one, called `run`.
pub fn fork<'a>(
    (run, events): (&str, &[Event]),
    wanted: &'a Wanted<'a>,
    own: Own,
    now: Millis,
) -> Result<Fork<'a>, Refused> {
    let Edits { request, outputs, .. } = wanted.edits;
    let (kept, origin) = kept(run, events, (&wanted.keep, outputs))?;
    let new = New::begin(kept, own, wanted.traceparent, now);
    let edited = edit::apply(&new.run, request, wanted.catalog).map_err(Refused::Mistakes)?;
    let record = (&new.run, new.events.as_slice());
    let outputs = edit_output::check(record, events, outputs, wanted.by).map_err(Refused::Mistakes)?;
    Ok(Fork { new, origin, edited, outputs, wanted })
}

impl Fork<'_> {
    /// Returns the files that its tasks name and that the old run did not have.
    pub fn attachment_sources(&self) -> Vec<&AttachmentSource> {
        let before = self.new.run.spec();
        let mut sources = self.edited.as_ref().map_or_else(Vec::new, |edited| edited.spec.attachment_sources());
        sources.retain(|source| before.attached(source).is_none());
        sources
    }

    /// Makes the first events of the run, with the files that were found.
    pub fn finish(self, find: impl Fn(&AttachmentSource) -> Option<Attached>) -> Result<Forked, Refused> {
        let Fork { mut new, origin, edited, outputs, wanted } = self;
        let mut warnings = Vec::new();
        let edited = match edited {
            Some(Compiled { mut spec, models, belt, warnings: odd }) => {
                let before = new.run.spec();
                let found = |source: &AttachmentSource| before.attached(source).cloned().or_else(|| find(source));
                spec.attach(&models, found).map_err(Refused::Mistakes)?;
                warnings = odd;
                Some(Box::new(Edited { spec: Arc::new(spec), models, belt }))
            }
            None => None,
        };
        let forked = EventKind::RunForked { origin, edited, outputs };
        if forked.since() > new.run.version() {
            return Err(Refused::TooNew);
        }
        new.take(forked);
        if let Some(alias) = &wanted.edits.model {
            let models = wanted.catalog.model(alias).map_err(|mistake| Refused::Mistakes(vec![mistake]))?;
            let switched = new.run.decide(Command::SwitchModel { models, by: wanted.by.to_owned() }, new.at)?;
            switched.into_iter().for_each(|event| new.take(event.kind));
        }
        Ok(Forked { events: new.events, run: new.run, warnings })
    }
}

/// A run being built.
#[derive(Debug)]
struct New {
    run: Run,
    events: Vec<Event>,
    at: Millis,
}

impl New {
    /// Starts a new run from the record, with its own id, owner and trace. Nobody who cannot read the record can read
    /// the copy.
    fn begin(mut events: Vec<Event>, own: Own, traceparent: Option<&str>, now: Millis) -> New {
        let count = events.len() as u64;
        let since = events.iter().map(|event| event.kind.since()).fold(own.version, u32::max);
        if let Some(Event { kind: EventKind::RunAccepted { ensemble_id, spec, copied, owner, version, .. }, .. }) =
            events.first_mut()
        {
            *ensemble_id = own.ensemble_id;
            *copied = count;
            *owner = own.owner;
            *version = since;
            if spec.traceparent.as_deref() != traceparent {
                Arc::make_mut(spec).traceparent = traceparent.map(str::to_owned);
            }
            // A caller asked for the new run, whatever began the old one.
            if spec.begun_by.is_some() {
                Arc::make_mut(spec).begun_by = None;
            }
        }
        let at = now.max(events.last().map_or(0, |event| event.at));
        New { run: Run::replay(&events), events, at }
    }

    fn take(&mut self, kind: EventKind) {
        let event = Event { at: self.at, kind };
        self.run.apply(&event);
        self.events.push(event);
    }
}

fn kept(run: &str, events: &[Event], (keep, outputs): (&Keep, &Outputs)) -> Result<(Vec<Event>, Origin), Refused> {
    if !matches!(events.first(), Some(Event { kind: EventKind::RunAccepted { spec, .. }, .. }) if spec.kind == Kind::Run)
    {
        return Err(Refused::NoRun);
    }
    let seq = match keep {
        Keep::Completed => return Ok((completed(events)?, Origin::Retry { run: run.to_owned() })),
        // As much as can be kept when these outputs are others.
        Keep::Before(None) if !outputs.is_empty() => edit_output::first_use(events, outputs),
        Keep::Before(seq) => *seq,
        Keep::BeforeTask(name) => Some(beginning_of(events, name).map_err(|mistake| Refused::Mistakes(vec![mistake]))?),
    };
    let done =
        events.len() - usize::from(matches!(events.last(), Some(Event { kind: EventKind::RunEnded { .. }, .. })));
    let most = done as u64;
    let seq = seq.unwrap_or(most);
    let too_far = Refused::TooFar { given: seq, most };
    // The first event defines the run, so it is always kept.
    let length = usize::try_from(seq).ok().filter(|length| *length <= done).ok_or(too_far)?.max(1);
    Ok((before(events, length), Origin::Fork { run: run.to_owned(), seq }))
}

/// Returns the seq of the first event of a task, by its name in any case.
fn beginning_of(events: &[Event], name: &str) -> Result<u64, Mistake> {
    let wrong = |message: String| Mistake::new(Code::BadRequest, "task", message);
    let run = Run::replay(events);
    let begins =
        |(index, task): &(usize, &Task)| task.name.eq_ignore_ascii_case(name) && run.spec().is_begun_by_run(*index);
    let Some((task, _)) = run.spec().tasks.iter().enumerate().find(begins) else {
        let known = run.spec().tasks.iter().enumerate().filter(|(index, _)| run.spec().is_begun_by_run(*index));
        let known = listed(known.map(|(_, task)| task.name.as_str()));
        return Err(wrong(format!("Unknown task '{name}'. Available: {known}")));
    };
    let first = events.iter().position(|event| task_of(&event.kind) == Some(task));
    let first = first.ok_or_else(|| wrong(format!("'{name}' has not begun in that run")))?;
    Ok(first as u64)
}

/// Returns the events of the completed tasks and those of the whole run.
fn completed(events: &[Event]) -> Result<Vec<Event>, Refused> {
    let run = Run::replay(events);
    if !run.ended() {
        return Err(Refused::Active);
    }
    let record = Record::of(&run);
    if record.is_complete() {
        return Err(Refused::Complete);
    }
    let mut reviews = BTreeMap::new();
    let copy = |event: &Event| Some(Event { at: event.at, kind: copied(&event.kind, &record, &mut reviews)? });
    Ok(events.iter().filter_map(copy).collect())
}

/// Returns the task that an event belongs to, if it belongs to one.
pub(crate) fn task_of(kind: &EventKind) -> Option<usize> {
    if let EventKind::BeltComposed { task, .. } = kind { Some(*task) } else { kind.place().map(Id::task_index) }
}

/// Returns an event as it stands in the copy, where reviews are renumbered.
fn copied(kind: &EventKind, record: &Record<'_>, reviews: &mut BTreeMap<u32, u32>) -> Option<EventKind> {
    if !record.keeps(kind) {
        return None;
    }
    let mut kind = kind.clone();
    if let EventKind::ReviewOpened { review, .. } = &mut kind {
        let number = u32::try_from(reviews.len()).unwrap_or(u32::MAX);
        reviews.insert(std::mem::replace(review, number), number);
    } else if let EventKind::ReviewDecided { review, .. }
    | EventKind::ReviewTimedOut { review, .. }
    | EventKind::ReviewClosed { review } = &mut kind
    {
        *review = *reviews.get(review)?;
    } else if stops_or_owns(&kind) {
        return None;
    }
    Some(kind)
}

/// Returns whether an event is about the run's ownership or its stop: the new run has its own.
fn stops_or_owns(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::RunAdopted { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::RunPaused { .. }
            | EventKind::RunResumed { .. }
            | EventKind::BudgetRaised { .. }
            | EventKind::BudgetExceeded { .. }
            | EventKind::RunEnded { .. }
    )
}

/// Returns the first events, and the ends of calls that were under way after them. A read whose end is not
/// known can be repeated; nothing else may.
fn before(events: &[Event], length: usize) -> Vec<Event> {
    let (first, rest) = events.split_at(length);
    let run = Run::replay(first);
    let mut under_way: BTreeSet<Id> = run.under_way().collect();
    let mut kept = first.to_vec();
    let mut over = BTreeSet::new();
    for event in rest {
        let ends = if let EventKind::ToolReturned { call, .. } = &event.kind {
            under_way.remove(call) && over.insert(call.clone())
        } else {
            matches!(&event.kind, EventKind::FileChanged { call, .. } if over.contains(call))
        };
        if ends {
            kept.push(event.clone());
        }
    }
    let at = kept.last().map_or(0, |event| event.at);
    for call in under_way.into_iter().filter(|call| run.class(call) != Some(EffectClass::Read)) {
        let outcome = Outcome::unknown("it was under way where the run was forked");
        kept.push(Event { at, kind: EventKind::returned(&call, outcome) });
    }
    kept
}

impl Run {
    /// Returns the calls that a tool is doing, or was doing when its owner went away.
    fn under_way(&self) -> impl Iterator<Item = Id> {
        self.conversations().iter().flat_map(|(id, conversation)| {
            let calls = conversation.calls().into_iter().flat_map(|calls| calls.under_way());
            calls.map(move |index| conversation.call_id(id, index))
        })
    }
}
