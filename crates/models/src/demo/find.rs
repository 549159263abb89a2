//! What can be found in the words of a task: sums, addresses, files, JSON,
//! the parts of a request, a question for a person.

use jiff::tz;
use serde_json::Value;

/// Ends of names that are files.
const EXTENSIONS: [&str; 14] =
    ["md", "txt", "csv", "json", "toml", "yaml", "yml", "rs", "py", "js", "html", "log", "xml", "sql"];
/// How a task asks for the time.
const TIME: [&str; 9] = [
    "what time",
    "current time",
    "the time in",
    "time is it",
    "current date",
    "today's date",
    "what date",
    "what day",
    "what is the date",
];
/// How a task asks for a person.
const PERSON: [&str; 9] = [
    "ask a person",
    "ask the user",
    "ask a human",
    "ask somebody",
    "ask someone",
    "ask me",
    "ask the customer",
    "check with a person",
    "check with me",
];

/// Where a request goes on with something else.
const JOINTS: [&str; 7] = ["; ", "? ", ", ", ", and ", " and ", " and also ", ", and also "];
/// How people begin to say what they want.
const ORDERS: [&str; 32] = [
    "add",
    "calculate",
    "compare",
    "compute",
    "count",
    "create",
    "describe",
    "divide",
    "draft",
    "explain",
    "fetch",
    "find",
    "give",
    "how",
    "list",
    "multiply",
    "name",
    "outline",
    "plan",
    "prepare",
    "read",
    "research",
    "say",
    "search",
    "show",
    "summarise",
    "summarize",
    "tell",
    "translate",
    "what",
    "which",
    "write",
];
/// Words that stand for something said before.
const LEANING: [&str; 8] = ["it", "its", "them", "that", "this", "these", "both", "result"];

/// Words that ask for one value instead of all, and the filter that finds it.
const SUMMARIES: [(&[&str], &str); 4] = [
    (&["average", "mean"], " | add / length"),
    (&["sum", "total", "altogether"], " | add"),
    (&["highest", "largest", "biggest", "most"], " | max"),
    (&["lowest", "smallest", "least"], " | min"),
];

/// Operators in words.
const SPOKEN: [(&str, &str); 5] =
    [(" times ", " * "), (" multiplied by ", " * "), (" divided by ", " / "), (" plus ", " + "), (" minus ", " - ")];
/// Words that ask for what follows, without the letter that may be a capital.
const ASKED: [&str; 9] =
    ["hat is ", "hat's ", "uch is ", "alculate ", "ompute ", "valuate ", "ork out ", "What ", "what "];

/// The sums in a text.
pub(super) fn sums(text: &str) -> Vec<String> {
    let mut sums: Vec<String> = Vec::new();
    let text = text.replace(", ", "\n").replace(". ", "\n").replace("% of ", "%\u{1}");
    let text = SPOKEN.iter().fold(text, |text, (words, sign)| text.replace(words, sign));
    let text = ASKED.iter().fold(text, |text, words| text.replace(words, &format!("{words}\u{2}")));
    for candidate in text.split(|sign: char| !is_arithmetic(sign)) {
        let ends = [' ', ',', '.', '+', '*', '/', '=', '\u{1}'];
        let candidate = candidate.trim_matches(ends);
        let (is_asked, candidate) = candidate.strip_prefix('\u{2}').map_or((false, candidate), |rest| (true, rest));
        let candidate = balanced(candidate).replace('\u{1}', " of ");
        if is_sum(&candidate, is_asked) && !sums.contains(&candidate) {
            sums.push(candidate);
        }
    }
    sums
}

/// A sum without the brackets that belong to the words around it.
fn balanced(text: &str) -> &str {
    let text = text.trim_end_matches([' ', '(']).trim_start_matches([' ', ')']);
    let (open, shut) = (text.matches('(').count(), text.matches(')').count());
    let inside = if open > shut { text.strip_prefix('(') } else { text.strip_suffix(')').filter(|_| shut > open) };
    inside.unwrap_or(text).trim()
}

