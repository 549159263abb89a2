//! The session of one client: its frames are answered in order, events are sent as
//! they happen. Only this task decides what the client is sent; another one writes it.
//! While a frame is being answered nothing else is sent, so a response comes before
//! the events that it causes.

mod permissions;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use consort_log::{self as log, Seq};
use consort_runtime::engine::Engine;
use consort_runtime::feed::{Behind, Feed, News};
use consort_runtime::ring::{CommitFrames, Frame};
use futures::future::BoxFuture;
use futures::stream::{AbortHandle, BoxStream, SelectAll, SplitStream, abortable};
use futures::{FutureExt, StreamExt};
use serde_json::Value;
use tokio::sync::broadcast;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_tungstenite::tungstenite;

use crate::Site;
use crate::access::Pass;
use crate::ws::answer::{Answer, Failure};
use crate::ws::feed_positions::{FeedPosition, FeedPositions, Meaning};
use crate::ws::followed_threads::{FollowedThreads, ThreadFrame};
use crate::ws::frames::{Acked, ClientFrame};
use crate::ws::hello::Hello;
use crate::ws::link::{self, Link};
use crate::ws::outbox::{BEHIND, Item, Outbox, addressed, reason};
use crate::ws::pace::{self, Pace};
use crate::ws::subscription::Subscription;
use crate::ws::{Notice, POLICY};
use consort_inbound::problem::{Code, Problem};
use consort_inbound::refusals::Source;

/// The interval between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Heartbeats a client may leave unanswered before it counts as gone.
const SILENT_MAX: u32 = 3;
/// Runs in which one client may have a gap at once: it follows them in the log, and
/// each keeps a run in memory.
const GAPS_MAX: usize = 32;
const GOING_AWAY: u16 = 1001;
/// The server stops: another one, or the next, takes the client.
const RESTARTING: u16 = 1012;
const NOT_TEXT: u16 = 1007;
const TOO_LARGE: u16 = 1009;

type Tail = BoxStream<'static, (Arc<str>, Result<Frame, log::Error>)>;

/// The state of a connected client.
pub(super) struct Session {
    pub(super) site: Arc<Site>,
    pub(super) pass: Pass,
    /// The runs that it sees.
    pub(super) runs: Engine,
    /// The origin of the socket; its connection counts as long as it is open.
    pub(super) source: Source,
    /// True once the client has sent a key, when it opened the socket or in a frame.
    pub(super) is_known: bool,
    pub(super) subscription: Subscription,
    /// The link that makes it a peer, or lets it request work as one.
    pub(super) link: Option<Link>,
    /// Runs whose result is addressed to it, until they end: as many as admission lets in.
    pub(super) submitted: HashSet<Arc<str>>,
    /// The acknowledgement of the current frame, for the audit log.
    pub(super) acked: Option<Acked>,
    places: FeedPositions,
    feed: Feed,
    /// The reviews of work for peers, and the part of them that `hello` held.
    questions: Feed,
    asked: HashMap<Arc<str>, Seq>,
    /// The questions for permission in chats, when it lists their types.
    permissions: Option<Feed>,
    /// Notices that concern no single run.
    notices: broadcast::Receiver<Notice>,
    /// Runs it follows in the log.
    tails: SelectAll<Tail>,
    /// Threads it follows.
    pub(super) threads: FollowedThreads,
    outbox: Outbox,
    beat: Interval,
    /// Heartbeats since its last sign of life.
    silent: u32,
    pace: Pace,
    /// Resolves when the key it sent is not valid any more.
    revoked: BoxFuture<'static, ()>,
    /// Held as long as the client is counted.
    _counted: Arc<()>,
}

/// Whether more can be read from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hearing {
    Good,
    Lost,
}

enum Wake {
    Said(Option<Result<Message, axum::Error>>),
    News(Result<News, Behind>),
    Question(Result<News, Behind>),
    Permission(Result<News, Behind>),
    Notice(Option<Notice>),
    Tail(Option<(Arc<str>, Result<Frame, log::Error>)>),
    Thread(Option<ThreadFrame>),
    Link(Option<String>),
    Eased,
    Beat,
    Revoked,
    Stop,
}

