//! A runner for tests without any IO: effects wait here until a test ends them, and every event is also
//! folded from its stored form, which must give the same state.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::json;

use crate::decisions::decide::{Command, Refused, Report};
use crate::decisions::fork::Own;
use crate::decisions::next::{Effect, Grants};
use crate::decisions::own_tool::OwnTool;
use crate::projections::span::Span;
use crate::state::budget::Limits;
use crate::state::gate;
use crate::state::run::Run;
use crate::tests::{described, recorded};
use consort_spec::catalog::{EffectClass, ModelInfo, Price, SavedWorkflows, ToolInfo};
use consort_spec::compile::{Catalog, Compiled, compile};
use consort_spec::draft::{Draft, Ensemble, Request};
use consort_spec::dynamic::NETWORK;
use consort_spec::event::{Adoption, Event, EventKind, VERSION};
use consort_spec::id::{Id, Millis};
use consort_spec::message::{Call, Failure, FailureKind, Message, Outcome, Part, Reply, Stop, Usage};
use consort_spec::owner::Owner;
use consort_spec::schema::Schema;

/// Returns the part of a fork that is not the old run's.
pub(super) fn own() -> Own {
    Own { ensemble_id: "f".to_owned(), owner: Owner::local(), version: VERSION }
}

/// The number of slots of each model in these tests.
const SLOTS: usize = 1000;

pub(super) struct World {
    pub(super) run: Run,
    /// The same run, folded from the stored form of its events.
    stored: Run,
    pub(super) log: Vec<Event>,
    /// The exported spans.
    pub(super) spans: Vec<Span>,
    pub(super) waiting: Vec<Effect>,
    /// The number of times each call was dispatched.
    pub(super) dispatched: HashMap<Id, usize>,
    pub(super) now: Millis,
    pub(super) grants: Grants,
    /// The usage of every answer.
    pub(super) usage: Usage,
}

/// Returns the catalog of these tests: `look` reads, `put` is idempotent, `pay` happens once, `lock` is
/// exclusive.
pub(super) fn catalog() -> Catalog {
    let tool = |name: &str, effect| ToolInfo {
        effect,
        schema: Schema::new(json!({ "type": "object", "properties": { "n": { "type": "integer" } } })),
        ..ToolInfo::new(name, "a tool")
    };
    let lock = ToolInfo { parallel_safe: false, lock: Some("door".to_owned()), ..tool("lock", EffectClass::Once) };
    let price = Some(Price { input: 1_000_000, output: 2_000_000, cached_input: 0 });
    let model = |alias: &str, fallback: &[&str]| ModelInfo {
        price,
        max_output_tokens: 100,
        retries: 1,
        fallback: fallback.iter().map(|alias| (*alias).to_owned()).collect(),
        ..ModelInfo::new(alias, "scripted")
    };
    Catalog {
        models: vec![Arc::new(model("big", &["small"])), Arc::new(model("small", &[]))],
        tools: [
            (*OwnTool::HumanInput.info()).clone(),
            tool("look", EffectClass::Read),
            tool("put", EffectClass::Idempotent),
            tool("pay", EffectClass::Once),
            lock,
        ]
        .into_iter()
        .map(Arc::new)
        .collect(),
        providers: vec![NETWORK.to_owned()],
        workflows: SavedWorkflows::default(),
    }
}

/// Puts the earlier messages of a turn back, which are not stored with it.
fn put_back(stored: &mut Event, event: &Event) {
    if let (EventKind::RunAccepted { spec: stored, .. }, EventKind::RunAccepted { spec, .. }) =
        (&mut stored.kind, &event.kind)
        && let (Some(stored), Some(turn)) = (&mut Arc::make_mut(stored).chat, &spec.chat)
    {
        stored.history = turn.history.clone();
    }
}

/// Returns the capabilities of other ensembles, by the names a task has for them: `kitchen.cook` happens
/// once, `kitchen.look` reads, and both spend the run's money.
pub(super) fn shared() -> BTreeMap<String, Vec<Arc<ToolInfo>>> {
    let tool = |name: &str, effect| Arc::new(ToolInfo { effect, charged: true, ..ToolInfo::new(name, "a tool") });
    let cook = tool("kitchen.cook", EffectClass::Once);
    let look = tool("kitchen.look", EffectClass::Read);
    BTreeMap::from([("kitchen.cook".to_owned(), vec![cook]), ("network:#food".to_owned(), vec![look])])
}

/// Returns a task that may use everything.
pub(super) fn task(name: &str, context: &[&str]) -> Draft {
    Draft {
        name: Some(name.to_owned()),
        description: format!("Do {name}"),
        tools: ["look", "put", "pay", "lock", OwnTool::RunSubtask.name(), OwnTool::HumanInput.name()]
            .map(str::to_owned)
            .to_vec(),
        context: context.iter().map(|name| format!("${name}")).collect(),
        ..Draft::default()
    }
}

