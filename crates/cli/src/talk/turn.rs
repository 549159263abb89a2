//! One turn, watched to its end: its frames are shown, its approvals are asked for
//! where a person can answer, and Esc or Ctrl-C stops it.

use std::time::Duration;

use consort_core::chat::Answer;
use futures::StreamExt;
use tokio::time::{MissedTickBehavior, interval};

use super::Talk;
use super::editor::{Editor, Typed};
use super::host::Begun;
use super::input::{self, Command, Entry};
use super::keyboard::{Key, Keyboard};
use super::turn_view::{Approval, End, TurnView};
use crate::client::events::StreamEvent;
use crate::show::safe::{exact, exact_json};

/// The interval between redraws when nothing happens.
const TICK: Duration = Duration::from_millis(100);
const CHOICES: &str = "[a]llow  allow for this [c]hat  [d]eny: ";

/// The result of watching a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnOutcome {
    /// The turn is over.
    Ended(End),
    /// The turn is over because it was stopped here.
    StoppedHere,
    /// The user left before the turn had stopped.
    Left,
    /// The turn ended early, because it could not be stored.
    Abandoned,
}

/// An event that watching a turn waits for.
enum Wake {
    Event(Option<anyhow::Result<StreamEvent>>),
    Interrupt,
    Key(Option<Key>),
    Tick,
    Abandoned,
}

/// The message when a turn is stopped.
pub(super) const STOPPING: &str = "stopping; Ctrl-C leaves at once";

/// Whether the turn was asked to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stop {
    /// It was not asked to stop.
    #[default]
    No,
    /// It is to be stopped once it has begun.
    Wanted,
    /// It was asked to stop.
    Asked,
    /// The user left without waiting for the stop.
    Left,
}

/// The state while one turn runs.
#[derive(Default)]
struct Watching {
    view: TurnView,
    stop: Stop,
    /// The question that is currently shown.
    question: Option<Approval>,
    /// Questions that were answered, or that cannot be answered here.
    settled: Vec<String>,
    line: Editor,
}

