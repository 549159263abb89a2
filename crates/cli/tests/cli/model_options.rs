//! Options of models, from the file and from requests, as a provider gets them.

use serde_json::{Value, json};

use crate::binary::run;
use crate::outside::Outside;
use crate::served::Served;

const CREDENTIAL: &str = "hush-hush-hush";

/// Says one word, as a stream of chat completions.
fn one_word(_request: &str) -> String {
    let chunk = r#"{"choices":[{"index":0,"delta":{"content":"Well"},"finish_reason":"stop"}]}"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}data: {chunk}\n\ndata: [DONE]\n\n")
}

fn config(port: u16) -> String {
    format!(
        r#"
[models.main]
provider = "openai"
model = "m"
base_url = "http://127.0.0.1:{port}"
retries = 0
temperature = 0.2
top_p = 0.9
seed = 7
reasoning_effort = "medium"
headers = {{ x-team-token = "{CREDENTIAL}" }}
extra = {{ service_tier = "flex", metadata = {{ team = "a" }} }}

[ensemble]
name = "e"

[[ensemble.task]]
name = "one"
description = "Think"

[[ensemble.task]]
name = "two"
description = "Think again"
options = {{ temperature = 0.0 }}
"#
    )
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Returns temperature, share, seed and effort of a request.
fn options(request: &str) -> [Value; 4] {
    ["temperature", "top_p", "seed", "reasoning_effort"].map(|name| body(request)[name].clone())
}

#[test]
fn options_of_the_file_reach_the_provider_and_a_tasks_own_count_more() {
    let provider = Outside::start(one_word);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("consort.toml"), config(provider.port)).unwrap();
    let (status, _, words) = run(folder.path(), &["run"]);
    assert_eq!(status, Some(0), "{words}");
    let first = provider.next();
    let second = provider.next();
    assert_eq!(options(&first), [json!(0.2), json!(0.9), json!(7), json!("medium")]);
    assert_eq!(options(&second), [json!(0.0), json!(0.9), json!(7), json!("medium")]);
    let extra = (&body(&first)["service_tier"], &body(&first)["metadata"]);
    assert_eq!(extra, (&json!("flex"), &json!({ "team": "a" })));
    assert!(first.contains(&format!("x-team-token: {CREDENTIAL}")), "{first}");
    let (status, said, words) = run(folder.path(), &["check"]);
    assert_eq!((status, (said + &words).contains(CREDENTIAL)), (Some(0), false));
}

#[test]
fn options_of_a_request_count_more_than_the_models_and_less_than_a_tasks() {
    let provider = Outside::start(one_word);
    let served = Served::start(Some(&config(provider.port)));
    let asked = json!({ "modelOptions": { "temperature": 0.5, "topP": 0.1 },
        "taskOverrides": { "two": { "modelOptions": { "topP": 0.2, "reasoningEffort": "low" } } } });
    served.write("request.json", &asked.to_string());
    served.said(&["run", "--file", "request.json"]);
    let first = provider.next();
    let second = provider.next();
    assert_eq!(options(&first), [json!(0.5), json!(0.1), json!(7), json!("medium")]);
    assert_eq!(options(&second), [json!(0.0), json!(0.2), json!(7), json!("low")]);

    let tasks = json!({ "tasks": [{ "description": "x", "modelOptions": { "seed": 9 } }] });
    served.write("request.json", &tasks.to_string());
    served.said(&["run", "--file", "request.json"]);
    assert_eq!(options(&provider.next())[2], 9);

    for (wrong, place) in [
        (json!({ "modelOptions": { "temperature": 2.5 } }), "modelOptions.temperature"),
        (json!({ "modelOptions": { "temperature": "hot" } }), "modelOptions.temperature"),
        (json!({ "tasks": [{ "description": "x", "modelOptions": { "seed": 1.5 } }] }), "tasks[0].modelOptions.seed"),
        (json!({ "modelOptions": { "reasoningEffort": "hard" } }), "none, minimal, low, medium, high, xhigh, max"),
    ] {
        served.write("request.json", &wrong.to_string());
        let (status, _, words) = served.consort(&["run", "--file", "request.json"]);
        assert!(status != Some(0) && words.contains(place), "{wrong}: {words}");
    }
}

/// Answers with JSON, as a stream of chat completions; cut at the output limit where it is asked about a long list.
fn json_answer(request: &str) -> String {
    let (words, end) =
        if request.contains("long list") { (r#"{\"n\": "#, "length") } else { (r#"{\"n\": 7}"#, "stop") };
    let chunk = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{words}"}},"finish_reason":"{end}"}}]}}"#);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}data: {chunk}\n\ndata: [DONE]\n\n")
}

#[test]
fn a_schema_is_told_to_the_provider_where_the_file_says_so_and_a_cut_reply_is_asked_for_once_more() {
    let provider = Outside::start(json_answer);
    let folder = tempfile::tempdir().unwrap();
    let config = |word: &str, description: &str| {
        let model =
            format!("provider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{}'\nretries = 0", provider.port);
        let schema = "{ type = 'object', properties = { n = { type = 'integer' } } }";
        let text = format!(
            "[models.main]\n{model}\n{word}\n[ensemble]\nname = 'e'\n\
            [[ensemble.task]]\ndescription = '{description}'\noutput_schema = {schema}\n"
        );
        std::fs::write(folder.path().join("consort.toml"), text).unwrap();
        run(folder.path(), &["run"])
    };
    for (word, native) in [
        ("structured_output = 'native'", true),
        ("structured_output = 'prompt'", false),
        ("structured_output = 'auto'", false),
        ("", false),
    ] {
        let (status, said, words) = config(word, "Count");
        assert_eq!((status, said.trim()), (Some(0), r#"{"n":7}"#), "{words}");
        let body = body(&provider.next());
        assert_eq!(body["response_format"]["type"] == "json_schema", native, "{word}");
        assert!(body["messages"].to_string().contains("JSON Schema"), "the prompt says it too: {body}");
    }
    let (status, _, words) = config("structured_output = 'native'", "Make a long list");
    assert_eq!(status, Some(1), "{words}");
    assert!(words.contains("OUTPUT_TRUNCATED"), "{words}");
    let bodies = [body(&provider.next()), body(&provider.next())];
    assert!(!bodies[1].to_string().contains(r#"{\"n\": ""#), "nothing of what was cut is sent back: {}", bodies[1]);
    assert!(bodies[1]["messages"].to_string().contains("inside of its JSON"), "{}", bodies[1]);
}
