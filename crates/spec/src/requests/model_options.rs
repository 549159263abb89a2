//! The options for a model's answer: `temperature` and similar. A model, a run and a task may each set some
//! of them; the setting nearest to the call counts, and an option that is not set is left to the provider.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::requests::catalog::ModelInfo;
use crate::requests::provider::{Provider, no_seed};

/// The options for a model's answer; absent: the provider's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelOptions {
    /// The sampling temperature, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The cumulative probability of the tokens to sample from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The seed of the random sampling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// The amount of reasoning before the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
}

/// The amount of reasoning before the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ReasoningEffort {
    /// No reasoning.
    None,
    /// Hardly any.
    Minimal,
    /// A little.
    Low,
    /// The usual amount.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as possible.
    Max,
}

/// The names of the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelOption {
    /// `temperature`
    Temperature,
    /// `top_p`
    TopP,
    /// `seed`
    Seed,
    /// `reasoning_effort`
    ReasoningEffort,
}

impl ReasoningEffort {
    /// Returns the word for the effort.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

impl ModelOption {
    /// Returns the name of the option in requests.
    pub fn field(self) -> &'static str {
        match self {
            ModelOption::Temperature => "temperature",
            ModelOption::TopP => "topP",
            ModelOption::Seed => "seed",
            ModelOption::ReasoningEffort => "reasoningEffort",
        }
    }

    /// Returns the name of the option in the configuration file.
    pub fn key(self) -> &'static str {
        match self {
            ModelOption::Temperature => "temperature",
            ModelOption::TopP => "top_p",
            ModelOption::Seed => "seed",
            ModelOption::ReasoningEffort => "reasoning_effort",
        }
    }
}

impl ModelOptions {
    /// Returns true when no option is set.
    pub fn is_empty(&self) -> bool {
        *self == ModelOptions::default()
    }

    /// Returns these options, completed from `below` where they are not set.
    #[must_use]
    pub fn over(self, below: ModelOptions) -> ModelOptions {
        ModelOptions {
            temperature: self.temperature.or(below.temperature),
            top_p: self.top_p.or(below.top_p),
            seed: self.seed.or(below.seed),
            reasoning_effort: self.reasoning_effort.or(below.reasoning_effort),
        }
    }

    /// Returns the options that `model` accepts. A fallback of another provider is asked without the others:
    /// that is better than not asking it.
    #[must_use]
    pub fn fit_for(self, model: &ModelInfo) -> ModelOptions {
        let refused: Vec<ModelOption> = self.refusals(model).into_iter().map(|(option, _)| option).collect();
        let keeps = |option: ModelOption| !refused.contains(&option);
        ModelOptions {
            temperature: self.temperature.filter(|_| keeps(ModelOption::Temperature)),
            top_p: self.top_p.filter(|_| keeps(ModelOption::TopP)),
            seed: self.seed.filter(|_| keeps(ModelOption::Seed)),
            reasoning_effort: self.reasoning_effort.filter(|_| keeps(ModelOption::ReasoningEffort)),
        }
    }

    /// Returns the options that `model` does not accept, each with what it does accept.
    pub fn refusals(&self, model: &ModelInfo) -> Vec<(ModelOption, String)> {
        let whose = format!("'{}' is served by {}", model.alias, model.provider);
        let mut refusals = Vec::new();
        let Provider { temperature_max: max, efforts, .. } = Provider::of(&model.provider);
        if self.temperature.is_some_and(|temperature| !(0.0..=max).contains(&temperature)) {
            refusals.push((ModelOption::Temperature, format!("must be a number from 0 to {max}: {whose}")));
        }
        if self.top_p.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            refusals.push((ModelOption::TopP, "must be a number from 0 to 1".to_owned()));
        }
        if let Some(reason) = self.seed.and_then(|seed| no_seed(seed, model)) {
            refusals.push((ModelOption::Seed, format!("{reason}: {whose}")));
        }
        if self.reasoning_effort.is_some_and(|effort| !efforts.contains(&effort)) {
            let words: Vec<&str> = efforts.iter().map(|effort| effort.word()).collect();
            let message = format!("must be one of {}: {whose}", words.join(", "));
            refusals.push((ModelOption::ReasoningEffort, message));
        }
        refusals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> ModelOptions {
        ModelOptions {
            temperature: Some(1.5),
            top_p: Some(0.9),
            seed: Some(i64::MAX),
            reasoning_effort: Some(ReasoningEffort::Max),
        }
    }

    #[test]
    fn what_is_nearest_to_the_call_counts() {
        let task = ModelOptions { temperature: Some(0.0), ..ModelOptions::default() };
        let run = ModelOptions { temperature: Some(0.3), seed: Some(7), ..ModelOptions::default() };
        let both = task.over(run).over(options());
        assert_eq!((both.temperature, both.seed, both.top_p), (Some(0.0), Some(7), Some(0.9)));
    }

    #[test]
    fn each_provider_refuses_what_it_has_no_word_for() {
        use ModelOption::{ReasoningEffort, Seed, Temperature};
        let responses = ModelInfo { api: ModelInfo::RESPONSES.to_owned(), ..ModelInfo::new("m", "openai") };
        for (model, refused) in [
            (ModelInfo::new("m", "anthropic"), vec![Temperature, Seed]),
            (ModelInfo::new("m", "gemini"), vec![Seed, ReasoningEffort]),
            (ModelInfo::new("m", "openai"), vec![]),
            (responses, vec![Seed]),
            (ModelInfo::new("m", "demo"), vec![]),
        ] {
            let found: Vec<ModelOption> = options().refusals(&model).into_iter().map(|(option, _)| option).collect();
            assert_eq!(found, refused, "{}", model.provider);
            assert!(options().fit_for(&model).refusals(&model).is_empty());
        }
        let none = ModelOptions { temperature: Some(f64::NAN), top_p: Some(1.1), ..ModelOptions::default() };
        assert_eq!(none.refusals(&ModelInfo::new("m", "openai")).len(), 2);
    }
}
