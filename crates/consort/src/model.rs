//! Models: one of the providers, the demo, or a model of your own, with its properties.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{ModelInfo, Price};
use consort_core::model_options::ModelOptions;
#[cfg(feature = "serve")]
use consort_core::reach::host_of;
use consort_models::openai::Api;
use consort_models::{DemoModel, Options, Provider, StructuredOutput};
use consort_runtime::limits::{MAX_CONCURRENCY, ModelLimit, Rate};

use crate::seam;

/// A model and its properties.
///
/// ```
/// use consort::{Model, Price};
///
/// let local = Model::compatible("http://127.0.0.1:11434/v1", "llama3.2").context_tokens(8_192);
/// let rented = Model::compatible("https://models.example.org/v1", "qwen3").api_key("a key");
/// let large = Model::anthropic("claude-sonnet-4-5", "a key")
///     .price(Price { input: 3_000_000_000, output: 15_000_000_000, cached_input: 300_000_000 })
///     .fallback(["local"]);
/// ```
#[derive(Clone)]
pub struct Model {
    info: ModelInfo,
    max_concurrency: Option<NonZeroU32>,
    rate: Option<Rate>,
    source: Source,
    /// The way in which a provider is told the schema of an answer, unless `info` says it.
    structured_output: Option<StructuredOutput>,
    /// The name of a setting that applies only to a provider's model, set on another.
    misplaced: Option<&'static str>,
}

#[derive(Clone)]
enum Source {
    /// A model in this program.
    Ready(Arc<dyn seam::Model>),
    /// A model of a provider, with the options for reaching it.
    Served(Provider, Api, Box<Options>),
}

impl<M: seam::Model> From<M> for Model {
    fn from(model: M) -> Model {
        Model::of("custom", Source::Ready(Arc::new(model)))
    }
}

impl Model {
    /// Returns the built-in demo: offline, by fixed rules, with a notice in its answers.
    pub fn demo() -> Model {
        Model::of(Provider::Demo.word(), Source::Ready(Arc::new(DemoModel::default().paced(Duration::ZERO))))
    }

    /// Returns a model of OpenAI, by its name there.
    pub fn openai(name: &str, api_key: &str) -> Model {
        Model::served(Provider::OpenAi, Api::Responses, options(Provider::OpenAi, name, api_key))
    }

    /// Returns a model on a server that speaks OpenAI's chat completions; set a key with
    /// [`Model::api_key`] if it needs one.
    pub fn compatible(base_url: &str, name: &str) -> Model {
        Model::served(Provider::OpenAi, Api::Chat, Options::new(base_url, name))
    }

    /// Returns a model of Anthropic, by its name there.
    pub fn anthropic(name: &str, api_key: &str) -> Model {
        Model::served(Provider::Anthropic, Api::default(), options(Provider::Anthropic, name, api_key))
    }

    /// Returns a model of Google, by its name there.
    pub fn gemini(name: &str, api_key: &str) -> Model {
        Model::served(Provider::Gemini, Api::default(), options(Provider::Gemini, name, api_key))
    }

    /// Returns a model of any provider, with all options for reaching it. Only OpenAI has a choice of APIs.
    pub fn served(provider: Provider, api: Api, options: Options) -> Model {
        let model = Model::of(provider.word(), Source::Served(provider, api, Box::new(options)));
        model.structured_output(StructuredOutput::Auto)
    }

    /// Sets the whole description at once; its alias is replaced by the one that the model is added under.
    #[must_use]
    pub fn info(mut self, info: ModelInfo) -> Model {
        self.info = info;
        self.structured_output = None;
        self
    }

    /// Sends this key with every request.
    #[must_use]
    pub fn api_key(self, key: &str) -> Model {
        self.reached("api_key", |options| options.api_key = Some(key.to_owned()))
    }

    /// Uses a server of your own instead of the provider's; the address is the one the
    /// provider's clients take.
    #[must_use]
    pub fn base_url(self, url: &str) -> Model {
        self.reached("base_url", |options| options.base_url = url.to_owned())
    }

    /// Sets the time that the server may be silent; two minutes by default.
    #[must_use]
    pub fn timeout(self, limit: Duration) -> Model {
        self.reached("timeout", |options| options.timeout = limit)
    }

    /// Sets how the schema of an answer is told; by default its provider is told it at its own address.
    #[must_use]
    pub fn structured_output(mut self, how: StructuredOutput) -> Model {
        self.structured_output = Some(how);
        self
    }

