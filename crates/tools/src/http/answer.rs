//! Reads successful responses of HTTP tools: of the envelope, or of any API.

use reqwest::{Response, StatusCode};
use serde_json::Value;

use super::{Attempt, Body, body, chain, quote};
use crate::Answer;
use crate::fetch::{Kind, decode, kind};

/// The maximum size of a response in bytes.
pub(super) const BODY_MAX: usize = 8 * 1024 * 1024;

/// Reads `{"output": …}` or `{"error": …}`. A response of
/// another shape does not tell whether the call happened.
pub(super) async fn envelope(response: Response) -> Attempt {
    let in_doubt = |why: String| Attempt::Again(Answer::Unknown(why), None);
    let body = match body(response, BODY_MAX).await {
        Ok(Body::Whole(body)) => body,
        Ok(Body::Cut(_)) => return in_doubt(format!("the answer is longer than {BODY_MAX} bytes")),
        Err(error) => return in_doubt(format!("the connection broke in the answer: {}", chain(&error))),
    };
    let Ok(answer) = serde_json::from_slice::<Value>(&body) else {
        return in_doubt(format!("the answer is not JSON: {}", quote(&body)));
    };
    match (answer.get("error"), answer.get("output")) {
        (Some(error), _) if !error.is_null() => Attempt::Settled(Answer::Failed(words(error))),
        (_, Some(output)) => Attempt::Settled(done(output.clone())),
        (_, None) => in_doubt(format!("the answer has neither `output` nor `error`: {}", quote(&body))),
    }
}

/// Reads the response of an API: JSON, text, or a note about content that
/// cannot be shown. Its status has confirmed that the call happened.
pub(super) async fn plain(response: Response) -> Attempt {
    let status = response.status();
    let (kind, charset) = kind(&response);
    let (bytes, note) = match body(response, BODY_MAX).await {
        Ok(Body::Whole(bytes)) => (bytes, String::new()),
        Ok(Body::Cut(bytes)) => (bytes, format!("\n\n(cut after {BODY_MAX} bytes)")),
        Err(error) => {
            let why = format!("{status}, but the connection broke in the answer: {}", chain(&error));
            return Attempt::Again(Answer::Unknown(why), None);
        }
    };
    Attempt::Settled(match (kind, serde_json::from_slice::<Value>(&bytes)) {
        _ if bytes.trim_ascii().is_empty() => words_only(format!("{status}, without content")),
        (Kind::Text, Ok(value)) => done(value),
        (Kind::Other(name), _) => not_shown(status, bytes.len(), &format!("it is `{name}`, which is not text")),
        (Kind::Text | Kind::Page, _) => match decode(&bytes, charset.as_deref()) {
            Ok(text) => words_only(text + &note),
            Err(why) => not_shown(status, bytes.len(), &why),
        },
    })
}

fn done(value: Value) -> Answer {
    if let Value::String(text) = value {
        return words_only(text);
    }
    Answer::Done { text: value.to_string(), data: Some(value) }
}

fn words_only(text: String) -> Answer {
    Answer::Done { text, data: None }
}

fn not_shown(status: StatusCode, bytes: usize, why: &str) -> Answer {
    words_only(format!("{status}, with {bytes} bytes that are not shown: {why}"))
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
