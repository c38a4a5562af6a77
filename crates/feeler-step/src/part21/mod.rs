//! The clear text of ISO 10303-21: from characters to entities that refer to each other by number.
//!
//! What the entities mean is of no concern here: names are text, attributes are numbers, texts, references
//! and lists. The reader asks for the sections of the standard and takes what writers make of them where that
//! leaves no doubt about the entities: marks without a semicolon, a header that lacks entities, several DATA
//! sections, entities after their end, no end mark. Each is told. A file that ends before its data do is cut
//! off, and an error.
//!
//! # Why our own
//! The syntax is small. The reader that stood here before knows every entity of the application protocols as
//! well, which was 40 % of the program's build, and stops at the first sign that is out of order, so that a
//! second reader had to put texts in order for it. Others in the registry are bound to schemas of their own
//! (ruststep, truck-stepio) or are not kept up (iso-10303).
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

/// A value in a list of attributes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Attribute {
    Integer(i64),
    Real(f64),
    /// With its escapes decoded.
    Text(String),
    /// Without the dots.
    Enumeration(String),
    /// Bits in hexadecimal digits, which no geometry uses.
    Binary,
    Reference(u64),
    /// `$`, or left blank.
    Unset,
    /// `*`: follows from other attributes.
    Derived,
    List(Vec<Attribute>),
    /// A value with the name of its type.
    Typed(Box<Attribute>),
}

/// A type name in upper case, shared by all entities of that type.
pub(crate) type Name = Rc<str>;

/// One type of a complex instance, with the attributes that it declares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) name: Name,
    pub(crate) attributes: Vec<Attribute>,
}

/// The right side of `#1=…;`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Instance {
    /// `A(…)`.
    Plain(Part),
    /// `(A(…)B(…))`.
    Complex(Vec<Part>),
}

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// Names in `FILE_SCHEMA`, as written.
    pub(crate) schema: Vec<String>,
    /// By their numbers.
    pub(crate) entities: BTreeMap<u64, Instance>,
    /// Numbers that a REFERENCE section leaves to other files.
    pub(crate) external: usize,
    /// What was odd at one place, with its line.
    pub(crate) oddities: Vec<String>,
    /// What is odd about the file as a whole.
    pub(crate) remarks: Vec<String>,
}

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// From 1.
    line: usize,
    /// The entity that it is in.
    entity: Option<u64>,
    what: String,
    /// The text ends where more is needed.
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
