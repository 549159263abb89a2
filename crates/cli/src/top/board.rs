//! The state of the screen: what waits for a person, then the runs; which of them is
//! chosen, and the effect of each key on it. A key decides only about what was chosen
//! by the person: when that is gone, nothing is chosen.

use serde_json::{Value, json};

use super::snapshot::Snapshot;
use crate::client::Call;
use crate::commands::runs::list::{doing, standing};
use crate::show::record::{Page, Record};
use crate::show::words::dollars;
use crate::talk::editor::{Editor, Typed};
use crate::talk::keyboard::Key;

/// A row of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// The id of the review, the approval or the run.
    pub(super) id: String,
    pub(super) kind: Kind,
    /// The state in one word.
    pub(super) status: String,
    /// The tasks that are done, of all.
    pub(super) tasks: String,
    pub(super) time: Time,
    /// The task, the tool, or the title of a run.
    pub(super) name: String,
    /// The question that is asked, or what the run does or waits for.
    pub(super) now: String,
    /// Everything else that is known, in lines.
    pub(super) detail: String,
}

/// The kind of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A review of this text.
    Output(String),
    /// A review before a task starts.
    Beginning,
    /// A question of an agent.
    Question,
    /// A call of a chat that waits for permission.
    Approval,
    /// A run under way.
    Active,
    /// A run that waits to be resumed.
    Paused,
    /// A run that is over.
    Ended,
}

/// The time that is shown of a row, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// It has been so since this moment, since 1970.
    Since(u64),
    /// It took this long.
    Took(u64),
    Unknown,
}

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
    Again {
        key: char,
        call: Call,
        words: String,
    },
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
pub(super) enum Hearing {
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
    pub(super) hearing: Hearing,
    pub(super) ask: Ask,
    /// The outcome of the last key, in words.
    pub(super) told: String,
    /// The chosen item.
    chosen: Option<String>,
    /// The position of the last chosen item.
    place: usize,
    sending: Sending,
    has_editor: bool,
}

impl Board {
    /// Creates an empty one.
    pub(super) fn new(url: &str, editor: Option<&str>) -> Board {
        Board {
            url: url.to_owned(),
            items: Vec::new(),
            active: 0,
            hearing: Hearing::Polling,
            ask: Ask::Nothing,
            told: String::new(),
            chosen: None,
            place: 0,
            sending: Sending::No,
            has_editor: editor.is_some(),
        }
    }

    /// Takes new lists.
    pub(super) fn apply(&mut self, lists: Snapshot, now: u64) {
        let is_first = self.items.is_empty();
        let reviews = lists.reviews.iter().map(|review| self::review(Record(review), now));
        let approvals = lists.approvals.iter().map(|approval| self::approval(Record(approval), now));
        let runs = lists.runs.iter().map(|run| self::run(Record(run), now));
        self.items = reviews.chain(approvals).chain(runs).collect();
        self.active = lists.active;
        self.hearing = Hearing::Polling;
        self.chosen = self.chosen.take().filter(|id| self.items.iter().any(|item| item.id == *id));
        if let Some(at) = self.chosen_at() {
            self.place = at;
        } else if is_first {
            self.choose(0);
        }
        if let Ask::Text { review, .. } = &self.ask
            && !self.items.iter().any(|item| item.id == *review)
        {
            self.ask = Ask::Nothing;
            self.told = "this review is over".to_owned();
        }
    }

    /// Takes whether the server tells what changes, as long as it answers.
    pub(super) fn hears(&mut self, hearing: Hearing) {
        if self.hearing != Hearing::Lost {
            self.hearing = hearing;
        }
    }

    /// The lists could not be had.
    pub(super) fn lost(&mut self, reason: &str) {
        self.hearing = Hearing::Lost;
        reason.clone_into(&mut self.told);
    }

    /// The server has answered, with this refusal if it refused.
    pub(super) fn answered(&mut self, refusal: Option<String>) {
        self.sending = Sending::No;
        self.told = refusal.unwrap_or_else(|| "done".to_owned());
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
        self.chosen = self.items.get(self.place).map(|item| item.id.clone());
    }

    /// Returns the request for a text that was edited.
    pub(super) fn edited(&mut self, review: &str, text: &str) -> Call {
        self.send(decision(review, json!({ "decision": "EDIT", "revisedOutput": text })))
    }

    fn send(&mut self, call: Call) -> Call {
        self.sending = Sending::Yes;
        self.told = "…".to_owned();
        call
    }

    /// Handles a key.
    pub(super) fn press(&mut self, key: Key) -> Effect {
        match std::mem::replace(&mut self.ask, Ask::Nothing) {
            Ask::Text { review, what, line } => self.type_text(key, (review, what), line),
            Ask::Again { key: asked, call, .. } if key == Key::Sign(asked) => Effect::Send(self.send(call)),
            Ask::Again { .. } => {
                self.told = "nothing was done".to_owned();
                Effect::Nothing
            }
            Ask::Nothing => self.command(&key),
        }
    }

