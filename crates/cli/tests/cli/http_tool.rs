//! An HTTP API as a tool, through the front door: what the API is sent, and
//! what its caller is told.

use crate::binary::run;
use crate::outside::Outside;
use crate::served::Served;

/// A credential; must be shown nowhere.
const TOKEN: &str = "hush-hush-hush";

/// Sends back whatever it is sent.
fn echo(request: &str) -> String {
    let echo = serde_json::json!({ "got": request }).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    format!("{head}content-length: {}\r\n\r\n{echo}", echo.len())
}

fn config(port: u16) -> String {
    format!(
        r#"
[tools.http.get_issue]
description = "Reads an issue"
method = "GET"
url = "http://127.0.0.1:{port}/repos/{{owner}}/issues/{{number}}"
headers = {{ Authorization = "Bearer {TOKEN}" }}
query = {{ state = "{{state}}" }}

[tools.http.comment]
description = "Comments"
method = "POST"
url = "http://127.0.0.1:{port}/issues/{{number}}/comments"
headers = {{ x-api-key = "{TOKEN}" }}
input_schema = {{ type = "object", properties = {{ number = {{ type = "integer" }}, body = {{ type = "string" }} }} }}

[tools.http.envelope]
description = "As before"
url = "http://127.0.0.1:{port}/call"
headers = {{ Authorization = "Bearer {TOKEN}" }}
"#
    )
}

#[test]
fn an_http_api_is_a_tool_and_its_credentials_are_shown_nowhere() {
    let api = Outside::start(echo);
    let served = Served::start(Some(&config(api.port)));
    let args = r#"{"owner": "a/b", "number": "7", "state": "open now"}"#;
    let told = served.said(&["tools", "invoke", "get_issue", args]);
    let request = api.next();
    assert!(request.starts_with("GET /repos/a%2Fb/issues/7?state=open%20now HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("authorization: Bearer {TOKEN}")), "{request}");
    assert!(told.contains("Bearer …") && !told.contains(TOKEN), "{told}");

    let told = served.said(&["tools", "invoke", "comment", r#"{"number": 7, "body": "Thanks"}"#]);
    let request = api.next();
    assert!(request.starts_with("POST /issues/7/comments HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with(r#"{"body":"Thanks"}"#) && request.contains("idempotency-key: "), "{request}");
    assert!(!told.contains(TOKEN), "{told}");

    let (_, _, refused) = served.consort(&["tools", "invoke", "get_issue", r#"{"owner": "..", "number": "7"}"#]);
    assert!(refused.contains("`owner` must not be `..`"), "{refused}");
    served.consort(&["tools", "invoke", "envelope", "salt"]);
    let request = api.next();
    assert!(request.starts_with("POST /call "), "nothing was sent in between: {request}");
    assert!(request.contains(TOKEN) && request.contains(r#"{"input":"salt","callId":"#), "{request}");

    let listed = served.said(&["tools", "list", "--json"]);
    assert!(listed.contains("get_issue") && !listed.contains(TOKEN), "{listed}");
    let (status, said, words) = run(served.folder.path(), &["check"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(!said.contains(TOKEN) && !words.contains(TOKEN), "{said}{words}");
}

/// Answers as an API that describes itself, and sends back every other request.
fn described(request: &str) -> String {
    if !request.starts_with("GET /openapi.json ") {
        return echo(request);
    }
    let item = serde_json::json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } });
    let note =
        serde_json::json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
    let document = serde_json::json!({
        "openapi": "3.1.0", "info": { "title": "Shop", "version": "1" }, "servers": [{ "url": "/v1" }],
        "paths": { "/items/{id}": {
            "parameters": [item],
            "get": { "operationId": "items/get", "tags": ["items"], "summary": "Reads an item" },
            "post": { "operationId": "items/note", "tags": ["notes"],
                "requestBody": { "required": true, "content": { "application/json": { "schema": note } } } } } }
    })
    .to_string();
    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{document}", document.len())
}

#[test]
fn every_operation_of_an_openapi_document_is_a_tool() {
    let api = Outside::start(described);
    let config = |include: &str| {
        let spec = format!("spec = \"http://127.0.0.1:{}/openapi.json\"", api.port);
        format!("[tools.openapi.shop]\n{spec}\ninclude = [{include}]\nheaders = {{ x-api-key = \"{TOKEN}\" }}\n")
    };
    let served = Served::start(Some(&config("\"items\", \"*/note\"")));
    let fetched = api.next();
    assert!(fetched.starts_with("GET /openapi.json ") && !fetched.contains(TOKEN), "{fetched}");
    let listed = served.said(&["tools", "list", "--json"]);
    assert!(
        listed.contains("shop_items_get") && listed.contains("Reads an item") && !listed.contains(TOKEN),
        "{listed}"
    );

    let told = served.said(&["tools", "invoke", "shop_items_get", r#"{"id": "a/b"}"#]);
    let request = api.next();
    assert!(request.starts_with("GET /v1/items/a%2Fb HTTP/1.1\r\n") && request.contains(TOKEN), "{request}");
    assert!(told.contains("GET /v1/items/") && !told.contains(TOKEN), "{told}");
    served.said(&["tools", "invoke", "shop_items_note", r#"{"id": "7", "text": "low"}"#]);
    let request = api.next();
    assert!(request.starts_with("POST /v1/items/7 ") && request.ends_with(r#"{"text":"low"}"#), "{request}");
    let (_, _, refused) = served.consort(&["tools", "invoke", "shop_items_note", r#"{"id": "7"}"#]);
    assert!(refused.contains("text"), "{refused}");

    // In a folder of its own: beside the server a run would be one of the server's.
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join("consort.toml");
    std::fs::write(&path, config("\"item\"")).unwrap();
    for command in [&["check"][..], &["run"], &["serve", "--port", "0"]] {
        let (status, _, words) = run(elsewhere.path(), command);
        assert_eq!(status, Some(2), "{command:?}: {words}");
        let told =
            "tools.openapi.shop.include[0]: matches no operationId and no tag of the document; did you mean `items`?";
        assert!(words.contains(told), "{command:?}: {words}");
    }
    let away = config("").replace(&format!(":{}/", api.port), ":1/");
    std::fs::write(&path, away).unwrap();
    let (status, _, words) = run(elsewhere.path(), &["check"]);
    assert_eq!(status, Some(0), "it may be there later: {words}");
    assert!(words.contains("warning: tools.openapi.shop.spec: cannot be fetched: "), "{words}");
}
