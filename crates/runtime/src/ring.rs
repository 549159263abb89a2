//! The frames for watchers, rendered once and shared. Committed frames and live deltas
//! go through one publisher, so a token never precedes the frame that announced its
//! call nor follows the one that ended it. Without watchers nothing is rendered, and
//! no buffer is allocated.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use consort_core::frame::live::LiveFrame;
use consort_core::frame::numbered::EventFrame;
use consort_core::id::{Id, Millis};
use consort_core::live_source::{ChatLiveSource, LiveSource};
use consort_core::view::ResultFrame;
use consort_log::Seq;
use consort_tools::Progress;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::watch;

use crate::feed::Publisher;
use crate::live_text::{LiveText, LiveTextPosition, TextKind};

/// Entries in a run's ring. An entry holds all frames of one commit, so even the start
/// of a very wide run takes one; a watcher this far behind reads the log.
const RING_MAX: usize = 256;

/// One frame for a watcher.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// A stored event.
    Event {
        /// Its number in the run, from 0.
        seq: Seq,
        /// The frame as a value.
        frame: Arc<EventFrame>,
        /// The frame as it is sent.
        text: Arc<str>,
    },
    /// Tokens of a model that is still answering, or the progress of a call. Never stored,
    /// has no number.
    Delta {
        /// The stored event it follows.
        after: Seq,
        /// The frame as a value.
        frame: Arc<LiveFrame>,
        /// The frame as it is sent.
        text: Arc<str>,
    },
    /// The result of the run: the last frame, which has no number.
    Result {
        /// The frame as a value.
        frame: Arc<ResultFrame>,
        /// The frame as it is sent.
        text: Arc<str>,
    },
}

impl Frame {
    /// Creates the frame of a stored event, rendered once.
    pub(crate) fn event(seq: Seq, frame: EventFrame) -> Frame {
        let text = frame.text().into();
        Frame::Event { seq, frame: Arc::new(frame), text }
    }

    /// Creates a live frame that follows a stored event, rendered once.
    pub(crate) fn live(after: Seq, frame: LiveFrame) -> Frame {
        let text = frame.text().into();
        Frame::Delta { after, frame: Arc::new(frame), text }
    }

    /// Renders the result of a run once.
    pub fn result(frame: ResultFrame) -> Frame {
        let text = frame.text().into();
        Frame::Result { frame: Arc::new(frame), text }
    }

    /// Returns the type of the frame.
    pub fn kind(&self) -> &'static str {
        match self {
            Frame::Event { frame, .. } => frame.kind(),
            Frame::Delta { frame, .. } => frame.kind(),
            Frame::Result { .. } => ResultFrame::KIND,
        }
    }

    /// Returns the frame as JSON text.
    pub fn text(&self) -> &Arc<str> {
        match self {
            Frame::Event { text, .. } | Frame::Delta { text, .. } | Frame::Result { text, .. } => text,
        }
    }
}

/// The frames of one commit.
#[derive(Clone, Debug)]
pub enum CommitFrames {
    /// These frames.
    Frames(Arc<[Frame]>),
    /// Frames that were not rendered, because there was no watcher when they were decided:
    /// read the log.
    Unrendered,
}

/// A run's publisher.
#[derive(Clone)]
pub struct Ring {
    /// Made for the first watcher: most runs never have one.
    slots: Arc<OnceLock<broadcast::Sender<CommitFrames>>>,
    /// Locked while publishing, so that all watchers see one order.
    state: Arc<Mutex<State>>,
    /// Notified when a model of a chat has sent tokens.
    said: watch::Sender<()>,
    /// The run on the feed of all runs.
    publisher: Option<Publisher>,
    /// The run on a feed of its questions to people only.
    asks: Option<Publisher>,
}

#[derive(Default)]
struct State {
    /// The newest published event.
    last: Seq,
    /// The tokens of models. Kept for chats only: late watchers get them, and a stopped
    /// turn keeps them.
    live_text: LiveText,
    /// The answers that models of a run are giving: late watchers get them as far as they are known.
    answers: BTreeMap<Id, Answer>,
}

/// An answer that is not complete yet.
struct Answer {
    voice: Arc<LiveSource>,
    said: String,
    /// The time of its last words.
    at: Millis,
}

/// A watcher of a run.
pub struct Listener {
    slots: broadcast::Receiver<CommitFrames>,
    said: watch::Receiver<()>,
    state: Arc<Mutex<State>>,
    place: LiveTextPosition,
}

/// An event for a listener.
pub(crate) enum News {
    /// Something was published.
    CommitFrames(CommitFrames),
    /// A model has sent tokens.
    Words,
}

impl Listener {
    /// Waits for the next event.
    pub(crate) async fn news(&mut self) -> Result<News, RecvError> {
        tokio::select! {
            biased;
            slot = self.slots.recv() => slot.map(News::CommitFrames),
            Ok(()) = self.said.changed() => Ok(News::Words),
        }
    }

