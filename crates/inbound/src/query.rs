//! The query of an address. Keys may repeat, so it is read here and not into a struct.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use schemars::JsonSchema;

use crate::problem::Problem;

/// The highest and the default number of rows of a page.
const LIMIT_MAX: usize = 500;
const LIMIT: usize = 50;

/// The part of a list that is wanted.
#[derive(Clone, Copy, Debug, JsonSchema)]
pub struct Page {
    /// The maximum number of results.
    #[schemars(with = "Option<usize>", range(min = 1, max = LIMIT_MAX), extend("default" = LIMIT))]
    pub limit: usize,
    /// The number of results to skip.
    #[schemars(with = "Option<usize>", extend("default" = 0))]
    pub offset: usize,
}

/// The pairs of a query, in their order.
pub struct Pairs(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Pairs {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Pairs, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Pairs(url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()))
    }
}

impl Pairs {
    /// Creates the query of these parameters.
    pub fn new(pairs: Vec<(String, String)>) -> Pairs {
        Pairs(pairs)
    }

    /// Returns every value of a key.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the first value of a key.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the first value of a key that is written in any case.
    pub fn any_case(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the pairs.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the part of a list that is asked for.
    pub fn page(&self) -> Result<Page, Problem> {
        let offset = self.number("offset", 0..=usize::MAX, 0)?;
        Ok(Page { offset, limit: self.number("limit", 1..=LIMIT_MAX, LIMIT)? })
    }

    /// Returns a whole number within a range.
    pub fn number<T>(&self, name: &str, range: RangeInclusive<T>, default: T) -> Result<T, Problem>
    where
        T: FromStr + PartialOrd + std::fmt::Display,
    {
        let Some(given) = self.first(name) else { return Ok(default) };
        let wrong = || {
            let least = range.start();
            let most = range.end();
            Problem::bad_request(format!("`{name}` must be a whole number from {least} to {most}, not '{given}'"))
        };
        given.parse().ok().filter(|number| range.contains(number)).ok_or_else(wrong)
    }
}
