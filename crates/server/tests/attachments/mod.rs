//! Attachments: uploaded, served as they were sent, shown to models, and erased with what uses them.

mod inline;
mod runs;
mod shown;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use consort_core::attachments::AttachmentSource;
use consort_core::catalog::ModelInfo;
use consort_core::draft::Draft;
use consort_core::message::Message;
use consort_core::owner::Owner;
use consort_log::{Log, MemoryLog, Query, SqliteLog};
use consort_models::{Ask, ModelCatalog, ScriptedModel};
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_server::Server;
use consort_server::access::{Key, Scope, Sees};
use consort_tools::Toolbox;
use serde_json::{Value, json};

use crate::client::{Answer, Here, server, start, task};
use crate::says;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";
const OTHER_PNG: &[u8] = b"\x89PNG\r\n\x1a\nother";
const STREAM: &str = "Accept: text/event-stream";

/// A server whose model `main` sees nothing and whose model `eyes` sees pictures and takes PDFs.
fn over(log: Arc<dyn Log>, model: &ScriptedModel) -> Server {
    let seeing = ModelInfo { vision: true, documents: true, ..ModelInfo::new("eyes", "scripted") };
    let models = ModelCatalog::default().with(ModelInfo::new("main", "scripted"), model.clone()).unwrap();
    let models = models.with(seeing, model.clone()).unwrap();
    let seams = Seams { cancel_grace: Duration::ZERO, ..Seams::new(log, models, Toolbox::default()) };
    server(Engine::new(seams), vec![task("a")])
}

fn in_memory() -> Server {
    over(Arc::new(MemoryLog::default()), &says("done"))
}

/// One log of each kind; the second is in this folder.
fn logs(folder: &Path) -> [Arc<dyn Log>; 2] {
    [Arc::new(MemoryLog::default()), Arc::new(SqliteLog::open(&folder.join("log.db")).unwrap())]
}

async fn count(log: &Arc<dyn Log>, kind: &str) -> usize {
    log.list(Query { kind: Some(kind.to_owned()), limit: 0, ..Query::default() }).await.unwrap().total
}

async fn stored(log: &Arc<dyn Log>) -> [usize; 3] {
    [count(log, "attachment").await, count(log, "content").await, count(log, "use").await]
}

async fn send(here: &Here, asked: &str, headers: &str, bytes: &[u8]) -> Answer {
    here.send(&format!("{asked} HTTP/1.1\r\nHost: localhost\r\n{headers}"), bytes).await
}

async fn upload(here: &Here, headers: &str, bytes: &[u8]) -> Answer {
    send(here, "POST /api/attachments", headers, bytes).await
}

async fn remove(here: &Here, path: &str) -> Answer {
    send(here, &format!("DELETE {path}"), "X-Test: 1", b"").await
}

async fn picture(here: &Here) -> String {
    let sent = upload(here, "Content-Type: image/png", PNG).await;
    assert_eq!(sent.status, 201, "{sent:?}");
    sent.json()["id"].as_str().unwrap().to_owned()
}

async fn thread(here: &Here) -> String {
    here.post("/api/threads", json!({})).await.json()["id"].as_str().unwrap().to_owned()
}

/// Says something, and returns once the turn has ended.
async fn converse(here: &Here, thread: &str, message: Value) -> Answer {
    here.post_with(&format!("/api/threads/{thread}/messages"), STREAM, message).await
}