    /// Goes to the end of what was published; returns the number of the newest event and the answers under way.
    /// Both are read and published under one lock, so that no word is missed and none comes twice.
    pub(crate) fn join(&mut self) -> (Seq, Vec<Frame>) {
        let state = lock(&self.state);
        self.slots = self.slots.resubscribe();
        let words = |Answer { voice, said, at }: &Answer| Some(Frame::live(state.last, voice.token(said, 0, *at)?));
        (state.last, state.answers.values().filter_map(words).collect())
    }

    /// Returns tokens that come before the event `next`, for a watcher that wants events
    /// from `from` on.
    pub(crate) fn words(&mut self, from: Seq, next: Seq) -> Option<Frame> {
        lock(&self.state).live_text.read(&mut self.place, from, next)
    }
}

impl Default for Ring {
    fn default() -> Ring {
        Ring { slots: Arc::default(), state: Arc::default(), said: watch::Sender::new(()), publisher: None, asks: None }
    }
}

impl Ring {
    /// Publishes everything also on the feed of all runs.
    pub(crate) fn shown(self, publisher: Publisher) -> Ring {
        Ring { publisher: Some(publisher), ..self }
    }

    /// Publishes questions to people also on a feed of their own.
    pub(crate) fn asking(self, publisher: Publisher) -> Ring {
        Ring { asks: Some(publisher), ..self }
    }

    /// Returns whether the feed of its questions has watchers.
    pub(crate) fn asks(&self) -> bool {
        self.asks.as_ref().is_some_and(Publisher::is_watched)
    }

    /// Publishes the questions of one commit, or their answers.
    pub(crate) fn ask(&self, questions: Vec<Frame>) {
        if let Some(publisher) = self.asks.as_ref().filter(|_| !questions.is_empty()) {
            publisher.publish(&CommitFrames::Frames(questions.into()));
        }
    }

    /// Subscribes to new frames from now on, and to the tokens of active model calls.
    pub fn subscribe(&self) -> Listener {
        let slots = self.slots.get_or_init(|| broadcast::Sender::new(RING_MAX)).subscribe();
        Listener { slots, said: self.said.subscribe(), state: self.state.clone(), place: LiveTextPosition::default() }
    }

    /// Returns whether a frame would have watchers.
    pub(crate) fn is_watched(&self) -> bool {
        self.slots.get().is_some_and(|slots| slots.receiver_count() > 0)
            || self.publisher.as_ref().is_some_and(Publisher::is_watched)
    }

    /// Publishes the frames of one commit.
    pub(crate) fn publish(&self, slot: CommitFrames, last: Seq) {
        let mut state = lock(&self.state);
        state.last = last;
        self.send(slot);
    }

    /// Publishes tokens of a model.
    pub(crate) fn delta(&self, turn: &Id, voice: &Arc<LiveSource>, words: &str, at: Millis) {
        if let LiveSource::Chat(voice) = &**voice {
            return self.speak(turn, voice, (TextKind::Said, words));
        }
        let mut state = lock(&self.state);
        let offset = state.answer(turn, voice, words, at);
        if self.is_watched()
            && let Some(frame) = voice.token(words, offset, at)
        {
            self.send(CommitFrames::Frames([Frame::live(state.last, frame)].into()));
        }
    }

    /// Publishes reasoning of a chat's model, which is never stored.
    pub(crate) fn thought(&self, turn: &Id, voice: &LiveSource, words: &str) {
        if let LiveSource::Chat(voice) = voice {
            self.speak(turn, voice, (TextKind::Thought, words));
        }
    }

    /// Publishes the progress of a call, which is never stored.
    pub(crate) fn progress(&self, voice: &LiveSource, progress: &Progress, at: Millis) {
        if !self.is_watched() {
            return;
        }
        let state = lock(&self.state);
        let Some(mut frame) = voice.progress(at, state.last) else { return };
        frame.status.clone_from(&progress.status);
        frame.message.clone_from(&progress.message);
        frame.percent_complete = progress.percent;
        self.send(CommitFrames::Frames([Frame::live(state.last, LiveFrame::ToolProgress(frame))].into()));
    }

    /// Ends the output of this conversation's model; returns the text so far.
    pub(crate) fn take_partial_text(&self, turn: &Id) -> String {
        let mut state = lock(&self.state);
        let last = state.last;
        state.answers.remove(turn);
        state.live_text.take_partial_text(turn, last)
    }

    fn speak(&self, turn: &Id, voice: &Arc<ChatLiveSource>, words: (TextKind, &str)) {
        let mut state = lock(&self.state);
        let after = state.last;
        state.live_text.add(turn, voice, words, after);
        self.said.send_replace(());
    }

    fn send(&self, slot: CommitFrames) {
        if let Some(publisher) = &self.publisher {
            publisher.publish(&slot);
        }
        if let Some(slots) = self.slots.get() {
            let _nobody_watches = slots.send(slot);
        }
    }
}

impl State {
    /// Adds words to the answer of a conversation's model; returns their position in it.
    fn answer(&mut self, turn: &Id, voice: &Arc<LiveSource>, words: &str, at: Millis) -> usize {
        if let Some(answer) = self.answers.get_mut(turn) {
            let offset = answer.said.len();
            answer.said.push_str(words);
            answer.at = at;
            return offset;
        }
        self.answers.insert(turn.clone(), Answer { voice: voice.clone(), said: words.to_owned(), at });
        0
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
