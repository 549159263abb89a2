//! A body with files, without its files: what is parsed is short, and the files stay where they came. In the place of
//! a file's text stands a mark: its number, and the beginning of the text, which says its type.

use axum::body::Bytes;
use consort_tools::buffer::Buffer;

/// The fields of a body that hold messages.
const MESSAGES: [&[u8]; 2] = [b"messages", b"input"];
/// The fields that hold the text of a file.
const FILES: [&[u8]; 3] = [b"url", b"image_url", b"file_data"];
/// The size in bytes from which a text is left where it is.
const LONG: usize = 1024;
/// The maximum size of the beginning of an address in bytes, with its type.
const HEAD_MAX: usize = 256;
/// The sign around the number of a file that was left out. No text of a file begins with it.
const MARK: char = '\0';

/// A body without its files.
#[derive(Default)]
pub struct SplitBody {
    /// The body, with marks in the places of its files.
    pub json: Vec<u8>,
    /// The texts of the files.
    pub files: Vec<Bytes>,
}

/// The place in a body that is being read.
#[derive(Default)]
struct Place<'a> {
    depth: usize,
    /// Whether the field of the body that is being read holds messages.
    is_in_messages: bool,
    /// The last text, which is the name of a field when a colon follows it.
    last: &'a [u8],
    /// The name of the field whose value begins.
    field: Option<&'a [u8]>,
}

impl<'a> Place<'a> {
    /// Goes on past a sign that is not in a text.
    fn pass(&mut self, sign: u8) {
        match sign {
            b'{' | b'[' => {
                self.depth += 1;
                self.field = None;
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' => {
                self.field = Some(self.last);
                if self.depth == 1 {
                    self.is_in_messages = MESSAGES.contains(&self.last);
                }
            }
            b',' => self.field = None,
            _ => {}
        }
    }

    /// Returns whether the next text may be that of a file.
    fn is_of_file(&self) -> bool {
        self.is_in_messages && self.depth > 1 && self.field.is_some_and(|field| FILES.contains(&field))
    }
}

impl SplitBody {
    /// Takes the files out of a body. What is no JSON stays none.
    pub fn of(body: &Bytes) -> SplitBody {
        let mut lean = SplitBody::default();
        let mut place = Place::default();
        let mut copied = 0;
        let mut at = 0;
        while let Some(sign) = body.get(at) {
            if *sign != b'"' {
                place.pass(*sign);
                at += 1;
                continue;
            }
            let begin = at + 1;
            let Some(end) = end_of_text(body, begin) else { break };
            let text = body.get(begin..end).unwrap_or_default();
            if place.is_of_file()
                && let Some((head, file)) = file(&body.slice(begin..end))
            {
                lean.json.extend(body.get(copied..begin).unwrap_or_default());
                lean.json.extend(format!("\\u0000{}\\u0000", lean.files.len()).bytes());
                lean.json.extend(head);
                lean.files.push(file);
                copied = end;
            }
            place.last = text;
            at = end + 1;
        }
        lean.json.extend(body.get(copied..).unwrap_or_default());
        lean
    }
}

/// Returns the place of the quote that ends a text.
fn end_of_text(body: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin;
    loop {
        at += body.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        match body.get(at) {
            Some(b'"') => return Some(at),
            // Whatever follows is escaped.
            _ => at += 2,
        }
    }
}

/// Returns the beginning of a long text that may be a file, as it was sent, and the text.
fn file(text: &Bytes) -> Option<(Vec<u8>, Bytes)> {
    if text.len() < LONG {
        return None;
    }
    let begins = text.get(..HEAD_MAX)?;
    let is_address = begins.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"data:"));
    let head = match begins.iter().position(|byte| *byte == b',') {
        Some(comma) if is_address => begins.get(..=comma)?,
        // Bytes without an address; an address of somewhere else is refused with its reason.
        None if !is_address && !begins.contains(&b':') => &[],
        Some(_) | None => return None,
    };
    Some((head.to_vec(), unescaped(text)?))
}

