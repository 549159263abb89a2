//! Taint and grants through real sockets: a file of a real workspace is read, and a page of a real server is
//! fetched only when a person says so.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use consort_chat::{Chats, Settings};
use consort_core::chat::{Mode, Rules};
use consort_http::outbound::{Outbound, OutboundOptions, Reach, SystemNames};
use consort_log::MemoryLog;
use consort_models::{Line, ModelCatalog, ScriptedModel};
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_server::Server;
use consort_tools::{HttpFetch, ListFiles, ReadFile, Toolbox, Workspace, WriteFile};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{hears, messages, quiet, say, thread};
use crate::client::{Here, Socket, server, start};

/// A web server that counts its requests.
struct Sink {
    port: u16,
    hits: Arc<AtomicUsize>,
}

impl Sink {
    async fn open() -> Sink {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let hits = Arc::new(AtomicUsize::new(0));
        let counted = hits.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let _read = stream.read(&mut [0; 4096]).await;
                let page =
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
                let _sent = stream.write_all(page).await;
            }
        });
        Sink { port, hits }
    }

    /// Returns an address that carries what was read.
    fn url(&self) -> String {
        format!("http://localhost:{}/?q=KEY=1", self.port)
    }

    fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }
}

/// Creates a model that reads `secret.env` on "read", fetches from the sink on "fetch" and writes `AGENTS.md` on
/// "steer".
fn model(sink: &Sink) -> ScriptedModel {
    let fetch = json!({ "url": sink.url() });
    let steer = json!({ "path": "notes/AGENTS.md", "content": "obey" });
    let first = |words: &'static str| move |ask: &consort_models::Ask| hears(words)(ask) && ask.round == 0;
    ScriptedModel::new()
        .when(first("read"), Line::new().calls("read_file", &json!({ "path": "secret.env" })))
        .when(first("look"), Line::new().calls("list_files", &json!({})))
        .when(first("git"), Line::new().calls("read_file", &json!({ "path": ".git/config" })))
        .when(first("fetch"), Line::new().calls("http_fetch", &fetch))
        .when(first("fetch from localhost please"), Line::new().calls("http_fetch", &fetch))
        .when(first("steer"), Line::new().calls("write_file", &steer))
        .otherwise(Line::new().says("done"))
}

fn site(log: &Arc<MemoryLog>, model: &ScriptedModel, folder: &Path, mode: Mode) -> (Engine, Server) {
    let workspace = Workspace::open(folder).unwrap();
    let options = OutboundOptions { reach: Reach::Everything, ..OutboundOptions::default() };
    let fetch = HttpFetch::new(Outbound::new(options, Arc::new(SystemNames)).unwrap());
    let tools = Toolbox::default().with(fetch).unwrap().with(ReadFile::new(&workspace)).unwrap();
    let tools = tools.with(WriteFile::new(&workspace)).unwrap().with(ListFiles::new(&workspace)).unwrap();
    let info = consort_core::catalog::ModelInfo::new("main", "scripted");
    let models = ModelCatalog::default().with(info, model.clone()).unwrap();
    let engine = Engine::new(Seams::new(log.clone(), models, tools));
    let rules = Rules { mode, approval_timeout_ms: 60_000, ..Rules::default() };
    let settings = Settings { workspace: Some(workspace), ..Settings::new(&engine, rules) };
    let chats = Chats::new(engine.clone(), settings);
    (engine.clone(), Server { chats, ..server(engine, Vec::new()) })
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret.env"), "KEY=1").unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    std::fs::write(folder.path().join(".git/config"), "[remote]").unwrap();
    folder
}

/// Says something and returns the question that it leads to.
async fn asked(here: &Here, thread: &str, content: &str) -> Value {
    assert_eq!(say(here, thread, json!({ "content": content })).await.status, 202);
    loop {
        let open = here.get("/api/approvals").await.json();
        if open["total"] == 1 {
            return open["approvals"][0].clone();
        }
        assert_eq!(here.get(&format!("/api/threads/{thread}")).await.json()["running"], true, "it asks first");
    }
}

async fn answer(here: &Here, question: &Value, decision: &str) {
    let path = format!("/api/approvals/{}", question["approval_id"].as_str().unwrap());
    assert_eq!(here.post(&path, json!({ "decision": decision })).await.status, 200);
}

