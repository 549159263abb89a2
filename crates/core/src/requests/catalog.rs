//! What a run knows about the models and tools it may use. It is stored with
//! the run, so that an upgrade or a changed configuration does not change the
//! rules in the middle.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::message::Usage;
use crate::requests::model_options::ModelOptions;
use crate::schema::Schema;

/// A billionth of a US dollar; money is always an integer of these.
pub type NanoUsd = u64;

const TOKENS_PER_PRICE: u128 = 1_000_000;

/// One model of the catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The name people use for it.
    pub alias: String,
    /// Who serves it (`openai`, `anthropic`, `gemini`, `demo`, …).
    pub provider: String,
    /// What the provider calls it; empty: as people do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Tokens it can read, its answer included.
    pub context_tokens: u64,
    /// Tokens it may write in one answer.
    pub max_output_tokens: u64,
    /// Whether it can call tools.
    pub tools: bool,
    /// Whether it can ask for several calls at once.
    pub parallel_tool_calls: bool,
    /// How often a failed call is repeated before giving up on this model.
    pub retries: u32,
    /// Aliases tried in this order when it does not answer.
    pub fallback: Vec<String>,
    /// What it costs; without one, runs with a cost limit may not use it.
    pub price: Option<Price>,
    /// The protocol it is spoken to in, where its provider has several; empty:
    /// the usual one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub api: String,
    /// How it answers unless a run or a task says otherwise.
    #[serde(default, skip_serializing_if = "ModelOptions::is_empty")]
    pub options: ModelOptions,
}

impl ModelInfo {
    /// The newer protocol of OpenAI.
    pub const RESPONSES: &str = "responses";

    /// A model with the defaults of the configuration.
    pub fn new(alias: &str, provider: &str) -> ModelInfo {
        ModelInfo {
            alias: alias.to_owned(),
            provider: provider.to_owned(),
            model: String::new(),
            context_tokens: 200_000,
            max_output_tokens: 8_192,
            tools: true,
            parallel_tool_calls: true,
            retries: 3,
            fallback: Vec::new(),
            price: None,
            api: String::new(),
            options: ModelOptions::default(),
        }
    }

    /// The name it is served under.
    pub fn served_as(&self) -> &str {
        if self.model.is_empty() { &self.alias } else { &self.model }
    }
}

/// Prices in nano-USD per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Tokens read.
    pub input: NanoUsd,
    /// Tokens written.
    pub output: NanoUsd,
    /// Tokens read from the provider's cache.
    pub cached_input: NanoUsd,
}

impl Price {
    /// What reading costs, rounded up.
    pub fn input_cost(&self, usage: &Usage) -> NanoUsd {
        let fresh = usage.input.saturating_sub(usage.cached_input);
        cost(&[(fresh, self.input), (usage.cached_input.min(usage.input), self.cached_input)])
    }

    /// What writing costs, rounded up.
    pub fn output_cost(&self, usage: &Usage) -> NanoUsd {
        cost(&[(usage.output, self.output)])
    }

    /// What a call costs.
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

/// The tools a run may use, by name.
pub type Belt = BTreeMap<String, Arc<ToolInfo>>;

/// What is known about a tool without calling it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolInfo {
    /// The name agents call it by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// What its arguments must look like.
    pub schema: Schema,
    /// What kind of thing it touches; gates chat and direct calls.
    pub permission: Permission,
    /// What doing it twice would mean.
    pub effect: EffectClass,
    /// Whether it may run beside other calls of the same reply.
    pub parallel_safe: bool,
    /// A lock it holds while it runs, exclusive by name.
    pub lock: Option<String>,
    /// How long a call may take.
    pub timeout_ms: u64,
    /// What happens to a call under way when the run is stopped.
    pub cancel: CancelClass,
    /// Whether what it uses is paid for out of the run's budget.
    #[serde(default)]
    pub charged: bool,
    /// Whether whoever does it remembers it: what became of a call whose owner
    /// died can be asked, and nothing is begun by asking.
    #[serde(default)]
    pub remembered: bool,
}

impl ToolInfo {
    /// A tool that reads, takes `{input}` and may run beside others.
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
        }
    }
}

impl ToolInfo {
    /// Bytes it takes to tell a model about it, roughly.
    pub(crate) fn bytes(&self) -> u64 {
        (self.name.len() + self.description.len() + self.schema.bytes()) as u64
    }
}

/// The arguments of a tool that says nothing about them.
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
}

/// What doing a call twice would mean; decides what happens to one whose owner died.
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

/// What a stop does to a call under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelClass {
    /// It is dropped at once.
    Drop,
    /// It is told, and may end by itself within the grace period: because half
    /// of it is worse, or because somebody else has to stop it.
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
