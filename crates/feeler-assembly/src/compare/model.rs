//! Comparison of two versions of a file: its parts and its solids.

use super::difference::{ComparisonTolerances, Difference, DifferenceKind};
use super::face::vector;
use super::solid::{SolidFacts, compare_solids};
use super::volume::VolumeDifference;
use feeler_geom::Pose;
use feeler_hierarchy::{Model, Severity};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Path, solid and pose of a placed solid of a model, by which versions are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceFacts {
    /// Names of the components from the root of the assembly to the solid, joined by `/`; without an
    /// assembly the name of the instance.
    pub path: String,
    /// Index of the solid in [`ModelFacts::solids`].
    pub solid: usize,
    /// Pose that maps the solid's coordinates to those of the model: translation (mm), then the
    /// quaternion x, y, z, w.
    pub pose: [f64; 7],
}

impl InstanceFacts {
    fn pose(&self) -> Pose {
        let [x, y, z, qx, qy, qz, qw] = self.pose;
        let rotation = UnitQuaternion::from_quaternion(Quaternion::new(qw, qx, qy, qz));
        Pose::from_parts(Translation3::new(x, y, z), rotation)
    }
}

/// Properties of a model and of its solids, by which versions are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// Hash of the bytes of the input file, in hexadecimal digits.
    pub input_hash: String,
    /// One message for each solid or component of the input that could not be prepared.
    pub left_out: Vec<String>,
    /// Number of warnings of the import.
    pub warnings: usize,
    /// Properties of the distinct solids.
    pub solids: Vec<SolidFacts>,
    /// Placed solids of the model, in the order of its instances.
    pub instances: Vec<InstanceFacts>,
}

impl ModelFacts {
    /// Computes the properties of a model that are compared, including the faces of its solids if
    /// `with_faces` is set.
    #[must_use]
    pub fn of(model: &Model, with_faces: bool) -> Self {
        let instance = |i: &feeler_hierarchy::Instance| {
            let ([x, y, z], [qx, qy, qz, qw]) = (i.translation, i.rotation);
            let path = if i.path.is_empty() { i.name.clone() } else { i.path.clone() };
            InstanceFacts { path, solid: i.solid as usize, pose: [x, y, z, qx, qy, qz, qw] }
        };
        Self {
            input_hash: format!("{:016x}", model.input_hash),
            left_out: model.left_out(),
            warnings: model.remarks.iter().filter(|r| r.severity == Severity::Warning).count(),
            solids: model.solids.iter().map(|s| SolidFacts::of(s, with_faces)).collect(),
            instances: model.instances.iter().map(instance).collect(),
        }
    }

    fn solid_of(&self, instance: &InstanceFacts) -> Option<&SolidFacts> {
        self.solids.get(instance.solid)
    }
}

/// Numbers of parts by kind of change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartCounts {
    /// Number of parts with equal path, solid and pose in both versions.
    pub same: usize,
    /// Number of parts that only the new version has.
    pub added: usize,
    /// Number of parts that only the old version has.
    pub removed: usize,
    /// Number of parts with another name, but the same shape and pose.
    pub renamed: usize,
    /// Number of parts that both versions have, but at different poses. A part whose shape also differs
    /// is counted in `changed`, too.
    pub moved: usize,
    /// Number of parts that both versions have, but with solids that differ in a compared property. A
    /// part whose pose also differs is counted in `moved`, too.
    pub changed: usize,
}

/// Differences between two versions of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelComparison {
    /// Numbers of parts by kind of change.
    pub parts: PartCounts,
    /// All differences.
    pub differences: Vec<Difference>,
}

/// Compares two versions of a model, faces included.
#[must_use]
pub fn compare_models(old: &Model, new: &Model, tol: &ComparisonTolerances) -> ModelComparison {
    compare_facts(&ModelFacts::of(old, true), &ModelFacts::of(new, true), tol)
}

/// Compares two versions of a model like [`compare_models`], and measures the volume by which each changed
/// solid differs from its old version. Solids of several parts are measured once, with the first part.
#[must_use]
pub fn compare_volumes(
    old: &Model,
    new: &Model,
    tol: &ComparisonTolerances,
) -> (ModelComparison, Vec<VolumeDifference>) {
    let facts = [old, new].map(|model| ModelFacts::of(model, true));
    let (comparison, changed) = compare_parts(&facts[0], &facts[1], tol);
    let measure =
        |(subject, solids): &(String, [usize; 2])| VolumeDifference::new(subject, [old, new], *solids);
    let volumes = changed.par_iter().map(measure).collect();
    (comparison, volumes)
}

/// Compares the stored properties of two versions of a model: the results of the import, the parts,
/// which are matched by their paths, the solids and the faces.
#[must_use]
pub fn compare_facts(old: &ModelFacts, new: &ModelFacts, tol: &ComparisonTolerances) -> ModelComparison {
    compare_parts(old, new, tol).0
}

