//! Hooks: who may begin a run, what becomes of the body, and that a delivery begins one run.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::owner::Owner;
use consort_log::MemoryLog;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_runtime::hooks::Hook;
use consort_runtime::hooks::verify::Verify;
use consort_runtime::webhooks::Secret;
use consort_server::Server;
use consort_server::access::{Key, Scope};
use serde_json::{Value, json};

use crate::client::{Answer, Here, engine, engine_over, server, start, task};
use crate::says;

const SECRET: &[u8] = b"It's a Secret to Everybody";

fn hook(name: &str, verify: Verify) -> Hook {
    Hook {
        name: name.to_owned(),
        verify,
        secret: Secret::of(SECRET),
        when: Some("body.action == 'opened'".to_owned()),
        inputs: BTreeMap::from([("topic".to_owned(), "body.issue.title".to_owned())]),
        workflow: None,
        owner: Owner::named("team-a").unwrap(),
    }
}

fn hooked(log: &Arc<MemoryLog>, hooks: Vec<Hook>) -> Server {
    let keys = vec![Key::of(Owner::local(), ("admin", "admin"), &[Scope::Admin])];
    let mut server =
        Server { hooks, ..server(engine_over(log.clone(), says("x"), Capacity::UNLIMITED), vec![task("a")]) };
    server.access.keys = keys;
    server
}

fn opened() -> Value {
    json!({ "action": "opened", "issue": { "title": "Bees" } })
}

/// Sends a request to the hook `github`, signed with this secret.
async fn github(here: &Here, secret: &[u8], delivery: &str, body: &Value) -> Answer {
    let body = body.to_string();
    let signed: String = Secret::of(secret).hmac(&[body.as_bytes()]).iter().map(|byte| format!("{byte:02x}")).collect();
    let head = format!(
        "POST /hooks/github HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         X-Hub-Signature-256: sha256={signed}\r\nX-GitHub-Delivery: {delivery}"
    );
    here.send(&head, body.as_bytes()).await
}

async fn detail(here: &Here, run: &str) -> Value {
    let head = format!("GET /api/runs/{run} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer admin");
    here.send(&head, b"").await.json()
}

#[tokio::test]
async fn a_verified_delivery_begins_one_run_also_after_a_restart() {
    let log = Arc::new(MemoryLog::default());
    let hooks = || vec![hook("github", Verify::GitHub)];
    let here = start(hooked(&log, hooks())).await;
    let first = github(&here, SECRET, "d1", &opened()).await;
    assert_eq!(first.status, 202, "without a key: {first:?}");
    let run = first.json()["runId"].as_str().unwrap().to_owned();
    let begun = detail(&here, &run).await;
    assert_eq!(begun["hook"], json!({ "name": "github", "deliveryId": "d1" }), "{begun}");
    assert_eq!((&begun["owner"], &begun["inputs"]["topic"]), (&json!("team-a"), &json!("Bees")));
    assert_eq!(github(&here, SECRET, "d1", &opened()).await.json()["runId"], run);
    assert_ne!(github(&here, SECRET, "d2", &opened()).await.json()["runId"], run);
    drop(here);
    let here = start(hooked(&log, hooks())).await;
    assert_eq!(github(&here, SECRET, "d1", &opened()).await.json()["runId"], run);
}

#[tokio::test]
async fn nobody_else_begins_a_run_and_what_is_not_wanted_is_skipped() {
    let here = start(hooked(&Arc::default(), vec![hook("github", Verify::GitHub)])).await;
    let unauthorized = (401, "UNAUTHORIZED".to_owned());
    assert_eq!(github(&here, b"a guess", "d1", &opened()).await.problem(), unauthorized);
    let bare = here.post_with("/hooks/github", "Authorization: Bearer admin", opened()).await;
    assert_eq!(bare.problem(), unauthorized, "a key is no proof");
    assert_eq!(here.post("/hooks/nothing", opened()).await.problem(), (404, "HOOK_NOT_FOUND".to_owned()));
    let closed = github(&here, SECRET, "d1", &json!({ "action": "closed" })).await;
    assert_eq!((closed.status, closed.json()), (200, json!({ "skipped": true })));
    let failed = (400, "EXPRESSION_FAILED".to_owned());
    let without_title = github(&here, SECRET, "d1", &json!({ "action": "opened" })).await;
    assert_eq!(without_title.problem(), failed);
    assert!(without_title.body.contains("inputs.topic"), "{without_title:?}");
    assert_eq!(github(&here, SECRET, "d1", &json!([])).await.problem(), failed, "`when` has no value");
    let metrics = here.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer admin", b"").await;
    assert!(metrics.body.contains("consort_refusals_total{reason=\"unauthorized\"} 2"), "{}", metrics.body);
}

#[tokio::test]
async fn a_bearer_token_or_nothing_is_enough_where_the_file_says_so() {
    let hooks = vec![hook("bearer", Verify::Bearer), Hook { when: None, ..hook("open", Verify::None) }];
    let here = start(hooked(&Arc::default(), hooks)).await;
    let secret = std::str::from_utf8(SECRET).unwrap();
    let bearer = format!("Authorization: Bearer {secret}\r\nIdempotency-Key: k1");
    let first = here.post_with("/hooks/bearer", &bearer, opened()).await;
    assert_eq!(first.status, 202, "{first:?}");
    assert_eq!(here.post_with("/hooks/bearer", &bearer, opened()).await.json(), first.json());
    assert_eq!(here.post_with("/hooks/bearer", "Authorization: Bearer x", opened()).await.status, 401);
    let open = here.post("/hooks/open", json!({ "issue": { "title": { "de": "Bienen" } } })).await;
    let begun = detail(&here, open.json()["runId"].as_str().unwrap()).await;
    assert_eq!(begun["inputs"]["topic"], json!({ "de": "Bienen" }), "inputs are any JSON");
    let head = "POST /hooks/open HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json";
    assert_eq!(here.send(head, b"{").await.problem(), (400, "BAD_REQUEST".to_owned()));
}

#[tokio::test]
async fn slack_is_answered_its_challenge_and_a_full_server_says_so() {
    let hanging = ScriptedModel::new().otherwise(Line::new().hangs());
    let hooks = vec![hook("slack", Verify::Slack), hook("github", Verify::GitHub)];
    let here =
        start(Server { hooks, ..server(engine(hanging, Capacity { running: 1, queued: 0 }), vec![task("a")]) }).await;
    let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string();
    let body = json!({ "type": "url_verification", "challenge": "c" }).to_string();
    let signed = Secret::of(SECRET).hmac(&[b"v0:", at.as_bytes(), b":", body.as_bytes()]);
    let signed: String = signed.iter().map(|byte| format!("{byte:02x}")).collect();
    let head = format!(
        "POST /hooks/slack HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         X-Slack-Request-Timestamp: {at}\r\nX-Slack-Signature: v0={signed}"
    );
    assert_eq!(here.send(&head, body.as_bytes()).await.json(), json!({ "challenge": "c" }));
    assert_eq!(github(&here, SECRET, "d1", &opened()).await.status, 202);
    assert_eq!(github(&here, SECRET, "d2", &opened()).await.problem(), (429, "CONCURRENCY_LIMIT".to_owned()));
    assert_eq!(github(&here, SECRET, "d1", &opened()).await.status, 202, "a delivery that was taken stays taken");
}
