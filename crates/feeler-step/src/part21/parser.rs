//! Parses tokens into entities, section by section.

use super::lexer::{Lexer, Token};
use super::{Attribute, Fault, Graph, Instance, Name, Part, strings};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum nesting depth of lists and typed values; real files nest them three or four times. A larger
/// value may overflow the stack.
const MAX_DEPTH: u32 = 64;
/// Maximum number of remarks on single positions; further ones are only counted.
const MAX_ODDITIES: usize = 1000;

/// Entities that a header must contain.
const HEADER: [&str; 3] = ["FILE_DESCRIPTION", "FILE_NAME", "FILE_SCHEMA"];

/// Substrings of the names of entities that have an effect without a reference to them.
const ROOTS: [&str; 8] =
    ["REPRESENTATION", "ASSEMBLY", "PRODUCT", "BREP", "SOLID", "SHELL", "SURFACE_MODEL", "DOCUMENT"];

/// Position of a statement in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Section {
    /// Before the end of the HEADER section.
    Header,
    /// After the HEADER section and before the first DATA section. ANCHOR, REFERENCE and SIGNATURE
    /// sections (third edition) do not change the position.
    Between,
    /// After at least one DATA section.
    After,
}

/// Parses a text that begins with `ISO-10303-21`.
///
/// # Errors
/// The first syntax error, or that the text ends before its data are complete.
pub(crate) fn read(text: &[u8]) -> Result<Graph, Fault> {
    let mut parser = Parser {
        text,
        lexer: Lexer::new(text),
        token: Token::End,
        start: 0,
        entity: None,
        depth: 0,
        names: HashMap::new(),
        found: Vec::new(),
        external: BTreeSet::new(),
        bad: Vec::new(),
        graph: Graph::default(),
        n_oddities: 0,
        counted: (0, 1),
    };
    parser.advance()?;
    parser.file()?;
    parser.finish()
}

struct Parser<'a> {
    text: &'a [u8],
    lexer: Lexer<'a>,
    /// Current token and its position in the text.
    token: Token<'a>,
    start: usize,
    /// Number of the entity that is being parsed; `None` between entities.
    entity: Option<u64>,
    depth: u32,
    /// Type names by their text, shared by all entities.
    names: HashMap<&'a [u8], Name>,
    /// Entities in the order of the file: number, position and content.
    found: Vec<(u64, usize, Instance)>,
    external: BTreeSet<u64>,
    /// Numbers of records that cannot be parsed, each with its fault.
    bad: Vec<(u64, Fault)>,
    graph: Graph,
    n_oddities: usize,
    /// Position up to which lines were counted, and the line number there.
    counted: (usize, usize),
}

type Read<T> = Result<T, Fault>;

impl<'a> Parser<'a> {
    fn advance(&mut self) -> Read<()> {
        match self.lexer.next() {
            Ok((token, start)) => {
                (self.token, self.start) = (token, start);
                Ok(())
            }
            Err((what, start)) => {
                self.start = start;
                Err(self.fault(what))
            }
        }
    }

    fn fault(&self, what: String) -> Fault {
        let line = 1 + self.text[..self.start].iter().filter(|b| **b == b'\n').count();
        Fault { line, entity: self.entity, what, at_end: false }
    }

    /// Returns the error that the current token is not what is `expected`.
    fn unexpected<T>(&self, expected: &str) -> Read<T> {
        let fault = self.fault(format!("expected {expected}, found {}", self.token.shown()));
        Err(Fault { at_end: self.token == Token::End, ..fault })
    }

