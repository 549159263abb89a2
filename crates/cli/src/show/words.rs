//! Numbers, durations and texts formatted for one line.

use std::time::Duration;

use console::measure_text_width;

/// The mark where a text was cut.
const CUT: &str = "…";

/// Formats a duration: `0.4s`, `12.3s`, `2m 05s`, `1h 02m`.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => format!("{seconds}.{}s", span.subsec_millis() / 100),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// Formats the time until something, in whole seconds: `3s`, `4m 58s`.
pub(crate) fn until(left: Duration) -> String {
    let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
    if seconds < 60 { format!("{seconds}s") } else { span(Duration::from_secs(seconds)) }
}

/// Formats the time until something soon, in tenths of a second: `0.4s`, `3.5s`.
pub(crate) fn soon(left: Duration) -> String {
    if left >= Duration::from_secs(10) {
        return until(left);
    }
    let tenths = left.as_millis().div_ceil(100);
    format!("{}.{}s", tenths / 10, tenths % 10)
}

/// Formats the age of something: `12s ago`, `5m ago`, `3h ago`, `2d ago`.
pub(crate) fn ago(past: Duration) -> String {
    let seconds = past.as_secs();
    match seconds {
        0 => "just now".to_owned(),
        1..60 => format!("{seconds}s ago"),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86_400 => format!("{}h ago", seconds / 3600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// Formats a count with its noun: `1 task`, `2 tasks`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{} {what}s", grouped(count)) }
}

/// Formats a number with separators: `12,345`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats dollars: `$0.0012`, `$1.25`; small amounts need more digits.
pub(crate) fn dollars(usd: f64) -> String {
    if usd < 1.0 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// Returns the text in one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text of a model in one line, without the signs of Markdown at the beginnings of its lines and around words.
pub(crate) fn preview(text: &str) -> String {
    let sign = |word: &&str| matches!(*word, "-" | "*" | ">") || (!word.is_empty() && word.chars().all(|it| it == '#'));
    let line = |line: &str| line.split_whitespace().skip_while(sign).collect::<Vec<_>>().join(" ").replace("**", "");
    one_line(&text.lines().map(line).collect::<Vec<_>>().join(" "))
}

/// Returns the number of columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    measure_text_width(text)
}

/// Returns the start of a text, as much as fits.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let fits = fitting(text.chars(), room);
    let start: String = text.chars().take(fits).collect();
    if columns == 0 { String::new() } else { start.trim_end().to_owned() + CUT }
}

/// Returns the end of a text, as much as fits.
pub(crate) fn cut_start(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let fits = fitting(text.chars().rev(), columns.saturating_sub(1));
    let end: String = text.chars().skip(text.chars().count() - fits).collect();
    if columns == 0 { String::new() } else { CUT.to_owned() + end.trim_start() }
}

/// Returns the text, padded with spaces at its end.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns the text, padded with spaces at its start.
pub(crate) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns the number of characters that fit.
fn fitting(characters: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut taken = 0;
    let fits = characters.take_while(|sign| {
        taken += width(sign.encode_utf8(&mut [0; 4]));
        taken <= columns
    });
    fits.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_one_line_without_the_signs_of_markdown() {
        let cases = [
            ("# Bees\n\n## Hives\n- **one** is full\n> said", "Bees Hives one is full said"),
            ("-5 degrees\n#1 of all", "-5 degrees #1 of all"),
            ("{\"a\": 1}", "{\"a\": 1}"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(preview(text), expected);
        }
    }

    #[test]
    fn spans_read_the_way_people_say_them() {
        let cases = [(0, "0.0s"), (12_345, "12.3s"), (59_999, "59.9s"), (125_000, "2m 05s"), (3_725_000, "1h 02m")];
        for (millis, text) in cases {
            assert_eq!(span(Duration::from_millis(millis)), text);
        }
        assert_eq!(
            (until(Duration::from_millis(2_001)), until(Duration::from_secs(298))),
            ("3s".into(), "4m 58s".into())
        );
        let cases = [(0, "0.0s"), (401, "0.5s"), (3_500, "3.5s"), (9_999, "10.0s"), (10_001, "11s")];
        for (millis, text) in cases {
            assert_eq!(soon(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn the_past_is_told_in_its_largest_unit() {
        let cases = [(0, "just now"), (59, "59s ago"), (3_599, "59m ago"), (86_399, "23h ago"), (200_000, "2d ago")];
        for (seconds, text) in cases {
            assert_eq!(ago(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn amounts_are_grouped_and_small_money_keeps_its_digits() {
        assert_eq!((counted(1, "token"), counted(1_234_567, "token")), ("1 token".into(), "1,234,567 tokens".into()));
        assert_eq!((counted(0, "task"), counted(123, "task")), ("0 tasks".into(), "123 tasks".into()));
        assert_eq!((dollars(0.001_24), dollars(12.345)), ("$0.0012".into(), "$12.35".into()));
    }

    #[test]
    fn texts_are_cut_by_columns_and_wide_characters_count_twice() {
        let cases = [
            ("short", 5, "short"),
            ("a longer one", 8, "a longe…"),
            ("a b", 2, "a…"),
            ("蜂の巣", 5, "蜂の…"),
            ("蜂の巣", 4, "蜂…"),
        ];
        for (text, columns, expected) in cases {
            assert_eq!(cut(text, columns), expected);
            assert!(width(&cut(text, columns)) <= columns);
        }
        assert_eq!(
            (cut_start("a longer one", 5), cut("x", 0), cut_start("x", 0)),
            ("…one".into(), String::new(), String::new())
        );
    }
}
