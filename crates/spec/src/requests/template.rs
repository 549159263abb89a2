//! Fills in templates: `{name}` in a text is replaced by an input, `{{name}}` stands for a literal
//! `{name}`, and anything else in braces is left alone, so that JSON in a prompt survives. In a task that
//! is done for each item, `{item}`, `{item.field}` and `{index}` are the item's. Inserted values are not
//! expanded again.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use crate::requests::bounds::{TEMPLATE_BYTES_MAX, TEMPLATES_BYTES_MAX};

/// A piece of a template.
enum Piece<'a> {
    Literal(&'a str),
    Variable(&'a str),
    /// `{{name}}`: the name, to be shown in single braces.
    Escaped(&'a str),
}

/// The values of a run's inputs, by their names.
pub type Inputs = BTreeMap<String, Value>;

/// The names that stand for the item in a task that is done for each.
const ITEM: &str = "item";
const INDEX: &str = "index";

/// The item that a task is done for, as far as its texts are concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Item<'a> {
    /// The task is done once: `{item}` is an input like any other.
    #[default]
    None,
    /// The items are not known yet: their names are left in the text.
    Later,
    /// The item and its index, from 0.
    At(&'a Value, usize),
}

/// The values that variables are replaced with.
#[derive(Clone, Copy, Debug)]
pub struct Variables<'a> {
    /// The inputs of the run.
    pub inputs: &'a Inputs,
    /// The item that the task is done for.
    pub item: Item<'a>,
}

impl<'a> Variables<'a> {
    fn get(&self, name: &'a str) -> Option<Cow<'a, str>> {
        let of_item = name == INDEX || name == ITEM || is_field(name);
        match self.item {
            Item::At(_, index) if name == INDEX => Some(Cow::Owned(index.to_string())),
            Item::At(item, _) if of_item => Some(field(item, name)),
            Item::Later if of_item => Some(Cow::Owned(format!("{{{name}}}"))),
            Item::None | Item::Later | Item::At(..) => self.inputs.get(name).map(printed),
        }
    }
}

fn is_field(name: &str) -> bool {
    name.strip_prefix(ITEM).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns a field of an item; one that is missing prints as `null`.
fn field<'a>(item: &'a Value, name: &str) -> Cow<'a, str> {
    let found = name.split('.').skip(1).try_fold(item, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => value.get(key),
    });
    found.map_or(Cow::Borrowed("null"), printed)
}

/// Returns a value as templates print it: a string as it is, everything else as compact JSON.
pub fn printed(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Cow::Owned(value.to_string())
        }
    }
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
pub fn resolve(template: &str, variables: Variables<'_>) -> Result<String, Unresolved> {
    let length = measure(template, variables)?;
    let mut text = String::with_capacity(length);
    for piece in pieces(template, variables.item != Item::None) {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Escaped(name) => text.extend(["{", name, "}"]),
            Piece::Variable(name) => text.extend(variables.get(name).as_deref()),
        }
    }
    Ok(text)
}

/// Returns the length of the text. Printing a value costs its length, so measuring ends with the limit.
fn measure(template: &str, variables: Variables<'_>) -> Result<usize, Unresolved> {
    let mut length = 0_usize;
    let mut missing = Distinct::default();
    for piece in pieces(template, variables.item != Item::None) {
        length = length.saturating_add(match piece {
            Piece::Literal(literal) => literal.len(),
            Piece::Escaped(name) => name.len() + 2,
            Piece::Variable(name) => match variables.get(name) {
                Some(value) => value.len(),
                None => {
                    missing.add(name);
                    0
                }
            },
        });
        if length > TEMPLATE_BYTES_MAX {
            return Err(Unresolved::TooLarge);
        }
    }
    let missing = missing.in_order;
    if missing.is_empty() {
        Ok(length)
    } else {
        Err(Unresolved::Missing(missing.into_iter().map(Into::into).collect()))
    }
}

/// Different names, in the order they were added. A text may hold hundreds of thousands of them.
#[derive(Default)]
struct Distinct<'a> {
    in_order: Vec<&'a str>,
    known: HashSet<&'a str>,
}

