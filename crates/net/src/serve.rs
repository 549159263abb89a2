//! Performs the requests of peers. A request becomes a run of its own kind, in its own pool of slots,
//! claimed by its id in the log: the same request is never performed twice, across links and restarts, and
//! a repeated request gets the same answer. A request for which no requester waits any more is stopped.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use consort_core::compile::Compiled;
use consort_core::decide::Command;
use consort_core::event::{CancelMode, End};
use consort_core::owner::Sight;
use consort_core::run::Run;
use consort_core::spec::{Asked, Kind};
use consort_log as log;
use consort_runtime::admission::{Capacity, Keep, Pool};
use consort_runtime::engine::{self, Engine, NewRun};
use futures::future::BoxFuture;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::cache::Cache;
use crate::progress;
use crate::requesters::Requesters;
use crate::share::{PeerRunFactory, Share};
use crate::wire::{Accepted, Capability, Frame, Response, Route, Span, Spent, Status, WEBSOCKET};
use crate::work::{Load, Replies, Request, RequestName, Work};

/// The maximum number of requests that wait for a slot; more are rejected.
const QUEUED_MAX: usize = 1024;
/// The number of ended requests that are remembered, so that they are not performed twice.
const KEPT: usize = 10_000;
/// The number of withdrawn requests that are remembered; they matter only for a moment.
const WITHDRAWN_MAX: usize = 1024;
/// The author of the stop of a withdrawn, abandoned or late request.
const REQUESTER: &str = "the ensemble that asked";
const NOBODY: &str = "nobody waits for it any more";
const LATE: &str = "its deadline has passed";
/// The wait for a repeated request's answer before the log is read again: another process may own the run.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// The default number of requests of peers performed at the same time.
pub const MAX_CONCURRENT: usize = 32;

/// Returns the pool settings of work for peers, with this many runs at once.
pub fn pool(max_concurrent: usize) -> Pool {
    Pool { capacity: Capacity { running: max_concurrent, queued: QUEUED_MAX }, keep: Keep::Newest(KEPT) }
}

/// Performs the requests of peers. Clones share everything.
#[derive(Clone)]
pub struct Serve {
    inner: Arc<Inner>,
    /// The task that stops abandoned requests; it does not hold itself.
    #[expect(dead_code, reason = "held for being dropped")]
    tending: Option<Arc<JoinSet<()>>>,
}

struct Inner {
    /// The name of this ensemble.
    name: String,
    run_factory: PeerRunFactory,
    engine: Engine,
    max_concurrent: usize,
    draining: AtomicBool,
    cache: Mutex<Cache>,
    /// Requests that were withdrawn, the latest last: a withdrawal
    /// may arrive before the request it concerns is stored.
    withdrawn: Mutex<VecDeque<RequestName>>,
    /// The requesters that wait.
    requesters: Arc<Requesters>,
}

impl Serve {
    /// Returns the worker of the ensemble of this name, whose runs the engine performs
    /// in a pool of their own: see [`pool`]. To be called where tasks can be spawned.
    pub fn new(name: &str, run_factory: PeerRunFactory, engine: Engine, max_concurrent: usize) -> Serve {
        let inner = Arc::new(Inner {
            name: name.to_owned(),
            run_factory,
            engine,
            max_concurrent,
            draining: AtomicBool::new(false),
            cache: Mutex::default(),
            withdrawn: Mutex::default(),
            requesters: Arc::default(),
        });
        let mut tending = JoinSet::new();
        tending.spawn(Serve { inner: inner.clone(), tending: None }.tend());
        Serve { inner, tending: Some(Arc::new(tending)) }
    }

