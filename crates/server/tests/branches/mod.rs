//! Runs that branch, through real sockets: conditions, items, groups, and what is refused.

use consort_models::{Line, ScriptedModel};
use consort_runtime::admission::Capacity;
use serde_json::{Value, json};

use crate::client::{Here, engine, server, start, task};

async fn here(model: ScriptedModel) -> Here {
    start(server(engine(model, Capacity::UNLIMITED), vec![task("a")])).await
}

fn frames(events: &str) -> Vec<Value> {
    let data = events.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|text| serde_json::from_str(text).unwrap()).collect()
}

/// Returns a request: a plan, a dish for each of its items, a loop over the menu, and a task that is skipped.
fn dinner() -> Value {
    json!({
        "inputs": { "dishes": [{ "name": "soup" }, { "name": "cake" }], "guests": 0 },
        "options": { "workflow": "PARALLEL" },
        "tasks": [
            { "name": "cook", "description": "Cook {item.name} ({index})", "forEach": "inputs.dishes", "maxParallel": 1 },
            { "name": "invite", "description": "Invite", "when": "inputs.guests > 0" },
            { "name": "menu", "description": "Write the menu", "context": ["$cook", "$invite", "$verdict"] },
            { "name": "verdict", "description": "Judge it", "context": ["$menu"] }
        ],
        "groups": [{ "name": "table", "tasks": ["menu", "verdict"], "repeatUntil": "outputs.verdict == 'good'", "maxRounds": 3 }]
    })
}

#[tokio::test]
async fn a_run_branches_over_http_and_tells_items_rounds_and_causes() {
    let model = ScriptedModel::new().says("1i0.0", "a soup").says("1i1.0", "a cake");
    let model = model.says("3r0.0", "menu").says("4r0.0", "bad").says("3r1.0", "better menu").says("4r1.0", "good");
    let here = here(model).await;
    let detail = here.post_with("/api/runs", "Prefer: wait=30", dinner()).await.json();
    let tasks = detail["tasks"].as_array().unwrap();
    let told: Vec<Value> = tasks.iter().map(|task| json!([task["status"], task["output"], task["cause"]])).collect();
    let expected = json!([
        ["COMPLETED", r#"["a soup","a cake"]"#, null],
        ["SKIPPED", null, "condition"],
        ["COMPLETED", "better menu", null],
        ["COMPLETED", "good", null]
    ]);
    assert_eq!((&detail["status"], json!(told)), (&json!("COMPLETED"), expected), "{detail}");
    assert_eq!(tasks[0]["parsedOutput"], json!(["a soup", "a cake"]));
    let instances: Vec<Value> =
        tasks[2]["instances"].as_array().unwrap().iter().map(|one| json!([one["round"], one["output"]])).collect();
    assert_eq!(json!(instances), json!([[0, "menu"], [1, "better menu"]]));

    let run = detail["runId"].as_str().unwrap();
    let frames = frames(&here.get(&format!("/api/runs/{run}/events")).await.body);
    let of = |kind: &str| frames.iter().filter(|frame| frame["type"] == kind).collect::<Vec<_>>();
    let started: Vec<Value> =
        of("task_started").iter().map(|frame| json!([frame["taskIndex"], frame["item"], frame["round"]])).collect();
    assert!(
        [json!([1, 0, null]), json!([1, 1, null]), json!([3, null, 1])].iter().all(|one| started.contains(one)),
        "{started:?}"
    );
    assert_eq!(of("task_skipped")[0]["cause"], "condition");
    let rounds: Vec<&Value> = of("expression_evaluated")
        .into_iter()
        .filter(|frame| frame["group"] == "table")
        .map(|frame| &frame["value"])
        .collect();
    assert_eq!(rounds, [&json!(false), &json!(true)]);
    let result = frames.last().unwrap();
    assert_eq!((&result["type"], &result["output"]), (&json!("run_result"), &json!("good")));
}

#[tokio::test]
async fn expressions_and_groups_that_cannot_be_used_are_refused_before_anything_is_stored() {
    let here = here(ScriptedModel::new().otherwise(Line::new().says("x"))).await;
    let with = |more: Value| {
        let mut task = json!({ "name": "a", "description": "Do a" });
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "tasks": [task] })
    };
    let cases = [
        (with(json!({ "when": "outputs.b == 1" })), "INVALID_EXPRESSION", "tasks[0].when"),
        (with(json!({ "forEach": "now()" })), "INVALID_EXPRESSION", "tasks[0].forEach"),
        (with(json!({ "when": 3 })), "BAD_REQUEST", "tasks[0].when"),
        (
            json!({ "tasks": [{ "name": "a", "description": "x" }], "groups": [{ "name": "g", "tasks": ["a"], "repeatUntil": "round >" }] }),
            "INVALID_EXPRESSION",
            "groups[0].repeatUntil",
        ),
        (json!({ "groups": [{ "name": "g", "tasks": ["a"], "when": "true" }] }), "BAD_REQUEST", "groups"),
        (json!({ "taskOverrides": { "a": { "forEach": "[1]" } } }), "BAD_REQUEST", "taskOverrides.a.forEach"),
        (
            json!({ "tasks": [{ "name": "a", "description": "x", "when": "true" }], "options": { "workflow": "HIERARCHICAL" } }),
            "BAD_REQUEST",
            "tasks[0].when",
        ),
    ];
    for (body, code, place) in cases {
        let answer = here.post("/api/runs", body.clone()).await;
        let told = answer.json();
        assert_eq!((answer.status, &told["error"]), (400, &json!(code)), "{body}: {told}");
        assert!(told["message"].as_str().unwrap().starts_with(place), "{told}");
    }
    assert_eq!(here.get("/api/runs").await.json()["total"], 0);
}

