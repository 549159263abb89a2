//! A real small language model, served on this machine: not judged by what it
//! says, but it must stream, count and answer a run from end to end.

use std::sync::Arc;

use consort_core::catalog::ModelInfo;
use consort_core::draft::{Draft, Request};
use consort_core::spec::OnTruncated;
use consort_http::client;
use consort_log::SqliteLog;
use consort_models::openai::{Api, OpenAi};
use consort_models::{ModelCatalog, Options};
use consort_tools::ScriptedTool;
use futures::StreamExt;
use serde_json::Value;

use crate::support::{compiled, engine, ensemble, task, toolbox};

#[tokio::test]
async fn smoke_a_real_model_answers_a_run_streaming_with_usage() {
    let Ok(url) = std::env::var("CONSORT_SMOKE_URL") else {
        println!("skipped: CONSORT_SMOKE_URL is not set; `make smoke` sets it");
        return;
    };
    let model = OpenAi::new(Options::new(&url, "smollm2"), Api::Chat, client().unwrap()).unwrap();
    let info = ModelInfo { max_output_tokens: 64, context_tokens: 2048, ..ModelInfo::new("small", "openai") };
    let dir = tempfile::tempdir().unwrap();
    let log = Arc::new(SqliteLog::open(&dir.path().join("log.db")).unwrap());
    let models = ModelCatalog::default().with(info, model).unwrap();
    let engine = engine(log, models, toolbox(Vec::<ScriptedTool>::new()));
    // So small a model seldom ends within its limit, and that is not what is tested here.
    let on_truncated = OnTruncated::Accept;
    let first = Draft { description: "Name three colours".to_owned(), on_truncated, ..task("colours", &[]) };
    let second = Draft { context: vec!["$colours".to_owned()], on_truncated, ..task("again", &[]) };
    let run = engine.submit(compiled(&engine, &ensemble(vec![first, second]), Request::default())).await.unwrap();
    let tail = engine.tail(&run, 0).await.unwrap();
    let frames: Vec<Value> = tail.map(|frame| serde_json::from_str(frame.unwrap().text()).unwrap()).collect().await;
    let result = frames.last().unwrap();
    assert_eq!(result["status"], "COMPLETED", "{result}");
    assert!(frames.iter().filter(|frame| frame["type"] == "token").count() > 3, "it streams");
    assert!(result["metrics"]["totalTokens"].as_i64().unwrap() > 20, "it counts: {result}");
    println!("the small model said: {}", result["outputs"][0]["output"]);
}
