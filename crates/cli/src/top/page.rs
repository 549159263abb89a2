//! The screen as lines: a head, the rows around the chosen one, what is known of it, and
//! the keys that mean something now. Nothing is wider or higher than the terminal.

use std::time::Duration;

use super::board::{Ask, Board, FeedState, What};
use super::item::{Item, Kind, Time};
use crate::show::block::{Line, Size, Tone};
use crate::show::safe::safe;
use crate::show::table::{Column, Table};
use crate::show::words::{counted, cut, span, until};
use crate::show::wrap::wrapped;

/// The mark of the chosen row, and of the others.
const MARKS: [&str; 2] = ["› ", "  "];
/// Rows besides the list and the detail: the head, the heads of the columns, the rule, the message and the keys.
const FIXED: usize = 5;
/// Rows from which on there is room for a detail.
const DETAIL_FROM: usize = 12;

/// Returns the lines.
pub(super) fn lines(board: &Board, now: u64, size: Size) -> Vec<Line> {
    let width = size.width;
    let detail = detail(board, size);
    let room = size.height.saturating_sub(FIXED + detail.len()).max(1);
    let mut lines = vec![head(board, width)];
    lines.extend(rows(board, now, (width, room)));
    lines.push(line(Tone::Faint, &"─".repeat(width), width));
    lines.extend(detail);
    lines.push(message(board, width));
    lines.push(line(Tone::Faint, &keys(board), width));
    lines.truncate(size.height.max(1));
    lines
}

fn line(tone: Tone, text: &str, width: usize) -> Line {
    Line(vec![(tone, cut(&safe(text).replace('\t', " "), width))])
}

fn head(board: &Board, width: usize) -> Line {
    let waiting = board.items.iter().filter(|item| asks(item)).count() as u64;
    let active = format!("{} under way", counted(board.active, "run"));
    let waits = match waiting {
        0 => String::new(),
        1 => " · 1 waits for you".to_owned(),
        several => format!(" · {several} wait for you"),
    };
    let (tone, connection) = match board.feed_state {
        FeedState::Live => (Tone::Good, "live"),
        FeedState::Polling => (Tone::Odd, "asked every second"),
        FeedState::Lost => (Tone::Bad, "no answer"),
    };
    line(tone, &format!("{active}{waits} · {connection} · {}", board.url), width)
}

fn asks(item: &Item) -> bool {
    matches!(item.kind, Kind::Output(_) | Kind::Beginning | Kind::Question | Kind::Approval)
}

/// Returns the heads of the columns, and as many rows as there is room for.
fn rows(board: &Board, now: u64, (width, room): (usize, usize)) -> Vec<Line> {
    if board.items.is_empty() {
        let mut lines = vec![line(Tone::Faint, "no runs yet: `consort run` begins one", width)];
        lines.resize(room + 1, Line::default());
        return lines;
    }
    // The chosen row stays in sight, with others around it.
    let first = board.place().saturating_sub(room / 2).min(board.items.len().saturating_sub(room));
    let shown = board.items.get(first..board.items.len().min(first + room)).unwrap_or_default();
    let mut table = Table::new(&[
        ("STATUS", Column::Name),
        ("TASKS", Column::Amount),
        ("FOR", Column::Amount),
        ("WHAT", Column::Text),
        ("NOW", Column::Text),
    ]);
    for item in shown {
        table.row([item.status.clone(), item.tasks.clone(), time(item, now), safe(&item.name), safe(&item.now)]);
    }
    let text = table.text(Some(width.saturating_sub(2)));
    let mut texts = text.lines();
    let head = texts.next().unwrap_or_default();
    let mut lines = vec![line(Tone::Faint, &format!("  {head}"), width)];
    let chosen = board.chosen_at();
    for ((at, item), text) in shown.iter().enumerate().zip(texts) {
        let [mark, none] = MARKS;
        let mark = if chosen == Some(first + at) { mark } else { none };
        lines.push(line(tone(item), &format!("{mark}{text}"), width));
    }
    lines.resize(room + 1, Line::default());
    lines
}

fn time(item: &Item, now: u64) -> String {
    match item.time {
        // Whole seconds: tenths would only flicker.
        Time::Since(since) => until(Duration::from_secs(now.saturating_sub(since) / 1000)),
        Time::Took(took) => span(Duration::from_millis(took)),
        Time::Unknown => String::new(),
    }
}

fn tone(item: &Item) -> Tone {
    match (&item.kind, item.status.as_str()) {
        (Kind::Output(_) | Kind::Beginning | Kind::Question | Kind::Approval, _) | (Kind::Paused, _) => Tone::Odd,
        (Kind::Active, _) => Tone::Busy,
        (Kind::Ended, "failed" | "rejected") => Tone::Bad,
        (Kind::Ended, _) => Tone::Faint,
    }
}

