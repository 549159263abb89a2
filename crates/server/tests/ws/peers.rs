//! Other ensembles over a socket: what they are told, what is done for them.

use std::sync::Arc;

use consort_core::draft::Draft;
use consort_core::id::Id;
use consort_core::owner::Owner;
use consort_core::spec::ReviewRule;
use consort_models::{self as model, Line, ScriptedModel};
use consort_net::remote::NetworkTool;
use consort_net::serve::Serve;
use consort_net::share::{PeerRunFactory, Share, SharedWork};
use consort_runtime::admission::Capacity;
use consort_server::Server;
use consort_tools::{Account, Answer, Invocation, Tool};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::kinds;
use crate::client::{Socket, engine, server, start, task};
use crate::says;

/// Creates a server that shares the tool `stock` and the task `cook`.
pub(super) fn sharing(model: ScriptedModel) -> Server {
    sharing_as(model, |cook| cook)
}

/// Creates the same server with another `cook`.
fn sharing_as(model: ScriptedModel, other: impl FnOnce(Draft) -> Draft) -> Server {
    let server = server(engine(model, Capacity { running: 1, queued: 0 }), vec![task("a")]);
    let ensemble = server.ensemble.clone();
    let catalog = server.catalog.clone();
    let calculator = catalog.tools.iter().find(|tool| tool.name == "calculator").unwrap().clone();
    let cook = Draft { description: "Do cook with {context}".to_owned(), ..task("cook") };
    let cook = other(cook);
    let share = |name: &str, what, tags: &[&str]| Share {
        name: name.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        owner: Owner::local(),
        what,
    };
    let shares = vec![
        share("stock", SharedWork::Tool(calculator), &["food"]),
        share("cook", SharedWork::Task(Box::new(cook)), &["food", "hot"]),
    ];
    let run_factory = PeerRunFactory { ensemble, catalog, shares };
    server.network.offer(Arc::new(Serve::new("test", run_factory, server.engine.clone(), 8)));
    server
}

fn tool_request(id: &str, input: Value) -> Value {
    json!({ "type": "tool_request", "requestId": id, "from": "local", "tool": "stock", "input": input })
}

/// Sends a request; returns its final answer.
async fn answered(socket: &mut Socket, request: Value) -> Value {
    socket.say(request).await;
    loop {
        let frame = socket.frame().await;
        if ["task_response", "tool_response"].contains(&frame["type"].as_str().unwrap()) {
            return frame;
        }
    }
}

#[tokio::test]
async fn a_client_that_asks_for_work_is_answered_once_and_nobody_sees_a_run() {
    let here = start(sharing(says("soup"))).await;
    let (mut socket, _) = here.greeted().await;
    let (mut watcher, _) = here.greeted().await;
    socket.say(tool_request("t-1", json!("6 * 7"))).await;
    let told = socket.frame().await;
    let answer = (&told["type"], &told["requestId"], &told["status"], &told["result"]);
    assert_eq!(answer, (&json!("tool_response"), &json!("t-1"), &json!("COMPLETED"), &json!("42")));

    let request =
        json!({ "type": "task_request", "requestId": "w-1", "from": "local", "task": "cook", "context": "leeks" });
    socket.say(request.clone()).await;
    let frames = socket.until("task_response").await;
    assert_eq!(kinds(&frames), ["task_accepted", "task_response"]);
    assert_eq!((&frames[0]["queuePosition"], &frames[1]["result"]), (&json!(0), &json!("soup")));
    let again = answered(&mut here.greeted().await.0, request).await;
    assert_eq!((&again["status"], &again["result"]), (&json!("COMPLETED"), &json!("soup")), "the stored answer");

    for (frame, error) in [
        (
            json!({ "type": "tool_request", "requestId": "u", "from": "local", "tool": "fly" }),
            "Unknown shared tool: fly",
        ),
        (
            json!({ "type": "task_request", "requestId": "v", "from": "local", "task": "fly" }),
            "Unknown shared task: fly",
        ),
    ] {
        let told = answered(&mut socket, frame).await;
        assert_eq!((&told["status"], &told["error"]), (&json!("FAILED"), &json!(error)));
    }
    let wrong = socket.ask(json!({ "type": "tool_request", "requestId": "x" })).await;
    assert_eq!((&wrong["type"], &wrong["code"]), (&json!("error"), &json!("BAD_REQUEST")));

    assert_eq!(kinds(&watcher.drained().await), [] as [&str; 0], "the dashboard shows nothing of it");
    assert_eq!(here.get("/api/runs").await.json()["total"], 0);
}

