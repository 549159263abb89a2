//! Tests the cost limits of schemas: each limit with an attack that passes without it, and the number of
//! evaluated keywords against the number counted before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jsonschema::{Keyword, ValidationError};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::test_runner::Config;
use serde_json::{Map, json};

use super::*;

/// Returns `$defs` in which each holds the previous one twice, by means of `link`.
fn ladder(link: impl Fn(String) -> Value, define: impl Fn(usize, Value) -> Value) -> Value {
    let rungs = (1..=50).map(|rung| (format!("d{rung}"), define(rung, link(format!("d{}", rung - 1)))));
    let defs: Map<String, Value> = std::iter::once(("d0".to_owned(), define(0, json!({})))).chain(rungs).collect();
    json!({ "$ref": "#/$defs/d50", "$defs": defs })
}

fn pointer(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn reason(json: Value) -> String {
    let text = json.to_string();
    let head: String = text.chars().take(80).collect();
    Schema::parse(json).err().unwrap_or_else(|| panic!("it was taken: {head}"))
}

#[test]
fn every_violation_is_listed_with_its_path() {
    let schema = Schema::parse(json!({ "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string" }, "age": { "type": "integer" } } }));
    let violations = schema.unwrap().violations(&json!({ "age": "old" }));
    assert_eq!(violations.len(), 2, "{violations:?}");
    assert!(violations.iter().any(|v| v.starts_with("/age: ")), "{violations:?}");
}

#[test]
fn schemas_that_cannot_or_must_not_be_used_are_refused() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..70 {
        deep = json!({ "properties": { "x": deep } });
    }
    let long = json!({ "description": "x".repeat(SCHEMA_BYTES_MAX) });
    for bad in [json!({ "type": "strin" }), json!({ "$ref": "http://127.0.0.1/x" }), json!(3), deep, long] {
        assert!(Schema::parse(bad.clone()).is_err(), "{}", bad.to_string().len());
    }
}

#[test]
fn a_ladder_is_refused_however_its_rungs_are_named_and_held() {
    let plain = |_: usize, value: Value| value;
    let named = |keyword: &'static str| {
        move |rung: usize, value: Value| {
            let mut fields = value.as_object().cloned().unwrap_or_default();
            fields.insert(keyword.to_owned(), format!("d{rung}").into());
            Value::Object(fields)
        }
    };
    let twice = |keyword: &'static str| move |name: String| json!({ keyword: [pointer(&name), pointer(&name)] });
    let anchored = |keyword: &'static str| {
        move |name: String| {
            let link = json!({ keyword: format!("#{name}") });
            json!({ "allOf": [link, link] })
        }
    };
    let fields = |name: String| json!({ "properties": { "a": pointer(&name), "b": pointer(&name) } });
    let depends = |name: String| json!({ "if": pointer(&name), "then": pointer(&name), "else": pointer(&name) });
    // The last rung leads back to the first by way of a field, so all are one group.
    let mut round = ladder(twice("allOf"), plain);
    round["$defs"]["d0"] = json!({ "properties": { "x": pointer("d50") } });
    let ladders = [
        ladder(twice("allOf"), plain),
        ladder(twice("anyOf"), plain),
        ladder(twice("oneOf"), plain),
        ladder(depends, plain),
        ladder(fields, plain),
        ladder(anchored("$ref"), named("$anchor")),
        ladder(anchored("$dynamicRef"), named("$dynamicAnchor")),
        round,
    ];
    for ladder in ladders {
        let reason = reason(ladder);
        assert!(reason.contains("reference") || reason.contains("apply"), "{reason}");
    }
}

#[test]
fn a_schema_that_never_comes_to_an_end_is_refused() {
    for endless in [
        json!({ "$ref": "#" }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "not": pointer("b") }, "b": { "anyOf": [pointer("a")] } } }),
        json!({ "$dynamicAnchor": "x", "allOf": [{ "$dynamicRef": "#x" }] }),
    ] {
        assert!(reason(endless).contains("leads back to itself"));
    }
    let chain = (0..200).map(|at| (format!("d{at}"), pointer(&format!("d{}", at + 1))));
    let defs: Map<String, Value> = chain.chain([("d200".to_owned(), json!({}))]).collect();
    assert!(reason(json!({ "$ref": "#/$defs/d0", "$defs": defs })).contains("one inside the other"));
}

