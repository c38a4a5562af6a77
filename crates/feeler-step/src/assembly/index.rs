//! Indexes the assembly structure of a file in one pass over its entities: owners of representations,
//! their content, usages of parts and poses.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::motion::Motion;
use super::transform;
use crate::entities::{Entities, Record, Res, bad};
use crate::text::is_step_name;
use crate::topology::is_solid;
use crate::units::{Units, units_of_context};

/// A representation with shape: solids, mapped items or relations to other representations.
#[derive(Debug, Default)]
pub(super) struct Rep {
    pub(super) name: String,
    /// Entity ids of all items of the representation.
    pub(super) items: BTreeSet<u64>,
    pub(super) context: Option<u64>,
    pub(super) solids: Vec<u64>,
    /// Entity ids of its mapped items, which show other representations.
    pub(super) mapped: Vec<u64>,
    /// Product definition whose shape the representation is; `None` if it is not the shape of a product.
    pub(super) part: Option<u64>,
    /// Whether the representation shows a component in its assembly (as the shape of a usage).
    pub(super) is_of_usage: bool,
    /// Shape aspect (a form feature, a datum) whose shape the representation is; `None` if it is not
    /// that of an aspect.
    pub(super) aspect: Option<u64>,
}

/// A relationship of two representations, `rep_1` and `rep_2`.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) id: u64,
    pub(super) rep_1: u64,
    pub(super) rep_2: u64,
    /// Entity id of the transformation from the coordinates of `rep_1` to those of `rep_2`; `None` if
    /// both have the same coordinates.
    pub(super) transformation: Option<u64>,
    /// Whether the relation places a component in an assembly; otherwise it relates two representations
    /// of one part.
    pub(super) placed_by_usage: bool,
}

/// A product definition.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) reps: Vec<u64>,
    /// Names of other files that contain the part's shape according to document references.
    pub(super) files: Vec<String>,
}

/// The usage of a part in another part.
#[derive(Debug)]
pub(super) struct Usage {
    pub(super) id: u64,
    /// Product definition of the part that is used.
    pub(super) part: u64,
    /// Relations that define its pose, from context-dependent shape representations.
    pub(super) placements: Vec<Relation>,
    /// Entity ids of representations that show the component in the assembly.
    pub(super) reps: Vec<u64>,
    /// Entity ids that identify this usage in the file: its own, and those of its context-dependent shape
    /// representations, of their relations and of the parent's representations in them.
    pub(super) route: Vec<u64>,
}

/// Assembly structure of a file, indexed by entity ids.
#[derive(Debug)]
pub(super) struct Index<'a> {
    pub(super) entities: &'a Entities,
    pub(super) reps: BTreeMap<u64, Rep>,
    /// Entity ids of all solids.
    pub(super) solids: Vec<u64>,
    pub(super) parts: BTreeMap<u64, Part>,
    /// Usages by the product definition in which the parts are used.
    pub(super) usages: BTreeMap<u64, Vec<Usage>>,
    /// Relations by the entity id of a representation; each relation is listed under both of its
    /// representations.
    pub(super) relations: BTreeMap<u64, Vec<Relation>>,
    contexts: Vec<u64>,
    units: RefCell<BTreeMap<u64, Res<Units>>>,
}

