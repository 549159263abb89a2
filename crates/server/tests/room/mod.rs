//! A store without room: what waits says so, nothing is lost, and deleting makes room.

use std::sync::Arc;

use consort_core::draft::Draft;
use consort_core::owner::Owner;
use consort_core::spec::ReviewRule;
use consort_log::{Append, Error, Log, Options, Record, Row, SqliteLog};
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;
use serde_json::json;

use crate::client::{engine_over, server, start, task};
use crate::says;

/// Fills what is left of a store with a stream of its own.
async fn fill(log: &SqliteLog) {
    let row = Row {
        kind: "junk".into(),
        status: "OPEN".into(),
        owner: Owner::local(),
        started_at: 0,
        ended_at: None,
        tags: [].into(),
        body: "{}".into(),
        words: None,
    };
    let mut expected = 0;
    // First in large steps, then in steps so small that nothing else fits either.
    for length in [2_000, 1] {
        loop {
            let records = vec![Record { body: "x".repeat(length).into(), attachments: Vec::new() }];
            let stream = "junk";
            let row = row.clone();
            match log.append(Append::new(stream, expected, records, row)).await {
                Ok(()) => expected += 1,
                Err(Error::Full(_)) => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_room_a_run_says_what_it_waits_for_the_server_is_not_ready_and_deleting_helps() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { max_bytes: Some(800_000) };
    let log = Arc::new(SqliteLog::open_with(&folder.path().join("log.db"), options).unwrap());
    let mut seams = engine_over(Arc::default(), says("draft"), Capacity::UNLIMITED).seams().clone();
    seams = seams.over(log.clone());
    let careful = Draft { review: Some(ReviewRule::Required), ..task("a") };
    let here = start(server(Engine::new(seams), vec![careful])).await;
    let body = json!({ "inputs": { "topic": "x" } });
    let mut runs = Vec::new();
    for _ in 0..2 {
        runs.push(here.post("/api/runs", body.clone()).await.json()["runId"].as_str().unwrap().to_owned());
    }
    while here.get("/api/reviews").await.json()["total"] != 2 {}
    let decide = |run: &str| format!("/api/reviews/{run}-review-0");
    here.post(&decide(&runs[0]), json!({ "decision": "CONTINUE" })).await;
    let detail = async |run: &str| here.get(&format!("/api/runs/{run}")).await.json();
    while detail(&runs[0]).await["status"] != "COMPLETED" {}
    assert_eq!(here.get("/api/health/ready").await.status, 200);

    fill(&log).await;
    let path = decide(&runs[1]);
    let deciding = here.post(&path, json!({ "decision": "CONTINUE" }));
    let looking = async {
        while detail(&runs[1]).await["waitingFor"] != "storage" {}
        let listed = here.get("/api/runs?status=RUNNING").await.json();
        assert_eq!(listed["runs"][0]["waitingFor"], "storage", "{listed}");
        let ready = here.get("/api/health/ready").await;
        assert_eq!((ready.status, ready.json()["status"].as_str()), (503, Some("NOT_READY")));
        assert!(
            ready.json()["reason"].as_str().unwrap().starts_with("nothing can be stored: no room left: "),
            "{ready:?}"
        );
        assert!(here.get("/metrics").await.body.contains("consort_storage_full 1\n"));
        assert_eq!(here.post("/api/runs", body.clone()).await.problem(), (503, "STORAGE_UNAVAILABLE".to_owned()));
        let cancel = format!("/api/runs/{}/cancel", runs[1]);
        let refused = here.post(&cancel, json!({ "mode": "now" })).await;
        assert_eq!(refused.problem(), (503, "STORAGE_UNAVAILABLE".to_owned()), "nobody waits for room without knowing");
        let gone = here.send(&format!("DELETE /api/runs/{} HTTP/1.1\r\nHost: localhost", runs[0]), b"").await;
        assert_eq!(gone.status, 204, "{gone:?}");
        log.erase(vec!["junk".into()]).await.unwrap();
    };
    let (decided, ()) = tokio::join!(deciding, looking);
    assert_eq!(decided.status, 200, "{decided:?}");
    while detail(&runs[1]).await["status"] != "COMPLETED" {}
    assert_eq!(here.get("/api/health/ready").await.status, 200);
}
