//! The words that streams are found by: a text beside each row, replaced as a whole, and
//! erased with its stream. A query matches a text in which each of its words begins a word.

/// The maximum number of words of a query that count; more would not make it clearer.
const WORDS_MAX: usize = 16;
/// The number of characters around the first match in a snippet.
const AROUND: usize = 80;

/// Returns the words of a text, in lower case.
pub fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns the words of a query.
pub fn wanted(query: &str) -> Vec<String> {
    split(query).take(WORDS_MAX).collect()
}

/// Returns whether each of these words begins a word of the text; no words match nothing.
pub fn matches(text: &str, wanted: &[String]) -> bool {
    let begins = |wanted: &String| split(text).any(|word| word.starts_with(wanted.as_str()));
    !wanted.is_empty() && wanted.iter().all(begins)
}

/// Returns the part of a text around the first word that a query looks for, as one line.
pub fn snippet(text: &str, query: &str) -> String {
    let wanted = wanted(query);
    let words: Vec<&str> = text.split_whitespace().collect();
    let holds = |word: &&str| split(word).any(|part| wanted.iter().any(|wanted| part.starts_with(wanted.as_str())));
    let first = words.iter().position(holds).unwrap_or_default();
    let (before, after) = words.split_at(first);
    let lead = shortest(before.iter().rev(), AROUND);
    let tail = shortest(after.iter(), 2 * AROUND);
    let shown = before.iter().skip(before.len() - lead).chain(after.iter().take(tail));
    let shown = shown.map(|word| cut(word)).collect::<Vec<_>>().join(" ");
    let start = if lead < before.len() { "… " } else { "" };
    let end = if tail < after.len() { " …" } else { "" };
    format!("{start}{shown}{end}")
}

/// Returns the number of words that fit into this many characters; of the first only a part may.
fn shortest<'a>(words: impl Iterator<Item = &'a &'a str>, max: usize) -> usize {
    let mut left = max;
    let fits = |word: &&&str| {
        let length = word.chars().count().min(AROUND) + 1;
        let fits = left >= length;
        left = left.saturating_sub(length);
        fits
    };
    words.take_while(fits).count()
}

fn cut(word: &str) -> String {
    word.chars().take(AROUND).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_query_must_begin_a_word_of_the_text() {
        let text = "Boil WATER; add a little Sälz.";
        for (query, expected) in [
            ("water", true),
            ("wat boil", true),
            ("sälz", true),
            ("ater", false),
            ("water wine", false),
            ("", false),
            ("-- ;", false),
        ] {
            assert_eq!(matches(text, &wanted(query)), expected, "{query}");
        }
    }

    #[test]
    fn a_snippet_is_a_line_around_the_first_match() {
        let text = format!("{}\n needle in\tthe {}", "hay ".repeat(100), "stack ".repeat(100));
        let snippet = snippet(&text, "NEED");
        assert!(snippet.starts_with("… hay") && snippet.ends_with("stack …") && snippet.contains(" needle in the "));
        assert!(snippet.chars().count() < 4 * AROUND, "{snippet}");
        assert_eq!(super::snippet("short", "x"), "short");
        assert!(super::snippet(&"x".repeat(10_000), "x").chars().count() < 4 * AROUND);
        assert_eq!(super::snippet("", "x"), "");
    }
}
