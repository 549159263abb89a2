//! A message being typed, which may have several lines: the effect of each key on it.
//! Reading keys and drawing the message are done elsewhere.

use super::history::HISTORY_MAX;
use super::keyboard::Key;

/// The maximum number of characters of a message; more than a model reads at once.
const MESSAGE_MAX: usize = 1_000_000;
/// The character at the end of a line that continues the message in the next.
const CONTINUES: char = '\\';

/// A message and the ones before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Editor {
    text: Vec<char>,
    cursor: usize,
    history: Vec<String>,
    /// The index of the shown message in the history; its length for a new one.
    shown: usize,
    /// The new message, while one of the history is shown.
    draft: Vec<char>,
    /// The text that is searched for in the history, while it is.
    sought: Option<String>,
}

/// The result of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The message continues.
    More,
    /// The message continues, without the part that was too long.
    Full,
    /// The message continues, with the word before the cursor completed.
    Complete,
    /// The message is complete.
    Message(String),
    /// The user is leaving.
    Left,
}

impl Editor {
    /// The maximum number of characters of a message.
    pub(crate) const MAX: usize = MESSAGE_MAX;

    /// Creates an empty message after these.
    pub(crate) fn after_messages(history: Vec<String>) -> Editor {
        Editor { shown: history.len(), history, ..Editor::default() }
    }

    /// Returns the message so far.
    pub(crate) fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Returns the part before the cursor.
    pub(crate) fn before(&self) -> String {
        self.text.iter().take(self.cursor).collect()
    }

    /// Returns the part after the cursor.
    pub(crate) fn after(&self) -> String {
        self.text.iter().skip(self.cursor).collect()
    }

    /// Clears the message.
    pub(crate) fn clear(&mut self) {
        (self.cursor, self.shown) = (0, self.history.len());
        self.text.clear();
        self.draft.clear();
    }

    /// Adds a message to the history; returns whether it is new there.
    pub(crate) fn remember(&mut self, message: &str) -> bool {
        let is_new = !message.trim().is_empty() && self.history.last().is_none_or(|last| last != message);
        if is_new {
            self.history.push(message.to_owned());
            let excess = self.history.len().saturating_sub(HISTORY_MAX);
            self.history.drain(..excess);
        }
        self.shown = self.history.len();
        is_new
    }

    /// Replaces the text between a position and the cursor.
    pub(crate) fn replace(&mut self, from: usize, text: &str) -> Typed {
        self.erase(from.min(self.cursor));
        self.insert(&text.chars().collect::<Vec<_>>())
    }

