//! The threads that a client takes part in: their frames, and its presence.

use std::collections::HashMap;
use std::sync::Arc;

use consort_chat::{Chats, Numbered, Start};
use consort_core::catalog::ToolInfo;
use consort_log as log;
use futures::StreamExt;
use futures::stream::{AbortHandle, BoxStream, SelectAll, abortable};

use crate::access::Caller;
use consort_inbound::problem::Problem;

/// Threads one client may follow at once.
const THREADS_MAX: usize = 64;

/// A frame of a thread; none when the thread is gone.
pub(super) type ThreadFrame = (Arc<str>, Option<Result<Numbered, log::Error>>);

/// The threads that a client follows and the tools it offers.
#[derive(Default)]
pub(super) struct FollowedThreads {
    streams: SelectAll<BoxStream<'static, ThreadFrame>>,
    followed: HashMap<Arc<str>, Followed>,
    /// Tools that the client runs on request.
    pub(super) tools: Vec<ToolInfo>,
}

struct Followed(AbortHandle);

impl Drop for Followed {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl FollowedThreads {
    pub(super) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Returns the ids of the threads it follows.
    pub(super) fn ids(&self) -> Vec<Arc<str>> {
        self.followed.keys().cloned().collect()
    }

    pub(super) fn follows(&self, thread: &str) -> bool {
        self.followed.contains_key(thread)
    }

    /// Returns the next frame of any of its threads.
    pub(super) async fn next(&mut self) -> Option<ThreadFrame> {
        let frame = self.streams.next().await?;
        if frame.1.is_none() {
            self.followed.remove(&frame.0);
        }
        Some(frame)
    }

    /// Follows a thread from a number on, replacing its earlier position.
    pub(super) async fn follow(
        &mut self,
        chats: &Chats,
        caller: &Caller,
        thread: &str,
        from: Start,
    ) -> Result<(), Problem> {
        if !self.follows(thread) {
            self.check_room()?;
        }
        let frames = chats.follow(&caller.0, thread, from).await?;
        self.add(thread, frames);
        Ok(())
    }

    /// Returns an error when one more thread would be too many.
    pub(super) fn check_room(&self) -> Result<(), Problem> {
        if self.followed.len() < THREADS_MAX {
            return Ok(());
        }
        Err(Problem::bad_request(format!("at most {THREADS_MAX} threads can be followed at once")))
    }

    /// Follows a thread by these frames.
    pub(super) fn add(&mut self, thread: &str, frames: BoxStream<'static, Result<Numbered, log::Error>>) {
        let thread: Arc<str> = thread.into();
        let name = thread.clone();
        let ended = futures::stream::once(std::future::ready(None));
        let (frames, stream) = abortable(frames.map(Some).chain(ended).map(move |frame| (name.clone(), frame)));
        self.streams.push(frames.boxed());
        self.followed.insert(thread, Followed(stream));
    }
}
