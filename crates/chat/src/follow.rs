//! A thread's frames as one stream: turn after turn, stored frames first, then
//! live ones, each number once. It stays open between turns.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use consort_log as log;
use consort_runtime::engine;
use consort_runtime::ring::Frame;
use consort_runtime::thread_history::Turns;
use futures::stream::{self, BoxStream, StreamExt};

use super::changes::ThreadChanges;
use super::gap::Gap;
use super::live::Attachment;
use super::{Chats, Error, Thread, TurnSubscription};

/// The time before a thread that could not be read is looked at again, and the doublings of it: half a minute at most.
const AGAIN: Duration = Duration::from_millis(500);
const AGAIN_DOUBLINGS_MAX: u32 = 6;

/// The position at which a follower begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this number, waiting for it if needed.
    Seq(u64),
    /// At this number, or at the next one to come if the thread is not so far.
    Missed(u64),
    /// At the next number to come.
    Now,
}

struct Follower {
    chats: Chats,
    thread: String,
    news: ThreadChanges,
    attachment: Attachment,
    /// The number of refused messages that the follower has seen.
    refusals_seen: u64,
    /// The subscription to turns that begin from now on.
    subscription: Arc<TurnSubscription>,
    /// The first number not yet seen.
    next: u64,
    /// The turn being followed, and its remaining frames.
    turn: Option<(Bounds, BoxStream<'static, Result<Frame, log::Error>>)>,
    /// The last turn that could not be read to its end.
    lost: Option<String>,
    /// The times in a row that the thread could not be read.
    failures: u32,
}

/// A turn and its numbers in its thread.
struct Bounds {
    turn: String,
    /// The first number.
    base: u64,
    /// The number after the last, as far as it was known when the turn was found.
    next: u64,
}

/// The next event of a thread.
enum Found {
    /// A turn, or possibly one: look again.
    Turn,
    /// A turn that cannot be read, or not to its end.
    Gap(Gap),
    /// A queued message was refused; the frame holds the reason.
    Refusal(Arc<str>),
    /// The thread is gone.
    Nothing,
}

/// A frame of a thread.
#[derive(Clone, Debug)]
pub struct Numbered {
    /// Its number in the thread, if it is stored.
    pub seq: Option<u64>,
    /// Its type.
    pub kind: &'static str,
    /// The frame as it is sent.
    pub text: Arc<str>,
    /// The frame as a value, when a turn sent it: the refusal of a queued message is no turn's, nor is a gap.
    pub frame: Option<Frame>,
}

impl Numbered {
    /// Returns a frame of a turn whose first event has the number `base`; `None` for the
    /// result, because the last event of a turn already marks its end.
    fn of(base: u64, frame: &Frame) -> Option<Numbered> {
        let seq = match frame {
            Frame::Event { seq, .. } => Some(base + seq),
            Frame::Delta { .. } => None,
            Frame::Result { .. } => return None,
        };
        Some(Numbered { seq, kind: frame.kind(), text: frame.text().clone(), frame: Some(frame.clone()) })
    }

    /// Returns the frame for a queued message that was refused, or for events that are missing.
    pub(super) fn refusal(text: Arc<str>) -> Numbered {
        Numbered { seq: None, kind: "error", text, frame: None }
    }
}

/// Stored frames of a thread.
#[derive(Debug, Default)]
pub struct FramePage {
    /// The frames, as they are sent.
    pub frames: Vec<Arc<str>>,
    /// Numbers of the thread that cannot be read.
    pub damaged: Vec<Gap>,
}

impl Chats {
    /// Returns the frames of a thread from a position on, until it is deleted. Followers
    /// of a thread count as present for its turns.
    pub async fn follow(
        &self,
        owner: &str,
        id: &str,
        from: Start,
    ) -> Result<BoxStream<'static, Result<Numbered, log::Error>>, Error> {
        self.check_owner(owner, id).await?;
        let live_thread = self.0.live.live_thread(id);
        let news = self.changes(id);
        let subscription = live_thread.subscribe();
        let end = self.last(id).await?.map_or(0, |turn| turn.next);
        let next = match from {
            Start::Seq(seq) => seq,
            Start::Missed(seq) => seq.min(end),
            Start::Now => end,
        };
        let chats = self.clone();
        let thread = id.to_owned();
        let refusals_seen = live_thread.refused();
        let attachment = live_thread.attach(self, owner);
        let follower = Follower {
            chats,
            thread,
            news,
            attachment,
            refusals_seen,
            subscription,
            next,
            turn: None,
            lost: None,
            failures: 0,
        };
        Ok(stream::unfold(follower, |mut follower| async { follower.frame().await.map(|frame| (frame, follower)) })
            .boxed())
    }
}

