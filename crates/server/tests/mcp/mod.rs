//! `/mcp` through real sockets, in both versions of the protocol.

mod people;
mod refused;

use std::sync::Arc;

use consort_core::draft::Draft;
use consort_core::message::Stop;
use consort_core::owner::Owner;
use consort_core::spec::{OnTruncated, ReviewRule};
use consort_log::MemoryLog;
use consort_models::{Line, ScriptedModel};
use consort_net::share::{Share, SharedWork};
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;
use consort_server::Server;
use consort_server::access::{Key, Scope};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::client::{Answer, Here, engine, engine_over, server, start, task};
use crate::says;

const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";
/// The extension with which runs are tasks.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A server that shares a tool, a task with variables, one without and one that a person reviews.
pub(crate) fn sharing(engine: Engine) -> Server {
    let catalog = engine.seams().catalog();
    let shared =
        |name: &str, what: SharedWork| Share { name: name.to_owned(), tags: Vec::new(), owner: Owner::local(), what };
    let tool = catalog.tools.iter().find(|tool| tool.name == "calculator").unwrap().clone();
    let plain = Draft { name: Some("plain".to_owned()), description: "Do it".to_owned(), ..Draft::default() };
    let careful = Draft { review: Some(ReviewRule::Required), ..task("careful") };
    let shares = vec![
        shared("sums", SharedWork::Tool(tool)),
        shared("about topic", SharedWork::Task(Box::new(task("about")))),
        shared("plain", SharedWork::Task(Box::new(plain))),
        shared("careful", SharedWork::Task(Box::new(careful))),
    ];
    let shared_workflows = vec![("report".to_owned(), "weekly".to_owned())];
    Server { shares, shared_workflows, max_body_bytes: 65_536, ..server(engine, vec![task("a")]) }
}

/// A server whose model is always cut at its output limit, and which shares tasks that accept that.
pub(crate) fn cutting() -> Server {
    let whole = r#"{"a":1}"#;
    let cut = |words: &str| Line::new().says(words).stops(Stop::Length);
    let data = |ask: &consort_models::Ask| format!("{:?}", ask.messages).contains("Do data");
    let model = ScriptedModel::new().when(data, cut(whole)).otherwise(cut("half"));
    let mut server = sharing(engine(model, Capacity::UNLIMITED));
    let schema =
        json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "additionalProperties": false });
    let brief = Draft { on_truncated: OnTruncated::Accept, ..task("brief") };
    let data = Draft { description: "Do data".to_owned(), output_schema: Some(schema), ..brief.clone() };
    for (name, draft) in [("brief", brief), ("data", data)] {
        let what = SharedWork::Task(Box::new(draft));
        server.shares.push(Share { name: name.to_owned(), tags: Vec::new(), owner: Owner::local(), what });
    }
    server
}

async fn here(model: ScriptedModel) -> Here {
    start(sharing(engine(model, Capacity::UNLIMITED))).await
}

/// A key of a server, and the capabilities of its client.
#[derive(Clone)]
struct Client<'a> {
    here: &'a Here,
    key: &'a str,
    capabilities: Value,
    /// The headers that it sends besides.
    more: String,
}

impl<'a> Client<'a> {
    fn of(here: &'a Here) -> Client<'a> {
        Client { here, key: "none", capabilities: json!({}), more: String::new() }
    }

    fn with_key(self, key: &'a str) -> Client<'a> {
        Client { key, ..self }
    }

    fn with(self, capabilities: Value) -> Client<'a> {
        Client { capabilities, ..self }
    }

    /// A client that knows tasks.
    fn tasking(self) -> Client<'a> {
        self.with(json!({ "extensions": { TASKS: {} }, "elicitation": {} }))
    }

