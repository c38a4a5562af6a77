//! Entities of a file by their ids, with typed access to their attributes.
//!
//! The parsed file is used as written: every error names the entity and the attribute, and nothing is
//! dropped silently. A complex instance (`#1=(A(..)B(..))`) is read by its parts, or flattened to the
//! attribute order of a plain instance if its types form a chain of subtypes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::part21::{Attribute, Graph, Instance, Part};
use crate::reading::Reading;

/// Problem of one entity that prevents its use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bad {
    /// Id of the entity with the problem.
    pub(crate) id: u64,
    /// Description of the problem, and what to do if that is known.
    pub(crate) message: String,
}

/// Result whose error names the entity with the problem.
pub(crate) type Res<T> = Result<T, Bad>;

/// Returns an error about the entity `id`.
pub(crate) fn bad<T>(id: u64, message: impl Into<String>) -> Res<T> {
    Err(Bad { id, message: message.into() })
}

/// All entities of a file, with the options of the user.
#[derive(Debug)]
pub(crate) struct Entities {
    map: BTreeMap<u64, Instance>,
    reading: Reading,
}

impl Entities {
    pub(crate) fn new(graph: Graph, reading: Reading) -> Self {
        Self { map: graph.entities, reading }
    }

    /// Returns whether surface models count as solids.
    pub(crate) fn open_shells(&self) -> bool {
        self.reading.open_shells
    }

    /// Returns whether hidden solids are left out.
    pub(crate) fn skip_hidden(&self) -> bool {
        self.reading.skip_hidden
    }

    /// Returns the length unit in millimetres that the user specified; `None` to use that of the file.
    pub(crate) fn unit(&self) -> Option<f64> {
        self.reading.unit
    }

    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    /// All entities in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Record<'_>> {
        self.map.iter().map(|(id, instance)| Record::of(*id, instance))
    }

    /// Returns the entity `id`, which the entity `by` refers to.
    pub(crate) fn get(&self, id: u64, by: u64) -> Res<Record<'_>> {
        match self.map.get(&id) {
            Some(instance) => Ok(Record::of(id, instance)),
            None => {
                bad(by, format!("refers to #{id}, which the file does not contain; export the file again"))
            }
        }
    }

    /// Like [`Entities::get`], but returns `None` for a missing entity.
    pub(crate) fn find(&self, id: u64) -> Option<Record<'_>> {
        self.map.get(&id).map(|instance| Record::of(id, instance))
    }
}

/// One entity. A plain instance has its attributes in `attrs`, inherited ones first. A complex instance
/// has them there only after flattening; `parts` contains the attributes of each of its types.
#[derive(Clone, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) id: u64,
    /// Type name in upper case; for a complex instance that of its most specific part.
    pub(crate) name: &'a str,
    attrs: Cow<'a, [Attribute]>,
    parts: &'a [Part],
}

/// Rank of a type in the attribute order of a complex instance: supertypes precede their subtypes, leaf
/// types come last.
fn rank(part: &str) -> u32 {
    match part {
        "REPRESENTATION_ITEM" | "PRODUCT_DEFINITION_RELATIONSHIP" | "REPRESENTATION_RELATIONSHIP" => 0,
        "GEOMETRIC_REPRESENTATION_ITEM" | "TOPOLOGICAL_REPRESENTATION_ITEM" | "PRODUCT_DEFINITION_USAGE" => 1,
        "CURVE"
        | "SURFACE"
        | "SOLID_MODEL"
        | "FACE"
        | "EDGE"
        | "VERTEX"
        | "LOOP"
        | "CONNECTED_FACE_SET"
        | "FACE_BOUND"
        | "PATH"
        | "POINT"
        | "ASSEMBLY_COMPONENT_USAGE"
        | "PLACEMENT"
        | "REPRESENTATION" => 2,
        "CONIC"
        | "BOUNDED_CURVE"
        | "ELEMENTARY_SURFACE"
        | "SWEPT_SURFACE"
        | "BOUNDED_SURFACE"
        | "FACE_SURFACE"
        | "MANIFOLD_SOLID_BREP"
        | "SURFACE_CURVE"
        | "SHAPE_REPRESENTATION" => 3,
        "B_SPLINE_CURVE"
        | "B_SPLINE_SURFACE"
        | "TOROIDAL_SURFACE"
        | "BOUNDED_SURFACE_CURVE"
        | "BOUNDED_PCURVE" => 4,
        "FACETED_BREP" => 5,
        "B_SPLINE_CURVE_WITH_KNOTS" | "B_SPLINE_SURFACE_WITH_KNOTS" => 6,
        "RATIONAL_B_SPLINE_CURVE" | "RATIONAL_B_SPLINE_SURFACE" => 7,
        _ => 8,
    }
}

