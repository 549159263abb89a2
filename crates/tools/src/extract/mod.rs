//! The text of files: PDF, HTML, DOCX and plain text. Files are written by others, so reading
//! one happens on a thread of its own and is bounded in bytes, pages, time and memory, and a
//! parser that breaks off over a file breaks nothing but this reading.

mod docx;
mod pdf;

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::fetch::{decode, is_text};
use crate::own_thread::{Patience, on_own_thread};
use crate::page_text;

/// The media type of PDF files.
pub const PDF: &str = "application/pdf";
/// The media type of DOCX files.
pub const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/// The maximum size of the text of one file in bytes.
pub const TEXT_MAX: usize = 4 * 1024 * 1024;
/// The maximum size of a text file in bytes: two bytes become one character at most, so a longer one has too much text.
const PLAIN_MAX: usize = 2 * TEXT_MAX;
/// The maximum size of an HTML file in bytes: markup takes a part of it.
const HTML_MAX: usize = 2 * TEXT_MAX;
/// The maximum number of pages of a file; a longer one is better split for those who cite it.
pub const PAGES_MAX: usize = 2_000;
/// The time after which a file that is still being read is given up.
const TIME_MAX: Duration = Duration::from_secs(30);
/// The time beyond that for a parser to notice.
const GRACE: Duration = Duration::from_secs(5);
/// The stack of a thread that reads a file: parsers recurse at most a hundred levels.
const STACK_BYTES: usize = 16 << 20;
/// The number of files that are read at once: each may take a core and some hundred megabytes.
static READERS: Semaphore = Semaphore::const_new(2);

/// The reason why a file has no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file is of a type that cannot be read, or not of the declared one: send another.
    #[error("{0}")]
    Unsupported(String),
    /// The file is of a known type, but cannot be read or has no text.
    #[error("{0}")]
    Unreadable(String),
    /// Too many files are being read: try again later.
    #[error("other files are being read, and the time to wait for them is over: try again")]
    Busy,
}

/// A declared media type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaType {
    /// The type without its parameters, in lower case.
    pub essence: String,
    charset: Option<String>,
}

impl MediaType {
    /// Parses the value of a header `Content-Type`.
    pub fn parse(header: &str) -> MediaType {
        let mut parts = header.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (key, value) = part.split_once('=')?;
            key.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
        });
        MediaType { essence, charset }
    }

    /// Returns the type that a file has by the ending of its name; text, where that is not known.
    pub fn of_file(path: &Path) -> MediaType {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let essence = match ending.as_deref().unwrap_or_default() {
            "png" => "image/png",
            "jpg" | "jpeg" => "image/jpeg",
            "gif" => "image/gif",
            "webp" => "image/webp",
            "pdf" => PDF,
            "docx" => DOCX,
            "json" => "application/json",
            "csv" => "text/csv",
            "html" | "htm" => "text/html",
            "md" => "text/markdown",
            _ => "text/plain",
        };
        MediaType::of(essence, None)
    }

    /// Returns a type, with the encoding that was declared for it.
    pub(crate) fn of(essence: &str, charset: Option<&str>) -> MediaType {
        MediaType { essence: essence.to_owned(), charset: charset.map(str::to_owned) }
    }

    /// Returns the declared encoding.
    pub(crate) fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }

    /// Returns whether these bytes are text.
    pub(crate) fn is_text(&self, bytes: &[u8]) -> bool {
        is_text(bytes, self.charset())
    }

    /// Returns how files of this type are read; none for those that have no text.
    fn format(&self) -> Option<Format> {
        match self.essence.as_str() {
            PDF => Some(Format::Pdf),
            DOCX => Some(Format::Docx),
            "text/html" | "application/xhtml+xml" => Some(Format::Html),
            "application/json" | "application/csv" => Some(Format::Plain),
            other if other.starts_with("text/") => Some(Format::Plain),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Pdf,
    Docx,
    Html,
    Plain,
}

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// The text of each page; one for files without pages.
    pub pages: Vec<String>,
    /// Whether these are pages that people count.
    pub is_paged: bool,
}

impl Extracted {
    /// Returns a text without pages.
    pub fn plain(text: String) -> Extracted {
        Extracted { pages: vec![text], is_paged: false }
    }

    /// Returns the whole text.
    pub fn text(&self) -> String {
        self.pages.join("\n\n")
    }
}