/// Returns what is known of the chosen item, in a third of the screen at most.
fn detail(board: &Board, size: Size) -> Vec<Line> {
    if size.height < DETAIL_FROM {
        return Vec::new();
    }
    let text = board.chosen().map(|item| safe(&item.detail).replace('\t', " ")).unwrap_or_default();
    let mut rows = wrapped(&text, size.width);
    let room = size.height / 3;
    let is_long = rows.len() > room;
    rows.resize(room, String::new());
    if let Some(last) = rows.last_mut().filter(|_| is_long) {
        "…".clone_into(last);
    }
    rows.iter().map(|row| line(Tone::Plain, row, size.width)).collect()
}

fn message(board: &Board, width: usize) -> Line {
    match &board.ask {
        Ask::Nothing => line(Tone::Odd, &board.last_outcome, width),
        Ask::Again(confirm) => line(Tone::Odd, confirm.words(), width),
        Ask::Text { what, line: typed, .. } => {
            let question = match what {
                What::Feedback => "What should be better? ",
                What::Answer => "Your answer: ",
            };
            // The end of a long text is seen, as that is where it goes on.
            let text = format!("{question}{}▏{}", typed.before(), typed.after()).replace('\n', " ");
            Line(vec![(Tone::Plain, crate::show::words::cut_start(&safe(&text).replace('\t', " "), width))])
        }
    }
}

