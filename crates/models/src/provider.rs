//! The providers: which there are, where each serves its models, and the wire
//! its models are reached by. A new provider is a new variant here; the
//! compiler names most places that have to know it, and a test the list.

use std::sync::Arc;

use reqwest::Client;

use super::anthropic::{self, Anthropic};
use super::gemini::{self, Gemini};
use super::openai::{Api, OpenAi};
use super::{BodyShape, DemoModel, Model, Options, OptionsError};

/// The provider whose protocol a model speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::VariantArray)]
pub enum Provider {
    /// OpenAI, and any server compatible with it.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google.
    Gemini,
    /// No provider: canned answers, offline.
    #[default]
    Demo,
}

impl Provider {
    /// All of them, by the words that files and lists use.
    pub const WORDS: &[(&str, Provider)] = &[
        (Provider::OpenAi.word(), Provider::OpenAi),
        (Provider::Anthropic.word(), Provider::Anthropic),
        (Provider::Gemini.word(), Provider::Gemini),
        (Provider::Demo.word(), Provider::Demo),
    ];

    /// Returns its word.
    pub const fn word(self) -> &'static str {
        match self {
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
            Provider::Gemini => "gemini",
            Provider::Demo => "demo",
        }
    }

    /// Returns the address that its own clients use; empty for the demo, which is in this program.
    pub const fn base_url(self) -> &'static str {
        match self {
            Provider::OpenAi => "https://api.openai.com/v1",
            Provider::Anthropic => "https://api.anthropic.com",
            Provider::Gemini => "https://generativelanguage.googleapis.com",
            Provider::Demo => "",
        }
    }

    /// Returns the header its key is sent in; none when nothing is sent.
    pub const fn key_header(self) -> Option<&'static str> {
        match self {
            Provider::OpenAi => Some("authorization"),
            Provider::Anthropic => Some(anthropic::KEY),
            Provider::Gemini => Some(gemini::KEY),
            Provider::Demo => None,
        }
    }

    /// Returns the body of its requests; none when nothing is sent. Only OpenAI has a choice of APIs.
    pub const fn body(self, api: Api) -> Option<BodyShape> {
        match (self, api) {
            (Provider::OpenAi, Api::Chat) => Some(BodyShape::Chat),
            (Provider::OpenAi, Api::Responses) => Some(BodyShape::Responses),
            (Provider::Anthropic, _) => Some(BodyShape::Messages),
            (Provider::Gemini, _) => Some(BodyShape::Content),
            (Provider::Demo, _) => None,
        }
    }

    /// Returns a model of it, reached through `client`.
    pub fn connect(self, api: Api, options: Options, client: Client) -> Result<Arc<dyn Model>, OptionsError> {
        Ok(match self {
            Provider::OpenAi => Arc::new(OpenAi::new(options, api, client)?),
            Provider::Anthropic => Arc::new(Anthropic::new(options, client)?),
            Provider::Gemini => Arc::new(Gemini::new(options, client)?),
            Provider::Demo => Arc::new(DemoModel::default()),
        })
    }
}

/// The headers that every wire sets itself, whatever the key.
pub const OWN_HEADERS: [&str; 3] = ["content-type", "traceparent", "anthropic-version"];

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    #[test]
    fn every_provider_can_be_named() {
        let named: Vec<Provider> = Provider::WORDS.iter().map(|(_, provider)| *provider).collect();
        assert_eq!(named, Provider::VARIANTS);
    }

    #[test]
    fn every_provider_is_found_by_its_word_and_either_says_all_of_how_it_is_asked_or_nothing() {
        for (word, provider) in Provider::WORDS {
            assert_eq!(*word, provider.word());
            let is_served = *provider != Provider::Demo;
            assert_eq!(provider.base_url().starts_with("https://"), is_served, "{word}");
            assert_eq!(provider.key_header().is_some(), is_served, "{word}");
            for (_, api) in Api::WORDS {
                assert_eq!(provider.body(*api).is_some(), is_served, "{word}");
                let options = Options::new(provider.base_url(), "m");
                assert!(provider.connect(*api, options, consort_http::client().unwrap()).is_ok(), "{word}");
            }
        }
    }
}
