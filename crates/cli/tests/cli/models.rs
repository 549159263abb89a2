//! `consort models test`, through the binary and against servers that can do some of it.

use serde_json::{Value, json};

use crate::binary::run;
use crate::outside::Outside;

const KEY: &str = "sk-hush-hush-hush";

/// Answers with these chunks, as a stream of chat completions.
fn stream(delta: &Value, end: &str) -> String {
    let chunk = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": end }] });
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}data: {chunk}\n\ndata: [DONE]\n\n")
}

/// A model that can do everything.
fn able(request: &str) -> String {
    if request.contains(r#""tool_call_id""#) {
        return stream(&json!({ "content": "It is 714." }), "stop");
    }
    if request.contains(r#""tools":"#) {
        let function = json!({ "name": "calculator", "arguments": r#"{"input":"42 * 17"}"# });
        let call = json!({ "tool_calls": [{ "index": 0, "id": "a", "type": "function", "function": function }] });
        return stream(&call, "tool_calls");
    }
    wordy(request)
}

/// A model that calls no tools.
fn wordy(request: &str) -> String {
    let is_asked = request.contains("JSON Schema");
    stream(&json!({ "content": if is_asked { r#"{"name":"bee","legs":6}"# } else { "Hello." } }), "stop")
}

/// A model that only talks.
fn chatty(_request: &str) -> String {
    stream(&json!({ "content": "Hello." }), "stop")
}

/// A server that repeats the key it was sent.
fn tactless(_request: &str) -> String {
    let body = json!({ "error": { "message": format!("Incorrect API key provided: {KEY}") } }).to_string();
    format!("HTTP/1.1 401 Unauthorized\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn model(alias: &str, server: &Outside, more: &str) -> String {
    format!(
        "[models.{alias}]\nprovider = 'openai'\nmodel = 'm'\napi_key = '{KEY}'\nretries = 3\nfallback = ['other']\n\
         base_url = 'http://user:{KEY}@127.0.0.1:{}'\n{more}\n",
        server.port
    )
}

/// The words of the table's rows, without times and addresses.
fn rows(said: &str) -> Vec<Vec<&str>> {
    said.lines().map(|line| line.split_whitespace().take(4).collect()).collect()
}

#[test]
fn each_model_is_asked_for_an_answer_a_tool_call_and_a_value() {
    let servers = [able, wordy, chatty].map(Outside::start);
    let folder = tempfile::tempdir().unwrap();
    let other = "[models.other]\nprovider = 'demo'\nmodel = 'demo'\n";
    let text = [
        model("able", &servers[0], "structured_output = 'native'"),
        model("wordy", &servers[1], "tools = false"),
        model("chatty", &servers[2], ""),
        other.to_owned(),
    ];
    std::fs::write(folder.path().join("consort.toml"), text.concat()).unwrap();
    let (status, said, words) = run(folder.path(), &["models", "test"]);
    assert_eq!(status, Some(1), "one cannot do all of it: {said}{words}");
    let expected = [
        vec!["MODEL", "ANSWER", "TOOLS", "SCHEMA"],
        vec!["able", "yes", "yes", "yes"],
        vec!["wordy", "yes", "off", "yes"],
        vec!["chatty", "yes", "no", "no"],
        vec!["other", "yes", "yes", "yes"],
    ];
    assert_eq!(rows(&said), expected, "{said}{words}");
    assert!(words.contains("chatty: no tools: it answered without calling the tool"), "{words}");
    assert!(words.contains("chatty: no schema: "), "{words}");
    assert!(!(said.clone() + &words).contains("hush"), "no key is printed: {said}{words}");
    assert!(said.contains(&format!("http://127.0.0.1:{}", servers[0].port)), "{said}");

    let (status, said, words) = run(folder.path(), &["models", "test", "wordy", "other", "--json"]);
    assert_eq!(status, Some(0), "{said}{words}");
    let told: Value = serde_json::from_str(&said).unwrap();
    let models = told["models"].as_array().unwrap();
    assert_eq!(models.iter().map(|model| model["alias"].as_str().unwrap()).collect::<Vec<_>>(), ["wordy", "other"]);
    assert_eq!(models[0]["toolCall"], json!({ "ok": false, "off": true, "reason": "tools = false" }));
    assert!(models[0]["structured"]["ok"] == true && models[0]["answer"]["durationMs"].is_u64(), "{said}");
    assert_eq!((&models[1]["provider"], models[1].get("address")), (&json!("demo"), None));
}

#[test]
fn a_model_that_cannot_be_used_is_asked_once_and_nothing_of_its_key_is_printed() {
    let server = Outside::start(tactless);
    let folder = tempfile::tempdir().unwrap();
    let text = model("main", &server, "") + "[models.other]\nprovider = 'demo'\nmodel = 'demo'\n";
    std::fs::write(folder.path().join("consort.toml"), text).unwrap();
    for json in [&[][..], &["--json"][..]] {
        let (status, said, words) = run(folder.path(), &[&["models", "test", "main"][..], json].concat());
        assert_eq!(status, Some(1), "{said}{words}");
        assert!(!(said.clone() + &words).contains("hush"), "no key is printed: {said}{words}");
        assert!((said + &words).contains("Incorrect API key provided: ***"), "{words}");
        assert!(server.next().contains("Say hello"), "asked for an answer");
        assert!(server.is_quiet(), "and for nothing more, neither it nor its fallback");
    }
    let (status, _, words) = run(folder.path(), &["models", "test", "mian"]);
    assert_eq!((status, words.trim()), (Some(2), "unknown model `mian`; there is main, other"));
}
