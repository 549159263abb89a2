//! The rate at which a client's frames are read: one that sends more waits, and loses
//! nothing.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Frames read from a client in a second; people and programs need a few.
const FRAMES_MAX: u32 = 1000;
const WINDOW: Duration = Duration::from_secs(1);

/// The frames that a client has sent lately.
pub(super) struct Pace {
    since: Instant,
    frames: u32,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Pace {
        Pace { since: now, frames: 0 }
    }

    /// Counts a frame.
    pub(super) fn count(&mut self, now: Instant) {
        if now.duration_since(self.since) >= WINDOW {
            (self.since, self.frames) = (now, 0);
        }
        self.frames += 1;
    }

    /// Returns the time at which the next frame is read, if not at once.
    pub(super) fn held_until(&self, now: Instant) -> Option<Instant> {
        let again = self.since + WINDOW;
        (self.frames >= FRAMES_MAX && now < again).then_some(again)
    }
}

/// Returns at that time; never, when there is none.
pub(super) async fn over(held_until: Option<Instant>) {
    match held_until {
        Some(again) => sleep_until(again).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_room_for_so_many_frames_and_the_next_one_for_as_many_again() {
        let began = Instant::now();
        let mut pace = Pace::new(began);
        let late = began + Duration::from_millis(999);
        let again = began + WINDOW;
        (1..FRAMES_MAX).for_each(|_| pace.count(began));
        assert_eq!(pace.held_until(late), None);
        pace.count(began);
        assert_eq!((pace.held_until(late), pace.held_until(again)), (Some(again), None));
        pace.count(again);
        assert_eq!(pace.held_until(again), None);
    }
}