impl<'a> Distinct<'a> {
    fn add(&mut self, name: &'a str) {
        if self.known.insert(name) {
            self.in_order.push(name);
        }
    }
}

/// The texts of a request, filled in one after the other.
pub(crate) struct Texts<'a> {
    inputs: &'a Inputs,
    /// The item of the task whose texts come next.
    pub(crate) item: Item<'a>,
    missing: BTreeSet<String>,
    /// The total length so far.
    bytes: usize,
    /// Whether a text was too long. Then the request is refused, and nothing more of it is filled in: each of
    /// thousands of texts could cost as much as the longest one that is allowed.
    is_refused: bool,
    too_large: Option<String>,
}

impl Texts<'_> {
    pub(crate) fn new(inputs: &Inputs) -> Texts<'_> {
        Texts { inputs, item: Item::None, missing: BTreeSet::new(), bytes: 0, is_refused: false, too_large: None }
    }

    /// Returns the text filled in. Where that fails it is empty, and the reason is kept.
    pub(crate) fn fill(&mut self, text: &str) -> String {
        if self.is_refused {
            return String::new();
        }
        match resolve(text, Variables { inputs: self.inputs, item: self.item }) {
            Ok(text) if self.bytes.saturating_add(text.len()) <= TEMPLATES_BYTES_MAX => {
                self.bytes += text.len();
                return text;
            }
            Ok(_) => self.refuse(all_too_large()),
            Err(Unresolved::TooLarge) => self.refuse(too_large("a text is", TEMPLATE_BYTES_MAX)),
            Err(Unresolved::Missing(names)) => self.missing.extend(names),
        }
        String::new()
    }

    fn refuse(&mut self, reason: String) {
        self.is_refused = true;
        self.too_large = Some(reason);
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

/// Returns the message about texts that are too long together.
pub(crate) fn all_too_large() -> String {
    too_large("all texts together are", TEMPLATES_BYTES_MAX)
}

fn too_large(what: &str, max: usize) -> String {
    format!("{what} longer than {max} bytes once the variables are replaced")
}

/// Returns a text as part of another template: its variables are replaced by these texts, which may hold variables
/// themselves. `has_item`: the names of an item stay. The text is at most `room` bytes long.
pub(crate) fn splice(
    template: &str,
    texts: &BTreeMap<String, String>,
    has_item: bool,
    room: usize,
) -> Result<String, Unresolved> {
    let mut text = String::new();
    let mut missing = Distinct::default();
    for piece in pieces(template, has_item) {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Escaped(name) => text.extend(["{{", name, "}}"]),
            Piece::Variable(name) if has_item && (is_of_item(name) || is_field(name)) => text.extend(["{", name, "}"]),
            Piece::Variable(name) => match texts.get(name) {
                Some(value) => text.push_str(value),
                None => missing.add(name),
            },
        }
        // A piece is a part of the template, or a value: at most as long as a request.
        if text.len() > room {
            return Err(Unresolved::TooLarge);
        }
    }
    let missing = missing.in_order;
    if missing.is_empty() { Ok(text) } else { Err(Unresolved::Missing(missing.into_iter().map(Into::into).collect())) }
}

/// Returns a template that stands for exactly this text.
pub(crate) fn escape(text: &str) -> String {
    let mut template = String::with_capacity(text.len());
    for piece in pieces(text, false) {
        match piece {
            Piece::Literal(literal) => template.push_str(literal),
            Piece::Variable(name) => template.extend(["{{", name, "}}"]),
            Piece::Escaped(name) => template.extend(["{{{", name, "}}}"]),
        }
    }
    template
}

/// Returns the distinct variables of a text, in the order they appear.
pub fn variables(template: &str) -> Vec<&str> {
    let mut names = Distinct::default();
    for piece in pieces(template, false) {
        if let Piece::Variable(name) = piece {
            names.add(name);
        }
    }
    names.in_order
}

/// Returns whether a variable stands for the item, or its index, in a task that is done for each.
pub fn is_of_item(name: &str) -> bool {
    name == ITEM || name == INDEX
}

fn pieces(template: &str, has_item: bool) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = next_piece(rest, has_item);
        rest = after;
        Some(piece)
    })
}

