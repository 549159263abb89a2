//! A line being typed: what each key does to it. Reading keys and drawing the
//! line are done elsewhere.

use super::keyboard::Key;

/// Lines that can be brought back; more than anybody looks through.
const HISTORY_MAX: usize = 500;

/// A line and the ones before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Editor {
    text: Vec<char>,
    cursor: usize,
    history: Vec<String>,
    /// Which line of the history is shown; its length for a new one.
    shown: usize,
}

/// What a key came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The line goes on.
    More,
    /// It is finished.
    Line(String),
    /// Whoever typed is leaving.
    Left,
}

impl Editor {
    /// The line so far.
    pub(crate) fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// The part of it before the cursor.
    pub(crate) fn before(&self) -> String {
        self.text.iter().take(self.cursor).collect()
    }

    /// Empties the line.
    pub(crate) fn clear(&mut self) {
        (self.cursor, self.shown) = (0, self.history.len());
        self.text.clear();
    }

    /// Keeps a line to be brought back.
    pub(crate) fn remember(&mut self, line: &str) {
        if !line.trim().is_empty() && self.history.last().is_none_or(|last| last != line) {
            self.history.push(line.to_owned());
            let excess = self.history.len().saturating_sub(HISTORY_MAX);
            self.history.drain(..excess);
        }
        self.shown = self.history.len();
    }

    /// A key was pressed.
    pub(crate) fn press(&mut self, key: Key) -> Typed {
        match key {
            Key::Enter => {
                let line = self.text();
                self.clear();
                return Typed::Line(line);
            }
            Key::Leave if self.text.is_empty() => return Typed::Left,
            Key::Leave | Key::Delete => self.delete(),
            Key::Sign(sign) => {
                self.text.insert(self.cursor, sign);
                self.cursor += 1;
            }
            Key::Back if self.cursor > 0 => {
                self.cursor -= 1;
                self.delete();
            }
            Key::Back => {}
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.text.len()),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.text.len(),
            Key::Up => self.bring(self.shown.saturating_sub(1)),
            Key::Down => self.bring(self.shown + 1),
            Key::EraseBefore => self.erase(0),
            Key::EraseAfter => self.text.truncate(self.cursor),
            Key::EraseWord => self.erase(self.word()),
            Key::Escape => self.clear(),
        }
        Typed::More
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

    /// Where the word before the cursor begins.
    fn word(&self) -> usize {
        let before = || self.text.iter().take(self.cursor).rev();
        let spaces = before().take_while(|sign| sign.is_whitespace()).count();
        let letters = before().skip(spaces).take_while(|sign| !sign.is_whitespace()).count();
        self.cursor - spaces - letters
    }

    /// Shows a line of the history; behind the last one there is a new line.
    fn bring(&mut self, at: usize) {
        self.shown = at.min(self.history.len());
        self.text = self.history.get(self.shown).map(|line| line.chars().collect()).unwrap_or_default();
        self.cursor = self.text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(editor: &mut Editor, keys: &[Key]) -> String {
        keys.iter().for_each(|key| assert_eq!(editor.press(*key), Typed::More));
        format!("{}|{}", editor.before(), editor.text().strip_prefix(&editor.before()).unwrap())
    }

    #[test]
    fn a_line_is_edited_where_the_cursor_is() {
        let mut editor = Editor::default();
        let mut press = |keys: &[Key]| typed(&mut editor, keys);
        let signs: Vec<Key> = "one twö".chars().map(Key::Sign).collect();
        assert_eq!(press(&signs), "one twö|");
        assert_eq!(press(&[Key::Left, Key::Back, Key::Sign('z')]), "one tz|ö");
        assert_eq!(press(&[Key::Leave]), "one tz|");
        assert_eq!(press(&[Key::EraseWord]), "one |");
        assert_eq!(press(&[Key::Home, Key::Delete, Key::Right, Key::EraseAfter, Key::Right]), "n|");
        assert_eq!(press(&[Key::EraseBefore, Key::Back, Key::Delete]), "|");
        assert_eq!(editor.press(Key::Leave), Typed::Left);
    }

    #[test]
    fn earlier_lines_come_back_and_behind_them_is_a_new_one() {
        let mut editor = Editor::default();
        ["a", "b", "b", " "].iter().for_each(|line| editor.remember(line));
        assert_eq!(typed(&mut editor, &[Key::Up]), "b|");
        assert_eq!(typed(&mut editor, &[Key::Up, Key::Up]), "a|");
        assert_eq!(typed(&mut editor, &[Key::Down, Key::Down, Key::Down]), "|");
        editor.press(Key::Up);
        assert_eq!(editor.press(Key::Enter), Typed::Line("b".to_owned()));
        assert_eq!(editor.text(), "");
    }
}
