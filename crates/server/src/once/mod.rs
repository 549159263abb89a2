//! `Idempotency-Key`, as a layer before every route: a request that is sent again gets
//! the response of the first, also after a restart. The beginning of a request is
//! stored before it is executed, its response after; a submission claims its key in
//! the append that accepts the run. So nothing is ever executed twice.

mod kept;
mod keys;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use axum::{Extension, body};
use consort_core::compile::Compiled;
use consort_log as log;
use consort_runtime::engine::{self, Engine, NewRun};
use consort_tools::busy;
use sha2::{Digest, Sha256};
use tokio::time::timeout;

pub(crate) use self::kept::{forget_run, sweep};
pub(crate) use self::keys::Keys;

pub(crate) use self::kept::Begun;
use self::kept::{Answer, Kept, digits, hex};
use crate::Site;
use crate::access::Caller;
use crate::body::{Content, IsRead};
use crate::routes::{hooks, submit, threads};
use crate::{a2a, mcp, openai};
use consort_inbound::audit::run_of;
use consort_inbound::event_stream::is_event_stream;
use consort_inbound::problem::{Code, Problem};
use consort_inbound::response_mode::{ResponseMode, accepts};

/// The name of the header.
const HEADER: &str = "idempotency-key";
/// The maximum number of bytes of a key; it is stored with the run.
pub(crate) const KEY_MAX: usize = 255;
/// The route whose runs claim the key themselves.
const CLAIMING: &str = "/api/runs";
/// The suffix of the lock under which a key's run is submitted; no scope has a fourth line.
const SUBMISSION: &str = "submission";

/// The time that the answer of another node is waited for, and between two looks for it.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The response that a repeated message gets when its first response is a stream; an
/// extension of that response.
#[derive(Clone)]
pub(crate) struct Streamed(pub(crate) serde_json::Value);

/// A request that is executed once.
#[derive(Clone, Debug)]
pub(crate) struct Once {
    /// The path, the client and the key.
    scope: String,
    /// The name of the client that sent it.
    caller: Caller,
    /// A fingerprint of the request.
    print: String,
    /// The run that the first such request made, if it is known already.
    run: Option<Arc<str>>,
}

/// The outcome of storing a response.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeping {
    Done,
    /// The response of another request with the same key was stored first.
    Late,
    /// The log could not store it: a repeated request is executed anew.
    Failed,
}

/// Repeats the stored response, or executes the request and stores its response.
pub(crate) async fn layer(
    State(site): State<Arc<Site>>,
    Extension(caller): Extension<Caller>,
    Extension(runs): Extension<Engine>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let keyed = request.method() == Method::POST && request.headers().contains_key(HEADER);
    // A hook knows a repeated delivery itself, once it knows who sent it; a call over MCP claims the key for its run.
    let path = request.uri().path();
    // A message over A2A is known by its own id.
    let keyed = keyed && !path.starts_with(hooks::PREFIX) && path != mcp::PATH && !a2a::is_path(path);
    let Some(route) = route.filter(|_| keyed) else { return Ok(next.run(request).await) };
    let (once, request) = Once::read(&site, &caller, request).await?;
    if route.as_str() == CLAIMING {
        once.claimed((&site, &runs), request, next).await
    } else {
        once.recorded((site, runs), request, next).await
    }
}

