//! Markdown for a terminal, line by line as it comes: headings, lists, code, bold,
//! emphasis, links. Unknown syntax stays as it was written.

use crate::show::drawing::{Drawing, Style};
use crate::show::paint::Colour;

/// The style of code.
const CODE: Style = Style::Cyan;

/// A text being shown.
#[derive(Clone, Debug)]
pub(crate) struct Markdown {
    colour: Colour,
    /// The fence that ends the current code block.
    fence: Option<String>,
}

impl Markdown {
    /// Creates a formatter at the beginning of a text.
    pub(crate) fn new(colour: Colour) -> Markdown {
        Markdown { colour, fence: None }
    }

    /// Begins another text.
    pub(crate) fn begin(&mut self) {
        self.fence = None;
    }

    /// Returns one line, styled.
    pub(crate) fn line(&mut self, line: &str) -> Drawing {
        match self.colour {
            Colour::Off => Drawing::of(line),
            Colour::On => self.styled(line),
        }
    }

    fn styled(&mut self, line: &str) -> Drawing {
        let text = line.trim_start();
        if let Some(fence) = &self.fence {
            if text.trim_end() == fence {
                self.fence = None;
                return Drawing::of(line).styled(Style::Faint);
            }
            return Drawing::of(line).styled(CODE);
        }
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| text.starts_with(fence)) {
            let length = text.len() - text.trim_start_matches(['`', '~']).len();
            self.fence = Some(fence.chars().cycle().take(length).collect());
            return Drawing::of(line).styled(Style::Faint);
        }
        block(line, text)
    }
}

/// Formats a line outside of code.
fn block(line: &str, text: &str) -> Drawing {
    let indent = line.get(..line.len() - text.len()).unwrap_or_default();
    let marks = text.len() - text.trim_start_matches('#').len();
    if (1..=6).contains(&marks) && text.get(marks..).is_some_and(|rest| rest.starts_with(' ')) {
        return Drawing::of(text.get(marks + 1..).unwrap_or_default()).styled(Style::Bold);
    }
    let indented = Drawing::of(indent);
    if let Some(quoted) = text.strip_prefix("> ") {
        return indented.then(Drawing::of("│").styled(Style::Faint)).text(" ").then(inline(quoted));
    }
    match ["- ", "* ", "+ "].iter().find_map(|bullet| text.strip_prefix(bullet)) {
        Some(item) => indented.text("• ").then(inline(item)),
        None => indented.then(inline(text)),
    }
}

/// Formats the styles within a line. Markers that are not closed stay literal.
fn inline(text: &str) -> Drawing {
    let mut shown = Drawing::default();
    let mut plain = String::new();
    let mut before = None;
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let length = if let Some((styled, length)) = span(rest, before) {
            shown = shown.text(std::mem::take(&mut plain)).then(styled);
            length
        } else {
            plain.push(sign);
            sign.len_utf8()
        };
        before = rest.get(..length).and_then(|read| read.chars().next_back());
        rest = rest.get(length..).unwrap_or_default();
    }
    shown.text(plain)
}

/// Returns the styled span at the start of a text, and its length.
fn span(text: &str, before: Option<char>) -> Option<(Drawing, usize)> {
    if let Some((label, address, length)) = link(text) {
        let address = Drawing::of(format!("({address})")).styled(Style::Faint);
        return Some((Drawing::of(label).styled(Style::Underlined).text(" ").then(address), length));
    }
    // Underscores inside words are part of them.
    let after_word = before.is_some_and(char::is_alphanumeric);
    let styles = [("`", CODE), ("**", Style::Bold), ("__", Style::Bold), ("*", Style::Italic), ("_", Style::Italic)];
    let style = |(sign, style): (&str, Style)| {
        let inside = enclosed(text, sign).filter(|_| !after_word || !sign.starts_with('_'))?;
        let shown = if sign == "`" { Drawing::of(inside) } else { inline(inside) };
        Some((shown.styled(style), inside.len() + 2 * sign.len()))
    };
    styles.into_iter().find_map(style)
}

/// Returns the text between two markers, unless it begins or ends with a space.
fn enclosed<'a>(text: &'a str, sign: &str) -> Option<&'a str> {
    let inside = text.strip_prefix(sign)?;
    let inside = inside.get(..inside.find(sign)?)?;
    let is_tight = !inside.is_empty() && (sign == "`" || inside.trim() == inside);
    is_tight.then_some(inside)
}

/// Returns the label and the address of a link, and its length.
fn link(text: &str) -> Option<(&str, &str, usize)> {
    let (label, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (address, _) = rest.split_once(')')?;
    let is_link = !label.contains(['[', ']']) && !address.contains(char::is_whitespace);
    is_link.then_some((label, address, label.len() + address.len() + 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns styles as readable tags.
    fn shown(text: &str) -> String {
        let mut markdown = Markdown::new(Colour::On);
        let lines: Vec<String> = text.lines().map(|line| markdown.line(line).for_terminal()).collect();
        let tags =
            [("\x1b[0m", "</>"), ("\x1b[1m", "<b>"), ("\x1b[3m", "<i>"), ("\x1b[36m", "<c>"), ("\x1b[4m", "<u>")];
        let tags = tags.into_iter().chain([("\x1b[2m", "<f>")]);
        tags.fold(lines.join("\n"), |text, (code, tag)| text.replace(code, tag))
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
            ("**not closed", "**not closed"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn code_is_shown_as_it_is_until_its_fence_ends() {
        assert_eq!(
            shown("```rust\n# not *a* heading\n```\n# yes"),
            "<f>```rust</>\n<c># not *a* heading</>\n<f>```</>\n<b>yes</>"
        );
        assert_eq!(shown("````\n```\n````\n*a*"), "<f>````</>\n<c>```</>\n<f>````</>\n<i>a</>");
    }

    #[test]
    fn nothing_the_model_says_steers_the_terminal_and_without_colours_it_is_as_written() {
        assert_eq!(shown("a\u{1b}[2Jb"), "a[2Jb");
        assert_eq!(shown("**a\u{202e}**[b\u{9b}](http://c\u{1b}x)"), "<b>a\\u{202e}</><u>b</> <f>(http://cx)</>");
        assert_eq!(Markdown::new(Colour::Off).line("# **a**\u{1b}").for_terminal(), "# **a**");
    }
}
