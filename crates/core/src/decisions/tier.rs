//! Control directives: they switch a run to a tier of models, not to a certain model.

use crate::state::run::Run;

/// The tiers of a run's models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The model it was submitted with.
    Primary,
    /// The first fallback of that model.
    Fallback,
}

impl Run {
    /// Returns the alias of a tier's model; none when the run's model has no fallback.
    pub fn tier(&self, tier: Tier) -> Option<&str> {
        let primary = &self.spec().model;
        match tier {
            Tier::Primary => Some(primary),
            Tier::Fallback => self.models().get(primary)?.fallback.first().map(String::as_str),
        }
    }

    /// Returns the alias of the model the run was submitted with.
    pub fn model(&self) -> &str {
        &self.spec().model
    }
}
