//! Questions for permission, told over sockets to the key whose threads they are in.

use std::sync::Arc;

use consort_core::catalog::{EffectClass, ModelInfo, Permission};
use consort_core::owner::Owner;
use consort_log::MemoryLog;
use consort_models::{ModelCatalog, ScriptedModel};
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_server::access::{Key, Scope};
use consort_tools::{ScriptedTool, Toolbox};
use serde_json::json;

use super::{greeted, post, thread};
use crate::client::{Here, Socket, server, start};

/// Two keys of one owner, and one that sees the runs of all.
const KEYS: [(&str, &str, &[Scope]); 3] = [
    ("ann", "a", &[Scope::Read, Scope::Run, Scope::Review]),
    ("bob", "a", &[Scope::Read, Scope::Run, Scope::Review]),
    ("eve", "b", &[Scope::Admin]),
];

/// Starts a server on which every turn asks to pay.
async fn paying() -> Here {
    let pay = ScriptedTool::new("pay").effect(EffectClass::Once).answers("paid");
    let pay = pay.with_info(|info| info.permission = Permission::Network);
    let model = ScriptedModel::new().calls("1.0", "pay", &json!({ "input": "5 EUR" })).says("1.1", "done");
    let models = ModelCatalog::default().with(ModelInfo::new("main", "scripted"), model).unwrap();
    let tools = Toolbox::default().with(pay).unwrap();
    let seams = Seams::new(Arc::new(MemoryLog::default()), models, tools);
    let mut paying = server(Engine::new(seams), Vec::new());
    let key = |(name, owner, scopes)| Key::of(Owner::named(owner).unwrap(), (name, name), scopes);
    paying.access.keys = KEYS.map(key).into();
    start(paying).await
}

#[tokio::test]
async fn who_lists_questions_for_permission_is_told_those_of_its_own_threads_alone() {
    let here = paying().await;
    let mut sockets: Vec<(&str, Socket)> = Vec::new();
    for (key, _, _) in KEYS {
        let (mut socket, _) = greeted(&here, key).await;
        let types = ["tool_approval_request", "tool_approval_resolved"];
        let ack = socket.ask(json!({ "type": "subscribe", "events": types })).await;
        assert_eq!(ack["type"], "subscribe_ack");
        sockets.push((key, socket));
    }
    for (key, socket) in &mut sockets {
        let thread = thread(&here, key).await;
        let said = json!({ "content": "pay 5", "permission_mode": "default" });
        assert_eq!(post(&here, key, &format!("/api/threads/{thread}/messages"), said).await.status, 202);
        // A question of a key before it would have come first.
        let asked = socket.frame().await;
        assert_eq!((&asked["type"], &asked["thread_id"]), (&json!("tool_approval_request"), &json!(thread)));
        let path = format!("/api/approvals/{}", asked["approval_id"].as_str().unwrap());
        assert_eq!(post(&here, key, &path, json!({ "decision": "deny" })).await.status, 200);
        let resolved = socket.frame().await;
        assert_eq!((&resolved["type"], &resolved["decision"]), (&json!("tool_approval_resolved"), &json!("deny")));
    }
    for (_, socket) in &mut sockets {
        assert!(socket.drained().await.is_empty(), "each was told once");
    }
}
