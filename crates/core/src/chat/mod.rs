//! A turn of a chat: a run of one task that opens with the thread's history. This file compiles a turn, whose
//! recorded parts are in `consort_spec::chat`; `record` has its rows and its tree of calls, `permission` decides
//! which calls wait for a person, `steering` handles clients' commands, `prompt` writes the system message,
//! `mining` extracts facts for later turns, `frame` renders its frames and `redact` removes secrets from them.

mod flow;
pub(crate) mod frame;
mod mining;
mod permission;
mod prompt;
pub(crate) mod record;
pub(crate) mod redact;
mod shape;
mod steering;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use consort_spec::chat::{
    Answer, CLIENT_PREFIX, CONTENT_MAX, Carried, ChatEventKind, Earlier, Editor, Entry, Flow, Grant, GrantView, IfBusy,
    Mode, Presence, Reason, Role, Taint, Turn, UserMessage, brought_source, manifest, mode,
};
pub(crate) use consort_spec::chat::{GRANTS_MAX, is_said, spoken};
use serde::{Deserialize, Serialize};

pub use flow::compile_workflow;
pub use frame::{approval_id, parse_approval_id};
pub use mining::{FACTS_MAX, MINING, MiningCost, Unmined, facts};
pub use prompt::REMEMBERED;
pub(crate) use prompt::system;
pub use record::{Listed, Row, Stored, history, sources};
pub use shape::{MessageRequest, MessageView, PendingApproval};

use crate::decisions::build::Registry;
use crate::decisions::own_tool::{Audience, OwnTool, Performer};
use crate::state::budget::Limits;
use consort_spec::agent::Agent;
use consort_spec::catalog::{Belt, ModelInfo, Permission, ToolInfo};
use consort_spec::compile::{Catalog, Compiled};
use consort_spec::id::Millis;
use consort_spec::mistake::{Code, Mistake};
use consort_spec::model_options::ModelOptions;
use consort_spec::reach::Destination;
use consort_spec::spec::{Kind, Spec, Task};
use consort_spec::text::Text;

/// The warning for a turn in an editor that cannot build workflows.
const NO_REGISTRY: &str = "the editor is open but `workflow_registry` is off: build_workflow is left out";
/// The default limits of a turn.
pub(crate) const LIMITS: Limits = Limits {
    depth: 3,
    iterations_per_level: 20,
    parallel_per_turn: 8,
    subtasks: 32,
    llm_calls: 60,
    tool_calls: 200,
    wall_clock_ms: 180_000,
    tool_result_bytes: 50_000,
    history_tokens: 128_000,
    schema_retries: 3,
    tokens: 0,
    cost: 0,
};
/// The time a client has to answer a call.
pub(crate) const CLIENT_TIMEOUT_MS: Millis = 300_000;

/// The configured rules for every turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The alias of the model to ask when a message names none.
    pub model: Option<String>,
    /// The permission classes of tools that a turn is given.
    pub classes: Vec<Permission>,
    /// Whether workflows may be built in the editor.
    pub workflow_registry: bool,
    /// The limits of a turn.
    pub limits: Limits,
    /// The default mode, and the most permissive one a message may ask for.
    pub mode: Mode,
    /// The time for which a question for permission stays open.
    pub approval_timeout_ms: Millis,
    /// The hosts, MCP servers and peers that a tainted chat may send to unasked: those of the configuration.
    pub allowed_hosts: Vec<String>,
}

impl Default for Rules {
    fn default() -> Rules {
        use Permission::{Knowledge, Network, Safe, Subagent, WorkspaceWrite};
        Rules {
            model: None,
            classes: vec![Safe, Knowledge, Subagent, Network, WorkspaceWrite],
            workflow_registry: true,
            limits: LIMITS,
            mode: Mode::Default,
            approval_timeout_ms: 600_000,
            allowed_hosts: Vec::new(),
        }
    }
}

/// The parts of one turn that its message adds to the rules.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The alias of the model to ask.
    pub model: Option<String>,
    /// The tools the client offers.
    pub client_tools: Vec<ToolInfo>,
    /// Whether the model is offered no tools.
    pub without_tools: bool,
    /// The options for the model's answers.
    pub model_options: ModelOptions,
    /// The turn itself.
    pub turn: Turn,
}

/// Returns whether the client makes the calls of a tool.
pub(crate) fn is_client(tool: &ToolInfo) -> bool {
    tool.permission == Permission::EditorMutate && tool.name.starts_with(CLIENT_PREFIX)
}

/// Compiles a turn: its tools, its model and its budget.
pub fn compile(mut order: Order, rules: &Rules, catalog: &Catalog) -> Result<Compiled, Mistake> {
    order.turn.allowed_hosts = allowed_hosts(rules, catalog);
    order.turn.executes = rules.classes.contains(&Permission::Execute);
    let in_editor = order.turn.editor.is_some();
    order.turn.registry = (in_editor && rules.workflow_registry).then(|| Registry::of(catalog));
    let models = models(&order, rules, catalog)?;
    let alias = models.first().map(|model| model.alias.clone()).unwrap_or_default();
    let can_call = !order.without_tools && models.first().is_some_and(|model| model.tools);
    let offered = if can_call { belt(rules, &order.turn, &catalog.tools, order.client_tools) } else { Vec::new() };
    let spec = Spec {
        kind: Kind::Turn,
        name: "chat".to_owned(),
        model: alias,
        tasks: vec![task(&order.turn, &offered, rules)],
        limits: rules.limits,
        model_options: order.model_options,
        tags: BTreeMap::from([("thread".to_owned(), order.turn.thread.clone())]),
        chat: Some(order.turn),
        ..Spec::default()
    };
    let belt: Belt = offered.into_iter().map(|tool| (tool.name.clone(), tool)).collect();
    let models = models.into_iter().map(|model| (model.alias.clone(), model)).collect();
    let warnings = (in_editor && !rules.workflow_registry).then(|| NO_REGISTRY.to_owned()).into_iter().collect();
    Ok(Compiled { spec, models, belt, warnings })
}

