//! The folder in which everything is kept: checked, restored, compacted, cut off by a
//! power failure, and closed to others.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::run;
pub(crate) use crate::requests::client;
use crate::requests::copy_of;
use crate::served::Served;
use crate::victim::Victim;

const FIRST: &str = "tests/cli/stores/first-edition.db";
const DATA: &str = "consort-data/consort.db";
const CONFIG: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n";

/// Creates a folder with a store of the first edition.
fn stored() -> TempDir {
    copy_of(FIRST)
}

/// Changes some words in a file, wherever they are.
fn spoil(file: &Path, words: &str, others: &str) {
    let mut bytes = std::fs::read(file).unwrap();
    let place = bytes.windows(words.len()).position(|found| found == words.as_bytes()).unwrap();
    bytes[place..place + words.len()].copy_from_slice(others.as_bytes());
    std::fs::write(file, bytes).unwrap();
}

/// Returns whether some words are in any file of a folder.
fn holds(folder: &Path, words: &str) -> bool {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| match path.is_dir() {
        true => holds(&path, words),
        false => std::fs::read(path).unwrap().windows(words.len()).any(|found| found == words.as_bytes()),
    })
}

async fn post(server: &Served, path: &str, body: Value) -> (u16, Value) {
    let answer = client().post(format!("{}{path}", server.url)).json(&body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

async fn delete(server: &Served, path: &str) -> u16 {
    client().delete(format!("{}{path}", server.url)).send().await.unwrap().status().as_u16()
}

/// Completes a run about this topic; returns its id.
async fn ended(server: &Served, topic: &str) -> String {
    let task = json!({ "name": "a", "description": format!("Write about {topic}") });
    let request = client().post(format!("{}/api/runs", server.url)).header("prefer", "wait=60");
    let answer: Value = request.json(&json!({ "tasks": [task] })).send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["status"], "COMPLETED", "{answer}");
    answer["runId"].as_str().unwrap().to_owned()
}

#[test]
fn a_sound_store_is_called_sound_and_damage_is_named_by_what_it_hit() {
    let folder = stored();
    let consort = |args: &[&str]| run(folder.path(), args);
    for place in [&["--data", "consort-data"][..], &["--config", "consort.toml"], &[]] {
        let (status, said, words) = consort(&[&["store", "check"], place].concat());
        assert_eq!((status, words.as_str()), (Some(0), ""), "{said}");
        assert!(
            said.starts_with("consort-data/consort.db: sound (") || said.contains("/consort.db: sound ("),
            "{said}"
        );
    }
    spoil(&folder.path().join(DATA), "Closed today.", "Closed todaY.");
    let (status, said, _) = consort(&["store", "check"]);
    assert_eq!(status, Some(1), "{said}");
    let lines: Vec<&str> =
        said.lines().filter(|line| line.starts_with("damaged: run-01a1e0b65f49744d9e513b0")).collect();
    assert_eq!(lines.len(), 1, "one run, once: {said}");
    let (status, _, words) = consort(&["store", "check", "--data", "nowhere"]);
    assert_eq!((status, words.contains("nowhere/consort.db does not exist")), (Some(1), true), "{words}");
    assert!(!folder.path().join("nowhere").exists());
}

#[tokio::test]
async fn a_letter_that_changed_in_a_row_is_found_listed_and_deleted_and_touches_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Victim::new(folder.path(), "main");
    server.configure(CONFIG);
    server.start();
    let send = async |method: Method, path: String, body: Value| {
        let request = client().request(method, format!("{}{path}", server.url())).header("prefer", "wait=60");
        let answer = request.json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap_or_default())
    };
    let mut runs = Vec::new();
    for topic in ["bees", "tea"] {
        let task = json!({ "name": "a", "description": format!("Write about {topic}") });
        let (_, run) = send(Method::POST, "/api/runs".into(), json!({ "tasks": [task] })).await;
        assert_eq!(run["status"], "COMPLETED", "{run}");
        runs.push(run["runId"].as_str().unwrap().to_owned());
    }
    let mut threads = Vec::new();
    for title in ["Plans for hives", "Plans for soup"] {
        let (_, thread) = send(Method::POST, "/api/threads".into(), json!({ "title": title })).await;
        threads.push(thread["id"].as_str().unwrap().to_owned());
    }
    // That moves everything into the database.
    assert_eq!(send(Method::POST, "/api/admin/compact".into(), json!({})).await.0, 200);
    server.stop();
    let data = server.data();
    spoil(&data.join("consort.db"), "\"title\":\"Write about bees", "\"title\":\"Write about beer");
    spoil(&data.join("consort.db"), "\"title\":\"Plans for hives", "\"title\":\"Plans for fives");
    let check = || run(folder.path(), &["store", "check", "--data", data.to_str().unwrap()]);
    let (status, said, _) = check();
    assert_eq!(status, Some(1), "{said}");
    let mut found: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("damaged: ")).collect();
    found.sort_unstable();
    let expected =
        [&runs[0], &threads[0]].map(|id| format!("{id}: its row is not what was written: its checksum is wrong"));
    assert_eq!(found, expected);
    server.start();
    let send = async |method: Method, path: String| {
        let answer = client().request(method, format!("{}{path}", server.url())).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap_or_default())
    };
    for (kind, key, ids) in [("runs", "runId", &runs), ("threads", "id", &threads)] {
        let (_, listed) = send(Method::GET, format!("/api/{kind}")).await;
        let listed = listed[kind].as_array().unwrap();
        let damaged: Vec<&Value> = listed.iter().filter(|row| row["damaged"] == true).map(|row| &row[key]).collect();
        assert_eq!((listed.len(), damaged), (2, vec![&json!(ids[0])]), "{listed:?}");
        assert_eq!(send(Method::GET, format!("/api/{kind}/{}", ids[0])).await.0, 200);
        assert_eq!(send(Method::DELETE, format!("/api/{kind}/{}", ids[0])).await.0, 204);
        assert_eq!(send(Method::GET, format!("/api/{kind}/{}", ids[1])).await.0, 200);
    }
    server.stop();
    assert_eq!(check().0, Some(0), "{}", check().1);
}

