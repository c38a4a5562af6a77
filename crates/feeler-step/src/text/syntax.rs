//! Files whose sections or header are not as Part 21 wants them: put in order, with a remark on each thing.
//!
//! Only what leaves no doubt about the entities is put right. A file that ends before its data do stays cut off.

/// A statement: up to its semicolon.
struct Statement<'a> {
    text: &'a [u8],
    /// The first word in upper case: a keyword, or what comes before a bracket, an equals sign or a blank.
    word: String,
    /// Whether it ends as it should.
    is_ended: bool,
}

/// Words that are statements of their own.
const MARKS: [&str; 5] = ["ISO-10303-21", "HEADER", "DATA", "ENDSEC", "END-ISO-10303-21"];

/// Entities that a header must have, and what stands for one that is not there.
const HEADER: [(&str, &str); 3] = [
    ("FILE_DESCRIPTION", "FILE_DESCRIPTION((''),'1');"),
    ("FILE_NAME", "FILE_NAME('','',(''),(''),'','','');"),
    ("FILE_SCHEMA", "FILE_SCHEMA((''));"),
];

/// Which section a statement is in.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    Start,
    Header,
    /// After the header: before the data, or in a section of the third edition.
    Between,
    Data,
    After,
}

/// The text in order, and what was wrong with it; none where it is cut off, or nothing is wrong that can be put right.
/// `without_schema`: the schema that it names cannot be read.
pub(crate) fn tidied(text: &[u8], without_schema: bool) -> Option<(Vec<u8>, Vec<String>)> {
    let (mut header, mut between, mut data) = (Vec::new(), Vec::new(), Vec::new());
    let mut has = [false; HEADER.len()];
    let (mut section, mut n_data, mut outside) = (Section::Start, 0_u32, 0_u64);
    let (mut is_whole, mut has_end) = (false, false);
    for s in statements(text) {
        match (s.word.as_str(), section) {
            ("ISO-10303-21", Section::Start) => {}
            ("HEADER", Section::Start) => section = Section::Header,
            ("DATA", _) => {
                n_data += 1;
                (section, is_whole) = (Section::Data, false);
            }
            ("ENDSEC", Section::Data) => (section, is_whole) = (Section::After, true),
            ("ENDSEC", Section::Start | Section::Header) => section = Section::Between,
            ("ENDSEC", Section::Between) => between.extend_from_slice(s.text),
            ("ENDSEC", Section::After) => {}
            ("END-ISO-10303-21", _) => {
                (is_whole, has_end) = (section == Section::Data || is_whole, true);
                break;
            }
            (_, Section::Start | Section::Header)
                if s.word.starts_with("FILE_") || s.word.starts_with("SECTION_") =>
            {
                section = Section::Header;
                let known = HEADER.iter().position(|(name, _)| *name == s.word);
                if without_schema && s.word == "FILE_SCHEMA" {
                    continue;
                }
                if let Some(k) = known {
                    has[k] = true;
                }
                header.extend_from_slice(s.text);
            }
            _ if !s.is_ended => {
                // The rest of a file that was cut off, unless its data are over.
                if section != Section::After {
                    return None;
                }
            }
            (_, Section::After) if s.word.starts_with('#') => {
                outside += 1;
                data.extend_from_slice(s.text);
            }
            // What else follows the data means nothing.
            (_, Section::After) => {}
            (_, Section::Data) => data.extend_from_slice(s.text),
            (_, Section::Header) => header.extend_from_slice(s.text),
            (_, Section::Start | Section::Between) => between.extend_from_slice(s.text),
        }
    }
    if !is_whole || n_data == 0 {
        return None;
    }
    let mut notes = Vec::new();
    let mut out = b"ISO-10303-21;HEADER;".to_vec();
    // The parser wants them in any order.
    for ((name, instead), has) in HEADER.iter().zip(has) {
        if !has {
            let readable = if without_schema && *name == "FILE_SCHEMA" { " that can be read" } else { "" };
            notes.push(format!("the file's header has no {name}{readable}"));
            out.extend_from_slice(instead.as_bytes());
        }
    }
    out.extend_from_slice(&header);
    out.extend_from_slice(b"ENDSEC;");
    out.extend_from_slice(&between);
    out.extend_from_slice(b"DATA;");
    out.extend_from_slice(&data);
    out.extend_from_slice(b"ENDSEC;END-ISO-10303-21;");
    if n_data > 1 {
        notes.push(format!("the file has {n_data} DATA sections; they are read as one"));
    }
    if outside > 0 {
        notes.push(format!(
            "the file has {outside} entities after the end of its data; they are read as well"
        ));
    }
    if !has_end {
        notes.push("the file does not end with END-ISO-10303-21; it may be cut off".to_owned());
    }
    Some((out, notes))
}

