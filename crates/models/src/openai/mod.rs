//! The `openai` model: chat completions, which any compatible server speaks,
//! or OpenAI's own responses. Of chat completions, `encode` writes the
//! request, `decode` reads the answer, `calls` assembles tool calls, and
//! `text_calls` finds those that a model wrote as text.

mod calls;
mod decode;
mod delta;
mod encode;
#[cfg(test)]
mod fake;
mod repeat;
mod responses;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;
mod text_calls;

use std::sync::{Arc, Mutex, PoisonError};

use consort_core::catalog::ModelInfo;
use consort_core::json;
use consort_core::message::Failure;
use futures::stream::BoxStream;
use reqwest::Client;
use reqwest::header::AUTHORIZATION;

use self::encode::Dialect;
use self::responses::Responses;
use super::answer::Decoder;
use super::options::{Options, OptionsError};
use super::structured::Refused;
use super::wire::{Endpoint, Wire};
use super::{Ask, Model, Piece};

/// The origin of replies in chat completions.
const CHAT: &str = "openai";

/// One of OpenAI's two APIs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Api {
    /// Chat completions: every compatible server has it.
    #[default]
    Chat,
    /// Responses: the model's reasoning is sent back to it, encrypted.
    Responses,
}

impl Api {
    /// Both, by the words that files use.
    pub const WORDS: &[(&str, Api)] = &[("chat", Api::Chat), ("responses", Api::Responses)];

    /// Returns the word for it in a [`ModelInfo`]; empty for the default.
    pub const fn stored(self) -> &'static str {
        match self {
            Api::Chat => "",
            Api::Responses => ModelInfo::RESPONSES,
        }
    }
}

/// A model behind one of OpenAI's APIs.
#[derive(Clone, Debug)]
pub struct OpenAi(Arc<Endpoint>);

impl OpenAi {
    /// Returns a model reached through `client`.
    pub fn new(options: Options, api: Api, client: Client) -> Result<OpenAi, OptionsError> {
        let headers = options.headers(AUTHORIZATION, "Bearer ")?;
        let refused = Refused::default();
        let endpoint = match api {
            Api::Chat => {
                let url = options.url("/chat/completions")?;
                let wire = Box::new(Chat { dialect: Mutex::new(Dialect::spoken_at(url.host_str())) });
                Endpoint { client, url, headers, options, origin: CHAT.to_owned(), wire, refused }
            }
            Api::Responses => {
                let url = options.url("/responses")?;
                let origin = Responses::origin(&options.model);
                let wire = Box::new(Responses);
                Endpoint { client, url, headers, options, origin, wire, refused }
            }
        };
        Ok(OpenAi(Arc::new(endpoint)))
    }
}

impl Model for OpenAi {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        self.0.stream(ask)
    }

    fn address(&self) -> Option<String> {
        Some(self.0.address())
    }
}

/// Chat completions.
struct Chat {
    /// The features that the server has been found to support.
    dialect: Mutex<Dialect>,
}

impl Wire for Chat {
    fn body(&self, ask: &Ask, endpoint: &Endpoint) -> serde_json::Result<Vec<u8>> {
        let dialect = *self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        json::text(&encode::Body::new(ask, &endpoint.options, dialect))
    }

    fn decoder(&self, ask: &Ask) -> Box<dyn Decoder> {
        Box::new(decode::Chat::new(ask.belt.clone()))
    }

    fn learn(&self, refusal: &str) {
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        *dialect = dialect.after(refusal);
    }
}
