//! `[models.*]`: the catalog of models. A table's name is the model's alias.

use std::num::NonZeroU32;
use std::sync::Arc;

use consort_core::catalog::{ModelInfo, Price};
use consort_core::choice::Choice;
use consort_core::model_options::{ModelOptions, ReasoningEffort};
use consort_http::headers::Headers;
use consort_models::openai::Api;
use consort_models::{Extra, OWN_HEADERS, Options, Provider, StructuredOutput};
use consort_runtime::limits::{MAX_CONCURRENCY, Rate};

use super::fields::Fields;
use super::headers;
use super::values::{address, at_least, duration, flag, json, number, rate, text, usd, whole, word};

/// A model and the way to reach it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The properties of the model that runs use.
    pub info: Arc<ModelInfo>,
    /// The provider whose protocol it speaks.
    pub provider: Provider,
    /// The variant of the provider's protocol.
    pub api: Api,
    /// The address, and the options for requests.
    pub options: Options,
    /// The maximum number of calls at the same time.
    pub max_concurrency: NonZeroU32,
    /// The rate limit of calls, if there is one.
    pub rate: Option<Rate>,
}

/// The reason why the demo has no options for requests.
const OFFLINE: &str = "the demo model makes no requests over the network";
/// URL schemes of the web.
pub(super) const WEB: &[&str] = &["http", "https"];

/// Reads one `[models.*]`.
pub(super) fn read(alias: &str, fields: &mut Fields<'_>) -> Model {
    if alias.trim().is_empty() {
        fields.mistake_here("a model needs a name");
    }
    let provider = fields.need("provider", word(Provider::WORDS)).unwrap_or_default();
    let model = fields.need("model", text).unwrap_or_default();
    let api = api(provider, fields);
    let info = ModelInfo { model: model.clone(), ..info(alias, (provider, api), fields) };
    for (option, message) in info.options.refusals(&info) {
        fields.mistake(option.key(), message);
    }
    let base_url = fields.read("base_url", address(WEB)).unwrap_or_else(|| provider.base_url().to_owned());
    let info = ModelInfo { native_schemas: native_schemas(provider, &base_url, fields), ..info };
    let usual = Options::new(&base_url, &model);
    let options = Options {
        headers: request_headers(provider, fields),
        extra: extra(provider, api, fields),
        api_key: fields.read("api_key", text),
        timeout: fields.read("timeout", duration).unwrap_or(usual.timeout),
        ..usual
    };
    let slots = fields.read("max_concurrency", at_least(1)).and_then(NonZeroU32::new);
    Model {
        provider,
        api,
        options,
        max_concurrency: slots.unwrap_or(MAX_CONCURRENCY),
        rate: fields.read("rate", rate),
        info: Arc::new(info),
    }
}

/// Reads whether the provider is told the schema of an answer.
fn native_schemas(provider: Provider, base_url: &str, fields: &mut Fields<'_>) -> bool {
    let how = fields.read("structured_output", word(StructuredOutput::WORDS)).unwrap_or_default();
    if how == StructuredOutput::Native && provider == Provider::Demo {
        fields.mistake("structured_output", OFFLINE);
    }
    how.is_native(provider, base_url)
}

fn api(provider: Provider, fields: &mut Fields<'_>) -> Api {
    let api = fields.read("api", word(Api::WORDS));
    if api.is_some() && provider != Provider::OpenAi {
        fields.mistake("api", "only `provider = \"openai\"` has a choice of protocols");
    }
    api.unwrap_or_default()
}

/// Reads headers, except those that the client sets itself; the key's header only when
/// there is a key.
fn request_headers(provider: Provider, fields: &mut Fields<'_>) -> Headers {
    if provider.key_header().is_none() && fields.has("headers") {
        fields.mistake("headers", OFFLINE);
    }
    let key = provider.key_header().filter(|_| fields.has("api_key"));
    let own: Vec<&str> = OWN_HEADERS.into_iter().chain(key).collect();
    headers::read(fields, &own)
}

fn extra(provider: Provider, api: Api, fields: &mut Fields<'_>) -> Extra {
    let mut extra = Extra::default();
    fields.named("extra", |name, value| match provider.body(api) {
        Some(shape) => extra.set(shape, name, json(value)?),
        None => Err(OFFLINE.to_owned()),
    });
    extra
}

/// Reads model options.
pub(super) fn model_options(fields: &mut Fields<'_>) -> ModelOptions {
    ModelOptions {
        temperature: fields.read("temperature", number(0.0..=2.0)),
        top_p: fields.read("top_p", number(0.0..=1.0)),
        seed: fields.read("seed", whole(i64::MIN..=i64::MAX)),
        reasoning_effort: fields.read("reasoning_effort", word(ReasoningEffort::WORDS)),
    }
}

fn info(alias: &str, (provider, api): (Provider, Api), fields: &mut Fields<'_>) -> ModelInfo {
    let default = ModelInfo::new(alias, provider.word());
    ModelInfo {
        api: api.stored().to_owned(),
        options: model_options(fields),
        context_tokens: fields.read("context_tokens", at_least(1)).unwrap_or(default.context_tokens),
        max_output_tokens: fields.read("max_output_tokens", at_least(1)).unwrap_or(default.max_output_tokens),
        tools: fields.read("tools", flag).unwrap_or(default.tools),
        vision: fields.read("vision", flag).unwrap_or(default.vision),
        documents: fields.read("documents", flag).unwrap_or(default.documents),
        parallel_tool_calls: fields.read("parallel_tool_calls", flag).unwrap_or(default.parallel_tool_calls),
        retries: fields.read("retries", whole(0..=100)).unwrap_or(default.retries),
        fallback: fields.names("fallback", text),
        price: fields.table("price", price),
        ..default
    }
}

/// Reads dollars per million tokens; cached input costs the same unless it is set.
fn price(fields: &mut Fields<'_>) -> Price {
    let input = fields.need("input", usd).unwrap_or_default();
    Price {
        input,
        output: fields.need("output", usd).unwrap_or_default(),
        cached_input: fields.read("cached_input", usd).unwrap_or(input),
    }
}
