//! A chat in a terminal, in this process or on a server (`host`). `turn`
//! watches one turn, whose frames `turn_view` folds and `screen` shows, with `calls`
//! and `usage`; `keyboard`, `editor`, `complete`, `completion`, `history`, `prompt`
//! and `input` handle the user's input.

mod calls;
mod complete;
mod completion;
pub(crate) mod editor;
pub(crate) mod files;
pub(crate) mod history;
pub(crate) mod host;
mod input;
pub(crate) mod keyboard;
mod prompt;
mod screen;
#[cfg(test)]
mod tests;
mod turn;
pub(crate) mod turn_view;
mod usage;

use consort_core::chat::Mode;
use futures::StreamExt;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::pin::pin;

use self::editor::{Editor, Typed};
use self::history::History;
use self::host::{Begun, ChatHost, TurnStart};
use self::input::{Command, Entry, Memory};
use self::keyboard::Keyboard;
use self::screen::Screen;
use self::turn::{STOPPING, Stop, TurnOutcome, key};
use self::turn_view::End;
use self::usage::UsageTotals;
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::Record;
use crate::show::screen::Look;
use crate::show::table::{Column, Table};
use crate::show::words::grouped;
use crate::watch::{Interrupts, interrupts};

const PROMPT: &str = "› ";
/// The hint after Ctrl-C at the prompt.
const STAYS: &str = "Ctrl-C again leaves, as Ctrl-D on an empty line does; Esc clears what was typed";

/// The text for a chat without grants.
const NO_GRANTS: &str = "nothing was allowed in this chat";

const UNSTORED: &str = "the turn stopped, because it could not be stored";

/// The settings of a chat before it begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topic {
    /// The thread to continue.
    pub(crate) thread: Option<String>,
    /// The model to use.
    pub(crate) model: Option<String>,
    /// The mode of permission; as configured when absent.
    pub(crate) mode: Option<Mode>,
    /// The messages of earlier chats.
    pub(crate) history: History,
}

/// Whether a person types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typist {
    /// A person at the terminal.
    Person,
    /// No one: the input is not a terminal.
    Nobody,
}

/// A chat.
pub(crate) struct Talk<'a> {
    place: ChatHost,
    screen: Screen<'a>,
    keyboard: Option<Keyboard>,
    interrupts: Interrupts,
    topic: Topic,
    mode: Option<Mode>,
    memory: Memory,
    usage: UsageTotals,
}

/// The result of waiting for a line.
enum Line {
    /// A line was typed.
    Typed(String),
    /// The user has left.
    Left(Exit),
}

/// The key that was pressed last at the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pressed {
    CtrlC,
    Something,
}

