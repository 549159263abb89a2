//! A thread's frames as one stream: turn after turn, stored frames first, then
//! live ones, each number once. It stays open between turns.

use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt};
use tokio::sync::watch;

use super::live::Attachment;
use super::{Chats, Error, Seat, Thread};
use crate::log;
use crate::past::Turns;
use crate::ring::Frame;

/// What waits in a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Something, until this turn has ended.
    Waits(String),
    /// Nothing.
    Empty,
}

/// Where a follower wants to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With this number, however long it takes to come.
    Seq(u64),
    /// With this number, or with whatever comes next where that is not so far.
    Missed(u64),
    /// With whatever comes next.
    Now,
}

struct Follower {
    chats: Chats,
    thread: String,
    /// Woken when a turn begins.
    news: watch::Receiver<u64>,
    _stays: Attachment,
    /// Where turns are heard that begin from now on.
    seat: Arc<Seat>,
    /// The first number not yet seen.
    next: u64,
    /// The turn being followed: its first number, and what is left of it.
    turn: Option<(u64, BoxStream<'static, Result<Frame, log::Error>>)>,
}

/// A frame of a thread; its number, if it is stored.
pub type Numbered = (Option<u64>, Arc<str>);

impl Chats {
    /// The frames of a thread from somewhere on, until it is deleted. Whoever
    /// follows a thread attends its turns.
    pub async fn follow(
        &self,
        owner: &str,
        id: &str,
        from: Start,
    ) -> Result<BoxStream<'static, Result<Numbered, log::Error>>, Error> {
        self.thread(owner, id).await?;
        let conversation = self.0.live.conversation(id);
        let (news, seat) = (conversation.news(), conversation.seat());
        let end = self.last(id).await?.map_or(0, |turn| turn.next);
        let next = match from {
            Start::Seq(seq) => seq,
            Start::Missed(seq) => seq.min(end),
            Start::Now => end,
        };
        let (chats, thread, stays) = (self.clone(), id.to_owned(), conversation.attach(self, owner));
        let follower = Follower { chats, thread, news, _stays: stays, seat, next, turn: None };
        Ok(stream::unfold(follower, |mut follower| async { follower.frame().await.map(|frame| (frame, follower)) })
            .boxed())
    }
}

impl Chats {
    /// A place in a thread: whoever takes it before a turn begins hears every word of it.
    pub fn seat(&self, id: &str) -> Arc<Seat> {
        self.0.live.conversation(id).seat()
    }

