//! Requests that are refused: for their key, their owner, or what they say.

use super::*;

fn guarded() -> Server {
    let mut guarded = sharing(engine(says("draft"), Capacity::UNLIMITED));
    let key = |name: &str, scopes: &[Scope]| Key::new(name, name, scopes).unwrap();
    guarded.access.keys = vec![
        key("a", &[Scope::Run, Scope::Review]),
        key("b", &[Scope::Run, Scope::Review]),
        key("runs", &[Scope::Run]),
        key("eye", &[Scope::Read]),
        key("tool", &[Scope::Tools]),
    ];
    guarded
}

#[tokio::test]
async fn a_client_without_a_key_learns_what_it_must_show() {
    let here = start(guarded()).await;
    let unknown = Client::of(&here).asks("tools/list", json!({})).await;
    assert_eq!(unknown.problem(), (401, "UNAUTHORIZED".to_owned()));
    let metadata = "http://localhost/.well-known/oauth-protected-resource/mcp";
    assert_eq!(unknown.header("www-authenticate"), Some(format!("Bearer resource_metadata=\"{metadata}\"").as_str()));
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let told = here.get(path).await.json();
        assert_eq!(told["resource"], "http://localhost/mcp");
        assert_eq!(told["scopes_supported"], json!(["read", "run", "review", "tools"]));
        assert_eq!(told["bearer_methods_supported"], json!(["header"]));
        assert_eq!(told.get("authorization_servers"), None, "keys come from whoever runs the server");
    }
    let other = here.send("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer eye", b"").await;
    assert_eq!(other.problem(), (405, "METHOD_NOT_ALLOWED".to_owned()));
    let foreign = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\nAuthorization: Bearer a";
    assert_eq!(here.send(foreign, b"{}").await.problem(), (403, "FORBIDDEN".to_owned()));
    let rebound = "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer a";
    assert_eq!(here.send(rebound, b"{}").await.problem(), (403, "FORBIDDEN".to_owned()));
}

#[tokio::test]
async fn each_tool_needs_the_scope_of_what_it_does() {
    let here = start(guarded()).await;
    let client = |key| Client::of(&here).with_key(key).tasking();
    let listed = |answer: Answer| names(&answer);
    assert_eq!(listed(client("eye").asks("tools/list", json!({})).await), [""; 0]);
    assert_eq!(listed(client("tool").asks("tools/list", json!({})).await), ["sums"]);
    assert_eq!(
        listed(client("a").asks("tools/list", json!({})).await),
        ["about_topic", "plain", "careful", "run_ensemble", "chat"]
    );
    let call = |tool: &str| json!({ "name": tool, "arguments": { "input": "1", "topic": "x", "message": "hi" } });
    for (key, tool, needed) in
        [("eye", "sums", "tools"), ("eye", "plain", "run"), ("tool", "chat", "run"), ("a", "sums", "tools")]
    {
        let refused = client(key).asks("tools/call", call(tool)).await;
        assert_eq!(refused.problem(), (403, "FORBIDDEN".to_owned()), "{key} {tool}");
        let told = refused.header("www-authenticate").unwrap();
        assert!(
            told.contains("error=\"insufficient_scope\"") && told.contains(&format!("scope=\"{needed}\"")),
            "{told}"
        );
    }
    // A key that may not decide is told where people do.
    let runs = client("runs");
    let id = runs.calls("careful", json!({ "topic": "x" })).await["taskId"].as_str().unwrap().to_owned();
    loop {
        let task = runs.task(&id).await;
        assert_eq!(task["status"], "working", "{task}");
        if task["statusMessage"].as_str().is_some_and(|told| told.contains("/reviews/")) {
            break;
        }
    }
    let update = json!({ "taskId": id, "inputResponses": {} });
    assert_eq!(runs.asks("tasks/update", update).await.problem(), (403, "FORBIDDEN".to_owned()));
    assert_eq!(
        client("eye").asks("tasks/cancel", json!({ "taskId": id })).await.problem(),
        (403, "FORBIDDEN".to_owned())
    );
}

