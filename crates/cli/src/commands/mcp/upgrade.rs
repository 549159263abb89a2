//! Messages of an older version of the protocol in the newer one, and back.

use serde_json::{Map, Value, json};

/// The newer version.
pub(super) const VERSION: &str = "2026-07-28";
/// The key of the version in the metadata of a request.
pub(super) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// The key of what a client can do.
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
/// The key of the client's name.
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
/// The extension that long work is told with.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A client of an older version, as it has introduced itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Handshake {
    capabilities: Value,
    client: Value,
}

/// The questions that must be answered before a call continues.
#[derive(Debug, PartialEq)]
pub(super) struct Questions {
    /// The work that waits.
    pub(super) state: String,
    /// The questions by their ids, each a request of the protocol.
    pub(super) requests: Map<String, Value>,
}

impl Handshake {
    /// Reads the request with which clients of older versions begin.
    pub(super) fn read(message: &Value) -> Option<Handshake> {
        if message.get("method").and_then(Value::as_str) != Some("initialize") {
            return None;
        }
        let part = |name: &str| message.pointer(&format!("/params/{name}")).cloned().unwrap_or_else(|| json!({}));
        Some(Handshake { capabilities: part("capabilities"), client: part("clientInfo") })
    }

    /// Returns the same request in the newer version.
    pub(super) fn upgraded(&self, mut message: Value) -> Value {
        let meta = self.meta(&self.capabilities);
        if let Some(params) = params(&mut message)
            && let Value::Object(own) = params.entry("_meta").or_insert_with(|| json!({}))
        {
            own.extend(meta);
        }
        message
    }

    /// Returns the request that cancels work which waits.
    pub(super) fn cancelling(&self, task: &str) -> Value {
        let meta = self.meta(&json!({ "extensions": { TASKS: {} } }));
        json!({ "jsonrpc": "2.0", "id": format!("cancel-{task}"), "method": "tasks/cancel",
            "params": { "taskId": task, "_meta": meta } })
    }

    fn meta(&self, capabilities: &Value) -> Map<String, Value> {
        let meta = json!({ VERSION_KEY: VERSION, CAPABILITIES_KEY: capabilities, CLIENT_KEY: self.client });
        meta.as_object().cloned().unwrap_or_default()
    }
}

fn params(message: &mut Value) -> Option<&mut Map<String, Value>> {
    message.as_object_mut()?.entry("params").or_insert_with(|| json!({})).as_object_mut()
}

/// Returns what people are asked, when an answer asks for that.
pub(super) fn questions(answer: &Value) -> Option<Questions> {
    let result = answer.get("result")?;
    if result.get("resultType")?.as_str()? != "input_required" {
        return None;
    }
    let state = result.get("requestState")?.as_str()?.to_owned();
    Some(Questions { state, requests: result.get("inputRequests")?.as_object()?.clone() })
}

/// Returns the same call with what people have said.
pub(super) fn answered(mut message: Value, state: &str, responses: Map<String, Value>) -> Value {
    if let Some(params) = params(&mut message) {
        params.insert("requestState".to_owned(), state.into());
        params.insert("inputResponses".to_owned(), responses.into());
    }
    message
}

/// Returns an answer without what older versions do not know.
pub(super) fn downgraded(mut answer: Value) -> Value {
    if let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut) {
        result.shift_remove("resultType");
    }
    answer
}

/// Returns the headers that a message needs over HTTP: the newer version repeats there what it is about.
pub(super) fn headers(message: &Value, agreed: Option<&str>) -> Vec<(&'static str, String)> {
    let text = |place: &str| message.pointer(place).and_then(Value::as_str).map(str::to_owned);
    let own = message.pointer("/params/_meta").and_then(|meta| meta.get(VERSION_KEY)).and_then(Value::as_str);
    let version = own.or(agreed).map(|version| ("mcp-protocol-version", version.to_owned()));
    let is_newer = own.is_some();
    let method = text("/method").filter(|_| is_newer).map(|method| ("mcp-method", method));
    let name = text("/params/name").or_else(|| text("/params/taskId")).or_else(|| text("/params/uri"));
    let name = name.filter(|name| is_newer && is_plain(name)).map(|name| ("mcp-name", name));
    version.into_iter().chain(method).chain(name).collect()
}

/// Returns whether a header can hold a text as it is; the server's own names are such.
fn is_plain(text: &str) -> bool {
    text.trim() == text && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newer_version_repeats_in_headers_what_a_message_is_about() {
        let new = json!({ "method": "tools/call", "params": { "name": "add", "_meta": { VERSION_KEY: VERSION } } });
        let expected = [("mcp-protocol-version", VERSION), ("mcp-method", "tools/call"), ("mcp-name", "add")];
        assert_eq!(headers(&new, Some("2025-11-25")), expected.map(|(name, value)| (name, value.to_owned())));
        let old = json!({ "method": "tools/call", "params": { "name": "add" } });
        assert_eq!(headers(&old, Some("2025-11-25")), [("mcp-protocol-version", "2025-11-25".to_owned())]);
        assert_eq!(headers(&json!({ "method": "initialize", "params": {} }), None), []);
    }

    #[test]
    fn a_call_of_an_older_client_becomes_one_of_the_newer_version_and_keeps_its_own_metadata() {
        let begins = json!({ "method": "initialize", "params": { "capabilities": { "elicitation": {} } } });
        let handshake = Handshake::read(&begins).unwrap();
        let call = json!({ "id": 1, "method": "tools/call",
            "params": { "name": "add", "_meta": { "progressToken": 7 } } });
        let meta = &handshake.upgraded(call.clone())["params"]["_meta"];
        assert_eq!(meta["progressToken"], 7);
        assert_eq!((&meta[VERSION_KEY], &meta[CAPABILITIES_KEY]), (&json!(VERSION), &json!({ "elicitation": {} })));
        assert_eq!(Handshake::read(&call), None);
    }

    #[test]
    fn an_answer_that_asks_is_told_apart_and_answered_with_the_same_call() {
        let asks = json!({ "result": { "resultType": "input_required", "requestState": "run-1",
            "inputRequests": { "run-1-0": { "method": "elicitation/create", "params": { "message": "?" } } } } });
        let Questions { state, requests } = questions(&asks).unwrap();
        assert_eq!((state.as_str(), requests.len()), ("run-1", 1));
        let done = json!({ "id": 1, "result": { "resultType": "complete", "content": [] } });
        assert_eq!(questions(&done), None);
        assert_eq!(downgraded(done), json!({ "id": 1, "result": { "content": [] } }));
        let again = answered(json!({ "params": { "name": "x" } }), "run-1", Map::new());
        assert_eq!(again, json!({ "params": { "name": "x", "requestState": "run-1", "inputResponses": {} } }));
    }
}
