//! Follows one run: folds the stored events, then takes what the owner publishes; when
//! no runner here owns the run, or the watcher has fallen behind, it goes on reading
//! the log. Each event is seen once.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use consort_core::event::Event;
use consort_core::frame::live::LiveFrame;
use consort_core::run::Run;
use consort_log::codec;
use consort_log::{Error, Log, Seq};
use futures::stream::{self, BoxStream, StreamExt};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::links::{Heard, Hearing, Links};
use crate::meters::{Meter, Meters};
use crate::ring::{CommitFrames, Frame, Listener, News};
use crate::thread_history;

/// Records read at once.
const PAGE_MAX: usize = 512;
/// Records read at once where each may be a whole document of some megabytes.
const DOCUMENTS_MAX: usize = 8;

/// The source of new frames. Subscribed before the log is read, so that nothing falls
/// between the two; frames in both are shown once.
pub(crate) enum Source {
    /// The frames that the owner publishes, and tokens of its models.
    Ring(Listener),
    Log(watch::Receiver<u64>),
}

/// Finds the ring of a run that is owned here.
pub(crate) type Rings = Arc<dyn Fn(&str) -> Option<Listener> + Send + Sync>;

/// The places from which a run is heard that is not owned here.
pub(crate) struct Around {
    /// The rings of runs that may come to this node while they are followed.
    pub(crate) rings: Option<Rings>,
    /// The links to other nodes.
    pub(crate) links: Links,
}

pub(crate) struct Watcher {
    id: Arc<str>,
    log: Arc<dyn Log>,
    source: Source,
    /// Absent where the node is alone.
    around: Option<Around>,
    /// The words of the run's owner, while it is another node.
    hearing: Option<Hearing>,
    /// The fold of the records that were read: frames refer to it. Absent while the owner renders them.
    run: Option<Box<Run>>,
    /// The number of records in it.
    read: Seq,
    caught_up: bool,
    /// Whether it has had the answers that were under way when it came.
    joined: bool,
    queue: VecDeque<Frame>,
    /// The seq to show next.
    next: Seq,
    /// The first seq the client wants.
    from: Seq,
    over: bool,
    meters: Meters,
}

impl Watcher {
    pub(crate) fn new(id: Arc<str>, log: Arc<dyn Log>, source: Source, from: Seq, meters: Meters) -> Watcher {
        let run = None;
        let queue = VecDeque::new();
        let around = None;
        let hearing = None;
        Watcher {
            id,
            log,
            source,
            around,
            hearing,
            run,
            read: 0,
            caught_up: false,
            joined: false,
            queue,
            next: 0,
            from,
            over: false,
            meters,
        }
    }

    /// Lets a watcher hear of the run from other nodes, and follow it here should it come to this one.
    pub(crate) fn among(mut self, around: Option<Around>) -> Watcher {
        self.around = around;
        if let Source::Log(_) = &self.source {
            self.hear();
        }
        self
    }

    fn hear(&mut self) {
        self.hearing = self.around.as_ref().map(|around| around.links.follow(&self.id));
    }

    /// Shows words that another node has sent, after the events that they follow.
    async fn show(&mut self, after: Seq, words: LiveFrame) -> Result<(), Error> {
        while after >= self.read {
            let read = self.read;
            self.read_page().await?;
            if self.read == read {
                return Ok(());
            }
        }
        self.queue.push_back(Frame::live(after, words));
        Ok(())
    }

    /// Marks a watcher as caught up, because its listener subscribed before the run began.
    pub(crate) fn caught_up(self) -> Watcher {
        Watcher { caught_up: true, joined: true, ..self }
    }

