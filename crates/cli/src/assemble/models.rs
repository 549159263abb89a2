//! The models of a configuration.

use std::num::NonZeroU32;
use std::time::Duration;

use consort_core::catalog::ModelInfo;
use consort_models::anthropic::Anthropic;
use consort_models::gemini::Gemini;
use consort_models::openai::{self, OpenAi};
use consort_models::{DemoModel, Embedder, ModelCatalog, Options};
use consort_runtime::limits::{self, ModelLimit};

use super::Error;
use crate::config::{Api, Config, Model, Provider, Rate};

/// The models a run uses; `pace` is how fast the demo model speaks.
pub(super) fn models<'a>(used: impl Iterator<Item = &'a Model>, pace: Duration) -> Result<ModelCatalog, Error> {
    let client = consort_http::client().map_err(|error| Error::Client(error.to_string()))?;
    let mut catalog = ModelCatalog::default();
    for model in used {
        let (info, options, client) = (ModelInfo::clone(&model.info), options(model), client.clone());
        let wrong = |reason| Error::Model { alias: model.info.alias.clone(), reason };
        catalog = match model.provider {
            Provider::Demo => catalog.with(info, DemoModel::default().paced(pace))?,
            Provider::OpenAi => catalog.with(info, OpenAi::new(options, api(model.api), client).map_err(wrong)?)?,
            Provider::Anthropic => catalog.with(info, Anthropic::new(options, client).map_err(wrong)?)?,
            Provider::Gemini => catalog.with(info, Gemini::new(options, client).map_err(wrong)?)?,
        };
    }
    Ok(catalog)
}

fn api(api: Api) -> openai::Api {
    match api {
        Api::Chat => openai::Api::Chat,
        Api::Responses => openai::Api::Responses,
    }
}

fn options(model: &Model) -> Options {
    Options {
        api_key: model.api_key.as_ref().map(|key| key.reveal().to_owned()),
        parallel_tool_calls: model.info.parallel_tool_calls,
        timeout: model.timeout,
        headers: model.headers.clone(),
        extra: model.extra.clone(),
        ..Options::new(model.base_url.as_str(), &model.model)
    }
}

/// What everybody who asks the model shares.
pub(super) fn model_limit(model: &Model) -> ModelLimit {
    let slots = u32::try_from(model.max_concurrency).ok().and_then(NonZeroU32::new);
    ModelLimit { max_concurrency: slots.unwrap_or(NonZeroU32::MAX), rate: model.rate.and_then(shared_rate) }
}

pub(super) fn shared_rate(rate: Rate) -> Option<limits::Rate> {
    NonZeroU32::new(rate.count).map(|requests| limits::Rate { requests, per: rate.per })
}

/// The model that documents are searched with beside their words.
pub(super) fn embedder(config: &Config) -> Result<Option<Embedder>, Error> {
    let Some(embeddings) = &config.chat.embeddings else { return Ok(None) };
    let mut options = Options::new(embeddings.base_url.as_str(), &embeddings.model);
    options.api_key = embeddings.api_key.as_ref().map(|key| key.reveal().to_owned());
    let client = consort_http::client().map_err(|error| Error::Client(error.to_string()))?;
    Embedder::new(&options, client).map(Some).map_err(Error::Embeddings)
}
