//! `Idempotency-Key`, as a layer before every route: a request that is sent
//! again gets the answer of the first, also after a restart. That it is about
//! to be done is stored before, its answer after; a submission claims its key
//! in the append that accepts the run. So nothing is ever done twice.

mod kept;
mod keys;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use axum::{Extension, body};
use consort_core::compile::Compiled;
use consort_runtime::engine::{self, Engine};
use consort_runtime::log;

pub(crate) use self::kept::sweep;
pub(crate) use self::keys::Keys;

use self::kept::{Answer, Kept, hex};
use crate::Site;
use crate::access::Caller;
use crate::audit::run_of;
use crate::door::is_stream;
use crate::problem::Problem;
use crate::wish::Wish;

/// The header.
const HEADER: &str = "idempotency-key";
/// Bytes of a key at most; it is stored with the run.
const KEY_MAX: usize = 255;
/// The route whose runs hold the key themselves.
const CLAIMING: &str = "/api/runs";

/// A request that is done once.
#[derive(Clone, Debug)]
pub(crate) struct Once {
    /// The key, whose it is and what it is for.
    scope: String,
    /// Stands for what was sent with it.
    print: String,
    /// The run the first such request made, if it is known already.
    run: Option<Arc<str>>,
}

/// Repeats what was answered, or has it answered and keeps that.
pub(crate) async fn layer(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let keyed = request.method() == Method::POST && request.headers().contains_key(HEADER);
    let Some(route) = route.filter(|_| keyed) else { return Ok(next.run(request).await) };
    let (once, request) = Once::read(&site, &caller, request).await?;
    if route.as_str() == CLAIMING {
        once.claimed(&site, request, next).await
    } else {
        once.recorded(site, request, next).await
    }
}

impl Once {
    async fn read(site: &Site, caller: &Caller, request: Request) -> Result<(Once, Request), Problem> {
        let key = request.headers().get(HEADER).and_then(|key| key.to_str().ok());
        let key = key.filter(|key| !key.trim().is_empty() && key.len() <= KEY_MAX);
        let wrong = || Problem::bad_request(format!("Idempotency-Key must be text of at most {KEY_MAX} characters"));
        // Neither a path nor a header can hold the separator.
        let scope = [request.uri().path(), &caller.0, key.ok_or_else(wrong)?].join("\n");
        let query = request.uri().query().unwrap_or_default().to_owned();
        let (head, body) = request.into_parts();
        let bytes = crate::body::read(site, Request::from_parts(head.clone(), body)).await?;
        let print = print(&query, &bytes);
        Ok((Once { scope, print, run: None }, Request::from_parts(head, bytes.into())))
    }

    /// A submission, which finds its run again by the key.
    async fn claimed(mut self, site: &Site, mut request: Request, next: Next) -> Result<Response, Problem> {
        let wish = Wish::read(request.headers())?;
        let kept = self.kept(site).await?;
        match kept {
            // Who wants to wait or to watch gets the same run, as it is by now.
            Some(Kept { run: Some(run), .. }) if wish != Wish::Accepted => self.run = Some(run),
            Some(Kept { answer: Some(answer), .. }) => return Ok(answer.into()),
            Some(Kept { run, answer: None, .. }) => self.run = run,
            None => {}
        }
        let path = request.uri().path().to_owned();
        request.extensions_mut().insert(self.clone());
        let response = next.run(request).await;
        if self.run.is_some() || is_passing(response.status()) {
            return Ok(response);
        }
        let run = run_of(&path, response.headers()).map(Arc::from);
        let (response, answer) = match wish {
            Wish::Ended(_) | Wish::Stream if run.is_some() => (response, None),
            Wish::Accepted | Wish::Ended(_) | Wish::Stream => read_answer(response).await,
        };
        self.keep(site, 0, Kept { print: self.print.clone(), run, answer }).await;
        Ok(response)
    }

    /// Any other route: done in a task of its own, because half of it must not
    /// be left undone by a client that hangs up.
    async fn recorded(self, site: Arc<Site>, request: Request, next: Next) -> Result<Response, Problem> {
        let turn = site.keys.turn(&self.scope).await;
        if let Some(kept) = self.kept(&site).await? {
            return kept.answer.map(Response::from).ok_or_else(unknown);
        }
        let run: Option<Arc<str>> = run_of(request.uri().path(), request.headers()).map(Arc::from);
        let begun = Kept { print: self.print.clone(), run, answer: None };
        begun.append(&*site.engine().seams().log, &self.scope, 0, site.now()).await?;
        let owner = site.clone();
        let done = async move {
            let response = next.run(request).await;
            let response = self.settle(&site, begun, response).await;
            drop(turn);
            response
        };
        let stopped = |_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", "the server is stopping");
        owner.keys.spawn(done).await.map_err(stopped)
    }