impl Once {
    /// Returns the idempotency key of a request.
    pub(crate) fn key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
        let Some(key) = headers.get(HEADER) else { return Ok(None) };
        let key = key.to_str().ok().filter(|key| !key.trim().is_empty() && key.len() <= KEY_MAX);
        let wrong = || Problem::bad_request(format!("Idempotency-Key must be text of at most {KEY_MAX} characters"));
        key.ok_or_else(wrong).map(Some)
    }

    /// Returns a call over MCP that is executed once: what is called is its fingerprint, not the whole message.
    pub(crate) fn of_call(caller: &Caller, key: &str, called: &str) -> Once {
        let scope = [mcp::PATH, &caller.0, key].join("\n");
        Once { scope, caller: caller.clone(), print: hex(called), run: None }
    }

    /// Returns a message over A2A that is executed once: the same id with other content is another message.
    pub(crate) fn of_message(caller: &Caller, id: &str, content: &str) -> Once {
        let print = hex(content);
        let scope = [a2a::PATH, &caller.0, &hex(id), &print].join("\n");
        Once { scope, caller: caller.clone(), print, run: None }
    }

    /// Begins work, or returns what the first such request began. It is owned here, because a client that hangs up must
    /// not leave it half done.
    pub(crate) async fn begun<E>(
        self,
        site: &Arc<Site>,
        work: impl Future<Output = Result<Begun, E>> + Send + 'static,
    ) -> Result<Begun, E>
    where
        E: From<Problem> + Send + 'static,
    {
        let owner = site.clone();
        let done = async move {
            let _turn = owner.keys.turn(&self.scope).await;
            let begun = Kept { print: self.print.clone(), run: None, answer: None };
            if let Some(kept) = self.begin(&owner, &begun).await? {
                return Ok(kept.answer.and_then(|answer| answer.begun()).ok_or_else(unknown)?);
            }
            let worked = work.await;
            match &worked {
                Ok(begun_work) => {
                    let answer = Some(Answer::of(begun_work));
                    self.keep(&owner, 1, Kept { answer, ..begun }).await;
                }
                Err(_) => {
                    if let Err(error) = kept::forget(&*owner.engine().seams().log, &self.scope).await {
                        tracing::warn!(%error, "cannot free an idempotency key");
                    }
                }
            }
            worked
        };
        site.keys.spawn(done).await.map_err(|_| stopping())?
    }

    async fn read(site: &Site, caller: &Caller, request: Request) -> Result<(Once, Request), Problem> {
        let key = Once::key(request.headers())?.unwrap_or_default();
        // Neither a path nor a header can hold the separator.
        let scope = [request.uri().path(), &caller.0, key].join("\n");
        let query = request.uri().query().unwrap_or_default().to_owned();
        let is_file = Content::of(&request) == Content::File;
        let (mut head, body) = request.into_parts();
        let bytes = crate::body::read(site, Request::from_parts(head.clone(), body)).await?;
        // Files, and bodies with files, are not parsed for it.
        let is_json = !is_file && bytes.len() <= site.server.max_body_bytes;
        let fingerprint = || {
            let json = Some(&bytes).filter(|_| is_json).and_then(|bytes| serde_json::from_slice(bytes).ok());
            print(&query, &bytes, json)
        };
        let print = if bytes.len() > busy::BYTES { busy::in_place(fingerprint) } else { fingerprint() };
        head.extensions.insert(IsRead);
        Ok((Once { scope, caller: caller.clone(), print, run: None }, Request::from_parts(head, bytes.into())))
    }

    /// Handles a submission, which finds its run again by the key.
    async fn claimed(
        mut self,
        (site, runs): (&Site, &Engine),
        mut request: Request,
        next: Next,
    ) -> Result<Response, Problem> {
        let response_mode = ResponseMode::read(request.headers())?;
        // Held until the response is stored, so that all requests sent at the same moment get
        // that one. A response that waits for the run's end is not waited for: those requests
        // find the run by its claim.
        let _turn = match response_mode {
            ResponseMode::Accepted => Some(site.keys.turn(&self.scope).await),
            ResponseMode::Ended(_) | ResponseMode::Stream => None,
        };
        if let Some(answer) = self.look_up((site, runs), response_mode).await? {
            return Ok(answer.into());
        }
        let path = request.uri().path().to_owned();
        request.extensions_mut().insert(self.clone());
        let response = next.run(request).await;
        if self.run.is_some() || is_passing(response.status()) {
            return Ok(response);
        }
        let run = run_of(&path, response.headers()).map(Arc::from);
        let (response, answer) = match response_mode {
            ResponseMode::Ended(_) | ResponseMode::Stream if run.is_some() => (response, None),
            ResponseMode::Accepted | ResponseMode::Ended(_) | ResponseMode::Stream => read_answer(response).await,
        };
        let is_refusal = run.is_none();
        let is_whole = is_refusal || response_mode == ResponseMode::Accepted;
        if self.keep(site, 0, Kept { print: self.print.clone(), run, answer }).await == Keeping::Late && is_whole {
            // Of several answers to the same request, the first that was stored is given to all.
            let first = self.kept(site).await?.and_then(|kept| kept.answer);
            return Ok(first.map_or(response, Response::from));
        }
        Ok(response)
    }

    /// Returns the stored response that answers the request again, or notes the run that it made.
    async fn look_up(
        &mut self,
        (site, runs): (&Site, &Engine),
        response_mode: ResponseMode,
    ) -> Result<Option<Answer>, Problem> {
        let kept = match self.kept(site).await {
            // A run that was made still holds the key, even when its response is unknown.
            Err(problem) if problem.code() == Code::OutcomeUnknown => None,
            kept => kept?,
        };
        let Some(Kept { run, answer, .. }) = kept else { return Ok(None) };
        // A client that waits or streams gets the same run in its current state. If that is not kept any longer,
        // there is no more to say than was said first.
        let is_followed = match &run {
            Some(run) if response_mode != ResponseMode::Accepted => runs.is_kept(run).await? || answer.is_none(),
            Some(_) | None => answer.is_none(),
        };
        if is_followed {
            self.run = run;
            return Ok(None);
        }
        Ok(answer)
    }

    /// Handles any other route: executed in a task of its own, because a client that hangs
    /// up must not leave it half done.
    async fn recorded(
        self,
        (site, runs): (Arc<Site>, Engine),
        request: Request,
        next: Next,
    ) -> Result<Response, Problem> {
        let turn = site.keys.turn(&self.scope).await;
        let run: Option<Arc<str>> = run_of(request.uri().path(), request.headers()).map(Arc::from);
        let begun = Kept { print: self.print.clone(), run, answer: None };
        if let Some(kept) = self.begin(&site, &begun).await? {
            let answer = kept.answer.ok_or_else(unknown)?;
            if let Some(begun) = answer.begun().filter(|_| openai::is_path(request.uri().path())) {
                // The answer is given once more, from what was begun.
                let mut request = request;
                request.extensions_mut().insert(begun);
                return Ok(next.run(request).await);
            }
            return repeated((&site, &runs), &self.caller, answer, request.headers()).await;
        }
        let owner = site.clone();
        let done = async move {
            let response = next.run(request).await;
            let response = self.settle(&site, begun, response).await;
            drop(turn);
            response
        };
        owner.keys.spawn(done).await.map_err(|_| stopping())
    }

    /// Stores that the request has begun; returns what is stored of it if it had begun before. What another node
    /// does at this moment is waited for.
    async fn begin(&self, site: &Site, begun: &Kept) -> Result<Option<Kept>, Problem> {
        let kept = match self.kept(site).await? {
            None => match begun.append(&*site.engine().seams().log, &self.scope, 0, site.now()).await {
                Err(log::Error::Fenced) => self.kept(site).await?,
                stored => return Ok(stored.map(|()| None)?),
            },
            kept => kept,
        };
        let is_open = kept.as_ref().is_some_and(|kept| kept.answer.is_none());
        if !is_open || site.engine().is_alone() {
            return Ok(kept);
        }
        let answered = async {
            let mut news = site.engine().seams().log.news(&kept::name(&self.scope));
            loop {
                let kept = self.kept(site).await?;
                if kept.as_ref().is_none_or(|kept| kept.answer.is_some()) {
                    return kept.ok_or_else(unknown).map(Some);
                }
                let _looked = timeout(LOOK_EVERY, news.changed()).await;
            }
        };
        // A node that is gone never answers.
        timeout(PATIENCE, answered).await.unwrap_or(Ok(kept))
    }

    /// Stores a response, or forgets the request when it may be tried again.
    async fn settle(&self, site: &Site, begun: Kept, response: Response) -> Response {
        if is_passing(response.status()) {
            if let Err(error) = kept::forget(&*site.engine().seams().log, &self.scope).await {
                tracing::warn!(%error, "cannot free an idempotency key");
            }
            return response;
        }
        let made: Option<Arc<str>> = run_of("", response.headers()).map(Arc::from);
        let message = response.extensions().get::<Streamed>().map(|Streamed(accepted)| Answer::message(accepted));
        let (response, answer) = read_answer(response).await;
        // A stream is stored as the id of the run or turn that it streams.
        let answer = answer.or(message).or_else(|| made.as_deref().map(Answer::accepted));
        self.keep(site, 1, Kept { answer, run: made.or(begun.run), ..begun }).await;
        response
    }

    async fn keep(&self, site: &Site, expected: log::Seq, kept: Kept) -> Keeping {
        match kept.append(&*site.engine().seams().log, &self.scope, expected, site.now()).await {
            Ok(()) => Keeping::Done,
            // Another request with the same key was faster.
            Err(log::Error::Fenced) => Keeping::Late,
            Err(error) => {
                tracing::warn!(%error, "cannot keep the answer for an idempotency key");
                Keeping::Failed
            }
        }
    }

    /// Returns the stored state of this key, which must belong to the same request.
    async fn kept(&self, site: &Site) -> Result<Option<Kept>, Problem> {
        let kept = match Kept::find(&*site.engine().seams().log, &self.scope).await {
            Err(error @ log::Error::Damaged { .. }) => {
                tracing::error!(%error, "what is kept for an idempotency key cannot be read");
                return Err(unknown());
            }
            found => found?,
        };
        if kept.as_ref().is_some_and(|kept| kept.print != self.print) { Err(conflict()) } else { Ok(kept) }
    }

    /// Returns the run that the first such request made.
    pub(crate) async fn first(&self, runs: &Engine) -> Result<Option<Arc<str>>, Problem> {
        if self.run.is_some() {
            return Ok(self.run.clone());
        }
        let [same, any] = self.claims();
        // The key is looked up first: both claims are made at once, so a run that holds the
        // key by now holds this request too, if it belongs to it.
        let Some(run) = runs.holder(&any).await? else { return Ok(None) };
        if runs.holder(&same).await?.is_some_and(|holder| holder == run) {
            return Ok(Some(run));
        }
        // Erased between the two lookups: the key is free again.
        if runs.holder(&any).await?.is_some() { Err(conflict()) } else { Ok(None) }
    }

    /// Submits a run, or finds the one the first such request made.
    pub(crate) async fn submit(&self, (site, runs): (&Site, &Engine), compiled: Compiled) -> Result<Arc<str>, Problem> {
        // A lock other than the response's, which this request may hold already.
        let _turn = site.keys.turn(&format!("{}\n{SUBMISSION}", self.scope)).await;
        if let Some(run) = self.first(runs).await? {
            return Ok(run);
        }
        match runs.submit(NewRun::new(compiled).claiming(self.claims())).await {
            Err(error @ engine::Error::Log(log::Error::Claimed { .. })) => {
                self.first(runs).await?.ok_or_else(|| error.into())
            }
            submitted => Ok(submitted?),
        }
    }

    /// Returns one claim for this exact request, and one for the key with any request.
    fn claims(&self) -> [String; 2] {
        [format!("{}\n{}", self.scope, self.print), self.scope.clone()]
    }
}

