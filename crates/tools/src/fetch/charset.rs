//! Bytes of the web as text, in any charset browsers know.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// The number of bytes at the beginning of a page that are searched for its charset.
const HEAD_BYTES: usize = 1024;
/// The number of bytes of a long text that are decoded at once, when they are only looked at.
const PIECE_BYTES: usize = 64 * 1024;

/// Returns the text in `bytes`: decoded by their byte order mark, else as
/// declared, else as the page itself says, else as UTF-8 when they are valid.
pub(crate) fn decode(bytes: &[u8], declared: Option<&str>) -> Result<String, String> {
    let (encoding, bytes) = encoding(bytes, declared)?;
    Ok(text(encoding, bytes))
}

/// Returns whether `decode` returns a text without zero characters. The text is not kept, because it may be long.
pub(crate) fn is_text(bytes: &[u8], declared: Option<&str>) -> bool {
    let Ok((encoding, mut rest)) = encoding(bytes, declared) else { return false };
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut piece = String::with_capacity(PIECE_BYTES);
    loop {
        let (_full_or_done, read, _had_errors) = decoder.decode_to_string(rest, &mut piece, false);
        if piece.contains('\0') {
            return false;
        }
        rest = rest.get(read..).unwrap_or_default();
        if rest.is_empty() {
            return true;
        }
        piece.clear();
    }
}

/// Returns the encoding of a text, and its bytes without a byte order mark.
fn encoding<'a>(bytes: &'a [u8], declared: Option<&str>) -> Result<(&'static Encoding, &'a [u8]), String> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return Ok((encoding, bytes.get(mark..).unwrap_or_default()));
    }
    match declared.map(str::to_owned).or_else(|| said_in(bytes)) {
        Some(name) => match Encoding::for_label(name.as_bytes()) {
            Some(encoding) => Ok((encoding, bytes)),
            None => Err(format!("its charset `{}` is not one that can be read here", name.trim())),
        },
        None if bytes.contains(&0) => Err("it is not text: it holds zero bytes".to_owned()),
        // A body cut off in the middle of a character is still UTF-8.
        None => Ok(match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_some() => (WINDOWS_1252, bytes),
            Ok(_) | Err(_) => (UTF_8, bytes),
        }),
    }
}

fn text(encoding: &'static Encoding, bytes: &[u8]) -> String {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or_default());
    // The decoder is not told of the end, so that a sign that was cut off there is left out.
    let _read = decoder.decode_to_string(bytes, &mut text, false);
    text
}

/// Returns the `charset=` in the first bytes of a page.
fn said_in(bytes: &[u8]) -> Option<String> {
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let (_, rest) = head.split_once("<meta")?.1.split_once("charset=")?;
    let is_name = |sign: &char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
    let name: String = rest.trim_start_matches(['"', '\'']).chars().take_while(is_name).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_marked_declared_or_said() {
        let utf16: Vec<u8> = "ä€".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked = [&[0xff, 0xfe][..], &utf16].concat();
        for (bytes, declared, expected) in [
            ("ä€".as_bytes(), None, "ä€"),
            ("ä€".as_bytes(), Some("UTF-8"), "ä€"),
            (b"\xef\xbb\xbfab", Some("latin1"), "ab"),
            (b"caf\xe9 \x80", Some("ISO-8859-1"), "café €"),
            (b"caf\xe9 noir", None, "café noir"),
            (b"<meta charset=\"windows-1252\">\xe9", None, "<meta charset=\"windows-1252\">é"),
            (b"<META http-equiv=x content=\"text/html; charset=latin1\">\xe9", None, "é"),
            (b"\x93\xfa\x96\x7b", Some("Shift_JIS"), "日本"),
            (b"<meta charset=gb2312>\xc4\xe3", None, "你"),
            (&utf16, Some("utf-16le"), "ä€"),
            (&marked, None, "ä€"),
            (b"half \xe2\x82", None, "half "),
            (b"bad \xff here", Some("utf-8"), "bad \u{fffd} here"),
        ] {
            let text = decode(bytes, declared).unwrap();
            assert!(text.ends_with(expected), "{text:?} {expected:?}");
        }
    }

    #[test]
    fn a_long_text_is_looked_at_in_pieces() {
        let long = "ä€b".repeat(PIECE_BYTES / 3);
        assert!(is_text(long.as_bytes(), None));
        assert!(is_text(&[0xe9; PIECE_BYTES + 1], Some("latin1")));
        assert!(!is_text([long.as_bytes(), b"\0"].concat().as_slice(), Some("utf-8")), "the last character is zero");
        let utf16: Vec<u8> = long.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(is_text(&utf16, Some("utf-16le")) && !is_text(&utf16, Some("klingon")));
        assert!(!is_text(&[&utf16[..], &[0, 0]].concat(), Some("utf-16le")));
    }

    #[test]
    fn unknown_charsets_and_zero_bytes_are_named() {
        assert!(decode(b"x", Some("klingon")).unwrap_err().contains("`klingon`"));
        assert!(decode(b"<meta charset=klingon>", None).unwrap_err().contains("`klingon`"));
        assert!(decode(b"a\0b", None).unwrap_err().contains("zero bytes"));
    }
}