/// The statements of a file, each with the blanks and comments before it.
fn statements(text: &[u8]) -> impl Iterator<Item = Statement<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        let begin = skip_blanks(text, start);
        if begin >= text.len() {
            return None;
        }
        let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'#');
        let length = text[begin..].iter().take_while(|b| is_word(b)).count();
        let word = String::from_utf8_lossy(&text[begin..begin + length]).to_ascii_uppercase();
        // Some forget the semicolon after a mark.
        let after = skip_blanks(text, begin + length);
        let is_mark = MARKS.contains(&word.as_str()) && !matches!(text.get(after), Some(b';' | b'('));
        let (end, is_ended) = if is_mark { (begin + length, true) } else { end_of(text, begin) };
        at = end;
        Some(Statement { text: &text[start..end], word, is_ended })
    })
}

/// Behind the next semicolon outside of strings and comments, and whether there is one.
fn end_of(text: &[u8], mut at: usize) -> (usize, bool) {
    while let Some(b) = text.get(at) {
        at = match b {
            b';' => return (at + 1, true),
            b'\'' => match text[at + 1..].iter().position(|b| *b == b'\'') {
                Some(k) => at + 1 + k + 1,
                None => text.len(),
            },
            b'/' if text.get(at + 1) == Some(&b'*') => end_of_comment(text, at),
            _ => at + 1,
        };
    }
    (text.len(), false)
}

fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while let Some(b) = text.get(at) {
        if b.is_ascii_whitespace() || *b == 0 {
            at += 1;
        } else if text[at..].starts_with(b"/*") {
            at = end_of_comment(text, at);
        } else {
            break;
        }
    }
    at
}

fn end_of_comment(text: &[u8], at: usize) -> usize {
    text[at + 2..].windows(2).position(|w| w == b"*/").map_or(text.len(), |k| at + 2 + k + 2)
}

#[cfg(test)]
mod tests {
    use super::tidied;

    const GOOD: &str = "ISO-10303-21;HEADER;FILE_DESCRIPTION((''),'1');FILE_NAME('','',(''),(''),'','','');\
                        FILE_SCHEMA((''));ENDSEC;DATA;#1=A('x;''y');ENDSEC;END-ISO-10303-21;";

    fn put_right(text: &str) -> (String, Vec<String>) {
        let (text, notes) = tidied(text.as_bytes(), false).unwrap();
        (String::from_utf8(text).unwrap(), notes)
    }

    #[test]
    fn what_is_in_order_stays() {
        assert_eq!(put_right(GOOD), (GOOD.to_owned(), vec![]));
    }

    #[test]
    fn sections_are_put_in_order() {
        let cases = [
            (GOOD.replace("END-ISO-10303-21;", ""), "does not end"),
            (GOOD.replace("ENDSEC;END-ISO-10303-21;", "endsec\n"), "does not end"),
            (GOOD.replace("ENDSEC;END", "END"), ""),
            (GOOD.replace("HEADER;", ""), ""),
            (GOOD.replace("HEADER;", "HEADER\n").replace("DATA;", "DATA /* ; */\n"), ""),
            (GOOD.replace("FILE_NAME('','',(''),(''),'','','');", ""), "no FILE_NAME"),
            (GOOD.replace("FILE_SCHEMA((''));", ""), "no FILE_SCHEMA"),
            (GOOD.replace("DATA;", "DATA;ENDSEC;DATA('B',('C'));"), "2 DATA sections"),
        ];
        for (text, says) in cases {
            let (fixed, notes) = put_right(&text);
            assert!(fixed.ends_with("#1=A('x;''y');ENDSEC;END-ISO-10303-21;"), "{text}\n{fixed}");
            assert!(fixed.contains("FILE_NAME(") && fixed.contains("FILE_SCHEMA("), "{fixed}");
            assert!(
                says.is_empty() && notes.is_empty() || notes.len() == 1 && notes[0].contains(says),
                "{notes:?}"
            );
        }
        let (fixed, notes) = put_right(&GOOD.replace("END-ISO", "#2=B();#3=C();END-ISO"));
        assert!(
            fixed.contains("#2=B();#3=C();ENDSEC;") && notes[0].contains("2 entities after"),
            "{notes:?}"
        );
    }

    #[test]
    fn what_is_cut_off_stays_so() {
        for end in 0..GOOD.len() - "NDSEC;END-ISO-10303-21;".len() {
            assert!(tidied(&GOOD.as_bytes()[..end], false).is_none(), "{}", &GOOD[..end]);
        }
    }
}
