//! The `anthropic` model: the Messages API, streamed. `encode` writes the
//! request, `decode` reads the answer.

mod decode;
mod encode;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use consort_core::json;
use consort_core::message::Failure;
use futures::stream::BoxStream;
use reqwest::Client;
use reqwest::header::{HeaderName, HeaderValue};

use super::answer::Decoder;
use super::options::{Options, OptionsError};
use super::structured::Refused;
use super::wire::{Endpoint, Wire};
use super::{Ask, Model, Piece};

pub(crate) const KEY: &str = "x-api-key";
const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));

/// A model behind the Messages API.
#[derive(Clone, Debug)]
pub struct Anthropic(Arc<Endpoint>);

impl Anthropic {
    /// Returns a model reached through `client`.
    pub fn new(options: Options, client: Client) -> Result<Anthropic, OptionsError> {
        let mut headers = options.headers(HeaderName::from_static(KEY), "")?;
        headers.extend([VERSION]);
        let url = options.url("/v1/messages")?;
        let origin = format!("anthropic/{}", options.model);
        let wire = Box::new(Messages);
        let refused = Refused::default();
        Ok(Anthropic(Arc::new(Endpoint { client, url, headers, options, origin, wire, refused })))
    }
}

impl Model for Anthropic {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        self.0.stream(ask)
    }

    fn address(&self) -> Option<String> {
        Some(self.0.address())
    }
}

/// The Messages API.
struct Messages;

impl Wire for Messages {
    fn body(&self, ask: &Ask, endpoint: &Endpoint) -> serde_json::Result<Vec<u8>> {
        json::text(&encode::Body::new(ask, endpoint))
    }

    fn decoder(&self, _ask: &Ask) -> Box<dyn Decoder> {
        Box::new(decode::Message::default())
    }
}
