//! Comparison of two versions of a file: its parts and its solids.

use super::difference::{ComparisonTolerances, Difference, DifferenceKind};
use super::face::vector;
use super::solid::{SolidFacts, compare_solids};
use feeler_geom::Pose;
use feeler_hierarchy::{Model, Severity};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Placed solid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceFacts {
    /// Names from the root of the assembly, joined by `/`.
    pub path: String,
    /// Index of the solid.
    pub solid: usize,
    /// Translation (mm), then the quaternion x, y, z, w.
    pub pose: [f64; 7],
}

impl InstanceFacts {
    fn pose(&self) -> Pose {
        let [x, y, z, qx, qy, qz, qw] = self.pose;
        let rotation = UnitQuaternion::from_quaternion(Quaternion::new(qw, qx, qy, qz));
        Pose::from_parts(Translation3::new(x, y, z), rotation)
    }
}

/// Facts of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// Hash of the input's bytes.
    pub input_hash: String,
    /// Descriptions of what could not be prepared.
    pub left_out: Vec<String>,
    /// Number of warnings of the import.
    pub warnings: usize,
    /// Distinct solids.
    pub solids: Vec<SolidFacts>,
    /// Placed solids.
    pub instances: Vec<InstanceFacts>,
}

impl ModelFacts {
    /// Computes the facts of a model, including the faces of its solids if they are to be compared.
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
    /// Parts that are equal in both versions.
    pub same: usize,
    /// Parts of the new version only.
    pub added: usize,
    /// Parts of the old version only.
    pub removed: usize,
    /// Parts with another name at the same pose.
    pub renamed: usize,
    /// Parts at another pose.
    pub moved: usize,
    /// Parts with another shape.
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

/// Compares two versions of a model by their facts: the result of the import, parts by their paths, solids
/// and faces.
#[must_use]
pub fn compare_facts(old: &ModelFacts, new: &ModelFacts, tol: &ComparisonTolerances) -> ModelComparison {
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
    ModelComparison { parts: count, differences: out }
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

/// Indices of instances with the same path on both sides, in order if a path occurs several times, then
/// the remaining indices of the old version, then those of the new one. If both versions have a single
/// part, it is the same part, whatever its name.
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

/// Describes the motion of a part; `None` if it has not moved.
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
