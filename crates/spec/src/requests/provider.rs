//! The differences between providers that a request is checked against and a trace names, by the provider's word.
//! A word that is not listed is a server that is compatible with OpenAI.

use crate::requests::catalog::ModelInfo;
use crate::requests::model_options::ReasoningEffort::{self, High, Low, Max, Medium, Minimal, None as Off, Xhigh};

/// A provider, as far as it differs from others.
pub struct Provider {
    /// The highest temperature it accepts.
    pub(crate) temperature_max: f64,
    /// The efforts it has a word for.
    pub(crate) efforts: &'static [ReasoningEffort],
    /// Whether its models see pictures unless the configuration says otherwise.
    pub(crate) vision: bool,
    /// Its name in traces, where the conventions have another one.
    pub traced_as: Option<&'static str>,
}

const OPENAI: Provider = Provider {
    temperature_max: 2.0,
    efforts: &[Off, Minimal, Low, Medium, High, Xhigh, Max],
    vision: false,
    traced_as: None,
};

impl Provider {
    /// Returns the provider of this word.
    pub fn of(word: &str) -> Provider {
        match word {
            "anthropic" => {
                Provider { temperature_max: 1.0, efforts: &[Low, Medium, High, Xhigh, Max], vision: true, ..OPENAI }
            }
            "gemini" => Provider {
                efforts: &[Minimal, Low, Medium, High],
                vision: true,
                traced_as: Some("gcp.gemini"),
                ..OPENAI
            },
            _ => OPENAI,
        }
    }
}

/// Returns the reason why a model does not accept this seed.
pub(crate) fn no_seed(seed: i64, model: &ModelInfo) -> Option<&'static str> {
    match model.provider.as_str() {
        "anthropic" => Some("the provider has no seed"),
        "openai" if model.api == ModelInfo::RESPONSES => Some("`api = \"responses\"` has no seed"),
        "gemini" if i32::try_from(seed).is_err() => Some("must be a whole number of 32 bits"),
        _ => None,
    }
}
