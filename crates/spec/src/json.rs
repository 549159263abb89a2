//! Writes values as JSON, byte by byte what `serde_json` writes. Every event, frame and request is mostly texts, and
//! nearly none of their characters has to be escaped: they are looked through eight at a time here, which is what most of
//! the work was.

use std::cell::Cell;
use std::fmt::{Display, Write};
use std::mem;

use serde::{Serialize, ser};
use serde_json::Error;

/// The size of the buffer that a thread keeps in bytes.
const KEPT_MAX: usize = 64 * 1024;
/// The bytes of a text that are looked at together.
const WORD: usize = 8;
/// The name under which `serde_json` hands over a text that is JSON already.
const WRITTEN: &str = "$serde_json::private::RawValue";
const KEY_NOT_TEXT: &str = "key must be a string";

thread_local! {
    /// The buffer that values are written to before their size is known: growing one for each would cost as much as
    /// writing it.
    static BUFFER: Cell<String> = const { Cell::new(String::new()) };
}

/// Does something with an empty buffer, which grows once and not for every value.
pub fn with_buffer<T>(write: impl FnOnce(&mut String) -> T) -> T {
    // Taken, so that nobody is in the way of a value that writes others while it is written.
    let mut buffer = BUFFER.take();
    buffer.clear();
    let result = write(&mut buffer);
    buffer.shrink_to(KEPT_MAX);
    BUFFER.set(buffer);
    result
}

/// Returns a value as JSON.
pub fn text<T: for<'a> From<&'a str>>(value: &(impl Serialize + ?Sized)) -> Result<T, Error> {
    with_buffer(|buffer| append(value, buffer).map(|()| T::from(buffer)))
}

/// Appends a value as JSON.
pub fn append(value: &(impl Serialize + ?Sized), to: &mut String) -> Result<(), Error> {
    value.serialize(&mut Writer { to, is_written: false })
}

/// Appends a text in quotes.
fn append_text(text: &str, to: &mut String) {
    to.reserve(text.len() + 2);
    to.push('"');
    if is_plain(text.as_bytes()) {
        to.push_str(text);
    } else {
        append_escaped(text, to);
    }
    to.push('"');
}

/// Appends the name of a field or a variant. Those of our types are words, of which nothing is escaped.
fn append_name(name: &'static str, to: &mut String) {
    debug_assert!(is_plain(name.as_bytes()), "the name {name:?} has to be escaped");
    to.reserve(name.len() + 3);
    to.push('"');
    to.push_str(name);
    to.push_str("\":");
}

/// Appends a text of which something is escaped, without its quotes.
#[inline(never)]
fn append_escaped(text: &str, to: &mut String) {
    let mut rest = text;
    while let Some(place) = first_to_escape(rest.as_bytes()) {
        let (plain, escaped) = rest.split_at(place);
        to.push_str(plain);
        let mut letters = escaped.chars();
        letters.next().into_iter().for_each(|letter| escape(letter, to));
        rest = letters.as_str();
    }
    to.push_str(rest);
}

/// Returns whether every byte of a text stands for itself in JSON.
fn is_plain(bytes: &[u8]) -> bool {
    // What is at both ends may be looked at twice, which is cheaper than one byte after the other.
    if let Some(last) = bytes.last_chunk() {
        let (words, _) = bytes.as_chunks();
        return words.iter().fold(escaped_in(*last), |found, word| found | escaped_in(*word)) == 0;
    }
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some([a, b, c, d]), Some([e, f, g, h])) => escaped_in([*a, *b, *c, *d, *e, *f, *g, *h]) == 0,
        _ => !bytes.iter().copied().any(is_escaped),
    }
}

/// Returns the place of the first byte that stands for itself nowhere in a text of JSON. All of them are ASCII.
fn first_to_escape(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks();
    let in_words = words.iter().enumerate().find_map(|(place, word)| {
        let found = escaped_in(*word);
        (found != 0).then(|| place * WORD + found.trailing_zeros() as usize / 8)
    });
    in_words.or_else(|| Some(words.len() * WORD + rest.iter().copied().position(is_escaped)?))
}

fn is_escaped(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Returns 0 if no byte of a word is escaped; else the lowest bit that is set belongs to the first one that is. All bytes
/// are compared at once: what is taken from one that is too small is borrowed from its highest bit, and from later bytes.
fn escaped_in(word: [u8; WORD]) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGHEST: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, b' ') | equal(b'"') | equal(b'\\')) & HIGHEST
}

fn escape(letter: char, to: &mut String) {
    match letter {
        '"' => to.push_str("\\\""),
        '\\' => to.push_str("\\\\"),
        '\n' => to.push_str("\\n"),
        '\r' => to.push_str("\\r"),
        '\t' => to.push_str("\\t"),
        '\u{8}' => to.push_str("\\b"),
        '\u{c}' => to.push_str("\\f"),
        other => formatted(format_args!("\\u{:04x}", u32::from(other)), to),
    }
}