    fn head(&self, headers: &str) -> String {
        let Client { key, more, .. } = self;
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer {key}\r\n\
            Accept: application/json, text/event-stream{more}{headers}"
        )
    }

    /// The request with its headers, in the newer version.
    fn newer(&self, method: &str, mut params: Value) -> (String, Value) {
        let prefix = "io.modelcontextprotocol";
        let meta = json!({ format!("{prefix}/protocolVersion"): NEW, format!("{prefix}/clientInfo"): { "name": "t", "version": "1" },
            format!("{prefix}/clientCapabilities"): self.capabilities });
        let own = params["_meta"].as_object().cloned().unwrap_or_default();
        params["_meta"] = meta;
        params["_meta"].as_object_mut().unwrap().extend(own);
        let name = params["name"].as_str().or(params["taskId"].as_str());
        let name = name.map(|name| format!("\r\nMcp-Name: {name}")).unwrap_or_default();
        let head = self.head(&format!("\r\nMCP-Protocol-Version: {NEW}\r\nMcp-Method: {method}{name}"));
        (head, json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
    }

    async fn asks(&self, method: &str, params: Value) -> Answer {
        let (head, message) = self.newer(method, params);
        self.here.send(&head, message.to_string().as_bytes()).await
    }

    /// The same in the older version.
    async fn asks_older(&self, method: &str, params: Value) -> Answer {
        let head = self.head(&format!("\r\nMCP-Protocol-Version: {OLD}"));
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.here.send(&head, message.to_string().as_bytes()).await
    }

    /// The result of a call.
    async fn calls(&self, tool: &str, arguments: Value) -> Value {
        result(&self.asks("tools/call", json!({ "name": tool, "arguments": arguments })).await)
    }

    /// Returns the answer to `tasks/get`.
    async fn task(&self, id: &str) -> Value {
        result(&self.asks("tasks/get", json!({ "taskId": id })).await)
    }

    /// The task once it has this status.
    async fn until(&self, id: &str, status: &str) -> Value {
        loop {
            let task = self.task(id).await;
            if task["status"] == status {
                return task;
            }
            assert!(["working", "input_required"].contains(&task["status"].as_str().unwrap()), "{task}");
        }
    }

    /// The row of a run.
    async fn run(&self, id: &str) -> Value {
        let head = format!("GET /api/runs/{id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}", self.key);
        self.here.send(&head, b"").await.json()
    }
}