    /// Returns the engine that performs the work.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.inner.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(self, request: Request, replies: Replies) {
        let response = match self.refusal(&request) {
            Some(refusal) => refusal,
            None => self.work(&request, &replies).await,
        };
        replies.send(request.answer(response)).await;
    }

    /// Returns the rejection of a request that is not accepted, whatever it asks for.
    fn refusal(&self, request: &Request) -> Option<Response> {
        let (id, route, is_task) = match request {
            Request::Task(task) => (&task.request_id, &task.route, true),
            Request::Tool(tool) => (&tool.request_id, &tool.route, false),
        };
        if self.inner.draining.load(Ordering::Acquire) && !route.resumed {
            return Some(Response::rejected(
                id,
                format!("Ensemble is DRAINING: {} takes no more work on", self.inner.name),
            ));
        }
        if let Request::Task(task) = request
            && let Some(delivery) = task.delivery.as_ref().filter(|delivery| delivery.method != WEBSOCKET)
        {
            let method = &delivery.method;
            return Some(Response::rejected(id, format!("delivery by {method} is not offered here, only {WEBSOCKET}")));
        }
        // A tool calls no other ensemble, so only tasks can form a cycle.
        let looped = is_task && route.ancestors.contains(&self.inner.name);
        looped.then(|| Response::failed(id, circle(route, &self.inner.name)))
    }

    async fn work(&self, request: &Request, replies: &Replies) -> Response {
        let now = self.inner.engine.seams().clock.now();
        let cached = match request {
            Request::Task(task) => self.cache().find(&replies.by, task, now),
            Request::Tool(_) => None,
        };
        let id = request.id();
        if let Some(response) = cached {
            accept(request, 0, replies).await;
            return Response { request_id: id.to_owned(), ..response };
        }
        let requester = self.inner.requesters.join(&replies.named(id), replies.patience);
        let began = Instant::now();
        let begun = self.begin(request, replies).await;
        let response = match begun {
            Ok(run) => self.in_time(request, (&run, began), replies).await,
            Err(refusal) => refusal,
        };
        requester.answered();
        if let Request::Task(task) = request {
            self.cache().keep((&replies.by, task), &response, now);
        }
        response
    }

    /// Returns the run of the request: a new one, or the one that performed or performs it already.
    async fn begin(&self, request: &Request, replies: &Replies) -> Result<Arc<str>, Response> {
        let id = request.id();
        let engine = &self.inner.engine;
        let name = replies.named(id);
        let claim = name.claim();
        if request.route().resumed {
            let known = engine.holder(&claim).await.map_err(|error| unavailable(id, &error))?;
            let run = known.ok_or_else(|| forgotten(id))?;
            self.known_already(request, &run, replies).await?;
            return Ok(run);
        }
        let compiled = match self.compile(request, replies) {
            Ok(compiled) => compiled,
            Err(why) => {
                accept(request, 0, replies).await;
                return Err(Response::failed(id, why));
            }
        };
        let on_behalf = engine.seen_with(Sight::All(name.by.clone()));
        match on_behalf.submit(NewRun::new(compiled).claiming([claim])).await {
            Ok(run) => {
                self.accepted(request, &run, replies, name).await;
                Ok(run)
            }
            Err(engine::Error::Log(log::Error::Claimed { by, .. })) => {
                self.known_already(request, &by, replies).await?;
                Ok(by.into())
            }
            Err(engine::Error::Busy { .. }) => Err(Response::rejected(id, "too many requests wait here already")),
            Err(error) => Err(unavailable(id, &error)),
        }
    }

    /// Reports that a new run performs the request, and stops the run if its request was withdrawn meanwhile.
    async fn accepted(&self, request: &Request, run: &str, replies: &Replies, name: RequestName) {
        let position = self.inner.engine.queue_position(run).unwrap_or(0);
        accept(request, position as u64, replies).await;
        if self.is_withdrawn(&name) {
            self.clone().stop(name, REQUESTER).await;
        }
    }

    /// Reports that a repeated request is under way, if it still is; rejects a different request with the same id.
    async fn known_already(&self, request: &Request, run: &str, replies: &Replies) -> Result<(), Response> {
        let id = request.id();
        let run = self.inner.engine.run(run).await.map_err(|error| unavailable(id, &error))?;
        let asked = run.spec().origin.as_ref().and_then(|origin| origin.asked.as_ref());
        if asked.is_some_and(|asked| asked.digest != request.digest()) {
            return Err(Response::taken(id));
        }
        if !run.ended() {
            replies.send(request.answer(Response::new(id, Status::InProgress))).await;
        }
        Ok(())
    }

    fn compile(&self, request: &Request, replies: &Replies) -> Result<Compiled, String> {
        let mut compiled = match request {
            Request::Task(task) => self.inner.run_factory.task(task),
            Request::Tool(tool) => self.inner.run_factory.tool(tool),
        }?;
        if let Some(origin) = &mut compiled.spec.origin {
            let patience_ms = replies.patience.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
            let asked = Asked { id: request.id().to_owned(), digest: request.digest(), patience_ms };
            Arc::make_mut(origin).asked = Some(asked);
        }
        Ok(compiled)
    }

    /// Waits for a run to end, and stops it at the requester's deadline, also when it has not started yet.
    async fn in_time(&self, request: &Request, (run, began): (&str, Instant), replies: &Replies) -> Response {
        let Some(Span(deadline)) = request.deadline() else { return self.watched(request, run, replies).await };
        let left = deadline.saturating_sub(began.elapsed());
        let response = match timeout(left, self.watched(request, run, replies)).await {
            Ok(response) => response,
            Err(_elapsed) => {
                self.clone().stop(replies.named(request.id()), LATE).await;
                self.outcome(request.id(), run).await
            }
        };
        if response.status == Status::Failed && began.elapsed() >= deadline {
            return Response {
                error: Some(format!("it was not done within its deadline of {deadline:?}")),
                ..response
            };
        }
        response
    }

    /// Waits for a run to end and returns its result; for a task it also reports progress.
    async fn watched(&self, request: &Request, run: &str, replies: &Replies) -> Response {
        let outcome = self.outcome(request.id(), run);
        match request {
            Request::Tool(_) => outcome.await,
            Request::Task(_) => tokio::select! {
                biased;
                response = outcome => response,
                never = progress::tell(&self.inner.engine, run, request.id(), replies) => match never {},
            },
        }
    }

    /// Waits for a run to end and returns its result.
    async fn outcome(&self, id: &str, run: &str) -> Response {
        loop {
            let look = |state: &Run| state.ended().then(|| response_of(id, state));
            match self.inner.engine.at_its_end(run, look).await {
                Ok(Some(response)) => return response,
                Ok(None) => tokio::time::sleep(LOOK_AGAIN).await,
                Err(error) => return unavailable(id, &error),
            }
        }
    }

    /// Stops abandoned requests, including those that a previous process had started.
    async fn tend(self) {
        self.find_unfinished().await;
        loop {
            for request in self.inner.requesters.unwanted().await {
                tracing::info!(request_id = request.id, by = %request.by, "nobody waits for this any more");
                self.clone().stop(request, NOBODY).await;
            }
        }
    }

    /// Registers the runs already under way: their requesters may come back.
    async fn find_unfinished(&self) {
        let kind = Some(Kind::Peer.word().to_owned());
        let limit = QUEUED_MAX + self.inner.max_concurrent;
        let query = log::Query { kind, ended: Some(false), limit, ..log::Query::default() };
        let unfinished = match self.inner.engine.list(query).await {
            Ok(page) => page.rows,
            Err(error) => return tracing::warn!(%error, "cannot look up what is done for peers"),
        };
        for (run, _) in unfinished {
            let Ok(run) = self.inner.engine.run(&run).await else { continue };
            let asked = run.spec().origin.as_ref().and_then(|origin| origin.asked.as_ref());
            if let Some((id, patience_ms)) = asked.and_then(|asked| Some((&asked.id, asked.patience_ms?))) {
                let name = RequestName { by: run.owner().clone(), id: id.clone() };
                self.inner.requesters.found(name, Duration::from_millis(patience_ms));
            }
        }
    }

    fn is_withdrawn(&self, name: &RequestName) -> bool {
        self.withdrawn().contains(name)
    }

    fn withdrawn(&self) -> MutexGuard<'_, VecDeque<RequestName>> {
        self.inner.withdrawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn withdraw(&self, name: RequestName) {
        let mut withdrawn = self.withdrawn();
        if withdrawn.len() >= WITHDRAWN_MAX {
            withdrawn.pop_front();
        }
        withdrawn.push_back(name);
    }

    async fn stop(self, request: RequestName, by: &str) {
        let command = Command::Cancel { mode: CancelMode::Now, by: by.to_owned() };
        match self.inner.engine.holder(&request.claim()).await {
            Ok(Some(run)) => {
                let _over = self.inner.engine.command(&run, command).await;
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(request_id = request.id, %error, "cannot look up what is to be cancelled"),
        }
    }
}

