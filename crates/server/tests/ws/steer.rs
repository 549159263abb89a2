//! Runs steered over a socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use consort_core::catalog::ModelInfo;
use consort_core::draft::Draft;
use consort_core::spec::ReviewRule;
use consort_models::{Ask, Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use serde_json::{Value, json};

use super::{kinds, request};
use crate::client::{Here, Socket, engine, server, start, task};
use crate::{reviewed, says};

/// Says something, and returns the answer of that type.
async fn told(socket: &mut Socket, kind: &str, frame: Value) -> Value {
    socket.say(frame).await;
    socket.first(kind).await
}

#[tokio::test]
async fn every_control_has_a_word_for_how_it_went() {
    let (here, run, _) = reviewed().await;
    let (mut socket, _) = here.greeted().await;
    let ack = |run: &str, action: &str, rest: Value| {
        let mut ack = json!({ "type": "run_control_ack", "runId": run, "action": action });
        ack.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        ack
    };
    let cases = [
        (&*run, "switch_model", json!({ "model": " " }), json!({ "status": "INVALID_MODEL" })),
        ("run-0", "switch_model", json!({}), json!({ "status": "INVALID_MODEL" })),
        ("run-0", "switch_model", json!({ "model": "huge" }), json!({ "status": "INVALID_MODEL", "model": "huge" })),
        ("run-0", "switch_model", json!({ "model": "spare" }), json!({ "status": "NOT_FOUND" })),
        (
            &*run,
            "switch_model",
            json!({ "model": "spare" }),
            json!({ "status": "APPLIED", "model": "spare", "previousModel": "main" }),
        ),
        (&*run, "dance", json!({}), json!({ "status": "INVALID_ACTION" })),
        (&*run, "pause", json!({}), json!({ "status": "PAUSED" })),
        (&*run, "resume", json!({}), json!({ "status": "RESUMED" })),
        ("run-0", "cancel", json!({}), json!({ "status": "NOT_FOUND" })),
        (&*run, "cancel", json!({ "mode": "now" }), json!({ "status": "CANCELLING" })),
    ];
    for (run, action, more, expected) in cases {
        let mut frame = json!({ "type": "run_control", "runId": run, "action": action });
        frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(told(&mut socket, "run_control_ack", frame).await, ack(run, action, expected));
    }
    here.get(&format!("/api/runs/{run}/events")).await;
    for frame in [json!({ "action": "Cancel" }), json!({ "action": "switch_model", "model": "main" })] {
        let mut frame = frame;
        (frame["type"], frame["runId"]) = (json!("run_control"), json!(run));
        assert_eq!(told(&mut socket, "run_control_ack", frame).await["status"], "REJECTED");
    }
    for wrong in [
        json!({ "action": "cancel" }),
        json!({ "runId": run }),
        json!({ "runId": run, "action": "cancel", "mode": "x" }),
    ] {
        let mut frame = wrong;
        frame["type"] = json!("run_control");
        assert_eq!(told(&mut socket, "error", frame).await["code"], "BAD_REQUEST");
    }
}

#[tokio::test]
async fn a_model_that_hangs_is_given_up_and_the_one_that_was_switched_to_answers() {
    let asked = AtomicUsize::new(0);
    let first = move |_: &Ask| asked.fetch_add(1, Ordering::Relaxed) == 0;
    let model = ScriptedModel::new().when(first, Line::new().says("half").hangs()).otherwise(Line::new().says("whole"));
    let here = start(server(engine(model.clone(), Capacity::UNLIMITED), vec![task("a")])).await;
    let (mut socket, _) = here.greeted().await;
    let run = socket.ask(request("r")).await["runId"].as_str().unwrap().to_owned();
    let control =
        |action: &str| json!({ "type": "run_control", "runId": run, "action": action, "model": "spare", "task": "a" });
    assert_eq!(socket.first("token").await["token"], "half");
    for (action, status) in [("switch_model", "APPLIED"), ("give_up", "GIVEN_UP")] {
        assert_eq!(told(&mut socket, "run_control_ack", control(action)).await["status"], status);
    }
    let events = here.get(&format!("/api/runs/{run}/events")).await.body;
    assert!(events.contains("given up by"), "{events}");
    let detail = here.get(&format!("/api/runs/{run}")).await.json();
    assert_eq!((&detail["status"], &detail["output"]), (&json!("COMPLETED"), &json!("whole")));
    assert!(model.ledger().iter().any(|line| line.starts_with("dropped")), "{:?}", model.ledger());
}

#[tokio::test]
async fn without_models_there_is_nothing_to_switch_to() {
    let mut bare = server(engine(says("x"), Capacity::UNLIMITED), vec![task("a")]);
    bare.catalog.models.clear();
    let here = start(bare).await;
    let (mut socket, _) = here.greeted().await;
    let frame = json!({ "type": "run_control", "runId": "run-0", "action": "switch_model", "model": "main" });
    assert_eq!(socket.ask(frame).await["status"], "NOT_CONFIGURED");
    assert_eq!(socket.ask(request("r")).await["error"], "NOT_CONFIGURED");
}

#[tokio::test]
async fn a_review_is_decided_once_and_by_the_rules_of_the_route() {
    let (here, _, review) = reviewed().await;
    let (mut socket, hello) = here.greeted().await;
    let open = hello["snapshotTrace"].as_array().unwrap().last().unwrap();
    assert_eq!((&open["type"], &open["reviewId"]), (&json!("review_requested"), &json!(review)));
    let decision = |id: &str, more: Value| {
        let mut frame = json!({ "type": "review_decision", "reviewId": id, "requestId": "q" });
        frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        frame
    };
    let wrong = [
        (decision("nothing", json!({ "decision": "CONTINUE" })), "REVIEW_NOT_FOUND"),
        (decision(&review, json!({})), "BAD_REQUEST"),
        (decision(&review, json!({ "decision": "PERHAPS" })), "BAD_REQUEST"),
        (decision(&review, json!({ "decision": "EDIT" })), "BAD_REQUEST"),
    ];
    for (frame, code) in wrong {
        let error = told(&mut socket, "error", frame).await;
        assert_eq!((&error["code"], &error["requestId"]), (&json!(code), &json!("q")));
    }
    let edit = decision(&review, json!({ "decision": "edit", "revisedOutput": "better" }));
    let ack = json!({ "type": "review_decision_ack", "requestId": "q", "reviewId": review, "decision": "edit",
        "status": "APPLIED" });
    assert_eq!(told(&mut socket, "review_decision_ack", edit).await, ack);
    let late = told(&mut socket, "error", decision(&review, json!({ "decision": "CONTINUE" }))).await;
    assert_eq!((&late["code"], &late["decision"]), (&json!("REVIEW_RESOLVED"), &json!("EDIT")));
}

/// Starts a run that waits for a person, on a model with a fallback.
async fn with_fallback() -> (Here, Socket, Value) {
    let careful = Draft { review: Some(ReviewRule::Required), ..task("a") };
    let mut server = server(engine(says("draft"), Capacity::UNLIMITED), vec![careful]);
    let main = ModelInfo { fallback: vec!["spare".to_owned()], ..ModelInfo::new("main", "scripted") };
    server.catalog.models[0] = Arc::new(main);
    let here = start(server).await;
    let (mut socket, _) = here.greeted().await;
    let run = socket.ask(request("r")).await["runId"].clone();
    socket.until("review_requested").await;
    (here, socket, run)
}

#[tokio::test]
async fn a_directive_is_seen_by_everybody_before_its_sender_hears_that_it_holds() {
    let (here, mut socket, run) = with_fallback().await;
    let (mut other, _) = here.greeted().await;
    socket.say(json!({ "type": "directive", "from": "ann", "to": "test", "content": "hurry", "ttl": "PT1M" })).await;
    let frames = socket.until("directive_ack").await;
    assert_eq!(kinds(&frames), ["directive_active", "directive_ack"]);
    let active = &frames[0];
    let ack = &frames[1];
    assert_eq!((&active["runId"], &active["from"], &active["content"]), (&run, &json!("ann"), &json!("hurry")));
    assert_eq!(*ack, json!({ "type": "directive_ack", "directiveId": active["directiveId"], "status": "accepted" }));
    assert_eq!(other.frame().await, *active);

    socket.say(json!({ "type": "directive", "runId": run, "action": "set_model_tier", "value": "fallback" })).await;
    let frames = socket.until("directive_ack").await;
    let mut seen = kinds(&frames);
    seen.sort_unstable();
    assert_eq!(seen, ["directive_ack", "directive_active", "model_switched"]);
    assert_eq!(frames[2]["status"], "accepted");
    let detail = format!("/api/runs/{}", run.as_str().unwrap());
    assert_eq!(here.get(&detail).await.json()["model"], "spare");
    socket.say(json!({ "type": "directive", "action": "SET_MODEL_TIER", "value": "PRIMARY" })).await;
    socket.until("directive_ack").await;
    assert_eq!(here.get(&detail).await.json()["model"], "main");
}

#[tokio::test]
async fn a_directive_that_reaches_nobody_is_rejected_with_a_reason() {
    let (_here, mut socket, run) = with_fallback().await;
    let wrong = [
        json!({ "content": " " }),
        json!({}),
        json!({ "content": "x", "ttl": "-PT1M" }),
        json!({ "content": "x", "ttl": "soon" }),
        json!({ "content": "x", "to": "nobody" }),
        json!({ "content": "x", "runId": "run-0" }),
        json!({ "action": " " }),
        json!({ "action": "DANCE" }),
        json!({ "action": "SET_MODEL_TIER", "value": "BEST" }),
        json!({ "action": "SET_MODEL_TIER" }),
    ];
    for mut frame in wrong {
        frame["type"] = json!("directive");
        let ack = socket.ask(frame.clone()).await;
        let shape = (&ack["type"], ack.get("directiveId"), &ack["status"]);
        assert_eq!(shape, (&json!("directive_ack"), Some(&Value::Null), &json!("REJECTED")), "{frame}");
        assert!(ack["message"].is_string());
    }
    told(
        &mut socket,
        "run_control_ack",
        json!({ "type": "run_control", "runId": run, "action": "cancel", "mode": "now" }),
    )
    .await;
    socket.first("run_result").await;
    let nobody = socket.ask(json!({ "type": "directive", "content": "x" })).await;
    assert_eq!(nobody["status"], "REJECTED");
}
