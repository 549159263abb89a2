//! Every route of the description, asked by a key of every scope of the run's owner, of
//! another owner, and of one that sees all. An operation that does not say whose things it
//! is about, or that this table cannot ask, fails.

use consort_server::access::Scope;
use serde_json::{Value, json};

use super::{Side, ask, begun, first, get, post, thread, tracing};
use crate::client::{Answer, Here, start};

/// Operations that are not asked here: one ends the server, the other is what `frames` is about.
const ELSEWHERE: [&str; 2] = ["drain", "socket"];

/// A request, and the sign by which its answer shows that the thing was seen.
pub(super) enum Asked {
    /// A thing by its name, which is missing for those who do not see it.
    Named(String),
    /// A list, which holds this for those who see it.
    Listed(String, String),
    /// A new run, which belongs to the caller's owner.
    Run(String),
    /// Something of the caller's own, or of everybody.
    Anything(String),
}

impl Asked {
    pub(super) fn path(&self) -> &str {
        match self {
            Asked::Named(path) | Asked::Listed(path, _) | Asked::Run(path) | Asked::Anything(path) => path,
        }
    }
}

pub(super) struct Operation {
    pub(super) id: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) scope: String,
    whose: String,
    needs_body: bool,
}

/// Returns the operations that need a key; each must say whose things it is about.
pub(super) fn operations() -> Vec<Operation> {
    let openapi: Value = serde_json::from_str(include_str!("../../../../openapi.json")).unwrap();
    let mut operations = Vec::new();
    for (path, methods) in openapi["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap().to_owned();
            let text = |name: &str| operation[name].as_str().map(str::to_owned);
            if operation["security"] == json!([{}]) {
                assert_eq!((text("x-scope"), text("x-owner")), (None, None), "{id} is for everybody");
                continue;
            }
            let whose = text("x-owner").unwrap_or_else(|| panic!("{id} does not say whose things it is about"));
            assert!(["shared", "runs", "key"].contains(&whose.as_str()), "{id}: {whose}");
            operations.push(Operation {
                scope: text("x-scope").unwrap_or_else(|| panic!("{id} does not say what a key must allow")),
                needs_body: operation["requestBody"]["required"] == true,
                method: method.to_uppercase(),
                path: path.clone(),
                whose,
                id,
            });
        }
    }
    operations
}

/// Returns the body of a request that can be met.
pub(super) fn body(operation: &Operation, name: &str) -> Value {
    match operation.id.as_str() {
        "submitRun" | "runWorkflow" => json!({ "inputs": { "topic": "x" } }),
        "switchModel" => json!({ "model": "spare" }),
        "raiseBudget" => json!({ "maxTotalTokens": 1_000_000 }),
        "injectDirective" => json!({ "content": "go on" }),
        "decideReview" => json!({ "decision": "CONTINUE" }),
        "answerApproval" => json!({ "decision": "deny" }),
        "changeThread" => json!({ "title": "t" }),
        "say" => json!({ "content": "hello" }),
        "createChatCompletion" => json!({ "model": "consort", "messages": [{ "role": "user", "content": "hi" }] }),
        "createResponse" => json!({ "model": "consort", "input": "hi" }),
        "createAttachment" => json!({ "any": "file" }),
        "mcp" => json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }),
        "a2a" => json!({ "jsonrpc": "2.0", "id": 1, "method": "ListTasks" }),
        "a2aSend" | "a2aStream" => json!({ "message": { "messageId": name, "role": "ROLE_USER", "parts": [] } }),
        "a2aCreatePush" => json!({ "url": "https://example.com" }),
        "createCollection" => json!({ "name": name }),
        "addDocument" | "replaceDocument" => json!({ "title": "t", "content": "c" }),
        "invokeTool" => json!({ "input": "6 * 7" }),
        "createWorkflow" | "saveWorkflow" => workflow(),
        "createSchedule" => schedule(name),
        "changeSchedule" => json!({ "every": "2h" }),
        id => {
            assert!(!operation.needs_body, "say here what {id} is asked with");
            Value::Null
        }
    }
}

