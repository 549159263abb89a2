//! Random choices that can be made again: the same seed gives the same ones.

use std::time::{SystemTime, UNIX_EPOCH};

/// The variable that sets the seed of all random choices.
const SEED: &str = "CONSORT_CHAOS_SEED";

/// A small random number generator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Returns the dice of this test run; its seed is the one that is asked for, or the time.
    pub(crate) fn seeded() -> Dice {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
        Dice(number(SEED).unwrap_or_else(now))
    }

    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    /// Returns whether one of so many times has come.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.roll(times) == 0
    }

    /// Returns dice of their own for something that goes on beside.
    pub(crate) fn split(&mut self) -> Dice {
        Dice(self.roll(u64::MAX))
    }

    /// Returns the command that makes the same choices again.
    pub(crate) fn again(self, variable: &str, count: u64) -> String {
        format!("{variable}={count} {SEED}={} make chaos", self.0)
    }
}

/// Returns the number that a variable sets.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Prints past the test harness, which would capture the line.
#[expect(clippy::disallowed_methods, reason = "the line is the test's own")]
pub(crate) fn say(line: &str) {
    use std::io::Write;
    std::io::stdout().write_all(format!("chaos: {line}\n").as_bytes()).unwrap();
}