impl<'a> Index<'a> {
    pub(super) fn new(entities: &'a Entities) -> Self {
        let mut scan = Scan::default();
        for r in entities.iter() {
            scan.entity(entities, &r);
        }
        let Scan {
            mut reps,
            solids,
            mut parts,
            raw_usages,
            mut relations,
            placements,
            shape_of,
            shapes,
            contexts,
            documents,
        } = scan;
        documents.assign(&mut parts);

        // Owners of shapes: product definitions, or usages.
        let mut usage_reps: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (definition, rep) in shapes {
            if let Some(aspect) = aspect_described(entities, definition) {
                reps.entry(rep).or_default().aspect.get_or_insert(aspect);
                continue;
            }
            let Some(owner) = shape_of.get(&definition) else { continue };
            if let Some(part) = parts.get_mut(owner) {
                if !part.reps.contains(&rep) {
                    part.reps.push(rep);
                }
                reps.entry(rep).or_default().part.get_or_insert(*owner);
            } else {
                reps.entry(rep).or_default().is_of_usage = true;
                usage_reps.entry(*owner).or_default().push(rep);
            }
        }
        let mut usage_placements: BTreeMap<u64, Vec<Relation>> = BTreeMap::new();
        let mut usage_routes: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (id, relation_id, shape) in placements {
            let Some(relation) = relations.get_mut(&relation_id) else { continue };
            relation.placed_by_usage = true;
            if let Some(usage) = shape_of.get(&shape) {
                usage_placements.entry(*usage).or_default().push(relation.clone());
                usage_routes.entry(*usage).or_default().extend([id, relation_id]);
            }
        }
        let mut usages: BTreeMap<u64, Vec<Usage>> = BTreeMap::new();
        for (id, relating, related) in raw_usages {
            let placements = usage_placements.remove(&id).unwrap_or_default();
            let mut route = usage_routes.remove(&id).unwrap_or_default();
            let is_of_parent = |r: &u64| reps.get(r).is_some_and(|r| r.part == Some(relating));
            route.extend(placements.iter().flat_map(|p| [p.rep_1, p.rep_2]).filter(is_of_parent));
            route.push(id);
            let reps = usage_reps.remove(&id).unwrap_or_default();
            usages.entry(relating).or_default().push(Usage { id, part: related, placements, reps, route });
        }
        let mut by_rep: BTreeMap<u64, Vec<Relation>> = BTreeMap::new();
        for relation in relations.into_values() {
            by_rep.entry(relation.rep_2).or_default().push(relation.clone());
            if relation.rep_1 != relation.rep_2 {
                by_rep.entry(relation.rep_1).or_default().push(relation);
            }
        }
        Self {
            entities,
            reps,
            solids,
            parts,
            usages,
            relations: by_rep,
            contexts,
            units: RefCell::new(BTreeMap::new()),
        }
    }

    /// Returns the units of the context of a representation, or those of [`Units::of_file`] if it has no
    /// context.
    pub(super) fn units(&self, rep: u64) -> Res<Units> {
        match self.reps.get(&rep).and_then(|r| r.context) {
            Some(context) => self.units_of(context, rep),
            None => Ok(Units::of_file(self.entities)),
        }
    }

    fn units_of(&self, context: u64, by: u64) -> Res<Units> {
        let mut cache = self.units.borrow_mut();
        cache.entry(context).or_insert_with(|| units_of_context(self.entities, context, by)).clone()
    }

    /// Returns the largest uncertainty (mm) of the contexts of representations.
    pub(super) fn uncertainty(&self, reps: &[u64]) -> f64 {
        reps.iter().filter_map(|rep| self.units(*rep).ok()).fold(0.0, |u, units| u.max(units.uncertainty))
    }

    /// Returns the units of the first representation context of the file, or those of [`Units::of_file`]
    /// if it has no context.
    pub(super) fn any_units(&self) -> Res<Units> {
        self.contexts.first().map_or_else(|| Ok(Units::of_file(self.entities)), |c| self.units_of(*c, *c))
    }

    /// Returns the name in the solid's own entity; empty if none exists.
    pub(super) fn solid_name(&self, id: u64) -> String {
        let Some(r) = self.entities.find(id) else { return String::new() };
        let name = r.own("REPRESENTATION_ITEM", 0).map_or_else(|| r.name(0), |p| p.name(0));
        if name.eq_ignore_ascii_case("none") { String::new() } else { name }
    }

