//! Fills in templates: `{name}` in a text is replaced by an input, `{{name}}` stands for a literal
//! `{name}`, and anything else in braces is left alone, so that JSON in a prompt survives. Inserted values
//! are not expanded again.

use std::collections::{BTreeMap, BTreeSet};

use crate::requests::bounds::{TEMPLATE_BYTES_MAX, TEMPLATES_BYTES_MAX};

/// A piece of a template.
enum Piece<'a> {
    Literal(&'a str),
    Variable(&'a str),
    /// `{{name}}`: the name, to be shown in single braces.
    Escaped(&'a str),
}

/// The reason why a text cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// These variables have no value, in the order they appear.
    Missing(Vec<String>),
    /// The text would be longer than allowed.
    TooLarge,
}

/// Returns the text with every variable replaced. Its length is computed before it is built.
pub fn resolve(template: &str, inputs: &BTreeMap<String, String>) -> Result<String, Unresolved> {
    let length = measure(template, inputs)?;
    let mut text = String::with_capacity(length);
    for piece in pieces(template) {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Escaped(name) => text.extend(["{", name, "}"]),
            Piece::Variable(name) => text.extend(inputs.get(name).map(String::as_str)),
        }
    }
    Ok(text)
}

fn measure(template: &str, inputs: &BTreeMap<String, String>) -> Result<usize, Unresolved> {
    let mut length = 0_usize;
    let mut missing: Vec<String> = Vec::new();
    for piece in pieces(template) {
        length = length.saturating_add(match piece {
            Piece::Literal(literal) => literal.len(),
            Piece::Escaped(name) => name.len() + 2,
            Piece::Variable(name) => match inputs.get(name) {
                Some(value) => value.len(),
                None if missing.iter().any(|known| known == name) => 0,
                None => {
                    missing.push(name.to_owned());
                    0
                }
            },
        });
    }
    match missing.is_empty() {
        false => Err(Unresolved::Missing(missing)),
        true if length > TEMPLATE_BYTES_MAX => Err(Unresolved::TooLarge),
        true => Ok(length),
    }
}

/// The texts of a request, filled in one after the other.
pub(crate) struct Texts<'a> {
    inputs: &'a BTreeMap<String, String>,
    missing: BTreeSet<String>,
    /// The total length so far.
    bytes: usize,
    too_large: Option<String>,
}

impl Texts<'_> {
    pub(crate) fn new(inputs: &BTreeMap<String, String>) -> Texts<'_> {
        Texts { inputs, missing: BTreeSet::new(), bytes: 0, too_large: None }
    }

    /// Returns the text filled in. Where that fails it is empty, and the reason is kept.
    pub(crate) fn fill(&mut self, text: &str) -> String {
        match resolve(text, self.inputs) {
            Ok(text) if self.bytes.saturating_add(text.len()) <= TEMPLATES_BYTES_MAX => {
                self.bytes += text.len();
                return text;
            }
            Ok(_) => self.too_large = Some(too_large("all texts together are", TEMPLATES_BYTES_MAX)),
            Err(Unresolved::TooLarge) => self.too_large = Some(too_large("a text is", TEMPLATE_BYTES_MAX)),
            Err(Unresolved::Missing(names)) => self.missing.extend(names),
        }
        String::new()
    }

    /// Takes the message about a text that was too long since the last call.
    pub(crate) fn too_large(&mut self) -> Option<String> {
        self.too_large.take()
    }

    /// Returns the variables that have no value.
    pub(crate) fn missing(&self) -> &BTreeSet<String> {
        &self.missing
    }
}

fn too_large(what: &str, max: usize) -> String {
    format!("{what} longer than {max} bytes once the variables are replaced")
}

/// Returns the distinct variables of a text, in the order they appear.
pub fn variables(template: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for piece in pieces(template) {
        if let Piece::Variable(name) = piece
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = next_piece(rest);
        rest = after;
        Some(piece)
    })
}

fn next_piece(text: &str) -> (Piece<'_>, &str) {
    if let Some((name, after)) = braced(text, "{{", "}}") {
        return (Piece::Escaped(name), after);
    }
    if let Some((name, after)) = braced(text, "{", "}") {
        return (Piece::Variable(name), after);
    }
    // Skips the first character, then continues up to the next brace.
    let first = text.chars().next().map_or(0, char::len_utf8);
    let (skipped, tail) = text.split_at(first);
    let until = skipped.len() + tail.find('{').unwrap_or(tail.len());
    let (literal, after) = text.split_at(until);
    (Piece::Literal(literal), after)
}

fn braced<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    let inner = text.strip_prefix(open)?;
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let (name, after) = inner.split_at_checked(end)?;
    (!name.is_empty()).then_some((name, after.strip_prefix(close)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    #[test]
    fn variables_are_replaced_escapes_kept_and_everything_else_left_alone() {
        let inputs = inputs(&[("topic", "AI"), ("year", "2026"), ("empty", "")]);
        let cases = [
            ("Research {topic} in {year}", "Research AI in 2026"),
            ("{{topic}} is {topic}", "{topic} is AI"),
            (r#"{"a": {topic}, "b": {}} { topic }"#, r#"{"a": AI, "b": {}} { topic }"#),
            ("{{{topic}}}", "{{topic}}"),
            ("{a.b} {ünï} {topic", "{a.b} {ünï} {topic"),
            ("[{empty}]", "[]"),
            ("", ""),
        ];
        for (template, expected) in cases {
            assert_eq!(resolve(template, &inputs).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn all_missing_names_are_reported_together_and_once() {
        let missing = resolve("{b} {a} {b} {{c}}", &inputs(&[("x", "1")]));
        assert_eq!(missing, Err(Unresolved::Missing(vec!["b".to_owned(), "a".to_owned()])));
    }

    #[test]
    fn a_value_is_never_expanded_again() {
        let inputs = inputs(&[("a", "{b}"), ("b", "secret")]);
        assert_eq!(resolve("{a} {b}", &inputs).as_deref(), Ok("{b} secret"));
    }

    #[test]
    fn a_text_that_would_be_too_long_is_refused_before_it_is_made() {
        let template = "{a}".repeat(10_000);
        let inputs = inputs(&[("a", &"x".repeat(30_000))]);
        assert_eq!(resolve(&template, &inputs), Err(Unresolved::TooLarge));
        let longest = "x".repeat(TEMPLATE_BYTES_MAX);
        assert_eq!(resolve(&longest, &inputs).map(|text| text.len()), Ok(TEMPLATE_BYTES_MAX));
    }

    #[test]
    fn variables_are_listed_in_order_without_escapes() {
        assert_eq!(variables("{b} {{c}} {a} {b}"), ["b", "a"]);
    }
}