fn keys(board: &Board) -> String {
    let own = match (&board.ask, board.chosen().map(|item| &item.kind)) {
        (Ask::Text { .. }, _) => return "Enter sends it  Esc leaves it".to_owned(),
        (Ask::Again(confirm), _) => return confirm.keys(),
        (Ask::Nothing, Some(Kind::Output(_))) if board.has_editor() => "a approve  r reject  e edit  x end run  ",
        (Ask::Nothing, Some(Kind::Output(_) | Kind::Beginning)) => "a approve  r reject  x end run  ",
        (Ask::Nothing, Some(Kind::Question)) => "a answer  r reject  x end run  ",
        (Ask::Nothing, Some(Kind::Approval)) => "a allow  d deny  ",
        (Ask::Nothing, Some(Kind::Active)) => "p pause  c cancel  ",
        (Ask::Nothing, Some(Kind::Paused)) => "p resume  c cancel  ",
        (Ask::Nothing, Some(Kind::Ended) | None) => "",
    };
    format!("{own}↑↓ choose  q leave")
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use serde_json::json;

    use super::*;
    use crate::show::words::width;
    use crate::talk::keyboard::Key;
    use crate::top::Snapshot;

    const NOW: u64 = 1_773_570_600_000;

    fn board() -> Board {
        let reviews = vec![json!({ "reviewId": "run-3-review-0", "runId": "run-3", "taskName": "poem",
            "timing": "AFTER_EXECUTION", "createdAt": "2026-03-15T10:27:55.000Z",
            "taskOutput": "Roses are red, and this line is long enough to be broken between its words\n\u{1b}[2Jsecond" })];
        let approvals =
            vec![json!({ "approval_id": "turn-1-approval-0", "thread_id": "thread-1", "tool_name": "pay_bill",
            "args": { "input": "rent" }, "created_at": "2026-03-15T10:29:55.000Z" })];
        let runs = vec![
            json!({ "runId": "run-3", "status": "RUNNING", "startedAt": "2026-03-15T10:20:00.000Z", "title": "An evening 蜂の巣",
                "waitingFor": "review", "waitingSince": "2026-03-15T10:27:55.000Z", "taskCount": 2, "completedTasks": 1,
                "currentTask": { "name": "poem" } }),
            json!({ "runId": "run-2", "status": "RUNNING", "startedAt": "2026-03-15T10:29:48.000Z", "title": "Tea for two",
                "taskCount": 3, "completedTasks": 0, "currentTask": { "name": "a rather long name of a task" } }),
            json!({ "runId": "run-1", "status": "FAILED", "startedAt": "2026-03-15T10:20:00.000Z", "durationMs": 64_000,
                "taskCount": 1, "completedTasks": 0, "title": "Lunch", "error": "no luck" }),
        ];
        let mut board = Board::new("http://127.0.0.1:7329", None);
        board.apply(Snapshot { runs, active: 2, reviews, approvals }, NOW);
        board.set_feed_state(FeedState::Live);
        board
    }

    /// Presses a key after everything was drawn.
    fn press(board: &mut Board, key: Key) {
        let now = Instant::now();
        board.drawn(now);
        board.press(key, now);
    }

    fn shown(board: &Board, (width, height): (usize, usize)) -> String {
        let lines = lines(board, NOW, Size { width, height });
        lines.iter().map(|line| format!("{}\n", line.text().trim_end())).collect()
    }

    #[test]
    fn the_screen_at_forty_eighty_and_a_hundred_and_twenty_columns() {
        for (columns, expected) in [(40, FORTY), (80, EIGHTY), (120, WIDE)] {
            assert_eq!(shown(&board(), (columns, 14)), expected, "{columns} columns");
        }
    }

    const FORTY: &str = "\
2 runs under way · 2 wait for you · liv…
  STATUS    TASKS  WHAT        NOW
› review           poem        Roses ar…
  approval         pay_bill    {\"input\"…
  running     1/2  An evenin…  poem: wa…
  running     0/3  Tea for t…  a rather…
  failed      0/1  Lunch       no luck
────────────────────────────────────────
run-3-review-0
Roses are red, and this line is long
enough to be broken between its words
[2Jsecond

a approve  r reject  x end run  ↑↓ choo…
";
    const EIGHTY: &str = "\
2 runs under way · 2 wait for you · live · http://127.0.0.1:7329
  STATUS    TASKS     FOR  WHAT               NOW
› review           2m 05s  poem               Roses are red, and this line is l…
  approval             5s  pay_bill           {\"input\":\"rent\"}
  running     1/2  2m 05s  An evening 蜂の巣  poem: waits for a review
  running     0/3     12s  Tea for two        a rather long name of a task
  failed      0/1  1m 04s  Lunch              no luck
────────────────────────────────────────────────────────────────────────────────
run-3-review-0
Roses are red, and this line is long enough to be broken between its words
[2Jsecond


a approve  r reject  x end run  ↑↓ choose  q leave
";
    const WIDE: &str = "\
2 runs under way · 2 wait for you · live · http://127.0.0.1:7329
  STATUS    TASKS     FOR  WHAT               NOW
› review           2m 05s  poem               Roses are red, and this line is long enough to be broken between its word…
  approval             5s  pay_bill           {\"input\":\"rent\"}
  running     1/2  2m 05s  An evening 蜂の巣  poem: waits for a review
  running     0/3     12s  Tea for two        a rather long name of a task
  failed      0/1  1m 04s  Lunch              no luck
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
run-3-review-0
Roses are red, and this line is long enough to be broken between its words
[2Jsecond


a approve  r reject  x end run  ↑↓ choose  q leave
";

    #[test]
    fn nothing_is_ever_wider_or_higher_than_the_terminal_and_the_chosen_row_stays_in_sight() {
        let mut board = board();
        for step in 0..6 {
            for size in [(1, 1), (3, 2), (12, 5), (39, 9), (79, 24), (200, 60)] {
                let lines = lines(&board, NOW, Size { width: size.0, height: size.1 });
                assert!(lines.len() <= size.1, "{size:?} {step}");
                assert!(lines.iter().all(|line| width(&line.text()) <= size.0), "{size:?} {step}");
                assert!(size.1 < 9 || lines.iter().any(|line| line.text().starts_with('›')), "{size:?} {step}");
            }
            let key = [Key::Down, Key::Down, Key::Sign('p'), Key::Sign('c'), Key::Up, Key::Up];
            press(&mut board, key[step].clone());
        }
    }

    #[test]
    fn what_is_typed_is_seen_and_the_keys_say_what_they_do() {
        let mut board = board();
        press(&mut board, Key::Sign('r'));
        "shorter".chars().for_each(|sign| press(&mut board, Key::Sign(sign)));
        let text = shown(&board, (79, 14));
        assert!(text.ends_with("What should be better? shorter▏\nEnter sends it  Esc leaves it\n"), "{text}");
    }

    #[test]
    fn a_decision_is_asked_for_in_words_that_fit() {
        let mut board = board();
        press(&mut board, Key::Sign('a'));
        let text = shown(&board, (39, 14));
        assert!(
            text.ends_with("approve poem (run-3-review-0): Roses a…\na moment …  any other key leaves it\n"),
            "{text}"
        );
        board.pass(board.next_change().unwrap());
        let text = shown(&board, (39, 14));
        assert!(text.ends_with("Roses a…\npress a again  any other key leaves it\n"), "{text}");
        press(&mut board, Key::Escape);
        press(&mut board, Key::Sign('x'));
        let text = shown(&board, (79, 14));
        assert!(text.contains("\nend the run at poem (run-3-review-0): Roses are red, and this"), "{text}");
    }
}