/// All messages of an answer: it is one, or a stream of them.
fn messages(answer: &Answer) -> Vec<Value> {
    if answer.header("content-type") != Some("text/event-stream") {
        return vec![answer.json()];
    }
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data:")).filter(|data| !data.trim().is_empty());
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn result(answer: &Answer) -> Value {
    let last = messages(answer).pop().unwrap_or_else(|| panic!("{answer:?}"));
    assert!(last["result"].is_object(), "{answer:?}");
    last["result"].clone()
}

fn error(answer: &Answer) -> (u16, i64, String) {
    let last = messages(answer).pop().unwrap_or_else(|| panic!("{answer:?}"));
    let error = &last["error"];
    (
        answer.status,
        error["code"].as_i64().unwrap_or_else(|| panic!("{answer:?}")),
        error["message"].as_str().unwrap().to_owned(),
    )
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn names(answer: &Answer) -> Vec<String> {
    let tools = result(answer)["tools"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_is_shared_the_ensemble_and_the_chat_agent_are_tools_in_both_versions() {
    let here = here(says("done")).await;
    let client = Client::of(&here);
    let all = ["sums", "about_topic", "plain", "careful", "run_ensemble", "chat"];
    let listed = client.asks("tools/list", json!({})).await;
    assert_eq!(names(&listed), all);
    assert_eq!(names(&client.asks_older("tools/list", json!({})).await), all);
    let tools = result(&listed)["tools"].clone();
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["input"]));
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    assert_eq!(
        (&tools[1]["inputSchema"]["required"], &tools[2]["inputSchema"]["required"]),
        (&json!(["topic"]), &json!([]))
    );
    assert!(tools[2]["inputSchema"]["properties"]["input"].is_object(), "{tools}");
    assert_eq!(
        (&tools[1]["annotations"]["readOnlyHint"], &tools[1]["annotations"]["destructiveHint"]),
        (&json!(false), &json!(true))
    );
    here.post(
        "/api/workflows",
        json!({ "name": "weekly", "description": "What happened",
        "tasks": [{ "name": "a", "description": "Report on {week}" }] }),
    )
    .await;
    let tools = result(&client.asks("tools/list", json!({})).await)["tools"].clone();
    let report = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "report").unwrap();
    assert_eq!(
        (&report["description"], &report["inputSchema"]["required"]),
        (&json!("What happened"), &json!(["week"]))
    );
    let ran = client.calls("report", json!({ "week": "12" })).await;
    assert_eq!((text(&ran), &ran["isError"]), ("done", &json!(false)));
    let discovered = result(&client.asks("server/discover", json!({})).await);
    assert!(discovered["supportedVersions"].as_array().unwrap().contains(&json!(NEW)), "{discovered}");
}

#[tokio::test]
async fn a_tool_is_called_here_and_a_task_is_a_run_whose_variables_are_arguments() {
    let model = says("done");
    let here = here(model.clone()).await;
    let client = Client::of(&here);
    let sum = client.calls("sums", json!({ "input": "6 * 7" })).await;
    assert_eq!((text(&sum), &sum["isError"], &sum["resultType"]), ("42", &json!(false), &json!("complete")));
    let wrong = client.calls("sums", json!({ "inputs": 1 })).await;
    assert_eq!(wrong["isError"], true);
    assert!(text(&wrong).contains("input"), "{wrong}");
    assert_eq!(text(&client.calls("about_topic", json!({ "topic": "bees" })).await), "done");
    assert!(format!("{:?}", model.sent("1.0")).contains("about bees"));
    assert_eq!(text(&client.calls("plain", json!({ "input": "slowly" })).await), "done");
    assert!(format!("{:?}", model.sent("1.0")).contains("slowly"));
    let missing = client.calls("about_topic", json!({})).await;
    assert_eq!(missing["isError"], true);
    assert!(text(&missing).contains("topic"), "{missing}");
    let older = client
        .asks_older(
            "tools/call",
            json!({ "name": "run_ensemble", "arguments": { "topic": "x" },
        "_meta": { "progressToken": 7 } }),
        )
        .await;
    assert_eq!(text(&result(&older)), "done");
    let told = messages(&older);
    let counts: Vec<f64> = told.iter().filter_map(|message| message["params"]["progress"].as_f64()).collect();
    assert_eq!(counts, [1.0, 2.0], "{told:?}");
    assert_eq!(
        (&told[0]["method"], &told[0]["params"]["message"]),
        (&json!("notifications/progress"), &json!("a: begun"))
    );
    assert!(older.header("mcp-session-id").is_none());
}

#[tokio::test]
async fn a_conversation_is_gone_on_with_by_what_its_result_names() {
    let model = ScriptedModel::new().at("1.0", Line::new().says("hello")).otherwise(Line::new().says("again"));
    let here = here(model).await;
    let client = Client::of(&here);
    let first = client.calls("chat", json!({ "message": "hi" })).await;
    let conversation = first["structuredContent"]["conversation"].as_str().unwrap().to_owned();
    assert_eq!((text(&first), &first["structuredContent"]["answer"]), ("hello", &json!("hello")));
    let second = client.calls("chat", json!({ "message": "more", "conversation": conversation })).await;
    assert_eq!(second["structuredContent"]["conversation"], json!(conversation));
    let own = client.calls("chat", json!({ "message": "hi", "conversation": "mine" })).await;
    assert_ne!(own["structuredContent"]["conversation"], json!(conversation));
    for (arguments, said) in
        [(json!({}), "`message` must say something"), (json!({ "message": 1 }), "`message` must be a text")]
    {
        let wrong = client.calls("chat", arguments).await;
        assert_eq!((&wrong["isError"], text(&wrong)), (&json!(true), said));
    }
    let foreign = client.calls("chat", json!({ "message": "hi", "conversation": "thread-none" })).await;
    assert_eq!(foreign["isError"], true);
}

#[tokio::test]
async fn a_run_is_a_task_of_the_same_id_and_is_found_again_by_another_server_on_the_same_store() {
    let log: Arc<MemoryLog> = Arc::default();
    let first = start(sharing(engine_over(
        log.clone(),
        ScriptedModel::new().otherwise(Line::new().hangs()),
        Capacity::UNLIMITED,
    )))
    .await;
    let client = Client::of(&first).tasking();
    let began = client.calls("about_topic", json!({ "topic": "x" })).await;
    assert_eq!((&began["resultType"], &began["status"]), (&json!("task"), &json!("working")));
    let id = began["taskId"].as_str().unwrap().to_owned();
    assert!(
        id.starts_with("run-") && began["ttlMs"].is_null() && began["pollIntervalMs"].as_u64().unwrap() > 0,
        "{began}"
    );
    assert_eq!(client.run(&id).await["status"], "RUNNING");
    // As a crash leaves it: another process takes the store over.
    drop(first);
    let second = sharing(engine_over(log, says("done"), Capacity::UNLIMITED));
    let opening = second.opening();
    let second = start(second).await;
    let _links = opening.await.unwrap();
    let client = Client::of(&second).tasking();
    let done = client.until(&id, "completed").await;
    assert_eq!((text(&done["result"]), &done["result"]["isError"]), ("done", &json!(false)));
}

#[tokio::test]
async fn a_task_is_cancelled_by_its_id_a_call_by_leaving_or_in_the_older_version_by_a_message() {
    let here = here(ScriptedModel::new().otherwise(Line::new().hangs())).await;
    let client = Client::of(&here).tasking();
    let began = client.calls("about_topic", json!({ "topic": "x" })).await;
    let id = began["taskId"].as_str().unwrap().to_owned();
    let told = result(&client.asks("tasks/cancel", json!({ "taskId": id })).await);
    assert_eq!(told["resultType"], "complete");
    client.until(&id, "cancelled").await;
    assert_eq!(client.run(&id).await["status"], "CANCELLED");
    result(&client.asks("tasks/cancel", json!({ "taskId": id })).await);

    // A client that leaves.
    let plain = Client::of(&here);
    let (head, message) = plain.newer("tools/call", json!({ "name": "about_topic", "arguments": { "topic": "left" } }));
    let left = waiting(&here, &head, &message).await;
    let run = running(&here).await;
    drop(left);
    while client.run(&run).await["status"] != "CANCELLED" {}

    // A client of the older version: leaving is no cancel, a message is.
    let greeted = plain
        .asks_older(
            "initialize",
            json!({ "protocolVersion": OLD, "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } }),
        )
        .await;
    assert_eq!(result(&greeted)["protocolVersion"], OLD);
    let session = greeted.header("mcp-session-id").unwrap().to_owned();
    let older =
        Client { more: format!("\r\nMcp-Session-Id: {session}\r\nMCP-Protocol-Version: {OLD}"), ..plain.clone() };
    let call = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": { "name": "about_topic", "arguments": { "topic": "older" } } });
    let open = waiting(&here, &older.head(""), &call).await;
    let run = running(&here).await;
    let cancel = |session: &str| {
        let more = format!("\r\nMcp-Session-Id: {session}\r\nMCP-Protocol-Version: {OLD}");
        Client { more, ..plain.clone() }.head("")
    };
    let message =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } }).to_string();
    let other = here.send(&cancel("another"), message.as_bytes()).await;
    assert_eq!((other.status, client.run(&run).await["status"].clone()), (202, json!("RUNNING")));
    assert_eq!(here.send(&cancel(&session), message.as_bytes()).await.status, 202);
    while client.run(&run).await["status"] != "CANCELLED" {}
    drop(open);
}

