//! The runs of a server on the whole terminal. `board` is the state and the effect of
//! each key on it, `item` its rows, `confirm` a decision that needs the same key again,
//! `page` its lines, `full_screen` the terminal, `feed` the news of the server; this file
//! waits for all of them.

mod board;
mod confirm;
mod feed;
mod full_screen;
mod item;
mod page;
mod snapshot;

use std::io;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use jiff::Timestamp;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, MissedTickBehavior, interval};

use self::board::{Board, Effect, FeedState};
use self::feed::Feed;
use self::full_screen::FullScreen;
pub(crate) use self::snapshot::Snapshot;
use crate::client::{Call, Client, Failure};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::paint::Colour;
use crate::talk::keyboard::{Key, Keyboard};
use crate::terminal::Person;
use crate::watch::{Interrupts, edit, interrupts};

/// The interval between redraws when nothing happens, as durations are shown in seconds.
const TICK: Duration = Duration::from_millis(500);
/// The shortest time between two questions for the lists, however much happens.
const FRESH: Duration = Duration::from_millis(400);
/// The time after which lists are asked for again although there was no news: places in a queue, and what other nodes
/// ask people, are not told.
const STALE: Duration = Duration::from_secs(10);
/// The same, while there is no connection that brings news.
const UNANNOUNCED: Duration = Duration::from_secs(1);

/// The time from which on a terminal was held (Ctrl-S) rather than slow.
const STOOD_STILL: Duration = Duration::from_millis(500);

/// Shows the runs of a server until the person leaves.
pub(crate) async fn show(client: &Client, person: &Person, colour: Colour, output: Output<'_>) -> anyhow::Result<Exit> {
    // A server that cannot be asked is told as everywhere else.
    let first = Snapshot::take(client).await?;
    let mut board = Board::new(client.url(), person.editor.as_deref());
    board.apply(first, now());
    // Before the terminal is changed, so that it is always restored.
    let around = TerminalEvents::new(client)?;
    let screen = FullScreen::open(colour, output.out)?;
    let keyboard = Keyboard::open()?;
    Top { client, editor: person.editor.as_deref(), board, screen, keyboard, around }.follow().await
}

/// The surroundings that are listened to.
struct TerminalEvents {
    feed: Feed,
    interrupts: Interrupts,
    resized: Signal,
    told_to_end: [Signal; 2],
}

impl TerminalEvents {
    fn new(client: &Client) -> io::Result<TerminalEvents> {
        let told_to_end = [signal(SignalKind::terminate())?, signal(SignalKind::hangup())?];
        let resized = signal(SignalKind::window_change())?;
        Ok(TerminalEvents { feed: Feed::open(client.clone()), interrupts: interrupts(), resized, told_to_end })
    }

    /// Returns when the process is asked to end.
    async fn end(told: &mut [Signal; 2]) {
        let [term, hangup] = told;
        tokio::select! {
            _told = term.recv() => {}
            _told = hangup.recv() => {}
        }
    }
}

/// Everything at work.
struct Top<'a> {
    client: &'a Client,
    editor: Option<&'a str>,
    board: Board,
    screen: FullScreen<'a>,
    keyboard: Keyboard,
    around: TerminalEvents,
}

/// An event that is waited for.
enum Wake {
    Key(Option<Key>),
    Lists(Result<Snapshot, Failure>),
    Answer(Result<String, Failure>),
    News,
    Leave,
    Redraw,
}

