//! `[models.*]`: the catalog. A table's name is the alias people use.

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{ModelInfo, Price};
use consort_core::model_options::{ModelOptions, REASONING_EFFORTS};
use consort_http::headers::Headers;
use consort_models::{BodyShape, Extra};

use super::fields::Fields;
use super::headers;
use super::secret::{Address, Secret};
use super::values::{Rate, address, at_least, duration, flag, json, number, rate, secret, text, usd, whole, word};

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
    /// Sent along with every request.
    pub(crate) headers: Headers,
    /// Added to the body of every request.
    pub(crate) extra: Extra,
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
    let api = api(provider, fields);
    let info = ModelInfo { model: model.clone(), ..info(alias, (provider, api), fields) };
    for (option, message) in info.options.refusals(&info) {
        fields.mistake(option.key(), message);
    }
    Model {
        provider,
        base_url: fields.read("base_url", address(WEB)).unwrap_or_else(|| provider.base_url()),
        api,
        headers: request_headers(provider, fields),
        extra: extra(provider, api, fields),
        api_key: fields.read("api_key", secret),
        timeout: fields.read("timeout", duration).unwrap_or(Duration::from_secs(120)),
        max_concurrency: fields.read("max_concurrency", at_least(1)).unwrap_or(64),
        rate: fields.read("rate", rate),
        info: Arc::new(info),
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

/// Headers that the wires set themselves; the key's only where there is one.
fn request_headers(provider: Provider, fields: &mut Fields<'_>) -> Headers {
    let key = match provider {
        Provider::OpenAi => "authorization",
        Provider::Anthropic => "x-api-key",
        Provider::Gemini => "x-goog-api-key",
        Provider::Demo => "",
    };
    if provider == Provider::Demo && fields.has("headers") {
        fields.mistake("headers", "the demo is asked nothing over the network");
    }
    let own = ["content-type", "traceparent", "anthropic-version", key];
    let own = if fields.has("api_key") { &own[..] } else { &own[..3] };
    headers::read(fields, own)
}

fn extra(provider: Provider, api: Api, fields: &mut Fields<'_>) -> Extra {
    let shape = match (provider, api) {
        (Provider::OpenAi, Api::Chat) => Some(BodyShape::Chat),
        (Provider::OpenAi, Api::Responses) => Some(BodyShape::Responses),
        (Provider::Anthropic, _) => Some(BodyShape::Messages),
        (Provider::Gemini, _) => Some(BodyShape::Content),
        (Provider::Demo, _) => None,
    };
    let mut extra = Extra::default();
    fields.named("extra", |name, value| match shape {
        Some(shape) => extra.set(shape, name, json(value)?),
        None => Err("the demo is asked nothing over the network".to_owned()),
    });
    extra
}

/// Reads how a model is to answer.
pub(super) fn model_options(fields: &mut Fields<'_>) -> ModelOptions {
    ModelOptions {
        temperature: fields.read("temperature", number(0.0..=2.0)),
        top_p: fields.read("top_p", number(0.0..=1.0)),
        seed: fields.read("seed", whole(i64::MIN..=i64::MAX)),
        reasoning_effort: fields.read("reasoning_effort", word(REASONING_EFFORTS)),
    }
}

fn info(alias: &str, (provider, api): (Provider, Api), fields: &mut Fields<'_>) -> ModelInfo {
    let default = ModelInfo::new(alias, provider.word());
    ModelInfo {
        api: if api == Api::Responses { ModelInfo::RESPONSES.to_owned() } else { String::new() },
        options: model_options(fields),
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