/// A request whose answer is not read.
async fn waiting(here: &Here, head: &str, message: &Value) -> TcpStream {
    let mut socket = TcpStream::connect(here.address).await.unwrap();
    let body = message.to_string();
    let text = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    socket.write_all(text.as_bytes()).await.unwrap();
    socket
}

/// The only run that is under way.
async fn running(here: &Here) -> String {
    loop {
        let rows = here.get("/api/runs?status=RUNNING").await.json()["runs"].clone();
        if let Some(run) = rows[0]["runId"].as_str() {
            return run.to_owned();
        }
    }
}

#[tokio::test]
async fn the_same_idempotency_key_finds_the_same_run() {
    let here = here(says("done")).await;
    let keyed = Client { more: "\r\nIdempotency-Key: k1".to_owned(), ..Client::of(&here).tasking() };
    let first = keyed.calls("about_topic", json!({ "topic": "x" })).await;
    let second = keyed.calls("about_topic", json!({ "topic": "x" })).await;
    assert_eq!(first["taskId"], second["taskId"]);
    let other = keyed.calls("about_topic", json!({ "topic": "y" })).await;
    assert_eq!(other["isError"], true);
    assert!(text(&other).to_lowercase().contains("idempotency"), "{other}");
    for (tool, arguments) in [("sums", json!({ "input": "1" })), ("chat", json!({ "message": "hi" }))] {
        let refused = keyed.calls(tool, arguments).await;
        assert!(text(&refused).contains("only for tools that begin a run"), "{refused}");
    }
    // What is no call takes no notice of it.
    assert_eq!(names(&keyed.asks("tools/list", json!({})).await).len(), 6);
    let long = Client { more: format!("\r\nIdempotency-Key: {}", "k".repeat(300)), ..Client::of(&here) };
    assert_eq!(long.asks("tools/list", json!({})).await.problem(), (400, "BAD_REQUEST".to_owned()));
}

#[tokio::test]
async fn half_an_answer_is_marked_in_words_and_in_data_and_a_whole_one_is_not() {
    let cut = start(cutting()).await;
    let client = Client::of(&cut);
    let marked = |told: &Value, words: &str| {
        assert_eq!((&told["isError"], text(told)), (&json!(false), words));
        assert!(told["content"][1]["text"].as_str().unwrap().starts_with("The answer was cut"), "{told}");
    };
    for (tool, arguments, name) in
        [("chat", json!({ "message": "hi" }), "answer"), ("brief", json!({ "topic": "x" }), "output")]
    {
        let told = client.calls(tool, arguments).await;
        marked(&told, "half");
        let data = &told["structuredContent"];
        assert_eq!((&data[name], &data["truncated"]), (&json!("half"), &json!(true)), "{told}");
    }
    let told = client.calls("data", json!({})).await;
    marked(&told, r#"{"a":1}"#);
    assert_eq!(told["structuredContent"], json!({ "a": 1 }), "data keeps to its schema");
    assert_eq!(told["_meta"]["truncated"], true, "{told}");
    let whole = here(says("whole")).await;
    let client = Client::of(&whole);
    let chat = client.calls("chat", json!({ "message": "hi" })).await;
    let plain = client.calls("plain", json!({})).await;
    assert!(chat["structuredContent"].get("truncated").is_none() && plain.get("structuredContent").is_none());
    for told in [chat, plain] {
        assert_eq!((told["content"].as_array().unwrap().len(), told.get("_meta")), (1, None), "{told}");
    }
}
