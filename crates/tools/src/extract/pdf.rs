//! The pages of a PDF as text.

use std::cell::{Cell, RefCell};

use lopdf::{Document, LoadOptions, Object};

use super::{PAGES_MAX, TEXT_MAX, too_long};
use crate::own_thread::Patience;

/// The maximum size that one stream of a file may inflate to, in bytes: a page of text has some kilobytes.
const STREAM_MAX: usize = 8 << 20;
/// The maximum size that all streams that hold objects may inflate to together, in bytes.
const OBJECTS_MAX: usize = 16 << 20;

thread_local! {
    /// The patience with the file that this thread loads; the parser takes no closure.
    static LOADING: RefCell<Option<Patience>> = const { RefCell::new(None) };
    /// The bytes that streams of objects may still inflate to.
    static LEFT: Cell<usize> = const { Cell::new(OBJECTS_MAX) };
}

/// Returns the text of each page, in order; a page that cannot be read is empty.
pub(super) fn pages(bytes: &[u8], patience: &Patience) -> Result<Vec<String>, String> {
    let document = load(bytes, patience)?;
    let count = counted(&document)?;
    let mut pages = Vec::new();
    let mut length = 0;
    let mut failed = None;
    for number in (1..).take(count) {
        if patience.is_over() {
            return Err(too_long());
        }
        let mut page = String::new();
        for part in document.extract_text_chunks_with_limit(&[number], STREAM_MAX) {
            match part {
                Ok(text) => page.push_str(&text),
                Err(error) => failed = Some(format!("page {number}: {error}")),
            }
        }
        length += page.len();
        if length > TEXT_MAX {
            return Err(format!("it has more than {TEXT_MAX} bytes of text"));
        }
        pages.push(page.replace('\0', ""));
    }
    // Fonts that cannot be read do not affect the other pages.
    match failed {
        Some(reason) if pages.iter().all(|page| page.trim().is_empty()) => Err(reason),
        Some(_) | None => Ok(pages),
    }
}

/// Returns the number of pages, if it is neither none nor too many.
fn counted(document: &Document) -> Result<usize, String> {
    match document.page_iter().take(PAGES_MAX + 1).count() {
        0 => Err("it has no pages".to_owned()),
        count if count > PAGES_MAX => Err(format!("it has more than {PAGES_MAX} pages")),
        count => Ok(count),
    }
}

fn load(bytes: &[u8], patience: &Patience) -> Result<Document, String> {
    LOADING.set(Some(patience.clone()));
    LEFT.set(OBJECTS_MAX);
    let mut options = LoadOptions::with_max_decompressed_size(STREAM_MAX);
    options.filter = Some(wanted);
    let loaded = Document::load_mem_with_options(bytes, options);
    if patience.is_over() {
        return Err(too_long());
    }
    loaded.map_err(|error| error.to_string())
}

/// Returns the object if it is needed for the text and there is room and time for it.
fn wanted(id: (u32, u16), object: &mut Object) -> Option<((u32, u16), Object)> {
    if LOADING.with_borrow(|patience| patience.as_ref().is_none_or(Patience::is_over)) {
        return None;
    }
    if let Object::Stream(stream) = object {
        let is_picture = stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|name| name == b"Image");
        if is_picture {
            return None;
        }
        if stream.dict.has_type(b"ObjStm") {
            // Inflated once more by the parser, which limits each stream but not all of them together.
            let inflated = stream.decompressed_content_with_limit(LEFT.get()).ok()?;
            LEFT.set(LEFT.get().saturating_sub(inflated.len()));
        }
    }
    Some((id, object.clone()))
}

#[cfg(test)]
pub(super) mod tests {
    use lopdf::content::{Content, Operation};
    use lopdf::{Document, Object, Stream, dictionary};

    use super::STREAM_MAX;

    /// Returns a PDF with a page for each text.
    pub(crate) fn document(texts: &[&str]) -> Vec<u8> {
        let show = |text: &str| {
            let operation = |name: &str, operands: Vec<Object>| Operation::new(name, operands);
            let operations = vec![
                operation("BT", vec![]),
                operation("Tf", vec!["F1".into(), 12.into()]),
                operation("Td", vec![100.into(), 600.into()]),
                operation("Tj", vec![Object::string_literal(text)]),
                operation("ET", vec![]),
            ];
            Content { operations }.encode().unwrap()
        };
        with_contents(texts.iter().map(|text| show(text)).collect())
    }

    /// Returns a small PDF whose page inflates to more than may be read.
    pub(crate) fn bomb() -> Vec<u8> {
        with_contents(vec![vec![b' '; STREAM_MAX + 1]])
    }

    fn with_contents(contents: Vec<Vec<u8>>) -> Vec<u8> {
        let mut file = Document::with_version("1.5");
        let tree = file.new_object_id();
        let font = file.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier" });
        let fonts = file.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
        let mut kids: Vec<Object> = Vec::new();
        for content in contents {
            let mut stream = Stream::new(dictionary! {}, content);
            stream.compress().unwrap();
            let content = file.add_object(stream);
            let page = dictionary! { "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => fonts,
            "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()] };
            kids.push(file.add_object(page).into());
        }
        let count = i64::try_from(kids.len()).unwrap();
        file.objects.insert(tree, dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count }.into());
        let catalog = file.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
        file.trailer.set("Root", catalog);
        let mut bytes = Vec::new();
        file.save_to(&mut bytes).unwrap();
        bytes
    }
}
