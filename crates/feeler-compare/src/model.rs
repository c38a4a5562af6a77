//! One file before and after: its parts and its solids.

use crate::difference::{Difference, Kind, Tolerances};
use crate::face::vector;
use crate::solid::{SolidFacts, solid};
use feeler_geom::Pose;
use feeler_hierarchy::{Model, Severity};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A solid in its place.
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

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// Hash of the input's bytes.
    pub input_hash: String,
    /// What could not be prepared.
    pub left_out: Vec<String>,
    /// Number of warnings of the import.
    pub warnings: usize,
    /// Distinct solids.
    pub solids: Vec<SolidFacts>,
    /// Solids in their places.
    pub instances: Vec<InstanceFacts>,
}

impl ModelFacts {
    /// Those of a model, with the faces of its solids if they are to be compared.
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

/// How many parts there are of each kind of change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parts {
    /// In both, and the same.
    pub same: usize,
    /// In the new version only.
    pub added: usize,
    /// In the old version only.
    pub removed: usize,
    /// Under another name in the same place.
    pub renamed: usize,
    /// In another place.
    pub moved: usize,
    /// Of another shape.
    pub changed: usize,
}

/// What differs between two versions of a file: what could be read, parts by their paths, solids, faces.
#[must_use]
pub fn parts(old: &ModelFacts, new: &ModelFacts, tol: &Tolerances) -> (Parts, Vec<Difference>) {
    let mut out = Vec::new();
    imports(old, new, &mut out);
    let mut count = Parts::default();
    // Each solid is told of once, by the first part that it is.
    let mut told = BTreeSet::new();
    let (both, gone, come) = by_path(old, new);
    for (i, j) in both {
        let (a, b) = (&old.instances[i], &new.instances[j]);
        let subject = format!("'{}'", a.path);
        let far = place(a, b, tol);
        if let Some(far) = &far {
            count.moved += 1;
            out.push(Difference::new(Kind::Part, &subject, far.clone()));
        }
        let mut changed = false;
        if let (Some(s), Some(t)) = (old.solid_of(a), new.solid_of(b)) {
            let found = solid(s, t, &subject, tol);
            changed = !found.is_empty();
            count.changed += usize::from(changed);
            if told.insert((a.solid, b.solid)) {
                out.extend(found);
            }
        }
        count.same += usize::from(far.is_none() && !changed);
    }
    // A part that is gone and one that has come in its place, of the same shape, has another name.
    let mut come = come;
    for i in gone {
        let a = &old.instances[i];
        let is_same = |j: &usize| {
            let b = &new.instances[*j];
            let alike = old.solid_of(a).zip(new.solid_of(b)).is_some_and(|(s, t)| s.is_like(t, tol));
            alike && place(a, b, tol).is_none()
        };
        let subject = format!("'{}'", a.path);
        if let Some(k) = come.iter().position(is_same) {
            let j = come.remove(k);
            count.renamed += 1;
            let what = format!("is called '{}' now", new.instances[j].path);
            out.push(Difference::new(Kind::Part, &subject, what));
        } else {
            count.removed += 1;
            out.push(Difference::new(Kind::Part, &subject, "is gone".to_owned()));
        }
    }
    for j in come {
        count.added += 1;
        let subject = format!("'{}'", new.instances[j].path);
        out.push(Difference::new(Kind::Part, &subject, "is new".to_owned()));
    }
    (count, out)
}

fn imports(old: &ModelFacts, new: &ModelFacts, out: &mut Vec<Difference>) {
    let mut add = |what| out.push(Difference::new(Kind::Import, "", what));
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

/// Indices of instances with the same path on both sides, in order where a path comes more than once; the
/// others of the old version; the others of the new one. A lone part of both is the same part, whatever it is
/// called.
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
    let mut come: Vec<usize> = there.into_values().flatten().collect();
    come.sort_unstable();
    (both, gone, come)
}

/// How a part has moved, if it has.
fn place(a: &InstanceFacts, b: &InstanceFacts, tol: &Tolerances) -> Option<String> {
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
