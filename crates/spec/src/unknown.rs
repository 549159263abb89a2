//! Fields that nobody reads: the sentence that names one, the field that may have been meant and those that are
//! allowed. Whatever is sent with a typo is accepted as if the field were absent, so that has to be said.

use crate::text::cut;

/// Warnings about unknown fields of one request at most; each is a sentence.
pub const UNKNOWN_MAX: usize = 20;
/// Characters of the place of a field that are repeated.
const PLACE_MAX: usize = 200;
/// Characters that are typed for each edit that may be a slip.
const CHARS_PER_EDIT: usize = 3;

/// Returns the warning about an unknown field, by its path in the request. `name` is the end of that path.
pub fn ignored<'a>(place: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut listed: Vec<&str> = Vec::new();
    for known in known {
        if !listed.contains(&known) {
            listed.push(known);
        }
    }
    let begin = format!("unknown field `{}` was ignored", cut(place, PLACE_MAX));
    if listed.is_empty() {
        return format!("{begin}: no field is allowed");
    }
    let verb = if listed.len() == 1 { "is" } else { "are" };
    let names = listed.join(", ");
    match alike(name, listed.into_iter()) {
        Some(meant) => format!("{begin}; did you mean `{meant}`? Allowed {verb} {names}"),
        None => format!("{begin}; allowed {verb} {names}"),
    }
}

/// Returns the word with the fewest edits from what was typed, if they are few.
pub fn alike<'a>(typed: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let chars = typed.chars().count();
    let edits_max = (chars / CHARS_PER_EDIT).max(1);
    // A word of another length is not compared: comparing takes time by the product of the lengths.
    let near = words.filter(|word| word.chars().count().abs_diff(chars) <= edits_max && chars <= PLACE_MAX);
    let edits = |word: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &typed);
    near.map(|word| (edits(word), word)).filter(|(edits, _)| *edits <= edits_max).min().map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_names_the_field_what_was_meant_and_what_is_allowed() {
        let said = |name: &str, known: &[&'static str]| ignored(name, name, known.iter().copied());
        let typo = "unknown field `mdoe` was ignored; did you mean `mode`? Allowed is mode";
        assert_eq!(said("mdoe", &["mode"]), typo);
        let other = "unknown field `colour` was ignored; allowed are content, target";
        assert_eq!(said("colour", &["content", "target"]), other);
        assert_eq!(said("colour", &[]), "unknown field `colour` was ignored: no field is allowed");
        let nested = ignored("tasks[0].modle", "modle", ["model", "name"]);
        assert_eq!(nested, "unknown field `tasks[0].modle` was ignored; did you mean `model`? Allowed are model, name");
        assert!(said(&"x".repeat(100_000), &["mode"]).len() < 1_000, "a long name is cut");
    }
}