impl Chats {
    /// Subscribes to the turns of a thread: a subscription from before a turn begins gets
    /// all of its tokens.
    pub fn subscribe(&self, id: &str) -> Arc<TurnSubscription> {
        self.0.live.live_thread(id).subscribe()
    }

    /// Returns the frames of one turn, which began with this number.
    pub async fn turn(
        &self,
        subscription: &TurnSubscription,
        turn: &str,
        base: u64,
    ) -> Result<BoxStream<'static, Result<Numbered, log::Error>>, Error> {
        let frames = self.tail(subscription, turn, 0).await?;
        let numbered = move |frame: Result<Frame, log::Error>| {
            std::future::ready(match frame {
                Ok(frame) => Numbered::of(base, &frame).map(Ok),
                Err(error) => Some(Err(error)),
            })
        };
        Ok(frames.filter_map(numbered).boxed())
    }

    /// Returns at most `max` stored frames of a thread from a number on, and the gaps before and between them.
    pub async fn page(&self, owner: &str, id: &str, from: u64, max: usize) -> Result<FramePage, Error> {
        self.check_owner(owner, id).await?;
        let Turns { ended, running } = self.0.history.turns(self.log(), id).await?;
        let turns = ended.turns.iter().map(|turn| &**turn).chain(&running);
        let mut page = FramePage::default();
        for turn in turns.filter(|turn| turn.next > from) {
            let first = from.saturating_sub(turn.base);
            let left = max - page.frames.len();
            match self.0.engine.page(&turn.turn, first, left).await.map_err(Error::from) {
                Ok(frames) => page.frames.extend(frames.iter().map(|frame| frame.text().clone())),
                Err(error) => {
                    let Unread { at, damage } = unread(error, &turn.turn)?;
                    let whole = self.before_damage(&turn.turn, first..at, left).await?;
                    page.frames.extend(whole.iter().map(|frame| frame.text().clone()));
                    page.damaged.push(Gap::of(turn, turn.base + at.max(first), damage.to_string()));
                }
            }
            if page.frames.len() >= max {
                break;
            }
        }
        Ok(page)
    }

    /// Returns the frames of a damaged turn that come before its damage.
    async fn before_damage(&self, turn: &str, events: Range<u64>, max: usize) -> Result<Vec<Frame>, Error> {
        if events.is_empty() { Ok(Vec::new()) } else { Ok(self.0.engine.page_within(turn, events, max).await?) }
    }

    async fn tail(
        &self,
        subscription: &TurnSubscription,
        turn: &str,
        from: u64,
    ) -> Result<BoxStream<'static, Result<Frame, log::Error>>, Error> {
        match subscription.take(turn).filter(|_| from == 0) {
            Some(listener) => Ok(self.0.engine.tail_heard(turn, listener)),
            None => Ok(self.0.engine.tail(turn, from).await?),
        }
    }
}

impl Follower {
    async fn frame(&mut self) -> Option<Result<Numbered, log::Error>> {
        loop {
            let Some((bounds, frames)) = &mut self.turn else {
                match self.find_patiently().await {
                    Ok(Found::Turn) => continue,
                    Ok(Found::Gap(gap)) => return Some(Ok(Numbered::refusal(gap.frame(&self.thread)))),
                    Ok(Found::Refusal(text)) => return Some(Ok(Numbered::refusal(text))),
                    Ok(Found::Nothing) => return None,
                    Err(error) => return Some(Err(unreadable(error))),
                }
            };
            match frames.next().await {
                Some(Ok(frame)) => match Numbered::of(bounds.base, &frame) {
                    Some(numbered) => {
                        self.next = numbered.seq.map_or(self.next, |seq| seq + 1);
                        return Some(Ok(numbered));
                    }
                    // The last event marks the end of the turn.
                    None => self.turn = None,
                },
                Some(Err(error @ log::Error::Damaged { .. })) => {
                    let gap = Gap::between(&bounds.turn, self.next.max(bounds.base)..bounds.next, error.to_string());
                    self.turn = None;
                    self.pass_over(&gap);
                    return Some(Ok(Numbered::refusal(gap.frame(&self.thread))));
                }
                Some(Err(error)) => {
                    self.turn = None;
                    self.failures = self.failures.saturating_add(1);
                    return Some(Err(error));
                }
                None => self.turn = None,
            }
        }
    }

