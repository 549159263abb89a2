//! Texts as vectors, from any server that implements OpenAI's `/embeddings`. A server that fails gets no
//! requests for a while, so that callers that can do without vectors do not wait for them again and again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use consort_core::message::{Failure, FailureKind};
use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Client, Method, Request, Url};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::http::{Body, Patience, failure};
use super::options::{Options, OptionsError};

/// Texts sent at once; the smallest limit a provider is known to have.
pub const BATCH_MAX: usize = 64;
/// The time during which a server that failed gets no requests.
const REST: Duration = Duration::from_secs(15);
/// The maximum size of an answer in bytes: a batch of the longest known vectors.
const ANSWER_MAX: usize = 32 * 1024 * 1024;
/// The maximum number of dimensions of one vector.
const NUMBERS_MAX: usize = 8192;
/// The number of bytes of an error message that are passed on.
const COMPLAINT_MAX: usize = 300;

/// A vector of length 1.
pub type Vector = Vec<f32>;

/// A model that turns texts into vectors. Clones share their state.
#[derive(Clone)]
pub struct Embedder(Arc<Inner>);

struct Inner {
    client: Client,
    url: Url,
    headers: HeaderMap,
    model: String,
    /// The time until which the server gets no requests, and the failure that caused it.
    rests: Mutex<Option<(Instant, Failure)>>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Embedder {
    /// Returns an embedder reached through `client`.
    pub fn new(options: &Options, client: Client) -> Result<Embedder, OptionsError> {
        let url = options.url("/embeddings")?;
        let headers = options.headers(AUTHORIZATION, "Bearer ")?;
        let model = options.model.clone();
        let rests = Mutex::default();
        Ok(Embedder(Arc::new(Inner { client, url, headers, model, rests })))
    }

    /// Returns the provider's name of the model: vectors of different models cannot be compared.
    pub fn model(&self) -> &str {
        &self.0.model
    }

    /// Returns a vector for each text, of which there may be [`BATCH_MAX`].
    pub async fn embed(&self, texts: &[&str], within: Duration) -> Result<Vec<Vector>, Failure> {
        if let Some((until, why)) = &*self.rests()
            && Instant::now() < *until
        {
            return Err(why.clone());
        }
        let asked = self.ask(texts, within).await;
        *self.rests() = asked.as_ref().err().map(|failure| (Instant::now() + REST, failure.clone()));
        asked
    }

    async fn ask(&self, texts: &[&str], within: Duration) -> Result<Vec<Vector>, Failure> {
        let mut request = Request::new(Method::POST, self.0.url.clone());
        *request.headers_mut() = self.0.headers.clone();
        let body = json!({ "model": self.0.model, "input": texts, "encoding_format": "float" });
        *request.body_mut() = Some(body.to_string().into());
        let patience = Patience { idle: within, whole: Some(within) };
        let mut body = Body::open(&self.0.client, request, patience).await?;
        let status = body.head().status();
        if !status.is_success() {
            let said = body.read_some(COMPLAINT_MAX).await;
            let said = String::from_utf8_lossy(said.get(..COMPLAINT_MAX).unwrap_or(&said)).into_owned();
            return Err(failure(FailureKind::Refused, format!("the server answered {status}: {said}")));
        }
        let mut answer = Vec::new();
        while body.read(&mut answer).await? > 0 {
            if answer.len() > ANSWER_MAX {
                return Err(malformed(format!("the answer is longer than {ANSWER_MAX} bytes")));
            }
        }
        let answer: Answer = serde_json::from_slice(&answer).map_err(|error| malformed(error.to_string()))?;
        vectors(answer, texts.len())
    }

    fn rests(&self) -> std::sync::MutexGuard<'_, Option<(Instant, Failure)>> {
        self.0.rests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the vectors in the order of the texts, each normalized to length 1.
fn vectors(answer: Answer, wanted: usize) -> Result<Vec<Vector>, Failure> {
    let mut items: Vec<(usize, Vector)> = Vec::with_capacity(wanted);
    for (place, item) in answer.data.into_iter().enumerate() {
        let length = item.embedding.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
        if item.embedding.len() > NUMBERS_MAX || !length.is_normal() {
            return Err(malformed("a vector in the answer is empty, endless or no direction".to_owned()));
        }
        let unit = item.embedding.iter().map(|number| (f64::from(*number) / length) as f32).collect();
        items.push((item.index.unwrap_or(place), unit));
    }
    items.sort_by_key(|(index, _)| *index);
    let numbers = items.first().map(|(_, vector)| vector.len());
    let in_order = items.iter().enumerate().all(|(place, (index, _))| place == *index);
    let alike = items.iter().all(|(_, vector)| Some(vector.len()) == numbers);
    if items.len() != wanted || !in_order || !alike {
        return Err(malformed(format!("the answer does not have one vector for each of {wanted} texts")));
    }
    Ok(items.into_iter().map(|(_, vector)| vector).collect())
}

fn malformed(message: String) -> Failure {
    failure(FailureKind::Malformed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(answer: serde_json::Value, wanted: usize) -> Result<Vec<Vector>, String> {
        let answer = serde_json::from_value(answer).map_err(|error| error.to_string())?;
        vectors(answer, wanted).map_err(|failure| failure.message)
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts_and_of_one_length() {
        let two = json!({ "data": [{ "index": 1, "embedding": [0, 2] }, { "index": 0, "embedding": [3, 4] }] });
        assert_eq!(read(two, 2).unwrap(), [vec![0.6, 0.8], vec![0.0, 1.0]]);
        let without = json!({ "data": [{ "embedding": [1.0] }, { "embedding": [-2.0] }], "usage": {} });
        assert_eq!(read(without, 2).unwrap(), [vec![1.0], vec![-1.0]]);
    }

    #[test]
    fn answers_that_cannot_be_used_are_refused() {
        let vector = |numbers: serde_json::Value| json!({ "index": 0, "embedding": numbers });
        let cases = [
            json!({ "data": [] }),
            json!({ "data": [vector(json!([]))] }),
            json!({ "data": [vector(json!([0.0, 0.0]))] }),
            json!({ "data": [vector(json!(vec![1; NUMBERS_MAX + 1]))] }),
            json!({ "data": [vector(json!([1])), vector(json!([1]))] }),
            json!({ "data": [vector(json!("words"))] }),
            json!({ "error": "no" }),
        ];
        for answer in cases {
            assert!(read(answer.clone(), 1).is_err(), "{answer}");
        }
        let unlike = json!({ "data": [vector(json!([1])), { "index": 1, "embedding": [1, 2] }] });
        assert!(read(unlike, 2).is_err());
    }
}
