//! The descriptions of the models and tools a run may use. They are stored with the run, so that an upgrade
//! or a changed configuration does not change the rules while it runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::message::{Attached, Usage};
use crate::requests::mistake::{Code, Mistake};
use crate::requests::model_options::ModelOptions;
use crate::requests::provider::Provider;
use crate::requests::reach::Reach;
use crate::requests::workflow::Document;
use crate::schema::Schema;

/// An amount of money in billionths of a US dollar; always an integer.
pub type NanoUsd = u64;

/// The amounts that make a dollar.
const NANOS_PER_USD: u64 = 1_000_000_000;

/// Returns an amount of money as a number of dollars.
pub fn usd(nanos: NanoUsd) -> f64 {
    nanos as f64 / NANOS_PER_USD as f64
}

const TOKENS_PER_PRICE: u128 = 1_000_000;

/// One model of the catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The name people use for it.
    pub alias: String,
    /// The provider that serves it (`openai`, `anthropic`, `gemini`, `demo`, …).
    pub provider: String,
    /// The provider's name for it; empty: the same as the alias.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The number of tokens of its context window, its answer included.
    pub context_tokens: u64,
    /// The number of tokens it may write in one answer.
    pub max_output_tokens: u64,
    /// Whether it can call tools.
    pub tools: bool,
    /// Whether it can ask for several calls at once.
    pub parallel_tool_calls: bool,
    /// The number of times a failed call is retried before giving up on this model.
    pub retries: u32,
    /// The aliases to try, in this order, when it does not answer.
    pub fallback: Vec<String>,
    /// The prices; without them, runs with a cost limit may not use it.
    pub price: Option<Price>,
    /// The protocol to use, where its provider has several; empty: the default one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub api: String,
    /// Whether it may be sent pictures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vision: bool,
    /// Whether it may be sent PDFs as they are; otherwise it gets their text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub documents: bool,
    /// The options for its answers, unless a run or a task sets others.
    #[serde(default, skip_serializing_if = "ModelOptions::is_empty")]
    pub options: ModelOptions,
    /// Whether its provider is told the schema of an answer, beside the prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub native_schemas: bool,
}

impl ModelInfo {
    /// Refuses pictures, if it cannot see.
    pub fn check_sight(&self, files: &[Attached]) -> Result<(), Mistake> {
        match files.iter().find(|file| file.is_picture() && !self.vision) {
            None => Ok(()),
            Some(picture) => {
                let Attached { name, .. } = picture;
                let message =
                    format!("model '{}' cannot see the picture '{name}': name one with `vision = true`", self.alias);
                Err(Mistake::new(Code::ModelCannotSee, "attachments", message))
            }
        }
    }

    /// The newer protocol of OpenAI.
    pub const RESPONSES: &str = "responses";

    /// Creates a model with the defaults of the configuration.
    pub fn new(alias: &str, provider: &str) -> ModelInfo {
        ModelInfo {
            alias: alias.to_owned(),
            provider: provider.to_owned(),
            model: String::new(),
            context_tokens: 200_000,
            max_output_tokens: 8_192,
            tools: true,
            vision: Provider::of(provider).vision,
            documents: false,
            parallel_tool_calls: true,
            retries: 3,
            fallback: Vec::new(),
            price: None,
            api: String::new(),
            options: ModelOptions::default(),
            native_schemas: false,
        }
    }

    /// Returns the name it is served under.
    pub fn served_as(&self) -> &str {
        if self.model.is_empty() { &self.alias } else { &self.model }
    }
}

/// Prices in nano-USD per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// The price of tokens read.
    pub input: NanoUsd,
    /// The price of tokens written.
    pub output: NanoUsd,
    /// The price of tokens read from the provider's cache.
    pub cached_input: NanoUsd,
}

impl Price {
    /// Returns the cost of the tokens read, rounded up.
    pub fn input_cost(&self, usage: &Usage) -> NanoUsd {
        let fresh = usage.input.saturating_sub(usage.cached_input);
        cost(&[(fresh, self.input), (usage.cached_input.min(usage.input), self.cached_input)])
    }

    /// Returns the cost of the tokens written, rounded up.
    pub fn output_cost(&self, usage: &Usage) -> NanoUsd {
        cost(&[(usage.output, self.output)])
    }

    /// Returns the cost of a call.
    pub fn total(&self, usage: &Usage) -> NanoUsd {
        self.input_cost(usage).saturating_add(self.output_cost(usage))
    }
}

