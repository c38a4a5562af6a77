//! Finds the representations of a file, their units, and their poses in the assembly tree.
//!
//! A product definition owns representations. Their content consists of solids, mapped items and other
//! representations, in the same or in other coordinates. Usages (`NEXT_ASSEMBLY_USAGE_OCCURRENCE`) place
//! other product definitions in it. Every path from a root to a solid is one instance.
//!
//! # Source
//! ISO 10303-41, -43, -44; the implementor forum's recommended practice for assemblies.

mod hidden;
mod index;
mod motion;
#[cfg(test)]
mod tests;
mod transform;

use std::collections::{BTreeMap, BTreeSet};

use crate::entities::{Entities, Res};
use crate::error::Problem;
use crate::topology::{exact_counterpart, is_tessellated};
use crate::units::Units;
use feeler_brep::Severity;
use hidden::{Hidden, HiddenInstances, Treatment};
use index::{Index, Relation, Usage};
pub(crate) use motion::{Motion, mirrored};

/// Maximum number of instances; more are assumed to be an error of the file. A larger value takes more
/// memory for such files; a smaller one cuts off large assemblies.
pub(crate) const MAX_INSTANCES: usize = 100_000;
/// Maximum nesting depth of assemblies; deeper ones are assumed to be an error of the file. A larger
/// value may overflow the stack.
const MAX_LEVELS: usize = 64;

/// Maximum number of steps through the assembly tree; more are assumed to be an error of the file,
/// because a few entities can describe any number of steps. A larger value takes more time for such
/// files.
const MAX_STEPS: usize = 1_000_000;

/// Maximum difference of two equal poses that different entities define: the distance of the positions
/// relative to their distance from the origin, and the angle (rad) of the rotations. Writers round both.
/// A larger value drops instances beside others; a smaller one places a component twice.
const SAME_POSE: f64 = 1e-6;
/// Minimum of the tolerance (mm) for equal positions, for positions near the origin. The reasons against
/// larger and smaller values are those of [`SAME_POSE`].
const MIN_SAME_POSITION: f64 = 1e-9;
/// Maximum of the tolerance (mm) for equal positions, for positions far from the origin and files with a
/// large uncertainty. The reasons against larger and smaller values are those of [`SAME_POSE`].
const MAX_SAME_POSITION: f64 = 1e-3;

/// One instance of a solid.
#[derive(Debug)]
pub(crate) struct Placed {
    /// Entity id of the solid.
    pub(crate) solid: u64,
    pub(crate) name: String,
    pub(crate) path: String,
    /// Motion, possibly with a reflection, from the solid's coordinates to the coordinates of the file.
    pub(crate) motion: Motion,
    /// Index of the innermost component that contains the instance; `None` outside all components.
    pub(crate) component: Option<usize>,
}

/// One instance of a product.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    /// Name of the product, numbered if the parent uses the product several times.
    pub(crate) name: String,
    /// Entity id of the product's usage, or of the product definition at a root.
    pub(crate) id: u64,
    /// Index of the parent component, which is smaller than the component's own index; `None` at a root.
    pub(crate) parent: Option<usize>,
    /// Motion, possibly with a reflection, from the component's coordinates to those of the parent component.
    pub(crate) local: Motion,
}

/// A product whose shape is in another file.
#[derive(Debug)]
pub(crate) struct External {
    /// Candidate names of the other file, as written.
    pub(crate) files: Vec<String>,
    /// Entity id of the product definition.
    pub(crate) id: u64,
    /// Index of the component whose shape is in the other file.
    pub(crate) component: usize,
    pub(crate) path: String,
    /// Motion, possibly with a reflection, from the component's coordinates to the coordinates of this file.
    pub(crate) motion: Motion,
}

/// All solids of a file and their poses.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Solids by entity id, with the units of their representation, or the reason why the units are not
    /// known.
    pub(crate) solids: BTreeMap<u64, Res<Units>>,
    pub(crate) instances: Vec<Placed>,
    pub(crate) components: Vec<Component>,
    pub(crate) externals: Vec<External>,
}

