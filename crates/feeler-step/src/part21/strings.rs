//! Decodes strings: doubled quotes and the escapes for characters beyond ASCII.
//!
//! # Source
//! ISO 10303-21, §6.4.3.

use encoding_rs::{
    Encoding, ISO_8859_2, ISO_8859_3, ISO_8859_4, ISO_8859_5, ISO_8859_6, ISO_8859_7, ISO_8859_8,
    WINDOWS_1254,
};

/// Returns the decoded text, and whether it contains an invalid escape, which is kept as written.
pub(super) fn decoded(raw: &[u8]) -> (String, bool) {
    if !raw.iter().any(|b| matches!(b, b'\\' | b'\'' | b'\n' | b'\r')) {
        return (String::from_utf8_lossy(raw).into_owned(), false);
    }
    // Some writers break lines within strings, even within escapes.
    let raw: Vec<u8> = raw.iter().copied().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    let (mut out, mut is_odd) = (Vec::with_capacity(raw.len()), false);
    let mut page = None;
    let mut at = 0;
    while let Some(&b) = raw.get(at) {
        let rest = &raw[at..];
        let (text, length) = match b {
            b'\'' => (Some("'".to_owned()), if rest.get(1) == Some(&b'\'') { 2 } else { 1 }),
            b'\\' => match escape(rest, &mut page) {
                Some((text, length)) => (Some(text), length),
                None => {
                    is_odd = true;
                    (None, 1)
                }
            },
            _ => (None, 1),
        };
        match text {
            Some(text) => out.extend_from_slice(text.as_bytes()),
            None => out.push(b),
        }
        at += length;
    }
    (String::from_utf8_lossy(&out).into_owned(), is_odd)
}

/// Returns the text of the escape at the beginning of `rest`, and the length of the escape in bytes;
/// `None` if it is invalid. `page` is the encoding whose upper half `\S\` selects; `None` is ISO 8859-1.
fn escape(rest: &[u8], page: &mut Option<&'static Encoding>) -> Option<(String, usize)> {
    match rest {
        [_, b'\\', ..] => Some(("\\".to_owned(), 2)),
        [_, b'X', b'\\', high, low, ..] => {
            let code = value(&[*high, *low])?;
            Some((char::from_u32(code)?.to_string(), 5))
        }
        [_, b'X', size @ (b'2' | b'4'), b'\\', ..] => {
            let width = if *size == b'2' { 4 } else { 8 };
            let length = rest[4..].windows(4).position(|w| w == b"\\X0\\")?;
            let digits = &rest[4..4 + length];
            if digits.is_empty() || !digits.len().is_multiple_of(width) {
                return None;
            }
            let codes: Vec<u32> = digits.chunks(width).map(value).collect::<Option<_>>()?;
            let text = if width == 4 {
                let units: Vec<u16> = codes.iter().map(|c| u16::try_from(*c).ok()).collect::<Option<_>>()?;
                String::from_utf16(&units).ok()?
            } else {
                codes.iter().map(|c| char::from_u32(*c)).collect::<Option<String>>()?
            };
            Some((text, 4 + length + 4))
        }
        [_, b'S', b'\\', c @ 0x20..=0x7e, ..] => {
            let upper = c + 0x80;
            let text = match page {
                None => char::from(upper).to_string(),
                Some(encoding) => {
                    let (text, has_errors) =
                        encoding.decode_without_bom_handling(std::slice::from_ref(&upper));
                    (!has_errors).then(|| text.into_owned())?
                }
            };
            Some((text, 4))
        }
        [_, b'P', letter @ b'A'..=b'I', b'\\', ..] => {
            *page = match letter {
                b'A' => None,
                b'B' => Some(ISO_8859_2),
                b'C' => Some(ISO_8859_3),
                b'D' => Some(ISO_8859_4),
                b'E' => Some(ISO_8859_5),
                b'F' => Some(ISO_8859_6),
                b'G' => Some(ISO_8859_7),
                b'H' => Some(ISO_8859_8),
                // Equals ISO 8859-9 except for control characters.
                _ => Some(WINDOWS_1254),
            };
            Some((String::new(), 4))
        }
        _ => None,
    }
}

/// Value of hexadecimal digits in either case.
fn value(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0_u32, |sum, d| Some(sum << 4 | char::from(*d).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn escapes_are_decoded_and_invalid_ones_are_kept() {
        let cases = [
            ("plain", "plain", false),
            ("it''s", "it's", false),
            (r"a\\b", r"a\b", false),
            (r"\X2\00E400F6\X0\ x", "äö x", false),
            (r"\X2\00e4\X0\", "ä", false),
            (r"\X2\D83DDE00\X0\", "😀", false),
            (r"\X4\0001F600\X0\", "😀", false),
            (r"\X\E4", "ä", false),
            (r"\S\d", "ä", false),
            (r"a\S\'b", "a§b", false),
            ("it's", "it's", false),
            (r"\PE\\S\0\PA\\S\d", "\u{410}ä", false),
            ("\\X2\\00\r\nE4\\X0\\", "ä", false),
            (r"C:\temp", r"C:\temp", true),
            (r"\X2\00E\X0\", r"\X2\00E\X0\", true),
            (r"\X2\00E4", r"\X2\00E4", true),
            (r"\X2\D83D\X0\", r"\X2\D83D\X0\", true),
            (r"end\", r"end\", true),
            ("ä", "ä", false),
        ];
        for (raw, text, odd) in cases {
            assert_eq!(decoded(raw.as_bytes()), (text.to_owned(), odd), "{raw}");
        }
    }
}
