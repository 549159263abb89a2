//! The styles within a line of Markdown, and its rows of a certain width.

use crate::show::drawing::{Code, Drawing, Style};
use crate::show::words::width;
use crate::show::wrap::rows;

/// The style of code.
pub(super) const CODE: Style = Style::Cyan;

/// Pieces of text, each with its styles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spans(Vec<(Vec<Style>, String)>);

impl Spans {
    /// Returns text without styles.
    pub(super) fn plain(text: impl Into<String>) -> Spans {
        Spans(vec![(Vec::new(), text.into())])
    }

    /// Returns text in one style.
    pub(super) fn of(text: impl Into<String>, style: Style) -> Spans {
        Spans(vec![(vec![style], text.into())])
    }

    /// Returns the columns that it takes.
    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width(text)).sum()
    }

    /// Appends others.
    pub(super) fn then(mut self, other: Spans) -> Spans {
        self.0.extend(other.0);
        self
    }

    /// Puts all of it in one more style.
    pub(super) fn styled(mut self, style: Style) -> Spans {
        self.0.iter_mut().for_each(|(styles, _)| styles.insert(0, style));
        self
    }

    /// Returns it in rows of at most this many columns, broken between words.
    pub(super) fn wrapped(&self, columns: usize) -> Vec<Spans> {
        let text: String = self.0.iter().map(|(_, text)| text.as_str()).collect();
        let mut signs =
            self.0.iter().flat_map(|(styles, text)| text.chars().map(move |sign| (styles, sign))).peekable();
        let mut wrapped = Vec::new();
        for row in rows(&text, columns.max(1)) {
            let mut spans = Spans::default();
            for (styles, sign) in signs.by_ref().take(row.chars().count()) {
                spans.push(styles, sign);
            }
            // The spaces between two rows are in none of them.
            while signs.next_if(|(_, sign)| *sign == ' ').is_some() {}
            wrapped.push(spans);
        }
        wrapped
    }

    fn push(&mut self, styles: &[Style], sign: char) {
        match self.0.last_mut().filter(|(last, _)| last == styles) {
            Some((_, text)) => text.push(sign),
            None => self.0.push((styles.to_vec(), sign.to_string())),
        }
    }

    /// Returns it for a terminal.
    pub(super) fn drawing(&self) -> Drawing {
        self.0.iter().fold(Drawing::default(), |drawing, (styles, text)| match styles.as_slice() {
            [] => drawing.text(text),
            styles => {
                let begun = styles.iter().fold(drawing, |drawing, style| drawing.code(Code::Style(*style)));
                begun.text(text).code(Code::Style(Style::Reset))
            }
        })
    }
}

/// Reads the styles within a line. Markers that are not closed stay literal.
pub(super) fn inline(text: &str) -> Spans {
    let mut shown = Spans::default();
    let mut plain = String::new();
    let mut before = None;
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let length = if let Some((styled, length)) = span(rest, before) {
            shown = shown.then(text_of(&mut plain)).then(styled);
            length
        } else {
            plain.push(sign);
            sign.len_utf8()
        };
        before = rest.get(..length).and_then(|read| read.chars().next_back());
        rest = rest.get(length..).unwrap_or_default();
    }
    shown.then(text_of(&mut plain))
}

fn text_of(plain: &mut String) -> Spans {
    let plain = std::mem::take(plain);
    if plain.is_empty() { Spans::default() } else { Spans::plain(plain) }
}

/// Returns the styled span at the start of a text, and its length.
fn span(text: &str, before: Option<char>) -> Option<(Spans, usize)> {
    if let Some((label, address, length)) = link(text) {
        let label = Spans::of(label, Style::Underlined).then(Spans::plain(" "));
        return Some((label.then(Spans::of(format!("({address})"), Style::Faint)), length));
    }
    // Underscores inside words are part of them.
    let after_word = before.is_some_and(char::is_alphanumeric);
    let styles = [("`", CODE), ("**", Style::Bold), ("__", Style::Bold), ("*", Style::Italic), ("_", Style::Italic)];
    let style = |(sign, style): (&str, Style)| {
        let inside = enclosed(text, sign).filter(|_| !after_word || !sign.starts_with('_'))?;
        let shown = if sign == "`" { Spans::plain(inside) } else { inline(inside) };
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
