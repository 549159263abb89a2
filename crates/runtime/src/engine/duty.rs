//! Work that one node does for all of them.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::sleep;

use super::Engine;

/// The time between two questions whether this node has a duty. Less than the shortest lease, so that a node
/// keeps a duty that it has.
const ASK_EVERY: Duration = Duration::from_millis(800);

impl Engine {
    /// Does a work that never ends, but only while this node has the duty of that name; begins it anew each
    /// time the node gets the duty.
    pub async fn on_duty<W: Future<Output = Infallible>>(self, name: &str, work: impl Fn() -> W) -> Infallible {
        if self.is_alone() {
            return work().await;
        }
        loop {
            if self.has_duty(name).await {
                tracing::info!(duty = name, "this node does it for all");
                tokio::select! {
                    never = work() => match never {},
                    () = self.lost_duty(name) => tracing::info!(duty = name, "another node does it now"),
                }
            }
            sleep(ASK_EVERY).await;
        }
    }

    async fn lost_duty(&self, name: &str) {
        while self.has_duty(name).await {
            sleep(ASK_EVERY).await;
        }
    }

    async fn has_duty(&self, name: &str) -> bool {
        let cluster = &self.seams().cluster;
        match cluster.duty(name).await {
            Ok(has) => has && !self.is_draining(),
            // Without the store it could not do it.
            Err(_) => false,
        }
    }
}
