//! A message of a client, as far as it must be known before it is answered.

use axum::http::HeaderMap;
use serde_json::Value;

use super::{SESSION, calls::CallId};
use crate::Site;
use crate::access::Scope;
use crate::body;
use crate::offers::offers;

/// The code of a body that is no JSON.
const PARSE_ERROR: i32 = -32700;
/// The code of JSON that is no message.
const INVALID_REQUEST: i32 = -32600;
/// The beginning of the keys of the protocol's own metadata.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A message.
pub(super) struct Message {
    json: Value,
    /// The client of an older version, by the name that the handshake gave it.
    session: Option<String>,
}

impl Message {
    /// Reads a message; the error is a code of JSON-RPC and a reason.
    pub(super) fn read(bytes: &[u8], headers: &HeaderMap) -> Result<Message, (i32, String)> {
        let json = body::json(bytes).map_err(|reason| (PARSE_ERROR, format!("the body is not JSON: {reason}")))?;
        if json.is_array() {
            return Err((INVALID_REQUEST, "send one message at a time: there are no batches".to_owned()));
        }
        let is_message = json.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
        let is_told = ["method", "result", "error"].iter().any(|name| json.get(name).is_some());
        if !is_message || !is_told {
            let reason = "the body must be a message of JSON-RPC: an object with `jsonrpc` \"2.0\" and a `method`";
            return Err((INVALID_REQUEST, reason.to_owned()));
        }
        let is_of_kind = |name: &str, fits: fn(&Value) -> bool| json.get(name).is_none_or(fits);
        if !is_of_kind("id", |id| id.is_string() || id.is_i64() || id.is_u64()) {
            return Err((INVALID_REQUEST, "`id` must be a string or a whole number".to_owned()));
        }
        if !is_of_kind("params", Value::is_object) {
            return Err((INVALID_REQUEST, "`params` must be an object".to_owned()));
        }
        let session = headers.get(SESSION).and_then(|session| session.to_str().ok()).map(str::to_owned);
        Ok(Message { json, session })
    }

    fn method(&self) -> &str {
        self.json.get("method").and_then(Value::as_str).unwrap_or_default()
    }

    fn text(&self, place: &str) -> Option<&str> {
        self.json.pointer(place).and_then(Value::as_str)
    }

    /// Returns whether it is the request with which clients of older versions begin.
    pub(super) fn is_handshake(&self) -> bool {
        self.method() == "initialize"
    }

    /// Returns whether a tool is called.
    pub(super) fn is_call(&self) -> bool {
        self.method() == "tools/call"
    }

    /// Returns the scope that a key needs for it.
    pub(super) async fn scope(&self, site: &Site) -> Scope {
        match self.method() {
            "tools/call" => {
                let wanted = self.text("/params/name").unwrap_or_default();
                let called = offers(site).await.into_iter().find(|offer| offer.name() == wanted);
                called.map_or(Scope::Read, |offer| offer.scope())
            }
            "tasks/update" => Scope::Review,
            "tasks/cancel" => Scope::Run,
            _ => Scope::Read,
        }
    }

    /// Returns the call that it begins, where another message can cancel it: a client of a newer version leaves.
    pub(super) fn call(&self) -> Option<CallId> {
        let is_older = self.json.pointer("/params/_meta").and_then(|meta| meta.get(VERSION)).is_none();
        let id = self.json.get("id").filter(|_| self.is_call() && is_older)?;
        Some(CallId { session: self.session.clone()?, request: id.to_string() })
    }

    /// Returns the call that it cancels.
    pub(super) fn cancelled(&self) -> Option<CallId> {
        let id = self.json.pointer("/params/requestId").filter(|_| self.method() == "notifications/cancelled")?;
        Some(CallId { session: self.session.clone()?, request: id.to_string() })
    }
}
