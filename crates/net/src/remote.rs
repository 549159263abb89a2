//! Capabilities of other ensembles, as tools: `<ensemble>.<capability>`.
//! Every failure on the way is reported to the model as a text.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{CancelClass, EffectClass, Permission, ToolInfo};
use consort_core::message::Spent;
use consort_core::reach::{Destination, EffectClassSource, Provider, Reach};
use consort_core::schema::Schema;
use consort_http::trace::traceparent;
use consort_tools::{Account, Answer, Invocation, Tool};
use futures::future::BoxFuture;
use serde_json::Value;

use crate::delivery::{DeliveryOutcome, RequestDelivery};
use crate::network::Network;
use crate::offline_tool::OfflineTool;
use crate::roster::Shared;
use crate::wire::{
    Allowance, Capability, CapabilityKind, Delivery, Response, Route, Span, Status, TaskRequest, ToolRequest,
    TraceParent, WEBSOCKET,
};
use crate::work::Request;

/// The note behind a result of which a model could not write the rest.
const CUT: &str = "the answer of the peer was cut at the output limit of its model";

/// The time limit of a tool that does not declare one.
const TOOL_TIMEOUT_MS: u64 = 30_000;
/// The time limit of a task.
pub(crate) const TASK_TIMEOUT_MS: u64 = 30 * 60 * 1000;
/// The extra time of a call beyond the limit of the capability, for the way of the answer.
const WAY_MS: u64 = 5_000;

/// A capability of another ensemble.
#[derive(Clone)]
pub struct NetworkTool {
    network: Network,
    ensemble: Arc<str>,
    capability: Arc<Capability>,
    info: Arc<ToolInfo>,
    /// The ensembles that may do the work, whatever a call says.
    provider: Provider,
}

/// The error for a capability that no ensemble shares.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("No provider found for the tool '{0}' on the network")]
pub struct NoProvider(pub String);

impl NetworkTool {
    /// Returns a capability of this ensemble as a tool.
    pub fn new(network: &Network, ensemble: &str, capability: Arc<Capability>) -> NetworkTool {
        let info = Arc::new(info(ensemble, &capability));
        let provider = Provider::Named;
        NetworkTool { network: network.for_calls(), ensemble: ensemble.into(), capability, info, provider }
    }

    /// Returns the tool as one that any ensemble may perform that shares the same.
    fn of_any(self) -> NetworkTool {
        NetworkTool { provider: Provider::Any, ..self }
    }

    /// Returns the tool of this name, of any ensemble that shares it.
    pub fn discover(name: &str, network: &Network) -> Result<NetworkTool, NoProvider> {
        let realm = network.options().realm.as_deref();
        let found = network.registry(|registry| {
            let ensemble = registry.ranked(name, CapabilityKind::Tool, realm).into_iter().next()?;
            registry.find(&ensemble, name).map(|capability| (ensemble, capability))
        });
        let (ensemble, capability) = found.ok_or_else(|| NoProvider(name.to_owned()))?;
        Ok(NetworkTool::new(network, &ensemble, capability).of_any())
    }

    /// Returns the providers to ask: the ensemble in its name, and where any is meant all others that share
    /// the same, the best first. One that is about to stop comes last.
    fn providers(&self, asked: Provider) -> VecDeque<Arc<str>> {
        if self.provider == Provider::Named && asked == Provider::Named {
            return VecDeque::from([self.ensemble.clone()]);
        }
        let name = &self.capability.name;
        let kind = self.capability.kind;
        let realm = self.network.options().realm.as_deref();
        let ranked = self.network.registry(|registry| registry.ranked(name, kind, realm));
        let first = ranked.contains(&self.ensemble);
        let others = ranked.into_iter().filter(|other| *other != self.ensemble);
        let mut providers: VecDeque<Arc<str>> = others.collect();
        if first {
            providers.push_front(self.ensemble.clone());
        } else {
            providers.push_back(self.ensemble.clone());
        }
        providers
    }

