//! The real process, killed by the system again and again while it works on many runs, and restarted on
//! the same file. The position of a kill is random, so it is counted; its permitted outcomes are fixed.

mod ledger;
mod plays;
mod positions;
mod verdict;
mod victim;
mod witness;

use std::fs;
use std::io::{BufRead, BufReader, Write, stdout};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use self::ledger::Ledger;
use self::positions::Positions;
use self::verdict::{Endings, Verdict};
use self::victim::Orders;

const NAME: &str = "chaos::a_process_killed_anywhere_under_load_loses_nothing_and_repeats_nothing";
const ORDERS: &str = "CONSORT_CHAOS_ORDERS";
/// The variables that set the number of kills, and the seed of all random choices.
const KILLS: &str = "CONSORT_CHAOS_KILLS";
const SEED: &str = "CONSORT_CHAOS_SEED";

const KILLS_DEFAULT: u64 = 40;
/// The number of kills on one file; then its runs may end, and it is read from start to end.
const KILLS_PER_FILE: u64 = 20;
/// The most that a process writes into its ledger before it is killed, in bytes: its life is measured by what it did,
/// because a busy machine lets it do little in a while.
const LIFE_MAX_BYTES: u64 = 100_000;
/// The pause between two looks at the ledger.
const LOOK_AGAIN: Duration = Duration::from_micros(500);
/// Far longer than the machine needs to let a process do that much.
const PATIENCE: Duration = Duration::from_secs(300);

/// A small random number generator: the same seed gives the same numbers.
#[derive(Clone, Copy, Debug)]
struct Dice(u64);

impl Dice {
    /// Returns a number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// The data folder of consecutive processes.
struct Folder {
    folder: TempDir,
    /// The length of the ledger before the current process began.
    read: usize,
}

impl Folder {
    fn new() -> Folder {
        Folder { folder: tempfile::tempdir().unwrap(), read: 0 }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Starts a process and returns when it has begun to work.
    fn start(&self, orders: Orders) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let command = command.args(["--exact", NAME, "--nocapture"]).env(ORDERS, orders.write(self.path()));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        lines.map_while(Result::ok).find(|line| line == victim::ALIVE).expect("the process begins");
        child
    }

    /// Runs one process and kills it; returns the positions of the kill.
    async fn kill(&mut self, dice: &mut Dice) -> Positions {
        let mut child = self.start(Orders::Work { seed: dice.roll(u64::MAX) });
        self.until_written(dice.roll(LIFE_MAX_BYTES));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9), "the process ended by itself");
        let ledger = Ledger::read(self.path());
        let positions = Positions::read(&self.copy(), &ledger.since(self.read)).await;
        self.read = ledger.len();
        positions
    }

    /// Returns when the ledger has grown by so many bytes.
    fn until_written(&self, bytes: u64) {
        let began = Instant::now();
        let enough = Ledger::size(self.path()) + bytes;
        while Ledger::size(self.path()) < enough {
            assert!(began.elapsed() < PATIENCE, "the process does nothing");
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Copies the file exactly as the process left it, so that reading the copy repairs nothing.
    fn copy(&self) -> PathBuf {
        let copy = self.path().join("copy");
        let _absent = fs::remove_dir_all(&copy);
        fs::create_dir(&copy).unwrap();
        for name in [victim::LOG.to_owned(), format!("{}-wal", victim::LOG)] {
            if self.path().join(&name).exists() {
                fs::copy(self.path().join(&name), copy.join(&name)).unwrap();
            }
        }
        copy
    }

    /// Lets every run end, and reads the whole file.
    async fn finish(self, dice: &mut Dice, endings: &Endings) -> Verdict {
        let mut child = self.start(Orders::Finish { seed: dice.roll(u64::MAX) });
        assert!(child.wait().unwrap().success(), "every run ends");
        Verdict::read(self.path(), endings).await
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Prints past the test harness, which would capture the line.
fn say(line: &str) {
    stdout().write_all(format!("chaos: {line}\n").as_bytes()).unwrap();
}

#[test]
fn a_process_killed_anywhere_under_load_loses_nothing_and_repeats_nothing() {
    if let Ok(orders) = std::env::var(ORDERS) {
        return victim::live(&orders);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(kill_again_and_again());
}

async fn kill_again_and_again() {
    let kills = number(KILLS).unwrap_or(KILLS_DEFAULT);
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
    let seed = number(SEED).unwrap_or_else(now);
    say(&format!("{kills} kills; to repeat them: {KILLS}={kills} {SEED}={seed} make chaos"));
    let mut dice = Dice(seed);
    let began = Instant::now();
    let endings = verdict::undisturbed().await;
    let mut fell = Vec::new();
    let mut verdict = Verdict::default();
    while (fell.len() as u64) < kills {
        let mut folder = Folder::new();
        for _kill in 0..KILLS_PER_FILE.min(kills - fell.len() as u64) {
            fell.push(folder.kill(&mut dice).await);
        }
        verdict.add(&folder.finish(&mut dice, &endings).await);
    }
    positions::report(&fell).iter().for_each(|line| say(line));
    say(&format!("{verdict}; {:.1} s", began.elapsed().as_secs_f64()));
    positions::check(&fell);
    verdict.check();
}
