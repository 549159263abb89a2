//! The output of `run`, `chat` and lists on terminals of 40, 80 and 120 columns: no line is broken by the terminal itself,
//! which would break it within a word.

use std::path::Path;

use crate::model::Model;
use crate::served::Served;
use crate::terminal::Terminal;

const COLUMNS: [u16; 3] = [40, 80, 120];
const ANSWER: &str = "# The waggle dance\n\nA forager that has found flowers dances on the comb, and her sisters follow \
    her with their antennae until they know where to fly.\n\n- the angle of the dance is the direction, against the sun\n\
    - its length is the distance\n";
const ENSEMBLE: &str = "[ensemble]\nname = 'evening'\n[[ensemble.task]]\nname = 'a-rather-long-name-of-a-task'\n\
    description = 'Write about the dance of bees'\n[[ensemble.task]]\nname = 'check'\ndescription = 'Check it'\n\
    context = ['$a-rather-long-name-of-a-task']\n";

/// A terminal as it looks in the end.
#[derive(Default)]
struct Picture {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Rows that were full when another character came.
    spilled: Vec<String>,
}

impl Picture {
    /// Returns what a terminal of this many columns shows of these bytes, which have no wide characters.
    fn of(sent: &[u8], columns: u16) -> Picture {
        let mut picture = Picture::default();
        let text = String::from_utf8_lossy(sent).into_owned();
        let mut signs = text.chars();
        while let Some(sign) = signs.next() {
            match sign {
                '\r' => picture.column = 0,
                '\n' => picture.row += 1,
                '\u{1b}' => picture.control(&mut signs),
                sign if sign.is_control() => {}
                sign => picture.put(sign, usize::from(columns)),
            }
        }
        picture
    }

    fn put(&mut self, sign: char, columns: usize) {
        if self.column >= columns {
            let full: String = self.line().iter().collect();
            self.spilled.push(full);
            self.row += 1;
            self.column = 0;
        }
        let column = self.column;
        let line = self.line();
        line.resize(line.len().max(column + 1), ' ');
        line[column] = sign;
        self.column += 1;
    }

    fn line(&mut self) -> &mut Vec<char> {
        let row = self.row;
        self.rows.resize(self.rows.len().max(row + 1), Vec::new());
        &mut self.rows[row]
    }

    /// Follows a sequence of which the first byte was read.
    fn control(&mut self, signs: &mut std::str::Chars<'_>) {
        if signs.next() != Some('[') {
            return;
        }
        let mut number = String::new();
        let Some(word) = signs.find(|sign| {
            number.push(*sign);
            sign.is_alphabetic()
        }) else {
            return;
        };
        let count: usize = number.trim_end_matches(word).parse().unwrap_or(1);
        let column = self.column;
        match word {
            'A' => self.row = self.row.saturating_sub(count),
            'B' => self.row += count,
            'G' => self.column = count - 1,
            'K' => self.line().truncate(column),
            'J' => {
                self.line().truncate(column);
                let row = self.row;
                self.rows.truncate(row + 1);
            }
            _ => {}
        }
    }