/// Returns the text of a file.
pub async fn extract(kind: &MediaType, bytes: Bytes) -> Result<Extracted, Error> {
    let allowed =
        || format!("a file of type '{}' has no text that can be read: send {PDF}, {DOCX} or text/*", kind.essence);
    let format = kind.format().ok_or_else(|| Error::Unsupported(allowed()))?;
    check_bytes(format, &bytes)?;
    let extracted = match format {
        Format::Plain => Extracted::plain(text(kind, &bytes)?),
        Format::Html => {
            let _place = place().await?;
            let source = text(kind, &bytes)?;
            drop(bytes);
            Extracted::plain(page_text(source).await.map_err(Error::Unreadable)?)
        }
        Format::Pdf => Extracted { pages: apart(move |patience| pdf::pages(&bytes, patience)).await?, is_paged: true },
        Format::Docx => Extracted::plain(apart(move |patience| docx::text(bytes, patience)).await?),
    };
    if extracted.pages.iter().all(|page| page.trim().is_empty()) {
        return Err(Error::Unreadable("there are no words in this document".to_owned()));
    }
    if extracted.pages.iter().map(String::len).sum::<usize>() > TEXT_MAX {
        return Err(too_much_text());
    }
    Ok(extracted)
}

fn too_much_text() -> Error {
    Error::Unreadable(format!("a document has at most {TEXT_MAX} bytes of text"))
}

/// Refuses bytes that are not of the declared type.
fn check_bytes(format: Format, bytes: &[u8]) -> Result<(), Error> {
    let (is_fine, name) = match format {
        Format::Pdf => (is_pdf(bytes), "a PDF"),
        Format::Docx => (bytes.starts_with(b"PK\x03\x04"), "a DOCX file"),
        Format::Html | Format::Plain => (!is_pdf(bytes) && !bytes.starts_with(b"PK\x03\x04"), "text"),
    };
    if !is_fine {
        return Err(Error::Unsupported(format!("the bytes are not {name}, as the type says")));
    }
    match format {
        Format::Plain if bytes.len() > PLAIN_MAX => Err(too_much_text()),
        Format::Html if bytes.len() > HTML_MAX => {
            Err(Error::Unreadable(format!("an HTML file has at most {HTML_MAX} bytes")))
        }
        Format::Pdf | Format::Docx | Format::Html | Format::Plain => Ok(()),
    }
}

/// Returns whether these bytes begin like a PDF, which may have a little before its first line.
pub(crate) fn is_pdf(bytes: &[u8]) -> bool {
    const HEAD: usize = 1024;
    bytes.get(..HEAD).unwrap_or(bytes).windows(5).any(|window| window == b"%PDF-")
}

fn text(kind: &MediaType, bytes: &[u8]) -> Result<String, Error> {
    let text = decode(bytes, kind.charset.as_deref()).map_err(Error::Unsupported)?;
    if text.contains('\0') {
        Err(Error::Unsupported("it is not text: it holds zero bytes".to_owned()))
    } else {
        Ok(text)
    }
}

/// Lets a parser work on a thread of its own. One that panics is an error; one that does not
/// end keeps its place among the readers, so that there are never more of them.
async fn apart<T, W>(work: W) -> Result<T, Error>
where
    T: Send + 'static,
    W: FnOnce(&Patience) -> Result<T, String> + Send + 'static,
{
    let place = place().await?;
    let reading = on_own_thread("document", STACK_BYTES, TIME_MAX, move |patience: Patience| {
        let _place = place;
        work(&patience)
    });
    match timeout(TIME_MAX + GRACE, reading).await {
        Ok(read) => read.map_err(|reason| Error::Unreadable(format!("the file cannot be read: {reason}"))),
        Err(_elapsed) => Err(Error::Unreadable(too_long())),
    }
}

/// Waits for a place among the readers.
async fn place() -> Result<SemaphorePermit<'static>, Error> {
    let place = timeout(TIME_MAX, READERS.acquire()).await.map_err(|_elapsed| Error::Busy)?;
    place.map_err(|_closed| Error::Busy)
}

fn too_long() -> String {
    format!("the file takes longer than {} s to read", TIME_MAX.as_secs())
}

