//! Questions for permission in all threads of a caller, for a client that lists the types of their frames: a list of
//! what waits for a person is brought up to date by them. Who follows a thread gets them with its other frames.

use consort_core::frame::numbered::EventFrame;
use consort_runtime::feed::{Behind, Feed, News};
use consort_runtime::ring::{CommitFrames, Frame};

use super::Session;
use crate::ws::outbox::Item;

/// The types of the frames.
const TYPES: [&str; 2] = ["tool_approval_request", "tool_approval_resolved"];

/// Returns the next entry of the feed; never, without one.
pub(super) async fn next(feed: &mut Option<Feed>) -> Result<News, Behind> {
    match feed {
        Some(feed) => feed.next().await,
        None => std::future::pending().await,
    }
}

impl Session {
    /// Opens the feed for a client that lists one of the types, and closes it for any other.
    pub(super) fn hear_permissions(&mut self) {
        let wants = TYPES.iter().any(|kind| self.subscription.names(kind));
        if !wants {
            self.permissions = None;
        } else if self.permissions.is_none() {
            self.permissions = Some(self.runs.permissions());
        }
    }

    /// Sends the questions of the caller's own threads, and their answers.
    pub(super) async fn show_permission(&mut self, news: Result<News, Behind>) {
        let Ok(News { slot: CommitFrames::Frames(frames), .. }) = news else { return self.fall_behind() };
        for frame in frames.iter().filter(|frame| self.subscription.names(frame.kind())) {
            let Frame::Event { frame, text, .. } = frame else { continue };
            let EventFrame::Turn(turn) = &**frame else { continue };
            if self.threads.follows(&turn.thread_id) {
                continue;
            }
            match self.site.server.chats.owns(&self.pass.caller.0, &turn.thread_id).await {
                Ok(true) => self.outbox.push(vec![Item { text: text.clone(), position: None }]),
                Ok(false) => {}
                Err(error) => tracing::warn!(thread = turn.thread_id, %error, "cannot tell whose thread it is"),
            }
        }
    }
}
