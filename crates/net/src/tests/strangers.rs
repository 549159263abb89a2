//! Tests that peers are not trusted: a name belongs to the link that was dialled, no peer answers in the place of
//! another, and the frames of a peer have limits.

use consort_core::catalog::EffectClass;
use consort_core::next::Terms;
use consort_core::reach::Provider;
use consort_tools::{Account, Answer, Invocation, Tool, Toolbox};
use futures::SinkExt;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::world::{Hand, House, Running, invocation, tool};
use crate::limits::{CAPABILITIES_BYTES_MAX, FRAMES_AT_ONCE, FRAMES_PER_SECOND, HELLO_WEIGHT, RESULT_MAX, WORDS_MAX};
use crate::memory::{Faults, MemoryNetwork};

fn wires() -> MemoryNetwork {
    MemoryNetwork::new(Faults::default(), 1)
}

fn done(text: &str) -> Answer {
    Answer::Done { text: text.to_owned(), data: None }
}

fn shares(name: &str) -> Value {
    json!([{ "name": name, "description": "d", "type": "TOOL", "tags": [] }])
}

/// Returns a call for any ensemble that shares the same, as `network:*` stands for.
fn of_any(key: &str) -> Invocation {
    let account = Account::default().on(Terms::default(), Provider::Any);
    Invocation { account, ..invocation(key) }
}

