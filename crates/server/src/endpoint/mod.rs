//! An endpoint: its route, the scope it needs, its handler and its description
//! in one value. The router, the check of scopes and `openapi.json` are made of
//! the same list, so none of them can say something else.

mod describe;
mod document;
mod frames;
mod schemas;

use std::sync::Arc;

use axum::handler::Handler;
use axum::http::{Method, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{self, MethodRouter};
use consort_core::frame::schema::sent;
use schemars::JsonSchema;
use serde_json::Value;

use self::describe::IDEMPOTENCY_KEY;
pub(crate) use self::describe::{
    CONTENT_DISPOSITION, ETAG, FROM, Header, IF_MATCH, LAST_EVENT_ID, LOCATION, NEEDED_IF_MATCH, PREFER, Parameter,
    TRACEPARENT, header_parameters,
};
pub(crate) use self::document::document;
pub(crate) use self::frames::frames;
use self::schemas::{SchemaOf, Schemas};
use crate::access::Scope;
use crate::routes::hooks;
use crate::unknown::{Expected, warn, warn_of_body};
use crate::{Site, a2a, openai};
use consort_inbound::problem::Code;

/// The type of an answer that goes on as things happen.
const EVENT_STREAM: &str = "text/event-stream";
/// The type of answers to requests that failed.
const PROBLEM: &str = "application/problem+json";
/// The type of most answers.
const JSON: &str = "application/json";

/// A route with everything that is known of it.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) needs: Needs,
    whose: Whose,
    pub(crate) router: MethodRouter<Arc<Site>>,
    operation: Operation,
}

/// The credentials that a client must send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// None: it answers the same to every client.
    Nothing,
    /// A key of this scope, where there are keys.
    Scope(Scope),
}

/// The kind of ownership of the things that an endpoint or a frame is about; it decides which of them a key of another
/// owner gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Shared: it is the same for every key.
    Shared,
    /// Runs: those that the caller sees. Any other run is missing, and in no list.
    Runs,
    /// The key's own things, such as threads, which no other key sees, whatever its scopes.
    Key,
}

impl Whose {
    /// Returns the word in descriptions.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Whose::Shared => "shared",
            Whose::Runs => "runs",
            Whose::Key => "key",
        }
    }
}

/// The description of an endpoint.
struct Operation {
    id: &'static str,
    tag: Tag,
    summary: &'static str,
    description: Option<&'static str>,
    parameters: Vec<Parameter>,
    query: Vec<SchemaOf>,
    body: Option<Body>,
    /// Whether the reader of the body names unknown fields.
    names_unknown: bool,
    answers: Vec<Answer>,
    problems: Vec<(StatusCode, Code)>,
}

/// The body of a request.
struct Body {
    required: bool,
    /// The schema of a body that is JSON, where it may be.
    schema: Option<SchemaOf>,
    /// The same, whole and without references.
    whole: fn() -> Value,
    /// The types of files that may be sent instead.
    files: &'static [&'static str],
}

/// An answer that is no problem.
struct Answer {
    status: StatusCode,
    description: &'static str,
    headers: Vec<Header>,
    contents: Vec<(&'static str, SchemaOf)>,
}

/// The group an endpoint is listed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Runs,
    Reviews,
    Threads,
    OpenAi,
    A2a,
    Collections,
    Workflows,
    Schedules,
    Webhooks,
    Tools,
    Network,
    Memory,
    Files,
    Server,
}

pub(crate) fn get<T: 'static>(path: &'static str, handler: impl Handler<T, Arc<Site>>) -> Endpoint {
    Endpoint::new(Method::GET, path, routing::get(handler))
}

/// Creates the endpoint of a `POST`. Each takes an idempotency key: a layer before all of them reads it.
pub(crate) fn post<T: 'static>(path: &'static str, handler: impl Handler<T, Arc<Site>>) -> Endpoint {
    Endpoint::new(Method::POST, path, routing::post(handler)).takes(&[IDEMPOTENCY_KEY])
}

pub(crate) fn put<T: 'static>(path: &'static str, handler: impl Handler<T, Arc<Site>>) -> Endpoint {
    Endpoint::new(Method::PUT, path, routing::put(handler))
}

pub(crate) fn patch<T: 'static>(path: &'static str, handler: impl Handler<T, Arc<Site>>) -> Endpoint {
    Endpoint::new(Method::PATCH, path, routing::patch(handler))
}

pub(crate) fn delete<T: 'static>(path: &'static str, handler: impl Handler<T, Arc<Site>>) -> Endpoint {
    Endpoint::new(Method::DELETE, path, routing::delete(handler))
}

impl Endpoint {
    fn new(method: Method, path: &'static str, router: MethodRouter<Arc<Site>>) -> Endpoint {
        let operation = Operation {
            id: "",
            tag: Tag::Server,
            summary: "",
            description: None,
            parameters: Vec::new(),
            query: Vec::new(),
            body: None,
            names_unknown: false,
            answers: Vec::new(),
            problems: Vec::new(),
        };
        // An endpoint that does not set its needs is for admins alone.
        Endpoint { method, path, needs: Needs::Scope(Scope::Admin), whose: Whose::Shared, router, operation }
    }

    /// Sets its group, its id for programs and its summary for people.
    pub(crate) fn named(mut self, tag: Tag, id: &'static str, summary: &'static str) -> Endpoint {
        self.operation = Operation { id, tag, summary, ..self.operation };
        self
    }

    /// Sets the scope that a key must have, and the ownership of the things it is about.
    pub(crate) fn needs(self, scope: Scope, whose: Whose) -> Endpoint {
        Endpoint { needs: Needs::Scope(scope), whose, ..self }
    }

