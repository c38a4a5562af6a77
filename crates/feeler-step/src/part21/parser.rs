//! Tokens to entities, section by section.

use super::lexer::{Lexer, Token};
use super::{Attribute, Fault, Graph, Instance, Name, Part, strings};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Lists and typed values may be nested this deep: real ones are in each other three or four times.
const MAX_DEPTH: u32 = 64;
/// Oddities beyond this many are only counted.
const MAX_ODDITIES: usize = 1000;

/// Entities that a header must have.
const HEADER: [&str; 3] = ["FILE_DESCRIPTION", "FILE_NAME", "FILE_SCHEMA"];

/// Parts of the names of entities that act without being referred to.
const ROOTS: [&str; 8] =
    ["REPRESENTATION", "ASSEMBLY", "PRODUCT", "BREP", "SOLID", "SHELL", "SURFACE_MODEL", "DOCUMENT"];

/// Where in the file a statement stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Section {
    /// Before the header has ended.
    Header,
    /// Before the data, or in a section of the third edition.
    Between,
    /// Behind a DATA section.
    After,
}

/// Reads a text, which begins with `ISO-10303-21`.
///
/// # Errors
/// The first place that cannot be read, or that the text ends before its data do.
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
    /// The token that is looked at, and where it begins.
    token: Token<'a>,
    start: usize,
    /// The entity that is being read.
    entity: Option<u64>,
    depth: u32,
    /// One copy of each type name.
    names: HashMap<&'a [u8], Name>,
    /// Entities in the order of the file, with where each begins.
    found: Vec<(u64, usize, Instance)>,
    external: BTreeSet<u64>,
    /// Records that cannot be read, with what is wrong with each.
    bad: Vec<(u64, Fault)>,
    graph: Graph,
    n_oddities: usize,
    /// A place up to which lines were counted, and its line.
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

    /// What is looked at is not what must be there.
    fn unexpected<T>(&self, expected: &str) -> Read<T> {
        let fault = self.fault(format!("{expected} is expected, and {} found", self.token.shown()));
        Err(Fault { at_end: self.token == Token::End, ..fault })
    }

    /// Something odd at the token that is looked at.
    fn odd(&mut self, what: &str) {
        self.n_oddities += 1;
        if self.n_oddities > MAX_ODDITIES {
            return;
        }
        // Lines are counted from the last oddity on, so that many of them cost no more than one.
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

    /// Takes a sign if it is there.
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

    /// All sections up to the end mark.
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
                        // The data are over: what is cut off behind them is not missed.
                        Err(fault) if fault.at_end => break,
                        Err(fault) => return Err(fault),
                    },
                    // What else follows the data means nothing.
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
        let mut tell = |is_so: bool, what: String| {
            if is_so {
                self.graph.remarks.push(what);
            }
        };
        tell(n_data > 1, format!("the file has {n_data} DATA sections; they are read as one"));
        tell(
            outside > 0,
            format!("the file has {outside} entities after the end of its data; they are read as well"),
        );
        tell(!has_end, "the file does not end with END-ISO-10303-21; it may be cut off".to_owned());
        Ok(())
    }

    /// A mark, whose semicolon some forget.
    fn mark(&mut self) -> Read<()> {
        self.advance()?;
        self.take(b';').map(|_| ())
    }

    /// An entity of the header. One that cannot be read is left out: nothing but the schema is used.
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
                    self.odd("an entity of the header has no semicolon");
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

    /// Takes the names of the schema, if they are there.
    fn schema(&mut self, attributes: &[Attribute]) -> bool {
        let Some(Attribute::List(names)) = attributes.first() else { return false };
        let text = |a: &Attribute| if let Attribute::Text(t) = a { Some(t.clone()) } else { None };
        let names: Option<Vec<String>> = names.iter().map(text).collect();
        self.graph.schema = names.clone().unwrap_or_default();
        names.is_some()
    }

    /// ANCHOR, REFERENCE and SIGNATURE: what is in other files is counted, the rest means nothing for the
    /// shape.
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
            // The signature is no text that could be taken apart.
            self.lexer.skip_statement();
            self.advance()?;
        }
        self.mark()
    }

    /// A DATA section; whether it is closed.
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

    /// An entity. Where it cannot be read, once more with single apostrophes as letters of its texts; and
    /// what cannot be read at all is left out, if nothing can need it.
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
            self.odd("an apostrophe in a text is not doubled; it is taken as a letter");
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

    /// Whether an entity that cannot be read may be one that acts without being referred to: assembly
    /// structure, representations and solids.
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

    /// `#1=A(…);` or `#1=(A(…)B(…));`
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
            self.odd("the semicolon is missing");
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

    /// `(a, b, …)`
    fn parameters(&mut self) -> Read<Vec<Attribute>> {
        self.expect(b'(', "'('")?;
        let values = self.values()?;
        self.expect(b')', "',' or ')'")?;
        Ok(values)
    }

    /// What is between brackets.
    fn values(&mut self) -> Read<Vec<Attribute>> {
        let mut values = Vec::new();
        if self.token == Token::Sign(b')') {
            return Ok(values);
        }
        loop {
            if matches!(self.token, Token::Sign(b',' | b')')) {
                self.odd("an attribute is left blank; it counts as not given");
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
                    self.odd("an escape in a text cannot be decoded; it stays as it is written");
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

    /// One level deeper; the depth is bounded, because the stack is.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Read<Attribute>) -> Read<Attribute> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fault(format!("values are nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// Puts the entities in the order of their numbers.
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
            return Err(self.fault(format!("#{id} is there a second time; the first is in line {first}")));
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
                self.graph.oddities.push(format!("{fault}; nothing refers to #{id}, and it is left out"));
            }
        }
        if self.n_oddities > MAX_ODDITIES {
            let more = self.n_oddities - MAX_ODDITIES;
            self.graph.oddities.push(format!("{more} more such oddities"));
        }
        self.graph.external = self.external.len();
        self.graph.entities =
            found.into_iter().map(|(id, _, instance)| (id, instance)).collect::<BTreeMap<_, _>>();
        Ok(self.graph)
    }
}

/// The entities that an instance refers to.
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
