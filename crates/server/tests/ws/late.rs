//! Tests that a client that joins late sees the same as one that joined early.

use std::sync::Arc;

use consort_core::draft::Draft;
use consort_log::MemoryLog;
use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::fold::Screens;
use super::{kinds, request};
use crate::client::{Socket, engine, engine_over, server, start, task};
use crate::{ended, says, talking};

/// Creates a model and tasks: one calculates, and then waits for the others before it answers.
fn calculating(gate: &Arc<Barrier>) -> (ScriptedModel, Vec<Draft>) {
    let sum = Line::new().calls("calculator", &json!({ "input": "1 + 1" }));
    let model =
        ScriptedModel::new().in_task("a", 0, sum).in_task("a", 1, Line::new().says("two").waits(gate).says("!"));
    let a = Draft { tools: vec!["calculator".to_owned()], ..task("a") };
    (model.otherwise(Line::new().says("done")), vec![a, task("b")])
}

async fn watch(socket: &mut Socket, screens: &mut Screens, runs: usize) {
    while !screens.over(runs) {
        screens.apply(&socket.frame().await);
    }
}

#[tokio::test]
async fn with_two_runs_at_once_an_early_a_late_and_a_very_late_client_see_the_same() {
    let gate = Arc::new(Barrier::new(3));
    let (model, tasks) = calculating(&gate);
    let here = start(server(engine(model, Capacity::UNLIMITED), tasks)).await;
    let (mut early, hello) = here.greeted().await;
    let mut seen_early = Screens::default();
    seen_early.greet(&hello);
    let (mut submitter, _) = here.greeted().await;
    submitter.say(request("1")).await;
    submitter.say(request("2")).await;
    let mut talking = 0;
    while talking < 2 {
        let frame = early.frame().await;
        seen_early.apply(&frame);
        talking += usize::from(frame["type"] == "token");
    }

    let (mut late, hello) = here.greeted().await;
    let mut seen_late = Screens::default();
    seen_late.greet(&hello);
    assert_eq!(hello["recentIterations"].as_array().unwrap().len(), 4, "two of each run, one under way");
    gate.wait().await;
    watch(&mut early, &mut seen_early, 2).await;
    watch(&mut late, &mut seen_late, 2).await;
    assert_eq!(seen_late, seen_early);

    let (_, hello) = here.greeted().await;
    let mut seen_very_late = Screens::default();
    seen_very_late.greet(&hello);
    assert_eq!(seen_very_late, seen_early);
}

#[tokio::test]
async fn clients_that_join_at_any_moment_miss_nothing_and_see_nothing_twice() {
    let here = talking().await;
    let (mut submitter, _) = here.greeted().await;
    for round in 0..20 {
        submitter.say(request("r")).await;
        let run = submitter.first("run_ack").await["runId"].clone();
        for _ in 0..round % 5 {
            tokio::task::yield_now().await;
        }
        let (mut late, hello) = here.greeted().await;
        let told: Vec<u64> = super::seqs(hello["snapshotTrace"].as_array().unwrap(), &run);
        submitter.first("run_result").await;
        let live = super::seqs(&late.drained().await, &run);
        assert!(live.windows(2).all(|pair| pair[1] == pair[0] + 1), "{live:?}");
        if let (Some(first), Some(last)) = (live.first(), told.last()) {
            assert!(last < first, "{told:?} {live:?}");
        }
        let events = format!("/api/runs/{}/events", run.as_str().unwrap());
        let head = format!("GET {events}?limit=1000 HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
        let stored = here.send(&head, b"").await.json()["events"].as_array().unwrap().clone();
        let kept = |frame: &&Value| hello["snapshotTrace"].as_array().unwrap().contains(frame);
        let worth: Vec<u64> = super::seqs(&stored.iter().filter(kept).cloned().collect::<Vec<_>>(), &run);
        assert_eq!(worth, told, "exactly the frames that were sent");
        assert!(live.is_empty() || *live.last().unwrap() == stored.len() as u64 - 1);
    }
}

#[tokio::test]
async fn a_restart_does_not_empty_the_snapshot_and_only_so_many_runs_are_in_it() {
    let log = Arc::new(MemoryLog::default());
    let first = engine_over(log.clone(), says("done"), Capacity::UNLIMITED);
    let here = start(server(first.clone(), vec![task("a")])).await;
    let _ = ended(&here).await;
    let newest = ended(&here).await;
    let (_, before) = here.greeted().await;
    let each =
        ["ensemble_started", "task_started", "task_input", "metrics_snapshot", "task_completed", "ensemble_completed"];
    assert_eq!(kinds(before["snapshotTrace"].as_array().unwrap()), [each, each].concat());
    assert_eq!(before["ensembleId"], before["snapshotTrace"][6]["ensembleId"]);
    assert_eq!(before["startedAt"], before["snapshotTrace"][6]["startedAt"]);
    assert_eq!(before["recentIterations"].as_array().unwrap().len(), 1, "the run before is history");
    drop(here);
    first.stop().await;

    let again = start(server(engine_over(log.clone(), says("x"), Capacity::UNLIMITED), vec![task("a")])).await;
    assert_eq!(again.greeted().await.1, before);
    let mut small = server(engine_over(log, says("x"), Capacity::UNLIMITED), vec![task("a")]);
    (small.sockets.retained_runs, small.sockets.snapshot_iterations) = (1, 0);
    let (_, hello) = start(small).await.greeted().await;
    assert!(hello["snapshotTrace"].as_array().unwrap().iter().all(|frame| frame["runId"] == newest));
    assert_eq!(
        (kinds(hello["snapshotTrace"].as_array().unwrap()), &hello["recentIterations"]),
        (each.into(), &json!([]))
    );
}

#[tokio::test]
async fn a_long_history_is_cut_to_what_fits() {
    let long = "x".repeat(3 * 1024 * 1024);
    let here = start(server(engine(says(&long), Capacity::UNLIMITED), vec![task("a")])).await;
    let _ = ended(&here).await;
    let newest = ended(&here).await;
    let (_, hello) = here.greeted().await;
    assert!(hello["truncated"] == true && hello.to_string().len() <= 4 * 1024 * 1024);
    let output = |frame: &&Value| frame["type"] == "task_completed";
    let outputs: Vec<&Value> = hello["snapshotTrace"].as_array().unwrap().iter().filter(output).collect();
    assert_eq!(
        (outputs[1]["runId"].as_str(), outputs[1]["output"] == *long),
        (Some(&*newest), true),
        "the newest whole"
    );
    assert!(outputs[0]["output"].as_str().unwrap().ends_with("[truncated]"));
}
