//! Splits characters into tokens.

/// Token. The content of quotes and brackets is kept as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// Keyword, or a mark such as `END-ISO-10303-21`.
    Word(&'a [u8]),
    Integer(i64),
    Real(f64),
    /// String without its quotes; quotes in it are doubled.
    Text(&'a [u8]),
    /// Enumeration value without its dots.
    Enumeration(&'a [u8]),
    Binary,
    Reference(u64),
    /// Name of an item in another file, in angle brackets.
    Anchor,
    /// One of `( ) , ; = $ *`.
    Sign(u8),
    /// End of the text.
    End,
}

impl Token<'_> {
    /// Describes the token for error messages.
    pub(super) fn shown(&self) -> String {
        const SHOWN: usize = 40;
        let text = |t: &[u8]| String::from_utf8_lossy(t).chars().take(SHOWN).collect::<String>();
        match self {
            Self::Word(w) => text(w),
            Self::Integer(n) => n.to_string(),
            Self::Real(x) => x.to_string(),
            Self::Text(t) => format!("the string '{}'", text(t)),
            Self::Enumeration(e) => format!(".{}.", text(e)),
            Self::Binary => "a binary value".to_owned(),
            Self::Reference(id) => format!("#{id}"),
            Self::Anchor => "a name in <>".to_owned(),
            Self::Sign(s) => format!("'{}'", char::from(*s)),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

/// Marks with hyphens, which other words do not contain.
const MARKS: [&[u8]; 2] = [b"ISO-10303-21", b"END-ISO-10303-21"];

/// Iterates over the tokens of a text.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether single apostrophes within strings are letters: a quote then closes a string only where
    /// the string may end.
    lenient: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, lenient: false }
    }

    /// Returns a lexer of the record that begins at `start`, in which single apostrophes are letters.
    pub(super) fn leniently(&self, start: usize) -> Self {
        Self { text: &self.text[..self.record_end(start)], at: start, lenient: true }
    }

    /// Returns a lexer that continues after the record that begins at `start`, whatever the record
    /// contains.
    pub(super) fn behind_record(&self, start: usize) -> Self {
        Self { at: self.record_end(start), ..self.clone() }
    }

    /// Returns a lexer of the whole text that continues where `part`, a lexer of one record, stopped.
    pub(super) fn continued(&self, part: &Self) -> Self {
        Self { at: part.at, ..self.clone() }
    }

    /// Position after the first semicolon from `start` on that is followed by another record or by the
    /// end of the section. Quotes are ignored.
    fn record_end(&self, start: usize) -> usize {
        let semicolons = (start..self.text.len()).filter(|i| self.text[*i] == b';');
        let begins = |i: &usize| {
            let rest = self.text[i + 1..].trim_ascii_start();
            let name = rest.iter().take_while(|b| is_in_word(b)).count();
            match rest.first() {
                Some(b'#') => {
                    let digits = rest[1..].iter().take_while(|b| b.is_ascii_digit()).count();
                    digits > 0 && rest[1 + digits..].trim_ascii_start().starts_with(b"=")
                }
                _ => {
                    rest.get(..6).is_some_and(|w| w.eq_ignore_ascii_case(b"ENDSEC"))
                        || rest.get(..7).is_some_and(|w| w.eq_ignore_ascii_case(b"END-ISO"))
                        || name > 5
                            && rest.starts_with(b"FILE_")
                            && rest[name..].trim_ascii_start().starts_with(b"(")
                }
            }
        };
        semicolons.into_iter().find(begins).map_or(self.text.len(), |i| i + 1)
    }

    /// Returns the next token and its position, or a message and the position of the fault.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, usize), (String, usize)> {
        self.skip_blanks()?;
        let start = self.at;
        let fault = |what: String| Err((what, start));
        let Some(&first) = self.text.get(start) else { return Ok((Token::End, start)) };
        let token = match first {
            b'(' | b')' | b',' | b';' | b'=' | b'$' | b'*' => {
                self.at += 1;
                Token::Sign(first)
            }
            b'\'' => match self.quoted() {
                Some(text) => Token::Text(text),
                None => return fault("a string has no closing quote".to_owned()),
            },
            b'#' => {
                let digits = self.run(start + 1, u8::is_ascii_digit);
                match number::<u64>(digits) {
                    Some(id) => Token::Reference(id),
                    None => return fault("'#' is not followed by a valid entity number".to_owned()),
                }
            }
            b'"' => {
                self.run(start + 1, u8::is_ascii_hexdigit);
                if self.text.get(self.at) != Some(&b'"') {
                    return fault("a binary value has no closing quote".to_owned());
                }
                self.at += 1;
                Token::Binary
            }
            b'<' => match self.text[start..].iter().position(|b| *b == b'>') {
                Some(end) => {
                    self.at += end + 1;
                    Token::Anchor
                }
                None => return fault("'<' has no closing '>'".to_owned()),
            },
            b'.' if !self.text.get(start + 1).is_some_and(u8::is_ascii_digit) => {
                let name = self.run(start + 1, is_in_word);
                if name.is_empty() || self.text.get(self.at) != Some(&b'.') {
                    return fault("'.' begins neither a number nor an enumeration".to_owned());
                }
                self.at += 1;
                Token::Enumeration(name)
            }
            b'+' | b'-' | b'.' | b'0'..=b'9' => match self.number() {
                Some(token) => token,
                None => return fault(format!("'{}' does not begin a number", char::from(first))),
            },
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'!' => Token::Word(self.word()),
            other => {
                let shown = self.text[start..].utf8_chunks().next().and_then(|c| c.valid().chars().next());
                return fault(match shown {
                    Some(c) if !c.is_control() => format!("unexpected character '{c}'"),
                    _ => format!("unexpected byte {other}"),
                });
            }
        };
        Ok((token, start))
    }

    /// Moves behind the next semicolon outside strings and comments, or to the end.
    pub(super) fn skip_statement(&mut self) {
        while let Some(b) = self.text.get(self.at) {
            match b {
                b';' => {
                    self.at += 1;
                    return;
                }
                b'\'' if self.quoted().is_some() => {}
                b'/' if self.skip_blanks().is_err() => self.at = self.text.len(),
                b'/' if self.text.get(self.at) != Some(&b'/') => {}
                _ => self.at += 1,
            }
        }
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) -> Result<(), (String, usize)> {
        while let Some(b) = self.text.get(self.at) {
            if b.is_ascii_whitespace() || *b == 0 {
                self.at += 1;
            } else if self.text[self.at..].starts_with(b"/*") {
                let body = self.at + 2;
                match self.text[body..].windows(2).position(|w| w == b"*/") {
                    Some(end) => self.at = body + end + 2,
                    None => return Err(("a comment is not closed".to_owned(), self.at)),
                }
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Returns the text between the quote at the current position and the closing one, and moves behind
    /// the closing one; `None` if the string is not closed.
    fn quoted(&mut self) -> Option<&'a [u8]> {
        let start = self.at + 1;
        let mut end = start;
        loop {
            end += self.text.get(end..)?.iter().position(|b| *b == b'\'')?;
            let is_doubled = self.text.get(end + 1) == Some(&b'\'');
            if self.is_directive(start, end) {
                end += 1;
            } else if is_doubled && !(self.lenient && self.may_end_text(end + 1)) {
                end += 2;
            } else if self.lenient && !self.may_end_text(end) {
                end += 1;
            } else {
                self.at = end + 1;
                return Some(&self.text[start..end]);
            }
        }
    }

    /// Returns whether the quote at `end` belongs to the directive `\S\'` (section sign). A quote at which
    /// the string may end closes it, because paths can end with backslashes.
    fn is_directive(&self, start: usize, end: usize) -> bool {
        let before = &self.text[start..end];
        let Some(rest) = before.strip_suffix(b"\\S\\") else { return false };
        let is_escaped = rest.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1;
        !is_escaped && !self.may_end_text(end)
    }

    /// Returns whether a list of values can continue after the quote at `at`.
    fn may_end_text(&self, at: usize) -> bool {
        let rest = self.text[at + 1..].trim_ascii_start();
        rest.is_empty() || matches!(rest[0], b',' | b')') || rest.starts_with(b"/*")
    }

    /// Returns the bytes from `start` on that satisfy a predicate, and moves behind them.
    fn run(&mut self, start: usize, is_of_kind: impl Fn(&u8) -> bool) -> &'a [u8] {
        let length = self.text[start..].iter().take_while(|b| is_of_kind(b)).count();
        self.at = start + length;
        &self.text[start..self.at]
    }

    fn word(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let is_mark = |m: &&[u8]| rest.get(..m.len()).is_some_and(|r| r.eq_ignore_ascii_case(m));
        if let Some(mark) = MARKS.iter().find(|m| is_mark(m)) {
            self.at += mark.len();
            return &rest[..mark.len()];
        }
        self.run(self.at + 1, is_in_word);
        &rest[..rest.len() - (self.text.len() - self.at)]
    }

    /// Reads a number: a sign, digits, and for a real a point with more digits and an exponent. The
    /// point before an exponent and the digits before the point may be missing.
    fn number(&mut self) -> Option<Token<'a>> {
        let start = self.at;
        let sign = usize::from(matches!(self.text[start], b'+' | b'-'));
        let whole = self.run(start + sign, u8::is_ascii_digit).len();
        let (mut is_real, mut fraction) = (false, 0);
        if self.text.get(self.at) == Some(&b'.') {
            is_real = true;
            fraction = self.run(self.at + 1, u8::is_ascii_digit).len();
        }
        if whole + fraction == 0 {
            self.at = start;
            return None;
        }
        if matches!(self.text.get(self.at), Some(b'E' | b'e')) {
            let end = self.at;
            let signed = usize::from(matches!(self.text.get(end + 1), Some(b'+' | b'-')));
            if self.text.len() > end + 1 + signed
                && !self.run(end + 1 + signed, u8::is_ascii_digit).is_empty()
            {
                is_real = true;
            } else {
                self.at = end;
            }
        }
        let digits = &self.text[start..self.at];
        if !is_real && let Some(n) = number::<i64>(digits) {
            return Some(Token::Integer(n));
        }
        // Whole numbers that do not fit are read as reals.
        number::<f64>(digits).map(Token::Real)
    }
}

fn is_in_word(b: &u8) -> bool {
    b.is_ascii_alphanumeric() || *b == b'_'
}

fn number<T: std::str::FromStr>(digits: &[u8]) -> Option<T> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
