//! The state of the screen: what waits for a person, then the runs; which of them is
//! chosen, and the effect of each key on it. A key decides only about what was chosen
//! by the person and drawn before the key was typed: when that is gone, nothing is
//! chosen.

use std::time::Instant;

use serde_json::{Value, json};

use super::confirm::{Confirm, Stage};
use super::item::{self, Item, Kind};
use super::snapshot::Snapshot;
use crate::client::Call;
use crate::show::record::Record;
use crate::show::safe::exact_json;
use crate::talk::editor::{Editor, Typed};
use crate::talk::keyboard::Key;

/// The input that is awaited from the person, shown in the last line but one.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    Nothing,
    /// A text for a review: what should be better, or the answer to a question.
    Text {
        review: String,
        what: What,
        line: Editor,
    },
    /// The same key once more.
    Again(Confirm),
}

/// The meaning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Feedback,
    Answer,
}

/// The effect of a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    Nothing,
    /// The person leaves.
    Leave,
    /// This is to be sent.
    Send(Call),
    /// The text of a review is to be edited.
    Edit {
        review: String,
        text: String,
    },
}

/// Whether an answer of the server is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    No,
    Yes,
}

/// Whether the server tells what changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FeedState {
    Live,
    /// The lists are asked for from time to time.
    Polling,
    /// The server does not answer.
    Lost,
}

/// The state.
pub(super) struct Board {
    pub(super) url: String,
    pub(super) items: Vec<Item>,
    /// The number of runs under way.
    pub(super) active: u64,
    pub(super) feed_state: FeedState,
    pub(super) ask: Ask,
    /// The outcome of the last key, in words.
    pub(super) last_outcome: String,
    /// The chosen item.
    chosen: Option<String>,
    /// The position of the last chosen item.
    place: usize,
    sending: Sending,
    has_editor: bool,
    /// The moment at which what is chosen and what is asked were drawn, if they were.
    drawn: Option<Instant>,
}

impl Board {
    /// Creates an empty one.
    pub(super) fn new(url: &str, editor: Option<&str>) -> Board {
        Board {
            url: url.to_owned(),
            items: Vec::new(),
            active: 0,
            feed_state: FeedState::Polling,
            ask: Ask::Nothing,
            last_outcome: String::new(),
            chosen: None,
            place: 0,
            sending: Sending::No,
            has_editor: editor.is_some(),
            drawn: None,
        }
    }

    /// Takes new lists.
    pub(super) fn apply(&mut self, lists: Snapshot, now: u64) {
        let is_first = self.items.is_empty();
        let kind_before = self.chosen().map(|item| item.kind.clone());
        let reviews = lists.reviews.iter().map(|review| item::review(Record(review), now));
        let approvals = lists.approvals.iter().map(|approval| item::approval(Record(approval), now));
        let runs = lists.runs.iter().map(|run| item::run(Record(run), now));
        self.items = reviews.chain(approvals).chain(runs).collect();
        self.active = lists.active;
        self.feed_state = FeedState::Polling;
        self.chosen = self.chosen.take().filter(|id| self.items.iter().any(|item| item.id == *id));
        if let Some(at) = self.chosen_at() {
            self.place = at;
        } else if is_first {
            self.choose(0);
        }
        // A letter means something else now, and was typed for what it meant before.
        if self.chosen().map(|item| &item.kind) != kind_before.as_ref() {
            self.drawn = None;
        }
        let asked_about = match &self.ask {
            Ask::Nothing => None,
            Ask::Text { review, .. } => Some(review.as_str()),
            Ask::Again(confirm) => Some(confirm.item()),
        };
        if asked_about.is_some_and(|id| !self.items.iter().any(|item| item.id == id)) {
            self.change(Ask::Nothing);
            self.last_outcome = "this review is over".to_owned();
        }
    }

    /// Takes whether the server tells what changes, as long as it answers.
    pub(super) fn set_feed_state(&mut self, feed_state: FeedState) {
        if self.feed_state != FeedState::Lost {
            self.feed_state = feed_state;
        }
    }

    /// The lists could not be had.
    pub(super) fn lost(&mut self, reason: &str) {
        self.feed_state = FeedState::Lost;
        reason.clone_into(&mut self.last_outcome);
    }

    /// The server has answered, with this refusal if it refused.
    pub(super) fn answered(&mut self, refusal: Option<String>) {
        self.sending = Sending::No;
        self.last_outcome = refusal.unwrap_or_else(|| "done".to_owned());
    }