#[test]
fn asking_what_others_left_unread_again_and_again_is_refused() {
    let mut nested = json!({});
    for _ in 0..28 {
        nested = json!({ "allOf": [nested], "unevaluatedProperties": false });
    }
    assert!(reason(nested).contains("apply"));
    let base = json!({ "allOf": (0..100).map(|at| json!({ "required": [at.to_string()] })).collect::<Vec<_>>() });
    let asks = json!({ "$ref": "#/$defs/base", "unevaluatedProperties": false });
    let wide = json!({ "prefixItems": vec![asks; 400], "$defs": { "base": base } });
    assert!(reason(wide).contains("too intricate"));
}

#[test]
fn patterns_are_refused_that_take_much_to_compile() {
    let many: Vec<Value> = (0..201).map(|at| json!({ "pattern": format!("a{at}") })).collect();
    let large: Vec<Value> = (0..12).map(|at| json!({ "pattern": format!(r"(\w{{40}}){{40}}{at}") })).collect();
    for (json, word) in [
        (json!({ "pattern": r"(\w{200}){200}" }), "262144 bytes"),
        (json!({ "patternProperties": { r"(\w{200}){200}": {} } }), "262144 bytes"),
        (json!({ "properties": { "a": { "items": { "pattern": "((((a{99}){99}){99}){99}){99}" } } } }), "262144 bytes"),
        (json!({ "pattern": r"\d".repeat(20_000) }), "too long together"),
        (json!({ "anyOf": many }), "more than 200 patterns"),
        (json!({ "anyOf": large }), "1048576 bytes together"),
        (json!({ "pattern": "(?=a)b" }), "look-around"),
        (json!({ "pattern": r"(a)\1" }), "back-references"),
        (json!({ "pattern": "(" }), "no regular expression"),
    ] {
        let reason = reason(json);
        assert!(reason.contains(word), "{reason}");
    }
}

#[test]
fn parts_with_an_address_of_their_own_and_names_given_twice_are_refused() {
    assert!(reason(json!({ "properties": { "a": { "$id": "x" } } })).contains("root only"));
    assert!(
        reason(json!({ "allOf": [{ "$schema": "http://json-schema.org/draft-07/schema#" }] })).contains("root only")
    );
    let twice = json!({ "allOf": [{ "$anchor": "x" }, { "$anchor": "x", "type": "null" }, { "$ref": "#x" }] });
    assert!(reason(twice).contains("two places"));
    assert!(reason(pointer("nowhere")).contains("points nowhere"));
    let at_the_root = json!({ "$id": "https://example.org/a", "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": { "a b/c": { "type": "integer" } }, "properties": { "$id": { "$ref": "#/definitions/a%20b~1c" } } });
    let schema = Schema::parse(at_the_root).unwrap();
    assert_eq!(schema.violations(&json!({ "$id": 1 })), Vec::<String>::new());
    assert_eq!(schema.violations(&json!({ "$id": "x" })).len(), 1);
}

#[test]
fn schemas_that_hold_themselves_are_used() {
    let tree = json!({ "type": "object", "required": ["v"], "properties":
        { "v": { "type": "integer" }, "l": { "$ref": "#" }, "r": { "$ref": "#" } } });
    let dynamic = json!({ "$dynamicAnchor": "node", "type": "object", "required": ["v"], "properties":
        { "v": { "type": "integer" }, "l": { "$dynamicRef": "#node" }, "r": { "$dynamicRef": "#node" } } });
    let anchored = json!({ "$ref": "#node", "$defs": { "n": { "$anchor": "node", "type": "object", "required": ["v"],
        "properties": { "v": { "type": "integer" }, "l": { "$ref": "#node" }, "r": { "$ref": "#node" } } } } });
    for schema in [tree, dynamic, anchored] {
        let schema = Schema::parse(schema).unwrap();
        let mut value = json!({ "v": 1 });
        for _ in 0..60 {
            value = json!({ "v": 1, "l": value, "r": { "v": 2 } });
        }
        assert_eq!(schema.violations(&value), Vec::<String>::new());
        assert_eq!(schema.violations(&json!({ "v": 1, "l": { "v": "x" } })).len(), 1);
    }
    // Twenty kinds of which each may hold every other.
    let kinds = |_: usize| (0..20).map(|kind| pointer(&format!("k{kind}"))).collect::<Vec<Value>>();
    let kind = |at: usize| {
        json!({ "type": "object", "required": ["kind"], "properties":
            { "kind": { "const": at }, "of": { "anyOf": kinds(at) } } })
    };
    let defs: Map<String, Value> = (0..20).map(|at| (format!("k{at}"), kind(at))).collect();
    let kinds = Schema::parse(json!({ "anyOf": kinds(0), "$defs": defs })).unwrap();
    let mut value = json!({ "kind": 0 });
    for depth in 0..50 {
        value = json!({ "kind": depth % 20, "of": value });
    }
    assert_eq!(kinds.violations(&value), Vec::<String>::new());
}

