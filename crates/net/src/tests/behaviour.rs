//! Tests of the guarantees between ensembles that use each other.

use std::sync::Arc;
use std::time::Duration;

use consort_core::budget::Claim;
use consort_core::catalog::EffectClass;
use consort_core::message::Stop;
use consort_http::right;
use consort_models::script::Gate;
use consort_models::{Line, ScriptedModel};
use consort_tools::{Account, Answer, Invocation, Tool};
use futures::SinkExt;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::world::{Hand, House, LEASE, invocation, tool};
use crate::memory::{Faults, MemoryNetwork};
use crate::remote::NetworkTool;

fn done(text: &str) -> Answer {
    Answer::Done { text: text.to_owned(), data: None }
}

fn names(tools: &[NetworkTool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.info().name.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_hotel_finds_the_kitchen_uses_it_loses_it_and_has_it_back() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let stock = tool("check_stock", EffectClass::Read).answers("3 left");
    let kitchen = House::new("kitchen", &[]).tool("check-inventory", &["food", "stock"], &stock);
    let room = House::new("room", &["kitchen"]).start(&wires).await;
    assert!(NetworkTool::discover("check-inventory", &room.network).is_err());

    let running = kitchen.start(&wires).await;
    room.until_knows(&["kitchen.check-inventory"]).await;
    let found = NetworkTool::discover("check-inventory", &room.network).unwrap();
    assert_eq!(found.info().name, "kitchen.check-inventory");
    assert_eq!(found.call(invocation("salt")).await, done("3 left"));
    assert_eq!(names(&room.network.peer_tools()), ["kitchen.check-inventory"]);

    let second = tool("check_stock", EffectClass::Read).answers("7 left");
    let pantry = House::new("pantry", &["room"]).tool("check-inventory", &["food"], &second).start(&wires).await;
    room.until_knows(&["kitchen.check-inventory", "pantry.check-inventory"]).await;
    assert_eq!(names(&room.network.peer_tools()), ["kitchen.check-inventory", "pantry.check-inventory"]);

    drop(running);
    room.until_knows(&["pantry.check-inventory"]).await;
    let named = room.network.tool("kitchen.check-inventory").unwrap();
    assert!(matches!(named.call(invocation("pepper")).await, Answer::Failed(_)), "nobody answers in its place");
    assert_eq!(found.call(invocation("pepper")).await, done("7 left"), "any that shares it was looked for");
    drop(pantry);
    room.until_knows(&[]).await;
    let Answer::Failed(why) = room.network.tool("kitchen.check-inventory").unwrap().call(invocation("x")).await else {
        panic!()
    };
    assert!(why.contains("not connected"), "{why}");

    let _back = kitchen.start(&wires).await;
    room.until_knows(&["kitchen.check-inventory"]).await;
    assert_eq!(found.call(invocation("sugar")).await, done("3 left"));
}

#[tokio::test(start_paused = true)]
async fn a_link_is_useful_in_both_directions_and_a_silent_peer_is_gone_after_twice_its_lease() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let stock = tool("stock", EffectClass::Read).answers("3 left");
    let kitchen = House::new("kitchen", &["room"]).tool("stock", &[], &stock).start(&wires).await;
    let room = House::new("room", &[]).start(&wires).await;
    room.until_knows(&["kitchen.stock"]).await;
    let called = room.network.tool("kitchen.stock").unwrap().call(invocation("salt")).await;
    assert_eq!(called, done("3 left"), "over the link the kitchen opened");

    wires.part("kitchen", "room");
    let began = Instant::now();
    room.until_knows(&[]).await;
    assert!(began.elapsed() <= LEASE * 2, "{:?}", began.elapsed());
    wires.heal();
    room.until_knows(&["kitchen.stock"]).await;
    drop(kitchen);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_must_not_be_repeated_is_asked_for_again_and_never_begun_twice() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let gate = Arc::new(Notify::new());
    let pay = tool("pay", EffectClass::Once).answers("paid").waits(Gate::from(&gate));
    let house = House::new("bank", &[]).tool("pay", &[], &pay);
    let bank = house.start(&wires).await;
    let room = House::new("room", &["bank"]).start(&wires).await;
    room.until_knows(&["bank.pay"]).await;
    let call = NetworkTool::discover("pay", &room.network).unwrap();
    let mut paying = Box::pin(call.call(invocation("rent")));
    tokio::select! {
        _ = &mut paying => panic!("the gate is closed"),
        () = sleep(Duration::from_millis(100)) => {}
    }
    assert_eq!(pay.args().len(), 1);
    wires.part("bank", "room");
    tokio::select! {
        _ = &mut paying => panic!("the gate is closed"),
        () = sleep(LEASE * 2) => {}
    }
    wires.heal();
    // The duration from here on does not matter: the peer is connected, and working on it.
    tokio::select! {
        ended = &mut paying => panic!("the gate is closed: {ended:?}"),
        () = sleep(LEASE * 6) => {}
    }
    gate.notify_one();
    assert_eq!(paying.await, done("paid"), "the answer comes over the next link");
    assert_eq!(pay.args().len(), 1);
    drop(bank);
}