    /// The frames of one turn, which began with this number.
    pub async fn turn(
        &self,
        seat: &Seat,
        turn: &str,
        base: u64,
    ) -> Result<BoxStream<'static, Result<Numbered, log::Error>>, Error> {
        let frames = self.tail(seat, turn, 0).await?;
        let numbered = move |frame: Result<Frame, log::Error>| {
            std::future::ready(match frame {
                Ok(Frame::Event { seq, text }) => Some(Ok((Some(base + seq), text))),
                Ok(Frame::Delta { text, .. }) => Some(Ok((None, text))),
                // The last event says that the turn is over.
                Ok(Frame::Result { .. }) => None,
                Err(error) => Some(Err(error)),
            })
        };
        Ok(frames.filter_map(numbered).boxed())
    }

    /// The frames of a turn that waits, once it begins; none if it never does.
    pub fn turn_in_line(
        &self,
        owner: &str,
        thread: &str,
        (seat, turn): (Arc<Seat>, Arc<str>),
    ) -> BoxStream<'static, Result<Numbered, log::Error>> {
        let (chats, owner, thread) = (self.clone(), owner.to_owned(), thread.to_owned());
        let begins = async move {
            match chats.begins(&owner, &thread, &turn).await {
                Ok(Some(base)) => chats.turn(&seat, &turn, base).await,
                Ok(None) => Ok(stream::empty().boxed()),
                Err(error) => Err(error),
            }
        };
        let frames = |begun: Result<BoxStream<'static, _>, Error>| {
            begun.unwrap_or_else(|error| stream::iter([Err(unreadable(error))]).boxed())
        };
        stream::once(begins).flat_map(frames).boxed()
    }

    /// Waits until a turn begins; says with which number of the thread, unless
    /// it waits no longer and never began.
    async fn begins(&self, owner: &str, thread: &str, turn: &str) -> Result<Option<u64>, Error> {
        let mut news = self.0.live.conversation(thread).news();
        loop {
            news.mark_unchanged();
            // Looked at first: a turn has begun before it leaves the line.
            let stored = Thread::load(self.log(), thread, owner).await?;
            let waits = stored.is_some_and(|stored| stored.queue.iter().any(|waiting| waiting.turn == turn));
            let Turns { ended, running } = self.0.past.turns(self.log(), thread).await?;
            let begun = ended.turns.iter().map(|turn| &**turn).chain(&running).find(|begun| begun.turn == turn);
            if begun.is_some() || !waits || news.changed().await.is_err() {
                return Ok(begun.map(|begun| begun.base));
            }
        }
    }

    /// At most `max` stored frames of a thread from a number on.
    pub async fn page(&self, owner: &str, id: &str, from: u64, max: usize) -> Result<Vec<Arc<str>>, Error> {
        self.thread(owner, id).await?;
        let Turns { ended, running } = self.0.past.turns(self.log(), id).await?;
        let turns = ended.turns.iter().map(|turn| &**turn).chain(&running);
        let mut frames = Vec::new();
        for turn in turns.filter(|turn| turn.next > from) {
            let (first, left) = (from.saturating_sub(turn.base), max - frames.len());
            frames.extend(self.0.engine.page(&turn.turn, first, left).await?);
            if frames.len() >= max {
                break;
            }
        }
        Ok(frames)
    }

    async fn tail(
        &self,
        seat: &Seat,
        turn: &str,
        from: u64,
    ) -> Result<BoxStream<'static, Result<Frame, log::Error>>, Error> {
        match seat.take(turn).filter(|_| from == 0) {
            Some(heard) => Ok(self.0.engine.tail_heard(turn, heard)),
            None => Ok(self.0.engine.tail(turn, from).await?),
        }
    }
}

impl Follower {
    async fn frame(&mut self) -> Option<Result<Numbered, log::Error>> {
        loop {
            let Some((base, frames)) = &mut self.turn else {
                match self.find().await {
                    Ok(true) => continue,
                    Ok(false) => return None,
                    Err(error) => return Some(Err(unreadable(error))),
                }
            };
            match frames.next().await {
                Some(Ok(Frame::Event { seq, text })) => {
                    let seq = *base + seq;
                    self.next = seq + 1;
                    return Some(Ok((Some(seq), text)));
                }
                Some(Ok(Frame::Delta { text, .. })) => return Some(Ok((None, text))),
                Some(Err(error)) => return Some(Err(error)),
                // The last event says that the turn is over.
                Some(Ok(Frame::Result { .. })) | None => self.turn = None,
            }
        }
    }

    /// Finds the turn the next number belongs to, waiting for it if need be;
    /// false when the thread is gone.
    async fn find(&mut self) -> Result<bool, Error> {
        self.news.mark_unchanged();
        let Turns { ended, running } = self.chats.0.past.turns(self.chats.log(), &self.thread).await?;
        let first = ended.turns.partition_point(|turn| turn.next <= self.next);
        if let Some(turn) = ended.turns.get(first).map(|turn| &**turn).or(running.as_ref()) {
            let from = self.next.saturating_sub(turn.base);
            let frames = self.chats.tail(&self.seat, &turn.turn, from).await?;
            self.turn = Some((turn.base, frames));
            return Ok(true);
        }
        if Thread::exists(self.chats.log(), &self.thread).await? {
            return Ok(self.news.changed().await.is_ok());
        }
        Ok(false)
    }
}

/// Why the frames end here.
fn unreadable(error: Error) -> log::Error {
    match error {
        Error::Engine(crate::engine::Error::Log(error)) => error,
        error => log::Error::Unavailable(error.to_string()),
    }
}
