//! The functions, traits and closing test module of a file, found by following its brackets.

use crate::source::Token;

/// A function with a body, or one a trait declares.
#[derive(Debug, PartialEq)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) line: usize,
    /// From the word `fn` to the closing brace; none without a body.
    pub(crate) lines: usize,
    pub(crate) parameters: usize,
    pub(crate) signature: Signature,
}

/// Who chose the parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Signature {
    /// This function.
    Own,
    /// The trait it implements.
    Given,
}

/// A trait and how much an implementor has to know.
#[derive(Debug, PartialEq)]
pub(crate) struct Trait<'a> {
    pub(crate) name: &'a str,
    pub(crate) line: usize,
    pub(crate) methods: usize,
}

/// What was found, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Items<'a> {
    pub(crate) functions: Vec<Function<'a>>,
    pub(crate) traits: Vec<Trait<'a>>,
}

/// What an open brace belongs to; numbers are places in `Items`.
#[derive(Clone, Copy)]
enum Scope {
    Function(usize),
    Trait(usize),
    Impl(Signature),
    Other,
}

/// A header that has been read and waits for its brace, which comes at the same depth of brackets.
struct Header {
    scope: Scope,
    depth: usize,
}

impl<'a> Items<'a> {
    pub(crate) fn find(tokens: &[Token<'a>]) -> Self {
        let mut walk = Walk::default();
        for (at, token) in tokens.iter().enumerate() {
            let rest = tokens.get(at + 1..).unwrap_or_default();
            walk.step(*token, rest);
        }
        walk.items
    }
}

#[derive(Default)]
struct Walk<'a> {
    items: Items<'a>,
    open: Vec<Scope>,
    depth: usize,
    header: Option<Header>,
}

impl<'a> Walk<'a> {
    fn step(&mut self, token: Token<'a>, rest: &[Token<'a>]) {
        match token.text {
            "(" | "[" => self.depth += 1,
            ")" | "]" => self.depth = self.depth.saturating_sub(1),
            "{" => {
                let scope = self.take_header().unwrap_or(Scope::Other);
                self.open.push(scope);
            }
            "}" => self.close(token),
            ";" => drop(self.take_header()),
            "fn" => self.function(token, rest),
            "trait" => self.trait_(token, rest),
            "impl" if self.header.is_none() => self.expect_brace(Scope::Impl(Signature::Own)),
            "for" => self.implement(rest),
            _ => {}
        }
    }

    fn expect_brace(&mut self, scope: Scope) {
        self.header = Some(Header { scope, depth: self.depth });
    }

    fn take_header(&mut self) -> Option<Scope> {
        let depth = self.depth;
        self.header.take_if(|header| header.depth == depth).map(|header| header.scope)
    }

    fn close(&mut self, token: Token<'a>) {
        let Some(Scope::Function(place)) = self.open.pop() else { return };
        if let Some(function) = self.items.functions.get_mut(place) {
            function.lines = token.line - function.line + 1;
        }
    }

    fn function(&mut self, token: Token<'a>, rest: &[Token<'a>]) {
        // Without a name it is the type of a function pointer.
        let Some(name) = name(rest) else { return };
        let mut signature = Signature::Own;
        match self.open.last() {
            Some(Scope::Impl(chosen)) => signature = *chosen,
            Some(Scope::Trait(place)) => {
                if let Some(parent) = self.items.traits.get_mut(*place) {
                    parent.methods += 1;
                }
            }
            Some(Scope::Function(_) | Scope::Other) | None => {}
        }
        let parameters = parameters(rest);
        self.expect_brace(Scope::Function(self.items.functions.len()));
        self.items.functions.push(Function { name, line: token.line, lines: 0, parameters, signature });
    }

    fn trait_(&mut self, token: Token<'a>, rest: &[Token<'a>]) {
        let Some(name) = name(rest) else { return };
        self.expect_brace(Scope::Trait(self.items.traits.len()));
        self.items.traits.push(Trait { name, line: token.line, methods: 0 });
    }

    /// `impl A for B`, unlike `impl B where for<'a> …`, takes its signatures from elsewhere.
    fn implement(&mut self, rest: &[Token<'a>]) {
        if let Some(Header { scope: Scope::Impl(signature), .. }) = &mut self.header
            && rest.first().is_some_and(|next| next.text != "<")
        {
            *signature = Signature::Given;
        }
    }
}

fn name<'a>(rest: &[Token<'a>]) -> Option<&'a str> {
    let text = rest.first()?.text;
    text.starts_with(|c: char| c.is_alphabetic() || c == '_').then_some(text)
}

