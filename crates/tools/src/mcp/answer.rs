//! The outcome of a call: the server's result as text, or a
//! failure that says how certain it is that nothing happened.
#![allow(clippy::wildcard_enum_match_arm, reason = "the enums are the protocol's, and grow with it")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Error as HttpError;
use rmcp::ServiceError;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ResourceContents};
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::http::chain;
use crate::{Account, Answer, Picture};

/// The maximum number of bytes of a result that are kept.
const RESULT_MAX: usize = 8 * 1024 * 1024;
/// The maximum number of bytes of an error message that are kept.
const REASON_MAX: usize = 2 * 1024;

/// The reason why a call has no result.
#[derive(Debug, PartialEq)]
pub(super) enum Failure {
    /// The call certainly did not happen, or the server reports that it failed.
    Certain(String),
    /// The call may or may not have happened.
    Doubtful(String),
}

/// Returns the server's result as text; its pictures are shown beside it.
pub(super) fn answer(response: CallToolResponse, account: &Account) -> Result<Answer, Failure> {
    match response {
        CallToolResponse::Complete(result) => {
            result.content.iter().filter_map(picture).for_each(|picture| account.show(picture));
            Ok(complete(result))
        }
        CallToolResponse::InputRequired(_) => {
            Err(Failure::Certain("the server wants to ask a person first, which cannot be done here".to_owned()))
        }
        // Tasks, and later additions to the protocol: not requested, so not followed.
        _ => Err(Failure::Doubtful("the server began something whose end it does not tell".to_owned())),
    }
}

fn complete(result: CallToolResult) -> Answer {
    let parts: Vec<String> = result.content.iter().map(words).collect();
    let structured = result.structured_content.filter(|data| !data.is_null());
    let text = match (&structured, parts.is_empty()) {
        (Some(data), true) => data.to_string(),
        (Some(_) | None, _) => parts.join("\n"),
    };
    let length = text.len();
    let text = cut(&text, RESULT_MAX).to_owned();
    if result.is_error == Some(true) {
        return Answer::Failed(if text.is_empty() { "the tool failed and did not say why".to_owned() } else { text });
    }
    if text.len() < length {
        return Answer::Done { text: format!("{text}\n[cut: the whole result has {length} bytes]"), data: None };
    }
    Answer::Done { text, data: structured.filter(|data| data.to_string().len() <= RESULT_MAX) }
}

/// Returns a part of a result as text for a model.
fn words(part: &ContentBlock) -> String {
    match part {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[an image, {}, {}]", image.mime_type, decoded(&image.data)),
        ContentBlock::Audio(audio) => format!("[a sound, {}, {}]", audio.mime_type, decoded(&audio.data)),
        ContentBlock::ResourceLink(link) => format!("[a resource, {}: {}]", link.name, link.uri),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[the resource {uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                format!("[the resource {uri}, {}]", decoded(blob))
            }
            _ => "[a resource of a kind that cannot be shown]".to_owned(),
        },
        _ => "[a part of a kind that cannot be shown]".to_owned(),
    }
}

/// Returns the picture that a part of a result is, if it is one and not too large.
fn picture(part: &ContentBlock) -> Option<Picture> {
    let ContentBlock::Image(image) = part else { return None };
    let bytes = STANDARD.decode(image.data.as_bytes()).ok().filter(|bytes| bytes.len() <= RESULT_MAX)?;
    Some(Picture { media_type: image.mime_type.clone(), bytes })
}

fn decoded(base64: &str) -> String {
    format!("{} bytes", base64.trim_end_matches('=').len() * 3 / 4)
}

/// Returns the failure for an error of the client library.
pub(super) fn failure(error: ServiceError) -> Failure {
    match &error {
        ServiceError::McpError(error) => Failure::Certain(cut(&error.message, REASON_MAX).to_owned()),
        ServiceError::TransportClosed => {
            Failure::Doubtful("the connection to the MCP server broke before an answer came".to_owned())
        }
        ServiceError::TransportSend(send) => match send.error.downcast_ref::<StreamableHttpError<HttpError>>() {
            Some(error) => unsent(error),
            None => Failure::Doubtful("the MCP server could not be written to".to_owned()),
        },
        other => Failure::Doubtful(cut(&other.to_string(), REASON_MAX).to_owned()),
    }
}

/// Returns the failure of a request; one that was refused,
/// or for which there was no connection, has done nothing.
fn unsent(error: &StreamableHttpError<HttpError>) -> Failure {
    let reason = http_words(error);
    match error {
        StreamableHttpError::Client(error) if error.is_connect() || error.is_builder() => Failure::Certain(reason),
        StreamableHttpError::HttpStatus(status) if status.status < 500 => Failure::Certain(reason),
        StreamableHttpError::AuthRequired(_)
        | StreamableHttpError::InsufficientScope(_)
        | StreamableHttpError::SessionExpired => Failure::Certain(reason),
        _ => Failure::Doubtful(reason),
    }
}

/// Describes an error, without the address, which may hold a secret.
pub(super) fn http_words(error: &StreamableHttpError<HttpError>) -> String {
    match error {
        StreamableHttpError::Client(error) if error.is_connect() => format!("could not connect: {}", chain(error)),
        StreamableHttpError::Client(error) => format!("the connection broke: {}", chain(error)),
        StreamableHttpError::AuthRequired(_) => "the MCP server wants to know who asks (401)".to_owned(),
        StreamableHttpError::InsufficientScope(_) => "the MCP server does not allow it (403)".to_owned(),
        other => cut(&other.to_string(), REASON_MAX).to_owned(),
    }
}

/// Returns the beginning of a text, at most `max` bytes.
pub(super) fn cut(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_shown_beside_the_words_unless_it_cannot_be_read() {
        let result = r#"{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"image","data":"?","mimeType":"image/png"}]}"#;
        let account = Account::default();
        let told = answer(CallToolResponse::Complete(serde_json::from_str(result).unwrap()), &account);
        let text = "[an image, image/png, 2 bytes]\n[an image, image/png, 0 bytes]".to_owned();
        assert_eq!(told, Ok(Answer::Done { text, data: None }));
        let picture = Picture { media_type: "image/png".to_owned(), bytes: b"hi".to_vec() };
        assert_eq!((account.take_pictures(), account.take_pictures()), (vec![picture], Vec::new()));
    }

    #[test]
    fn made_up_results_are_told_in_words_or_refused() {
        let examples = [
            r#"{"content":[{"type":"text","text":"hi"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"isError":false}"#,
            r#"{"content":[{"type":"resource","resource":{"uri":"file:///x","text":"y"}},{"type":"resource_link","uri":"a:b","name":"n"}],"structuredContent":{"a":[1,null]}}"#,
            r#"{"content":[],"isError":true,"_meta":{"a":1}}"#,
        ];
        consort_fuzz::text(&examples, |text| {
            let Ok(result) = serde_json::from_str::<CallToolResult>(text) else { return };
            match answer(CallToolResponse::Complete(result), &Account::default()) {
                Ok(Answer::Failed(words) | Answer::Unknown(words) | Answer::Late { why: words, .. }) => {
                    assert!(!words.is_empty(), "{text}")
                }
                Ok(Answer::Done { text: words, .. }) => assert!(words.len() <= RESULT_MAX + 100, "{text}"),
                Err(Failure::Certain(why) | Failure::Doubtful(why)) => assert!(!why.is_empty(), "{text}"),
            }
        });
    }
}
