//! `/v1`: the chat agent, the ensemble and saved workflows as models of OpenAI's API.
//!
//! `begin` starts the turn or the run that answers a request, `upload` stores the files in it, `shared` calls a shared
//! capability, `answer` sends the answer, `models` lists the models. Requests and answers themselves are read and
//! written by `consort_inbound::openai`.

mod answer;
mod begin;
mod models;
mod shared;
mod upload;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use consort_inbound::openai::{completions, error, files, head, request, responses, split_body, step_writer, steps};
use consort_runtime::engine::Engine;
use schemars::JsonSchema;
use serde_json::{Map, Value};

pub(crate) use consort_inbound::openai::error::OpenAiError;
pub(crate) use consort_inbound::openai::is_path;
pub(crate) use consort_inbound::openai::request::{ClientRequest, ThreadChoice};
pub(crate) use consort_inbound::openai::step_writer::{Piece, StepWriter};
pub(crate) use consort_inbound::openai::steps::{End, Step};

pub(crate) use self::begin::{Edge, Work};

use self::answer::{Form, answered};
use self::completions::ChatCompletion;
use self::responses::Shape;
use self::upload::SentWithFiles;
use crate::Site;
use crate::access::{Caller, Scope};
use crate::endpoint::{Endpoint, TRACEPARENT, Tag, Whose, post};
use crate::once::Begun;
use consort_inbound::problem::{Code, Problem};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let about = "`consort` is the chat agent, `consort/<name>` the ensemble or a saved workflow: then the last message \
        is the input `message`, `metadata` has the others. Tools of ours are called here and told in \
        `reasoning_content` or reasoning items, never as calls for the client. Failures have OpenAI's form.";
    let streams = "Server-sent events, when `stream` is true.";
    let asks = |endpoint: Endpoint| {
        endpoint
            .about(about)
            .needs(Scope::Run, Whose::Key)
            .takes(&[TRACEPARENT])
            .streams(streams)
            .fails(&[Code::BadRequest, Code::InvalidModel, Code::MissingInput, Code::ApprovalPending])
            .fails(&[Code::BudgetExceeded, Code::ModelNotFound, Code::ThreadNotFound, Code::Cancelled])
            .fails(&[Code::ConcurrencyLimit, Code::QuotaExceeded, Code::AnswerFailed])
            .fails(&[Code::ModelCannotSee, Code::UnsupportedMediaType, Code::PayloadTooLarge, Code::LimitReached])
    };
    let completions = post("/v1/chat/completions", completion)
        .named(Tag::OpenAi, "createChatCompletion", "Create a chat completion, as OpenAI does")
        .body::<CompletionRequest>()
        .answers::<ChatCompletion>(StatusCode::OK, "The answer.");
    let responses = post("/v1/responses", response)
        .named(Tag::OpenAi, "createResponse", "Create a response, as OpenAI does")
        .body::<ResponseRequest>()
        .answers::<Shape>(StatusCode::OK, "The answer.")
        .fails(&[Code::PreviousResponseNotFound]);
    models::endpoints().into_iter().chain([asks(completions), asks(responses)]).collect()
}

/// A chat completion that is asked for; fields of OpenAI's that are not listed change nothing.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "requests are read field by field, with a reason for each that is wrong")]
struct CompletionRequest {
    /// `consort`, or `consort/<name>`.
    model: String,
    /// The conversation; the last message is the user's. Parts of the user's messages may be pictures (`image_url`) and files (`file`), as `data:` addresses or by the `file_id` of an attachment.
    messages: Vec<Map<String, Value>>,
    /// Send the answer as it comes.
    stream: Option<bool>,
    stream_options: Option<Map<String, Value>>,
    /// The thread to go on with, or a name of your own for one; without it the request is a conversation of its own, which is erased after a day.
    conversation: Option<String>,
    /// Inputs of a run.
    metadata: Option<BTreeMap<String, Value>>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    seed: Option<i64>,
    reasoning_effort: Option<String>,
}

/// A response that is asked for; fields of OpenAI's that are not listed change nothing.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "requests are read field by field, with a reason for each that is wrong")]
struct ResponseRequest {
    /// `consort`, or `consort/<name>`.
    model: String,
    /// The message, or a list of messages of which the last is the user's, with pictures (`input_image`) and files (`input_file`) among their parts.
    input: Input,
    instructions: Option<String>,
    /// Send the answer as it comes.
    stream: Option<bool>,
    /// The last response of the conversation to go on with.
    previous_response_id: Option<String>,
    /// The thread to go on with, or a name of your own for one.
    conversation: Option<ConversationParam>,
    /// Inputs of a run.
    metadata: Option<BTreeMap<String, Value>>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    reasoning: Option<Map<String, Value>>,
}

/// A message, or a list of messages.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ResponseInput")]
#[expect(dead_code, reason = "it only describes the field")]
enum Input {
    Text(String),
    Items(Vec<Map<String, Value>>),
}

/// An id, or an object with one.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only describes the field")]
enum ConversationParam {
    Id(String),
    Object(Map<String, Value>),
}

/// The parts of a request that its work begins with.
type Parts = (State<Arc<Site>>, (Extension<Caller>, Extension<Engine>), Option<Extension<Begun>>, HeaderMap);

async fn completion(parts: Parts, sent: Result<SentWithFiles, Problem>) -> Result<Response, Problem> {
    answer(parts, sent?.asked(ClientRequest::completion)?, Form::Completion).await
}

async fn response(parts: Parts, sent: Result<SentWithFiles, Problem>) -> Result<Response, Problem> {
    answer(parts, sent?.asked(ClientRequest::response)?, Form::Response).await
}

async fn answer(parts: Parts, mut asked: ClientRequest, form: Form) -> Result<Response, Problem> {
    let (State(site), (Extension(caller), Extension(runs)), again, headers) = parts;
    let edge = Edge { site, caller, runs, headers };
    let work = edge.begin(&mut asked, again.map(|Extension(begun)| begun)).await?;
    answered(&edge, &asked, form, work).await
}
