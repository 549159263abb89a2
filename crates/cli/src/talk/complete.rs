//! Tab at the prompt: finds the word before the cursor that can be completed, and what
//! it may become. The candidates themselves come from the chat, except for files.

use std::path::Path;

use super::input;

/// Entries of a folder that are looked at; a larger one is not worth the wait.
const ENTRIES_MAX: usize = 10_000;

/// The things that a word may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A command.
    Command,
    /// A model.
    Model,
    /// A chat.
    Thread,
    /// A permission that was granted for this chat.
    Grant,
    /// A mode of permission.
    Mode,
    /// A setting of the memory.
    Memory,
    /// A file to attach.
    File,
}

/// A word that can be completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The kind of thing that it may name.
    pub(super) kind: Kind,
    /// The part that was typed, without the sign before it.
    pub(super) typed: String,
    /// The number of characters before it.
    pub(super) start: usize,
}

/// One of the things that a word may become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The whole word.
    pub(super) text: String,
    /// A short explanation for the list of candidates.
    pub(super) note: String,
}

/// The result of completing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Completion {
    /// Nothing begins with what was typed.
    Nothing,
    /// The word becomes this.
    Word(String),
    /// It may become any of these.
    Choices(Vec<Candidate>),
}

impl Word {
    /// Returns the word at the end of this text, if it can be completed.
    pub(super) fn of(before: &str) -> Option<Word> {
        let found = if before.starts_with('/') { command(before) } else { file(before) };
        let (kind, at, typed) = found?;
        Some(Word { kind, typed: typed.to_owned(), start: before.get(..at)?.chars().count() })
    }

    /// Completes it with these candidates.
    pub(super) fn complete(&self, candidates: Vec<Candidate>) -> Completion {
        let fits = |candidate: &Candidate| candidate.text.starts_with(&self.typed);
        let fitting: Vec<Candidate> = candidates.into_iter().filter(fits).collect();
        match fitting.as_slice() {
            [] => Completion::Nothing,
            // A folder is not the end of a path.
            [only] if only.text.ends_with('/') => Completion::Word(self.written(&only.text, End::Open)),
            [only] => Completion::Word(self.written(&only.text, End::Closed)),
            [first, others @ ..] => {
                let common = others.iter().fold(first.text.as_str(), |common, other| shared(common, &other.text));
                if common.len() > self.typed.len() {
                    Completion::Word(self.written(common, End::Open))
                } else {
                    Completion::Choices(fitting)
                }
            }
        }
    }

    /// Returns a completed word as it is typed.
    fn written(&self, text: &str, end: End) -> String {
        let is_quoted = self.kind == Kind::File && text.contains(char::is_whitespace);
        match (self.kind, end) {
            (Kind::File, End::Closed) if is_quoted => format!("@\"{text}\" "),
            (Kind::File, End::Open) if is_quoted => format!("@\"{text}"),
            (Kind::File, End::Closed) => format!("@{text} "),
            (Kind::File, End::Open) => format!("@{text}"),
            (_, End::Closed) => format!("{text} "),
            (_, End::Open) => text.to_owned(),
        }
    }
}

/// Whether a completed word is over.
#[derive(Clone, Copy)]
enum End {
    Closed,
    Open,
}

/// Returns the kind of a word of a command, its position, and what was typed of it.
fn command(before: &str) -> Option<(Kind, usize, &str)> {
    let Some((name, rest)) = before.split_once(' ') else { return Some((Kind::Command, 0, before)) };
    let typed = rest.trim_start();
    let kind = match name {
        "/model" => Kind::Model,
        "/threads" => Kind::Thread,
        "/revoke" => Kind::Grant,
        "/mode" => Kind::Mode,
        "/memory" => Kind::Memory,
        _ => return None,
    };
    (!typed.contains(char::is_whitespace)).then_some((kind, before.len() - typed.len(), typed))
}

/// Returns the position of a file that is named at the end of a message, and what was typed of it.
fn file(before: &str) -> Option<(Kind, usize, &str)> {
    let begins = |at: usize| {
        let last = before.get(..at).and_then(|text| text.chars().next_back());
        last.is_none_or(|char| char.is_whitespace() || char == '(')
    };
    let (at, _) = before.rmatch_indices('@').find(|(at, _)| begins(*at))?;
    let after = before.get(at + 1..)?;
    let (typed, ends) = match after.strip_prefix('"') {
        Some(quoted) => (quoted, quoted.contains('"')),
        None => (after, after.contains(char::is_whitespace)),
    };
    (!ends).then_some((Kind::File, at, typed))
}

/// Returns the common beginning of two texts.
fn shared<'a>(one: &'a str, other: &str) -> &'a str {
    let differs = one.char_indices().zip(other.chars()).find(|((_, a), b)| a != b).map(|((at, _), _)| at);
    one.get(..differs.unwrap_or(one.len().min(other.len()))).unwrap_or_default()
}

