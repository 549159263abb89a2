//! JSON as queries work on it: shared, and measured when it is created, so that
//! a value that would be too large or too deep is never created. Every operation
//! of a query on a value takes time in proportion to its weight at most.

mod arithmetic;
mod paths;

use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;

use indexmap::IndexMap;
use serde_json::{Number, Value};

use super::meter::{end, spend};

/// The maximum weight of a value: roughly the bytes of its text.
pub(super) const WEIGHT_MAX: usize = 8 * 1024 * 1024;
/// The maximum nesting of lists and objects.
const DEPTH_MAX: usize = 200;
/// The minimum weight of a value.
const LEAST: usize = 8;

pub(super) type Fields = IndexMap<Rc<str>, Val>;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Val {
    Null,
    Bool(bool),
    Num(Number),
    Text(Rc<str>),
    List(Rc<Weighed<Vec<Val>>>),
    Object(Rc<Weighed<Fields>>),
}

/// Items, with their total weight.
#[derive(Debug)]
pub(super) struct Weighed<T> {
    pub(super) items: T,
    count: usize,
    weight: usize,
    depth: usize,
}

impl<T: Clone> Clone for Weighed<T> {
    fn clone(&self) -> Weighed<T> {
        spend(self.count * LEAST);
        Weighed { items: self.items.clone(), ..*self }
    }
}

impl<T: Default> Default for Weighed<T> {
    fn default() -> Weighed<T> {
        Weighed { items: T::default(), count: 0, weight: LEAST, depth: 1 }
    }
}

impl Val {
    pub(super) fn text(text: &str) -> Val {
        if text.len() > WEIGHT_MAX {
            end("the query makes too long a text");
        }
        spend(text.len());
        Val::Text(text.into())
    }

    pub(super) fn list(items: impl IntoIterator<Item = Val>) -> Val {
        let mut list = Weighed::<Vec<Val>>::default();
        for item in items {
            list.take(&item);
            list.items.push(item);
        }
        Val::List(Rc::new(list))
    }

    pub(super) fn object(fields: impl IntoIterator<Item = (Rc<str>, Val)>) -> Val {
        let mut object = Weighed::<Fields>::default();
        for (name, field) in fields {
            object.weight += name.len();
            object.take(&field);
            object.items.insert(name, field);
        }
        Val::Object(Rc::new(object))
    }

    pub(super) fn float(number: f64) -> Val {
        let whole = number.fract() == 0.0 && number.abs() < 9e15;
        let exact = whole.then(|| Number::from(number as i64));
        exact.or_else(|| Number::from_f64(number)).map_or(Val::Null, Val::Num)
    }

    pub(super) fn as_f64(&self) -> Option<f64> {
        match self {
            Val::Num(number) => number.as_f64(),
            Val::Null | Val::Bool(_) | Val::Text(_) | Val::List(_) | Val::Object(_) => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Val::Text(text) => Some(text),
            Val::Null | Val::Bool(_) | Val::Num(_) | Val::List(_) | Val::Object(_) => None,
        }
    }

    pub(super) fn items(&self) -> Option<&[Val]> {
        match self {
            Val::List(list) => Some(&list.items),
            Val::Null | Val::Bool(_) | Val::Num(_) | Val::Text(_) | Val::Object(_) => None,
        }
    }

    /// Returns the value as JSON.
    pub(super) fn json(&self) -> Value {
        match self {
            Val::Null => Value::Null,
            Val::Bool(is) => Value::Bool(*is),
            Val::Num(number) => Value::Number(number.clone()),
            Val::Text(text) => Value::String(text.to_string()),
            Val::List(list) => list.items.iter().map(Val::json).collect(),
            Val::Object(object) => object.items.iter().map(|(name, field)| (name.to_string(), field.json())).collect(),
        }
    }

    fn weight(&self) -> (usize, usize) {
        match self {
            Val::Null | Val::Bool(_) | Val::Num(_) => (LEAST, 0),
            Val::Text(text) => (LEAST + text.len(), 0),
            Val::List(list) => (list.weight, list.depth),
            Val::Object(object) => (object.weight, object.depth),
        }
    }

    /// Returns the position of the type in jq's sort order.
    fn rank(&self) -> u8 {
        match self {
            Val::Null => 0,
            Val::Bool(_) => 1,
            Val::Num(_) => 2,
            Val::Text(_) => 3,
            Val::List(_) => 4,
            Val::Object(_) => 5,
        }
    }
}

impl<T> Weighed<T> {
    fn take(&mut self, item: &Val) {
        let (weight, depth) = item.weight();
        spend(LEAST);
        self.count += 1;
        self.weight += weight;
        self.depth = self.depth.max(depth + 1);
        if self.weight > WEIGHT_MAX {
            end("the query makes too large a value");
        }
        if self.depth > DEPTH_MAX {
            end("the query makes a value that is nested too deeply");
        }
    }
}

impl From<&Value> for Val {
    fn from(value: &Value) -> Val {
        match value {
            Value::Null => Val::Null,
            Value::Bool(is) => Val::Bool(*is),
            Value::Number(number) => Val::Num(number.clone()),
            Value::String(text) => Val::text(text),
            Value::Array(items) => Val::list(items.iter().map(Val::from)),
            Value::Object(fields) => {
                Val::object(fields.iter().map(|(name, field)| (name.as_str().into(), field.into())))
            }
        }
    }
}

impl fmt::Display for Val {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.json().fmt(out)
    }
}

impl PartialEq for Val {
    fn eq(&self, other: &Val) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Val {}

impl PartialOrd for Val {
    fn partial_cmp(&self, other: &Val) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Val {
    fn cmp(&self, other: &Val) -> Ordering {
        match (self, other) {
            (Val::Bool(one), Val::Bool(two)) => one.cmp(two),
            (Val::Num(one), Val::Num(two)) => numbers(one, two),
            (Val::Text(one), Val::Text(two)) => one.cmp(two),
            (Val::List(one), Val::List(two)) => one.items.cmp(&two.items),
            (Val::Object(one), Val::Object(two)) => objects(&one.items, &two.items),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

fn numbers(one: &Number, two: &Number) -> Ordering {
    match (one.as_i64(), two.as_i64()) {
        (Some(one), Some(two)) => one.cmp(&two),
        _ => one.as_f64().unwrap_or(f64::NAN).total_cmp(&two.as_f64().unwrap_or(f64::NAN)),
    }
}

/// Compares objects by their names first, then by the values in order of the names.
fn objects(one: &Fields, two: &Fields) -> Ordering {
    let sorted = |fields: &Fields| {
        let mut fields: Vec<(Rc<str>, Val)> =
            fields.iter().map(|(name, field)| (name.clone(), field.clone())).collect();
        fields.sort_by(|one, two| one.0.cmp(&two.0));
        fields
    };
    let one = sorted(one);
    let two = sorted(two);
    let names = one.iter().map(|(name, _)| name).cmp(two.iter().map(|(name, _)| name));
    names.then_with(|| one.iter().map(|(_, field)| field).cmp(two.iter().map(|(_, field)| field)))
}