impl Talk<'_> {
    /// Watches a turn of a thread; one that is to be stopped already is stopped first.
    pub(super) async fn watch(&mut self, thread: &str, begun: Begun, stop: Stop) -> anyhow::Result<TurnOutcome> {
        let Begun { turn, mut events } = begun;
        let mut watching = Watching { stop, ..Watching::default() };
        if stop == Stop::Wanted {
            self.halt(thread, &mut watching).await?;
        }
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while watching.stop != Stop::Left {
            self.ask(&mut watching).await?;
            let wake = tokio::select! {
                event = events.next() => Wake::Event(event),
                Some(()) = self.interrupts.next() => Wake::Interrupt,
                key = attend(&mut self.keyboard, watching.question.as_ref()) => Wake::Key(key),
                _ = tick.tick() => Wake::Tick,
                () = self.place.abandoned(&turn) => Wake::Abandoned,
            };
            match wake {
                Wake::Event(None) => return self.over(watching),
                Wake::Event(Some(event)) => self.apply(event?, &mut watching)?,
                Wake::Interrupt if watching.stop != Stop::No => watching.stop = Stop::Left,
                Wake::Interrupt => self.stop(thread, &mut watching).await?,
                Wake::Key(key) => self.pressed(key, thread, &mut watching).await?,
                Wake::Tick if watching.question.is_none() => self.screen.draw(&watching.view)?,
                // An event meanwhile may have been printed in place of the prompt.
                Wake::Tick if !self.screen.is_prompting() => self.screen.prompt(CHOICES, &watching.line)?,
                Wake::Tick => {}
                Wake::Abandoned => return Ok(TurnOutcome::Abandoned),
            }
        }
        Ok(TurnOutcome::Left)
    }

    fn over(&mut self, watching: Watching) -> anyhow::Result<TurnOutcome> {
        self.screen.finish(&watching.view)?;
        if let Some(cost) = watching.view.cost {
            self.usage.add(cost);
        }
        if let (Some(wanted), Some(held)) = (self.mode, watching.view.mode.filter(|held| self.mode != Some(*held))) {
            self.mode = Some(held);
            self.screen.whisper(&format!("mode {} is not allowed here; it stays {}", wanted.word(), held.word()))?;
        }
        Ok(match watching.view.end {
            Some(End::Stopped) if watching.stop == Stop::Asked => TurnOutcome::StoppedHere,
            end => TurnOutcome::Ended(end.unwrap_or(End::Failed)),
        })
    }

    fn apply(&mut self, event: StreamEvent, watching: &mut Watching) -> anyhow::Result<()> {
        match event {
            StreamEvent::Frame(frame) => self.screen.apply(&frame, &mut watching.view)?,
            StreamEvent::Disconnected(reason) => {
                self.screen.say(&format!("the connection is lost ({reason}); trying again"))?
            }
            StreamEvent::Reconnected => self.screen.say("connected again")?,
        }
        Ok(())
    }

    async fn stop(&mut self, thread: &str, watching: &mut Watching) -> anyhow::Result<()> {
        if watching.stop != Stop::No {
            return Ok(());
        }
        if watching.question.take().is_some() {
            self.screen.entered()?;
        }
        self.screen.whisper(STOPPING)?;
        self.halt(thread, watching).await
    }

    async fn halt(&mut self, thread: &str, watching: &mut Watching) -> anyhow::Result<()> {
        tokio::select! {
            stopped = self.place.stop(thread) => match stopped {
                Ok(()) => watching.stop = Stop::Asked,
                // The stream of frames finds out whether the server is gone for good.
                Err(error) => {
                    self.screen.say(&format!("cannot stop it: {error:#}"))?;
                    watching.stop = Stop::No;
                }
            },
            Some(()) = self.interrupts.next() => watching.stop = Stop::Left,
        }
        Ok(())
    }

    /// Shows the next question, or removes one that was answered elsewhere.
    async fn ask(&mut self, watching: &mut Watching) -> anyhow::Result<()> {
        let open = |approval: &Approval| watching.view.approvals.contains(approval);
        if watching.question.as_ref().is_some_and(|question| !open(question)) {
            watching.question = None;
            self.screen.entered()?;
            self.screen.whisper("this question is over")?;
        }
        let waits = |approval: &&Approval| !watching.settled.contains(&approval.id);
        let next = watching.view.approvals.iter().find(waits).filter(|_| watching.question.is_none());
        let Some(approval) = next.filter(|_| watching.stop == Stop::No).cloned() else { return Ok(()) };
        self.screen.say(&opening(&approval))?;
        let Some(keyboard) = &mut self.keyboard else {
            watching.settled.push(approval.id.clone());
            return self.unasked(&approval).await;
        };
        // Keys typed before were not meant as an answer.
        keyboard.forget();
        if let Some(covered) = covered(&approval) {
            self.screen.whisper(&covered)?;
        }
        watching.line.clear();
        watching.question = Some(approval);
        Ok(self.screen.prompt(CHOICES, &watching.line)?)
    }

    /// Handles a question that no person here can answer.
    async fn unasked(&mut self, approval: &Approval) -> anyhow::Result<()> {
        let Some(answer) = self.place.absent() else {
            let hint = format!("nobody can be asked here: POST /api/approvals/{} answers it", approval.id);
            return Ok(self.screen.say(&hint)?);
        };
        self.screen.say("nobody can be asked here, so it is denied")?;
        self.place.approve(&approval.id, answer).await
    }

    /// Handles a key for the open question, or the one that stops the turn.
    async fn pressed(&mut self, key: Option<Key>, thread: &str, watching: &mut Watching) -> anyhow::Result<()> {
        let Some(key) = key.filter(|key| *key != Key::Escape) else { return self.stop(thread, watching).await };
        match watching.line.press(key) {
            Typed::More | Typed::Full | Typed::Complete => Ok(self.screen.prompt(CHOICES, &watching.line)?),
            Typed::Left => self.stop(thread, watching).await,
            Typed::Message(line) => {
                self.screen.entered()?;
                self.answered(&line, thread, watching).await
            }
        }
    }

    async fn answered(&mut self, line: &str, thread: &str, watching: &mut Watching) -> anyhow::Result<()> {
        let Some(question) = watching.question.clone() else { return Ok(()) };
        let done = match (input::read(line), answer(line)) {
            (Entry::Do(Command::Mode(mode)), _) => {
                self.mode = Some(mode);
                self.place.set_mode(thread, mode).await.map(|()| None)
            }
            (_, Some(answer)) => self.place.approve(&question.id, answer).await.map(|()| Some(question.id)),
            (_, None) => return Ok(self.screen.prompt(CHOICES, &watching.line)?),
        };
        match done {
            Ok(settled) => watching.settled.extend(settled),
            Err(error) => self.screen.say(&format!("{error:#}"))?,
        }
        watching.question = None;
        Ok(())
    }
}