    /// Returns the position of the chosen item.
    pub(super) fn chosen_at(&self) -> Option<usize> {
        self.items.iter().position(|item| Some(&item.id) == self.chosen.as_ref())
    }

    /// Returns the chosen item.
    pub(super) fn chosen(&self) -> Option<&Item> {
        self.chosen_at().and_then(|at| self.items.get(at))
    }

    /// Returns the position that is shown: of what is chosen, or of what was.
    pub(super) fn place(&self) -> usize {
        self.place
    }

    /// Returns whether texts can be edited.
    pub(super) fn has_editor(&self) -> bool {
        self.has_editor
    }

    fn choose(&mut self, at: usize) {
        self.place = at.min(self.items.len().saturating_sub(1));
        let chosen = self.items.get(self.place).map(|item| item.id.clone());
        if self.chosen != chosen {
            self.drawn = None;
        }
        self.chosen = chosen;
    }

    /// Asks for something else; until that is drawn, nobody can answer it.
    fn change(&mut self, ask: Ask) {
        self.ask = ask;
        self.drawn = None;
    }

    /// Returns whether a question is asked that was not drawn yet.
    pub(super) fn has_undrawn_question(&self) -> bool {
        self.drawn.is_none() && !matches!(self.ask, Ask::Nothing)
    }

    /// Everything was drawn at this moment.
    pub(super) fn drawn(&mut self, at: Instant) {
        self.drawn.get_or_insert(at);
    }

    /// Lets time pass: a key that was asked for again may be pressed after a pause, and
    /// is not waited for any longer after a while.
    pub(super) fn pass(&mut self, now: Instant) {
        let Ask::Again(confirm) = &mut self.ask else { return };
        let before = confirm.stage();
        confirm.pass(now);
        match confirm.stage() {
            Stage::Over => {
                self.change(Ask::Nothing);
                self.last_outcome = "nothing was done".to_owned();
            }
            after if after != before => self.drawn = None,
            Stage::Pause | Stage::Ready => {}
        }
    }

    /// Returns the moment at which the next thing happens without a key.
    pub(super) fn next_change(&self) -> Option<Instant> {
        match &self.ask {
            Ask::Again(confirm) => Some(confirm.next_change()),
            Ask::Nothing | Ask::Text { .. } => None,
        }
    }

    /// Returns whether a key was typed before the person could see what it would be about.
    fn is_blind(&self, typed: Instant) -> bool {
        self.drawn.is_none_or(|drawn| typed < drawn)
    }

    /// Returns the request for a text that was edited.
    pub(super) fn edited(&mut self, review: &str, text: &str) -> Call {
        self.send(decision(review, json!({ "decision": "EDIT", "revisedOutput": text })))
    }

    fn send(&mut self, call: Call) -> Call {
        self.sending = Sending::Yes;
        self.last_outcome = "…".to_owned();
        call
    }

    /// Handles a key that was typed at this moment.
    pub(super) fn press(&mut self, key: Key, typed: Instant) -> Effect {
        let is_blind = self.is_blind(typed);
        match std::mem::replace(&mut self.ask, Ask::Nothing) {
            text @ Ask::Text { .. } if is_blind => {
                self.ask = text;
                Effect::Nothing
            }
            Ask::Text { review, what, line } => self.type_text(key, (review, what), line),
            Ask::Again(confirm) if key != confirm.key() => {
                self.change(Ask::Nothing);
                self.last_outcome = "nothing was done".to_owned();
                Effect::Nothing
            }
            Ask::Again(confirm) if confirm.stage() == Stage::Ready && !is_blind => {
                self.drawn = None;
                Effect::Send(self.send(confirm.into_call()))
            }
            Ask::Again(mut confirm) => {
                confirm.hold(typed);
                self.change(Ask::Again(confirm));
                Effect::Nothing
            }
            Ask::Nothing => self.command(&key, typed),
        }
    }

    fn type_text(&mut self, key: Key, (review, what): (String, What), mut line: Editor) -> Effect {
        if key == Key::Escape {
            self.drawn = None;
            self.last_outcome = "nothing was decided".to_owned();
            return Effect::Nothing;
        }
        match line.press(key) {
            Typed::Message(text) if !text.trim().is_empty() => {
                let text = text.trim();
                let body = match what {
                    What::Feedback => json!({ "decision": "REJECT", "feedback": text }),
                    What::Answer => json!({ "decision": "EDIT", "revisedOutput": text }),
                };
                return Effect::Send(self.send(decision(&review, body)));
            }
            Typed::Left => {
                self.last_outcome = "nothing was decided".to_owned();
                return Effect::Nothing;
            }
            Typed::Message(_) | Typed::More | Typed::Full | Typed::Complete => {}
        }
        self.ask = Ask::Text { review, what, line };
        Effect::Nothing
    }