#[tokio::test]
async fn a_peer_is_known_while_its_link_lasts_and_shown_what_it_needs() {
    let here = start(sharing(says("x"))).await;
    let (mut peer, _) = here.greeted().await;
    let shared = json!([{ "name": "wash", "description": "", "type": "TOOL", "tags": [] }]);
    peer.say(json!({ "type": "peer_hello", "ensemble": "laundry", "realm": "cellar", "sharedCapabilities": shared }))
        .await;
    let pulse = peer.frame().await;
    assert_eq!((&pulse["type"], &pulse["status"]), (&json!("capacity_update"), &json!("available")));
    let network = here.get("/api/network").await.json();
    let known = &network["peers"][0];
    assert_eq!(
        (&known["name"], &known["connected"], &known["realm"]),
        (&json!("laundry"), &json!(true), &json!("cellar"))
    );
    assert_eq!((&network["capabilities"], &known["sharedCapabilities"]), (&json!(1), &shared));
    let status = here.get("/api/status").await.json();
    assert_eq!(status["sharedCapabilities"].as_array().unwrap().len(), 2);
    let capabilities = here.get("/api/capabilities").await.json();
    let named = |list: &str| capabilities[list][0]["name"].clone();
    assert_eq!((named("sharedTools"), named("sharedTasks")), (json!("stock"), json!("cook")));
    assert_eq!(
        (&known["dialled"], &network["gone"], &network["status"]),
        (&json!(false), &json!([]), &json!("available"))
    );
    drop(peer);
    let without = loop {
        let network = here.get("/api/network").await.json();
        if network["peers"] == json!([]) {
            break network;
        }
        tokio::task::yield_now().await;
    };
    let gone = &without["gone"][0];
    assert_eq!((&gone["name"], &gone["realm"]), (&json!("laundry"), &json!("cellar")));
    assert_eq!((&without["capabilities"], &gone["sharedCapabilities"]), (&json!(0), &shared));
    assert!(known["since"].as_str() <= gone["at"].as_str(), "{known} {gone}");
}