    /// Returns the request for a call; the error says why there is none.
    fn request(&self, invocation: Invocation) -> Result<Request, String> {
        let Invocation { key, args, account, .. } = invocation;
        let options = self.network.options();
        let route = route(&account, &options.name, options.max_hops)?;
        let deadline = Some(Span(Duration::from_millis(self.info.timeout_ms)));
        let trace_context = traceparent().map(|traceparent| TraceParent { traceparent, tracestate: None });
        let request_id = key;
        let from = options.name.clone();
        let name = self.capability.name.clone();
        Ok(match self.capability.kind {
            CapabilityKind::Tool => {
                let input = Some(self.input(args));
                let request = ToolRequest { request_id, from, tool: name, input, deadline, trace_context, route };
                Request::Tool(Box::new(request))
            }
            CapabilityKind::Task => Request::Task(Box::new(TaskRequest {
                request_id,
                from,
                task: name,
                context: Some(words(&args)),
                priority: None,
                deadline,
                delivery: Some(Delivery { method: WEBSOCKET.to_owned(), address: None }),
                trace_context,
                cache_policy: None,
                cache_key: None,
                max_age: None,
                route,
            })),
        })
    }

    /// Returns the input for the peer; a tool without a schema takes a text.
    fn input(&self, args: Value) -> Value {
        if self.capability.schema.is_some() { args } else { Value::String(words(&args)) }
    }

    pub(crate) async fn ask(self, invocation: Invocation) -> Answer {
        let account = invocation.account.clone();
        let request = match self.request(invocation) {
            Ok(request) => request,
            Err(why) => {
                account.charge(Spent::default());
                return Answer::Failed(why);
            }
        };
        let effect = account.again.unwrap_or(self.info.effect);
        let delivery = RequestDelivery { network: &self.network, effect, account: &account };
        match delivery.send(request, self.providers(account.provider)).await {
            DeliveryOutcome::Answered(response) => self.answer(response, &account),
            DeliveryOutcome::NotDone(why) => {
                account.charge(Spent::default());
                Answer::Failed(format!("Network error calling {}: {why}", self.info.name))
            }
            DeliveryOutcome::InDoubt(why) => Answer::Unknown(why),
        }
    }

    fn answer(&self, response: Response, account: &Account) -> Answer {
        if let Some(spent) = response.usage {
            account.charge(spent.into());
        }
        let failed = match self.capability.kind {
            CapabilityKind::Task => "Task failed",
            CapabilityKind::Tool => "Tool call failed",
        };
        let why = response.error.filter(|why| !why.trim().is_empty()).unwrap_or_else(|| failed.to_owned());
        match response.status {
            // Half an answer does not pass for a whole one.
            Status::Completed if response.truncated => {
                let text = format!("{}\n\n[{CUT}]", response.result.unwrap_or_default());
                Answer::Done { text, data: None }
            }
            Status::Completed => Answer::Done { text: response.result.unwrap_or_default(), data: None },
            Status::Failed if response.unknown => Answer::Unknown(why),
            Status::Failed | Status::Rejected | Status::InProgress | Status::Other => Answer::Failed(why),
        }
    }
}

impl Tool for NetworkTool {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(self.clone().ask(invocation))
    }

    fn tags(&self) -> &[String] {
        &self.capability.tags
    }
}

