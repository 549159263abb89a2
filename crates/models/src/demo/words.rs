//! Finds things in the words of a task: sums, addresses, files, JSON, the parts of a request, a question for a person.
//! Lists of phrases are strings with `|` between the phrases.

use jiff::tz;
use serde_json::Value;

/// Verbs a task begins with that gather something, and need nothing before them.
const GATHERING: &str = "ask|calculate|collect|fetch|find|gather|get|list|load|look|measure|read|research|search";
/// Verbs a task begins with that make something of what is there.
const MAKING: &str = "analyse|analyze|check|choose|clean|combine|compare|create|describe|design|draft|edit|evaluate|\
                      explain|format|outline|plan|prepare|print|publish|rank|report|review|send|summarise|summarize|\
                      test|translate|turn|verify|write";
/// Further words that a request can begin with.
const ASKING: &str = "add|count|give|how|name|say|show|tell|what|which";
/// Words that refer to an earlier part of the text.
const LEANING: &str = "it|its|them|that|this|both";
/// Endings of file names.
const EXTENSIONS: &str = "csv|html|json|log|md|py|rs|sql|toml|txt|xml|yaml|yml";

/// Returns whether a text has one of these phrases in it.
pub(super) fn has_any(text: &str, phrases: &str) -> bool {
    phrases.split('|').any(|phrase| text.contains(phrase))
}

/// Returns whether a text has these words as whole words.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let letter = |sign: char| sign.is_alphanumeric() || sign == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(letter) && !after.is_some_and(letter)
    })
}

/// Returns the text with a capital letter in front.
pub(super) fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map(|first| first.to_uppercase().chain(signs).collect()).unwrap_or_default()
}

/// Returns the rest of a text after the first of these beginnings it has, else all of it.
pub(super) fn after<'a>(text: &'a str, beginnings: &str) -> &'a str {
    beginnings.split('|').find_map(|beginning| text.strip_prefix(beginning)).unwrap_or(text)
}

/// Returns the sums in a text: numbers with an operator between them.
pub(super) fn sums(text: &str) -> Vec<String> {
    let asks = has_any(&text.to_lowercase(), "what |calculate |how much ");
    let text = text.replace(", ", "\n").replace(". ", "\n").replace("% of ", "%\u{1}");
    let is_arithmetic = |sign: char| sign.is_ascii_digit() || " .,+-*/^()%\u{1}".contains(sign);
    let mut sums: Vec<String> = Vec::new();
    for part in text.split(|sign: char| !is_arithmetic(sign)) {
        let sum = balanced(part.trim_matches([' ', ',', '.', '+', '*', '/', '\u{1}'])).replace('\u{1}', " of ");
        if is_sum(&sum, asks) && !sums.contains(&sum) {
            sums.push(sum);
        }
    }
    sums
}

/// Returns a sum without the brackets that belong to the words around it.
fn balanced(text: &str) -> &str {
    let text = text.trim_end_matches([' ', '(']).trim_start_matches([' ', ')']);
    let open = text.matches('(').count();
    let shut = text.matches(')').count();
    let inside = if open > shut { text.strip_prefix('(') } else { text.strip_suffix(')').filter(|_| shut > open) };
    inside.unwrap_or(text).trim()
}

/// Whether a text is a sum. A bare `-` or `/` also stands in dates and ranges, so those need spaces around them, or a
/// question for the result.
fn is_sum(text: &str, asks: bool) -> bool {
    let number = |side: &str| side.contains(|sign: char| sign.is_ascii_digit());
    let parted = |sign: &&str| text.split_once(*sign).is_some_and(|(left, right)| number(left) && number(right));
    let once = |sign: &&str| text.matches(*sign).count() == 1;
    ["+", "*", "^", " - ", " / ", "% of "].iter().any(&parted)
        || asks && ["-", "/"].iter().filter(|sign| once(sign)).any(parted)
}