#[test]
fn a_value_that_is_too_much_for_a_schema_is_refused_in_words() {
    let wide: Vec<Value> = (0..2_000).map(|at| json!({ "required": [at.to_string()] })).collect();
    let wide = Schema::parse(json!({ "items": { "not": { "anyOf": wide } } })).unwrap();
    let states = Schema::parse(json!({ "pattern": "[ab]*a[ab]{300}c" })).unwrap();
    let unique = Schema::parse(json!({ "$ref": "#/$defs/a", "$defs":
        { "a": { "uniqueItems": true, "items": { "$ref": "#/$defs/a" } } } }));
    let mut deep = json!((0..3_000).collect::<Vec<_>>());
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let chain = (0..60).map(|at| (format!("d{at}"), pointer(&format!("d{}", at + 1))));
    let last = ("d60".to_owned(), json!({ "items": pointer("d0") }));
    let defs: Map<String, Value> = chain.chain([last]).collect();
    let nested = Schema::parse(json!({ "$ref": "#/$defs/d0", "$defs": defs })).unwrap();
    for (schema, value) in [
        (wide, json!(vec![json!({}); 1_000])),
        (states, json!("ab".repeat(50_000))),
        (unique.unwrap(), deep.clone()),
        (nested, deep),
    ] {
        let violations = schema.violations(&value);
        assert_eq!(violations.len(), 1);
        assert!(violations.concat().contains("too large or too deep"), "{violations:?}");
    }
}

#[test]
fn an_ordinary_value_of_half_a_megabyte_is_held_against_its_schema() {
    let item = json!({ "type": "object", "additionalProperties": false, "required": ["name", "price"], "properties":
        { "name": { "type": "string", "minLength": 1, "pattern": "^[a-z -]+$" }, "price": { "type": "number" } } });
    let schema = Schema::parse(json!({ "type": "array", "uniqueItems": true, "items": item })).unwrap();
    let value: Value = (0..10_000).map(|at| json!({ "name": "a kettle of copper", "price": at })).collect();
    assert_eq!(schema.violations(&value), Vec::<String>::new());
}

#[test]
fn what_is_wrong_inside_alternatives_of_alternatives_is_not_listed_by_the_million() {
    let kinds: Vec<Value> = (0..30)
        .map(|_| json!({ "type": "object", "properties": { "of": { "$ref": "#" } }, "required": ["x"] }))
        .collect();
    let schema = Schema::parse(json!({ "anyOf": kinds })).unwrap();
    let mut value = json!({});
    for _ in 0..30 {
        value = json!({ "x": 1, "of": value });
    }
    let violations = schema.violations(&value);
    assert_eq!(violations.len(), 1);
    assert!(violations.concat().contains("too large to say where"), "{violations:?}");
}

#[test]
fn a_violation_does_not_quote_a_whole_book() {
    let schema = Schema::parse(json!({ "type": "integer" })).unwrap();
    let violations = schema.violations(&json!("é".repeat(1_000_000)));
    assert!(violations.concat().len() < 2 * VIOLATION_BYTES_MAX, "{}", violations.concat().len());
    let reason = reason(json!({ "type": "x".repeat(60_000) }));
    assert!(reason.len() < 2 * VIOLATION_BYTES_MAX, "{}", reason.len());
}

#[test]
fn a_stored_schema_of_an_older_version_fails_in_words() {
    let bomb = json!({ "pattern": r"(\w{200}){200}" });
    let stored: Schema = serde_json::from_value(bomb).unwrap();
    let violations = stored.violations(&json!("x"));
    assert!(violations.concat().starts_with("the schema itself cannot be used: the pattern"), "{violations:?}");
}

/// The number of keywords that were evaluated, whatever their result.
#[derive(Clone, Default)]
struct Count(Arc<AtomicU64>);

/// A keyword that counts its evaluations and returns a fixed result.
struct Counting {
    count: Count,
    answer: bool,
}