/// Finds the solids of a file and their poses. Remarks are appended to `problems`.
pub(crate) fn layout(entities: &Entities, problems: &mut Vec<Problem>) -> Layout {
    let mut index = Index::new(entities);
    leave_out_display_meshes(&mut index, problems);
    let mut hidden = Hidden::new(entities);
    hidden.leave_out_items(&mut index, problems);
    let mut solids = solid_units(&index, problems);
    leave_out_aspects(&index, &mut solids, problems);
    let treatment = if entities.skip_hidden() { Treatment::LeaveOut } else { Treatment::Read };
    let mut walk = Walk::new(&index, &hidden, treatment);
    walk.all(&solids);
    if walk.hides_everything() {
        walk = Walk::new(&index, &hidden, Treatment::ReadAll);
        walk.all(&solids);
    }
    problems.append(&mut walk.problems);
    let placed: BTreeSet<u64> = walk.instances.iter().map(|i| i.solid).collect();
    solids.retain(|s, _| placed.contains(s) || !walk.left_out.contains(s));
    Layout { solids, instances: walk.instances, components: walk.components, externals: walk.externals }
}

/// Removes tessellated solids that are display meshes of an exact solid: those that refer to an exact
/// one, and those of a part that has an exact solid.
fn leave_out_display_meshes(index: &mut Index<'_>, problems: &mut Vec<Problem>) {
    let entities = index.entities;
    let is_mesh = |id: u64| entities.find(id).is_some_and(|r| is_tessellated(entities, &r));
    let meshes: Vec<u64> = index.solids.iter().copied().filter(|s| is_mesh(*s)).collect();
    if meshes.is_empty() {
        return;
    }
    // Owner of a representation: its part (`true`), or the representation itself if it has no part
    // (`false`).
    let owner = |id: &u64| index.reps[id].part.map_or((false, *id), |part| (true, part));
    let mut exact_of: BTreeMap<(bool, u64), u64> = BTreeMap::new();
    for (id, rep) in &index.reps {
        for exact in rep.solids.iter().filter(|s| meshes.binary_search(s).is_err()) {
            exact_of.entry(owner(id)).or_insert(*exact);
            // A part also owns the representations that are related to its own without a placement.
            for relation in index.relations.get(id).map_or(&[][..], Vec::as_slice) {
                let other = relation.other(*id);
                if !relation.placed_by_usage && index.reps.contains_key(&other) {
                    exact_of.entry(owner(&other)).or_insert(*exact);
                }
            }
        }
    }
    let mut dropped: BTreeMap<u64, String> = BTreeMap::new();
    for mesh in &meshes {
        let record = entities.find(*mesh);
        if let Some(exact) = record.and_then(|r| exact_counterpart(entities, &r)) {
            dropped.insert(*mesh, format!("is a tessellation of #{exact}; the exact shape is read instead"));
        }
    }
    for (id, rep) in &index.reps {
        for mesh in rep.solids.iter().filter(|s| meshes.binary_search(s).is_ok()) {
            if let Some(exact) = exact_of.get(&owner(id)) {
                dropped.entry(*mesh).or_insert_with(|| {
                    format!(
                        "is a tessellated solid of a part that has the exact solid #{exact}; it is taken for \
                        its display mesh and left out"
                    )
                });
            }
        }
    }
    // If the file has no exact solid, the tessellated ones are kept.
    if index.solids.len() == meshes.len() {
        return;
    }
    index.solids.retain(|s| !dropped.contains_key(s));
    for rep in index.reps.values_mut() {
        rep.solids.retain(|s| !dropped.contains_key(s));
    }
    let severity = |message: &str| {
        if message.contains("taken for") { Severity::Warning } else { Severity::Note }
    };
    problems.extend(dropped.into_iter().map(|(id, text)| Problem::new(Some(id), severity(&text), text)));
}

/// Removes solids that are only shapes of shape aspects, because a form feature (the plug of a hole) is
/// not a part. They are kept if the file has no other solid.
fn leave_out_aspects(index: &Index<'_>, solids: &mut BTreeMap<u64, Res<Units>>, problems: &mut Vec<Problem>) {
    let mut aspect_of: BTreeMap<u64, u64> = BTreeMap::new();
    let mut of_parts: BTreeSet<u64> = BTreeSet::new();
    for rep in index.reps.values() {
        match (rep.aspect, rep.part) {
            (Some(aspect), None) => rep.solids.iter().for_each(|s| {
                aspect_of.entry(*s).or_insert(aspect);
            }),
            _ => of_parts.extend(&rep.solids),
        }
    }
    aspect_of.retain(|solid, _| !of_parts.contains(solid));
    if aspect_of.is_empty() || aspect_of.len() == solids.len() {
        return;
    }
    solids.retain(|solid, _| !aspect_of.contains_key(solid));
    for (solid, aspect) in aspect_of {
        let message = format!(
            "is the shape of the form feature #{aspect} (a SHAPE_ASPECT), not a part; it is left out"
        );
        problems.push(Problem::new(Some(solid), Severity::Note, message));
    }
}