    /// Makes it public: it needs no key.
    pub(crate) fn public(self) -> Endpoint {
        Endpoint { needs: Needs::Nothing, ..self }
    }

    /// Sets the description, beside its summary.
    pub(crate) fn about(mut self, description: &'static str) -> Endpoint {
        self.operation.description = Some(description);
        self
    }

    /// Adds headers that it reads.
    pub(crate) fn takes(mut self, parameters: &[Parameter]) -> Endpoint {
        self.operation.parameters.extend(parameters);
        self
    }

    /// Sets the parameters of the query: the fields of `T`.
    pub(crate) fn query<T: JsonSchema>(mut self) -> Endpoint {
        self.operation.query.push(Schemas::fields::<T>);
        self
    }

    /// Sets a required body.
    pub(crate) fn body<T: JsonSchema>(mut self) -> Endpoint {
        self.operation.body =
            Some(Body { required: true, schema: Some(Schemas::sent::<T>), whole: sent::<T>, files: &[] });
        self
    }

    /// Sets an optional body.
    pub(crate) fn optional_body<T: JsonSchema>(mut self) -> Endpoint {
        self.operation.body =
            Some(Body { required: false, schema: Some(Schemas::sent::<T>), whole: sent::<T>, files: &[] });
        self
    }

    /// Sets files of these types as the body, instead of JSON or as the only one.
    pub(crate) fn file(mut self, files: &'static [&'static str]) -> Endpoint {
        let given = self.operation.body;
        let schema = given.as_ref().and_then(|body| body.schema);
        let whole = given.map_or(sent::<Value> as fn() -> Value, |body| body.whole);
        self.operation.body = Some(Body { required: true, schema, whole, files });
        self
    }

    /// Declares that the reader of its body names unknown fields itself: it also takes some that are not described.
    pub(crate) fn names_unknown(mut self) -> Endpoint {
        self.operation.names_unknown = true;
        self
    }

    /// Returns its route, whose answers name the unknown fields of a body that is JSON.
    pub(crate) fn routed(self) -> MethodRouter<Arc<Site>> {
        let warns = self.warns();
        let takes_nothing = self.takes_nothing();
        match self.operation.body.filter(|_| warns) {
            Some(body) => self.router.route_layer(from_fn_with_state(Arc::new(Expected::new(body.whole)), warn)),
            None if takes_nothing => self.router.route_layer(from_fn(warn_of_body)),
            None => self.router,
        }
    }

    /// Returns whether it changes something and takes no body.
    fn takes_nothing(&self) -> bool {
        self.method == Method::POST && self.operation.body.is_none()
    }

    /// Returns whether its answers name unknown fields by the schema of its body.
    fn warns(&self) -> bool {
        let is_json = self.operation.body.as_ref().is_some_and(|body| body.schema.is_some());
        let is_hook = self.path.starts_with(hooks::PREFIX);
        let is_of_others = is_hook || openai::is_path(self.path) || a2a::is_path(self.path);
        is_json && !is_of_others && !self.operation.names_unknown
    }

    /// Adds an answer as JSON.
    pub(crate) fn answers<T: JsonSchema>(self, status: StatusCode, description: &'static str) -> Endpoint {
        self.answer(status, description, Some((JSON, Schemas::answered::<T>)))
    }

    /// Adds an answer as JSON of another type.
    pub(crate) fn answers_as<T: JsonSchema>(
        self,
        status: StatusCode,
        kind: &'static str,
        description: &'static str,
    ) -> Endpoint {
        self.answer(status, description, Some((kind, Schemas::answered::<T>)))
    }

    /// Adds a problem where the status is also that of another answer.
    pub(crate) fn answers_problem<T: JsonSchema>(self, status: StatusCode, description: &'static str) -> Endpoint {
        self.answer(status, description, Some((PROBLEM, Schemas::answered::<T>)))
    }

    /// Adds an answer of another type.
    pub(crate) fn answers_text(self, kind: &'static str, description: &'static str) -> Endpoint {
        self.answer(StatusCode::OK, description, Some((kind, Schemas::answered::<String>)))
    }

    /// Adds an answer without a body.
    pub(crate) fn answers_nothing(self, status: StatusCode, description: &'static str) -> Endpoint {
        self.answer(status, description, None)
    }

    /// Frames as server-sent events, with status 200.
    pub(crate) fn streams(self, description: &'static str) -> Endpoint {
        self.answer(StatusCode::OK, description, Some((EVENT_STREAM, Schemas::event)))
    }

    /// Adds an answer, or one more type to an answer with the same status.
    fn answer(
        mut self,
        status: StatusCode,
        description: &'static str,
        content: Option<(&'static str, SchemaOf)>,
    ) -> Endpoint {
        match self.operation.answers.iter_mut().find(|answer| answer.status == status) {
            Some(answer) => answer.contents.extend(content),
            None => {
                let contents = content.into_iter().collect();
                self.operation.answers.push(Answer { status, description, headers: Vec::new(), contents });
            }
        }
        self
    }

    /// Headers of the answer that was named last.
    pub(crate) fn with(mut self, headers: &[Header]) -> Endpoint {
        if let Some(answer) = self.operation.answers.last_mut() {
            answer.headers.extend(headers);
        }
        self
    }

    /// Problems of its own, beside those that every endpoint may answer with.
    pub(crate) fn fails(mut self, problems: &[Code]) -> Endpoint {
        self.operation.problems.extend(problems.iter().map(|code| (code.status(), *code)));
        self
    }

    /// Adds a problem with another status than the default of its code.
    pub(crate) fn fails_at(mut self, status: StatusCode, code: Code) -> Endpoint {
        self.operation.problems.push((status, code));
        self
    }
}
