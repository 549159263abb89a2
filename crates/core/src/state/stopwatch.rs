//! Counts working time from the times of events; the time between an owner's last event and the next
//! adoption is not counted.

use consort_spec::id::Millis;

/// A stopwatch that gets the current time from its caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stopwatch {
    counted: Millis,
    since: Option<Millis>,
}

impl Stopwatch {
    /// Starts or stops at `at`.
    pub(crate) fn set(&mut self, runs: bool, at: Millis) {
        match (runs, self.since) {
            (true, None) => self.since = Some(at),
            (false, Some(_)) => *self = Stopwatch { counted: self.read(at), since: None },
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// Returns the time counted at `now`.
    pub(crate) fn read(&self, now: Millis) -> Millis {
        self.counted + self.since.map_or(0, |since| now.saturating_sub(since))
    }

    /// Returns the time at which `limit` will be reached, if it keeps running.
    pub(crate) fn due(&self, limit: Millis) -> Option<Millis> {
        self.since.map(|since| since.saturating_add(limit.saturating_sub(self.counted)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_of_work_is_counted() {
        let mut watch = Stopwatch::default();
        watch.set(true, 100);
        watch.set(true, 120);
        assert_eq!((watch.read(150), watch.due(200)), (50, Some(300)));
        watch.set(false, 150);
        watch.set(true, 1000);
        assert_eq!((watch.read(1010), watch.due(200)), (60, Some(1150)));
    }
}
