//! `{name}` in a text is replaced by an input, `{{name}}` stands for a literal
//! `{name}`, and anything else in braces is left alone, so that JSON in a
//! prompt survives. Values are put in as they are and never looked at again.

use std::collections::BTreeMap;

/// A piece of a template.
enum Piece<'a> {
    Literal(&'a str),
    Variable(&'a str),
    /// `{{name}}`: the name, to be shown in single braces.
    Escaped(&'a str),
}

/// The text with every variable replaced, or the names that have no value, in
/// the order they appear.
pub fn resolve(template: &str, inputs: &BTreeMap<String, String>) -> Result<String, Vec<String>> {
    let mut text = String::with_capacity(template.len());
    let mut missing: Vec<String> = Vec::new();
    for piece in pieces(template) {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Escaped(name) => text.extend(["{", name, "}"]),
            Piece::Variable(name) => match inputs.get(name) {
                Some(value) => text.push_str(value),
                None if missing.iter().any(|known| known == name) => {}
                None => missing.push(name.to_owned()),
            },
        }
    }
    if missing.is_empty() { Ok(text) } else { Err(missing) }
}

/// The distinct variables of a text, in the order they appear.
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
    // Past the first character, up to the next brace.
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
        assert_eq!(missing, Err(vec!["b".to_owned(), "a".to_owned()]));
    }

    #[test]
    fn a_value_is_never_expanded_again() {
        let inputs = inputs(&[("a", "{b}"), ("b", "secret")]);
        assert_eq!(resolve("{a} {b}", &inputs).as_deref(), Ok("{b} secret"));
    }

    #[test]
    fn variables_are_listed_in_order_without_escapes() {
        assert_eq!(variables("{b} {{c}} {a} {b}"), ["b", "a"]);
    }
}
