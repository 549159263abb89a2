//! Refused requests: each is written down and counted, and an address that is refused
//! more than 20 times within a minute waits for every further refusal. A client with a
//! valid key is never slowed.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use consort_runtime::meters::{Meter, Meters};
use strum::IntoStaticStr;
use tokio::time::Instant;

use crate::connections::{Connection, network};
use crate::problem::{Code, Problem, RequestId};

/// Refusals of one address within [`WINDOW`] that are answered at once.
const FREE_MAX: usize = 20;
/// The time in which refusals are counted.
const WINDOW: Duration = Duration::from_mins(1);
/// The time that each further refusal waits.
const WAIT: Duration = Duration::from_secs(1);
/// Refusals of one address that wait at the same time: each occupies a connection.
const WAITING_MAX: usize = 10;
/// Addresses that are counted separately, some hundred bytes each; the others count together.
const ADDRESSES_MAX: usize = 4096;
/// Bytes of an unknown path that are written down.
const PATH_MAX: usize = 200;

/// The reason why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Reason {
    /// It came without a key, or with an unknown one.
    Unauthorized,
    /// Its key does not allow it, or no key does.
    Forbidden,
    /// It was meant for another host.
    Host,
    /// A page of a foreign origin sent it.
    Origin,
    /// A socket showed no valid key in its first frame.
    SocketAuth,
    /// Its address had too many connections without an authorised request.
    Connections,
}

impl Reason {
    fn word(self) -> &'static str {
        self.into()
    }
}

/// A refusal; an extension of the response.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// The reason.
    pub reason: Reason,
    /// Whether the client sent a valid key, or was let in without one.
    pub is_known: bool,
}

impl Refusal {
    /// Returns the refusal that a response is, if it is one.
    fn of(response: &Response) -> Option<Refusal> {
        let marked = response.extensions().get::<Refusal>().copied();
        // A handler refused it: the client was let in before.
        let admitted = |reason| Some(Refusal { reason, is_known: true });
        marked.or_else(|| match response.status() {
            StatusCode::UNAUTHORIZED => admitted(Reason::Unauthorized),
            StatusCode::FORBIDDEN => admitted(Reason::Forbidden),
            _ => None,
        })
    }
}

/// The origin of a request, and its target.
#[derive(Clone)]
pub struct Source {
    connection: Option<Arc<Connection>>,
    address: IpAddr,
    request_id: Option<RequestId>,
    method: Method,
    route: Route,
}

/// The target of a request. It keeps nothing of the request itself: what was read of a connection stays in memory as long
/// as a part of it does, and a socket keeps its source.
#[derive(Clone)]
enum Route {
    Matched(MatchedPath),
    /// The beginning of a path that has no route.
    Unknown(Arc<str>),
}

impl Route {
    fn of(request: &Request) -> Route {
        let unknown = || {
            let path = request.uri().path();
            path.get(..path.floor_char_boundary(PATH_MAX)).unwrap_or(path).into()
        };
        request.extensions().get().cloned().map_or_else(|| Route::Unknown(unknown()), Route::Matched)
    }

    fn text(&self) -> &str {
        match self {
            Route::Matched(route) => route.as_str(),
            Route::Unknown(path) => path,
        }
    }
}

impl Source {
    /// Returns the origin of a request.
    pub fn of(request: &Request) -> Source {
        let extensions = request.extensions();
        let connection = extensions.get::<Arc<Connection>>().cloned();
        let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Source {
            address: connection.as_ref().map_or(nobody, |connection| connection.client(request.headers())),
            connection,
            request_id: extensions.get().cloned(),
            method: request.method().clone(),
            route: Route::of(request),
        }
    }

    /// Stops counting its connection, because the request was authorised.
    pub fn authorise(&self) {
        self.connection.iter().for_each(|connection| connection.authorise());
    }

    /// Returns the route, or the beginning of a path that has none.
    fn route(&self) -> &str {
        self.route.text()
    }
}

/// The refusals of each address.
#[derive(Clone)]
pub struct Refusals {
    meters: Meters,
    records: Arc<Mutex<Records>>,
}

type Records = HashMap<Option<IpAddr>, Record>;

/// The refusals of one address; those of addresses that found no room count together.
#[derive(Debug, Default)]
struct Record {
    /// When it was refused, the newest last.
    recent: VecDeque<Instant>,
    /// Refusals that wait at the moment.
    waiting: usize,
}

impl Record {
    /// Returns whether more refusals are within the window than are answered at once.
    fn is_slowed(&self, now: Instant) -> bool {
        self.recent.len() >= FREE_MAX && self.recent.front().is_some_and(|first| now - *first < WINDOW)
    }

    fn is_over(&self, now: Instant) -> bool {
        self.waiting == 0 && self.recent.back().is_none_or(|last| now - *last >= WINDOW)
    }
}

/// When a refusal is answered.
pub enum Pace {
    /// Now.
    AtOnce,
    /// In a while.
    Slowed(Waiting),
    /// Not at all: too many of the address wait already.
    TooMany,
}

/// One refusal that waits.
pub struct Waiting {
    records: Arc<Mutex<Records>>,
    address: Option<IpAddr>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(record) = locked(&self.records).get_mut(&self.address) {
            record.waiting = record.waiting.saturating_sub(1);
        }
    }
}

impl Pace {
    /// Waits until the refusal may be answered; an error is the answer instead.
    pub async fn wait(self) -> Result<(), Problem> {
        match self {
            Pace::AtOnce => Ok(()),
            Pace::Slowed(_waiting) => {
                tokio::time::sleep(WAIT).await;
                Ok(())
            }
            Pace::TooMany => {
                let message = "too many requests of this address were refused: wait, or send a valid key";
                let wait_ms = u64::try_from(WAIT.as_millis()).unwrap_or(u64::MAX);
                Err(Problem::new(Code::TooManyRefusals, message).retried_after(wait_ms))
            }
        }
    }
}