fn is_arithmetic(sign: char) -> bool {
    sign.is_ascii_digit() || " .,+-*/^()%×÷−\u{1}\u{2}".contains(sign)
}

/// Two numbers with an operator between them. A bare `-` or `/` also stands
/// in dates and ranges, so those need room around them, or somebody who asks.
fn is_sum(text: &str, is_asked: bool) -> bool {
    let operators = ["+", "*", "^", "×", "÷", "−", " - ", " / ", "% of "];
    let doubtful: &[&str] = if is_asked { &["-", "/"] } else { &[] };
    let number = |side: &str| side.contains(|sign: char| sign.is_ascii_digit());
    operators
        .iter()
        .chain(doubtful)
        .any(|sign| text.split_once(sign).is_some_and(|(left, right)| number(left) && number(right)))
}

/// The web addresses in a text.
pub(super) fn urls(text: &str) -> Vec<&str> {
    let inside = text.split(|sign: char| sign.is_whitespace() || "<>\"'()[]`".contains(sign));
    let trimmed = inside.map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?']));
    trimmed.filter(|word| word.starts_with("http://") || word.starts_with("https://")).collect()
}

/// The files a text speaks of, except those that are to be written.
pub(super) fn paths(text: &str) -> Vec<&str> {
    let targets: Vec<&str> = targets(text).into_iter().map(|(_, path)| path).collect();
    text.split_whitespace().map(bare).filter(|word| is_path(word) && !targets.contains(word)).collect()
}

/// The files a text wants written, each with the words before it.
pub(super) fn targets(text: &str) -> Vec<(&str, &str)> {
    let joint = [" to ", " into ", " as "];
    let places = joint.iter().flat_map(|joint| text.match_indices(joint));
    let target = |(at, joint): (usize, &str)| {
        let path = text.get(at + joint.len()..)?.split_whitespace().next().map(bare)?;
        is_path(path).then_some((text.get(..at)?, path))
    };
    places.filter_map(target).collect()
}

fn bare(word: &str) -> &str {
    word.trim_matches(['.', ',', ';', ':', '!', '?', '`', '"', '\'', '(', ')', '*'])
}

fn is_path(word: &str) -> bool {
    let extension = word.rsplit_once('.').filter(|(name, _)| !name.is_empty() && !name.contains("://"));
    extension.is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

/// The first JSON in a text that is worth a query, and the text without it.
pub(super) fn json(text: &str) -> Option<(Value, String)> {
    let starts = text.match_indices(['{', '[']).map(|(at, _)| at);
    starts.filter_map(|at| cut_json(text, at)).find(|(value, _)| is_worth_a_query(value))
}

fn cut_json(text: &str, at: usize) -> Option<(Value, String)> {
    let rest = text.get(at..)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let after = rest.get(values.byte_offset()..).unwrap_or_default();
    Some((value, format!("{}{after}", text.get(..at)?)))
}

fn is_worth_a_query(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => items.len() > 1 || items.first().is_some_and(Value::is_object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The query over `json` that these words ask for.
pub(super) fn query(words: &str, json: &Value) -> String {
    let quoted = words.split('`').skip(1).step_by(2).find(|quoted| quoted.starts_with('.') || quoted.contains('|'));
    if let Some(quoted) = quoted {
        return quoted.to_owned();
    }
    let lower = words.to_lowercase();
    let row = json.get(0).unwrap_or(json);
    let fields = row.as_object().into_iter().flatten().map(|(name, _)| name);
    let field = fields.into_iter().find(|name| has_word(&lower, &name.to_lowercase()));
    let has = |names: &[&str]| names.iter().any(|name| lower.contains(name));
    match (field, json.is_array()) {
        (Some(field), true) => format!("map(.{field}){}", summary(&lower)),
        (Some(field), false) => format!(".{field}"),
        (None, _) if has(&["how many", "count"]) => "length".to_owned(),
        (None, _) if has(&["keys", "fields"]) => "keys".to_owned(),
        (None, _) => ".".to_owned(),
    }
}

/// What is made of the values of a field.
fn summary(words: &str) -> &'static str {
    let asked = SUMMARIES.iter().find(|(names, _)| names.iter().any(|name| words.contains(name)));
    asked.map_or("", |(_, filter)| filter)
}

/// Whether these words stand in a text as a whole.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let letter = |sign: char| sign.is_alphanumeric() || sign == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(letter) && !after.is_some_and(letter)
    })
}