    /// Returns the parts that mapped items place in other parts.
    pub(super) fn mapped_parts(&self) -> BTreeSet<u64> {
        let mut out = BTreeSet::new();
        for rep in self.reps.values() {
            for mapped in &rep.mapped {
                let source = self.mapped_source(*mapped);
                let part = source.and_then(|s| self.reps.get(&s)).and_then(|s| s.part);
                // A part does not place itself.
                out.extend(part.filter(|p| Some(*p) != rep.part));
            }
        }
        out
    }

    /// Returns the entity ids of the representations that other ones show: those that mapped items refer
    /// to, and `rep_1` of each relation with a transformation.
    pub(super) fn shown_by_others(&self) -> BTreeSet<u64> {
        let mut out = BTreeSet::new();
        for rep in self.reps.values() {
            out.extend(rep.mapped.iter().filter_map(|m| self.mapped_source(*m)));
        }
        for relation in self.relations.values().flatten() {
            if relation.transformation.is_some() {
                out.insert(relation.rep_1);
            }
        }
        out
    }

    /// Whether a part contains solids or mapped items, uses other parts, or has a representation with
    /// any relation, including one that places the part in an assembly.
    pub(super) fn shows_something(&self, part: u64) -> bool {
        let direct = self.parts.get(&part).is_some_and(|p| {
            p.reps.iter().any(|r| {
                self.reps.get(r).is_some_and(|r| !r.solids.is_empty() || !r.mapped.is_empty())
                    || self.relations.contains_key(r)
            })
        });
        direct || self.usages.contains_key(&part)
    }

    /// Whether this file contains the part's shape: solids, mapped items, other representations of the
    /// part by relations, or usages of other parts. A relation that places the part in an assembly does
    /// not count.
    pub(super) fn has_shape(&self, part: u64) -> bool {
        let own = |r: &u64| {
            let holds = self.reps.get(r).is_some_and(|r| !r.solids.is_empty() || !r.mapped.is_empty());
            let relations = self.relations.get(r).map_or(&[][..], Vec::as_slice);
            holds || relations.iter().any(|r| !r.placed_by_usage)
        };
        self.parts.get(&part).is_some_and(|p| p.reps.iter().any(own)) || self.usages.contains_key(&part)
    }

    pub(super) fn mapped_source(&self, mapped: u64) -> Option<u64> {
        let item = self.entities.find(mapped)?.flattened();
        self.entities.find(item.maybe_reference(1)?)?.maybe_reference(1)
    }

    /// Returns the representation that a mapped item shows, and the motion from its coordinates to those
    /// of `rep`.
    pub(super) fn mapping(&self, mapped: u64, rep: u64) -> Res<(u64, Motion)> {
        let item = self.entities.get(mapped, rep)?.flattened();
        let map_id = item.reference(1, "mapping_source")?;
        let map = self.entities.get(map_id, mapped)?.flattened();
        let source = map.reference(1, "mapped_representation")?;
        let origin = map.reference(0, "mapping_origin")?;
        let target = item.reference(2, "mapping_target")?;
        let (units_from, units_to) = (self.units(source)?, self.units(rep)?);
        let from = transform::placed(self.entities, origin, map_id, units_from, units_from)?;
        let to = transform::placed(self.entities, target, mapped, units_to, units_from)?;
        Ok((source, to * from.inverse()))
    }

