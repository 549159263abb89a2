//! The filters of queries that need Rust. None of them has access
//! to a clock, an environment, a file or a way to end the program.

use std::rc::Rc;

use jaq_core::native::{Filter, Fun, bome, run, unary, v};
use jaq_core::{Error, RunPtr, ValR};
use serde_json::Value;

use super::Query;
use super::value::Val;

pub(super) fn functions() -> impl Iterator<Item = Fun<Query>> {
    about().into_iter().chain(numbers()).chain(lists()).chain(texts()).map(run::<Query>)
}

fn about() -> Vec<Filter<RunPtr<Query>>> {
    vec![
        ("type", v(0), |cv| bome(Ok(Val::text(kind(&cv.1))))),
        ("length", v(0), |cv| bome(length(&cv.1))),
        ("has", v(1), |cv| unary(cv, |all, key| has(&all, &key))),
        ("contains", v(1), |cv| unary(cv, |all, part| Ok(Val::Bool(contains(&all, &part))))),
        ("tojson", v(0), |cv| bome(Ok(Val::text(&cv.1.to_string())))),
        ("fromjson", v(0), |cv| bome(from_json(&cv.1))),
        ("tonumber", v(0), |cv| bome(to_number(&cv.1))),
    ]
}

fn numbers() -> Vec<Filter<RunPtr<Query>>> {
    vec![
        ("floor", v(0), |cv| bome(number(&cv.1, f64::floor))),
        ("ceil", v(0), |cv| bome(number(&cv.1, f64::ceil))),
        ("round", v(0), |cv| bome(number(&cv.1, f64::round))),
        ("sqrt", v(0), |cv| bome(number(&cv.1, f64::sqrt))),
    ]
}

fn lists() -> Vec<Filter<RunPtr<Query>>> {
    vec![
        ("sort", v(0), |cv| bome(arranged(&cv.1, |items| items.sort()))),
        ("reverse", v(0), |cv| bome(arranged(&cv.1, |items| items.reverse()))),
        ("groups", v(0), |cv| bome(groups(&cv.1))),
    ]
}

fn texts() -> Vec<Filter<RunPtr<Query>>> {
    vec![
        ("startswith", v(1), |cv| unary(cv, |text, part| Ok(Val::Bool(words(&text)?.starts_with(words(&part)?))))),
        ("endswith", v(1), |cv| unary(cv, |text, part| Ok(Val::Bool(words(&text)?.ends_with(words(&part)?))))),
        ("ltrimstr", v(1), |cv| {
            unary(cv, |text, part| Ok(without(&text, &part, |text, part| text.strip_prefix(part))))
        }),
        ("rtrimstr", v(1), |cv| {
            unary(cv, |text, part| Ok(without(&text, &part, |text, part| text.strip_suffix(part))))
        }),
        ("trim", v(0), |cv| bome(words(&cv.1).map(|text| Val::text(text.trim())))),
        ("ltrim", v(0), |cv| bome(words(&cv.1).map(|text| Val::text(text.trim_start())))),
        ("rtrim", v(0), |cv| bome(words(&cv.1).map(|text| Val::text(text.trim_end())))),
        ("ascii_downcase", v(0), |cv| bome(words(&cv.1).map(|text| Val::text(&text.to_ascii_lowercase())))),
        ("ascii_upcase", v(0), |cv| bome(words(&cv.1).map(|text| Val::text(&text.to_ascii_uppercase())))),
    ]
}

fn kind(value: &Val) -> &'static str {
    match value {
        Val::Null => "null",
        Val::Bool(_) => "boolean",
        Val::Num(_) => "number",
        Val::Text(_) => "string",
        Val::List(_) => "array",
        Val::Object(_) => "object",
    }
}

fn length(value: &Val) -> ValR<Val> {
    let count = |count: usize| Ok(Val::Num(count.into()));
    match value {
        Val::Null => count(0),
        Val::Bool(_) => Err(Error::typ(value.clone(), "something with a length")),
        Val::Num(_) => number(value, f64::abs),
        Val::Text(text) => count(text.chars().count()),
        Val::List(list) => count(list.items.len()),
        Val::Object(object) => count(object.items.len()),
    }
}

fn has(all: &Val, key: &Val) -> ValR<Val> {
    match (all, key) {
        (Val::Object(object), Val::Text(name)) => Ok(Val::Bool(object.items.contains_key(name))),
        (Val::List(list), Val::Num(at)) => {
            let at = at.as_u64().and_then(|at| usize::try_from(at).ok());
            Ok(Val::Bool(at.is_some_and(|at| at < list.items.len())))
        }
        (all, key) => Err(Error::index(all.clone(), key.clone())),
    }
}

fn contains(all: &Val, part: &Val) -> bool {
    match (all, part) {
        (Val::Text(all), Val::Text(part)) => all.contains(&**part),
        (Val::List(all), Val::List(parts)) => {
            parts.items.iter().all(|part| all.items.iter().any(|item| contains(item, part)))
        }
        (Val::Object(all), Val::Object(parts)) => {
            parts.items.iter().all(|(name, part)| all.items.get(name).is_some_and(|field| contains(field, part)))
        }
        (all, part) => all == part,
    }
}

fn from_json(text: &Val) -> ValR<Val> {
    let parsed: Result<Value, _> = serde_json::from_str(words(text)?);
    parsed.map(|value| Val::from(&value)).map_err(|error| Error::str(format_args!("this is not JSON: {error}")))
}

fn to_number(value: &Val) -> ValR<Val> {
    use jaq_core::ValT;
    match value {
        Val::Text(text) => Val::from_num(text.trim()),
        Val::Num(_) => Ok(value.clone()),
        Val::Null | Val::Bool(_) | Val::List(_) | Val::Object(_) => Err(Error::typ(value.clone(), "number")),
    }
}

fn number(value: &Val, change: fn(f64) -> f64) -> ValR<Val> {
    value.as_f64().map(|number| Val::float(change(number))).ok_or_else(|| Error::typ(value.clone(), "number"))
}

fn items(value: &Val) -> Result<&[Val], Error<Val>> {
    value.items().ok_or_else(|| Error::typ(value.clone(), "array"))
}

fn arranged(value: &Val, arrange: fn(&mut [Val])) -> ValR<Val> {
    let mut items = items(value)?.to_vec();
    arrange(&mut items);
    Ok(Val::list(items))
}

/// Returns the values of each key in sorted pairs `[key, value]`.
fn groups(pairs: &Val) -> ValR<Val> {
    let pairs: Vec<(&Val, &Val)> = items(pairs)?
        .iter()
        .filter_map(|pair| match pair.items() {
            Some([key, value]) => Some((key, value)),
            Some(_) | None => None,
        })
        .collect();
    let same = pairs.chunk_by(|one, two| one.0 == two.0);
    Ok(Val::list(same.map(|group| Val::list(group.iter().map(|(_, value)| (*value).clone())))))
}

fn words(value: &Val) -> Result<&str, Error<Val>> {
    value.as_str().ok_or_else(|| Error::typ(value.clone(), "string"))
}

/// Returns `text` without `part`; unchanged when that is not there, or when either is no text.
fn without(text: &Val, part: &Val, strip: for<'a> fn(&'a str, &str) -> Option<&'a str>) -> Val {
    let stripped = text.as_str().zip(part.as_str()).and_then(|(text, part)| strip(text, part));
    stripped.map_or_else(|| text.clone(), |rest| Val::Text(Rc::from(rest)))
}