fn next_piece(text: &str, has_item: bool) -> (Piece<'_>, &str) {
    if let Some((name, after)) = braced(text, "{{", "}}", has_item) {
        return (Piece::Escaped(name), after);
    }
    if let Some((name, after)) = braced(text, "{", "}", has_item) {
        return (Piece::Variable(name), after);
    }
    // Skips the first character, then continues up to the next brace.
    let first = text.chars().next().map_or(0, char::len_utf8);
    let (skipped, tail) = text.split_at(first);
    let until = skipped.len() + tail.find('{').unwrap_or(tail.len());
    let (literal, after) = text.split_at(until);
    (Piece::Literal(literal), after)
}

fn braced<'a>(text: &'a str, open: &str, close: &str, has_item: bool) -> Option<(&'a str, &'a str)> {
    let inner = text.strip_prefix(open)?;
    // Only an item has fields; elsewhere a name with a dot is no variable.
    let fields = has_item && is_field(inner);
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || (fields && (c == '.' || c == '-'))))?;
    let (name, after) = inner.split_at_checked(end)?;
    (!name.is_empty()).then_some((name, after.strip_prefix(close)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn inputs(pairs: &[(&str, &str)]) -> Inputs {
        pairs.iter().map(|(key, value)| (key.to_string(), json!(value))).collect()
    }

    fn resolve(template: &str, inputs: &Inputs) -> Result<String, Unresolved> {
        super::resolve(template, Variables { inputs, item: Item::None })
    }

    #[test]
    fn what_is_no_string_is_printed_as_compact_json() {
        let inputs = Inputs::from([
            ("n".to_owned(), json!(3)),
            ("list".to_owned(), json!(["a", { "b": null }])),
            ("none".to_owned(), Value::Null),
        ]);
        assert_eq!(resolve("{n} {list} {none}", &inputs).as_deref(), Ok(r#"3 ["a",{"b":null}] null"#));
    }

    #[test]
    fn an_item_its_fields_and_its_index_are_replaced_only_where_there_is_one() {
        let inputs = inputs(&[("item", "input"), ("x", "{item}")]);
        let item = json!({ "name": "bee", "tags": ["a", 2] });
        let fill = |item| {
            super::resolve(
                "{item} {item.name} {item.tags.1} {item.no} {index} {x}",
                Variables { inputs: &inputs, item },
            )
        };
        let at = r#"{"name":"bee","tags":["a",2]} bee 2 null 7 {item}"#;
        assert_eq!(fill(Item::At(&item, 7)).as_deref(), Ok(at), "values are not expanded again");
        assert_eq!(fill(Item::Later).as_deref(), Ok("{item} {item.name} {item.tags.1} {item.no} {index} {item}"));
        assert_eq!(fill(Item::None), Err(Unresolved::Missing(vec!["index".to_owned()])));
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
    fn texts_that_are_slow_to_measure_are_measured_as_far_as_is_needed() {
        // Each took minutes: names compared with all before them, and a value printed for each time it is named.
        let names: String = (0..150_000).map(|at| format!("{{a{at}}}")).collect();
        let Err(Unresolved::Missing(missing)) = resolve(&names, &Inputs::new()) else { panic!("nothing is known") };
        assert_eq!((missing.len(), variables(&names).len()), (150_000, 150_000));
        let list = Inputs::from([("a".to_owned(), json!(vec!["xxxxxxx"; 50_000]))]);
        let mut texts = Texts::new(&list);
        for _text in 0..1_000 {
            assert_eq!(texts.fill(&"{a}".repeat(1_000)), "");
        }
        assert!(texts.too_large().is_some());
    }

    #[test]
    fn what_is_spliced_into_a_template_has_a_limit() {
        let texts = BTreeMap::from([("a".to_owned(), "x".repeat(1_000))]);
        let spliced = |times: usize| splice(&"{a}".repeat(times), &texts, false, 10_000).map(|text| text.len());
        assert_eq!((spliced(10), spliced(11)), (Ok(10_000), Err(Unresolved::TooLarge)));
    }

    #[test]
    fn variables_are_listed_in_order_without_escapes() {
        assert_eq!(variables("{b} {{c}} {a} {b}"), ["b", "a"]);
    }
}
