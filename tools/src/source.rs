//! A Rust file as tokens and comments. Only as fine as measuring needs: words, literals, arrows, single characters.

/// A piece of code and the lines it stands on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
    pub(crate) last_line: usize,
}

/// A comment with its slashes; a block comment is one comment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Comment<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

/// A file taken apart, both lists in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Source<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    pub(crate) comments: Vec<Comment<'a>>,
}

impl<'a> Source<'a> {
    pub(crate) fn read(text: &'a str) -> Self {
        let mut source = Self::default();
        let mut rest = text;
        let mut line = 1;
        while let Some(first) = rest.chars().next() {
            let length = piece_length(rest, first);
            let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            let last_line = line + piece.matches('\n').count();
            if is_comment(piece) {
                source.comments.push(Comment { text: piece, line });
            } else if !first.is_whitespace() {
                source.tokens.push(Token { text: piece, line, last_line });
            }
            rest = after;
            line = last_line;
        }
        source
    }
}

fn is_comment(piece: &str) -> bool {
    piece.starts_with("//") || piece.starts_with("/*")
}

/// The bytes the piece at the start of `rest` takes; beyond the end when it is not closed.
fn piece_length(rest: &str, first: char) -> usize {
    if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if rest.starts_with("/*") {
        block_comment_length(rest)
    } else if let Some(length) = literal_length(rest) {
        length
    } else if is_word(first) {
        let name = rest.strip_prefix("r#").unwrap_or(rest);
        rest.len() - name.trim_start_matches(is_word).len()
    } else if rest.starts_with("->") || rest.starts_with("=>") {
        2
    } else {
        first.len_utf8()
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        if tail.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += tail.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of the string or character at the start of `rest`, its prefix included.
fn literal_length(rest: &str) -> Option<usize> {
    for prefix in ["br", "cr", "r"] {
        if let Some(length) = rest.strip_prefix(prefix).and_then(raw_length) {
            return Some(prefix.len() + length);
        }
    }
    for prefix in ["b", "c", ""] {
        let Some(quoted) = rest.strip_prefix(prefix) else { continue };
        let length = if quoted.starts_with('"') { quoted_length(quoted) } else { char_length(quoted) };
        if let Some(length) = length {
            return Some(prefix.len() + length);
        }
    }
    None
}

fn raw_length(rest: &str) -> Option<usize> {
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let body = rest.get(hashes..)?.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(hashes + 1 + length)
}

/// The length up to the closing quote, which is the same as the opening one and not escaped.
fn quoted_length(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices();
    let (_, quote) = chars.next()?;
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return Some(at + quote.len_utf8());
        }
    }
    Some(rest.len())
}

/// A character is told from a lifetime by its escape or by the quote right after one character.
fn char_length(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let mut chars = inside.chars();
    let first = chars.next()?;
    if first == '\\' || chars.next() == Some('\'') { quoted_length(rest) } else { None }
}

#[cfg(test)]
mod tests {
    use super::Source;

    fn words(text: &str) -> Vec<&str> {
        Source::read(text).tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn braces_and_slashes_inside_literals_are_not_code() {
        assert_eq!(
            words(r#"a("{ // x", '{', b'"', '\'')"#),
            ["a", "(", r#""{ // x""#, ",", "'{'", ",", "b'\"'", ",", r"'\''", ")"]
        );
        assert_eq!(words(r###"br##"}"# "## r"\" c"}""###), [r###"br##"}"# "##"###, r#"r"\""#, r#"c"}""#]);
    }

    #[test]
    fn a_lifetime_is_not_an_open_character() {
        assert_eq!(words("&'a str { 'x' }"), ["&", "'", "a", "str", "{", "'x'", "}"]);
    }

    #[test]
    fn a_word_that_ends_in_r_does_not_open_a_raw_string() {
        assert_eq!(words(r#"for"x" r#fn"#), ["for", "\"x\"", "r#fn"]);
    }

    #[test]
    fn comments_are_kept_apart_and_may_nest() {
        let source = Source::read("a /* { /* } */ é */ b // c }\n/// d\ne");
        let comments: Vec<_> = source.comments.iter().map(|comment| (comment.line, comment.text)).collect();
        assert_eq!(comments, [(1, "/* { /* } */ é */"), (1, "// c }"), (2, "/// d")]);
        assert_eq!(source.tokens.iter().map(|token| token.line).collect::<Vec<_>>(), [1, 1, 3]);
    }

    #[test]
    fn a_literal_over_several_lines_stands_on_all_of_them() {
        let source = Source::read("let a = \"x\n\ny\";\nb");
        let literal = source.tokens[3];
        assert_eq!((literal.line, literal.last_line), (1, 3));
        assert_eq!(source.tokens.last().unwrap().line, 4);
    }

    #[test]
    fn what_is_never_closed_ends_with_the_file() {
        assert_eq!(words("a \"b"), ["a", "\"b"]);
        assert_eq!(Source::read("/* a").comments.len(), 1);
    }
}