#[tokio::test(start_paused = true)]
async fn a_request_leaves_only_while_the_node_may_act_for_its_run() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let pay = tool("pay", EffectClass::Once).answers("paid");
    let _bank = House::new("bank", &[]).tool("pay", &[], &pay).start(&wires).await;
    let room = House::new("room", &["bank"]).start(&wires).await;
    room.until_knows(&["bank.pay"]).await;
    let call = NetworkTool::discover("pay", &room.network).unwrap();
    let (may, right) = right::gate();
    let mut waiting = Box::pin(right::within(right, call.call(invocation("rent"))));
    tokio::select! {
        biased;
        early = &mut waiting => panic!("it may not be sent: {early:?}"),
        done_now = call.call(invocation("tax")) => assert_eq!(done_now, done("paid")),
    }
    assert_eq!(pay.args(), [json!({ "input": "tax" })]);
    may.send_replace(true);
    assert_eq!(waiting.await, done("paid"));
    assert_eq!(pay.args().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_provider_killed_in_the_middle_leaves_an_effect_unknown_and_repeats_a_read() {
    for (effect, expected) in [(EffectClass::Once, 1), (EffectClass::Read, 2)] {
        let wires = MemoryNetwork::new(Faults::default(), 1);
        let slow = tool("work", effect).hangs();
        let mut house = House::new("shop", &[]).tool("work", &[], &slow);
        let shop = house.start(&wires).await;
        let room = House::new("room", &["shop"]).start(&wires).await;
        room.until_knows(&["shop.work"]).await;
        let call = NetworkTool::discover("work", &room.network).unwrap();
        let mut working = Box::pin(call.call(invocation("it")));
        tokio::select! {
            _ = &mut working => panic!("it hangs"),
            () = sleep(Duration::from_millis(100)) => {}
        }
        drop(shop);
        let quick = tool("work", effect).answers("done");
        house.tools = vec![quick.clone()];
        let _shop = house.start(&wires).await;
        let answer = working.await;
        assert_eq!(slow.args().len() + quick.args().len(), expected, "{effect:?}");
        match effect {
            EffectClass::Once => assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}"),
            EffectClass::Read | EffectClass::Idempotent => assert_eq!(answer, done("done")),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn circles_stop_at_the_guard_and_a_cancel_reaches_the_last_model() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let calls = |to: &str| Line::new().calls(to, &json!({ "input": "please" }));
    let hops = |name: &str, next: &str| {
        let model =
            ScriptedModel::new().at("1.0", calls(&format!("{next}.work"))).says("1.1", &format!("{name} is done"));
        (House::new(name, &[next]).task("work", &[&format!("{next}.work")]).model(&model), model)
    };
    let ((a, _), (b, _), (c, last)) = (hops("a", "b"), hops("b", "c"), hops("c", "a"));
    let a = a.start(&wires).await;
    let b = b.start(&wires).await;
    let c = c.start(&wires).await;
    a.until_knows(&["b.work", "c.work"]).await;
    b.until_knows(&["a.work", "c.work"]).await;
    c.until_knows(&["a.work", "b.work"]).await;
    let answer = a.network.tool("b.work").unwrap().call(invocation("round")).await;
    assert_eq!(answer, done("b is done"));
    let told = last.sent("1.1").unwrap();
    let told = format!("{:?}", told.messages);
    assert!(told.contains("a → b → c → a"), "{told}");
    drop((a, b, c));

    let wires = MemoryNetwork::new(Faults::default(), 1);
    let waits = ScriptedModel::new().otherwise(Line::new().hangs());
    let a = House::new("a", &["b"]);
    let (b, _) = hops("b", "c");
    let c = House::new("c", &[]).task("work", &[]).model(&waits);
    let a = a.start(&wires).await;
    let _b = b.start(&wires).await;
    let _c = c.start(&wires).await;
    a.until_knows(&["b.work"]).await;
    let call = a.network.tool("b.work").unwrap();
    let mut working = call.call(invocation("stop"));
    tokio::select! {
        _ = &mut working => panic!("the last model hangs"),
        () = sleep(Duration::from_secs(1)) => {}
    }
    assert_eq!(waits.ledger(), ["asked 1.0"]);
    drop(working);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(waits.ledger(), ["asked 1.0", "dropped 1.0"]);
}

#[tokio::test(start_paused = true)]
async fn requests_are_served_by_priority_once_from_the_cache_and_not_while_stopping() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new().otherwise(Line::new().waits(&gate).says("soup"));
    let mut house = House::new("kitchen", &[]).task("cook", &[]).model(&model);
    house.max_concurrent = 1;
    let kitchen = house.start(&wires).await;
    let mut hand = Hand::new(&wires, "kitchen").await;
    let ask = |id: &str, more: Value| {
        let mut frame =
            json!({ "type": "task_request", "requestId": id, "from": "hand", "task": "cook", "context": id });
        frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        frame
    };
    let key = json!({ "cacheKey": "k", "maxAge": 60, "cachePolicy": "USE_CACHED" });
    for (id, more, position) in
        [("one", key.clone(), 0), ("low", json!({ "priority": "LOW" }), 0), ("high", json!({ "priority": "HIGH" }), 0)]
    {
        hand.say(ask(id, more)).await;
        assert_eq!(hand.hear().await, json!({ "type": "task_accepted", "requestId": id, "queuePosition": position }));
    }
    hand.say(ask("one", json!({}))).await;
    assert_eq!(hand.hear().await, json!({ "type": "task_response", "requestId": "one", "status": "IN_PROGRESS" }));
    for id in ["one", "high", "low"] {
        gate.notify_one();
        let told = hand.hear().await;
        assert_eq!(
            (&told["requestId"], &told["status"], &told["result"]),
            (&json!(id), &json!("COMPLETED"), &json!("soup"))
        );
    }
    assert_eq!(model.entries().len(), 6, "three questions, three answers");
    for (id, more) in [("other", key), ("one", json!({}))] {
        hand.say(ask(id, more)).await;
        let mut told = hand.hear().await;
        while told["type"] != "task_response" {
            told = hand.hear().await;
        }
        assert_eq!(
            (&told["requestId"], &told["result"]),
            (&json!(id), &json!("soup")),
            "without asking the model again"
        );
    }
    assert_eq!(model.entries().len(), 6);
    kitchen.network.drain();
    hand.say(ask("late", json!({}))).await;
    let told = hand.hear().await;
    assert_eq!((&told["requestId"], &told["status"]), (&json!("late"), &json!("REJECTED")));
    assert_eq!(kitchen.serve.engine().load(consort_core::spec::Kind::Run).active, 0);
}

#[tokio::test(start_paused = true)]
async fn remote_work_stays_within_what_it_was_lent_and_says_what_it_used() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let model = ScriptedModel::new().otherwise(Line::new().says("soup"));
    let _kitchen = House::new("kitchen", &[]).task("cook", &[]).model(&model).start(&wires).await;
    let room = House::new("room", &["kitchen"]).start(&wires).await;
    room.until_knows(&["kitchen.cook"]).await;
    let cook = room.network.tool("kitchen.cook").unwrap();
    let call = |key: &str, lent: Option<Claim>| Invocation { account: Account::new(None, lent), ..invocation(key) };

    let free = call("free", None);
    assert_eq!(cook.call(free.clone()).await, done("soup"));
    assert!(free.account.spent().is_some(), "what it used comes back");
    let poor = call("poor", Some(Claim { tokens: 1, cost: 0 }));
    assert_eq!(cook.call(poor.clone()).await, Answer::Failed("BUDGET_EXCEEDED".to_owned()));
    assert_eq!(poor.account.spent().map(|spent| spent.claim().tokens), Some(0), "the model was not asked");
    assert_eq!(model.entries().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_a_dialled_peer_shares_is_what_it_said_last() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let mut calls = wires.listen("hand");
    let room = House::new("room", &["hand"]).start(&wires).await;
    let mut hand = calls.recv().await.unwrap();
    let hello = |names: &[&str]| {
        let shared = names.iter().map(|name| json!({ "name": name, "type": "TOOL" }));
        json!({ "type": "hello", "sharedCapabilities": shared.collect::<Vec<_>>() }).to_string()
    };
    hand.outgoing.send(hello(&["a", "b"])).await.unwrap();
    room.until_knows(&["hand.a", "hand.b"]).await;
    hand.outgoing.send(hello(&["b", "c"])).await.unwrap();
    room.until_knows(&["hand.b", "hand.c"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_not_done_by_its_deadline_fails_then_even_if_it_still_waits() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let model = ScriptedModel::new().otherwise(Line::new().hangs());
    let house = House { max_concurrent: 1, ..House::new("shop", &[]).task("cook", &[]).model(&model) };
    let _shop = house.start(&wires).await;
    let mut hand = Hand::new(&wires, "shop").await;
    let began = Instant::now();
    for (id, deadline) in [("long", "PT3S"), ("short", "PT1S")] {
        hand.say(
            json!({ "type": "task_request", "requestId": id, "from": "hand", "task": "cook", "deadline": deadline }),
        )
        .await;
        assert_eq!(hand.hear().await["type"], "task_accepted");
    }
    for (id, seconds) in [("short", 1), ("long", 3)] {
        let told = loop {
            let frame = hand.hear().await;
            hand.say(json!({ "type": "ping" })).await;
            if frame["type"] == "task_response" {
                break frame;
            }
        };
        assert_eq!((&told["requestId"], &told["status"]), (&json!(id), &json!("FAILED")));
        assert_eq!(told["error"], format!("it was not done within its deadline of {seconds}s"));
        assert_eq!(began.elapsed().as_secs(), seconds);
    }
    assert_eq!(model.ledger(), ["asked 1.0", "dropped 1.0"], "the one that waited was never begun");
}

#[tokio::test(start_paused = true)]
async fn half_an_answer_of_a_peer_is_marked() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    for (is_cut, expected) in [(false, "half"), (true, "half\n\n[the answer of the peer was cut")] {
        let line = Line::new().says("half");
        let model = ScriptedModel::new().otherwise(if is_cut { line.stops(Stop::Length) } else { line });
        let name = if is_cut { "hasty" } else { "calm" };
        let _kitchen = House::new(name, &[]).accepting("cook").model(&model).start(&wires).await;
        let room = House::new("room", &[name]).start(&wires).await;
        let cook = format!("{name}.cook");
        room.until_knows(&[&cook]).await;
        let Answer::Done { text, .. } = room.network.tool(&cook).unwrap().call(invocation("soup")).await else {
            panic!("it is done")
        };
        assert!(text.starts_with(expected) && text.contains("half\n") == is_cut, "{text}");
    }
}
