//! The plan of a schedule: which due times begin a run, wait, are skipped or were missed. Pure: the time, the state of
//! the previous run and the progress so far are handed in.

use consort_core::id::Millis;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::timing::Timing;

/// The maximum number of due times that are made up for at once.
pub const CATCH_UP_MAX: usize = 100;
/// Due times later than this were missed, even if the process was there: it slept, or the log was full.
const LATE_MS: Millis = 60_000;

/// The treatment of a due time that comes while the previous run is active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// It is skipped.
    #[default]
    Skip,
    /// One waits for the previous run to end; further ones are skipped.
    Queue,
    /// The previous run is cancelled, and the new one begins when it has ended.
    CancelPrevious,
}

/// The due times that are made up for after an outage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CatchUp {
    /// None.
    None,
    /// The last one within the window.
    #[default]
    One,
    /// All within the window, one after the other, at most 100.
    All,
}

/// The rules of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The treatment of due times while the previous run is active.
    pub overlap: Overlap,
    /// The due times that are made up for.
    pub catch_up: CatchUp,
    /// The age of due times that are still made up for.
    pub window_ms: Millis,
    /// The longest delay after a due time, different for each.
    pub jitter_ms: Millis,
}

/// The decisions so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Every due time up to this one is decided.
    pub since: Millis,
    /// Due times that begin a run when the previous one has ended, in order.
    #[serde(default)]
    pub waiting: Vec<Millis>,
}

/// The circumstances of a decision.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// The current time.
    pub now: Millis,
    /// The time from which on this process has watched the schedule.
    pub watching_since: Millis,
    /// Whether the previous run is active.
    pub is_running: bool,
}

/// The next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Begin the run that is due then.
    Start {
        /// The due time.
        due: Millis,
        /// The decisions once it has begun.
        then: Decided,
    },
    /// Cancel the previous run; this is decided then.
    Cancel {
        /// The due time whose run takes its place.
        due: Millis,
        /// The decisions after that.
        then: Decided,
    },
    /// Nothing is begun: store the decisions.
    Note {
        /// The due time that was skipped or missed, if no run will make up for it.
        passed: Option<Passed>,
        /// The decisions after that.
        then: Decided,
    },
    /// Wait until then; `None` when it is never due again.
    Sleep(Option<Millis>),
}

/// A due time without a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// The previous run was active.
    Skipped(Millis),
    /// No process was running, and it is not made up for.
    Missed(Millis),
}

/// Returns the delay of a due time: the same wherever and whenever it is computed.
pub fn delay(name: &str, due: Millis, jitter_ms: Millis) -> Millis {
    let hash = Sha256::new().chain_update(name).chain_update([0]).chain_update(due.to_be_bytes()).finalize();
    let number = hash.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    number % jitter_ms.saturating_add(1).max(1)
}

/// Decides the next step of a schedule.
pub fn next(name: &str, (timing, rules): (&Timing, &Rules), decided: &Decided, now: Circumstances) -> Next {
    let begins = |due: Millis| due.saturating_add(delay(name, due, rules.jitter_ms));
    let missed_until = now.watching_since.max(now.now.saturating_sub(LATE_MS)).min(now.now);
    let due = timing.next(decided.since);
    if let Some(due) = due.filter(|due| begins(*due) <= missed_until) {
        return make_up((timing, rules), decided, (due, missed_until), now.now);
    }
    if let Some((first, rest)) = decided.waiting.split_first().filter(|_| !now.is_running) {
        return Next::Start { due: *first, then: Decided { since: decided.since, waiting: rest.to_vec() } };
    }
    let Some(due) = due.filter(|due| begins(*due) <= now.now) else { return Next::Sleep(due.map(begins)) };
    let then = Decided { since: due, waiting: decided.waiting.clone() };
    if !now.is_running {
        return Next::Start { due, then };
    }
    match rules.overlap {
        Overlap::CancelPrevious => Next::Cancel { due, then: Decided { since: due, waiting: vec![due] } },
        Overlap::Queue if decided.waiting.is_empty() => {
            Next::Note { passed: None, then: Decided { since: due, waiting: vec![due] } }
        }
        Overlap::Skip | Overlap::Queue => Next::Note { passed: Some(Passed::Skipped(due)), then },
    }
}

