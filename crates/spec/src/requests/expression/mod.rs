//! Conditions and lists in CEL, as people write them in `when`, `for_each` and `repeat_until`. An
//! expression is parsed and checked when it is read (`check`) and evaluated once, within a limit that
//! is computed before (`size`). There is no clock in it, so the same values give the same result.

mod check;
mod size;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use cel::{Context, Env, IdedExpr};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::cut;

pub(crate) use check::Scope;

/// The number of bytes of an expression.
pub const EXPRESSION_BYTES_MAX: usize = 4 * 1024;
/// The number of nodes of an expression, with macros expanded.
pub const EXPRESSION_NODES_MAX: usize = 200;
/// The number of levels of an expression: evaluating one level takes a few kilobytes of a stack of two
/// megabytes.
const EXPRESSION_DEPTH_MAX: usize = 48;
/// The number of elements that a comprehension goes through.
pub const ELEMENTS_MAX: u64 = 10_000;
/// The number of bytes that an evaluation touches, counted each time, which takes well below a second.
const WORK_MAX: u64 = 50_000_000;
/// The parser's own words for an expression that is nested too deeply.
const TOO_DEEP: &str = "recursion limit";
/// The number of characters of the parser's words that are repeated: they may quote the expression.
const MESSAGE_CHARS_MAX: usize = 200;
/// The number of bytes of a result, as compact JSON.
pub(crate) const RESULT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The functions of the language; building them is not free, so they are built once.
static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// An expression that was checked, with the tasks whose outputs it names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expression {
    /// The expression, as it was written.
    pub source: String,
    /// The positions of the tasks it names, by the names it has for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, usize>,
}

/// The names that an expression uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// The tasks whose outputs it reads.
    pub(crate) outputs: BTreeSet<String>,
    /// The inputs it cannot do without.
    pub(crate) inputs: BTreeSet<String>,
}

/// The values that an expression is evaluated with.
#[derive(Clone, Debug, Default)]
pub struct Values<'a> {
    /// The outputs, by the names of their tasks.
    pub outputs: BTreeMap<String, Value>,
    /// The inputs of the run.
    pub inputs: Option<&'a BTreeMap<String, Value>>,
    /// The item and its index, within `for_each`.
    pub item: Option<(&'a Value, usize)>,
    /// The round, within `repeat_until`.
    pub round: Option<u32>,
    /// The body and the headers of a request, in a hook.
    pub delivery: Option<(&'a Value, &'a Value)>,
}

/// Parses and checks an expression. Returns the names it uses, or the mistake in it.
pub(crate) fn read(source: &str, scope: Scope) -> Result<Names, String> {
    check::names(&parse(source)?, scope)
}

/// Checks an expression of a hook, which sees the `body` and the `headers` of a request.
pub fn read_delivery(source: &str) -> Result<(), String> {
    read(source, Scope { delivery: true, ..Scope::default() }).map(drop)
}

/// Returns the value of an expression of a hook for this request, or the reason why it has none.
pub fn evaluate_delivery(source: &str, body: &Value, headers: &Value) -> Result<Value, String> {
    evaluate(source, &Values { delivery: Some((body, headers)), ..Values::default() })
}

/// Returns the names of the inputs that follow `inputs` in an expression, by its text alone: for advice, not
/// for decisions.
pub fn named_inputs(source: &str) -> impl Iterator<Item = &str> {
    let after = source.match_indices("inputs").filter_map(|(at, found)| source.get(at + found.len()..));
    after.filter_map(input_name)
}

fn input_name(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix('.').or_else(|| rest.strip_prefix("['")).or_else(|| rest.strip_prefix("[\""))?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(rest.len());
    rest.get(..end).filter(|name| !name.is_empty())
}

/// Returns the value of a checked expression, or the reason why it has none.
pub fn evaluate(source: &str, values: &Values<'_>) -> Result<Value, String> {
    let expr = parse(source)?;
    let known = value::variables(values);
    size::check(&expr, &known)?;
    let mut context = Context::with_env(ENVIRONMENT.clone());
    for (name, value) in &known {
        context.add_variable_from_value(*name, value::to_cel(value));
    }
    let result = cel::Value::resolve(&expr, &context).map_err(|error| value::reason(&error))?;
    value::to_json(&result)
}

fn parse(source: &str) -> Result<IdedExpr, String> {
    if source.len() > EXPRESSION_BYTES_MAX {
        return Err(format!("must have at most {EXPRESSION_BYTES_MAX} bytes, not {}", source.len()));
    }
    if source.trim().is_empty() {
        return Err("must not be blank".to_owned());
    }
    let parser = ENVIRONMENT.parser().max_recursion_depth(u16::try_from(EXPRESSION_DEPTH_MAX).unwrap_or(u16::MAX));
    parser.parse(source).map_err(|errors| {
        if errors.errors.iter().any(|error| error.msg.to_lowercase().contains(TOO_DEEP)) {
            return check::too_deep();
        }
        let first = errors.errors.first();
        let (line, column) = first.map_or((0, 0), |error| error.pos);
        let message = first.map_or("cannot be read", |error| error.msg.as_str());
        let message = cut(message.lines().next().unwrap_or_default(), MESSAGE_CHARS_MAX);
        format!("is no expression: {message} (line {line}, column {column})")
    })
}

#[cfg(test)]
mod tests;
