//! Control directives: they switch a run to a tier of models, not to a certain model.

pub use consort_spec::tier::Tier;

use crate::state::run::Run;

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
