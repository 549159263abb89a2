//! The lines of a run on a terminal: one per task, its subtasks below it, and one for
//! the whole. Columns that find no room are left out, the least important first;
//! active tasks are shown before waiting ones.

use std::time::Duration;

use consort_core::status::Status;

use super::instance::instance;
use super::safe::safe;
use super::view::{Call, Conversation, State, Task, View};
use super::words::{counted, cut, cut_start, dollars, one_line, padded, right, soon, span, until, width};
use super::wrap;

/// Minimal columns for a task's activity, before other columns are left out.
const DOING_MIN: usize = 20;
/// The maximum number of columns of a name.
const NAME_MAX: usize = 28;
const GAP: &str = "  ";
/// The duration of one step of the spinner.
const SPIN: Duration = Duration::from_millis(100);
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The available room, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Columns.
    pub(crate) width: usize,
    /// Lines.
    pub(crate) height: usize,
}

/// The emphasis of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Normal.
    Plain,
    /// Less important.
    Faint,
    /// In progress.
    Busy,
    /// Success.
    Good,
    /// A warning.
    Odd,
    /// A failure.
    Bad,
}

/// One line, in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line(pub(crate) Vec<(Tone, String)>);

impl Line {
    /// Returns the columns it takes on a terminal.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width(&safe(text))).sum()
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Returns the line as lines of at most this many columns, broken between words.
    pub(crate) fn broken(&self, columns: usize) -> Vec<Line> {
        let pieces: Vec<(Tone, String)> = self.0.iter().map(|(tone, text)| (*tone, safe(text))).collect();
        let text: String = pieces.iter().map(|(_, text)| text.as_str()).collect();
        let mut signs = pieces.iter().flat_map(|(tone, text)| text.chars().map(move |sign| (*tone, sign)));
        let toned = |row: &String| {
            let mut line: Vec<(Tone, String)> = Vec::new();
            for sign in row.chars() {
                // The spaces at which rows end are in none of them.
                let tone = signs.find(|(_, next)| *next == sign).map_or(Tone::Plain, |(tone, _)| tone);
                match line.last_mut() {
                    Some((last, text)) if *last == tone => text.push(sign),
                    Some(_) | None => line.push((tone, sign.to_string())),
                }
            }
            Line(line)
        };
        wrap::rows(&text, columns.max(1)).iter().map(toned).collect()
    }
}

/// Returns the run as lines that fit.
pub(crate) fn lines(view: &View, now: Duration, size: Size) -> Vec<Line> {
    let mut rows: Vec<Row> = view.tasks.iter().flat_map(|task| rows(view, task, now)).collect();
    let all = rows.len();
    // One line is for the whole run and one for the cursor, and the first stays
    // free: some terminals keep a copy of what is cleared from there on.
    keep(&mut rows, size.height.saturating_sub(3).max(1));
    let hidden = all - rows.len();
    rows.push(whole(view, now, hidden));
    let columns = Columns::fit(&rows, size.width);
    rows.iter().map(|row| columns.line(row)).collect()
}

/// The content of a line, before it is cut to fit.
struct Row {
    tone: Tone,
    mark: &'static str,
    name: String,
    doing: Activity,
    /// Model, tokens, cost and time; empty where there is no value.
    cells: [String; 4],
    urgency: Urgency,
}

/// The activity of a task, as a text that may be cut.
enum Activity {
    /// The start of the text matters.
    Start(String),
    /// The end of the text matters.
    End(String),
}

impl Activity {
    /// Returns the text as a terminal shows it, so that its visible width is measured.
    fn shown(self) -> Activity {
        match self {
            Activity::Start(text) => Activity::Start(safe(&text)),
            Activity::End(text) => Activity::End(safe(&text)),
        }
    }

    fn width(&self) -> usize {
        match self {
            Activity::Start(text) | Activity::End(text) => width(text),
        }
    }
}

/// The priority of a line when there is no room for all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    Now,
    Soon,
    Later,
    Over,
}

/// The order in which the four cells are left out.
const LEFT_OUT: [usize; 4] = [0, 1, 2, 3];

/// Returns a task's line and those of its subtasks, which are hidden when it has ended.
fn rows(view: &View, task: &Task, now: Duration) -> Vec<Row> {
    let mut rows = vec![row(&task.conversation, task_doing(view, task, now), now)];
    if !task.conversation.state.has_ended() {
        rows.extend(task.subtasks.iter().map(|subtask| row(subtask, doing(subtask, now), now)));
    }
    rows
}

