//! Made-up input for whatever reads what comes from outside: good examples with
//! a few things changed, and noise. A reader may refuse, and must say why; it
//! must not panic, and it must not take long. `CONSORT_FUZZ_SECONDS` says how
//! long each reader is tried; `make test` takes twenty.

mod judge;

use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};

pub use judge::judge;

/// Says how long each reader is tried.
pub const SECONDS: &str = "CONSORT_FUZZ_SECONDS";
/// How long it is tried when nothing is said.
const BRIEFLY: Duration = Duration::from_millis(300);
/// How long one input may take, on a busy machine and without optimisation.
const PATIENCE: Duration = Duration::from_secs(10);
/// Inputs between two looks at the clock.
const CASES: u32 = 32;
/// Changes to one example.
const EDITS_MAX: usize = 8;
/// Bytes of noise.
const NOISE_MAX: usize = 512;
/// How often something may be repeated: deep, and still short.
const REPEATS_MAX: u16 = 600;
/// What readers stumble over.
const PIECES: [&str; 32] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    ":",
    ",",
    "null",
    "true",
    "-1",
    "0",
    "1e999",
    "9007199254740993",
    "18446744073709551616",
    "1.5",
    "\u{0}",
    "\u{feff}",
    "\u{202e}",
    "é",
    "🐝",
    "\r\n",
    "\n\n",
    "data: ",
    "<",
    "&#x0;",
    "%",
    "${",
    "$ref",
    "..",
];

/// One change.
#[derive(Clone, Debug)]
enum Edit {
    /// A piece is put in.
    Insert(usize),
    /// A piece is put in again and again.
    Repeat(usize, u16),
    /// So many bytes are taken out.
    Remove(u8),
    /// A byte is another one.
    Flip(u8),
    /// So many bytes come twice.
    Double(u8),
    /// Nothing follows.
    Cut,
}

/// Tries a reader with made-up bytes.
pub fn bytes(examples: &[&str], property: impl Fn(&[u8])) {
    let until = Instant::now() + budget();
    let examples: Vec<Vec<u8>> = examples.iter().map(|example| example.as_bytes().to_vec()).collect();
    let made_up = made_up(examples);
    while Instant::now() < until {
        let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
        let tried = TestRunner::new(config).run(&made_up, |input| {
            let began = Instant::now();
            property(&input);
            assert!(began.elapsed() < PATIENCE, "it took {:?}", began.elapsed());
            Ok(())
        });
        assert!(tried.is_ok(), "{}", tried.err().map(|error| error.to_string()).unwrap_or_default());
    }
}

/// Tries a reader with made-up text.
pub fn text(examples: &[&str], property: impl Fn(&str)) {
    bytes(examples, |bytes| property(&String::from_utf8_lossy(bytes)));
}

fn budget() -> Duration {
    let seconds = std::env::var(SECONDS).ok().and_then(|seconds| seconds.parse().ok());
    seconds.map_or(BRIEFLY, Duration::from_secs)
}

fn made_up(examples: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let edits = vec((any::<u16>(), edit()), 0..EDITS_MAX);
    let example = (0..examples.len(), edits);
    let changed = example.prop_map(move |(example, edits)| {
        let mut bytes = examples.get(example).cloned().unwrap_or_default();
        edits.iter().for_each(|(place, edit)| edit.make(*place, &mut bytes));
        bytes
    });
    prop_oneof![4 => changed, 1 => vec(any::<u8>(), 0..NOISE_MAX)]
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => (0..PIECES.len()).prop_map(Edit::Insert),
        1 => (0..PIECES.len(), 0..REPEATS_MAX).prop_map(|(piece, times)| Edit::Repeat(piece, times)),
        4 => any::<u8>().prop_map(Edit::Remove),
        4 => any::<u8>().prop_map(Edit::Flip),
        2 => any::<u8>().prop_map(Edit::Double),
        1 => Just(Edit::Cut),
    ]
}

impl Edit {
    fn make(&self, place: u16, bytes: &mut Vec<u8>) {
        let at = usize::from(place) % (bytes.len() + 1);
        let some = |count: u8| at..(at + usize::from(count)).min(bytes.len());
        match self {
            Edit::Insert(piece) => drop(bytes.splice(at..at, repeated(*piece, 1)).collect::<Vec<_>>()),
            Edit::Repeat(piece, times) => drop(bytes.splice(at..at, repeated(*piece, *times)).collect::<Vec<_>>()),
            Edit::Remove(count) => {
                let range = some(*count);
                bytes.drain(range);
            }
            Edit::Flip(byte) => {
                if let Some(there) = bytes.get_mut(at) {
                    *there = *byte;
                }
            }
            Edit::Double(count) => {
                let twice = bytes.get(some(*count)).unwrap_or_default().to_vec();
                bytes.splice(at..at, twice);
            }
            Edit::Cut => bytes.truncate(at),
        }
    }
}

fn repeated(piece: usize, times: u16) -> Vec<u8> {
    PIECES.get(piece).copied().unwrap_or_default().repeat(times.into()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "too deep")]
    fn a_reader_that_stumbles_is_found_with_an_input() {
        for _time in 0..1000 {
            bytes(&["{}"], |bytes| assert!(bytes.windows(2).filter(|two| two == b"[[").count() < 5, "too deep"));
        }
    }

    #[test]
    fn examples_come_as_they_are_too() {
        let whole = std::cell::Cell::new(false);
        text(&["an example"], |text| whole.set(whole.get() || text == "an example"));
        assert!(whole.get());
    }
}
