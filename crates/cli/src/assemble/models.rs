//! The models of a configuration.

use std::time::Duration;

use consort::Model;
use consort_config::{self as config, Config};
use consort_core::catalog::ModelInfo;
use consort_models::{DemoModel, Embedder, Provider};

use super::Error;

/// Returns a model as the library takes it; `pace` is the delay between tokens of the demo.
pub(crate) fn model(model: &config::Model, pace: Duration) -> Model {
    let made = if model.provider == Provider::Demo {
        Model::from(DemoModel::default().paced(pace))
    } else {
        Model::served(model.provider, model.api, model.options.clone())
    };
    let made = made.info(ModelInfo::clone(&model.info)).max_concurrency(model.max_concurrency);
    model.rate.into_iter().fold(made, Model::rate)
}

/// Returns the model for vector search in documents, which is used besides word search.
pub(super) fn embedder(config: &Config) -> Result<Option<Embedder>, Error> {
    let Some(options) = &config.chat.embeddings else { return Ok(None) };
    let client = consort_http::client().map_err(|error| Error::Client(error.to_string()))?;
    Embedder::new(options, client).map(Some).map_err(Error::Embeddings)
}
