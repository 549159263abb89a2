//! Control directives: a run is told which tier of models to ask, not which.

use crate::state::run::Run;

/// Which of its models a run asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The one it was submitted with.
    Primary,
    /// The first that one falls back to.
    Fallback,
}

impl Run {
    /// The alias of a tier's model; none when the run's model falls back to no
    /// other.
    pub fn tier(&self, tier: Tier) -> Option<&str> {
        let primary = &self.spec().model;
        match tier {
            Tier::Primary => Some(primary),
            Tier::Fallback => self.models().get(primary)?.fallback.first().map(String::as_str),
        }
    }

    /// The alias of the model the run was submitted with.
    pub fn model(&self) -> &str {
        &self.spec().model
    }
}
