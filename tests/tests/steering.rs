//! Stopping, pausing and redirecting runs, judged by what models and tools saw.

use std::num::NonZeroU32;
use std::sync::Arc;

use consort_core::catalog::{CancelClass, EffectClass};
use consort_core::decide::Command;
use consort_core::draft::{Draft, Ensemble, Request};
use consort_core::event::{CancelMode, Directive, Priority};
use consort_core::message::Message;
use consort_core::spec::Workflow;
use consort_log::MemoryLog;
use consort_models::{Line, ScriptedModel, What};
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_runtime::limits::{Limits, ModelLimit};
use consort_tools::{ScriptedTool, Toolbox, What as Did};
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify};

use crate::support::{compiled, engine, ensemble, frames, models, task, toolbox};

fn parallel(tasks: Vec<Draft>) -> Ensemble {
    Ensemble { workflow: Some(Workflow::Parallel), ..ensemble(tasks) }
}

fn over(model: &ScriptedModel, tools: Vec<ScriptedTool>) -> Engine {
    engine(Arc::new(MemoryLog::default()), models(model.clone(), ScriptedModel::new()), toolbox(tools))
}

async fn submit(engine: &Engine, ensemble: &Ensemble) -> Arc<str> {
    engine.submit(compiled(engine, ensemble, Request::default())).await.unwrap()
}

fn cancel(mode: CancelMode) -> Command {
    Command::Cancel { mode, by: "test".to_owned() }
}

fn last<'a>(frames: &'a [Value], kind: &str) -> &'a Value {
    frames.iter().rfind(|frame| frame["type"] == kind).unwrap()
}

/// Returns the tools' results, as the model received them at `place`.
fn told(model: &ScriptedModel, place: &str) -> Vec<String> {
    let words =
        |message: &Message| if let Message::Tool { text, .. } = message { Some(text.to_string()) } else { None };
    model.sent(place).unwrap().messages.iter().filter_map(words).collect()
}

#[tokio::test]
async fn cancel_now_drops_a_model_s_stream_and_nothing_is_asked_afterwards() {
    let model = ScriptedModel::new().at("1.0", Line::new().says("let me think").hangs());
    let engine = over(&model, Vec::new());
    let run = submit(&engine, &ensemble(vec![task("a", &[]), task("b", &[])])).await;
    model.until(What::Asked, "1.0").await;
    engine.command(&run, cancel(CancelMode::Now)).await.unwrap();
    let frames = frames(&engine, &run).await;
    assert_eq!(last(&frames, "run_result")["status"], "CANCELLED");
    assert_eq!(last(&frames, "ensemble_completed")["exitReason"], "CANCELLED");
    assert_eq!(last(&frames, "task_failed")["cancelled"], true);
    assert_eq!(model.ledger(), ["asked 1.0", "dropped 1.0"]);
}

#[tokio::test]
async fn cancel_now_drops_ten_branches_at_once() {
    let model = ScriptedModel::new().otherwise(Line::new().says("hm").hangs());
    let engine = over(&model, Vec::new());
    let names: Vec<String> = (0..10).map(|n| format!("t{n}")).collect();
    let run = submit(&engine, &parallel(names.iter().map(|name| task(name, &[])).collect())).await;
    for turn in 1..=10 {
        model.until(What::Asked, &format!("{turn}.0")).await;
    }
    engine.command(&run, cancel(CancelMode::Now)).await.unwrap();
    assert_eq!(last(&frames(&engine, &run).await, "run_result")["status"], "CANCELLED");
    let entries = model.entries();
    let count = |what| entries.iter().filter(|entry| entry.what == what).count();
    assert_eq!((count(What::Asked), count(What::Dropped), entries.len()), (10, 10, 20));
}

