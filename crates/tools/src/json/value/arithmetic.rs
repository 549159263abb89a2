//! The meaning of `+ - * / %` for values, as in jq.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::rc::Rc;

use jaq_core::Error;
use jaq_core::ops::Math;
use serde_json::Number;

use super::super::meter::{end, step};
use super::{Fields, Val, WEIGHT_MAX, Weighed};

type Result = std::result::Result<Val, Error<Val>>;

/// Calculates exactly while both are integers, else in floating point.
fn calculate(one: &Number, two: &Number, exact: fn(i64, i64) -> Option<i64>, rough: fn(f64, f64) -> f64) -> Val {
    let integers = one.as_i64().zip(two.as_i64()).and_then(|(one, two)| exact(one, two));
    let floats = || rough(one.as_f64().unwrap_or(f64::NAN), two.as_f64().unwrap_or(f64::NAN));
    integers.map_or_else(|| Val::float(floats()), |number| Val::Num(number.into()))
}

impl Add for Val {
    type Output = Result;

    fn add(self, other: Val) -> Result {
        step();
        Ok(match (self, other) {
            (Val::Null, some) | (some, Val::Null) => some,
            (Val::Num(one), Val::Num(two)) => calculate(&one, &two, i64::checked_add, |one, two| one + two),
            (Val::Text(one), Val::Text(two)) => Val::text(&[&*one, &*two].concat()),
            (Val::List(mut one), Val::List(two)) => {
                let list: &mut Weighed<Vec<Val>> = Rc::make_mut(&mut one);
                for item in &two.items {
                    list.take(item);
                    list.items.push(item.clone());
                }
                Val::List(one)
            }
            (Val::Object(one), Val::Object(two)) => {
                let both = one.items.iter().chain(&two.items);
                Val::object(both.map(|(name, field)| (name.clone(), field.clone())))
            }
            (one, two) => return Err(Error::math(one, Math::Add, two)),
        })
    }
}

impl Sub for Val {
    type Output = Result;

    fn sub(self, other: Val) -> Result {
        step();
        match (self, other) {
            (Val::Num(one), Val::Num(two)) => Ok(calculate(&one, &two, i64::checked_sub, |one, two| one - two)),
            (Val::List(one), Val::List(two)) => {
                let mut gone: Vec<&Val> = two.items.iter().collect();
                gone.sort();
                let stays = |item: &&Val| gone.binary_search(item).is_err();
                Ok(Val::list(one.items.iter().filter(stays).cloned()))
            }
            (one, two) => Err(Error::math(one, Math::Sub, two)),
        }
    }
}

impl Mul for Val {
    type Output = Result;

    fn mul(self, other: Val) -> Result {
        step();
        match (self, other) {
            (Val::Num(one), Val::Num(two)) => Ok(calculate(&one, &two, i64::checked_mul, |one, two| one * two)),
            (Val::Text(text), Val::Num(times)) | (Val::Num(times), Val::Text(text)) => {
                let times = times.as_f64().unwrap_or_default();
                Ok(if times <= 0.0 { Val::Null } else { repeated(&text, times) })
            }
            (Val::Object(one), Val::Object(two)) => Ok(Val::object(merged(&one.items, &two.items))),
            (one, two) => Err(Error::math(one, Math::Mul, two)),
        }
    }
}

fn repeated(text: &str, times: f64) -> Val {
    if text.len() as f64 * times > WEIGHT_MAX as f64 {
        end("the query makes too long a text");
    }
    Val::text(&text.repeat(times.max(1.0) as usize))
}

/// Merges two objects; nested objects are merged too, everything else is replaced.
fn merged(one: &Fields, two: &Fields) -> Fields {
    let mut fields = one.clone();
    for (name, field) in two {
        let field = match (fields.get(name), field) {
            (Some(Val::Object(old)), Val::Object(new)) => Val::object(merged(&old.items, &new.items)),
            (_, field) => field.clone(),
        };
        fields.insert(name.clone(), field);
    }
    fields
}

impl Div for Val {
    type Output = Result;

    fn div(self, other: Val) -> Result {
        step();
        match (self, other) {
            (Val::Num(one), Val::Num(two)) if two.as_f64() != Some(0.0) => {
                let exact =
                    |one: i64, two: i64| one.checked_rem(two).filter(|rest| *rest == 0).and(one.checked_div(two));
                Ok(calculate(&one, &two, exact, |one, two| one / two))
            }
            (Val::Text(text), Val::Text(_)) if text.is_empty() => Ok(Val::list([])),
            (Val::Text(text), Val::Text(by)) if by.is_empty() => {
                Ok(Val::list(text.chars().map(|sign| Val::text(sign.encode_utf8(&mut [0; 4])))))
            }
            (Val::Text(text), Val::Text(by)) => Ok(Val::list(text.split(&*by).map(Val::text))),
            (one, two) => Err(Error::math(one, Math::Div, two)),
        }
    }
}

impl Rem for Val {
    type Output = Result;

    fn rem(self, other: Val) -> Result {
        step();
        match (self, other) {
            (Val::Num(one), Val::Num(two)) if two.as_f64() != Some(0.0) => {
                Ok(calculate(&one, &two, i64::checked_rem, |one, two| one % two))
            }
            (one, two) => Err(Error::math(one, Math::Rem, two)),
        }
    }
}

impl Neg for Val {
    type Output = Result;

    fn neg(self) -> Result {
        match &self {
            Val::Num(number) => Ok(calculate(&0.into(), number, i64::checked_sub, |zero, number| zero - number)),
            Val::Null | Val::Bool(_) | Val::Text(_) | Val::List(_) | Val::Object(_) => Err(Error::typ(self, "number")),
        }
    }
}