impl Refusals {
    /// Creates the record of refusals, which none has been noted in.
    pub fn new(meters: Meters) -> Refusals {
        Refusals { meters, records: Arc::default() }
    }

    /// Returns a response as it is, unless it is a refusal: that is written down, and waits
    /// when its address was refused too often.
    pub async fn answer(&self, source: &Source, response: Response) -> Response {
        let Some(refusal) = Refusal::of(&response) else { return response };
        match self.note(source, refusal).wait().await {
            Ok(()) => response,
            Err(problem) => problem.into_response(),
        }
    }

    /// Writes a refusal down and counts it.
    pub fn note(&self, source: &Source, refusal: Refusal) -> Pace {
        self.meters.add(Meter::Refusals, &[("reason", refusal.reason.word())], 1);
        let pace = if refusal.is_known { Pace::AtOnce } else { self.pace(source.address, Instant::now()) };
        // A request answered with 429 is only counted: the log must not grow as fast as a client can guess keys.
        if !matches!(pace, Pace::TooMany) {
            self.write(source, source.method.as_str(), source.route(), refusal.reason);
        }
        pace
    }

    /// Writes down a frame that a client may not send; it has shown a key, so it does not wait.
    pub fn note_frame(&self, source: &Source, kind: &str) {
        self.meters.add(Meter::Refusals, &[("reason", Reason::Forbidden.word())], 1);
        self.write(source, "WS", kind, Reason::Forbidden);
    }

    /// Counts a connection that was closed before a request came.
    pub fn note_connection(&self, address: IpAddr) {
        self.meters.add(Meter::Refusals, &[("reason", Reason::Connections.word())], 1);
        if matches!(self.pace(address, Instant::now()), Pace::AtOnce) {
            let reason = Reason::Connections.word();
            tracing::warn!(target: "audit", %address, reason, "a connection was refused");
        }
    }

    fn write(&self, source: &Source, method: &str, route: &str, reason: Reason) {
        let address = source.address;
        let reason = reason.word();
        let request_id = source.request_id.as_ref().map(RequestId::as_str);
        tracing::warn!(target: "audit", request_id, %address, method, route, reason, "a request was refused");
    }

    /// Counts a refusal of this address and returns when it is answered.
    fn pace(&self, address: IpAddr, now: Instant) -> Pace {
        let mut records = locked(&self.records);
        let mut key = Some(network(address));
        if records.len() >= ADDRESSES_MAX && !records.contains_key(&key) {
            records.retain(|_, record| !record.is_over(now));
            if records.len() >= ADDRESSES_MAX {
                key = None;
            }
        }
        let record = records.entry(key).or_default();
        let is_slowed = record.is_slowed(now);
        if record.recent.len() >= FREE_MAX {
            record.recent.pop_front();
        }
        record.recent.push_back(now);
        if !is_slowed {
            return Pace::AtOnce;
        }
        if record.waiting >= WAITING_MAX {
            return Pace::TooMany;
        }
        record.waiting += 1;
        Pace::Slowed(Waiting { records: self.records.clone(), address: key })
    }
}

fn locked(records: &Mutex<Records>) -> MutexGuard<'_, Records> {
    records.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusals() -> Refusals {
        Refusals::new(Meters::default())
    }

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from_bits(number).into()
    }

    #[tokio::test(start_paused = true)]
    async fn twenty_in_a_minute_are_free_ten_more_wait_and_the_rest_is_sent_away() {
        let refusals = refusals();
        let now = Instant::now();
        let pace = |at: Instant| refusals.pace(address(1), at);
        assert!((0..FREE_MAX).all(|_| matches!(pace(now), Pace::AtOnce)));
        let waiting: Vec<Pace> = (0..WAITING_MAX).map(|_| pace(now)).collect();
        assert!(waiting.iter().all(|pace| matches!(pace, Pace::Slowed(_))));
        assert!(matches!(pace(now), Pace::TooMany));
        assert!(matches!(refusals.pace(address(2), now), Pace::AtOnce), "another address is not slowed");
        drop(waiting);
        let began = Instant::now();
        let slowed = pace(now + WINDOW / 2);
        assert!(matches!(slowed, Pace::Slowed(_)), "who has waited leaves room");
        assert!(slowed.wait().await.is_ok() && began.elapsed() == WAIT);
        assert!(matches!(pace(now + 2 * WINDOW), Pace::AtOnce), "a quiet minute later all is forgotten");
    }

    #[tokio::test]
    async fn a_steady_twenty_a_minute_never_waits_and_one_more_does() {
        let refusals = refusals();
        let now = Instant::now();
        let every = |step: Duration, address: IpAddr| {
            (0..100).filter(|at| !matches!(refusals.pace(address, now + step * *at), Pace::AtOnce)).count()
        };
        assert_eq!(every(WINDOW / 20, address(1)), 0);
        assert!(every(WINDOW / 21, address(2)) > 50);
    }

    #[test]
    fn more_addresses_than_are_remembered_count_together_and_old_ones_are_forgotten() {
        let refusals = refusals();
        let now = Instant::now();
        for number in 0..2 * ADDRESSES_MAX as u32 {
            refusals.pace(address(number), now);
        }
        assert!(locked(&refusals.records).len() <= ADDRESSES_MAX + 1);
        assert!(matches!(refusals.pace(address(0), now), Pace::AtOnce), "a known address keeps its own count");
        assert!(matches!(refusals.pace(address(u32::MAX), now), Pace::Slowed(_)));
        refusals.pace(address(u32::MAX), now + WINDOW);
        assert!(locked(&refusals.records).len() <= 2);
    }
}