#[tokio::test]
async fn cancel_now_aborts_tools_but_lets_one_that_must_not_be_dropped_finish() {
    let gate = Arc::new(Notify::new());
    let model = ScriptedModel::new();
    let call = Line::new().calls("look", &json!({ "input": "" })).calls("pay", &json!({ "input": "" }));
    let model = model.at("1.0", call);
    let look = ScriptedTool::new("look").hangs();
    let pay = ScriptedTool::new("pay").effect(EffectClass::Once).with_info(|info| info.cancel = CancelClass::Finish);
    let pay = pay.waits(&gate).answers("paid");
    let engine = over(&model, vec![look.clone(), pay.clone()]);
    let run = submit(&engine, &ensemble(vec![task("a", &["look", "pay"])])).await;
    look.until(Did::Began, 1).await;
    pay.until(Did::Began, 1).await;
    engine.command(&run, cancel(CancelMode::Now)).await.unwrap();
    look.until(Did::Dropped, 1).await;
    gate.notify_one();
    let frames = frames(&engine, &run).await;
    let results: Vec<_> = frames
        .iter()
        .filter(|f| f["type"] == "tool_called")
        .map(|f| (f["toolName"].clone(), f["toolResult"].clone()))
        .collect();
    assert!(results.contains(&(json!("pay"), json!("paid"))), "{results:?}");
    assert_eq!(last(&frames, "run_result")["status"], "CANCELLED");
    assert_eq!(model.ledger(), ["asked 1.0", "answered 1.0"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_does_not_finish_in_its_grace_is_given_up_and_said_to_be_unknown() {
    let model = ScriptedModel::new().calls("1.0", "pay", &json!({ "input": "" }));
    let pay = ScriptedTool::new("pay").effect(EffectClass::Once).with_info(|info| {
        info.cancel = CancelClass::Finish;
        info.timeout_ms = 3_600_000;
    });
    let pay = pay.hangs();
    let engine = over(&model, vec![pay.clone()]);
    let run = submit(&engine, &ensemble(vec![task("a", &["pay"])])).await;
    pay.until(Did::Began, 1).await;
    engine.command(&run, cancel(CancelMode::Now)).await.unwrap();
    let frames = frames(&engine, &run).await;
    let result = last(&frames, "tool_called")["toolResult"].as_str().unwrap().to_owned();
    assert!(result.contains("outcome unknown"), "{result}");
    assert_eq!(last(&frames, "run_result")["status"], "CANCELLED");
}

#[tokio::test]
async fn cancel_after_task_and_after_iteration_stop_where_they_say() {
    for (mode, ledger) in [
        (CancelMode::AfterTask, vec!["asked 1.0", "answered 1.0", "asked 1.1", "answered 1.1"]),
        (CancelMode::AfterIteration, vec!["asked 1.0", "answered 1.0"]),
    ] {
        let gate = Arc::new(Notify::new());
        let first = Line::new().calls("look", &json!({ "input": "" })).waits(&gate);
        let model = ScriptedModel::new().at("1.0", first).says("1.1", "done").says("2.0", "never");
        let look = ScriptedTool::new("look").answers("sunny");
        let engine = over(&model, vec![look.clone()]);
        let run = submit(&engine, &ensemble(vec![task("a", &["look"]), task("b", &[])])).await;
        model.until(What::Asked, "1.0").await;
        engine.command(&run, cancel(mode)).await.unwrap();
        gate.notify_one();
        assert_eq!(last(&frames(&engine, &run).await, "run_result")["status"], "CANCELLED");
        assert_eq!(model.ledger(), ledger, "{mode:?}");
        assert_eq!(look.args().len(), 1, "the tool that was asked for ran");
    }
}

#[tokio::test]
async fn calls_of_one_reply_run_at_the_same_time_and_a_broken_tool_is_an_error_result() {
    let both = Arc::new(Barrier::new(2));
    let args = json!({ "input": "" });
    let model = ScriptedModel::new()
        .at("1.0", Line::new().calls("pay", &args).calls("look", &args).calls("bad", &args))
        .says("1.1", "ok");
    let tools = vec![
        ScriptedTool::new("look").waits(&both).answers("sunny"),
        ScriptedTool::new("pay").waits(&both).answers("paid"),
        ScriptedTool::new("bad").panics("out of cheese"),
    ];
    let engine = over(&model, tools);
    let run = submit(&engine, &ensemble(vec![task("a", &["look", "pay", "bad"])])).await;
    assert_eq!(last(&frames(&engine, &run).await, "run_result")["status"], "COMPLETED");
    assert_eq!(told(&model, "1.1"), ["paid", "sunny", "the tool broke: out of cheese"]);
}

#[tokio::test]
async fn no_more_questions_are_under_way_than_the_model_allows() {
    // Each model request waits for another one beside it: one slot would never be enough.
    let pair = Arc::new(Barrier::new(2));
    let model = ScriptedModel::new().otherwise(Line::new().says("ok").waits(&pair));
    let limit = ModelLimit { max_concurrency: NonZeroU32::new(2).unwrap(), rate: None };
    let models = models(model.clone(), ScriptedModel::new());
    let seams = Seams::new(Arc::new(MemoryLog::default()), models, Toolbox::default());
    let limits = Limits::new([("main".to_owned(), limit)], None);
    let engine = Engine::new(Seams { limits, ..seams });
    let names: Vec<String> = (0..30).map(|n| format!("t{n}")).collect();
    let run = submit(&engine, &parallel(names.iter().map(|name| task(name, &[])).collect())).await;
    assert_eq!(last(&frames(&engine, &run).await, "run_result")["status"], "COMPLETED");
    assert_eq!(model.in_flight_max(), 2);
}

#[tokio::test]
async fn a_switch_and_a_directive_reach_the_next_question() {
    let gate = Arc::new(Notify::new());
    let first = Line::new().calls("look", &json!({ "input": "" })).waits(&gate);
    let main = ScriptedModel::new().at("1.0", first);
    let spare = ScriptedModel::new().otherwise(Line::new().says("ok"));
    let catalog = models(main.clone(), spare.clone());
    let tools = toolbox([ScriptedTool::new("look").answers("sunny")]);
    let engine = engine(Arc::new(MemoryLog::default()), catalog.clone(), tools);
    let run = submit(&engine, &ensemble(vec![task("a", &["look"])])).await;
    main.until(What::Asked, "1.0").await;
    let models = catalog.with_fallbacks("spare").unwrap();
    engine.command(&run, Command::SwitchModel { models, by: "test".to_owned() }).await.unwrap();
    let directive = Directive {
        target: Some("A".to_owned()),
        content: "mention hats".into(),
        priority: Priority::High,
        from: "ann".to_owned(),
        on_behalf_of: None,
        created_at: 0,
        expires_at: None,
    };
    engine.command(&run, Command::Direct { directive }).await.unwrap();
    gate.notify_one();
    let frames = frames(&engine, &run).await;
    assert_eq!((main.ledger().len(), spare.ledger()), (2, vec!["asked 1.1".to_owned(), "answered 1.1".to_owned()]));
    let sent = spare.sent("1.1").unwrap().messages;
    assert!(
        matches!(sent.last(), Some(Message::User { text }) if text.as_str().ends_with("] mention hats")),
        "{sent:?}"
    );
    let switched = last(&frames, "model_switched");
    assert_eq!(
        (&switched["previousModel"], &switched["model"], &switched["iterationIndex"]),
        (&json!("main"), &json!("spare"), &json!(1))
    );
    assert_eq!(last(&frames, "directive_delivered")["iterationIndex"], 1);
}

#[tokio::test]
async fn a_paused_run_asks_nothing_until_it_is_resumed() {
    let gate = Arc::new(Notify::new());
    let first = Line::new().calls("look", &json!({ "input": "" })).waits(&gate);
    let model = ScriptedModel::new().at("1.0", first).says("1.1", "ok");
    let look = ScriptedTool::new("look").answers("sunny");
    let engine = over(&model, vec![look.clone()]);
    let run = submit(&engine, &ensemble(vec![task("a", &["look"])])).await;
    model.until(What::Asked, "1.0").await;
    engine.command(&run, Command::Pause { by: "test".to_owned() }).await.unwrap();
    gate.notify_one();
    model.until(What::Answered, "1.0").await;
    // Once another command is acknowledged, whatever the reply caused has been decided.
    engine.command(&run, Command::Pause { by: "test".to_owned() }).await.unwrap();
    assert_eq!((model.ledger().len(), look.args().len()), (2, 0));
    engine.command(&run, Command::Resume { by: "test".to_owned() }).await.unwrap();
    assert_eq!(last(&frames(&engine, &run).await, "run_result")["status"], "COMPLETED");
}
