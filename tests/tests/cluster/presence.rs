//! A turn that needs a client goes on while one attends it at any node, and stops when none does.

use consort_chat::{Chats, Settings, Start};
use consort_core::budget::Limits as Budget;
use consort_core::chat::{Presence, Rules, UserMessage};
use consort_models::{Line, ScriptedModel};
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;

use super::sim::{Store, Way};
use super::*;
use crate::support;

/// The time that a turn goes on without a client.
const GRACE: Duration = Duration::from_secs(10);

struct Node {
    way: Arc<Way>,
    engine: Engine,
    chats: Chats,
}

/// Returns a node whose model never answers.
async fn node(store: &Arc<Store>, name: &str) -> Node {
    let way = Way::new(store, name);
    let models = support::models(ScriptedModel::new().otherwise(Line::new().hangs()), ScriptedModel::new());
    let tools = consort_tools::Toolbox::default();
    let seams = Seams { cluster: way.clone(), node: Some(name.to_owned()), ..Seams::new(way.clone(), models, tools) };
    let engine = Engine::new(seams);
    engine.recover().await.unwrap();
    let limits = Budget { depth: 3, iterations_per_level: 20, parallel_per_turn: 8, ..Budget::default() };
    let rules = Rules { limits, ..Rules::default() };
    let chats = Chats::new(engine.clone(), Settings { detach_grace: GRACE, ..Settings::new(&engine, rules) });
    chats.resume().await.unwrap();
    Node { way, engine, chats }
}

#[tokio::test(start_paused = true)]
async fn a_turn_goes_on_while_a_client_of_any_node_attends_it_and_stops_when_none_does() {
    let store: Arc<Store> = Arc::default();
    let first = node(&store, "first").await;
    let thread = first.chats.create("local", None).await.unwrap().id;
    let say = UserMessage { content: "go".into(), presence: Presence::Attended, ..UserMessage::default() };
    let there = first.chats.follow("local", &thread, Start::Now).await.unwrap();
    let turn = first.chats.send("local", &thread, say).await.unwrap().turn;
    // It finds a turn that runs, and has no client of its own.
    let second = node(&store, "second").await;
    sleep(5 * GRACE).await;
    let is_running = async || first.chats.running(&thread).await.unwrap().is_some();
    assert!(is_running().await, "a node that cannot be asked may have a client");
    let _link = link::join([(&first.engine, &first.way), (&second.engine, &second.way)]);
    sleep(5 * GRACE).await;
    assert!(is_running().await, "the first one has a client");
    let here = second.chats.follow("local", &thread, Start::Now).await.unwrap();
    drop(there);
    sleep(5 * GRACE).await;
    assert!(is_running().await, "the second one has a client");
    drop(here);
    timeout(5 * GRACE, second.engine.finished(&turn)).await.expect("nobody is there any more");
    assert!(!is_running().await);
}
