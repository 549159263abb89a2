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
