//! Things that a server compiles or fills in for others: small to send, and huge once it is expanded.

use serde_json::{Map, Value, json};

use super::target::{Target, tell, until};

/// Returns fifty definitions of which each holds the one before twice.
fn ladder(keyword: &str) -> Value {
    let rung = |at: usize| {
        let below = json!({ "$ref": format!("#/$defs/d{}", at - 1) });
        (format!("d{at}"), json!({ keyword: [below, below] }))
    };
    let rungs = (1..=50).map(rung).chain([("d0".to_owned(), json!({ "type": "string" }))]);
    json!({ "$ref": "#/$defs/d50", "$defs": rungs.collect::<Map<String, Value>>() })
}

/// Returns a schema that holds one in another, so deep.
fn deep(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({ "items": inner }))
}

/// Returns schemas that are refused.
pub(super) fn bombs() -> Vec<Value> {
    let property = |at: usize| (format!("name{at:06}"), json!({ "pattern": format!("a{{1,{}}}", 1 + at) }));
    vec![
        ladder("allOf"),
        ladder("anyOf"),
        json!({ "type": "object", "properties": { "a": { "pattern": r"(\w{200}){200}" } } }),
        json!({ "patternProperties": { "((((a{99}){99}){99}){99}){99}": {} } }),
        json!({ "pattern": r"\d".repeat(30_000) }),
        json!({ "properties": (0..1_000).map(property).collect::<Map<_, _>>() }),
        deep(100),
        json!({ "description": "x".repeat(70_000) }),
    ]
}

pub(super) async fn schemas(target: &Target) {
    for bomb in bombs() {
        let task = json!({ "name": "a", "description": "x", "outputSchema": bomb });
        target.refused("/api/runs", &json!({ "tasks": [task] }), "INVALID_SCHEMA").await;
        target.refused("/api/runs", &json!({ "dryRun": true, "tasks": [task] }), "INVALID_SCHEMA").await;
        target.refused("/api/workflows", &json!({ "name": "w", "tasks": [task] }), "INVALID_SCHEMA").await;
    }
}

pub(super) async fn manifests(target: &Target) {
    let mut socket = target.socket().await;
    for bomb in bombs() {
        let tools = json!([{ "name": "ui_add", "description": "adds", "parameters": bomb }]);
        tell(&mut socket, &json!({ "type": "ui_manifest", "tools": tools })).await;
        assert_eq!(until(&mut socket, &["error"]).await["code"], "INVALID_SCHEMA");
    }
}

/// Links as peers that share what explodes, and more than anybody has.
pub(super) async fn peers(target: &Target, round: u64) {
    let shared = |(at, bomb): (usize, Value)| json!({ "name": format!("tool{at}"), "description": "", "type": "TOOL", "tags": [], "inputSchema": bomb });
    let many = |at: usize| json!({ "name": format!("many{at}"), "description": "x".repeat(100), "type": "TOOL", "tags": ["a", "b"] });
    let lists = [bombs().into_iter().enumerate().map(shared).collect::<Vec<_>>(), (0..4_000).map(many).collect()];
    for (at, list) in lists.into_iter().enumerate() {
        let mut socket = target.socket().await;
        let name = format!("stranger-{round}-{at}");
        tell(&mut socket, &json!({ "type": "peer_hello", "ensemble": name, "sharedCapabilities": list })).await;
        tell(&mut socket, &json!({ "type": "ping" })).await;
        until(&mut socket, &["pong"]).await;
        target.get("/api/network").await;
    }
}

