//! Many runs that wait in the line of three servers, in four priorities: they begin in its order, and nobody's place grows
//! once all have come. `CONSORT_NODE_QUEUED` says how many.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use consort_test_postgres::database;
use futures::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::outside::Outside;
use super::trio::Trio;
use crate::dice::{Dice, number, say};

/// The runs that wait in every test run.
const QUEUED: u64 = 60;
/// Runs that each server works on at the same time.
const SLOTS: usize = 2;
/// Requests that are sent at the same time.
const AT_ONCE: usize = 24;
/// The number of runs that may begin before one that is ahead of them in the line: those that three servers have just
/// taken out of it.
const PLACES: usize = 6 * SLOTS;
/// The difference in the line that does not count: those who come at the same moment have no order.
const SAME_MS: i64 = 1_000;
/// The wait that counts as much as one priority.
const AGING_MS: i64 = 60_000;
const PRIORITIES: [&str; 4] = ["LOW", "NORMAL", "HIGH", "CRITICAL"];
/// The number of runs on a page of a list.
const PAGE: u64 = 500;

fn work(number: u64) -> Value {
    let priority = PRIORITIES[number as usize % 4];
    let task = json!({ "name": "a", "description": format!("[job {number}]") });
    json!({ "tasks": [task], "options": { "priority": priority }, "tags": { "job": number.to_string() } })
}

/// Returns the places in the line of those on a page of runs that wait.
async fn places(trio: &Trio, server: usize, offset: u64) -> Vec<(String, u64)> {
    let path = format!("/api/runs?status=accepted&limit=100&offset={offset}");
    let (status, listed) = trio.get(server, &path).await;
    assert_eq!(status, 200, "{listed}");
    let place = |run: &Value| Some((run["runId"].as_str()?.to_owned(), run["queuePosition"].as_u64()?));
    listed["runs"].as_array().unwrap().iter().filter_map(place).collect()
}

/// Looks at the places of runs, at one server after the other, until nobody waits; returns the number of looks.
async fn look(trio: &Trio, queued: u64, mut dice: Dice) -> usize {
    let mut known: HashMap<String, u64> = HashMap::new();
    let mut looks = 0;
    loop {
        let server = dice.roll(3) as usize;
        let found = places(trio, server, dice.roll(queued.div_ceil(100)) * 100).await;
        for (run, place) in found {
            let before = known.insert(run.clone(), place).unwrap_or(u64::MAX);
            assert!(place <= before, "{run} had place {before}, and has {place}");
            looks += 1;
        }
        let (_, status) = trio.get(server, "/api/status").await;
        if status["queueDepth"] == 0 {
            return looks;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Returns the rank of each job in the line, the lowest first, from when it came and its priority.
async fn ranks(trio: &Trio, queued: u64) -> HashMap<u64, i64> {
    let mut ranks = HashMap::new();
    for page in 0..queued.div_ceil(PAGE) + 1 {
        let (_, listed) = trio.get(page as usize, &format!("/api/runs?limit={PAGE}&offset={}", page * PAGE)).await;
        for run in listed["runs"].as_array().unwrap() {
            let Some(job) = run["tags"]["job"].as_str() else { continue };
            let job: u64 = job.parse().unwrap();
            let at: Timestamp = run["startedAt"].as_str().unwrap().parse().unwrap();
            ranks.insert(job, at.as_millisecond() - AGING_MS * (job as i64 % 4));
        }
    }
    ranks
}

/// Checks that jobs began in the order of the line.
fn check(begun: &[u64], ranks: &HashMap<u64, i64>) {
    let mut latest = (i64::MIN, 0);
    for (place, job) in begun.iter().enumerate() {
        if let Some(earlier) = place.checked_sub(PLACES) {
            latest = latest.max((ranks[&begun[earlier]], begun[earlier]));
        }
        let ahead = latest.0.saturating_sub(ranks[job]);
        assert!(ahead <= SAME_MS, "{job} began {PLACES} places or more after {}, {ahead} ms ahead of it", latest.1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_begin_in_the_order_of_one_line_and_no_place_in_it_grows() {
    let Some(database) = database().await else { return };
    let dice = Dice::seeded();
    let queued = number("CONSORT_NODE_QUEUED").unwrap_or(QUEUED);
    say(&dice.again("CONSORT_NODE_QUEUED", queued));
    let outside = Outside::start(Duration::from_millis(20), false).await;
    let server = format!(
        "[server]\nmax_concurrent_runs = {SLOTS}\nmax_queued_runs = {queued}\nmax_retained_completed_runs = {}\n",
        2 * queued
    );
    let trio = Trio::start(&database, &format!("{}{server}", outside.config(""))).await;
    // All slots are taken before anybody joins the line.
    let busy = json!({ "tasks": [{ "name": "a", "description": "busy" }] });
    for place in 0..3 * SLOTS {
        trio.begin(place, &busy).await;
    }
    while outside.questions().len() < 3 * SLOTS {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let began = Instant::now();
    let trio = &trio;
    let join = |number: u64| async move { trio.begin(number as usize % 3, &work(number)).await };
    stream::iter(0..queued).map(join).buffer_unordered(AT_ONCE).for_each(|_run| async {}).await;
    let came = began.elapsed();
    let (_, status) = trio.get(1, "/api/status").await;
    assert_eq!(status["queueDepth"], queued, "{status}");
    outside.answers.send_replace(true);
    let began = Instant::now();
    let looks = look(trio, queued, dice).await;
    let all = queued + 3 * SLOTS as u64;
    trio.until(2, "/api/runs?status=completed&limit=1", |listed| listed["total"] == all).await;
    let done = began.elapsed();
    let job = |text: &String| text.split_once("[job ")?.1.split_once(']')?.0.parse::<u64>().ok();
    let begun: Vec<u64> = outside.questions().iter().filter_map(|(_, text)| job(text)).collect();
    assert_eq!(begun.len() as u64, queued, "each of them once");
    check(&begun, &ranks(trio, all).await);
    say(&format!("{queued} runs joined the line in {came:?} and were done in {done:?}; {looks} looks at places"));
}