/// Returns the one task of a turn: to answer its message.
fn task(turn: &Turn, offered: &[Arc<ToolInfo>], rules: &Rules) -> Task {
    Task {
        name: "chat".to_owned(),
        description: turn.content.to_string(),
        agent: Agent { role: "an assistant".to_owned(), ..Agent::default() },
        tools: offered.iter().map(|tool| tool.name.clone()).collect(),
        max_iterations: Some(rules.limits.iterations_per_level).filter(|limit| *limit > 0).unwrap_or(u32::MAX),
        ..Task::default()
    }
}

/// Returns the model that answers and the fallbacks that follow it; a mistake when it cannot answer this turn.
fn models(order: &Order, rules: &Rules, catalog: &Catalog) -> Result<Vec<Arc<ModelInfo>>, Mistake> {
    let missing = || Mistake::new(Code::NotConfigured, "model", "no models are configured");
    let first = || catalog.models.first().map(|model| &model.alias);
    let alias = order.model.as_ref().or(rules.model.as_ref()).or_else(first).ok_or_else(missing)?;
    let models = catalog.model(alias)?;
    if rules.limits.cost > 0
        && let Some(unpriced) = models.iter().find(|model| model.price.is_none())
    {
        let message = format!("model '{}' has no price, so the chat's cost limit could not be kept", unpriced.alias);
        return Err(Mistake::new(Code::InvalidModel, "model", message));
    }
    models.first().map_or(Ok(()), |model| model.check_sight(&order.turn.files))?;
    if let Some((option, reason)) = models.first().and_then(|model| order.model_options.refusals(model).pop()) {
        return Err(Mistake::new(Code::BadRequest, option.key(), format!("`{}` {reason}", option.key())));
    }
    Ok(models)
}

/// Returns all tools the rules allow, each name once: the server's before the client's.
fn belt(rules: &Rules, turn: &Turn, tools: &[Arc<ToolInfo>], client: Vec<ToolInfo>) -> Vec<Arc<ToolInfo>> {
    let is_offered = |tool: &OwnTool| match tool.audience() {
        Audience::Everyone if *tool == OwnTool::RunSubtask => rules.limits.depth > 0,
        Audience::Everyone => tool.performer() == Performer::Run,
        Audience::Editor => turn.registry.is_some(),
        Audience::Tasks | Audience::Team | Audience::OwingSubtask | Audience::Run => false,
    };
    let own = OwnTool::ALL.into_iter().filter(is_offered).map(OwnTool::info);
    let client = client.into_iter().filter(|tool| turn.editor.is_some() && tool.name.starts_with(CLIENT_PREFIX));
    // A result of any tool may be cut, so the tool that reads the rest is of no class of its own.
    let is_rest = |tool: &Arc<ToolInfo>| tool.as_own() == Some(OwnTool::ReadResult);
    let allowed = |tool: &Arc<ToolInfo>| {
        let is_of_editor = tool.permission == Permission::EditorMutate;
        // A program is offered wherever there is one, since a person is asked before it runs.
        let is_program = tool.permission == Permission::Execute;
        let is_listed = rules.classes.contains(&tool.permission);
        if is_of_editor { turn.editor.is_some() } else { is_listed || is_program || is_rest(tool) }
    };
    let all = own.chain(tools.iter().cloned()).chain(client.map(Arc::new));
    let mut belt: Vec<Arc<ToolInfo>> = Vec::new();
    // A person is already present: no tool is needed to ask one.
    for tool in all.filter(allowed).filter(|tool| tool.as_own() != Some(OwnTool::HumanInput)) {
        if !belt.iter().any(|known| known.name == tool.name) {
            belt.push(tool);
        }
    }
    if belt.iter().all(is_rest) {
        belt.clear();
    }
    belt
}

/// Returns the hosts and names that the configuration allows: those it lists, and those of its HTTP tools.
pub(crate) fn allowed_hosts(rules: &Rules, catalog: &Catalog) -> Vec<String> {
    let configured = catalog.tools.iter().filter_map(|tool| match &tool.reach.to {
        Destination::Configured(host) => Some(host.clone()),
        Destination::Unstated | Destination::Argument(_) | Destination::Named(_) => None,
    });
    let hosts: BTreeSet<String> = rules.allowed_hosts.iter().cloned().chain(configured).collect();
    hosts.into_iter().collect()
}

/// A client's command for a running turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields are named after the types that document them")]
pub enum Command {
    /// Allows a call, or denies it. A call that is allowed with `args` is made with those.
    Approve {
        approval: u32,
        answer: Answer,
        by: String,
        #[serde(default)]
        args: Option<Text>,
    },
    /// Takes a grant back.
    Withdraw { grant: String, by: String },
    /// Changes the permission mode from now on.
    SetMode { mode: Mode, by: String },
    /// Returns the result of a call the client was asked to make.
    Returned { call: String, result: Text, is_error: bool },
}