#[tokio::test]
async fn the_work_of_another_owner_is_missing() {
    let here = start(guarded()).await;
    let client = |key| Client::of(&here).with_key(key).tasking();
    let run = client("a").calls("careful", json!({ "topic": "x" })).await["taskId"].as_str().unwrap().to_owned();
    let turn = client("a").calls("chat", json!({ "message": "hi" })).await["taskId"].as_str().unwrap().to_owned();
    client("a").until(&run, "input_required").await;
    client("a").until(&turn, "completed").await;
    for id in [&run, &turn] {
        let missing = (200, -32602, format!("there is no task {id}"));
        assert_eq!(error(&client("b").asks("tasks/get", json!({ "taskId": id })).await), missing);
        assert_eq!(error(&client("b").asks("tasks/cancel", json!({ "taskId": id })).await), missing);
        let update = json!({ "taskId": id, "inputResponses": {} });
        assert_eq!(error(&client("b").asks("tasks/update", update).await), missing);
        // The state of a call is the client's word, and no more.
        let stolen = json!({ "name": "careful", "arguments": {}, "requestState": id, "inputResponses": {} });
        assert_eq!(error(&client("b").asks("tools/call", stolen).await), missing);
    }
    assert_eq!(client("a").task(&run).await["status"], "input_required");
}

#[tokio::test]
async fn whatever_is_sent_gets_an_error_that_says_what_is_wrong() {
    let here = here(says("done")).await;
    let client = Client::of(&here).tasking();
    let send = async |body: &str| here.send(&client.head(""), body.as_bytes()).await;
    let cases = [
        ("{", -32700, "not JSON"),
        ("[]", -32600, "one message at a time"),
        ("{}", -32600, "must be a message of JSON-RPC"),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600, "must be a message of JSON-RPC"),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, "`id` must be a string or a whole number"),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600, "`id` must be a string or a whole number"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32600, "`params` must be an object"),
    ];
    for (body, code, said) in cases {
        let (status, told, message) = error(&send(body).await);
        assert_eq!((status, told), (400, code), "{body}");
        assert!(message.contains(said), "{message}");
    }
    let deep = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{}1{}}}", "[".repeat(500), "]".repeat(500));
    assert!(error(&send(&deep).await).2.contains("nested deeper"));
    assert_eq!(send(&"x".repeat(70_000)).await.problem(), (413, "PAYLOAD_TOO_LARGE".to_owned()));
    let typed = client.head("").replace("application/json\r\n", "text/plain\r\n");
    assert_eq!(here.send(&typed, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}").await.problem().0, 415);
    let accepts = client.head("").replace("Accept: application/json, text/event-stream", "Accept: text/html");
    assert_eq!(here.send(&accepts, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}").await.problem().0, 406);
    assert_eq!(error(&client.asks("nothing/here", json!({})).await).0, 404);
    let unknown = error(&client.asks("tools/call", json!({ "name": "nothing" })).await);
    assert_eq!(unknown.1, -32602);
    assert!(unknown.2.contains("there is no tool 'nothing'. Available: [sums, "), "{}", unknown.2);
    assert_eq!(error(&client.asks("tools/call", json!({ "arguments": {} })).await).1, -32602);
    assert_eq!(error(&client.asks("tasks/get", json!({ "taskId": "run-none" })).await).1, -32602);
    assert_eq!(error(&client.asks("tasks/get", json!({ "taskId": "turn-none" })).await).1, -32602);
    // The newer version repeats in headers what a message is about.
    let (head, message) = client.newer("tools/call", json!({ "name": "sums", "arguments": { "input": "1" } }));
    let other = here.send(&head.replace("Mcp-Name: sums", "Mcp-Name: chat"), message.to_string().as_bytes()).await;
    assert_eq!((error(&other).0, error(&other).1), (400, -32020));
    let unversioned = message.to_string().replace(NEW, "2031-01-01");
    let future = here.send(&head.replace(NEW, "2031-01-01"), unversioned.as_bytes()).await;
    assert_eq!(error(&future).0, 400);
    // Tasks are only for clients that declare them.
    let plain = Client::of(&here);
    assert_eq!(error(&plain.asks("tasks/get", json!({ "taskId": "run-none" })).await).1, -32021);
}
