//! The offers of this server to clients of other protocols: shared tools, tasks and workflows, the ensemble and the
//! chat agent. They are tools over MCP, and skills over A2A.

use std::collections::BTreeSet;
use std::sync::Arc;

use consort_core::catalog::{EffectClass, ToolInfo};
use consort_core::draft::Draft;
use consort_core::own_tool::OwnTool;
use consort_core::template;
use consort_core::workflow::Document;
use consort_net::share::{Share, SharedWork as Shared};
use serde_json::{Map, Value, json};

use crate::Site;
use crate::access::Scope;
use crate::routes::capabilities::variables;

/// Characters of a tool's name that most hosts take.
const NAME_MAX: usize = 64;
/// The tool that runs the ensemble.
const RUN_ENSEMBLE: &str = "run_ensemble";
/// The tool that talks to the chat agent.
const CHAT: &str = "chat";
/// The input of a task without variables.
pub(crate) const INPUT: &str = "input";
/// The argument of the chat agent that holds what is said.
pub(crate) const MESSAGE: &str = "message";
/// The argument of the chat agent that names a thread; also in its result.
pub(crate) const CONVERSATION: &str = "conversation";
/// The result of the chat agent.
pub(crate) const ANSWER: &str = "answer";

type JsonObject = Map<String, Value>;

/// Something that can be called.
pub(crate) struct Offer {
    name: String,
    description: String,
    tags: Vec<String>,
    pub(crate) schema: JsonObject,
    pub(crate) output_schema: Option<JsonObject>,
    pub(crate) effect: EffectClass,
    pub(crate) what: What,
}

/// The work that a call of an offer starts.
pub(crate) enum What {
    /// A tool is called directly.
    Tool(Arc<ToolInfo>),
    /// A task is run on its own.
    Task(Box<Draft>),
    /// A saved workflow is run, or else the ensemble.
    Run {
        /// The id of the workflow.
        workflow: Option<String>,
    },
    /// A message is answered.
    Chat,
}

impl Offer {
    /// Returns the name that clients use.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the scope that a key needs to call it.
    pub(crate) fn scope(&self) -> Scope {
        match self.what {
            What::Tool(_) => Scope::Tools,
            What::Task(_) | What::Run { .. } | What::Chat => Scope::Run,
        }
    }

    /// Returns whether its result is data of a known form.
    pub(crate) fn promises_data(&self) -> bool {
        self.output_schema.is_some()
    }

    /// Returns its description for clients.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// Returns its tags.
    pub(crate) fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().map(String::as_str)
    }

    /// Returns the names of its inputs.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &str> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(Map::keys).map(String::as_str)
    }
}

/// Returns everything that is offered, in the order of the configuration, each name once.
pub(crate) async fn offers(site: &Site) -> Vec<Offer> {
    let server = &site.server;
    let mut offers: Vec<Offer> = server.shares.iter().filter_map(|share| shared(site, share)).collect();
    for (name, target) in &server.shared_workflows {
        match site.starter.workflow(target).await {
            Ok(saved) => offers.push(workflow(name, saved.id.clone(), &saved.entry.document)),
            Err(error) => tracing::debug!(%error, name, "a shared workflow is not offered"),
        }
    }
    if !server.ensemble.tasks.is_empty() {
        offers.push(ensemble(site));
    }
    if !server.chats.settings().catalog.models.is_empty() {
        offers.push(chat());
    }
    let mut names = BTreeSet::new();
    offers.retain(|offer| names.insert(offer.name.clone()));
    offers
}

fn shared(site: &Site, share: &Share) -> Option<Offer> {
    let name = spelled(&share.name);
    let tags = share.tags.clone();
    match &share.what {
        // Only a task can ask a person.
        Shared::Tool(tool) if tool.as_own() == Some(OwnTool::HumanInput) => None,
        Shared::Tool(tool) => Some(Offer {
            name,
            tags,
            description: tool.description.clone(),
            schema: tool.schema.json().as_object().cloned().unwrap_or_default(),
            output_schema: None,
            effect: tool.effect,
            what: What::Tool(tool.clone()),
        }),
        Shared::Task(task) => Some(Offer {
            name,
            tags,
            description: task.description.clone(),
            schema: inputs_schema(variables(task), |name| site.server.ensemble.inputs.contains_key(name)),
            output_schema: output_schema(task),
            effect: EffectClass::Once,
            what: What::Task(task.clone()),
        }),
    }
}

/// A schema of an object is told; results of any other form are text only.
fn output_schema(task: &Draft) -> Option<JsonObject> {
    let schema = task.output_schema.as_ref()?.as_object().cloned()?;
    (schema.get("type").and_then(Value::as_str) == Some("object")).then_some(schema)
}

fn ensemble(site: &Site) -> Offer {
    let ensemble = &site.server.ensemble;
    let tasks: Vec<&str> = ensemble.tasks.iter().filter_map(|task| task.name.as_deref()).collect();
    let needed = ensemble.tasks.iter().flat_map(variables).collect();
    Offer {
        name: RUN_ENSEMBLE.to_owned(),
        tags: Vec::new(),
        description: format!("Runs the ensemble '{}': {}", ensemble.name, tasks.join(", ")),
        schema: inputs_schema(needed, |name| ensemble.inputs.contains_key(name)),
        output_schema: None,
        effect: EffectClass::Once,
        what: What::Run { workflow: None },
    }
}

fn workflow(name: &str, id: String, document: &Document) -> Offer {
    let texts = document.tasks.iter().flat_map(|task| {
        let text = |name: &str| task.get(name).and_then(Value::as_str);
        ["description", "expectedOutput", "additionalContext"].into_iter().filter_map(text).collect::<Vec<_>>()
    });
    let needed = texts.flat_map(template::variables).collect();
    Offer {
        name: spelled(name),
        tags: Vec::new(),
        description: document.description.clone().unwrap_or_else(|| format!("Runs the workflow '{}'", document.name)),
        schema: inputs_schema(needed, |name| document.inputs.contains_key(name)),
        output_schema: None,
        effect: EffectClass::Once,
        what: What::Run { workflow: Some(id) },
    }
}

fn chat() -> Offer {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let schema = json!({
        "type": "object",
        "properties": {
            MESSAGE: text("What to say"),
            CONVERSATION: text("The conversation to go on with, or a name of your own for a new one")
        },
        "required": [MESSAGE],
        "additionalProperties": false
    });
    Offer {
        name: CHAT.to_owned(),
        tags: Vec::new(),
        description:
            "Asks the chat agent, which has tools of its own; its result names the conversation, to go on with"
                .to_owned(),
        schema: schema.as_object().cloned().unwrap_or_default(),
        output_schema: None,
        effect: EffectClass::Once,
        what: What::Chat,
    }
}

/// Returns the schema of template variables; a task without any takes one input. What expressions read is no
/// variable, so further inputs are let through.
fn inputs_schema(needed: Vec<&str>, has_default: impl Fn(&str) -> bool) -> JsonObject {
    let names: BTreeSet<&str> = if needed.is_empty() { [INPUT].into() } else { needed.iter().copied().collect() };
    let properties: JsonObject = names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    let required: Vec<&str> = names.into_iter().filter(|name| !needed.is_empty() && !has_default(name)).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    schema.as_object().cloned().unwrap_or_default()
}

/// Returns a name as most hosts take it.
fn spelled(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    name.chars().map(plain).take(NAME_MAX).collect()
}
