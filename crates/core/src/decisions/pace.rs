//! A rate of requests. In no period do more requests leave than the rate allows, after a rest as little as ever: a
//! request counts from the latest moment at which it may leave, until it is known when it did. Nodes that share a rate
//! read this small value, change it and store it again.

use serde::{Deserialize, Serialize};

/// The number of requests, and the time, by which nodes may be ahead of the clock: more than both is a mistake of a
/// clock, or of a rate that was changed.
const AHEAD_MAX: u64 = 1_000;
const AHEAD_TIME_MAX: u64 = 600_000_000;
/// The number of times that are kept apart: what a note of nodes can hold. Of more, some count as the next one.
const TIMES_MAX: usize = 64;

/// The state of a rate, in microseconds of one clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// The time of the next request, if requests come evenly; those of a rest can be made up for.
    next: u64,
    /// The requests that still count: times, each with the number of requests that leave then at the latest. Nodes of
    /// earlier versions do not write them.
    #[serde(default)]
    leaving: Vec<(u64, u64)>,
}

/// A rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// The number of requests, at least 1.
    pub requests: u64,
    /// The period in which no more than these leave.
    pub per: u64,
    /// The time for which a request that was granted may leave.
    pub late: u64,
}

impl Beat {
    /// Returns the time between two requests that come evenly.
    pub fn drip(&self) -> u64 {
        self.per.div_ceil(self.requests.max(1)).max(1)
    }
}

impl Pace {
    /// Begins a rate, with one request.
    pub fn begin(now: u64) -> Pace {
        Pace { next: now, leaving: Vec::new() }
    }

    /// Returns the time from which the next request may leave.
    pub fn next(&self, beat: Beat, now: u64) -> u64 {
        self.even(beat, now).max(now)
    }

    /// Grants a request; returns the time from which it may leave, for as long as the beat says.
    pub fn grant(&mut self, beat: Beat, now: u64) -> u64 {
        let even = self.even(beat, now);
        let from = even.max(now);
        self.forget(beat, now);
        self.next = even.saturating_add(beat.drip());
        self.count(from.saturating_add(beat.late));
        from
    }

    /// Counts a request from the time at which it left, instead of the latest at which it could. One that is not
    /// found any more counts as before.
    pub fn left(&mut self, latest: u64, at: u64) {
        let Some(found) = self.leaving.iter_mut().find(|(time, _)| *time == latest) else { return };
        found.1 -= 1;
        self.leaving.retain(|(_, requests)| *requests > 0);
        self.count(at);
    }

    /// Returns the time of the next request, as requests come evenly; it may have passed. What a rest made possible is
    /// lost where the requests of a whole period are still counted: then they come evenly again.
    fn even(&self, beat: Beat, now: u64) -> u64 {
        let hoard = beat.drip().saturating_mul(beat.requests.saturating_sub(1));
        let next = self.next.clamp(now.saturating_sub(hoard), ahead(beat, now));
        next.max(self.free_again(beat, now))
    }

    /// Returns the time when fewer requests count than the rate allows.
    fn free_again(&self, beat: Beat, now: u64) -> u64 {
        let latest = ahead(beat, now).saturating_add(beat.per);
        let mut counted = 0_u64;
        for (time, requests) in self.leaving.iter().rev() {
            counted = counted.saturating_add(*requests);
            if counted >= beat.requests {
                return (*time).min(latest).saturating_add(beat.per);
            }
        }
        0
    }

    fn count(&mut self, time: u64) {
        let place = self.leaving.partition_point(|(other, _)| *other < time);
        match self.leaving.get_mut(place).filter(|(other, _)| *other == time) {
            Some((_, requests)) => *requests += 1,
            None => self.leaving.insert(place, (time, 1)),
        }
        while self.leaving.len() > TIMES_MAX {
            self.join_two();
        }
    }

    /// Counts the requests of a time at the next one, where that costs least.
    fn join_two(&mut self) {
        let cost = |((one, requests), (next, _)): (&(u64, u64), &(u64, u64))| (next - one).saturating_mul(*requests);
        let costs = self.leaving.iter().zip(self.leaving.iter().skip(1)).map(cost);
        let Some((place, _)) = costs.enumerate().min_by_key(|(_, cost)| *cost) else { return };
        let (_, requests) = self.leaving.remove(place);
        if let Some(later) = self.leaving.get_mut(place) {
            later.1 += requests;
        }
    }

    /// Forgets requests that left more than a period ago.
    fn forget(&mut self, beat: Beat, now: u64) {
        self.leaving.retain(|(time, _)| time.saturating_add(beat.per) > now);
    }
}