fn workflow() -> Value {
    json!({ "name": "w", "tasks": [{ "name": "one", "description": "Do it" }] })
}

fn schedule(name: &str) -> Value {
    json!({ "name": name, "every": "1h", "inputs": { "topic": "x" } })
}

/// Creates a new thing of the owner `a`, or a shared one, for one request.
pub(super) async fn prepare(here: &Here, operation: &Operation, name: &str) -> Asked {
    let Operation { id, method, path, whose, .. } = operation;
    let place = |name: &str, value: &str| path.replace(name, value).replace("{grant}", "none");
    match (whose.as_str(), path.as_str()) {
        ("runs", "/api/runs") if method == "GET" => Asked::Listed(path.clone(), begun(here, &first()).await.0),
        ("runs", "/api/runs") => Asked::Run(path.clone()),
        ("runs", "/api/reviews") => Asked::Listed(path.clone(), begun(here, &first()).await.1),
        ("runs", "/api/files") => Asked::Listed(path.clone(), traced(here).await),
        ("runs", "/api/file") => Asked::Named(format!("{path}?name={}.trace.json", traced(here).await)),
        ("runs", "/api/schedules") if method == "POST" => Asked::Anything(path.clone()),
        ("runs", _) if path.starts_with("/api/schedules") => {
            post(here, &first(), "/api/schedules", schedule(name)).await;
            if path.contains('{') {
                Asked::Named(place("{name}", name))
            } else {
                Asked::Listed(path.clone(), name.to_owned())
            }
        }
        ("runs", "/api/attachments") => Asked::Anything(path.clone()),
        ("runs", "/api/attachments/{id}") => {
            let file = post(here, &first(), "/api/attachments", json!({ "any": "file" })).await.json();
            Asked::Named(place("{id}", file["id"].as_str().unwrap()))
        }
        ("runs", "/api/search") => Asked::Listed(format!("{path}?q=x"), begun(here, &first()).await.0),
        ("runs", _) if path.starts_with("/api/runs/{id}") => {
            Asked::Named(place("{id}", &begun(here, &first()).await.0))
        }
        ("runs", _) if path.starts_with("/api/reviews/{id}") => {
            Asked::Named(place("{id}", &begun(here, &first()).await.1))
        }
        ("key", "/api/threads") if method == "GET" => Asked::Listed(path.clone(), thread(here, &first()).await),
        ("key", _) if path.starts_with("/api/threads/{id}") => {
            Asked::Named(place("{id}", &thread(here, &first()).await))
        }
        ("key", _) if !path.contains('{') => Asked::Anything(path.clone()),
        ("key", "/api/approvals/{id}" | "/api/facts/{id}") => Asked::Anything(place("{id}", "none")),
        // Its own tests ask for the tasks of others.
        ("key", _) if path.starts_with("/a2a/") => Asked::Anything(place("{id}", "none").replace("{config}", "none")),
        (_, _) if path.starts_with("/api/workflows/{id}") => {
            let saved = post(here, &first(), "/api/workflows", workflow()).await.json();
            let path = place("{id}", saved["id"].as_str().unwrap()).replace("{version}", "1");
            if whose == "runs" { Asked::Run(path) } else { Asked::Anything(path) }
        }
        ("shared", _) if path.contains("/collections/{name}") => {
            post(here, &first(), "/api/collections", json!({ "name": name })).await;
            let document = json!({ "title": "t", "content": "c" });
            post(here, &first(), &format!("/api/collections/{name}/documents"), document).await;
            Asked::Anything(place("{name}", name).replace("{id}", "1") + "?q=c")
        }
        ("shared", "/api/deliveries/{id}/redeliver") => Asked::Anything(place("{id}", "none")),
        ("shared", _) => Asked::Anything(
            place("{name}", "calculator").replace("{scope}", "none").replace("{key}", "none") + "?path=none",
        ),
        (whose, path) => panic!("say here how {id} ({path}) is asked, which is about things of `{whose}`"),
    }
}