#[tokio::test]
async fn a_file_is_served_as_it_was_sent_until_it_is_deleted_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(folder.path()) {
        let text = uploaded_text(&start(over(log.clone(), &says("done"))).await, &log).await;
        let here = start(over(log.clone(), &says("done"))).await;
        let path = format!("/api/attachments/{text}");
        let served = here.get(&path).await;
        assert_eq!((served.status, served.body.as_str()), (200, "# Plan"));
        for (name, value) in [
            ("content-type", "text/markdown"),
            ("x-content-type-options", "nosniff"),
            ("content-disposition", "attachment; filename*=UTF-8''plan.md"),
        ] {
            assert_eq!(served.header(name), Some(value));
        }
        assert_eq!(remove(&here, &path).await.status, 204);
        let gone = (404, "ATTACHMENT_NOT_FOUND".to_owned());
        assert_eq!(here.get(&path).await.problem(), gone);
        assert_eq!(remove(&here, &path).await.problem(), gone);
        assert_eq!(stored(&log).await, [2, 1, 0], "its bytes are gone with it");
    }
}

/// Uploads a text and, twice, a picture; returns the text's id.
async fn uploaded_text(here: &Here, log: &Arc<dyn Log>) -> String {
    let named = "Content-Type: text/markdown; charset=utf-8\r\nContent-Disposition: attachment; filename=\"plan.md\"";
    let sent = upload(here, named, b"# Plan").await;
    let file = sent.json();
    assert_eq!((sent.status, &file["name"], &file["bytes"]), (201, &json!("plan.md"), &json!(6)));
    assert_eq!(file["mediaType"], "text/markdown");
    assert_eq!(file["sha256"], "1ee55b7ae632bd99dfea4f2d791ff06b1119975e96d4f822050923e7499f44cb");
    assert_eq!(sent.header("location"), Some(&*format!("/api/attachments/{}", file["id"].as_str().unwrap())));
    let picture = upload(here, "Content-Type: image/png", PNG).await;
    assert_eq!((picture.status, &picture.json()["name"]), (201, &json!("attachment.png")));
    let again = upload(here, "Content-Type: image/png", PNG).await.json();
    assert_eq!(again["sha256"], picture.json()["sha256"]);
    assert_eq!(stored(log).await, [3, 2, 0], "equal files are stored once");
    file["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_is_no_attachment_is_refused_in_words() {
    let here = start(Server { max_attachment_bytes: 10_000, ..in_memory() }).await;
    let large = vec![b'a'; 10_001];
    let long = format!("Content-Type: text/plain\r\nContent-Disposition: attachment; filename={}", "x".repeat(256));
    for (headers, bytes, problem) in [
        ("Content-Type: image/png", &b"no picture"[..], (415, "UNSUPPORTED_MEDIA_TYPE")),
        ("Content-Type: image/svg+xml", b"<svg/>", (415, "UNSUPPORTED_MEDIA_TYPE")),
        ("Content-Type: text/plain", PNG, (415, "UNSUPPORTED_MEDIA_TYPE")),
        ("Content-Type: application/json", b"{", (415, "UNSUPPORTED_MEDIA_TYPE")),
        ("X-Test: no type", b"hello", (415, "UNSUPPORTED_MEDIA_TYPE")),
        ("Content-Type: image/png", b"", (400, "BAD_REQUEST")),
        ("Content-Type: text/plain", &large, (413, "PAYLOAD_TOO_LARGE")),
        (&long, b"hello", (400, "BAD_REQUEST")),
    ] {
        assert_eq!(upload(&here, headers, bytes).await.problem(), (problem.0, problem.1.to_owned()), "{headers}");
    }
    assert_eq!(
        upload(&here, "Content-Type: text/plain", &large[..9_000]).await.status,
        201,
        "more than a body may have"
    );
    assert_eq!(here.get("/api/attachments/att-none").await.problem(), (404, "ATTACHMENT_NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn an_attachment_is_its_owners() {
    let mut guarded = in_memory();
    let key = |name: &str, owner: &str, sees: Sees, scope: Scope| Key {
        sees,
        ..Key::of(Owner::named(owner).unwrap(), (name, name), &[scope])
    };
    guarded.access.keys = vec![
        key("ann", "a", Sees::Own, Scope::Run),
        key("al", "a", Sees::Own, Scope::Read),
        key("bob", "b", Sees::Own, Scope::Run),
        key("eve", "e", Sees::All, Scope::Run),
    ];
    let here = start(guarded).await;
    let with = |key: &str| format!("Authorization: Bearer {key}\r\nContent-Type: text/plain");
    let sent = upload(&here, &with("ann"), b"secret plan").await.json();
    let path = format!("/api/attachments/{}", sent["id"].as_str().unwrap());
    for (key, status) in [("ann", 200), ("al", 200), ("bob", 404), ("eve", 200)] {
        assert_eq!(send(&here, &format!("GET {path}"), &with(key), b"").await.status, status, "{key}");
    }
    assert_eq!(upload(&here, &with("al"), b"x").await.problem(), (403, "FORBIDDEN".to_owned()));
    // A key that sees the runs of all owners sees no threads, and no files of them.
    let of_thread = upload(&here, &with("ann"), b"a secret").await.json()["id"].clone();
    let head = with("ann").replace("text/plain", "application/json");
    let thread = send(&here, "POST /api/threads", &head, b"{}").await.json()["id"].as_str().unwrap().to_owned();
    let message = json!({ "content": "Read it", "attachments": [of_thread] }).to_string();
    let said = send(&here, &format!("POST /api/threads/{thread}/messages"), &head, message.as_bytes()).await;
    assert_eq!(said.status, 202, "{}", said.body);
    let private = format!("/api/attachments/{}", of_thread.as_str().unwrap());
    for (key, status) in [("ann", 200), ("bob", 404), ("eve", 404)] {
        assert_eq!(send(&here, &format!("GET {private}"), &with(key), b"").await.status, status, "{key}");
    }
    for (key, status) in [("al", 403), ("bob", 404), ("eve", 204)] {
        assert_eq!(send(&here, &format!("DELETE {path}"), &with(key), b"").await.status, status, "{key}");
    }
}

#[tokio::test]
async fn a_text_reaches_the_model_stays_in_the_history_and_is_erased_with_its_thread() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(folder.path()) {
        let model = says("done");
        let here = start(over(log.clone(), &model)).await;
        let named = "Content-Type: text/csv\r\nContent-Disposition: attachment; filename=\"prices.csv\"";
        let file = upload(&here, named, b"tea,3").await.json()["id"].as_str().unwrap().to_owned();
        let thread = thread(&here).await;
        let shown = "What is tea?\n\n## Attached file: prices.csv\n\ntea,3";
        for message in [json!({ "content": "What is tea?", "attachments": [file] }), json!({ "content": "And now?" })] {
            assert_eq!(converse(&here, &thread, message.clone()).await.status, 200);
            let texts = users_words(&model.sent("1.0").unwrap());
            assert_eq!(texts.first().map(String::as_str), Some(shown), "{message}");
        }
        let rows = here.get(&format!("/api/threads/{thread}/messages")).await.json();
        let attached = json!([{ "id": file, "name": "prices.csv", "media_type": "text/csv", "bytes": 5 }]);
        assert_eq!(rows["messages"][0]["attachments"], attached);
        assert_eq!(rows["messages"][0]["content"], "What is tea?", "the file is not in the record");
        let path = format!("/api/attachments/{file}");
        assert_eq!(remove(&here, &path).await.problem(), (409, "ATTACHMENT_USED".to_owned()));
        assert_eq!(stored(&log).await, [1, 1, 1]);
        assert_eq!(remove(&here, &format!("/api/threads/{thread}")).await.status, 204);
        assert_eq!(here.get(&path).await.problem(), (404, "ATTACHMENT_NOT_FOUND".to_owned()));
        assert_eq!(stored(&log).await, [0, 0, 0]);
    }
}

/// Returns the files that a model was sent as they are.
fn pictures(ask: &Ask) -> Vec<String> {
    ask.files.values().map(|file| file.base64.to_string()).collect()
}

fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn users_words(ask: &Ask) -> Vec<String> {
    let words = |message: &Message| match message {
        Message::User { text } => Some(text.to_string()),
        Message::System { .. } | Message::Files { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
    };
    ask.messages.iter().filter_map(words).collect()
}

#[tokio::test]
async fn a_model_that_sees_gets_pictures_and_pdfs_as_they_are_over_rest_and_sockets() {
    let model = says("done");
    let here = start(over(Arc::new(MemoryLog::default()), &model)).await;
    let seen = picture(&here).await;
    let pdf = upload(&here, "Content-Type: application/pdf", b"%PDF-1.4 any").await.json()["id"].clone();
    let message = json!({ "content": "Look", "model": "eyes", "attachments": [seen, pdf] });
    let first = thread(&here).await;
    assert_eq!(converse(&here, &first, message.clone()).await.status, 200);
    let sent = model.sent("1.0").unwrap();
    let kinds: Vec<(&str, &str)> = sent.files.values().map(|file| (&*file.media_type, &*file.base64)).collect();
    assert_eq!(kinds, [("image/png", "iVBORw0KGgpyZXN0"), ("application/pdf", "JVBERi0xLjQgYW55")]);
    assert!(matches!(sent.messages.last(), Some(Message::Files { files }) if files.len() == 2), "{sent:?}");
    let (mut socket, _) = here.greeted().await;
    let frame = json!({ "type": "chat_message", "request_id": "q", "content": "Look", "model": "eyes",
        "attachments": [seen] });
    let ack = socket.ask(frame).await;
    assert_eq!(ack["type"], "chat_ack", "{ack}");
    while socket.frame().await["done"] != true {}
    assert_eq!(model.sent("1.0").unwrap().files.len(), 1);
    // The history has the picture; the model that is asked next cannot see it, and is told so.
    let next = json!({ "content": "And you?", "model": "main" });
    assert_eq!(converse(&here, &first, next).await.status, 200);
    let sent = model.sent("1.0").unwrap();
    assert!(sent.files.is_empty());
    assert!(users_words(&sent)[0].contains("cannot be shown: this model cannot see pictures"), "{sent:?}");
}

#[tokio::test]
async fn a_picture_needs_a_model_that_sees_and_an_attachment_must_be_ones_own() {
    let here = start(in_memory()).await;
    let picture = picture(&here).await;
    let thread = thread(&here).await;
    let messages = format!("/api/threads/{thread}/messages");
    let blind = here.post(&messages, json!({ "content": "Look", "attachments": [picture] })).await;
    assert_eq!(blind.problem(), (400, "MODEL_CANNOT_SEE".to_owned()));
    for attachments in [json!(["att-none"]), json!("x"), json!([1]), json!(vec!["a"; 21])] {
        let answer = here.post(&messages, json!({ "content": "Look", "attachments": attachments })).await;
        assert_eq!(answer.problem(), (400, "BAD_REQUEST".to_owned()), "{attachments}");
    }
    let mut guarded = in_memory();
    let key = |name: &str, sees: Sees| Key {
        sees,
        ..Key::of(Owner::named(name).unwrap(), (name, name), &[Scope::Read, Scope::Run])
    };
    guarded.access.keys = vec![key("ann", Sees::Own), key("bob", Sees::Own), key("eve", Sees::All)];
    let here = start(guarded).await;
    let with = |key: &str, kind: &str| format!("Authorization: Bearer {key}\r\nContent-Type: {kind}");
    let file = upload(&here, &with("ann", "text/plain"), b"secret plan").await.json()["id"].clone();
    for (key, status) in [("ann", 202), ("bob", 400), ("eve", 400)] {
        let json = with(key, "application/json");
        let thread = send(&here, "POST /api/threads", &json, b"{}").await.json()["id"].as_str().unwrap().to_owned();
        let message = json!({ "content": "Read it", "attachments": [file] }).to_string();
        let said = send(&here, &format!("POST /api/threads/{thread}/messages"), &json, message.as_bytes()).await;
        assert_eq!(said.status, status, "{key}: {said:?}");
    }
}
