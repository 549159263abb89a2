//! Quotas of owners, through real sockets.

use std::sync::Arc;

use consort_core::catalog::{ModelInfo, Price};
use consort_core::message::Usage;
use consort_core::owner::Owner;
use consort_log::MemoryLog;
use consort_models::{Line, ModelCatalog, ScriptedModel};
use consort_runtime::admission::{Keep, Pool, Pools};
use consort_runtime::effects::Seams;
use consort_runtime::engine::{Engine, Quota};
use consort_server::Server;
use consort_server::access::{Key, Scope};
use consort_tools::Toolbox;
use serde_json::json;
use tokio::sync::Notify;

use crate::client::{Answer, Here, server, start, task};

const CENT: u64 = 10_000_000;

fn quota(owner: Option<&str>, max_concurrent_runs: Option<usize>, max_cost_per_day: Option<u64>) -> Quota {
    Quota { owner: owner.map(|name| Owner::named(name).unwrap()), max_concurrent_runs, max_cost_per_day }
}

/// A server for two teams whose runs cost two cents each, and are erased as soon as they end.
fn limited(log: &Arc<MemoryLog>, model: ScriptedModel, quotas: Vec<Quota>) -> Server {
    let price = Price { input: 0, output: 1_000_000_000_000, cached_input: 0 };
    let info = ModelInfo { price: Some(price), max_output_tokens: 30, ..ModelInfo::new("main", "scripted") };
    let models = ModelCatalog::default().with(info, model).unwrap();
    let seams = Seams::new(log.clone(), models, Toolbox::default());
    let runs = Pool { keep: Keep::Newest(1), ..Pool::default() };
    let engine = Engine::limited(seams, Pools { runs, ..Pools::default() });
    let mut limited = server(engine, vec![task("a")]);
    limited.access.keys = ["a", "b"].map(|name| Key::new(name, name, &[Scope::Run]).unwrap()).to_vec();
    limited.quotas = quotas;
    limited
}

async fn begin(here: &Here, key: &str) -> Answer {
    here.post_with("/api/runs", &format!("Authorization: Bearer {key}"), json!({ "inputs": { "topic": "tea" } })).await
}

/// Begins a run and waits for its end.
async fn finish(here: &Here, key: &str) -> Answer {
    let header = format!("Authorization: Bearer {key}\r\nPrefer: wait=60");
    here.post_with("/api/runs", &header, json!({ "inputs": { "topic": "tea" } })).await
}

#[tokio::test]
async fn an_owner_has_no_more_runs_at_once_than_its_quota_allows_and_others_have_theirs() {
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new().otherwise(Line::new().waits(&gate).says("x"));
    let quotas = vec![quota(None, Some(1), None), quota(Some("b"), Some(2), None)];
    let here = start(limited(&Arc::default(), model, quotas)).await;
    assert_eq!(begin(&here, "a").await.status, 202);
    let refused = begin(&here, "a").await;
    assert_eq!(refused.problem(), (429, "CONCURRENCY_LIMIT".to_owned()));
    assert_eq!(refused.json()["message"], "the owner 'a' may have 1 runs at once. Retry later.");
    assert!(refused.header("retry-after").is_some());
    let together = futures::future::join_all((0..5).map(|_| begin(&here, "b"))).await;
    assert_eq!(together.iter().filter(|answer| answer.status == 202).count(), 2, "however many ask together");
}

#[tokio::test]
async fn what_an_owners_runs_may_cost_on_a_day_is_counted_though_they_are_erased_and_the_server_starts_again() {
    // Twenty tokens at a thousandth of a dollar.
    let usage = Usage { input: 1, output: 20, ..Usage::default() };
    let model = || ScriptedModel::new().otherwise(Line::new().says("x").uses(usage));
    let quotas = || vec![quota(Some("a"), None, Some(5 * CENT))];
    let log = Arc::<MemoryLog>::default();
    let here = start(limited(&log, model(), quotas())).await;
    for _run in 0..2 {
        assert_eq!(finish(&here, "a").await.status, 200);
    }
    drop(here);
    let here = start(limited(&log, model(), quotas())).await;
    let third = finish(&here, "a").await;
    assert_eq!(third.json()["status"], "FAILED", "one cent is left, and it may not cost two: {third:?}");
    assert_eq!(finish(&here, "b").await.status, 200, "others have no quota");
}
