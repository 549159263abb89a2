//! The capabilities of an ensemble, and the run that a request becomes: a task
//! becomes an ensemble of one task, a tool becomes a task that only calls it. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::budget::Limits;
use consort_core::catalog::{Belt, EffectClass, Models, ToolInfo};
use consort_core::compile::{Catalog, Compiled, compile};
use consort_core::draft::{Draft, Ensemble, Request as Submission};
use consort_core::owner::Owner;
use consort_core::queue::Priority;
use consort_core::spec::{Kind, Origin, Spec, Task};
use consort_core::template;
use consort_tools::{InputError, input_arguments};
use serde_json::{Value, json};

use crate::wire::{Allowance, Capability, CapabilityKind, Route, TaskRequest, ToolRequest};

/// The variable from which a shared task reads its context.
const CONTEXT: &str = "context";

/// A shared capability.
#[derive(Clone, Debug)]
pub struct Share {
    /// The name on the network; unique.
    pub name: String,
    /// The tags of the capability.
    pub tags: Vec<String>,
    /// The owner that sees the work it is used for, and decides its reviews.
    pub owner: Owner,
    /// The shared task or tool.
    pub what: SharedWork,
}

/// Shared tools and tasks.
#[derive(Clone, Debug)]
pub enum SharedWork {
    /// A tool.
    Tool(Arc<ToolInfo>),
    /// A task.
    Task(Box<Draft>),
}

impl Share {
    /// Returns the description for other ensembles.
    pub fn capability(&self) -> Capability {
        let version = Some(env!("CARGO_PKG_VERSION").to_owned());
        let name = self.name.clone();
        let tags = self.tags.clone();
        match &self.what {
            SharedWork::Tool(tool) => Capability {
                name,
                description: tool.description.clone(),
                kind: CapabilityKind::Tool,
                tags,
                schema: Some(Arc::new(tool.schema.json().clone())),
                version,
                effect: Some(tool.effect),
                timeout_ms: Some(tool.timeout_ms),
            },
            SharedWork::Task(task) => Capability {
                name,
                description: task.description.clone(),
                kind: CapabilityKind::Task,
                tags,
                schema: None,
                version,
                effect: Some(EffectClass::Once),
                timeout_ms: None,
            },
        }
    }
}

/// The parts from which runs for peers are built.
pub struct PeerRunFactory {
    /// The settings of every task.
    pub ensemble: Ensemble,
    /// The models and tools that tasks can use.
    pub catalog: Catalog,
    /// Shared tools and tasks.
    pub shares: Vec<Share>,
}

impl PeerRunFactory {
    fn find(&self, name: &str, is: impl Fn(&SharedWork) -> bool) -> Option<&Share> {
        self.shares.iter().find(|share| share.name == name && is(&share.what))
    }

    /// Returns the run that performs a shared task; the error says why there is none.
    pub(crate) fn task(&self, request: &TaskRequest) -> Result<Compiled, String> {
        let share = self.find(&request.task, |what| matches!(what, SharedWork::Task(_)));
        let Some(Share { what: SharedWork::Task(draft), owner, .. }) = share else {
            return Err(format!("Unknown shared task: {}", request.task));
        };
        let context = request.context.clone().unwrap_or_default();
        let draft = informed(Draft { context: Vec::new(), ..(**draft).clone() }, &context);
        let ensemble = Ensemble { tasks: vec![draft], workflow: None, ..self.ensemble.clone() };
        let inputs = BTreeMap::from([(CONTEXT.to_owned(), context.into())]);
        let submission = Submission { inputs, ..Submission::default() };
        let mut compiled = compile(&ensemble, submission, &self.catalog).map_err(|mistakes| {
            mistakes.iter().map(|mistake| mistake.message.clone()).collect::<Vec<_>>().join("; ")
        })?;
        compiled.spec.limits = within(compiled.spec.limits, request.route.budget, request.deadline.map(|span| span.0));
        compiled.spec.kind = Kind::Peer;
        compiled.spec.traceparent = request.trace_context.as_ref().map(|trace| trace.traceparent.clone());
        let priority = request.priority.unwrap_or_default();
        compiled.spec.origin = Some(origin(&request.route, &request.from, priority, owner));
        Ok(compiled)
    }

