//! Text by rule: a title, points to cover, a timetable, the first sentences of
//! what was given. It knows no facts, so it states none.

use super::find;

/// Points when nobody says how many.
const POINTS: usize = 3;
/// What there is to say about anything, in the order of a good introduction.
const ANGLES: [(&str, &str); 7] = [
    ("First things first", "{} in one plain definition"),
    ("Under the surface", "a closer look at {}, step by step"),
    ("Why it matters", "who depends on {}, and for what"),
    ("Common mistakes", "what people often believe about {}, checked"),
    ("Where to begin", "one thing about {} to see, read or try this week"),
    ("A look back", "how people came to know what they know about {}"),
    ("What comes next", "the open questions about {}"),
];
/// When a timetable begins that does not say: at 18:00.
const EVENING: usize = 18 * 60;
const NUMBERS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
/// Verbs a task begins with that are not what it is about.
const VERBS: [&str; 15] = [
    "research",
    "write",
    "explain",
    "describe",
    "summarize",
    "summarise",
    "list",
    "draft",
    "prepare",
    "create",
    "find",
    "outline",
    "plan",
    "calculate",
    "compare",
];

/// What a task is about.
pub(super) fn topic(task: &str) -> String {
    let line = task.lines().next().unwrap_or_default();
    let about = line.split_once(" about ").or_else(|| line.split_once(" on ")).map(|(_, topic)| topic);
    about.map_or_else(|| named(without_verb(line)), named)
}

/// What an answer to a task is called.
pub(super) fn title(task: &str) -> String {
    let phrase = without_verb(task.lines().next().unwrap_or_default());
    find::capital(&named(phrase.strip_prefix("about ").unwrap_or(phrase)))
}

/// Whether a text begins with one of the verbs that ask for a text.
pub(super) fn is_order(text: &str) -> bool {
    let verb = text.split_whitespace().next().unwrap_or_default();
    VERBS.contains(&verb.to_lowercase().as_str())
}

fn without_verb(line: &str) -> &str {
    if is_order(line) { line.split_once(' ').map_or(line, |(_, rest)| rest) } else { line }
}

/// The beginning of a phrase, as far as it names one thing.
fn named(phrase: &str) -> String {
    let ends = [" and ", ", ", ". ", ": ", " for ", " in ", " ("];
    let end = ends.iter().filter_map(|end| phrase.find(end)).min().unwrap_or(phrase.len());
    let name = phrase.get(..end).unwrap_or(phrase).trim_end_matches(['.', '?', '!', ':']);
    name.strip_prefix("the ").or_else(|| name.strip_prefix("a ")).unwrap_or(name).trim().to_owned()
}

/// The first small number a text has, in digits or in words.
pub(super) fn count(text: &str) -> Option<usize> {
    let word = |word: &str| {
        let word = word.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase();
        NUMBERS.iter().position(|name| *name == word).map(|at| at + 1).or_else(|| word.parse().ok())
    };
    text.split_whitespace().find_map(word).filter(|count| (1..=NUMBERS.len()).contains(count))
}

/// Points an answer about this topic would cover.
pub(super) fn points(topic: &str, count: Option<usize>) -> Vec<String> {
    let point = |(head, rest): &(&str, &str)| format!("**{head}**: {}", rest.replace("{}", topic));
    ANGLES.iter().take(count.unwrap_or(POINTS)).map(point).collect()
}

/// The items of all lists in these texts.
pub(super) fn items(texts: &[String]) -> Vec<String> {
    texts.iter().flat_map(|text| text.lines()).filter_map(find::item).map(str::to_owned).collect()
}

/// Rows for a task that wants so many things of so many minutes each, such as
/// `3 talks of 25 minutes`, one after the other.
pub(super) fn timetable(task: &str, items: &[String]) -> Option<Vec<String>> {
    let (wanted, minutes) = task.match_indices(" of ").find_map(|(at, _)| {
        let mut after = task.get(at + 4..)?.split_whitespace();
        let minutes = after.next()?.parse::<usize>().ok()?;
        let wanted = task.get(..at)?.split_whitespace().rev().nth(1)?.parse::<usize>().ok()?;
        after.next()?.starts_with("minute").then_some((wanted, minutes))
    })?;
    let gap = task.split_once(" minutes apart").and_then(|(before, _)| before.split_whitespace().next_back());
    let gap: usize = gap.and_then(|gap| gap.parse().ok()).unwrap_or(0);
    let start = task.split_whitespace().find_map(clock).unwrap_or(EVENING);
    let at = |index: usize| start + index * (minutes + gap);
    let row = |(index, item): (usize, &String)| format!("- **{}** {}", hour(at(index)), item.replace("**", ""));
    let mut rows: Vec<String> = items.iter().take(wanted).enumerate().map(row).collect();
    let last = rows.len().checked_sub(1)?;
    rows.push(format!("- **{}** End", hour(at(last) + minutes)));
    Some(rows)
}

fn clock(word: &str) -> Option<usize> {
    let (hours, minutes) = word.trim_matches([',', '.']).split_once(':')?;
    Some(hours.parse::<usize>().ok()? * 60 + minutes.parse::<usize>().ok()?)
}

fn hour(minutes: usize) -> String {
    format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60)
}

/// The first sentence of every paragraph of prose.
pub(super) fn first_sentences(text: &str) -> Vec<String> {
    let prose = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty() && !part.starts_with('#'));
    let sentence = |part: &str| {
        let line = part.lines().next().unwrap_or(part);
        let end = line.find(". ").map_or(line.len(), |at| at + 1);
        line.get(..end).unwrap_or(line).trim_start_matches(['-', ' ', '>']).to_owned()
    };
    prose.map(sentence).collect()
}
