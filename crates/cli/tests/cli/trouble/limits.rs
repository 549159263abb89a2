//! The slots and the rate of a model and the lock of a tool, for three servers that are killed meanwhile. The other side
//! counts. `CONSORT_NODE_RUNS` says how many runs there are.

use std::time::Duration;

use consort_test_postgres::database;
use serde_json::json;

use super::outside::Outside;
use super::trio::Trio;
use crate::dice::{Dice, number, say};

/// The runs of every test run, and those after which a server is killed.
const RUNS: u64 = 24;
const KILL_EVERY: u64 = 12;
/// The limits of the model.
const SLOTS: usize = 4;
const RATE: usize = 10;
/// The questions that may come in a second on top of the rate: one that was a little longer on its way than the others.
const LATE: usize = 1;
/// The time that an answer takes: longer than four slots need for the rate, so that both limits are met.
const PAUSE: Duration = Duration::from_millis(200);

#[tokio::test(flavor = "multi_thread")]
async fn slots_rates_and_locks_hold_for_all_servers_while_servers_are_killed() {
    let Some(database) = database().await else { return };
    let mut dice = Dice::seeded();
    let runs = number("CONSORT_NODE_RUNS").unwrap_or(RUNS);
    say(&dice.again("CONSORT_NODE_RUNS", runs));
    let outside = Outside::start(PAUSE, true).await;
    let model = outside.config(&format!("max_concurrency = {SLOTS}\nrate = '{RATE}/s'"));
    let server = "[server]\nmax_concurrent_runs = 100\nmax_queued_runs = 1000\nmax_retained_completed_runs = 10000\n";
    let mut trio = Trio::start(&database, &format!("{model}{server}")).await;
    let body = json!({ "tasks": [{ "name": "a", "description": "through the door", "tools": ["door"] }] });
    let mut begun = Vec::new();
    let mut kills = 0;
    while (begun.len() as u64) < runs {
        for _run in 0..KILL_EVERY.min(runs - begun.len() as u64) {
            begun.push(trio.begin(dice.roll(3) as usize, &body).await);
        }
        // Whatever is under way then.
        let enough = outside.questions().len() + dice.roll(2 * KILL_EVERY) as usize;
        while outside.questions().len() < enough && outside.calls() < begun.len() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        trio.kill(dice.roll(3) as usize);
        kills += 1;
    }
    for run in &begun {
        trio.until(dice.roll(3) as usize, &format!("/api/runs/{run}"), |run| run["status"] == "COMPLETED").await;
    }
    let (asked, passed) = outside.most();
    let in_a_second = outside.most_in_a_second();
    let calls = outside.calls();
    let questions = outside.questions().len();
    say(&format!(
        "{runs} runs, {kills} kills, {questions} questions, {calls} calls: \
        at most {asked} questions and {passed} calls at once, {in_a_second} questions in a second"
    ));
    assert!(asked <= SLOTS, "{asked} questions at once");
    assert_eq!(passed, 1, "calls under the lock at once");
    assert!(in_a_second <= RATE + LATE, "{in_a_second} questions in a second");
    outside.check_calls();
}
