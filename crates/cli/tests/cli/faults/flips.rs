//! Bits that change in a server's files while it is down. What was stored is read as it was, or is
//! called damaged, or lost; nothing is changed without a word, and the server does not fall over it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use crate::binary::run;
use crate::chaos::Client;
use crate::dice::{Dice, number, say};
use crate::victim::Victim;

/// The variable that sets the number of flips.
const FLIPS: &str = "CONSORT_FLIPS";
const FLIPS_DEFAULT: u64 = 10;
/// The runs that are in the database, and those that are in the write-ahead log only.
const RUNS: usize = 8;

const CONFIG: &str = "
[server]
max_concurrent_runs = 4
max_queued_runs = 100
[models.demo]
provider = 'demo'
model = 'demo'
[ensemble]
name = 'desk'
[[ensemble.task]]
name = 'sum'
description = 'What is {n} * 3?'
tools = ['calculator']
[[ensemble.task]]
name = 'tell'
description = 'Say hello'
context = ['$sum']
";

/// A run as it was shown when nothing was damaged: its id, detail and events.
type Shown = (String, Value, Vec<Value>);

/// The files of a server that was killed, and what it had shown.
struct Original {
    files: Vec<(String, Vec<u8>)>,
    shown: Vec<Shown>,
}

/// The number of runs in each state after a flip.
#[derive(Debug, Default)]
struct Count {
    unchanged: usize,
    damaged: usize,
    lost: usize,
    refused: usize,
}

impl Original {
    async fn make() -> Original {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Victim::new(folder.path(), "main");
        server.configure(CONFIG);
        let mut runs = Vec::new();
        server.start();
        let client = Client::new(&server.url());
        runs.extend(ended(&client, 0).await);
        // A server that ends in order moves everything into the database.
        server.stop();
        server.start();
        runs.extend(ended(&client, RUNS).await);
        let mut shown = Vec::new();
        for run in runs {
            let detail = client.get(&format!("/api/runs/{run}")).await;
            let events = client.events(&run).await;
            shown.push((run, detail, events));
        }
        server.kill();
        let read = |path: PathBuf| (name_of(&path), fs::read(path).unwrap());
        let paths = fs::read_dir(server.data()).unwrap().map(|entry| entry.unwrap().path());
        Original { files: paths.filter(|path| path.is_file()).map(read).collect(), shown }
    }

    /// Writes the files into a folder with one bit changed; returns what was changed.
    fn spoil(&self, folder: &Path, dice: &mut Dice) -> String {
        fs::create_dir(folder).unwrap();
        let hit = if dice.one_in(2) { "consort.db-wal" } else { "consort.db" };
        let mut words = String::new();
        for (name, bytes) in &self.files {
            let mut bytes = bytes.clone();
            if name == hit {
                let place = dice.roll(bytes.len() as u64) as usize;
                let bit = dice.roll(8);
                bytes[place] ^= 1 << bit;
                words = format!("bit {bit} of byte {place} of {name}");
            }
            fs::write(folder.join(name), bytes).unwrap();
        }
        words
    }

    /// Changes a bit, starts a server on that, and holds it against what was shown.
    async fn try_flip(&self, dice: &mut Dice, count: &mut Count) {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Victim::new(folder.path(), "main");
        server.configure(CONFIG);
        let flipped = self.spoil(&server.data(), dice);
        if !server.try_start() {
            let said = server.said();
            assert!(said.contains("cannot use the data folder ") && !said.contains("panicked at"), "{flipped}: {said}");
            count.refused += 1;
            return;
        }
        let client = Client::new(&server.url());
        let mut lost = Vec::new();
        for shown in &self.shown {
            self.compare(&client, shown, (&flipped, count, &mut lost)).await;
        }
        // It takes work, whatever is damaged.
        let (status, answer) = client.post_any("/api/runs", &json!({ "inputs": { "n": "1" } })).await;
        assert!(status == 202 || status == 503, "{flipped}: {status} {answer}");
        server.kill();
        let said = server.said();
        assert!(!said.contains("panicked at"), "{flipped}: {said}");
        if !lost.is_empty() {
            let data = server.data();
            let (status, checked, words) = run(folder.path(), &["store", "check", "--data", data.to_str().unwrap()]);
            assert_eq!(status, Some(1), "{flipped}: {lost:?} are gone, and nobody is told: {checked}{words}");
        }
    }

    async fn compare(
        &self,
        client: &Client,
        (run, detail, events): &Shown,
        (flipped, count, lost): (&str, &mut Count, &mut Vec<String>),
    ) {
        let (status, now) = client.get_any(&format!("/api/runs/{run}")).await;
        let (events_status, page) = client.get_any(&format!("/api/runs/{run}/events?limit=1000")).await;
        let is_said = |status: u16, answer: &Value| status >= 400 && answer["message"].is_string();
        if status == 404 {
            lost.push(run.clone());
            count.lost += 1;
        } else if now["damaged"] == true || is_said(status, &now) || is_said(events_status, &page) {
            count.damaged += 1;
        } else if page["events"] == json!(events) && now == *detail {
            count.unchanged += 1;
        } else {
            // The end of it was in the part of the write-ahead log that could not be recovered: what is left of
            // it is as it was, and at most a new owner has gone on from there.
            let stored = page["events"].as_array().unwrap();
            let same = stored.iter().zip(events).take_while(|(stored, shown)| stored == shown).count();
            let goes_on = stored.get(same).is_none_or(|event| event["type"] == "run_adopted");
            assert!(same < events.len() && goes_on, "{flipped}: {run} was {events:?} and is {now} with {stored:?}");
            lost.push(run.clone());
            count.lost += 1;
        }
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Runs some, to their ends.
async fn ended(client: &Client, from: usize) -> Vec<String> {
    let mut runs = Vec::new();
    for n in from..from + RUNS {
        let (status, accepted) = client.post_any("/api/runs", &json!({ "inputs": { "n": n.to_string() } })).await;
        assert_eq!(status, 202, "{accepted}");
        runs.push(accepted["runId"].as_str().unwrap().to_owned());
    }
    for run in &runs {
        client.until(&format!("/api/runs/{run}"), |run| run["completedAt"].is_string()).await;
    }
    runs
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flipped_bit_changes_nothing_that_is_shown_without_a_word() {
    let flips = number(FLIPS).unwrap_or(FLIPS_DEFAULT);
    let mut dice = Dice::seeded();
    let began = Instant::now();
    say(&format!("{flips} flipped bits; to repeat them: {}", dice.again(FLIPS, flips)));
    let original = Original::make().await;
    let mut count = Count::default();
    for _flip in 0..flips {
        original.try_flip(&mut dice, &mut count).await;
    }
    say(&format!("{count:?}; {:.1} s", began.elapsed().as_secs_f64()));
    assert!(count.unchanged > 0, "{count:?}");
}
