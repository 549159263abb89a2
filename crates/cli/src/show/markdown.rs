//! Markdown for a terminal, line by line as it comes: headings, lists, quotes, rules,
//! tables, code, bold, emphasis, links, broken between words. Unknown syntax stays as
//! it was written, and so does everything where there are no colours.

mod grid;
mod spans;

use self::spans::{CODE, Spans, inline};
use super::diff;
use super::drawing::{Drawing, Style};
use super::paint::Colour;
use super::safe::safe;
use super::wrap::wrapped;

/// Lines of a table that are kept until it is over; a longer one is shown as written.
const TABLE_MAX: usize = 1000;
/// Columns of a rule.
const RULE_MAX: usize = 40;
/// The space before a line of code.
const INDENT: &str = "  ";
/// The replacement of a tab, whose width would depend on its position.
const TAB: &str = "    ";

/// A text being shown.
#[derive(Clone, Debug)]
pub(crate) struct Markdown {
    colour: Colour,
    /// The code block that is open.
    code: Option<Block>,
    /// The lines of a table so far.
    table: Vec<String>,
}

/// A code block.
#[derive(Clone, Debug)]
struct Block {
    /// The fence that ends it.
    fence: String,
    /// Whether it shows changes of a file.
    is_diff: bool,
}

impl Markdown {
    /// Creates a formatter at the beginning of a text.
    pub(crate) fn new(colour: Colour) -> Markdown {
        Markdown { colour, code: None, table: Vec::new() }
    }

    /// Returns a whole text, formatted.
    pub(crate) fn text(colour: Colour, text: &str, columns: usize) -> Drawing {
        let mut markdown = Markdown::new(colour);
        let put = |drawn: Drawing, line| drawn.then(markdown.line(line, columns));
        let drawn = text.lines().fold(Drawing::default(), put);
        drawn.then(markdown.end(columns))
    }

    /// Returns one line as rows, each with its line end. The lines of a table come with the line after it.
    pub(crate) fn line(&mut self, line: &str, columns: usize) -> Drawing {
        // Before anything is measured.
        let line = safe(line).replace('\t', TAB);
        if self.colour == Colour::Off {
            return plain(&line, columns);
        }
        if self.code.is_none() && line.trim_start().starts_with('|') && self.table.len() < TABLE_MAX {
            self.table.push(line);
            return Drawing::default();
        }
        let table = self.table(columns);
        table.then(self.styled(&line, columns))
    }

    /// Ends the text: returns what is left of it, and begins another one.
    pub(crate) fn end(&mut self, columns: usize) -> Drawing {
        self.code = None;
        self.table(columns)
    }

    /// Returns the table that is over.
    fn table(&mut self, columns: usize) -> Drawing {
        let lines = std::mem::take(&mut self.table);
        let as_written = || lines.iter().fold(Drawing::default(), |drawn, line| drawn.then(block(line, columns)));
        grid::grid(&lines, columns).unwrap_or_else(as_written)
    }

    fn styled(&mut self, line: &str, columns: usize) -> Drawing {
        let text = line.trim_start();
        if let Some(Block { fence, is_diff }) = &self.code {
            if text.trim_end() == fence {
                self.code = None;
                return Drawing::default();
            }
            let line = if *is_diff { diff::line(line) } else { Drawing::of(line).styled(CODE) };
            // Code is never broken: it would be other code.
            return Drawing::of(INDENT).then(line).text("\n");
        }
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| text.starts_with(fence)) {
            let length = text.len() - text.trim_start_matches(['`', '~']).len();
            let language = text.get(length..).unwrap_or_default().trim();
            let fence = fence.chars().cycle().take(length).collect();
            self.code = Some(Block { fence, is_diff: language == "diff" });
            let label = Drawing::of(format!("{INDENT}{language}")).styled(Style::Faint).text("\n");
            return if language.is_empty() { Drawing::default() } else { label };
        }
        block(line, columns)
    }
}

/// Returns a line as written, broken between words.
fn plain(line: &str, columns: usize) -> Drawing {
    let mut rows = wrapped(line, columns);
    if rows.is_empty() {
        rows.push(String::new());
    }
    Drawing::of(rows.join("\n") + "\n")
}