/// Repeats a response: a client that wants the frames of the work that the first
/// request started gets them, any other gets the first response.
async fn repeated(
    (site, runs): (&Site, &Engine),
    caller: &Caller,
    answer: Answer,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    if !accepts(headers, "text/event-stream") {
        return Ok(answer.into());
    }
    match answer.begun() {
        Some(Begun::Run(run)) => submit::streamed((site, runs), &run).await,
        Some(Begun::Turn { thread, turn }) => threads::streamed(site, caller, &thread, turn).await,
        None => Ok(answer.into()),
    }
}

/// Returns a fingerprint, which is equal for equivalent bodies of JSON.
fn print(query: &str, body: &Bytes, json: Option<serde_json::Value>) -> String {
    let mut digest = Sha256::new();
    digest.update(query);
    digest.update("\n");
    match json {
        // Written as it is made: a digest takes whatever it is given.
        Some(json) => serde_json::to_writer(&mut digest, &json).unwrap_or_default(),
        None => digest.update(body),
    }
    digits(&digest.finalize())
}

/// Returns whether the same request may get another response a moment later.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

/// Returns a response, and a copy of it to store; streams are not stored.
async fn read_answer(response: Response) -> (Response, Option<Answer>) {
    let (head, body) = response.into_parts();
    if is_event_stream(&head.headers) {
        return (Response::from_parts(head, body), None);
    }
    // A response that is no stream was complete before it came here.
    let bytes = body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let answer = Answer::new(&head, &bytes);
    (Response::from_parts(head, Body::from(bytes)), answer)
}

/// Returns the problem of work that ends with the server.
pub(crate) fn stopping() -> Problem {
    Problem::new(Code::Unavailable, "the server is stopping")
}

fn conflict() -> Problem {
    let message = "this Idempotency-Key was sent with another body before";
    Problem::new(Code::IdempotencyConflict, message)
}

fn unknown() -> Problem {
    let message = "the server stopped while it did this, or cannot read what came of it, so that is unknown: look \
        before you ask for it again with another Idempotency-Key";
    Problem::new(Code::OutcomeUnknown, message)
}