/// Counts the parameters of the function whose name comes first in `rest`, `self` included.
fn parameters(rest: &[Token<'_>]) -> usize {
    let mut count = 0;
    let mut generics = 0_usize;
    let mut depth = 0_usize;
    let mut is_empty = true;
    for token in rest.iter().skip(1) {
        match token.text {
            "<" if depth == 0 => generics += 1,
            ">" if depth == 0 => generics = generics.saturating_sub(1),
            _ if generics > 0 => {}
            "(" | "[" | "{" | "<" => {
                is_empty &= depth == 0;
                depth += 1;
            }
            ")" | "]" | "}" | ">" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            "," if depth == 1 => {
                count += 1;
                is_empty = true;
            }
            _ => is_empty = false,
        }
    }
    if is_empty { count } else { count + 1 }
}

/// The line where the `#[cfg(test)] mod` begins that closes the file.
pub(crate) fn tests_begin(tokens: &[Token<'_>]) -> Option<usize> {
    let mut ends = (0..tokens.len()).filter_map(|at| tokens.get(at..));
    let module = ends.find(|end| is_test_module(end))?;
    module.first().map(|token| token.line)
}

/// Whether `tokens` are a test module and nothing after it.
fn is_test_module(tokens: &[Token<'_>]) -> bool {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    if tokens.len() < mark.len() || !tokens.iter().zip(mark).all(|(token, text)| token.text == text) {
        return false;
    }
    let mut rest = tokens;
    while rest.first().is_some_and(|token| token.text == "#") {
        rest = after_brackets(rest, "[", "]");
    }
    rest.first().is_some_and(|token| token.text == "mod")
        && rest.get(2).is_some_and(|token| token.text == "{")
        && after_brackets(rest, "{", "}").is_empty()
}

/// What follows the first pair of brackets; nothing when it is not closed.
fn after_brackets<'s, 'a>(tokens: &'s [Token<'a>], open: &str, close: &str) -> &'s [Token<'a>] {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if token.text == open {
            depth += 1;
        } else if token.text == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return tokens.get(at + 1..).unwrap_or_default();
            }
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::{Items, Signature, tests_begin};
    use crate::source::Source;

    fn functions(text: &str) -> Vec<(&str, usize, usize)> {
        let source = Source::read(text);
        let items = Items::find(&source.tokens);
        items.functions.iter().map(|function| (function.name, function.lines, function.parameters)).collect()
    }

    #[test]
    fn a_function_runs_from_its_word_to_its_brace() {
        let text =
            "/// Doc.\npub async fn a(\n    x: [u8; 4],\n) -> [u8; 4]\nwhere\n    u8: Copy,\n{\n    {\n    }\n}\n";
        assert_eq!(functions(text), [("a", 9, 1)]);
    }

    #[test]
    fn functions_in_functions_are_measured_on_their_own() {
        assert_eq!(functions("fn a() {\n    fn b() {\n    }\n    run(|| { b() });\n}\n"), [("a", 5, 0), ("b", 2, 0)]);
    }

    #[test]
    fn a_function_pointer_is_not_a_function() {
        assert_eq!(functions("fn a(f: fn(u8, u8) -> u8) {}\ntype F = fn(u8);"), [("a", 1, 1)]);
    }

    #[test]
    fn commas_inside_types_do_not_count_as_parameters() {
        let text = "fn a<T, F: Fn(u8, u8) -> u8>(&self, (x, y): (u8, u8), m: Map<K, V>, f: impl Fn(A, B) -> C,) {}";
        assert_eq!(functions(text), [("a", 1, 4)]);
        assert_eq!(
            functions("fn a(x: ()) {} fn b(x: u8, y: ()) {} fn c(&mut self,) {}"),
            [("a", 1, 1), ("b", 1, 2), ("c", 1, 1)]
        );
    }

    #[test]
    fn a_trait_counts_its_methods_with_and_without_bodies() {
        let source =
            Source::read("trait A<T>: B {\n    type X;\n    fn a(&self) -> impl C;\n    fn b(&self) { fn c() {} }\n}");
        let items = Items::find(&source.tokens);
        assert_eq!(items.traits.iter().map(|found| (found.name, found.methods)).collect::<Vec<_>>(), [("A", 2)]);
    }

    #[test]
    fn a_signature_is_given_only_by_a_trait() {
        let text =
            "impl A for B { fn a() {} } impl<T> B<T> where for<'x> T: Fn(&'x u8) { fn b() {} } fn c() -> impl A {}";
        let source = Source::read(text);
        let found: Vec<_> = Items::find(&source.tokens).functions.iter().map(|function| function.signature).collect();
        assert_eq!(found, [Signature::Given, Signature::Own, Signature::Own]);
    }

    #[test]
    fn only_a_test_module_that_closes_the_file_is_set_apart() {
        let begin = |text| tests_begin(&Source::read(text).tokens);
        assert_eq!(begin("fn a() {}\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n    fn b() {}\n}\n"), Some(2));
        assert_eq!(begin("#[cfg(test)]\nmod tests {}\nfn a() {}\n"), None);
        assert_eq!(begin("#[cfg(test)]\nmod tests;\n"), None);
    }
}