/// Whether a text asks for the time.
pub(super) fn asks_the_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    TIME.iter().any(|words| lower.contains(words))
}

/// The time zone a text names, by its name or by its city.
pub(super) fn zone(text: &str) -> Option<String> {
    let named = |zone: &String| {
        let city = zone.rsplit_once('/').map(|(_, city)| city.replace('_', " "));
        zone.contains('/') && (has_word(text, zone) || city.is_some_and(|city| has_word(text, &format!("in {city}"))))
    };
    tz::db().available().map(|zone| zone.as_str().to_owned()).find(named)
}

/// The introduction and the parts of a request that comes as a list.
pub(super) fn parts(text: &str) -> (String, Vec<String>) {
    let listed: Vec<&str> = text.lines().filter_map(item).collect();
    let intro = text.lines().take_while(|line| item(line).is_none()).collect::<Vec<_>>().join(" ");
    if listed.len() > 1 {
        return (intro.trim().to_owned(), listed.into_iter().map(str::to_owned).collect());
    }
    let mut inline: Vec<&str> = Vec::new();
    let mut rest = text;
    for number in 1.. {
        let Some((before, after)) = rest.split_once(&format!("{number}) ")) else { break };
        inline.push(before);
        rest = after;
    }
    inline.push(rest);
    let mut inline = inline.into_iter().map(|part| part.trim().trim_matches(['(', ',', ';', ' ']).to_owned());
    let intro = inline.next().unwrap_or_default();
    (intro, inline.collect())
}

/// The parts of a request that says several things in one breath, each of which
/// can be done without the others.
pub(super) fn clauses(text: &str) -> Vec<String> {
    let (mut clauses, mut rest) = (Vec::new(), text.trim());
    let begins = |rest: &str| rest.split_whitespace().next().is_some_and(|word| is_order(bare(word)));
    loop {
        let joints = JOINTS.iter().flat_map(|joint| rest.match_indices(joint));
        let joints = joints.filter_map(|(at, joint)| Some((rest.get(..at)?, rest.get(at + joint.len()..)?)));
        // The first place, and there the longest joint.
        let cut = joints.filter(|(_, after)| begins(after)).min_by_key(|(before, after)| (before.len(), after.len()));
        clauses.push(cut.map_or(rest, |(before, _)| before).trim_end_matches(['.', ',', ';', '?', '!']).to_owned());
        match cut {
            Some((_, after)) => rest = after,
            None => break,
        }
    }
    let first = text.trim().trim_start_matches("Please ").trim_start_matches("please ");
    let leans = |clause: &String| {
        LEANING.iter().any(|word| has_word(&clause.to_lowercase().replace("is it", "").replace("it is", ""), word))
    };
    let stand_alone = clauses.len() > 1 && begins(first) && !clauses.iter().skip(1).any(leans);
    if stand_alone { clauses } else { Vec::new() }
}

fn is_order(word: &str) -> bool {
    ORDERS.contains(&word.to_lowercase().as_str())
}

/// What stands behind the number or the bullet of a line.
pub(super) fn item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let bullet = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    let digits = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let numbered =
        (digits.len() < line.len()).then(|| digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") "))).flatten();
    bullet.or(numbered).map(str::trim)
}

