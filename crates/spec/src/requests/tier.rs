//! The tiers of a run's models, which directives switch between.

/// The tiers of a run's models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The model it was submitted with.
    Primary,
    /// The first fallback of that model.
    Fallback,
}
