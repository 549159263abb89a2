//! The walk of `serde` through a value, which is written as it goes.

use std::fmt::Display;
use std::mem;

use serde::{Serialize, ser};
use serde_json::Error;

use super::{append_name, append_text, first_to_escape, formatted};

/// The name under which `serde_json` hands over a text that is JSON already.
const WRITTEN: &str = "$serde_json::private::RawValue";
const KEY_NOT_TEXT: &str = "key must be a string";

/// One value under way.
pub(super) struct Writer<'a> {
    to: &'a mut String,
    /// Whether the next text is JSON already.
    is_written: bool,
}

/// A list or an object under way.
pub(super) struct Parts<'a, 'b> {
    writer: &'a mut Writer<'b>,
    is_empty: bool,
    /// The texts that end it.
    end: &'static str,
}

impl<'b> Writer<'b> {
    pub(super) fn new(to: &'b mut String) -> Writer<'b> {
        Writer { to, is_written: false }
    }

    fn write_number(&mut self, number: impl itoa::Integer) -> Result<(), Error> {
        self.to.push_str(itoa::Buffer::new().format(number));
        Ok(())
    }

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

    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.write_number(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.write_number(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.write_number(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        self.write_number(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        self.write_number(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.write_number(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.write_number(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.write_number(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        self.write_number(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        self.write_number(value)
    }

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