    /// Returns the motion from the coordinates of the representation `from`, one of the two of the
    /// relation, to those of the other one.
    pub(super) fn relation_pose(&self, relation: &Relation, from: u64) -> Res<Motion> {
        let Some(id) = relation.transformation else { return Ok(Motion::identity()) };
        let r = self.entities.get(id, relation.id)?.flattened();
        let (units_1, units_2) = (self.units(relation.rep_1)?, self.units(relation.rep_2)?);
        let forward = if r.name == "ITEM_DEFINED_TRANSFORMATION" {
            let (mut item_1, mut item_2) = (r.reference(2, "item_1")?, r.reference(3, "item_2")?);
            let holds = |rep: u64, item: u64| self.reps.get(&rep).is_some_and(|r| r.items.contains(&item));
            let straight = holds(relation.rep_1, item_1) && holds(relation.rep_2, item_2);
            let crossed = holds(relation.rep_1, item_2) && holds(relation.rep_2, item_1);
            if crossed && !straight {
                (item_1, item_2) = (item_2, item_1);
            }
            let from = transform::placed(self.entities, item_1, id, units_1, units_1)?;
            let to = transform::placed(self.entities, item_2, id, units_2, units_1)?;
            to * from.inverse()
        } else if r.name.starts_with("CARTESIAN_TRANSFORMATION_OPERATOR") {
            transform::placed(self.entities, id, relation.id, units_2, units_1)?
        } else {
            return bad(id, format!("is a {}, which is not supported as a transformation", r.label()));
        };
        Ok(if from == relation.rep_1 { forward } else { forward.inverse() })
    }

    /// Returns the pose of `component` in `parent` as defined by the relation of a usage.
    pub(super) fn component_pose(&self, relation: &Relation, parent: u64, component: u64) -> Res<Motion> {
        let owner = |rep: u64| self.reps.get(&rep).and_then(|r| r.part);
        // The representation of the component should be the first one; some writers swap the two.
        let turned = owner(relation.rep_1) == Some(parent) && owner(relation.rep_2) == Some(component);
        self.relation_pose(relation, if turned { relation.rep_2 } else { relation.rep_1 })
    }
}

/// Records collected in one pass over the file.
#[derive(Default)]
struct Scan {
    reps: BTreeMap<u64, Rep>,
    solids: Vec<u64>,
    parts: BTreeMap<u64, Part>,
    raw_usages: Vec<(u64, u64, u64)>,
    relations: BTreeMap<u64, Relation>,
    /// Every context-dependent shape representation with its relation and its product definition shape
    /// (entity ids).
    placements: Vec<(u64, u64, u64)>,
    /// Entity id of the owner of each product definition shape.
    shape_of: BTreeMap<u64, u64>,
    /// Product definition shape and representation (entity ids) of every shape definition
    /// representation.
    shapes: Vec<(u64, u64)>,
    contexts: Vec<u64>,
    documents: Documents,
}

/// References to other files, as the implementor forum's recommended practice writes them.
#[derive(Default)]
struct Documents {
    /// Names stated in the document files themselves, by the id of the document.
    files: BTreeMap<u64, Vec<String>>,
    /// Names stated in external identifications, by the id of the document. They take precedence over
    /// `files`.
    identified: BTreeMap<u64, Vec<String>>,
    /// Pairs of a document and its subject, which is a product definition or a formation of product
    /// definitions.
    about: Vec<(u64, u64)>,
    /// Product definitions by the formations to which they belong.
    by_formation: BTreeMap<u64, Vec<u64>>,
}

impl Documents {
    fn entity(&mut self, entities: &Entities, r: &Record<'_>) {
        if r.is("DOCUMENT_FILE") {
            // The id and the name of the document; a complex instance has them in its supertype.
            let own = r.own("DOCUMENT", 0).unwrap_or_else(|| r.clone());
            add_names(self.files.entry(r.id).or_default(), [own.text(0), own.text(1)]);
            return;
        }
        match r.name {
            "APPLIED_EXTERNAL_IDENTIFICATION_ASSIGNMENT" => {
                // Either the id is the file name and the source is its folder, or the source is the file
                // name.
                let source = r.maybe_reference(2).and_then(|s| entities.find(s));
                let source = source.filter(|s| s.is("EXTERNAL_SOURCE")).map(Record::flattened);
                let (id, source) = (r.text(0).trim(), source.as_ref().map_or("", |s| s.text(0).trim()));
                let in_folder = format!("{}/{id}", source.trim_end_matches(['/', '\\']));
                let is_folder = !source.is_empty() && is_file_name(id) && !is_step_name(source);
                let all = [if is_folder { &in_folder } else { "" }, id, source];
                for item in r.any_references(3) {
                    if entities.find(item).is_some_and(|i| i.is("DOCUMENT_FILE")) {
                        add_names(self.identified.entry(item).or_default(), all);
                    }
                }
            }
            "APPLIED_DOCUMENT_REFERENCE" => {
                if let Some(document) = r.maybe_reference(0) {
                    self.about.extend(r.any_references(2).map(|item| (document, item)));
                }
            }
            "PRODUCT_DEFINITION" | "PRODUCT_DEFINITION_WITH_ASSOCIATED_DOCUMENTS" => {
                if let Some(formation) = r.maybe_reference(2) {
                    self.by_formation.entry(formation).or_default().push(r.id);
                }
                self.about.extend(r.any_references(4).map(|document| (document, r.id)));
            }
            _ => {}
        }
    }

