//! Expressions as people write them, within their limits and beyond.

use std::time::{Duration, Instant};

use serde_json::json;

use super::*;

/// Far longer than a machine needs that has other things to do: work without an end takes longer still.
const LONG: Duration = Duration::from_secs(120);

const ANYWHERE: Scope = Scope { item: true, round: true, delivery: false };

fn names(source: &str) -> Result<Names, String> {
    read(source, ANYWHERE)
}

fn value(source: &str) -> Result<Value, String> {
    names(source)?;
    let inputs = BTreeMap::from([("n".to_owned(), json!(3)), ("tags".to_owned(), json!(["a", "b"]))]);
    let item = json!({ "name": "bee", "size": 2.5 });
    let values = Values {
        outputs: BTreeMap::from([
            ("plan".to_owned(), json!({ "items": [{ "id": 1, "ok": true }, { "id": 2, "ok": false }] })),
            ("my-task".to_owned(), json!("all good")),
            ("skipped".to_owned(), Value::Null),
        ]),
        inputs: Some(&inputs),
        item: Some((&item, 4)),
        round: Some(1),
        delivery: None,
    };
    evaluate(source, &values)
}

#[test]
fn expressions_see_outputs_inputs_items_and_rounds_as_values() {
    let cases = [
        ("outputs.plan.items.size() == 2", json!(true)),
        ("outputs.plan.items", json!([{ "id": 1, "ok": true }, { "id": 2, "ok": false }])),
        ("outputs.plan.items.filter(x, x.ok).map(x, x.id)", json!([1])),
        ("outputs['my-task'].contains('good') && inputs.n + 1 == 4", json!(true)),
        ("outputs.skipped == null ? 'nothing' : outputs.skipped", json!("nothing")),
        ("inputs.tags.exists(t, t == 'b') && 'a' in inputs.tags", json!(true)),
        ("item.name + string(index) + string(round)", json!("bee41")),
        ("has(inputs.maybe) ? inputs.n : 0", json!(0)),
        ("{'a': [1, 2.5, true, null]}", json!({ "a": [1, 2.5, true, null] })),
        ("outputs['my-task'].matches('^all')", json!(true)),
        ("index >= 4 && round < 2", json!(true)),
    ];
    for (source, expected) in cases {
        assert_eq!(value(source), Ok(expected), "{source}");
    }
}

#[test]
fn an_expression_of_a_hook_sees_the_request_and_nothing_else() {
    let body = json!({ "action": "opened", "issue": { "title": "Bees", "labels": ["bug"] } });
    let headers = json!({ "x-event": "issues" });
    let value = |source: &str| {
        read_delivery(source)?;
        evaluate_delivery(source, &body, &headers)
    };
    assert_eq!(value("body.action == 'opened' && headers['x-event'] == 'issues'"), Ok(json!(true)));
    assert_eq!(value("body.issue.title"), Ok(json!("Bees")));
    assert_eq!(value("body.issue.labels.exists(l, l == 'bug')"), Ok(json!(true)));
    assert_eq!(value("has(body.missing) ? body.missing : 'none'"), Ok(json!("none")));
    assert!(value("body.missing").unwrap_err().contains("there is no `missing`"));
    assert_eq!(value("inputs.x").unwrap_err(), "unknown name `inputs`. Available: [body, headers]");
    assert!(value("outputs.x").unwrap_err().contains("unknown name `outputs`"));
    assert!(names("body.x == 1").unwrap_err().contains("unknown name `body`"));
}

#[test]
fn names_are_found_and_what_is_only_asked_for_may_be_missing() {
    let found = names("outputs.a == outputs['b c'] && has(inputs.x) && inputs.y > inputs['z']").unwrap();
    assert_eq!(found.outputs, BTreeSet::from(["a".to_owned(), "b c".to_owned()]));
    assert_eq!(found.inputs, BTreeSet::from(["y".to_owned(), "z".to_owned()]));
    let shadowed = names("inputs.list.all(outputs, outputs.ok)").unwrap();
    assert_eq!(shadowed.outputs, BTreeSet::new(), "a variable of a comprehension hides it");
}