/// Returns the text before a decision: the call exactly as it will be made.
fn opening(approval: &Approval) -> String {
    let within: String = approval.within.iter().map(|subtask| format!("{subtask}: ")).collect();
    let args: Vec<String> = exact_json(&approval.args).lines().map(|line| format!("  {line}")).collect();
    let why = approval.why.iter().map(|why| format!("{}\n", exact(why)));
    format!("{}{within}call {} with these arguments?\n{}", why.collect::<String>(), approval.tool, args.join("\n"))
}

/// Returns what an answer for the whole chat covers, where that is a host.
fn covered(approval: &Approval) -> Option<String> {
    let host = Some(&approval.host).filter(|host| !host.is_empty())?;
    Some(format!("for this chat: {} to {}", approval.tool, exact(host)))
}

/// Parses a line as the answer to a question.
fn answer(line: &str) -> Option<Answer> {
    match line.trim().to_lowercase().as_str() {
        "a" | "allow" | "y" | "yes" => Some(Answer::Allow),
        "c" | "chat" => Some(Answer::AllowForChat),
        "d" | "deny" | "n" | "no" => Some(Answer::Deny),
        _ => None,
    }
}

/// Returns the next key, where there is a keyboard.
pub(super) async fn key(keyboard: &mut Option<Keyboard>) -> Option<Key> {
    match keyboard {
        Some(keyboard) => keyboard.key().await,
        None => std::future::pending().await,
    }
}

/// Returns the next key for a question, or else the Esc that stops the turn.
async fn attend(keyboard: &mut Option<Keyboard>, question: Option<&Approval>) -> Option<Key> {
    match (keyboard, question) {
        (Some(keyboard), Some(_)) => keyboard.key().await,
        (Some(keyboard), None) => {
            keyboard.escape().await;
            Some(Key::Escape)
        }
        (None, _) => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_shows_the_exact_arguments_and_where_they_come_from() {
        let approval = Approval {
            id: "turn-1-approval-0".to_owned(),
            tool: "pay".to_owned(),
            args: "{\n  \"to\": \"Ada\u{202e}\u{9b}\"\n}".to_owned(),
            why: None,
            host: String::new(),
            within: vec!["subtask Shop".to_owned()],
        };
        let expected = "subtask Shop: call pay with these arguments?\n  {\n    \"to\": \"Ada\\u202e\\u009b\"\n  }";
        assert_eq!(opening(&approval), expected);
        let why = "this turn has read `secret\u{202e}.env`; the call would send 312 bytes to sink.example".to_owned();
        let approval = Approval { why: Some(why), host: "sink.example".to_owned(), ..approval };
        let told = opening(&approval);
        assert!(told.starts_with("this turn has read `secret\\u202e.env`; the call would send 312 bytes to"), "{told}");
        assert_eq!(covered(&approval).as_deref(), Some("for this chat: pay to sink.example"));
    }

    #[test]
    fn only_a_clear_answer_is_one() {
        let answers = ["a", " Allow\n", "c", "d", "no", "", "ad", "ok"].map(answer);
        let [allow, deny] = [Some(Answer::Allow), Some(Answer::Deny)];
        assert_eq!(answers, [allow, allow, Some(Answer::AllowForChat), deny, deny, None, None, None]);
    }
}
