//! Cuts a document into passages short enough to be read by a model: paragraphs,
//! joined until they are long enough and cut where they are too long.

use crate::page_text;

/// The maximum size of a passage in bytes.
const PASSAGE_MAX: usize = 1200;
/// The number of bytes at the beginning of a document that are searched for signs of HTML.
const HEAD: usize = 200;

/// Returns the text of a document: HTML as Markdown, anything else as it is.
pub(super) async fn plain(content: &str) -> Result<String, String> {
    let text = if is_html(content) { page_text(content.to_owned()).await? } else { content.to_owned() };
    if text.trim().is_empty() { Err("there are no words in this document".to_owned()) } else { Ok(text) }
}

fn is_html(content: &str) -> bool {
    let head = content.trim_start();
    let head = head.get(..head.floor_char_boundary(HEAD)).unwrap_or(head).to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|start| head.starts_with(start))
}

/// Returns the passages of a text, in order; together they contain all of its words.
pub(super) fn cut(text: &str) -> Vec<&str> {
    let (mut passages, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        let (passage, further) = rest.split_at(end(rest));
        passages.push(passage.trim_end());
        rest = further.trim_start();
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

    #[test]
    fn a_text_is_cut_at_paragraphs_and_nothing_is_lost() {
        let paragraph = |letter: &str| letter.repeat(700);
        let text = format!("{}\n\n{}\n\n{}", paragraph("a"), paragraph("b"), "é".repeat(2000));
        let passages = cut(&text);
        assert_eq!(&passages[..2], [paragraph("a"), paragraph("b")]);
        assert!(passages.iter().all(|passage| passage.len() <= PASSAGE_MAX && !passage.is_empty()));
        let without_breaks = |text: &str| text.replace('\n', "");
        assert_eq!(without_breaks(&passages.concat()), without_breaks(&text));
        assert!(cut(" \n ").is_empty());
    }
}