#[test]
fn what_is_no_expression_or_passes_a_limit_is_refused_with_a_reason() {
    let cases = [
        ("".to_owned(), "must not be blank"),
        ("outputs.a ==".to_owned(), "is no expression"),
        ("x > 1".to_owned(), "unknown name `x`"),
        ("outputs == 1".to_owned(), "`outputs` is followed by the name of a task"),
        ("outputs[inputs.n]".to_owned(), "written out"),
        ("timestamp('2026-01-01T00:00:00Z') == null".to_owned(), "unknown function `timestamp`"),
        ("now()".to_owned(), "unknown function `now`"),
        ("b'abc' == null".to_owned(), "bytes"),
        ("Thing{a: 1}".to_owned(), "objects are written"),
        ("inputs.n.matches(inputs.n)".to_owned(), "written out"),
        ("inputs.tags.exists(t, t.matches('a'))".to_owned(), "not for each element"),
        ("'a'.matches('(')".to_owned(), "no regular expression"),
        ("'a'.matches('((a{1000}){1000})')".to_owned(), "when compiled"),
        ("inputs.tags.map(x, inputs.tags.map(y, y))".to_owned(), "within another"),
        (vec!["1"; 101].join(" + "), "levels deep"),
        (format!("{}1{}", "(".repeat(200), ")".repeat(200)), "must be nested at most "),
        ("[".repeat(2000), "must be nested at most "),
        (vec!["true"; 101].join(" && "), "nodes"),
        (format!("'{}' == ''", "x".repeat(4096)), "at most 4096 bytes"),
    ];
    for (source, reason) in cases {
        let found = names(&source).unwrap_err();
        assert!(found.contains(reason), "{source}: {found}");
    }
    assert!(names(&vec!["true"; 100].join(" && ")).is_ok());
    let outside = read("item == 1", Scope::default()).unwrap_err();
    assert!(outside.contains("for_each"), "{outside}");
    assert!(read("round == 1", Scope::default()).unwrap_err().contains("repeat_until"));
}

#[test]
fn an_error_of_the_evaluation_is_told_in_words() {
    for (source, reason) in [
        ("outputs.plan.missing", "there is no `missing`"),
        ("outputs.skipped.items", ""),
        ("inputs.n / 0 == 1", "zero"),
        ("inputs.n < 'x'", ""),
        ("[1][7]", "the list has no entry 7"),
        ("[1]['a'] == 1", ""),
        ("9223372036854775807 + inputs.n", "too large a number"),
        ("inputs.n + 'x' == 'y'", ""),
        ("1.0 / 0.0", "no form in JSON"),
    ] {
        let found = value(source).unwrap_err();
        assert!(found.contains(reason), "{source}: {found}");
        for inside in ["Int(", "String(", "List(", "Map(", "Null"] {
            assert!(!found.contains(inside), "{source}: {found}");
        }
    }
}

#[test]
fn an_evaluation_that_may_take_long_is_not_begun() {
    let many: Vec<Value> = (0..10_001).map(|n| json!(n)).collect();
    let inputs = BTreeMap::from([
        ("many".to_owned(), json!(many)),
        ("most".to_owned(), json!(many.iter().skip(1).collect::<Vec<_>>())),
        ("long".to_owned(), json!("x".repeat(100_000))),
    ]);
    let values = Values { inputs: Some(&inputs), ..Values::default() };
    let run = |source: &str| {
        names(source).unwrap();
        let began = Instant::now();
        let result = evaluate(source, &values);
        assert!(began.elapsed() < LONG, "{source} took {:?}", began.elapsed());
        result
    };
    assert!(run("inputs.many.all(x, x >= 0)").unwrap_err().contains("10000 elements"));
    assert_eq!(run("inputs.most.all(x, x >= 0)"), Ok(json!(true)));
    assert_eq!(run("inputs.most.filter(x, x % 5000 == 0)"), Ok(json!([5_000, 10_000])));
    for source in [
        "inputs.most.map(x, inputs.long + inputs.long)",
        "inputs.most.exists(x, inputs.most.size() < 0 || x in inputs.most)",
        "inputs.most.map(x, [inputs.most, inputs.most]).size() > 0",
    ] {
        let found = run(source).unwrap_err();
        assert!(found.contains("too long") || found.contains("larger"), "{source}: {found}");
    }
}

#[test]
fn no_text_makes_the_parser_or_the_evaluation_fall_over() {
    let deep = |open: &str, close: &str, times: usize| format!("{}1{}", open.repeat(times), close.repeat(times));
    let mut sources =
        vec![deep("(", ")", 2000), deep("[", "]", 2000), "!".repeat(4000), "-".repeat(4000), "(".repeat(4096)];
    sources.extend([deep("(", ")", 40), deep("[", "]", 40), vec!["1"; 47].join(" + "), "a.".repeat(2000)]);
    sources.extend(["{".repeat(4000), "'".to_owned(), "\"\\u{110000}\"".to_owned(), "1e999999 > 0".to_owned()]);
    sources.extend(["\u{0}".to_owned(), "a ? b : ".repeat(400), "[1][9223372036854775807]".to_owned()]);
    let inputs = BTreeMap::new();
    for source in sources {
        let began = Instant::now();
        if names(&source).is_ok() {
            let _any = evaluate(&source, &Values { inputs: Some(&inputs), ..Values::default() });
        }
        assert!(began.elapsed() < LONG, "{:.40} took {:?}", source, began.elapsed());
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 2_000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn any_text_is_read_or_refused_and_what_is_read_can_be_evaluated(
        pieces in proptest::collection::vec(proptest::sample::select(vec![
            "outputs", ".", "plan", "inputs", "n", "[", "]", "(", ")", "'a'", "1", "2.5", " + ", " == ", " && ", "!", "-",
            " ? ", " : ", "size", "map", "x", ", ", "{", "}", "null", "true", "item", "in ", "has", "exists", "\"", "\\", "é",
        ]), 0..30)
    ) {
        let source = pieces.concat();
        if names(&source).is_ok() {
            let _either = value(&source);
        }
    }
}