/// Returns the commands.
pub(super) fn commands() -> Vec<Candidate> {
    let lines = input::HELP.lines().filter(|line| line.starts_with('/'));
    let candidate = |line: &str| {
        let (name, note) = line.split_once(' ').unwrap_or((line, ""));
        Candidate { text: name.to_owned(), note: note.trim_start().to_owned() }
    };
    lines.map(candidate).collect()
}

/// Returns words that are always the same.
pub(super) fn words(words: &[&str]) -> Vec<Candidate> {
    words.iter().map(|word| Candidate { text: (*word).to_owned(), note: String::new() }).collect()
}

/// Returns the files and folders that a path may name. Hidden ones must be asked for, and names that
/// cannot be typed in a message are left out.
pub(super) fn files(typed: &str) -> Vec<Candidate> {
    let (folder, name) = typed.rsplit_once('/').unwrap_or(("", typed));
    let prefix = if typed.contains('/') { format!("{folder}/") } else { String::new() };
    let place = if prefix.is_empty() { Path::new(".") } else { Path::new(&prefix) };
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let candidate = |entry: std::fs::DirEntry| {
        let found = entry.file_name().into_string().ok()?;
        let shown = name.starts_with('.') || !found.starts_with('.');
        let fits = found.starts_with(name) && !found.contains(|char: char| char == '"' || char.is_control());
        let end = if entry.path().is_dir() { "/" } else { "" };
        (shown && fits).then(|| Candidate { text: format!("{prefix}{found}{end}"), note: String::new() })
    };
    let mut found: Vec<Candidate> = entries.flatten().take(ENTRIES_MAX).filter_map(candidate).collect();
    found.sort_by(|one, other| one.text.cmp(&other.text));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(before: &str) -> Option<(Kind, String, usize)> {
        Word::of(before).map(|word| (word.kind, word.typed, word.start))
    }

    #[test]
    fn the_word_before_the_cursor_decides_what_is_completed() {
        let cases = [
            ("/", Some((Kind::Command, "/", 0))),
            ("/mo", Some((Kind::Command, "/mo", 0))),
            ("/model ", Some((Kind::Model, "", 7))),
            ("/model  fa", Some((Kind::Model, "fa", 8))),
            ("/threads thread-1", Some((Kind::Thread, "thread-1", 9))),
            ("/revoke g", Some((Kind::Grant, "g", 8))),
            ("/mode p", Some((Kind::Mode, "p", 6))),
            ("/memory ", Some((Kind::Memory, "", 8))),
            ("/model a b", None),
            ("/help x", None),
            ("hello", None),
            ("sum up ä @pl", Some((Kind::File, "pl", 9))),
            ("(@docs/", Some((Kind::File, "docs/", 1))),
            ("see @\"my pl", Some((Kind::File, "my pl", 4))),
            ("see @\"my plan\" an", None),
            ("me@home", None),
            ("@a b", None),
            ("one\n@b", Some((Kind::File, "b", 4))),
        ];
        for (before, expected) in cases {
            let expected = expected.map(|(kind, typed, start)| (kind, typed.to_owned(), start));
            assert_eq!(word(before), expected, "{before:?}");
        }
    }

    #[test]
    fn a_word_is_completed_as_far_as_it_is_certain() {
        let completed = |before: &str, candidates: &[&str]| Word::of(before).unwrap().complete(words(candidates));
        let word = |text: &str| Completion::Word(text.to_owned());
        assert_eq!(completed("/model f", &["fast", "slow"]), word("fast "));
        assert_eq!(completed("/model ", &["fast", "fäst"]), word("f"));
        assert_eq!(completed("/model f", &["fast", "fäst"]), Completion::Choices(words(&["fast", "fäst"])));
        assert_eq!(completed("/model fast", &["fast", "faster"]), Completion::Choices(words(&["fast", "faster"])));
        assert_eq!(completed("/model x", &["fast"]), Completion::Nothing);
        assert_eq!(completed("@d", &["docs/"]), word("@docs/"));
        assert_eq!(completed("@my", &["my plan.pdf"]), word("@\"my plan.pdf\" "));
        assert_eq!(completed("@\"my p", &["my plan.pdf", "my plot.pdf"]), word("@\"my pl"));
        assert!(commands().iter().any(|command| command.text == "/threads" && command.note.starts_with("[ID]")));
    }

    #[test]
    fn files_are_found_in_the_folder_that_was_typed() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("plans")).unwrap();
        for name in ["plan.pdf", ".hidden", "a\"b", "other"] {
            std::fs::write(home.path().join(name), "x").unwrap();
        }
        let found = |typed: &str| {
            let typed = format!("{}/{typed}", home.path().display());
            let names = files(&typed).into_iter().map(|file| file.text);
            names
                .map(|name| name.strip_prefix(&format!("{}/", home.path().display())).unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(found(""), ["other", "plan.pdf", "plans/"]);
        assert_eq!(
            (found("pl"), found(".h")),
            (vec!["plan.pdf".to_owned(), "plans/".to_owned()], vec![".hidden".to_owned()])
        );
        assert_eq!(found("nowhere/"), Vec::<String>::new());
    }
}