    /// Adds a remark about the current token.
    fn odd(&mut self, what: &str) {
        self.n_oddities += 1;
        if self.n_oddities > MAX_ODDITIES {
            return;
        }
        // Lines are counted from the last remark on, so that many remarks cost no more than one.
        let (from, line) = self.counted;
        let (from, line) = if from <= self.start { (from, line) } else { (0, 1) };
        let line = line + self.text[from..self.start].iter().filter(|b| **b == b'\n').count();
        self.counted = (self.start, line);
        let entity = self.entity.map_or_else(String::new, |id| format!("in #{id}, "));
        self.graph.oddities.push(format!("line {line}: {entity}{what}"));
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token, Token::Word(w) if w.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Consumes the sign `sign` if it is the current token, and returns whether it was.
    fn take(&mut self, sign: u8) -> Read<bool> {
        let is_there = self.token == Token::Sign(sign);
        if is_there {
            self.advance()?;
        }
        Ok(is_there)
    }

    fn expect(&mut self, sign: u8, expected: &str) -> Read<()> {
        if self.take(sign)? { Ok(()) } else { self.unexpected(expected) }
    }

    /// Parses all sections up to the end mark.
    fn file(&mut self) -> Read<()> {
        let (mut section, mut n_data, mut outside) = (Section::Header, 0_u32, 0_u64);
        let (mut is_whole, mut has_end) = (false, false);
        let mut has = [false; HEADER.len()];
        loop {
            if self.is_word("END-ISO-10303-21") {
                has_end = true;
                break;
            } else if self.is_word("DATA") {
                n_data += 1;
                is_whole = self.data()?;
                section = Section::After;
            } else if self.is_word("ENDSEC") {
                self.mark()?;
                section = if section == Section::Header { Section::Between } else { section };
            } else if section == Section::After {
                match self.token {
                    Token::End => break,
                    Token::Reference(_) => match self.record() {
                        Ok(()) => outside += 1,
                        // The data are complete: truncation after them is harmless.
                        Err(fault) if fault.at_end => break,
                        Err(fault) => return Err(fault),
                    },
                    // Anything else after the data is ignored.
                    _ => {
                        self.lexer.skip_statement();
                        if self.advance().is_err() {
                            break;
                        }
                    }
                }
            } else if self.is_word("ISO-10303-21") || self.is_word("HEADER") {
                self.mark()?;
            } else if ["ANCHOR", "REFERENCE", "SIGNATURE"].iter().any(|w| self.is_word(w)) {
                self.third_edition()?;
            } else if let (Section::Header, Token::Word(name)) = (section, self.token) {
                self.header_entity(name, &mut has)?;
            } else {
                return self.unexpected(if n_data == 0 { "DATA" } else { "END-ISO-10303-21" });
            }
        }
        if n_data == 0 || !(is_whole || has_end) {
            return self.unexpected(if n_data == 0 { "DATA" } else { "ENDSEC" });
        }
        for (name, _) in HEADER.iter().zip(has).filter(|(_, has)| !has) {
            self.graph.remarks.push(format!("the file's header has no {name} that can be read"));
        }
        let mut remark = |applies: bool, what: String| {
            if applies {
                self.graph.remarks.push(what);
            }
        };
        remark(n_data > 1, format!("the file has {n_data} DATA sections; they are read as one"));
        remark(
            outside > 0,
            format!("the file has {outside} entities after the end of its data; they are read as well"),
        );
        remark(!has_end, "the file does not end with END-ISO-10303-21; it may be truncated".to_owned());
        Ok(())
    }

    /// Parses a mark, whose semicolon some writers omit.
    fn mark(&mut self) -> Read<()> {
        self.advance()?;
        self.take(b';').map(|_| ())
    }

    /// Parses an entity of the header. An unreadable one is skipped, because only the schema is used.
    fn header_entity(&mut self, name: &[u8], has: &mut [bool; HEADER.len()]) -> Read<()> {
        let known = HEADER.iter().position(|h| name.eq_ignore_ascii_case(h.as_bytes()));
        let start = self.start;
        self.advance()?;
        let before = self.lexer.clone();
        match self.parameters() {
            Ok(attributes) => {
                let schema = known == HEADER.iter().position(|h| *h == "FILE_SCHEMA");
                let is_read = !schema || self.schema(&attributes);
                if let Some(k) = known.filter(|_| is_read) {
                    has[k] = true;
                }
                if !self.take(b';')? {
                    if !matches!(self.token, Token::Word(_)) {
                        return self.unexpected("';'");
                    }
                    self.odd("a header entity does not end with a semicolon");
                }
                Ok(())
            }
            Err(_) if known.is_some() => {
                self.depth = 0;
                self.lexer = before.leniently(start);
                let again = self.advance().and_then(|()| self.advance()).and_then(|()| self.parameters());
                let schema = known == HEADER.iter().position(|h| *h == "FILE_SCHEMA");
                if let (Ok(attributes), Some(k)) = (again, known)
                    && self.token == Token::Sign(b';')
                    && (!schema || self.schema(&attributes))
                {
                    has[k] = true;
                    self.odd("an apostrophe in a text of the header is not doubled; it is taken as a letter");
                    self.lexer = before.continued(&self.lexer);
                    return self.advance();
                }
                self.depth = 0;
                self.lexer = before;
                self.lexer.skip_statement();
                self.advance()
            }
            Err(fault) => Err(fault),
        }
    }

    /// Stores the names of the schema, and returns whether they are readable.
    fn schema(&mut self, attributes: &[Attribute]) -> bool {
        let Some(Attribute::List(names)) = attributes.first() else { return false };
        let text = |a: &Attribute| if let Attribute::Text(t) = a { Some(t.clone()) } else { None };
        let names: Option<Vec<String>> = names.iter().map(text).collect();
        self.graph.schema = names.clone().unwrap_or_default();
        names.is_some()
    }

    /// Parses ANCHOR, REFERENCE and SIGNATURE sections. Entities in other files are counted; the rest
    /// does not affect the shape.
    fn third_edition(&mut self) -> Read<()> {
        self.mark()?;
        while !self.is_word("ENDSEC") {
            match self.token {
                Token::End => return self.unexpected("ENDSEC"),
                Token::Reference(id) => {
                    self.external.insert(id);
                }
                _ => {}
            }
            // The signature does not consist of tokens.
            self.lexer.skip_statement();
            self.advance()?;
        }
        self.mark()
    }

    /// Parses a DATA section up to its ENDSEC or to the end mark of the file, and returns `true`. Any
    /// other end of the section is an error.
    fn data(&mut self) -> Read<bool> {
        self.advance()?;
        if self.token == Token::Sign(b'(') {
            self.parameters()?;
        }
        self.take(b';')?;
        while let Token::Reference(_) = self.token {
            self.record()?;
        }
        if self.is_word("ENDSEC") {
            self.mark()?;
            return Ok(true);
        }
        if self.is_word("END-ISO-10303-21") { Ok(true) } else { self.unexpected("an entity or ENDSEC") }
    }

    /// Parses an entity. If that fails, the entity is parsed again with single apostrophes as letters of
    /// its strings. If that fails too, the entity is skipped, unless it may have an effect without a
    /// reference to it.
    fn record(&mut self) -> Read<()> {
        let (start, whole) = (self.start, self.lexer.clone());
        let Err(fault) = self.instance() else { return Ok(()) };
        let Some(id) = self.entity.filter(|_| !fault.at_end) else { return Err(fault) };
        self.depth = 0;
        self.lexer = whole.leniently(start);
        if self.advance().and_then(|()| self.instance()).is_ok() && self.token == Token::End {
            self.lexer = whole.continued(&self.lexer);
            self.advance()?;
            self.entity = Some(id);
            self.odd("an apostrophe in a string is not doubled; it is read as a letter");
            self.entity = None;
            return Ok(());
        }
        self.depth = 0;
        self.lexer = whole.behind_record(start);
        if self.may_be_a_root(start) || self.advance().is_err() || self.token == Token::End {
            return Err(fault);
        }
        self.entity = None;
        self.bad.push((id, fault));
        Ok(())
    }

    /// Returns whether the unreadable entity at `start` may have an effect without a reference to it,
    /// like assembly structure, representations and solids.
    fn may_be_a_root(&self, start: usize) -> bool {
        let text = &self.text[start..];
        let Some(equals) = text.iter().position(|b| *b == b'=') else { return true };
        let rest = text[equals + 1..].trim_ascii_start();
        if rest.starts_with(b"(") {
            return true;
        }
        let word: Vec<u8> =
            rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').copied().collect();
        let word = String::from_utf8_lossy(&word).to_ascii_uppercase();
        ROOTS.iter().any(|root| word.contains(root))
    }

    /// Parses `#1=A(…);` or `#1=(A(…)B(…));`.
    fn instance(&mut self) -> Read<()> {
        let Token::Reference(id) = self.token else { return self.unexpected("an entity") };
        let start = self.start;
        self.entity = Some(id);
        self.advance()?;
        self.expect(b'=', "'='")?;
        let instance = if self.take(b'(')? {
            let mut parts = Vec::new();
            while let Token::Word(_) = self.token {
                parts.push(self.part()?);
            }
            self.expect(b')', "a type or ')'")?;
            Instance::Complex(parts)
        } else {
            Instance::Plain(self.part()?)
        };
        if !self.take(b';')? {
            if !matches!(self.token, Token::Reference(_)) && !self.is_word("ENDSEC") {
                return self.unexpected("';'");
            }
            self.odd("an entity does not end with a semicolon");
        }
        self.entity = None;
        self.found.push((id, start, instance));
        Ok(())
    }

    fn part(&mut self) -> Read<Part> {
        let Token::Word(word) = self.token else { return self.unexpected("a type") };
        self.advance()?;
        let name = self.names.entry(word).or_insert_with(|| {
            let name = String::from_utf8_lossy(word).to_ascii_uppercase();
            Name::from(name)
        });
        let name = Name::clone(name);
        Ok(Part { name, attributes: self.parameters()? })
    }

    /// Parses `(a, b, …)`.
    fn parameters(&mut self) -> Read<Vec<Attribute>> {
        self.expect(b'(', "'('")?;
        let values = self.values()?;
        self.expect(b')', "',' or ')'")?;
        Ok(values)
    }

    /// Parses the values between parentheses.
    fn values(&mut self) -> Read<Vec<Attribute>> {
        let mut values = Vec::new();
        if self.token == Token::Sign(b')') {
            return Ok(values);
        }
        loop {
            if matches!(self.token, Token::Sign(b',' | b')')) {
                self.odd("an attribute is blank; it is read as unset ($)");
                values.push(Attribute::Unset);
            } else {
                values.push(self.value()?);
            }
            if !self.take(b',')? {
                values.shrink_to_fit();
                return Ok(values);
            }
        }
    }

    fn value(&mut self) -> Read<Attribute> {
        let value = match self.token {
            Token::Integer(n) => Attribute::Integer(n),
            Token::Real(x) => Attribute::Real(x),
            Token::Text(raw) => {
                let (text, is_odd) = strings::decoded(raw);
                if is_odd {
                    self.odd("an escape in a string cannot be decoded; it is kept as written");
                }
                Attribute::Text(text)
            }
            Token::Enumeration(name) => Attribute::Enumeration(String::from_utf8_lossy(name).into_owned()),
            Token::Binary => Attribute::Binary,
            Token::Reference(id) => Attribute::Reference(id),
            Token::Sign(b'$') => Attribute::Unset,
            Token::Sign(b'*') => Attribute::Derived,
            Token::Sign(b'(') => {
                return self.deeper(|p| p.parameters().map(Attribute::List));
            }
            Token::Word(_) => {
                self.advance()?;
                return self.deeper(|p| {
                    p.expect(b'(', "'(' and a value of that type")?;
                    let value = p.value()?;
                    p.expect(b')', "')'")?;
                    Ok(Attribute::Typed(Box::new(value)))
                });
            }
            Token::Anchor | Token::Sign(_) | Token::End => return self.unexpected("a value"),
        };
        self.advance()?;
        Ok(value)
    }

    /// Parses a value one nesting level deeper. The depth is limited because the stack is limited.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Read<Attribute>) -> Read<Attribute> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fault(format!("values are nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// Sorts the entities by number; a number with two different definitions is an error.
    fn finish(mut self) -> Read<Graph> {
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|(id, start, _)| (*id, *start));
        let mut repeated = Vec::new();
        found.dedup_by(|again, first| {
            let is_copy = again.0 == first.0 && again.2 == first.2;
            if is_copy {
                repeated.push((again.0, again.1));
            }
            is_copy
        });
        for (id, at) in repeated {
            (self.entity, self.start) = (Some(id), at);
            self.odd("the same entity is there a second time; it is read once");
        }
        self.entity = None;
        if let Some(twice) = found.windows(2).filter(|w| w[0].0 == w[1].0).min_by_key(|w| w[1].1) {
            let (id, first, again) = (twice[0].0, twice[0].1, twice[1].1);
            self.start = first;
            let first = self.fault(String::new()).line;
            self.start = again;
            return Err(
                self.fault(format!("#{id} is defined twice; the first definition is in line {first}"))
            );
        }
        if !self.bad.is_empty() {
            let mut needed = BTreeSet::new();
            found.iter().for_each(|(_, _, instance)| references(instance, &mut needed));
            let is_read: BTreeSet<u64> = found.iter().map(|f| f.0).collect();
            let bad = std::mem::take(&mut self.bad);
            let is_most = bad.len() >= found.len();
            for (id, fault) in bad {
                if is_most || needed.contains(&id) || is_read.contains(&id) {
                    return Err(fault);
                }
                self.graph.oddities.push(format!("{fault}; nothing refers to #{id}, so it is skipped"));
            }
        }
        if self.n_oddities > MAX_ODDITIES {
            let more = self.n_oddities - MAX_ODDITIES;
            self.graph.oddities.push(format!("{more} more remarks of this kind"));
        }
        self.graph.external = self.external.len();
        self.graph.entities =
            found.into_iter().map(|(id, _, instance)| (id, instance)).collect::<BTreeMap<_, _>>();
        Ok(self.graph)
    }
}

/// Adds the numbers of the entities that an instance refers to.
fn references(instance: &Instance, out: &mut BTreeSet<u64>) {
    fn of(value: &Attribute, out: &mut BTreeSet<u64>) {
        match value {
            Attribute::Reference(id) => {
                out.insert(*id);
            }
            Attribute::List(values) => values.iter().for_each(|v| of(v, out)),
            Attribute::Typed(value) => of(value, out),
            _ => {}
        }
    }
    let parts = match instance {
        Instance::Plain(part) => std::slice::from_ref(part),
        Instance::Complex(parts) => parts,
    };
    parts.iter().flat_map(|p| &p.attributes).for_each(|value| of(value, out));
}

#[cfg(test)]
mod tests;
