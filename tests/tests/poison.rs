//! Runs with content that an older version accepted, or over which
//! processes died: after a restart they end, and others go on.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use consort_core::draft::Request;
use consort_core::schema::Schema;
use consort_log::{Log, MemoryLog};
use consort_models::{Line, ScriptedModel};
use consort_runtime::engine::Engine;
use consort_runtime::suspects::Suspects;
use consort_tools::ScriptedTool;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::support::{compiled, engine, ensemble, frames, models, task, toolbox};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

fn over(log: &Arc<MemoryLog>, model: ScriptedModel) -> Engine {
    let log: Arc<dyn Log> = log.clone();
    engine(log, models(model, ScriptedModel::new()), toolbox(Vec::<ScriptedTool>::new()))
}

/// Returns a run whose model does not answer, as a killed process leaves it. Its schema was never checked.
async fn left_behind(log: &Arc<MemoryLog>, schema: Value) -> Arc<str> {
    let silent = Arc::new(Notify::new());
    let engine = over(log, ScriptedModel::new().otherwise(Line::new().waits(&silent).says("1")));
    let mut run = compiled(&engine, &ensemble(vec![task("a", &[])]), Request::default());
    run.spec.tasks[0].output_schema = Some(serde_json::from_value::<Schema>(schema).unwrap());
    let id = engine.submit(run).await.unwrap();
    engine.stop().await;
    id
}

async fn ended(engine: &Engine, run: &str) -> Value {
    let frames = timeout(PATIENCE, frames(engine, run)).await.expect("the run ends");
    frames.last().unwrap().clone()
}

/// Returns the number of runs that are marked: each has a line, and one that is free begins with a space.
fn marked(folder: &Path) -> usize {
    let lines = fs::read_to_string(folder.join("marks")).unwrap();
    lines.lines().filter(|line| !line.starts_with(' ')).count()
}

fn ladder() -> Value {
    let rungs = (1..=50).map(|at| {
        let below = json!({ "$ref": format!("#/$defs/d{}", at - 1) });
        (format!("d{at}"), json!({ "allOf": [below, below] }))
    });
    let defs: serde_json::Map<String, Value> = rungs.chain([("d0".to_owned(), json!({}))]).collect();
    json!({ "$ref": "#/$defs/d50", "$defs": defs })
}

#[tokio::test]
async fn a_stored_schema_that_explodes_fails_its_run_in_words_after_a_restart() {
    for bomb in [ladder(), json!({ "pattern": r"(\w{200}){200}" })] {
        let log = Arc::new(MemoryLog::default());
        let run = left_behind(&log, bomb).await;
        let engine = over(&log, ScriptedModel::new().otherwise(Line::new().says("\"x\"")));
        engine.recover().await.unwrap();
        let result = ended(&engine, &run).await;
        assert_eq!(result["status"], "FAILED", "{result}");
        let detail = json!(engine.run(&run).await.unwrap().detail(&run)).to_string();
        assert!(detail.contains("the schema itself cannot be used"), "{detail}");
    }
}

#[tokio::test]
async fn a_run_that_three_processes_died_over_is_ended_and_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(MemoryLog::default());
    let fits = json!({ "type": "integer" });
    let bad = left_behind(&log, fits.clone()).await;
    let waits = left_behind(&log, fits).await;
    for death in 1..=3 {
        let engine = over(&log, ScriptedModel::new().otherwise(Line::new().waits(&Arc::new(Notify::new())).says("1")));
        engine.suspect(Suspects::open(folder.path()).unwrap());
        let recovery = engine.recover().await.unwrap();
        assert_eq!(recovery.resumed, 2, "death {death}");
        engine.stop().await;
        // The state left by a process that is killed while it works on the run.
        fs::write(folder.path().join(&*bad), format!("w{}", death - 1)).unwrap();
    }
    let engine = over(&log, ScriptedModel::new().otherwise(Line::new().says("1")));
    engine.suspect(Suspects::open(folder.path()).unwrap());
    assert_eq!(engine.recover().await.unwrap().resumed, 1);
    let bad = ended(&engine, &bad).await;
    let waits = ended(&engine, &waits).await;
    assert_eq!((&bad["status"], &bad["error"]), (&json!("FAILED"), &json!("POISONED")), "{bad}");
    assert_eq!(waits["status"], "COMPLETED", "{waits}");
    assert_eq!(marked(folder.path()), 0, "nothing is left of either");
}

#[tokio::test]
async fn a_run_is_suspect_only_while_it_is_worked_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(MemoryLog::default());
    let _waits = left_behind(&log, json!({ "type": "integer" })).await;
    for _ in 0..4 {
        let engine = over(&log, ScriptedModel::new().otherwise(Line::new().waits(&Arc::new(Notify::new())).says("1")));
        engine.suspect(Suspects::open(folder.path()).unwrap());
        assert_eq!(engine.recover().await.unwrap().resumed, 1);
        engine.stop().await;
        assert_eq!(marked(folder.path()), 0);
    }
}