fn formatted(value: impl Display, to: &mut String) {
    // Nothing refuses to be written to a text.
    let _written = write!(to, "{value}");
}

/// One value under way.
struct Writer<'a> {
    to: &'a mut String,
    /// Whether the next text is JSON already.
    is_written: bool,
}

/// A list or an object under way.
struct Parts<'a, 'b> {
    writer: &'a mut Writer<'b>,
    is_empty: bool,
    /// The texts that end it.
    end: &'static str,
}

impl<'b> Writer<'b> {
    fn begin<'a>(&'a mut self, begin: char, end: &'static str) -> Parts<'a, 'b> {
        self.to.push(begin);
        Parts { writer: self, is_empty: true, end }
    }

    /// Begins an object of one field, whose value is a list or an object.
    fn begin_in<'a>(&'a mut self, variant: &'static str, begin: char, end: &'static str) -> Parts<'a, 'b> {
        self.to.push('{');
        append_name(variant, self.to);
        self.begin(begin, end)
    }
}

impl Parts<'_, '_> {
    fn separate(&mut self) {
        if !mem::take(&mut self.is_empty) {
            self.writer.to.push(',');
        }
    }

    fn add(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.separate();
        value.serialize(&mut *self.writer)
    }

    fn add_field(&mut self, name: &'static str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if !self.writer.is_written {
            self.separate();
            append_name(name, self.writer.to);
        }
        value.serialize(&mut *self.writer)
    }

    fn end(self) {
        self.writer.is_written = false;
        self.writer.to.push_str(self.end);
    }
}

/// Writes numbers and truth values as they are formatted.
macro_rules! formats {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, value: $type) -> Result<(), Error> {
            self.to.push_str(itoa::Buffer::new().format(value));
            Ok(())
        }
    )*};
}

impl<'a, 'b> ser::Serializer for &'a mut Writer<'b> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Parts<'a, 'b>;
    type SerializeTuple = Parts<'a, 'b>;
    type SerializeTupleStruct = Parts<'a, 'b>;
    type SerializeTupleVariant = Parts<'a, 'b>;
    type SerializeMap = Parts<'a, 'b>;
    type SerializeStruct = Parts<'a, 'b>;
    type SerializeStructVariant = Parts<'a, 'b>;

    formats!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128);
    formats!(serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128);

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.to.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.to.push_str(&serde_json::to_string(&value)?);
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.to.push_str(&serde_json::to_string(&value)?);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if self.is_written {
            self.to.push_str(value);
        } else {
            append_text(value, self.to);
        }
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.to.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let mut parts = self.begin('{', "}");
        parts.add_field(variant, value)?;
        parts.end();
        Ok(())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Parts<'a, 'b>, Error> {
        Ok(self.begin('[', "]"))
    }

    fn serialize_tuple(self, _len: usize) -> Result<Parts<'a, 'b>, Error> {
        Ok(self.begin('[', "]"))
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Parts<'a, 'b>, Error> {
        Ok(self.begin('[', "]"))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Parts<'a, 'b>, Error> {
        Ok(self.begin_in(variant, '[', "]}"))
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Parts<'a, 'b>, Error> {
        Ok(self.begin('{', "}"))
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Parts<'a, 'b>, Error> {
        if name == WRITTEN {
            self.is_written = true;
            return Ok(Parts { writer: self, is_empty: true, end: "" });
        }
        Ok(self.begin('{', "}"))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Parts<'a, 'b>, Error> {
        Ok(self.begin_in(variant, '{', "}}"))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        let start = self.to.len() + 1;
        self.to.push('"');
        formatted(value, self.to);
        let written = self.to.get(start..).unwrap_or_default();
        if first_to_escape(written.as_bytes()).is_none() {
            self.to.push('"');
            return Ok(());
        }
        let written = written.to_owned();
        self.to.truncate(start - 1);
        self.serialize_str(&written)
    }
}

impl ser::SerializeSeq for Parts<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.add(value)
    }

    fn end(self) -> Result<(), Error> {
        Parts::end(self);
        Ok(())
    }
}

impl ser::SerializeTuple for Parts<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.add(value)
    }

    fn end(self) -> Result<(), Error> {
        Parts::end(self);
        Ok(())
    }
}

impl ser::SerializeTupleStruct for Parts<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.add(value)
    }

    fn end(self) -> Result<(), Error> {
        Parts::end(self);
        Ok(())
    }
}

impl ser::SerializeTupleVariant for Parts<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.add(value)
    }

    fn end(self) -> Result<(), Error> {
        Parts::end(self);
        Ok(())
    }
}

