//! What ensembles can rely on when they use each other.

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::EffectClass;
use consort_core::queue::Priority;
use consort_runtime::log::{Log, Query};
use consort_runtime::model::{Line, ScriptedModel};
use consort_runtime::script::Gate;
use consort_runtime::tool::{Answer, DynamicTools, ScriptedTool, Tool};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::world::{House, LEASE, invocation, tool};
use crate::memory::{Weather, Wires};
use crate::remote::{Late, Mode, NetworkTool, NetworkToolCatalog, OnDeadline};
use crate::transport::{Address, Connection, Transport};
use crate::wire::{Frame, Status};

fn done(text: &str) -> Answer {
    Answer::Done { text: text.to_owned(), data: None }
}

fn names(tools: &[NetworkTool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.info().name.as_str()).collect()
}

/// A client that speaks the wire by hand.
struct Hand(Connection);

impl Hand {
    async fn new(wires: &Wires, to: &str) -> Hand {
        let address = Address { url: to.to_owned(), key: None };
        let mut hand = Hand(wires.from("hand").dial(&address).await.unwrap());
        hand.say(json!({ "type": "peer_hello", "ensemble": "hand" })).await;
        hand
    }

    async fn say(&mut self, frame: Value) {
        self.0.outgoing.send(frame.to_string()).await.unwrap();
    }

    /// The next frame that is not a pulse or a hello.
    async fn hear(&mut self) -> Value {
        loop {
            let frame: Value = serde_json::from_str(&self.0.incoming.next().await.unwrap()).unwrap();
            if !["capacity_update", "hello"].contains(&frame["type"].as_str().unwrap()) {
                return frame;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_hotel_finds_the_kitchen_uses_it_loses_it_and_has_it_back() {
    let wires = Wires::new(Weather::default(), 1);
    let stock = tool("check_stock", EffectClass::Read).answers("3 left");
    let kitchen = House::new("kitchen", &[]).tool("check-inventory", &["food", "stock"], &stock);
    let room = House::new("room", &["kitchen"]).start(&wires).await;
    assert!(NetworkTool::discover("check-inventory", &room.network).is_err());

    let running = kitchen.start(&wires).await;
    room.until_knows(&["kitchen.check-inventory"]).await;
    let found = NetworkTool::discover("check-inventory", &room.network).unwrap();
    assert_eq!(found.info().name, "kitchen.check-inventory");
    assert_eq!(found.call(invocation("salt")).await, done("3 left"));
    let food = NetworkToolCatalog::tagged("food", &room.network);
    assert_eq!(names(&food.resolve()), ["kitchen.check-inventory"]);
    assert!(NetworkToolCatalog::tagged("wine", &room.network).resolve().is_empty());

    let second = tool("check_stock", EffectClass::Read).answers("7 left");
    let pantry = House::new("pantry", &["room"]).tool("check-inventory", &["food"], &second).start(&wires).await;
    room.until_knows(&["kitchen.check-inventory", "pantry.check-inventory"]).await;
    assert_eq!(names(&food.resolve()), ["kitchen.check-inventory", "pantry.check-inventory"]);

    drop(running);
    room.until_knows(&["pantry.check-inventory"]).await;
    let moved = room.network.get("kitchen.check-inventory").unwrap();
    assert_eq!(moved.call(invocation("pepper")).await, done("7 left"), "the second kitchen answers");
    drop(pantry);
    room.until_knows(&[]).await;
    let Answer::Failed(why) = room.network.get("kitchen.check-inventory").unwrap().call(invocation("x")).await else {
        panic!()
    };
    assert!(why.contains("not connected"), "{why}");

    let _back = kitchen.start(&wires).await;
    room.until_knows(&["kitchen.check-inventory"]).await;
    assert_eq!(found.call(invocation("sugar")).await, done("3 left"));
}

#[tokio::test(start_paused = true)]
async fn a_link_is_useful_in_both_directions_and_a_silent_peer_is_gone_after_twice_its_lease() {
    let wires = Wires::new(Weather::default(), 1);
    let stock = tool("stock", EffectClass::Read).answers("3 left");
    let kitchen = House::new("kitchen", &["room"]).tool("stock", &[], &stock).start(&wires).await;
    let room = House::new("room", &[]).start(&wires).await;
    room.until_knows(&["kitchen.stock"]).await;
    let called = room.network.get("kitchen.stock").unwrap().call(invocation("salt")).await;
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
    let wires = Wires::new(Weather::default(), 1);
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
    gate.notify_one();
    assert_eq!(paying.await, done("paid"), "the answer comes over the next link");
    assert_eq!(pay.args().len(), 1);
    drop(bank);
}

#[tokio::test(start_paused = true)]
async fn a_provider_killed_in_the_middle_leaves_an_effect_unknown_and_repeats_a_read() {
    for (effect, expected) in [(EffectClass::Once, 1), (EffectClass::Read, 2)] {
        let wires = Wires::new(Weather::default(), 1);
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
    let wires = Wires::new(Weather::default(), 1);
    let calls = |to: &str| Line::new().calls(to, &json!({ "input": "please" }));
    let hops = |name: &str, next: &str| {
        let model = ScriptedModel::new().at("1.0", calls(&format!("{next}.work"))).says("1.1", &format!("{name} is done"));
        (House::new(name, &[next]).task("work", &[&format!("{next}.work")]).model(&model), model)
    };
    let ((a, _), (b, _), (c, last)) = (hops("a", "b"), hops("b", "c"), hops("c", "a"));
    let (a, b, c) = (a.start(&wires).await, b.start(&wires).await, c.start(&wires).await);
    a.until_knows(&["b.work", "c.work"]).await;
    b.until_knows(&["a.work", "c.work"]).await;
    c.until_knows(&["a.work", "b.work"]).await;
    let answer = a.network.get("b.work").unwrap().call(invocation("round")).await;
    assert_eq!(answer, done("b is done"));
    let told = last.sent("1.1").unwrap();
    let told = format!("{:?}", told.messages);
    assert!(told.contains("a → b → c → a"), "{told}");
    drop((a, b, c));

    let wires = Wires::new(Weather::default(), 1);
    let waits = ScriptedModel::new().otherwise(Line::new().hangs());
    let (a, (b, _)) = (House::new("a", &["b"]), hops("b", "c"));
    let c = House::new("c", &[]).task("work", &[]).model(&waits);
    let (a, _b, _c) = (a.start(&wires).await, b.start(&wires).await, c.start(&wires).await);
    a.until_knows(&["b.work"]).await;
    let call = a.network.get("b.work").unwrap();
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