#[tokio::test]
async fn a_backup_is_restored_into_an_empty_folder_and_served_from_there() {
    let folder = stored();
    let consort = |args: &[&str]| run(folder.path(), args);
    assert_eq!(consort(&["backup", "copy.db", "--data", "consort-data"]).0, Some(0));
    let (status, said, words) = consort(&["restore", "copy.db"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(words.contains("consort-data is not empty: name an empty folder with --data"), "{words}");
    let (status, said, words) = consort(&["restore", "copy.db", "--data", "new/data"]);
    assert_eq!((status, words.as_str()), (Some(0), ""), "{said}");
    assert!(said.starts_with("restored new/data/consort.db ("), "{said}");
    assert_eq!(consort(&["restore", "copy.db", "--data", "new/data"]).0, Some(1), "never into one that is in use");
    assert_eq!(consort(&["store", "check", "--data", "new/data"]).0, Some(0));
    std::fs::write(folder.path().join("consort.toml"), format!("{CONFIG}[store]\npath = 'new/data'\n")).unwrap();
    let server = Served::start_in(folder);
    assert_eq!(server.json(&["runs", "list"])["total"], 2);
}

#[test]
fn a_damaged_backup_and_what_is_no_backup_are_refused() {
    let folder = stored();
    let consort = |args: &[&str]| run(folder.path(), args);
    assert_eq!(consort(&["backup", "copy.db"]).0, Some(0));
    spoil(&folder.path().join("copy.db"), "Closed today.", "Closed todaY.");
    let (status, _, words) = consort(&["restore", "copy.db", "--data", "new"]);
    assert_eq!(status, Some(1), "{words}");
    assert!(words.contains("damaged: run-01a1e0b65f49744d9e513b0aac70bc1a: record "), "{words}");
    assert!(std::fs::read_dir(folder.path().join("new")).unwrap().next().is_none(), "nothing is left behind");
    assert_eq!(consort(&["restore", "copy.db", "--data", "new", "--damaged"]).0, Some(0));
    for (file, reason) in [("consort.toml", "is not a Consort log"), ("none.db", "none.db does not exist")] {
        let (status, _, words) = consort(&["restore", file, "--data", "other"]);
        assert_eq!((status, words.contains(reason)), (Some(1), true), "{words}");
    }
}

#[tokio::test]
async fn commits_that_a_damaged_write_ahead_log_loses_are_reported_and_kept() {
    let mut server = Served::start(Some(CONFIG));
    for topic in ["bees", "tea", "hives"] {
        ended(&server, topic).await;
    }
    server.kill();
    let wal = server.folder.path().join(format!("{DATA}-wal"));
    let mut bytes = std::fs::read(&wal).unwrap();
    let half = bytes.len() / 2;
    bytes[half] ^= 1;
    std::fs::write(&wal, &bytes).unwrap();
    server.restart();
    let copy = server.folder.path().join(format!("{DATA}-wal.damaged"));
    assert!(std::fs::read(copy).unwrap() == bytes, "the file is kept as it was found");
    let (status, said, _) = run(server.folder.path(), &["store", "check"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("damaged: consort.db-wal.damaged: "), "{said}");
}

#[tokio::test]
async fn what_was_deleted_is_in_no_file_once_the_store_is_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!("{CONFIG}[server]\ntrace_dir = 'traces'\n");
    std::fs::write(folder.path().join("consort.toml"), config).unwrap();
    let server = Served::start_in(folder);
    let secret = ended(&server, "zanzibarleather").await;
    let kept = ended(&server, "quincemarmalade").await;
    let data = server.folder.path();
    assert!(holds(&data.join("consort-data"), "zanzibarleather") && holds(&data.join("traces"), "zanzibarleather"));
    assert_eq!(delete(&server, &format!("/api/runs/{secret}")).await, 204);
    let (status, answer) = post(&server, "/api/admin/compact", json!({})).await;
    assert_eq!((status, answer["status"].as_str()), (200, Some("COMPACTED")), "{answer}");
    assert!(!holds(data, "zanzibarleather"), "neither in the database, nor in its log, nor in a trace");
    assert!(holds(&data.join("consort-data"), "quincemarmalade") && holds(&data.join("traces"), "quincemarmalade"));
    assert_eq!(server.json(&["runs", "list"])["runs"][0]["runId"], json!(kept));
}

#[tokio::test]
async fn nobody_but_the_owner_may_read_what_a_server_writes() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!("{CONFIG}[server]\ntrace_dir = 'traces'\n");
    std::fs::write(folder.path().join("consort.toml"), config).unwrap();
    let server = Served::start_in(folder);
    ended(&server, "bees").await;
    let mut left = vec![server.folder.path().join("consort-data"), server.folder.path().join("traces")];
    let mut files = 0;
    while let Some(path) = left.pop() {
        let is_folder = path.is_dir();
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if is_folder { 0o700 } else { 0o600 }, "{}", path.display());
        files += usize::from(!is_folder);
        if is_folder {
            left.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(files >= 4, "the database, its log and lock, and a trace");
}

#[tokio::test]
async fn a_collection_is_shown_and_deleted_with_its_documents() {
    let server = Served::start(Some(CONFIG));
    assert_eq!(post(&server, "/api/collections", json!({ "name": "notes" })).await.0, 201);
    let document = json!({ "title": "Soup", "content": "salt and zanzibarleather" });
    assert_eq!(post(&server, "/api/collections/notes/documents", document).await.0, 201);
    let one = client().get(format!("{}/api/collections/notes", server.url)).send().await.unwrap();
    assert_eq!(one.json::<Value>().await.unwrap()["documents"], 1);
    assert_eq!(delete(&server, "/api/collections/notes").await, 204);
    assert_eq!(delete(&server, "/api/collections/notes").await, 404);
    post(&server, "/api/admin/compact", json!({})).await;
    assert!(!holds(server.folder.path(), "zanzibarleather"));
}