/// Returns the web addresses in a text.
pub(super) fn urls(text: &str) -> Vec<&str> {
    let inside = text.split(|sign: char| sign.is_whitespace() || "<>\"'()[]`".contains(sign));
    let trimmed = inside.map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?']));
    trimmed.filter(|word| word.starts_with("http://") || word.starts_with("https://")).collect()
}

/// Returns the files that a text mentions, except those that are to be written.
pub(super) fn paths(text: &str) -> Vec<&str> {
    let targets: Vec<&str> = targets(text).into_iter().map(|(_, path)| path).collect();
    text.split_whitespace().map(bare).filter(|word| is_path(word) && !targets.contains(word)).collect()
}

/// Returns the files that a text wants written, each with the words before it.
pub(super) fn targets(text: &str) -> Vec<(&str, &str)> {
    let places = [" to ", " into "].into_iter().flat_map(|joint| text.match_indices(joint));
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
    let parts = word.rsplit_once('.').filter(|(name, _)| !name.is_empty() && !name.contains("://"));
    parts.is_some_and(|(_, extension)| EXTENSIONS.split('|').any(|known| known == extension))
}

/// Returns the first JSON in a text that is worth a query, and the words before it.
pub(super) fn json(text: &str) -> Option<(Value, &str)> {
    let starts = text.match_indices(['{', '[']).map(|(at, _)| at);
    let mut found = starts.filter_map(|at| Some((leading_json(text.get(at..)?)?, text.get(..at)?)));
    let is_empty =
        |value: &Value| value.as_object().map_or_else(|| value == &Value::Array(vec![]), |map| map.is_empty());
    found.find(|(value, _)| !is_empty(value))
}

/// Returns the JSON value at the beginning of a text.
pub(super) fn leading_json(text: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(text).into_iter().next()?.ok()
}

/// Returns the query over `json` that these words ask for.
pub(super) fn query(words: &str, json: &Value) -> String {
    let lower = words.to_lowercase();
    let fields = json.get(0).unwrap_or(json).as_object().into_iter().flatten().map(|(name, _)| name);
    let field = fields.into_iter().find(|name| has_word(&lower, &name.to_lowercase()));
    match (words.split('`').nth(1), field) {
        (Some(quoted), _) => quoted.to_owned(),
        (None, Some(field)) if json.is_array() => format!("map(.{field})"),
        (None, Some(field)) => format!(".{field}"),
        (None, None) if has_any(&lower, "how many|count") => "length".to_owned(),
        (None, None) => ".".to_owned(),
    }
}

/// Returns whether a text asks for the time.
pub(super) fn asks_the_time(text: &str) -> bool {
    has_any(&text.to_lowercase(), "what time|current time|time is it|current date|what date|what day|the date")
}

/// Returns the time zone that a text names, by its name or by its city.
pub(super) fn zone(text: &str) -> Option<String> {
    let named = |zone: &String| {
        let city = zone.rsplit_once('/').map(|(_, city)| city.replace('_', " "));
        zone.contains('/') && (has_word(text, zone) || city.is_some_and(|city| has_word(text, &format!("in {city}"))))
    };
    tz::db().available().map(|zone| zone.as_str().to_owned()).find(named)
}

/// Returns the introduction and the parts of a request that comes as a list.
pub(super) fn parts(text: &str) -> (String, Vec<String>) {
    let listed: Vec<&str> = text.lines().filter_map(item).collect();
    if listed.len() > 1 {
        let intro = text.lines().take_while(|line| item(line).is_none()).collect::<Vec<_>>().join(" ");
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

/// Returns the text behind the number or the bullet of a line.
pub(super) fn item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let digits = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let numbered =
        digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") ")).filter(|_| digits.len() < line.len());
    line.strip_prefix("- ").or(numbered).map(str::trim)
}