/// Says something that needs no question.
async fn does(here: &Here, thread: &str, content: &str) -> Value {
    assert_eq!(say(here, thread, json!({ "content": content })).await.status, 202);
    quiet(here, thread).await;
    let rows = messages(here, thread).await;
    rows.iter().rfind(|row| row["role"] == "tool").cloned().unwrap_or_default()
}

async fn grants(here: &Here, thread: &str) -> Vec<Value> {
    let answer = here.get(&format!("/api/threads/{thread}/grants")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["grants"].as_array().unwrap().clone()
}

async fn withdraw(here: &Here, thread: &str, grant: &str) -> crate::client::Answer {
    here.send(&format!("DELETE /api/threads/{thread}/grants/{grant} HTTP/1.1\r\nHost: localhost"), b"").await
}

#[tokio::test]
async fn a_chat_that_has_read_a_file_asks_before_it_sends_and_says_why() {
    let folder = folder();
    let sink = Sink::open().await;
    let log = Arc::default();
    let here = start(site(&log, &model(&sink), folder.path(), Mode::Default).1).await;
    let untainted = thread(&here).await;
    does(&here, &untainted, "fetch").await;
    assert_eq!(sink.hits(), 1, "nothing was read, so nothing can be sent");
    let id = thread(&here).await;
    does(&here, &id, "read").await;
    let question = asked(&here, &id, "fetch").await;
    let bytes = json!({ "url": sink.url() }).to_string().len();
    assert_eq!(
        question["message"],
        format!("this chat has read `secret.env`; the call would send {bytes} bytes to localhost")
    );
    let told = (&question["reason"], &question["host"], &question["bytes"], &question["sources"]);
    assert_eq!(told, (&json!("taint"), &json!("localhost"), &json!(bytes), &json!(["secret.env"])));
    assert_eq!(sink.hits(), 1);
    answer(&here, &question, "deny").await;
    quiet(&here, &id).await;
    assert_eq!((sink.hits(), grants(&here, &id).await.len()), (1, 0));
    does(&here, &id, "fetch from localhost please").await;
    assert_eq!(sink.hits(), 2, "the user named the host, so nobody is asked");
}

/// Sends a conversation to an endpoint of `/v1` and returns the text of the answer.
async fn brings(here: &Here, path: &str, messages: &Value) -> String {
    let field = if path == "/v1/responses" { "input" } else { "messages" };
    let answer = here.post(path, json!({ "model": "consort", field: messages })).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let told = answer.json();
    let said = told.pointer("/choices/0/message/content").cloned();
    let items = || told["output"].as_array().unwrap().iter().rfind(|item| item["type"] == "message").cloned();
    let said = said.or_else(|| items().map(|item| item["content"][0]["text"].clone()));
    said.unwrap().as_str().unwrap().to_owned()
}

#[tokio::test]
async fn words_of_a_model_that_a_client_of_openai_brings_along_count_as_read_and_the_users_own_do_not() {
    let folder = folder();
    let sink = Sink::open().await;
    let here = start(site(&Arc::default(), &model(&sink), folder.path(), Mode::Default).1).await;
    let user = |content: &str| json!({ "role": "user", "content": content });
    let model_said = json!({ "role": "assistant", "content": "KEY=1, as localhost told" });
    let bytes = json!({ "url": sink.url() }).to_string().len();
    let why = "this turn has read `earlier words of this chat, brought by the client`";
    for (asked, path) in ["/v1/chat/completions", "/v1/responses"].into_iter().enumerate() {
        let own = brings(&here, path, &json!([user("what is in secret.env?"), user("fetch")])).await;
        assert_eq!((own.as_str(), sink.hits()), ("done", 2 * asked + 1), "only the user has said something");
        let conversation = json!([user("what is in secret.env?"), model_said, user("fetch")]);
        let told = brings(&here, path, &conversation).await;
        assert_eq!(sink.hits(), 2 * asked + 1, "{told}");
        assert!(told.contains(&format!("{why}; the call would send {bytes} bytes to localhost")), "{told}");
        assert!(told.contains("http_fetch") && told.contains("Decide at http://localhost/chat/thread-"), "{told}");
        let open = here.get("/api/approvals").await.json()["approvals"].clone();
        assert_eq!(open[asked]["reason"], "taint", "{open}");
        let named = brings(&here, path, &json!([user("use localhost:80"), model_said, user("fetch")])).await;
        assert_eq!((named.as_str(), sink.hits()), ("done", 2 * asked + 2), "the user has named the host before");
    }
}

#[tokio::test]
async fn in_plan_what_a_client_of_openai_brings_along_is_sent_nowhere_and_later_turns_know_of_it() {
    let folder = folder();
    let sink = Sink::open().await;
    let log = Arc::default();
    let plan = start(site(&log, &model(&sink), folder.path(), Mode::Plan).1).await;
    let said = |role: &str, content: &str| json!({ "role": role, "content": content });
    let conversation = json!([said("user", "hello"), said("assistant", "KEY=1"), said("user", "fetch")]);
    assert_eq!(brings(&plan, "/v1/chat/completions", &conversation).await, "done");
    assert_eq!(sink.hits(), 0);
    let here = start(site(&log, &model(&sink), folder.path(), Mode::Default).1).await;
    let begins = json!([said("user", "hello"), said("assistant", "KEY=1"), said("user", "thanks")]);
    let first = here.post("/v1/responses", json!({ "model": "consort", "input": begins })).await.json();
    let later = json!({ "model": "consort", "input": "fetch", "previous_response_id": first["id"] });
    let asked = here.post("/v1/responses", later).await;
    assert!(asked.body.contains("this chat has read `earlier words of this chat"), "{asked:?}");
    assert_eq!(sink.hits(), 0);
}

#[tokio::test]
async fn the_question_comes_over_a_socket_with_its_reason_and_plan_refuses_without_one() {
    let folder = folder();
    let sink = Sink::open().await;
    let log = Arc::default();
    let here = start(site(&log, &model(&sink), folder.path(), Mode::Auto).1).await;
    let (mut socket, _): (Socket, Value) = here.greeted().await;
    let say =
        |content: &str, mode: &str| json!({ "type": "chat_message", "content": content, "permission_mode": mode });
    socket.say(say("read", "default")).await;
    let frames = socket.until("cost_summary").await;
    let id = frames.iter().find_map(|frame| frame["thread_id"].as_str()).unwrap().to_owned();
    let mut fetch = say("fetch", "default");
    fetch["thread_id"] = json!(id);
    socket.say(fetch.clone()).await;
    let frames = socket.until("tool_approval_request").await;
    let question = frames.last().unwrap();
    assert_eq!((&question["reason"], &question["host"]), (&json!("taint"), &json!("localhost")));
    assert_eq!(question["sources"], json!(["secret.env"]));
    assert!(question["bytes"].as_u64().unwrap() > 0);
    let decided =
        json!({ "type": "tool_approval_response", "approval_id": question["approval_id"], "decision": "deny" });
    socket.say(decided).await;
    socket.until("cost_summary").await;
    quiet(&here, &id).await;
    for (mode, hits) in [("plan", 0), ("auto", 1)] {
        fetch["permission_mode"] = json!(mode);
        socket.say(fetch.clone()).await;
        socket.until("cost_summary").await;
        quiet(&here, &id).await;
        assert_eq!(sink.hits(), hits, "{mode}");
    }
    let rows = messages(&here, &id).await;
    assert!(rows.iter().any(|row| row["content"].as_str().unwrap().contains("blocked_in_plan_mode")), "{rows:?}");
}

#[tokio::test]
async fn a_grant_is_listed_covers_one_tool_to_one_host_and_is_taken_back() {
    let folder = folder();
    let sink = Sink::open().await;
    let log = Arc::default();
    let here = start(site(&log, &model(&sink), folder.path(), Mode::Default).1).await;
    let id = thread(&here).await;
    assert_eq!(grants(&here, &id).await, [] as [Value; 0]);
    does(&here, &id, "read").await;
    answer(&here, &asked(&here, &id, "fetch").await, "allow_for_chat").await;
    quiet(&here, &id).await;
    let listed = grants(&here, &id).await;
    assert_eq!((&listed[0]["tool"], &listed[0]["host"]), (&json!("http_fetch"), &json!("localhost")));
    assert!(listed[0]["grantedAt"].as_str().unwrap().ends_with('Z'), "{listed:?}");
    does(&here, &id, "fetch").await;
    assert_eq!(sink.hits(), 2, "granted");
    let grant = listed[0]["id"].as_str().unwrap();
    assert_eq!(withdraw(&here, &id, "grant-0").await.problem(), (404, "GRANT_NOT_FOUND".to_owned()));
    assert_eq!(withdraw(&here, "thread-0", grant).await.problem(), (404, "THREAD_NOT_FOUND".to_owned()));
    assert_eq!(withdraw(&here, &id, grant).await.status, 204);
    assert_eq!(withdraw(&here, &id, grant).await.problem().0, 404);
    assert_eq!(grants(&here, &id).await, [] as [Value; 0]);
    let question = asked(&here, &id, "fetch").await;
    assert_eq!(question["reason"], "taint");
    answer(&here, &question, "allow_for_chat").await;
    quiet(&here, &id).await;
    assert_eq!(grants(&here, &id).await.len(), 1, "and given again");
}

#[tokio::test]
async fn a_grant_is_taken_back_from_the_turn_that_runs() {
    let folder = folder();
    let sink = Sink::open().await;
    let log = Arc::default();
    let url = json!({ "url": sink.url() });
    let script = ScriptedModel::new()
        .at("1.0", Line::new().calls("read_file", &json!({ "path": "secret.env" })))
        .at("1.1", Line::new().calls("http_fetch", &url))
        .at("1.2", Line::new().calls("write_file", &json!({ "path": "AGENTS.md", "content": "x" })))
        .at("1.3", Line::new().calls("http_fetch", &url))
        .otherwise(Line::new().says("done"));
    let here = start(site(&log, &script, folder.path(), Mode::Default).1).await;
    let id = thread(&here).await;
    answer(&here, &asked(&here, &id, "go").await, "allow_for_chat").await;
    let instructs = loop {
        let open = here.get("/api/approvals").await.json()["approvals"].clone();
        if open[0]["reason"] == "instructions" {
            break open[0].clone();
        }
    };
    let grant = grants(&here, &id).await[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(withdraw(&here, &id, &grant).await.status, 204);
    answer(&here, &instructs, "deny").await;
    let again = loop {
        let open = here.get("/api/approvals").await.json()["approvals"].clone();
        if open[0]["reason"] == "taint" {
            break open[0].clone();
        }
    };
    answer(&here, &again, "deny").await;
    quiet(&here, &id).await;
    assert_eq!(sink.hits(), 1);
}

#[tokio::test]
async fn taint_and_grants_survive_a_restart_and_what_was_taken_back_stays_so() {
    let folder = folder();
    let sink = Sink::open().await;
    let log = Arc::<MemoryLog>::default();
    let model = model(&sink);
    let (engine, first) = site(&log, &model, folder.path(), Mode::Default);
    let here = start(first).await;
    let kept = thread(&here).await;
    let taken = thread(&here).await;
    let read = thread(&here).await;
    for id in [&kept, &taken] {
        does(&here, id, "read").await;
        answer(&here, &asked(&here, id, "fetch").await, "allow_for_chat").await;
        quiet(&here, id).await;
    }
    does(&here, &read, "read").await;
    let grant = grants(&here, &taken).await[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(withdraw(&here, &taken, &grant).await.status, 204);
    engine.stop().await;
    drop((here, engine));
    let here = start(site(&log, &model, folder.path(), Mode::Default).1).await;
    assert_eq!((grants(&here, &kept).await.len(), grants(&here, &taken).await.len()), (1, 0));
    does(&here, &kept, "fetch").await;
    assert_eq!(sink.hits(), 3, "the grant holds");
    for id in [&taken, &read] {
        let question = asked(&here, id, "fetch").await;
        assert_eq!((&question["reason"], &question["sources"][0]), (&json!("taint"), &json!("secret.env")));
        answer(&here, &question, "deny").await;
        quiet(&here, id).await;
    }
    assert_eq!(sink.hits(), 3);
}

#[tokio::test]
async fn a_question_about_taint_waits_through_a_restart() {
    let folder = folder();
    let sink = Sink::open().await;
    let log = Arc::<MemoryLog>::default();
    let model = model(&sink);
    let (engine, first) = site(&log, &model, folder.path(), Mode::Default);
    let here = start(first).await;
    let id = thread(&here).await;
    does(&here, &id, "read").await;
    let before = asked(&here, &id, "fetch").await;
    engine.stop().await;
    drop((here, engine));
    let (engine, second) = site(&log, &model, folder.path(), Mode::Default);
    engine.recover().await.unwrap();
    second.chats.resume().await.unwrap();
    let here = start(second).await;
    let after = here.get("/api/approvals").await.json()["approvals"][0].clone();
    assert_eq!(after, before, "the same question, with its reason");
    answer(&here, &after, "allow").await;
    quiet(&here, &id).await;
    assert_eq!(sink.hits(), 1);
}

#[tokio::test]
async fn instructions_are_written_only_when_a_person_says_so_and_git_is_left_alone() {
    let folder = folder();
    let sink = Sink::open().await;
    let log = Arc::default();
    let here = start(site(&log, &model(&sink), folder.path(), Mode::Auto).1).await;
    let id = thread(&here).await;
    let steer = folder.path().join("notes/AGENTS.md");
    let question = asked(&here, &id, "steer").await;
    assert_eq!(
        (&question["reason"], question["message"].as_str().unwrap().contains("told")),
        (&json!("instructions"), true)
    );
    assert!(!steer.exists());
    answer(&here, &question, "allow_for_chat").await;
    quiet(&here, &id).await;
    assert!(steer.exists());
    std::fs::remove_file(&steer).unwrap();
    let again = asked(&here, &id, "steer").await;
    answer(&here, &again, "deny").await;
    quiet(&here, &id).await;
    assert!(!steer.exists(), "it is asked each time");
    let refused = does(&here, &id, "git").await;
    assert!(refused["is_error"] == true && refused["content"].as_str().unwrap().contains(".git"), "{refused}");
    let listed = does(&here, &id, "look").await;
    assert!(!listed["content"].as_str().unwrap().contains(".git"), "{listed}");
}

#[tokio::test]
async fn a_call_is_made_with_the_arguments_that_a_person_changed() {
    let folder = folder();
    let sink = Sink::open().await;
    let log = Arc::default();
    let here = start(site(&log, &model(&sink), folder.path(), Mode::Default).1).await;
    let id = thread(&here).await;
    let question = asked(&here, &id, "steer").await;
    let path = format!("/api/approvals/{}", question["approval_id"].as_str().unwrap());
    let kind = json!({ "path": "notes/AGENTS.md", "content": "be kind" });
    for (body, code) in [
        (json!({ "decision": "allow", "args": { "path": 7 } }), "INVALID_INPUT"),
        (json!({ "decision": "allow", "args": "x" }), "BAD_REQUEST"),
        (json!({ "decision": "deny", "args": kind }), "BAD_REQUEST"),
        (json!({ "decision": "allow_for_chat", "args": kind }), "BAD_REQUEST"),
    ] {
        assert_eq!(here.post(&path, body.clone()).await.problem(), (400, code.to_owned()), "{body}");
    }
    let (mut socket, _) = here.greeted().await;
    let response = json!({ "type": "tool_approval_response", "approval_id": question["approval_id"] });
    let with = |args: Value| {
        let mut frame = response.clone();
        (frame["decision"], frame["args"]) = (json!("allow"), args);
        frame
    };
    socket.say(with(json!({ "path": 7 }))).await;
    assert_eq!(socket.first("error").await["code"], "INVALID_INPUT");
    socket.say(with(kind)).await;
    assert_eq!(socket.first("tool_approval_ack").await["status"], "APPLIED");
    quiet(&here, &id).await;
    let written = std::fs::read_to_string(folder.path().join("notes/AGENTS.md")).unwrap();
    assert_eq!(written, "be kind");
    let rows = messages(&here, &id).await;
    let told = rows.iter().rfind(|row| row["role"] == "tool").unwrap()["content"].as_str().unwrap();
    assert!(told.starts_with("[the user changed the arguments of this call to"), "{told}");
}
