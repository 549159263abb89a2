//! The calls that clients of older versions wait for: they are cancelled by another
//! message, which names them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::access::Caller;

/// The name of a call: unique among the calls of one caller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallId {
    /// The client, by the name that the handshake gave it.
    pub(super) session: String,
    /// The id of the request, as JSON.
    pub(super) request: String,
}

/// The open calls: one for each connection that waits at most.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<HashMap<CallName, Arc<Notify>>>>);

/// A call, told apart from those of other callers.
type CallName = (String, CallId);

/// An open call; it is forgotten when this is dropped.
pub(super) struct OpenCall {
    calls: Calls,
    name: CallName,
    cancelled: Arc<Notify>,
}

impl Calls {
    /// Notes a call that can be cancelled from now on.
    pub(super) fn open(&self, caller: &Caller, id: CallId) -> Arc<OpenCall> {
        let cancelled = Arc::new(Notify::new());
        let name = (caller.0.clone(), id);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), cancelled.clone());
        Arc::new(OpenCall { calls: self.clone(), name, cancelled })
    }

    /// Cancels a call of this caller, if it is open.
    pub(super) fn cancel(&self, caller: &Caller, id: &CallId) {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cancelled) = calls.get(&(caller.0.clone(), id.clone())) {
            cancelled.notify_one();
        }
    }
}

impl OpenCall {
    /// Returns when the client has cancelled it.
    pub(super) async fn cancelled(&self) {
        self.cancelled.notified().await;
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let mut calls = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A client may give another call the same id, against the rules: that one stays.
        if calls.get(&self.name).is_some_and(|open| Arc::ptr_eq(open, &self.cancelled)) {
            calls.remove(&self.name);
        }
    }
}