/// Returns a text without the escapes that some clients write before slashes; none if it has others.
fn unescaped(text: &Bytes) -> Option<Bytes> {
    if !text.contains(&b'\\') {
        return Some(text.clone());
    }
    let mut buffer = Buffer::new(text.len()).ok()?;
    let mut parts = text.split(|byte| *byte == b'\\');
    buffer.add(parts.next()?).ok()?;
    for part in parts {
        if part.first() != Some(&b'/') {
            return None;
        }
        buffer.add(part).ok()?;
    }
    Some(buffer.into())
}

/// Returns the number of a file that was left out, and the beginning of its text.
pub fn marked(text: &str) -> Option<(usize, &str)> {
    let (number, head) = text.strip_prefix(MARK)?.split_once(MARK)?;
    Some((number.parse().ok()?, head))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn lean(body: &str) -> (Value, Vec<Bytes>) {
        let SplitBody { json, files } = SplitBody::of(&Bytes::from(body.to_owned()));
        (serde_json::from_slice(&json).unwrap(), files)
    }

    #[test]
    fn files_of_messages_are_left_where_they_are_and_nothing_else() {
        let long = "ab/d".repeat(LONG / 4);
        let address = format!("data:image/png;base64,{long}");
        let part = |address: &str| {
            json!([
                { "type": "text", "text": format!("\"url\": {address}") },
                { "type": "image_url", "image_url": { "url": address, "detail": address } },
                { "type": "input_file", "file_data": address },
            ])
        };
        let body = |place: &str, address: &str| json!({ "metadata": { "url": long }, place: part(address) });
        for place in ["messages", "input"] {
            let (left, files) = lean(&body(place, &address).to_string());
            assert_eq!(left["metadata"], body(place, &address)["metadata"]);
            assert_eq!(left[place][0], part(&address)[0]);
            assert_eq!(left[place][1]["image_url"]["detail"], address.as_str());
            assert_eq!(
                marked(left[place][1]["image_url"]["url"].as_str().unwrap()),
                Some((0, "data:image/png;base64,"))
            );
            assert_eq!(marked(left[place][2]["file_data"].as_str().unwrap()), Some((1, "data:image/png;base64,")));
            assert_eq!(files, [address.as_str(), &address]);
        }
        let (left, files) = lean(&body("messages", &long).to_string());
        assert_eq!(marked(left["messages"][2]["file_data"].as_str().unwrap()), Some((1, "")));
        assert_eq!(files, [long.as_str(), &long]);
        let short = body("messages", "data:image/png;base64,aGV5");
        assert_eq!(lean(&short.to_string()), (short, Vec::new()));
        let elsewhere = body("messages", &format!("https://example.com/{long}"));
        assert_eq!(lean(&elsewhere.to_string()), (elsewhere, Vec::new()));
        let outside = body("other", &address);
        assert_eq!(lean(&outside.to_string()), (outside, Vec::new()));
    }

    #[test]
    fn slashes_may_be_escaped_and_what_is_escaped_otherwise_stays() {
        let long = "ab/d".repeat(LONG / 4);
        let body = |text: &str| format!(r#"{{"input":[{{"file_data":"{text}"}}]}}"#);
        let (_, files) = lean(&body(&long.replace('/', "\\/")));
        assert_eq!(files, [long.as_str()]);
        let (left, files) = lean(&body(&format!("{long}\\n")));
        assert_eq!((left["input"][0]["file_data"].as_str().unwrap().len(), files.len()), (long.len() + 1, 0));
    }

    #[test]
    fn what_is_no_json_stays_as_it_is() {
        for body in ["", "{\"input\":[{\"url\":\"abc", "]]]}}", "{\"a\\", "\"\\\"", "\u{0}\"data:"] {
            assert_eq!(SplitBody::of(&Bytes::from(body)).json, body.as_bytes(), "{body}");
        }
    }
}
