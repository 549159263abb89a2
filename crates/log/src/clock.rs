//! The current time. Core gets it as a parameter; only this file reads a clock.
//! The wall clock is read once and then advanced by a monotonic one, so it neither
//! jumps nor steps back, and a test that pauses tokio's time moves it by hand.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use consort_core::id::Millis;
use tokio::time::Instant;

/// A clock, cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Millis,
    since: Instant,
}

impl Clock {
    /// Returns the machine's clock.
    pub fn system() -> Clock {
        let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { start: millis(start), since: Instant::now() }
    }

    /// Returns the same clock, set forward where it is behind `at`. What happened before is
    /// never later than what happens now, even when the machine's clock was set back in between.
    pub fn not_before(self, at: Millis) -> Clock {
        Clock { start: self.start + at.saturating_sub(self.now()), ..self }
    }

    /// Returns the milliseconds since 1970.
    pub fn now(&self) -> Millis {
        self.start + millis(self.since.elapsed())
    }

    /// Returns at `at`; never, when it is absent.
    pub async fn until(&self, at: Option<Millis>) {
        match at {
            Some(at) => tokio::time::sleep(Duration::from_millis(at.saturating_sub(self.now()))).await,
            None => std::future::pending().await,
        }
    }
}

fn millis(span: Duration) -> Millis {
    Millis::try_from(span.as_millis()).unwrap_or(Millis::MAX)
}
