//! A DOCX file as text: its paragraphs, without their looks.

use std::io::{BufReader, Cursor, Read};

use bytes::Bytes;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};
use zip::ZipArchive;

use super::{TEXT_MAX, too_long};
use crate::own_thread::Patience;

/// The file in the archive that holds the words.
const WORDS: &str = "word/document.xml";
/// The maximum size that it may inflate to: markup takes most of it.
const XML_MAX: u64 = 64 << 20;
/// The number of pieces of markup between two looks at the clock.
const PIECES: usize = 4096;

/// Returns the text of a DOCX file, a line for each paragraph.
pub(super) fn text(bytes: Bytes, patience: &Patience) -> Result<String, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    let words = archive.by_name(WORDS).map_err(|_| format!("it has no {WORDS}"))?;
    let mut reader = Reader::from_reader(BufReader::new(words.take(XML_MAX)));
    let mut read = Paragraphs::default();
    let mut buffer = Vec::new();
    for piece in 0_usize.. {
        if piece.is_multiple_of(PIECES) && patience.is_over() {
            return Err(too_long());
        }
        let event = reader.read_event_into(&mut buffer).map_err(|error| error.to_string())?;
        if matches!(event, Event::Eof) {
            break;
        }
        read.take(&event)?;
        if read.text.len() > TEXT_MAX {
            return Err(format!("it has more than {TEXT_MAX} bytes of text"));
        }
        buffer.clear();
    }
    if reader.buffer_position() >= XML_MAX {
        return Err(format!("its text inflates to more than {XML_MAX} bytes"));
    }
    Ok(read.text)
}

/// The text of the paragraphs read so far.
#[derive(Default)]
struct Paragraphs {
    text: String,
    /// Whether the reader is inside an element that holds text.
    is_text: bool,
}

impl Paragraphs {
    fn take(&mut self, event: &Event<'_>) -> Result<(), String> {
        match event {
            Event::Start(tag) => self.is_text = tag.local_name().as_ref() == "t",
            Event::End(tag) if tag.local_name().as_ref() == "p" => self.text.push('\n'),
            Event::End(_) => self.is_text = false,
            Event::Empty(tag) => match tag.local_name().as_ref() {
                "tab" => self.text.push('\t'),
                "br" | "cr" | "p" => self.text.push('\n'),
                _ => {}
            },
            Event::Text(words) if self.is_text => self.text.push_str(&words.xml10_content()),
            Event::GeneralRef(name) if self.is_text => self.text.push(sign(name)?),
            Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_)
            | Event::Eof => {}
        }
        Ok(())
    }
}

/// Returns the character that a reference stands for; entities of the file's own are not expanded.
fn sign(name: &BytesRef<'_>) -> Result<char, String> {
    if let Some(sign) = name.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(sign);
    }
    match &*name.xml10_content() {
        "amp" => Ok('&'),
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        _ => Err("it has entities of its own".to_owned()),
    }
}