/// Formats a line outside of code.
fn block(line: &str, columns: usize) -> Drawing {
    let text = line.trim_start();
    let indent = line.get(..line.len() - text.len()).unwrap_or_default();
    let marks = text.len() - text.trim_start_matches('#').len();
    if (1..=6).contains(&marks) && text.get(marks..).is_some_and(|rest| rest.starts_with(' ')) {
        let heading = Spans::of(text.get(marks + 1..).unwrap_or_default(), Style::Bold);
        return rows(&heading, &Prefix::plain("", ""), columns);
    }
    if is_rule(text) {
        return Drawing::of("─".repeat(columns.min(RULE_MAX))).styled(Style::Faint).text("\n");
    }
    let (depth, quoted) = unquoted(text);
    if depth > 0 {
        let bars = Spans::of("│ ".repeat(depth).trim_end(), Style::Faint).then(Spans::plain(" "));
        let bars = Spans::plain(indent).then(bars);
        return rows(&inline(quoted), &Prefix { first: bars.clone(), others: bars }, columns);
    }
    if let Some(item) = ["- ", "* ", "+ "].iter().find_map(|bullet| text.strip_prefix(bullet)) {
        return rows(&inline(item), &Prefix::plain(&format!("{indent}• "), &format!("{indent}  ")), columns);
    }
    let number = numbered(text);
    let others = format!("{indent}{}", " ".repeat(number.len()));
    let rest = text.get(number.len()..).unwrap_or_default();
    rows(&inline(rest), &Prefix::plain(&format!("{indent}{number}"), &others), columns)
}

/// The beginnings of the rows of a line, which are equally wide.
struct Prefix {
    first: Spans,
    others: Spans,
}

impl Prefix {
    fn plain(first: &str, others: &str) -> Prefix {
        Prefix { first: Spans::plain(first), others: Spans::plain(others) }
    }
}

fn rows(text: &Spans, prefix: &Prefix, columns: usize) -> Drawing {
    let mut drawn = Drawing::default();
    for (index, row) in text.wrapped(columns.saturating_sub(prefix.first.width())).iter().enumerate() {
        let prefix = if index == 0 { &prefix.first } else { &prefix.others };
        drawn = drawn.then(prefix.drawing()).then(row.drawing()).text("\n");
    }
    drawn
}

/// Returns whether a line is a rule across the text.
fn is_rule(text: &str) -> bool {
    let signs: Vec<char> = text.chars().filter(|sign| !sign.is_whitespace()).collect();
    signs.len() >= 3 && ['-', '*', '_'].iter().any(|rule| signs.iter().all(|sign| sign == rule))
}

/// Returns how often a text is quoted, and the text.
fn unquoted(text: &str) -> (usize, &str) {
    let mut depth = 0;
    let mut rest = text;
    while let Some(inner) = rest.strip_prefix('>') {
        depth += 1;
        rest = inner.strip_prefix(' ').unwrap_or(inner);
    }
    (depth, rest)
}

