//! Access to and update of the parts of values by queries: the interpreter's own trait, method by method.

use std::ops::Range;
use std::rc::Rc;

use jaq_core::box_iter::{BoxIter, box_once};
use jaq_core::path::Opt;
use jaq_core::val::Range as Bounds;
use jaq_core::{Error, Exn, ValR, ValT, ValX};
use serde_json::Number;

use super::{Fields, Val, Weighed};

const ITERABLE: &str = "iterable (array or object)";

impl ValT for Val {
    fn from_num(text: &str) -> ValR<Val> {
        let whole = text.parse::<i64>().ok().map(|number| Val::Num(number.into()));
        whole
            .or_else(|| text.parse().ok().map(Val::float))
            .ok_or_else(|| Error::str(format_args!("{text} is no number")))
    }

    fn from_map<I: IntoIterator<Item = (Val, Val)>>(pairs: I) -> ValR<Val> {
        let pairs = pairs.into_iter().map(|(name, field)| match name {
            Val::Text(name) => Ok((name, field)),
            Val::Null | Val::Bool(_) | Val::Num(_) | Val::List(_) | Val::Object(_) => {
                Err(Error::typ(name, "name of a field"))
            }
        });
        Ok(Val::object(pairs.collect::<Result<Vec<_>, _>>()?))
    }

    fn key_values(self) -> BoxIter<'static, ValR<(Val, Val), Val>> {
        match self {
            Val::List(list) => {
                let items = Rc::unwrap_or_clone(list).items.into_iter().enumerate();
                Box::new(items.map(|(index, item)| Ok((Val::from(index as isize), item))))
            }
            Val::Object(object) => Box::new(
                Rc::unwrap_or_clone(object).items.into_iter().map(|(name, field)| Ok((Val::Text(name), field))),
            ),
            Val::Null | Val::Bool(_) | Val::Num(_) | Val::Text(_) => box_once(Err(Error::typ(self, ITERABLE))),
        }
    }

    fn values(self) -> Box<dyn Iterator<Item = ValR<Val>>> {
        Box::new(self.key_values().map(|pair| pair.map(|(_, value)| value)))
    }

    fn index(self, index: &Val) -> ValR<Val> {
        match (&self, index) {
            (Val::Null, Val::Null | Val::Num(_) | Val::Text(_) | Val::Object(_)) => Ok(Val::Null),
            (Val::Object(object), Val::Text(name)) => Ok(object.items.get(name).cloned().unwrap_or(Val::Null)),
            (Val::List(list), Val::Num(number)) => {
                let place = position(number, list.items.len()).and_then(|place| list.items.get(place));
                Ok(place.cloned().unwrap_or(Val::Null))
            }
            (Val::List(_) | Val::Text(_), Val::Object(bounds)) => {
                self.clone().range(bounds.items.get("start")..bounds.items.get("end"))
            }
            _ => Err(Error::index(self, index.clone())),
        }
    }

    fn range(self, bounds: Bounds<&Val>) -> ValR<Val> {
        match &self {
            Val::Null => Ok(Val::Null),
            Val::List(list) => {
                let range = span(&bounds, list.items.len())?;
                Ok(Val::list(list.items.iter().skip(range.start).take(range.len()).cloned()))
            }
            Val::Text(text) => {
                let range = span(&bounds, text.chars().count())?;
                Ok(Val::text(&text.chars().skip(range.start).take(range.len()).collect::<String>()))
            }
            Val::Bool(_) | Val::Num(_) | Val::Object(_) => Err(Error::typ(self, "array or string")),
        }
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Val>>>(self, opt: Opt, f: impl Fn(Val) -> I) -> ValX<'a, Val> {
        match self {
            Val::List(list) => {
                let items: Result<Vec<Val>, _> = Rc::unwrap_or_clone(list).items.into_iter().flat_map(f).collect();
                Ok(Val::list(items?))
            }
            Val::Object(object) => {
                let fields = Rc::unwrap_or_clone(object).items.into_iter();
                let fields = fields.filter_map(|(name, field)| f(field).next().map(|field| Ok((name, field?))));
                Ok(Val::object(fields.collect::<Result<Vec<_>, Exn<'a, Val>>>()?))
            }
            Val::Null | Val::Bool(_) | Val::Num(_) | Val::Text(_) => {
                opt.fail(self, |this| Exn::from(Error::typ(this, ITERABLE)))
            }
        }
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Val>>>(
        self,
        index: &Val,
        opt: Opt,
        f: impl Fn(Val) -> I,
    ) -> ValX<'a, Val> {
        match (&self, index) {
            (Val::Object(object), Val::Text(name)) => field(Weighed::clone(object).items, name, f),
            (Val::Null, Val::Text(name)) => field(Fields::default(), name, f),
            (Val::List(list), Val::Num(number)) => match position(number, list.items.len()) {
                Some(place) => {
                    let mut items = Weighed::clone(list).items;
                    let old = items.get(place).cloned().unwrap_or(Val::Null);
                    items.splice(place..=place, f(old).next().transpose()?);
                    Ok(Val::list(items))
                }
                None => {
                    opt.fail(self.clone(), |_| Exn::from(Error::str(format_args!("index {number} is out of bounds"))))
                }
            },
            (Val::List(_), Val::Object(bounds)) => {
                self.clone().map_range(bounds.items.get("start")..bounds.items.get("end"), opt, f)
            }
            _ => opt.fail(self, |this| Exn::from(Error::index(this, index.clone()))),
        }
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Val>>>(
        self,
        bounds: Bounds<&Val>,
        opt: Opt,
        f: impl Fn(Val) -> I,
    ) -> ValX<'a, Val> {
        let Val::List(list) = &self else { return opt.fail(self, |this| Exn::from(Error::typ(this, "array"))) };
        let range = match span(&bounds, list.items.len()) {
            Ok(range) => range,
            Err(error) => return opt.fail(self, |_| Exn::from(error)),
        };
        let part = Val::list(list.items.iter().skip(range.start).take(range.len()).cloned());
        let new = match f(part).next().transpose()? {
            Some(Val::List(new)) => new.items.clone(),
            Some(other) => return Err(Exn::from(Error::typ(other, "array"))),
            None => Vec::new(),
        };
        let mut items = Weighed::clone(list).items;
        items.splice(range, new);
        Ok(Val::list(items))
    }

    fn as_bool(&self) -> bool {
        !matches!(self, Val::Null | Val::Bool(false))
    }

    fn into_string(self) -> Val {
        match self {
            Val::Text(_) => self,
            Val::Null | Val::Bool(_) | Val::Num(_) | Val::List(_) | Val::Object(_) => Val::text(&self.to_string()),
        }
    }
}

/// Returns an object with one field replaced, added or, when `f` yields nothing, removed.
fn field<'a, I: Iterator<Item = ValX<'a, Val>>>(
    mut fields: Fields,
    name: &Rc<str>,
    f: impl Fn(Val) -> I,
) -> ValX<'a, Val> {
    match f(fields.get(name).cloned().unwrap_or(Val::Null)).next().transpose()? {
        Some(new) => fields.insert(name.clone(), new),
        None => fields.shift_remove(name),
    };
    Ok(Val::object(fields))
}

