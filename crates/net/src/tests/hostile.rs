//! Malicious or faulty peers: each gets a clear outcome, and others are not affected.

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::EffectClass;
use consort_models::script::Gate;
use consort_tools::{Answer, Invocation, Tool};
use futures::SinkExt;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::world::{Hand, House, LEASE, invocation, tool};
use crate::memory::{Faults, MemoryNetwork};

fn wires() -> MemoryNetwork {
    MemoryNetwork::new(Faults::default(), 1)
}

fn ask(id: &str, tool: &str, input: &str) -> Value {
    json!({ "type": "tool_request", "requestId": id, "from": "hand", "tool": tool, "input": input })
}

fn capability(name: &str) -> Value {
    json!({ "name": name, "description": "d", "type": "TOOL", "tags": [] })
}

/// Starts an ensemble that shares one tool, `look`, which gives this answer.
async fn shop(wires: &MemoryNetwork, answer: &str) -> super::world::Running {
    let look = tool("look", EffectClass::Read).answers(answer);
    House::new("shop", &[]).tool("look", &[], &look).start(wires).await
}

#[tokio::test(start_paused = true)]
async fn what_is_too_large_for_the_other_side_is_shortened_or_refused_and_the_link_lasts() {
    let wires = wires();
    let shop = shop(&wires, &"\"salt\" ".repeat(10_000)).await;
    let hello = json!({ "type": "peer_hello", "ensemble": "hand", "maxFrameBytes": 20_000,
        "sharedCapabilities": [capability("x")] });
    let mut hand = Hand::saying(&wires, "shop", hello).await;
    for id in ["1", "2"] {
        hand.say(ask(id, "look", "salt")).await;
        let told = hand.hear().await;
        assert!(told.to_string().len() <= 20_000, "{}", told.to_string().len());
        let result = told["result"].as_str().unwrap();
        assert_eq!((&told["requestId"], &told["status"]), (&json!(id), &json!("COMPLETED")));
        assert!(result.starts_with("\"salt\"") && result.contains("of 70000 bytes"), "{result}");
    }
    shop.until_knows(&["hand.x"]).await;
    let call = shop.network.tool("hand.x").unwrap();
    let long = Invocation { args: json!({ "input": "x".repeat(30_000) }), ..invocation("long") };
    let Answer::Failed(why) = call.call(long).await else { panic!() };
    assert!(why.contains("cannot be sent to hand") && why.contains("one frame may have 20000"), "{why}");
    hand.say(ask("3", "look", "salt")).await;
    assert_eq!(hand.hear().await["requestId"], "3");
}

#[tokio::test(start_paused = true)]
async fn garbage_is_passed_over_and_the_next_request_is_answered() {
    let wires = wires();
    let _shop = shop(&wires, "3 left").await;
    let mut hand = Hand::new(&wires, "shop").await;
    for garbage in [
        "",
        "{",
        "null",
        "[]",
        "\u{0}",
        r#"{"type":"tool_request"}"#,
        r#"{"type":"tool_request","requestId":7,"from":"x","tool":"look"}"#,
        r#"{"type":"no_such_frame"}"#,
        r#"{"type":"capacity_update","ensemble":"x","status":"on fire"}"#,
        r#"{"type":"task_response","requestId":"never asked","status":"COMPLETED","result":"gold"}"#,
        r#"{"type":"request_cancel","requestId":"never asked"}"#,
        r#"{"type":"task_progress","requestId":"never asked","percentComplete":100}"#,
    ] {
        hand.babble(garbage).await;
    }
    hand.say(ask("1", "look", "salt")).await;
    assert_eq!(hand.hear().await["result"], "3 left");
    hand.say(ask("2", "fly", "far")).await;
    assert_eq!(hand.hear().await["error"], "Unknown shared tool: fly");
    hand.say(json!({ "type": "tool_request", "requestId": "3", "from": "hand", "tool": "look", "input": [1] })).await;
    assert_eq!(hand.hear().await["error"], "the input must be an object or a text");
}