    /// Sets its price; runs with a cost limit need it.
    #[must_use]
    pub fn price(mut self, price: Price) -> Model {
        self.info.price = Some(price);
        self
    }

    /// Sets the size of its context window in tokens, its answer included.
    #[must_use]
    pub fn context_tokens(mut self, tokens: u64) -> Model {
        self.info.context_tokens = tokens;
        self
    }

    /// Limits the tokens of one answer.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u64) -> Model {
        self.info.max_output_tokens = tokens;
        self
    }

    /// Sets the number of times that a failed call is repeated; 3 by default.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Model {
        self.info.retries = retries;
        self
    }

    /// Sets the models that are tried when this one fails, in this order.
    #[must_use]
    pub fn fallback<'a>(mut self, aliases: impl IntoIterator<Item = &'a str>) -> Model {
        self.info.fallback = aliases.into_iter().map(str::to_owned).collect();
        self
    }

    /// Sets the model options for runs and tasks that set none.
    #[must_use]
    pub fn options(mut self, options: ModelOptions) -> Model {
        self.info.options = options;
        self
    }

    /// Limits the number of calls under way at the same time; 64 for a model of a provider by default.
    #[must_use]
    pub fn max_concurrency(mut self, max: NonZeroU32) -> Model {
        self.max_concurrency = Some(max);
        self
    }

    /// Limits the rate of calls.
    #[must_use]
    pub fn rate(mut self, rate: Rate) -> Model {
        self.rate = Some(rate);
        self
    }

    fn of(provider: &str, source: Source) -> Model {
        let info = ModelInfo::new("", provider);
        Model { info, max_concurrency: None, rate: None, source, structured_output: None, misplaced: None }
    }

    /// Returns the host that serves it, if one does.
    #[cfg(feature = "serve")]
    pub(crate) fn host(&self) -> Option<String> {
        match &self.source {
            Source::Served(_, _, options) => host_of(&options.base_url),
            Source::Ready(_) => None,
        }
    }

    fn reached(mut self, what: &'static str, change: impl FnOnce(&mut Options)) -> Model {
        match &mut self.source {
            Source::Ready(_) => self.misplaced = Some(what),
            Source::Served(_, _, options) => change(options),
        }
        self
    }

    pub(crate) fn fallbacks(&self) -> &[String] {
        &self.info.fallback
    }

    /// Returns the limit that all callers share, if there is one.
    pub(crate) fn limit(&self) -> Option<ModelLimit> {
        let usual = match &self.source {
            Source::Ready(_) => None,
            Source::Served(..) => Some(MAX_CONCURRENCY),
        };
        let max_concurrency = self.max_concurrency.or(usual);
        let limited = max_concurrency.is_some() || self.rate.is_some();
        let max_concurrency = max_concurrency.unwrap_or(NonZeroU32::MAX);
        limited.then_some(ModelLimit { max_concurrency, rate: self.rate })
    }

    /// Returns the model under its alias, ready for calls, or the reason why it cannot be used.
    pub(crate) fn ready(self, alias: &str) -> Result<(ModelInfo, Arc<dyn seam::Model>), String> {
        if let Some(what) = self.misplaced {
            return Err(format!("has no {what}: it is not reached over the network"));
        }
        let info = ModelInfo { alias: alias.to_owned(), ..self.info };
        let info = match &self.source {
            Source::Ready(_) => info,
            Source::Served(provider, api, options) => {
                let told = self.structured_output.map(|how| how.is_native(*provider, &options.base_url));
                let native_schemas = told.unwrap_or(info.native_schemas);
                ModelInfo { model: options.model.clone(), api: api.stored().to_owned(), native_schemas, ..info }
            }
        };
        if let Some((option, reason)) = info.options.refusals(&info).into_iter().next() {
            return Err(format!("{}: {reason}", option.key()));
        }
        let model = match self.source {
            Source::Ready(model) => model,
            Source::Served(provider, api, options) => {
                let client = consort_http::client().map_err(|error| error.to_string())?;
                let options = Options { parallel_tool_calls: info.parallel_tool_calls, ..*options };
                provider.connect(api, options, client).map_err(|error| error.to_string())?
            }
        };
        Ok((info, model))
    }
}

fn options(provider: Provider, name: &str, api_key: &str) -> Options {
    Options { api_key: Some(api_key.to_owned()), ..Options::new(provider.base_url(), name) }
}