    /// Returns the run that calls a shared tool; the error says why there is none.
    pub(crate) fn tool(&self, request: &ToolRequest) -> Result<Compiled, String> {
        let share = self.find(&request.tool, |what| matches!(what, SharedWork::Tool(_)));
        let Some(Share { what: SharedWork::Tool(tool), owner, .. }) = share else {
            return Err(format!("Unknown shared tool: {}", request.tool));
        };
        let args = arguments(tool, request.input.as_ref())?;
        let limits = within(self.ensemble.limits, request.route.budget, request.deadline.map(|span| span.0));
        let task = Task {
            name: request.tool.clone(),
            description: format!("Call {}", tool.name),
            handler: Some(tool.name.clone()),
            handler_args: Some(args),
            max_iterations: 1,
            ..Task::default()
        };
        let spec = Spec {
            kind: Kind::Peer,
            name: self.ensemble.name.clone(),
            tasks: vec![task],
            limits,
            traceparent: request.trace_context.as_ref().map(|trace| trace.traceparent.clone()),
            origin: Some(origin(&request.route, &request.from, Priority::Normal, owner)),
            ..Spec::default()
        };
        let belt = Belt::from([(tool.name.clone(), tool.clone())]);
        Ok(Compiled { spec, models: Models::new(), belt, warnings: Vec::new() })
    }
}

/// Returns the task with the context as additional context, unless it refers to the context itself.
fn informed(draft: Draft, context: &str) -> Draft {
    let texts = [Some(&draft.description), draft.expected_output.as_ref(), draft.additional_context.as_ref()];
    let named = texts.into_iter().flatten().any(|text| template::variables(text).contains(&CONTEXT));
    if named || context.is_empty() || draft.additional_context.is_some() {
        return draft;
    }
    Draft { additional_context: Some(format!("{{{CONTEXT}}}")), ..draft }
}

/// Returns the stricter of the ensemble's limits and the requester's.
fn within(own: Limits, given: Option<Allowance>, patience: Option<std::time::Duration>) -> Limits {
    let stricter = |own: u64, given: Option<u64>| match given {
        Some(given) if own == 0 || given < own => given.max(1),
        Some(_) | None => own,
    };
    let given = given.unwrap_or_default();
    let patience = patience.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
    Limits {
        tokens: stricter(own.tokens, given.tokens),
        cost: stricter(own.cost, given.cost_nano_usd),
        wall_clock_ms: stricter(own.wall_clock_ms, patience),
        ..own
    }
}

/// Returns the origin of a request; one without a route came from its sender.
fn origin(route: &Route, from: &str, priority: Priority, host: &Owner) -> Arc<Origin> {
    let ancestors = if route.ancestors.is_empty() { vec![from.to_owned()] } else { route.ancestors.clone() };
    Arc::new(Origin { ancestors, hops: route.hops.unwrap_or(u32::MAX), priority, host: host.clone(), asked: None })
}

/// Returns the arguments of a shared tool. A peer may leave the input out: it is an empty text for a tool
/// that takes one.
fn arguments(tool: &ToolInfo, input: Option<&Value>) -> Result<Value, String> {
    let left_out = input.is_none_or(Value::is_null);
    if let Some(name) = tool.schema.only_string().filter(|_| left_out) {
        return Ok(json!({ name: "" }));
    }
    input_arguments(tool, input).map_err(|error| match error {
        InputError::NoObject => "the input must be an object, or a text that holds one as JSON".to_owned(),
        InputError::OtherType => "the input must be an object or a text".to_owned(),
    })
}