pub(super) fn ensemble(tasks: Vec<Draft>) -> Ensemble {
    let limits = Limits { depth: 2, ..Limits::default() };
    Ensemble { name: "test".to_owned(), limits, tasks, ..Ensemble::default() }
}

pub(super) fn compiled(ensemble: &Ensemble) -> Compiled {
    compile(ensemble, Request::default(), &catalog()).unwrap()
}

impl Drop for World {
    fn drop(&mut self) {
        recorded::record(&self.log);
    }
}

impl World {
    /// Creates the run of an ensemble, accepted and adopted, and advances it until it waits.
    pub(super) fn new(ensemble: &Ensemble) -> World {
        World::of(compiled(ensemble))
    }

    /// Creates the run of an already compiled ensemble.
    pub(super) fn of(compiled: Compiled) -> World {
        let Compiled { spec, models, belt, .. } = compiled;
        let slots = models.keys().map(|alias| (alias.clone(), SLOTS)).collect();
        let mut world = World {
            run: Run::default(),
            stored: Run::default(),
            log: Vec::new(),
            spans: Vec::new(),
            waiting: Vec::new(),
            dispatched: HashMap::new(),
            now: 1000,
            grants: Grants { models: slots, locks: BTreeSet::from(["door".to_owned()]), belts: shared(), slot: true },
            usage: Usage { input: 10, output: 5, ..Usage::default() },
        };
        let owner = Owner::local();
        let kind = EventKind::RunAccepted {
            ensemble_id: "e".to_owned(),
            spec: Arc::new(spec),
            models,
            belt,
            copied: 0,
            owner,
            version: VERSION,
        };
        world.take(Event { at: world.now, kind });
        world.command(Command::Adopt(Adoption::default())).unwrap();
        world
    }

    fn take(&mut self, event: Event) {
        assert!(!self.run.ended(), "nothing follows the end");
        assert!(self.log.is_empty() || event.kind.since() <= self.run.version(), "{event:?} is of a later version");
        self.spans.extend(self.run.span("run-1", &event));
        self.run.apply(&event);
        let text = serde_json::to_string(&event).unwrap();
        let mut stored = serde_json::from_str(&text).unwrap();
        put_back(&mut stored, &event);
        self.stored.apply(&stored);
        assert_eq!(self.run, self.stored, "any prefix replays to the same state");
        described::check(&self.run.frame("run-1", self.log.len() as u64, &event).text());
        self.log.push(event);
    }

    pub(super) fn command(&mut self, command: Command) -> Result<(), Refused> {
        let gives_up = matches!(command, Command::GiveUpCall { .. });
        for event in self.run.decide(command, self.now)? {
            if gives_up && let Some(place) = event.kind.place() {
                self.waiting.retain(|effect| effect.id() != place);
            }
            self.take(event);
        }
        self.settle();
        Ok(())
    }

    /// Applies the run's next steps until it waits.
    pub(super) fn settle(&mut self) {
        for _pass in 0..10_000 {
            let steps = self.run.next(self.now, &self.grants).steps;
            if steps.is_empty() {
                return self.drop_stopped();
            }
            for step in steps {
                let may_work = self.grants.slot || !self.run.is_parked();
                assert!(may_work || !gate::needs_slot(&step.event.kind), "without a slot nothing begins: {step:?}");
                self.take(step.event);
                if let Some(Effect::Call { id, tool, .. }) = &step.then {
                    let times = self.dispatched.entry(id.clone()).or_default();
                    *times += 1;
                    assert!(tool.effect != EffectClass::Once || *times == 1, "{id} was done {times} times");
                }
                self.waiting.extend(step.then);
            }
        }
        panic!("the run never waits");
    }

    fn drop_stopped(&mut self) {
        if self.run.stopping()
            && let Some(effect) = self.waiting.pop()
        {
            self.command(Command::Report(Report::Dropped { id: effect.id().clone(), said: Default::default() }))
                .unwrap();
        }
    }

    /// Forgets everything but these events, whose effects were not executed.
    pub(super) fn start_over(&mut self, events: Vec<Event>) {
        recorded::record(&self.log);
        (self.run, self.stored) = (Run::default(), Run::default());
        self.log.clear();
        self.waiting.clear();
        self.dispatched.clear();
        for event in events {
            if let EventKind::ToolDispatched { call, .. } = &event.kind {
                *self.dispatched.entry(call.clone()).or_default() += 1;
            }
            self.take(event);
        }
        self.spans.clear();
    }