    /// Keeps an answer, or forgets the request when it may be tried again.
    async fn settle(&self, site: &Site, begun: Kept, response: Response) -> Response {
        if is_passing(response.status()) {
            if let Err(error) = kept::forget(&*site.engine().seams().log, &self.scope).await {
                tracing::warn!(%error, "cannot free an idempotency key");
            }
            return response;
        }
        let made: Option<Arc<str>> = run_of("", response.headers()).map(Arc::from);
        let (response, answer) = read_answer(response).await;
        // Who is sent a new run's frames is told its name when they ask again.
        let answer = answer.or_else(|| made.as_deref().map(Answer::accepted));
        self.keep(site, 1, Kept { answer, run: made.or(begun.run), ..begun }).await;
        response
    }

    async fn keep(&self, site: &Site, expected: log::Seq, kept: Kept) {
        match kept.append(&*site.engine().seams().log, &self.scope, expected, site.now()).await {
            // Somebody who raced for the same run was faster.
            Ok(()) | Err(log::Error::Fenced) => {}
            Err(error) => tracing::warn!(%error, "cannot keep the answer for an idempotency key"),
        }
    }

    /// What was kept for this key, which must have come with the same request.
    async fn kept(&self, site: &Site) -> Result<Option<Kept>, Problem> {
        let kept = Kept::find(&*site.engine().seams().log, &self.scope).await?;
        if kept.as_ref().is_some_and(|kept| kept.print != self.print) { Err(conflict()) } else { Ok(kept) }
    }

    /// The run the first such request made.
    pub(crate) async fn first(&self, engine: &Engine) -> Result<Option<Arc<str>>, Problem> {
        if self.run.is_some() {
            return Ok(self.run.clone());
        }
        let [same, any] = self.claims();
        if let Some(run) = engine.holder(&same).await? {
            return Ok(Some(run));
        }
        if engine.holder(&any).await?.is_some() { Err(conflict()) } else { Ok(None) }
    }

    /// Submits a run, or finds the one the first such request made.
    pub(crate) async fn submit(&self, site: &Site, compiled: Compiled) -> Result<Arc<str>, Problem> {
        let _turn = site.keys.turn(&self.scope).await;
        let engine = site.engine();
        if let Some(run) = self.first(engine).await? {
            return Ok(run);
        }
        match engine.submit_once(compiled, self.claims().into()).await {
            Err(error @ engine::Error::Log(log::Error::Claimed { .. })) => {
                self.first(engine).await?.ok_or_else(|| error.into())
            }
            submitted => Ok(submitted?),
        }
    }

    /// One for this very request, one for the key whatever is sent with it.
    fn claims(&self) -> [String; 2] {
        [format!("{}\n{}", self.scope, self.print), self.scope.clone()]
    }
}

/// The same for bodies that say the same.
fn print(query: &str, body: &Bytes) -> String {
    let json = serde_json::from_slice::<serde_json::Value>(body).map(|json| json.to_string());
    let said = json.unwrap_or_else(|_| String::from_utf8_lossy(body).into_owned());
    hex(&format!("{query}\n{said}"))
}

/// Whether the same request may be answered otherwise a moment later.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

/// An answer, and the same to be kept; streams are not.
async fn read_answer(response: Response) -> (Response, Option<Answer>) {
    let (head, body) = response.into_parts();
    if is_stream(&head.headers) {
        return (Response::from_parts(head, body), None);
    }
    // What is not a stream was made whole before it came here.
    let bytes = body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let answer = Answer::new(&head, &bytes);
    (Response::from_parts(head, Body::from(bytes)), answer)
}

fn conflict() -> Problem {
    let message = "this Idempotency-Key was sent with another body before";
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "IDEMPOTENCY_CONFLICT", message)
}

fn unknown() -> Problem {
    let message = "the server stopped while it did this, so what came of it is unknown: look before you ask for it \
        again with another Idempotency-Key";
    Problem::new(StatusCode::CONFLICT, "OUTCOME_UNKNOWN", message)
}