    fn command(&mut self, key: &Key, typed: Instant) -> Effect {
        match key {
            Key::Sign('q') | Key::Leave => return Effect::Leave,
            Key::Up | Key::Sign('k') => self.choose(self.place.saturating_sub(1)),
            // What was below something that is gone has moved up to its place.
            Key::Down | Key::Sign('j') if self.chosen.is_some() => self.choose(self.place + 1),
            Key::Down | Key::Sign('j') => self.choose(self.place),
            Key::Home => self.choose(0),
            Key::End => self.choose(self.items.len()),
            Key::Sign(_) if self.is_blind(typed) => return Effect::Nothing,
            Key::Sign(sign) => return self.act(*sign, typed),
            Key::Paste(_) | Key::Enter | Key::Escape | Key::Back | Key::Delete | Key::Left | Key::Right => {}
            Key::EraseBefore | Key::EraseAfter | Key::EraseWord | Key::Tab | Key::NewLine | Key::Search => {}
            Key::WordLeft | Key::WordRight => {}
        }
        self.last_outcome.clear();
        Effect::Nothing
    }

    /// Does what a letter means for the chosen item.
    fn act(&mut self, sign: char, typed: Instant) -> Effect {
        let Some(item) = self.chosen().cloned() else {
            self.last_outcome = "nothing is chosen: ↑ and ↓ choose".to_owned();
            return Effect::Nothing;
        };
        if self.sending == Sending::Yes {
            self.last_outcome = "the last key is still being worked on".to_owned();
            return Effect::Nothing;
        }
        let id = item.id.as_str();
        let text = |what| Ask::Text { review: item.id.clone(), what, line: Editor::default() };
        match (sign, &item.kind) {
            ('a' | 'e', Kind::Question) => self.change(text(What::Answer)),
            ('r', Kind::Output(_) | Kind::Beginning | Kind::Question) => self.change(text(What::Feedback)),
            ('e', Kind::Output(output)) if self.has_editor => {
                return Effect::Edit { review: item.id.clone(), text: output.clone() };
            }
            ('e', Kind::Output(_)) => self.last_outcome = "there is no editor: set VISUAL or EDITOR".to_owned(),
            ('p', Kind::Active) => return Effect::Send(self.send(Call::post(&["runs", id, "pause"], json!({})))),
            ('p', Kind::Paused) => return Effect::Send(self.send(Call::post(&["runs", id, "resume"], json!({})))),
            (_, _) => match asked_twice(sign, &item) {
                Some((call, words)) => self.change(Ask::Again(Confirm::new((sign, typed), id, call, words))),
                None => self.last_outcome = format!("{sign} does nothing here"),
            },
        }
        Effect::Nothing
    }
}

/// Returns the request of a letter that must be pressed twice, and what it would do in words.
fn asked_twice(sign: char, item: &Item) -> Option<(Call, String)> {
    let id = item.id.as_str();
    let approval = |word: &str| Call::post(&["approvals", id], json!({ "decision": word }));
    let (call, verb) = match (sign, &item.kind) {
        ('a', Kind::Output(_) | Kind::Beginning) => (decision(id, json!({ "decision": "APPROVE" })), "approve"),
        ('x', Kind::Output(_) | Kind::Beginning | Kind::Question) => {
            (decision(id, json!({ "decision": "EXIT_EARLY" })), "end the run at")
        }
        ('a', Kind::Approval) => (approval("allow"), "allow"),
        ('d' | 'r', Kind::Approval) => (approval("deny"), "deny"),
        ('c', Kind::Active | Kind::Paused) => {
            (Call::post(&["runs", id, "cancel"], json!({ "mode": "now" })), "cancel at once")
        }
        (_, _) => return None,
    };
    // An item of an approval is escaped already, which escaping again leaves as it is.
    let [name, now] = [&item.name, &item.now].map(|words| exact_line(words));
    Some((call, format!("{verb} {name} ({id}): {now}")))
}

/// Returns words on one line, with look-alikes escaped.
fn exact_line(words: &str) -> String {
    words.split('\n').map(exact_json).collect::<Vec<_>>().join(" ")
}