    /// Lets the owner die and another one take over.
    pub(super) fn crash(&mut self) {
        self.waiting.clear();
        self.command(Command::Adopt(Adoption::default())).unwrap();
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, ms: Millis) {
        self.now += ms;
        self.settle();
    }

    fn end(&mut self, id: &str) {
        let index = self.waiting.iter().position(|effect| effect.id().as_str() == id);
        self.waiting.remove(index.unwrap_or_else(|| panic!("{id} does not wait: {:?}", self.places())));
    }

    /// Returns the ids that effects wait for.
    pub(super) fn places(&self) -> Vec<&str> {
        self.waiting.iter().map(|effect| effect.id().as_str()).collect()
    }

    pub(super) fn answers(&mut self, conversation: &str, text: &str) {
        self.replies(conversation, reply(text, &[]));
    }

    /// Answers with a text that ends at the output limit.
    pub(super) fn cuts(&mut self, conversation: &str, text: &str) {
        self.replies(conversation, Reply { stop: Stop::Length, ..reply(text, &[]) });
    }

    pub(super) fn calls(&mut self, conversation: &str, calls: &[(&str, &str)]) {
        self.replies(conversation, reply("", calls));
    }

    pub(super) fn replies(&mut self, conversation: &str, reply: Reply) {
        self.end(conversation);
        let usage = Some(self.usage);
        let report =
            Report::Replied { conversation: conversation.into(), reply: Arc::new(reply), usage, latency_ms: 3 };
        self.command(Command::Report(report)).unwrap();
    }

    pub(super) fn fails(&mut self, conversation: &str, kind: FailureKind) {
        let failure = Failure { kind, message: "no".to_owned(), retry_after_ms: None, status: None, charged: false };
        self.fails_with(conversation, failure);
    }

    pub(super) fn fails_with(&mut self, conversation: &str, failure: Failure) {
        self.end(conversation);
        self.command(Command::Report(Report::Unanswered {
            conversation: conversation.into(),
            failure,
            dice: 0,
            said: Default::default(),
        }))
        .unwrap();
    }

    pub(super) fn returns(&mut self, call: &str, text: &str) {
        self.ends_call(call, Outcome::answer(text));
    }

    pub(super) fn ends_call(&mut self, call: &str, outcome: Outcome) {
        self.end(call);
        self.command(Command::Report(Report::Returned {
            call: call.into(),
            outcome,
            cause: None,
            duration_ms: 1,
            spent: None,
            changes: Vec::new(),
        }))
        .unwrap();
    }

    /// Returns the types of the last frames, after the first `skip`.
    pub(super) fn kinds(&self, skip: usize) -> Vec<String> {
        let mut run = Run::default();
        let frame = |(seq, event): (usize, &Event)| {
            run.apply(event);
            run.frame("run-1", seq as u64, event).kind().to_owned()
        };
        self.log.iter().enumerate().map(frame).skip(skip).collect()
    }

    /// Returns the tools that a model which is being asked may call.
    pub(super) fn offered(&self, conversation: &str) -> Vec<&str> {
        let asked = |effect: &'_ &Effect| effect.id().as_str() == conversation;
        let Some(Effect::Ask(question)) = self.waiting.iter().find(asked) else {
            panic!("{conversation} is not asked")
        };
        question.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    /// Returns the text of every user message of a conversation.
    pub(super) fn told(&self, conversation: &str) -> Vec<String> {
        let words =
            |message: &Message| if let Message::User { text } = message { Some(text.to_string()) } else { None };
        self.run.conversations()[&Id::from(conversation)].messages().iter().filter_map(words).collect()
    }

    /// Returns the results of a conversation's tools, as its model reads them.
    pub(super) fn results(&self, conversation: &str) -> Vec<String> {
        let words =
            |message: &Message| if let Message::Tool { text, .. } = message { Some(text.to_string()) } else { None };
        self.run.conversations()[&Id::from(conversation)].messages().iter().filter_map(words).collect()
    }

    pub(super) fn status(&self) -> &'static str {
        self.run.status().word()
    }
}

pub(super) fn reply(text: &str, calls: &[(&str, &str)]) -> Reply {
    let call = |(index, (tool, args)): (usize, &(&str, &str))| {
        let provider_id = format!("call_{index}");
        let tool = (*tool).to_owned();
        let args = (*args).into();
        Part::Call(Call { provider_id, tool, args, native: None })
    };
    let text = (!text.is_empty()).then(|| Part::Text { text: text.into(), native: None });
    let parts = text.into_iter().chain(calls.iter().enumerate().map(call)).collect();
    Reply { wire: "scripted".to_owned(), parts, stop: Stop::End }
}
