//! The pace at which the frames of one link are read: a peer that says more is read later.

use std::time::Duration;

use futures::StreamExt;
use tokio::time::{Instant, sleep_until};

use crate::limits::{FRAMES_AT_ONCE, FRAMES_PER_SECOND, HELLO_WEIGHT};
use crate::transport::Incoming;
use crate::wire::Frame;

/// The pace of one link.
pub(crate) struct Pace {
    /// The time up to which the frames read so far are paid for.
    paid: Instant,
}

impl Pace {
    /// Creates the pace of a link on which nothing was read yet.
    pub(crate) fn new() -> Pace {
        Pace { paid: Instant::now() }
    }

    /// Returns the next frame, once it may be read. Dropping this loses no frame.
    pub(crate) async fn next(&mut self, incoming: &mut Incoming) -> Option<Frame> {
        let ahead = Duration::from_secs(1).mul_f64(f64::from(FRAMES_AT_ONCE) / f64::from(FRAMES_PER_SECOND));
        sleep_until(self.paid.checked_sub(ahead).unwrap_or(self.paid)).await;
        let frame = incoming.next().await?;
        let weight = match frame {
            Frame::Hello(_) | Frame::PeerHello(_) => HELLO_WEIGHT,
            Frame::TaskRequest(_)
            | Frame::ToolRequest(_)
            | Frame::TaskAccepted(_)
            | Frame::TaskProgress(_)
            | Frame::TaskResponse(_)
            | Frame::ToolResponse(_)
            | Frame::RequestCancel(_)
            | Frame::CapabilityQuery(_)
            | Frame::CapabilityResponse(_)
            | Frame::CapacityUpdate(_)
            | Frame::Error(_)
            | Frame::Other => 1,
        };
        let price = Duration::from_secs(1) / FRAMES_PER_SECOND * weight;
        self.paid = self.paid.max(Instant::now()) + price;
        Some(frame)
    }
}
