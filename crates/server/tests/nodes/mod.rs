//! Two servers over one PostgreSQL: what one of them holds another goes on with, and what concerns a run or a thread of
//! one is decided, read and followed at the other. Leases are long; a server that dies is evicted by hand, so that
//! nothing here waits for a clock.

mod handed;

use std::time::Duration;

use consort_chat::{Chats, Settings};
use consort_core::chat::Rules;
use consort_core::draft::Draft;
use consort_core::spec::ReviewRule;
use consort_log::cluster::Identity;
use consort_models::{Line, ModelCatalog, ScriptedModel};
use consort_net::network::Dialling;
use consort_postgres::join;
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_server::Server;
use consort_test_postgres::{Database, database};
use consort_tools::{Toolbox, Workspace, WriteFile};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::client::{Answer, Here, server, start_on, task};
use crate::says;

/// Longer than any test: nobody is taken for dead because the machine is busy.
const LEASE: Duration = Duration::from_hours(1);
/// Longer than any test: no question is answered by the clock.
const PATIENCE_MS: u64 = 3_600_000;

/// A server of a cluster.
struct Node {
    name: &'static str,
    here: Here,
    engine: Engine,
    _links: Dialling,
}

impl Node {
    /// Starts a server with this model and these tools, and whatever else is set up.
    async fn start(
        database: &Database,
        name: &'static str,
        (model, tools): (&ScriptedModel, Toolbox),
        set_up: impl FnOnce(Server) -> Server,
    ) -> Node {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let identity =
            Identity { name: name.to_owned(), address, version: "1".into(), config: "same".into(), lease: LEASE };
        let joined = join(database.url(), identity).await.unwrap();
        let info = consort_core::catalog::ModelInfo::new("main", "scripted");
        let models = ModelCatalog::default().with(info, model.clone()).unwrap();
        let seams = Seams {
            cluster: joined.cluster,
            node: Some(name.to_owned()),
            cancel_grace: Duration::ZERO,
            ..Seams::new(joined.log, models, tools)
        };
        let engine = Engine::new(seams);
        let server = server(engine.clone(), vec![task("a")]);
        let before = server.chats.settings();
        let rules = Rules { approval_timeout_ms: PATIENCE_MS, ..before.rules.clone() };
        let chats = Chats::new(engine.clone(), Settings { rules, ..before.clone() });
        let server = set_up(Server { chats, ..server });
        let links = server.opening().await.unwrap();
        Node { name, here: start_on(listener, server), engine, _links: links }
    }

    /// Ends it as a power cut would: it says goodbye to nobody. Others hear of it at once.
    async fn die(self, database: &Database) {
        let id = self.engine.seams().cluster.id();
        let Node { here, engine, .. } = self;
        drop(here);
        engine.stop().await;
        drop(engine);
        let evicted = format!(
            "UPDATE consort.nodes SET evicted_at = 1 WHERE id = '{id}'; UPDATE consort.duties SET until = 1 WHERE node = '{id}'"
        );
        database.execute(&evicted).await;
    }
}

/// Starts two servers with the same model.
async fn two(database: &Database, model: &ScriptedModel, set_up: impl Fn(Server) -> Server) -> [Node; 2] {
    let first = Node::start(database, "first", (model, Toolbox::default()), &set_up).await;
    let second = Node::start(database, "second", (model, Toolbox::default()), &set_up).await;
    [first, second]
}

/// Returns the name of the node that has a duty, once there is one.
async fn on_duty(database: &Database, duty: &str) -> String {
    let sql =
        format!("SELECT n.name FROM consort.duties d JOIN consort.nodes n ON n.id = d.node WHERE d.name = '{duty}'");
    loop {
        if let Some(row) = database.query(&sql).await.first() {
            return row.get(0);
        }
    }
}

async fn remove(here: &Here, path: &str) -> Answer {
    here.send(&format!("DELETE {path} HTTP/1.1\r\nHost: localhost"), b"").await
}