/// Returns the time beyond which nothing is believed.
fn ahead(beat: Beat, now: u64) -> u64 {
    now.saturating_add(beat.drip().saturating_mul(AHEAD_MAX).max(AHEAD_TIME_MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000;

    fn beat(requests: u64) -> Beat {
        Beat { requests, per: SECOND, late: SECOND / 2 }
    }

    /// Grants requests that leave at once, as many as may by then.
    fn all_at(pace: &mut Pace, beat: Beat, now: u64) -> usize {
        let mut many = 0;
        while pace.next(beat, now) <= now {
            let from = pace.grant(beat, now);
            pace.left(from + beat.late, now);
            many += 1;
        }
        many
    }

    #[test]
    fn a_rate_begins_with_one_request_and_goes_on_evenly() {
        let mut pace = Pace::begin(7);
        let times: Vec<u64> = (0..5).map(|_| pace.grant(Beat { late: 0, ..beat(4) }, 7)).collect();
        assert_eq!(times, [7, 250_007, 500_007, 750_007, 1_000_007]);
    }

    #[test]
    fn after_a_rest_a_period_s_requests_leave_at_once_and_then_none_for_a_period() {
        let beat = beat(4);
        let mut pace = Pace::begin(0);
        assert_eq!(all_at(&mut pace, beat, 9 * SECOND), 4);
        assert_eq!(pace.next(beat, 9 * SECOND), 10 * SECOND, "a whole period later");
        assert_eq!(all_at(&mut pace, beat, 10 * SECOND), 1, "and evenly from then on");
        assert_eq!(pace.next(beat, 10 * SECOND), 10 * SECOND + 250_000);
        assert_eq!(all_at(&mut pace, beat, 60 * SECOND), 4);
    }

    #[test]
    fn a_request_under_way_counts_from_the_latest_moment_at_which_it_may_leave() {
        let beat = beat(1);
        let mut pace = Pace::begin(0);
        assert_eq!(pace.grant(beat, 0), 0);
        assert_eq!(pace.next(beat, 0), SECOND + beat.late);
        pace.left(beat.late, 20);
        assert_eq!(pace.next(beat, 0), SECOND + 20);
        pace.left(beat.late, 99);
        assert_eq!(pace.next(beat, 0), SECOND + 20, "it has left already");
    }

    #[test]
    fn a_clock_that_went_back_holds_nobody_up_for_ever() {
        let beat = beat(4);
        let mut pace = Pace::begin(90_000 * SECOND);
        pace.grant(beat, 90_000 * SECOND);
        assert!(pace.next(beat, 0) <= 600 * SECOND);
        for _ in 0..4 {
            pace.grant(beat, 90_000 * SECOND);
        }
        assert!(pace.next(beat, 0) <= 602 * SECOND);
    }

    #[test]
    fn what_an_earlier_version_wrote_is_read() {
        let pace: Pace = serde_json::from_str(r#"{"next":5}"#).unwrap();
        assert_eq!(pace, Pace::begin(5));
    }

    /// Returns the most requests that left within a period.
    fn most(left: &[u64], per: u64) -> usize {
        let within = |from: &u64| left.iter().filter(|at| *at >= from && **at - from < per).count();
        left.iter().map(within).max().unwrap_or_default()
    }

    proptest! {
        #[test]
        fn however_late_requests_leave_a_period_never_sees_more_than_the_rate(
            requests in 1_u64..200,
            steps in proptest::collection::vec((0_u64..400_000, 1_usize..12, 0_u64..=500_000, any::<bool>()), 1..80),
        ) {
            let beat = beat(requests);
            let mut pace = Pace::begin(0);
            let mut now = 0;
            let mut left = Vec::new();
            let mut untold: Vec<(u64, u64)> = Vec::new();
            for (pause, many, late, tells) in steps {
                now += pause;
                if tells {
                    let (past, still): (Vec<_>, Vec<_>) = untold.drain(..).partition(|(_, at)| *at <= now);
                    past.into_iter().for_each(|(latest, at)| pace.left(latest, at));
                    untold = still;
                }
                for _ in 0..many {
                    let from = pace.grant(beat, now);
                    left.push(from + late);
                    untold.push((from + beat.late, from + late));
                }
            }
            prop_assert!(most(&left, beat.per) <= requests as usize);
            prop_assert!(pace.leaving.len() <= TIMES_MAX);
        }

        #[test]
        fn who_waits_for_the_rate_gets_it(requests in 1_u64..300, late in 0_u64..20_000) {
            let beat = beat(requests);
            let mut pace = Pace::begin(0);
            let mut now = 0;
            let many = 4 * requests + 40;
            for _ in 0..many {
                now = pace.next(beat, now);
                let from = pace.grant(beat, now);
                pace.left(from + beat.late, from + late);
            }
            // What is lost: the time from the grant to the request, once a period, and what is counted together.
            let expected = (many * beat.drip()) as f64;
            prop_assert!(now as f64 <= expected * 1.08, "{now} instead of {expected}");
        }
    }
}
