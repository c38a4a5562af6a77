//! Parses the clear text encoding of ISO 10303-21: from characters to entities that refer to each other
//! by number.
//!
//! The parser does not interpret entities: names are text, attributes are numbers, strings, references
//! and lists. It expects the sections of the standard and tolerates deviations that leave no doubt about
//! the entities: marks without a semicolon, a header that lacks entities, several DATA sections, entities
//! after their end, a missing end mark. Each deviation is reported. A file that ends before its data are
//! complete is truncated, which is an error.
//!
//! # Why a custom parser
//! The syntax is small. The parser used previously knew every entity of the application protocols, which
//! took 40 % of the build time of the program, and it stopped at the first irregularity, so that a second
//! parser had to correct texts for it. Other parsers in the registry are bound to their own schemas
//! (ruststep, truck-stepio) or are not maintained (iso-10303).
//!
//! # Source
//! ISO 10303-21:2016, §5 to §12.

mod lexer;
mod parser;
mod schema;
mod strings;

pub(crate) use parser::read;
pub(crate) use schema::is_known;

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// Value in a list of attributes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Attribute {
    Integer(i64),
    Real(f64),
    /// String with its escapes decoded.
    Text(String),
    /// Enumeration value without the dots.
    Enumeration(String),
    /// Binary value, which no geometry uses.
    Binary,
    Reference(u64),
    /// `$`, or an empty value.
    Unset,
    /// `*`: derived from other attributes.
    Derived,
    List(Vec<Attribute>),
    /// Value that is written with the name of its type, such as `LENGTH_MEASURE(1.)`; the name is not
    /// stored.
    Typed(Box<Attribute>),
}

/// Type name in upper case, shared by all entities of that type.
pub(crate) type Name = Rc<str>;

/// One type of a complex instance, with the attributes that it declares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) name: Name,
    pub(crate) attributes: Vec<Attribute>,
}

/// Right side of `#1=…;`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Instance {
    /// `A(…)`.
    Plain(Part),
    /// `(A(…)B(…))`.
    Complex(Vec<Part>),
}

/// Content of a file.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// Names in `FILE_SCHEMA`, as written.
    pub(crate) schema: Vec<String>,
    /// Entities by their numbers (`#123`).
    pub(crate) entities: BTreeMap<u64, Instance>,
    /// Number of entity numbers that a REFERENCE section assigns to other files.
    pub(crate) external: usize,
    /// Remarks on irregular positions of the file, with line numbers.
    pub(crate) oddities: Vec<String>,
    /// Remarks on the file as a whole.
    pub(crate) remarks: Vec<String>,
}

/// Reason why a text cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Line number of the fault, starting at 1.
    line: usize,
    /// Number of the entity that contains the fault; `None` outside the entities.
    entity: Option<u64>,
    what: String,
    /// Whether the text ends at the fault although more is expected.
    pub(crate) at_end: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if let Some(id) = self.entity {
            write!(f, "in #{id}, ")?;
        }
        f.write_str(&self.what)
    }
}