fn row(conversation: &Conversation, doing: Activity, now: Duration) -> Row {
    let (tone, mark, urgency) = mark(&conversation.state, now);
    let depth = conversation.id.matches('.').count() / 2 + usize::from(instance(&conversation.id).is_some());
    let elapsed = conversation.took.or_else(|| conversation.began.map(|began| now.saturating_sub(began)));
    let cells = [
        safe(&conversation.model),
        conversation.tokens.map(|tokens| counted(tokens, "token")).unwrap_or_default(),
        conversation.cost.map(dollars).unwrap_or_default(),
        elapsed.map(span).unwrap_or_default(),
    ];
    let name = format!("{}{}", GAP.repeat(depth), safe(&conversation.name));
    Row { tone, mark, name, doing: doing.shown(), cells, urgency }
}

/// Returns the line of the whole run.
fn whole(view: &View, now: Duration, hidden: usize) -> Row {
    let status = match view.result.as_ref().map(|result| result.status) {
        Some(Status::Failed | Status::Accepted | Status::Running | Status::Rejected) => "failed, ",
        Some(Status::Cancelled) => "cancelled, ",
        Some(Status::Completed) | None => "",
    };
    let mut text = format!("{status}{} of {} done", view.finished(), counted(view.declared.len() as u64, "task"));
    if hidden > 0 {
        text.push_str(&format!(", {} not shown", counted(hidden as u64, "line")));
    }
    if let Some(hold) = &view.hold {
        text.push_str(&format!(", {hold}"));
    }
    let result = view.result.as_ref();
    let tokens = result.map_or_else(|| view.tokens(), |result| result.tokens);
    let cost = result.map_or_else(|| view.cost(), |result| result.cost);
    let cells = [
        String::new(),
        tokens.map(|tokens| counted(tokens, "token")).unwrap_or_default(),
        cost.map(dollars).unwrap_or_default(),
        span(result.map_or(now, |result| result.took)),
    ];
    let name = String::new();
    let doing = Activity::Start(text).shown();
    Row { tone: Tone::Faint, mark: " ", name, doing, cells, urgency: Urgency::Now }
}

/// Returns the spinner's current character.
pub(crate) fn spinning(now: Duration) -> &'static str {
    let step = usize::try_from(now.as_millis() / SPIN.as_millis()).unwrap_or_default();
    SPINNER.get(step % SPINNER.len()).copied().unwrap_or("·")
}

fn mark(state: &State, now: Duration) -> (Tone, &'static str, Urgency) {
    let spinning = spinning(now);
    match state {
        State::Pending => (Tone::Faint, "·", Urgency::Later),
        State::Ready => (Tone::Faint, "·", Urgency::Soon),
        State::Calling { open, .. } if open.is_empty() => (Tone::Faint, "·", Urgency::Soon),
        State::Split | State::Asking | State::Writing(_) | State::Calling { .. } => {
            (Tone::Busy, spinning, Urgency::Now)
        }
        State::Retrying { .. } => (Tone::Odd, "↻", Urgency::Now),
        State::Reviewing { .. } => (Tone::Odd, "?", Urgency::Now),
        State::Done => (Tone::Good, "✓", Urgency::Over),
        State::Failed(_) => (Tone::Bad, "✗", Urgency::Now),
        State::Cancelled => (Tone::Bad, "✗", Urgency::Over),
        State::Skipped(_) => (Tone::Faint, "–", Urgency::Over),
    }
}

/// Returns the activity of a task, including the states that only a task can have.
fn task_doing(view: &View, task: &Task, now: Duration) -> Activity {
    let state = &task.conversation.state;
    if *state == State::Pending {
        let names: Vec<&str> = view.waits_for(task).collect();
        return Activity::Start(format!("waits for {}", names.join(", ")).trim_end_matches(" for ").to_owned());
    }
    let instances = task.instances().count();
    if *state == State::Split {
        let ended = task.instances().filter(|it| it.state.has_ended()).count();
        return Activity::Start(format!("{ended} done, {} under way", instances - ended));
    }
    if *state == State::Done && instances > 0 {
        return Activity::Start(counted(instances as u64, "instance"));
    }
    if *state == State::Done && !task.subtasks.is_empty() {
        return Activity::Start(counted(task.subtasks.len() as u64, "subtask"));
    }
    doing(&task.conversation, now)
}

