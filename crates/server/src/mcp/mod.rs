//! `/mcp`: shared capabilities, the ensemble and the chat agent as tools of MCP clients.
//! `rmcp` implements the protocol, 2026-07-28 and older versions, without state here.
//! `message` parses as much of a request as access control needs, `handler` answers it,
//! `work` executes their calls, `tasks` shows runs as tasks,
//! `calls` holds the calls that another message can cancel.

mod calls;
mod handler;
mod message;
mod tasks;
mod work;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, HOST, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use consort_runtime::engine::Engine;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

pub(crate) use self::calls::Calls;
use self::handler::Handler;
use self::message::Message;
use crate::Site;
use crate::access::{Caller, Pass, Scope};
use crate::body;
use crate::endpoint::{Endpoint, Tag, Whose, get, post};
use crate::once::Once;
use crate::openai::Edge;
use consort_inbound::problem::{Problem, Written};

/// The path of the endpoint.
pub(crate) const PATH: &str = "/mcp";
/// The path at which clients learn what the endpoint needs.
const METADATA: &str = "/.well-known/oauth-protected-resource";
/// The header that identifies a client of an older version, whose messages cancel its calls. Nothing is stored for it.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The answers that every client takes: a message, or a stream of them.
const ACCEPTED: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let about = "JSON-RPC of the Model Context Protocol, versions 2026-07-28 and 2025-11-25, without sessions. What is \
        shared, `run_ensemble` and `chat` are tools; each needs the scope of what it does. Runs are tasks whose id is \
        the run's, and what waits for a person is an elicitation.";
    let failed = "The error, as JSON-RPC has it.";
    let refused = "The request is none of the protocol.";
    vec![
        post(PATH, serve)
            .named(Tag::Network, "mcp", "Speak the Model Context Protocol")
            .about(about)
            .needs(Scope::Read, Whose::Key)
            .body::<Map<String, Value>>()
            .answers::<Map<String, Value>>(StatusCode::OK, "A message, or a stream of them.")
            .streams("Messages as they come.")
            .answers_nothing(StatusCode::ACCEPTED, "A notification was taken.")
            .answers::<Map<String, Value>>(StatusCode::BAD_REQUEST, failed)
            .answers_problem::<Written<'_>>(StatusCode::BAD_REQUEST, refused)
            .answers::<Map<String, Value>>(StatusCode::NOT_FOUND, failed),
        get(METADATA, metadata)
            .named(Tag::Network, "protectedResource", "Get the OAuth metadata of /mcp")
            .public()
            .answers::<ProtectedResource>(StatusCode::OK, "As RFC 9728 has it."),
        get("/.well-known/oauth-protected-resource/mcp", metadata)
            .named(Tag::Network, "protectedMcp", "Get the OAuth metadata of /mcp, at the path of the resource")
            .public()
            .answers::<ProtectedResource>(StatusCode::OK, "As RFC 9728 has it."),
    ]
}

/// The requirements of a protected resource, as RFC 9728 describes them.
#[derive(Serialize, JsonSchema)]
struct ProtectedResource {
    /// The address of the resource.
    resource: String,
    resource_name: &'static str,
    /// The issuer whose tokens are taken, where single sign-on is configured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authorization_servers: Vec<String>,
    bearer_methods_supported: [&'static str; 1],
    scopes_supported: [&'static str; 4],
}

async fn metadata(State(site): State<Arc<Site>>, headers: HeaderMap) -> Json<ProtectedResource> {
    let issuer = site.terms.access.borrow().issuer.as_ref().map(|issuer| issuer.url().to_owned());
    Json(ProtectedResource {
        resource: format!("{}{PATH}", base(&site, &headers)),
        resource_name: "Consort",
        authorization_servers: issuer.into_iter().collect(),
        bearer_methods_supported: ["header"],
        scopes_supported: [Scope::Read, Scope::Run, Scope::Review, Scope::Tools].map(Scope::word),
    })
}

/// Returns the address of the server as the client knows it.
pub(crate) fn base(site: &Site, headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.map_or_else(|| format!("127.0.0.1:{}", site.port), str::to_owned);
    let secure = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
    format!("{}://{host}", if secure { "https" } else { "http" })
}

/// Adds to a refusal where the client learns what it must show, and the scope that was missing.
pub(crate) fn challenge(site: &Site, headers: &HeaderMap, missing: Option<Scope>, response: &mut Response) {
    let metadata = format!("{}{METADATA}{PATH}", base(site, headers));
    let missing =
        missing.map(|scope| format!("error=\"insufficient_scope\", scope=\"{}\", ", scope.word())).unwrap_or_default();
    // The host was checked: it is nothing that a header cannot hold.
    if let Ok(value) = HeaderValue::from_str(&format!("Bearer {missing}resource_metadata=\"{metadata}\"")) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
}

async fn serve(
    State(site): State<Arc<Site>>,
    (Extension(caller), Extension(runs), Extension(pass)): (Extension<Caller>, Extension<Engine>, Extension<Pass>),
    request: Request,
) -> Result<Response, Problem> {
    let (mut head, sent) = request.into_parts();
    let key = Once::key(&head.headers)?.map(str::to_owned);
    let bytes = body::read(&site, Request::from_parts(head.clone(), sent)).await?;
    let message = match Message::read(&bytes, &head.headers) {
        Ok(message) => message,
        Err((code, reason)) => return Ok(failed(code, &reason)),
    };
    let scope = message.scope(&site).await;
    if let Err(problem) = pass.check(scope) {
        let mut response = problem.into_response();
        challenge(&site, &head.headers, Some(scope), &mut response);
        return Ok(response);
    }
    if let Some(cancelled) = message.cancelled() {
        site.mcp_calls.cancel(&caller, &cancelled);
    }
    if head.headers.get(ACCEPT).is_none_or(|kinds| kinds.as_bytes().windows(3).any(|part| part == b"*/*")) {
        head.headers.insert(ACCEPT, ACCEPTED);
    }
    let open = message.call().map(|call| site.mcp_calls.open(&caller, call));
    let config = config(&site, &message);
    let edge = Edge { site, caller, runs, headers: head.headers.clone() };
    let handler = Handler::new(edge, pass, (key, open));
    let service =
        StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config);
    let mut response = service.handle(Request::from_parts(head, Body::from(bytes))).await.map(Body::new);
    if message.is_handshake() && response.status().is_success() {
        let session = Uuid::new_v4().to_string();
        if let Ok(session) = HeaderValue::from_str(&session) {
            response.headers_mut().insert(SESSION, session);
        }
    }
    Ok(response)
}

/// Returns the settings under which a message is answered, without a session.
fn config(site: &Site, message: &Message) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        // A call may take long: an older client is sent the head of its answer at once.
        .with_json_response(!message.is_call())
        .with_max_request_body_bytes(site.server.max_body_bytes)
        // The door has checked both.
        .disable_allowed_hosts()
        .disable_allowed_origins()
}

/// Returns the answer to what is no message of the protocol.
fn failed(code: i32, reason: &str) -> Response {
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": reason } });
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}