    /// Returns every frame from `from` on, until the result or an unreadable log.
    pub(crate) fn frames(self) -> BoxStream<'static, Result<Frame, Error>> {
        stream::unfold(self, |mut watcher| async { watcher.frame().await.map(|frame| (frame, watcher)) }).boxed()
    }

    async fn frame(&mut self) -> Option<Result<Frame, Error>> {
        while !self.over {
            if let Some(words) = self.words() {
                return Some(Ok(words));
            }
            if let Some(frame) = self.queue.pop_front() {
                if self.admits(&frame) {
                    return Some(Ok(frame));
                }
            } else if let Err(error) = self.refill().await {
                self.over = true;
                return Some(Err(error));
            }
        }
        None
    }

    /// Returns the tokens that come before the next frame.
    fn words(&mut self) -> Option<Frame> {
        match &mut self.source {
            Source::Ring(ring) => ring.words(self.from, self.next),
            Source::Log(_) => None,
        }
    }

    async fn refill(&mut self) -> Result<(), Error> {
        if !self.caught_up {
            return self.read_page().await;
        }
        if !self.joined {
            self.join();
            if !self.caught_up || !self.queue.is_empty() {
                return Ok(());
            }
        }
        match &mut self.source {
            Source::Ring(ring) => {
                let news = ring.news().await;
                self.take_news(news);
            }
            Source::Log(news) => {
                let heard = tokio::select! {
                    changed = news.changed() => {
                        changed.map_err(|_closed| Error::Unavailable("the log was closed".to_owned()))?;
                        Heard::News
                    }
                    heard = next(&mut self.hearing) => heard,
                };
                if let Heard::Words(after, words) = heard {
                    return self.show(after, *words).await;
                }
                self.caught_up = false;
                let rings = self.around.as_ref().and_then(|around| around.rings.as_ref());
                if let Some(listener) = rings.and_then(|rings| rings(&self.id)) {
                    (self.source, self.hearing, self.joined) = (Source::Ring(listener), None, false);
                }
            }
        }
        Ok(())
    }

    /// Takes the news of a ring.
    fn take_news(&mut self, news: Result<News, RecvError>) {
        match news {
            Ok(News::Words) => {}
            Ok(News::CommitFrames(CommitFrames::Frames(frames))) => self.queue.extend(frames.iter().cloned()),
            Ok(News::CommitFrames(CommitFrames::Unrendered)) => self.caught_up = false,
            Err(RecvError::Lagged(_)) => {
                self.meters.add(Meter::Lag, &[], 1);
                self.caught_up = false;
            }
            // The owner is gone: if the run has not ended, another one may adopt it.
            Err(RecvError::Closed) => {
                (self.source, self.caught_up) = (Source::Log(self.log.news(&self.id)), false);
                self.hear();
            }
        }
    }

    /// Takes the answers under way, once exactly the events before them are known.
    fn join(&mut self) {
        let Source::Ring(ring) = &mut self.source else { return };
        let (last, words) = ring.join();
        match self.next.cmp(&(last + 1)) {
            // Events that were published meanwhile are in the log.
            Ordering::Less => self.caught_up = false,
            Ordering::Equal => {
                self.joined = true;
                // Most watchers only wait from now on, and need no copy of the run; one that falls behind reads it
                // again and keeps it.
                (self.run, self.read) = (None, 0);
                self.queue.extend(words);
            }
            // An event that was read is about to be published: then it is tried again.
            Ordering::Greater => {}
        }
    }

    async fn read_page(&mut self) -> Result<(), Error> {
        let page = match self.log.read(&self.id, self.read, PAGE_MAX).await {
            // The part before the damage is shown; the next read begins with it.
            Err(Error::Damaged { stream, seq, .. }) if *stream == *self.id && seq > self.read => {
                let whole = usize::try_from(seq - self.read).unwrap_or(PAGE_MAX);
                self.caught_up = false;
                self.log.read(&self.id, self.read, whole).await?
            }
            page => {
                let page = page?;
                self.caught_up = page.len() < PAGE_MAX;
                page
            }
        };
        let run = self.run.get_or_insert_default();
        for record in page {
            let event = codec::decode(&record, (&self.id, self.read))?;
            run.apply(&event);
            if self.read >= self.next.max(self.from) {
                self.queue.push_back(Frame::event(self.read, run.frame(&self.id, self.read, &event)));
            } else if self.read >= self.next {
                self.next = self.read + 1;
            }
            self.read += 1;
        }
        if run.ended() {
            self.queue.push_back(Frame::result(run.result(&self.id)));
        }
        Ok(())
    }

    fn admits(&mut self, frame: &Frame) -> bool {
        match frame {
            Frame::Event { seq, .. } if *seq == self.next => {
                self.next += 1;
                *seq >= self.from
            }
            Frame::Event { .. } => false,
            Frame::Delta { after, .. } => after + 1 >= self.next,
            Frame::Result { .. } => {
                self.over = true;
                true
            }
        }
    }
}

