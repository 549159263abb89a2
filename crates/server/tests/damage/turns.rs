//! A thread one of whose turns is damaged: that is said once, with the numbers that are
//! missing, and everything else is sent as before.

use rusqlite::Connection;
use serde_json::{Value, json};

use std::sync::Arc;

use consort_log::SqliteLog;
use consort_runtime::admission::Capacity;
use consort_runtime::engine::Engine;

use super::{Told, model, of, open, thread};
use crate::client::{Here, engine_over, start};

async fn say(here: &Here, id: &str, content: &str) {
    here.post(&format!("/api/threads/{id}/messages"), json!({ "content": content })).await;
    while here.get(&format!("/api/threads/{id}")).await.json()["running"] == true {}
}

async fn page(here: &Here, id: &str) -> Value {
    let head = format!(
        "GET /api/threads/{id}/events?from=0&limit=1000 HTTP/1.1\r\nHost: localhost\r\nAccept: application/json"
    );
    here.send(&head, b"").await.json()
}

fn numbers<'a>(frames: impl IntoIterator<Item = &'a Value>) -> Vec<u64> {
    frames.into_iter().filter_map(|frame| frame["chat_seq"].as_u64()).collect()
}

/// Checks the frames from the beginning of a thread: one error, then every number that can be read.
fn check(frames: &[Value], turn: &str, expected: &[u64]) {
    let errors: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "error").collect();
    let [error] = errors[..] else { panic!("one error, not {errors:?}") };
    assert_eq!((&error["code"], &error["turn_id"]), (&json!("STORAGE_DAMAGED"), &json!(turn)));
    let missing = format!("the events 0 to {} of this chat are missing", expected[0] - 1);
    assert!(error["message"].as_str().unwrap().contains(&missing), "{error}");
    assert_eq!(numbers(frames), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_damaged_turn_the_part_before_the_damage_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.db");
    let (here, _engine, log) = open(&folder.path().join("first.db")).await;
    let id = thread(&here, "hello").await;
    let whole = page(&here, &id).await["events"].as_array().unwrap().clone();
    log.backup(&path).await.unwrap();
    let db = Connection::open(&path).unwrap();
    let last = "SELECT max(seq) FROM records JOIN streams ON streams.id = stream WHERE kind = 'turn'";
    let damaged: i64 = db.query_row(last, [], |row| row.get(0)).unwrap();
    let spoil = "UPDATE records SET body = body || ' ' WHERE seq = ?1 AND stream IN
        (SELECT id FROM streams WHERE kind = 'turn')";
    assert!(damaged > 0 && db.execute(spoil, [damaged]).unwrap() == 1);
    drop(db);

    // A server that has looked through the store knows of the damage, another finds it on the way.
    for is_known in [true, false] {
        // Of its own, because the server before may still hold its file.
        let copy = folder.path().join(format!("{is_known}.db"));
        std::fs::copy(&path, &copy).unwrap();
        let log = Arc::new(SqliteLog::open(&copy).unwrap());
        let seams = engine_over(Arc::default(), model(), Capacity::UNLIMITED).seams().clone().over(log);
        let engine = Engine::new(seams);
        let server = of(&engine);
        if is_known {
            server.opening().await.unwrap();
        }
        let here = start(server).await;
        let frames = here.first_events(&format!("/api/threads/{id}/events?from=0"), damaged as usize + 1).await;
        let (error, readable) = frames.split_last().unwrap();
        assert_eq!(error["code"], "STORAGE_DAMAGED", "{is_known} {error}");
        assert_eq!(readable, &whole[..damaged as usize], "{is_known}");
        let told = page(&here, &id).await;
        assert_eq!((&told["events"], &told["damaged"][0]["from"]), (&json!(readable), &json!(damaged)), "{is_known}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_turn_is_told_once_with_its_numbers_and_the_thread_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.db");
    let (here, _engine, log) = open(&folder.path().join("first.db")).await;
    let id = thread(&here, "hello").await;
    let second = numbers(page(&here, &id).await["events"].as_array().unwrap()).len() as u64;
    say(&here, &id, "hello again").await;
    log.backup(&path).await.unwrap();
    let db = Connection::open(&path).unwrap();
    let (number, turn): (i64, String) = db
        .query_row("SELECT id, name FROM streams WHERE kind = 'turn' ORDER BY id LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    db.execute("UPDATE records SET body = replace(body, 'hello', 'jello') WHERE stream = ?1 AND seq = 0", [number])
        .unwrap();
    drop(db);

    let (here, ..) = open(&path).await;
    assert_eq!(Told::by(&here).await.damaged().first(), Some(&id), "in the list");
    assert_eq!(here.get(&format!("/api/threads/{id}")).await.json()["damaged"], true, "in the detail");
    say(&here, &id, "and once more").await;

    let told = page(&here, &id).await;
    let gap = &told["damaged"][0];
    assert_eq!((&gap["turn"], &gap["from"], &gap["to"]), (&json!(turn), &json!(0), &json!(second - 1)));
    assert!(gap["reason"].is_string() && told["damaged"].as_array().unwrap().len() == 1, "{told}");
    let readable = numbers(told["events"].as_array().unwrap());
    assert_eq!(readable, (second..=*readable.last().unwrap()).collect::<Vec<_>>());

    let count = readable.len() + 1;
    let frames = here.first_events(&format!("/api/threads/{id}/events?from=0"), count).await;
    check(&frames, &turn, &readable);
    let (mut socket, _) = here.greeted().await;
    let resumed = socket.ask(json!({ "type": "chat_subscribe", "thread_id": id, "last_seq": -1 })).await;
    assert_eq!(resumed["type"], "chat_resumed");
    let mut frames = Vec::new();
    while frames.len() < count {
        frames.push(socket.frame().await);
    }
    check(&frames, &turn, &readable);
}
