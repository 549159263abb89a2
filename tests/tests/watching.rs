//! A client that follows a run, from whatever point, sees each event once and in order.

use std::sync::Arc;

use consort_core::draft::Request;
use consort_log::{MemoryLog, SqliteLog};
use consort_models::{Line, ScriptedModel, What};
use consort_runtime::engine::Engine;
use consort_runtime::ring::Frame;
use consort_tools::ScriptedTool;
use futures::StreamExt;
use serde_json::Value;
use tokio::sync::Notify;

use crate::support::{after, compiled, engine, ensemble, frames, models, task, toolbox};

fn dense(frames: &[Value]) -> Vec<u64> {
    frames.iter().filter_map(|frame| frame["seq"].as_u64()).collect()
}

async fn submit(engine: &Engine, names: &[&str]) -> Arc<str> {
    let mut tasks: Vec<_> = names.iter().map(|name| task(name, &[])).collect();
    for index in 1..tasks.len() {
        tasks[index] = after(&[names[index - 1]], tasks[index].clone());
    }
    engine.submit(compiled(engine, &ensemble(tasks), Request::default())).await.unwrap()
}

#[tokio::test]
async fn early_late_and_returning_watchers_see_the_same_dense_list() {
    let gate = Arc::new(Notify::new());
    let model =
        ScriptedModel::new().says("1.0", "one").at("2.0", Line::new().says("two").waits(&gate)).says("3.0", "three");
    let dir = tempfile::tempdir().unwrap();
    let log = Arc::new(SqliteLog::open(&dir.path().join("log.db")).unwrap());
    let engine = engine(log, models(model.clone(), ScriptedModel::new()), toolbox(Vec::<ScriptedTool>::new()));
    let run = submit(&engine, &["a", "b", "c"]).await;
    let early = engine.tail(&run, 0).await.unwrap();
    model.until(What::Asked, "2.0").await;
    let late = engine.tail(&run, 0).await.unwrap();
    let returning = engine.tail(&run, 5).await.unwrap();
    gate.notify_one();
    let after_the_end = frames(&engine, &run).await;
    let stored = |frame: Result<Frame, _>| async move { crate::support::json(&frame.unwrap()) };
    let early: Vec<Value> = early.filter_map(stored).collect().await;
    let late: Vec<Value> = late.filter_map(stored).collect().await;
    let returning: Vec<Value> = returning.filter_map(stored).collect().await;
    assert_eq!(dense(&early), (0..early.len() as u64 - 1).collect::<Vec<_>>());
    assert_eq!((&early, &early), (&late, &after_the_end));
    assert_eq!(returning, early[5..]);
    assert_eq!(early.last().unwrap()["type"], "run_result");
}

#[tokio::test]
async fn tokens_come_between_the_frames_of_their_iteration() {
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new().at("1.0", Line::new().waits(&gate).says("Hel").says("lo"));
    let log = Arc::new(MemoryLog::default());
    let engine = engine(log, models(model.clone(), ScriptedModel::new()), toolbox(Vec::<ScriptedTool>::new()));
    let run = submit(&engine, &["a"]).await;
    let tail = engine.tail(&run, 0).await.unwrap();
    gate.notify_one();
    let seen: Vec<Value> = tail.map(|frame| serde_json::from_str(frame.unwrap().text()).unwrap()).collect().await;
    let place = |kind: &str| seen.iter().position(|frame| frame["type"] == kind).unwrap();
    let tokens: Vec<&Value> = seen.iter().filter(|frame| frame["type"] == "token").collect();
    assert!(place("llm_iteration_started") < place("token"));
    assert!(seen.iter().rposition(|frame| frame["type"] == "token").unwrap() < place("llm_iteration_completed"));
    assert_eq!(tokens.iter().map(|frame| frame["token"].as_str().unwrap()).collect::<String>(), "Hello");
    assert_eq!((&tokens[0]["agentRole"], &tokens[0]["taskDescription"]), (&"Agent".into(), &"Do a".into()));
}

/// Returns the next words, with their position in the answer.
async fn next_words(tail: &mut (impl StreamExt<Item = Result<Frame, consort_log::Error>> + Unpin)) -> (String, u64) {
    loop {
        let frame: Value = serde_json::from_str(tail.next().await.unwrap().unwrap().text()).unwrap();
        if frame["type"] == "token" {
            return (frame["token"].as_str().unwrap().to_owned(), frame["offset"].as_u64().unwrap());
        }
    }
}

#[tokio::test]
async fn who_joins_while_a_model_answers_gets_its_words_so_far_and_then_the_rest() {
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new().at("1.0", Line::new().says("Hel").says("lo").waits(&gate).says(" there"));
    let log = Arc::new(MemoryLog::default());
    let engine = engine(log, models(model, ScriptedModel::new()), toolbox(Vec::<ScriptedTool>::new()));
    let run = submit(&engine, &["a"]).await;
    let mut early = engine.tail(&run, 0).await.unwrap();
    let mut heard = String::new();
    while heard != "Hello" {
        let (words, offset) = next_words(&mut early).await;
        assert_eq!(offset, heard.len() as u64);
        heard.push_str(&words);
    }
    let mut late = engine.tail(&run, 0).await.unwrap();
    assert_eq!(next_words(&mut late).await, ("Hello".to_owned(), 0));
    gate.notify_one();
    for tail in [&mut early, &mut late] {
        assert_eq!(next_words(tail).await, (" there".to_owned(), 5));
    }
}

#[tokio::test]
async fn a_watcher_that_falls_behind_loses_no_event() {
    let model = ScriptedModel::new().otherwise(Line::new().says("ok"));
    let log = Arc::new(MemoryLog::default());
    let engine = engine(log, models(model, ScriptedModel::new()), toolbox(Vec::<ScriptedTool>::new()));
    let names: Vec<String> = (0..400).map(|n| format!("t{n}")).collect();
    let run = submit(&engine, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut slow = engine.tail(&run, 0).await.unwrap();
    let first = slow.next().await.unwrap().unwrap();
    engine.finished(&run).await;
    let rest: Vec<_> = slow.map(|frame| frame.unwrap()).collect().await;
    let seen: Vec<Value> =
        std::iter::once(first).chain(rest).filter_map(|frame| crate::support::json(&frame)).collect();
    assert_eq!(seen, frames(&engine, &run).await, "far more commits than the ring holds");
}