/// Returns the id of an execution of `a` that has left its files.
async fn traced(here: &Here) -> String {
    let (run, _) = begun(here, &first()).await;
    let id = get(here, &first(), &format!("/api/runs/{run}")).await.json()["ensembleId"].as_str().unwrap().to_owned();
    post(here, &first(), &format!("/api/runs/{run}/cancel"), json!({ "mode": "now" })).await;
    while get(here, &first(), &format!("/api/file?name={id}.trace.json")).await.status != 200 {}
    id
}

fn allows(scope: Scope, needed: &str) -> bool {
    needed == "read" || scope.word() == needed || scope == Scope::Admin
}

/// Holds the answer against whether the caller sees what was asked for.
async fn judge(here: &Here, asked: &Asked, (side, sees): (Side, bool), answer: &Answer, what: &str) {
    match asked {
        // A part of it may be missing to those who see it.
        Asked::Named(_) if sees => {
            assert!(answer.status != 404 || answer.problem().1 == "GRANT_NOT_FOUND", "{what}");
        }
        Asked::Named(_) => assert_eq!(answer.status, 404, "{what}"),
        Asked::Listed(_, name) => {
            assert_eq!((answer.status, answer.body.contains(name.as_str())), (200, sees), "{what}");
        }
        Asked::Run(_) => {
            let run = answer.json()["runId"].as_str().unwrap_or_else(|| panic!("{what}")).to_owned();
            let detail = get(here, &Side::All.key(Scope::Read), &format!("/api/runs/{run}")).await.json();
            assert_eq!(detail["owner"], side.owner(), "{what}");
        }
        Asked::Anything(_) => {}
    }
}

#[tokio::test]
async fn every_route_shows_a_key_what_it_may_see_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let here = start(tracing(folder.path())).await;
    for operation in operations().iter().filter(|operation| !ELSEWHERE.contains(&operation.id.as_str())) {
        for scope in Scope::ALL {
            let mut statuses = Vec::new();
            for side in Side::EACH {
                let key = side.key(scope);
                let name = format!("{}-{key}", operation.id);
                let asked = prepare(&here, operation, &name).await;
                let body = body(operation, &format!("{name}-made"));
                let answer = ask(&here, &key, (&operation.method, asked.path()), &body).await;
                let what = format!("{} {} with the key {key}: {answer:?}", operation.method, asked.path());
                if !allows(scope, &operation.scope) {
                    assert_eq!(answer.problem(), (403, "FORBIDDEN".to_owned()), "{what}");
                    continue;
                }
                assert!(![401, 403].contains(&answer.status) && answer.status < 500, "{what}");
                match operation.whose.as_str() {
                    "runs" => judge(&here, &asked, (side, side.sees(scope)), &answer, &what).await,
                    // A thread is the key's, not the owner's, and nobody sees all threads.
                    "key" => judge(&here, &asked, (side, key == first()), &answer, &what).await,
                    _ => statuses.push(answer.status),
                }
            }
            let same = statuses.windows(2).all(|pair| pair[0] == pair[1]);
            assert!(same, "{} is not the same for all owners: {statuses:?}", operation.id);
        }
    }
}

#[tokio::test]
async fn only_an_admin_ends_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let here = start(tracing(folder.path())).await;
    for side in Side::EACH {
        for scope in Scope::ALL.into_iter().filter(|scope| *scope != Scope::Admin) {
            let answer = post(&here, &side.key(scope), "/api/lifecycle/drain", Value::Null).await;
            assert_eq!(answer.problem(), (403, "FORBIDDEN".to_owned()));
        }
    }
    assert_eq!(post(&here, &Side::Foreign.key(Scope::Admin), "/api/lifecycle/drain", Value::Null).await.status, 200);
}
