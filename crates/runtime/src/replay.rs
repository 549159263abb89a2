//! A stored run, folded as far as it was read. Frames refer to earlier events, so whoever wants the next ones keeps
//! the fold and goes on from there.

use std::ops::Range;

use consort_core::run::Run;
use consort_log::codec;
use consort_log::{Error, Log, Seq};

use crate::ring::Frame;

/// Records read at once.
const PAGE_MAX: usize = 512;

/// The fold of a run, as far as it was read.
#[derive(Debug, Default)]
pub struct Replay {
    run: Run,
    /// The number of events read.
    len: Seq,
}

impl Replay {
    /// Returns whether nothing was read yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads on; returns at most `max` frames from the event `from` on. After an error, or when it was not awaited to
    /// its end, frames may be missing: then a new one must be used.
    pub(crate) async fn frames(&mut self, log: &dyn Log, id: &str, from: Seq, max: usize) -> Result<Vec<Frame>, Error> {
        self.frames_within(log, id, from..Seq::MAX, max).await
    }

    /// Does the same, but reads no event from the end of `events` on.
    pub(crate) async fn frames_within(
        &mut self,
        log: &dyn Log,
        id: &str,
        events: Range<Seq>,
        max: usize,
    ) -> Result<Vec<Frame>, Error> {
        let from = events.start;
        let mut frames = Vec::new();
        loop {
            let left = usize::try_from(events.end.saturating_sub(self.len)).unwrap_or(usize::MAX);
            let page = log.read(id, self.len, left.min(PAGE_MAX)).await?;
            let last = page.len() < PAGE_MAX;
            for record in page {
                let event = codec::decode(&record, (id, self.len))?;
                self.run.apply(&event);
                if self.len >= from && frames.len() < max {
                    frames.push(Frame::event(self.len, self.run.frame(id, self.len, &event)));
                }
                self.len += 1;
            }
            if last || frames.len() >= max {
                return Ok(frames);
            }
        }
    }
}