#[cfg(test)]
pub(crate) use pdf::tests::document as pdf_of;

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    async fn read(kind: &str, bytes: &[u8]) -> Result<Extracted, Error> {
        extract(&MediaType::parse(kind), bytes.to_vec().into()).await
    }

    fn unreadable<T>(read: &Result<T, Error>) -> bool {
        matches!(read, Err(Error::Unreadable(_)))
    }

    #[tokio::test]
    async fn each_page_of_a_pdf_is_read() {
        let read = read(PDF, &pdf::tests::document(&["Boil water.", "Add salt."])).await.unwrap();
        let pages: Vec<&str> = read.pages.iter().map(|page| page.trim()).collect();
        assert_eq!((pages, read.is_paged), (vec!["Boil water.", "Add salt."], true));
    }

    #[tokio::test]
    async fn a_docx_file_is_read_by_its_paragraphs() {
        let xml = "<w:document xmlns:w=\"x\"><w:body><w:p><w:r><w:t>Boil &amp; stir</w:t></w:r><w:r><w:tab/>\
            <w:t>water.</w:t></w:r></w:p><w:p><w:r><w:t>Add salt.</w:t></w:r></w:p></w:body></w:document>";
        let file = docx(xml.as_bytes());
        assert_eq!(read(DOCX, &file).await.unwrap(), Extracted::plain("Boil & stir\twater.\nAdd salt.\n".to_owned()));
        assert!(unreadable(&read(DOCX, &file[..60]).await));
        assert!(unreadable(&read(DOCX, &docx(&vec![b' '; 80 << 20])).await), "it is small, and its content is not");
    }

    fn docx(content: &[u8]) -> Vec<u8> {
        let mut file = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let deflated = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        file.start_file("word/document.xml", deflated).unwrap();
        file.write_all(content).unwrap();
        file.finish().unwrap().into_inner()
    }

    #[tokio::test]
    async fn text_is_read_in_its_charset_and_html_as_markdown() {
        assert_eq!(read("text/plain; charset=latin1", b"caf\xe9").await, Ok(Extracted::plain("café".to_owned())));
        assert_eq!(
            read("text/html", b"<p>Hello <b>you</b></p>").await,
            Ok(Extracted::plain("Hello **you**".to_owned()))
        );
        assert_eq!(read("text/csv", b"a,b\n1,2").await, Ok(Extracted::plain("a,b\n1,2".to_owned())));
    }

    #[tokio::test]
    async fn what_is_no_text_or_not_what_it_says_is_refused() {
        for (kind, bytes) in [
            ("image/png", &b"\x89PNG"[..]),
            (PDF, b"hello"),
            ("text/plain", b"%PDF-1.4"),
            ("text/plain", b"a\0b"),
            ("text/plain; charset=klingon", b"a"),
            (DOCX, b"hello"),
        ] {
            let read = read(kind, bytes).await;
            assert!(matches!(read, Err(Error::Unsupported(_))), "{kind}: {read:?}");
        }
        assert!(unreadable(&read("text/plain", b"  \n").await));
        assert!(unreadable(&read("text/plain", &vec![b'a'; TEXT_MAX + 1]).await));
        assert!(unreadable(&read("text/plain", &vec![b'a'; PLAIN_MAX + 1]).await));
        assert!(unreadable(&read("text/html", &vec![b'a'; HTML_MAX + 1]).await));
    }

    #[tokio::test]
    async fn a_hostile_pdf_is_an_error_and_nothing_else() {
        let whole = pdf::tests::document(&["Boil water.", "Add salt."]);
        let deep = [&b"%PDF-1.5\n1 0 obj\n"[..], &b"[".repeat(2_000_000), b"\nendobj\ntrailer<</Root 1 0 R>>"].concat();
        assert!(unreadable(&read(PDF, &deep).await));
        assert!(unreadable(&read(PDF, b"%PDF-1.4\nnothing").await));
        assert!(unreadable(&read(PDF, &pdf::tests::bomb()).await), "its page inflates to more than is read");
        for cut in (0..whole.len()).step_by(37) {
            // Whatever comes of it, it comes back.
            let _read = read(PDF, &[b"%PDF-", whole.get(..cut).unwrap()].concat()).await;
            let mut flipped = whole.clone();
            flipped.iter_mut().skip(cut).step_by(11).take(3).for_each(|byte| *byte ^= 0x15);
            let _read = read(PDF, &[b"%PDF-", flipped.as_slice()].concat()).await;
        }
    }

    #[tokio::test]
    async fn a_parser_that_panics_is_an_error_and_its_place_is_free_again() {
        for _more_than_there_are_places in 0..4 {
            let broken: Result<(), Error> = apart(|_| panic!("a parser broke (a test)")).await;
            assert!(unreadable(&broken), "{broken:?}");
        }
    }
}