    /// Handles a key.
    pub(crate) fn press(&mut self, key: Key) -> Typed {
        if key != Key::Search {
            self.sought = None;
        }
        match key {
            Key::Tab => return Typed::Complete,
            Key::NewLine => return self.insert(&['\n']),
            Key::Search => self.search(),
            Key::WordLeft => self.cursor = self.word(),
            Key::WordRight => self.cursor = self.word_end(),
            Key::Enter if self.cursor == self.text.len() && self.text.last() == Some(&CONTINUES) => {
                self.text.pop();
                self.cursor -= 1;
                return self.insert(&['\n']);
            }
            Key::Enter => {
                let message = self.text();
                self.clear();
                return Typed::Message(message);
            }
            Key::Leave if self.text.is_empty() => return Typed::Left,
            Key::Leave | Key::Delete => self.delete(),
            Key::Sign(sign) => return self.insert(&[sign]),
            Key::Paste(pasted) => return self.insert(&pasted.chars().collect::<Vec<_>>()),
            Key::Back if self.cursor > 0 => {
                self.cursor -= 1;
                self.delete();
            }
            Key::Back => {}
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.text.len()),
            Key::Home => self.cursor = self.line_start(),
            Key::End => self.cursor = self.line_end(),
            Key::Up => self.up(),
            Key::Down => self.down(),
            Key::EraseBefore => self.erase(self.line_start()),
            Key::EraseAfter => {
                let end = self.line_end();
                self.text.drain(self.cursor..end);
            }
            Key::EraseWord => self.erase(self.word()),
            Key::Escape => {
                // It can be restored, in case the key was a mistake.
                let _either_way = self.remember(&self.text());
                self.clear();
            }
        }
        Typed::More
    }

    fn insert(&mut self, signs: &[char]) -> Typed {
        let room = MESSAGE_MAX.saturating_sub(self.text.len());
        let fitting = signs.get(..room.min(signs.len())).unwrap_or_default();
        self.text.splice(self.cursor..self.cursor, fitting.iter().copied());
        self.cursor += fitting.len();
        if fitting.len() < signs.len() { Typed::Full } else { Typed::More }
    }

    fn delete(&mut self) {
        if self.cursor < self.text.len() {
            self.text.remove(self.cursor);
        }
    }

    /// Erases from here to the cursor.
    fn erase(&mut self, from: usize) {
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }

    /// Returns the start of the word before the cursor.
    fn word(&self) -> usize {
        let before = || self.text.iter().take(self.cursor).rev();
        let spaces = before().take_while(|sign| sign.is_whitespace()).count();
        let letters = before().skip(spaces).take_while(|sign| !sign.is_whitespace()).count();
        self.cursor - spaces - letters
    }

    /// Returns the end of the word after the cursor.
    fn word_end(&self) -> usize {
        let after = || self.text.iter().skip(self.cursor);
        let spaces = after().take_while(|sign| sign.is_whitespace()).count();
        let letters = after().skip(spaces).take_while(|sign| !sign.is_whitespace()).count();
        self.cursor + spaces + letters
    }

    /// Shows the last message before the shown one that contains what was typed.
    fn search(&mut self) {
        let sought = self.sought.take().unwrap_or_else(|| self.text());
        let earlier = self.history.get(..self.shown).unwrap_or_default();
        if let Some(at) = earlier.iter().rposition(|message| message.contains(&sought)) {
            self.bring(at);
        }
        self.sought = Some(sought);
    }

    /// Returns the start of the cursor's line.
    fn line_start(&self) -> usize {
        self.cursor - self.text.iter().take(self.cursor).rev().take_while(|sign| **sign != '\n').count()
    }

    /// Returns the end of the cursor's line.
    fn line_end(&self) -> usize {
        self.cursor + self.text.iter().skip(self.cursor).take_while(|sign| **sign != '\n').count()
    }

    /// Moves to the line above; from the first one, to the previous message.
    fn up(&mut self) {
        let start = self.line_start();
        if start == 0 {
            return self.bring(self.shown.saturating_sub(1));
        }
        let column = self.cursor - start;
        self.cursor = start - 1;
        self.cursor = (self.line_start() + column).min(start - 1);
    }

    /// Moves to the line below; from the last one, to the next message.
    fn down(&mut self) {
        let start = self.line_start();
        let end = self.line_end();
        if end == self.text.len() {
            return self.bring(self.shown + 1);
        }
        let column = self.cursor - start;
        self.cursor = end + 1;
        self.cursor = (end + 1 + column).min(self.line_end());
    }

    /// Shows a message of the history; after the last one comes the new one.
    fn bring(&mut self, at: usize) {
        let at = at.min(self.history.len());
        if at == self.shown {
            return;
        }
        if self.shown == self.history.len() {
            self.draft = std::mem::take(&mut self.text);
        }
        self.shown = at;
        self.text = match self.history.get(at) {
            Some(message) => message.chars().collect(),
            None => std::mem::take(&mut self.draft),
        };
        self.cursor = self.text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(editor: &mut Editor, keys: &[Key]) -> String {
        keys.iter().for_each(|key| assert_eq!(editor.press(key.clone()), Typed::More));
        format!("{}|{}", editor.before(), editor.after())
    }

    fn signs(text: &str) -> Vec<Key> {
        text.chars().map(Key::Sign).collect()
    }

    fn paste(text: &str) -> Key {
        Key::Paste(text.to_owned())
    }

    #[test]
    fn a_line_is_edited_where_the_cursor_is() {
        let mut editor = Editor::default();
        let mut press = |keys: &[Key]| typed(&mut editor, keys);
        assert_eq!(press(&signs("one twö")), "one twö|");
        assert_eq!(press(&[Key::Left, Key::Back, Key::Sign('z')]), "one tz|ö");
        assert_eq!(press(&[Key::Leave]), "one tz|");
        assert_eq!(press(&[Key::EraseWord]), "one |");
        assert_eq!(press(&[Key::Home, Key::Delete, Key::Right, Key::EraseAfter, Key::Right]), "n|");
        assert_eq!(press(&[Key::EraseBefore, Key::Back, Key::Delete]), "|");
        assert_eq!(editor.press(Key::Leave), Typed::Left);
    }

    #[test]
    fn earlier_messages_come_back_and_behind_them_is_the_new_one() {
        let mut editor = Editor::default();
        assert_eq!(["a", "b", "b", " "].map(|line| editor.remember(line)), [true, true, false, false]);
        assert_eq!(typed(&mut editor, &[Key::Sign('c'), Key::Up]), "b|");
        assert_eq!(typed(&mut editor, &[Key::Up, Key::Up]), "a|");
        assert_eq!(typed(&mut editor, &[Key::Down, Key::Down, Key::Down]), "c|");
        editor.press(Key::Up);
        assert_eq!(editor.press(Key::Enter), Typed::Message("b".to_owned()));
        assert_eq!(editor.text(), "");
        assert_eq!(typed(&mut editor, &[Key::Sign('d'), Key::Escape]), "|");
        assert_eq!(typed(&mut editor, &[Key::Up]), "d|", "what Esc cleared comes back");
    }

    #[test]
    fn a_paste_is_part_of_one_message_and_its_lines_are_edited() {
        let mut editor = Editor::default();
        assert_eq!(typed(&mut editor, &[paste("one\ntwo\nthree")]), "one\ntwo\nthree|");
        assert_eq!(typed(&mut editor, &[Key::Up]), "one\ntwo|\nthree");
        assert_eq!(typed(&mut editor, &[Key::Home, Key::Sign('2'), Key::Up]), "o|ne\n2two\nthree");
        assert_eq!(typed(&mut editor, &[Key::End, Key::Down, Key::EraseAfter]), "one\n2tw|\nthree");
        assert_eq!(typed(&mut editor, &[Key::EraseBefore, Key::Back]), "one|\nthree");
        assert_eq!(typed(&mut editor, &[Key::Down, paste("!")]), "one\nthr!|ee");
        assert_eq!(editor.press(Key::Enter), Typed::Message("one\nthr!ee".to_owned()));
    }

    #[test]
    fn messages_of_earlier_chats_are_looked_through_and_searched() {
        let history = ["eat honey", "drink tea", "honey cake"].map(str::to_owned).to_vec();
        let mut editor = Editor::after_messages(history);
        let mut press = |keys: &[Key]| typed(&mut editor, keys);
        assert_eq!(press(&[Key::Up]), "honey cake|");
        assert_eq!(press(&[Key::Down]), "|");
        assert_eq!(press(&[&signs("honey")[..], &[Key::Search]].concat()), "honey cake|");
        assert_eq!(press(&[Key::Search, Key::Search]), "eat honey|", "there is no earlier one");
        assert_eq!(press(&[Key::WordLeft, Key::WordLeft, Key::WordRight, Key::Sign('s')]), "eats| honey");
        assert_eq!(press(&[Key::Down, Key::Down, Key::Down]), "honey|", "what was typed is behind them");
    }

    #[test]
    fn a_word_is_replaced_before_the_cursor_and_alt_enter_goes_on_in_the_next_line() {
        let mut editor = Editor::default();
        typed(&mut editor, &[&signs("see @plx")[..], &[Key::Left]].concat());
        assert_eq!(editor.press(Key::Tab), Typed::Complete);
        assert_eq!(editor.replace(4, "@plan.pdf "), Typed::More);
        assert_eq!(typed(&mut editor, &[Key::NewLine]), "see @plan.pdf \n|x");
    }

    #[test]
    fn a_backslash_at_the_end_goes_on_in_the_next_line() {
        let mut editor = Editor::default();
        assert_eq!(typed(&mut editor, &[signs("a\\"), vec![Key::Enter], signs("b")].concat()), "a\nb|");
        assert_eq!(editor.press(Key::Enter), Typed::Message("a\nb".to_owned()));
    }

    #[test]
    fn a_message_has_a_limit_and_says_so() {
        let mut editor = Editor::default();
        assert_eq!(editor.press(paste(&"x".repeat(MESSAGE_MAX + 1))), Typed::Full);
        assert_eq!((editor.text().len(), editor.press(Key::Sign('y'))), (MESSAGE_MAX, Typed::Full));
    }
}
