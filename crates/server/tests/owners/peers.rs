//! Work for other ensembles: each key's requests are its own, and the owner of what is shared
//! sees the work and decides its reviews.

use std::sync::Arc;

use consort_core::draft::Draft;
use consort_core::owner::Owner;
use consort_core::spec::ReviewRule;
use consort_models::{Line, ScriptedModel};
use consort_net::serve::Serve;
use consort_net::share::{PeerRunFactory, Share, SharedWork};
use consort_runtime::admission::Capacity;
use consort_server::access::{Key, Scope};
use consort_tools::ScriptedTool;
use serde_json::{Value, json};

use super::{Side, get, greeted, keys, post};
use crate::client::{Here, Socket, engine_with, server, start, task};

/// Starts a server whose owner `a` shares a task that waits for a person, and a tool that counts.
async fn sharing() -> (Here, ScriptedTool) {
    let count = ScriptedTool::new("count").answers("one");
    let model = ScriptedModel::new().otherwise(Line::new().says("soup"));
    let engine = engine_with(Arc::default(), model, count.clone(), Capacity::UNLIMITED);
    let mut server = server(engine, vec![task("a")]);
    server.access.keys = keys();
    for name in ["one", "two"] {
        server.access.keys.push(Key::new(name, name, &[Scope::Peer]).unwrap());
    }
    let ensemble = server.ensemble.clone();
    let catalog = server.catalog.clone();
    let tool = catalog.tools.iter().find(|tool| tool.name == "count").unwrap().clone();
    let cook = Draft { description: "Do cook".to_owned(), review: Some(ReviewRule::Required), ..task("cook") };
    let handler = Some("count".to_owned());
    let plain = Draft { description: "Do plain".to_owned(), handler, ..task("plain") };
    let share = |name: &str, what| {
        let owner = Owner::named("a").unwrap();
        Share { name: name.to_owned(), tags: Vec::new(), owner, what }
    };
    let shares = vec![
        share("count", SharedWork::Tool(tool)),
        share("cook", SharedWork::Task(Box::new(cook))),
        share("plain", SharedWork::Task(Box::new(plain))),
    ];
    let run_factory = PeerRunFactory { ensemble, catalog, shares };
    server.network.offer(Arc::new(Serve::new("test", run_factory, server.engine.clone(), 8)));
    (start(server).await, count)
}

async fn answered(socket: &mut Socket, mut request: Value) -> Value {
    request["from"] = json!("x");
    let kind = request["type"].as_str().unwrap().replace("request", "response");
    socket.say(request).await;
    loop {
        let frame = socket.first(&kind).await;
        if frame["status"] != "IN_PROGRESS" {
            return frame;
        }
    }
}

#[tokio::test]
async fn request_ids_and_cache_keys_are_each_keys_own() {
    let (here, count) = sharing().await;
    let (mut one, _) = greeted(&here, "one").await;
    let (mut two, _) = greeted(&here, "two").await;
    let request = json!({ "type": "tool_request", "requestId": "same", "tool": "count", "input": "x" });
    for (socket, times) in [(&mut one, 1), (&mut two, 2)] {
        assert_eq!(answered(socket, request.clone()).await["status"], "COMPLETED");
        assert_eq!(count.args().len(), times);
    }
    let (mut again, _) = greeted(&here, "one").await;
    assert_eq!(answered(&mut again, request).await["status"], "COMPLETED");
    assert_eq!(count.args().len(), 2, "the same key asks for the same");

    let cached = |id: &str, policy: &str| {
        json!({ "type": "task_request", "requestId": id, "task": "plain", "cacheKey": "k", "cachePolicy": policy,
            "maxAge": "PT1H" })
    };
    for (key, id, policy, times) in
        [("one", "first", "FORCE_FRESH", 3), ("one", "second", "USE_CACHED", 3), ("two", "third", "USE_CACHED", 4)]
    {
        let socket = if key == "one" { &mut one } else { &mut two };
        assert_eq!(answered(socket, cached(id, policy)).await["result"], "one");
        assert_eq!(count.args().len(), times, "{id}");
    }
}

#[tokio::test]
async fn the_owner_of_what_is_shared_sees_the_work_and_decides_and_another_key_cancels_nothing() {
    let (here, _) = sharing().await;
    let (mut one, _) = greeted(&here, "one").await;
    let (mut two, _) = greeted(&here, "two").await;
    let mut own = greeted(&here, &Side::Own.key(Scope::Review)).await.0;
    let mut foreign = greeted(&here, &Side::Foreign.key(Scope::Review)).await.0;
    one.say(json!({ "type": "task_request", "requestId": "r", "from": "x", "task": "cook" })).await;
    let review = own.first("review_requested").await["reviewId"].as_str().unwrap().to_owned();
    assert!(foreign.drained().await.iter().all(|frame| frame["type"] != "review_requested"));
    two.say(json!({ "type": "request_cancel", "requestId": "r" })).await;
    two.drained().await;

    let path = format!("/api/reviews/{review}");
    for (key, sees) in [
        (Side::Own.key(Scope::Review), true),
        (Side::Foreign.key(Scope::Review), false),
        (Side::All.key(Scope::Review), true),
        ("one".to_owned(), false),
    ] {
        let listed = get(&here, &key, "/api/reviews").await.body;
        let (_, hello) = greeted(&here, &key).await;
        assert_eq!((listed.contains(&review), hello.to_string().contains(&review)), (sees, sees), "{key}");
    }
    // The work is in the list for those who see it, and is read like a run; among the runs it is not.
    let work = review.split("-review").next().unwrap();
    for (side, sees) in [(Side::Own, true), (Side::Foreign, false), (Side::All, true)] {
        let key = side.key(Scope::Read);
        let listed = get(&here, &key, "/api/runs?kind=peer").await.json();
        assert_eq!(listed["total"], u64::from(sees), "{key}");
        assert_eq!(listed["runs"][0]["runId"].as_str(), sees.then_some(work), "{key}");
        assert_eq!(get(&here, &key, "/api/runs").await.json()["total"], 0, "{key}");
        for path in [format!("/api/runs/{work}"), format!("/api/runs/{work}/events?limit=1")] {
            assert_eq!(get(&here, &key, &path).await.status, if sees { 200 } else { 404 }, "{key}: {path}");
        }
    }
    assert_eq!(get(&here, &Side::Own.key(Scope::Read), "/api/runs?kind=turn").await.problem().0, 400);
    let decision = json!({ "decision": "CONTINUE" });
    let refused = post(&here, &Side::Foreign.key(Scope::Review), &path, decision.clone()).await;
    assert_eq!(refused.problem(), (404, "REVIEW_NOT_FOUND".to_owned()));
    assert_eq!(post(&here, &Side::Own.key(Scope::Review), &path, decision).await.status, 200);
    let told = one.first("task_response").await;
    assert_eq!((&told["status"], &told["result"]), (&json!("COMPLETED"), &json!("soup")));
}