impl ser::SerializeMap for Parts<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.separate();
        let start = self.writer.to.len();
        key.serialize(&mut *self.writer)?;
        match self.writer.to.as_bytes().get(start) {
            Some(b'"') => Ok(()),
            // Numbers and truth values stand in quotes.
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
                self.writer.to.insert(start, '"');
                self.writer.to.push('"');
                Ok(())
            }
            Some(_) | None => Err(ser::Error::custom(KEY_NOT_TEXT)),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.writer.to.push(':');
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), Error> {
        Parts::end(self);
        Ok(())
    }
}

impl ser::SerializeStruct for Parts<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.add_field(name, value)
    }

    fn end(self) -> Result<(), Error> {
        Parts::end(self);
        Ok(())
    }
}

impl ser::SerializeStructVariant for Parts<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.add_field(name, value)
    }

    fn end(self) -> Result<(), Error> {
        Parts::end(self);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::*;

    /// Every kind of value that `serde` knows, and texts.
    #[derive(Clone, Debug, Serialize)]
    enum Kinds {
        Unit,
        Newtype(Box<Kinds>),
        Tuple(i8, u128, f64),
        Fields { short: f32, letter: char, absent: Option<u8>, nothing: (), bytes: Vec<u8> },
        Text(String),
        Keys(BTreeMap<i64, bool>),
        Flags(BTreeMap<bool, Marker>),
        Letters(BTreeMap<char, (u16, i64)>),
    }

    #[derive(Clone, Debug, Serialize)]
    struct Marker;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,40}".prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn kinds() -> impl Strategy<Value = Kinds> {
        let leaf = prop_oneof![
            Just(Kinds::Unit),
            (any::<i8>(), any::<u128>(), any::<f64>()).prop_map(|(a, b, c)| Kinds::Tuple(a, b, c)),
            (any::<f32>(), any::<char>(), any::<Option<u8>>(), any::<Vec<u8>>())
                .prop_map(|(short, letter, absent, bytes)| Kinds::Fields { short, letter, absent, nothing: (), bytes }),
            "[a-z\"\\\\\n\u{7f}ü]{0,40}".prop_map(Kinds::Text),
            any::<BTreeMap<i64, bool>>().prop_map(Kinds::Keys),
            any::<bool>().prop_map(|key| Kinds::Flags([(key, Marker)].into())),
            any::<BTreeMap<char, (u16, i64)>>().prop_map(Kinds::Letters),
        ];
        leaf.prop_recursive(3, 8, 1, |inner| inner.prop_map(|inner| Kinds::Newtype(Box::new(inner))))
    }

    fn same(value: &impl Serialize) {
        assert_eq!(text::<String>(value).unwrap(), serde_json::to_string(value).unwrap());
    }

    proptest! {
        #[test]
        fn values_are_written_as_serde_json_does(value in value()) {
            same(&value);
        }

        #[test]
        fn everything_that_serde_knows_is_written_as_serde_json_does(kinds in kinds()) {
            same(&kinds);
        }
    }

    #[test]
    fn every_character_below_a_space_is_escaped_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for length in 1..3 * WORD {
                for place in 0..length {
                    let mut letters = vec!['x'; length];
                    letters[place] = char::from(byte);
                    same(&letters.into_iter().collect::<String>());
                }
            }
        }
    }

    #[test]
    fn what_is_json_already_stays_as_it_is() {
        let raw = RawValue::from_string("{ \"a\": [1,  2] }".to_owned()).unwrap();
        same(&(&raw, "after \"it\"", json!({ "in": 1 }), [&raw]));
        same(&BTreeMap::from([("key", raw)]));
    }

    #[test]
    fn formatted_texts_are_escaped_too() {
        struct Quoted(&'static str);
        impl Serialize for Quoted {
            fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&format_args!("{}", self.0))
            }
        }
        same(&[Quoted("plain"), Quoted("a \"quoted\" one\n"), Quoted("")]);
    }

    #[test]
    fn keys_that_are_no_texts_are_refused_or_written_as_texts() {
        let listed: BTreeMap<Vec<u8>, u8> = [(vec![1], 1)].into();
        assert_eq!(
            text::<String>(&listed).unwrap_err().to_string(),
            serde_json::to_string(&listed).unwrap_err().to_string()
        );
        let absent: BTreeMap<Option<u8>, u8> = [(None, 1)].into();
        assert!(text::<String>(&absent).is_err() && serde_json::to_string(&absent).is_err());
    }

    #[test]
    fn a_value_that_writes_another_meanwhile_is_not_disturbed() {
        struct Nested;
        impl Serialize for Nested {
            fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&text::<String>("inner").unwrap())
            }
        }
        same(&("before", Nested, "after"));
    }
}