fn decision(review: &str, body: Value) -> Call {
    Call::post(&["reviews", review], body)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::confirm::PAUSE;
    use super::super::item::Time;
    use super::*;

    const NOW: u64 = 1_773_570_600_000;

    fn lists(reviews: &[&str]) -> Snapshot {
        let review = |id: &&str| {
            json!({ "reviewId": id, "runId": "run-2", "taskName": "poem", "timing": "AFTER_EXECUTION",
                "taskOutput": "Roses", "createdAt": "2026-03-15T10:29:30.000Z" })
        };
        let runs = vec![
            json!({ "runId": "run-2", "status": "RUNNING", "startedAt": "2026-03-15T10:20:00.000Z",
                "waitingFor": "review", "waitingSince": "2026-03-15T10:29:30.000Z", "taskCount": 2, "completedTasks": 1,
                "title": "An evening" }),
            json!({ "runId": "run-1", "status": "RUNNING", "paused": true, "startedAt": "2026-03-15T10:20:00.000Z" }),
        ];
        Snapshot { runs, active: 2, reviews: reviews.iter().map(review).collect(), approvals: Vec::new() }
    }

    fn board() -> Board {
        let mut board = Board::new("http://a", Some("vi"));
        board.apply(lists(&["run-2-review-0", "run-2-review-1"]), NOW);
        board
    }

    fn key(sign: char) -> Key {
        match sign {
            '\n' => Key::Enter,
            '\u{1b}' => Key::Escape,
            '↓' => Key::Down,
            sign => Key::Sign(sign),
        }
    }

    /// Types keys, this time apart, each after the screen was drawn.
    fn keys_apart(board: &mut Board, keys: &str, apart: Duration) -> Effect {
        let mut now = Instant::now();
        keys.chars().fold(Effect::Nothing, |_, sign| {
            board.pass(now);
            board.drawn(now);
            let effect = board.press(key(sign), now);
            now += apart;
            effect
        })
    }

    /// Types keys as a person does who looks at the screen.
    fn keys(board: &mut Board, keys: &str) -> Effect {
        keys_apart(board, keys, Duration::from_secs(1))
    }

    fn decided(review: &str, body: Value) -> Effect {
        Effect::Send(Call::post(&["reviews", review], body))
    }

    #[test]
    fn keys_decide_about_what_is_chosen() {
        let approve = json!({ "decision": "APPROVE" });
        assert_eq!(keys(&mut board(), "aa"), decided("run-2-review-0", approve.clone()));
        assert_eq!(keys(&mut board(), "↓aa"), decided("run-2-review-1", approve));
        let reject = json!({ "decision": "REJECT", "feedback": "shorter, quick" });
        assert_eq!(keys(&mut board(), "rshorter, quick\n"), decided("run-2-review-0", reject));
        let edit = Effect::Edit { review: "run-2-review-0".to_owned(), text: "Roses".to_owned() };
        assert_eq!(keys(&mut board(), "e"), edit);
        assert_eq!(keys(&mut board(), "xx"), decided("run-2-review-0", json!({ "decision": "EXIT_EARLY" })));
        let steer = |what: &str, run: &str, body: Value| Effect::Send(Call::post(&["runs", run, what], body));
        assert_eq!(keys(&mut board(), "↓↓p"), steer("pause", "run-2", json!({})));
        assert_eq!(keys(&mut board(), "↓↓↓p"), steer("resume", "run-1", json!({})));
        assert_eq!(keys(&mut board(), "↓↓cc"), steer("cancel", "run-2", json!({ "mode": "now" })));
        assert_eq!(keys(&mut board(), "q"), Effect::Leave);
    }

    #[test]
    fn what_cannot_be_mended_is_asked_twice_and_what_is_left_decides_nothing() {
        for typed in ["a", "ar", "axa", "a↓a", "xa", "r\n", "rshorter\u{1b}", "c", "↓↓cx", "z"] {
            assert_eq!(keys(&mut board(), typed), Effect::Nothing, "{typed:?}");
        }
    }

    #[test]
    fn when_the_chosen_one_is_gone_nothing_is_chosen_until_the_person_chooses_again() {
        let mut board = board();
        board.apply(lists(&["run-2-review-1"]), NOW);
        assert_eq!(
            (keys(&mut board, "a"), board.last_outcome.as_str()),
            (Effect::Nothing, "nothing is chosen: ↑ and ↓ choose")
        );
        assert_eq!(keys(&mut board, "↓aa"), decided("run-2-review-1", json!({ "decision": "APPROVE" })));
        assert_eq!(keys(&mut board, "a"), Effect::Nothing, "one at a time");
        board.answered(None);
        assert_eq!(keys(&mut board, "r"), Effect::Nothing);
        board.apply(lists(&[]), NOW);
        assert!(
            matches!(board.ask, Ask::Nothing) && board.last_outcome == "this review is over",
            "{}",
            board.last_outcome
        );
    }

    #[test]
    fn a_key_that_is_held_down_decides_nothing_however_long() {
        // The first repeat of a keyboard comes later than those after it.
        for typed in ["a", "x", "↓↓c"].map(|typed| format!("{typed}{}", typed.chars().last().unwrap())) {
            for first in [0, 250, 500, 660] {
                let mut board = board();
                let (opening, last) = typed.split_at(typed.len() - 1);
                assert_eq!(keys(&mut board, opening), Effect::Nothing);
                let Ask::Again(confirm) = &board.ask else { panic!("{typed} asks") };
                let mut now = confirm.next_change() - PAUSE + Duration::from_millis(first);
                for repeat in 0..300 {
                    board.pass(now);
                    board.drawn(now);
                    let effect = board.press(key(last.chars().next().unwrap()), now);
                    assert_eq!(effect, Effect::Nothing, "{typed} {first} {repeat}");
                    now += Duration::from_millis(33);
                }
            }
        }
        assert_eq!(keys_apart(&mut board(), "aaaaaaaa", Duration::ZERO), Effect::Nothing, "all at once");
    }

    #[test]
    fn what_was_typed_before_it_was_drawn_is_forgotten() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut board = board();
        // Before the review was drawn.
        assert_eq!(board.press(Key::Sign('a'), at(0)), Effect::Nothing);
        board.drawn(at(10));
        assert_eq!(board.press(Key::Sign('a'), at(5)), Effect::Nothing);
        assert!(matches!(board.ask, Ask::Nothing));
        // Before the question was drawn, and before it said that the key counts now.
        board.press(Key::Sign('a'), at(20));
        board.pass(at(1000));
        assert_eq!(board.press(Key::Sign('a'), at(1000)), Effect::Nothing);
        board.pass(at(2000));
        board.drawn(at(2010));
        assert_eq!(board.press(Key::Sign('a'), at(2005)), Effect::Nothing);
        // A text that was typed before its question was drawn.
        board.press(Key::Escape, at(2100));
        board.drawn(at(2110));
        board.press(Key::Sign('r'), at(2120));
        for key in [Key::Sign('n'), Key::Sign('o'), Key::Enter] {
            assert_eq!(board.press(key, at(2120)), Effect::Nothing);
        }
        // What is chosen with one key is not decided by the one that came with it.
        let mut board = self::board();
        board.drawn(at(0));
        board.press(Key::Down, at(10));
        board.press(Key::Sign('a'), at(10));
        assert!(matches!(board.ask, Ask::Nothing));
    }

    #[test]
    fn a_question_says_what_it_is_about_and_is_not_open_for_ever() {
        let mut board = board();
        keys(&mut board, "a");
        let Ask::Again(confirm) = &board.ask else { panic!("a asks") };
        assert_eq!(confirm.words(), "approve poem (run-2-review-0): Roses");
        let ready = confirm.next_change();
        board.pass(ready);
        let Ask::Again(confirm) = &board.ask else { panic!("a asks") };
        let over = confirm.next_change();
        board.drawn(ready);
        board.pass(over);
        assert!(matches!(board.ask, Ask::Nothing) && board.last_outcome == "nothing was done");
        assert_eq!(board.press(Key::Sign('a'), over), Effect::Nothing);
    }

    #[test]
    fn look_alikes_in_the_arguments_of_a_call_are_seen() {
        let approval = json!({ "approval_id": "turn-1-approval-0", "thread_id": "thread-1", "tool_name": "pаy",
            "args": { "to": "pаypal.example" }, "message": "this would send it to pаypal.example" });
        let mut board = Board::new("http://a", None);
        board.apply(Snapshot { approvals: vec![approval], ..Snapshot::default() }, NOW);
        keys(&mut board, "a");
        let Ask::Again(confirm) = &board.ask else { panic!("a asks") };
        let words = r#"allow p\u0430y (turn-1-approval-0): {"to":"p\u0430ypal.example"}"#;
        assert_eq!(confirm.words(), words);
        let detail = &board.items[0].detail;
        assert!(!detail.contains('а') && detail.matches(r"p\u0430ypal").count() == 2, "{detail}");
    }

    #[test]
    fn a_run_shows_since_when_it_waits_or_else_since_when_it_runs() {
        let board = board();
        let time = |id: &str| board.items.iter().find(|item| item.id == id).unwrap().time;
        assert_eq!((time("run-2"), time("run-1")), (Time::Since(NOW - 30_000), Time::Since(NOW - 600_000)));
    }
}
