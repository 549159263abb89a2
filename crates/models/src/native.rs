//! JSON that is sent back as it came: a provider's own form of a part,
//! with the text put back in, and the arguments that a model wrote.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A provider's own JSON. Values that the portable form already holds are not
/// stored twice: `field` is written with `filling` in place of the stored value.
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

/// A call's arguments where the API requires a JSON object.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(super) enum Arguments<'a> {
    /// The arguments as the model wrote them.
    Written(&'a RawValue),
    /// No arguments.
    None {},
    /// The arguments are no object: the model gets back its own text instead.
    Unreadable {
        /// The text that the model wrote.
        unreadable: &'a str,
    },
}

impl<'a> Arguments<'a> {
    /// Parses the arguments that the model wrote.
    pub(super) fn of(written: &'a str) -> Arguments<'a> {
        match serde_json::from_str::<&RawValue>(written) {
            Ok(json) if json.get().starts_with('{') => Arguments::Written(json),
            Ok(_) | Err(_) if written.trim().is_empty() => Arguments::None {},
            Ok(_) | Err(_) => Arguments::Unreadable { unreadable: written },
        }
    }
}