impl Work for Serve {
    fn shared(&self) -> Vec<Capability> {
        self.inner.run_factory.shares.iter().map(Share::capability).collect()
    }

    fn load(&self) -> Load {
        let load = self.inner.engine.load(Kind::Peer);
        let draining = self.inner.draining.load(Ordering::Acquire);
        Load { active: load.active + load.queued, max: self.inner.max_concurrent, draining }
    }

    fn serve(&self, request: Request, replies: Replies) -> BoxFuture<'static, ()> {
        Box::pin(self.clone().answer(request, replies))
    }

    fn drain(&self) {
        self.inner.draining.store(true, Ordering::Release);
    }

    fn cancel(&self, request: RequestName) -> BoxFuture<'static, ()> {
        self.withdraw(request.clone());
        Box::pin(self.clone().stop(request, REQUESTER))
    }
}

/// Sends the acceptance of a task; a tool call gets only its answer.
async fn accept(request: &Request, queue_position: u64, replies: &Replies) {
    if let Request::Task(task) = request {
        let request_id = task.request_id.clone();
        let queue_position = Some(queue_position);
        replies.send(Frame::TaskAccepted(Accepted { request_id, queue_position, estimated_completion: None })).await;
    }
}

fn circle(route: &Route, name: &str) -> String {
    let way = route.ancestors.join(" → ");
    format!("this would go round in circles ({way} → {name}): {name} is already part of this request; do it yourself")
}

