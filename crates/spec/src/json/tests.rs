//! The writer against `serde_json`, with everything that `serde` knows.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::ser;
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