/// Returns the description of a capability for models.
fn info(ensemble: &str, capability: &Capability) -> ToolInfo {
    let usual = match capability.kind {
        CapabilityKind::Task => TASK_TIMEOUT_MS,
        CapabilityKind::Tool => TOOL_TIMEOUT_MS,
    };
    let plain = ToolInfo::new(&format!("{ensemble}.{}", capability.name), &capability.description);
    // The schema was checked when the peer said hello, and
    // is compiled again only when arguments are validated.
    let schema = capability.schema.as_ref().map(|schema| Schema::new((**schema).clone()));
    ToolInfo {
        schema: schema.unwrap_or_else(|| plain.schema.clone()),
        permission: Permission::Network,
        effect: capability.effect.unwrap_or(EffectClass::Once),
        reach: Reach { effect_by: EffectClassSource::Stranger, ..Reach::to(Destination::Named(ensemble.to_owned())) },
        timeout_ms: capability.timeout_ms.unwrap_or(usual).saturating_add(WAY_MS),
        cancel: CancelClass::Finish,
        charged: true,
        remembered: true,
        ..plain
    }
}

/// Returns the route of a request that is passed on, unless it has reached the hop limit.
fn route(account: &Account, name: &str, max_hops: u32) -> Result<Route, String> {
    let (mut ancestors, hops) = match &account.origin {
        Some(origin) => (origin.ancestors.clone(), origin.hops.min(max_hops)),
        None => (Vec::new(), max_hops),
    };
    ancestors.push(name.to_owned());
    let Some(left) = hops.checked_sub(1) else {
        let way = ancestors.join(" → ");
        return Err(format!("this request has passed through enough ensembles ({way}); do it yourself"));
    };
    let limit = |amount: u64| Some(amount).filter(|amount| *amount > 0);
    let budget = account.lent.map(|lent| Allowance { tokens: limit(lent.tokens), cost_nano_usd: limit(lent.cost) });
    Ok(Route { ancestors, hops: Some(left), budget, resumed: false })
}

/// Returns arguments as a text: the only one, or all of them as JSON.
fn words(args: &Value) -> String {
    let only = args.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.values().next());
    only.and_then(Value::as_str).map_or_else(|| args.to_string(), str::to_owned)
}

impl Network {
    /// Returns the current tools of peers: one for each ensemble and capability, of ensembles that accept work.
    pub(crate) fn peer_tools(&self) -> Vec<NetworkTool> {
        let realm = self.options().realm.as_deref();
        let shared: Vec<Shared> = self.registry(|registry| {
            let is_tool = |shared: &Shared| {
                shared.capability.kind == CapabilityKind::Tool && registry.may_ask(&shared.ensemble, realm)
            };
            registry.all().filter(is_tool).collect()
        });
        let tool = |shared: Shared| NetworkTool::new(self, &shared.ensemble, shared.capability).of_any();
        shared.into_iter().map(tool).collect()
    }

    /// Returns the tool of this name, even if its ensemble is disconnected: then the model gets a notice, unless
    /// any ensemble that shares the same is meant.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let (ensemble, _) = name.split_once('.')?;
        if let Some(tool) = self.agents().find(name) {
            return Some(Arc::new(tool));
        }
        Some(match self.find_tool(name) {
            Some(tool) => Arc::new(tool),
            None => Arc::new(OfflineTool::new(self, ensemble, name)),
        })
    }

    /// Returns the tool of this name, if its ensemble is connected.
    pub(crate) fn find_tool(&self, name: &str) -> Option<NetworkTool> {
        let (ensemble, capability) = name.split_once('.')?;
        let found = self.registry(|registry| registry.find(ensemble, capability));
        found.map(|capability| NetworkTool::new(self, ensemble, capability))
    }

    /// Returns the tool of this name, if any ensemble that shares it is connected.
    pub(crate) fn known_anywhere(&self, name: &str) -> Option<NetworkTool> {
        let (ensemble, capability) = name.split_once('.')?;
        let realm = self.options().realm.as_deref();
        let found = self.registry(|registry| {
            let kinds = [CapabilityKind::Tool, CapabilityKind::Task];
            let other = kinds.into_iter().find_map(|kind| registry.ranked(capability, kind, realm).into_iter().next());
            registry.find(&other?, capability)
        });
        found.map(|capability| NetworkTool::new(self, ensemble, capability).of_any())
    }
}