impl<'a> Talk<'a> {
    /// Begins a chat; the thread to continue must exist.
    pub(crate) async fn begin(
        place: ChatHost,
        mut topic: Topic,
        (look, typist): (Look, Typist),
        output: Output<'a>,
    ) -> anyhow::Result<Talk<'a>> {
        if let Some(thread) = &mut topic.thread {
            *thread = place.whole_id(thread).await?;
            place.open(thread).await?;
        }
        let interrupts = interrupts();
        let mut screen = Screen::new(look, output);
        let keyboard = match typist {
            Typist::Person => {
                screen.mark_pastes()?;
                Some(Keyboard::open()?)
            }
            Typist::Nobody => None,
        };
        let memory = Memory::default();
        let usage = UsageTotals::default();
        let mode = topic.mode;
        Ok(Talk { place, screen, keyboard, interrupts, topic, mode, memory, usage })
    }

    /// Returns the thread, once a message was sent.
    pub(crate) fn thread(&self) -> Option<&str> {
        self.topic.thread.as_deref()
    }

    /// Runs one turn.
    pub(crate) async fn once(&mut self, content: &str, files: Vec<PathBuf>) -> anyhow::Result<Exit> {
        match self.say(TurnStart::Words(self.message(content), files)).await {
            Ok(TurnOutcome::Ended(End::Done)) => Ok(Exit::Done),
            Ok(TurnOutcome::Ended(End::Failed | End::Stopped)) => Ok(Exit::Failed),
            Ok(TurnOutcome::Abandoned) => anyhow::bail!(UNSTORED),
            Ok(TurnOutcome::StoppedHere | TurnOutcome::Left) => Ok(Exit::Interrupted),
            Err(error) if host::exit(&error) == Exit::Usage => {
                self.screen.say(&format!("{error:#}"))?;
                Ok(Exit::Usage)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs turns until the user leaves.
    pub(crate) async fn on(&mut self) -> anyhow::Result<Exit> {
        let mut editor = Editor::after_messages(self.topic.history.load());
        self.screen.whisper("Say something. /help lists what else can be typed; Ctrl-D leaves.")?;
        loop {
            let line = match self.line(&mut editor).await? {
                Line::Typed(line) => line,
                Line::Left(exit) => return Ok(exit),
            };
            let told = match input::read(&line) {
                Entry::Exit => return Ok(Exit::Done),
                entry @ (Entry::Say(_) | Entry::Continue) => match self.entered(&entry).await {
                    Ok(TurnOutcome::Left) => return Ok(Exit::Interrupted),
                    Ok(TurnOutcome::Abandoned) => anyhow::bail!(UNSTORED),
                    // An empty line separates turns.
                    Ok(TurnOutcome::Ended(_) | TurnOutcome::StoppedHere) => Ok("\n".to_owned()),
                    Err(error) => Err(error),
                },
                Entry::Do(command) => self.obey(command).await,
                Entry::Wrong(reason) => Ok(reason),
                Entry::Nothing => Ok(String::new()),
            };
            match told {
                Ok(words) if words.is_empty() => {}
                Ok(words) => self.screen.say(words.trim_end())?,
                Err(error) => self.screen.say(&format!("{error:#}"))?,
            }
        }
    }

    /// Reads the next message. Ctrl-C keeps the typed text; twice in a row it leaves.
    async fn line(&mut self, editor: &mut Editor) -> anyhow::Result<Line> {
        let mut pressed = Pressed::Something;
        self.screen.make_room()?;
        loop {
            self.screen.prompt(PROMPT, editor)?;
            let typed = tokio::select! {
                key = key(&mut self.keyboard) => {
                    pressed = Pressed::Something;
                    key.map_or(Typed::Left, |key| editor.press(key))
                }
                Some(()) = self.interrupts.next() => {
                    self.screen.entered()?;
                    if pressed == Pressed::CtrlC {
                        return Ok(Line::Left(Exit::Interrupted));
                    }
                    pressed = Pressed::CtrlC;
                    self.screen.whisper(STAYS)?;
                    Typed::More
                }
            };
            match typed {
                Typed::More => {}
                Typed::Complete => self.complete(editor).await?,
                Typed::Full => {
                    self.screen.entered()?;
                    let most = grouped(Editor::MAX as u64);
                    self.screen.whisper(&format!("a message has at most {most} characters; the rest was left out"))?;
                }
                Typed::Left => {
                    self.screen.entered()?;
                    return Ok(Line::Left(Exit::Done));
                }
                Typed::Message(message) => {
                    self.screen.entered()?;
                    if editor.remember(&message) {
                        self.keep(&message)?;
                    }
                    return Ok(Line::Typed(message));
                }
            }
        }
    }

    /// Adds a message to the history; if that fails, it says so once.
    fn keep(&mut self, message: &str) -> anyhow::Result<()> {
        if let Err(error) = self.topic.history.add(message) {
            self.topic.history = History::default();
            self.screen.whisper(&format!("messages are not kept for other sessions: {error}"))?;
        }
        Ok(())
    }

    async fn entered(&mut self, entry: &Entry) -> anyhow::Result<TurnOutcome> {
        let start = match entry {
            Entry::Say(content) => {
                TurnStart::Words(self.message(content), files::named(content).map_err(anyhow::Error::msg)?)
            }
            Entry::Continue | Entry::Do(_) | Entry::Exit | Entry::Nothing | Entry::Wrong(_) => TurnStart::Rest,
        };
        self.say(start).await
    }

    async fn say(&mut self, start: TurnStart) -> anyhow::Result<TurnOutcome> {
        let Some((thread, begun, stop)) = self.begun(start).await? else { return Ok(TurnOutcome::Left) };
        self.topic.thread = Some(thread.clone());
        self.watch(&thread, begun, stop).await
    }

    /// Begins a turn, which may have to stop already; `None` when the user has left.
    async fn begun(&mut self, start: TurnStart) -> anyhow::Result<Option<(String, Begun, Stop)>> {
        let mut begin = pin!(begin(&self.place, self.topic.thread.clone(), start));
        let mut stop = Stop::No;
        loop {
            tokio::select! {
                begun = &mut begin => return begun.map(|(thread, begun)| Some((thread, begun, stop))),
                Some(()) = self.interrupts.next() => {
                    if stop == Stop::Wanted {
                        self.screen.say("left before there was an answer; the message may have been taken all the same")?;
                        return Ok(None);
                    }
                    // It is stopped once its id is known.
                    self.screen.whisper(STOPPING)?;
                    stop = Stop::Wanted;
                }
            }
        }
    }

    fn message(&self, content: &str) -> Value {
        let model = self.topic.model.as_ref().map(|model| ("model", model.as_str()));
        let mode = self.mode.map(|mode| ("permission_mode", mode.word()));
        let fields = [("content", content)].into_iter().chain(model).chain(mode);
        let mut fields: Map<String, Value> = fields.map(|(name, value)| (name.to_owned(), value.into())).collect();
        if self.memory == Memory::On {
            fields.insert("memory_enabled".to_owned(), true.into());
        }
        Value::Object(fields)
    }

    /// Executes a command; returns the text to print.
    async fn obey(&mut self, command: Command) -> anyhow::Result<String> {
        match command {
            Command::Help => Ok(input::HELP.to_owned()),
            Command::New => {
                self.topic.thread = None;
                Ok("a new chat".to_owned())
            }
            Command::Threads => Ok(threads(&self.place.threads().await?, self.thread(), self.screen.columns())),
            Command::Thread(id) => {
                let id = self.place.whole_id(&id).await?;
                let title = self.place.open(&id).await?;
                self.topic.thread = Some(id);
                Ok(format!("going on with \"{title}\""))
            }
            Command::Models => Ok(models(&self.place.choices().await?)),
            Command::Model(name) => self.choose(name).await,
            Command::Tools => Ok(tools(&self.place.choices().await?, self.screen.columns())),
            Command::Grants => self.grants().await,
            Command::Revoke(grant) => self.revoke(&grant).await,
            Command::ShowMode => Ok(format!("mode: {}", self.mode.map_or("as configured", Mode::word))),
            Command::Mode(mode) => {
                self.mode = Some(mode);
                Ok(format!("mode: {}, as far as the configuration allows it", mode.word()))
            }
            Command::ShowMemory => Ok(format!("memory: {}", self.memory.word())),
            Command::Memory(memory) => {
                self.memory = memory;
                Ok(format!("memory: {}", memory.word()))
            }
            Command::Cost => Ok(self.usage.words()),
        }
    }

    /// Lists what was allowed in this chat.
    async fn grants(&self) -> anyhow::Result<String> {
        let Some(thread) = self.thread() else { return Ok(NO_GRANTS.to_owned()) };
        let answer = self.place.grants(thread).await?;
        let mut table = Table::new(&[
            ("GRANT", Column::Name),
            ("TOOL", Column::Name),
            ("TO", Column::Name),
            ("SINCE", Column::Text),
        ]);
        let mut listed = Record(&answer).list("grants").peekable();
        if listed.peek().is_none() {
            return Ok(NO_GRANTS.to_owned());
        }
        listed.for_each(|grant| {
            let [id, tool, host, since] = ["id", "tool", "host", "grantedAt"].map(|field| grant.line(field));
            // What it covered is not there any more.
            let since = if grant.has("lapsed") { format!("{since} (lapsed: the tool has changed)") } else { since };
            table.row([id, tool, host, since]);
        });
        Ok(table.text(None))
    }

    async fn revoke(&self, grant: &str) -> anyhow::Result<String> {
        let Some(thread) = self.thread() else { return Ok(NO_GRANTS.to_owned()) };
        self.place.revoke(thread, grant).await?;
        Ok("it is asked about again".to_owned())
    }

    async fn choose(&mut self, name: String) -> anyhow::Result<String> {
        let choices = self.place.choices().await?;
        if Record(&choices).list("models").any(|model| model.text("alias") == name) {
            self.topic.model = Some(name.clone());
            return Ok(format!("{name} is asked from now on"));
        }
        Ok(format!("there is no model `{name}`:\n{}", models(&choices)))
    }
}

/// Sends a message to a thread, to a new one if there is none.
async fn begin(place: &ChatHost, thread: Option<String>, start: TurnStart) -> anyhow::Result<(String, Begun)> {
    match (thread, start) {
        (Some(thread), start) => {
            let begun = place.say(&thread, start).await?;
            Ok((thread, begun))
        }
        (None, TurnStart::Words(message, files)) => place.begin(message, &files).await,
        (None, TurnStart::Rest) => anyhow::bail!("nothing was said yet: there is nothing to continue"),
    }
}

fn threads(answer: &Value, current: Option<&str>, columns: usize) -> String {
    let mut table = Table::new(&[("THREAD", Column::Id), ("", Column::Name), ("TITLE", Column::Text)]);
    for thread in Record(answer).list("threads") {
        let mark = if current == Some(thread.text("id")) { "this one" } else { "" };
        table.row([thread.line("id"), mark.to_owned(), thread.line("title")]);
    }
    table.text(Some(columns))
}

fn models(answer: &Value) -> String {
    let mut table = Table::new(&[("MODEL", Column::Name), ("PROVIDER", Column::Text)]);
    Record(answer).list("models").for_each(|model| table.row([model.line("alias"), model.line("provider")]));
    table.text(None)
}

fn tools(answer: &Value, columns: usize) -> String {
    let mut table = Table::new(&[("TOOL", Column::Name), ("DESCRIPTION", Column::Text)]);
    Record(answer).list("tools").for_each(|tool| table.row([tool.line("name"), tool.line("description")]));
    table.text(Some(columns))
}