impl Top<'_> {
    async fn follow(mut self) -> anyhow::Result<Exit> {
        let client = self.client;
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut asking: Option<BoxFuture<'_, Result<Snapshot, Failure>>> = None;
        let mut sending: Option<BoxFuture<'_, Result<String, Failure>>> = None;
        let mut asked = Instant::now();
        let mut changed = false;
        // For the shell, or for nobody: nothing was drawn yet.
        self.keyboard.discard()?;
        loop {
            let elapsed = asked.elapsed();
            if asking.is_none() && (elapsed > self.patience() || (changed && elapsed > FRESH)) {
                (asked, changed) = (Instant::now(), false);
                asking = Some(Snapshot::take(client).boxed());
            }
            self.board.set_feed_state(self.around.feed.feed_state());
            self.draw()?;
            let wake = tokio::select! {
                key = self.keyboard.key() => Wake::Key(key),
                lists = arrived(&mut asking) => Wake::Lists(lists),
                answer = arrived(&mut sending) => Wake::Answer(answer),
                () = self.around.feed.news() => Wake::News,
                Some(()) = self.around.interrupts.next() => Wake::Leave,
                () = TerminalEvents::end(&mut self.around.told_to_end) => Wake::Leave,
                _size = self.around.resized.recv() => Wake::Redraw,
                () = reached(self.board.next_change()) => Wake::Redraw,
                _ = tick.tick() => Wake::Redraw,
            };
            match wake {
                Wake::Key(None) | Wake::Leave => return Ok(Exit::Interrupted),
                Wake::Key(Some(key)) => match self.board.press(key, self.keyboard.read_at()) {
                    Effect::Nothing => {}
                    Effect::Leave => return Ok(Exit::Done),
                    Effect::Send(call) => sending = Some(send(client, call).boxed()),
                    Effect::Edit { review, text } => {
                        sending = self.edit(&review, &text)?.map(|call| send(client, call).boxed());
                    }
                },
                Wake::Lists(Ok(lists)) => self.board.apply(lists, now()),
                Wake::Lists(Err(failure)) => self.board.lost(&failure.to_string()),
                Wake::Answer(answer) => {
                    self.board.answered(answer.err().map(|failure| failure.to_string()));
                    changed = true;
                }
                Wake::News => changed = true,
                Wake::Redraw => {}
            }
        }
    }

    /// Draws the screen. What was typed before a question is drawn does not answer it.
    fn draw(&mut self) -> io::Result<()> {
        let begun = Instant::now();
        self.board.pass(begun.into_std());
        let is_asked = self.board.has_undrawn_question();
        if is_asked {
            self.keyboard.discard()?;
        }
        self.screen.draw(&self.board, now())?;
        if begun.elapsed() < STOOD_STILL {
            self.board.drawn(begun.into_std());
            return Ok(());
        }
        // The terminal stood still: what was typed meanwhile was typed without seeing this.
        if is_asked {
            self.keyboard.discard()?;
        }
        self.board.drawn(Instant::now().into_std());
        Ok(())
    }

    /// Returns the time after which the lists are asked for without news.
    fn patience(&self) -> Duration {
        match self.around.feed.feed_state() {
            FeedState::Live => STALE,
            FeedState::Polling | FeedState::Lost => UNANNOUNCED,
        }
    }

    /// Lets the person change a text in their editor, which has the terminal meanwhile; returns the request that
    /// sends it.
    fn edit(&mut self, review: &str, text: &str) -> anyhow::Result<Option<Call>> {
        let Some(editor) = self.editor else { return Ok(None) };
        // No key is being read at this moment: the last one that was read has brought us here.
        self.keyboard.lend()?;
        self.screen.leave()?;
        let edited = edit(editor, text);
        self.screen.enter()?;
        self.keyboard.take_back()?;
        // Ctrl-C was meant for the editor.
        while self.around.interrupts.next().now_or_never().flatten().is_some() {}
        match edited {
            Ok(text) => Ok(Some(self.board.edited(review, text.trim_end()))),
            Err(error) => {
                self.board.answered(Some(error.to_string()));
                Ok(None)
            }
        }
    }
}

async fn send(client: &Client, call: Call) -> Result<String, Failure> {
    client.send(&call).await
}

/// Returns the result of a future, once there is one.
async fn arrived<T>(future: &mut Option<BoxFuture<'_, T>>) -> T {
    match future {
        Some(some) => {
            let result = some.await;
            *future = None;
            result
        }
        None => std::future::pending().await,
    }
}

/// Returns at this moment, if there is one.
async fn reached(moment: Option<std::time::Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

/// Returns the time in milliseconds since 1970.
fn now() -> u64 {
    u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default()
}
