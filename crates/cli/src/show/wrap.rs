//! Text in rows of a certain width, broken between words.

use super::words::width;

/// Returns a text as rows of at most this many columns: its lines, broken between words where they are
/// too long. A word that is longer than a row is broken where the row is full.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    text.lines().flat_map(|line| rows(line, columns.max(1))).collect()
}

/// Returns a text whose lines are broken between words where they are too long. What follows a gap of spaces stays in
/// its column. A word that is longer than a row stays whole: it is an address, a path or an id, and the terminal copies
/// it as one.
pub(crate) fn broken(text: &str, columns: usize) -> String {
    let mut broken = String::new();
    for line in text.split_inclusive('\n') {
        let indent = column_of(line).filter(|indent| indent * 2 <= columns).unwrap_or(0);
        let mut used = 0;
        for word in line.split_inclusive(' ') {
            let visible = width(word.trim_end_matches([' ', '\n']));
            if used > indent && used + visible > columns {
                broken.truncate(broken.trim_end_matches(' ').len());
                broken.push('\n');
                broken.push_str(&" ".repeat(indent));
                used = indent;
            }
            used += width(word.trim_end_matches('\n'));
            broken.push_str(word);
        }
    }
    broken
}

/// Returns the column in which the text after a gap of at least two spaces begins.
fn column_of(line: &str) -> Option<usize> {
    let name = line.find(|sign| sign != ' ')?;
    let gap = name + line.get(name..)?.find("  ")?;
    let text = gap + line.get(gap..)?.find(|sign| sign != ' ')?;
    line.get(..text).map(width)
}

/// Returns a line as rows.
pub(crate) fn rows(line: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let visible = word.trim_end_matches(' ');
        if used > 0 && used + width(visible) > columns {
            rows.push(String::new());
            used = 0;
        }
        for sign in word.chars() {
            let wide = width(sign.encode_utf8(&mut [0; 4]));
            if used + wide > columns && sign == ' ' {
                // Spaces at the end of a row are not seen.
                continue;
            }
            if used + wide > columns && used > 0 {
                rows.push(String::new());
                used = 0;
            }
            used += wide;
            rows.iter_mut().last().into_iter().for_each(|row| row.push(sign));
        }
    }
    rows.iter().map(|row| row.trim_end_matches(' ').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_broken_between_words_and_what_is_copied_stays_whole() {
        let cases = [
            ("the terminal window\n", 12, "the terminal\nwindow\n"),
            ("at http://127.0.0.1:7329/runs now", 9, "at\nhttp://127.0.0.1:7329/runs\nnow"),
            ("one\ntwo three\n", 5, "one\ntwo\nthree\n"),
            ("/new   a new chat for you\n", 16, "/new   a new\n       chat for\n       you\n"),
            ("fits exactly\n", 12, "fits exactly\n"),
            ("", 4, ""),
        ];
        for (text, columns, expected) in cases {
            assert_eq!(broken(text, columns), expected, "{text:?} in {columns}");
        }
    }

    #[test]
    fn lines_are_broken_between_words_and_long_words_where_the_row_is_full() {
        let cases: [(&str, usize, &[&str]); 8] = [
            ("the terminal window", 12, &["the terminal", "window"]),
            ("a\n\nb", 5, &["a", "", "b"]),
            ("  - indented words", 10, &["  -", "indented", "words"]),
            ("abcdefgh", 3, &["abc", "def", "gh"]),
            ("to abcdefgh", 4, &["to", "abcd", "efgh"]),
            ("蜂の巣 bee", 5, &["蜂の", "巣", "bee"]),
            ("fits exactly", 12, &["fits exactly"]),
            ("x", 0, &["x"]),
        ];
        for (text, columns, expected) in cases {
            assert_eq!(wrapped(text, columns), expected, "{text:?} in {columns}");
        }
    }
}