/// Returns the parts of a request that asks for several things at once, each of which can be done without the others;
/// none where it asks for one thing.
pub(super) fn requests(text: &str) -> Vec<String> {
    let begins = |word: &str| is_task(word) || is_verb(word, ASKING);
    let requests = clauses(after(text.trim(), "Please |please "), begins);
    let leans = |request: &str| LEANING.split('|').any(|word| has_word(&request.replace("is it", ""), word));
    match requests.as_slice() {
        [first, others @ ..]
            if !others.is_empty()
                && first.split_whitespace().next().is_some_and(begins)
                && !others.iter().any(|request| leans(request)) =>
        {
            requests
        }
        _ => Vec::new(),
    }
}

/// Returns the clauses of a text: a comma, a question mark or an `and` ends one where a word follows that begins
/// another.
pub(super) fn clauses(text: &str, begins: impl Fn(&str) -> bool) -> Vec<String> {
    let text = text.replace(", and ", ", ").replace("? ", ", ").replace(". ", ", ").replace(" and ", ", ");
    let mut clauses: Vec<String> = Vec::new();
    for piece in text.split([',', ';', '\n']).map(|piece| piece.trim().trim_end_matches(['.', '?', '!'])) {
        match clauses.last_mut() {
            Some(last) if !piece.split_whitespace().next().is_some_and(&begins) => {
                last.push_str(&format!(" and {piece}"))
            }
            Some(_) | None => clauses.push(piece.to_owned()),
        }
    }
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

/// Returns whether a word is one of these verbs, as an order or as in `writes`.
fn is_verb(word: &str, verbs: &str) -> bool {
    let word = word.to_lowercase();
    verbs.split('|').any(|verb| [Some(&*word), word.strip_suffix('s'), word.strip_suffix("es")].contains(&Some(verb)))
}

/// Returns whether a word is a verb that asks for a text or a part of one.
pub(super) fn is_task(word: &str) -> bool {
    is_gathering(word) || is_verb(word, MAKING)
}

/// Returns whether a word is a verb that gathers something.
pub(super) fn is_gathering(word: &str) -> bool {
    is_verb(word, GATHERING)
}

/// Returns a sentence as an order: `writes a poem` is `Write a poem`.
pub(super) fn imperative(text: &str) -> String {
    let (verb, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let stem = [verb.strip_suffix("es"), verb.strip_suffix('s')].into_iter().flatten();
    let is_same = |stem: &str, verb: &str| stem.eq_ignore_ascii_case(verb);
    let known = |stem: &&str| [GATHERING, MAKING].iter().any(|verbs| verbs.split('|').any(|verb| is_same(stem, verb)));
    let order = stem.into_iter().find(known).unwrap_or(verb);
    capital(format!("{order} {rest}").trim())
}

/// Returns the question that a task wants a person to answer.
pub(super) fn question(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let phrases = ["ask a person", "ask the user", "ask somebody", "ask me"];
    let end = phrases.iter().find_map(|words| Some(lower.find(words)? + words.len()))?;
    let rest = text.get(end..)?.trim_start_matches([' ', ':', ',']);
    let sentence = rest.split(['\n', '?']).next()?.split(". ").next()?.trim().trim_end_matches('.');
    Some(format!("{}?", capital(sentence)))
}

/// Returns the answers that a question offers in brackets.
pub(super) fn options(question: &str) -> Vec<String> {
    let inside = question.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inside, _)| inside);
    let all = inside.replace(" or ", ",");
    all.split(',').map(|option| option.trim().to_owned()).filter(|option| !option.is_empty()).collect()
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
            ("Calculate 100-37.", vec!["100-37"]),
            ("Tell me what 7-2 is", vec!["7-2"]),
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
                "Please read a.md, calculate 12/5, and list 3 ideas.",
                vec!["read a.md", "calculate 12/5", "list 3 ideas"],
            ),
            ("What is 1+1? Tell me what time is it.", vec!["What is 1+1", "Tell me what time is it"]),
            ("Read a.md and summarize it", none.to_vec()),
            ("Compare tea and coffee", none.to_vec()),
            ("The tea is cold, what now?", none.to_vec()),
            ("Write", none.to_vec()),
        ] {
            assert_eq!(requests(text), expected, "{text}");
        }
    }
}
