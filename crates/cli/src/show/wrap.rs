//! Text in rows of a certain width, broken between words.

use super::words::width;

/// Returns a text as rows of at most this many columns: its lines, broken between words where they are
/// too long. A word that is longer than a row is broken where the row is full.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    text.lines().flat_map(|line| rows(line, columns.max(1))).collect()
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