pub(super) async fn templates(target: &Target) {
    let run = |tasks: Value, a: Value| json!({ "tasks": tasks, "inputs": { "a": a } });
    let task = |description: &str, at: usize| json!({ "name": format!("t{at}"), "description": description });
    let many = |description: &str, count: usize| json!((0..count).map(|at| task(description, at)).collect::<Vec<_>>());
    let long = json!("x".repeat(30_000));
    let list = json!(vec!["xxxxxxx"; 20_000]);
    let names: String = (0..100_000).map(|at| format!("{{a{at}}}")).collect();
    let cases = [
        (run(many(&"{a}".repeat(10_000), 1), long.clone()), "TEMPLATE_TOO_LARGE"),
        (run(many(&"{a}".repeat(200), 1_000), long), "TEMPLATE_TOO_LARGE"),
        (run(many(&"{a}".repeat(200_000), 1), list.clone()), "TEMPLATE_TOO_LARGE"),
        (run(many(&"{a}".repeat(200), 1_000), list), "TEMPLATE_TOO_LARGE"),
        (run(many(&names, 1), json!("")), "MISSING_INPUT"),
        (run(many(&"{{".repeat(400_000), 1), json!("")), ""),
    ];
    for (mut request, code) in cases {
        request["dryRun"] = json!(true);
        match code {
            "" => assert_eq!(target.post("/api/runs", &request).await.0, 200),
            code => target.refused("/api/runs", &request, code).await,
        }
    }
}

/// Saves workflows and runs what names them, often and with long values.
pub(super) async fn workflows(target: &Target) {
    let task = |description: &str, at: usize| json!({ "name": format!("t{at}"), "description": description });
    let save = async |name: &str, tasks: Vec<Value>| {
        let (status, saved) = target.post("/api/workflows", &json!({ "name": name, "tasks": tasks })).await;
        assert_eq!(status, 201, "{saved}");
        saved["id"].as_str().unwrap().to_owned()
    };
    let repeated = save("repeated", vec![task(&"{a}".repeat(10_000), 0)]).await;
    let wide = save("wide", (0..500).map(|at| task("{a}", at)).collect()).await;
    let long = save("long", vec![task(&"x".repeat(400_000), 0)]).await;
    // Each holds the one before twice, with its value twice.
    let mut nested = save("nested", vec![task("{a}", 0)]).await;
    let mut saved = vec![repeated.clone(), wide.clone(), long.clone(), nested.clone()];
    for level in 0..6 {
        let twice =
            |at: usize| json!({ "name": format!("n{at}"), "workflow": nested, "inputs": { "a": "{a}{a}{a}{a}" } });
        let tasks = (0..2).map(twice).collect();
        nested = save(&format!("nested {level}"), tasks).await;
        saved.push(nested.clone());
    }
    let naming = |workflow: &str, count: usize, length: usize| {
        let value = "x".repeat(length);
        let task = |at: usize| json!({ "name": format!("n{at}"), "workflow": workflow, "inputs": { "a": value } });
        json!({ "dryRun": true, "tasks": (0..count).map(task).collect::<Vec<_>>() })
    };
    for request in
        [naming(&repeated, 1, 900_000), naming(&wide, 1, 900_000), naming(&long, 900, 0), naming(&nested, 1, 500_000)]
    {
        target.refused("/api/runs", &request, "TEMPLATE_TOO_LARGE").await;
    }
    for workflow in saved {
        target
            .send(
                target.request(reqwest::Method::DELETE, &format!("/api/workflows/{workflow}")).header("if-match", "*"),
            )
            .await;
    }
}

pub(super) async fn expressions(target: &Target) {
    let inner = "inputs.a.all(x, inputs.a.all(y, inputs.a.all(z, true)))";
    let sum = format!("inputs.a.size() > {}", vec!["1"; 3_000].join(" + "));
    let brackets = format!("{}1{} > 0", "(".repeat(2_000), ")".repeat(2_000));
    let large = "'x' == 'x' || ".repeat(400) + "false";
    for when in [inner, &sum, &brackets, &large] {
        let tasks = json!([{ "description": "x", "when": when }]);
        let request = json!({ "dryRun": true, "tasks": tasks, "inputs": { "a": vec![1; 10_000] } });
        target.refused("/api/runs", &request, "INVALID_EXPRESSION").await;
    }
    let each = json!([{ "description": "Say {item}", "forEach": "inputs.a", "maxItems": 100_000 }]);
    target.post("/api/runs", &json!({ "tasks": each, "inputs": { "a": vec!["x"; 100_000] } })).await;
}
