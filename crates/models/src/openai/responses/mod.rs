//! OpenAI's Responses API, streamed and with nothing stored at the provider:
//! the model's reasoning comes encrypted and is sent back with the items it
//! led to. `encode` writes the request, `decode` reads the answer.

mod decode;
mod encode;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;

use crate::Ask;
use crate::answer::Decoder;
use crate::wire::{Endpoint, Wire};
use consort_core::json;

/// The Responses API.
pub(super) struct Responses;

impl Responses {
    /// Returns the origin of this model's replies: no other model can read its reasoning.
    pub(super) fn origin(model: &str) -> String {
        format!("openai-responses/{model}")
    }
}

impl Wire for Responses {
    fn body(&self, ask: &Ask, endpoint: &Endpoint) -> serde_json::Result<Vec<u8>> {
        json::text(&encode::Body::new(ask, endpoint))
    }

    fn decoder(&self, _ask: &Ask) -> Box<dyn Decoder> {
        Box::new(decode::Response::default())
    }
}
