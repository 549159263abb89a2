//! Tests of stopping and draining: no work goes on in the background, and no caller waits for ever.

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::EffectClass;
use consort_core::message::Outcome;
use consort_core::next::Terms;
use consort_core::reach::Provider;
use consort_models::{Line, ScriptedModel, What};
use consort_tools::{Account, Answer, Invocation, Tool, What as Did};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::world::{House, LEASE, Running, invocation, tool};
use crate::memory::{Faults, MemoryNetwork};
use crate::remote::NetworkTool;

/// The maximum time a call may take to end after a cancel, in these ensembles.
const GRACE: Duration = Duration::from_secs(1);

fn calls(to: &str) -> Line {
    Line::new().calls(to, &json!({ "input": "please" }))
}

/// Returns an ensemble whose model calls the same capability of the next one.
fn asks(name: &str, next: &str) -> House {
    let model = ScriptedModel::new().at("1.0", calls(&format!("{next}.work"))).says("1.1", "done");
    House::new(name, &[next]).task("work", &[&format!("{next}.work")]).model(&model)
}

/// Starts three ensembles: `a` asks `b`, which asks `c`, whose model never answers.
async fn chain(wires: &MemoryNetwork) -> (Running, Running, Running, ScriptedModel) {
    let last = ScriptedModel::new().otherwise(Line::new().hangs());
    let c = House::new("c", &[]).task("work", &[]).model(&last);
    let a = asks("a", "b").start(wires).await;
    let b = asks("b", "c").start(wires).await;
    let c = c.start(wires).await;
    a.until_knows(&["b.work"]).await;
    b.until_knows(&["a.work", "c.work"]).await;
    (a, b, c, last)
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_ends_when_the_last_ensemble_of_the_chain_has_stopped() {
    let wires = MemoryNetwork::new(Faults { delay: Duration::from_millis(20), ..Faults::default() }, 1);
    let (a, _b, _c, last) = chain(&wires).await;
    let run = a.submit(&["b.work"]).await;
    last.until(What::Asked, "1.0").await;
    let began = Instant::now();
    a.cancel(&run).await;
    let (status, outcomes) = a.ended(&run).await;
    assert_eq!(last.ledger(), ["asked 1.0", "dropped 1.0"], "before the run ended, not some time afterwards");
    assert_eq!((status.as_str(), outcomes), ("CANCELLED", vec![Outcome::failed("Cancelled")]));
    assert!(began.elapsed() < GRACE, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_answer_holds_no_cancel_and_its_work_ends_without_one() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let (a, _b, _c, last) = chain(&wires).await;
    let run = a.submit(&["b.work"]).await;
    last.until(What::Asked, "1.0").await;
    wires.part("a", "b");
    let began = Instant::now();
    a.cancel(&run).await;
    let (status, outcomes) = a.ended(&run).await;
    assert_eq!(status, "CANCELLED");
    assert!(began.elapsed() <= GRACE + Duration::from_millis(10), "{:?}", began.elapsed());
    let [Outcome::Unknown { why }] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    assert!(why.contains("may still be at work"), "{why}");
    assert_eq!(last.ledger(), ["asked 1.0"]);
    timeout(LEASE * 6 + GRACE, last.until(What::Dropped, "1.0")).await.expect("nobody waits for it any more");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_could_not_be_said_is_said_when_the_peer_is_back() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let (a, _b, _c, last) = chain(&wires).await;
    let run = a.submit(&["b.work"]).await;
    last.until(What::Asked, "1.0").await;
    wires.part("a", "b");
    sleep(LEASE * 2).await;
    a.cancel(&run).await;
    assert_eq!(a.ended(&run).await.0, "CANCELLED");
    wires.heal();
    timeout(LEASE, last.until(What::Dropped, "1.0")).await.expect("a tells b at once");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_a_caller_did_not_live_to_say_is_said_by_the_next_before_the_run_ends() {
    for effect in [EffectClass::Read, EffectClass::Once] {
        let wires = MemoryNetwork::new(Faults::default(), 1);
        let work = tool("work", effect).hangs();
        let b = House::new("b", &[]).tool("work", &[], &work).start(&wires).await;
        let house = House::new("a", &["b"]).model(&ScriptedModel::new().at("1.0", calls("b.work")));
        let a = house.start(&wires).await;
        a.until_knows(&["b.work"]).await;
        let run = a.submit(&["b.work"]).await;
        work.until(Did::Began, 1).await;
        wires.part("a", "b");
        a.cancel(&run).await;
        drop(a);
        wires.heal();
        let did = || work.entries().iter().map(|entry| entry.what).collect::<Vec<_>>();
        assert_eq!(did(), [Did::Began], "nobody has told b");
        let a = house.start(&wires).await;
        let (status, outcomes) = a.ended(&run).await;
        assert_eq!(status, "CANCELLED");
        assert_eq!(did(), [Did::Began, Did::Dropped], "before the run ended: {outcomes:?}");
        drop(b);
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_died_while_a_peer_worked_has_the_answer_when_it_is_back() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new().otherwise(Line::new().waits(&gate).says("soup"));
    let b = House::new("b", &[]).task("work", &[]).model(&model).start(&wires).await;
    let house = House::new("a", &["b"]).model(&ScriptedModel::new().at("1.0", calls("b.work")).says("1.1", "done"));
    let a = house.start(&wires).await;
    a.until_knows(&["b.work"]).await;
    let run = a.submit(&["b.work"]).await;
    model.until(What::Asked, "1.0").await;
    drop(a);
    let a = house.start(&wires).await;
    sleep(LEASE * 3).await;
    gate.notify_one();
    assert_eq!(a.ended(&run).await, ("COMPLETED".to_owned(), vec![Outcome::answer("soup")]));
    assert_eq!(model.ledger(), ["asked 1.0", "answered 1.0"], "and it was done once");
    drop(b);
}

#[tokio::test(start_paused = true)]
async fn what_a_peer_that_stays_away_was_doing_for_a_dead_caller_is_unknown() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let pay = tool("pay", EffectClass::Once).hangs();
    let b = House::new("b", &[]).tool("pay", &[], &pay).start(&wires).await;
    let house = House::new("a", &["b"]).model(&ScriptedModel::new().at("1.0", calls("b.pay")).says("1.1", "done"));
    let a = house.start(&wires).await;
    a.until_knows(&["b.pay"]).await;
    let run = a.submit(&["b.pay"]).await;
    pay.until(Did::Began, 1).await;
    drop((a, b));
    let began = Instant::now();
    let a = house.start(&wires).await;
    let (status, outcomes) = a.ended(&run).await;
    assert_eq!(status, "COMPLETED");
    let [Outcome::Unknown { why }] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    assert!(why.contains("did not come back in time"), "{why}");
    assert!(began.elapsed() <= LEASE * 2 + GRACE, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn work_for_an_ensemble_that_died_ends_even_after_a_restart_of_its_own() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let last = ScriptedModel::new().otherwise(Line::new().hangs());
    let house = House::new("c", &[]).task("work", &[]).model(&last);
    let c = house.start(&wires).await;
    let a = House::new("a", &["c"]).start(&wires).await;
    a.until_knows(&["c.work"]).await;
    let call = a.network.tool("c.work").unwrap();
    let working = call.call(invocation("work"));
    tokio::select! { _ = working => panic!("the model hangs"), () = last.until(What::Asked, "1.0") => {} }
    drop((a, c, call));
    let _c = house.start(&wires).await;
    sleep(LEASE * 5).await;
    assert_eq!(last.ledger().last().unwrap(), "dropped 1.0");
    let stopped = last.ledger().iter().filter(|line| line.starts_with("dropped")).count();
    assert_eq!(stopped, last.ledger().len() - stopped, "{:?}", last.ledger());
}

#[tokio::test(start_paused = true)]
async fn a_call_shows_how_far_it_is_while_somebody_else_does_it() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let (a, _b, _c, last) = chain(&wires).await;
    let run = a.submit(&["b.work"]).await;
    let engine = a.serve.engine().clone();
    let mut frames = engine.tail(&run, 0).await.unwrap();
    let progress = async {
        loop {
            let frame: Value = serde_json::from_str(frames.next().await.unwrap().unwrap().text()).unwrap();
            if frame["type"] == "tool_progress" {
                return frame;
            }
        }
    };
    let told = timeout(Duration::from_secs(5), progress).await.expect("b says how far it is");
    assert_eq!((&told["runId"], &told["toolName"]), (&json!(*run), &json!("b.work")));
    assert_eq!((&told["status"], &told["callId"]), (&json!("RUNNING"), &json!("1.0.0")));
    assert_eq!(told["message"], "Agent calls c.work");
    let peers = a.network.peers();
    let request = &peers[0].requests[0];
    assert_eq!((peers[0].name.as_str(), request.capability.as_str()), ("b", "work"));
    assert!(request.progress.as_ref().unwrap().message.as_ref().unwrap().contains("c.work"));

    sleep(Duration::from_secs(3)).await;
    let peers = a.network.peers();
    let message = peers[0].requests[0].progress.as_ref().unwrap().message.clone().unwrap();
    assert_eq!(message, "c.work: Agent asks main", "of what b's peer said");
    assert_eq!(last.ledger(), ["asked 1.0"]);
    a.cancel(&run).await;
    a.ended(&run).await;
    assert!(a.network.peers()[0].requests.is_empty(), "nobody waits for it any more");
}

#[tokio::test(start_paused = true)]
async fn who_is_about_to_stop_says_so_and_is_passed_over() {
    let wires = MemoryNetwork::new(Faults::default(), 1);
    let first = tool("look", EffectClass::Read);
    let second = tool("look", EffectClass::Read);
    let first = first.answers("first");
    let second = second.answers("second");
    let kitchen = House::new("kitchen", &[]).tool("look", &["food"], &first).start(&wires).await;
    let pantry = House::new("pantry", &[]).tool("look", &["food"], &second).start(&wires).await;
    let room = House::new("room", &["kitchen", "pantry"]).start(&wires).await;
    room.until_knows(&["kitchen.look", "pantry.look"]).await;
    let named = room.network.tool("kitchen.look").unwrap();
    let done = |text: &str| Answer::Done { text: text.to_owned(), data: None };
    assert_eq!(named.call(invocation("1")).await, done("first"));

    kitchen.network.drain();
    sleep(Duration::from_millis(10)).await;
    let offered = room.network.peer_tools();
    assert_eq!(offered.iter().map(|tool| tool.info().name.as_str()).collect::<Vec<_>>(), ["pantry.look"]);
    assert_eq!(NetworkTool::discover("look", &room.network).unwrap().info().name, "pantry.look");
    let any = Account::default().on(Terms::default(), Provider::Any);
    let any = Invocation { account: any, ..invocation("2") };
    assert_eq!(named.call(any).await, done("second"), "where a pattern means whoever shares it");
    assert_eq!(first.args().len(), 1);
    drop(pantry);
    room.until_knows(&["kitchen.look"]).await;
    let Answer::Failed(why) = named.call(invocation("3")).await else { panic!() };
    assert!(why.contains("kitchen did not take it on: Ensemble is DRAINING"), "{why}");
}