    fn text(&self) -> String {
        let lines = self.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Runs a command on a terminal of each width; returns what it leaves there.
fn pictures(folder: &Path, args: &[&str]) -> [String; 3] {
    COLUMNS.map(|columns| {
        let (status, sent) = Terminal::sized(columns, folder, args).transcript();
        let picture = Picture::of(&sent, columns);
        let text = picture.text();
        // An id is left to the terminal, which copies it as one word.
        let spilled: Vec<&String> = picture.spilled.iter().filter(|line| !line.starts_with("run  ")).collect();
        assert_eq!((status, spilled), (Some(0), Vec::new()), "{columns} columns:\n{text}");
        text
    })
}

/// Starts a server whose model always answers alike.
fn served() -> (Served, Model) {
    let model = Model::saying(ANSWER);
    let server = Served::start(Some(&format!("{}{ENSEMBLE}", model.config)));
    (server, model)
}

#[test]
fn a_run_leaves_its_tasks_their_times_and_its_answer_at_any_width() {
    let (server, _model) = served();
    let [narrow, middle, wide] = pictures(server.folder.path(), &["run", "--url", &server.url]);
    for picture in [&narrow, &middle, &wide] {
        assert!(picture.contains("2 of 2 tasks done"), "{picture}");
        let tasks: Vec<&str> = picture.lines().filter(|line| line.starts_with('✓')).collect();
        assert_eq!(tasks.len(), 2, "{picture}");
        assert!(tasks.iter().all(|task| task.ends_with('s')), "each says how long it took: {picture}");
    }
    assert!(narrow.contains("✓ a-rather-lon…"), "{narrow}");
    assert!(narrow.contains("\nA forager that has found flowers dances\non the comb"), "{narrow}");
    assert!(narrow.contains("\n- the angle of the dance is the\ndirection, against the sun\n"), "{narrow}");
    assert!(middle.contains("✓ a-rather-long-name-of-a-t…"), "{middle}");
    assert!(middle.contains("on the comb, and her sisters follow her\nwith their"), "{middle}");
    assert!(wide.contains("✓ a-rather-long-name-of-a-task"), "{wide}");
    assert!(wide.contains(" until they know\nwhere to fly."), "{wide}");
}

#[test]
fn a_conversation_is_broken_between_words_at_any_width() {
    let (server, _model) = served();
    let [narrow, middle, wide] = COLUMNS.map(|columns| {
        let args = ["chat", "--url", &server.url, "How do bees tell each other where the flowers are?"];
        let (status, sent) = Terminal::sized(columns, server.folder.path(), &args).transcript();
        let picture = Picture::of(&sent, columns);
        let text = picture.text();
        // The command to go on with, at the end, is left to the terminal, which copies it as one line.
        let command = text.find("to go on: consort").unwrap();
        let spilled: Vec<&String> =
            picture.spilled.iter().filter(|line| text[..command].contains(line.as_str())).collect();
        assert_eq!((status, spilled), (Some(0), Vec::new()), "{columns} columns:\n{text}");
        text
    });
    assert!(narrow.contains("\nA forager that has found flowers dances\non the comb"), "{narrow}");
    assert!(middle.contains("on the comb, and her sisters follow her\nwith their"), "{middle}");
    assert!(wide.contains(" until they know\nwhere to fly."), "{wide}");
}

/// Returns what a command leaves on a terminal of each width, however it ends.
fn transcripts(folder: &Path, args: &[&str]) -> [String; 3] {
    COLUMNS.map(|columns| {
        let (_, sent) = Terminal::sized(columns, folder, args).transcript();
        let picture = Picture::of(&sent, columns);
        let text = picture.text();
        // A path and a command to copy stay whole, and so does how a command is written.
        let is_whole =
            |line: &str| line.starts_with("Usage: ") || line.starts_with("to go on: ") || !line.trim().contains(' ');
        let spilled: Vec<&String> = picture.spilled.iter().filter(|line| !is_whole(line)).collect();
        assert!(spilled.is_empty(), "{args:?} in {columns} columns: {spilled:?}\n{text}");
        text
    })
}

#[test]
fn sentences_are_broken_between_words_at_any_width() {
    let folder = tempfile::tempdir().unwrap();
    let said = |args: &[&str]| transcripts(folder.path(), args);
    let [narrow, ..] = said(&["chat", "Hello"]);
    let first = "No consort.toml here: this is the\nbuilt-in demo, offline. It is kept in\nconsort-data.\n";
    assert!(narrow.starts_with(first), "{narrow}");
    let [narrow, ..] = said(&["run", "--input", "topic=bees"]);
    let first = "No consort.toml here: this is the\nbuilt-in demo, offline, and nothing is\nkept.\n";
    assert!(narrow.starts_with(first), "{narrow}");
    for args in [
        &["init"][..],
        &["check"],
        &["check", "--explain"],
        &["check", "--config", "nothing.toml"],
        &["backup", "nowhere/there/backup.db"],
        &["store", "check"],
        &["restore", "nothing"],
        &["runs", "list", "--url", "http://127.0.0.1:9"],
        &["top"],
        &["models", "test"],
        &["keys", "new", "cook"],
        &["runs", "fork", "run-1", "--output", "x"],
        &["no-such-command"],
    ] {
        said(args);
    }
}

#[test]
fn help_is_broken_between_words_at_any_width_and_is_as_written_for_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let help = |args: &[&str]| transcripts(folder.path(), &[args, &["--help"]].concat());
    let commands: &[&[&str]] = &[
        &[],
        &["init"],
        &["check"],
        &["backup"],
        &["restore"],
        &["store", "copy"],
        &["run"],
        &["chat"],
        &["serve"],
        &["top"],
        &["runs", "list"],
        &["runs", "fork"],
        &["reviews"],
        &["schedules"],
        &["webhooks"],
        &["threads"],
        &["workflows"],
        &["models", "test"],
        &["tools"],
        &["collections"],
        &["network"],
        &["mcp"],
        &["acp"],
        &["health"],
        &["keys", "new"],
        &["completions"],
    ];
    for args in commands {
        let [_, _, wide] = help(args);
        assert!(wide.contains("Usage: consort"), "{wide}");
    }
    let [narrow, middle, _] = help(&["runs", "fork"]);
    assert!(
        narrow.contains("\n      --task <NAME>\n          Keep what happened before this\n          task began\n"),
        "{narrow}"
    );
    assert!(middle.contains("  --task <NAME>         Keep what happened before this task began\n"), "{middle}");
}

#[test]
fn lists_fit_at_any_width() {
    let (server, _model) = served();
    server.said(&["run"]);
    for args in [&["runs", "list"][..], &["runs", "show", "latest"], &["tools", "list"], &["threads", "list"]] {
        let args: Vec<&str> = args.iter().copied().chain(["--url", &server.url]).collect();
        pictures(server.folder.path(), &args);
    }
}

#[test]
fn runs_are_found_by_their_words_model_and_dates_at_any_width() {
    let (server, _model) = served();
    let url = server.url.as_str();
    server.said(&["run"]);
    let found = |options: &[&str]| {
        let args: Vec<&str> = ["runs", "list", "--url", url].iter().chain(options).copied().collect();
        pictures(server.folder.path(), &args)
    };
    let filters = ["--search", "antennae", "--from", "2020-01-01", "--model", "m", "--order", "oldest"];
    let [narrow, middle, wide] = found(&filters);
    assert!(narrow.starts_with("RUN                   STATUS     ABOUT\n"), "{narrow}");
    for picture in [&middle, &wide] {
        // Its columns are as wide as its times, which are longer on a busy machine.
        let heads: Vec<&str> = picture.lines().next().unwrap_or_default().split_whitespace().collect();
        assert!(heads.starts_with(&["RUN", "STATUS", "TASKS", "STARTED"]), "{picture}");
        assert_eq!(heads.last(), Some(&"ABOUT"), "{picture}");
    }
    for picture in [&narrow, &middle, &wide] {
        assert_eq!(picture.matches("completed").count(), 1, "{picture}");
    }
    for options in [&["--search", "nobody"][..], &["--to", "2020-01-01"], &["--min-cost", "5"], &["--waiting"]] {
        assert_eq!(found(options), ["no runs"; 3], "{options:?}");
    }
    assert_eq!(found(&["--paused", "--status", "failed"]), ["no runs"; 3]);
}