#[tokio::test]
async fn a_peer_that_announces_the_name_of_this_server_is_told_why_it_is_no_peer() {
    let here = start(sharing(says("x"))).await;
    for announced in ["test", "Test", "te\u{200b}st "] {
        let (mut peer, _) = here.greeted().await;
        let shared = json!([{ "name": "wash", "description": "", "type": "TOOL", "tags": [] }]);
        peer.say(json!({ "type": "peer_hello", "ensemble": announced, "sharedCapabilities": shared })).await;
        let told = peer.first("error").await;
        assert_eq!(told["code"], "CONFLICT", "{told}");
        assert!(told["message"].as_str().unwrap().contains("is the name of this ensemble"), "{told}");
        assert_eq!(here.get("/api/network").await.json()["peers"], json!([]));
    }
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_tells_its_peers_and_takes_nothing_more_from_them() {
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new().otherwise(Line::new().waits(&gate).says("done"));
    let here = start(sharing(model.clone())).await;
    let (mut peer, _) = here.greeted().await;
    peer.say(json!({ "type": "peer_hello", "ensemble": "laundry", "sharedCapabilities": [] })).await;
    assert_eq!(peer.frame().await["status"], "available");
    peer.say(json!({ "type": "task_request", "requestId": "w-1", "from": "laundry", "task": "cook" })).await;
    model.until(model::What::Asked, "1.0").await;
    assert_eq!(peer.frame().await["type"], "task_accepted");
    assert_eq!(here.post("/api/lifecycle/drain", json!({})).await.status, 200);
    let told = peer.until("capacity_update").await;
    assert_eq!(told.last().unwrap()["status"], "draining");
    let refused = answered(&mut peer, tool_request("t-2", json!("6 * 7"))).await;
    assert_eq!((&refused["requestId"], &refused["status"]), (&json!("t-2"), &json!("REJECTED")));
    assert_eq!(refused["error"], "Ensemble is DRAINING: test takes no more work on");
    gate.notify_one();
    here.ended().await;
}

#[tokio::test]
async fn a_review_in_work_for_a_peer_is_decided_where_it_is_done() {
    let required = |cook: Draft| Draft { review: Some(ReviewRule::Required), ..cook };
    let here = start(sharing_as(says("soup"), required)).await;
    let (mut socket, _) = here.greeted().await;
    let request = |id: &str| json!({ "type": "task_request", "requestId": id, "from": "local", "task": "cook" });
    for (id, decision, told) in [
        ("w-1", json!({ "decision": "APPROVE" }), ("COMPLETED", json!("soup"))),
        ("w-2", json!({ "decision": "EDIT", "revisedOutput": "salad" }), ("COMPLETED", json!("salad"))),
    ] {
        socket.say(request(id)).await;
        let review = loop {
            let open = here.get("/api/reviews").await.json();
            if open["total"] == 1 {
                break open["reviews"][0].clone();
            }
        };
        assert!(review["runId"].as_str().unwrap().starts_with("peer-"), "{review}");
        let review = review["reviewId"].as_str().unwrap();
        let decided = here.post(&format!("/api/reviews/{review}"), decision).await;
        assert_eq!(decided.status, 200, "{}", decided.body);
        let answer = socket.until("task_response").await.pop().unwrap();
        assert_eq!((&answer["status"], &answer["result"]), (&json!(told.0), &told.1));
        let again = here.post(&format!("/api/reviews/{review}"), json!({ "decision": "APPROVE" })).await;
        assert_eq!(again.status, 409);
    }
    assert_eq!(here.get("/api/runs").await.json()["total"], 0, "and still it is no run of this server's own");
}

#[tokio::test]
async fn a_review_in_work_for_a_peer_that_nobody_decides_ends_by_the_rule() {
    let required = |cook: Draft| Draft { review: Some(ReviewRule::Required), review_timeout_ms: Some(20), ..cook };
    let here = start(sharing_as(says("soup"), required)).await;
    let (mut socket, _) = here.greeted().await;
    let request = json!({ "type": "task_request", "requestId": "w-1", "from": "local", "task": "cook" });
    let told = answered(&mut socket, request).await;
    assert_eq!((&told["status"], &told["result"]), (&json!("COMPLETED"), &json!("soup")));
    assert_eq!(here.get("/api/reviews").await.json()["total"], 0);
}

#[tokio::test]
async fn a_review_in_work_for_a_peer_is_shown_to_who_watches_and_to_nobody_who_watches_something_else() {
    let required = |cook: Draft| Draft { review: Some(ReviewRule::Required), ..cook };
    let here = start(sharing_as(says("soup"), required)).await;
    let ((mut asker, _), (mut watcher, _), (mut other, _)) =
        (here.greeted().await, here.greeted().await, here.greeted().await);
    other.ask(json!({ "type": "subscribe", "events": ["review_requested"], "runId": "run-1" })).await;
    asker.say(json!({ "type": "peer_hello", "ensemble": "laundry" })).await;
    asker.say(json!({ "type": "task_request", "requestId": "w-1", "from": "laundry", "task": "cook" })).await;

    let shown = watcher.until("review_requested").await;
    assert_eq!(kinds(&shown), ["review_requested"], "and nothing else of the work");
    let review = &shown[0]["reviewId"];
    let run = shown[0]["runId"].as_str().unwrap();
    assert!(run.starts_with("peer-"), "{run}");
    let (mut late, hello) = here.greeted().await;
    assert_eq!(hello["snapshotTrace"], json!([shown[0]]), "a late client is told too");

    let decision = json!({ "type": "review_decision", "reviewId": review, "decision": "APPROVE" });
    assert_eq!(watcher.ask(decision).await["type"], "review_decision_ack");
    assert_eq!(kinds(&watcher.until("review_decided").await), ["review_decided"]);
    assert_eq!(kinds(&late.until("review_decided").await), ["review_decided"], "once");
    assert_eq!(asker.until("task_response").await.pop().unwrap()["result"], "soup");
    assert_eq!(kinds(&other.drained().await), [] as [&str; 0], "who watches one run sees nothing of another");
    assert!(!asker.drained().await.iter().any(|frame| frame["type"] == "review_decided"), "nor does a peer");
}

#[tokio::test]
async fn what_is_wrong_with_a_frame_of_a_peer_is_told_by_its_field() {
    let here = start(sharing(says("soup"))).await;
    let (mut socket, _) = here.greeted().await;
    let task = |more: Value| {
        let mut frame = json!({ "type": "task_request", "requestId": "w", "from": "local", "task": "cook" });
        frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        frame
    };
    for (frame, message) in [
        (task(json!({ "requestId": " " })), "`requestId`: it must not be blank"),
        (task(json!({ "requestId": "x".repeat(600) })), "`requestId`: it has more than 512 bytes"),
        (task(json!({ "from": "" })), "`from`: it must not be blank"),
        (task(json!({ "delivery": {} })), "`delivery`: missing field `method`"),
        (
            task(json!({ "priority": "URGENT" })),
            "`priority`: unknown variant `URGENT`, expected one of `LOW`, `NORMAL`, `HIGH`, `CRITICAL`",
        ),
        (
            task(json!({ "deadline": "soon" })),
            "`deadline`: a duration is written like `PT30S`, or as a number of seconds",
        ),
        (json!({ "type": "task_request", "requestId": "w", "from": "local" }), "missing field `task`"),
        (json!({ "type": "peer_hello", "ensemble": 5 }), "`ensemble`: invalid type: integer `5`, expected a string"),
        (json!({ "type": "peer_hello", "realm": "cellar" }), "missing field `ensemble`"),
    ] {
        let told = socket.ask(frame).await;
        let kind = &told["type"];
        let code = &told["code"];
        assert_eq!((kind, code, &told["message"]), (&json!("error"), &json!("BAD_REQUEST"), &json!(message)));
    }
    let told = answered(&mut socket, task(json!({ "delivery": { "method": "QUEUE", "address": "q" } }))).await;
    assert_eq!(
        (&told["status"], &told["error"]),
        (&json!("REJECTED"), &json!("delivery by QUEUE is not offered here, only WEBSOCKET"))
    );
    let nothing = json!({ "requestId": "n", "context": null, "priority": null, "deadline": null, "delivery": null,
        "traceContext": null, "cachePolicy": null, "cacheKey": null, "maxAge": null, "ancestors": null, "hops": null,
        "budget": null, "resumed": null });
    let told = answered(&mut socket, task(nothing)).await;
    assert_eq!((&told["status"], &told["result"]), (&json!("COMPLETED"), &json!("soup")));
}

#[tokio::test]
async fn a_peer_says_anew_what_it_shares_and_who_waits_for_it_goes_on_waiting() {
    let server = sharing(says("x"));
    let network = server.network.clone();
    let here = start(server).await;
    let (mut peer, _) = here.greeted().await;
    let hello = |names: &[&str]| {
        let shared = names.iter().map(|name| json!({ "name": name, "type": "TOOL" }));
        json!({ "type": "peer_hello", "ensemble": "laundry", "sharedCapabilities": shared.collect::<Vec<_>>() })
    };
    peer.say(hello(&["wash", "dry"])).await;
    peer.until("capacity_update").await;
    let wash = NetworkTool::discover("wash", &network).unwrap();
    let key = "k".to_owned();
    let args = json!({ "input": "socks" });
    let account = Account::default();
    let washed = wash.call(Invocation { run: "run".into(), call: Id::task(0), key, args, account });
    let served = async {
        let asked = peer.until("tool_request").await.pop().unwrap();
        peer.say(hello(&["wash", "iron", "fold"])).await;
        while here.get("/api/network").await.json()["capabilities"] != 3 {
            tokio::task::yield_now().await;
        }
        let clean = json!({ "type": "tool_response", "requestId": asked["requestId"], "status": "COMPLETED",
            "result": "clean" });
        peer.say(clean).await;
    };
    let (washed, ()) = tokio::join!(washed, served);
    assert_eq!(washed, Answer::Done { text: "clean".to_owned(), data: None });
    assert!(peer.drained().await.iter().all(|frame| frame["type"] != "tool_request"), "it was asked once");
    assert_eq!(here.get("/api/network").await.json()["peers"].as_array().unwrap().len(), 1);
}