    /// Adds to each part the names of the files that document references state for it; names from
    /// external identifications come first.
    fn assign(&self, parts: &mut BTreeMap<u64, Part>) {
        for (document, item) in &self.about {
            let names = [&self.identified, &self.files].into_iter().filter_map(|n| n.get(document)).flatten();
            let names: Vec<&str> = names.map(String::as_str).collect();
            let one = [*item];
            for id in self.by_formation.get(item).map_or(&one[..], Vec::as_slice) {
                if let Some(part) = parts.get_mut(id) {
                    add_names(&mut part.files, names.iter().copied());
                }
            }
        }
    }
}

/// Appends names of files that are not yet in the list `to`. Entity ids and placeholders are skipped.
fn add_names<'a>(to: &mut Vec<String>, names: impl IntoIterator<Item = &'a str>) {
    for name in names {
        let name = name.trim();
        if is_file_name(name) && !to.iter().any(|n| n == name) {
            to.push(name.to_owned());
        }
    }
}

/// Returns whether a text can be the name of a file; entity ids and placeholders cannot.
fn is_file_name(text: &str) -> bool {
    let is_id = text.strip_prefix('#').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    text.chars().any(char::is_alphanumeric) && !is_id && !text.eq_ignore_ascii_case("none")
}

impl Scan {
    fn entity(&mut self, entities: &Entities, r: &Record<'_>) {
        if is_solid(entities, r) {
            self.solids.push(r.id);
            return;
        }
        if r.is("GLOBAL_UNIT_ASSIGNED_CONTEXT") {
            self.contexts.push(r.id);
            return;
        }
        self.documents.entity(entities, r);
        match r.name {
            "SHAPE_DEFINITION_REPRESENTATION" => {
                let ids = (r.maybe_reference(0), r.maybe_reference(1));
                if let (Some(definition), Some(rep)) = ids {
                    self.shapes.push((definition, rep));
                }
                return;
            }
            "CONTEXT_DEPENDENT_SHAPE_REPRESENTATION" => {
                if let (Some(relation), Some(shape)) = (r.maybe_reference(0), r.maybe_reference(1)) {
                    self.placements.push((r.id, relation, shape));
                }
                return;
            }
            "PRODUCT_DEFINITION_SHAPE" => {
                if let Some(of) = r.maybe_reference(2) {
                    self.shape_of.insert(r.id, of);
                }
                return;
            }
            "PRODUCT_DEFINITION" | "PRODUCT_DEFINITION_WITH_ASSOCIATED_DOCUMENTS" => {
                let name = product_name(entities, r).unwrap_or_default();
                self.parts.insert(r.id, Part { name, reps: Vec::new(), files: Vec::new() });
                return;
            }
            // Thousands of definitional representations hold curves in parameter planes.
            "DEFINITIONAL_REPRESENTATION" | "CARTESIAN_POINT" => return,
            _ => {}
        }
        if r.is("NEXT_ASSEMBLY_USAGE_OCCURRENCE") {
            let flat = r.clone().flattened();
            if let (Some(relating), Some(related)) = (flat.maybe_reference(3), flat.maybe_reference(4)) {
                self.raw_usages.push((r.id, relating, related));
            }
        } else if let Some(relation) = relation(r) {
            self.relations.insert(r.id, relation);
        } else if let Some(rep) = representation(entities, r) {
            self.reps.insert(r.id, rep);
        }
    }
}