#[tokio::test(start_paused = true)]
async fn nobody_without_a_name_is_linked_with_and_a_strange_lease_is_moderated() {
    let wires = wires();
    let shop = shop(&wires, "3 left").await;
    for name in ["", "  ", &"x".repeat(129)] {
        let mut hand = Hand::saying(&wires, "shop", json!({ "type": "peer_hello", "ensemble": name })).await;
        hand.cut_off().await;
    }
    let mut hand = Hand::saying(&wires, "shop", json!({ "type": "tool_request" })).await;
    hand.cut_off().await;
    assert!(shop.network.peers().is_empty());
    for lease in [0, u64::MAX] {
        let hello = json!({ "type": "peer_hello", "ensemble": "hand", "leaseMs": lease });
        let mut hand = Hand::saying(&wires, "shop", hello).await;
        hand.say(ask("1", "look", "salt")).await;
        assert_eq!(hand.hear().await["result"], "3 left");
        let gone = timeout(Duration::from_secs(21 * 60), hand.cut_off()).await;
        gone.expect("whoever says nothing is gone after twice ten minutes at the latest");
    }
}

#[tokio::test(start_paused = true)]
async fn of_too_much_that_is_shared_a_part_is_known_and_the_rest_is_told() {
    let wires = wires();
    let shop = shop(&wires, "3 left").await;
    let mut shared: Vec<Value> = (0..5000).map(|number| capability(&format!("c{number}"))).collect();
    shared.insert(0, capability(" "));
    shared.insert(0, capability(&"n".repeat(200)));
    shared.insert(
        0,
        json!({ "name": "wordy", "description": "w".repeat(100_000), "type": "TOOL",
        "tags": (0..1000).map(|tag| format!("t{tag}")).collect::<Vec<_>>() }),
    );
    shared.insert(0, json!({ "name": "deep", "type": "TOOL", "schema": { "description": "s".repeat(100_000) } }));
    let hello = json!({ "type": "peer_hello", "ensemble": "hand", "sharedCapabilities": shared });
    let _hand = Hand::saying(&wires, "shop", hello).await;
    let mut changes = shop.network.changes();
    while shop.network.peers().is_empty() {
        changes.changed().await.unwrap();
    }
    let peer = shop.network.peers().remove(0);
    let known = peer.hello.unwrap().shared_capabilities;
    assert_eq!((known.len(), known[0].name.as_str(), known[0].tags.len()), (1000, "wordy", 32));
    assert!(known[0].description.len() < 4200);
    let trouble = peer.trouble.unwrap();
    assert!(trouble.contains("it says it shares 5004, of which 1000 are known here"), "{trouble}");
    assert!(shop.network.registry(|registry| registry.find_all_providers("deep").next().is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_capability_whose_schema_explodes_is_not_known_and_the_peer_is_told() {
    let wires = wires();
    let shop = shop(&wires, "3 left").await;
    let rungs = (1..=50).map(|at| {
        let below = json!({ "$ref": format!("#/$defs/d{}", at - 1) });
        (format!("d{at}"), json!({ "allOf": [below, below] }))
    });
    let defs: serde_json::Map<String, Value> = rungs.chain([("d0".to_owned(), json!({}))]).collect();
    let ladder = json!({ "$ref": "#/$defs/d50", "$defs": defs });
    let shared = json!([
        { "name": "ladder", "type": "TOOL", "schema": ladder },
        { "name": "pattern", "type": "TOOL", "schema": { "pattern": r"(\w{200}){200}" } },
        { "name": "sound", "type": "TOOL", "schema": { "type": "object" } },
    ]);
    let hello = json!({ "type": "peer_hello", "ensemble": "hand", "sharedCapabilities": shared });
    let _hand = Hand::saying(&wires, "shop", hello).await;
    let mut changes = shop.network.changes();
    while shop.network.peers().is_empty() {
        changes.changed().await.unwrap();
    }
    let peer = shop.network.peers().remove(0);
    let known: Vec<String> = peer.hello.unwrap().shared_capabilities.into_iter().map(|known| known.name).collect();
    assert_eq!(known, ["sound"]);
    let trouble = peer.trouble.unwrap();
    assert!(trouble.contains("`ladder`: its schema cannot be used: "), "{trouble}");
}

#[tokio::test(start_paused = true)]
async fn who_takes_a_configured_peers_name_never_speaks_for_it_not_even_when_that_one_is_gone() {
    let wires = wires();
    let look = tool("look", EffectClass::Read).answers("the real one");
    let shop = House::new("shop", &[]).tool("look", &[], &look).start(&wires).await;
    let room = House::new("room", &["shop"]).start(&wires).await;
    room.until_knows(&["shop.look"]).await;
    let hello = json!({ "type": "peer_hello", "ensemble": "shop", "sharedCapabilities": [capability("poison")] });
    let mut liar = Hand::saying(&wires, "room", hello).await;
    liar.say(json!({ "type": "capacity_update", "ensemble": "shop", "status": "draining", "currentLoad": 1.0,
        "maxConcurrent": 1, "shareable": false }))
        .await;
    sleep(Duration::from_millis(100)).await;
    assert_eq!(room.knows(), ["shop.look"]);
    let answer = room.network.tool("shop.look").unwrap().call(invocation("x")).await;
    assert_eq!(answer, Answer::Done { text: "the real one".to_owned(), data: None });
    drop(shop);
    timeout(LEASE * 3, room.until_knows(&[])).await.expect("the real one is gone");
    let refused = room.network.tool("shop.look").unwrap().call(invocation("y")).await;
    assert!(matches!(refused, Answer::Failed(why) if why.contains("`shop` is not connected")));
    assert_eq!(room.knows(), [] as [&str; 0], "and nobody has its name");
}

#[tokio::test(start_paused = true)]
async fn an_id_that_was_used_for_something_else_is_refused_under_way_and_afterwards() {
    let wires = wires();
    let gate = Arc::new(Notify::new());
    let pay = tool("pay", EffectClass::Once).answers("paid").waits(Gate::from(&gate));
    let house = House::new("bank", &[]).tool("pay", &[], &pay);
    let bank = house.start(&wires).await;
    let mut hand = Hand::new(&wires, "bank").await;
    hand.say(ask("1", "pay", "rent")).await;
    hand.say(ask("1", "pay", "rent")).await;
    assert_eq!(hand.hear().await["status"], "IN_PROGRESS");
    hand.say(ask("1", "pay", "ransom")).await;
    let told = hand.hear().await;
    assert_eq!(told["error"], "the request id 1 was used for another request");
    assert_eq!(told["status"], "REJECTED");
    let mut other = Hand::new(&wires, "bank").await;
    other.say(ask("1", "pay", "ransom")).await;
    assert_eq!(other.hear().await["status"], "REJECTED", "over another link too");
    gate.notify_one();
    assert_eq!(hand.hear().await["result"], "paid");
    drop(bank);
    let _bank = house.start(&wires).await;
    let mut hand = Hand::new(&wires, "bank").await;
    hand.say(ask("1", "pay", "ransom")).await;
    assert_eq!(hand.hear().await["status"], "REJECTED", "after a restart too");
    hand.say(ask("1", "pay", "rent")).await;
    assert_eq!(hand.hear().await["result"], "paid");
    assert_eq!(pay.args(), [json!({ "input": "rent" })]);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_lies_about_what_it_used_breaks_nothing() {
    let wires = wires();
    let shop = House::new("shop", &[]).start(&wires).await;
    let hello = json!({ "type": "peer_hello", "ensemble": "hand", "sharedCapabilities": [capability("x")] });
    let mut hand = Hand::saying(&wires, "shop", hello).await;
    shop.until_knows(&["hand.x"]).await;
    let call = shop.network.tool("hand.x").unwrap();
    let most = invocation("most");
    let answering = async {
        let request = hand.hear().await;
        hand.say(json!({ "type": "tool_response", "requestId": request["requestId"], "status": "COMPLETED",
            "result": "gold", "usage": { "inputTokens": u64::MAX, "outputTokens": u64::MAX,
            "inputCostNanoUsd": u64::MAX, "outputCostNanoUsd": u64::MAX } }))
            .await;
    };
    let (answer, ()) = tokio::join!(call.call(most.clone()), answering);
    assert_eq!(answer, Answer::Done { text: "gold".to_owned(), data: None });
    assert_eq!(most.account.spent().unwrap().claim().tokens, u64::MAX);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_understood_is_a_failure_and_not_a_wait() {
    let wires = wires();
    let shop = House::new("shop", &[]).start(&wires).await;
    let hello = json!({ "type": "peer_hello", "ensemble": "hand", "sharedCapabilities": [capability("x")] });
    let mut hand = Hand::saying(&wires, "shop", hello).await;
    shop.until_knows(&["hand.x"]).await;
    let call = shop.network.tool("hand.x").unwrap();
    for (kind, status, told) in [
        ("tool_response", "FABULOUS", "Tool call failed"),
        ("task_response", "COMPLETED", "it was answered with the frame of another kind of request"),
    ] {
        let answering = async {
            let request = hand.hear().await;
            hand.say(json!({ "type": kind, "requestId": request["requestId"], "status": status, "result": "gold" }))
                .await;
        };
        let (answer, ()) = tokio::join!(call.call(invocation(status)), answering);
        assert_eq!(answer, Answer::Failed(told.to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_less_busy_than_not_at_all() {
    let wires = wires();
    let shop = House::new("shop", &[]).start(&wires).await;
    let mut hand = Hand::new(&wires, "shop").await;
    for (said, believed) in [(-3.0, 0.0), (7.0, 1.0), (0.5, 0.5)] {
        hand.say(json!({ "type": "capacity_update", "ensemble": "hand", "status": "available", "currentLoad": said,
            "maxConcurrent": 1, "shareable": true }))
            .await;
        sleep(Duration::from_millis(1)).await;
        let capacity = shop.network.peers()[0].capacity.clone().unwrap();
        assert!((capacity.current_load - believed).abs() < f64::EPSILON, "{capacity:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_refuses_is_heard_at_once_and_one_that_will_not_listen_shares_nothing() {
    let wires = wires();
    let shop = House::new("shop", &["keeper"]).start(&wires).await;
    let hello = json!({ "type": "peer_hello", "ensemble": "hand", "sharedCapabilities": [capability("x")] });
    let mut hand = Hand::saying(&wires, "shop", hello).await;
    shop.until_knows(&["hand.x"]).await;
    let call = shop.network.tool("hand.x").unwrap();
    let answering = async {
        let request = hand.hear().await;
        hand.say(json!({ "type": "error", "code": "FORBIDDEN", "message": "no", "requestId": request["requestId"] }))
            .await;
    };
    let (answer, ()) = tokio::join!(call.call(invocation("a")), answering);
    assert_eq!(answer, Answer::Failed("Network error calling hand.x: hand did not take it on: no".to_owned()));

    let mut calls = wires.listen("keeper");
    let mut keeper = calls.recv().await.unwrap();
    let hello = json!({ "type": "hello", "sharedCapabilities": [capability("y")] });
    keeper.outgoing.send(hello.to_string()).await.unwrap();
    shop.until_knows(&["hand.x", "keeper.y"]).await;
    let refused = json!({ "type": "error", "code": "FORBIDDEN", "message": "it needs the scope `peer`" });
    keeper.outgoing.send(refused.to_string()).await.unwrap();
    shop.until_knows(&["hand.x"]).await;
    let mut peers = shop.network.peers();
    while peers[0].trouble.is_none() {
        tokio::task::yield_now().await;
        peers = shop.network.peers();
    }
    assert_eq!(peers[0].trouble.as_deref(), Some("it needs the scope `peer`"));
}