/// Returns what is heard next over links; never, where there are none.
async fn next(hearing: &mut Option<Hearing>) -> Heard {
    match hearing {
        Some(hearing) => hearing.next().await,
        None => std::future::pending().await,
    }
}

/// The purpose of loading a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read it.
    Look,
    /// To resume it, for which a turn needs the earlier conversation.
    GoOn,
}

/// Rebuilds a run from its log; also returns the length of the log.
pub(crate) async fn load(log: &dyn Log, id: &str, purpose: Purpose) -> Result<(Run, Seq), Error> {
    let mut run = Run::default();
    let mut len = 0;
    loop {
        let page = log.read(id, len, PAGE_MAX).await?;
        let last = page.len() < PAGE_MAX;
        for record in page {
            let mut event = codec::decode(&record, (id, len))?;
            if len == 0 && purpose == Purpose::GoOn {
                thread_history::put_back(log, &mut event).await?;
            }
            run.apply(&event);
            len += 1;
        }
        if last && len == 0 && purpose == Purpose::GoOn {
            return Err(lost(id));
        }
        if last {
            return Ok((run, len));
        }
    }
}

/// Returns the error for a run that has a row and no events, which is never written
/// that way.
pub(crate) fn lost(id: &str) -> Error {
    Error::Damaged { stream: id.to_owned(), seq: 0, reason: "all of its records are missing".to_owned() }
}

/// The content of a stream's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Events of a run.
    Events,
    /// Data that only its owner can interpret.
    Other,
}

/// Reads a stream to its end, to check that it is readable.
pub(crate) async fn check(log: &dyn Log, id: &str, content: Content) -> Result<(), Error> {
    let mut len = 0;
    let most = if content == Content::Events { PAGE_MAX } else { DOCUMENTS_MAX };
    loop {
        let page = log.read(id, len, most).await?;
        for record in &page {
            if content == Content::Events {
                codec::decode(record, (id, len))?;
            }
            len += 1;
        }
        if page.len() < most {
            return if content == Content::Events && len == 0 { Err(lost(id)) } else { Ok(()) };
        }
    }
}

/// Returns every event of a run.
pub(crate) async fn history(log: &dyn Log, id: &str) -> Result<Vec<Event>, Error> {
    let mut events = Vec::new();
    loop {
        let page = log.read(id, events.len() as Seq, PAGE_MAX).await?;
        let last = page.len() < PAGE_MAX;
        for record in page {
            events.push(codec::decode(&record, (id, events.len() as Seq))?);
        }
        if last {
            return Ok(events);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use consort_core::event::EventKind;
    use consort_core::owner::Owner;
    use consort_log::{Append, MemoryLog, Row};
    use futures::FutureExt;

    use super::*;
    use crate::ring::Ring;

    /// Stores the event of this number, and publishes it without its frame.
    async fn happens(log: &MemoryLog, ring: &Ring, seq: Seq) {
        let event = Event { at: 1, kind: EventKind::RunPaused { by: seq.to_string() } };
        let row = Row {
            kind: "run".into(),
            status: "RUNNING".into(),
            owner: Owner::local(),
            started_at: 1,
            ended_at: None,
            tags: BTreeMap::new(),
            body: "{}".into(),
            words: None,
        };
        let records = vec![codec::encode(&event).unwrap()];
        let append = Append { epoch: 1, ..Append::new("run-1", seq, records, row) };
        log.append(append).await.unwrap();
        ring.publish(CommitFrames::Unrendered, seq);
    }

    #[tokio::test]
    async fn a_watcher_that_only_waits_keeps_no_copy_of_the_run_and_reads_it_again_when_it_is_behind() {
        let log = Arc::new(MemoryLog::default());
        let ring = Ring::default();
        happens(&log, &ring, 0).await;
        let source = Source::Ring(ring.subscribe());
        let mut watcher = Watcher::new("run-1".into(), log.clone(), source, 0, Meters::default());
        let mut seen = Vec::new();
        for seq in 1..=3 {
            while let Some(Some(Ok(Frame::Event { seq, .. }))) = watcher.frame().now_or_never() {
                seen.push(seq);
            }
            let keeps = watcher.run.is_some();
            assert_eq!((watcher.joined, keeps, watcher.read), (true, seq > 1, if seq > 1 { seq } else { 0 }));
            happens(&log, &ring, seq).await;
        }
        assert_eq!(seen, [0, 1, 2]);
    }
}