/// Returns the number at the start of an item of a list, as `12. `.
fn numbered(text: &str) -> &str {
    let digits = text.len() - text.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    let is_number = digits > 0 && text.get(digits..).is_some_and(|rest| rest.starts_with(". "));
    text.get(..if is_number { digits + 2 } else { 0 }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns styles as readable tags.
    fn tagged(drawing: &Drawing) -> String {
        let tags =
            [("\x1b[0m", "</>"), ("\x1b[1m", "<b>"), ("\x1b[3m", "<i>"), ("\x1b[36m", "<c>"), ("\x1b[4m", "<u>")];
        let tags = tags.into_iter().chain([("\x1b[2m", "<f>"), ("\x1b[32m", "<g>"), ("\x1b[31m", "<r>")]);
        tags.fold(drawing.for_terminal(), |text, (code, tag)| text.replace(code, tag))
    }

    fn shown(text: &str, columns: usize) -> String {
        tagged(&Markdown::text(Colour::On, text, columns)).trim_end_matches('\n').to_owned()
    }

    #[test]
    fn what_people_write_in_markdown_is_styled() {
        let cases = [
            ("## A **b** c", "<b>A **b** c</>"),
            ("#hashtag", "#hashtag"),
            ("  - one `x*y*z`", "  • one <c>x*y*z</>"),
            ("1. **First**: it _is_", "1. <b>First</>: it <i>is</>"),
            ("2 * 3 * 4 and a_b_c", "2 * 3 * 4 and a_b_c"),
            ("see [the page](http://a.b/c) now", "see <u>the page</> <f>(http://a.b/c)</> now"),
            ("> quoted", "<f>│</> quoted"),
            (">> twice", "<f>│ │</> twice"),
            ("**not closed", "**not closed"),
            ("**a *b* c**", "<b>a </><b><i>b</><b> c</>"),
            ("a\n\nb", "a\n\nb"),
            ("---", "<f>────────────────────────────────────────</>"),
            ("-- a", "-- a"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text, 80), expected, "{text}");
        }
    }

    #[test]
    fn lines_are_broken_between_words_and_go_on_below_their_beginning() {
        let cases = [
            ("the terminal window is narrow", "the terminal\nwindow is\nnarrow"),
            ("- one **two three four** five", "• one <b>two</>\n  <b>three four</>\n  five"),
            ("12. first second third", "12. first\n    second\n    third"),
            ("> quoted words stay quoted", "<f>│</> quoted words\n<f>│</> stay quoted"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text, 14), expected, "{text}");
        }
    }

    #[test]
    fn code_is_shown_without_its_fences_and_changes_in_their_colours() {
        assert_eq!(
            shown("```rust\n# not *a* heading and never broken\n```\n# yes", 20),
            "<f>  rust</>\n  <c># not *a* heading and never broken</>\n<b>yes</>"
        );
        assert_eq!(shown("````\n```\n````\n*a*", 20), "  <c>```</>\n<i>a</>");
        assert_eq!(shown("```diff\n-old\n+new\n same\n```", 20), "<f>  diff</>\n  <r>-old</>\n  <g>+new</>\n   same");
    }

    const TABLE: &str =
        "| Bee | Honey per year |\n|:----|---:|\n| Carniolan | **30 kg** |\n| Buckfast \\| hybrid | 40 |\nafter";

    #[test]
    fn tables_have_columns_that_fit() {
        let wide = [
            format!("<b>Bee</>{}<f> │ </><b>Honey per year</>", " ".repeat(14)),
            format!("<f>{}┼{}</>", "─".repeat(18), "─".repeat(15)),
            format!("Carniolan{}<f> │ </>{}<b>30 kg</>", " ".repeat(8), " ".repeat(9)),
            format!("Buckfast | hybrid<f> │ </>{}40", " ".repeat(12)),
            "after".to_owned(),
        ];
        assert_eq!(shown(TABLE, 80), wide.join("\n"));
        let narrow = shown(TABLE, 24);
        let rows: Vec<&str> = narrow.lines().collect();
        assert!(rows.len() > 5 && rows.contains(&"after"), "{narrow}");
        let widths = narrow.lines().map(|row| {
            let plain = ["</>", "<b>", "<f>"].iter().fold(row.to_owned(), |row, tag| row.replace(tag, ""));
            plain.chars().count()
        });
        assert!(widths.max() <= Some(24), "{narrow}");
        assert_eq!(shown("| no\n| table", 80), "| no\n| table");
        assert_eq!(shown("|a|b|c|\n|-|-|-|", 5), "|a|b|\nc|\n|-|-|\n-|", "too narrow: as written");
    }

    #[test]
    fn nothing_the_model_says_steers_the_terminal_and_without_colours_it_is_as_written() {
        assert_eq!(shown("a\u{1b}[2Jb", 80), "a[2Jb");
        assert_eq!(shown("**a\u{202e}**[b\u{9b}](http://c\u{1b}x)", 80), "<b>a\\u{202e}</><u>b</> <f>(http://cx)</>");
        let off = |text: &str, columns| Markdown::text(Colour::Off, text, columns).for_terminal();
        assert_eq!(off("# **a**\u{1b}\n\n| b |", 80), "# **a**\n\n| b |\n");
        assert_eq!(off("the terminal window", 12), "the terminal\nwindow\n");
    }
}
