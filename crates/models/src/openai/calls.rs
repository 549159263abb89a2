//! Assembles tool calls from fragments. Servers number them, or do not; name them once, or each time;
//! send them in fragments, or whole. Unknown fields stay with the call and are sent back with it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::message::{Call, Message};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::answer::Words;
use crate::names;
use crate::pairs::Ids;

/// One fragment of a call.
#[derive(Default)]
pub(super) struct Fragment<'a> {
    index: Option<u64>,
    id: Option<Cow<'a, str>>,
    function: Function<'a>,
    extra: Map<String, Value>,
}

#[derive(Default, serde::Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Fragment<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

/// Reads a fragment's fields in one pass, the unknown ones too.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Fragment<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a tool call")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fragment<'de>, A::Error> {
        let mut fragment = Fragment::default();
        while let Some(Words(name)) = map.next_key()? {
            match &*name {
                "index" => fragment.index = map.next_value()?,
                "id" => fragment.id = map.next_value::<Option<Words<'de>>>()?.map(|Words(id)| id),
                "type" => map.next_value::<IgnoredAny>().map(drop)?,
                "function" => fragment.function = map.next_value::<Option<Function<'de>>>()?.unwrap_or_default(),
                _ => drop(fragment.extra.insert(name.into_owned(), map.next_value()?)),
            }
        }
        Ok(fragment)
    }
}

/// The calls of one reply.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<PartialCall>);

#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    args: String,
    extra: Map<String, Value>,
}

impl Calls {
    /// Adds a fragment and returns the number of bytes it brought.
    pub(super) fn add(&mut self, fragment: Fragment<'_>) -> Result<usize, serde_json::Error> {
        let args = arguments(fragment.function.arguments)?;
        let id = fragment.id.unwrap_or_default();
        let name = fragment.function.name.unwrap_or_default();
        let Some(slot) = self.slot(fragment.index, &id, &name) else { return Ok(0) };
        if slot.id.is_empty() {
            slot.id.push_str(&id);
        }
        if slot.name.is_empty() {
            slot.name.push_str(&name);
        }
        slot.args.push_str(&args);
        slot.extra.extend(fragment.extra.into_iter().filter(|(_, value)| !value.is_null()));
        Ok(id.len() + name.len() + args.len())
    }

    /// Returns whether there are no calls.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the call a fragment belongs to, which may be a new one.
    fn slot(&mut self, index: Option<u64>, id: &str, name: &str) -> Option<&mut PartialCall> {
        let found = match index {
            Some(_) => self.0.iter().rposition(|slot| slot.index == index),
            None if !id.is_empty() => self.0.iter().rposition(|slot| slot.id == id),
            None if name.is_empty() => self.0.len().checked_sub(1),
            None => None,
        };
        // Some servers give every call of a reply the same number.
        let is_another =
            |slot: &PartialCall| !id.is_empty() && !slot.id.is_empty() && slot.id != id && !name.is_empty();
        let place = found.filter(|place| !self.0.get(*place).is_some_and(is_another)).unwrap_or(self.0.len());
        if place == self.0.len() {
            self.0.push(PartialCall { index, ..PartialCall::default() });
        }
        self.0.get_mut(place)
    }

    /// Returns the finished calls, each with an id the conversation
    /// has not seen; nothing when one of them has no name.
    pub(super) fn finish(self, messages: &[Message], tools: &[Arc<ToolInfo>]) -> Option<Vec<Call>> {
        let mut ids = Ids::of(messages);
        let call = |slot: PartialCall| {
            let provider_id = ids.claim(slot.id.into(), |_| true).into_owned();
            (!slot.name.is_empty()).then(|| Call {
                provider_id,
                tool: names::decode(&slot.name, tools),
                args: slot.args.into(),
                native: (!slot.extra.is_empty()).then_some(Value::Object(slot.extra)),
            })
        };
        self.0.into_iter().map(call).collect()
    }
}

/// Returns the arguments, which are JSON in a string; a few servers send the JSON itself.
fn arguments(raw: Option<&RawValue>) -> Result<Cow<'_, str>, serde_json::Error> {
    match raw.map(RawValue::get) {
        None => Ok(Cow::Borrowed("")),
        Some(text) if text.starts_with('"') => serde_json::from_str::<Words<'_>>(text).map(|Words(text)| text),
        Some(json) => Ok(Cow::Borrowed(json)),
    }
}