/// Compares like [`compare_facts`], and returns the changed solids as well: the subject, and the indices of
/// the solid in the old and in the new version.
fn compare_parts(
    old: &ModelFacts,
    new: &ModelFacts,
    tol: &ComparisonTolerances,
) -> (ModelComparison, Vec<(String, [usize; 2])>) {
    let mut changed_solids = Vec::new();
    let mut out = Vec::new();
    imports(old, new, &mut out);
    let mut count = PartCounts::default();
    // Each solid is reported once, with the first part that uses it.
    let mut reported = BTreeSet::new();
    let (both, gone, added) = by_path(old, new);
    for (i, j) in both {
        let (a, b) = (&old.instances[i], &new.instances[j]);
        let subject = format!("'{}'", a.path);
        let far = place(a, b, tol);
        if let Some(far) = &far {
            count.moved += 1;
            out.push(Difference::new(DifferenceKind::Part, &subject, far.clone()));
        }
        let mut changed = false;
        if let (Some(s), Some(t)) = (old.solid_of(a), new.solid_of(b)) {
            let found = compare_solids(s, t, &subject, tol);
            changed = !found.is_empty();
            count.changed += usize::from(changed);
            if reported.insert((a.solid, b.solid)) {
                out.extend(found);
                if changed {
                    changed_solids.push((subject.clone(), [a.solid, b.solid]));
                }
            }
        }
        count.same += usize::from(far.is_none() && !changed);
    }
    // A removed part and an added one of the same shape at the same pose are one renamed part.
    let mut added = added;
    for i in gone {
        let a = &old.instances[i];
        let is_same = |j: &usize| {
            let b = &new.instances[*j];
            let alike = old.solid_of(a).zip(new.solid_of(b)).is_some_and(|(s, t)| s.is_like(t, tol));
            alike && place(a, b, tol).is_none()
        };
        let subject = format!("'{}'", a.path);
        if let Some(k) = added.iter().position(is_same) {
            let j = added.remove(k);
            count.renamed += 1;
            let what = format!("is called '{}' now", new.instances[j].path);
            out.push(Difference::new(DifferenceKind::Part, &subject, what));
        } else {
            count.removed += 1;
            out.push(Difference::new(DifferenceKind::Part, &subject, "is gone".to_owned()));
        }
    }
    for j in added {
        count.added += 1;
        let subject = format!("'{}'", new.instances[j].path);
        out.push(Difference::new(DifferenceKind::Part, &subject, "is new".to_owned()));
    }
    (ModelComparison { parts: count, differences: out }, changed_solids)
}

fn imports(old: &ModelFacts, new: &ModelFacts, out: &mut Vec<Difference>) {
    let mut add = |what| out.push(Difference::new(DifferenceKind::Import, "", what));
    for left in new.left_out.iter().filter(|l| !old.left_out.contains(l)) {
        add(format!("left out now: {left}"));
    }
    for left in old.left_out.iter().filter(|l| !new.left_out.contains(l)) {
        add(format!("no longer left out: {left}"));
    }
    if old.warnings != new.warnings {
        add(format!("warnings {} -> {}", old.warnings, new.warnings));
    }
}

/// Matches the instances of two versions by path. Returns the pairs of indices of an old and a new
/// instance with the same path, then the indices of the remaining old instances, then those of the
/// remaining new ones. If a path occurs several times, its instances are paired in order. If both
/// versions have a single part, these two form a pair, even if their paths differ.
fn by_path(old: &ModelFacts, new: &ModelFacts) -> (Vec<(usize, usize)>, Vec<usize>, Vec<usize>) {
    if let ([_], [_]) = (old.instances.as_slice(), new.instances.as_slice()) {
        return (vec![(0, 0)], vec![], vec![]);
    }
    let mut there: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (j, b) in new.instances.iter().enumerate().rev() {
        there.entry(&b.path).or_default().push(j);
    }
    let (mut both, mut gone) = (Vec::new(), Vec::new());
    for (i, a) in old.instances.iter().enumerate() {
        match there.get_mut(a.path.as_str()).and_then(Vec::pop) {
            Some(j) => both.push((i, j)),
            None => gone.push(i),
        }
    }
    let mut added: Vec<usize> = there.into_values().flatten().collect();
    added.sort_unstable();
    (both, gone, added)
}

/// Describes the motion of a part from the pose of the old instance `a` to that of the new instance `b`;
/// `None` if the poses are equal up to the tolerances.
fn place(a: &InstanceFacts, b: &InstanceFacts, tol: &ComparisonTolerances) -> Option<String> {
    let (p, q) = (a.pose(), b.pose());
    let by = q.translation.vector - p.translation.vector;
    let turned = p.rotation.angle_to(&q.rotation);
    if by.norm() <= tol.length && turned <= tol.angle {
        return None;
    }
    let mut what = format!("moved by {} ({:.3e} mm)", vector(&by.into()), by.norm());
    if turned > tol.angle {
        what.push_str(&format!(", turned by {turned:.3e} rad"));
    }
    Some(what)
}
