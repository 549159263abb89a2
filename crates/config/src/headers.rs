//! `headers = { … }`: headers that are sent with requests. Values are often
//! credentials, so they are kept as secrets.

use consort_http::headers::Headers;

use super::fields::Fields;
use super::typed::Typed;
use super::values::scalar;

/// Reads `headers`; `own` are the names (in lower case) that Consort sets itself.
pub(super) fn read(fields: &mut Fields<'_>, own: &[&str]) -> Headers {
    let mut headers = Headers::default();
    fields.named("headers", |name, value| {
        if has_placeholder(value) {
            return Err("is sent as it is: `{…}` may stand in path segments and query values only".to_owned());
        }
        headers.set(name, &scalar(value)?, own)?;
        if let Some(secret) = from_environment(value) {
            headers.hide(secret);
        }
        Ok(())
    });
    headers
}

/// Returns the part of a string that came from the environment.
pub(super) fn from_environment(value: &Typed) -> Option<&str> {
    let Typed::Text(text) = value else { return None };
    let before = text.typed.find("${")?;
    let after = text.typed.len().checked_sub(text.typed.rfind('}')? + 1)?;
    text.meant.get(before..text.meant.len().checked_sub(after)?).filter(|_| text.meant != text.typed)
}

/// Returns true when a string as it was typed holds a `{name}` that is no variable.
fn has_placeholder(value: &Typed) -> bool {
    let Typed::Text(text) = value else { return false };
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_');
    text.typed.match_indices('{').any(|(at, _)| {
        let is_variable = text.typed.get(..at).is_some_and(|before| before.ends_with('$'));
        let name = text.typed.get(at + 1..).and_then(|rest| rest.split_once('}')).map_or("", |(name, _)| name);
        !is_variable && is_name(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::Text;

    fn typed(typed: &str, meant: &str) -> Typed {
        Typed::Text(Text { typed: typed.to_owned(), meant: meant.to_owned() })
    }

    #[test]
    fn only_what_came_from_the_environment_is_a_secret() {
        for (written, meant, secret) in [
            ("Bearer ${T}", "Bearer hush", Some("hush")),
            ("${A}-${B}", "a-b", Some("a-b")),
            ("x${A}y", "xhushy", Some("hush")),
            ("plain", "plain", None),
        ] {
            assert_eq!(from_environment(&typed(written, meant)), secret, "{written}");
        }
    }

    #[test]
    fn placeholders_are_told_from_variables_and_json() {
        for (written, expected) in
            [("{state}", true), ("a {b_2} c", true), ("${STATE}", false), ("{\"a\": 1}", false), ("{}", false)]
        {
            assert_eq!(has_placeholder(&typed(written, written)), expected, "{written}");
        }
    }
}