fn forgotten(id: &str) -> Response {
    let why = "the request is not known here: it never arrived, or is no longer remembered";
    Response { unknown: true, ..Response::failed(id, why) }
}

fn unavailable(id: &str, error: &engine::Error) -> Response {
    Response::rejected(id, format!("nothing can be stored here just now: {error}"))
}

/// Returns the response for a run that has ended.
fn response_of(id: &str, run: &Run) -> Response {
    let result = run.answer().map(str::to_owned);
    let status = if run.error().is_none() && result.is_some() { Status::Completed } else { Status::Failed };
    let error = (status == Status::Failed).then(|| reason(run));
    Response {
        result: result.filter(|_| status == Status::Completed),
        error,
        duration_ms: Some(run.took_ms()),
        unknown: status == Status::Failed && run.in_doubt() > 0,
        usage: Some(Spent::from(run.spent())),
        truncated: status == Status::Completed && run.cut_note().is_some(),
        ..Response::new(id, status)
    }
}

/// Returns the reason why a run has no result: the error of its task, or of the run.
fn reason(run: &Run) -> String {
    let words = run.failures().last().map(str::to_owned).or_else(|| run.error().map(str::to_owned));
    let ended = match run.end() {
        Some(End::Completed { .. }) => "it was ended before it had an answer",
        Some(End::Cancelled | End::Failed { .. }) | None => "Cancelled",
    };
    words.unwrap_or_else(|| ended.to_owned())
}