/// Returns the units of each solid, which are those of the first representation that contains it.
fn solid_units(index: &Index<'_>, problems: &mut Vec<Problem>) -> BTreeMap<u64, Res<Units>> {
    let mut units: BTreeMap<u64, Res<Units>> = BTreeMap::new();
    let mut unitless = BTreeSet::new();
    for (rep_id, rep) in &index.reps {
        for solid in &rep.solids {
            let here = index.units(*rep_id);
            if matches!(here, Ok(u) if !u.has_length) {
                unitless.insert(*rep_id);
            }
            match (units.get(solid), &here) {
                (None, _) => {
                    units.insert(*solid, here);
                }
                (Some(Ok(first)), Ok(other)) if !same_size(first, other) => problems.push(Problem::new(
                    Some(*solid),
                    Severity::Warning,
                    format!(
                        "is in two representations with different units; it is taken as one of {} mm",
                        first.mm
                    ),
                )),
                _ => {}
            }
        }
    }
    for solid in &index.solids {
        units.entry(*solid).or_insert_with(|| {
            problems.push(Problem::new(
                Some(*solid),
                Severity::Warning,
                "is a solid outside every representation; it is taken in the file's first units".to_owned(),
            ));
            index.any_units()
        });
    }
    problems.extend(unitless.into_iter().map(|id| {
        Problem::new(
            Some(id),
            Severity::Warning,
            "is a representation without a length unit; millimetres are assumed".to_owned(),
        )
    }));
    units
}

fn same_size(a: &Units, b: &Units) -> bool {
    (a.mm - b.mm).abs() <= 1e-9 * a.mm && (a.rad - b.rad).abs() <= 1e-9 * a.rad
}

/// State and results of the traversal of the product tree.
struct Walk<'a> {
    index: &'a Index<'a>,
    hidden: &'a Hidden,
    treatment: Treatment,
    problems: Vec<Problem>,
    instances: Vec<Placed>,
    components: Vec<Component>,
    externals: Vec<External>,
    /// Index of the component being traversed.
    here: Option<usize>,
    /// Solids of which at least one instance was skipped; they do not count as solids without a product.
    refused: BTreeSet<u64>,
    overflow: bool,
    steps: usize,
    /// Product definitions from the root to the current one.
    stack: Vec<u64>,
    /// Entities from the root to the current one that [`Hidden`] mentions.
    route: Vec<u64>,
    hidden_instances: HiddenInstances,
    /// Solids of which at least one hidden instance was left out.
    left_out: BTreeSet<u64>,
    /// Product definitions that have been placed so far.
    placed_parts: BTreeSet<u64>,
    /// Product definitions that have been placed when the products are finished. The representations
    /// without a product, which follow, must not place them again. Empty before and after.
    already: BTreeSet<u64>,
}

/// Items that the usages of a product place, with poses in the coordinates of the product; the product's
/// own content must not place them again.
#[derive(Debug, Default)]
struct Elsewhere(Vec<(Item, Motion)>);

impl Elsewhere {
    fn has(&self, item: Item, pose: &Motion, uncertainty: f64) -> bool {
        self.0.iter().any(|(i, m)| *i == item && same_pose(m, pose, uncertainty))
    }
}

/// A solid in the content of a product definition, or a product definition that a mapped item places there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Solid(u64),
    Part(u64),
}

/// An item in the content of a representation.
#[derive(Debug)]
struct Found {
    item: Item,
    pose: Motion,
    /// Entities from the representation to the item that [`Hidden`] mentions.
    route: Vec<u64>,
}

/// Content of representations.
#[derive(Debug)]
struct Contents<'a> {
    hidden: &'a Hidden,
    found: Vec<Found>,
    /// Entities to the current representation that `hidden` mentions.
    route: Vec<u64>,
}

