//! Tracks the requesters that wait for requests of peers. A request without a waiting requester for long enough is
//! reported as abandoned, so that no work goes on for an ensemble that is gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::work::RequestName;

/// The requests that have a waiting requester, or had one until recently.
#[derive(Default)]
pub(crate) struct Requesters {
    /// At most the work for peers under way and waiting, which its pool limits, and what was asked
    /// again lately; an entry goes with its last requester, or when its time is over.
    requests: Mutex<HashMap<RequestName, Waiting>>,
    /// Notified when a requester has left.
    left: Notify,
}

struct Waiting {
    requesters: usize,
    /// The time at which the request counts as abandoned, unless it is requested again.
    until: Option<Instant>,
}

/// A requester that waits for a request until this is dropped.
pub(crate) struct Requester {
    requesters: Arc<Requesters>,
    request: RequestName,
    patience: Option<Duration>,
    answered: bool,
}

impl Requesters {
    /// Registers a requester of a request. After the last one has
    /// left, the request stays for `patience`; absent: to its end.
    pub(crate) fn join(self: &Arc<Requesters>, request: &RequestName, patience: Option<Duration>) -> Requester {
        let mut requests = self.requests();
        let waiting = requests.entry(request.clone()).or_insert(Waiting { requesters: 0, until: None });
        waiting.requesters += 1;
        waiting.until = None;
        Requester { requesters: self.clone(), request: request.clone(), patience, answered: false }
    }

    /// Adds a request that was under way before anyone could wait for it here.
    pub(crate) fn found(&self, request: RequestName, patience: Duration) {
        let until = Some(Instant::now() + patience);
        self.requests().entry(request).or_insert(Waiting { requesters: 0, until });
        self.left.notify_one();
    }

    /// Returns the abandoned requests, once there are any.
    pub(crate) async fn unwanted(&self) -> Vec<RequestName> {
        loop {
            let first = self.requests().values().filter_map(|waiting| waiting.until).min();
            match first {
                Some(first) if first <= Instant::now() => return self.take(Instant::now()),
                Some(first) => tokio::select! {
                    () = sleep_until(first) => {}
                    () = self.left.notified() => {}
                },
                None => self.left.notified().await,
            }
        }
    }

    fn take(&self, now: Instant) -> Vec<RequestName> {
        let over = |waiting: &mut Waiting| waiting.until.is_some_and(|until| until <= now);
        self.requests().extract_if(|_, waiting| over(waiting)).map(|(request, _)| request).collect()
    }

    fn requests(&self) -> MutexGuard<'_, HashMap<RequestName, Waiting>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Requester {
    /// Marks the work as ended: no requester has to wait for it again.
    pub(crate) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Requester {
    fn drop(&mut self) {
        let mut requests = self.requesters.requests();
        let Some(waiting) = requests.get_mut(&self.request) else { return };
        waiting.requesters = waiting.requesters.saturating_sub(1);
        if waiting.requesters > 0 {
            return;
        }
        match self.patience.filter(|_| !self.answered) {
            Some(patience) => waiting.until = Some(Instant::now() + patience),
            None => drop(requests.remove(&self.request)),
        }
        drop(requests);
        self.requesters.left.notify_one();
    }
}
