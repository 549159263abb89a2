//! Bytes of the web as text: the charsets nearly all of it uses. Others are
//! named, not guessed.

/// How far into a page its own word about its charset is looked for.
const HEAD_BYTES: usize = 1024;

/// What windows-1252 has where latin-1 has control characters.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text in `bytes`: by their mark, else as declared, else as the page
/// itself says, else as UTF-8 when they are.
pub(crate) fn decode(bytes: &[u8], declared: Option<&str>) -> Result<String, String> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => return Ok(utf8(rest)),
        [0xff, 0xfe, rest @ ..] => return Ok(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => return Ok(utf16(rest, u16::from_be_bytes)),
        _ => {}
    }
    let said = declared.map(str::to_owned).or_else(|| said_in(bytes));
    match said.as_deref().map(|name| name.trim().to_ascii_lowercase()).as_deref() {
        Some("utf-8" | "utf8" | "us-ascii" | "ascii") => Ok(utf8(bytes)),
        Some("iso-8859-1" | "iso8859-1" | "latin1" | "latin-1" | "windows-1252" | "cp1252") => Ok(western(bytes)),
        Some("utf-16" | "utf-16le") => Ok(utf16(bytes, u16::from_le_bytes)),
        Some("utf-16be") => Ok(utf16(bytes, u16::from_be_bytes)),
        Some(other) => Err(format!("its charset `{other}` is not one that can be read here")),
        None if bytes.contains(&0) => Err("it is not text: it holds zero bytes".to_owned()),
        // What was cut off in the middle of a sign is still UTF-8.
        None => Ok(match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_some() => western(bytes),
            Ok(_) | Err(_) => utf8(bytes),
        }),
    }
}

fn utf8(bytes: &[u8]) -> String {
    let whole = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()).unwrap_or(bytes),
        Ok(_) | Err(_) => bytes,
    };
    String::from_utf8_lossy(whole).into_owned()
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    char::decode_utf16(units).map(|sign| sign.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn western(bytes: &[u8]) -> String {
    let sign = |byte: u8| match byte {
        0x80..=0x9f => WINDOWS_1252.get(usize::from(byte - 0x80)).copied().unwrap_or(char::REPLACEMENT_CHARACTER),
        other => char::from(other),
    };
    bytes.iter().copied().map(sign).collect()
}

/// The `charset=` in the first lines of a page.
fn said_in(bytes: &[u8]) -> Option<String> {
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let (_, rest) = head.split_once("<meta")?.1.split_once("charset=")?;
    let name: String = rest.trim_start_matches(['"', '\'']).chars().take_while(|sign| is_name(*sign)).collect();
    (!name.is_empty()).then_some(name)
}

fn is_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_')
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
    fn unknown_charsets_and_zero_bytes_are_named() {
        assert!(decode(b"x", Some("Shift_JIS")).unwrap_err().contains("`shift_jis`"));
        assert!(decode(b"<meta charset=gb2312>", None).unwrap_err().contains("`gb2312`"));
        assert!(decode(b"a\0b", None).unwrap_err().contains("zero bytes"));
    }
}