async fn events(here: &Here, run: &str) -> Vec<Value> {
    let head = format!("GET /api/runs/{run}/events?limit=1000 HTTP/1.1\r\nHost: localhost\r\nAccept: application/json");
    here.send(&head, b"").await.json()["events"].as_array().unwrap().clone()
}

async fn until_ended(here: &Here, run: &str) {
    while here.get(&format!("/api/runs/{run}")).await.json()["status"] != "COMPLETED" {}
}

fn named<'a>(events: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["type"] == kind)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_is_decided_once_at_a_server_that_does_not_own_the_run() {
    let Some(database) = database().await else { return };
    let careful = || Draft { review: Some(ReviewRule::Required), ..task("a") };
    let set_up = |mut server: Server| {
        server.ensemble.tasks = vec![careful()];
        server
    };
    let [first, second] = two(&database, &says("draft"), set_up).await;
    let begun = first.here.post("/api/runs", json!({ "inputs": { "topic": "x" } })).await.json();
    let run = begun["runId"].as_str().unwrap().to_owned();
    let review = loop {
        let open = second.here.get(&format!("/api/reviews?runId={run}")).await.json();
        if open["total"] == 1 {
            break open["reviews"][0]["reviewId"].as_str().unwrap().to_owned();
        }
    };
    let path = format!("/api/reviews/{review}");
    let decided = second.here.post(&path, json!({ "decision": "APPROVE" })).await;
    assert_eq!(decided.status, 200, "{decided:?}");
    until_ended(&second.here, &run).await;
    let (status, code) = first.here.post(&path, json!({ "decision": "APPROVE" })).await.problem();
    assert!(status == 409 || status == 404, "{status} {code}");
    let events = events(&second.here, &run).await;
    assert_eq!(named(&events, "review_decided").count(), 1, "{events:?}");
    let owners: Vec<&Value> = named(&events, "run_adopted").map(|event| &event["node"]).collect();
    assert_eq!(owners, [&json!("first")], "whoever decides does not become the owner");
}

/// A model that writes the instructions of a workspace, which a person must allow, and then says that it is done.
fn writing() -> ScriptedModel {
    let write = Line::new().calls("write_file", &json!({ "path": "AGENTS.md", "content": "obey" }));
    ScriptedModel::new().when(|ask| ask.round == 0, write).otherwise(Line::new().says("done"))
}

/// Says something to a new thread of one server; returns the thread and the question that another one shows.
async fn asked(at: &Here, seen_at: &Here) -> (String, String) {
    let thread = at.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned();
    let said = at.post(&format!("/api/threads/{thread}/messages"), json!({ "content": "go" })).await;
    assert_eq!(said.status, 202, "{said:?}");
    loop {
        let open = seen_at.get("/api/approvals").await.json();
        let of_thread = |approval: &&Value| approval["thread_id"] == *thread;
        if let Some(approval) = open["approvals"].as_array().unwrap().iter().find(of_thread) {
            return (thread, approval["approval_id"].as_str().unwrap().to_owned());
        }
    }
}