fn doing(conversation: &Conversation, now: Duration) -> Activity {
    let text = match &conversation.state {
        State::Pending => "waits".to_owned(),
        State::Split => "under way".to_owned(),
        State::Ready => "waits for a free model slot".to_owned(),
        State::Asking => "asking".to_owned(),
        State::Writing(tail) => return Activity::End(one_line(tail)),
        State::Calling { open, .. } => calling(open),
        State::Retrying { at, why } => format!("retry in {}: {why}", soon(at.saturating_sub(now))),
        State::Reviewing { due: None, .. } => "waits for a review".to_owned(),
        State::Reviewing { due: Some(due), then } => {
            format!("waits for a review; in {} {then}", until(due.saturating_sub(now)))
        }
        State::Done => String::new(),
        State::Failed(reason) => reason.clone(),
        State::Cancelled => "cancelled".to_owned(),
        State::Skipped(reason) => format!("skipped: {reason}"),
    };
    Activity::Start(text)
}

fn calling(open: &[Call]) -> String {
    match open {
        [] => "waits for its turn to call a tool".to_owned(),
        [only] => only.what.clone(),
        several => {
            let whats: Vec<&str> = several.iter().map(|call| call.what.as_str()).collect();
            format!("{} calls: {}", several.len(), whats.join("; "))
        }
    }
}

/// Keeps the most urgent lines, in their order.
fn keep(rows: &mut Vec<Row>, room: usize) {
    if rows.len() <= room {
        return;
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|index| (rows.get(*index).map(|row| row.urgency), *index));
    order.truncate(room);
    let mut index = 0;
    rows.retain(|_| {
        index += 1;
        order.contains(&(index - 1))
    });
}

/// The width of each column; a cell of width 0 is left out.
struct Columns {
    name: usize,
    doing: usize,
    cells: [usize; 4],
}

impl Columns {
    fn fit(rows: &[Row], total: usize) -> Columns {
        let widest = |text: fn(&Row) -> usize| rows.iter().map(text).max().unwrap_or(0);
        let name = widest(|row| width(&row.name)).min(NAME_MAX).min(total / 3);
        let mut cells = [0; 4];
        for (index, cell) in cells.iter_mut().enumerate() {
            *cell = rows.iter().filter_map(|row| row.cells.get(index)).map(|cell| width(cell)).max().unwrap_or(0);
        }
        let doing = |cells: &[usize; 4]| {
            let taken: usize = cells.iter().filter(|cell| **cell > 0).map(|cell| cell + GAP.len()).sum();
            total.saturating_sub(2 + name + GAP.len() + taken)
        };
        // Where little is said, as at the end of a run, the cells stay.
        let named = |row: &Row| if row.name.is_empty() { name + GAP.len() } else { 0 };
        let said = rows.iter().map(|row| row.doing.width().saturating_sub(named(row))).max().unwrap_or(0);
        for index in LEFT_OUT {
            if doing(&cells) >= DOING_MIN.min(said) {
                break;
            }
            cells.iter_mut().skip(index).take(1).for_each(|cell| *cell = 0);
        }
        Columns { name, doing: doing(&cells), cells }
    }

    fn line(&self, row: &Row) -> Line {
        let mut pieces = vec![(row.tone, format!("{} ", row.mark))];
        let (named, room) = match row.name.as_str() {
            "" => (String::new(), self.name + GAP.len() + self.doing),
            name => (padded(&cut(name, self.name), self.name) + GAP, self.doing),
        };
        pieces.push((Tone::Plain, named));
        let doing = match &row.doing {
            Activity::Start(text) => cut(text, room),
            Activity::End(text) => cut_start(text, room),
        };
        let tone = if row.tone == Tone::Busy { Tone::Plain } else { row.tone };
        pieces.push((tone, padded(&doing, room)));
        let cells = row.cells.iter().zip(self.cells).filter(|(_, columns)| *columns > 0);
        let cells: String = cells.map(|(cell, columns)| format!("{GAP}{}", right(cell, columns))).collect();
        pieces.push((Tone::Faint, cells.trim_end().to_owned()));
        Line(pieces)
    }
}
