//! Tests queries that people write, mistakes they make, and queries built to exhaust resources.

use std::time::Instant;

use super::*;

/// Far longer than a machine needs that has other things to do: work without an end takes longer still.
const LONG: Duration = Duration::from_secs(120);

async fn ask(json: Value, query: &str) -> Answer {
    let args = json!({ "json": json, "query": query });
    let call = Invocation::test(args);
    Json::default().call(call).await
}

async fn text(json: &str, query: &str) -> String {
    let answer = ask(Value::String(json.to_owned()), query).await;
    let Answer::Done { text, .. } = answer else { panic!("{query}: {answer:?}") };
    text
}

async fn refusal(json: &str, query: &str) -> String {
    let answer = ask(Value::String(json.to_owned()), query).await;
    let Answer::Failed(why) = answer else { panic!("{query}: {}", short(&format!("{answer:?}"))) };
    why
}

const SHOP: &str = r#"{"items":[
    {"name":"tea","price":4,"tags":["hot","leaf"]},
    {"name":"cup","price":12.5,"tags":[]},
    {"name":"pot","price":30,"tags":["hot"]}],"city":"Kyoto","id":9007199254740993}"#;

#[tokio::test]
async fn the_queries_people_write_have_the_answers_they_expect() {
    for (query, expected) in [
        (".city", "Kyoto"),
        (".items[].name", "\"tea\"\n\"cup\"\n\"pot\""),
        (".items | map(select(.price > 10)) | length", "2"),
        (
            "[.items[] | {name, p: (.price * 2)}]",
            r#"[{"name":"tea","p":8},{"name":"cup","p":25},{"name":"pot","p":60}]"#,
        ),
        (".items | map(.price) | add", "46.5"),
        (".items | sort_by(-.price) | .[0].name", "pot"),
        (".items | min_by(.price).name, max_by(.price).name", "\"tea\"\n\"pot\""),
        ("[.items[].tags[]] | unique", r#"["hot","leaf"]"#),
        (".items | group_by(.tags | length) | map([.[].name])", r#"[["cup"],["pot"],["tea"]]"#),
        ("keys", r#"["city","id","items"]"#),
        ("[.items[] | .name | ascii_upcase] | join(\", \")", "TEA, CUP, POT"),
        ("\"\\(.city): \\(.items | length)\"", "Kyoto: 3"),
        (".id", "9007199254740993"),
        (".id + 1", "9007199254740994"),
        (".missing.deeper // \"none\"", "none"),
        (".items[-1].name, .items[5], (.items[0:2] | length)", "\"pot\"\nnull\n2"),
        ("del(.items) | to_entries | map(.key)", r#"["city","id"]"#),
        (".items[0].price |= . + 1 | .items[0].price", "5"),
        (".a.b = 1 | .a", r#"{"b":1}"#),
        ("with_entries(select(.key == \"city\"))", r#"{"city":"Kyoto"}"#),
        ("reduce .items[] as $i (0; . + $i.price)", "46.5"),
        ("if .city == \"Kyoto\" then 1 else 2 end", "1"),
        ("[paths] | length", "18"),
        ("first(.items[] | select(.tags | contains([\"hot\"]))) | .name", "tea"),
        (".items | map(has(\"price\")) | all", "true"),
        ("[.items[] | try error(\"x\") catch .] | unique", r#"["x"]"#),
        (".items | map([.name, .price] | @csv) | .[0]", "\"tea\",4"),
        ("[.[] | type]", r#"["array","string","number"]"#),
        ("\"a-b-c\" | split(\"-\") | reverse | tojson | fromjson", r#"["c","b","a"]"#),
        ("[1, [2, [3]]] | flatten, flatten(1)", "[1,2,3]\n[1,2,[3]]"),
        ("def double: . * 2; [1, 2] | map(double)", "[2,4]"),
        ("[limit(3; range(10))], [range(0; 10; 4)]", "[0,1,2]\n[0,4,8]"),
        ("7 / 2, 6 / 2, 7 % 3, -1", "3.5\n3\n1\n-1"),
        ("{a: {x: 1}} * {a: {y: 2}}", r#"{"a":{"x":1,"y":2}}"#),
        ("[3, \"a\", null, {}, true, []] | sort", r#"[null,true,3,"a",[],{}]"#),
        ("empty", "(no results)"),
    ] {
        assert_eq!(text(SHOP, query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn a_path_as_others_spell_it_is_understood() {
    for query in ["$.items[1].name", "items[1].name", ".items[1].name"] {
        assert_eq!(text(SHOP, query).await, "cup", "{query}");
    }
    assert_eq!(text("[1,2]", "$[1]").await, "2");
    assert_eq!(text("7", "$").await, "7");
    assert_eq!(text(SHOP, "length").await, "3", "what jq knows is jq's");
    assert!(refusal(SHOP, "items | nope").await.contains("not known here"));
}

#[tokio::test]
async fn json_may_be_given_as_text_or_as_it_is_and_comes_back_as_data() {
    let answer = ask(json!({ "a": [1, 2] }), ".a").await;
    assert_eq!(answer, Answer::Done { text: "[1,2]".to_owned(), data: Some(json!([1, 2])) });
    let answer = ask(json!("[1, 2]"), ".[]").await;
    assert_eq!(answer, Answer::Done { text: "1\n2".to_owned(), data: Some(json!([1, 2])) });
}

#[tokio::test]
async fn mistakes_are_answered_in_words() {
    for (json, query, part) in [
        ("{", ".", "`json` is not JSON"),
        ("{}", "", "is not a query"),
        ("{}", ".a |", "is expected at its end"),
        ("{}", "(.a", "is expected"),
        ("{}", ".a | nonsense(1)", "the filter `nonsense` is not known here"),
        ("{}", "$x", "the variable `$x` is not known here"),
        ("{}", "env, $ENV", "not known here"),
        ("{}", "now", "the filter `now` is not known here"),
        ("{}", "input", "not known here"),
        ("{}", "halt", "not known here"),
        ("{}", "import \"a\" as a; .", "cannot be imported"),
        ("[1]", ".a", "cannot index [1] with"),
        ("{}", "1 + \"a\"", "cannot calculate 1 + "),
        ("{}", "1 / 0", "cannot calculate 1 / 0"),
        ("{}", "error(\"mine\")", "the query failed: \"mine\""),
        ("5", ".[]", "cannot use 5 as iterable"),
    ] {
        let why = refusal(json, query).await;
        assert!(why.contains(part), "{query}: {why}");
    }
}

#[tokio::test]
async fn queries_built_to_exhaust_are_ended_in_time() {
    let double = "| [., .] ".repeat(60);
    let wide = "| . + . ".repeat(60);
    let strings = "\"x\"".to_owned() + &"| . + .".repeat(60);
    let queries = [
        "def f: f; f".to_owned(),
        "def f: [f]; f".to_owned(),
        "def f: 1 + f; f".to_owned(),
        "def f(g): f(g | .); f(.)".to_owned(),
        "def f: (. + [0]) as $x | $x | f; [range(100000)] | f".to_owned(),
        "repeat(1)".to_owned(),
        "[repeat(1)]".to_owned(),
        "last(repeat(1))".to_owned(),
        "[range(1e12)] | length".to_owned(),
        "last(range(1e12))".to_owned(),
        "range(1e12) | empty".to_owned(),
        "reduce range(1e12) as $x (0; . + $x)".to_owned(),
        "until(false; . + 1)".to_owned(),
        "[recurse(. + 1)]".to_owned(),
        "reduce range(1e6) as $x (0; [.])".to_owned(),
        "\"x\" * 1e12".to_owned(),
        format!(". {double} | tojson | length"),
        format!(". {double} | [..] | length"),
        format!(". {double} | . == ."),
        format!("[0] {wide} | length"),
        format!("{strings} | length"),
        "[range(300)] | [.[] as $a | .[] as $b | .[] as $c | 1] | length".to_owned(),
        "[limit(1e9; repeat(\"x\" * 1000))] | join(\"\") | length".to_owned(),
        "[range(100000)] as $a | [range(1000) | $a + [.]] | length".to_owned(),
        format!("{}1{}", "(".repeat(2_000), ")".repeat(2_000)) + " | repeat(.)",
        format!("[{}0{}]", "[".repeat(1_500), "]".repeat(1_500)),
        "-".repeat(4_000) + "1 | repeat(1)",
    ];
    for query in queries {
        let begun = Instant::now();
        let why = refusal("0", &query).await;
        assert!(why.contains("the query") || why.contains("the results"), "{}: {why}", short(&query));
        assert!(begun.elapsed() < LONG, "{}: {:?}", short(&query), begun.elapsed());
    }
}

#[tokio::test]
async fn ordinary_work_on_large_json_fits_the_limits() {
    let rows: Vec<Value> =
        (0..10_000).map(|n| json!({ "id": n, "city": format!("c{}", n % 7), "price": n % 100 })).collect();
    let rows = json!(rows);
    for (query, expected) in [
        ("map(select(.price > 50).id) | length", "4900"),
        ("group_by(.city) | map(length) | add", "10000"),
        ("map(.price) | add", "495000"),
        ("sort_by(.price) | .[-1].price", "99"),
        ("reduce .[] as $r ({}; .[$r.city] += 1) | keys | length", "7"),
    ] {
        let Answer::Done { text, .. } = ask(rows.clone(), query).await else { panic!("{query}") };
        assert_eq!(text, expected, "{query}");
    }
    assert!(refusal(&"x".repeat(INPUT_MAX + 1), ".").await.contains("longer than"));
    let Answer::Failed(why) = ask(rows, "[.[], .[]]").await else { panic!() };
    assert!(why.contains("narrow the query"), "{why}");
}

#[test]
fn made_up_queries_are_answered_or_refused_in_words() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let examples = [
        ".items[].name",
        "map(select(.price > 10)) | length",
        "group_by(.city) | map({city: .[0].city, n: length})",
        r#"[.items[] | .tags[]?] | unique | join("-") | test("a+"; "x")"#,
        "reduce .items[] as $i (0; . + $i.price) // 1 | try error catch .",
    ];
    consort_fuzz::text(&examples, |query| match runtime.block_on(ask(Value::String(SHOP.to_owned()), query)) {
        Answer::Failed(why) => assert!(!why.trim().is_empty(), "{query:?}"),
        Answer::Done { .. } => {}
        Answer::Unknown(why) | Answer::Late { why, .. } => panic!("{query:?}: {why}"),
    });
}

#[test]
fn made_up_json_is_read_or_refused_in_words() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    consort_fuzz::text(&[SHOP, "[1e308, -0.0, null]"], |json| {
        match runtime.block_on(ask(Value::String(json.to_owned()), ".")) {
            Answer::Failed(why) => assert!(!why.trim().is_empty(), "{json:?}"),
            Answer::Done { text, .. } => drop(serde_json::from_str::<Value>(&text)),
            Answer::Unknown(why) | Answer::Late { why, .. } => panic!("{json:?}: {why}"),
        }
    });
}
