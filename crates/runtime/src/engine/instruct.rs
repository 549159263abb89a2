//! Instructions to runs while they work: words for their agents, or the tier of models that they ask; to one run, or to
//! all active runs of an owner.

use std::sync::Arc;

use consort_core::compile::Catalog;
use consort_core::decide::Command;
use consort_core::event::Directive;
use consort_core::mistake::Mistake;
use consort_core::owner::Owner;
use consort_core::spec::Kind;
use consort_core::tier::Tier;
use consort_log::Query;

use super::{Engine, Error};

/// Runs that one instruction reaches; more are never active at once.
const ACTIVE_MAX: usize = 10_000;

/// An instruction to runs.
pub enum Instruction<'a> {
    /// A message to the agents.
    Direct(Directive),
    /// A switch to another tier of models, for all later model calls.
    UseTier {
        /// The tier.
        tier: Tier,
        /// The models to choose from.
        catalog: &'a Catalog,
        /// The name of the caller that switches.
        by: String,
    },
}

/// An instruction that at least one run has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instructed {
    /// Its id in the first of these runs.
    pub id: String,
    /// The owner of that run.
    pub owner: Owner,
}

/// The reason why no run took an instruction.
#[derive(Debug, thiserror::Error)]
pub enum InstructError {
    /// It names no run, and none is active.
    #[error("no run is under way")]
    NoneActive,
    /// The run has no models of this tier.
    #[error("the model '{0}' has no fallback")]
    NoFallback(String),
    /// The models of this tier are not in the catalog.
    #[error("{0}")]
    Model(Mistake),
    /// The run did not take the message.
    #[error("{error}")]
    Refused {
        /// The run.
        run: Arc<str>,
        /// The error.
        error: Error,
    },
    /// The run could not be read or switched.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl Engine {
    /// Gives an instruction to a run, or to every active run of this handle's owner, no matter which others it sees.
    /// Succeeds when one of them takes it.
    pub async fn instruct(
        &self,
        run: Option<&str>,
        instruction: &Instruction<'_>,
    ) -> Result<Instructed, InstructError> {
        let reached = match run {
            Some(run) => vec![run.into()],
            None => self.active_of_owner().await?,
        };
        let mut outcome = Err(InstructError::NoneActive);
        for run in &reached {
            let given = match instruction {
                Instruction::Direct(directive) => self.give(run, directive).await,
                Instruction::UseTier { tier, catalog, by } => self.use_tier(run, *tier, catalog, by).await,
            };
            outcome = outcome.or(given);
        }
        outcome
    }

    async fn active_of_owner(&self) -> Result<Vec<Arc<str>>, Error> {
        let kind = Some(Kind::Run.word().to_owned());
        let owner = Some(self.1.sight.owner());
        let query = Query { kind, owner, ended: Some(false), limit: ACTIVE_MAX, ..Query::default() };
        Ok(self.list(query).await?.rows.into_iter().map(|(run, _)| run).collect())
    }

    async fn give(&self, run: &Arc<str>, directive: &Directive) -> Result<Instructed, InstructError> {
        let command = Command::Direct { directive: directive.clone() };
        let refused = |error| InstructError::Refused { run: run.clone(), error };
        self.command(run, command).await.map_err(refused)?;
        let state = self.run(run).await?;
        let id = state.directive_id(run, directive).unwrap_or_default();
        Ok(Instructed { id, owner: state.owner().clone() })
    }

    async fn use_tier(&self, run: &str, tier: Tier, catalog: &Catalog, by: &str) -> Result<Instructed, InstructError> {
        let state = self.run(run).await?;
        let none = || InstructError::NoFallback(state.model().to_string());
        let models = catalog.model(state.tier(tier).ok_or_else(none)?).map_err(InstructError::Model)?;
        self.command(run, Command::SwitchModel { models, by: by.to_owned() }).await?;
        let id = format!("directive-{}", uuid::Uuid::now_v7().simple());
        Ok(Instructed { id, owner: state.owner().clone() })
    }
}