    fn type_text(&mut self, key: Key, (review, what): (String, What), mut line: Editor) -> Effect {
        if key == Key::Escape {
            self.told = "nothing was decided".to_owned();
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
                self.told = "nothing was decided".to_owned();
                return Effect::Nothing;
            }
            Typed::Message(_) | Typed::More | Typed::Full | Typed::Complete => {}
        }
        self.ask = Ask::Text { review, what, line };
        Effect::Nothing
    }

    fn command(&mut self, key: &Key) -> Effect {
        match key {
            Key::Sign('q') | Key::Leave => return Effect::Leave,
            Key::Up | Key::Sign('k') => self.choose(self.place.saturating_sub(1)),
            // What was below something that is gone has moved up to its place.
            Key::Down | Key::Sign('j') if self.chosen.is_some() => self.choose(self.place + 1),
            Key::Down | Key::Sign('j') => self.choose(self.place),
            Key::Home => self.choose(0),
            Key::End => self.choose(self.items.len()),
            Key::Sign(sign) => return self.act(*sign),
            Key::Paste(_) | Key::Enter | Key::Escape | Key::Back | Key::Delete | Key::Left | Key::Right => {}
            Key::EraseBefore | Key::EraseAfter | Key::EraseWord | Key::Tab | Key::NewLine | Key::Search => {}
            Key::WordLeft | Key::WordRight => {}
        }
        self.told.clear();
        Effect::Nothing
    }

    /// Does what a letter means for the chosen item.
    fn act(&mut self, sign: char) -> Effect {
        let Some(item) = self.chosen().cloned() else {
            self.told = "nothing is chosen: ↑ and ↓ choose".to_owned();
            return Effect::Nothing;
        };
        if self.sending == Sending::Yes {
            self.told = "the last key is still being worked on".to_owned();
            return Effect::Nothing;
        }
        let id = item.id.as_str();
        let approval = |word: &str| Call::post(&["approvals", id], json!({ "decision": word }));
        let text = |what| Ask::Text { review: item.id.clone(), what, line: Editor::default() };
        let again = |call, words: String| Ask::Again { key: sign, call, words };
        match (sign, &item.kind) {
            ('a', Kind::Output(_) | Kind::Beginning) => {
                return Effect::Send(self.send(decision(id, json!({ "decision": "APPROVE" }))));
            }
            ('a' | 'e', Kind::Question) => self.ask = text(What::Answer),
            ('r', Kind::Output(_) | Kind::Beginning | Kind::Question) => self.ask = text(What::Feedback),
            ('e', Kind::Output(output)) if self.has_editor => {
                return Effect::Edit { review: item.id.clone(), text: output.clone() };
            }
            ('e', Kind::Output(_)) => self.told = "there is no editor: set VISUAL or EDITOR".to_owned(),
            ('x', Kind::Output(_) | Kind::Beginning | Kind::Question) => {
                let call = decision(id, json!({ "decision": "EXIT_EARLY" }));
                self.ask = again(call, "this ends the run here".to_owned());
            }
            ('a', Kind::Approval) => return Effect::Send(self.send(approval("allow"))),
            ('d' | 'r', Kind::Approval) => return Effect::Send(self.send(approval("deny"))),
            ('p', Kind::Active) => return Effect::Send(self.send(Call::post(&["runs", id, "pause"], json!({})))),
            ('p', Kind::Paused) => return Effect::Send(self.send(Call::post(&["runs", id, "resume"], json!({})))),
            ('c', Kind::Active | Kind::Paused) => {
                let call = Call::post(&["runs", id, "cancel"], json!({ "mode": "now" }));
                self.ask = again(call, format!("this cancels {id} at once"));
            }
            (_, _) => self.told = format!("{sign} does nothing here"),
        }
        Effect::Nothing
    }
}

fn decision(review: &str, body: Value) -> Call {
    Call::post(&["reviews", review], body)
}

fn review(review: Record<'_>, now: u64) -> Item {
    let (kind, status, asked) = match review.text("timing") {
        "BEFORE_EXECUTION" => (Kind::Beginning, "review", "may it start?".to_owned()),
        "DURING_EXECUTION" => (Kind::Question, "question", review.line("prompt")),
        _ => (Kind::Output(review.text("taskOutput").to_owned()), "review", review.line("taskOutput")),
    };
    let text = match &kind {
        Kind::Question => review.text("prompt").to_owned() + &options(review),
        Kind::Beginning => review.text("taskDescription").to_owned(),
        Kind::Output(_) | Kind::Approval | Kind::Active | Kind::Paused | Kind::Ended => {
            review.text("taskOutput").to_owned()
        }
    };
    Item {
        id: review.line("reviewId"),
        detail: format!("{}\n{}", review.line("reviewId"), text),
        kind,
        status: status.to_owned(),
        tasks: String::new(),
        time: moment(review, "createdAt", now).map_or(Time::Unknown, Time::Since),
        name: review.line("taskName"),
        now: asked,
    }
}

fn options(review: Record<'_>) -> String {
    review.list("options").filter_map(|option| option.0.as_str()).map(|option| format!("\n- {option}")).collect()
}

