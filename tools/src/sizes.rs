//! The limits that keep a file readable at once, and the exceptions a file may ask for with a reason.
//!
//! An exception is a comment: `// sizes: allow file-length — reason` or `// sizes: allow fn-length NAME — reason`.

use crate::items::{Function, Items, Signature, tests_begin};
use crate::source::{Source, Token};

/// Lines of a function, its signature and blank lines included.
pub const FUNCTION_LINES: usize = 70;
/// Lines of code in a file, without blank lines, comments and the tests at its end.
pub const FILE_LINES: usize = 500;
/// Methods of a trait.
pub const TRAIT_METHODS: usize = 5;
/// Parameters of a function, `self` included.
pub const PARAMETERS: usize = 5;
/// Lines of `//!` that open a file.
pub const HEADER_LINES: usize = 6;

/// Something over its limit.
#[derive(Debug, PartialEq)]
pub struct Violation {
    /// The line to look at, counted from 1.
    pub line: usize,
    /// What is too long, and by which limit.
    pub what: String,
}

/// How long the header of a file may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Header {
    /// One idea, in `HEADER_LINES`.
    Idea,
    /// A crate's layout, as long as it has files.
    Layout,
}

/// Measures one file.
pub fn check(text: &str, header: Header) -> Vec<Violation> {
    let source = Source::read(text);
    let items = Items::find(&source.tokens);
    let mut found = check_header(text, header);
    let mut exceptions = exceptions(&source, &mut found);
    found.extend(check_file(&source.tokens, &mut exceptions));
    found.extend(items.functions.iter().filter_map(|function| check_length(function, &mut exceptions)));
    found.extend(items.functions.iter().filter_map(check_parameters));
    for measured in items.traits.iter().filter(|measured| measured.methods > TRAIT_METHODS) {
        let what = format!("trait {} has {} methods, at most {TRAIT_METHODS}", measured.name, measured.methods);
        found.push(Violation { line: measured.line, what });
    }
    for exception in exceptions.iter().filter(|exception| exception.use_ == Use::Unneeded) {
        let what = format!("the exception for {} is not needed", exception.subject);
        found.push(Violation { line: exception.line, what });
    }
    found.sort_by_key(|violation| violation.line);
    found
}

/// What a file has asked to be let off.
struct Exception<'a> {
    line: usize,
    subject: &'a str,
    use_: Use,
}

#[derive(PartialEq)]
enum Use {
    Unneeded,
    Needed,
}

/// Reads the exceptions; one without a reason is a violation and grants nothing.
fn exceptions<'a>(source: &Source<'a>, found: &mut Vec<Violation>) -> Vec<Exception<'a>> {
    let mut granted = Vec::new();
    for comment in &source.comments {
        let Some(request) = comment.text.strip_prefix("// sizes: allow ") else { continue };
        match request.split_once(" — ") {
            Some((subject, reason)) if !reason.trim().is_empty() => {
                granted.push(Exception { line: comment.line, subject: subject.trim(), use_: Use::Unneeded });
            }
            Some(_) | None => {
                let what = "an exception needs a reason: `// sizes: allow … — reason`".to_owned();
                found.push(Violation { line: comment.line, what });
            }
        }
    }
    granted
}