/// Decides which of the due times from `first` on that passed without a process are made up for.
fn make_up(
    (timing, rules): (&Timing, &Rules),
    decided: &Decided,
    (first, until): (Millis, Millis),
    now: Millis,
) -> Next {
    let wanted = match rules.catch_up {
        CatchUp::None => 0,
        CatchUp::One => 1,
        CatchUp::All => CATCH_UP_MAX,
    };
    let last = timing.newest(decided.since, until, 1).first().copied().unwrap_or(first);
    let oldest = decided.since.max(now.saturating_sub(rules.window_ms.saturating_add(1)));
    let room = CATCH_UP_MAX.saturating_sub(decided.waiting.len());
    let made_up = timing.newest(oldest, last, wanted.min(room));
    let passed = made_up.is_empty().then_some(Passed::Missed(last));
    let waiting = decided.waiting.iter().copied().chain(made_up).collect();
    Next::Note { passed, then: Decided { since: last, waiting } }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::timing::Written;
    use super::*;

    const MINUTE: Millis = 60_000;

    fn every(ms: Millis) -> Timing {
        Timing::read(Written { cron: None, every_ms: Some(ms), timezone: "UTC" }, 0).unwrap()
    }

    fn rules(overlap: Overlap, catch_up: CatchUp) -> Rules {
        Rules { overlap, catch_up, window_ms: 60 * MINUTE, jitter_ms: 0 }
    }

    /// Goes through a day of a schedule; returns the due times of the runs with their starts, and those passed.
    #[derive(Debug, Default)]
    struct Day {
        started: Vec<(Millis, Millis)>,
        passed: Vec<Passed>,
        cancelled: usize,
        noted: usize,
    }

    /// Lives through the minutes in which the process is there; runs last `run_ms`.
    fn live(timing: &Timing, rules: &Rules, there: &[(Millis, Millis)], run_ms: Millis) -> Day {
        let mut day = Day::default();
        let mut decided = Decided { since: there[0].0, waiting: Vec::new() };
        let mut ends = 0;
        for &(from, to) in there {
            let mut now = from;
            while now <= to {
                let is_running = now < ends;
                let circumstances = Circumstances { now, watching_since: from, is_running };
                match next("s", (timing, rules), &decided, circumstances) {
                    Next::Start { due, then } => {
                        assert!(!is_running, "two at once");
                        day.started.push((due, now));
                        (decided, ends) = (then, now + run_ms);
                    }
                    Next::Cancel { then, .. } => {
                        day.cancelled += 1;
                        (decided, ends) = (then, now);
                    }
                    Next::Note { passed, then } => {
                        assert!(then.since > decided.since || then.waiting != decided.waiting);
                        day.noted += 1;
                        day.passed.extend(passed);
                        decided = then;
                    }
                    Next::Sleep(until) => {
                        let until = until.unwrap_or(to + 1).max(now + 1);
                        now = if decided.waiting.is_empty() { until } else { until.min(ends.max(now + 1)) };
                    }
                }
                assert!(decided.waiting.len() <= CATCH_UP_MAX);
            }
        }
        day
    }

    fn dues(day: &Day) -> Vec<Millis> {
        day.started.iter().map(|(due, _)| due / MINUTE).collect()
    }

    #[test]
    fn each_due_time_begins_one_run_when_it_comes() {
        let day = live(&every(10 * MINUTE), &rules(Overlap::Skip, CatchUp::One), &[(0, 60 * MINUTE)], MINUTE);
        assert_eq!(dues(&day), [10, 20, 30, 40, 50, 60]);
        assert!(day.started.iter().all(|(due, start)| due == start));
        assert_eq!(day.noted, 0);
    }

    #[test]
    fn a_long_run_makes_the_next_due_times_pass_wait_or_end_it() {
        let hour = [(0, 60 * MINUTE)];
        let lived = |overlap| live(&every(10 * MINUTE), &rules(overlap, CatchUp::One), &hour, 25 * MINUTE);
        let skipping = lived(Overlap::Skip);
        assert_eq!((dues(&skipping), skipping.passed.len()), (vec![10, 40], 4));
        let queueing = lived(Overlap::Queue);
        assert_eq!(dues(&queueing), [10, 20, 40], "one waits and begins at the end of the one before");
        assert_eq!(queueing.started[1].1, 35 * MINUTE);
        let cancelling = lived(Overlap::CancelPrevious);
        assert_eq!((dues(&cancelling), cancelling.cancelled), (vec![10, 20, 30, 40, 50, 60], 5));
    }

    #[test]
    fn what_was_missed_is_made_up_for_as_the_rules_say() {
        let there = [(0, 15 * MINUTE), (75 * MINUTE, 79 * MINUTE)];
        let lived = |catch_up| live(&every(10 * MINUTE), &rules(Overlap::Skip, catch_up), &there, 1_000);
        assert_eq!(dues(&lived(CatchUp::None)), [10]);
        assert_eq!(lived(CatchUp::None).passed, [Passed::Missed(70 * MINUTE)]);
        assert_eq!(dues(&lived(CatchUp::One)), [10, 70]);
        assert_eq!(dues(&lived(CatchUp::All)), [10, 20, 30, 40, 50, 60, 70], "within an hour, one after the other");
    }

    #[test]
    fn only_the_window_is_made_up_for_and_never_more_than_a_hundred() {
        let there = [(0, MINUTE), (5_000 * MINUTE, 5_010 * MINUTE)];
        let all = Rules { window_ms: 30 * MINUTE, ..rules(Overlap::Skip, CatchUp::All) };
        let first = 4_970;
        let few: Vec<Millis> = dues(&live(&every(10 * MINUTE), &all, &there, 1_000));
        assert_eq!(few, [first, 4_980, 4_990, 5_000, 5_010]);
        let many = Rules { window_ms: 5_000 * MINUTE, ..all };
        let there = [(0, 1), (5_000 * MINUTE, 5_000 * MINUTE + 1)];
        let many = live(&every(MINUTE), &many, &there, 0);
        assert_eq!(many.started.len(), CATCH_UP_MAX);
        assert_eq!(many.started[CATCH_UP_MAX - 1].0, 5_000 * MINUTE);
    }

    #[test]
    fn a_due_time_has_the_same_delay_everywhere_and_never_too_much() {
        for due in (0..1_000).map(|minute| minute * MINUTE) {
            let delayed = delay("nightly", due, 30_000);
            assert!(delayed <= 30_000 && delayed == delay("nightly", due, 30_000));
            assert_eq!(delay("nightly", due, 0), 0);
        }
        let delays: std::collections::BTreeSet<Millis> = (0..100).map(|due| delay("a", due, 1_000_000)).collect();
        assert!(delays.len() > 90, "they are spread");
        assert_ne!(delay("a", MINUTE, 1_000_000), delay("b", MINUTE, 1_000_000));
    }

    fn overlaps() -> impl Strategy<Value = Overlap> {
        prop_oneof![Just(Overlap::Skip), Just(Overlap::Queue), Just(Overlap::CancelPrevious)]
    }

    fn catch_ups() -> impl Strategy<Value = CatchUp> {
        prop_oneof![Just(CatchUp::None), Just(CatchUp::One), Just(CatchUp::All)]
    }

    /// Times in which the process is there, with outages between them.
    fn lives() -> impl Strategy<Value = Vec<(Millis, Millis)>> {
        proptest::collection::vec((1..200 * MINUTE, 0..30 * MINUTE), 1..5).prop_map(|spans| {
            let mut at = 0;
            let mut life = |(away, there): (Millis, Millis)| {
                let from = at + away;
                at = from + there;
                (from, at)
            };
            spans.into_iter().map(&mut life).collect()
        })
    }

    proptest! {
        #[test]
        fn no_due_time_begins_two_runs_in_any_life(
            (overlap, catch_up) in (overlaps(), catch_ups()),
            (window_ms, jitter_ms) in (0..120 * MINUTE, 0..5_000_u64),
            (period, run_ms) in (1..900_u64, 0..20 * MINUTE),
            there in lives(),
        ) {
            let rules = Rules { overlap, catch_up, window_ms, jitter_ms };
            let day = live(&every(period * 1_000), &rules, &there, run_ms);
            let begun: Vec<Millis> = day.started.iter().map(|(due, _)| *due).collect();
            prop_assert!(begun.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", begun);
            for (due, start) in &day.started {
                prop_assert!(start >= due && *due > there[0].0, "never before it is due");
            }
        }
    }
}