fn approval(approval: Record<'_>, now: u64) -> Item {
    let args = approval.0.get("args").map(ToString::to_string).unwrap_or_default();
    let why = Some(approval.line("message")).filter(|why| !why.is_empty()).map(|why| format!("{why}\n"));
    Item {
        id: approval.line("approval_id"),
        kind: Kind::Approval,
        status: "approval".to_owned(),
        tasks: String::new(),
        time: moment(approval, "created_at", now).map_or(Time::Unknown, Time::Since),
        name: approval.line("tool_name"),
        now: args.clone(),
        detail: format!(
            "{} in {}\n{}{args}",
            approval.line("approval_id"),
            approval.line("thread_id"),
            why.unwrap_or_default()
        ),
    }
}

fn run(run: Record<'_>, now: u64) -> Item {
    let id = run.line("runId");
    let status = standing(run);
    let kind = match (run.text("status"), run.has("paused")) {
        ("ACCEPTED" | "RUNNING", true) => Kind::Paused,
        ("ACCEPTED" | "RUNNING", false) => Kind::Active,
        _ => Kind::Ended,
    };
    let since = moment(run, "waitingSince", now).or_else(|| moment(run, "startedAt", now));
    let time = match (&kind, run.count("durationMs")) {
        (Kind::Ended, took) => took.map_or(Time::Unknown, Time::Took),
        (_, _) => since.map_or(Time::Unknown, Time::Since),
    };
    let tasks = run.count("completedTasks").zip(run.count("taskCount"));
    let tasks = tasks.map(|(done, all)| format!("{done}/{all}")).unwrap_or_default();
    let name = Some(run.line("title")).filter(|title| !title.is_empty()).unwrap_or_else(|| run.line("ensemble"));
    Item { kind, status, tasks, time, name, now: doing(run), detail: run_detail(run), id }
}

fn run_detail(run: Record<'_>) -> String {
    let facts = [
        run.line("runId"),
        run.line("ensemble"),
        run.line("model"),
        run.count("totalTokens")
            .filter(|tokens| *tokens > 0)
            .map(|tokens| format!("{tokens} tokens"))
            .unwrap_or_default(),
        run.cost("costEstimate").map(dollars).unwrap_or_default(),
        run.pairs("tags"),
    ];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    let texts = ["waitingReason", "error", "outputPreview"].map(|field| run.text(field)).into_iter();
    let texts: String = texts.filter(|text| !text.is_empty()).map(|text| format!("\n{text}")).collect();
    format!("{}{texts}", facts.join(" · "))
}

/// Returns the moment in a field, in milliseconds since 1970.
fn moment(record: Record<'_>, field: &str, now: u64) -> Option<u64> {
    let past = record.since(field, &Page { now, room: None })?;
    Some(now.saturating_sub(u64::try_from(past.as_millis()).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
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

    fn keys(board: &mut Board, keys: &str) -> Effect {
        keys.chars().fold(Effect::Nothing, |_, key| match key {
            '\n' => board.press(Key::Enter),
            '\u{1b}' => board.press(Key::Escape),
            '↓' => board.press(Key::Down),
            key => board.press(Key::Sign(key)),
        })
    }

    fn decided(review: &str, body: Value) -> Effect {
        Effect::Send(Call::post(&["reviews", review], body))
    }

    #[test]
    fn one_key_decides_about_what_is_chosen() {
        let approve = json!({ "decision": "APPROVE" });
        assert_eq!(keys(&mut board(), "a"), decided("run-2-review-0", approve.clone()));
        assert_eq!(keys(&mut board(), "↓a"), decided("run-2-review-1", approve));
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
        for typed in ["xa", "r\n", "rshorter\u{1b}", "c", "↓↓cx", "z"] {
            assert_eq!(keys(&mut board(), typed), Effect::Nothing, "{typed:?}");
        }
    }

    #[test]
    fn when_the_chosen_one_is_gone_nothing_is_chosen_until_the_person_chooses_again() {
        let mut board = board();
        board.apply(lists(&["run-2-review-1"]), NOW);
        assert_eq!(
            (keys(&mut board, "a"), board.told.as_str()),
            (Effect::Nothing, "nothing is chosen: ↑ and ↓ choose")
        );
        assert_eq!(keys(&mut board, "↓a"), decided("run-2-review-1", json!({ "decision": "APPROVE" })));
        assert_eq!(keys(&mut board, "a"), Effect::Nothing, "one at a time");
        board.answered(None);
        assert_eq!(keys(&mut board, "r"), Effect::Nothing);
        board.apply(lists(&[]), NOW);
        assert!(matches!(board.ask, Ask::Nothing) && board.told == "this review is over", "{}", board.told);
    }

    #[test]
    fn a_run_shows_since_when_it_waits_or_else_since_when_it_runs() {
        let board = board();
        let time = |id: &str| board.items.iter().find(|item| item.id == id).unwrap().time;
        assert_eq!((time("run-2"), time("run-1")), (Time::Since(NOW - 30_000), Time::Since(NOW - 600_000)));
    }
}
