//! The `gemini` model: `streamGenerateContent`. `encode` writes the request,
//! `schema` simplifies the schemas of its tools, `decode` reads the answer.

mod decode;
mod encode;
#[cfg(test)]
mod fake;
mod schema;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use consort_core::json;
use consort_core::message::Failure;
use futures::stream::BoxStream;
use reqwest::header::HeaderName;
use reqwest::{Client, Url};

use super::answer::Decoder;
use super::options::{Options, OptionsError};
use super::structured::Refused;
use super::wire::{Endpoint, Wire};
use super::{Ask, Model, Piece};

pub(crate) const KEY: &str = "x-goog-api-key";

/// A model behind the Gemini API.
#[derive(Clone, Debug)]
pub struct Gemini(Arc<Endpoint>);

impl Gemini {
    /// Returns a model reached through `client`.
    pub fn new(options: Options, client: Client) -> Result<Gemini, OptionsError> {
        let url = url(&options)?;
        let headers = options.headers(HeaderName::from_static(KEY), "")?;
        let origin = format!("gemini/{}", options.model);
        let wire = Box::new(Content);
        let refused = Refused::default();
        Ok(Gemini(Arc::new(Endpoint { client, url, headers, options, origin, wire, refused })))
    }
}

impl Model for Gemini {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        self.0.stream(ask)
    }

    fn address(&self) -> Option<String> {
        Some(self.0.address())
    }
}

/// Returns the model's address; the name may contain the collection it is in.
fn url(options: &Options) -> Result<Url, OptionsError> {
    let mut url = options.url("/v1beta")?;
    let method = format!("{}:streamGenerateContent", options.model);
    let collection = if method.contains('/') { None } else { Some("models") };
    url.path_segments_mut().map_err(|()| OptionsError::BaseUrl)?.extend(collection).extend(method.split('/'));
    url.set_query(Some("alt=sse"));
    Ok(url)
}

/// `streamGenerateContent`.
struct Content;

impl Wire for Content {
    fn body(&self, ask: &Ask, endpoint: &Endpoint) -> serde_json::Result<Vec<u8>> {
        json::text(&encode::Body::new(ask, endpoint))
    }

    fn decoder(&self, _ask: &Ask) -> Box<dyn Decoder> {
        Box::new(decode::Content::default())
    }
}
