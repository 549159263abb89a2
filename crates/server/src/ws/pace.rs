//! How often a client may say something.

use std::time::Duration;

use tokio::time::Instant;

/// Frames a client may send in a second; people and programs need a few.
pub(super) const FRAMES_MAX: u32 = 200;
const WINDOW: Duration = Duration::from_secs(1);

/// What a client has said lately.
pub(super) struct Pace {
    since: Instant,
    frames: u32,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Pace {
        Pace { since: now, frames: 0 }
    }

    /// Counts a frame; false when it is one too many.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        if now.duration_since(self.since) >= WINDOW {
            (self.since, self.frames) = (now, 0);
        }
        self.frames += 1;
        self.frames <= FRAMES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_room_for_so_many_frames_and_the_next_one_for_as_many_again() {
        let began = Instant::now();
        let mut pace = Pace::new(began);
        assert!((0..FRAMES_MAX).all(|_| pace.allows(began)));
        assert!(!pace.allows(began + Duration::from_millis(999)));
        assert!(pace.allows(began + WINDOW));
    }
}