fn cost(items: &[(u64, NanoUsd)]) -> NanoUsd {
    let total: u128 = items.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
    NanoUsd::try_from(total.div_ceil(TOKENS_PER_PRICE)).unwrap_or(NanoUsd::MAX)
}

/// The models a run may use, by alias.
pub type Models = BTreeMap<String, Arc<ModelInfo>>;

/// The saved workflows that tasks may name.
#[derive(Clone, Debug)]
pub enum SavedWorkflows {
    /// These, by the ids or names that tasks have for them.
    Known(BTreeMap<String, Arc<Document>>),
    /// They are looked up when a run begins; until then any name is taken.
    Later,
}

impl Default for SavedWorkflows {
    fn default() -> SavedWorkflows {
        SavedWorkflows::Known(BTreeMap::new())
    }
}

/// The tools a run may use, by name.
pub type Belt = BTreeMap<String, Arc<ToolInfo>>;

/// The description of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolInfo {
    /// The name agents call it by.
    pub name: String,
    /// The description of its function, for the model.
    pub description: String,
    /// The schema of its arguments.
    pub schema: Schema,
    /// The kind of resource it touches; decides about its use in chats and direct calls.
    pub permission: Permission,
    /// The effect of a repeated call.
    pub effect: EffectClass,
    /// Whether it may run in parallel to other calls of the same reply.
    pub parallel_safe: bool,
    /// The name of an exclusive lock that it holds while it runs.
    pub lock: Option<String>,
    /// The maximum duration of a call.
    pub timeout_ms: u64,
    /// The treatment of a call under way when the run is stopped.
    pub cancel: CancelClass,
    /// Whether its usage is paid for out of the run's budget.
    #[serde(default)]
    pub charged: bool,
    /// Whether the implementation remembers its calls: the outcome of a call whose owner died can be queried
    /// without starting anything.
    #[serde(default)]
    pub remembered: bool,
    /// The places its calls reach.
    #[serde(default, skip_serializing_if = "Reach::is_default")]
    pub reach: Reach,
}

impl ToolInfo {
    /// Creates a tool that reads, takes `{input}` and may run in parallel to others.
    pub fn new(name: &str, description: &str) -> ToolInfo {
        ToolInfo {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: Schema::new(plain_input()),
            permission: Permission::Safe,
            effect: EffectClass::Read,
            parallel_safe: true,
            lock: None,
            timeout_ms: 30_000,
            cancel: CancelClass::Drop,
            charged: false,
            remembered: false,
            reach: Reach::default(),
        }
    }
}

impl ToolInfo {
    /// Returns the approximate number of bytes of its description for a model.
    pub fn bytes(&self) -> u64 {
        (self.name.len() + self.description.len() + self.schema.bytes()) as u64
    }
}

/// Returns the arguments' schema of a tool that declares none.
pub fn plain_input() -> Value {
    json!({ "type": "object", "properties": { "input": { "type": "string" } }, "required": ["input"] })
}

/// Permission classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Pure; touches nothing.
    Safe,
    /// Reads and writes what the run or the user has stored here.
    Knowledge,
    /// Talks to other machines.
    Network,
    /// Reads or changes files of the workspace.
    WorkspaceWrite,
    /// Changes what the user has open in the editor.
    EditorMutate,
    /// Starts further agents.
    Subagent,
    /// Reads or writes secrets.
    Secrets,
    /// Runs programs.
    Execute,
}

/// The effect of making a call twice; it decides what happens to a call whose owner died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// Changes nothing: may be repeated.
    Read,
    /// May be repeated with the same key.
    Idempotent,
    /// Must not be repeated.
    Once,
}

/// The effect of a stop on a call under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelClass {
    /// It is dropped at once.
    Drop,
    /// It is notified, and may end by itself within the grace period: because half of it would be worse, or
    /// because another system has to stop it.
    Finish,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_input_is_cheaper_and_fractions_are_rounded_up() {
        let price = Price { input: 3_000_000_000, output: 15_000_000_000, cached_input: 300_000_000 };
        let usage = Usage { input: 1000, output: 10, cached_input: 400, reasoning: 0 };
        assert_eq!(price.input_cost(&usage), 600 * 3000 + 400 * 300);
        assert_eq!(price.output_cost(&usage), 10 * 15_000);
        let cheap = Price { input: 37_500_000, output: 0, cached_input: 0 };
        assert_eq!(cheap.total(&Usage { input: 1, ..Usage::default() }), 38);
    }
}
