//! Licence expressions: names joined by `AND`, `OR` and brackets, a name possibly `WITH` an exception.

/// Whether an expression can be met by licences for which `accepts` holds; none when it cannot be read.
pub(crate) fn is_met(expression: &str, accepts: &dyn Fn(&str) -> bool) -> Option<bool> {
    // Older manifests write a slash for OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, accepts };
    let met = reader.either()?;
    reader.words.is_empty().then_some(met)
}

struct Reader<'a> {
    words: &'a [&'a str],
    accepts: &'a dyn Fn(&str) -> bool,
}

impl<'a> Reader<'a> {
    fn either(&mut self) -> Option<bool> {
        let mut met = self.both()?;
        while self.take("OR") {
            met |= self.both()?;
        }
        Some(met)
    }

    fn both(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.either()?;
            return self.take(")").then_some(met);
        }
        let name = self.name()?;
        if self.take("WITH") {
            let exception = self.name()?;
            return Some((self.accepts)(&format!("{name} WITH {exception}")));
        }
        Some((self.accepts)(name))
    }

    fn name(&mut self) -> Option<&'a str> {
        let (name, rest) = self.words.split_first()?;
        self.words = rest;
        (!matches!(*name, "AND" | "OR" | "WITH" | "(" | ")")).then_some(name)
    }

    fn take(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if *first == word => {
                self.words = rest;
                true
            }
            Some(_) | None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_met;

    #[test]
    fn expressions_are_met_as_their_words_say() {
        let cases = [
            ("MIT", Some(true)),
            ("GPL-3.0", Some(false)),
            ("GPL-3.0 OR MIT", Some(true)),
            ("GPL-3.0/MIT", Some(true)),
            ("MIT AND GPL-3.0", Some(false)),
            ("GPL-3.0 AND ISC OR MIT", Some(true)),
            ("GPL-3.0 AND (ISC OR MIT)", Some(false)),
            ("(MIT OR GPL-3.0) AND ISC", Some(true)),
            ("ISC WITH some-exception", Some(false)),
            ("Apache-2.0 WITH LLVM-exception", Some(true)),
        ];
        let accepted = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"];
        for (expression, met) in cases {
            assert_eq!(is_met(expression, &|name| accepted.contains(&name)), met, "{expression}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_neither_met_nor_unmet() {
        for expression in ["", "MIT OR", "(MIT", "MIT)", "MIT ISC", "AND", "MIT WITH"] {
            assert_eq!(is_met(expression, &|_| true), None, "{expression}");
        }
    }
}