/// What a person is to be asked.
pub(super) fn question(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let (at, words) = PERSON.iter().find_map(|words| Some((lower.find(words)?, words)))?;
    let rest = text.get(at + words.len()..)?.trim_start_matches([' ', ':', ',']);
    let sentence = rest.split(['\n', '?']).next().unwrap_or(rest).split(". ").next().unwrap_or(rest);
    let sentence = sentence.trim().trim_end_matches('.');
    Some(format!("{}?", capital(if sentence.is_empty() { text.trim().trim_end_matches('.') } else { sentence })))
}

/// The answers a question offers in brackets.
pub(super) fn options(question: &str) -> Vec<String> {
    let inside = question.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inside, _)| inside);
    let all = inside.replace(" or ", ",").replace('/', ",");
    all.split(',').map(|option| option.trim().to_owned()).filter(|option| !option.is_empty()).collect()
}

/// The same words with a capital letter in front.
pub(super) fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map(|first| first.to_uppercase().chain(signs).collect()).unwrap_or_default()
}

/// The number a tool's answer is, if it is one.
pub(super) fn number(text: &str) -> Option<f64> {
    text.trim().replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_found_and_dates_and_ranges_are_not() {
        for (task, expected) in [
            ("What is 42 * 17?", vec!["42 * 17"]),
            ("Work out 3*(4+5), then 2^10.", vec!["3*(4+5)", "2^10"]),
            ("Add 1+2, 3+4. 1,000 * 2", vec!["1+2", "3+4", "1,000 * 2"]),
            ("Take 15% of 80", vec!["15% of 80"]),
            ("From 10 - 4 apples (2^3 (or so))", vec!["10 - 4", "2^3"]),
            ("What is 12/5?", vec!["12/5"]),
            ("Calculate 100-37. How much is 6 times 7?", vec!["100-37", "6 * 7"]),
            ("Tell me what 7-2 is", vec!["7-2"]),
            ("What is 2 plus 3, and 10 divided by 4?", vec!["2 + 3", "10 / 4"]),
            ("Sing 3 times a day", vec![]),
            ("Report on 2024-2025, due 2026-01-02 or 1/2/2026", vec![]),
            ("List 3 ideas, 5 words each", vec![]),
            ("C++ and - dashes * stars", vec![]),
        ] {
            assert_eq!(sums(task), expected, "{task}");
        }
    }

    #[test]
    fn files_addresses_and_parts_are_found() {
        assert_eq!(paths("Compare `a/b.md` with c.txt and save it to d.md, e.g."), ["a/b.md", "c.txt"]);
        assert_eq!(
            urls("See (https://example.org/a?b=1), https://example.org."),
            ["https://example.org/a?b=1", "https://example.org"]
        );
        assert_eq!(parts("Do:\n1. sing\n2. dance").1, ["sing", "dance"]);
        assert_eq!(parts("Please (1) sing, (2) dance").1, ["sing", "dance"]);
        assert_eq!(parts("Sing").1, Vec::<String>::new());
        assert_eq!(targets("Write a poem to `a/b.md`, and go to bed"), [("Write a poem", "a/b.md")]);
    }

    #[test]
    fn a_request_is_cut_where_it_goes_on_with_something_that_stands_alone() {
        let none: [&str; 0] = [];
        for (text, expected) in [
            ("Write about tea and tell me the time", vec!["Write about tea", "tell me the time"]),
            (
                "Please read a.md, calculate 12/5, and also list 3 ideas.",
                vec!["Please read a.md", "calculate 12/5", "list 3 ideas"],
            ),
            ("What is 1+1? Tell me what time it is.", vec!["What is 1+1", "Tell me what time it is"]),
            ("Read a.md and summarize it", none.to_vec()),
            ("Compare tea and coffee", none.to_vec()),
            ("The tea is cold, what now?", none.to_vec()),
            ("Write", none.to_vec()),
        ] {
            assert_eq!(clauses(text), expected, "{text}");
        }
    }
}