/// Returns the entity id of the shape aspect that `definition` is, or that it describes as a property
/// definition. Returns `None` if `definition` describes anything else, such as the shape of a product.
///
/// An entity of another type counts as a shape aspect if its third attribute refers to the shape of a
/// product, as that of every subtype of `SHAPE_ASPECT` does (for form features and datums).
fn aspect_described(entities: &Entities, definition: u64) -> Option<u64> {
    let r = entities.find(definition)?;
    let is_property = r.is("PRODUCT_DEFINITION_SHAPE") || r.is("PROPERTY_DEFINITION");
    let target = if is_property { entities.find(r.flattened().maybe_reference(2)?)? } else { r };
    let of_shape = || {
        let own = target.own("SHAPE_ASPECT", 0).unwrap_or_else(|| target.clone().flattened());
        own.maybe_reference(2).and_then(|shape| entities.find(shape))
    };
    let is_aspect = target.is("SHAPE_ASPECT") || of_shape().is_some_and(|s| s.is("PRODUCT_DEFINITION_SHAPE"));
    is_aspect.then_some(target.id)
}

fn product_name(entities: &Entities, definition: &Record<'_>) -> Option<String> {
    let formation = entities.find(definition.maybe_reference(2)?)?;
    let product = entities.find(formation.maybe_reference(2)?)?;
    let (id, name) = (product.name(0), product.name(1));
    // Slashes separate the steps of a path.
    Some(named(if name.is_empty() { &id } else { &name }))
}

/// Returns a name as a step of a component path. Slashes are replaced, because they separate the steps;
/// writers put "NONE" if no name exists.
fn named(name: &str) -> String {
    if name.eq_ignore_ascii_case("none") { String::new() } else { name.replace('/', "_") }
}

fn relation(r: &Record<'_>) -> Option<Relation> {
    let own = r.own("REPRESENTATION_RELATIONSHIP", 0).or_else(|| {
        let plain = r.name == "SHAPE_REPRESENTATION_RELATIONSHIP"
            || r.name == "REPRESENTATION_RELATIONSHIP_WITH_TRANSFORMATION";
        plain.then(|| r.clone())
    })?;
    let transformation =
        r.own("REPRESENTATION_RELATIONSHIP_WITH_TRANSFORMATION", 4).and_then(|t| t.maybe_reference(0));
    Some(Relation {
        id: r.id,
        rep_1: own.maybe_reference(2)?,
        rep_2: own.maybe_reference(3)?,
        transformation,
        placed_by_usage: false,
    })
}

/// Reads a representation, either a plain record or a part of a complex one. Drawings and views are
/// skipped, because the poses of their items are defined in other representations. `None` if `r` is
/// skipped.
fn representation(entities: &Entities, r: &Record<'_>) -> Option<Rep> {
    if r.kinds()
        .any(|k| k == "DRAUGHTING_MODEL" || k.starts_with("PRESENTATION") || k.contains("_PRESENTATION"))
    {
        return None;
    }
    let own = r.own("REPRESENTATION", 0).or_else(|| r.name.ends_with("REPRESENTATION").then(|| r.clone()))?;
    let context = own.maybe_reference(2)?;
    let mut rep = Rep { name: named(&own.name(0)), context: Some(context), ..Rep::default() };
    for item in own.any_references(1) {
        let first = rep.items.insert(item);
        match entities.find(item) {
            Some(i) if first && is_solid(entities, &i) => rep.solids.push(item),
            Some(i) if first && i.is("MAPPED_ITEM") => rep.mapped.push(item),
            _ => {}
        }
    }
    Some(rep)
}