impl Session {
    /// Opens a session with `hello`. The feed is opened first, so that no event falls
    /// between the two.
    pub(super) async fn open(
        site: Arc<Site>,
        (pass, source): (Pass, Source),
        outbox: Outbox,
    ) -> Result<Box<Session>, Problem> {
        let runs = site.runs(&pass);
        let feed = runs.watch();
        let notices = site.notices.subscribe();
        let questions = runs.questions();
        let subscription = if pass.is_peer() { Subscription::nothing() } else { Subscription::default() };
        let Hello { text, places, asked } = match pass.is_peer() {
            true => Hello::to_a_peer(&site),
            false => Hello::now(&site, &runs).await?,
        };
        outbox.push(vec![Item { text, position: None }]);
        let now = Instant::now();
        let mut beat = interval_at(now + HEARTBEAT, HEARTBEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Box::new(Session {
            _counted: site.streams.clone(),
            revoked: site.revoked(pass.clone()).boxed(),
            is_known: pass.has_key(),
            site,
            pass,
            runs,
            source,
            subscription,
            link: None,
            submitted: HashSet::new(),
            acked: None,
            places,
            feed,
            questions,
            asked,
            permissions: None,
            notices,
            tails: SelectAll::new(),
            threads: FollowedThreads::default(),
            outbox,
            beat,
            silent: 0,
            pace: Pace::new(now),
        }))
    }

    /// Answers frames and sends events until either side closes.
    pub(super) async fn run(&mut self, stream: &mut SplitStream<WebSocket>) -> Hearing {
        let mut hearing = Hearing::Good;
        let closed = self.site.closed();
        tokio::pin!(closed);
        while self.outbox.is_open() {
            let wake = tokio::select! {
                wake = self.wake(stream) => wake,
                () = &mut closed => Wake::Stop,
            };
            match wake {
                Wake::Said(None | Some(Ok(Message::Close(_)))) => break,
                Wake::Said(Some(Ok(said))) => self.hear(said).await,
                Wake::Said(Some(Err(error))) => {
                    hearing = Hearing::Lost;
                    self.unreadable(error);
                }
                Wake::News(news) => self.show_news(news).await,
                Wake::Question(news) => self.show_question(news),
                Wake::Permission(news) => Box::pin(self.show_permission(news)).await,
                Wake::Notice(notice) => self.show_notice(notice),
                Wake::Tail(frame) => self.show_stored(frame),
                Wake::Thread(frame) => self.show_in_thread(frame),
                Wake::Link(Some(text)) => self.outbox.push(vec![Item { text: text.into(), position: None }]),
                Wake::Link(None) => self.outbox.close(GOING_AWAY, "the link is over"),
                Wake::Eased => {}
                Wake::Beat => self.beat(),
                Wake::Revoked => self.outbox.close(POLICY, "the key is not valid any more"),
                Wake::Stop => self.outbox.close(RESTARTING, "the server is stopping"),
            }
        }
        hearing
    }

    async fn wake(&mut self, stream: &mut SplitStream<WebSocket>) -> Wake {
        // Stored frames wait for the client, live ones do not.
        let follows = !self.tails.is_empty();
        let in_threads = !self.threads.is_empty();
        let calm = self.outbox.is_calm();
        // Peers have limits of their own on how much they may request.
        let held = if self.link.is_none() { self.pace.held_until(Instant::now()) } else { None };
        tokio::select! {
            said = stream.next(), if held.is_none() => Wake::Said(said),
            () = pace::over(held) => Wake::Eased,
            news = self.feed.next() => Wake::News(news),
            news = self.questions.next() => Wake::Question(news),
            news = permissions::next(&mut self.permissions) => Wake::Permission(news),
            notice = self.notices.recv() => Wake::Notice(notice.ok()),
            frame = self.tails.next(), if follows && calm => Wake::Tail(frame),
            text = link::told(&mut self.link) => Wake::Link(text),
            frame = self.threads.next(), if in_threads && calm => Wake::Thread(frame),
            () = self.outbox.eased(), if (follows || in_threads) && !calm => Wake::Eased,
            _tick = self.beat.tick() => Wake::Beat,
            () = &mut self.revoked => Wake::Revoked,
        }
    }