    /// Goes on after a turn that cannot be read: it stays as it is.
    fn pass_over(&mut self, gap: &Gap) {
        self.next = self.next.max(gap.next());
        self.lost = Some(gap.turn().to_owned());
    }

    /// Finds the next turn. After a failure there is a pause before the next try, which grows, so that a thread that
    /// cannot be read is not read in a circle.
    async fn find_patiently(&mut self) -> Result<Found, Error> {
        if let Some(doublings) = self.failures.checked_sub(1) {
            tokio::time::sleep(AGAIN * 2_u32.pow(doublings.min(AGAIN_DOUBLINGS_MAX))).await;
        }
        let found = self.find().await;
        self.failures = if found.is_err() { self.failures.saturating_add(1) } else { 0 };
        found
    }

    /// Finds the turn that the next number belongs to, waiting for it if needed.
    async fn find(&mut self) -> Result<Found, Error> {
        self.news.mark_unchanged();
        let Turns { ended, running } = self.chats.0.history.turns(self.chats.log(), &self.thread).await?;
        let first = ended.turns.partition_point(|turn| turn.next <= self.next);
        // A running turn that cannot be read has no more frames to show.
        let running = running.filter(|turn| self.lost.as_ref() != Some(&turn.turn));
        if let Some(turn) = ended.turns.get(first).map(|turn| &**turn).or(running.as_ref()) {
            let from = self.next.saturating_sub(turn.base);
            let frames = match self.chats.tail(&self.subscription, &turn.turn, from).await {
                Ok(frames) => frames,
                Err(error) => {
                    let Unread { at, damage } = unread(error, &turn.turn)?;
                    if at > from {
                        let whole = self.chats.before_damage(&turn.turn, from..at, usize::MAX).await?;
                        stream::iter(whole.into_iter().map(Ok)).chain(stream::iter([Err(damage)])).boxed()
                    } else {
                        let gap = Gap::of(turn, self.next.max(turn.base), damage.to_string());
                        self.pass_over(&gap);
                        return Ok(Found::Gap(gap));
                    }
                }
            };
            self.turn = Some((Bounds { turn: turn.turn.clone(), base: turn.base, next: turn.next }, frames));
            return Ok(Found::Turn);
        }
        if let Some(text) = self.attachment.refusal(&mut self.refusals_seen) {
            return Ok(Found::Refusal(text));
        }
        if !Thread::exists(self.chats.log(), &self.thread).await? {
            return Ok(Found::Nothing);
        }
        Ok(if self.news.changed().await { Found::Turn } else { Found::Nothing })
    }
}

/// The place from which on a turn cannot be read, and the reason.
struct Unread {
    at: u64,
    damage: log::Error,
}

/// Returns the place from which on a turn cannot be read; any other error is passed on.
fn unread(error: Error, turn: &str) -> Result<Unread, Error> {
    if let Error::Engine(engine::Error::Log(damage @ log::Error::Damaged { .. })) = error {
        // It may be another stream that the turn depends on.
        let at = if let log::Error::Damaged { stream, seq, .. } = &damage
            && stream == turn
        {
            *seq
        } else {
            0
        };
        return Ok(Unread { at, damage });
    }
    Err(error)
}

/// Returns the reason why the frames end here.
pub(super) fn unreadable(error: Error) -> log::Error {
    if let Error::Engine(engine::Error::Log(error)) = error {
        error
    } else {
        log::Error::Unavailable(error.to_string())
    }
}