#[tokio::test]
async fn a_saved_workflow_branches_and_may_be_rehearsed() {
    let model =
        ScriptedModel::new().says("1i0.0", "one").says("1i1.0", "two").says("2i0.0", "good").says("2i1.0", "bad");
    let here = here(model).await;
    let workflow = json!({ "name": "w", "inputs": { "list": [1, 2] },
        "tasks": [{ "name": "do", "description": "Do {item}", "position": { "x": 1, "y": 2 } }, { "name": "rate", "description": "Rate {item}", "context": ["$do"] }],
        "groups": [{ "name": "both", "tasks": ["do", "rate"], "forEach": "inputs.list" }] });
    let saved = here.post("/api/workflows", workflow.clone()).await;
    let shown = saved.json();
    assert_eq!((saved.status, &shown["groups"]), (201, &workflow["groups"]), "{shown}");
    let path = format!("/api/workflows/{}/runs", shown["id"].as_str().unwrap());
    let rehearsed = here.post(&path, json!({ "dryRun": true })).await.json();
    assert_eq!(rehearsed["tasks"][1]["group"], "both", "{rehearsed}");
    let detail = here.post_with(&path, "Prefer: wait=30", json!({})).await.json();
    assert_eq!(
        (&detail["status"], &detail["parsedOutput"]),
        (&json!("COMPLETED"), &json!(["good", "bad"])),
        "{detail}"
    );
    let wrong = json!({ "name": "w", "tasks": [{ "name": "a", "description": "x", "when": "outputs.z" }] });
    assert_eq!(here.post("/api/workflows", wrong).await.json()["error"], "INVALID_EXPRESSION");
}

#[tokio::test]
async fn inputs_are_any_json_value_and_are_shown_as_they_are() {
    let here = here(ScriptedModel::new().otherwise(Line::new().says("x"))).await;
    let inputs = json!({ "n": 3, "list": [1, { "a": null }], "text": "t" });
    let body = json!({ "inputs": inputs, "tasks": [{ "name": "a", "description": "{n} {list} {text}" }] });
    let detail = here.post_with("/api/runs", "Prefer: wait=30", body).await.json();
    assert_eq!((&detail["inputs"], &detail["tasks"][0]["description"]), (&inputs, &json!(r#"3 [1,{"a":null}] t"#)));
}
