//! `[models.*]`: the catalog. A table's name is the alias people use.

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{ModelInfo, Price};

use super::fields::Fields;
use super::secret::{Address, Secret};
use super::values::{Rate, address, at_least, duration, flag, rate, secret, text, usd, whole, word};

/// A model and how to reach it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    /// What a run knows about it.
    pub(crate) info: Arc<ModelInfo>,
    /// Whose protocol it speaks.
    pub(crate) provider: Provider,
    /// What the provider calls it.
    pub(crate) model: String,
    /// Where it is served; empty for the demo, which is in this program.
    pub(crate) base_url: Address,
    /// Which of the provider's protocols it speaks.
    pub(crate) api: Api,
    /// What it is paid with.
    pub(crate) api_key: Option<Secret>,
    /// How long a call may take.
    pub(crate) timeout: Duration,
    /// Calls at the same time.
    pub(crate) max_concurrency: usize,
    /// How often it may be called, if that is limited.
    pub(crate) rate: Option<Rate>,
}

/// Whose protocol a model speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Provider {
    /// OpenAI, and any server compatible with it.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google.
    Gemini,
    /// Nobody's: canned answers, offline.
    #[default]
    Demo,
}

/// The protocols of an OpenAI-compatible server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Api {
    /// Chat completions, which every such server has.
    #[default]
    Chat,
    /// Responses, which keep a model's reasoning between rounds.
    Responses,
}

const APIS: &[(&str, Api)] = &[("chat", Api::Chat), ("responses", Api::Responses)];
const PROVIDERS: &[(&str, Provider)] = &[
    ("openai", Provider::OpenAi),
    ("anthropic", Provider::Anthropic),
    ("gemini", Provider::Gemini),
    ("demo", Provider::Demo),
];

/// Protocols of addresses on the web.
pub(super) const WEB: &[&str] = &["http", "https"];
/// Where OpenAI serves its models.
pub(super) const OPENAI_URL: &str = "https://api.openai.com/v1";

impl Provider {
    /// The word for it in the file.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
            Provider::Gemini => "gemini",
            Provider::Demo => "demo",
        }
    }

    /// Where the provider itself serves its models.
    fn base_url(self) -> Address {
        match self {
            Provider::OpenAi => Address::new(OPENAI_URL),
            Provider::Anthropic => Address::new("https://api.anthropic.com"),
            Provider::Gemini => Address::new("https://generativelanguage.googleapis.com"),
            Provider::Demo => Address::default(),
        }
    }
}

/// Reads one `[models.*]`.
pub(super) fn read(alias: &str, fields: &mut Fields<'_>) -> Model {
    if alias.trim().is_empty() {
        fields.mistake_here("a model needs a name");
    }
    let provider = fields.need("provider", word(PROVIDERS)).unwrap_or_default();
    let model = fields.need("model", text).unwrap_or_default();
    Model {
        provider,
        base_url: fields.read("base_url", address(WEB)).unwrap_or_else(|| provider.base_url()),
        api: api(provider, fields),
        api_key: fields.read("api_key", secret),
        timeout: fields.read("timeout", duration).unwrap_or(Duration::from_secs(120)),
        max_concurrency: fields.read("max_concurrency", at_least(1)).unwrap_or(64),
        rate: fields.read("rate", rate),
        info: Arc::new(ModelInfo { model: model.clone(), ..info(alias, provider, fields) }),
        model,
    }
}

fn api(provider: Provider, fields: &mut Fields<'_>) -> Api {
    let api = fields.read("api", word(APIS));
    if api.is_some() && provider != Provider::OpenAi {
        fields.mistake("api", "only `provider = \"openai\"` has a choice of protocols");
    }
    api.unwrap_or_default()
}

fn info(alias: &str, provider: Provider, fields: &mut Fields<'_>) -> ModelInfo {
    let default = ModelInfo::new(alias, provider.word());
    ModelInfo {
        context_tokens: fields.read("context_tokens", at_least(1)).unwrap_or(default.context_tokens),
        max_output_tokens: fields.read("max_output_tokens", at_least(1)).unwrap_or(default.max_output_tokens),
        tools: fields.read("tools", flag).unwrap_or(default.tools),
        parallel_tool_calls: fields.read("parallel_tool_calls", flag).unwrap_or(default.parallel_tool_calls),
        retries: fields.read("retries", whole(0..=100)).unwrap_or(default.retries),
        fallback: fields.names("fallback", text),
        price: fields.table("price", price),
        ..default
    }
}

/// Dollars per million tokens; what is cached costs the same unless it is said.
fn price(fields: &mut Fields<'_>) -> Price {
    let input = fields.need("input", usd).unwrap_or_default();
    Price {
        input,
        output: fields.need("output", usd).unwrap_or_default(),
        cached_input: fields.read("cached_input", usd).unwrap_or(input),
    }
}
