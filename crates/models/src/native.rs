//! JSON that is sent back as it came: a provider's own form of a part, with
//! the words put back in, and the arguments a model wrote.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A provider's own JSON. What the portable form holds already is not stored
/// twice: `field` is written with `filling` in place of what stands there.
pub(super) struct Native<'a, T> {
    pub(super) json: &'a Map<String, Value>,
    pub(super) field: &'static str,
    pub(super) filling: T,
}

impl<T: Serialize> Serialize for Native<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.json.len()))?;
        for (name, value) in self.json {
            if name == self.field {
                map.serialize_entry(name, &self.filling)?;
            } else {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

/// A call's arguments where a JSON object must stand.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(super) enum Arguments<'a> {
    /// As the model wrote them.
    Written(&'a RawValue),
    /// None.
    None {},
    /// They are no object: the model sees what it wrote instead.
    Unreadable {
        /// What it wrote.
        unreadable: &'a str,
    },
}

impl<'a> Arguments<'a> {
    /// Reads what the model wrote.
    pub(super) fn of(written: &'a str) -> Arguments<'a> {
        match serde_json::from_str::<&RawValue>(written) {
            Ok(json) if json.get().starts_with('{') => Arguments::Written(json),
            Ok(_) | Err(_) if written.trim().is_empty() => Arguments::None {},
            Ok(_) | Err(_) => Arguments::Unreadable { unreadable: written },
        }
    }
}