fn is_excepted(exceptions: &mut [Exception<'_>], subject: &str) -> bool {
    let exception = exceptions.iter_mut().find(|exception| exception.subject == subject);
    exception.map(|exception| exception.use_ = Use::Needed).is_some()
}

fn check_header(text: &str, header: Header) -> Vec<Violation> {
    let lines = text.lines().take_while(|line| line.starts_with("//!")).count();
    let what = if lines == 0 {
        "the file does not open with `//!`".to_owned()
    } else if lines > HEADER_LINES && header == Header::Idea {
        format!("the header has {lines} lines, at most {HEADER_LINES}")
    } else {
        return Vec::new();
    };
    vec![Violation { line: 1, what }]
}

fn check_file(tokens: &[Token<'_>], exceptions: &mut [Exception<'_>]) -> Option<Violation> {
    let lines = code_lines(tokens, tests_begin(tokens).unwrap_or(usize::MAX));
    if lines <= FILE_LINES || is_excepted(exceptions, "file-length") {
        return None;
    }
    Some(Violation { line: 1, what: format!("the file has {lines} lines of code, at most {FILE_LINES}") })
}

/// Counts the lines before `end` that hold code.
fn code_lines(tokens: &[Token<'_>], end: usize) -> usize {
    let mut counted = 0;
    let mut last = 0;
    for token in tokens.iter().take_while(|token| token.line < end) {
        counted += (token.last_line + 1).saturating_sub(token.line.max(last + 1));
        last = token.last_line;
    }
    counted
}

fn check_length(function: &Function<'_>, exceptions: &mut [Exception<'_>]) -> Option<Violation> {
    let subject = format!("fn-length {}", function.name);
    if function.lines <= FUNCTION_LINES || is_excepted(exceptions, &subject) {
        return None;
    }
    let what = format!("fn {} has {} lines, at most {FUNCTION_LINES}", function.name, function.lines);
    Some(Violation { line: function.line, what })
}

fn check_parameters(function: &Function<'_>) -> Option<Violation> {
    if function.parameters <= PARAMETERS || function.signature == Signature::Given {
        return None;
    }
    let what = format!("fn {} has {} parameters, at most {PARAMETERS}", function.name, function.parameters);
    Some(Violation { line: function.line, what })
}

#[cfg(test)]
mod tests {
    use super::{Header, check};

    fn found(text: &str) -> Vec<(usize, String)> {
        check(text, Header::Idea).into_iter().map(|violation| (violation.line, violation.what)).collect()
    }

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    x();\n".repeat(lines - 2))
    }

    fn file(lines: usize) -> String {
        format!("//! Idea.\n\n{}", "const A: u8 = 0; // why\n\n/// Doc.\n".repeat(lines))
    }

    #[test]
    fn a_function_may_have_seventy_lines_and_no_more() {
        assert_eq!(found(&format!("//! Idea.\n{}", function(70))), []);
        let what = "fn long has 71 lines, at most 70".to_owned();
        assert_eq!(found(&format!("//! Idea.\n{}", function(71))), [(2, what)]);
    }

    #[test]
    fn only_lines_of_code_count_towards_a_file() {
        assert_eq!(found(&file(500)), []);
        assert_eq!(found(&file(501)), [(1, "the file has 501 lines of code, at most 500".to_owned())]);
    }

    #[test]
    fn the_lines_of_a_long_literal_count_once_each() {
        let literal = format!("//! Idea.\nconst A: &str = \"{}\"; const B: u8 = 0;\n", "x\n".repeat(500));
        assert_eq!(found(&literal), [(1, "the file has 501 lines of code, at most 500".to_owned())]);
    }

    #[test]
    fn closing_tests_do_not_lengthen_a_file_but_their_functions_are_measured() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(71));
        let what = "fn long has 71 lines, at most 70".to_owned();
        assert_eq!(found(&format!("{}{tests}", file(500))), [(1505, what)]);
    }

    #[test]
    fn a_trait_may_have_five_methods() {
        let methods = |count| format!("//! Idea.\ntrait A {{\n{}}}\n", "    fn a(&self);\n".repeat(count));
        assert_eq!(found(&methods(5)), []);
        assert_eq!(found(&methods(6)), [(2, "trait A has 6 methods, at most 5".to_owned())]);
    }

    #[test]
    fn a_function_may_have_five_parameters_unless_a_trait_gives_more() {
        let text = "//! Idea.\nfn a(a: A, b: A, c: A, d: A, e: A, f: A) {}\n";
        assert_eq!(found(text), [(2, "fn a has 6 parameters, at most 5".to_owned())]);
        assert_eq!(found("//! Idea.\nimpl A for B { fn a(&self, b: A, c: A, d: A, e: A, f: A) {} }\n"), []);
    }

    #[test]
    fn a_file_opens_with_one_idea_and_a_crate_with_its_layout() {
        assert_eq!(found("use a;\n"), [(1, "the file does not open with `//!`".to_owned())]);
        let header = "//! Line.\n".repeat(7);
        assert_eq!(found(&header), [(1, "the header has 7 lines, at most 6".to_owned())]);
        assert_eq!(check(&header, Header::Layout), []);
    }

    #[test]
    fn an_exception_needs_a_reason_and_a_cause() {
        let long = function(71);
        assert_eq!(found(&format!("//! Idea.\n// sizes: allow fn-length long — a table\n{long}")), []);
        let unexplained = found(&format!("//! Idea.\n// sizes: allow fn-length long\n{long}"));
        assert_eq!(unexplained.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3]);
        let unneeded = found("//! Idea.\n// sizes: allow file-length — a table\n");
        assert_eq!(unneeded, [(2, "the exception for file-length is not needed".to_owned())]);
        let other = found(&format!("//! Idea.\n// sizes: allow fn-length short — a table\n{long}"));
        assert_eq!(other.len(), 2);
        let mut excepted = file(501);
        excepted.push_str("// sizes: allow file-length — generated\n");
        assert_eq!(found(&excepted), []);
    }
}