    async fn hear(&mut self, said: Message) {
        self.silent = 0;
        self.pace.count(Instant::now());
        match said {
            Message::Text(text) => self.answer_to(&text).await,
            Message::Binary(_) => {
                let problem = Problem::bad_request("send text frames: one JSON object each");
                self.tell(&Answer::Error(Failure::of(&problem, &Value::Null)));
            }
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => {}
        }
    }

    async fn answer_to(&mut self, text: &str) {
        if text.len() > self.site.server.sockets.max_frame_bytes {
            return self.too_large();
        }
        let _hold = match self.site.memory.values(text.as_bytes()).await {
            Ok(hold) => hold,
            Err(problem) => return self.tell(&Answer::Error(Failure::of(&problem, &Value::Null))),
        };
        if let Err(error) = ClientFrame::read(text).act(self).await {
            self.tell(&Answer::Error(error));
        }
    }

    /// Ends the connection, because a frame was too large.
    fn too_large(&self) {
        let most = self.site.server.sockets.max_frame_bytes;
        self.end(Code::PayloadTooLarge, TOO_LARGE, &format!("a frame has at most {most} bytes"));
    }

    fn unreadable(&self, error: axum::Error) {
        let inner = error.into_inner();
        match inner.downcast_ref::<tungstenite::Error>() {
            Some(tungstenite::Error::Capacity(_)) => self.too_large(),
            Some(tungstenite::Error::Utf8(_)) => self.outbox.close(NOT_TEXT, "the frame is not UTF-8"),
            _ => self.outbox.close(POLICY, "the frame cannot be read"),
        }
    }

    /// Ends the connection of a client that missed frames: it starts again from the log.
    fn fall_behind(&self) {
        self.outbox.close(BEHIND, &reason(&self.places.positions()));
    }

    /// Sends an error and closes the connection.
    fn end(&self, code: Code, close: u16, message: &str) {
        self.tell(&Answer::Error(Failure::new(code, message.to_owned())));
        self.outbox.close(close, message);
    }

    /// Sends a frame to this client, independent of its subscription.
    pub(super) fn tell(&self, answer: &Answer) {
        self.outbox.push(addressed(answer));
    }

    /// Sends the result of a change, and notes it for the audit record.
    pub(super) fn acknowledge(&mut self, answer: &Answer, acked: Acked) {
        self.tell(answer);
        self.acked = Some(acked);
    }

    /// Sends the events that have happened up to now.
    pub(super) async fn catch_up(&mut self) {
        while let Ok(notice) = self.notices.try_recv() {
            self.show_notice(Some(notice));
        }
        loop {
            match self.feed.waiting() {
                Ok(Some(news)) => self.show_news(Ok(news)).await,
                Ok(None) => break,
                Err(behind) => return self.show_news(Err(behind)).await,
            }
        }
        while let Some(Some(frame)) = self.tails.next().now_or_never() {
            self.show_stored(Some(frame));
        }
    }

    /// Changes the subscription of the client; runs that it already follows and still
    /// wants go on.
    pub(super) fn subscribe(&mut self, subscription: Subscription) {
        self.subscription = subscription;
        self.hear_permissions();
        let subscription = &self.subscription;
        let submitted = &self.submitted;
        self.places.leave_log(|run| !subscription.concerns(run) && !submitted.contains(run));
    }

    /// Follows a run in the log from an event on, and then live.
    pub(super) async fn follow(&mut self, run: &str, from: Seq) -> Result<(), Problem> {
        let frames = self.runs.tail(run, from).await?;
        let run: Arc<str> = run.into();
        let (frames, tail): (_, AbortHandle) = abortable(frames);
        self.places.set(run.clone(), FeedPosition::Log(tail, from));
        self.tails.push(frames.map(move |frame| (run.clone(), frame)).boxed());
        Ok(())
    }

    async fn show_news(&mut self, news: Result<News, Behind>) {
        let Ok(news) = news else { return self.fall_behind() };
        match self.places.take(&news) {
            Meaning::Frames(frames) => self.show(&news.run, &frames),
            Meaning::Gap(_, _) if !self.concerns(&news.run) => self.places.set(news.run, FeedPosition::Feed(None)),
            Meaning::Gap(_, _) if self.places.in_log() >= GAPS_MAX => self.fall_behind(),
            Meaning::Gap(frames, from) => {
                self.show(&news.run, &frames);
                // In a box, as every rare wait: a session is as large as the largest of them.
                if let Err(problem) = Box::pin(self.follow(&news.run, from)).await {
                    tracing::warn!(run = %news.run, problem = problem.message(), "cannot follow a run");
                    self.fall_behind();
                }
            }
        }
        if self.feed.is_empty() {
            self.places.forget_ended();
        }
    }