/// Returns the index of `number` in a list; negative ones count from its end.
fn position(number: &Number, length: usize) -> Option<usize> {
    let number = number.as_i64().or_else(|| number.as_f64().map(|number| number.floor() as i64))?;
    let place = if number < 0 { number + i64::try_from(length).ok()? } else { number };
    usize::try_from(place).ok().filter(|place| *place < length)
}

/// Returns the range of a list that the bounds denote.
fn span(bounds: &Bounds<&Val>, length: usize) -> Result<Range<usize>, Error<Val>> {
    let bound = |bound: Option<&Val>, default: usize| match bound {
        None | Some(Val::Null) => Ok(default),
        Some(Val::Num(number)) => {
            let number = number.as_f64().unwrap_or_default();
            let place = if number < 0.0 { number + length as f64 } else { number };
            // The cast saturates: an index out of bounds becomes the nearest bound.
            Ok((place as usize).min(length))
        }
        Some(other) => Err(Error::typ(other.clone(), "number")),
    };
    let start = bound(bounds.start, 0)?;
    let end = bound(bounds.end, length)?;
    Ok(start..end.max(start))
}

impl From<bool> for Val {
    fn from(is: bool) -> Val {
        Val::Bool(is)
    }
}

impl From<isize> for Val {
    fn from(number: isize) -> Val {
        Val::Num((number as i64).into())
    }
}

impl From<String> for Val {
    fn from(text: String) -> Val {
        Val::text(&text)
    }
}

impl From<Bounds<Val>> for Val {
    fn from(bounds: Bounds<Val>) -> Val {
        let named = [("start", bounds.start), ("end", bounds.end)];
        Val::object(named.into_iter().filter_map(|(name, bound)| Some((name.into(), bound?))))
    }
}

impl FromIterator<Val> for Val {
    fn from_iter<I: IntoIterator<Item = Val>>(items: I) -> Val {
        Val::list(items)
    }
}
