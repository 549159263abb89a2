//! Cuts a document into passages short enough to be read by a model: paragraphs,
//! joined until they are long enough and cut where they are too long. Each knows
//! its place, so that an answer can cite it.

use crate::extract::Extracted;
use crate::page_text;

/// The maximum size of a passage in bytes.
const PASSAGE_MAX: usize = 1200;
/// The number of bytes at the beginning of a document that are searched for signs of HTML.
const HEAD: usize = 200;

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passage<'a> {
    pub(super) text: &'a str,
    pub(super) place: PassagePlace,
}

/// The place of a passage in its document, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassagePlace {
    /// The page it is on.
    Page(u32),
    /// The line it begins in.
    Line(u32),
}

impl PassagePlace {
    /// Returns the place in words.
    pub fn words(self) -> String {
        match self {
            PassagePlace::Page(page) => format!("page {page}"),
            PassagePlace::Line(line) => format!("line {line}"),
        }
    }
}

/// Returns the text of a document: HTML as Markdown, anything else as it is.
pub(super) async fn plain(content: &str) -> Result<String, String> {
    let text = if is_html(content) { page_text(content.to_owned()).await? } else { content.to_owned() };
    if text.trim().is_empty() { Err("there are no words in this document".to_owned()) } else { Ok(text) }
}

pub(super) fn is_html(content: &str) -> bool {
    let head = content.trim_start();
    let head = head.get(..head.floor_char_boundary(HEAD)).unwrap_or(head).to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|start| head.starts_with(start))
}

/// Returns the passages of a document, in order; together they contain all of its words.
pub(super) fn cut(document: &Extracted) -> Vec<Passage<'_>> {
    if document.is_paged {
        let pages = (1..).zip(&document.pages).map(|(page, text)| (PassagePlace::Page(page), text.as_str()));
        let passages = pages.flat_map(|(place, text)| cut_text(text).into_iter().map(move |(_, cut)| (place, cut)));
        return passages.map(|(place, text)| Passage { text, place }).collect();
    }
    let mut passages = Vec::new();
    for text in &document.pages {
        let mut line = 1;
        let mut counted = 0;
        for (start, passage) in cut_text(text) {
            let before = text.get(counted..start).unwrap_or_default();
            line += u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX);
            counted = start;
            passages.push(Passage { text: passage, place: PassagePlace::Line(line) });
        }
    }
    passages
}

/// Returns the passages of a text, each with the byte it begins at.
fn cut_text(text: &str) -> Vec<(usize, &str)> {
    let mut passages = Vec::new();
    let mut rest = text.trim();
    let mut start = text.len() - text.trim_start().len();
    while !rest.is_empty() {
        let (passage, further) = rest.split_at(end(rest));
        passages.push((start, passage.trim_end()));
        let left = further.trim_start();
        start += passage.len() + further.len() - left.len();
        rest = left;
    }
    passages
}

/// Returns the end of the first passage: the end of the last paragraph that
/// fits, or else of the last line, sentence or word, and not in its first half.
fn end(text: &str) -> usize {
    if text.len() <= PASSAGE_MAX {
        return text.len();
    }
    let fits = text.get(..text.floor_char_boundary(PASSAGE_MAX)).unwrap_or(text);
    let breaks = ["\n\n", "\n", ". ", " "].iter().filter_map(|mark| Some(fits.rfind(mark)? + mark.len()));
    breaks.into_iter().find(|end| *end > PASSAGE_MAX / 2).unwrap_or(fits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<'a>(passages: &[Passage<'a>]) -> Vec<&'a str> {
        passages.iter().map(|passage| passage.text).collect()
    }

    #[test]
    fn a_text_is_cut_at_paragraphs_and_nothing_is_lost() {
        let paragraph = |letter: &str| letter.repeat(700);
        let text = format!("{}\n\n{}\n\n{}", paragraph("a"), paragraph("b"), "é".repeat(2000));
        let document = Extracted::plain(text.clone());
        let passages = texts(&cut(&document));
        assert_eq!(&passages[..2], [paragraph("a"), paragraph("b")]);
        assert!(passages.iter().all(|passage| passage.len() <= PASSAGE_MAX && !passage.is_empty()));
        let without_breaks = |text: &str| text.replace('\n', "");
        assert_eq!(without_breaks(&passages.concat()), without_breaks(&text));
        assert!(cut(&Extracted::plain(" \n ".to_owned())).is_empty());
    }

    #[test]
    fn a_passage_knows_its_page_or_its_line() {
        let text = format!("\n\n{}\n\n\n{}", "a".repeat(700), "b".repeat(700));
        let places = |document: &Extracted| cut(document).iter().map(|passage| passage.place).collect::<Vec<_>>();
        assert_eq!(places(&Extracted::plain(text)), [PassagePlace::Line(3), PassagePlace::Line(6)]);
        let pages = vec!["one".to_owned(), " ".to_owned(), "three".to_owned()];
        assert_eq!(places(&Extracted { pages, is_paged: true }), [PassagePlace::Page(1), PassagePlace::Page(3)]);
    }
}