    /// Sends the reviews of work for peers, unless `hello` held them.
    fn show_question(&mut self, news: Result<News, Behind>) {
        let Ok(News { run, slot: CommitFrames::Frames(frames), .. }) = news else { return self.fall_behind() };
        let told = self.asked.get(&run).copied().unwrap_or(0);
        let is_new = |frame: &&Frame| !matches!(frame, Frame::Event { seq, .. } if *seq < told);
        let wanted = frames.iter().filter(is_new).filter(|frame| self.wants(&run, frame));
        let batch = wanted.map(|frame| Item { text: frame.text().clone(), position: None }).collect();
        self.outbox.push(batch);
    }

    fn show(&mut self, run: &Arc<str>, frames: &[Frame]) {
        let batch = frames.iter().filter(|frame| self.wants(run, frame)).map(|frame| item(run, frame)).collect();
        self.outbox.push(batch);
        if frames.iter().any(|frame| matches!(frame, Frame::Result { .. })) {
            self.submitted.remove(run);
        }
    }

    /// Returns whether any frame of a run may be for this client.
    fn concerns(&self, run: &Arc<str>) -> bool {
        self.subscription.concerns(run) || self.submitted.contains(run)
    }

    fn wants(&self, run: &Arc<str>, frame: &Frame) -> bool {
        match frame {
            Frame::Result { .. } => self.submitted.contains(run) || self.subscription.admits_result(run),
            Frame::Event { .. } | Frame::Delta { .. } => self.subscription.admits(frame.kind(), Some(run)),
        }
    }

    fn show_stored(&mut self, frame: Option<(Arc<str>, Result<Frame, log::Error>)>) {
        let Some((run, frame)) = frame else { return };
        match frame {
            Ok(frame) => {
                self.show(&run, std::slice::from_ref(&frame));
                match frame {
                    Frame::Event { seq, .. } => self.places.read_to(&run, seq + 1),
                    Frame::Delta { .. } => {}
                    Frame::Result { .. } => self.places.set(run, FeedPosition::Over),
                }
            }
            Err(error) => {
                self.tell(&Answer::Error(Failure::storage(&error).in_run(&run)));
                self.places.set(run, FeedPosition::Over);
            }
        }
    }

    /// Sends a frame of a thread, which only its participants get.
    fn show_in_thread(&mut self, frame: Option<ThreadFrame>) {
        match frame {
            Some((_, Some(Ok(frame)))) => self.outbox.push(vec![Item { text: frame.text, position: None }]),
            Some((thread, Some(Err(error)))) => {
                self.tell(&Answer::Error(Failure::storage(&error).in_thread(&thread)));
            }
            Some((_, None)) | None => {}
        }
    }

    /// Sends a notice. Notices are rare: a client that misses one is far behind in everything.
    fn show_notice(&mut self, notice: Option<Notice>) {
        match notice {
            Some(Notice { kind, owner, text })
                if self.pass.sight.covers(&owner) && self.subscription.admits(kind, None) =>
            {
                self.outbox.push(vec![Item { text, position: None }]);
            }
            Some(_) => {}
            None => self.fall_behind(),
        }
    }

    fn beat(&mut self) {
        self.silent += 1;
        if self.silent > SILENT_MAX {
            return self.outbox.close(GOING_AWAY, "no sign of life");
        }
        self.outbox.ping();
        if self.subscription.admits("heartbeat", None) {
            let server_time_ms = self.site.engine().seams().clock.now();
            self.tell(&Answer::Heartbeat { server_time_ms });
        }
    }
}

fn item(run: &Arc<str>, frame: &Frame) -> Item {
    let position = match frame {
        Frame::Event { seq, .. } => Some((run.clone(), *seq)),
        Frame::Delta { after, .. } => Some((run.clone(), after + 1)),
        Frame::Result { .. } => None,
    };
    Item { text: frame.text().clone(), position }
}