async fn failure(house: &Running, name: &str) -> String {
    match house.network.tool(name).unwrap().call(invocation("x")).await {
        Answer::Failed(why) => why,
        answered @ (Answer::Done { .. } | Answer::Unknown(_) | Answer::Late { .. }) => panic!("{answered:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_announces_the_name_of_a_configured_peer_is_refused_it_and_may_only_ask() {
    let wires = wires();
    let look = tool("look", EffectClass::Read).answers("3 left");
    let shop = House::new("shop", &["pantry"]).tool("look", &[], &look).start(&wires).await;
    for announced in ["pantry", "Pantry"] {
        let hello = json!({ "type": "peer_hello", "ensemble": announced, "sharedCapabilities": shares("check") });
        let mut hand = Hand::saying(&wires, "shop", hello).await;
        let told = hand.hear().await;
        assert_eq!((&told["type"], &told["code"]), (&json!("error"), &json!("CONFLICT")));
        assert!(told["message"].as_str().unwrap().contains(&format!("`{announced}`")), "{told}");
        hand.say(json!({ "type": "hello", "ensemble": "pantry", "sharedCapabilities": shares("check") })).await;
        let ask = json!({ "type": "tool_request", "requestId": announced, "from": "p", "tool": "look", "input": "x" });
        hand.say(ask).await;
        assert_eq!(hand.hear().await["result"], "3 left", "it may ask for work");
        assert_eq!(shop.knows(), [] as [&str; 0], "what it shares is nobody's");
        assert!(!shop.network.peers()[0].connected);
        let why = failure(&shop, "pantry.check").await;
        assert!(why.contains("`pantry` is not connected") && why.contains("no other is asked instead"), "{why}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_that_people_take_for_another_is_refused_with_the_reason() {
    let wires = wires();
    let look = tool("look", EffectClass::Read).answers("3 left");
    let shop = House::new("shop", &["pantry"]).tool("look", &[], &look).start(&wires).await;
    let cases = [
        ("shop", "`shop` is the name of this ensemble"),
        ("Shop ", "`Shop ` is the name of this ensemble"),
        ("sh\u{200b}op", "`sh\\u{200b}op` is the name of this ensemble"),
        ("pantry ", "`pantry ` is a peer that this ensemble dials itself"),
        ("pan\u{ad}try", "`pan\\u{ad}try` is a peer that this ensemble dials itself"),
        ("larder ", "`larder ` is no name for an ensemble: a name must not begin or end with a space"),
        ("lar\u{7}der", "a name must not have invisible or control characters, such as U+0007 here"),
    ];
    for (announced, reason) in cases {
        let hello = json!({ "type": "peer_hello", "ensemble": announced, "sharedCapabilities": shares("check") });
        let mut hand = Hand::saying(&wires, "shop", hello).await;
        let told = hand.hear().await;
        assert_eq!((&told["type"], &told["code"]), (&json!("error"), &json!("CONFLICT")));
        assert!(told["message"].as_str().unwrap().contains(reason), "{told}");
        assert_eq!(shop.knows(), [] as [&str; 0], "what it shares is nobody's");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_whose_name_has_something_that_is_not_seen_is_left_out_with_the_reason() {
    let wires = wires();
    let shop = House::new("shop", &[]).start(&wires).await;
    let names = ["check", "check ", "ch\u{200b}eck", "\u{feff}"];
    let shared: Vec<Value> = names.iter().map(|name| json!({ "name": name, "type": "TOOL" })).collect();
    let hello = json!({ "type": "peer_hello", "ensemble": "hand", "sharedCapabilities": shared });
    let _hand = Hand::saying(&wires, "shop", hello).await;
    shop.until_knows(&["hand.check"]).await;
    let trouble = shop.network.peers()[0].trouble.clone().unwrap();
    assert!(trouble.contains("it says it shares 4, of which 1 are known here"), "{trouble}");
    assert!(trouble.contains("`check `: a name must not begin or end with a space"), "{trouble}");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_dialled_has_its_configured_name_whatever_it_calls_itself() {
    let wires = wires();
    let mut calls = wires.listen("pantry");
    let shop = House::new("shop", &["pantry"]).start(&wires).await;
    let mut pantry = calls.recv().await.unwrap();
    let hello = json!({ "type": "hello", "ensemble": "larder", "sharedCapabilities": shares("check") });
    pantry.outgoing.send(hello.to_string()).await.unwrap();
    shop.until_knows(&["pantry.check"]).await;
    let hello = json!({ "type": "peer_hello", "ensemble": "larder", "sharedCapabilities": shares("check") });
    let _stranger = Hand::saying(&wires, "shop", hello).await;
    shop.until_knows(&["larder.check", "pantry.check"]).await;
    drop(pantry);
    shop.until_knows(&["larder.check"]).await;
    assert!(failure(&shop, "pantry.check").await.contains("`pantry` is not connected"));
}

#[tokio::test(start_paused = true)]
async fn ensembles_that_dial_each_other_both_work() {
    let wires = wires();
    let left = tool("l", EffectClass::Read).answers("left");
    let right = tool("r", EffectClass::Read).answers("right");
    let left = House::new("left", &["right"]).tool("l", &[], &left).start(&wires).await;
    let right = House::new("right", &["left"]).tool("r", &[], &right).start(&wires).await;
    left.until_knows(&["right.r"]).await;
    right.until_knows(&["left.l"]).await;
    assert_eq!(left.network.tool("right.r").unwrap().call(invocation("1")).await, done("right"));
    assert_eq!(right.network.tool("left.l").unwrap().call(invocation("2")).await, done("left"));
}

#[tokio::test(start_paused = true)]
async fn a_named_peer_does_it_or_nobody_and_a_pattern_means_any() {
    let wires = wires();
    let three = tool("a", EffectClass::Read).answers("3");
    let seven = tool("b", EffectClass::Read).answers("7");
    let pantry = House::new("pantry", &["shop"]).tool("check", &["food"], &three).start(&wires).await;
    let _larder = House::new("larder", &["shop"]).tool("check", &["food"], &seven).start(&wires).await;
    let shop = House::new("shop", &[]).start(&wires).await;
    shop.until_knows(&["larder.check", "pantry.check"]).await;
    let toolbox = Toolbox::default().with_provider(shop.network.tools());
    let resolved = |name: &str| {
        let found = toolbox.resolve(name).into_iter().find(|tool| tool.name == "pantry.check").unwrap();
        found.reach.provider
    };
    assert_eq!(resolved("pantry.check"), Provider::Named);
    assert_eq!((resolved("network:*"), resolved("network:#food")), (Provider::Any, Provider::Any));
    drop(pantry);
    shop.until_knows(&["larder.check"]).await;
    let check = toolbox.find("pantry.check").unwrap();
    assert!(
        matches!(check.call(invocation("1")).await, Answer::Failed(why) if why.contains("`pantry` is not connected"))
    );
    assert!(seven.args().is_empty(), "the larder was not asked");
    assert_eq!(check.call(of_any("2")).await, done("7"));
}

#[tokio::test(start_paused = true)]
async fn what_a_peer_shares_is_bounded_as_a_whole() {
    let wires = wires();
    let shop = House::new("shop", &[]).start(&wires).await;
    let schema = json!({ "type": "object", "description": "s".repeat(60_000) });
    let shared: Vec<Value> =
        (0..100).map(|n| json!({ "name": format!("c{n}"), "type": "TOOL", "schema": schema })).collect();
    let hello = json!({ "type": "peer_hello", "ensemble": "hand", "realm": "r".repeat(1000),
        "version": "v".repeat(1000), "sharedCapabilities": shared });
    let _hand = Hand::saying(&wires, "shop", hello).await;
    let mut changes = shop.network.changes();
    while shop.network.peers().is_empty() {
        changes.changed().await.unwrap();
    }
    let peer = shop.network.peers().remove(0);
    let hello = peer.hello.unwrap();
    let bytes = serde_json::to_string(&hello.shared_capabilities).unwrap().len();
    assert!(bytes <= CAPABILITIES_BYTES_MAX + 200 && bytes > CAPABILITIES_BYTES_MAX / 2, "{bytes}");
    assert_eq!((hello.realm, hello.version), (None, None));
    assert!(peer.trouble.unwrap().contains(&format!("together {CAPABILITIES_BYTES_MAX} bytes")));
}

#[tokio::test(start_paused = true)]
async fn results_reasons_and_progress_are_cut_and_a_flood_of_progress_is_thinned() {
    let wires = wires();
    let shop = House::new("shop", &[]).start(&wires).await;
    let hello = json!({ "type": "peer_hello", "ensemble": "hand", "sharedCapabilities": shares("cook") });
    let mut hand = Hand::saying(&wires, "shop", hello).await;
    shop.until_knows(&["hand.cook"]).await;
    let cook = shop.network.tool("hand.cook").unwrap();
    let call = invocation("long");
    let mut reports = call.account.reports();
    let mut calling = Box::pin(cook.call(call));
    let answered = async {
        hand.hear().await;
        let progress = json!({ "type": "task_progress", "requestId": "long", "message": "p".repeat(100_000) });
        for _ in 0..500 {
            hand.say(progress.clone()).await;
        }
        hand.say(json!({ "type": "tool_response", "requestId": "long", "status": "COMPLETED",
            "result": "r".repeat(3_000_000) }))
            .await;
        std::future::pending::<()>().await
    };
    let mut heard = 0;
    let mut answered = Box::pin(answered);
    let answer = loop {
        tokio::select! {
            biased;
            answer = &mut calling => break answer,
            Ok(()) = reports.changed() => {
                heard += 1;
                let report = reports.borrow_and_update().clone().unwrap();
                assert!(report.message.unwrap().len() < WORDS_MAX + 100);
            }
            () = &mut answered => {}
        }
    };
    assert!((1..50).contains(&heard), "{heard} of 500 reports were passed on");
    let Answer::Done { text, .. } = answer else { panic!("{answer:?}") };
    assert!(text.len() < RESULT_MAX + 100 && text.contains("of 3000000 bytes"), "{}", text.len());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_says_too_much_is_read_later_and_loses_nothing() {
    let wires = wires();
    let look = tool("look", EffectClass::Read).answers("3 left");
    let _shop = House::new("shop", &[]).tool("look", &[], &look).start(&wires).await;
    let mut hand = Hand::new(&wires, "shop").await;
    let began = Instant::now();
    let frames = (FRAMES_AT_ONCE + 2 * FRAMES_PER_SECOND) / HELLO_WEIGHT;
    for _ in 0..frames {
        hand.say(json!({ "type": "hello", "ensemble": "hand" })).await;
    }
    let ask = json!({ "type": "tool_request", "requestId": "1", "from": "hand", "tool": "look", "input": "x" });
    hand.say(ask).await;
    assert_eq!(hand.hear().await["result"], "3 left");
    let took = began.elapsed().as_secs_f64();
    assert!((1.5..4.0).contains(&took), "{took} s for {frames} frames");
}

#[test]
fn a_request_that_names_too_many_ensembles_is_refused_with_the_limit() {
    let request = |ancestors: usize| {
        json!({ "type": "tool_request", "requestId": "1", "from": "x", "tool": "t",
            "ancestors": vec!["a"; ancestors] })
    };
    assert!(crate::wire::Frame::check(&request(64)).is_ok());
    let why = crate::wire::Frame::check(&request(65)).unwrap_err();
    assert!(why.contains("more than 64 ensembles"), "{why}");
}