impl<'a> Record<'a> {
    fn of(id: u64, instance: &'a Instance) -> Self {
        match instance {
            Instance::Plain(part) => {
                Self { id, name: &part.name, attrs: Cow::Borrowed(&part.attributes), parts: &[] }
            }
            Instance::Complex(parts) => {
                let name = parts.iter().max_by_key(|p| rank(&p.name)).map_or("", |p| &*p.name);
                Self { id, name, attrs: Cow::Borrowed(&[]), parts }
            }
        }
    }

    /// Returns whether the entity is a plain instance of `kind`, or a complex one with a part of that
    /// type.
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.name == kind || self.parts.iter().any(|p| &*p.name == kind)
    }

    /// Iterates over all type names of the entity.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let own = if self.parts.is_empty() { Some(self.name) } else { None };
        own.into_iter().chain(self.parts.iter().map(|p| &*p.name))
    }

    /// Type names for messages: that of a plain instance, or those of all parts of a complex one.
    pub(crate) fn label(&self) -> String {
        if self.parts.is_empty() {
            return self.name.to_owned();
        }
        let names: Vec<&str> = self.parts.iter().map(|p| &*p.name).collect();
        format!("({})", names.join(" "))
    }

    /// Returns a complex instance with its attributes in the order of a plain one. The order is correct
    /// if the types of the instance form one chain of subtypes.
    pub(crate) fn flattened(self) -> Self {
        if self.parts.is_empty() {
            return self;
        }
        let mut order: Vec<&Part> = self.parts.iter().collect();
        order.sort_by_key(|p| rank(&p.name));
        let attrs: Vec<Attribute> = order.iter().flat_map(|p| p.attributes.iter().cloned()).collect();
        Self { attrs: Cow::Owned(attrs), ..self }
    }

    /// Returns the attributes that `kind` itself declares: those of the part `kind` of a complex
    /// instance, or those after the first `inherited` attributes of a plain instance of that type.
    /// Returns `None` if the entity is not of that type.
    pub(crate) fn own(&self, kind: &str, inherited: usize) -> Option<Record<'a>> {
        if let Some(p) = self.parts.iter().find(|p| &*p.name == kind) {
            return Some(Self {
                id: self.id,
                name: &p.name,
                attrs: Cow::Borrowed(&p.attributes),
                parts: &[],
            });
        }
        let Cow::Borrowed(attrs) = self.attrs else { return None };
        (self.parts.is_empty() && self.name == kind).then(|| Self {
            id: self.id,
            name: self.name,
            attrs: Cow::Borrowed(attrs.get(inherited..).unwrap_or(&[])),
            parts: &[],
        })
    }

    pub(crate) fn n_attrs(&self) -> usize {
        self.attrs.len()
    }

    /// Attribute `i`, without the type name of a typed value. A missing attribute counts as unset.
    fn attr(&self, i: usize) -> &Attribute {
        let mut a = self.attrs.get(i).unwrap_or(&Attribute::Unset);
        while let Attribute::Typed(value) = a {
            a = value;
        }
        a
    }

    fn wrong<T>(&self, what: &str, must: &str) -> Res<T> {
        bad(self.id, format!("{}: {what} must be {must}", self.label()))
    }

    /// Returns whether attribute `i` is given.
    pub(crate) fn has(&self, i: usize) -> bool {
        !matches!(self.attr(i), Attribute::Unset | Attribute::Derived)
    }

    /// Returns attribute `i` as a finite number; `what` is its name in error messages. A number that
    /// overflows is an error.
    pub(crate) fn real(&self, i: usize, what: &str) -> Res<f64> {
        match number(self.attr(i)) {
            Some(x) if x.is_finite() => Ok(x),
            Some(_) => self.wrong(what, "a finite number"),
            None => self.wrong(what, "a number"),
        }
    }

    /// Returns attribute `i` as a whole number, which may be written as a real.
    pub(crate) fn int(&self, i: usize, what: &str) -> Res<i64> {
        match self.attr(i) {
            Attribute::Integer(n) => Ok(*n),
            _ => match number(self.attr(i)) {
                Some(x) if x.fract() == 0.0 && x.abs() < 1e15 => Ok(whole(x)),
                _ => self.wrong(what, "a whole number"),
            },
        }
    }

    /// Returns attribute `i` as a logical value, `.T.` or `.F.`; `None` for anything else (`.U.`,
    /// unset).
    pub(crate) fn logical(&self, i: usize) -> Option<bool> {
        match self.attr(i) {
            Attribute::Enumeration(e) if is_one_of(e, ["T", "TRUE"]) => Some(true),
            Attribute::Enumeration(e) if is_one_of(e, ["F", "FALSE"]) => Some(false),
            _ => None,
        }
    }

    /// Returns attribute `i` as a logical value; anything but `.T.` and `.F.` is an error.
    pub(crate) fn boolean(&self, i: usize, what: &str) -> Res<bool> {
        self.logical(i).map_or_else(|| self.wrong(what, ".T. or .F."), Ok)
    }

    /// Returns attribute `i` as an enumeration value in upper case; `None` if it is not one.
    pub(crate) fn enumeration(&self, i: usize) -> Option<String> {
        match self.attr(i) {
            Attribute::Enumeration(e) => Some(e.to_ascii_uppercase()),
            _ => None,
        }
    }

    /// Returns attribute `i` as a string; empty if unset.
    pub(crate) fn text(&self, i: usize) -> &str {
        match self.attr(i) {
            Attribute::Text(s) => s.trim(),
            _ => "",
        }
    }

    /// Returns attribute `i` as a string for display, without control characters.
    pub(crate) fn name(&self, i: usize) -> String {
        self.text(i).replace(char::is_control, " ").trim().to_owned()
    }

    /// Returns the entity id to which attribute `i` refers.
    pub(crate) fn reference(&self, i: usize, what: &str) -> Res<u64> {
        match self.attr(i) {
            Attribute::Reference(id) => Ok(*id),
            _ => self.wrong(what, "a reference to an entity"),
        }
    }

    /// Like [`Record::reference`], but returns `None` if attribute `i` is not a reference.
    pub(crate) fn maybe_reference(&self, i: usize) -> Option<u64> {
        match self.attr(i) {
            Attribute::Reference(id) => Some(*id),
            _ => None,
        }
    }

    fn list(&self, i: usize, what: &str) -> Res<&[Attribute]> {
        match self.attr(i) {
            Attribute::List(l) => Ok(l),
            // Some writers use $ for an empty list.
            Attribute::Unset => Ok(&[]),
            _ => self.wrong(what, "a list"),
        }
    }

    /// Returns attribute `i` as a list of references.
    pub(crate) fn references(&self, i: usize, what: &str) -> Res<Vec<u64>> {
        self.list(i, what)?.iter().map(|a| self.list_reference(a, what)).collect()
    }

    fn list_reference(&self, a: &Attribute, what: &str) -> Res<u64> {
        match a {
            Attribute::Reference(id) => Ok(*id),
            _ => self.wrong(what, "a list of references to entities"),
        }
    }

    /// Iterates over the references in the list attribute `i`; other values are skipped.
    pub(crate) fn any_references(&self, i: usize) -> impl Iterator<Item = u64> {
        let list: &[Attribute] = match self.attr(i) {
            Attribute::List(l) => l,
            _ => &[],
        };
        list.iter().filter_map(|a| if let Attribute::Reference(id) = a { Some(*id) } else { None })
    }

    /// Returns the finite numbers in the list attribute `i`; other values are skipped (a trimming point
    /// can have both a parameter and a point).
    pub(crate) fn any_numbers(&self, i: usize) -> Vec<f64> {
        match self.attr(i) {
            Attribute::List(l) => l.iter().filter_map(number).filter(|x| x.is_finite()).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns attribute `i` as a list of lists of references.
    pub(crate) fn reference_rows(&self, i: usize, what: &str) -> Res<Vec<Vec<u64>>> {
        let row = |a: &Attribute| match a {
            Attribute::List(l) => l.iter().map(|a| self.list_reference(a, what)).collect(),
            _ => self.wrong(what, "a list of lists"),
        };
        self.list(i, what)?.iter().map(row).collect()
    }

    /// Returns attribute `i` as a list of finite numbers.
    pub(crate) fn reals(&self, i: usize, what: &str) -> Res<Vec<f64>> {
        self.list(i, what)?.iter().map(|a| self.list_real(a, what)).collect()
    }

    fn list_real(&self, a: &Attribute, what: &str) -> Res<f64> {
        match number(a) {
            Some(x) if x.is_finite() => Ok(x),
            _ => self.wrong(what, "a list of finite numbers"),
        }
    }

    /// Returns attribute `i` as a list of lists of finite numbers.
    pub(crate) fn real_rows(&self, i: usize, what: &str) -> Res<Vec<Vec<f64>>> {
        let row = |a: &Attribute| match a {
            Attribute::List(l) => l.iter().map(|a| self.list_real(a, what)).collect(),
            _ => self.wrong(what, "a list of lists"),
        };
        self.list(i, what)?.iter().map(row).collect()
    }
}

fn is_one_of(e: &str, values: [&str; 2]) -> bool {
    values.iter().any(|v| e.eq_ignore_ascii_case(v))
}

#[expect(clippy::cast_possible_truncation, reason = "the caller checks the range")]
fn whole(x: f64) -> i64 {
    x as i64
}

#[expect(clippy::cast_precision_loss, reason = "STEP integers used as reals are small")]
fn number(a: &Attribute) -> Option<f64> {
    match a {
        Attribute::Real(x) => Some(*x),
        Attribute::Integer(n) => Some(*n as f64),
        Attribute::Typed(value) => number(value),
        _ => None,
    }
}
