//! `${NAME}` in a string stands for a variable of the environment and `$${` for a
//! plain `${`. The value of a variable is never shown.

/// Looks a variable up; passed down from `main`, which alone may read the environment.
pub type Env<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Returns the text with its variables replaced, or all mistakes in it.
pub(crate) fn expand(typed: &str, env: &Env<'_>) -> Result<String, String> {
    let mut meant = String::with_capacity(typed.len());
    let mut unset: Vec<&str> = Vec::new();
    let mut rest = typed;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            meant.extend([before, "${"]);
            rest = after;
            continue;
        }
        let Some((name, after)) = after.split_once('}').filter(|(name, _)| is_name(name)) else {
            return Err(
                "`${` must be followed by the name of a variable and `}`; write `$${` for a plain `${`".to_owned()
            );
        };
        meant.push_str(before);
        match env(name) {
            Some(value) => meant.push_str(&value),
            None if unset.contains(&name) => {}
            None => unset.push(name),
        }
        rest = after;
    }
    meant.push_str(rest);
    match unset.as_slice() {
        [] => Ok(meant),
        [name] => Err(format!("the environment variable `{name}` is not set")),
        names => Err(format!("the environment variables `{}` are not set", names.join("`, `"))),
    }
}

fn is_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(legal) && name.starts_with(|c: char| !c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        let known = [("A", "1"), ("B_2", "${A}"), ("EMPTY", "")];
        known.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn variables_are_replaced_once_and_escapes_are_kept() {
        let cases = [
            ("plain $5 {x}", "plain $5 {x}"),
            ("${A}-${A}", "1-1"),
            ("[${EMPTY}]", "[]"),
            ("${B_2}", "${A}"),
            ("$${A} ${A}", "${A} 1"),
            ("$$${A}", "$${A}"),
        ];
        for (typed, meant) in cases {
            assert_eq!(expand(typed, &env).as_deref(), Ok(meant), "{typed}");
        }
    }

    #[test]
    fn every_unset_variable_is_named_once() {
        let message = expand("${X} ${A} ${Y} ${X}", &env);
        assert_eq!(message, Err("the environment variables `X`, `Y` are not set".to_owned()));
    }

    #[test]
    fn what_is_no_variable_is_refused() {
        for bad in ["${", "${A", "${}", "${1A}", "${a b}"] {
            assert!(expand(bad, &env).is_err(), "{bad}");
        }
    }
}
