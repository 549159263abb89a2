//! The configured models by alias, in the order they were given.

use std::sync::Arc;

use consort_core::catalog::ModelInfo;
use consort_core::message::Failure;
use futures::stream::BoxStream;

use super::{Ask, Model, Piece};

/// Models by alias. Clones share them.
#[derive(Clone, Default)]
pub struct ModelCatalog(Arc<Vec<Entry>>);

type Entry = (Arc<ModelInfo>, Arc<dyn Model>);

/// The reason why a model cannot be in a catalog.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The alias is blank.
    #[error("a model has a blank alias")]
    Blank,
    /// Another model already has the alias.
    #[error("there are two models called `{0}`")]
    Taken(String),
}

impl ModelCatalog {
    /// Returns the catalog with one more model.
    pub fn with(mut self, info: ModelInfo, model: impl Model) -> Result<ModelCatalog, Unfit> {
        if info.alias.trim().is_empty() {
            return Err(Unfit::Blank);
        }
        if self.find(&info.alias).is_some() {
            return Err(Unfit::Taken(info.alias));
        }
        Arc::make_mut(&mut self.0).push((Arc::new(info), Arc::new(model)));
        Ok(self)
    }

    /// Returns the model of this alias.
    pub fn find(&self, alias: &str) -> Option<&Arc<dyn Model>> {
        self.0.iter().find(|(info, _)| info.alias == alias).map(|(_, model)| model)
    }

    /// Returns the description of each model, in order.
    pub fn infos(&self) -> impl Iterator<Item = &Arc<ModelInfo>> {
        self.0.iter().map(|(info, _)| info)
    }

    /// Returns a model and the models it falls back to, the model first.
    pub fn with_fallbacks(&self, alias: &str) -> Option<Vec<Arc<ModelInfo>>> {
        let info = |alias: &str| self.infos().find(|info| info.alias == alias).cloned();
        let first = info(alias)?;
        let rest: Vec<_> = first.fallback.iter().filter_map(|alias| info(alias)).collect();
        Some(std::iter::once(first).chain(rest).collect())
    }
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        (**self).stream(ask)
    }

    fn address(&self) -> Option<String> {
        (**self).address()
    }
}