/// Returns what the tools of a thread gave back, once it is quiet.
async fn given_back(here: &Here, thread: &str) -> Vec<Value> {
    while here.get(&format!("/api/threads/{thread}")).await.json()["running"] == true {}
    let rows = here.get(&format!("/api/threads/{thread}/messages")).await.json();
    let is_tool = |row: &&Value| row["role"] == "tool";
    rows["messages"].as_array().unwrap().iter().filter(is_tool).cloned().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_given_at_another_server_while_the_owner_of_the_turn_lives_and_after_it_died() {
    let Some(database) = database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let tools = || Toolbox::default().with(WriteFile::new(&workspace)).unwrap();
    let model = writing();
    let first = Node::start(&database, "first", (&model, tools()), |server| server).await;
    let second = Node::start(&database, "second", (&model, tools()), |server| server).await;
    for owner_dies in [false, true] {
        let (thread, approval) = asked(&first.here, &second.here).await;
        if owner_dies {
            return given_after_death(&database, (first, second), (&thread, &approval)).await;
        }
        let path = format!("/api/approvals/{approval}");
        let given = second.here.post(&path, json!({ "decision": "allow" })).await;
        assert_eq!(given.status, 200, "{given:?}");
        assert_eq!(given_back(&second.here, &thread).await.len(), 1);
        assert_eq!(std::fs::read_to_string(folder.path().join("AGENTS.md")).unwrap(), "obey");
        assert_eq!(first.here.post(&path, json!({ "decision": "deny" })).await.status, 409, "it is decided");
    }
}

async fn given_after_death(database: &Database, (first, second): (Node, Node), (thread, approval): (&str, &str)) {
    first.die(database).await;
    let given = second.here.post(&format!("/api/approvals/{approval}"), json!({ "decision": "allow" })).await;
    assert_eq!(given.status, 200, "{given:?}");
    assert_eq!(given_back(&second.here, thread).await.len(), 1);
    let names = second.here.get("/api/cluster").await.json()["nodes"].clone();
    assert_eq!(names.as_array().unwrap().iter().map(|node| &node["name"]).collect::<Vec<_>>(), [second.name]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attachment_is_read_used_and_erased_at_whichever_server() {
    let Some(database) = database().await else { return };
    let model = says("done");
    let [first, second] = two(&database, &model, |server| Server { max_attachment_bytes: 1_000_000, ..server }).await;
    // Longer than what the log keeps within an event, and with every kind of character.
    let words = format!("the bees \u{1F41D} {}", "and more ".repeat(20_000));
    let head = "POST /api/attachments HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain; charset=utf-8\r\n\
        Content-Disposition: attachment; filename=\"bees.txt\"";
    let sent = first.here.send(head, words.as_bytes()).await;
    assert_eq!(sent.status, 201, "{sent:?}");
    let id = sent.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/attachments/{id}");
    let served = second.here.get(&path).await;
    assert_eq!((served.status, served.body == words), (200, true));
    assert_eq!(served.header("content-disposition"), Some("attachment; filename*=UTF-8''bees.txt"));
    let request = json!({ "tasks": [{ "description": "Read", "attachments": [id] }] });
    let ended = second.here.post_with("/api/runs", "Prefer: wait=600", request).await.json();
    assert_eq!(ended["status"], "COMPLETED", "{ended}");
    let shown = format!("{:?}", model.sent("1.0").unwrap().messages);
    assert!(shown.contains("the bees") && shown.contains("bees.txt"), "{}", &shown[..shown.len().min(1_000)]);
    assert_eq!(remove(&first.here, &path).await.problem(), (409, "ATTACHMENT_USED".to_owned()));
    let run = format!("/api/runs/{}", ended["runId"].as_str().unwrap());
    assert!(remove(&first.here, &run).await.status < 300);
    for node in [&first, &second] {
        assert_eq!(node.here.get(&path).await.problem(), (404, "ATTACHMENT_NOT_FOUND".to_owned()), "{}", node.name);
        assert_eq!(node.here.get(&run).await.status, 404, "{}", node.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_follows_a_thread_at_one_server_sees_the_turns_that_begin_at_another() {
    let Some(database) = database().await else { return };
    let [first, second] = two(&database, &says("well"), |server| server).await;
    let thread = first.here.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned();
    let messages = format!("/api/threads/{thread}/messages");
    let mut following = second.here.following(&format!("/api/threads/{thread}/events?from=0")).await;
    let mut seen = Vec::new();
    for content in ["one", "two"] {
        let said = first.here.post_with(&messages, "Accept: text/event-stream", json!({ "content": content })).await;
        assert_eq!(said.status, 200, "{said:?}");
        let end = first.here.get(&format!("/api/threads/{thread}")).await.json()["chatSeq"].as_u64().unwrap();
        while seen.last() != Some(&end) {
            let frame = following.next().await;
            // Words on their way have no number of their own.
            let is_stored = frame["type"] != "chunk" || frame["done"] == true;
            seen.extend(frame["chat_seq"].as_u64().filter(|_| is_stored));
        }
    }
    assert_eq!(seen, (0..seen.len() as u64).collect::<Vec<_>>(), "each event once, in order");
}