impl<'i> Keyword<'i> for Counting {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("no")) }
    }

    fn is_valid(&self, _instance: &'i Value) -> bool {
        self.count.0.fetch_add(1, Ordering::Relaxed);
        self.answer
    }
}

fn counting(json: &Value, count: &Count) -> Validator {
    let count = count.clone();
    let options = jsonschema::draft202012::options();
    let options = options.with_keyword("counted", move |_, value: &Value, _| {
        Ok(Box::new(Counting { count: count.clone(), answer: value == &Value::Bool(true) }))
    });
    options.build(json).unwrap()
}

/// Generates up to six definitions that refer to each other, in every way a schema can.
fn made_up_schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(|answer| json!({ "counted": answer })),
        (0..6_usize).prop_map(|at| pointer(&format!("d{at}"))),
    ];
    let inner = leaf.prop_recursive(3, 12, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..4);
        let combined = (prop_oneof![Just("allOf"), Just("anyOf"), Just("oneOf"), Just("prefixItems")], list)
            .prop_map(|(keyword, list)| json!({ keyword: list, "counted": true }));
        let single = ["not", "if", "items", "contains", "additionalProperties", "unevaluatedProperties"];
        let single = (proptest::sample::select(single.to_vec()), inner.clone())
            .prop_map(|(keyword, schema)| json!({ keyword: schema, "counted": true }));
        let fields = (inner.clone(), inner).prop_map(
            |(one, other)| json!({ "properties": { "x": one, "y": other }, "unevaluatedItems": true, "counted": true }),
        );
        prop_oneof![combined, single, fields]
    });
    proptest::collection::vec(inner, 6).prop_map(|definitions| {
        let definitions = definitions.into_iter().enumerate().map(|(at, schema)| (format!("d{at}"), schema));
        json!({ "$ref": "#/$defs/d0", "$defs": definitions.collect::<Map<String, Value>>() })
    })
}

fn made_up_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(1)), Just(json!("x")), Just(json!({})), Just(json!([]))];
    leaf.prop_recursive(12, 40, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..4).prop_map(Value::from);
        let fields = (inner.clone(), inner).prop_map(|(one, other)| json!({ "x": one, "y": other }));
        prop_oneof![list, fields]
    })
}

/// The factor by which a validation may evaluate more keywords than were counted: the validator keeps a
/// result only from sixteen references on.
const SLACK: u64 = 16;

proptest! {
    #![proptest_config(Config { cases: 600, ..Config::default() })]

    #[test]
    fn a_validation_does_not_take_more_than_was_counted(json in made_up_schemas(), value in made_up_values()) {
        let Ok(schema) = Schema::parse(json.clone()) else { return Ok(()) };
        let Ok(compiled) = schema.compiled() else { return Ok(()) };
        let (Some(checking), listing) = steps::counted(&compiled.graph, &compiled.weights, &value) else { return Ok(()) };
        let count = Count::default();
        let validator = counting(&json, &count);
        let _fits = validator.is_valid(&value);
        let checked = count.0.swap(0, Ordering::Relaxed);
        assert!(checked <= checking.saturating_mul(SLACK), "{checked} of {checking}: {json} {value}");
        if let Some(listing) = listing {
            let _mistakes = validator.iter_errors(&value).count();
            let listed = count.0.load(Ordering::Relaxed);
            assert!(listed <= (checking + listing).saturating_mul(SLACK), "{listed} of {listing}: {json} {value}");
        }
    }
}

#[test]
fn a_text_stands_for_arguments_that_fit_or_for_the_only_required_text() {
    let one = json!({ "type": "object", "required": ["input"], "properties": { "input": { "type": "string" } } });
    let two = json!({ "type": "object", "required": ["a", "b"], "properties": {} });
    let cases = [
        (&one, "1+1", Some(json!({ "input": "1+1" }))),
        (&one, r#"{"input":"1+1"}"#, Some(json!({ "input": "1+1" }))),
        (&one, r#"{"other":1}"#, Some(json!({ "input": r#"{"other":1}"# }))),
        (&one, "[1]", Some(json!({ "input": "[1]" }))),
        (&two, r#"{"a":1}"#, Some(json!({ "a": 1 }))),
        (&two, "words", None),
    ];
    for (schema, text, arguments) in cases {
        assert_eq!(Schema::new(schema.clone()).arguments(text), arguments, "{text}");
    }
}
