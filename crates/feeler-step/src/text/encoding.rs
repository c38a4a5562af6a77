//! Decodes strings in encodings other than those of the standard if the encoding can be detected, and
//! escapes their bytes otherwise.
//!
//! Part 21 escapes characters beyond ASCII. Some writers put bytes of the encoding of their system into
//! strings instead; only these bytes indicate the encoding.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, EUC_KR, Encoding, GBK, SHIFT_JIS, UTF_16BE, UTF_16LE};

/// Returns the text in UTF-8, and a remark on its encoding if there is one.
pub(crate) fn in_utf8(bytes: &[u8]) -> (Cow<'_, [u8]>, Option<String>) {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        if encoding != UTF_16LE && encoding != UTF_16BE {
            return in_utf8_or_other(&bytes[mark..]);
        }
        let (text, _) = encoding.decode_without_bom_handling(&bytes[mark..]);
        let note = format!("the file is encoded in {}; Part 21 requires ASCII or UTF-8", encoding.name());
        return (Cow::Owned(text.into_owned().into_bytes()), Some(note));
    }
    in_utf8_or_other(bytes)
}

fn in_utf8_or_other(bytes: &[u8]) -> (Cow<'_, [u8]>, Option<String>) {
    if std::str::from_utf8(bytes).is_ok() {
        return (Cow::Borrowed(bytes), None);
    }
    let mut other = strings(bytes);
    other.retain(|r| may_be_other(&bytes[r.clone()]));
    let texts: Vec<&[u8]> = other.iter().map(|r| &bytes[r.clone()]).collect();
    let encoding = encoding_of(&texts);
    if encoding.is_single_byte() {
        other.retain(|r| std::str::from_utf8(&bytes[r.clone()]).is_err());
    }
    let mut out = Vec::with_capacity(bytes.len() + 64 * other.len());
    let (mut at, mut kept) = (0, 0);
    for r in &other {
        plain(&bytes[at..r.start], &mut out);
        kept += usize::from(!decoded(&bytes[r.clone()], encoding, &mut out));
        at = r.end;
    }
    plain(&bytes[at..], &mut out);
    let note = (!other.is_empty()).then(|| {
        let mut note = format!(
            "{} strings are neither ASCII nor UTF-8; they are decoded as {}",
            other.len(),
            encoding.name()
        );
        if kept > 0 {
            // Writing to a string cannot fail.
            let _ = write!(note, "; {kept} of them are invalid in this encoding and shown as byte codes");
        }
        note
    });
    (Cow::Owned(out), note)
}

/// Returns whether a text is not UTF-8, or is UTF-8 possibly by chance: letters of two bytes each, which
/// Chinese text occasionally resembles.
fn may_be_other(text: &[u8]) -> bool {
    match std::str::from_utf8(text) {
        Ok(read) => !read.is_ascii() && read.chars().all(|c| c < '\u{800}'),
        Err(_) => true,
    }
}

/// Guesses the encoding of strings that are not UTF-8.
fn encoding_of(texts: &[&[u8]]) -> &'static Encoding {
    let guess = |texts: &[&[u8]]| {
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        for text in texts {
            detector.feed(text, false);
            detector.feed(b" ", false);
        }
        detector.feed(b"", true);
        detector.guess(None, Utf8Detection::Deny)
    };
    let first = guess(texts);
    // The same bytes can be Korean or Chinese. Korean names contain no Chinese characters, which are in
    // the range from 0xCA.
    let is_chinese = |text: &&[u8]| text.chunk_by(|a, b| a.is_ascii() == b.is_ascii()).any(has_hanja);
    if first == EUC_KR
        && texts.iter().any(is_chinese)
        && texts.iter().all(|t| !GBK.decode_without_bom_handling(t).1)
    {
        return GBK;
    }
    if !first.is_single_byte() {
        return first;
    }
    // A few texts that are cut within a character would exclude the right encoding, so up to a third of
    // the texts may be invalid.
    let but_for_a_few = |encoding: &'static Encoding| {
        let is_valid = |t: &&&[u8]| !encoding.decode_without_bom_handling(t).1;
        let valid: Vec<&[u8]> = texts.iter().filter(is_valid).copied().collect();
        valid.len() < texts.len() && 3 * valid.len() >= 2 * texts.len() && guess(&valid) == encoding
    };
    [GBK, SHIFT_JIS, EUC_KR, BIG5].into_iter().find(|e| but_for_a_few(e)).unwrap_or(first)
}

/// Returns whether a run of two-byte characters of EUC-KR contains a character that is not Hangul.
fn has_hanja(run: &[u8]) -> bool {
    run[0] >= 0x80 && run.chunks(2).any(|c| c[0] >= 0xca)
}

