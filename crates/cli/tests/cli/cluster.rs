//! Several servers over one PostgreSQL: what one of them stored every one shows, and when one is
//! killed another goes on with its runs.

use std::time::{Duration, Instant};

use consort_test_postgres::{Database, database};
use serde_json::{Value, json};

use crate::binary::run;
use crate::dice::say;
use crate::requests::client;
use crate::served::Served;

/// The longest time for anything here: machines that run tests are busy.
const PATIENCE: Duration = Duration::from_secs(120);

fn config(database: &Database, name: &str) -> String {
    let url = database.url();
    format!(
        "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n
        [cluster]\nurl = '{url}'\nsecret = 'not told'\nlease = '1s'\nname = '{name}'\n"
    )
}

async fn get(server: &Served, path: &str) -> (u16, Value) {
    let answer = client().get(format!("{}{path}", server.url)).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

async fn post(server: &Served, path: &str, body: Value) -> (u16, Value) {
    let answer = client().post(format!("{}{path}", server.url)).json(&body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

/// Asks again until an answer is as wanted.
async fn until(server: &Served, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let (status, answer) = get(server, path).await;
        if status == 200 && wanted(&answer) {
            return answer;
        }
        assert!(Instant::now() < end, "{path}: {status} {answer}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Begins a run with one task, whose output may have to be reviewed; returns its id.
async fn begin(server: &Served, review: Option<&str>) -> String {
    let mut task = json!({ "name": "a", "description": "Write about bees" });
    if let Some(review) = review {
        task["review"] = review.into();
    }
    let (status, answer) = post(server, "/api/runs", json!({ "tasks": [task] })).await;
    assert_eq!(status, 202, "{answer}");
    answer["runId"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_server_stores_another_shows_and_when_one_is_killed_another_finishes_its_runs() {
    let Some(database) = database().await else { return };
    let mut first = Served::start(Some(&config(&database, "first")));
    let second = Served::start(Some(&config(&database, "second")));
    let names = |answer: &Value| -> Vec<String> {
        answer["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap().to_owned()).collect()
    };
    for server in [&first, &second] {
        let (status, answer) = get(server, "/api/cluster").await;
        assert_eq!((status, names(&answer)), (200, vec!["first".to_owned(), "second".to_owned()]), "{answer}");
    }
    // Accepted by one, it is there for the other at once, and its end too.
    let done = begin(&first, None).await;
    let path = format!("/api/runs/{done}");
    let (status, answer) = get(&second, &path).await;
    assert_eq!((status, answer["runId"].as_str()), (200, Some(done.as_str())), "{answer}");
    let ended = until(&second, &path, |answer| answer["status"] == "COMPLETED").await;
    assert!(ended["output"].is_string(), "{ended}");
    // A run that waits for a person when its server is killed.
    let open = begin(&first, Some("required")).await;
    let reviews = format!("/api/reviews?runId={open}");
    until(&second, &reviews, |answer| answer["total"] == 1).await;
    first.kill();
    let detail = format!("/api/runs/{open}");
    until(&second, "/api/cluster", |answer| names(answer) == ["second"]).await;
    let decide = format!("/api/reviews/{open}-review-0");
    let end = Instant::now() + PATIENCE;
    loop {
        let (status, answer) = post(&second, &decide, json!({ "decision": "CONTINUE" })).await;
        if (200..300).contains(&status) {
            break;
        }
        assert!(Instant::now() < end, "{status} {answer}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    until(&second, &detail, |answer| answer["status"] == "COMPLETED").await;
    let events = client().get(format!("{}{detail}/events?limit=1000", second.url)).header("accept", "application/json");
    let events: Value = events.send().await.unwrap().json().await.unwrap();
    let is_adoption = |event: &&Value| event["type"] == "run_adopted";
    let adopted: Vec<&Value> = events["events"].as_array().unwrap().iter().filter(is_adoption).collect();
    let last = adopted.last().unwrap();
    assert_eq!((&last["node"], &last["reason"]), (&json!("second"), &json!("takeover")), "{adopted:?}");
}

#[tokio::test]
async fn a_database_that_cannot_be_used_ends_the_start_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[cluster]\nsecret = 's'\nurl = 'postgres://u:hidden@db/c?sslmode=maybe'\n";
    std::fs::write(folder.path().join("consort.toml"), wrong).unwrap();
    let (status, _, words) = run(folder.path(), &["serve", "--port", "0"]);
    assert!(status == Some(2) && words.contains("sslmode is 'maybe'") && !words.contains("hidden"), "{words}");
}

/// Calls a tool as a person would; returns its output and the time it took.
async fn invoke(server: &Served, tool: &str, input: &str) -> (Value, Duration) {
    let began = Instant::now();
    let (_status, answer) = post(server, &format!("/api/tools/{tool}/invoke"), json!({ "input": input })).await;
    (answer["output"].clone(), began.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_server_has_a_link_of_its_own_to_a_peer_which_knows_them_as_one_and_loses_nothing_with_one_of_them() {
    let Some(database) = database().await else { return };
    let share = |name: &str| {
        let task = "[[ensemble.task]]\nname = 'count'\ndescription = 'Count'\n";
        format!("{task}[[ensemble.share]]\nkind = 'tool'\nname = '{name}'\ntarget = 'calculator'\ntags = ['sums']\n")
    };
    let demo = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n";
    let kitchen = format!("{demo}[ensemble]\nname = 'kitchen'\n{}", share("weigh"));
    let kitchen = Served::start(Some(&kitchen));
    let dials = kitchen.url.replace("http", "ws");
    let house = |name: &str| {
        let cluster = config(&database, name);
        let share = share("count");
        format!(
            "{cluster}[ensemble]\nname = 'house'\n{share}[network]\nlease = '1s'\n[network.peers]\nkitchen = '{dials}/ws'\n"
        )
    };
    let mut first = Served::start(Some(&house("first")));
    let second = Served::start(Some(&house("second")));
    let is_linked = |answer: &Value| answer["peers"][0]["connected"] == true;
    for server in [&first, &second, &kitchen] {
        let network = until(server, "/api/network", is_linked).await;
        assert_eq!(network["peers"].as_array().unwrap().len(), 1, "several links are one peer: {network}");
    }
    let mut times = Vec::new();
    for _ in 0..20 {
        for server in [&first, &second] {
            let (output, time) = invoke(server, "kitchen.weigh", "6 * 7").await;
            assert_eq!(output, "42");
            times.push(time);
        }
        assert_eq!(invoke(&kitchen, "house.count", "1 + 1").await.0, "2");
    }
    times.sort();
    first.kill();
    let (output, time) = invoke(&second, "kitchen.weigh", "2 * 3").await;
    assert_eq!(output, "6", "it needs no other server for it");
    let (answered, back) = invoke(&kitchen, "house.count", "1 + 2").await;
    assert_eq!(answered, "3", "asked of the server that is left");
    let usual = times[times.len() / 2];
    say(&format!("a call of a peer took {usual:?}, after a kill {time:?}, and one of the peer itself {back:?}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_of_an_earlier_version_could_not_read_is_refused_while_one_is_there() {
    let Some(database) = database().await else { return };
    let server = Served::start(Some(&config(&database, "new")));
    let run = begin(&server, None).await;
    until(&server, &format!("/api/runs/{run}"), |answer| answer["status"] == "COMPLETED").await;
    let old = "INSERT INTO consort.nodes (id, name, address, version, schema, config, lease, lease_until, draining)
        SELECT 'old', 'old', 'http://127.0.0.1:9', '0', 2, '', 1000, 9000000000000, false";
    let fork = format!("/api/runs/{run}/fork");
    let forked = async |wanted: u16, body: Value| {
        let end = Instant::now() + PATIENCE;
        loop {
            // The servers agree with their next beat.
            let (status, answer) = post(&server, &fork, body.clone()).await;
            if status == wanted {
                return answer;
            }
            assert!(Instant::now() < end, "{status} {answer}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let edited = || json!({ "outputs": { "a": "Wasps" } });
    forked(202, edited()).await;
    database.execute(old).await;
    let refused = forked(409, edited()).await;
    assert!(refused["message"].as_str().unwrap().contains("earlier version"), "{refused}");
    let plain = forked(202, json!({ "seq": 0 })).await;
    let name = plain["runId"].as_str().unwrap();
    let written = database.query(&format!("SELECT schema FROM consort.streams WHERE name = '{name}'")).await;
    assert_eq!(written[0].get::<_, i32>(0), 2, "the old one can take it over");
    database.execute("DELETE FROM consort.nodes WHERE id = 'old'").await;
    forked(202, edited()).await;
}