impl Contents<'_> {
    /// Adds an entity to the route and returns the previous length of the route.
    fn enter(&mut self, id: u64) -> usize {
        let before = self.route.len();
        if self.hidden.mentions(id) {
            self.route.push(id);
        }
        before
    }

    fn push(&mut self, item: Item, pose: Motion) {
        self.found.push(Found { item, pose, route: self.route.clone() });
    }
}

impl<'a> Walk<'a> {
    fn new(index: &'a Index<'a>, hidden: &'a Hidden, treatment: Treatment) -> Self {
        Self {
            index,
            hidden,
            treatment,
            problems: Vec::new(),
            instances: Vec::new(),
            components: Vec::new(),
            externals: Vec::new(),
            here: None,
            refused: BTreeSet::new(),
            overflow: false,
            steps: 0,
            stack: Vec::new(),
            route: Vec::new(),
            hidden_instances: HiddenInstances::default(),
            left_out: BTreeSet::new(),
            placed_parts: BTreeSet::new(),
            already: BTreeSet::new(),
        }
    }

    /// Returns whether no instance is left because hidden ones are left out.
    fn hides_everything(&self) -> bool {
        !self.left_out.is_empty() && self.instances.is_empty() && self.externals.is_empty()
    }

    /// Counts an instance that consists of the entities `ends` if it is hidden. Returns whether it must
    /// be left out.
    fn leaves_out(&mut self, ends: &[u64]) -> bool {
        let Some(by) = self.hidden.hides(&self.route, ends) else { return false };
        self.hidden_instances.count(by);
        self.treatment == Treatment::LeaveOut
    }

    /// Runs `f` with the entities `ids` on the route.
    fn along(&mut self, ids: &[u64], f: impl FnOnce(&mut Self)) {
        let before = self.route.len();
        let hidden = self.hidden;
        self.route.extend(ids.iter().copied().filter(|id| hidden.mentions(*id)));
        f(self);
        self.route.truncate(before);
    }