/// Appends bytes outside strings, or valid strings. Invalid bytes, which occur only in comments, are
/// replaced by question marks.
fn plain(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        out.extend(chunk.invalid().iter().map(|_| b'?'));
    }
}

/// Appends a decoded text and returns `true`. If the text is invalid in the encoding, appends its bytes
/// as escapes and returns `false`.
fn decoded(text: &[u8], encoding: &'static Encoding, out: &mut Vec<u8>) -> bool {
    let (read, has_errors) = encoding.decode_without_bom_handling(text);
    // Control characters and private characters occur only if the guess is wrong.
    let is_odd = |c: char| matches!(c, '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fffd}');
    if !has_errors && !read.chars().any(is_odd) {
        out.extend_from_slice(read.as_bytes());
        return true;
    }
    for b in text {
        if b.is_ascii() {
            out.push(*b);
        } else {
            // Doubled backslashes are read as single ones.
            out.extend_from_slice(format!(r"\\X\\{b:02X}").as_bytes());
        }
    }
    false
}

/// Returns the byte ranges between quotes, outside comments. A doubled quote ends one range and begins
/// the next.
fn strings(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    let find = |from: usize, what: u8| bytes[from..].iter().position(|b| *b == what).map(|k| from + k);
    while let Some(k) = bytes[at..].iter().position(|b| matches!(b, b'\'' | b'/')) {
        let start = at + k + 1;
        if bytes[start - 1] == b'\'' {
            let end = find(start, b'\'').unwrap_or(bytes.len());
            out.push(start..end);
            at = (end + 1).min(bytes.len());
        } else if bytes.get(start) == Some(&b'*') {
            let end = bytes[start + 1..].windows(2).position(|w| w == b"*/");
            at = end.map_or(bytes.len(), |k| start + 1 + k + 2);
        } else {
            at = start;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{WINDOWS_1251, WINDOWS_1252};

    fn file(texts: &[&str], encoding: &'static Encoding) -> Vec<u8> {
        let mut out = Vec::new();
        for (i, t) in texts.iter().enumerate() {
            out.extend_from_slice(format!("#{i}=PRODUCT('").as_bytes());
            let (bytes, _, unmappable) = encoding.encode(t);
            assert!(!unmappable, "{t}");
            out.extend_from_slice(&bytes);
            out.extend_from_slice(b"','',$,(#1));\n");
        }
        out
    }

    #[test]
    fn names_of_many_systems_are_readable() {
        for (texts, encoding) in [
            (&["切除-扫描1", "凸台-拉伸1", "圆角2", "包覆1"][..], GBK),
            (&["零件", "装配体"], GBK),
            (&["未知", "任何", "包覆1"], GBK),
            (&["Gehäuse", "Zahnräder", "Lösung 3"], WINDOWS_1252),
            (&["Pièce", "côté gauche"], WINDOWS_1252),
            (&["Деталь", "Сборка", "Вырезать-Вытянуть1"], WINDOWS_1251),
            (&["部品ベース", "カット-押し出し1"], SHIFT_JIS),
            (&["보스-돌출1", "컷-돌출2"], EUC_KR),
            (&["零件", "旋轉填料", "圓角"], BIG5),
        ] {
            let bytes = file(texts, encoding);
            let (text, note) = in_utf8(&bytes);
            let text = std::str::from_utf8(&text).unwrap();
            assert!(note.is_some_and(|n| n.contains(encoding.name())), "{text}");
            assert!(texts.iter().all(|t| text.contains(t)), "{}: {text}", encoding.name());
        }
    }

    #[test]
    fn valid_files_are_unchanged() {
        for text in ["#1=A('plain');", "#1=A('Gehäuse 零件');"] {
            assert!(matches!(in_utf8(text.as_bytes()), (Cow::Borrowed(_), None)), "{text}");
        }
        assert_eq!(&*in_utf8(b"\xef\xbb\xbf#1=A();").0, b"#1=A();");
        let wide: Vec<u8> = "\u{feff}#1=A('ä');".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(&*in_utf8(&wide).0, "#1=A('ä');".as_bytes());
    }

    #[test]
    fn undecodable_bytes_are_escaped() {
        // Contains half a character, next to a valid string.
        let mut bytes = file(&["切除-扫描1", "凸台-拉伸1", "圆角2"], GBK);
        bytes.extend_from_slice("#9=A('旋转\u{e4}');#10=A('".as_bytes());
        bytes.extend_from_slice(b"x\xc7\xff');/* \xff */");
        let (text, note) = in_utf8(&bytes);
        let text = std::str::from_utf8(&text).unwrap();
        assert!(
            text.contains(r"x\\X\\C7\\X\\FF'") && text.contains("旋转ä") && text.contains("切除"),
            "{text}"
        );
        assert!(text.ends_with("/* ? */") && note.unwrap().contains("1 of them"), "{text}");
    }
}