    fn problem(&mut self, id: u64, severity: Severity, message: impl Into<String>) {
        let problem = Problem::new(Some(id), severity, message);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Counts a step through the tree; returns `false` if the maximum number of steps is exceeded.
    fn step(&mut self) -> bool {
        self.steps += 1;
        self.overflow |= self.steps > MAX_STEPS;
        !self.overflow
    }

    fn all(&mut self, solids: &BTreeMap<u64, Res<Units>>) {
        let index = self.index;
        // Roots are parts that no usage or mapped item places.
        let mut placed: BTreeSet<u64> = index.usages.values().flatten().map(|u| u.part).collect();
        placed.extend(index.mapped_parts());
        for part in index.parts.keys().filter(|p| !placed.contains(p)) {
            let name = &index.parts[part].name;
            self.within(name, *part, Motion::identity(), |walk| walk.part(*part, Motion::identity(), name));
        }
        // Geometry without a product: representations that no other representation shows.
        let done: BTreeSet<u64> =
            self.instances.iter().map(|i| i.solid).chain(self.refused.iter().copied()).collect();
        let shown = index.shown_by_others();
        self.already = std::mem::take(&mut self.placed_parts);
        for (rep_id, rep) in &index.reps {
            let owned = rep.part.is_some() || rep.is_of_usage || rep.aspect.is_some();
            let loose = !owned && !shown.contains(rep_id);
            let holds = !rep.mapped.is_empty() || rep.solids.iter().any(|s| !done.contains(s));
            if loose && holds {
                self.place_content(
                    &[*rep_id],
                    &Motion::identity(),
                    &rep.name,
                    &rep.name,
                    &Elsewhere::default(),
                    Some(&done),
                );
            }
        }
        self.already.clear();
        // The remaining solids are used by no representation, or only in cycles.
        let done: BTreeSet<u64> =
            self.instances.iter().map(|i| i.solid).chain(self.refused.iter().copied()).collect();
        for id in solids.keys().filter(|s| !done.contains(s)) {
            self.problem(
                *id,
                Severity::Warning,
                "is a solid that nothing places; it stays where it is written",
            );
            self.push(*id, Motion::identity(), self.index.solid_name(*id), self.index.solid_name(*id));
        }
        self.problems.extend(self.hidden_instances.report(self.treatment));
        if self.overflow {
            let message =
                format!("the assembly has more than {MAX_INSTANCES} instances; the rest is left out");
            self.problems.push(Problem::new(None, Severity::Error, message));
        }
    }

    /// Adds an instance of a solid, unless it is hidden and left out.
    fn push(&mut self, solid: u64, pose: Motion, name: String, path: String) {
        if self.leaves_out(&[solid]) {
            self.refused.insert(solid);
            self.left_out.insert(solid);
            return;
        }
        if self.instances.len() >= MAX_INSTANCES {
            self.overflow = true;
            return;
        }
        self.instances.push(Placed { solid, name, path, motion: pose, component: self.here });
    }

    /// Runs `f` inside a new component, which is kept only if `f` adds an instance or an external part
    /// to it.
    fn within(&mut self, name: &str, id: u64, local: Motion, f: impl FnOnce(&mut Self)) {
        let before = (self.components.len(), self.instances.len(), self.externals.len());
        let outside = self.here.replace(before.0);
        self.components.push(Component { name: name.to_owned(), id, parent: outside, local });
        f(self);
        self.here = outside;
        if (self.instances.len(), self.externals.len()) == (before.1, before.2) {
            self.components.truncate(before.0);
        }
    }

    /// Places a part at `pose`: its own content, then the parts that it uses.
    fn part(&mut self, id: u64, pose: Motion, path: &str) {
        if self.stack.contains(&id) || self.stack.len() >= MAX_LEVELS {
            self.problem(
                id,
                Severity::Error,
                "is a product that contains itself; this use of it is left out",
            );
            return;
        }
        if !self.step() {
            return;
        }
        self.stack.push(id);
        self.placed_parts.insert(id);
        let index = self.index;
        let no_usages = Vec::new();
        let usages = index.usages.get(&id).unwrap_or(&no_usages);
        // A mapped item does not place a component again at the pose at which a usage places it, nor an
        // item that a representation of a usage shows. Errors in the poses of usages are reported below.
        let mut placed = Elsewhere::default();
        for usage in usages {
            if let Some(relation) = usage.placements.first() {
                let pose = index.component_pose(relation, id, usage.part).ok();
                placed.0.extend(pose.map(|pose| (Item::Part(usage.part), pose)));
                continue;
            }
            placed.0.extend(self.contents(&usage.reps).into_iter().map(|f| (f.item, f.pose)));
        }
        let own = &index.parts[&id];
        // If a part has its shape in this file, documents about it are not read as its shape.
        if let (false, false, Some(component)) = (own.files.is_empty(), index.has_shape(id), self.here)
            && !self.leaves_out(&own.reps)
        {
            self.externals.push(External {
                files: own.files.clone(),
                id,
                component,
                path: path.to_owned(),
                motion: pose,
            });
        }
        let mapped = self.place_content(&own.reps, &pose, &own.name, path, &placed, None);
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for usage in usages {
            let Some(component) = index.parts.get(&usage.part) else { continue };
            let name = component.name.as_str();
            let same_name = usages
                .iter()
                .filter(|u| index.parts.get(&u.part).is_some_and(|p| p.name == component.name))
                .count();
            let k = count.entry(name).or_default();
            *k += 1;
            let step = if same_name > 1 { format!("{name}:{k}") } else { name.to_owned() };
            let path = joined(path, &step);
            self.along(&usage.route, |walk| walk.usage(usage, id, &pose, (&path, &step), &mapped));
        }
        self.stack.pop();
    }

    fn usage(
        &mut self,
        usage: &Usage,
        parent: u64,
        pose: &Motion,
        (path, name): (&str, &str),
        mapped: &BTreeSet<u64>,
    ) {
        let index = self.index;
        let Some(relation) = usage.placements.first() else {
            let here = Motion::identity();
            if !usage.reps.is_empty() {
                let part_name = &index.parts[&usage.part].name;
                self.within(name, usage.id, here, |walk| {
                    walk.place_content(&usage.reps, pose, part_name, path, &Elsewhere::default(), None);
                });
            } else if !mapped.contains(&usage.part) {
                if index.shows_something(usage.part) {
                    self.problem(
                        usage.id,
                        Severity::Warning,
                        "is a component without a placement; it stays at its parent's origin",
                    );
                }
                self.within(name, usage.id, here, |walk| walk.part(usage.part, *pose, path));
            }
            return;
        };
        // A usage has one placement; some writers repeat it, so the first one is used.
        match index.component_pose(relation, parent, usage.part) {
            Ok(local) => {
                self.within(name, usage.id, local, |walk| walk.part(usage.part, *pose * local, path));
            }
            Err(e) => {
                self.problem(
                    e.id,
                    Severity::Error,
                    format!("{}; the component #{} is left out", e.message, usage.id),
                );
                self.refuse(usage.part, 0);
            }
        }
    }

    /// Adds the solids of a part that is left out, and those of all parts below it, to `refused`, so
    /// that they do not count as solids without a product. `level` is the depth below that part.
    fn refuse(&mut self, part: u64, level: usize) {
        let index = self.index;
        if level > MAX_LEVELS || !self.step() {
            return;
        }
        for found in self.contents(index.parts.get(&part).map_or(&[][..], |p| &p.reps)) {
            match found.item {
                Item::Solid(s) => {
                    self.refused.insert(s);
                }
                Item::Part(p) => self.refuse(p, level + 1),
            }
        }
        for usage in index.usages.get(&part).map_or(&[][..], Vec::as_slice) {
            self.refuse(usage.part, level + 1);
        }
    }

    /// Places the content of the representations `reps` of one part at `pose` under the part's name.
    /// Items in `placed_otherwise` and solids in `skip` are omitted. Returns all parts that mapped items
    /// of the representations place, including omitted ones.
    fn place_content(
        &mut self,
        reps: &[u64],
        pose: &Motion,
        part_name: &str,
        path: &str,
        placed_otherwise: &Elsewhere,
        skip: Option<&BTreeSet<u64>>,
    ) -> BTreeSet<u64> {
        // Some writers list the same solid or component in two representations of one part.
        let uncertainty = self.index.uncertainty(reps);
        let mut mapped = BTreeSet::new();
        let mut unique: Vec<Found> = Vec::new();
        let mut poses_of: BTreeMap<Item, Vec<Motion>> = BTreeMap::new();
        for found in self.contents(reps) {
            let (item, local) = (found.item, found.pose);
            if let Item::Part(p) = item {
                mapped.insert(p);
            }
            let poses = poses_of.entry(item).or_default();
            let again = poses.iter().any(|p| same_pose(p, &local, uncertainty));
            if again || placed_otherwise.has(item, &local, uncertainty) {
                continue;
            }
            poses.push(local);
            unique.push(found);
        }
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for found in &unique {
            if let Item::Solid(s) = found.item {
                *names.entry(self.index.solid_name(s)).or_default() += 1;
            }
        }
        let alone = names.values().sum::<usize>() == 1;
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for Found { item, pose: local, route } in unique {
            match item {
                Item::Solid(s) => {
                    if skip.is_some_and(|skip| skip.contains(&s)) {
                        continue;
                    }
                    let own = self.index.solid_name(s);
                    let k = count.entry(own.clone()).or_default();
                    *k += 1;
                    let step = match (alone, own.as_str()) {
                        (true, _) => String::new(),
                        (false, "") => format!("solid:{k}"),
                        (false, own) if names[own] > 1 => format!("{own}:{k}"),
                        (false, own) => own.to_owned(),
                    };
                    let path = joined(path, &step);
                    let name = if own.is_empty() { part_name.to_owned() } else { own };
                    self.along(&route, |walk| walk.push(s, *pose * local, name, path));
                }
                Item::Part(p) => {
                    if !self.already.contains(&p) {
                        let name = &self.index.parts[&p].name;
                        let path = joined(path, name);
                        self.along(&route, |walk| {
                            walk.within(name, p, local, |walk| walk.part(p, *pose * local, &path));
                        });
                    }
                }
            }
        }
        mapped
    }

    /// Returns the items of the representations `reps`, which have the same coordinates, and of their
    /// related representations.
    fn contents(&mut self, reps: &[u64]) -> Vec<Found> {
        let mut out = Contents { hidden: self.hidden, found: Vec::new(), route: Vec::new() };
        let mut seen = BTreeSet::new();
        for rep in reps {
            self.content(*rep, &Motion::identity(), 0, &mut seen, &mut out);
        }
        out.found
    }

    /// Appends the items of the representation `rep_id` and of its related representations to `out`,
    /// each with its pose; `pose` is that of the coordinates of `rep_id`. Representations in `seen` are
    /// skipped, and visited ones are added to it. `depth` is the number of mapped items and relations
    /// that led here.
    fn content(
        &mut self,
        rep_id: u64,
        pose: &Motion,
        depth: usize,
        seen: &mut BTreeSet<u64>,
        out: &mut Contents<'_>,
    ) {
        if !self.step() || !seen.insert(rep_id) {
            return;
        }
        if depth > MAX_LEVELS {
            self.problem(rep_id, Severity::Error, "is a representation nested too deep; it is left out");
            return;
        }
        let index = self.index;
        let Some(rep) = index.reps.get(&rep_id) else { return };
        let outside = out.enter(rep_id);
        for solid in &rep.solids {
            out.push(Item::Solid(*solid), *pose);
        }
        for mapped in &rep.mapped {
            let inside = out.enter(*mapped);
            match index.mapping(*mapped, rep_id) {
                Ok((source, local)) => {
                    let pose = *pose * local;
                    let owner = index.reps.get(&source).and_then(|r| r.part);
                    match owner {
                        Some(part) if !self.stack.contains(&part) => out.push(Item::Part(part), pose),
                        Some(_) => {}
                        None => {
                            // A representation may be mapped many times, so only cycles are excluded
                            // here.
                            let mut below = seen.clone();
                            self.content(source, &pose, depth + 1, &mut below, out);
                        }
                    }
                }
                Err(e) => {
                    self.problem(
                        e.id,
                        Severity::Error,
                        format!("{}; the mapped item #{mapped} is left out", e.message),
                    );
                    self.refuse_mapped(*mapped);
                }
            }
            out.route.truncate(inside);
        }
        for relation in index.relations.get(&rep_id).map_or(&[][..], Vec::as_slice) {
            let other = relation.other(rep_id);
            let owner = index.reps.get(&other).and_then(|r| r.part);
            // The representation of another part is placed through the usage of that part.
            let foreign = owner.is_some() && owner != rep.part;
            let of_aspect =
                rep.aspect.is_none() && index.reps.get(&other).is_some_and(|r| r.aspect.is_some());
            if foreign || of_aspect || relation.placed_by_usage {
                continue;
            }
            let outer = out.route.clone();
            if owner.is_some() {
                // A hidden representation of the part does not hide the part's other representations.
                out.route.clear();
            }
            out.enter(relation.id);
            match index.relation_pose(relation, other) {
                Ok(local) => self.content(other, &(*pose * local), depth + 1, seen, out),
                Err(e) => self.problem(e.id, Severity::Error, format!("{}; #{other} is left out", e.message)),
            }
            out.route = outer;
        }
        out.route.truncate(outside);
    }

    fn refuse_mapped(&mut self, mapped: u64) {
        let solids =
            self.index.mapped_source(mapped).and_then(|r| self.index.reps.get(&r)).map(|r| r.solids.clone());
        self.refused.extend(solids.into_iter().flatten());
    }
}

pub(crate) fn joined(path: &str, step: &str) -> String {
    match (path.is_empty(), step.is_empty()) {
        (_, true) => path.to_owned(),
        (true, false) => step.to_owned(),
        (false, false) => format!("{path}/{step}"),
    }
}

/// Returns whether two poses of an item are the same up to rounding by the writer. `uncertainty` (mm) is
/// that of the file.
fn same_pose(a: &Motion, b: &Motion, uncertainty: f64) -> bool {
    let mirrored = a.mirrored == b.mirrored;
    let (a, b) = (&a.pose, &b.pose);
    let (at, bt) = (&a.translation.vector, &b.translation.vector);
    let rounding = SAME_POSE * at.norm().max(bt.norm());
    let tolerance = rounding.max(uncertainty).clamp(MIN_SAME_POSITION, MAX_SAME_POSITION);
    mirrored && (at - bt).norm() <= tolerance && a.rotation.angle_to(&b.rotation) <= SAME_POSE
}

impl Relation {
    fn other(&self, rep: u64) -> u64 {
        if self.rep_1 == rep { self.rep_2 } else { self.rep_1 }
    }
}
